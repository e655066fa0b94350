/* SPDX-License-Identifier: MIT */
#include "benchctl/sample.h"

#include <math.h>
#include "benchctl/archive.h"
#include "benchctl/base/clock.h"
#include "benchctl/base/secrets.h"
#include "record.h"
#include "tracker.h"

#define TIMEOUT_LEAST_NS NS_PER_S
#define TIMEOUT_MOST_NS (10 * NS_PER_S)
#define TIMES_MAX 65536 /* a day and a half of one every 2 s */
#define RAW_NAME "scrapes.prom.zst"

/* The classic format first; anything rather than nothing. Nothing compressed: that would cost the application
 * CPU. */
static const char *const headers[] = {
    "Accept: text/plain;version=0.0.4;q=1,application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1",
    "Accept-Encoding: identity", NULL};
static const char *const headers_any[] = {"Accept: */*", "Accept-Encoding: identity", NULL};

struct scraper {
    struct http *http;
    struct loop *loop;
    struct loop_timer *timer;
    struct http_request *request;
    bool idle;       /* no request is under way */
    bool accept_any; /* the server refuses the list: */
    char *url;
    int64_t every_ns, timeout_ns, origin_ns, wall_ns;
    struct tracker *tracker; /* NULL without an adapter */
    struct arena *scratch;
    struct strbuf body, record;
    struct archive_file *raw; /* NULL: not kept */
    struct error raw_error;   /* the first; nothing is written after it */
    bool raw_failed;
    size_t scrapes, failed, replies, compressed, mislabelled;
    double sum_ms, slowest_ms, sum_bytes;
    VEC(double) times_ms; /* of the window's replies */
};

static void start(struct scraper *s);

static void write_record(struct scraper *s, const struct record *r)
{
    if (!s->raw || s->raw_failed)
        return;
    strbuf_clear(&s->record);
    record_write(r, &s->record);
    (void)secrets_mask(s->record.data, s->record.len); /* compressed, nobody finds one any more */
    s->raw_failed = archive_file_write(s->raw, s->record.data, s->record.len, &s->raw_error) < 0;
}

static double at_ms(const struct scraper *s, int64_t at_ns)
{
    return (double)(at_ns - s->origin_ns) / (double)NS_PER_MS;
}

static void write_mark(struct scraper *s, enum record_kind kind)
{
    write_record(s, &(struct record){.kind = kind, .at_ms = at_ms(s, clock_now_ns()), .wall_ms = NAN});
}

static void scrape_failed(struct scraper *s, int64_t at_ns, int status, const char *reason)
{
    struct record r = {.kind = RECORD_FAILED, .at_ms = at_ms(s, at_ns), .wall_ms = NAN, .status = status};

    (void)snprintf(r.reason, sizeof(r.reason), "%s", reason);
    write_record(s, &r);
    s->failed++;
    if (s->tracker)
        tracker_failed(s->tracker, reason);
}

/* A reply with status 200: into the record and the tracker. */
static int take_body(struct scraper *s, const struct http_result *result, struct error *err)
{
    struct prom_scrape scrape;
    const char *warning;

    strbuf_clear(&s->body);
    if (prom_plain_body(result->body, result->body_len, &s->body, &warning, err) < 0)
        return -1;
    arena_reset(s->scratch);
    if (prom_parse(s->body.data, s->body.len, result->content_type, s->scratch, &scrape, err) < 0)
        return -1;
    if (!scrape.sample_count)
        return error_set(err, ERROR_INVALID, "the reply has no metrics");
    struct record r = {.kind = RECORD_SCRAPE,
                       .at_ms = at_ms(s, result->started_ns),
                       .wall_ms = (double)s->wall_ns / (double)NS_PER_MS,
                       .status = result->status,
                       .body = s->body.data,
                       .len = s->body.len};
    (void)snprintf(r.type, sizeof(r.type), "%s", result->content_type);
    write_record(s, &r);
    s->compressed += warning != NULL;
    s->mislabelled +=
        !warning && *result->content_encoding && strcmp(result->content_encoding, "identity") != 0;
    if (s->tracker)
        tracker_add(s->tracker, &scrape, r.wall_ms);
    return 0;
}

