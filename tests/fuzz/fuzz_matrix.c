/* SPDX-License-Identifier: MIT */
/*
 * Matrices from anybody: read, and if they are right, planned and resolved. Whatever comes, a message is one
 * line of printable text, and what was accepted keeps its promises.
 */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "benchctl/base/strbuf.h"
#include "benchctl/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define COMBINATIONS_MAX 2000
#define RESOLVED_MAX 20
#define PLAYED_MAX 2000 /* trials of a schedule */

static void check_message(const struct error *err)
{
    size_t len = strlen(err->message);

    assert(err->kind != ERROR_NONE && len > 0 && len < 4000);
    for (size_t i = 0; i < len; i++)
        assert((unsigned char)err->message[i] >= 0x20 && err->message[i] != 0x7f);
}

static void count_problem(const struct error *err, void *data)
{
    check_message(err);
    ++*(size_t *)data;
}

/* Is the plan small enough to be made a million times? */
static bool is_small(const struct matrix *m)
{
    size_t product = 1;

    for (size_t i = 0; i < m->axis_count && product <= COMBINATIONS_MAX; i++)
        product *= m->axes[i].len;
    return product <= COMBINATIONS_MAX && m->include_count <= COMBINATIONS_MAX;
}

static void resolve_some(const struct plan *p)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct resolved r;
    struct error err = ERROR_INIT;

    for (size_t i = 0; i < plan_counts(p)->scenarios && i < RESOLVED_MAX; i++) {
        arena_reset(a);
        if (plan_resolve(p, i, a, &r, &err) < 0) {
            check_message(&err);
            continue;
        }
        assert(r.settings.load.adapter && (r.settings.app.image || r.settings.app.build));
        CLEANUP(json_free) struct json *j = schema_to_json(&settings_schema, &r.settings, false);
        assert(json_len(j) > 0);
    }
}

/* Whatever comes of its trials, a schedule ends within its bound, and asks for what there is. */
static void play_some(const struct plan *p, const uint8_t *data, size_t size)
{
    CLEANUP(plan_schedule_free) struct plan_schedule *s = plan_schedule_new(p);
    struct planned_trial t;
    struct plan_progress at;
    uint64_t told = 0;

    for (; told < PLAYED_MAX && plan_schedule_next(s, &t); told++) {
        plan_schedule_progress(s, &at);
        assert(at.told == told && at.left_at_most > 0 && told + at.left_at_most <= plan_counts(p)->trials);
        assert(t.scenario < plan_counts(p)->scenarios && t.trial >= 1 && t.trial <= plan_matrix(p)->trials);
        plan_schedule_tell(s, (enum outcome)(data[told % size] % OUTCOMES));
    }
    for (size_t i = 0; i < plan_search_count(p) && i < RESOLVED_MAX; i++) {
        struct plan_finding f;
        plan_schedule_finding(s, i, &f);
        assert(f.done || told == PLAYED_MAX);
    }
}

/* What is kept of a matrix is one itself, and has nothing left to hide. */
static void mask_twice(const uint8_t *data, size_t size)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf once = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf twice = STRBUF_INIT;
    struct error err = ERROR_INIT;

    assert(tree_mask_secrets((const char *)data, size, "fuzz.yaml", &once, &err) == 0);
    assert(tree_mask_secrets(strbuf_text(&once), once.len, "fuzz.yaml", &twice, &err) == 0);
    assert(once.len == twice.len && memcmp(strbuf_text(&once), strbuf_text(&twice), once.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(matrix_free) struct matrix *m = NULL;
    CLEANUP(plan_free) struct plan *p = NULL;
    struct error err = ERROR_INIT;
    const struct plan_options none = {0};
    size_t problems = 0;
    const struct matrix_options all = {
        .seed = SCHEMA_ABSENT, .report = count_problem, .report_data = &problems};

    if (size > 100000)
        return 0;
    if (matrix_parse((const char *)data, size, "fuzz.yaml", NULL, &m, &err) < 0) {
        check_message(&err);
        /* collecting every problem finds at least the one that stopping at the first found */
        assert(matrix_parse((const char *)data, size, "fuzz.yaml", &all, &m, &err) < 0 && problems > 0);
        return 0;
    }
    mask_twice(data, size);
    if (!is_small(m))
        return 0;
    if (plan_make(m, &none, &p, &err) < 0) {
        check_message(&err);
        return 0;
    }
    resolve_some(p);
    play_some(p, data, size);
    return 0;
}
