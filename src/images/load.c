/* SPDX-License-Identifier: MIT */
/* Images out of files into an engine. */
#include "upload.h"

#include "benchctl/base/log.h"

struct loading {
    struct engine *engine;
    const struct images_loading *options;
    struct store store;
    struct image_index index;
    const struct image *image;
    struct json *config; /* its own document */
    char *id;            /* what the engine calls it */
};

static void loading_release(struct loading *l)
{
    store_close(&l->store);
    index_release(&l->index);
    json_free(l->config);
    free(l->id);
}

static int open_files(struct loading *l, struct error *err)
{
    const char *dir = l->options->dir, *id = l->options->id;

    if (index_read(dir, &l->index, err) < 0)
        return -1;
    l->image = index_find(&l->index, id);
    if (!l->image)
        return error_set(err, ERROR_NOT_FOUND, "image '%s' is not in '%s'", id, dir);
    return store_open(dir, false, &l->store, err) < 0 || image_check(&l->store, l->image, &l->config, err) < 0
               ? -1
               : 0;
}

/* --- is that the image? --- */

/* What of a configuration decides what a container does. */
static bool same_config(const struct json *document, const struct json *inspect)
{
    static const char *const KEYS[] = {"Env", "Cmd", "Entrypoint", "WorkingDir", "User", "StopSignal"};
    const struct json *a = json_get(document, "config"), *b = json_get(inspect, "Config");

    for (size_t k = 0; k < ARRAY_LEN(KEYS); k++) {
        const struct json *mine = json_get(a, KEYS[k]), *theirs = json_get(b, KEYS[k]);
        bool empty = json_len(mine) == 0 && !(json_text(mine) && *json_text(mine)),
             their_empty = json_len(theirs) == 0 && !(json_text(theirs) && *json_text(theirs));

        if (!(empty && their_empty) && !json_same(mine, theirs))
            return false;
    }
    return true;
}

/* 1 when the engine has it under that id, 0 when it has no such id, -1 when that is another image. */
static int look(struct loading *l, const char *id, struct error *err)
{
    CLEANUP_VALUE(engine_image_release) struct engine_image there = {0};
    struct error e = ERROR_INIT;

    if (engine_image_inspect(l->engine, id, &there, &e) < 0) {
        if (e.kind == ERROR_NOT_FOUND)
            return 0;
        *err = e;
        return -1;
    }
    const struct json *layers = json_pointer(there.inspect, "/RootFS/Layers"),
                      *wanted = json_pointer(l->config, "/rootfs/diff_ids");
    if ((json_len(wanted) + json_len(layers) && !json_same(layers, wanted)) ||
        !same_config(l->config, there.inspect))
        return error_set(err, ERROR_ENVIRONMENT,
                         "what the engine calls '%s' has not the layers and configuration of image '%s'", id,
                         l->image->id);
    free(l->id);
    l->id = xstrdup(there.id);
    return 1;
}

/* Under the id it had, or that of its configuration, which is what most engines call it. */
static int look_for(struct loading *l, struct error *err)
{
    CLEANUP_FREE char *by_config = xasprintf(DIGEST_PREFIX "%s", l->image->config.sha256);
    int found = look(l, l->image->id, err);

    return found == 0 && strcmp(by_config, l->image->id) != 0 ? look(l, by_config, err) : found;
}

/* --- into the engine --- */

static int send(struct loading *l, char **ret_id, struct error *err)
{
    CLEANUP(upload_free) struct upload *u = upload_new(&l->store, l->image);
    const struct engine_upload up = {
        .read = upload_read, .read_data = u, .progress = l->options->progress, .data = l->options->data};

    if (engine_image_upload(l->engine, &up, ret_id, err) == 0)
        return 0;
    if (upload_error(u))
        *err = *upload_error(u); /* the engine only saw that it ended */
    return -1;
}

static int load(struct loading *l, struct error *err)
{
    CLEANUP_FREE char *told = NULL;

    if (send(l, &told, err) < 0)
        return -1;
    int found = look_for(l, err);
    if (found == 0 && told)
        found = look(l, told, err);
    if (found == 0)
        return error_set(err, ERROR_ENVIRONMENT, "the engine took the image and does not have it");
    return found < 0 ? -1 : 0;
}

/* --- names --- */

static int give_name(struct loading *l, const char *name, struct error *err)
{
    CLEANUP_VALUE(engine_image_release) struct engine_image there = {0};
    struct error e = ERROR_INIT;

    if (engine_image_inspect(l->engine, name, &there, &e) == 0) {
        if (strcmp(there.id, l->id) != 0)
            warn("'%s' is another image in this engine and stays that; the one of the bundle is '%s'", name,
                 l->id);
        return 0;
    }
    if (e.kind != ERROR_NOT_FOUND) {
        *err = e;
        return -1;
    }
    if (engine_image_tag(l->engine, l->id, name, err) < 0)
        return -1;
    note("'%s' is now the bundle's image in this engine, which had none of that name", name);
    return 0;
}

int images_load_as(struct engine *e, const struct images_loading *options, char **ret_id, struct error *err)
{
    CLEANUP_VALUE(loading_release) struct loading l = {.engine = e, .options = options, .store = {.fd = -1}};

    if (open_files(&l, err) < 0)
        return -1;
    int found = look_for(&l, err);
    if (found < 0 || (found == 0 && load(&l, err) < 0))
        return error_wrap(err, "cannot load image '%s'", options->id);
    if (strcmp(l.id, options->id) != 0)
        note("this engine calls image '%s' by another id, '%s'", options->id, l.id);
    vec_each (name, &l.image->names)
        if (!options->nameless && give_name(&l, *name, err) < 0)
            return -1;
    *ret_id = TAKE(l.id);
    return 0;
}

int images_load(struct engine *e, const char *dir, const char *id, engine_progress_fn *progress, void *data,
                struct error *err)
{
    const struct images_loading l = {.dir = dir, .id = id, .progress = progress, .data = data};
    CLEANUP_FREE char *as = NULL;

    return images_load_as(e, &l, &as, err);
}
