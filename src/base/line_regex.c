/* SPDX-License-Identifier: MIT */
#include "benchctl/base/line_regex.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COST 20000.0
#define MAX_GROUPS 50
#define FEW_TIMES 8 /* a repetition of at most so many cannot take long */

const char *regex_skip_bracket(const char *p)
{
    p++;
    if (*p == '^')
        p++;
    if (*p == ']')
        p++;
    while (*p && *p != ']') {
        if (p[0] == '[' && (p[1] == ':' || p[1] == '.' || p[1] == '=')) {
            const char kind = p[1];
            p += 2;
            while (*p && !(p[0] == kind && p[1] == ']'))
                p++;
            p += *p ? 1 : 0;
        }
        p += *p ? 1 : 0;
    }
    return *p ? p + 1 : p;
}

/* What stands in one open group so far. */
struct group {
    double cost;     /* atoms, repetitions written out */
    int fixed;       /* atoms of this alternative that occur a fixed number of times */
    bool varies;     /* something in this alternative does not */
    bool loose;      /* an alternative that is nothing but what varies, so that its end is anywhere */
    bool alternates; /* it has a '|' */
    bool overlaps;   /* two alternatives may begin with the same byte */
    bool begun;      /* this alternative has an atom */
    bool first[256]; /* the bytes that alternatives begin with */
};

/* The atom that a repetition behind it multiplies. */
struct atom {
    double cost;
    bool there, is_first;
    bool loose; /* can match the same text in more than one way when it is repeated */
    bool fixed; /* counted in its group's `fixed` */
};

struct reading {
    struct group groups[MAX_GROUPS + 1];
    int depth;
    struct atom last;
    const char *refused;
};

static void end_alternative(struct group *g)
{
    g->loose = g->loose || (g->varies && !g->fixed);
    g->overlaps = g->overlaps || !g->begun;
    g->fixed = 0;
    g->varies = g->begun = false;
}

/* `byte` is what it matches, -1 when there are several. */
static void add_atom(struct reading *r, int byte, double cost, bool loose)
{
    struct group *g = &r->groups[r->depth];

    r->last =
        (struct atom){.cost = cost, .there = true, .is_first = !g->begun, .loose = loose, .fixed = !loose};
    if (!g->begun && (byte < 0 || g->first[byte]))
        g->overlaps = true;
    else if (!g->begun)
        g->first[byte] = true;
    g->begun = true;
    g->cost += cost;
    g->fixed += !loose;
    g->varies = g->varies || loose;
}

static void open_group(struct reading *r)
{
    if (r->depth == MAX_GROUPS) {
        r->refused = "has too many groups within groups";
        return;
    }
    r->groups[++r->depth] = (struct group){.cost = 0};
    r->last.there = false;
}

static void close_group(struct reading *r)
{
    struct group *g = &r->groups[r->depth];

    end_alternative(g);
    r->depth--;
    add_atom(r, -1, g->cost + 1, g->loose || (g->alternates && g->overlaps));
}

/* A repetition at `p`; returns where it ends. */
static const char *repeat(struct reading *r, const char *p)
{
    struct group *g = &r->groups[r->depth];
    double low = *p == '+', high = *p == '?' ? 1 : INFINITY;
    char *end;

    if (*p == '{') {
        low = high = strtod(p + 1, &end);
        if (*end == ',')
            high = isdigit((unsigned char)end[1]) ? strtod(end + 1, NULL) : INFINITY;
        end = strchr(p, '}');
        p = end ? end : p + strlen(p) - 1;
    }
    double factor = *p == '+' ? 2 : fmax(1, isfinite(high) ? fmax(low, high) : low);
    if (r->last.there && r->last.loose && high > FEW_TIMES)
        r->refused = "repeats what can repeat by itself";
    g->cost += r->last.cost * (factor - 1);
    r->last.cost *= factor;
    if (low != high && r->last.there) {
        g->fixed -= r->last.fixed;
        g->varies = true;
        g->overlaps = g->overlaps || (low == 0 && r->last.is_first);
        r->last.fixed = false;
        r->last.loose = true;
    }
    return p + 1;
}

