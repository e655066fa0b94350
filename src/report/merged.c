/* SPDX-License-Identifier: MIT */
/*
 * Percentiles over all trials of a scenario, from their merged histograms: exact, where a median of
 * percentiles is not one. Only where each trial that counts has left its histogram. And each trial's course,
 * from the files beside it.
 */
#include "report_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "benchctl/histogram.h"
#include "events.h"
#include "series.h"
#include "timeline.h"

#define HISTOGRAM_FILE "load/histogram.hlog"
#define SERIES_FILE "load/series.csv"
#define SAMPLES_FILE "samples.csv"
#define EVENTS_FILE "events.ndjson"
#define FILE_MAX ((size_t)256 << 20)
#define MARKS_MAX 300          /* of one trial, on its lines */
#define SERVICE_TAG "!service" /* what the answer took once it was sent: another quantity */

static const struct {
    const char *key;
    double q;
} merged_figures[] = {
    {"load.latency_ms.p50", 0.5},  {"load.latency_ms.p75", 0.75}, {"load.latency_ms.p90", 0.9},
    {"load.latency_ms.p95", 0.95}, {"load.latency_ms.p99", 0.99}, {"load.latency_ms.p999", 0.999},
};

/* One scenario's. */
struct merged {
    struct histogram *all;
    size_t trials; /* whose histograms are in it */
};

struct merging {
    struct report *r;
    struct merged *cells;
    size_t *cell_of; /* per trial of the sweep; cells.len: it does not count */
};

static int add_interval(const struct histogram_interval *i, const struct histogram *h, void *data,
                        struct error *err)
{
    (void)err;
    if (!i->tag || !text_ends(i->tag, SERVICE_TAG))
        histogram_merge(data, h);
    return 0;
}

/* One trial's log: all of it, or nothing. */
static int add_log(struct merging *m, const struct sweep_file *f)
{
    size_t cell = m->cell_of[f->trial];
    CLEANUP(histogram_free) struct histogram *h = NULL;
    struct error ignored = ERROR_INIT;
    char path[64];

    if (cell == m->r->cells.len)
        return 0;
    CLEANUP_CLOSE int fd = memfd_create("histogram", MFD_CLOEXEC);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    h = histogram_new();
    if (fd < 0 || fs_write_all(fd, f->bytes, f->len, f->name, &ignored) < 0 ||
        histogram_log_read(path, 1, add_interval, h, &ignored) < 0 || !histogram_count(h))
        return 0; /* it does not have one, then */
    struct merged *of = &m->cells[cell];
    if (!of->all)
        of->all = histogram_new();
    histogram_merge(of->all, h);
    of->trials++;
    return 0;
}

/* When the load began, in the trial's own time. */
static double load_begin_s(const struct trial *t)
{
    for (size_t i = 0; i < t->step_count; i++)
        if (text_equal(t->steps[i].name, "load"))
            return t->steps[i].start_ms / 1e3;
    return NAN;
}

static void mark_phases(struct report *r, size_t trial, struct series *s)
{
    const struct trial_parts *p = &r->parts[trial];
    struct series_phase *phases = arena_array(r->arena, struct series_phase, p->count[PART_PHASE] + 1);

    for (size_t i = 0; i < p->count[PART_PHASE] && p->count[PART_PHASE] > 1; i++) {
        const struct load_part *part = &p->items[PART_PHASE][i];
        if (part->duration_ms > 0 && part->begin_ms >= 0)
            phases[s->phase_count++] = (struct series_phase){
                part->name, part->begin_ms / 1e3, (part->begin_ms + part->duration_ms) / 1e3, part->warmup};
    }
    s->phases = phases;
}

static void mark_failures(struct report *r, const struct trial *t, struct series *s)
{
    const struct container_result *c = &t->app;
    size_t most = c->exit_count + c->silence_count < MARKS_MAX ? c->exit_count + c->silence_count : MARKS_MAX;
    struct series_mark *marks = arena_array(r->arena, struct series_mark, most + 1);
    char text[32];

    for (size_t i = 0; i < c->silence_count && s->mark_count < most; i++) {
        const struct container_silence *x = &c->silences[i];
        marks[s->mark_count++] = (struct series_mark){
            x->from_ms / 1e3, isnan(x->to_ms) ? s->span_s : x->to_ms / 1e3, "unresponsive", false};
    }
    for (size_t i = 0; i < c->exit_count && s->mark_count < most; i++) {
        const struct container_exit *e = &c->exits[i];
        marks[s->mark_count++] = (struct series_mark){
            e->at_ms / 1e3, NAN,
            arena_printf(r->arena, "%s: %s", seconds_text(e->at_ms, text), e->cause ? e->cause : "ended"),
            e->oom};
    }
    s->marks = marks;
}

