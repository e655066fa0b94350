/* SPDX-License-Identifier: MIT */
/* What the fake engine's API answers. */
#include "benchctl/base/clock.h"
#include "fake_internal.h"

/* --- requests and replies --- */

static void answer(struct server *s, struct reply *ret, int status, const struct json *j)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    json_write(j, JSON_STYLE_COMPACT, &text);
    *ret = (struct reply){.status = status, .body = server_text(s, "%s", strbuf_text(&text))};
}

static void refuse(struct server *s, struct reply *ret, int status, const char *message, const char *subject)
{
    CLEANUP(json_free) struct json *j = json_new_object();
    CLEANUP_FREE char *text = xasprintf("%s: %s", message, subject);

    json_set_text(j, "message", text);
    answer(s, ret, status, j);
}

/* The path's part after `prefix`, up to '/' or '?'. */
static const char *part_after(struct server *s, const struct seen *q, const char *prefix)
{
    const char *from = q->path + strlen(prefix);

    return server_text(s, "%.*s", (int)strcspn(from, "/?"), from);
}

static struct fake_container *asked_for(struct fake_engine *f, struct server *s, const struct seen *q,
                                        struct reply *ret)
{
    const char *id = part_after(s, q, "/containers/");
    struct fake_container *c = fake_find(f, id);

    if (!c)
        refuse(s, ret, 404, "No such container", id);
    return c;
}

/* Does the request's filter, if it names a run, let these labels through? */
static bool wanted(const struct seen *q, const struct json *labels)
{
    const char *run = json_get_text(labels, "org.benchctl.run");
    CLEANUP_FREE char *exact = xasprintf("org.benchctl.run=%s\"", run ? run : "");

    if (!strstr(q->path, "filters="))
        return true;
    return run && (strstr(q->path, exact) || !strstr(q->path, "org.benchctl.run="));
}

/* --- containers --- */

static const char *const STATUS[] = {"created", "running", "restarting", "exited"};

static void on_create(struct server *s, const struct seen *q, struct reply *ret, void *data)
{
    struct fake_engine *f = data;
    CLEANUP(json_free) struct json *body = NULL, *reply = json_new_object();
    const char *name = part_after(s, q, "/containers/create?name=");
    struct error err = ERROR_INIT;

    if (json_parse(q->body, q->body_len, "create", &body, &err)) {
        refuse(s, ret, 400, "bad body", err.message);
        return;
    }
    if (fake_find(f, name)) {
        CLEANUP_FREE char *text =
            xasprintf("name \"/%s\" is held by container \"%s\"", name, fake_find(f, name)->id);
        refuse(s, ret, 409, "Conflict", text);
        return;
    }
    struct fake_container *c = xcalloc(1, sizeof(*c));
    const struct json *host = json_get(body, "HostConfig"), *policy = json_get(host, "RestartPolicy");
    const char *image = json_get_text(body, "Image");
    c->name = xstrdup(name);
    c->id = fake_id("container", server_text(s, "%s %d", name, f->creates++));
    c->image = xstrdup(image ? image : "");
    c->labels = json_get(body, "Labels") ? json_clone(json_get(body, "Labels")) : json_new_object();
    c->host = host ? json_clone(host) : json_new_object();
    c->policy = xstrdup(json_get_text(policy, "Name") ? json_get_text(policy, "Name") : "no");
    c->max_restarts = (int)json_get_int(policy, "MaximumRetryCount");
    c->ends_ns = INT64_MAX;
    vec_push(&f->containers, c);
    fake_event(f, c, "create", NULL, NULL);
    json_set_text(reply, "Id", c->id);
    answer(s, ret, 201, reply);
}

static void set_time(struct json *o, const char *key, int64_t wall_ns)
{
    char stamp[CLOCK_STAMP_SIZE];

    json_set_text(o, key, wall_ns ? clock_rfc3339(wall_ns, stamp) : "0001-01-01T00:00:00Z");
}

static struct json *state_object(const struct fake_engine *f, const struct fake_container *c)
{
    struct json *state = json_new_object();
    const char *error = c->status == FAKE_CREATED && c->exit_code ? fake_start_error(f, c) : NULL;

