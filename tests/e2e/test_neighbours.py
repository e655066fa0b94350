#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What one trial leaves for the next, what benchctl does to others, and whom its signals reach."""
import json
import os
import shutil
import signal
import subprocess
import sys

from e2e import command, docker, has, main, same, wait_for

MATRIX = '''benchctl: 1
name: neighbours
axes:
  app: [good, dies, stubborn, good2]
trials: 1
order: {mode: listed}
cooldown: 0ms
app:
  image: '%s'
  build: {context: app}
  port: 8080
  ready: {http: /health, timeout: 5s}
  memory: 64m
overrides:
  - {when: {app: dies}, set: {app: {command: ["exit=1"]}}}
  - {when: {app: stubborn}, set: {app: {command: [stubborn], init: false}}}
load: {adapter: idle, duration: 300ms}
'''

FORKER = r'''
import os, signal, socket, sys, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('127.0.0.1', int(os.environ['PORT'])))
s.listen(64)
for _ in range(4):
    if os.fork() == 0:
        while True:
            c, _a = s.accept()
            c.recv(4096)
            c.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nold')
            c.close()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    time.sleep(60)
'''

FORKING = '''benchctl: 1
name: forking
network: host
axes: {n: [one, two]}
order: {mode: listed}
cooldown: 0ms
app:
  image: benchctl/python:12
  entrypoint: [python3, -c]
  command: [%s]
  init: false
  port: 8080
  env: {PORT: "${app.port}"}
  ready: {http: /, timeout: 20s}
load: {adapter: idle, duration: 300ms}
'''

# A load generator that forks workers, tells where they are, and does not care for SIGTERM.
TOOL = '''#!/bin/sh
trap '' TERM
for i in 1 2 3; do sleep 301 & echo $! >>"$PIDS"; done
echo $$ >>"$PIDS"
sleep 302
'''
ADAPTER = '''benchctl-adapter: 1
help: leaves workers behind
program: forkingtool
model: closed
args: []
outputs:
  text: {file: stdout.txt}
reports:
  - name: text
    output: text
    accept: ['^requests ']
    values: {requests: {text: '^requests ([0-9]+)$'}}
    required: [requests]
'''


def the_fault_of_one_is_not_the_next_ones(lab):
    lab.write('m.yaml', MATRIX % lab.image('app'))
    lab.run('m.yaml', 'faults')
    outcomes = {x: lab.trial('faults', x)['outcome'] for x in ('good', 'dies', 'stubborn', 'good2')}
    same(outcomes, {'good': 'ok', 'dies': 'crashed', 'stubborn': 'ok', 'good2': 'ok'})
    has(lab.trial('faults', 'dies')['reason'], 'exit 1')
    lab.nothing_left()


def nothing_of_others_is_touched(lab):
    name = 'benchctl-e2e-%s-' % lab.tag
    mine = ['--label', 'benchctl-e2e=' + lab.tag]
    docker('create', '--name', name + 'stopped', *mine, lab.image('app'))
    docker('volume', 'create', *mine, name + 'volume')
    docker('network', 'create', *mine, name + 'network')
    docker('run', '-d', '--name', name + 'running', *mine, lab.image('app'))

    def others():
        return (docker('ps', '-aq', '--no-trunc', '--filter', mine[1].join(['label=', ''])).split(),
                docker('volume', 'ls', '-q', '--filter', 'label=' + mine[1]).split(),
                docker('network', 'ls', '-q', '--filter', 'label=' + mine[1]).split())

    before = others()
    same([len(x) for x in before], [2, 1, 1])
    lab.run('m.yaml', 'others', '--filter', 'app=good')
    listed = lab.benchctl('clean', '--dry-run').stdout
    lab.benchctl('clean')
    same(others(), before, 'what is somebody else\'s')
    for i in before[0]:
        assert i[:12] not in listed, listed
    same(docker('inspect', '-f', '{{.State.Running}}', name + 'running'), 'true')
    docker('volume', 'rm', name + 'volume')


def processes_of(words):
    found = []
    for pid in os.listdir('/proc'):
        if pid.isdigit():
            try:
                with open('/proc/%s/cmdline' % pid, 'rb') as f:
                    if words in f.read():
                        found.append(int(pid))
            except OSError:
                pass
    return found


