/* SPDX-License-Identifier: MIT */
/* Start, stop, kill, wait and remove: with and without waiting. */
#include "engine_internal.h"

enum call_kind { CALL_START, CALL_REMOVE };

struct engine_call {
    struct engine *engine;
    struct http_request *request; /* NULL once it has ended */
    enum call_kind kind;
    char *id;
    bool done, answered;
    int status;
    struct strbuf body;
    struct error error; /* when it was not answered */
};

static void on_call_done(const struct http_result *r, void *data)
{
    struct engine_call *c = data;

    c->request = NULL;
    c->done = true;
    c->answered = r->ok;
    c->status = r->status;
    c->error = r->error;
    engine_count_fault(c->engine, r->ok ? r->status : 0, &r->error);
    strbuf_add(&c->body, r->body, r->body_len);
}

static int begin(struct engine *e, enum call_kind kind, const char *id, struct engine_call **ret,
                 struct error *err)
{
    CLEANUP(arena_free) struct arena *keep = arena_new();
    CLEANUP(engine_call_free) struct engine_call *c = xcalloc(1, sizeof(*c));
    CLEANUP_FREE char *path = engine_path("/containers/", id, kind == CALL_START ? "/start" : "?force=1&v=1");
    struct engine_request r = {.method = kind == CALL_START ? "POST" : "DELETE", .path = path};
    struct http_options o = engine_http_options(e, &r, keep);

    c->engine = e;
    c->kind = kind;
    c->id = xstrdup(id);
    o.done = on_call_done;
    o.data = c;
    if (engine_time_left(e, SLOW_NS, &o.timeout_ns, err) || http_start(e->http, &o, &c->request, err))
        return -1;
    *ret = TAKE(c);
    return 0;
}

/* State.Error often says more than the reply, for instance who holds a port. */
static int explain_start(struct engine *e, const char *id, struct error *err)
{
    CLEANUP_VALUE(engine_state_release) struct engine_state state = {0};
    struct error ignored = ERROR_INIT;
    char brief[SHORT_ID];

    if (err->kind != ERROR_NOT_FOUND && !err->hint[0] &&
        engine_container_inspect(e, id, &state, &ignored) == 0) {
        if (*state.error && !strstr(err->message, state.error))
            (void)error_hint(err, "it is left in state '%s' with exit code %d: %s", state.status,
                             state.exit_code, state.error);
        else
            (void)error_hint(err, "it is left in state '%s' with exit code %d", state.status,
                             state.exit_code);
    }
    return error_wrap(err, "cannot start container '%s'", engine_short_id(id, brief));
}

static int finish_start(struct engine_call *c, struct error *err)
{
    char brief[SHORT_ID];

    if (!c->answered) {
        *err = c->error;
        engine_add_hint(c->engine, err);
        return error_wrap(err, "cannot start container '%s'", engine_short_id(c->id, brief));
    }
    if (engine_status_ok(c->status))
        return 0;
    (void)engine_refusal(c->status, strbuf_text(&c->body), c->body.len, err);
    return explain_start(c->engine, c->id, err);
}

int engine_start_async(struct engine *e, const char *id, struct engine_call **ret, struct error *err)
{
    return begin(e, CALL_START, id, ret, err);
}

int engine_remove_async(struct engine *e, const char *id, struct engine_call **ret, struct error *err)
{
    return begin(e, CALL_REMOVE, id, ret, err);
}

static int finish_remove(struct engine_call *c, int64_t deadline_ns, struct error *err)
{
    char brief[SHORT_ID];

    if (c->answered &&
        engine_finish_remove(c->engine, c->id, c->status, strbuf_text(&c->body), deadline_ns, err) == 0)
        return 0;
    if (!c->answered) {
        *err = c->error;
        engine_add_hint(c->engine, err);
    }
    return error_wrap(err, "cannot remove container '%s'", engine_short_id(c->id, brief));
}

int engine_call_wait_until(struct engine_call *c, int64_t deadline_ns, struct error *err)
{
    char brief[SHORT_ID];

    if (loop_wait_until(c->engine->loop, &c->done, deadline_ns, err)) {
        if (err->kind != ERROR_TIMEOUT)
            return -1;
        c->engine->faults++;
        return error_set(err, ERROR_TIMEOUT, "the engine has not %s container '%s' in time",
                         c->kind == CALL_START ? "started" : "removed", engine_short_id(c->id, brief));
    }
    struct error outcome = ERROR_INIT;
    if ((c->kind == CALL_START ? finish_start(c, &outcome) : finish_remove(c, deadline_ns, &outcome)) == 0)
        return 0;
    *err = outcome;
    return -1;
}

int engine_call_wait(struct engine_call *c, struct error *err)
{
    return engine_call_wait_until(c, LOOP_FOREVER, err); /* the call itself has its end */
}

bool engine_call_done(const struct engine_call *c)
{
    return c->done;
}

void engine_call_free(struct engine_call *c)
{
    if (!c)
        return;
    http_cancel(c->request);
    strbuf_release(&c->body);
    free(c->id);
    free(c);
}

int engine_container_start(struct engine *e, const char *id, struct error *err)
{
    CLEANUP(engine_call_free) struct engine_call *c = NULL;

    return engine_start_async(e, id, &c, err) || engine_call_wait(c, err) ? -1 : 0;
}

int engine_container_remove(struct engine *e, const char *id, struct error *err)
{
    CLEANUP(engine_call_free) struct engine_call *c = NULL;

    return engine_remove_async(e, id, &c, err) || engine_call_wait(c, err) ? -1 : 0;
}

int engine_container_stop(struct engine *e, const char *id, int grace_s, struct error *err)
{
    char brief[SHORT_ID], after[64];
    CLEANUP_FREE char *what = xasprintf("cannot stop container '%s'", engine_short_id(id, brief));

    snprintf(after, sizeof(after), "/stop?t=%d", grace_s);
    CLEANUP_FREE char *path = engine_path("/containers/", id, after);
    struct engine_request r = {
        .method = "POST", .path = path, .what = what, .timeout_ns = grace_s * NS_PER_S + SLOW_NS};
    return engine_request(e, &r, NULL, err);
}

int engine_container_kill(struct engine *e, const char *id, const char *signal, struct error *err)
{
    char brief[SHORT_ID];
    CLEANUP_FREE char *what =
        xasprintf("cannot send %s to container '%s'", signal, engine_short_id(id, brief));
    CLEANUP_FREE char *path = engine_path("/containers/", id, "/kill");
    CLEANUP_VALUE(strbuf_release) struct strbuf query = STRBUF_INIT;

    strbuf_adds(&query, path);
    query_add(&query, "signal", signal);
    return engine_request(e, &(struct engine_request){.method = "POST", .path = query.data, .what = what},
                          NULL, err);
}

int engine_container_wait(struct engine *e, const char *id, int *ret_code, struct error *err)
{
    char brief[SHORT_ID];
    CLEANUP_FREE char *what = xasprintf("cannot wait for container '%s'", engine_short_id(id, brief));
    CLEANUP_FREE char *path = engine_path("/containers/", id, "/wait");
    CLEANUP(json_free) struct json *reply = NULL;
    struct engine_request r = {.method = "POST", .path = path, .what = what, .timeout_ns = INT64_MAX};

    if (engine_request(e, &r, &reply, err))
        return -1;
    if (!json_is_int(json_get(reply, "StatusCode")))
        return error_set(err, ERROR_ENVIRONMENT, "%s: the reply has no exit code", what);
    *ret_code = (int)json_get_int(reply, "StatusCode");
    return 0;
}
