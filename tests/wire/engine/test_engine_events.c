/* SPDX-License-Identifier: MIT */
/* Events: none lost, none twice, and every gap told. */
#include "scripted_engine.h"

struct heard {
    char text[4000]; /* "create|start|die 1|" */
    int count, gaps;
    char why[500];
    char role[40], scenario[80], id[80];
    int signal;
    int64_t last_ns;
};

static void on_event(const struct engine_event *ev, void *data)
{
    struct heard *h = data;
    size_t len = strlen(h->text);

    h->count++;
    if (ev->exit_code >= 0)
        snprintf(h->text + len, sizeof(h->text) - len, "%s %d|", ev->action, ev->exit_code);
    else
        snprintf(h->text + len, sizeof(h->text) - len, "%s|", ev->action);
    snprintf(h->role, sizeof(h->role), "%s", ev->role);
    snprintf(h->scenario, sizeof(h->scenario), "%s", ev->scenario);
    snprintf(h->id, sizeof(h->id), "%s", ev->id);
    h->signal = ev->signal;
    h->last_ns = ev->wall_ns;
    assert_non_null(ev->raw);
}

static void on_gap(const char *why, void *data)
{
    struct heard *h = data;

    h->gaps++;
    snprintf(h->why, sizeof(h->why), "%s", why);
}

static struct engine_stream *subscribe(struct play *p, struct heard *h)
{
    struct engine_event_handler handler = {.event = on_event, .gap = on_gap, .data = h};
    struct engine_stream *s;

    must(engine_events_open(p->lab.engine, "r7", &handler, &s, &why));
    return s;
}

#define EVENTS "GET /events?since=*&filters={\"label\":*org.benchctl.run=r7*\"container\"*}"

static char *since_of(const struct seen *request)
{
    const char *from = strstr(request->path, "since=") + strlen("since=");

    return xstrndup(from, strcspn(from, "&"));
}

/* part1 ends in the middle of a value; the second stream begins with a repetition. */
static void a_stream_that_is_cut_goes_on(void **state)
{
    (void)state;
    CLEANUP_FREE char *part1 = case_bytes("A10/part1.jsonl", NULL);
    CLEANUP_FREE char *part2 = case_bytes("A10/part2_after_reconnect.jsonl", NULL);
    struct expect script[] = {
        OPENING,
        {EVENTS, .reply = {.body = part1, .chunked = true, .piece = 100}},
        {"GET /events?since=1700000002.000000002&*", .reply = {.body = part2, .end = END_OPEN, .piece = 33}}};
    struct heard h = {0};
    struct play p;

    /* the engine's clock must not be past the case's events */
    script[1].reply.body = "{\"SystemTime\": \"2023-11-14T22:13:19Z\"}";
    play_script(&p, script);
    CLEANUP(engine_stream_close) struct engine_stream *s = subscribe(&p, &h);
    serve_until(&p.lab, h.count == 6);
    serve_ms(&p.lab, 50);
    assert_string_equal(h.text, "create|start|health_status: unhealthy|die 1|start|die 0|");
    assert_int_equal(h.gaps, 1);
    assert_has(h.why, "ended");
    assert_int_equal(h.last_ns, INT64_C(1700000009000000500));
    CLEANUP_FREE char *since = since_of(server_seen(p.server, 2));
    assert_true(labs(strtol(since, NULL, 10) - 1699999999) < 60); /* the engine's own time, not ours */
    engine_stream_close(TAKE(s));
    play_end(&p);
}

