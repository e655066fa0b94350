/* SPDX-License-Identifier: MIT */
/* The wanted members by the JSON parser, and the tree of their names. */
#include "stream_scan.h"

#include <math.h>

static int bad_pointer(const char *pointer, const char *why, struct error *err)
{
    return error_set(err, ERROR_INVALID, "'%s' cannot be read from a stream: %s", pointer, why);
}

static int child_named(struct scan_paths *p, int node, const char *key, size_t len)
{
    int *link = &p->nodes[node].child;

    while (*link >= 0 && (p->nodes[*link].len != len || memcmp(p->nodes[*link].key, key, len) != 0))
        link = &p->nodes[*link].next;
    if (*link < 0) {
        *link = p->count;
        p->nodes[p->count++] = (struct scan_node){key, (uint32_t)len, -1, -1, -1};
    }
    return *link;
}

static int add_pointer(struct scan_paths *p, int slot, const char *pointer, struct error *err)
{
    int node = 0, steps = 0;

    if (pointer[0] != '/' || strchr(pointer, '~') || strchr(pointer, '['))
        return bad_pointer(pointer, "it is not a '/' and a name, one or several times", err);
    for (const char *name = pointer; *name == '/'; steps++) {
        size_t len = strcspn(++name, "/");
        if (steps == SCAN_STEPS_MAX)
            return bad_pointer(pointer, "it has more than 4 steps", err);
        if (!len || strspn(name, "0123456789") == len)
            return bad_pointer(pointer, "a step is no name", err);
        node = child_named(p, node, name, len);
        name += len;
    }
    if (p->nodes[node].slot >= 0)
        return bad_pointer(pointer, "it is used twice", err);
    p->nodes[node].slot = slot;
    p->pointers[slot] = pointer;
    return 0;
}

int scan_paths_init(struct scan_paths *p, const char *const pointers[SCAN_SLOTS], struct error *err)
{
    *p = (struct scan_paths){.count = 1, .nodes[0] = {.slot = -1, .child = -1, .next = -1}};
    for (int i = 0; i < SCAN_SLOTS; i++)
        if (pointers[i] && add_pointer(p, i, pointers[i], err) < 0)
            return -1;
    return 0;
}

static struct member member_of(const struct json *j)
{
    struct member m = {.kind = MEMBER_OTHER};

    if (json_type_of(j) == JSON_TYPE_TEXT) {
        m.kind = MEMBER_TEXT;
        m.text = json_text(j);
        m.len = strlen(m.text);
    } else if (json_type_of(j) == JSON_TYPE_NUMBER) {
        m.kind = MEMBER_NUMBER;
        m.number = json_number(j);
    }
    return m;
}

int full_line(const struct scan_paths *paths, const char *line, size_t len, struct json **ret_json,
              struct point *ret, struct error *err)
{
    CLEANUP(json_free) struct json *j = NULL;

    if (json_parse(line, len, "line", &j, err) < 0)
        return -1;
    for (int i = 0; i < SCAN_SLOTS; i++) {
        const struct json *found = paths->pointers[i] ? json_pointer(j, paths->pointers[i]) : NULL;
        ret->m[i] = found ? member_of(found) : (struct member){.kind = MEMBER_ABSENT};
    }
    *ret_json = TAKE(j);
    return 0;
}
