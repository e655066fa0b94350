/* SPDX-License-Identifier: MIT */
/* Rules about what a generator measured: below, at and above each threshold, and where nothing is known. */
#include "trial_fixture.h"

static void a_sound_trial_is_left_alone(void **state)
{
    struct fixture x;

    (void)state;
    begin(&x);
    judge(&x);
    for (size_t i = 0; i < x.len; i++)
        if (strcmp(x.results[i].verdict, "PASS") != 0)
            fail_msg("%s: %s %s", x.results[i].id, x.results[i].verdict, x.results[i].message);
    assert_true(x.len >= 10);
    end(&x);
}

static void nothing_known_says_nothing(void **state)
{
    struct trial t;
    struct validity_facts f;
    struct validity_result *results;
    size_t len;
    CLEANUP(arena_free) struct arena *a = arena_new();

    (void)state;
    trial_init(&t);
    validity_facts_init(&f, &t);
    validity_judge_trial(&f, a, &results, &len);
    if (len)
        fail_msg("%s: %s %s", results[0].id, results[0].verdict, results[0].message);
}

static void what_was_not_delivered(void **state)
{
    struct fixture x;
    struct load_result *l = &x.t.load;

    (void)state;
    begin(&x);
    l->model = "open";
    l->requests = l->ok = 6200; /* 1000/s for 10 s */
    l->dropped = 3800;
    expect(&x, "load-delivered", "FAIL", "6200 of 10000 requests (62 %) were made, 3800 were dropped");
    l->offered = 10000;
    expect(&x, "load-delivered", "FAIL", "6200 of 10000 requests");
    l->dropped = 0; /* begun too late, or never */
    expect(&x, "load-delivered", "FAIL", "6200 of 10000 requests (62 %)");
    l->requests = 9899;
    expect(&x, "load-delivered", "FAIL", NULL);
    l->requests = 9900;
    expect(&x, "load-delivered", "PASS", "9900 of 10000");
    l->offered = l->dropped = NAN;
    expect(&x, "load-delivered", "", NULL);
    l->offered = INFINITY;
    expect(&x, "load-delivered", "", NULL);
    l->offered = 0;
    expect(&x, "load-delivered", "", NULL);
    end(&x);
}

/* 10 users who get 1000 answers a second of 9.5 ms are busy for 95 % of the time. */
static void users_who_are_nowhere(void **state)
{
    struct fixture x;
    struct load_result *l = &x.t.load;

    (void)state;
    begin(&x);
    expect(&x, "littles-law", "PASS", "1000 requests/s x 9.99 ms keep 9.99 of 10.0 users busy");
    l->latency_ms.mean = 9.6;
    expect(&x, "littles-law", "PASS", NULL);
    l->latency_ms.mean = 9.49; /* half a millisecond of each request is missing */
    expect(&x, "littles-law", "FAIL", "a delay of 0.510 ms hides in each request");
    l->think_ms = 0.4;
    expect(&x, "littles-law", "PASS", NULL);
    l->think_ms = 90;
    expect(&x, "littles-law", "WARN", "more than there are");
    l->think_ms = NAN;
    l->latency_ms.mean = 9.75;
    l->requests = l->ok = 54000; /* 900 a second: 11.1 ms from one to the next */
    expect(&x, "littles-law", "FAIL", "a delay of 1.36 ms");
    end(&x);
}

/* Each of the users of a published table was busy for 0.95 % of the time. */
static void the_hidden_sleep(void **state)
{
    struct fixture x;
    struct load_result *l = &x.t.load;

    (void)state;
    begin(&x);
    l->concurrency = 100;
    l->requests = l->ok = 67672;
    l->duration_ms = 229000;
    l->latency_ms.mean = 3.2001;
    expect(&x, "littles-law", "FAIL", "a delay of 335 ms hides in each request");
    end(&x);
}

