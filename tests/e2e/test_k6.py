#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The adapter of k6 in whole sweeps, with a program that stands in for k6 (fixtures/k6): options by version, summaries of
every shape, exit statuses, the stream, and what must not be kept. k6 itself is not run."""
import csv
import glob
import json
import os
import socket
import sys

from e2e import HERE, TOP, has, main, same

STAND_IN = os.path.join(HERE, 'fixtures', 'k6')

# name: what the script says to the stand-in
SCRIPTS = {
    'good': 'secret=hunter2',
    'crossed': 'exit=99',
    'threw': 'exit=107',
    'aborted': 'exit=108',
    'killed': 'exit=137',
    'nothing': 'throws',
    'no-summary': 'no_summary',
    'stale': 'stale',
    'dropped': 'dropped=100000',
    'swapped': 'swapped',
    'inconsistent': 'inconsistent',
}


def matrix(lab, names, more='', load=''):
    for name in names:
        lab.write('load/%s.js' % name, '// stand-in: duration=400ms vus=2 %s\nexport default function () {}\n' %
                  SCRIPTS.get(name, name.replace('_', ' ')))
    return '''benchctl: 1
name: k6
axes:
  how: [%s]
trials: 1
retry: 0
order: {mode: listed}
%sapp:
  image: %s
  build: {context: app}
  port: 8080
  ready: {http: /health, timeout: 20s}
load: {adapter: k6, script: 'load/${how}.js', duration: 600ms%s}
''' % (', '.join(names), more, lab.image('app'), load)


def env(version='1.5.0', **more):
    return dict(more, PATH=STAND_IN + os.pathsep + os.environ['PATH'], STAND_IN_VERSION=version)


def run(lab, out, names, code=0, version='1.5.0', load='', more='', environment=None):
    lab.write(out + '.yaml', matrix(lab, names, more, load))
    return lab.run(out + '.yaml', out, code=code, env=env(version, **(environment or {})))


def outcome(lab, how, expected, *reason):
    t = lab.trial('out', how)
    if t['outcome'] != expected:
        raise AssertionError('%s is %s (%s) instead of %s' % (how, t['outcome'], t['reason'], expected))
    has(t['reason'], *reason)
    return t


def the_sweep_runs(lab):
    run(lab, 'out', list(SCRIPTS), code=1)
    lab.nothing_left()


def what_was_measured(lab):
    t = outcome(lab, 'good', 'ok')
    l = t['load']
    assert l['requests'] > 10 and l['ok'] == l['requests'] and l['failed'] == 0 and l['dropped'] == 0, l
    p = l['latency_ms']
    assert 0 < p['min'] <= p['p50'] <= p['p75'] <= p['p90'] <= p['p95'] <= p['p99'] <= p['p999'] <= p['max'], p
    same(l['generator']['version'], '1.5.0')
    same(l['generator']['exit'], 0)
    assert abs(l['goodput_rps'] - l['rps']) < 0.01 * l['rps'], l  # by k6's own duration, not by our window
    assert l['model'] is None and l['corrected'] == 'no', l
    same(outcome(lab, 'swapped', 'ok')['load']['failed'], 0)


def the_stream_gives_seconds(lab):
    """What k6 streams becomes a row and a histogram per second; the lines themselves are kept only if asked for."""
    base = lab.path('out/trials/good/1/load/')
    rows = list(csv.DictReader(open(base + 'series.csv')))
    same(sum(int(r['requests']) for r in rows), lab.trial('out', 'good')['load']['requests'])
    assert os.path.getsize(base + 'histogram.hlog') > 0
    same([f for f in os.listdir(base) if f.startswith('stream')], [])
    run(lab, 'raw', ['good'], load=', raw: true')
    assert os.path.getsize(lab.path('raw/trials/good/1/load/stream.ndjson.zst')) > 0


def thresholds_keep_the_numbers(lab):
    t = outcome(lab, 'crossed', 'ok')
    assert t['load']['requests'] > 10, t['load']
    same(t['load']['generator']['exit'], 99)
    has(' '.join(t['notes']), "'k6' ended with exit status 99: thresholds were crossed")


def other_statuses_fail(lab):
    for how, status in (('threw', '107: the script failed'), ('aborted', '108: the script aborted the test'),
                        ('killed', '137: killed, perhaps for want of memory')):
        t = outcome(lab, how, 'invalid', "'k6' ended with exit status " + status)
        assert t['load'] is None, t['load']
        with open(lab.path('out/trials/%s/1/load/summary.json' % how)) as f:  # kept, but only as a file
            assert json.load(f)['metrics']['http_reqs']['count'] > 0


def what_is_no_result(lab):
    outcome(lab, 'nothing', 'invalid', 'nothing measured: no request was finished; errors: iterations_without_request ')
    outcome(lab, 'no-summary', 'invalid', "as summary: no file 'summary.json'")
    outcome(lab, 'stale', 'invalid', 'stale output')
    outcome(lab, 'inconsistent', 'invalid', 'inconsistent: 0 failed by the rate')


def dropped_iterations_are_no_load(lab):
    t = outcome(lab, 'dropped', 'invalid', 'load not delivered', '100000 of ')
    same(t['load']['dropped'], 100000)
    assert t['load']['latency_ms']['p99'] > 0, t['load']  # shown, with that mark


def secrets_are_not_kept(lab):
    text = lab.read('out/trials/good/1/load/summary.json')
    has(text, '"setup_data": "(redacted)"', '"http_reqs"')
    found = [f for f in glob.glob(lab.path('out/trials/**'), recursive=True)
             if os.path.isfile(f) and b'hunter2' in open(f, 'rb').read()]
    same(found, [])


def versions_get_their_flags(lab):
    """The stand-in ends with 255 on a flag that its version does not know."""
    port = socket.socket()
    port.bind(('127.0.0.1', 0))
    taken = 'localhost:%d' % port.getsockname()[1]
    for n, version in enumerate(('0.47.0', '1.0.0', '2.2.0', '3.0.0')):
        out = 'v%d' % n
        run(lab, out, ['good'], version=version, environment={'K6_ADDRESS': '' if version >= '2' else taken})
        l = lab.trial(out, 'good')['load']
        same(l['generator']['version'], version)
        assert l['requests'] > 10, l
    port.close()


def measured(lab, out):
    """Its load. That the stand-in cannot keep its users busy on a full machine is seen, and right: then it is invalid."""
    t = lab.trial(out, 'good')
    same(t['outcome'] in ('ok', 'invalid'), True, '%s: %s' % (t['outcome'], t['reason']))
    return t['load']


def the_matrix_may_replace_scenarios(lab):
    run(lab, 'vus', ['good'], code=None, load=", vus: 3, warmup: {duration: 300ms}, script_env: {A: b c}")
    l = measured(lab, 'vus')
    same(l['model'], 'closed')
    assert 500 < l['duration_ms'] < 3000, l
    run(lab, 'stages', ['good'], code=None, load=", stages: ['300ms:1', '300ms:2'], series: false")
    same(measured(lab, 'stages')['model'], 'closed')
    assert not os.path.exists(lab.path('stages/trials/good/1/load/stream.ndjson'))
    run(lab, 'count', ['good'], code=None, load=', iterations: 7, model: closed')
    same(measured(lab, 'count')['requests'], 7)
    r = lab.benchctl('check', 'count.yaml', '--set', 'load.vus=2', '--set', 'load.model=open', code=2)
    has(r.stderr, "vus and iterations replace the script's scenarios")
    r = lab.benchctl('check', 'count.yaml', '--set', 'load.script=null', code=2)
    has(r.stderr, 'k6 needs a script')


def one_word_changes_the_generator(lab):
    """Each has a section of its own; the matrices of examples/space are written so."""
    text = matrix(lab, ['good'])
    lab.write('two.yaml', text[:text.index('load: {adapter')] + """load:
  adapter: builtin
  adapters:
    builtin: {vus: 1, duration: 400ms, requests: [{path: /health, expect: 200}]}
    k6: {script: 'load/${how}.js', duration: 600ms}
