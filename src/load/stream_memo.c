/* SPDX-License-Identifier: MIT */
#include "stream_memo.h"

uint32_t found_mask(const struct point *p)
{
    uint32_t mask = 0;

    for (int i = 0; i < SCAN_SLOTS; i++)
        mask |= (uint32_t)(p->m[i].kind != MEMBER_ABSENT) << i;
    return mask;
}

void found_set(struct found *f, const struct point *p, uint32_t mask, const char *from)
{
    f->mask = mask;
    for (uint32_t left = mask; left; left &= left - 1) {
        int slot = __builtin_ctz(left);
        f->m[slot] = p->m[slot];
        f->at[slot] = p->m[slot].kind == MEMBER_TEXT ? (uint32_t)(p->m[slot].text - from) : 0;
    }
}

/* The keys of all open objects, the innermost first; 0 when they are too many. */
static size_t write_context(const struct frame *f, char *out)
{
    size_t used = 0;

    for (; f; f = f->parent) {
        for (uint32_t i = 0; i < f->count; i++) {
            uint32_t len = f->keys[i].len;
            if (len > 250 || used + len + 2 > CONTEXT_MAX)
                return 0;
            out[used++] = (char)len;
            memcpy(out + used, f->keys[i].text, len);
            used += len;
        }
        out[used++] = (char)0xff;
        if (used == CONTEXT_MAX)
            return 0;
    }
    return used;
}

static void forget(struct memo *m)
{
    for (size_t i = 0; i < HEAD_SLOTS; i++)
        m->heads[i].len = 0;
    for (size_t i = 0; i < TAIL_SLOTS; i++)
        m->tails[i].len = 0;
    m->part.len = 0;
    m->context_count = 0;
}

int memo_context(struct memo *m, const struct frame *f)
{
    char text[CONTEXT_MAX];
    size_t len = write_context(f, text);

    if (!len)
        return -1;
    for (int i = 0; i < m->context_count; i++)
        if (m->contexts[i].len == len && memcmp(m->contexts[i].bytes, text, len) == 0)
            return i;
    if (m->context_count == CONTEXTS_MAX)
        forget(m);
    struct context *c = &m->contexts[m->context_count];
    c->len = (uint32_t)len;
    memcpy(c->bytes, text, len);
    return m->context_count++;
}

/* Keys stand before the time or behind it. */
static void copy_frame(struct head *h, struct frame *to, const struct frame *from, const char *line,
                       const char *middle)
{
    to->parent = NULL;
    to->node = from->node;
    to->depth = from->depth;
    to->count = from->count;
    for (uint32_t i = 0; i < from->count; i++) {
        const char *text = from->keys[i].text;
        bool before = !h->has_time || text < middle;
        to->keys[i] =
            (struct key){before ? h->bytes + (text - line) : h->middle + (text - middle), from->keys[i].len};
    }
}

void memo_head(struct memo *m, const struct head_parts *parts)
{
    const struct member *time = &parts->point->m[SLOT_TIME];
    bool has_time = time->kind == MEMBER_TEXT;
    const char *first_end = has_time ? time->text : parts->value;
    const char *middle = has_time ? time->text + time->len + 1 : parts->value;
    size_t len = (size_t)(first_end - parts->line), middle_len = (size_t)(parts->value - middle);
    uint32_t mask = found_mask(parts->point) & ~(1u << SLOT_VALUE) & ~(has_time ? 1u << SLOT_TIME : 0);

    if (len < HEAD_MIN || len > HEAD_MAX || middle_len > HEAD_MAX)
        return;
    for (uint32_t left = mask; left; left &= left - 1) /* a text behind the time is in no fixed place */
        if (parts->point->m[__builtin_ctz(left)].kind == MEMBER_TEXT &&
            parts->point->m[__builtin_ctz(left)].text >= first_end)
            return;
    struct head *h = &m->heads[head_slot(parts->line)];
    h->len = (uint32_t)len;
    h->middle_len = (uint32_t)middle_len;
    h->has_time = has_time;
    h->context = parts->context;
    memcpy(h->bytes, parts->line, len);
    memcpy(h->middle, middle, middle_len);
    found_set(&h->found, parts->point, mask, parts->line);
    h->levels = 0;
    for (const struct frame *f = parts->frame; f; f = f->parent)
        copy_frame(h, &h->frames[h->levels++], f, parts->line, middle);
}

static void keep(struct tail *t, int context, const char *p, size_t len, const struct point *point,
                 uint32_t mask)
{
    t->len = (uint32_t)len;
    t->context = context;
    memcpy(t->bytes, p, len);
    found_set(&t->found, point, mask, p);
}

void memo_tail(struct memo *m, int context, const char *p, size_t len, const struct point *point,
               uint32_t mask)
{
    if (len < TAIL_MIN || len > TAIL_MAX)
        return;
    uint64_t hash = tail_hash(p, len);
    size_t slot = tail_slot(hash);
    uint32_t mark = (uint32_t)(hash >> 20);
    if (m->seen[slot] == mark)
        keep(&m->tails[slot], context, p, len, point, mask);
    m->seen[slot] = mark;
}

void memo_part(struct memo *m, int context, const char *p, size_t len, const struct point *point,
               uint32_t mask)
{
    if (len >= TAIL_MIN && len <= TAIL_MAX)
        keep(&m->part, context, p, len, point, mask);
}
