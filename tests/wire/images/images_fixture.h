/* SPDX-License-Identifier: MIT */
/* An engine that has, exports and loads images, with archives made by hand, good ones and bad ones. */
#ifndef WIRE_IMAGES_FIXTURE_H
#define WIRE_IMAGES_FIXTURE_H

#include "../engine/engine_fixture.h"
#include "scripted_server.h"
#include "support/scratch.h"
#include "benchctl/archive.h"
#include "benchctl/base/hash.h"
#include "benchctl/images.h"

#define DIGEST_SIZE (7 + SHA256_HEX_SIZE) /* "sha256:" and digits */

/* --- archives --- */

void tar_head(struct strbuf *tar, char type, const char *name, const char *link, size_t size);
/* One entry of a tar, whatever it may be: type '0' file, '1' hard link, '2' symbolic link, '5' directory. */
void tar_entry(struct strbuf *tar, char type, const char *name, const char *link_or_bytes, size_t len);
void tar_file(struct strbuf *tar, const char *name, const char *text);
void tar_end(struct strbuf *tar);

struct made_image {
    char layers[4][64]; /* their bytes */
    size_t layer_count;
    char layer_hex[4][SHA256_HEX_SIZE];
    char *config; /* its document */
    char config_hex[SHA256_HEX_SIZE], id[DIGEST_SIZE];
};
/* An image of those layers (any texts, NULL at the end), with `who` in its environment. */
void make_image(struct made_image *ret, const char *who, const char *const *layers);
void made_image_release(struct made_image *m);

/* As Docker before 25 writes it: ID/layer.tar; a layer that was there already is a link. */
void export_old(struct strbuf *tar, const struct made_image *const *images, size_t count);

/* --- the engine --- */

struct image_engine {
    char *dir; /* of the test */
    struct server *server;
    struct lab lab;
    struct strbuf exported;          /* the answer to GET /images/get */
    const struct made_image *has[8]; /* what it has under an id; changes are made under the server's lock */
    const char *called[8];           /* that id; NULL: the image's own */
    const char *tagged[8];           /* a name of it; NULL: none */
    size_t has_count;
    const struct made_image *loads; /* what it has after a load */
    const char *loads_as;           /* and how it calls it; NULL: by its own id */
    double size;                    /* of each, in bytes, as inspect tells */
    struct rule rules[8];
    struct reply export_reply; /* when its status is not 0 */
};
int image_engine_setup(void **state);
int image_engine_teardown(void **state);
void image_engine_has(struct image_engine *e, const struct made_image *m, const char *name);

#endif
