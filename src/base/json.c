/* SPDX-License-Identifier: MIT */
#include "benchctl/base/json.h"

#include <jansson.h>
#include <math.h>
#include <string.h>
#include "benchctl/base/fs.h"

/* struct json is jansson's json_t under a name of ours. */
static json_t *raw(const struct json *j)
{
    return (json_t *)(uintptr_t)j;
}

static struct json *own(json_t *j)
{
    if (!j)
        abort(); /* jansson gives NULL for bad UTF-8 (dealt with before) and for lack of memory */
    return (struct json *)j;
}

void json_free(struct json *j)
{
    json_decref(raw(j));
}

/* Engines write "no limit" as 2^64-1, which jansson refuses: such a document is read with every number a
 * real. */
static json_t *load(const char *bytes, size_t len, size_t flags, json_error_t *e)
{
    json_t *j = json_loadb(bytes, len, flags, e);

    if (!j && json_error_code(e) == json_error_numeric_overflow)
        j = json_loadb(bytes, len, flags | JSON_DECODE_INT_AS_REAL, e);
    return j;
}

int json_parse(const char *bytes, size_t len, const char *name, struct json **ret, struct error *err)
{
    json_error_t e;
    json_t *j = load(bytes ? bytes : "", len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);

    if (!j)
        return error_set(err, ERROR_INVALID, "%s:%d:%d: not JSON: %s", name, e.line, e.column, e.text);
    *ret = own(j);
    return 0;
}

int json_read_file(const char *path, size_t max, struct json **ret, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (fs_read(path, max, &text, err) < 0)
        return -1;
    return json_parse(strbuf_text(&text), text.len, path, ret, err);
}

/* Length of the object or array at the front, told by brackets and quotes alone; 0 while its end has not
 * come. What is inside is the parser's matter: it cannot tell a text that is cut in an escape from one that
 * is wrong. */
static size_t value_length(const char *bytes, size_t len)
{
    size_t depth = 0;
    bool in_text = false;

    for (size_t i = 0; i < len; i++) {
        char c = bytes[i];

        if (in_text && c == '\\')
            i++;
        else if (c == '"')
            in_text = !in_text;
        else if (!in_text && (c == '{' || c == '['))
            depth++;
        else if (!in_text && (c == '}' || c == ']') && --depth == 0)
            return i + 1;
    }
    return 0;
}

int json_take(const char *bytes, size_t len, struct json **ret, size_t *ret_used, struct error *err)
{
    json_error_t e;
    size_t blank = 0;

    while (blank < len && strchr(" \t\r\n", bytes[blank]) && bytes[blank])
        blank++;
    if (blank == len)
        return 0;
    bool begins = bytes[blank] == '{' || bytes[blank] == '[';
    size_t whole = begins ? value_length(bytes + blank, len - blank) : 1;
    if (whole == 0)
        return 0;
    json_t *j = load(bytes + blank, whole, JSON_ALLOW_NUL, &e);
    if (!j)
        return error_set(err, ERROR_INVALID, "not JSON at byte %d: %s", e.position, e.text);
    *ret = own(j);
    *ret_used = blank + whole;
    return 1;
}

struct json *json_new_object(void)
{
    return own(json_object());
}

struct json *json_new_array(void)
{
    return own(json_array());
}

