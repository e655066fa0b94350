#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The matrix of the mock upstream as shipped, with short loads: faults of the server are in the figures, exactly those of the seed."""
from e2e import TOP, command, docker, main, same, skip

RATE, SECONDS = 200, 8


def the_image_is_there(lab):
    if not docker('images', '-q', 'benchctl/upstream:1'):
        skip('no image benchctl/upstream:1: scripts/make-images makes it')


def it_runs(lab):
    lab.out = lab.path('upstream')
    lab.dirs.append(lab.out)
    matrix = TOP + '/matrices/upstream.yaml'
    lab.benchctl('check', matrix)
    # On a busy machine a load is late, and the trial rightly invalid (exit status 1): its figures are there all the same.
    r = command(lab.binary, 'run', matrix, '--out', lab.out, '--set', 'load.phases.0.duration=%ds' % SECONDS,
                '--set', 'load.phases.0.rate=%d' % RATE, '--set', 'axes.server.2.stall=3s/1s', '--set', 'retry=0', check=False,
                cwd=lab.dir, env=lab.env(), timeout=200)
    print(r.stderr)
    same(r.returncode in (0, 1), True, 'exit status %d' % r.returncode)
    lab.nothing_left()


def load(lab, scenario):
    got = lab.trial(lab.out, scenario)['load']
    same(got['requests'] + got['dropped'], RATE * SECONDS, scenario)
    return got


def a_calm_server(lab):
    got = load(lab, 'calm')
    same([got['failed'], sum(got['errors'].values())], [0, 0])


def a_failing_server(lab):
    got = load(lab, 'failing')
    same(got['failed'], got['errors']['status'] + got['errors']['reset'])
    for kind, share in (('status', 0.02), ('reset', 0.03)):
        n = got['requests']
        away = 4 * (n * share * (1 - share)) ** 0.5
        same(abs(got['errors'][kind] - n * share) < away, True, '%s: %d of %d' % (kind, got['errors'][kind], n))


def a_stalling_server(lab):
    """At least two stalls of 1 s lie within the load: by arithmetic p99 is 0.96 s or more, and nothing makes it less."""
    got = load(lab, 'stalling')
    same(got['failed'], 0)
    same([got['model'], got['corrected']], ['open', 'yes'])
    same(got['latency_ms']['p99'] > 900, True, 'p99 %.0f ms' % got['latency_ms']['p99'])
    same(got['latency_ms']['max'] > 950, True, 'max %.0f ms' % got['latency_ms']['max'])


if __name__ == '__main__':
    raise SystemExit(main([the_image_is_there, it_runs, a_calm_server, a_failing_server, a_stalling_server], images=()))
