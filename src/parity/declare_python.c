/* SPDX-License-Identifier: MIT */
/* Python: NAME = EXPRESSION or NAME: TYPE = EXPRESSION at the top of a module or class, found by indentation.
 */
#include "declare.h"

#define MAX_BLOCKS 100

struct block {
    int column;
    bool is_class;
    const char *path;
};

/* The '=' of "NAME = " or "NAME: TYPE = " at i; 0 when it is something else. */
static size_t assignment(const struct scanner *s, size_t i, bool *ret_text)
{
    size_t e = i + 1;

    *ret_text = false;
    if (token_is(s->t, e, ":")) {
        for (e++; s->t->list.items[e].kind != TOKEN_END && s->t->list.items[e].kind != TOKEN_NEWLINE &&
                  !token_is(s->t, e, "=");
             e++)
            *ret_text = *ret_text || token_is(s->t, e, "str");
    }
    return token_is(s->t, e, "=") && !token_is(s->t, e + 1, "=") ? e : 0;
}

/* To the end of the logical line: line ends inside brackets do not count. */
static size_t line_end(const struct scanner *s, size_t i)
{
    int depth = 0;

    for (; s->t->list.items[i].kind != TOKEN_END; i++) {
        const struct token *k = &s->t->list.items[i];
        char c = k->kind == TOKEN_SIGN ? s->t->text[k->start] : '\0';
        if (k->kind == TOKEN_NEWLINE && depth <= 0)
            break;
        depth += c && strchr("([{", c) ? 1 : c && strchr(")]}", c) ? -1 : 0;
    }
    return i;
}

void declare_python(struct scanner *s)
{
    static const char *const blocks[] = {"def", "async",  "if",      "elif", "else",  "for",   "while",
                                         "try", "except", "finally", "with", "match", "class", NULL};
    struct block stack[MAX_BLOCKS] = {{.column = -1, .is_class = true, .path = ""}};
    size_t depth = 0;

    for (size_t i = 0; s->t->list.items[i].kind != TOKEN_END; i++) {
        const struct token *k = &s->t->list.items[i];
        if (k->kind == TOKEN_NEWLINE)
            continue;
        while (depth && k->column <= stack[depth].column)
            depth--;
        bool text, class = token_is(s->t, i, "class");
        if (declare_word(s, i, blocks) && depth + 1 < MAX_BLOCKS) {
            const char *outer = stack[depth].path,
                       *name = class && declare_is_name(s, i + 1) ? declare_text(s, i + 1) : "";
            bool inside = stack[depth].is_class;
            stack[++depth] =
                (struct block){k->column, class && inside,
                               *outer && *name ? arena_printf(s->set->arena, "%.2000s.%s", outer, name)
                               : *name         ? name
                                               : outer};
        } else if (stack[depth].is_class && declare_is_name(s, i)) {
            size_t e = assignment(s, i, &text);
            s->levels[0].path = stack[depth].path;
            if (e)
                declare_add(s, i, e + 1, text, false);
        }
        i = line_end(s, i);
        if (s->t->list.items[i].kind == TOKEN_END)
            return;
    }
}
