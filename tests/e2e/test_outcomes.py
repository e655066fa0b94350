#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Applications that fail in every way, on a real engine, in one sweep: what is said of each, and what is made of it."""
import csv
import io
import json
import os
import sys

from e2e import main, same, has

# name: (arguments, restart, memory, readiness)
WAYS = {
    'well': ('', 'no', '64m', ''),
    'gone-at-once': ('say=no-config exit=3', 'no', '64m', ''),
    'loop-on-failure': ('say=bad-config exit=4', 'on-failure', '64m', ''),
    'loop-always': ('exit=0', 'always', '64m', ''),
    'restarts-run-out': ('exit=5', 'on-failure:2', '64m', ''),
    'starved': ('eat=900', 'no', '64m', ''),
    'starved-loop': ('eat=1000', 'on-failure', '64m', ''),
    'starved-child': ('eat-child=900', 'no', '64m', ''),
    'crashes-under-load': ('exit-after-requests=40:6', 'on-failure', '64m', ''),
    'dies-under-load': ('exit-after-requests=40:7', 'no', '64m', ''),
    'deaf': ('say=still-waiting deaf', 'no', '64m', ', timeout: 900ms'),
    'refuses': ('status=500', 'no', '64m', ''),
    'stubborn': ('stubborn', 'no', '64m', ''),
    'no-program': ('', 'no', '64m', ''),
}


def matrix(lab):
    values = ''.join("    - {name: %s, args: [%s], restart: %s, memory: %s}\n" %
                     (name, ', '.join("'%s'" % a for a in args.split()), restart, memory)
                     for name, (args, restart, memory, _) in WAYS.items())
    overrides = ''.join("  - {when: {how: %s}, set: {app: {ready: {http: /health%s}}}}\n" % (name, ready)
                        for name, (_, _, _, ready) in WAYS.items() if ready)
    return '''benchctl: 1
name: outcomes
title: Every way to fail
axes:
  how:
%strials: 1
retry: 0
order: {mode: listed}
app:
  image: %s
  build: {context: app}
  command: ${how.args}
  restart: ${how.restart}
  memory: ${how.memory}
  port: 8080
  ready: {http: /health, timeout: 20s}
  startup: {log: 'listening on'}
overrides:
%s  - {when: {how: no-program}, set: {app: {entrypoint: [/no/such/program], init: false}}}
load: {adapter: wrk, threads: 1, connections: 4, duration: 2s}
''' % (values, lab.image('app'), overrides)


def the_sweep_runs(lab):
    lab.write('m.yaml', matrix(lab))
    r = lab.run('m.yaml', 'out')  # everything is a finding
    lab.nothing_left()
    has(r.stderr, '14 trials executed', 'bundle: ')
    assert os.path.exists(lab.path('out.tar.zst'))


def outcome(lab, how, expected, *reason):
    t = lab.trial('out', how)
    if t['outcome'] != expected:
        raise AssertionError('%s is %s (%s) instead of %s' % (how, t['outcome'], t['reason'], expected))
    has(t['reason'], *reason)
    return t


def what_went_well(lab):
    t = outcome(lab, 'well', 'ok', 'none failed')
    assert t['load']['requests'] > 100 and t['load']['ok'] == t['load']['requests'], t['load']
    assert t['load']['latency_ms']['p50'] > 0 and t['load']['goodput_rps'] > 50, t['load']
    assert t['app']['restarts'] == 0 and t['app']['oom_kills'] == 0 and t['app']['exits'] == [], t['app']
    assert t['app']['memory_bytes']['limit'] == 64 << 20 and t['app']['memory_bytes']['used_peak'] > 0, t['app']
    assert t['app']['cpu_cores']['avg'] > 0 and t['app']['uptime_pct'] == 100, t['app']
    assert t['ready_ms'] > 0 and t['startup_ms'] is not None, t
    assert t['overhead_ms'] < 5000, t['overhead_ms']
    t = outcome(lab, 'stubborn', 'ok')  # removed with force: how it takes SIGTERM is nobody's concern
    assert t['app']['exits'] == [], t['app']


def what_never_came_up(lab):
    t = outcome(lab, 'gone-at-once', 'crashed', 'before it was ready', 'exit 3', 'no-config')
    assert [e['code'] for e in t['app']['exits']] == [3] and t['app']['restarts'] == 0, t['app']
    assert t['ready_ms'] is None and t['load'] is None, t
    t = outcome(lab, 'loop-on-failure', 'crashed', 'before it was ready', 'exit 4', 'restarted', 'bad-config')
    assert t['app']['restarts'] >= 4 and len(t['app']['exits']) >= 5, t['app']  # it may die once more meanwhile
    t = outcome(lab, 'loop-always', 'crashed', 'before it was ready', 'clean exit', 'restarted')
    t = outcome(lab, 'restarts-run-out', 'crashed', 'exit 5', 'ended 3 times', 'restarted 2 times')
    assert t['app']['restarts'] == 2 and len(t['app']['exits']) == 3, t['app']
    t = outcome(lab, 'deaf', 'not-ready', 'alive, but not ready in 900 ms', 'still-waiting')
    assert t['app']['restarts'] == 0 and t['app']['exits'] == [], t['app']
    t = outcome(lab, 'no-program', 'crashed', 'never started: no such program: ', '/no/such/program')


