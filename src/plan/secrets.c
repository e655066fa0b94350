/* SPDX-License-Identifier: MIT */
#include "secrets.h"

#include <string.h>

void secrets_release(struct secrets *s)
{
    vec_release(&s->texts);
}

/* A reference is a name, not what it stands for. */
static bool is_reference(const char *text)
{
    size_t len = strlen(text);

    return text_starts(text, "${") && strchr(text, '}') == text + len - 1;
}

static bool is_known(const struct secrets *s, const char *text)
{
    for (size_t i = 0; i < s->texts.len; i++) {
        if (strcmp(s->texts.items[i], text) == 0)
            return true;
    }
    return false;
}

static void collect(struct secrets *s, const struct node *n, bool secret)
{
    if (!n)
        return;
    if (secret && n->kind == NODE_SCALAR && strlen(n->text) >= SECRET_MIN && !is_reference(n->text) &&
        strcmp(n->text, "true") != 0 && strcmp(n->text, "false") != 0 && !is_known(s, n->text))
        vec_push(&s->texts, n->text);
    for (size_t i = 0; i < n->len; i++)
        collect(s, n->items[i], secret || (n->keys && text_is_secret_key(n->keys[i]->text)));
}

void secrets_add(struct secrets *s, const struct plan *p, size_t i, const struct node *tree, struct arena *a)
{
    struct scenario scenario;

    plan_scenario(p, i, a, &scenario);
    collect(s, p->m->vars, false);
    for (size_t x = 0; x < p->m->axis_count; x++)
        collect(s, scenario.values[x]->fields, false);
    collect(s, scenario.extra, false);
    collect(s, tree, false);
}

/* The length of the longest one that `text` begins with; 0 when it begins with none. */
static size_t secret_len(const struct secrets *s, const char *text)
{
    size_t longest = 0;

    for (size_t i = 0; i < s->texts.len; i++) {
        size_t len = strlen(s->texts.items[i]);
        if (len > longest && strncmp(text, s->texts.items[i], len) == 0)
            longest = len;
    }
    return longest;
}

void secrets_hide(const struct secrets *s, const char *text, struct strbuf *out)
{
    while (*text) {
        size_t len = secret_len(s, text);
        if (len)
            strbuf_adds(out, "***");
        else
            strbuf_addc(out, *text);
        text += len ? len : 1;
    }
}

struct json *secrets_hide_json(const struct secrets *s, const struct json *j)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct json *copy;

    switch (json_type_of(j)) {
    case JSON_TYPE_TEXT:
        secrets_hide(s, json_text(j), &text);
        return json_new_text(strbuf_text(&text));
    case JSON_TYPE_ARRAY:
        copy = json_new_array();
        for (size_t i = 0; i < json_len(j); i++)
            json_append(copy, secrets_hide_json(s, json_at(j, i)));
        return copy;
    case JSON_TYPE_OBJECT:
        copy = json_new_object();
        for (void *it = json_iter(j); it; it = json_iter_next(j, it))
            json_set(copy, json_iter_key(it), secrets_hide_json(s, json_iter_value(it)));
        return copy;
    case JSON_TYPE_NULL:
    case JSON_TYPE_BOOL:
    case JSON_TYPE_NUMBER:
        break;
    }
    return json_clone(j);
}
