/* SPDX-License-Identifier: MIT */
/* The engine's API, as far as a sweep uses it: a table of calls over the engine's memory. */
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include "benchctl/base/clock.h"
#include "benchctl/engine.h"
#include "standin_internal.h"

struct call {
    struct standin *engine;
    const struct seen *seen;
    struct reply *reply;
    struct object *object; /* of the path, or NULL */
    const char *rest;      /* behind its id: "/start", "?force=1" */
    struct json *body;     /* of the request, or NULL */
};

void standin_note(struct standin *f, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        abort();
    va_end(args);
    vec_push(&f->calls, text);
}

/* --- replies --- */

static const char *keep(struct standin *f, char *text)
{
    vec_push(&f->kept, text);
    return text;
}

static void reply_json(struct call *c, int status, struct json *j)
{
    struct strbuf text = STRBUF_INIT;

    json_write(j, JSON_STYLE_COMPACT, &text);
    json_free(j);
    *c->reply = (struct reply){.status = status, .body = keep(c->engine, strbuf_detach(&text))};
}

static void refuse(struct call *c, int status, const char *message)
{
    struct json *j = json_new_object();

    json_set_text(j, "message", message);
    reply_json(c, status, j);
}

static void stamp(int64_t wall_ns, char *buf, size_t size)
{
    time_t seconds = (time_t)(wall_ns / NS_PER_S);
    struct tm tm;

    if (!wall_ns) {
        (void)snprintf(buf, size, "0001-01-01T00:00:00Z");
        return;
    }
    (void)gmtime_r(&seconds, &tm);
    size_t n = strftime(buf, size, "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(buf + n, size - n, ".%09lldZ", (long long)(wall_ns % NS_PER_S));
}

/* --- the engine itself --- */

static void answer_version(struct call *c)
{
    *c->reply = (struct reply){
        .body = "{\"Version\": \"20.10.24\", \"ApiVersion\": \"1.41\", \"MinAPIVersion\": \"1.12\"}"};
}

static void answer_ping(struct call *c)
{
    *c->reply = (struct reply){.type = "text/plain", .body = "OK"};
}

static void answer_info(struct call *c)
{
    *c->reply = (struct reply){
        .body = "{\"ID\": \"FAKE\", \"Driver\": \"overlay2\", \"CgroupVersion\": \"2\", "
                "\"MemoryLimit\": true, \"SwapLimit\": true, \"NCPU\": 2, \"MemTotal\": 1000}"};
}

/* Seconds with a fraction, as the client writes them. */
static int64_t time_of(const char *path, const char *key)
{
    const char *at = strstr(path, key);
    long long s = 0, ns = 0;

    return at && sscanf(at + strlen(key), "%lld.%9lld", &s, &ns) == 2 ? s * NS_PER_S + ns : 0;
}

/* A stream, or the past. */
static void answer_events(struct call *c)
{
    int64_t since_ns = time_of(c->seen->path, "since="), until_ns = time_of(c->seen->path, "until=");
    struct strbuf all = STRBUF_INIT;

    *c->reply = (struct reply){.end = END_OPEN};
    if (!until_ns)
        return;
    standin_note(c->engine, "ask for events");
    vec_each (p, &c->engine->past)
        if (p->wall_ns >= since_ns && p->wall_ns <= until_ns)
            strbuf_adds(&all, p->text);
    *c->reply = (struct reply){.body = keep(c->engine, strbuf_detach(&all))};
}

static const char *image_of(const struct seen *r, char *buf, size_t size)
{
    (void)snprintf(buf, size, "%s", r->path + strlen("/images/"));
    size_t len = strlen(buf);
    if (len > 5 && strcmp(buf + len - 5, "/json") == 0)
        buf[len - 5] = '\0';
    return buf;
}

static void answer_image(struct call *c)
{
    char name[256];
    struct json *j;

    (void)image_of(c->seen, name, sizeof(name));
    standin_note(c->engine, "inspect image %s", name);
    vec_each (m, &c->engine->missing)
        if (strcmp(*m, name) == 0) {
            refuse(c, 404, "No such image");
            return;
        }
    CLEANUP_FREE char *id = text_starts(name, "sha256:") ? xstrdup(name) : xasprintf("sha256:of-%s", name);
    j = json_new_object();
    json_set_text(j, "Id", id);
    json_set_text(j, "Architecture", "amd64");
    json_set_int(j, "Size", 1000);
    reply_json(c, 200, j);
}

static void answer_pull(struct call *c)
{
    standin_note(c->engine, "pull");
    refuse(c, 500, "Get https://registry: dial tcp: lookup failed");
}

/* --- lists --- */

static bool listed(const struct call *c, const struct object *o)
{
    const char *run = json_get_text(o->labels, LABEL_RUN);
    CLEANUP_FREE char *wanted = run ? xasprintf(LABEL_RUN "=%s\"", run) : NULL;

    if (!strstr(c->seen->path, "filters="))
        return true;
    return run && (strstr(c->seen->path, "\"" LABEL_RUN "\"") || strstr(c->seen->path, wanted));
}

static void answer_list(struct call *c, bool networks)
{
    struct json *all = json_new_array();

    standin_note(c->engine, "list %s", networks ? "networks" : "containers");
    vec_each (p, &c->engine->objects) {
        const struct object *o = *p;
        if (o->removed || o->is_network != networks || !listed(c, o))
            continue;
        struct json *j = json_new_object(), *names = json_new_array();
        json_append(names, json_new_text(o->name));
        json_set_text(j, "Id", o->id);
        json_set_text(j, "Name", o->name);
        json_set(j, "Names", names);
        json_set(j, "Labels", json_clone(o->labels));
        json_append(all, j);
    }
    reply_json(c, 200, all);
}

static void answer_containers(struct call *c)
{
    answer_list(c, false);
}

static void answer_networks(struct call *c)
{
    answer_list(c, true);
}

/* --- networks --- */

static void answer_network_create(struct call *c)
{
    const char *name = json_get_text(c->body, "Name");
    struct json *j = json_new_object();

    standin_note(c->engine, "create network");
    vec_each (o, &c->engine->objects)
        if (!(*o)->removed && (*o)->is_network && text_equal((*o)->name, name)) {
            json_free(j);
            refuse(c, 409, "network with that name exists already");
            return;
        }
    const struct object *o = standin_add(c->engine, true, name, c->body);
    json_set_text(j, "Id", o->id);
    reply_json(c, 201, j);
    c->reply->delay_ms = o->behaviour.create_ms;
}

static void answer_network_remove(struct call *c)
{
    standin_note(c->engine, "remove network");
    if (!c->object) {
        refuse(c, 404, "no such network");
        return;
    }
    c->object->removed = true;
    *c->reply = (struct reply){.status = 204};
}

/* --- containers --- */

static void answer_create(struct call *c)
{
    const char *name = strstr(c->seen->path, "name=");
    struct json *j = json_new_object(), *warnings = json_new_array();
    struct object *o = standin_add(c->engine, false, name ? name + strlen("name=") : "?", c->body);

    standin_note(c->engine, "create %s", o->role);
    standin_tell(c->engine, o, "create", NULL, 0);
    json_set_text(j, "Id", o->id);
    json_set(j, "Warnings", warnings);
    reply_json(c, 201, j);
    c->reply->delay_ms = o->behaviour.create_ms;
}

static void answer_start(struct call *c)
{
    struct object *o = c->object;
    const char *network = json_get_text(json_get(o->request, "HostConfig"), "NetworkMode");

    standin_note(c->engine, "start %s", o->role);
    if (network && text_starts(network, "feed") && !standin_find(c->engine, network)) {
        refuse(c, 404, "network not found");
        return;
    }
    if (o->behaviour.start_status) {
        o->code = o->behaviour.start_status == 400 ? 127 : 128;
        o->error = o->behaviour.start_error;
        refuse(c, o->behaviour.start_status, o->behaviour.start_error);
        return;
    }
    if (o->life != LIFE_RUNNING)
        standin_begin(c->engine, o);
    *c->reply = (struct reply){.status = 204};
}

static void answer_remove(struct call *c)
{
    struct object *o = c->object;

    standin_note(c->engine, "remove %s%s", o->role,
                 strstr(c->rest, "force=1&v=1") ? "" : " without force and volumes");
    if (o->behaviour.stuck) {
        *c->reply = (struct reply){.delay_ms = 600000};
        return;
    }
    if (o->behaviour.remove_status) {
        refuse(c, o->behaviour.remove_status, o->behaviour.remove_error);
        return;
    }
    if (o->life == LIFE_RUNNING) {
        standin_tell(c->engine, o, "kill", "signal", 9);
        standin_finish(c->engine, o, 137, false, false);
    }
    o->removed = true;
    standin_tell(c->engine, o, "destroy", NULL, 0);
    *c->reply = (struct reply){.status = 204};
}

static void answer_stop(struct call *c)
{
    struct object *o = c->object;

    standin_note(c->engine, "stop %s", o->role);
    if (o->life == LIFE_RUNNING) {
        standin_tell(c->engine, o, "kill", "signal", 15);
        standin_finish(c->engine, o, 143, false, false);
    }
    *c->reply = (struct reply){.status = 204};
}

static struct json *state_of(const struct object *o)
{
    static const char *const names[] = {"created", "running", "restarting", "exited"};
    struct json *s = json_new_object();
    char text[64];

    json_set_text(s, "Status", o->paused ? "paused" : names[o->life]);
    json_set_bool(s, "Paused", o->paused);
    json_set_bool(s, "Running", o->life == LIFE_RUNNING || o->life == LIFE_RESTARTING);
    json_set_bool(s, "Restarting", o->life == LIFE_RESTARTING);
    json_set_bool(s, "OOMKilled", o->oom_flag);
    json_set_int(s, "Pid", 0);
    json_set_int(s, "ExitCode", o->life == LIFE_RUNNING ? 0 : o->code);
    json_set_text(s, "Error", o->error ? o->error : "");
    stamp(o->started_ns, text, sizeof(text));
    json_set_text(s, "StartedAt", text);
    stamp(o->finished_ns, text, sizeof(text));
    json_set_text(s, "FinishedAt", text);
    if (o->health) {
        struct json *h = json_new_object();
        json_set_text(h, "Status", o->health);
        json_set(s, "Health", h);
    }
    return s;
}

static void answer_inspect(struct call *c)
{
    struct object *o = c->object;
    struct json *j = json_new_object(), *config = json_new_object(), *settings = json_new_object(),
                *networks = json_new_object(), *endpoint = json_new_object();
    const struct json *host = json_get(o->request, "HostConfig");
    struct json *applied = json_clone(host);

    standin_note(c->engine, "inspect %s", o->role);
    if (o->behaviour.memory_bytes > 0)
        json_set_number(applied, "Memory", o->behaviour.memory_bytes);
    json_set_text(j, "Id", o->id);
    json_set(j, "State", state_of(o));
    json_set_int(j, "RestartCount", o->restarts);
    json_set_text(j, "Image", json_get_text(o->request, "Image"));
    json_set(j, "HostConfig", applied);
    json_set_bool(config, "Tty", false);
    json_set(config, "Labels", json_clone(o->labels));
    json_set(j, "Config", config);
    if (o->life == LIFE_RUNNING && !text_equal(json_get_text(host, "NetworkMode"), "host"))
        json_set_text(endpoint, "IPAddress", o->address);
    json_set(networks, "net", endpoint);
    json_set(settings, "Networks", networks);
    json_set(j, "NetworkSettings", settings);
    reply_json(c, 200, j);
}

static void answer_logs(struct call *c)
{
    struct object *o = c->object;
    bool follow = strstr(c->rest, "follow=1"), stamps = strstr(c->rest, "timestamps=1");
    struct strbuf out = STRBUF_INIT;

    standin_note(c->engine, "%s %s", follow ? "follow" : strstr(c->rest, "tail=") ? "tail" : "log", o->role);
    for (size_t i = 0; i < o->log.len; i++) {
        char stamp[CLOCK_STAMP_SIZE];
        (void)clock_rfc3339(o->log.items[i].wall_ns, stamp);
        CLEANUP_FREE char *line =
            xasprintf("%s%s%s\n", stamps ? stamp : "", stamps ? " " : "", o->log.items[i].text);
        size_t len = strlen(line);
        const char head[8] = {1, 0, 0, 0, 0, 0, (char)(len >> 8), (char)(len & 0xff)};
        strbuf_add(&out, head, sizeof(head));
        strbuf_add(&out, line, len);
    }
    size_t len = out.len;
    *c->reply = (struct reply){.type = "application/vnd.docker.multiplexed-stream",
                               .body = keep(c->engine, strbuf_detach(&out)),
                               .body_len = len,
                               .end = follow && o->life == LIFE_RUNNING ? END_OPEN : END_KEEP};
}

static void answer_stats(struct call *c)
{
    standin_note(c->engine, "stats %s", c->object->role);
    *c->reply = (struct reply){.end = END_OPEN};
}

/* Only of what has ended: nobody waits for the others. */
static void answer_wait(struct call *c)
{
    standin_note(c->engine, "wait for %s", c->object->role);
    if (c->object->life != LIFE_EXITED) {
        *c->reply = (struct reply){.end = END_OPEN};
        return;
    }
    struct json *j = json_new_object();
    json_set_int(j, "StatusCode", c->object->code);
    reply_json(c, 200, j);
}

static void answer_archive(struct call *c)
{
    standin_note(c->engine, "copy from %s", c->object->role);
    refuse(c, 404, "no such file in the container");
}

static void answer_exec(struct call *c)
{
    c->reply->body = keep(c->engine, standin_exec(c->engine, c->object, c->seen->path, c->reply));
}

/* --- the table --- */

static const struct {
    const char *method, *path; /* of what stands behind the id when `of` is not NULL */
    const char *of;
    void (*answer)(struct call *c);
} calls[] = {
    {"GET", "/version", NULL, answer_version},
    {"GET", "/_ping", NULL, answer_ping},
    {"GET", "/info", NULL, answer_info},
    {"GET", "/events*", NULL, answer_events},
    {"POST", "/images/create*", NULL, answer_pull},
    {"GET", "/images/*/json", NULL, answer_image},
    {"GET", "/containers/json*", NULL, answer_containers},
    {"POST", "/containers/create*", NULL, answer_create},
    {"GET", "/networks?*", NULL, answer_networks},
    {"POST", "/networks/create", NULL, answer_network_create},
    {"DELETE", "", "/networks/", answer_network_remove},
    {"POST", "/start", "/containers/", answer_start},
    {"POST", "/stop*", "/containers/", answer_stop},
    {"DELETE", "*", "/containers/", answer_remove},
    {"POST", "/wait*", "/containers/", answer_wait},
    {"GET", "/json", "/containers/", answer_inspect},
    {"GET", "/logs*", "/containers/", answer_logs},
    {"GET", "/stats*", "/containers/", answer_stats},
    {"POST", "/exec", "/containers/", answer_exec},
    {NULL, "*", "/exec/", answer_exec},
    {"GET", "/archive*", "/containers/", answer_archive},
};

static bool is_call(size_t i, struct call *c)
{
    const char *path = c->seen->path;

    if (calls[i].method && strcmp(calls[i].method, c->seen->method) != 0)
        return false;
    if (!calls[i].of)
        return fnmatch(calls[i].path, path, 0) == 0;
    if (!text_starts(path, calls[i].of))
        return false;
    path += strlen(calls[i].of);
    CLEANUP_FREE char *id = xstrndup(path, strcspn(path, "/?"));
    c->rest = path + strlen(id);
    c->object = standin_find(c->engine, id);
    return fnmatch(calls[i].path, c->rest, 0) == 0;
}

static void dispatch(struct call *c)
{
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        if (!is_call(i, c))
            continue;
        if (calls[i].of && !c->object && calls[i].answer != answer_network_remove) {
            standin_note(c->engine, "%s of what has gone", c->seen->method);
            refuse(c, 404, "No such container");
            return;
        }
        calls[i].answer(c);
        return;
    }
    standin_note(c->engine, "UNKNOWN %s %s", c->seen->method, c->seen->path);
    refuse(c, 501, "the stand-in does not know this call");
}

static void ring(struct standin *f)
{
    uint64_t one = 1;

    if (++f->requests == f->alarm_at)
        (void)!write(f->alarm_fd, &one, sizeof(one));
}

void standin_answer(struct server *s, const struct seen *request, struct reply *ret, void *engine)
{
    struct standin *f = engine;
    CLEANUP(json_free) struct json *body = NULL;
    struct error ignored = ERROR_INIT;
    struct call c = {.engine = f, .seen = request, .reply = ret, .rest = ""};

    if (request->body_len && json_parse(request->body, request->body_len, "request", &body, &ignored) == 0)
        c.body = body;
    (void)pthread_mutex_lock(&f->lock);
    ring(f);
    if (f->away) {
        *ret = (struct reply){.raw = "-", .raw_len = 1, .end = END_CLOSE};
        (void)pthread_mutex_unlock(&f->lock);
        return;
    }
    bool late = false;
    vec_each (o, &f->objects)
        late |= (*o)->behaviour.slow_events;
    if (late) /* what happened before this request is told now, what it brings about with the next one */
        standin_deliver(f, s);
    dispatch(&c);
    if (!late)
        standin_deliver(f, s);
    (void)pthread_mutex_unlock(&f->lock);
}