def what_ran_out_of_memory(lab):
    t = outcome(lab, 'starved', 'crashed', 'OOM-killed 1 time', '64.0 MiB')
    assert t['app']['oom_kills'] == 1 and t['app']['exits'][0]['oom'] and t['app']['exits'][0]['code'] == 137, t['app']
    same(t['app']['exits'][0]['cause'], 'oom')
    t = outcome(lab, 'starved-loop', 'degraded', 'OOM-killed', 'restarted')
    assert t['app']['oom_kills'] >= t['app']['restarts'] >= 1, t['app']  # how many fit in depends on the machine
    assert t['app']['uptime_pct'] < 100, t['app']
    t = outcome(lab, 'starved-child', 'degraded', 'OOM-killed 1 time')
    assert t['app']['oom_kills'] == 1 and t['app']['restarts'] == 0 and t['app']['exits'] == [], t['app']
    assert t['load']['ok'] > 100, t['load']


def what_failed_under_load(lab):
    # wrk counts each refused connection: whether any of its requests is sure to have succeeded depends on the pauses
    t = lab.trial('out', 'crashes-under-load')
    assert t['outcome'] in ('degraded', 'crashed'), t['outcome']
    has(t['reason'], 'exit 6', 'restarted')
    assert t['app']['restarts'] >= 1 and t['load']['failed'] > 0, t['app']
    t = outcome(lab, 'dies-under-load', 'crashed', 'exit 7')
    assert t['duration_ms'] < 10000, t['duration_ms']
    t = outcome(lab, 'refuses', 'degraded', '100 % of requests failed', 'no request is known to have succeeded')
    assert t['load']['ok'] == 0 and t['app']['restarts'] == 0, t['load']


def logs_and_samples_are_kept(lab):
    base = 'out/trials/well/1/'
    has(lab.read(base + 'logs/app.stdout.log'), 'listening on 8080')
    rows = list(csv.DictReader(io.StringIO(lab.read(base + 'samples.csv'))))
    assert sum(r['role'] == 'app' for r in rows) >= 5, len(rows)
    events = [json.loads(line) for line in lab.read(base + 'events.ndjson').splitlines()]
    names = [e['event'] for e in events]
    for name in ('start', 'ready', 'load begin', 'load end'):
        assert name in names, names


def the_sweep_is_described(lab):
    sweep = json.loads(lab.read('out/sweep.json'))
    assert sweep['complete'] and sweep['name'] == 'outcomes', sweep
    assert sweep['images'][0]['id'].startswith('sha256:') and sweep['engine']['version'], sweep
    assert sweep['generators'][0]['name'] == 'wrk' and sweep['generators'][0]['version'], sweep
    plan = json.loads(lab.read('out/plan.json'))
    same(len(plan['scenarios']), len(WAYS))


def reports_in_every_form(lab):
    for source in ('out', 'out.tar.zst'):
        text = lab.benchctl('report', source).stdout
        has(text, 'starved-loop', 'crashed')
        same(json.loads(lab.benchctl('report', source, '--format', 'json').stdout) is not None, True)
        rows = list(csv.reader(io.StringIO(lab.benchctl('report', source, '--format', 'csv').stdout)))
        assert len(rows) > len(WAYS), len(rows)
        has(lab.benchctl('report', source, '--format', 'md').stdout, '|', 'starved-loop')
        has(lab.benchctl('report', source, '--format', 'html').stdout, '<html', 'starved-loop')
    lab.benchctl('report', 'out', '--format', 'md', '-o', 'r.md')
    has(lab.read('r.md'), 'starved-loop')
    lab.benchctl('report', 'out', '--format', 'tea', code=2)
    lab.benchctl('report', 'nowhere', code=2)


def the_bundle_is_proven(lab):
    lab.benchctl('bundle', 'verify', 'out.tar.zst')
    has(lab.benchctl('bundle', 'list', 'out.tar.zst').stdout, 'trials/well/1/trial.json', 'sweep.json')
    same(json.loads(lab.benchctl('bundle', 'show', 'out.tar.zst', 'trials/well/1/trial.json').stdout)['outcome'], 'ok')
    lab.benchctl('bundle', 'extract', 'out.tar.zst', 'copy')
    same(lab.read('copy/trials/well/1/trial.json'), lab.read('out/trials/well/1/trial.json'))
    with open(lab.path('out.tar.zst'), 'r+b') as f:  # one byte of it changed
        f.seek(os.path.getsize(lab.path('out.tar.zst')) // 2)
        byte = f.read(1)
        f.seek(-1, os.SEEK_CUR)
        f.write(bytes([byte[0] ^ 1]))
    lab.benchctl('bundle', 'verify', 'out.tar.zst', code=2)


def what_is_done_is_done(lab):
    has(lab.benchctl('run', 'm.yaml', '--out', lab.path('out'), code=2).stderr, 'resume')
    before = lab.sealed('out')
    short = ['--filter', 'how=refuses', '--set', 'load.duration=1s']
    lab.run('m.yaml', 'one', *short)
    lab.run('m.yaml', 'strict', *short, '--strict', code=1)
    lab.run('m.yaml', 'two', *short, '--set', 'expect=["load.ok > 5"]', code=1)
    has(lab.trial('two', 'refuses')['reason'], 'no request is known to have succeeded')
    same(lab.sealed('out'), before, 'sealed trials')
    status = lab.benchctl('status', 'out').stdout
    has(status, '14')


if __name__ == '__main__':
    sys.exit(main([the_sweep_runs, what_went_well, what_never_came_up, what_ran_out_of_memory, what_failed_under_load,
                   logs_and_samples_are_kept, the_sweep_is_described, reports_in_every_form, the_bundle_is_proven,
                   what_is_done_is_done]))
