/* SPDX-License-Identifier: MIT */
#include "kernel_log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include "benchctl/base/clock.h"

#define RECORDS_MAX 100000 /* the ring holds fewer; a log that grows while it is read must come to an end */
#define RECORD_MAX 8192    /* the kernel's own limit of one record */

struct kernel_log {
    int fd;
    long long since_us; /* records from before that do not count */
};

static const struct {
    const char *words, *kind;
} kinds[] = {
    {"Out of memory", "out of memory"}, /* of a cgroup: "Memory cgroup out of memory" */
    {"page allocation failure", "out of memory"},
    {"[Hardware Error]", "machine check"},
    {"Machine check", "machine check"},
    {"EDAC ", "machine check"},
    {"Uncorrected error", "machine check"},
    {"clock throttled", "throttling"},
    {"temperature above threshold", "throttling"},
    {"critical temperature", "throttling"},
    {"blocked for more than", "hung task"},
    {"soft lockup", "hung task"},
    {"hard LOCKUP", "hung task"},
    {"detected stall", "hung task"},
    {"Link is Down", "link down"},
    {"Link is down", "link down"},
    {"status definitely down", "link down"},
    {"nf_conntrack: table full", "network table full"},
    {"neighbor table overflow", "network table full"},
    {"neighbour table overflow", "network table full"},
    {"Possible SYN flooding", "network table full"},
    {"I/O error", "disk error"},
    {"EXT4-fs error", "disk error"},
    {"controller is down; will reset", "disk error"}, /* NVMe */
    {"timeout, aborting", "disk error"},
    {"timeout, completion polled", "disk error"},
    {"Remounting filesystem read-only", "disk error"},
    {"NETDEV WATCHDOG", "link down"},
    {"interrupt took too long", "slow interrupts"}, /* perf's own: the machine stood still meanwhile */
    {"as unstable", "clock"},                       /* "Marking clocksource 'tsc' as unstable because ..." */
    {"Time has been changed", "clock"},
};

const char *kernel_line_kind(const char *line, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (memmem(line, len, kinds[i].words, strlen(kinds[i].words)))
            return kinds[i].kind;
    return NULL;
}

struct kernel_log *kernel_log_open(const char *path)
{
    int fd = open(path ? path : "/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return NULL;
    struct kernel_log *k = xcalloc(1, sizeof(*k));
    k->fd = fd;
    return k;
}

void kernel_log_free(struct kernel_log *k)
{
    if (!k)
        return;
    (void)close(k->fd);
    free(k);
}

void kernel_log_skip(struct kernel_log *k)
{
    if (k)
        (void)lseek(k->fd, 0, SEEK_END);
}

void kernel_log_from(struct kernel_log *k, int64_t monotonic_ns)
{
    k->since_us = monotonic_ns / (int64_t)NS_PER_US;
}

/* "PRIORITY,SEQUENCE,TIME,FLAGS;text"; lines behind it that begin with a space are its details. Only what the
 * kernel itself says counts (facility 0): anybody with the right may write there. */
static const char *message_of(const char *line, long long since_us)
{
    enum { LEVELS = 8 };
    const char *text = strchr(line, ';');
    unsigned priority = 0;

    if (*line < '0' || *line > '9' || !text)
        return NULL;
    const char *sequence = strchr(line, ','), *time = sequence ? strchr(sequence + 1, ',') : NULL;
    if (since_us && (!time || time > text || strtoll(time + 1, NULL, 10) < since_us))
        return NULL;
    for (const char *p = line; *p >= '0' && *p <= '9' && priority < 100000; p++)
        priority = priority * 10 + (unsigned)(*p - '0');
    return priority < LEVELS ? text + 1 : NULL;
}

static void visit_lines(const struct kernel_log *k, char *text, void (*visit)(const char *line, void *data),
                        void *data)
{
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const char *message = message_of(line, k->since_us);
        if (message)
            visit(message, data);
    }
}

bool kernel_log_each(struct kernel_log *k, void (*visit)(const char *line, void *data), void *data)
{
    char text[RECORD_MAX + 1];

    for (int i = 0; i < RECORDS_MAX; i++) {
        ssize_t n = read(k->fd, text, RECORD_MAX);
        if (n < 0 && (errno == EPIPE || errno == EINTR))
            continue; /* EPIPE: the ring has overtaken us; the next read goes on with its oldest */
        if (n < 0 && errno != EAGAIN)
            return false;
        if (n <= 0)
            break;
        text[n] = '\0';
        visit_lines(k, text, visit, data);
    }
    return true;
}

/* --- what speaks of the machine --- */

static void count_line(const char *line, void *data)
{
    double *count = data;

    *count += kernel_line_kind(line, strlen(line)) != NULL;
}

double kernel_log_count(struct kernel_log *k)
{
    double count = 0;

    return k && kernel_log_each(k, count_line, &count) ? count : (double)NAN;
}
