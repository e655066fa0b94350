/* SPDX-License-Identifier: MIT */
/* Checks after the load, by SQL or by arithmetic, and expectations of the trial's own numbers. */
#include "run_internal.h"

#include "benchctl/base/clock.h"

/* "== 0" against the value: expectation_parse() wants a name in front. */
static bool holds(struct trial_run *t, const char *expect, const char *value, const char **ret_message)
{
    struct expectation e;
    struct error err = ERROR_INIT;
    double number;
    const char *text = arena_printf(t->arena, "value %s", expect);

    if (expectation_parse(text, t->arena, &e, &err) < 0) {
        *ret_message = arena_strdup(t->arena, err.message);
        return false;
    }
    if (!value || number_scan(value, strlen(value), &number) != strlen(value) || !value[0]) {
        *ret_message = arena_printf(t->arena, "the value '%s' is not a number", value ? value : "null");
        return false;
    }
    return expectation_holds(&e, number);
}

/* The trial's own time: gathering the evidence has been given more. */
static int64_t time_up_ns(const struct trial_run *t)
{
    return t->settings->timeout_ns > 0 ? t->begin_ns + t->settings->timeout_ns : LOOP_FOREVER;
}

/* One value, of a query or of arithmetic over the trial's numbers. */
static int value_of(struct trial_run *t, const struct check_settings *c, const char **ret, struct error *err)
{
    const char *sql;
    char *value = NULL;
    double number;

    if (c->value) {
        CLEANUP(json_free) struct json *numbers = trial_to_json(&t->record);
        if (trial_value(numbers, c->value, &number, err) < 0)
            return -1;
        *ret = arena_printf(t->arena, "%.15g", number);
        return 0;
    }
    if (!t->sweep->postgres)
        return error_set(err, ERROR_ENVIRONMENT, "there is no database to ask");
    if (clock_now_ns() >= time_up_ns(t))
        return trial_time_error(t, err);
    if (run_expand(t, c->sql, &sql, err) < 0 || postgres_query(t->sweep->postgres, sql, &value, err) < 0)
        return -1;
    *ret = arena_strdup(t->arena, value);
    free(value);
    return 0;
}

/* What cannot be evaluated is a check that did not pass, with the reason, never a lost trial. */
static int run_check(struct trial_run *t, const struct check_settings *c, struct check_result *ret,
                     struct error *err)
{
    struct error e = ERROR_INIT;

    *ret = (struct check_result){.name = c->name, .expect = c->expect, .gated = c->expect != NULL};
    if (value_of(t, c, &ret->value, &e) < 0) {
        if (e.kind == ERROR_INTERRUPTED) {
            *err = e;
            return -1;
        }
        ret->message = arena_strdup(t->arena, e.message);
        return 0;
    }
    ret->passed = !c->expect || holds(t, c->expect, ret->value, &ret->message);
    return 0;
}

static void check_expectations(struct trial_run *t, struct check_result *results, size_t *count)
{
    CLEANUP(json_free) struct json *j = trial_to_json(&t->record);
    const struct text_list *all = &t->settings->expect;

    for (size_t i = 0; i < all->len; i++) {
        struct expectation e;
        struct error err = ERROR_INIT;
        struct check_result *r = &results[(*count)++];
        double value = NAN;
        *r = (struct check_result){.name = all->items[i], .expect = all->items[i], .gated = true};
        if (expectation_parse(all->items[i], t->arena, &e, &err) < 0) {
            r->message = arena_strdup(t->arena, err.message);
            continue;
        }
        if (trial_number(j, e.name, &value) < 0)
            r->message = arena_printf(t->arena, "a trial records no '%s'", e.name);
        else if (isnan(value))
            r->message = arena_printf(t->arena, "'%s' was not measured", e.name);
        else
            r->value = arena_printf(t->arena, "%.6g", value);
        r->passed = expectation_holds(&e, value);
    }
}

static int run_checks(struct trial_run *t, struct check_result *results, struct error *err)
{
    const struct check_settings *checks = t->settings->checks.items;

    for (size_t i = 0; i < t->settings->checks.len; i++)
        if (run_check(t, &checks[i], &results[i], err) < 0)
            return -1;
    return 0;
}

/* The application has stopped: whatever it was to write is written, and the counters are complete. */
int step_checks(struct trial_run *t, struct error *err)
{
    struct postgres *p = t->settings->database ? t->sweep->postgres : NULL;
    size_t n = t->settings->checks.len;
    struct check_result *results =
        arena_array(t->arena, struct check_result, n + t->settings->expect.len + 1);

    if (database_finish(t, err) < 0)
        return -1;
    if (p)
        postgres_limit(p, time_up_ns(t));
    int rc = run_checks(t, results, err);
    if (p)
        postgres_limit(p, LOOP_FOREVER);
    if (rc < 0)
        return -1;
    check_expectations(t, results, &n);
    t->record.checks = results;
    t->record.check_count = n;
    return 0;
}