""")
    lab.run('two.yaml', 'builtin', code=None, env=env())
    same(measured(lab, 'builtin')['generator']['name'], 'builtin')
    lab.run('two.yaml', 'other', '--set', 'load.adapter=k6', code=None, env=env())
    same(measured(lab, 'other')['generator']['name'], 'k6')
    lab.benchctl('rerun', '--dry-run', '--trust', lab.path('other.tar.zst'), env=env())
    for part in ('part16', 'part17', 'part19'):
        lab.benchctl('check', os.path.join(TOP, 'matrices', part + '.yaml'), '--set', 'load.adapter=k6',
                     '--set', 'load.adapters.k6.duration=30s')
    r = lab.benchctl('check', 'two.yaml', '--set', 'load.adapters.k66={vus: 1}', code=2)
    has(r.stderr, "unknown load adapter 'k66'", "'k6'")


def one_that_does_not_end_is_ended(lab):
    run(lab, 'deaf', ['deaf'], code=1, load=', timeout: 1s')
    t = lab.trial('deaf', 'deaf')
    same(t['outcome'], 'error')
    assert t['load'] is None and t['duration_ms'] < 20000, t
    lab.nothing_left()


if __name__ == '__main__':
    sys.exit(main([the_sweep_runs, what_was_measured, the_stream_gives_seconds, thresholds_keep_the_numbers,
                   other_statuses_fail, what_is_no_result, dropped_iterations_are_no_load, secrets_are_not_kept,
                   versions_get_their_flags, the_matrix_may_replace_scenarios, one_word_changes_the_generator,
                   one_that_does_not_end_is_ended]))
