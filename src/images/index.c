/* SPDX-License-Identifier: MIT */
/* index.json: which images are there, and of which blobs each is made. */
#include "internal.h"

#include "benchctl/base/fs.h"

#define INDEX_FILE "index.json"
#define INDEX_SCHEMA 1
#define INDEX_MAX ((size_t)32 << 20)

bool is_digest_hex(const char *text)
{
    return text && strlen(text) == SHA256_HEX_SIZE - 1 &&
           strspn(text, "0123456789abcdef") == SHA256_HEX_SIZE - 1;
}

const char *digest_hex(const char *digest)
{
    return digest && text_starts(digest, DIGEST_PREFIX) && is_digest_hex(digest + strlen(DIGEST_PREFIX))
               ? digest + strlen(DIGEST_PREFIX)
               : NULL;
}

bool is_image_name(const char *text)
{
    size_t len = text ? strlen(text) : 0;

    return len > 0 && len <= 400 && text[0] != '/' && text[0] != '.' && text[0] != '-' &&
           !text_starts(text, DIGEST_PREFIX) &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:") == len &&
           !is_digest_hex(text);
}

void image_release(struct image *i)
{
    vec_release(&i->parents);
    vec_release(&i->layers);
    vec_release(&i->names);
}

void index_release(struct image_index *x)
{
    vec_each (i, &x->images)
        image_release(i);
    vec_release(&x->images);
    arena_free(x->arena);
    x->arena = NULL;
}

struct image *index_find(const struct image_index *x, const char *id)
{
    vec_each (i, &x->images)
        if (strcmp(i->id, id) == 0)
            return i;
    return NULL;
}

/* --- reading --- */

static int damaged(const char *why, struct error *err)
{
    return error_set(err, ERROR_INVALID, "'" INDEX_FILE "' is not a list of images: %s", why);
}

static int take_blob(const struct json *j, struct blob *ret, struct error *err)
{
    const char *hex = digest_hex(json_get_text(j, "digest"));

    if (!hex || !json_is_int(json_get(j, "size")) || json_get_int(j, "size") < 0)
        return damaged("a blob lacks 'digest' or 'size'", err);
    memcpy(ret->sha256, hex, SHA256_HEX_SIZE);
    ret->size = json_get_int(j, "size");
    return 0;
}

static int take_parents(struct image *i, const struct json *list, struct error *err)
{
    if (json_len(list) > PARENTS_MAX)
        return damaged("an image has too many parents", err);
    for (size_t k = 0; k < json_len(list); k++) {
        struct blob b = {0};
        if (take_blob(json_at(list, k), &b, err) < 0)
            return -1;
        vec_push(&i->parents, b);
    }
    return 0;
}

static int take_layers(struct image *i, const struct json *list, struct error *err)
{
    if (json_type_of(list) != JSON_TYPE_ARRAY || json_len(list) > LAYERS_MAX)
        return error_set(err, ERROR_INVALID,
                         "'" INDEX_FILE "' is not a list of images: an image has no layers, or more than %d",
                         LAYERS_MAX);
    for (size_t k = 0; k < json_len(list); k++) {
        struct blob b = {0};
        if (take_blob(json_at(list, k), &b, err) < 0)
            return -1;
        vec_push(&i->layers, b);
    }
    return 0;
}

static int take_names(struct image_index *x, struct image *i, const struct json *list, struct error *err)
{
    if (json_len(list) > NAMES_MAX)
        return damaged("an image has too many names", err);
    for (size_t k = 0; k < json_len(list); k++) {
        const char *name = json_text(json_at(list, k));
        if (!is_image_name(name))
            return damaged("a name is none that an image can have", err);
        vec_push(&i->names, arena_strdup(x->arena, name));
    }
    return 0;
}