static void a_generators_own_work_is_no_delay(void **state)
{
    struct fixture x;
    struct load_result *l = &x.t.load;

    (void)state;
    begin(&x);
    l->concurrency = 1;
    l->requests = l->ok = 600000; /* one every 0.1 ms, each 0.05 ms long */
    l->latency_ms.mean = 0.05;
    expect(&x, "littles-law", "WARN", "0.050 ms of each request, is the generator's own work");
    l->requests = l->ok = 60000;
    l->latency_ms.mean = 0.75;
    expect(&x, "littles-law", "WARN", "0.250 ms");
    l->latency_ms.mean = 0.74;
    expect(&x, "littles-law", "FAIL", "0.260 ms");
    end(&x);
}

static void littles_law_needs_its_premises(void **state)
{
    struct fixture x;
    struct load_result *l = &x.t.load;

    (void)state;
    begin(&x);
    l->latency_ms.mean = 2.5;
    expect(&x, "littles-law", "FAIL", NULL);
    double ok = l->ok, window_ms = l->window_ms;
    l->window_ms *= 30 / ok; /* as many per second */
    l->duration_ms *= 30 / ok;
    l->ok = 30;
    expect(&x, "littles-law", "FAIL", NULL);
    l->ok = 29;
    expect(&x, "littles-law", "", NULL);
    l->ok = ok;
    l->duration_ms *= ok / 30;
    l->window_ms = window_ms;
    l->model = "open";
    expect(&x, "littles-law", "", NULL);
    l->model = NULL;
    expect(&x, "littles-law", "", NULL);
    l->model = "closed";
    l->corrected = "yes";
    expect(&x, "littles-law", "", NULL);
    l->corrected = NULL;
    x.t.app.unresponsive_ms = 3000; /* its users waited for answers that never came */
    expect(&x, "littles-law", "", NULL);
    x.t.app.unresponsive_ms = NAN;
    x.t.app.restarts = 1;
    expect(&x, "littles-law", "", NULL);
    x.t.app.restarts = 0;
    l->failed = 10; /* no kind: perhaps time-outs of 10 s each */
    l->ok -= 10;
    expect(&x, "littles-law", "", NULL);
    x.errors[0] = (struct error_count){"status_5xx", 6};
    x.errors[1] = (struct error_count){"mismatch", 4};
    l->error_count = 2;
    expect(&x, "littles-law", "FAIL", NULL);
    x.errors[1].kind = "timeout";
    expect(&x, "littles-law", "", NULL);
    l->error_count = 0;
    l->failed = 0;
    l->latency_ms.mean = 2; /* printed in whole milliseconds: may be 2.5, and is not 10 */
    expect(&x, "littles-law", "FAIL", NULL);
    l->latency_ms.mean = 10; /* printed in tens: may be 20 */
    l->ok = 30000;
    expect(&x, "littles-law", "PASS", "as far as a mean in steps of 10 ms can tell");
    const double bad[] = {NAN, INFINITY, -INFINITY, 0, -1};
    for (size_t i = 0; i < 5; i++) {
        l->concurrency = bad[i];
        expect(&x, "littles-law", "", NULL);
    }
    end(&x);
}

static void how_late_it_sent(void **state)
{
    struct fixture x;
    struct load_result *l = &x.t.load;

    (void)state;
    begin(&x);
    l->model = "open";
    expect(&x, "generator-kept-up", "", NULL);
    l->lag_p99_ms = 1;
    expect(&x, "generator-kept-up", "PASS", "1.00 ms");
    l->lag_p99_ms = 1.01;
    expect(&x, "generator-kept-up", "WARN", "sent 1.01 ms late or later, at a median latency of 9.50 ms");
    l->latency_ms.p50 = 20.2;
    expect(&x, "generator-kept-up", "PASS", NULL);
    l->lag_p99_ms = 1.02;
    expect(&x, "generator-kept-up", "WARN", NULL);
    l->lag_p99_ms = -1;
    expect(&x, "generator-kept-up", "", NULL);
    l->lag_p99_ms = INFINITY;
    expect(&x, "generator-kept-up", "", NULL);
    end(&x);
}

