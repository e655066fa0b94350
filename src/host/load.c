/* SPDX-License-Identifier: MIT */
/* What is going on at this moment: load, sockets that are about to close, ticks of the processors, the clock.
 */
#include "internal.h"

#include <math.h>
#include <sys/timex.h>
#include "benchctl/base/units.h"

double host_load1(void)
{
    return host_number("/proc/loadavg");
}

/* The counter is of all sockets of the network namespace, whatever family they are of. */
int64_t host_time_wait(void)
{
    CLEANUP_FREE char *tcp = host_value("/proc/net/sockstat", "TCP");
    const char *tw = tcp ? strstr(tcp, " tw ") : NULL;
    double count;

    if (!tw || !number_scan(tw + strlen(" tw "), strlen(tw) - strlen(" tw "), &count) || !(count >= 0) ||
        count > 1e12)
        return -1;
    return (int64_t)count;
}

/* "cpu  user nice system idle iowait irq softirq steal ..."; guests' time is within user and nice. */
void host_ticks_read(struct host_ticks *ret)
{
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };
    CLEANUP_FREE char *line = host_line("/proc/stat");
    double field[FIELDS], *f = field;

    *ret = (struct host_ticks){NAN, NAN, NAN};
    if (!line || !text_starts(line, "cpu "))
        return;
    for (const char *p = line + strlen("cpu"); f < field + FIELDS; f++) {
        p += strspn(p, " ");
        size_t used = number_scan(p, strlen(p), f);
        if (!used)
            return;
        p += used;
    }
    double busy = field[USER] + field[NICE] + field[SYSTEM] + field[IRQ] + field[SOFTIRQ];
    *ret = (struct host_ticks){
        .busy = busy,
        .steal = field[STEAL],
        .all = busy + field[IDLE] + field[IOWAIT] + field[STEAL],
    };
}

int host_clock(double *ret_offset_ms)
{
    struct timex t = {0};
    int state = adjtimex(&t); /* reads: no mode is set */

    *ret_offset_ms = NAN;
    if (state < 0)
        return -1;
    if (state == TIME_ERROR || (t.status & STA_UNSYNC))
        return 0;
    *ret_offset_ms = (double)t.offset / (t.status & STA_NANO ? 1e6 : 1e3);
    return 1;
}

void host_connections(double *ret_count, double *ret_max)
{
    *ret_count = host_number("/proc/sys/net/netfilter/nf_conntrack_count");
    *ret_max = host_number("/proc/sys/net/netfilter/nf_conntrack_max");
}

double host_local_ports(void)
{
    CLEANUP_FREE char *range = host_line("/proc/sys/net/ipv4/ip_local_port_range");
    double first, last;
    size_t used = range ? number_scan(range, strlen(range), &first) : 0;
    const char *rest = used ? range + used + strspn(range + used, " ") : "";

    return *rest && number_scan(rest, strlen(rest), &last) && last >= first ? last - first + 1 : (double)NAN;
}
