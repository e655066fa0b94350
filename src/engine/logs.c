/* SPDX-License-Identifier: MIT */
/*
 * A container's log as it is written. An engine ends the stream when the process dies, even when a restart
 * policy starts another: so at the end of a stream inspect tells whether it was the last, or whether it must
 * be opened again.
 */
#include <assert.h>
#include "log_sink.h"

#define CHECK_FIRST_NS (50 * NS_PER_MS)
#define CHECK_LAST_NS (500 * NS_PER_MS)

struct log_stream {
    struct engine_stream base;
    char *id;
    struct log_sink sink;
    bool tty;                     /* as inspect says */
    struct http_request *request; /* the log, or a check */
    struct loop_timer *timer;     /* the next check */
    int64_t check_ns;
    int64_t idle_ns;
    int64_t since_ns; /* tty, which has no time stamps: when the stream ended */
    char *life;       /* StartedAt of the process whose log is read */
    bool last_read;   /* the stream was opened after that process had ended: nothing can come after it */
    bool ended;
    int reopened;
};

static void follow(struct log_stream *s);

/* --- has it ended for good? --- */

static void end_for_good(struct log_stream *s, const struct error *err)
{
    s->ended = true;
    if (err && s->sink.error.kind == ERROR_NONE)
        s->sink.error = *err;
}

static void check_later(struct log_stream *s, int64_t after_ns)
{
    loop_set_timer(s->timer, clock_now_ns() + after_ns, 0);
}

static void check_again(struct log_stream *s)
{
    check_later(s, s->check_ns);
    s->check_ns = s->check_ns * 2 < CHECK_LAST_NS ? s->check_ns * 2 : CHECK_LAST_NS;
}

static bool is_alive(const struct engine_state *state)
{
    return text_equal(state->status, "running") || text_equal(state->status, "paused");
}

/* A new life may have come and gone between two checks, and a stream may end a little before its last line:
 * so a dead container's log is read once more from the last line on. (A tty's has no stamps to skip by.) */
static void read_on(struct log_stream *s, const struct engine_state *state)
{
    bool alive = is_alive(state);
    bool same = text_equal(state->started_at, s->life);

    if (!alive && same && (s->last_read || s->tty)) {
        end_for_good(s, NULL);
        return;
    }
    s->last_read = !alive;
    s->reopened += !same;
    free(s->life);
    s->life = xstrdup(state->started_at);
    sink_reopen(&s->sink);
    follow(s);
}

static void on_checked(const struct http_result *r, void *data)
{
    struct log_stream *s = data;
    CLEANUP_VALUE(engine_state_release) struct engine_state state = {0};
    CLEANUP(json_free) struct json *j = NULL;
    struct error err = ERROR_INIT;

    s->request = NULL;
    if (r->ok && r->status == 404)
        end_for_good(s, NULL);
    else if (!r->ok || !engine_status_ok(r->status) ||
             json_parse(r->body, r->body_len, "inspect reply", &j, &err) ||
             engine_state_parse(j, &state, &err))
        check_again(s); /* the engine itself may be restarting */
    else if (state.restarting || text_equal(state.status, "restarting") ||
             text_equal(state.status, "created"))
        check_again(s);
    else
        read_on(s, &state);
}

static void on_timer(void *data)
{
    struct log_stream *s = data;
    struct engine *e = s->base.engine;
    CLEANUP(arena_free) struct arena *keep = arena_new();
    CLEANUP_FREE char *path = engine_path("/containers/", s->id, "/json");
    struct http_options o = engine_http_options(e, &(struct engine_request){.path = path}, keep);
    struct error err = ERROR_INIT;

    if (s->request)
        return;
    o.timeout_ns = QUICK_NS;
    o.done = on_checked;
    o.data = s;
    if (http_start(e->http, &o, &s->request, &err))
        end_for_good(s, &err);
}

/* --- the stream itself --- */

static void on_head(int status, const char *type, void *data)
{
    struct log_stream *s = data;

    if (!engine_status_ok(status))
        return;
    s->sink.demux = (struct log_demux){.tty = log_is_raw(s->base.engine, type, s->tty)};
    s->sink.stamped = !s->tty && !s->sink.demux.tty;
}

