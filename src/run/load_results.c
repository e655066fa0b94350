/* SPDX-License-Identifier: MIT */
/* From the generator's output to the record: its figures, and what it says against them itself. */
#include "benchctl/base/clock.h"
#include "benchctl/base/process.h"
#include "generation.h"

/* It may say that it was interrupted, and not by whom: NULL when it was not benchctl. */
static const char *ended_by_us(const struct trial_run *t)
{
    const struct liveness_settings *l = t->settings->app.liveness;
    char text[32];

    if (t->app_ended)
        return "ended by benchctl, since the application had ended for good";
    if (!t->app_silent)
        return NULL;
    return arena_printf(t->arena, "ended by benchctl after %s of silence",
                        duration_human(l ? l->give_up_ns : LIVENESS_GIVE_UP_S * NS_PER_S, text));
}

/* What it says against itself. */
static void tell_doubts(struct trial_run *t, const struct load_problems *problems)
{
    const char *ended = ended_by_us(t);

    for (size_t i = 0; i < problems->invalid_len; i++) {
        const struct load_doubt *d = &problems->invalid[i];
        const char *id = d->id ? d->id : "load-plausible";
        bool ours = ended && strcmp(id, "load-complete") == 0;
        trial_validity(t, id, "FAIL", "%s%s%s", d->sentence, ours ? ": " : "", ours ? ended : "");
    }
}

static void tell_problems(struct trial_run *t, const struct load_problems *problems, struct load_result *r)
{
    const char *ended = r->exit_status > 0 ? ended_by_us(t) : NULL;

    for (size_t i = 0; i < problems->len; i++) {
        bool of_its_end = ended && strstr(problems->items[i], "ended with exit status");
        trial_note(t, "%s%s", of_its_end ? "the load generator was " : "",
                   of_its_end ? ended : problems->items[i]);
    }
    if (ended)
        r->exit_text = ended;
}

/* --- what was answered instead --- */

#define REPORT_FILE "report.json"
#define REPORT_MAX ((size_t)64 << 20)
#define STATUSES_MAX 3 /* are named */

/* Our own report counts every status: those that nobody can have asked for by not asking for one. "" unless
 * they are all of what failed for its status. */
static const char *name_statuses(struct arena *a, const struct json *report)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    const struct json *all = json_pointer(report, "/status");
    double failed = json_get_number(json_pointer(report, "/errors"), "status"), sum = 0;
    int n = 0;

    for (void *it = json_iter(all); it; it = json_iter_next(all, it)) {
        const char *code = json_iter_key(it);
        double count = json_number(json_iter_value(it));
        if (code[0] == '2' || code[0] == '0')
            continue;
        sum += count;
        if (n++ < STATUSES_MAX)
            strbuf_addf(&text, "%sHTTP status %s: %.0f", text.len ? ", " : "", code, count);
    }
    return failed > 0 && sum == failed && n <= STATUSES_MAX ? arena_strdup(a, strbuf_text(&text)) : NULL;
}

static void look_at_statuses(struct trial_run *t, const char *dir)
{
    CLEANUP_FREE char *path = path_join(dir, REPORT_FILE);
    CLEANUP(json_free) struct json *report = NULL;
    struct error ignored = ERROR_INIT;

    if (strcmp(t->adapter->name, "builtin") == 0 && json_read_file(path, REPORT_MAX, &report, &ignored) == 0)
        t->wrong_statuses = name_statuses(t->arena, report);
}

/* --- the figures --- */

static double cpu_ms_of(const struct generation *g)
{
    struct trial_run *t = g->trial;
    struct container_result c;

    if (!t->settings->load.image || !t->sampler)
        return g->cpu_ms > 0 ? g->cpu_ms : NAN;
    container_result_init(&c, "load");
    return sampler_result(t->sampler, "load", &c) == 0 ? c.cpu_cores.total_ms : (double)NAN;
}

static int failed(struct trial_run *t, struct error *err)
{
    t->load_failed = true;
    return error_wrap(err, "load generator '%s'", t->adapter->name);
}

int generation_results(struct generation *g, struct error *err)
{
    struct trial_run *t = g->trial;
    struct load_problems problems = {0};
    struct load_result *r = &t->record.load;
    struct error unfinished = ERROR_INIT;

    load_result_init(r);
    int finished = generation_finish(g, &unfinished);
    if (finished < 0)
        generation_hide_secrets(g); /* it may have ended before its second call did */
    if (finished < 0 && unfinished.kind != ERROR_TRIAL) {
        *err = unfinished;
        return -1;
    }
    int rc = load_adapter_collect(t->adapter->adapter, g->dir, &g->outcome, t->arena, r, &problems, err);
    tell_problems(t, &problems, r);
    if (unfinished.kind != ERROR_NONE && (rc == 0 || g->outcome.wait_status == 0)) {
        *err = unfinished; /* without it whatever was read is of something else */
        return failed(t, err);
    }
    if (rc < 0)
        return failed(t, err);
    t->record.has_load = true;
    r->window_ms = g->outcome.window_ms;
    if (isnan(r->cpu_ms))
        r->cpu_ms = cpu_ms_of(g);
    if (!r->version)
        r->version = arena_strdup(t->arena, t->adapter->version);
    load_figures(g, r);
    look_at_statuses(t, g->dir);
    tell_doubts(t, &problems);
    return 0;
}
