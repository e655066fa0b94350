#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Watching a sweep: status files, `benchctl status`, webhooks, the service manager's socket, keys on a terminal, and
what signals mean."""
import http.server
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import termios
import threading
import time

from e2e import has, main, same, wait_for

MATRIX = '''benchctl: 1
name: watched
title: 'a <b>title</b> & more'
axes: {x: [a, b, c]}
trials: 1
retry: 0
order: {mode: listed}
cooldown: 0ms
app: {image: '%s', build: {context: app}, port: 8080, ready: {http: /health}, memory: 64m}
load: {adapter: idle, duration: 300ms}
'''
SECRET = 'hook-7d1f9a52c3'


class Hook(http.server.BaseHTTPRequestHandler):
    bodies, paths = [], []

    def do_POST(self):
        Hook.paths.append(self.path)
        Hook.bodies.append(json.loads(self.rfile.read(int(self.headers['Content-Length']))))
        self.send_response(200)
        self.send_header('Content-Length', '0')
        self.end_headers()

    def log_message(self, *_):
        pass


def status(lab, out, code=0):
    return json.loads(lab.benchctl('status', '--format', 'json', lab.path(out), code=code).stdout)


def step_of(lab, out):
    try:
        s = json.loads(lab.read(out + '/status.json'))
        return s['scenario'], s['step']
    except (OSError, ValueError):
        return None, None


def in_step(lab, out, scenario, step):
    wait_for('%s of %s' % (step, scenario), lambda: step_of(lab, out) == (scenario, step))


def listen(manager, said):
    while True:  # few datagrams fit into a socket: nobody may make a manager wait
        said.append(manager.recv(4096).decode())


def a_sweep_tells_of_itself(lab):
    """Webhook, service manager and status files of one that ends well but for one failure."""
    lab.write('m.yaml', MATRIX % lab.image('app'))
    server = http.server.HTTPServer(('127.0.0.1', 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(lab.path('notify'))
    said = []
    threading.Thread(target=listen, args=(manager, said), daemon=True).start()
    url = 'http://user:%s@127.0.0.1:%d/%s' % (SECRET, server.server_port, SECRET)
    lab.write('n.yaml', MATRIX % lab.image('app') + 'notify: {webhook: "${env:HOOK}"}\n'
              'overrides: [{when: {x: b}, set: {app: {command: [deaf], ready: {http: /health, timeout: 300ms}}}}]\n')
    lab.run('n.yaml', 'told', env={'HOOK': url, 'NOTIFY_SOCKET': lab.path('notify'), 'WATCHDOG_USEC': '600000'})
    server.shutdown()
    wait_for('the last word', lambda: any('exit code' in m for m in said))
    has(said[0] + said[1], 'READY=1')
    assert 'WATCHDOG=1' in said, said
    has('\n'.join(said), 'STATUS=', ' a: load', 'STOPPING=1')

    same([b['event'] for b in Hook.bodies], ['started', 'failed', 'finished'])
    started, failed, finished = Hook.bodies
    same(set(Hook.paths), {'/' + SECRET})
    same((started['trials'], started['sweep']), (3, 'watched'))
    same(failed['first_failure']['scenario'], 'b')
    same((finished['state'], finished['exit_code'], finished['outcomes']), ('complete', 0, {'ok': 2, 'not-ready': 1}))
    has(finished['text'], '3 of 3 trials', 'exit code 0')
    same(finished['report'], os.path.realpath(lab.path('told/report.html')))
    for b in Hook.bodies:
        assert SECRET not in json.dumps(b), b

    s = json.loads(lab.read('told/status.json'))
    same((s['schema'], s['state'], s['sealed'], s['outcomes']), (1, 'complete', 3, {'ok': 2, 'not-ready': 1}))
    same((s['first_failure']['scenario'], s['last']['scenario']), ('b', 'c'))
    page = lab.read('told/status.html')
    has(page, 'a &lt;b&gt;title&lt;/b&gt; &amp; more', 'complete')
    assert 'http-equiv="refresh"' not in page and '<script' not in page
    for base, _, names in os.walk(lab.path('told')):
        for n in names:
            with open(os.path.join(base, n), 'rb') as f:
                assert SECRET.encode() not in f.read(), os.path.join(base, n)
    same(status(lab, 'told')['state'], 'complete')
    bundle = json.loads(lab.benchctl('status', '--format', 'json', lab.path('told.tar.zst')).stdout)
    same((bundle['bundle'], bundle['state']), (True, 'complete'))
    has(lab.benchctl('status', lab.path('told.tar.zst')).stdout, 'this is a bundle')
    assert 'status.' not in lab.benchctl('bundle', 'list', lab.path('told.tar.zst')).stdout


def signals_mean_what_they_should(lab):
    p = lab.start('run', 'm.yaml', '--out', lab.path('sig'), '--set', 'load.duration=30s')
    in_step(lab, 'sig', 'a', 'load')
    p.send_signal(signal.SIGHUP)
    p.send_signal(signal.SIGUSR1)
    wait_for('the status line', lambda: '1/3 a: load' in lab.read('background.log'))
    s = status(lab, 'sig')
    same((s['state'], s['trial'], s['trials'], s['sealed'], s['step']), ('running', 1, 3, 0, 'load'))
    assert s['pid'] == p.pid and s['eta_s'] > 0 and s['free_disk_bytes'] > 0
    has(lab.read('sig/status.html'), 'http-equiv="refresh"')
    with open(lab.path('sig/status.json'), 'w') as f:
        f.write('{"state": ')
    same(lab.benchctl('status', lab.path('sig'), code=0).stderr, '')
    p.kill()
    p.wait()
    s = status(lab, 'sig', code=1)
    same(s['state'], 'interrupted')
    has(s['reason'], 'killed')
    has(lab.benchctl('status', lab.path('sig'), code=1).stdout, 'benchctl resume')
    lab.benchctl('clean')


def standing_still_spoils_a_trial(lab):
    p = lab.start('run', 'm.yaml', '--out', lab.path('still'), '--filter', 'x=a', '--set', 'load.duration=4500ms')
    in_step(lab, 'still', 'a', 'load')
    p.send_signal(signal.SIGSTOP)
    time.sleep(2.5)
    p.send_signal(signal.SIGCONT)
    same(p.wait(60), 1, lab.read('background.log'))
    has(lab.trial('still', 'a')['reason'], 'benchctl itself was stopped')


class Terminal:
    """benchctl on a terminal of its own, in its foreground."""

    def __init__(self, lab, *argv):
        lab.dirs += [argv[i + 1] for i, a in enumerate(argv) if a == '--out']
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        self.text = ''
        self.p = subprocess.Popen([lab.binary, *argv], cwd=lab.dir, env=lab.env({'TERM': 'xterm'}), stdin=self.slave,
                                  stdout=self.slave, stderr=self.slave, start_new_session=True,
                                  preexec_fn=self.take)

    def take(self):
        import fcntl
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def read(self):
        while select.select([self.master], [], [], 0)[0]:
            self.text += os.read(self.master, 65536).decode('utf-8', 'replace')
        return self.text

    def shows(self, text):
        wait_for('%r on the terminal' % text, lambda: text in self.read())

    def press(self, keys):
        os.write(self.master, keys.encode())

    def in_step(self, lab, out, scenario, step):
        def there():
            self.read()
            return step_of(lab, out) == (scenario, step)
        wait_for('%s of %s' % (step, scenario), there)

    def wait(self, code):
        def ended():
            self.read()
            return self.p.poll() is not None
        wait_for('the end', ended, 60)
        same(self.p.returncode, code, self.text[-3000:])
        after = termios.tcgetattr(self.slave)
        same(after[3] & (termios.ICANON | termios.ECHO), self.before[3] & (termios.ICANON | termios.ECHO),
             'modes of the terminal')
        os.close(self.slave)
        os.close(self.master)


def keys_do_what_they_say(lab):
    t = Terminal(lab, 'run', 'm.yaml', '--out', lab.path('keys'), '--set', 'load.duration=30s')
    t.in_step(lab, 'keys', 'a', 'load')
    assert not termios.tcgetattr(t.slave)[3] & termios.ICANON, 'single keys are not read'
    t.press('?')
    t.shows('skip this trial')
    t.press('l')
    t.shows('listening on 8080')
    t.press('s')
    t.in_step(lab, 'keys', 'b', 'load')
    same(lab.trial('keys', 'a')['outcome'], 'skipped')
    has(lab.trial('keys', 'a')['reason'], 'skipped by the keyboard')
    t.press('q')
    t.press('s')
    t.wait(130)
    has(re.sub(r'\s+', ' ', t.text), 'stopping after this trial')
    same(sorted(lab.sealed('keys')), sorted(lab.path('keys/trials/%s/1' % x) for x in 'ab'))
    same(status(lab, 'keys', code=1)['state'], 'interrupted')
    lab.nothing_left()


def the_terminal_goes_away(lab):
    t = Terminal(lab, 'run', 'm.yaml', '--out', lab.path('gone'), '--filter', 'x!=c', '--set', 'load.duration=1s')
    t.in_step(lab, 'gone', 'a', 'load')
    os.close(t.slave)
    os.close(t.master)  # SIGHUP, and every write to it fails from now on
    same(t.p.wait(60), 0, 'exit status')
    same(len(lab.sealed('gone')), 2, 'sealed')


def control_c_and_again(lab):
    t = Terminal(lab, 'run', 'm.yaml', '--out', lab.path('int'), '--set', 'load.duration=30s')
    t.in_step(lab, 'int', 'a', 'load')
    t.press('\x03')
    t.shows('interrupted, cleaning up')
    t.wait(130)
    lab.nothing_left()


if __name__ == '__main__':
    sys.exit(main([a_sweep_tells_of_itself, signals_mean_what_they_should, standing_still_spoils_a_trial,
                   keys_do_what_they_say, the_terminal_goes_away, control_c_and_again]))
