/* SPDX-License-Identifier: MIT */
/*
 * What a scanner remembers of lines. A line is three parts: what stands before its value (the head, with the
 * time in it), the value, and the rest (tags). Heads and rests repeat. The same bytes in the same place mean
 * the same, so that what is remembered needs no second look: a head is remembered with the objects that are
 * open behind it, a rest with the keys that were there before it (its context).
 */
#ifndef BENCHCTL_LOAD_STREAM_MEMO_H
#define BENCHCTL_LOAD_STREAM_MEMO_H

#include "stream_scan.h"

#define KEYS_MAX 32 /* per object */
#define LEVELS_MAX (SCAN_STEPS_MAX + 1)
#define HEAD_SLOTS 256 /* powers of two */
#define TAIL_SLOTS 256
#define HEAD_MIN 32
#define HEAD_MAX 192
#define TAIL_MIN 32
#define TAIL_MAX 768
#define CONTEXTS_MAX 16
#define CONTEXT_MAX 192

struct key {
    const char *text;
    uint32_t len;
};

/* An object that is open. */
struct frame {
    struct frame *parent;
    int node, depth;
    uint32_t count;
    struct key keys[KEYS_MAX];
};

/* Wanted members within some bytes: texts begin `at` bytes behind the first. */
struct found {
    uint32_t mask; /* bit per slot */
    struct member m[SCAN_SLOTS];
    uint32_t at[SCAN_SLOTS];
};

/* `len` bytes, then (with a time) its text up to the quote, then `middle_len` bytes, then the value. */
struct head {
    uint32_t len, middle_len;
    bool has_time;
    int context, levels;
    struct found found;
    char bytes[HEAD_MAX], middle[HEAD_MAX];
    struct frame frames[LEVELS_MAX]; /* the innermost first; parents are not set */
};

/* All that follows a value; or, as a part, up to the end of the object that it is in. */
struct tail {
    uint32_t len;
    int context;
    struct found found;
    char bytes[TAIL_MAX];
};

struct context {
    uint32_t len;
    char bytes[CONTEXT_MAX];
};

struct memo {
    struct head heads[HEAD_SLOTS];
    struct tail tails[TAIL_SLOTS];
    uint32_t seen[TAIL_SLOTS]; /* mark of what came last: kept when it comes again */
    struct tail part;
    struct context contexts[CONTEXTS_MAX];
    int context_count;
};

uint32_t found_mask(const struct point *p);
/* The members of `p` that `mask` names, in texts behind `from`. */
void found_set(struct found *f, const struct point *p, uint32_t mask, const char *from);

static inline void found_get(const struct found *f, struct point *p, const char *from)
{
    for (uint32_t left = f->mask; left; left &= left - 1) {
        int slot = __builtin_ctz(left);
        p->m[slot] = f->m[slot];
        p->m[slot].text = from + f->at[slot];
    }
}

#define CONTEXT_LINE (-2) /* the beginning of a line: for whole lines without a value */
/* -1: the keys are too many. When contexts run out everything is forgotten. */
int memo_context(struct memo *m, const struct frame *f);

/* What stands between `line` and the value; the time's text, if there is one, is point's. */
struct head_parts {
    const char *line, *value;
    const struct point *point;
    const struct frame *frame;
    int context;
};
void memo_head(struct memo *m, const struct head_parts *parts);
#define MEMO_MIX UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t word_at(const char *p)
{
    uint64_t w;

    memcpy(&w, p, sizeof(w));
    return w;
}

static inline size_t head_slot(const char *line)
{
    uint64_t h = word_at(line + 8) * 3 + word_at(line + 16) * 5 + word_at(line + 24) * 7;

    return h * MEMO_MIX >> 56 & (HEAD_SLOTS - 1);
}

/* The only one that can be this line's, or NULL. */
static inline const struct head *memo_find_head(const struct memo *m, const char *line, size_t len)
{
    if (len < HEAD_MIN)
        return NULL;
    const struct head *h = &m->heads[head_slot(line)];
    return h->len && h->len <= len && memcmp(h->bytes, line, h->len) == 0 ? h : NULL;
}

static inline uint64_t tail_hash(const char *p, size_t len)
{
    uint64_t h = len + word_at(p + len - 16) * 3 + word_at(p + len / 2) * 5 + word_at(p + len / 4) * 7 +
                 word_at(p + len / 4 * 3 - 4) * 11;

    return h * MEMO_MIX;
}

static inline size_t tail_slot(uint64_t hash)
{
    return hash >> 56 & (TAIL_SLOTS - 1);
}

/* NULL when the rest at p is not known. */
static inline const struct tail *memo_find_tail(const struct memo *m, int context, const char *p, size_t len)
{
    if (len < TAIL_MIN || len > TAIL_MAX)
        return NULL;
    const struct tail *t = &m->tails[tail_slot(tail_hash(p, len))];
    return t->len == len && t->context == context && memcmp(t->bytes, p, len) == 0 ? t : NULL;
}

/* Remembers what it is asked to a second time: many rests come only once. */
void memo_tail(struct memo *m, int context, const char *p, size_t len, const struct point *point,
               uint32_t mask);
static inline bool memo_is_part(const struct memo *m, int context, const char *p, size_t len)
{
    const struct tail *t = &m->part;

    return t->len && t->len <= len && t->context == context && memcmp(t->bytes, p, t->len) == 0;
}
void memo_part(struct memo *m, int context, const char *p, size_t len, const struct point *point,
               uint32_t mask);

#endif
