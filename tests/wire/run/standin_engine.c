/* SPDX-License-Identifier: MIT */
/* The stand-in's policies, and how it goes away as a whole and comes back. */
#include "benchctl/engine.h"
#include "standin_internal.h"

/* To run whenever the engine does. */
static bool is_to_run(const struct json *policy)
{
    const char *name = json_get_text(policy, "Name");

    return text_equal(name, "always") || text_equal(name, "unless-stopped");
}

static const struct json *policy_of(const struct object *o)
{
    return json_get(json_get(o->request, "HostConfig"), "RestartPolicy");
}

bool standin_wants_restart(const struct object *o, int code)
{
    const struct json *policy = policy_of(o);
    int64_t most = json_get_int(policy, "MaximumRetryCount");

    if (is_to_run(policy))
        return true;
    return text_equal(json_get_text(policy, "Name"), "on-failure") && code != 0 &&
           (most == 0 || o->restarts < most);
}

static void end_of(struct standin *f, struct object *o, bool gracefully)
{
    if (gracefully)
        standin_tell(f, o, "kill", "signal", 15);
    standin_finish(f, o, 0, false, false);
    if (gracefully)
        standin_tell(f, o, "stop", NULL, 0);
}

void standin_engine_goes(struct standin *f, bool gracefully)
{
    (void)pthread_mutex_lock(&f->lock);
    bool was_silent = f->silent;
    f->silent |= !gracefully;
    vec_each (o, &f->objects)
        if (!(*o)->removed && !(*o)->is_network && (*o)->life == LIFE_RUNNING)
            end_of(f, *o, gracefully);
    f->silent = was_silent;
    (void)pthread_mutex_unlock(&f->lock);
    standin_deliver(f, f->server);
    (void)pthread_mutex_lock(&f->lock);
    f->away = true;
    (void)pthread_mutex_unlock(&f->lock);
    standin_break_events(f);
}

void standin_engine_comes(struct standin *f)
{
    (void)pthread_mutex_lock(&f->lock);
    bool was_silent = f->silent;
    f->silent = true;
    vec_each (o, &f->objects)
        if (!(*o)->removed && !(*o)->is_network && (*o)->life == LIFE_EXITED && is_to_run(policy_of(*o))) {
            int64_t finished_ns = (*o)->finished_ns;
            (*o)->restarts = 0;
            standin_begin(f, *o);
            (*o)->finished_ns = finished_ns; /* inspect goes on showing the end before */
        }
    f->silent = was_silent;
    f->away = false;
    (void)pthread_mutex_unlock(&f->lock);
}

void standin_break_events(struct standin *f)
{
    (void)server_end_streams(f->server, "GET /events*", false);
}

void standin_deaf_events(struct standin *f, bool deaf)
{
    (void)pthread_mutex_lock(&f->lock);
    f->deaf = deaf;
    (void)pthread_mutex_unlock(&f->lock);
}

void standin_lose_networks(struct standin *f)
{
    (void)pthread_mutex_lock(&f->lock);
    vec_each (o, &f->objects)
        (*o)->removed |= (*o)->is_network;
    (void)pthread_mutex_unlock(&f->lock);
}

static bool mentions(const char *line, const char *words)
{
    for (const char *w = words; w && *w; w += strspn(w, " ")) {
        size_t len = strcspn(w, " ");
        CLEANUP_FREE char *word = xstrndup(w, len);
        if (strstr(line, word))
            return true;
        w += len;
    }
    return false;
}

char *standin_calls(struct standin *f, const char *without)
{
    struct strbuf out = STRBUF_INIT;

    (void)pthread_mutex_lock(&f->lock);
    vec_each (c, &f->calls)
        if (!mentions(*c, without))
            strbuf_addf(&out, "%s\n", *c);
    (void)pthread_mutex_unlock(&f->lock);
    return strbuf_detach(&out);
}

char *standin_exec(struct standin *f, const struct object *o, const char *path, struct reply *ret)
{
    const struct behaviour *b = &o->behaviour;
    struct strbuf out = STRBUF_INIT;

    if (text_starts(path, "/containers/")) {
        standin_note(f, "exec in %s", o->role);
        *ret = (struct reply){.status = 201};
        return xasprintf("{\"Id\": \"%s\"}", o->id);
    }
    if (text_ends(path, "/json")) {
        *ret = (struct reply){0};
        return xasprintf("{\"Running\": false, \"ExitCode\": %d}", b->exec_code);
    }
    if (b->exec_says) {
        const char head[8] = {1, 0, 0, 0, 0, 0, 0, (char)(strlen(b->exec_says) + 1)};
        strbuf_add(&out, head, sizeof(head));
        strbuf_addf(&out, "%s\n", b->exec_says);
    }
    *ret = (struct reply){.type = "application/vnd.docker.raw-stream",
                          .body_len = out.len,
                          .end = b->exec_hangs ? END_OPEN : END_CLOSE};
    return strbuf_detach(&out);
}
