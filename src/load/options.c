/* SPDX-License-Identifier: MIT */
/* What an adapter lets a matrix say, and whether it does. */
#include "command.h"

#include <math.h>
#include <string.h>
#include "benchctl/base/interpolate.h"
#include "benchctl/base/units.h"

/* What templates know by themselves, and the keys of the matrix' load section: none can be an option. */
static const char *const reserved[] = {"target",         "path",     "url",     "scheme",     "host",
                                       "port",           "hostport", "script",  "output_dir", "duration",
                                       "options",        "value",    "key",     "output",     "file",
                                       "warmup",         "adapter",  "image",   "cpuset",     "memory",
                                       "max_error_rate", "timeout",  "env",     "requests",   "phases",
                                       "spec",           "benchctl", "version", "raw",        "adapters"};

bool load_name_reserved(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
        if (strcmp(reserved[i], name) == 0)
            return true;
    return false;
}

static int check_choice(const struct adapter_option *o, const struct node *n, struct error *err)
{
    for (size_t i = 0; i < o->choices.len; i++)
        if (strcmp(o->choices.items[i], n->text) == 0)
            return 0;
    if (!o->choices.len)
        return 0;
    const char *near = nearest_name(n->text, o->choices.items, o->choices.len);
    (void)node_error(err, n, "'%s' is not a value of option '%s'", n->text, o->name);
    return near ? error_hint(err, "did you mean '%s'?", near)
                : error_hint(err, "the first of its values is '%s'", o->choices.items[0]);
}

static int check_range(const struct adapter_option *o, const struct node *n, double value, struct error *err)
{
    if (value < o->min)
        return node_error(err, n, "option '%s' is at least %g, not %s", o->name, o->min, n->text);
    if (value > o->max)
        return node_error(err, n, "option '%s' is at most %g, not %s", o->name, o->max, n->text);
    return 0;
}

static int check_line(const struct adapter_option *o, const struct node *n, struct error *err)
{
    if (!o->one_line || n->kind != NODE_SCALAR || !strpbrk(n->text, "\r\n"))
        return 0;
    (void)node_error(err, n, "option '%s' holds a line break", o->name);
    return error_hint(err, "what is sent would be another request");
}

static int check_scalar(const struct adapter_option *o, const struct node *n, struct error *err)
{
    double number = NAN;
    int64_t whole;
    int rc = 0;

    if (n->kind != NODE_SCALAR)
        return node_error(err, n, "option '%s' is one value of type %s", o->name, option_type_names[o->type]);
    if (has_reference(n->text))
        return 0;
    switch ((enum option_type)o->type) {
    case OPTION_TYPE_INT:
        rc = integer_parse(n->text, &whole, err);
        number = rc < 0 ? NAN : (double)whole;
        break;
    case OPTION_TYPE_NUMBER:
        rc = number_parse(n->text, &number, err);
        break;
    case OPTION_TYPE_DURATION:
        rc = duration_parse(n->text, &whole, err);
        break;
    case OPTION_TYPE_SIZE:
        rc = size_parse(n->text, &whole, err);
        break;
    case OPTION_TYPE_BOOL:
        if (strcmp(n->text, "true") != 0 && strcmp(n->text, "false") != 0)
            return node_error(err, n, "option '%s' is true or false, not '%s'", o->name, n->text);
        break;
    default:
        break;
    }
    if (rc < 0)
        return error_wrap(err, "%s:%d:%d: option '%s'", n->at.file ? n->at.file : "", n->at.line,
                          n->at.column, o->name);
    return check_range(o, n, number, err) < 0 || check_choice(o, n, err) < 0 ? -1 : 0;
}

int load_option_check_value(const struct adapter_option *o, const struct node *n, struct error *err)
{
    if (o->type == OPTION_TYPE_ANY)
        return 0;
    if (check_line(o, n, err) < 0)
        return -1;
    if (o->type != OPTION_TYPE_LIST && o->type != OPTION_TYPE_MAP)
        return check_scalar(o, n, err);
    if (o->type == OPTION_TYPE_MAP && n->kind != NODE_MAP)
        return node_error(err, n, "option '%s' is a map of NAME: VALUE", o->name);
    if (o->type == OPTION_TYPE_LIST && n->kind != NODE_LIST && n->kind != NODE_SCALAR)
        return node_error(err, n, "option '%s' is a list", o->name);
    for (size_t i = 0; i < n->len; i++) {
        if (check_line(o, n->items[i], err) < 0 ||
            (n->kind == NODE_MAP && check_line(o, n->keys[i], err) < 0))
            return -1;
        if (n->items[i]->kind != NODE_SCALAR || check_choice(o, n->items[i], err) < 0)
            return n->items[i]->kind == NODE_SCALAR
                       ? -1
                       : node_error(err, n->items[i], "option '%s' holds plain values", o->name);
    }
    return 0;
}

