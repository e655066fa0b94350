/* SPDX-License-Identifier: MIT */
/* The table of the database section. */
#include "settings_rules.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/strbuf.h"

#define DAY_NS (86400 * NS_PER_S)

static bool is_postgres_url(const char *text)
{
    return text_starts(text, "postgresql://") || text_starts(text, "postgres://") ||
           text_starts(text, "${") || strchr(text, '=');
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
