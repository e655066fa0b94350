#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A real engine is stopped, killed and started again in the middle of a sweep, and a container is paused by somebody:
the sweep is complete afterwards, with the exit code that is documented, and nothing is left in the engine.

It is a second engine, our own, and the machine's is left alone. Skipped where there can be none.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from e2e import SKIPPED, has, same, wait_for
from second_engine import SecondEngine, Unavailable, build

MATRIX = '''benchctl: 1
name: away
axes: {x: [%(axis)s]}
trials: 1
order: {mode: listed}
retry: 0
cooldown: %(cooldown)s
app: {image: 'app:1', port: 8080, env: {X: '${x}'}, ready: {http: /health}, memory: 64m}
services:
  mock: {image: 'app:1', scope: sweep, port: 9090, env: {PORT: "9090"}, ready: {tcp: true}}
load: {adapter: idle, duration: %(load)s}
'''


class Sweep:
    """One sweep in the background, inside of the engine's namespace."""

    def __init__(self, second, top, name, axis='ab', load='1s', cooldown='0ms'):
        self.second, self.axis, self.out = second, axis, os.path.join(top, name)
        with open(self.out + '.yaml', 'w') as f:
            f.write(MATRIX % {'axis': ', '.join(axis), 'load': load, 'cooldown': cooldown})
        self.log = self.out + '.log'
        with open(self.log, 'w') as log:
            self.process = second.popen([sys.argv[1], 'run', self.out + '.yaml', '--out', self.out], stdout=log,
                                        stderr=log, cwd=top)

    def events(self, scenario):
        try:
            with open('%s/trials/%s/1/events.ndjson' % (self.out, scenario)) as f:
                return [json.loads(line)['event'] for line in f]
        except (OSError, ValueError):
            return []

    def text(self):
        with open(self.log) as f:
            return f.read()

    def in_the_load_of(self, scenario):
        wait_for('the load of ' + scenario, lambda: 'load begin' in self.events(scenario) or self.ended(), 60)

    def ended(self):
        if self.process.poll() is not None:
            raise AssertionError('ended too early\n' + self.text())
        return False

    def end(self, code):
        same(self.process.wait(120), code, 'exit status\n' + self.text())

    def trial(self, scenario, n='1'):
        with open('%s/trials/%s/%s/trial.json' % (self.out, scenario, n)) as f:
            return json.load(f)

    def complete(self):
        for x in self.axis:
            same(self.trial(x)['outcome'], 'ok', x)
        with open(self.out + '/sweep.json') as f:
            assert json.load(f)['complete']
        same(self.second.docker('ps', '-aq'), '', 'containers')
        same(self.second.docker('network', 'ls', '-q', '--filter', 'label=org.benchctl.run'), '', 'networks')


def stopped_in_a_load(second, top):
    sweep = Sweep(second, top, 'load', axis='abc')
    sweep.in_the_load_of('b')
    second.stop()
    second.start()
    sweep.end(0)
    sweep.complete()
    assert sweep.trial('b')['attempt'] > 1, 'the lost attempt counts'
    # noticed by a call that is not answered, or, when it comes back before the next one, by its event stream
    assert 'the engine does not answer any more' in sweep.text() or 'event stream was interrupted' in sweep.text(), sweep.text()
    has(sweep.text(), 'the engine was restarted during the trial', 'once more in')


def killed_in_a_load(second, top):
    sweep = Sweep(second, top, 'killed', axis='a')
    sweep.in_the_load_of('a')
    second.kill()
    second.start()
    sweep.end(0)
    sweep.complete()
    assert sweep.trial('a')['attempt'] > 1, 'the lost attempt counts'


def restarted_between_trials(second, top):
    sweep = Sweep(second, top, 'between', load='200ms', cooldown='1s')
    wait_for('the first trial', lambda: os.path.exists(sweep.out + '/trials/a/1/trial.json') or sweep.ended(), 60)
    second.stop()
    second.start()
    sweep.end(0)
    sweep.complete()
    same(sweep.trial('b')['attempt'], 1, 'no attempt is lost to it')
    has(sweep.text(), 'everything is started afresh')


def paused_in_a_load(second, top):
    sweep = Sweep(second, top, 'paused')
    sweep.in_the_load_of('a')
    app = second.docker('ps', '-q', '--filter', 'label=org.benchctl.role=app')
    second.docker('pause', app)
    sweep.end(1)
    trial = sweep.trial('a')
    same(trial['outcome'], 'invalid')
    has(trial['reason'], "somebody else touched 'app' during the trial: pause")
    same(sweep.trial('b')['outcome'], 'ok')
    same(second.docker('ps', '-aq'), '', 'containers')


def main():
    if len(sys.argv) != 2:
        sys.exit('usage: %s BENCHCTL' % sys.argv[0])
    sys.argv[1] = os.path.abspath(sys.argv[1])
    top = tempfile.mkdtemp(prefix='benchctl-e2e-')
    try:
        with SecondEngine() as second:
            build(second, 'app:1')
            for test in (stopped_in_a_load, killed_in_a_load, restarted_between_trials, paused_in_a_load):
                begin = time.monotonic()
                test(second, top)
                print('ok  %-50s %5.1f s' % (test.__name__, time.monotonic() - begin), flush=True)
    except Unavailable as e:
        print('skipped:', e)
        return SKIPPED
    except (AssertionError, subprocess.TimeoutExpired) as e:
        print('FAILED: %s' % e, flush=True)
        return 1
    finally:
        shutil.rmtree(top, ignore_errors=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
