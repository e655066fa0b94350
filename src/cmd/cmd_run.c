/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "benchctl/base/clock.h"
#include "idle_axes.h"
#include "sweep_command.h"

static int new_directory(const struct matrix *m, const char *out, struct rundir **ret, struct error *err)
{
    char stamp[CLOCK_STAMP_SIZE];
    CLEANUP_FREE char *path =
        out ? xstrdup(out) : xasprintf("runs/%s-%s", m->name, clock_compact(clock_wall_ns(), stamp));

    return rundir_create(path, ret, err);
}

static int run_matrix(const struct sweep_options *o, const char *out)
{
    CLEANUP(matrix_free) struct matrix *m = NULL;
    CLEANUP(plan_free) struct plan *p = NULL;
    CLEANUP(rundir_close) struct rundir *dir = NULL;
    struct error err = ERROR_INIT;

    if (sweep_plan(o, &m, &p, &err) < 0 || new_directory(m, out, &dir, &err) < 0)
        return report_error(&err);
    warn_of_idle_axes(p);
    if (sweep_record_inputs(dir, o, p, &err) < 0) {
        rundir_discard(TAKE(dir)); /* nothing has been run: there is nothing to go on with */
        return report_error(&err);
    }
    return sweep_execute(&dir, o, p);
}

static int cmd_run_main(int argc, char **argv)
{
    struct sweep_options o = {.seed = SCHEMA_ABSENT, .fresh = true};
    struct operands operands;
    const char *out = NULL;
    int code;
    const struct option options[] = {
        {"out", 'o', OPTION_TEXT, &out, "DIR", "the run directory (default runs/NAME-UTCSTAMP)"},
        {"filter", 'f', OPTION_LIST, &o.filters, "EXPR", "only scenarios that match, e.g. memory<=256m"},
        {"set", 's', OPTION_LIST, &o.sets, "PATH=VALUE", "change the matrix before it is read"},
        {"trials", 0, OPTION_INT, &o.trials, "N", "trials per scenario"},
        {"seed", 0, OPTION_INT, &o.seed, "N", "seed of the order"},
        {"engine", 0, OPTION_TEXT, &o.engine_url, "URL", "the Docker Engine (default DOCKER_HOST)"},
        {"keep", 0, OPTION_FLAG, &o.keep, NULL, "leave the last failed trial's containers"},
        {"no-parity", 0, OPTION_FLAG, &o.no_parity, NULL, "skip the source parity checks"},
        {"with-images", 0, OPTION_FLAG, &o.with_images, NULL, "the container images go into the bundle"},
        {"strict", 0, OPTION_FLAG, &o.strict, NULL, "any outcome but ok is exit code 1"},
        {"budget", 0, OPTION_DURATION, &o.budget_ns, "TIME", "whole rounds until the time is spent, e.g. 8h"},
    };

    if (options_parse(&cmd_run, options, ARRAY_LEN(options), argc, argv, 1, 1, &operands, &code) == 0) {
        o.matrix_path = operands.items[0];
        code = run_matrix(&o, out);
    }
    option_list_release(&o.filters);
    option_list_release(&o.sets);
    return code;
}

const struct command cmd_run = {
    "run",
    "run MATRIX [options]",
    "expand a matrix, verify parity, run every trial, write the bundle",
    cmd_run_main,
};
