/* SPDX-License-Identifier: MIT */
/* The memory curve: which axis it is, where the cliff is, what a search leaves; limits as applied, and JVMs.
 */
#include "make_sweep.h"

#include "memory_curve.h"

static const char *const axes[] = {"framework", "memory", NULL};

#define MIB 1048576.0

static struct trial *ran(struct maker *m, const char *scenario, enum outcome outcome, double limit_mib)
{
    struct trial *t = add(m, scenario, outcome, 100);

    t->app.memory_bytes.limit = limit_mib * MIB;
    t->app.memory_bytes.used_peak = 40 * MIB;
    return t;
}

/* The part of a report that tells of minimum viable memory. */
static char *viable(struct maker *m)
{
    CLEANUP_FREE char *text = rendered(m, &(struct report_options){0}, REPORT_TABLE);
    const char *begin = strstr(text, "\nMinimum viable memory\n"),
               *end = begin ? strstr(begin + 1, "\n\n") : NULL;

    return begin && end ? xstrndup(begin + 1, (size_t)(end - begin)) : NULL;
}

static void cliffs(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    ran(&m, "cliff/128m", OUTCOME_CRASHED, 128);
    ran(&m, "cliff/1g", OUTCOME_OK, 1024);
    ran(&m, "cliff/144m", OUTCOME_OK, 144);
    ran(&m, "cliff/144m", OUTCOME_OK, 144);
    ran(&m, "cliff/64m", OUTCOME_NOT_READY, 64);
    ran(&m, "down/64m", OUTCOME_OK, 64);
    ran(&m, "down/128m", OUTCOME_OK, 128);
    ran(&m, "none/128m", OUTCOME_OK, 128);
    ran(&m, "none/128m", OUTCOME_DEGRADED, 128);
    ran(&m, "none/64m", OUTCOME_DEGRADED, 64);
    CLEANUP_FREE char *text = viable(&m);
    assert_non_null(text);
    assert_has(line_of(text, "cliff"), "144m  between 128m and 144m");
    assert_has(line_of(text, "cliff"), "4, 64m to 1g");
    assert_has(line_of(text, "down"), "64m  everything ok down to 64m");
    assert_has(line_of(text, "none"), "none  none up to 128m");
    assert_null(strstr(text, "monotone"));
}

static void died(struct maker *m, struct trial *t, const char *cause)
{
    t->app.exits = arena_array(m->sweep.arena, struct container_exit, 1);
    t->app.exits[t->app.exit_count++] = (struct container_exit){.code = 1, .cause = cause};
}

static void found(struct maker *m, struct trial *t, const char *id, const char *role)
{
    t->findings = arena_array(m->sweep.arena, struct finding, 1);
    t->findings[t->finding_count++] = (struct finding){.id = id, .role = role, .at_ms = NAN, .count = 1};
}

