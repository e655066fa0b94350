/* SPDX-License-Identifier: MIT */
/* Reports and files from seconds that were made by hand. */
#include <math.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "collector.h"
#include "outcome.h"
#include "runner.h"
#include "series.h"
#include "support/scratch.h"
#include "unit/check.h"

static struct workload_phase phases[3] = {
    {.name = "warm", .executor = EXECUTOR_CONSTANT_VUS, .duration_ns = NS_PER_S, .warmup = true},
    {.name = "loop", .executor = EXECUTOR_CONSTANT_VUS, .vus = 2, .duration_ns = 10 * NS_PER_S},
    {.name = "open", .executor = EXECUTOR_CONSTANT_ARRIVAL_RATE, .duration_ns = 10 * NS_PER_S},
};
static struct workload_request requests[2] = {{.name = "GET /a, b"}, {.name = "make"}};
static const struct workload form = {
    .target = "http://x", .seed = 5, .phases = {phases, 3}, .requests = {requests, 2}};

static void answers(struct second *s, size_t phase, size_t kind, uint64_t n, int64_t us)
{
    struct tally *t = second_cell(s, phase, kind);

    t->count[REQUEST_OK] += n;
    t->status[200] += n;
    histogram_record(t->response, us, n);
    histogram_record(t->service, us, n);
}

static double at(const struct json *j, const char *pointer)
{
    return json_number(json_pointer(j, pointer));
}

static struct json *report_of(const struct second *s)
{
    const struct outcome_facts f = {.workload = &form, .total = s, .processes = 2, .transport = "plain"};

    return outcome_report(&f);
}

static void measured_and_warm_up_are_apart(void **state)
{
    struct second *s = second_new(3, 2);

    (void)state;
    answers(s, 0, 0, 1000, 50);
    answers(s, 1, 0, 400, 1000);
    answers(s, 1, 1, 100, 3000);
    answers(s, 2, 1, 500, 5000);
    second_cell(s, 2, 1)->count[REQUEST_TIMEOUT] = 25;
    second_cell(s, 2, 1)->count[REQUEST_ABORTED] = 5;
    s->parts[0] = (struct phase_part){.started = 1000, .begin_ns = 0, .end_ns = NS_PER_S};
    s->parts[1] =
        (struct phase_part){.planned = 500, .started = 500, .begin_ns = NS_PER_S, .end_ns = 11 * NS_PER_S};
    s->parts[2] = (struct phase_part){.planned = 600,
                                      .started = 530,
                                      .dropped = 70,
                                      .sends = 530,
                                      .bunched = 53,
                                      .begin_ns = 11 * NS_PER_S,
                                      .end_ns = 22 * NS_PER_S};
    CLEANUP(json_free) struct json *j = report_of(s);
    assert_true(at(j, "/warmup/requests") == 1000);
    assert_true(at(j, "/requests") == 1025 && at(j, "/ok") == 1000 && at(j, "/failed") == 25);
    assert_true(at(j, "/aborted") == 5 && at(j, "/dropped") == 70 && at(j, "/planned") == 1100);
    assert_true(at(j, "/censored") == 25 && at(j, "/errors/timeout") == 25);
    assert_true(at(j, "/measured_ms") == 21000);
    assert_true(at(j, "/drain_ms") == 1000 &&
                at(j, "/phases/1/drain_ms") == 0); /* 10 s were planned, 11 it took */
    assert_true(fabs(at(j, "/rps") - 1025 / 21.0) < 1e-9);
    assert_true(at(j, "/latency_ms/count") == 1000);
    assert_true(fabs(at(j, "/latency_ms/p50") - 3) < 0.01);
    assert_true(at(j, "/by_request/0/requests") == 400 && at(j, "/by_request/1/requests") == 625);
    assert_string_equal(json_text(json_pointer(j, "/by_request/0/tag")), "GET_/a__b");
    assert_string_equal(json_get_text(j, "model"), "mixed");
    assert_false(json_get_bool(j, "corrected"));
    assert_true(at(j, "/phases/2/rates/offered") == 60 && at(j, "/phases/2/rates/started") == 53);
    assert_true(fabs(at(j, "/phases/2/rates/delivered") - 500 / 11.0) < 1e-9);
    assert_true(fabs(at(j, "/pacing/bunched_share") - 0.1) < 1e-9);
    assert_false(json_get_bool(j, "kept_up"));
    assert_has(json_get_text(j, "kept_up_reason"), "70 of 600 planned");
    second_free(s);
}

