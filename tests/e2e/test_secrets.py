#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Secrets planted wherever a sweep can get one, on a real engine: in none of the files that benchctl writes, nor in what it
prints, in the bundle, in a webhook or in the list of processes."""
import base64
import http.server
import json
import os
import subprocess
import sys
import threading
import time

from e2e import has, main, same

# what each is called below, and its value; all of them need escaping somewhere
PLANTED = {
    'env': 'plant-env/"q"+5d1c',
    'key': 'plant-key/1f&0e',
    'url': 'plant-url-77aa',
    'database': "plant-db-c3c3",
    'header': 'plant-header-9b9b',
    'hook': 'plant-hook-4e4e',
    'unused': 'plant-unused-2d2d',
    'set': 'plant-set-8f8f',
    'address': 'plant-address-6b6b',
}
ADDRESS = 'postgresql://bench:%s@h/db' % PLANTED['address']
PROGRAM = '''import http.server, os, sys
for name in sorted(os.environ):
    print(name, os.environ[name], flush=True)
    print(name, os.environ[name], file=sys.stderr, flush=True)
with open('/tmp/found.txt', 'w') as f:
    f.write(repr(dict(os.environ)))
if os.environ['WAY'] == 'crash':
    for stream in (sys.stdout, sys.stderr):  # the engine may take the one before the other: it is the last line of both
        print('cannot log in as bench with ' + os.environ['KEY_PASSWORD'] + ' at ' + os.environ['DB_URL'], file=stream, flush=True)
    sys.exit(1)
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        body = ('you sent %s' % self.headers.get('X-Api-Token')).encode()
        self.send_response(500 if 'bad' in self.path else 200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *a):
        print('asked with', self.headers.get('X-Api-Token'), flush=True)
http.server.ThreadingHTTPServer(('', 8080), Handler).serve_forever()
'''
MATRIX = '''benchctl: 1
name: secrets
axes: {way: [serve, crash]}
trials: 1
retry: 0
notify: {webhook: "http://127.0.0.1:%d/hooks/%s", on: [started, failed, finished]}
app:
  image: benchctl/python:12
  command: [python3, -c, %s]
  env:
    WAY: ${way}
    FROM_ENV: "${secret:PLANT_ENV}"
    KEY_PASSWORD: %s
    DB_URL: "postgresql://bench:%s@nowhere/x?sslmode=disable"
    SET_TOKEN: none
    SET_ADDRESS: none
  port: 8080
  ready: {http: /, timeout: 30s}
artifacts: [{from: app, path: /tmp/found.txt}]
load:
  adapter: builtin
  requests: [{path: /, headers: {X-Api-Token: "${secret:PLANT_HEADER}"}}, {path: /bad, headers: {X-Api-Token: "${secret:PLANT_HEADER}"}}]
  phases: [{executor: constant-vus, vus: 1, duration: 1500ms}]
  max_error_rate: 1
'''


class Hook(http.server.BaseHTTPRequestHandler):
    got = []

    def do_POST(self):
        Hook.got.append(self.rfile.read(int(self.headers['Content-Length'])))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *a):
        pass


def forms(value):
    raw = value.encode()
    return {raw, json.dumps(value)[1:-1].encode(), base64.b64encode(raw)}


def search(name, data, wrong):
    for plant, value in PLANTED.items():
        if any(f in data for f in forms(value)):
            at = next(data.find(f) for f in forms(value) if f in data)
            wrong.append('%s: the secret of %s: %r' % (name, plant, data[max(0, at - 80):at + 60]))


def search_files(top, wrong):
    n = 0
    for base, _, names in os.walk(top):
        for name in names:
            with open(os.path.join(base, name), 'rb') as f:
                search(os.path.join(base, name), f.read(), wrong)
            n += 1
    return n


def watch_processes(process, wrong):
    """Command lines of all processes but of those that are the test's own."""
    while process.poll() is None:
        for pid in filter(str.isdigit, os.listdir('/proc')):
            try:
                with open('/proc/%s/cmdline' % pid, 'rb') as f:
                    line = f.read()
            except OSError:
                continue
            if PLANTED['set'].encode() in line:
                continue  # given on the command line by whoever called: his own doing
            search('the command line of process ' + pid, line, wrong)
        time.sleep(0.1)


