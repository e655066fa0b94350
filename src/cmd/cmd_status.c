/* SPDX-License-Identifier: MIT */
#include "benchctl/bundle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/units.h"
#include "benchctl/watch.h"
#include "cmd.h"

#define STATUS_MAX ((size_t)1 << 20)
#define WATCH_EVERY_S 2

struct status {
    const char *dir;
    struct sweep *sweep;      /* NULL: what is there cannot be read, `trouble` says why */
    struct json *json;        /* status.json, or NULL */
    struct watch_status live; /* what it says; unknown when it is not there, or damaged */
    bool has_live, held, bundle, stalled;
    double age_s; /* since status.json was written */
    char why[160];
    struct error trouble;
};

static void status_release(struct status *s)
{
    json_free(s->json);
    sweep_free(s->sweep);
}

/* A view that is lost or damaged is no loss: the journal and the lock have the last word. */
static void read_live(struct status *s)
{
    CLEANUP_FREE char *path = path_join(s->dir, "status.json");
    struct error ignored = ERROR_INIT;
    struct stat st;

    watch_status_init(&s->live);
    if (stat(path, &st) < 0 || json_read_file(path, STATUS_MAX, &s->json, &ignored) < 0 ||
        watch_status_from_json(s->json, &s->live, &ignored) < 0)
        return;
    s->age_s = (double)clock_wall_ns() / 1e9 - ((double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec / 1e9);
    s->has_live = !s->held || !watch_is_over(s->live.state); /* else of an earlier run: this one begins */
    s->stalled = s->held && s->has_live && watch_is_stalled(&s->live, s->age_s, s->why, sizeof(s->why));
}

static int read_status(const char *dir, struct status *ret, struct error *err)
{
    ret->dir = dir;
    ret->bundle = fs_exists(dir) && !fs_is_dir(dir);
    if (!fs_exists(dir)) {
        (void)error_set(err, ERROR_USAGE, "'%s' is not a run directory", dir);
        return error_hint(err, "name the directory that `benchctl run` wrote");
    }
    watch_status_init(&ret->live);
    if (!ret->bundle) {
        ret->held = rundir_busy(dir);
        read_live(ret);
    }
    if (sweep_load(dir, &ret->sweep, &ret->trouble) == 0 || ret->held)
        return 0; /* one that is just beginning, or cannot be read, still runs */
    *err = ret->trouble;
    return -1;
}

/* It ended, and what it sealed is not all there any more. */
static bool is_damaged(const struct status *s)
{
    return !s->held && s->sweep && s->sweep->damaged_count;
}

static bool is_complete(const struct status *s)
{
    return !s->held && s->sweep && s->sweep->complete && !is_damaged(s);
}

static const char *state_name(const struct status *s)
{
    if (s->held)
        return s->stalled ? "stalled" : s->has_live ? watch_state_name(s->live.state) : "running";
    if (is_complete(s))
        return "complete";
    if (is_damaged(s))
        return "damaged";
    return s->has_live && s->live.state == WATCH_FAILED ? "failed" : "interrupted";
}

/* Why it is in that state; NULL: there is nothing to say. */
static const char *state_reason(const struct status *s)
{
    if (s->stalled)
        return s->why;
    if (s->held || is_complete(s))
        return s->live.reason;
    if (is_damaged(s))
        return "sealed trials are gone, or not what was sealed: they do not count";
    if (s->bundle)
        return NULL;
    return s->has_live && watch_is_over(s->live.state)
               ? s->live.reason
               : "it ended without a word: killed, or the machine went down";
}

/* When it was last seen alive; NULL: unknown, or it runs. */
static const char *last_seen(const struct status *s)
{
    if (s->held || !s->has_live)
        return NULL;
    return s->live.ended_at ? s->live.ended_at : s->live.heartbeat_at;
}

/* 0: it runs or is complete, 1: it does not go on by itself. */
static int status_code(const struct status *s)
{
    return (s->held && !s->stalled) || is_complete(s) ? 0 : 1;
}

static const struct watch_status *running(const struct status *s)
{
    return s->held && s->has_live ? &s->live : NULL;
}

static double grown(const struct status *s, double seconds)
{
    return running(s) ? seconds + (s->age_s > 0 ? s->age_s : 0) : NAN;
}

/* How long it has taken; of one that is over, in all. */
static double elapsed_s(const struct status *s)
{
    return watch_is_over(s->live.state) ? s->live.elapsed_s : grown(s, s->live.elapsed_s);
}

/* Seconds that are left by now; NAN when unknown. */
static double eta_s(const struct status *s)
{
    double eta = s->live.eta_s - (s->age_s > 0 ? s->age_s : 0);

    return !running(s) ? NAN : eta < 0 ? 0 : eta;
}

static double sealed(const struct status *s)
{
    return s->sweep ? (double)s->sweep->trial_count : s->live.sealed;
}

static void count_outcomes(const struct status *s, double counts[OUTCOMES])
{
    memset(counts, 0, sizeof(*counts) * OUTCOMES);
    if (!s->sweep)
        memcpy(counts, s->live.outcomes, sizeof(*counts) * OUTCOMES);
    for (size_t i = 0; s->sweep && i < s->sweep->trial_count; i++)
        counts[s->sweep->trials[i].outcome]++;
}

static const struct json *plan_of(const struct status *s)
{
    return s->sweep ? s->sweep->plan : NULL;
}

/* Beside the trials; with a search it is a bound. */
static size_t planned_canaries(const struct status *s)
{
    int64_t n = json_get_int(json_get(plan_of(s), "canary"), "trials");

    return n > 0 ? (size_t)n : 0;
}

/* How many there will be: by the plan, else by what the running sweep says. With a search that is a bound,
 * and in the end what there is. */
static double planned(const struct status *s)
{
    size_t order = json_len(json_get(plan_of(s), "order")), canaries = planned_canaries(s);

    if (json_get(plan_of(s), "search") && s->sweep->complete)
        return (double)s->sweep->trial_count;
    return order > canaries ? (double)(order - canaries) : s->live.trials;
}

static const char *name_of(const struct status *s)
{
    const char *name = s->sweep ? json_get_text(s->sweep->info, "name") : NULL;

    return name ? name : s->live.name;
}

/* --- JSON: the names of status.json, as things are now --- */

static struct json *as_json(const struct status *s)
{
    const struct watch_status *live = running(s);
    struct watch_status now = s->live;

    now.elapsed_s = elapsed_s(s);
    now.step_elapsed_s = grown(s, now.step_elapsed_s);
    now.eta_s = eta_s(s);
    now.trials = planned(s);
    now.sealed = sealed(s);
    now.name = name_of(s);
    now.reason = state_reason(s);
    count_outcomes(s, now.outcomes);
    if (!live) {
        now.trial = now.trial_limit_s = NAN;
        now.scenario = now.step = now.step_since = now.eta_at = NULL;
        now.ended_at = last_seen(s);
    }
    struct json *j = watch_status_to_json(&now);
    json_set_int(j, "damaged", s->sweep ? (int64_t)s->sweep->damaged_count : 0);
    json_set_text(j, "dir", s->dir);
    json_set_text(j, "state", state_name(s));
    json_set_bool(j, "bundle", s->bundle);
    if (planned_canaries(s)) {
        json_set_int(j, "canaries", (int64_t)planned_canaries(s));
        json_set_int(j, "canaries_sealed", (int64_t)s->sweep->canary_count);
    }
    return j;
}

/* --- for people --- */

static void add_text(struct strbuf *out, const char *label, const char *text)
{
    char shown[600];

    if (text && text[0])
        strbuf_addf(out, "%-10s %s\n", label, archive_printable(text, shown, sizeof(shown)));
}

static void add_seconds(struct strbuf *out, const char *label, double seconds)
{
    char text[64];

    if (!isnan(seconds) && seconds < 1e9)
        add_text(out, label, duration_human((int64_t)seconds * NS_PER_S, text));
}

static void add_counts(const struct status *s, struct strbuf *out)
{
    double counts[OUTCOMES], trials = planned(s);

    strbuf_addf(out, "%-10s %.0f", "sealed", sealed(s) > 0 ? sealed(s) : 0);
    if (!isnan(trials))
        strbuf_addf(out, " of %s%.0f trials",
                    json_get(plan_of(s), "search") && !is_complete(s) ? "at most " : "", trials);
    strbuf_addc(out, '\n');
    if (is_damaged(s))
        strbuf_addf(out, "%-10s %zu\n", "damaged", s->sweep->damaged_count);
    if (planned_canaries(s))
        strbuf_addf(out, "%-10s %zu of %s%zu\n", "canaries", s->sweep->canary_count,
                    json_get(plan_of(s), "search") ? "at most " : "", planned_canaries(s));
    count_outcomes(s, counts);
    for (int o = 0, n = 0; o < OUTCOMES; o++)
        if (counts[o] > 0)
            strbuf_addf(out, "%-10s %.0f %s\n", n++ ? "" : "outcomes", counts[o],
                        outcome_name((enum outcome)o));
}

static void add_trial(struct strbuf *out, const char *label, const struct watch_trial *t)
{
    if (!t->scenario)
        return;
    CLEANUP_FREE char *text =
        xasprintf("%s #%d: %s%s%s", t->scenario, t->trial, t->outcome ? t->outcome : "?",
                  t->reason ? ": " : "", t->reason ? t->reason : "");
    add_text(out, label, text);
}

static void as_text(const struct status *s, struct strbuf *out)
{
    const struct watch_status *live = running(s);
    char text[64];

    add_text(out, "sweep", name_of(s));
    add_text(out, "state", state_name(s));
    add_text(out, "", s->bundle ? "this is a bundle: nothing runs here" : NULL);
    add_text(out, "why", state_reason(s));
    add_text(out, "last seen", is_complete(s) ? NULL : last_seen(s));
    if (!s->sweep)
        add_text(out, "trouble", s->trouble.message);
    add_counts(s, out);
    if (live && live->trial >= 0)
        strbuf_addf(out, "%-10s %.0f\n", "trial", live->trial);
    add_text(out, "scenario", live ? live->scenario : NULL);
    add_text(out, "step", live ? live->step : NULL);
    add_seconds(out, "for", live ? grown(s, live->step_elapsed_s) : NAN);
    add_trial(out, "last", &s->live.last);
    add_trial(out, "failed", &s->live.first_failure);
    add_text(out, "started", s->live.started_at);
    add_seconds(out, "elapsed", elapsed_s(s));
    add_seconds(out, "left", eta_s(s));
    add_text(out, "done at", live ? live->eta_at : NULL);
    if (live && live->free_bytes >= 0)
        add_text(out, "disk free", size_human(live->free_bytes, text));
    if (live && live->host)
        add_text(out, "host", live->host);
    if (is_complete(s))
        add_text(out, "checked", "the record of each trial against its seal; not its other files");
    if (!s->held && !is_complete(s) && !s->bundle) {
        CLEANUP_FREE char *command = xasprintf("benchctl resume %s", s->dir);
        add_text(out, "go on with", command);
    }
}

/* --- all of it --- */

static int show(const char *dir, bool json, bool clear, struct strbuf *out, bool *ret_over)
{
    CLEANUP_VALUE(status_release) struct status s = {0};
    struct error err = ERROR_INIT;

    *ret_over = true;
    if (read_status(dir, &s, &err) < 0)
        return report_error(&err);
    if (json) {
        CLEANUP(json_free) struct json *j = as_json(&s);
        json_write(j, JSON_STYLE_INDENTED, out);
        strbuf_trim_end(out);
        strbuf_addc(out, '\n');
    } else {
        strbuf_adds(out, clear ? "\033[H\033[J" : "");
        as_text(&s, out);
    }
    *ret_over = !s.held;
    int code = print_buffer(out);
    return code ? code : status_code(&s);
}

static int cmd_status_main(int argc, char **argv)
{
    static const char *const formats[] = {"table", "json", NULL};
    struct operands operands;
    const char *format = NULL;
    bool watch = false, over = false;
    int code;
    const struct option options[] = {
        {"format", 0, OPTION_TEXT, &format, "FORMAT", "table or json"},
        {"watch", 'w', OPTION_FLAG, &watch, NULL, "again every 2 s, until it is over"},
    };

    if (options_parse(&cmd_status, options, ARRAY_LEN(options), argc, argv, 1, 1, &operands, &code) < 0)
        return code;
    int which = format_option(&cmd_status, format, formats);
    if (which < 0)
        return error_exit_code(ERROR_USAGE);
    for (;;) {
        CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
        code = show(operands.items[0], which == 1, watch && stdout_color(), &out, &over);
        if (!watch || over)
            return code;
        (void)sleep(WATCH_EVERY_S);
    }
}

const struct command cmd_status = {
    "status",
    "status DIR [options]",
    "show how far a sweep is, from another terminal",
    cmd_status_main,
};
