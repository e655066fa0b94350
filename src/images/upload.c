/* SPDX-License-Identifier: MIT */
/* The archive that an engine loads, joined from blobs while it is sent, each checked on its way.
 * manifest.json comes last: an engine that got anything that is not right never learns what to make of it. */
#include "internal.h"

#include <errno.h>
#include "benchctl/base/fs.h"
#include "upload.h"

#define CHUNK ((size_t)65536)

enum stage { STAGE_CONFIG, STAGE_LAYERS, STAGE_MANIFEST, STAGE_END };

struct upload {
    const struct store *store;
    const struct image *image;
    struct archive_tar *tar;
    struct strbuf out; /* made and not yet taken */
    size_t at;
    enum stage stage;
    size_t layer;
    const struct blob *blob; /* that is being read; NULL: none */
    int fd;
    struct sha256 *hash;
    struct error error;
};

struct upload *upload_new(const struct store *s, const struct image *i)
{
    struct upload *u = xcalloc(1, sizeof(*u));

    u->store = s;
    u->image = i;
    u->fd = -1;
    u->tar = archive_tar_new(&u->out);
    u->hash = sha256_new();
    return u;
}

void upload_free(struct upload *u)
{
    if (!u)
        return;
    archive_tar_free(u->tar);
    if (u->fd >= 0)
        (void)close(u->fd);
    sha256_free(u->hash);
    strbuf_release(&u->out);
    free(u);
}

const struct error *upload_error(const struct upload *u)
{
    return u->error.kind == ERROR_NONE ? NULL : &u->error;
}

static int begin_blob(struct upload *u, const struct blob *b, const char *name, struct error *err)
{
    if (blob_open(u->store, b, &u->fd, err) < 0 || archive_tar_begin(u->tar, name, b->size, err) < 0)
        return -1;
    u->blob = b;
    return 0;
}

static int end_blob(struct upload *u, struct error *err)
{
    char hex[SHA256_HEX_SIZE];

    sha256_final(u->hash, hex);
    if (strcmp(hex, u->blob->sha256) != 0)
        return error_set(err, ERROR_INVALID, "'%s/sha256-%s' is not what its name says: its SHA-256 differs",
                         u->store->dir, u->blob->sha256);
    (void)close(u->fd);
    u->fd = -1;
    u->blob = NULL;
    return 0;
}

static int copy_some(struct upload *u, struct error *err)
{
    char chunk[CHUNK];
    ssize_t n = read(u->fd, chunk, sizeof(chunk));

    if (n < 0)
        return errno == EINTR ? 0
                              : error_errno(err, ERROR_ENVIRONMENT, errno, "cannot read '%s'", u->store->dir);
    if (n == 0)
        return end_blob(u, err);
    sha256_update(u->hash, chunk, (size_t)n);
    return archive_tar_data(u->tar, chunk, (size_t)n, err);
}

static bool was_sent(const struct upload *u, size_t layer)
{
    const struct blob *layers = u->image->layers.items;

    for (size_t k = 0; k < layer; k++)
        if (strcmp(layers[k].sha256, layers[layer].sha256) == 0)
            return true;
    return false;
}

static int next_layer(struct upload *u, struct error *err)
{
    while (u->layer < u->image->layers.len && was_sent(u, u->layer))
        u->layer++;
    if (u->layer == u->image->layers.len) {
        u->stage = STAGE_MANIFEST;
        return 0;
    }
    const struct blob *b = &u->image->layers.items[u->layer++];
    CLEANUP_FREE char *name = xasprintf("%s/layer.tar", b->sha256);
    return begin_blob(u, b, name, err);
}

static int send_manifest(struct upload *u, struct error *err)
{
    CLEANUP(json_free) struct json *all = json_new_array();
    CLEANUP_FREE char *config = xasprintf("%s.json", u->image->config.sha256);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct json *one = json_new_object(), *layers = json_new_array();

    vec_each (b, &u->image->layers) {
        CLEANUP_FREE char *name = xasprintf("%s/layer.tar", b->sha256);
        json_append(layers, json_new_text(name));
    }
    json_set_text(one, "Config", config);
    json_set(one, "RepoTags", json_new_null());
    json_set(one, "Layers", layers);
    json_append(all, one);
    json_write(all, JSON_STYLE_COMPACT, &text);
    u->stage = STAGE_END;
    return archive_tar_begin(u->tar, "manifest.json", (int64_t)text.len, err) < 0 ||
                   archive_tar_data(u->tar, text.data, text.len, err) < 0
               ? -1
               : archive_tar_end(u->tar, err);
}

/* Makes some more of the tar. */
static int pump(struct upload *u, struct error *err)
{
    if (u->blob)
        return copy_some(u, err);
    if (u->stage == STAGE_CONFIG) {
        CLEANUP_FREE char *name = xasprintf("%s.json", u->image->config.sha256);
        u->stage = STAGE_LAYERS;
        return begin_blob(u, &u->image->config, name, err);
    }
    return u->stage == STAGE_LAYERS ? next_layer(u, err) : send_manifest(u, err);
}

ptrdiff_t upload_read(char *buffer, size_t size, void *data)
{
    struct upload *u = data;

    if (u->at == u->out.len) {
        strbuf_clear(&u->out);
        u->at = 0;
    }
    while (u->at == u->out.len && u->stage != STAGE_END)
        if (pump(u, &u->error) < 0)
            return -1;
    size_t n = u->out.len - u->at < size ? u->out.len - u->at : size;
    if (n)
        memcpy(buffer, u->out.data + u->at, n);
    u->at += n;
    return (ptrdiff_t)n;
}
