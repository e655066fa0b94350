/* SPDX-License-Identifier: MIT */
/* Sweeps by hand: trials as a run would have recorded them, without a run. */
#ifndef TESTS_MAKE_SWEEP_H
#define TESTS_MAKE_SWEEP_H

#include "unit/check.h"

#include "benchctl/report.h"

struct maker {
    struct sweep sweep;
    VEC(struct trial) trials;
    const char *const *axes; /* NULL-terminated */
    bool numbered;           /* the caller says which trial it is */
};

static inline struct json *parsed(const char *text)
{
    struct error err = ERROR_INIT;
    struct json *j = NULL;

    if (json_parse(text, strlen(text), "test", &j, &err) < 0)
        fail_msg("%s", err.message);
    return j;
}

static inline void maker_begin(struct maker *m, const char *const *axes, const char *info, const char *plan)
{
    *m = (struct maker){.axes = axes};
    m->sweep.arena = arena_new();
    m->sweep.complete = true;
    m->sweep.path = "runs/test";
    m->sweep.info = info ? parsed(info) : json_new_object();
    m->sweep.plan = plan ? parsed(plan) : NULL;
}

static inline void maker_release(struct maker *m)
{
    json_free(m->sweep.info);
    json_free(m->sweep.plan);
    arena_free(m->sweep.arena);
    vec_release(&m->trials);
}

/* The next trial of a scenario, whose axis values are the parts of its id. Valid until the next one. */
static inline struct trial *add(struct maker *m, const char *scenario, enum outcome outcome, double goodput)
{
    struct arena *a = m->sweep.arena;
    struct trial t;
    const char *part = scenario;

    trial_init(&t);
    t.scenario = arena_strdup(a, scenario);
    t.outcome = outcome;
    t.reason = "as it went";
    t.trial = t.attempt = 1;
    for (size_t i = 0; i < m->trials.len && !m->numbered; i++)
        t.trial += strcmp(m->trials.items[i].scenario, scenario) == 0;
    t.axes = arena_array(a, struct axis_pair, 64);
    for (size_t i = 0; m->axes[i]; i++) {
        size_t len = strcspn(part, "/");
        t.axes[t.axis_count++] = (struct axis_pair){m->axes[i], arena_strndup(a, part, len)};
        part += len + (part[len] == '/');
    }
    t.has_load = true;
    t.load.goodput_rps = goodput;
    t.app.restarts = 0;
    t.app.oom_kills = 0;
    vec_push(&m->trials, t);
    return &m->trials.items[m->trials.len - 1];
}

static inline const struct sweep *made(struct maker *m)
{
    m->sweep.trials = m->trials.items;
    m->sweep.trial_count = m->trials.len;
    return &m->sweep;
}

/* What a report of it is, or fails. */
static inline char *rendered(struct maker *m, const struct report_options *o, enum report_format f)
{
    CLEANUP(report_free) struct report *r = NULL;
    struct strbuf out = STRBUF_INIT;
    struct error err = ERROR_INIT;

    if (report_build(made(m), o, &r, &err) < 0)
        fail_msg("%s", err.message);
    report_render(r, f, &out);
    return strbuf_detach(&out);
}

static inline void assert_refused(struct maker *m, const struct report_options *o, const char *message)
{
    struct report *r = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(report_build(made(m), o, &r, &err), -1);
    assert_null(r);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_has(err.message, message);
}

static inline size_t occurrences(const char *text, const char *part)
{
    size_t n = 0;

    for (const char *at = strstr(text, part); at; at = strstr(at + strlen(part), part))
        n++;
    return n;
}

/* The line of `text` that begins with `begin`, which may be followed by blanks; a copy in static storage. */
static inline const char *line_of(const char *text, const char *begin)
{
    static char line[4096];
    size_t len = strlen(begin);

    for (const char *at = text; *at; at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n')) {
        if (strncmp(at, begin, len) != 0)
            continue;
        (void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
        return line;
    }
    fail_msg("no line begins with '%s' in:\n%s", begin, text);
    return NULL;
}

/* Blanks between columns as one: how wide they are is not what is tested. */
static inline char *squeezed(char *text)
{
    size_t n = 0;

    for (size_t i = 0; text[i]; i++)
        if (text[i] != ' ' || !n || text[n - 1] != ' ')
            text[n++] = text[i];
    text[n] = '\0';
    return text;
}

#endif
