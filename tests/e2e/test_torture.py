#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Torture on a real engine: one sweep is killed at random moments and resumed after each; a disk that fills up stops a sweep
with a word on what to do, and it goes on once there is room. Nothing that was sealed is lost, nothing of ours stays, and
nothing of anybody else's goes.

BENCHCTL_TORTURE_KILLS (3) says how often, BENCHCTL_TORTURE_SEED (1) when.
"""
import hashlib
import json
import os
import random
import subprocess
import sys
import time

from e2e import docker, has, main, same, wait_for

KILLS = int(os.environ.get('BENCHCTL_TORTURE_KILLS', '3'))
SEED = int(os.environ.get('BENCHCTL_TORTURE_SEED', '1'))
MATRIX = '''benchctl: 1
name: torture
axes: {x: [a, b, c, d]}
trials: %d
cooldown: 0ms
retry: 0
app: {image: '%s', build: {context: %s}, port: 8080, ready: {http: /health}, memory: 64m}
services:
  mock: {image: '%s', build: {context: %s}, scope: sweep, port: 9090, env: {PORT: "9090"}, ready: {tcp: true}}
load: {adapter: idle, duration: 200ms}
'''
SMALL_BYTES = 16 << 20


def matrix(lab, name, trials):
    image, context = lab.image('app'), lab.path('app')
    return lab.write(name, MATRIX % (trials, image, context, image, context))


def start_time(pid):
    with open('/proc/%d/stat' % pid) as f:
        return f.read().rsplit(')', 1)[1].split()[19]


def prepare(lab):
    lab.m = matrix(lab, 'm.yaml', (KILLS + 1) // 2)
    begin = time.monotonic()
    lab.run('m.yaml', 'first', '--filter', 'x=a', '--trials', '1')  # the image is there from now on
    lab.one_s = max(1.5, time.monotonic() - begin)
    lab.nothing_left()
    owner = '%s:%d:%s' % (os.uname().nodename, os.getpid(), start_time(os.getpid()))
    ours = ['--label', 'org.benchctl.run=0123456789ab', '--label', 'org.benchctl.owner=' + owner]
    lab.foreign = [lab.container('benchctl-e2e-%s-a' % lab.tag, lab.image('app')),
                   lab.container('benchctl-e2e-%s-b' % lab.tag, *ours, lab.image('app'))]
    lab.networks = [docker('network', 'create', '--label', 'benchctl-e2e=' + lab.tag, 'benchctl-e2e-' + lab.tag)]


def others_are_untouched(lab):
    for i in lab.foreign:
        same(docker('inspect', '-f', '{{.State.Running}} {{.RestartCount}}', i), 'true 0', 'somebody else\'s container')
    for i in lab.networks:
        docker('network', 'inspect', i)


def snapshot(path):
    """The hash of every file of every trial that the journal calls sealed."""
    found = {}
    try:
        with open(path + '/journal.ndjson') as f:
            lines = f.read().splitlines()
    except OSError:
        return found
    for line in lines:
        try:
            r = json.loads(line)
        except ValueError:
            break
        key = r.get('scenario'), r.get('trial')
        if r['event'] == 'trial begun':
            found.pop(key, None)
        elif r['event'] == 'trial sealed':
            found[key] = files_of('%s/trials/%s/%d' % (path, *key))
    return found


def files_of(path):
    found = {}
    for base, _, names in os.walk(path):
        for name in names:
            full = os.path.join(base, name)
            with open(full, 'rb') as f:
                found[os.path.relpath(full, path)] = hashlib.sha256(f.read()).hexdigest()
    return found


def kept(path, before):
    for (scenario, n), files in before.items():
        same(files_of('%s/trials/%s/%d' % (path, scenario, n)), files, 'trial %d of %s' % (n, scenario))


def complete(lab, path, trials):
    same(len(snapshot(path)), trials, 'sealed trials')
    same(lab.benchctl('report', path, '--format', 'csv').stdout.count('\n'), 5, 'lines of the report')
    lab.benchctl('bundle', 'verify', path + '.tar.zst')
    left = [n for _, _, names in os.walk(path) for n in names if n.endswith('.tmp')]
    same(left, [], 'temporary files')
    lab.nothing_left()
    others_are_untouched(lab)


def killed_at_random_moments(lab):
    chance = random.Random(SEED)
    out, before, kills, seals = lab.path('killed'), {}, 0, []
    lab.dirs.append(out)
    while kills < KILLS:
        begun = os.path.exists(out + '/invocation.json')
        p = lab.start(*(('resume', out) if begun else ('run', lab.m, '--out', out)))
        try:
            code = p.wait(chance.uniform(0.05, 1.2) * lab.one_s)
            same(code, 0, 'exit status\n' + lab.read('background.log'))
            break  # it was faster than its end
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
        kills += 1
        kept(out, before)
        before = snapshot(out)
        seals.append(len(before))
    print('    %d kills; sealed by then: %s' % (kills, seals))
    lab.benchctl('resume', out, timeout=280)
    kept(out, before)
    complete(lab, out, 4 * ((KILLS + 1) // 2))


def fill(path):
    """All the room that is there."""
    with open(path + '/filler', 'wb', buffering=0) as f:
        for size in (1 << 20, 1 << 16, 4096):
            try:
                while True:
                    f.write(b'x' * size)
            except OSError:
                pass


def the_disk_fills_up(lab):
    small = lab.path('small')
    os.mkdir(small)
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=%d' % SMALL_BYTES, 'benchctl-e2e', small],
                      stderr=subprocess.DEVNULL).returncode:
        print('    skipped: no file system can be mounted here')
        return
    try:
        fills_up(lab, small)
    finally:
        subprocess.run(['umount', small], check=True)


def fills_up(lab, small):
    out = small + '/out'
    m = matrix(lab, 'small.yaml', 1)
    lab.dirs.append(out)
    p = lab.start('run', m, '--out', out)
    try:
        wait_for('a sealed trial', lambda: snapshot(out))
        fill(small)
        code = p.wait(60)
    finally:
        p.kill()
        p.wait()
    said = lab.read('background.log')
    before = snapshot(out)
    same(code, 3, 'exit status of a sweep on a full disk\n' + said)
    has(said, small, 'No space left on device', 'hint:', 'benchctl resume')
    lab.nothing_left()
    same(lab.benchctl('resume', out, code=None).returncode, 3, 'exit status of resume on a full disk')
    kept(out, before)
    os.remove(small + '/filler')
    lab.benchctl('resume', out)
    kept(out, before)
    complete(lab, out, 4)


if __name__ == '__main__':
    sys.exit(main([prepare, killed_at_random_moments, the_disk_fills_up]))
