/* SPDX-License-Identifier: MIT */
/* One container: create with every limit, start, read back what was applied, discard. */
#include "run_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"

#define PORT_TRIES 16
/* The grace of a second, and what a busy engine takes; it stays a kept one if it does not stop. */
#define KEEP_NS (15 * NS_PER_S)

struct unit *unit_new(struct sweep_run *s, const struct container_settings *c, const char *role)
{
    struct unit *u = xcalloc(1, sizeof(*u));

    u->settings = c;
    u->role = xstrdup(role);
    u->port = c->port == SCHEMA_ABSENT ? 0 : c->port;
    u->startup_ms = NAN;
    u->effective = (struct effective){.memory_bytes = NAN, .swap_bytes = NAN, .cpus = NAN, .pids = NAN};
    u->effective_arena = arena_new();
    vec_push(&s->units, u);
    return u;
}

static void unit_free(struct unit *u)
{
    engine_stream_close(u->stats);
    unit_unwatch_log(u);
    ledger_release(&u->ledger);
    free(u->role);
    free(u->id);
    free(u->name);
    free(u->warnings);
    free(u->address);
    free(u->image_id);
    vec_release(&u->notes);
    vec_release(&u->heap_lines);
    arena_free(u->effective_arena);
    free(u);
}

void unit_begin_trial(struct unit *u)
{
    u->reused = true;
    u->heap_lines.len = 0;
    u->restarts_before = ledger_restarts(&u->ledger, NULL);
    u->oom_kills_before = ledger_oom_kills(&u->ledger, NAN);
}

static bool is_given_out(const struct sweep_run *s, int64_t port)
{
    for (size_t i = 0; i < s->units.len; i++)
        if (s->units.items[i]->port == port)
            return true;
    return false;
}

/* A free loopback port, for containers on the host's network. */
static int choose_port(int64_t *ret, struct error *err)
{
    CLEANUP_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(a);

    if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 ||
        getsockname(fd, (struct sockaddr *)&a, &len) < 0)
        return error_set(err, ERROR_ENVIRONMENT, "cannot find a free loopback port");
    *ret = ntohs(a.sin_port);
    return 0;
}

/* One that was given to another container may not be listened at yet. */
static int free_port(const struct sweep_run *s, int64_t *ret, struct error *err)
{
    int64_t port = 0;

    for (int tries = 0; tries < PORT_TRIES; tries++) {
        if (choose_port(&port, err) < 0)
            return -1;
        if (is_given_out(s, port))
            continue;
        *ret = port;
        return 0;
    }
    return error_set(err, ERROR_ENVIRONMENT, "cannot find a free loopback port");
}

bool unit_port_taken(const struct unit *u, const struct settings *st)
{
    CLEANUP_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)u->port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;

    if (st->network != NETWORK_HOST || u->port <= 0 || u->ledger.running || fd < 0)
        return false;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)); /* closed connections do not count */
    return (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 1) < 0) && errno == EADDRINUSE;
}

static int expand_env(struct sweep_run *s, const struct unit_options *o, const struct text_map *from,
                      struct arena *a, struct text_map *to, struct error *err)
{
    for (size_t i = 0; from && i < from->len; i++) {
        struct text_pair pair = {.key = from->items[i].key};
        if (run_expand_for(s, o->settings, a, from->items[i].value, &pair.value, err) < 0)
            return error_wrap(err, "%s", pair.key);
        to->items[to->len++] = pair;
    }
    return 0;
}

static int expand_list(struct sweep_run *s, const struct unit_options *o, const struct text_list *from,
                       struct arena *a, struct text_list *to, struct error *err)
{
    for (size_t i = 0; from && i < from->len; i++)
        if (run_expand_for(s, o->settings, a, from->items[i], &to->items[to->len++], err) < 0)
            return -1;
    return 0;
}

static struct text_list joined_list(struct arena *a, size_t count)
{
    return (struct text_list){.items = arena_array(a, const char *, count + 1)};
}

static struct text_map make_labels(struct sweep_run *s, const struct unit *u, const struct unit_options *o,
                                   struct arena *a)
{
    struct text_map m = {.items = arena_array(a, struct text_pair, 6)};
    char owner[ENGINE_OWNER_SIZE];

    (void)engine_owner_label(owner);
    m.items[m.len++] = (struct text_pair){.key = LABEL_RUN, .value = s->options->run_id};
    m.items[m.len++] = (struct text_pair){.key = LABEL_OWNER, .value = arena_strdup(a, owner)};
    m.items[m.len++] = (struct text_pair){.key = LABEL_ROLE, .value = u->role};
    m.items[m.len++] = (struct text_pair){.key = LABEL_DIR, .value = s->options->run_dir};
    if (o->scenario)
        m.items[m.len++] = (struct text_pair){.key = LABEL_SCENARIO, .value = o->scenario};
    if (o->trial)
        m.items[m.len++] = (struct text_pair){.key = LABEL_TRIAL, .value = arena_printf(a, "%d", o->trial)};
    return m;
}

