/* SPDX-License-Identifier: MIT */
/*
 * The scanner. Most of a line is what follows its value (tags), and that repeats: once the value is read, the
 * rest of the line is compared with what was seen before after the same keys. The same bytes in the same
 * place mean the same, so a remembered rest needs no second look; another one is scanned and remembered.
 */
#include "stream_scan.h"

#include <assert.h>

#define DEPTH_MAX 16
#define KEYS_MAX 32    /* per object */
#define TAIL_SLOTS 256 /* a power of two */
#define TAIL_MIN 32
#define TAIL_MAX 768
#define CONTEXT_MAX 192 /* bytes of the keys before a rest */

struct key {
    const char *text;
    uint32_t len;
};

struct frame {
    const struct frame *parent;
    int node, depth;
    uint32_t count;
    struct key keys[KEYS_MAX];
};

/* The rest of a line, the keys of the open objects before it, and the wanted members in it. */
struct tail {
    uint32_t len, context_len;
    uint32_t found; /* bit per slot */
    struct member m[SCAN_SLOTS];
    char context[CONTEXT_MAX];
    char bytes[TAIL_MAX];
};

struct scanner {
    const struct scan_paths *paths;
    const char *end, *limit;
    struct point *point;
    const char *anchor; /* where the rest begins that is to be remembered; NULL: none */
    uint32_t found_before, context_len;
    char context[CONTEXT_MAX];
    bool done; /* a remembered rest ends the line */
    struct tail tails[TAIL_SLOTS];
};

struct scanner *scanner_new(const struct scan_paths *paths)
{
    struct scanner *s = xcalloc(1, sizeof(*s));

    s->paths = paths;
    return s;
}

void scanner_free(struct scanner *s)
{
    free(s);
}

static inline uint64_t word_at(const char *p)
{
    uint64_t w;

    memcpy(&w, p, sizeof(w));
    return w;
}

static inline struct tail *tail_of(struct scanner *s, const char *p, size_t len)
{
    uint64_t h = len + word_at(p + len - 16) * 3 + word_at(p + len / 2) * 5 + word_at(p + len / 4) * 7 +
                 word_at(p + len / 4 * 3 - 4) * 11;

    h *= UINT64_C(0x9e3779b97f4a7c15);
    return &s->tails[h >> 56 & (TAIL_SLOTS - 1)];
}

/* The keys of all open objects, the innermost first; the number of bytes, or 0 when they are too many. */
static size_t write_context(const struct frame *f, char *out)
{
    size_t used = 0;

    for (; f; f = f->parent) {
        for (uint32_t i = 0; i < f->count; i++) {
            if (f->keys[i].len > 250 || used + f->keys[i].len + 2 > CONTEXT_MAX)
                return 0;
            out[used++] = (char)f->keys[i].len;
            memcpy(out + used, f->keys[i].text, f->keys[i].len);
            used += f->keys[i].len;
        }
        out[used++] = (char)0xff;
        if (used == CONTEXT_MAX)
            return 0;
    }
    return used;
}

static bool same_context(const struct frame *f, const struct tail *t)
{
    const char *c = t->context, *end = t->context + t->context_len;

    for (; f; f = f->parent) {
        for (uint32_t i = 0; i < f->count; i++) {
            uint32_t len = f->keys[i].len;
            if (len > 250 || (size_t)(end - c) < len + 2 || *c != (char)len ||
                memcmp(c + 1, f->keys[i].text, len) != 0)
                return false;
            c += len + 1;
        }
        if (c == end || *c++ != (char)0xff)
            return false;
    }
    return c == end;
}

static uint32_t found_of(const struct point *p)
{
    uint32_t found = 0;

    for (int i = 0; i < SCAN_SLOTS; i++)
        found |= (uint32_t)(p->m[i].kind != MEMBER_ABSENT) << i;
    return found;
}

/* Behind the value, with `f` the object that it is in: is the rest known? Else it will be. */
static void at_anchor(struct scanner *s, const char *p, const struct frame *f)
{
    size_t len = (size_t)(s->end - p);

    if (len < TAIL_MIN || len > TAIL_MAX)
        return;
    struct tail *t = tail_of(s, p, len);
    if (t->len == len && same_context(f, t) && memcmp(t->bytes, p, len) == 0) {
        for (uint32_t left = t->found; left; left &= left - 1) {
            int slot = __builtin_ctz(left);
            s->point->m[slot] = t->m[slot];
        }
        s->done = true;
        return;
    }
    s->context_len = (uint32_t)write_context(f, s->context);
    s->found_before = found_of(s->point);
    s->anchor = s->context_len ? p : NULL;
}

static void remember(struct scanner *s)
{
    size_t len = (size_t)(s->end - s->anchor);
    struct tail *t = tail_of(s, s->anchor, len);

    t->len = (uint32_t)len;
    memcpy(t->bytes, s->anchor, len);
    t->context_len = s->context_len;
    memcpy(t->context, s->context, s->context_len);
    t->found = found_of(s->point) & ~s->found_before;
    for (int i = 0; i < SCAN_SLOTS; i++) {
        if (!(t->found >> i & 1))
            continue;
        t->m[i] = s->point->m[i];
        if (t->m[i].kind == MEMBER_TEXT)
            t->m[i].text = t->bytes + (t->m[i].text - s->anchor);
    }
}