static int take_image(struct image_index *x, const struct json *j, struct error *err)
{
    const char *id = json_get_text(j, "id");

    if (!digest_hex(id))
        return damaged("an image lacks 'id'", err);
    if (index_find(x, id))
        return damaged("an image is there twice", err);
    vec_push(&x->images, (struct image){.id = arena_strdup(x->arena, id)});
    struct image *i = &x->images.items[x->images.len - 1];
    return take_blob(json_get(j, "config"), &i->config, err) < 0 ||
                   take_parents(i, json_get(j, "parents"), err) < 0 ||
                   take_layers(i, json_get(j, "layers"), err) < 0 ||
                   take_names(x, i, json_get(j, "names"), err) < 0
               ? error_wrap(err, "image '%s'", id)
               : 0;
}

int index_parse(const char *text, size_t len, struct image_index *ret, struct error *err)
{
    CLEANUP_VALUE(index_release) struct image_index x = {.arena = arena_new()};
    CLEANUP(json_free) struct json *j = NULL;

    if (json_parse(text, len, INDEX_FILE, &j, err) < 0)
        return -1;
    const struct json *images = json_get(j, "images");
    if (json_get_int(j, "schema") > INDEX_SCHEMA) {
        (void)damaged("a newer benchctl wrote it", err);
        return error_hint(err, "use that version; this one knows schema %d", INDEX_SCHEMA);
    }
    if (json_get_int(j, "schema") < 1 || json_type_of(images) != JSON_TYPE_ARRAY)
        return damaged("'schema' or 'images' is missing", err);
    if (json_len(images) > IMAGES_MAX)
        return damaged("it lists too many", err);
    for (size_t k = 0; k < json_len(images); k++)
        if (take_image(&x, json_at(images, k), err) < 0)
            return -1;
    *ret = x;
    x = (struct image_index){0};
    return 0;
}

int index_read(const char *dir, struct image_index *ret, struct error *err)
{
    CLEANUP_FREE char *path = path_join(dir, INDEX_FILE);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (fs_read(path, INDEX_MAX, &text, err) < 0)
        return -1;
    return index_parse(strbuf_text(&text), text.len, ret, err) < 0 ? error_wrap(err, "'%s'", dir) : 0;
}

/* --- writing --- */

static struct json *blob_json(const struct blob *b)
{
    struct json *j = json_new_object();
    CLEANUP_FREE char *digest = xasprintf(DIGEST_PREFIX "%s", b->sha256);

    json_set_text(j, "digest", digest);
    json_set_int(j, "size", b->size);
    return j;
}

static struct json *image_json(const struct image *i)
{
    struct json *j = json_new_object(), *layers = json_new_array(), *names = json_new_array(),
                *parents = json_new_array();

    json_set_text(j, "id", i->id);
    vec_each (name, &i->names)
        json_append(names, json_new_text(*name));
    vec_each (b, &i->parents)
        json_append(parents, blob_json(b));
    vec_each (b, &i->layers)
        json_append(layers, blob_json(b));
    json_set(j, "names", names);
    json_set(j, "parents", parents);
    json_set(j, "config", blob_json(&i->config));
    json_set(j, "layers", layers);
    return j;
}

static int compare_images(const void *a, const void *b)
{
    return strcmp(((const struct image *)a)->id, ((const struct image *)b)->id);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int index_write(const char *dir, struct image_index *x, struct error *err)
{
    CLEANUP(json_free) struct json *j = json_new_object();
    CLEANUP_FREE char *path = path_join(dir, INDEX_FILE);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct json *images = json_new_array();

    if (x->images.len)
        qsort(x->images.items, x->images.len, sizeof(struct image), compare_images);
    vec_each (i, &x->images) {
        if (i->names.len)
            qsort(i->names.items, i->names.len, sizeof(char *), compare_names);
        json_append(images, image_json(i));
    }
    json_set_int(j, "schema", INDEX_SCHEMA);
    json_set(j, "images", images);
    json_write(j, JSON_STYLE_INDENTED, &text);
    strbuf_trim_end(&text);
    strbuf_addc(&text, '\n');
    return fs_write_atomic(path, text.data, text.len, err);
}

bool images_has(const char *dir, const char *id)
{
    CLEANUP_VALUE(index_release) struct image_index x = {0};
    struct error ignored = ERROR_INIT;

    return index_read(dir, &x, &ignored) == 0 && index_find(&x, id) != NULL;
}
