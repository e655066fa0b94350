# SPDX-License-Identifier: MIT
"""A bundle runs again: on the engine that made it, on one that is empty, and not when it asks for too much."""
import json
import os
import shutil
import signal
import sys

import e2e
from e2e import has, same
from second_engine import SecondEngine, Unavailable

MATRIX = '''benchctl: 1
name: again
axes: {size: [32m, 64m]}
trials: 2
order: {mode: interleaved, seed: 5}
retry: 0
app:
  build: {context: ../app}
  memory: ${size}
  env: {MODE: "${env:AGAIN_MODE}", LEVEL: "${env:AGAIN_LEVEL:-low}"}
  port: 8080
  ready: {http: /health, timeout: 30s}
load:
  adapter: builtin
  vus: 1
  duration: 200ms
  requests: [{method: POST, path: /health, body_file: ../shared/body.txt}]
'''


def load(lab, *path):
    with open(lab.path(os.path.join(*path))) as f:
        return json.load(f)


def images(lab, out):
    return [i['id'] for i in load(lab, out, 'sweep.json')['images']]


def order(lab, out):
    with open(lab.path(out + '/journal.ndjson')) as f:
        records = [json.loads(line) for line in f]
    return [(r['scenario'], r['trial']) for r in records if r['event'] == 'trial sealed']


def the_original(lab):
    os.chmod(lab.write('app/start.sh', '#!/bin/sh\n'), 0o755)
    os.symlink('start.sh', lab.path('app/begin.sh'))
    lab.write('app/.dockerignore', 'Dockerfile\n.dockerignore\n*.o\n')  # a build has them all the same
    lab.write('shared/body.txt', 'hello')
    matrix = lab.write('bench/m.yaml', MATRIX)
    lab.run(matrix, 'one', '--with-images', env={'AGAIN_MODE': 'fast'})
    inputs = load(lab, 'one', 'inputs.json')
    same(inputs['env'], {'AGAIN_MODE': 'fast'}, 'variables')
    same(sorted(i['path'] for i in inputs['inputs']),
         ['../app', '../app/.dockerignore', '../app/Dockerfile', '../shared/body.txt'], 'inputs')
    same(inputs['matrix'], 'bench/m.yaml', 'the matrix below the top')
    # nothing of what made it is there any more
    shutil.move(lab.path('one.tar.zst'), lab.path('kept.tar.zst'))
    for gone in ('one', 'bench', 'shared'):
        shutil.move(lab.path(gone), lab.path('gone-' + gone))


def only_the_checks(lab):
    r = lab.benchctl('rerun', 'kept.tar.zst', '--dry-run', '--out', lab.path('dry'), env={'AGAIN_LEVEL': 'high'})
    has(r.stdout, 'same: benchctl', 'differs: nothing', 'image app: present', "AGAIN_MODE: 'fast', as then",
        '2 scenarios, 4 trials')
    same(os.path.exists(lab.path('dry')), False, 'a dry run leaves nothing')
    r = lab.benchctl('rerun', 'kept.tar.zst', '--dry-run', '--format', 'json', '--filter', 'size=64m')
    found = json.loads(r.stdout)
    same((found['scenarios'], found['trials'], found['asks_for'], found['missing']), (1, 2, [], []), 'as JSON')
    same([n for n in os.listdir(lab.dir) if n.startswith('benchctl-rerun')], [], 'work directories')


def ended_during_the_checks(lab):
    def work():
        return [n for n in os.listdir(lab.dir) if n.startswith('benchctl-rerun')]

    for number in (signal.SIGINT, signal.SIGTERM):
        p = lab.start('rerun', lab.path('kept.tar.zst'), '--dry-run')
        e2e.wait_for('the work directory', lambda: work() or p.poll() is not None)
        p.send_signal(number)
        p.wait()
        same(work(), [], 'work directories')


def an_empty_engine(lab):
    """With the images in the bundle, and nothing else."""
    try:
        with SecondEngine() as second:
            again_elsewhere(lab, second)
    except Unavailable as e:
        print('skipped: no second engine: %s' % e)


def again_elsewhere(lab, second):
    def benchctl(*argv, code):
        r = second.run([lab.binary, *argv], env=lab.env(), cwd=lab.dir)
        if r.returncode != code:
            raise AssertionError('%s: exit status %d\n%s\n%s' % (' '.join(argv), r.returncode, r.stdout, r.stderr))
        return r

    same(second.docker('images', '-q'), '', 'images of an empty engine')
    has(benchctl('rerun', 'kept.tar.zst', '-n', code=0).stdout, 'image app: would be loaded from the bundle')
    same(second.docker('images', '-q'), '', 'images after a dry run')
    r = benchctl('rerun', 'kept.tar.zst', '--out', lab.path('there'), '--margin', '30%', code=0)
    has(r.stdout, 'same: benchctl', 'is within 30 %', '2 scenarios compared and not judged: a verdict takes 3 trials',
        'outcomes are the same in all')
    same(images(lab, 'there'), images(lab, 'gone-one'), 'the very images')
    same(order(lab, 'there'), order(lab, 'gone-one'), 'the order')
    of = load(lab, 'there', 'sweep.json')['rerun_of']
    same((of['file'], of['name']), ('kept.tar.zst', 'again'), 'of which bundle')
    has(lab.read('there/report.md'), 'run again: again, started %s, bundle kept.tar.zst, SHA-256 %s' % (of['started_at'], of['sha256']))
    compared = load(lab, 'there', 'compare.json')
    same([(s['scenario'], s['then_outcomes'], s['now_outcomes']) for s in compared['scenarios']],
         [(s, {'ok': 2}, {'ok': 2}) for s in sorted(s['scenario'] for s in compared['scenarios'])], 'outcomes')
    for s in compared['scenarios']:
        figure = s['figures']['load.goodput_rps']
        if not (figure['low'] <= figure['ratio'] <= figure['high'] and figure['now_n'] == 2):
            raise AssertionError('no interval: %r' % figure)
    same(second.docker('ps', '-aq'), '', 'left in the engine')
    # the new bundle has the comparison, not the files laid out twice, and can be run again itself
    names = lab.benchctl('bundle', 'list', lab.path('there.tar.zst')).stdout
    has(names, 'compare.md', 'compare.json', 'rerun.json', 'inputs.json')
    same('restored/' in names, False, 'restored/ in the bundle')
    has(benchctl('rerun', lab.path('there.tar.zst'), '-n', code=0).stdout, 'image app: present')


