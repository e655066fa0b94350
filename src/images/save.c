/* SPDX-License-Identifier: MIT */
/* Images out of an engine into files. */
#include "internal.h"

#include <inttypes.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/log.h"
#include "benchctl/base/units.h"

/* Bytes that must stay free on the disk: the sweep's own files come after it. */
#define ROOM_TO_SPARE ((int64_t)16 << 20)

struct saving {
    struct engine *engine;
    const char *dir;
    struct store store;
    struct image_index before, after;
    VEC(const char *) missing; /* ids to be exported, each once */
    int64_t bytes;             /* that they need at least */
};

static void saving_release(struct saving *s)
{
    store_close(&s->store);
    index_release(&s->before);
    index_release(&s->after);
    vec_release(&s->missing);
}

/* --- what is to be done --- */

static bool is_asked_for(const struct saving *s, const char *id)
{
    vec_each (m, &s->missing)
        if (strcmp(*m, id) == 0)
            return true;
    return index_find(&s->after, id) != NULL;
}

/* Takes an image of the earlier index over, when all its files are there. */
static bool take_over(struct saving *s, const char *id)
{
    struct image *old = index_find(&s->before, id);
    struct error ignored = ERROR_INIT;

    if (!old || image_check(&s->store, old, NULL, &ignored) < 0)
        return false;
    vec_each (b, &old->layers) {
        CLEANUP_CLOSE int fd = -1;
        if (blob_open(&s->store, b, &fd, &ignored) < 0)
            return false;
    }
    vec_push(&s->after.images, *old);
    struct image *mine = &s->after.images.items[s->after.images.len - 1];
    mine->id = arena_strdup(s->after.arena, id);
    old->parents.items = old->layers.items = NULL; /* they have a new owner */
    old->parents.len = old->layers.len = 0;
    mine->names.items = NULL;
    mine->names.len = mine->names.cap = 0; /* given again */
    return true;
}

static bool shares_layers(const struct json *a, const struct json *b)
{
    for (size_t i = 0; i < json_len(a); i++)
        for (size_t k = 0; k < json_len(b); k++)
            if (json_same(json_at(a, i), json_at(b, k)))
                return true;
    return false;
}

/* The sum of the images that share nothing with one counted before: at least so much is certain. */
static int measure(struct saving *s, struct error *err)
{
    CLEANUP(json_free) struct json *counted = json_new_array();

    vec_each (id, &s->missing) {
        CLEANUP_VALUE(engine_image_release) struct engine_image image = {0};
        bool shared = false;

        if (engine_image_inspect(s->engine, *id, &image, err) < 0)
            return -1;
        const struct json *layers = json_pointer(image.inspect, "/RootFS/Layers");
        for (size_t k = 0; !shared && k < json_len(counted); k++)
            shared = shares_layers(layers, json_at(counted, k));
        if (!shared && image.size_bytes > 0)
            s->bytes += image.size_bytes;
        if (layers)
            json_append(counted, json_clone(layers));
    }
    return 0;
}

static int check_room(const struct saving *s, struct error *err)
{
    int64_t room = 0;
    char wanted[32], there[32];

    if (fs_free_bytes(s->dir, &room, err) < 0)
        return -1;
    if (room - ROOM_TO_SPARE >= s->bytes)
        return 0;
    (void)error_set(err, ERROR_ENVIRONMENT, "the images need at least %s, '%s' has room for %s",
                    size_human((double)s->bytes, wanted), s->dir, size_human((double)room, there));
    return error_hint(err, "free some space, or do without the images");
}

/* --- doing it --- */

static ptrdiff_t from_engine(void *buffer, size_t size, void *data, struct error *err)
{
    return engine_export_read(data, buffer, size, err);
}

static int export(struct saving *s, struct error *err)
{
    CLEANUP(engine_export_close) struct engine_export *x = NULL;
    const struct export_order o = {
        .store = &s->store, .ids = s->missing.items, .count = s->missing.len, .index = &s->after};
    char size[32];

    if (!s->missing.len)
        return 0;
    if (measure(s, err) < 0 || check_room(s, err) < 0)
        return -1;
    note("exporting %zu image%s, at least %s", s->missing.len, s->missing.len == 1 ? "" : "s",
         size_human((double)s->bytes, size));
    return engine_export_open(s->engine, s->missing.items, s->missing.len, &x, err) < 0 ||
                   export_take(from_engine, x, &o, err) < 0
               ? -1
               : 0;
}

static void give_name(struct saving *s, const struct images_wanted *w)
{
    struct image *i = index_find(&s->after, w->id);

    if (!i || !is_image_name(w->name) || i->names.len >= NAMES_MAX)
        return;
    vec_each (name, &i->names)
        if (strcmp(*name, w->name) == 0)
            return;
    vec_push(&i->names, arena_strdup(s->after.arena, w->name));
}

static int prepare(struct saving *s, const struct images_wanted *wanted, size_t count, struct error *err)
{
    struct error e = ERROR_INIT;

    s->after.arena = arena_new();
    if (store_open(s->dir, true, &s->store, err) < 0)
        return -1;
    if (index_read(s->dir, &s->before, &e) < 0 && e.kind == ERROR_ENVIRONMENT) {
        *err = e;
        return -1;
    }
    for (size_t k = 0; k < count; k++) {
        if (!digest_hex(wanted[k].id))
            return error_set(err, ERROR_INVALID, "'%s' is no image's id", wanted[k].id);
        if (!is_asked_for(s, wanted[k].id) && !take_over(s, wanted[k].id))
            vec_push(&s->missing, wanted[k].id);
    }
    if (s->missing.len > IMAGES_MAX)
        return error_set(err, ERROR_INVALID, "more than %d images", IMAGES_MAX);
    if (s->missing.len && !s->engine)
        return error_set(err, ERROR_NOT_FOUND, "image '%s' is not in '%s'", s->missing.items[0], s->dir);
    return 0;
}

/* What the index of before does not need goes: a full disk has its room back. */
static void give_up(const struct saving *s)
{
    CLEANUP_VALUE(index_release) struct image_index old = {0};
    struct error ignored = ERROR_INIT;

    if (!s->store.dir)
        return;
    bool had_index = index_read(s->dir, &old, &ignored) == 0;
    if (store_sweep(&s->store, &old, &ignored) == 0 && !had_index) {
        (void)rmdir(s->store.dir); /* only when nothing else is there */
        (void)rmdir(s->dir);
    }
}

int images_save_named(struct engine *e, const struct images_wanted *wanted, size_t count, const char *dir,
                      struct error *err)
{
    CLEANUP_VALUE(saving_release) struct saving s = {.engine = e, .dir = dir, .store = {.fd = -1}};

    int r = prepare(&s, wanted, count, err);
    if (r == 0)
        r = export(&s, err);
    for (size_t k = 0; r == 0 && k < count; k++)
        give_name(&s, &wanted[k]);
    if (r == 0 && s.store.fd >= 0)
        r = store_sync(&s.store, err);
    if (r == 0)
        r = index_write(dir, &s.after, err);
    if (r < 0) {
        give_up(&s);
        return -1;
    }
    return store_sweep(&s.store, &s.after, err);
}

int images_save(struct engine *e, const char *const *ids, size_t count, const char *dir, struct error *err)
{
    CLEANUP_FREE struct images_wanted *wanted = xcalloc(count + 1, sizeof(*wanted));

    for (size_t k = 0; k < count; k++)
        wanted[k].id = ids[k];
    return images_save_named(e, wanted, count, dir, err);
}
