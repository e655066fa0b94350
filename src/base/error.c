/* SPDX-License-Identifier: MIT */
#include "benchctl/base/error.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "benchctl/base/secrets.h"

/* The meaning of each kind for the outside, in one place. */
static const struct {
    const char *name;
    int exit_code;
} kinds[ERROR_KINDS] = {
    [ERROR_NONE] = {"none", 0},           [ERROR_USAGE] = {"usage", 2},
    [ERROR_INVALID] = {"invalid", 2},     [ERROR_ENVIRONMENT] = {"environment", 3},
    [ERROR_PARITY] = {"parity", 4},       [ERROR_TRIAL] = {"trial", 1},
    [ERROR_NOT_FOUND] = {"not found", 3}, [ERROR_CONFLICT] = {"conflict", 3},
    [ERROR_TIMEOUT] = {"timeout", 3},     [ERROR_INTERRUPTED] = {"interrupted", 130},
};

int error_exit_code(enum error_kind kind)
{
    assert(kind >= 0 && kind < ERROR_KINDS);
    return kinds[kind].exit_code;
}

const char *error_kind_name(enum error_kind kind)
{
    assert(kind >= 0 && kind < ERROR_KINDS);
    return kinds[kind].name;
}

int error_set(struct error *err, enum error_kind kind, const char *fmt, ...)
{
    va_list args;

    err->kind = kind;
    err->code = 0;
    err->hint[0] = '\0';
    va_start(args, fmt);
    (void)vsnprintf(err->message, sizeof(err->message), fmt, args);
    va_end(args);
    secrets_mask_text(err->message);
    return -1;
}

int error_errno(struct error *err, enum error_kind kind, int errnum, const char *fmt, ...)
{
    va_list args;

    err->kind = kind;
    err->code = errnum;
    err->hint[0] = '\0';
    va_start(args, fmt);
    int n = vsnprintf(err->message, sizeof(err->message), fmt, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof(err->message))
        (void)snprintf(err->message + n, sizeof(err->message) - (size_t)n, ": %s", strerror(errnum));
    secrets_mask_text(err->message);
    if (errnum == ENOSPC || errnum == EDQUOT)
        (void)error_hint(err, "free some space and go on with `benchctl resume`; what was measured is kept");
    return -1;
}

int error_wrap(struct error *err, const char *fmt, ...)
{
    char old[sizeof(err->message)];
    va_list args;

    memcpy(old, err->message, sizeof(old));
    va_start(args, fmt);
    int n = vsnprintf(err->message, sizeof(err->message), fmt, args);
    va_end(args);
    if (n >= 0 && (size_t)n + 3 < sizeof(err->message))
        (void)snprintf(err->message + n, sizeof(err->message) - (size_t)n, ": %.*s",
                       (int)sizeof(err->message) - n - 3, old);
    secrets_mask_text(err->message);
    return -1;
}

int error_hint(struct error *err, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(err->hint, sizeof(err->hint), fmt, args);
    va_end(args);
    secrets_mask_text(err->hint);
    return -1;
}