/* What the generator says itself takes the rule's place, and nothing is said twice. */
static void what_was_said_already(void **state)
{
    const struct validity_said said[] = {
        {"odd-thing", "FAIL", "odd"},
        {"generator-kept-up", "FAIL", "the generator did not keep up: no CPU"},
        {"load-complete", "FAIL", "it was not made to its end"},
        {"odd-thing", "WARN", "odder"},
    };
    struct fixture x;
    size_t kept_up = 0;

    (void)state;
    begin(&x);
    x.t.load.lag_p99_ms = 0.1;
    x.f.said = said;
    x.f.said_count = 4;
    expect(&x, "generator-kept-up", "FAIL", "no CPU");
    expect(&x, "load-complete", "FAIL", "not made");
    for (size_t i = 0; i < x.len; i++)
        kept_up += strcmp(x.results[i].id, "generator-kept-up") == 0;
    assert_int_equal(kept_up, 1);
    assert_string_equal(x.results[x.len - 2].message, "odd"); /* of no rule: last, and without a number */
    assert_string_equal(x.results[x.len - 1].message, "odder");
    assert_null(x.results[x.len - 1].check);
    end(&x);
}

static void limits_of_the_generator(void **state)
{
    struct fixture x;
    struct load_result *l = &x.t.load;

    (void)state;
    begin(&x);
    expect(&x, "load-generator-limit", "", NULL);
    x.errors[0] = (struct error_count){"timeout", 5000};
    x.errors[1] = (struct error_count){"generator", 600};
    l->error_count = 2;
    expect(&x, "load-generator-limit", "WARN", "600 requests failed at limits");
    x.errors[1].count = 601;
    expect(&x, "load-generator-limit", "FAIL", "601 requests");
    x.errors[1].count = 0;
    expect(&x, "load-generator-limit", "PASS", NULL);
    x.errors[1].count = NAN;
    expect(&x, "load-generator-limit", "", NULL);
    end(&x);
}

static void a_busy_generator(void **state)
{
    struct fixture x;
    struct load_result *l = &x.t.load;

    (void)state;
    begin(&x);
    l->window_ms = 10000;
    l->cpu_ms = 8000;
    expect(&x, "generator-busy", "PASS", "0.80 of the 1 core it");
    l->cpu_ms = 8100;
    expect(&x, "generator-busy", "WARN", "used 0.81 of the 1 core it could");
    x.f.generator_cores = 2;
    expect(&x, "generator-busy", "PASS", "2 cores");
    l->cpu_ms = NAN;
    expect(&x, "generator-busy", "", NULL);
    l->cpu_ms = 8000;
    l->window_ms = 0;
    expect(&x, "generator-busy", "", NULL);
    l->window_ms = 10000;
    x.f.generator_cores = 0;
    expect(&x, "generator-busy", "", NULL);
    end(&x);
}

static void a_percentile_of_a_few(void **state)
{
    struct fixture x;
    struct load_result *l = &x.t.load;

    (void)state;
    begin(&x);
    l->requests = l->ok = 9999;
    expect(&x, "percentile-support", "WARN", "only 99 of 9999 requests lie beyond p99");
    l->ok = 10000;
    expect(&x, "percentile-support", "PASS", "100 of 10000 requests lie beyond p99");
    l->latency_ms.p999 = 30;
    expect(&x, "percentile-support", "PASS", "too few beyond p99.9");
    l->ok = NAN;
    expect(&x, "percentile-support", "", NULL);
    l->ok = 100;
    l->latency_ms.p99 = NAN;
    expect(&x, "percentile-support", "", NULL);
    end(&x);
}

static void requests_that_were_kept_back(void **state)
{
    struct fixture x;
    struct load_result *l = &x.t.load;

    (void)state;
    begin(&x);
    expect(&x, "coordinated-omission", "", NULL);
    l->corrected_p99_ms = 1500;
    expect(&x, "coordinated-omission", "WARN", "p99 is 20.0 ms as measured, about 1500 ms");
    l->corrected_p99_ms = 30;
    expect(&x, "coordinated-omission", "PASS", "30.0 ms");
    l->corrected_p99_ms = 30.1;
    expect(&x, "coordinated-omission", "WARN", NULL);
    l->corrected = "yes";
    expect(&x, "coordinated-omission", "", NULL);
    l->corrected = "no";
    l->model = "open";
    expect(&x, "coordinated-omission", "", NULL);
    l->model = "closed";
    l->latency_ms.p99 = 0;
    expect(&x, "coordinated-omission", "", NULL);
    end(&x);
}

