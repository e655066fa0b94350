/* SPDX-License-Identifier: MIT */
/* What a table says about itself as a JSON Schema, for editors. */
#include "schema_internal.h"

#include "benchctl/base/units.h"

#define REFERENCE_PATTERN "\\$\\{.+\\}"
#define SIZE_PATTERN "^([0-9]+(\\.[0-9]+)?|\\.[0-9]+)([bB]|[kKmMgGtT]([iI]?[bB])?)$"
#define DURATION_PATTERN "^([0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h|d))+$"

static struct json *parsed(const char *text)
{
    struct error err = ERROR_INIT;
    struct json *j = NULL;

    if (json_parse(text, strlen(text), "a shape", &j, &err) < 0)
        return json_new_object(); /* a test holds every shape against the parser */
    return j;
}

static struct json *any_of(struct json *one, struct json *other)
{
    struct json *object = json_new_object(), *list = json_new_array();

    json_append(list, one);
    json_append(list, other);
    json_set(object, "anyOf", list);
    return object;
}

static struct json *pattern(const char *text)
{
    struct json *object = json_new_object();

    json_set_text(object, "type", "string");
    json_set_text(object, "pattern", text);
    return object;
}

static struct json *simple(const char *type)
{
    struct json *object = json_new_object();

    json_set_text(object, "type", type);
    return object;
}

static struct json *integer_schema(const struct schema_field *f)
{
    struct json *number = simple("integer");

    if (f->min || f->max) {
        json_set_int(number, "minimum", f->min);
        if (f->max)
            json_set_int(number, "maximum", f->max);
    }
    return any_of(number, pattern("^-?[0-9]+$|" REFERENCE_PATTERN));
}

static struct json *any_text(void)
{
    return parsed("{\"type\": [\"string\", \"number\", \"boolean\"]}");
}

/* A choice such as `2` is a number to an editor, unless it stands in quotes. */
static void add_choice(struct json *list, const char *choice)
{
    struct error ignored = ERROR_INIT;
    int64_t whole;
    double number;

    json_append(list, json_new_text(choice));
    if (integer_parse(choice, &whole, &ignored) == 0)
        json_append(list, json_new_int(whole));
    else if (number_parse(choice, &number, &ignored) == 0)
        json_append(list, json_new_number(number));
}

static struct json *choice_schema(const struct schema_field *f)
{
    struct json *object = json_new_object(), *list = json_new_array();

    for (size_t i = 0; f->choices[i]; i++)
        add_choice(list, f->choices[i]);
    json_set(object, "enum", list);
    return any_of(object, pattern(REFERENCE_PATTERN));
}

static struct json *reference_to(const struct schema *s)
{
    struct json *object = json_new_object();
    char name[64], path[80];

    (void)snprintf(path, sizeof(path), "#/$defs/%s", schema_slug(s, name));
    json_set_text(object, "$ref", path);
    return object;
}

static struct json *map_of(struct json *values, bool free_keys)
{
    struct json *object = simple("object");

    if (free_keys)
        json_set(object, "patternProperties", parsed("{\"^x-\": {}}"));
    json_set(object, "additionalProperties", values);
    return object;
}

static struct json *list_of(struct json *items)
{
    struct json *object = simple("array");

    json_set(object, "items", items);
    return object;
}

static struct json *field_schema(const struct schema_field *f)
{
    switch (f->type) {
    case SCHEMA_TEXT:
        return any_text();
    case SCHEMA_INT:
        return integer_schema(f);
    case SCHEMA_NUMBER:
        return any_of(simple("number"), pattern("^-?[0-9.]+$|" REFERENCE_PATTERN));
    case SCHEMA_BOOL:
        return any_of(simple("boolean"), pattern(REFERENCE_PATTERN));
    case SCHEMA_SIZE:
        return any_of(pattern(f->min < 0 ? SIZE_PATTERN "|^unlimited$|" REFERENCE_PATTERN
                                         : SIZE_PATTERN "|" REFERENCE_PATTERN),
                      parsed("{\"const\": 0}"));
    case SCHEMA_DURATION:
        return any_of(pattern(DURATION_PATTERN "|" REFERENCE_PATTERN), parsed("{\"const\": 0}"));
    case SCHEMA_CHOICE:
        return choice_schema(f);
    case SCHEMA_STRUCT:
    case SCHEMA_OPTIONAL:
        return reference_to(f->of);
    case SCHEMA_LIST:
        return list_of(reference_to(f->of));
    case SCHEMA_NAMED:
        return map_of(reference_to(f->of), f->of->free_keys);
    case SCHEMA_TEXTS:
        return any_of(any_text(), list_of(any_text()));
    case SCHEMA_TEXT_MAP:
        return map_of(any_text(), false);
    case SCHEMA_NODE:
    case SCHEMA_REST:
        break;
    }
    return f->shape ? parsed(f->shape) : json_new_object();
}

static void add_fields(const struct schema *s, struct json *properties, struct json *required,
                       struct json **rest)
{
    for (size_t i = 0; i < s->field_count; i++) {
        const struct schema_field *f = &s->fields[i];
        struct json *j = field_schema(f);
        if (f->help)
            json_set_text(j, "description", f->help);
        if (f->fallback)
            json_set_text(j, "default", f->fallback);
        if (f->required)
            json_append(required, json_new_text(f->key));
        if (f->type == SCHEMA_REST)
            *rest = j;
        else
            json_set(properties, f->key, j);
    }
}

static struct json *definition(const struct schema *s)
{
    struct json *object = simple("object"), *properties = json_new_object(), *required = json_new_array(),
                *rest = NULL;

    if (s->help)
        json_set_text(object, "description", s->help);
    for (const struct schema *part = s; part; part = part->also)
        add_fields(part, properties, required, &rest);
    json_set(object, "properties", properties);
    if (s->free_keys)
        json_set(object, "patternProperties", parsed("{\"^x-\": {}}"));
    if (json_len(required))
        json_set(object, "required", required);
    else
        json_free(required);
    json_set(object, "additionalProperties", rest ? rest : json_new_bool(false));
    if (!s->from_scalar)
        return object;
    return s->field_count ? any_of(any_text(), object) : (json_free(object), any_text());
}

struct json *schema_to_json_schema(const struct schema *s, const char *id)
{
    struct json *whole = json_new_object(), *defs = json_new_object(), *top = definition(s);
    struct schema_set set = {0};
    char name[64];

    json_set_text(whole, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_set_text(whole, "$id", id);
    json_set_text(whole, "title", schema_slug(s, name));
    for (void *it = json_iter(top); it; it = json_iter_next(top, it))
        json_set(whole, json_iter_key(it), json_clone(json_iter_value(it)));
    json_free(top);
    schema_collect(&set, s);
    for (size_t i = 1; i < set.all.len; i++)
        json_set(defs, schema_slug(set.all.items[i], name), definition(set.all.items[i]));
    json_set(whole, "$defs", defs);
    vec_release(&set.all);
    return whole;
}
