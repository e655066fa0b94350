/* SPDX-License-Identifier: MIT */
/* What one matrix needs of this machine, over all its scenarios. */
#include "doctor.h"

#include <stdio.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/name_index.h"

#define SCENARIOS_MAX 2000 /* that are looked at: each costs a tenth of a millisecond, and they are alike */
#define NAMES_MAX 5        /* in one line */

/* What a trial leaves behind, measured: a row of samples.csv is 60 to 110 bytes, a second of a load's series
 * 300, a scrape some 4 KiB once packed; record, events and logs seldom more than a quarter of a MiB. The
 * bundle, packed, is a copy of it. */
#define TRIAL_BYTES (256 * 1024.0)
#define ROW_BYTES 110.0
#define SECOND_BYTES 300.0
#define SCRAPE_BYTES 4096.0
#define BUNDLE_FACTOR 1.5

struct needs {
    struct doctor *d;
    const struct matrix *matrix;
    struct name_index images, adapters;
    struct strbuf images_missing, programs_found, programs_missing;
    size_t images_present, images_missing_count, image_errors, builds;
    size_t skipped;                        /* scenarios, by `if_missing: skip` */
    double trial_bytes;                    /* the sum over the scenarios that were looked at */
    double canary_bytes;                   /* of one of its trials; 0: there is no canary */
    double memory_bytes, memory_unlimited; /* the most that a trial's limits come to; how many have none */
    const char *memory_of;
    struct strbuf cpusets;
    bool cpuset_missing;
    size_t looked_at;
};

static bool is_new(struct name_index *x, struct arena *a, const char *name)
{
    bool fresh;

    if (name_index_get(x, name))
        return false;
    (void)name_index_put(x, arena_strdup(a, name), 0, &fresh);
    return true;
}

/* --- images and generators --- */

/* Is it missing? What is built is there, as far as can be told without building. */
static bool need_image(struct needs *n, const char *reference, const struct build_settings *build)
{
    struct engine_image image = {0};
    struct error err = ERROR_INIT;
    const size_t *known = reference ? name_index_get(&n->images, reference) : NULL;
    bool fresh;

    n->builds += build != NULL;
    if (build || !reference || !n->d->engine || known)
        return known && !build && *known;
    size_t *missing = name_index_put(&n->images, arena_strdup(n->d->arena, reference), 0, &fresh);
    if (engine_image_inspect(n->d->engine, reference, &image, &err) == 0) {
        n->images_present++;
        engine_image_release(&image);
    } else if (err.kind == ERROR_NOT_FOUND) {
        *missing = 1;
        if (n->images_missing_count++ < NAMES_MAX)
            strbuf_addf(&n->images_missing, "%s%s", n->images_missing.len ? ", " : "", reference);
    } else {
        n->image_errors++;
    }
    return *missing;
}

/* Is the scenario passed over when this one's image is not there? */
static bool need_container(struct needs *n, const struct container_settings *c)
{
    return need_image(n, c->image, c->build) && c->if_missing == IF_MISSING_SKIP;
}

/* All of them are looked for, also when one is missing. */
static void need_images(struct needs *n, const struct settings *s, bool canary)
{
    const struct container_settings *services = s->services.items;
    bool skipped = need_container(n, &s->app);

    for (size_t k = 0; k < s->services.len; k++)
        skipped |= need_container(n, &services[k]);
    if (s->database && s->database->service)
        skipped |= need_container(n, s->database->service);
    if (s->build)
        (void)need_image(n, s->build->container.image, NULL);
    (void)need_image(n, s->load.image, NULL);
    n->skipped += skipped && !canary;
}

static void need_generator(struct needs *n, const struct load_settings *l)
{
    CLEANUP(load_adapter_free) struct load_adapter *ad = NULL;
    struct error err = ERROR_INIT;

    if (l->image || !l->adapter || !is_new(&n->adapters, n->d->arena, l->adapter))
        return;
    if (load_adapter_read(l->adapter, n->matrix->dir, &ad, &err) < 0) {
        doctor_say(n->d, FITNESS_FAIL, "generators", err.hint, "%s", err.message);
        return;
    }
    const char *program = load_adapter_program(ad), *package = load_adapter_package(ad);
    CLEANUP_FREE char *path = program ? fs_find_program(program) : NULL;
    if (program && !path)
        strbuf_addf(&n->programs_missing, "%s'%s' is not on PATH%s%s%s", n->programs_missing.len ? "; " : "",
                    program, package ? " (package " : "", package ? package : "", package ? ")" : "");
    else
        strbuf_addf(&n->programs_found, "%s%s", n->programs_found.len ? ", " : "",
                    path && !strchr(program, '/') ? path : l->adapter);
}

