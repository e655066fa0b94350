/* SPDX-License-Identifier: MIT */
/* The load: warm-up, the measured window, and what the generator says of it. */
#include "benchctl/base/clock.h"
#include "generation.h"

/* The phases of the built-in generator that are a warm-up, or those that are not; NULL: there are none. */
static const struct workload *part_of(struct trial_run *t, bool warmup)
{
    const struct workload *w = t->settings->load.workload;

    if (!w)
        return NULL;
    struct workload *part = arena_new_of(t->arena, struct workload);
    matrix_workload_part(w, warmup, t->arena, part);
    return part->phases.len ? part : NULL;
}

bool warmup_wanted(struct trial_run *t)
{
    const struct warmup_settings *w = t->settings->load.warmup;

    return (w && w->duration_ns > 0) || part_of(t, true);
}

int step_warmup(struct trial_run *t, struct error *err)
{
    const struct warmup_settings *w = t->settings->load.warmup;
    const struct workload *part = part_of(t, true);
    int64_t begin = clock_now_ns();
    struct error untidy = ERROR_INIT; /* after another error: that one is told */
    CLEANUP_VALUE(generation_release)
    struct generation g = {
        .trial = t,
        .dir = arena_printf(t->arena, "%s/load/warmup", t->dir),
        .duration_ns = part ? workload_duration_ns(part) : w->duration_ns,
        .part = part,
        .stdout_fd = -1,
        .stderr_fd = -1,
    };
    int rc = generation_prepare(&g, err) < 0 ? -1 : generation_run(&g, err);
    if (generation_clean(&g, rc < 0 ? &untidy : err) < 0)
        rc = -1;
    t->warmup_ms = clock_ms_since(begin);
    if (rc < 0)
        return -1;
    if (t->app_ended)
        return 0;
    return fs_remove_tree(g.dir, err); /* same generator, results thrown away */
}

/* The window opens: peaks and counters start from here. */
static int window_begin(struct trial_run *t, struct error *err)
{
    if (sweep_attend(t->sweep, err) < 0 || database_window_begin(t, err) < 0)
        return -1;
    if (t->scraper)
        scraper_window_begin(t->scraper);
    sampler_window_begin(t->sampler);
    clocks_at_window(t, true);
    t->load_begin_ns = clock_now_ns();
    trial_event(t, "load begin", "load", NULL);
    return 0;
}

static void finish_scrapes(struct trial_run *t)
{
    struct error e = ERROR_INIT;
    struct text_list notes = {0};

    if (!t->scraper)
        return;
    if (scraper_finish(t->scraper, t->arena, &t->record.metrics, &t->record.metric_count, &e) < 0)
        trial_note(t, "metrics: %s", e.message);
    tell_scrapes(t);
    scraper_notes(t->scraper, t->arena, &notes);
    for (size_t i = 0; i < notes.len; i++)
        trial_note(t, "metrics: %s", notes.items[i]);
}

/* The window closes: the last readings of everything, whatever has happened. */
static void window_end(struct trial_run *t)
{
    t->load_end_ns = clock_now_ns();
    clocks_at_window(t, false);
    sampler_window_end(t->sampler);
    trial_event(t, "load end", "load", NULL);
    loop_shield(t->sweep->loop, +1);
    finish_scrapes(t);
    database_window_end(t);
    loop_shield(t->sweep->loop, -1);
}

/*
 * The warm-up may have killed it, or may be killing it at this moment: a generator that finds nobody
 * listening at its start gives up. One good answer more before the window opens; nothing loads it meanwhile.
 */
static int ready_again(struct trial_run *t, struct error *err)
{
    int64_t timeout = ready_timeout_ns(&t->settings->app);
    enum ready_result r;

    if (t->warmup_ms <= 0)
        return 0;
    if (unit_wait_ready(t->sweep, t->app, clock_now_ns() + timeout, &r, err) < 0)
        return -1;
    return r == READY_YES ? 0 : app_not_ready(t, r, timeout, err);
}

int step_load(struct trial_run *t, struct error *err)
{
    struct error untidy = ERROR_INIT; /* after another error: that one is told */
    CLEANUP_VALUE(generation_release)
    struct generation g = {
        .trial = t,
        .dir = arena_printf(t->arena, "%s/load", t->dir),
        .duration_ns = t->settings->load.duration_ns,
        .measured = true,
        .part = part_of(t, false),
        .stdout_fd = -1,
        .stderr_fd = -1,
    };

    if (t->app_ended)
        return 0; /* it did not survive the warm-up: a finding, told by its ledger */
    if (ready_again(t, err) < 0)
        return -1;
    int rc = generation_prepare(&g, err);
    if (rc == 0) {
        memory_trim();
        rc = window_begin(t, err);
    }
    if (rc == 0) {
        rc = generation_run(&g, err);
        window_end(t);
    }
    if (generation_clean(&g, rc < 0 ? &untidy : err) < 0)
        rc = -1;
    if (rc < 0)
        return -1;
    return generation_results(&g, err);
}
