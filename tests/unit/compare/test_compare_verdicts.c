/* SPDX-License-Identifier: MIT */
/* Which of two is faster, in words; gates; and how often a difference is seen where there is none. */
#include <math.h>

#include "benchctl/compare.h"
#include "unit/check.h"

#define SETS 4096

struct sets {
    struct compare_trial then[SETS], now[SETS];
    size_t then_n, now_n;
};

static void add(struct sets *s, bool now, const char *scenario, int trial, double goodput)
{
    struct compare_trial *t = now ? &s->now[s->now_n++] : &s->then[s->then_n++];

    *t = (struct compare_trial){
        .scenario = scenario, .trial = trial, .outcome = isnan(goodput) ? OUTCOME_CRASHED : OUTCOME_OK};
    for (int f = 0; f < COMPARE_FIGURES; f++)
        t->figures[f] = NAN;
    t->figures[COMPARE_GOODPUT] = goodput;
    t->figures[COMPARE_P99] = 8e3 / goodput;
}

static void add_all(struct sets *s, const char *scenario, const double *then, const double *now, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        add(s, false, scenario, (int)i + 1, then[i]);
        add(s, true, scenario, (int)i + 1, now[i]);
    }
}

static struct comparison *compare(const struct sets *s, double margin, bool paired)
{
    const struct compare_set then = {"a", s->then, s->then_n}, now = {"b", s->now, s->now_n};
    const struct compare_options o = {.margin = margin, .paired = paired};
    struct comparison *c;

    compare_sets(&then, &now, &o, &c);
    return c;
}

static void words(const struct sets *s, double margin, bool paired, enum compare_figure which,
                  const char *expected)
{
    CLEANUP(comparison_free) struct comparison *c = compare(s, margin, paired);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    compare_words(c, which, &c->scenarios[0].figures[which], &text);
    assert_string_equal(strbuf_text(&text), expected);
}

static const double slow[] = {1000, 1010, 990, 1005}, fast[] = {1100, 1112, 1088, 1106},
                    alike[] = {1001, 1011, 989, 1006};

static void differences_have_a_direction(void **state)
{
    CLEANUP_FREE struct sets *s = xcalloc(1, sizeof(*s)), *t = xcalloc(1, sizeof(*t));

    (void)state;
    add_all(s, "x", slow, fast, 4);
    add_all(t, "x", fast, slow, 4);
    /* worked out with numpy and scipy: the ratio of geometric means, and Welch's t on logarithms */
    words(s, 0.01, false, COMPARE_GOODPUT, "faster by 10.0 % [8.3, 11.7]");
    words(s, 0.01, false, COMPARE_P99, "lower by 9.1 % [7.7, 10.5]");
    words(t, 0.01, false, COMPARE_GOODPUT, "slower by 9.1 % [7.7, 10.5]");
    words(t, 0.01, false, COMPARE_P99, "higher by 10.0 % [8.3, 11.7]");
    words(s, 0.01, true, COMPARE_GOODPUT,
          "faster by 10.0 % [9.9, 10.1]"); /* within rounds there is hardly any noise */
}

static void equal_open_and_too_few(void **state)
{
    CLEANUP_FREE struct sets *s = xcalloc(1, sizeof(*s)), *two = xcalloc(1, sizeof(*two)),
                             *dead = xcalloc(1, sizeof(*dead));
    const double none[] = {NAN, NAN, NAN};
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    (void)state;
    add_all(s, "x", slow, alike, 4);
    words(s, 0.01, true, COMPARE_GOODPUT, "equal within 1 %");
    words(s, 0.01, false, COMPARE_GOODPUT, "undecided: 9 more trials would tell");
    CLEANUP(comparison_free) struct comparison *c = compare(s, 0.01, false);
    compare_detectable(c, &c->scenarios[0].figures[COMPARE_GOODPUT], &text);
    assert_string_equal(strbuf_text(&text), "n = 4: 2.2 % would be seen");
    add_all(two, "x", slow, fast, 2);
    words(two, 0.01, false, COMPARE_GOODPUT, "+10.0 % (n = 2: no verdict)");
    words(two, 0.01, false, COMPARE_P50, "not measured");
    add_all(dead, "x", slow, none, 3);
    words(dead, 0.01, false, COMPARE_GOODPUT, "not compared: no figure on one side");
}

/* Rounds that one side lacks: what is left is compared without them. */
static void pairs_need_the_same_rounds(void **state)
{
    CLEANUP_FREE struct sets *s = xcalloc(1, sizeof(*s));

    (void)state;
    for (int i = 0; i < 4; i++) {
        add(s, false, "x", i + 1, slow[i]);
        add(s, true, "x", i + 2, fast[i]);
    }
    CLEANUP(comparison_free) struct comparison *c = compare(s, 0.01, true);
    assert_false(c->scenarios[0].figures[COMPARE_GOODPUT].paired);
    s->now[3].trial = 1;
    CLEANUP(comparison_free) struct comparison *d = compare(s, 0.01, true);
    assert_true(d->scenarios[0].figures[COMPARE_GOODPUT].paired);
}