def built_again(lab):
    """Without images of its own: from the context, and that is said."""
    lab.benchctl('bundle', 'create', lab.path('gone-one'), '-o', lab.path('lean.tar.zst'))
    e2e.docker('rmi', '-f', *images(lab, 'gone-one'))
    has(lab.benchctl('rerun', 'lean.tar.zst', '-n').stdout, 'image app: would be built again')
    lab.dirs.append(lab.path('built'))
    r = lab.benchctl('rerun', 'lean.tar.zst', '--out', lab.path('built'), '--filter', 'size=32m')
    has(r.stderr, "image 'app' was built again")
    has(r.stdout, '1 scenario compared')
    same(sorted(os.listdir(lab.path('built/restored/app'))),
         ['.dockerignore', 'Dockerfile', 'begin.sh', 'bin', 'start.sh'], 'the context, links and ignored files too')
    lab.nothing_left()


def killed_and_resumed(lab):
    out = lab.path('killed')
    p = lab.start('rerun', lab.path('kept.tar.zst'), '--out', out, '--filter', 'size=64m')
    e2e.wait_for('the first trial', lambda: os.path.isdir(out) and lab.sealed('killed'))
    os.killpg(p.pid, signal.SIGKILL)
    p.wait()
    shutil.move(lab.path('kept.tar.zst'), lab.path('moved.tar.zst'))  # the directory has all that it needs
    before = lab.sealed('killed')
    r = lab.benchctl('resume', out)
    has(r.stdout, '1 scenario compared', 'outcomes are the same in it')
    same({k: v for k, v in lab.sealed('killed').items() if k in before}, before, 'what was sealed')
    same(len(lab.sealed('killed')), 2, 'trials')
    same(load(lab, 'killed', 'sweep.json')['rerun_of']['file'], 'kept.tar.zst', 'of which bundle')
    shutil.move(lab.path('moved.tar.zst'), lab.path('kept.tar.zst'))
    lab.nothing_left()


def changed_by_hand(lab):
    """Whole, and not what was run."""
    lab.benchctl('bundle', 'extract', 'kept.tar.zst', lab.path('x'))
    text = lab.read('x/matrix.yaml')
    lab.write('x/matrix.yaml', text.replace('vus: 1', 'vus: 2'))
    lab.benchctl('bundle', 'create', lab.path('x'), '-o', lab.path('x.tar.zst'))
    has(lab.benchctl('rerun', 'x.tar.zst', '--out', lab.path('no'), code=2).stderr,
        "scenario '32m' is not what was run")
    lab.write('x/matrix.yaml', text + 'notify: {webhook: "${secret:E2E_NO_HOOK}"}\n')
    lab.benchctl('bundle', 'create', lab.path('x'), '-o', lab.path('w.tar.zst'))
    lab.benchctl('rerun', 'w.tar.zst', '-n')  # whoever was told then is not told again
    r = lab.benchctl('rerun', 'w.tar.zst', '-n', '--trust', code=3)
    has(r.stderr, "secret 'E2E_NO_HOOK': not in the environment; export it before the run")
    lab.write('x/matrix.yaml', text.replace('  memory:', '  binds: ["/:/host"]\n  memory:'))
    lab.benchctl('bundle', 'create', lab.path('x'), '-o', lab.path('y.tar.zst'))
    r = lab.benchctl('rerun', 'y.tar.zst', '--out', lab.path('no'), code=2)
    has(r.stderr, "'app' mounts a part of this machine: '/:/host'", '--trust')
    os.remove(lab.path('x/inputs.json'))
    lab.benchctl('bundle', 'create', lab.path('x'), '-o', lab.path('z.tar.zst'))
    has(lab.benchctl('rerun', 'z.tar.zst', code=2).stderr, 'no inputs.json')
    with open(lab.path('z.tar.zst'), 'r+b') as f:
        f.seek(5000)
        f.write(b'x' * 100)
    lab.benchctl('rerun', 'z.tar.zst', code=2)
    same(os.path.exists(lab.path('no')), False, 'a directory of what was refused')


sys.exit(e2e.main([the_original, only_the_checks, ended_during_the_checks, an_empty_engine, built_again,
                   killed_and_resumed, changed_by_hand]))