static void what_an_event_carries(void **state)
{
    (void)state;
    static const char *const events =
        "{\"Type\": \"container\", \"Action\": \"kill\", \"Actor\": {\"ID\": \"" ID_A
        "\", \"Attributes\": {\"signal\": \"15\","
        " \"org.benchctl.role\": \"app\", \"org.benchctl.scenario\": \"a/b\"}}, \"timeNano\": 5}\n"
        "\n   \n";
    struct expect script[] = {OPENING, {EVENTS, .reply = {.body = events, .end = END_OPEN}}};
    struct heard h = {0};
    struct play p;

    play_script(&p, script);
    CLEANUP(engine_stream_close) struct engine_stream *s = subscribe(&p, &h);
    serve_until(&p.lab, h.count == 1);
    assert_string_equal(h.text, "kill|");
    assert_string_equal(h.role, "app");
    assert_string_equal(h.scenario, "a/b");
    assert_string_equal(h.id, ID_A);
    assert_int_equal(h.signal, 15);
    /* pushed later, split inside, odd in every way: each whole value is heard, nothing else is */
    static const char more[] =
        "{\"Action\": \"die\", \"Actor\": {\"Attributes\": {\"exitCode\": \"137\"}}, \"timeNano\": 6}"
        "{\"Action\": \"die\", \"Actor\": {\"Attributes\": {\"containerExitCode\": \"3\"}}}"
        "{\"Action\": \"die\", \"Actor\": {\"Attributes\": {\"exitCode\": \"x\"}}}{\"noaction\": 1}[1] "
        "{\"Action\": 5}{\"Action\": \"oom\", \"timeNano\": \"7\"}";
    server_push(p.server, "/events*", more, 40);
    server_push(p.server, "/events*", more + 40, sizeof(more) - 1 - 40);
    serve_until(&p.lab, h.count == 5);
    assert_string_equal(h.text, "kill|die 137|die 3|die|oom|");
    assert_int_equal(h.gaps, 0);
    engine_stream_close(TAKE(s));
    play_end(&p);
}

static void bytes_that_are_no_json_cost_one_line(void **state)
{
    (void)state;
    static const char events[] =
        "{\"Action\": \"start\", \"timeNano\": 1}\n{\"Action\": nonsense}\n{\"Action\": \"die\"}\n}}}}\n"
        "{\"Action\": \"destroy\"}\n";
    struct expect script[] = {OPENING, {EVENTS, .reply = {.body = events, .end = END_OPEN}}};
    struct heard h = {0};
    struct play p;

    play_script(&p, script);
    CLEANUP(engine_stream_close) struct engine_stream *s = subscribe(&p, &h);
    serve_until(&p.lab, h.count == 3);
    assert_string_equal(h.text, "start|die|destroy|");
    assert_int_equal(h.gaps, 2);
    assert_has(h.why, "not JSON");
    engine_stream_close(TAKE(s));
    play_end(&p);
}

/* The engine is away for a while: refused, closed, garbled; then it is back and its memory is empty. */
static void an_engine_that_restarts(void **state)
{
    (void)state;
    struct expect script[] = {
        OPENING,
        {EVENTS,
         .reply = {.body = "{\"Action\": \"start\", \"timeNano\": 1900000000000000007}\n", .end = END_OPEN}},
        {EVENTS, .reply = {.status = 503, .body = "{\"message\": \"starting\"}"}},
        {EVENTS, .reply = {.raw = "HTTP/1.1 200 OK\r\nTransfer-Encod", .end = END_CLOSE}},
        {"GET /events?since=1900000000.000000007*", .reply = {.end = END_OPEN}},
    };
    struct heard h = {0};
    struct play p;

    play_script(&p, script);
    CLEANUP(engine_stream_close) struct engine_stream *s = subscribe(&p, &h);
    serve_until(&p.lab, h.count == 1);
    server_end_streams(p.server, "/events*", false);
    serve_until(&p.lab, h.gaps == 1);
    assert_int_equal(server_calls(p.server), 6);
    static const char late[] = "{\"Action\": \"die\", \"timeNano\": 1900000001000000000}";
    server_push(p.server, "/events*", late, sizeof(late) - 1);
    serve_until(&p.lab, h.count == 2);
    assert_int_equal(h.gaps, 1);
    engine_stream_close(TAKE(s));
    play_end(&p);
}

/* Everything that a real engine said in four minutes, replayed twice. */
static void a_real_recording_twice(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct heard h = {0};
    struct play p;

    must(fs_read(TESTS_DIR "/data/docker-events/docker-v2-events.ndjson", 1 << 20, &text, &why));
    struct expect script[] = {OPENING,
                              {EVENTS, .reply = {.body = text.data, .chunked = true, .piece = 1000}},
                              {EVENTS, .reply = {.body = text.data, .end = END_OPEN, .piece = 777}}};
    play_script(&p, script);
    CLEANUP(engine_stream_close) struct engine_stream *s = subscribe(&p, &h);
    serve_until(&p.lab, h.gaps == 1);
    serve_ms(&p.lab, 50);
    assert_int_equal(h.count, 152);
    engine_stream_close(TAKE(s));
    play_end(&p);
}

