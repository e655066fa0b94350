/* SPDX-License-Identifier: MIT */
/* `benchctl check`: is a matrix right, every scenario of it, its adapters, and every file that it names? */
#include "benchctl/base/interpolate.h"
#include "benchctl/base/name_index.h"
#include "benchctl/base/log.h"
#include "benchctl/load.h"
#include "benchctl/plan.h"
#include "benchctl/sample.h"
#include "cmd.h"
#include "idle_axes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PROBLEMS_SHOWN 50

struct known_load {
    struct load_adapter *adapter;
};

struct check {
    const char *path;
    bool as_json;
    struct option_list filters, sets;
    struct matrix *m;
    struct plan *p;
    struct arena *kept;           /* names in the indexes */
    struct name_index said;       /* messages, so that a thousand scenarios do not say the same */
    struct name_index files;      /* inputs that were looked at */
    struct name_index load_names; /* adapter's name → index into loads; SIZE_MAX: broken */
    VEC(struct known_load) loads;
    struct name_index metric_names;
    struct name_index secrets; /* names that were looked for in the environment */
    struct strbuf unset;       /* those that are not there */
    char **adapter_dirs;
    struct json *problems, *warnings; /* for --format json */
    size_t count;
    const char *scenario; /* the one being looked at, or NULL */
};

static void check_release(struct check *c)
{
    for (size_t i = 0; i < c->loads.len; i++)
        load_adapter_free(c->loads.items[i].adapter);
    vec_release(&c->loads);
    if (c->adapter_dirs)
        adapter_directories_free(c->adapter_dirs);
    name_index_release(&c->said);
    name_index_release(&c->files);
    name_index_release(&c->load_names);
    name_index_release(&c->metric_names);
    name_index_release(&c->secrets);
    strbuf_release(&c->unset);
    json_free(c->problems);
    json_free(c->warnings);
    option_list_release(&c->filters);
    option_list_release(&c->sets);
    plan_free(c->p);
    matrix_free(c->m);
    if (c->kept)
        arena_free(c->kept);
}

/* Puts a name into an index that outlives it; is it new? */
static bool is_new(struct check *c, struct name_index *x, const char *name)
{
    bool fresh;

    if (name_index_get(x, name))
        return false;
    (void)name_index_put(x, arena_strdup(c->kept, name), 0, &fresh);
    return true;
}

static void say(const struct error *err, void *data)
{
    struct check *c = data;

    if (!is_new(c, &c->said, err->message) || ++c->count > PROBLEMS_SHOWN)
        return;
    if (c->as_json) {
        struct json *j = json_new_object();
        json_set_text(j, "message", err->message);
        json_set_text(j, "hint", err->hint[0] ? err->hint : NULL);
        json_set_text(j, "scenario", c->scenario);
        json_append(c->problems, j);
        return;
    }
    struct error shown = *err;
    if (c->scenario)
        (void)error_set(&shown, err->kind, "%s (scenario '%s')", err->message, c->scenario);
    if (c->scenario && err->hint[0])
        (void)error_hint(&shown, "%s", err->hint);
    (void)report_error(&shown);
}

/* An adapter's problem, where the matrix names it. */
static void say_at(struct check *c, const struct node *where, struct error *err)
{
    if (where && where->at.line)
        (void)error_wrap(err, "%s:%d:%d", where->at.file, where->at.line, where->at.column);
    say(err, c);
}

static const struct load_adapter *find_load_adapter(struct check *c, const char *name,
                                                    const struct node *where)
{
    const size_t *known = name_index_get(&c->load_names, name);
    struct load_adapter *a = NULL;
    struct error err = ERROR_INIT;
    bool fresh;

    if (known)
        return *known == SIZE_MAX ? NULL : c->loads.items[*known].adapter;
    int result = load_adapter_read(name, c->m->dir, &a, &err);
    (void)name_index_put(&c->load_names, arena_strdup(c->kept, name), result < 0 ? SIZE_MAX : c->loads.len,
                         &fresh);
    if (result < 0) {
        say_at(c, where, &err);
        return NULL;
    }
    vec_push(&c->loads, (struct known_load){a});
    return a;
}

