/* SPDX-License-Identifier: MIT */
/* Of upload.c: one image as the tar that an engine loads. */
#ifndef BENCHCTL_IMAGES_UPLOAD_H
#define BENCHCTL_IMAGES_UPLOAD_H

#include "internal.h"

struct upload;
struct upload *upload_new(const struct store *s, const struct image *i);
void upload_free(struct upload *u);
DEFINE_CLEANUP(struct upload *, upload_free);
/* An http_read_fn over it. */
ptrdiff_t upload_read(char *buffer, size_t size, void *data);
/* Why it gave up, or NULL. */
const struct error *upload_error(const struct upload *u);

#endif
