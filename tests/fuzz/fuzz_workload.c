/* SPDX-License-Identifier: MIT */
/*
 * Workloads, templates and rows from anybody. What begins with `t:` is a template, with `r:` rows, and all
 * else a workload. What is accepted keeps its promises: times in order, values within the rows.
 */
#undef NDEBUG
#include <assert.h>
#include <math.h>

#include "benchctl/base/hash.h"
#include "workload_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_message(const struct error *err)
{
    size_t len = strlen(err->message);

    assert(err->kind != ERROR_NONE && len > 0 && len < 4000);
    for (size_t i = 0; i < len; i++)
        assert((unsigned char)err->message[i] >= 0x20 && err->message[i] != 0x7f);
}

static void check_arrivals(const struct workload_phase *p)
{
    uint64_t planned = phase_planned_arrivals(p), step = planned / 50 + 1;
    int64_t whole = workload_phase_duration_ns(p), before = -1;

    for (uint64_t k = 0; k < planned; k += step) {
        int64_t t = phase_arrival_ns(p, (double)k);
        assert(t >= 0 && t < whole && t >= before);
        before = t;
    }
    assert(phase_arrival_ns(p, (double)planned) == INT64_MAX);
}

static void check_phase(const struct workload *w, size_t i)
{
    const struct workload_phase *p = (const struct workload_phase *)w->phases.items + i;
    int64_t whole = workload_phase_duration_ns(p), start = workload_phase_start_ns(w, i);

    assert(p->name && whole > 0 && start >= 0 && start + whole <= workload_duration_ns(w));
    if (executor_is_open(p->executor))
        check_arrivals(p);
    for (int64_t t = 0; t <= whole; t += whole / 20 + 1) {
        int64_t vus = phase_vus_at(p, t);
        double rate = phase_rate_at(p, t);
        assert(vus >= 0 && vus <= workload_max_vus(w) && rate >= 0 && rate <= RATE_MAX * 1.0001);
    }
}

static void try_workload(const char *bytes, size_t len)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct node *n;
    struct workload w;
    struct error err = ERROR_INIT;

    if (tree_parse(bytes, len, "fuzz.yaml", a, &n, &err) < 0 || workload_read(n, "/d", a, &w, &err) < 0) {
        check_message(&err);
        return;
    }
    assert(w.requests.len && w.phases.len && w.requests.len <= ITEMS_MAX && w.phases.len <= ITEMS_MAX);
    assert(workload_longest_ns(&w) >= workload_duration_ns(&w) && workload_max_vus(&w) <= VUS_MAX);
    for (size_t i = 0; i < w.phases.len && i < 20; i++)
        check_phase(&w, i);
    for (size_t i = 0; i < w.requests.len; i++) {
        const struct workload_request *r = (const struct workload_request *)w.requests.items + i;
        assert(r->name && r->method && r->path[0] == '/' && !strchr(r->path, '\n'));
    }
    CLEANUP(json_free) struct json *j = schema_to_json(&workload_schema, &w, true);
    assert(json_len(j) > 0);
}

static struct workload_rows *some_rows(void)
{
    static const char text[] = "id,name\n1,a\n2,\"b\nc\"\n";
    struct workload_rows *r = NULL;
    struct error err = ERROR_INIT;

    if (workload_rows_parse(text, sizeof(text) - 1, "some.csv", &r, &err) < 0)
        abort();
    return r;
}

static void try_template(const char *bytes, size_t len)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP(workload_rows_free) struct workload_rows *r = some_rows();
    CLEANUP_VALUE(strbuf_release) struct strbuf once = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf twice = STRBUF_INIT;
    struct workload_template *t = NULL;
    struct error err = ERROR_INIT;
    struct rng rng;
    struct workload_values v = {.counter = 1, .vu = 2, .row = UINT64_MAX, .id = "i", .rng = &rng};

    rng_seed(&rng, 1);
    if (workload_template_compile(bytes, len, r, a, &t, &err) < 0) {
        check_message(&err);
        return;
    }
    workload_template_render(t, &v, &once);
    workload_template_render(t, &v, &twice);
    if (workload_template_is_constant(t))
        assert(once.len == twice.len && memcmp(strbuf_text(&once), strbuf_text(&twice), once.len) == 0);
}

static void try_rows(const char *bytes, size_t len)
{
    CLEANUP(workload_rows_free) struct workload_rows *r = NULL;
    struct error err = ERROR_INIT;
    size_t sum = 0, cell_len;

    if (workload_rows_parse(bytes, len, "fuzz.csv", &r, &err) < 0) {
        check_message(&err);
        return;
    }
    assert(workload_rows_count(r) > 0 && workload_rows_columns(r) > 0);
    for (size_t i = 0; i < workload_rows_count(r); i++) {
        for (size_t c = 0; c < workload_rows_columns(r); c++) {
            const char *cell = workload_rows_cell(r, i, c, &cell_len);
            assert(!memchr(cell, '\0', cell_len));
            sum += cell_len;
        }
    }
    assert(sum < len);
    for (size_t c = 0; c < workload_rows_columns(r); c++) {
        const char *name = workload_rows_column_name(r, c);
        assert(workload_rows_column(r, name, strlen(name)) == c);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;

    if (!size || size > 100000)
        return 0;
    if (bytes[0] == 't' && size > 1 && bytes[1] == ':')
        try_template(bytes + 2, size - 2);
    else if (bytes[0] == 'r' && size > 1 && bytes[1] == ':')
        try_rows(bytes + 2, size - 2);
    else
        try_workload(bytes, size);
    return 0;
}
