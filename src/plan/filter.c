/* SPDX-License-Identifier: MIT */
#include "filter.h"

#include <math.h>
#include <string.h>

#include "benchctl/base/fs.h"
#include "benchctl/base/units.h"

enum operator{ OP_IS, OP_IS_NOT, OP_AT_MOST, OP_BELOW, OP_AT_LEAST, OP_ABOVE };

static const struct {
    const char *text;
    enum operator op;
} operators[] = {{"!=", OP_IS_NOT}, {"<=", OP_AT_MOST}, {">=", OP_AT_LEAST},
                 {"<", OP_BELOW},   {">", OP_ABOVE},    {"=", OP_IS}};

enum quantity { QUANTITY_NUMBER, QUANTITY_SIZE, QUANTITY_DURATION, QUANTITIES };

static const char *const quantity_names[] = {"number", "size", "duration"};

/* Sizes and durations lose nothing that matters as doubles: exact to 8 PiB and 104 days. */
static bool quantity_read(enum quantity kind, const char *text, double *ret)
{
    struct error ignored = ERROR_INIT;
    int64_t whole = 0;

    if (strcmp(text, "unlimited") == 0) {
        *ret = INFINITY;
        return true;
    }
    if (kind == QUANTITY_NUMBER)
        return number_parse(text, ret, &ignored) == 0;
    if ((kind == QUANTITY_SIZE ? size_parse : duration_parse)(text, &whole, &ignored) < 0)
        return false;
    *ret = (double)whole;
    return true;
}

static bool holds(enum operator op, double value, double bound)
{
    switch (op) {
    case OP_AT_MOST:
        return value <= bound;
    case OP_BELOW:
        return value < bound;
    case OP_AT_LEAST:
        return value >= bound;
    case OP_ABOVE:
        return value > bound;
    default:
        return false;
    }
}

/* What all values of the axis are, or QUANTITIES; *ret_odd is then a value that is nothing of the kind. */
static enum quantity quantity_of_axis(const struct grid_axis *x, const char **ret_odd)
{
    for (enum quantity kind = 0; kind < QUANTITIES; kind++) {
        size_t i = 0;
        double value;
        while (i < x->total && quantity_read(kind, x->values[i]->text, &value))
            i++;
        if (i == x->total)
            return kind;
        if (i || kind == 0)
            *ret_odd = x->values[i]->text;
    }
    return QUANTITIES;
}

static int compare_values(const struct grid_axis *x, const struct filter *f, enum operator op,
                          const char *operand, bool *allowed, struct error *err)
{
    const char *odd = "";
    enum quantity kind = quantity_of_axis(x, &odd);
    double bound, value = 0;

    if (kind == QUANTITIES) {
        error_set(err, ERROR_USAGE, "filter '%s': the values of axis '%s' cannot be compared: '%s'", f->text,
                  x->axis->name, odd);
        return error_hint(
            err, "<=, <, >= and > need an axis whose values are all sizes, all durations or all numbers; "
                 "use = or != with a list");
    }
    if (kind == QUANTITY_SIZE && !quantity_read(kind, operand, &bound)) {
        /* 5m and 10m are durations as well: "test<1h" is then not about sizes */
        bool all = quantity_read(QUANTITY_DURATION, operand, &bound);
        for (size_t i = 0; i < x->total; i++)
            all = all && quantity_read(QUANTITY_DURATION, x->values[i]->text, &value);
        kind = all ? QUANTITY_DURATION : kind;
    }
    if (!quantity_read(kind, operand, &bound)) {
        error_set(err, ERROR_USAGE, "filter '%s': '%s' is not a %s, as the values of axis '%s' are", f->text,
                  operand, quantity_names[kind], x->axis->name);
        return error_hint(err, "for instance '%s'", x->values[0]->text);
    }
    for (size_t i = 0; i < x->total; i++)
        allowed[i] = quantity_read(kind, x->values[i]->text, &value) && holds(op, value, bound);
    return 0;
}

/* A value is named by its text or its part of the id, exactly or by a glob. */
static size_t mark_named(const struct grid_axis *x, const char *name, bool *named)
{
    char short_name[AXIS_NAME_SIZE];
    size_t index = grid_value(&x->by_text, axis_value_name(x->axis, name, short_name)), hits = 0;

    if (index == SIZE_MAX)
        index = grid_value(&x->by_part, name);
    if (index != SIZE_MAX) {
        named[index] = true;
        return 1;
    }
    if (!name[strcspn(name, "*?[\\")])
        return 0;
    for (size_t i = 0; i < x->total; i++) {
        if (glob_match(name, x->values[i]->text) || glob_match(name, x->parts[i])) {
            named[i] = true;
            hits++;
        }
    }
    return hits;
}

