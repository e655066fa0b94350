/* SPDX-License-Identifier: MIT */
#include "usage.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/base/mem.h"

static int64_t cpu_now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

void usage_begin(struct usage *u)
{
    *u = (struct usage){clock_now_ns(), cpu_now_ns()};
}

void usage_lap(struct usage *u, int64_t *ret_cpu_ns, double *ret_share)
{
    struct usage now;

    usage_begin(&now);
    *ret_cpu_ns = now.cpu_ns - u->cpu_ns;
    *ret_share =
        now.at_ns - u->at_ns >= NS_PER_S / 2 ? (double)*ret_cpu_ns / (double)(now.at_ns - u->at_ns) : NAN;
    *u = now;
}

/* getrusage() would tell the peak of the program that started this one, too; it needs no descriptor, though.
 */
static int64_t any_max_rss_bytes(void)
{
    struct rusage r;

    return getrusage(RUSAGE_SELF, &r) == 0 ? r.ru_maxrss * INT64_C(1024) : 0;
}

int64_t usage_max_rss_bytes(void)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error ignored = ERROR_INIT;

    if (fs_read("/proc/self/status", 64 << 10, &text, &ignored) < 0)
        return any_max_rss_bytes();
    const char *line = strstr(strbuf_text(&text), "VmHWM:");
    return line ? strtoll(line + strlen("VmHWM:"), NULL, 10) * 1024 : any_max_rss_bytes();
}