static struct json *report_of_one(struct workload_phase *f, struct workload_request *r,
                                  const struct second *s)
{
    const struct workload w = {.target = "http://x", .seed = 5, .phases = {f, 1}, .requests = {r, 1}};
    const struct outcome_facts o = {.workload = &w, .total = s, .processes = 1, .transport = "plain"};

    return outcome_report(&o);
}

/* Two users, 10 s and half a second for the last answers, in which nobody may begin one. */
static void users_and_their_pauses(void **state)
{
    struct workload_stage stages[] = {{.duration_ns = 10 * NS_PER_S, .target = 100}};
    struct workload_phase f = phases[1];
    struct workload_request r = {.name = "GET /"};
    struct second *s = second_new(1, 1);

    (void)state;
    answers(s, 0, 0, 200, 1000);
    second_cell(s, 0, 0)->fallbacks = 7;
    s->parts[0] = (struct phase_part){
        .begin_ns = 0, .end_ns = 10 * NS_PER_S + NS_PER_S / 2, .think_ns = 200 * 99 * (uint64_t)NS_PER_MS};
    CLEANUP(json_free) struct json *j = report_of_one(&f, &r, s);
    assert_true(fabs(at(j, "/concurrency") - 20 / 10.5) < 1e-9);
    assert_true(fabs(at(j, "/think_ms") - 99) < 1e-9);
    assert_int_equal(json_type_of(json_pointer(j, "/fallbacks")), JSON_TYPE_NULL); /* nobody looked */
    r.fallback = "cached";
    f = (struct workload_phase){.name = "ramp",
                                .executor = EXECUTOR_RAMPING_VUS,
                                .stages = {stages, 1},
                                .duration_ns = 10 * NS_PER_S};
    s->parts[0].end_ns = 10 * NS_PER_S;
    CLEANUP(json_free) struct json *ramp = report_of_one(&f, &r, s);
    assert_in_range(at(ramp, "/concurrency"), 49, 50); /* from 0 to 100 */
    assert_true(at(ramp, "/fallbacks") == 7 && at(ramp, "/by_request/0/fallbacks") == 7);
    s->parts[0].end_ns = 5 * NS_PER_S; /* interrupted half way */
    CLEANUP(json_free) struct json *half = report_of_one(&f, &r, s);
    assert_in_range(at(half, "/concurrency"), 24, 25);
    f.executor = EXECUTOR_PER_VU_ITERATIONS;
    CLEANUP(json_free) struct json *counted = report_of_one(&f, &r, s);
    assert_true(isnan(at(counted, "/concurrency")));
    f.executor = EXECUTOR_CONSTANT_ARRIVAL_RATE;
    CLEANUP(json_free) struct json *open = report_of_one(&f, &r, s);
    assert_true(isnan(at(open, "/concurrency")) && isnan(at(open, "/think_ms")));
    second_free(s);
}

