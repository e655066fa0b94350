#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Applications that do nothing but ask their database: one that computes is work, one that sleeps is not, and what GET requests
have written is counted without those of benchctl itself."""
import json
import os
import shutil

from e2e import HERE, docker, has, main, same, skip

HEAVY = "select count(*) from generate_series(1, 20000) g where md5(g::text) like 'a%'"
WRITES = 'insert into visit default values'


def matrix(lab, sql, database='', checks='', duration='4s'):
    return '''benchctl: 1
name: asker
axes: {variant: [a, b, c]}
trials: 1
retry: 2
timeout: 2m
app:
  image: %s
  build: {context: asker}
  port: 8080
  env:
    SQL: "%s"
    VARIANT: "${variant}"
    DB_HOST: ${database.host}
    DB_PORT: ${database.port}
    DB_NAME: ${database.name}
    DB_USER: ${database.user}
  ready: {http: /health, timeout: 30s}
database:
  service: {image: "benchctl/postgres:15", settings: {fsync: "off"}%s}
  schema: [schema.sql]
load:
  adapter: builtin
  max_error_rate: 0.5
  requests: [{path: /ask, expect: 200}]
  phases: [{name: users, executor: constant-vus, vus: 8, duration: %s}]
%s''' % (lab.image('asker'), sql, database, duration, checks)


def the_images_are_there(lab):
    for image in ('benchctl/python:12', 'benchctl/postgres:15'):
        if not docker('images', '-q', image):
            skip('no image %s: scripts/make-images makes it' % image)
    os.mkdir(lab.path('asker'))
    shutil.copy(HERE + '/fixtures/asker.py', lab.path('asker/asker.py'))
    lab.write('asker/Dockerfile', 'FROM benchctl/python:12\nENV LAB=%s\nCOPY asker.py /asker.py\n'
              'ENTRYPOINT ["python3", "/asker.py"]\n' % lab.tag)
    lab.write('schema.sql', 'create table visit(id serial primary key);\n')


def report_of(lab, name, *args, **kw):
    """A busy machine may make a trial invalid; it is tried again."""
    lab.write(name + '.yaml', matrix(lab, *args, **kw))
    try:
        lab.run(name + '.yaml', name, timeout=280)
    except AssertionError as e:
        if 'exit status 1 instead' not in str(e):
            raise
    lab.nothing_left()
    report = json.loads(lab.benchctl('report', lab.path(name), '--format', 'json').stdout)
    print(json.dumps(report['discrimination'], indent=1, ensure_ascii=False), flush=True)
    return report


def a_database_at_its_limit(lab):
    d = report_of(lab, 'heavy', HEAVY, database=', cpus: 0.5')['discrimination']
    same([d['judged'], d['discriminates'], d['words']], [True, True, None])


def a_database_that_sleeps(lab):
    d = report_of(lab, 'sleep', 'select pg_sleep(0.05)')['discrimination']
    same([d['judged'], d['discriminates']], [True, False])
    has(d['words'], 'cannot tell these scenarios apart', 'wait that is always there')


def rows_that_get_requests_write(lab):
    lab.write('writes.yaml', matrix(lab, WRITES, duration='1s',
                                    checks='checks: [{name: surplus, sql: "select count(*) - ${load.ok} from visit", expect: "== 0"}]\n'))
    lab.run('writes.yaml', 'writes', timeout=120)
    for variant in 'abc':
        trial = lab.trial('writes', variant)
        same([trial['outcome'], trial['checks'][0]['value'], trial['floor'], trial['answers']], ['ok', '0', None, []], variant)


if __name__ == '__main__':
    raise SystemExit(main([the_images_are_there, a_database_at_its_limit, a_database_that_sleeps, rows_that_get_requests_write], images=()))