/* Length of the UTF-8 sequence at p (at most `left` bytes), or 0 when it is none (RFC 3629). */
static size_t utf8_length(const unsigned char *p, size_t left)
{
    size_t n = p[0] < 0x80                   ? 1
               : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
               : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
               : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                             : 0;

    if (!n || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

struct json *json_new_text_n(const char *text, size_t len)
{
    json_t *j = json_stringn(text, len);

    if (j)
        return own(j);
    CLEANUP_VALUE(strbuf_release) struct strbuf clean = STRBUF_INIT;
    for (size_t i = 0; i < len;) {
        size_t n = utf8_length((const unsigned char *)text + i, len - i);
        if (n)
            strbuf_add(&clean, text + i, n);
        else
            strbuf_adds(&clean, "\xef\xbf\xbd");
        i += n ? n : 1;
    }
    return own(json_stringn(strbuf_text(&clean), clean.len));
}

struct json *json_new_text(const char *text)
{
    return text ? json_new_text_n(text, strlen(text)) : json_new_null();
}

struct json *json_new_int(int64_t value)
{
    return own(json_integer(value));
}

struct json *json_new_number(double value)
{
    if (!isfinite(value))
        return json_new_null();
    if (value == floor(value) && fabs(value) < 9007199254740992.0)
        return json_new_int((int64_t)value);
    return own(json_real(value));
}

struct json *json_new_bool(bool value)
{
    return own(json_boolean(value));
}

struct json *json_new_null(void)
{
    return own(json_null());
}

struct json *json_clone(const struct json *j)
{
    return own(json_deep_copy(raw(j)));
}

void json_set(struct json *object, const char *key, struct json *value)
{
    if (json_object_set_new_nocheck(raw(object), key, raw(value)) != 0)
        abort();
}

void json_append(struct json *array, struct json *value)
{
    if (json_array_append_new(raw(array), raw(value)) != 0)
        abort();
}

void json_set_text(struct json *object, const char *key, const char *text)
{
    json_set(object, key, json_new_text(text));
}

void json_set_int(struct json *object, const char *key, int64_t value)
{
    json_set(object, key, json_new_int(value));
}

void json_set_number(struct json *object, const char *key, double value)
{
    json_set(object, key, json_new_number(value));
}

void json_set_bool(struct json *object, const char *key, bool value)
{
    json_set(object, key, json_new_bool(value));
}

void json_remove(struct json *object, const char *key)
{
    (void)json_object_del(raw(object), key);
}

enum json_type json_type_of(const struct json *j)
{
    if (!j)
        return JSON_TYPE_NULL;
    switch (json_typeof(raw(j))) {
    case JSON_OBJECT:
        return JSON_TYPE_OBJECT;
    case JSON_ARRAY:
        return JSON_TYPE_ARRAY;
    case JSON_STRING:
        return JSON_TYPE_TEXT;
    case JSON_INTEGER:
    case JSON_REAL:
        return JSON_TYPE_NUMBER;
    case JSON_TRUE:
    case JSON_FALSE:
        return JSON_TYPE_BOOL;
    case JSON_NULL:
        break;
    }
    return JSON_TYPE_NULL;
}

const struct json *json_get(const struct json *object, const char *key)
{
    return object ? (const struct json *)json_object_get(raw(object), key) : NULL;
}

const struct json *json_at(const struct json *array, size_t index)
{
    return array ? (const struct json *)json_array_get(raw(array), index) : NULL;
}

size_t json_len(const struct json *j)
{
    if (json_type_of(j) == JSON_TYPE_OBJECT)
        return json_object_size(raw(j));
    return j ? json_array_size(raw(j)) : 0;
}

const char *json_text(const struct json *j)
{
    return j ? json_string_value(raw(j)) : NULL;
}

const char *json_get_text(const struct json *o, const char *key)
{
    return json_text(json_get(o, key));
}

double json_number(const struct json *j)
{
    return json_type_of(j) == JSON_TYPE_NUMBER ? json_number_value(raw(j)) : NAN;
}

double json_get_number(const struct json *o, const char *key)
{
    return json_number(json_get(o, key));
}

int64_t json_get_int(const struct json *o, const char *key)
{
    const struct json *j = json_get(o, key);

    if (json_is_int(j))
        return json_integer_value(raw(j));
    double d = json_number(j);
    return d >= -9e18 && d <= 9e18 ? (int64_t)d : 0;
}

bool json_bool(const struct json *j)
{
    return j && json_is_true(raw(j));
}

bool json_get_bool(const struct json *o, const char *key)
{
    return json_bool(json_get(o, key));
}

bool json_is_int(const struct json *j)
{
    return j && json_is_integer(raw(j));
}

bool json_same(const struct json *a, const struct json *b)
{
    if (!a || !b)
        return a == b;
    return json_equal(raw(a), raw(b)) == 1;
}

void *json_iter(const struct json *object)
{
    return object ? json_object_iter(raw(object)) : NULL;
}

void *json_iter_next(const struct json *object, void *iter)
{
    return json_object_iter_next(raw(object), iter);
}

const char *json_iter_key(void *iter)
{
    return json_object_iter_key(iter);
}

const struct json *json_iter_value(void *iter)
{
    return (const struct json *)json_object_iter_value(iter);
}

/* One reference token of a pointer, up to the next '/', unescaped into `out`. Returns where it ends. */
static const char *pointer_token(const char *p, struct strbuf *out)
{
    strbuf_clear(out);
    for (; *p && *p != '/'; p++) {
        if (p[0] == '~' && (p[1] == '0' || p[1] == '1'))
            strbuf_addc(out, *++p == '0' ? '~' : '/');
        else
            strbuf_addc(out, *p);
    }
    return p;
}

static const struct json *pointer_step(const struct json *j, const char *token)
{
    if (json_type_of(j) == JSON_TYPE_OBJECT)
        return json_get(j, token);
    if (json_type_of(j) != JSON_TYPE_ARRAY || !token[0] || strspn(token, "0123456789") != strlen(token) ||
        strlen(token) > 9)
        return NULL;
    return json_at(j, strtoul(token, NULL, 10));
}

const struct json *json_pointer(const struct json *root, const char *pointer)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf token = STRBUF_INIT;

    while (root && *pointer) {
        if (*pointer != '/')
            return NULL;
        pointer = pointer_token(pointer + 1, &token);
        root = pointer_step(root, strbuf_text(&token));
    }
    return root;
}

static int dump_piece(const char *bytes, size_t len, void *out)
{
    strbuf_add(out, bytes, len);
    return 0;
}

void json_write(const struct json *j, enum json_style style, struct strbuf *out)
{
    static const size_t flags[] = {
        [JSON_STYLE_COMPACT] = JSON_COMPACT,
        [JSON_STYLE_INDENTED] = JSON_INDENT(2),
        [JSON_STYLE_SORTED] = JSON_COMPACT | JSON_SORT_KEYS,
    };
    if (json_dump_callback(raw(j), dump_piece, out,
                           flags[style] | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) != 0)
        abort();
}

bool json_edit_texts(struct json *j, bool (*edit)(char *text, size_t len), bool (*skips)(const char *key))
{
    json_t *r = raw(j), *child;
    bool any = false;
    const char *key;
    size_t i;

    if (json_is_string(r)) {
        size_t len = json_string_length(r);
        CLEANUP_FREE char *text = xmalloc(len + 1);
        memcpy(text, json_string_value(r), len + 1);
        any = edit(text, len);
        if (any)
            (void)json_string_setn(r, text, len);
    }
    json_array_foreach(r, i, child) any |= json_edit_texts((struct json *)child, edit, skips);
    json_object_foreach(r, key, child)
    {
        if (!skips || !skips(key))
            any |= json_edit_texts((struct json *)child, edit, skips);
    }
    return any;
}
