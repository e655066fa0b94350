/* SPDX-License-Identifier: MIT */
/* The database around the measured window: calm before it, counters at both ends, what is left open after it,
 * and the counters once the application has stopped. */
#include "run_internal.h"

#include "benchctl/base/clock.h"

#define SETTLE_NS (5 * NS_PER_S)   /* for what cancelled requests still do; whoever takes longer is named */
#define QUIET_NS (100 * NS_PER_MS) /* between two requests of a queue a session is idle for a moment */
#define POLL_NS (25 * NS_PER_MS)
#define LOST_S 2.0              /* idle in a transaction for so long: nobody goes on with it */
#define LEAVE_NS (2 * NS_PER_S) /* for sessions to end whose client has been killed */

/* Do the scenario's checks look at counters to which sessions add with delay? */
static bool is_counter_named(const char *text)
{
    static const char *const names[] = {"database.commits", "database.rollbacks", "database.deadlocks",
                                        "database.rows_", "database.temp_bytes"};

    for (size_t i = 0; text && i < ARRAY_LEN(names); i++)
        if (strstr(text, names[i]))
            return true;
    return false;
}

bool database_counters_wanted(const struct settings *st)
{
    const struct check_settings *checks = st->checks.items;

    if (st->database && st->database->commits_per_request > 0)
        return true;
    for (size_t i = 0; i < st->checks.len; i++)
        if (is_counter_named(checks[i].sql) || is_counter_named(checks[i].value))
            return true;
    for (size_t i = 0; i < st->expect.len; i++)
        if (is_counter_named(st->expect.items[i]))
            return true;
    return false;
}

bool database_is_counted(const struct settings *st)
{
    const struct check_settings *checks = st->checks.items;
    bool sql = false;

    for (size_t i = 0; i < st->checks.len; i++)
        sql |= checks[i].sql != NULL;
    return st->database && (sql || database_counters_wanted(st));
}

/* --- until nobody works any more --- */

static bool is_lost(const struct postgres_activity *a)
{
    return a->active == 0 && a->idle_in_transaction > 0 && a->still_s >= LOST_S;
}

/* Waits until no session of the benchmark's database has worked for a moment, or there is no hope. */
static int settle(struct trial_run *t, struct postgres_activity *ret, struct error *err)
{
    struct sweep_run *s = t->sweep;
    int64_t begin_ns = clock_now_ns(), end_ns = begin_ns + SETTLE_NS, quiet_ns = begin_ns;

    if (t->deadline_ns < end_ns)
        end_ns = t->deadline_ns;
    for (;;) {
        if (postgres_activity(s->postgres, ret, err) < 0 || (s->wake && sweep_attend(s, err) < 0))
            return -1;
        int64_t now_ns = clock_now_ns();
        if (ret->active + ret->idle_in_transaction > 0)
            quiet_ns = now_ns;
        if (now_ns - quiet_ns >= QUIET_NS || now_ns >= end_ns || is_lost(ret))
            return 0;
        if (loop_sleep_until(s->loop, now_ns + POLL_NS, err) < 0)
            return -1;
    }
}

static bool has_sessions(const struct trial_run *t)
{
    return t->settings->database && t->sweep->postgres && t->counters_taken;
}

/* A server that crashed or restarts is waited for as long as the step may take. */
static struct postgres *patient(struct trial_run *t)
{
    postgres_patience(t->sweep->postgres, t->deadline_ns);
    return t->sweep->postgres;
}

bool settle_wanted(struct trial_run *t)
{
    return t->settings->database != NULL;
}

static void tell_open(struct trial_run *t, const struct postgres_activity *a)
{
    const struct trial_happening open = {.id = "idle-in-transaction",
                                         .role = "database",
                                         .at_ns = t->load_end_ns,
                                         .count = a->idle_in_transaction};
    const struct trial_happening busy = {
        .id = "busy-after-load", .role = "database", .at_ns = t->load_end_ns, .count = a->active};

    if (a->idle_in_transaction > 0)
        trial_finding(
            t, &open,
            "%d session%s left idle in a transaction after the load, the oldest open for %.1f s: what was "
            "written in it is neither committed nor rolled back, and its locks are held",
            a->idle_in_transaction, a->idle_in_transaction == 1 ? " was" : "s were", a->open_s);
    if (a->active > 0)
        trial_finding(t, &busy, "%d session%s still at work %.1f s after the load, the longest for %.1f s",
                      a->active, a->active == 1 ? " was" : "s were", clock_ms_since(t->load_end_ns) / 1e3,
                      a->active_s);
    if (a->hidden > 0)
        trial_note(
            t, "what %d session%s of others did after the load is not known: benchctl's role may not see it",
            a->hidden, a->hidden == 1 ? "" : "s");
}