static struct position position_of(const struct node *n)
{
    return n ? n->at : (struct position){0};
}

/* Which adapter it is decides what all other keys of the load mean: an unknown one is said first. */
static void check_adapter_names(struct check *c)
{
    const struct node *load = node_get(c->m->base, "load"), *name = node_get(load, "adapter");
    const struct node *adapters = node_get(load, "adapters");

    if (name && name->kind == NODE_SCALAR && !name->refers && strcmp(name->text, "builtin") != 0)
        (void)find_load_adapter(c, name->text, name);
    for (size_t i = 0; adapters && adapters->kind == NODE_MAP && i < adapters->len; i++)
        if (strcmp(adapters->keys[i]->text, "builtin") != 0)
            (void)find_load_adapter(c, adapters->keys[i]->text, adapters->keys[i]);
}

static void check_load(struct check *c, const struct load_settings *l, const struct node *tree)
{
    const struct node *load = node_get(tree, "load");
    const struct load_adapter *a = find_load_adapter(c, l->adapter, node_get(load, "adapter"));
    struct load_trying t = {.options = l->options,
                            .script = l->script,
                            .duration_ns = l->duration_ns,
                            .duration_at = position_of(node_get(load, "duration"))};
    struct error err = ERROR_INIT;

    if (!a)
        return;
    if (load_adapter_try_at(a, &t, &err) < 0) {
        say(&err, c);
        return;
    }
    if (!l->warmup)
        return;
    t.duration_ns = l->warmup->duration_ns;
    t.duration_at = position_of(node_get(node_get(load, "warmup"), "duration"));
    if (load_adapter_try_at(a, &t, &err) < 0)
        say(&err, c);
}

static void check_metrics(struct check *c, const struct container_settings *s, const struct node *container)
{
    for (size_t i = 0; s->metrics && i < s->metrics->adapters.len; i++) {
        CLEANUP(metric_adapter_free) struct metric_adapter *a = NULL;
        struct error err = ERROR_INIT;
        const char *name = s->metrics->adapters.items[i];
        if (is_new(c, &c->metric_names, name) && metric_adapter_read(name, c->adapter_dirs, &a, &err) < 0)
            say_at(c, node_get(node_get(container, "metrics"), "adapter"), &err);
    }
}

static int note_secret(const char *name, void *data, struct error *err)
{
    struct check *c = data;

    (void)err;
    if (!text_starts(name, "secret:"))
        return 0;
    name += strlen("secret:");
    if (is_new(c, &c->secrets, name) && !getenv(name))
        strbuf_addf(&c->unset, "%s%s", c->unset.len ? ", " : "", name);
    return 0;
}

static int note_file(const char *path, void *data, struct error *err)
{
    struct check *c = data;

    (void)err;
    (void)is_new(c, &c->files, path);
    return 0;
}

static void check_files(struct check *c, const struct settings *s)
{
    size_t before = c->files.len;
    struct error err = ERROR_INIT;

    if (matrix_each_input(c->m, s, note_file, c, &err) < 0)
        say(&err, c);
    else if (c->files.len > before && matrix_check_files(c->m, s, &err) < 0)
        say(&err, c);
}

static void check_settings(struct check *c, const struct settings *s, const struct node *tree)
{
    const struct container_settings *services = s->services.items;
    const struct node *named = node_get(tree, "services");

    for (size_t i = 0; i < s->expect.len; i++) {
        struct error err = ERROR_INIT;
        if (expectation_check(s->expect.items[i], &err) < 0)
            say_at(c, node_get(tree, "expect"), &err);
    }
    for (size_t i = 0; i < s->checks.len; i++) {
        const struct check_settings *checks = s->checks.items;
        struct error err = ERROR_INIT;
        double none;
        if (checks[i].value && trial_value(NULL, checks[i].value, &none, &err) < 0)
            say_at(c, node_get(tree, "checks"), &err);
    }
    check_load(c, &s->load, tree);
    check_metrics(c, &s->app, node_get(tree, "app"));
    for (size_t i = 0; i < s->services.len; i++)
        check_metrics(c, &services[i], node_get(named, services[i].name));
    check_files(c, s);
}

