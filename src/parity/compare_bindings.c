/* SPDX-License-Identifier: MIT */
/* The values that are bound to each SQL statement, by position, across any number of members (Java). */
#include <ctype.h>
#include <string.h>
#include "constants.h"
#include "member.h"

#include "benchctl/base/fs.h"

#define MAX_POSITIONS 200

/* One use of a constant in a method: what is bound from there to the method's end, or to the next use. */
struct use {
    const char *name, *file;
    int line;
    size_t nth; /* of this name */
    size_t count;
    const char **values; /* by position - 1; NULL: nothing is bound there */
    int *lines;          /* of the values */
};

struct uses {
    VEC(struct use) list;
    const struct member *member;
    const char *match;
    struct findings *f;
};

/* A call's arguments: token ranges between its parentheses. */
struct call {
    size_t from[MAX_POSITIONS], to[MAX_POSITIONS], count, end;
    bool too_many;
};

static int nesting(const struct tokens *t, size_t i)
{
    if (token_is(t, i, "(") || token_is(t, i, "[") || token_is(t, i, "{"))
        return 1;
    return token_is(t, i, ")") || token_is(t, i, "]") || token_is(t, i, "}") ? -1 : 0;
}

static bool at_end(const struct tokens *t, size_t i)
{
    return t->list.items[i].kind == TOKEN_END;
}

/* Is the '<' at `i` that of type arguments and no "less than": "new a.B<", ".<"? */
static bool opens_type_arguments(const struct tokens *t, size_t i)
{
    if (i < 2 || !token_is(t, i, "<"))
        return false;
    if (token_is(t, i - 1, "."))
        return true;
    i--;
    while (i > 2 && token_is(t, i - 1, "."))
        i -= 2;
    return token_is(t, i - 1, "new");
}

/* `open` is the '<'. The '>' that closes it, or the end. */
static size_t type_arguments_end(const struct tokens *t, size_t open)
{
    size_t i = open;

    for (int depth = 0; !at_end(t, i); i++) {
        depth += token_is(t, i, "<") - token_is(t, i, ">");
        if (!depth)
            break;
    }
    return i;
}

/* `open` is the '('. */
static void read_call(const struct tokens *t, size_t open, struct call *ret)
{
    int depth = 1;
    size_t from = open + 1, i = open + 1;

    ret->count = 0;
    ret->too_many = false;
    for (; !at_end(t, i); i++) {
        if (opens_type_arguments(t, i))
            i = type_arguments_end(t, i);
        if (at_end(t, i))
            break;
        depth += nesting(t, i);
        if (depth && (depth != 1 || !token_is(t, i, ",")))
            continue;
        if (ret->count == MAX_POSITIONS)
            ret->too_many = true;
        else if (i > from)
            ret->from[ret->count] = from, ret->to[ret->count++] = i;
        from = i + 1;
        if (!depth)
            break;
    }
    ret->end = i;
}

static const char *shown(const struct tokens *t, size_t from, size_t to, struct arena *a)
{
    struct strbuf out = STRBUF_INIT;

    for (size_t i = from; i < to; i++) {
        const struct token *k = &t->list.items[i];
        bool word = k->kind != TOKEN_SIGN && i > from && t->list.items[i - 1].kind != TOKEN_SIGN;
        strbuf_addf(&out, "%s%.*s", word ? " " : "", (int)(k->end - k->start), t->text + k->start);
    }
    const char *text = arena_strdup(a, strbuf_text(&out));
    strbuf_release(&out);
    return text;
}

static void problem(struct uses *u, const struct use *use, int line, const char *what)
{
    finding(u->f, false, use->name, "%s in %s (%s:%d)", what, u->member->label, use->file, line);
}

static void bind_at(struct uses *u, struct use *use, const struct tokens *t, long position,
                    const struct call *c, size_t argument)
{
    int line = t->list.items[c->from[argument]].line;

    if (position < 1 || position > MAX_POSITIONS) {
        problem(u, use, line, "a binding whose position cannot be known");
        return;
    }
    if (use->values[position - 1])
        problem(u, use, line, arena_printf(u->f->arena, "position %ld is bound twice", position));
    use->values[position - 1] = shown(t, c->from[argument], c->to[argument], u->f->arena);
    use->lines[position - 1] = line;
    if ((size_t)position > use->count)
        use->count = (size_t)position;
}

