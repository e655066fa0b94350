/* SPDX-License-Identifier: MIT */
#include "grid.h"

#include <string.h>

#include "benchctl/plan.h"

/* Where the zip group stands in the file, as far as the tree knows. */
static struct position zip_position(const struct matrix *m, size_t group)
{
    const struct node *zip = m->root ? node_get(m->root, "zip") : NULL;

    if (zip && zip->kind == NODE_LIST && group < zip->len)
        return zip->items[group]->at;
    return zip ? zip->at : (struct position){.file = m->file};
}

static int check_zip_group(const struct matrix *m, size_t group, size_t *group_of, struct error *err)
{
    const struct zip_group *z = (const struct zip_group *)m->zip.items + group;
    struct position at = zip_position(m, group);

    if (z->len < 2)
        return position_error(err, at, "a zip group needs at least two axes");
    for (size_t i = 0; i < z->len; i++) {
        const struct axis *axis = &m->axes[z->axes[i]], *first = &m->axes[z->axes[0]];
        if (group_of[z->axes[i]] != SIZE_MAX)
            return position_error(err, at, "axis '%s' is zipped twice", axis->name);
        group_of[z->axes[i]] = group;
        if (axis->len != first->len) {
            position_error(err, at, "zipped axes differ in length: '%s' has %zu values, '%s' has %zu",
                           first->name, first->len, axis->name, axis->len);
            return error_hint(
                err, "axes that are zipped advance together, so they need the same number of values");
        }
    }
    return 0;
}

static int too_many(const struct grid *g, struct error *err)
{
    struct position at = g->axis_count ? g->axes[0].axis->at : (struct position){.file = g->m->file};

    position_error(err, at, "the axes make more than %d combinations", PLAN_MAX_COMBINATIONS);
    return error_hint(
        err, "fewer values, axes zipped together, or several matrices; excludes do not lower this number");
}

/* Gives each axis its dimension: zip groups stand where their first axis stands. */
static int make_dims(struct grid *g, struct error *err)
{
    const struct matrix *m = g->m;
    CLEANUP_FREE size_t *group_of = xmalloc((g->axis_count + 1) * sizeof(*group_of));
    CLEANUP_FREE size_t *dim_of_group = xmalloc((m->zip.len + 1) * sizeof(*dim_of_group));

    memset(group_of, 0xff, (g->axis_count + 1) * sizeof(*group_of));
    memset(dim_of_group, 0xff, (m->zip.len + 1) * sizeof(*dim_of_group));
    for (size_t z = 0; z < m->zip.len; z++) {
        if (check_zip_group(m, z, group_of, err) < 0)
            return -1;
    }
    g->dims = arena_array(g->arena, struct grid_dim, g->axis_count + 1);
    g->product = 1;
    for (size_t i = 0; i < g->axis_count; i++) {
        size_t *known = group_of[i] == SIZE_MAX ? NULL : &dim_of_group[group_of[i]];
        g->product =
            __builtin_mul_overflow(g->product, g->axes[i].listed, &g->product) ? UINT64_MAX : g->product;
        if (known && *known != SIZE_MAX) {
            g->axes[i].dim = *known;
            continue;
        }
        g->axes[i].dim = g->dim_count;
        if (known)
            *known = g->dim_count;
        g->dims[g->dim_count++].len = (uint32_t)g->axes[i].listed;
    }
    uint64_t combos = 1;
    for (size_t d = g->dim_count; d-- > 0;) {
        g->dims[d].stride = (uint32_t)combos;
        combos *= g->dims[d].len;
        if (combos > PLAN_MAX_COMBINATIONS)
            return too_many(g, err);
    }
    g->combos = (uint32_t)combos;
    return 0;
}

static int add_value(struct grid_axis *x, const struct axis_value *v, struct error *err)
{
    bool is_new;
    size_t index = *name_index_put(&x->by_text, v->text, x->by_text.len, &is_new);

    if (!is_new)
        return position_error(err, v->at, "axis '%s' lists '%s' twice", x->axis->name, v->text);
    x->values[index] = v;
    return 0;
}

/* Collects the values that includes name beyond those listed. Their fields are the include's own. */
static int add_included(struct grid *g, size_t a, struct error *err)
{
    struct grid_axis *x = &g->axes[a];

    for (size_t i = 0; i < g->m->include_count; i++) {
        const struct include_rule *rule = &g->m->includes[i];
        const struct node *node = rule->item ? node_get(rule->item, x->axis->name) : NULL;
        const struct node *fields = node && node->kind == NODE_MAP ? node : NULL;
        bool is_new;
        size_t index = *name_index_put(&x->by_text, rule->values[a], x->by_text.len, &is_new);
        struct axis_value *v = NULL;
        if (is_new) {
            v = arena_new_of(g->arena, struct axis_value);
            *v = (struct axis_value){
                .text = rule->values[a], .fields = fields, .at = node ? node->at : rule->at};
            x->values[index] = v;
        } else if (fields && !(x->values[index]->fields && node_equal(fields, x->values[index]->fields))) {
            position_error(err, node->at, "value '%s' of axis '%s' has other fields here than at line %d",
                           rule->values[a], x->axis->name, x->values[index]->at.line);
            return error_hint(err, "name it alone to use the fields it has, or give it another name");
        }
    }
    return 0;
}

