/* SPDX-License-Identifier: MIT */
/* Methods on a string that leave it constant. */
#include "fold.h"

static void replace_all(struct strbuf *text, const struct strbuf *from, const struct strbuf *to)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    const char *p = strbuf_text(text), *end = p + text->len, *hit;

    while (from->len && (hit = memmem(p, (size_t)(end - p), from->data, from->len))) {
        strbuf_add(&out, p, (size_t)(hit - p));
        strbuf_add(&out, strbuf_text(to), to->len);
        p = hit + from->len;
    }
    strbuf_add(&out, p, (size_t)(end - p));
    strbuf_clear(text);
    strbuf_add(text, strbuf_text(&out), out.len);
}

/* The arguments between the parentheses at the cursor: at most two. Returns how many. */
static size_t arguments(struct folder *f, struct strbuf args[2])
{
    size_t n = 0;

    f->at++;
    f->parens++;
    f->at = fold_past_newlines(f, f->at);
    while (!fold_is(f, ")") && !f->problem && n < 2) {
        struct value v = {0};
        fold_expression(f, &v);
        value_text(&v, &args[n++]);
        value_release(&v);
        f->at = fold_past_newlines(f, f->at);
        if (fold_is(f, ","))
            f->at++;
    }
    f->parens--;
    if (fold_is(f, ")"))
        f->at++;
    else
        fold_fail(f, "it is not a constant expression");
    return n;
}

static void apply_method(struct folder *f, const char *method, struct strbuf args[2], size_t n,
                         struct value *ret)
{
    enum language_id l = f->t->language->id;
    const char *margin = n ? strbuf_text(&args[0]) : "|";

    if (n == 0 && strcmp(method, "trimIndent") == 0)
        indent_trim(&ret->text);
    else if (n <= 1 && strcmp(method, "trimMargin") == 0)
        indent_margin(&ret->text, margin, true);
    else if (n <= 1 && strcmp(method, "stripMargin") == 0)
        indent_margin(&ret->text, margin, false);
    else if (n == 0 && strcmp(method, "stripIndent") == 0)
        indent_strip(&ret->text);
    else if (n == 0 &&
             (strcmp(method, "trim") == 0 || strcmp(method, "strip") == 0 || strcmp(method, "Trim") == 0))
        text_trim(&ret->text);
    else if (n == 0 && (strcmp(method, "intern") == 0 || strcmp(method, "toString") == 0))
        return;
    else if (n == 2 && l != LANG_SCRIPT && (strcmp(method, "replace") == 0 || strcmp(method, "Replace") == 0))
        replace_all(&ret->text, &args[0], &args[1]);
    else
        fold_fail(f, arena_printf(f->set->arena, "it calls '%.80s'", method));
}

void fold_methods(struct folder *f, struct value *ret)
{
    fold_settle(f);
    while (!f->problem && fold_is(f, ".") && f->t->list.items[f->at + 1].kind == TOKEN_NAME) {
        struct strbuf args[2] = {STRBUF_INIT, STRBUF_INIT};
        const char *method = fold_word(f, f->at + 1);
        f->at += 2;
        size_t n = fold_is(f, "(") ? arguments(f, args) : 0;
        if (ret->kind != VALUE_TEXT)
            fold_fail(f, "it is not a constant expression");
        else if (!f->problem)
            apply_method(f, method, args, n, ret);
        strbuf_release(&args[0]);
        strbuf_release(&args[1]);
        fold_settle(f);
    }
}
