/* SPDX-License-Identifier: MIT */
#include "worker.h"

#include <assert.h>
#include <errno.h>
#include <sys/timerfd.h>
#include "benchctl/base/clock.h"
#include "short_slice.h"
#include "usage.h"

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
    struct loop_timer *tick;
    int64_t begin_ns, over_ns;
    uint64_t seconds; /* given so far */
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
static void arm_anew(struct worker *w)
{
    const struct itimerspec off = {0};
    int64_t next = runner_next_ns(w->runner);

    w->armed_ns = NEVER;
    if (next == NEVER)
        (void)timerfd_settime(w->timer, 0, &off, NULL);
    else
        arm(w, next);
}

static void on_timer(int fd, unsigned events, void *data)
{
    struct worker *w = data;

    (void)fd;
    (void)events;
    w->advancing = true;
    runner_advance(w->runner, clock_now_ns());
    w->advancing = false;
    arm_anew(w);
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
    s->end_ns = end_ns;
    for (size_t i = 0; i < s->phases; i++)
        if (!phase_ending(&w->runner->phases[i]) || s->parts[i].vus < (int64_t)w->runner->phases[i].active)
            s->parts[i].vus = (int64_t)w->runner->phases[i].active;
    usage_lap(&w->usage, &s->cpu_ns, &s->cpu_share);
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
    int64_t now = last ? w->over_ns : clock_now_ns();
    int64_t late = now - w->begin_ns - (int64_t)(w->seconds + 1) * NS_PER_S;

    if (w->over)
        return;
    w->runner->second->late_ns = late > 0 ? late : 0;
    while ((int64_t)(w->seconds + 1) * NS_PER_S <= now - w->begin_ns)
        give_second(w, (int64_t)(w->seconds + 1) * NS_PER_S);
    if (!last)
        return;
    if (now > w->begin_ns)
        give_second(w, now - w->begin_ns);
    w->over = true;
    loop_set_timer(w->tick, LOOP_FOREVER, 0);
}

/* ---- life ---- */

static int prepare(struct worker *w, struct error *err)
{
    const struct workload *load = w->o.workload;
    struct request_kind *kinds;
    size_t count;

    if (load->data && workload_rows_read(load->data, &w->rows, err) < 0)
        return -1;
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
    arm_anew(w);
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
