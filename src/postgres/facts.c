/* SPDX-License-Identifier: MIT */
/* What is worth recording of a server: version, limits, settings that are not the defaults, collation
 * trouble. */
#include <stdlib.h>
#include <string.h>
#include "benchctl/base/schema.h"
#include "internal.h"

#define OLDEST 100000 /* 10: backend types, sequences in a catalog */

static int read_limits(struct postgres *p, struct connection *c, struct error *err)
{
    CLEANUP(PQclear) PGresult *r = NULL;

    if (connection_exec(
            c,
            "SELECT current_setting('server_version'), current_setting('max_connections')::int,"
            " current_setting('superuser_reserved_connections')::int, current_setting('is_superuser'),"
            " coalesce(current_setting('reserved_connections', true), '0')",
            &r, err) < 0)
        return -1;
    p->facts.version = arena_strdup(p->arena, PQgetvalue(r, 0, 0));
    p->facts.version_num = connection_version(c);
    p->facts.max_connections = (int)strtol(PQgetvalue(r, 0, 1), NULL, 10);
    p->facts.superuser_reserved = (int)strtol(PQgetvalue(r, 0, 2), NULL, 10);
    p->superuser = strcmp(PQgetvalue(r, 0, 3), "on") == 0;
    p->facts.reserved = p->facts.superuser_reserved + (int)strtol(PQgetvalue(r, 0, 4), NULL, 10);
    if (p->facts.version_num < OLDEST)
        return error_set(err, ERROR_ENVIRONMENT, "PostgreSQL %s is too old, benchctl needs 10 or newer",
                         p->facts.version);
    return 0;
}

/* Commands and connection strings in settings may hold secrets of the server's owner: left out. */
static bool is_private(const char *name)
{
    size_t len = strlen(name);

    return text_is_secret_key(name) || strstr(name, "passphrase") || strstr(name, "conninfo") ||
           (len > 8 && strcmp(name + len - 8, "_command") == 0);
}

static int read_settings(struct postgres *p, struct connection *c, struct error *err)
{
    CLEANUP(PQclear) PGresult *r = NULL;

    if (connection_exec(c,
                        "SELECT name, current_setting(name) FROM pg_settings"
                        " WHERE source NOT IN ('default', 'override', 'client', 'session')"
                        " AND setting IS DISTINCT FROM boot_val ORDER BY name",
                        &r, err) < 0)
        return -1;
    p->settings = json_new_object();
    for (int i = 0; i < PQntuples(r); i++)
        if (!is_private(PQgetvalue(r, i, 0)))
            json_set_text(p->settings, PQgetvalue(r, i, 0), PQgetvalue(r, i, 1));
    p->facts.settings = p->settings;
    return 0;
}

/*
 * Data that was sorted by another version of the system's collations: indexes may be in the wrong order, a
 * database cannot be made from such a template. Recorded, since it makes results on either side hard to
 * compare.
 */
static int read_collations(struct postgres *p, struct connection *c, struct error *err)
{
    CLEANUP(PQclear) PGresult *r = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (p->facts.version_num < 150000)
        return 0; /* databases have no recorded version before */
    if (connection_exec(
            c,
            "SELECT datname, datcollversion, pg_database_collation_actual_version(oid) FROM pg_database"
            " WHERE datcollversion IS DISTINCT FROM pg_database_collation_actual_version(oid)"
            " AND datcollversion IS NOT NULL ORDER BY datname",
            &r, err) < 0)
        return -1;
    for (int i = 0; i < PQntuples(r); i++)
        strbuf_addf(&text, "%s'%s' was made with collation version %s, the server's is %s", i ? "; " : "",
                    PQgetvalue(r, i, 0), PQgetvalue(r, i, 1),
                    PQgetisnull(r, i, 2) ? "none" : PQgetvalue(r, i, 2));
    if (text.len)
        p->facts.collation_warning = arena_strdup(p->arena, strbuf_text(&text));
    return 0;
}

int postgres_read_facts(struct postgres *p, struct error *err)
{
    struct connection *c;

    if (postgres_control(p, &c, err) < 0 || read_limits(p, c, err) < 0 || read_settings(p, c, err) < 0 ||
        read_collations(p, c, err) < 0)
        return error_wrap(err, "cannot read the server's settings");
    return 0;
}

const struct postgres_facts *postgres_facts(const struct postgres *p)
{
    return &p->facts;
}
