/* SPDX-License-Identifier: MIT */
/* Scrapes over the wire: what is asked for, what counts as a gap, where the window begins, and what is kept.
 */
#include "unit/sample/sample_test.h"
#include "benchctl/archive.h"
#include "benchctl/base/secrets.h"
#include "scripted_server.h"
#include "support/scratch.h"

static const char adapter_text[] = "benchctl-adapter: 1\n"
                                   "metrics:\n"
                                   "  requests: {kind: counter, from: [{series: requests_total}]}\n"
                                   "  level: {from: [{series: level}]}\n";

struct rig {
    struct loop *loop;
    struct http *http;
    struct server *server;
    struct metric_adapter *adapter;
    struct scraper *scraper;
    struct arena *a;
    char *url, *dir;
};

static void rig_release(struct rig *r)
{
    scraper_free(r->scraper);
    metric_adapter_free(r->adapter);
    http_free(r->http);
    loop_free(r->loop);
    arena_free(r->a);
    free(r->url);
}
#define RIG CLEANUP_VALUE(rig_release) struct rig

/* A scraper whose timer never fires: the first scrape is at once, the others when the test asks. */
static struct rig rig_with(void **state, const struct server_options *o, int64_t every_ns)
{
    struct rig r = {.dir = *state, .a = arena_new()};
    struct server_options server = *o;
    struct error err = ERROR_INIT;

    server.tcp = true;
    r.server = server_start(&server);
    r.url = xasprintf("http://127.0.0.1:%d/metrics", server_port(r.server));
    assert_int_equal(loop_new(&r.loop, &err), 0);
    assert_int_equal(http_new(r.loop, &r.http, &err), 0);
    assert_int_equal(metric_adapter_parse(adapter_text, strlen(adapter_text), "test.yaml", &r.adapter, &err),
                     0);
    struct scraper_options so = {
        .url = r.url, .dir = r.dir, .every_ns = every_ns, .adapter = r.adapter, .origin_ns = clock_now_ns()};
    if (scraper_new(r.http, r.loop, &so, &r.scraper, &err) < 0)
        fail_msg("%s", err.message);
    return r;
}

#define rig(state, script)                                                                                   \
    rig_with(state, &(struct server_options){.script = script, .script_len = ARRAY_LEN(script)},             \
             3600 * NS_PER_S)

/* Until the server has seen `calls` requests and we their answers. */
static void settle(struct rig *r, size_t scrapes)
{
    struct scraper_counts c;
    struct error err = ERROR_INIT;

    for (int i = 0; i < 1000; i++) {
        scraper_counts(r->scraper, &c);
        if (c.scrapes >= scrapes)
            return;
        assert_int_equal(loop_sleep_until(r->loop, clock_now_ns() + 5 * NS_PER_MS, &err), 0);
    }
    fail_msg("%zu scrapes instead of %zu", c.scrapes, scrapes);
}

struct values {
    struct metric_value *items;
    size_t len;
};

static struct values finish(struct rig *r)
{
    struct values v;
    struct error err = ERROR_INIT;

    if (scraper_finish(r->scraper, r->a, &v.items, &v.len, &err) < 0)
        fail_msg("%s", err.message);
    return v;
}

static const struct metric_value *value(const struct values *v, const char *name)
{
    for (size_t i = 0; i < v->len; i++)
        if (strcmp(v->items[i].name, name) == 0)
            return &v->items[i];
    return NULL;
}

static bool noted(struct rig *r, const char *part)
{
    struct text_list notes;

    scraper_notes(r->scraper, r->a, &notes);
    for (size_t i = 0; i < notes.len; i++)
        if (strstr(notes.items[i], part))
            return true;
    return false;
}

static char *recorded(struct rig *r)
{
    CLEANUP_FREE char *path = path_join(r->dir, "scrapes.prom.zst");
    struct strbuf out = STRBUF_INIT;
    struct error err = ERROR_INIT;

    if (archive_file_read(path, (size_t)1 << 20, &out, &err) < 0)
        fail_msg("%s", err.message);
    return strbuf_detach(&out);
}

#define TEXT .type = "text/plain; version=0.0.4; charset=utf-8"

