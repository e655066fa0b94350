/* SPDX-License-Identifier: MIT */
/* A document without its secrets, otherwise byte for byte as it was written. */
#include "tree_internal.h"

#include "benchctl/base/schema.h"
#include "benchctl/base/strbuf.h"

/* A scalar's place in the text and what stands there instead. */
struct masked {
    const struct node *node;
    bool whole; /* all of it, not only a password within */
};

struct mask {
    VEC(struct masked) found;
};

/* A reference tells a name, not what the name stands for; a default may be telling, unless it is empty. */
static bool only_reference(const char *text)
{
    size_t len = strlen(text);
    const char *fallback = strstr(text, ":-");

    return text_starts(text, "${") && strchr(text, '}') == text + len - 1 &&
           (!fallback || strcmp(fallback, ":-}") == 0);
}

static bool holds_password(const char *text)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf masked = STRBUF_INIT;

    text_add_masked(&masked, text);
    return strcmp(strbuf_text(&masked), text) != 0;
}

static void collect(struct mask *m, const struct node *n, bool secret)
{
    if (n->kind == NODE_SCALAR && *n->text && n->end_line && !only_reference(n->text)) {
        if (secret || holds_password(n->text))
            vec_push(&m->found, (struct masked){.node = n, .whole = secret});
    }
    for (size_t i = 0; i < n->len; i++) {
        const char *key = n->keys ? n->keys[i]->text : NULL;
        collect(m, n->items[i], secret || (key && (text_is_secret_key(key) || strcmp(key, "webhook") == 0)));
    }
}

/* By place; of one that is met more than once (aliases), the one that hides more first. */
static int compare(const void *a, const void *b)
{
    const struct masked *x = a, *y = b;

    if (x->node->at.line != y->node->at.line)
        return x->node->at.line < y->node->at.line ? -1 : 1;
    if (x->node->at.column != y->node->at.column)
        return x->node->at.column < y->node->at.column ? -1 : 1;
    return y->whole - x->whole;
}

/* Where in the text one is. */
struct reader {
    const char *p, *end;
    int line, column;
};

static bool is_before(const struct reader *r, int line, int column)
{
    return r->p < r->end && (r->line < line || (r->line == line && r->column < column));
}

/* Over one character, a line break of whatever kind counting as one. */
static void step(struct reader *r)
{
    static const char *const breaks[] = {"\r\n", "\r", "\n", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
    size_t left = (size_t)(r->end - r->p);

    for (size_t i = 0; i < ARRAY_LEN(breaks); i++) {
        size_t n = strlen(breaks[i]);
        if (left >= n && memcmp(r->p, breaks[i], n) == 0) {
            r->p += n;
            r->line++;
            r->column = 1;
            return;
        }
    }
    do
        r->p++;
    while (r->p < r->end && ((unsigned char)*r->p & 0xc0) == 0x80);
    r->column++;
}

static void skip_to(struct reader *r, int line, int column)
{
    while (is_before(r, line, column))
        step(r);
}

/* A scalar begins with its anchor and tag, which stay. */
static void skip_properties(struct reader *r)
{
    while (r->p < r->end && (*r->p == '&' || *r->p == '!')) {
        while (r->p < r->end && !strchr(" \t\r\n", *r->p))
            step(r);
        while (r->p < r->end && strchr(" \t\r\n", *r->p))
            step(r);
    }
}

static void add_replacement(const struct masked *m, struct strbuf *out)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (m->whole)
        strbuf_adds(&text, "***");
    else
        text_add_masked(&text, m->node->text);
    CLEANUP(json_free) struct json *j = json_new_text(strbuf_text(&text));
    json_write(j, JSON_STYLE_COMPACT, out); /* a JSON text is a quoted YAML scalar */
    if (m->node->end_column == 1)
        strbuf_addc(out, '\n'); /* a block scalar had eaten the line's end */
}

static void write_masked(const struct source_text *source, const struct mask *m, struct strbuf *out)
{
    struct reader r = {.p = source->bytes, .end = source->bytes + source->len, .line = 1, .column = 1};
    const struct node *last = NULL;

    for (size_t i = 0; i < m->found.len; i++) {
        const struct node *n = m->found.items[i].node;
        if (n == last)
            continue;
        last = n;
        const char *from = r.p;
        skip_to(&r, n->at.line, n->at.column);
        skip_properties(&r);
        strbuf_add(out, from, (size_t)(r.p - from));
        add_replacement(&m->found.items[i], out);
        skip_to(&r, n->end_line, n->end_column);
    }
    strbuf_add(out, r.p, (size_t)(r.end - r.p));
}

int tree_mask_secrets(const char *bytes, size_t len, const char *file, struct strbuf *out, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct node *root = NULL;
    struct source_text source;
    struct mask m = {0};

    if (tree_parse(bytes, len, file, a, &root, err) < 0)
        return -1;
    int result = source_text_read(&source, bytes, len, file, err);
    if (result == 0) {
        collect(&m, root, false);
        if (m.found.len)
            qsort(m.found.items, m.found.len, sizeof(*m.found.items), compare);
        write_masked(&source, &m, out);
    }
    vec_release(&m.found);
    source_text_release(&source);
    return result;
}
