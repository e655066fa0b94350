/* SPDX-License-Identifier: MIT */
/* Lists of processors ("0-3,7") against those that are there, and against each other. */
#include "internal.h"

#include <ctype.h>

#define PROCESSORS_MAX 4096 /* more than a kernel is built for */

/* Marks the processors of a list; false: it is no such list. */
static bool mark(const char *list, bool set[PROCESSORS_MAX])
{
    for (const char *p = list; p && *p;) {
        char *end;
        if (!isdigit((unsigned char)*p))
            return false;
        unsigned long from = strtoul(p, &end, 10), to = from;
        if (*end == '-' && isdigit((unsigned char)end[1]))
            to = strtoul(end + 1, &end, 10);
        if (to < from || to >= PROCESSORS_MAX || (*end && *end != ','))
            return false;
        for (unsigned long i = from; i <= to; i++)
            set[i] = true;
        p = end + (*end == ',');
    }
    return list != NULL;
}

long host_cpus_missing(const char *cpuset)
{
    bool wanted[PROCESSORS_MAX] = {false}, online[PROCESSORS_MAX] = {false};
    CLEANUP_FREE char *list = host_line("/sys/devices/system/cpu/online");

    if (!mark(list, online) || !mark(cpuset, wanted))
        return -1;
    for (long i = 0; i < PROCESSORS_MAX; i++)
        if (wanted[i] && !online[i])
            return i;
    return -1;
}

bool host_cpus_share_core(const char *one, const char *other, long *ret_one, long *ret_other)
{
    bool a[PROCESSORS_MAX] = {false}, b[PROCESSORS_MAX] = {false};

    if (!mark(one, a) || !mark(other, b))
        return false;
    for (long i = 0; i < PROCESSORS_MAX; i++) {
        bool siblings[PROCESSORS_MAX] = {false};
        CLEANUP_FREE char *list =
            a[i] ? host_linef("/sys/devices/system/cpu/cpu%ld/topology/thread_siblings_list", i) : NULL;
        if (!list || !mark(list, siblings))
            continue;
        for (long k = 0; k < PROCESSORS_MAX; k++) {
            if (k == i || !siblings[k] || !b[k])
                continue;
            *ret_one = i;
            *ret_other = k;
            return true;
        }
    }
    return false;
}
