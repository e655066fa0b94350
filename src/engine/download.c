/* SPDX-License-Identifier: MIT */
/* What is fetched once, as a whole: a log, its last lines, a file of a container. */
#include "benchctl/base/fs.h"
#include "log_sink.h"

#define TAIL_MAX ((size_t)64 << 10)

/* --- the whole log --- */

struct whole_log {
    const struct engine *engine;
    struct log_sink sink;
    bool tty;
};

static void on_log_head(int status, const char *type, void *data)
{
    struct whole_log *w = data;

    (void)status;
    w->sink.demux.tty = log_is_raw(w->engine, type, w->tty);
    w->sink.stamped = w->sink.options.line_wall_ns && !w->sink.demux.tty;
}

static int on_log_bytes(const char *bytes, size_t len, void *data)
{
    struct whole_log *w = data;

    return sink_feed(&w->sink, bytes, len);
}

static int fetch_log(struct engine *e, const char *id, const char *query, struct whole_log *w,
                     struct error *err)
{
    CLEANUP_VALUE(engine_state_release) struct engine_state state = {0};
    struct http_options callbacks = {.on_head = on_log_head, .on_body = on_log_bytes, .data = w};

    if (engine_container_inspect(e, id, &state, err))
        return -1;
    bool stamped = w->sink.options.line_wall_ns && !state.tty;
    CLEANUP_FREE char *stem = engine_path("/containers/", id, query);
    CLEANUP_FREE char *path = xasprintf("%s%s", stem, stamped ? "&timestamps=1" : "");
    w->engine = e;
    w->tty = state.tty;
    if (engine_download(e, path, &callbacks, err)) {
        if (w->sink.error.kind != ERROR_NONE)
            *err = w->sink.error;
        return -1;
    }
    sink_end(&w->sink);
    if (w->sink.error.kind == ERROR_NONE)
        return 0;
    *err = w->sink.error;
    return -1;
}

int engine_logs_save(struct engine *e, const char *id, const struct engine_log_options *o, struct error *err)
{
    struct whole_log w = {0};
    char brief[SHORT_ID], query[80] = "/logs?stdout=1&stderr=1";
    int64_t since_ns = o->since_wall_ns + e->facts.clock_offset_ns;
    int result;

    if (o->since_wall_ns > 0)
        (void)snprintf(query, sizeof(query), "/logs?stdout=1&stderr=1&since=%lld.%09lld",
                       (long long)(since_ns / NS_PER_S), (long long)(since_ns % NS_PER_S));
    sink_init(&w.sink, o);
    result = fetch_log(e, id, query, &w, err);
    sink_release(&w.sink);
    return result ? error_wrap(err, "cannot save the log of container '%s'", engine_short_id(id, brief)) : 0;
}

/* --- its last lines --- */

static void add_line(const char *line, size_t len, bool is_stderr, void *data)
{
    struct strbuf *text = data;

    (void)is_stderr;
    add_clean(text, line, len, true);
    strbuf_addc(text, '\n');
    if (text->len > 2 * TAIL_MAX)
        strbuf_consume(text, text->len - TAIL_MAX);
}

int engine_logs_tail(struct engine *e, const char *id, int lines, char **ret_text, struct error *err)
{
    struct strbuf text = STRBUF_INIT;
    struct engine_log_options o = {.stdout_fd = -1, .stderr_fd = -1, .on_line = add_line, .data = &text};
    struct whole_log w = {0};
    char brief[SHORT_ID], query[64];
    int result;

    snprintf(query, sizeof(query), "/logs?stdout=1&stderr=1&tail=%d", lines);
    sink_init(&w.sink, &o);
    result = fetch_log(e, id, query, &w, err);
    sink_release(&w.sink);
    if (result) {
        strbuf_release(&text);
        return error_wrap(err, "cannot read the log of container '%s'", engine_short_id(id, brief));
    }
    strbuf_trim_end(&text);
    *ret_text = strbuf_detach(&text);
    return 0;
}

/* --- files of a container --- */

struct copy {
    int fd;
    struct error error;
};

static int on_tar_bytes(const char *bytes, size_t len, void *data)
{
    struct copy *c = data;

    return fs_write_all(c->fd, bytes, len, "copy from a container", &c->error);
}

int engine_container_copy(struct engine *e, const char *id, const char *path, int fd, struct error *err)
{
    CLEANUP_FREE char *before = engine_path("/containers/", id, "/archive");
    CLEANUP_VALUE(strbuf_release) struct strbuf query = STRBUF_INIT;
    struct copy c = {.fd = fd};
    struct http_options callbacks = {.on_body = on_tar_bytes, .data = &c};
    char brief[SHORT_ID];

    strbuf_adds(&query, before);
    query_add(&query, "path", path);
    if (engine_download(e, query.data, &callbacks, err) == 0)
        return 0;
    if (c.error.kind != ERROR_NONE)
        *err = c.error;
    return error_wrap(err, "cannot copy '%s' from container '%s'", path, engine_short_id(id, brief));
}
