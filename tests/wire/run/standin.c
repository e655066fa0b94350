/* SPDX-License-Identifier: MIT */
/* The engine's memory: containers that live and die, and the test's hand in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>
#include "benchctl/base/clock.h"
#include "benchctl/engine.h"
#include "standin_internal.h"

static void lock(struct standin *f)
{
    (void)pthread_mutex_lock(&f->lock);
}

static void unlock(struct standin *f)
{
    (void)pthread_mutex_unlock(&f->lock);
}

struct standin *standin_start(void)
{
    struct standin *f = xcalloc(1, sizeof(*f));
    pthread_mutexattr_t recursive;

    (void)pthread_mutexattr_init(&recursive);
    (void)pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    (void)pthread_mutex_init(&f->lock, &recursive);
    (void)pthread_mutexattr_destroy(&recursive);
    f->rule = (struct rule){.request = "*", .make = standin_answer, .data = f};
    f->server = server_start(&(struct server_options){.rules = &f->rule, .rules_len = 1});
    return f;
}

struct server *standin_server(struct standin *f)
{
    return f->server;
}

void standin_stop(struct standin *f)
{
    server_finish(TAKE(f->server));
}

static void free_object(struct object *o)
{
    free(o->id);
    free(o->name);
    free(o->role);
    json_free(o->request);
    json_free(o->labels);
    vec_release(&o->log);
    free(o);
}

static void free_texts(char **items, size_t len)
{
    for (size_t i = 0; i < len; i++)
        free(items[i]);
}

void standin_end(struct standin *f)
{
    if (f->server)
        server_finish(f->server);
    vec_each (o, &f->objects)
        free_object(*o);
    vec_each (b, &f->behaves)
        free(b->role);
    vec_each (m, &f->most)
        free(m->role);
    free_texts(f->missing.items, f->missing.len);
    free_texts(f->kept.items, f->kept.len);
    free_texts(f->calls.items, f->calls.len);
    free_texts(f->events.items, f->events.len);
    vec_each (p, &f->past)
        free(p->text);
    vec_release(&f->past);
    vec_release(&f->objects);
    vec_release(&f->behaves);
    vec_release(&f->most);
    vec_release(&f->missing);
    vec_release(&f->kept);
    vec_release(&f->calls);
    vec_release(&f->events);
    (void)pthread_mutex_destroy(&f->lock);
    free(f);
}

/* --- objects --- */

int64_t standin_now(struct standin *f)
{
    int64_t now = clock_wall_ns();

    return f->last_ns = now > f->last_ns ? now : f->last_ns + 1;
}

static const struct behaviour *behaviour_of(struct standin *f, const char *role)
{
    static const struct behaviour none;

    vec_each (b, &f->behaves)
        if (strcmp(b->role, role) == 0)
            return &b->behaviour;
    return &none;
}

/* Dies of a limit that is too low for it. */
static void starve(struct object *o)
{
    double limit = json_get_number(json_get(o->request, "HostConfig"), "Memory");

    if (o->behaviour.needs_bytes > 0 && limit > 0 && limit < o->behaviour.needs_bytes) {
        o->behaviour.dies = o->behaviour.oom = true;
        o->behaviour.code = 137;
    }
}

struct object *standin_add(struct standin *f, bool is_network, const char *name, const struct json *body)
{
    struct object *o = xcalloc(1, sizeof(*o));
    const struct json *labels = json_get(body, "Labels");
    const char *role = json_get_text(labels, LABEL_ROLE);

    o->is_network = is_network;
    o->id = xasprintf("%s%060zu", is_network ? "feed" : "c0de", f->objects.len + 1);
    o->name = xstrdup(name);
    o->role = xstrdup(role ? role : "");
    o->request = json_clone(body);
    o->labels = labels ? json_clone(labels) : json_new_object();
    o->behaviour = *behaviour_of(f, o->role);
    starve(o);
    o->address = o->behaviour.address ? o->behaviour.address : "127.0.0.1";
    o->health = o->behaviour.unhealthy ? "starting" : NULL;
    if (o->behaviour.log)
        vec_push(&o->log, (struct log_line){o->behaviour.log, clock_wall_ns()});
    vec_push(&f->objects, o);
    return o;
}

struct object *standin_find(struct standin *f, const char *id)
{
    vec_each (o, &f->objects)
        if (!(*o)->removed && strcmp((*o)->id, id) == 0)
            return *o;
    return NULL;
}

static struct object *newest(struct standin *f, const char *role)
{
    for (size_t i = f->objects.len; i > 0; i--) {
        struct object *o = f->objects.items[i - 1];
        if (!o->removed && !o->is_network && strcmp(o->role, role) == 0)
            return o;
    }
    return NULL;
}

/* --- events --- */

