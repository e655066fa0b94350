/* SPDX-License-Identifier: MIT */
/* The axes of a sweep and the order of their values: as sweep.json has them, then as the plan does. */
#include "report_internal.h"

#include <string.h>

#define AXES_MAX 256 /* further ones of a made-up bundle are not looked at */

const char *axis_value(const struct axis_pair *axes, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(axes[i].axis, name) == 0)
            return axes[i].value ? axes[i].value : "";
    return "";
}

size_t report_axis(const struct report *r, const char *name)
{
    size_t i = 0;

    while (i < r->axis_count && strcmp(r->axes[i].name, name) != 0)
        i++;
    return i;
}

int report_unknown_axis(const struct report *r, const char *name, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf all = {.max = 512};

    (void)error_set(err, ERROR_USAGE, "the sweep has no axis '%s'", name);
    for (size_t i = 0; i < r->axis_count; i++)
        strbuf_addf(&all, "%s, ", r->axes[i].name);
    return error_hint(err, "its axes are: %s%s (the figures themselves)", strbuf_text(&all), REPORT_FIGURE);
}

static void add_axis(struct report *r, const char *name)
{
    if (name && r->axis_count < AXES_MAX && report_axis(r, name) == r->axis_count)
        r->axes[r->axis_count++] = (struct axis){.name = name};
}

static void collect_names(struct report *r)
{
    const struct json *info = json_get(r->sweep->info, "axes"), *plan = json_get(r->sweep->plan, "axes");

    r->axes = arena_array(r->arena, struct axis, AXES_MAX);
    for (size_t i = 0; i < json_len(info); i++)
        add_axis(r, json_get_text(json_at(info, i), "name"));
    for (size_t i = 0; i < json_len(plan); i++)
        add_axis(r, json_text(json_at(plan, i)));
    for (size_t t = 0; t < r->sweep->trial_count; t++)
        for (size_t i = 0; i < r->sweep->trials[t].axis_count; i++)
            add_axis(r, r->sweep->trials[t].axes[i].axis);
}

static int check_rows(const struct report *r, const struct report_options *o, struct error *err)
{
    for (size_t i = 0; i < o->row_count; i++) {
        if (report_axis(r, o->rows[i]) == r->axis_count && strcmp(o->rows[i], REPORT_FIGURE) != 0)
            return report_unknown_axis(r, o->rows[i], err);
        for (size_t k = 0; k < i; k++)
            if (strcmp(o->rows[k], o->rows[i]) == 0)
                return error_set(err, ERROR_USAGE, "axis '%s' is named twice", o->rows[i]);
    }
    return 0;
}

/* The axes of the rows come first, in the order asked for. */
static void put_in_order(struct report *r, const struct report_options *o)
{
    size_t placed = 0;

    for (size_t i = 0; i < o->row_count; i++) {
        size_t k = report_axis(r, o->rows[i]);
        if (k == r->axis_count) /* the figures */
            continue;
        struct axis axis = r->axes[k];
        memmove(&r->axes[placed + 1], &r->axes[placed], (k - placed) * sizeof(axis));
        r->axes[placed++] = axis;
    }
}

/* --- values --- */

struct values {
    struct axis *axis;
    VEC(const char *) items;
};

static void add_value(struct values *v, const char *value)
{
    bool new;

    if (!value)
        value = "";
    (void)name_index_put(&v->axis->index, value, v->items.len, &new);
    if (new)
        vec_push(&v->items, value);
}

static const struct json *listed_values(const struct report *r, const char *axis)
{
    const struct json *axes = json_get(r->sweep->info, "axes");

    for (size_t i = 0; i < json_len(axes); i++)
        if (text_equal(json_get_text(json_at(axes, i), "name"), axis))
            return json_get(json_at(axes, i), "values");
    return NULL;
}

static int compare_natural(const void *a, const void *b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

static void collect_values(struct report *r, struct axis *axis)
{
    struct values v = {.axis = axis};
    const struct json *listed = listed_values(r, axis->name), *plan = json_get(r->sweep->plan, "scenarios");

    for (size_t i = 0; i < json_len(listed); i++)
        if (json_text(json_at(listed, i)))
            add_value(&v, json_text(json_at(listed, i)));
    for (size_t i = 0; i < json_len(plan); i++)
        add_value(&v, json_get_text(json_get(json_at(plan, i), "axes"), axis->name));
    size_t known = v.items.len;
    for (size_t t = 0; t < r->sweep->trial_count; t++)
        add_value(&v, axis_value(r->sweep->trials[t].axes, r->sweep->trials[t].axis_count, axis->name));
    if (v.items.len > known) /* trials come in the order of execution, which says nothing */
        qsort(v.items.items + known, v.items.len - known, sizeof(*v.items.items), compare_natural);
    for (size_t i = known; i < v.items.len; i++) {
        bool new;
        *name_index_put(&axis->index, v.items.items[i], i, &new) = i;
    }
    axis->value_count = v.items.len;
    if (v.items.len)
        axis->values = arena_copy(r->arena, v.items.items, v.items.len * sizeof(*v.items.items));
    vec_release(&v.items);
}

int report_axes(struct report *r, const struct report_options *o, struct error *err)
{
    collect_names(r);
    if (check_rows(r, o, err) < 0)
        return -1;
    put_in_order(r, o);
    for (size_t i = 0; i < r->axis_count; i++)
        collect_values(r, &r->axes[i]);
    return 0;
}