def forked_servers_are_gone_with_their_parent(lab):
    marker = 'forker_%s' % lab.tag
    lab.write('forking.yaml', FORKING % json.dumps('# %s\n%s' % (marker, FORKER)))
    lab.run('forking.yaml', 'forking', timeout=200)
    for n in ('one', 'two'):
        same(lab.trial('forking', n)['outcome'], 'ok', n)
    same(processes_of(marker.encode()), [], 'server processes left')
    lab.nothing_left()


def tool_matrix(lab):
    os.makedirs(lab.path('tools'), exist_ok=True)
    lab.write('tools/forkingtool', TOOL)
    os.chmod(lab.path('tools/forkingtool'), 0o755)
    lab.write('adapters/load/forkingtool.yaml', ADAPTER)
    lab.write('tool.yaml', (MATRIX % lab.image('app')).replace('{adapter: idle, duration: 300ms}',
                                                              '{adapter: forkingtool, duration: 60s}'))


def alive(pid):
    try:
        with open('/proc/%d/stat' % pid) as f:
            return f.read().split(')')[-1].split()[0] != 'Z'
    except OSError:
        return False


def pids_of(lab, name):
    try:
        return [int(x) for x in lab.read(name).split()]
    except (OSError, ValueError):
        return []


def tool_environment(lab, name):
    lab.dirs.append(lab.path(name))
    return lab.env({'PATH': lab.path('tools') + ':' + os.environ['PATH'], 'PIDS': lab.path(name + '.pids')})


def the_tool_runs(lab, name):
    wait_for('the tool and its workers', lambda: len(pids_of(lab, name + '.pids')) == 4, 60)


def in_a_group_of_its_own(lab):
    """Interrupted while a tool runs: the tool and its workers end; who is in benchctl's own group does not."""
    # the shell leads the group; benchctl is in it, and so is a bystander
    script = 'sleep 303 & b=$!; "$@" & echo $! >"$0.pid"; wait $!; echo $? >"$0.code"; kill $b && echo yes >"$0.alive"'
    with open(lab.path('group.log'), 'w') as log:
        shell = subprocess.Popen(['sh', '-c', script, lab.path('group'), lab.binary, 'run', 'tool.yaml', '--out',
                                  lab.path('group'), '--filter', 'app=good'], cwd=lab.dir, stdout=log, stderr=log,
                                 env=tool_environment(lab, 'group'), start_new_session=True)
    the_tool_runs(lab, 'group')
    os.kill(int(lab.read('group.pid')), signal.SIGINT)
    same(shell.wait(90), 0, 'the shell\n' + lab.read('group.log'))
    same(lab.read('group.code').strip(), '130', 'exit status\n' + lab.read('group.log'))
    same(lab.read('group.alive').strip(), 'yes', 'the bystander')
    same([p for p in pids_of(lab, 'group.pids') if alive(p)], [], 'processes of the tool')
    lab.nothing_left()


def as_the_first_process_of_a_namespace(lab):
    """Process 1 of a namespace: its tool's pids are its own, those of containers are not there to be read."""
    if not shutil.which('unshare') or subprocess.run(
            ['unshare', '--pid', '--fork', '--mount-proc', 'true'], stderr=subprocess.DEVNULL).returncode:
        return print('skipped: no namespaces can be made')
    with open(lab.path('first.log'), 'w') as log:
        p = subprocess.Popen(['unshare', '--pid', '--fork', '--mount-proc', lab.binary, 'run', 'tool.yaml', '--out',
                              lab.path('first'), '--filter', 'app=good'], cwd=lab.dir, stdout=log, stderr=log,
                             env=tool_environment(lab, 'first'), start_new_session=True)
    the_tool_runs(lab, 'first')
    inner = [int(x) for x in command('pgrep', '-P', str(p.pid)).stdout.split()]
    same(len(inner), 1, 'children of unshare')
    os.kill(inner[0], signal.SIGINT)
    same(p.wait(90), 130, 'exit status\n' + lab.read('first.log'))
    lab.nothing_left()


if __name__ == '__main__':
    sys.exit(main([the_fault_of_one_is_not_the_next_ones, nothing_of_others_is_touched,
                   forked_servers_are_gone_with_their_parent, tool_matrix, in_a_group_of_its_own,
                   as_the_first_process_of_a_namespace]))
