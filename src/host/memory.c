/* SPDX-License-Identifier: MIT */
/* Memory, swap, who waits for what, and the version of control groups. */
#include "internal.h"

#include <math.h>
#include "benchctl/base/units.h"

double host_meminfo_bytes(const char *key)
{
    CLEANUP_FREE char *text = host_value("/proc/meminfo", key);
    double kib;

    return text && number_scan(text, strlen(text), &kib) && kib >= 0 ? kib * 1024 : NAN;
}

double host_swap_bytes(void)
{
    return host_meminfo_bytes("SwapTotal");
}

/* /proc/swaps: a heading, then one device a line. */
bool host_swap_is_compressed(void)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    size_t devices = 0, zram = 0;

    if (host_read("/proc/swaps", &text) < 0)
        return false;
    for (const char *p = strchr(strbuf_text(&text), '\n'); p && p[1]; p = strchr(p + 1, '\n')) {
        devices++;
        zram += text_starts(p + 1, "/dev/zram");
    }
    return devices > 0 && zram == devices;
}

double host_pressure(const char *what, bool full)
{
    CLEANUP_FREE char *path = xasprintf("/proc/pressure/%s", what);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    double percent;

    if (host_read(path, &text) < 0)
        return NAN;
    const char *line = strstr(strbuf_text(&text), full ? "full " : "some ");
    const char *avg = line ? strstr(line, "avg60=") : NULL, *end = line ? strchr(line, '\n') : NULL;
    if (!avg || (end && avg > end))
        return NAN;
    avg += strlen("avg60=");
    return number_scan(avg, strcspn(avg, " \n"), &percent) && percent >= 0 ? percent : NAN;
}

int host_cgroup_version(void)
{
    CLEANUP_FREE char *unified = host_line("/sys/fs/cgroup/cgroup.controllers");
    CLEANUP(host_names_free) char **memory = NULL;

    if (unified)
        return 2;
    memory = host_names("/sys/fs/cgroup/memory", "memory.");
    return memory ? 1 : 0;
}
