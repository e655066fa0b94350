/* SPDX-License-Identifier: MIT */
/* Finds where constants are declared: the right keywords at a level where constants live, not inside
 * functions. */
#include "declare.h"

#define MAX_LEVELS 200

bool declare_word(const struct scanner *s, size_t i, const char *const *words)
{
    for (; *words; words++)
        if (token_is(s->t, i, *words))
            return true;
    return false;
}

char *declare_text(const struct scanner *s, size_t i)
{
    const struct token *k = &s->t->list.items[i];

    return arena_strndup(s->set->arena, s->t->text + k->start, k->end - k->start);
}

bool declare_is_name(const struct scanner *s, size_t i)
{
    return s->t->list.items[i].kind == TOKEN_NAME;
}

void declare_add(struct scanner *s, size_t name, size_t expression, bool is_text, bool is_other)
{
    const struct level *top = &s->levels[s->depth];
    const struct declaration d = {.name = declare_text(s, name),
                                  .type_path = top->path,
                                  .source = s->source,
                                  .first_token = expression,
                                  .name_token = name,
                                  .line = s->t->list.items[name].line,
                                  .is_text = is_text,
                                  .is_other = is_other};

    if (name < s->next_name) /* broken source: looked ahead past it already */
        return;
    s->next_name = name + 1;
    vec_push(&s->set->list, d);
}

void declare_type(struct scanner *s, size_t type)
{
    if (type && s->set->list.len && declare_is_name(s, type))
        s->set->list.items[s->set->list.len - 1].declared_as = declare_text(s, type);
}

size_t expression_end(const struct tokens *t, size_t from)
{
    int depth = 0;
    size_t i = from;

    while (t->list.items[i].kind == TOKEN_NEWLINE)
        i++;
    for (; t->list.items[i].kind != TOKEN_END; i++) {
        const struct token *k = &t->list.items[i];
        char c = k->kind == TOKEN_SIGN ? t->text[k->start] : k->kind == TOKEN_NEWLINE ? '\n' : '\0';
        if (depth == 0 && c && strchr(",;)]}", c))
            break;
        if (depth == 0 && c == '\n') {
            size_t next = i;
            while (t->list.items[next].kind == TOKEN_NEWLINE)
                next++;
            bool joined = t->list.items[i - 1].kind == TOKEN_SIGN &&
                          strchr("+-*/%.(=", t->text[t->list.items[i - 1].start]);
            joined = joined || (t->language->leading_plus && token_is(t, next, "+")) ||
                     (t->language->leading_dot && token_is(t, next, "."));
            if (!joined)
                break;
        }
        depth += c && strchr("([{", c) ? 1 : c && strchr(")]}", c) ? -1 : 0;
    }
    return i;
}

/* ---- levels ---- */

static void push_level(struct scanner *s, enum level_kind kind, const char *name)
{
    if (s->depth + 1 >= MAX_LEVELS) {
        s->too_deep++;
        return;
    }
    const char *path = s->levels[s->depth].path;
    struct level *l = &s->levels[++s->depth];
    *l = (struct level){.kind = kind, .parens = s->parens, .path = path};
    if (name && *name)
        l->path = *path ? arena_printf(s->set->arena, "%.2000s.%s", path, name) : name;
}

static void pop_level(struct scanner *s)
{
    if (s->too_deep) {
        s->too_deep--;
        return;
    }
    if (!s->depth)
        return;
    s->parens = s->levels[s->depth].parens;
    s->depth--;
}

bool declare_at_base(const struct scanner *s)
{
    return s->parens == s->levels[s->depth].parens && !s->too_deep;
}

/* "class NAME", "object NAME", "interface NAME" and so on: what the next brace opens. */
static void see_header(struct scanner *s, size_t i)
{
    static const char *const classes[] = {"class", "enum", "record", "struct", "trait", NULL},
                             *const objects[] = {"object", NULL}, *const interfaces[] = {"interface", NULL},
                             *const spaces[] = {"namespace", "module", NULL},
                             *const others[] = {"fun",      "val",    "var",    "def", "func",
                                                "function", "import", "return", NULL};
    enum level_kind kind = declare_word(s, i, classes)      ? LEVEL_CLASS
                           : declare_word(s, i, objects)    ? LEVEL_OBJECT
                           : declare_word(s, i, interfaces) ? LEVEL_INTERFACE
                           : declare_word(s, i, spaces)     ? LEVEL_SPACE
                                                            : LEVEL_CODE;
    bool companion = i > 0 && token_is(s->t, i - 1, "companion");

    if (!declare_at_base(s) || (i > 0 && token_is(s->t, i - 1, ".")))
        return;
    if (declare_word(s, i, others))
        s->pending = LEVEL_CODE;
    if (kind == LEVEL_CODE || (!declare_is_name(s, i + 1) && !companion))
        return;
    s->pending = kind;
    s->pending_name = companion && !declare_is_name(s, i + 1) ? "" : declare_text(s, i + 1);
}

