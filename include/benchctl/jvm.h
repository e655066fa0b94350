/* SPDX-License-Identifier: MIT */
/*
 * What a JVM chose for itself under the limits of its container: collector, heap, CPUs. The choice depends on
 * limits, version, vendor and options, so it is asked, never derived. Here are the parts that need no engine:
 *
 * - finding a container's JVM among this machine's processes, and reading what it publishes about itself
 *   (its performance data, a file in its /tmp): costs it nothing;
 * - the words that ask another JVM of the same image under the same limits, and reading what it prints: says
 *   what the first leaves out, and speaks for a JVM that has died or that cannot be looked at.
 *
 * Everything read comes out of a container and is taken as hostile: all lengths are checked, links are not
 * followed, texts are cut and freed of control characters. Options that may hold secrets (-Dname=value,
 * agents' options) are not kept.
 */
#ifndef BENCHCTL_JVM_H
#define BENCHCTL_JVM_H

#include "benchctl/base/arena.h"
#include "benchctl/base/error.h"
#include "benchctl/base/schema.h"
#include "benchctl/trial.h"

struct jvm_facts jvm_facts_none(void); /* nothing known: NAN and NULL */
/* Fills what `ret` does not know yet. */
void jvm_facts_add(struct jvm_facts *ret, const struct jvm_facts *more);

/* --- what a running one publishes --- */

#define JVM_PERF_MAX ((size_t)4 << 20) /* of the file; by default it has 32 KiB */

/* The performance data of HotSpot (hsperfdata, format 2): version, collector, heap and options; never the
 * number of CPUs. ERROR_INVALID when it is no such file or not complete. Texts go into `a`. */
int jvm_read_perf(const void *bytes, size_t len, struct arena *a, struct jvm_facts *ret,
                  struct error *err) MUST_CHECK;

/* --- how one is started --- */

struct jvm_launch {
    const char *java;         /* the program, in the container; "java": by PATH */
    struct text_list options; /* those that bear on its choices; nothing that writes, listens or loads */
    const char *options_text; /* all that were given, for the record; NULL: none */
    bool argument_files;      /* it had @FILE words that could not be read: what is in them is not known */
    int running;              /* JVMs that were found in the container; all else is of the first */
};

/* Looks for a java program among a container's words (entrypoint and command), also within a shell's -c.
 * False: none. */
bool jvm_launch_find(const char *const *words, size_t count, struct arena *a, struct jvm_launch *ret);

enum jvm_search {
    JVM_NONE,
    JVM_FOUND,
    JVM_UNKNOWN /* the process has gone, or we may not look */
};
/* The process of a JVM in the container of process `pid`, by /proc (`proc`, NULL: the real one): same pid
 * namespace, unless that is our own. What it publishes goes into *ret_facts; without that only its options
 * are known, and `source` is NULL. */
enum jvm_search jvm_process_find(const char *proc, int64_t pid, struct arena *a, struct jvm_launch *ret,
                                 struct jvm_facts *ret_facts);

/* --- asking another one --- */

enum jvm_dialect { JVM_DIALECT_9, JVM_DIALECT_8 }; /* from 9 on; 8 */

/* The program's arguments. */
void jvm_question(const struct jvm_launch *l, enum jvm_dialect d, struct arena *a, struct text_list *ret);
/* What it printed, output and errors together in any order. False: not the answer of a JVM. */
bool jvm_read_answer(const char *text, size_t len, struct arena *a, struct jvm_facts *ret);

#endif
