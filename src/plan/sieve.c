/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"

/*
 * A row is a set of rules, `words` words long. axis_rows[a] has one row per value: the rules that this value
 * satisfies or that say nothing of the axis. dim_rows[d] is the same for a dimension, the rows of its axes
 * anded; for a dimension of one axis they are the same rows.
 */
struct sieve {
    const struct grid *g;
    size_t count, words;
    uint64_t **axis_rows, **dim_rows;
    uint64_t *prefix; /* one row per dimension walked into, the first is all rules */
    uint64_t hits[SIEVE_WORDS], all[SIEVE_WORDS];
    uint64_t *marks;      /* sieve_mark() */
    const uint64_t *skip; /* sieve_probe() */
};

static void fill_axis(struct sieve *s, const struct condition *rules, size_t axis)
{
    size_t total = s->g->axes[axis].total, words = s->words;
    uint64_t *rows = s->axis_rows[axis], silent[SIEVE_WORDS];

    memcpy(silent, s->all, sizeof(silent));
    for (size_t r = 0; r < s->count; r++) {
        for (size_t t = 0; t < rules[r].len; t++) {
            const struct condition_term *term = &rules[r].terms[t];
            if (term->axis != axis)
                continue;
            silent[r / 64] &= ~(UINT64_C(1) << r % 64);
            for (size_t i = 0; i < term->len && term->values[i] < total; i++)
                rows[term->values[i] * words + r / 64] |= UINT64_C(1) << r % 64;
        }
    }
    for (size_t v = 0; v < total; v++) {
        for (size_t w = 0; w < words; w++)
            rows[v * words + w] |= silent[w];
    }
}

static void fill_dims(struct sieve *s)
{
    for (size_t a = 0; a < s->g->axis_count; a++) {
        size_t dim = s->g->axes[a].dim, size = s->g->dims[dim].len * s->words;
        uint64_t *rows = s->dim_rows[dim];
        if (!rows) {
            rows = s->dim_rows[dim] = xmalloc(size * sizeof(*rows));
            memcpy(rows, s->axis_rows[a], size * sizeof(*rows));
            continue;
        }
        for (size_t i = 0; i < size; i++)
            rows[i] &= s->axis_rows[a][i];
    }
}

struct sieve *sieve_new(const struct grid *g, const struct condition *rules, size_t count)
{
    struct sieve *s = xcalloc(1, sizeof(*s));

    assert(count && count <= SIEVE_RULES);
    s->g = g;
    s->count = count;
    s->words = (count + 63) / 64;
    for (size_t r = 0; r < count; r++)
        s->all[r / 64] |= UINT64_C(1) << r % 64;
    s->axis_rows = xcalloc(g->axis_count + 1, sizeof(*s->axis_rows));
    s->dim_rows = xcalloc(g->dim_count + 1, sizeof(*s->dim_rows));
    s->prefix = xcalloc((g->dim_count + 1) * s->words, sizeof(*s->prefix));
    memcpy(s->prefix, s->all, s->words * sizeof(*s->prefix));
    for (size_t a = 0; a < g->axis_count; a++) {
        s->axis_rows[a] = xcalloc(g->axes[a].total * s->words, sizeof(**s->axis_rows));
        fill_axis(s, rules, a);
    }
    fill_dims(s);
    return s;
}

void sieve_free(struct sieve *s)
{
    if (!s)
        return;
    for (size_t a = 0; a < s->g->axis_count; a++)
        free(s->axis_rows[a]);
    for (size_t d = 0; d < s->g->dim_count; d++)
        free(s->dim_rows[d]);
    free(s->axis_rows);
    free(s->dim_rows);
    free(s->prefix);
    free(s);
}

/* The rules of `row` that may still match below it: all when marking, those not yet seen when probing. */
static uint64_t and_rows(const struct sieve *s, uint64_t *ret, const uint64_t *prefix, const uint64_t *row)
{
    uint64_t any = 0;

    for (size_t w = 0; w < s->words; w++) {
        ret[w] = prefix[w] & row[w];
        if (!s->marks)
            ret[w] &= ~s->hits[w];
        any |= ret[w];
    }
    return any;
}

static void visit(struct sieve *s, uint32_t combo, const uint64_t *row)
{
    if (s->skip && s->skip[combo / 64] >> combo % 64 & 1)
        return;
    for (size_t w = 0; w < s->words; w++)
        s->hits[w] |= row[w];
    if (s->marks)
        s->marks[combo / 64] |= UINT64_C(1) << combo % 64;
}

static void walk(struct sieve *s, size_t dim, uint32_t combo)
{
    uint64_t *prefix = s->prefix + dim * s->words;

    if (dim == s->g->dim_count) {
        visit(s, combo, prefix);
        return;
    }
    const struct grid_dim *d = &s->g->dims[dim];
    for (uint32_t v = 0; v < d->len; v++, combo += d->stride) {
        if (and_rows(s, prefix + s->words, prefix, s->dim_rows[dim] + v * s->words))
            walk(s, dim + 1, combo);
    }
}

void sieve_mark(struct sieve *s, uint64_t *marks)
{
    s->marks = marks;
    s->skip = NULL;
    walk(s, 0, 0);
}

void sieve_probe(struct sieve *s, const uint64_t *skip)
{
    s->marks = NULL;
    s->skip = skip;
    walk(s, 0, 0);
}

size_t sieve_match(struct sieve *s, const uint32_t *digits)
{
    size_t first = SIZE_MAX;

    for (size_t w = s->words; w-- > 0;) {
        uint64_t row = s->all[w];
        for (size_t a = 0; a < s->g->axis_count; a++)
            row &= s->axis_rows[a][digits[a] * s->words + w];
        s->hits[w] |= row;
        if (row)
            first = w * 64 + (size_t)__builtin_ctzll(row);
    }
    return first;
}

size_t sieve_unmatched(const struct sieve *s)
{
    for (size_t w = 0; w < s->words; w++) {
        uint64_t left = s->all[w] & ~s->hits[w];
        if (left)
            return w * 64 + (size_t)__builtin_ctzll(left);
    }
    return SIZE_MAX;
}
