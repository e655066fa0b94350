/* SPDX-License-Identifier: MIT */
/* Named string constants by name, value and order, across any number of members. */
#include <string.h>
#include "member.h"

/* The constants of one member; `nth` counts a name that occurs several times. */
struct side {
    const struct member *member;
    struct source_constant *list;
    size_t *nth, *sorted; /* by list index; list indexes by name */
    size_t len;
};

int member_sources(const struct member *m, struct arena *a, struct parity_source **ret, size_t *ret_len,
                   struct error *err)
{
    struct parity_source *sources = arena_array(a, struct parity_source, m->len + 1);
    size_t n = 0;

    for (size_t i = 0; i < m->len; i++) {
        const struct entry *e = &m->entries[i];
        git_blob *blob = NULL;
        if (e->kind != ENTRY_FILE || !parity_source_known(e->path))
            continue;
        if (member_blob(m, e, &blob, err) < 0)
            return -1;
        size_t len = (size_t)git_blob_rawsize(blob);
        sources[n++] = (struct parity_source){e->path, arena_copy(a, git_blob_rawcontent(blob), len), len};
        git_blob_free(blob);
    }
    *ret = sources;
    *ret_len = n;
    return 0;
}

static int by_name(const void *a, const void *b, void *list)
{
    const struct source_constant *all = list;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int order = strcmp(all[x].name, all[y].name);

    return order ? order : (x > y) - (x < y);
}

/* Sorts by name and counts the occurrences of each. */
static void make_index(struct side *s, struct arena *a)
{
    s->sorted = arena_array(a, size_t, s->len + 1);
    s->nth = arena_array(a, size_t, s->len + 1);
    for (size_t i = 0; i < s->len; i++)
        s->sorted[i] = i;
    qsort_r(s->sorted, s->len, sizeof(*s->sorted), by_name, s->list);
    for (size_t i = 1; i < s->len; i++)
        if (strcmp(s->list[s->sorted[i]].name, s->list[s->sorted[i - 1]].name) == 0)
            s->nth[s->sorted[i]] = s->nth[s->sorted[i - 1]] + 1;
}

/* Strings that are not constant and were not asked for by name are left out, and named in the note. */
static void leave_out(struct side *s, struct findings *f)
{
    size_t n = 0;

    for (size_t i = 0; i < s->len; i++) {
        const struct source_constant *c = &s->list[i];
        if (!c->problem || s->member->settings->match) {
            s->list[n++] = *c;
            continue;
        }
        const char *text = arena_printf(f->arena, "%s (%s %s:%d: %s)", c->name, s->member->label, c->file,
                                        c->line, c->problem);
        f->left_out = f->left_out ? arena_printf(f->arena, "%.2000s, %s", f->left_out, text) : text;
    }
    s->len = n;
}

static int read_side(struct side *s, const struct member *m, struct findings *f, struct error *err)
{
    struct parity_source *sources;
    const char *match = m->settings->match;
    size_t count;

    s->member = m;
    if (member_sources(m, f->arena, &sources, &count, err) < 0)
        return -1;
    if (!count)
        return error_set(err, ERROR_PARITY, "'%s' of %s holds no source in a known language",
                         m->settings->path, m->label);
    if (parity_scan_constants(sources, count, match, f->arena, &s->list, &s->len, err) < 0)
        return error_wrap(err, "%s", m->label);
    leave_out(s, f);
    if (!s->len)
        return match ? error_set(err, ERROR_PARITY, "no string constant of '%s' in %s matches '%s'",
                                 m->settings->path, m->label, match)
                     : error_set(err, ERROR_PARITY, "'%s' of %s has no string constant", m->settings->path,
                                 m->label);
    make_index(s, f->arena);
    return 0;
}

/* The constant of that name and occurrence; NULL when there is none. */
static const struct source_constant *find(const struct side *s, const char *name, size_t nth,
                                          size_t *ret_index)
{
    size_t low = 0, high = s->len;

    while (low < high) {
        size_t middle = low + (high - low) / 2, at = s->sorted[middle];
        int order = strcmp(s->list[at].name, name);
        if (order < 0 || (order == 0 && s->nth[at] < nth))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == s->len || s->nth[s->sorted[low]] != nth || strcmp(s->list[s->sorted[low]].name, name) != 0)
        return NULL;
    *ret_index = s->sorted[low];
    return &s->list[*ret_index];
}