void standin_tell(struct standin *f, const struct object *o, const char *action, const char *key, int value)
{
    CLEANUP(json_free) struct json *j = json_new_object();
    struct json *actor = json_new_object(), *attributes = json_clone(o->labels);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (f->silent) {
        json_free(actor);
        json_free(attributes);
        return;
    }
    if (key) {
        CLEANUP_FREE char *number = xasprintf("%d", value);
        json_set_text(attributes, key, number);
    }
    json_set_text(j, "Type", "container");
    json_set_text(j, "Action", action);
    json_set_text(actor, "ID", o->id);
    json_set(actor, "Attributes", attributes);
    json_set(j, "Actor", actor);
    json_set_int(j, "timeNano", standin_now(f));
    json_write(j, JSON_STYLE_COMPACT, &text);
    strbuf_addc(&text, '\n');
    vec_push(&f->past, (struct past_event){.text = xstrdup(text.data), .wall_ns = f->last_ns});
    vec_push(&f->events, strbuf_detach(&text));
}

void standin_deliver(struct standin *f, struct server *s)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf all = STRBUF_INIT;

    lock(f);
    vec_each (e, &f->events) {
        strbuf_adds(&all, *e);
        free(*e);
    }
    f->events.len = 0;
    bool deaf = f->deaf;
    unlock(f);
    if (s && all.len && !deaf)
        (void)server_push(s, "GET /events*", all.data, all.len);
}

/* --- lives --- */

static void count_running(struct standin *f, const char *role)
{
    int n = 0;

    vec_each (o, &f->objects)
        n += !(*o)->removed && (*o)->life == LIFE_RUNNING && strcmp((*o)->role, role) == 0;
    vec_each (m, &f->most)
        if (strcmp(m->role, role) == 0) {
            m->behaviour.code = n > m->behaviour.code ? n : m->behaviour.code;
            return;
        }
    vec_push(&f->most, (struct behaves){.role = xstrdup(role), .behaviour = {.code = n}});
}

void standin_begin(struct standin *f, struct object *o)
{
    o->life = LIFE_RUNNING;
    o->oom_flag = false;
    o->started_ns = standin_now(f);
    o->finished_ns = 0;
    count_running(f, o->role);
    standin_tell(f, o, "start", NULL, 0);
    if (o->behaviour.dies)
        standin_finish(f, o, o->behaviour.code, o->behaviour.oom, true);
}

void standin_finish(struct standin *f, struct object *o, int code, bool oom, bool policy)
{
    o->life = LIFE_EXITED;
    o->code = code;
    o->oom_flag = oom;
    o->finished_ns = standin_now(f);
    if (oom)
        standin_tell(f, o, "oom", NULL, 0);
    standin_tell(f, o, "die", "exitCode", code);
    if (!policy || !standin_wants_restart(o, code))
        return;
    o->restarts++;
    if (o->behaviour.dies && o->restarts >= 8)
        o->life = LIFE_RESTARTING; /* the back-off has become long */
    else
        standin_begin(f, o);
}

/* --- the test's hand in it --- */

void standin_no_image(struct standin *f, const char *reference)
{
    lock(f);
    vec_push(&f->missing, xstrdup(reference));
    unlock(f);
}

void standin_behave(struct standin *f, const char *role, struct behaviour b)
{
    lock(f);
    vec_each (old, &f->behaves)
        if (strcmp(old->role, role) == 0) {
            old->behaviour = b;
            unlock(f);
            return;
        }
    vec_push(&f->behaves, (struct behaves){.role = xstrdup(role), .behaviour = b});
    unlock(f);
}

const char *standin_foreign(struct standin *f, bool is_network, const char *name, const char *const *labels)
{
    CLEANUP(json_free) struct json *body = json_new_object();
    struct json *all = json_new_object();

    for (size_t i = 0; labels && labels[i]; i++) {
        CLEANUP_FREE char *key = xstrndup(labels[i], strcspn(labels[i], "="));
        json_set_text(all, key, labels[i] + strlen(key) + 1);
    }
    json_set(body, "Labels", all);
    lock(f);
    struct object *o = standin_add(f, is_network, name, body);
    o->foreign = true;
    o->life = LIFE_RUNNING;
    unlock(f);
    return o->id;
}

void standin_alarm(struct standin *f, size_t n, int eventfd)
{
    lock(f);
    f->alarm_at = n;
    f->alarm_fd = eventfd;
    unlock(f);
}

void standin_silent_events(struct standin *f, bool silent)
{
    lock(f);
    f->silent = silent;
    unlock(f);
}

enum deed {
    DEED_DIE,
    DEED_PAUSE,
    DEED_OOM_CHILD,
    DEED_KILL,
    DEED_REMOVE,
    DEED_RESTART,
    DEED_MOVE,
    DEED_HEALTH,
    DEED_LOG
};

