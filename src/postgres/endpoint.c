/* SPDX-License-Identifier: MIT */
#include "endpoint.h"

#include <arpa/inet.h>
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "benchctl/base/strbuf.h"

#define URL_HINT                                                                                             \
    "it looks like postgresql://USER:PASSWORD@HOST:PORT/NAME; characters such as '@', '/' or '%%' in a "     \
    "password are written %%40, %%2F, %%25"

#define NO_PASSWORD "none" /* no secret: for a server that has none */

struct pair {
    char *key, *value;
};

struct endpoint {
    VEC(struct pair) pairs;
    char *database;
    char *password; /* NULL: none known here; libpq may still find one in its password file */
};

DEFINE_CLEANUP(PQconninfoOption *, PQconninfoFree);

static const char *endpoint_get(const struct endpoint *e, const char *key)
{
    for (size_t i = 0; i < e->pairs.len; i++)
        if (strcmp(e->pairs.items[i].key, key) == 0)
            return e->pairs.items[i].value;
    return NULL;
}

static void endpoint_set(struct endpoint *e, const char *key, const char *value)
{
    if (value && *value)
        vec_push(&e->pairs, (struct pair){xstrdup(key), xstrdup(value)});
}

/*
 * libpq's own text quotes what it could not read, which may be the whole URL with its password: only the part
 * before the first quotation mark is passed on.
 */
static int parse_failed(const char *libpq_text, struct error *err)
{
    const char *text = libpq_text ? libpq_text : "out of memory";
    int len = (int)strcspn(text, "\"\n");

    if (strncmp(text, "missing \"=\"", 11) == 0)
        (void)error_set(err, ERROR_INVALID,
                        "database url is neither 'postgresql://...' nor 'keyword=value ...'");
    else {
        while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == ':'))
            len--;
        (void)error_set(err, ERROR_INVALID, "database url cannot be read: %.*s", len, text);
    }
    return error_hint(err, URL_HINT);
}

static int parse(const char *url, PQconninfoOption **ret, struct error *err)
{
    char *text = NULL;
    PQconninfoOption *options = url && *url ? PQconninfoParse(url, &text) : NULL;

    if (!options) {
        int r =
            url && *url ? parse_failed(text, err) : error_set(err, ERROR_INVALID, "database url is empty");
        if (text)
            PQfreemem(text);
        return r;
    }
    *ret = options;
    return 0;
}

static const char *option_get(const PQconninfoOption *options, const char *key)
{
    for (const PQconninfoOption *o = options; o && o->keyword; o++)
        if (strcmp(o->keyword, key) == 0)
            return o->val && *o->val ? o->val : NULL;
    return NULL;
}

/*
 * Of "host1,host2" there may be a list of ports, each of which may be empty. The text is never shown: of
 * "postgresql://user:secret" libpq takes the password for a port.
 */
static int read_port(const char *text, int *ret, struct error *err)
{
    const char *at = text ? text : "";
    int first = 0;

    do {
        char *end = NULL;
        long port = *at == '\0' || *at == ',' ? 5432 : strtol(at, &end, 10);
        at = end ? end : at;
        if (port < 1 || port > 65535 || (*at != '\0' && *at != ',')) {
            (void)error_set(err, ERROR_INVALID,
                            "database url has a port that is not a number from 1 to 65535");
            return error_hint(err, URL_HINT);
        }
        first = first ? first : (int)port;
    } while (*at++ == ',');
    *ret = first;
    return 0;
}

static bool is_loopback(const char *host)
{
    return !host || *host == '/' || *host == '@' || strcasecmp(host, "localhost") == 0 ||
           strcmp(host, "::1") == 0 || (strncmp(host, "127.", 4) == 0 && !strchr(host, ','));
}

/* On this machine encryption proves nothing and negotiating it costs round trips: off, unless somebody asked
 * for it. */
static void plain_on_loopback(struct endpoint *e)
{
    const char *host = endpoint_get(e, "hostaddr");

    if (!host)
        host = endpoint_get(e, "host");
    if (!host)
        host = getenv("PGHOST");
    if (!is_loopback(host) || endpoint_get(e, "service") || getenv("PGSERVICE"))
        return;
    if (!endpoint_get(e, "sslmode") && !getenv("PGSSLMODE"))
        endpoint_set(e, "sslmode", "disable");
    if (!endpoint_get(e, "gssencmode") && !getenv("PGGSSENCMODE"))
        endpoint_set(e, "gssencmode", "disable");
}

static int from_url(struct endpoint *e, const char *url, struct error *err)
{
    CLEANUP(PQconninfoFree) PQconninfoOption *options = NULL;
    int port;

    if (parse(url, &options, err) < 0 || read_port(option_get(options, "port"), &port, err) < 0)
        return -1;
    for (const PQconninfoOption *o = options; o && o->keyword; o++) {
        if (strcmp(o->keyword, "dbname") == 0)
            e->database = o->val && *o->val ? xstrdup(o->val) : NULL;
        else if (strcmp(o->keyword, "client_encoding") != 0)
            endpoint_set(e, o->keyword, o->val);
    }
    plain_on_loopback(e);
    const char *password = option_get(options, "password");
    if (!password)
        password = getenv("PGPASSWORD");
    e->password = password && *password ? xstrdup(password) : NULL;
    return 0;
}