/* "$1" is 1; a number n is n + base; -1: it cannot be known. */
static long position_of(const struct tokens *t, const struct call *c, long base)
{
    const struct token *k = &t->list.items[c->from[0]];
    const char *text = t->text + k->start;
    size_t len = k->end - k->start;
    long n = 0;

    if (c->to[0] != c->from[0] + 1 || (k->kind != TOKEN_NUMBER && k->kind != TOKEN_STRING))
        return -1;
    if (k->kind == TOKEN_STRING) {
        text = t->text + k->body;
        len = k->body_end - k->body;
        if (k->triple || len < 2 || *text != '$')
            return -1;
        text++;
        len--;
        base = 0;
    }
    for (size_t i = 0; i < len; i++) {
        if (!isdigit((unsigned char)text[i]) || n > MAX_POSITIONS)
            return -1;
        n = n * 10 + (text[i] - '0');
    }
    return n + base;
}

static bool begins(const struct tokens *t, size_t i, const char *prefix)
{
    const struct token *k = &t->list.items[i];
    size_t n = strlen(prefix);

    return k->kind == TOKEN_NAME && k->end - k->start > n && memcmp(t->text + k->start, prefix, n) == 0 &&
           isupper((unsigned char)t->text[k->start + n]);
}

/* Tuple.of(a, b), Tuple.from(List.of(a, b)): `i` is the '(' behind it. */
static void read_tuple(struct uses *u, struct use *use, const struct tokens *t, size_t i, bool from)
{
    struct call c;
    int line = t->list.items[i].line;

    if (from && !(token_is(t, i + 1, "List") && token_is(t, i + 2, ".") && token_is(t, i + 3, "of"))) {
        problem(u, use, line, "a Tuple whose values cannot be known");
        return;
    }
    read_call(t, from ? i + 4 : i, &c);
    if (c.too_many)
        problem(u, use, line, "too many bindings");
    for (size_t k = 0; k < c.count; k++)
        bind_at(u, use, t, (long)k + 1, &c, k);
}

/* The call ". NAME (" with NAME at `i`, if it binds. Says whether it does. */
static bool read_binding(struct uses *u, struct use *use, const struct tokens *t, size_t i, long *tuple)
{
    bool bind = token_is(t, i, "bind") || token_is(t, i, "bindNull"), set = begins(t, i, "set");
    bool tuples = i > 1 && token_is(t, i - 2, "Tuple");
    struct call c;

    if (!token_is(t, i - 1, ".") || !token_is(t, i + 1, "("))
        return false;
    if (tuples && (token_is(t, i, "of") || token_is(t, i, "from"))) {
        read_tuple(u, use, t, i + 1, token_is(t, i, "from"));
        return true;
    }
    if (tuples && token_is(t, i, "tuple"))
        *tuple = 1;
    read_call(t, i + 1, &c);
    if (*tuple && begins(t, i, "add") && c.count == 1) {
        bind_at(u, use, t, (*tuple)++, &c, 0);
        return true;
    }
    if (set && (c.count < 2 || t->list.items[c.from[0]].kind == TOKEN_STRING))
        return false;
    if (!bind && !set)
        return false;
    if (c.count < 2)
        problem(u, use, t->list.items[i].line, "a binding whose position cannot be known");
    else
        bind_at(u, use, t, position_of(t, &c, bind ? 1 : 0), &c, 1);
    return true;
}

static bool is_use(const struct uses *u, const struct tokens *t, size_t i)
{
    const struct token *k = &t->list.items[i];

    if (k->kind != TOKEN_NAME || token_is(t, i + 1, "="))
        return false;
    CLEANUP_FREE char *name = xstrndup(t->text + k->start, k->end - k->start);
    return glob_match(u->match, name);
}

