/* SPDX-License-Identifier: MIT */
/* A comparison in the words of one who wants to know which of two is faster, and when not to believe it. */
#include <math.h>

#include "benchctl/base/tree.h"
#include "benchctl/base/units.h"
#include "words.h"

#define ALPHA 0.05

static bool has_ratio(const struct compared_figure *f)
{
    return f->ratio.base_n && f->ratio.other_n && !isnan(f->ratio.ratio);
}

static size_t fewer(const struct compared_figure *f)
{
    return f->ratio.base_n < f->ratio.other_n ? f->ratio.base_n : f->ratio.other_n;
}

enum compare_word compare_word(const struct comparison *c, const struct compared_figure *f)
{
    (void)c;
    if (!has_ratio(f) || fewer(f) < COMPARE_TRIALS_MIN)
        return COMPARE_NO_WORD;
    if (f->verdict == COMPARE_REPRODUCED)
        return COMPARE_EQUAL;
    if (!(f->p < ALPHA))
        return COMPARE_OPEN;
    return f->ratio.ratio > 1 ? COMPARE_MORE : COMPARE_LESS;
}

/* "3.1", of a share. */
static void add_percent(double share, struct strbuf *out)
{
    double percent = 100 * share;

    strbuf_addf(out, "%.*f", fabs(percent) < 100 ? 1 : 0, percent);
}

static const char *direction(enum compare_figure which, bool more)
{
    if (which == COMPARE_GOODPUT)
        return more ? "faster" : "slower";
    return more ? "higher" : "lower";
}

static void add_difference(enum compare_figure which, const struct compared_figure *f, bool more,
                           struct strbuf *out)
{
    strbuf_addf(out, "%s by ", direction(which, more));
    add_percent(more ? f->ratio.ratio - 1 : 1 - f->ratio.ratio, out);
    strbuf_adds(out, " % [");
    add_percent(more ? f->low - 1 : 1 - f->high, out);
    strbuf_adds(out, ", ");
    add_percent(more ? f->high - 1 : 1 - f->low, out);
    strbuf_adds(out, "]");
}

static void add_no_word(const struct compared_figure *f, struct strbuf *out)
{
    const struct stats_ratio *r = &f->ratio;

    if (!r->base_n || !r->other_n) {
        strbuf_adds(out, f->ratio.base_n || f->ratio.other_n ? "not compared: no figure on one side"
                                                             : "not measured");
        return;
    }
    if (isnan(r->ratio)) {
        strbuf_addf(out, "no ratio: %zu of %zu are 0", r->base_zeros + r->other_zeros,
                    r->base_n + r->other_n);
        return;
    }
    strbuf_adds(out, r->ratio >= 1 ? "+" : "-");
    add_percent(fabs(r->ratio - 1), out);
    strbuf_addf(out, " %% (n = %zu: no verdict)", fewer(f));
}

static void add_open(const struct comparison *c, const struct compared_figure *f, struct strbuf *out)
{
    size_t more = stats_trials_to_decide(&f->ratio, c->margin);

    strbuf_adds(out, "undecided: ");
    if (more > STATS_TRIALS_MAX)
        strbuf_addf(out, "more than %d more trials would be needed to tell", STATS_TRIALS_MAX);
    else
        strbuf_addf(out, "%zu more trial%s would tell", more, plural(more));
}

void compare_words(const struct comparison *c, enum compare_figure which, const struct compared_figure *f,
                   struct strbuf *out)
{
    switch (compare_word(c, f)) {
    case COMPARE_MORE:
    case COMPARE_LESS:
        add_difference(which, f, f->ratio.ratio > 1, out);
        break;
    case COMPARE_EQUAL:
        strbuf_adds(out, "equal within ");
        words_percent(c->margin, out);
        break;
    case COMPARE_OPEN:
        add_open(c, f, out);
        break;
    case COMPARE_NO_WORD:
        add_no_word(f, out);
        break;
    }
}

