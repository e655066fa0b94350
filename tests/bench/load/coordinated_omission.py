#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server that stands still for 2 s every 10 s, and what each generator says of its latency.

Arithmetic. Requests are due at a constant rate. One that is due u seconds into a stall of S seconds is answered at its end: it takes
S - u, whatever else happens. All others take next to nothing. Over whole periods of E seconds the share of requests that take longer
than x is (S - x) / E for 0 <= x <= S, so the quantile q is S - (1 - q) * E where that is positive, and 0 below: with S = 2, E = 10,
p90 = 1 s, p99 = 1.9 s, p99.9 = 1.99 s. A closed generator with N connections has at most N requests in a stall: of the M requests that it
makes, N per stall take S, and p99 is small when N * stalls < M / 100. That is what hey and the uncorrected figures of benchctl say. wrk 4
corrects what it prints afterwards, by the mean interval of its connections (stats_correct in its source); benchctl gives the same
besides the uncorrected figures, as latency_ms_corrected.

Each run begins in the middle between two stalls and lasts whole periods, so that whole stalls are in it. wrk2 counts only what
comes after 10 s of calibration, so its run is 10 s longer.
"""
import json
import re
import subprocess
import sys
import tempfile
import time

from bench import Upstream, arguments, load, machine, raise_limit, run, tool_paths, write_json

EVERY, LENGTH = 10.0, 2.0


def arithmetic(q):
    return max(0.0, LENGTH - (1 - q) * EVERY) * 1000


def between_stalls(server):
    """Waits until 6 s into a period: the stall was its first 2 s."""
    into = server.stats()['up_ms'] / 1000 % EVERY
    time.sleep((6 - into) % EVERY)


def run_benchctl(tools, url, rate, seconds, closed, connections):
    spec = {'target': url, 'path': '/fast', 'duration': '%ds' % seconds, 'timeout': '20s', 'transport': 'plain'}
    spec.update({'vus': connections} if closed else {'rate': rate, 'vus': int(2.5 * LENGTH * rate), 'max_vus': 10000})
    _, report = load(tools['benchctl'], spec)
    return report


def from_report(latency):
    return {k: latency.get(k) for k in ('p50', 'p90', 'p99', 'p999', 'max')}


def spectrum_value(text, q):
    """ms, from wrk2's spectrum: the first row at or above the quantile"""
    for value, share in re.findall(r'^\s+([\d.]+)\s+(0\.\d+|1\.0+)\s+\d+\s+\S+$', text, re.M):
        if float(share) >= q:
            return float(value)
    return None


def from_wrk2(out):
    corrected, _, uncorrected = out.partition('Uncorrected Latency')
    names = (('p50', 0.5), ('p90', 0.9), ('p99', 0.99), ('p999', 0.999), ('max', 1.0))
    return [{k: spectrum_value(part, q) for k, q in names} for part in (corrected, uncorrected)]


def milliseconds(text):
    value, unit = re.match(r'([\d.]+)(us|ms|s|m)$', text).groups()
    return float(value) * {'us': 1e-3, 'ms': 1, 's': 1e3, 'm': 6e4}[unit]


def from_wrk(out):
    got = {'p%s' % q: milliseconds(v) for q, v in re.findall(r'^\s+(50|90|99)%\s+(\S+)\s*$', out, re.M)}
    m = re.search(r'Latency\s+\S+\s+\S+\s+(\S+)', out)
    return dict(got, p999=None, max=milliseconds(m.group(1)) if m else None)


def from_hey(out):
    got = {'p' + q: float(v) * 1000 for q, v in re.findall(r'^\s+(50|90|99)% in ([\d.]+) secs', out, re.M)}
    m = re.search(r'Slowest:\s+([\d.]+) secs', out)
    return dict(got, p999=None, max=float(m.group(1)) * 1000 if m else None)


def from_vegeta(out):
    latencies = json.loads(out)['latencies']
    return {'p50': latencies['50th'] / 1e6, 'p90': latencies['90th'] / 1e6, 'p99': latencies['99th'] / 1e6, 'p999': None,
            'max': latencies['max'] / 1e6}