static void tell_prepared(struct trial_run *t, const struct postgres_activity *a)
{
    double left = a->prepared - t->counters_before.prepared_xacts;
    const struct trial_happening h = {
        .id = "prepared-transactions", .role = "database", .at_ns = t->load_end_ns, .count = left};

    t->record.database.prepared_transactions = a->prepared;
    if (left > 0)
        trial_finding(
            t, &h,
            "%.0f prepared transaction%s left behind, the oldest for %.1f s: their locks are held until "
            "somebody ends them",
            left, left == 1 ? " was" : "s were", a->prepared_s);
}

int step_settle(struct trial_run *t, struct error *err)
{
    struct postgres_activity a;
    struct error failed = ERROR_INIT;

    if (!has_sessions(t))
        return 0;
    (void)patient(t);
    if (settle(t, &a, &failed) < 0) {
        if (failed.kind == ERROR_INTERRUPTED) {
            *err = failed;
            return -1;
        }
        trial_note(t, "the database could not be looked at after the load: %s", failed.message);
        return 0;
    }
    if (!a.hidden)
        t->record.database.idle_in_transaction = a.idle_in_transaction;
    tell_open(t, &a);
    tell_prepared(t, &a);
    return 0;
}

/* --- the window --- */

/* What the warm-up has written goes to disk now, and what it has begun is over. Where that cannot be had the
 * trial goes on without. */
static int calm_down(struct trial_run *t, struct error *err)
{
    struct postgres_activity a;

    if (settle(t, &a, err) < 0 || postgres_calm(t->sweep->postgres, err) < 0)
        return error_wrap(err, "no VACUUM, ANALYZE and CHECKPOINT after the warm-up");
    return 0;
}

/* Not only a warm-up is told of later than it was: also what the application does when it starts, and what
 * was asked of it until it was ready. */
static int await_told(struct trial_run *t, struct error *err)
{
    bool told = true;

    if (!database_counters_wanted(t->settings))
        return 0;
    if (postgres_await_told(t->sweep->postgres, &told, err) < 0)
        return -1;
    if (!told)
        trial_note(t, "the database's counters may hold some of what was before the measured window: its "
                      "sessions tell of their last second later");
    return 0;
}

int database_window_begin(struct trial_run *t, struct error *err)
{
    struct error failed = ERROR_INIT;

    if (!t->settings->database)
        return 0;
    struct postgres *p = patient(t);
    if ((t->warmup_ms > 0 && calm_down(t, &failed) < 0) || await_told(t, &failed) < 0) {
        if (failed.kind == ERROR_INTERRUPTED) {
            *err = failed;
            return -1;
        }
        trial_note(t, "the database before the measured window: %s", failed.message);
    }
    if (postgres_counters(p, &t->counters_before, err) < 0)
        return error_wrap(err, "reading the database's counters");
    t->counters_taken = true;
    return 0;
}

/* The server counts anew since it has recovered from a crash: what was before is lost. */
static bool is_recounted(const struct trial_run *t, const struct postgres_counters *after)
{
    double before_s = t->counters_before.since_s;

    return after->since_s > before_s || (isnan(before_s) && !isnan(after->since_s));
}

static double grown(double after, double before)
{
    return after >= before ? after - before : (double)NAN;
}

