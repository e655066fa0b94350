/* SPDX-License-Identifier: MIT */
/* A snapshot of a sweep as JSON, and what it says of a sweep that hangs. */
#include <stdio.h>
#include <string.h>
#include "benchctl/base/units.h"
#include "internal.h"

/* A heartbeat comes every 5 s. What blocks the loop (hashing, packing a build context, a slow disk) takes
 * seconds; two minutes are none of it. */
#define HEARTBEAT_LATE_S 120

static const char *const states[] = {
    [WATCH_RUNNING] = "running",
    [WATCH_COOLING_DOWN] = "cooling down",
    [WATCH_WAITING_FOR_ENGINE] = "waiting for the engine",
    [WATCH_STOPPING] = "stopping",
    [WATCH_COMPLETE] = "complete",
    [WATCH_INTERRUPTED] = "interrupted",
    [WATCH_FAILED] = "failed",
};

const char *watch_state_name(enum watch_state s)
{
    return states[s];
}

bool watch_is_over(enum watch_state s)
{
    return s == WATCH_COMPLETE || s == WATCH_INTERRUPTED || s == WATCH_FAILED;
}

void watch_status_init(struct watch_status *s)
{
    *s = (struct watch_status){
        .trial = NAN,
        .trials = NAN,
        .sealed = NAN,
        .kept = NAN,
        .elapsed_s = NAN,
        .step_elapsed_s = NAN,
        .eta_s = NAN,
        .trial_limit_s = NAN,
        .free_bytes = NAN,
    };
}

static struct json *trial_json(const struct watch_trial *t)
{
    struct json *j = json_new_object();

    if (!t->scenario) {
        json_free(j);
        return json_new_null();
    }
    json_set_text(j, "scenario", t->scenario);
    json_set_int(j, "trial", t->trial);
    json_set_text(j, "outcome", t->outcome);
    json_set_text(j, "reason", t->reason);
    json_set_text(j, "at", t->at);
    return j;
}

struct json *watch_outcomes_json(const struct watch_status *s)
{
    struct json *j = json_new_object();

    for (int o = 0; o < OUTCOMES; o++)
        if (s->outcomes[o] > 0)
            json_set_number(j, outcome_name((enum outcome)o), s->outcomes[o]);
    return j;
}

/* To a tenth: more digits than anybody reads would only differ from one writing to the next. */
static void set_seconds(struct json *j, const char *key, double s)
{
    json_set_number(j, key, round(s * 10) / 10);
}

struct json *watch_status_to_json(const struct watch_status *s)
{
    struct json *j = json_new_object();

    json_set_int(j, "schema", WATCH_SCHEMA);
    json_set_text(j, "state", watch_state_name(s->state));
    json_set_text(j, "reason", s->reason);
    json_set_text(j, "name", s->name);
    json_set_text(j, "title", s->title);
    json_set_number(j, "trial", s->trial);
    json_set_number(j, "trials", s->trials);
    json_set_bool(j, "at_most", s->at_most);
    json_set_number(j, "sealed", s->sealed);
    json_set_number(j, "kept", s->kept);
    json_set(j, "outcomes", watch_outcomes_json(s));
    json_set_text(j, "scenario", s->scenario);
    json_set_text(j, "step", s->step);
    json_set_text(j, "step_since", s->step_since);
    set_seconds(j, "step_elapsed_s", s->step_elapsed_s);
    set_seconds(j, "trial_limit_s", s->trial_limit_s);
    json_set_text(j, "started_at", s->started_at);
    set_seconds(j, "elapsed_s", s->elapsed_s);
    set_seconds(j, "eta_s", s->eta_s);
    json_set_text(j, "eta_at", s->eta_at);
    json_set_text(j, "ended_at", s->ended_at);
    json_set(j, "last", trial_json(&s->last));
    json_set(j, "first_failure", trial_json(&s->first_failure));
    json_set_number(j, "free_disk_bytes", s->free_bytes);
    json_set_int(j, "pid", s->pid);
    json_set_text(j, "host", s->host);
    json_set_text(j, "version", s->version);
    json_set_text(j, "heartbeat_at", s->heartbeat_at);
    return j;
}

