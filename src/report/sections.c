/* SPDX-License-Identifier: MIT */
/* Cells to what a person reads: header lines, the main table, findings, validity. */
#include "report_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "benchctl/base/units.h"

#define NOT_MEASURED "–"

struct section *section_new(struct report *r, const char *heading)
{
    vec_push(&r->sections, (struct section){.heading = heading});
    return &r->sections.items[r->sections.len - 1];
}

struct table *table_new(struct report *r, size_t columns)
{
    struct table *t = arena_new_of(r->arena, struct table);

    t->columns = arena_array(r->arena, const char *, columns);
    t->right = arena_array(r->arena, bool, columns);
    t->column_count = columns;
    return t;
}

void table_column(struct table *t, size_t i, const char *name, bool right)
{
    t->columns[i] = name;
    t->right[i] = right;
}

struct field *table_row(struct report *r, struct table *t)
{
    struct field *row = arena_array(r->arena, struct field, t->column_count);

    vec_push(&t->rows, row);
    return row;
}

enum tone outcome_tone(enum outcome o)
{
    static const enum tone tones[OUTCOMES] = {
        [OUTCOME_OK] = TONE_GOOD,       [OUTCOME_DEGRADED] = TONE_WARN, [OUTCOME_CRASHED] = TONE_BAD,
        [OUTCOME_NOT_READY] = TONE_BAD, [OUTCOME_INVALID] = TONE_WARN,  [OUTCOME_ERROR] = TONE_BAD,
        [OUTCOME_SKIPPED] = TONE_FAINT,
    };
    return tones[o];
}

const char *figure_text(struct report *r, const struct cell *c, enum figure f)
{
    const struct summary *s = &c->figures[f];
    char text[32];

    if (!s->n || isnan(s->median))
        return NOT_MEASURED;
    figure_kinds[f].format(s->median, text);
    if (!figure_kinds[f].spread && s->min != s->max) {
        char low[32], high[32];
        figure_kinds[f].format(s->min, low);
        figure_kinds[f].format(s->max, high);
        return arena_printf(r->arena, "%s (%s–%s)", text, low, high);
    }
    if (figure_kinds[f].spread && s->n > 1 && !isnan(s->cv_pct))
        return arena_printf(r->arena, "%s ±%.*f%%", text, s->cv_pct < 9.95 ? 1 : 0, s->cv_pct);
    return arena_strdup(r->arena, text);
}

/* --- what was run
 * ------------------------------------------------------------------------------------------------------ */

static const char *known(const char *text)
{
    return text ? text : "unknown";
}

static void describe_host(struct report *r, struct section *s)
{
    const struct json *host = json_get(r->sweep->info, "host"), *engine = json_get(r->sweep->info, "engine");

    if (!host)
        return;
    vec_push(&s->lines,
             arena_printf(r->arena, "host: %s, %lld CPUs (%s), kernel %s; engine %s %s, cgroup v%lld",
                          known(json_get_text(host, "name")), (long long)json_get_int(host, "cpus"),
                          known(json_get_text(host, "cpu")), known(json_get_text(host, "kernel")),
                          known(json_get_text(engine, "name")), known(json_get_text(engine, "version")),
                          (long long)json_get_int(engine, "cgroup_version")));
}

static void describe_order(struct report *r, struct section *s)
{
    const struct json *info = r->sweep->info, *order = json_get(info, "order");

    if (!info)
        return;
    vec_push(&s->lines,
             arena_printf(
                 r->arena,
                 "%lld scenarios, %lld trial%s each, order %s, seed %lld; %zu trials recorded%s; started %s",
                 (long long)json_get_int(info, "scenarios"),
                 (long long)json_get_int(info, "trials_per_scenario"),
                 json_get_int(info, "trials_per_scenario") == 1 ? "" : "s",
                 known(json_get_text(order, "mode")), (long long)json_get_int(order, "seed"),
                 r->sweep->trial_count, r->sweep->complete ? "" : " (the sweep is not complete)",
                 known(json_get_text(info, "started_at"))));
}

