#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A canary through a sweep: where it stands, that an interruption changes nothing of it, and that a host that
becomes slower for a while marks the trials of that while."""
import csv
import json
import os
import signal
import sys

from e2e import has, main, same, wait_for

FAST, SLOW = 4, 40  # ms for each request: what anything else adds is little

MATRIX = '''benchctl: 1
name: canary
axes: {x: [a, b]}
trials: 3
order: {mode: interleaved, seed: 5}
cooldown: {time: 50ms, sockets: true, load: 1000, temperature: +100C, at_most: 300ms}
retry: 0
canary:
  every: 2
  scenario: b
  band: 50%%
  set: {load: {adapter: builtin, path: /, vus: 1, duration: 700ms}}
app:
  image: '%s'
  build: {context: app}
  command: ["pace=/pace/ms", "say=${x}"]
  binds: ["%s:/pace:ro"]
  port: 8080
  ready: {http: /health}
  memory: 64m
sample: {floor: 0s}
load: {adapter: idle, duration: 300ms}
'''


def pace(lab, ms):
    lab.write('pace/ms.new', '%d\n' % ms)
    os.rename(lab.path('pace/ms.new'), lab.path('pace/ms'))  # whoever reads sees one or the other


def planned(lab, out=None):
    """[(scenario, trial)] in order."""
    text = lab.read(out + '/plan.json') if out else lab.benchctl('plan', 'm.yaml', '--format', 'json').stdout
    return [(t['scenario'], t['trial']) for t in json.loads(text)['order']]


def sealed(lab, out):
    """The same of what the journal has as sealed."""
    lines = [json.loads(line) for line in lab.read(out + '/journal.ndjson').splitlines()]
    return [(r['scenario'], r['trial']) for r in lines if r['event'] == 'trial sealed']


def in_the_load_of(lab, out, scenario, n):
    def there():
        try:
            return '"load begin"' in lab.read('%s/trials/%s/%d/events.ndjson' % (out, scenario, n))
        except OSError:
            return False
    wait_for('the load of %s #%d' % (scenario, n), there, 90)


def the_plan_has_it_in_order(lab):
    pace(lab, FAST)
    lab.write('m.yaml', MATRIX % (lab.image('app'), lab.path('pace')))
    order = planned(lab)
    same([i for i, t in enumerate(order) if t[0] == 'canary'], [0, 3, 6, 9], 'places of the canaries')
    same(len(order), 10)
    same(sorted(t for t in order if t[0] != 'canary'), [(x, n) for x in 'ab' for n in (1, 2, 3)])
    same(lab.benchctl('plan', 'm.yaml', '--format', 'ids').stdout.split(), ['a', 'b', 'canary'])
    has(lab.benchctl('plan', 'm.yaml').stdout, 'and 4 canaries of b')


def an_interruption_changes_no_order(lab):
    process = lab.start('run', 'm.yaml', '--out', lab.path('out'))
    in_the_load_of(lab, 'out', 'canary', 2)
    process.send_signal(signal.SIGINT)
    same(process.wait(60), 130, 'exit status\n' + lab.read('background.log'))
    same(sealed(lab, 'out'), planned(lab)[:3], 'sealed before the interruption')
    lab.before = lab.sealed('out')
    lab.nothing_left()


def a_slow_while(lab):
    """The host, as far as the application can tell, is slow while the third canary runs."""
    order = planned(lab)
    before, after = order[5], order[6]
    same(after, ('canary', 3))
    process = lab.start('resume', lab.path('out'))
    in_the_load_of(lab, 'out', *before)  # its application has started: the next one is slow
    pace(lab, SLOW)
    in_the_load_of(lab, 'out', *after)
    pace(lab, FAST)
    same(process.wait(120), 0, 'exit status\n' + lab.read('background.log'))
    same(sealed(lab, 'out'), order, 'order of the whole sweep')
    for name, content in lab.before.items():
        same(lab.sealed('out')[name], content, name)
    has(lab.read('background.log'), 'canary 3/4', '3 kept from before')
    lab.nothing_left()


def the_trials_around_it_are_marked(lab):
    report = json.loads(lab.benchctl('report', lab.path('out'), '--format', 'json').stdout)
    canary = report['canary']
    same([c['good'] for c in canary['canaries']], [True, True, False, True], 'canaries within their band')
    same([c['after'] for c in canary['canaries']], [0, 2, 4, 6])
    order = [t for t in planned(lab) if t[0] != 'canary']
    marked = [(t['scenario'], t['trial']) for s in report['scenarios'] for t in s['trials']
              if any(v['id'] == 'host-drift' for v in t['validity'])]
    same(sorted(marked), sorted(order[2:6]), 'marked trials')
    same(canary['marked'], 4)
    drift = [v for v in report['validity_of_sweep'] if v['id'] == 'host-drift']
    same([v['verdict'] for v in drift], ['WARN'])
    has(drift[0]['message'], 'canary 3 (after 4 trials) -')
    text = lab.benchctl('report', lab.path('out')).stdout
    has(text, 'Canary', 'b: 4 canaries, every 2 trials', 'V13 host-drift')
    for name in ('report.html', 'report.md'):
        has(lab.read('out/' + name), 'host-drift', 'canary 3')
    rows = {r['scenario']: r for r in csv.DictReader(lab.read('out/summary.csv').splitlines())}
    same(sorted(rows), ['a', 'b'])
    same(sum(int(r['host_drift_trials']) for r in rows.values()), 4)


def it_stands_apart(lab):
    trial = lab.trial('out', 'canary', 2)
    same([trial['canary'], trial['axes'], trial['outcome']], [True, {'x': 'b'}, 'ok'])
    same(lab.trial('out', 'b', 1)['canary'], False)
    report = json.loads(lab.benchctl('report', lab.path('out'), '--format', 'json').stdout)
    same([(s['scenario'], len(s['trials'])) for s in report['scenarios']], [('a', 3), ('b', 3)])
    status = json.loads(lab.benchctl('status', lab.path('out'), '--format', 'json').stdout)
    same([status['sealed'], status['trials'], status['canaries_sealed'], status['canaries']], [6, 6, 4, 4])
    lab.benchctl('bundle', 'verify', lab.path('out.tar.zst'))
    bundled = json.loads(lab.benchctl('report', lab.path('out.tar.zst'), '--format', 'json').stdout)
    same(bundled['canary'], report['canary'])


def cooldowns_are_recorded(lab):
    waited = [lab.trial('out', *t)['cooldown_ms'] for t in planned(lab)]
    same(waited[0], None, 'before the first trial')
    same(waited[3], None, 'before the first trial after the interruption')
    assert all(w >= 50 for i, w in enumerate(waited) if i not in (0, 3)), waited


def a_budget_ends_with_a_canary(lab):
    lab.write('m.yaml', lab.read('m.yaml').replace('every: 2', 'every: 50'))
    r = lab.run('m.yaml', 'short', '--trials', '2', '--budget', '1ms')
    has(r.stderr, 'shorter than a round', 'the budget is spent after 2 of 4 trials')
    order = planned(lab, 'short')
    same(sealed(lab, 'short'), order[:3] + [('canary', 2)])
    lab.benchctl('resume', lab.path('short'))
    same(sorted(sealed(lab, 'short')), sorted(order))
    lab.nothing_left()


if __name__ == '__main__':
    sys.exit(main([
        the_plan_has_it_in_order,
        an_interruption_changes_no_order,
        a_slow_while,
        the_trials_around_it_are_marked,
        it_stands_apart,
        cooldowns_are_recorded,
        a_budget_ends_with_a_canary,
    ]))
