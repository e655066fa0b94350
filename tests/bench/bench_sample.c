/* SPDX-License-Identifier: MIT */
/*
 * What sampling costs. Not a test, since it depends on the machine.
 *
 * bench_sample SECONDS HZ PID...        samples the containers of these processes as a trial does
 * bench_sample SECONDS URL ADAPTER      scrapes as a trial does
 * bench_sample FILE.prom                reads one scrape again and again
 */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/sample.h"

static int bench_sampler(double seconds, double hz, char *const *pids, struct error *err)
{
    CLEANUP(loop_free) struct loop *loop = NULL;
    CLEANUP(sampler_free) struct sampler *s = NULL;
    CLEANUP_CLOSE int csv = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct sampler_options o = {.period_ns = (int64_t)(1e9 / hz), .csv_fd = csv};
    struct host_result h = {0};
    struct container_result r = {0};

    if (loop_new(&loop, err) < 0 || sampler_new(loop, &o, &s, err) < 0)
        return -1;
    for (size_t i = 0; pids[i]; i++)
        if (sampler_add(s, pids[i], atoll(pids[i]), err) < 0)
            return -1;
    sampler_window_begin(s);
    if (loop_sleep_until(loop, clock_now_ns() + (int64_t)(seconds * 1e9), err) < 0)
        return -1;
    sampler_window_end(s);
    sampler_host(s, &h);
    for (size_t i = 0; pids[i] && sampler_result(s, pids[i], &r) == 0; i++)
        printf("%s: %.0f samples by %s, %.2f cores, %.1f MiB used\n", pids[i], r.samples, r.sample_source,
               r.cpu_cores.avg, r.memory_bytes.used_avg / 0x1p20);
    printf("sampling: %.3f %% of a core, %.1f MiB resident; host busy with %.2f cores\n",
           h.benchctl_cpu_cores * 100, h.benchctl_rss_bytes / 0x1p20, h.cpu_busy);
    return 0;
}

/* A trial's scraper by itself, every 2 s. */
static int bench_scraper(double seconds, const char *url, const char *adapter, struct error *err)
{
    static char dir[] = SOURCE_DIR "/adapters";
    static char *const dirs[] = {dir, NULL};
    CLEANUP(metric_adapter_free) struct metric_adapter *ad = NULL;
    CLEANUP(loop_free) struct loop *loop = NULL;
    CLEANUP(http_free) struct http *http = NULL;
    CLEANUP(scraper_free) struct scraper *s = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct metric_value *values;
    struct scraper_counts c;
    size_t len;

    if (metric_adapter_read(adapter, dirs, &ad, err) < 0 || loop_new(&loop, err) < 0 ||
        http_new(loop, &http, err) < 0)
        return -1;
    struct scraper_options o = {.url = url, .dir = "/tmp", .every_ns = 2 * NS_PER_S, .adapter = ad};
    if (scraper_new(http, loop, &o, &s, err) < 0)
        return -1;
    clock_t started = clock();
    if (loop_sleep_until(loop, clock_now_ns() + (int64_t)(seconds * 1e9), err) < 0)
        return -1;
    double cpu_s = (double)(clock() - started) / CLOCKS_PER_SEC;
    if (scraper_finish(s, a, &values, &len, err) < 0)
        return -1;
    scraper_counts(s, &c);
    printf("%zu scrapes (%zu failed) of %.0f bytes, %zu values: %.3f %% of a core\n", c.scrapes, c.failed,
           c.mean_bytes, len, cpu_s / seconds * 100);
    return 0;
}

static int bench_scrape(const char *path, struct error *err)
{
    enum { ROUNDS = 500 };
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct prom_scrape s;

    if (fs_read(path, PROM_MAX_BYTES, &text, err) < 0)
        return -1;
    clock_t started = clock(); /* CPU time: others may use the machine */
    for (int i = 0; i < ROUNDS; i++) {
        arena_reset(a);
        if (prom_parse(strbuf_text(&text), text.len, NULL, a, &s, err) < 0)
            return -1;
    }
    double ns = (double)(clock() - started) * (1e9 / CLOCKS_PER_SEC) / ROUNDS;
    printf("%zu samples in %zu bytes: %.0f us, %.0f MB/s, %.0f KiB\n", s.sample_count, text.len, ns / 1e3,
           (double)text.len / ns * 1e3, (double)arena_bytes(a) / 1024);
    return 0;
}

int main(int argc, char **argv)
{
    struct error err = ERROR_INIT;

    if (argc < 2)
        return 2;
    int result = argc == 2 ? bench_scrape(argv[1], &err)
                 : text_starts(argv[2], "http")
                     ? bench_scraper(atof(argv[1]), argv[2], argc > 3 ? argv[3] : "", &err)
                     : bench_sampler(atof(argv[1]), atof(argv[2]), argv + 3, &err);
    if (result < 0)
        fprintf(stderr, "%s\n", err.message);
    return result < 0;
}
