/* SPDX-License-Identifier: MIT */
/* After the load: SQL checks, artifacts, logs, and each container's story. */
#include "run_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include "benchctl/archive.h"
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/base/log.h"

#define LOG_MAX (INT64_C(64) << 20) /* per channel and container */

/* --- checks --- */

/* "== 0" against the value: expectation_parse() wants a name in front. */
static bool holds(struct trial_run *t, const char *expect, const char *value, const char **ret_message)
{
    struct expectation e;
    struct error err = ERROR_INIT;
    double number;
    const char *text = arena_printf(t->arena, "value %s", expect);

    if (expectation_parse(text, t->arena, &e, &err) < 0) {
        *ret_message = arena_strdup(t->arena, err.message);
        return false;
    }
    if (!value || number_scan(value, strlen(value), &number) != strlen(value) || !value[0]) {
        *ret_message = arena_printf(t->arena, "the value '%s' is not a number", value ? value : "null");
        return false;
    }
    return expectation_holds(&e, number);
}

/* One SQL check. What cannot be evaluated is a check that did not pass, with the reason, never a lost trial.
 */
static int run_check(struct trial_run *t, const struct check_settings *c, struct check_result *ret,
                     struct error *err)
{
    struct error e = ERROR_INIT;
    const char *sql;
    char *value = NULL;

    *ret = (struct check_result){.name = c->name, .expect = c->expect, .gated = c->expect != NULL};
    if (run_expand(t, c->sql, &sql, &e) < 0 ||
        (t->sweep->postgres && postgres_query(t->sweep->postgres, sql, &value, &e) < 0)) {
        if (e.kind == ERROR_INTERRUPTED) {
            *err = e;
            return -1;
        }
        ret->message = arena_strdup(t->arena, e.message);
        return 0;
    }
    ret->value = arena_strdup(t->arena, value);
    free(value);
    ret->passed = !c->expect || holds(t, c->expect, ret->value, &ret->message);
    return 0;
}

static void check_expectations(struct trial_run *t, struct check_result *results, size_t *count)
{
    CLEANUP(json_free) struct json *j = trial_to_json(&t->record);
    const struct text_list *all = &t->settings->expect;

    for (size_t i = 0; i < all->len; i++) {
        struct expectation e;
        struct error err = ERROR_INIT;
        struct check_result *r = &results[(*count)++];
        double value = NAN;
        *r = (struct check_result){.name = all->items[i], .expect = all->items[i], .gated = true};
        if (expectation_parse(all->items[i], t->arena, &e, &err) < 0) {
            r->message = arena_strdup(t->arena, err.message);
            continue;
        }
        if (trial_number(j, e.name, &value) < 0)
            r->message = arena_printf(t->arena, "a trial records no '%s'", e.name);
        else if (isnan(value))
            r->message = arena_printf(t->arena, "'%s' was not measured", e.name);
        else
            r->value = arena_printf(t->arena, "%.6g", value);
        r->passed = expectation_holds(&e, value);
    }
}

int step_checks(struct trial_run *t, struct error *err)
{
    const struct check_settings *checks = t->settings->checks.items;
    size_t n = t->settings->checks.len;
    struct check_result *results =
        arena_array(t->arena, struct check_result, n + t->settings->expect.len + 1);

    for (size_t i = 0; i < n; i++)
        if (run_check(t, &checks[i], &results[i], err) < 0)
            return -1;
    t->record.checks = results;
    t->record.check_count = n;
    return 0;
}

/* --- logs and artifacts --- */

