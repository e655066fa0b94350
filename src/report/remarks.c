/* SPDX-License-Identifier: MIT */
/* What limits the results' worth: the same remark about several trials is one line, and names the trials. */
#include "remarks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "benchctl/validity.h"
#include "timeline.h"

enum {
    REMARKS_MAX = 1000, /* of one section: made-up records may hold any number */
    CHECKS_END = 1000,  /* beyond any rule's number */
};

/* --- collecting --- */

/* "256m #1, #2; 64m #1" */
static void add_name(struct remark *m, const struct trial *t)
{
    if (m->trials > TRIALS_NAMED)
        return;
    if (m->last_scenario && strcmp(m->last_scenario, t->scenario) == 0)
        strbuf_addf(&m->names, ", #%d", t->trial);
    else
        strbuf_addf(&m->names, "%s%s #%d", m->names.len ? "; " : "", t->scenario, t->trial);
    m->last_scenario = t->scenario;
}

/* How often, and when first. */
static void add_counts(struct remark *m, const struct said *s)
{
    if (s->count > 0) {
        m->least = fmin(m->least, s->count); /* fmin() takes the one that is a number */
        m->most = fmax(m->most, s->count);
    }
    m->first_ms = fmin(m->first_ms, s->at_ms);
}

static struct remark *new_remark(struct remarks *all, const struct said *s, struct wording *w)
{
    size_t group = all->items.len;
    bool new;

    if (s->by_rule)
        group = *name_index_put(&all->groups, s->label, group, &new);
    struct remark m = {.label = s->label,
                       .wording = *w,
                       .tone = s->tone,
                       .least = NAN,
                       .most = NAN,
                       .first_ms = NAN,
                       .order = s->order,
                       .group = group,
                       .at = all->items.len};
    vec_push(&all->items, m);
    return &all->items.items[m.at];
}

void remark_on(struct remarks *all, const struct trial *t, const struct said *s)
{
    struct wording w = wording_of(s->message, all->r->arena);
    const char *key = s->label[0] ? arena_printf(all->r->arena, "%s%s", s->label, w.form) : w.form;
    bool new;
    size_t at = *name_index_put(&all->index, key, all->items.len, &new);

    if (new &&at >= REMARKS_MAX)
        all->more++;
    if (at >= REMARKS_MAX)
        return;
    struct remark *m = new ? new_remark(all, s, &w) : &all->items.items[at];
    wording_widen(&m->wording, &w);
    add_counts(m, s);
    if (m->last == t)
        return;
    m->last = t;
    m->trials++;
    if (!m->worst || trial_worse(t, m->worst))
        m->worst = t;
    add_name(m, t);
}

/* "2–14 times, first at 3.20 s: " */
static void add_when(const struct remark *m, struct strbuf *out)
{
    char first[32];
    bool often = m->most > 1, timed = !isnan(m->first_ms);

    if (often && m->least < m->most)
        strbuf_addf(out, "%.15g–%.15g times", m->least, m->most);
    else if (often)
        strbuf_addf(out, "%.15g times", m->most);
    if (timed)
        strbuf_addf(out, "%sat %s", often ? ", first " : "", seconds_text(m->first_ms, first));
    strbuf_adds(out, often || timed ? ": " : "");
}

static const char *remark_text(struct report *r, const struct remark *m)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    strbuf_adds(&text, m->label);
    add_when(m, &text);
    wording_add(&m->wording, &text);
    if (m->trials >= ALL_MIN && m->trials == r->sweep->trial_count)
        strbuf_addf(&text, " (all %zu trials", m->trials);
    else
        strbuf_addf(&text, " (%zu trial%s: %s", m->trials, plural(m->trials), strbuf_text(&m->names));
    if (m->trials > TRIALS_NAMED && m->trials < r->sweep->trial_count)
        strbuf_addf(&text, " and %zu more", m->trials - TRIALS_NAMED);
    strbuf_addc(&text, ')');
    return arena_strdup(r->arena, strbuf_text(&text));
}

/* Of one rule what is true of the worst trial comes first, then what is true of most. */
static int compare_remarks(const void *a, const void *b)
{
    const struct remark *x = a, *y = b;

    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (trial_worse(x->worst, y->worst) != trial_worse(y->worst, x->worst))
        return trial_worse(x->worst, y->worst) ? -1 : 1;
    if (x->trials != y->trials)
        return x->trials > y->trials ? -1 : 1;
    return x->at < y->at ? -1 : 1;
}

