/* SPDX-License-Identifier: MIT */
/* Arithmetic between a trial's recorded numbers. */
#include "fields.h"

#include <stdio.h>
#include "benchctl/base/expr.h"
#include "benchctl/base/interpolate.h"

/* Each `${name}` becomes a name that the arithmetic can read: recorded names may hold dashes and dots. */
struct value {
    const struct json *trial;
    struct arena *arena;
    VEC(const char *) names; /* what _0, _1, ... stand for */
    const char *missing;     /* the first that was not measured */
};

static enum lookup_result place(const char *name, struct strbuf *out, void *data, struct error *err)
{
    struct value *v = data;
    double ignored;

    if (trial_number(v->trial, name, &ignored) < 0) {
        (void)error_set(err, ERROR_INVALID, "a trial records no number '%s'", name);
        return LOOKUP_FAILED;
    }
    strbuf_addf(out, " _%zu ", v->names.len);
    vec_push(&v->names, arena_strdup(v->arena, name));
    return LOOKUP_FOUND;
}

static const char *meant(const struct value *v, const char *name)
{
    return name[0] == '_' ? v->names.items[strtoul(name + 1, NULL, 10)] : name;
}

static int exists(const char *name, void *data, struct error *err)
{
    const struct value *v = data;
    char *end = NULL;
    double ignored;

    if (name[0] == '_' && strtoul(name + 1, &end, 10) < v->names.len && end != name + 1 && !*end)
        return 0;
    if (name[0] != '_' && trial_number(v->trial, name, &ignored) == 0)
        return 0;
    return error_set(err, ERROR_INVALID, "a trial records no number '%s'", name);
}

static double look_up(const char *name, void *data)
{
    struct value *v = data;
    double number = NAN;

    (void)trial_number(v->trial, meant(v, name), &number);
    if (isnan(number) && !v->missing)
        v->missing = meant(v, name);
    return number;
}

static int evaluate(struct value *v, const char *text, double *ret, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf placed = STRBUF_INIT;
    const struct expr *e = NULL;

    if (interpolate(text, place, v, &placed, err) < 0 ||
        expr_compile(strbuf_text(&placed), v->arena, &e, err) < 0 || expr_each_name(e, exists, v, err) < 0)
        return -1;
    if (!v->trial)
        return 0;
    double number = expr_value(e, look_up, v);
    if (isnan(number) && v->missing)
        return error_set(err, ERROR_TRIAL, "'%s' was not measured", v->missing);
    if (!isfinite(number))
        return error_set(err, ERROR_TRIAL, "it is not a number: a division by zero, or something unlimited");
    *ret = number;
    return 0;
}

int trial_value(const struct json *trial, const char *text, double *ret, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct value v = {.trial = trial, .arena = a};
    int rc = evaluate(&v, text, ret, err);

    vec_release(&v.names);
    return rc;
}
