/* SPDX-License-Identifier: MIT */
#include "unit/check.h"

#include "benchctl/base/interpolate.h"
#include "benchctl/base/mem.h"
#include "benchctl/base/tree.h"

static enum lookup_result names(const char *name, struct strbuf *out, void *data, struct error *err)
{
    int *calls = data;

    (*calls)++;
    if (strcmp(name, "a") == 0 || strcmp(name, "runtime.tag") == 0) {
        strbuf_addf(out, "<%s>", name);
        return LOOKUP_FOUND;
    }
    if (strcmp(name, "empty") == 0)
        return LOOKUP_FOUND;
    if (strcmp(name, "env:X:-d e}f") == 0 || strncmp(name, "env:", 4) == 0) {
        strbuf_addf(out, "[%s]", name + 4);
        return LOOKUP_FOUND;
    }
    if (strncmp(name, "app.", 4) == 0 || strncmp(name, "secret:", 7) == 0)
        return LOOKUP_KEEP;
    if (strcmp(name, "broken") == 0) {
        (void)error_set(err, ERROR_ENVIRONMENT, "cannot look");
        return LOOKUP_FAILED;
    }
    return LOOKUP_UNKNOWN;
}

static void gives_mode(const char *text, const char *wanted, bool partly)
{
    struct strbuf out = STRBUF_INIT;
    struct error err = ERROR_INIT;
    int calls = 0;
    int result = partly ? interpolate_partly(text, names, &calls, &out, &err)
                        : interpolate(text, names, &calls, &out, &err);

    if (result < 0)
        fail_msg("%s: %s", text, err.message);
    assert_string_equal(strbuf_text(&out), wanted);
    strbuf_release(&out);
}

static void gives(const char *text, const char *wanted)
{
    gives_mode(text, wanted, false);
}

static void fails(const char *text, const char *message)
{
    struct strbuf out = STRBUF_INIT;
    struct error err = ERROR_INIT;
    int calls = 0;

    if (interpolate(text, names, &calls, &out, &err) == 0)
        fail_msg("'%s' was accepted", text);
    assert_has(err.message, message);
    strbuf_release(&out);
}

static void references_are_replaced(void **state)
{
    (void)state;
    gives("", "");
    gives("plain $ text $x {a} }", "plain $ text $x {a} }");
    gives("${a}", "<a>");
    gives("x${a}y${runtime.tag}z${a}", "x<a>y<runtime.tag>z<a>");
    gives("${empty}", "");
    gives("${app.host}:${secret:PW}", "${app.host}:${secret:PW}");
    gives("${env:HOME}/${env:X_1:-d: e}", "[HOME]/[X_1:-d: e]");
    gives("${env:X:-}", "[X:-]");
}

static void dollars_escape(void **state)
{
    (void)state;
    gives("$${a}", "${a}");
    gives("$$${a}", "$${a}");
    gives("$$${a}${a}", "$${a}<a>");
    gives("a$$b$", "a$$b$");
    gives("$${", "${");
    gives_mode("$${a}${a}${app.x}", "$${a}<a>${app.x}", true);
    assert_false(has_reference("$${a}"));
    assert_false(has_reference("$$$${a"));
    assert_true(has_reference("$${a}${a}"));
    assert_false(has_reference("$ {a}"));
}

static void bad_references(void **state)
{
    static const char *const bad[] = {"${}",        "${a b}",     "${a.}",          "${.a}",      "${a..b}",
                                      "${1a}",      "${a${a}}",   "${a:-x}",        "${env:}",    "${env:1}",
                                      "${env:A-B}", "${env:A:x}", "${secret:A:-b}", "${secret:}", "${a\n}",
                                      "${ a}",      "${a+1}",     "${env:A:-${a}"};

    (void)state;
    for (size_t i = 0; i + 1 < ARRAY_LEN(bad); i++)
        fails(bad[i], "is not a reference");
    gives(bad[ARRAY_LEN(bad) - 1], "[A:-${a]"); /* no nesting: the default ends at the first brace */
    fails("${a", "'${a' has no closing brace");
    fails("${", "has no closing brace");
    fails("${nope}", "unresolved '${nope}'");
    fails("${a}${nope.x}", "unresolved '${nope.x}'");
    fails("${broken}", "cannot look");
}

static void long_names_are_refused(void **state)
{
    char text[4096];

    (void)state;
    memset(text, 'a', sizeof(text));
    memcpy(text, "${", 2);
    memcpy(text + sizeof(text) - 2, "}", 2);
    fails(text, "a reference of more than 1023 bytes");
}

static void growth_has_a_limit(void **state)
{
    struct strbuf out = {.max = 20};
    struct error err = ERROR_INIT;
    int calls = 0;

    (void)state;
    assert_int_equal(interpolate("${a}${a}${a}${a}${a}${a}${a}${a}", names, &calls, &out, &err), -1);
    assert_has(err.message, "grows too long");
    strbuf_release(&out);
}

static int visit(const char *name, void *data, struct error *err)
{
    struct strbuf *seen = data;

    if (strcmp(name, "stop") == 0)
        return error_set(err, ERROR_INVALID, "stopped");
    strbuf_addf(seen, "%s;", name);
    return 0;
}

static void references_are_listed(void **state)
{
    struct strbuf seen = STRBUF_INIT;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(each_reference("x ${a} $${b} ${c.d}${env:E:-f}", visit, &seen, &err), 0);
    assert_string_equal(strbuf_text(&seen), "a;c.d;env:E:-f;");
    assert_int_equal(each_reference("${a}${stop}${b}", visit, &seen, &err), -1);
    assert_string_equal(err.message, "stopped");
    assert_int_equal(each_reference("${a b}", visit, &seen, &err), -1);
    assert_has(err.message, "is not a reference");
    strbuf_release(&seen);
}

static void references_of_a_tree_are_listed(void **state)
{
    static const char text[] = "a: [x, '${one}']\nb: {c: '${two} ${three}', d: plain}\n";
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct strbuf seen = STRBUF_INIT;
    struct error err = ERROR_INIT;
    const struct node *root = NULL;

    (void)state;
    assert_int_equal(tree_parse(text, sizeof(text) - 1, "x.yaml", a, &root, &err), 0);
    assert_int_equal(each_reference_below(root, visit, &seen, &err), 0);
    assert_string_equal(strbuf_text(&seen), "one;two;three;");
    assert_int_equal(each_reference_below(NULL, visit, &seen, &err), 0);
    strbuf_release(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_of_a_tree_are_listed),
        cmocka_unit_test(references_are_replaced),
        cmocka_unit_test(dollars_escape),
        cmocka_unit_test(bad_references),
        cmocka_unit_test(long_names_are_refused),
        cmocka_unit_test(growth_has_a_limit),
        cmocka_unit_test(references_are_listed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
