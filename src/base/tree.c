/* SPDX-License-Identifier: MIT */
/* Nodes in hand: messages about them, new ones, merging, setting, comparing. Reading is tree_parse.c. */
#include "tree_internal.h"

#include <stdarg.h>

#define MESSAGE_MAX ((size_t)2000)
#define INDEX_FROM 24 /* smaller maps are searched by scanning */

/* How many bytes at `p` are one harmless character; 0 when it must be escaped. */
static size_t harmless(const unsigned char *p)
{
    if (p[0] < 0x80)
        return p[0] >= 0x20 && p[0] != 0x7f;
    size_t n = (p[0] & 0xe0) == 0xc0 ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : (p[0] & 0xf8) == 0xf0 ? 4 : 0;

    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    }
    if (p[0] == 0xc2 && p[1] < 0xa1) /* C1 controls and the no-break space */
        return 0;
    if (p[0] == 0xe2 && p[1] == 0x80 &&
        (p[2] < 0x90 || (p[2] >= 0xa8 && p[2] < 0xaf))) /* separators, direction marks */
        return 0;
    if (p[0] == 0xe2 && p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9)
        return 0;
    return n;
}

/* Copies `text` escaped into buf; a copy that does not fit ends in "...". */
static void escape(const char *text, char *buf, size_t size)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t used = 0, safe = 0;

    while (*p) {
        char one[8];
        size_t n = harmless(p), width = n;
        if (n) {
            memcpy(one, p, n);
        } else {
            n = 1;
            width = (size_t)snprintf(one, sizeof(one),
                                     *p == '\n'   ? "\\n"
                                     : *p == '\t' ? "\\t"
                                                  : "\\x%02x",
                                     *p);
        }
        if (used + width >= size) {
            memcpy(buf + safe, "...", 4);
            return;
        }
        memcpy(buf + used, one, width);
        used += width;
        p += n;
        if (used + 4 <= size)
            safe = used;
    }
    buf[used] = '\0';
}

const char *text_shown(const char *text, char buf[SHOWN_SIZE])
{
    escape(text, buf, SHOWN_SIZE);
    return buf;
}

static int PRINTF_LIKE(3, 0)
    position_verror(struct error *err, struct position at, const char *fmt, va_list args)
{
    char raw[MESSAGE_MAX], clean[MESSAGE_MAX];

    (void)vsnprintf(raw, sizeof(raw), fmt, args);
    escape(raw, clean, sizeof(clean));
    if (!at.file)
        return error_set(err, ERROR_INVALID, "%s", clean);
    if (!at.line)
        return error_set(err, ERROR_INVALID, "%.1000s: %s", at.file, clean);
    return error_set(err, ERROR_INVALID, "%.1000s:%d:%d: %s", at.file, at.line, at.column, clean);
}

int position_error(struct error *err, struct position at, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    (void)position_verror(err, at, fmt, args);
    va_end(args);
    return -1;
}

int node_error(struct error *err, const struct node *where, const char *fmt, ...)
{
    struct position nowhere = {0};
    va_list args;

    va_start(args, fmt);
    (void)position_verror(err, where ? where->at : nowhere, fmt, args);
    va_end(args);
    return -1;
}

struct node *node_new(struct arena *a, enum node_kind kind, struct position at)
{
    struct node *n = arena_new_of(a, struct node);

    n->kind = kind;
    n->text = "";
    n->at = at;
    return n;
}

struct node *node_new_text(struct arena *a, const char *text, struct position at)
{
    struct node *n = node_new(a, NODE_SCALAR, at);

    n->text = arena_strdup(a, text);
    n->quoted = true;
    n->refers = strstr(text, "${") != NULL;
    return n;
}

/* Where `key` is in `map`, or len. */
static size_t find_key(const struct node *map, const char *key)
{
    size_t i = 0;

    while (i < map->len && strcmp(map->keys[i]->text, key) != 0)
        i++;
    return i;
}

const struct node *node_get(const struct node *map, const char *key)
{
    if (!map || map->kind != NODE_MAP)
        return NULL;
    size_t i = find_key(map, key);
    return i < map->len ? map->items[i] : NULL;
}

/* A map under construction that starts as a copy of `base`. */
struct growing {
    struct node *map;
    const struct node **keys, **items;
    size_t len;
    struct name_index index; /* used when base is large */
    bool indexed;
};

static void growing_start(struct growing *g, struct arena *a, const struct node *base, size_t more)
{
    bool fresh;

    *g = (struct growing){
        .map = node_new(a, NODE_MAP, base->at), .len = base->len, .indexed = base->len + more > INDEX_FROM};
    g->keys = arena_array(a, const struct node *, base->len + more);
    g->items = arena_array(a, const struct node *, base->len + more);
    for (size_t i = 0; i < base->len; i++) {
        g->keys[i] = base->keys[i];
        g->items[i] = base->items[i];
    }
    for (size_t i = 0; g->indexed && i < base->len; i++)
        (void)name_index_put(&g->index, base->keys[i]->text, i, &fresh);
}

/* Where `key` is; g->len, which it then gets, when it is new. */
static size_t growing_find(struct growing *g, const struct node *key)
{
    bool fresh;
    size_t i = 0;

    if (g->indexed)
        i = *name_index_put(&g->index, key->text, g->len, &fresh);
    else
        while (i < g->len && strcmp(g->keys[i]->text, key->text) != 0)
            i++;
    if (i == g->len) {
        g->len++;
        g->items[i] = NULL;
    }
    g->keys[i] = key;
    return i;
}