static int make_parts(struct grid *g, struct grid_axis *x, struct error *err)
{
    struct strbuf part = STRBUF_INIT;
    bool is_new = true;

    x->parts = arena_array(g->arena, const char *, x->total + 1);
    for (size_t i = 0; i < x->total && is_new; i++) {
        strbuf_clear(&part);
        scenario_id_part(x->values[i]->text, &part);
        x->parts[i] = arena_strdup(g->arena, strbuf_text(&part));
        (void)name_index_put(&x->by_part, x->parts[i], i, &is_new);
        if (!is_new)
            position_error(err, x->values[i]->at, "two values of axis '%s' give the same id part '%s'",
                           x->axis->name, x->parts[i]);
    }
    strbuf_release(&part);
    return is_new ? 0 : -1;
}

static int init_axis(struct grid *g, size_t a, struct error *err)
{
    struct grid_axis *x = &g->axes[a];
    const struct axis *axis = &g->m->axes[a];

    x->axis = axis;
    if (!axis->len)
        return position_error(err, axis->at, "axis '%s' has no values", axis->name);
    x->listed = axis->len;
    x->values = arena_array(g->arena, const struct axis_value *, axis->len + g->m->include_count);
    for (size_t i = 0; i < axis->len; i++) {
        if (add_value(x, &axis->values[i], err) < 0)
            return -1;
    }
    if (add_included(g, a, err) < 0)
        return -1;
    x->total = x->by_text.len;
    for (size_t i = 0; i < x->total; i++) {
        if (!*x->values[i]->text)
            return position_error(err, x->values[i]->at, "axis '%s' has an empty value", axis->name);
    }
    return make_parts(g, x, err);
}

static int check_id_length(const struct grid *g, struct error *err)
{
    size_t longest = 0;

    for (size_t a = 0; a < g->axis_count; a++) {
        size_t part = 0;
        for (size_t i = 0; i < g->axes[a].total; i++) {
            size_t len = strlen(g->axes[a].parts[i]);
            part = len > part ? len : part;
        }
        longest += part + 1;
    }
    if (longest <= PLAN_MAX_ID)
        return 0;
    position_error(err, g->axes[0].axis->at, "scenario ids would be up to %zu bytes long, more than %d",
                   longest, PLAN_MAX_ID);
    return error_hint(err, "fewer axes, or shorter names for values: {name: short, tag: ...}");
}

int grid_init(struct grid *g, const struct matrix *m, struct arena *a, struct error *err)
{
    *g = (struct grid){.m = m, .arena = a, .axis_count = m->axis_count};
    g->axes = arena_array(a, struct grid_axis, m->axis_count + 1);
    for (size_t i = 0; i < m->axis_count; i++) {
        if (init_axis(g, i, err) < 0)
            return -1;
    }
    if (check_id_length(g, err) < 0)
        return -1;
    return make_dims(g, err);
}

void grid_release(struct grid *g)
{
    for (size_t a = 0; g->axes && a < g->axis_count; a++) {
        name_index_release(&g->axes[a].by_text);
        name_index_release(&g->axes[a].by_part);
    }
    *g = (struct grid){0};
}

size_t grid_bytes(const struct grid *g)
{
    size_t slots = 0;

    for (size_t a = 0; a < g->axis_count; a++)
        slots += g->axes[a].by_text.cap + g->axes[a].by_part.cap;
    return slots * GRID_INDEX_SLOT;
}

size_t grid_value(const struct name_index *by, const char *name)
{
    const size_t *index = name_index_get(by, name);

    return index ? *index : SIZE_MAX;
}

void grid_digits(const struct grid *g, uint32_t combo, uint32_t *ret_digits)
{
    for (size_t a = 0; a < g->axis_count; a++) {
        const struct grid_dim *d = &g->dims[g->axes[a].dim];
        ret_digits[a] = combo / d->stride % d->len;
    }
}

bool grid_combo(const struct grid *g, const uint32_t *digits, uint32_t *ret_combo)
{
    uint32_t combo = 0;

    for (size_t a = 0, dim = 0; a < g->axis_count; a++) {
        const struct grid_dim *d = &g->dims[g->axes[a].dim];
        if (digits[a] >= d->len)
            return false;
        if (g->axes[a].dim == dim) { /* the first axis of its dimension */
            combo += digits[a] * d->stride;
            dim++;
        } else if (combo / d->stride % d->len != digits[a]) {
            return false;
        }
    }
    *ret_combo = combo;
    return true;
}

void grid_id(const struct grid *g, const uint32_t *digits, struct strbuf *out)
{
    if (!g->axis_count)
        strbuf_adds(out, "default");
    for (size_t a = 0; a < g->axis_count; a++) {
        if (a)
            strbuf_addc(out, '/');
        strbuf_adds(out, g->axes[a].parts[digits[a]]);
    }
}

bool grid_parse_id(const struct grid *g, const char *id, uint32_t *ret_digits)
{
    char text[PLAN_MAX_ID + 1], *part = text;

    if (strlen(id) > PLAN_MAX_ID)
        return false;
    if (!g->axis_count)
        return strcmp(id, "default") == 0;
    memcpy(text, id, strlen(id) + 1);
    for (size_t a = 0; a < g->axis_count; a++) {
        char *end = strchrnul(part, '/');
        bool last = a + 1 == g->axis_count;
        if ((*end == '\0') != last)
            return false;
        *end = '\0';
        size_t index = grid_value(&g->axes[a].by_part, part);
        if (index == SIZE_MAX)
            return false;
        ret_digits[a] = (uint32_t)index;
        part = end + 1;
    }
    return true;
}
