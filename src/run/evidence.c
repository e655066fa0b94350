/* SPDX-License-Identifier: MIT */
/* What a trial's containers leave behind: their logs, and files that were asked for. */
#include "log_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include "benchctl/archive.h"
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/base/secrets.h"

#define LOG_MAX (INT64_C(64) << 20) /* per channel and container */

/* Does it hold lines of earlier trials? Those are not this one's evidence. */
static bool outlives(const struct trial_run *t, const struct unit *u)
{
    bool found = u == t->app;

    for (size_t i = 0; i < t->services.len && !found; i++)
        found = t->services.items[i] == u;
    return !found;
}

/* A server that outlives trials tells of its own start, of our resets and of migrations before the app is
 * ready: nothing of that has to do with the load. Where the app never was ready it may say why. */
static int64_t of_interest_ns(const struct trial_run *t, const struct unit *u)
{
    if (t->app && !isnan(t->record.ready_ms))
        return t->app->started_ns + (int64_t)(t->record.ready_ms * NS_PER_MS);
    return t->database_reset_ns && strcmp(u->role, "database") == 0 ? t->database_reset_ns : t->begin_ns;
}

static int scan_alone(struct trial_run *t, struct unit *u, struct error *err)
{
    struct log_scan *scan = log_scan_begin(t, u);
    const struct engine_log_options o = {.stdout_fd = -1,
                                         .stderr_fd = -1,
                                         .on_line = log_scan_line,
                                         .data = scan,
                                         .line_wall_ns = log_scan_clock(scan),
                                         .since_wall_ns = of_interest_ns(t, u) + t->wall_minus_mono_ns};

    int rc = engine_logs_save(t->sweep->engine, u->id, &o, err);
    log_scan_tell(scan);
    return rc;
}

int save_log(struct trial_run *t, struct unit *u, struct error *err)
{
    CLEANUP_FREE char *out_path = xasprintf("%s/logs/%s.stdout.log", t->dir, u->role);
    CLEANUP_FREE char *err_path = xasprintf("%s/logs/%s.stderr.log", t->dir, u->role);
    CLEANUP_CLOSE int out = open(out_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    CLEANUP_CLOSE int errors = open(err_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bool old = outlives(t, u);
    struct log_scan *scan = old ? NULL : log_scan_begin(t, u);

    if (out < 0 || errors < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot create '%s'", out_path);
    const struct engine_log_options o = {
        .stdout_fd = out,
        .stderr_fd = errors,
        .max_bytes = LOG_MAX,
        .on_line = scan ? log_scan_line : NULL,
        .data = scan,
        .line_wall_ns = scan ? log_scan_clock(scan) : NULL,
        .since_wall_ns = old ? t->begin_ns + t->wall_minus_mono_ns : 0,
    };
    int rc = engine_logs_save(t->sweep->engine, u->id, &o, err);
    if (scan)
        log_scan_tell(scan);
    return rc == 0 && old ? scan_alone(t, u, err) : rc;
}

int artifact_unpack(const char *tar, const char *dir, struct error *err)
{
    CLEANUP(archive_reader_free) struct archive_reader *r = NULL;
    struct archive_member m;
    char chunk[65536];
    int more;

    if (archive_reader_open(tar, &ARCHIVE_LIMITS_DEFAULT, &r, err) < 0)
        return -1;
    while ((more = archive_reader_next(r, &m, err)) > 0) {
        CLEANUP_FREE char *name = xstrdup(m.name);
        bool masked = secrets_mask(name, strlen(name));
        CLEANUP_FREE char *path = path_join(dir, name);
        CLEANUP_FREE char *parent = path_dirname(path);
        ssize_t n;
        if (fs_mkdirs(m.is_dir ? path : parent, err) < 0)
            return -1;
        if (m.is_dir)
            continue;
        CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (fd < 0 && masked && errno == EEXIST)
            continue; /* another of the same masked name is there */
        if (fd < 0)
            return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot create '%s'", path);
        while ((n = archive_reader_read(r, chunk, sizeof(chunk), err)) > 0)
            if (fs_write_all(fd, chunk, (size_t)n, path, err) < 0)
                return -1;
        if (n < 0)
            return -1;
    }
    return more;
}

static int save_artifact(struct trial_run *t, const struct artifact_settings *a, struct error *err)
{
    struct unit *u = unit_find(t->sweep, a->from);
    CLEANUP_FREE char *dir = xasprintf("%s/artifacts/%s", t->dir, a->from);
    CLEANUP_FREE char *tar = xasprintf("%s/.copy.tar", dir);

    if (!u || !u->id)
        return error_set(err, ERROR_NOT_FOUND, "no container '%s'", a->from);
    if (fs_mkdirs(dir, err) < 0)
        return -1;
    CLEANUP_CLOSE int fd = open(tar, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot create '%s'", tar);
    int rc = engine_container_copy(t->sweep->engine, u->id, a->path, fd, err);
    if (rc == 0)
        rc = artifact_unpack(tar, dir, err);
    (void)unlink(tar);
    return rc;
}

void save_artifacts(struct trial_run *t)
{
    const struct artifact_settings *all = t->settings->artifacts.items;

    for (size_t i = 0; i < t->settings->artifacts.len; i++) {
        struct error e = ERROR_INIT;
        if (save_artifact(t, &all[i], &e) < 0)
            trial_note(t, "artifact '%s' of '%s' was not saved: %s", all[i].path, all[i].from, e.message);
    }
}
