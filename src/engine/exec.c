/* SPDX-License-Identifier: MIT */
/* A command in a container that runs: its output read piece by piece, its exit code asked for at the end. */
#include "log_sink.h"

#include <math.h>

#define AGAIN_NS (20 * NS_PER_MS) /* between questions whether what has said its last word has ended, too */
#define END_NS (10 * NS_PER_S)

struct running_exec {
    struct engine *engine;
    struct log_sink sink;
    struct error error; /* when it was not answered */
    bool done;
    int64_t duration_ns;
};

static int on_exec_bytes(const char *bytes, size_t len, void *data)
{
    struct running_exec *x = data;

    return sink_feed(&x->sink, bytes, len);
}

static void on_exec_done(const struct http_result *r, void *data)
{
    struct running_exec *x = data;

    x->done = true;
    x->duration_ns = r->finished_ns - r->started_ns;
    engine_count_fault(x->engine, r->ok ? r->status : 0, &r->error);
    if (!r->ok)
        x->error = r->error;
    else if (!engine_status_ok(r->status))
        (void)engine_refusal(r->status, r->body, r->body_len, &x->error);
}

static int create_exec(struct engine *e, const char *id, const struct engine_exec *x, char **ret,
                       struct error *err)
{
    CLEANUP_FREE char *path = engine_path("/containers/", id, "/exec");
    CLEANUP(json_free) struct json *body = json_new_object(), *reply = NULL;
    struct json *words = json_new_array();

    for (size_t i = 0; i < x->command->len; i++)
        json_append(words, json_new_text(x->command->items[i]));
    json_set(body, "Cmd", words);
    json_set_bool(body, "AttachStdout", true);
    json_set_bool(body, "AttachStderr", true);
    if (x->working_dir)
        json_set_text(body, "WorkingDir", x->working_dir);
    const struct engine_request r = {.method = "POST", .path = path, .json = body};
    if (engine_request(e, &r, &reply, err) < 0)
        return -1;
    const char *exec_id = json_get_text(reply, "Id");
    if (!exec_id)
        return error_set(err, ERROR_ENVIRONMENT, "the engine gave the command no id");
    *ret = xstrdup(exec_id);
    return 0;
}

/* Starts it and reads its output to the end. */
static int follow_exec(struct running_exec *x, const char *exec_id, int64_t timeout_ns, struct error *err)
{
    CLEANUP(arena_free) struct arena *keep = arena_new();
    CLEANUP(json_free) struct json *body = json_new_object();
    CLEANUP_FREE char *path = engine_path("/exec/", exec_id, "/start");
    struct http_request *request = NULL;

    json_set_bool(body, "Detach", false);
    json_set_bool(body, "Tty", false);
    const struct engine_request r = {.method = "POST", .path = path, .json = body, .once = true};
    struct http_options o = engine_http_options(x->engine, &r, keep);
    o.on_body = on_exec_bytes;
    o.done = on_exec_done;
    o.data = x;
    if (engine_time_left(x->engine, timeout_ns, &o.timeout_ns, err) < 0 ||
        http_start(x->engine->http, &o, &request, err) < 0)
        return -1;
    if (loop_wait_until(x->engine->loop, &x->done, LOOP_FOREVER, err) < 0) {
        http_cancel(request);
        return -1;
    }
    sink_end(&x->sink);
    if (x->sink.error.kind != ERROR_NONE)
        *err = x->sink.error;
    else if (x->error.kind != ERROR_NONE)
        *err = x->error;
    else
        return 0;
    return -1;
}

/* The end of its output may come a moment before its own. */
static int ask_code(struct engine *e, const char *exec_id, int *ret, struct error *err)
{
    CLEANUP_FREE char *path = engine_path("/exec/", exec_id, "/json");
    const struct engine_request r = {.path = path};
    int64_t deadline_ns = clock_now_ns() + END_NS;

    while (clock_now_ns() < deadline_ns) {
        CLEANUP(json_free) struct json *reply = NULL;
        if (engine_request(e, &r, &reply, err) < 0)
            return -1;
        double code = json_number(json_get(reply, "ExitCode"));
        if (!json_get_bool(reply, "Running") && isfinite(code)) {
            *ret = (int)code;
            return 0;
        }
        if (loop_sleep_until(e->loop, clock_now_ns() + AGAIN_NS, err) < 0)
            return -1;
    }
    return error_set(err, ERROR_ENVIRONMENT, "the command has closed its output and does not end");
}

int engine_exec(struct engine *e, const char *id, const struct engine_exec *x, struct engine_exec_end *ret,
                struct error *err)
{
    const struct engine_log_options o = {
        .stdout_fd = x->stdout_fd,
        .stderr_fd = x->stderr_fd,
        .max_bytes = x->max_bytes,
        .on_line = x->on_line,
        .data = x->data,
    };
    struct running_exec run = {.engine = e, .error = ERROR_INIT};
    CLEANUP_FREE char *exec_id = NULL;
    char brief[SHORT_ID];
    int code = 0;

    sink_init(&run.sink, &o);
    int rc = create_exec(e, id, x, &exec_id, err);
    if (rc == 0)
        rc = follow_exec(&run, exec_id, x->timeout_ns, err);
    if (rc == 0)
        rc = ask_code(e, exec_id, &code, err);
    sink_release(&run.sink);
    if (rc < 0)
        return error_wrap(err, "cannot run '%s' in container '%s'", x->command->items[0],
                          engine_short_id(id, brief));
    *ret = (struct engine_exec_end){.code = code, .duration_ns = run.duration_ns};
    return 0;
}
