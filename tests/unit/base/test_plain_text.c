/* SPDX-License-Identifier: MIT */
/* Text that cannot do anything to a terminal or a spreadsheet. */
#include "../check.h"

#include "benchctl/base/mem.h"
#include "benchctl/base/plain_text.h"

static void plain(const char *text, const char *kept, const char *expected)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;

    plain_add(&out, text, kept);
    assert_string_equal(strbuf_text(&out), expected);
}

static void terminals(void **state)
{
    (void)state;
    plain("", "", "");
    plain("h\xc3\xa4llo, w\xc3\x9brld", "", "h\xc3\xa4llo, w\xc3\x9brld");
    plain("\x1b[2J\x1b]0;x\x07", "", "?[2J?]0;x?");
    plain("a\nb\tc\rd", "\n", "a\nb?c?d");
    plain("a\nb", "", "a?b");
    plain("a\r\nb\r", "\n", "a\r\nb?");
    plain("a\r\nb", "", "a??b");
    plain("\x7f\xc2\x9b"
          "31m\xc2\xa0",
          "", "??31m\xc2\xa0");
    plain("cut \xc2", "", "cut \xc2");
}

static void csv(const char *text, const char *expected)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;

    csv_add(&out, text);
    assert_string_equal(strbuf_text(&out), expected);
}

static void spreadsheets(void **state)
{
    (void)state;
    csv("", "");
    csv("a b", "a b");
    csv("a,b", "\"a,b\"");
    csv("say \"x\"", "\"say \"\"x\"\"\"");
    csv("two\nlines", "\"two\nlines\"");
    csv("two\r\nlines", "\"two\r\nlines\"");
    csv("over\rwritten", "over?written");
    csv("\x1b[31mred", "?[31mred");
    csv("=1+1", "'=1+1");
    csv("=HYPERLINK(\"a\",1)", "\"'=HYPERLINK(\"\"a\"\",1)\"");
    csv("@x", "'@x");
    csv("\t=1", "'\t=1");
    csv("-1.5e3", "-1.5e3");
    csv("+3", "+3");
    csv("-1+2", "'-1+2");
    csv("-", "'-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terminals),
        cmocka_unit_test(spreadsheets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
