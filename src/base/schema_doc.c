/* SPDX-License-Identifier: MIT */
/* What a table says about itself as a reference page. */
#include "schema_internal.h"

#include <ctype.h>
#include "benchctl/base/strbuf.h"

/* "the load section" → "load-section": the name of a definition and of a section. */
const char *schema_slug(const struct schema *s, char buf[64])
{
    const char *name = s->name;
    size_t n = 0;

    for (const char *const *article = (const char *const[]){"the ", "an ", "a ", NULL}; *article; article++) {
        if (text_starts(name, *article)) {
            name += strlen(*article);
            break;
        }
    }
    size_t len = strlen(name) - (text_ends(name, " section") ? strlen(" section") : 0);
    for (; n < len && n < 63; n++)
        buf[n] = isalnum((unsigned char)name[n]) ? (char)tolower((unsigned char)name[n]) : '-';
    buf[n] = '\0';
    return buf;
}

bool schema_has_table(const struct schema_field *f)
{
    return f->type == SCHEMA_STRUCT || f->type == SCHEMA_OPTIONAL || f->type == SCHEMA_LIST ||
           f->type == SCHEMA_NAMED;
}

void schema_collect(struct schema_set *set, const struct schema *s)
{
    vec_each (known, &set->all) {
        if (*known == s)
            return;
    }
    vec_push(&set->all, s);
    for (const struct schema *part = s; part; part = part->also) {
        for (size_t i = 0; i < part->field_count; i++) {
            if (schema_has_table(&part->fields[i]))
                schema_collect(set, part->fields[i].of);
        }
    }
}

/* What the owner of a node wants, as far as its shape says. */
static const char *shape_text(const struct schema_field *f)
{
    bool map = f->shape && strstr(f->shape, "{\"type\": \"object\"") == f->shape;
    bool list = f->shape && strstr(f->shape, "{\"type\": \"array\"") == f->shape;

    return map ? "map" : list ? "list" : "anything";
}

static void range_cell(const struct schema_field *f, struct strbuf *out)
{
    char least[32], most[32];
    bool unlimited = f->type == SCHEMA_SIZE && f->min < 0;
    bool open_end = !f->max || f->max == INT64_MAX;

    schema_bound_text(f, unlimited ? 0 : f->min, least);
    schema_bound_text(f, f->max, most);
    if (f->min == f->max)
        strbuf_addf(out, ", only %s", least);
    else if (!open_end)
        strbuf_addf(out, ", %s to %s", least, most);
    else if (f->min > 0)
        strbuf_addf(out, ", at least %s", least);
    if (unlimited)
        strbuf_adds(out, " or `unlimited`");
}

static void type_cell(const struct schema_field *f, struct strbuf *out)
{
    char name[64];

    if (f->type == SCHEMA_CHOICE) {
        for (size_t i = 0; f->choices[i]; i++)
            strbuf_addf(out, "%s`%s`", i ? ", " : "", f->choices[i]);
        return;
    }
    if (schema_has_table(f)) {
        const char *link = schema_slug(f->of, name);
        strbuf_addf(out, "%s[%s](#%s)",
                    f->type == SCHEMA_LIST    ? "list of "
                    : f->type == SCHEMA_NAMED ? "names, each with "
                                              : "",
                    link, link);
        return;
    }
    bool node = f->type == SCHEMA_NODE || f->type == SCHEMA_REST;
    const char *text = node ? shape_text(f) : schema_type_text(f->type);
    strbuf_adds(out, text_starts(text, "a ") ? text + 2 : text);
    if (f->min || f->max)
        range_cell(f, out);
}

static void add_cell(struct strbuf *out, const char *text)
{
    for (; *text; text++)
        strbuf_adds(out, *text == '|' ? "\\|" : (const char[]){*text, '\0'});
}

static void section(const struct schema *s, bool first, struct strbuf *out)
{
    char name[64];

    strbuf_addf(out, "%s## %s\n\n", first ? "" : "\n", schema_slug(s, name));
    if (s->help)
        strbuf_addf(out, "%s\n\n", s->help);
    if (s->scalar_help)
        strbuf_addf(out, "%s\n\n", s->scalar_help);
    if (!s->field_count)
        return;
    strbuf_adds(out, "| key | value | default | meaning |\n|---|---|---|---|\n");
    for (const struct schema *part = s; part; part = part->also) {
        for (size_t i = 0; i < part->field_count; i++) {
            const struct schema_field *f = &part->fields[i];
            strbuf_addf(out, f->type == SCHEMA_REST ? "| *%s* | " : "| `%s` | ", f->key);
            type_cell(f, out);
            strbuf_adds(out, " | ");
            if (f->required)
                strbuf_adds(out, "required");
            else if (f->fallback)
                strbuf_addf(out, "`%s`", f->fallback);
            strbuf_adds(out, " | ");
            add_cell(out, f->help ? f->help : "");
            strbuf_adds(out, " |\n");
        }
    }
}

void schema_to_markdown(const struct schema *s, struct strbuf *out)
{
    struct schema_set set = {0};

    schema_collect(&set, s);
    vec_each (one, &set.all) {
        section(*one, *one == s, out);
    }
    vec_release(&set.all);
}
