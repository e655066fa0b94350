/* SPDX-License-Identifier: MIT */
/* Of the engine's unit tests: files of tests/cases and tests/data, as bytes and as JSON. */
#ifndef BENCHCTL_TESTS_ENGINE_TEST_H
#define BENCHCTL_TESTS_ENGINE_TEST_H

#include "unit/check.h"
#include "benchctl/base/fs.h"
#include "benchctl/base/json.h"

static inline void read_test_file(const char *name, struct strbuf *out)
{
    CLEANUP_FREE char *path = xasprintf("%s/%s", TESTS_DIR, name);
    struct error err = ERROR_INIT;

    if (fs_read(path, 1 << 20, out, &err))
        fail_msg("%s", err.message);
}

static inline struct json *read_test_json(const char *name)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error err = ERROR_INIT;
    struct json *j = NULL;

    read_test_file(name, &text);
    if (json_parse(strbuf_text(&text), text.len, name, &j, &err))
        fail_msg("%s", err.message);
    return j;
}

static inline struct json *json_of(const char *text)
{
    struct error err = ERROR_INIT;
    struct json *j = NULL;

    if (json_parse(text, strlen(text), "test", &j, &err))
        fail_msg("%s", err.message);
    return j;
}

#endif
