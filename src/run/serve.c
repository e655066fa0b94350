/* SPDX-License-Identifier: MIT */
/* Waiting while the world goes on: engine events go to ledgers at once, and what they call for is done
 * between waits. */
#include "run_internal.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"

/* One line of events.ndjson; takes `fields` over. Losing one is a note, not a failure: the ledger has it too.
 */
void trial_event(struct trial_run *t, const char *what, const char *role, struct json *fields)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf line = STRBUF_INIT;
    CLEANUP(json_free) struct json *j = fields ? fields : json_new_object();
    struct error err = ERROR_INIT;

    if (t->events_fd < 0)
        return;
    json_set_number(j, "at_ms", clock_ms_since(t->begin_ns));
    json_set_text(j, "event", what);
    json_set_text(j, "role", role);
    json_write(j, JSON_STYLE_COMPACT, &line);
    strbuf_addc(&line, '\n');
    if (fs_write_all(t->events_fd, line.data, line.len, "events.ndjson", &err) == 0)
        return;
    warn("%s", err.message);
    trial_note(t, "what happened later was not written down: %s", err.message);
    (void)close(t->events_fd); /* behind half a line nothing could be read */
    t->events_fd = -1;
}

bool trial_is_current(const struct sweep_run *s, const struct unit *u)
{
    const struct trial_run *t = s->trial;

    return t && (u == t->app || u == t->generator || !u->settings || u->settings->scope == SCOPE_TRIAL);
}

bool trial_has(const struct trial_run *t, const struct unit *u)
{
    return u->id && (u == t->app || u == t->generator || container_settings_of(t->settings, u->role));
}

static struct unit *unit_by_id(struct sweep_run *s, const char *id)
{
    vec_each (u, &s->units)
        if ((*u)->id && strcmp((*u)->id, id) == 0)
            return *u;
    return NULL;
}

/* The engine tells of a container before it has answered who made it. */
static struct unit *unit_being_made(struct sweep_run *s, const struct engine_event *ev)
{
    if (strcmp(ev->action, "create") != 0)
        return NULL;
    vec_each (u, &s->units)
        if (!(*u)->id && strcmp((*u)->role, ev->role) == 0)
            return *u;
    return NULL;
}

/* Its policy would not have started it again: somebody did it by hand. Others who did are told of by their
 * kill. */
static bool started_by_another(const struct unit *u)
{
    const struct container_settings *c = u->settings;
    size_t restarts = u->ledger.starts.len - 1;

    if (!u->ledger.starts.len || !restarts)
        return false;
    bool clean = u->ledger.exits.items[restarts - 1].code == 0;
    bool used_up = c->restart_max != SCHEMA_ABSENT && c->restart_max > 0 && restarts > (size_t)c->restart_max;
    return c->restart == RESTART_MODE_NO || (c->restart == RESTART_MODE_ON_FAILURE && (clean || used_up));
}

/* What nobody but us may do to a container of a trial, and what must not happen to the others. */
static void notice_interference(struct trial_run *t, const struct unit *u, const struct engine_event *ev)
{
    static const char *const touches[] = {"pause", "unpause", "update", "stop", "restart", "kill", "destroy"};

    if (u->ledger.ours_to_end || u == t->generator)
        return;
    bool by_hand = strcmp(ev->action, "start") == 0 && started_by_another(u);
    for (size_t i = 0; i < ARRAY_LEN(touches) && !t->interference; i++)
        if (by_hand || strcmp(ev->action, touches[i]) == 0)
            t->interference = arena_printf(t->arena, "somebody else touched '%s' during the trial: %s",
                                           u->role, ev->action);
    if (strcmp(ev->action, "die") == 0 && u != t->app && !t->service_death)
        t->service_death =
            arena_printf(t->arena, "'%s' ended during the trial (exit code %d)", u->role, ev->exit_code);
}

