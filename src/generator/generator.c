/* SPDX-License-Identifier: MIT */
#include "benchctl/generator.h"

#include <signal.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "collector.h"
#include "crew.h"
#include "outcome.h"
#include "worker.h"

#define LEAD_NS (20 * NS_PER_MS)    /* until all processes know when the load begins */
#define PATIENCE_NS (10 * NS_PER_S) /* behind the latest moment at which it can be over */

const char *const request_error_names[] = {
    [REQUEST_OK] = "ok",           [REQUEST_CONNECT] = "connect",   [REQUEST_TLS] = "tls",
    [REQUEST_RESET] = "reset",     [REQUEST_TIMEOUT] = "timeout",   [REQUEST_PROTOCOL] = "protocol",
    [REQUEST_STATUS] = "status",   [REQUEST_MISMATCH] = "mismatch", [REQUEST_GENERATOR] = "generator",
    [REQUEST_ABORTED] = "aborted",
};

struct run {
    const struct workload *w;
    struct loop *loop;
    struct collector *collector;
    struct worker *worker; /* one process: it is this one ... */
    struct crew *crew;     /* ... or several */
    uint64_t run_id;
    size_t processes;
    int64_t begin_wall_ns;
    int signals;
    bool begun, interrupted;
};

static void on_second(struct second *s, void *data)
{
    struct run *r = data;

    second_add(collector_slot(r->collector, s->index), s);
    collector_done(r->collector, 0, s->index);
}

static void on_phase_over(size_t phase, void *data)
{
    struct run *r = data;
    const struct workload_phase *phases = r->w->phases.items;

    if (phase + 1 < r->w->phases.len && phases[phase + 1].start_time_ns < 0)
        worker_release(r->worker, phase + 1, clock_now_ns());
}

/* The first signal ends the load, the second one this process, at once. */
static void on_signal(int signo, void *data)
{
    struct run *r = data;

    (void)signo;
    if (r->signals++)
        _exit(130);
    r->interrupted = true;
    if (!r->begun)
        loop_interrupt(r->loop);
    else if (r->crew)
        crew_stop(r->crew);
    else
        worker_stop(r->worker);
}

static int make_ready(struct run *r, const struct generator_options *o, struct error *err)
{
    const struct worker_options mine = {.workload = r->w,
                                        .processes = 1,
                                        .run_id = r->run_id,
                                        .on_second = on_second,
                                        .on_phase_over = on_phase_over,
                                        .data = r};

    if (loop_new(&r->loop, err) < 0 || loop_catch_signals(r->loop, on_signal, r, err) < 0 ||
        collector_new(r->w, o, r->processes, &r->collector, err) < 0)
        return -1;
    return r->crew ? crew_watch(r->crew, r->loop, r->collector, err)
                   : worker_new(r->loop, &mine, &r->worker, err);
}

static int make_load(struct run *r, struct error *err)
{
    int64_t begin_ns = clock_now_ns() + LEAD_NS, end_ns = begin_ns + workload_longest_ns(r->w) + PATIENCE_NS;

    r->begin_wall_ns = clock_wall_ns() + LEAD_NS;
    if (collector_begin(r->collector, r->begin_wall_ns, err) < 0)
        return -1;
    r->begun = true;
    if (r->crew)
        crew_begin(r->crew, begin_ns, end_ns);
    else
        worker_begin(r->worker, begin_ns);
    const bool *over = r->crew ? crew_over(r->crew) : worker_over(r->worker);
    return loop_wait_until(r->loop, over, LOOP_FOREVER, err);
}

static int write_report(const struct run *r, const char *out_dir, const struct json *report,
                        struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (collector_check(r->collector, err) < 0)
        return -1;
    if (!out_dir)
        return 0;
    CLEANUP_FREE char *path = path_join(out_dir, "report.json");
    json_write(report, JSON_STYLE_INDENTED, &text);
    strbuf_addc(&text, '\n');
    return fs_write_atomic(path, text.data, text.len, err);
}

static struct json *report(const struct run *r)
{
    const struct outcome_facts f = {.workload = r->w,
                                    .total = collector_total(r->collector),
                                    .begin_wall_ns = r->begin_wall_ns,
                                    .processes = r->processes,
                                    .transport =
                                        r->crew ? crew_transport(r->crew) : worker_transport(r->worker),
                                    .interrupted = r->interrupted,
                                    .lost = r->crew ? crew_lost(r->crew) : NULL};

    return outcome_report(&f);
}

static void run_release(struct run *r)
{
    worker_free(r->worker);
    crew_free(r->crew);
    collector_free(r->collector);
    loop_free(r->loop);
}

/* More processes than VUs would only have some with nothing to do. */
static size_t count_processes(const struct workload *w)
{
    int64_t most = workload_max_vus(w), n = w->processes;

    n = n < most ? n : most;
    return n < 1 ? 1 : (size_t)n;
}

int generator_run(const struct workload *w, const struct generator_options *o, struct json **ret,
                  struct error *err)
{
    CLEANUP_VALUE(run_release)
    struct run r = {.w = w, .run_id = (uint64_t)clock_wall_ns(), .processes = count_processes(w)};

    if (r.processes > 1 && crew_fork(w, r.processes, r.run_id, &r.crew, err) < 0)
        return -1;
    if (make_ready(&r, o, err) < 0 || make_load(&r, err) < 0)
        return -1;
    CLEANUP(json_free) struct json *made = report(&r);
    worker_free(TAKE(r.worker)); /* its connections may have taken the last descriptor */
    int rc = write_report(&r, o->out_dir, made, err);
    *ret = TAKE(made);
    return rc;
}
