/* SPDX-License-Identifier: MIT */
/*
 * Does the application answer while it is loaded? One look a second, from the loop, never waiting: a probe,
 * the bytes that its container sent, and the requests that the generator's stream says were answered. Any of
 * them is a sign of life; a saturated application, whose probes wait in a queue, has the others.
 */
#include <fcntl.h>
#include <stdio.h>
#include "benchctl/base/clock.h"
#include "generation.h"
#include "life_probe.h"
#include "load_series.h"

#define TICK_NS (100 * NS_PER_MS)        /* after a restart readiness is a figure: to a tenth of a second */
#define TICK_LATE_NS (2 * TICK_NS)       /* a tick later than that has not looked: the machine had no time */
#define LOOK_NS NS_PER_S                 /* a probe a second is nothing to what a load does */
#define LOOKS_IN_AFTER 4                 /* so many at least before silence is told */
#define PROBE_TIMEOUT_NS (10 * NS_PER_S) /* where silence is not looked for */

/* The kernel goes on for a process that stands still: it accepts connections and confirms what it got, in
 * packets of no more than this (Ethernet, IPv4, TCP with its options), until its queue is full. What was sent
 * beyond that, somebody had to say. */
#define EMPTY_PACKET_BYTES 74
/* Beyond that in a second: less than one usual answer, and more than a pool that keeps its connections. */
#define LIFE_BYTES 100

struct life_watch {
    struct trial_run *trial;
    const struct generation *generation; /* NULL between two */
    struct liveness state;
    int64_t give_up_ns;
    struct loop_timer *timer;
    struct life_probe probe;
    int64_t probe_due_ns, look_due_ns, ticked_ns;
    size_t exits; /* of the ledger, when last looked at */
    /* what was sent by the last sample, and where the second that is looked at began; NAN: not known */
    double sent, sent_begin;
    int64_t sent_at_ns, sent_begin_ns;
    int64_t sent_active_ns; /* of the last sample before which something was sent */
    double stream_answers;  /* requests by the generator's stream, when last looked at */
    bool told_silent;
    bool witnessed; /* there is more than probes to go by */
    /* series.csv of our own generator */
    struct load_series series;
    bool has_head;
    off_t series_at;
    int64_t begin_ns;      /* of the generation */
    double answered_at_ms; /* in which of its seconds something was answered last; NAN: in none */
};

/* --- news --- */

static void sign_of_life(struct life_watch *w, int64_t at_ns)
{
    liveness_sign(&w->state, at_ns);
}

static void ready_again(struct life_watch *w)
{
    liveness_up(&w->state, clock_now_ns());
    unit_life_ready(w->trial->app, clock_wall_ns());
    trial_event(w->trial, "ready", "app", NULL);
    w->probe_due_ns = clock_now_ns() + TICK_NS;
}

static bool runs_nothing(const struct life_watch *w)
{
    return !w->trial->adapter || !load_adapter_program(w->trial->adapter->adapter);
}

/* An open port is no sign of life where requests are made: only where nobody knows what could be asked. */
static void on_news(enum life_news news, void *data)
{
    struct life_watch *w = data;
    bool by_http = w->trial->app->settings->ready && w->trial->app->settings->ready->http;

    if (!w->state.up) {
        if (news == LIFE_READY || (news == LIFE_CONNECTED && !by_http))
            ready_again(w);
    } else if (news != LIFE_CONNECTED || runs_nothing(w)) {
        sign_of_life(w, clock_now_ns());
    }
}

/* Once a tick, when everything has been looked at: what is told late may move the begin of a silence. */
static void tell_silence(struct life_watch *w)
{
    if (w->state.unresponsive == w->told_silent)
        return;
    w->told_silent = w->state.unresponsive;
    if (!w->told_silent) {
        if (w->state.up) /* else it has ended: that is told by itself */
            trial_event(w->trial, "responsive", "app", NULL);
        return;
    }
    struct json *j = json_new_object();
    json_set_number(j, "since_ms",
                    (double)(w->state.quiet_since_ns - w->trial->begin_ns) / (double)NS_PER_MS);
    trial_event(w->trial, "unresponsive", "app", j);
}