/* --- memory, processors, disk --- */

static void add_memory(const struct container_settings *c, double *sum, bool *unlimited)
{
    if (c->memory_bytes > 0)
        *sum += (double)c->memory_bytes;
    else
        *unlimited = true;
}

static void need_memory(struct needs *n, const struct settings *s, const char *id)
{
    const struct container_settings *services = s->services.items;
    double sum = 0;
    bool unlimited = false;

    add_memory(&s->app, &sum, &unlimited);
    for (size_t i = 0; i < s->services.len; i++)
        add_memory(&services[i], &sum, &unlimited);
    if (s->database && s->database->service)
        add_memory(s->database->service, &sum, &unlimited);
    n->memory_unlimited += unlimited;
    if (sum <= n->memory_bytes)
        return;
    n->memory_bytes = sum;
    n->memory_of = arena_strdup(n->d->arena, id);
}

static void need_cpuset(struct needs *n, const char *role, const char *cpuset)
{
    long missing = host_cpus_missing(cpuset);

    if (missing < 0 || n->cpuset_missing)
        return;
    n->cpuset_missing = true;
    strbuf_clear(&n->cpusets);
    strbuf_addf(&n->cpusets, "cpuset %s of '%s': this machine has no processor %ld", cpuset, role, missing);
}

static void need_processors(struct needs *n, const struct settings *s)
{
    const struct container_settings *services = s->services.items;
    long app, other;

    need_cpuset(n, "app", s->app.cpuset);
    need_cpuset(n, "load", s->load.cpuset);
    for (size_t i = 0; i < s->services.len; i++)
        need_cpuset(n, services[i].name, services[i].cpuset);
    if (s->database && s->database->service)
        need_cpuset(n, "database", s->database->service->cpuset);
    if (!n->cpusets.len && host_cpus_share_core(s->app.cpuset, s->load.cpuset, &app, &other))
        strbuf_addf(&n->cpusets,
                    "processor %ld of the app and %ld of the load generator are threads of one core", app,
                    other);
}

static double seconds(int64_t ns)
{
    return ns > 0 ? (double)ns / 1e9 : 0;
}

/* What one trial of it leaves in the run directory, logs of talkative applications apart. */
static double artifact_bytes(const struct settings *s)
{
    const struct load_settings *l = &s->load;
    double containers = 1 + (double)s->services.len + (s->database != NULL);
    double window_s = seconds(l->duration_ns) + (l->warmup ? seconds(l->warmup->duration_ns) : 0);
    double period_s = s->sample.engine_ns > 0 ? seconds(s->sample.engine_ns) : 0.1;
    double rows = window_s / period_s * containers + 2 * window_s;
    const struct metrics_settings *m = s->app.metrics;
    double every_s = m && m->every_ns > 0 ? seconds(m->every_ns) : 2;

    return TRIAL_BYTES + rows * ROW_BYTES + window_s * SECOND_BYTES +
           (m ? window_s / every_s * SCRAPE_BYTES : 0);
}

/* --- all of them --- */

static void look_at_scenario(struct needs *n, size_t i)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct scenario sc = {0};
    struct settings s;
    struct error ignored = ERROR_INIT; /* `check` tells of it */

    if (plan_settings(n->d->options->plan, i, a, &s, &ignored) < 0)
        return;
    plan_scenario(n->d->options->plan, i, a, &sc);
    need_images(n, &s, i == PLAN_CANARY);
    need_generator(n, &s.load);
    need_memory(n, &s, sc.id);
    need_processors(n, &s);
    if (i == PLAN_CANARY) {
        n->canary_bytes = artifact_bytes(&s);
        return;
    }
    n->trial_bytes += artifact_bytes(&s);
    n->looked_at++;
}

