/* SPDX-License-Identifier: MIT */
#include "adapter_print.h"
#include "benchctl/archive.h"
#include "benchctl/base/fs.h"
#include "cmd.h"

#include <stdio.h>
#include <string.h>

#define SCRAPE_MAX_BYTES ((size_t)256 << 20)

enum style { STYLE_TABLE, STYLE_JSON };

static int print_json(const struct json *j)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    json_write(j, JSON_STYLE_INDENTED, &text);
    strbuf_addc(&text, '\n');
    return print_buffer(&text);
}

static bool listed(char *const *names, const char *name)
{
    for (size_t i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* ---- list ---- */

static struct json *describe_load(const char *name)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = NULL;
    struct error err = ERROR_INIT;
    struct json *j = json_new_object();

    json_set_text(j, "name", name);
    json_set_text(j, "kind", "load");
    if (load_adapter_read(name, NULL, &a, &err) < 0) {
        json_set_text(j, "error", err.message);
        return j;
    }
    const char *program = load_adapter_program(a);
    CLEANUP_FREE char *found = program ? fs_find_program(program) : NULL;
    json_set_text(j, "file", load_adapter_file(a));
    json_set_text(j, "program", program);
    json_set_text(j, "found", found);
    json_set_text(j, "package", load_adapter_package(a));
    json_set_text(j, "help", load_adapter_help(a));
    return j;
}

static struct json *texts_json(const struct text_list *l)
{
    struct json *j = json_new_array();

    for (size_t i = 0; i < l->len; i++)
        json_append(j, json_new_text(l->items[i]));
    return j;
}

static struct json *describe_metrics(const char *name, char *const *dirs)
{
    CLEANUP(metric_adapter_free) struct metric_adapter *a = NULL;
    struct error err = ERROR_INIT;
    struct json *j = json_new_object();

    json_set_text(j, "name", name);
    json_set_text(j, "kind", "metrics");
    if (metric_adapter_read(name, dirs, &a, &err) < 0) {
        json_set_text(j, "error", err.message);
        return j;
    }
    const struct metric_part *part = metric_adapter_part(a, 0);
    json_set_text(j, "file", part->file);
    json_set_text(j, "help", part->help);
    json_set(j, "includes", texts_json(&part->includes));
    return j;
}

static void list_line(const struct json *j, struct strbuf *out)
{
    const char *program = json_get_text(j, "program"), *error = json_get_text(j, "error");
    const char *help = json_get_text(j, "help"), *package = json_get_text(j, "package");
    const char *kind = json_get_text(j, "kind");

    strbuf_addf(out, "%-14s %-8s ", json_get_text(j, "name"), kind);
    if (error)
        strbuf_addf(out, "broken: %s\n", error);
    else if (program && !json_get_text(j, "found"))
        strbuf_addf(out, "%s ('%s' is not on PATH%s%s)\n", help, program, package ? "; package " : "",
                    package ? package : "");
    else
        strbuf_addf(out, "%s\n", help);
}

static int adapter_list_all(enum style style, char *const *dirs)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP(json_free) struct json *all = json_new_array();
    CLEANUP(adapter_list_free) char **load = load_adapter_list(dirs);
    CLEANUP(adapter_list_free) char **metrics = adapter_list(dirs, "metrics");

    for (size_t i = 0; load[i]; i++)
        json_append(all, describe_load(load[i]));
    for (size_t i = 0; metrics[i]; i++)
        json_append(all, describe_metrics(metrics[i], dirs));
    if (style == STYLE_JSON)
        return print_json(all);
    for (size_t i = 0; i < json_len(all); i++)
        list_line(json_at(all, i), &text);
    return print_buffer(&text);
}

/* ---- show ---- */

static int show_load(const char *name, enum style style)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error err = ERROR_INIT;

    if (load_adapter_read(name, NULL, &a, &err) < 0)
        return report_error(&err);
    CLEANUP(json_free) struct json *j = load_adapter_to_json(a);
    if (style == STYLE_JSON)
        return print_json(j);
    adapter_print_form(j, &text);
    return print_buffer(&text);
}

/* "jvm,hikari": the names of several, which make one. */
static int read_metrics(const char *names, char *const *dirs, struct metric_adapter **ret, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct text_list list = {.items = arena_array(a, const char *, strlen(names) + 1)};

    for (const char *p = names;; p++) {
        size_t len = strcspn(p, ",");
        list.items[list.len++] = arena_strndup(a, p, len);
        p += len;
        if (!*p)
            break;
    }
    return metric_adapter_read_all(&list, dirs, ret, err);
}

