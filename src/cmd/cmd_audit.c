/* SPDX-License-Identifier: MIT */
#include "audit_print.h"

#include <math.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"

struct audit_request {
    const char *path;
    struct audit_options options;
    enum audit_style style;
};

static int audit_file(const struct audit_request *q)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT, text = STRBUF_INIT;
    struct audit r;
    struct error err = ERROR_INIT;

    if (fs_read(q->path, AUDIT_FILE_MAX, &bytes, &err) < 0) {
        err.kind = ERROR_INVALID; /* a name that is wrong, as with a matrix */
        return report_error(&err);
    }
    if (validity_audit(strbuf_text(&bytes), bytes.len, q->path, &q->options, a, &r, &err) < 0)
        return report_error(&err);
    audit_print(&r, q->path, q->style, &text);
    int code = print_buffer(&text);
    return code == 0 && r.failed ? 1 : code;
}

static int print_rules(enum audit_style style)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    audit_print_rules(style, &text);
    return print_buffer(&text);
}

/* 0: not said. */
static double known(int64_t value, double unit)
{
    return value > 0 ? (double)value / unit : NAN;
}

static int cmd_audit_main(int argc, char **argv)
{
    static const char *const formats[] = {"table", "json", "md", NULL};
    struct operands operands;
    const char *format = NULL;
    int64_t users = 0, think_ns = 0, duration_ns = 0;
    bool rules = false;
    struct error err = ERROR_INIT;
    int code;
    const struct option options[] = {
        {"format", 0, OPTION_TEXT, &format, "FORMAT", "table, md or json"},
        {"vus", 0, OPTION_INT, &users, "N", "users or connections, for rows that do not say"},
        {"think", 0, OPTION_DURATION, &think_ns, "TIME",
         "their pause between an answer and the next request"},
        {"duration", 0, OPTION_DURATION, &duration_ns, "TIME", "how long each row was measured"},
        {"rules", 0, OPTION_FLAG, &rules, NULL, "print all rules of validity instead"},
    };

    if (options_parse(&cmd_audit, options, ARRAY_LEN(options), argc, argv, 0, 1, &operands, &code) < 0)
        return code;
    int style = format_option(&cmd_audit, format, formats);
    if (style < 0)
        return error_exit_code(ERROR_USAGE);
    if (rules)
        return print_rules((enum audit_style)style);
    if (!operands.len || users < 0) {
        (void)error_set(&err, ERROR_USAGE, operands.len ? "--vus: fewer than none" : "there is no table");
        (void)error_hint(&err, "benchctl audit TABLE.csv; docs/audit.md has its columns");
        return report_error(&err);
    }
    return audit_file(&(struct audit_request){
        .path = operands.items[0],
        .options = {known(users, 1), known(think_ns, (double)NS_PER_MS),
                    known(duration_ns, (double)NS_PER_S)},
        .style = (enum audit_style)style,
    });
}

const struct command cmd_audit = {
    "audit",
    "audit TABLE.csv [options]",
    "apply the rules that need no samples to published figures",
    cmd_audit_main,
};
