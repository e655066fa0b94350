/* SPDX-License-Identifier: MIT */
/* One virtual user: its request, what became of it, the rest behind it. */
#include "runner.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include "benchctl/base/clock.h"

/*
 * A closed loop against a server that refuses connections would only measure how fast this machine can fail
 * to connect. A VU that got no connection, or one that closed without a byte, waits before its next try: 10,
 * 20, 40, 80, 100, 100 ... ms, until one works; with more than 500 VUs longer, so that a process makes at
 * most 5,000 vain tries a second. Open phases need none: their schedule is the pace.
 */
#define BACKOFF_FIRST_NS (10 * NS_PER_MS)
#define BACKOFF_MOST_NS (100 * NS_PER_MS)
#define BACKOFF_PER_VU_NS (200 * NS_PER_US)
#define BACKOFF_DOUBLINGS 12

static void vu_done(struct exchange *x, void *data);

static struct vu *vu_new(struct runner *r)
{
    struct vu *v = xcalloc(1, sizeof(*v));

    v->channel = channel_new(r->o.transport);
    v->number = (uint32_t)(r->all.len * r->o.processes + r->o.process + 1);
    v->queued_ns = v->leave_by_ns = NEVER;
    vec_push(&r->all, v);
    return v;
}

void pool_fill(struct runner *r, size_t count)
{
    while (r->all.len < count)
        vec_push(&r->pool, vu_new(r));
}

struct vu *vu_take(struct phase *p)
{
    struct runner *r = p->runner;
    struct vu *v = r->pool.len ? r->pool.items[--r->pool.len] : vu_new(r);

    v->phase = p;
    v->state = VU_IDLE;
    v->failed_connects = 0;
    v->leave_by_ns = NEVER;
    return v;
}

void vu_release(struct vu *v)
{
    struct runner *r = v->phase->runner;

    assert(v->state != VU_BUSY);
    v->state = VU_IDLE;
    v->phase = NULL;
    vec_push(&r->pool, v);
}

/* An entry that comes up too early is put back then. */
void vu_requeue(struct vu *v)
{
    int64_t when = v->until_ns;

    if (v->state == VU_BUSY && v->leave_by_ns < when)
        when = v->leave_by_ns;
    if (v->state != VU_IDLE && when < v->queued_ns)
        queue_put(v->phase->runner, v, when);
}

/* What is random in an iteration depends on the seed, the phase and its number alone: not on the order in
 * which answers come, nor on how many processes share the work. */
static void seed_draw(const struct vu *v, uint64_t purpose, struct rng *rng)
{
    const struct phase *p = v->phase;

    rng_seed(rng, (uint64_t)p->runner->o.workload->seed + (p->index + 1) * UINT64_C(0x9e3779b97f4a7c15) +
                      v->draw * UINT64_C(0xd1b54a32d192ed03) + purpose * UINT64_C(0x8cb92ba72f3d8dd7));
}