static int on_body(const char *bytes, size_t len, void *data)
{
    struct log_stream *s = data;

    s->check_ns = CHECK_FIRST_NS;
    return sink_feed(&s->sink, bytes, len);
}

static void on_done(const struct http_result *r, void *data)
{
    struct log_stream *s = data;
    struct error err = ERROR_INIT;

    s->request = NULL;
    sink_end(&s->sink);
    s->since_ns = clock_wall_ns() + s->base.engine->facts.clock_offset_ns;
    if (r->ok && !engine_status_ok(r->status)) {
        (void)engine_refusal(r->status, r->body, r->body_len, &err);
        end_for_good(s, err.kind == ERROR_NOT_FOUND ? NULL : &err);
    } else if (s->sink.error.kind != ERROR_NONE) {
        end_for_good(s, NULL); /* not readable, or not writable */
    } else {
        check_later(s, 0);
    }
}

static void follow(struct log_stream *s)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf path = STRBUF_INIT;
    CLEANUP_FREE char *before = engine_path("/containers/", s->id, "/logs?follow=1&stdout=1&stderr=1");
    struct http_options callbacks = {
        .on_head = on_head, .on_body = on_body, .idle_timeout_ns = s->idle_ns, .done = on_done, .data = s};
    int64_t since_ns = s->tty ? s->since_ns : s->sink.last_ns;
    struct error err = ERROR_INIT;
    char since[48];

    strbuf_adds(&path, before);
    if (!s->tty)
        query_add(&path, "timestamps", "1");
    if (since_ns > 0) {
        snprintf(since, sizeof(since), "%lld.%09lld", (long long)(since_ns / NS_PER_S),
                 (long long)(since_ns % NS_PER_S));
        query_add(&path, "since", since);
    }
    if (engine_stream_start(s->base.engine, path.data, &callbacks, &s->request, &err))
        end_for_good(s, &err);
}

static void close_logs(struct engine_stream *base)
{
    struct log_stream *s = (struct log_stream *)base;

    http_cancel(s->request);
    loop_remove_timer(s->timer);
    sink_release(&s->sink);
    free(s->id);
    free(s->life);
    free(s);
}

int engine_logs_open(struct engine *e, const char *id, const struct engine_log_options *o,
                     struct engine_stream **ret, struct error *err)
{
    CLEANUP_VALUE(engine_state_release) struct engine_state state = {0};
    struct log_stream *s;
    char brief[SHORT_ID];

    if (engine_container_inspect(e, id, &state, err))
        return error_wrap(err, "cannot read the log of container '%s'", engine_short_id(id, brief));
    s = xcalloc(1, sizeof(*s));
    s->base = (struct engine_stream){.engine = e, .close = close_logs, .is_logs = true};
    s->id = xstrdup(id);
    s->tty = state.tty;
    s->life = xstrdup(state.started_at);
    s->last_read = !is_alive(&state);
    s->check_ns = CHECK_FIRST_NS;
    s->idle_ns = o->idle_ns;
    s->timer = loop_add_timer(e->loop, LOOP_FOREVER, 0, on_timer, s);
    sink_init(&s->sink, o);
    follow(s);
    *ret = &s->base;
    return 0;
}

int engine_logs_finish(struct engine_stream *base, int64_t deadline_ns, struct error *err)
{
    struct log_stream *s = (struct log_stream *)base;
    char brief[SHORT_ID];

    assert(base->is_logs);
    if (!s->ended && !s->request)
        check_later(s, 0);
    if (loop_wait_until(base->engine->loop, &s->ended, deadline_ns, err))
        return error_wrap(err, "the log of container '%s' has no end", engine_short_id(s->id, brief));
    if (s->sink.error.kind == ERROR_NONE)
        return 0;
    *err = s->sink.error;
    return error_wrap(err, "the log of container '%s' is not complete", engine_short_id(s->id, brief));
}

void engine_logs_counts(const struct engine_stream *base, struct engine_log_counts *ret)
{
    const struct log_stream *s = (const struct log_stream *)base;

    *ret = (struct engine_log_counts){
        .stdout_bytes = s->sink.channels[0].bytes,
        .stderr_bytes = s->sink.channels[1].bytes,
        .dropped_bytes = s->sink.channels[0].dropped + s->sink.channels[1].dropped,
        .cut = s->sink.cut,
        .ended = s->ended,
        .reopened = s->reopened,
    };
}
