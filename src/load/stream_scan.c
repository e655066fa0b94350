/* SPDX-License-Identifier: MIT */
/* The scanner: strict, and with a memory of what most lines have in common (stream_memo.h). */
#include "stream_memo.h"

#include <assert.h>

#define DEPTH_MAX 16

struct scanner {
    const struct scan_paths *paths;
    const char *line, *end, *limit;
    struct point *point;
    const char *anchor; /* behind the value, when what follows is to be remembered */
    const struct frame *anchor_frame;
    int context;
    uint32_t found_before;      /* the anchor */
    const struct frame *closed; /* a remembered part ended this object */
    bool done;                  /* a remembered rest ended the line */
    struct memo memo;
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

/* Behind the value: is what follows known? Else it will be. Where to go on. */
static const char *after_value(struct scanner *s, const char *p, const struct frame *f)
{
    size_t left = (size_t)(s->end - p);
    const struct tail *t = memo_find_tail(&s->memo, s->context, p, left);

    if (t) {
        found_get(&t->found, s->point, p);
        s->done = true;
        return s->end;
    }
    s->anchor = p;
    s->anchor_frame = f;
    s->found_before = found_mask(s->point);
    if (!memo_is_part(&s->memo, s->context, p, left))
        return p;
    found_get(&s->memo.part.found, s->point, p);
    s->closed = f;
    return p + s->memo.part.len;
}

/* The value at `value` ends at p, and `f` is the object that it is in. */
static const char *at_value_end(struct scanner *s, const char *value, const char *p, const struct frame *f)
{
    s->context = memo_context(&s->memo, f);
    if (s->context < 0)
        return p;
    memo_head(&s->memo,
              &(struct head_parts){
                  .line = s->line, .value = value, .point = s->point, .frame = f, .context = s->context});
    return after_value(s, p, f);
}

/* Behind the closing brace of `f`. */
static void at_object_end(struct scanner *s, const struct frame *f, const char *p)
{
    if (s->anchor && s->anchor_frame == f)
        memo_part(&s->memo, s->context, s->anchor, (size_t)(p - s->anchor), s->point,
                  found_mask(s->point) & ~s->found_before);
}

static inline const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    return p;
}

static const char *scan_value(struct scanner *s, const char *p, int node, struct frame *f);

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

/* One key and its value. */
static const char *scan_member(struct scanner *s, const char *p, struct frame *f)
{
    bool plain;

    if (*p++ != '"')
        return NULL;
    const char *key = p;
    p = token_string(p, s->limit, &plain);
    if (!p || !plain)
        return NULL;
    size_t len = (size_t)(p - key) - 1;
    if (!add_key(f, key, len))
        return NULL;
    p = skip_blanks(p);
    if (*p++ != ':')
        return NULL;
    return scan_value(s, skip_blanks(p), child_of(s->paths, f->node, key, len), f);
}

/* From behind a member to behind the object's '}'. */
static const char *scan_rest(struct scanner *s, const char *p, struct frame *f)
{
    for (;;) {
        if (!p || s->done)
            return p;
        if (s->closed == f) {
            s->closed = NULL;
            return p;
        }
        p = skip_blanks(p);
        if (*p == '}') {
            at_object_end(s, f, p + 1);
            return p + 1;
        }
        if (*p++ != ',')
            return NULL;
        p = scan_member(s, skip_blanks(p), f);
    }
}

/* From behind '{' to behind '}'. */
static const char *scan_object(struct scanner *s, const char *p, int node, struct frame *parent)
{
    struct frame f;

    f.parent = parent;
    f.node = node;
    f.depth = parent ? parent->depth + 1 : 0;
    f.count = 0;
    p = skip_blanks(p);
    if (*p == '}')
        return p + 1;
    return scan_rest(s, scan_member(s, p, &f), &f);
}

