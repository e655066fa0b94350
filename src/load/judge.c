/* SPDX-License-Identifier: MIT */
#include "judge.h"

#include <math.h>
#include <string.h>
#include "benchctl/base/interpolate.h"
#include "report.h"

/* Rounding in printed figures: two decimals of a unit that begins at 0.85, and estimates of quantiles. */
#define TOLERANCE 1.02
#define TOLERANCE_MS 0.06

struct figure {
    const char *name;
    double ms;
};

/* Each quantile is at least the one before it. */
static int check_order(const struct latency *l, const char *path, struct error *err)
{
    const struct figure figures[] = {{"min", l->min}, {"p50", l->p50}, {"p75", l->p75},    {"p90", l->p90},
                                     {"p95", l->p95}, {"p99", l->p99}, {"p99.9", l->p999}, {"max", l->max}};
    struct figure last = {"zero", 0};

    for (size_t i = 0; i < ARRAY_LEN(figures); i++) {
        if (isnan(figures[i].ms))
            continue;
        if (last.ms > figures[i].ms * TOLERANCE + TOLERANCE_MS)
            return error_set(err, ERROR_INVALID,
                             "%s: implausible: latency %s is %.10g ms, but %s is %.10g ms", path, last.name,
                             last.ms, figures[i].name, figures[i].ms);
        last = figures[i];
    }
    if (l->mean > l->max * TOLERANCE + TOLERANCE_MS)
        return error_set(err, ERROR_INVALID,
                         "%s: implausible: the mean latency is %.10g ms, but the greatest is %.10g ms", path,
                         l->mean, l->max);
    return 0;
}

/* No quantile is longer than the run. */
static int check_length(const struct load_result *r, double window_ms, const char *path, struct error *err)
{
    const struct figure figures[] = {
        {"p50", r->latency_ms.p50}, {"p90", r->latency_ms.p90}, {"p99", r->latency_ms.p99}};
    double run = fmax(r->duration_ms, window_ms); /* fmax() takes the one that is a number */

    for (size_t i = 0; i < ARRAY_LEN(figures); i++)
        if (figures[i].ms > run * 1.1 + 100)
            return error_set(err, ERROR_INVALID,
                             "%s: implausible: latency %s is %.10g ms, but the run lasted %.10g ms", path,
                             figures[i].name, figures[i].ms, run);
    return 0;
}

static int check_signs(const struct load_result *r, const char *path, struct error *err)
{
    const struct figure figures[] = {{"requests", r->requests},
                                     {"ok", r->ok},
                                     {"failed", r->failed},
                                     {"rps", r->rps},
                                     {"duration", r->duration_ms},
                                     {"received_bytes", r->received_bytes},
                                     {"dropped", r->dropped},
                                     {"latency min", r->latency_ms.min},
                                     {"latency mean", r->latency_ms.mean}};

    for (size_t i = 0; i < ARRAY_LEN(figures); i++)
        if (figures[i].ms < 0 || isinf(figures[i].ms))
            return error_set(err, ERROR_INVALID, "%s: implausible: '%s' is %g", path, figures[i].name,
                             figures[i].ms);
    for (size_t i = 0; i < r->error_count; i++)
        if (r->errors[i].count < 0)
            return error_set(err, ERROR_INVALID, "%s: implausible: %g errors of kind '%s'", path,
                             r->errors[i].count, r->errors[i].kind);
    return 0;
}

static void say(struct sentences *out, struct arena *a, const char *text)
{
    vec_push(&out->list, arena_strdup(a, text));
}

/* A value's number in an adapter's sentence. */
static enum lookup_result sentence_value(const char *name, struct strbuf *out, void *data, struct error *err)
{
    (void)err;
    if (text_starts(name, "text.")) {
        const char *text = evaluation_text(name + strlen("text."), data);
        strbuf_adds(out, text ? text : "?");
        return LOOKUP_FOUND;
    }
    double number = evaluation_number(name, data);
    if (isnan(number))
        strbuf_adds(out, "?");
    else
        strbuf_addf(out, number == floor(number) && fabs(number) < 1e15 ? "%.0f" : "%.4g", number);
    return LOOKUP_FOUND;
}

