/* SPDX-License-Identifier: MIT */
/* What is said of two sets of trials. */
#include <math.h>
#include <stdio.h>
#include "benchctl/compare.h"
#include "unit/check.h"

#define SETS 64

struct sets {
    struct compare_trial then[SETS], now[SETS];
    size_t then_n, now_n;
};

static void add(struct sets *s, bool now, const char *scenario, enum outcome o, double goodput)
{
    struct compare_trial *t = now ? &s->now[s->now_n++] : &s->then[s->then_n++];

    *t = (struct compare_trial){.scenario = scenario, .trial = 1, .outcome = o};
    for (int f = 0; f < COMPARE_FIGURES; f++)
        t->figures[f] = NAN;
    t->figures[COMPARE_GOODPUT] = goodput;
}

/* Three trials around `goodput`, one `spread` (a share) below and one above. */
static void three(struct sets *s, bool now, const char *scenario, double goodput, double spread)
{
    for (int i = -1; i <= 1; i++)
        add(s, now, scenario, OUTCOME_OK, goodput * exp(i * spread));
}

static struct comparison *compare(const struct sets *s, double margin)
{
    const struct compare_set then = {"then", s->then, s->then_n}, now = {"now", s->now, s->now_n};
    const struct compare_options o = {.margin = margin};
    struct comparison *c;

    compare_sets(&then, &now, &o, &c);
    return c;
}

static const struct compared_scenario *find(const struct comparison *c, const char *name)
{
    for (size_t i = 0; i < c->len; i++)
        if (strcmp(c->scenarios[i].name, name) == 0)
            return &c->scenarios[i];
    fail_msg("no scenario '%s'", name);
    return NULL;
}

static enum compare_verdict verdict(const struct comparison *c, const char *name)
{
    return find(c, name)->figures[COMPARE_GOODPUT].verdict;
}

static void the_three_verdicts(void **state)
{
    struct sets s = {0};
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    (void)state;
    three(&s, false, "same", 1000, 0.01);
    three(&s, true, "same", 1010, 0.01);
    three(&s, false, "slower", 1000, 0.02);
    three(&s, true, "slower", 700, 0.02);
    three(&s, false, "noisy", 1000, 0.3);
    three(&s, true, "noisy", 1100, 0.3);
    CLEANUP(comparison_free) struct comparison *c = compare(&s, 0);
    assert_int_equal(verdict(c, "same"), COMPARE_REPRODUCED);
    assert_int_equal(verdict(c, "slower"), COMPARE_DIFFERS);
    assert_int_equal(verdict(c, "noisy"), COMPARE_UNDECIDED);
    compare_headline(c, &text);
    assert_string_equal(strbuf_text(&text),
                        "1 of 3 scenarios reproduced within 10 %, 1 differs, 1 undecided; "
                        "outcomes are the same in all");
}

/* A difference that is proven and small is no difference: 3 % with hardly any noise. And one that is proven
 * to be more than nothing, but may be less than the margin, is not decided. */
static void small_and_certain(void **state)
{
    struct sets s = {0};

    (void)state;
    three(&s, false, "a", 1000, 0.001);
    three(&s, true, "a", 1030, 0.001);
    three(&s, false, "b", 1000, 0.03);
    three(&s, true, "b", 1080, 0.03);
    CLEANUP(comparison_free) struct comparison *wide = compare(&s, 0.10);
    CLEANUP(comparison_free) struct comparison *narrow = compare(&s, 0.02);
    assert_int_equal(verdict(wide, "a"), COMPARE_REPRODUCED);
    assert_int_equal(verdict(narrow, "a"), COMPARE_DIFFERS);
    assert_int_equal(verdict(wide, "b"), COMPARE_UNDECIDED);
}