static enum restart_policy policy_of(enum restart_mode m)
{
    static const enum restart_policy map[] = {
        [RESTART_MODE_NO] = RESTART_NO,
        [RESTART_MODE_ON_FAILURE] = RESTART_ON_FAILURE,
        [RESTART_MODE_ALWAYS] = RESTART_ALWAYS,
        [RESTART_MODE_UNLESS_STOPPED] = RESTART_UNLESS_STOPPED,
    };
    return map[m];
}

static void fill_limits(const struct container_settings *c, struct engine_container *e)
{
    e->cpuset = c->cpuset;
    e->user = c->user;
    e->memory_bytes = c->memory_bytes == SCHEMA_ABSENT ? SIZE_UNLIMITED : c->memory_bytes;
    e->swap_bytes = c->swap_bytes == SCHEMA_ABSENT ? 0 : c->swap_bytes;
    e->cpus = c->cpus;
    e->pids = c->pids == SCHEMA_ABSENT ? SIZE_UNLIMITED : c->pids;
    e->shm_bytes = c->shm_bytes;
    e->restart = policy_of(c->restart);
    e->restart_max = c->restart_max == SCHEMA_ABSENT ? 0 : c->restart_max;
    e->init = c->init;
    e->tmpfs = &c->tmpfs;
    e->stop_signal = c->stop_signal;
}

int unit_create(struct sweep_run *s, struct unit *u, const struct unit_options *o, struct error *err)
{
    const struct container_settings *c = u->settings;
    bool on_host = o->settings->network == NETWORK_HOST;
    CLEANUP(arena_free) struct arena *a = arena_new();
    size_t extra_env = o->extra_env ? o->extra_env->len : 0,
           extra = o->extra_command ? o->extra_command->len : 0, binds = o->binds ? o->binds->len : 0;
    struct text_map env = {.items = arena_array(a, struct text_pair, c->env.len + extra_env + 1)};
    struct text_list command = joined_list(a, c->command.len + extra),
                     entrypoint = joined_list(a, c->entrypoint.len),
                     bind_list = joined_list(a, c->binds.len + binds);

    if (on_host && u->port && free_port(s, &u->port, err) < 0)
        return -1;
    if (expand_env(s, o, o->extra_env, a, &env, err) < 0 || expand_env(s, o, &c->env, a, &env, err) < 0 ||
        expand_list(s, o, &c->command, a, &command, err) < 0 ||
        expand_list(s, o, o->extra_command, a, &command, err) < 0 ||
        expand_list(s, o, &c->entrypoint, a, &entrypoint, err) < 0 ||
        expand_list(s, o, &c->binds, a, &bind_list, err) < 0 ||
        expand_list(s, o, o->binds, a, &bind_list, err) < 0)
        return error_wrap(err, "container '%s'", u->role);
    struct text_map labels = make_labels(s, u, o, a);
    struct engine_container e = {
        .name = arena_printf(a, "benchctl-%.12s-%llu-%s", s->options->run_id,
                             (unsigned long long)++s->container_number, u->role),
        .image = o->image_id,
        .alias = on_host ? NULL : u->role,
        .network = on_host ? "host" : s->network_id,
        .env = &env,
        .entrypoint = &entrypoint,
        .command = &command,
        .labels = &labels,
        .binds = &bind_list,
    };
    fill_limits(c, &e);
    u->on_bridge = !on_host;
    u->create_ns = clock_now_ns();
    u->name = xstrdup(e.name);
    u->image_id = xstrdup(o->image_id);
    loop_shield(s->loop, +1); /* the engine would make it all the same, and nobody would know its id */
    int rc = engine_container_create(s->engine, &e, &u->id, &u->warnings, err);
    loop_shield(s->loop, -1);
    return rc < 0 ? error_wrap(err, "container '%s'", u->role) : 0;
}

int unit_start(struct sweep_run *s, struct unit *u, struct error *err)
{
    if (engine_container_start(s->engine, u->id, err) < 0) {
        struct error ignored = ERROR_INIT;
        (void)!unit_inspect(s, u, &ignored); /* its state has the engine's words and code */
        return error_wrap(err, "container '%s' does not start", u->role);
    }
    u->started_ns = clock_now_ns();
    if (unit_inspect(s, u, err) < 0)
        return error_wrap(err, "container '%s'", u->role);
    return 0;
}