static inline const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    return p;
}

static const char *scan_value(struct scanner *s, const char *p, int node, const struct frame *f);

/* Is the key new in its object? */
static inline bool add_key(struct frame *f, const char *text, size_t len)
{
    if (f->count == KEYS_MAX)
        return false;
    for (uint32_t i = 0; i < f->count; i++)
        if (f->keys[i].len == len && memcmp(f->keys[i].text, text, len) == 0)
            return false;
    f->keys[f->count++] = (struct key){text, (uint32_t)len};
    return true;
}

static inline int child_of(const struct scan_paths *paths, int node, const char *key, size_t len)
{
    int child = node < 0 ? -1 : paths->nodes[node].child;

    while (child >= 0 && (paths->nodes[child].len != len || memcmp(paths->nodes[child].key, key, len) != 0))
        child = paths->nodes[child].next;
    return child;
}

/* From behind '{' to behind '}'. */
static const char *scan_object(struct scanner *s, const char *p, int node, const struct frame *parent)
{
    struct frame f;
    bool plain;

    f.parent = parent;
    f.node = node;
    f.depth = parent ? parent->depth + 1 : 0;
    f.count = 0;
    p = skip_blanks(p);
    if (*p == '}')
        return p + 1;
    for (;;) {
        if (*p++ != '"')
            return NULL;
        const char *key = p;
        p = token_string(p, s->limit, &plain);
        if (!p || !plain)
            return NULL;
        size_t len = (size_t)(p - key) - 1;
        if (!add_key(&f, key, len))
            return NULL;
        p = skip_blanks(p);
        if (*p++ != ':')
            return NULL;
        p = scan_value(s, skip_blanks(p), child_of(s->paths, node, key, len), &f);
        if (!p || s->done)
            return p;
        p = skip_blanks(p);
        if (*p == '}')
            return p + 1;
        if (*p++ != ',')
            return NULL;
        p = skip_blanks(p);
    }
}

/* From behind '[' to behind ']'; nothing in it is wanted, for no step of a pointer is an index. */
static const char *scan_array(struct scanner *s, const char *p, const struct frame *parent)
{
    const struct frame f = {.parent = parent, .node = -1, .depth = parent->depth + 1};

    p = skip_blanks(p);
    if (*p == ']')
        return p + 1;
    for (;;) {
        p = scan_value(s, p, -1, &f);
        if (!p)
            return NULL;
        p = skip_blanks(p);
        if (*p == ']')
            return p + 1;
        if (*p++ != ',')
            return NULL;
        p = skip_blanks(p);
    }
}

static const char *scan_word(const char *p, const char *end)
{
    size_t left = (size_t)(end - p);

    if (left >= 4 && (memcmp(p, "true", 4) == 0 || memcmp(p, "null", 4) == 0))
        return p + 4;
    return left >= 5 && memcmp(p, "false", 5) == 0 ? p + 5 : NULL;
}

static const char *scan_text(struct scanner *s, const char *p, struct member *m)
{
    bool plain;
    const char *end = token_string(p, s->limit, &plain);

    if (end && m) {
        if (!plain)
            return NULL;
        *m = (struct member){.kind = MEMBER_TEXT, .text = p, .len = (size_t)(end - p) - 1};
    }
    return end;
}

static const char *scan_value(struct scanner *s, const char *p, int node, const struct frame *f)
{
    int slot = node < 0 ? -1 : s->paths->nodes[node].slot;
    struct member *m = slot < 0 ? NULL : &s->point->m[slot];

    switch (*p) {
    case '"':
        return scan_text(s, p + 1, m);
    case '{':
        if (f->depth >= DEPTH_MAX)
            return NULL;
        if (m)
            m->kind = MEMBER_OTHER;
        return scan_object(s, p + 1, node, f);
    case '[':
        if (f->depth >= DEPTH_MAX)
            return NULL;
        if (m)
            m->kind = MEMBER_OTHER;
        return scan_array(s, p + 1, f);
    case 't':
    case 'f':
    case 'n':
        if (m)
            m->kind = MEMBER_OTHER;
        return scan_word(p, s->end);
    default:
        p = token_number(p, m ? &m->number : NULL);
        if (m)
            m->kind = MEMBER_NUMBER;
        if (p && slot == SLOT_VALUE)
            at_anchor(s, p, f);
        return p;
    }
}

bool scan_line(struct scanner *s, const char *line, size_t len, const char *limit, struct point *ret)
{
    assert(line[len] == '\n' && limit > line + len);
    s->end = line + len;
    s->limit = limit;
    s->point = ret;
    s->anchor = NULL;
    s->done = false;
    for (int i = 0; i < SCAN_SLOTS; i++)
        ret->m[i].kind = MEMBER_ABSENT;
    const char *p = skip_blanks(line);
    if (*p != '{')
        return false;
    p = scan_object(s, p + 1, 0, NULL);
    if (p && s->done)
        return true;
    if (!p || skip_blanks(p) != s->end)
        return false;
    if (s->anchor)
        remember(s);
    return true;
}