static void test_window(void **state)
{
    static const struct expect script[] = {
        {.request = "GET /metrics",
         .reply = {TEXT, .body = "requests_total 1000\nlevel 500\n"}}, /* warm-up */
        {.request = "GET /metrics",
         .reply = {TEXT, .body = "requests_total 1010\nlevel 1\n"}}, /* the window begins */
        {.request = "GET /metrics", .reply = {TEXT, .body = "requests_total 1060\nlevel 3\n"}}, /* and ends */
    };
    RIG r = rig(state, script);

    settle(&r, 1);
    scraper_window_begin(r.scraper);
    settle(&r, 1);
    struct values v = finish(&r);
    assert_near(value(&v, "requests")->increase, 50);
    assert_near(value(&v, "level")->avg, 2);
    assert_near(value(&v, "level")->max, 3); /* the warm-up's 500 is forgotten */
    struct scraper_counts c;
    scraper_counts(r.scraper, &c);
    assert_int_equal(c.scrapes, 2);
    assert_int_equal(c.failed, 0);
    assert_near(c.mean_bytes, 28);
    assert_true(c.slowest_ms >= c.mean_ms && c.mean_ms > 0);
    const struct seen *seen = server_seen(r.server, 0);
    assert_has(seen->headers, "Accept: text/plain;version=0.0.4");
    assert_has(seen->headers, "*/*;q=0.1");
    assert_has(seen->headers, "Accept-Encoding: identity");
    server_finish(r.server);
}

/* What was kept gives the same values when it is read again. */
static void test_record_gives_the_same(void **state)
{
    static const struct expect script[] = {
        {.request = "GET /metrics", .reply = {TEXT, .body = "requests_total 1\nlevel 9\n"}},
        {.request = "GET /metrics", .reply = {TEXT, .body = "requests_total 5\nlevel 1"}},
        {.request = "GET /metrics", .reply = {.status = 503, .body = "busy"}},
    };
    RIG r = rig(state, script);

    settle(&r, 1);
    scraper_window_begin(r.scraper);
    settle(&r, 1);
    scraper_restarted(r.scraper);
    struct values live = finish(&r), again;
    CLEANUP_FREE char *text = recorded(&r);
    struct error err = ERROR_INIT;
    assert_int_equal(
        metric_adapter_apply(r.adapter, (const char *const *)&text, 1, r.a, &again.items, &again.len, &err),
        0);
    assert_int_equal(live.len, 2);
    assert_int_equal(again.len, live.len);
    for (size_t i = 0; i < live.len; i++) {
        assert_string_equal(again.items[i].name, live.items[i].name);
        assert_memory_equal(&again.items[i].avg, &live.items[i].avg, sizeof(double) * 5);
    }
    assert_near(value(&live, "level")->gaps, 1);
    assert_has(text, "# benchctl scrape at_ms=");
    assert_has(text,
               " status=200 bytes=25 type=text/plain; version=0.0.4; charset=utf-8\nrequests_total 1\n");
    assert_has(text, "# benchctl window at_ms=");
    assert_has(text, "# benchctl restarted at_ms=");
    assert_has(text, " status=503 reason=HTTP status 503\n");
    server_finish(r.server);
}

/* An application that tells its settings as labels: its figures count, the password is not kept. */
static void test_secrets_are_masked(void **state)
{
    static const struct expect script[] = {
        {.request = "GET /metrics", .reply = {TEXT, .body = "level{dsn=\"u:hush-hush-9\"} 1\n"}},
        {.request = "GET /metrics", .reply = {TEXT, .body = "level{dsn=\"u:hush-hush-9\"} 3\n"}},
    };
    RIG r = rig(state, script);

    secrets_learn("hush-hush-9");
    settle(&r, 1);
    struct values v = finish(&r);
    CLEANUP_FREE char *text = recorded(&r);
    secrets_forget();
    assert_near(value(&v, "level")->max, 3);
    assert_null(strstr(text, "hush-hush-9"));
    assert_has(text, "level{dsn=\"u:***********\"} 1\n");
    server_finish(r.server);
}

