/* SPDX-License-Identifier: MIT */
/* Who made an object: HOST:PID:STARTTIME, so that the next benchctl can tell a dead owner from a living one.
 */
#include <errno.h>
#include "benchctl/base/fs.h"
#include "engine_internal.h"

/* State letter and start time (clock ticks after boot) of a process; -1 when there is none. */
static int process_birth(long pid, char *ret_state, unsigned long long *ret_start)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf stat = STRBUF_INIT;
    struct error ignored = ERROR_INIT;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    if (fs_read(path, 8192, &stat, &ignored))
        return -1;
    /* the name in parentheses may hold anything, so count from its end: state is field 3, start time 22 */
    const char *at = strrchr(strbuf_text(&stat), ')');
    if (!at || sscanf(at, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                      ret_state, ret_start) != 2)
        return -1;
    return 0;
}

static void host_name(char out[128])
{
    if (gethostname(out, 128) || !out[0])
        snprintf(out, 128, "unknown");
    out[127] = '\0';
    for (char *c = out; *c; c++)
        if (*c == ':')
            *c = '-';
}

const char *engine_owner_label(char buf[ENGINE_OWNER_SIZE])
{
    unsigned long long start = 0;
    char host[128], state;

    host_name(host);
    (void)process_birth(getpid(), &state, &start);
    snprintf(buf, ENGINE_OWNER_SIZE, "%s:%ld:%llu", host, (long)getpid(), start);
    return buf;
}

bool engine_owner_alive(const char *owner)
{
    char host[128], their_host[128], state;
    unsigned long long their_start, start;
    long pid;
    int used = 0;

    if (!owner || sscanf(owner, "%127[^:]:%ld:%llu%n", their_host, &pid, &their_start, &used) != 3 ||
        owner[used] || pid <= 0)
        return true;
    host_name(host);
    if (strcmp(host, their_host) != 0)
        return true;
    if (process_birth(pid, &state, &start))
        return false;
    return start == their_start && state != 'Z' && state != 'X';
}
