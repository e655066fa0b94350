/* SPDX-License-Identifier: MIT */
/*
 * Limits as applied: what the matrix asks for, what the engine says it applied, what the cgroup's files have.
 * Only where these differ.
 */
#include "report_internal.h"

#include <math.h>
#include <string.h>
#include "benchctl/base/units.h"
#include "timeline.h"

#define ROWS_MAX 100
#define SAME 0.005 /* rounded to pages, or to microseconds of a period */

enum { LIMIT_MEMORY, LIMIT_SWAP, LIMIT_CPUS, LIMIT_PIDS, LIMITS };

static const struct {
    const char *name, *setting;
    bool bytes;
    size_t engine, kernel; /* of struct effective */
} limits[LIMITS] = {
    [LIMIT_MEMORY] = {"memory", "memory", true, offsetof(struct effective, memory_bytes),
                      offsetof(struct effective, kernel.memory_bytes)},
    [LIMIT_SWAP] = {"swap", "swap", true, offsetof(struct effective, swap_bytes),
                    offsetof(struct effective, kernel.swap_bytes)},
    [LIMIT_CPUS] = {"cpus", "cpus", false, offsetof(struct effective, cpus),
                    offsetof(struct effective, kernel.cpus)},
    [LIMIT_PIDS] = {"pids", "pids", false, offsetof(struct effective, pids),
                    offsetof(struct effective, kernel.pids)},
};

static double number_at(const struct effective *e, size_t offset)
{
    double value;

    memcpy(&value, (const char *)e + offset, sizeof(value));
    return value;
}

/* As the plan has it: bytes, a number, "unlimited"; NAN: it does not say. */
static double asked_for(const struct report *r, const char *scenario, const char *role, size_t limit)
{
    const struct json *settings = planned_settings(r, scenario);
    const struct json *of = text_equal(role, "app") ? json_get(settings, "app")
                            : text_equal(role, "database")
                                ? json_get(json_get(settings, "database"), "service")
                                : json_get(json_get(settings, "services"), role);
    const struct json *value = json_get(of, limits[limit].setting);
    double number;

    if (text_equal(json_text(value), "unlimited"))
        return INFINITY;
    if (json_text(value) && number_parse(json_text(value), &number, &(struct error)ERROR_INIT) == 0)
        return number;
    return json_number(value);
}

static bool differ(double a, double b)
{
    if (isnan(a) || isnan(b) || a == b)
        return false;
    return isinf(a) || isinf(b) || fabs(a - b) > SAME * fmax(fabs(a), fabs(b));
}

static const char *limit_text(struct report *r, size_t limit, double value)
{
    char text[32];

    if (isnan(value))
        return NOT_MEASURED;
    if (isinf(value))
        return "unlimited";
    if (limits[limit].bytes)
        return arena_strdup(r->arena, size_human(value, text));
    return arena_printf(r->arena, "%.4g", value);
}

struct applied {
    struct report *r;
    struct table *table;
    size_t more, compared;
};

static struct field differing(const char *text, bool differs)
{
    return (struct field){.text = text, .tone = differs ? TONE_BAD : TONE_PLAIN};
}

static struct field *begin_row(struct applied *a, const struct trial *t, const struct container_result *c)
{
    if (a->table->rows.len >= ROWS_MAX) {
        a->more++;
        return NULL;
    }
    struct field *row = table_row(a->r, a->table);
    row[0].text = t->scenario;
    row[1].text = container_role(t, c);
    return row;
}

static void compare_limit(struct applied *a, const struct trial *t, const struct container_result *c,
                          size_t limit)
{
    double asked = asked_for(a->r, t->scenario, container_role(t, c), limit),
           engine = number_at(&c->effective, limits[limit].engine),
           kernel = number_at(&c->effective, limits[limit].kernel);

    a->compared += !isnan(engine) || !isnan(kernel);
    if (!differ(asked, engine) && !differ(asked, kernel) && !differ(engine, kernel))
        return;
    struct field *row = begin_row(a, t, c);
    if (!row)
        return;
    row[2].text = limits[limit].name;
    row[3].text = limit_text(a->r, limit, asked);
    row[4] = differing(limit_text(a->r, limit, engine), differ(asked, engine));
    row[5] = differing(limit_text(a->r, limit, kernel), differ(asked, kernel) || differ(engine, kernel));
}

static void compare_cpuset(struct applied *a, const struct trial *t, const struct container_result *c)
{
    const char *engine = c->effective.cpuset, *kernel = c->effective.kernel.cpuset;

    if (!engine || !engine[0] || !kernel || !kernel[0] || strcmp(engine, kernel) == 0)
        return;
    struct field *row = begin_row(a, t, c);
    if (!row)
        return;
    row[2].text = "cpuset";
    row[3].text = NOT_MEASURED;
    row[4].text = engine;
    row[5] = differing(kernel, true);
}

/* The first of a scenario's trials that has it: limits are the scenario's. */
static void compare_cell(struct applied *a, const struct cell *cell)
{
    const struct container_result *c;

    for (size_t n = 0; cell->trial_count && (c = trial_container(cell->trials[0], n)); n++) {
        for (size_t i = 0; i < LIMITS; i++)
            compare_limit(a, cell->trials[0], c, i);
        compare_cpuset(a, cell->trials[0], c);
    }
}

void list_limits(struct report *r)
{
    static const struct column columns[] = {{"scenario", "", false}, {"container", "", false},
                                            {"limit", "", false},    {"asked for", "", true},
                                            {"engine", "", true},    {"kernel", "", true}};
    struct applied a = {.r = r, .table = table_new(r, ARRAY_LEN(columns), 3)};

    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        a.table->columns[i] = columns[i];
    for (size_t i = 0; i < r->cells.len; i++)
        compare_cell(&a, &r->cells.items[i]);
    if (!a.compared && !a.table->rows.len)
        return;
    struct section *s = section_new(r, "Limits as applied");
    if (!a.table->rows.len) {
        s->detail = true;
        section_line(s, "Every limit that was read back is the one that was asked for.");
        return;
    }
    s->table = a.table;
    section_line(s,
                 "Only limits that differ: as asked for, as the engine says that it applied it, and as the "
                 "cgroup's files have it.");
    if (a.more)
        section_line(s, arena_printf(r->arena, "and %zu more", a.more));
}
