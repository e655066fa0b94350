/* SPDX-License-Identifier: MIT */
/* `benchctl plan --explain`: for each combination, which rule made, changed or dropped it. */
#include "plan_print.h"

#include <string.h>

#include "cmd.h"

struct reasons {
    const struct plan *p;
    enum plan_style style;
    struct plan_output out;
    size_t rows;
};

static const char *const fates[] = {
    [PLAN_SCENARIO] = "scenario", [PLAN_EXCLUDED] = "excluded", [PLAN_FILTERED] = "filtered"};

static void add_position(struct strbuf *out, struct position at)
{
    strbuf_addf(out, "%s:%d:%d", at.file ? at.file : "", at.line, at.column);
}

/* What made it, what dropped it, and what changes it, each as text; empty when nothing did. */
struct reason_texts {
    struct strbuf made, dropped, changed;
};

static void reason_texts_release(struct reason_texts *t)
{
    strbuf_release(&t->made);
    strbuf_release(&t->dropped);
    strbuf_release(&t->changed);
}

static void reason_texts_fill(const struct plan *p, const struct plan_explanation *e, struct reason_texts *t)
{
    const struct matrix *m = plan_matrix(p);

    if (e->include) {
        strbuf_adds(&t->made, "include ");
        add_position(&t->made, e->include->at);
    } else {
        strbuf_adds(&t->made, "axes");
        if (matrix_searched(m) < m->axis_count) {
            strbuf_adds(&t->made, " and search ");
            add_position(&t->made, m->axes[matrix_searched(m)].search->at);
        }
    }
    if (e->fate == PLAN_EXCLUDED) {
        strbuf_adds(&t->dropped, "exclude ");
        add_position(&t->dropped, m->excludes[e->exclude].at);
    } else if (e->fate == PLAN_FILTERED) {
        strbuf_addf(&t->dropped, "filter '%s'", e->filter);
    }
    for (size_t o = 0; o < m->override_count; o++) {
        if (!e->overrides[o])
            continue;
        strbuf_adds(&t->changed, t->changed.len ? ", " : "override ");
        add_position(&t->changed, m->overrides[o].when.at);
    }
}

static void table_row(struct reasons *r, const struct plan_explanation *e, const struct reason_texts *t)
{
    struct strbuf *out = &r->out.text;

    strbuf_addf(out, "%-8s  %-40s  made by %s", fates[e->fate], e->id, strbuf_text(&t->made));
    if (t->changed.len)
        strbuf_addf(out, "; changed by %s", strbuf_text(&t->changed));
    if (t->dropped.len)
        strbuf_addf(out, "; dropped by %s", strbuf_text(&t->dropped));
    strbuf_addc(out, '\n');
}

static void json_row(struct reasons *r, const struct plan_explanation *e, const struct reason_texts *t)
{
    CLEANUP(json_free) struct json *row = json_new_object();

    json_set_text(row, "id", e->id);
    json_set_text(row, "fate", fates[e->fate]);
    json_set_text(row, "made_by", strbuf_text(&t->made));
    json_set_text(row, "changed_by", t->changed.len ? strbuf_text(&t->changed) : NULL);
    json_set_text(row, "dropped_by", t->dropped.len ? strbuf_text(&t->dropped) : NULL);
    strbuf_adds(&r->out.text, r->rows ? ",\n  " : "[\n  ");
    json_write(row, JSON_STYLE_COMPACT, &r->out.text);
}

static void csv_row(struct reasons *r, const struct plan_explanation *e, const struct reason_texts *t)
{
    struct strbuf *out = &r->out.text;

    if (!r->rows)
        strbuf_adds(out, "scenario,fate,made_by,changed_by,dropped_by\n");
    csv_field(out, e->id, true);
    csv_field(out, fates[e->fate], false);
    csv_field(out, strbuf_text(&t->made), false);
    csv_field(out, strbuf_text(&t->changed), false);
    csv_field(out, strbuf_text(&t->dropped), false);
    strbuf_addc(out, '\n');
}

static int print_reason(const struct plan_explanation *e, void *data, struct error *err)
{
    struct reasons *r = data;
    CLEANUP_VALUE(reason_texts_release) struct reason_texts t = {0};

    reason_texts_fill(r->p, e, &t);
    if (r->style == PLAN_STYLE_JSON)
        json_row(r, e, &t);
    else if (r->style == PLAN_STYLE_CSV)
        csv_row(r, e, &t);
    else
        table_row(r, e, &t);
    r->rows++;
    return plan_output_some(&r->out, err);
}

static void summary(struct reasons *r)
{
    const struct plan_counts *c = plan_counts(r->p);
    const struct matrix *m = plan_matrix(r->p);
    const struct node *zip = m->root ? node_get(m->root, "zip") : NULL;

    strbuf_addf(&r->out.text, "\n%llu combinations, %llu zipped away", (unsigned long long)c->product,
                (unsigned long long)c->zipped_away);
    if (c->zipped_away && zip) {
        strbuf_adds(&r->out.text, " (never made: zip ");
        add_position(&r->out.text, zip->at);
        strbuf_adds(&r->out.text, ")");
    }
    strbuf_addf(&r->out.text, ", %llu excluded, %llu included, %llu filtered out: %llu scenarios\n",
                (unsigned long long)c->excluded, (unsigned long long)c->included,
                (unsigned long long)c->filtered, (unsigned long long)c->scenarios);
}

int plan_print_reasons(const struct plan *p, enum plan_style style, struct error *err)
{
    struct reasons r = {.p = p, .style = style};
    int result = plan_explain(p, print_reason, &r, err);

    if (result == 0 && style == PLAN_STYLE_TABLE)
        summary(&r);
    if (result == 0 && style == PLAN_STYLE_JSON)
        strbuf_adds(&r.out.text, "\n]\n");
    if (result == 0)
        result = plan_output_end(&r.out, err);
    strbuf_release(&r.out.text);
    return result;
}
