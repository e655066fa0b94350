#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How exactly requests arrive that are to come at a constant rate, seen at the server.

A receiver notes the kernel's stamp of each request's packet, whoever sent it. The stamps, sorted, are held against the constant
schedule that fits them best: its interval is the one asked for or the one seen, whichever fits better, its start such that the median
error is 0. The first second and the last 200 ms are left out. Errors are absolute. "bunched" is the share of requests that came less than a
tenth of the interval after the one before.
"""
import array
import os
import statistics
import subprocess
import sys
import tempfile

from bench import HERE, Server, arguments, load, machine, raise_limit, run, spread, tool_paths, write_json


def build_receiver(directory):
    path = os.path.join(directory, 'receiver')
    subprocess.run(['cc', '-O2', '-D_GNU_SOURCE', '-o', path, os.path.join(HERE, 'receiver.c')], check=True)
    return path


def fit(stamps_ns, rate):
    """Errors against the constant schedule that fits best: of the interval asked for and the one seen from the first to the last
    fifth, the one with the smaller median error. (interval, errors in order), in ns."""
    n = len(stamps_ns)
    fifth = n // 5
    first = statistics.median(stamps_ns[i] for i in range(fifth)), (fifth - 1) / 2
    last = statistics.median(stamps_ns[i] for i in range(n - fifth, n)), n - 1 - (fifth - 1) / 2
    best = None
    for interval in (1e9 / rate, (last[0] - first[0]) / (last[1] - first[1])):
        start = statistics.median(t - i * interval for i, t in enumerate(stamps_ns))
        errors = sorted(abs(t - start - i * interval) for i, t in enumerate(stamps_ns))
        if not best or quantile(errors, 0.5) < quantile(best[1], 0.5):
            best = interval, errors
    return best


def quantile(ordered, q):
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def analyse(stamps_ns, rate):
    stamps_ns = sorted(stamps_ns)
    begin, end = stamps_ns[0] + 1_000_000_000, stamps_ns[-1] - 200_000_000
    kept = [t - begin for t in stamps_ns if begin <= t <= end]
    if len(kept) < 100:
        return None
    interval, errors = fit(kept, rate)
    gaps = [b - a for a, b in zip(kept, kept[1:])]
    return {'count': len(kept), 'rate': 1e9 / interval, 'p50_us': quantile(errors, 0.5) / 1e3, 'p99_us': quantile(errors, 0.99) / 1e3,
            'max_us': errors[-1] / 1e3, 'bunched': sum(g < 0.1e9 / rate for g in gaps) / len(gaps)}


def generators(tools, rate, seconds, connections):
    def benchctl(url):
        cost, report = load(tools['benchctl'], {'target': url, 'rate': rate, 'duration': '%ds' % seconds, 'vus': connections,
                                                'max_vus': 1000, 'transport': 'plain'})
        return cost, report and report['pacing']

    def vegeta(url):
        return run([tools['vegeta'], 'attack', '-rate=%d/1s' % rate, '-duration=%ds' % seconds, '-output=/dev/null'], 'GET ' + url + '/'), None

    def wrk2(url):
        return run([tools['wrk2'], '-t1', '-c%d' % connections, '-R%d' % rate, '-d%ds' % seconds, url + '/']), None

    return {name: go for name, go in (('benchctl', benchctl), ('vegeta', vegeta), ('wrk2', wrk2)) if name in tools}


def one(receiver, go, rate):
    with tempfile.TemporaryDirectory() as d:
        stamps = os.path.join(d, 'stamps')
        with Server([receiver, stamps]) as server:
            cost, pacing = go(server.url)
        got = array.array('q')
        with open(stamps, 'rb') as f:
            got.frombytes(f.read())
    result = analyse(got, rate) if len(got) else None
    if result:
        result['cpu_us'] = cost.cpu_s / len(got) * 1e6
        result['own'] = pacing
    return result


def table(rate, names, rows):
    print('\n| %d per second | error p50, µs | error p99, µs | bunched | CPU per request, µs |\n|---|---|---|---|---|' % rate)
    for name in names:
        mine = [r for r in rows if r['tool'] == name and r['rate_wanted'] == rate]
        print('| %s | %s | %s | %s %% | %s |' % (name, spread([r['p50_us'] for r in mine]), spread([r['p99_us'] for r in mine], '%.0f'),
                                                spread([100 * r['bunched'] for r in mine], '%.2f'), spread([r['cpu_us'] for r in mine])))
    own = [r['own'] for r in rows if r['rate_wanted'] == rate and r.get('own')]
    if own:
        print("\nbenchctl's own lag: p50 %s µs, p99 %s µs" % tuple(spread([1000 * o['lag_ms'][q] for o in own], '%.0f') for q in ('p50', 'p99')))


def main():
    p = arguments(__doc__.split('\n')[0], rounds=5, seconds=10)
    p.add_argument('--rate', type=int, action='append', help='default: 1000 and 5000')
    p.add_argument('--connections', type=int, default=50)
    a = p.parse_args()
    raise_limit()
    tools = tool_paths(a)
    rows = []
    print(machine())
    with tempfile.TemporaryDirectory() as d:
        receiver = build_receiver(d)
        for rate in a.rate or (1000, 5000):
            todo = generators(tools, rate, a.seconds, a.connections)
            names = list(todo)
            for r in range(a.rounds):
                for name in names[r % len(names):] + names[:r % len(names)]:
                    result = one(receiver, todo[name], rate)
                    if result:
                        rows.append(dict(result, tool=name, round=r, rate_wanted=rate))
                        print('%5d/s round %d %-9s p50 %8.1f p99 %9.1f us, bunched %5.2f %%, %.0f/s' % (
                            rate, r, name, result['p50_us'], result['p99_us'], 100 * result['bunched'], result['rate']), file=sys.stderr)
            table(rate, names, rows)
    write_json(a, rows)


if __name__ == '__main__':
    main()
