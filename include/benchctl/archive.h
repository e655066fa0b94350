/* SPDX-License-Identifier: MIT */
/*
 * Archives and compression: the only place that knows libarchive. Build contexts as tar streams, compressed
 * raw files, and the writing and safe reading of the tar that a bundle is. What a bundle contains is
 * bundle.h's matter.
 *
 * Writing gives the same bytes for the same input: restricted pax, sorted by the caller, uid/gid 0, no names,
 * fixed mode and mtime. Reading takes regular files and directories only and never trusts a name, size, mode
 * or owner. Links, devices, pipes, sockets and sparse files are refused as a class.
 */
#ifndef BENCHCTL_ARCHIVE_H
#define BENCHCTL_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "benchctl/base/error.h"
#include "benchctl/base/mem.h"
#include "benchctl/base/strbuf.h"

/* --- names --- */

#define ARCHIVE_NAME_MAX 4000 /* bytes of a member's name */

/* ERROR_INVALID unless `name` is a relative path below a target: not empty, not absolute, no "..", "." or
 * empty part, no part longer than a file system takes. */
int archive_name_check(const char *name, struct error *err) MUST_CHECK;

/* `name` made safe to print: control characters, bytes that are not UTF-8, bidirectional marks and
 * backslashes are escaped; what does not fit ends in "...". Returns buf, which holds at least 16 bytes. */
const char *archive_printable(const char *name, char *buf, size_t size);

/* --- a directory as a tar, for the engine's build call --- */

/*
 * Packs `dir` into an unlinked temporary file; the caller reads from offset 0 of *ret_fd and closes it.
 * Honours DIR/.dockerignore (comments, `!`, `**`, last match wins); keeps modes and symbolic links; leaves
 * sockets, pipes and devices out. The same tree gives the same bytes: sorted, owner 0, fixed mtime.
 */
int archive_pack_context(const char *dir, int *ret_fd, int64_t *ret_bytes, struct error *err) MUST_CHECK;

/* The same for a Dockerfile of another name (relative to dir): it and .dockerignore are always packed, as the
 * engine's own client does. NULL: "Dockerfile". */
int archive_pack_build(const char *dir, const char *dockerfile, int *ret_fd, int64_t *ret_bytes,
                       struct error *err) MUST_CHECK;

/* --- one compressed file (zstd), for raw scrapes and streams --- */

struct archive_file;
int archive_file_create(const char *path, struct archive_file **ret, struct error *err) MUST_CHECK;
int archive_file_write(struct archive_file *f, const void *bytes, size_t len, struct error *err) MUST_CHECK;
/* Finishes; frees it in any case; NULL is fine. */
int archive_file_close(struct archive_file *f, struct error *err) MUST_CHECK;
/* The whole of a compressed file, at most `max` bytes. ERROR_INVALID when it is cut or damaged. */
int archive_file_read(const char *path, size_t max, struct strbuf *out, struct error *err) MUST_CHECK;
/* One gzip member in memory and nothing behind it, appended to `out`; more than `max` bytes is an error. On
 * failure `out` may hold a part. */
int archive_unpack_gzip(const void *bytes, size_t len, size_t max, struct strbuf *out,
                        struct error *err) MUST_CHECK;

/* Bytes that come from elsewhere: up to `size` of them, the count, 0 at the end, -1. May wait. */
typedef ptrdiff_t archive_source(void *buffer, size_t size, void *data, struct error *err);
typedef int archive_sink(const void *bytes, size_t len, void *data, struct error *err);
/* Do these first bytes (4 are enough) begin something that archive_unpack_source() unpacks? */
bool archive_is_packed(const void *bytes, size_t len);
/* All of a source, which is gzip or zstd, unpacked into a sink; memory stays bounded. What the two say when
 * they fail is handed on. */
struct archive_pipe {
    archive_source *source;
    archive_sink *sink;
    void *data;       /* for both */
    const char *name; /* for messages */
};
int archive_unpack_source(const struct archive_pipe *pipe, struct error *err) MUST_CHECK;

/* --- a tar.zst to write --- */

struct archive_writer;
/* Writes to a temporary file beside `path`. */
int archive_writer_open(const char *path, struct archive_writer **ret, struct error *err) MUST_CHECK;
int archive_writer_add_bytes(struct archive_writer *w, const char *name, const void *bytes, size_t len,
                             struct error *err) MUST_CHECK;
int archive_writer_add_file(struct archive_writer *w, const char *name, const char *path,
                            struct error *err) MUST_CHECK;
/* A member in pieces: exactly `size` bytes must follow before the next begin or close. */
int archive_writer_begin(struct archive_writer *w, const char *name, int64_t size,
                         struct error *err) MUST_CHECK;
