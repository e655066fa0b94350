/* SPDX-License-Identifier: MIT */
/*
 * The event stream. It is only read and handed on: a reader that dawdles loses events without notice. When it
 * ends, it is opened again from the last event's time on; what comes twice is dropped, and the handler is
 * told of the gap, because an engine that was restarted has forgotten what happened.
 */
#include "benchctl/base/hash.h"
#include "engine_internal.h"

#define MAX_VALUE ((size_t)1 << 20)
#define OPEN_NS (15 * NS_PER_S)
#define RETRY_FIRST_NS (20 * NS_PER_MS)
#define RETRY_LAST_NS (2 * NS_PER_S)
/* What is younger may be on its way. */
#define SETTLED_NS NS_PER_S
#define REMEMBERED 1024 /* four times what an engine can repeat */

struct event_stream {
    struct engine_stream base;
    char *run;
    struct engine_event_handler handler;
    struct http_request *request; /* NULL while there is no connection */
    struct loop_timer *retry;
    int64_t retry_ns;
    int64_t since_ns; /* the engine's time: of the last event, or of the subscription */
    struct strbuf buffer;
    bool settled; /* the first attempt has succeeded or failed */
    bool opened;  /* the first one succeeded */
    bool lost;
    struct error error; /* why it is not open now */
    uint64_t seen[REMEMBERED];
    size_t seen_count;
};

/* --- one event --- */

static bool repeated(struct event_stream *s, const struct json *j)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    size_t filled = s->seen_count < REMEMBERED ? s->seen_count : REMEMBERED;
    uint64_t hash;

    json_write(j, JSON_STYLE_SORTED, &text);
    hash = hash64(strbuf_text(&text), text.len, 0);
    for (size_t i = 0; i < filled; i++)
        if (s->seen[i] == hash)
            return true;
    s->seen[s->seen_count++ % REMEMBERED] = hash;
    return false;
}

static int number_of(const struct json *attributes, const char *key, int fallback)
{
    const char *text = json_get_text(attributes, key);
    char *end;

    if (!text || !*text)
        return fallback;
    long value = strtol(text, &end, 10);
    return *end || value < -1 || value > 255 ? fallback : (int)value;
}

static const char *text_or_empty(const struct json *o, const char *key)
{
    const char *text = json_get_text(o, key);

    return text ? text : "";
}

static int exit_code_of(const char *action, const struct json *attributes)
{
    if (!text_equal(action, "die"))
        return -1;
    return number_of(attributes, "exitCode", number_of(attributes, "containerExitCode", -1));
}

/* False: it was no news. */
static bool hand_on(struct event_stream *s, const struct json *j)
{
    const struct json *actor = json_get(j, "Actor"), *attributes = json_get(actor, "Attributes");
    const char *action = json_get_text(j, "Action");
    int64_t when_ns = json_get_int(j, "timeNano");

    if (!action || repeated(s, j))
        return false;
    s->retry_ns = RETRY_FIRST_NS;
    if (when_ns > s->since_ns)
        s->since_ns = when_ns;
    struct engine_event event = {.type = text_or_empty(j, "Type"),
                                 .action = action,
                                 .id = text_or_empty(actor, "ID"),
                                 .role = text_or_empty(attributes, LABEL_ROLE),
                                 .scenario = text_or_empty(attributes, LABEL_SCENARIO),
                                 .exit_code = exit_code_of(action, attributes),
                                 .signal =
                                     text_equal(action, "kill") ? number_of(attributes, "signal", 0) : 0,
                                 .wall_ns = when_ns,
                                 .raw = j};
    s->handler.event(&event, s->handler.data);
    return true;
}

static void on_event(const struct json *j, const char *bytes, size_t len, void *data)
{
    (void)bytes;
    (void)len;
    (void)hand_on(data, j);
}

/* --- the connection --- */

static void tell_gap(struct event_stream *s, const char *why)
{
    if (s->handler.gap)
        s->handler.gap(why, s->handler.data);
}

static void on_head(int status, const char *type, void *data)
{
    struct event_stream *s = data;

    (void)type;
    if (!engine_status_ok(status))
        return;
    s->opened = s->settled = true;
    loop_set_timer(s->retry, LOOP_FOREVER, 0);
    if (!s->lost)
        return;
    s->lost = false;
    tell_gap(s, s->error.message);
}

/* What cannot be JSON is skipped to the next line; the gap tells that something is missing. */
static void skip_line(struct event_stream *s, const char *why)
{
    size_t blank = s->buffer.len ? strspn(s->buffer.data, " \t\r\n") : 0;

    strbuf_consume(&s->buffer, blank);
    const char *eol = s->buffer.len ? memchr(s->buffer.data, '\n', s->buffer.len) : NULL;
    strbuf_consume(&s->buffer, eol ? (size_t)(eol - s->buffer.data) + 1 : s->buffer.len);
    tell_gap(s, why);
}

static int on_body(const char *bytes, size_t len, void *data)
{
    struct event_stream *s = data;
    struct error bad = ERROR_INIT;

    strbuf_add(&s->buffer, bytes, len);
    while (json_drain(&s->buffer, on_event, s, &bad))
        skip_line(s, bad.message);
    return s->buffer.overflow ? -1 : 0;
}

