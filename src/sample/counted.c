/* SPDX-License-Identifier: MIT */
#include "counted.h"

void counted_release(struct counted *c)
{
    vec_release(&c->series);
}

void counted_forget(struct counted *c)
{
    c->series.len = 0;
}

void counted_clear(struct counted *c)
{
    counted_forget(c);
    c->last_total = c->increase = 0;
    c->dropped = 0;
}

void counted_begin(struct counted *c)
{
    c->next = c->seen = 0;
    c->total = c->growth = 0;
}

/* Scrapes come in the same order nearly always: the search begins where the last one ended. */
static struct counted_series *find(struct counted *c, uint64_t id)
{
    for (size_t i = 0; i < c->series.len; i++) {
        size_t at = (c->next + i) % c->series.len;
        if (c->series.items[at].id == id) {
            c->next = at + 1;
            return &c->series.items[at];
        }
    }
    return NULL;
}

bool counted_add(struct counted *c, uint64_t id, double value, bool baseline)
{
    struct counted_series *s = find(c, id);
    bool again = s && value < s->value;

    if (!s && c->series.len == COUNTED_MAX_SERIES) {
        c->dropped++;
        return false;
    }
    c->seen++;
    c->total += value;
    if (!s)
        c->growth += baseline ? 0 : value;
    else
        c->growth += again ? value : value - s->value;
    if (s)
        s->value = value;
    else
        vec_push(&c->series, (struct counted_series){.id = id, .value = value});
    return again;
}

void counted_end(struct counted *c)
{
    if (!c->seen)
        return;
    c->last_total = c->total;
    c->increase += c->growth;
}