static void on_event(const struct engine_event *ev, void *data)
{
    struct sweep_run *s = data;
    struct unit *u = unit_by_id(s, ev->id), *made = u ? NULL : unit_being_made(s, ev);

    if (made && s->trial)
        unit_tell_event(s->trial, made, ev);
    if (!u)
        return; /* a container that we have let go of already */
    ledger_event(&u->ledger, ev);
    if (u->ledger.stale)
        s->wake = true;
    if (strcmp(ev->action, "die") == 0)
        unit_note_death(s, u);
    if (strcmp(ev->action, "die") == 0 && u->settings->restart == RESTART_MODE_NO)
        u->died = true;
    if (s->trial && s->trial->sampler && strcmp(ev->action, "oom") == 0)
        sampler_look(s->trial->sampler, u->role); /* while its cgroup is still there */
    if (s->trial)
        notice_interference(s->trial, u, ev);
    unit_tell_lives(s->trial, u, "events");
    if (s->trial)
        unit_tell_event(s->trial, u, ev);
}

static void on_gap(const char *why, void *data)
{
    struct sweep_run *s = data;

    warn("the engine's event stream was interrupted: %s", why);
    vec_each (u, &s->units)
        ledger_gap(&(*u)->ledger);
    s->wake = true;
    s->faults.doubted |= !s->trial; /* what it did meanwhile to what stands nobody has seen */
    if (!s->trial)
        return;
    s->trial->gap_wall_ns = clock_wall_ns();
    trial_event(s->trial, "gap", "engine", NULL);
}

int sweep_events_open(struct sweep_run *s, struct error *err)
{
    const struct engine_event_handler handler = {.event = on_event, .gap = on_gap, .data = s};

    return engine_events_open(s->engine, s->options->run_id, &handler, &s->events, err);
}

/* A container that started again has a new process and a new cgroup. */
static void follow_restart(struct sweep_run *s, struct unit *u, int64_t old_pid)
{
    if (u->pid == old_pid || !u->ledger.running)
        return;
    if (s->trial && s->trial->sampler)
        sampler_restarted(s->trial->sampler, u->role, u->pid);
    if (s->trial && s->trial->scraper && u == s->trial->app)
        scraper_restarted(s->trial->scraper);
}

int sweep_attend(struct sweep_run *s, struct error *err)
{
    s->wake = false;
    control_serve(s);
    for (size_t i = 0; i < s->units.len; i++) {
        struct unit *u = s->units.items[i];
        int64_t old_pid = u->pid;
        struct error e = ERROR_INIT;
        if (!u->ledger.stale || !u->id || u->ledger.ours_to_end)
            continue;
        if (unit_inspect(s, u, &e) < 0) {
            *err = e;
            return error_wrap(err, "container '%s'", u->role);
        }
        follow_restart(s, u, old_pid);
    }
    return 0;
}

int trial_time_error(const struct trial_run *t, struct error *err)
{
    char limit[32];

    return error_set(err, ERROR_TIMEOUT, "the trial's time limit of %s is over",
                     duration_human(t->settings->timeout_ns, limit));
}

bool trial_time_is_up(const struct sweep_run *s)
{
    return s->trial && clock_now_ns() >= s->trial->deadline_ns;
}

int sweep_wait(struct sweep_run *s, const bool *done, int64_t deadline_ns, struct error *err)
{
    if (s->trial && s->trial->deadline_ns < deadline_ns)
        deadline_ns = s->trial->deadline_ns;
    while (!*done) {
        struct error e = ERROR_INIT;
        if (s->wake)
            return sweep_attend(s, err); /* the caller looks whether what it waits for still makes sense */
        if (loop_wait_either(s->loop, done, &s->wake, deadline_ns, &e) < 0) {
            if (e.kind == ERROR_TIMEOUT && trial_time_is_up(s))
                return trial_time_error(s->trial, err);
            *err = e;
            return -1;
        }
    }
    return 0;
}
