/* SPDX-License-Identifier: MIT */
/* Writing: the C struct that a table describes → canonical JSON without secrets. */
#include "benchctl/base/schema.h"

#include <math.h>
#include "benchctl/base/strbuf.h"
#include "benchctl/base/units.h"

static struct json *struct_to_json(const struct schema *s, const char *value, bool for_digest);

static struct json *masked_text(const char *text)
{
    struct strbuf out = STRBUF_INIT;

    if (!strstr(text, "://") && !strchr(text, '='))
        return json_new_text(text);
    text_add_masked(&out, text);
    struct json *j = json_new_text(strbuf_text(&out));
    strbuf_release(&out);
    return j;
}

static struct json *secret_or_text(bool secret, const char *text)
{
    return secret ? json_new_text("***") : masked_text(text);
}

static struct json *size_to_json(int64_t bytes)
{
    if (bytes == SCHEMA_ABSENT)
        return NULL;
    return bytes == SIZE_UNLIMITED ? json_new_text("unlimited") : json_new_int(bytes);
}

static struct json *duration_to_json(int64_t ns)
{
    char buf[64];

    return ns == SCHEMA_ABSENT ? NULL : json_new_text(ns ? duration_format(ns, buf) : "0");
}

static struct json *texts_to_json(const struct schema_field *f, const struct text_list *l)
{
    if (f->one_is_text && l->len == 1)
        return secret_or_text(f->secret, l->items[0]);
    struct json *array = l->len ? json_new_array() : NULL;
    for (size_t i = 0; i < l->len; i++)
        json_append(array, secret_or_text(f->secret, l->items[i]));
    return array;
}

static struct json *text_map_to_json(const struct schema_field *f, const struct text_map *m)
{
    struct json *object = m->len ? json_new_object() : NULL;

    for (size_t i = 0; i < m->len; i++) {
        const struct text_pair *p = &m->items[i];
        json_set(object, p->key, secret_or_text(f->secret || text_is_secret_key(p->key), p->value));
    }
    return object;
}

static struct json *list_to_json(const struct schema_field *f, bool for_digest, const struct schema_list *l)
{
    bool named = f->type == SCHEMA_NAMED;
    struct json *all = !l->len ? NULL : named ? json_new_object() : json_new_array();

    for (size_t i = 0; i < l->len; i++) {
        const char *item = (const char *)l->items + i * f->of->size;
        struct json *j = struct_to_json(f->of, item, for_digest);
        if (named)
            json_set(all, *(const char *const *)(const void *)item, j);
        else
            json_append(all, j);
    }
    return all;
}

static struct json *node_masked(const struct node *n, bool secret)
{
    struct json *j;

    switch (n->kind) {
    case NODE_SCALAR:
        return secret_or_text(secret, n->text);
    case NODE_LIST:
        j = json_new_array();
        for (size_t i = 0; i < n->len; i++)
            json_append(j, node_masked(n->items[i], secret));
        return j;
    case NODE_MAP:
        j = json_new_object();
        for (size_t i = 0; i < n->len; i++)
            json_set(j, n->keys[i]->text,
                     node_masked(n->items[i], secret || text_is_secret_key(n->keys[i]->text)));
        return j;
    case NODE_NULL:
        break;
    }
    return json_new_null();
}

struct json *node_to_json(const struct node *n)
{
    return n ? node_masked(n, false) : json_new_null();
}

/* NULL when the field is absent. */
static struct json *field_to_json(const struct schema_field *f, const void *slot, bool for_digest)
{
    const void *pointer;
    const char *text;

    switch (f->type) {
    case SCHEMA_TEXT:
        text = *(const char *const *)slot;
        return text ? secret_or_text(f->secret || text_is_secret_key(f->key), text) : NULL;
    case SCHEMA_INT:
        return *(const int64_t *)slot == SCHEMA_ABSENT ? NULL : json_new_int(*(const int64_t *)slot);
    case SCHEMA_NUMBER:
        return isnan(*(const double *)slot) ? NULL : json_new_number(*(const double *)slot);
    case SCHEMA_BOOL:
        return json_new_bool(*(const bool *)slot);
    case SCHEMA_SIZE:
        return size_to_json(*(const int64_t *)slot);
    case SCHEMA_DURATION:
        return duration_to_json(*(const int64_t *)slot);
    case SCHEMA_CHOICE:
        return json_new_text(f->choices[*(const int *)slot]);
    case SCHEMA_STRUCT:
        return struct_to_json(f->of, slot, for_digest);
    case SCHEMA_OPTIONAL:
        pointer = *(const void *const *)slot;
        return pointer ? struct_to_json(f->of, pointer, for_digest) : NULL;
    case SCHEMA_LIST:
    case SCHEMA_NAMED:
        return list_to_json(f, for_digest, slot);
    case SCHEMA_TEXTS:
        return texts_to_json(f, slot);
    case SCHEMA_TEXT_MAP:
        return text_map_to_json(f, slot);
    case SCHEMA_NODE:
    case SCHEMA_REST:
        pointer = *(const void *const *)slot;
        return pointer ? node_masked(pointer, f->secret || text_is_secret_key(f->key)) : NULL;
    }
    return NULL;
}

/* The keys that no field named stand beside the others, where they were written. */
static void spread(struct json *object, struct json *rest)
{
    for (void *it = json_iter(rest); it; it = json_iter_next(rest, it))
        json_set(object, json_iter_key(it), json_clone(json_iter_value(it)));
    json_free(rest);
}

static struct json *struct_to_json(const struct schema *s, const char *value, bool for_digest)
{
    struct json *object = json_new_object();

    for (size_t i = 0; i < s->field_count; i++) {
        const struct schema_field *f = &s->fields[i];
        struct json *j =
            for_digest && f->descriptive ? NULL : field_to_json(f, value + f->offset, for_digest);
        if (j && f->type == SCHEMA_REST)
            spread(object, j);
        else if (j)
            json_set(object, f->key, j);
    }
    return object;
}

struct json *schema_to_json(const struct schema *s, const void *value, bool for_digest)
{
    return struct_to_json(s, value, for_digest);
}
