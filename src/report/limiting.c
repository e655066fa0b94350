/* SPDX-License-Identifier: MIT */
/* What kept each scenario from being faster, in one word, with the evidence. */
#include "report_internal.h"

static const struct validity_limit *limit_of(const struct report *r, const struct cell *c)
{
    for (size_t i = 0; i < r->verdict.limit_count; i++)
        if (strcmp(r->verdict.limits[i].scenario, c->scenario) == 0)
            return &r->verdict.limits[i];
    return NULL;
}

static struct table *limiting_table(struct report *r)
{
    struct table *t = table_new(r, r->axis_count + 2, r->axis_count);

    for (size_t i = 0; i < r->axis_count; i++)
        t->columns[i] = (struct column){r->axes[i].name, "", false};
    t->columns[r->axis_count] = (struct column){"limited by", "", false};
    t->columns[r->axis_count + 1] = (struct column){"evidence", "", false};
    t->wide = true;
    return t;
}

void list_limiting(struct report *r)
{
    struct section *s = NULL;
    bool any = false;

    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        const struct validity_limit *l = limit_of(r, c);
        if (!l || l->kind == LIMITED_UNKNOWN)
            continue;
        if (!s) {
            s = section_new(r, "What limited the scenarios");
            s->table = limiting_table(r);
        }
        any |= l->kind != LIMITED_BY_NOTHING;
        struct field *row = table_row(r, s->table);
        for (size_t k = 0; k < r->axis_count; k++)
            row[k].text = cell_value(r, c, k);
        row[r->axis_count] = (struct field){.text = validity_limit_name(l->kind),
                                            .tone = l->kind == LIMITED_GENERATOR    ? TONE_WARN
                                                    : l->kind == LIMITED_BY_NOTHING ? TONE_FAINT
                                                                                    : TONE_PLAIN};
        row[r->axis_count + 1].text = l->evidence;
    }
    if (s)
        s->detail = !any;
}

void limiting_json(const struct report *r, const struct cell *c, struct json *out)
{
    const struct validity_limit *l = limit_of(r, c);

    if (!l || l->kind == LIMITED_UNKNOWN) {
        json_set(out, "limited_by", json_new_null());
        return;
    }
    json_set_text(out, "limited_by", validity_limit_name(l->kind));
    json_set_text(out, "limited_by_evidence", l->evidence);
}
