#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a client gets in the good case: heads, bodies, kept connections, pipelines, bodies of requests, counters."""
import signal
import subprocess
import sys
import time

from mock import Mock, kind, read_all, same, wait_for

CONFIG = '''
endpoints:
  /hello: {body: hello}
  /made: {status: 201, content_type: text/plain, body: '{{counter}} {{id}} {{path}} {{random 5 5}} {{what}}'}
  /none: {status: 204}
  /under/*: {body: under}
  /slow: {latency: 150ms, body: slow}
  /large: {body_bytes: 8m}
'''
HELLO = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\nhello'


def answers(m):
    same(m.ask('/hello'), HELLO.replace(b'\r\n\r\n', b'\r\nConnection: close\r\n\r\n'))
    same(m.ask('/hello?x=1&y'), m.ask('/hello'))
    same(m.ask('http://a.b/hello'), m.ask('/hello'))
    same(m.ask('/hello', 'HEAD'), m.ask('/hello')[:-5])
    same(kind(m.ask('/none')), '204')
    same(b'Content-Length' in m.ask('/none'), False)
    same(m.ask('/under/a/b')[-5:], b'under')
    same(kind(m.ask('/under')), '404')
    same(kind(m.ask('*', 'OPTIONS')), '404')
    same(len(m.ask('/large').split(b'\r\n\r\n', 1)[1]), 8 << 20)
    same(m.ask('/made', headers='X-Request-Id: a"\\<7>\r\n').split(b'\r\n\r\n')[1], b'0 a___7_ /made 5 {{what}}')
    same(m.ask('/made').split(b'\r\n\r\n')[1], b'1  /made 5 {{what}}')
    same(m.ask('/hello', version='1.0').split(b'\r\n')[0], b'HTTP/1.1 200 OK')


