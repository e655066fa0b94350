#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generators in whole sweeps: what a trial records of each, that one which does not end is ended, and that a load which
was not made is not called a result. Those that are not here are left out."""
import os
import shutil
import socket
import subprocess
import sys

from e2e import HERE, has, main, same

TOOLS = [os.path.join(os.path.dirname(os.path.dirname(HERE)), 'build', 'generators', 'bin')]
TOOLS += os.environ.get('BENCHCTL_GENERATORS', '').split(os.pathsep)
PATH = os.pathsep.join(t for t in TOOLS if t) + os.pathsep + os.environ['PATH']


def here(program):
    found = shutil.which(program, path=PATH)
    if not found:
        print('skipped: no %s here' % program, flush=True)
    return found


def run(lab, out, load, code=0):
    lab.write(out + '.yaml', '''benchctl: 1
name: %s
axes: {how: [one]}
trials: 1
retry: 0
app:
  image: %s
  build: {context: app}
  port: 8080
  ready: {http: /health, timeout: 20s}
load: {%s}
''' % (out, lab.image('app'), load))
    lab.run(out + '.yaml', out, code=code, env={'PATH': PATH})
    lab.nothing_left()
    return lab.trial(out, 'one')


def check_good(t, model):
    l = t['load']
    same(t['outcome'], 'ok', t['reason'])
    assert l['requests'] > 10 and l['ok'] == l['requests'] and l['goodput_rps'] > 1, l
    p = l['latency_ms']
    assert p['min'] <= p['p50'] <= p['p90'] <= p['p99'] <= p['max'] * 1.02 + 0.1, p
    same(l['model'], model)
    assert l['generator']['version'], l


def h2load(lab):
    if not here('h2load'):
        return
    t = run(lab, 'h2load', 'adapter: h2load, connections: 4, duration: 1s, path: /')
    check_good(t, 'closed')
    assert t['load']['latency_ms']['p999'] >= t['load']['latency_ms']['p99'], t['load']
    assert os.path.getsize(lab.path('h2load/trials/one/1/load/requests.tsv')) > 100


def h2load_that_does_not_end(lab):
    """A server that never answers: with a number of requests h2load waits for ever."""
    if not here('h2load'):
        return
    with socket.create_server(('127.0.0.1', 0)) as silent:
        t = run(lab, 'hang', "adapter: h2load, connections: 2, request_count: 10, duration: 1s, timeout: 1s, "
                "target: 'http://127.0.0.1:%d'" % silent.getsockname()[1], code=1)
    assert t['load'] is None and t['outcome'] in ('error', 'invalid') and t['duration_ms'] < 20000, t
    has(t['reason'], 'load generator')


def ghz(lab):
    go = here('go') if here('ghz') else None
    program = lab.path('grpc')
    if not go or subprocess.run([go, 'build', '-o', program, '.'], cwd=os.path.join(HERE, 'fixtures', 'grpc'),
                                env=dict(os.environ, GOPROXY='off'), stderr=subprocess.DEVNULL, timeout=200).returncode:
        print('skipped: the gRPC server cannot be built', flush=True)
        return
    with subprocess.Popen([program, 'ok', '127.0.0.1:0'], stdout=subprocess.PIPE, text=True) as server:
        try:
            target = server.stdout.readline().strip()
            t = run(lab, 'ghz', "adapter: ghz, call: grpc.health.v1.Health/Check, duration: 1s, concurrency: 4, "
                    "target: 'http://%s'" % target)
            check_good(t, 'closed')
            t = run(lab, 'none', "adapter: ghz, call: no.such.Service/Call, duration: 1s, target: 'http://%s'" % target, code=1)
            has(t['reason'], "'ghz' ended with exit status 1", 'no such service')
        finally:
            server.kill()


def artillery(lab):
    if not here('artillery'):
        return
    lab.write('s.yml', '''config:
  target: http://127.0.0.1:1
  phases: [{duration: 1, arrivalCount: 15}]
scenarios: [{flow: [{get: {url: /}}]}]
''')
    t = run(lab, 'artillery', 'adapter: artillery, script: s.yml, duration: 1s')
    check_good(t, 'open')
    same(t['load']['requests'], 15)


def vegeta(lab):
    """It reports in a second call."""
    if not here('vegeta'):
        return
    t = run(lab, 'vegeta', 'adapter: vegeta, rate: 10, duration: 2s, path: /')
    l = t['load']
    same(t['outcome'], 'ok', t['reason'])
    assert 12 <= l['requests'] == l['ok'] <= 21 and l['latency_ms']['p99'] > 0, l
    same((l['model'], l['corrected']), ('open', 'yes'))
    assert os.path.getsize(lab.path('vegeta/trials/one/1/load/report.json')) > 100


def not_delivered(lab):
    """One worker cannot make so many: what it made is there to see, but is no result."""
    if not here('vegeta'):
        return
    t = run(lab, 'short', 'adapter: vegeta, rate: 1000000, workers: 1, max_workers: 1, duration: 1s, path: /', code=1)
    same(t['outcome'], 'invalid', t['reason'])
    has(t['reason'], 'load not delivered: ', 'requests per second instead of 1000000')
    same([v['verdict'] for v in t['validity'] if v['id'] == 'load-delivered'], ['FAIL'])
    assert t['load']['requests'] > 10 and t['load']['latency_ms']['p99'] > 0, t['load']
    same((t['load']['model'], t['load']['corrected']), ('open', 'no'))


def others(lab):
    for program, options in (('hey', 'workers: 4'), ('oha', 'connections: 4'),
                             ('wrk2', 'rate: 50, threads: 1, connections: 4')):
        if not here(program):
            continue
        t = run(lab, program, 'adapter: %s, %s, duration: 1s, path: /' % (program, options))
        l = t['load']
        same(t['outcome'], 'ok', t['reason'])
        assert l['requests'] > 10 and l['ok'] == l['requests'] and l['goodput_rps'] > 1, l
        assert l['latency_ms']['p50'] <= l['latency_ms']['p99'] <= l['latency_ms']['max'] * 1.02 + 1, l
        same(l['generator']['name'], program)


if __name__ == '__main__':
    sys.exit(main([h2load, h2load_that_does_not_end, ghz, artillery, vegeta, not_delivered, others]))