/* One step; returns where it ends. */
static const char *read_on(struct reading *r, const char *p)
{
    if (strchr("*+?{", *p))
        return repeat(r, p);
    if (*p == '(') {
        open_group(r);
    } else if (*p == ')' && r->depth) {
        close_group(r);
    } else if (*p == '|') {
        end_alternative(&r->groups[r->depth]);
        r->groups[r->depth].alternates = true;
        r->last.there = false;
    } else if (*p == '[') {
        add_atom(r, -1, 1, false);
        return regex_skip_bracket(p);
    } else if (*p == '\\' && p[1]) {
        if (p[1] >= '1' && p[1] <= '9')
            r->refused = "has a back reference";
        add_atom(r, ispunct((unsigned char)p[1]) ? (unsigned char)p[1] : -1, 1, false);
        return p + 2;
    } else {
        add_atom(r, *p == '.' ? -1 : (unsigned char)*p, 1, false);
    }
    return p + 1;
}

/*
 * Why it is not taken; NULL when it is. regcomp() writes repetitions out: `a+` is `aa*`, and nested ones
 * double each time, so that a short text can ask for all memory.
 */
static const char *why_refused(const char *text)
{
    struct reading r = {.depth = 0};
    double total = 0;

    if (strlen(text) > REGEX_TEXT_MAX)
        return "is too long";
    for (const char *p = text; *p && !r.refused;) {
        p = read_on(&r, p);
        if (!(r.groups[r.depth].cost <= MAX_COST))
            return "repeats too much";
    }
    for (int i = 0; i <= r.depth; i++)
        total += r.groups[i].cost;
    return r.refused ? r.refused : total <= MAX_COST ? NULL : "repeats too much";
}

int regex_compile(const char *text, regex_t *ret, struct error *err)
{
    static locale_t c;
    char why[128];
    const char *refused = why_refused(text);

    if (refused) {
        (void)error_set(err, ERROR_INVALID, "regular expression '%.60s' %s", text, refused);
        return error_hint(err,
                          "at most %zu bytes, no back references, no repetition of a repetition: write "
                          "[ab]+ instead of (a+|b+)+",
                          REGEX_TEXT_MAX);
    }
    if (!c)
        c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t old = uselocale(c); /* regcomp() looks at it once */
    int failed = regcomp(ret, text, REG_EXTENDED);
    uselocale(old);
    if (!failed)
        return 0;
    (void)regerror(failed, ret, why, sizeof(why));
    (void)error_set(err, ERROR_INVALID, "bad regular expression '%.200s': %s", text, why);
    return error_hint(err, "POSIX extended syntax; a literal ( [ . needs a backslash");
}

/* On a copy: not every line has a NUL somewhere behind it, which some C libraries look for in spite of
 * REG_STARTEND. */
static bool run(const regex_t *regex, const char *line, size_t len, regmatch_t groups[2])
{
    char copy[REGEX_LINE_MAX + 1];
    bool cut = len > REGEX_LINE_MAX;
    size_t n = cut ? REGEX_LINE_MAX : len;

    memcpy(copy, line, n);
    copy[n] = '\0';
    groups[0] = (regmatch_t){0, (regoff_t)n};
    return regexec(regex, copy, 2, groups, REG_STARTEND | (cut ? REG_NOTEOL : 0)) == 0;
}

bool regex_match(const regex_t *regex, const char *line, size_t len)
{
    regmatch_t groups[2] = {{0, 0}};

    return run(regex, line, len, groups);
}

bool regex_find(const regex_t *regex, const char *line, size_t len, size_t *ret_start, size_t *ret_end)
{
    regmatch_t groups[2] = {{0, 0}};

    if (!run(regex, line, len, groups))
        return false;
    const regmatch_t *g = regex->re_nsub ? &groups[1] : &groups[0];
    *ret_start = g->rm_so >= 0 ? (size_t)g->rm_so : 0;
    *ret_end = g->rm_so >= 0 ? (size_t)g->rm_eo : 0;
    return true;
}
