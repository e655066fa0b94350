# SPDX-License-Identifier: MIT
"""What the torture tests share: the stand-in engine, a benchctl whose calls fail, and what must hold afterwards."""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

BENCHCTL, ENGINE, FAULT = (os.path.abspath(p) for p in sys.argv[1:4])
TIMEOUT = 120  # of one benchctl; hanging is what this finds, a slow machine is not
CODES = (0, 1, 2, 3, 130)
OUT_OF_MEMORY = 'benchctl: out of memory'  # also the kernel's: it ends with an abort, and says so
UNBEGUN = 'has not begun a sweep'

MATRIX = """benchctl: 1
name: torture
network: bridge
trials: 1
retry: 0
axes: {kind: [idle, requests]}
app: {image: 'app:1', port: %d, ready: {http: /health}, startup: {log: started}, restart: on-failure, memory: 64m}
services:
  mock: {image: 'mock:1', scope: sweep, ready: {log: listening}}
  side: {image: 'mock:1'}
artifacts: [{from: app, path: /tmp/x}]
load: {adapter: idle, duration: 20ms}
overrides:
  - when: {kind: requests}
    set: {load: {adapter: builtin, duration: 50ms, vus: 1, requests: [{name: a, path: /a}]}}
"""
TRIALS = [('idle', 1), ('requests', 1)]


class Fault(Exception):
    """Something that must not be."""


def need(condition, what, *more):
    if not condition:
        raise Fault('\n'.join([what] + [str(m) for m in more]))


