#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Containers that fail on a real engine: causes, counts and times, held against the engine's own events and the program's
own log."""
import json
import os
import signal
import subprocess
import sys
import threading
import time

import consistent
from e2e import TOP, command, docker, has, main, same, wait_for

KILLS = 6  # of each size; the notice and the exit race, so that once proves little


def context(lab, name, dockerfile, **files):
    for path, text in files.items():
        lab.write(os.path.join(name, path), text)
    lab.write(name + '/Dockerfile', dockerfile)


def image(lab):
    """The failing program of examples/failures, and beside it a file that is no program."""
    os.makedirs(lab.path('fail'), exist_ok=True)
    command('cc', '-O2', '-static', '-o', lab.path('fail/fail'), TOP + '/examples/failures/fail.c')
    context(lab, 'fail', 'FROM scratch\nENV LAB=%s\nCOPY fail /fail\nCOPY garbage /garbage\nENTRYPOINT ["/fail"]\n' %
            lab.tag, garbage='neither a program nor a script\n')
    os.chmod(lab.path('fail/garbage'), 0o755)


def matrix(lab, name, ways, extra='', load='{adapter: idle, duration: 1500ms}', trials=1):
    """ways: {name: (arguments, more keys of app)}"""
    values = ''.join('    - {name: %s, does: %s}\n' % (way, json.dumps(args.split())) for way, (args, _) in ways.items())
    more = ''.join('  - {when: {way: %s}, set: {app: {%s}}}\n' % (way, keys) for way, (_, keys) in ways.items() if keys)
    lab.write(name, '''benchctl: 1
name: failures
axes:
  way:
%strials: %d
retry: 0
order: {mode: listed}
cooldown: 0ms
app:
  image: %s
  build: {context: fail}
  command: ${way.does}
  memory: 32m
  port: 8080
  ready: {http: /, timeout: 20s}
%sload: %s
%s''' % (values, trials, lab.image('fail'), 'overrides:\n' + more if more else '', load, extra))


class Events(threading.Thread):
    """What the engine itself tells while a sweep runs."""

    def __init__(self, lab):
        super().__init__(daemon=True)
        self.seen = []
        self.process = subprocess.Popen(['docker', 'events', '--format', '{{json .}}', '--filter', 'type=container'],
                                        stdout=subprocess.PIPE, text=True)
        self.start()
        time.sleep(0.5)  # until it listens

    def run(self):
        for line in self.process.stdout:
            e = json.loads(line)
            attributes = e['Actor']['Attributes']
            self.seen.append((e['Actor']['ID'], attributes.get('org.benchctl.role'), e['Action'],
                              attributes.get('exitCode'), e['timeNano']))

    def end(self):
        time.sleep(0.5)
        self.process.terminate()
        self.process.wait()
        self.join()

    def of(self, container, action):
        return [e for e in self.seen if e[0] == container and e[2] == action]


def trial(lab, out, way, n=1):
    same(consistent.problems(lab.path('%s/trials/%s/%d' % (out, way, n))), [], way)
    return lab.trial(out, way, n)


def causes(t):
    return [e['cause'] for e in t['app']['exits']]


def outcome(t, expected, *reason):
    if t['outcome'] != expected:
        raise AssertionError('%s is %s (%s) instead of %s' % (t['scenario'], t['outcome'], t['reason'], expected))
    has(t['reason'], *reason)


# --- the wait for readiness ---

def dead_before_it_is_ready(lab):
    """At once and with its last lines, under every policy; and what could not even be executed."""
    image(lab)
    late = 'late:60 say:no-config exit:3@0.2'
    matrix(lab, 'early.yaml', {
        'no': (late, 'restart: "no"'),
        'on-failure-2': (late, 'restart: "on-failure:2"'),
        'on-failure': (late, 'restart: on-failure'),
        'always': (late, 'restart: always'),
        'unless-stopped': ('late:60 exit:0@0.2', 'restart: unless-stopped'),
        'no-program': ('', 'entrypoint: [/nowhere], init: false, restart: always'),
        'no-program-init': ('', 'entrypoint: [/nowhere], init: true'),
        'a-directory': ('', 'entrypoint: [/dev], init: false'),
        'garbage': ('', 'entrypoint: [/garbage], init: false'),
    })
    events = Events(lab)
    lab.run('early.yaml', 'early')
    events.end()
    for way in 'no', 'on-failure-2', 'on-failure', 'always':
        t = trial(lab, 'early', way)
        outcome(t, 'crashed', 'before it was ready', '(last: exit 3)', 'no-config')
        assert set(causes(t)) == {'exit 3'}, causes(t)
        assert t['duration_ms'] < 15000, t['duration_ms']  # not at the time-out of 20 s
        deaths = [e for e in events.of(t['app']['container_id'], 'die') if e[3] == '3']
        told = len(t['app']['exits'])
        assert told <= len(deaths) <= told + 1, (way, told, deaths)  # it may die once more while it is removed
        assert t['app']['restarts'] in (told - 1, told), t['app']
    t = trial(lab, 'early', 'on-failure-2')  # three runs; RestartCount is kept beside them
    same((len(t['app']['exits']), t['app']['restarts'], t['app']['witnesses']['restart_count']), (3, 2, 2))
    same([life['end_ms'] is not None for life in t['app']['lives']], [True] * 3)
    t = trial(lab, 'early', 'unless-stopped')
    outcome(t, 'crashed', '(last: clean exit)')
    for way, words, cause in (('no-program', 'no such program', 'command not found'),
                              ('no-program-init', 'no such program', 'command not found'),
                              ('a-directory', 'cannot be executed', 'cannot be executed'),
                              ('garbage', 'cannot be executed', 'cannot be executed')):
        t = trial(lab, 'early', way)
        outcome(t, 'crashed', 'never started: ' + words)
        same(set(causes(t)), {cause}, way)
        same([f['id'] for f in t['findings']], ['never-started'], way)
    lab.nothing_left()


# --- kills for want of memory ---

def every_kill_by_the_limit_is_called_oom(lab):
    """Under limits from the smallest on, of a process that grows at once: none is called anything else."""
    matrix(lab, 'kills.yaml', {'tiny': ('late:60 grow', 'memory: 8m'), 'small': ('late:60 grow', 'memory: 64m'),
                               'tiny-init': ('late:60 grow', 'memory: 8m, init: true')}, trials=KILLS)
    lab.run('kills.yaml', 'kills')
    for way in 'tiny', 'small', 'tiny-init':
        for n in range(1, KILLS + 1):
            t = trial(lab, 'kills', way, n)
            outcome(t, 'crashed', 'OOM-killed 1 time')
            same(causes(t), ['oom'], way)
            e = t['app']['exits'][0]
            assert e['oom'] and e['code'] == 137 and ('oom event, the last' in e['evidence'] or 'OOMKilled true' in e['evidence'] or "kernel's log" in e['evidence']), e
            same((t['app']['oom_kills'], t['app']['restarts']), (1, 0), way)
            assert not [f for f in t['findings'] if f['id'] == 'oom-child'], t['findings']


def a_child_is_not_the_main_process(lab):
    matrix(lab, 'child.yaml', {'lives': ('child-grow@0.5', ''), 'ends-well': ('child-grow@0.5 exit:0@1', ''),
                               'ends-badly': ('child-grow@0.5 exit:1@0.9', '')})
    lab.run('child.yaml', 'child')
    t = trial(lab, 'child', 'lives')
    outcome(t, 'degraded', 'a child OOM-killed 1 time')
    same((causes(t), t['app']['oom_kills'], t['app']['witnesses']['oom_flag']), ([], 1, 0))
    same(t['app']['witnesses']['kernel_oom_kills'], 1)
    finding = [f for f in t['findings'] if f['id'] == 'oom-child'][0]
    has(finding['message'], 'not its main process')
    if os.access('/dev/kmsg', os.R_OK):
        has(finding['message'], "process 'fail'")
    t = trial(lab, 'child', 'ends-well')  # exit 0 with OOMKilled: legal
    outcome(t, 'crashed', 'a child OOM-killed 1 time', '(last: clean exit)')
    same((t['app']['exits'][0]['code'], t['app']['exits'][0]['oom']), (0, False))
    has(t['app']['exits'][0]['evidence'], 'OOMKilled true')
    t = trial(lab, 'child', 'ends-badly')
    same(causes(t), ['exit 1 after the oom kill of a child'])


# --- under the load ---

def policies_under_the_load(lab):
    matrix(lab, 'policies.yaml', {
        'no': ('exit:1@0.6', 'restart: "no"'),
        'on-failure-1': ('exit:1@0.6', 'restart: "on-failure:1"'),
        'on-failure-clean': ('exit:0@0.6', 'restart: on-failure'),
        'always': ('exit:0@0.6', 'restart: always'),
        'unless-stopped': ('grow@0.6', 'restart: unless-stopped'),
        'segv': ('segv@0.6', 'restart: "no", init: false'),
        'abort': ('abort@0.6', 'restart: "no", init: false'),
        'abort-init': ('abort@0.6', 'restart: "no", init: true'),
    }, load='{adapter: idle, duration: 4s}')
    events = Events(lab)
    lab.run('policies.yaml', 'policies')
    events.end()
    for way, end, n in (('no', 'exit 1', 1), ('on-failure-1', 'exit 1', 2), ('on-failure-clean', 'clean exit', 1),
                        ('segv', 'crashed (SIGSEGV)', 1), ('abort-init', 'crashed (SIGABRT)', 1)):
        t = trial(lab, 'policies', way)
        outcome(t, 'crashed', end)
        same((causes(t), t['app']['restarts']), ([end] * n, n - 1), way)
        assert 400 < t['app']['time_to_failure_ms'] < 5000, t['app']['time_to_failure_ms']
    # abort() of the first process of a namespace cannot raise SIGABRT: what follows it is a wild instruction
    same(trial(lab, 'policies', 'abort')['app']['exits'][0]['code'] in (134, 139), True)
    for way, end in (('always', 'clean exit'), ('unless-stopped', 'oom')):
        t = trial(lab, 'policies', way)
        a = t['app']
        assert set(causes(t)) == {end} and a['restarts'] >= 1, (causes(t), a['restarts'])
        dies = events.of(a['container_id'], 'die')
        told = len(a['exits'])
        assert told <= len(dies) <= told + 2, (told, dies)  # once more, and by our removal
        same(len(a['lives']), a['restarts'] + 1, way)
        assert all(life['down_before_ms'] > 0 for life in a['lives'][1:]), a['lives']
        assert a['uptime_pct'] < 100 and a['down_ms'] > 0, a
        for e, die in zip(a['exits'], dies):  # on the engine's clock, whose event is up to some tens of ms late
            gap = (die[4] - dies[0][4]) / 1e6 - (e['at_ms'] - a['exits'][0]['at_ms'])
            assert abs(gap) < 1000, (gap, e, die)
        lines = [json.loads(x) for x in lab.read('policies/trials/%s/1/events.ndjson' % way).splitlines()]
        names = [x['event'] for x in lines if x['role'] == 'app']
        same((names.count('die'), names.count('start'), names.count('restart')),
             (told, a['restarts'] + 1, a['restarts']), way)


def app_of(lab, out):
    return docker('ps', '-q', '--no-trunc', '--filter', 'label=org.benchctl.role=app', '--filter',
                  'label=org.benchctl.dir=' + os.path.realpath(lab.path(out)))


def meddle(lab, name, deed, restart='always'):
    """A sweep of one trial, and what somebody does to its container in the middle of the load."""
    matrix(lab, name + '.yaml', {'way': ('', 'restart: %s' % restart)}, load='{adapter: idle, duration: 5s}')
    p = lab.start('run', lab.path(name + '.yaml'), '--out', lab.path(name))
    events = lab.path(name + '/trials/way/1/events.ndjson')
    wait_for('the load', lambda: os.path.exists(events) and 'load begin' in open(events).read())
    deed(app_of(lab, name))
    p.wait(timeout=60)
    return trial(lab, name, 'way')


def hands_of_others(lab):
    def on_the_host(container):
        pid = int(docker('inspect', '-f', '{{.State.Pid}}', container))
        os.kill(pid, signal.SIGKILL)

    t = meddle(lab, 'host-kill', on_the_host)
    outcome(t, 'degraded', 'sigkill, cause unknown', 'restarted 1 time')
    has(t['app']['exits'][0]['evidence'], 'no oom event', 'no kill event')
    same((t['app']['restarts'], t['app']['oom_kills']), (1, 0))
    t = meddle(lab, 'api-kill', lambda c: docker('kill', c))
    outcome(t, 'invalid', 'kill')
    same((causes(t), t['app']['restarts']), (['killed by somebody else (signal 9)'], 0))
    t = meddle(lab, 'api-restart', lambda c: docker('restart', '-t', '1', c))
    outcome(t, 'invalid')
    same((t['app']['restarts'], t['app']['witnesses']['restart_count']), (1, 0))
    has(causes(t)[0], 'killed by somebody else')
    t = meddle(lab, 'pause', lambda c: (docker('pause', c), time.sleep(0.3), docker('unpause', c)), restart='"no"')
    outcome(t, 'invalid', 'pause')
    same((causes(t), t['app']['restarts']), ([], 0))
    names = [json.loads(x)['event'] for x in lab.read('pause/trials/way/1/events.ndjson').splitlines()]
    assert 'paused' in names and 'unpaused' in names, names
    lab.nothing_left()


if __name__ == '__main__':
    sys.exit(main([dead_before_it_is_ready, every_kill_by_the_limit_is_called_oom, a_child_is_not_the_main_process,
                   policies_under_the_load, hands_of_others], images=()))
