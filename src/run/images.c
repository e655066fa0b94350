/* SPDX-License-Identifier: MIT */
/* The images that a sweep needs: in the engine, pulled, built, or not to be had. */
#include "prepare.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"

static char *image_key(const struct container_settings *c)
{
    if (!c->build)
        return xstrdup(c->image);
    CLEANUP_VALUE(strbuf_release) struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b, "%s\n%s\n%s", c->image ? c->image : "", c->build->context,
                c->build->dockerfile ? c->build->dockerfile : "");
    for (size_t i = 0; i < c->build->args.len; i++)
        strbuf_addf(&b, "\n%s=%s", c->build->args.items[i].key, c->build->args.items[i].value);
    return strbuf_detach(&b);
}

/* What has been looked for. */
static const struct image_use *known_image(struct sweep_run *s, const char *key)
{
    vec_each (i, &s->images)
        if (strcmp(i->key, key) == 0)
            return i;
    return NULL;
}

const char *image_for(struct sweep_run *s, const struct container_settings *c)
{
    CLEANUP_FREE char *key = image_key(c);
    const struct image_use *known = known_image(s, key);

    return known ? known->id : NULL;
}

const struct json *image_config(struct sweep_run *s, const struct container_settings *c)
{
    CLEANUP_FREE char *key = image_key(c);
    const struct image_use *known = known_image(s, key);

    return known ? known->config : NULL;
}

static void progress_line(const char *line, void *data)
{
    (void)data;
    note("  %s", line);
}

static void record_image(struct sweep_run *s, const struct container_settings *c, const char *key,
                         const struct engine_image *image)
{
    CLEANUP_FREE char *portable = run_image_key(s->matrix, c);
    const char *shown = c->image ? c->image : c->build->context;
    struct json *j = json_new_object(), *digests = json_new_array();
    const struct json *all = json_get(s->info, "images");

    json_set_text(j, "key", portable);
    json_set_text(j, "reference", shown);
    json_set_text(j, "id", image->id);
    for (char **d = image->repo_digests; d && *d; d++)
        json_append(digests, json_new_text(*d));
    json_set(j, "repo_digests", digests);
    if (json_pointer(image->inspect, "/RootFS/Layers"))
        json_set(j, "layers", json_clone(json_pointer(image->inspect, "/RootFS/Layers")));
    json_set_text(j, "architecture", image->architecture);
    json_set_number(j, "size_bytes", (double)image->size_bytes);
    json_append((struct json *)(uintptr_t)all, j);
    const struct json *config = json_get(image->inspect, "Config");
    vec_push(&s->images, (struct image_use){.key = xstrdup(key),
                                            .id = xstrdup(image->id),
                                            .config = config ? json_clone(config) : NULL});
}

static int build_image(struct sweep_run *s, const struct container_settings *c, struct engine_image *ret,
                       struct error *err)
{
    CLEANUP_FREE char *id = NULL;
    const char *shown = c->image ? c->image : path_basename(c->build->context);
    const struct engine_build b = {
        .context = c->build->context,
        .dockerfile = c->build->dockerfile,
        .tag = c->image,
        .args = &c->build->args,
        .timeout_ns = 1800 * NS_PER_S,
    };

    note("building image '%s'", shown);
    if (engine_image_build(s->engine, &b, &id, err) < 0)
        return error_wrap(err, "building image '%s' from '%s'", shown, c->build->context);
    return engine_image_inspect(s->engine, id, ret, err);
}

/* In the engine, or pulled. 1 when it is there, 0 when it is not to be had, -1 when the engine failed. */
static int find_image(struct preparation *p, const char *reference, struct engine_image *ret,
                      struct error *why, struct error *err)
{
    struct sweep_run *s = p->sweep;
    struct error e = ERROR_INIT;

    if (engine_image_inspect(s->engine, reference, ret, &e) == 0)
        return 1;
    if (e.kind != ERROR_NOT_FOUND) {
        *err = e;
        return -1;
    }
    *why = e;
    if (p->pull_useless)
        return 0;
    note("pulling image '%s'", reference);
    if (engine_image_pull(s->engine, reference, NULL, progress_line, NULL, why) < 0) {
        if (why->kind == ERROR_INTERRUPTED) {
            *err = *why;
            return -1;
        }
        p->pull_useless = why->kind != ERROR_NOT_FOUND;
        return 0;
    }
    return engine_image_inspect(s->engine, reference, ret, err) == 0 ? 1 : -1;
}

