/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"
#include "idle_axes.h"
#include "rerun_open.h"

/* --- what was found, told --- */

static int tell_environment(const struct rerun *r, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    rerun_environment_text(&r->environment, &text);
    strbuf_adds(&text, "\n");
    return print_all(strbuf_text(&text), text.len, err);
}

static void tell_list(const char *head, char *const *items, size_t len)
{
    if (len)
        fprintf(stderr, "%s\n", head);
    for (size_t i = 0; i < len; i++)
        print_plain(stderr, "  ", items[i]);
}

static int refuse(const struct rerun *r)
{
    struct error err = ERROR_INIT;

    (void)error_set(&err, ERROR_INVALID, "'%s' asks for what a bundle does not get without --trust",
                    r->options->bundle);
    (void)error_hint(&err,
                     "--trust runs it all the same: for bundles of somebody whom you would let use this "
                     "machine");
    tell_list("the bundle asks for more than containers of its own:", r->reasons.items.items,
              r->reasons.items.len);
    return report_error(&err);
}

static int tell_missing(const struct rerun *r)
{
    struct error err = ERROR_INIT;

    tell_list("not here:", r->missing.items, r->missing.len);
    (void)error_set(&err, ERROR_ENVIRONMENT, "%zu thing%s that the sweep needs %s not here", r->missing.len,
                    r->missing.len == 1 ? "" : "s", r->missing.len == 1 ? "is" : "are");
    return report_error(&err);
}

static void tell_warnings(const struct rerun *r)
{
    vec_each (w, &r->warnings)
        warn("%s", *w);
}

static struct json *texts_json(char *const *items, size_t len)
{
    struct json *j = json_new_array();

    for (size_t i = 0; i < len; i++)
        json_append(j, json_new_text(items[i]));
    return j;
}

static int dry_run_json(const struct rerun *r, const struct json *images, struct error *err)
{
    CLEANUP(json_free) struct json *j = json_new_object();
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    json_set(j, "environment", rerun_environment_json(&r->environment));
    json_set(j, "images", json_clone(images));
    json_set(j, "asks_for", texts_json(r->reasons.items.items, r->reasons.items.len));
    json_set(j, "missing", texts_json(r->missing.items, r->missing.len));
    json_set(j, "warnings", texts_json(r->warnings.items, r->warnings.len));
    json_set_int(j, "scenarios", (int64_t)plan_counts(r->plan)->scenarios);
    json_set_int(j, "trials", (int64_t)plan_counts(r->plan)->trials);
    json_write(j, JSON_STYLE_INDENTED, &text);
    strbuf_adds(&text, "\n");
    return print_all(strbuf_text(&text), text.len, err);
}

static int dry_run_text(const struct rerun *r, const struct json *images, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    for (size_t i = 0; i < json_len(images); i++) {
        const struct json *j = json_at(images, i);
        char shown[400];
        strbuf_addf(&text, "image %s: %s\n",
                    archive_printable(json_get_text(j, "shown"), shown, sizeof(shown)),
                    json_get_text(j, "how"));
    }
    for (size_t i = 0; i < r->inputs.env.len; i++) {
        char shown[400], name[200];
        strbuf_addf(&text, "environment variable %s: '%s', as then\n",
                    archive_printable(r->inputs.env.items[i].key, name, sizeof(name)),
                    archive_printable(r->inputs.env.items[i].value, shown, sizeof(shown)));
    }
    strbuf_addf(&text, "%llu scenarios, %llu trials, in the order that was run\n",
                (unsigned long long)plan_counts(r->plan)->scenarios,
                (unsigned long long)plan_counts(r->plan)->trials);
    return print_all(strbuf_text(&text), text.len, err);
}

/* --- the run --- */

static int make_directory(const struct rerun *r, struct rundir **ret, struct error *err)
{
    char stamp[CLOCK_STAMP_SIZE];
    CLEANUP_FREE char *path =
        r->options->out ? xstrdup(r->options->out)
                        : xasprintf("runs/%s-%s", r->matrix->name, clock_compact(clock_wall_ns(), stamp));

    return rundir_create(path, ret, err);
}

/* The files lie elsewhere now, and paths are judged by where they lead to. */
static int ask_again(struct rerun *r, struct error *err)
{
    if (r->options->trust)
        return 0;
    if (rerun_look_for_reasons(r, err) < 0)
        return -1;
    return r->reasons.items.len ? error_set(err, ERROR_INVALID, "%s", r->reasons.items.items[0]) : 0;
}

/* Laid out once more where it stays for as long as the sweep may go on; the plan is made from there. */
static int settle(struct rerun *r, struct rundir *dir, struct error *err)
{
    CLEANUP_FREE char *root = path_join(rundir_path(dir), RERUN_TREE);
    const struct rerun_restore restore = {.inputs = &r->inputs, .bundle = r->extracted, .root = root};
    struct rerun_tree tree = {0};

    if (rerun_restore(&restore, &tree, err) < 0)
        return -1;
    rerun_tree_release(&r->tree);
    r->tree = tree;
    r->sweep.matrix_path = r->tree.matrix;
    plan_free(TAKE(r->plan));
    matrix_free(TAKE(r->matrix));
    return sweep_plan(&r->sweep, &r->matrix, &r->plan, err) < 0 || ask_again(r, err) < 0 ||
                   rundir_write_json(dir, RERUN_FILE, r->record->json, err) < 0
               ? -1
               : sweep_record_inputs(dir, &r->sweep, r->plan, err);
}

