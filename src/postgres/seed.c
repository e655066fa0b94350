/* SPDX-License-Identifier: MIT */
/* The seeded template: made once from the scripts, vacuumed, measured, sealed. */
#include <assert.h>
#include <string.h>
#include "benchctl/base/log.h"
#include "again.h"
#include "database.h"
#include "inspect.h"
#include "runner.h"
#include "seed.h"

#define TEMPLATE_PREFIX "benchctl_seed_"
#define DIGEST_DIGITS 12

static void seed_free(struct seed *s)
{
    if (s)
        arena_free(s->arena);
}
DEFINE_CLEANUP(struct seed *, seed_free);

static struct seed *seed_new(const struct postgres_script *scripts, size_t count, const char *digest)
{
    struct arena *a = arena_new();
    struct seed *s = arena_new_of(a, struct seed);

    s->arena = a;
    s->database = arena_printf(a, TEMPLATE_PREFIX "%.*s", DIGEST_DIGITS, digest);
    s->scripts = arena_array(a, struct postgres_script, count);
    s->script_count = count;
    for (size_t i = 0; i < count; i++)
        s->scripts[i] = (struct postgres_script){.name = arena_strdup(a, scripts[i].name),
                                                 .sql = arena_copy(a, scripts[i].sql, scripts[i].len),
                                                 .len = scripts[i].len};
    return s;
}

int seed_vacuum(struct postgres *p, const char *database, int *ret_pid, struct error *err)
{
    CLEANUP(connection_free) struct connection *c = NULL;

    if (postgres_session(p, database, &c, err) < 0 || connection_exec(c, "VACUUM (ANALYZE)", NULL, err) < 0)
        return error_wrap(err, "cannot vacuum database '%s'", database);
    if (ret_pid)
        *ret_pid = PQbackendPID(connection_pg(c));
    return 0;
}

/* Recovery from a crash empties them, in a template too. */
static int look_for_unlogged(struct connection *c, bool *ret, struct error *err)
{
    CLEANUP(PQclear) PGresult *r = NULL;

    if (connection_exec(c, "SELECT FROM pg_class WHERE relpersistence = 'u' LIMIT 1", &r, err) < 0)
        return -1;
    *ret = PQntuples(r) > 0;
    return 0;
}

static int take_manifest(struct postgres *p, struct seed *s, struct error *err)
{
    CLEANUP(connection_free) struct connection *c = NULL;

    if (postgres_session(p, s->database, &c, err) < 0 ||
        inspect(p, c, NULL, s->arena, &s->manifest, err) < 0 || look_for_unlogged(c, &s->unlogged, err) < 0)
        return -1;
    manifest_choose_quick(&s->manifest);
    return 0;
}

static int make(struct postgres *p, struct seed *s, struct error *err)
{
    if (database_create(p, s->database, NULL, MARK_TEMPLATE, err) < 0 ||
        run_scripts(p, s->database, s->scripts, s->script_count, err) < 0 ||
        seed_vacuum(p, s->database, NULL, err) < 0 || take_manifest(p, s, err) < 0 ||
        database_seal(p, s->database, err) < 0)
        return -1;
    s->doubtful = false;
    return checkpoint_once(p, NULL, err); /* so that the first clone finds nothing to write */
}

static struct seed *known(const struct postgres *p, const char *digest)
{
    for (size_t i = 0; i < p->seeds.len; i++)
        if (strncmp(p->seeds.items[i]->database + strlen(TEMPLATE_PREFIX), digest, DIGEST_DIGITS) == 0)
            return p->seeds.items[i];
    return NULL;
}

/* One of the same name is what a run left that could not clean up, or an attempt of ours. */
static int make_anew(struct postgres *p, void *data, struct error *err)
{
    struct seed *s = data;
    struct connection *c;
    bool exists = false;

    if (postgres_control(p, &c, err) < 0 || database_claim(p, p->name, &exists, err) < 0 ||
        postgres_lock(p, s->database, err) < 0 || database_drop(p, s->database, err) < 0)
        return -1;
    if (make(p, s, err) == 0)
        return 0;
    struct error ignored = ERROR_INIT;
    loop_shield(p->loop, +1);
    if (database_drop(p, s->database, &ignored) < 0)
        note("template '%s' is left behind: %s", s->database, ignored.message);
    loop_shield(p->loop, -1);
    return -1;
}

int seed_renew(struct postgres *p, struct seed *s, struct error *err)
{
    return s->doubtful ? make_anew(p, s, err) : 0;
}

int postgres_seed(struct postgres *p, const struct postgres_script *scripts, size_t count, const char *digest,
                  struct error *err)
{
    struct seed *have = known(p, digest);

    if (have) {
        p->seed = have;
        return 0;
    }
    CLEANUP(seed_free) struct seed *s = seed_new(scripts, count, digest);
    if (postgres_persist(p, make_anew, s, err) < 0)
        return -1;
    vec_push(&p->seeds, s);
    p->seed = TAKE(s);
    return 0;
}