/* Whatever stands in a record that somebody wrote: verdicts, and no crash. */
static void any_numbers(void **state)
{
    static const double values[] = {NAN, INFINITY, -INFINITY, 0, -1, 1e308, 5e-324};
    struct fixture x;

    (void)state;
    begin(&x);
    double *fields[] = {
        &x.t.load.requests,
        &x.t.load.ok,
        &x.t.load.failed,
        &x.t.load.offered,
        &x.t.load.dropped,
        &x.t.load.window_ms,
        &x.t.load.duration_ms,
        &x.t.load.cpu_ms,
        &x.t.load.concurrency,
        &x.t.load.think_ms,
        &x.t.load.latency_ms.mean,
        &x.t.load.latency_ms.p50,
        &x.t.load.latency_ms.p99,
        &x.t.load.corrected_p99_ms,
        &x.t.load.lag_p99_ms,
        &x.t.load.fallbacks,
        &x.t.load.steady_from_ms,
        &x.t.app.restarts,
        &x.t.app.uptime_pct,
        &x.t.app.down_ms,
        &x.t.app.cpu_cores.avg,
        &x.t.app.cpu_throttled_ms,
        &x.t.app.effective.memory_bytes,
        &x.t.app.effective.cpus,
        &x.t.app.effective.pids,
        &x.t.app.effective.kernel.memory_bytes,
        &x.t.app.pids_peak,
        &x.t.app.jvm.heap_max_bytes,
        &x.t.host.cpu_busy,
        &x.t.host.psi_cpu_some,
        &x.t.host.steal_pct,
        &x.t.host.throttled,
        &x.t.host.swapped_pages,
        &x.t.host.kernel_messages,
        &x.t.host.foreign_cpu_cores,
        &x.t.host.benchctl_cpu_cores,
        &x.t.floor.p50_ms,
        &x.t.floor.cpu_ms_per_request,
        &x.t.scrapes.count,
        &x.t.scrapes.failed,
        &x.t.scrapes.p99_ms,
        &x.t.scrapes.mean_ms,
        &x.f.app_cores,
        &x.f.generator_cores,
        &x.f.host_cores,
        &x.f.clock_step_s,
        &x.f.suspended_s,
        &x.f.load1_before,
        &x.f.load1_allowed,
        &x.f.metrics_known,
        &x.f.commits_per_request,
        &x.t.database.commits,
    };
    x.t.has_floor = x.t.has_scrapes = x.t.has_database = x.t.app.has_jvm = true;
    x.t.load.steady = "warm-up";
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        double kept = *fields[i];
        for (size_t v = 0; v < sizeof(values) / sizeof(*values); v++) {
            *fields[i] = values[v];
            judge(&x);
            for (size_t k = 0; k < x.len; k++)
                if (strstr(x.results[k].message, "nan"))
                    fail_msg("field %zu, value %zu: %s: %s", i, v, x.results[k].id, x.results[k].message);
        }
        *fields[i] = kept;
    }
    end(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_trial_is_left_alone),
        cmocka_unit_test(nothing_known_says_nothing),
        cmocka_unit_test(what_was_not_delivered),
        cmocka_unit_test(users_who_are_nowhere),
        cmocka_unit_test(the_hidden_sleep),
        cmocka_unit_test(a_generators_own_work_is_no_delay),
        cmocka_unit_test(littles_law_needs_its_premises),
        cmocka_unit_test(how_late_it_sent),
        cmocka_unit_test(what_was_said_already),
        cmocka_unit_test(limits_of_the_generator),
        cmocka_unit_test(a_busy_generator),
        cmocka_unit_test(a_percentile_of_a_few),
        cmocka_unit_test(requests_that_were_kept_back),
        cmocka_unit_test(any_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
