/* SPDX-License-Identifier: MIT */
/*
 * This machine: what it is, whether it is fit to measure on, how warm and how busy it is at this moment.
 * Reads /proc and /sys, changes nothing. Not a sampler: what is measured during a load is sample.h's.
 */
#ifndef BENCHCTL_HOST_H
#define BENCHCTL_HOST_H

#include <stdint.h>
#include "benchctl/base/json.h"
#include "benchctl/base/schema.h"

/* Another root than "/" for tests; NULL: the real one. Not for threads; kept, not copied. */
void host_set_root(const char *root);

double host_load1(void); /* load average of a minute; NAN: not readable */
double
host_temperature_c(void);     /* of the hottest sensor of a processor or its package; NAN: none is readable */
int64_t host_time_wait(void); /* TCP sockets in TIME_WAIT; -1: not readable */

/* What the machine is, for sweep.json's `host`: by an allow-list; the caller frees. Stable facts only: two
 * calls on an unchanged machine give the same, `load1` and `temperature_c` apart. Members that are not
 * visible are left out or null. */
struct json *host_facts(void);

/* --- a look at it --- */

/* Since the machine was started, in ticks; NAN: not readable. */
struct host_ticks {
    double busy, steal, all;
};

/* Everything that may change while a sweep runs. NAN, NULL and -1: cannot be seen here. A word of all
 * processors is "performance", or "performance (6), powersave (2)" where they differ. */
struct host_view {
    char *governor, *driver, *min_khz, *max_khz; /* cpufreq, of all processors */
    char *smt, *thp, *clocksource, *hypervisor;  /* smt: on, off, forceoff, notsupported */
    const char *turbo;                           /* on, off */
    double load1, temperature_c, cpus;           /* cpus: that are online */
    double psi_cpu, psi_memory, psi_io;          /* "some" of the last minute, percent */
    double psi_memory_full, psi_io_full;         /* "full" */
    double swap_bytes, swap_used_bytes;          /* all devices together */
    double memory_bytes, memory_available_bytes;
    double disk_bytes, disk_inodes; /* free for us at the directory that was asked for */
    double throttle_events;         /* by heat, since the machine was started */
    double steal_pct, throttled;    /* since the look before; NAN: there was none */
    double time_wait, open_files;   /* open_files: this process' limit; INFINITY: none */
    double aslr;                    /* 0, 1, 2 */
    double clock_offset_ms;         /* as the kernel's clock discipline estimates it */
    int clock_synchronised;         /* 1, 0, -1: cannot be asked */
    int cgroup_version;             /* 2, 1; 0: cannot be seen */
    bool swap_compressed;           /* all of it is memory: zram */
    struct host_ticks ticks;
};
/* `before`: an earlier look, for what is counted since then; NULL: none. `dir`: whose disk; NULL: unknown. */
void host_view_take(const struct host_view *before, const char *dir, struct host_view *ret);
void host_view_release(struct host_view *v);

/* A processor of the list "0-3,7" that is not online; -1: there is none, or it cannot be seen. */
long host_cpus_missing(const char *cpuset);
/* Are there a processor of one list and another of the other one that are threads of the same core? */
bool host_cpus_share_core(const char *one, const char *other, long *ret_one, long *ret_other);

/* Of the table of tracked connections, how many it has and can have; NAN: there is none. */
void host_connections(double *ret_count, double *ret_max);
/* How many local ports connections can be made from; NAN: not readable. */
double host_local_ports(void);

/* The processes that used most CPU between two looks, the busiest first. */
struct host_process {
    int64_t pid;
    char name[32]; /* control characters as '?' */
    double ticks;
};
#define HOST_PROCESSES_MAX ((size_t)4096)
struct host_processes {
    struct host_process *items;
    size_t len;
};
void host_processes_take(struct host_processes *ret);
void host_processes_release(struct host_processes *p);
/* Fills at most `max` that used any; returns how many. `since` is the earlier look. */
size_t host_processes_busiest(const struct host_processes *since, const struct host_processes *now,
                              struct host_process *ret, size_t max);

/* --- conditions: host.require --- */

enum host_kind { HOST_WORD, HOST_NUMBER, HOST_BYTES };
/* One row of the table of conditions (docs/doctor.md). */
struct host_quality {
    const char *name;
    enum host_kind kind;
    const char *const *words; /* HOST_WORD: NULL-terminated; NULL: any */
    const char *unit;         /* for messages and the page; "" for none */
    const char *help, *hint;  /* what it looks at; what to do when it is not so */
    const char *example;      /* "governor=performance" */
    void (*read)(const struct host_view *v, const char **ret_word, double *ret_number);
};
extern const struct host_quality host_qualities[];
extern const size_t host_quality_count;

enum host_order { HOST_IS, HOST_IS_NOT, HOST_AT_MOST, HOST_AT_LEAST, HOST_BELOW, HOST_ABOVE };
/* "governor=performance", "load<=0.5", "disk>=5g". Words live as long as the text that was parsed. */
struct host_condition {
    const struct host_quality *quality;
    enum host_order order;
    const char *word;
    double number;
};
/* ERROR_INVALID, with a hint, for names, comparisons and values that there are not. */
int host_condition_parse(const char *text, struct host_condition *ret, struct error *err) MUST_CHECK;
/* Does it hold? Otherwise the reason is appended: "governor is powersave", "turbo cannot be seen here". What
 * cannot be seen does not hold. */
bool host_condition_holds(const struct host_condition *c, const struct host_view *v, struct strbuf *ret_why);

/* Every condition that does not hold, "; " between them, and the hints of those; the number of them. Texts
 * that are no conditions are left out: `check` has told of them. */
size_t host_violations(const struct text_list *conditions, const struct host_view *v, struct strbuf *ret_why,
                       struct strbuf *ret_hints);

/* Is any of them about what is counted between two looks (steal, throttling)? */
bool host_conditions_count(const struct text_list *conditions);

/* What changed between two looks and makes figures doubtful: governor, frequencies, turbo, SMT, processors,
 * clock source. Clauses are appended, "; " between them; the number of changes. */
size_t host_changes(const struct host_view *from, const struct host_view *to, struct strbuf *ret);
/* What of that both looks could see: "governor, turbo, processors"; the number of names. */
size_t host_compared(const struct host_view *from, const struct host_view *to, struct strbuf *ret);

#endif
