/* SPDX-License-Identifier: MIT */
/* The doctor looks at an engine, at a machine that is made up, and at what a matrix needs; it changes
 * nothing. */
#include "stage.h"

#include "benchctl/host.h"

#define CPU "/sys/devices/system/cpu"

struct visit {
    struct stage *g;
    struct arena *arena;
    struct doctor_report report;
    char *root, *url;
};

static void plant(const char *root, const char *path, const char *text)
{
    CLEANUP_FREE char *full = xasprintf("%s%s", root, path);
    CLEANUP_FREE char *dir = path_dirname(full);
    struct error err = ERROR_INIT;

    if (fs_mkdirs(dir, &err) < 0 || fs_write(full, text, strlen(text), &err) < 0)
        fail_msg("%s", err.message);
}

/* A server at rest: nothing to complain about. */
static int visit_setup(void **state)
{
    void *stage = NULL;

    if (stage_setup(&stage) < 0)
        return -1;
    struct visit *v = xcalloc(1, sizeof(*v));
    v->g = stage;
    v->arena = arena_new();
    v->root = xasprintf("%s/machine", v->g->dir);
    v->url = xstrdup(server_url(standin_server(v->g->engine)));
    plant(v->root, CPU "/online", "0-3\n");
    plant(v->root, CPU "/cpu0/cpufreq/scaling_governor", "performance\n");
    plant(v->root, CPU "/cpu0/topology/thread_siblings_list", "0,2\n");
    plant(v->root, CPU "/intel_pstate/no_turbo", "1\n");
    plant(v->root, CPU "/smt/control", "off\n");
    plant(v->root, "/proc/loadavg", "0.10 0.1 0.1 1/2 3\n");
    plant(v->root, "/proc/meminfo", "MemTotal: 8000000 kB\nMemAvailable: 4000000 kB\nSwapTotal: 0 kB\n");
    plant(v->root, "/proc/cpuinfo", "model name: x\nflags: fpu\n");
    plant(v->root, "/proc/sys/net/ipv4/ip_local_port_range", "10000\t65535\n");
    plant(v->root, "/proc/net/sockstat", "TCP: inuse 1 orphan 0 tw 5 alloc 1 mem 1\n");
    plant(v->root, "/sys/class/hwmon/hwmon0/name", "k10temp\n");
    plant(v->root, "/sys/class/hwmon/hwmon0/temp1_input", "45000\n");
    host_set_root(v->root);
    *state = v;
    return 0;
}

static int visit_teardown(void **state)
{
    struct visit *v = *state;
    void *stage = v->g;

    host_set_root(NULL);
    arena_free(v->arena);
    free(v->root);
    free(v->url);
    free(v);
    return stage_teardown(&stage);
}

/* `matrix` may be NULL. */
static void examine(struct visit *v, const char *matrix)
{
    static const char *const programs[] = {"no-such-generator", "sh", NULL};
    CLEANUP(matrix_free) struct matrix *m = NULL;
    CLEANUP(plan_free) struct plan *p = NULL;
    struct doctor_options o = {.engine_url = v->url, .programs = programs, .dir = v->g->dir};
    struct error err = ERROR_INIT;

    if (matrix && (matrix_parse(matrix, strlen(matrix), "/m/m.yaml", NULL, &m, &err) < 0 ||
                   plan_make(m, &(struct plan_options){0}, &p, &err) < 0))
        fail_msg("%s", err.message);
    o.plan = p;
    run_doctor(v->g->loop, &o, v->arena, &v->report);
}

static const struct doctor_line *line_of(const struct visit *v, const char *name)
{
    for (size_t i = 0; i < v->report.len; i++)
        if (strcmp(v->report.lines[i].name, name) == 0)
            return &v->report.lines[i];
    return NULL;
}

static void told(const struct visit *v, const char *name, enum fitness f, const char *part)
{
    const struct doctor_line *l = line_of(v, name);

    if (!l)
        fail_msg("there is no line '%s'", name);
    if (l->fitness != f || !strstr(l->text, part))
        fail_msg("'%s' is %d: %s", name, (int)l->fitness, l->text);
}

