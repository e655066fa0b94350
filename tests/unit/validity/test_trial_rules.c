/* SPDX-License-Identifier: MIT */
/* Rules about what was measured, the host and the observer: below, at and above each threshold, and where
 * nothing is known. */
#include "trial_fixture.h"

static void the_floor(void **state)
{
    struct fixture x;
    struct floor_result *f;

    (void)state;
    begin(&x);
    f = &x.t.floor;
    x.t.load.latency_ms.p50 = 100;
    *f = (struct floor_result){.requests = 20, .p50_ms = 70, .cpu_ms_per_request = NAN};
    expect(&x, "latency-floor", "", NULL); /* nobody asked */
    x.t.has_floor = true;
    expect(&x, "latency-floor", "WARN",
           "one request at a time takes 70.0 ms, p50 under load is 100 ms: 70 %");
    f->p50_ms = 69.9;
    expect(&x, "latency-floor", "PASS", NULL);
    f->p50_ms = 100;
    f->cpu_ms_per_request = 1; /* it waits for somebody else */
    expect(&x, "latency-floor", "WARN", "(1.00 ms of them CPU time of the application)");
    f->cpu_ms_per_request = 30;
    expect(&x, "latency-floor", "WARN", "70 %");
    f->cpu_ms_per_request = 31; /* it computes */
    expect(&x, "latency-floor", "PASS", NULL);
    x.t.host.cpu_busy = 1.95; /* others work, and stretch what is its own */
    f->cpu_ms_per_request = 3.1;
    expect(&x, "latency-floor", "PASS", NULL);
    f->cpu_ms_per_request = 2.9;
    expect(&x, "latency-floor", "WARN", NULL);
    x.t.host.cpu_busy = NAN;
    f->cpu_ms_per_request = 400; /* of several processors */
    expect(&x, "latency-floor", "PASS", NULL);
    f->cpu_ms_per_request = 0;
    x.t.load.latency_ms.p50 = 0.9;
    f->p50_ms = 0.9; /* as long as asking takes */
    expect(&x, "latency-floor", "PASS", NULL);
    x.t.load.latency_ms.p50 = f->p50_ms = 1;
    expect(&x, "latency-floor", "WARN", NULL);
    const double bad[] = {NAN, INFINITY, 0, -1};
    for (size_t i = 0; i < 4; i++) {
        f->p50_ms = bad[i];
        expect(&x, "latency-floor", "", NULL);
        f->p50_ms = 1;
        x.t.load.latency_ms.p50 = bad[i];
        expect(&x, "latency-floor", "", NULL);
        x.t.load.latency_ms.p50 = 1;
    }
    end(&x);
}

static void what_was_stressed(void **state)
{
    struct fixture x;

    (void)state;
    begin(&x);
    expect(&x, "nothing-stressed", "PASS", "application 1.00 of 2 cores, generator 0.10 of 1 cores");
    x.t.app.cpu_cores.avg = 0.5; /* a quarter */
    expect(&x, "nothing-stressed", "PASS", NULL);
    x.f.app_cores = 64;
    x.t.app.cpu_cores.avg = 0.8; /* one thread that never rests */
    expect(&x, "nothing-stressed", "PASS", NULL);
    x.t.app.cpu_cores.avg = 0.79;
    expect(&x, "nothing-stressed", "WARN", "application 0.79 of 64 cores");
    x.t.host.cpu_busy = 1.91; /* others have them all */
    expect(&x, "nothing-stressed", "PASS", "the machine was full");
    x.t.host.cpu_busy = 1.9;
    expect(&x, "nothing-stressed", "WARN", NULL);
    x.f.app_cores = 2;
    x.t.app.cpu_cores.avg = 0.49;
    expect(&x, "nothing-stressed", "WARN", "nothing was stressed: application 0.49 of 2 cores");
    x.f.app_cores = 0.5; /* a quota */
    expect(&x, "nothing-stressed", "PASS", NULL);
    x.f.app_cores = 2;
    x.f.container_count = 2;
    x.database.cpu_cores.avg = 0.9;
    x.f.database_cores = 1;
    expect(&x, "nothing-stressed", "PASS", "database 0.90 of 1 cores");
    x.database.cpu_cores.avg = 0.1;
    expect(&x, "nothing-stressed", "WARN", "database 0.10 of 1 cores");
    x.database.cpu_throttled_ms = 5;
    expect(&x, "nothing-stressed", "PASS", "quota");
    x.database.cpu_throttled_ms = 0;
    x.f.pool_pending = 3;
    expect(&x, "nothing-stressed", "PASS", "waited for a database connection");
    x.f.pool_pending = 0;
    expect(&x, "nothing-stressed", "WARN", "nobody waited");
    x.t.load.cpu_ms = 60100;
    expect(&x, "nothing-stressed", "PASS", NULL);
    x.t.app.cpu_cores.avg = NAN; /* nobody knows */
    expect(&x, "nothing-stressed", "", NULL);
    x.t.app.cpu_cores.avg = 0;
    x.t.load.cpu_ms = NAN;
    expect(&x, "nothing-stressed", "WARN", NULL);
    x.t.load.requests = NAN; /* idle */
    expect(&x, "nothing-stressed", "", NULL);
    end(&x);
}

