#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What becomes of a database under a load, on a real engine and a real server: counters that are exact, checks, faults
that are named and not blamed on the application, servers that refuse, resets that reset (cases C05 to C09)."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

from e2e import HERE, TOP, command, docker, has, main, same, skip, wait_for

FAKE = os.path.join(TOP, 'tests', 'cases', 'C03', 'fake_pg.py')
SCHEMA = '''CREATE TABLE survey(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, token text);
CREATE TABLE answer(id serial PRIMARY KEY, survey int REFERENCES survey);
INSERT INTO survey(token) SELECT 's' || g FROM generate_series(1, 20) g;
INSERT INTO answer(survey) SELECT g FROM generate_series(1, 10) g;
CREATE TABLE pair(id int PRIMARY KEY, n int);
INSERT INTO pair VALUES (1, 0), (2, 0);
'''


def matrix(lab, faults, load, database='', more='', checks=''):
    return '''benchctl: 1
name: faults
axes: {fault: [%s]}
retry: 0
timeout: 90s
app:
  image: %s
  build: {context: faults}
  env:
    DB_HOST: ${database.host}
    DB_PORT: ${database.port}
    DB_NAME: ${database.name}
    DB_USER: ${database.user}
    PORT: ${app.port}
  port: 8080
  restart: always
  ready: {http: /, timeout: 30s}
database:
  service:
    image: benchctl/postgres:15
    settings: {fsync: "off", max_connections: "20", max_prepared_transactions: "10", deadlock_timeout: 50ms,
               autovacuum: "off"}
  schema: [schema.sql]
%s
load:
  adapter: builtin
  requests: [{method: POST, path: "/${fault}", expect: 200}]
%s
%s
checks:
  - {name: rows, sql: "select count(*) from survey"}
%s
''' % (', '.join(faults), lab.image('faults'), database, load, more if 'trials' in more else more + '\ntrials: 1', checks)


def prepare(lab):
    shutil.copytree(os.path.join(HERE, 'fixtures', 'faults'), lab.path('faults'))
    lab.write('faults/Dockerfile', 'FROM benchctl/python:12\nCOPY app.py /app/\nCMD ["python3", "app.py"]\n')
    lab.write('schema.sql', SCHEMA)


def run(lab, out, *argv, **kw):
    """Verdicts about a load of a few requests are not this test's matter."""
    try:
        lab.run('m.yaml', out, *argv, **kw)
    except AssertionError as e:
        if 'exit status 1 instead of 0' not in str(e):
            raise
    lab.nothing_left()


def findings(trial, *ids):
    found = {f['id']: f for f in trial['findings'] if f['role'] == 'database'}
    same(sorted(found), sorted(ids), 'findings of %s' % trial['scenario'])
    same(len(found), sum(f['role'] == 'database' for f in trial['findings']), 'each once')
    return found


def check(trial, name):
    for c in trial['checks']:
        if c['name'] == name:
            return c
    raise AssertionError('no check %r: %s, %s' % (name, trial['outcome'], trial['reason']))


def counters_are_exact(lab):
    lab.write('m.yaml', matrix(lab, ['rollback'], '  iterations: 7\n  duration: 30s', checks='''
  - {name: rollbacks, value: "${database.rollbacks}", expect: "== 70"}
  - {name: commits, value: "${database.commits} - 10 * ${load.ok}", expect: "== 1"}  # the session itself is one
  - {name: rows in, value: "${database.rows_inserted}", expect: "== 140"}
  - {name: rows changed, value: "database.rows_updated", expect: "== 140"}
  - {name: rows out, value: "${database.rows_deleted}", expect: "== 70"}
  - {name: in sql, sql: "select ${database.rollbacks} + ${load.requests} + ${app.restarts}", expect: "== 77"}
  - {name: not measured, value: "${metrics.absent.max}"}
  - {name: not measured in sql, sql: "select ${metrics.absent.max}", expect: ">= 0"}
  - {name: unlimited, sql: "select ${app.effective.pids}"}
  - {name: no number, value: "${load.ok} / ${app.restarts}"}
  - {name: wrong, sql: "select nothing"}
  - {name: long, sql: "select pg_sleep(60)::text"}
''', database='  statement_timeout: 8s', more='expect: ["database.deadlocks == 0", "database.rollbacks == 70"]'))
    run(lab, 'exact')
    t = lab.trial('exact', 'rollback')
    for name in ('rollbacks', 'commits', 'rows in', 'rows changed', 'rows out', 'in sql', 'database.rollbacks == 70',
                 'database.deadlocks == 0'):
        same(check(t, name)['passed'], True, '%s: %s' % (name, check(t, name)))
    same(check(t, 'rows')['value'], '20')
    for name, message in (('not measured', "'metrics.absent.max' was not measured"),
                          ('not measured in sql', "'metrics.absent.max' was not measured"), ('no number', 'not a number'),
                          ('wrong', 'column "nothing" does not exist'), ('long', 'statement timeout')):
        same(check(t, name)['passed'], False, name)
        same(check(t, name)['value'], None, name)
        has(check(t, name)['message'], message)
    d = t['database']
    same((d['rollbacks'], d['deadlocks'], d['prepared_transactions'], d['idle_in_transaction'], d['connections']),
         (70, 0, 0, 0, 1))
    same(t['outcome'] in ('degraded', 'invalid'), True, t['reason'])  # a gated check could not be evaluated
    findings(t)
    steps = [s['name'] for s in t['steps']]
    same(steps.index('settle') > steps.index('load') and steps.index('checks') > steps.index('collect'), True, steps)


