/* SPDX-License-Identifier: MIT */
/* Are two images the same? Ids mean different things in different image stores, so each claim has its own
 * proof. */
#include "engine_internal.h"

/* The containerd store names an image by its manifest, the classic one by its configuration. */
static bool same_store(const struct json *a, const struct json *b)
{
    return (json_get(a, "Descriptor") != NULL) == (json_get(b, "Descriptor") != NULL);
}

static const char *digest_of(const struct json *reference)
{
    const char *text = json_text(reference), *at = text ? strrchr(text, '@') : NULL;

    return at ? at + 1 : NULL;
}

static bool common_digest(const struct json *a, const struct json *b)
{
    const struct json *left = json_get(a, "RepoDigests"), *right = json_get(b, "RepoDigests");

    for (size_t i = 0; i < json_len(left); i++)
        for (size_t k = 0; k < json_len(right); k++)
            if (digest_of(json_at(left, i)) &&
                text_equal(digest_of(json_at(left, i)), digest_of(json_at(right, k))))
                return true;
    return false;
}

enum image_likeness engine_images_compare(const struct json *a, const struct json *b)
{
    const char *id = json_get_text(a, "Id");
    const struct json *layers = json_pointer(a, "/RootFS/Layers"),
                      *others = json_pointer(b, "/RootFS/Layers");

    if (id && *id && same_store(a, b) && text_equal(id, json_get_text(b, "Id")))
        return IMAGES_SAME_ID;
    if (common_digest(a, b))
        return IMAGES_SAME_DIGEST;
    if (json_len(layers) > 0 && json_same(layers, others))
        return IMAGES_SAME_LAYERS;
    return IMAGES_UNLIKE;
}