/* Only what memory explains is a cliff of memory. */
static void why_it_failed(void **state)
{
    static const struct {
        const char *name, *cause, *finding, *role;
        double kills;
        enum outcome outcome;
        const char *why;
    } cases[] = {
        {"kills", NULL, NULL, NULL, 2, OUTCOME_DEGRADED, "memory: oom kills"},
        {"oom", "oom", "connection-limit", "database", 0, OUTCOME_CRASHED, "memory: oom"},
        {"heap", "java heap exhausted", NULL, NULL, 0, OUTCOME_CRASHED, "memory: java heap exhausted"},
        {"node", "crashed (SIGABRT)", "node-heap", "app", 0, OUTCOME_CRASHED, "memory: node-heap"},
        {"python", NULL, "python-memory", "app", 0, OUTCOME_DEGRADED, "memory: python-memory"},
        {"never", NULL, NULL, NULL, 0, OUTCOME_NOT_READY, "memory: never ready with this much, ok with more"},
        {"slots", "exit 1", "connection-limit", "database", 0, OUTCOME_CRASHED,
         "not memory: connection-limit"},
        {"abort", "crashed (SIGABRT)", NULL, NULL, 0, OUTCOME_CRASHED, "not memory: crashed (SIGABRT)"},
        {"exit", "exit 3", "python-memory", "mock", 0, OUTCOME_NOT_READY, "not memory: exit 3"},
        {"slow", NULL, NULL, NULL, 0, OUTCOME_DEGRADED, "no sign of memory: as it went"},
        {"ours", "stopped by benchctl", NULL, NULL, 0, OUTCOME_DEGRADED, "no sign of memory: as it went"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLEANUP_VALUE(maker_release) struct maker m;
        maker_begin(&m, axes, NULL, NULL);
        struct trial *t = ran(&m, "a/64m", cases[i].outcome, 64);
        t->app.oom_kills = cases[i].kills;
        if (cases[i].cause)
            died(&m, t, cases[i].cause);
        if (cases[i].finding)
            found(&m, t, cases[i].finding, cases[i].role);
        ran(&m, "a/128m", OUTCOME_OK, 128);
        CLEANUP_FREE char *text = viable(&m);
        assert_has(text, cases[i].why);
        assert_int_equal(occurrences(text, "is one of memory only where"),
                         strncmp(cases[i].why, "memory", 6) != 0);
        CLEANUP_FREE char *json = rendered(&m, &(struct report_options){0}, REPORT_JSON);
        CLEANUP_FREE char *cause = xasprintf("\"cause\": \"%s\"", cases[i].why);
        assert_int_equal(occurrences(json, cause), 2); /* of the curve, and of its point */
        CLEANUP_FREE char *html = rendered(&m, &(struct report_options){0}, REPORT_HTML);
        assert_has(html, cases[i].why);
        assert_has(html, strncmp(cases[i].why, "memory", 6) == 0 ? ">cliff: 64m" : ">not of memory: 64m");
    }
}

/* Without a limit that is enough, not being ready tells nothing of memory. */
static void never_ready_at_all(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    ran(&m, "a/64m", OUTCOME_NOT_READY, 64);
    ran(&m, "a/128m", OUTCOME_NOT_READY, 128);
    CLEANUP_FREE char *text = viable(&m);
    assert_has(text, "no sign of memory: as it went");
}

static void not_monotone(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    ran(&m, "a/64m", OUTCOME_OK, 64);
    ran(&m, "a/96m", OUTCOME_OK, 96);
    ran(&m, "a/128m", OUTCOME_DEGRADED, 128);
    ran(&m, "a/256m", OUTCOME_OK, 256);
    CLEANUP_FREE char *text = viable(&m);
    assert_has(line_of(text, "a "), "256m  between 128m and 256m");
    assert_has(text, "\nnot monotone: 96m was ok, but 128m, which is more, was not\n");
}

/* The environment's failures say nothing about the application: neither that it is enough nor that it is not.
 */
static void what_the_environment_spoilt(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    ran(&m, "a/64m", OUTCOME_DEGRADED, 64);
    ran(&m, "a/96m", OUTCOME_ERROR, 96);
    ran(&m, "a/128m", OUTCOME_OK, 128);
    ran(&m, "a/128m", OUTCOME_INVALID, 128);
    ran(&m, "b/64m", OUTCOME_ERROR, 64);
    ran(&m, "b/96m", OUTCOME_SKIPPED, 96);
    CLEANUP_FREE char *text = viable(&m);
    assert_has(line_of(text, "a "), "128m  between 64m and 128m");
    assert_has(line_of(text, "b "), "none  not known");
}

static void unlimited_is_the_largest(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    ran(&m, "a/unlimited", OUTCOME_OK, INFINITY);
    ran(&m, "a/512m", OUTCOME_CRASHED, 512);
    CLEANUP_FREE char *text = viable(&m);
    assert_has(line_of(text, "a "), "unlimited  between 512m and unlimited");
}

/* Sizes that are not the application's limit are no memory curve. */
static void other_sizes(void **state)
{
    static const char *const others[] = {"payload", "memory", NULL};
    CLEANUP_VALUE(maker_release) struct maker m;
    CLEANUP_VALUE(maker_release) struct maker one;

    (void)state;
    maker_begin(&m, others, NULL, NULL);
    ran(&m, "64k/256m", OUTCOME_OK, 256);
    ran(&m, "1m/256m", OUTCOME_OK, 256);
    CLEANUP_FREE char *text = viable(&m);
    assert_null(text);
    maker_begin(&one, axes, NULL, NULL);
    ran(&one, "a/64m", OUTCOME_OK, 64);
    ran(&one, "b/128m", OUTCOME_OK, 128); /* one limit each: no curve */
    CLEANUP_FREE char *none = viable(&one);
    assert_null(none);
}

/* What was asked for decides, not what an engine made of it. */
static void the_plan_says_which_axis(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL,
                "{\"scenarios\":[{\"id\":\"a/64m\",\"settings\":{\"app\":{\"memory\":67108864}}},"
                "{\"id\":\"a/unlimited\",\"settings\":{\"app\":{\"memory\":\"unlimited\"}}}]}");
    ran(&m, "a/64m", OUTCOME_OK, 8192);
    ran(&m, "a/unlimited", OUTCOME_OK, 8192);
    CLEANUP_FREE char *text = viable(&m);
    assert_non_null(text);
}

