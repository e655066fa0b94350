#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a machine lacks, and matrices that are wrong: the exit code, one message with a hint, and nothing started."""
import json
import os
import subprocess
import sys

from e2e import command, has, main, same

MATRIX = '''benchctl: 1
name: small
axes: {size: [a, b]}
trials: 2
app: {image: 'benchctl-e2e/absent-${size}:1'}
load: {adapter: idle, duration: 100ms}
'''


def a_missing_image(lab):
    lab.write('m.yaml', MATRIX)
    r = lab.run('m.yaml', 'out', code=3)
    has(r.stderr, 'nothing was started', 'benchctl-e2e/absent-a:1', 'benchctl-e2e/absent-b:1', 'hint: ')
    same(r.stderr.count('absent-a'), r.stderr.count("pulling image 'benchctl-e2e/absent-a:1'") + 1, 'mentions')
    lab.nothing_left()
    # a part of it can be asked for
    has(lab.run('m.yaml', 'out2', '--filter', 'size=b', code=3).stderr, 'absent-b')


def a_missing_engine(lab):
    r = lab.run('m.yaml', 'out3', code=3, env={'DOCKER_HOST': 'unix:///nowhere/docker.sock'})
    has(r.stderr, '/nowhere/docker.sock', 'hint: ', 'DOCKER_HOST')
    r = lab.run('m.yaml', 'out4', '--engine', 'tcp://127.0.0.1:1', code=3)
    has(r.stderr, '127.0.0.1:1', 'hint: ')
    lab.run('m.yaml', 'out5', '--engine', 'ftp://x', code=2)
    lab.benchctl('clean', '--engine', 'unix:///nowhere/docker.sock', code=3)


def a_missing_generator(lab):
    lab.write('wrk.yaml', MATRIX.replace('adapter: idle', 'adapter: wrk').replace("absent-${size}:1'", "x:1', port: 80").replace('100ms', '1s'))
    os.makedirs(lab.path('empty'), exist_ok=True)
    r = lab.run('wrk.yaml', 'out6', code=3, env={'PATH': lab.path('empty')})
    has(r.stderr, 'wrk', 'not on PATH')


def a_missing_database(lab):
    lab.write('db.yaml', MATRIX.replace('benchctl-e2e/absent-${size}:1', lab.image('app')).replace(
        'load:', "database: {url: 'postgresql://nobody@127.0.0.1:1/x', name: bench, ready_timeout: 500ms}\nload:"))
    lab.write('build.yaml', lab.read('db.yaml').replace("app: {image:", 'app: {build: {context: app}, image:'))
    r = lab.run('build.yaml', 'out7', '--filter', 'size=a', '--trials', '1', '--set', 'retry=0', code=1)
    has(lab.trial('out7', 'a')['reason'], 'database: ')
    lab.nothing_left()


def plans_touch_nothing(lab):
    rows = lab.benchctl('plan', 'm.yaml', '--format', 'ids').stdout.split()
    same(sorted(set(rows)), ['a', 'b'])
    same(len(json.loads(lab.benchctl('plan', 'm.yaml', '--format', 'json').stdout)['scenarios']), 2)
    has(lab.benchctl('plan', 'm.yaml', '--explain').stdout, 'a')
    has(lab.benchctl('plan', 'm.yaml', '--format', 'csv').stdout, ',')
    lab.write('n.yaml', MATRIX.replace('100ms', '200ms'))
    has(lab.benchctl('plan', 'n.yaml', '--diff', 'm.yaml').stdout, 'duration')
    lab.benchctl('check', 'm.yaml')


def matrices_that_are_wrong(lab):
    for name, text, part in [
            ('unknown key', MATRIX + 'colour: red\n', "colour"),
            ('misspelt key', MATRIX.replace('trials:', 'trails:'), "trials"),
            ('bare number', MATRIX.replace("absent-${size}:1'", "x:1', memory: 64"), "64"),
            ('duplicate key', MATRIX + 'name: again\n', 'name'),
            ('unresolved', MATRIX.replace('${size}', '${colour}'), 'colour'),
            ('tab', MATRIX + '\tx: 1\n', ''),
            ('two documents', MATRIX + '---\n' + MATRIX, ''),
            ('nothing', '', ''),
            ('unknown adapter', MATRIX.replace('idle', 'idel'), 'idle'),
            ('bomb', 'x-a: &a [1,1,1,1,1,1,1,1,1]\n' + ''.join('x-%s: &%s [*%s,*%s,*%s,*%s,*%s,*%s,*%s,*%s,*%s]\n' % (
                (chr(98 + i),) * 2 + (chr(97 + i),) * 9) for i in range(12)) + MATRIX, ''),
    ]:
        lab.write('wrong.yaml', text)
        for verb in ('check', 'plan', 'run'):
            argv = ['wrong.yaml', '--out', lab.path('never')] if verb == 'run' else ['wrong.yaml']
            if verb == 'plan' and name == 'unknown adapter':
                continue  # plan does not look at adapters
            r = lab.benchctl(verb, *argv, code=2, timeout=30)
            has(r.stderr, 'benchctl: ', part)
            assert not os.path.exists(lab.path('never')), name


