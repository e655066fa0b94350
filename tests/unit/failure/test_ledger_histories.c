/* SPDX-License-Identifier: MIT */
/*
 * Random legal histories of one container, told by an unreliable engine: events get lost, come twice, come in
 * later, while inspect is asked now and then. What the ledger counts is never above the truth, and not below
 * it where each life was looked at, or told of.
 */
#include <stdlib.h>
#include "ledger_fixture.h"

#define LIVES_MAX 12
#define HISTORIES 4000

struct rng {
    uint64_t state;
};

static int64_t below(struct rng *r, int64_t n)
{
    r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(r->state >> 33) % n;
}

/* One thing that the engine would tell, at the moment at which it happens. */
struct moment {
    const char *event; /* NULL: an inspect reply */
    int64_t at_ms, told_ms;
    int value;
    struct said said;
};

struct history {
    int restarts, ooms;
    int codes[LIVES_MAX];
    struct moment moments[LIVES_MAX * 12];
    size_t len;
};

static void tell(struct history *h, const char *event, int64_t at_ms, int value)
{
    h->moments[h->len++] = (struct moment){.event = event, .at_ms = at_ms, .told_ms = at_ms, .value = value};
}

static void look(struct history *h, int64_t at_ms, struct said said)
{
    h->moments[h->len++] = (struct moment){.at_ms = at_ms, .told_ms = at_ms, .said = said};
}

/* Lives as Docker 20.10 makes them: restarts by policy, by the API and by an engine that comes back. Each is
 * looked at while it runs when `looks`, and sometimes in the back-off. */
static void make_history(struct history *h, struct rng *r, bool looks)
{
    int lives = 1 + (int)below(r, LIVES_MAX);
    int64_t at_ms = 1000, count = 0, finished_ms = -1;

    *h = (struct history){.restarts = lives - 1};
    for (int i = 0; i < lives; i++) {
        static const int codes[] = {0, 1, 1, 3, 137, 139};
        int64_t started_ms = at_ms, lived_ms = below(r, 3) ? below(r, 5000) : below(r, 3);
        int code = codes[below(r, (int64_t)ARRAY_LEN(codes))];
        bool oom = code == 137 && below(r, 2), last = i == lives - 1, by_policy = below(r, 4);
        int64_t told_ms = started_ms + 1 + below(r, 3);
        tell(h, "start", told_ms, 0);
        if (looks)
            look(h, started_ms + 1, (struct said){"running", started_ms, finished_ms, count, 0});
        if (last)
            break;
        finished_ms = started_ms + lived_ms;
        if (oom)
            tell(h, "oom", finished_ms > told_ms ? finished_ms : told_ms + 1, 0);
        tell(h, "die", finished_ms + 26, code);
        h->codes[i] = code;
        h->ooms += oom;
        if (by_policy && below(r, 2))
            look(h, finished_ms + 30,
                 (struct said){"restarting", started_ms, finished_ms, count + 1, code, oom, NULL});
        count = by_policy ? count + 1 : 0; /* a start by hand or of the engine begins the count anew */
        at_ms = finished_ms + 330 + below(r, 2000);
    }
}

static int by_told(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;

    return (x->told_ms > y->told_ms) - (x->told_ms < y->told_ms);
}

/* Loses, repeats and delays events; replies of inspect are as they are. */
static void disturb(struct history *h, struct rng *r, int lost_pct)
{
    struct moment out[LIVES_MAX * 24];
    size_t len = 0;

    for (size_t i = 0; i < h->len; i++) {
        struct moment m = h->moments[i];
        if (m.event && below(r, 100) < lost_pct)
            continue;
        if (m.event && below(r, 5) == 0)
            m.told_ms += below(r, 3000);
        out[len++] = m;
        if (m.event && below(r, 6) == 0) {
            m.told_ms += below(r, 9000);
            out[len++] = m;
        }
    }
    qsort(out, len, sizeof(*out), by_told);
    assert_true(len <= ARRAY_LEN(h->moments));
    memcpy(h->moments, out, len * sizeof(*out));
    h->len = len;
}

static void feed(struct ledger *l, const struct history *h, uint64_t seed)
{
    for (size_t i = 0; i < h->len; i++) {
        const struct moment *m = &h->moments[i];
        if (m->event)
            event(l, m->event, m->at_ms, m->value);
        else
            inspect(l, m->said);
        if (ledger_restarts(l, NULL) > h->restarts)
            fail_msg("seed %llu: %d restarts after %zu moments, there were %d", (unsigned long long)seed,
                     ledger_restarts(l, NULL), i + 1, h->restarts);
        if (ledger_oom_kills(l, NAN) > h->ooms)
            fail_msg("seed %llu: %.0f oom kills, there were %d", (unsigned long long)seed,
                     ledger_oom_kills(l, NAN), h->ooms);
    }
}

static void check(bool looks, int lost_pct, bool exact)
{
    for (uint64_t seed = 1; seed <= HISTORIES; seed++) {
        LEDGER l = {0};
        struct rng r = {seed * 7919};
        struct history h;
        make_history(&h, &r, looks);
        disturb(&h, &r, lost_pct);
        feed(&l, &h, seed);
        if (exact && ledger_restarts(&l, NULL) != h.restarts)
            fail_msg("seed %llu: %d restarts, there were %d", (unsigned long long)seed,
                     ledger_restarts(&l, NULL), h.restarts);
    }
}

/* Every life was looked at: whatever events are lost, late or repeated, every restart is counted, once. */
static void what_was_looked_at_is_counted_once(void **state)
{
    (void)state;
    check(true, 0, true);
    check(true, 30, true);
    check(true, 100, true);
}

/* Nobody looked: all events make all restarts, some of them make some, and never more. */
static void events_alone_are_enough_when_they_come(void **state)
{
    (void)state;
    check(false, 0, true);
    check(false, 30, false);
    check(false, 80, false);
}

/* The count alone, at the end: what no event and no other look has told of. */
static void the_count_alone_is_enough(void **state)
{
    LEDGER l = {0};

    (void)state;
    INSPECT(&l, "running", 50000, 49000, 7, 0);
    assert_restarts(&l, 7);
    assert_int_equal(ledger_deaths(&l), 7);
    INSPECT(&l, "running", 90000, 80000, 9, 0); /* two more since */
    assert_restarts(&l, 9);
    event(&l, "start", 70000, 0); /* an event of these two, late */
    assert_restarts(&l, 9);
}

/* Codes and ooms of what was told in full are those that happened. */
static void what_was_told_in_full_is_told_as_it_was(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= HISTORIES; seed++) {
        LEDGER l = {0};
        struct rng r = {seed * 104729};
        struct history h;
        make_history(&h, &r, below(&r, 2));
        disturb(&h, &r, 0);
        feed(&l, &h, seed);
        assert_int_equal(l.exits.len, h.restarts);
        for (int i = 0; i < h.restarts; i++)
            assert_int_equal(l.exits.items[i].code, h.codes[i]);
        assert_true(ledger_oom_kills(&l, NAN) == h.ooms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_looked_at_is_counted_once),
        cmocka_unit_test(events_alone_are_enough_when_they_come),
        cmocka_unit_test(the_count_alone_is_enough),
        cmocka_unit_test(what_was_told_in_full_is_told_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