void compare_detectable(const struct comparison *c, const struct compared_figure *f, struct strbuf *out)
{
    enum compare_word w = compare_word(c, f);
    double ratio = stats_detectable_ratio(&f->ratio);

    if ((w != COMPARE_EQUAL && w != COMPARE_OPEN) || isnan(ratio))
        return;
    strbuf_addf(out, "n = %zu: ", fewer(f));
    add_percent(ratio - 1, out);
    strbuf_adds(out, " % would be seen");
}

/* --- gates --- */

static const struct {
    const char *name;
    enum compare_figure figure;
} gate_names[] = {
    {"throughput", COMPARE_GOODPUT}, {"goodput", COMPARE_GOODPUT}, {"p50", COMPARE_P50}, {"p99", COMPARE_P99},
    {"memory", COMPARE_MEMORY},
};

static int wrong_gate(const char *text, struct error *err)
{
    char shown[SHOWN_SIZE];

    (void)error_set(err, ERROR_USAGE, "'%s' is no condition", text_shown(text, shown));
    return error_hint(
        err, "a figure (throughput, p50, p99, memory), < or >, and how much, for instance throughput<-5%% "
             "or p99>10%%");
}

int compare_gate_parse(const char *text, struct compare_gate *ret, struct error *err)
{
    size_t name = strcspn(text, "<>="), sign;
    struct compare_gate g = {.text = text, .figure = COMPARE_FIGURES, .below = text[name] == '<'};

    sign = name;
    while (name && text[name - 1] == ' ')
        name--;
    for (size_t i = 0; i < ARRAY_LEN(gate_names); i++)
        if (strlen(gate_names[i].name) == name && strncmp(text, gate_names[i].name, name) == 0)
            g.figure = gate_names[i].figure;
    if (g.figure == COMPARE_FIGURES || !text[sign] || text[sign] == '=')
        return wrong_gate(text, err);
    const char *bound = text + sign + 1 + (text[sign + 1] == '=');
    bound += strspn(bound, " ");
    size_t len = number_scan(bound, strlen(bound), &g.bound);
    const char *unit = bound + len + strspn(bound + len, " ");
    if (!len || strcmp(unit, "%") != 0 || !isfinite(g.bound))
        return wrong_gate(text, err);
    g.bound /= 100;
    *ret = g;
    return 0;
}

bool compare_gate_broken(const struct compare_gate *g, const struct compared_scenario *s)
{
    const struct compared_figure *f = &s->figures[g->figure];

    if (!s->then_n || !s->now_n || !f->ratio.base_n)
        return false; /* not on both sides */
    if (!f->ratio.other_n || (f->ratio.other_zeros && !f->ratio.base_zeros))
        return g->figure == COMPARE_GOODPUT ? g->below : !g->below;
    if (isnan(f->ratio.ratio))
        return false;
    bool beyond = g->below ? f->ratio.ratio - 1 < g->bound : f->ratio.ratio - 1 > g->bound;
    bool real = isnan(f->low) || f->low > 1 || f->high < 1;
    /* a bound on the other side of no change (throughput<5%: "at least 5 % faster") asks for proof of the
     * gain */
    bool proof = g->below ? g->bound >= 0 : g->bound <= 0;
    return beyond && (real || proof);
}

/* --- the table --- */

static void add_value(enum compare_figure which, double value, struct strbuf *out)
{
    if (isnan(value))
        strbuf_adds(out, "–");
    else if (which == COMPARE_MEMORY)
        strbuf_addf(out, "%.1f MiB", value / (1 << 20));
    else
        strbuf_addf(out, "%.4g%s", value, which == COMPARE_GOODPUT ? "/s" : " ms");
}

enum { CELLS = 6 };
struct line {
    char *cells[CELLS];
};

static void fill_line(const struct comparison *c, const struct compared_scenario *s, int figure,
                      struct line *ret)
{
    const struct compared_figure *f = &s->figures[figure];
    struct strbuf cells[CELLS] = {0};

    strbuf_adds(&cells[0], figure == COMPARE_GOODPUT ? s->name : "");
    strbuf_adds(&cells[1], compare_figure_label((enum compare_figure)figure));
    add_value((enum compare_figure)figure, f->then, &cells[2]);
    add_value((enum compare_figure)figure, f->now, &cells[3]);
    compare_words(c, (enum compare_figure)figure, f, &cells[4]);
    compare_detectable(c, f, &cells[5]);
    for (int i = 0; i < CELLS; i++)
        ret->cells[i] = strbuf_detach(&cells[i]);
}

