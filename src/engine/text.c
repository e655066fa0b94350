/* SPDX-License-Identifier: MIT */
/* Paths, queries, and texts from outside made fit for messages. */
#include "engine_internal.h"

char *engine_path(const char *before, const char *name, const char *after)
{
    struct strbuf path = STRBUF_INIT;

    strbuf_adds(&path, before);
    http_escape(&path, name);
    strbuf_adds(&path, after);
    return strbuf_detach(&path);
}

void query_add(struct strbuf *path, const char *key, const char *value)
{
    strbuf_addc(path, path->len && strchr(path->data, '?') ? '&' : '?');
    strbuf_adds(path, key);
    strbuf_addc(path, '=');
    http_escape(path, value);
}

static void set_list(struct json *filters, const char *key, const char *value)
{
    struct json *list = json_new_array();

    json_append(list, json_new_text(value));
    json_set(filters, key, list);
}

void query_add_filters(struct strbuf *path, const char *label, const char *value, const char *type)
{
    CLEANUP(json_free) struct json *filters = json_new_object();
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_FREE char *pair = value ? xasprintf("%s=%s", label, value) : xstrdup(label);

    set_list(filters, "label", pair);
    if (type)
        set_list(filters, "type", type);
    json_write(filters, JSON_STYLE_COMPACT, &text);
    query_add(path, "filters", strbuf_text(&text));
}

void add_clean(struct strbuf *out, const char *text, size_t len, bool keep_lines)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == '\n' && keep_lines)
            strbuf_addc(out, '\n');
        else if (c == '\r' && keep_lines)
            continue;
        else if (c == '\n' || c == '\r' || c == '\t')
            strbuf_addc(out, ' ');
        else if (c < 0x20 || c == 0x7f)
            strbuf_addc(out, '?');
        else
            strbuf_addc(out, (char)c);
    }
}

const char *engine_short_id(const char *id, char *buf)
{
    size_t len = strlen(id);
    bool hex = len == 64 && strspn(id, "0123456789abcdef") == len;

    snprintf(buf, SHORT_ID, "%.*s", hex ? 12 : SHORT_ID - 1, id);
    return buf;
}
