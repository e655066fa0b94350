/* SPDX-License-Identifier: MIT */
/* What was run, on what, and how: the lines above everything else. What was not recorded is not claimed. */
#include "report_internal.h"

#include <math.h>
#include <string.h>
#include "benchctl/base/units.h"

/* Parts of a line, joined by what belongs between them. */
struct parts {
    struct strbuf text;
};

static void add_part(struct parts *p, const char *between, const char *fmt, ...) PRINTF_LIKE(3, 4);
static void add_part(struct parts *p, const char *between, const char *fmt, ...)
{
    va_list args;

    if (p->text.len)
        strbuf_adds(&p->text, between);
    va_start(args, fmt);
    strbuf_vaddf(&p->text, fmt, args);
    va_end(args);
}

static void add_line(struct report *r, struct section *s, const char *label, struct parts *p)
{
    if (p->text.len)
        section_line(s, arena_printf(r->arena, "%s: %s", label, strbuf_text(&p->text)));
    strbuf_release(&p->text);
}

static void describe_host(struct report *r, struct section *s)
{
    const struct json *host = json_get(r->sweep->info, "host"), *engine = json_get(r->sweep->info, "engine");
    struct parts p = {.text = STRBUF_INIT};
    const char *name = json_get_text(host, "name"), *cpu = json_get_text(host, "cpu"),
               *kernel = json_get_text(host, "kernel"), *engine_name = json_get_text(engine, "name"),
               *version = json_get_text(engine, "version");
    int64_t cpus = json_get_int(host, "cpus"), cgroup = json_get_int(engine, "cgroup_version");

    if (name)
        add_part(&p, ", ", "%s", name);
    if (cpus > 0)
        add_part(&p, ", ", "%lld CPU%s", (long long)cpus, plural((size_t)cpus));
    if (cpu)
        add_part(&p, " ", "(%s)", cpu);
    if (kernel)
        add_part(&p, ", ", "kernel %s", kernel);
    if (engine_name)
        add_part(&p, "; ", "%s%s%s", engine_name, version ? " " : "", version ? version : "");
    if (cgroup > 0)
        add_part(&p, ", ", "cgroup v%lld", (long long)cgroup);
    add_line(r, s, "host", &p);
}

static void describe_sweep(struct report *r, struct section *s)
{
    const struct json *info = r->sweep->info, *order = json_get(info, "order");
    struct parts p = {.text = STRBUF_INIT};
    int64_t scenarios = json_get_int(info, "scenarios"), trials = json_get_int(info, "trials_per_scenario");
    const char *mode = json_get_text(order, "mode"), *started = json_get_text(info, "started_at"),
               *version = json_get_text(info, "benchctl");

    if (scenarios > 0)
        add_part(&p, ", ", "%s%lld scenario%s", json_get(r->sweep->plan, "search") ? "at most " : "",
                 (long long)scenarios, plural((size_t)scenarios));
    if (trials > 0)
        add_part(&p, ", ", "%lld trial%s each", (long long)trials, plural((size_t)trials));
    if (mode)
        add_part(&p, ", ", "%s order (seed %lld)", mode, (long long)json_get_int(order, "seed"));
    if (started)
        add_part(&p, ", ", "started %s", started);
    if (version)
        add_part(&p, ", ", "benchctl %s", version);
    add_line(r, s, "sweep", &p);
}

/* Of a rerun: the bundle that was run again. */
static void describe_origin(struct report *r, struct section *s)
{
    const struct json *of = json_get(r->sweep->info, "rerun_of");
    const char *file = json_get_text(of, "file"), *sha256 = json_get_text(of, "sha256"),
               *name = json_get_text(of, "name"), *started = json_get_text(of, "started_at");
    struct parts p = {.text = STRBUF_INIT};

    if (name)
        add_part(&p, ", ", "%s", name);
    if (started)
        add_part(&p, ", ", "started %s", started);
    if (file)
        add_part(&p, ", ", "bundle %s", file);
    if (sha256)
        add_part(&p, ", ", "SHA-256 %s", sha256);
    add_line(r, s, "run again", &p);
}