static int part_text(const struct metric_part *p, struct strbuf *out, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (fs_read(p->file, SCRAPE_MAX_BYTES, &text, err) < 0)
        return -1;
    if (p->included)
        strbuf_addf(out, "\n# --- included: %s ---\n", p->name);
    strbuf_add(out, strbuf_text(&text), text.len);
    return 0;
}

static int part_json(const struct metric_part *p, struct json **ret, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP(arena_free) struct arena *arena = arena_new();
    const struct node *root;

    if (fs_read(p->file, SCRAPE_MAX_BYTES, &text, err) < 0 ||
        tree_parse(strbuf_text(&text), text.len, p->file, arena, &root, err) < 0)
        return -1;
    struct json *j = json_new_object();
    json_set_text(j, "name", p->name);
    json_set_text(j, "file", p->file);
    json_set(j, "adapter", node_to_json(root));
    *ret = j;
    return 0;
}

/* A metric adapter is its files: names and aliases, with comments; the first file first. */
static int show_metrics(const char *name, enum style style, char *const *dirs)
{
    CLEANUP(metric_adapter_free) struct metric_adapter *a = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP(json_free) struct json *first = NULL;
    struct json *more = NULL;
    struct error err = ERROR_INIT;

    if (read_metrics(name, dirs, &a, &err) < 0)
        return report_error(&err);
    for (size_t i = 0; i < metric_adapter_parts(a); i++) {
        struct json *j = NULL;
        if (part_text(metric_adapter_part(a, i), &text, &err) < 0 ||
            part_json(metric_adapter_part(a, i), &j, &err) < 0)
            return report_error(&err);
        if (!first) {
            first = j;
            json_set(first, "parts", more = json_new_array());
        } else {
            json_append(more, j);
        }
    }
    return style == STYLE_JSON ? print_json(first) : print_buffer(&text);
}

/* ---- parse ---- */

/* "connections=64" of the command line as the map that a matrix would have. */
static int option_nodes(const struct option_list *given, struct arena *a, const struct node **ret,
                        struct error *err)
{
    const struct position none = {"--option", 0, 0};
    const struct node *map = node_new(a, NODE_MAP, none);

    for (size_t i = 0; i < given->len; i++) {
        const char *equals = strchr(given->items[i], '=');
        if (!equals)
            return error_set(err, ERROR_USAGE, "option '--option' needs NAME=VALUE, not '%s'",
                             given->items[i]);
        const char *name = arena_strndup(a, given->items[i], (size_t)(equals - given->items[i]));
        const struct node *value = node_new_text(a, equals + 1, none);
        if (node_set_path(a, map, name, value, &map, err) < 0)
            return -1;
    }
    *ret = given->len ? map : NULL;
    return 0;
}

/* Something is not known because it is not known what the run was asked for. */
static bool depends_on_options(const struct load_adapter *a, const struct load_result *r)
{
    CLEANUP(json_free) struct json *j = load_adapter_to_json(a);
    bool model = json_get_text(j, "open_when") || json_len(json_get(j, "closed_when"));
    bool corrected = json_get_text(j, "corrected_when") || json_get_text(j, "uncorrected_when");

    return (!r->model && model) || (!r->corrected && corrected);
}

static int parse_load(const char *name, const struct operands *files, const struct option_list *given,
                      enum style style)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = NULL;
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    const struct node *options = NULL;
    struct load_problems problems;
    struct load_result r;
    struct error err = ERROR_INIT;

    if (load_adapter_read(name, NULL, &a, &err) < 0 || option_nodes(given, arena, &options, &err) < 0)
        return report_error(&err);
    if (options && load_adapter_check_options(a, options, &err) < 0)
        return report_error(&err);
    if (load_adapter_parse_files(a, files->items + 2, files->len - 2, options, arena, &r, &problems, &err) <
        0)
        return report_error(&err);
    CLEANUP(json_free) struct json *j = adapter_result_json(&r, &problems);
    adapter_print_result(&r, &problems, &text);
    if (!given->len && depends_on_options(a, &r))
        strbuf_adds(&text,
                    "note: model and corrected depend on what the run was asked for: say it with --option\n");
    int code = style == STYLE_JSON ? print_json(j) : print_buffer(&text);
    if (code == 0 && problems.nothing_measured) {
        (void)error_set(&err, ERROR_TRIAL, "%s", problems.nothing_measured);
        return report_error(&err);
    }
    if (code == 0 && problems.invalid_len) {
        (void)error_set(&err, ERROR_TRIAL, "not to be trusted: %s", problems.invalid[0].sentence);
        return report_error(&err);
    }
    return code;
}

