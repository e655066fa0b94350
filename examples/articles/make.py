#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes SYNTHETIC run directories from the figures that four articles print: figures.csv, and nothing beside it.

usage: make.py [--benchctl BENCHCTL] DIRECTORY

DIRECTORY/SWEEP is one sweep, one trial of each scenario; with --benchctl that program also packs it as DIRECTORY/SWEEP.tar.zst.
The same figures give the same bytes. Nothing was run or measured: a figure that no article prints is absent, and a column of `X` is a
scenario that the sweep does not have.
"""
import argparse
import csv
import hashlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MARK = 'synthetic: shaped by examples/articles/make.py from figures printed in an article; nothing was run or measured'
MOMENT = '1970-01-01T00:00:00.000Z'  # of lines in the journal, which need one: no time that anything was done at
SEED = 0xcbf29ce484222325 ^ 0x62656e6368637469

# Titles, and the axes with all values that the article speaks of: some combinations have no figures at all.
SWEEPS = {
    'part16': ('Designed a Reactive Benchmark. Imperative Won.', {
        'stack': ['reactive', 'imperative'],
        'runtime': ['native', 'jvm', 'virtual-threads', 'not-printed'],
        'memory': ['128m', '256m', 'unlimited', 'not-printed']}),
    'part17': ('The Throughput Was Always 115', {
        'stack': ['reactive', 'imperative', 'virtual-threads'],
        'runtime': ['native', 'jvm', 'loom-carrier', 'not-printed'],
        'memory': ['256m', '512m', 'unlimited', 'not-printed'],
        'load': ['200-vus', '500-vus']}),
    'part19': ('2492, 2495, 2508', {
        'stack': ['jdbc', 'r2dbc'],
        'row': ['first', 'second', 'third']}),
    'rest-vs-grpc': ('Performance framework comparison, REST against gRPC', {
        'setting': ['one-machine', 'two-machines-one-instance', 'two-machines-two-instances'],
        'service': ['users', 'availability'],
        'load': ['200-vus-wait-1s', '500-vus-wait-1s', '1000-vus-wait-1s', '100-vus-no-delay', '200-vus-no-delay', '400-vus-no-delay'],
        'framework': ['micronaut', 'springboot']}),
    'rest-vs-grpc-start': ('Performance framework comparison, builds and starts', {
        'machine': ['developer', 'production'],
        'framework': ['micronaut', 'springboot'],
        'service': ['users', 'availability']}),
}


# --- figures ---

def read_figures():
    """{sweep: {scenario: [(name, printed)]}}, without what is printed as X."""
    found = {}
    with open(os.path.join(HERE, 'figures.csv'), encoding='utf-8', newline='') as f:
        for row in csv.DictReader(f):
            if row['printed'] != 'X':
                found.setdefault(row['sweep'], {}).setdefault(row['scenario'], []).append((row['name'], row['printed']))
    return found


def number(name, printed):
    """What is printed, in the unit that the name asks for: '~790ms', '4,136ms', '3.3s', '95 MB', '55%', '115.2'."""
    m = re.fullmatch(r'~?([0-9][0-9,]*(?:\.[0-9]+)?) ?(ms|s|MB|Mo|%)?', printed)
    if not m:
        sys.exit('figures.csv: %s: %r is not a number' % (name, printed))
    value, unit = float(m.group(1).replace(',', '')), m.group(2)
    if unit == 's':
        value = round(value * 1000, 6)
    elif unit in ('MB', 'Mo'):  # as in their limits, and as the engine counts: base 1024
        value *= 1 << 20
    elif unit == '%':
        value = round(value / 100, 6)
    return int(value) if value == int(value) else value


def put(record, name, value):
    *path, last = name.split('.')
    for part in path:
        record = record.setdefault(part, {})
    record[last] = value


def put_build(record, name, printed):
    """build.STEP is its time, build.STEP.COUNT what it counted. That a step succeeded is said by its being in the table."""
    step, _, count = name[len('build.'):].partition('.')
    steps = record.setdefault('build', {}).setdefault('steps', [])
    if not count:
        steps.append({'name': step, 'duration_ms': number(name, printed), 'exit_code': 0, 'counts': {}})
    else:
        next(s for s in steps if s['name'] == step)['counts'][count] = number(name, printed)


def shape(record, name, printed):
    kind, _, rest = name.partition(': ')
    if name == 'req/s':
        put(record, 'load.rps', number(name, printed))
    elif name == 'success':
        put(record, 'load.error_rate', round(1 - number(name, printed), 6))
    elif name in ('outcome', 'reason'):
        record[name] = printed
    elif name == 'note':
        record['notes'].append(printed)
    elif kind == 'check':  # a range or a bound is no number
        record['checks'].append({'name': rest, 'value': printed, 'gated': False, 'passed': True})
    elif kind == 'finding':
        record['findings'].append({'id': rest, 'role': 'app', 'message': printed})
    elif kind.startswith('build.'):
        put_build(record, name, printed)
    else:
        put(record, name, number(name, printed))


def trial(sweep, scenario, figures):
    axes = dict(zip(SWEEPS[sweep][1], scenario.split('/')))
    record = {'scenario': scenario, 'axes': axes, 'trial': 1, 'attempt': 1, 'digest': digest(sweep, scenario), 'outcome': 'ok',
              'reason': 'as printed', 'checks': [], 'findings': [], 'validity': [], 'notes': [MARK], 'files': {}}
    for name, printed in figures:
        shape(record, name, printed)
    load = record.get('load', {})
    if load.get('error_rate') == 0 and 'rps' in load:
        load['goodput_rps'] = load['rps']  # nothing failed: all of it was good
    return record


# --- the run directory ---

def digest(sweep, scenario):
    return hashlib.sha256(('synthetic %s %s' % (sweep, scenario)).encode()).hexdigest()


def in_order(sweep, scenarios):
    ranks = [{v: i for i, v in enumerate(values)} for values in SWEEPS[sweep][1].values()]
    return sorted(scenarios, key=lambda s: [r[v] for r, v in zip(ranks, s.split('/'))])


def excludes(sweep, scenarios):
    """Every combination without a figure, those that differ in their last value only together."""
    axes = SWEEPS[sweep][1]
    *outer, last = axes
    for values in itertools.product(*(axes[a] for a in outer)):
        absent = [v for v in axes[last] if '/'.join(values + (v,)) not in scenarios]
        if absent:
            yield ', '.join(['%s: %s' % pair for pair in zip(outer, values)] + ['%s: [%s]' % (last, ', '.join(absent))])


def matrix(sweep, scenarios):
    title, axes = SWEEPS[sweep]
    lines = ['# ' + MARK, 'benchctl: 1', 'name: ' + sweep, 'title: "%s"' % full_title(title), 'axes:']
    lines += ['  %s: [%s]' % (a, ', '.join(values)) for a, values in axes.items()]
    rules = ['  - {%s}' % e for e in excludes(sweep, scenarios)]
    lines += ['exclude: # of these nothing is printed'] + rules if rules else []
    lines += ['trials: 1', 'app: # there is none', '  image: synthetic/nothing:none', '  env: {%s}' % ', '.join(
        '%s: "${%s}"' % (a.upper(), a) for a in axes), 'load: {adapter: idle, duration: 1s}']
    return '\n'.join(lines) + '\n'


def full_title(title):
    return 'SYNTHETIC, figures as printed: ' + title


def journal_line(seq, event, **fields):
    record = json.dumps({'seq': seq, 'at': MOMENT, 'event': event, **fields}, separators=(',', ':'))[:-1].encode()
    h = SEED
    for byte in record:
        h = (h ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return record + b',"sum":"%016x"}\n' % h


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def write_json(path, value):
    text = json.dumps(value, indent=1, ensure_ascii=False) + '\n'
    write(path, text)
    return hashlib.sha256(text.encode()).hexdigest()


def write_sweep(root, sweep, figures):
    title, axes = SWEEPS[sweep]
    scenarios = in_order(sweep, figures)
    shutil.rmtree(root, ignore_errors=True)
    write(root + '/matrix.yaml', matrix(sweep, set(scenarios)))
    write_json(root + '/sweep.json', {
        'schema': 1, 'name': sweep, 'title': full_title(title), 'complete': True, 'trials_per_scenario': 1,
        'scenarios': len(scenarios), 'trials': len(scenarios), 'axes': [{'name': a, 'values': v} for a, v in axes.items()],
        'host': {'name': 'synthetic, no machine measured this'}, 'parity': None})
    write_json(root + '/plan.json', {
        'benchctl': 1, 'name': sweep, 'title': full_title(title), 'axes': list(axes), 'trials': 1,
        'scenarios': [{'id': s, 'axes': dict(zip(axes, s.split('/'))), 'digest': digest(sweep, s)} for s in scenarios]})
    lines = [journal_line(1, 'journal', schema=1), journal_line(2, 'begin')]
    for s in scenarios:
        sha256 = write_json('%s/trials/%s/1/trial.json' % (root, s), trial(sweep, s, figures[s]))
        lines.append(journal_line(len(lines) + 1, 'trial sealed', scenario=s, trial=1, digest=digest(sweep, s),
                                  outcome=trial(sweep, s, figures[s])['outcome'], sha256=sha256))
    lines.append(journal_line(len(lines) + 1, 'end'))
    write(root + '/journal.ndjson', b''.join(lines))


def main():
    parser = argparse.ArgumentParser(description='SYNTHETIC run directories from figures that articles print')
    parser.add_argument('--benchctl', help='packs them as bundles, too')
    parser.add_argument('directory')
    options = parser.parse_args()
    for sweep, figures in read_figures().items():
        root = os.path.join(options.directory, sweep)
        write_sweep(root, sweep, figures)
        if options.benchctl:
            subprocess.run([options.benchctl, 'bundle', 'create', root, '-o', root + '.tar.zst'], check=True,
                           stdout=subprocess.DEVNULL)


if __name__ == '__main__':
    main()
