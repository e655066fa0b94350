/* SPDX-License-Identifier: MIT */
/* Published tables: whatever the bytes are, it is a message with a place or verdicts that hold their
 * promises. */
#include <assert.h>
#include <math.h>
#include <string.h>
#include "benchctl/validity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct audit *r)
{
    size_t failed = 0;

    assert(r->rows && r->column_count);
    for (size_t i = 0; i < r->column_count; i++)
        assert(r->columns[i].name && r->columns[i].meaning);
    for (size_t i = 0; i < r->len; i++) {
        const struct audit_result *v = &r->results[i];
        const struct validity_rule *rule = validity_rule_find(v->id);
        assert(rule && rule->scope == VALIDITY_OF_TABLE && v->message);
        failed += strcmp(v->verdict, "FAIL") == 0;
    }
    assert(failed == r->failed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct audit_options options[] = {{NAN, NAN, NAN}, {10, 1000, 60}};

    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new();
        struct audit r;
        struct error err = ERROR_INIT;
        if (validity_audit((const char *)data, size, "fuzz.csv", &options[i], a, &r, &err) == 0)
            check(&r);
        else
            assert(err.kind == ERROR_INVALID && err.message[0]);
    }
    return 0;
}