static void on_done(const struct http_result *result, void *data)
{
    struct scraper *s = data;
    struct error err = ERROR_INIT;
    double took_ms = (double)(result->finished_ns - result->started_ns) / (double)NS_PER_MS;

    s->request = NULL;
    if (result->ok && result->status == 406 && !s->accept_any) {
        s->accept_any = true;
        start(s);
        return;
    }
    s->idle = true;
    s->scrapes++;
    if (result->ok) {
        s->replies++;
        s->sum_ms += took_ms;
        s->slowest_ms = fmax(s->slowest_ms, took_ms);
        if (s->times_ms.len < TIMES_MAX)
            vec_push(&s->times_ms, took_ms);
        s->sum_bytes += (double)result->body_len;
    }
    if (!result->ok)
        err = result->error;
    else if (result->status != 200)
        (void)error_set(&err, ERROR_INVALID, "HTTP status %d", result->status);
    else if (take_body(s, result, &err) == 0)
        return;
    scrape_failed(s, result->started_ns, result->status, err.message);
}

static void start(struct scraper *s)
{
    struct error err = ERROR_INIT;
    struct http_options o = {.url = s->url,
                             .headers = s->accept_any ? headers_any : headers,
                             .max_body = PROM_MAX_BYTES,
                             .timeout_ns = s->timeout_ns,
                             .connect_timeout_ns = s->timeout_ns,
                             .fresh_connection = true, /* none is kept from the load */
                             .done = on_done,
                             .data = s};

    s->wall_ns = clock_wall_ns();
    s->idle = false;
    if (http_start(s->http, &o, &s->request, &err) == 0)
        return;
    s->idle = true;
    s->scrapes++;
    scrape_failed(s, clock_now_ns(), 0, err.message);
}

/* A scrape that takes longer than the period leaves the next one out. */
static void on_timer(void *data)
{
    struct scraper *s = data;

    if (s->idle)
        start(s);
}

static void clear_counts(struct scraper *s)
{
    s->scrapes = s->failed = s->replies = s->compressed = s->mislabelled = 0;
    s->sum_ms = s->sum_bytes = 0;
    s->slowest_ms = NAN;
    s->times_ms.len = 0;
}

static int open_raw(struct scraper *s, const char *dir, struct error *err)
{
    if (!dir)
        return 0;
    CLEANUP_FREE char *path = xasprintf("%s/" RAW_NAME, dir);
    return archive_file_create(path, &s->raw, err);
}

int scraper_new(struct http *h, struct loop *l, const struct scraper_options *o, struct scraper **ret,
                struct error *err)
{
    CLEANUP(scraper_free) struct scraper *s = xcalloc(1, sizeof(*s));

    s->http = h;
    s->loop = l;
    s->url = xstrdup(o->url);
    s->every_ns = o->every_ns;
    s->timeout_ns = o->every_ns < TIMEOUT_LEAST_NS  ? TIMEOUT_LEAST_NS
                    : o->every_ns > TIMEOUT_MOST_NS ? TIMEOUT_MOST_NS
                                                    : o->every_ns;
    s->origin_ns = o->origin_ns;
    s->tracker = o->adapter ? tracker_new(o->adapter) : NULL;
    s->scratch = arena_new();
    s->body.max = PROM_MAX_BYTES + 1;
    s->idle = true;
    clear_counts(s);
    if (open_raw(s, o->dir, err) < 0)
        return -1;
    s->timer = loop_add_timer(l, clock_now_ns() + s->every_ns, s->every_ns, on_timer, s);
    start(s);
    *ret = TAKE(s);
    return 0;
}