static void test_406(void **state)
{
    static const struct expect script[] = {
        {.request = "GET /metrics", .reply = {.status = 406, .type = "text/plain", .body = "HTTP 406"}},
        {.request = "GET /metrics", .reply = {TEXT, .body = "level 1\n"}},
        {.request = "GET /metrics", .reply = {TEXT, .body = "level 2\n"}},
    };
    RIG r = rig(state, script);

    settle(&r, 1);
    struct values v = finish(&r);
    assert_near(value(&v, "level")->avg, 1.5);
    assert_near(value(&v, "level")->gaps, 0);
    assert_has(server_seen(r.server, 0)->headers, "text/plain;version=0.0.4");
    assert_null(strstr(server_seen(r.server, 1)->headers, "text/plain")); /* once more with anything */
    assert_has(server_seen(r.server, 1)->headers, "Accept: */*");
    assert_has(server_seen(r.server, 2)->headers, "Accept: */*"); /* and so it stays */
    server_finish(r.server);
}

static void test_406_for_ever(void **state)
{
    static const struct rule rules[] = {{.request = "*", .reply = {.status = 406}}};
    RIG r = rig_with(state, &(struct server_options){.rules = rules, .rules_len = 1}, 3600 * NS_PER_S);

    settle(&r, 1);
    struct values v = finish(&r);
    assert_int_equal(v.len, 0);
    assert_int_equal(server_calls(r.server), 3); /* two for the first scrape, one for the last */
    assert_true(noted(&r, "2 of 2 scrapes failed, the last because: HTTP status 406"));
    server_finish(r.server);
}

static void test_openmetrics(void **state)
{
    static const struct expect script[] = {
        {.request = "GET /metrics",
         .reply =
             {.type = "application/openmetrics-text; version=1.0.0",
              .body = "# TYPE requests counter\nrequests_total 5 1.5\nrequests_created 1\nlevel 1\n# EOF\n"}},
        {.request = "GET /metrics",
         .reply = {.type = "application/openmetrics-text; version=1.0.0",
                   .body = "requests_total 9\nlevel 1\n"}}, /* cut */
    };
    RIG r = rig(state, script);

    settle(&r, 1);
    struct values v = finish(&r);
    struct scraper_counts c;
    scraper_counts(r.scraper, &c);
    assert_int_equal(c.incomplete, 1);
    assert_true(noted(&r, "1 scrapes were cut short"));
    assert_null(value(&v, "nothing"));
    server_finish(r.server);
}

static void test_gaps(void **state)
{
    CLEANUP_VALUE(strbuf_release)
    struct strbuf mixed = read_case("F09/mixed.http"), html = read_case("F09/html.http"),
                  string = read_case("F09/jsonstring.http"), gzip = read_case("F09/gzip_nohdr.http"),
                  label = read_case("F09/hdr_nogzip.http"), length = read_case("F09/wrong_length.http");
    const struct expect script[] = {
        {.request = "*", .reply = {.raw = mixed.data, .raw_len = mixed.len}},
        {.request = "*", .reply = {.raw = html.data, .raw_len = html.len}},
        {.request = "*", .reply = {.raw = string.data, .raw_len = string.len}},
        {.request = "*", .reply = {.raw = length.data, .raw_len = length.len, .end = END_CLOSE}},
        {.request = "*", .reply = {.status = 500, .body = "no"}},
        {.request = "*", .reply = {TEXT, .body = "# only a comment\n"}},
        {.request = "*", .reply = {.raw = gzip.data, .raw_len = gzip.len}},
        {.request = "*", .reply = {.raw = label.data, .raw_len = label.len}},
        {.request = "*", .reply = {TEXT, .body = "level 4\n"}},
    };
    RIG r = rig_with(state, &(struct server_options){.script = script, .script_len = ARRAY_LEN(script)},
                     20 * NS_PER_MS);

    settle(&r, 8);
    struct values v = finish(&r);
    struct scraper_counts c;
    scraper_counts(r.scraper, &c);
    assert_int_equal(c.failed, 6);
    assert_near(value(&v, "level")->last, 4);
    assert_near(value(&v, "level")->gaps, 8); /* six failed, two had other series */
    assert_true(noted(&r, "6 of 9 scrapes failed, the last because: the reply has no metrics"));
    assert_true(noted(&r, "1 scrapes were sent compressed"));
    assert_true(noted(&r, "1 scrapes were plain text although"));
    CLEANUP_FREE char *text = recorded(&r);
    assert_has(text, "reason=the body: gzip with something else behind it");
    assert_has(text, "begins with 3c 68 74 6d 6c");
    assert_has(text, "begins with 22 61 20 31");
    server_finish(r.server);
}