static bool breaks(const struct comparison *c, const char *gate)
{
    struct compare_gate g;
    struct error err = ERROR_INIT;

    if (compare_gate_parse(gate, &g, &err) < 0)
        fail_msg("%s", err.message);
    return compare_gate_broken(&g, &c->scenarios[0]);
}

static void gates(void **state)
{
    static const char *const wrong[] = {"",       "throughput", "throughput<", "throughput<5", "speed<5%",
                                        "p99=5%", "<5%",        "p99>x%",      "p99>5%5"};
    CLEANUP_FREE struct sets *s = xcalloc(1, sizeof(*s)), *dead = xcalloc(1, sizeof(*dead));
    const double none[] = {NAN, NAN, NAN};
    struct compare_gate g;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct error err = ERROR_INIT;
        assert_int_equal(compare_gate_parse(wrong[i], &g, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_has(err.hint, "throughput<-5%");
    }
    add_all(s, "x", fast, slow, 4);
    CLEANUP(comparison_free) struct comparison *c = compare(s, 0.01, false);
    assert_true(breaks(c, "throughput<-5%") && breaks(c, "goodput <= -9 %") && breaks(c, "p99>5%"));
    assert_false(breaks(c, "throughput<-15%") || breaks(c, "p99>20%") || breaks(c, "throughput>5%") ||
                 breaks(c, "p50>1%"));
    assert_true(breaks(c, "throughput<5%")); /* a gain was asked for */
    add_all(dead, "x", slow, none, 3);
    CLEANUP(comparison_free) struct comparison *d = compare(dead, 0.01, false);
    assert_true(breaks(d, "throughput<-5%") && breaks(d, "p99>5%"));
    assert_false(breaks(d, "throughput>5%"));
}

/* --- no difference, and yet one is seen --- */

static double uniform(uint64_t *state) /* splitmix64, 53 bits */
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(uniform(state)));

    return radius * cos(2 * M_PI * uniform(state));
}

enum { SWEEPS = 1000, SCENARIOS = 12 };

/* Of 1,000 sweeps of twelve identical scenarios, how many call any of the 66 pairs different. */
static size_t wrong_sweeps(size_t n, bool paired, uint64_t *state)
{
    CLEANUP_FREE struct sets *s = xcalloc(1, sizeof(*s));
    size_t wrong = 0;
    char names[66][8];

    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double values[SCENARIOS][10], hour[10];
        size_t pair = 0;
        for (size_t i = 0; i < n; i++)
            hour[i] = 0.03 * normal(state);
        for (int k = 0; k < SCENARIOS; k++)
            for (size_t i = 0; i < n; i++)
                values[k][i] = 1000 * exp(hour[i] + 0.02 * normal(state));
        s->then_n = s->now_n = 0;
        for (int a = 0; a < SCENARIOS; a++)
            for (int b = a + 1; b < SCENARIOS; b++, pair++) {
                (void)snprintf(names[pair], sizeof(names[pair]), "%d-%d", a, b);
                add_all(s, names[pair], values[a], values[b], n);
                for (size_t i = s->now_n - n; i < s->now_n; i++)
                    s->then[i].figures[COMPARE_P99] = s->now[i].figures[COMPARE_P99] =
                        NAN; /* one family is enough */
            }
        CLEANUP(comparison_free) struct comparison *c = compare(s, 0.01, paired);
        bool any = false;
        for (size_t i = 0; i < c->len; i++) {
            enum compare_word w = compare_word(c, &c->scenarios[i].figures[COMPARE_GOODPUT]);
            any |= w == COMPARE_MORE || w == COMPARE_LESS;
        }
        wrong += any;
    }
    return wrong;
}

/* At most 5 %, and the two standard errors that 1,000 sweeps leave open. */
static void false_alarms_are_rare(void **state)
{
    static const struct {
        size_t n;
        bool paired;
    } cases[] = {{3, false}, {3, true}, {5, true}, {10, true}};
    uint64_t random = 19;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t wrong = wrong_sweeps(cases[i].n, cases[i].paired, &random);
        print_message("n = %zu, %s: %zu of %d sweeps\n", cases[i].n,
                      cases[i].paired ? "pairs of rounds" : "Welch", wrong, SWEEPS);
        assert_in_range(wrong, 0, 64);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_have_a_direction), cmocka_unit_test(equal_open_and_too_few),
        cmocka_unit_test(pairs_need_the_same_rounds),   cmocka_unit_test(gates),
        cmocka_unit_test(false_alarms_are_rare),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