/* Those that sessions add to. */
static void take_difference(struct trial_run *t, const struct postgres_counters *after)
{
    static const struct postgres_counters lost = {NAN, NAN, NAN, NAN, NAN, NAN, NAN,
                                                  NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    const struct postgres_counters *before = is_recounted(t, after) ? &lost : &t->counters_before;
    struct database_result *d = &t->record.database;

    d->commits = grown(after->commits, before->commits);
    d->rollbacks = grown(after->rollbacks, before->rollbacks);
    d->deadlocks = grown(after->deadlocks, before->deadlocks);
    d->temp_bytes = grown(after->temp_bytes, before->temp_bytes);
    d->rows_inserted = grown(after->tup_inserted, before->tup_inserted);
    d->rows_updated = grown(after->tup_updated, before->tup_updated);
    d->rows_deleted = grown(after->tup_deleted, before->tup_deleted);
    d->size_bytes = after->size_bytes;
}

/* A database that has gone away meanwhile is a note on the trial, and the figures stay "not measured". */
void database_window_end(struct trial_run *t)
{
    struct postgres_counters end;
    struct error err = ERROR_INIT;
    struct database_result *d = &t->record.database;

    if (!t->counters_taken)
        return;
    if (postgres_glance(patient(t), &end, &err) < 0) {
        trial_note(t, "the database's counters could not be read after the load: %s", err.message);
        return;
    }
    take_difference(t, &end);
    d->checkpoints =
        is_recounted(t, &end) ? (double)NAN : grown(end.checkpoints, t->counters_before.checkpoints);
    /* of the end of the window; a server that had to recover first has none of those any more */
    d->connections = is_recounted(t, &end) ? (double)NAN : end.connections;
    d->prepared_transactions = end.prepared_xacts;
    if (d->checkpoints > 0)
        trial_note(t, "%.0f checkpoint%s fell into the measured window", d->checkpoints,
                   d->checkpoints == 1 ? "" : "s");
}

/* --- after the application has stopped --- */

/* Ends a container of the trial whose story is told already. */
static void stop_unit(struct trial_run *t, struct unit *u)
{
    struct error ignored = ERROR_INIT;

    if (!u || !u->id)
        return;
    u->ledger.ours_to_end = true;
    (void)!engine_container_kill(t->sweep->engine, u->id, "SIGKILL", &ignored); /* not running is as good */
}

/* Sessions tell of their last second when they end, and they end with their client; a pooler may be between.
 */
static int end_sessions(struct trial_run *t, int *ret_left, struct error *err)
{
    struct postgres *p = t->sweep->postgres;

    if (postgres_await_leave(p, 0, ret_left, err) < 0)
        return -1;
    if (*ret_left == 0)
        return 0;
    stop_unit(t, t->app);
    if (postgres_await_leave(p, clock_now_ns() + LEAVE_NS, ret_left, err) < 0)
        return -1;
    if (*ret_left == 0 || t->services.len == 0)
        return 0;
    vec_each (u, &t->services)
        stop_unit(t, *u);
    return postgres_await_leave(p, clock_now_ns() + LEAVE_NS, ret_left, err);
}

static void tell_final(struct trial_run *t, const struct postgres_counters *after, int left)
{
    struct database_result *d = &t->record.database;

    take_difference(t, after);
    d->autovacuum_runs = is_recounted(t, after)
                             ? (double)NAN
                             : grown(after->autovacuum_runs, t->counters_before.autovacuum_runs);
    if (is_recounted(t, after))
        trial_note(
            t, "the database began to count anew in the measured window, after a crash or because somebody "
               "reset its statistics: its counters are not known");
    if (d->autovacuum_runs > 0)
        trial_note(t, "autovacuum ran %.0f time%s in the measured window", d->autovacuum_runs,
                   d->autovacuum_runs == 1 ? "" : "s");
    if (left > 0)
        trial_note(t,
                   "%d session%s stayed connected to the database: what was done there in the last second "
                   "may not be "
                   "counted",
                   left, left == 1 ? "" : "s");
    database_tell_faults(t);
}

int database_finish(struct trial_run *t, struct error *err)
{
    struct postgres_counters after;
    struct error failed = ERROR_INIT;
    int left = 0;

    if (!has_sessions(t))
        return 0;
    (void)patient(t);
    if (end_sessions(t, &left, &failed) == 0 && postgres_counters(t->sweep->postgres, &after, &failed) == 0) {
        tell_final(t, &after, left);
        return 0;
    }
    if (failed.kind == ERROR_INTERRUPTED) {
        *err = failed;
        return -1;
    }
    trial_note(t, "the database's counters could not be read after the application had stopped: %s",
               failed.message);
    return 0;
}
