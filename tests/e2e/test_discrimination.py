#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A sweep whose scenarios all wait for an upstream with a fixed sleep cannot tell them apart, and says so above its tables. The
same sweep of an application that computes can, also when its scenarios are equal: one thread of the machine, or a CPU quota."""
import json
import os
import shutil

from e2e import HERE, docker, has, main, same, skip

VARIANTS = ('plain', 'parse', 'hash')
CLOSED = '{name: users, executor: constant-vus, vus: 8, duration: 3s}'
OPEN = '{name: rate, executor: constant-arrival-rate, rate: 60, duration: 3s, pre_allocated_vus: 60}'


def matrix(lab, phase, work_ms=0, more='', memory='128m'):
    upstream = '' if work_ms else '''services:
  upstream:
    image: benchctl/upstream:1
    port: 9090
    env:
      UPSTREAM_CONFIG: |
        upstream: 1
        endpoints: {/price: {latency: 50ms, body: '{"price": 17}'}}
    ready: {http: /__health, timeout: 20s}
'''
    return '''benchctl: 1
name: waiter
axes:
  variant: [%s]
  memory: [%s]
trials: 1
retry: 2
timeout: 2m
app:
  image: %s
  build: {context: waiter}
  memory: ${memory}
  port: 8080
  env: {VARIANT: "${variant}", WORK_MS: "%s", UPSTREAM: "%s"}
  ready: {http: /health, timeout: 30s}
%s
%sload:
  adapter: builtin
  max_error_rate: 0.5
  requests:
    - {name: price, path: /price, expect: 200}
  phases:
    - %s
''' % (', '.join(VARIANTS), memory, lab.image('waiter'), work_ms, '' if work_ms else '${upstream.host}:${upstream.port}', more, upstream,
       phase)


def the_images_are_there(lab):
    for image in ('benchctl/upstream:1', 'benchctl/python:12'):
        if not docker('images', '-q', image):
            skip('no image %s: scripts/make-images makes it' % image)
    os.mkdir(lab.path('waiter'))
    shutil.copy(HERE + '/fixtures/waiter.py', lab.path('waiter/waiter.py'))
    lab.write('waiter/Dockerfile', 'FROM benchctl/python:12\nENV LAB=%s\nCOPY waiter.py /waiter.py\n'
              'ENTRYPOINT ["python3", "/waiter.py"]\n' % lab.tag)


def sweep(lab, name, *args, **kw):
    """A busy machine may make a trial of an open load invalid (exit status 1); it is tried again."""
    lab.write(name + '.yaml', matrix(lab, *args, **kw))
    try:
        lab.run(name + '.yaml', name, timeout=280)
    except AssertionError as e:
        if 'exit status 1 instead' not in str(e):
            raise
    lab.nothing_left()
    report = json.loads(lab.benchctl('report', lab.path(name), '--format', 'json').stdout)
    print(json.dumps(report['discrimination'], indent=1, ensure_ascii=False), flush=True)
    for v in report['validity_of_sweep']:
        print(v['verdict'], v['check'], v['id'] + ':', v['message'], flush=True)
    return report


def verdicts(report, name):
    return [v['verdict'] for v in report['validity_of_sweep'] if v['id'] == name]


def cannot(report, *words):
    d = report['discrimination']
    same([d['judged'], d['discriminates']], [True, False], d['words'])
    has(d['words'], 'cannot tell these scenarios apart', *words)


def can(report):
    d = report['discrimination']
    same([d['judged'], d['discriminates'], d['words']], [True, True, None])


def users_of_a_fixed_sleep(lab):
    report = sweep(lab, 'sleep', CLOSED, memory='128m, 256m')
    cannot(report, 'upstream', 'users / p50 of')
    same(verdicts(report, 'latency-floor-everywhere'), ['WARN'])
    for form in ('table', 'md', 'html'):
        text = lab.benchctl('report', lab.path('sleep'), '--format', form).stdout
        has(text, 'What this sweep measured', 'cannot tell these scenarios apart')
        same(text.index('cannot tell these scenarios apart') < text.index('plain'), True, form)


def a_rate_of_a_fixed_sleep(lab):
    report = sweep(lab, 'rate', OPEN)
    cannot(report, 'offered rate', 'upstream')
    same(verdicts(report, 'throughput-is-input'), ['WARN'])


def users_of_one_thread(lab):
    can(sweep(lab, 'work', CLOSED, work_ms=15))


def users_of_a_quota(lab):
    can(sweep(lab, 'quota', CLOSED, work_ms=15, more='  cpus: 0.4'))


if __name__ == '__main__':
    raise SystemExit(main([the_images_are_there, users_of_a_fixed_sleep, a_rate_of_a_fixed_sleep, users_of_one_thread,
                           users_of_a_quota], images=()))
