/* SPDX-License-Identifier: MIT */
/* Numbers in JSON: pointers with a step that selects from an array, members by name, elements of arrays. */
#include "document.h"

#include <math.h>
#include <string.h>
#include "benchctl/base/units.h"

/* Is `value` what the selector's text says? */
static bool selected(const struct json *value, const char *wanted)
{
    const char *text = json_text(value);
    double number, is = json_number(value);

    if (text)
        return strcmp(text, wanted) == 0;
    return number_scan(wanted, strlen(wanted), &number) == strlen(wanted) && number == is;
}

/* "[name=http_reqs]": the first element of the array whose member is that. `step` has no brackets. */
static const struct json *select_element(const struct json *array, char *step)
{
    char *equals = strchr(step, '=');

    if (!equals || json_type_of(array) != JSON_TYPE_ARRAY)
        return NULL;
    *equals = '\0';
    for (size_t i = 0; i < json_len(array); i++)
        if (selected(json_get(json_at(array, i), step), equals + 1))
            return json_at(array, i);
    return NULL;
}

/* Where the selector at `p` (on its '[') ends, on its ']'; NULL when it is none. */
static const char *selector_end(const char *p)
{
    const char *end = strstr(p, "]/");

    if (*p != '[')
        return NULL;
    if (end)
        return end;
    size_t len = strlen(p);
    return p[len - 1] == ']' ? p + len - 1 : NULL;
}

const struct json *load_json_find(const struct json *root, const char *pointer)
{
    while (root && *pointer) {
        const char *end = selector_end(pointer + 1);
        CLEANUP_FREE char *step = NULL;
        if (end) {
            step = xstrndup(pointer + 2, (size_t)(end - pointer - 2));
            root = select_element(root, step);
            pointer = end + 1;
        } else {
            size_t n = 1 + strcspn(pointer + 1, "/");
            step = xstrndup(pointer, n);
            root = json_pointer(root, step);
            pointer += n;
        }
    }
    return root;
}

static int add_scalar(const struct source *s, const struct json *j, struct numbers *out, struct error *err)
{
    const char *text = json_text(j);
    double number = json_number(j);

    if (text) {
        int got = quantity_parse(text, strlen(text), (enum unit)s->form->unit, &number, err);
        if (got <= 0) {
            out->non_number = out->non_number || got == 0;
            return got;
        }
        vec_push(&out->list, number);
    } else if (json_type_of(j) == JSON_TYPE_BOOL) {
        vec_push(&out->list, json_bool(j));
    } else if (isfinite(number)) {
        vec_push(&out->list, quantity_convert(number, (enum unit)s->form->unit));
    } else {
        out->non_number = true;
    }
    return 0;
}

static int add_member(const struct source *s, const struct json *j, struct numbers *out, struct error *err)
{
    if (s->form->item)
        j = load_json_find(j, s->form->item);
    if (!j)
        return 0;
    if (s->take == TAKE_COUNT) {
        vec_push(&out->list, 1);
        return 0;
    }
    return add_scalar(s, j, out, err);
}

static bool key_wanted(const struct source *s, const char *key)
{
    size_t len = strlen(key);

    return (!s->keys || pattern_match(s->keys, key, len, NULL, NULL)) &&
           !(s->except && pattern_match(s->except, key, len, NULL, NULL));
}

static int add_all(const struct source *s, const struct json *j, struct numbers *out, struct error *err)
{
    out->present = true;
    if (json_type_of(j) == JSON_TYPE_ARRAY) {
        for (size_t i = 0; i < json_len(j); i++) {
            const char *text = s->form->item ? NULL : json_text(json_at(j, i));
            if (text && !key_wanted(s, text))
                continue;
            if (add_member(s, json_at(j, i), out, err) < 0)
                return -1;
        }
        return 0;
    }
    for (void *it = json_iter(j); it; it = json_iter_next(j, it))
        if (key_wanted(s, json_iter_key(it)) && add_member(s, json_iter_value(it), out, err) < 0)
            return -1;
    return 0;
}

static bool written_as(const struct json *j, const char *text)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf is = STRBUF_INIT;

    if (json_type_of(j) >= JSON_TYPE_ARRAY)
        return false;
    json_write(j, JSON_STYLE_COMPACT, &is);
    return strcmp(strbuf_text(&is), text) == 0;
}

/* Has the element every member that `where` wants, with text that matches? */
static bool element_wanted(const struct source *s, const struct json *j)
{
    for (size_t i = 0; i < s->form->where.len; i++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf written = STRBUF_INIT;
        const struct json *member = json_get(j, s->form->where.items[i].key);
        const char *text = json_text(member);
        if (!member || (!text && json_type_of(member) >= JSON_TYPE_ARRAY))
            return false;
        if (!text) {
            json_write(member, JSON_STYLE_COMPACT, &written);
            text = strbuf_text(&written);
        }
        if (!pattern_match(s->where[i], text, strlen(text), NULL, NULL))
            return false;
    }
    return true;
}

#define EVERY "/[*]"

/* Whatever a pointer with steps `[*]` leads to. */
static int add_every(const struct source *s, const struct json *j, const char *pointer, struct numbers *out,
                     struct error *err)
{
    const char *every = strstr(pointer, EVERY);
    CLEANUP_FREE char *lead = xstrndup(pointer, every ? (size_t)(every - pointer) : strlen(pointer));

    j = load_json_find(j, lead);
    if (!j)
        return 0;
    if (!every) {
        out->present = true;
        return s->form->is && !written_as(j, s->form->is) ? 0 : add_member(s, j, out, err);
    }
    const char *rest = every + strlen(EVERY);
    if (json_type_of(j) == JSON_TYPE_ARRAY) {
        out->present = out->present || s->form->where.len > 0; /* though none may be wanted */
        for (size_t i = 0; i < json_len(j); i++)
            if (element_wanted(s, json_at(j, i)) && add_every(s, json_at(j, i), rest, out, err) < 0)
                return -1;
        return 0;
    }
    for (void *it = json_iter(j); it; it = json_iter_next(j, it))
        if (key_wanted(s, json_iter_key(it)) && add_every(s, json_iter_value(it), rest, out, err) < 0)
            return -1;
    return 0;
}

int source_json_numbers(const struct source *s, const struct document *d, struct numbers *out,
                        struct error *err)
{
    const struct json *j = NULL;
    const char *pointer = "";

    for (size_t i = 0; i < s->form->json.len && !out->present; i++)
        if (strstr(s->form->json.items[i], EVERY) &&
            add_every(s, d->json, s->form->json.items[i], out, err) < 0)
            return error_wrap(err, "%s: %s", d->path, s->form->json.items[i]);
    if (out->present)
        return 0;
    for (size_t i = 0; i < s->form->json.len && !j; i++) {
        pointer = s->form->json.items[i];
        j = load_json_find(d->json, pointer);
    }
    if (!j)
        return 0;
    enum json_type type = json_type_of(j);
    int rc = type == JSON_TYPE_ARRAY || type == JSON_TYPE_OBJECT ? add_all(s, j, out, err)
                                                                 : add_scalar(s, j, out, err);
    return rc < 0 ? error_wrap(err, "%s: %s", d->path, pointer) : 0;
}
