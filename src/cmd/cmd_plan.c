/* SPDX-License-Identifier: MIT */
/* `benchctl plan`: what a matrix means, without touching anything. */
#include <string.h>

#include "cmd.h"
#include "idle_axes.h"
#include "plan_print.h"

/* So many scenarios' settings are read whatever is shown: a matrix that cannot run is an error in every
 * format. */
#define CHECKED_MAX 1000

enum plan_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV, FORMAT_IDS };
static const char *const formats[] = {"table", "json", "csv", "ids", NULL};

struct plan_arguments {
    const char *matrix, *format_text, *diff;
    enum plan_format format;
    struct option_list filters, sets;
    int64_t trials, seed;
    bool explain;
};

static void plan_arguments_release(struct plan_arguments *a)
{
    option_list_release(&a->filters);
    option_list_release(&a->sets);
}

/* A matrix with the command line applied, and its plan. */
struct planned {
    struct matrix *m;
    struct plan *p;
};

static void planned_release(struct planned *x)
{
    plan_free(x->p);
    matrix_free(x->m);
}

static int make(const struct plan_arguments *a, const char *file, const struct matrix_options *settings,
                struct planned *ret, struct error *err)
{
    struct plan_options filters = {.filters = a->filters.items, .filter_count = a->filters.len};

    int64_t estimate_ns;
    size_t looked_at;

    if (matrix_read(file, settings, &ret->m, err) < 0 || plan_make(ret->m, &filters, &ret->p, err) < 0)
        return -1;
    return plan_estimate_total_ns(ret->p, CHECKED_MAX, &estimate_ns, &looked_at, err);
}

static int print_list(const struct plan *p, enum plan_format format, struct error *err)
{
    switch (format) {
    case FORMAT_JSON:
        return plan_write_json(p, STDOUT_FILENO, true, err);
    case FORMAT_CSV:
        return plan_print_csv(p, err);
    case FORMAT_IDS:
        return plan_print_ids(p, err);
    case FORMAT_TABLE:
        break;
    }
    return plan_print_table(p, err);
}

static int print_diff(const struct plan_arguments *a, const struct plan *now, enum plan_style style,
                      struct error *err)
{
    static const struct matrix_options as_it_is = {.seed = SCHEMA_ABSENT};
    CLEANUP_VALUE(planned_release) struct planned before = {0};

    if (make(a, a->diff, &as_it_is, &before, err) < 0)
        return a->filters.len ? error_wrap(err, "the earlier matrix '%s'", a->diff) : -1;
    return plan_print_diff(now, before.p, style, err);
}

static int plan_and_print(const struct plan_arguments *a, struct error *err)
{
    enum plan_style style = a->format == FORMAT_JSON  ? PLAN_STYLE_JSON
                            : a->format == FORMAT_CSV ? PLAN_STYLE_CSV
                                                      : PLAN_STYLE_TABLE;
    struct matrix_options settings = {
        .sets = a->sets.items, .set_count = a->sets.len, .trials = a->trials, .seed = a->seed};
    CLEANUP_VALUE(planned_release) struct planned x = {0};

    if (make(a, a->matrix, &settings, &x, err) < 0)
        return -1;
    warn_of_idle_axes(x.p);
    if (a->diff)
        return print_diff(a, x.p, style, err);
    if (a->explain)
        return plan_print_reasons(x.p, style, err);
    return print_list(x.p, a->format, err);
}

static int check_arguments(const struct plan_arguments *a, struct error *err)
{
    if (a->trials < 0)
        return error_set(err, ERROR_USAGE, "option '--trials' must be at least 1");
    if (a->seed < 0 && a->seed != SCHEMA_ABSENT)
        return error_set(err, ERROR_USAGE, "option '--seed' must not be negative");
    if (a->explain && a->diff)
        return error_set(err, ERROR_USAGE, "options '--explain' and '--diff' do not go together");
    if (a->format == FORMAT_IDS && (a->explain || a->diff)) {
        error_set(err, ERROR_USAGE, "format 'ids' does not go with '--%s'", a->explain ? "explain" : "diff");
        return error_hint(err, "one of: table, json, csv");
    }
    return 0;
}

static int run(int argc, char **argv)
{
    CLEANUP_VALUE(plan_arguments_release)
    struct plan_arguments a = {.trials = INT64_MAX, .seed = INT64_MIN};
    const struct option options[] = {
        {"format", 'f', OPTION_TEXT, &a.format_text, "FORMAT", "table, json, csv or ids"},
        {"explain", 0, OPTION_FLAG, &a.explain, NULL, "which rule made, changed or dropped each combination"},
        {"diff", 0, OPTION_TEXT, &a.diff, "OTHER", "what changed since the matrix OTHER, taken as it is"},
        {"filter", 0, OPTION_LIST, &a.filters, "EXPR",
         "only these scenarios: axis=value,value, axis!=value, axis<=value, an id"},
        {"set", 0, OPTION_LIST, &a.sets, "KEY=VALUE", "change a setting of the matrix, as in app.memory=64m"},
        {"trials", 0, OPTION_INT, &a.trials, "N", "trials of each scenario"},
        {"seed", 0, OPTION_INT, &a.seed, "N", "seed of the order"},
    };
    struct operands operands;
    struct error err = ERROR_INIT;
    int exit_code = 0;

    if (options_parse(&cmd_plan, options, ARRAY_LEN(options), argc, argv, 1, 1, &operands, &exit_code) < 0)
        return exit_code;
    int format = format_option(&cmd_plan, a.format_text, formats);
    if (format < 0)
        return error_exit_code(ERROR_USAGE);
    a.format = (enum plan_format)format;
    a.matrix = operands.items[0];
    a.trials = a.trials == INT64_MAX ? 0 : a.trials > 0 ? a.trials : -1;
    a.seed = a.seed == INT64_MIN ? SCHEMA_ABSENT : a.seed >= 0 ? a.seed : -1;
    if (check_arguments(&a, &err) < 0 || plan_and_print(&a, &err) < 0)
        return report_error(&err);
    return 0;
}

const struct command cmd_plan = {
    .name = "plan",
    .usage = "plan MATRIX [options]",
    .help = "show the scenarios of a matrix and the order of their trials, without touching anything",
    .run = run,
};
