/* SPDX-License-Identifier: MIT */
/* The end of a log as part of a sentence. */
#include "unit/check.h"

#include "run_internal.h"

static void quoted(const char *tail, const char *wanted)
{
    CLEANUP(arena_free) struct arena *a = arena_new();

    assert_string_equal(log_quote(tail, a), wanted);
}

static void lines_become_one(void **state)
{
    (void)state;
    quoted("", "");
    quoted("\n\n  \n", "");
    quoted("one", "one");
    quoted("one\n", "one");
    quoted("one\n\n \t\ntwo\r\n", "one / two");
    quoted("0\n1\n2\n3\n4\n", "2 / 3 / 4"); /* the last ones */
    quoted("\nINFO  7 ---   [main]\t d.s.Application     : up\n", "INFO 7 --- [main] d.s.Application : up");
}

static void a_long_line_is_cut_between_characters(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf line = STRBUF_INIT, wanted = STRBUF_INIT;

    (void)state;
    strbuf_addc(&line, 'x'); /* so that the cut would be inside one */
    for (int i = 0; i < 150; i++)
        strbuf_adds(&line, "ä");
    strbuf_add(&wanted, strbuf_text(&line), 199);
    strbuf_adds(&wanted, "…");
    quoted(strbuf_text(&line), strbuf_text(&wanted));
    strbuf_clear(&line);
    for (int i = 0; i < 200; i++)
        strbuf_addc(&line, 'y');
    quoted(strbuf_text(&line), strbuf_text(&line));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_become_one),
        cmocka_unit_test(a_long_line_is_cut_between_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
