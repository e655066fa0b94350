/* SPDX-License-Identifier: MIT */
/* The steps that start what a trial is made of: its services, and the application until it is ready. */
#include "run_internal.h"

#include "benchctl/base/clock.h"

/* --- services --- */

static int start_standing_service(struct trial_run *t, const struct container_settings *c, struct error *err)
{
    int64_t begin_ns = clock_now_ns();
    struct unit *u;
    int rc = standing_ensure(t->sweep, &t->resolved, t->scenario.index, c->name, &u, err);

    t->setup_ms += clock_ms_since(begin_ns);
    return rc;
}

static int start_service(struct trial_run *t, const struct container_settings *c, struct error *err)
{
    struct sweep_run *s = t->sweep;
    struct unit *u;
    enum ready_result r;
    const struct unit_options o = {
        .settings = t->settings,
        .scenario = t->scenario.id,
        .trial = t->record.trial,
        .image_id = image_for(s, c),
    };

    if (c->scope == SCOPE_SWEEP)
        return start_standing_service(t, c, err);
    u = unit_new(s, c, c->name);
    vec_push(&t->services, u);
    if (unit_create(s, u, &o, err) < 0 || unit_start(s, u, err) < 0 || unit_watch_log(s, u, err) < 0)
        return -1;
    if (unit_wait_ready(s, u, clock_now_ns() + ready_timeout_ns(c), &r, err) < 0)
        return -1;
    unit_unwatch_log(u);
    if (r == READY_YES)
        return 0;
    t->passing |= unit_port_taken(u, t->settings);
    return error_set(err, ERROR_ENVIRONMENT, "service '%s' %s; its last lines: %s", c->name,
                     r == READY_DEAD ? "died before it was ready" : "is not ready in time",
                     unit_log_tail(s, u, t->arena));
}

int step_services(struct trial_run *t, struct error *err)
{
    const struct container_settings *all = t->settings->services.items;

    for (size_t i = 0; i < t->settings->services.len; i++)
        if (start_service(t, &all[i], err) < 0)
            return -1;
    return 0;
}

static void let_go(struct trial_run *t, struct unit *u)
{
    if (t->keep)
        unit_keep(t->sweep, u);
    else
        unit_discard(t->sweep, u);
}

void undo_services(struct trial_run *t)
{
    while (t->services.len)
        let_go(t, t->services.items[--t->services.len]);
}

/* --- the application --- */

/* "exec: \"/nothing\": no such file" out of the engine's long story. */
static const char *words_of_exec(struct arena *a, const char *text)
{
    const char *begin = strstr(text, "exec: \"");
    char *words = arena_strdup(a, begin ? begin : text);

    if (text_ends(words, ": unknown"))
        words[strlen(words) - strlen(": unknown")] = '\0';
    return words;
}

/* The program does not exist or cannot be executed: that is the application's failure. `text`: the engine's
 * words, or those of the container's init; NULL: none. */
static void app_never_started(struct trial_run *t, const char *text)
{
    bool application;
    const char *class = start_failure_class(t->app->ledger.last_code, text, &application);

    if (!class || !application)
        return;
    t->never_started = arena_printf(t->arena, "never started: %s: %s", class, words_of_exec(t->arena, text));
    trial_finding(t, &(struct trial_happening){.id = "never-started", .role = "app", .count = 1}, "%s",
                  t->never_started);
}

int step_app(struct trial_run *t, struct error *err)
{
    struct sweep_run *s = t->sweep;
    const struct unit_options o = {
        .settings = t->settings,
        .scenario = t->scenario.id,
        .trial = t->record.trial,
        .image_id = image_for(s, &t->settings->app),
    };

    if (removals_wait(s, err) < 0) /* of the trial before: nothing of it may run beside this one */
        return -1;
    tell_left_behind(t);
    t->app = unit_new(s, &t->settings->app, "app");
    if (unit_create(s, t->app, &o, err) < 0)
        return -1;
    if (unit_start(s, t->app, err) < 0) {
        app_never_started(t, t->app->ledger.state_error);
        return -1;
    }
    return unit_watch_log(s, t->app, err);
}

void undo_app(struct trial_run *t)
{
    if (t->generator)
        unit_discard(t->sweep, t->generator);
    t->generator = NULL;
    if (t->app)
        let_go(t, t->app);
    t->app = NULL;
}

int app_not_ready(struct trial_run *t, enum ready_result r, int64_t timeout_ns, struct error *err)
{
    char timeout[32];
    const char *tail = unit_log_tail(t->sweep, t->app, t->arena);

    t->app->start_line = r == READY_DEAD ? start_failure_line(tail, t->arena) : NULL;
    if (t->app->start_line)
        app_never_started(t, t->app->start_line);
    t->never_up =
        r == READY_DEAD || ledger_deaths(&t->app->ledger) > 0; /* between two deaths it is not "alive" */
    t->not_ready = !t->never_up;
    if (t->not_ready)
        return error_set(err, ERROR_TRIAL, "alive, but not ready in %s%s%s (%d tries)%s%s",
                         duration_human(timeout_ns, timeout), t->app->asked[0] ? ": " : "", t->app->asked,
                         t->app->probes, tail[0] ? "; its last lines: " : "", tail);
    return error_set(err, ERROR_TRIAL, "%s%s", tail[0] ? "its last lines: " : "it logged nothing", tail);
}

int step_ready(struct trial_run *t, struct error *err)
{
    int64_t timeout = ready_timeout_ns(&t->settings->app), started = t->app->started_ns;
    enum ready_result r;

    if (trial_time_is_up(t->sweep))
        return trial_time_error(t, err); /* whether it would have been ready nobody knows */
    if (unit_wait_ready(t->sweep, t->app, started + timeout, &r, err) < 0)
        return -1;
    if (r == READY_TIMEOUT && trial_time_is_up(t->sweep) && !ledger_deaths(&t->app->ledger))
        return trial_time_error(t, err); /* the trial's limit ended it, not the application's */
    if (r == READY_DEAD && unit_port_taken(t->app, t->settings)) {
        t->passing = true;
        t->environment = arena_printf(t->arena, "ready: port %lld, which was free, is held by somebody else",
                                      (long long)t->app->port);
    }
    if (r != READY_YES)
        return app_not_ready(t, r, timeout, err);
    t->record.ready_ms = clock_ms_since(t->app->started_ns);
    if (!t->settings->app.startup || !isnan(t->app->startup_ms))
        unit_unwatch_log(t->app); /* following a log costs the engine time */
    unit_life_ready(t->app, clock_wall_ns());
    trial_event(t, "ready", "app", NULL);
    return 0;
}
