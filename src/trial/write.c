/* SPDX-License-Identifier: MIT */
/* Records from the tables: initialising and writing as JSON. */
#include "fields.h"

#include <assert.h>

void record_init(const struct record *r, void *base)
{
    for (const struct field *f = r->fields; f < r->fields + r->count; f++) {
        const double nothing = NAN;

        if (f->kind == FIELD_NUMBER || f->kind == FIELD_LIMIT)
            memcpy(field_at(base, f->offset), &nothing, sizeof(nothing));
        else if (f->kind == FIELD_OBJECT || f->kind == FIELD_OPTIONAL)
            record_init(f->of, field_at(base, f->offset));
    }
}

static const char *text_in(const void *base, size_t offset)
{
    const char *text;

    memcpy(&text, field_in(base, offset), sizeof(text));
    return text;
}

/* What is no JSON after all is null: it came from a file that anybody may have written. */
static struct json *embedded(const char *text)
{
    struct json *j = NULL;
    struct error ignored = ERROR_INIT;

    if (!text || json_parse(text, strlen(text), "value", &j, &ignored) < 0)
        return json_new_null();
    return j;
}

static struct json *plain_to_json(const struct field *f, const void *base)
{
    const void *at = field_in(base, f->offset);
    double number;
    int whole;
    bool flag;
    enum outcome outcome;

    switch (f->kind) {
    case FIELD_NUMBER:
    case FIELD_LIMIT:
        memcpy(&number, at, sizeof(number));
        if (f->kind == FIELD_LIMIT && number == INFINITY)
            return json_new_text("unlimited");
        return json_new_number(number);
    case FIELD_INT:
        memcpy(&whole, at, sizeof(whole));
        return json_new_int(whole);
    case FIELD_BOOL:
        memcpy(&flag, at, sizeof(flag));
        return json_new_bool(flag);
    case FIELD_JSON:
        return embedded(text_in(base, f->offset));
    case FIELD_OUTCOME:
        memcpy(&outcome, at, sizeof(outcome));
        return json_new_text(outcome_name(outcome));
    default:
        return json_new_text(text_in(base, f->offset));
    }
}

/* LIST, TEXTS, MAP and PAIRS: an array in memory. */
static struct json *items_to_json(const struct field *f, const void *base)
{
    bool keyed = f->kind == FIELD_MAP || f->kind == FIELD_PAIRS;
    struct json *j = keyed ? json_new_object() : json_new_array();
    const char *items = text_in(base, f->offset);
    size_t count, size = f->of ? f->of->size : sizeof(const char *);

    assert(f->of || f->kind == FIELD_TEXTS); /* by the tables */
    memcpy(&count, field_in(base, f->aux), sizeof(count));
    for (size_t i = 0; i < count; i++) {
        const void *item = items + i * size;

        if (f->kind == FIELD_TEXTS)
            json_append(j, json_new_text(text_in(item, 0)));
        else if (f->kind == FIELD_LIST)
            json_append(j, record_to_json(f->of, item));
        else if (text_in(item, f->key))
            json_set(j, text_in(item, f->key),
                     f->kind == FIELD_MAP ? record_to_json(f->of, item) : plain_to_json(f->of->fields, item));
    }
    return j;
}

struct json *record_to_json(const struct record *r, const void *base)
{
    struct json *j = json_new_object();

    for (const struct field *f = r->fields; f < r->fields + r->count; f++) {
        struct json *value;
        bool there = true;

        if (f->kind == FIELD_OPTIONAL)
            memcpy(&there, field_in(base, f->aux), sizeof(there));
        if (!there)
            value = json_new_null();
        else if (f->kind == FIELD_OBJECT || f->kind == FIELD_OPTIONAL)
            value = record_to_json(f->of, field_in(base, f->offset));
        else if (f->kind >= FIELD_LIST)
            value = items_to_json(f, base);
        else
            value = plain_to_json(f, base);
        json_set(j, f->name, value);
    }
    return j;
}
