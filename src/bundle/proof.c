/* SPDX-License-Identifier: MIT */
/* A trial's directory proves itself: trial.json, written last, lists every other file with size and hash. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include "internal.h"

#define TRIAL_MAX 1000000

static int open_file(const char *path, int *ret_fd, struct error *err)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return error_errno(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_ENVIRONMENT, errno,
                           "cannot read '%s'", path);
    *ret_fd = fd;
    return 0;
}

int hash_file(const char *path, int64_t *ret_size, char hex[SHA256_HEX_SIZE], bool sync, struct error *err)
{
    CLEANUP(sha256_free) struct sha256 *hash = sha256_new();
    CLEANUP_FREE char *chunk = xmalloc(1 << 18);
    CLEANUP_CLOSE int fd = -1;
    int64_t size = 0;
    ssize_t n;

    if (open_file(path, &fd, err) < 0)
        return -1;
    while ((n = read(fd, chunk, 1 << 18)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot read '%s'", path);
        sha256_update(hash, chunk, (size_t)n);
        size += n;
    }
    if (sync && fdatasync(fd) < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot sync '%s'", path);
    sha256_final(hash, hex);
    *ret_size = size;
    return 0;
}

/* --- files of a trial --- */

struct listing {
    const char *dir;
    VEC(char *) files, dirs;
};

static void listing_release(struct listing *l)
{
    vec_each (name, &l->files)
        free(*name);
    vec_each (name, &l->dirs)
        free(*name);
    vec_release(&l->files);
    vec_release(&l->dirs);
}

static int list_one(const char *relative, bool is_dir, int64_t size, void *data, struct error *err)
{
    struct listing *l = data;

    (void)size;
    (void)err;
    if (is_dir)
        vec_push(&l->dirs, xstrdup(relative));
    else if (!text_equal(relative, TRIAL_FILE) && !text_equal(relative, TRIAL_FILE ".tmp"))
        vec_push(&l->files, xstrdup(relative));
    return 0;
}

/* Lets the disk begin with all files at once, so that waiting for each in turn is short. */
static void start_writing(struct listing *l)
{
    vec_each (name, &l->files) {
        CLEANUP_FREE char *path = path_join(l->dir, *name);
        CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0)
            (void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    }
}

int proof_files(const char *dir, bool sync, struct json **ret, struct error *err)
{
    CLEANUP_VALUE(listing_release) struct listing l = {.dir = dir};
    CLEANUP(json_free) struct json *files = json_new_object();

    if (fs_walk(dir, list_one, &l, err) < 0)
        return -1;
    if (sync)
        start_writing(&l);
    vec_each (name, &l.files) {
        CLEANUP_FREE char *path = path_join(dir, *name);
        struct json *file = json_new_object();
        char hex[SHA256_HEX_SIZE];
        int64_t size = 0;

        json_set(files, *name, file);
        if (hash_file(path, &size, hex, sync, err) < 0)
            return -1;
        json_set_int(file, "size", size);
        json_set_text(file, "sha256", hex);
    }
    for (size_t i = 0; sync && i < l.dirs.len; i++) {
        CLEANUP_FREE char *path = path_join(dir, l.dirs.items[i]);
        if (fs_sync_dir(path, err) < 0)
            return -1;
    }
    *ret = TAKE(files);
    return 0;
}

bool proof_holds(const char *dir, const struct json *trial, const char *scenario, int number)
{
    CLEANUP(json_free) struct json *files = NULL;
    struct error ignored = ERROR_INIT;

    if (!text_equal(json_get_text(trial, "scenario"), scenario) || !json_is_int(json_get(trial, "trial")) ||
        json_get_int(trial, "trial") != number || !json_get_text(trial, "outcome"))
        return false;
    return proof_files(dir, false, &files, &ignored) == 0 && json_same(json_get(trial, "files"), files);
}

bool proof_parse_name(const char *name, char **ret_scenario, int *ret_trial)
{
    size_t len = strlen(name);
    int64_t number = 0;

    if (!text_ends(name, "/" TRIAL_FILE))
        return false;
    len -= strlen("/" TRIAL_FILE);
    size_t digits = 0;
    for (int64_t place = 1; digits < len && name[len - digits - 1] >= '0' && name[len - digits - 1] <= '9';
         digits++) {
        if (place > TRIAL_MAX)
            return false;
        number += place * (name[len - digits - 1] - '0');
        place *= 10;
    }
    if (digits == 0 || digits + 1 >= len || name[len - digits - 1] != '/' || name[len - digits] == '0')
        return false;
    *ret_scenario = xstrndup(name, len - digits - 1);
    *ret_trial = (int)number;
    return true;
}
