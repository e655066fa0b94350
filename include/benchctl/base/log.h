/* SPDX-License-Identifier: MIT */
/*
 * Where notes go while a command runs. Code below cmd/ never prints: it calls note() for what a person may
 * want to know and warn() for what they should know; cmd/ installs the sink (progress display, plain lines,
 * nothing). Not for errors: those are returned.
 */
#ifndef BENCHCTL_BASE_LOG_H
#define BENCHCTL_BASE_LOG_H

enum log_level { LOG_NOTE, LOG_WARN };

typedef void log_sink(enum log_level level, const char *line, void *data);

void log_set_sink(log_sink *sink, void *data); /* NULL: drop everything (the default) */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
