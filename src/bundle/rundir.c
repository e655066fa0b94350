/* SPDX-License-Identifier: MIT */
/* The run directory: made, locked, written to, gone on with. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include "benchctl/base/log.h"
#include "benchctl/base/secrets.h"
#include "internal.h"
#include "rundir.h"

void rundir_close(struct rundir *r)
{
    if (!r)
        return;
    journal_release(&r->journal);
    seals_release(&r->seals);
    vec_each (i, &r->inputs) {
        free(i->path);
        free(i->name);
    }
    vec_release(&r->inputs);
    if (r->lock_fd >= 0)
        (void)close(r->lock_fd); /* gives the lock up */
    free(r->path);
    free(r->above);
    free(r);
}

const char *rundir_path(const struct rundir *r)
{
    return r->path;
}

static bool has(const char *dir, const char *name)
{
    CLEANUP_FREE char *path = path_join(dir, name);
    return fs_exists(path);
}

bool rundir_is(const char *path)
{
    return fs_is_dir(path) && (has(path, JOURNAL_FILE) || has(path, "sweep.json") || has(path, TRIALS_DIR));
}

/* The lock is on the directory itself: nothing to leave behind, and gone with the process. */
static int lock_dir(const char *path, int *ret_fd, struct error *err)
{
    CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return error_errno(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_ENVIRONMENT, errno,
                           "cannot open '%s'", path);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK)
            return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot lock '%s'", path);
        (void)error_set(err, ERROR_ENVIRONMENT, "'%s' is in use by another benchctl", path);
        return error_hint(err, "`benchctl status %s` tells how far it is", path);
    }
    *ret_fd = fd;
    fd = -1;
    return 0;
}

bool rundir_busy(const char *path)
{
    CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/* --- a directory in which no sweep was begun --- */

static void find_begin(const struct json *record, void *data)
{
    bool *begun = data;

    *begun |= text_equal(json_get_text(record, "event"), JOURNAL_BEGIN);
}

/* What a benchctl that died before it began has made. */
static bool is_of_the_beginning(const char *name)
{
    static const char *const NAMES[] = {JOURNAL_FILE,      BUNDLE_MATRIX_FILE, BUNDLE_PLAN_FILE,
                                        BUNDLE_INPUTS_DIR, BUNDLE_INPUTS_FILE, BUNDLE_INVOCATION_FILE,
                                        BUNDLE_RERUN_FILE, BUNDLE_RERUN_TREE};

    for (size_t i = 0; i < ARRAY_LEN(NAMES); i++)
        if (text_equal(name, NAMES[i]))
            return true;
    return text_starts(name, BUNDLE_STATUS_START) || text_ends(name, ".tmp");
}

bool rundir_unbegun(const char *path)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = {.max = JOURNAL_MAX};
    CLEANUP_FREE char *journal = path_join(path, JOURNAL_FILE);
    CLEANUP(closedir) DIR *d = opendir(path);
    struct error ignored = ERROR_INIT;
    bool begun = false;
    size_t good;

    if (!d || !fs_exists(journal)) /* the journal is what is made first: the rest may be anybody's */
        return false;
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (!is_of_the_beginning(e->d_name))
            return false;
    }
    return fs_read(journal, JOURNAL_MAX, &text, &ignored) == 0 &&
           journal_scan(strbuf_text(&text), text.len, find_begin, &begun, &good, &ignored) == 0 && !begun;
}

static int clear_dir(const char *path, struct error *err)
{
    CLEANUP(closedir) DIR *d = opendir(path);

    for (struct dirent *e; d && (e = readdir(d));) {
        CLEANUP_FREE char *below = path_join(path, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && fs_remove_tree(below, err) < 0)
            return -1;
    }
    return 0;
}

/* With its lock and absolute path, nothing else. */
static int take_dir(const char *path, struct rundir **ret, struct error *err)
{
    CLEANUP(rundir_close) struct rundir *r = xcalloc(1, sizeof(*r));

    r->lock_fd = -1;
    r->journal.fd = -1;
    if (lock_dir(path, &r->lock_fd, err) < 0)
        return -1;
    r->path = realpath(path, NULL);
    if (!r->path)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot find '%s'", path);
    *ret = TAKE(r);
    return 0;
}

static int check_empty(const char *path, struct error *err)
{
    CLEANUP(closedir) DIR *d = opendir(path);

    if (!d)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot open '%s'", path);
    if (rundir_unbegun(path))
        return clear_dir(path, err);
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (rundir_is(path)) {
            (void)error_set(err, ERROR_INVALID, "'%s' holds a sweep already", path);
            return error_hint(
                err, "go on with it: `benchctl resume %s`, or name another directory with --out", path);
        }
        (void)error_set(err, ERROR_INVALID, "'%s' is not empty", path);
        return error_hint(err, "name another directory with --out");
    }
    return 0;
}

