/* SPDX-License-Identifier: MIT */
#include "adapter_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void print_texts(const struct json *array, struct strbuf *out)
{
    for (size_t i = 0; i < json_len(array); i++)
        strbuf_addf(out, " %s", json_text(json_at(array, i)));
}

static void print_options(const struct json *options, struct strbuf *out)
{
    strbuf_adds(out, json_len(options) ? "\noptions:\n" : "\nno options\n");
    for (void *it = json_iter(options); it; it = json_iter_next(options, it)) {
        const struct json *o = json_iter_value(it);
        const char *fallback = json_get_text(o, "default"), *help = json_get_text(o, "help");
        strbuf_addf(out, "  %-18s %-9s", json_iter_key(it), json_get_text(o, "type"));
        if (json_get_bool(o, "required"))
            strbuf_adds(out, " required");
        else if (fallback)
            strbuf_addf(out, " default %s", fallback);
        strbuf_addf(out, "%s%s\n", help ? "  " : "", help ? help : "");
    }
}

static void print_call(const struct json *j, struct strbuf *out)
{
    const char *program = json_get_text(j, "program");
    const struct json *args = json_get(j, "args");

    if (!program) {
        strbuf_adds(out, "\nruns nothing\n");
        return;
    }
    strbuf_addf(out, "\ncall: %s", program);
    for (size_t i = 0; i < json_len(args); i++) {
        const struct json *a = json_at(args, i);
        const char *condition = json_get_text(a, "when"), *not = json_get_text(a, "unless");
        const char *each = json_get_text(a, "each");
        const char *said = condition ? condition : not ? not : each;
        if (said)
            strbuf_addf(out, " [%s %s:", condition ? "when" : not ? "unless" : "each", said);
        if (json_text(a))
            strbuf_addf(out, " %s", json_text(a));
        else if (json_get_text(a, "args"))
            strbuf_addf(out, " %s", json_get_text(a, "args"));
        else
            print_texts(json_get(a, "args"), out);
        if (said)
            strbuf_addc(out, ']');
    }
    strbuf_addc(out, '\n');
}

void adapter_print_form(const struct json *j, struct strbuf *out)
{
    const char *const keys[] = {"help", "file", "program", "package", "url", "model", "corrected"};

    strbuf_addf(out, "%s\n", json_get_text(j, "name"));
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        CLEANUP_FREE char *pointer = xasprintf("/reports/0/texts/%s", keys[i]);
        const char *value = json_get_text(j, keys[i]);
        if (value && strcmp(value, "unknown") == 0 && json_pointer(j, pointer))
            value = "depends on the load: each result says";
        if (value)
            strbuf_addf(out, "  %-10s %s\n", keys[i], value);
    }
    print_options(json_get(j, "options"), out);
    print_call(j, out);
}

static void print_number(struct strbuf *out, const char *name, double value)
{
    if (isnan(value))
        strbuf_addf(out, "%-22s -\n", name);
    else
        strbuf_addf(out, "%-22s %.10g\n", name, value);
}

static void print_latency(struct strbuf *out, const char *name, const struct latency *l)
{
    const struct {
        const char *name;
        double value;
    } rows[] = {
        {"min", l->min}, {"mean", l->mean}, {"stdev", l->stdev}, {"p50", l->p50},   {"p75", l->p75},
        {"p90", l->p90}, {"p95", l->p95},   {"p99", l->p99},     {"p999", l->p999}, {"max", l->max},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP_FREE char *full = xasprintf("%s.%s", name, rows[i].name);
        print_number(out, full, rows[i].value);
    }
}