/* --- other signs --- */

static void bytes_unknown(struct life_watch *w)
{
    w->sent = w->sent_begin = NAN;
    w->sent_active_ns = 0;
}

/* Judged by the second, placed to the sample. */
static void look_at_bytes(struct life_watch *w)
{
    const struct trial_run *t = w->trial;
    const struct resource_sample *s = t->sampler ? sampler_last(t->sampler, "app") : NULL;

    if (!s || isnan(s->tx_packets) || s->at_ns <= w->sent_at_ns)
        return;
    double sent = s->tx_bytes - EMPTY_PACKET_BYTES * s->tx_packets;
    if (sent > w->sent) /* false where it is not known */
        w->sent_active_ns = s->at_ns;
    w->sent = sent;
    w->sent_at_ns = s->at_ns;
    w->witnessed = true;
    if (s->at_ns - w->sent_begin_ns < NS_PER_S && !isnan(w->sent_begin))
        return;
    if (sent - w->sent_begin >= LIFE_BYTES && w->sent_active_ns)
        sign_of_life(w, w->sent_active_ns);
    w->sent_begin = sent;
    w->sent_begin_ns = s->at_ns;
}

static void read_rows(struct life_watch *w, const char *bytes, size_t len)
{
    const char *line = bytes, *end = bytes + len;
    struct load_second second;

    for (const char *newline; (newline = memchr(line, '\n', (size_t)(end - line))); line = newline + 1) {
        if (!w->has_head)
            w->has_head = load_series_head(&w->series, line, (size_t)(newline - line));
        else if (load_series_row(&w->series, line, (size_t)(newline - line), &second) && second.answered &&
                 !second.wall)
            w->answered_at_ms = isnan(w->sent) ? second.end_ms : second.begin_ms;
    }
    w->series_at += line - bytes;
}

/* What has been written since the last look; half a line is left for the next one. When within its second the
 * last answer came nobody knows: at its beginning, but where no other witness would fill the gap at its end.
 */
static void look_at_series(struct life_watch *w)
{
    CLEANUP_FREE char *path = path_join(w->generation->dir, "series.csv");
    CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    char bytes[16384];
    ssize_t n;

    if (fd < 0)
        return;
    for (off_t at = -1; at != w->series_at && (n = pread(fd, bytes, sizeof(bytes), w->series_at)) > 0;) {
        at = w->series_at;
        read_rows(w, bytes, (size_t)n);
    }
    w->witnessed |= w->has_head;
    if (!isnan(w->answered_at_ms))
        sign_of_life(w, w->begin_ns + (int64_t)(w->answered_at_ms * NS_PER_MS));
}

static void look_at_requests(struct life_watch *w)
{
    double answers = raw_stream_answered(w->generation);

    if (isnan(answers)) {
        look_at_series(w);
        return;
    }
    w->witnessed |= answers > 0; /* it may be that nobody writes it */
    if (answers > w->stream_answers)
        sign_of_life(w, clock_now_ns());
    w->stream_answers = answers;
}

/* --- each tick --- */

/* It has ended since, whether or not it is up again; or somebody keeps it from running. */
static void look_at_life(struct life_watch *w)
{
    const struct ledger *l = &w->trial->app->ledger;

    if (l->running && !l->paused && l->exits.len == w->exits)
        return;
    w->exits = l->exits.len;
    if (!w->state.up)
        return;
    liveness_down(&w->state, clock_now_ns());
    life_probe_stop(&w->probe);
    w->probe_due_ns = 0;
    bytes_unknown(w);
}

static int64_t probe_every_ns(const struct life_watch *w)
{
    int64_t every_ns = w->state.after_ns / LOOKS_IN_AFTER;

    return !w->state.up || every_ns < TICK_NS ? TICK_NS : every_ns < LOOK_NS ? every_ns : LOOK_NS;
}

