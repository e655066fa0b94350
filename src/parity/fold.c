/* SPDX-License-Identifier: MIT */
/* Constant expressions: strings, characters, numbers and other constants, joined and computed as their
 * language does. */
#include "fold.h"

#include <inttypes.h>
#include <errno.h>

#define MAX_DEPTH 60
#define MAX_EXACT ((int64_t)1 << 53) /* of whole numbers in JavaScript */
#define MAX_TOTAL_BYTES ((size_t)64 << 20)

void value_release(struct value *v)
{
    strbuf_release(&v->text);
    v->kind = VALUE_NONE;
}

void fold_fail(struct folder *f, const char *problem)
{
    if (!f->problem)
        f->problem = problem;
}

const struct token *fold_current(const struct folder *f)
{
    return &f->t->list.items[f->at];
}

bool fold_is(const struct folder *f, const char *word)
{
    return token_is(f->t, f->at, word);
}

size_t fold_past_newlines(const struct folder *f, size_t at)
{
    while (f->t->list.items[at].kind == TOKEN_NEWLINE)
        at++;
    return at;
}

/* Steps over line ends where the expression goes on behind them. */
void fold_settle(struct folder *f)
{
    size_t next = fold_past_newlines(f, f->at);

    if (next == f->at)
        return;
    bool plus = f->t->language->leading_plus && token_is(f->t, next, "+");
    bool dot = f->t->language->leading_dot && token_is(f->t, next, ".");
    if (f->parens || plus || dot)
        f->at = next;
}

/* ---- values ---- */

void value_text(const struct value *v, struct strbuf *out)
{
    if (v->kind == VALUE_INTEGER) {
        strbuf_addf(out, "%" PRId64, v->number);
    } else if (v->kind == VALUE_CHARACTER) {
        uint64_t c = (uint64_t)v->number;
        if (c < 0x80) {
            strbuf_addc(out, (char)c);
        } else if (c < 0x800) {
            strbuf_addc(out, (char)(0xc0 | c >> 6));
            strbuf_addc(out, (char)(0x80 | (c & 0x3f)));
        } else {
            strbuf_addc(out, (char)(0xe0 | c >> 12));
            strbuf_addc(out, (char)(0x80 | (c >> 6 & 0x3f)));
            strbuf_addc(out, (char)(0x80 | (c & 0x3f)));
        }
    } else {
        strbuf_add(out, strbuf_text(&v->text), v->text.len);
    }
}

static bool numeric(const struct value *v)
{
    return v->kind == VALUE_INTEGER || v->kind == VALUE_CHARACTER;
}

static bool fits_int(int64_t n)
{
    return n >= INT32_MIN && n <= INT32_MAX;
}

static void compute(struct folder *f, char op, struct value *left, const struct value *right)
{
    enum language_id l = f->t->language->id;
    int64_t r = 0;
    bool bad = !numeric(left) || !numeric(right);

    if (left->kind == VALUE_CHARACTER || right->kind == VALUE_CHARACTER)
        bad = bad || (l != LANG_JAVA && l != LANG_CSHARP);
    if (op == '+')
        bad = bad || __builtin_add_overflow(left->number, right->number, &r);
    else if (op == '-')
        bad = bad || __builtin_sub_overflow(left->number, right->number, &r);
    else if (op == '*')
        bad = bad || __builtin_mul_overflow(left->number, right->number, &r);
    else if (l == LANG_PYTHON || l == LANG_SCRIPT || l == LANG_GROOVY || right->number == 0 ||
             right->number == -1)
        bad = true; /* not whole, or not the same everywhere */
    else if (!bad)
        r = op == '/' ? left->number / right->number : left->number % right->number;
    bool narrow = l != LANG_GO && l != LANG_PYTHON && l != LANG_SCRIPT;
    if (narrow && !bad) /* what is an int overflows there */
        bad = !fits_int(left->number) || !fits_int(right->number) || !fits_int(r);
    if (l == LANG_SCRIPT && !bad)
        bad = r > MAX_EXACT || r < -MAX_EXACT;
    if (bad) {
        fold_fail(f, "it computes something");
        return;
    }
    left->kind = VALUE_INTEGER;
    left->number = r;
}

static void add(struct folder *f, struct value *left, const struct value *right)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (left->kind != VALUE_TEXT && right->kind != VALUE_TEXT) {
        compute(f, '+', left, right);
        return;
    }
    text.max = LITERAL_MAX_BYTES;
    value_text(left, &text);
    value_text(right, &text);
    strbuf_clear(&left->text);
    strbuf_add(&left->text, strbuf_text(&text), text.len);
    left->kind = VALUE_TEXT;
    if (text.overflow)
        fold_fail(f, "its value is too long");
}

/* ---- primaries ---- */

