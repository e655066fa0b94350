#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rules over one trial on a real engine: an application that waits for an upstream, one that computes, one that counts its
requests, and a generator with a sleep that it does not tell of."""
import json
import os
import shutil

from e2e import HERE, docker, has, main, same, skip

APP = '''app:
  image: %s
  build: {context: %s}
  memory: 128m
  port: 8080
  ready: {http: /health, timeout: 30s}
'''
WAITER = '''benchctl: 1
name: plausible
axes:
  work:
    - {name: waits, ms: "0", to: "${upstream.host}:${upstream.port}"}
    - {name: computes, ms: "8", to: ""}
trials: 1
%s  env: {VARIANT: plain, WORK_MS: "${work.ms}", UPSTREAM: "${work.to}"}
services:
  upstream:
    image: benchctl/upstream:1
    port: 9090
    env:
      UPSTREAM_CONFIG: |
        upstream: 1
        endpoints: {/price: {latency: 60ms, body: '{"price": 17, "from": "cache"}'}}
    ready: {http: /__health, timeout: 20s}
load:
  adapter: builtin
  max_error_rate: 0.5
  requests:
    - {name: price, path: /price, expect: 200, fallback: '"from": *"cache"'}
  phases:
    - {name: users, executor: constant-vus, vus: 4, duration: 4s}
'''
COUNTING = '''benchctl: 1
name: counting
axes: {server: [one]}
trials: 1
%s  metrics: {path: /metrics, every: 1s, adapter: [counting, go]}
load: {adapter: builtin, vus: 1, think: 100ms, path: /, duration: 4s}
'''
ADAPTER = '''benchctl-adapter: 1
help: the requests that the program counts
includes: degrees
metrics:
  http_requests: {help: Requests, kind: counter, from: [{series: app_requests_total}]}
'''
DEGREES = '''benchctl-adapter: 1
metrics:
  heat: {help: Degrees, from: [{series: app_heat}]}
'''
SLEEPY = '''benchctl-adapter: 1
help: a closed loop of four users that sleeps and does not say so
program: python3
model: closed
corrected: no
options:
  sleep_ms: {type: int, default: "0", help: Of which its report does not tell.}
args: ["%s", "${url}", "${duration.s}", "${sleep_ms}"]
outputs:
  report: {file: stdout.txt, format: json}
reports:
  - name: report
    output: report
    accept: [/requests]
    values:
      requests: {json: /requests}
      failed: {json: /failed}
      duration: {json: /ms}
      concurrency: {json: /users}
    latency: {mean: {json: /mean_ms}, p50: {json: /p50_ms}}
    errors: {request: {json: /failed}}
    required: [requests, duration]
'''
LOOP = '''import http.client, json, sys, threading, time, urllib.parse
url, seconds, sleep = urllib.parse.urlsplit(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]) / 1000
took, failed, end = [], [], time.monotonic() + seconds
def user():
    c = http.client.HTTPConnection(url.hostname, url.port, timeout=10)
    while time.monotonic() < end:
        begin = time.monotonic()
        try:
            c.request('GET', url.path or '/')
            r = c.getresponse()
            r.read()
            took.append(1000 * (time.monotonic() - begin))
        except OSError:
            failed.append(1)
        time.sleep(sleep)
begin = time.monotonic()
users = [threading.Thread(target=user) for _ in range(4)]
[u.start() for u in users]
[u.join() for u in users]
took.sort()
print(json.dumps({'requests': len(took) + len(failed), 'failed': len(failed), 'ms': 1000 * (time.monotonic() - begin),
                  'users': 4, 'mean_ms': sum(took) / len(took), 'p50_ms': took[len(took) // 2]}))
'''
HIDDEN = '''benchctl: 1
name: hidden
axes: {sleep: ["0", "40"]}
trials: 1
%s  command: [slow=10]
load: {adapter: sleepy, sleep_ms: "${sleep}", path: /, duration: 4s}
'''


def verdict(trial, rule):
    found = [v for v in trial['validity'] if v['id'] == rule]
    print('  ', trial['scenario'], rule, [(v['verdict'], v['message']) for v in found], flush=True)
    return found[0]['verdict'] if found else None


def sweep(lab, name, text):
    lab.write(name + '.yaml', text)
    return lab.run(name + '.yaml', name, '--set', 'retry=0', code=1 if name == 'hidden' else 0)


def the_images_are_there(lab):
    for image in ('benchctl/upstream:1', 'benchctl/python:12'):
        if not docker('images', '-q', image):
            skip('no image %s: scripts/make-images makes it' % image)
    os.mkdir(lab.path('waiter'))
    shutil.copy(HERE + '/fixtures/waiter.py', lab.path('waiter/waiter.py'))
    lab.write('waiter/Dockerfile', 'FROM benchctl/python:12\nENV LAB=%s\nCOPY waiter.py /waiter.py\n'
              'ENTRYPOINT ["python3", "/waiter.py"]\n' % lab.tag)


def who_waits_and_who_computes(lab):
    sweep(lab, 'plausible', WAITER % (APP % (lab.image('waiter'), 'waiter')))
    lab.nothing_left()


def the_latency_is_the_upstreams(lab):
    t = lab.trial('plausible', 'waits')
    same(t['floor']['requests'] >= 3, True, str(t['floor']))
    same(t['floor']['p50_ms'] > 59, True, str(t['floor']))
    same(verdict(t, 'latency-floor'), 'WARN')
    full = verdict(t, 'host-saturated') == 'WARN'  # by others: then that was the limit
    same(verdict(t, 'nothing-stressed'), 'PASS' if full else 'WARN')
    same(verdict(t, 'littles-law'), 'PASS')
    same(verdict(t, 'degraded-successes'), 'WARN')
    same(t['load']['fallbacks'], t['load']['ok'])
    same([(a['request'], a['status']) for a in t['answers']], [('GET /price', 200)])
    same(len(t['answers'][0]['shape']), 64)


def the_latency_is_its_own_work(lab):
    t = lab.trial('plausible', 'computes')
    same(t['floor']['cpu_ms_per_request'] > 7, True, str(t['floor']))
    same(verdict(t, 'latency-floor'), 'PASS')
    same(verdict(t, 'nothing-stressed'), 'PASS')
    same(t['load']['fallbacks'], 0)


def a_pass_is_no_trouble(lab):
    report = lab.benchctl('report', lab.path('plausible')).stdout
    has(report, 'latency-floor')
    same('PASS' in report, False, report)


def generator_and_application_count_the_same(lab):
    lab.write('adapters/metrics/counting.yaml', ADAPTER)
    lab.write('adapters/metrics/degrees.yaml', DEGREES)
    sweep(lab, 'counting', COUNTING % (APP % (lab.image('app'), 'app')))
    t = lab.trial('counting', 'one')
    same(t['metrics']['heat']['last'] > 0, True, 'what an included adapter reads')
    with open(lab.path('counting/inputs.json')) as f:
        same([(a['adapter'], a['shipped']) for a in json.load(f)['adapters'] if a['kind'] == 'metrics'],
             [('counting', False), ('degrees', False), ('go', True)], 'adapters in the bundle')
    same(verdict(t, 'counts-agree'), 'PASS')
    same(verdict(t, 'metric-exists'), 'PASS')
    same(t['load']['think_ms'] > 99, True, str(t['load']['think_ms']))
    same(verdict(t, 'littles-law'), 'PASS')
    lab.nothing_left()


def a_sleep_that_nobody_told_of(lab):
    lab.write('loop.py', LOOP)
    lab.write('adapters/load/sleepy.yaml', SLEEPY % lab.path('loop.py'))
    sweep(lab, 'hidden', HIDDEN % (APP % (lab.image('app'), 'app')))
    same(verdict(lab.trial('hidden', '0'), 'littles-law'), 'PASS')
    t = lab.trial('hidden', '40')
    same([verdict(t, 'littles-law'), t['outcome']], ['FAIL', 'invalid'])
    has(t['reason'], 'hides in each request')
    lab.nothing_left()


if __name__ == '__main__':
    raise SystemExit(main([the_images_are_there, who_waits_and_who_computes, the_latency_is_the_upstreams,
                           the_latency_is_its_own_work, a_pass_is_no_trouble, generator_and_application_count_the_same,
                           a_sleep_that_nobody_told_of]))
