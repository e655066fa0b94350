/* SPDX-License-Identifier: MIT */
/* Terminals: width, colour, letters of other widths, sweeps of odd shapes, text that means harm. */
#include "fixed_sweep.h"
#include "text.h"

static const char *const axes[] = {"framework", "stack", "memory", NULL};

static size_t widest_line(const char *text)
{
    size_t widest = 0;

    while (*text) {
        size_t n = strcspn(text, "\n");
        CLEANUP_FREE char *line = xstrndup(text, n);
        if (text_columns(line) > widest)
            widest = text_columns(line);
        text += n + (text[n] == '\n');
    }
    return widest;
}

/* Nothing spills, at no width at which the longest word fits, and nothing is lost. */
static void test_widths(void **state)
{
    static const int widths[] = {40, 50, 60, 72, 80, 100, 120, 132, 200};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
        CLEANUP_VALUE(maker_release) struct maker m;
        fixed_sweep(&m);
        CLEANUP_FREE char *text = rendered(&m, &(struct report_options){.width = widths[i]}, REPORT_TABLE);
        if (widest_line(text) > (size_t)widths[i])
            fail_msg("%zu columns in a terminal of %d:\n%s", widest_line(text), widths[i], text);
        assert_has(text, "12–14");
        assert_has(text, "1639 ±0.9%");
        assert_has(text, "918 ±2%"); /* the last column */
        assert_null(strstr(text, " \n"));
    }
}

/* The common case: three axes, one trial, everything in one part. */
static void test_one_trial_fits_120_columns(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    add_full(&m, "micronaut/imperative/unlimited", OUTCOME_OK, 2.492);
    fail_again_and_again(&m, add_full(&m, "springboot/reactive/128m", OUTCOME_DEGRADED, 1), 14);
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){.width = 120}, REPORT_TABLE);
    const char *results = strstr(text, "\nResults\n");
    assert_non_null(results);
    assert_has(line_of(results, "framework "), "restarts    OOM  ready  startup");
}

static void test_parts_repeat_the_heads(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    add_full(&m, "micronaut/imperative/unlimited", OUTCOME_OK, 1);
    CLEANUP_FREE char *wide = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    CLEANUP_FREE char *narrow = rendered(&m, &(struct report_options){.width = 70}, REPORT_TABLE);
    CLEANUP_FREE char *tiny = rendered(&m, &(struct report_options){.width = 36}, REPORT_TABLE);
    size_t tables = occurrences(wide, "\nmicronaut  imperative  unlimited  ");
    assert_true(tables >= 3);
    assert_true(occurrences(narrow, "\nmicronaut  imperative  unlimited  ") > tables);
    /* no room beside the names: a block per row */
    assert_null(strstr(tiny, "micronaut  imperative"));
    assert_has(tiny, "\nframework micronaut, stack\n  imperative, memory unlimited\n");
    assert_has(tiny, "\n  n          1\n  outcome    ok\n");
    assert_has(tiny, "\n  startup ms 612\n");
}

static void test_color(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    fixed_sweep(&m);
    CLEANUP_FREE char *plain = rendered(&m, &(struct report_options){.width = 120}, REPORT_TABLE);
    CLEANUP_FREE char *colored =
        rendered(&m, &(struct report_options){.width = 120, .color = true}, REPORT_TABLE);
    assert_null(strchr(plain, '\033'));
    assert_has(colored, "\033[31m12–14\033[0m");
    assert_has(colored, "\033[32mok\033[0m");
    /* without the colours it is the same text */
    CLEANUP_VALUE(strbuf_release) struct strbuf stripped = STRBUF_INIT;
    for (const char *at = colored; *at; at++) {
        if (*at == '\033')
            at += strcspn(at, "m");
        else
            strbuf_addc(&stripped, *at);
    }
    /* but for blanks that a colour's end keeps at the end of a line */
    assert_has(strbuf_text(&stripped), "flask      async     80m     0 of 3  not-ready");
    assert_int_equal(occurrences(strbuf_text(&stripped), "\n"), occurrences(plain, "\n"));
}

