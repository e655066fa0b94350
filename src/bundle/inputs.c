/* SPDX-License-Identifier: MIT */
/* Files that the matrix refers to, copied by content. */
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include "rundir.h"

#define INPUT_MAX ((size_t)1 << 30)
#define HASH_DIGITS 12

/* "0123456789ab-schema.sql" */
static char *input_name(const char *path, const char *sha256, const char *suffix)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf name = STRBUF_INIT;
    const char *base = path_basename(path);

    strbuf_addf(&name, "%.*s-", HASH_DIGITS, sha256);
    member_name_from(strlen(base) > 100 ? base + strlen(base) - 100 : base, &name);
    strbuf_adds(&name, suffix);
    return xstrdup(strbuf_text(&name));
}

static int store(struct rundir *r, const char *name, const void *bytes, size_t len, struct error *err)
{
    CLEANUP_FREE char *below = xasprintf(BUNDLE_INPUTS_DIR "/%s", name), *path = path_join(r->path, below);

    return fs_exists(path) ? 0 : rundir_write(r, below, bytes, len, err);
}

static int add_file(struct rundir *r, const char *path, char **ret_name, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf content = {.max = INPUT_MAX};
    char sha256[SHA256_HEX_SIZE];

    if (fs_read(path, INPUT_MAX, &content, err) < 0)
        return -1;
    sha256_hex(strbuf_text(&content), content.len, sha256);
    CLEANUP_FREE char *name = input_name(path, sha256, "");
    if (store(r, name, strbuf_text(&content), content.len, err) < 0)
        return -1;
    *ret_name = TAKE(name);
    return 0;
}

static int read_fd(int fd, int64_t size, struct strbuf *out, struct error *err)
{
    char chunk[65536];
    ssize_t n;

    while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
        if (n < 0 && errno != EINTR)
            return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot read a packed directory");
        if (n > 0)
            strbuf_add(out, chunk, (size_t)n);
    }
    return out->len == (size_t)size ? 0 : error_set(err, ERROR_ENVIRONMENT, "cannot read a packed directory");
}

static int add_dir(struct rundir *r, const char *path, char **ret_name, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf tar = {.max = INPUT_MAX};
    CLEANUP_CLOSE int fd = -1;
    char sha256[SHA256_HEX_SIZE];
    int64_t size;

    if (archive_pack_context(path, &fd, &size, err) < 0)
        return -1;
    if (size > (int64_t)INPUT_MAX) {
        (void)error_set(err, ERROR_INVALID, "'%s' is larger than %zu MiB", path, INPUT_MAX >> 20);
        return error_hint(err, "leave out what a build does not need: %s/.dockerignore", path);
    }
    if (read_fd(fd, size, &tar, err) < 0)
        return -1;
    sha256_hex(strbuf_text(&tar), tar.len, sha256);
    CLEANUP_FREE char *name = input_name(path, sha256, ".tar");
    if (store(r, name, strbuf_text(&tar), tar.len, err) < 0)
        return -1;
    *ret_name = TAKE(name);
    return 0;
}

int rundir_add_input(struct rundir *r, const char *path, char **ret_name, struct error *err)
{
    CLEANUP_FREE char *real = realpath(path, NULL);
    struct input added = {0};

    if (!real)
        return error_errno(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_ENVIRONMENT, errno,
                           "cannot read '%s'", path);
    vec_each (i, &r->inputs) {
        if (text_equal(i->path, real)) {
            *ret_name = xstrdup(i->name);
            return 0;
        }
    }
    if ((fs_is_dir(real) ? add_dir : add_file)(r, real, &added.name, err) < 0)
        return -1;
    *ret_name = xstrdup(added.name);
    added.path = TAKE(real);
    vec_push(&r->inputs, added);
    return 0;
}
