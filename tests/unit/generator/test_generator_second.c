/* SPDX-License-Identifier: MIT */
/* Seconds add up exactly, in one process and through bytes. */
#include <math.h>
#include "benchctl/base/hash.h"
#include "second.h"
#include "unit/check.h"

static void fill(struct second *s, uint64_t seed)
{
    struct rng r;

    rng_seed(&r, seed);
    s->index = 4;
    s->end_ns = (int64_t)rng_below(&r, 1000);
    s->cpu_ns = (int64_t)rng_below(&r, 1000);
    s->cpu_share = (double)rng_below(&r, 100) / 100;
    s->max_rss_bytes = 100;
    for (size_t p = 0; p < s->phases; p++) {
        s->parts[p] = (struct phase_part){.planned = rng_below(&r, 99),
                                          .started = rng_below(&r, 99),
                                          .dropped = 1,
                                          .sends = 2,
                                          .bunched = 3,
                                          .close = 4,
                                          .backoffs = 5,
                                          .backoff_ns = 6,
                                          .think_ns = 7,
                                          .vus = 8,
                                          .begin_ns = (int64_t)rng_below(&r, 50),
                                          .end_ns = p ? -1 : (int64_t)rng_below(&r, 50)};
        for (size_t k = p; k < s->kinds; k++) { /* some cells stay empty */
            struct tally *t = second_cell(s, p, k);
            for (int i = 0; i < REQUEST_ERRORS; i++)
                t->count[i] += rng_below(&r, 10);
            t->count[REQUEST_OK]++;
            t->status[200 + rng_below(&r, 400)]++;
            t->received_bytes += rng_below(&r, 1000);
            t->connections += rng_below(&r, 3);
            for (int i = 0; i < 100; i++) {
                histogram_record(t->response, (int64_t)rng_below(&r, 100000), 1);
                histogram_record(t->service, (int64_t)rng_below(&r, 10000), 1);
            }
        }
    }
    for (int i = 0; i < 50; i++)
        histogram_record(s->lag, (int64_t)rng_below(&r, 3000), 1);
    s->examples[REQUEST_RESET] = (struct error_example){.at_ns = (int64_t)seed, .kind = 1, .detail = "x"};
}

static void assert_same_histogram(const struct histogram *a, const struct histogram *b)
{
    struct strbuf x = STRBUF_INIT, y = STRBUF_INIT;

    histogram_encode(a, false, &x);
    histogram_encode(b, false, &y);
    assert_int_equal(x.len, y.len);
    assert_memory_equal(x.data, y.data, x.len);
    strbuf_release(&x);
    strbuf_release(&y);
}

static void assert_same(const struct second *a, const struct second *b)
{
    assert_int_equal(a->end_ns, b->end_ns);
    assert_int_equal(a->cpu_ns, b->cpu_ns);
    assert_true(a->cpu_share == b->cpu_share);
    assert_int_equal(a->max_rss_bytes, b->max_rss_bytes);
    assert_memory_equal(a->parts, b->parts, a->phases * sizeof(*a->parts));
    assert_same_histogram(a->lag, b->lag);
    for (size_t i = 0; i < a->phases * a->kinds; i++) {
        const struct tally *x = a->cells[i], *y = b->cells[i];
        assert_int_equal(!x, !y);
        if (!x)
            continue;
        assert_memory_equal(x->count, y->count, sizeof(x->count));
        assert_memory_equal(x->status, y->status, sizeof(x->status));
        assert_int_equal(x->received_bytes, y->received_bytes);
        assert_int_equal(x->connections, y->connections);
        assert_same_histogram(x->response, y->response);
        assert_same_histogram(x->service, y->service);
    }
}

static void bytes_are_as_good_as_the_thing(void **state)
{
    struct second *direct = second_new(2, 3), *through = second_new(2, 3);
    struct error err = ERROR_INIT;

    (void)state;
    for (uint64_t seed = 1; seed < 5; seed++) {
        struct second *s = second_new(2, 3);
        struct strbuf bytes = STRBUF_INIT;
        fill(s, seed);
        second_add(direct, s);
        second_encode(s, &bytes);
        assert_int_equal(second_index(bytes.data), 4);
        assert_int_equal(second_decode(bytes.data, bytes.len, through, &err), 0);
        strbuf_release(&bytes);
        second_free(s);
    }
    assert_same(direct, through);
    assert_int_equal(direct->parts[1].vus, 32);
    assert_int_equal(direct->parts[1].end_ns, -1);
    assert_int_equal(direct->examples[REQUEST_RESET].at_ns, 1); /* the first of all */
    assert_int_equal(through->examples[REQUEST_RESET].at_ns, 1);
    second_free(direct);
    second_free(through);
}

static void bytes_that_are_cut_are_refused(void **state)
{
    struct second *s = second_new(2, 3);
    struct strbuf bytes = STRBUF_INIT;
    size_t accepted = 0;

    (void)state;
    fill(s, 9);
    second_encode(s, &bytes);
    for (size_t len = 0; len < bytes.len; len += 7) {
        struct second *into = second_new(2, 3);
        struct error err = ERROR_INIT;
        char *exact = xmalloc(len + 1);
        memcpy(exact, bytes.data, len);
        accepted += second_decode(exact, len, into, &err) == 0;
        free(exact);
        second_free(into);
    }
    assert_in_range(accepted, 0, 6); /* where one cell ends and the next has not begun */
    struct second *other = second_new(2, 2);
    struct error err = ERROR_INIT;
    assert_int_equal(second_decode(bytes.data, bytes.len, other, &err), -1);
    assert_has(err.message, "another workload");
    second_free(other);
    second_free(s);
    strbuf_release(&bytes);
}

static void clearing_keeps_the_gauges(void **state)
{
    struct second *s = second_new(1, 1);

    (void)state;
    fill(s, 3);
    int64_t begin = s->parts[0].begin_ns;
    second_clear(s);
    assert_int_equal(s->parts[0].vus, 8);
    assert_int_equal(s->parts[0].begin_ns, begin);
    assert_int_equal(s->parts[0].planned, 0);
    assert_int_equal(histogram_count(s->lag), 0);
    assert_true(tally_empty(s->cells[0]));
    assert_int_equal(s->cells[0]->received_bytes, 0);
    assert_int_equal(s->examples[REQUEST_RESET].at_ns, -1);
    assert_true(isnan(s->cpu_share));
    second_reset(s);
    assert_int_equal(s->parts[0].vus, 0);
    assert_int_equal(s->parts[0].begin_ns, -1);
    second_free(s);
}

static void aborted_is_neither_ok_nor_failed(void **state)
{
    struct tally *t = tally_new();

    (void)state;
    t->count[REQUEST_OK] = 3;
    t->count[REQUEST_ABORTED] = 5;
    t->count[REQUEST_TIMEOUT] = 7;
    t->count[REQUEST_STATUS] = 11;
    assert_int_equal(tally_failed(t), 18);
    assert_int_equal(tally_requests(t), 21);
    tally_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_as_good_as_the_thing),
        cmocka_unit_test(bytes_that_are_cut_are_refused),
        cmocka_unit_test(clearing_keeps_the_gauges),
        cmocka_unit_test(aborted_is_neither_ok_nor_failed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
