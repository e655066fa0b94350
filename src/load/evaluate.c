/* SPDX-License-Identifier: MIT */
#include "evaluate.h"

#include <math.h>
#include <string.h>
#include "command.h"
#include "report.h"

#define TEXT_MAX ((size_t)1 << 20)

static const struct document *document_of(const struct evaluation *e, const struct adapter_output *output)
{
    for (size_t i = 0; i < e->document_count; i++)
        if (e->documents[i].output == output)
            return &e->documents[i];
    return NULL;
}

static double fail(struct evaluation *e, const struct error *err)
{
    if (!e->failed)
        e->error = *err;
    e->failed = true;
    return NAN;
}

/* What one alternative gives; NAN: nothing. */
static double source_number(struct evaluation *e, const struct source *s, bool *non_number)
{
    struct error err = ERROR_INIT;
    struct numbers numbers = {.interpolate = s->form->interpolate};

    if (s->expr)
        return expr_value(s->expr, evaluation_number, e);
    const struct document *d = document_of(e, s->output);
    if (!d)
        return s->form->fallback;
    int rc = source_numbers(s, d, &numbers, &err);
    double number = rc < 0 ? fail(e, &err) : numbers_take(&numbers, s->take, s->quantile);
    *non_number = *non_number || numbers.non_number;
    if (isnan(number) && !numbers.non_number && rc == 0)
        number = s->form->fallback;
    numbers_release(&numbers);
    return number;
}

static double value_number(struct evaluation *e, size_t index)
{
    const struct value *v = &e->report->values[index];

    if (e->states[index] == VALUE_READING) {
        struct error err = ERROR_INIT;
        (void)error_set(&err, ERROR_INVALID, "%s:%d:%d: '%s' depends on itself", v->at.file, v->at.line,
                        v->at.column, v->name);
        return fail(e, &err);
    }
    if (e->states[index] == VALUE_KNOWN || e->failed)
        return e->numbers[index];
    e->states[index] = VALUE_READING;
    double number = NAN;
    for (size_t i = 0; i < v->source_count && isnan(number) && !e->failed; i++)
        number = source_number(e, &v->sources[i], &e->non_numbers[index]);
    e->states[index] = VALUE_KNOWN;
    e->numbers[index] = number;
    return number;
}

/* The sum of the error kinds that were read; NAN when the report has none. */
static double error_sum(struct evaluation *e)
{
    double sum = NAN;

    for (size_t i = 0; i < e->report->value_count; i++) {
        if (!text_starts(e->report->values[i].name, "errors."))
            continue;
        double number = value_number(e, i);
        if (!isnan(number))
            sum = isnan(sum) ? number : sum + number;
    }
    return sum;
}

double evaluation_number(const char *name, void *evaluation)
{
    struct evaluation *e = evaluation;
    const struct value *v = load_report_value(e->report, name);

    if (v)
        return value_number(e, (size_t)(v - e->report->values));
    if (text_starts(name, "option.") || strcmp(name, "asked.duration") == 0)
        return load_asked_number(e->adapter, e->call, name, e->arena);
    if (strcmp(name, "failed") == 0)
        return error_sum(e);
    if (strcmp(name, "ok") == 0)
        return fmax(0, evaluation_number("requests", e) - evaluation_number("failed", e));
    return NAN;
}

int evaluation_check(const struct evaluation *e, struct error *err)
{
    if (!e->failed)
        return 0;
    *err = e->error;
    return -1;
}

static int check_required(struct evaluation *e, struct error *err)
{
    const struct text_list *required = &e->report->form->required;

    for (size_t i = 0; i < required->len; i++) {
        double number = evaluation_number(required->items[i], e);
        if (evaluation_check(e, err) < 0)
            return -1;
        if (isnan(number))
            return error_set(
                err, ERROR_INVALID,
                "%s: no '%s': the output is cut short, or of a form that adapter '%s' does not know",
                e->documents[0].path, required->items[i], e->adapter->name);
    }
    return 0;
}

