/* SPDX-License-Identifier: MIT */
#ifndef BENCHCTL_HOST_INTERNAL_H
#define BENCHCTL_HOST_INTERNAL_H

#include "benchctl/base/strbuf.h"
#include "benchctl/host.h"

/* A file below the root as one text, at most 1 MiB; -1: not readable. */
int host_read(const char *path, struct strbuf *out);

/* Its first line without blanks around it, control characters as '?', at most HOST_LINE_MAX bytes. The caller
 * frees; NULL: not readable, or nothing there. */
#define HOST_LINE_MAX ((size_t)256)
char *host_line(const char *path);
char *host_linef(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The number that the file begins with; NAN: not readable, or none. */
double host_number(const char *path);
double host_numberf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The text behind `key` and a colon or blanks, in a file of lines such as /proc/meminfo. The caller frees;
 * NULL: there is none. */
char *host_value(const char *path, const char *key);

/* Names in a directory that begin with `prefix`, sorted, NULL-terminated, at most HOST_NAMES_MAX. The caller
 * frees with host_names_free(). NULL: not readable. */
#define HOST_NAMES_MAX ((size_t)4096)
char **host_names(const char *path, const char *prefix);
void host_names_free(char **names);
DEFINE_CLEANUP(char **, host_names_free);

/* How many numbers "0-3,7" names, -1: not such a list. */
long host_list_count(const char *list);

/* What all processors say in cpufreq/NAME: the one word, or "performance (6), powersave (2)". The caller
 * frees; NULL: none says anything. */
char *host_frequency_word(const char *name);

/* "on", "off", or NULL: not visible. */
const char *host_turbo(void);
/* "on", "off", "forceoff", "notsupported", or NULL. */
char *host_smt(void);
/* The kind of virtual machine or "yes" when it does not tell; NULL: none. The caller frees. */
char *host_hypervisor(void);
double host_meminfo_bytes(const char *key); /* NAN: not there */
double host_swap_bytes(void);               /* all devices together; NAN: not readable */
int host_cgroup_version(void);              /* 2, 1, or 0: not visible */
struct json *host_boot(void);           /* parameters of the kernel that change results; by an allow-list */
char *host_mitigations(void);           /* of the processor's faults, in short; NULL: not visible */
char *host_bracketed(const char *path); /* the chosen one of "always [madvise] never"; NULL: not visible */

/* Percent of the last minute that some (or all) tasks waited for "cpu", "memory" or "io"; NAN: unknown. */
double host_pressure(const char *what, bool full);
bool host_swap_is_compressed(void); /* there is swap, and all of it is zram */
double host_throttle_events(void);  /* of all cores and packages since the start; NAN: not counted here */
void host_ticks_read(struct host_ticks *ret);
/* 1, 0, -1: cannot be asked. */
int host_clock(double *ret_offset_ms);

#endif