static const char *member_list(struct report *r, const struct json *check)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    const struct json *members = json_get(check, "members");

    for (size_t i = 0; i < json_len(members); i++) {
        const char *commit = json_get_text(json_at(members, i), "commit");
        strbuf_addf(&text, "%s%s@%.10s", i ? ", " : "", known(json_get_text(json_at(members, i), "path")),
                    commit ? commit : "?");
    }
    return arena_strdup(r->arena, strbuf_text(&text));
}

static void describe_parity(struct report *r, struct section *s)
{
    const struct json *parity = json_get(r->sweep->info, "parity"), *checks = json_get(parity, "checks");
    size_t ok = 0;

    if (!json_len(checks)) {
        vec_push(&s->lines, "parity: not checked");
        return;
    }
    for (size_t i = 0; i < json_len(checks); i++)
        ok += json_get_bool(json_at(checks, i), "ok");
    if (ok == json_len(checks))
        vec_push(&s->lines, arena_printf(r->arena, "parity: ok, %zu check%s (%s)", ok, ok == 1 ? "" : "s",
                                         member_list(r, json_at(checks, 0))));
    else
        vec_push(&s->lines,
                 arena_printf(r->arena, "parity: BROKEN, %zu of %zu checks hold", ok, json_len(checks)));
}

/* One line per way of loading: figures of different models are never to be compared in silence. */
static void describe_load(struct report *r, struct section *s)
{
    const char *last = NULL;

    for (size_t i = 0; i < r->sweep->trial_count; i++) {
        const struct load_result *l = &r->sweep->trials[i].load;
        if (!r->sweep->trials[i].has_load || !l->generator)
            continue;
        const char *line =
            arena_printf(r->arena, "load: %s%s%s, %s model, latency %scorrected for coordinated omission",
                         l->generator, l->version ? " " : "", l->version ? l->version : "",
                         l->model ? l->model : "unknown", text_equal(l->corrected, "yes") ? "" : "not ");
        if (!text_equal(line, last))
            vec_push(&s->lines, line);
        last = line;
    }
}

static double mean_of(const struct report *r, double (*get)(const struct trial *t))
{
    double *values = arena_array(r->arena, double, r->sweep->trial_count + 1);
    struct summary s;

    for (size_t i = 0; i < r->sweep->trial_count; i++)
        values[i] = get(&r->sweep->trials[i]);
    stats_summary(values, r->sweep->trial_count, &s);
    return s.mean;
}

static double own_cpu(const struct trial *t)
{
    return t->host.benchctl_cpu_cores;
}

static double own_rss(const struct trial *t)
{
    return t->host.benchctl_rss_bytes;
}

static double overhead(const struct trial *t)
{
    return t->overhead_ms;
}

static void describe_self(struct report *r, struct section *s)
{
    double cpu = mean_of(r, own_cpu), rss = mean_of(r, own_rss), ms = mean_of(r, overhead);
    char size[32];

    if (isnan(cpu) || isnan(rss))
        return;
    vec_push(&s->lines, arena_printf(r->arena,
                                     "benchctl itself: %.2f%% of a core and %s while measuring; %.2f s per "
                                     "trial beside warm-up and load",
                                     100 * cpu, size_human(rss, size), ms / 1e3));
}

static void say_how_often(struct report *r, struct section *s)
{
    size_t fewest = SIZE_MAX;

    for (size_t i = 0; i < r->cells.len; i++)
        if (r->cells.items[i].trial_count < fewest)
            fewest = r->cells.items[i].trial_count;
    if (r->cells.len && fewest < 3)
        vec_push(&s->lines, arena_printf(r->arena,
                                         "n = %zu trial%s per scenario: too few to call a difference real; "
                                         "the figures show what happened, not what would happen again",
                                         fewest, fewest == 1 ? "" : "s"));
}

/* --- the main table
 * ---------------------------------------------------------------------------------------------------------
 */

static bool measured_anywhere(const struct report *r, enum figure f)
{
    for (size_t i = 0; i < r->cells.len; i++)
        if (r->cells.items[i].figures[f].n)
            return true;
    return false;
}

