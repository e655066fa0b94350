#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""benchctl load on servers that behave well and badly. Counts and ratios, no absolute times; needs no engine."""
import csv
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from load_server import Server

BINARY = os.path.abspath(sys.argv[1])
WORK = tempfile.mkdtemp()
FILES = resource.getrlimit(resource.RLIMIT_NOFILE)


def same(actual, expected, what=''):
    if actual != expected:
        raise AssertionError('%s: %r instead of %r' % (what, actual, expected))


def between(low, value, high, what):
    if value is None or not low <= value <= high:
        raise AssertionError('%s: %r is not between %r and %r' % (what, value, low, high))


def has(text, *parts):
    for part in parts:
        if part not in text:
            raise AssertionError('%r is not in:\n%s' % (part, text))


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))


def load(*arguments, code=0, out=None, before=None):
    """The report. `code` None: 0 or 1, since a busy machine may make the generator late."""
    argv = [BINARY, 'load', '--format', 'json', *arguments] + (['--out', out] if out else [])
    r = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, preexec_fn=before)
    if r.returncode != code and not (code is None and r.returncode in (0, 1)):
        raise AssertionError('%s: exit status %d\n%s%s' % (' '.join(argv), r.returncode, r.stdout, r.stderr))
    report = json.loads(r.stdout) if r.stdout else {}
    if report:
        adds_up(report)
    report['stderr'] = r.stderr
    return report


def adds_up(r):
    same(r['ok'] + r['failed'], r['requests'], 'ok + failed')
    same(sum(r['errors'].values()), r['failed'], 'errors by kind')
    same(sum(r['status'].values()), r['latency_ms']['count'], 'answers by status')
    same(sum(k['requests'] for k in r['by_request']), r['requests'], 'requests by kind')
    if not r['complete']:
        return
    same(r['started'] + r['dropped'], r['planned'], 'planned')
    same(r['requests'] + r['aborted'], r['started'], 'started')


def good():
    s = Server()
    for n in ('1', '3'):
        s.requests = 0
        r = load('-n', '1000', '-c', '8', '-p', n, s.url + '/items?q=1', code=None)
        same((r['requests'], r['ok'], r['connections']), (1000, 1000, 8), 'processes ' + n)
        same(s.requests, 1000, 'the server saw')
        same(s.paths.popitem()[0], '/items?q=1', 'path')
        same((r['model'], r['corrected'], r['pacing']['lag_ms']), ('closed', False, None))
    s.close()


def open_model_is_exact():
    s = Server()
    for n in ('1', '2'):
        s.requests = 0
        r = load('-r', '250', '-d', '2s', '-p', n, s.url, code=None)
        same((r['planned'], r['model'], r['corrected']), (500, 'open', True))
        same(r['started'] + r['dropped'], 500)
        same(s.requests, r['requests'] + r['aborted'], 'the server saw')
        between(200, r['phases'][0]['rates']['offered'], 251, 'offered')
        same(r['pacing']['lag_ms']['count'], r['started'], 'lags')
    s.close()


def one_second_after_the_other():
    s = Server()
    out = os.path.join(WORK, 'seconds')
    r = load('-r', '100', '-d', '3s', '-p', '2', s.url, out=out, code=None)
    with open(os.path.join(out, 'series.csv')) as f:
        rows = list(csv.DictReader(f))
    for column in ('planned', 'started', 'requests', 'ok', 'failed', 'dropped', 'aborted', 'received_bytes'):
        same(sum(int(row[column]) for row in rows), r[column], column)
    for i, row in enumerate(rows[:3]):  # later on a machine that is busy: then that is when it ended
        between(1000 * (i + 1), int(row['at_ms']), 1000 * (i + 1) + 999, 'seconds')
    with open(os.path.join(out, 'report.json')) as f:
        written = json.load(f)
    same(written['requests'], r['requests'], 'report.json')
    with open(os.path.join(out, 'histogram.hlog')) as f:
        lines = [line for line in f if line.startswith('Tag=')]
    between(3, len([line for line in lines if line.startswith('Tag=GET_/,')]), 4, 'intervals')
    same(len(lines) % 2, 0, 'response and service')
    s.close()


def fails_with_500():
    s = Server('500')
    r = load('-n', '200', '-c', '4', s.url)
    same((r['ok'], r['errors']['status'], r['status']), (0, 200, {'500': 200}))
    same(r['latency_ms']['count'], 200, 'failed answers have latencies')
    same((r['examples'][0]['error'], r['examples'][0]['status']), ('status', 500))
    r = load('-n', '20', '--expect-status', '500', s.url)
    same(r['ok'], 20)
    r = load('-n', '20', '--expect-status', '500', '--expect-body', 'no such', s.url)
    same(r['errors']['mismatch'], 20)
    s.close()