/* Characters, for the dash is three bytes. */
static size_t width_of(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void add_markdown_line(const struct line *l, struct strbuf *out)
{
    strbuf_adds(out, "|");
    for (int i = 0; i < CELLS; i++) {
        strbuf_adds(out, " ");
        for (const char *p = l->cells[i]; *p; p++)
            strbuf_addf(out, strchr("|\\`*_<", *p) ? "\\%c" : "%c", *p);
        strbuf_adds(out, " |");
    }
    strbuf_adds(out, "\n");
}

static void add_plain_line(const struct line *l, const size_t width[CELLS], struct strbuf *out)
{
    for (int i = 0; i < CELLS; i++) {
        bool right = i == 2 || i == 3;
        strbuf_addf(out, "%*s%s%*s%s", right ? (int)(width[i] - width_of(l->cells[i])) : 0, "", l->cells[i],
                    right ? 0 : (int)(width[i] - width_of(l->cells[i])), "", i + 1 < CELLS ? "  " : "");
    }
    strbuf_trim_end(out);
    strbuf_adds(out, "\n");
}

/* What ended badly has no figure, or none of all its trials: it is told, never averaged. */
static void add_outcomes(const struct comparison *c, struct strbuf *out)
{
    for (size_t i = 0; i < c->len; i++) {
        const struct compared_scenario *s = &c->scenarios[i];
        const struct stats_ratio *r = &s->figures[COMPARE_GOODPUT].ratio;
        bool complete = r->base_n == s->then_n && r->other_n == s->now_n;
        if (!s->then_n || !s->now_n || (complete && !s->outcomes_differ))
            continue;
        strbuf_addf(out, "%s: ", s->name);
        words_outcomes(s->then_outcomes, out);
        strbuf_addf(out, " (%s); ", c->then_name);
        words_outcomes(s->now_outcomes, out);
        strbuf_addf(out, " (%s)%s\n", c->now_name,
                    complete ? "" : ": figures are of trials that neither failed, restarted nor were killed");
    }
}

static void add_legend(const struct comparison *c, struct strbuf *out)
{
    strbuf_addf(out,
                "How much larger %s is than %s: ratios of geometric means over trials with 95 %% intervals. ",
                c->now_name, c->then_name);
    strbuf_adds(out, "Equal within ");
    words_percent(c->margin, out);
    strbuf_addf(out,
                ": the 90 %% interval is within that. A difference is called one when Holm's test over all "
                "scenarios is sure "
                "at 5 %%; with fewer than %d trials on a side nothing is called anything.\n",
                COMPARE_TRIALS_MIN);
}

void compare_words_table(const struct comparison *c, bool markdown, struct strbuf *out)
{
    size_t count = 1 + c->len * COMPARE_FIGURES, width[CELLS] = {0};
    CLEANUP_FREE struct line *lines = xcalloc(count, sizeof(*lines));

    lines[0] = (struct line){{xstrdup("scenario"), xstrdup("figure"), xstrdup(c->then_name),
                              xstrdup(c->now_name), xstrdup("difference"), xstrdup("")}};
    for (size_t i = 1; i < count; i++)
        fill_line(c, &c->scenarios[(i - 1) / COMPARE_FIGURES], (int)((i - 1) % COMPARE_FIGURES), &lines[i]);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < CELLS; k++)
            width[k] = width_of(lines[i].cells[k]) > width[k] ? width_of(lines[i].cells[k]) : width[k];
    for (size_t i = 0; i < count; i++) {
        if (markdown)
            add_markdown_line(&lines[i], out);
        else
            add_plain_line(&lines[i], width, out);
        if (markdown && i == 0)
            strbuf_adds(out, "|---|---|---:|---:|---|---|\n");
        for (int k = 0; k < CELLS; k++)
            free(lines[i].cells[k]);
    }
    strbuf_adds(out, "\n");
    add_outcomes(c, out);
    add_legend(c, out);
}