static void few_trials(void **state)
{
    struct sets s = {0};
    CLEANUP_VALUE(strbuf_release) struct strbuf one = STRBUF_INIT, two = STRBUF_INIT, all = STRBUF_INIT;

    (void)state;
    add(&s, false, "one", OUTCOME_OK, 100);
    add(&s, true, "one", OUTCOME_OK, 50);
    for (int i = 0; i < 2; i++) {
        add(&s, false, "two", OUTCOME_OK, 100 + i);
        add(&s, true, "two", OUTCOME_OK, 50 + i);
    }
    CLEANUP(comparison_free) struct comparison *c = compare(&s, 0);
    compare_figure_text(c, &find(c, "one")->figures[COMPARE_GOODPUT], &one);
    assert_string_equal(strbuf_text(&one), "0.50 (one trial each: no interval)");
    compare_figure_text(c, &find(c, "two")->figures[COMPARE_GOODPUT], &two);
    assert_has(strbuf_text(&two), "] not judged");
    assert_false(isnan(find(c, "two")->figures[COMPARE_GOODPUT].low));
    compare_headline(c, &all);
    assert_string_equal(strbuf_text(&all), "2 scenarios compared and not judged: a verdict takes 3 trials on "
                                           "each side; outcomes are the same in all");
}

static void assert_figure(const struct comparison *c, const char *name, enum compare_verdict v,
                          const char *expected)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    const struct compared_figure *f = &find(c, name)->figures[COMPARE_GOODPUT];

    assert_int_equal(f->verdict, v);
    compare_figure_text(c, f, &text);
    assert_string_equal(strbuf_text(&text), expected);
}

/* A trial that served nothing is not left out of what is said. */
static void zeros_count(void **state)
{
    struct sets s = {0};

    (void)state;
    for (int i = 0; i < 4; i++) {
        add(&s, false, "one", OUTCOME_OK, 100);
        add(&s, true, "one", OUTCOME_OK, i < 3 ? 100 : 0);
        add(&s, false, "all", OUTCOME_OK, 100);
        add(&s, true, "all", OUTCOME_OK, 0);
        add(&s, false, "both", OUTCOME_OK, i < 3 ? 100 : 0);
        add(&s, true, "both", OUTCOME_OK, i < 2 ? 100 : 0);
        add(&s, false, "never", OUTCOME_OK, 0);
        add(&s, true, "never", OUTCOME_OK, 0);
        add(&s, false, "unknown", OUTCOME_OK, 0);
        add(&s, true, "unknown", OUTCOME_OK, NAN);
    }
    CLEANUP(comparison_free) struct comparison *c = compare(&s, 0);
    assert_figure(c, "one", COMPARE_DIFFERS, "differs (1 of 4 is 0)");
    assert_figure(c, "all", COMPARE_DIFFERS, "differs (4 of 4 are 0)");
    assert_figure(c, "both", COMPARE_UNDECIDED, "undecided (1 of 4 then is 0, 2 of 4 now are 0)");
    assert_figure(c, "never", COMPARE_NOT_JUDGED, "not judged (4 of 4 then are 0, 4 of 4 now are 0)");
    assert_figure(c, "unknown", COMPARE_NOT_JUDGED, "not measured");
    assert_int_equal(c->verdicts[COMPARE_GOODPUT][COMPARE_REPRODUCED], 0);
    CLEANUP(json_free) struct json *j = compare_json(c);
    assert_int_equal(
        (int)json_get_number(json_pointer(j, "/scenarios/0/figures/load.goodput_rps"), "now_zeros"), 1);
}

/* What crashes now comes first, and its crashed trials have no figure. */
static void outcomes_first(void **state)
{
    struct sets s = {0};
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT, table = STRBUF_INIT;

    (void)state;
    three(&s, false, "fine", 1000, 0.01);
    three(&s, true, "fine", 1000, 0.01);
    three(&s, false, "broken", 1000, 0.01);
    for (int i = 0; i < 3; i++)
        add(&s, true, "broken", OUTCOME_CRASHED, NAN);
    three(&s, false, "gone", 1, 0.01);
    three(&s, true, "new", 1, 0.01);
    CLEANUP(comparison_free) struct comparison *c = compare(&s, 0);
    assert_string_equal(c->scenarios[0].name, "broken");
    assert_true(c->scenarios[0].outcomes_differ);
    assert_int_equal(c->outcomes_differ, 1);
    assert_int_equal(verdict(c, "broken"), COMPARE_NOT_JUDGED);
    assert_false(find(c, "gone")->outcomes_differ);
    compare_headline(c, &text);
    assert_string_equal(strbuf_text(&text), "1 of 2 scenarios reproduced within 10 %, 1 not judged; outcomes "
                                            "differ in 1; 1 only in then; 1 only in now");
    compare_table(c, &table);
    assert_has(strbuf_text(&table), "3 ok -> 3 crashed");
    assert_has(strbuf_text(&table), "3 ok -> none (only in then)");
    assert_has(strbuf_text(&table), "not measured");
}

