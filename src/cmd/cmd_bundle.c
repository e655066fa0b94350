/* SPDX-License-Identifier: MIT */
#include "benchctl/bundle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "benchctl/base/units.h"
#include "sweep_command.h"

#define SHOW_MAX ((size_t)256 << 20)

struct bundle_call {
    const char *path, *argument; /* argument: MEMBER or DIR, or NULL */
    const char *output;
    const char *engine_url;
    bool json, with_images;
};

static int print_json(struct json *j)
{
    CLEANUP(json_free) struct json *owned = j;
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;

    json_write(owned, JSON_STYLE_INDENTED, &out);
    strbuf_trim_end(&out);
    strbuf_addc(&out, '\n');
    return print_buffer(&out);
}

/* --- verify --- */

static int verify_failed(const struct bundle_call *c, const struct error *err)
{
    if (c->json) {
        struct json *j = json_new_object();

        json_set_text(j, "bundle", c->path);
        json_set_bool(j, "valid", false);
        json_set_text(j, "error", err->message);
        (void)print_json(j);
    }
    return report_error(err);
}

static int verify(const struct bundle_call *c)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    struct error err = ERROR_INIT;
    struct bundle_summary s;
    char size[32];

    if (bundle_verify(c->path, &s, &err) < 0)
        return verify_failed(c, &err);
    if (c->json) {
        struct json *j = json_new_object();

        json_set_text(j, "bundle", c->path);
        json_set_bool(j, "valid", true);
        json_set_int(j, "schema", s.schema);
        json_set_int(j, "members", s.members);
        json_set_int(j, "bytes", s.bytes);
        return print_json(j);
    }
    strbuf_addf(&out, "%s: valid, %" PRId64 " members, %s, schema %d\n", c->path, s.members,
                size_human((double)s.bytes, size), s.schema);
    return print_buffer(&out);
}

/* --- list --- */

static int list_as_text(const char *name, int64_t size, const char *sha256, void *data, struct error *err)
{
    (void)err;
    strbuf_addf(data, "%12" PRId64 "  %.12s  %s\n", size, sha256, name); /* names are printable ASCII */
    return 0;
}

static int list_as_json(const char *name, int64_t size, const char *sha256, void *data, struct error *err)
{
    struct json *j = json_new_object();

    (void)err;
    json_set_text(j, "name", name);
    json_set_int(j, "size", size);
    json_set_text(j, "sha256", sha256);
    json_append(data, j);
    return 0;
}

static int list(const struct bundle_call *c)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    CLEANUP(json_free) struct json *members = json_new_array();
    struct error err = ERROR_INIT;

    if (bundle_list(c->path, c->json ? list_as_json : list_as_text, c->json ? (void *)members : &out, &err) <
        0)
        return report_error(&err);
    return c->json ? print_json(TAKE(members)) : print_buffer(&out);
}

/* --- show --- */

/* Line by line without what would steer a terminal. */
static void make_safe(const struct strbuf *text, struct strbuf *out)
{
    for (size_t at = 0; at < text->len;) {
        const char *line = text->data + at;
        const char *newline = memchr(line, '\n', text->len - at);
        size_t len = newline ? (size_t)(newline - line) : text->len - at;

        for (size_t from = 0; from <= len;) { /* a NUL ends a piece */
            CLEANUP_FREE char *piece = xstrndup(line + from, len - from);
            size_t used = strlen(piece), room = 4 * used + 16;
            CLEANUP_FREE char *safe = xmalloc(room);

            for (char *p = piece; *p; p++)
                *p = *p == '\t' ? ' ' : *p;
            strbuf_adds(out, archive_printable(piece, safe, room));
            from += used + 1;
            if (from <= len)
                strbuf_adds(out, "\\x00");
        }
        if (newline)
            strbuf_addc(out, '\n');
        at += len + 1;
    }
}

static int show(const struct bundle_call *c)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = {.max = SHOW_MAX}, safe = {.max = 5 * SHOW_MAX};
    struct error err = ERROR_INIT;

    if (bundle_show(c->path, c->argument, SHOW_MAX, &text, &err) < 0)
        return report_error(&err);
    if (!isatty(STDOUT_FILENO))
        return print_buffer(&text);
    make_safe(&text, &safe);
    return print_buffer(&safe);
}

