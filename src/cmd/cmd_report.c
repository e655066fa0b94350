/* SPDX-License-Identifier: MIT */
#include "benchctl/report.h"

#include <string.h>
#include "cmd.h"

#define REPORT_MAX ((size_t)2 << 30)

/* "a,b,c" as names, cut in place. */
struct names {
    char *text;
    const char **items;
    size_t len, cap;
};

static void split_names(const char *text, struct names *ret)
{
    char *save = NULL;

    if (!text)
        return;
    ret->text = xstrdup(text);
    for (char *name = strtok_r(ret->text, ",", &save); name; name = strtok_r(NULL, ",", &save))
        vec_push(ret, name);
}

static void names_release(struct names *n)
{
    vec_release(n);
    free(n->text);
}

static int write_out(const char *path, const struct strbuf *text)
{
    struct error err = ERROR_INIT;

    if (!path || strcmp(path, "-") == 0)
        return print_buffer(text);
    return fs_write_output(path, strbuf_text(text), text->len, &err) < 0 ? report_error(&err) : 0;
}

static int render(const char *path, const struct report_options *o, enum report_format f,
                  const char *out_path)
{
    CLEANUP(sweep_free) struct sweep *s = NULL;
    CLEANUP(report_free) struct report *r = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error err = ERROR_INIT;

    if (sweep_load(path, &s, &err) < 0 || report_build(s, o, &r, &err) < 0)
        return report_error(&err);
    text.max = REPORT_MAX;
    report_render(r, f, &text);
    if (text.overflow) {
        (void)error_set(&err, ERROR_ENVIRONMENT, "the report would be larger than %zu MiB", REPORT_MAX >> 20);
        return report_error(&err);
    }
    return write_out(out_path, &text);
}

static int cmd_report_main(int argc, char **argv)
{
    static const char *const formats[] = {"table", "md",    "html",        "csv", "tidy",
                                          "json",  "junit", "openmetrics", NULL};
    struct report_options o = {0};
    struct operands operands;
    const char *format = NULL, *rows = NULL, *figures = NULL, *out = NULL;
    CLEANUP_VALUE(names_release) struct names row_names = {0};
    CLEANUP_VALUE(names_release) struct names figure_names = {0};
    int code;
    const struct option options[] = {
        {"format", 0, OPTION_TEXT, &format, "FORMAT",
         "table, md, html, csv, tidy, json, junit or openmetrics"},
        {"output", 'o', OPTION_TEXT, &out, "FILE", "write to a file instead of standard output"},
        {"rows", 0, OPTION_TEXT, &rows, "AXIS,...", "axes of the rows, in this order; 'figure' is one, too"},
        {"cols", 0, OPTION_TEXT, &o.cols, "AXIS", "the axis of the columns, instead of 'figure'"},
        {"figures", 0, OPTION_TEXT, &figures, "NAME,...",
         "by the names of trial.json, or phases.NAME.FIGURE"},
        {"validity", 0, OPTION_FLAG, &o.validity, NULL, "every rule of validity with its verdicts"},
    };

    if (options_parse(&cmd_report, options, ARRAY_LEN(options), argc, argv, 1, 1, &operands, &code) < 0)
        return code;
    enum report_format f = REPORT_TABLE;
    if (format_option(&cmd_report, format, formats) < 0)
        return error_exit_code(ERROR_USAGE);
    if (format)
        (void)report_format_parse(format, &f);
    split_names(rows, &row_names);
    split_names(figures, &figure_names);
    o.rows = row_names.items;
    o.row_count = row_names.len;
    o.figures = figure_names.items;
    o.figure_count = figure_names.len;
    o.reads = report_format_reads(f);
    o.width = out ? 0 : terminal_width();
    o.color = !out && stdout_color();
    return render(operands.items[0], &o, f, out);
}

const struct command cmd_report = {
    "report",
    "report DIR-or-BUNDLE [options]",
    "make tables and plots of a sweep's results",
    cmd_report_main,
};
