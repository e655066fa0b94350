/* SPDX-License-Identifier: MIT */
/* A recorded number by its dotted name, through the same tables that wrote it. */
#include "fields.h"

static int find(const struct record *r, const struct json *j, const char *name, double *ret);

static double number_of(const struct json *j)
{
    return text_equal(json_text(j), "unlimited") ? INFINITY : json_number(j);
}

/* `name` is KEY.REST. Keys may hold dots themselves: one that is in the record wins, else the first dot
 * counts. */
static int find_in_map(const struct field *f, const struct json *map, const char *name, double *ret)
{
    const char *first = strchr(name, '.');

    for (const char *dot = first; dot; dot = strchr(dot + 1, '.')) {
        CLEANUP_FREE char *key = xstrndup(name, (size_t)(dot - name));

        if (json_get(map, key))
            return find(f->of, json_get(map, key), dot + 1, ret);
    }
    return first && first != name ? find(f->of, NULL, first + 1, ret) : -1;
}

/* `rest` is what follows the field's name: "" or ".MORE". */
static int find_in_field(const struct field *f, const struct json *j, const char *rest, double *ret)
{
    switch (f->kind) {
    case FIELD_NUMBER:
    case FIELD_LIMIT:
    case FIELD_INT:
        if (*rest)
            return -1;
        *ret = number_of(j);
        return 0;
    case FIELD_OBJECT:
    case FIELD_OPTIONAL:
        return *rest ? find(f->of, j, rest + 1, ret) : -1;
    case FIELD_MAP:
        return *rest ? find_in_map(f, j, rest + 1, ret) : -1;
    case FIELD_PAIRS:
        if (f->of->fields[0].kind != FIELD_NUMBER || !*rest || !rest[1])
            return -1;
        *ret = json_number(json_get(j, rest + 1));
        return 0;
    default:
        return -1;
    }
}

static int find(const struct record *r, const struct json *j, const char *name, double *ret)
{
    for (const struct field *f = r->fields; f < r->fields + r->count; f++) {
        size_t len = strlen(f->name);

        if (strncmp(name, f->name, len) == 0 && (!name[len] || name[len] == '.'))
            return find_in_field(f, json_get(j, f->name), name + len, ret);
    }
    return -1;
}

int trial_number(const struct json *trial, const char *name, double *ret)
{
    size_t top = strcspn(name, ".");

    for (size_t i = 0; i < trial_record.count; i++) {
        const char *field = trial_record.fields[i].name;

        if (strlen(field) == top && strncmp(field, name, top) == 0)
            return find(&trial_record, trial, name, ret);
    }
    if (!name[top])
        return -1;
    /* "mock.restarts" is short for "services.mock.restarts" */
    CLEANUP_FREE char *service = xasprintf("services.%s", name);
    return find(&trial_record, trial, service, ret);
}