/* The clock, the kernel's log and free space are the real machine's. */
static void all_is_well(void **state)
{
    struct visit *v = *state;

    examine(v, NULL);
    told(v, "engine", FITNESS_OK, "API");
    told(v, "leftovers", FITNESS_OK, "none");
    told(v, "neighbours", FITNESS_OK, "no other container runs");
    told(v, "generators", FITNESS_OK, "builtin, sh; not on PATH: no-such-generator");
    told(v, "governor", FITNESS_OK, "performance");
    told(v, "turbo", FITNESS_OK, "off");
    told(v, "smt", FITNESS_OK, "off");
    told(v, "machine", FITNESS_OK, "4 processors");
    told(v, "temperature", FITNESS_OK, "45 °C");
    told(v, "memory", FITNESS_OK, "3.8 GiB of 7.6 GiB available");
    told(v, "swap", FITNESS_OK, "off");
    told(v, "load", FITNESS_OK, "0.10 on 4 processors");
    told(v, "ports", FITNESS_OK, "55536 local ports, 5 kept");
    told(v, "processes", FITNESS_OK, "none is busy");
    told(v, "not shown", FITNESS_OK, "throttling, pressure");
    assert_null(line_of(v, "steal")); /* no virtual machine, and nothing stolen */
    assert_null(line_of(v, "artifacts"));
    for (size_t i = 0; i < v->report.len; i++)
        if (v->report.lines[i].fitness == FITNESS_OK)
            assert_null(v->report.lines[i].hint);
}

