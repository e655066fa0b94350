#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The smallest limit that will do, found by a sweep and by hand: the same, also when the sweep was interrupted."""
import json
import signal
import sys

from e2e import docker, has, main, same, wait_for

STEP = 4
SIZES = range(8, 129, STEP)
HOLDS = {'little': 1, 'some': 41, 'much': 200}  # MiB that the application keeps, well between two sizes

MATRIX = '''benchctl: 1
name: searched
axes:
  keeps:
%s  memory: {search: {from: 8m, to: 128m, step: %dm}}
trials: 2
retry: 1
cooldown: 0ms
app:
  image: %s
  build: {context: app}
  command: ["hold=${keeps.mib}"]
  memory: ${memory}
  restart: no
  port: 8080
  ready: {http: /health, timeout: 20s}
load: {adapter: idle, duration: 300ms}
expect:                           # does not hold where the limit is too small, and that is no failure of the sweep
  - "app.oom_kills == 0"
'''


def survives(lab, keeps, mib):
    """By hand: does the same program, under this limit without swap, come to listening and stay?"""
    name = 'benchctl-e2e-hand-' + lab.tag
    docker('run', '-d', '--init', '--name', name, '--label', 'benchctl-e2e=' + lab.tag, '-m', '%dm' % mib,
           '--memory-swap', '%dm' % mib, lab.image('app'), 'hold=%d' % HOLDS[keeps])
    try:
        wait_for('an end or a sign of life', lambda: 'listening' in docker('logs', name) or
                 docker('inspect', '-f', '{{.State.Running}}', name) == 'false')
        return docker('inspect', '-f', '{{.State.Running}}', name) == 'true'
    finally:
        docker('rm', '-f', name)


def by_hand(lab, keeps):
    """Size by size, from one that is large enough, until one is too small."""
    best = None
    for mib in reversed([mib for mib in SIZES if mib <= 60]):
        if not survives(lab, keeps, mib):
            break
        best = mib
    return best


def outcomes(lab, out):
    """{scenario: [outcome of trial 1, 2]} of what is sealed."""
    found = {}
    for text in lab.sealed(out).values():
        t = json.loads(text)
        found.setdefault(t['scenario'], {})[t['trial']] = t['outcome']
    return {s: [o for _, o in sorted(trials.items())] for s, trials in found.items()}


def the_plan_says_what_it_may_take(lab):
    values = ''.join('    - {name: %s, mib: %d}\n' % item for item in HOLDS.items())
    lab.write('m.yaml', MATRIX % (values, STEP, lab.image('app')))
    has(lab.benchctl('plan', 'm.yaml').stdout, 'search 8m..128m by 4m, at most 7 probes', 'at most 14', 'at most 42 trials')
    same(len(lab.benchctl('plan', 'm.yaml', '--format', 'ids').stdout.split()), 3 * len(SIZES), 'candidates')
    has(lab.benchctl('check', 'm.yaml').stdout, '3 searches, at most 42 trials')


def interrupted_and_resumed(lab):
    lab.run('m.yaml', 'first', '--filter', 'keeps=little', '--filter', 'memory=128m')  # the image is there now
    p = lab.start('run', 'm.yaml', '--out', lab.path('out'))
    wait_for('a few trials', lambda: len(lab.sealed('out')) >= 5, 60)
    p.send_signal(signal.SIGINT)
    same(p.wait(60), 130, 'exit status')
    lab.nothing_left()
    has(lab.read('background.log'), 'of at most 42]')
    before = lab.sealed('out')
    assert 5 <= len(before) < 20, len(before)
    has(lab.benchctl('status', lab.path('out'), code=1).stdout, 'of at most')
    lab.said = lab.benchctl('resume', lab.path('out')).stdout
    after = lab.sealed('out')
    for name, content in before.items():
        same(after[name], content, name)
    same(lab.benchctl('resume', lab.path('out')).stdout, lab.said, 'a second time')
    r = lab.benchctl('resume', lab.path('out'), '--set', 'axes.memory.search.from=16m', code=2)
    has(r.stderr, 'would change the sweep')
    same(lab.sealed('out'), after, 'what is sealed')
    lab.nothing_left()


def it_finds_what_hands_find(lab):
    limit = by_hand(lab, 'some')
    assert limit is not None and 41 <= limit <= 45, limit
    has(lab.said, 'some: smallest memory that is ok: %dm (%dm: crashed: ' % (limit, limit - STEP), 'OOM')
    assert survives(lab, 'little', 8)
    has(lab.said, 'little: smallest memory that is ok: 8m (the smallest that was asked for)')
    assert not survives(lab, 'much', 128)
    has(lab.said, 'much: no memory up to 128m is ok (128m: crashed: ')
    same(len(lab.said.splitlines()), 3, 'lines')
    lab.limit = limit


def every_try_is_a_trial(lab):
    found = outcomes(lab, 'out')
    same({s: o for s, o in found.items() if s.startswith('much')}, {'much/128m': ['crashed']}, 'much')
    same({s: o for s, o in found.items() if s.startswith('little')},
         {'little/128m': ['ok', 'ok'], 'little/8m': ['ok', 'ok']}, 'little')
    some = {int(s.split('/')[1][:-1]): o for s, o in found.items() if s.startswith('some')}
    assert 4 <= len(some) <= 7 and 8 in some and 128 in some, some
    for mib, outs in some.items():
        same(outs, ['ok', 'ok'] if mib >= lab.limit else ['crashed'], '%dm' % mib)
    plan = json.loads(lab.read('out/plan.json'))
    same((plan['search']['axis'], plan['search']['from'], plan['search']['to'], plan['search']['step'],
          plan['search']['until']), ('memory', '8m', '128m', '4m', ['ok']), 'plan.json')
    info = json.loads(lab.read('out/sweep.json'))
    assert info['complete']
    same(info['trials'], sum(len(o) for o in found.values()), 'trials')
    lab.benchctl('bundle', 'verify', lab.path('out.tar.zst'))


def a_strict_sweep_wants_everything(lab):
    r = lab.run('m.yaml', 'strict', '--strict', '--filter', 'keeps=much', code=1)
    has(r.stdout, 'much: no memory up to 128m is ok')


def a_budget_ends_it_between_rounds(lab):
    r = lab.run('m.yaml', 'short', '--budget', '1ms')
    same(r.stdout, 'little: not found yet\nsome: not found yet\nmuch: no memory up to 128m is ok (' +
         r.stdout[r.stdout.index('(') + 1:], 'after one round')
    same(sorted(outcomes(lab, 'short')), ['little/128m', 'much/128m', 'some/128m'], 'one trial of each')


def what_the_environment_spoils_is_uncertain(lab):
    """The smallest limit would do, but its trial runs out of time: nothing is left for starting."""
    lab.write('late.yaml', lab.read('m.yaml') + 'overrides: [{when: {memory: 8192k}, set: {timeout: 301ms}}]\n')
    r = lab.run('late.yaml', 'late', '--filter', 'keeps=little', '--filter', 'memory<=20m', code=1)
    has(r.stdout, 'little: smallest memory that is ok: 12m (8m: error: ', '; uncertain: ')
    trials = outcomes(lab, 'late')
    same((trials['little/8m'], trials['little/12m']), (['error'], ['ok', 'ok']), 'outcomes')


if __name__ == '__main__':
    sys.exit(main([the_plan_says_what_it_may_take, interrupted_and_resumed, it_finds_what_hands_find,
                   every_try_is_a_trial, a_strict_sweep_wants_everything,
                   a_budget_ends_it_between_rounds, what_the_environment_spoils_is_uncertain]))
