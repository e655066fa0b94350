/* SPDX-License-Identifier: MIT */
/* The images that the bundle's trials ran, in this engine. */
#include "rerun_open.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"
#include "benchctl/images.h"
#include "benchctl/run.h"

#define BUILD_TIMEOUT_NS (1800 * NS_PER_S) /* as in a run */

/* One image that some scenario needs. */
struct wanted {
    const char *key, *shown;
    const char *image;                  /* its name; NULL: it is built and has none */
    const struct build_settings *build; /* NULL: it has no recipe here */
    const struct json *then;            /* sweep.json's entry; NULL: the bundle does not say which it was */
    bool may_be_absent;                 /* whoever needs it is passed over without it: `if_missing: skip` */
};

struct image_search {
    struct rerun *r;
    VEC(struct wanted) wanted;
    struct json *chosen; /* for rerun.json */
};

static void progress_line(const char *line, void *data)
{
    (void)data;
    note("  %s", line);
}

/* --- which --- */

/* By the portable key; bundles that have none, by the reference. */
static const struct json *recorded(const struct rerun *r, const char *key, const char *image)
{
    const struct json *images = json_get(r->then->info, "images");

    for (size_t i = 0; i < json_len(images); i++) {
        const struct json *j = json_at(images, i);
        const char *has = json_get_text(j, "key");
        if (has ? strcmp(has, key) == 0 : text_equal(json_get_text(j, "reference"), image))
            return j;
    }
    return NULL;
}

static void want(struct image_search *f, const struct container_settings *c)
{
    CLEANUP_FREE char *key = run_image_key(f->r->matrix, c);
    struct arena *a = f->r->arena;
    bool skip = c->if_missing == IF_MISSING_SKIP;

    vec_each (w, &f->wanted)
        if (strcmp(w->key, key) == 0) {
            w->may_be_absent &= skip;
            return;
        }
    struct wanted w = {.may_be_absent = skip,
                       .key = arena_strdup(a, key),
                       .image = arena_strdup(a, c->image),
                       .shown = arena_strdup(a, c->image ? c->image : path_basename(c->build->context)),
                       .then = recorded(f->r, key, c->image)};
    if (c->build) {
        struct build_settings *build = arena_copy(a, c->build, sizeof(*build));
        build->context = arena_strdup(a, build->context);
        build->dockerfile = arena_strdup(a, build->dockerfile);
        struct text_pair *args = arena_array(a, struct text_pair, build->args.len + 1);
        for (size_t i = 0; i < build->args.len; i++)
            args[i] = (struct text_pair){.key = arena_strdup(a, c->build->args.items[i].key),
                                         .value = arena_strdup(a, c->build->args.items[i].value)};
        build->args.items = args;
        w.build = build;
    }
    vec_push(&f->wanted, w);
}

static int want_scenario(struct image_search *f, size_t i, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct settings s;

    if (plan_settings(f->r->plan, i, a, &s, err) < 0)
        return -1;
    const struct container_settings *services = s.services.items;
    const struct container_settings generator = {.name = "load", .image = s.load.image};
    want(f, &s.app);
    for (size_t k = 0; k < s.services.len; k++)
        want(f, &services[k]);
    if (s.database && s.database->service)
        want(f, s.database->service);
    if (s.build)
        want(f, &s.build->container);
    if (s.load.image)
        want(f, &generator);
    return 0;
}

/* --- from where --- */

/* What the bundle says of an image, as an inspect reply would. */
static struct json *as_inspect(const struct json *then)
{
    struct json *j = json_new_object(), *fs = json_new_object();

    json_set_text(j, "Id", json_get_text(then, "id"));
    if (json_get(then, "repo_digests"))
        json_set(j, "RepoDigests", json_clone(json_get(then, "repo_digests")));
    if (json_get(then, "layers"))
        json_set(fs, "Layers", json_clone(json_get(then, "layers")));
    json_set(j, "RootFS", fs);
    return j;
}

static void choose(struct image_search *f, const struct wanted *w, const char *id, const char *how)
{
    struct json *j = json_new_object();

    json_set_text(j, "key", w->key);
    json_set_text(j, "shown", w->shown);
    json_set_text(j, "then", json_get_text(w->then, "id"));
    json_set_text(j, "id", id);
    json_set_text(j, "how", how);
    json_append(f->chosen, j);
}

/* 1: it is there and was chosen; 0: it is not; -1. */
static int try_present(struct image_search *f, const struct wanted *w, const char *reference, const char *how,
                       struct error *err)
{
    CLEANUP_VALUE(engine_image_release) struct engine_image image = {0};
    CLEANUP(json_free) struct json *then = as_inspect(w->then);
    struct error e = ERROR_INIT;

    if (!reference || !*reference)
        return 0;
    if (engine_image_inspect(f->r->engine, reference, &image, &e) < 0) {
        if (e.kind == ERROR_NOT_FOUND || e.kind == ERROR_INVALID)
            return 0;
        *err = e;
        return -1;
    }
    enum image_likeness like = engine_images_compare(then, image.inspect);
    if (like == IMAGES_UNLIKE && !text_equal(image.id, json_get_text(w->then, "id")))
        return 0;
    if (like == IMAGES_SAME_LAYERS)
        rerun_warn(
            f->r, "image '%s' has the layers that it had; whether its configuration is the same is not known",
            w->shown);
    choose(f, w, image.id,
           how                          ? how
           : like == IMAGES_SAME_LAYERS ? "same layers"
           : like == IMAGES_SAME_DIGEST ? "same digest"
                                        : "present");
    return 1;
}

