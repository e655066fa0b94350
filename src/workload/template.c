/* SPDX-License-Identifier: MIT */
/* Texts with {{...}}: compiled once into pieces. */
#include "template.h"

#include <limits.h>
#include "benchctl/base/units.h"

struct compiling {
    const struct workload_rows *rows;
    bool only_check; /* columns and variables are not looked at */
    bool takes_rows;
    struct arena *a;
    VEC(struct piece) pieces;
    workload_env_fn *env; /* NULL, or told of each {{env.NAME}} */
    void *data;
};

static const char *const names[] = {"counter", "vu",     "iteration", "uuid",       "id",      "time",
                                    "time_ms", "random", "choice",    "row.COLUMN", "env.NAME"};

static void add_text(struct compiling *c, const char *text, size_t len)
{
    if (len)
        vec_push(&c->pieces, (struct piece){.kind = PIECE_TEXT, .text = text, .len = len});
}

/* The next word of [*p, end) without blanks around it; false at the end. */
static bool next_word(const char **p, const char *end, const char **ret, size_t *ret_len)
{
    while (*p < end && strchr(" \t\r\n", **p))
        ++*p;
    *ret = *p;
    while (*p < end && !strchr(" \t\r\n", **p))
        ++*p;
    *ret_len = (size_t)(*p - *ret);
    return *ret_len > 0;
}

static bool is_word(const char *word, size_t len, const char *text)
{
    return len == strlen(text) && memcmp(word, text, len) == 0;
}

static int whole_number(const char *word, size_t len, int64_t *ret)
{
    struct error ignored = ERROR_INIT;
    char copy[32];

    if (len >= sizeof(copy))
        return -1;
    memcpy(copy, word, len);
    copy[len] = '\0';
    return integer_parse(copy, ret, &ignored);
}

static int compile_random(struct compiling *c, const char *p, const char *end, struct error *err)
{
    struct piece made = {.kind = PIECE_RANDOM};
    int64_t bounds[2];
    const char *word;
    size_t len;

    for (int i = 0; i < 2; i++) {
        if (!next_word(&p, end, &word, &len) || whole_number(word, len, &bounds[i]) < 0)
            goto wrong;
    }
    if (next_word(&p, end, &word, &len))
        goto wrong;
    if (bounds[0] > bounds[1])
        return error_set(err, ERROR_INVALID, "'{{random}}': %lld is above %lld", (long long)bounds[0],
                         (long long)bounds[1]);
    made.low = bounds[0];
    made.span = (uint64_t)bounds[1] - (uint64_t)bounds[0] + 1; /* 0: all 64 bits */
    vec_push(&c->pieces, made);
    return 0;
wrong:
    error_set(err, ERROR_INVALID, "'{{random}}' needs two whole numbers");
    return error_hint(err, "for instance {{random 1 1000}}, both ends included");
}

static int compile_choice(struct compiling *c, const char *p, const char *end, struct error *err)
{
    struct piece made = {.kind = PIECE_CHOICE};
    const char *word, *from = p;
    size_t len;

    while (next_word(&p, end, &word, &len))
        made.count++;
    if (!made.count) {
        error_set(err, ERROR_INVALID, "'{{choice}}' has nothing to choose from");
        return error_hint(err, "words with blanks between them: {{choice red green blue}}");
    }
    if (!c->only_check) {
        made.words = arena_array(c->a, struct word, made.count);
        for (size_t i = 0; next_word(&from, end, &word, &len); i++)
            made.words[i] = (struct word){.text = arena_strndup(c->a, word, len), .len = len};
    }
    vec_push(&c->pieces, made);
    return 0;
}

static int compile_row(struct compiling *c, const char *column, size_t len, struct error *err)
{
    struct piece made = {.kind = PIECE_ROW};
    char shown[SHOWN_SIZE];
    CLEANUP_FREE char *name = xstrndup(column, len);

    c->takes_rows = true;
    if (!len)
        return error_set(err, ERROR_INVALID, "'{{row.}}' names no column");
    if (c->only_check)
        return 0;
    if (!c->rows) {
        error_set(err, ERROR_INVALID, "'{{row.%s}}', but there are no rows", text_shown(name, shown));
        return error_hint(err, "data: FILE.csv, whose first line names the columns");
    }
    made.rows = c->rows;
    made.column = workload_rows_column(c->rows, column, len);
    if (made.column != SIZE_MAX) {
        vec_push(&c->pieces, made);
        return 0;
    }
    error_set(err, ERROR_INVALID, "no column is called '%s'", text_shown(name, shown));
    size_t count = workload_rows_columns(c->rows);
    const char **all = arena_array(c->a, const char *, count);
    for (size_t i = 0; i < count; i++)
        all[i] = workload_rows_column_name(c->rows, i);
    const char *near = nearest_name(name, all, count);
    return error_hint(err, near ? "did you mean '%s'?" : "the first is called '%s'", near ? near : all[0]);
}

static int compile_env(struct compiling *c, const char *name, size_t len, struct error *err)
{
    char shown[SHOWN_SIZE];
    CLEANUP_FREE char *variable = xstrndup(name, len);

    if (!len || strchr(variable, '='))
        return error_set(err, ERROR_INVALID, "'{{env.%s}}' names no variable", text_shown(variable, shown));
    if (c->env)
        c->env(variable, c->data);
    if (c->only_check)
        return 0;
    const char *value = getenv(variable);
    if (!value)
        return error_set(err, ERROR_INVALID, "the environment has no '%s'", text_shown(variable, shown));
    add_text(c, arena_strdup(c->a, value), strlen(value));
    return 0;
}