def faults_are_named(lab):
    names = ['none', 'deadlock', 'limit', 'full', 'prepared', 'leak', 'busy', 'stale']
    lab.write('m.yaml', matrix(lab, names, '  iterations: 2\n  duration: 40s\n  request_timeout: 20s',
                               more='order: {mode: listed}'))
    run(lab, 'named', timeout=280)
    trials = {n: lab.trial('named', n) for n in names}
    findings(trials['none'])

    f = findings(trials['deadlock'], 'deadlock')['deadlock']
    same((f['count'], trials['deadlock']['database']['deadlocks']), (2, 2), 'deadlocks')
    has(f['message'], '2 deadlocks', 'not the framework', '40P01')

    f = findings(trials['limit'], 'connection-limit')['connection-limit']
    has(f['message'], 'max_connections is 20', '3 reserved for superusers, 2 of benchctl, 15 left for the application', '53300', '2 lines')
    f = findings(trials['full'], 'connection-limit')['connection-limit']
    has(f['message'], 'max_connections is 20')
    same(trials['full']['database']['connections'] >= 16, True, 'connections')

    f = findings(trials['prepared'], 'prepared-transactions')['prepared-transactions']
    same((f['count'], trials['prepared']['database']['prepared_transactions']), (2, 2), 'prepared')
    same(check(trials['prepared'], 'rows')['value'], '20', 'neither committed')
    has(' '.join(trials['leak']['notes']), 'the reset rolled back 2 prepared transactions')  # the next one

    f = findings(trials['leak'], 'idle-in-transaction')['idle-in-transaction']
    same((f['count'], trials['leak']['database']['idle_in_transaction']), (2, 2), 'idle in transaction')
    has(f['message'], '2 sessions were left idle in a transaction', 'the oldest open for ')
    findings(trials['busy'], 'busy-after-load')
    has(trials['busy']['findings'][0]['message'], '2 sessions were still at work')
    settle = next(s for s in trials['busy']['steps'] if s['name'] == 'settle')
    same(settle['duration_ms'] < 20000, True, 'settling is bounded')

    f = findings(trials['stale'], 'stale-session')['stale-session']
    has(f['message'], "not the framework's doing")
    same(f['count'], 4, 'two kinds, twice')


def a_warm_up_leaves_nothing_behind(lab):
    lab.write('m.yaml', matrix(lab, ['write', 'checkpoint'], '  vus: 2\n  warmup: {duration: 700ms}\n  duration: 700ms', checks='''
  - {name: calm, sql: "select count(*) from pg_stat_user_tables where last_vacuum is not null and last_analyze is not null"}
  - {name: writes, value: "${database.rows_inserted} - ${load.ok}"}
''', more='order: {mode: listed}'))
    run(lab, 'warm')
    t = lab.trial('warm', 'write')
    same(check(t, 'calm')['value'], '3', 'tables')
    same(check(t, 'writes')['value'], '0', 'nothing of the warm-up is counted')
    same(t['database']['checkpoints'], 0, 'checkpoints')
    t = lab.trial('warm', 'checkpoint')
    same(t['database']['checkpoints'] >= 1, True, 'checkpoints')
    has(' '.join(t['notes']), 'into the measured window')


