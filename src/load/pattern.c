/* SPDX-License-Identifier: MIT */
/* Regular expressions on single lines, with a plain search for their longest literal part in front: most
 * lines are none. */
#include "adapter.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <string.h>
#include "benchctl/base/strbuf.h"

/* Past a bracket expression: `p` stands on '['. */
static const char *skip_bracket(const char *p)
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

/* Ends the run of literals and keeps it if it is the longest. */
static void end_run(struct strbuf *run, struct strbuf *best)
{
    if (run->len > best->len) {
        strbuf_clear(best);
        strbuf_add(best, run->data, run->len);
    }
    strbuf_clear(run);
}

/* The longest literal text outside of groups that each match must hold; NULL when there is none worth a
 * search. */
static char *required_literal(const char *regex, struct arena *a)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf run = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf best = STRBUF_INIT;
    int depth = 0;

    for (const char *p = regex; *p;) {
        if (*p == '|' && depth == 0)
            return NULL;
        if (*p == '[') {
            end_run(&run, &best);
            p = skip_bracket(p);
            continue;
        }
        bool escaped = *p == '\\' && ispunct((unsigned char)p[1]);
        if (*p == '\\' && !escaped) /* \b, \w, back references */
            return NULL;
        char c = escaped ? p[1] : *p;
        p += escaped ? 2 : 1;
        if (!escaped && strchr("(){}.^$*+?", c)) {
            if ((c == '*' || c == '?' || c == '{') && run.len)
                run.data[--run.len] = '\0';
            end_run(&run, &best);
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (c == '{')
                p += strcspn(p, "}");
        } else if (depth == 0) {
            strbuf_addc(&run, c);
        }
    }
    end_run(&run, &best);
    return best.len > 1 ? arena_strdup(a, best.data) : NULL;
}

#define MAX_COST 20000.0
#define MAX_GROUPS 50

/* The cost of each open group so far, and of the last atom, which a repetition behind it multiplies. */
struct costs {
    double sums[MAX_GROUPS + 1], last;
    int depth;
};

/* A repetition at `p`; returns where it ends. */
static const char *repeat(struct costs *c, const char *p)
{
    double factor = *p == '+' ? 2 : 1;
    char *end;

    if (*p == '{') {
        factor = fmax(1, strtod(p + 1, &end));
        factor = *end == ',' ? fmax(factor, strtod(end + 1, NULL)) : factor;
        end = strchr(p, '}');
        p = end ? end : p + strlen(p) - 1;
    }
    c->sums[c->depth] += c->last * (factor - 1);
    c->last *= factor;
    return p + 1;
}

/*
 * How large the expression becomes when its repetitions are written out, as regcomp() does; infinite when
 * groups nest too deep. `a+` is `aa*`, and nested ones double each time: a short text can ask for all memory.
 */
static double cost_of(const char *regex)
{
    struct costs c = {.depth = 0};
    double total = 0;

    for (const char *p = regex; *p && c.sums[c.depth] <= MAX_COST;) {
        if (strchr("*+?{", *p)) {
            p = repeat(&c, p);
            continue;
        }
        if (*p == '(') {
            if (c.depth == MAX_GROUPS)
                return INFINITY;
            c.sums[++c.depth] = 0;
            p++;
            continue;
        }
        c.last = *p == ')' && c.depth ? c.sums[c.depth--] + 1 : 1;
        c.sums[c.depth] += c.last;
        p = *p == '[' ? skip_bracket(p) : p + (*p == '\\' && p[1] ? 2 : 1);
    }
    for (int i = 0; i <= c.depth; i++)
        total += c.sums[i];
    return total;
}

/* Bytes are bytes whatever the process' locale: regcomp() looks at it once. */
static int compile(regex_t *regex, const char *text)
{
    static locale_t c;

    if (!c)
        c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t old = uselocale(c);
    int failed = regcomp(regex, text, REG_EXTENDED);
    uselocale(old);
    return failed;
}

int pattern_new(struct load_adapter *a, const char *text, struct position at, struct pattern **ret,
                struct error *err)
{
    struct pattern *p = arena_new_of(a->arena, struct pattern);

    if (!(cost_of(text) <= MAX_COST))
        return node_error(err, node_new(a->arena, NODE_NULL, at),
                          "regular expression '%.60s' repeats too much", text);
    int failed = compile(&p->regex, text);

    if (failed) {
        char why[128];
        (void)regerror(failed, &p->regex, why, sizeof(why));
        return node_error(err, node_new(a->arena, NODE_NULL, at), "bad regular expression '%.200s': %s", text,
                          why);
    }
    p->compiled = true;
    p->text = text;
    p->literal = required_literal(text, a->arena);
    vec_push(&a->patterns, p);
    *ret = p;
    return 0;
}

bool pattern_match(const struct pattern *p, const char *line, size_t len, size_t *ret_start, size_t *ret_end)
{
    regmatch_t groups[2] = {{0, (regoff_t)len}};

    if (p->literal && !memmem(line, len, p->literal, strlen(p->literal)))
        return false;
    if (regexec(&p->regex, line, 2, groups, REG_STARTEND) != 0)
        return false;
    const regmatch_t *g = p->regex.re_nsub ? &groups[1] : &groups[0];
    if (ret_start) {
        *ret_start = g->rm_so >= 0 ? (size_t)g->rm_so : 0;
        *ret_end = g->rm_so >= 0 ? (size_t)g->rm_eo : 0;
    }
    return true;
}
