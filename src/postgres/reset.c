/* SPDX-License-Identifier: MIT */
/* One reset: bring the benchmark database to the seeded state, prove it, leave nothing to disturb the load.
 */
#include <assert.h>
#include <math.h>
#include <string.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"
#include "again.h"
#include "database.h"
#include "inspect.h"
#include "runner.h"
#include "seed.h"
#include "truncate.h"

#define MIB (INT64_C(1) << 20)

/* A clone is the same files; loaded again, the same rows may fill pages otherwise. */
static const struct manifest_tolerance clone_tolerance = {
    .clone = true, .size_share = 0.02, .size_bytes = 2 * MIB};
static const struct manifest_tolerance load_tolerance = {.size_share = 0.25, .size_bytes = 8 * MIB};

struct reset {
    struct postgres *p;
    enum reset_mode mode;
    const struct manifest_tolerance *tolerance;
    struct postgres_reset_result result;
};

/* --- the ways */

/* Drops what is there and makes it anew, from a template or (NULL) empty. */
static int make_again(struct reset *r, const char *from, struct error *err)
{
    struct postgres *p = r->p;
    int64_t start = clock_now_ns();

    p->made_from = NULL;
    if (database_report_sessions(p, p->name, err) < 0 || database_drop(p, p->name, err) < 0)
        return -1;
    r->result.drop_ms = clock_ms_since(start);
    if (database_create(p, p->name, from, MARK_BENCHMARK, err) < 0)
        return -1;
    p->made = true;
    p->made_from = p->seed;
    return 0;
}

static int by_template(struct reset *r, struct error *err)
{
    int64_t start = clock_now_ns();

    if (make_again(r, r->p->seed->database, err) < 0)
        return -1;
    r->result.clone_ms = clock_ms_since(start) - r->result.drop_ms;
    r->result.strategy = "file_copy";
    r->tolerance = &clone_tolerance;
    return 0;
}

static int by_recreate(struct reset *r, struct error *err)
{
    struct postgres *p = r->p;
    int64_t start = clock_now_ns();

    if (make_again(r, NULL, err) < 0 ||
        run_scripts(p, p->name, p->seed->scripts, p->seed->script_count, err) < 0 ||
        seed_vacuum(p, p->name, NULL, err) < 0)
        return -1;
    r->result.clone_ms = clock_ms_since(start) - r->result.drop_ms;
    r->result.strategy = "recreate";
    r->tolerance = &load_tolerance;
    return 0;
}

/* The first time, and after another seed, there is nothing to empty: the template gives the database. */
static int by_truncate(struct reset *r, struct error *err)
{
    struct postgres *p = r->p;
    bool exists = false;

    if (database_claim(p, p->name, &exists, err) < 0)
        return -1;
    if (!exists || p->made_from != p->seed)
        return by_template(r, err);
    if (database_report_sessions(p, p->name, err) < 0 || database_end_sessions(p, p->name, err) < 0 ||
        database_forget_prepared(p, p->name, err) < 0 || database_expect_idle(p, p->name, err) < 0)
        return -1;
    int64_t start = clock_now_ns();
    if (truncate_and_fill(p, err) < 0 || seed_vacuum(p, p->name, NULL, err) < 0)
        return -1;
    r->result.clone_ms = clock_ms_since(start);
    r->result.strategy = "truncate";
    r->tolerance = &load_tolerance;
    return 0;
}

/* Left as it is, whoever made it; only when it does not exist and there is a seed, it is made once. */
static int by_none(struct reset *r, struct error *err)
{
    struct postgres *p = r->p;
    const char *name = p->name;
    struct connection *c;
    CLEANUP(PQclear) PGresult *found = NULL;

    if (postgres_control(p, &c, err) < 0 ||
        connection_query(c, "SELECT pg_database_size(oid) FROM pg_database WHERE datname = $1", &name, 1,
                         &found, err) < 0)
        return -1;
    if (PQntuples(found) == 0 && p->seed)
        return by_template(r, err);
    if (PQntuples(found) == 0) {
        (void)error_set(err, ERROR_ENVIRONMENT, "database '%s' does not exist", name);
        return error_hint(err, "with 'reset: none' it must be there already");
    }
    r->result.size_bytes = strtod(PQgetvalue(found, 0, 0), NULL);
    r->result.strategy = "none";
    return 0;
}

/* --- the proof */

static int prove(struct reset *r, struct error *err)
{
    struct postgres *p = r->p;
    CLEANUP(connection_free) struct connection *c = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct manifest have = {0};
    size_t analyzed = 0;

    if (postgres_session(p, p->name, &c, err) < 0 ||
        inspect(p, c, r->tolerance->clone ? &p->seed->manifest : NULL, a, &have, err) < 0)
        return -1;
    r->result.size_bytes = (double)have.size_bytes;
    if (manifest_compare(&p->seed->manifest, &have, r->tolerance, &text) > 0) {
        (void)error_set(err, ERROR_TRIAL, "database '%s' is not as seeded after its reset: %s", p->name,
                        strbuf_text(&text));
        return error_hint(err, "'reset: template' restores everything, whatever an application did");
    }
    if (inspect_analyze(c, &have, &analyzed, err) < 0)
        return -1;
    if (analyzed)
        note("analyzed %zu tables of '%s' that had no statistics", analyzed, p->name);
    return 0;
}

