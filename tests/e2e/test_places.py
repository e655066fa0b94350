#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where things run: the host's network, a generator in a container, services, a database, files from containers."""
import json
import os
import sys

from e2e import docker, has, main, same

ADAPTER = '''benchctl-adapter: 1
help: A load generator of the tests.
program: shot
model: closed
args: ["${duration.s}", "${url}", "${output.result}"]
outputs:
  result: {file: result.json, format: json}
reports:
  - name: result
    output: result
    accept: [/requests]
    values:
      requests: {json: /requests}
      ok: {json: /ok}
      failed: {json: /failed}
      duration: {json: /seconds, unit: s}
    required: [requests, duration]
'''

HEAD = '''benchctl: 1
name: places
axes: {x: [a]}
trials: 1
retry: 0
app: {image: '%s', build: {context: app}, port: 8080, ready: {http: /health}, memory: 64m, env: {PORT: "${app.port}"}%s}
'''


def matrix(lab, more, app=''):
    return HEAD % (lab.image('app'), app) + more


def the_hosts_network(lab):
    lab.write('host.yaml', matrix(lab, '''network: host
services: {mock: {image: '%s', build: {context: app}, port: 9090, env: {PORT: "${mock.port}"}, ready: {http: /health}}}
load: {adapter: wrk, threads: 1, connections: 2, duration: 1s}
''' % lab.image('app')))
    lab.run('host.yaml', 'host')
    t = lab.trial('host', 'a')
    same(t['outcome'], 'ok', t['reason'])
    assert t['load']['ok'] > 50, t['load']
    assert t['app']['memory_bytes']['used_peak'] > 0, t['app']
    same(t['app']['network'], {'rx_bytes': None, 'tx_bytes': None}, 'it is the whole host\'s')
    lab.nothing_left()


def a_generator_in_a_container(lab):
    lab.write('adapters/load/shot.yaml', ADAPTER)
    docker('build', '-q', '-t', lab.image('shot'), lab.path('shot'))
    lab.write('contained.yaml', matrix(lab, '''load: {adapter: shot, image: '%s', memory: 64m, duration: 1s, warmup: {duration: 300ms}}
''' % lab.image('shot')))
    lab.run('contained.yaml', 'contained')
    t = lab.trial('contained', 'a')
    same(t['outcome'], 'ok', t['reason'])
    assert t['load']['ok'] > 20 and t['load']['failed'] == 0, t['load']
    assert json.loads(lab.read('contained/trials/a/1/load/result.json'))['requests'] == t['load']['requests']
    assert not os.path.exists(lab.path('contained/trials/a/1/load/warmup')), 'the warm-up is thrown away'
    lab.nothing_left()


def a_generator_in_a_container_that_fails(lab):
    lab.write('failing.yaml', matrix(lab, '''load: {adapter: shot, image: '%s', duration: 1s, target: "nonsense"}
''' % lab.image('shot')))
    lab.run('failing.yaml', 'failing', code=1)
    t = lab.trial('failing', 'a')
    same(t['outcome'], 'invalid', t['reason'])
    has(t['reason'], 'usage: shot')
    lab.nothing_left()


def services_of_trial_and_sweep(lab):
    service = "{image: '%s', build: {context: app}, port: 9090, env: {PORT: '9090'}, ready: {http: /health}" % lab.image('app')
    lab.write('services.yaml', matrix(lab, '''services:
  each: %s}
  once: %s, scope: sweep}
load: {adapter: idle, duration: 200ms}
cooldown: 0ms
''' % (service, service), ', command: ["say=${each.host}:${each.port} ${once.url}"]').replace('trials: 1', 'trials: 2'))
    lab.run('services.yaml', 'services')
    one, two = lab.trial('services', 'a', 1), lab.trial('services', 'a', 2)
    for t in (one, two):
        same(t['outcome'], 'ok', t['reason'])
        said = lab.read('services/trials/a/%d/logs/app.stdout.log' % t['trial'])
        has(said, t['services']['each']['address'] + ':9090', 'http://%s:9090' % t['services']['once']['address'])
    assert one['services']['each']['container_id'] != two['services']['each']['container_id']
    same(one['services']['once']['container_id'], two['services']['once']['container_id'])
    assert one['services']['each']['memory_bytes']['used_peak'] > 0, one['services']['each']
    lab.nothing_left()