static void steadiness(void **state)
{
    struct fixture x;
    struct load_result *l;

    (void)state;
    begin(&x);
    l = &x.t.load;
    expect(&x, "steady-state", "", NULL);
    l->steady = "flat";
    expect(&x, "steady-state", "PASS", NULL);
    l->steady = "warm-up";
    l->steady_from_ms = 12000;
    expect(&x, "steady-state", "WARN", "warm-up: the throughput was steady only from 12 s on");
    l->steady = "slowdown";
    l->steady_from_ms = NAN;
    expect(&x, "steady-state", "WARN", "slowdown");
    l->steady = "no steady state";
    expect(&x, "steady-state", "WARN", "no steady state");
    end(&x);
}

static void failures_and_what_they_hide(void **state)
{
    struct fixture x;
    struct load_result *l;

    (void)state;
    begin(&x);
    l = &x.t.load;
    l->ok = 99900;
    l->failed = 100; /* a tenth of a percent */
    expect(&x, "failures-in-latency", "PASS", "100 of 100000");
    l->failed = 101;
    expect(&x, "failures-in-latency", "WARN", "0.101 % of requests failed");
    l->ok = 98000;
    l->failed = 2000;
    x.errors[0] = (struct error_count){"timeout", 1500};
    l->error_count = 1;
    expect(&x, "failures-in-latency", "WARN", "1500 by a time-out: these waited longer");
    expect(&x, "failures-in-latency", "WARN", "those above p98.5 are not known");
    l->failed = NAN;
    expect(&x, "failures-in-latency", "", NULL);
    l->failed = 5;
    l->latency_ms.p50 = NAN;
    expect(&x, "failures-in-latency", "", NULL);
    end(&x);
}

static void phases_of_one_kind(void **state)
{
    struct fixture x;

    (void)state;
    begin(&x);
    expect(&x, "phase-purity", "", NULL);
    x.f.constant_phases = 2;
    expect(&x, "phase-purity", "PASS", "constant phases only");
    x.f.ramping_phases = 1;
    expect(&x, "phase-purity", "WARN", "2 constant and 1 ramping phase are in one figure");
    x.t.load.phases = "[]";
    expect(&x, "phase-purity", "WARN", "load.phases has each");
    x.f.constant_phases = 0;
    expect(&x, "phase-purity", "PASS", "ramping");
    x.t.load.model = "mixed";
    expect(&x, "phase-purity", "WARN", "open and closed phases");
    end(&x);
}

static void fallbacks(void **state)
{
    struct fixture x;

    (void)state;
    begin(&x);
    expect(&x, "degraded-successes", "", NULL);
    x.t.load.fallbacks = 600;
    expect(&x, "degraded-successes", "PASS", "1 % of the good answers (600 of 60000) came from a fallback");
    x.t.load.fallbacks = 601;
    expect(&x, "degraded-successes", "WARN", "beside 0 % that failed");
    x.t.load.fallbacks = -1;
    expect(&x, "degraded-successes", "", NULL);
    x.t.load.fallbacks = 1;
    x.t.load.ok = 0;
    expect(&x, "degraded-successes", "", NULL);
    end(&x);
}