static void act(struct standin *f, struct object *o, enum deed what, int number, const char *text)
{
    switch (what) {
    case DEED_DIE:
        standin_finish(f, o, number & 0xff, number & 0x100, true);
        break;
    case DEED_PAUSE:
        o->paused = true;
        standin_tell(f, o, "pause", NULL, 0);
        break;
    case DEED_OOM_CHILD:
        standin_tell(f, o, "oom", NULL, 0);
        break;
    case DEED_KILL:
        standin_tell(f, o, "kill", "signal", number);
        standin_finish(f, o, 128 + number, false, false);
        break;
    case DEED_REMOVE:
        o->removed = true;
        break;
    case DEED_RESTART:
        standin_tell(f, o, "kill", "signal", 15);
        standin_finish(f, o, 143, false, false);
        standin_begin(f, o);
        standin_tell(f, o, "restart", NULL, 0);
        break;
    case DEED_MOVE:
        o->address = text;
        break;
    case DEED_HEALTH: {
        CLEANUP_FREE char *action = xasprintf("health_status: %s", text);
        o->health = text;
        standin_tell(f, o, action, NULL, 0);
        break;
    }
    case DEED_LOG:
        vec_push(&o->log, (struct log_line){text, clock_wall_ns()});
        break;
    }
}

static bool deed(struct standin *f, const char *role, enum deed what, int number, const char *text)
{
    lock(f);
    struct object *o = newest(f, role);
    bool running = o && o->life == LIFE_RUNNING;
    if (running)
        act(f, o, what, number, text);
    unlock(f);
    if (running)
        standin_deliver(f, f->server);
    return running;
}

bool standin_die(struct standin *f, const char *role, int code, bool oom)
{
    return deed(f, role, DEED_DIE, code | (oom ? 0x100 : 0), NULL);
}

bool standin_pause(struct standin *f, const char *role)
{
    return deed(f, role, DEED_PAUSE, 0, NULL);
}

bool standin_oom_child(struct standin *f, const char *role)
{
    return deed(f, role, DEED_OOM_CHILD, 0, NULL);
}

bool standin_kill(struct standin *f, const char *role, int signal)
{
    return deed(f, role, DEED_KILL, signal, NULL);
}

bool standin_remove(struct standin *f, const char *role)
{
    return deed(f, role, DEED_REMOVE, 0, NULL);
}

bool standin_restart_by_hand(struct standin *f, const char *role)
{
    return deed(f, role, DEED_RESTART, 0, NULL);
}

bool standin_move(struct standin *f, const char *role, const char *address)
{
    return deed(f, role, DEED_MOVE, 0, address);
}

bool standin_health(struct standin *f, const char *role, const char *status)
{
    return deed(f, role, DEED_HEALTH, 0, status);
}

bool standin_log(struct standin *f, const char *role, const char *line)
{
    if (!deed(f, role, DEED_LOG, 0, line))
        return false;
    char stamp[CLOCK_STAMP_SIZE]; /* in front, as asked for; before it the frame's head */
    CLEANUP_FREE char *frame = xasprintf("\1-------%s %s\n", clock_rfc3339(clock_wall_ns(), stamp), line);
    size_t len = strlen(frame);
    const char head[8] = {1, 0, 0, 0, 0, 0, (char)((len - 8) >> 8), (char)((len - 8) & 0xff)};
    memcpy(frame, head, sizeof(head));
    return server_push(f->server, "GET /containers/*/logs?follow*", frame, len) > 0;
}

/* --- questions --- */

size_t standin_left(struct standin *f)
{
    size_t n = 0;

    lock(f);
    vec_each (o, &f->objects)
        n += !(*o)->removed && !(*o)->foreign;
    unlock(f);
    return n;
}

char *standin_left_names(struct standin *f)
{
    struct strbuf out = STRBUF_INIT;

    lock(f);
    vec_each (o, &f->objects)
        if (!(*o)->removed && !(*o)->foreign)
            strbuf_addf(&out, "%s%s %s", out.len ? ", " : "", (*o)->is_network ? "network" : "container",
                        (*o)->name);
    unlock(f);
    return strbuf_detach(&out);
}

bool standin_exists(struct standin *f, const char *id)
{
    lock(f);
    bool found = standin_find(f, id) != NULL;
    unlock(f);
    return found;
}

size_t standin_created(struct standin *f)
{
    size_t n = 0;

    lock(f);
    vec_each (o, &f->objects)
        n += !(*o)->is_network && !(*o)->foreign;
    unlock(f);
    return n;
}

size_t standin_most_at_once(struct standin *f, const char *role)
{
    size_t n = 0;

    lock(f);
    vec_each (m, &f->most)
        if (strcmp(m->role, role) == 0)
            n = (size_t)m->behaviour.code;
    unlock(f);
    return n;
}

const struct json *standin_request(struct standin *f, size_t n)
{
    const struct json *found = NULL;

    lock(f);
    vec_each (o, &f->objects)
        if (!(*o)->is_network && !(*o)->foreign && n-- == 0)
            found = (*o)->request;
    unlock(f);
    return found;
}
