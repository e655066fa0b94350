/* SPDX-License-Identifier: MIT */
/* What the files of this module share. */
#ifndef BENCHCTL_ARCHIVE_INTERNAL_H
#define BENCHCTL_ARCHIVE_INTERNAL_H

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include "benchctl/archive.h"

/* Every file of an archive we write has this time: 2000-01-01, because some formats cannot say 1970. */
#define ARCHIVE_MTIME_S 946684800

#define ARCHIVE_BLOCK ((size_t)65536)

/*
 * libarchive turns names over through the process' locale and loses those that do not fit; it reads and
 * writes them under a UTF-8 locale whatever the user's is: `LOCALE_UTF8;` at the top of a function that calls
 * it.
 */
locale_t archive_locale_enter(void);
void archive_locale_leave(locale_t *previous);
#define LOCALE_UTF8                                                                                          \
    __attribute__((unused)) CLEANUP_VALUE(archive_locale_leave) locale_t locale_before_ =                    \
        archive_locale_enter()

DEFINE_CLEANUP(struct archive *, archive_free);
DEFINE_CLEANUP(struct archive_entry *, archive_entry_free);

/* Fills err with what libarchive says (which may be nothing) about `path`; a full disk stays recognisable. */
int archive_fail(struct archive *a, enum error_kind kind, const char *what, const char *path,
                 struct error *err);

/* What libarchive says, made printable: never NULL. Returns buf. */
const char *archive_reason(struct archive *a, char *buf, size_t size);

/* An entry as every archive of ours has it. */
void archive_entry_plain(struct archive_entry *e, const char *name, unsigned type_and_mode, int64_t size);

/* --- the names seen in one archive (names.c) --- */

struct name_set;
struct name_set *name_set_new(void);
void name_set_free(struct name_set *s);
DEFINE_CLEANUP(struct name_set *, name_set_free);
/* ERROR_INVALID for a name that was there, a file below a file, a file where others lie below. The name is
 * valid. */
int name_set_add(struct name_set *s, const char *name, bool is_dir, struct error *err) MUST_CHECK;

/* Drops "./" and "//" and one trailing slash in place; true when nothing had to be dropped (the slash apart).
 */
bool name_normalise(char *name);

/* --- zstd_frame.c --- */

/* Gives up to `len` bytes at `offset`: the count, 0 past the end, -1. */
typedef ptrdiff_t frame_read(void *source, int64_t offset, void *buffer, size_t len);
/* ERROR_INVALID unless the `size` bytes of the source are one zstd frame with a bounded window. */
int zstd_frame_check(frame_read *read, void *source, int64_t size, const char *name,
                     struct error *err) MUST_CHECK;

#endif