/*
 * A container of the sweep is whatever its image makes of it, and may ask for a password in clear text, or
 * for a ticket: what libpq would find in the environment and in its user's files is for other servers. With a
 * password and a service name of our own it looks for none.
 */
static void nothing_from_outside(struct endpoint *e)
{
    if (!e->password)
        endpoint_set(e, "password", NO_PASSWORD);
    endpoint_set(e, "passfile", "/dev/null");
    endpoint_set(e, "krbsrvname", "none");
    endpoint_set(e, "sslmode", "disable"); /* nothing is in between; with it no certificate is shown */
    endpoint_set(e, "gssencmode", "disable");
}

static void from_parts(struct endpoint *e, const struct postgres_options *o)
{
    char port[16];
    struct in6_addr address;

    (void)snprintf(port, sizeof(port), "%d", o->port);
    endpoint_set(e, "host", o->host);
    if (inet_pton(AF_INET, o->host, &address) == 1 || inet_pton(AF_INET6, o->host, &address) == 1)
        endpoint_set(e, "hostaddr", o->host); /* PGHOSTADDR in the environment is for another server */
    endpoint_set(e, "port", port);
    endpoint_set(e, "user", o->user);
    endpoint_set(e, "password", o->password);
    e->password = o->password && *o->password ? xstrdup(o->password) : NULL;
    nothing_from_outside(e);
}

int endpoint_new(const struct postgres_options *o, struct endpoint **ret, struct error *err)
{
    CLEANUP(endpoint_free) struct endpoint *e = xcalloc(1, sizeof(*e));

    if (!o->url)
        from_parts(e, o);
    else if (from_url(e, o->url, err) < 0)
        return -1;
    endpoint_set(e, "client_encoding", "UTF8");
    if (!endpoint_get(e, "fallback_application_name"))
        endpoint_set(e, "fallback_application_name", "benchctl");
    *ret = TAKE(e);
    return 0;
}

void endpoint_free(struct endpoint *e)
{
    if (!e)
        return;
    vec_each (p, &e->pairs) {
        free(p->key);
        free(p->value);
    }
    vec_release(&e->pairs);
    free(e->database);
    free(e->password);
    free(e);
}

const char *endpoint_database(const struct endpoint *e)
{
    return e->database;
}

void endpoint_params(const struct endpoint *e, const char *database, const char *keys[ENDPOINT_PARAMS],
                     const char *values[ENDPOINT_PARAMS])
{
    size_t n = 0;

    keys[n] = "dbname";
    values[n++] = database;
    for (size_t i = 0; i < e->pairs.len && n + 1 < ENDPOINT_PARAMS;
         i++) { /* libpq has fewer keywords than that */
        keys[n] = e->pairs.items[i].key;
        values[n++] = e->pairs.items[i].value;
    }
    keys[n] = NULL;
    values[n] = NULL;
}

void endpoint_redact(const struct endpoint *e, char *text)
{
    const char *user = endpoint_get(e, "user"), *host = endpoint_get(e, "host");

    if (!e->password || (user && strcmp(user, e->password) == 0) || (host && strcmp(host, e->password) == 0))
        return;
    size_t len = strlen(e->password);
    for (char *at = strstr(text, e->password); at; at = strstr(at + len, e->password))
        memset(at, '*', len);
}

/* What the application is told: the URL's own values, then the environment's and libpq's defaults. */
int postgres_parse_url(const char *url, struct postgres_target *ret, struct error *err)
{
    CLEANUP(PQconninfoFree) PQconninfoOption *given = NULL;
    CLEANUP(PQconninfoFree) PQconninfoOption *usual = PQconndefaults();
    static const char *const keys[] = {"hostaddr", "host", "port", "user", "dbname", "password"};
    const char *values[ARRAY_LEN(keys)];

    if (parse(url, &given, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        values[i] = option_get(given, keys[i]);
        if (!values[i])
            values[i] = option_get(usual, keys[i]);
    }
    const char *host = option_get(given, "host") || !values[0] ? values[1] : values[0];
    int port;
    if (read_port(values[2], &port, err) < 0)
        return -1;
    *ret = (struct postgres_target){
        .host = host ? xstrndup(host, strcspn(host, ",")) : xstrdup("localhost"),
        .user = values[3] ? xstrdup(values[3]) : NULL,
        .name = values[4] ? xstrdup(values[4]) : NULL,
        .password = values[5] ? xstrdup(values[5]) : NULL,
        .port = port,
    };
    return 0;
}

void postgres_target_release(struct postgres_target *t)
{
    free(t->host);
    free(t->user);
    free(t->name);
    free(t->password);
    *t = (struct postgres_target){0};
}
