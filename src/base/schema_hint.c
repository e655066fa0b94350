/* SPDX-License-Identifier: MIT */
/* Hints for what a table does not have, or has otherwise. */
#include <string.h>

#include "benchctl/base/units.h"
#include "schema_internal.h"

const char *schema_other_name(const struct schema *s, const char *key)
{
    for (; s; s = s->also) {
        for (const struct schema_alias *a = s->aliases; a && a->word; a++)
            if (strcmp(a->word, key) == 0)
                return a->key;
    }
    return NULL;
}

/* Could the text be the value of this field? */
static bool fits(const struct schema_field *f, const char *text)
{
    struct error ignored = ERROR_INIT;
    int64_t whole;

    for (size_t i = 0; f->type == SCHEMA_CHOICE && f->choices[i]; i++)
        if (strcmp(f->choices[i], text) == 0)
            return true;
    if (f->type == SCHEMA_INT)
        return integer_parse(text, &whole, &ignored) == 0;
    return f->type == SCHEMA_DURATION && duration_parse(text, &whole, &ignored) == 0;
}

static const char *example_of(const struct schema_field *f)
{
    return f->type == SCHEMA_CHOICE ? f->choices[0] : f->type == SCHEMA_DURATION ? "30s" : NULL;
}

int schema_want_map(const struct schema *s, const struct node *n, struct error *err)
{
    const struct schema_field *field = NULL;
    const char *value = NULL;

    for (size_t i = 0; n->kind == NODE_SCALAR && i < s->field_count && !value; i++) {
        if (!fits(&s->fields[i], n->text))
            continue;
        field = &s->fields[i];
        value = n->text;
    }
    for (size_t i = 0; i < s->field_count && !value; i++) {
        field = &s->fields[i];
        value = example_of(field);
    }
    if (!value || strchr(s->name, ' '))
        return -1;
    return error_hint(err, "for instance %s: {%s: %s}", s->name, field->key, value);
}