static void see_sign(struct scanner *s, size_t i)
{
    char c = s->t->text[s->t->list.items[i].start];

    if (c == '(' || c == '[') {
        s->parens++;
    } else if (c == ')' || c == ']') {
        s->parens -= s->parens > s->levels[s->depth].parens;
    } else if (c == '{') {
        bool type = s->pending != LEVEL_CODE && declare_at_base(s);
        push_level(s, type ? s->pending : LEVEL_CODE, type ? s->pending_name : NULL);
        s->pending = LEVEL_CODE;
        s->statement = i + 1;
    } else if (c == '}') {
        pop_level(s);
        if (declare_at_base(s))
            s->statement = i + 1;
    } else if (c == ';' && declare_at_base(s)) {
        s->pending = LEVEL_CODE;
        s->statement = i + 1;
    }
}

/* ---- languages ---- */

static bool between(const struct scanner *s, size_t from, size_t to, const char *word)
{
    for (size_t i = from; i < to; i++)
        if (token_is(s->t, i, word))
            return true;
    return false;
}

/* Java, C#, Groovy: MODIFIERS TYPE NAME = EXPRESSION, NAME = EXPRESSION; the cursor is on a '='. */
static void field(struct scanner *s, size_t i)
{
    enum language_id l = s->t->language->id;
    size_t start = s->statement;

    if (i < start + 1 || !declare_is_name(s, i - 1) || token_is(s->t, i + 1, "="))
        return;
    bool first = i < start + 2 || !token_is(s->t, i - 2, ",");
    if (first) {
        bool fixed =
            between(s, start, i, "static") && between(s, start, i, l == LANG_CSHARP ? "readonly" : "final");
        s->field_wanted = fixed || (l == LANG_CSHARP && between(s, start, i, "const")) ||
                          (l != LANG_CSHARP && s->levels[s->depth].kind == LEVEL_INTERFACE);
        s->field_is_text = i >= start + 2 && (token_is(s->t, i - 2, "String") ||
                                              (l == LANG_CSHARP && token_is(s->t, i - 2, "string")));
        bool untyped = l == LANG_GROOVY && (i < start + 2 || token_is(s->t, i - 2, "final") ||
                                            token_is(s->t, i - 2, "static") || token_is(s->t, i - 2, "def"));
        s->field_is_other = !s->field_is_text && !untyped;
    }
    if (first)
        s->field_type = s->field_is_other ? i - 2 : 0;
    if (s->field_wanted) {
        declare_add(s, i - 1, i + 1, s->field_is_text, s->field_is_other);
        declare_type(s, s->field_type);
    }
}

/* The '=' behind NAME or NAME: TYPE, with NAME at i; 0 when there is none. *ret_type: the token of the type,
 * or 0. */
static size_t assignment(const struct scanner *s, size_t i, size_t *ret_type)
{
    size_t e = i + 1;

    *ret_type = 0;
    if (token_is(s->t, e, ":")) {
        *ret_type = e + 1;
        for (e++;
             e < i + 60 && s->t->list.items[e].kind != TOKEN_END && s->t->list.items[e].kind != TOKEN_NEWLINE;
             e++)
            if (token_is(s->t, e, "=") && !token_is(s->t, e + 1, ">"))
                return e;
        return 0;
    }
    return token_is(s->t, e, "=") && !token_is(s->t, e + 1, "=") ? e : 0;
}

/* Kotlin and Scala: [const] val NAME [: TYPE] = EXPRESSION; the cursor is on `val`. */
static void val(struct scanner *s, size_t i)
{
    const struct level *top = &s->levels[s->depth];
    bool constant = i > 0 && token_is(s->t, i - 1, "const");
    bool place = s->depth == 0 || top->kind == LEVEL_OBJECT || (constant && top->kind != LEVEL_CODE);
    size_t type, e = declare_is_name(s, i + 1) && place ? assignment(s, i + 1, &type) : 0;

    if (!e)
        return;
    bool text = type && token_is(s->t, type, "String");
    declare_add(s, i + 1, e + 1, text, type && !text);
    declare_type(s, text ? 0 : type);
}

/* JavaScript and TypeScript: const NAME [: TYPE] = EXPRESSION, NAME = ...; or static [readonly] NAME in a
 * class. */
