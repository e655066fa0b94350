#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What measuring costs: benchctl while it samples many containers, and the engine's daemons meanwhile.

usage: sampling_cost.py BENCHCTL [--containers 20] [--hz 10] [--seconds 10] [--rounds 3]

In turns: the containers run and nobody looks, and a trial of as many containers with a load that does nothing. CPU time of the
daemons is that of all their threads by the kernel's own account, within the measured window of the trial or an equal time.
Ends with 1 when benchctl used more than 2 % of a core, or the daemons clearly more than when nobody looked.
"""
import argparse
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
import e2e  # noqa: E402

DAEMONS = ('dockerd', 'containerd', 'containerd-shim', 'docker-proxy')
# of what others ask of a shared engine meanwhile: one inspect costs about half a millisecond
DAEMONS_MORE = 2.0
DAEMONS_LEAST_MS = 10.0


def daemons_ns():
    """CPU time so far of every thread of the engine's daemons."""
    total = {}
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/comm' % pid) as f:
                if not f.read().strip().startswith(DAEMONS):
                    continue
            for tid in os.listdir('/proc/%s/task' % pid):
                with open('/proc/%s/task/%s/schedstat' % (pid, tid)) as f:
                    total[tid] = int(f.read().split()[0])
        except OSError:
            continue
    return total


def used_ms(before, after):
    return sum(ns - before.get(tid, 0) for tid, ns in after.items()) / 1e6


def nobody_looks(lab, image, a):
    ids = [lab.container('bench-%s-%d' % (lab.tag, i), image, 'anon=1') for i in range(a.containers)]
    time.sleep(3)  # what starting them left behind
    before = daemons_ns()
    time.sleep(a.seconds)
    used = used_ms(before, daemons_ns())
    e2e.docker('rm', '-f', *ids)
    return used / a.seconds


def window(lab, out, event, process):
    """Waits for the event of the trial."""
    path = os.path.join(lab.path(out), 'trials', 'a', '1', 'events.ndjson')
    while process.poll() is None:
        try:
            with open(path) as f:
                if any('"%s"' % event in line for line in f):
                    return True
        except OSError:
            pass
        time.sleep(0.02)
    return False


def a_trial(lab, image, a, n):
    """Of one application and services, with a window before which everything has come to rest (a warm-up)."""
    services = ''.join("  s%d: {image: '%s', command: ['anon=1']}\n" % (i, image) for i in range(1, a.containers))
    lab.write('m.yaml', "benchctl: 1\nname: cost\ntrials: 1\nhost: {max_load: 1000}\naxes: {x: [a]}\n"
              "app: {image: '%s', command: ['anon=1'], ready: {log: up}}\nservices:\n%s"
              "load: {adapter: idle, warmup: {duration: 3s}, duration: %gs}\nsample: {engine: %gms, host: 1s}\n" %
              (image, services, a.seconds, 1000 / a.hz))
    out = 'out%d' % n
    process = lab.start('run', 'm.yaml', '--out', lab.path(out))
    assert window(lab, out, 'load begin', process), lab.read('background.log')
    before = daemons_ns()
    assert window(lab, out, 'load end', process), lab.read('background.log')
    used = used_ms(before, daemons_ns())
    process.wait()
    t = lab.trial(out, 'a')
    e2e.same(1 + len(t['services']), a.containers, 'containers')
    return used / a.seconds, 100 * t['host']['benchctl_cpu_cores'], t['host']['benchctl_rss_bytes'], t['app']['samples']


def spread(values, unit):
    return '%.2f (%.2f-%.2f) %s' % (statistics.median(values), min(values), max(values), unit)


def measure(lab, a):
    lab.compile('eater')
    image = lab.image('eater')
    e2e.docker('build', '-q', '-t', image, lab.path('eater'))
    idle, looked, own, rss, samples = [], [], [], 0, 0
    for n in range(a.rounds):
        idle.append(nobody_looks(lab, image, a))
        more, cpu, rss, samples = a_trial(lab, image, a, n)
        looked.append(more)
        own.append(cpu)
    print('%d containers, %g samples a second each, %g s, %d rounds; load average %.1f' %
          (a.containers, a.hz, a.seconds, a.rounds, os.getloadavg()[0]))
    print('benchctl: %s of a core, %.1f MiB resident, %g samples of the application' % (spread(own, '%'), rss / 2**20, samples))
    print('daemons, nobody looks:   %s of CPU a second' % spread(idle, 'ms'))
    print('daemons, while measured: %s of CPU a second' % spread(looked, 'ms'))
    too_much = statistics.median(own) >= 2 or samples < 0.9 * a.hz * a.seconds
    return too_much or statistics.median(looked) > DAEMONS_MORE * statistics.median(idle) + DAEMONS_LEAST_MS


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('benchctl')
    p.add_argument('--containers', type=int, default=20)
    p.add_argument('--hz', type=float, default=10)
    p.add_argument('--seconds', type=float, default=10)
    p.add_argument('--rounds', type=int, default=3)
    a = p.parse_args()
    sys.argv[1:] = [a.benchctl]
    lab = e2e.Lab(images=())
    try:
        return 1 if measure(lab, a) else 0
    finally:
        lab.close()


if __name__ == '__main__':
    sys.exit(main())