static void fill_errors(struct evaluation *e, struct load_result *r)
{
    const size_t skip = strlen("errors.");

    r->errors = arena_array(e->arena, struct error_count, e->report->value_count + 1);
    for (size_t i = 0; i < e->report->value_count; i++) {
        const char *name = e->report->values[i].name;
        double number = text_starts(name, "errors.") ? value_number(e, i) : NAN;
        if (!isnan(number))
            r->errors[r->error_count++] = (struct error_count){arena_strdup(e->arena, name + skip), number};
    }
}

bool evaluation_measured(struct evaluation *e)
{
    double measured = expr_value(e->report->measured_if, evaluation_number, e);

    return !isnan(measured) && measured != 0;
}

static void fill_latency(struct evaluation *e, const char *prefix, struct latency *l)
{
    double *const slots[] = {&l->min, &l->mean, &l->stdev, &l->p50,  &l->p75,
                             &l->p90, &l->p95,  &l->p99,   &l->p999, &l->max};
    double recorded = e->report->latency_if ? expr_value(e->report->latency_if, evaluation_number, e)
                                            : evaluation_measured(e);

    if (isnan(recorded) || recorded == 0)
        return;
    for (size_t i = 0; load_latency_names[i]; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "%s%s", prefix, load_latency_names[i]);
        *slots[i] = evaluation_number(name, e);
    }
}

const char *evaluation_text(const char *name, const struct evaluation *e)
{
    const char *pointer = text_map_get(&e->report->form->texts, name);
    const struct document *d = &e->documents[0];
    const struct json *j =
        pointer && d->output->format == FORMAT_JSON ? load_json_find(d->json, pointer) : NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = {.max = TEXT_MAX};

    if (json_type_of(j) == JSON_TYPE_NULL)
        return NULL;
    if (json_text(j))
        return arena_strdup(e->arena, json_text(j));
    json_write(j, JSON_STYLE_COMPACT, &text);
    return text.overflow ? NULL : arena_strdup(e->arena, strbuf_text(&text));
}

/* One of these, or what stood there before. */
static void choose(const char *text, const char *const *from, const char **ret)
{
    for (size_t i = 0; text && from[i]; i += 2)
        if (strcmp(from[i], text) == 0)
            *ret = from[i + 1];
}

static void fill_texts(const struct evaluation *e, struct load_result *r)
{
    static const char *const models[] = {"closed", "closed", "open", "open", "mixed", "mixed", NULL};
    static const char *const words[] = {"yes", "yes", "true", "yes", "no", "no", "false", "no", NULL};

    choose(evaluation_text("model", e), models, &r->model);
    choose(evaluation_text("corrected", e), words, &r->corrected);
    r->phases = evaluation_text("phases", e);
    r->by_request = evaluation_text("by_request", e);
}

int evaluation_fill(struct evaluation *e, struct load_result *ret, struct error *err)
{
    struct load_result *r = ret;

    if (check_required(e, err) < 0)
        return -1;
    r->requests = evaluation_number("requests", e);
    r->failed = evaluation_number("failed", e);
    double ok = evaluation_number("ok", e);
    r->ok =
        isnan(r->requests) || (isnan(r->failed) && !load_report_value(e->report, "ok")) ? NAN : fmax(0, ok);
    /* Of all that was tried: a tool may count what broke apart from its requests. */
    r->error_rate = r->requests > 0 && r->ok + r->failed > 0 ? r->failed / (r->ok + r->failed) : NAN;
    r->rps = evaluation_number("rps", e);
    r->duration_ms = evaluation_number("duration", e);
    r->received_bytes = evaluation_number("received_bytes", e);
    r->dropped = evaluation_number("dropped", e);
    r->offered = evaluation_number("offered", e);
    r->connections = evaluation_number("connections", e);
    r->concurrency = evaluation_number("concurrency", e);
    r->think_ms = evaluation_number("think", e);
    r->corrected_p99_ms = evaluation_number("corrected_p99", e);
    r->lag_p99_ms = evaluation_number("lag_p99", e);
    r->fallbacks = evaluation_number("fallbacks", e);
    fill_latency(e, "latency.", &r->latency_ms);
    fill_latency(e, "service.", &r->service_ms);
    fill_texts(e, r);
    fill_errors(e, r);
    return evaluation_check(e, err);
}
