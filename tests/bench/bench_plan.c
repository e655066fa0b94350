/* SPDX-License-Identifier: MIT */
/*
 * How long and how much memory a large plan takes, step by step: `bench_plan MATRIX`. The same of a whole
 * command, its output thrown away: `bench_plan -- COMMAND...`. For scripts/bench-plan; not a test, since it
 * depends on the machine.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "benchctl/base/clock.h"
#include "benchctl/plan.h"

static int64_t started;

static void begin(void)
{
    started = clock_now_ns();
}

static void end(const char *step, double count)
{
    int64_t ns = clock_now_ns() - started;
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    printf("%-34s %9.3f s %12.0f ns each %9.1f MiB peak\n", step, (double)ns / 1e9, (double)ns / count,
           (double)usage.ru_maxrss / 1024);
}

static int resolve_all(const struct plan *p, int64_t *ret_estimate_ns, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();

    *ret_estimate_ns = 0;
    for (size_t i = 0; i < plan_counts(p)->scenarios; i++) {
        struct resolved r;
        if (plan_resolve(p, i, a, &r, err) < 0)
            return -1;
        *ret_estimate_ns += plan_estimate_ns(&r.settings);
        arena_reset(a);
    }
    return 0;
}

static void bench_lookups(const struct plan *p)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    double scenarios = (double)plan_counts(p)->scenarios;
    size_t bytes = 0, found = 0, sum = 0;

    begin();
    for (size_t i = 0; i < plan_counts(p)->scenarios; i++) {
        struct scenario s;
        plan_scenario(p, i, a, &s);
        bytes += strlen(s.id);
        arena_reset(a);
    }
    end("ids", scenarios);
    begin();
    for (uint64_t k = 0; k < plan_counts(p)->trials; k++)
        sum += plan_trial(p, k).scenario;
    end("order of all trials", (double)plan_counts(p)->trials);
    begin();
    for (size_t i = 0; i < plan_counts(p)->scenarios; i++) {
        struct scenario s;
        size_t index;
        plan_scenario(p, i, a, &s);
        found += plan_find(p, s.id, &index) == 0 && index == i;
        arena_reset(a);
    }
    end("ids, and found again", scenarios);
    printf("%zu bytes of ids, %zu found, order sum %zu\n", bytes, found, sum);
}

static int bench(const char *path, struct error *err)
{
    CLEANUP(matrix_free) struct matrix *m = NULL;
    CLEANUP(plan_free) struct plan *p = NULL;
    int64_t estimate_ns;

    begin();
    if (matrix_read(path, NULL, &m, err) < 0)
        return -1;
    end("read and check the matrix", 1);
    begin();
    if (plan_make(m, NULL, &p, err) < 0)
        return -1;
    end("plan", (double)plan_counts(p)->product);
    printf("%llu combinations, %llu excluded, %llu scenarios, %llu trials; the plan holds %.1f MiB\n",
           (unsigned long long)plan_counts(p)->product, (unsigned long long)plan_counts(p)->excluded,
           (unsigned long long)plan_counts(p)->scenarios, (unsigned long long)plan_counts(p)->trials,
           (double)plan_bytes(p) / (1 << 20));
    bench_lookups(p);
    begin();
    if (resolve_all(p, &estimate_ns, err) < 0)
        return -1;
    end("settings and digests of all", (double)plan_counts(p)->scenarios);
    printf("estimated: %.0f days\n", (double)estimate_ns / 86400e9 * (double)m->trials);
    return 0;
}

/* The exit code of the command, after its figures. */
static int bench_command(char **argv)
{
    int64_t start = clock_now_ns();
    struct rusage usage;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (out < 0 || dup2(out, STDOUT_FILENO) < 0)
            _exit(126);
        execv(argv[0], argv);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status)) {
        (void)fprintf(stderr, "bench_plan: '%s' did not run to its end\n", argv[0]);
        return 1;
    }
    printf("%-34s %9.3f s %12.3f s of CPU %9.1f MiB peak\n", "", (double)(clock_now_ns() - start) / 1e9,
           (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
           (double)usage.ru_maxrss / 1024);
    return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    struct error err = ERROR_INIT;

    if (argc > 2 && strcmp(argv[1], "--") == 0)
        return bench_command(argv + 2);
    if (argc != 2) {
        (void)fprintf(stderr, "usage: bench_plan MATRIX | bench_plan -- COMMAND...\n");
        return 2;
    }
    if (bench(argv[1], &err) < 0) {
        (void)fprintf(stderr, "bench_plan: %s\n", err.message);
        return 1;
    }
    return 0;
}
