# SPDX-License-Identifier: MIT
"""What the tests of the mock upstream share: the program as a child, and bytes to and from it."""
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time

SKIPPED = 77


def same(actual, expected, what=''):
    if actual != expected:
        raise AssertionError('%s: %r instead of %r' % (what, actual, expected))


def skip(why):
    print('skipped:', why)
    sys.exit(SKIPPED)


def raise_limit(wanted):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        skip('only %d descriptors are allowed' % hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Mock:
    """With its configuration as text; ends with status 0, or the test fails."""

    def __init__(self, config, *options, prefix=()):
        if len(sys.argv) != 2:
            sys.exit('usage: %s UPSTREAM' % sys.argv[0])
        env = dict(os.environ, UPSTREAM_CONFIG='upstream: 1\n' + config)
        self.errors = tempfile.TemporaryFile()
        self.child = subprocess.Popen([*prefix, sys.argv[1], '--host', '127.0.0.1', '--port', '0', *options], env=env,
                                      stdout=subprocess.PIPE, stderr=self.errors, text=True)
        line = self.child.stdout.readline()
        if not line:
            self.child.wait()
            raise AssertionError('did not start: ' + self.said())
        self.port = int(line.rsplit(':', 1)[1])

    def said(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors='replace')

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
        status = self.child.wait(30)
        said = self.said()
        if kind is None and (status != 0 or said):
            raise AssertionError('exit status %d: %s' % (status, said))
        if said:
            print(said)

    def connect(self, timeout=30):
        s = socket.create_connection(('127.0.0.1', self.port), timeout=timeout)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s

    def ask(self, path, method='GET', headers='', body=b'', version='1.1', timeout=30):
        """One request on a connection of its own, all that is answered: bytes, or the kind of failure."""
        with self.connect(timeout) as s:
            s.sendall(('%s %s HTTP/%s\r\nConnection: close\r\n%s\r\n' % (method, path, version, headers)).encode() + body)
            return read_all(s)

    def stats(self):
        return json.loads(self.ask('/__stats').split(b'\r\n\r\n', 1)[1])

    def rss_kib(self):
        with open('/proc/%d/status' % self.child.pid) as f:
            return int(next(line for line in f if line.startswith('VmRSS')).split()[1])


def read_all(s):
    got = b''
    try:
        while True:
            piece = s.recv(65536)
            if not piece:
                return got
            got += piece
    except ConnectionResetError:
        return 'reset'
    except socket.timeout:
        return 'timeout'


def kind(answer):
    """What a client sees, in one word."""
    if isinstance(answer, str):
        return answer
    if not answer:
        return 'close'
    if not answer.startswith(b'HTTP/1.'):
        return 'garbage'
    head, _, body = answer.partition(b'\r\n\r\n')
    length = [int(line.split(b':')[1]) for line in head.split(b'\r\n') if line.lower().startswith(b'content-length:')]
    if length and len(body) < length[0]:
        return 'truncate'
    return head.split()[1].decode()


def wait_for(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError('never: ' + what)
        time.sleep(0.02)
