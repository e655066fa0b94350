/* SPDX-License-Identifier: MIT */
/* `benchctl plan` of a matrix with a search, as a table: one row per combination that is searched. */
#include "plan_print.h"

#include <string.h>

#include "benchctl/base/clock.h"
#include "benchctl/base/units.h"
#include "cmd.h"
#include "search_print.h"

#define AT_MOST "at most "
#define LOOKED_AT_MAX 20000 /* of more scenarios the time is an extrapolation from as many */

struct searches {
    const struct plan *p;
    struct arena *a; /* reset for each row */
    struct plan_output out;
    int id_width, text_width, trials_width;
    uint64_t candidates;
};

static const char *range_text(struct searches *l, const struct plan_search *s)
{
    const struct matrix *m = plan_matrix(l->p);
    char step[32];

    if (s->len == 1)
        return arena_printf(l->a, "search %s alone", s->from);
    return arena_printf(l->a, "search %s..%s by %s, at most %llu probes", s->from, s->to,
                        size_format(m->axes[matrix_searched(m)].search->step_bytes, step),
                        (unsigned long long)s->max_probes);
}

static void widen(int *width, const char *text)
{
    int len = (int)strlen(text);

    *width = len > *width ? len : *width;
}

static void measure(struct searches *l)
{
    widen(&l->id_width, "combination");
    widen(&l->trials_width, "trials");
    for (size_t i = 0; i < plan_search_count(l->p); i++) {
        struct plan_search s;
        plan_search(l->p, i, l->a, &s);
        widen(&l->id_width, s.id);
        widen(&l->text_width, range_text(l, &s));
        widen(&l->trials_width, arena_printf(l->a, AT_MOST "%llu", (unsigned long long)s.max_trials));
        l->candidates += s.len;
        arena_reset(l->a);
    }
    for (size_t i = 0; i < plan_counts(l->p)->scenarios; i++) {
        struct scenario s;
        if (plan_is_candidate(l->p, i))
            continue;
        plan_scenario(l->p, i, l->a, &s);
        widen(&l->id_width, s.id);
        arena_reset(l->a);
    }
}

static int each_trial(struct searches *l, size_t scenario, const char **ret, struct error *err)
{
    struct settings s;
    char text[64];

    if (plan_settings(l->p, scenario, l->a, &s, err) < 0)
        return -1;
    *ret = arena_strdup(l->a, duration_human(plan_estimate_ns(&s), text));
    return 0;
}

struct row {
    uint64_t number, trials;
    size_t scenario; /* whose estimate stands for all */
    const char *id, *what, *bound;
};

static int print_row(struct searches *l, const struct row *r, struct error *err)
{
    const char *each = "", *trials = arena_printf(l->a, "%s%llu", r->bound, (unsigned long long)r->trials);

    if (each_trial(l, r->scenario, &each, err) < 0)
        return -1;
    strbuf_addf(&l->out.text, "%3llu  %-*s  %-*s  %-*s  %s\n", (unsigned long long)r->number, l->id_width,
                r->id, l->text_width, r->what, l->trials_width, trials, each);
    arena_reset(l->a);
    return plan_output_some(&l->out, err);
}

static int search_rows(struct searches *l, struct error *err)
{
    for (size_t i = 0; i < plan_search_count(l->p); i++) {
        struct plan_search s;
        plan_search(l->p, i, l->a, &s);
        const struct row r = {.number = i + 1,
                              .trials = s.max_trials,
                              .scenario = s.sizes[s.len - 1],
                              .id = s.id,
                              .what = range_text(l, &s),
                              .bound = AT_MOST};
        if (print_row(l, &r, err) < 0)
            return -1;
    }
    return 0;
}

/* What includes add is run as ever. */
static int other_rows(struct searches *l, struct error *err)
{
    struct row r = {.number = plan_search_count(l->p),
                    .trials = (uint64_t)plan_matrix(l->p)->trials,
                    .what = "no search: an include",
                    .bound = ""};

    for (r.scenario = 0; r.scenario < plan_counts(l->p)->scenarios; r.scenario++) {
        struct scenario s;
        if (plan_is_candidate(l->p, r.scenario))
            continue;
        plan_scenario(l->p, r.scenario, l->a, &s);
        r.number++;
        r.id = s.id;
        if (print_row(l, &r, err) < 0)
            return -1;
    }
    return 0;
}

static int summary(struct searches *l, struct error *err)
{
    const struct matrix *m = plan_matrix(l->p);
    const struct plan_counts *c = plan_counts(l->p);
    struct strbuf *out = &l->out.text;
    size_t looked_at, searches = plan_search_count(l->p);
    int64_t total_ns;
    char total[64];

    if (plan_estimate_total_ns(l->p, LOOKED_AT_MAX, &total_ns, &looked_at, err) < 0)
        return -1;
    strbuf_adds(out, m->order == ORDER_LISTED
                         ? "\norder of trials: one search after the other\n"
                         : "\norder of trials: rounds of one trial of each search, every round shuffled\n");
    strbuf_adds(out, "search: ");
    search_text(m, out);
    strbuf_addf(out, ", %llu combination%s", (unsigned long long)c->product, plural(c->product));
    if (c->excluded)
        strbuf_addf(out, ", %llu excluded", (unsigned long long)c->excluded);
    if (c->included)
        strbuf_addf(out, ", %llu included", (unsigned long long)c->included);
    if (c->filtered)
        strbuf_addf(out, ", %llu filtered out", (unsigned long long)c->filtered);
    strbuf_addf(out, "; %zu search%s from %llu scenario%s\n%s: at most %llu trial%s", searches,
                searches == 1 ? " that chooses" : "es that choose", (unsigned long long)l->candidates,
                plural(l->candidates), m->name, (unsigned long long)c->trials, plural(c->trials));
    if (m->order != ORDER_LISTED)
        strbuf_addf(out, " (seed %lld)", (long long)m->seed);
    plan_add_canaries(l->p, out);
    strbuf_addf(out, ", some %.0f are likely, about %s\n", plan_expected_trials(l->p),
                duration_about(total_ns, total));
    return plan_output_end(&l->out, err);
}

int plan_print_searches(const struct plan *p, struct error *err)
{
    struct searches l = {.p = p, .a = arena_new()};

    measure(&l);
    strbuf_addf(&l.out.text, "%3s  %-*s  %-*s  %-*s  each trial\n", "#", l.id_width, "combination",
                l.text_width, "what of it", l.trials_width, "trials");
    int result = search_rows(&l, err) < 0 || other_rows(&l, err) < 0 ? -1 : summary(&l, err);
    strbuf_release(&l.out.text);
    arena_free(l.a);
    return result;
}
