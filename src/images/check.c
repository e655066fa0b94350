/* SPDX-License-Identifier: MIT */
/* An image is what its id says: the id is the hash of a document, which names the next one, and so on down to
 * the layers. */
#include "internal.h"

static bool same_digest(const char *digest, const char *sha256)
{
    const char *hex = digest_hex(digest);

    return hex && strcmp(hex, sha256) == 0;
}

/* Does the manifest, or index of manifests, name that document? */
static bool names_document(const struct json *parent, const char *sha256)
{
    const struct json *manifests = json_get(parent, "manifests");

    if (same_digest(json_get_text(json_get(parent, "config"), "digest"), sha256))
        return true;
    for (size_t k = 0; k < json_len(manifests); k++)
        if (same_digest(json_get_text(json_at(manifests, k), "digest"), sha256))
            return true;
    return false;
}

static int check_parents(const struct store *s, const struct image *i, struct error *err)
{
    const char *first = i->parents.len ? i->parents.items[0].sha256 : i->config.sha256;

    if (!same_digest(i->id, first))
        return error_set(err, ERROR_INVALID, "its configuration is that of another image");
    for (size_t k = 0; k < i->parents.len; k++) {
        CLEANUP(json_free) struct json *parent = NULL;
        const char *next = k + 1 < i->parents.len ? i->parents.items[k + 1].sha256 : i->config.sha256;

        if (blob_document(s, &i->parents.items[k], &parent, err) < 0)
            return -1;
        if (!names_document(parent, next))
            return error_set(err, ERROR_INVALID, "its manifest does not name 'sha256:%s'", next);
    }
    return 0;
}

static int check_layers(const struct image *i, const struct json *config, struct error *err)
{
    const struct json *wanted = json_pointer(config, "/rootfs/diff_ids");

    if (json_len(wanted) != i->layers.len)
        return error_set(err, ERROR_INVALID, "its configuration names %zu layers, %zu are there",
                         json_len(wanted), i->layers.len);
    for (size_t k = 0; k < i->layers.len; k++)
        if (!same_digest(json_text(json_at(wanted, k)), i->layers.items[k].sha256))
            return error_set(err, ERROR_INVALID, "layer %zu is not the one that its configuration names",
                             k + 1);
    return 0;
}

int image_check(const struct store *s, const struct image *i, struct json **ret_config, struct error *err)
{
    CLEANUP(json_free) struct json *config = NULL;

    if (check_parents(s, i, err) < 0 || blob_document(s, &i->config, &config, err) < 0 ||
        check_layers(i, config, err) < 0)
        return error_wrap(err, "image '%s'", i->id);
    if (ret_config)
        *ret_config = TAKE(config);
    return 0;
}