/* 999 answers of 1 ms and one of 100 ms, by one VU: corrected it saw 99, 98, ... 1 ms, too. */
static void a_stall_is_put_back(void **state)
{
    struct second *s = second_new(3, 2);

    (void)state;
    answers(s, 1, 0, 999, 1000);
    answers(s, 1, 0, 1, 100000);
    s->parts[1] = (struct phase_part){.begin_ns = 0, .end_ns = 2 * NS_PER_S};
    CLEANUP(json_free) struct json *j = report_of(s);
    assert_true(fabs(at(j, "/latency_ms/p99") - 1) < 0.01);
    assert_true(fabs(at(j, "/phases/1/latency_ms_corrected/interval_ms") - 1) < 0.01);
    assert_in_range(at(j, "/latency_ms_corrected/count"), 1098, 1100);
    answers(s, 2, 1, 500, 5000); /* of an open phase: nothing to correct, not among them */
    s->parts[2] = (struct phase_part){.begin_ns = 2 * NS_PER_S, .end_ns = 4 * NS_PER_S};
    CLEANUP(json_free) struct json *mixed = report_of(s);
    assert_in_range(at(mixed, "/latency_ms_corrected/count"), 1098, 1100);
    assert_in_range(at(j, "/latency_ms_corrected/p95"), 40, 50); /* the slowest 5 % of 1099 are 46 and more */
    s->parts[1].think_ns = 1000 * 9 * (uint64_t)NS_PER_MS;       /* 9 ms between: a tenth of that */
    CLEANUP(json_free) struct json *k = report_of(s);
    assert_in_range(at(k, "/latency_ms_corrected/count"), 1008, 1010);
    second_free(s);
}

static void a_loop_that_stood_still_is_told(void **state)
{
    struct second *s = second_new(3, 2);

    (void)state;
    answers(s, 1, 0, 999, 1000);
    s->late_ns = 700 * NS_PER_MS;
    s->parts[0] = (struct phase_part){.begin_ns = 0, .end_ns = NS_PER_S, .stalled_ns = NS_PER_S};
    s->parts[1] = (struct phase_part){.begin_ns = 0,
                                      .end_ns = 4 * NS_PER_S,
                                      .vus_late_ns = 5 * NS_PER_MS,
                                      .stalled_ns = 300 * (uint64_t)NS_PER_MS};
    CLEANUP(json_free) struct json *j = report_of(s);
    assert_true(at(j, "/pacing/stall_ms/max") == 700);
    assert_true(fabs(at(j, "/pacing/stall_ms/share") - 0.3 / 4 / 2) < 1e-9); /* not that of the warm-up */
    assert_true(at(j, "/phases/1/vus_late_ms") == 5);
    assert_int_equal(json_type_of(json_pointer(j, "/phases/2/vus_late_ms")), JSON_TYPE_NULL);
    assert_true(json_get_bool(j, "kept_up"));
    s->parts[1].stalled_ns = 500 * (uint64_t)NS_PER_MS * 2;
    CLEANUP(json_free) struct json *k = report_of(s);
    assert_has(json_get_text(k, "kept_up_reason"), "stood still for 12 % of a phase");
    phases[1].vus = 1; /* one of the two processes made all of it */
    CLEANUP(json_free) struct json *alone = report_of(s);
    phases[1].vus = 2;
    assert_has(json_get_text(alone, "kept_up_reason"), "stood still for 25 % of a phase");
    s->parts[1].end_ns = NS_PER_S / 2; /* one stall of the machine would decide */
    CLEANUP(json_free) struct json *brief = report_of(s);
    assert_true(json_get_bool(brief, "kept_up"));
    assert_int_equal(json_type_of(json_pointer(brief, "/pacing/stall_ms/share")), JSON_TYPE_NULL);
    second_free(s);
}

/* A busy process is not hidden by those that have nothing to do. */
static void the_busiest_process_counts(void **state)
{
    struct second *s = second_new(3, 2), *other = second_new(3, 2);

    (void)state;
    second_reset(s);
    answers(s, 1, 0, 10, 1000);
    s->end_ns = other->end_ns = 10 * NS_PER_S;
    s->cpu_ns = s->cpu_most_ns = 9 * NS_PER_S;
    other->cpu_ns = other->cpu_most_ns = NS_PER_S;
    second_add(s, other);
    CLEANUP(json_free) struct json *j = report_of(s);
    assert_has(json_get_text(j, "kept_up_reason"), "used 90 % of a core");
    assert_true(at(j, "/cpu_seconds") == 10);
    second_free(s);
    second_free(other);
}

