/* SPDX-License-Identifier: MIT */
#include "ports.h"

#include <arpa/inet.h>
#include <stdio.h>
#include "benchctl/base/clock.h"
#include "run_internal.h"

#define WAIT_NS (60 * NS_PER_S) /* how long the kernel keeps them */
#define PROC_MAX ((size_t)4096)
#define TIME_WAIT_STATE 6

int ports_parse(const char *sockstat, const char *range, struct port_use *ret)
{
    const char *line = strstr(sockstat, "TCP:"), *end = line ? strchr(line, '\n') : NULL;
    const char *tw = line ? strstr(line, " tw ") : NULL;
    long waiting, first, last;

    if (!tw || (end && tw > end) || sscanf(tw, " tw %ld", &waiting) != 1 ||
        sscanf(range, "%ld %ld", &first, &last) != 2 || waiting < 0 || first < 0 || last < first)
        return -1;
    *ret = (struct port_use){.waiting = (double)waiting, .ports = (double)(last - first + 1)};
    return 0;
}

bool ports_scarce(const struct port_use *p)
{
    return p->waiting >= PORTS_SHARE * p->ports;
}

bool ports_line_waits(const char *line, uint32_t address, unsigned port)
{
    unsigned to, to_port, state;

    return sscanf(line, " %*d: %*x:%*x %x:%x %x", &to, &to_port, &state) == 3 && state == TIME_WAIT_STATE &&
           to == address && to_port == port;
}

/* http://ADDRESS:PORT, an IPv4 address; false when it is something else. */
static bool target_address(const char *target, uint32_t *ret_address, unsigned *ret_port)
{
    struct in_addr address;
    char host[64];

    if (sscanf(target, "http://%63[0-9.]:%u", host, ret_port) != 2 || inet_pton(AF_INET, host, &address) != 1)
        return false;
    *ret_address = address.s_addr;
    return true;
}

/* A port is free for another destination: what counts is who waits for this one. */
static double waiting_for(const char *target, double otherwise)
{
    CLEANUP(fclose) FILE *f = fopen("/proc/net/tcp", "re");
    uint32_t address;
    unsigned port;
    char line[512];
    double count = 0;

    if (!f || !target_address(target, &address, &port))
        return otherwise;
    while (fgets(line, sizeof(line), f))
        count += ports_line_waits(line, address, port);
    return count;
}

int64_t ports_settled(void)
{
    CLEANUP(fclose) FILE *r = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    struct port_use use;
    char range[PROC_MAX] = "";

    if (!r)
        return 0;
    (void)!fread(range, 1, sizeof(range) - 1, r);
    return ports_parse("TCP: tw 0", range, &use) < 0 ? 0 : (int64_t)(PORTS_SETTLED_SHARE * use.ports);
}

/* -1: unknown. Files of /proc are no regular ones. */
static int read_use(const char *target, struct port_use *ret)
{
    char sockstat[PROC_MAX] = "", range[PROC_MAX] = "";
    CLEANUP(fclose) FILE *s = fopen("/proc/net/sockstat", "re");
    CLEANUP(fclose) FILE *r = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");

    if (!s || !r)
        return -1;
    (void)!fread(sockstat, 1, sizeof(sockstat) - 1, s);
    (void)!fread(range, 1, sizeof(range) - 1, r);
    if (ports_parse(sockstat, range, ret) < 0)
        return -1;
    if (ports_scarce(ret)) /* only then is it worth a look at each */
        ret->waiting = waiting_for(target, ret->waiting);
    return 0;
}

int ports_wait(struct trial_run *t, struct error *err)
{
    static const bool never;
    const struct load_settings *l = &t->settings->load;
    int64_t begin = clock_now_ns();
    struct port_use at_first, now;
    struct error unknown = ERROR_INIT;
    const char *target;

    if (l->image || !load_adapter_program(t->adapter->adapter))
        return 0; /* a container has ports of its own */
    if (run_expand(t, l->target ? l->target : "${app.url}", &target, &unknown) < 0)
        target = ""; /* the load will say so */
    if (read_use(target, &at_first) < 0 || !ports_scarce(&at_first))
        return 0;
    now = at_first;
    while (ports_scarce(&now) && clock_now_ns() - begin < WAIT_NS) {
        struct error e = ERROR_INIT;
        if (sweep_wait(t->sweep, &never, clock_now_ns() + NS_PER_S, &e) < 0 &&
            (e.kind != ERROR_TIMEOUT || trial_time_is_up(t->sweep))) {
            *err = e;
            return -1;
        }
        if (read_use(target, &now) < 0)
            break;
    }
    trial_note(t, "waited %.0f s for local ports: %.0f of %.0f were kept by closed connections, then %.0f",
               clock_ms_since(begin) / 1e3, at_first.waiting, at_first.ports, now.waiting);
    if (ports_scarce(&now))
        trial_validity(t, "local-ports", "WARN",
                       "%.0f of %.0f local ports were still kept by closed connections when the load began",
                       now.waiting, now.ports);
    return 0;
}
