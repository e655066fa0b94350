#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples/cancel as it is shipped: one application rolls back what its client has given up, the other one commits it,
and the checks tell them apart, to the row."""
import os
import shutil
import sys

from e2e import TOP, command, has, main, same, skip

EXAMPLE = os.path.join(TOP, 'examples', 'cancel')


def check(trial, name):
    return next(c for c in trial['checks'] if c['name'] == name)


def value(trial, name):
    c = check(trial, name)
    if c['value'] is None:
        raise AssertionError('%s has no value: %s' % (name, c['message']))
    return float(c['value'])


def the_example_tells_them_apart(lab):
    # a busy machine may keep the generator from its pace: then a trial is invalid, its counts are right all the same
    lab.dirs.append(lab.path('out'))
    r = command(lab.binary, 'run', os.path.join(EXAMPLE, 'cancel.yaml'), '--out', lab.path('out'), '--set', 'retry=0',
                check=False, env=lab.env(), timeout=200)
    same(r.returncode in (0, 1), True, r.stderr)
    lab.nothing_left()
    for n in (1, 2):
        rolled, kept = lab.trial('out', 'rollback', n), lab.trial('out', 'commit', n)
        for t in (rolled, kept):
            load, abandoned = t['load'], value(t, 'abandoned writes')
            same(load['ok'] + load['failed'], load['requests'], 'every request has its end')
            same(load['errors']['timeout'] > 3, True, 'time-outs')
            same(value(t, 'clients that gave up'), load['failed'], 'given up')
            same(value(t, 'abandoned writes by token'), abandoned, 'each token once')
            same(check(t, 'abandoned writes')['gated'], False, 'it is only recorded')
            same(value(t, 'answers without a row'), 0)
            # nothing is in the air any more, and the counters are exact
            d = t['database']
            same(d['rows_inserted'], load['requests'], 'every request wrote')
            same(d['commits'] + d['rollbacks'], load['requests'], 'every transaction has its end')
            same(d['idle_in_transaction'], 0)
        same(value(kept, 'abandoned writes'), kept['load']['errors']['timeout'], 'committed for nobody')
        same(kept['database']['rollbacks'], 0)
        # one that is slow by the machine's doing may be answered just as its client gives up
        same(value(rolled, 'abandoned writes') < 3, True, 'rolled back')
        same(rolled['database']['rollbacks'] + value(rolled, 'abandoned writes'), rolled['load']['errors']['timeout'])
    report = lab.benchctl('report', lab.path('out'), '--format', 'md').stdout
    has(report, 'abandoned writes')


def a_gate_fails_the_one_that_commits(lab):
    shutil.copytree(EXAMPLE, lab.path('gated'))
    text = lab.read('gated/cancel.yaml')
    ungated = '- {name: abandoned writes, sql: "select count(*) - ${load.ok} from survey"}'
    has(text, ungated)
    has(open(os.path.join(EXAMPLE, 'README.md')).read(), ungated[:-1] + ', expect: "== 0"}')
    lab.write('gated/cancel.yaml', text.replace(ungated, ungated[:-1] + ', expect: "== 0"}'))
    lab.run('gated/cancel.yaml', 'out2', '--filter', 'on_disconnect=commit', '--trials', '1', '--set', 'load.duration=4s',
            '--set', 'retry=0', code=1)
    t = lab.trial('out2', 'commit')
    same(check(t, 'abandoned writes')['passed'], False)
    if t['outcome'] == 'degraded':
        has(t['reason'], 'abandoned writes')
    lab.nothing_left()


def images_are_there(lab):
    for image in ('benchctl/postgres:15', 'benchctl/python:12'):
        if command('docker', 'image', 'inspect', image, check=False).returncode:
            lab.close()
            skip('no image %s: scripts/make-images makes it' % image)


if __name__ == '__main__':
    sys.exit(main([images_are_there, the_example_tells_them_apart, a_gate_fails_the_one_that_commits], images=()))