/* The deepest directory above `path` that is there, absolute; NULL: `path` itself is. The caller frees. */
static char *existing_above(const char *path)
{
    CLEANUP_FREE char *at = xstrdup(path);

    if (fs_exists(path))
        return NULL;
    while (!fs_exists(at)) {
        char *up = path_dirname(at);
        free(at);
        at = up;
    }
    return realpath(at, NULL);
}

int rundir_create(const char *path, struct rundir **ret, struct error *err)
{
    CLEANUP(rundir_close) struct rundir *r = NULL;
    CLEANUP_FREE char *above = existing_above(path);

    if (fs_mkdirs(path, err) < 0 || take_dir(path, &r, err) < 0 || check_empty(path, err) < 0)
        return -1;
    r->above = TAKE(above);
    CLEANUP_FREE char *journal = path_join(r->path, JOURNAL_FILE), *parent = path_dirname(r->path);
    if (journal_create(journal, &r->journal, err) < 0 || fs_sync_dir(r->path, err) < 0 ||
        fs_sync_dir(parent, err) < 0)
        return -1;
    *ret = TAKE(r);
    return 0;
}

void rundir_discard(struct rundir *r)
{
    struct error ignored = ERROR_INIT;
    CLEANUP_FREE char *at = xstrdup(r->path);

    if (clear_dir(r->path, &ignored) < 0 || !r->above) {
        rundir_close(r);
        return;
    }
    while (strlen(at) > strlen(r->above) && rmdir(at) == 0) { /* what somebody else has put there stays */
        char *up = path_dirname(at);
        free(at);
        at = up;
    }
    rundir_close(r);
}

int rundir_open(const char *path, struct rundir **ret, struct error *err)
{
    CLEANUP(rundir_close) struct rundir *r = NULL;
    int64_t moved;

    if (!rundir_is(path)) {
        (void)error_set(err, ERROR_USAGE, "'%s' is not a run directory", path);
        return error_hint(err, "name the directory that `benchctl run` wrote");
    }
    if (take_dir(path, &r, err) < 0)
        return -1;
    CLEANUP_FREE char *journal = path_join(r->path, JOURNAL_FILE);
    if (journal_open(journal, seals_apply, &r->seals, &r->journal, &moved, err) < 0 ||
        fs_sync_dir(r->path, err) < 0) /* it may have been made just now */
        return -1;
    if (moved) {
        CLEANUP(json_free) struct json *fields = json_new_object();
        warn("%lld bytes at the end of '%s' are damaged: moved aside, its trials are looked for on disk",
             (long long)moved, journal);
        json_set_int(fields, "moved_bytes", moved);
        if (journal_append(&r->journal, JOURNAL_REPAIRED, fields, true, err) < 0)
            return -1;
    }
    rundir_remove_stale(r);
    if (rundir_prove(r, err) < 0)
        return -1;
    *ret = TAKE(r);
    return 0;
}

int rundir_journal(struct rundir *r, const char *event, struct json *fields, bool sync, struct error *err)
{
    CLEANUP(json_free) struct json *owned = fields;

    secrets_mask_json(owned);
    return journal_append(&r->journal, event, owned, sync, err);
}

int rundir_sync_above(const struct rundir *r, const char *dir, struct error *err)
{
    CLEANUP_FREE char *at = xstrdup(dir);

    while (strlen(at) > strlen(r->path)) {
        char *up = path_dirname(at);
        free(at);
        at = up;
        if (fs_sync_dir(at, err) < 0)
            return -1;
    }
    return 0;
}

/* By rename, so that a reader sees the old or the new, but without waiting for the disk. */
static int replace_view(const char *path, const void *bytes, size_t len, struct error *err)
{
    CLEANUP_FREE char *temporary = xasprintf("%s.tmp", path);

    if (fs_write(temporary, bytes, len, err) < 0) {
        (void)unlink(temporary);
        return -1;
    }
    if (rename(temporary, path) < 0) {
        (void)error_errno(err, ERROR_ENVIRONMENT, errno, "cannot replace '%s'", path);
        (void)unlink(temporary);
        return -1;
    }
    return 0;
}

int rundir_write(struct rundir *r, const char *name, const void *bytes, size_t len, struct error *err)
{
    CLEANUP_FREE char *path = path_join(r->path, name);

    if (archive_name_check(name, err) < 0)
        return -1;
    if (text_starts(name, BUNDLE_STATUS_START))
        return replace_view(path, bytes, len, err);
    CLEANUP_FREE char *parent = path_dirname(path);
    if (fs_mkdirs(parent, err) < 0 || fs_write_atomic(path, bytes, len, err) < 0)
        return -1;
    return rundir_sync_above(r, parent, err);
}

int rundir_write_json(struct rundir *r, const char *name, const struct json *j, struct error *err)
{
    CLEANUP(json_free) struct json *masked = secrets_known() ? json_clone(j) : NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    secrets_mask_json(masked);
    json_write(masked ? masked : j, JSON_STYLE_INDENTED, &text);
    strbuf_trim_end(&text);
    strbuf_addc(&text, '\n');
    return rundir_write(r, name, text.data, text.len, err);
}