static void the_host(void **state)
{
    struct fixture x;
    struct host_result *h;

    (void)state;
    begin(&x);
    h = &x.t.host;
    h->cpu_busy = 1.34; /* application 1, generator 0.1 */
    expect(&x, "host-quiet", "PASS", "0.24 cores");
    h->cpu_busy = 1.36;
    expect(&x, "host-quiet", "WARN", "others than this sweep used about 0.3 cores");
    h->foreign_cpu_cores = 0.25;
    expect(&x, "host-quiet", "PASS", NULL);
    x.f.load1_before = 0.6;
    expect(&x, "host-quiet", "PASS", NULL);
    x.f.load1_allowed = 0.5;
    expect(&x, "host-quiet", "WARN", "load average was 0.60 at the start, allowed 0.50");
    h->cpu_busy = 1.9;
    expect(&x, "host-saturated", "PASS", "1.90 of 2");
    h->cpu_busy = 1.91;
    expect(&x, "host-saturated", "WARN", "all 2 processors were busy");
    h->psi_cpu_some = 20;
    expect(&x, "cpu-pressure", "PASS", NULL);
    h->psi_cpu_some = 90; /* that all are busy is said above */
    expect(&x, "cpu-pressure", "PASS", "90 % of the time some task waited for a processor, and all of them");
    h->cpu_busy = 1.9;
    h->psi_cpu_some = 20;
    expect(&x, "cpu-pressure", "PASS", NULL);
    h->psi_cpu_some = 20.1;
    expect(&x, "cpu-pressure", "WARN", "20.1 % of the time");
    h->steal_pct = 1;
    expect(&x, "steal", "PASS", NULL);
    h->steal_pct = 1.1;
    expect(&x, "steal", "WARN", "1.1 %");
    h->throttled = 0;
    expect(&x, "thermal", "PASS", NULL);
    h->throttled = 1;
    expect(&x, "thermal", "WARN", "heat 1 time during");
    h->kernel_messages = 0;
    expect(&x, "kernel-messages", "PASS", NULL);
    h->kernel_messages = 2;
    expect(&x, "kernel-messages", "WARN", "2 lines");
    x.f.local = false; /* then these are not the containers' host's */
    static const char *const ids[] = {"host-saturated", "cpu-pressure", "steal", "thermal",
                                      "kernel-messages"};
    for (size_t i = 0; i < 5; i++)
        expect(&x, ids[i], "", NULL);
    end(&x);
}

static void swapping(void **state)
{
    struct fixture x;

    (void)state;
    begin(&x);
    expect(&x, "swapped", "", NULL);
    x.t.host.swapped_pages = 0;
    expect(&x, "swapped", "PASS", NULL);
    x.t.host.swapped_pages = 12;
    expect(&x, "swapped", "WARN", "the host swapped 12 pages");
    x.t.host.swapped_pages = 0;
    x.t.app.memory_bytes.swap_peak = 4 << 20;
    expect(&x, "swapped", "WARN", "4.0 MiB of 'app' were in swap");
    end(&x);
}

/* Durations are monotonic; a step of the wall clock is said, a sleep of the machine voids what it fell in. */
static void clocks(void **state)
{
    struct fixture x;

    (void)state;
    begin(&x);
    expect(&x, "clock", "PASS", NULL);
    x.f.clock_step_s = 0.1;
    expect(&x, "clock", "PASS", NULL);
    x.f.clock_step_s = -7200;
    expect(&x, "clock", "WARN", "the wall clock was stepped by -7200.0 s");
    x.f.suspended_s = 30;
    expect(&x, "clock", "WARN", "suspended for 30.0 s during the trial, outside of the measured window");
    x.f.suspended_in_window_s = 30;
    expect(&x, "clock", "FAIL", "suspended for 30.0 s during the measured window");
    x.f.suspended_in_window_s = 0.1;
    x.f.suspended_s = 0.1;
    x.f.clock_step_s = NAN;
    expect(&x, "clock", "", NULL);
    end(&x);
}

static void metrics(void **state)
{
    struct fixture x;

    (void)state;
    begin(&x);
    expect(&x, "metric-exists", "", NULL);
    x.t.has_scrapes = true;
    x.t.scrapes = (struct scrape_result){.count = 100, .failed = 2, .mean_ms = 1, .p99_ms = 100};
    x.f.metrics_known = 20;
    expect(&x, "metric-exists", "WARN", "none of the 20 names");
    x.metrics[0] = (struct metric_value){"heap_used_bytes", 1, 1, 1, NAN, 2};
    x.t.metrics = x.metrics;
    x.t.metric_count = 1;
    expect(&x, "metric-exists", "PASS", "1 of the 20 names");
    x.metrics[0].gaps = 3;
    expect(&x, "metric-exists", "WARN", "'heap_used_bytes' had no value in 3 of 100 scrapes");
    x.t.scrapes.failed = 3;
    expect(&x, "metric-exists", "WARN", "3 of 100 scrapes failed");
    x.t.scrapes.count = 0;
    expect(&x, "metric-exists", "", NULL);
    end(&x);
}

