/* SPDX-License-Identifier: MIT */
/*
 * What reading a generator's stream costs. Not a test, since it depends on the machine; scripts/bench-stream
 * compares it with jq.
 *
 * bench_stream make MEGABYTES [unique]   lines as k6 writes them; `unique`: no two requests have the same
 * tags bench_stream sum FILE METRIC           reads FILE as the k6 adapter does; count and sum of the metric
 * bench_stream rest FILE                 the same with all that is kept: counts, seconds, quantiles
 */
#include <stdio.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/load.h"

/* A sequence that is the same everywhere. */
static uint64_t next(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

static void request(uint64_t *x, uint64_t n, bool unique, struct strbuf *out)
{
    static const char *const metrics[] = {
        "http_reqs",           "http_req_duration",        "http_req_blocked",
        "http_req_connecting", "http_req_tls_handshaking", "http_req_sending",
        "http_req_waiting",    "http_req_receiving",       "http_req_failed"};
    static const char *const names[] = {"items", "orders", "login", "search?q=a\\u0026page=2",
                                        "items/42/reviews"};
    uint64_t id = unique ? n : 0;
    const char *name = names[next(x) % ARRAY_LEN(names)];
    bool bad = next(x) % 100 == 0;
    int64_t at_ns = (INT64_C(1767225600) * 1000000 + (int64_t)n * 400) * 1000 + (int64_t)(next(x) % 1000);
    char second[32];

    clock_rfc3339(at_ns, second);
    for (size_t i = 0; i < ARRAY_LEN(metrics); i++) {
        double ms = (double)(1 + next(x) % 1000000 * (next(x) % 7)) / 1e3;
        strbuf_addf(
            out, "{\"metric\":\"%s\",\"type\":\"Point\",\"data\":{\"time\":\"%.19s.%09d+01:00\",\"value\":",
            metrics[i], second, (int)(at_ns % NS_PER_S));
        if (i == 0)
            strbuf_addc(out, '1');
        else if (i == 8)
            strbuf_addc(out, bad ? '1' : '0');
        else
            strbuf_addf(out, "%.6g", ms);
        strbuf_addf(out,
                    ",\"tags\":{\"expected_response\":\"%s\",\"group\":\"\",\"method\":\"GET\",\"name\":"
                    "\"http://10.0.0.2:8080/api/%s\",\"proto\":\"HTTP/"
                    "1.1\",\"scenario\":\"default\",\"status\":\"%s\","
                    "\"url\":\"http://10.0.0.2:8080/api/%s",
                    bad ? "false" : "true", name, bad ? "503" : "200", name);
        if (unique)
            strbuf_addf(out, "/%llu", (unsigned long long)id);
        strbuf_adds(out, "\"}}}\n");
    }
}

static int make(uint64_t megabytes, bool unique)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    uint64_t x = 88172645463325252u, written = 0;

    for (uint64_t n = 0; written < megabytes * 1000000; n++) {
        strbuf_clear(&out);
        request(&x, n, unique, &out);
        fwrite(out.data, 1, out.len, stdout);
        written += out.len;
    }
    return fflush(stdout);
}

static int read_stream(const char *file, const char *metric, struct error *err)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = NULL;
    CLEANUP(load_stream_free) struct load_stream *s = NULL;
    struct load_stream_total t = {0};
    struct load_stream_counts c;

    if (load_adapter_read("k6", NULL, &a, err) < 0 || load_stream_new(a, NULL, &s, err) < 0 ||
        load_stream_read_file(s, file, err) < 0)
        return -1;
    if (metric) {
        (void)load_stream_get_total(s, metric, &t);
        printf("%llu %.17g\n", (unsigned long long)t.count, t.sum);
        return 0;
    }
    load_stream_get_counts(s, &c);
    printf("%llu lines, %llu points, %llu invalid, %llu by the full parser; p50 %.3f ms, p99 %.3f ms\n",
           (unsigned long long)c.lines, (unsigned long long)c.points, (unsigned long long)c.invalid,
           (unsigned long long)c.slow, load_stream_quantile_ms(s, 0.5), load_stream_quantile_ms(s, 0.99));
    return 0;
}

int main(int argc, char **argv)
{
    struct error err = ERROR_INIT;
    int rc = 2;

    if (argc > 2 && strcmp(argv[1], "make") == 0)
        rc = make(strtoull(argv[2], NULL, 10), argc > 3);
    else if (argc == 4 && strcmp(argv[1], "sum") == 0)
        rc = read_stream(argv[2], argv[3], &err);
    else if (argc == 3 && strcmp(argv[1], "rest") == 0)
        rc = read_stream(argv[2], NULL, &err);
    if (err.message[0])
        fprintf(stderr, "%s\n", err.message);
    return rc < 0 ? 1 : rc;
}