def files_from_containers(lab):
    lab.write('files.yaml', matrix(lab, '''load: {adapter: idle, duration: 200ms}
artifacts: [{from: app, path: /evidence.txt}, {from: app, path: /bin}, {from: app, path: /absent}]
''', ', command: ["write=/evidence.txt"]'))
    lab.run('files.yaml', 'files')
    t = lab.trial('files', 'a')
    same(t['outcome'], 'ok', t['reason'])
    same(lab.read('files/trials/a/1/artifacts/app/evidence.txt'), 'evidence\n')
    same(os.path.getsize(lab.path('files/trials/a/1/artifacts/app/bin/app')), os.path.getsize(lab.path('app/bin/app')))
    has('\n'.join(t['notes']), "artifact '/absent' of 'app' was not saved")
    assert 'artifacts/app/evidence.txt' in t['files'], t['files']


def numbers_of_the_app(lab):
    lab.write('metrics.yaml', matrix(lab, '''load: {adapter: wrk, threads: 1, connections: 2, duration: 2s}
''', ', metrics: {path: /metrics, every: 200ms}'))
    lab.run('metrics.yaml', 'metrics')
    t = lab.trial('metrics', 'a')
    same(t['outcome'], 'ok', t['reason'])
    assert os.listdir(lab.path('metrics/trials/a/1/metrics')), 'raw scrapes are kept'


SCHEMA = '''create table survey (id serial primary key, name text not null);
insert into survey (name) select 'row ' || i from generate_series(1, 100) i;
'''

DATABASE = '''database:
  service: {image: "benchctl/postgres:15", memory: 256m, settings: {fsync: "off"}}
  name: bench
  schema: [seed.sql]
  reset: template
load: {adapter: wrk, threads: 1, connections: 2, duration: 1s}
checks:
  - {name: rows, sql: "select count(*) from survey", expect: "== 100"}
  - {name: less than asked, sql: "select count(*) - ${load.ok} from survey", expect: "< 100"}
  - {name: recorded only, sql: "select current_database()"}
'''


def a_database_with_checks(lab):
    if not docker('images', '-q', 'benchctl/postgres:15'):
        print('    (no image benchctl/postgres:15: left out)')
        return
    lab.write('seed.sql', SCHEMA)
    for network in ('bridge', 'host'):
        out = 'db-' + network
        lab.write('db.yaml', matrix(lab, 'network: %s\ncooldown: 0ms\n' % network + DATABASE,
                                    ', command: ["say=${database.url}"]').replace('trials: 1', 'trials: 2'))
        lab.run('db.yaml', out)
        for n in (1, 2):
            t = lab.trial(out, 'a', n)
            same(t['outcome'], 'ok', t['reason'])
            checks = {c['name']: c for c in t['checks']}
            same((checks['rows']['value'], checks['rows']['passed']), ('100', True))
            assert checks['less than asked']['passed'], checks
            same((checks['recorded only']['value'], checks['recorded only']['gated']), ('bench', False))
            assert t['database']['reset_ms'] > 0 and t['database']['size_bytes'] > 1e6, t['database']
            assert t['database']['version'].startswith('15'), t['database']
            same(t['database']['deadlocks'], 0)
            assert t['services']['database']['memory_bytes']['used_peak'] > 0, t['services']
            has(lab.read(out + '/trials/a/%d/logs/app.stdout.log' % n), 'postgresql://postgres@', '/bench')
        lab.nothing_left()


def a_check_that_does_not_hold(lab):
    if not os.path.exists(lab.path('db.yaml')):
        return
    lab.write('bad.yaml', lab.read('db.yaml').replace('trials: 2', 'trials: 1').replace('network: host', 'network: bridge')
              .replace('"== 100"', '"== 99"').replace('select current_database()', 'select nonsense from nowhere'))
    lab.run('bad.yaml', 'bad', code=1)
    t = lab.trial('bad', 'a')
    same(t['outcome'], 'degraded')
    has(t['reason'], "expected 'rows == 99', but it is 100")
    has([c for c in t['checks'] if c['name'] == 'recorded only'][0]['message'], 'nowhere')


def a_seed_that_is_wrong(lab):
    if not os.path.exists(lab.path('db.yaml')):
        return
    lab.write('wrong.sql', SCHEMA + 'insert into absent values (1);\n')
    lab.write('wrong.yaml', lab.read('bad.yaml').replace('seed.sql', 'wrong.sql'))
    lab.run('wrong.yaml', 'wrong', code=1)
    t = lab.trial('wrong', 'a')
    same(t['outcome'], 'error')
    has(t['reason'], 'database: ', 'wrong.sql:3', 'absent')
    lab.nothing_left()


if __name__ == '__main__':
    sys.exit(main([the_hosts_network, a_generator_in_a_container, a_generator_in_a_container_that_fails,
                   services_of_trial_and_sweep, files_from_containers, numbers_of_the_app, a_database_with_checks,
                   a_check_that_does_not_hold, a_seed_that_is_wrong], images=('app', 'shot')))