def each_connection_is_closed():
    s = Server('close')
    r = load('-n', '200', '-c', '4', s.url)
    same((r['ok'], r['connections'], s.connections), (200, 200, 200))
    s.close()


def nobody_answers():
    s = Server()
    s.close()
    r = load('-c', '10', '-d', '1s', s.url, code=1)
    same((r['ok'], r['errors']['connect']), (0, r['requests']))
    has(r['stderr'], 'no request was answered')
    between(10, r['requests'], 10 * 14, 'tries: at once, and after 10, 20, 40, 80, 100, 100 ... ms')
    same(r['latency_ms']['p50'], None)
    between(r['requests'] - 10, r['backoffs'], r['requests'], 'waits')


def connections_break():
    s = Server('reset')
    r = load('-c', '10', '-d', '1s', s.url, code=1)
    same((r['ok'], r['errors']['reset']), (0, r['requests']))
    between(10, r['requests'], 10 * 14, 'tries')
    s.close()


def time_outs_are_censored():
    s = Server('silent')
    r = load('-c', '50', '-d', '1s', '-t', '100ms', s.url, code=1)
    same((r['errors']['timeout'], r['censored'], r['latency_ms']['count']), (r['requests'], r['requests'], 0))
    between(50, r['requests'], 50 * 10, 'time-outs')
    s.close()
    s = Server('slow', delay=0.5)
    r = load('-r', '40', '-d', '1s', '-t', '100ms', '--max-vus', '40', s.url, code=1)
    same((r['errors']['timeout'] + r['dropped'], r['planned']), (40, 40))
    s.close()


def too_few_vus_drop_arrivals():
    s = Server('slow', delay=0.5)
    r = load('-r', '50', '-d', '2s', '-c', '5', '--max-vus', '5', s.url, code=1)
    same((r['planned'], r['kept_up']), (100, False))
    between(60, r['dropped'], 85, 'dropped')  # 5 VUs make at most 5 * 4, and a few
    has(r['stderr'], 'were dropped')
    s.close()


def nonsense_is_counted():
    for mode, kind in (('garbage', 'protocol'), ('cut', 'reset')):
        s = Server(mode)
        r = load('-n', '50', '-c', '5', s.url, code=1)
        same((r['requests'], r['ok'], r['errors'][kind]), (50, 0, 50), mode)
        s.close()


