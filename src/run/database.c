/* SPDX-License-Identifier: MIT */
/* The database of a trial: a server (ours or an existing one), a sealed seed, a fresh clone, counters around
 * the window. */
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

int step_database(struct trial_run *t, struct error *err)
{
    const struct database_settings *d = t->settings->database;
    struct postgres_reset_result r = {0};

    if (!d)
        return 0;
    int64_t begin_ns = clock_now_ns();
    int rc = ensure_seeded(t, err);
    t->setup_ms += clock_ms_since(begin_ns);
    if (rc < 0)
        return -1;
    if (dying_wait(t->sweep, err) < 0)
        return -1;
    if (postgres_reset(t->sweep->postgres, d->reset, &r, err) < 0)
        return error_wrap(err, "resetting the database");
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
    return 0;
}

int database_window_begin(struct trial_run *t, struct error *err)
{
    if (!t->settings->database)
        return 0;
    if (postgres_counters(t->sweep->postgres, &t->counters_before, err) < 0)
        return error_wrap(err, "reading the database's counters");
    t->counters_taken = true;
    return 0;
}

/* A database that has gone away meanwhile is a note on the trial, and the figures stay "not measured". */
void database_window_end(struct trial_run *t)
{
    struct postgres_counters after;
    struct error err = ERROR_INIT;
    struct database_result *d = &t->record.database;
    const struct postgres_counters *before = &t->counters_before;

    if (!t->counters_taken)
        return;
    if (postgres_counters(t->sweep->postgres, &after, &err) < 0) {
        trial_note(t, "the database's counters could not be read after the load: %s", err.message);
        return;
    }
    d->commits = after.commits - before->commits;
    d->rollbacks = after.rollbacks - before->rollbacks;
    d->deadlocks = after.deadlocks - before->deadlocks;
    d->temp_bytes = after.temp_bytes - before->temp_bytes;
    d->checkpoints = after.checkpoints - before->checkpoints;
    d->autovacuum_runs = after.autovacuum_runs - before->autovacuum_runs;
    d->size_bytes = after.size_bytes;
    if (d->checkpoints > 0)
        trial_note(t, "%.0f checkpoint%s fell into the measured window", d->checkpoints,
                   d->checkpoints == 1 ? "" : "s");
    if (d->autovacuum_runs > 0)
        trial_note(t, "autovacuum ran %.0f time%s in the measured window", d->autovacuum_runs,
                   d->autovacuum_runs == 1 ? "" : "s");
    if (after.prepared_xacts > 0)
        trial_note(t, "%.0f prepared transactions were left behind", after.prepared_xacts);
}
