/* SPDX-License-Identifier: MIT */
#include "benchctl/base/plain_text.h"
#include "benchctl/load.h"
#include "benchctl/run.h"
#include "cmd.h"

#include <string.h>

static const char *const fitness_names[] = {
    [FITNESS_OK] = "ok", [FITNESS_WARN] = "warn", [FITNESS_FAIL] = "fail"};
static const char *const fitness_colors[] = {
    [FITNESS_OK] = "\033[32m", [FITNESS_WARN] = "\033[33m", [FITNESS_FAIL] = "\033[31m"};

/* Names of processes, containers and drivers are others' texts. */
static void add_line(const struct doctor_line *l, int width, struct strbuf *out)
{
    bool color = stdout_color();

    strbuf_addf(out, "%s%-4s%s  %-*s  ", color ? fitness_colors[l->fitness] : "", fitness_names[l->fitness],
                color ? "\033[0m" : "", width, l->name);
    plain_add(out, l->text, "");
    strbuf_addc(out, '\n');
    if (!l->hint || !l->hint[0])
        return;
    strbuf_addf(out, "      %-*s  hint: ", width, "");
    plain_add(out, l->hint, "");
    strbuf_addc(out, '\n');
}

static void print_table(const struct doctor_report *r, struct strbuf *out)
{
    size_t width = 0;

    for (size_t i = 0; i < r->len; i++)
        width = strlen(r->lines[i].name) > width ? strlen(r->lines[i].name) : width;
    for (size_t i = 0; i < r->len; i++)
        add_line(&r->lines[i], (int)width, out);
}

static void print_json(const struct doctor_report *r, struct strbuf *out)
{
    CLEANUP(json_free) struct json *all = json_new_array();

    for (size_t i = 0; i < r->len; i++) {
        struct json *j = json_new_object();
        json_set_text(j, "name", r->lines[i].name);
        json_set_text(j, "status", fitness_names[r->lines[i].fitness]);
        json_set_text(j, "text", r->lines[i].text);
        json_set_text(j, "hint", r->lines[i].hint);
        json_append(all, j);
    }
    json_write(all, JSON_STYLE_INDENTED, out);
    strbuf_addc(out, '\n');
}

/* The programs of the adapters that are installed: each generator a matrix could name. */
static const char **generator_programs(struct arena *a)
{
    char **dirs = adapter_directories(NULL), **names = load_adapter_list(dirs);
    VEC(const char *) programs = {0};

    for (size_t i = 0; names && names[i]; i++) {
        CLEANUP(load_adapter_free) struct load_adapter *ad = NULL;
        struct error ignored = ERROR_INIT;
        if (load_adapter_read(names[i], NULL, &ad, &ignored) == 0 && load_adapter_program(ad))
            vec_push(&programs, arena_strdup(a, load_adapter_program(ad)));
        free(names[i]);
    }
    free(names);
    adapter_directories_free(dirs);
    vec_push(&programs, NULL);
    const char **kept = arena_copy(a, programs.items, programs.len * sizeof(*programs.items));
    vec_release(&programs);
    return kept;
}

/* A matrix that is none is no matter of the host's: exit code 2, as `check` has it. */
struct examined {
    const char *matrix; /* NULL: none */
    struct option_list filters, sets;
};

static int read_plan(const struct examined *x, struct matrix **ret_m, struct plan **ret_p, struct error *err)
{
    const struct matrix_options mo = {.sets = x->sets.items, .set_count = x->sets.len, .seed = SCHEMA_ABSENT};
    const struct plan_options po = {.filters = x->filters.items, .filter_count = x->filters.len};

    return matrix_read(x->matrix, &mo, ret_m, err) < 0 ? -1 : plan_make(*ret_m, &po, ret_p, err);
}

static int examine(const struct doctor_options *given, const struct examined *x, bool json)
{
    CLEANUP(matrix_free) struct matrix *m = NULL;
    CLEANUP(plan_free) struct plan *p = NULL;
    CLEANUP(loop_free) struct loop *l = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    struct doctor_options o = *given;
    struct doctor_report r = {0};
    struct error err = ERROR_INIT;
    int code = 0;

    if (loop_new(&l, &err) < 0)
        return report_error(&err);
    if (x->matrix && read_plan(x, &m, &p, &err) < 0)
        return report_error(&err);
    o.plan = p;
    o.programs = generator_programs(a);
    run_doctor(l, &o, a, &r);
    if (json)
        print_json(&r, &out);
    else
        print_table(&r, &out);
    for (size_t i = 0; i < r.len; i++)
        if (r.lines[i].fitness == FITNESS_FAIL)
            code = error_exit_code(ERROR_ENVIRONMENT);
    int printed = print_buffer(&out);
    return printed ? printed : code;
}

static int cmd_doctor_main(int argc, char **argv)
{
    static const char *const formats[] = {"table", "json", NULL};
    struct doctor_options o = {0};
    struct examined x = {0};
    struct operands operands;
    const char *format = NULL;
    int code;
    const struct option options[] = {
        {"engine", 0, OPTION_TEXT, &o.engine_url, "URL", "the Docker Engine (default DOCKER_HOST)"},
        {"out", 'o', OPTION_TEXT, &o.dir, "DIR", "where sweeps are to be written"},
        {"filter", 0, OPTION_LIST, &x.filters, "EXPR", "only these scenarios, as in `benchctl plan`"},
        {"set", 0, OPTION_LIST, &x.sets, "KEY=VALUE", "change a setting of the matrix, as in app.memory=64m"},
        {"format", 0, OPTION_TEXT, &format, "FORMAT", "table or json"},
    };

    if (options_parse(&cmd_doctor, options, ARRAY_LEN(options), argc, argv, 0, 1, &operands, &code) == 0) {
        int f = format_option(&cmd_doctor, format, formats);
        x.matrix = operands.len ? operands.items[0] : NULL;
        code = f < 0 ? error_exit_code(ERROR_USAGE) : examine(&o, &x, f == 1);
    }
    option_list_release(&x.filters);
    option_list_release(&x.sets);
    return code;
}

const struct command cmd_doctor = {
    "doctor",
    "doctor [options] [MATRIX]",
    "tell whether this host is fit to measure (MATRIX: that): each line ok, warn or fail",
    cmd_doctor_main,
};