static bool fill_hole(const char *text, size_t from, size_t to, struct strbuf *out, void *data)
{
    const struct folder *outer = data;
    struct tokens part;
    struct value v = {0};

    lex_part(outer->t->language, text, from, to, &part);
    struct folder f = {
        .set = outer->set, .context = outer->context, .t = &part, .depth = outer->depth, .parens = 1};
    fold_expression(&f, &v);
    f.at = fold_past_newlines(&f, f.at);
    bool good = !f.problem && fold_current(&f)->kind == TOKEN_END && v.kind != VALUE_NONE;
    if (good)
        value_text(&v, out);
    value_release(&v);
    tokens_release(&part);
    return good;
}

static void string(struct folder *f, struct value *ret)
{
    const struct hole_filler holes = {fill_hole, f};
    const char *problem;

    ret->kind = VALUE_TEXT;
    ret->text.max = LITERAL_MAX_BYTES;
    do {
        problem = literal_value(f->t, fold_current(f), &holes, &ret->text);
        if (problem)
            fold_fail(f, problem);
        f->at++;
        if (f->parens)
            f->at = fold_past_newlines(f, f->at);
    } while (!problem && f->t->language->id == LANG_PYTHON && fold_current(f)->kind == TOKEN_STRING);
    if (ret->text.overflow)
        fold_fail(f, "its value is too long");
}

/* 10, 0x1F, 1_000, 10L. Fractions print in too many ways. */
static void number(struct folder *f, struct value *ret)
{
    const struct token *k = fold_current(f);
    char digits[64];
    size_t n = 0;

    for (size_t i = k->start; i < k->end && n < sizeof(digits) - 1; i++)
        if (f->t->text[i] != '_')
            digits[n++] = f->t->text[i];
    digits[n] = '\0';
    f->at++;
    bool hex = digits[0] == '0' && (digits[1] | 0x20) == 'x';
    bool is_long = n > 1 && strchr("lL", digits[n - 1]);
    if (is_long)
        digits[--n] = '\0';
    char *end;
    errno = 0;
    long long value = strtoll(digits, &end, hex ? 16 : 10);
    enum language_id l = f->t->language->id;
    bool fits = l == LANG_SCRIPT                              ? value <= MAX_EXACT
                : l == LANG_GO || l == LANG_PYTHON || is_long ? true
                                                              : fits_int(value);
    if (fits && n < sizeof(digits) - 2 && !*end && !errno && (hex || digits[0] != '0' || !digits[1])) {
        ret->kind = VALUE_INTEGER;
        ret->number = value;
        return;
    }
    fold_fail(f, "it holds a number that may print in several ways");
}

static void in_parens(struct folder *f, struct value *ret)
{
    f->parens++;
    f->at++;
    fold_expression(f, ret);
    f->at = fold_past_newlines(f, f->at);
    if (!fold_is(f, ")"))
        fold_fail(f, "it is not a constant expression");
    else
        f->at++;
    f->parens--;
}

char *fold_word(const struct folder *f, size_t at)
{
    const struct token *k = &f->t->list.items[at];

    return arena_strndup(f->set->arena, f->t->text + k->start, k->end - k->start);
}

static bool is_call(const struct folder *f, size_t at)
{
    return token_is(f->t, at, "(");
}

/* Functions and tags before a string that leave it a string: dedent("..."), sql`...`. */
static bool wrapped(struct folder *f, const char *name, struct value *ret)
{
    bool python = f->t->language->id == LANG_PYTHON, script = f->t->language->id == LANG_SCRIPT;

    if (python && strcmp(name, "dedent") == 0 && fold_is(f, "(")) {
        in_parens(f, ret);
        if (ret->kind != VALUE_TEXT || indent_is_mixed(&ret->text))
            fold_fail(f, "it is indented by blanks and tabs");
        indent_dedent(&ret->text);
        return true;
    }
    bool tag = strcmp(name, "sql") == 0 || strcmp(name, "SQL") == 0 || strcmp(name, "gql") == 0;
    if (script && tag && fold_current(f)->kind == TOKEN_STRING && fold_current(f)->quote == '`') {
        string(f, ret);
        return true;
    }
    return false;
}

/* NAME, Type.NAME, true; a method that follows is left for fold_methods(). */
static void name(struct folder *f, struct value *ret)
{
    const char *last = fold_word(f, f->at), *owner = NULL;

    f->at++;
    while (fold_is(f, ".") && f->t->list.items[f->at + 1].kind == TOKEN_NAME && !is_call(f, f->at + 2)) {
        const char *next = fold_word(f, f->at + 1);
        if (f->t->language->id == LANG_SCALA && strcmp(next, "stripMargin") == 0)
            break;
        owner = strcmp(last, "this") == 0 || strcmp(last, "self") == 0 || strcmp(last, "cls") == 0 ||
                        strcmp(last, "Companion") == 0
                    ? NULL
                    : last;
        last = next;
        f->at += 2;
    }
    if (fold_is(f, ".") && strcmp(last, "textwrap") == 0) { /* textwrap.dedent( */
        last = fold_word(f, f->at + 1);
        f->at += 2;
    }
    if (wrapped(f, last, ret))
        return;
    bool truth = strcmp(last, "true") == 0 || strcmp(last, "false") == 0;
    if (truth && f->t->language->id != LANG_CSHARP) { /* there it is True */
        ret->kind = VALUE_WORD;
        strbuf_adds(&ret->text, last);
    } else if (fold_is(f, "(")) {
        fold_fail(f, arena_printf(f->set->arena, "it calls '%.80s'", last));
    } else if (fold_is(f, ".") && is_call(f, f->at + 2) && !fold_resolve(f, last, owner)) {
        fold_fail(f, arena_printf(f->set->arena, "it calls '%.80s'", fold_word(f, f->at + 1)));
    } else {
        fold_name_value(f, last, owner, ret);
    }
}