static void ask(struct life_watch *w, int64_t now_ns)
{
    const struct container_settings *c = w->trial->app->settings;
    const struct ready_settings *r = c->ready;
    /* what is counted is the load's alone: a path that `ready` asks may be one of its requests */
    bool counted = w->state.up && database_is_counted(w->trial->settings);
    const char *path = w->state.up && c->liveness && c->liveness->http ? c->liveness->http
                       : r && !counted                                 ? r->http
                                                                       : NULL;
    const struct life_question q = {
        .path = path,
        .for_readiness = !w->state.up,
        .timeout_ns = w->state.after_ns > 0 ? w->state.after_ns : PROBE_TIMEOUT_NS,
    };

    if (now_ns < w->probe_due_ns || (w->state.up && w->state.after_ns <= 0))
        return;
    w->probe_due_ns = now_ns + probe_every_ns(w);
    life_probe_start(&w->probe, &q);
}

/* Nothing but probes says so: then it may be that it only has no connection to spare, and the load goes on.
 */
static void give_up(struct life_watch *w, int64_t now_ns)
{
    struct trial_run *t = w->trial;

    if (t->app_silent || !w->state.unresponsive || !w->witnessed || w->give_up_ns <= 0 ||
        now_ns - w->state.quiet_since_ns < w->give_up_ns)
        return;
    t->app_silent = true;
    t->sweep->wake = true;
    trial_event(t, "given up", "app", NULL);
}

static void on_tick(void *data)
{
    struct life_watch *w = data;
    struct unit *u = w->trial->app;
    int64_t now_ns = clock_now_ns(), late_ns = now_ns - w->ticked_ns - TICK_NS;

    w->ticked_ns = now_ns;
    if (late_ns > TICK_LATE_NS)
        liveness_blind(&w->state, late_ns);
    look_at_life(w);
    if (!w->state.up)
        tell_silence(w);
    if (!u->ledger.running || u->ledger.paused)
        return;
    if (!w->state.up && u->port <= 0)
        ready_again(w); /* there is nobody to ask */
    life_probe_tick(&w->probe);
    ask(w, now_ns);
    if (!w->state.up)
        return;
    look_at_bytes(w);
    if (now_ns >= w->look_due_ns) {
        w->look_due_ns = now_ns + LOOK_NS;
        look_at_requests(w);
    }
    (void)liveness_tick(&w->state, now_ns);
    tell_silence(w);
    give_up(w, now_ns);
}

/* --- from begin to end --- */

static struct life_watch *watch_new(struct trial_run *t)
{
    const struct liveness_settings *l = t->settings->app.liveness;
    struct life_watch *w = arena_new_of(t->arena, struct life_watch);

    *w = (struct life_watch){
        .trial = t,
        .state = {.after_ns = l ? l->after_ns : LIVENESS_AFTER_S * NS_PER_S},
        .give_up_ns = l ? l->give_up_ns : LIVENESS_GIVE_UP_S * NS_PER_S,
        .probe = LIFE_PROBE_INIT,
    };
    if (t->app->port <= 0) /* nothing can be asked, and nothing need be sent */
        w->state.after_ns = 0;
    w->probe.sweep = t->sweep;
    w->probe.unit = t->app;
    w->probe.told = on_news;
    w->probe.data = w;
    return w;
}

void life_watch_begin(struct trial_run *t, const struct generation *g)
{
    int64_t now_ns = clock_now_ns();

    if (!t->app)
        return;
    bool first = !t->life;
    if (first)
        t->life = watch_new(t);
    struct life_watch *w = t->life;
    /* It has ended since it was up, and the wait for readiness found it again. */
    bool lost = !first && (!w->state.up || w->exits != t->app->ledger.exits.len);
    t->app_silent = false;
    w->generation = g;
    w->exits = t->app->ledger.exits.len;
    w->begin_ns = now_ns;
    bytes_unknown(w);
    w->stream_answers = 0;
    w->answered_at_ms = NAN;
    w->series_at = 0;
    w->has_head = false;
    w->probe_due_ns = now_ns + probe_every_ns(w);
    w->look_due_ns = now_ns + LOOK_NS;
    w->ticked_ns = now_ns;
    if (t->app->ledger.running && lost)
        ready_again(w);
    else if (t->app->ledger.running)
        liveness_up(&w->state, now_ns);
    w->timer = loop_add_timer(t->sweep->loop, now_ns + TICK_NS, TICK_NS, on_tick, w);
}

