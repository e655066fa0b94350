/* SPDX-License-Identifier: MIT */
/* Templates filled in: no memory is asked for but by the growing text. */
#include "template.h"

#include "benchctl/base/hash.h"

static void add_number(struct strbuf *out, uint64_t value, bool negative)
{
    char buf[24], *p = buf + sizeof(buf);

    do
        *--p = (char)('0' + value % 10);
    while (value /= 10);
    if (negative)
        *--p = '-';
    strbuf_add(out, p, (size_t)(buf + sizeof(buf) - p));
}

static void add_uuid(struct strbuf *out, struct rng *rng)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t half[2] = {rng_next(rng), rng_next(rng)};
    char buf[36];
    size_t n = 0;

    half[0] = (half[0] & ~UINT64_C(0xf000)) | UINT64_C(0x4000);
    half[1] = (half[1] >> 2) | UINT64_C(1) << 63;
    for (unsigned i = 0; i < 32; i++) {
        if (i == 8 || i == 12 || i == 16 || i == 20)
            buf[n++] = '-';
        buf[n++] = digits[half[i / 16] >> (60 - i % 16 * 4) & 15];
    }
    strbuf_add(out, buf, n);
}

static void add_random(struct strbuf *out, const struct piece *p, struct rng *rng)
{
    uint64_t bits = (uint64_t)p->low + (p->span ? rng_below(rng, p->span) : rng_next(rng));
    bool negative = bits >> 63;

    add_number(out, negative ? -bits : bits, negative);
}

static void add_row(struct strbuf *out, const struct piece *p, uint64_t row)
{
    size_t len, count = workload_rows_count(p->rows);
    const char *cell = workload_rows_cell(p->rows, (size_t)(row % count), p->column, &len);

    strbuf_add(out, cell, len);
}

static void add_piece(struct strbuf *out, const struct piece *p, const struct workload_values *v)
{
    char stamp[CLOCK_STAMP_SIZE];
    const struct word *word;

    switch (p->kind) {
    case PIECE_TEXT:
        return strbuf_add(out, p->text, p->len);
    case PIECE_COUNTER:
        return add_number(out, v->counter, false);
    case PIECE_VU:
        return add_number(out, v->vu, false);
    case PIECE_ITERATION:
        return add_number(out, v->iteration, false);
    case PIECE_UUID:
        return add_uuid(out, v->rng);
    case PIECE_ID:
        return strbuf_adds(out, v->id ? v->id : "");
    case PIECE_TIME:
        return strbuf_adds(out, clock_rfc3339(clock_wall_ns(), stamp));
    case PIECE_TIME_MS:
        return add_number(out, (uint64_t)(clock_wall_ns() / NS_PER_MS), false);
    case PIECE_RANDOM:
        return add_random(out, p, v->rng);
    case PIECE_CHOICE:
        word = &p->words[rng_below(v->rng, p->count)];
        return strbuf_add(out, word->text, word->len);
    case PIECE_ROW:
        return add_row(out, p, v->row);
    }
}

bool workload_template_is_constant(const struct workload_template *t)
{
    return t->constant;
}

void workload_template_render(const struct workload_template *t, const struct workload_values *v,
                              struct strbuf *out)
{
    for (size_t i = 0; i < t->count; i++)
        add_piece(out, &t->pieces[i], v);
}