def a_server_vanishes():
    s = Server()
    p = subprocess.Popen([BINARY, 'load', '-c', '20', '-d', '2s', '--format', 'json', s.url], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    while s.requests < 100:
        time.sleep(0.01)
    s.close()
    out, _ = p.communicate(timeout=60)
    r = json.loads(out)
    adds_up(r)
    between(100, r['ok'], s.requests, 'ok')
    between(1, r['errors']['connect'], 20 * 25, 'connect')


def a_stall_is_not_omitted():
    """A quarter of the time, arrivals wait up to `stall`: their p99 is stall * (1 - 0.01 / 0.25). A closed loop with
    one VU sees each stall once; corrected for it, it sees what the arrivals see."""
    stall, period = 0.5, 2.0
    s = Server('stall', delay=stall, period=period)
    r = load('-r', '100', '-d', '4s', '--max-vus', '100', s.url, code=None)
    between(0.85 * 960 * stall, r['latency_ms']['p99'], 1.3 * 960 * stall, 'p99 of arrivals')
    r = load('-c', '1', '-d', '4s', '--think', '5ms', s.url)
    raw, corrected = r['latency_ms'], r['latency_ms_corrected']
    slow = 0.5 * 1000 * stall
    if raw['p95'] > slow:
        raise AssertionError('the closed loop saw more than one answer per stall: %r' % raw)
    between(0.8 * 960 * stall, corrected['p99'], 1.3 * 960 * stall, 'corrected p99')
    s.close()


def too_few_descriptors():
    s = Server()
    out = os.path.join(WORK, 'files')
    for processes in ('1', '2'):
        r = load('-c', '100', '-d', '1s', '-p', processes, s.url, code=1, out=out, before=few_files)
        same((r['kept_up'], r['failed']), (False, r['errors']['generator']))
        has(r['stderr'], 'could not be made on this machine: Too many open files')
        between(2, r['connections'] - r['failed'], 80, 'connections')
        between(1 << 20, r['max_rss_bytes'], 1 << 30, 'memory')
        same(os.path.exists(os.path.join(out, 'report.json')), True)
    s.close()


SPEC = '''target: %s
id_header: X-Request-Id
processes: %d
seed: 7
requests:
  - {name: list, weight: 3, path: '/list'}
  - {name: make, method: POST, path: '/make', body: '{"n": {{counter}}, "vu": {{vu}}}'}
phases:
  - {name: warm, executor: shared-iterations, vus: 4, iterations: 40, warmup: true}
  - {name: loop, executor: per-vu-iterations, vus: 4, iterations: 25}
  - {name: lists, executor: constant-arrival-rate, rate: 50, duration: 1s, pre_allocated_vus: 20, requests: [list]}
'''


def a_file_says_it_all():
    for processes in (1, 2):
        s = Server()
        path = os.path.join(WORK, 'spec.yaml')
        with open(path, 'w') as f:
            f.write(SPEC % (s.url, processes))
        r = load('--spec', path, code=None)
        same((r['warmup']['requests'], r['planned'], r['model']), (40, 150, 'mixed'))
        warm, loop, lists = r['phases']
        same((loop['requests'], lists['planned']), (100, 50))
        same(len(set(s.ids)), s.requests, 'unique ids')
        same(s.requests, 40 + 100 + lists['requests'] + lists['aborted'], 'the server saw')
        same(len(set(json.loads(b)['n'] for b in s.bodies)), len(s.bodies), 'counters')
        between(1, len(set(json.loads(b)['vu'] for b in s.bodies)), 4, 'virtual users')
        between(15, len(s.bodies), 60, 'a quarter of 140')
        if loop['begin_ms'] < warm['begin_ms'] + warm['duration_ms'] - 1:
            raise AssertionError('phases overlap: %r' % r['phases'])
        s.close()


def the_seed_decides():
    spec = os.path.join(WORK, 'seed.yaml')
    seen = []
    for processes in (1, 1, 2):
        s = Server()
        with open(spec, 'w') as f:
            f.write('target: %s\nprocesses: %d\nseed: 3\nrequests:\n  - {path: "/a/{{random 1 1000000}}"}\n'
                    '  - {path: "/b/{{random 1 1000000}}", weight: 2}\n'
                    'phases:\n  - {executor: shared-iterations, vus: 2, iterations: 200}\n' % (s.url, processes))
        load('--spec', spec)
        seen.append(sorted(s.paths.items()))
        s.close()
    same(seen[1], seen[0], 'twice the same')
    same(seen[2], seen[0], 'the same by two processes')


def options_make_the_request():
    s = Server()
    r = load('-n', '3', '-m', 'PUT', '-H', 'X-One: a b', '-H', 'Host: other', '-b', '{"n": {{counter}}}', s.url + '/x/y?z=1')
    same((r['ok'], s.paths, s.bodies), (3, {'/x/y?z=1': 3}, ['{"n": 0}', '{"n": 1}', '{"n": 2}']))
    has(s.heads[0], 'PUT /x/y?z=1 HTTP/1.1\r\n', '\r\nX-One: a b\r\n', '\r\nHost: other\r\n')
    r = load('-n', '5', '--no-keepalive', s.url)
    same((r['connections'], s.connections), (5, 6))
    r = load('-r', '20', '-s', '1s:40', '-s', '500ms:40', s.url, code=None)
    same((r['planned'], r['phases'][0]['executor']), (30 + 20, 'ramping-arrival-rate'))
    out = os.path.join(WORK, 'ramp')
    r = load('-s', '1s:8', '-s', '1s:8', '-s', '1s:0', '--think', '20ms', s.url, out=out, code=None)
    with open(os.path.join(out, 'series.csv')) as f:
        rows = list(csv.DictReader(f))
    between(7, int(rows[0]['vus']), 8, 'up')
    same(int(rows[1]['vus']), 8)
    s.close()


def interrupted():
    s = Server()
    for processes in ('1', '2'):
        out = os.path.join(WORK, 'interrupted' + processes)
        p = subprocess.Popen([BINARY, 'load', '-c', '4', '-d', '60s', '-p', processes, '-o', out, s.url],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while s.requests < 50:
            time.sleep(0.01)
        p.send_signal(signal.SIGTERM if processes == '1' else signal.SIGINT)
        p.communicate(timeout=60)
        same(p.returncode, 130)
        with open(os.path.join(out, 'report.json')) as f:
            r = json.load(f)
        same((r['interrupted'], r['complete']), (True, False))
        same(r['requests'] + r['aborted'], r['started'])
        s.requests = 0
    s.close()


def children(pid):
    found = []
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open('/proc/%s/stat' % name) as f:
                    if int(f.read().rsplit(')', 1)[1].split()[1]) == pid:
                        found.append(int(name))
            except (OSError, IndexError):
                pass
    return found


def a_worker_dies():
    s = Server()
    out = os.path.join(WORK, 'died')
    p = subprocess.Popen([BINARY, 'load', '-c', '4', '-d', '60s', '-p', '2', '-o', out, s.url],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while s.requests < 50:
        time.sleep(0.01)
    os.kill(children(p.pid)[0], signal.SIGKILL)
    _, err = p.communicate(timeout=60)
    same(p.returncode, 1)
    has(err, 'of 2 ended after', 'killed by signal 9')
    with open(os.path.join(out, 'report.json')) as f:
        r = json.load(f)
    same((r['kept_up'], r['complete'], r['interrupted']), (False, False, False))
    s.close()


def a_worker_hangs():
    """It is stopped; told to end, the others do, and it is given up after a while."""
    s = Server()
    out = os.path.join(WORK, 'hung')
    p = subprocess.Popen([BINARY, 'load', '-c', '4', '-d', '60s', '-p', '2', '-o', out, s.url],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while s.requests < 50:
        time.sleep(0.01)
    os.kill(children(p.pid)[0], signal.SIGSTOP)
    time.sleep(0.5)
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=60)
    same(p.returncode, 130)
    with open(os.path.join(out, 'report.json')) as f:
        r = json.load(f)
    same((r['kept_up'], r['complete'], r['interrupted']), (False, False, True))
    s.close()


def a_suspended_generator_is_found_out():
    """A closed loop has no lag: without a look at its own clock nothing would tell."""
    s = Server()
    for processes in '1', '2':
        s.requests = 0
        p = subprocess.Popen([BINARY, 'load', '-c', '4', '-d', '4s', '-p', processes, '--think', '5ms', s.url],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while s.requests < 50:
            time.sleep(0.01)
        target = p.pid if processes == '1' else children(p.pid)[0]
        os.kill(target, signal.SIGSTOP)
        time.sleep(2.5)
        os.kill(target, signal.SIGCONT)
        _, err = p.communicate(timeout=60)
        same(p.returncode, 1)
        has(err, 'a generator process stood still for ', ' s: it was suspended, or got no CPU')
    s.close()


def few_bytes():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))


def files_that_cannot_be_written_cost_no_figures():
    s = Server()
    r = load('-n', '50', s.url, code=3, out=os.path.join(WORK, 'full'), before=few_bytes)
    same((r['requests'], r['ok']), (50, 50))
    has(r['stderr'], 'cannot write ', 'the load itself was made')
    s.close()


def a_killed_generator_leaves_its_seconds():
    s = Server()
    out = os.path.join(WORK, 'killed')
    p = subprocess.Popen([BINARY, 'load', '-c', '2', '-d', '60s', '-p', '2', '-o', out, s.url], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    series = os.path.join(out, 'series.csv')
    while not os.path.exists(series) or open(series).read().count('\n') < 3:
        time.sleep(0.05)
    workers = children(p.pid)
    p.kill()
    p.wait()
    p.communicate()
    end = time.monotonic() + 30
    while any(os.path.exists('/proc/%d' % w) for w in workers):  # they end with it
        if time.monotonic() > end:
            raise AssertionError('workers are left')
        time.sleep(0.02)
    with open(series) as f:
        same(len(list(csv.DictReader(f))) >= 2, True, 'rows')
    s.close()


def table(*arguments, code=None):
    r = subprocess.run([BINARY, 'load', *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    if r.returncode not in ((0, 1) if code is None else (code,)):
        raise AssertionError('exit status %d\n%s%s' % (r.returncode, r.stdout, r.stderr))
    return r.stdout + r.stderr


def the_table_says_what_its_figures_are():
    s = Server()
    text = table('-n', '20', '-c', '3', '-p', '8', s.url)
    has(text, 'closed: a slow server is asked less often', 'goodput', 'p99.9', '3 processes (8 were asked for')
    same('corrected ms' in text, False, 'corrected of 20 requests')
    has(table('-r', '200', '-d', '1s', s.url), 'open: latency counts from the planned moment')
    same('never begun' in text, False)
    s.close()
    s = Server('slow', delay=1.0)
    has(table('-c', '2', '-d', '500ms', s.url), 'after the last planned request, until the last answer')
    s.close()
    has(table('-d', '300ms', 'http://127.0.0.1:%d' % s.port, code=1), 'back-offs')


def what_tls_lacks_is_said():
    plain = socket.create_server(('127.0.0.1', 0))
    port = plain.getsockname()[1]

    def answer():
        c, _ = plain.accept()
        c.recv(1000)
        c.sendall(b'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')
        c.close()
    thread = threading.Thread(target=answer)
    thread.start()
    has(table('-n', '1', 'https://127.0.0.1:%d' % port, code=1), 'speaks no TLS', 'hint: http:// instead of https://?')
    thread.join()
    plain.close()
    if not shutil.which('openssl'):
        return
    key, cert = os.path.join(WORK, 'key.pem'), os.path.join(WORK, 'cert.pem')
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2',
                    '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'], check=True, stderr=subprocess.DEVNULL)
    p = subprocess.Popen(['openssl', 's_server', '-www', '-quiet', '-accept', str(port), '-cert', cert, '-key', key])
    try:
        url, end = 'https://127.0.0.1:%d' % port, time.monotonic() + 20
        while 'self-signed' not in (text := table('-n', '1', url, code=1)) and time.monotonic() < end:
            time.sleep(0.05)
        has(text, 'certificate is self-signed', 'hint: --ca-file FILE')
        has(table('-n', '1', '--ca-file', cert, url, code=0), 'status        200 1')
    finally:
        p.kill()
        p.wait()


def thousands_of_vus_are_begun():
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, FILES[1]), FILES[1]))
    s = Server()
    r = load('-c', '1500', '-d', '2s', s.url, code=None)
    resource.setrlimit(resource.RLIMIT_NOFILE, FILES)
    same(r['phases'][0]['vus_late_ms'] > 0, True, 'late')
    same('stall_ms' in r['pacing'], True, 'stall')
    s.close()