/* Those of one label, from the first on. */
static size_t write_group(struct remarks *all, struct section *s, const struct remark *m)
{
    const struct remark *end = all->items.items + all->items.len;
    size_t n = 1, shown;

    while (m + n < end && m[n].group == m->group)
        n++;
    shown = n > WORDINGS_SHOWN ? WORDINGS_SHOWN : n;
    if (s->lines.len + shown + (shown < n) > LINES_MAX) {
        all->more += n;
        return n;
    }
    for (size_t i = 0; i < shown; i++)
        vec_push(&s->lines, (struct line){remark_text(all->r, &m[i]), NULL, m->tone});
    if (shown < n)
        vec_push(&s->lines, (struct line){arena_printf(all->r->arena,
                                                       "%sand in %zu other wording%s, in the trials' records",
                                                       m->label, n - shown, plural(n - shown)),
                                          NULL, m->tone});
    return n;
}

void add_remarks(struct remarks *all, struct section *s)
{
    if (all->items.len)
        qsort(all->items.items, all->items.len, sizeof(*all->items.items), compare_remarks);
    for (size_t i = 0; i < all->items.len;)
        i += write_group(all, s, &all->items.items[i]);
    if (all->more)
        section_line(s, arena_printf(all->r->arena, "and %zu more, in the trials' records", all->more));
    vec_each (m, &all->items)
        strbuf_release(&m->names);
    vec_release(&all->items);
    name_index_release(&all->index);
    name_index_release(&all->groups);
}

struct section *write_remarks(struct remarks *all, const char *heading)
{
    struct section *s = all->items.len ? section_new(all->r, heading) : NULL;

    add_remarks(all, s);
    return s;
}

/* --- both kinds of remark --- */

/* The number of a rule; older records have it in the table only. */
static const char *check_of(const struct validity_result *v)
{
    for (size_t i = 0; i < validity_rule_count && !v->check; i++)
        if (text_equal(validity_rules[i].id, v->id))
            return validity_rules[i].check;
    return v->check;
}

/* "V1", "V2", ... "V26"; those without a number behind them. */
static size_t check_order(const char *check)
{
    size_t n = 0;

    for (const char *at = check && check[0] == 'V' ? check + 1 : ""; *at >= '0' && *at <= '9'; at++)
        n = n < CHECKS_END ? 10 * n + (size_t)(*at - '0') : n;
    return n && n < CHECKS_END ? n : CHECKS_END - 1;
}

static void judge(struct remarks *all, const struct trial *t, const struct validity_result *v)
{
    const char *check = check_of(v);
    struct said said = {
        .message = v->message ? v->message : "no message", .by_rule = true, .count = NAN, .at_ms = NAN};

    if (text_equal(v->verdict, "PASS"))
        return;
    said.label = arena_printf(all->r->arena, "%s %s%s%s: ", v->verdict ? v->verdict : "?", check ? check : "",
                              check ? " " : "", v->id ? v->id : "?");
    said.tone = text_equal(v->verdict, "FAIL") ? TONE_BAD : TONE_WARN;
    said.order = check_order(check) + (said.tone == TONE_BAD ? 0 : CHECKS_END);
    remark_on(all, t, &said);
}

void list_validity(struct report *r)
{
    struct remarks all = {.r = r};

    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        for (size_t k = 0; k < c->trial_count; k++)
            for (size_t v = 0; v < c->trials[k]->validity_count; v++)
                judge(&all, c->trials[k], &c->trials[k]->validity[v]);
        for (size_t k = 0; k < c->trial_count; k++) {
            const struct validity_result *mark = canary_mark(r, c->trials[k]);
            if (mark)
                judge(&all, c->trials[k], mark);
        }
    }
    (void)write_remarks(&all, "Validity");
}

/* Earlier attempts count nowhere; their records are kept. */
static void note_attempts(struct remarks *all, const struct trial *t)
{
    const struct said said = {
        .label = arena_printf(all->r->arena, "attempt %d: ", t->attempt),
        .message = t->attempt > 2
                       ? "those before it ended in 'invalid' or 'error' and are in no figure; their reasons "
                         "are in trial.json of the folders N.attempt-K beside the trial's"
                       : "the one before it ended in 'invalid' or 'error' and is in no figure; its reason is "
                         "in trial.json of the folder N.attempt-1 beside the trial's",
        .count = NAN,
        .at_ms = NAN};

    if (t->attempt > 1)
        remark_on(all, t, &said);
}

void list_notes(struct report *r)
{
    struct remarks all = {.r = r};

    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        for (size_t k = 0; k < c->trial_count; k++) {
            const struct trial *t = c->trials[k];
            note_attempts(&all, t);
            for (size_t n = 0; n < t->note_count; n++)
                if (t->notes[n])
                    remark_on(
                        &all, t,
                        &(struct said){.label = "", .message = t->notes[n], .count = NAN, .at_ms = NAN});
        }
    }
    (void)write_remarks(&all, "Notes");
}