static void say_images(const struct needs *n)
{
    struct doctor *d = n->d;
    char skipped[80] = "";

    if (n->skipped)
        (void)snprintf(skipped, sizeof(skipped), "; %zu scenario%s would be skipped", n->skipped,
                       n->skipped == 1 ? "" : "s");
    if (n->image_errors)
        doctor_say(d, FITNESS_WARN, "images", NULL, "%zu could not be asked for", n->image_errors);
    else if (n->images_missing_count)
        doctor_say(d, FITNESS_WARN, "images",
                   "build and tag them, `docker load`, or `docker pull` (a run tries that)",
                   "%zu of %zu not in the engine: %s%s%s", n->images_missing_count,
                   n->images_missing_count + n->images_present, n->images_missing.data,
                   n->images_missing_count > NAMES_MAX ? ", ..." : "", skipped);
    else if (d->engine)
        doctor_say(d, FITNESS_OK, "images", NULL, "%zu in the engine%s", n->images_present,
                   n->builds ? ", others are built" : "");
}

static void say_needs(struct needs *n)
{
    struct doctor *d = n->d;
    char need[32], have[32];

    if (n->programs_missing.len)
        doctor_say(d, FITNESS_FAIL, "generators", "install it, or give load.image", "%s",
                   n->programs_missing.data);
    else if (n->programs_found.len)
        doctor_say(d, FITNESS_OK, "generators", NULL, "%s", n->programs_found.data);
    say_images(n);
    if (n->cpusets.len)
        doctor_say(d, n->cpuset_missing ? FITNESS_FAIL : FITNESS_WARN, "cpuset",
                   "`lscpu -e` shows processors and their cores", "%s", n->cpusets.data);
    if (n->memory_bytes > d->view.memory_available_bytes)
        doctor_say(d, FITNESS_WARN, "limits", "stop what is not needed, or lower the limits",
                   "the containers of '%s' may use %s, %s are available", n->memory_of,
                   size_human(n->memory_bytes, need), size_human(d->view.memory_available_bytes, have));
    else if (n->memory_bytes > 0)
        doctor_say(d, FITNESS_OK, "limits", NULL, "%s at most for the containers of a trial%s",
                   size_human(n->memory_bytes, need),
                   n->memory_unlimited > 0 ? ", and some without a limit" : "");
}

static void say_artifacts(struct needs *n)
{
    struct doctor *d = n->d;
    double trials = plan_expected_trials(d->options->plan);
    double canaries = (double)plan_counts(d->options->plan)->canaries;
    double bytes = BUNDLE_FACTOR * (trials * n->trial_bytes / (n->looked_at ? (double)n->looked_at : 1) +
                                    canaries * n->canary_bytes);
    char need[32], have[32];

    doctor_say(d, bytes > d->view.disk_bytes ? FITNESS_FAIL : FITNESS_OK, "artifacts",
               "free some space or choose another --out",
               "about %s for %.0f trials and the bundle, of %s that are free", size_human(bytes, need),
               trials + canaries,
               isnan(d->view.disk_bytes) ? "an unknown space" : size_human(d->view.disk_bytes, have));
}

static void say_required(struct needs *n)
{
    const struct host_settings *h = &n->matrix->host;
    CLEANUP_VALUE(strbuf_release) struct strbuf why = STRBUF_INIT, hints = STRBUF_INIT;

    if (!h->require.len)
        return;
    if (host_violations(&h->require, &n->d->view, &why, &hints))
        doctor_say(n->d, h->on_violation == ON_PROBLEM_FAIL ? FITNESS_FAIL : FITNESS_WARN, "host.require",
                   strbuf_text(&hints), "%s", strbuf_text(&why));
    else
        doctor_say(n->d, FITNESS_OK, "host.require", NULL, "%zu condition%s hold%s", h->require.len,
                   h->require.len == 1 ? "" : "s", h->require.len == 1 ? "s" : "");
}

void doctor_look_at_matrix(struct doctor *d)
{
    struct needs n = {.d = d, .matrix = plan_matrix(d->options->plan)};
    uint64_t scenarios = plan_counts(d->options->plan)->scenarios;

    if (plan_counts(d->options->plan)->canaries)
        look_at_scenario(&n, PLAN_CANARY);
    for (uint64_t i = 0; i < scenarios && i < SCENARIOS_MAX; i++)
        look_at_scenario(&n, (size_t)i);
    say_needs(&n);
    say_artifacts(&n);
    say_required(&n);
    name_index_release(&n.images);
    name_index_release(&n.adapters);
    strbuf_release(&n.images_missing);
    strbuf_release(&n.programs_found);
    strbuf_release(&n.programs_missing);
    strbuf_release(&n.cpusets);
}