static const char search_plan[] = "{\"axes\":[\"framework\",\"memory\"],\"search\":{\"axis\":\"memory\","
                                  "\"from\":\"64m\",\"to\":\"128m\",\"step\":"
                                  "\"16m\",\"from_bytes\":67108864,\"to_bytes\":134217728,\"step_bytes\":"
                                  "16777216,\"until\":[%s]},\"scenarios\":["
                                  "{\"id\":\"a/64m\",\"axes\":{\"framework\":\"a\",\"memory\":\"64m\"}},"
                                  "{\"id\":\"a/80m\",\"axes\":{\"framework\":\"a\",\"memory\":\"80m\"}},"
                                  "{\"id\":\"a/96m\",\"axes\":{\"framework\":\"a\",\"memory\":\"96m\"}},"
                                  "{\"id\":\"a/112m\",\"axes\":{\"framework\":\"a\",\"memory\":\"112m\"}},"
                                  "{\"id\":\"a/128m\",\"axes\":{\"framework\":\"a\",\"memory\":\"128m\"}},"
                                  "{\"id\":\"b/64m\",\"axes\":{\"framework\":\"b\",\"memory\":\"64m\"}},"
                                  "{\"id\":\"b/1g\",\"axes\":{\"framework\":\"b\",\"memory\":\"1g\"}}]}";

static void a_search(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;
    CLEANUP_FREE char *plan = xasprintf(search_plan, "\"ok\"");

    (void)state;
    maker_begin(&m, axes, "{\"trials\":15}", plan);
    m.sweep.complete = false;
    ran(&m, "a/64m", OUTCOME_CRASHED, 64);
    ran(&m, "a/128m", OUTCOME_OK, 128);
    ran(&m, "a/96m", OUTCOME_DEGRADED, 96);
    ran(&m, "a/112m", OUTCOME_OK, 112);
    ran(&m, "b/64m", OUTCOME_OK, 64); /* the first probe was enough */
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text, "not complete: 5 of at most 15 trials recorded, 1 scenario not run yet\n");
    assert_has(line_of(strstr(text, "\nResults"), "b          1g"),
               "not run"); /* no probe: planned for sure */
    assert_null(strstr(text, "80m"));
    assert_has(text, "112m  between 96m and 112m");
    assert_has(text, "64m  everything ok down to 64m");
    assert_has(text, "Searched by halving between 64m and 128m in steps of 16m");
}

/* What is enough is what the search was told. */
static void a_search_for_less(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;
    CLEANUP_FREE char *plan = xasprintf(search_plan, "\"ok\",\"degraded\"");

    (void)state;
    maker_begin(&m, axes, NULL, plan);
    ran(&m, "a/64m", OUTCOME_CRASHED, 64);
    ran(&m, "a/80m", OUTCOME_DEGRADED, 80);
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text, "80m  between 64m and 80m");
    assert_has(text, "every trial was ok or degraded;");
}

