#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare: two sweeps, or values of an axis, in words and with gates for CI. On made-up run directories; needs no engine.

usage: test_compare.py BENCHCTL"""
import json
import os
import subprocess
import sys
import tempfile

from e2e import TOP, has, same

sys.path.insert(0, TOP + '/tests/support')
from run_directory import write_run  # noqa: E402

BINARY = os.path.abspath(sys.argv[1])
WORK = tempfile.mkdtemp(prefix='benchctl-compare-')
NOISE = (1.0, 1.01, 0.99, 1.005)


def trial(framework, memory, n, goodput, digest='d', **app):
    outcome = app.pop('outcome', 'ok')
    return {'scenario': framework + '/' + memory, 'axes': {'framework': framework, 'memory': memory}, 'trial': n, 'attempt': 1,
            'digest': digest, 'outcome': outcome, 'reason': 'made up', 'started_at': '2026-01-31T08:00:00.000Z', 'duration_ms': 1000,
            'load': {'requests': 1000, 'ok': 1000, 'failed': 0, 'error_rate': 0, 'goodput_rps': goodput,
                     'latency_ms': {'p50': 8e3 / goodput, 'p99': 3e4 / goodput}} if outcome != 'crashed' else None,
            'app': {'memory_bytes': {'limit': 'unlimited', 'used_peak': 5e7}, 'restarts': 0, 'oom_kills': 0, **app}}


def sweep(name, speeds, trials=4, crashed=(), digest='d', contrasts=None):
    """A run directory of {(framework, memory): requests per second}."""
    scenarios = list(speeds)
    plan = {'axes': ['framework', 'memory'],
            'scenarios': [{'id': '/'.join(s), 'axes': {'framework': s[0], 'memory': s[1]}, 'digest': digest} for s in scenarios]}
    if contrasts:
        plan['contrasts'] = [{'contrast': c, 'axis': c.split(' x ')[0], **({'by': c.split(' x ')[1]} if ' x ' in c else {})} for c in contrasts]
    records = []
    for n in range(1, trials + 1):
        for s in reversed(scenarios):  # the order of execution is not that of the plan
            if s in crashed:
                records.append(trial(*s, n, 1, digest, outcome='crashed', oom_kills=3, restarts=3))
            else:
                records.append(trial(*s, n, speeds[s] * NOISE[n - 1], digest))
    root = os.path.join(WORK, name)
    write_run(root, {'name': name, 'order': {'mode': 'interleaved', 'seed': 1}}, plan, ((r, {}) for r in records))
    return root


def compare(*argv, code=0):
    done = subprocess.run([BINARY, 'compare', *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, NO_COLOR='1'), check=False)
    same(done.returncode, code, done.stdout + done.stderr)
    return done


BEFORE = {('quarkus', '256m'): 1000, ('quarkus', '512m'): 1000, ('micronaut', '256m'): 1000, ('micronaut', '512m'): 1000}


def two_sweeps():
    a = sweep('a', BEFORE)
    b = sweep('b', {**BEFORE, ('quarkus', '512m'): 900, ('micronaut', '512m'): 1200})
    out = compare(a, b, '--margin', '5%').stdout
    has(out, 'equal within 5 %', 'slower by 10.0 %', 'faster by 20.0 %', 'p99', 'higher by', 'lower by')
    same([line.split()[0] for line in out.splitlines() if ' goodput ' in line], ['/'.join(s) for s in BEFORE], 'the order of the plan')
    has(compare(a, a, '--margin', '5%').stdout, 'equal within 5 %')


def values_of_an_axis():
    a = sweep('axis', {('quarkus', '256m'): 1000, ('quarkus', '512m'): 1000, ('micronaut', '256m'): 1300, ('micronaut', '512m'): 1004})
    out = compare(a, '--by', 'framework').stdout
    # the same rounds had the same noise: within them there is none
    has(out, '256m', 'faster by 30.0 % [30.0, 30.0]', '512m', 'equal within 1 %', 'quarkus', 'micronaut')
    has(compare(a, '--by', 'framework=micronaut,quarkus').stdout, 'slower by 23.1 %')
    has(compare(a, '--by', 'memory').stdout, 'slower by 22.8 %')


def too_few_trials_have_no_verdict():
    a, b = sweep('few-a', BEFORE, trials=2), sweep('few-b', {k: 2 * v for k, v in BEFORE.items()}, trials=2)
    out = compare(a, b).stdout
    has(out, '+100 % (n = 2: no verdict)')
    same('faster' in out or 'slower' in out, False, out)


def what_crashed_is_said():
    a, b = sweep('ok', BEFORE), sweep('crash', BEFORE, crashed=[('quarkus', '256m')])
    has(compare(a, b).stdout, 'not compared: no figure on one side', 'quarkus/256m: 4 ok (A); 4 crashed (B)')
    has(compare(a, b, '--fail-if', 'throughput<-5%', code=1).stderr, 'fails: throughput<-5%: quarkus/256m')


def gates():
    a = sweep('g-a', BEFORE)
    b = sweep('g-b', {**BEFORE, ('quarkus', '512m'): 900})
    r = compare(a, b, '--fail-if', 'throughput<-5%', '--fail-if', 'p99>50%', code=1)
    same(r.stderr.count('fails:'), 1, r.stderr)
    has(r.stderr, 'quarkus/512m', 'slower by 10.0 %')
    compare(a, b, '--fail-if', 'throughput<-15%')
    has(compare(a, b, '--fail-if', 'speed<-5%', code=2).stderr, "'speed<-5%' is no condition", 'throughput<-5%')
    other = sweep('other', {('spring', '1g'): 1000})
    has(compare(a, other, '--fail-if', 'throughput<-5%', code=1).stderr, 'nothing was compared')
    compare(a, other, code=1)


def other_settings_are_another_experiment():
    a, b = sweep('s-a', BEFORE), sweep('s-b', BEFORE, digest='e')
    has(compare(a, b).stdout, 'The settings of 4 scenarios differ between A and B')
    same('settings' in compare(a, a).stdout, False)


def other_forms():
    a, b = sweep('f-a', BEFORE), sweep('f-b', {k: 1.5 * v for k, v in BEFORE.items()})
    j = json.loads(compare(a, b, '--format', 'json').stdout)
    same(len(j['scenarios']), 4)
    has(j['words'][0]['load.goodput_rps'], 'faster by 50.0 %')
    has(compare(a, b, '--format', 'md').stdout, '| scenario | figure | A | B |', 'faster by 50.0 %')
    compare(a, b, '-o', os.path.join(WORK, 'out.txt'))
    has(open(os.path.join(WORK, 'out.txt'), encoding='utf-8').read(), 'faster by 50.0 %')


def declared_contrasts():
    """What the matrix asks beforehand the report answers, above its tables."""
    speeds = {('quarkus', '256m'): 1000, ('quarkus', '512m'): 1000, ('micronaut', '256m'): 1300, ('micronaut', '512m'): 1004}
    root = sweep('asked', speeds, contrasts=['framework'])

    def report(form):
        return subprocess.run([BINARY, 'report', root, '--format', form], stdout=subprocess.PIPE, text=True, check=True,
                              env=dict(os.environ, NO_COLOR='1')).stdout
    text = report('md')
    has(text, '## Contrasts', 'micronaut : quarkus at 256m', 'faster by 30.0 %', 'micronaut : quarkus at 512m', 'equal within 1 %')
    same(text.index('## Contrasts') < text.index('## Results'), True)
    j = json.loads(report('json'))['contrasts']
    same(j['words'], ['faster by 30.0 % [30.0, 30.0]', 'equal within 1 %'])
    root = sweep('asked-once', speeds, trials=1, contrasts=['framework', 'memory'])
    text = report('md')
    same('faster' in text.split('## Results')[0], False, text)
    has(text, '512m : 256m at quarkus', 'no verdict')


def contrasts_of_contrasts():
    """Does the framework matter more at one limit than at another?"""
    speeds = {('quarkus', '256m'): 1000, ('quarkus', '512m'): 1000, ('micronaut', '256m'): 1300, ('micronaut', '512m'): 1004}
    out = subprocess.run([BINARY, 'report', sweep('both', speeds, contrasts=['framework x memory']), '--format', 'json'],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    (x,) = json.loads(out)['interactions']
    same(x['name'], 'micronaut : quarkus, at 512m against 256m')
    same(round(x['ratio'], 6), round(1.004 / 1.3, 6))
    same('contrasts' in json.loads(out), False)
    text = subprocess.run([BINARY, 'report', WORK + '/both'], stdout=subprocess.PIPE, text=True, check=True, env=dict(os.environ, NO_COLOR='1')).stdout
    has(text, 'Contrasts of contrasts', 'changes: 0.77 times as much [0.77, 0.77]')


def misuse():
    a = sweep('m', BEFORE)
    has(compare(a, code=2).stderr, 'nothing to compare it with')
    has(compare(a, a, '--by', 'framework', code=2).stderr, '--by compares values of one sweep')
    has(compare(a, '--by', 'colour', code=2).stderr, "no axis 'colour'", 'framework, memory')
    has(compare(a, '--by', 'framework=quarkus', code=2).stderr, 'one value only')
    has(compare(a, '--by', 'framework=quarkus,spring', code=2).stderr, "no value 'spring'")
    has(compare(a, a, '--margin', 'much', code=2).stderr, 'no percentage')
    has(compare(a, WORK + '/nowhere', code=2).stderr, 'nowhere')


if __name__ == '__main__':
    failed = 0
    for step in (two_sweeps, values_of_an_axis, too_few_trials_have_no_verdict, what_crashed_is_said, gates,
                 other_settings_are_another_experiment, other_forms, declared_contrasts, contrasts_of_contrasts, misuse):
        try:
            step()
            print('ok ', step.__name__)
        except AssertionError as e:
            failed += 1
            print('FAILED %s: %s' % (step.__name__, e))
    sys.exit(failed > 0)