/* One in twenty tests is wrong at 5 %: over many scenarios Holm takes that back. */
static void many_scenarios(void **state)
{
    static char names[12][8];
    struct sets s = {0}, alone = {0};

    (void)state;
    for (int i = 0; i < 12; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "s%d", i);
        three(&s, false, names[i], 1000, 0.06);
        three(&s, true, names[i], i ? 1000 : 1230, 0.06);
    }
    three(&alone, false, "s0", 1000, 0.06);
    three(&alone, true, "s0", 1230, 0.06);
    CLEANUP(comparison_free) struct comparison *c = compare(&s, 0), *one = compare(&alone, 0);
    assert_int_equal(verdict(one, "s0"), COMPARE_DIFFERS);
    assert_int_equal(verdict(c, "s0"), COMPARE_UNDECIDED);
    double p = find(one, "s0")->figures[COMPARE_GOODPUT].p, q = find(c, "s0")->figures[COMPARE_GOODPUT].p;
    assert_true(fabs(q - 12 * p) < 1e-9);
}

static void nothing_at_all(void **state)
{
    struct sets s = {0};
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP(comparison_free) struct comparison *c = compare(&s, 0);

    (void)state;
    compare_headline(c, &text);
    assert_string_equal(strbuf_text(&text), "nothing to compare: no scenario has trials on both sides");
}

static void trials_there_and_back(void **state)
{
    struct trial t;
    struct compare_trial one, back;
    struct error err = ERROR_INIT;
    CLEANUP(arena_free) struct arena *a = arena_new();

    (void)state;
    trial_init(&t);
    t.scenario = "a/b";
    t.trial = 2;
    t.outcome = OUTCOME_DEGRADED;
    t.has_load = true;
    t.load.goodput_rps = 123.5;
    t.app.memory_bytes.used_peak = 1e6;
    compare_take(&t, &one);
    CLEANUP(json_free) struct json *j = compare_trial_json(&one);
    assert_int_equal(compare_trial_read(j, a, &back, &err), 0);
    assert_string_equal(back.scenario, "a/b");
    assert_true(back.figures[COMPARE_GOODPUT] == 123.5 && back.figures[COMPARE_MEMORY] == 1e6);
    assert_true(isnan(back.figures[COMPARE_P99]) && back.outcome == OUTCOME_DEGRADED && back.trial == 2);
    t.outcome = OUTCOME_CRASHED;
    compare_take(&t, &one);
    assert_true(isnan(one.figures[COMPARE_GOODPUT]) && isnan(one.figures[COMPARE_MEMORY]));
    json_set_text(j, "outcome", "splendid");
    assert_int_equal(compare_trial_read(j, a, &back, &err), -1);
}

static void documents(void **state)
{
    struct sets s = {0};
    CLEANUP_VALUE(strbuf_release) struct strbuf md = STRBUF_INIT;

    (void)state;
    three(&s, false, "a|b", 1000, 0.01);
    three(&s, true, "a|b", 1010, 0.01);
    CLEANUP(comparison_free) struct comparison *c = compare(&s, 0);
    compare_markdown(c, "A rerun", &md);
    assert_has(strbuf_text(&md), "# A rerun\n\n1 of 1 scenario reproduced");
    assert_has(strbuf_text(&md), "| a\\|b | 3 ok | 1.010 [");
    CLEANUP(json_free) struct json *j = compare_json(c);
    const struct json *f = json_pointer(j, "/scenarios/0/figures/load.goodput_rps");
    assert_true(fabs(json_get_number(f, "ratio") - 1.01) < 1e-9);
    assert_string_equal(json_get_text(f, "verdict"), "reproduced");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_three_verdicts), cmocka_unit_test(small_and_certain),
        cmocka_unit_test(few_trials),         cmocka_unit_test(zeros_count),
        cmocka_unit_test(outcomes_first),     cmocka_unit_test(many_scenarios),
        cmocka_unit_test(nothing_at_all),     cmocka_unit_test(trials_there_and_back),
        cmocka_unit_test(documents),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