static int read_scrape(const char *path, struct strbuf *out, struct error *err)
{
    return text_ends(path, ".zst") ? archive_file_read(path, SCRAPE_MAX_BYTES, out, err)
                                   : fs_read(path, SCRAPE_MAX_BYTES, out, err);
}

static int parse_metrics(const char *name, const struct operands *files, enum style style, char *const *dirs)
{
    CLEANUP(metric_adapter_free) struct metric_adapter *a = NULL;
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    const char *texts[ARRAY_LEN(files->items)];
    struct metric_value *values = NULL;
    struct text_list notes = {0};
    size_t count = 0, n = files->len - 2;
    struct error err = ERROR_INIT;

    if (read_metrics(name, dirs, &a, &err) < 0)
        return report_error(&err);
    for (size_t i = 0; i < n; i++) {
        strbuf_clear(&text);
        if (read_scrape(files->items[i + 2], &text, &err) < 0)
            return report_error(&err);
        texts[i] = arena_strndup(arena, strbuf_text(&text), text.len);
    }
    if (metric_adapter_apply(a, texts, n, arena, &values, &count, &err) < 0 ||
        metric_adapter_notes(a, texts, n, arena, &notes, &err) < 0)
        return report_error(&err);
    for (size_t i = 0; i < notes.len; i++)
        print_plain(stderr, "note: ", notes.items[i]);
    CLEANUP(json_free) struct json *j = adapter_metrics_json(values, count);
    if (style == STYLE_JSON)
        return print_json(j);
    strbuf_clear(&text);
    adapter_print_metrics(values, count, &text);
    return print_buffer(&text);
}

/* ---- the verb ---- */

static int usage(const char *what, const char *subject)
{
    struct error err = ERROR_INIT;

    (void)error_set(&err, ERROR_USAGE, "%s '%s'", what, subject);
    (void)error_hint(&err, "usage: benchctl %s", cmd_adapter.usage);
    return report_error(&err);
}

/* Of both kinds: the load adapter of that name, else the metric adapter. */
static int with_name(const struct operands *o, const struct option_list *given, enum style style,
                     char *const *dirs)
{
    CLEANUP(adapter_list_free) char **load = load_adapter_list(dirs);
    CLEANUP(adapter_list_free) char **metrics = adapter_list(dirs, "metrics");
    const char *name = o->items[1];
    bool is_metrics = !listed(load, name) && (listed(metrics, name) || strchr(name, ','));

    if (strcmp(o->items[0], "show") == 0)
        return is_metrics ? show_metrics(name, style, dirs) : show_load(name, style);
    return is_metrics ? parse_metrics(name, o, style, dirs) : parse_load(name, o, given, style);
}

static int run_adapter(const struct operands *o, const struct option_list *given, enum style style)
{
    CLEANUP(adapter_directories_free) char **dirs = adapter_directories(NULL);
    const char *what = o->items[0];

    if (strcmp(what, "list") == 0)
        return o->len > 1 ? usage("unexpected on the command line:", o->items[1])
                          : adapter_list_all(style, dirs);
    if (strcmp(what, "show") != 0 && strcmp(what, "parse") != 0)
        return usage("unknown", what);
    if (o->len < 2)
        return usage("the name of an adapter is missing after", what);
    if (strcmp(what, "show") == 0 && o->len > 2)
        return usage("unexpected on the command line:", o->items[2]);
    if (strcmp(what, "parse") == 0 && o->len < 3)
        return usage("a recorded output is missing after the adapter's name:", o->items[1]);
    return with_name(o, given, style, dirs);
}

static int cmd_adapter_main(int argc, char **argv)
{
    static const char *const formats[] = {"table", "json", NULL};
    struct option_list given = {0};
    struct operands operands;
    const char *format = NULL;
    int code;
    const struct option options[] = {
        {"format", 0, OPTION_TEXT, &format, "FORMAT", "table or json"},
        {"option", 'o', OPTION_LIST, &given, "NAME=VALUE", "parse: what the recorded run was asked for"},
    };

    if (options_parse(&cmd_adapter, options, ARRAY_LEN(options), argc, argv, 1, ARRAY_LEN(operands.items),
                      &operands, &code) == 0) {
        int style = format_option(&cmd_adapter, format, formats);
        code = style < 0 ? error_exit_code(ERROR_USAGE) : run_adapter(&operands, &given, (enum style)style);
    }
    option_list_release(&given);
    return code;
}

const struct command cmd_adapter = {
    "adapter",
    "adapter list | show NAME | parse NAME FILE... [options]",
    "list the known adapters, and show what one reads from a recorded output",
    cmd_adapter_main,
};