/* Columns stand in line whatever the letters. */
static void test_wide_letters(void **state)
{
    static const char *const one[] = {"名前", NULL};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, one, NULL, NULL);
    add(&m, "caf\xc3\xa9", OUTCOME_OK, 1);
    add(&m, "漢字かな", OUTCOME_OK, 2);
    add(&m, "cafe\xcc\x81", OUTCOME_OK, 3);
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text, "名前      n  outcome  ok/s");
    assert_has(text, "caf\xc3\xa9      1  ok       1.00");
    assert_has(text, "漢字かな  1  ok       2.00");
    assert_has(text, "cafe\xcc\x81      1  ok       3.00");
}

static void test_hostile(void **state)
{
    static const char evil[] = "\033]0;title\007\033[2J\xc2\x9b"
                               "31m\xe2\x80\xae"
                               "evil";
    static const char *const evil_axes[] = {"a\033[31m", NULL};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, evil_axes, NULL, NULL);
    json_set_text(m.sweep.info, "title", evil);
    json_set(m.sweep.info, "host", parsed("{\"name\":\"h\\u001b[31m\\u0007\",\"kernel\":\"\\u009b31m\"}"));
    json_set(m.sweep.info, "parity",
             parsed("{\"checks\":[{\"name\":\"p\\u001b[1m\",\"differences\":[{\"path\":\"x\\r\\ny\"}]}]}"));
    struct trial *t = add(&m, evil, OUTCOME_CRASHED, 1);
    t->reason = evil;
    t->load.generator = t->load.version = t->load.model = t->load.corrected = evil;
    add_verdict(&m, t, evil, evil);
    add_check_of(&m, t, evil, "3");
    t->notes = arena_array(m.sweep.arena, const char *, 1);
    t->notes[0] = evil;
    t->note_count = 1;
    t->services = arena_array(m.sweep.arena, struct container_result, 1);
    container_result_init(&t->services[0], evil);
    t->services[0].cpu_cores.avg = 1;
    t->service_count = 1;
    t->metrics = arena_array(m.sweep.arena, struct metric_value, 1);
    t->metrics[0] = (struct metric_value){evil, 1, 1, 1, 1, 0};
    t->metric_count = 1;
    for (int width = 0; width <= 30; width += 30) {
        CLEANUP_FREE char *text = rendered(&m, &(struct report_options){.width = width}, REPORT_TABLE);
        for (const char *at = text; *at; at++)
            assert_true((unsigned char)*at >= 0x20 || *at == '\n');
        assert_null(strstr(text, "\xc2\x9b"));
        assert_null(strstr(text, "\xe2\x80\xae"));
        assert_has(text, "evil");
    }
}

/* --- odd shapes --- */

static void test_empty(void **state)
{
    static const enum report_format formats[] = {REPORT_TABLE, REPORT_MARKDOWN, REPORT_HTML, REPORT_CSV,
                                                 REPORT_JSON};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, fixed_plan);
    m.sweep.complete = false;
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, formats[i]);
        if (formats[i] != REPORT_CSV && formats[i] != REPORT_JSON)
            assert_has(text, "no trial has been recorded yet");
    }
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){.cols = "memory"}, REPORT_TABLE);
    assert_string_equal(text,
                        "runs/test\nnot complete: 0 trials recorded, 7 scenarios not run yet\nparity: not "
                        "checked\nno trial has been recorded yet\n");
}

static void test_nothing_known(void **state)
{
    static const char *const none[] = {NULL};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, none,
                "{\"axes\":7,\"host\":[],\"engine\":\"x\",\"order\":null,\"parity\":{\"checks\":{}}}", "[]");
    m.sweep.path = NULL;
    struct trial *t = add(&m, "only", OUTCOME_ERROR, NAN);
    t->reason = NULL;
    t->has_load = false;
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text, "only: error: no reason was recorded");
    CLEANUP_FREE char *html = rendered(&m, &(struct report_options){0}, REPORT_HTML);
    assert_has(html, "only");
}

