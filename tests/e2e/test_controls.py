#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Twins of one scenario through a sweep: in every round, with the handicap that was asked for, recorded apart from the
results, and told by the report."""
import json
import sys

from e2e import has, main, same

MATRIX = '''benchctl: 1
name: controls
axes: {x: [a, b]}
trials: 2
order: {mode: interleaved, seed: 5}
retry: 0
controls: {aa: true, handicap: {cpus: half}, scenario: b}
app:
  image: '%s'
  build: {context: app}
  command: ["say=${x}"]
  port: 8080
  ready: {http: /health}
  memory: 64m
  cpus: 1
sample: {floor: 0s}
expect: ["app.effective.cpus == 1"]
load: {adapter: builtin, path: /, vus: 1, duration: 400ms}
'''
EVERYTHING = {'a', 'b', 'control-aa', 'control-handicap'}


def every_round_has_them(lab):
    lab.write('m.yaml', MATRIX % lab.image('app'))
    plan = json.loads(lab.benchctl('plan', 'm.yaml', '--format', 'json').stdout)
    order = [(t['scenario'], t['trial']) for t in plan['order']]
    for n in (1, 2):
        same({s for s, t in order[4 * (n - 1):4 * n]}, EVERYTHING, 'round %d' % n)
        same({t for s, t in order[4 * (n - 1):4 * n]}, {n})
    same({s['id']: s.get('control') for s in plan['scenarios']},
         {'a': None, 'b': None, 'control-aa': 'aa', 'control-handicap': 'handicap'})
    same({s.get('of') for s in plan['scenarios'] if 'control' in s}, {'b'})


def they_run_and_are_recorded(lab):
    lab.run('m.yaml', 'out', code=None)  # a gate does not hold for the handicapped one: that decides nothing
    lab.nothing_left()
    aa, handicap, base = (lab.trial('out', s) for s in ('control-aa', 'control-handicap', 'b'))
    same([t['control'] for t in (aa, handicap, base)], ['aa', 'handicap', None])
    same(aa['axes'], base['axes'])
    same(aa['digest'], base['digest'])
    same([t['app']['effective']['cpus'] for t in (aa, handicap, base)], [1, 0.5, 1])


def they_are_no_results(lab):
    r = json.loads(lab.benchctl('report', 'out', '--format', 'json').stdout)
    same([s['scenario'] for s in r['scenarios']], ['a', 'b'])
    same([(c['control'], c['trials']) for c in r['controls']], [('aa', 2), ('handicap', 2)])
    for c in r['controls']:
        same(c['goodput_rps']['n'] <= 2, True)
    text = lab.benchctl('report', 'out').stdout
    has(text, 'Controls', 'handicapped: 0.5 CPUs instead of 1', 'Twins of b in every round')
    has(lab.benchctl('report', 'out.tar.zst').stdout, 'Twins of b in every round')


def a_resume_keeps_them(lab):
    r = lab.benchctl('resume', 'out', code=None)
    has(r.stderr, '8 sealed trials: 8 still count')


if __name__ == '__main__':
    sys.exit(main([every_round_has_them, they_run_and_are_recorded, they_are_no_results, a_resume_keeps_them]))
