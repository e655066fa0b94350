/* SPDX-License-Identifier: MIT */
/* Logs by script: framing, restarts, limits, ends; and the stats stream. */
#include "scripted_engine.h"

struct log_files {
    char path[2][40];
    int fd[2], lines;
};

static void open_files(struct log_files *f)
{
    for (int i = 0; i < 2; i++) {
        snprintf(f->path[i], sizeof(f->path[i]), "/tmp/benchctl-log-XXXXXX");
        f->fd[i] = mkstemp(f->path[i]);
        assert_true(f->fd[i] >= 0);
    }
}

static void assert_content(struct log_files *f, int i, const char *wanted, size_t len)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    must(fs_read(f->path[i], 1 << 20, &text, &why));
    assert_int_equal(text.len, len);
    assert_memory_equal(strbuf_text(&text), wanted, len);
}

static void close_files(struct log_files *f)
{
    for (int i = 0; i < 2; i++) {
        close(f->fd[i]);
        unlink(f->path[i]);
    }
}

static void on_line(const char *line, size_t len, bool is_stderr, void *data)
{
    struct log_files *f = data;

    (void)line;
    (void)len;
    (void)is_stderr;
    f->lines++;
}

static struct engine_stream *follow(struct play *p, struct log_files *f)
{
    struct engine_log_options o = {
        .stdout_fd = f->fd[0], .stderr_fd = f->fd[1], .on_line = on_line, .data = f};
    struct engine_stream *s;

    must(engine_logs_open(p->lab.engine, ID_A, &o, &s, &why));
    return s;
}

static int finish(struct play *p, struct engine_stream *s, struct error *err)
{
    (void)p;
    return engine_logs_finish(s, clock_now_ns() + 10 * NS_PER_S, err);
}

static void add_frame(struct strbuf *b, int channel, const char *payload)
{
    size_t len = strlen(payload);
    char header[8] = {(char)channel, 0, 0, 0, 0, 0, (char)(len >> 8), (char)(len & 255)};

    strbuf_add(b, header, sizeof(header));
    strbuf_add(b, payload, len);
}

#define INSPECT "GET /containers/" ID_A "/json"
#define LOGS "GET /containers/" ID_A "/logs?follow=1&stdout=1&stderr=1&timestamps=1"
#define T1 "2026-01-31T08:00:01.000000001Z "
#define T2 "2026-01-31T08:00:02.000000000Z "
#define T3 "2026-01-31T08:00:03.000000000Z "

/* Bytes as they came, in pieces of one byte; the engine sent no stamps and no content type. */
static void frames_without_stamps(void **state)
{
    (void)state;
    size_t len, out_len, err_len;
    CLEANUP_FREE char *frames = case_bytes("A04/frames.bin", &len);
    CLEANUP_FREE char *out = case_bytes("A04/expected_stdout.bin", &out_len);
    CLEANUP_FREE char *errors = case_bytes("A04/expected_stderr.bin", &err_len);
    struct expect script[] = {
        OPENING,
        {INSPECT, .reply = STATE_REPLY("exited", "s1")},
        {LOGS, .reply = {.body = frames, .body_len = len, .type = "", .chunked = true, .piece = 1}},
        {INSPECT, .reply = STATE_REPLY("exited", "s1")}};
    struct log_files f = {0};
    struct play p;

    open_files(&f);
    play_script(&p, script);
    CLEANUP(engine_stream_close) struct engine_stream *s = follow(&p, &f);
    must(finish(&p, s, &why));
    assert_content(&f, 0, out, out_len);
    assert_content(&f, 1, errors, err_len);
    engine_stream_close(TAKE(s));
    close_files(&f);
    play_end(&p);
}

#define TTY_STATE                                                                                            \
    {                                                                                                        \
        .body = "{\"State\": {\"Status\": \"exited\", \"StartedAt\": \"s1\"}, \"Config\": {\"Tty\": true}}"  \
    }

static void a_tty_is_not_taken_apart(void **state)
{
    (void)state;
    size_t len;
    CLEANUP_FREE char *raw = case_bytes("A04/tty.bin", &len);
    struct expect script[] = {OPENING,
                              {INSPECT, .reply = TTY_STATE},
                              {"GET /containers/" ID_A "/logs?follow=1&stdout=1&stderr=1",
                               .reply = {.body = raw, .body_len = len, .type = ""}},
                              {INSPECT, .reply = TTY_STATE}};
    struct log_files f = {0};
    struct play p;

    open_files(&f);
    play_script(&p, script);
    CLEANUP(engine_stream_close) struct engine_stream *s = follow(&p, &f);
    must(finish(&p, s, &why));
    assert_content(&f, 0, raw, len);
    engine_stream_close(TAKE(s));
    close_files(&f);
    play_end(&p);
}