void scraper_free(struct scraper *s)
{
    struct error err = ERROR_INIT;

    if (!s)
        return;
    loop_remove_timer(s->timer);
    http_cancel(s->request);
    (void)!archive_file_close(s->raw, &err); /* abandoned */
    tracker_free(s->tracker);
    arena_free(s->scratch);
    strbuf_release(&s->body);
    strbuf_release(&s->record);
    vec_release(&s->times_ms);
    free(s->url);
    free(s);
}

void scraper_window_begin(struct scraper *s)
{
    write_mark(s, RECORD_WINDOW);
    clear_counts(s);
    if (s->tracker)
        tracker_window(s->tracker);
    loop_set_timer(s->timer, clock_now_ns() + s->every_ns, s->every_ns);
    if (s->idle) /* else the one under way is the window's first */
        start(s);
}

void scraper_restarted(struct scraper *s)
{
    write_mark(s, RECORD_RESTARTED);
    if (s->tracker)
        tracker_restarted(s->tracker);
}

/* Waits for the scrape under way; it has a timeout of its own, and may be sent twice. */
static int wait_idle(struct scraper *s, struct error *err)
{
    struct error timeout = ERROR_INIT;
    int64_t deadline_ns = clock_now_ns() + 2 * s->timeout_ns + NS_PER_S;

    if (loop_wait_until(s->loop, &s->idle, deadline_ns, &timeout) == 0 || timeout.kind == ERROR_TIMEOUT)
        return 0;
    *err = timeout;
    return -1;
}

int scraper_finish(struct scraper *s, struct arena *a, struct metric_value **ret, size_t *ret_len,
                   struct error *err)
{
    struct metric_value *values = NULL;
    size_t len = 0;

    loop_remove_timer(s->timer);
    s->timer = NULL;
    if (wait_idle(s, err) < 0)
        return -1;
    if (s->idle)
        start(s);
    if (wait_idle(s, err) < 0)
        return -1;
    http_cancel(TAKE(s->request));
    if (s->raw_failed) {
        *err = s->raw_error;
        return -1;
    }
    if (archive_file_close(TAKE(s->raw), err) < 0)
        return -1;
    if (s->tracker)
        tracker_values(s->tracker, a, &values, &len);
    *ret = values;
    *ret_len = len;
    return 0;
}

void scraper_notes(const struct scraper *s, struct arena *a, struct text_list *ret)
{
    struct text_list from = {0};

    if (s->tracker)
        tracker_notes(s->tracker, a, &from);
    ret->items = arena_array(a, const char *, from.len + 2);
    ret->len = 0;
    for (size_t i = 0; i < from.len; i++)
        ret->items[ret->len++] = from.items[i];
    if (s->compressed)
        ret->items[ret->len++] = arena_printf(
            a, "%zu scrapes were sent compressed although that was not asked for", s->compressed);
    if (s->mislabelled)
        ret->items[ret->len++] = arena_printf(
            a, "%zu scrapes were plain text although they are labelled as compressed", s->mislabelled);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The time that 99 % of the replies did not exceed: the nearest rank, which of few is the slowest. */
static double p99_ms(const struct scraper *s)
{
    size_t n = s->times_ms.len;
    CLEANUP_FREE double *sorted = n ? xmalloc(n * sizeof(*sorted)) : NULL;

    if (!n)
        return NAN;
    memcpy(sorted, s->times_ms.items, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), by_size);
    return sorted[(n * 99 + 99) / 100 - 1];
}

void scraper_counts(const struct scraper *s, struct scraper_counts *ret)
{
    double replies = (double)s->replies;

    *ret = (struct scraper_counts){
        .scrapes = s->scrapes,
        .failed = s->failed,
        .incomplete = s->tracker ? tracker_incomplete(s->tracker) : 0,
        .resets = s->tracker ? tracker_resets(s->tracker) : 0,
        .mean_ms = replies > 0 ? s->sum_ms / replies : (double)NAN,
        .slowest_ms = s->slowest_ms,
        .mean_bytes = replies > 0 ? s->sum_bytes / replies : (double)NAN,
        .p99_ms = p99_ms(s),
    };
}
