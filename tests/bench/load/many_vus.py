#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Resident memory of the generator with 10,000 virtual users, each with its connection and an answer that takes 1 s."""
import sys

from bench import Upstream, arguments, load, machine, raise_limit, tool_paths


def main():
    p = arguments(__doc__, seconds=8)
    p.add_argument('--vus', type=int, default=10000)
    p.add_argument('--at-most-mib', type=float, help='fail when the plain transport needs more; a failed request fails always')
    a = p.parse_args()
    raise_limit()
    tools = tool_paths(a)
    bad = False
    print(machine())
    print('| transport | virtual users | greatest resident memory, MiB | each, KiB | requests | failed |\n|---|---|---|---|---|---|')
    for transport in ('plain', 'curl'):
        for vus in (1, a.vus):
            with Upstream(a, 'endpoints: {/slow: {latency: 1s, body: ok}}') as server:
                cost, report = load(tools['benchctl'], {'target': server.url, 'path': '/slow', 'vus': vus, 'timeout': '30s', 'connect_timeout': '30s',
                                                        'duration': '%ds' % a.seconds, 'transport': transport})
            if vus == 1:
                least = cost.max_rss_kib
            print('| %s | %d | %.1f | %.1f | %d | %d |' % (transport, vus, cost.max_rss_kib / 1024, (cost.max_rss_kib - least) / vus,
                                                         report['requests'], report['failed']))
            bad |= report['failed'] > 0
        bad |= bool(a.at_most_mib and transport == 'plain' and cost.max_rss_kib / 1024 > a.at_most_mib)
    sys.exit(bad)


if __name__ == '__main__':
    main()
