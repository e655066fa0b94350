/* SPDX-License-Identifier: MIT */
/* Trees by path, kind, content and mode, across any number of members. */
#include <string.h>
#include "member.h"

#define MAX_HINT_BYTES ((git_object_size_t)8 << 20)

/* What the members have under one path. NULL where a member has nothing. */
struct row {
    const char *path;
    const struct entry **entries;
    const struct member *members;
    size_t count;
};

/* "a, b": the labels of the members that satisfy `same`. */
static const char *labels(const struct row *r, bool (*same)(const struct entry *e, const struct entry *as),
                          const struct entry *as, struct arena *a)
{
    const char *text = NULL;

    for (size_t i = 0; i < r->count; i++)
        if (same(r->entries[i], as))
            text = text ? arena_printf(a, "%s, %s", text, r->members[i].label) : r->members[i].label;
    return text ? text : "none";
}

static bool is_absent(const struct entry *e, const struct entry *as)
{
    (void)as;
    return !e;
}

static bool same_kind(const struct entry *e, const struct entry *as)
{
    return e && e->kind == as->kind;
}

static bool same_content(const struct entry *e, const struct entry *as)
{
    return e && git_oid_equal(&e->id, &as->id);
}

static bool same_mode(const struct entry *e, const struct entry *as)
{
    return e && e->executable == as->executable;
}

/* The first member's entry that is not like the first. */
static const struct entry *first_other(const struct row *r,
                                       bool (*same)(const struct entry *e, const struct entry *as),
                                       size_t *ret_index)
{
    for (size_t i = 1; i < r->count; i++) {
        if (!same(r->entries[i], r->entries[0])) {
            *ret_index = i;
            return r->entries[i];
        }
    }
    return NULL;
}

/* ---- what differs inside ---- */

/* Past one character, where CR LF is one line end. */
static size_t step(const char *text, size_t len, size_t at)
{
    return at + 1 < len && text[at] == '\r' && text[at + 1] == '\n' ? 2 : 1;
}

struct text {
    const char *bytes;
    size_t len;
};

/* Equal but for line ends? Otherwise *ret_x and *ret_y are where they first differ, and *ret_line is the
 * line. */
static bool equal_but_line_ends(struct text x, struct text y, size_t *ret_x, size_t *ret_y, int *ret_line)
{
    size_t i = 0, k = 0;

    *ret_line = 1;
    while (i < x.len && k < y.len) {
        size_t n = step(x.bytes, x.len, i), m = step(y.bytes, y.len, k);
        char a = n == 2 ? '\n' : x.bytes[i], b = m == 2 ? '\n' : y.bytes[k];
        if (a != b)
            break;
        *ret_line += a == '\n';
        i += n;
        k += m;
    }
    *ret_x = i;
    *ret_y = k;
    return i == x.len && k == y.len;
}

static struct text line_around(struct text t, size_t at)
{
    size_t from = at, to = at;

    while (from && t.bytes[from - 1] != '\n')
        from--;
    while (to < t.len && t.bytes[to] != '\n' && t.bytes[to] != '\r')
        to++;
    return (struct text){t.bytes + from, to - from};
}

static const char *describe(struct text x, struct text y, struct arena *a)
{
    size_t i, k;
    int line;

    if (memchr(x.bytes, '\0', x.len) || memchr(y.bytes, '\0', y.len))
        return arena_printf(a, " (%zu and %zu bytes)", x.len, y.len);
    if (equal_but_line_ends(x, y, &i, &k, &line))
        return " (line ends only)";
    struct text p = line_around(x, i), q = line_around(y, k);
    return arena_printf(a, " (line %d: %s / %s)", line,
                        shown_part(p.bytes, p.len, i - (size_t)(p.bytes - x.bytes), a),
                        shown_part(q.bytes, q.len, k - (size_t)(q.bytes - y.bytes), a));
}