/* What is missing, when anything is. */
static void describe_progress(struct report *r, struct section *s)
{
    size_t outside = r->sweep->outside_count, trials = r->sweep->trial_count;
    int64_t planned = json_get_int(r->sweep->info, "trials");

    if (!r->sweep->complete) {
        const char *bound = json_get(r->sweep->plan, "search") ? "at most " : "";
        const char *of = planned > 0 ? arena_printf(r->arena, " of %s%lld", bound, (long long)planned) : "";
        section_line(s, arena_printf(r->arena,
                                     "not complete: %zu%s trial%s recorded, %zu scenario%s not run yet",
                                     trials, of, plural(planned > 0 ? (size_t)planned : trials), r->waiting,
                                     plural(r->waiting)));
        s->lines.items[s->lines.len - 1].tone = TONE_WARN;
    }
    if (r->sweep->damaged_count) {
        section_line(s,
                     arena_printf(r->arena,
                                  "damaged: %zu sealed trial%s gone, or not what was sealed, and left out",
                                  r->sweep->damaged_count, r->sweep->damaged_count == 1 ? " is" : "s are"));
        s->lines.items[s->lines.len - 1].tone = TONE_BAD;
    }
    if (outside)
        section_line(s, arena_printf(r->arena, "%zu trial%s of an earlier form of the matrix %s left out",
                                     outside, plural(outside), outside == 1 ? "is" : "are"));
}

static void describe_parity(struct report *r, struct section *s)
{
    const struct json *checks = json_get(json_get(r->sweep->info, "parity"), "checks");
    size_t ok = 0, n = json_len(checks);

    for (size_t i = 0; i < n; i++)
        ok += json_get_bool(json_at(checks, i), "ok");
    if (!n)
        section_line(s, json_get_bool(json_get(r->sweep->info, "parity"), "skipped")
                            ? "parity: not checked, by --no-parity"
                            : "parity: not checked");
    else if (ok == n)
        section_line(s, arena_printf(r->arena, "parity: ok, %zu check%s", n, plural(n)));
    else {
        section_line(
            s, arena_printf(r->arena, "parity: BROKEN, %zu of %zu check%s failed", n - ok, n, plural(n)));
        s->lines.items[s->lines.len - 1].tone = TONE_BAD;
    }
}

static double mean_of(const struct report *r, double (*get)(const struct trial *t))
{
    double *values = arena_array(r->arena, double, r->sweep->trial_count + 1);
    struct summary s;

    for (size_t i = 0; i < r->sweep->trial_count; i++)
        values[i] = get(&r->sweep->trials[i]);
    stats_summary(values, r->sweep->trial_count, &s);
    return s.mean;
}

static double own_cpu(const struct trial *t)
{
    return t->host.benchctl_cpu_cores;
}

static double own_rss(const struct trial *t)
{
    return t->host.benchctl_rss_bytes;
}

static double overhead(const struct trial *t)
{
    return t->overhead_ms;
}

static void describe_self(struct report *r, struct section *s)
{
    double cpu = mean_of(r, own_cpu), rss = mean_of(r, own_rss), ms = mean_of(r, overhead);
    struct parts p = {.text = STRBUF_INIT};
    char size[32];

    if (!isnan(cpu) && !isnan(rss))
        add_part(&p, "", "%.2f %% of a core and %s while measuring", 100 * cpu, size_human(rss, size));
    if (!isnan(ms))
        add_part(&p, "; ", "%.2f s per trial beside warm-up and load", ms / 1e3);
    add_line(r, s, "benchctl itself", &p);
}

/* Fewer than three starts say what happened, not what would happen again: no word of comparison then. */
static void say_how_often(struct report *r, struct section *s)
{
    size_t fewest = SIZE_MAX, most = 0;

    for (size_t i = 0; i < r->cells.len; i++) {
        size_t n = r->cells.items[i].counted;
        if (n && n < fewest)
            fewest = n;
        if (n > most)
            most = n;
    }
    if (fewest < 3)
        section_line(
            s, arena_printf(r->arena,
                            "%s %zu trial%s%s: too few to call a difference real; the figures show what "
                            "happened, not what would happen again",
                            fewest == most ? "n =" : "some scenarios have only", fewest, plural(fewest),
                            fewest == most ? " per scenario" : ""));
}

void report_head(struct report *r)
{
    struct section *s = section_new(r, NULL);

    describe_host(r, s);
    describe_sweep(r, s);
    describe_origin(r, s);
    describe_progress(r, s);
    describe_parity(r, s);
    describe_load(r, s);
    describe_self(r, s);
    say_how_often(r, s);
    if (!r->sweep->trial_count)
        section_line(s, "no trial has been recorded yet");
}
