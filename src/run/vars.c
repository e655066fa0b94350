/* SPDX-License-Identifier: MIT */
/* Run-time references: ${app.url}, ${database.host}, ${secret:NAME}, and the trial's own numbers in checks.
 */
#include "run_internal.h"

#include <stdio.h>
#include "benchctl/base/interpolate.h"

struct scope {
    struct sweep_run *sweep;
    const struct settings *settings;
    const struct json *numbers; /* the trial so far, or NULL */
    struct arena *arena;        /* for what is filled in */
    bool inner;                 /* filling in a value that others refer to: it can hold secrets, no more */
};

static int expand(struct scope *sc, const char *text, const char **ret, struct error *err);

/* Where a container is reached: its address on the sweep's network, its name there while it has none yet, or
 * loopback. */
static const char *unit_host(const struct scope *sc, const struct unit *u, const char *role)
{
    if (sc->settings->network == NETWORK_HOST)
        return "127.0.0.1";
    return u && u->address ? u->address : role;
}

const struct container_settings *container_settings_of(const struct settings *st, const char *role)
{
    const struct container_settings *services = st->services.items;

    if (strcmp(role, "app") == 0)
        return &st->app;
    if (strcmp(role, "database") == 0)
        return st->database ? st->database->service : NULL;
    for (size_t i = 0; i < st->services.len; i++)
        if (strcmp(services[i].name, role) == 0)
            return &services[i];
    return NULL;
}

static enum lookup_result container_value(const struct scope *sc, const char *role, const char *key,
                                          struct strbuf *out)
{
    const struct container_settings *c = container_settings_of(sc->settings, role);
    const struct unit *u = unit_find(sc->sweep, role);

    if (!c)
        return LOOKUP_UNKNOWN;
    int64_t port = u && u->port ? u->port : c->port;
    if (strcmp(key, "host") == 0)
        strbuf_adds(out, unit_host(sc, u, role));
    else if (strcmp(key, "port") == 0 && port != SCHEMA_ABSENT)
        strbuf_addf(out, "%lld", (long long)port);
    else if (strcmp(key, "url") == 0 && port != SCHEMA_ABSENT)
        strbuf_addf(out, "http://%s:%lld", unit_host(sc, u, role), (long long)port);
    else if (strcmp(key, "name") == 0)
        strbuf_adds(out, role);
    else
        return LOOKUP_UNKNOWN;
    return LOOKUP_FOUND;
}

struct database_address {
    const char *host, *user, *password, *name;
    int64_t port;
};

static enum lookup_result database_key(const struct database_address *d, const char *key, struct strbuf *out)
{
    if (strcmp(key, "host") == 0) {
        strbuf_adds(out, d->host);
    } else if (strcmp(key, "port") == 0) {
        strbuf_addf(out, "%lld", (long long)d->port);
    } else if (strcmp(key, "name") == 0) {
        strbuf_adds(out, d->name);
    } else if (strcmp(key, "user") == 0) {
        strbuf_adds(out, d->user);
    } else if (strcmp(key, "password") == 0) {
        strbuf_adds(out, d->password ? d->password : "");
    } else if (strcmp(key, "url") == 0) {
        strbuf_adds(out, "postgresql://");
        http_escape(out, d->user);
        if (d->password && d->password[0]) {
            strbuf_addc(out, ':');
            http_escape(out, d->password);
        }
        strbuf_addf(out, "@%s:%lld/", d->host, (long long)d->port);
        http_escape(out, d->name);
    } else {
        return LOOKUP_UNKNOWN;
    }
    return LOOKUP_FOUND;
}

/* A server that is there already, by its URL. */
static enum lookup_result existing_value(struct scope *sc, const char *password, const char *key,
                                         struct strbuf *out, struct error *err)
{
    const struct database_settings *d = sc->settings->database;
    CLEANUP_VALUE(postgres_target_release) struct postgres_target target = {0};
    const char *url;

    if (expand(sc, d->url, &url, err) < 0 || postgres_parse_url(url, &target, err) < 0)
        return LOOKUP_FAILED;
    const struct database_address at = {
        .host = target.host,
        .user = d->user && d->user[0] ? d->user : target.user,
        .password = password ? password : target.password,
        .name = d->name,
        .port = target.port,
    };
    return database_key(&at, key, out);
}

