/* SPDX-License-Identifier: MIT */
/* `benchctl plan`: the scenarios and the order of their trials as a table, CSV or plain ids. */
#include "plan_print.h"

#include <string.h>

#include "benchctl/base/clock.h"
#include "benchctl/base/plain_text.h"
#include "benchctl/base/units.h"
#include "cmd.h"

#define FLUSH_AT ((size_t)64 << 10)
#define ID_WIDTH_MAX 72 /* longer ids push the columns behind them aside */
#define EXACT_MAX                                                                                            \
    20000 /* of more scenarios a table has no times, and its total is an extrapolation from as many */

int plan_output_some(struct plan_output *o, struct error *err)
{
    return o->text.len < FLUSH_AT ? 0 : plan_output_end(o, err);
}

int plan_output_end(struct plan_output *o, struct error *err)
{
    if (print_all(strbuf_text(&o->text), o->text.len, err) < 0)
        return -1;
    strbuf_clear(&o->text);
    return 0;
}

void csv_field(struct strbuf *out, const char *text, bool first)
{
    if (!first)
        strbuf_addc(out, ',');
    csv_add(out, text);
}

/* One way of listing: what all of them need. */
struct listing {
    const struct plan *p;
    struct arena *a; /* reset for each row */
    struct plan_output out;
    int64_t *estimates; /* one per scenario, or NULL */
    int64_t canary_estimate;
    int id_width, number_width;
};

static void listing_init(struct listing *l, const struct plan *p)
{
    *l = (struct listing){.p = p};
    l->a = arena_new();
}

static void listing_release(struct listing *l)
{
    strbuf_release(&l->out.text);
    free(l->estimates);
    arena_free(l->a);
}

/* Of a scenario, or of PLAN_CANARY. */
static const char *id_of(struct listing *l, size_t i)
{
    struct scenario s;

    plan_scenario(l->p, i, l->a, &s);
    return s.id;
}

static int64_t estimate_of(const struct listing *l, size_t scenario)
{
    return scenario == PLAN_CANARY ? l->canary_estimate : l->estimates[scenario];
}

/* Fills in the estimates of all scenarios and of the canary. */
static int estimate(struct listing *l, struct error *err)
{
    l->estimates = xcalloc(plan_counts(l->p)->scenarios, sizeof(*l->estimates));
    for (size_t i = 0; i < plan_counts(l->p)->scenarios; i++) {
        struct settings s;
        if (plan_settings(l->p, i, l->a, &s, err) < 0)
            return -1;
        l->estimates[i] = plan_estimate_ns(&s);
        arena_reset(l->a);
    }
    if (plan_counts(l->p)->canaries) {
        struct settings s;
        if (plan_settings(l->p, PLAN_CANARY, l->a, &s, err) < 0)
            return -1;
        l->canary_estimate = plan_estimate_ns(&s);
    }
    return 0;
}

/* The canary's stands last: it is no scenario. */
int plan_print_ids(const struct plan *p, struct error *err)
{
    struct listing l;
    int result = 0;

    listing_init(&l, p);
    for (size_t i = 0; i < plan_counts(p)->scenarios && result == 0; i++) {
        strbuf_adds(&l.out.text, id_of(&l, i));
        strbuf_addc(&l.out.text, '\n');
        arena_reset(l.a);
        result = plan_output_some(&l.out, err);
    }
    if (plan_counts(p)->canaries)
        strbuf_adds(&l.out.text, PLAN_CANARY_ID "\n");
    if (result == 0)
        result = plan_output_end(&l.out, err);
    listing_release(&l);
    return result;
}

