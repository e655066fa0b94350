/* SPDX-License-Identifier: MIT */
/* What a sweep tells, gathered into a snapshot, and the snapshot passed on to whoever watches. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/log.h"
#include "benchctl/base/units.h"
#include "benchctl/base/version.h"
#include "internal.h"

#define HEARTBEAT_NS (5 * NS_PER_S)
#define OUTSIDE_NS (2 * 3600 * NS_PER_S) /* one step without a trial: images may be built for an hour */
#define DRAIN_NS (8 * NS_PER_S)          /* at the end, for what is on its way */
#define CLEAN_UP_NS (60 * NS_PER_S)      /* asked of the service manager again and again while it lasts */
#define WRITING_NS (INT64_C(2) * 3600 * NS_PER_S) /* report and bundle, without the loop */

struct sealed {
    char *scenario, *reason;
    int trial;
    enum outcome outcome;
    bool failure;
    char at[CLOCK_STAMP_SIZE];
};

struct watch {
    struct loop *loop;
    struct watch_options options;
    char *dir, *name, *title;
    char host[256];
    struct webhook *webhook;
    struct service *service;
    struct loop_timer *heartbeat;
    /* as last told */
    struct watch_progress progress;
    char *scenario, *step;
    int64_t progress_ns, step_ns, begun_ns;
    char started_at[CLOCK_STAMP_SIZE], step_since[CLOCK_STAMP_SIZE], ended_at[CLOCK_STAMP_SIZE];
    struct sealed last, first_failure;
    uint64_t counts[OUTCOMES], sealed, kept;
    bool failure_pending; /* `last` may be the first one, unless it is tried again */
    bool stopping, stalled, started, begun_trials, ended;
    enum watch_state state; /* once it is over */
    char *reason;           /* of the end */
    char stall[128], line[512];
};

static void set_text(char **to, const char *text)
{
    char *copy = text ? xstrdup(text) : NULL;

    free(*to);
    *to = copy;
}

/* --- the snapshot --- */

static struct watch_trial told(const struct sealed *t)
{
    return (struct watch_trial){
        .scenario = t->scenario,
        .trial = t->trial,
        .outcome = t->scenario ? outcome_name(t->outcome) : NULL,
        .reason = t->reason,
        .at = t->at,
    };
}

/* One that waits for the machine says after that what it waits for, in other words every second. */
static bool is_cooldown(const char *step)
{
    return step && text_starts(step, "cooldown");
}

static bool same_step(const char *a, const char *b)
{
    return text_equal(a, b) || (is_cooldown(a) && is_cooldown(b));
}

static enum watch_state state_of(const struct watch *w)
{
    if (w->ended)
        return w->state;
    if (w->stopping)
        return WATCH_STOPPING;
    if (text_equal(w->step, "engine"))
        return WATCH_WAITING_FOR_ENGINE;
    return is_cooldown(w->step) ? WATCH_COOLING_DOWN : WATCH_RUNNING;
}

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

struct stamps {
    char now[CLOCK_STAMP_SIZE], eta[CLOCK_STAMP_SIZE];
};

static void snapshot(const struct watch *w, struct stamps *at, struct watch_status *ret)
{
    int64_t now = clock_now_ns(), wall = clock_wall_ns(), since = now - w->progress_ns, free_bytes;
    const struct watch_progress *p = &w->progress;
    struct error ignored = ERROR_INIT;

    watch_status_init(ret);
    ret->state = state_of(w);
    ret->reason = w->ended ? w->reason : w->stalled ? w->stall : NULL;
    ret->name = w->name;
    ret->title = w->title;
    ret->version = BENCHCTL_VERSION;
    ret->host = w->host;
    ret->pid = getpid();
    ret->trial = w->started && !w->ended ? (double)p->trial : NAN;
    ret->trials = w->started ? (double)p->trials : NAN;
    ret->at_most = p->at_most;
    ret->sealed = (double)w->sealed;
    ret->kept = (double)w->kept;
    for (int o = 0; o < OUTCOMES; o++)
        ret->outcomes[o] = (double)w->counts[o];
    ret->started_at = w->started_at;
    ret->heartbeat_at = clock_rfc3339(wall, at->now);
    ret->elapsed_s = seconds(now - w->begun_ns);
    ret->last = told(&w->last);
    ret->first_failure = told(&w->first_failure);
    if (fs_free_bytes(w->dir, &free_bytes, &ignored) == 0)
        ret->free_bytes = (double)free_bytes;
    ret->ended_at = w->ended ? w->ended_at : NULL;
    if (w->ended || !w->started)
        return;
    ret->scenario = w->scenario;
    ret->step = w->step;
    ret->step_since = w->step_since;
    ret->step_elapsed_s = seconds(now - w->step_ns);
    if (p->trial_limit_ns != -1)
        ret->trial_limit_s = seconds(p->trial_limit_ns - since);
    if (p->eta_ns < 0 || w->stopping)
        return;
    ret->eta_s = seconds(p->eta_ns > since ? p->eta_ns - since : 0);
    ret->eta_at = clock_rfc3339(wall + (int64_t)(ret->eta_s * 1e9), at->eta);
}

