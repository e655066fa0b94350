/* SPDX-License-Identifier: MIT */
#include "sweep.h"

#include <string.h>
#include "benchctl/base/fs.h"

#define MAX_LOOK 300 /* tokens ahead: what goes on longer is taken to be what is looked for */
#define MAX_BRACKETS 4000

static const char loose_problem[] = "it is not a constant that can be folded";

/* What is open where the sweep stands. */
enum bracket { BRACKET_PLAIN, BRACKET_CALL, BRACKET_ENUM };

struct sweeper {
    struct declarations *d;
    const struct tokens *t;
    enum language_id l;
    size_t source;
    const char *glob;
    char open[MAX_BRACKETS];
    size_t depth;
    bool enum_pending;
    size_t pattern_end, pattern_value; /* what in_pattern() found, up to where */
};

bool sweep_capitals(const char *name)
{
    size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

    return !name[n] && strpbrk(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

bool sweep_has_string(const struct tokens *t, size_t from)
{
    int depth = 0;

    for (size_t i = from; i < from + MAX_LOOK; i++) {
        const struct token *k = &t->list.items[i];
        char c = k->kind == TOKEN_SIGN ? t->text[k->start] : '\0';
        if (k->kind == TOKEN_STRING)
            return true;
        if (k->kind == TOKEN_END || c == ';' || (c && strchr(")]}", c) && depth == 0))
            return false;
        if (k->kind == TOKEN_NEWLINE && depth == 0 && i > from)
            return t->list.items[i + 1].kind == TOKEN_STRING;
        depth += c && strchr("([{", c) ? 1 : c && strchr(")]}", c) ? -1 : 0;
    }
    return true;
}

static char sign(const struct sweeper *s, size_t i)
{
    const struct token *k = &s->t->list.items[i];

    return k->kind == TOKEN_SIGN ? s->t->text[k->start] : '\0';
}

static bool is_any(const struct sweeper *s, size_t i, const char *const *words)
{
    for (; *words; words++)
        if (token_is(s->t, i, *words))
            return true;
    return false;
}

static bool is_kind(const struct sweeper *s, size_t i, enum token_kind kind)
{
    return s->t->list.items[i].kind == kind;
}

static size_t past_newlines(const struct sweeper *s, size_t i)
{
    while (is_kind(s, i, TOKEN_NEWLINE))
        i++;
    return i;
}

/* The token before i that is no line end, as its place + 1; 0: none. */
static size_t before(const struct sweeper *s, size_t i)
{
    while (i && is_kind(s, i - 1, TOKEN_NEWLINE))
        i--;
    return i;
}

static bool adjacent(const struct sweeper *s, size_t i)
{
    return s->t->list.items[i].end == s->t->list.items[i + 1].start;
}

/* '=' alone, or as the end of +=, :=, ??= and such, at i: the token behind it; 0: no assignment. */
static size_t assigns(const struct sweeper *s, size_t i)
{
    size_t signs = 0;

    i = past_newlines(s, i);
    while (signs < 2 && sign(s, i) && strchr("+-*/%&|^?:@", sign(s, i)) && adjacent(s, i)) {
        i++;
        signs++;
    }
    if (sign(s, i) != '=')
        return 0;
    char next = adjacent(s, i) ? sign(s, i + 1) : '\0';
    if (next == '=' || next == '~' || (next == '>' && s->l != LANG_CSHARP))
        return 0;
    return i + 1;
}

/* NAME: at i, where it is a member or gets a type; not in labels, conditions and slices. */
static bool before_colon(const struct sweeper *s, size_t i)
{
    static const char *const no[] = {"case", "return", "default", "in", "is", "as", "else", "yield", NULL};
    size_t b = before(s, i);
    bool line = b != i;

    if (sign(s, i + 1) != ':' || s->l == LANG_JAVA)
        return false;
    if (s->l == LANG_PYTHON) {
        char c = b ? sign(s, b - 1) : ';';
        return !s->depth && (line || c == ';' || c == ':');
    }
    if (!b)
        return true;
    if (sign(s, b - 1))
        return strchr("{,;()}[@`", sign(s, b - 1)) || (line && sign(s, b - 1) == ']');
    return line || (is_kind(s, b - 1, TOKEN_NAME) && !is_any(s, b - 1, no));
}

/* Does what stands at k end a list of names that might stand on the left of a '='? */
static bool ends_pattern(const struct sweeper *s, size_t k)
{
    char c = sign(s, k), last = sign(s, k - 1);

    if (is_kind(s, k, TOKEN_NEWLINE)) {
        char next = sign(s, past_newlines(s, k));
        return last != ',' && !is_kind(s, k - 1, TOKEN_NEWLINE) && !(next && strchr(")]}", next));
    }
    if (is_kind(s, k, TOKEN_NAME))
        return s->l != LANG_GO && (is_kind(s, k - 1, TOKEN_NAME) || (last && strchr(")]}", last)));
    return !c || !strchr(",)]}[({:*.`", c);
}

/* NAME among others on the left of one '=', as "A, NAME = ..." or "{a: NAME} = ...": the token behind it; 0:
 * it is not. What is found holds for all names on the way, too. */
static size_t in_pattern(struct sweeper *s, size_t i)
{
    if (s->depth && s->open[s->depth - 1] == BRACKET_CALL)
        return 0;
    if (i < s->pattern_end)
        return s->pattern_value;
    size_t k = i + 1, e = 0;
    while (!(e = is_kind(s, k, TOKEN_NEWLINE) ? 0 : assigns(s, k)) && !ends_pattern(s, k))
        k++;
    s->pattern_end = k;
    s->pattern_value = e;
    return e;
}

/* What makes a name a declaration without an '=' right behind it; the token where its value may be, or 0. */
static size_t declared(const struct sweeper *s, size_t i)
{
    static const char *const keywords[] = {"val", "var", "let", "const", "lazy", NULL},
                             *const accessors[] = {"get", "set", "init", NULL},
                             *const binds[] = {"as", "for", NULL};
    size_t p = i && sign(s, i - 1) == '`' ? i - 1 : i, next = past_newlines(s, i + 1);
    bool has = p > 0, kotlin = s->l == LANG_KOTLIN;

    if (s->depth && s->open[s->depth - 1] == BRACKET_ENUM && sign(s, i + 1) == '(') {
        size_t b = before(s, i);
        return b && (is_kind(s, b - 1, TOKEN_NAME) || (sign(s, b - 1) && strchr("{,)", sign(s, b - 1))))
                   ? i + 2
                   : 0;
    }
    if (has && s->l != LANG_JAVA && s->l != LANG_PYTHON && is_any(s, p - 1, keywords))
        return i + 1;
    if (has && s->l == LANG_SCALA && token_is(s->t, p - 1, "def") && sign(s, i + 1) != '(')
        return i + 1;
    if (has && s->l == LANG_SCRIPT && is_any(s, p - 1, accessors) && sign(s, i + 1) == '(')
        return i + 1;
    if (has && s->l == LANG_PYTHON && is_any(s, p - 1, binds))
        return i + 1;
    if (kotlin && (token_is(s->t, next, "by") || (token_is(s->t, next, "get") && sign(s, next + 1) == '(')))
        return next + 1;
    if (s->l == LANG_CSHARP && sign(s, i + 1) == '{' && is_any(s, i + 2, accessors))
        return i + 2;
    if (s->l == LANG_GO && is_kind(s, i + 1, TOKEN_NAME) && assigns(s, i + 2))
        return i + 3;
    return 0;
}

/* Where the value of the name at i may begin, when it is given one; 0: it is only used. */
static size_t given_value(struct sweeper *s, size_t i)
{
    size_t behind = sign(s, i + 1) == '`' && s->l != LANG_GO ? i + 2 : i + 1, e = assigns(s, behind);

    if (e || (e = declared(s, i)))
        return e;
    if (before_colon(s, i))
        return i + 2;
    if (sign(s, i + 1) == '[' && sign(s, i + 2) == ']' && assigns(s, i + 3)) /* String NAME[] = */
        return i + 3;
    return sign(s, behind) && strchr(",)]}:", sign(s, behind)) ? in_pattern(s, behind - 1) : 0;
}

static void see_bracket(struct sweeper *s, size_t i)
{
    static const char *const no_callee[] = {"val",  "var", "let",   "const",  "for",  "in", "return",
                                            "with", "as",  "yield", "global", "case", NULL};
    char c = sign(s, i);
    bool value = i && (is_kind(s, i - 1, TOKEN_STRING) || (sign(s, i - 1) && strchr(")]", sign(s, i - 1))) ||
                       (is_kind(s, i - 1, TOKEN_NAME) && !is_any(s, i - 1, no_callee)));

    if (c && strchr("([{", c)) {
        enum bracket b = c == '{' ? s->enum_pending ? BRACKET_ENUM : BRACKET_PLAIN
                         : value  ? BRACKET_CALL
                                  : BRACKET_PLAIN;
        if (s->depth < MAX_BRACKETS)
            s->open[s->depth++] = (char)b;
        s->enum_pending = s->enum_pending && c != '{';
    } else if (c && strchr(")]}", c)) {
        s->depth -= s->depth > 0;
    } else if (c == ';') {
        s->enum_pending = false;
        if (s->depth && s->open[s->depth - 1] == BRACKET_ENUM)
            s->open[s->depth - 1] = BRACKET_PLAIN; /* behind the list of an enum's values */
    }
}

static void add(struct sweeper *s, size_t i, const char *name, bool hidden)
{
    bool call = s->depth && s->open[s->depth - 1] == BRACKET_CALL;
    bool attribute = i && sign(s, i - 1) == '.';
    bool typed = i && (is_kind(s, i - 1, TOKEN_NAME) || sign(s, i - 1) == '>' || sign(s, i - 1) == ']');
    const struct declaration one = {.name = name,
                                    .type_path = "",
                                    .source = s->source,
                                    .name_token = i,
                                    .line = s->t->list.items[i].line,
                                    .is_loose = true,
                                    .is_hidden = hidden,
                                    .changes = (s->l == LANG_PYTHON && !call) ||
                                               (s->l == LANG_CSHARP && !call && !typed) ||
                                               (attribute && (s->l == LANG_SCRIPT || s->l == LANG_GROOVY)),
                                    .state = DECLARATION_DONE,
                                    .problem = loose_problem};

    if (!hidden || one.changes)
        vec_push(&s->d->list, one);
}

static void see_name(struct sweeper *s, size_t i)
{
    const struct token *k = &s->t->list.items[i];
    size_t e = given_value(s, i);

    if (!e)
        return;
    const char *name = arena_strndup(s->d->arena, s->t->text + k->start, k->end - k->start);
    bool wanted = s->glob ? glob_match(s->glob, name) : sweep_capitals(name) && sweep_has_string(s->t, e);
    if (wanted || s->l == LANG_PYTHON || s->l == LANG_SCRIPT || s->l == LANG_GROOVY || s->l == LANG_CSHARP)
        add(s, i, name, !wanted);
}

/* Something about a source that makes what was found in it doubtful. */
static void add_source(struct sweeper *s, size_t i, const char *problem)
{
    const struct declaration one = {.name = s->d->sources[s->source].path,
                                    .type_path = "",
                                    .source = s->source,
                                    .name_token = i,
                                    .line = s->t->list.items[i].line,
                                    .is_loose = true,
                                    .state = DECLARATION_DONE,
                                    .problem = problem};

    vec_push(&s->d->list, one);
}

/* A string without an end may hide the rest of its lines: every name in it counts. */
static void see_hidden(struct sweeper *s, size_t i)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$";
    const struct token k = s->t->list.items[i];
    const char *p = s->t->text + k.start, *end = s->t->text + k.end;

    if (memchr(p, '\n', (size_t)(end - p)))
        add_source(s, i, "a string in it has no end, and may hide code");
    while (s->glob && p < end) {
        const char *from = p;
        while (p < end && *p && strchr(letters, *p))
            p++;
        const char *name = p - from < 2 ? "" : arena_strndup(s->d->arena, from, (size_t)(p - from));
        if (*name && glob_match(s->glob, name))
            add(s, i, name, false);
        p += p == from;
    }
}

/* "NAME": value, and x["NAME"] = value, where the pattern asks for it. */
static void see_string(struct sweeper *s, size_t i)
{
    const struct token *k = &s->t->list.items[i];
    size_t b = before(s, i);
    if (k->broken)
        see_hidden(s, i);
    bool key = b && sign(s, b - 1) && strchr("{,[(", sign(s, b - 1)) && sign(s, i + 1) == ':';
    bool item = i && sign(s, i - 1) == '[' && sign(s, i + 1) == ']' && assigns(s, i + 2);

    if (!s->glob || k->triple || (!key && !item) || k->body_end - k->body > 200 || k->body_end <= k->body)
        return;
    if (memchr(s->t->text + k->body, '\0', k->body_end - k->body)) {
        add_source(s, i, "a key in it holds a NUL byte");
        return;
    }
    const char *name = arena_strndup(s->d->arena, s->t->text + k->body, k->body_end - k->body);
    if (glob_match(s->glob, name))
        add(s, i, name, false);
}

/* Java reads \uXXXX before anything else: outside of strings, or when it stands for a character that has a
 * meaning of its own, the tokens are not what the compiler sees. */
static void java_escapes(struct sweeper *s)
{
    const char *p = s->t->text, *end = p + s->t->len;
    size_t i = 0;

    while (p < end && (p = memchr(p, '\\', (size_t)(end - p)))) {
        if (p + 1 < end && p[1] != 'u') {
            p += 2;
            continue;
        }
        size_t at = (size_t)(p - s->t->text);
        const char *digits = p + 1;
        while (digits < end && *digits == 'u')
            digits++;
        while (!is_kind(s, i, TOKEN_END) && s->t->list.items[i].end <= at)
            i++;
        bool text = (is_kind(s, i, TOKEN_STRING) || is_kind(s, i, TOKEN_CHARACTER)) &&
                    s->t->list.items[i].start <= at;
        if (!text || (end - digits >= 4 && memcmp(digits, "00", 2) == 0 && digits[2] < '8')) {
            add_source(s, i, "its unicode escapes may stand for code");
            return;
        }
        p = digits;
    }
}

void sweep(struct declarations *d, size_t index, const char *name_glob)
{
    struct sweeper *s = xcalloc(1, sizeof(*s));
    size_t count = d->list.len, next = 0;

    *s = (struct sweeper){.d = d,
                          .t = &d->tokens[index],
                          .l = d->tokens[index].language->id,
                          .source = index,
                          .glob = name_glob};
    while (next < count && d->list.items[next].source != index)
        next++;
    for (size_t i = 0; !is_kind(s, i, TOKEN_END); i++) {
        while (next < count && d->list.items[next].name_token < i)
            next++;
        bool taken = next < count && d->list.items[next].name_token == i;
        if (is_kind(s, i, TOKEN_NAME) && !taken)
            see_name(s, i);
        else if (is_kind(s, i, TOKEN_STRING))
            see_string(s, i);
        s->enum_pending = s->enum_pending || token_is(s->t, i, "enum");
        see_bracket(s, i);
    }
    if (s->l == LANG_JAVA)
        java_escapes(s);
    free(s);
}