def vegeta(tools, url, rate, seconds):
    """Every latency, for a p99.9 that its report does not give."""
    with tempfile.NamedTemporaryFile() as f:
        run([tools['vegeta'], 'attack', '-rate=%d/1s' % rate, '-duration=%ds' % seconds, '-output=' + f.name], 'GET ' + url + '/fast')
        got = from_vegeta(subprocess.run([tools['vegeta'], 'report', '-type=json', f.name], stdout=subprocess.PIPE, text=True).stdout)
        rows = subprocess.run([tools['vegeta'], 'encode', '-to', 'csv', f.name], stdout=subprocess.PIPE, text=True).stdout
    latencies = sorted(int(line.split(',')[2]) for line in rows.split('\n') if line)
    got['p999'] = latencies[min(len(latencies) - 1, int(0.999 * len(latencies)))] / 1e6
    return got


def measure(a, tools):
    rows = {'arithmetic': {k: arithmetic(q) for k, q in (('p50', .5), ('p90', .9), ('p99', .99), ('p999', .999), ('max', 1))}}
    seconds = int(a.periods * EVERY)
    with Upstream(a, 'endpoints: {/fast: {body: ok}}', '--stall', '%ds/%ds' % (EVERY, LENGTH)) as server:
        between_stalls(server)
        report = run_benchctl(tools, server.url, a.rate, seconds, False, a.connections)
        rows['benchctl, open: response time'] = from_report(report['latency_ms'])
        rows['benchctl, open: service time'] = from_report(report['service_ms'])
        if 'wrk2' in tools:
            between_stalls(server)
            out = run([tools['wrk2'], '-t1', '-c%d' % a.connections, '-R%d' % a.rate, '-d%ds' % (seconds + 10), '-L', '-U', '--timeout', '20s',
                       server.url + '/fast']).out
            rows['wrk2'], rows['wrk2, uncorrected'] = from_wrk2(out)
        if 'vegeta' in tools:
            between_stalls(server)
            rows['vegeta'] = vegeta(tools, server.url, a.rate, seconds)
        if a.check:
            return rows
        between_stalls(server)
        report = run_benchctl(tools, server.url, a.rate, seconds, True, a.connections)
        rows['benchctl, closed'] = from_report(report['latency_ms'])
        rows['benchctl, closed: corrected afterwards'] = from_report(report['latency_ms_corrected'] or {})
        if 'hey' in tools:
            between_stalls(server)
            rows['hey'] = from_hey(run([tools['hey'], '-c', str(a.connections), '-z', '%ds' % seconds, '-t', '20', server.url + '/fast']).out)
        if 'wrk' in tools:
            between_stalls(server)
            rows['wrk (corrects itself)'] = from_wrk(run([tools['wrk'], '-t1', '-c%d' % a.connections, '-d%ds' % seconds, '--latency', '--timeout', '20s',
                                        server.url + '/fast']).out)
    return rows


def main():
    p = arguments(__doc__.split('\n')[0])
    p.add_argument('--rate', type=int, default=500)
    p.add_argument('--connections', type=int, default=64)
    p.add_argument('--periods', type=int, default=3)
    p.add_argument('--check', action='store_true', help='benchctl alone; fail when it is more than 3 %% below or 15 %% above the arithmetic')
    a = p.parse_args()
    raise_limit()
    print(machine())
    tools = tool_paths(a)
    rows = measure(a, {'benchctl': tools['benchctl']} if a.check else tools)
    print('| ms | p50 | p90 | p99 | p99.9 | max |\n|---|---|---|---|---|---|')
    for name, row in rows.items():
        print('| %s | %s |' % (name, ' | '.join('-' if row.get(k) is None else '%.2f' % row[k] if row[k] < 10 else '%.0f' % row[k]
                                                for k in ('p50', 'p90', 'p99', 'p999', 'max'))))
    write_json(a, rows)
    if a.check:
        got = rows['benchctl, open: response time']
        # Nothing makes an answer of a stall come sooner; a busy machine makes it come later.
        bad = [k for k in ('p99', 'p999') if not 0.97 < got[k] / rows['arithmetic'][k] < 1.15]
        print('FAILED: %s' % bad if bad else 'ok: benchctl agrees with the arithmetic')
        sys.exit(bool(bad))


if __name__ == '__main__':
    main()
