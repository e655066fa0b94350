/* SPDX-License-Identifier: MIT */
/* What limited a scenario, in one word. */
#include "sweep_fixture.h"

static const struct found idle = {.rps = 100, .p50_ms = 10, .cpu_ms = 0.5, .users = 1, .floor_ms = 9};

static struct container_result *add_service(struct sweep_fixture *s, struct trial *t, const char *role,
                                            double cores)
{
    struct container_result *all = arena_array(s->arena, struct container_result, t->service_count + 1);

    if (t->service_count)
        memcpy(all, t->services, t->service_count * sizeof(*all));
    container_result_init(&all[t->service_count], role);
    all[t->service_count].cpu_cores.avg = cores;
    all[t->service_count].effective.cpus = INFINITY;
    t->services = all;
    return &all[t->service_count++];
}

static void add_metric(struct sweep_fixture *s, struct trial *t, const char *name, double avg, double max,
                       double increase)
{
    struct metric_value *all = arena_array(s->arena, struct metric_value, t->metric_count + 1);

    if (t->metric_count)
        memcpy(all, t->metrics, t->metric_count * sizeof(*all));
    all[t->metric_count++] =
        (struct metric_value){.name = name, .avg = avg, .max = max, .last = NAN, .increase = increase};
    t->metrics = all;
}

static void limited_by(struct sweep_fixture *s, enum validity_limit_kind kind, const char *evidence)
{
    const struct validity_limit *l = &judge(s)->limits[s->arm_count - 1];

    if (l->kind != kind)
        fail_msg("%s (%s) instead of %s", validity_limit_name(l->kind), l->evidence ? l->evidence : "-",
                 validity_limit_name(kind));
    if (evidence && !strstr(l->evidence, evidence))
        fail_msg("'%s' does not tell '%s'", l->evidence, evidence);
}

static void one_word_for_each_resource(void **state)
{
    struct sweep_fixture *s = *state;
    struct trial *t = add_trial(s, "idle", &idle);

    limited_by(s, LIMITED_BY_NOTHING, "it used 2.5 % of the CPU that it could");
    t = add_trial(s, "cpu", &(struct found){.rps = 1000, .p50_ms = 8, .cpu_ms = 1.8, .users = 8});
    limited_by(s, LIMITED_APP_CPU, "it used 90 % of the CPU that it could");
    t = add_trial(s, "quota", &idle);
    t->app.effective.cpus = 0.25;
    t->app.cpu_periods = 100;
    t->app.cpu_throttled_periods = 40;
    limited_by(s, LIMITED_THROTTLED, "in 40 % of the periods");
    t = add_trial(s, "killed", &idle);
    t->app.oom_kills = 3;
    limited_by(s, LIMITED_MEMORY, "killed for want of memory 3 times in 1 of 1 trial");
    t = add_trial(s, "collector", &idle);
    add_metric(s, t, "gc_pause_total_ms", NAN, NAN, 2500);
    limited_by(s, LIMITED_MEMORY, "the collector stopped it for 25 % of the load");
    t = add_trial(s, "database", &idle);
    add_service(s, t, "database", 1.6);
    limited_by(s, LIMITED_DATABASE, "the database used 80 % of the CPU that it could");
    t = add_trial(s, "pool", &idle);
    add_metric(s, t, "pool_pending_max", 20, 62, NAN);
    add_metric(s, t, "pool_max", 16, 16, NAN);
    limited_by(s, LIMITED_DATABASE,
               "on average 20 requests waited for a connection of the pool of 16, at most 62");
    t = add_trial(s, "crowd of a moment", &idle);
    add_metric(s, t, "pool_pending_max", 0.2, 62, NAN);
    limited_by(s, LIMITED_BY_NOTHING, NULL);
    t = add_trial(s, "upstream", &idle);
    add_service(s, t, "mock", 0.1);
    limited_by(s, LIMITED_UPSTREAM, "a lone request took 9 ms of a p50 of 10 ms");
    t = add_trial(s, "generator", &idle);
    t->load.cpu_ms = 18000;
    limited_by(s, LIMITED_GENERATOR, "the load generator used 90 % of the CPU that it could");
}

/* A kill outweighs whatever else was near a limit: it is what the trial ended of. */
static void the_first_in_order_is_said(void **state)
{
    struct sweep_fixture *s = *state;
    struct trial *t =
        add_trial(s, "all", &(struct found){.rps = 1000, .p50_ms = 8, .cpu_ms = 1.8, .users = 8});

    t->load.cpu_ms = 18000;
    limited_by(s, LIMITED_GENERATOR, NULL);
    t->app.oom_kills = 1;
    limited_by(s, LIMITED_MEMORY, "1 time in 1 of 1 trial");
}

static void a_full_machine_is_cpu_of_whom_uses_it(void **state)
{
    struct sweep_fixture *s = *state;
    struct trial *t =
        add_trial(s, "shared", &(struct found){.rps = 1000, .p50_ms = 8, .cpu_ms = 0.9, .users = 8});

    t->host.cpu_busy = 1.95;
    limited_by(s, LIMITED_APP_CPU, "the machine was full");
    add_service(s, t, "database", 1.0); /* which uses more of it */
    limited_by(s, LIMITED_BY_NOTHING, NULL);
}

/* Of two cores it could use both, and has one thread. */
static void one_thread_is_a_limit(void **state)
{
    struct sweep_fixture *s = *state;

    (void)add_trial(s, "one",
                    &(struct found){.rps = 1000, .p50_ms = 8, .cpu_ms = 1, .users = 8, .floor_ms = 1.2});
    limited_by(s, LIMITED_APP_CPU, "about what one thread can");
}

static void nothing_measured_is_not_known(void **state)
{
    struct sweep_fixture *s = *state;
    struct trial *t = add_trial(s, "none", &idle);

    t->app.cpu_cores.avg = t->app.cpu_cores.total_ms = NAN;
    limited_by(s, LIMITED_UNKNOWN, NULL);
    t->outcome = OUTCOME_ERROR;
    limited_by(s, LIMITED_UNKNOWN, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_word_for_each_resource, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(the_first_in_order_is_said, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_full_machine_is_cpu_of_whom_uses_it, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(one_thread_is_a_limit, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(nothing_measured_is_not_known, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
