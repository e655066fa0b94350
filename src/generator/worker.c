/* SPDX-License-Identifier: MIT */
#include "worker.h"

#include <assert.h>
#include <errno.h>
#include <sys/timerfd.h>
#include "benchctl/base/clock.h"
#include "short_slice.h"
#include "usage.h"

/* Looks whether the loop turns. What the machine's scheduler takes stays below the second figure. */
#define PROBE_NS (10 * NS_PER_MS)
#define STALL_NS (50 * NS_PER_MS)
/* A second that is noticed to be over so late ends then: what was done since belongs to it. */
#define LATE_NS (100 * NS_PER_MS)

struct worker {
    struct loop *loop;
    struct worker_options o;
    struct arena *arena;
    struct workload_rows *rows;
    struct transport *transport;
    struct runner *runner;
    /* The runner's clock: absolute, so that no delay adds up, and of nanoseconds. */
    int timer;
    struct loop_fd *timer_watch;
    int64_t armed_ns;
    struct loop_timer *tick, *probe;
    /* The runner has more to do than one turn takes: the rest in the next one. Not by its timer, whose event
     * waits behind those of thousands of connections. */
    struct loop_timer *again;
    int64_t begin_ns, over_ns;
    int64_t probed_ns; /* the probe's last turn */
    int64_t second_ns; /* begin of the second that runs */
    uint64_t seconds;  /* that are over */
    struct usage usage;
    bool advancing, stopping, over;
};

static void arm(struct worker *w, int64_t next_ns)
{
    struct itimerspec spec = {0};

    if (next_ns >= w->armed_ns || w->advancing)
        return;
    if (next_ns < 1)
        next_ns = 1; /* zero would disarm */
    spec.it_value.tv_sec = next_ns / NS_PER_S;
    spec.it_value.tv_nsec = next_ns % NS_PER_S;
    (void)timerfd_settime(w->timer, TFD_TIMER_ABSTIME, &spec, NULL);
    w->armed_ns = next_ns;
}

/* Setting the timer also takes back that it can be read. */
static void arm_anew(struct worker *w, int64_t now_ns)
{
    const struct itimerspec off = {0};
    int64_t next = runner_next_ns(w->runner);

    w->armed_ns = NEVER;
    if (next <= now_ns)
        loop_set_timer(w->again, now_ns + 1, 0);
    if (next == NEVER || next <= now_ns)
        (void)timerfd_settime(w->timer, 0, &off, NULL);
    else
        arm(w, next);
}

static void advance(void *data)
{
    struct worker *w = data;
    int64_t now = clock_now_ns();

    w->advancing = true;
    runner_advance(w->runner, now);
    w->advancing = false;
    arm_anew(w, now);
}

static void on_timer(int fd, unsigned events, void *data)
{
    (void)fd;
    (void)events;
    advance(data);
}

static void on_sooner(int64_t next_ns, void *data)
{
    arm(data, next_ns);
}

static void on_phase_over(size_t phase, void *data)
{
    struct worker *w = data;

    if (runner_over(w->runner)) {
        w->over_ns = clock_now_ns();
        loop_set_timer(w->tick, w->over_ns, 0); /* the last second, once this callback is through */
    }
    if (!w->stopping && w->o.on_phase_over)
        w->o.on_phase_over(phase, w->o.data);
}

/* ---- seconds ---- */

/* In the second in which a phase stops, those that it stopped with count. */
static bool phase_ending(const struct phase *p)
{
    return p->state == PHASE_STOPPING || p->state == PHASE_OVER;
}

static void give_second(struct worker *w, int64_t end_ns)
{
    struct second *s = w->runner->second;

    s->index = w->seconds++;
    s->begin_ns = w->second_ns;
    s->end_ns = w->second_ns = end_ns;
    for (size_t i = 0; i < s->phases; i++)
        if (!phase_ending(&w->runner->phases[i]) || s->parts[i].vus < (int64_t)w->runner->phases[i].active)
            s->parts[i].vus = (int64_t)w->runner->phases[i].active;
    usage_lap(&w->usage, &s->cpu_ns, &s->cpu_share);
    s->cpu_most_ns = s->cpu_ns;
    s->max_rss_bytes = usage_max_rss_bytes();
    w->o.on_second(s, w->o.data);
    second_clear(s);
    for (size_t i = 0; i < s->phases; i++)
        s->parts[i].vus = (int64_t)w->runner->phases[i].active;
}

static void on_tick(void *data)
{
    struct worker *w = data;
    bool last = runner_over(w->runner);
    int64_t now = (last ? w->over_ns : clock_now_ns()) - w->begin_ns,
            due = (int64_t)(w->seconds + 1) * NS_PER_S;

    if (w->over)
        return;
    if (now >= due) {
        give_second(w, now - due > LATE_NS ? now : due);
        if (w->seconds < (uint64_t)(now / NS_PER_S)) /* nothing was told of those between */
            w->seconds = (uint64_t)(now / NS_PER_S);
    }
    if (!last)
        return;
    if (now > w->second_ns)
        give_second(w, now);
    w->over = true;
    loop_set_timer(w->tick, LOOP_FOREVER, 0);
    loop_set_timer(w->probe, LOOP_FOREVER, 0);
}