/* What differs between two blobs, if both are there and not too large. */
static const char *hint(const struct row *r, size_t other, struct findings *f)
{
    git_blob *x = NULL, *y = NULL;
    struct error ignored = ERROR_INIT;
    const char *text = "";

    if (r->entries[0]->kind == ENTRY_SUBMODULE)
        return "";
    if (member_blob(&r->members[0], r->entries[0], &x, &ignored) == 0 &&
        member_blob(&r->members[other], r->entries[other], &y, &ignored) == 0) {
        if (git_blob_rawsize(x) <= MAX_HINT_BYTES && git_blob_rawsize(y) <= MAX_HINT_BYTES)
            text = describe((struct text){git_blob_rawcontent(x), (size_t)git_blob_rawsize(x)},
                            (struct text){git_blob_rawcontent(y), (size_t)git_blob_rawsize(y)}, f->arena);
    } else if (ignored.kind == ERROR_NOT_FOUND) {
        f->without_content = true;
    }
    git_blob_free(x);
    git_blob_free(y);
    return text;
}

/* ---- rows ---- */

/* "1f3a2b4c in a, b; 9c0b1d2e in c": each id that occurs with its members. */
static const char *groups(const struct row *r, struct arena *a)
{
    const char *text = NULL;
    char hex[12];

    for (size_t i = 0; i < r->count; i++) {
        bool seen = false;
        for (size_t k = 0; k < i; k++)
            seen = seen || git_oid_equal(&r->entries[k]->id, &r->entries[i]->id);
        if (seen)
            continue;
        const char *group = arena_printf(a, "%s in %s", short_id(&r->entries[i]->id, hex),
                                         labels(r, same_content, r->entries[i], a));
        text = text ? arena_printf(a, "%s; %s", text, group) : group;
    }
    return text;
}

static void compare_row(const struct row *r, struct findings *f)
{
    static const char *const kinds[] = {"a file", "a link", "a submodule"};
    const struct entry *first = r->entries[0];
    size_t other = 0;

    f->compared++;
    for (size_t i = 0; i < r->count; i++) {
        if (!r->entries[i]) {
            finding(f, false, r->path, "missing in %s", labels(r, is_absent, NULL, f->arena));
            return;
        }
    }
    const struct entry *e = first_other(r, same_kind, &other);
    if (e) {
        finding(f, false, r->path, "%s in %s, but %s in %s", kinds[first->kind],
                labels(r, same_kind, first, f->arena), kinds[e->kind], labels(r, same_kind, e, f->arena));
        return;
    }
    if (first_other(r, same_content, &other))
        finding(f, false, r->path, "%s differs: %s%s",
                first->kind == ENTRY_SUBMODULE ? "pinned commit"
                : first->kind == ENTRY_LINK    ? "link"
                                               : "content",
                groups(r, f->arena), hint(r, other, f));
    e = first_other(r, same_mode, &other);
    if (e)
        finding(f, true, r->path, "mode only: executable in %s, not in %s",
                labels(r, same_mode, first->executable ? first : e, f->arena),
                labels(r, same_mode, first->executable ? e : first, f->arena));
}

/* The least path that any member has at its cursor, or NULL at the end of all. */
static const char *least_path(const struct member *members, const size_t *cursors, size_t count)
{
    const char *least = NULL;

    for (size_t i = 0; i < count; i++) {
        const char *path = cursors[i] < members[i].len ? members[i].entries[cursors[i]].path : NULL;
        if (path && (!least || strcmp(path, least) < 0))
            least = path;
    }
    return least;
}

/* A member that is one file may be called differently in each place. */
static bool all_single(const struct member *members, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (members[i].len != 1 || !git_oid_equal(&members[i].object, &members[i].entries[0].id))
            return false;
    return true;
}

void compare_blobs(const struct member *members, size_t count, struct findings *f)
{
    CLEANUP_FREE size_t *cursors = xcalloc(count, sizeof(*cursors));
    CLEANUP_FREE const struct entry **entries = xcalloc(count, sizeof(*entries));
    struct row r = {.entries = entries, .members = members, .count = count};

    if (all_single(members, count)) {
        for (size_t i = 0; i < count; i++)
            entries[i] = &members[i].entries[0];
        r.path = entries[0]->path;
        compare_row(&r, f);
        return;
    }
    while ((r.path = least_path(members, cursors, count))) {
        for (size_t i = 0; i < count; i++) {
            const struct entry *e = cursors[i] < members[i].len ? &members[i].entries[cursors[i]] : NULL;
            entries[i] = e && strcmp(e->path, r.path) == 0 ? e : NULL;
            cursors[i] += entries[i] != NULL;
        }
        compare_row(&r, f);
    }
}
