/* SPDX-License-Identifier: MIT */
/* The database of a trial: a server (ours or an existing one), a sealed seed, a fresh clone. */
#include "run_internal.h"

#include <stdio.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/base/log.h"

#define SCRIPT_MAX ((size_t)256 << 20)

const char *database_user(const struct database_settings *d)
{
    return d->user && d->user[0] ? d->user : "postgres";
}

/* A server that has gone tells more by how it ended than by what its port answered. */
static void tell_death(struct sweep_run *s, struct unit *u, struct error *err)
{
    struct error ignored = ERROR_INIT;

    loop_shield(s->loop, +1);
    (void)!unit_inspect(s, u, &ignored);
    loop_shield(s->loop, -1);
    if (!u->ledger.exits.len)
        return;
    CLEANUP_FREE char *cause = ledger_cause(&u->ledger.exits.items[u->ledger.exits.len - 1], NAN);
    (void)error_wrap(err, "the database's container ended (%s)", cause);
}

static int connect_server(struct trial_run *t, struct unit *u, struct error *err)
{
    struct sweep_run *s = t->sweep;
    const struct database_settings *d = t->settings->database;
    struct arena *a = t->arena;
    struct postgres_options o = {
        .host = u ? (u->address ? u->address : "127.0.0.1") : NULL,
        .port = u ? (int)u->port : 0,
        .user = d->service ? database_user(d) : d->user,
        .name = d->name,
        .ready_deadline_ns = clock_now_ns() + (d->ready_timeout_ns > 0 ? d->ready_timeout_ns : 60 * NS_PER_S),
        .statement_timeout_ns = d->statement_timeout_ns > 0 ? d->statement_timeout_ns : 0,
        .give_up = u ? &u->died : NULL,
        .ret_configuration = &t->hopeless,
    };

    if (t->deadline_ns < o.ready_deadline_ns)
        o.ready_deadline_ns = t->deadline_ns;

    if (run_expand(t, d->url, &o.url, err) < 0 || run_expand(t, d->password, &o.password, err) < 0)
        return -1;
    if (postgres_connect(s->loop, &o, &s->postgres, err) == 0) {
        s->postgres_unit = u;
        return 0;
    }
    if (u && err->kind != ERROR_INTERRUPTED) {
        const char *tail = unit_log_tail(s, u, a);
        if (tail[0])
            (void)error_hint(err, "the last lines of the database's log: %s", tail);
        tell_death(s, u, err);
    }
    return -1;
}

/* Which database of which server, as whom: another one needs another connection. */
static int identity_of(struct trial_run *t, char hex[SHA256_HEX_SIZE], struct error *err)
{
    const struct database_settings *d = t->settings->database;
    const char *url = NULL, *password = NULL;

    if (run_expand(t, d->url, &url, err) < 0 || run_expand(t, d->password, &password, err) < 0)
        return -1;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    strbuf_addf(&text, "%s|%s|%s|%s|%lld", url ? url : "", d->name, d->user ? d->user : "",
                password ? password : "", (long long)d->statement_timeout_ns);
    sha256_hex(text.data, text.len, hex);
    return 0;
}

/* Leaves the server that is connected, and what we made on it if it is not ours. */
void database_leave(struct sweep_run *s)
{
    struct error err = ERROR_INIT;

    if (s->postgres && !s->postgres_unit && postgres_drop(s->postgres, &err) < 0)
        warn("the benchmark's database may be left on the server: %s", err.message);
    postgres_close(s->postgres);
    s->postgres = NULL;
    s->postgres_unit = NULL;
}

/* Reads the seed's files into the trial's arena. */
static int read_scripts(struct trial_run *t, struct postgres_script **ret, char digest[SHA256_HEX_SIZE],
                        struct error *err)
{
    const struct text_list *files = &t->settings->database->schema;
    CLEANUP(sha256_free) struct sha256 *h = sha256_new();
    struct postgres_script *all = arena_array(t->arena, struct postgres_script, files->len + 1);

    for (size_t i = 0; i < files->len; i++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
        if (fs_read(files->items[i], SCRIPT_MAX, &text, err) < 0)
            return -1;
        all[i] = (struct postgres_script){
            .name = path_basename(files->items[i]),
            .sql = arena_strndup(t->arena, strbuf_text(&text), text.len),
            .len = text.len,
        };
        sha256_update(h, all[i].name, strlen(all[i].name) + 1);
        sha256_update(h, all[i].sql, all[i].len);
    }
    sha256_final(h, digest);
    *ret = all;
    return 0;
}