static int unknown_option(const struct load_adapter *a, const struct node *key, struct error *err)
{
    size_t count = 0;
    CLEANUP_FREE const char **names = xcalloc(a->form.options.len + 1, sizeof(*names));

    form_each(struct adapter_option, o, &a->form.options) names[count++] = o->name;
    const char *near = nearest_name(key->text, names, count);
    (void)node_error(err, key, "unknown option '%s' of load adapter '%s'", key->text, a->name);
    if (near)
        return error_hint(err, "did you mean '%s'?", near);
    return error_hint(err, "`benchctl adapter show %s` lists its options", a->name);
}

int load_adapter_check_options(const struct load_adapter *a, const struct node *options, struct error *err)
{
    if (options && options->kind != NODE_MAP && options->kind != NODE_NULL)
        return node_error(err, options, "options of a load adapter are a map");
    for (size_t i = 0; options && i < options->len; i++) {
        const struct adapter_option *o = load_option_find(a, options->keys[i]->text);
        if (!o)
            return unknown_option(a, options->keys[i], err);
        if (options->items[i]->kind != NODE_NULL && load_option_check_value(o, options->items[i], err) < 0)
            return -1;
    }
    form_each(struct adapter_option, o, &a->form.options)
    {
        if (!o->required || node_get(options, o->name))
            continue;
        if (options)
            (void)node_error(err, options, "load adapter '%s' needs option '%s'", a->name, o->name);
        else
            (void)error_set(err, ERROR_INVALID, "load adapter '%s' needs option '%s'", a->name, o->name);
        return error_hint(err, "%s", o->help ? o->help : "give it under load");
    }
    return load_rules_check(a, &(struct load_call){.options = options}, err);
}

const struct node *load_option_node(const struct adapter_option *o, const struct node *options,
                                    struct arena *arena)
{
    const struct node *given = options ? node_get(options, o->name) : NULL;

    if (given && given->kind != NODE_NULL)
        return given;
    return o->fallback ? node_new_text(arena, o->fallback, o->at) : NULL;
}

double load_option_number(const struct adapter_option *o, const struct node *options, struct arena *arena)
{
    const struct node *n = load_option_node(o, options, arena);
    struct error ignored = ERROR_INIT;
    double number = NAN;
    int64_t whole;

    if (!n || n->kind != NODE_SCALAR)
        return NAN;
    if (o->type == OPTION_TYPE_DURATION)
        return duration_parse(n->text, &whole, &ignored) < 0 ? NAN : (double)whole / 1e6;
    if (o->type == OPTION_TYPE_SIZE)
        return size_parse(n->text, &whole, &ignored) < 0 ? NAN : (double)whole;
    if (o->type == OPTION_TYPE_BOOL)
        return strcmp(n->text, "true") == 0;
    return number_parse(n->text, &number, &ignored) < 0 ? NAN : number;
}

double load_asked_number(const struct load_adapter *a, const struct load_call *call, const char *name,
                         struct arena *arena)
{
    if (!call)
        return NAN;
    if (strcmp(name, "asked.duration") == 0)
        return call->duration_ns > 0 ? (double)call->duration_ns / 1e6 : NAN;
    const struct adapter_option *o =
        text_starts(name, "option.") ? load_option_find(a, name + strlen("option.")) : NULL;
    return o ? load_option_number(o, call->options, arena) : NAN;
}

/* "NAME" or "NAME=VALUE": the name's length. */
static size_t condition_name(const char *when)
{
    return strcspn(when, "=");
}

int load_condition_check(const struct load_adapter *a, const char *when, struct position at,
                         struct error *err)
{
    CLEANUP_FREE char *name = xstrndup(when, condition_name(when));

    if (load_is_version_condition(when) && !load_version_condition_valid(when)) {
        (void)node_error(err, node_new(a->arena, NODE_NULL, at), "'%s' is no condition", when);
        return error_hint(err, "write version, one of < <= = >= >, and numbers with dots: version>=1.5");
    }
    if (load_is_version_condition(when))
        return 0;
    if (strcmp(name, "script") == 0 || strcmp(name, "warmup") == 0 || load_option_find(a, name))
        return 0;
    return node_error(err, node_new(a->arena, NODE_NULL, at), "condition '%s' names no option", when);
}

bool load_condition(const struct load_adapter *a, const char *when, const struct load_call *call,
                    struct arena *arena)
{
    size_t n = condition_name(when);
    const char *name = arena_strndup(arena, when, n), *wanted = when[n] ? when + n + 1 : NULL;
    const char *text = NULL;

    if (load_is_version_condition(when))
        return load_version_condition(when, call->version);
    if (strcmp(name, "script") == 0) {
        text = call->script;
    } else if (strcmp(name, "warmup") == 0) {
        text = call->warmup ? "true" : "false";
    } else {
        const struct adapter_option *o = load_option_find(a, name);
        const struct node *value = o ? load_option_node(o, call->options, arena) : NULL;
        if (value && value->kind != NODE_SCALAR)
            return value->len > 0;
        text = value ? value->text : NULL;
    }
    if (!text)
        return false;
    return wanted ? strcmp(text, wanted) == 0 : strcmp(text, "false") != 0;
}
