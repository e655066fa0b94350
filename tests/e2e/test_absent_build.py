#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An image that is not there is passed over, and building is measured in a container of its own."""
import os
import subprocess
import sys

from e2e import has, main, same, skip

IMAGE = 'benchctl/python:12'

MATRIX = '''benchctl: 1
name: absent
trials: 1
retry: 0
order: {mode: listed}
axes: {runtime: [jvm, native]}
build:
  image: %(image)s
  memory: 128m
  workdir: /tmp
  steps:
    - {name: compile, command: [sh, -c, "echo 'print(1)' > a.py && python3 -m py_compile a.py"]}
    - {name: test, command: [sh, -c, "test -f a.py && echo 'Tests run: 3, Failures: 0'"], counts: {tests: 'Tests run: ([0-9]+),.*$'}}
app: {image: "%(missing)s:${runtime}", if_missing: skip, command: [python3, -m, http.server, "8080"], port: 8080, memory: 64m}
overrides:
  - {when: {runtime: jvm}, set: {app: {image: %(image)s}}}
load: {adapter: idle, duration: 300ms}
'''


def image_is_there():
    return subprocess.run(['docker', 'image', 'inspect', IMAGE], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def what_is_there_is_run(lab):
    if not image_is_there():
        skip('there is no image ' + IMAGE)
    missing = 'benchctl-e2e/absent-' + lab.tag
    lab.write('absent.yaml', MATRIX % {'image': IMAGE, 'missing': missing})
    has(lab.benchctl('doctor', 'absent.yaml', code=None).stdout, '1 scenario would be skipped')
    lab.run('absent.yaml', 'absent')
    t = lab.trial('absent', 'jvm')
    same(t['outcome'], 'ok', t['reason'])
    same([s['name'] for s in t['build']['steps']], ['compile', 'test'])
    same([s['exit_code'] for s in t['build']['steps']], [0, 0])
    same(t['build']['steps'][1]['counts'], {'tests': 3})
    assert all(s['duration_ms'] > 0 for s in t['build']['steps']), t['build']
    same(lab.read('absent/trials/jvm/1/logs/build-test.stdout.log'), 'Tests run: 3, Failures: 0\n')
    t = lab.trial('absent', 'native')
    same(t['outcome'], 'skipped', t['reason'])
    has(t['reason'], "no image '%s:native' on this engine" % missing, 'if_missing: skip')
    same(t['app']['restarts'], None)
    has(lab.benchctl('report', 'absent').stdout, '\nBuild\n', 'test tests', 'skipped')
    lab.nothing_left()
    lab.benchctl('resume', 'absent', '--strict', code=1)
    lab.benchctl('run', 'absent.yaml', '--filter', 'runtime=native', '--out', 'none', code=3)
    assert not os.path.exists(lab.path('none')), 'nothing to run leaves nothing behind'
    lab.nothing_left()


if __name__ == '__main__':
    sys.exit(main([what_is_there_is_run]))
