#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The generator of benchctl itself as a matrix calls it, on a real engine: closed and open loads, one that is more
than the application can take, one in a container, and what the report makes of it."""
import csv
import json
import os
import shutil
import sys

from e2e import command, docker, main, same, has

HOW = {
    'well': '',
    'slow': 'slow=20',                        # at most 50 requests per second
    'refuses': 'status=500',
    'crashes-under-load': 'exit-after-requests=40:6',
    'dies-under-load': 'exit-after-requests=40:7',
}


def matrix(lab, how, load, trials=1, more=''):
    return '''benchctl: 1
name: own
axes:
  how:
%s
trials: %d
retry: 0
order: {mode: listed}
app:
  image: %s
  build: {context: app}
  command: ${how.args}
  restart: %s
  memory: 64m
  port: 8080
  ready: {http: /health, timeout: 20s}
load:
  adapter: builtin
%s
%s''' % ('\n'.join("    - {name: %s, args: [%s]}" % (h, ', '.join("'%s'" % a for a in HOW[h].split())) for h in how), trials,
         lab.image('app'), 'no' if 'dies-under-load' in how else 'on-failure', load, more)


def outcome(lab, out, how, expected, *reason, n=1):
    t = lab.trial(out, how, n)
    if t['outcome'] != expected:
        raise AssertionError('%s is %s (%s) instead of %s' % (how, t['outcome'], t['reason'], expected))
    has(t['reason'], *reason)
    return t


def fine(lab, out, how, n=1):
    """It went well, except that a busy machine may have kept the generator from sending in time."""
    t = lab.trial(out, how, n)
    if t['outcome'] != 'ok' and not (t['outcome'] == 'invalid' and ids(t, 'FAIL')[0] == 'generator-kept-up'):
        raise AssertionError('%s is %s (%s)' % (how, t['outcome'], t['reason']))
    return t


def run(lab, name, out):
    """Exit status 1 is that some trial is invalid."""
    try:
        lab.run(name, out)
    except AssertionError as e:
        if 'exit status 1 instead' not in str(e):
            raise
    lab.nothing_left()


def ids(trial, verdict):
    return [v['id'] for v in trial['validity'] if v['verdict'] == verdict]


def phases_one_after_the_other(lab):
    lab.write('phases.yaml', matrix(lab, ['well'], '''
  warmup: {duration: 300ms}
  headers: {X-Kind: "${app.port}"}
  requests:
    - {name: read, path: "/items/{{random 1 9}}", weight: 3, expect: 200}
    - {name: write, method: POST, path: /items, body: '{"id": "{{uuid}}"}'}
  phases:
    - {name: ramp, executor: ramping-vus, start_vus: 1, stages: [{duration: 1s, target: 4}], graceful_stop: 1s}
    - {name: steady, executor: constant-arrival-rate, rate: 200, duration: 2s, pre_allocated_vus: 20}
''', trials=2))
    has(lab.benchctl('check', 'phases.yaml').stdout, 'ok')
    has(lab.benchctl('plan', 'phases.yaml').stdout, 'well')
    run(lab, 'phases.yaml', 'phases')
    for n in 1, 2:
        load = fine(lab, 'phases', 'well', n)['load']
        same(load['failed'], 0)
        same(load['model'], 'mixed')
        same([p['name'] for p in load['phases']], ['ramp', 'steady'])
        same(load['phases'][1]['planned'], 400)
        same(load['phases'][1]['model'], 'open')
        same(sorted(r['name'] for r in load['by_request']), ['read', 'write'])
        same(sum(r['ok'] for r in load['by_request']), load['ok'])
        same(load['generator']['name'], 'builtin')
        assert load['requests'] > 500 and load['latency_ms']['p50'] > 0 and load['service_ms']['p50'] > 0, load
        assert load['connections'] >= 4 and load['generator']['cpu_ms'] > 0, load
        assert 2900 < load['duration_ms'] < 4500, load['duration_ms']
    kept = os.path.join(lab.path('phases'), 'trials', 'well', '1', 'load')
    same(sorted(os.listdir(kept)), ['histogram.hlog', 'report.json', 'series.csv', 'spec.json', 'stderr.txt', 'stdout.txt'])
    with open(os.path.join(kept, 'spec.json')) as f:
        spec = json.load(f)
    same(spec['headers'], {'X-Kind': '8080'})
    assert spec['target'].startswith('http://') and spec['target'].endswith(':8080'), spec['target']
    with open(os.path.join(kept, 'series.csv')) as f:
        rows = list(csv.DictReader(f))
    same(sum(int(r['ok']) for r in rows), lab.trial('phases', 'well')['load']['ok'])


def what_the_report_says(lab):
    lab.write('twice.yaml', matrix(lab, ['well'], '''
  vus: 4
  think: 10ms
  duration: 2s
''', trials=2))
    run(lab, 'twice.yaml', 'twice')
    merged = 'Percentiles are of the merged histograms of all trials.'
    has(lab.read('twice/report.html'), 'successful requests per second', 'p99 of latency', 'used memory of the application',
        'closed model')
    if [t for t in (1, 2) if fine(lab, 'twice', 'well', t)['outcome'] != 'ok']:
        return  # the machine was too busy: nothing to merge
    has(lab.benchctl('report', lab.path('twice')).stdout, merged)
    # the bundle says the same, without the directory
    has(lab.benchctl('report', lab.path('twice') + '.tar.zst').stdout, merged)


def closed_load_that_meets_failures(lab):
    lab.write('closed.yaml', matrix(lab, ['well', 'refuses', 'crashes-under-load'], '''
  vus: 4
  duration: 2s
'''))
    run(lab, 'closed.yaml', 'closed')
    load = fine(lab, 'closed', 'well')['load']
    same((load['model'], load['corrected'], load['connections']), ('closed', 'no', 4))
    t = outcome(lab, 'closed', 'refuses', 'degraded', '% of requests failed (HTTP status 500: ', 'no request is known to have succeeded')
    same(t['load']['errors']['status'], t['load']['failed'])
    t = outcome(lab, 'closed', 'crashes-under-load', 'degraded', 'restarted')
    assert t['load']['errors']['connect'] + t['load']['errors']['reset'] > 0, t['load']['errors']
    assert t['load']['ok'] >= 40, t['load']


def an_application_that_dies(lab):
    lab.write('dies.yaml', matrix(lab, ['dies-under-load'], '''
  vus: 4
  duration: 30s
'''))
    lab.run('dies.yaml', 'dies')
    lab.nothing_left()
    t = outcome(lab, 'dies', 'dies-under-load', 'crashed', 'exit 7')
    assert t['duration_ms'] < 20000, t['duration_ms']


def more_than_it_can_take(lab):
    lab.write('over.yaml', matrix(lab, ['slow', 'well'], '''
  rate: 200
  vus: 4
  duration: 2s
'''))
    lab.run('over.yaml', 'over', code=1)  # an invalid trial
    lab.nothing_left()
    t = outcome(lab, 'over', 'slow', 'invalid', 'did not keep up', 'dropped')
    assert t['load']['dropped'] > 200 and t['load']['offered'] == 400, t['load']
    assert 'generator-kept-up' in ids(t, 'FAIL') and 'load-delivered' in ids(t, 'FAIL'), t['validity']
    load = fine(lab, 'over', 'well')['load']
    same((load['model'], load['corrected'], load['offered']), ('open', 'yes', 400))


def benchctl_in_an_image(lab):
    """FROM scratch: the program with the libraries that it is linked with."""
    root = lab.path('generator/root')
    os.makedirs(os.path.join(root, 'bin'))
    shutil.copy(lab.binary, os.path.join(root, 'bin', 'benchctl'))
    for line in command('ldd', lab.binary).stdout.splitlines():
        for word in line.split():
            if word.startswith('/') and os.path.exists(word):
                target = os.path.join(root, word[1:])
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy(os.path.realpath(word), target)
    lab.write('generator/Dockerfile', 'FROM scratch\nCOPY root/ /\nENV PATH=/bin LAB=%s\nENTRYPOINT ["/bin/benchctl"]\n' % lab.tag)
    command('docker', 'build', '-q', '-t', lab.image('generator'), lab.path('generator'))


def phases_that_are_a_warm_up(lab):
    """Made before the window opens: requests, CPU and window are of the same second."""
    lab.write('warm.yaml', matrix(lab, ['well'], '''
  phases:
    - {executor: constant-vus, vus: 4, duration: 2s, warmup: true}
    - {name: steady, executor: constant-arrival-rate, rate: 100, duration: 1s, pre_allocated_vus: 20}
'''))
    run(lab, 'warm.yaml', 'warm')
    t = fine(lab, 'warm', 'well')
    load = t['load']
    same([p['name'] for p in load['phases']], ['steady'])
    same((load['model'], load['offered']), ('open', 100))
    assert load['window_ms'] < 2000, load['window_ms']
    assert [s for s in t['steps'] if s['name'] == 'warm-up' and s['duration_ms'] >= 2000], t['steps']
    same([n for n in t['notes'] if 'the load lasted' in n], [])


def nobody_listens(lab):
    lab.write('nobody.yaml', matrix(lab, ['well'], '''
  target: http://127.0.0.1:9
  vus: 2
  duration: 1s
'''))
    lab.run('nobody.yaml', 'nobody', code=1)  # an invalid trial
    lab.nothing_left()
    t = outcome(lab, 'nobody', 'well', 'invalid', 'requests was answered; errors: connect ')
    assert 'it said' not in t['reason'], t['reason']
    same([s for s in t['steps'] if s['name'] == 'warm-up'], [])


def in_a_container(lab):
    benchctl_in_an_image(lab)
    lab.write('rows.csv', 'id\n1\n2\n')
    lab.write('inside.yaml', matrix(lab, ['well'], '''
  image: %s
  data: rows.csv
  path: "/items/{{row.id}}"
  vus: 2
  duration: 1s
  warmup: {duration: 200ms}
''' % lab.image('generator')))
    run(lab, 'inside.yaml', 'inside')
    load = fine(lab, 'inside', 'well')['load']
    assert load['requests'] > 20 and load['failed'] == 0, load
    spec = json.loads(lab.read('inside/trials/well/1/load/spec.json'))
    same(spec['data'], '/benchctl/input/0/rows.csv')


LINES = '''benchctl-adapter: 1
program: sh
args: [-c, 'cd "$0"; for i in 1 2 3; do echo "{\\"metric\\": \\"reqs\\", \\"at\\": 17000000$i, \\"is\\": 1}"; done >points.ndjson; sleep 1; echo 7 >raw', "${output_dir}"]
finish: {args: [-c, 'echo "{\\"n\\": $(cat "$0/raw"), \\"s\\": 1}"', "${output_dir}"], into: report}
outputs:
  report: {file: report.json, format: json}
  points: {file: points.ndjson, format: ndjson, stream: {metric: /metric, time: /at, value: /is, requests: reqs}}
reports:
  - {name: r, output: report, accept: [/n], values: {requests: {json: /n}, ok: {json: /n}, duration: {json: /s, unit: s}}}
'''


def another_one_in_a_container(lab):
    """Its stream comes through a FIFO in the bind mount; its second call runs in the same image."""
    if not docker('images', '-q', 'benchctl/python:12'):
        print('no image benchctl/python:12: not run')
        return
    lab.write('adapters/load/lines.yaml', LINES)
    lab.write('lines.yaml', matrix(lab, ['well'], '''
  image: benchctl/python:12
  duration: 1s
  raw: true
''').replace('adapter: builtin', 'adapter: lines'))
    run(lab, 'lines.yaml', 'lines')
    same(outcome(lab, 'lines', 'well', 'ok', '7 requests')['load']['ok'], 7)
    kept = os.listdir(lab.path('lines/trials/well/1/load'))
    assert 'points.ndjson.zst' in kept and 'series.csv' in kept and 'points.ndjson' not in kept, kept
    with open(lab.path('lines/trials/well/1/load/series.csv')) as f:
        same([r['requests'] for r in csv.DictReader(f)], ['1', '1', '1'])


if __name__ == '__main__':
    sys.exit(main([phases_one_after_the_other, what_the_report_says, closed_load_that_meets_failures,
                   an_application_that_dies, more_than_it_can_take, phases_that_are_a_warm_up, nobody_listens,
                   in_a_container, another_one_in_a_container]))