static double unit_draw(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

static const struct request_kind *choose(const struct phase *p, struct rng *rng)
{
    size_t i = 0;

    if (p->kind_count > 1) {
        double at = unit_draw(rng) * p->weights[p->kind_count - 1];
        while (i + 1 < p->kind_count && at >= p->weights[i])
            i++;
    }
    return &p->runner->o.kinds[p->kinds[i]];
}

static void count_start(struct vu *v, int64_t planned_ns, int64_t now_ns)
{
    struct phase *p = v->phase;

    p->part->started++;
    if (!executor_is_open(p->form->executor))
        return;
    int64_t gap = now_ns - p->last_send_ns, spacing = planned_ns - p->last_arrival_ns;
    p->part->sends++;
    if (p->last_send_ns) {
        p->part->bunched += gap < 20 * NS_PER_US;
        p->part->close += p->form->arrivals == ARRIVALS_CONSTANT && gap < spacing / 10;
    }
    p->last_send_ns = now_ns;
}

void vu_start(struct vu *v, int64_t planned_ns, int64_t now_ns)
{
    struct phase *p = v->phase;
    struct runner *r = p->runner;
    struct rng rng;
    char id[40] = "";

    v->serial = r->serials++ * r->o.processes + r->o.process;
    seed_draw(v, 0, &rng);
    const struct request_kind *kind = choose(p, &rng);
    if (!kind->message) /* something in it may change */
        (void)snprintf(id, sizeof(id), "%016" PRIx64 "-%" PRIx64, r->o.run_id, v->serial);
    struct workload_values values = {.counter = v->serial,
                                     .vu = v->number,
                                     .iteration = v->iteration++,
                                     .row = r->o.row_count ? v->serial % r->o.row_count : 0,
                                     .id = id,
                                     .rng = &rng};
    v->x = (struct exchange){.kind = kind, .values = &values, .done = vu_done, .data = v, .grpc_status = -1};
    v->planned_ns = planned_ns;
    v->started_ns = now_ns;
    v->state = VU_BUSY;
    v->until_ns = now_ns + kind->timeout_ns;
    count_start(v, planned_ns, now_ns);
    r->work++;
    channel_start(v->channel, &v->x);
    v->x.values = NULL;
    vu_requeue(v);
}

static void keep_example(struct vu *v, enum request_error error, int64_t now_ns)
{
    struct error_example *e = &v->phase->runner->second->examples[error];

    if (e->at_ns >= 0)
        return;
    *e = (struct error_example){.at_ns = now_ns - v->phase->runner->begin_ns,
                                .kind = v->x.kind->index,
                                .status = v->x.status,
                                .grpc_status = v->x.grpc_status};
    (void)snprintf(e->detail, sizeof(e->detail), "%s", v->x.detail ? v->x.detail : "");
}

static void count_end(struct vu *v, enum request_error error, int64_t now_ns)
{
    struct phase *p = v->phase;
    struct second *s = p->runner->second;
    struct tally *t = second_cell(s, p->index, v->x.kind->index);
    int64_t sent = v->x.sent_ns ? v->x.sent_ns : v->started_ns;
    bool open = executor_is_open(p->form->executor);

    t->count[error]++;
    t->received_bytes += v->x.received_bytes;
    t->connections += v->x.new_connection;
    t->fallbacks += error == REQUEST_OK && v->x.fallback;
    if (error == REQUEST_OK || error == REQUEST_STATUS || error == REQUEST_MISMATCH) {
        if (v->x.status >= 0 && v->x.status < STATUS_CODES)
            t->status[v->x.status]++;
        histogram_record_ns(t->service, now_ns - sent);
        histogram_record_ns(t->response, now_ns - (open ? v->planned_ns : sent));
    }
    if (open && !p->form->warmup)
        histogram_record_ns(s->lag, sent - v->planned_ns);
    if (error != REQUEST_OK && error != REQUEST_ABORTED)
        keep_example(v, error, now_ns);
}

static int64_t think_time(struct vu *v)
{
    const struct request_kind *kind = v->x.kind;
    const struct workload_think *think =
        kind->form->think ? kind->form->think : &v->phase->runner->o.workload->think;
    struct rng rng;

    if (think->max_ns <= think->min_ns)
        return think->min_ns;
    seed_draw(v, 1, &rng);
    return think->min_ns + (int64_t)rng_below(&rng, (uint64_t)(think->max_ns - think->min_ns) + 1);
}

static int64_t backoff(struct vu *v, enum request_error error)
{
    bool nothing = v->x.new_connection && v->x.received_bytes == 0;

    if (error == REQUEST_CONNECT || error == REQUEST_TLS || error == REQUEST_GENERATOR ||
        (error == REQUEST_RESET && nothing)) {
        int64_t most = (int64_t)v->phase->active * BACKOFF_PER_VU_NS;
        int64_t wait = BACKOFF_FIRST_NS << v->failed_connects;
        if (v->failed_connects < BACKOFF_DOUBLINGS)
            v->failed_connects++;
        most = most > BACKOFF_MOST_NS ? most : BACKOFF_MOST_NS;
        return wait < most ? wait : most;
    }
    v->failed_connects = 0;
    return 0;
}

/* The VU has nothing under way: its executor says what comes next. */
static void vu_free(struct vu *v, int64_t now_ns)
{
    v->state = VU_IDLE;
    if (executor_is_open(v->phase->form->executor))
        open_free(v, now_ns);
    else
        closed_iterate(v, now_ns);
}

static void vu_ended(struct vu *v, enum request_error error, int64_t now_ns)
{
    struct phase *p = v->phase;
    int64_t rest = 0;

    count_end(v, error, now_ns);
    if (p->state == PHASE_RUNNING && v->at < p->active) {
        rest = think_time(v);
        p->part->think_ns += (uint64_t)rest;
        int64_t wait = executor_is_open(p->form->executor) ? 0 : backoff(v, error);
        if (wait > rest) {
            p->part->backoffs++;
            p->part->backoff_ns += (uint64_t)(wait - rest);
            rest = wait;
        }
    }
    if (rest <= 0) {
        vu_free(v, now_ns);
        return;
    }
    v->state = VU_RESTING;
    v->until_ns = now_ns + rest;
    vu_requeue(v);
}

static void vu_done(struct exchange *x, void *data)
{
    struct vu *v = data;

    vu_ended(v, x->error, x->done_ns > v->started_ns ? x->done_ns : v->started_ns);
}

void vu_abort(struct vu *v, int64_t now_ns)
{
    v->phase->runner->work++;
    channel_cancel(v->channel);
    count_end(v, REQUEST_ABORTED, now_ns);
    v->state = VU_IDLE;
}

void vu_due(struct vu *v, int64_t now_ns)
{
    struct phase *p = v->phase;

    if (v->state == VU_BUSY && v->leave_by_ns <= now_ns) {
        vu_abort(v, now_ns);
        phase_drop_vu(p, v);
        phase_check_over(p, now_ns);
    } else if (v->state == VU_BUSY && v->until_ns <= now_ns) {
        p->runner->work++;
        channel_cancel(v->channel);
        v->x.detail = v->x.received_bytes ? "the answer had begun" : "nothing was answered in time";
        vu_ended(v, REQUEST_TIMEOUT, now_ns);
    } else if (v->state == VU_RESTING && v->until_ns <= now_ns) {
        p->part->think_ns += (uint64_t)(now_ns - v->until_ns); /* its turn has come late: a pause as well */
        vu_free(v, now_ns);
    } else if (v->state != VU_IDLE) {
        vu_requeue(v);
    }
}
