/* SPDX-License-Identifier: MIT */
/* What the tables say about a trial's record as a JSON Schema, for those who read it. */
#include "fields.h"

static struct json *types(const char *one, const char *other)
{
    struct json *j = json_new_object(), *list = json_new_array();

    if (!other) {
        json_free(list);
        json_set_text(j, "type", one);
        return j;
    }
    json_append(list, json_new_text(one));
    json_append(list, json_new_text(other));
    json_set(j, "type", list);
    return j;
}

static struct json *limit_schema(void)
{
    struct json *j = json_new_object(), *list = json_new_array(), *unlimited = json_new_object();

    json_set_text(unlimited, "const", "unlimited");
    json_append(list, types("number", "null"));
    json_append(list, unlimited);
    json_set(j, "anyOf", list);
    return j;
}

static struct json *outcome_schema(void)
{
    struct json *j = json_new_object(), *list = json_new_array();

    for (int o = 0; o < OUTCOMES; o++)
        json_append(list, json_new_text(outcome_name((enum outcome)o)));
    json_set(j, "enum", list);
    return j;
}

static struct json *with(struct json *j, const char *key, struct json *of)
{
    json_set(j, key, of);
    return j;
}

static struct json *record_schema(const struct record *r, bool optional);

static struct json *field_schema(const struct field *f)
{
    switch (f->kind) {
    case FIELD_NUMBER:
        return types("number", "null");
    case FIELD_LIMIT:
        return limit_schema();
    case FIELD_INT:
        return types("integer", NULL);
    case FIELD_BOOL:
        return types("boolean", NULL);
    case FIELD_TEXT:
        return types("string", "null");
    case FIELD_JSON:
        return json_new_object(); /* as a generator gave it */
    case FIELD_OUTCOME:
        return outcome_schema();
    case FIELD_OBJECT:
    case FIELD_OPTIONAL:
        return record_schema(f->of, f->kind == FIELD_OPTIONAL);
    case FIELD_LIST:
        return with(types("array", NULL), "items", record_schema(f->of, false));
    case FIELD_TEXTS:
        return with(types("array", NULL), "items", types("string", "null"));
    case FIELD_MAP:
        return with(types("object", NULL), "additionalProperties", record_schema(f->of, false));
    case FIELD_PAIRS:
        return with(types("object", NULL), "additionalProperties", field_schema(f->of->fields));
    }
    return json_new_object();
}

/* All members are always written; more may come. */
static struct json *record_schema(const struct record *r, bool optional)
{
    struct json *j = types("object", optional ? "null" : NULL), *required = json_new_array(),
                *properties = json_new_object();

    for (const struct field *f = r->fields; f < r->fields + r->count; f++) {
        json_append(required, json_new_text(f->name));
        json_set(properties, f->name, field_schema(f));
    }
    json_set(j, "required", required);
    json_set(j, "properties", properties);
    return j;
}

struct json *trial_json_schema(void)
{
    struct json *j = record_schema(&trial_record, false);

    json_set_text(j, "description", "The record of one execution, as in trial.json: docs/outcomes.md");
    return j;
}
