#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The wall clock is stepped back by two hours while a load runs, or the machine sleeps: durations and rates stay right, and the
rule about clocks says what happened. A step marks a trial, a sleep within the window voids it."""
import os
import time

from e2e import HERE, TOP, command, has, main, same

SECONDS = 9  # the clock is stepped 5 s after the program's begin: in its load, however slow the machine
MATRIX = '''benchctl: 1
name: clocks
axes: {server: [one]}
trials: 1
app:
  image: %s
  build: {context: app}
  memory: 64m
  port: 8080
  ready: {http: /health, timeout: 30s}
load: {adapter: builtin, rate: 20, max_vus: 50, path: /, duration: %ds}
'''


def library(lab, source, name):
    out = lab.path(name + '.so')
    command('cc', '-shared', '-fPIC', '-D_GNU_SOURCE', '-o', out, source, '-ldl')
    # with sanitizers their own library would have to come first
    return {'LD_PRELOAD': out, 'ASAN_OPTIONS': 'verify_asan_link_order=0'}


def run(lab, out, env):
    """A busy machine makes an open load invalid (exit status 1): its figures are there all the same."""
    lab.write('clocks.yaml', MATRIX % (lab.image('app'), SECONDS))
    lab.dirs.append(lab.path(out))
    begin = time.monotonic()
    r = command(lab.binary, 'run', 'clocks.yaml', '--out', lab.path(out), '--set', 'retry=0', check=False, cwd=lab.dir,
                env=lab.env(env), timeout=120)
    same(r.returncode in (0, 1), True, r.stdout + r.stderr)
    return lab.trial(out, 'one'), 1000 * (time.monotonic() - begin)


def clock(trial):
    found = [v for v in trial['validity'] if v['id'] == 'clock']
    same(len(found), 1, str(trial['validity']))
    same(found[0]['check'], 'V18')
    return found[0]['verdict'], found[0]['message']


def durations_are_right(trial, took_ms):
    load = trial['load']
    same(1000 * SECONDS - 200 <= load['duration_ms'] <= took_ms, True, 'load %r of %r ms' % (load['duration_ms'], took_ms))
    same(1000 * SECONDS - 200 <= load['window_ms'] <= took_ms, True, 'window %r ms' % load['window_ms'])
    same(0 < trial['duration_ms'] <= took_ms, True, 'trial %r ms' % trial['duration_ms'])
    same([s for s in trial['steps'] if not 0 <= s['duration_ms'] <= took_ms], [])
    same(0 < load['goodput_rps'] <= 21, True, 'goodput %r' % load['goodput_rps'])
    same(0 <= trial['app']['uptime_pct'] <= 100, True, 'uptime %r' % trial['app']['uptime_pct'])
    same(trial['app']['cpu_cores']['avg'] < 64, True, 'cores %r' % trial['app']['cpu_cores'])


def nothing_happens(lab):
    trial, took_ms = run(lab, 'calm', {})
    same(clock(trial)[0], 'PASS')
    durations_are_right(trial, took_ms)


def the_wall_clock_is_stepped(lab):
    trial, took_ms = run(lab, 'stepped', library(lab, TOP + '/tests/cases/R08/step_clock.c', 'step'))
    verdict, message = clock(trial)
    same(verdict, 'WARN', message)
    has(message, 'the wall clock was stepped by -7200.0 s')
    durations_are_right(trial, took_ms)
    lab.nothing_left()


def the_machine_sleeps(lab):
    env = library(lab, HERE + '/fixtures/asleep.c', 'asleep')
    trial, took_ms = run(lab, 'asleep', dict(env, ASLEEP_FROM_S='5', ASLEEP_FOR_S='30'))
    verdict, message = clock(trial)
    same(verdict, 'FAIL', message)
    has(message, 'suspended for 30.0 s during the measured window')
    same(trial['outcome'], 'invalid', trial['reason'])
    durations_are_right(trial, took_ms)
    lab.nothing_left()


def an_image_first(lab):
    """Built outside of what is timed: the load must be under way when the clock is stepped."""
    command('docker', 'build', '-q', '-t', lab.image('app'), lab.path('app'))
    same(os.path.exists(lab.path('app/Dockerfile')), True)


if __name__ == '__main__':
    raise SystemExit(main([an_image_first, nothing_happens, the_wall_clock_is_stepped, the_machine_sleeps]))
