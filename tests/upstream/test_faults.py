#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Failures as clients see them, the same for the same seed whatever the order, and stalls of the whole server."""
import random
import threading
import time

from mock import Mock, kind, read_all, same, wait_for

SHARES = '{500: 10%, 503: 5%, reset: 10%, close: 10%, truncate: 10%, garbage: 10%, timeout: 10%}'
CONFIG = '''
endpoints:
  /mixed: {failures: %s, timeout_after: 30ms, body: '0123456789'}
  /other: {failures: %s, timeout_after: 30ms, body: '0123456789'}
  /made: {failures: {truncate: 50%%}, body: '{"id": "{{id}}", "n": {{random 1000 9999}}}'}
  /reset: {failures: {reset: 100%%}}
  /late: {failures: {timeout: 100%%}, timeout_after: 400ms}
  /never: {failures: {timeout: 100%%}, timeout_after: never}
''' % (SHARES, SHARES)
COUNT = 400


def sequence(m, path='/mixed'):
    return [kind(m.ask(path)) for _ in range(COUNT)]


def by_id(m, order):
    got = {}
    for i in order:
        got[i] = kind(m.ask('/mixed', headers='x-request-id: run-%d\r\n' % i))
    return [got[i] for i in range(COUNT)]


def the_same_seed_gives_the_same_faults():
    with Mock(CONFIG, '--seed', '5') as m:
        first = sequence(m)
        ids = by_id(m, range(COUNT))
        stats = m.stats()['endpoints']['/mixed']
        for name in ('500', '503', 'reset', 'close', 'truncate', 'garbage'):
            same(stats['failures'][name], (first + ids).count(name), name)
        same(stats['failures']['timeout'] > 0, True)
        same(stats['served'] + stats['failures']['timeout'], (first + ids).count('200'))
        same([stats['requests'], stats['aborted'], stats['in_flight']], [2 * COUNT, 0, 0])
        same(sequence(m, '/other') != first, True, 'another endpoint')
        m.ask('/__reset', 'POST')
        same(sequence(m), first, 'after a reset')
    # 4 standard deviations about the share of 400
    for name, share in (('500', .1), ('503', .05), ('reset', .1), ('close', .1), ('truncate', .1), ('garbage', .1)):
        low, high = (COUNT * share + k * 4 * (COUNT * share * (1 - share)) ** .5 for k in (-1, 1))
        same(low <= first.count(name) <= high, True, '%s: %d of %d' % (name, first.count(name), COUNT))
    order = list(range(COUNT))
    random.Random(1).shuffle(order)
    with Mock(CONFIG, '--seed', '5') as m:
        same(by_id(m, order), ids, 'in another order')
        same(sequence(m), first, 'after requests with ids')
    with Mock(CONFIG, '--seed', '6') as m:
        same(sequence(m) != first, True, 'another seed')


def the_same_faults_on_a_kept_connection_and_for_head():
    with Mock('endpoints: {/a: {failures: {500: 50%}, body: x}}') as m:
        alone = [kind(m.ask('/a')) for _ in range(100)]
        m.ask('/__reset', 'POST')
        with m.connect() as s:
            s.sendall(b'GET /a HTTP/1.1\r\n\r\n' * 99 + b'GET /a HTTP/1.1\r\nConnection: close\r\n\r\n')
            answers = read_all(s).split(b'HTTP/1.1 ')[1:]
        same([a[:3].decode() for a in answers], alone)
        m.ask('/__reset', 'POST')
        same([m.ask('/a', 'HEAD').split()[1].decode() for _ in range(100)], alone)


def rendered_answers_are_truncated_too():
    with Mock(CONFIG) as m:
        got = [m.ask('/made', headers='X-Request-Id: %d\r\n' % i) for i in range(100)]
        stats = m.stats()['endpoints']['/made']
        same(stats['failures']['truncate'], [kind(g) for g in got].count('truncate'))
        same(stats['served'], [kind(g) for g in got].count('200'))
        same(20 < stats['served'] < 80, True)
        same({len(g.split(b'\r\n\r\n')[1]) for i, g in enumerate(got) if i > 9 and kind(g) == 'truncate'}, {11})


def resets_are_resets():
    with Mock(CONFIG) as m:
        for _ in range(20):
            same(m.ask('/reset'), 'reset')
        with m.connect() as s: # also with a body under way
            s.sendall(b'POST /reset HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello')
            same(read_all(s), 'reset')


def timeouts():
    with Mock(CONFIG) as m:
        began = time.monotonic()
        same(kind(m.ask('/late')), '200')
        if time.monotonic() - began < 0.4:
            raise AssertionError('too early')
        same(m.ask('/never', timeout=0.3), 'timeout')
        # the client went away: nothing of it is left
        wait_for('aborted', lambda: m.stats()['endpoints']['/never']['aborted'] == 1)
        same(m.stats()['endpoints']['/never']['in_flight'], 0)
        same(m.stats()['connections'], 1)


def stalls():
    """Requests every 20 ms for three stalls: who was sent in one is answered at its end, not before."""
    every, length = 1.0, 0.5
    with Mock('endpoints: {/a: {}}', '--stall', '1s/500ms') as m:
        before = time.monotonic()
        up = m.stats()['up_ms'] / 1000
        after = time.monotonic()
        sent, answered, threads = {}, {}, []

        def one(i):
            with m.connect() as s:
                sent[i] = time.monotonic()
                s.sendall(b'GET /a HTTP/1.1\r\nConnection: close\r\n\r\n')
                same(kind(read_all(s)), '200')
                answered[i] = time.monotonic()

        for i in range(160):
            threads.append(threading.Thread(target=one, args=(i,)))
            threads[-1].start()
            time.sleep(0.02)
        for t in threads:
            t.join()
        same(len(answered), 160)
        inside = 0
        for i, t in sent.items():
            earliest, latest = up + t - after, up + t - before # of the server's clock
            into = earliest % every
            if earliest >= every and into > 0.01 and latest - earliest < 0.1 and into + (latest - earliest) < length:
                inside += 1
                waited = answered[i] - t
                least = length - into - (latest - earliest) - 0.01
                same(waited >= least, True, 'waited %.3f s of %.3f s' % (waited, least))
        same(inside >= 20, True, '%d requests met a stall' % inside)
        same(m.stats()['stalls'] >= 3, True)


for test in (the_same_seed_gives_the_same_faults, the_same_faults_on_a_kept_connection_and_for_head,
             rendered_answers_are_truncated_too, resets_are_resets,
             timeouts, stalls):
    test()