static int save_log(struct trial_run *t, struct unit *u, struct error *err)
{
    CLEANUP_FREE char *out_path = xasprintf("%s/logs/%s.stdout.log", t->dir, u->role);
    CLEANUP_FREE char *err_path = xasprintf("%s/logs/%s.stderr.log", t->dir, u->role);
    CLEANUP_CLOSE int out = open(out_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    CLEANUP_CLOSE int errors = open(err_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (out < 0 || errors < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot create '%s'", out_path);
    const struct engine_log_options o = {.stdout_fd = out, .stderr_fd = errors, .max_bytes = LOG_MAX};
    return engine_logs_save(t->sweep->engine, u->id, &o, err);
}

/* Unpacks the tar that the engine gave into artifacts/ROLE/. */
static int unpack(const char *tar, const char *dir, struct error *err)
{
    CLEANUP(archive_reader_free) struct archive_reader *r = NULL;
    struct archive_member m;
    char chunk[65536];
    int more;

    if (archive_reader_open(tar, &ARCHIVE_LIMITS_DEFAULT, &r, err) < 0)
        return -1;
    while ((more = archive_reader_next(r, &m, err)) > 0) {
        CLEANUP_FREE char *path = path_join(dir, m.name);
        CLEANUP_FREE char *parent = path_dirname(path);
        ssize_t n;
        if (fs_mkdirs(m.is_dir ? path : parent, err) < 0)
            return -1;
        if (m.is_dir)
            continue;
        CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
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
        rc = unpack(tar, dir, err);
    (void)unlink(tar);
    return rc;
}

static void save_artifacts(struct trial_run *t)
{
    const struct artifact_settings *all = t->settings->artifacts.items;

    for (size_t i = 0; i < t->settings->artifacts.len; i++) {
        struct error e = ERROR_INIT;
        if (save_artifact(t, &all[i], &e) < 0)
            trial_note(t, "artifact '%s' of '%s' was not saved: %s", all[i].path, all[i].from, e.message);
    }
}

/* --- a container's story --- */

static int64_t wall_of(const struct trial_run *t, int64_t mono_ns)
{
    return mono_ns + t->wall_minus_mono_ns;
}

static double memory_pct(const struct trial_run *t, const struct unit *u)
{
    const struct resource_sample *last = t->sampler ? sampler_last(t->sampler, u->role) : NULL;
    double limit = u->effective.memory_bytes;

    return last && isfinite(limit) && limit > 0 ? 100.0 * last->usage_bytes / limit : NAN;
}

static void tell_exits(struct trial_run *t, const struct unit *u, struct container_result *c)
{
    int64_t origin = wall_of(t, t->load_begin_ns ? t->load_begin_ns : t->begin_ns);

    c->exits = arena_array(t->arena, struct container_exit, u->ledger.exits.len + 1);
    for (size_t i = 0; i < u->ledger.exits.len; i++) {
        const struct ledger_exit *e = &u->ledger.exits.items[i];
        CLEANUP_FREE char *cause = ledger_cause(e, memory_pct(t, u));
        if (e->wall_ns < wall_of(t, t->begin_ns) && u != t->app)
            continue; /* a standing container's past */
        c->exits[c->exit_count++] = (struct container_exit){
            .at_ms = (double)(e->wall_ns - origin) / (double)NS_PER_MS,
            .code = e->code,
            .oom = e->oom,
            .cause = arena_strdup(t->arena, cause),
        };
    }
}

static void copy_effective(struct trial_run *t, const struct unit *u, struct effective *ret)
{
    *ret = u->effective;
    ret->cpuset = arena_strdup(t->arena, u->effective.cpuset);
    ret->image_id = arena_strdup(t->arena, u->effective.image_id);
    ret->warnings = arena_strdup(t->arena, u->effective.warnings);
}

static void tell_container(struct trial_run *t, struct unit *u, struct container_result *c)
{
    container_result_init(c, arena_strdup(t->arena, u->role));
    if (t->sampler && sampler_result(t->sampler, u->role, c) == 0)
        c->role = arena_strdup(t->arena, u->role);
    copy_effective(t, u, &c->effective);
    c->memory_bytes.limit = u->effective.memory_bytes;
    c->restarts = ledger_restarts(&u->ledger, NULL) - u->restarts_before;
    c->oom_kills = ledger_oom_kills(&u->ledger, NAN) - u->oom_kills_before;
    double kernel = t->sampler ? sampler_oom_kills(t->sampler, u->role) - u->cgroup_kills_before : NAN;
    if (kernel > c->oom_kills)
        c->oom_kills = kernel;
    if (t->load_begin_ns)
        c->uptime_pct = ledger_uptime_pct(&u->ledger, wall_of(t, t->load_begin_ns),
                                          wall_of(t, t->load_end_ns ? t->load_end_ns : clock_now_ns()));
    tell_exits(t, u, c);
    c->address = arena_strdup(t->arena, u->address);
    c->container_id = arena_strdup(t->arena, u->id);
    if (u->address_lost && !t->interference)
        t->interference = arena_printf(t->arena, "somebody else took '%s' off the sweep's network", u->role);
}

static void tell_everybody(struct trial_run *t)
{
    struct sweep_run *s = t->sweep;
    struct trial *r = &t->record;

    r->services = arena_array(t->arena, struct container_result, s->units.len + 1);
    vec_each (p, &s->units) {
        struct unit *u = *p;
        if (!trial_has(t, u))
            continue;
        struct container_result *c = u == t->app ? &r->app : &r->services[r->service_count++];
        tell_container(t, u, c);
        validity_of_unit(t, u, c);
    }
}

/* --- the step --- */

/* Is there an end that no event explains yet? */
static bool unexplained(const struct ledger *l)
{
    const struct ledger_exit *last = l->exits.len ? &l->exits.items[l->exits.len - 1] : NULL;

    if (!l->terminal)
        return false;
    return !last || last->by_inspect || (last->code == 128 + SIGKILL && !last->oom && !last->foreign_signal);
}

/* The flag or the event may come a moment after the exit: give them up to a second before deciding. */
static void settle(struct trial_run *t)
{
    int64_t deadline = clock_now_ns() + NS_PER_S;

    while (t->app && t->app->id && unexplained(&t->app->ledger) && clock_now_ns() < deadline) {
        struct error ignored = ERROR_INIT;
        if (loop_sleep_until(t->sweep->loop, clock_now_ns() + 20 * NS_PER_MS, &ignored) < 0 ||
            (t->sweep->wake && sweep_attend(t->sweep, &ignored) < 0))
            return; /* interrupted, or the engine has gone: there is nobody to wait for */
    }
}

/* The last look at every container. Without one at the app nobody knows whether it was well to the end. */
static int look_at_all(struct trial_run *t, struct error *err)
{
    struct sweep_run *s = t->sweep;
    int rc = 0;

    vec_each (p, &s->units) {
        struct error e = ERROR_INIT, unsaved = ERROR_INIT;
        struct unit *u = *p;
        if (!trial_has(t, u))
            continue;
        if (unit_inspect(s, u, &e) < 0 && u == t->app) {
            *err = e;
            rc = error_wrap(err, "container '%s'", u->role);
        }
        if (trial_is_current(s, u) && save_log(t, u, &unsaved) < 0)
            trial_note(t, "the log of '%s' was not saved: %s", u->role, unsaved.message);
    }
    return rc;
}

/* Always runs, also after a failure: this is the evidence. */
int step_collect(struct trial_run *t, struct error *err)
{
    settle(t);
    int rc = look_at_all(t, err);
    save_artifacts(t);
    tell_everybody(t);
    if (t->sampler)
        sampler_host(t->sampler, &t->record.host);
    if (isnan(t->record.host.load1))
        t->record.host.load1 = host_load1();
    validity_of_host(t);
    if (t->app)
        t->record.startup_ms = t->app->startup_ms;
    if (t->settings->app.startup && t->load_begin_ns && isnan(t->record.startup_ms))
        trial_note(t, "the startup time is not known: no line of the log matched '%s'",
                   t->settings->app.startup->log);
    if (!t->failed && rc == 0)
        check_expectations(t, t->record.checks, &t->record.check_count);
    if (rc == 0 && t->sampler && sampler_flush(t->sampler, err) < 0)
        return error_wrap(err, "samples.csv");
    return rc;
}
