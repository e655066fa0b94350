/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "sweep_command.h"

struct invocation {
    struct json *record; /* the journal's first "begin" record */
};

static void find_begin(const struct json *record, void *data)
{
    struct invocation *i = data;

    if (!i->record && text_equal(json_get_text(record, "event"), "begin"))
        i->record = json_clone(record);
}

static int read_invocation(const char *dir, struct invocation *ret, struct error *err)
{
    CLEANUP_FREE char *path = path_join(dir, "journal.ndjson");
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    size_t good;

    if (fs_read(path, STRBUF_MAX_DEFAULT, &text, err) < 0) {
        (void)error_wrap(err, "'%s' is no run directory", dir);
        err->kind = ERROR_USAGE;
        return error_hint(err, "give the directory that `benchctl run` named");
    }
    if (journal_scan(strbuf_text(&text), text.len, find_begin, ret, &good, err) < 0)
        return -1;
    if (!ret->record)
        return error_set(err, ERROR_INVALID, "the journal of '%s' does not say how the sweep was begun", dir);
    return 0;
}

static void fill_list(const struct json *array, struct option_list *l)
{
    for (size_t i = 0; i < json_len(array); i++)
        vec_push(l, json_text(json_at(array, i)));
}

/* The sets of the first call; a secret one was not kept and has to come again. */
static int fill_sets(const struct json *array, const struct option_list *given, struct option_list *l,
                     struct error *err)
{
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

static int resume(const char *path, struct sweep_options *o, const struct option_list *given,
                  const struct invocation *i)
{
    CLEANUP(matrix_free) struct matrix *m = NULL;
    CLEANUP(plan_free) struct plan *p = NULL;
    CLEANUP(rundir_close) struct rundir *dir = NULL;
    CLEANUP_FREE char *copy = path_join(path, "matrix.yaml");
    struct error err = ERROR_INIT;
    const struct json *fields = json_get(i->record, "fields") ? json_get(i->record, "fields") : i->record;

    o->matrix_path = json_get_text(fields, "matrix");
    if (!o->matrix_path || !fs_exists(o->matrix_path))
        o->matrix_path = copy;
    if (fill_sets(json_get(fields, "sets"), given, &o->sets, &err) < 0)
        return report_error(&err);
    fill_list(json_get(fields, "filters"), &o->filters);
    o->trials = json_get_int(fields, "trials");
    o->seed = json_is_int(json_get(fields, "seed")) ? json_get_int(fields, "seed") : SCHEMA_ABSENT;
    o->no_parity = json_get_bool(fields, "no_parity");
    if (sweep_plan(o, &m, &p, &err) < 0) {
        (void)error_wrap(&err, "the sweep's matrix '%s' as it is now", o->matrix_path);
        return report_error(&err);
    }
    if (rundir_open(path, &dir, &err) < 0 || sweep_record_inputs(dir, o, p, &err) < 0)
        return report_error(&err);
    return sweep_execute(&dir, o, p);
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
        {"strict", 0, OPTION_FLAG, &o.strict, NULL, "any outcome but ok is exit code 1"},
        {"budget", 0, OPTION_DURATION, &o.budget_ns, "TIME", "whole rounds until the time is spent, e.g. 8h"},
    };

    if (options_parse(&cmd_resume, options, ARRAY_LEN(options), argc, argv, 1, 1, &operands, &code) < 0)
        return code;
    code = read_invocation(operands.items[0], &i, &err) < 0 ? report_error(&err)
                                                            : resume(operands.items[0], &o, &given, &i);
    json_free(i.record);
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