/* What is only a candidate has no place in the order yet, and no trial. */
static void csv_row(struct listing *l, uint64_t position, struct planned_trial t)
{
    struct strbuf *out = &l->out.text;
    struct scenario s;

    plan_scenario(l->p, t.scenario, l->a, &s);
    if (t.trial)
        strbuf_addf(out, "%llu", (unsigned long long)position + 1);
    csv_field(out, s.id, false);
    strbuf_adds(out, ",");
    if (t.trial)
        strbuf_addf(out, "%d", t.trial);
    for (size_t x = 0; x < plan_matrix(l->p)->axis_count; x++)
        csv_field(out, s.values[x]->text, false);
    strbuf_addf(out, ",%.3f\n", (double)estimate_of(l, t.scenario) / (double)NS_PER_S);
    arena_reset(l->a);
}

static int csv_candidates(struct listing *l, struct error *err)
{
    for (size_t i = 0; i < plan_counts(l->p)->scenarios; i++) {
        csv_row(l, 0, (struct planned_trial){.scenario = i});
        if (plan_output_some(&l->out, err) < 0)
            return -1;
    }
    return 0;
}

static int csv_rows(struct listing *l, struct error *err)
{
    const struct matrix *m = plan_matrix(l->p);

    if (estimate(l, err) < 0)
        return -1;
    strbuf_adds(&l->out.text, "position,scenario,trial");
    for (size_t x = 0; x < m->axis_count; x++)
        csv_field(&l->out.text, m->axes[x].name, false);
    strbuf_adds(&l->out.text, ",estimate_s\n");
    if (plan_search_count(l->p))
        return csv_candidates(l, err) < 0 ? -1 : plan_output_end(&l->out, err);
    CLEANUP(plan_schedule_free) struct plan_schedule *order = plan_schedule_new(l->p);
    struct planned_trial t;
    for (uint64_t k = 0; plan_schedule_next(order, &t); k++) {
        csv_row(l, k, t);
        plan_schedule_tell(order, OUTCOME_OK);
        if (plan_output_some(&l->out, err) < 0)
            return -1;
    }
    return plan_output_end(&l->out, err);
}

int plan_print_csv(const struct plan *p, struct error *err)
{
    struct listing l;

    listing_init(&l, p);
    int result = csv_rows(&l, err);
    listing_release(&l);
    return result;
}

static int digits_of(uint64_t n)
{
    return n < 10 ? 1 : 1 + digits_of(n / 10);
}

static void measure_ids(struct listing *l)
{
    l->number_width = digits_of(plan_counts(l->p)->trials + plan_counts(l->p)->canaries);
    l->id_width = (int)strlen("scenario");
    for (size_t i = 0; i < plan_counts(l->p)->scenarios; i++) {
        int width = (int)strlen(id_of(l, i));
        l->id_width = width > l->id_width ? width : l->id_width;
        arena_reset(l->a);
    }
    l->id_width = l->id_width < ID_WIDTH_MAX ? l->id_width : ID_WIDTH_MAX;
}

static int table_scenarios(struct listing *l, struct error *err)
{
    struct strbuf *out = &l->out.text;
    char each[64];

    strbuf_addf(out, "%*s  %-*s%s\n", l->number_width, "#", l->estimates ? l->id_width : 0, "scenario",
                l->estimates ? "  each trial" : "");
    for (size_t i = 0; i < plan_counts(l->p)->scenarios; i++) {
        strbuf_addf(out, "%*zu  %-*s", l->number_width, i + 1, l->estimates ? l->id_width : 0, id_of(l, i));
        if (l->estimates)
            strbuf_addf(out, "  %s", duration_human(l->estimates[i], each));
        strbuf_addc(out, '\n');
        arena_reset(l->a);
        if (plan_output_some(&l->out, err) < 0)
            return -1;
    }
    return 0;
}

