/* SPDX-License-Identifier: MIT */
/* Expressions that could take for ever are refused, others match bytes of single lines. */
#include "../check.h"

#include "benchctl/base/mem.h"
#include "benchctl/base/line_regex.h"

static void refused(const char *text, const char *why)
{
    struct error err = ERROR_INIT;
    regex_t r;

    if (regex_compile(text, &r, &err) == 0)
        fail_msg("was taken: %s", text);
    if (!strstr(err.message, why))
        fail_msg("'%s' does not say '%s'", err.message, why);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_true(err.hint[0]);
}

static bool matches(const char *text, const char *line, size_t len)
{
    struct error err = ERROR_INIT;
    regex_t r;

    if (regex_compile(text, &r, &err) < 0)
        fail_msg("%s", err.message);
    bool yes = regex_match(&r, line, len);
    regfree(&r);
    return yes;
}

static void refusals(void **state)
{
    static const char *const loose[] = {"(a*)*b",     "((a+)+)+b", "(a|a|a|aa)*b", "(a|ab)+",  "(a?)*",
                                        "(|a)*",      "()*|(|)+",  "(a?b|b)*",     "(.|a)*",   "([ab]|a){2,}",
                                        "(a{1,3})+b", "(a+){9}",   "((a*)|b)*",    "(a|b|a)*", "((a+)b*)*"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(loose); i++)
        refused(loose[i], loose[i][0] == '(' && loose[i][1] == ')' ? "repeats" : "repeats what can repeat");
    refused("(a*)*\\1b", "repeats what can repeat");
    refused("(a)\\1", "has a back reference");
    refused("[(](a)b\\9", "has a back reference");
    refused("a++++++++++++++++++++", "repeats");
    refused("(a{1000}){1000}", "repeats too much");
    refused("(", "bad regular expression '('");
    refused("a[", "bad regular expression");
    CLEANUP_FREE char *text = xcalloc(REGEX_TEXT_MAX + 2, 1);
    memset(text, 'a', REGEX_TEXT_MAX + 1);
    refused(text, "is too long");
    memset(text, '(', REGEX_TEXT_MAX);
    text[REGEX_TEXT_MAX] = '\0';
    refused(text, "too many groups");
}

static void taken(void **state)
{
    static const struct {
        const char *text, *line;
        bool yes;
    } cases[] = {
        {"listening on .*", "now listening on :80", true},
        {"^Started ([A-Za-z]+\\.)*App in [0-9.]+ s$", "Started a.b.App in 1.5 s", true},
        {"([0-9]{1,3}\\.){3}[0-9]{1,3}", "at 127.0.0.1 now", true},
        {"^(INFO|WARN|ERROR)+ ready$", "INFOWARN ready", true},
        {"^(INFO|WARN|ERROR)+ ready$", " ready", false},
        {".*?ready", "it is ready", true},
        {"[\\1]", "1", true},
        {"a\\\\1", "a\\1", true},
        {"ready|up", "up", true},
        {"\\{\"x\": *1}", "{\"x\": 1}", true},
        {"^\xc3\xa9.$", "\xc3\xa9\xff", true},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (matches(cases[i].text, cases[i].line, strlen(cases[i].line)) != cases[i].yes)
            fail_msg("'%s' on '%s'", cases[i].text, cases[i].line);
    }
}

/* No more than the beginning of a long line is looked at, and no end is found where it was cut. */
static void long_lines(void **state)
{
    size_t len = REGEX_LINE_MAX * 2;
    CLEANUP_FREE char *line = xmalloc(len);

    (void)state;
    memset(line, 'a', len);
    line[REGEX_LINE_MAX - 1] = 'b';
    line[REGEX_LINE_MAX] = 'c';
    assert_true(matches("ab", line, len));
    assert_false(matches("b$", line, len));
    assert_true(matches("b$", line, REGEX_LINE_MAX));
    assert_false(matches("c", line, len));
    line[1] = '\0';
    assert_true(matches("ab", line, len)); /* a NUL is a byte like others */
}

static void groups(void **state)
{
    struct error err = ERROR_INIT;
    size_t start = 9, end = 9;
    regex_t r;

    (void)state;
    assert_int_equal(regex_compile("x([0-9]+)|y", &r, &err), 0);
    assert_true(regex_find(&r, "ax12", 4, &start, &end));
    assert_true(start == 2 && end == 4);
    assert_true(regex_find(&r, "ay", 2, &start, &end));
    assert_true(start == 0 && end == 0);
    assert_false(regex_find(&r, "ax", 2, &start, &end));
    regfree(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals),
        cmocka_unit_test(taken),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