/* From behind '[' to behind ']'; nothing in it is wanted, for no step of a pointer is an index. */
static const char *scan_array(struct scanner *s, const char *p, struct frame *parent)
{
    struct frame f;

    f.parent = parent;
    f.node = -1;
    f.depth = parent->depth + 1;
    f.count = 0;

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

static const char *scan_value(struct scanner *s, const char *p, int node, struct frame *f)
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
        break;
    }
    const char *end = token_number(p, m ? &m->number : NULL);
    if (!end || !m)
        return end;
    m->kind = MEMBER_NUMBER;
    return slot == SLOT_VALUE ? at_value_end(s, p, end, f) : end;
}

/* Goes on in the objects that are open behind a remembered head. */
static const char *scan_behind(struct scanner *s, const char *p, const struct head *h)
{
    struct frame frames[LEVELS_MAX];

    for (int i = 0; i < h->levels; i++) {
        const struct frame *from = &h->frames[i];
        frames[i].parent = i + 1 < h->levels ? &frames[i + 1] : NULL;
        frames[i].node = from->node;
        frames[i].depth = from->depth;
        frames[i].count = from->count;
        memcpy(frames[i].keys, from->keys, from->count * sizeof(from->keys[0]));
    }
    p = after_value(s, p, &frames[0]);
    for (int i = 0; i < h->levels && p && !s->done; i++)
        p = scan_rest(s, p, &frames[i]);
    s->anchor_frame = NULL;
    return p;
}

/* By a remembered head; NULL when the line is not like that. */
static const char *scan_by_head(struct scanner *s, const struct head *h)
{
    const char *p = s->line + h->len;
    struct member *time = &s->point->m[SLOT_TIME], *value = &s->point->m[SLOT_VALUE];
    bool plain;

    if (h->has_time) {
        const char *end = token_string(p, s->limit, &plain);
        if (!end || !plain || (size_t)(s->end - end) < h->middle_len ||
            memcmp(end, h->middle, h->middle_len) != 0)
            return NULL;
        *time = (struct member){.kind = MEMBER_TEXT, .text = p, .len = (size_t)(end - p) - 1};
        p = end + h->middle_len;
    }
    p = token_number(p, &value->number);
    if (!p)
        return NULL;
    value->kind = MEMBER_NUMBER;
    found_get(&h->found, s->point, s->line);
    s->context = h->context;
    return scan_behind(s, p, h);
}

static void begin(struct scanner *s)
{
    s->anchor = NULL;
    s->anchor_frame = NULL;
    s->closed = NULL;
    s->done = false;
    for (int i = 0; i < SCAN_SLOTS; i++)
        s->point->m[i].kind = MEMBER_ABSENT;
}

/* A whole line without a value that was there before. */
static bool is_known_line(struct scanner *s)
{
    const struct tail *t = memo_find_tail(&s->memo, CONTEXT_LINE, s->line, (size_t)(s->end - s->line));

    if (t)
        found_get(&t->found, s->point, s->line);
    return t != NULL;
}

/* What it teaches: the rest behind its value, or all of it. */
static void remember(struct scanner *s)
{
    const char *from = s->anchor ? s->anchor : s->line;
    uint32_t mask = found_mask(s->point);

    if (s->anchor)
        memo_tail(&s->memo, s->context, from, (size_t)(s->end - from), s->point, mask & ~s->found_before);
    else if (s->point->m[SLOT_VALUE].kind == MEMBER_ABSENT)
        memo_tail(&s->memo, CONTEXT_LINE, from, (size_t)(s->end - from), s->point, mask);
}

bool scan_line(struct scanner *s, const char *line, size_t len, const char *limit, struct point *ret)
{
    assert(line[len] == '\n' && limit > line + len);
    s->line = line;
    s->end = line + len;
    s->limit = limit;
    s->point = ret;
    begin(s);
    const struct head *h = memo_find_head(&s->memo, line, len);
    const char *p = h ? scan_by_head(s, h) : NULL;
    if (!p) {
        begin(s);
        if (is_known_line(s))
            return true;
        p = skip_blanks(line);
        p = *p == '{' ? scan_object(s, p + 1, 0, NULL) : NULL;
    }
    if (!p || s->done)
        return p != NULL;
    if (skip_blanks(p) != s->end)
        return false;
    remember(s);
    return true;
}
