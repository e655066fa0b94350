/* SPDX-License-Identifier: MIT */
/* Large sweeps: ten times the scenarios may take about ten times as long, never a hundred times. */
#include "fixed_sweep.h"

#include <time.h>

static const char *const axes[] = {"framework", "memory", "n", NULL};

enum { FEW = 250, TIMES = 10, TRIALS = 3 };

static void fill(struct maker *m, size_t scenarios)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf plan = STRBUF_INIT;

    strbuf_adds(&plan, "{\"scenarios\":[");
    for (size_t i = 0; i < scenarios; i++)
        strbuf_addf(&plan,
                    "%s{\"id\":\"f%zu/%zum/"
                    "%zu\",\"axes\":{\"framework\":\"f%zu\",\"memory\":\"%zum\",\"n\":\"%zu\"}}",
                    i ? "," : "", i % 7, i % 11, i, i % 7, i % 11, i);
    strbuf_adds(&plan, "]}");
    maker_begin(m, axes, NULL, strbuf_text(&plan));
    m->numbered = true;
    for (int n = 1; n <= TRIALS; n++) {
        for (size_t i = 0; i < scenarios; i++) {
            struct trial *t = add_full(m, "a/b/c", OUTCOME_OK, 1 + (double)i / 1000);
            t->scenario = json_get_text(json_at(json_get(m->sweep.plan, "scenarios"), i), "id");
            const struct json *values = json_get(json_at(json_get(m->sweep.plan, "scenarios"), i), "axes");
            for (size_t k = 0; k < 3; k++)
                t->axes[k].value = json_get_text(values, axes[k]);
            t->trial = n;
            add_metrics(m, t, (double)i);
            add_verdict(m, t, "WARN", arena_printf(m->sweep.arena, "remark %zu", i));
            if (i % 3 == 0)
                fail_again_and_again(m, t, 2);
            m->trials.items[m->trials.len - 1].outcome = i % 3 == 0 ? OUTCOME_DEGRADED : OUTCOME_OK;
        }
    }
}

static double cpu_seconds(void)
{
    struct timespec t;

    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The faster of two: what disturbs only adds. */
static double seconds_for(struct maker *m, const struct report_options *o, enum report_format f)
{
    double best = INFINITY;

    for (int i = 0; i < 2; i++) {
        double begin = cpu_seconds();
        CLEANUP_FREE char *text = rendered(m, o, f);
        assert_true(strlen(text) > 1000);
        best = fmin(best, cpu_seconds() - begin);
    }
    return best;
}

static void test_growth(void **state)
{
    static const char *const rows[] = {REPORT_FIGURE, "n", "memory"};
    static const struct {
        const char *what;
        struct report_options o;
        enum report_format f;
    } cases[] = {
        {"table", {.width = 120}, REPORT_TABLE},
        {"html", {.width = 0}, REPORT_HTML},
        {"csv", {.width = 0}, REPORT_CSV},
        {"tidy", {.width = 0}, REPORT_TIDY},
        {"json", {.width = 0}, REPORT_JSON},
        {"junit", {.width = 0}, REPORT_JUNIT},
        {"openmetrics", {.width = 0}, REPORT_OPENMETRICS},
        {"columns", {.cols = "memory"}, REPORT_TABLE},
        {"figures down", {.rows = rows, .row_count = 3, .cols = "framework"}, REPORT_MARKDOWN},
    };
    CLEANUP_VALUE(maker_release) struct maker few;
    CLEANUP_VALUE(maker_release) struct maker many;

    (void)state;
    fill(&few, FEW);
    fill(&many, FEW * TIMES);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        double small = seconds_for(&few, &cases[i].o, cases[i].f),
               large = seconds_for(&many, &cases[i].o, cases[i].f);
        print_message("%s: %d scenarios %.3f s, %d scenarios %.3f s of CPU\n", cases[i].what, FEW, small,
                      FEW * TIMES, large);
        if (large > 3.5 * TIMES * small)
            fail_msg("%s: %.1f times as long for %d times as many", cases[i].what, large / small, TIMES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_growth)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