/* `whole` bytes from `word` on, which itself has `len`. */
static int unknown(const char *word, size_t len, size_t whole, struct error *err)
{
    char shown[SHOWN_SIZE];
    CLEANUP_FREE char *all = xstrndup(word, whole);
    CLEANUP_FREE char *name = xstrndup(word, len);

    error_set(err, ERROR_INVALID, "unknown '{{%s}}'", text_shown(all, shown));
    const char *near = nearest_name(name, names, ARRAY_LEN(names));
    if (near)
        return error_hint(err, "did you mean '{{%s}}'?", near);
    return error_hint(err,
                      "known are counter, vu, iteration, uuid, id, random A B, choice A B ..., row.COLUMN, "
                      "env.NAME, time and time_ms; {{{{ is a literal {{");
}

/* What stands between {{ and }}. */
static int compile_value(struct compiling *c, const char *p, const char *end, struct error *err)
{
    const char *word, *more;
    size_t len, more_len;

    if (!next_word(&p, end, &word, &len)) {
        error_set(err, ERROR_INVALID, "'{{}}' is empty");
        return error_hint(err, "{{{{ is a literal {{");
    }
    if (is_word(word, len, "random"))
        return compile_random(c, p, end, err);
    if (is_word(word, len, "choice"))
        return compile_choice(c, p, end, err);
    if (len >= 4 && memcmp(word, "row.", 4) == 0) { /* a column's name may have blanks in it */
        while (end > word && strchr(" \t\r\n", end[-1]))
            end--;
        return compile_row(c, word + 4, (size_t)(end - word) - 4, err);
    }
    if (next_word(&p, end, &more, &more_len))
        return unknown(word, len, (size_t)(end - word), err);
    if (len >= 4 && memcmp(word, "env.", 4) == 0)
        return compile_env(c, word + 4, len - 4, err);
    for (size_t i = 0; i <= PIECE_TIME_MS - PIECE_COUNTER; i++) {
        if (!is_word(word, len, names[i]))
            continue;
        vec_push(&c->pieces, (struct piece){.kind = (enum piece_kind)(PIECE_COUNTER + i)});
        return 0;
    }
    return unknown(word, len, len, err);
}

static const char *find(const char *p, const char *end, const char *what)
{
    return memmem(p, (size_t)(end - p), what, strlen(what));
}

static int compile(struct compiling *c, const char *p, const char *end, struct error *err)
{
    const char *open;

    while ((open = find(p, end, "{{"))) {
        bool literal = end - open >= 4 && memcmp(open, "{{{{", 4) == 0;
        add_text(c, p, (size_t)(open - p) + (literal ? 2 : 0));
        if (literal) {
            p = open + 4;
            continue;
        }
        const char *close = find(open + 2, end, "}}");
        if (!close) {
            error_set(err, ERROR_INVALID, "'{{' without '}}'");
            return error_hint(err, "{{{{ is a literal {{");
        }
        if (compile_value(c, open + 2, close, err) < 0)
            return -1;
        p = close + 2;
    }
    add_text(c, p, (size_t)(end - p));
    return 0;
}

int workload_template_check(const char *text, bool *ret_rows, struct error *err)
{
    struct compiling c = {.only_check = true};
    int result = strstr(text, "{{") ? compile(&c, text, text + strlen(text), err) : 0;

    vec_release(&c.pieces);
    if (result == 0)
        *ret_rows = c.takes_rows;
    return result;
}

int workload_template_each_env(const struct workload_text *text, workload_env_fn *env, void *data,
                               struct error *err)
{
    struct compiling c = {.only_check = true, .env = env, .data = data};
    int result = compile(&c, text->text, text->text + text->len, err);

    vec_release(&c.pieces);
    return result;
}

/* One piece for texts that follow each other, all of them in the arena. */
static void keep(struct compiling *c, struct workload_template *t)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf joined = STRBUF_INIT;

    t->pieces = arena_array(c->a, struct piece, c->pieces.len + 1);
    for (size_t i = 0; i < c->pieces.len; i++) {
        struct piece *one = &c->pieces.items[i];
        if (one->kind != PIECE_TEXT) {
            t->pieces[t->count++] = *one;
            t->constant = false;
            continue;
        }
        strbuf_clear(&joined);
        for (; i < c->pieces.len && c->pieces.items[i].kind == PIECE_TEXT; i++)
            strbuf_add(&joined, c->pieces.items[i].text, c->pieces.items[i].len);
        i--;
        t->pieces[t->count++] = (struct piece){
            .kind = PIECE_TEXT,
            .text = arena_copy(c->a, strbuf_text(&joined), joined.len),
            .len = joined.len,
        };
    }
}

int workload_template_compile(const char *text, size_t len, const struct workload_rows *rows, struct arena *a,
                              struct workload_template **ret, struct error *err)
{
    struct compiling c = {.rows = rows, .a = a};
    int result = compile(&c, text, text + len, err);

    if (result == 0) {
        struct workload_template *t = arena_new_of(a, struct workload_template);
        t->constant = true;
        keep(&c, t);
        *ret = t;
    }
    vec_release(&c.pieces);
    return result;
}