def what_benchctl_asks_is_not_counted(lab):
    """GET requests that write, and a wait for readiness and a look for life that would make the same ones."""
    lab.write('m.yaml', matrix(lab, ['write'], '  vus: 2\n  think: 5ms\n  duration: 2500ms', checks='''
  - {name: writes, value: "${database.rows_inserted} - ${load.ok}"}
  - {name: commits, value: "${database.commits} - ${load.ok}"}
''').replace('ready: {http: /,', 'ready: {http: /write,').replace('method: POST', 'method: GET'))
    run(lab, 'asks')
    t = lab.trial('asks', 'write')
    same((check(t, 'writes')['value'], check(t, 'commits')['value']), ('0', '0'), 'more than the load')


def a_server_that_crashed_has_no_counters(lab):
    """It begins to count anew: neither less than nothing nor nothing, but not known."""
    lab.write('m.yaml', matrix(lab, ['crash'], '  iterations: 1\n  duration: 20s', checks='''
  - {name: deadlocks, value: "${database.deadlocks}", expect: "== 0"}
'''))
    run(lab, 'crash')
    t = lab.trial('crash', 'crash')
    d = t['database']
    same({k: d[k] for k in ('commits', 'rollbacks', 'deadlocks', 'rows_inserted', 'temp_bytes', 'autovacuum_runs')},
         dict.fromkeys(('commits', 'rollbacks', 'deadlocks', 'rows_inserted', 'temp_bytes', 'autovacuum_runs')), 'counters')
    has(check(t, 'deadlocks')['message'], 'not measured')
    has(' '.join(t['notes']), 'count anew')


def trial_and_step(lab, out):
    """Of a sweep under way, by what it says of itself."""
    try:
        status = json.loads(lab.read(out + '/status.json'))
    except OSError:
        return None
    return status.get('trial'), status.get('step')


def a_killed_database_costs_one_trial(lab):
    """It ends under the load of the second trial: that one says so, and the others begin as seeded."""
    lab.write('m.yaml', matrix(lab, ['write'], '  vus: 1\n  think: 50ms\n  duration: 6s', checks='''
  - {name: writes, sql: "select count(*) - ${load.ok} from survey", expect: "== 20"}
''', more='trials: 3'))
    p = lab.start('run', 'm.yaml', '--out', lab.path('killed'))
    wait_for('the load of the second trial', lambda: trial_and_step(lab, 'killed') == (2, 'load'), 200)
    docker('kill', docker('ps', '-q', '--filter', 'label=org.benchctl.dir=' + os.path.realpath(lab.path('killed')),
                          '--filter', 'label=org.benchctl.role=database'))
    same(p.wait(timeout=250), 1, lab.read('background.log')[-3000:])
    lab.nothing_left()
    t = lab.trial('killed', 'write', 2)
    same(t['outcome'], 'invalid', t['reason'])
    has(t['reason'], "'database'", 'kill')
    same(t['database']['rows_inserted'], None, 'counted by nobody')
    has(' '.join(t['notes']), 'could not be read')
    for n in (1, 3):
        t = lab.trial('killed', 'write', n)
        same(check(t, 'writes')['value'], '20', 'trial %d: %s' % (n, t['reason']))


def emptied_is_as_seeded(lab):
    """C05: identities, foreign keys and sequences too; each trial begins the same."""
    lab.write('m.yaml', matrix(lab, ['rollback', 'write'], '  iterations: 3\n  duration: 30s', '  reset: truncate', checks='''
  - {name: last id, sql: "select max(id) from survey"}
  - {name: others, sql: "select (select count(*) from answer) * 100 + (select last_value from answer_id_seq)"}
''', more='trials: 2\norder: {mode: listed}'))
    run(lab, 'truncate')
    for n in (1, 2):
        t = lab.trial('truncate', 'write', n)
        same((check(t, 'rows')['value'], check(t, 'last id')['value'], check(t, 'others')['value']), ('23', '23', '1010'))
    same(lab.trial('truncate', 'write', 2)['database']['strategy'], 'truncate')
    same(lab.trial('truncate', 'rollback', 2)['database']['rollbacks'], 30)


LONG = '  - {name: long, sql: "select pg_sleep(120)::text"}\n  - {name: next, sql: "select 1"}'


def a_check_ends_with_the_trials_time(lab):
    lab.write('m.yaml', matrix(lab, ['none'], '  iterations: 1\n  duration: 10s', '  statement_timeout: 100s',
                               checks=LONG).replace('timeout: 90s', 'timeout: 40s'))
    run(lab, 'late')
    t = lab.trial('late', 'none')
    same(t['load']['ok'], 1, t['reason'])
    for name, message in (('long', 'before the time was up'), ('next', "the trial's time limit")):
        same(check(t, name)['passed'], False)
        has(check(t, name)['message'], message)
    same(t['duration_ms'] < 70000, True, 'duration')