static void test_nobody_answers(void **state)
{
    static const struct expect script[] = {
        {.request = "*", .reply = {TEXT, .body = "requests_total 7\nlevel 1\n"}}};
    RIG r = rig(state, script);

    settle(&r, 1);
    server_finish(r.server); /* the application has died */
    struct values v = finish(&r);
    assert_near(value(&v, "requests")->gaps, 1);
    assert_near(value(&v, "requests")->last, 7);
    assert_nan(value(&v, "requests")->increase); /* one scrape tells of no increase */
    assert_true(noted(&r, "1 of 2 scrapes failed"));
}

/* A scrape that hangs is left alone: no second one beside it, and the end does not wait for ever. */
static void test_slow(void **state)
{
    static const struct rule rules[] = {{.request = "*", .reply = {TEXT, .body = "level 1\n"}}};
    struct server_options o = {.rules = rules, .rules_len = 1};
    RIG r = rig_with(state, &o, 30 * NS_PER_MS);

    settle(&r, 1);
    server_fail_call(r.server, 1, NULL, FAIL_HANG);
    struct scraper_counts before, after;
    scraper_counts(r.scraper, &before);
    size_t calls = server_calls(r.server);
    struct error err = ERROR_INIT;
    assert_int_equal(loop_sleep_until(r.loop, clock_now_ns() + 300 * NS_PER_MS, &err), 0);
    assert_true(server_calls(r.server) <= calls + 2);
    struct values v = finish(&r);
    scraper_counts(r.scraper, &after);
    assert_true(after.failed >= 1);
    assert_true(value(&v, "level")->gaps >= 1);
    server_finish(r.server);
}

static void test_free_in_the_middle(void **state)
{
    static const struct rule rules[] = {
        {.request = "*", .reply = {TEXT, .body = "level 1\n", .delay_ms = 50}}};
    RIG r = rig_with(state, &(struct server_options){.rules = rules, .rules_len = 1}, 3600 * NS_PER_S);

    scraper_free(TAKE(r.scraper));
    struct error err = ERROR_INIT;
    assert_int_equal(loop_sleep_until(r.loop, clock_now_ns() + 20 * NS_PER_MS, &err), 0);
    server_finish(r.server);
}

/* Without an adapter there are no values, but the text is kept. */
static void test_without_adapter(void **state)
{
    static const struct rule rules[] = {{.request = "*", .reply = {TEXT, .body = "level 1\n"}}};
    RIG r = rig_with(state, &(struct server_options){.rules = rules, .rules_len = 1}, 3600 * NS_PER_S);
    struct error err = ERROR_INIT;

    scraper_free(TAKE(r.scraper));
    struct scraper_options o = {.url = r.url, .dir = r.dir, .every_ns = NS_PER_S};
    assert_int_equal(scraper_new(r.http, r.loop, &o, &r.scraper, &err), 0);
    scraper_window_begin(r.scraper);
    scraper_restarted(r.scraper);
    assert_int_equal(finish(&r).len, 0);
    CLEANUP_FREE char *text = recorded(&r);
    assert_has(text, "\nlevel 1\n");
    server_finish(r.server);
}

static void test_no_place_for_the_record(void **state)
{
    CLEANUP(loop_free) struct loop *l = NULL;
    CLEANUP(http_free) struct http *h = NULL;
    struct scraper *s = NULL;
    struct error err = ERROR_INIT;
    struct scraper_options o = {
        .url = "http://127.0.0.1:1/metrics", .dir = "/nonexistent", .every_ns = NS_PER_S};

    (void)state;
    assert_int_equal(loop_new(&l, &err), 0);
    assert_int_equal(http_new(l, &h, &err), 0);
    assert_int_equal(scraper_new(h, l, &o, &s, &err), -1);
    assert_has(err.message, "/nonexistent");
    assert_null(s);
}

#define scratch_test(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(test_window),
        scratch_test(test_record_gives_the_same),
        scratch_test(test_secrets_are_masked),
        scratch_test(test_406),
        scratch_test(test_406_for_ever),
        scratch_test(test_openmetrics),
        scratch_test(test_gaps),
        scratch_test(test_nobody_answers),
        scratch_test(test_slow),
        scratch_test(test_free_in_the_middle),
        scratch_test(test_without_adapter),
        scratch_test(test_no_place_for_the_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