/* From the use at `at`, inside of a method's body, on. */
static void read_use(struct uses *u, const struct tokens *t, size_t at, size_t end, const char *file)
{
    const struct token *k = &t->list.items[at];
    struct use use = {.name = arena_strndup(u->f->arena, t->text + k->start, k->end - k->start),
                      .file = file,
                      .line = k->line,
                      .values = arena_array(u->f->arena, const char *, MAX_POSITIONS + 1),
                      .lines = arena_array(u->f->arena, int, MAX_POSITIONS + 1)};
    long tuple = 0;
    int loop = 0;

    vec_each (one, &u->list) {
        use.nth += strcmp(one->name, use.name) == 0;
    }
    for (size_t i = at + 1; i < end && !is_use(u, t, i); i++) {
        if (token_is(t, i, "for") || token_is(t, i, "while") || token_is(t, i, "forEach"))
            loop = t->list.items[i].line;
        if (read_binding(u, &use, t, i, &tuple) && loop) {
            problem(u, &use, loop, "a loop around bindings");
            loop = 0;
        }
    }
    vec_push(&u->list, use);
}

/* Does the '{' at `i` open a type's body? */
static bool opens_type(const struct tokens *t, size_t i)
{
    while (i-- > 0 && !token_is(t, i, ";") && !token_is(t, i, "{") && !token_is(t, i, "}"))
        if ((token_is(t, i, "class") && !(i && token_is(t, i - 1, "."))) || token_is(t, i, "interface") ||
            token_is(t, i, "enum") || (token_is(t, i, "record") && token_is(t, i + 2, "(")))
            return true;
    return false;
}

static size_t closing(const struct tokens *t, size_t open)
{
    size_t i = open;

    for (int depth = 0; !at_end(t, i); i++) {
        depth += token_is(t, i, "{") - token_is(t, i, "}");
        if (!depth)
            break;
    }
    return i;
}

/* Bodies of methods are the outermost braces that are no type's. A type inside of a method counts to it. */
static void read_source(struct uses *u, const struct parity_source *source)
{
    CLEANUP_VALUE(tokens_release) struct tokens t = {0};

    lex(language_of(source->path), source->text, source->len, &t);
    for (size_t i = 0; !at_end(&t, i); i++) {
        if (t.list.items[i].kind == TOKEN_STRING && t.list.items[i].broken)
            finding(u->f, false, source->path, "a string without an end in %s (line %d)", u->member->label,
                    t.list.items[i].line);
        if (!token_is(&t, i, "{") || opens_type(&t, i))
            continue;
        size_t end = closing(&t, i);
        for (; i < end; i++)
            if (is_use(u, &t, i))
                read_use(u, &t, i, end, source->path);
    }
}

/* $1 to $n, or ? one by one, outside of strings, quoted names and comments. JDBC writes the operator ? as ??.
 */
static size_t placeholders(const char *sql)
{
    size_t marks = 0, most = 0;

    for (const char *p = sql; *p; p++) {
        if (*p == '\'' || *p == '"') {
            p = strchr(p + 1, *p);
        } else if (strncmp(p, "--", 2) == 0) {
            p = strchr(p, '\n');
        } else if (strncmp(p, "/*", 2) == 0) {
            p = strstr(p + 2, "*/");
        } else if (*p == '$' && isdigit((unsigned char)p[1])) {
            unsigned long n = strtoul(p + 1, NULL, 10);
            most = n > most ? n : most;
        }
        if (!p)
            break;
        if (p[0] == '?' && p[1] == '?')
            p++;
        else
            marks += *p == '?';
    }
    return most ? most : marks;
}

static const char *orders(const struct use *use, struct arena *a)
{
    const char *text = "nothing";

    for (size_t i = 0; i < use->count; i++)
        text = arena_printf(a, "%s%s%s", i ? text : "", i ? ", " : "", use->values[i] ? use->values[i] : "-");
    return text;
}

