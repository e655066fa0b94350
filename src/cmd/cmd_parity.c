/* SPDX-License-Identifier: MIT */
#include "benchctl/archive.h"
#include "benchctl/matrix.h"
#include "benchctl/parity.h"
#include "cmd.h"

#include <stdio.h>
#include <string.h>

enum { STYLE_TABLE, STYLE_JSON };

/* Names, refs, paths and messages come from repositories: control characters, bidirectional marks and bytes
 * that are not UTF-8 are escaped. Backslashes stay, values in messages are escaped already. */
static void add_harmless(struct strbuf *out, const char *text)
{
    size_t n;

    for (;; text += n + 1) {
        char part[256], shown[sizeof(part) * 4 + 16];
        n = strcspn(text, "\\");
        for (size_t done = 0, len; done < n; done += len) {
            len = n - done < sizeof(part) ? n - done : sizeof(part) - 1;
            while (len > sizeof(part) - 5 && ((unsigned char)text[done + len] & 0xc0) == 0x80)
                len--; /* not inside a character */
            memcpy(part, text + done, len);
            part[len] = '\0';
            strbuf_adds(out, archive_printable(part, shown, sizeof(shown)));
        }
        if (!text[n])
            return;
        strbuf_addc(out, '\\');
    }
}

static void print_members(const struct parity_check_result *c, struct strbuf *out)
{
    for (size_t i = 0; i < c->member_count; i++) {
        const struct parity_member_result *m = &c->members[i];
        strbuf_adds(out, "      ");
        add_harmless(out, m->ref);
        strbuf_addc(out, ':');
        add_harmless(out, m->path);
        if (m->folder) { /* which one stands before */
            strbuf_adds(out, "  folder");
        } else if (m->full_ref) {
            strbuf_adds(out, "  ");
            add_harmless(out, m->full_ref);
        }
        if (m->folder && m->object)
            strbuf_addf(out, ", tree %.12s, at", m->object);
        if (m->commit)
            strbuf_addf(out, " %.12s%s%s", m->commit, m->shallow ? " (shallow)" : "",
                        m->changed ? " (changed)" : ""); /* the note says what that means */
        else if (m->folder)
            strbuf_adds(out, m->object ? " no commit" : ", no commit");
        strbuf_addc(out, '\n');
    }
}

static void print_differences(const struct parity_check_result *c, struct strbuf *out)
{
    for (size_t i = 0; i < c->difference_count; i++) {
        strbuf_addf(out, "      %s ", c->differences[i].warning ? "warning:" : "differs:");
        add_harmless(out, c->differences[i].path);
        strbuf_adds(out, ": ");
        add_harmless(out, c->differences[i].what);
        strbuf_addc(out, '\n');
    }
}

static void print_check(const struct parity_check_result *c, struct strbuf *out)
{
    const char *verdict = c->ok ? "ok" : c->unavailable ? "n/a" : "FAIL";
    const char *unit = c->compare == COMPARE_BLOBS ? "file" : "constant";

    strbuf_addf(out, "%-4s  ", verdict);
    add_harmless(out, c->name);
    if (c->error) {
        strbuf_adds(out, ": ");
        add_harmless(out, c->error);
        strbuf_addc(out, '\n');
    } else {
        strbuf_addf(out, ": %zu %s%s in %zu sources\n", c->compared, unit, c->compared == 1 ? "" : "s",
                    c->member_count);
    }
    print_members(c, out);
    print_differences(c, out);
    if (c->note) {
        strbuf_adds(out, "      note: ");
        add_harmless(out, c->note);
        strbuf_addc(out, '\n');
    }
}

static int print_result(const struct parity_result *r, int style)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (style == STYLE_JSON) {
        CLEANUP(json_free) struct json *j = parity_to_json(r);
        json_write(j, JSON_STYLE_INDENTED, &text);
        strbuf_addc(&text, '\n');
    } else {
        for (size_t i = 0; i < r->check_count; i++)
            print_check(&r->checks[i], &text);
    }
    return print_buffer(&text);
}

/* Broken outweighs what could not be tried. */
static int verdict(const struct parity_result *r)
{
    struct error err = ERROR_INIT;
    size_t failed = 0, untried = 0;

    for (size_t i = 0; i < r->check_count; i++) {
        untried += r->checks[i].unavailable;
        failed += !r->checks[i].ok && !r->checks[i].unavailable;
    }
    if (failed)
        (void)error_set(&err, ERROR_PARITY, "parity is broken: %zu of %zu checks failed", failed,
                        r->check_count);
    else
        (void)error_set(&err, ERROR_ENVIRONMENT, "parity is unknown: %zu of %zu checks could not be tried",
                        untried, r->check_count);
    return report_error(&err);
}

static int check_matrix(const char *path, const struct option_list *sets, const struct parity_options *o,
                        int style)
{
    CLEANUP(matrix_free) struct matrix *m = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct matrix_options mo = {.sets = sets->items, .set_count = sets->len, .seed = SCHEMA_ABSENT};
    struct parity_result r;
    struct error err = ERROR_INIT;

    if (matrix_read(path, &mo, &m, &err) < 0)
        return report_error(&err);
    if (!m->parity) {
        (void)error_set(&err, ERROR_INVALID, "%s: there is no parity section", path);
        (void)error_hint(&err, "parity: says which sources must be the same (docs/parity.md)");
        return report_error(&err);
    }
    if (parity_run(m->parity, o, a, &r, &err) < 0)
        return report_error(&err);
    int code = print_result(&r, style);
    return code == 0 && !r.ok ? verdict(&r) : code;
}

static int cmd_parity_main(int argc, char **argv)
{
    static const char *const formats[] = {"table", "json", NULL};
    struct option_list sets = {0};
    struct parity_options o = {0};
    struct operands operands;
    const char *format = NULL;
    int code;
    const struct option options[] = {
        {"set", 0, OPTION_LIST, &sets, "PATH=VALUE", "change the matrix before reading it"},
        {"any-owner", 0, OPTION_FLAG, &o.any_owner, NULL,
         "also read repositories that belong to somebody else"},
        {"format", 0, OPTION_TEXT, &format, "FORMAT", "table or json"},
    };

    if (options_parse(&cmd_parity, options, ARRAY_LEN(options), argc, argv, 1, 1, &operands, &code) == 0) {
        int style = format_option(&cmd_parity, format, formats);
        code = style < 0 ? error_exit_code(ERROR_USAGE) : check_matrix(operands.items[0], &sets, &o, style);
    }
    option_list_release(&sets);
    return code;
}

const struct command cmd_parity = {
    "parity",
    "parity MATRIX [options]",
    "check that the sources of a matrix that must be the same are the same",
    cmd_parity_main,
};