/* Of more trials than a page has room for those that went wrong. */
static bool is_drawn(const struct report *r, const struct trial *t)
{
    return r->sweep->trial_count <= PAGE_TRIALS_MAX ||
           (t->outcome != OUTCOME_OK && r->series_kept < PAGE_TRIALS_MAX);
}

static void add_course(struct report *r, const struct sweep_file *f)
{
    const struct trial *t = &r->sweep->trials[f->trial];
    struct series **s = &r->series[f->trial];

    if (!(t->load.window_ms > 0))
        return;
    if (!*s) {
        r->series_kept++;
        *s = arena_new_of(r->arena, struct series);
        (*s)->span_s = t->load.window_ms / 1e3;
        mark_phases(r, f->trial, *s);
        mark_failures(r, t, *s);
    }
    if (strcmp(f->name, SERIES_FILE) == 0)
        series_add_load(*s, f->bytes, f->len);
    else
        series_add_samples(*s, f->bytes, f->len, load_begin_s(t));
}

/* Only a page draws courses, and events stand there, too. */
static bool is_read(size_t trial, const char *name, void *data)
{
    const struct merging *m = data;
    const struct report *r = m->r;

    if (strcmp(name, HISTOGRAM_FILE) == 0)
        return m->cell_of[trial] < r->cells.len;
    if (r->reads != REPORT_READS_ALL)
        return false;
    return strcmp(name, EVENTS_FILE) == 0 || r->series[trial] || is_drawn(r, &r->sweep->trials[trial]);
}

static int add_file(const struct sweep_file *f, void *data, struct error *err)
{
    struct merging *m = data;

    (void)err;
    if (strcmp(f->name, HISTOGRAM_FILE) == 0)
        return add_log(m, f);
    if (strcmp(f->name, EVENTS_FILE) == 0)
        events_add(m->r, f);
    else
        add_course(m->r, f);
    return 0;
}

static void find_cells(struct merging *m)
{
    struct report *r = m->r;

    for (size_t t = 0; t < r->sweep->trial_count; t++)
        m->cell_of[t] = r->cells.len;
    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        for (size_t k = 0; k < c->trial_count; k++)
            if (trial_counts(c, c->trials[k], NULL))
                m->cell_of[c->trials[k] - r->sweep->trials] = i;
    }
}

/* Between trials the spread stays what it is; what is called the middle is of all requests. */
static void put_quantiles(struct report *r, struct cell *c, const struct histogram *h)
{
    for (size_t i = 0; i < ARRAY_LEN(merged_figures); i++) {
        for (size_t f = 0; f < builtin_figure_count; f++) {
            struct summary *s = &c->figures[f];
            if (strcmp(r->figures.items[f].key, merged_figures[i].key) == 0 && s->n == c->counted)
                s->median = histogram_quantile_ms(h, merged_figures[i].q);
        }
    }
}

int report_merge(struct report *r, struct error *err)
{
    static const char *const names[] = {HISTOGRAM_FILE, SERIES_FILE, SAMPLES_FILE, EVENTS_FILE, NULL};
    const struct sweep_files files = {.names = names, .max = FILE_MAX, .wanted = is_read};
    struct merging m = {
        .r = r,
        .cells = arena_array(r->arena, struct merged, r->cells.len + 1),
        .cell_of = arena_array(r->arena, size_t, r->sweep->trial_count + 1),
    };

    r->series = arena_array(r->arena, struct series *, r->sweep->trial_count + 1);
    r->events = arena_array(r->arena, struct trial_events *, r->sweep->trial_count + 1);
    find_cells(&m);
    int rc = r->reads == REPORT_READS_RECORDS ? 0 : sweep_each_file(r->sweep, &files, add_file, &m, err);
    for (size_t i = 0; i < r->cells.len; i++) {
        struct cell *c = &r->cells.items[i];
        c->merged = rc == 0 && c->counted > 1 && m.cells[i].trials == c->counted;
        if (c->merged)
            put_quantiles(r, c, m.cells[i].all);
        histogram_free(m.cells[i].all);
    }
    return rc;
}
