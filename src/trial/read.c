/* SPDX-License-Identifier: MIT */
/* Records from JSON by the tables: absent and null leave what record_init() made, another type is an error.
 */
#include <limits.h>
#include "fields.h"

static int wrong_type(const struct field *f, const char *wanted, struct error *err)
{
    return error_set(err, ERROR_INVALID, "'%s' is not %s", f->name, wanted);
}

static int read_number(const struct field *f, const struct json *j, void *base, struct error *err)
{
    double value = json_number(j);

    if (f->kind == FIELD_LIMIT && text_equal(json_text(j), "unlimited"))
        value = INFINITY;
    else if (json_type_of(j) != JSON_TYPE_NUMBER)
        return wrong_type(f, f->kind == FIELD_LIMIT ? "a number or \"unlimited\"" : "a number", err);
    memcpy(field_at(base, f->offset), &value, sizeof(value));
    return 0;
}

static int read_int(const struct field *f, const struct json *j, void *base, struct error *err)
{
    double value = json_number(j);
    int whole;

    if (!json_is_int(j) || value < INT_MIN || value > INT_MAX)
        return wrong_type(f, "a whole number", err);
    whole = (int)value;
    memcpy(field_at(base, f->offset), &whole, sizeof(whole));
    return 0;
}

/* Text, number or such; `j` is neither absent nor null. */
static int read_plain(const struct field *f, const struct json *j, struct arena *a, void *base,
                      struct error *err)
{
    void *at = field_at(base, f->offset);
    const char *text = json_text(j);
    enum outcome outcome;

    if (f->kind == FIELD_NUMBER || f->kind == FIELD_LIMIT)
        return read_number(f, j, base, err);
    if (f->kind == FIELD_JSON) {
        CLEANUP_VALUE(strbuf_release) struct strbuf json = STRBUF_INIT;
        json_write(j, JSON_STYLE_COMPACT, &json);
        text = arena_strdup(a, strbuf_text(&json));
        memcpy(at, &text, sizeof(text));
        return 0;
    }
    if (f->kind == FIELD_INT)
        return read_int(f, j, base, err);
    if (f->kind == FIELD_OUTCOME) {
        if (!text || outcome_parse(text, &outcome) < 0)
            return wrong_type(f, "an outcome", err);
        memcpy(at, &outcome, sizeof(outcome));
        return 0;
    }
    if (!text)
        return wrong_type(f, "text", err);
    text = arena_strdup(a, text);
    memcpy(at, &text, sizeof(text));
    return 0;
}

/* One element of LIST, TEXTS, MAP or PAIRS into the zeroed `item`. */
static int read_item(const struct field *f, const char *key, const struct json *j, struct arena *a,
                     void *item, struct error *err)
{
    if (f->kind == FIELD_TEXTS) {
        const char *text = arena_strdup(a, json_text(j));

        if (!text)
            return wrong_type(f, "a list of texts", err);
        memcpy(item, &text, sizeof(text));
        return 0;
    }
    record_init(f->of, item);
    if (key) {
        key = arena_strdup(a, key);
        memcpy(field_at(item, f->key), &key, sizeof(key));
    }
    if (f->kind != FIELD_PAIRS)
        return record_from_json(f->of, j, a, item, err);
    if (json_type_of(j) == JSON_TYPE_NULL)
        return 0;
    return read_plain(f->of->fields, j, a, item, err);
}

static int read_items(const struct field *f, const struct json *j, struct arena *a, void *base,
                      struct error *err)
{
    bool keyed = f->kind == FIELD_MAP || f->kind == FIELD_PAIRS;
    size_t size = f->of ? f->of->size : sizeof(const char *), count = json_len(j);
    char *items;

    if (json_type_of(j) != (keyed ? JSON_TYPE_OBJECT : JSON_TYPE_ARRAY))
        return wrong_type(f, keyed ? "an object" : "a list", err);
    if (count == 0)
        return 0;
    items = arena_alloc(a, size * count);
    void *it = keyed ? json_iter(j) : NULL;
    for (size_t i = 0; i < count; i++) {
        const char *key = keyed ? json_iter_key(it) : NULL;
        const struct json *value = keyed ? json_iter_value(it) : json_at(j, i);

        if (read_item(f, key, value, a, items + i * size, err) < 0)
            return keyed ? error_wrap(err, "'%s': '%.80s'", f->name, key)
                         : error_wrap(err, "'%s' %zu", f->name, i);
        if (keyed)
            it = json_iter_next(j, it);
    }
    memcpy(field_at(base, f->offset), &items, sizeof(items));
    memcpy(field_at(base, f->aux), &count, sizeof(count));
    return 0;
}

static int read_field(const struct field *f, const struct json *parent, struct arena *a, void *base,
                      struct error *err)
{
    const struct json *j = json_get(parent, f->name);
    bool yes = true;

    if (json_type_of(j) == JSON_TYPE_NULL)
        return 0;
    switch (f->kind) {
    case FIELD_BOOL:
        if (json_type_of(j) != JSON_TYPE_BOOL)
            return wrong_type(f, "true or false", err);
        yes = json_get_bool(parent, f->name);
        memcpy(field_at(base, f->offset), &yes, sizeof(yes));
        return 0;
    case FIELD_OBJECT:
    case FIELD_OPTIONAL:
        if (record_from_json(f->of, j, a, field_at(base, f->offset), err) < 0)
            return error_wrap(err, "'%s'", f->name);
        if (f->kind == FIELD_OPTIONAL)
            memcpy(field_at(base, f->aux), &yes, sizeof(yes));
        return 0;
    case FIELD_LIST:
    case FIELD_TEXTS:
    case FIELD_MAP:
    case FIELD_PAIRS:
        return read_items(f, j, a, base, err);
    default:
        return read_plain(f, j, a, base, err);
    }
}

int record_from_json(const struct record *r, const struct json *j, struct arena *a, void *base,
                     struct error *err)
{
    if (json_type_of(j) != JSON_TYPE_OBJECT)
        return error_set(err, ERROR_INVALID, "not an object");
    for (const struct field *f = r->fields; f < r->fields + r->count; f++) {
        if (read_field(f, j, a, base, err) < 0)
            return -1;
    }
    return 0;
}
