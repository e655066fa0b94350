/* SPDX-License-Identifier: MIT */
/* What the tests of JVM facts share: performance data made to order. */
#ifndef TESTS_JVM_TEST_H
#define TESTS_JVM_TEST_H

#include <math.h>
#include "unit/check.h"
#include "benchctl/base/fs.h"
#include "benchctl/jvm.h"

static inline struct strbuf read_case(const char *name)
{
    CLEANUP_FREE char *path = path_join(TESTS_DIR "/cases/R09", name);
    struct strbuf out = STRBUF_INIT;
    struct error err = ERROR_INIT;

    if (fs_read(path, (size_t)1 << 20, &out, &err) < 0)
        fail_msg("%s", err.message);
    return out;
}

static inline void put_number(unsigned char *at, uint64_t value, size_t size, bool little)
{
    for (size_t i = 0; i < size; i++)
        at[little ? i : size - 1 - i] = (unsigned char)(value >> (8 * i));
}

struct made_entry {
    const char *name, *text; /* NULL: a number */
    int64_t number;
};

/* The file with these entries; gives its length. */
static inline size_t make_perf(const struct made_entry *e, size_t count, bool little, unsigned char *out)
{
    size_t at = 32;

    memset(out, 0, 32);
    put_number(out, 0xcafec0c0, 4, false);
    out[4] = little;
    out[5] = 2;
    out[7] = 1;
    put_number(out + 24, 32, 4, little);
    put_number(out + 28, count, 4, little);
    for (size_t i = 0; i < count; i++) {
        size_t name_len = strlen(e[i].name) + 1, data = (20 + name_len + 7) / 8 * 8;
        size_t data_len = e[i].text ? strlen(e[i].text) + 1 : 8, length = (data + data_len + 7) / 8 * 8;
        memset(out + at, 0, length);
        put_number(out + at, length, 4, little);
        put_number(out + at + 4, 20, 4, little);
        put_number(out + at + 8, e[i].text ? data_len : 0, 4, little);
        out[at + 12] = e[i].text ? 'B' : 'J';
        put_number(out + at + 16, data, 4, little);
        memcpy(out + at + 20, e[i].name, name_len);
        if (e[i].text)
            memcpy(out + at + data, e[i].text, data_len);
        else
            put_number(out + at + data, (uint64_t)e[i].number, 8, little);
        at += length;
    }
    put_number(out + 8, at, 4, little);
    return at;
}

#define assert_text(a, b)                                                                                    \
    do {                                                                                                     \
        const char *a_ = (a), *b_ = (b);                                                                     \
        if (!text_equal(a_, b_))                                                                             \
            fail_msg("%s is '%s', not '%s'", #a, a_ ? a_ : "NULL", b_ ? b_ : "NULL");                        \
    } while (0)
#define assert_number(a, b)                                                                                  \
    do {                                                                                                     \
        double a_ = (a), b_ = (b);                                                                           \
        if (!(a_ == b_ || (isnan(a_) && isnan(b_))))                                                         \
            fail_msg("%s is %.17g, not %.17g", #a, a_, b_);                                                  \
    } while (0)

#endif
