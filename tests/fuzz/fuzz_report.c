/* SPDX-License-Identifier: MIT */
/*
 * Reports of sweeps from anybody: {"info": {}, "plan": {}, "trials": []} in every format and several layouts.
 * Nothing that a terminal would obey comes out, nothing spills, and JSON is JSON again.
 */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include "benchctl/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TRIALS_MAX 64

static void read_sweep(const struct json *j, struct sweep *s)
{
    const struct json *trials = json_get(j, "trials"), *info = json_get(j, "info"),
                      *plan = json_get(j, "plan");
    struct error err = ERROR_INIT;

    s->info = info ? json_clone(info) : json_new_object();
    s->plan = plan ? json_clone(plan) : NULL;
    s->arena = arena_new();
    s->trials = xcalloc(TRIALS_MAX, sizeof(*s->trials));
    for (size_t i = 0; i < json_len(trials) && s->trial_count < TRIALS_MAX; i++)
        s->trial_count +=
            trial_from_json(json_at(trials, i), s->arena, &s->trials[s->trial_count], &err) == 0;
}

static void assert_harmless(const struct strbuf *text)
{
    for (size_t i = 0; i < text->len; i++)
        assert((unsigned char)text->data[i] >= 0x20 || text->data[i] == '\n');
}

static void render_all(const struct report *r)
{
    for (int f = REPORT_TABLE; f < REPORT_FORMATS; f++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
        CLEANUP(json_free) struct json *again = NULL;
        struct error err = ERROR_INIT;

        report_render(r, (enum report_format)f, &out);
        if (f == REPORT_JSON)
            assert(json_parse(strbuf_text(&out), out.len, "report", &again, &err) == 0);
        else if (f != REPORT_CSV && f != REPORT_TIDY)
            assert_harmless(&out);
        assert(out.len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"framework", "memory", REPORT_FIGURE};
    static const char *const figures[] = {"goodput_rps", "app.pids_peak", "metrics.heap_used_bytes.max"};
    CLEANUP(sweep_free) struct sweep *s = NULL;
    CLEANUP(json_free) struct json *j = NULL;
    CLEANUP(report_free) struct report *r = NULL;
    struct error err = ERROR_INIT;

    if (size < 1 || json_parse((const char *)data + 1, size - 1, "sweep", &j, &err) < 0)
        return 0;
    const struct report_options o = {
        .rows = names + (data[0] >> 1 & 1),
        .row_count = data[0] & 1 ? 2 : 0,
        .cols = data[0] & 4 ? names[data[0] >> 3 & 1] : NULL,
        .figures = figures,
        .figure_count = data[0] & 16 ? 3 : 0,
        .width = data[0] & 32 ? 60 : 0,
        .validity = data[0] & 64,
    };
    s = xcalloc(1, sizeof(*s));
    read_sweep(j, s);
    if (report_build(s, &o, &r, &err) < 0) {
        assert(err.kind == ERROR_USAGE && err.message[0]);
        return 0;
    }
    render_all(r);
    return 0;
}
