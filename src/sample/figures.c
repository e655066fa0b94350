/* SPDX-License-Identifier: MIT */
#include "figures.h"

#include <math.h>

#define NO_LIMIT 0x1p60

struct resource_sample resource_sample_none(void)
{
    return (struct resource_sample){
        .usage_bytes = NAN,
        .used_bytes = NAN,
        .anon_bytes = NAN,
        .file_bytes = NAN,
        .shmem_bytes = NAN,
        .peak_bytes = NAN,
        .limit_bytes = NAN,
        .cpu_ns = NAN,
        .throttled_ns = NAN,
        .nr_periods = NAN,
        .nr_throttled = NAN,
        .pids = NAN,
        .rx_bytes = NAN,
        .tx_bytes = NAN,
        .oom_kills = NAN,
        .system_cpu_ns = NAN,
        .cpus = NAN,
        .swap_bytes = NAN,
        .tx_packets = NAN,
    };
}

/* Reads digits at *p and moves past them; NAN when there are none. */
static double scan_figure(const char **p)
{
    uint64_t value = 0;

    if (**p < '0' || **p > '9')
        return NAN;
    for (; **p >= '0' && **p <= '9'; (*p)++)
        value = value * 10 + (uint64_t)(**p - '0');
    return (double)value;
}

double first_figure(const char *text)
{
    return scan_figure(&text);
}

void keyed_figures(const char *text, const char *const *keys, size_t count, double *ret)
{
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t len = strcspn(line, " \n");

        for (size_t i = 0; line[len] == ' ' && i < count; i++) {
            if (strncmp(line, keys[i], len) == 0 && !keys[i][len]) {
                ret[i] = first_figure(line + len + 1);
                break;
            }
        }
    }
}

double no_limit_above(double bytes)
{
    return bytes >= NO_LIMIT ? (double)INFINITY : bytes;
}

double limit_figure(const char *text)
{
    return strncmp(text, "max", 3) == 0 ? (double)INFINITY : no_limit_above(first_figure(text));
}

double quota_figure(const char *text)
{
    if (strncmp(text, "max", 3) == 0)
        return INFINITY;
    double quota = scan_figure(&text);
    text += *text == ' ';
    return quota / scan_figure(&text);
}

void network_figures(const char *text, struct resource_sample *s)
{
    enum { RX_FIELD = 0, TX_FIELD = 8, TX_PACKETS_FIELD = 9 };

    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        line += strspn(line, " ");
        size_t name = strcspn(line, ":\n");
        if (line[name] != ':' || (name == 2 && memcmp(line, "lo", 2) == 0))
            continue;
        const char *p = line + name + 1;
        for (int field = 0; field <= TX_PACKETS_FIELD; field++) {
            p += strspn(p, " ");
            double value = scan_figure(&p), *to = field == RX_FIELD           ? &s->rx_bytes
                                                  : field == TX_FIELD         ? &s->tx_bytes
                                                  : field == TX_PACKETS_FIELD ? &s->tx_packets
                                                                              : NULL;
            if (to)
                *to = (isnan(*to) ? 0 : *to) + value;
        }
    }
}

double used_bytes(double usage, double inactive_file)
{
    return inactive_file <= usage ? usage - inactive_file : usage; /* also when it is NAN */
}
