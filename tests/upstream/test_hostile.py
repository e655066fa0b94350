#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients that mean harm, or are broken: whatever they send, the next one is answered."""
import random
import socket
import struct

from mock import Mock, kind, read_all, same, wait_for

CONFIG = '''
endpoints:
  /a: {body: x}
  /t/*: {body: '{{id}}{{path}}'}
  /slow: {latency: 20ms}
  /large: {body_bytes: 1m}
  /mixed: {failures: {500: 20%, reset: 20%, garbage: 20%, truncate: 20%}}
'''
GOOD = b'POST /t/x?y HTTP/1.1\r\nHost: a\r\nX-Request-Id: 7\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'
HEAD = b'GET /a HTTP/1.1\r\n'


def send(m, data, end='shut'):
    with m.connect(10) as s:
        try:
            s.sendall(data)
            if end == 'shut':
                s.shutdown(socket.SHUT_WR)
                return read_all(s)
            if end == 'reset':
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        except OSError: # reset, or closed already
            return 'reset'
    return ''


def refused(m):
    for data, status in ((b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\n\n', '400'), (b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '505'),
                         (HEAD + b'A: ' + b'b' * 16400, '431'), (HEAD + b'A: b\r\n' * 5000, '431'), (b'a' * 20000, '431'),
                         (HEAD + b'Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', '400'),
                         (HEAD + b'Transfer-Encoding: chunked\r\n\r\nzz\r\n', '400'),
                         (HEAD + b'Content-Length: 18446744073709551617\r\n\r\n', '400'), (b'\r\n' * 100 + b'x\r\n\r\n', '400')):
        same(kind(send(m, data)), status, repr(data[:40]))
    # the refusal arrives though much more was sent than is ever read
    same(kind(send(m, b'nonsense\r\n\r\n' + b'x' * 3000000)) in ('400', 'reset'), True)
    same(send(m, HEAD), b'')
    same(send(m, b''), b'')


def mutated(rng, data):
    out = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(out) + 1)
        what = rng.randrange(4)
        if what == 0:
            out[at:at] = rng.choice((b'\r\n', b'\n', b'\0', b':', b' ', b'\xff', b'{{', b'0\r\n\r\n', b'A' * rng.randrange(9000)))
        elif what == 1:
            del out[at:at + rng.randrange(20)]
        elif what == 2 and at < len(out):
            out[at] = rng.randrange(256)
        else:
            out[at:at] = out[:rng.randrange(len(out) + 1)]
        out = out[:60000]
    return bytes(out)


def random_bytes(m):
    rng = random.Random(7)
    seeds = (GOOD, HEAD + b'Connection: keep-alive\r\n\r\n', HEAD + b'Content-Length: 9\r\n\r\n123456789' + HEAD + b'\r\n',
             b'GET /slow HTTP/1.1\r\n\r\nGET /large HTTP/1.0\r\n\r\n', b'GET /mixed HTTP/1.1\r\n\r\n' * 10, b'')
    for i in range(1500):
        data = rng.choice(seeds)
        data = mutated(rng, data) if rng.random() < 0.9 else rng.randbytes(rng.randrange(30000))
        send(m, data, rng.choice(('shut', 'close', 'reset')))
        if i % 100 == 0:
            same(kind(m.ask('/a')), '200', 'after %d' % i)


with Mock(CONFIG) as mock:
    refused(mock)
    random_bytes(mock)
    same(kind(mock.ask('/a')), '200')
    wait_for('all closed', lambda: mock.stats()['connections'] == 1)
    same(mock.stats()['in_flight'], 0)
