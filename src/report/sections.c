/* SPDX-License-Identifier: MIT */
/* The sections in order: head, what went wrong, results, what else was measured, what limits its worth. */
#include "report_internal.h"

#include <math.h>
#include <string.h>

struct section *section_new(struct report *r, const char *heading)
{
    vec_push(&r->sections, (struct section){.heading = heading});
    return &r->sections.items[r->sections.len - 1];
}

void section_line(struct section *s, const char *text)
{
    vec_push(&s->lines, (struct line){.text = text});
}

struct table *table_new(struct report *r, size_t columns, size_t heads)
{
    struct table *t = arena_new_of(r->arena, struct table);

    t->columns = arena_array(r->arena, struct column, columns);
    for (size_t i = 0; i < columns; i++)
        t->columns[i].measure = "";
    t->column_count = columns;
    t->heads = heads;
    return t;
}

struct field *table_row(struct report *r, struct table *t)
{
    struct row row = {arena_array(r->arena, struct field, t->column_count)};

    vec_push(&t->rows, row);
    return row.fields;
}

/* --- what went wrong --- */

/* Of the trials that ended so, the first of the worst. */
static const struct trial *example_of(const struct cell *c, enum outcome o)
{
    const struct trial *found = NULL;

    for (size_t i = 0; i < c->trial_count; i++)
        if (c->trials[i]->outcome == o && (!found || trial_worse(c->trials[i], found)))
            found = c->trials[i];
    return found;
}

static const char *how_often(struct report *r, const struct cell *c, size_t times)
{
    if (c->trial_count == 1)
        return "";
    if (times == c->trial_count && times == 2)
        return " in both trials";
    if (times == c->trial_count)
        return arena_printf(r->arena, " in all %zu trials", times);
    return arena_printf(r->arena, " in %zu of %zu trials", times, c->trial_count);
}

/* What else was amiss on the host may be why, where the reason has not said so. */
static const char *likely_cause(struct report *r, const struct trial *t, enum outcome o)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    for (size_t i = 0; i < t->validity_count && o == OUTCOME_INVALID; i++) {
        const struct validity_result *v = &t->validity[i];
        if (text_equal(v->verdict, "WARN") && v->id && strncmp(v->id, "host-", 5) == 0 && v->message &&
            !(t->reason && strstr(t->reason, v->message)))
            strbuf_addf(&text, "; %s", v->message);
    }
    return text.len ? arena_strdup(r->arena, strbuf_text(&text)) : "";
}

static const char *finding_text(struct report *r, const struct cell *c, enum outcome o)
{
    const struct trial *t = example_of(c, o);
    size_t times = c->outcomes[o];
    const char *one = times > 1 ? arena_printf(r->arena, "in trial %d, ", t->trial) : "";

    return arena_printf(r->arena, "%s: %s%s: %s%s%s%s", c->scenario, outcome_name(o), how_often(r, c, times),
                        one, t->reason ? t->reason : "no reason was recorded", likely_cause(r, t, o),
                        c->counted && !trial_counts(c, t, NULL) ? " (left out of the figures)" : "");
}

/* One line for each way in which a scenario's trials ended, the worst first. */
static void list_findings(struct report *r)
{
    static const enum outcome order[] = {OUTCOME_CRASHED, OUTCOME_NOT_READY, OUTCOME_ERROR,
                                         OUTCOME_INVALID, OUTCOME_DEGRADED,  OUTCOME_SKIPPED};
    struct section *s = NULL;
    size_t more = 0;

    for (size_t i = 0; i < r->cells.len * ARRAY_LEN(order); i++) {
        const struct cell *c = &r->cells.items[i / ARRAY_LEN(order)];
        enum outcome o = order[i % ARRAY_LEN(order)];
        if (!c->outcomes[o])
            continue;
        if (!s)
            s = section_new(r, "Findings");
        if (s->lines.len < LINES_MAX)
            vec_push(&s->lines, (struct line){finding_text(r, c, o), c, outcome_tone(o)});
        else
            more++;
    }
    if (s)
        s->alarm = true;
    if (more)
        section_line(s, arena_printf(r->arena, "and %zu more: see the outcomes below", more));
}

/* --- parity --- */

