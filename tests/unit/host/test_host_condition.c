/* SPDX-License-Identifier: MIT */
/* Conditions on the host: what they may be, whether they hold, and the page that lists them. */
#include "tree.h"

static void refused(const char *text, const char *message, const char *hint)
{
    struct host_condition c;
    struct error err = ERROR_INIT;

    if (host_condition_parse(text, &c, &err) == 0)
        fail_msg("'%s' was accepted", text);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_has(err.message, message);
    assert_has(err.hint, hint);
}

static void what_is_no_condition(void **state)
{
    (void)state;
    refused("", "'' is no condition", "governor=performance");
    refused("=performance", "is no condition", "governor=performance");
    refused("governor", "'governor' is no condition", "governor=performance");
    refused("load", "is no condition", "load<=0.5");
    refused("governer=performance", "'governer' is nothing that can be required", "did you mean 'governor'?");
    refused("moon=full", "'moon' is nothing that can be required", "there are governor, turbo");
    refused("turbo=of", "'turbo' cannot be 'of'", "it is one of on, off");
    refused("turbo=", "'turbo' cannot be ''", "");
    refused("governor=", "'governor' cannot be ''", "a word");
    refused("governor=a b", "'governor' cannot be 'a b'", "a word");
    refused("governor<=performance", "cannot be compared by '<='", "= or !=");
    refused("load=0.5", "never exactly that", "load<=0.5");
    refused("load<=", "'load'", "");
    refused("load<=1e3", "'load'", "");
    refused("load<=nan", "'load'", "");
    refused("disk>=5", "'disk'", "");
    refused("disk>=unlimited", "'disk' cannot be unlimited", "");
    refused("\x1b[31m=1", "is no condition", "");
}

/* `wanted` is the reason; NULL: it holds. */
static void judged(const struct host_view *v, const char *text, const char *wanted)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf why = STRBUF_INIT;
    struct host_condition c;
    struct error err = ERROR_INIT;

    if (host_condition_parse(text, &c, &err) < 0)
        fail_msg("'%s': %s", text, err.message);
    bool holds = host_condition_holds(&c, v, &why);
    if (holds != !wanted || !text_equal(strbuf_text(&why), wanted ? wanted : ""))
        fail_msg("'%s' %s: '%s'", text, holds ? "holds" : "does not hold", strbuf_text(&why));
}

static char performance[] = "performance", mixed[] = "performance (6), powersave (2)";
static char on[] = "on", notsupported[] = "notsupported";

static void what_holds(void **state)
{
    struct host_view v = {.governor = performance,
                          .turbo = "on",
                          .smt = notsupported,
                          .load1 = 0.5,
                          .temperature_c = NAN,
                          .disk_bytes = 3.0 * 1024 * 1024 * 1024,
                          .swap_bytes = 0,
                          .steal_pct = 2.25,
                          .throttled = 0,
                          .open_files = INFINITY,
                          .clock_synchronised = -1};

    (void)state;
    judged(&v, "governor=performance", NULL);
    judged(&v, "governor = performance", NULL);
    judged(&v, "governor==performance", NULL);
    judged(&v, "governor!=performance", "governor is performance");
    judged(&v, "turbo=off", "turbo is on, not off");
    judged(&v, "smt=off", NULL); /* there are no threads to share a core */
    judged(&v, "swap=off", NULL);
    judged(&v, "load<=0.5", NULL);
    judged(&v, "load<0.5", "load is 0.5, not below 0.5");
    judged(&v, "load <= 0.49", "load is 0.5, not at most 0.49");
    judged(&v, "disk>=2g", NULL);
    judged(&v, "disk>=5g", "disk is 3.0 GiB, not at least 5.0 GiB");
    judged(&v, "steal<=1", "steal is 2.25%, not at most 1%");
    judged(&v, "throttled=no", NULL);
    judged(&v, "open_files>=4096", NULL);
    judged(&v, "hypervisor=no", NULL);
    /* what cannot be seen does not hold, whichever way it is asked for */
    judged(&v, "temperature<=70", "temperature cannot be seen here");
    judged(&v, "temperature>=0", "temperature cannot be seen here");
    judged(&v, "clock=synchronised", "clock cannot be seen here");
    judged(&v, "thp!=always", "thp cannot be seen here");
    v.governor = mixed; /* not of every processor */
    v.smt = on;
    v.temperature_c = 71.5;
    judged(&v, "governor=performance", "governor is performance (6), powersave (2), not performance");
    judged(&v, "smt=off", "smt is on, not off");
    judged(&v, "temperature<=70", "temperature is 71.5 °C, not at most 70 °C");
}

static void all_that_do_not_hold(void **state)
{
    const char *texts[] = {"turbo=off", "nonsense", "load<=1", "swap=off"};
    const struct text_list list = {texts, ARRAY_LEN(texts)};
    struct host_view v = {.turbo = "on", .load1 = 0.1, .swap_bytes = 4096};
    CLEANUP_VALUE(strbuf_release) struct strbuf why = STRBUF_INIT, hints = STRBUF_INIT;

    (void)state;
    assert_int_equal(host_violations(&list, &v, &why, &hints), 2);
    assert_string_equal(strbuf_text(&why), "turbo is on, not off; swap is on, not off");
    assert_has(strbuf_text(&hints), "turbo: write 1 into");
    assert_has(strbuf_text(&hints), "; swap: `swapoff -a`");
    assert_false(host_conditions_count(&list));
    texts[1] = "throttled=no";
    v.throttled = NAN;
    strbuf_clear(&hints);
    assert_int_equal(host_violations(&list, &v, &why, &hints), 3);
    assert_has(strbuf_text(&hints), "throttled: leave it away, or use a machine that shows it");
    assert_true(host_conditions_count(&list));
}

/* Each row's own example is a condition, and the page has each row. */
static void the_table_and_the_page(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf page = STRBUF_INIT;
    struct error err = ERROR_INIT;
    struct host_condition c;

    (void)state;
    if (fs_read(SOURCE_DIR "/docs/doctor.md", 1 << 20, &page, &err) < 0)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < host_quality_count; i++) {
        const struct host_quality *q = &host_qualities[i];
        if (host_condition_parse(q->example, &c, &err) < 0)
            fail_msg("'%s': %s", q->example, err.message);
        assert_ptr_equal(c.quality, q);
        CLEANUP_FREE char *row =
            xasprintf("| `%s` | `%s` | %s | %s |\n", q->name, q->example, q->help, q->hint);
        if (!strstr(strbuf_text(&page), row))
            fail_msg("docs/doctor.md has no line\n%s", row);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_condition),
        cmocka_unit_test(what_holds),
        cmocka_unit_test(all_that_do_not_hold),
        cmocka_unit_test(the_table_and_the_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