static void the_wrong_framing_is_an_error(void **state)
{
    (void)state;
    size_t len;
    CLEANUP_FREE char *bad = case_bytes("A04/bad_type.bin", &len);
    struct expect script[] = {OPENING,
                              {INSPECT, .reply = STATE_REPLY("exited", "s1")},
                              {LOGS, .reply = {.body = bad, .body_len = len}}};
    struct log_files f = {0};
    struct error err = ERROR_INIT;
    struct play p;

    open_files(&f);
    play_script(&p, script);
    CLEANUP(engine_stream_close) struct engine_stream *s = follow(&p, &f);
    assert_int_equal(finish(&p, s, &err), -1);
    assert_string_equal(err.message,
                        "the log of container 'aaaaaaaaaaaa' is not complete: the log has a frame of type 7, "
                        "which does not exist");
    engine_stream_close(TAKE(s));
    close_files(&f);
    play_end(&p);
}

/* Two lives and a third that came and went unseen: every line once, in order. */
static void lives_follow_each_other(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf one = STRBUF_INIT, two = STRBUF_INIT, three = STRBUF_INIT;
    add_frame(&one, 1, T1 "a\n");
    add_frame(&one, 2, T1 "b\n");
    add_frame(&two, 1, T1 "a\n");
    add_frame(&two, 2, T1 "b\n");
    add_frame(&two, 1, T2 "c\n");
    add_frame(&three, 1, T2 "c\n");
    add_frame(&three, 1, T3 "d\n");
    struct expect script[] = {
        OPENING,
        {INSPECT, .reply = STATE_REPLY("running", "s1")},
        {LOGS, .reply = {.body = one.data, .body_len = one.len, .chunked = true}},
        {INSPECT, .reply = STATE_REPLY("restarting", "s1")},
        {INSPECT, .reply = {.status = 500}},
        {INSPECT, .reply = STATE_REPLY("running", "s2")},
        {LOGS "&since=1769846401.000000001",
         .reply = {.body = two.data, .body_len = two.len, .chunked = true}},
        {INSPECT, .reply = STATE_REPLY("exited", "s3")},
        {LOGS "&since=1769846402.000000000",
         .reply = {.body = three.data, .body_len = three.len, .chunked = true}},
        {INSPECT, .reply = STATE_REPLY("exited", "s3")},
    };
    struct engine_log_counts counts;
    struct log_files f = {0};
    struct play p;

    open_files(&f);
    play_script(&p, script);
    CLEANUP(engine_stream_close) struct engine_stream *s = follow(&p, &f);
    must(finish(&p, s, &why));
    assert_content(&f, 0, "a\nc\nd\n", 6);
    assert_content(&f, 1, "b\n", 2);
    assert_int_equal(f.lines, 4);
    engine_logs_counts(s, &counts);
    assert_int_equal(counts.reopened, 2);
    assert_int_equal(counts.stdout_bytes, 6);
    assert_true(counts.ended);
    assert_false(counts.cut);
    engine_stream_close(TAKE(s));
    close_files(&f);
    play_end(&p);
}

static void a_stream_that_breaks_is_read_again(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf whole = STRBUF_INIT;
    add_frame(&whole, 1, T1 "first\n");
    size_t cut = whole.len + 20;
    add_frame(&whole, 1, T2 "second\n");
    struct expect script[] = {
        OPENING,
        {INSPECT, .reply = STATE_REPLY("running", "s1")},
        {LOGS, .reply = {.body = whole.data, .body_len = cut, .end = END_OPEN}},
        {INSPECT, .reply = STATE_REPLY("running", "s1")},
        {LOGS "&since=*", .reply = {.body = whole.data, .body_len = whole.len, .chunked = true}},
        {INSPECT, .reply = GONE}};
    struct engine_log_counts counts;
    struct log_files f = {0};
    struct play p;

    open_files(&f);
    play_script(&p, script);
    CLEANUP(engine_stream_close) struct engine_stream *s = follow(&p, &f);
    serve_until(&p.lab, f.lines == 1);
    serve_ms(&p.lab, 20);
    server_end_streams(p.server, "*logs*", false);
    must(finish(&p, s, &why));
    assert_content(&f, 0, "first\nsecond\n", 13);
    engine_logs_counts(s, &counts);
    assert_true(counts.cut);
    engine_stream_close(TAKE(s));
    close_files(&f);
    play_end(&p);
}

