/* SPDX-License-Identifier: MIT */
/*
 * What JVMs chose for themselves. A collector, a heap or a number of processors that changes along an axis
 * means that the scenarios differ in more than that axis says.
 */
#include "report_internal.h"

#include <math.h>
#include <string.h>
#include "benchctl/base/units.h"

enum { COLUMN_VERSION, COLUMN_COLLECTOR, COLUMN_HEAP, COLUMN_SHARE, COLUMN_CPUS, COLUMN_OPTIONS, COLUMNS };

static const struct trial *with_jvm(const struct cell *c)
{
    for (size_t i = 0; i < c->trial_count; i++)
        if (c->trials[i]->app.has_jvm)
            return c->trials[i];
    return NULL;
}

static double heap_share(const struct container_result *c)
{
    return isfinite(c->memory_bytes.limit) ? c->jvm.heap_max_bytes / c->memory_bytes.limit : (double)NAN;
}

static const char *size_text(struct report *r, double bytes)
{
    char text[32];

    return isfinite(bytes) ? arena_strdup(r->arena, size_human(bytes, text)) : NOT_MEASURED;
}

static void jvm_row(struct report *r, const struct cell *c, struct field *row)
{
    const struct container_result *app = &with_jvm(c)->app;
    const struct jvm_facts *j = &app->jvm;
    struct field *own = row + r->axis_count;
    double share = heap_share(app);

    for (size_t i = 0; i < r->axis_count; i++)
        row[i].text = cell_value(r, c, i);
    own[COLUMN_VERSION].text = j->version ? j->version : NOT_MEASURED;
    own[COLUMN_COLLECTOR].text = j->collector ? j->collector : NOT_MEASURED;
    own[COLUMN_HEAP].text = size_text(r, j->heap_max_bytes);
    own[COLUMN_SHARE].text = isnan(share) ? NOT_MEASURED : arena_printf(r->arena, "%.0f%%", 100 * share);
    own[COLUMN_CPUS].text = isfinite(j->cpus) ? arena_printf(r->arena, "%.3g", j->cpus) : NOT_MEASURED;
    own[COLUMN_OPTIONS].text = j->options && j->options[0] ? j->options : "";
}

/* The one axis in which two scenarios differ; axis_count: none, or more than one. */
static size_t only_axis(const struct report *r, const struct cell *a, const struct cell *b)
{
    size_t found = r->axis_count;

    for (size_t i = 0; i < r->axis_count; i++) {
        if (a->ranks[i] == b->ranks[i])
            continue;
        if (found < r->axis_count)
            return r->axis_count;
        found = i;
    }
    return found;
}

struct jvms {
    struct report *r;
    struct section *section;
    const struct cell *before;
    struct field *row_before;
    bool marked;
};

/* The next on an axis: what else has changed is marked. */
static void mark_changes(struct jvms *j, const struct cell *c, struct field *row)
{
    static const size_t watched[] = {COLUMN_COLLECTOR, COLUMN_CPUS, COLUMN_SHARE};
    struct report *r = j->r;
    size_t axis = j->before ? only_axis(r, j->before, c) : r->axis_count;

    for (size_t i = 0; i < ARRAY_LEN(watched) && axis < r->axis_count; i++) {
        size_t column = r->axis_count + watched[i];
        const char *from = j->row_before[column].text, *to = row[column].text;
        if (strcmp(from, to) == 0 || strcmp(from, NOT_MEASURED) == 0 || strcmp(to, NOT_MEASURED) == 0)
            continue;
        row[column].tone = TONE_BAD;
        j->marked = true;
    }
}

static struct table *jvm_table(struct report *r)
{
    static const struct column columns[COLUMNS] = {
        [COLUMN_VERSION] = {"version", "", false}, [COLUMN_COLLECTOR] = {"collector", "", false},
        [COLUMN_HEAP] = {"heap", "at most", true}, [COLUMN_SHARE] = {"of limit", "", true},
        [COLUMN_CPUS] = {"CPUs", "", true},        [COLUMN_OPTIONS] = {"options", "", false},
    };
    struct table *t = table_new(r, r->axis_count + COLUMNS, r->axis_count);

    for (size_t i = 0; i < r->axis_count; i++)
        t->columns[i] = (struct column){r->axes[i].name, "", false};
    for (size_t i = 0; i < COLUMNS; i++)
        t->columns[r->axis_count + i] = columns[i];
    t->wide = true;
    return t;
}

void list_jvm(struct report *r)
{
    struct jvms j = {.r = r};

    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        if (!with_jvm(c))
            continue;
        if (!j.section) {
            j.section = section_new(r, "JVM");
            j.section->table = jvm_table(r);
        }
        struct field *row = table_row(r, j.section->table);
        jvm_row(r, c, row);
        mark_changes(&j, c, row);
        j.before = c;
        j.row_before = row;
    }
    if (j.marked)
        section_line(j.section, "Marked: not as in the line above, from which one axis differs: the "
                                "scenarios differ in more than "
                                "that axis says.");
}
