/* SPDX-License-Identifier: MIT */
/*
 * What failed: one row for each end of a container that benchctl had not asked for and for each time that one
 * fell silent. Of many alike the first and the last have a row, and one between them says how many.
 */
#include "timeline.h"
#include "layout.h"

#include <math.h>
#include <stdio.h>

#define ROWS_MAX 100 /* of the sweep; each trial's record has all */

enum {
    COLUMN_SCENARIO,
    COLUMN_TRIAL,
    COLUMN_ROLE,
    COLUMN_AT,
    COLUMN_CAUSE,
    COLUMN_CODE,
    COLUMN_DOWN,
    COLUMN_SERVED,
    COLUMN_EVIDENCE,
    COLUMNS
};

struct failures {
    struct report *r;
    struct table *table;
    const struct trial *trial;
    const struct container_result *container;
    size_t more;
    bool served; /* somewhere it is known */
};

static struct field *add_row(struct failures *f, const char *at)
{
    if (f->table->rows.len >= ROWS_MAX) {
        f->more++;
        return NULL;
    }
    struct field *row = table_row(f->r, f->table);
    for (size_t i = 0; i < COLUMNS; i++)
        row[i].text = "";
    row[COLUMN_SCENARIO].text = f->trial->scenario;
    row[COLUMN_TRIAL].text = arena_printf(f->r->arena, "#%d", f->trial->trial);
    row[COLUMN_ROLE].text = container_role(f->trial, f->container);
    row[COLUMN_AT].text = at;
    return row;
}

static const char *seconds_of(const struct report *r, double ms)
{
    char text[32];

    return arena_strdup(r->arena, seconds_text(ms, text));
}

static const char *count_of(const struct report *r, double count)
{
    if (!isfinite(count))
        return NOT_MEASURED;
    return arena_printf(r->arena, "%.*g", count < 1e15 ? 15 : 3, count);
}

const char *down_text(const struct report *r, const struct death *d)
{
    switch (d->after) {
    case AFTER_READY:
        return seconds_of(r, d->down_ms);
    case AFTER_NOTREADY:
        return arena_printf(r->arena, "%s, not ready", seconds_of(r, d->down_ms));
    case AFTER_NOTHING:
        return "to the end";
    case AFTER_UNKNOWN:
        break;
    }
    return NOT_MEASURED;
}

static void exit_row(struct failures *f, const struct death *d)
{
    struct report *r = f->r;
    const struct container_exit *e = d->exit;
    struct field *row = add_row(f, seconds_of(r, e->at_ms));

    if (!row)
        return;
    row[COLUMN_CAUSE] = (struct field){.text = e->cause ? e->cause : "cause not recorded", .tone = TONE_BAD};
    row[COLUMN_CODE].text = arena_printf(r->arena, "%d", e->code);
    row[COLUMN_DOWN].text = down_text(r, d);
    row[COLUMN_SERVED].text = count_of(r, d->requests);
    row[COLUMN_EVIDENCE].text = e->evidence ? e->evidence : "";
}

/* What lies between the first and the last of many that are alike. */
static void fold_row(struct failures *f, const struct death *d, size_t n, double every_ms)
{
    double served = 0, least = INFINITY, most = 0;
    struct report *r = f->r;
    struct field *row = add_row(f, arena_printf(r->arena, "every %s", seconds_of(r, every_ms)));

    if (!row)
        return;
    for (size_t i = 1; i + 1 < n; i++) {
        served += d[i].requests;
        if (d[i].after == AFTER_READY || d[i].after == AFTER_NOTREADY) {
            least = fmin(least, d[i].down_ms);
            most = fmax(most, d[i].down_ms);
        }
    }
    row[COLUMN_CAUSE] = (struct field){.text = arena_printf(r->arena, "%zu times more, %zu in all", n - 2, n),
                                       .tone = TONE_BAD};
    row[COLUMN_DOWN].text = !(most >= least) ? NOT_MEASURED
                            : most - least < 10 || most < 1.02 * least
                                ? seconds_of(r, most)
                                : arena_printf(r->arena, "%s–%s", seconds_of(r, least), seconds_of(r, most));
    row[COLUMN_SERVED].text = count_of(r, served);
}

static void silence_row(struct failures *f, const struct container_silence *s)
{
    struct report *r = f->r;
    struct field *row = add_row(f, seconds_of(r, s->from_ms));

    if (!row)
        return;
    row[COLUMN_CAUSE] = (struct field){.text = "unresponsive", .tone = TONE_BAD};
    row[COLUMN_DOWN].text = isnan(s->to_ms) ? "to the end" : seconds_of(r, s->to_ms - s->from_ms);
    row[COLUMN_EVIDENCE].text = "it ran, and neither a probe nor a request was answered";
}

static const char *counted_words(const struct failures *f)
{
    const struct container_result *c = f->container;

    if (!(c->restarts > 0))
        return arena_printf(f->r->arena, "child killed for memory (%s)", count_of(f->r, c->oom_kills));
    return arena_printf(f->r->arena, "%s restart%s, %s OOM kill%s", count_of(f->r, c->restarts),
                        c->restarts == 1 ? "" : "s", count_of(f->r, c->oom_kills),
                        c->oom_kills == 1 ? "" : "s");
}

