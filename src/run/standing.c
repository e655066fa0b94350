/* SPDX-License-Identifier: MIT */
/* What outlives a trial: the sweep's network, the database, services of scope sweep. */
#include "run_internal.h"

#include <stdio.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"

#define DATABASE_SHM (INT64_C(256) << 20) /* engines give 64 MiB, which two parallel joins can fill */
#define LOG_LINE_PREFIX "%m [%p] %e "     /* PostgreSQL's own, and the SQLSTATE: errors are counted by it */

int network_ensure(struct sweep_run *s, enum network_mode mode, struct error *err)
{
    struct text_pair pairs[4];
    char owner[ENGINE_OWNER_SIZE], name[64];

    if (mode == NETWORK_HOST || s->network_id)
        return 0;
    (void)engine_owner_label(owner);
    pairs[0] = (struct text_pair){.key = LABEL_RUN, .value = s->options->run_id};
    pairs[1] = (struct text_pair){.key = LABEL_OWNER, .value = owner};
    pairs[2] = (struct text_pair){.key = LABEL_DIR, .value = s->options->run_dir};
    pairs[3] = (struct text_pair){.key = LABEL_ROLE, .value = "network"};
    const struct text_map labels = {.items = pairs, .len = 4};
    if (s->faults.networks++ == 0)
        (void)snprintf(name, sizeof(name), "benchctl-%.12s", s->options->run_id);
    else /* the one before may be left behind */
        (void)snprintf(name, sizeof(name), "benchctl-%.12s-%d", s->options->run_id, s->faults.networks);
    loop_shield(s->loop, +1); /* the engine would make it all the same, and nobody would know its id */
    int rc = engine_network_create(s->engine, name, &labels, &s->network_id, err);
    loop_shield(s->loop, -1);
    return rc;
}

/* Of the role's settings, whatever scenario they come from: the same digest can share a container. */
static void digest_of(const struct settings *st, const char *role, char hex[SHA256_HEX_SIZE])
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP(json_free) struct json *j = schema_to_json(&settings_schema, st, false);
    const struct json *part = strcmp(role, "database") == 0 ? json_get(json_get(j, "database"), "service")
                                                            : json_get(json_get(j, "services"), role);

    if (part)
        json_write(part, JSON_STYLE_SORTED, &text);
    strbuf_addf(&text, "|%d", (int)st->network);
    if (strcmp(role, "database") == 0)
        strbuf_addf(&text, "|%s|%s", database_user(st->database),
                    st->database->password ? st->database->password : "");
    sha256_hex(text.data, text.len, hex);
}

static struct standing *find(struct sweep_run *s, const char *role)
{
    vec_each (x, &s->standing)
        if (strcmp((*x)->unit->role, role) == 0)
            return *x;
    return NULL;
}

void standing_drop(struct sweep_run *s, struct unit *u)
{
    for (size_t i = 0; i < s->standing.len; i++) {
        struct standing *x = s->standing.items[i];
        if (x->unit != u)
            continue;
        if (s->postgres_unit == u) {
            postgres_close(s->postgres);
            s->postgres = NULL;
            s->postgres_unit = NULL;
        }
        unit_discard(s, u);
        s->standing.items[i] = s->standing.items[--s->standing.len];
        arena_free(x->arena);
        free(x);
        return;
    }
}

void standing_drop_all(struct sweep_run *s)
{
    while (s->standing.len)
        standing_drop(s, s->standing.items[s->standing.len - 1]->unit);
}

/* Server settings as `-c name=value`, and what the official images want to be told. */
static void database_extras(const struct settings *st, const struct container_settings *c, struct arena *a,
                            struct unit_options *o)
{
    size_t n = c->settings.len;
    struct text_list *command = arena_new_of(a, struct text_list);
    struct text_map *env = arena_new_of(a, struct text_map);
    const struct database_settings *d = st->database;

