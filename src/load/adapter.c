/* SPDX-License-Identifier: MIT */
/* Reading an adapter file. */
#include "adapter.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/strbuf.h"
#include "command.h"
#include "stream.h"

#define ADAPTER_MAX_BYTES ((size_t)1 << 20)

void load_adapter_free(struct load_adapter *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->patterns.len; i++)
        if (a->patterns.items[i]->compiled)
            regfree(&a->patterns.items[i]->regex);
    vec_release(&a->patterns);
    free(a->name);
    free(a->file);
    arena_free(a->arena);
    free(a);
}

const struct adapter_option *load_option_find(const struct load_adapter *a, const char *name)
{
    form_each(struct adapter_option, o, &a->form.options) if (strcmp(o->name, name) == 0) return o;
    return NULL;
}

const struct adapter_output *load_output_find(const struct load_adapter *a, const char *name)
{
    form_each(struct adapter_output, o, &a->form.outputs) if (strcmp(o->name, name) == 0) return o;
    return NULL;
}

static int error_at(struct load_adapter *a, struct position at, const char *what, const char *subject,
                    struct error *err)
{
    return node_error(err, node_new(a->arena, NODE_NULL, at), "%s '%s'", what, subject);
}

/* A name for a file in the output directory: no way out of it. */
static bool plain_file_name(const char *name)
{
    return name[0] && name[0] != '.' && !strchr(name, '/');
}

static int check_streamed(struct load_adapter *a, const struct adapter_output *o, struct error *err)
{
    struct scan_paths paths;

    if ((o->format == FORMAT_NDJSON) != (o->stream != NULL))
        return error_at(a, o->at, "ndjson, and nothing else, needs stream: output", o->name, err);
    if (o->unit < UNIT_NS || o->unit > UNIT_S)
        return error_at(a, o->at, "the unit of a hdrlog is ns, us, ms or s: output", o->name, err);
    if (o->stream && stream_paths_of(o->stream, &paths, err) < 0)
        return error_wrap(err, "%s:%d:%d", o->at.file, o->at.line, o->at.column);
    return 0;
}

static int check_outputs(struct load_adapter *a, struct error *err)
{
    form_each(struct adapter_output, o, &a->form.outputs)
    {
        if (!plain_file_name(o->file))
            return error_at(a, o->at, "not a plain file name:", o->file, err);
        if (o->format == FORMAT_CSV && strlen(o->delimiter) != 1 && strcmp(o->delimiter, "tab") != 0)
            return error_at(a, o->at, "the delimiter is one character or tab, not", o->delimiter, err);
        if (o->format == FORMAT_CSV && !o->header && !o->columns.len)
            return error_at(a, o->at, "csv without a header needs columns: output", o->name, err);
        if ((o->skip.len || o->redact.len) && o->format != FORMAT_JSON)
            return error_at(a, o->at, "skip and redact are for json: output", o->name, err);
        if (check_streamed(a, o, err) < 0)
            return -1;
    }
    form_each(struct adapter_file, f, &a->form.files) if (!plain_file_name(f->file)) return error_at(
        a, f->at, "not a plain file name:", f->file, err);
    return 0;
}

static int check_options(struct load_adapter *a, struct error *err)
{
    form_each(struct adapter_option, o, &a->form.options)
    {
        if (load_name_reserved(o->name))
            return error_at(a, o->at, "an option cannot have the name", o->name, err);
        if (o->fallback && o->type >= OPTION_TYPE_LIST)
            return error_at(a, o->at, "a list, map or any has no default: option", o->name, err);
        if (o->flag.len && o->type == OPTION_TYPE_ANY)
            return error_at(a, o->at, "a nested value has no flag: option", o->name, err);
        if (o->fallback && load_option_check_value(o, node_new_text(a->arena, o->fallback, o->at), err) < 0)
            return -1;
    }
    return 0;
}