/* Kills that it outlived, and restarts that no end tells of. */
static void bare_row(struct failures *f)
{
    const struct finding *child = trial_finding_of(f->trial, "oom-child", f->container);
    struct field *row = add_row(f, seconds_of(f->r, child ? child->at_ms : (double)NAN));

    if (!row)
        return;
    row[COLUMN_CAUSE] = (struct field){.text = counted_words(f), .tone = TONE_BAD};
    row[COLUMN_EVIDENCE].text = child && child->message ? child->message : "no end of it was recorded";
}

static void one_container(struct failures *f, const struct container_result *c)
{
    const struct death *deaths = deaths_of(c, f->r->arena);
    size_t silence = 0;

    f->container = c;
    for (size_t i = 0, n; i < c->exit_count; i += n) {
        double every_ms = NAN;
        n = deaths_alike(&deaths[i], c->exit_count - i, &every_ms);
        for (; silence < c->silence_count && c->silences[silence].from_ms < c->exits[i].at_ms; silence++)
            silence_row(f, &c->silences[silence]);
        if (exit_is_ours(&c->exits[i]))
            continue;
        exit_row(f, &deaths[i]);
        if (n > 1) {
            fold_row(f, &deaths[i], n, every_ms);
            exit_row(f, &deaths[i + n - 1]);
        }
    }
    for (; silence < c->silence_count; silence++)
        silence_row(f, &c->silences[silence]);
    if (!c->exit_count && !c->silence_count)
        bare_row(f);
    for (size_t i = 0; i < c->life_count; i++)
        f->served |= !isnan(c->lives[i].requests);
}

static struct table *failures_table(struct report *r)
{
    static const struct column columns[COLUMNS] = {
        [COLUMN_SCENARIO] = {"scenario", "", false},   [COLUMN_TRIAL] = {"trial", "", false},
        [COLUMN_ROLE] = {"container", "", false},      [COLUMN_AT] = {"at", "", true},
        [COLUMN_CAUSE] = {"what happened", "", false}, [COLUMN_CODE] = {"code", "", true},
        [COLUMN_DOWN] = {"down for", "", true},        [COLUMN_SERVED] = {"served", "requests", true},
        [COLUMN_EVIDENCE] = {"evidence", "", false},
    };
    struct table *t = table_new(r, COLUMNS, COLUMN_AT + 1);

    for (size_t i = 0; i < COLUMNS; i++)
        t->columns[i] = columns[i];
    t->wide = true;
    return t;
}

/* --- how often, how long: figures --- */

static bool has_failed(const struct cell *c)
{
    for (size_t i = 0; i < c->trial_count; i++)
        if (trial_failed(c->trials[i]))
            return true;
    return c->figures[FIGURE_UPTIME].n && c->figures[FIGURE_UPTIME].min < 100;
}

static const char *availability_words(struct report *r)
{
    return arena_printf(
        r->arena, "Lowest and highest of all trials.%s%s%s%s",
        figure_shown(r, FIGURE_UPTIME)
            ? " Uptime: the container ran; where validity says available, it answered, too."
            : "",
        figure_shown(r, FIGURE_TO_FAILURE)
            ? " Failed after: from its start to its first death that benchctl did not ask for, or silence."
            : "",
        figure_shown(r, FIGURE_SILENT) ? " Silent: alive, and answering nothing." : "",
        figure_shown(r, FIGURE_DOWN) ? " Down: not running, or not ready again." : "");
}

void list_availability(struct report *r)
{
    for (size_t i = 0; i < r->cells.len; i++) {
        if (!has_failed(&r->cells.items[i]))
            continue;
        struct section *s = figure_section_where(r, "Failures", TABLE_FAILURES, has_failed);
        if (s)
            section_line(s, availability_words(r));
        return;
    }
}

void list_failures(struct report *r)
{
    struct failures f = {.r = r, .table = failures_table(r)};
    const struct container_result *c;

    for (size_t i = 0; i < r->cells.len; i++) {
        for (size_t k = 0; k < r->cells.items[i].trial_count; k++) {
            f.trial = r->cells.items[i].trials[k];
            for (size_t n = 0; (c = trial_container(f.trial, n)); n++)
                if (container_failed(c))
                    one_container(&f, c);
        }
    }
    if (!f.table->rows.len)
        return;
    struct section *s = section_new(r, "What failed");
    s->table = f.table;
    s->draw = html_failures;
    section_line(
        s, "Times count from the begin of the load (of the trial, where none began); down for: until it was "
           "ready again; served: answered as expected in the life that ended, by the generator's series: "
           "the load's own warm-up phases are in it, a warm-up before the load is not.");
    if (f.more)
        section_line(s, arena_printf(r->arena, "and %zu more, in the trials' records", f.more));
}
