/* SPDX-License-Identifier: MIT */
/* Trial records and expectations from anybody: refused, or the same after being written and read again. */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include "benchctl/trial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *written(const struct trial *t)
{
    CLEANUP(json_free) struct json *j = trial_to_json(t);
    struct strbuf out = STRBUF_INIT;

    json_write(j, JSON_STYLE_COMPACT, &out);
    return strbuf_detach(&out);
}

static void read_record(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP(json_free) struct json *j = NULL, *again = NULL;
    struct error err = ERROR_INIT;
    struct trial t, u;
    double value;

    if (json_parse((const char *)data, size, "trial", &j, &err) < 0)
        return;
    (void)trial_number(j, "load.latency_ms.p99", &value);
    (void)trial_number(j, "cache.memory_bytes.limit", &value);
    if (trial_from_json(j, a, &t, &err) < 0) {
        assert(err.kind == ERROR_INVALID && err.message[0]);
        return;
    }
    CLEANUP_FREE char *one = written(&t);
    if (json_parse(one, strlen(one), "again", &again, &err) < 0 || trial_from_json(again, a, &u, &err) < 0)
        abort();
    CLEANUP_FREE char *two = written(&u);
    assert(strcmp(one, two) == 0);
}

static void read_expectation(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP_FREE char *text = xstrndup((const char *)data, size);
    struct error err = ERROR_INIT;
    struct expectation e;
    double value;

    if (expectation_parse(text, a, &e, &err) < 0) {
        assert(err.kind == ERROR_INVALID && err.message[0]);
        return;
    }
    assert(!expectation_holds(&e, NAN));
    (void)expectation_holds(&e, 1);
    (void)trial_number(NULL, e.name, &value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    if (data[0] % 2)
        read_expectation(data + 1, size - 1);
    else
        read_record(data + 1, size - 1);
    return 0;
}
