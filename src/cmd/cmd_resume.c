/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "benchctl/base/log.h"
#include "benchctl/base/units.h"
#include "invocation.h"
#include "rerun_record.h"
#include "sweep_command.h"

static void fill_list(const struct json *array, struct option_list *l)
{
    for (size_t i = 0; i < json_len(array); i++)
        vec_push(l, json_text(json_at(array, i)));
}

/* What is said again must be what was said, or a secret: a sweep is not changed half-way. */
static int expect_known(const struct json *array, const char *given, struct error *err)
{
    for (size_t i = 0; i < json_len(array); i++) {
        const char *set = json_text(json_at(array, i));
        if (text_equal(set, given) ||
            (text_ends(set, "=" SECRET_MASK) && strncmp(given, set, strcspn(set, "=") + 1) == 0))
            return 0;
    }
    (void)error_set(err, ERROR_USAGE, "'--set %.*s' would change the sweep", (int)strcspn(given, "="), given);
    return error_hint(err,
                      "resume takes only secret values of the first call; begin anew with `benchctl run`");
}

/* The sets of the first call; a secret one was not kept and has to come again. */
static int fill_sets(const struct json *array, const struct option_list *given, struct option_list *l,
                     struct error *err)
{
    for (size_t k = 0; k < given->len; k++)
        if (expect_known(array, given->items[k], err) < 0)
            return -1;
    for (size_t i = 0; i < json_len(array); i++) {
        const char *set = json_text(json_at(array, i)), *again = NULL;
        size_t path = strcspn(set, "=") + 1;
        for (size_t k = 0; text_ends(set, "=" SECRET_MASK) && k < given->len; k++)
            if (strncmp(given->items[k], set, path) == 0)
                again = given->items[k];
        if (text_ends(set, "=" SECRET_MASK) && !again) {
            (void)error_set(err, ERROR_USAGE, "the secret value of '--set %.*s' was not kept", (int)path - 1,
                            set);
            return error_hint(err, "give it again: benchctl resume DIR --set %.*s=VALUE", (int)path - 1, set);
        }
        vec_push(l, again ? again : set);
    }
    return 0;
}

struct kept {
    size_t count, again; /* sealed ones that count, and those that are made again: nothing was measured */
};

static int count_scenario(const struct rundir *dir, const struct plan *p, size_t i, struct kept *kept,
                          struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct scenario s = {.id = PLAN_CANARY_ID};
    uint64_t trials = i == PLAN_CANARY ? plan_counts(p)->canaries : (uint64_t)plan_matrix(p)->trials;
    struct resolved r;

    if (plan_resolve(p, i, a, &r, err) < 0)
        return -1;
    if (i != PLAN_CANARY)
        plan_scenario(p, i, a, &s);
    for (uint64_t n = 1; n <= trials; n++) {
        enum outcome o = OUTCOME_OK;
        if (!rundir_trial_sealed(dir, s.id, (int)n, r.digest))
            continue;
        bool known = rundir_trial_outcome(dir, s.id, (int)n, &o);
        bool again = !known || o == OUTCOME_ERROR || o == OUTCOME_SKIPPED;
        kept->count += !again;
        kept->again += again;
    }
    return 0;
}

/* What an edit of the matrix has cost, before anything is done about it. */
static int tell_kept(const struct rundir *dir, const struct plan *p, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    size_t sealed = rundir_sealed_count(dir);
    struct kept kept = {0};

    if (!sealed)
        return 0;
    for (size_t i = 0; i < plan_counts(p)->scenarios; i++)
        if (count_scenario(dir, p, i, &kept, err) < 0)
            return -1;
    if (plan_counts(p)->canaries && count_scenario(dir, p, PLAN_CANARY, &kept, err) < 0)
        return -1;
    size_t lost = sealed - kept.count - kept.again;
    strbuf_addf(&text, "%zu sealed trial%s: %zu still count%s", sealed, plural(sealed), kept.count,
                kept.count == 1 ? "s" : "");
    if (kept.again)
        strbuf_addf(&text, ", %zu made again since nothing was measured", kept.again);
    if (lost)
        strbuf_addf(&text, ", %zu not any more: the matrix has no such trial now, or with other settings",
                    lost);
    note("%s", strbuf_text(&text));
    return 0;
}

