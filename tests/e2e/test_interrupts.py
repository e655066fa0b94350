#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sweeps that are interrupted and killed: nothing is lost, nothing is left, and nothing of others is touched."""
import json
import os
import signal
import subprocess
import sys

from e2e import command, docker, has, main, same, wait_for

MATRIX = '''benchctl: 1
name: interrupted
axes: {x: [a, b, c]}
trials: 1
order: {mode: listed}
cooldown: 0ms
app: {image: '%s', build: {context: app}, port: 8080, ready: {http: /health}, memory: 64m}
services:
  mock: {image: '%s', build: {context: app}, scope: sweep, port: 9090, env: {PORT: "9090"}, ready: {tcp: true}}
load: {adapter: idle, duration: 700ms}
'''


def write_matrix(lab):
    lab.write('m.yaml', MATRIX % (lab.image('app'), lab.image('app')))
    lab.run('m.yaml', 'first', '--filter', 'x=a')  # the image is there from now on
    lab.nothing_left()
    lab.foreign = [
        # somebody else's: the same image, a name like ours, even our labels with another meaning
        lab.container('benchctl-e2e-%s-app' % lab.tag, lab.image('app')),
        lab.container('benchctl-0123456789ab-1-app-%s' % lab.tag, '--label', 'org.benchctl.role=app', lab.image('app')),
    ]
    lab.networks = [docker('network', 'create', '--label', 'benchctl-e2e=' + lab.tag, 'benchctl-e2e-' + lab.tag)]


def others_are_untouched(lab):
    for i in lab.foreign:
        same(docker('inspect', '-f', '{{.State.Running}} {{.RestartCount}}', i), 'true 0', 'somebody else\'s container')
    for i in lab.networks:
        docker('network', 'inspect', i)


def events_of(lab, out, scenario):
    try:
        return [json.loads(line)['event'] for line in lab.read('%s/trials/%s/1/events.ndjson' % (out, scenario)).splitlines()]
    except (OSError, ValueError):
        return []


def in_the_load_of(lab, out, scenario):
    wait_for('the load of ' + scenario, lambda: 'load begin' in events_of(lab, out, scenario))


def end(lab, process, signo, code):
    process.send_signal(signo)
    same(process.wait(60), code, 'exit status\n' + lab.read('background.log'))


def interrupted_during_the_load(lab, signo=signal.SIGINT, out='int'):
    p = lab.start('run', 'm.yaml', '--out', lab.path(out))
    in_the_load_of(lab, out, 'b')
    end(lab, p, signo, 130)
    lab.nothing_left()
    has(lab.read('background.log'), 'interrupted', 'benchctl resume', 'report of what was measured, not complete')
    for name in ('report.html', 'report.md'):
        has(lab.read(out + '/' + name), 'not complete: 1 of 3 trials recorded, 2 scenarios not run yet')
    same(len(lab.read(out + '/summary.csv').splitlines()), 4, 'a head and each scenario, measured or not')
    same(os.path.exists(lab.path(out + '.tar.zst')), False, 'no bundle of what is not complete')
    sealed = lab.sealed(out)
    same(len(sealed), 1, 'sealed')
    assert not json.loads(lab.read(out + '/sweep.json'))['complete']
    has(lab.benchctl('run', 'm.yaml', '--out', lab.path(out), code=2).stderr, 'resume')
    lab.benchctl('resume', lab.path(out))
    after = lab.sealed(out)
    same(len(after), 3, 'sealed after resume')
    for name, content in sealed.items():
        same(after[name], content, name)
    assert json.loads(lab.read(out + '/sweep.json'))['complete']
    lab.benchctl('bundle', 'verify', lab.path(out + '.tar.zst'))
    lab.nothing_left()
    others_are_untouched(lab)
    # once more: there is nothing left to do
    lab.benchctl('resume', lab.path(out))
    same(lab.sealed(out), after, 'after a second resume')


def terminated_during_the_load(lab):
    interrupted_during_the_load(lab, signal.SIGTERM, 'term')


