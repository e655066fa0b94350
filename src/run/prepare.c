/* SPDX-License-Identifier: MIT */
/*
 * Everything that must be there before anything is started: parity, images, generators, secrets. What is
 * missing is listed at once, each with what would provide it.
 */
#include "eta.h"
#include "prepare.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/interpolate.h"
#include "benchctl/base/log.h"
#include "benchctl/base/process.h"

static void missing_program(struct preparation *p, const char *program, const char *package)
{
    CLEANUP_FREE char *why =
        xasprintf("not on PATH%s%s", package ? "; the package that has it: " : "", package ? package : "");

    missing_add(&p->missing, "load generator", program, why);
}

static void preparation_release(struct preparation *p)
{
    missing_release(&p->missing);
    missing_release(&p->absent);
    free(p->good_metrics);
}

/* --- generators --- */

struct adapter_use *adapter_for(struct sweep_run *s, const char *name)
{
    vec_each (a, &s->adapters)
        if (strcmp(a->name, name) == 0)
            return a;
    return NULL;
}

/* Its own words about its version; refused when they are another program's (two are called wrk). A program
 * that says nothing in time is not refused for that. */
static int ask_version(struct sweep_run *s, const struct load_adapter *ad, char **ret, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP_VALUE(process_output_release) struct process_output out = {0};
    CLEANUP_VALUE(strbuf_release) struct strbuf both = STRBUF_INIT;
    struct text_list argv = {0};
    struct error e = ERROR_INIT;

    if (load_adapter_version_command(ad, a, &argv, err) < 0)
        return -1;
    if (!argv.len)
        return 0;
    const char **terminated = arena_array(a, const char *, argv.len + 1);
    memcpy(terminated, argv.items, argv.len * sizeof(*terminated));
    const struct process_options o = {.argv = terminated, .stdout_fd = -1, .stderr_fd = -1};
    if (process_capture(s->loop, &o, clock_now_ns() + 10 * NS_PER_S, &out, &e) < 0) {
        if (e.kind == ERROR_TIMEOUT)
            return 0;
        *err = e;
        return -1;
    }
    strbuf_addf(&both, "%s\n%s", out.out, out.err_text);
    if (load_adapter_check_version(ad, strbuf_text(&both), err) < 0)
        return -1;
    const char *version = load_adapter_read_version(ad, strbuf_text(&both), a);
    *ret = version ? xstrdup(version) : NULL;
    return 0;
}

static int find_program(struct preparation *p, struct adapter_use *use, struct error *err)
{
    const char *program = load_adapter_program(use->adapter), *package = load_adapter_package(use->adapter);
    CLEANUP_FREE char *found = fs_find_program(program);
    struct error e = ERROR_INIT;

    if (!found) {
        missing_program(p, program, package);
        return 0;
    }
    if (ask_version(p->sweep, use->adapter, &use->version, &e) == 0)
        return 0;
    if (e.kind != ERROR_INTERRUPTED) {
        missing_add(&p->missing, "load generator", found, e.message);
        return 0;
    }
    *err = e;
    return -1;
}

static int need_generator(struct preparation *p, const struct load_settings *l, struct error *err)
{
    struct sweep_run *s = p->sweep;
    struct adapter_use *use = adapter_for(s, l->adapter);

    if (!use) {
        struct adapter_use new = {0};
        if (load_adapter_read(l->adapter, s->matrix->dir, &new.adapter, err) < 0)
            return -1;
        new.name = xstrdup(l->adapter);
        vec_push(&s->adapters, new);
        use = &s->adapters.items[s->adapters.len - 1];
    }
    if (l->image || use->looked_for || !load_adapter_program(use->adapter))
        return 0;
    use->looked_for = true;
    return find_program(p, use, err);
}

static struct position position_of(const struct node *n)
{
    return n ? n->at : (struct position){0};
}