/* Leaves out what became null pointers and hands the map over. */
static const struct node *growing_end(struct growing *g)
{
    struct node *map = g->map;

    for (size_t i = 0; i < g->len; i++) {
        if (!g->items[i])
            continue;
        g->keys[map->len] = g->keys[i];
        g->items[map->len++] = g->items[i];
        map->refers |= g->items[i]->refers || g->keys[i]->refers;
    }
    map->keys = g->keys;
    map->items = g->items;
    name_index_release(&g->index);
    return map;
}

const struct node *node_merge(struct arena *a, const struct node *base, const struct node *over)
{
    struct growing g;

    if (!over)
        return base;
    if (over->kind != NODE_MAP)
        return over;
    if (!base || base->kind != NODE_MAP) {
        base = node_new(a, NODE_MAP, over->at); /* nulls below `over` go in any case */
    }
    growing_start(&g, a, base, over->len);
    for (size_t i = 0; i < over->len; i++) {
        const struct node *value = over->items[i];
        size_t at = growing_find(&g, over->keys[i]);
        g.items[at] = value->kind == NODE_NULL ? NULL : node_merge(a, g.items[at], value);
    }
    return growing_end(&g);
}

/* The next part of a path: up to a dot, with `\.` for a dot. Returns where the rest begins, or NULL at the
 * end. */
static const char *next_part(struct arena *a, const char *path, const char **ret)
{
    char *part = arena_strdup(a, path), *out = part;

    while (*path && *path != '.') {
        if (*path == '\\' && path[1] == '.')
            path++;
        *out++ = *path++;
    }
    *out = '\0';
    *ret = part;
    return *path ? path + 1 : NULL;
}

struct setting {
    struct arena *a;
    const char *path; /* whole, for messages */
    const struct node *value;
};

static int set_at(const struct setting *s, const struct node *base, const char *rest, const struct node **ret,
                  struct error *err);

static int set_in_list(const struct setting *s, const struct node *base, const char *part, const char *rest,
                       const struct node **ret, struct error *err)
{
    char shown[SHOWN_SIZE], *end;
    unsigned long index = strtoul(part, &end, 10);
    const struct node *item = NULL;

    if (part[0] < '0' || part[0] > '9' || *end || index > base->len)
        return node_error(err, base, "cannot set '%s': '%s' is not an index of this list of %zu", s->path,
                          text_shown(part, shown), base->len);
    if (set_at(s, index < base->len ? base->items[index] : NULL, rest, &item, err) < 0)
        return -1;
    struct node *list = node_new(s->a, NODE_LIST, base->at);
    list->items = arena_array(s->a, const struct node *, base->len + 1);
    for (size_t i = 0; i < base->len + 1; i++) {
        const struct node *n = i == index ? item : i < base->len ? base->items[i] : NULL;
        if (!n)
            continue;
        list->items[list->len++] = n;
        list->refers |= n->refers;
    }
    *ret = list;
    return 0;
}

/* What `base` becomes when `rest` of the path below it is set; NULL when it goes. `rest` NULL: base itself.
 */
static int set_at(const struct setting *s, const struct node *base, const char *rest, const struct node **ret,
                  struct error *err)
{
    const struct node *item = NULL;
    const char *part;
    struct growing g;

    if (!rest) {
        *ret = s->value->kind == NODE_NULL ? NULL : s->value;
        return 0;
    }
    rest = next_part(s->a, rest, &part);
    if (!*part)
        return error_set(err, ERROR_INVALID, "cannot set '%s': a part of the path is empty", s->path);
    if (base && base->kind == NODE_LIST)
        return set_in_list(s, base, part, rest, ret, err);
    if (base && base->kind == NODE_SCALAR)
        return node_error(err, base, "cannot set '%s': what is above '%s' is a value, not a map", s->path,
                          part);
    if (!base || base->kind == NODE_NULL)
        base = node_new(s->a, NODE_MAP, s->value->at);
    if (set_at(s, node_get(base, part), rest, &item, err) < 0)
        return -1;
    growing_start(&g, s->a, base, 1);
    g.items[growing_find(&g, node_new_text(s->a, part, s->value->at))] = item;
    *ret = growing_end(&g);
    return 0;
}

int node_set_path(struct arena *a, const struct node *base, const char *path, const struct node *value,
                  const struct node **ret, struct error *err)
{
    const struct setting s = {.a = a, .path = path, .value = value};
    size_t depth = 1;
    const struct node *whole = NULL;

    for (const char *p = path; *p; p++)
        depth += *p == '.';
    if (depth > TREE_MAX_DEPTH)
        return error_set(err, ERROR_INVALID, "cannot set a path of more than %d parts", TREE_MAX_DEPTH);
    if (set_at(&s, base, path, &whole, err) < 0)
        return -1;
    *ret = whole;
    return 0;
}

static bool maps_equal(const struct node *a, const struct node *b)
{
    struct name_index index = {0};
    bool same = true, fresh;

    for (size_t i = 0; i < b->len; i++)
        (void)name_index_put(&index, b->keys[i]->text, i, &fresh);
    for (size_t i = 0; same && i < a->len; i++) {
        const size_t *at = name_index_get(&index, a->keys[i]->text);
        same = at && node_equal(a->items[i], b->items[*at]);
    }
    name_index_release(&index);
    return same;
}

bool node_equal(const struct node *a, const struct node *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->kind != b->kind || a->len != b->len || strcmp(a->text, b->text) != 0)
        return false;
    if (a->kind == NODE_MAP)
        return maps_equal(a, b);
    for (size_t i = 0; i < a->len; i++) {
        if (!node_equal(a->items[i], b->items[i]))
            return false;
    }
    return true;
}
