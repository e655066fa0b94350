/* SPDX-License-Identifier: MIT */
/*
 * A library that is loaded before all others into a benchctl under test: it numbers that process's calls to
 * the world outside, and makes one of them fail or kills the process at it. For tests only.
 *
 *   TORTURE_FAULT=KIND:N:HOW   the N-th call of that kind (fs, engine, net, process, kernel):
 *     fail, fail2   fails with the error, or the other error, that such a call can have
 *     short         does half of it and says so
 *     full          fails, and so does every later one that needs space: the disk has become full
 *     before, after the process is killed before or after it
 *     torn          half of it is done, then the process is killed
 *     power         killed after it, and nothing is on the disk that was not synced: neither bytes nor names
 *     zeroed        killed after it; names and lengths are there, the bytes that were not synced are zeros
 *   TORTURE_LOG=FILE           a line for each numbered call: KIND N NAME SUBJECT
 *   TORTURE_KEEP=DIR           where a power cut finds what was replaced; on the same file system
 *
 * Children are not touched.
 */
#ifndef TORTURE_FAULT_H
#define TORTURE_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum kind { KIND_FS, KIND_ENGINE, KIND_NET, KIND_PROCESS, KIND_KERNEL, KINDS };

enum how {
    HOW_NOTHING,
    HOW_FAIL,
    HOW_FAIL2,
    HOW_SHORT,
    HOW_FULL,
    HOW_BEFORE,
    HOW_AFTER,
    HOW_TORN,
    HOW_POWER,
    HOW_ZEROED,
};

/* Numbers a call. What is to happen to it; for a failure errno is set. */
enum how fault_strike(enum kind kind, const char *name, const char *subject);
/* The same for a call on a descriptor, whose kind is that of what it is; HOW_NOTHING for a terminal or a
 * pipe, which are not numbered. */
enum how fault_strike_fd(int fd, const char *name);
/* After the call: the end of the process when that was asked for. */
void fault_end(enum how how);
/* Is it a failure that the caller returns without doing anything? */
bool fault_fails(enum how how);
bool fault_active(void);
enum kind fault_socket_kind(int domain);

/* --- fault_power.c: what is not on the disk yet --- */

bool power_watching(void);
void power_init(const char *keep);
void power_written(int fd);          /* before bytes are written or cut */
void power_synced(int fd);           /* after a sync of a file or a directory */
void power_made(const char *path);   /* after a file or directory was made */
void power_renaming(const char *to); /* before a rename: what it replaces is kept */
void power_renamed(const char *from, const char *to);
void power_cut(bool zeroed); /* takes back what was never synced */

/* The next definition of a function: the C library's, or a sanitizer's before it. */
void *fault_next(const char *name);

#endif