/* It is not to be had: that is remembered, with the reason. */
static void note_absent(struct sweep_run *s, const char *key, char *why)
{
    vec_push(&s->images, (struct image_use){.key = xstrdup(key), .id = NULL, .absent = why});
}

/* It was chosen before: that one and no other. */
static int take_given(struct preparation *p, const struct container_settings *c, const char *id,
                      const char *key, struct error *err)
{
    CLEANUP_VALUE(engine_image_release) struct engine_image image = {0};
    struct error e = ERROR_INIT;

    if (engine_image_inspect(p->sweep->engine, id, &image, &e) == 0) {
        record_image(p->sweep, c, key, &image);
        return 0;
    }
    if (e.kind != ERROR_NOT_FOUND) {
        *err = e;
        return -1;
    }
    note_absent(p->sweep, key, xasprintf("the one that was chosen, %s, is not in the engine", id));
    return 0;
}

/* Once for each: in the engine, pulled, or (in the second pass) built. */
static int look_for(struct preparation *p, const struct container_settings *c, const char *key,
                    struct error *err)
{
    CLEANUP_VALUE(engine_image_release) struct engine_image image = {0};
    struct error why = ERROR_INIT;
    const char *given = image_given(p->sweep, c);

    if (given)
        return take_given(p, c, given, key, err);
    if (c->build && !p->building && fs_is_dir(c->build->context))
        return 0;
    if (c->build && !fs_is_dir(c->build->context)) {
        note_absent(p->sweep, key, xasprintf("its build context '%s' is not there", c->build->context));
        return 0;
    }
    int found = c->build ? (build_image(p->sweep, c, &image, err) < 0 ? -1 : 1)
                         : find_image(p, c->image, &image, &why, err);
    if (found < 0)
        return -1;
    if (found)
        record_image(p->sweep, c, key, &image);
    else
        note_absent(p->sweep, key,
                    xstrdup("not in the engine and cannot be pulled; build and tag it, or load "
                            "it with `docker load`"));
    return 0;
}

static const char *shown_name(const struct container_settings *c)
{
    return c->image ? c->image : c->name;
}

static int need_image(struct preparation *p, const struct container_settings *c, struct error *err)
{
    CLEANUP_FREE char *key = image_key(c);

    if (!known_image(p->sweep, key) && look_for(p, c, key, err) < 0)
        return -1;
    const struct image_use *use = known_image(p->sweep, key);
    if (use && !use->id)
        missing_add(c->if_missing == IF_MISSING_SKIP && !p->must ? &p->absent : &p->missing, "image",
                    shown_name(c), use->absent);
    return 0;
}

static char *absent_text(struct sweep_run *s, const struct container_settings *c)
{
    CLEANUP_FREE char *key = image_key(c);
    const struct image_use *use = known_image(s, key);

    if (!use || use->id || c->if_missing != IF_MISSING_SKIP)
        return NULL;
    return xasprintf("no image '%s' on this engine; if_missing: skip; %s; `benchctl resume` looks again",
                     shown_name(c), use->absent);
}

char *image_absent(struct sweep_run *s, const struct settings *st)
{
    const struct container_settings *services = st->services.items;
    char *text = absent_text(s, &st->app);

    for (size_t i = 0; !text && i < st->services.len; i++)
        text = absent_text(s, &services[i]);
    if (!text && st->database && st->database->service)
        text = absent_text(s, st->database->service);
    return text;
}

int prepare_images(struct preparation *p, const struct settings *st, struct error *err)
{
    const struct container_settings *services = st->services.items;

    if (need_image(p, &st->app, err) < 0)
        return -1;
    for (size_t i = 0; i < st->services.len; i++)
        if (need_image(p, &services[i], err) < 0)
            return -1;
    if (st->database && st->database->service && need_image(p, st->database->service, err) < 0)
        return -1;
    if (st->build && need_image(p, &st->build->container, err) < 0)
        return -1;
    if (!st->load.image)
        return 0;
    const struct container_settings generator = {.name = "load", .image = st->load.image};
    return need_image(p, &generator, err);
}
