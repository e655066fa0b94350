/* SPDX-License-Identifier: MIT */
/*
 * Channels that answer when the test says so, in the place of the real ones (the linker takes these), and a
 * clock that the test turns. Include once per program.
 */
#ifndef BENCHCTL_TESTS_FAKE_TRANSPORT_H
#define BENCHCTL_TESTS_FAKE_TRANSPORT_H

#include "benchctl/base/clock.h"
#include "runner.h"
#include "unit/check.h"

#define MS NS_PER_MS
#define S NS_PER_S

struct channel {
    struct exchange *x;
    int64_t due_ns;
    bool connected;
};

static struct {
    int64_t now_ns, service_ns; /* every answer takes that long; NEVER: none comes */
    enum request_error error;
    bool connects; /* each exchange makes a new connection */
    size_t started, cancelled, under_way, most_under_way;
    size_t by_kind[16];
    uint64_t sequence; /* hash over the kinds in the order of their starts */
    VEC(struct channel *) channels;
} fake;

struct channel *channel_new(struct transport *t)
{
    struct channel *c = xcalloc(1, sizeof(*c));

    (void)t;
    vec_push(&fake.channels, c);
    return c;
}

void channel_free(struct channel *c)
{
    assert_null(c->x);
    for (size_t i = 0; i < fake.channels.len; i++)
        if (fake.channels.items[i] == c) {
            fake.channels.items[i] = fake.channels.items[--fake.channels.len];
            break;
        }
    free(c);
    if (fake.channels.len == 0)
        vec_release(&fake.channels);
}

void channel_start(struct channel *c, struct exchange *x)
{
    assert_null(c->x);
    c->x = x;
    x->sent_ns = fake.now_ns;
    c->due_ns = fake.service_ns == NEVER ? NEVER : fake.now_ns + fake.service_ns;
    fake.started++;
    fake.by_kind[x->kind->index]++;
    fake.sequence = fake.sequence * 31 + x->kind->index;
    if (++fake.under_way > fake.most_under_way)
        fake.most_under_way = fake.under_way;
}

void channel_cancel(struct channel *c)
{
    assert_non_null(c->x);
    c->x = NULL;
    fake.cancelled++;
    fake.under_way--;
}

static void answer(struct channel *c)
{
    struct exchange *x = TAKE(c->x);

    fake.under_way--;
    x->error = fake.error;
    x->status = fake.error == REQUEST_STATUS ? 500 : 200;
    x->new_connection = fake.connects || !c->connected;
    c->connected = true;
    x->received_bytes = fake.error == REQUEST_OK || fake.error == REQUEST_STATUS ? 100 : 0;
    x->done_ns = c->due_ns;
    x->done(x, x->data);
}

static struct channel *first_due(void)
{
    struct channel *first = NULL;

    for (size_t i = 0; i < fake.channels.len; i++) {
        struct channel *c = fake.channels.items[i];
        if (c->x && c->due_ns != NEVER && (!first || c->due_ns < first->due_ns))
            first = c;
    }
    return first;
}

/* Lets time pass until `until_ns`: answers and the runner's own moments in their order. */
static void pass(struct runner *r, int64_t until_ns)
{
    for (;;) {
        struct channel *c = first_due();
        int64_t next = runner_next_ns(r);
        bool answers = c && c->due_ns <= next;
        int64_t at = answers ? c->due_ns : next;
        if (at > until_ns || at == NEVER)
            break;
        if (at > fake.now_ns)
            fake.now_ns = at;
        if (answers)
            answer(c);
        else
            runner_advance(r, fake.now_ns);
    }
    if (until_ns > fake.now_ns && until_ns != NEVER)
        fake.now_ns = until_ns;
}

/* ---- loads ---- */

struct load {
    struct workload w;
    struct workload_phase phases[4];
    struct workload_request requests[4];
    struct request_kind kinds[4];
    size_t over[8], over_count;
    struct runner *r;
};

static struct workload_phase phase_of(int executor)
{
    return (struct workload_phase){.name = "p",
                                   .executor = executor,
                                   .vus = 1,
                                   .duration_ns = 10 * S,
                                   .start_vus = 1,
                                   .time_unit_ns = S,
                                   .pre_allocated_vus = 1,
                                   .max_vus = 1,
                                   .iterations = 1,
                                   .max_duration_ns = 600 * S,
                                   .graceful_stop_ns = 30 * S,
                                   .graceful_ramp_down_ns = 30 * S,
                                   .start_time_ns = SCHEMA_ABSENT};
}

static void load_init(struct load *l, size_t phases, size_t requests)
{
    static const char *const names[] = {"a", "b", "c", "d"};

    memset(l, 0, sizeof(*l));
    memset(&fake, 0, sizeof(fake));
    fake.now_ns = 1000 * S;
    fake.service_ns = 10 * MS;
    l->w.seed = 1;
    l->w.timeout_ns = 10 * S;
    l->w.phases = (struct schema_list){l->phases, phases};
    l->w.requests = (struct schema_list){l->requests, requests};
    for (size_t i = 0; i < requests; i++) {
        l->requests[i] = (struct workload_request){.name = names[i], .weight = 1};
        l->kinds[i] =
            (struct request_kind){.form = &l->requests[i], .index = i, .timeout_ns = 10 * S, .message = "x"};
    }
}

static void on_phase_over_fake(size_t phase, void *data)
{
    struct load *l = data;

    l->over[l->over_count++] = phase;
    if (phase + 1 < l->w.phases.len && l->phases[phase + 1].start_time_ns < 0)
        runner_release(l->r, phase + 1, fake.now_ns);
}

static void load_begin_share(struct load *l, uint64_t process, uint64_t processes)
{
    const struct runner_options o = {.workload = &l->w,
                                     .kinds = l->kinds,
                                     .kind_count = l->w.requests.len,
                                     .process = process,
                                     .processes = processes,
                                     .phase_over = on_phase_over_fake,
                                     .data = l};
    l->r = runner_new(&o);
    runner_begin(l->r, fake.now_ns);
}

static void load_begin(struct load *l)
{
    load_begin_share(l, 0, 1);
}

/* Sums over the kinds of a phase. */
static struct tally sum_of(const struct load *l, size_t phase)
{
    struct tally t = {0};

    for (size_t k = 0; k < l->r->second->kinds; k++) {
        const struct tally *c = l->r->second->cells[phase * l->r->second->kinds + k];
        for (int i = 0; c && i < REQUEST_ERRORS; i++)
            t.count[i] += c->count[i];
    }
    return t;
}

static uint64_t ended_of(const struct load *l, size_t phase)
{
    struct tally t = sum_of(l, phase);

    return tally_requests(&t) + t.count[REQUEST_ABORTED];
}

#endif