static void a_subscription_that_is_refused(void **state)
{
    (void)state;
    struct expect script[] = {OPENING,
                              {EVENTS, .reply = {.status = 400, .body = "{\"message\": \"bad filter\"}"}},
                              {EVENTS, .reply = {.raw = "HT", .end = END_CLOSE}}};
    struct heard h = {0};
    struct engine_event_handler handler = {.event = on_event, .data = &h};
    struct engine_stream *s;
    struct error err = ERROR_INIT;
    struct play p;

    play_script(&p, script);
    assert_int_equal(engine_events_open(p.lab.engine, "r7", &handler, &s, &err), -1);
    assert_string_equal(err.message, "cannot subscribe to the engine's events: bad filter");
    assert_int_equal(engine_events_open(p.lab.engine, "r7", &handler, &s, &err), -1);
    play_end(&p);
}

/* One value larger than any event is: not kept in memory, told as a gap. */
static void an_endless_value(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf big = STRBUF_INIT;
    struct heard h = {0};
    struct play p;

    strbuf_adds(&big, "{\"Action\": \"");
    for (int i = 0; i < 40000; i++)
        strbuf_adds(&big, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    struct expect script[] = {OPENING,
                              {EVENTS, .reply = {.body = big.data, .end = END_OPEN}},
                              {EVENTS, .reply = {.body = "{\"Action\": \"die\"}", .end = END_OPEN}}};
    play_script(&p, script);
    CLEANUP(engine_stream_close) struct engine_stream *s = subscribe(&p, &h);
    serve_until(&p.lab, h.count == 1);
    assert_int_equal(h.gaps, 1);
    engine_stream_close(TAKE(s));
    play_end(&p);
}

#define EVENT(action, ns) "{\"Action\": \"" action "\", \"timeNano\": " ns "}\n"
#define AGAIN "GET /events?since=*&until=*&filters=*org.benchctl.run=r7*"

/* What the stream has not told is found by asking; then it is opened anew. One that has told all stays. */
static void a_stream_that_is_silent_is_found_out(void **state)
{
    (void)state;
    struct expect script[] = {
        OPENING,
        {EVENTS, .reply = {.body = EVENT("create", "1600000000000000001"), .end = END_OPEN}},
        {AGAIN, .reply = {.body = EVENT("create", "1600000000000000001")}},
        {AGAIN, .reply = {.body = EVENT("create", "1600000000000000001") EVENT("start", "1600000000000000002")
                              EVENT("die", "1600000000000000003"),
                          .piece = 17}},
        {"GET /events?since=*&filters=*",
         .reply = {.body = EVENT("die", "1600000000000000003") EVENT("start", "1600000000000000004"),
                   .end = END_OPEN}},
        {AGAIN, .reply = {.status = 500, .body = "{\"message\": \"no\"}"}},
    };
    struct heard h = {0};
    struct error err = ERROR_INIT;
    struct play p;
    int missed = -1;

    play_script(&p, script);
    struct engine_stream *s = subscribe(&p, &h);
    serve_until(&p.lab, h.count == 1);
    must(engine_events_verify(s, clock_wall_ns(), &missed, &why)); /* too young to be asked for */
    assert_int_equal(missed, 0);
    int64_t since_ns = clock_wall_ns() - 10 * NS_PER_S;
    must(engine_events_verify(s, since_ns, &missed, &why));
    assert_int_equal(missed, 0);
    assert_true(engine_events_connected(s));
    must(engine_events_verify(s, since_ns, &missed, &why));
    assert_int_equal(missed, 2);
    serve_until(&p.lab, h.count == 4);
    assert_string_equal(h.text, "create|start|die|start|");
    assert_int_equal(h.gaps, 0);
    assert_true(engine_events_connected(s));
    assert_int_equal(engine_events_verify(s, since_ns, &missed, &err), -1);
    assert_string_equal(err.message, "cannot ask for the engine's events: no");
    engine_stream_close(s);
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_that_is_cut_goes_on),
        cmocka_unit_test(a_stream_that_is_silent_is_found_out),
        cmocka_unit_test(what_an_event_carries),
        cmocka_unit_test(bytes_that_are_no_json_cost_one_line),
        cmocka_unit_test(an_engine_that_restarts),
        cmocka_unit_test(a_real_recording_twice),
        cmocka_unit_test(a_subscription_that_is_refused),
        cmocka_unit_test(an_endless_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