static char *trimmed(struct arena *a, const char *text, size_t len)
{
    while (len && (*text == ' ' || *text == '\t')) {
        text++;
        len--;
    }
    while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        len--;
    return arena_strndup(a, text, len);
}

static int no_value(const struct grid_axis *x, const struct filter *f, const char *name, struct error *err)
{
    CLEANUP_FREE const char **names = xcalloc(x->total, sizeof(*names));

    for (size_t i = 0; i < x->total; i++)
        names[i] = x->values[i]->text;
    const char *near = nearest_name(name, names, x->total);
    error_set(err, ERROR_USAGE, "filter '%s': axis '%s' has no value '%s'", f->text, x->axis->name, name);
    return near ? error_hint(err, "did you mean '%s'?", near) : -1;
}

static int name_values(const struct grid *g, const struct filter *f, enum operator op, const char *list,
                       bool *allowed, struct error *err)
{
    const struct grid_axis *x = &g->axes[f->axis];

    for (const char *item = list;; item++) {
        size_t len = strcspn(item, ",");
        const char *name = trimmed(g->arena, item, len);
        if (!*name)
            return error_set(err, ERROR_USAGE, "filter '%s': a value is empty", f->text);
        if (!mark_named(x, name, allowed))
            return no_value(x, f, name, err);
        item += len;
        if (!*item)
            break;
    }
    for (size_t i = 0; op == OP_IS_NOT && i < x->total; i++)
        allowed[i] = !allowed[i];
    return 0;
}

static int find_axis(const struct grid *g, const char *name, struct filter *f, struct error *err)
{
    const char **names = arena_array(g->arena, const char *, g->axis_count + 1);

    for (f->axis = 0; f->axis < g->axis_count; f->axis++) {
        names[f->axis] = g->axes[f->axis].axis->name;
        if (strcmp(names[f->axis], name) == 0)
            return 0;
    }
    const char *near = nearest_name(name, names, g->axis_count);
    error_set(err, ERROR_USAGE, "filter '%s': no axis is called '%s'", f->text, name);
    return near ? error_hint(err, "did you mean '%s'?", near) : -1;
}

static int filter_parse(const struct grid *g, const char *text, struct filter *f, struct error *err)
{
    size_t at = strcspn(text, "<>="), i = 0;

    *f = (struct filter){.text = text};
    if (!text[at]) {
        f->id_glob = trimmed(g->arena, text, at);
        return *f->id_glob ? 0 : error_set(err, ERROR_USAGE, "a filter is empty");
    }
    if (text[at] == '=' && at && text[at - 1] == '!')
        at--;
    while (!text_starts(text + at, operators[i].text))
        i++;
    const char *right = text + at + strlen(operators[i].text),
               *operand = trimmed(g->arena, right, strlen(right));
    if (strchr("<>=", *operand) && *operand) {
        error_set(err, ERROR_USAGE, "filter '%s' is not understood", text);
        return error_hint(err, "the operators are = != <= < >= >");
    }
    if (find_axis(g, trimmed(g->arena, text, at), f, err) < 0)
        return -1;
    bool *allowed = arena_array(g->arena, bool, g->axes[f->axis].total);
    f->allowed = allowed;
    if (operators[i].op == OP_IS || operators[i].op == OP_IS_NOT)
        return name_values(g, f, operators[i].op, operand, allowed, err);
    return compare_values(&g->axes[f->axis], f, operators[i].op, operand, allowed, err);
}

int filters_parse(const struct grid *g, const struct plan_options *options, struct filter **ret,
                  struct error *err)
{
    struct filter *filters = arena_array(g->arena, struct filter, options->filter_count + 1);

    for (size_t i = 0; i < options->filter_count; i++) {
        if (filter_parse(g, options->filters[i], &filters[i], err) < 0)
            return -1;
    }
    *ret = filters;
    return 0;
}

const struct filter *filters_stop(const struct filter *filters, size_t count, const struct grid *g,
                                  const uint32_t *digits, struct strbuf *scratch)
{
    for (const struct filter *f = filters; f < filters + count; f++) {
        if (!f->id_glob) {
            if (!f->allowed[digits[f->axis]])
                return f;
            continue;
        }
        strbuf_clear(scratch);
        grid_id(g, digits, scratch);
        if (!glob_match(f->id_glob, strbuf_text(scratch)) && strcmp(f->id_glob, strbuf_text(scratch)) != 0)
            return f;
    }
    return NULL;
}