class Engine:
    """A stand-in engine of its own."""

    def __init__(self):
        self.process = subprocess.Popen([ENGINE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.DEVNULL)
        line = ''
        while 'unix://' not in line:
            line = self.process.stdout.readline()
            need(line, 'the stand-in engine does not start')
        self.url, port = line.split()
        self.port = int(port)

    def ask(self, question):
        self.process.stdin.write(question + '\n')
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def close(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        need(self.process.wait() == 0, 'the stand-in engine complains', rest)


class Run:
    """One directory, one engine, any number of benchctls."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix='benchctl-torture-')
        self.engine = Engine()
        self.out = self.dir + '/out'
        self.matrix = self.write('m.yaml', MATRIX % self.engine.port)
        os.mkdir(self.dir + '/keep')
        self.log = self.dir + '/calls'

    def close(self):
        try:
            self.engine.close()
        finally:
            self.engine.process.kill()
            shutil.rmtree(self.dir, ignore_errors=True)

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, 'w') as f:
            f.write(text)
        return path

    def benchctl(self, *argv, fault=None, log=False, env=None):
        """Its exit status (-9 when it was killed) and what it said. No process of its session stays."""
        e = dict(os.environ, TMPDIR=self.dir, **(env or {}))
        e['ASAN_OPTIONS'] = e.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0'
        if fault or log:
            e['LD_PRELOAD'] = FAULT
            e['TORTURE_KEEP'] = self.dir + '/keep'
        if fault:
            e['TORTURE_FAULT'] = fault
        if fault or log:
            e['TORTURE_LOG'] = self.log
            if os.path.exists(self.log):
                os.remove(self.log)
        with tempfile.TemporaryFile('w+') as said:
            p = subprocess.Popen([BENCHCTL, *argv], stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=self.dir,
                                 env=e, start_new_session=True)
            try:
                code = p.wait(TIMEOUT)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
                code = 'hangs'
            said.seek(0)
            text = said.read()
        need(code in CODES or code == -9 or (code == -6 and OUT_OF_MEMORY in text and fault.startswith('kernel:')),
             'benchctl %s: exit status %s' % (' '.join(argv), code), text)
        self.no_process(p.pid)
        return code, text

    def no_process(self, session):
        for _ in range(200):
            left = [p for p in processes() if p[1] == session and p[2] not in 'ZX']
            if not left:
                return
            subprocess.run(['sleep', '0.05'])
        raise Fault('processes stay: %s' % left)

    def run(self, **kw):
        return self.benchctl('run', self.matrix, '--out', self.out, '--engine', self.engine.url, **kw)

    def resume(self, *more, **kw):
        return self.benchctl('resume', self.out, '--engine', self.engine.url, *more, **kw)

    def clean(self, *more, **kw):
        return self.benchctl('clean', '--engine', self.engine.url, *more, **kw)


def processes():
    for name in os.listdir('/proc'):
        try:
            if name.isdigit():
                with open('/proc/%s/stat' % name) as f:
                    fields = f.read().rsplit(')', 1)[1].split()
                yield int(name), int(fields[3]), fields[0]
        except OSError:
            pass


# --- what is in a run directory ---

def fnv1a(data):
    h = 0xcbf29ce484222325 ^ int.from_bytes(b'benchcti', 'big')
    for b in data:
        h = (h ^ b) * 0x100000001b3 & 0xffffffffffffffff
    return h


def records(out):
    """The journal's intact records, and whether that is all of it."""
    found = []
    try:
        with open(out + '/journal.ndjson', 'rb') as f:
            text = f.read()
    except FileNotFoundError:
        return [], False
    good = 0
    for line in text.splitlines(keepends=True):
        match = re.fullmatch(rb'(.*),"sum":"([0-9a-f]{16})"}\n', line)
        if not match or int(match.group(2), 16) != fnv1a(match.group(1)):
            break
        record = json.loads(line)
        if record['seq'] != len(found) + 1:
            break
        found.append(record)
        good += len(line)
    return found, good == len(text)


def tree(path):
    """Name and hash of each file below."""
    found = {}
    for base, _, names in os.walk(path):
        for name in names:
            full = os.path.join(base, name)
            with open(full, 'rb') as f:
                found[os.path.relpath(full, path)] = hashlib.sha256(f.read()).hexdigest()
    return found


def sealed(out):
    """{(scenario, trial): (outcome, files)} by the journal's last word on each, and by what is on the disk."""
    found = {}
    for r in records(out)[0]:
        key = r.get('scenario'), r.get('trial')
        if r['event'] == 'trial sealed':
            found[key] = r
        elif r['event'] == 'trial begun':
            found.pop(key, None)
    for key, r in found.items():
        files = tree('%s/trials/%s/%s' % (out, *key))
        need(files.get('trial.json') == r['sha256'], 'trial %s of %s is not what was sealed' % key[::-1])
        found[key] = r['outcome'], files
    return found


def temporary(path):
    return [os.path.join(b, n) for b, _, names in os.walk(path) for n in names if n.endswith('.tmp')]


# --- what must hold ---

def went_well(code, run):
    """Every trial was executed. That a busy machine's figures are not to be trusted does not matter here."""
    return code == 0 or (code == 1 and all(outcome != 'error' for outcome, _ in sealed(run.out).values()))


def kept(before, run):
    """What was sealed is where it was, byte for byte; a failed attempt that was made again, beside it."""
    for (scenario, n), (outcome, files) in before.items():
        path = '%s/trials/%s/%d' % (run.out, scenario, n)
        if outcome in ('error', 'invalid') and os.path.isdir(path + '.attempt-1'):
            path += '.attempt-1'
        need(tree(path) == files, 'sealed trial %d of %s is not the same any more' % (n, scenario))


def untouched(run):
    need(run.engine.ask('foreign') == '0', 'what is not ours was removed from the engine')


def nothing_left(run):
    left = run.engine.ask('left')
    need(left == '', 'left in the engine: ' + left)
    untouched(run)


def complete(run, trials=TRIALS, text=''):
    """The sweep is complete, its journal and bundle intact, each trial counted once."""
    found, whole = records(run.out)
    need(whole, 'the journal is damaged', text)
    need(found[-1]['event'] == 'end', 'the journal does not end with "end"', found[-1], text)
    counted = sealed(run.out)
    need(sorted(counted) == sorted(trials), 'trials that count: %s' % sorted(counted), text)
    code, said = run.benchctl('bundle', 'verify', run.out + '.tar.zst')
    need(code == 0, 'the bundle does not hold', said)
    code, said = run.benchctl('report', run.out + '.tar.zst', '--format', 'json')
    need(code == 0, 'no report of the bundle', said)
    for name in ('report.html', 'report.md', 'summary.csv', 'sweep.json', 'plan.json', 'matrix.yaml'):
        need(os.path.getsize('%s/%s' % (run.out, name)) > 0, name + ' is empty')
    json.load(open(run.out + '/sweep.json'))
    need(len(json.load(open(run.out + '/plan.json'))['scenarios']) == len({t[0] for t in trials}), 'plan.json')
    need(not temporary(run.dir), 'temporary files stay: %s' % temporary(run.dir))
    nothing_left(run)