static void the_observer(void **state)
{
    struct fixture x;

    (void)state;
    begin(&x);
    expect(&x, "observer-cost", "", NULL);
    x.t.host.benchctl_cpu_cores = 0.02;
    expect(&x, "observer-cost", "PASS", NULL); /* more than 1 %, and nobody notices */
    x.t.host.benchctl_cpu_cores = 0.021;
    expect(&x, "observer-cost", "WARN", "up to 0.021 cores, 2.1 % of the application's 1.00");
    x.t.app.cpu_cores.avg = 2.2;
    expect(&x, "observer-cost", "PASS", NULL);
    x.t.has_scrapes = true;
    x.t.scrapes = (struct scrape_result){.count = 30, .failed = 0, .mean_ms = 20, .p99_ms = 100};
    expect(&x, "observer-cost", "WARN", "up to 0.031 cores"); /* half a second in a minute */
    x.t.scrapes.p99_ms = 101;
    expect(&x, "observer-cost", "WARN", "p99 of a scrape is 101 ms");
    end(&x);
}

static void counts(void **state)
{
    struct fixture x;
    struct load_result *l;

    (void)state;
    begin(&x);
    l = &x.t.load;
    expect(&x, "counts-agree", "", NULL);
    x.metrics[0] = (struct metric_value){.name = "http_requests", .increase = 60000};
    x.t.metrics = x.metrics;
    x.t.metric_count = 1;
    expect(&x, "counts-agree", "PASS", "generator 60000, application 60000");
    x.metrics[0].increase = 59700;
    expect(&x, "counts-agree", "PASS", NULL);
    x.metrics[0].increase = 59699;
    expect(&x, "counts-agree", "WARN", "the counts differ by more than 0.5 %");
    x.metrics[0].increase = 60371; /* probes and scrapes are requests as well */
    expect(&x, "counts-agree", "WARN", NULL);
    x.t.has_scrapes = true;
    x.t.scrapes.count = 30;
    expect(&x, "counts-agree", "PASS", NULL);
    l->ok = 50000; /* of those that failed nobody knows whether they came */
    l->failed = 10000;
    x.metrics[0].increase = 50000;
    expect(&x, "counts-agree", "PASS", NULL);
    x.t.app.restarts = 1; /* a new process counts anew */
    expect(&x, "counts-agree", "", NULL);
    x.t.has_database = true;
    x.t.database.commits = 60000;
    expect(&x, "counts-agree", "", NULL);
    x.f.commits_per_request = 1;
    expect(&x, "counts-agree", "PASS", "commits 60000");
    x.t.database.commits = 49000;
    expect(&x, "counts-agree", "WARN", "commits 49000");
    end(&x);
}

/* Each rule of a trial is judged, or said by somebody else; each of a sweep is not judged here. */
static void the_table_is_whole(void **state)
{
    static const char *const said_by_others[] = {"local-ports",    "load-complete", "load-unaccounted",
                                                 "load-plausible", "host-required", "host-steady",
                                                 "cooled-down"};
    (void)state;
    for (size_t i = 0; i < validity_rule_count; i++) {
        const struct validity_rule *r = &validity_rules[i];
        bool others = false;
        for (size_t k = 0; k < ARRAY_LEN(said_by_others); k++)
            others = others || strcmp(said_by_others[k], r->id) == 0;
        if ((r->scope == VALIDITY_OF_TRIAL && !others) != (r->judge != NULL))
            fail_msg("%s", r->id);
        assert_true(r->question && r->rule && r->effect && strlen(r->rule) > 10);
        assert_ptr_equal(validity_rule_find(r->id), r);
    }
    assert_null(validity_rule_find("no-such-rule"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_floor),
        cmocka_unit_test(what_was_stressed),
        cmocka_unit_test(steadiness),
        cmocka_unit_test(failures_and_what_they_hide),
        cmocka_unit_test(phases_of_one_kind),
        cmocka_unit_test(fallbacks),
        cmocka_unit_test(the_host),
        cmocka_unit_test(swapping),
        cmocka_unit_test(clocks),
        cmocka_unit_test(metrics),
        cmocka_unit_test(the_observer),
        cmocka_unit_test(counts),
        cmocka_unit_test(the_table_is_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