static int resume(const char *path, struct sweep_options *o, const struct option_list *given,
                  const struct invocation *i)
{
    CLEANUP(matrix_free) struct matrix *m = NULL;
    CLEANUP(plan_free) struct plan *p = NULL;
    CLEANUP(rundir_close) struct rundir *dir = NULL;
    CLEANUP_FREE char *matrix_path = NULL;
    struct error err = ERROR_INIT;
    const struct json *fields = i->record;

    if (rerun_record_open(path, &o->rerun, &err) < 0 || invocation_matrix(i, path, &matrix_path, &err) < 0)
        return report_error(&err);
    o->matrix_path = matrix_path;
    if (fill_sets(json_get(fields, "sets"), given, &o->sets, &err) < 0)
        return report_error(&err);
    fill_list(json_get(fields, "filters"), &o->filters);
    o->trials = json_get_int(fields, "trials");
    o->seed = json_is_int(json_get(fields, "seed")) ? json_get_int(fields, "seed") : SCHEMA_ABSENT;
    o->no_parity = json_get_bool(fields, "no_parity");
    o->with_images = o->with_images || json_get_bool(fields, "with_images");
    if (sweep_plan(o, &m, &p, &err) < 0) {
        (void)error_wrap(&err, "the sweep's matrix '%s' as it is now", o->matrix_path);
        return report_error(&err);
    }
    if (invocation_check_plan(i, path, p, &err) < 0 || rundir_open(path, &dir, &err) < 0 ||
        sweep_record_inputs(dir, o, p, &err) < 0 || tell_kept(dir, p, &err) < 0)
        return report_error(&err);
    char **ids = invocation_run_ids(path);
    o->run_ids_before = (const char *const *)ids;
    int code = sweep_execute(&dir, o, p);
    invocation_run_ids_free(ids);
    return code;
}

static int cmd_resume_main(int argc, char **argv)
{
    struct sweep_options o = {.seed = SCHEMA_ABSENT};
    struct invocation i = {0};
    struct operands operands;
    struct option_list given = {0};
    struct error err = ERROR_INIT;
    int code;
    const struct option options[] = {
        {"set", 's', OPTION_LIST, &given, "PATH=VALUE",
         "a secret value that the first call was given by --set"},
        {"engine", 0, OPTION_TEXT, &o.engine_url, "URL", "the Docker Engine (default DOCKER_HOST)"},
        {"keep", 0, OPTION_FLAG, &o.keep, NULL, "leave the last failed trial's containers"},
        {"with-images", 0, OPTION_FLAG, &o.with_images, NULL, "the container images go into the bundle"},
        {"strict", 0, OPTION_FLAG, &o.strict, NULL, "any outcome but ok is exit code 1"},
        {"budget", 0, OPTION_DURATION, &o.budget_ns, "TIME", "whole rounds until the time is spent, e.g. 8h"},
    };

    if (options_parse(&cmd_resume, options, ARRAY_LEN(options), argc, argv, 1, 1, &operands, &code) < 0)
        return code;
    code = invocation_read(operands.items[0], &i, &err) < 0 ? report_error(&err)
                                                            : resume(operands.items[0], &o, &given, &i);
    invocation_release(&i);
    rerun_record_free(o.rerun);
    option_list_release(&o.filters);
    option_list_release(&o.sets);
    option_list_release(&given);
    return code;
}

const struct command cmd_resume = {
    "resume",
    "resume DIR [options]",
    "go on with an interrupted sweep: finished trials are kept",
    cmd_resume_main,
};