/* What the adapter cannot do as asked is said now, not in the first trial. */
static int try_generator(struct sweep_run *s, const struct load_settings *l, const struct node *load,
                         struct error *err)
{
    const struct adapter_use *use = adapter_for(s, l->adapter);
    struct load_trying t = {.options = l->options,
                            .script = l->script,
                            .duration_ns = l->duration_ns,
                            .duration_at = position_of(node_get(load, "duration"))};

    if (!use || !use->adapter)
        return 0;
    if (load_adapter_try_at(use->adapter, &t, err) < 0)
        return -1;
    if (!l->warmup)
        return 0;
    t.duration_ns = l->warmup->duration_ns;
    t.duration_at = position_of(node_get(node_get(load, "warmup"), "duration"));
    return load_adapter_try_at(use->adapter, &t, err);
}

static int need_metrics(struct preparation *p, const struct metrics_settings *m, struct error *err)
{
    CLEANUP(metric_adapter_free) struct metric_adapter *a = NULL;
    CLEANUP_FREE char *names = m ? text_list_join(&m->adapters, ",") : NULL;

    if (!m || !m->adapters.len || text_equal(names, p->good_metrics))
        return 0;
    CLEANUP(adapter_directories_free) char **dirs = adapter_directories(p->sweep->matrix->dir);
    if (metric_adapter_read_all(&m->adapters, dirs, &a, err) < 0)
        return -1;
    free(p->good_metrics);
    p->good_metrics = TAKE(names);
    return 0;
}

/* --- secrets --- */

static int need_secret(const char *name, void *data, struct error *err)
{
    struct preparation *p = data;

    (void)err;
    if (!text_starts(name, "secret:"))
        return 0;
    name += strlen("secret:");
    if (!getenv(name))
        missing_add(&p->missing, "secret", name, "not in the environment; export it before the run");
    return 0;
}

/* --- parity --- */

static void summarise_differences(const struct parity_result *r, struct strbuf *out)
{
    for (size_t i = 0; i < r->check_count; i++) {
        const struct parity_check_result *c = &r->checks[i];
        if (c->ok || c->unavailable)
            continue;
        strbuf_addf(out, "\n  %s: %s", c->name, c->error ? c->error : "");
        for (size_t k = 0; k < c->difference_count && k < 3; k++)
            strbuf_addf(out, "%s%s %s", k ? "; " : "", c->differences[k].path, c->differences[k].what);
        if (c->difference_count > 3)
            strbuf_addf(out, "; and %zu more", c->difference_count - 3);
    }
}

static int check_parity(struct preparation *p, struct error *err)
{
    struct sweep_run *s = p->sweep;
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct parity_result r = {0};

    if (s->matrix->parity && s->options->no_parity) {
        struct json *skipped = json_new_object();
        json_set_bool(skipped, "skipped", true);
        json_set(s->info, "parity", skipped);
    }
    if (!s->matrix->parity || s->options->no_parity)
        return 0;
    progress_step(s, "parity");
    const struct parity_options o = {0};
    if (parity_run(s->matrix->parity, &o, a, &r, err) < 0)
        return error_wrap(err, "parity");
    json_set(s->info, "parity", parity_to_json(&r));
    if (r.ok)
        return 0;
    for (size_t i = 0; i < r.check_count; i++)
        if (r.checks[i].unavailable)
            missing_add(&p->missing, "parity check", r.checks[i].name, r.checks[i].error);
    summarise_differences(&r, &text);
    if (!text.len)
        return 0;
    if (s->matrix->parity->on_mismatch == ON_PROBLEM_WARN) {
        warn("parity is broken:%s", strbuf_text(&text));
        return 0;
    }
    (void)error_set(err, ERROR_PARITY, "parity is broken:%s", strbuf_text(&text));
    return error_hint(err, "`benchctl parity %s` shows every difference; --no-parity runs all the same",
                      s->matrix->file);
}

/* --- all of it --- */