/* --- extract, create --- */

static int extract(const struct bundle_call *c)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    CLEANUP_FREE char *beside = NULL;
    const char *dir = c->argument;
    struct error err = ERROR_INIT;

    if (!dir) {
        const char *base = path_basename(c->path);
        beside = xstrndup(base, strlen(base) - (text_ends(base, ".tar.zst") ? strlen(".tar.zst") : 0));
        dir = beside;
    }
    if (bundle_extract(c->path, dir, &err) < 0)
        return report_error(&err);
    strbuf_addf(&out, "%s\n", dir);
    return print_buffer(&out);
}

static int create(const struct bundle_call *c)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    CLEANUP(rundir_close) struct rundir *r = NULL;
    struct error err = ERROR_INIT;

    /* opening it says whether a sweep is running there, and repairs what a crash left */
    if (rundir_open(c->path, &r, &err) < 0)
        return report_error(&err);
    CLEANUP_FREE char *beside = xasprintf("%s.tar.zst", rundir_path(r));
    const char *path = c->output ? c->output : beside;
    if (c->with_images && sweep_save_images(rundir_path(r), c->engine_url, &err) < 0)
        return report_error(&err);
    if ((c->with_images ? bundle_write_with_images : bundle_write)(c->path, path, &err) < 0)
        return report_error(&err);
    strbuf_addf(&out, "%s\n", path);
    return print_buffer(&out);
}

/* --- the verb --- */

static const struct action {
    const char *name;
    size_t min, max; /* operands after the action's name */
    int (*run)(const struct bundle_call *c);
} ACTIONS[] = {
    {"verify", 1, 1, verify},   {"list", 1, 1, list},     {"show", 2, 2, show},
    {"extract", 1, 2, extract}, {"create", 1, 1, create}, {"pack", 1, 1, create},
};

static int usage(const char *what, const char *name)
{
    struct error err = ERROR_INIT;

    (void)error_set(&err, ERROR_USAGE, "%s '%s'", what, name);
    (void)error_hint(&err, "usage: benchctl %s", cmd_bundle.usage);
    return report_error(&err);
}

static int cmd_bundle_main(int argc, char **argv)
{
    static const char *const formats[] = {"table", "json", NULL};
    struct bundle_call c = {0};
    struct operands operands;
    const char *format = NULL;
    int code;
    const struct option options[] = {
        {"format", 0, OPTION_TEXT, &format, "FORMAT", "of verify and list: table or json"},
        {"output", 'o', OPTION_TEXT, &c.output, "FILE",
         "of create: where the bundle goes (default DIR.tar.zst)"},
        {"with-images", 0, OPTION_FLAG, &c.with_images, NULL,
         "of create: the container images, too, from DIR/images or the engine"},
        {"engine", 0, OPTION_TEXT, &c.engine_url, "URL",
         "of create: the Docker Engine that has them (default DOCKER_HOST)"},
    };

    if (options_parse(&cmd_bundle, options, ARRAY_LEN(options), argc, argv, 2, 3, &operands, &code) < 0)
        return code;
    code = format_option(&cmd_bundle, format, formats);
    if (code < 0)
        return error_exit_code(ERROR_USAGE);
    c.json = code == 1;
    c.path = operands.items[1];
    c.argument = operands.len > 2 ? operands.items[2] : NULL;
    for (size_t i = 0; i < ARRAY_LEN(ACTIONS); i++) {
        const struct action *a = &ACTIONS[i];

        if (strcmp(a->name, operands.items[0]) != 0)
            continue;
        if (operands.len - 1 < a->min || operands.len - 1 > a->max)
            return usage("wrong number of arguments for", a->name);
        return a->run(&c);
    }
    return usage("unknown action", operands.items[0]);
}

const struct command cmd_bundle = {
    "bundle",
    "bundle verify|list|extract|show BUNDLE [DIR|MEMBER], bundle create DIR [-o FILE] [--with-images]",
    "look into a bundle without trusting it, or make one of a run directory",
    cmd_bundle_main,
};
