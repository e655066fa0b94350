/* SPDX-License-Identifier: MIT */
/* A comparison in sentences. */
#include "benchctl/compare.h"
#include "words.h"

/* A ratio with as many digits as tell it from 1. */
void words_ratio(double ratio, struct strbuf *out)
{
    strbuf_addf(out, ratio < 0.1 || fabs(ratio - 1) < 0.01 ? "%.3f" : "%.2f", ratio);
}

void words_percent(double share, struct strbuf *out)
{
    strbuf_addf(out, "%.3g %%", 100 * share);
}

/* "1 of 4 is 0"; with the side's name where both have some. */
static void add_zeros(size_t zeros, size_t n, const char *side, struct strbuf *out)
{
    strbuf_addf(out, "%zu of %zu%s%s %s 0", zeros, n, *side ? " " : "", side, zeros == 1 ? "is" : "are");
}

static void add_both_zeros(const struct comparison *c, const struct compared_figure *f, struct strbuf *out)
{
    const struct stats_ratio *r = &f->ratio;
    bool both = r->base_zeros && r->other_zeros;

    strbuf_addf(out, "%s (", compare_verdict_name(f->verdict));
    if (r->base_zeros)
        add_zeros(r->base_zeros, r->base_n, both ? c->then_name : "", out);
    if (both)
        strbuf_adds(out, ", ");
    if (r->other_zeros)
        add_zeros(r->other_zeros, r->other_n, both ? c->now_name : "", out);
    strbuf_adds(out, ")");
}

void compare_figure_text(const struct comparison *c, const struct compared_figure *f, struct strbuf *out)
{
    const struct stats_ratio *r = &f->ratio;

    if (r->base_n && r->other_n && (r->base_zeros || r->other_zeros)) {
        add_both_zeros(c, f, out);
        return;
    }
    if (isnan(r->ratio)) {
        strbuf_adds(out, "not measured");
        return;
    }
    words_ratio(r->ratio, out);
    if (isnan(f->low)) {
        strbuf_adds(out, r->base_n == 1 && r->other_n == 1 ? " (one trial each: no interval)"
                                                           : " (one trial: no interval)");
        return;
    }
    strbuf_adds(out, " [");
    words_ratio(f->low, out);
    strbuf_adds(out, ", ");
    words_ratio(f->high, out);
    strbuf_addf(out, "] %s", compare_verdict_name(f->verdict));
}

void words_outcomes(const size_t counts[OUTCOMES], struct strbuf *out)
{
    bool any = false;

    for (int o = 0; o < OUTCOMES; o++) {
        if (!counts[o])
            continue;
        strbuf_addf(out, "%s%zu %s", any ? ", " : "", counts[o], outcome_name((enum outcome)o));
        any = true;
    }
    if (!any)
        strbuf_adds(out, "none");
}

static void add_verdicts(const struct comparison *c, struct strbuf *out)
{
    const size_t *n = c->verdicts[COMPARE_GOODPUT];

    size_t alone = c->only_then + c->only_now, both = c->len - alone;

    strbuf_addf(out, "%zu of %zu scenario%s reproduced within ", n[COMPARE_REPRODUCED], both,
                both == 1 ? "" : "s");
    words_percent(c->margin, out);
    if (n[COMPARE_DIFFERS])
        strbuf_addf(out, ", %zu differ%s", n[COMPARE_DIFFERS], n[COMPARE_DIFFERS] == 1 ? "s" : "");
    if (n[COMPARE_UNDECIDED])
        strbuf_addf(out, ", %zu undecided", n[COMPARE_UNDECIDED]);
    if (n[COMPARE_NOT_JUDGED] > alone) /* those of one side are told of by themselves */
        strbuf_addf(out, ", %zu not judged", n[COMPARE_NOT_JUDGED] - alone);
}

void compare_headline(const struct comparison *c, struct strbuf *out)
{
    size_t both = c->len - c->only_then - c->only_now;

    if (!both) {
        strbuf_adds(out, "nothing to compare: no scenario has trials on both sides");
        return;
    }
    if (c->verdicts[COMPARE_GOODPUT][COMPARE_NOT_JUDGED] == c->len)
        strbuf_addf(out, "%zu scenario%s compared and not judged: a verdict takes %d trials on each side",
                    both, both == 1 ? "" : "s", COMPARE_TRIALS_MIN);
    else
        add_verdicts(c, out);
    if (!c->outcomes_differ)
        strbuf_addf(out, "; outcomes are the same in %s", both == 1 ? "it" : "all");
    else
        strbuf_addf(out, "; outcomes differ in %zu", c->outcomes_differ);
    if (c->only_then)
        strbuf_addf(out, "; %zu only in %s", c->only_then, c->then_name);
    if (c->only_now)
        strbuf_addf(out, "; %zu only in %s", c->only_now, c->now_name);
}
