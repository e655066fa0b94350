/* SPDX-License-Identifier: MIT */
#include "benchctl/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include "benchctl/base/secrets.h"

static log_sink *current_sink;
static void *current_data;

void log_set_sink(log_sink *sink, void *data)
{
    current_sink = sink;
    current_data = data;
}

__attribute__((format(printf, 2, 0))) static void emit(enum log_level level, const char *fmt, va_list args)
{
    char line[2048];

    if (!current_sink)
        return;
    (void)vsnprintf(line, sizeof(line), fmt, args);
    secrets_mask_text(line);
    current_sink(level, line, current_data);
}

void note(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    emit(LOG_NOTE, fmt, args);
    va_end(args);
}

void warn(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    emit(LOG_WARN, fmt, args);
    va_end(args);
}