    json_set_text(state, "Status", STATUS[c->status]);
    json_set_bool(state, "Running", c->status == FAKE_RUNNING || c->status == FAKE_RESTARTING);
    json_set_bool(state, "Restarting", c->status == FAKE_RESTARTING);
    json_set_bool(state, "OOMKilled", c->oom);
    json_set_int(state, "ExitCode", c->exit_code);
    json_set_int(state, "Pid", c->status == FAKE_RUNNING ? 4242 + c->restarts : 0);
    json_set_text(state, "Error", error ? error : "");
    set_time(state, "StartedAt", c->started_ns);
    set_time(state, "FinishedAt", c->finished_ns);
    return state;
}

static struct json *networks_object(const struct fake_container *c)
{
    struct json *networks = json_new_object(), *endpoint = json_new_object(), *settings = json_new_object();
    const char *mode = json_get_text(c->host, "NetworkMode");
    bool has_address = c->status == FAKE_RUNNING && !text_equal(mode, "host") && !text_equal(mode, "none");

    json_set_text(endpoint, "NetworkID", mode ? mode : "bridge");
    json_set_text(endpoint, "IPAddress", has_address ? "127.0.0.1" : "");
    json_set(networks, mode ? mode : "bridge", endpoint);
    json_set(settings, "Networks", networks);
    return settings;
}

static void on_inspect(struct server *s, const struct seen *q, struct reply *ret, void *data)
{
    struct fake_engine *f = data;
    CLEANUP(json_free) struct json *j = json_new_object();
    struct fake_container *c = asked_for(f, s, q, ret);

    if (!c)
        return;
    struct json *config = json_new_object();
    CLEANUP_FREE char *name = xasprintf("/%s", c->name);
    json_set(config, "Labels", json_clone(c->labels));
    json_set_bool(config, "Tty", false);
    json_set_text(j, "Id", c->id);
    json_set_text(j, "Name", name);
    json_set_text(j, "Image", c->image);
    json_set_int(j, "RestartCount", c->restarts);
    json_set(j, "State", state_object(f, c));
    json_set(j, "Config", config);
    json_set(j, "HostConfig", json_clone(c->host));
    json_set(j, "NetworkSettings", networks_object(c));
    answer(s, ret, 200, j);
}

static void on_start(struct server *s, const struct seen *q, struct reply *ret, void *data)
{
    struct fake_engine *f = data;
    struct fake_container *c = asked_for(f, s, q, ret);

    if (!c)
        return;
    *ret = (struct reply){.status = c->status == FAKE_RUNNING ? 304 : 204};
    if (c->status == FAKE_RUNNING)
        return;
    if (fake_start_error(f, c)) {
        c->exit_code = 128;
        refuse(s, ret, 500, "start failed", fake_start_error(f, c));
        return;
    }
    c->restarts = 0;
    c->stopped = false;
    fake_begin(f, c);
}

/* Stop and kill: both end it at once, here. */
static void on_stop(struct server *s, const struct seen *q, struct reply *ret, void *data)
{
    struct fake_engine *f = data;
    struct fake_container *c = asked_for(f, s, q, ret);
    bool kill = strstr(q->path, "/kill") != NULL;

    if (!c)
        return;
    *ret = (struct reply){.status = 204};
    c->stopped = true;
    if (c->status == FAKE_RESTARTING)
        c->status = FAKE_EXITED;
    if (c->status == FAKE_RUNNING) {
        fake_event(f, c, "kill", "signal", kill ? "9" : "15");
        fake_die(f, c, kill ? 137 : 143, false);
    } else if (kill) {
        refuse(s, ret, 409, "is not running", c->name);
    } else {
        ret->status = 304;
    }
}

static void on_wait(struct server *s, const struct seen *q, struct reply *ret, void *data)
{
    struct fake_container *c = asked_for(data, s, q, ret);

    if (!c)
        return;
    *ret = (struct reply){.body = server_text(s, "{\"StatusCode\": %d}", c->exit_code)};
    if (c->status == FAKE_RUNNING && c->ends_ns != INT64_MAX)
        ret->delay_ms = (int)((c->ends_ns - clock_now_ns()) / NS_PER_MS) + 5;
}

static void on_remove(struct server *s, const struct seen *q, struct reply *ret, void *data)
{
    struct fake_engine *f = data;
    struct fake_container *c = asked_for(f, s, q, ret);

    if (!c)
        return;
    c->stopped = true;
    fake_die(f, c, 137, false);
    fake_end_streams(f, c);
    fake_event(f, c, "destroy", NULL, NULL);
    fake_forget(f, c);
    *ret = (struct reply){.status = 204};
}