/* It runs by its id: a name would be what the bundle likes, and the next matrix would take it for its own. */
static int try_bundle(struct image_search *f, const struct wanted *w, struct error *err)
{
    CLEANUP_FREE char *dir = path_join(f->r->extracted, BUNDLE_IMAGES_DIR), *id = NULL;
    const struct images_loading l = {
        .dir = dir, .id = json_get_text(w->then, "id"), .progress = progress_line, .nameless = true};

    if (!fs_is_dir(dir) || !images_has(dir, l.id))
        return 0;
    if (f->r->options->dry_run) {
        choose(f, w, NULL, "would be loaded from the bundle");
        return 1;
    }
    note("loading image '%s' from the bundle", w->shown);
    if (images_load_as(f->r->engine, &l, &id, err) < 0)
        return error_wrap(err, "loading image '%s' from the bundle", w->shown);
    choose(f, w, id, "loaded from the bundle");
    return 1;
}

static int try_pull(struct image_search *f, const struct wanted *w, struct error *err)
{
    const struct json *digests = json_get(w->then, "repo_digests");

    for (size_t i = 0; i < json_len(digests); i++) {
        const char *digest = json_text(json_at(digests, i));
        struct error e = ERROR_INIT;
        if (!digest || !strchr(digest, '@'))
            continue;
        if (f->r->options->dry_run) {
            choose(f, w, NULL, "would be pulled by digest");
            return 1;
        }
        note("pulling image '%s'", digest);
        if (engine_image_pull(f->r->engine, digest, NULL, progress_line, NULL, &e) == 0)
            return try_present(f, w, digest, "pulled by digest", err);
        if (e.kind == ERROR_INTERRUPTED) {
            *err = e;
            return -1;
        }
        note("  %s", e.message);
    }
    return 0;
}

static int try_build(struct image_search *f, const struct wanted *w, struct error *err)
{
    CLEANUP_FREE char *id = NULL;

    if (!w->build || !fs_is_dir(w->build->context))
        return 0;
    const struct engine_build b = {.context = w->build->context,
                                   .dockerfile = w->build->dockerfile,
                                   .args = &w->build->args,
                                   .progress = progress_line,
                                   .timeout_ns = BUILD_TIMEOUT_NS};
    if (f->r->options->dry_run) {
        choose(f, w, NULL, "would be built again");
        return 1;
    }
    note("building image '%s' again", w->shown);
    if (engine_image_build(f->r->engine, &b, &id, err) < 0) {
        (void)error_wrap(err, "building image '%s' again", w->shown);
        return error_hint(err, "a bundle made with --with-images brings its images");
    }
    const char *was = json_get_text(w->then, "id");
    if (!text_equal(id, was))
        rerun_warn(
            f->r,
            "image '%s' was built again from its context and is another one than then (%.19s, not %.19s): "
            "its base image, and what the build fetched, may have changed",
            w->shown, id, was ? was : "unknown");
    choose(f, w, id, "built again");
    return 1;
}

static int find(struct image_search *f, const struct wanted *w, struct error *err)
{
    int found = 0;

    if (w->then) {
        found = try_present(f, w, json_get_text(w->then, "id"), NULL, err);
        if (found == 0)
            found = try_bundle(f, w, err);
        if (found == 0)
            found = try_present(f, w, w->image, NULL, err);
        if (found == 0)
            found = try_pull(f, w, err);
    }
    if (found == 0)
        found = try_build(f, w, err);
    if (found == 0 && w->may_be_absent)
        note("image '%s' is not here%s; without it what needs it is skipped", w->shown,
             w->then ? "" : ", nor was it then");
    else if (found == 0 && w->then)
        rerun_miss(
            f->r, "image '%s' (%.19s) is not in the engine, not in the bundle, and cannot be pulled or built",
            w->shown, json_get_text(w->then, "id") ? json_get_text(w->then, "id") : "id unknown");
    else if (found == 0)
        rerun_miss(f->r,
                   "which image '%s' was is not in the bundle: its sweep ended before it was looked for",
                   w->shown);
    return found < 0 ? -1 : 0;
}

int rerun_find_images(struct rerun *r, struct json **ret, struct error *err)
{
    struct image_search f = {.r = r, .chosen = json_new_array()};
    int rc = 0;

    for (size_t i = 0; i < plan_counts(r->plan)->scenarios && rc == 0; i++)
        rc = want_scenario(&f, i, err);
    if (rc == 0 && plan_counts(r->plan)->canaries)
        rc = want_scenario(&f, PLAN_CANARY, err);
    vec_each (w, &f.wanted)
        if (rc == 0)
            rc = find(&f, w, err);
    vec_release(&f.wanted);
    if (rc < 0) {
        json_free(f.chosen);
        return -1;
    }
    *ret = f.chosen;
    return 0;
}