def what_is_wrong_is_said():
    phased, rowless = os.path.join(WORK, 'phased.yaml'), os.path.join(WORK, 'rowless.yaml')
    with open(phased, 'w') as f:
        f.write('target: http://127.0.0.1:1\nphases: [{executor: constant-vus, duration: 1s}]\n')
    with open(rowless, 'w') as f:
        f.write('target: http://127.0.0.1:1\nduration: 1s\ndata: nowhere.csv\n')
    for arguments, code, text in (
            ([], 2, 'nothing to load'), (['-c', '0', 'http://x'], 2, 'vus'), (['127.0.0.1:80'], 2, 'no URL'),
            (['-s', '10', 'http://127.0.0.1:1'], 2, 'no stage'),
            (['-s', '2:20', 'http://127.0.0.1:1'], 2, "'--stage 2:20': duration '2' has no unit"),
            (['--expect-body', 'wo(rld', 'http://127.0.0.1:1'], 2, "'--expect-body': bad regular expression"),
            (['--path', '/x', 'http://127.0.0.1:1'], 2, 'the path is part of the URL'),
            (['--spec', phased, '-d', '1s'], 2, "'--duration' is for a workload without 'phases'"),
            (['--spec', phased, '-s', '1s:2'], 2, 'beside a file go a URL'),
            (['--spec', rowless], 2, "rowless.yaml:3:7: data: "), (['-H', 'x', 'http://127.0.0.1:1'], 2, 'no header'),
            (['-b', '{{nope}}', 'http://127.0.0.1:1'], 2, 'nope'), (['--spec', '/nowhere'], 3, '/nowhere'),
            (['-d', '1s', '-o', '/proc/x', 'http://127.0.0.1:1'], 3, '/proc/x'),
            (['-d', '1s', '-p', '2', '-c', '2', 'http://no-such-host.invalid'], 3, 'no-such-host.invalid')):
        has(load(*arguments, code=code)['stderr'], text)


def main():
    tests = [good, open_model_is_exact, one_second_after_the_other, fails_with_500, each_connection_is_closed,
             nobody_answers, connections_break, time_outs_are_censored, too_few_vus_drop_arrivals, nonsense_is_counted,
             too_few_descriptors, a_server_vanishes, a_stall_is_not_omitted, a_file_says_it_all, the_seed_decides,
             options_make_the_request, interrupted, a_worker_dies, a_worker_hangs,
             a_suspended_generator_is_found_out, files_that_cannot_be_written_cost_no_figures,
             a_killed_generator_leaves_its_seconds, the_table_says_what_its_figures_are, what_tls_lacks_is_said,
             thousands_of_vus_are_begun, what_is_wrong_is_said]
    try:
        for test in tests:
            began = time.monotonic()
            test()
            print('ok: %s (%.1f s)' % (test.__name__, time.monotonic() - began), flush=True)
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


if __name__ == '__main__':
    main()
