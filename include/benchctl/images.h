/* SPDX-License-Identifier: MIT */
/*
 * Container images as files, so that a machine without them can run a bundle. A directory holds what an
 * engine exported, each layer and configuration once, named by the SHA-256 of its bytes, and an index of the
 * images. Not a registry, and no format of another tool: images_load() joins the archive that an engine
 * takes.
 */
#ifndef BENCHCTL_IMAGES_H
#define BENCHCTL_IMAGES_H

#include "benchctl/engine.h"

/* Exports those images (ids "sha256:...", which the engine has) into `dir`, which is made; those that are
 * there already cost nothing. Streams: memory is bounded whatever their size. The same images give the same
 * files. */
int images_save(struct engine *e, const char *const *ids, size_t count, const char *dir,
                struct error *err) MUST_CHECK;

/* The same with the names that the images are to have where they are loaded ("name:tag"). One image may be
 * there several times; what is no name that an image can have (a digest, a path) is passed over. Afterwards
 * the directory holds these images and no others. `e` may be NULL: ERROR_NOT_FOUND then, unless all are there
 * already. */
struct images_wanted {
    const char *id, *name; /* name: NULL for none */
};
int images_save_named(struct engine *e, const struct images_wanted *wanted, size_t count, const char *dir,
                      struct error *err) MUST_CHECK;

/* Is that image among them? */
bool images_has(const char *dir, const char *id);

/* Loads it into the engine, and proves that what the engine has then is the image of that id. Everything in
 * `dir` is checked, nothing is believed. Costs little when the engine has it. A name is given only when no
 * image of that engine has it; one that another image has stays there, with a warn(). */
int images_load(struct engine *e, const char *dir, const char *id, engine_progress_fn *progress, void *data,
                struct error *err) MUST_CHECK;

/* The same; *ret_id (the caller frees) is what that engine calls the image: another id when its image store
 * names images otherwise, with the same layers and configuration. */
struct images_loading {
    const char *dir, *id;
    engine_progress_fn *progress; /* may be NULL */
    void *data;
    bool nameless; /* it gets no name: those of `dir` are somebody else's wish */
};
int images_load_as(struct engine *e, const struct images_loading *l, char **ret_id,
                   struct error *err) MUST_CHECK;

#endif