int archive_writer_data(struct archive_writer *w, const void *bytes, size_t len,
                        struct error *err) MUST_CHECK;
/* Finishes, fsyncs and renames into place; frees the writer in any case. */
int archive_writer_close(struct archive_writer *w, struct error *err) MUST_CHECK;
/* Abandons: removes the unfinished file; NULL is fine. */
void archive_writer_free(struct archive_writer *w);
DEFINE_CLEANUP(struct archive_writer *, archive_writer_free);

/* --- a plain tar, made as somebody takes it --- */

/* The same members give the same bytes. Members are begun, filled with exactly the bytes announced, and what
 * they make is appended to a buffer, which the caller empties as it likes: at most a block more than what was
 * given since. */
struct archive_tar;
struct archive_tar *archive_tar_new(struct strbuf *out);
int archive_tar_begin(struct archive_tar *t, const char *name, int64_t size, struct error *err) MUST_CHECK;
int archive_tar_data(struct archive_tar *t, const void *bytes, size_t len, struct error *err) MUST_CHECK;
int archive_tar_end(struct archive_tar *t, struct error *err) MUST_CHECK; /* the end mark */
void archive_tar_free(struct archive_tar *t);
DEFINE_CLEANUP(struct archive_tar *, archive_tar_free);

/* --- a tar to read, with limits --- */

struct archive_limits {
    int64_t max_entries, max_entry_bytes, max_total_bytes;
    int max_ratio; /* unpacked : packed, once more than ratio_free_bytes are unpacked */
    int64_t ratio_free_bytes;
    bool one_zstd_frame; /* the file is exactly one zstd frame: nothing before, between or after */
    bool symlinks;       /* symbolic links are members that say where they point; nothing follows them */
};
extern const struct archive_limits ARCHIVE_LIMITS_DEFAULT;

/* Plain, gzip or zstd. Nothing is ever run or followed; what is inside a member is never unpacked further. */
struct archive_reader;
int archive_reader_open(const char *path, const struct archive_limits *limits, struct archive_reader **ret,
                        struct error *err) MUST_CHECK;
/* The same over memory, which must outlive the reader; `name` is for messages. */
int archive_reader_open_memory(const void *bytes, size_t len, const char *name,
                               const struct archive_limits *limits, struct archive_reader **ret,
                               struct error *err) MUST_CHECK;
/* A plain tar from a source, read once from front to end, with the same suspicion. */
int archive_reader_open_source(archive_source *source, void *data, const char *name,
                               const struct archive_limits *limits, struct archive_reader **ret,
                               struct error *err) MUST_CHECK;
void archive_reader_free(struct archive_reader *r);
DEFINE_CLEANUP(struct archive_reader *, archive_reader_free);

struct archive_member {
    /* Passed archive_name_check() after dropping "./" and "//", not seen before, no file of the archive is
     * its parent. Any bytes otherwise: print it through archive_printable(). Valid until the next call. */
    const char *name;
    bool as_written; /* nothing had to be dropped */
    int64_t size;
    bool is_dir;
    const char *link; /* target of a symbolic link, any bytes; NULL: it is none */
    bool executable;  /* a file that may be run: the only bit of its mode that is told */
};
/*
 * 1 with a member, 0 at the proper end (the end mark, then nothing but zero bytes), -1 on damage, hostility
 * or a passed limit. Names that differ only in case give a warn().
 */
int archive_reader_next(struct archive_reader *r, struct archive_member *ret, struct error *err) MUST_CHECK;
/* Body bytes of the current member: the count, 0 at its end, -1. */
ptrdiff_t archive_reader_read(struct archive_reader *r, void *buffer, size_t size,
                              struct error *err) MUST_CHECK;

/* --- files from a tar --- */

/* A directory that is filled as a whole or not at all. */
struct archive_target;
/* `dir` is made (with parents) or must be empty. */
int archive_target_open(const char *dir, struct archive_target **ret, struct error *err) MUST_CHECK;
/*
 * Creates the reader's current member below it: files 0644, directories 0755 (less the umask), owned by the
 * caller, nothing overwritten, no link followed. `see` (may be NULL) gets the bytes as they are written.
 */
typedef void archive_see(const void *bytes, size_t len, void *data);
int archive_target_add(struct archive_target *t, struct archive_reader *r, const struct archive_member *m,
                       archive_see *see, void *data, struct error *err) MUST_CHECK;
void archive_target_keep(struct archive_target *t); /* the whole is there */
void archive_target_free(struct archive_target *t); /* removes what was made unless it is to be kept */
DEFINE_CLEANUP(struct archive_target *, archive_target_free);

/* A whole archive into a fresh or empty directory; a refused one leaves nothing there. */
int archive_extract(const char *path, const char *dir, const struct archive_limits *limits,
                    struct error *err) MUST_CHECK;

#endif