def nothing_is_told(lab):
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    lab.write('m.yaml', MATRIX % (server.server_port, PLANTED['hook'], json.dumps(PROGRAM.replace('$', '$$')),
                                  json.dumps(PLANTED['key']), PLANTED['url']))
    wrong = []
    env = dict(PLANT_ENV=PLANTED['env'], PLANT_HEADER=PLANTED['header'], PGPASSWORD=PLANTED['database'],
               AWS_SECRET_ACCESS_KEY=PLANTED['unused'])
    out = lab.path('out')
    lab.dirs.append(out)
    with open(lab.path('printed'), 'wb') as printed:
        p = subprocess.Popen([lab.binary, 'run', 'm.yaml', '--out', out, '--set', 'app.env.SET_TOKEN=' + PLANTED['set'],
                              '--set', 'app.env.SET_ADDRESS=' + ADDRESS],
                             cwd=lab.dir, env=lab.env(env), stdout=printed, stderr=printed)
        watch_processes(p, wrong)
        server.shutdown()
    same(p.returncode, 0, lab.read('printed'))
    same(lab.trial('out', 'serve')['outcome'], 'ok')
    crash = lab.trial('out', 'crash')
    same(crash['outcome'], 'crashed')
    has(crash['reason'], 'cannot log in as bench with *')  # what is around a secret stays
    has(lab.read('out/trials/serve/1/logs/app.stdout.log'), 'KEY_PASSWORD ****', 'asked with ****')
    n = search_files(out, wrong)
    assert n > 20, n
    same(json.loads(lab.read('out/invocation.json'))['sets'], ['app.env.SET_TOKEN=***', 'app.env.SET_ADDRESS=***'])
    r = lab.benchctl('resume', out, '--set', 'app.env.SET_TOKEN=' + PLANTED['set'], code=2, env=env)
    has(r.stderr, "the secret value of '--set app.env.SET_ADDRESS' was not kept")
    r = lab.benchctl('resume', out, '--set', 'app.env.SET_TOKEN=' + PLANTED['set'], '--set', 'app.env.SET_ADDRESS=' + ADDRESS,
                     code=0, env=env)
    has(r.stderr, '0 trials executed, 2 kept')
    search('what resume printed', r.stderr.encode(), wrong)
    search_files(out, wrong)
    lab.benchctl('bundle', 'extract', out + '.tar.zst', lab.path('unpacked'))
    search_files(lab.path('unpacked'), wrong)
    with open(lab.path('printed'), 'rb') as f:
        search('what was printed', f.read(), wrong)
    assert Hook.got, 'no webhook came'
    for body in Hook.got:
        search('a webhook', body, wrong)
    for verb in (['report', out], ['report', out + '.tar.zst', '--format', 'json'], ['status', out], ['plan', 'm.yaml', '--format', 'json']):
        r = lab.benchctl(*verb, env=env)
        search(' '.join(verb[:1]), (r.stdout + r.stderr).encode(), wrong)
    if wrong:
        raise AssertionError('%d places:\n%s' % (len(wrong), '\n'.join(wrong[:20])))


def what_a_killed_run_left_is_masked(lab):
    """It had no time to: whoever goes on does it."""
    env = dict(PLANT_ENV=PLANTED['env'], PLANT_HEADER=PLANTED['header'])
    text = lab.read('m.yaml').replace('duration: 1500ms', 'duration: 60s').replace('way: [serve, crash]', 'way: [serve]')
    lab.write('long.yaml', text)
    out = lab.path('killed')
    lab.dirs.append(out)
    p = subprocess.Popen([lab.binary, 'run', 'long.yaml', '--out', out], cwd=lab.dir, env=lab.env(env),
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not os.path.exists(out + '/trials/serve/1/load/spec.json') and p.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    p.kill()
    p.wait()
    lab.write('long.yaml', text.replace('duration: 60s', 'duration: 1s'))
    lab.benchctl('resume', out, env=env)
    wrong = []
    search_files(out, wrong)
    same(wrong, [])


def commands_hold_no_secrets(lab):
    env = dict(PLANT_ENV=PLANTED['env'], PLANT_HEADER=PLANTED['header'])
    text = lab.read('m.yaml')
    lab.write('word.yaml', text.replace('command: [python3', 'command: ["${secret:PLANT_ENV}", python3'))
    r = lab.benchctl('check', 'word.yaml', code=2, env=env)
    has(r.stderr, "word.yaml:", "a secret in 'command' would stand in the process list", 'hint: hand it over in env')
    loud = text[:text.index('  phases:')].replace('adapter: builtin', 'adapter: ab').replace(
        text[text.index('  requests:'):text.index('  phases:')], '  duration: 1s\n  headers: {X-Api-Token: "${secret:PLANT_HEADER}"}\n')
    lab.write('loud.yaml', loud.replace('way: [serve, crash]', 'way: [serve]'))
    lab.run('loud.yaml', 'loud', code=1, env=env)
    has(lab.trial('loud', 'serve')['reason'], "a secret would stand in the command line of 'ab'")


if __name__ == '__main__':
    sys.exit(main([nothing_is_told, what_a_killed_run_left_is_masked, commands_hold_no_secrets], images=()))
