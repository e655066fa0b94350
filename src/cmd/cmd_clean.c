/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "benchctl/run.h"
#include "cmd.h"

struct listing {
    struct strbuf text;
    struct json *json; /* NULL: as text */
    bool dry_run;
};

static void tell(const struct engine_object *o, void *data)
{
    struct listing *l = data;

    if (l->json) {
        struct json *j = json_new_object();
        json_set_text(j, "kind", o->is_network ? "network" : "container");
        json_set_text(j, "id", o->id);
        json_set_text(j, "name", o->name);
        json_set_text(j, "role", o->role);
        json_set_text(j, "dir", o->dir);
        json_append(l->json, j);
        return;
    }
    strbuf_addf(&l->text, "%s %s %.12s %s%s%s\n", l->dry_run ? "would remove" : "remove",
                o->is_network ? "network" : "container", o->id, o->name, o->dir && o->dir[0] ? " of " : "",
                o->dir ? o->dir : "");
}

static int clean(const char *engine_url, const struct clean_options *o, struct listing *l)
{
    CLEANUP(loop_free) struct loop *loop = NULL;
    CLEANUP(http_free) struct http *h = NULL;
    CLEANUP(engine_close) struct engine *e = NULL;
    struct clean_counts n = {0};
    struct error err = ERROR_INIT;

    int rc = loop_new(&loop, &err);
    if (rc == 0)
        rc = http_new(loop, &h, &err);
    if (rc == 0)
        rc = engine_open(loop, h, engine_url, &e, &err);
    if (rc == 0)
        rc = run_clean(e, o, tell, l, &n, &err);
    if (l->json)
        json_write(l->json, JSON_STYLE_INDENTED, &l->text);
    if (l->json)
        strbuf_addc(&l->text, '\n');
    else if (rc == 0)
        strbuf_addf(&l->text, "%d %s%s\n", n.removed, o->dry_run ? "to remove" : "removed",
                    n.alive ? "; others belong to running sweeps" : "");
    int code = print_buffer(&l->text);
    return rc < 0 ? report_error(&err) : code;
}

static int cmd_clean_main(int argc, char **argv)
{
    static const char *const formats[] = {"table", "json", NULL};
    struct clean_options o = {0};
    struct operands operands;
    const char *format = NULL, *engine_url = NULL;
    int code;
    const struct option options[] = {
        {"dry-run", 'n', OPTION_FLAG, &o.dry_run, NULL, "only list what would go"},
        {"engine", 0, OPTION_TEXT, &engine_url, "URL", "the Docker Engine (default DOCKER_HOST)"},
        {"format", 0, OPTION_TEXT, &format, "FORMAT", "table or json"},
    };

    if (options_parse(&cmd_clean, options, ARRAY_LEN(options), argc, argv, 0, 0, &operands, &code) < 0)
        return code;
    int f = format_option(&cmd_clean, format, formats);
    if (f < 0)
        return error_exit_code(ERROR_USAGE);
    CLEANUP(json_free) struct json *array = f == 1 ? json_new_array() : NULL;
    struct listing l = {.json = array, .dry_run = o.dry_run};
    code = clean(engine_url, &o, &l);
    strbuf_release(&l.text);
    return code;
}

const struct command cmd_clean = {
    "clean",
    "clean [--dry-run]",
    "remove what dead sweeps left in the engine",
    cmd_clean_main,
};