static void read_trial(const struct json *j, struct watch_trial *ret)
{
    *ret = (struct watch_trial){
        .scenario = json_get_text(j, "scenario"),
        .trial = (int)json_get_int(j, "trial"),
        .outcome = json_get_text(j, "outcome"),
        .reason = json_get_text(j, "reason"),
        .at = json_get_text(j, "at"),
    };
}

static int read_state(const char *text, enum watch_state *ret)
{
    for (int i = 0; i < WATCH_STATES; i++) {
        if (text_equal(text, states[i])) {
            *ret = (enum watch_state)i;
            return 0;
        }
    }
    return -1;
}

static void read_texts(const struct json *j, struct watch_status *s)
{
    s->reason = json_get_text(j, "reason");
    s->name = json_get_text(j, "name");
    s->title = json_get_text(j, "title");
    s->version = json_get_text(j, "version");
    s->host = json_get_text(j, "host");
    s->scenario = json_get_text(j, "scenario");
    s->step = json_get_text(j, "step");
    s->started_at = json_get_text(j, "started_at");
    s->step_since = json_get_text(j, "step_since");
    s->eta_at = json_get_text(j, "eta_at");
    s->heartbeat_at = json_get_text(j, "heartbeat_at");
    s->ended_at = json_get_text(j, "ended_at");
}

/* What no clock or counter of ours can be is taken for unknown. */
static double get_count(const struct json *j, const char *key)
{
    double v = json_get_number(j, key);

    return v >= 0 && v < 1e15 ? v : NAN;
}

int watch_status_from_json(const struct json *j, struct watch_status *ret, struct error *err)
{
    struct watch_status s;

    watch_status_init(&s);
    if (json_get_int(j, "schema") > WATCH_SCHEMA)
        return error_set(err, ERROR_INVALID, "the status was written by a newer benchctl");
    if (read_state(json_get_text(j, "state"), &s.state) < 0)
        return error_set(err, ERROR_INVALID, "it is not the status of a sweep");
    read_texts(j, &s);
    s.pid = json_get_int(j, "pid");
    s.trial = get_count(j, "trial");
    s.trials = get_count(j, "trials");
    s.at_most = json_get_bool(j, "at_most");
    s.sealed = get_count(j, "sealed");
    s.kept = get_count(j, "kept");
    for (int o = 0; o < OUTCOMES; o++) {
        double n = get_count(json_get(j, "outcomes"), outcome_name((enum outcome)o));
        s.outcomes[o] = n > 0 ? n : 0;
    }
    s.elapsed_s = get_count(j, "elapsed_s");
    s.step_elapsed_s = get_count(j, "step_elapsed_s");
    s.eta_s = get_count(j, "eta_s");
    double limit_s = json_get_number(j, "trial_limit_s"); /* below 0: it is over */
    s.trial_limit_s = fabs(limit_s) < 1e15 ? limit_s : NAN;
    s.free_bytes = get_count(j, "free_disk_bytes");
    read_trial(json_get(j, "last"), &s.last);
    read_trial(json_get(j, "first_failure"), &s.first_failure);
    *ret = s;
    return 0;
}

bool watch_is_stalled(const struct watch_status *s, double age_s, char *why, size_t size)
{
    char text[32];

    if (watch_is_over(s->state))
        return false;
    if (age_s > HEARTBEAT_LATE_S) {
        (void)snprintf(why, size, "no sign of life for %s",
                       duration_human((int64_t)(age_s < 1e9 ? age_s : 1e9) * NS_PER_S, text));
        return true;
    }
    double late_s = -(s->trial_limit_s - (age_s > 0 ? age_s : 0));
    if (!(late_s > TRIAL_GRACE_S))
        return false;
    (void)snprintf(why, size, "the trial should have ended %s ago at the latest",
                   duration_human((int64_t)(late_s < 1e9 ? late_s : 1e9) * NS_PER_S, text));
    return true;
}
