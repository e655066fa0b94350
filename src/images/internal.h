/* SPDX-License-Identifier: MIT */
/* What the files of this module share. docs/bundle.md has the format. */
#ifndef BENCHCTL_IMAGES_INTERNAL_H
#define BENCHCTL_IMAGES_INTERNAL_H

#include "benchctl/archive.h"
#include "benchctl/base/arena.h"
#include "benchctl/base/hash.h"
#include "benchctl/images.h"

#define IMAGES_MAX 1000 /* in one directory */
#define LAYERS_MAX 1000 /* of one image; engines stop at 128 */
#define NAMES_MAX 100   /* of one image */
#define PARENTS_MAX 4   /* documents between an id and its configuration: an index in an index is too much */
#define DOCUMENT_MAX ((size_t)4 << 20) /* bytes of a configuration, which is read into memory */
#define DIGEST_PREFIX "sha256:"

/* --- index.c: what is there --- */

struct blob {
    char sha256[SHA256_HEX_SIZE]; /* of its bytes: its name */
    int64_t size;
};

struct image {
    const char *id; /* "sha256:..." in the engine that it came from */
    /* Of an engine that names images by a manifest: those documents, from the one that the id names to the
     * one that names the configuration. None where the id is the configuration's. */
    VEC(struct blob) parents;
    struct blob config;
    VEC(struct blob) layers; /* from the lowest to the highest; uncompressed */
    VEC(const char *) names; /* sorted; "name:tag" */
};

struct image_index {
    VEC(struct image) images; /* sorted by id */
    struct arena *arena;      /* texts */
};
void image_release(struct image *i);
void index_release(struct image_index *x);
/* ERROR_NOT_FOUND when the directory has none. What is in it is well-formed, no more. */
int index_read(const char *dir, struct image_index *ret, struct error *err) MUST_CHECK;
int index_parse(const char *text, size_t len, struct image_index *ret, struct error *err) MUST_CHECK;
int index_write(const char *dir, struct image_index *x, struct error *err) MUST_CHECK; /* sorts it */
struct image *index_find(const struct image_index *x, const char *id);

/* "sha256:" and 64 digits? Then the digits, else NULL. */
const char *digest_hex(const char *digest);
bool is_digest_hex(const char *text);
/* Can it be given to an image as its name? Not an id, a digest or a path. */
bool is_image_name(const char *text);

/* --- store.c: the files --- */

struct store {
    char *dir; /* for messages */
    int fd;    /* of DIR/blobs */
};
int store_open(const char *dir, bool make, struct store *ret, struct error *err) MUST_CHECK;
void store_close(struct store *s);
int store_sync(const struct store *s,
               struct error *err) MUST_CHECK; /* the names of its blobs are on the disk */

struct blob_writer;
int blob_writer_open(struct store *s, struct blob_writer **ret, struct error *err) MUST_CHECK;
int blob_writer_add(struct blob_writer *w, const void *bytes, size_t len, struct error *err) MUST_CHECK;
/* On the disk under its own name; frees the writer in any case. */
int blob_writer_finish(struct blob_writer *w, struct blob *ret, struct error *err) MUST_CHECK;
void blob_writer_free(struct blob_writer *w); /* removes what is not finished */
DEFINE_CLEANUP(struct blob_writer *, blob_writer_free);

/* A plain file of that size; the caller closes and checks the bytes. */
int blob_open(const struct store *s, const struct blob *b, int *ret_fd, struct error *err) MUST_CHECK;
/* All of a small one, checked, parsed. */
int blob_document(const struct store *s, const struct blob *b, struct json **ret,
                  struct error *err) MUST_CHECK;
/* What no image of the index needs goes. */
int store_sweep(const struct store *s, const struct image_index *x, struct error *err) MUST_CHECK;

/* --- check.c: does one thing name the other? --- */

/* The id leads over the parents to the configuration, which names exactly these layers. Reads documents only;
 * *ret_config (may be NULL) is the caller's. */
int image_check(const struct store *s, const struct image *i, struct json **ret_config,
                struct error *err) MUST_CHECK;

/* --- export.c: an engine's archive taken apart --- */

/* Reads the whole of it and puts blobs into the store; the images of those ids are added to `x`. */
struct export_order {
    struct store *store;
    const char *const *ids;
    size_t count;
    struct image_index *index;
};
int export_take(archive_source *source, void *data, const struct export_order *o,
                struct error *err) MUST_CHECK;

#endif