static int run(struct rerun *r)
{
    CLEANUP(rundir_close) struct rundir *dir = NULL;
    struct error err = ERROR_INIT, ignored = ERROR_INIT;

    if (make_directory(r, &dir, &err) < 0)
        return report_error(&err);
    if (settle(r, dir, &err) < 0) {
        rundir_discard(TAKE(dir));
        return report_error(&err);
    }
    warn_of_idle_axes(r->plan);
    engine_close(TAKE(r->engine)); /* the run opens its own */
    http_free(TAKE(r->http));
    loop_free(TAKE(r->loop));
    if (rerun_remove_work(r, &ignored) < 0) /* may be large, and the sweep long */
        note("%s", ignored.message);
    return sweep_execute(&dir, &r->sweep, r->plan);
}

/* --- all of it --- */

static int check_here(struct rerun *r, struct json **ret_images, struct error *err)
{
    struct json *parity = NULL;

    if (rerun_compare_machines(r, err) < 0)
        return -1;
    if (r->options->format == 0 && tell_environment(r, err) < 0)
        return -1;
    if (rerun_check_parity(r, &parity, err) < 0)
        return -1;
    if (parity)
        json_set(r->record->json, "parity", parity);
    return rerun_find_images(r, ret_images, err);
}

static int rerun(struct rerun *r)
{
    CLEANUP(json_free) struct json *images = NULL;
    struct error err = ERROR_INIT;

    if (rerun_open(r, &err) < 0 || rerun_make_plan(r, &err) < 0 || rerun_look_for_reasons(r, &err) < 0)
        return report_error(&err);
    if (r->reasons.items.len && !r->options->trust)
        return refuse(r);
    if (rerun_prove_plan(r, &err) < 0 || check_here(r, &images, &err) < 0)
        return report_error(&err);
    tell_warnings(r);
    if (r->options->dry_run && (r->options->format ? dry_run_json : dry_run_text)(r, images, &err) < 0)
        return report_error(&err);
    if (r->missing.len)
        return tell_missing(r);
    if (r->options->dry_run)
        return 0;
    json_set(r->record->json, "images", TAKE(images));
    return run(r);
}

static int cmd_rerun_main(int argc, char **argv)
{
    static const char *const formats[] = {"text", "json", NULL};
    struct rerun_options o = {0};
    struct operands operands;
    const char *format = NULL;
    int code;
    const struct option options[] = {
        {"out", 'o', OPTION_TEXT, &o.out, "DIR", "the run directory (default runs/NAME-UTCSTAMP)"},
        {"filter", 'f', OPTION_LIST, &o.filters, "EXPR", "only scenarios that match, e.g. memory<=256m"},
        {"dry-run", 'n', OPTION_FLAG, &o.dry_run, NULL, "stop after the checks"},
        {"trust", 0, OPTION_FLAG, &o.trust, NULL, "run it whatever it asks for of this machine"},
        {"set", 's', OPTION_LIST, &o.sets, "PATH=VALUE", "a secret value that the bundle does not have"},
        {"margin", 0, OPTION_TEXT, &o.margin, "PERCENT", "how near is the same (default 10%)"},
        {"engine", 0, OPTION_TEXT, &o.engine_url, "URL", "the Docker Engine (default DOCKER_HOST)"},
        {"keep", 0, OPTION_FLAG, &o.keep, NULL, "leave the last failed trial's containers"},
        {"with-images", 0, OPTION_FLAG, &o.with_images, NULL, "the container images go into the new bundle"},
        {"strict", 0, OPTION_FLAG, &o.strict, NULL, "any outcome but ok is exit code 1"},
        {"budget", 0, OPTION_DURATION, &o.budget_ns, "TIME", "whole rounds until the time is spent, e.g. 8h"},
        {"format", 0, OPTION_TEXT, &format, "text|json", "of --dry-run (default text)"},
    };

    if (options_parse(&cmd_rerun, options, ARRAY_LEN(options), argc, argv, 1, 1, &operands, &code) < 0)
        return code;
    struct rerun r = {.options = &o};
    o.bundle = operands.items[0];
    o.format = format ? format_option(&cmd_rerun, format, formats) : 0;
    code = o.format < 0 ? error_exit_code(ERROR_USAGE) : rerun(&r);
    rerun_release(&r);
    option_list_release(&o.filters);
    option_list_release(&o.sets);
    return code;
}

const struct command cmd_rerun = {
    "rerun",
    "rerun BUNDLE [options]",
    "run a bundle's sweep again, exactly; then compare with the original",
    cmd_rerun_main,
};