static size_t first_difference(const struct source_constant *x, const struct source_constant *y)
{
    size_t at = 0;

    while (at < x->value_len && at < y->value_len && x->value[at] == y->value[at])
        at++;
    while (at && ((unsigned char)x->value[at] & 0xc0) == 0x80) /* not inside a character */
        at--;
    return at;
}

/* The next character, with a run of blanks as one ' ' and none at the end; '\0' at the end. */
static char next_character(const char **p)
{
    size_t n = strspn(*p, " \t\r\n");

    *p += n;
    if (n && **p)
        return ' ';
    return **p ? *(*p)++ : '\0';
}

/* Are the values the same but for the length and kind of blanks, and those at the ends? */
static bool equal_but_blanks(const struct source_constant *x, const struct source_constant *y)
{
    const char *p = x->value + strspn(x->value, " \t\r\n"), *q = y->value + strspn(y->value, " \t\r\n");
    char c;

    do {
        c = next_character(&p);
        if (c != next_character(&q))
            return false;
    } while (c);
    return true;
}

static void compare_values(const struct side *x, const struct source_constant *a, const struct side *y,
                           const struct source_constant *b, struct findings *f)
{
    if (a->value_len == b->value_len && memcmp(a->value, b->value, a->value_len) == 0)
        return;
    size_t at = first_difference(a, b);
    finding(f, false, a->name, "value differs at byte %zu%s: %s in %s (%s:%d), %s in %s (%s:%d)", at,
            equal_but_blanks(a, b) ? " (blanks only)" : "", shown_part(a->value, a->value_len, at, f->arena),
            x->member->label, a->file, a->line, shown_part(b->value, b->value_len, at, f->arena),
            y->member->label, b->file, b->line);
}

/* Each constant of the first side against another side's. */
static void compare_pair(const struct side *x, const struct side *y, struct findings *f)
{
    size_t at;

    for (size_t i = 0; i < x->len; i++) {
        const struct source_constant *a = &x->list[i], *b = find(y, a->name, x->nth[i], &at);
        if (!b)
            finding(f, false, a->name, "missing in %s (%s %s:%d has it)", y->member->label, x->member->label,
                    a->file, a->line);
        else if (!a->problem && !b->problem)
            compare_values(x, a, y, b, f);
    }
    for (size_t i = 0; i < y->len; i++)
        if (!find(x, y->list[i].name, y->nth[i], &at))
            finding(f, false, y->list[i].name, "missing in %s (%s %s:%d has it)", x->member->label,
                    y->member->label, y->list[i].file, y->list[i].line);
}

/* The constants that both have come in the same order. */
static void compare_order(const struct side *x, const struct side *y, struct findings *f)
{
    size_t last = 0, at = 0;
    const struct source_constant *before = NULL;

    for (size_t i = 0; i < x->len; i++) {
        if (!find(y, x->list[i].name, x->nth[i], &at))
            continue;
        if (before && at < last) {
            finding(f, false, x->list[i].name,
                    "order differs: after %s in %s (%s:%d), before it in %s (%s:%d)", before->name,
                    x->member->label, x->list[i].file, x->list[i].line, y->member->label, y->list[at].file,
                    y->list[at].line);
            return;
        }
        last = at;
        before = &x->list[i];
    }
}

int compare_constants(const struct member *members, size_t count, struct findings *f, struct error *err)
{
    struct side *sides = arena_array(f->arena, struct side, count);

    for (size_t i = 0; i < count; i++)
        if (read_side(&sides[i], &members[i], f, err) < 0)
            return -1;
    f->compared = sides[0].len;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sides[i].len; k++)
            if (sides[i].list[k].problem)
                finding(f, false, sides[i].list[k].name, "not constant in %s (%s:%d): %s", members[i].label,
                        sides[i].list[k].file, sides[i].list[k].line, sides[i].list[k].problem);
    for (size_t i = 1; i < count; i++) {
        compare_pair(&sides[0], &sides[i], f);
        compare_order(&sides[0], &sides[i], f);
    }
    return 0;
}
