/* SPDX-License-Identifier: MIT */
#include "benchctl/trial.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/units.h"

static const char *const OPERATORS[] = {"<=", ">=", "==", "!=", "<", ">"}; /* longest first */

/* A plain number, or a size or duration in the unit that the recorded names have: bytes, milliseconds. */
static int bound_parse(const char *text, double *ret, struct error *err)
{
    struct error ignored = ERROR_INIT;
    size_t len = strlen(text);
    int64_t whole;
    double value;

    if (len && number_scan(text, len, &value) == len) {
        if (!isfinite(value))
            return error_set(err, ERROR_INVALID, "bound '%s' is not a finite number", text);
        *ret = value;
    } else if (size_parse(text, &whole, &ignored) == 0) {
        *ret = whole == SIZE_UNLIMITED ? INFINITY : (double)whole;
    } else if (duration_parse(text, &whole, &ignored) == 0) {
        *ret = (double)whole / (double)NS_PER_MS;
    } else {
        return error_set(err, ERROR_INVALID, "bound '%s' is neither a number nor a size nor a duration",
                         text);
    }
    return 0;
}

static char *trimmed(struct arena *a, const char *text, size_t len)
{
    while (len && (*text == ' ' || *text == '\t')) {
        text++;
        len--;
    }
    while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        len--;
    return arena_strndup(a, text, len);
}

int expectation_parse(const char *text, struct arena *a, struct expectation *ret, struct error *err)
{
    size_t name_len = strcspn(text, "<>=!");
    struct expectation e = {.name = trimmed(a, text, name_len)};

    for (size_t i = 0; i < ARRAY_LEN(OPERATORS) && !e.op; i++) {
        if (text_starts(text + name_len, OPERATORS[i]))
            e.op = OPERATORS[i];
    }
    if (!e.op) {
        error_set(err, ERROR_INVALID, "'%s' is not an expectation", text);
        return error_hint(
            err, "write it as NAME OPERATOR NUMBER, for instance \"load.error_rate <= 0.01\"; operators: "
                 "< <= > >= == !=");
    }
    if (strpbrk(e.name, " \t"))
        return error_set(err, ERROR_INVALID, "'%s' is not the name of one number in '%s'", e.name, text);
    const char *bound = text + name_len + strlen(e.op);
    if (bound_parse(trimmed(a, bound, strlen(bound)), &e.bound, err) < 0)
        return error_wrap(err, "expectation '%s'", text);
    *ret = e;
    return 0;
}

int expectation_check(const char *text, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct expectation e;
    double ignored;

    if (expectation_parse(text, a, &e, err) < 0)
        return -1;
    if (e.name[0] && trial_number(NULL, e.name, &ignored) == 0)
        return 0;
    (void)error_set(err, ERROR_INVALID, "expectation '%s': a trial records no '%s'", text, e.name);
    return error_hint(err, "docs/outcomes.md has the names, for instance load.error_rate or app.restarts");
}

bool expectation_holds(const struct expectation *e, double value)
{
    if (isnan(value))
        return false;
    switch (e->op[0]) {
    case '<':
        return e->op[1] ? value <= e->bound : value < e->bound;
    case '>':
        return e->op[1] ? value >= e->bound : value > e->bound;
    case '=':
        return value == e->bound;
    default:
        return value != e->bound;
    }
}
