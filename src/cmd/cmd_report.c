/* SPDX-License-Identifier: MIT */
#include "benchctl/report.h"

#include "cmd.h"

/* "a,b,c" as names; the text is cut in place. */
static size_t split_names(char *text, const char **ret, size_t max)
{
    size_t n = 0;
    char *save = NULL;

    for (char *name = text ? strtok_r(text, ",", &save) : NULL; name && n < max;
         name = strtok_r(NULL, ",", &save))
        ret[n++] = name;
    return n;
}

static int write_out(const char *path, const struct strbuf *text)
{
    struct error err = ERROR_INIT;

    if (!path)
        return print_buffer(text);
    return fs_write_atomic(path, strbuf_text(text), text->len, &err) < 0 ? report_error(&err) : 0;
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
    report_render(r, f, &text);
    return write_out(out_path, &text);
}

static int cmd_report_main(int argc, char **argv)
{
    static const char *const formats[] = {"table", "md", "csv", "json", "html", NULL};
    struct report_options o = {0};
    struct operands operands;
    const char *format = NULL, *rows = NULL, *out = NULL, *names[64];
    int code;
    const struct option options[] = {
        {"format", 0, OPTION_TEXT, &format, "FORMAT", "table, md, html, csv or json"},
        {"output", 'o', OPTION_TEXT, &out, "FILE", "write to a file instead of standard output"},
        {"rows", 0, OPTION_TEXT, &rows, "AXIS,...", "axes of the rows, in this order"},
        {"cols", 0, OPTION_TEXT, &o.cols, "AXIS",
         "an axis whose values become columns: one table per figure"},
    };

    if (options_parse(&cmd_report, options, ARRAY_LEN(options), argc, argv, 1, 1, &operands, &code) < 0)
        return code;
    enum report_format f = REPORT_TABLE;
    if (format_option(&cmd_report, format, formats) < 0)
        return error_exit_code(ERROR_USAGE);
    if (format)
        (void)report_format_parse(format, &f);
    CLEANUP_FREE char *copy = rows ? xstrdup(rows) : NULL;
    o.row_count = split_names(copy, names, ARRAY_LEN(names));
    o.rows = names;
    o.width = out ? 0 : terminal_width();
    o.color = !out && stdout_color();
    return render(operands.items[0], &o, f, out);
}

const struct command cmd_report = {
    "report",
    "report DIR-or-BUNDLE [options]",
    "tables and plots of a sweep's results",
    cmd_report_main,
};
