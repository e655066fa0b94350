/* SPDX-License-Identifier: MIT */
/*
 * Archives and compression: the only place that knows libarchive. Build contexts as tar streams, compressed
 * raw files, and the writing and safe reading of the tar that a bundle is. What a bundle contains is
 * bundle.h's matter.
 *
 * Writing gives the same bytes for the same input: restricted pax, sorted by the caller, uid/gid 0, no names,
 * fixed mode and mtime. Reading takes regular files and directories only and never trusts a name, size, mode
 * or owner.
 */
#ifndef BENCHCTL_ARCHIVE_H
#define BENCHCTL_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "benchctl/base/error.h"
#include "benchctl/base/mem.h"
#include "benchctl/base/strbuf.h"

/* --- a directory as a tar, for the engine's build call
 * ------------------------------------------------------ */

/* Packs `dir` (honouring DIR/.dockerignore; modes and links kept) into an unlinked temporary file.
 * The caller reads from offset 0 of *ret_fd and closes it. */
int archive_pack_context(const char *dir, int *ret_fd, int64_t *ret_bytes, struct error *err) MUST_CHECK;

/* --- one compressed file (zstd), for raw scrapes and streams
 * ------------------------------------------------- */

struct archive_file;
int archive_file_create(const char *path, struct archive_file **ret, struct error *err) MUST_CHECK;
int archive_file_write(struct archive_file *f, const void *bytes, size_t len, struct error *err) MUST_CHECK;
int archive_file_close(struct archive_file *f,
                       struct error *err) MUST_CHECK; /* frees it in any case; NULL is fine */
/* The whole of a compressed file, at most `max` bytes. */
int archive_file_read(const char *path, size_t max, struct strbuf *out, struct error *err) MUST_CHECK;

/* --- a tar.zst to write
 * ----------------------------------------------------------------------------------------- */

struct archive_writer;
int archive_writer_open(const char *path, struct archive_writer **ret, struct error *err) MUST_CHECK;
int archive_writer_add_bytes(struct archive_writer *w, const char *name, const void *bytes, size_t len,
                             struct error *err) MUST_CHECK;
int archive_writer_add_file(struct archive_writer *w, const char *name, const char *path,
                            struct error *err) MUST_CHECK;
/* Finishes, fsyncs and renames into place; frees the writer in any case. */
int archive_writer_close(struct archive_writer *w, struct error *err) MUST_CHECK;
void archive_writer_free(struct archive_writer *w); /* abandons: removes the unfinished file; NULL is fine */
DEFINE_CLEANUP(struct archive_writer *, archive_writer_free);

/* --- a tar (any filter) to read, with limits
 * ------------------------------------------------------------------- */

struct archive_limits {
    int64_t max_entries, max_entry_bytes, max_total_bytes;
    int max_ratio; /* unpacked : packed, once past 1 MiB */
};
extern const struct archive_limits ARCHIVE_LIMITS_DEFAULT;

struct archive_reader;
int archive_reader_open(const char *path, const struct archive_limits *limits, struct archive_reader **ret,
                        struct error *err) MUST_CHECK;
void archive_reader_free(struct archive_reader *r);
DEFINE_CLEANUP(struct archive_reader *, archive_reader_free);

struct archive_member {
    const char
        *name; /* checked: relative, no "..", no empty part, not seen before; valid until the next call */
    int64_t size;
    bool is_dir;
};
/* 1 with a member, 0 at the proper end (nothing but zero blocks after it), -1 on damage, hostility or a
 * passed limit. */
int archive_reader_next(struct archive_reader *r, struct archive_member *ret, struct error *err) MUST_CHECK;
/* Body bytes of the current member: the count, 0 at its end, -1. */
ptrdiff_t archive_reader_read(struct archive_reader *r, void *buffer, size_t size,
                              struct error *err) MUST_CHECK;

#endif