static void on_list(struct server *s, const struct seen *q, struct reply *ret, void *data)
{
    struct fake_engine *f = data;
    CLEANUP(json_free) struct json *list = json_new_array();

    vec_each (item, &f->containers) {
        const struct fake_container *c = *item;
        struct json *one = json_new_object(), *names = json_new_array();
        CLEANUP_FREE char *name = xasprintf("/%s", c->name);

        json_append(names, json_new_text(name));
        json_set_text(one, "Id", c->id);
        json_set(one, "Names", names);
        json_set_text(one, "Image", c->image);
        json_set_text(one, "State", STATUS[c->status]);
        json_set_int(one, "Created", 1700000000);
        json_set(one, "Labels", json_clone(c->labels));
        if (wanted(q, c->labels))
            json_append(list, one);
        else
            json_free(one);
    }
    answer(s, ret, 200, list);
}

/* --- logs, events, stats --- */

void fake_log_line(struct fake_engine *f, struct fake_container *c, const char *text)
{
    char stamp[CLOCK_STAMP_SIZE], header[8] = {1};
    CLEANUP_FREE char *line = xasprintf("%s %s\n", clock_rfc3339(clock_wall_ns(), stamp), text);
    CLEANUP_FREE char *pattern = xasprintf("/containers/%s/logs?follow*", c->id);
    size_t len = strlen(line), before = c->log.len;

    header[6] = (char)(len >> 8);
    header[7] = (char)(len & 255);
    strbuf_add(&c->log, header, sizeof(header));
    strbuf_add(&c->log, line, len);
    (void)server_push(f->server, pattern, c->log.data + before, c->log.len - before);
}

void fake_end_streams(struct fake_engine *f, const struct fake_container *c)
{
    CLEANUP_FREE char *pattern = xasprintf("/containers/%s/*", c->id);

    (void)server_end_streams(f->server, pattern, true);
}

static void on_logs(struct server *s, const struct seen *q, struct reply *ret, void *data)
{
    struct fake_container *c = asked_for(data, s, q, ret);
    bool follow = strstr(q->path, "follow=1") != NULL;

    if (!c)
        return;
    /* A reply holds text without an end of its own: the log is copied by its length. */
    *ret = (struct reply){.type = "", .body = strbuf_text(&c->log), .body_len = c->log.len, .chunked = true};
    if (follow && c->status == FAKE_RUNNING)
        ret->end = END_OPEN;
}

static void on_stats(struct server *s, const struct seen *q, struct reply *ret, void *data)
{
    if (asked_for(data, s, q, ret))
        *ret = (struct reply){.body = "{\"memory_stats\": {\"usage\": 1048576, \"limit\": 67108864}}\n",
                              .end = END_OPEN};
}

/* --- networks, images --- */

static void on_network_create(struct server *s, const struct seen *q, struct reply *ret, void *data)
{
    struct fake_engine *f = data;
    CLEANUP(json_free) struct json *body = NULL, *reply = json_new_object();
    struct error err = ERROR_INIT;
    struct fake_network n;

    if (json_parse(q->body, q->body_len, "create", &body, &err)) {
        refuse(s, ret, 400, "bad body", err.message);
        return;
    }
    n.name = xstrdup(json_get_text(body, "Name"));
    n.id = fake_id("network", server_text(s, "%s %zu", n.name, server_calls(s)));
    n.labels = json_get(body, "Labels") ? json_clone(json_get(body, "Labels")) : json_new_object();
    vec_push(&f->networks, n);
    json_set_text(reply, "Id", n.id);
    answer(s, ret, 201, reply);
}

static void on_network_list(struct server *s, const struct seen *q, struct reply *ret, void *data)
{
    struct fake_engine *f = data;
    CLEANUP(json_free) struct json *list = json_new_array();

    vec_each (n, &f->networks) {
        struct json *one = json_new_object();

        json_set_text(one, "Id", n->id);
        json_set_text(one, "Name", n->name);
        json_set(one, "Labels", json_clone(n->labels));
        if (wanted(q, n->labels))
            json_append(list, one);
        else
            json_free(one);
    }
    answer(s, ret, 200, list);
}

static bool in_use(const struct fake_engine *f, const struct fake_network *n)
{
    for (size_t i = 0; i < f->containers.len; i++) {
        const char *mode = json_get_text(f->containers.items[i]->host, "NetworkMode");
        if (f->containers.items[i]->status == FAKE_RUNNING &&
            (text_equal(mode, n->id) || text_equal(mode, n->name)))
            return true;
    }
    return false;
}

