/* SPDX-License-Identifier: MIT */
/* What identifies a measurement: the digest of the settings that affect it. */
#include <string.h>

#include "benchctl/base/fs.h"
#include "plan_internal.h"

/* As seen from the matrix: a checkout that moves as a whole keeps its digests. */
static const char *relative_path(const char *dir, const char *path, struct arena *a)
{
    CLEANUP_FREE char *relative = path ? path_relative(dir, path) : NULL;

    return arena_strdup(a, relative);
}

static void relative_build(const struct matrix *m, struct container_settings *c, struct arena *a)
{
    if (!c->build)
        return;
    struct build_settings *build = arena_copy(a, c->build, sizeof(*build));
    build->context = relative_path(m->dir, build->context, a);
    build->dockerfile = relative_path(m->dir, build->dockerfile, a);
    c->build = build;
}

static void relative_services(const struct matrix *m, struct settings *s, struct arena *a)
{
    if (!s->services.len)
        return;
    struct container_settings *services =
        arena_copy(a, s->services.items, s->services.len * sizeof(*services));
    for (size_t i = 0; i < s->services.len; i++)
        relative_build(m, &services[i], a);
    s->services.items = services;
}

static void relative_database(const struct matrix *m, struct settings *s, struct arena *a)
{
    if (!s->database)
        return;
    struct database_settings *database = arena_copy(a, s->database, sizeof(*database));
    const char **files = arena_array(a, const char *, database->schema.len + 1);
    for (size_t i = 0; i < database->schema.len; i++)
        files[i] = relative_path(m->dir, database->schema.items[i], a);
    database->schema.items = files;
    if (database->service) {
        struct container_settings *service = arena_copy(a, database->service, sizeof(*service));
        relative_build(m, service, a);
        database->service = service;
    }
    s->database = database;
}

static void relative_requests(const struct matrix *m, struct load_settings *l, struct arena *a)
{
    if (!l->requests.len)
        return;
    struct workload_request *requests = arena_copy(a, l->requests.items, l->requests.len * sizeof(*requests));
    for (size_t i = 0; i < l->requests.len; i++)
        requests[i].body_file = relative_path(m->dir, requests[i].body_file, a);
    l->requests.items = requests;
}

struct json *plan_settings_json(const struct matrix *m, const struct settings *s, bool for_digest,
                                struct arena *a)
{
    struct settings here = *s;

    if (m->dir) {
        relative_build(m, &here.app, a);
        relative_services(m, &here, a);
        relative_database(m, &here, a);
        here.load.script = relative_path(m->dir, here.load.script, a);
        relative_requests(m, &here.load, a);
    }
    return schema_to_json(&settings_schema, &here, for_digest);
}

void plan_digest(const struct matrix *m, const struct settings *s, struct arena *a, char hex[SHA256_HEX_SIZE])
{
    CLEANUP(json_free) struct json *input = plan_settings_json(m, s, true, a);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    json_write(input, JSON_STYLE_SORTED, &text);
    sha256_hex(strbuf_text(&text), text.len, hex);
}
