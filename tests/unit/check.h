/* SPDX-License-Identifier: MIT */
/* What every unit test includes: cmocka with what it needs before it, and a few assertions of ours. */
#ifndef BENCHCTL_TESTS_UNIT_CHECK_H
#define BENCHCTL_TESTS_UNIT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* `text` contains `part`; shows both when it does not. */
#define assert_has(text, part)                                                                               \
    do {                                                                                                     \
        const char *text_ = (text), *part_ = (part);                                                         \
        if (!strstr(text_, part_))                                                                           \
            fail_msg("'%s' does not contain '%s'", text_, part_);                                            \
    } while (0)

#endif