def interrupted_in_the_middle_of_everything(lab):
    for i, delay in enumerate((0.02, 0.1, 0.2, 0.35, 0.5)):
        out = 'any%d' % i
        p = lab.start('run', 'm.yaml', '--out', lab.path(out))
        try:
            p.wait(delay)
        except subprocess.TimeoutExpired:
            pass
        p.send_signal(signal.SIGINT)
        code = p.wait(60)
        # before the handler is in place it ends as the system has it
        assert code in (130, -signal.SIGINT), '%d\n%s' % (code, lab.read('background.log'))
        lab.nothing_left()


def killed(lab):
    p = lab.start('run', 'm.yaml', '--out', lab.path('dead'))
    in_the_load_of(lab, 'dead', 'b')
    has(lab.benchctl('status', lab.path('dead')).stdout, 'b')
    has(lab.benchctl('resume', lab.path('dead'), code=3).stderr, 'in use by another benchctl')
    p.kill()
    p.wait()
    same(len(lab.ours()), 3, 'left by a killed sweep')  # app, mock, network
    r = lab.benchctl('clean', '--dry-run')
    for i in lab.ours():
        has(r.stdout, i[:12])
    same(len(lab.ours()), 3, 'after a dry run')
    found = json.loads(lab.benchctl('clean', '--dry-run', '--format', 'json').stdout)
    assert {o['id'] for o in found} >= set(lab.ours()), found


def resume_removes_what_the_dead_run_left(lab):
    sealed = lab.sealed('dead')
    lab.benchctl('resume', lab.path('dead'))
    lab.nothing_left()
    after = lab.sealed('dead')
    same(len(after), 3, 'sealed')
    for name, content in sealed.items():
        same(after[name], content, name)
    others_are_untouched(lab)


def clean_removes_only_what_is_dead(lab):
    p = lab.start('run', 'm.yaml', '--out', lab.path('dead2'))
    in_the_load_of(lab, 'dead2', 'a')
    p.kill()
    p.wait()
    dead = lab.ours()
    living = lab.start('run', 'm.yaml', '--out', lab.path('living'), '--set', 'load.duration=5s')
    in_the_load_of(lab, 'living', 'a')
    lab.benchctl('clean')
    now = lab.ours()
    assert not set(dead) & set(now), 'the dead sweep\'s'
    same(len(now), 3, 'the living sweep\'s')
    others_are_untouched(lab)
    end(lab, living, signal.SIGINT, 130)
    lab.nothing_left()


def a_failed_trial_is_kept(lab):
    lab.run('m.yaml', 'keep', '--keep', '--filter', 'x=a', '--set', 'app.ready={"http": "/health", "timeout": "300ms"}',
            '--set', 'app.command=["deaf"]')
    same(lab.trial('keep', 'a')['outcome'], 'not-ready')
    same(len(lab.ours()), 2, 'kept: the app and its network')
    has(docker('logs', lab.trial('keep', 'a')['app']['container_id'], check=False), '')
    lab.benchctl('clean')
    lab.nothing_left()


def the_app_is_removed_by_hand(lab):
    p = lab.start('run', 'm.yaml', '--out', lab.path('hand'), '--filter', 'x=a', '--set', 'load.duration=20s',
                  '--set', 'retry=0')
    in_the_load_of(lab, 'hand', 'a')
    app = docker('ps', '-q', '--no-trunc', '--filter', 'label=org.benchctl.dir=' + os.path.realpath(lab.path('hand')),
                 '--filter', 'label=org.benchctl.role=app')
    docker('rm', '-f', app)
    same(p.wait(60), 1, lab.read('background.log'))
    t = lab.trial('hand', 'a')
    same(t['outcome'], 'invalid')
    has(t['reason'], "somebody else touched 'app' during the trial")
    lab.nothing_left()


if __name__ == '__main__':
    sys.exit(main([write_matrix, interrupted_during_the_load, terminated_during_the_load,
                   interrupted_in_the_middle_of_everything, killed, resume_removes_what_the_dead_run_left,
                   clean_removes_only_what_is_dead, a_failed_trial_is_kept, the_app_is_removed_by_hand]))
