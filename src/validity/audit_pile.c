/* SPDX-License-Identifier: MIT */
/* V6 over published tables: rows of one load at one throughput, whatever they used to get there. */
#include "audit_internal.h"

#include <math.h>

#define PILE_MIN 3
#define LAW_NEAR 0.10 /* users / latency explains a throughput when it is as near */
#define LOADS_NAMED 5 /* of a table with a pile for each of many loads */

/* --- rows of one load --- */

static const enum audit_field load_fields[] = {FIELD_USERS, FIELD_THINK, FIELD_OFFERED};

static int by_number(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (int)isnan(a) - (int)isnan(b);
    return (a > b) - (a < b);
}

static int by_load(const struct audit_row *a, const struct audit_row *b)
{
    int order = 0;

    for (size_t i = 0; !order && i < ARRAY_LEN(load_fields); i++)
        order = by_number(a->value[load_fields[i]], b->value[load_fields[i]]);
    return order;
}

struct pile_row {
    const struct audit_row *row;
    double rps;
};

static int by_load_and_rps(const void *left, const void *right)
{
    const struct pile_row *a = left, *b = right;
    int order = by_load(a->row, b->row);

    if (!order)
        order = by_number(a->rps, b->rps);
    return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* --- a pile --- */

struct pile {
    const struct pile_row *rows; /* of one load, by throughput */
    size_t len, from, count;     /* those at one throughput */
    double cpu, memory;          /* how far apart they are; NAN: fewer than two have it */
};

static double apart(const struct pile *p, enum audit_field f)
{
    double low = INFINITY, high = 0;
    size_t count = 0;

    for (size_t i = p->from; i < p->from + p->count; i++) {
        double value = p->rows[i].row->value[f];
        if (!(value > 0))
            continue;
        low = fmin(low, value);
        high = fmax(high, value);
        count++;
    }
    return count > 1 ? high / low - 1 : NAN;
}

static struct pile pile_of(const struct pile_row *rows, size_t len)
{
    struct pile p = {.rows = rows, .len = len};

    for (size_t low = 0, high = 0; low < len; low++) {
        while (high < len && rows[high].rps <= rows[low].rps * (1 + PILE_WIDTH))
            high++;
        if (high - low > p.count) {
            p.count = high - low;
            p.from = low;
        }
    }
    p.cpu = apart(&p, FIELD_CPU);
    p.memory = apart(&p, FIELD_MEMORY);
    return p;
}

static bool is_pile(const struct pile *p)
{
    return (double)p->count >= MOST * (double)p->len;
}

static bool is_one_program(const struct pile *p)
{
    return p->cpu <= OTHERS_DIFFER && !(p->memory > OTHERS_DIFFER);
}

/* --- in words --- */

static const char *ceiling(struct arena *a, const struct audit_row *r, double rps)
{
    double users = r->value[FIELD_USERS], think = r->value[FIELD_THINK] > 0 ? r->value[FIELD_THINK] : 0;
    double law = users / (row_latency(r) + think) * 1e3;

    if (row_open(r) && rps >= DELIVERED * r->value[FIELD_OFFERED])
        return arena_printf(a, "; suspected: the offered rate of %s requests/s",
                            digits(a, r->value[FIELD_OFFERED]));
    if (fabs(law / rps - 1) <= LAW_NEAR)
        return arena_printf(a, "; suspected: %s users / (%s ms + %s ms) = %s requests/s", digits(a, users),
                            digits(a, row_latency(r)), digits(a, think), digits(a, law));
    if (r->value[FIELD_FLOOR] / row_latency(r) >= FLOOR_SHARE)
        return arena_printf(a, "; suspected: the floor of %s ms in a latency of %s ms",
                            digits(a, r->value[FIELD_FLOOR]), digits(a, row_latency(r)));
    return "";
}

static void say_pile(struct audit_judge *j, const struct pile *p)
{
    struct arena *a = j->t->arena;
    const struct pile_row *first = &p->rows[p->from], *last = &p->rows[p->from + p->count - 1];
    bool *marked = arena_array(a, bool, j->t->len + 1);

    for (const struct pile_row *r = first; r <= last; r++)
        marked[r->row - j->t->rows] = true;
    const char *where = arena_printf(a, "%zu of %zu rows lie within 2 %% of each other at %s requests/s",
                                     p->count, p->len, from_to(a, first->rps, last->rps));
    if (is_one_program(p)) {
        audit_say(j, "table-pile-up", "PASS", marked, "%s, and so does their CPU", where);
        return;
    }
    const char *others = p->cpu > OTHERS_DIFFER
                             ? arena_printf(a, " while their CPU differs by %s", percent(a, p->cpu))
                         : p->memory > OTHERS_DIFFER
                             ? arena_printf(a, " while their memory differs by %s", percent(a, p->memory))
                             : ", and neither CPU nor memory tells whether they are one program";
    audit_say(j, "table-pile-up", "WARN", marked, "%s%s%s", where, others,
              ceiling(a, first->row, first->rps));
}

struct piles {
    size_t loads, said, more;
    struct pile widest; /* of the loads that have none */
};

static void judge_load(struct audit_judge *j, const struct pile_row *rows, size_t len, struct piles *all)
{
    if (len < PILE_MIN)
        return;
    struct pile p = pile_of(rows, len);
    if (!is_pile(&p)) {
        if (!all->loads++ ||
            (double)p.count / (double)len > (double)all->widest.count / (double)all->widest.len)
            all->widest = p;
        return;
    }
    j->piled |= !is_one_program(&p);
    if (all->said++ < LOADS_NAMED)
        say_pile(j, &p);
    else
        all->more += !is_one_program(&p);
}

void audit_pile_rule(struct audit_judge *j)
{
    struct pile_row *rows = arena_array(j->t->arena, struct pile_row, j->t->len + 1);
    struct piles all = {0};
    size_t len = 0;

    for (size_t i = 0; i < j->t->len; i++) {
        double rps = row_rps(&j->t->rows[i]);
        if (rps > 0)
            rows[len++] = (struct pile_row){&j->t->rows[i], rps};
    }
    if (len)
        qsort(rows, len, sizeof(*rows), by_load_and_rps);
    for (size_t begin = 0, end; begin < len; begin = end) {
        for (end = begin + 1; end < len && by_load(rows[begin].row, rows[end].row) == 0;)
            end++;
        judge_load(j, rows + begin, end - begin, &all);
    }
    if (all.more)
        audit_say(j, "table-pile-up", "WARN", NULL, "and so do the rows of %zu more loads", all.more);
    if (all.loads)
        audit_say(j, "table-pile-up", "PASS", NULL,
                  "at most %zu of %zu rows of one load lie within 2 %% of each other%s", all.widest.count,
                  all.widest.len,
                  all.loads > 1 ? arena_printf(j->t->arena, ", in %zu loads", all.loads) : "");
}
