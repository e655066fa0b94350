/* SPDX-License-Identifier: MIT */
/* The table of the database section. */
#include "settings_rules.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/strbuf.h"

#define DAY_NS (86400 * NS_PER_S)
#define SUPERUSER_RESERVED 3 /* superuser_reserved_connections as PostgreSQL has it by default */

static bool is_postgres_url(const char *text)
{
    return text_starts(text, "postgresql://") || text_starts(text, "postgres://") ||
           text_starts(text, "${") || strchr(text, '=');
}

static int64_t setting(const struct container_settings *c, const char *name, int64_t otherwise)
{
    for (size_t i = 0; i < c->settings.len; i++) {
        const char *text = c->settings.items[i].value;
        char *end;
        int64_t number = strtoll(text, &end, 10);
        if (strcmp(c->settings.items[i].key, name) == 0 && *text && !*end)
            return number;
    }
    return otherwise;
}

/* Where the matrix itself says how many the server has; else the server is asked before the first trial. */
static int check_connections(const struct node *n, const struct database_settings *d, struct error *err)
{
    int64_t most = d->service ? setting(d->service, "max_connections", 0) : 0;

    if (d->connections == SCHEMA_ABSENT || most <= 0)
        return 0;
    int64_t reserved = setting(d->service, "superuser_reserved_connections", SUPERUSER_RESERVED);
    if (d->connections + DATABASE_OWN_SESSIONS + reserved <= most)
        return 0;
    node_error(err, rule_at(n, "connections"),
               "%lld connections of the application, %d of benchctl and %lld reserved ones are more than "
               "max_connections, %lld",
               (long long)d->connections, DATABASE_OWN_SESSIONS, (long long)reserved, (long long)most);
    return error_hint(err, "make the pools smaller, or raise max_connections in the service's settings");
}

static int check_database(const struct node *n, const void *value, struct error *err)
{
    const struct database_settings *d = value;

    if (!d->service == !d->url) {
        node_error(err, n,
                   d->url ? "the database has both 'service' and 'url'"
                          : "the database has neither 'service' nor 'url'");
        return error_hint(err, "exactly one: a container of the sweep, or an existing server");
    }
    if (d->url && !is_postgres_url(d->url)) {
        node_error(err, rule_at(n, "url"), "'url' is not a Postgres URL");
        return error_hint(err, "for instance postgresql://USER@HOST:5432/postgres");
    }
    if (!*d->name)
        return node_error(err, rule_at(n, "name"), "'name' is empty");
    if (check_connections(n, d, err) < 0)
        return -1;
    if (d->reset == RESET_NONE || d->schema.len || !node_get(n, "schema"))
        return 0;
    return node_error(err, rule_at(n, "schema"), "'schema' is an empty list");
}

static const char *const reset_names[] = {[RESET_TEMPLATE] = "template",
                                          [RESET_TRUNCATE] = "truncate",
                                          [RESET_RECREATE] = "recreate",
                                          [RESET_NONE] = "none",
                                          NULL};

static const struct schema_field database_fields[] = {
    FIELD("service", OPTIONAL, database_settings, service, .of = &database_service_schema,
          .help = "A server of the sweep's own, in a container."),
    FIELD("url", TEXT, database_settings, url,
          .help = "Or an existing server: its URL, or a libpq connection string."),
    FIELD("name", TEXT, database_settings, name, .fallback = "bench",
          .help = "Database that is made, filled and reset for the benchmark."),
    FIELD("user", TEXT, database_settings, user,
          .help = "User that connects; by default the server's or the URL's."),
    FIELD("password", TEXT, database_settings, password, .secret = true,
          .help = "Its password; better `${secret:NAME}` or PGPASSWORD."),
    FIELD("schema", TEXTS, database_settings, schema, .path = true,
          .help = "SQL files that make the state each trial begins with, in order."),
    FIELD("reset", CHOICE, database_settings, reset, .choices = reset_names, .fallback = "template",
          .help = "How that state is restored before each trial: clone a seeded template, truncate and "
                  "refill, make it anew, or not at all."),
    FIELD("ready_timeout", DURATION, database_settings, ready_timeout_ns, .min = NS_PER_MS, .max = DAY_NS,
          .fallback = "60s", .help = "How long to wait for a server that answers queries."),
    FIELD("statement_timeout", DURATION, database_settings, statement_timeout_ns, .min = NS_PER_MS,
          .max = DAY_NS, .fallback = "60s",
          .help = "Limit of one statement of ours: seeding, reset, checks."),
    FIELD("commits_per_request", NUMBER, database_settings, commits_per_request, .descriptive = true,
          .help = "Transactions that one request commits: then the commits are held against the requests."),
    FIELD("connections", INT, database_settings, connections, .min = 1, .max = 262143, .descriptive = true,
          .help = "How many connections the scenario's pools open together. More than the server has is an "
                  "error before anything is measured."),
};
const struct schema database_schema = {
    .name = "the database section",
    .help = "A Postgres database in a known state, proven before each trial.",
    .size = sizeof(struct database_settings),
    LIST_OF(database_fields),
    .free_keys = true,
    .check = check_database,
    .position_offset = offsetof(struct database_settings, at),
};
