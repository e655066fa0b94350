/* SPDX-License-Identifier: MIT */
#include "ignore.h"

#include "benchctl/base/fs.h"

struct rule {
    char *pattern;
    bool exception;
};

struct ignore {
    VEC(struct rule) rules;
    bool has_exceptions;
};

void ignore_free(struct ignore *g)
{
    if (!g)
        return;
    vec_each (r, &g->rules)
        free(r->pattern);
    vec_release(&g->rules);
    free(g);
}

/* "/a//b/../c/" → "a/c": the pattern's path without what means nothing. */
static char *clean(const char *text, size_t len)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;

    for (size_t at = 0; at < len;) {
        const char *part = text + at;
        const char *slash = memchr(part, '/', len - at);
        size_t n = slash ? (size_t)(slash - part) : len - at;

        if (n == 2 && part[0] == '.' && part[1] == '.') {
            while (out.len && out.data[out.len - 1] != '/')
                out.len--;
            if (out.len)
                out.len--;
            if (out.data)
                out.data[out.len] = '\0';
        } else if (n && !(n == 1 && part[0] == '.')) {
            if (out.len)
                strbuf_addc(&out, '/');
            strbuf_add(&out, part, n);
        }
        at += n + 1;
    }
    return xstrdup(strbuf_text(&out));
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void add_line(struct ignore *g, const char *line, size_t len)
{
    struct rule r = {0};

    if (len && line[0] == '#')
        return;
    while (len && blank(line[len - 1]))
        len--;
    while (len && blank(*line)) {
        line++;
        len--;
    }
    if (len && *line == '!') {
        r.exception = true;
        for (line++, len--; len && blank(*line); len--)
            line++;
    }
    r.pattern = clean(line, len);
    if (!*r.pattern) {
        free(r.pattern);
        return;
    }
    g->has_exceptions |= r.exception;
    vec_push(&g->rules, r);
}

struct ignore *ignore_parse(const char *text, size_t len)
{
    struct ignore *g = xcalloc(1, sizeof(*g));

    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        len -= 3;
    }
    while (len) {
        const char *newline = memchr(text, '\n', len);
        size_t n = newline ? (size_t)(newline - text) : len;

        add_line(g, text, n);
        n += newline != NULL;
        text += n;
        len -= n;
    }
    return g;
}

static bool rule_matches(const struct rule *r, const char *path)
{
    if (glob_match(r->pattern, path))
        return true;
    CLEANUP_FREE char *parent = xstrdup(path);
    for (char *slash; (slash = strrchr(parent, '/'));) {
        *slash = '\0';
        if (glob_match(r->pattern, parent))
            return true;
    }
    return false;
}

bool ignore_matches(const struct ignore *g, const char *path)
{
    for (size_t i = g->rules.len; i-- > 0;) {
        if (rule_matches(&g->rules.items[i], path))
            return !g->rules.items[i].exception;
    }
    return false;
}

bool ignore_has_exceptions(const struct ignore *g)
{
    return g->has_exceptions;
}