static void logs_that_cannot_be_had(void **state)
{
    (void)state;
    struct expect script[] = {
        OPENING,
        {INSPECT, .reply = STATE_REPLY("running", "s1")},
        {LOGS, .reply = {.status = 501,
                         .body = "{\"message\": \"configured logging driver does not support reading\"}"}},
        {INSPECT, .reply = GONE},
        {INSPECT, .reply = STATE_REPLY("running", "s1")},
        {LOGS, .reply = {.end = END_OPEN}},
    };
    struct log_files f = {0};
    struct engine_log_options o = {.stdout_fd = -1, .stderr_fd = -1};
    struct engine_stream *none;
    struct error err = ERROR_INIT;
    struct play p;

    open_files(&f);
    play_script(&p, script);
    CLEANUP(engine_stream_close) struct engine_stream *s = follow(&p, &f);
    assert_int_equal(finish(&p, s, &err), -1);
    assert_has(err.message, "does not support reading");
    assert_int_equal(engine_logs_open(p.lab.engine, ID_A, &o, &none, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    engine_stream_close(s);
    s = follow(&p, &f); /* of a container that goes on living */
    assert_int_equal(engine_logs_finish(s, clock_now_ns() + 50 * NS_PER_MS, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMEOUT);
    engine_stream_close(TAKE(s));
    close_files(&f);
    play_end(&p);
}

static void the_tail_is_fit_for_a_message(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf body = STRBUF_INIT;
    add_frame(&body, 1, "one\r\n");
    add_frame(&body, 2, "\x1b[31mtwo\x1b[0m\ttab\n");
    add_frame(&body, 1, "last without newline");
    struct expect script[] = {
        OPENING,
        {INSPECT, .reply = STATE_REPLY("exited", "s1")},
        {"GET /containers/" ID_A "/logs?stdout=1&stderr=1&tail=3",
         .reply = {.body = body.data, .body_len = body.len}},
        {INSPECT, .reply = STATE_REPLY("exited", "s1")},
        {"GET /containers/*/logs*", .reply = {.status = 500, .body = "{\"message\": \"broken\"}"}}};
    CLEANUP_FREE char *text = NULL;
    struct error err = ERROR_INIT;
    struct play p;

    play_script(&p, script);
    must(engine_logs_tail(p.lab.engine, ID_A, 3, &text, &why));
    assert_string_equal(text, "one\n?[31mtwo?[0m tab\nlast without newline");
    assert_int_equal(engine_logs_tail(p.lab.engine, ID_A, 3, &text, &err), -1);
    assert_string_equal(err.message, "cannot read the log of container 'aaaaaaaaaaaa': broken");
    play_end(&p);
}

static void a_copy_fails_cleanly(void **state)
{
    (void)state;
    struct expect script[] = {
        OPENING,
        {"GET /containers/" ID_A "/archive?path=/tmp/a b",
         .reply = {.body = "tar", .type = "application/x-tar"}},
        {"GET /containers/*/archive*",
         .reply = {.status = 404, .body = "{\"message\": \"Could not find the file\"}"}},
        {"GET /containers/*/archive*", .reply = {.body = "0123456789", .cut_after = 84}},
    };
    struct log_files f = {0};
    struct error err = ERROR_INIT;
    struct play p;

    open_files(&f);
    play_script(&p, script);
    must(engine_container_copy(p.lab.engine, ID_A, "/tmp/a b", f.fd[0], &why));
    assert_content(&f, 0, "tar", 3);
    assert_int_equal(engine_container_copy(p.lab.engine, ID_A, "/x", f.fd[0], &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    assert_has(err.message, "cannot copy '/x' from container 'aaaaaaaaaaaa'");
    assert_int_equal(engine_container_copy(p.lab.engine, ID_A, "/x", f.fd[0], &err), -1);
    assert_has(err.message, "ended early");
    close_files(&f);
    play_end(&p);
}

/* --- stats --- */

static void on_stats(const struct json *j, void *data)
{
    int *sum = data;

    *sum += (int)json_get_int(j, "n");
}

static void stats_are_handed_on_one_by_one(void **state)
{
    (void)state;
    struct expect script[] = {
        OPENING,
        {"GET /containers/" ID_A "/stats?stream=1",
         .reply = {.body = "{\"n\": 1}\n{\"n\":", .end = END_OPEN, .piece = 3}},
        {"GET /containers/" ID_A "/stats?stream=1",
         .reply = {.status = 404, .body = "{\"message\": \"No such container\"}"}},
    };
    struct engine_stream *s = NULL;
    struct error err = ERROR_INIT;
    struct play p;
    int sum = 0;

    play_script(&p, script);
    must(engine_stats_open(p.lab.engine, ID_A, on_stats, &sum, &s, &why));
    serve_until(&p.lab, sum == 1);
    server_push(p.server, "*stats*", " 10}", 4);
    serve_until(&p.lab, sum == 11);
    server_end_streams(p.server, "*stats*", true);
    serve_ms(&p.lab, 20);
    engine_stream_close(s);
    assert_int_equal(engine_stats_open(p.lab.engine, ID_A, on_stats, &sum, &s, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_without_stamps),
        cmocka_unit_test(a_tty_is_not_taken_apart),
        cmocka_unit_test(the_wrong_framing_is_an_error),
        cmocka_unit_test(lives_follow_each_other),
        cmocka_unit_test(a_stream_that_breaks_is_read_again),
        cmocka_unit_test(logs_that_cannot_be_had),
        cmocka_unit_test(the_tail_is_fit_for_a_message),
        cmocka_unit_test(a_copy_fails_cleanly),
        cmocka_unit_test(stats_are_handed_on_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