/* The server and the seed this scenario needs: kept from the trial before when they are the same. */
static int ensure_seeded(struct trial_run *t, struct error *err)
{
    struct sweep_run *s = t->sweep;
    const struct database_settings *d = t->settings->database;
    struct unit *u = NULL;
    struct postgres_script *scripts;
    char digest[SHA256_HEX_SIZE], identity[SHA256_HEX_SIZE];

    if (identity_of(t, identity, err) < 0)
        return -1;
    if (d->service && standing_ensure(s, &t->resolved, t->scenario.index, "database", &u, err) < 0)
        return -1;
    if (s->postgres && (s->postgres_unit != u || strcmp(identity, s->postgres_identity) != 0))
        database_leave(s);
    bool fresh = !s->postgres;
    if (fresh && connect_server(t, u, err) < 0)
        return -1;
    postgres_patience(s->postgres, t->deadline_ns); /* it may still recover from the trial before */
    memcpy(s->postgres_identity, identity, sizeof(identity));
    if (read_scripts(t, &scripts, digest, err) < 0)
        return -1;
    if (d->reset == RESET_NONE || (!fresh && strcmp(digest, s->postgres_digest) == 0))
        return 0;
    if (postgres_seed(s->postgres, scripts, d->schema.len, digest, err) < 0)
        return error_wrap(err, "seeding the database");
    memcpy(s->postgres_digest, digest, sizeof(digest));
    return 0;
}

/* Whom the reset found there, or, where there is none, who is there: not of this trial. */
static int tell_strangers(struct trial_run *t, const struct postgres_reset_result *r, struct error *err)
{
    struct postgres_activity a;

    if (r->sessions)
        trial_note(t, "the reset ended %d session%s of clients that were still in the database", r->sessions,
                   r->sessions == 1 ? "" : "s");
    if (r->prepared)
        trial_note(t, "the reset rolled back %d prepared transaction%s that had been left behind",
                   r->prepared, r->prepared == 1 ? "" : "s");
    if (t->settings->database->reset != RESET_NONE)
        return 0;
    if (postgres_activity(t->sweep->postgres, &a, err) < 0)
        return -1;
    if (a.sessions)
        trial_note(t, "%d session%s of others in the database before the application was started", a.sessions,
                   a.sessions == 1 ? " was" : "s were");
    if (a.prepared)
        trial_note(t, "%d prepared transaction%s in the database before the application was started",
                   a.prepared, a.prepared == 1 ? " was" : "s were");
    return 0;
}

/* How it ended is more than that it did not answer. */
static int lost(struct trial_run *t, struct error *err)
{
    struct unit *u = t->sweep->postgres_unit;

    if (u && u->died && err->kind != ERROR_INTERRUPTED)
        tell_death(t->sweep, u, err);
    return -1;
}

static int bring_to_seed(struct trial_run *t, struct postgres_reset_result *ret, struct error *err)
{
    const struct database_settings *d = t->settings->database;

    int64_t begin_ns = clock_now_ns();
    int rc = ensure_seeded(t, err);
    t->setup_ms += clock_ms_since(begin_ns);
    if (rc < 0)
        return lost(t, err);
    if (d->connections != SCHEMA_ABSENT &&
        postgres_expect_room(t->sweep->postgres, d->connections, err) < 0) {
        t->hopeless = d->service != NULL; /* of somebody's server others may leave */
        return -1;
    }
    if (dying_wait(t->sweep, err) < 0)
        return -1;
    if (postgres_reset(t->sweep->postgres, d->reset, ret, err) < 0) {
        (void)error_wrap(err, "resetting the database");
        return lost(t, err);
    }
    return 0;
}

int step_database(struct trial_run *t, struct error *err)
{
    struct postgres_reset_result r = {0};

    if (!t->settings->database)
        return 0;
    if (bring_to_seed(t, &r, err) < 0)
        return -1;
    t->database_reset_ns = clock_now_ns();
    t->record.has_database = true;
    t->record.database.reset_ms = r.reset_ms;
    t->record.database.strategy = arena_strdup(t->arena, r.strategy);
    t->record.database.size_bytes = r.size_bytes;
    t->record.database.version = arena_strdup(t->arena, postgres_facts(t->sweep->postgres)->version);
    (void)snprintf(t->sweep->database_version, sizeof(t->sweep->database_version), "%s",
                   t->record.database.version);
    const char *collation = postgres_facts(t->sweep->postgres)->collation_warning;
    if (collation)
        trial_note(t, "%s", collation);
    return tell_strangers(t, &r, err);
}