static void check_scenario(struct check *c, size_t i, bool *overrides)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct node *tree = NULL;
    struct scenario scenario;
    struct settings s;
    struct error err = ERROR_INIT;

    plan_scenario(c->p, i, a, &scenario);
    plan_overrides(c->p, i, overrides);
    const struct matrix_combination combination = {.values = scenario.values,
                                                   .extra = scenario.extra,
                                                   .overrides = overrides,
                                                   .report = say,
                                                   .report_data = c,
                                                   .set = i == PLAN_CANARY ? c->m->canary->set : NULL};
    c->scenario = scenario.id;
    if (matrix_resolve(c->m, &combination, a, &s, &tree, &err) == 0) {
        check_settings(c, &s, tree);
        (void)!each_reference_below(tree, note_secret, c, &err);
    }
    c->scenario = NULL;
}

static void check_scenarios(struct check *c)
{
    CLEANUP_FREE bool *overrides = xcalloc(c->m->override_count + 1, sizeof(*overrides));

    for (size_t i = 0; i < plan_counts(c->p)->scenarios; i++)
        check_scenario(c, i, overrides);
    if (plan_counts(c->p)->canaries)
        check_scenario(c, PLAN_CANARY, overrides);
}

/* Right, but this version would not act on it: said on stderr, no problem of the matrix. */
static void add_warning(const struct error *w, void *data)
{
    struct check *c = data;
    struct json *j = json_new_object();

    json_set_text(j, "message", w->message);
    json_set_text(j, "hint", w->hint);
    json_append(c->warnings, j);
}

/* A matrix is right without its secrets; only a run needs them. */
static void warn_of_unset(struct check *c)
{
    struct error w = ERROR_INIT, ignored = ERROR_INIT;

    if (c->m->notify.webhook)
        (void)!each_reference(c->m->notify.webhook, note_secret, c, &ignored);
    if (!c->unset.len)
        return;
    (void)error_set(&w, ERROR_INVALID, "secrets that are not in the environment: %s", strbuf_text(&c->unset));
    (void)error_hint(&w, "export them before the run, which does not begin without them");
    print_warning(&w, NULL);
    add_warning(&w, c);
}

static void check_all(struct check *c)
{
    const struct matrix_options matrix = {.sets = c->sets.items,
                                          .set_count = c->sets.len,
                                          .seed = SCHEMA_ABSENT,
                                          .report = say,
                                          .report_data = c};
    const struct plan_options plan = {.filters = c->filters.items, .filter_count = c->filters.len};
    struct error err = ERROR_INIT;

    if (matrix_read(c->path, &matrix, &c->m, &err) < 0) {
        say(&err, c); /* said already, unless the file could not be read */
        return;
    }
    if (plan_make(c->m, &plan, &c->p, &err) < 0) {
        say(&err, c);
        matrix_check_settings(c->m, say, c);
        return;
    }
    c->adapter_dirs = adapter_directories(c->m->dir);
    check_adapter_names(c);
    check_scenarios(c);
    if (c->count)
        return;
    warn_of_idle_axes(c->p);
    idle_axes(c->p, add_warning, c);
    warn_of_unset(c);
}

static struct json *to_json(const struct check *c)
{
    struct json *j = json_new_object(), *counts = json_new_object();

    json_set_text(j, "matrix", c->path);
    json_set_bool(j, "ok", c->count == 0);
    json_set(j, "problems", json_clone(c->problems));
    json_set(j, "warnings", json_clone(c->warnings));
    if (c->p) {
        const struct plan_counts *n = plan_counts(c->p);
        json_set_int(counts, "combinations", (int64_t)n->product);
        json_set_int(counts, "zipped_away", (int64_t)n->zipped_away);
        json_set_int(counts, "excluded", (int64_t)n->excluded);
        json_set_int(counts, "included", (int64_t)n->included);
        json_set_int(counts, "filtered", (int64_t)n->filtered);
        json_set_int(counts, "scenarios", (int64_t)n->scenarios);
        json_set_int(counts, "trials", (int64_t)n->trials);
        if (n->canaries)
            json_set_int(counts, "canaries", (int64_t)n->canaries);
        if (plan_search_count(c->p))
            json_set_int(counts, "searches", (int64_t)plan_search_count(c->p));
    }
    json_set_int(counts, "adapters", (int64_t)(c->load_names.len + c->metric_names.len));
    json_set_int(counts, "files", (int64_t)c->files.len);
    json_set(j, "counts", counts);
    return j;
}