/* Of each phase, or kind of request, the main figures; the rest is in the JSON. */
static void print_parts(struct strbuf *out, const char *name, const char *text)
{
    static const char *const figures[] = {"/requests",      "/ok", "/failed", "/rps", "/latency_ms/p50",
                                          "/latency_ms/p99"};
    struct error ignored = ERROR_INIT;
    CLEANUP(json_free) struct json *all = NULL;

    if (!text || json_parse(text, strlen(text), name, &all, &ignored) < 0)
        return;
    for (size_t i = 0; i < json_len(all); i++) {
        const struct json *one = json_at(all, i);
        const char *its = json_get_text(one, "name");
        strbuf_addf(out, "%s %s:", name, its ? its : "?");
        for (size_t k = 0; k < ARRAY_LEN(figures); k++) {
            const struct json *figure = json_pointer(one, figures[k]);
            CLEANUP_FREE char *label = xstrdup(figures[k] + 1);
            for (char *p = label; *p; p++)
                *p = *p == '/' ? '.' : *p;
            if (json_type_of(figure) == JSON_TYPE_NUMBER)
                strbuf_addf(out, " %s %.10g", label, json_number(figure));
        }
        strbuf_addc(out, '\n');
    }
}

void adapter_print_result(const struct load_result *r, const struct load_problems *p, struct strbuf *out)
{
    const struct {
        const char *name;
        double value;
    } rows[] = {
        {"requests", r->requests},
        {"ok", r->ok},
        {"failed", r->failed},
        {"error_rate", r->error_rate},
        {"rps", r->rps},
        {"goodput_rps", r->goodput_rps},
        {"duration_ms", r->duration_ms},
        {"received_bytes", r->received_bytes},
        {"dropped", r->dropped},
        {"offered", r->offered},
        {"connections", r->connections},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        print_number(out, rows[i].name, rows[i].value);
    print_latency(out, "latency_ms", &r->latency_ms);
    if (!isnan(r->service_ms.max) || !isnan(r->service_ms.p50))
        print_latency(out, "service_ms", &r->service_ms);
    for (size_t i = 0; i < r->error_count; i++) {
        CLEANUP_FREE char *name = xasprintf("errors.%s", r->errors[i].kind);
        print_number(out, name, r->errors[i].count);
    }
    strbuf_addf(out, "%-22s %s\n%-22s %s\n", "model", r->model ? r->model : "-", "corrected",
                r->corrected ? r->corrected : "-");
    print_parts(out, "phase", r->phases);
    print_parts(out, "request", r->by_request);
    for (size_t i = 0; i < p->len; i++)
        strbuf_addf(out, "note: %s\n", p->items[i]);
    for (size_t i = 0; i < p->invalid_len; i++)
        strbuf_addf(out, "not to be trusted: %s\n", p->invalid[i].sentence);
}

struct json *adapter_result_json(const struct load_result *r, const struct load_problems *p)
{
    struct json *j = load_result_to_json(r);

    if (p->len) {
        struct json *notes = json_new_array();
        for (size_t i = 0; i < p->len; i++)
            json_append(notes, json_new_text(p->items[i]));
        json_set(j, "notes", notes);
    }
    if (p->invalid_len) {
        struct json *doubts = json_new_array();
        for (size_t i = 0; i < p->invalid_len; i++) {
            struct json *one = json_new_object();
            json_set_text(one, "id", p->invalid[i].id);
            json_set_text(one, "message", p->invalid[i].sentence);
            json_append(doubts, one);
        }
        json_set(j, "invalid", doubts);
    }
    return j;
}

void adapter_print_metrics(const struct metric_value *values, size_t count, struct strbuf *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct {
            const char *name;
            double value;
        } parts[] = {{"avg", values[i].avg},
                     {"max", values[i].max},
                     {"last", values[i].last},
                     {"increase", values[i].increase}};
        strbuf_addf(out, "%-28s", values[i].name);
        for (size_t k = 0; k < ARRAY_LEN(parts); k++)
            if (!isnan(parts[k].value))
                strbuf_addf(out, " %s %.10g", parts[k].name, parts[k].value);
        strbuf_addc(out, '\n');
    }
}

struct json *adapter_metrics_json(const struct metric_value *values, size_t count)
{
    struct json *j = json_new_object();

    for (size_t i = 0; i < count; i++) {
        struct json *one = json_new_object();
        json_set_number(one, "avg", values[i].avg);
        json_set_number(one, "max", values[i].max);
        json_set_number(one, "last", values[i].last);
        json_set_number(one, "increase", values[i].increase);
        json_set(j, values[i].name, one);
    }
    return j;
}