static void list_differences(struct report *r, struct section *s, const struct json *check)
{
    const struct json *differences = json_get(check, "differences");

    for (size_t i = 0; i < json_len(differences) && i < LINES_MAX; i++) {
        const struct json *d = json_at(differences, i);
        const char *path = json_get_text(d, "path"), *what = json_get_text(d, "what");
        section_line(s, arena_printf(r->arena, "%s: %s", path ? path : "?", what ? what : "differs"));
    }
    if (json_len(differences) > LINES_MAX)
        section_line(s,
                     arena_printf(r->arena, "and %zu more differences", json_len(differences) - LINES_MAX));
}

static const char *check_text(struct report *r, const struct json *check)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    const struct json *members = json_get(check, "members");
    const char *name = json_get_text(check, "name"), *error = json_get_text(check, "error");

    strbuf_addf(&text, "%s: %s", name ? name : "?", json_get_bool(check, "ok") ? "the same" : "DIFFERENT");
    if (error)
        strbuf_addf(&text, " (%s)", error);
    for (size_t i = 0; i < json_len(members); i++) {
        const struct json *m = json_at(members, i);
        const char *ref = json_get_text(m, "full_ref"), *path = json_get_text(m, "path"),
                   *commit = json_get_text(m, "commit");
        strbuf_addf(&text, "%s %s", i ? ";" : ", in", path ? path : "?");
        if (ref)
            strbuf_addf(&text, " of %s", ref);
        if (commit)
            strbuf_addf(&text, " at %s%s", commit,
                        json_get_bool(m, "changed") ? " with changes that are not committed" : "");
    }
    return arena_strdup(r->arena, strbuf_text(&text));
}

static void list_parity(struct report *r)
{
    const struct json *checks = json_get(json_get(r->sweep->info, "parity"), "checks");
    bool ok = true;

    if (!json_len(checks))
        return;
    struct section *s = section_new(r, "Parity");
    for (size_t i = 0; i < json_len(checks); i++) {
        const struct json *check = json_at(checks, i);
        bool same = json_get_bool(check, "ok");
        vec_push(&s->lines, (struct line){check_text(r, check), NULL, same ? TONE_PLAIN : TONE_BAD});
        list_differences(r, s, check);
        ok &= same;
    }
    s->detail = ok; /* the head says that it is */
}

/* --- all of it --- */

static void other_tables(struct report *r)
{
    static const struct {
        const char *heading, *caption;
        unsigned table;
        bool detail;
    } tables[] = {
        {"Latency and requests", NULL, TABLE_LATENCY, true},
        {"Application", NULL, TABLE_APP, true},
        {"Metrics of the application",
         "Of counters the increase over the load, of means the mean, of levels the highest scrape.",
         TABLE_METRICS, false},
        {"Build",
         "Each step in a container of its own before anything of the trial was started; one that failed has "
         "no "
         "time.",
         TABLE_BUILD, false},
        {"Services and host", NULL, TABLE_SERVICES, false},
        {"Database", "Counted from the begin of the load until the application had stopped.", TABLE_DATABASE,
         false},
    };

    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        struct section *s = figure_section(r, tables[i].heading, tables[i].table);
        if (s && tables[i].table == TABLE_APP)
            section_line(s,
                         arena_printf(r->arena,
                                      "%s: peak of used memory, which is without inactive page cache; anon: "
                                      "private memory of all processes; peak with cache: the highest charge.",
                                      figure_name(r, FIGURE_MEMORY)));
        if (s && tables[i].caption)
            section_line(s, tables[i].caption);
        if (s)
            s->detail = tables[i].detail;
    }
}

int report_sections(struct report *r, const struct report_options *o, struct error *err)
{
    report_head(r);
    report_discrimination(r);
    report_contrasts(r);
    report_interactions(r);
    list_discrimination(r);
    list_contrasts(r);
    list_interactions(r);
    list_findings(r);
    r->results = r->sections.len;
    if (report_layout(r, o, err) < 0)
        return -1;
    r->results_end = r->sections.len;
    list_invalid(r);
    if (!r->chosen) { /* who asks for certain tables gets those */
        list_limiting(r);
        list_memory(r);
        list_availability(r);
        list_failures(r);
        list_told(r);
        list_parts(r);
        other_tables(r);
        list_checks(r);
        list_jvm(r);
        list_limits(r);
    }
    list_controls(r);
    list_canary(r);
    list_validity(r);
    list_notes(r);
    list_parity(r);
    if (r->dropped)
        section_line(&r->sections.items[r->sections.len - 1],
                     arena_printf(r->arena,
                                  "%zu more metrics, services or checks have no column: too many names",
                                  r->dropped));
    if (r->rules || !r->chosen)
        list_rules(r);
    return 0;
}
