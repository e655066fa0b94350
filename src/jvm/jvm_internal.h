/* SPDX-License-Identifier: MIT */
#ifndef BENCHCTL_JVM_INTERNAL_H
#define BENCHCTL_JVM_INTERNAL_H

#include <string.h>
#include "benchctl/base/mem.h"
#include "benchctl/base/strbuf.h"
#include "benchctl/jvm.h"

#define JVM_TEXT_MAX ((size_t)4000) /* of one text that is kept */

/* Up to the first NUL, cut, control characters replaced. */
const char *jvm_clean(struct arena *a, const char *text, size_t len);
/* Of options in one line those that are recorded; NULL: none. */
const char *jvm_options_text(const char *line, struct arena *a);
/* The launch that is meant by the words of a java program; words[0] is the program. */
void jvm_launch_read(const char *const *words, size_t count, struct arena *a, struct jvm_launch *ret);
/* The words of an argument file; those of files within it are left as they are, as the launcher does. */
void jvm_argument_words(const char *text, size_t len, struct arena *a, struct text_list *ret);
bool jvm_is_java(const char *program);

#endif
