/* SPDX-License-Identifier: MIT */
/* Who uses the processors: ticks of every process, by /proc/PID/stat. */
#include "internal.h"

#include <ctype.h>
#include <stdio.h>
#include "benchctl/base/units.h"

/* "812 (name with ) and blanks) S 1 812 ... utime stime": the name ends at the last parenthesis. */
static bool parse(const char *text, struct host_process *ret)
{
    enum { UTIME = 10, STIME = 11 }; /* fields behind the state, from 0 */
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    double value, ticks = 0;

    if (!open || !close || close < open)
        return false;
    (void)snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(close - open - 1), open + 1);
    for (char *c = ret->name; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
    const char *p = close + 1;
    for (int i = -1; i <= STIME; i++) {
        p += strspn(p, " ");
        size_t len = strcspn(p, " ");
        if (i >= UTIME && !number_scan(p, len, &value))
            return false;
        if (i >= UTIME)
            ticks += value;
        p += len;
    }
    ret->ticks = ticks;
    return true;
}

void host_processes_take(struct host_processes *ret)
{
    CLEANUP(host_names_free) char **names = host_names("/proc", "");
    VEC(struct host_process) all = {0};

    for (size_t i = 0; names && names[i] && all.len < HOST_PROCESSES_MAX; i++) {
        struct host_process p = {.pid = 0};
        CLEANUP_FREE char *line =
            isdigit((unsigned char)names[i][0]) ? host_linef("/proc/%s/stat", names[i]) : NULL;
        if (!line || !parse(line, &p))
            continue;
        p.pid = (int64_t)strtoll(names[i], NULL, 10);
        vec_push(&all, p);
    }
    *ret = (struct host_processes){all.items, all.len};
}

void host_processes_release(struct host_processes *p)
{
    free(p->items);
    *p = (struct host_processes){0};
}

static double used_since(const struct host_processes *since, const struct host_process *p)
{
    for (size_t i = 0; i < since->len; i++)
        if (since->items[i].pid == p->pid)
            return p->ticks - since->items[i].ticks;
    return p->ticks; /* begun meanwhile */
}

size_t host_processes_busiest(const struct host_processes *since, const struct host_processes *now,
                              struct host_process *ret, size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < now->len; i++) {
        struct host_process p = now->items[i];
        p.ticks = used_since(since, &p);
        if (!(p.ticks > 0) || (n == max && !(p.ticks > ret[n - 1].ticks)))
            continue;
        size_t at = n < max ? n++ : n - 1;
        for (; at > 0 && ret[at - 1].ticks < p.ticks; at--)
            ret[at] = ret[at - 1];
        ret[at] = p;
    }
    return n;
}