static void add_count(struct strbuf *out, uint64_t n, const char *what)
{
    strbuf_addf(out, "%s%" PRIu64 " %s%s", out->len ? ", " : "", n, what,
                n == 1 || text_ends(what, "d") ? "" : "s");
}

static void write_counts(const struct check *c, struct strbuf *out)
{
    const struct plan_counts *n = plan_counts(c->p);
    CLEANUP_VALUE(strbuf_release) struct strbuf steps = STRBUF_INIT;

    add_count(&steps, n->product, "combination");
    if (n->zipped_away)
        add_count(&steps, n->zipped_away, "zipped");
    if (n->excluded)
        add_count(&steps, n->excluded, "excluded");
    if (n->included)
        add_count(&steps, n->included, "included");
    if (n->filtered)
        add_count(&steps, n->filtered, "filtered");
    strbuf_addf(out, "%s: ok: %" PRIu64 " scenario%s (%s), ", c->path, n->scenarios,
                n->scenarios == 1 ? "" : "s", strbuf_text(&steps));
    if (plan_search_count(c->p))
        strbuf_addf(out, "%zu search%s, at most ", plan_search_count(c->p),
                    plan_search_count(c->p) == 1 ? "" : "es");
    strbuf_addf(out, "%" PRIu64 " trial%s, ", n->trials, n->trials == 1 ? "" : "s");
    size_t adapters = c->load_names.len + c->metric_names.len;
    strbuf_addf(out, "%zu adapter%s, %zu file%s\n", adapters, adapters == 1 ? "" : "s", c->files.len,
                c->files.len == 1 ? "" : "s");
}

static int run(int argc, char **argv)
{
    static const char *const formats[] = {"table", "json", NULL};
    CLEANUP_VALUE(check_release)
    struct check c = {.kept = arena_new(), .problems = json_new_array(), .warnings = json_new_array()};
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    const char *format_text = NULL;
    const struct option options[] = {
        {"format", 'f', OPTION_TEXT, &format_text, "FORMAT", "table or json"},
        {"filter", 0, OPTION_LIST, &c.filters, "EXPR", "only these scenarios, as in `benchctl plan`"},
        {"set", 0, OPTION_LIST, &c.sets, "KEY=VALUE", "change a setting of the matrix, as in app.memory=64m"},
    };
    struct operands operands;
    int exit_code = 0;

    if (options_parse(&cmd_check, options, ARRAY_LEN(options), argc, argv, 1, 1, &operands, &exit_code) < 0)
        return exit_code;
    int format = format_option(&cmd_check, format_text, formats);
    if (format < 0)
        return error_exit_code(ERROR_USAGE);
    c.path = operands.items[0];
    c.as_json = format == 1;
    check_all(&c);
    if (c.as_json) {
        CLEANUP(json_free) struct json *j = to_json(&c);
        json_write(j, JSON_STYLE_INDENTED, &out);
        strbuf_addc(&out, '\n');
    } else if (!c.count) {
        write_counts(&c, &out);
    } else if (c.count > PROBLEMS_SHOWN) {
        (void)fprintf(stderr, "benchctl: %zu more problems are not shown\n", c.count - PROBLEMS_SHOWN);
    }
    exit_code = print_buffer(&out);
    return exit_code ? exit_code : c.count ? error_exit_code(ERROR_INVALID) : 0;
}

const struct command cmd_check = {
    .name = "check",
    .usage = "check MATRIX [options]",
    .help = "validate a matrix, every scenario of it, its adapters and the files that it names",
    .run = run,
};
