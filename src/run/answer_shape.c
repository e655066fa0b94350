/* SPDX-License-Identifier: MIT */
/* What two answers must have in common to be the same kind of answer. */
#include "ask.h"

#include <stdlib.h>
#include "benchctl/base/hash.h"
#include "benchctl/base/json.h"
#include "benchctl/base/name_index.h"

#define DEPTH_MAX 64
#define SHAPES_MAX 64 /* among the elements of one array; more of them tell nothing more */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_shape(const struct json *j, int depth, struct strbuf *out, struct arena *a);

/* `{"a":n,"b":s}`, by name. */
static void add_object(const struct json *j, int depth, struct strbuf *out, struct arena *a)
{
    VEC(const char *) members = {0};

    for (void *it = json_iter(j); it; it = json_iter_next(j, it)) {
        CLEANUP_VALUE(strbuf_release) struct strbuf one = STRBUF_INIT;
        strbuf_addf(&one, "%s:", json_iter_key(it));
        add_shape(json_iter_value(it), depth + 1, &one, a);
        vec_push(&members, arena_strdup(a, strbuf_text(&one)));
    }
    if (members.len)
        qsort(members.items, members.len, sizeof(*members.items), by_text);
    strbuf_addc(out, '{');
    for (size_t i = 0; i < members.len; i++)
        strbuf_addf(out, "%s%s", i ? "," : "", members.items[i]);
    strbuf_addc(out, '}');
    vec_release(&members);
}

/* `[n]`, `[n|{...}]`: which shapes there are among the elements, not how many. */
static void add_array(const struct json *j, int depth, struct strbuf *out, struct arena *a)
{
    VEC(const char *) shapes = {0};
    size_t kept = 0;

    for (size_t i = 0; i < json_len(j) && shapes.len < SHAPES_MAX; i++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf one = STRBUF_INIT;
        add_shape(json_at(j, i), depth + 1, &one, a);
        bool seen = false;
        for (size_t k = 0; k < shapes.len && !seen; k++)
            seen = strcmp(shapes.items[k], strbuf_text(&one)) == 0;
        if (!seen)
            vec_push(&shapes, arena_strdup(a, strbuf_text(&one)));
    }
    if (shapes.len)
        qsort(shapes.items, shapes.len, sizeof(*shapes.items), by_text);
    strbuf_addc(out, '[');
    for (; kept < shapes.len; kept++)
        strbuf_addf(out, "%s%s", kept ? "|" : "", shapes.items[kept]);
    strbuf_addc(out, ']');
    vec_release(&shapes);
}

static void add_shape(const struct json *j, int depth, struct strbuf *out, struct arena *a)
{
    if (depth > DEPTH_MAX) {
        strbuf_addc(out, '.');
        return;
    }
    switch (json_type_of(j)) {
    case JSON_TYPE_OBJECT:
        add_object(j, depth, out, a);
        break;
    case JSON_TYPE_ARRAY:
        add_array(j, depth, out, a);
        break;
    case JSON_TYPE_TEXT:
        strbuf_addc(out, 's');
        break;
    case JSON_TYPE_NULL:
        strbuf_addc(out, '0');
        break;
    case JSON_TYPE_BOOL:
        strbuf_addc(out, 'b');
        break;
    default: /* whole or not is how a number was written */
        strbuf_addc(out, 'n');
    }
}

const char *answer_shape(const char *content_type, const char *body, size_t len, struct arena *a)
{
    CLEANUP(json_free) struct json *j = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf shape = STRBUF_INIT;
    struct error ignored = ERROR_INIT;
    char hex[SHA256_HEX_SIZE];
    size_t type_len = content_type ? strcspn(content_type, "; \t") : 0;
    const char *first = body + strspn(len ? body : "", " \t\r\n");

    if (len && (*first == '{' || *first == '[') && json_parse(body, len, "answer", &j, &ignored) == 0) {
        add_shape(j, 0, &shape, a);
        sha256_hex(strbuf_text(&shape), shape.len, hex);
        return arena_strdup(a, hex);
    }
    return type_len ? arena_strndup(a, content_type, type_len) : NULL;
}
