#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPU time of the generator per request: 64 keep-alive connections, as fast as they go, to an endpoint that costs nothing.

Rounds are interleaved: in each, every generator runs once, in an order that turns by one. CPU is user and system time of the
generator's processes; requests are what the server counted. Ratios are taken within a round.
"""
import json
import statistics
import sys

from bench import Upstream, arguments, load, machine, raise_limit, run, spread, tool_paths, version, write_json


def commands(tools, url, connections, seconds):
    """name -> function that makes the load and returns its Cost"""
    def benchctl(transport):
        def go():
            return load(tools['benchctl'], {'target': url, 'path': '/fast', 'vus': connections, 'duration': '%ds' % seconds,
                                            'transport': transport})[0]
        return go

    def plain(argv, stdin=None):
        return lambda: run(argv, stdin)

    fast, c, n = url + '/fast', str(connections), str(seconds)
    all_of_them = {
        'benchctl': benchctl('plain'),
        'benchctl, curl': benchctl('curl'),
        'wrk': plain([tools.get('wrk'), '-t1', '-c' + c, '-d' + n + 's', fast]),
        'ab': plain([tools.get('ab'), '-k', '-q', '-c', c, '-t', n, '-n', '100000000', fast]),
        'h2load': plain([tools.get('h2load'), '--h1', '-c', c, '-t', '1', '-D', n, fast]),
        'hey': plain([tools.get('hey'), '-c', c, '-z', n + 's', fast]),
        'oha': plain([tools.get('oha'), '--no-tui', '-c', c, '-z', n + 's', fast]),
        'vegeta': plain([tools.get('vegeta'), 'attack', '-rate=0', '-max-workers=' + c, '-workers=' + c, '-connections=' + c,
                         '-duration=' + n + 's', '-output=/dev/null'], 'GET ' + fast),
    }
    return {name: go for name, go in all_of_them.items() if name.split(',')[0] in tools}


def measure(a, tools):
    rows = []
    with Upstream(a, 'endpoints: {/fast: {body: ok}}') as server:
        todo = commands(tools, server.url, a.connections, a.seconds)
        if a.only:
            todo = {name: go for name, go in todo.items() if name in a.only}
        names = list(todo)
        for r in range(a.rounds):
            for name in names[r % len(names):] + names[:r % len(names)]:
                server.reset()
                cost = todo[name]()
                count = server.stats()['endpoints']['/fast']['requests']
                rows.append({'round': r, 'tool': name, 'cpu_s': cost.cpu_s, 'requests': count, 'wall_s': cost.wall_s})
                print('round %d %-15s %8d requests %6.2f us' % (r, name, count, cost.cpu_s / max(count, 1) * 1e6), file=sys.stderr)
    return names, rows


def table(names, rows, base):
    each = {name: {r['round']: r['cpu_s'] / r['requests'] * 1e6 for r in rows if r['tool'] == name and r['requests']} for name in names}
    ratios = {name: [us / each[base][k] for k, us in each[name].items() if k in each[base]] for name in names}
    print('| generator | CPU per request, µs | of %s | requests per second |\n|---|---|---|---|' % base)
    for name in names:
        rates = [r['requests'] / r['wall_s'] for r in rows if r['tool'] == name]
        print('| %s | %s | %s | %s |' % (name, spread(list(each[name].values()), '%.2f'), spread(ratios[name], '%.2f'), spread(rates, '%.0f')))
    return {name: statistics.median(values) for name, values in ratios.items() if values}


def main():
    p = arguments(__doc__.split('\n')[0])
    p.add_argument('--connections', type=int, default=64)
    p.add_argument('--only', action='append', metavar='TOOL')
    p.add_argument('--at-most', action='append', default=[], metavar='TOOL=RATIO', help="fail when TOOL costs more than RATIO times wrk's")
    a = p.parse_args()
    raise_limit()
    tools = tool_paths(a)
    if 'wrk' not in tools:
        print('skipped: no wrk')
        sys.exit(77)
    print(machine())
    names, rows = measure(a, tools)
    print('; '.join('%s: %s' % (n, version(tools[n], *({'wrk': ['-v'], 'ab': ['-V']}.get(n, [])))) for n in tools if n in names and n != 'hey'))
    got = table(names, rows, 'wrk')
    write_json(a, rows)
    bad = 0
    for limit in a.at_most:
        name, most = limit.rsplit('=', 1)
        ok = got.get(name, 1e9) <= float(most)
        bad += not ok
        print('%s: %s costs %.2f of wrk, at most %s' % ('ok' if ok else 'FAILED', name, got.get(name, float('nan')), most))
    sys.exit(bad > 0)


if __name__ == '__main__':
    main()