static int run_checks(struct evaluation *e, struct sentences *out, struct error *err)
{
    for (const struct check *c = e->report->checks; c < e->report->checks + e->report->check_count; c++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
        double holds = expr_value(c->that, evaluation_number, e);
        if (isnan(holds) || holds != 0)
            continue;
        if (interpolate(c->form->say, sentence_value, e, &text, err) < 0)
            return -1;
        if (c->form->level == CHECK_ERROR)
            return error_set(err, ERROR_INVALID, "%s: %s", e->documents[0].path, strbuf_text(&text));
        const char *sentence = arena_strdup(e->arena, strbuf_text(&text));
        if (c->form->level == CHECK_NOTE)
            vec_push(&out->list, sentence);
        else
            vec_push(&out->invalid, ((struct load_doubt){c->form->id, sentence}));
    }
    return evaluation_check(e, err);
}

/* Figures that a load has or has not by what was asked for: a tool's null means that there was nothing to
 * measure. */
static bool of_some_loads(const char *name)
{
    static const char *const names[] = {"fallbacks", "concurrency", "think", "lag_p99", "corrected_p99"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (text_equal(names[i], name))
            return true;
    return false;
}

/* Of the latencies that the report declares: which did not come. Of other figures those that have something
 * else than a number. */
static void say_missing(struct evaluation *e, const struct load_result *r, struct sentences *out)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    size_t declared = 0, missing = 0;

    for (size_t i = 0; i < e->report->value_count; i++) {
        const char *name = e->report->values[i].name;
        bool latency = text_starts(name, "latency.");
        declared += latency;
        if (!isnan(e->numbers[i]) || !(latency || (e->non_numbers[i] && !of_some_loads(name))))
            continue;
        missing += latency;
        strbuf_addf(&text, "%s%s", text.len ? ", " : "not measured: ", name);
    }
    if (declared && missing == declared && isnan(r->latency_ms.mean))
        say(out, e->arena, "latency not measured");
    else if (text.len)
        say(out, e->arena, strbuf_text(&text));
}

static void say_short(const struct evaluation *e, const struct load_result *r, struct sentences *out)
{
    double asked = evaluation_number("asked.duration", (void *)(uintptr_t)e);

    if (r->duration_ms < 0.9 * asked - 50 || r->duration_ms > 1.1 * asked + 500)
        vec_push(&out->list, arena_printf(e->arena,
                                          asked < 1e6 ? "the load lasted %.3g s instead of %.3g s"
                                                      : "the load lasted %.0f s instead of %.0f s",
                                          r->duration_ms / 1e3, asked / 1e3));
}

int load_judge(struct evaluation *e, const struct load_result *r, double window_ms, struct sentences *out,
               struct error *err)
{
    const char *path = e->documents[0].path;

    if (check_signs(r, path, err) < 0 || check_order(&r->latency_ms, path, err) < 0 ||
        check_length(r, window_ms, path, err) < 0)
        return -1;
    if (run_checks(e, out, err) < 0)
        return -1;
    say_missing(e, r, out);
    say_short(e, r, out);
    return 0;
}

const char *load_judge_nothing(struct evaluation *e, const struct load_result *r)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf kinds = STRBUF_INIT;

    if (evaluation_measured(e))
        return NULL;
    for (size_t i = 0; i < r->error_count; i++)
        if (r->errors[i].count > 0)
            strbuf_addf(&kinds, "%s%s %.0f", kinds.len ? ", " : "; errors: ", r->errors[i].kind,
                        r->errors[i].count);
    if (r->requests > 0)
        return arena_printf(e->arena, "nothing measured: none of %.0f requests was answered%s", r->requests,
                            strbuf_text(&kinds));
    return arena_printf(e->arena, "nothing measured: no request was finished%s", strbuf_text(&kinds));
}