def a_check_can_be_interrupted(lab):
    lab.write('m.yaml', matrix(lab, ['none'], '  iterations: 1\n  duration: 10s', '  statement_timeout: 100s', checks=LONG))
    p = lab.start('run', 'm.yaml', '--out', lab.path('broken'))
    journal = lab.path('broken/status.json')
    wait_for('the checks', lambda: os.path.exists(journal) and '"checks"' in open(journal).read(), 80)
    p.send_signal(signal.SIGINT)
    begin = time.monotonic()
    same(p.wait(timeout=60), 130, lab.read('background.log'))
    same(time.monotonic() - begin < 40, True, 'it ends soon')
    lab.nothing_left()


def pools_fit_before_anything_is_measured(lab):
    text = matrix(lab, ['none'], '  iterations: 1\n  duration: 10s', '  connections: 16')
    lab.write('m.yaml', text)
    r = lab.benchctl('check', 'm.yaml', code=2)
    has(r.stderr, '16 connections of the application, 2 of benchctl and 3 reserved ones are more than max_connections, 20',
        'hint: ')
    lab.write('m.yaml', text.replace('max_connections: "20", ', '').replace('connections: 16', 'connections: 500'))
    lab.run('m.yaml', 'pools', code=1)
    t = lab.trial('pools', 'none')
    same(t['outcome'], 'error')
    has(t['reason'], '500 connections of the application, 2 of benchctl, 3 reserved ones and 0 of others',
        "max_connections, 100")
    same(t['load'], None, 'nothing was measured')
    lab.nothing_left()


class Fake:
    """A server that only refuses; counts nothing, says what its mode is."""

    def __init__(self, mode):
        with socket.socket() as s:
            s.bind(('127.0.0.1', 0))
            self.port = s.getsockname()[1]
        self.process = subprocess.Popen([sys.executable, FAKE, str(self.port), mode])
        wait_for('the fake listens', self.listens)

    def listens(self):
        with socket.socket() as s:
            return s.connect_ex(('127.0.0.1', self.port)) == 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def against_a_fake(lab, mode, out):
    with Fake(mode) as fake:
        text = matrix(lab, ['none'], '  iterations: 1\n  duration: 10s')
        url = "postgresql://somebody:swordfish@127.0.0.1:%d/postgres?channel_binding=prefer" % fake.port
        text = re.sub(r'  service:\n.*?  schema', "  url: '%s'\n  schema" % url, text, flags=re.S)
        lab.write('m.yaml', text.replace('retry: 0', 'retry: 2'))
        begin = time.monotonic()
        r = lab.run('m.yaml', out, code=1)
        took = time.monotonic() - begin
    lab.nothing_left()
    t = lab.trial(out, 'none')
    same((t['outcome'], t['load']), ('error', None), t['reason'])
    same(took < 40, True, 'no wait for readiness')
    shown = r.stdout + r.stderr
    for base, _, names in os.walk(lab.path(out)):
        for name in names:
            with open(os.path.join(base, name), 'rb') as f:
                shown += f.read().decode('utf-8', 'replace')
    same('swordfish' in shown, False, 'the password is told')
    return t['reason'], t['attempt']


def channel_binding_is_configuration(lab):
    reason, attempts = against_a_fake(lab, 'plus_only', 'plus')
    has(reason, 'SCRAM-SHA-256-PLUS', 'configuration')
    same(attempts, 1, 'attempts')


def used_up_slots_are_no_readiness(lab):
    reason, _ = against_a_fake(lab, 'slots', 'slots')
    has(reason, 'connection slots used up', '53300')


def images_are_there(lab):
    for image in ('benchctl/postgres:15', 'benchctl/python:12'):
        if command('docker', 'image', 'inspect', image, check=False).returncode:
            lab.close()
            skip('no image %s: scripts/make-images makes it' % image)
    prepare(lab)


if __name__ == '__main__':
    sys.exit(main([images_are_there, counters_are_exact, faults_are_named, a_warm_up_leaves_nothing_behind,
                   what_benchctl_asks_is_not_counted, a_server_that_crashed_has_no_counters,
                   a_killed_database_costs_one_trial, emptied_is_as_seeded,
                   a_check_ends_with_the_trials_time, a_check_can_be_interrupted, pools_fit_before_anything_is_measured,
                   channel_binding_is_configuration, used_up_slots_are_no_readiness], images=()))
