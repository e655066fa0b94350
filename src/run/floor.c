/* SPDX-License-Identifier: MIT */
/*
 * The latency floor: what one request takes when there is no other, once the load is over. Where it is most
 * of the latency under load, that latency was there before the load and is not the application's doing,
 * unless the application's own processor time says so.
 */
#include "ask.h"

#include "benchctl/base/clock.h"
#include "benchctl/stats.h"

#define REQUESTS_MIN 3 /* fewer have no median that one of them does not decide */
#define REQUESTS_MAX 50
#define KINDS_MAX 16

/* CPU time of the app's container so far; NAN: not to be known from here. */
static double app_cpu_ms(struct trial_run *t)
{
    CLEANUP(cgroup_close) struct cgroup_reader *c = NULL;
    const struct cgroup_roots here = {0};
    struct resource_sample sample;
    struct error ignored = ERROR_INIT;

    if (!engine_facts(t->sweep->engine)->local || t->app->pid <= 0 ||
        cgroup_open(&here, t->app->pid, &c, &ignored) < 0 || cgroup_read(c, &sample, &ignored) < 0)
        return NAN;
    return sample.cpu_ns / (double)NS_PER_MS;
}

static bool is_worth_asking(const struct trial_run *t)
{
    return t->settings->sample.floor_ns > 0 && t->record.has_load && t->app && !t->app->ledger.terminal &&
           !t->app_ended && !t->app_silent && t->record.load.latency_ms.p50 > 0;
}

bool floor_wanted(struct trial_run *t)
{
    struct load_get get;

    return is_worth_asking(t) && !database_counters_wanted(t->settings) && load_gets(t, &get, 1) > 0;
}

/* Until the time is up, but at least REQUESTS_MIN in twice that. */
static bool goes_on(const struct trial_run *t, size_t done, int64_t begin_ns)
{
    int64_t for_ns = t->settings->sample.floor_ns, took_ns = clock_now_ns() - begin_ns;

    return done < REQUESTS_MAX && took_ns < (done < REQUESTS_MIN ? 2 * for_ns : for_ns);
}

int step_floor(struct trial_run *t, struct error *err)
{
    struct load_get gets[KINDS_MAX];
    double took_ms[REQUESTS_MAX];
    size_t kinds = load_gets(t, gets, KINDS_MAX), done = 0;
    double before_ms = app_cpu_ms(t);
    int64_t begin_ns = clock_now_ns();

    for (uint64_t number = 0; goes_on(t, done, begin_ns); number++) {
        CLEANUP_VALUE(asked_release) struct asked asked;
        if (ask(t, &gets[number % kinds], number, &asked, err) < 0)
            return -1;
        if (!asked.ok)
            break;  /* an application that does not answer now has no floor */
        if (number) /* the first one made the connection */
            took_ms[done++] = (double)asked.took_ns / (double)NS_PER_MS;
    }
    double cpu_ms = (app_cpu_ms(t) - before_ms) / (double)(done + 1);
    if (done < REQUESTS_MIN)
        return 0;
    t->record.has_floor = true;
    t->record.floor = (struct floor_result){
        .requests = (double)done,
        .p50_ms = stats_quantile(took_ms, done, 0.5),
        .cpu_ms_per_request = cpu_ms >= 0 ? cpu_ms : NAN,
    };
    return 0;
}
