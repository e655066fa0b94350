/* SPDX-License-Identifier: MIT */
/*
 * The log-linear layout, ours and that of any other significant digits. Values below `sub_count` units have a
 * counter each; above, each power of two is cut into `sub_half` counters.
 */
#ifndef BENCHCTL_HISTOGRAM_LAYOUT_H
#define BENCHCTL_HISTOGRAM_LAYOUT_H

#include "benchctl/histogram.h"

#define DIGITS 3
#define HALF_MAGNITUDE 10
#define SUB_HALF (1u << HALF_MAGNITUDE)
#define SUB_COUNT (2 * SUB_HALF)
#define BUCKET_COUNT 22 /* 2048 << 21 is the first power above an hour */
#define COUNTS_LEN ((BUCKET_COUNT + 1) * SUB_HALF)
#define BLOCK_LEN (SUB_HALF / 2)

struct histogram {
    uint64_t total, saturated;
    int64_t max_us;       /* greatest value; of decoded ones the end of its bucket */
    uint32_t lowest, end; /* touched counters are [lowest, end); none: lowest == COUNTS_LEN, end == 0 */
    uint64_t *blocks[COUNTS_LEN / BLOCK_LEN]; /* of BLOCK_LEN counters; NULL: nothing has counted in it yet */
};

static inline uint64_t counted(const struct histogram *h, uint32_t index)
{
    const uint64_t *block = h->blocks[index / BLOCK_LEN];

    return block ? block[index % BLOCK_LEN] : 0;
}

/* The counter of a value within 0..HISTOGRAM_MAX_US. */
static inline uint32_t index_of(int64_t value)
{
    uint64_t v = (uint64_t)value;
    uint32_t shift = (uint32_t)(64 - __builtin_clzll(v | (SUB_COUNT - 1))) - (HALF_MAGNITUDE + 1);

    return (shift << HALF_MAGNITUDE) + (uint32_t)(v >> shift);
}

static inline uint32_t shift_of(uint32_t index)
{
    return index < SUB_COUNT ? 0 : (index >> HALF_MAGNITUDE) - 1;
}

/* Lowest value that counts in `index`. */
static inline int64_t value_of(uint32_t index)
{
    uint32_t shift = shift_of(index);

    return (int64_t)(index - (shift << HALF_MAGNITUDE)) << shift;
}

/* Highest one. */
static inline int64_t highest_of(uint32_t index)
{
    int64_t highest = value_of(index) + (INT64_C(1) << shift_of(index)) - 1;

    return highest < HISTOGRAM_MAX_US ? highest : HISTOGRAM_MAX_US;
}

static inline int64_t middle_of(uint32_t index)
{
    return value_of(index) + ((INT64_C(1) << shift_of(index)) >> 1);
}

/* The sum, or the greatest count there is. */
static inline uint64_t count_add(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Counts in one counter; the total is the caller's. */
static inline void touch(struct histogram *h, uint32_t index, uint64_t count)
{
    uint64_t **block = &h->blocks[index / BLOCK_LEN];

    if (!*block)
        *block = xcalloc(BLOCK_LEN, sizeof(**block));
    (*block)[index % BLOCK_LEN] = count_add((*block)[index % BLOCK_LEN], count);
    h->lowest = index < h->lowest ? index : h->lowest;
    h->end = index >= h->end ? index + 1 : h->end;
}

/* text64.c: base64 with padding. */
void text64_encode(const void *bytes, size_t len, struct strbuf *out);
/* Appends what `text` encodes; false when it is not base64. */
bool text64_decode(const char *text, size_t len, struct strbuf *out);

/* decode.c: as histogram_decode(), into an empty one, which is left in any state after an error. */
int histogram_decode_into_empty(struct histogram *h, const char *bytes, size_t len, double values_per_us,
                                struct error *err) MUST_CHECK;

/* The comment in the head of our logs: their maximum is finer than its bucket. */
#define EXACT_MAX "#[Values are microseconds, Interval_Max milliseconds]"

/* V2 as bytes. */
#define COOKIE_PLAIN UINT32_C(0x1c849313)
#define COOKIE_DEFLATED UINT32_C(0x1c849314)
#define COOKIE_WORDS UINT32_C(0x10) /* some writers leave this bit away; it says nothing in V2 */
#define HEAD_BYTES 40
#define COUNT_BYTES_MAX 9

static inline uint32_t read_be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t read_be64(const unsigned char *p)
{
    return (uint64_t)read_be32(p) << 32 | read_be32(p + 4);
}

#endif