void life_watch_end(struct trial_run *t)
{
    struct life_watch *w = t->life;

    if (!w)
        return;
    loop_remove_timer(w->timer);
    w->timer = NULL;
    life_probe_stop(&w->probe);
    w->generation = NULL;
}

void life_watch_free(struct life_watch *w)
{
    if (!w)
        return;
    loop_remove_timer(w->timer);
    life_probe_stop(&w->probe);
    liveness_release(&w->state);
}

/* --- for the record --- */

static double overlap_ms(const struct silence *s, int64_t begin_ns, int64_t end_ns)
{
    int64_t from = s->from_ns > begin_ns ? s->from_ns : begin_ns;
    int64_t to = s->to_ns && s->to_ns < end_ns ? s->to_ns : end_ns;

    return to > from ? (double)(to - from) / (double)NS_PER_MS : 0;
}

static void tell_finding(struct trial_run *t, const char *story)
{
    const struct life_watch *w = t->life;
    char after[32];
    const struct trial_happening h = {
        .id = "unresponsive",
        .role = "app",
        .at_ns = w->state.silences.items[0].from_ns,
        .count = (double)w->state.silences.len,
    };

    trial_finding(t, &h, "alive, but %s: no sign of life for %s and longer%s%s%s%s", story,
                  duration_human(w->state.after_ns, after),
                  w->witnessed ? "" : ", by probes alone: nothing else tells here",
                  w->probe.asked[0] ? "; the last probe that failed: " : "", w->probe.asked,
                  t->app_silent ? "; the load was ended" : "");
}

void tell_silences(struct trial_run *t)
{
    const struct life_watch *w = t->life;
    struct container_result *c = &t->record.app;
    int64_t begin_ns = t->load_begin_ns ? t->load_begin_ns : t->begin_ns;
    int64_t end_ns = t->load_end_ns ? t->load_end_ns : clock_now_ns();

    if (!w || w->state.after_ns <= 0)
        return;
    c->silences = arena_array(t->arena, struct container_silence, w->state.silences.len + 1);
    c->unresponsive_ms = t->load_begin_ns ? 0 : NAN;
    for (size_t i = 0; i < w->state.silences.len; i++) {
        const struct silence *s = &w->state.silences.items[i];
        c->silences[c->silence_count++] = (struct container_silence){
            .from_ms = (double)(s->from_ns - begin_ns) / (double)NS_PER_MS,
            .to_ms = s->to_ns ? (double)(s->to_ns - begin_ns) / (double)NS_PER_MS : NAN,
        };
        if (t->load_begin_ns)
            c->unresponsive_ms += overlap_ms(s, t->load_begin_ns, end_ns);
    }
    if (!c->silence_count)
        return;
    tell_finding(t, silence_story(t));
}

const char *silence_story(struct trial_run *t)
{
    const struct container_result *c = &t->record.app;
    double end_ms = (double)((t->load_end_ns ? t->load_end_ns : clock_now_ns()) -
                             (t->load_begin_ns ? t->load_begin_ns : t->begin_ns)) /
                    (double)NS_PER_MS,
           all_ms = 0;

    for (size_t i = 0; i < c->silence_count; i++) {
        double to_ms = isnan(c->silences[i].to_ms) ? end_ms : c->silences[i].to_ms;
        all_ms += to_ms > c->silences[i].from_ms ? to_ms - c->silences[i].from_ms : 0;
    }
    if (!c->silence_count)
        return NULL;
    const char *times =
        c->silence_count > 1 ? arena_printf(t->arena, ", %zu times in all", c->silence_count) : "";
    return arena_printf(t->arena, "unresponsive for %.1f s from %.1f s %s on%s", all_ms / 1e3,
                        c->silences[0].from_ms / 1e3, t->load_begin_ns ? "of the load" : "of the trial",
                        times);
}
