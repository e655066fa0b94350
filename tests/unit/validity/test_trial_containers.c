/* SPDX-License-Identifier: MIT */
/* Rules about containers: were they there, under the limits that were asked for? */
#include "trial_fixture.h"

static void times_when_it_was_not_there(void **state)
{
    struct fixture x;
    struct container_result *a;

    (void)state;
    begin(&x);
    a = &x.t.app;
    expect(&x, "crash-contamination", "PASS", "100 %");
    a->restarts = 2;
    a->oom_kills = 1;
    a->down_ms = 6010;
    expect(&x, "crash-contamination", "WARN",
           "available for 90 % of the window, 2 restarts, 1 OOM kill, 6.0 s down");
    a->restarts = a->oom_kills = a->down_ms = 0;
    a->unresponsive_ms = 6010;
    expect(&x, "crash-contamination", "WARN", "available for 90 % of the window, 6.0 s without an answer");
    a->unresponsive_ms = a->down_ms = NAN; /* nobody looked */
    a->uptime_pct = 97.5;
    expect(&x, "crash-contamination", "PASS", "97.5 %");
    a->uptime_pct = NAN;
    expect(&x, "crash-contamination", "", NULL);
    a->uptime_pct = 100;
    x.t.has_load = false;
    expect(&x, "crash-contamination", "", NULL);
    end(&x);
}

static void limits(void **state)
{
    struct fixture x;
    struct effective *e;

    (void)state;
    begin(&x);
    e = &x.t.app.effective;
    expect(&x, "limits-real", "PASS", NULL);
    e->memory_bytes = 128 << 20;
    expect(&x, "limits-real", "FAIL", "'app' was to have 256m of memory, the engine applied 128 MiB");
    e->memory_bytes = INFINITY;
    expect(&x, "limits-real", "FAIL", "the engine applied no limit");
    e->memory_bytes = 256 << 20;
    e->kernel.memory_bytes = (256 << 20) + 4096; /* whole pages */
    expect(&x, "limits-real", "PASS", NULL);
    e->kernel.memory_bytes = 512 << 20;
    expect(&x, "limits-real", "FAIL", "the engine says 256 MiB of memory, the kernel applies 512 MiB");
    e->kernel.memory_bytes = NAN;
    x.containers[0].asked.cpus = 1.5;
    expect(&x, "limits-real", "FAIL", "'app' was to have 1.5 CPUs, the engine applied no limit");
    e->cpus = 1.5;
    expect(&x, "limits-real", "PASS", NULL);
    e->kernel.cpus = 2;
    expect(&x, "limits-real", "FAIL", "the kernel applied 2");
    e->kernel.cpus = 1.501;
    expect(&x, "limits-real", "PASS", NULL);
    x.containers[0].asked.pids = 100;
    e->pids = 100;
    e->kernel.pids = INFINITY;
    expect(&x, "limits-real", "FAIL", "at most 100 processes, the kernel applied no limit");
    e->kernel.pids = 100;
    x.containers[0].asked.cpuset = "0,1";
    e->cpuset = "0-1";
    expect(&x, "limits-real", "PASS", NULL); /* the same, written otherwise */
    e->kernel.cpuset = "0-3";
    expect(&x, "limits-real", "FAIL", "'app' was to run on the processors 0,1, the kernel applied 0-3");
    e->kernel.cpuset = "nonsense,9999999999";
    expect(&x, "limits-real", "PASS", NULL);
    end(&x);
}

static void swap_warnings_and_heaps(void **state)
{
    struct fixture x;
    struct container_result *a;

    (void)state;
    begin(&x);
    a = &x.t.app;
    a->effective.swap_bytes = 1 << 20;
    expect(&x, "limits-real", "WARN", "'app': swap is not off");
    x.containers[0].asked.swap_bytes = 1 << 20; /* it was asked for */
    expect(&x, "limits-real", "PASS", NULL);
    a->effective.warnings = "no swap limit support";
    expect(&x, "limits-real", "WARN", "the engine warned: no swap limit support");
    a->effective.warnings = NULL;
    a->has_jvm = true;
    a->jvm.heap_max_bytes = 300 << 20;
    expect(&x, "limits-real", "WARN", "heap may grow to 300 MiB, beyond the memory limit of 256 MiB");
    a->jvm.heap_max_bytes = 128 << 20;
    a->pids_peak = 128;
    expect(&x, "limits-real", "PASS", NULL);
    a->pids_peak = 155;
    expect(&x, "limits-real", "WARN", "stacks of 155 threads (up to 1 MiB each) are more than");
    a->effective.memory_bytes = x.containers[0].asked.memory_bytes = INFINITY;
    expect(&x, "limits-real", "PASS", NULL);
    x.containers[0].restarts_uncertain = true;
    a->restarts = 3;
    expect(&x, "restarts-agree", "WARN", "the larger number (3) is shown");
    x.containers[0].address_changed = true;
    expect(&x, "address-kept", "FAIL", "'app' came back with another address");
    x.f.container_count = 0;
    expect(&x, "limits-real", "", NULL);
    expect(&x, "restarts-agree", "", NULL);
    expect(&x, "address-kept", "", NULL);
    end(&x);
}

static void held_back_by_a_quota(void **state)
{
    struct fixture x;
    struct container_result *a;

    (void)state;
    begin(&x);
    a = &x.t.app;
    a->cpu_throttled_ms = 601;
    expect(&x, "throttled", "", NULL); /* without a quota that is nothing */
    a->effective.cpus = 1;
    expect(&x, "throttled", "PASS", NULL);
    a->cpu_throttled_ms = 602;
    expect(&x, "throttled", "WARN", "'app' was held back by its quota of 1 CPUs: 1 % of the window");
    a->cpu_periods = 600;
    a->cpu_throttled_periods = 30;
    expect(&x, "throttled", "WARN", "in 30 of 600 periods");
    a->cpu_throttled_ms = NAN;
    expect(&x, "throttled", "", NULL);
    end(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_when_it_was_not_there),
        cmocka_unit_test(limits),
        cmocka_unit_test(swap_warnings_and_heaps),
        cmocka_unit_test(held_back_by_a_quota),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