static void test_interrupted(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    fixed_sweep(&m);
    m.sweep.outside_count = 4;
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text, "not complete: 18 of 21 trials recorded, 1 scenario not run yet\n");
    assert_has(text, "4 trials of an earlier form of the matrix are left out\n");
    assert_has(line_of(text, "express    blocking"), "0  not run");
}

static void test_one_axis(void **state)
{
    static const char *const one[] = {"framework", NULL};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, one, NULL, NULL);
    add(&m, "b", OUTCOME_OK, 2);
    add(&m, "a", OUTCOME_OK, 1);
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text, "framework  n  outcome  ok/s  restarts    OOM\n");
    assert_has(text, "a          1  ok       1.00         0      0\nb          1  ok       2.00");
    CLEANUP_FREE char *across = rendered(&m, &(struct report_options){.cols = "framework"}, REPORT_TABLE);
    assert_has(across, "Successful requests per second by framework\n   a     b\n1.00  2.00\n");
}

static void test_ten_axes(void **state)
{
    static const char *const ten[] = {"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", NULL};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, ten, NULL, NULL);
    for (int i = 0; i < 64; i++)
        add(&m,
            arena_printf(m.sweep.arena, "%d/%d/%d/%d/%d/%d/x/y/z/%d", i & 1, i >> 1 & 1, i >> 2 & 1,
                         i >> 3 & 1, i >> 4 & 1, i >> 5 & 1, i),
            OUTCOME_OK, i);
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){.width = 80}, REPORT_TABLE);
    assert_true(widest_line(text) <= 80);
    assert_has(text, "1   1   1   1   1   1   x   y   z   63  1  ok       63.0");
    assert_int_equal(occurrences(text, "  ok  "), 64);
}

/* What was not recorded is not claimed. */
static void test_head(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, "{\"host\":{\"kernel\":\"6.1\"}}", NULL);
    add(&m, "a/b/c", OUTCOME_OK, 1)->load.generator = "idle";
    struct trial *t = add(&m, "a/b/d", OUTCOME_OK, 1);
    t->load.generator = "wrk";
    t->load.model = "closed";
    t->load.corrected = "yes";
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_string_equal(line_of(text, "host"), "host: kernel 6.1");
    assert_has(text, "load: idle (1 scenario: a/b/c)\n");
    assert_has(text,
               "load: wrk, closed model, latency corrected for coordinated omission (1 scenario: a/b/d)\n");
    assert_has(text, "scenarios were loaded in different ways: compare only those of the same kind\n");
    assert_has(text, "n = 1 trial per scenario: too few to call a difference real");
}

static void test_broken_parity(void **state)
{
    static const char parity[] =
        "{\"checks\":[{\"name\":\"dao\",\"ok\":false,\"members\":[{\"path\":\"dao\",\"commit\":\"abc\"}],"
        "\"differences\":[{\"path\":\"Dao.java\",\"what\":\"content "
        "differs\"}]},{\"name\":\"sql\",\"ok\":true}]}";
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    json_set(m.sweep.info, "parity", parsed(parity));
    add(&m, "a/b/c", OUTCOME_OK, 1);
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text, "parity: BROKEN, 1 of 2 checks failed\n");
    assert_has(text, "\nParity\ndao: DIFFERENT, in dao at abc\nDao.java: content differs\nsql: the same\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_one_trial_fits_120_columns),
        cmocka_unit_test(test_parts_repeat_the_heads),
        cmocka_unit_test(test_color),
        cmocka_unit_test(test_wide_letters),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_nothing_known),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_one_axis),
        cmocka_unit_test(test_ten_axes),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_broken_parity),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