static void check_count(struct uses *u, const struct source_constant *list, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool used = false;
        size_t wanted = list[i].value ? placeholders(list[i].value) : 0;
        if (list[i].problem)
            finding(u->f, false, list[i].name, "not constant in %s (%s:%d): %s", u->member->label,
                    list[i].file, list[i].line, list[i].problem);
        vec_each (use, &u->list) {
            size_t bound = 0;
            if (strcmp(use->name, list[i].name) != 0)
                continue;
            used = true;
            for (size_t k = 0; k < use->count; k++)
                bound += use->values[k] != NULL;
            if (!list[i].problem && (bound != wanted || use->count != wanted))
                finding(u->f, false, use->name, "%zu placeholders, but bound is %s in %s (%s:%d)", wanted,
                        orders(use, u->f->arena), u->member->label, use->file, use->line);
        }
        if (!used)
            finding(u->f, false, list[i].name, "not used in any method of %s (%s:%d)", u->member->label,
                    list[i].file, list[i].line);
    }
}

static int read_uses(struct uses *u, struct error *err)
{
    const struct member *m = u->member;
    struct parity_source *sources;
    struct source_constant *list;
    size_t count, len, java = 0;

    u->match = m->settings->match ? m->settings->match : "SQL_*";
    if (member_sources(m, u->f->arena, &sources, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const struct language *l = language_of(sources[i].path);
        if (l->id == LANG_JAVA)
            sources[java++] = sources[i];
        else
            finding(u->f, false, sources[i].path, "bindings are not supported for %s, in %s", l->name,
                    m->label);
    }
    if (parity_scan_constants(sources, java, u->match, u->f->arena, &list, &len, err) < 0)
        return error_wrap(err, "%s", m->label);
    for (size_t i = 0; i < java; i++)
        read_source(u, &sources[i]);
    check_count(u, list, len);
    return u->list.len || count > java
               ? 0
               : error_set(err, ERROR_PARITY, "no method of '%s' in %s uses a constant that matches '%s'",
                           m->settings->path, m->label, u->match);
}

static const struct use *find(const struct uses *u, const struct use *like)
{
    for (size_t i = 0; i < u->list.len; i++)
        if (u->list.items[i].nth == like->nth && strcmp(u->list.items[i].name, like->name) == 0)
            return &u->list.items[i];
    return NULL;
}

/* The line of the first value of `a` that is another one in `b`; of the use when nothing is bound there. */
static int line_of_difference(const struct use *a, const struct use *b)
{
    for (size_t i = 0; i < a->count; i++) {
        const char *p = a->values[i], *q = b->values[i];
        if (p && (!q || strcmp(p, q) != 0))
            return a->lines[i];
    }
    return a->line;
}

static void compare_pair(const struct uses *x, const struct uses *y, bool values, struct findings *f)
{
    for (size_t i = 0; i < x->list.len; i++) {
        const struct use *a = &x->list.items[i], *b = find(y, a);
        if (!b) {
            finding(f, false, a->name, "used once more in %s (%s:%d) than in %s", x->member->label, a->file,
                    a->line, y->member->label);
            continue;
        }
        const char *p = orders(a, f->arena), *q = orders(b, f->arena);
        if (values && strcmp(p, q) != 0)
            finding(f, false, a->name, "bound in another order: %s in %s (%s:%d); %s in %s (%s:%d)", p,
                    x->member->label, a->file, line_of_difference(a, b), q, y->member->label, b->file,
                    line_of_difference(b, a));
    }
}

int compare_bindings(const struct member *members, size_t count, struct findings *f, struct error *err)
{
    struct uses *all = arena_array(f->arena, struct uses, count);
    int rc = 0;

    for (size_t i = 0; i < count && rc == 0; i++) {
        all[i] = (struct uses){.member = &members[i], .f = f};
        rc = read_uses(&all[i], err);
    }
    for (size_t i = 1; i < count && rc == 0; i++) {
        compare_pair(&all[0], &all[i], true, f);
        compare_pair(&all[i], &all[0], false, f);
    }
    f->compared = all[0].list.len;
    for (size_t i = 0; i < count; i++)
        vec_release(&all[i].list);
    return rc;
}