def kept_connections(m):
    with m.connect() as s:
        for _ in range(3):
            s.sendall(b'GET /hello HTTP/1.1\r\nHost: x\r\n\r\n')
            same(s.recv(4096), HELLO)
        s.sendall(b'GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
        same(b'Connection: keep-alive\r\n' in s.recv(4096), True)
        # a pipeline, with an answer that takes its time in the middle, is answered in order
        s.sendall(b'GET /hello HTTP/1.1\r\n\r\nGET /slow HTTP/1.1\r\n\r\n\r\nGET /hello HTTP/1.1\r\nConnection: close\r\n\r\n')
        got = read_all(s)
        same([got.count(b'hello'), got.count(b'slow'), got.index(b'slow') > got.index(b'hello')], [2, 1, True])
    with m.connect() as s: # a byte at a time
        for byte in b'GET /hello HTTP/1.1\r\nHost: x\r\n\r\n':
            s.sendall(bytes([byte]))
        same(s.recv(4096), HELLO)
    with m.connect() as s: # a long pipeline
        s.sendall(b'GET /hello HTTP/1.1\r\n\r\n' * 5000 + b'GET /hello HTTP/1.1\r\nConnection: close\r\n\r\n')
        same(read_all(s).count(b'hello'), 5001)


def bodies(m):
    post = b'POST /hello HTTP/1.1\r\n'
    with m.connect() as s:
        s.sendall(post + b'Content-Length: 100000\r\n\r\n' + b'GET /' * 20000)
        same(s.recv(4096), HELLO)
        s.sendall(post + b'Transfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n0\r\nA: b\r\n\r\n')
        same(s.recv(4096), HELLO)
        s.sendall(post + b'Content-Length: 3\r\nExpect: 100-continue\r\n\r\n')
        same(s.recv(4096), b'HTTP/1.1 100 Continue\r\n\r\n')
        s.sendall(b'abcGET /hello HTTP/1.1\r\n\r\n')
        wait_for('two answers', lambda: len(s.recv(4096, 2)) == 2 * len(HELLO)) # 2: MSG_PEEK
        same(s.recv(4096), HELLO * 2)


def large_answers_to_slow_readers(m):
    with m.connect() as s:
        s.sendall(b'GET /large HTTP/1.1\r\n\r\n' * 3)
        time.sleep(0.2)
        total, head = 0, len(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8388608\r\n\r\n')
        while total < 3 * ((8 << 20) + head):
            total += len(s.recv(1 << 20))
        same(total, 3 * ((8 << 20) + head))


def counters(m):
    same(kind(m.ask('/__reset')), '405')
    same(kind(m.ask('/__reset', 'POST')), '200')
    same(m.ask('/__health')[-3:], b'ok\n')
    with m.connect() as a, m.connect() as b:
        for s in (a, b):
            s.sendall(b'GET /slow HTTP/1.1\r\nConnection: close\r\n\r\n')
        same([read_all(a)[-4:], read_all(b)[-4:]], [b'slow', b'slow'])
    m.ask('/hello')
    m.ask('/nobody')
    got = m.stats()
    same([got['requests'], got['served'], got['in_flight'], got['peak_in_flight'], got['not_found']], [3, 3, 0, 2, 1])
    same(got['endpoints']['/slow'],
         {'requests': 2, 'served': 2, 'aborted': 0, 'in_flight': 0, 'peak_in_flight': 2, 'failures': {}})


def latency_is_waited():
    with Mock('endpoints: {/a: {latency: 200ms}}') as m:
        began = time.monotonic()
        same(kind(m.ask('/a')), '200')
        took = time.monotonic() - began
        if took < 0.2:
            raise AssertionError('answered after %.3f s' % took)


def modes():
    with Mock('http: "1.0"\nendpoints: {/a: {body: x}}') as m, m.connect() as s:
        s.sendall(b'GET /a HTTP/1.1\r\n\r\n')
        same(s.recv(4096).split(b'\r\n')[0::3], [b'HTTP/1.0 200 OK', b'Connection: keep-alive', b'x'][:1] + [b'Connection: keep-alive'])
    with Mock('endpoints: {/a: {body: x}}', '--close') as m, m.connect() as s:
        s.sendall(b'GET /a HTTP/1.1\r\n\r\n')
        same(b'Connection: close' in read_all(s), True)
    with Mock('max_connections: 2\nendpoints: {/a: {}}') as m, m.connect(), m.connect():
        time.sleep(0.1)
        with m.connect() as s:
            same(kind(read_all(s)), '503')


def command_line():
    def run(*argv, env=None):
        r = subprocess.run([sys.argv[1], *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env or {})
        return r.returncode, r.stdout, r.stderr

    same(run('--help')[0], 0)
    same(run()[0], 2)
    same(run('--nonsense')[0], 2)
    same(run('/nowhere.yaml')[0] != 0, True)
    code, _, said = run(env={'UPSTREAM_CONFIG': 'upstream: 1\nendpoints: {/a: {latncy: 1s}}\n'})
    same([code, 'UPSTREAM_CONFIG:2:' in said, "did you mean 'latency'?" in said], [2, True, True])
    same(run('--stall', '2s/10s', env={'UPSTREAM_CONFIG': 'upstream: 1\nendpoints: {}\n'})[0], 2)
    same(run('--port', '70000', env={'UPSTREAM_CONFIG': 'upstream: 1\nendpoints: {}\n'})[0], 2)


def ends_as_process_one():
    prefix = ('unshare', '--pid', '--fork', '--kill-child')
    if subprocess.run([*prefix, 'true'], stderr=subprocess.DEVNULL).returncode:
        print('skipped: no PID namespace')
        return
    m = Mock('endpoints: {/a: {failures: {timeout: 100%}, timeout_after: never}}', prefix=prefix)
    s = m.connect()
    s.sendall(b'GET /a HTTP/1.1\r\n\r\n')
    wait_for('in flight', lambda: m.stats()['in_flight'] == 1)
    children = '/proc/%d/task/%d/children' % (m.child.pid, m.child.pid)
    with open(children) as f:
        inner = int(f.read().split()[0])
    subprocess.run(['kill', '-TERM', str(inner)], check=True)
    same(m.child.wait(30), 0, 'exit status')
    s.close()


with Mock(CONFIG) as mock:
    for test in (answers, kept_connections, bodies, large_answers_to_slow_readers, counters):
        test(mock)
for test in (latency_is_waited, modes, command_line, ends_as_process_one):
    test()
with Mock('endpoints: {}') as mock:
    mock.child.send_signal(signal.SIGINT)
