/* SPDX-License-Identifier: MIT */
/* The kernel's own line about a kill for want of memory: whom it killed, and whose limit it was. */
#include "benchctl/failure.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define ID_LENGTH 64 /* of a container, in hexadecimal digits */

/* "task=" also ends "oom_task=": the field begins the line or stands behind a comma. */
static const char *field(const char *line, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = strstr(line, name); at; at = strstr(at + 1, name))
        if (at > line && (at[-1] == ',' || at[-1] == ':') && at[len] == '=')
            return at + len + 1;
    return NULL;
}

/* .../docker/ID, .../docker-ID.scope: as cgroup drivers name them. */
static void find_id(const char *path, char *ret)
{
    size_t run = 0;

    for (const char *p = path; *p && *p != ','; p++) {
        run = isxdigit((unsigned char)*p) ? run + 1 : 0;
        if (run == ID_LENGTH && !isxdigit((unsigned char)p[1])) {
            memcpy(ret, p + 1 - ID_LENGTH, ID_LENGTH);
            ret[ID_LENGTH] = '\0';
            return;
        }
    }
}

enum oom_reason oom_reason_parse(const char *line)
{
    if (!strcasestr(line, "out of memory: Killed process"))
        return OOM_NONE;
    return strstr(line, "Memory cgroup out of memory:") ? OOM_OF_CGROUP : OOM_OF_MACHINE;
}

bool oom_line_parse(const char *line, struct oom_line *ret)
{
    const char *begin = strstr(line, "oom-kill:constraint=");

    if (!begin)
        return false;
    const char *constraint = field(begin, "constraint"), *group = field(begin, "task_memcg"),
               *task = field(begin, "task"), *pid = field(begin, "pid");
    *ret = (struct oom_line){.host = strncmp(constraint, "CONSTRAINT_MEMCG", 16) != 0};
    if (group)
        find_id(group, ret->container);
    if (task) {
        size_t len = strcspn(task, ",");
        len = len < sizeof(ret->process) ? len : sizeof(ret->process) - 1;
        memcpy(ret->process, task, len);
        ret->process[len] = '\0';
    }
    ret->pid = pid ? strtoll(pid, NULL, 10) : 0;
    return true;
}