void watch_write(struct watch *w)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf page = STRBUF_INIT;
    struct watch_status s;
    struct stamps at;

    if (!w->options.write)
        return;
    snapshot(w, &at, &s);
    CLEANUP(json_free) struct json *j = watch_status_to_json(&s);
    json_write(j, JSON_STYLE_INDENTED, &text);
    strbuf_trim_end(&text);
    strbuf_addc(&text, '\n');
    watch_status_page(&s, &page);
    w->options.write("status.json", strbuf_text(&text), text.len, w->options.data);
    w->options.write("status.html", strbuf_text(&page), page.len, w->options.data);
}

const char *watch_line(struct watch *w)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    struct watch_status s;
    struct stamps at;
    char text[32];

    snapshot(w, &at, &s);
    if (s.trial > 0 && s.trials > 0) /* over, it is at none of them */
        strbuf_addf(&out, "%.0f/%.0f ", s.trial, s.trials);
    strbuf_addf(&out, "%s%s%s", s.scenario ? s.scenario : "", s.scenario ? ": " : "",
                s.step ? s.step : watch_state_name(s.state));
    if (s.step_elapsed_s >= 1 && s.step_elapsed_s < 1e9)
        strbuf_addf(&out, " for %s", duration_human((int64_t)s.step_elapsed_s * NS_PER_S, text));
    if (s.eta_s >= 0 && s.eta_s < 1e9)
        strbuf_addf(&out, "; about %s left", duration_human((int64_t)s.eta_s * NS_PER_S, text));
    (void)snprintf(w->line, sizeof(w->line), "%s", strbuf_text(&out));
    for (char *c = w->line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    return w->line;
}

/* --- webhooks --- */

static void send_event(struct watch *w, enum watch_event e, int exit_code, const char *report)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf body = STRBUF_INIT;
    struct watch_status s;
    struct stamps at;

    if (!w->webhook || (w->options.events && !(w->options.events >> e & 1)))
        return;
    snapshot(w, &at, &s);
    const struct payload p = {
        .event = e, .status = &s, .dir = w->dir, .report = report, .exit_code = exit_code};
    payload_write(&p, &body);
    webhook_send(w->webhook, e, strbuf_text(&body), body.len);
}

static void on_lost(const char *event, const char *host, const char *why, void *data)
{
    struct watch *w = data;

    warn("the webhook at '%s' was not told that the sweep has %s: %s", host, event, why);
    if (!w->options.journal)
        return;
    struct json *j = json_new_object();
    json_set_text(j, "what", event);
    json_set_text(j, "host", host);
    json_set_text(j, "why", why);
    w->options.journal("webhook", j, w->options.data);
}

/* Once it is known that the trial is not tried again. */
static void settle_failure(struct watch *w)
{
    if (!w->failure_pending)
        return;
    w->failure_pending = false;
    if (w->first_failure.scenario || !w->last.scenario)
        return;
    w->first_failure = w->last;
    w->first_failure.scenario = xstrdup(w->last.scenario);
    w->first_failure.reason = w->last.reason ? xstrdup(w->last.reason) : NULL;
    send_event(w, WATCH_EVENT_FAILED, -1, NULL);
}

static void look_for_stall(struct watch *w)
{
    int64_t now = clock_now_ns(), since = now - w->progress_ns;
    const struct watch_progress *p = &w->progress;
    char text[32];
    bool late = p->trial_limit_ns != -1 ? since - p->trial_limit_ns > TRIAL_GRACE_S * NS_PER_S
                                        : !w->scenario && now - w->step_ns > OUTSIDE_NS;

    if (is_cooldown(w->step)) /* as long as it was asked to */
        return;
    if (w->stalled || w->ended || !w->started || !late)
        return;
    w->stalled = true;
    (void)snprintf(w->stall, sizeof(w->stall), "step '%.40s' goes on for %s already", w->step ? w->step : "?",
                   duration_human(now - w->step_ns, text));
    warn("the sweep does not get on: %s", w->stall);
    send_event(w, WATCH_EVENT_STALLED, -1, NULL);
}

/* --- the service manager --- */

static void tell_service(struct watch *w)
{
    service_tell(w->service, "STATUS=%s%s", w->stopping ? "cleaning up: " : "", watch_line(w));
}

static void on_heartbeat(void *data)
{
    struct watch *w = data;

    look_for_stall(w);
    tell_service(w);
    if (w->stopping)
        service_tell(w->service, "EXTEND_TIMEOUT_USEC=%lld", (long long)(CLEAN_UP_NS / NS_PER_US));
    watch_write(w);
}

/* --- what is told --- */