def wrong_command_lines(lab):
    for argv in (['run'], ['run', 'm.yaml', 'n.yaml'], ['run', 'm.yaml', '--colour'], ['rnu'], ['report', 'nowhere'],
                 ['run', 'nowhere.yaml'], ['run', 'm.yaml', '--trials', 'many'], ['run', 'm.yaml', '--filter', 'x'],
                 ['resume', 'nowhere'], ['status', 'nowhere'], ['bundle', 'verify', 'm.yaml'], []):
        r = lab.benchctl(*argv, code=2)
        assert r.stderr, argv
    same(lab.benchctl('--version').stdout.split()[0], 'benchctl')
    for verb in ('run', 'plan', 'check', 'parity', 'resume', 'report', 'bundle', 'adapter', 'schema', 'doctor', 'clean',
                 'status'):
        has(lab.benchctl(verb, '--help').stdout, 'usage: benchctl ' + verb)


def a_directory_that_is_taken(lab):
    lab.write('full/file', 'x')
    has(lab.benchctl('run', 'm.yaml', '--out', lab.path('full'), code=2).stderr, 'not empty')
    same(lab.read('full/file'), 'x')


def git(lab, *argv):
    env = dict(os.environ, GIT_AUTHOR_NAME='x', GIT_AUTHOR_EMAIL='x@example.org', GIT_COMMITTER_NAME='x',
               GIT_COMMITTER_EMAIL='x@example.org', GIT_CONFIG_GLOBAL='/dev/null')
    command('git', '-C', lab.path('repo'), *argv, env=env)


def parity(lab):
    lab.write('repo/one/q.sql', 'select 1;\n')
    lab.write('repo/two/q.sql', 'select 1;\n')
    command('git', 'init', '-q', lab.path('repo'))
    git(lab, 'add', '.')
    git(lab, 'commit', '-q', '-m', 'x')
    section = '''parity:
  repo: repo
  checks:
    - {name: sql, compare: blobs, members: [{ref: HEAD, path: one}, {ref: HEAD, path: two}]}
'''
    app = MATRIX.replace("image: 'benchctl-e2e/absent-${size}:1'", "image: '%s', build: {context: app}" % lab.image('app'))
    lab.write('p.yaml', app + section)
    lab.benchctl('parity', 'p.yaml')
    lab.run('p.yaml', 'p1', '--trials', '1')
    assert json.loads(lab.read('p1/sweep.json'))['parity'], 'recorded'
    lab.write('repo/two/q.sql', 'select 2;\n')
    git(lab, 'commit', '-q', '-a', '-m', 'y')
    r = lab.benchctl('parity', 'p.yaml', code=4)
    has(r.stdout + r.stderr, 'q.sql')
    r = lab.run('p.yaml', 'p2', code=4)
    has(r.stderr, 'parity is broken', 'q.sql', 'hint: ')
    lab.run('p.yaml', 'p3', '--no-parity', '--trials', '1')
    lab.run('p.yaml', 'p4', '--set', 'parity.on_mismatch=warn', '--trials', '1')
    lab.write('q.yaml', app + section.replace('ref: HEAD, path: two', 'ref: nowhere, path: two'))
    has(lab.run('q.yaml', 'p5', code=3).stderr, 'nowhere')
    lab.nothing_left()


def doctor_looks_and_changes_nothing(lab):
    r = subprocess.run([lab.binary, 'doctor'], capture_output=True, text=True)
    assert r.returncode in (0, 1, 3), r.returncode
    has(r.stdout, 'engine', 'cgroups')
    lab.write('d.yaml', """benchctl: 1
name: d
host: {require: ["load<=0.0001", "memory>=1k"], on_violation: fail}
app: {image: 'not/there:1', memory: 64m}
load: {adapter: idle, duration: 1s}
""")
    r = lab.benchctl('doctor', 'd.yaml', '--format', 'json', code=3)
    lines = {line['name']: line for line in json.loads(r.stdout)}
    assert lines['images']['status'] == 'warn' and 'not/there:1' in lines['images']['text'], lines['images']
    assert lines['artifacts']['status'] == 'ok' and lines['host.require']['status'] == 'fail', lines
    assert 'memory' not in lines['host.require']['text'], lines
    r = lab.run('d.yaml', 'refused', code=3)  # nothing is started, and all of it is said
    has(r.stderr, 'the host is not what the matrix requires: load is', 'wait until the host is quiet')
    lab.benchctl('doctor', 'none.yaml', code=2)
    lab.nothing_left()


if __name__ == '__main__':
    sys.exit(main([a_missing_image, a_missing_engine, a_missing_generator, a_missing_database, plans_touch_nothing,
                   matrices_that_are_wrong, wrong_command_lines, a_directory_that_is_taken, parity,
                   doctor_looks_and_changes_nothing]))
