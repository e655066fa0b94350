/* SPDX-License-Identifier: MIT */
/* Arithmetic between values. */
#include "unit/check.h"

#include <math.h>
#include "benchctl/base/expr.h"
#include "benchctl/base/strbuf.h"

static void check_number(const char *what, double is, double wanted)
{
    if (isnan(wanted) ? !isnan(is) : !(fabs(is - wanted) <= 1e-9))
        fail_msg("%s: %.10g instead of %.10g", what, is, wanted);
}

static double look_up(const char *name, void *data)
{
    (void)data;
    return strcmp(name, "two") == 0 ? 2 : strcmp(name, "a.b") == 0 ? 10 : NAN;
}

static double value_of(const char *text)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct error err = ERROR_INIT;
    const struct expr *e = NULL;

    if (expr_compile(text, a, &e, &err) < 0)
        fail_msg("%s", err.message);
    return expr_value(e, look_up, NULL);
}

static void bad(const char *text, const char *part)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct error err = ERROR_INIT;
    const struct expr *e = NULL;

    assert_int_equal(expr_compile(text, a, &e, &err), -1);
    assert_has(err.message, part);
}

static void arithmetic(void **state)
{
    (void)state;
    check_number("precedence", value_of("1 + two * 3 - 4 / 2"), 5);
    check_number("left to right", value_of("10 - 3 - 2"), 5);
    check_number("parentheses", value_of("(1 + 2) * (a.b - -1)"), 33);
    check_number("minus", value_of("-two"), -2);
    check_number("fraction", value_of("1.5e1 * .2"), 3);
    check_number("functions", value_of("max(1, two, 3) + min(4, two) + abs(0 - 3) + round(2.5)"), 11);
    check_number("division by zero", value_of("1 / 0"), NAN);
}

static void conditions(void **state)
{
    (void)state;
    check_number("less", value_of("two < 3"), 1);
    check_number("greater or equal", value_of("two >= 3"), 0);
    check_number("and", value_of("two == 2 and a.b != 10"), 0);
    check_number("or", value_of("two == 1 or a.b == 10"), 1);
    check_number("if", value_of("if(two > 1, 7, 8)"), 7);
    check_number("else", value_of("if(two > 5, 7, 8)"), 8);
    check_number("if without else", value_of("if(two > 5, 7)"), NAN);
    check_number("a name that begins like an operator", value_of("first(orange, 4)"), 4);
}

/* What was not measured is not zero. */
static void unknown(void **state)
{
    (void)state;
    check_number("sum", value_of("1 + nothing"), NAN);
    check_number("comparison", value_of("nothing < 1"), NAN);
    check_number("min", value_of("min(nothing, 1)"), NAN);
    check_number("max", value_of("max(1, nothing)"), NAN);
    check_number("first", value_of("first(nothing, two)"), 2);
    check_number("known", value_of("known(nothing) + known(two)"), 1);
    check_number("if", value_of("if(nothing > 1, 2, 3)"), NAN);
}

static void malformed(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf deep = STRBUF_INIT;

    (void)state;
    bad("", "ends too early");
    bad("1 +", "ends too early");
    bad("(1", "expected ')'");
    bad("1 2", "unexpected text");
    bad("sum(1)", "unknown function 'sum'");
    bad("abs(1, 2)", "wrong number of arguments");
    bad("if(1)", "wrong number of arguments");
    bad("1 $ 2", "unexpected text at column 3");
    for (int i = 0; i < 5000; i++)
        strbuf_addc(&deep, '(');
    bad(strbuf_text(&deep), "too deep");
    strbuf_clear(&deep);
    for (int i = 0; i < 5000; i++)
        strbuf_adds(&deep, "1+");
    bad(strbuf_text(&deep), "too");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arithmetic), cmocka_unit_test(conditions),
                                       cmocka_unit_test(unknown), cmocka_unit_test(malformed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