/* Phases of one user each are not all made by the first process. */
static void small_phases_are_spread(void **state)
{
    struct workload_phase small[4] = {
        {.executor = EXECUTOR_CONSTANT_VUS, .vus = 1},
        {.executor = EXECUTOR_CONSTANT_VUS, .vus = 2},
        {.executor = EXECUTOR_CONSTANT_VUS, .vus = 1},
        {.executor = EXECUTOR_CONSTANT_VUS, .vus = 1},
    };
    const struct workload w = {.phases = {small, 4}};
    static const uint64_t part[4][3] = {{0, 1, 2}, {2, 0, 1}, {0, 1, 2}, {2, 0, 1}};

    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (uint64_t process = 0; process < 3; process++)
            assert_int_equal(phase_part_index(&w, i, process, 3), part[i][process]);
    assert_int_equal(phase_part_index(&w, 3, 0, 1), 0);
}

static void nothing_measured_is_null(void **state)
{
    struct second *s = second_new(3, 2);

    (void)state;
    CLEANUP(json_free) struct json *j = report_of(s);
    assert_true(at(j, "/requests") == 0);
    assert_true(isnan(at(j, "/latency_ms/p50")) && isnan(at(j, "/rps")) && isnan(at(j, "/error_rate")));
    assert_true(isnan(at(j, "/phases/0/duration_ms")));
    assert_int_equal(json_type_of(json_pointer(j, "/phases/1/latency_ms_corrected")), JSON_TYPE_NULL);
    second_free(s);
}

/* ---- the collector ---- */

struct seen {
    size_t seconds;
    double requests;
};

static void on_second(const struct generator_second *s, void *data)
{
    struct seen *seen = data;

    seen->seconds++;
    seen->requests += s->requests;
}

struct merged {
    struct histogram *response, *service;
};

static int on_interval(const struct histogram_interval *i, const struct histogram *h, void *data,
                       struct error *err)
{
    struct merged *m = data;

    (void)err;
    if (strcmp(i->tag, "GET_/a__b") == 0)
        histogram_merge(m->response, h);
    else if (strcmp(i->tag, "GET_/a__b!service") == 0)
        histogram_merge(m->service, h);
    else
        fail_msg("unexpected tag '%s'", i->tag);
    assert_true(i->length_s == 1);
    return 0;
}

/* The log's intervals give the report's figures. */
static void assert_log_merges(const char *dir, const struct tally *t)
{
    CLEANUP_FREE char *path = path_join(dir, "histogram.hlog");
    struct merged m = {histogram_new(), histogram_new()};
    struct error err = ERROR_INIT;

    assert_int_equal(histogram_log_read(path, 1, on_interval, &m, &err), 0);
    assert_int_equal(histogram_count(m.response), histogram_count(t->response));
    assert_int_equal(histogram_count(m.service), histogram_count(t->service));
    for (double q = 0; q <= 1; q += 0.01)
        assert_true(histogram_quantile_ms(m.response, q) == histogram_quantile_ms(t->response, q));
    histogram_free(m.response);
    histogram_free(m.service);
}

static void hand_in(struct collector *c, size_t process, uint64_t index, uint64_t n)
{
    struct second *s = second_new(3, 2);

    s->index = index;
    s->end_ns = (int64_t)(index + 1) * NS_PER_S;
    answers(s, 1, 0, n, 1000 * (int64_t)(index + process + 1));
    answers(s, 0, 0, 3, 70); /* warm-up: in no interval */
    second_add(collector_slot(c, index), s);
    collector_done(c, process, index);
    second_free(s);
}