static void what_is_wrong_with_a_laptop(void **state)
{
    struct visit *v = *state;

    plant(v->root, CPU "/cpu0/cpufreq/scaling_governor", "powersave\n");
    plant(v->root, CPU "/intel_pstate/no_turbo", "0\n");
    plant(v->root, CPU "/smt/control", "on\n");
    plant(v->root, "/proc/meminfo",
          "MemTotal: 8000000 kB\nMemAvailable: 400000 kB\nSwapTotal: 2097152 kB\nSwapFree: 1048576 kB\n");
    plant(v->root, "/proc/loadavg", "3.50 0.1 0.1 1/2 3\n");
    plant(v->root, "/proc/pressure/io", "some avg10=0 avg60=40.00 avg300=0 total=1\n");
    plant(v->root, "/proc/sys/kernel/randomize_va_space", "0\n");
    plant(v->root, "/proc/sys/net/ipv4/ip_local_port_range", "60000\t65535\n");
    plant(v->root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    plant(v->root, "/sys/class/hwmon/hwmon0/temp1_input", "91000\n");
    examine(v, NULL);
    told(v, "governor", FITNESS_WARN, "powersave: the frequency follows the load");
    told(v, "turbo", FITNESS_WARN, "on");
    told(v, "smt", FITNESS_WARN, "on");
    told(v, "memory", FITNESS_WARN, "391 MiB of 7.6 GiB available");
    told(v, "swap", FITNESS_WARN, "on, 1.0 GiB of 2.0 GiB in use");
    told(v, "load", FITNESS_WARN, "3.50");
    told(v, "pressure", FITNESS_WARN, "for a disk 40%");
    told(v, "aslr", FITNESS_WARN, "not in full");
    told(v, "ports", FITNESS_WARN, "5536 local ports");
    told(v, "clocksource", FITNESS_WARN, "hpet");
    told(v, "temperature", FITNESS_WARN, "91 °C before any load");
    for (size_t i = 0; i < v->report.len; i++)
        if (v->report.lines[i].fitness != FITNESS_OK)
            assert_non_null(v->report.lines[i].hint);
}

/* Of the engine only GETs are asked, with a matrix or without. */
static void nothing_is_changed(void **state)
{
    struct visit *v = *state;
    struct server *s = standin_server(v->g->engine);
    char owner[ENGINE_OWNER_SIZE];
    /* of a process with our number that was started at another time */
    CLEANUP_FREE char *dead = xasprintf(LABEL_OWNER "=%s0", engine_owner_label(owner));
    const char *const labels[] = {LABEL_RUN "=0000aaaa", dead, NULL};

    const char *left = standin_foreign(v->g->engine, false, "left", labels);
    examine(v, SMALL "host: {require: [turbo=on], on_violation: fail}\n");
    told(v, "leftovers", FITNESS_WARN, "1 containers or networks of dead sweeps");
    assert_true(standin_exists(v->g->engine, left));
    assert_int_equal(standin_created(v->g->engine), 0);
    assert_true(server_calls(s) > 3);
    assert_int_equal(server_count(s, "GET *") + server_count(s, "HEAD *"), server_calls(s));
}

static void neighbours_are_named(void **state)
{
    struct visit *v = *state;
    static const char *const none[] = {NULL};

    (void)standin_foreign(v->g->engine, false, "somebodys-db", none);
    examine(v, NULL);
    told(v, "neighbours", FITNESS_WARN, "1 other container runs: somebodys-db");
}

static void what_a_matrix_needs(void **state)
{
    struct visit *v = *state;

    standin_no_image(v->g->engine, "gone:1");
    examine(v, "benchctl: 1\nname: m\naxes: {memory: [64m, 16g]}\ntrials: 3\n"
               "host: {require: [governor=powersave, load<=1, turbo=off]}\n"
               "app: {image: 'app:1', memory: '${memory}', cpuset: '0'}\n"
               "services: {x: {image: 'gone:1', memory: 64m}}\n"
               "load: {adapter: idle, duration: 60s, cpuset: '2'}\n");
    assert_null(line_of(v, "programs"));
    told(v, "generators", FITNESS_OK, "idle");
    told(v, "images", FITNESS_WARN, "1 of 2 not in the engine: gone:1");
    told(v, "limits", FITNESS_WARN, "the containers of '16g' may use 16.1 GiB, 3.8 GiB are available");
    told(v, "cpuset", FITNESS_WARN,
         "processor 0 of the app and 2 of the load generator are threads of one core");
    told(v, "artifacts", FITNESS_OK, "for 6 trials and the bundle");
    told(v, "host.require", FITNESS_WARN, "governor is performance, not powersave");
    examine(v, "benchctl: 1\nname: m\nhost: {require: turbo=on, on_violation: fail}\n"
               "app: {image: 'app:1', cpuset: '0-9'}\nload: {adapter: idle, duration: 60s}\n");
    told(v, "images", FITNESS_OK, "1 in the engine");
    examine(v, "benchctl: 1\nname: m\naxes: {tag: [app, gone]}\ntrials: 3\n"
               "app: {image: '${tag}:1', if_missing: skip}\nload: {adapter: idle, duration: 60s}\n");
    told(v, "images", FITNESS_WARN, "1 of 2 not in the engine: gone:1; 1 scenario would be skipped");
    examine(v, "benchctl: 1\nname: m\nhost: {require: turbo=on, on_violation: fail}\n"
               "app: {image: 'app:1', cpuset: '0-9'}\nload: {adapter: idle, duration: 60s}\n");
    told(v, "cpuset", FITNESS_FAIL, "cpuset 0-9 of 'app': this machine has no processor 4");
    told(v, "host.require", FITNESS_FAIL, "turbo is off, not on");
    assert_has(line_of(v, "host.require")->hint, "no_turbo");
}

static void no_engine(void **state)
{
    struct visit *v = *state;

    standin_stop(v->g->engine);
    examine(v, SMALL);
    assert_int_equal(line_of(v, "engine")->fitness, FITNESS_FAIL);
    told(v, "governor", FITNESS_OK, "performance"); /* the rest is looked at all the same */
    assert_null(line_of(v, "images"));
}

#define VISIT_TEST(name) cmocka_unit_test_setup_teardown(name, visit_setup, visit_teardown)

static void canaries_and_the_databases_service_need_it_too(void **state)
{
    struct visit *v = *state;

    examine(v, "benchctl: 1\nname: m\ntrials: 2\n"
               "app: {image: 'app:1', cpuset: '0'}\nload: {adapter: idle, duration: 60s}\n"
               "canary: {every: 2, set: {app: {cpuset: '0-8'}}}\n");
    told(v, "cpuset", FITNESS_FAIL, "cpuset 0-8 of 'app'");
    told(v, "artifacts", FITNESS_OK, "for 4 trials and the bundle");
    examine(v, "benchctl: 1\nname: m\napp: {image: 'app:1'}\nload: {adapter: idle, duration: 60s}\n"
               "database: {service: {image: 'db:1', cpuset: '0-7'}}\n");
    told(v, "cpuset", FITNESS_FAIL, "cpuset 0-7 of 'database'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        VISIT_TEST(all_is_well),         VISIT_TEST(what_is_wrong_with_a_laptop),
        VISIT_TEST(nothing_is_changed),  VISIT_TEST(neighbours_are_named),
        VISIT_TEST(what_a_matrix_needs), VISIT_TEST(canaries_and_the_databases_service_need_it_too),
        VISIT_TEST(no_engine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