static int prepare_version(struct load_adapter *a, struct error *err)
{
    const struct adapter_version *v = &a->form.version;

    a->version_refuse = arena_array(a->arena, struct pattern *, v->refuse.len + 1);
    if (v->match && pattern_new(a, v->match, v->at, &a->version_match, err) < 0)
        return -1;
    for (size_t i = 0; i < v->refuse.len; i++)
        if (pattern_new(a, v->refuse.items[i].key, v->refuse.items[i].at, &a->version_refuse[i], err) < 0)
            return -1;
    return 0;
}

/* `${benchctl}`: the program that runs, wherever it is. */
static void find_own_program(struct load_adapter *a)
{
    char path[PATH_MAX];

    if (!text_equal(a->form.program, "${benchctl}"))
        return;
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = '\0';
    a->own = true;
    a->form.program = n > 0 && fs_exists(path) ? arena_strdup(a->arena, path) : "/proc/self/exe";
}

static int prepare(struct load_adapter *a, const struct node *root, struct error *err)
{
    const struct adapter_form *f = &a->form;

    if (schema_read(&load_adapter_schema, root, a->arena, &a->form, err) < 0)
        return -1;
    find_own_program(a);
    if (f->program && !f->reports.len)
        return node_error(err, root, "an adapter with a program needs reports: how its results are read");
    if (!f->program && (f->args.len || f->reports.len))
        return node_error(err, root, "an adapter without a program runs nothing and reads nothing");
    if (check_outputs(a, err) < 0 || check_options(a, err) < 0 || prepare_version(a, err) < 0)
        return -1;
    return load_templates_check(a, err) < 0 || load_rules_prepare(a, err) < 0 ||
                   load_reports_prepare(a, err) < 0
               ? -1
               : 0;
}

int load_adapter_parse(const char *bytes, size_t len, const char *file, struct load_adapter **ret,
                       struct error *err)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = xcalloc(1, sizeof(*a));
    const char *base = path_basename(file);

    a->name = xstrndup(base, strlen(base) - (text_ends(base, ".yaml") ? strlen(".yaml") : 0));
    a->file = xstrdup(file);
    a->arena = arena_new();
    if (tree_parse(bytes, len, a->file, a->arena, &a->root, err) < 0 || prepare(a, a->root, err) < 0)
        return -1;
    *ret = TAKE(a);
    return 0;
}

static void hint_directories(char *const *dirs, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    for (size_t i = 0; dirs[i]; i++)
        strbuf_addf(&text, "%s %s/load", i ? "," : "", dirs[i]);
    (void)error_hint(err, "`benchctl adapter list` shows those that there are; looked for in%s",
                     text.len ? strbuf_text(&text) : " no directory: none is there");
}

static int unknown_adapter(const char *name, char *const *dirs, struct error *err)
{
    char **known = load_adapter_list(dirs);
    size_t count = 0;

    while (known[count])
        count++;
    const char *near = nearest_name(name, (const char *const *)known, count);
    (void)error_set(err, ERROR_INVALID, "unknown load adapter '%s'", name);
    if (near)
        (void)error_hint(err, "did you mean '%s'?", near);
    else
        hint_directories(dirs, err);
    adapter_list_free(known);
    return -1;
}

int load_adapter_read(const char *name, const char *matrix_dir, struct load_adapter **ret, struct error *err)
{
    CLEANUP(adapter_directories_free) char **dirs = adapter_directories(matrix_dir);

    for (size_t i = 0; dirs[i] && *name && !strchr(name, '/'); i++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
        CLEANUP_FREE char *path = xasprintf("%s/load/%s.yaml", dirs[i], name);
        if (!fs_exists(path))
            continue;
        if (fs_read(path, ADAPTER_MAX_BYTES, &text, err) < 0)
            return -1;
        return load_adapter_parse(strbuf_text(&text), text.len, path, ret, err);
    }
    return unknown_adapter(name, dirs, err);
}

const char *load_adapter_name(const struct load_adapter *a)
{
    return a->name;
}

const char *load_adapter_help(const struct load_adapter *a)
{
    return a->form.help ? a->form.help : "";
}

const char *load_adapter_file(const struct load_adapter *a)
{
    return a->file;
}

const char *load_adapter_program(const struct load_adapter *a)
{
    return a->form.program;
}

const char *load_adapter_package(const struct load_adapter *a)
{
    return a->form.package;
}