static void seconds_wait_for_the_slowest(void **state)
{
    struct seen seen = {0};
    const struct generator_options o = {.out_dir = *state, .on_second = on_second, .data = &seen};
    struct collector *c;
    struct error err = ERROR_INIT;

    assert_int_equal(collector_new(&form, &o, 2, &c, &err), 0);
    assert_int_equal(collector_begin(c, NS_PER_S, &err), 0);
    hand_in(c, 0, 0, 5);
    hand_in(c, 0, 1, 7);
    assert_int_equal(seen.seconds, 0);
    hand_in(c, 1, 0, 11);
    assert_int_equal(seen.seconds, 1);
    assert_true(seen.requests == 16 + 6);
    hand_in(c, 0, 2, 1);
    collector_leave(c, 1); /* it died */
    assert_int_equal(seen.seconds, 3);
    assert_true(seen.requests == 24 + 12);
    assert_int_equal(tally_requests(collector_total(c)->cells[2]), 24);
    assert_int_equal(collector_check(c, &err), 0);
    assert_log_merges(*state, collector_total(c)->cells[2]);
    collector_free(c);
    struct strbuf text = STRBUF_INIT;
    CLEANUP_FREE char *path = path_join(*state, "series.csv");
    assert_int_equal(fs_read(path, 1 << 20, &text, &err), 0);
    assert_has(strbuf_text(&text), "\n1000,0,0,0,22,22,0,0,0,1.000,2.000,2.000,");
    strbuf_release(&text);
}

/* A process that stood still tells of 2.5 s as of one second: a row for them, none for what has none, and the
 * CPU is that of the time it covers. */
static void a_late_second_is_one_row(void **state)
{
    const struct generator_options o = {.out_dir = *state};
    struct second *s = second_new(3, 2);
    struct collector *c;
    struct error err = ERROR_INIT;

    assert_int_equal(collector_new(&form, &o, 1, &c, &err), 0);
    assert_int_equal(collector_begin(c, NS_PER_S, &err), 0);
    s->begin_ns = 0;
    s->end_ns = 2500 * NS_PER_MS;
    s->cpu_ns = 2 * NS_PER_S;
    answers(s, 1, 0, 5, 1000);
    second_add(collector_slot(c, 0), s);
    collector_done(c, 0, 0);
    s->index = 2;
    s->begin_ns = s->end_ns;
    s->end_ns = 3 * NS_PER_S;
    s->cpu_ns = NS_PER_S / 4;
    second_add(collector_slot(c, 2), s);
    collector_done(c, 0, 2);
    assert_int_equal(collector_check(c, &err), 0);
    collector_free(c);
    second_free(s);
    struct strbuf text = STRBUF_INIT;
    CLEANUP_FREE char *path = path_join(*state, "series.csv");
    assert_int_equal(fs_read(path, 1 << 20, &text, &err), 0);
    assert_has(strbuf_text(&text), "\n2500,0,0,0,5,5,");
    assert_has(strbuf_text(&text), ",0.8000\n3000,0,0,0,5,5,");
    assert_has(strbuf_text(&text), ",0.5000\n");
    strbuf_release(&text);
}

/* Names that differ only in what a tag cannot hold. */
static void tags_are_of_one_request_each(void **state)
{
    struct workload_request same[] = {{.name = "a b"},   {.name = "a,b"}, {.name = "a_b"},
                                      {.name = "a_b~2"}, {.name = "x"},   {.name = "x!service"},
                                      {.name = "a\tb"}};
    const char *const expected[] = {"a_b", "a_b~2", "a_b~3", "a_b_2", "x", "x_service", "a_b~4"};
    const struct workload w = {.requests = {same, ARRAY_LEN(same)}};
    CLEANUP(arena_free) struct arena *a = arena_new();
    const char *const *tags = series_tags(&w, a);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        assert_string_equal(tags[i], expected[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_and_warm_up_are_apart),
        cmocka_unit_test(users_and_their_pauses),
        cmocka_unit_test(a_stall_is_put_back),
        cmocka_unit_test(tags_are_of_one_request_each),
        cmocka_unit_test(a_loop_that_stood_still_is_told),
        cmocka_unit_test(the_busiest_process_counts),
        cmocka_unit_test(small_phases_are_spread),
        cmocka_unit_test(nothing_measured_is_null),
        cmocka_unit_test_setup_teardown(a_late_second_is_one_row, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(seconds_wait_for_the_slowest, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
