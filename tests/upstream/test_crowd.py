#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ten thousand requests that wait at the same time, and what is left of them."""
import socket

from mock import Mock, kind, raise_limit, read_all, same, wait_for

CROWD = 10000


def connect_all(m, count, path):
    got = []
    for i in range(count):
        s = socket.socket()
        # one client address has ports for 28,000; in steps the queue of the listener never runs over
        s.settimeout(60)
        s.connect(('127.0.0.1', m.port))
        s.sendall(b'GET %s HTTP/1.1\r\nConnection: close\r\n\r\n' % path)
        got.append(s)
    return got


raise_limit(CROWD + 200)
with Mock('''
endpoints:
  /never: {failures: {timeout: 100%}, timeout_after: never}
  /slow: {latency: {uniform: [1s, 1500ms]}, body: slow}
''') as mock:
    waiting = connect_all(mock, CROWD, b'/never')
    wait_for('all in flight', lambda: mock.stats()['in_flight'] == CROWD)
    same(mock.stats()['endpoints']['/never']['peak_in_flight'], CROWD)
    same(kind(mock.ask('/__health')), '200')
    rss = mock.rss_kib()
    same(rss < 256 * 1024, True, 'resident %d KiB' % rss)
    for s in waiting:
        s.close()
    wait_for('all given up', lambda: mock.stats()['in_flight'] == 0)
    same(mock.stats()['endpoints']['/never']['aborted'], CROWD)
    wait_for('all closed', lambda: mock.stats()['connections'] == 1)
    slow = connect_all(mock, CROWD, b'/slow')
    same(sum(read_all(s).endswith(b'slow') for s in slow), CROWD)
    same(mock.stats()['endpoints']['/slow']['served'], CROWD)
    # some still wait when it is told to end
    waiting = connect_all(mock, 100, b'/never')
    wait_for('some in flight', lambda: mock.stats()['in_flight'] == 100)
