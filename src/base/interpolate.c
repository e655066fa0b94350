/* SPDX-License-Identifier: MIT */
#include "benchctl/base/interpolate.h"

#include <ctype.h>
#include <string.h>
#include "benchctl/base/tree.h"

#define NAME_MAX_LEN ((size_t)1024)

struct lookup {
    lookup_fn *fn;
    void *data;
};

/* The next "${" that is not "$${"; NULL when there is none. Escapes before it are skipped. */
static const char *next_reference(const char *text)
{
    for (const char *p = strchr(text, '$'); p; p = strchr(p, '$')) {
        if (p[1] == '{')
            return p;
        p += p[1] == '$' && p[2] == '{' ? 3 : 1;
    }
    return NULL;
}

bool has_reference(const char *text)
{
    return next_reference(text) != NULL;
}

static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Dotted words: none empty, the first starting with a letter or underscore. */
static bool dotted_name(const char *name)
{
    if (!isalpha((unsigned char)name[0]) && name[0] != '_')
        return false;
    for (const char *p = name; *p; p++) {
        if (!word_char(*p) && !(*p == '.' && word_char(p[1])))
            return false;
    }
    return true;
}

/* NAME or, where a default is allowed, NAME:-anything. */
static bool variable_name(const char *name, bool with_default)
{
    if (!isalpha((unsigned char)name[0]) && name[0] != '_')
        return false;
    while (isalnum((unsigned char)*name) || *name == '_')
        name++;
    return *name == '\0' || (with_default && name[0] == ':' && name[1] == '-');
}

static bool reference_name(const char *name)
{
    if (strncmp(name, "env:", 4) == 0)
        return variable_name(name + 4, true);
    if (strncmp(name, "secret:", 7) == 0)
        return variable_name(name + 7, false);
    return dotted_name(name);
}

/* Copies what stands between the braces of the reference at `p`; *ret_after is behind the closing one. */
static int take_name(const char *p, char name[NAME_MAX_LEN], const char **ret_after, struct error *err)
{
    const char *end = strchr(p, '}');
    char shown[SHOWN_SIZE];

    if (!end) {
        (void)error_set(err, ERROR_INVALID, "'%s' has no closing brace", text_shown(p, shown));
        return error_hint(err, "write $${ for a literal ${");
    }
    size_t len = (size_t)(end - p) - 2;
    if (len >= NAME_MAX_LEN)
        return error_set(err, ERROR_INVALID, "a reference of more than %zu bytes", NAME_MAX_LEN - 1);
    memcpy(name, p + 2, len);
    name[len] = '\0';
    if (!reference_name(name)) {
        (void)error_set(err, ERROR_INVALID, "'${%s}' is not a reference", text_shown(name, shown));
        return error_hint(
            err,
            "references are ${name}, ${axis.field}, ${env:NAME}, ${env:NAME:-default} and ${secret:NAME}; "
            "write $${ for a literal ${");
    }
    *ret_after = end + 1;
    return 0;
}

/* Appends text without references; "$${" becomes "${" unless escapes are kept. */
static void add_plain(struct strbuf *out, const char *from, size_t len, bool keep_escapes)
{
    const char *end = from + len, *p;

    while (!keep_escapes && (p = memmem(from, (size_t)(end - from), "$${", 3))) {
        strbuf_add(out, from, (size_t)(p - from));
        strbuf_add(out, "${", 2);
        from = p + 3;
    }
    strbuf_add(out, from, (size_t)(end - from));
}

static int replace(const char *text, bool keep_escapes, const struct lookup *l, struct strbuf *out,
                   struct error *err)
{
    char name[NAME_MAX_LEN], shown[SHOWN_SIZE];

    for (const char *p = next_reference(text); p; p = next_reference(text)) {
        const char *after = p;
        add_plain(out, text, (size_t)(p - text), keep_escapes);
        if (take_name(p, name, &after, err) < 0)
            return -1;
        switch (l->fn(name, out, l->data, err)) {
        case LOOKUP_FOUND:
            break;
        case LOOKUP_KEEP:
            strbuf_add(out, p, (size_t)(after - p));
            break;
        case LOOKUP_UNKNOWN:
            return error_set(err, ERROR_INVALID, "unresolved '${%s}'", text_shown(name, shown));
        case LOOKUP_FAILED:
            return -1;
        }
        text = after;
    }
    add_plain(out, text, strlen(text), keep_escapes);
    return out->overflow
               ? error_set(err, ERROR_INVALID, "text grows too long when its references are filled in")
               : 0;
}

int interpolate(const char *text, lookup_fn *lookup, void *data, struct strbuf *out, struct error *err)
{
    return replace(text, false, &(struct lookup){lookup, data}, out, err);
}

int interpolate_partly(const char *text, lookup_fn *lookup, void *data, struct strbuf *out, struct error *err)
{
    return replace(text, true, &(struct lookup){lookup, data}, out, err);
}

int each_reference(const char *text, int (*visit)(const char *name, void *data, struct error *err),
                   void *data, struct error *err)
{
    char name[NAME_MAX_LEN];

    for (const char *p = next_reference(text); p; p = next_reference(text)) {
        if (take_name(p, name, &text, err) < 0 || visit(name, data, err) < 0)
            return -1;
    }
    return 0;
}

int each_reference_below(const struct node *n, int (*visit)(const char *name, void *data, struct error *err),
                         void *data, struct error *err)
{
    if (!n || !n->refers)
        return 0;
    if (n->kind == NODE_SCALAR)
        return each_reference(n->text, visit, data, err);
    for (size_t i = 0; i < n->len; i++)
        if (each_reference_below(n->items[i], visit, data, err) < 0)
            return -1;
    return 0;
}
