/* SPDX-License-Identifier: MIT */
/*
 * CPU per request of the transports and of wrk, in turn, against a server that is there already:
 *
 *   bench_transport URL [SECONDS [ROUNDS [CHANNELS]]]
 *
 * A measurement, not a test. User and system time of the process that makes the load, over the requests that
 * were answered; the server should have a core of its own.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "benchctl/base/arena.h"
#include "benchctl/base/clock.h"
#include "transport.h"

struct load {
    struct loop *loop;
    bool over;
    uint64_t requests, failed, connections;
    int64_t until_ns;
};

struct user {
    struct load *load;
    struct channel *channel;
    struct exchange x;
};

static double cpu_us(int who)
{
    struct rusage u;

    (void)getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void on_done(struct exchange *x, void *data)
{
    struct user *u = data;

    u->load->requests++;
    u->load->failed += x->error != REQUEST_OK;
    u->load->connections += x->new_connection;
    if (x->done_ns < u->load->until_ns)
        channel_start(u->channel, x);
    else
        u->load->over = true;
}

static void bail(const struct error *err)
{
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static double run_transport(const char *url, int choice, int http, int64_t seconds, size_t channels)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct workload_request form = {.name = "it", .method = "GET", .path = "/"};
    struct workload w = {.target = url,
                         .keepalive = true,
                         .http = http,
                         .transport = choice,
                         .insecure = true,
                         .timeout_ns = 10 * NS_PER_S,
                         .connect_timeout_ns = 5 * NS_PER_S,
                         .requests = {&form, 1}};
    struct load load = {0};
    struct transport *t;
    struct request_kind *kinds;
    size_t count;
    struct error err = ERROR_INIT;

    if (loop_new(&load.loop, &err) < 0 || transport_new(load.loop, &w, &t, &err) < 0 ||
        transport_prepare(t, &w, NULL, a, &kinds, &count, &err) < 0)
        bail(&err);
    struct user *users = arena_array(a, struct user, channels);
    double before = cpu_us(RUSAGE_SELF);
    load.until_ns = clock_now_ns() + seconds * NS_PER_S;
    for (size_t i = 0; i < channels; i++) {
        users[i] = (struct user){.load = &load, .channel = channel_new(t)};
        users[i].x = (struct exchange){.kind = kinds, .done = on_done, .data = &users[i]};
        channel_start(users[i].channel, &users[i].x);
    }
    if (loop_wait_until(load.loop, &load.over, LOOP_FOREVER, &err) < 0)
        bail(&err);
    double cpu = cpu_us(RUSAGE_SELF) - before;
    printf("%-6s %9.0f requests/s  %5.2f us CPU per request  %lu failed  %lu connections\n",
           transport_name(t), (double)load.requests / (double)seconds, cpu / (double)load.requests,
           load.failed, load.connections);
    for (size_t i = 0; i < channels; i++)
        channel_free(users[i].channel);
    transport_free(t);
    loop_free(load.loop);
    return cpu / (double)load.requests;
}

static double run_wrk(const char *url, int64_t seconds, size_t channels)
{
    char duration[32], connections[32], line[256];
    unsigned long requests = 0;
    int out[2];

    (void)snprintf(duration, sizeof(duration), "-d%lds", (long)seconds);
    (void)snprintf(connections, sizeof(connections), "-c%zu", channels);
    double before = cpu_us(RUSAGE_CHILDREN);
    if (pipe(out) < 0)
        return -1;
    (void)fflush(stdout);
    if (fork() == 0) {
        (void)dup2(out[1], STDOUT_FILENO);
        (void)close(out[0]);
        (void)close(out[1]);
        (void)execlp("wrk", "wrk", "-t1", connections, duration, url, (char *)NULL);
        _exit(127);
    }
    (void)close(out[1]);
    CLEANUP(fclose) FILE *from = fdopen(out[0], "r");
    while (from && fgets(line, sizeof(line), from))
        (void)sscanf(line, " %lu requests in", &requests);
    (void)wait(NULL);
    double cpu = (cpu_us(RUSAGE_CHILDREN) - before) / (double)requests;
    printf("%-6s %9.0f requests/s  %5.2f us CPU per request\n", "wrk", (double)requests / (double)seconds,
           cpu);
    return cpu;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

#define ROUNDS_MAX 100

int main(int argc, char **argv)
{
    static double figures[3][ROUNDS_MAX];
    int64_t seconds = argc > 2 ? strtol(argv[2], NULL, 10) : 3;
    size_t rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : 5,
           channels = argc > 4 ? strtoul(argv[4], NULL, 10) : 64;

    if (argc < 2 || rounds < 1 || rounds > ROUNDS_MAX || seconds < 1 || channels < 1) {
        fprintf(stderr, "usage: bench_transport URL [SECONDS [ROUNDS [CHANNELS]]]\n");
        return 2;
    }
    for (size_t i = 0; i < rounds; i++) {
        figures[0][i] = run_wrk(argv[1], seconds, channels);
        figures[1][i] = run_transport(argv[1], TRANSPORT_PLAIN, HTTP_VERSION_1_1, seconds, channels);
        figures[2][i] = run_transport(argv[1], TRANSPORT_CURL, HTTP_VERSION_1_1, seconds, channels);
    }
    for (size_t i = 0; i < 3; i++)
        qsort(figures[i], rounds, sizeof(double), by_value);
    printf("median of %zu: wrk %.2f us, plain %.2f us (x %.2f), curl %.2f us (x %.2f)\n", rounds,
           figures[0][rounds / 2], figures[1][rounds / 2], figures[1][rounds / 2] / figures[0][rounds / 2],
           figures[2][rounds / 2], figures[2][rounds / 2] / figures[0][rounds / 2]);
    return 0;
}