static int table_order(struct listing *l, struct error *err)
{
    struct strbuf *out = &l->out.text;
    CLEANUP(plan_schedule_free) struct plan_schedule *order = plan_schedule_new(l->p);
    int64_t start_ns = 0;
    struct planned_trial t;
    char at[64];

    strbuf_addf(out, "\n%*s  %-*s  trial%s\n", l->number_width, "#", l->id_width, "order of trials",
                l->estimates ? "  begins after" : "");
    for (uint64_t k = 0; plan_schedule_next(order, &t); k++) {
        plan_schedule_tell(order, OUTCOME_OK);
        strbuf_addf(out, "%*llu  %-*s  ", l->number_width, (unsigned long long)k + 1, l->id_width,
                    id_of(l, t.scenario));
        if (l->estimates) {
            strbuf_addf(out, "%-5d  %s\n", t.trial, start_ns ? duration_human(start_ns, at) : "0 s");
            start_ns += estimate_of(l, t.scenario);
        } else {
            strbuf_addf(out, "%d\n", t.trial);
        }
        arena_reset(l->a);
        if (plan_output_some(&l->out, err) < 0)
            return -1;
    }
    return 0;
}

void plan_add_canaries(const struct plan *p, struct strbuf *out)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    uint64_t n = plan_counts(p)->canaries;

    if (n)
        strbuf_addf(out, ", and %s%llu canar%s of %s", plan_search_count(p) ? "at most " : "",
                    (unsigned long long)n, n == 1 ? "y" : "ies", plan_canary_base(p, a));
}

static int table_summary(struct listing *l, struct error *err)
{
    static const char *const modes[] = {
        [ORDER_LISTED] = "listed", [ORDER_INTERLEAVED] = "interleaved", [ORDER_RANDOM] = "random"};
    const struct matrix *m = plan_matrix(l->p);
    const struct plan_counts *c = plan_counts(l->p);
    struct strbuf *out = &l->out.text;
    int64_t total_ns;
    size_t looked_at;
    char total[64];

    if (plan_estimate_total_ns(l->p, EXACT_MAX, &total_ns, &looked_at, err) < 0)
        return -1;
    strbuf_addf(out, "\n%llu combination%s", (unsigned long long)c->product, plural(c->product));
    if (c->zipped_away)
        strbuf_addf(out, ", %llu zipped away", (unsigned long long)c->zipped_away);
    if (c->excluded)
        strbuf_addf(out, ", %llu excluded", (unsigned long long)c->excluded);
    if (c->included)
        strbuf_addf(out, ", %llu included", (unsigned long long)c->included);
    if (c->filtered)
        strbuf_addf(out, ", %llu filtered out", (unsigned long long)c->filtered);
    strbuf_addf(out, ": %llu scenario%s\n", (unsigned long long)c->scenarios, plural(c->scenarios));
    strbuf_addf(out, "%s: %llu scenario%s x %lld trial%s = %llu, %s", m->name,
                (unsigned long long)c->scenarios, plural(c->scenarios), (long long)m->trials,
                plural((uint64_t)m->trials), (unsigned long long)c->trials, modes[m->order]);
    if (m->order != ORDER_LISTED)
        strbuf_addf(out, " (seed %lld)", (long long)m->seed);
    if (c->controls)
        strbuf_addf(out, ", %llu of the scenarios control%s of %s", (unsigned long long)c->controls,
                    c->controls == 1 ? "" : "s", plan_control_base(l->p, l->a));
    plan_add_canaries(l->p, out);
    strbuf_addf(out, ", about %s", duration_about(total_ns, total));
    if (looked_at < c->scenarios)
        strbuf_addf(out, ", judging by %zu of the scenarios", looked_at);
    strbuf_addc(out, '\n');
    return plan_output_end(&l->out, err);
}

static int table_parts(struct listing *l, struct error *err)
{
    if (plan_counts(l->p)->scenarios <= EXACT_MAX && estimate(l, err) < 0)
        return -1;
    measure_ids(l);
    if (table_scenarios(l, err) < 0 || table_order(l, err) < 0)
        return -1;
    return table_summary(l, err);
}

int plan_print_table(const struct plan *p, struct error *err)
{
    struct listing l;

    if (plan_search_count(p))
        return plan_print_searches(p, err);
    listing_init(&l, p);
    int result = table_parts(&l, err);
    listing_release(&l);
    return result;
}