static double limit_number(int64_t value)
{
    return value == SIZE_UNLIMITED ? INFINITY : value == SCHEMA_ABSENT ? NAN : (double)value;
}

/* What the engine says it applied, for the record. */
static void read_effective(struct unit *u, const struct engine_state *st)
{
    struct effective *e = &u->effective;
    struct arena *a = u->effective_arena;

    if (e->image_id)
        return; /* it does not change */
    *e = (struct effective){
        .memory_bytes = limit_number(st->memory_bytes),
        .swap_bytes = limit_number(st->swap_bytes),
        .cpus = st->cpus,
        .pids = limit_number(st->pids),
        .cpuset = st->cpuset && st->cpuset[0] ? arena_strdup(a, st->cpuset) : NULL,
        .image_id = arena_strdup(a, st->image_id ? st->image_id : u->image_id),
        .warnings = u->warnings && u->warnings[0] ? arena_strdup(a, u->warnings) : NULL,
    };
}

int unit_inspect(struct sweep_run *s, struct unit *u, struct error *err)
{
    struct engine_state st = {0};
    struct error e = ERROR_INIT;

    if (engine_container_inspect(s->engine, u->id, &st, &e) < 0) {
        if (e.kind == ERROR_NOT_FOUND) {
            ledger_gone(&u->ledger);
            return 0;
        }
        *err = e;
        return -1;
    }
    ledger_inspect(&u->ledger, &st);
    unit_note_death(s, u);
    unit_tell_lives(s->trial, u, "inspect");
    read_effective(u, &st);
    if (st.pid > 0 && st.pid != u->pid)
        u->pid = st.pid;
    u->address_lost =
        (u->address || u->on_bridge) && st.running && !st.restarting && !(st.address && st.address[0]);
    if (st.address && st.address[0] && !text_equal(st.address, u->address)) {
        u->address_changed |= u->address != NULL;
        free(u->address);
        u->address = xstrdup(st.address);
    }
    engine_state_release(&st);
    return 0;
}

struct unit *unit_find(struct sweep_run *s, const char *role)
{
    vec_each (u, &s->units)
        if (strcmp((*u)->role, role) == 0)
            return *u;
    return NULL;
}

const char *unit_log_tail(struct sweep_run *s, struct unit *u, struct arena *a)
{
    struct error ignored = ERROR_INIT;
    char *tail = NULL;

    loop_shield(s->loop, +1);
    int rc = u->id ? engine_logs_tail(s->engine, u->id, 5, &tail, &ignored) : -1;
    loop_shield(s->loop, -1);
    if (rc < 0)
        return "";
    const char *kept = log_quote(tail, a);
    free(tail);
    return kept;
}

static void forget(struct sweep_run *s, const struct unit *u)
{
    for (size_t i = 0; i < s->units.len; i++)
        if (s->units.items[i] == u) {
            s->units.items[i] = s->units.items[--s->units.len];
            return;
        }
}

void unit_discard(struct sweep_run *s, struct unit *u)
{
    if (!u)
        return;
    u->ledger.ours_to_end = true;
    if (u->id)
        removal_begin(s, u->id, u->role);
    if (u->id && u->pid > 0 && u->ledger.running && engine_facts(s->engine)->local)
        vec_push(&s->dying, u->pid);
    forget(s, u);
    unit_free(u);
}

int dying_wait(struct sweep_run *s, struct error *err)
{
    int64_t deadline_ns = clock_now_ns() + NS_PER_S;

    while (s->dying.len && clock_now_ns() < deadline_ns) {
        if (kill((pid_t)s->dying.items[s->dying.len - 1], 0) < 0)
            s->dying.len--;
        else if (loop_sleep_until(s->loop, clock_now_ns() + NS_PER_MS, err) < 0)
            return -1;
    }
    s->dying.len = 0;
    return 0;
}

void kept_discard(struct sweep_run *s)
{
    for (size_t i = 0; i < s->kept.len; i++) {
        removal_begin(s, s->kept.items[i], "kept");
        free(s->kept.items[i]);
    }
    vec_release(&s->kept);
}

void unit_keep(struct sweep_run *s, struct unit *u)
{
    struct error err = ERROR_INIT;

    u->ledger.ours_to_end = true;
    engine_set_deadline(s->engine, clock_now_ns() + KEEP_NS);
    if (u->id && engine_container_stop(s->engine, u->id, 1, &err) < 0)
        warn("container '%s' could not be stopped: %s", u->role, err.message);
    engine_set_deadline(s->engine, LOOP_FOREVER);
    if (u->id) {
        note("kept container '%s' (%.12s); `benchctl clean` removes it", u->name, u->id);
        vec_push(&s->kept, TAKE(u->id));
    }
    forget(s, u);
    unit_free(u);
}