static size_t choose_columns(const struct report *r, enum figure *ret)
{
    size_t n = 0;

    for (int f = 0; f < FIGURES; f++)
        if (figure_kinds[f].main && measured_anywhere(r, (enum figure)f))
            ret[n++] = (enum figure)f;
    return n;
}

static enum tone figure_tone(const struct cell *c, enum figure f)
{
    const struct summary *s = &c->figures[f];

    if (!s->n)
        return TONE_FAINT;
    if ((f == FIGURE_RESTARTS || f == FIGURE_OOM) && s->max > 0)
        return TONE_BAD;
    if (f == FIGURE_ERRORS && s->max > 0.01)
        return TONE_WARN;
    return c->contaminated ? TONE_WARN : TONE_PLAIN;
}

static const char *count_text(struct report *r, const struct cell *c)
{
    return c->counted == c->trial_count ? arena_printf(r->arena, "%zu", c->trial_count)
                                        : arena_printf(r->arena, "%zu of %zu", c->counted, c->trial_count);
}

static void main_table(struct report *r)
{
    enum figure chosen[FIGURES];
    size_t figures = choose_columns(r, chosen), axes = r->axis_count;
    struct section *s = section_new(r, "Results");
    struct table *t = s->table = table_new(r, axes + 2 + figures);

    for (size_t i = 0; i < axes; i++)
        table_column(t, i, r->axes[i], false);
    table_column(t, axes, "n", true);
    table_column(t, axes + 1, "outcome", false);
    for (size_t k = 0; k < figures; k++)
        table_column(t, axes + 2 + k, figure_kinds[chosen[k]].title, true);
    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        struct field *row = table_row(r, t);
        for (size_t k = 0; k < axes; k++)
            row[k] = (struct field){.text = c->values[k]};
        row[axes] = (struct field){.text = count_text(r, c)};
        row[axes + 1] = (struct field){.text = outcome_name(c->outcome), .tone = outcome_tone(c->outcome)};
        for (size_t k = 0; k < figures; k++)
            row[axes + 2 + k] =
                (struct field){.text = figure_text(r, c, chosen[k]), .tone = figure_tone(c, chosen[k])};
    }
    vec_push(&s->lines, "Medians over trials; ± is the coefficient of variation between trials; n counts "
                        "container starts. – is not measured.");
}

/* --- what went wrong
 * ----------------------------------------------------------------------------------------------------------
 */

static void list_findings(struct report *r)
{
    struct section *s = NULL;

    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        if (c->outcome == OUTCOME_OK)
            continue;
        if (!s)
            s = section_new(r, "Findings");
        vec_push(&s->lines, arena_printf(r->arena, "%s: %s: %s%s", c->scenario, outcome_name(c->outcome),
                                         c->reason ? c->reason : "no reason was recorded",
                                         c->contaminated ? " (its figures are of the time it was up)"
                                         : c->counted < c->trial_count ? " (left out of the figures)"
                                                                       : ""));
    }
}

static bool line_known(const struct section *s, const char *line)
{
    for (size_t i = 0; i < s->lines.len; i++)
        if (strcmp(s->lines.items[i], line) == 0)
            return true;
    return false;
}

static void list_validity(struct report *r)
{
    struct section *s = NULL;

    for (size_t i = 0; i < r->sweep->trial_count; i++) {
        const struct trial *t = &r->sweep->trials[i];
        for (size_t k = 0; k < t->validity_count; k++) {
            if (text_equal(t->validity[k].verdict, "PASS"))
                continue;
            const char *line = arena_printf(r->arena, "%s: %s: %s", t->scenario, t->validity[k].verdict,
                                            t->validity[k].message);
            if (!s)
                s = section_new(r, "Validity");
            if (!line_known(s, line))
                vec_push(&s->lines, line);
        }
    }
}

void report_sections(struct report *r)
{
    struct section *s = section_new(r, NULL);

    describe_host(r, s);
    describe_order(r, s);
    describe_parity(r, s);
    describe_load(r, s);
    describe_self(r, s);
    say_how_often(r, s);
    if (!r->cells.len) {
        vec_push(&s->lines, "no trial has been recorded yet");
        return;
    }
    main_table(r);
    list_findings(r);
    list_validity(r);
}
