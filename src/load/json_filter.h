/* SPDX-License-Identifier: MIT */
/*
 * JSON text with some values replaced, copied as it comes in pieces: without the samples that would fill the
 * memory, without what must not be kept. It looks at text only, so that it also works on what was cut short;
 * whether the text is JSON is for the parser to say.
 */
#ifndef BENCHCTL_LOAD_JSON_FILTER_H
#define BENCHCTL_LOAD_JSON_FILTER_H

#include "adapter.h"
#include "benchctl/base/strbuf.h"

#define JSON_FILTER_DEPTH 64

struct json_filter {
    const struct text_list *pointers; /* "/details", "/a/b": members of objects, not elements of arrays */
    const char *instead;              /* the JSON text in place of such a value */
    struct strbuf *out;
    size_t replaced; /* how many values were */
    /* where it stands; begin with zeroes */
    struct strbuf path, key;
    size_t lengths[JSON_FILTER_DEPTH]; /* of the path at each depth */
    bool in_array[JSON_FILTER_DEPTH];
    int depth, value_depth;
    bool in_text, escaped, key_next, in_key, dropping;
};

void json_filter_add(struct json_filter *f, const char *bytes, size_t len);
void json_filter_release(struct json_filter *f); /* not `out` */

bool output_too_large(const struct adapter_output *output, const char *path);

/* A file without the values at `pointers` (null stands in their place), of which at most `max` bytes may
 * remain. */
int json_without(const char *path, const struct text_list *pointers, size_t max, struct strbuf *out,
                 struct error *err) MUST_CHECK;

#endif