    command->items = arena_array(a, const char *, 2 * n + 6);
    for (size_t i = 0; i < n; i++) {
        command->items[command->len++] = "-c";
        command->items[command->len++] =
            arena_printf(a, "%s=%s", c->settings.items[i].key, c->settings.items[i].value);
    }
    if (!text_map_get(&c->settings, "log_line_prefix")) {
        command->items[command->len++] = "-c";
        command->items[command->len++] = "log_line_prefix=" LOG_LINE_PREFIX;
    }
    if (st->network == NETWORK_HOST) {
        command->items[command->len++] = "-c";
        command->items[command->len++] = "port=${database.port}"; /* the free one that it will be given */
    }
    env->items = arena_array(a, struct text_pair, 3);
    env->items[env->len++] = (struct text_pair){.key = "POSTGRES_USER", .value = database_user(d)};
    env->items[env->len++] = d->password && d->password[0]
                                 ? (struct text_pair){.key = "POSTGRES_PASSWORD", .value = d->password}
                                 : (struct text_pair){.key = "POSTGRES_HOST_AUTH_METHOD", .value = "trust"};
    o->extra_command = command;
    o->extra_env = env;
}

static int start_unit(struct sweep_run *s, const struct settings *st, struct unit *u, struct arena *a,
                      struct error *err)
{
    struct unit_options o = {.settings = st, .image_id = image_for(s, u->settings)};
    bool is_database = strcmp(u->role, "database") == 0;

    if (is_database) {
        if (!u->port)
            u->port = 5432; /* on the host's network unit_create() replaces it by a free one */
        database_extras(st, u->settings, a, &o);
    }
    if (unit_create(s, u, &o, err) < 0 || unit_start(s, u, err) < 0)
        return -1;
    if (is_database)
        return 0; /* its readiness is a query, not a port: postgres_connect() */
    enum ready_result r;
    if (unit_watch_log(s, u, err) < 0 ||
        unit_wait_ready(s, u, clock_now_ns() + ready_timeout_ns(u->settings), &r, err) < 0)
        return -1;
    unit_unwatch_log(u);
    if (r == READY_YES)
        return 0;
    if (s->trial)
        s->trial->passing |= unit_port_taken(u, st);
    return error_set(err, ERROR_ENVIRONMENT, "service '%s' %s%s%s", u->role,
                     r == READY_DEAD ? "died before it was ready" : "is not ready in time",
                     "; its last lines: ", unit_log_tail(s, u, a));
}

/* Parallel queries of a server pass each other rows through /dev/shm, and fail when it is full. It costs
 * nothing before it is used. */
static const struct container_settings *database_container(const struct container_settings *c,
                                                           struct arena *a)
{
    struct container_settings *own = arena_copy(a, c, sizeof(*c));

    if (own->shm_bytes == SCHEMA_ABSENT)
        own->shm_bytes = DATABASE_SHM;
    return own;
}

/* A new standing container. Its settings are resolved once more into memory of its own, since it outlives the
 * trial. */
static int start_standing(struct sweep_run *s, struct standing *x, size_t scenario, const char *role,
                          struct error *err)
{
    struct resolved *r = arena_new_of(x->arena, struct resolved);
    const struct container_settings *c = NULL;

    if (plan_resolve(s->plan, scenario, x->arena, r, err) < 0)
        return -1;
    if (strcmp(role, "database") == 0)
        c = database_container(r->settings.database->service, x->arena);
    for (size_t i = 0; !c && i < r->settings.services.len; i++)
        if (strcmp(((struct container_settings *)r->settings.services.items)[i].name, role) == 0)
            c = &((struct container_settings *)r->settings.services.items)[i];
    x->unit = unit_new(s, c, role);
    vec_push(&s->standing, x);
    if (start_unit(s, &r->settings, x->unit, x->arena, err) == 0)
        return 0;
    standing_drop(s, x->unit);
    return -1;
}

int standing_ensure(struct sweep_run *s, const struct resolved *r, size_t scenario, const char *role,
                    struct unit **ret, struct error *err)
{
    char digest[SHA256_HEX_SIZE];
    struct standing *x = find(s, role);

    digest_of(&r->settings, role, digest);
    if (x && strcmp(x->digest, digest) == 0 && !x->unit->ledger.terminal) {
        unit_begin_trial(x->unit);
        *ret = x->unit;
        return 0;
    }
    if (x) {
        if (x->unit->ledger.terminal)
            note("'%s' has ended (exit %d): starting it again", role, x->unit->ledger.last_code);
        standing_drop(s, x->unit);
        if (removals_wait(s, err) < 0)
            return -1;
    }
    x = xcalloc(1, sizeof(*x));
    x->arena = arena_new();
    memcpy(x->digest, digest, sizeof(digest));
    if (start_standing(s, x, scenario, role, err) < 0)
        return -1;
    *ret = x->unit;
    return 0;
}