static void on_done(const struct http_result *r, void *data)
{
    struct event_stream *s = data;

    s->request = NULL;
    s->error = (struct error)ERROR_INIT;
    if (!r->ok)
        s->error = r->error;
    else if (!engine_status_ok(r->status))
        (void)engine_refusal(r->status, r->body, r->body_len, &s->error);
    else
        (void)error_set(&s->error, ERROR_ENVIRONMENT, "the event stream ended");
    if (!s->settled) {
        s->settled = true; /* the first attempt failed: engine_events_open() says so */
        return;
    }
    s->lost = true;
    loop_set_timer(s->retry, clock_now_ns() + s->retry_ns, 0);
    s->retry_ns = s->retry_ns * 2 < RETRY_LAST_NS ? s->retry_ns * 2 : RETRY_LAST_NS;
}

static void add_time(struct strbuf *path, const char *key, int64_t ns)
{
    char text[48];

    (void)snprintf(text, sizeof(text), "%lld.%09lld", (long long)(ns / NS_PER_S), (long long)(ns % NS_PER_S));
    query_add(path, key, text);
}

static int subscribe(struct event_stream *s, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf path = STRBUF_INIT;
    struct http_options callbacks = {.on_head = on_head, .on_body = on_body, .done = on_done, .data = s};

    strbuf_clear(&s->buffer); /* a value cut by the end of the stream before: it comes again */
    s->buffer.overflow = false;
    strbuf_adds(&path, "/events");
    add_time(&path, "since", s->since_ns);
    query_add_filters(&path, LABEL_RUN, s->run, "container");
    return engine_stream_start(s->base.engine, path.data, &callbacks, &s->request, err);
}

static void on_retry(void *data)
{
    struct event_stream *s = data;
    struct error err = ERROR_INIT;

    http_cancel(s->request); /* connected, and not answered for too long */
    s->request = NULL;
    loop_set_timer(s->retry, clock_now_ns() + OPEN_NS, 0);
    if (subscribe(s, &err)) {
        s->error = err;
        loop_set_timer(s->retry, clock_now_ns() + RETRY_LAST_NS, 0);
    }
}

/* --- what it did not tell --- */

struct recount {
    struct event_stream *stream;
    struct strbuf buffer;
    int missed;
};

static void on_recounted(const struct json *j, const char *bytes, size_t len, void *data)
{
    struct recount *c = data;

    (void)bytes;
    (void)len;
    c->missed += hand_on(c->stream, j);
}

static int on_recount(const char *bytes, size_t len, void *data)
{
    struct recount *c = data;
    struct error bad = ERROR_INIT;

    strbuf_add(&c->buffer, bytes, len);
    return c->buffer.overflow || json_drain(&c->buffer, on_recounted, c, &bad) ? -1 : 0;
}

int engine_events_verify(struct engine_stream *base, int64_t since_wall_ns, int *ret_missed,
                         struct error *err)
{
    struct event_stream *s = (struct event_stream *)base;
    struct engine *e = base->engine;
    CLEANUP_VALUE(strbuf_release) struct strbuf path = STRBUF_INIT;
    struct recount c = {.stream = s, .buffer = {.max = MAX_VALUE}};
    const struct http_options callbacks = {.on_body = on_recount, .data = &c};
    int64_t until_ns = clock_wall_ns() + e->facts.clock_offset_ns - SETTLED_NS;

    *ret_missed = 0;
    if (s->lost || until_ns <= since_wall_ns + e->facts.clock_offset_ns)
        return 0; /* it is to be opened again, and will ask by itself; or there is nothing to ask for */
    strbuf_adds(&path, "/events");
    add_time(&path, "since", since_wall_ns + e->facts.clock_offset_ns);
    add_time(&path, "until", until_ns);
    query_add_filters(&path, LABEL_RUN, s->run, "container");
    int rc = engine_download(e, path.data, &callbacks, err);
    strbuf_release(&c.buffer);
    *ret_missed = c.missed;
    if (c.missed && !s->lost)
        loop_set_timer(s->retry, clock_now_ns(), 0); /* there is no gap: all of it is known now */
    return rc < 0 ? error_wrap(err, "cannot ask for the engine's events") : 0;
}

bool engine_events_connected(const struct engine_stream *base)
{
    return !((const struct event_stream *)base)->lost;
}

static void close_events(struct engine_stream *base)
{
    struct event_stream *s = (struct event_stream *)base;

    http_cancel(s->request);
    loop_remove_timer(s->retry);
    strbuf_release(&s->buffer);
    free(s->run);
    free(s);
}

int engine_events_open(struct engine *e, const char *run, const struct engine_event_handler *h,
                       struct engine_stream **ret, struct error *err)
{
    struct event_stream *s = xcalloc(1, sizeof(*s));
    CLEANUP(engine_stream_close) struct engine_stream *base = &s->base;

    s->base = (struct engine_stream){.engine = e, .close = close_events};
    s->run = xstrdup(run);
    s->handler = *h;
    s->buffer.max = MAX_VALUE;
    s->retry_ns = RETRY_FIRST_NS;
    s->since_ns = clock_wall_ns() + e->facts.clock_offset_ns;
    s->retry = loop_add_timer(e->loop, LOOP_FOREVER, 0, on_retry, s);
    if (subscribe(s, err) || loop_wait_until(e->loop, &s->settled, clock_now_ns() + OPEN_NS, err))
        return error_wrap(err, "cannot subscribe to the engine's events");
    if (!s->opened) {
        *err = s->error;
        engine_add_hint(e, err);
        return error_wrap(err, "cannot subscribe to the engine's events");
    }
    *ret = TAKE(base);
    return 0;
}