/* Everything that the reset wrote goes to disk now and not within the load. */
int checkpoint_once(struct postgres *p, void *data, struct error *err)
{
    struct error failed = ERROR_INIT;
    struct connection *c;

    (void)data;
    if (p->no_checkpoint)
        return 0;
    if (postgres_control(p, &c, err) < 0)
        return -1;
    if (connection_exec(c, "CHECKPOINT", NULL, &failed) == 0)
        return 0;
    if (strcmp(connection_sqlstate(c), "42501") == 0) {
        warn("no right to CHECKPOINT: one may fall into the load (grant pg_checkpoint, from 15 on)");
        p->no_checkpoint = true;
        return 0;
    }
    *err = failed;
    return error_wrap(err, "cannot checkpoint");
}

int postgres_checkpoint(struct postgres *p, struct error *err)
{
    return postgres_persist(p, checkpoint_once, NULL, err);
}

static int calm(struct postgres *p, void *data, struct error *err)
{
    int pid = 0;

    if (seed_vacuum(p, p->name, &pid, err) < 0 || postgres_await_exit(p, pid, err) < 0)
        return -1;
    return checkpoint_once(p, data, err);
}

int postgres_calm(struct postgres *p, struct error *err)
{
    return postgres_persist(p, calm, NULL, err);
}

static int prove_and_calm(struct reset *r, struct error *err)
{
    struct postgres *p = r->p;
    int64_t start = clock_now_ns();

    if (prove(r, err) < 0)
        return -1;
    /* Also waits for our own session to end: what it counted is in the statistics then, before the window. */
    if (database_expect_idle(p, p->name, err) < 0)
        return -1;
    r->result.prove_ms = clock_ms_since(start);
    start = clock_now_ns();
    if (checkpoint_once(p, NULL, err) < 0)
        return -1;
    r->result.checkpoint_ms = clock_ms_since(start);
    return 0;
}

static int reset_once(struct postgres *p, void *data, struct error *err)
{
    static int (*const ways[])(struct reset * r, struct error * err) = {[RESET_TEMPLATE] = by_template,
                                                                        [RESET_TRUNCATE] = by_truncate,
                                                                        [RESET_RECREATE] = by_recreate,
                                                                        [RESET_NONE] = by_none};
    struct reset *r = data;
    struct connection *c;

    r->tolerance = NULL;
    r->result = (struct postgres_reset_result){
        .clone_ms = NAN, .prove_ms = NAN, .drop_ms = NAN, .checkpoint_ms = NAN};
    if (postgres_control(p, &c, err) < 0 ||
        (p->seed && r->mode != RESET_NONE && seed_renew(p, p->seed, err) < 0) || ways[r->mode](r, err) < 0)
        return -1;
    int rc = r->tolerance ? prove_and_calm(r, err) : 0;
    if (!p->seed || !p->seed->doubtful || r->mode == RESET_NONE)
        return rc;
    p->lost = true; /* a crash since the template was looked at: whatever the proof says */
    return error_set(err, ERROR_ENVIRONMENT, "the server went away while the database was reset");
}

int postgres_reset(struct postgres *p, enum reset_mode mode, struct postgres_reset_result *ret,
                   struct error *err)
{
    struct reset r = {.p = p, .mode = mode};
    int64_t start = clock_now_ns();

    assert(p->seed || mode == RESET_NONE);
    p->prepared = p->ended = 0;
    if (postgres_persist(p, reset_once, &r, err) < 0)
        return error_wrap(err, "cannot reset the database");
    p->counted = false;
    p->glanced_s = NAN;
    r.result.prepared = p->prepared;
    r.result.sessions = p->ended;
    r.result.reset_ms = clock_ms_since(start);
    *ret = r.result;
    return 0;
}

static int drop_unmarked(struct postgres *p, struct error *err)
{
    CLEANUP_FREE char *name = xstrdup(p->unmarked);

    return database_drop(p, name, err);
}

/* All of it, or what an attempt before has left. */
static int drop_all(struct postgres *p, void *data, struct error *err)
{
    (void)data;
    if ((p->made && database_drop(p, p->name, err) < 0) || (p->unmarked && drop_unmarked(p, err) < 0))
        return -1;
    p->made = false;
    while (p->seeds.len) {
        struct seed *s = p->seeds.items[p->seeds.len - 1];
        if (database_drop(p, s->database, err) < 0)
            return -1;
        p->seeds.len--;
        if (p->seed == s)
            p->seed = NULL;
        if (p->made_from == s)
            p->made_from = NULL;
        arena_free(s->arena);
    }
    return 0;
}

int postgres_drop(struct postgres *p, struct error *err)
{
    return postgres_persist(p, drop_all, NULL, err);
}
