/* SPDX-License-Identifier: MIT */
/* What an adapter makes of scrapes. */
#ifndef TESTS_METRICS_TEST_H
#define TESTS_METRICS_TEST_H

#include "sample_test.h"

struct result {
    struct metric_adapter *adapter;
    struct arena *a;
    struct metric_value *values;
    size_t len;
    struct text_list notes;
};

static inline void result_release(struct result *r)
{
    metric_adapter_free(r->adapter);
    arena_free(r->a);
}
#define RESULT CLEANUP_VALUE(result_release) struct result

static inline struct metric_adapter *adapter_from(const char *text)
{
    struct metric_adapter *a;
    struct error err = ERROR_INIT;

    if (metric_adapter_parse(text, strlen(text), "dir/test.yaml", &a, &err) < 0)
        fail_msg("%s", err.message);
    return a;
}

/* One of the adapters that come with the program. */
static inline struct metric_adapter *shipped(const char *name)
{
    static char dir[] = SOURCE_DIR "/adapters";
    static char *const dirs[] = {dir, NULL};
    struct metric_adapter *a;
    struct error err = ERROR_INIT;

    if (metric_adapter_read(name, dirs, &a, &err) < 0)
        fail_msg("%s", err.message);
    return a;
}

/* Takes the adapter over. */
static inline struct result apply(struct metric_adapter *adapter, const char *const *texts, size_t count)
{
    struct result r = {.adapter = adapter, .a = arena_new()};
    struct error err = ERROR_INIT;

    if (metric_adapter_apply(adapter, texts, count, r.a, &r.values, &r.len, &err) < 0 ||
        metric_adapter_notes(adapter, texts, count, r.a, &r.notes, &err) < 0)
        fail_msg("%s", err.message);
    return r;
}

static inline struct result apply_cases(struct metric_adapter *adapter, const char *const *names,
                                        size_t count)
{
    struct strbuf texts[8] = {0};
    const char *plain[8];

    for (size_t i = 0; i < count; i++) {
        texts[i] = read_case(names[i]);
        plain[i] = strbuf_text(&texts[i]);
    }
    struct result r = apply(adapter, plain, count);
    for (size_t i = 0; i < count; i++)
        strbuf_release(&texts[i]);
    return r;
}

static inline const struct metric_value *value_of(const struct result *r, const char *name)
{
    for (size_t i = 0; i < r->len; i++)
        if (strcmp(r->values[i].name, name) == 0)
            return &r->values[i];
    return NULL;
}

static inline const struct metric_value *must(const struct result *r, const char *name)
{
    const struct metric_value *v = value_of(r, name);

    if (!v)
        fail_msg("no value of %s", name);
    return v;
}

static inline bool noted(const struct result *r, const char *part)
{
    for (size_t i = 0; i < r->notes.len; i++)
        if (strstr(r->notes.items[i], part))
            return true;
    return false;
}

#endif