static void on_network_remove(struct server *s, const struct seen *q, struct reply *ret, void *data)
{
    struct fake_engine *f = data;
    const char *id = part_after(s, q, "/networks/");

    refuse(s, ret, 404, "network not found", id);
    for (size_t i = 0; i < f->networks.len; i++) {
        struct fake_network *n = &f->networks.items[i];

        if (!text_equal(n->id, id) && !text_equal(n->name, id))
            continue;
        if (in_use(f, n)) {
            refuse(s, ret, 403, "network has active endpoints", id);
            return;
        }
        free(n->id);
        free(n->name);
        json_free(n->labels);
        *n = f->networks.items[--f->networks.len];
        *ret = (struct reply){.status = 204};
        return;
    }
}

static void on_image(struct server *s, const struct seen *q, struct reply *ret, void *data)
{
    const char *rest = q->path + strlen("/images/");
    CLEANUP_FREE char *name = xstrndup(rest, strlen(rest) - strlen("/json"));
    CLEANUP_FREE char *id = text_starts(name, "sha256:") ? xstrdup(name + 7) : fake_id("image", name);

    (void)data;
    if (text_starts(name, "missing"))
        refuse(s, ret, 404, "No such image", name);
    else
        *ret = (struct reply){
            .body = server_text(s,
                                "{\"Id\": \"sha256:%s\", \"Os\": \"linux\", \"Architecture\": \"amd64\", "
                                "\"Size\": 1000, \"RepoDigests\": []}",
                                id)};
}

static void on_pull(struct server *s, const struct seen *q, struct reply *ret, void *data)
{
    (void)data;
    if (strstr(q->path, "fromImage=missing"))
        refuse(s, ret, 404, "pull access denied", "missing");
    else
        *ret = (struct reply){.body = "{\"status\": \"Status: Image is up to date\"}", .chunked = true};
}

/* --- the table --- */

void fake_rules(struct fake_engine *f)
{
    const struct rule rules[] = {
        {"GET /version",
         .reply = {.body =
                       "{\"Version\": \"20.10.24\", \"ApiVersion\": \"1.41\", \"MinAPIVersion\": \"1.12\"}"}},
        {"GET /info",
         .reply =
             {.body =
                  "{\"ID\": \"FAKE\", \"Driver\": \"overlay2\", \"CgroupDriver\": \"cgroupfs\", "
                  "\"CgroupVersion\": \"1\", \"MemoryLimit\": true, \"SwapLimit\": true, \"NCPU\": 2, "
                  "\"MemTotal\": 8589934592, \"KernelVersion\": \"6.1\", \"OperatingSystem\": \"fake\"}"}},
        {"GET /_ping", .reply = {.body = "OK", .type = "text/plain"}},
        {"GET /events*", .reply = {.end = END_OPEN}},
        {"POST /containers/create*", .make = on_create, .data = f},
        {"GET /containers/json*", .make = on_list, .data = f},
        {"GET /containers/*/json", .make = on_inspect, .data = f},
        {"GET /containers/*/logs*", .make = on_logs, .data = f},
        {"GET /containers/*/stats*", .make = on_stats, .data = f},
        {"GET /containers/*/archive*",
         .reply = {.status = 404, .body = "{\"message\": \"Could not find the file\"}"}},
        {"POST /containers/*/start", .make = on_start, .data = f},
        {"POST /containers/*/stop*", .make = on_stop, .data = f},
        {"POST /containers/*/kill*", .make = on_stop, .data = f},
        {"POST /containers/*/wait", .make = on_wait, .data = f},
        {"DELETE /containers/*", .make = on_remove, .data = f},
        {"POST /networks/create", .make = on_network_create, .data = f},
        {"GET /networks*", .make = on_network_list, .data = f},
        {"DELETE /networks/*", .make = on_network_remove, .data = f},
        {"GET /images/*/json", .make = on_image, .data = f},
        {"POST /images/create*", .make = on_pull, .data = f},
        {"POST /build*",
         .reply = {.body = "{\"stream\": \"Step 1/1 : FROM scratch\\n\"}{\"aux\": {\"ID\": \"sha256:b01d\"}}",
                   .chunked = true}},
    };

    f->rules_len = ARRAY_LEN(rules);
    memcpy(f->rules, rules, sizeof(rules));
}