static enum lookup_result database_value(struct scope *sc, const char *key, struct strbuf *out,
                                         struct error *err)
{
    const struct database_settings *d = sc->settings->database;
    const struct unit *u = unit_find(sc->sweep, "database");
    const char *password;

    if (expand(sc, d->password, &password, err) < 0)
        return LOOKUP_FAILED;
    if (d->url)
        return existing_value(sc, password, key, out, err);
    const struct database_address at = {
        .host = unit_host(sc, u, "database"),
        .user = database_user(d),
        .password = password,
        .name = d->name,
        .port = u && u->port                        ? u->port
                : d->service->port == SCHEMA_ABSENT ? 5432
                                                    : d->service->port,
    };
    return database_key(&at, key, out);
}

static enum lookup_result secret_value(const char *name, struct strbuf *out, struct error *err)
{
    const char *value = getenv(name);

    if (!value) {
        (void)error_set(err, ERROR_ENVIRONMENT, "the secret '%s' is not in the environment", name);
        (void)error_hint(err, "export %s=... before the run", name);
        return LOOKUP_FAILED;
    }
    strbuf_adds(out, value);
    return LOOKUP_FOUND;
}

static enum lookup_result look_up(const char *name, struct strbuf *out, void *data, struct error *err)
{
    struct scope *sc = data;
    const char *dot = strchr(name, '.');
    double number;

    if (text_starts(name, "secret:"))
        return secret_value(name + strlen("secret:"), out, err);
    if (sc->inner)
        return LOOKUP_UNKNOWN;
    if (sc->numbers && trial_number(sc->numbers, name, &number) == 0) {
        if (isnan(number)) {
            (void)error_set(err, ERROR_TRIAL, "'%s' was not measured", name);
            return LOOKUP_FAILED;
        }
        if (isinf(number)) {
            (void)error_set(err, ERROR_TRIAL, "'%s' is unlimited", name);
            return LOOKUP_FAILED;
        }
        strbuf_addf(out, "%.15g", number);
        return LOOKUP_FOUND;
    }
    if (!dot)
        return LOOKUP_UNKNOWN;
    CLEANUP_FREE char *role = xstrndup(name, (size_t)(dot - name));
    if (strcmp(role, "database") == 0 && sc->settings->database)
        return database_value(sc, dot + 1, out, err);
    return container_value(sc, role, dot + 1, out);
}

/* A value that a looked-up one needs is filled in on the way, once: it cannot refer to itself. */
static int expand(struct scope *sc, const char *text, const char **ret, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    struct scope inner = *sc;

    if (!text || !strstr(text, "${")) { /* "$${" has to become "${", too */
        *ret = text;
        return 0;
    }
    inner.inner = true;
    if (interpolate(text, look_up, &inner, &out, err) < 0)
        return -1;
    *ret = arena_strdup(sc->arena, strbuf_text(&out));
    return 0;
}

static int expand_outer(struct scope *sc, const char *text, const char **ret, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;

    if (interpolate(text, look_up, sc, &out, err) < 0)
        return -1;
    *ret = arena_strdup(sc->arena, strbuf_text(&out));
    return 0;
}

int run_expand_for(struct sweep_run *s, const struct settings *st, struct arena *a, const char *text,
                   const char **ret, struct error *err)
{
    struct scope sc = {.sweep = s, .settings = st, .arena = a};

    if (!text || !strstr(text, "${")) {
        *ret = text;
        return 0;
    }
    return expand_outer(&sc, text, ret, err);
}

int run_expand(struct trial_run *t, const char *text, const char **ret, struct error *err)
{
    if (!text || !strstr(text, "${")) {
        *ret = text;
        return 0;
    }
    CLEANUP(json_free) struct json *numbers = trial_to_json(&t->record);
    struct scope sc = {.sweep = t->sweep, .settings = t->settings, .numbers = numbers, .arena = t->arena};
    return expand_outer(&sc, text, ret, err);
}
