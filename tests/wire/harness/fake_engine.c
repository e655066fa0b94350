/* SPDX-License-Identifier: MIT */
#include <fnmatch.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/hash.h"
#include "benchctl/base/json.h"
#include "benchctl/base/mem.h"
#include "fake_internal.h"

/* --- small things --- */

static const struct fake_program UNTIL_STOPPED = {.name = "*", .run_ms = -1};

static const struct fake_program *program_of(const struct fake_engine *f, const char *name)
{
    for (size_t i = 0; i < f->program_count; i++)
        if (fnmatch(f->programs[i].name, name, 0) == 0)
            return &f->programs[i];
    return &UNTIL_STOPPED;
}

struct fake_container *fake_find(struct fake_engine *f, const char *id_or_name)
{
    vec_each (c, &f->containers)
        if (text_equal((*c)->id, id_or_name) || text_equal((*c)->name, id_or_name))
            return *c;
    return NULL;
}

/* Sixty-four hex digits that differ for each `seed`. */
char *fake_id(const char *kind, const char *seed)
{
    CLEANUP_FREE char *text = xasprintf("%s %s", kind, seed);
    char *hex = xmalloc(SHA256_HEX_SIZE);

    sha256_hex(text, strlen(text), hex);
    return hex;
}

/* --- lives --- */

void fake_event(struct fake_engine *f, const struct fake_container *c, const char *action, const char *key,
                const char *value)
{
    CLEANUP(json_free) struct json *event = json_new_object();
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct json *actor = json_new_object(), *attributes = json_clone(c->labels);
    CLEANUP_FREE char *pattern = NULL;

    json_set_text(attributes, "name", c->name);
    if (key)
        json_set_text(attributes, key, value);
    json_set_text(actor, "ID", c->id);
    json_set(actor, "Attributes", attributes);
    json_set_text(event, "Type", "container");
    json_set_text(event, "Action", action);
    json_set(event, "Actor", actor);
    json_set_int(event, "timeNano", clock_wall_ns());
    json_write(event, JSON_STYLE_COMPACT, &text);
    strbuf_addc(&text, '\n');
    pattern = xasprintf("/events*org.benchctl.run=%s\"*", json_get_text(c->labels, "org.benchctl.run"));
    (void)server_push(f->server, pattern, text.data, text.len);
}

void fake_begin(struct fake_engine *f, struct fake_container *c)
{
    const struct fake_program *p = program_of(f, c->name);

    c->status = FAKE_RUNNING;
    c->oom = false;
    c->started_ns = clock_wall_ns();
    c->ends_ns = p->run_ms >= 0 ? clock_now_ns() + p->run_ms * NS_PER_MS : INT64_MAX;
    f->starts++;
    fake_event(f, c, "start", NULL, NULL);
    if (p->log)
        fake_log_line(f, c, p->log);
}

void fake_die(struct fake_engine *f, struct fake_container *c, int code, bool oom)
{
    char text[16];
    bool again;

    if (c->status != FAKE_RUNNING)
        return;
    c->exit_code = oom ? 137 : code;
    c->oom = oom;
    c->finished_ns = clock_wall_ns();
    again = !c->stopped && (text_equal(c->policy, "always") || text_equal(c->policy, "unless-stopped") ||
                            (text_equal(c->policy, "on-failure") && c->exit_code &&
                             (!c->max_restarts || c->restarts < c->max_restarts)));
    c->status = again ? FAKE_RESTARTING : FAKE_EXITED;
    c->ends_ns = clock_now_ns() + 30 * NS_PER_MS; /* when it is restarting: the back-off */
    if (oom)
        fake_event(f, c, "oom", NULL, NULL);
    snprintf(text, sizeof(text), "%d", c->exit_code);
    fake_event(f, c, "die", "exitCode", text);
    fake_end_streams(f, c);
}

static void on_tick(struct server *s, void *data)
{
    struct fake_engine *f = data;
    int64_t now_ns = clock_now_ns();

    f->server = s;
    vec_each (item, &f->containers) {
        struct fake_container *c = *item;
        const struct fake_program *p = program_of(f, c->name);

        if (c->ends_ns > now_ns)
            continue;
        if (c->status == FAKE_RUNNING) {
            fake_die(f, c, p->exit_code, p->oom);
        } else if (c->status == FAKE_RESTARTING) {
            c->restarts++;
            fake_begin(f, c);
        }
    }
}

const char *fake_start_error(const struct fake_engine *f, const struct fake_container *c)
{
    return program_of(f, c->name)->start_error;
}

/* --- the test's side --- */

static void container_free(struct fake_container *c)
{
    free(c->id);
    free(c->name);
    free(c->image);
    free(c->policy);
    json_free(c->labels);
    json_free(c->host);
    strbuf_release(&c->log);
    free(c);
}

void fake_forget(struct fake_engine *f, struct fake_container *c)
{
    for (size_t i = 0; i < f->containers.len; i++) {
        if (f->containers.items[i] != c)
            continue;
        f->containers.items[i] = f->containers.items[--f->containers.len];
        container_free(c);
        return;
    }
}

struct fake_engine *fake_engine_start(const struct fake_program *programs, size_t count)
{
    struct fake_engine *f = xcalloc(1, sizeof(*f));

    f->programs = programs;
    f->program_count = count;
    fake_rules(f);
    f->server = server_start(
        &(struct server_options){.rules = f->rules, .rules_len = f->rules_len, .tick = on_tick, .data = f});
    return f;
}

void fake_engine_finish(struct fake_engine *f)
{
    static char text[4096];
    char *problem = server_stop(f->server);

    vec_each (c, &f->containers)
        container_free(*c);
    vec_release(&f->containers);
    vec_each (n, &f->networks) {
        free(n->id);
        free(n->name);
        json_free(n->labels);
    }
    vec_release(&f->networks);
    free(f);
    (void)snprintf(text, sizeof(text), "%s", problem ? problem : "");
    free(problem);
    server_complain(text[0] ? text : NULL);
}

struct server *fake_engine_server(struct fake_engine *f)
{
    return f->server;
}

const char *fake_engine_url(struct fake_engine *f)
{
    return server_url(f->server);
}

char *fake_engine_left(struct fake_engine *f)
{
    struct strbuf text = STRBUF_INIT;

    server_lock(f->server);
    vec_each (c, &f->containers)
        strbuf_addf(&text, "container %s\n", (*c)->name);
    vec_each (n, &f->networks)
        strbuf_addf(&text, "network %s\n", n->name);
    server_unlock(f->server);
    return strbuf_detach(&text);
}

int fake_engine_end(struct fake_engine *f, const char *name, int exit_code, bool oom)
{
    int count = 0;

    server_lock(f->server);
    vec_each (c, &f->containers) {
        if ((*c)->status != FAKE_RUNNING || fnmatch(name, (*c)->name, 0) != 0)
            continue;
        fake_die(f, *c, exit_code, oom);
        count++;
    }
    server_unlock(f->server);
    return count;
}

int fake_engine_creates(struct fake_engine *f)
{
    return f->creates;
}

int fake_engine_starts(struct fake_engine *f)
{
    return f->starts;
}