static void primary(struct folder *f, struct value *ret)
{
    const struct token *k;

    if (f->parens)
        f->at = fold_past_newlines(f, f->at);
    k = fold_current(f);
    if (k->kind == TOKEN_STRING) {
        string(f, ret);
    } else if (k->kind == TOKEN_CHARACTER) {
        ret->kind = VALUE_CHARACTER;
        ret->number = literal_character(f->t, k);
        if (ret->number < 0)
            fold_fail(f, "it holds a character that is none");
        f->at++;
    } else if (k->kind == TOKEN_NUMBER) {
        number(f, ret);
    } else if (k->kind == TOKEN_NAME) {
        name(f, ret);
    } else if (fold_is(f, "(")) {
        in_parens(f, ret);
    } else {
        fold_fail(f, "it is not a constant expression");
    }
}

/* ---- operators ---- */

static void unary(struct folder *f, struct value *ret)
{
    bool minus = false, sign = false;

    if (++f->depth > MAX_DEPTH) {
        fold_fail(f, "it is nested too deep");
        return;
    }
    for (; fold_is(f, "-") || fold_is(f, "+"); f->at++)
        minus = minus != fold_is(f, "-"), sign = true;
    primary(f, ret);
    if (!f->problem)
        fold_methods(f, ret);
    if (sign && ret->kind != VALUE_INTEGER)
        fold_fail(f, "it is not a constant expression");
    else if (minus && ret->kind == VALUE_INTEGER && ret->number != INT64_MIN)
        ret->number = -ret->number;
    else if (minus)
        fold_fail(f, "it is not a constant expression");
    f->depth--;
}

static void multiplicative(struct folder *f, struct value *ret)
{
    unary(f, ret);
    while (!f->problem && (fold_is(f, "*") || fold_is(f, "/") || fold_is(f, "%"))) {
        struct value right = {0};
        char op = f->t->text[fold_current(f)->start];
        f->at = fold_past_newlines(f, f->at + 1);
        unary(f, &right);
        if (!f->problem)
            compute(f, op, ret, &right);
        value_release(&right);
        fold_settle(f);
    }
}

static void additive(struct folder *f, struct value *ret)
{
    multiplicative(f, ret);
    fold_settle(f);
    while (!f->problem && (fold_is(f, "+") || fold_is(f, "-"))) {
        struct value right = {0};
        char op = f->t->text[fold_current(f)->start];
        f->at = fold_past_newlines(f, f->at + 1);
        multiplicative(f, &right);
        if (!f->problem && op == '+')
            add(f, ret, &right);
        else if (!f->problem)
            compute(f, '-', ret, &right);
        value_release(&right);
        fold_settle(f);
    }
}

void fold_expression(struct folder *f, struct value *ret)
{
    additive(f, ret);
}

/* May a declaration end at the cursor? */
static bool at_end(const struct folder *f)
{
    const struct token *k = fold_current(f);

    if (k->kind == TOKEN_END || k->kind == TOKEN_NEWLINE)
        return true;
    if (k->kind == TOKEN_NAME)
        return f->t->language->id == LANG_SCRIPT && (fold_is(f, "as") || fold_is(f, "satisfies"));
    bool tuple = f->t->language->id == LANG_PYTHON && fold_is(f, ",");
    return k->kind == TOKEN_SIGN && !tuple && strchr(";,})", f->t->text[k->start]);
}

void fold_declaration(struct declarations *d, struct declaration *one)
{
    if (one->state == DECLARATION_FOLDING) {
        one->problem = "it refers to itself";
        return;
    }
    if (one->state == DECLARATION_DONE)
        return;
    struct folder f = {.set = d, .context = one, .t = &d->tokens[one->source], .at = one->first_token};
    one->state = DECLARATION_FOLDING;
    f.at = fold_past_newlines(&f, f.at);
    if (d->depth >= MAX_DEPTH) {
        f.problem = "it refers to too many others";
    } else {
        d->depth++;
        fold_expression(&f, &one->value);
        d->depth--;
    }
    if (!f.problem && !at_end(&f))
        f.problem = "it is not a constant expression";
    d->bytes += one->value.text.len;
    if (!f.problem && d->bytes > MAX_TOTAL_BYTES)
        f.problem = "the values are too long altogether";
    if (f.problem)
        value_release(&one->value);
    one->problem = one->problem ? one->problem : f.problem;
    one->state = DECLARATION_DONE;
}
