/* SPDX-License-Identifier: MIT */
#include "search_print.h"

#include "benchctl/base/name_index.h"
#include "benchctl/base/units.h"

static const struct axis *searched_axis(const struct matrix *m)
{
    size_t i = matrix_searched(m);

    return i < m->axis_count ? &m->axes[i] : NULL;
}

/* "ok or degraded" */
static void add_until(const struct axis_search *s, const char *between, struct strbuf *out)
{
    const char *before = "";

    for (int o = 0; o < OUTCOMES; o++) {
        if (!(s->until >> o & 1))
            continue;
        strbuf_addf(out, "%s%s", before, outcome_name((enum outcome)o));
        before = between;
    }
}

void search_text(const struct matrix *m, struct strbuf *out)
{
    const struct axis *x = searched_axis(m);
    char from[32], to[32], step[32];

    if (!x)
        return;
    strbuf_addf(out, "%s %s..%s by %s until ", x->name, size_format(x->search->from_bytes, from),
                size_format(x->search->to_bytes, to), size_format(x->search->step_bytes, step));
    add_until(x->search, ", ", out);
}

/* The trials of a sweep by scenario and number. */
struct records {
    const struct sweep *sweep;
    struct name_index by_name;
    struct arena *a;
};

static void records_fill(struct records *r)
{
    bool fresh;

    for (size_t i = 0; i < r->sweep->trial_count; i++) {
        const struct trial *t = &r->sweep->trials[i];
        (void)name_index_put(&r->by_name, arena_printf(r->a, "%s %d", t->scenario, t->trial), i, &fresh);
    }
}

static const struct trial *records_find(const struct records *r, const struct plan *p, size_t scenario,
                                        int number)
{
    struct scenario s;

    plan_scenario(p, scenario, r->a, &s);
    const size_t *i = name_index_get(&r->by_name, arena_printf(r->a, "%s %d", s.id, number));
    return i ? &r->sweep->trials[*i] : NULL;
}

/* "128m: crashed: OOM-killed 4 times" */
static void add_failure(const struct records *r, const struct plan *p, const struct plan_finding *f,
                        struct strbuf *out)
{
    const struct trial *t = records_find(r, p, f->fails, f->failed_trial);
    struct scenario s;

    plan_scenario(p, f->fails, r->a, &s);
    strbuf_addf(out, "%s: %s", s.values[matrix_searched(plan_matrix(p))]->text, outcome_name(f->failed));
    if (t && t->reason)
        strbuf_addf(out, ": %s", t->reason);
}

static const char *size_text(const struct records *r, const struct plan *p, size_t scenario)
{
    struct scenario s;

    plan_scenario(p, scenario, r->a, &s);
    return s.values[matrix_searched(plan_matrix(p))]->text;
}

static void add_answer(const struct records *r, const struct plan *p, const struct plan_finding *f,
                       struct strbuf *out)
{
    const struct axis *x = searched_axis(plan_matrix(p));

    if (f->passes == SIZE_MAX)
        strbuf_addf(out, "no %s up to %s is ", x->name, size_text(r, p, f->fails));
    else
        strbuf_addf(out, "smallest %s that is ", x->name);
    add_until(x->search, " or ", out);
    if (f->passes != SIZE_MAX)
        strbuf_addf(out, ": %s", size_text(r, p, f->passes));
    if (f->fails == SIZE_MAX) {
        strbuf_adds(out, " (the smallest that was asked for)");
        return;
    }
    strbuf_adds(out, " (");
    add_failure(r, p, f, out);
    strbuf_addf(out, ")%s",
                f->certain ? "" : "; uncertain: that may be the fault of the environment or of the load");
}

static void add_line(const struct records *r, const struct plan *p, const struct plan_finding *f,
                     struct strbuf *out)
{
    if (f->done) {
        add_answer(r, p, f, out);
    } else {
        strbuf_adds(out, "not found yet");
        if (f->passes != SIZE_MAX)
            strbuf_addf(out, ": %s will do", size_text(r, p, f->passes));
        if (f->fails != SIZE_MAX)
            strbuf_addf(out, ", %s will not", size_text(r, p, f->fails));
    }
    strbuf_addc(out, '\n');
}

/* The schedule is told what the sweep had for an answer, as far as it went. */
static struct plan_schedule *replay(const struct records *r, const struct plan *p)
{
    struct plan_schedule *s = plan_schedule_new(p);
    struct planned_trial which;
    const struct trial *t;

    while (plan_schedule_next(s, &which)) {
        if (which.scenario == PLAN_CANARY) {
            plan_schedule_tell(s, OUTCOME_OK); /* it changes nothing */
            continue;
        }
        if (!(t = records_find(r, p, which.scenario, which.trial)))
            break;
        plan_schedule_tell(s, t->outcome);
    }
    return s;
}

void search_findings(const struct plan *p, const struct sweep *sweep, struct strbuf *out)
{
    struct records r = {.sweep = sweep};

    if (!plan_search_count(p))
        return;
    r.a = arena_new();
    records_fill(&r);
    CLEANUP(plan_schedule_free) struct plan_schedule *schedule = replay(&r, p);
    for (size_t i = 0; i < plan_search_count(p); i++) {
        struct plan_search search;
        struct plan_finding finding;
        plan_search(p, i, r.a, &search);
        plan_schedule_finding(schedule, i, &finding);
        strbuf_addf(out, "%s: ", search.id);
        add_line(&r, p, &finding, out);
    }
    name_index_release(&r.by_name);
    arena_free(r.a);
}

bool search_expects_failure(const struct plan *p, const struct trial *t)
{
    const struct axis *x = searched_axis(plan_matrix(p));
    size_t scenario;

    return x && plan_find(p, t->scenario, &scenario) == 0 && plan_is_candidate(p, scenario) &&
           !(x->search->until >> t->outcome & 1);
}