/* ---- does the loop turn? ---- */

/* How much of [from_ns, to_ns) fell into the phase. */
static int64_t overlap(const struct worker *w, const struct phase *p, int64_t from_ns, int64_t to_ns)
{
    int64_t begin = w->begin_ns + p->part->begin_ns, end = w->begin_ns + p->part->end_ns;

    if (p->part->begin_ns < 0)
        return 0;
    from_ns = from_ns > begin ? from_ns : begin;
    if (p->part->end_ns >= 0 && end < to_ns)
        to_ns = end;
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

static void on_probe(void *data)
{
    struct worker *w = data;
    struct second *s = w->runner->second;
    int64_t now = clock_now_ns(), due = w->probed_ns + PROBE_NS, late = now - due;

    w->probed_ns = now;
    if (late > s->late_ns)
        s->late_ns = late;
    if (late < STALL_NS)
        return;
    for (size_t i = 0; i < s->phases; i++)
        s->parts[i].stalled_ns += (uint64_t)overlap(w, &w->runner->phases[i], due, now);
}

/* ---- life ---- */

/* What is wrong with a file that the workload names is wrong with the workload. */
static int rows_error(const struct workload *load, const struct error *inner, struct error *err)
{
    (void)position_error(err, load->data_at, "data: %s", inner->message);
    return *inner->hint ? error_hint(err, "%s", inner->hint) : -1;
}

static int prepare(struct worker *w, struct error *err)
{
    const struct workload *load = w->o.workload;
    struct error inner = ERROR_INIT;
    struct request_kind *kinds;
    size_t count;

    if (load->data && workload_rows_read(load->data, &w->rows, &inner) < 0)
        return rows_error(load, &inner, err);
    if (transport_new(w->loop, load, &w->transport, err) < 0 ||
        transport_prepare(w->transport, load, w->rows, w->arena, &kinds, &count, err) < 0)
        return -1;
    assert(count == load->requests.len);
    const struct runner_options o = {.workload = load,
                                     .kinds = kinds,
                                     .kind_count = count,
                                     .row_count = w->rows ? workload_rows_count(w->rows) : 0,
                                     .process = w->o.process,
                                     .processes = w->o.processes,
                                     .run_id = w->o.run_id,
                                     .transport = w->transport,
                                     .phase_over = on_phase_over,
                                     .sooner = on_sooner,
                                     .data = w};
    w->runner = runner_new(&o);
    w->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (w->timer < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot make a timer");
    w->timer_watch = loop_add_fd(w->loop, w->timer, LOOP_READ, on_timer, w);
    w->tick = loop_add_timer(w->loop, LOOP_FOREVER, 0, on_tick, w);
    w->probe = loop_add_timer(w->loop, LOOP_FOREVER, 0, on_probe, w);
    w->again = loop_add_timer(w->loop, LOOP_FOREVER, 0, advance, w);
    return 0;
}

int worker_new(struct loop *l, const struct worker_options *o, struct worker **ret, struct error *err)
{
    CLEANUP(worker_free) struct worker *w = xcalloc(1, sizeof(*w));

    *w = (struct worker){.loop = l, .o = *o, .arena = arena_new(), .timer = -1, .armed_ns = NEVER};
    if (prepare(w, err) < 0)
        return -1;
    *ret = TAKE(w);
    return 0;
}

void worker_free(struct worker *w)
{
    if (!w)
        return;
    loop_remove_timer(w->tick);
    loop_remove_timer(w->probe);
    loop_remove_timer(w->again);
    loop_remove_fd(w->timer_watch);
    if (w->timer >= 0)
        (void)close(w->timer);
    runner_free(w->runner);
    transport_free(w->transport);
    workload_rows_free(w->rows);
    arena_free(w->arena);
    free(w);
}

static bool any_open(const struct workload *load)
{
    const struct workload_phase *phases = load->phases.items;

    for (size_t i = 0; i < load->phases.len; i++) {
        if (executor_is_open(phases[i].executor))
            return true;
    }
    return false;
}

void worker_begin(struct worker *w, int64_t begin_ns)
{
    if (any_open(w->o.workload))
        ask_for_short_slices();
    w->begin_ns = begin_ns;
    usage_begin(&w->usage);
    runner_begin(w->runner, begin_ns);
    loop_set_timer(w->tick, begin_ns + NS_PER_S, NS_PER_S);
    w->probed_ns = begin_ns - PROBE_NS;
    loop_set_timer(w->probe, begin_ns, PROBE_NS);
    arm_anew(w, 0);
}

void worker_release(struct worker *w, size_t phase, int64_t at_ns)
{
    runner_release(w->runner, phase, at_ns);
    arm(w, at_ns);
}

void worker_stop(struct worker *w)
{
    w->stopping = true;
    runner_stop(w->runner, clock_now_ns());
}

const bool *worker_over(const struct worker *w)
{
    return &w->over;
}

const char *worker_transport(const struct worker *w)
{
    return transport_name(w->transport);
}