static int need_scenario(struct preparation *p, const struct settings *st, const struct node *tree,
                         struct error *err)
{
    const struct check_settings *checks = st->checks.items;
    double none = NAN;

    for (size_t i = 0; i < st->expect.len; i++)
        if (expectation_check(st->expect.items[i], err) < 0)
            return -1;
    for (size_t i = 0; i < st->checks.len; i++)
        if (checks[i].value && trial_value(NULL, checks[i].value, &none, err) < 0)
            return error_wrap(err, "check '%s'", checks[i].name);
    if (need_generator(p, &st->load, err) < 0 ||
        try_generator(p->sweep, &st->load, node_get(tree, "load"), err) < 0 ||
        need_metrics(p, st->app.metrics, err) < 0)
        return -1;
    return prepare_images(p, st, err);
}

static int need_canary(struct preparation *p, struct arena *a, struct error *err)
{
    struct resolved r = {0};

    p->must = true; /* without it nothing tells what the host does meanwhile */
    if (plan_resolve(p->sweep->plan, PLAN_CANARY, a, &r, err) < 0 ||
        need_scenario(p, &r.settings, r.tree, err) < 0 ||
        each_reference_below(r.tree, need_secret, p, err) < 0)
        return error_wrap(err, "canary");
    p->must = false;
    if (!p->building)
        eta_plan(p->sweep->eta, ETA_CANARY, (double)plan_estimate_trial_ns(&r.settings),
                 (double)r.settings.cooldown.time_ns);
    return 0;
}

/* The time that its trials take: none when they are passed over. */
static void expect_time(struct preparation *p, size_t scenario, const struct settings *st)
{
    struct sweep_run *s = p->sweep;
    CLEANUP_FREE char *absent = image_absent(s, st);

    if (p->building)
        return;
    if (!absent) {
        eta_plan(s->eta, scenario, (double)plan_estimate_trial_ns(st), (double)st->cooldown.time_ns);
        return;
    }
    p->skipped++;
    for (int64_t k = 0; k < s->matrix->trials; k++)
        eta_done(s->eta, scenario);
}

static int need_all(struct preparation *p, struct error *err)
{
    struct sweep_run *s = p->sweep;
    CLEANUP(arena_free) struct arena *a = arena_new();

    if (plan_counts(s->plan)->canaries && need_canary(p, a, err) < 0)
        return -1;
    for (size_t i = 0; i < plan_counts(s->plan)->scenarios; i++) {
        struct resolved r = {0};
        arena_reset(a);
        if (plan_resolve(s->plan, i, a, &r, err) < 0 || need_scenario(p, &r.settings, r.tree, err) < 0 ||
            each_reference_below(r.tree, need_secret, p, err) < 0)
            return -1;
        expect_time(p, i, &r.settings);
    }
    return 0;
}

/* What `if_missing: skip` passes over, said once. Nothing at all to run is as bad as without it. */
static int tell_skipped(struct preparation *p, struct error *err)
{
    size_t all = plan_counts(p->sweep->plan)->scenarios;

    if (p->skipped == all)
        return missing_error(&p->absent, err);
    p->sweep->some_absent = p->skipped > 0;
    if (p->absent.things.len)
        note("%zu of %zu scenarios are skipped; not in the engine:", p->skipped, all);
    vec_each (t, &p->absent.things)
        note("  image '%s': %s", t->name, t->reason);
    return 0;
}

int sweep_prepare(struct sweep_run *s, struct error *err)
{
    CLEANUP_VALUE(preparation_release) struct preparation p = {.sweep = s};

    if (check_parity(&p, err) < 0)
        return -1;
    progress_step(s, "images");
    if (need_all(&p, err) < 0)
        return -1;
    if (p.missing.things.len)
        return missing_error(&p.missing, err);
    if (tell_skipped(&p, err) < 0)
        return -1;
    p.building = true;
    return need_all(&p, err);
}
