/* SPDX-License-Identifier: MIT */
/*
 * Scrapes: the body as it came, the tokenizer in both formats, recorded text, and the values that an adapter
 * takes from it. Whatever the bytes are, nothing may crash, and what is kept must keep the tokenizer's
 * promises.
 */
#include <assert.h>
#include <math.h>
#include "benchctl/sample.h"
#include "tracker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char adapter_text[] =
    "benchctl-adapter: 1\n"
    "metrics:\n"
    "  all: {from: [{series: '*'}]}\n"
    "  labelled: {from: [{series: '*', labels: {p: '!x|y*', a: '**'}, combine: avg}]}\n"
    "  counter: {kind: counter, from: [{series: '*_total'}, {series: '*'}]}\n"
    "  mean: {kind: mean, from: [{series: '*_sum', per: '*_count', scale: 1000}]}\n";

static void check_sample(const struct prom_sample *s)
{
    assert(s->name);
    for (size_t i = 0; i < s->label_count; i++) {
        assert(s->labels[i].name && s->labels[i].value);
        assert(i == 0 || strcmp(s->labels[i - 1].name, s->labels[i].name) < 0);
    }
}

static void parse(const char *text, size_t len, const char *type, struct tracker *t)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct prom_scrape s;
    struct error err = ERROR_INIT;

    if (prom_parse(text, len, type, a, &s, &err) < 0)
        return;
    for (size_t i = 0; i < s.sample_count; i++)
        check_sample(&s.samples[i]);
    for (size_t i = 0; i < s.family_count; i++)
        assert(s.families[i].name && s.families[i].type);
    assert((s.bad_lines > 0) == (s.first_bad_line > 0));
    tracker_add(t, &s, 1700000000000.0);
}

static void check_values(const struct tracker *t)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct metric_value *values;
    struct text_list notes;
    size_t len;

    tracker_values(t, a, &values, &len);
    tracker_notes(t, a, &notes);
    for (size_t i = 0; i < len; i++) {
        assert(values[i].name && values[i].gaps >= 0);
        assert(isnan(values[i].max) || isnan(values[i].avg) || values[i].max >= values[i].avg ||
               isinf(values[i].avg) || fabs(values[i].avg - values[i].max) <= 1e-9 * fabs(values[i].avg) ||
               strcmp(values[i].name, "mean") == 0);
    }
}

static void apply(const struct metric_adapter *adapter, const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP_FREE char *text = xstrndup((const char *)data, size);
    const char *texts[] = {text};
    struct metric_value *values;
    size_t len;
    struct error err = ERROR_INIT;

    (void)!metric_adapter_apply(adapter, texts, 1, a, &values, &len, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = {NULL, "text/plain; version=0.0.4",
                                        "application/openmetrics-text; version=1.0.0"};
    CLEANUP(metric_adapter_free) struct metric_adapter *adapter = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf plain = STRBUF_INIT;
    const char *warning;
    struct error err = ERROR_INIT;

    if (metric_adapter_parse(adapter_text, strlen(adapter_text), "fuzz.yaml", &adapter, &err) < 0)
        abort();
    CLEANUP(tracker_free) struct tracker *t = tracker_new(adapter);
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        parse((const char *)data, size, types[i], t);
    if (prom_plain_body((const char *)data, size, &plain, &warning, &err) == 0)
        parse(plain.data, plain.len, NULL, t);
    check_values(t);
    apply(adapter, data, size);
    return 0;
}