static void script(struct scanner *s, size_t i)
{
    enum level_kind kind = s->levels[s->depth].kind;
    bool is_const = token_is(s->t, i, "const") && (s->depth == 0 || kind == LEVEL_SPACE);
    bool is_static = token_is(s->t, i, "static") && kind == LEVEL_CLASS;
    size_t name = i + 1;

    if (!is_const && !is_static)
        return;
    if (is_static && token_is(s->t, name, "readonly"))
        name++;
    while (declare_is_name(s, name)) {
        size_t type, e = assignment(s, name, &type);
        if (!e)
            return;
        bool text = type && token_is(s->t, type, "string");
        declare_add(s, name, e + 1, text, type && !text && s->t->list.items[type].kind == TOKEN_NAME);
        declare_type(s, text ? 0 : type);
        size_t end = expression_end(s->t, e + 1);
        if (!token_is(s->t, end, ","))
            return;
        for (name = end + 1; s->t->list.items[name].kind == TOKEN_NEWLINE; name++)
            ;
    }
}

static void declare_without(struct scanner *s, size_t name)
{
    size_t before = s->set->list.len;

    declare_add(s, name, name + 1, false, false);
    if (s->set->list.len > before)
        s->set->list.items[before].problem = "it has no value of its own";
}

/* One specification of Go: NAME, NAME [TYPE] = EXPRESSION, EXPRESSION. Returns where it ends. */
static size_t go_specification(struct scanner *s, size_t i)
{
    size_t names[16], n = 0;

    while (declare_is_name(s, i) && n < ARRAY_LEN(names)) {
        names[n++] = i++;
        if (!token_is(s->t, i, ","))
            break;
        i++;
    }
    bool text = token_is(s->t, i, "string"), other = declare_is_name(s, i) && !text;
    size_t type = other ? i : 0;
    i += text || other;
    if (!n || !token_is(s->t, i, "=")) {
        for (size_t k = 0; k < n; k++) /* in a group: what stands above it, once more */
            declare_without(s, names[k]);
        return i;
    }
    for (size_t k = 0; k < n; k++) {
        declare_add(s, names[k], i + 1, text, other);
        declare_type(s, type);
        i = expression_end(s->t, i + 1);
        if (!token_is(s->t, i, ","))
            break;
    }
    return i;
}

/* Go: const NAME = EXPRESSION, or const ( ... ). Returns the token to go on with. */
static size_t go_const(struct scanner *s, size_t i)
{
    if (s->depth || !token_is(s->t, i, "const"))
        return i;
    if (!token_is(s->t, i + 1, "(")) {
        (void)go_specification(s, i + 1);
        return i;
    }
    for (i += 2; s->t->list.items[i].kind != TOKEN_END && !token_is(s->t, i, ")");) {
        size_t next = declare_is_name(s, i) ? go_specification(s, i) : i + 1;
        i = next > i ? next : i + 1;
    }
    return s->t->list.items[i].kind == TOKEN_END ? i - 1 : i; /* the last token ends every loop */
}

static size_t see_name(struct scanner *s, size_t i)
{
    enum language_id l = s->t->language->id;

    see_header(s, i);
    if (!declare_at_base(s))
        return i;
    if ((l == LANG_KOTLIN || l == LANG_SCALA) && token_is(s->t, i, "val"))
        val(s, i);
    else if (l == LANG_SCRIPT)
        script(s, i);
    else if (l == LANG_GO)
        return go_const(s, i);
    return i;
}

static void scan(struct scanner *s)
{
    enum language_id l = s->t->language->id;
    bool fields = l == LANG_JAVA || l == LANG_CSHARP || l == LANG_GROOVY;

    for (size_t i = 0; s->t->list.items[i].kind != TOKEN_END; i++) {
        const struct token *k = &s->t->list.items[i];
        bool type = s->depth && s->levels[s->depth].kind != LEVEL_CODE;
        if (k->kind == TOKEN_NAME)
            i = see_name(s, i);
        else if (k->kind == TOKEN_NEWLINE && l == LANG_GROOVY && declare_at_base(s))
            s->statement = i + 1;
        else if (fields && type && declare_at_base(s) && token_is(s->t, i, "="))
            field(s, i);
        else if (k->kind == TOKEN_SIGN)
            see_sign(s, i);
    }
}

void declare(struct declarations *d, size_t index)
{
    struct level *levels = xcalloc(MAX_LEVELS, sizeof(*levels));
    struct scanner s = {.set = d, .t = &d->tokens[index], .source = index, .levels = levels};

    levels[0] = (struct level){.kind = LEVEL_SPACE, .path = ""};
    if (s.t->language->id == LANG_PYTHON)
        declare_python(&s);
    else
        scan(&s);
    free(levels);
}