static void as_json_and_pictures(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    ran(&m, "a/<64m>", OUTCOME_DEGRADED, 64)->axes[1].value = "64m";
    ran(&m, "a/96m", OUTCOME_OK, 96);
    ran(&m, "<b>/unlimited", OUTCOME_OK, INFINITY);
    ran(&m, "<b>/96m", OUTCOME_OK, 96);
    m.trials.items[0].app.oom_kills = 3;
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_JSON);
    CLEANUP(json_free) struct json *j = parsed(text);
    const struct json *curves = json_get(j, "memory_curve");
    assert_int_equal(json_len(curves), 2);
    const struct json *b = json_at(curves, 0), *a = json_at(curves, 1);
    assert_string_equal(json_get_text(json_get(a, "axes"), "framework"), "a");
    assert_string_equal(json_get_text(a, "minimum_viable"), "96m");
    assert_float_equal(json_get_number(a, "minimum_viable_bytes"), 96 * MIB, 0);
    assert_string_equal(json_get_text(a, "largest_not_ok"), "64m");
    assert_true(json_get_bool(a, "monotone"));
    assert_float_equal(json_get_number(json_at(json_get(a, "points"), 0), "oom_kills"), 3, 0);
    assert_string_equal(json_get_text(json_at(json_get(b, "points"), 1), "limit_bytes"), "unlimited");
    CLEANUP_FREE char *html = rendered(&m, &(struct report_options){0}, REPORT_HTML);
    assert_int_equal(occurrences(html, "<svg class=\"curve\""), 2);
    assert_has(html, ">cliff: 64m–96m</text>");
    assert_has(html, "&lt;b&gt;: memory curve</title>");
    assert_has(html, ">3 OOM</text>");
}

/* --- limits and JVMs --- */

static void limits_that_differ(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL,
                "{\"scenarios\":[{\"id\":\"a/"
                "64m\",\"settings\":{\"app\":{\"memory\":67108864,\"swap\":0,\"cpus\":1.5}}},"
                "{\"id\":\"b/64m\",\"settings\":{\"app\":{\"memory\":67108864}}}]}");
    struct trial *t = ran(&m, "a/64m", OUTCOME_OK, 64);
    t->app.effective.memory_bytes = t->app.effective.kernel.memory_bytes = 64 * MIB;
    t->app.effective.swap_bytes = 0;
    t->app.effective.kernel.swap_bytes = 64 * MIB;
    t->app.effective.cpus = 1.5;
    t->app.effective.kernel.cpus = 1.4999; /* a period in whole microseconds */
    t->app.effective.pids = INFINITY;
    t->app.effective.cpuset = "0";
    t->app.effective.kernel.cpuset = "0-1";
    t = ran(&m, "b/64m", OUTCOME_OK, 64);
    t->app.effective.memory_bytes = INFINITY;
    CLEANUP_FREE char *text = squeezed(rendered(&m, &(struct report_options){0}, REPORT_TABLE));
    const char *applied = strstr(text, "\nLimits as applied\n");
    assert_non_null(applied);
    assert_has(applied, "a/64m app swap 0 B 0 B 64.0 MiB\n");
    assert_has(applied, "a/64m app cpuset – 0 0-1\n");
    assert_has(applied, "b/64m app memory 64.0 MiB unlimited –\n");
    assert_null(strstr(applied, " app cpus "));
}

static struct trial *java(struct maker *m, const char *scenario, double limit_mib, const char *collector)
{
    struct trial *t = ran(m, scenario, OUTCOME_OK, limit_mib);

    t->app.has_jvm = true;
    t->app.jvm = (struct jvm_facts){"17", collector, NULL, limit_mib * MIB / 4, 2, "flags"};
    return t;
}

static void jvms_that_change(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    java(&m, "a/1g", 1024, "Serial");
    java(&m, "a/2g", 2048, "G1");
    java(&m, "b/4g", 4096, "ZGC"); /* another framework and another limit: no one axis to blame */
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_MARKDOWN);
    assert_has(text, "| a | 1g | 17 | Serial | 256 MiB | 25% | 2 |");
    assert_has(text, "| a | 2g | 17 | **G1** | 512 MiB | 25% | 2 |");
    assert_has(text, "| b | 4g | 17 | ZGC | 1.0 GiB | 25% | 2 |");
    assert_has(text, "Marked: not as in the line above");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cliffs),
        cmocka_unit_test(why_it_failed),
        cmocka_unit_test(never_ready_at_all),
        cmocka_unit_test(not_monotone),
        cmocka_unit_test(what_the_environment_spoilt),
        cmocka_unit_test(unlimited_is_the_largest),
        cmocka_unit_test(other_sizes),
        cmocka_unit_test(the_plan_says_which_axis),
        cmocka_unit_test(a_search),
        cmocka_unit_test(a_search_for_less),
        cmocka_unit_test(as_json_and_pictures),
        cmocka_unit_test(limits_that_differ),
        cmocka_unit_test(jvms_that_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
