/* SPDX-License-Identifier: MIT */
/* What the tests of samples share. */
#ifndef TESTS_SAMPLE_TEST_H
#define TESTS_SAMPLE_TEST_H

#include <math.h>
#include "unit/check.h"
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/sample.h"

/* Larger collections of recorded data that are not part of the sources. */
static inline char *shared_path(const char *name)
{
    const char *dir = getenv("BENCHCTL_SHARED");

    return path_join(dir ? dir : SOURCE_DIR "/../shared", name);
}

/* A whole file; the test fails without it. Release with strbuf_release(). */
static inline struct strbuf read_whole(const char *path)
{
    struct strbuf out = STRBUF_INIT;
    struct error err = ERROR_INIT;

    if (fs_read(path, (size_t)64 << 20, &out, &err) < 0)
        fail_msg("%s", err.message);
    return out;
}

static inline struct strbuf read_case(const char *name)
{
    CLEANUP_FREE char *path = path_join(TESTS_DIR "/cases", name);

    return read_whole(path);
}

/* A recorded HTTP reply without its head. */
static inline struct strbuf read_case_body(const char *name)
{
    struct strbuf all = read_case(name);
    const char *body = strstr(strbuf_text(&all), "\r\n\r\n");

    assert_non_null(body);
    strbuf_consume(&all, (size_t)(body + 4 - all.data));
    return all;
}

static inline struct json *parse_json(const char *bytes, size_t len)
{
    struct json *j = NULL;
    struct error err = ERROR_INIT;

    if (json_parse(bytes, len, "test", &j, &err) < 0)
        fail_msg("%s", err.message);
    return j;
}

#define assert_near(a, b)                                                                                    \
    do {                                                                                                     \
        double a_ = (a), b_ = (b);                                                                           \
        if (!(a_ == b_ || fabs(a_ - b_) <= 1e-6 * fabs(b_)))                                                 \
            fail_msg("%s is %.17g, not %.17g", #a, a_, b_);                                                  \
    } while (0)
#define assert_nan(a)                                                                                        \
    do {                                                                                                     \
        double a_ = (a);                                                                                     \
        if (!isnan(a_))                                                                                      \
            fail_msg("%s is %.17g, not NAN", #a, a_);                                                        \
    } while (0)

#endif