int watch_open(struct loop *l, const struct watch_options *o, struct watch **ret, struct error *err)
{
    CLEANUP(watch_close) struct watch *w = xcalloc(1, sizeof(*w));

    w->loop = l;
    w->options = *o;
    w->progress = (struct watch_progress){.eta_ns = -1, .trial_limit_ns = -1};
    w->dir = xstrdup(o->dir);
    w->name = xstrdup(o->name);
    set_text(&w->title, o->title);
    w->begun_ns = w->progress_ns = w->step_ns = clock_now_ns();
    (void)clock_rfc3339(clock_wall_ns(), w->started_at);
    if (gethostname(w->host, sizeof(w->host) - 1) < 0)
        (void)snprintf(w->host, sizeof(w->host), "?");
    const struct webhook_options wo = {.url = o->webhook, .lost = on_lost, .data = w};
    if (o->webhook && o->webhook[0] && webhook_open(l, &wo, &w->webhook, err) < 0)
        return -1;
    w->options.webhook = NULL; /* it is the caller's */
    w->service = service_open(l);
    service_tell(w->service, "READY=1\nSTATUS=opening '%.200s'", w->name);
    w->heartbeat = loop_add_timer(l, clock_now_ns() + HEARTBEAT_NS, HEARTBEAT_NS, on_heartbeat, w);
    *ret = TAKE(w);
    return 0;
}

void watch_progress(struct watch *w, const struct watch_progress *p)
{
    bool moved = !w->started || !same_step(p->step, w->step) || !text_equal(p->scenario, w->scenario);
    bool first_trial = p->scenario && !w->begun_trials;

    w->progress = *p;
    w->progress.scenario = w->progress.step = NULL;
    w->progress_ns = clock_now_ns();
    w->started = true;
    if (!moved) {
        set_text(&w->step, p->step);
        return;
    }
    w->step_ns = w->progress_ns;
    (void)clock_rfc3339(clock_wall_ns(), w->step_since);
    set_text(&w->scenario, p->scenario);
    set_text(&w->step, p->step);
    tell_service(w);
    watch_write(w);
    if (!first_trial)
        return;
    w->begun_trials = true;
    send_event(w, WATCH_EVENT_STARTED, -1, NULL);
}

static bool is_failure(const struct trial *t)
{
    if (t->outcome == OUTCOME_CRASHED || t->outcome == OUTCOME_NOT_READY || t->outcome == OUTCOME_INVALID ||
        t->outcome == OUTCOME_ERROR)
        return true;
    for (size_t i = 0; i < t->check_count; i++)
        if (t->checks[i].gated && !t->checks[i].passed)
            return true;
    return false;
}

void watch_trial(struct watch *w, const struct trial *t, bool expected)
{
    struct sealed *last = &w->last;
    bool again = t->attempt > 1 && last->trial == t->trial && text_equal(last->scenario, t->scenario);

    if (again) { /* the attempt before counts no more */
        w->counts[last->outcome]--;
        w->sealed--;
        w->failure_pending = false;
    } else {
        settle_failure(w);
    }
    w->counts[t->outcome]++;
    w->sealed++;
    w->stalled = false;
    set_text(&last->scenario, t->scenario);
    set_text(&last->reason, t->reason);
    last->trial = t->trial;
    last->outcome = t->outcome;
    (void)clock_rfc3339(clock_wall_ns(), last->at);
    w->failure_pending = is_failure(t) && !expected;
}

void watch_trial_begun(struct watch *w, const char *scenario, int trial)
{
    if (w->last.trial != trial || !text_equal(w->last.scenario, scenario))
        settle_failure(w);
}

void watch_kept(struct watch *w, enum outcome o)
{
    w->counts[o]++;
    w->sealed++;
    w->kept++;
}

void watch_stopping(struct watch *w)
{
    if (w->stopping || w->ended)
        return;
    w->stopping = true;
    service_tell(w->service, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%lld", (long long)(CLEAN_UP_NS / NS_PER_US));
    tell_service(w);
    watch_write(w);
}

void watch_end(struct watch *w, const struct watch_ending *e)
{
    settle_failure(w);
    w->ended = true;
    w->state = e->state;
    set_text(&w->reason, e->reason);
    (void)clock_rfc3339(clock_wall_ns(), w->ended_at);
    loop_set_timer(w->heartbeat, LOOP_FOREVER, 0);
    watch_write(w);
    w->options.write = NULL;
    w->options.journal = NULL;
    service_patience(w->service, WRITING_NS);
    service_tell(w->service, "EXTEND_TIMEOUT_USEC=%lld", (long long)(WRITING_NS / NS_PER_US));
    service_tell(w->service, "STATUS=%s; writing what it found", watch_state_name(w->state));
}

void watch_report(struct watch *w, int exit_code, const char *report_path)
{
    send_event(w, WATCH_EVENT_FINISHED, exit_code, report_path);
    webhook_drain(w->webhook, clock_now_ns() + DRAIN_NS);
    service_tell(w->service, "STOPPING=1\nSTATUS=%s, exit code %d", watch_state_name(w->state), exit_code);
}

void watch_close(struct watch *w)
{
    if (!w)
        return;
    loop_remove_timer(w->heartbeat);
    webhook_close(w->webhook);
    service_close(w->service);
    free(w->dir);
    free(w->name);
    free(w->title);
    free(w->scenario);
    free(w->step);
    free(w->last.scenario);
    free(w->last.reason);
    free(w->first_failure.scenario);
    free(w->first_failure.reason);
    free(w->reason);
    free(w);
}
