#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples/articles: synthetic sweeps of what four articles print. Reports give the articles' tables, with what they leave open as not
measured, and no verdict; needs no engine.

usage: test_articles.py BENCHCTL [--update]     --update writes into examples/articles/README.md what its commands print now
"""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from e2e import TOP, has, same

sys.path.insert(0, TOP + '/tests/golden')
from golden import run  # noqa: E402

BINARY = os.path.abspath(sys.argv[1])
WORK = tempfile.mkdtemp(prefix='benchctl-articles-')
ARTICLES = TOP + '/examples/articles'
RUNS = WORK + '/runs/articles'
SWEEPS = ('part16', 'part17', 'part19', 'rest-vs-grpc', 'rest-vs-grpc-start')
FORMATS = ('table', 'md', 'csv', 'json', 'html')
MIB = 1 << 20
OF_THE_HOST = 'Did the host become faster or slower?'  # what a rule of validity asks


def make(directory, *options):
    subprocess.run([sys.executable, ARTICLES + '/make.py', *options, directory], check=True)


def benchctl(*argv):
    done = subprocess.run([BINARY, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, NO_COLOR='1'), check=False)
    same((done.returncode, done.stderr), (0, ''), ' '.join(argv))
    return done.stdout


def report(sweep, *options):
    return benchctl('report', RUNS + '/' + sweep, *options)


def squeezed(text):
    return '\n'.join(' '.join(line.split()) for line in text.split('\n'))


def printed_figures():
    with open(ARTICLES + '/figures.csv', encoding='utf-8', newline='') as f:
        return list(csv.DictReader(f))


def files(root):
    found = {}
    for base, _, names in os.walk(root):
        for name in names:
            with open(os.path.join(base, name), 'rb') as f:
                found[os.path.relpath(os.path.join(base, name), root)] = f.read()
    return found


# --- what the script makes ---

def the_same_bytes():
    make(WORK + '/again', '--benchctl', BINARY)
    again, first = files(WORK + '/again'), files(RUNS)
    same(sorted(again), sorted(first), 'files of a second run of the script')
    same([n for n in first if first[n] != again[n]], [], 'files that differ in a second run')
    same(len([n for n in first if n.endswith('.tar.zst')]), len(SWEEPS), 'bundles')


def bundles_are_whole_and_report_the_same():
    for sweep in SWEEPS:
        benchctl('bundle', 'verify', RUNS + '/' + sweep + '.tar.zst')
        for options in ([], ['--format', 'csv'], ['--format', 'md']):
            same(report(sweep + '.tar.zst', *options), report(sweep, *options), sweep + ' as a bundle')


def the_matrix_is_that_of_the_plan():
    for sweep in SWEEPS:
        with open(RUNS + '/' + sweep + '/plan.json', encoding='utf-8') as f:
            planned = [s['id'] for s in json.load(f)['scenarios']]
        matrix = RUNS + '/' + sweep + '/matrix.yaml'
        benchctl('check', matrix)
        same(sorted(benchctl('plan', matrix, '--format', 'ids').split()), sorted(planned), sweep + ': scenarios of matrix.yaml')


def it_says_that_it_is_synthetic():
    for sweep in SWEEPS:
        for f in ('table', 'md', 'html'):
            text = report(sweep, '--format', f)
            has(text, 'SYNTHETIC, figures as printed: ', 'host: synthetic, no machine measured this', 'nothing was run or measured (all ')
        sweep_json = json.loads(report(sweep, '--format', 'json'))['sweep']
        same(sweep_json['host'], {'name': 'synthetic, no machine measured this'}, sweep)


# --- that nothing is in it but what is printed ---

def numbers_in(value, path=''):
    """{dotted name: number} of a record, without what is null."""
    found = {}
    if isinstance(value, dict):
        for key, item in value.items():
            found.update(numbers_in(item, path + '.' + key if path else key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            key = item.get('name', str(i)) if isinstance(item, dict) else str(i)
            found.update(numbers_in(item, path + '.' + key))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        found[path] = value
    return found


def as_number(name, printed):
    value = float(re.sub(r'[^0-9.]', '', printed))
    if printed.endswith('%'):
        value /= 100
    if name.startswith('build.') and printed.endswith('s') or re.search(r'(^|_)ms\b', name) and re.search(r'[0-9]s$', printed):
        value *= 1000
    return value * MIB if printed.endswith(('MB', 'Mo')) else value


def expected_numbers(rows):
    names = {'req/s': 'load.rps', 'success': 'load.error_rate'}
    found = {}
    for row in rows:
        name, printed = row['name'], row['printed']
        if name in ('note', 'outcome', 'reason') or ': ' in name:
            continue
        value = as_number(name, printed)
        if name == 'success':
            value = 1 - value
        if name.startswith('build.'):
            _, step, *count = name.split('.')
            name = 'build.steps.%s.%s' % (step, 'counts.' + count[0] if count else 'duration_ms')
            if not count:
                found['build.steps.%s.exit_code' % step] = 0
        found[names.get(name, name)] = round(value, 6)
    if found.get('load.error_rate') == 0 and 'load.rps' in found:
        found['load.goodput_rps'] = found['load.rps']
    return found


def only_what_is_printed():
    rows = printed_figures()
    same({r['sweep'] for r in rows}, set(SWEEPS), 'sweeps of figures.csv')
    for sweep in SWEEPS:
        by_scenario = {}
        for row in rows:
            if row['sweep'] == sweep and row['printed'] != 'X':
                by_scenario.setdefault(row['scenario'], []).append(row)
        trials = {t['scenario']: t for s in json.loads(report(sweep, '--format', 'json'))['scenarios'] for t in s['trials']}
        same(sorted(trials), sorted(by_scenario), sweep + ': scenarios with a trial')
        for scenario, of in by_scenario.items():
            ignored = ('trial', 'attempt', 'load.generator.exit')
            numbers = {k: round(v, 6) for k, v in numbers_in(trials[scenario]).items() if k not in ignored}
            same(numbers, expected_numbers(of), '%s %s: numbers of the record' % (sweep, scenario))


def every_figure_has_its_source():
    for row in printed_figures():
        if not row['source'].startswith(('text', 'title', 'table', 'heading', 'opening')) or not row['printed']:
            raise AssertionError('no source: %r' % row)


# --- the articles' tables ---

def medians(sweep, *names):
    """{scenario: {name: the CSV's figure or None}}"""
    found = {}
    for row in csv.DictReader(io.StringIO(report(sweep, '--format', 'csv', '--figures', ','.join(names)))):
        found[row['scenario']] = {n: float(row[n]) if row[n] else None for n in names}
    return found


def part17_is_115():
    rps, p50, p99, rss = names = ('load.rps', 'load.latency_ms.p50', 'load.latency_ms.p99', 'app.memory_bytes.used_avg')
    figures = {s: f for s, f in medians('part17', *names).items() if s.endswith('/200-vus')}
    slow = {s for s in figures if s.startswith('imperative/native/')}
    same({figures[s][rps] for s in slow}, {106}, 'imperative native')
    same({f[rps] for s, f in figures.items() if s not in slow}, {115, 115.2, 115.1, 114.5}, 'all others')
    same({f[p50] for s, f in figures.items() if s not in slow}, {790}, 'median of all others')
    same(figures['imperative/native/not-printed/200-vus'], {rps: 106, p50: None, p99: 6392, rss: 95 * MIB}, 'imperative native')
    same(figures['reactive/native/not-printed/200-vus'], {rps: 115, p50: 790, p99: 4136, rss: 121 * MIB}, 'reactive native')
    text = squeezed(report('part17', '--rows', 'stack,runtime,memory', '--figures', 'rps,p50,p99,used_avg,error_rate'))
    has(text, 'load 200-vus\n', 'reactive native not-printed 1 ok 115 790 4136 121 0%\n', 'reactive jvm 512m 1 ok 115 790 4100 – 0%\n',
        'imperative native unlimited 1 ok 106 – – – 0%\n', 'imperative native not-printed 1 ok 106 – 6392 95.0 0%\n',
        'load 500-vus\n', 'reactive not-printed not-printed 1 ok – – – – 0%\n', '–: not measured.')
    has(squeezed(report('part17')), 'stack runtime memory load CPU average CPU peak', 'reactive jvm 512m 200-vus 2-4% under 9%',
        'printed as a difference only: a median 170ms lower', 'printed as a difference only: 25% more memory than imperative JVM')


def part16_under_memory_limits():
    rps, errors = 'load.rps', 'load.error_rate'
    figures = medians('part16', rps, errors)
    for runtime, reactive, imperative in (('not-printed/unlimited', (264, 0), (261, 0)), ('native/128m', (177, None), (252, 0)),
                                          ('jvm/256m', (129, .55), (232, 0)), ('virtual-threads/not-printed', (None, .22), (None, 0))):
        for stack, wanted in (('reactive', reactive), ('imperative', imperative)):
            same(figures[stack + '/' + runtime], {rps: wanted[0], errors: wanted[1]}, stack + ' ' + runtime)
    asked = 'rps,error_rate,metrics.gc_pauses.increase,metrics.gc_pause_avg_ms.avg,metrics.pool_pending_max.max'
    text = squeezed(report('part16', '--cols', 'stack', '--figures', asked))
    has(text, 'native 128m 177 (degraded) 252\n', 'jvm 256m 129 (degraded) 232\n', 'not-printed unlimited 264 261\n',
        'jvm 256m 55.0% (degraded) 0%\n', 'virtual-threads not-printed 22.0% (degraded) 0%\n', 'native 128m – (degraded) 0%\n',
        'jvm 256m 2281 (degraded) 6085\n', 'jvm 256m 7.20 (degraded) 22.0\n', 'jvm 256m 1894 (degraded) 62\n')
    by_memory = squeezed(report('part16', '--rows', 'memory', '--cols', 'stack', '--figures', 'rps'))
    has(by_memory, 'runtime native\nmemory reactive imperative\n128m 177 (degraded) 252\n256m not measured not measured\n')
    has(report('part16'), 'reactive/jvm/256m: degraded: OutOfMemoryError on repeat', 'java-heap (app): OutOfMemoryError on repeat',
        'non-heap memory is printed as a difference only: ~15 MB more than imperative')


def part19_without_names():
    text = squeezed(report('part19', '--rows', 'row', '--cols', 'stack', '--figures', 'rps,error_rate'))
    has(text, 'row jdbc r2dbc\nfirst 2492 –\nsecond 2495 –\nthird 2508 –\n', 'row jdbc r2dbc\nfirst 0% 0%\n')
    has(report('part19'), 'a 0.7% spread on JDBC is', 'a 0.9% spread on R2DBC')


def cells_of_the_article():
    """{(service, load): {figure: (micronaut, springboot)}} as printed, X included."""
    found = {}
    for row in printed_figures():
        if row['sweep'] == 'rest-vs-grpc' and row['source'].startswith('table'):
            _, service, load, framework = row['scenario'].split('/')
            found.setdefault((service, load), {}).setdefault(row['name'], {})[framework] = row['printed']
    return found


def rest_and_grpc_cell_by_cell():
    """Each cell of the printed tables is in the tables of the report; an X is a hole that is seen."""
    cells = cells_of_the_article()
    same(len(cells), 12, 'printed tables')
    names = [n for n in next(iter(cells.values())) if n != 'success'] + ['load.error_rate']
    tables = report('rest-vs-grpc', '--rows', 'load', '--cols', 'framework', '--figures', ','.join(names), '--format', 'md')
    sections = {}
    for part in tables.split('\n## ')[1:]:
        heading, _, body = part.partition('\n')
        sections[heading] = {r[0]: r[1:] for r in ([c.strip() for c in line.split('|')[1:-1]] for line in body.split('\n') if line.startswith('| '))}
    by_service = {s: [t for h, t in sections.items() if 'service ' + s in h] for s in ('users', 'availability')}
    same([len(t) for t in by_service.values()], [len(names)] * 2, 'tables of the report')
    holes = 0
    for (service, load), of in cells.items():
        for figure in of:
            for column, framework in enumerate(('micronaut', 'springboot')):
                table = by_service[service][names.index('load.error_rate' if figure == 'success' else figure)]
                shown = table[load][column]
                holes += shown == 'not measured'
                same(shown == 'not measured', of[figure][framework] == 'X', '%s %s %s %s' % (service, load, figure, framework))
                if shown != 'not measured':
                    near(shown, figure, of[figure][framework])
    same(holes, 100, 'cells that are X')


def near(shown, figure, printed):
    """Reports write three digits."""
    if figure == 'success':
        same((shown, printed), ('0%', '100%'), figure)
        return
    value = as_number(figure, printed) / (MIB if figure.startswith('app.memory') else 1)
    if not abs(float(shown) - value) <= abs(value) * 0.005:
        raise AssertionError('%s: %s is not %s' % (figure, shown, printed))


def rest_and_grpc_as_printed():
    asked = 'requests,error_rate,p50,p90,p95,cpu_cores.avg,used_avg'
    text = squeezed(report('rest-vs-grpc', '--rows', 'figure', '--cols', 'framework', '--figures', asked))
    has(text, 'service users, load 1000-vus-wait-1s\nfigure micronaut springboot\nn 1 1\noutcome ok ok\nrequests 228008 219164\nerrors 0% 0%\n'
        'p50 ms 4.47 5.11\np90 ms 6.78 27.2\np95 ms 7.77 59.0\nCPU cores 0.570 0.830\nused avg MiB 262 387\n',
        'service users, load 400-vus-no-delay\nfigure micronaut springboot\nn 1 not measured\noutcome ok not measured\n'
        'requests 235004 not measured\n')
    settings = squeezed(report('rest-vs-grpc', '--rows', 'setting', '--cols', 'framework', '--figures', 'requests'))
    has(settings, 'one-machine 45584 45628\ntwo-machines-one-instance not measured not measured\n'
        'two-machines-two-instances not measured not measured\n')


def builds_and_starts():
    asked = 'build.compile.duration_ms,build.recompile.duration_ms,build.test.duration_ms,build.test.counts.tests,startup_ms,ready_ms'
    text = squeezed(report('rest-vs-grpc-start', '--rows', 'machine,framework,service', '--figures', asked))
    has(text, 'developer micronaut users 1 ok 7.00 4.00 19.0 58 3300 –\n', 'developer micronaut availability 1 ok 8.00 5.00 20.0 84 3400 –\n',
        'developer springboot users 1 ok 2.00 2.00 26.0 54 12400 –\n', 'developer springboot availability 1 ok 2.00 2.00 35.0 62 12700 –\n',
        'production micronaut users 1 ok – – – – 3300 8000\n', 'production micronaut availability 1 ok – – – – 3400 8000\n',
        'production springboot users 1 ok – – – – 6800 13000\n', 'production springboot availability 1 ok – – – – 6900 12000\n')


# --- words ---

def no_verdicts_on_one_trial():
    layouts = {'part16': ['--cols', 'stack'], 'part17': ['--cols', 'load'], 'part19': ['--cols', 'stack'],
               'rest-vs-grpc': ['--rows', 'load', '--cols', 'framework'], 'rest-vs-grpc-start': ['--cols', 'framework']}
    for sweep in SWEEPS:
        for options in ([], ['--validity'], layouts[sweep]):
            for f in FORMATS:
                text = report(sweep, '--format', f, *options).replace(OF_THE_HOST, '')
                found = re.search(r'\b(faster|slower|quicker|wins|winner|beats|outperform\w*)\b', text, re.I)
                if found:
                    raise AssertionError('%s as %s: %r with one trial each' % (sweep, f, found.group(0)))
        has(report(sweep), 'n = 1 trial per scenario: too few to call a difference real')


def the_page_is_what_is_printed():
    """README.md: blocks of commands with their output, run where runs/articles is."""
    path = ARTICLES + '/README.md'
    with open(path, encoding='utf-8') as f:
        text = f.read()

    def again(block):
        commands = [line[2:] for line in block.group(1).split('\n') if line.startswith('$ ')]
        return '```console\n' + '\n'.join(run(BINARY, c, WORK) for c in commands) + '```\n'

    now = re.sub(r'```console\n(.*?)```\n', again, text, flags=re.S)
    if '--update' in sys.argv:
        with open(path, 'w', encoding='utf-8') as f:
            f.write(now)
    elif now != text or text.count('```console\n$ benchctl') < 6:
        for then, this in zip(text.split('\n'), now.split('\n')):
            if then != this:
                raise AssertionError('README.md: %r is now %r' % (then, this))
        raise AssertionError('README.md is not what its commands print')


def main():
    try:
        os.makedirs(os.path.dirname(RUNS))
        os.symlink(TOP + '/examples', WORK + '/examples')
        make(RUNS, '--benchctl', BINARY)
        for test in (the_same_bytes, bundles_are_whole_and_report_the_same, the_matrix_is_that_of_the_plan, it_says_that_it_is_synthetic,
                     only_what_is_printed, every_figure_has_its_source, part17_is_115, part16_under_memory_limits, part19_without_names,
                     rest_and_grpc_cell_by_cell, rest_and_grpc_as_printed, builds_and_starts, no_verdicts_on_one_trial,
                     the_page_is_what_is_printed):
            test()
            print('ok  ' + test.__name__, flush=True)
    except AssertionError as e:
        print('FAILED %s: %s' % (test.__name__, e), flush=True)
        return 1
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
