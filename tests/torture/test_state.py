# SPDX-License-Identifier: MIT
"""What `resume` finds after a crash, and what it makes of it: state files that are empty, cut, zeroed, of a newer schema or
gone, a changed matrix, a directory that was moved, one that is in use, and the leftovers of the dead run.

usage: test_state.py BENCHCTL ENGINE FAULT
"""
import concurrent.futures
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback

from torture import BENCHCTL, Fault, Run, complete, fnv1a, kept, need, nothing_left, records, sealed, tree, untouched

IDLE = """benchctl: 1
name: torture
network: bridge
trials: 1
retry: 0
axes: {name: [a, b], memory: [%s]}
app: {image: 'app:1', port: %d, ready: {http: /health}, startup: {log: started}, memory: '${memory}'}
load: {adapter: idle, duration: 20ms}
"""


class Case(Run):
    def __init__(self, memory='64m'):
        super().__init__()
        self.edit(memory)
        self.trials = [('a/64m', 1), ('b/64m', 1)]

    def edit(self, memory):
        self.write('m.yaml', IDLE % (memory, self.engine.port))

    def finished(self):
        code, said = self.run()
        need(code == 0, 'the sweep', said)
        complete(self, self.trials)
        return sealed(self.out)

    def interrupted(self):
        """Killed in the second trial: one is sealed."""
        for n in range(100, 400, 20):
            code, said = self.run(fault='fs:%d:before' % n)
            found = sealed(self.out)
            if len(found) == 1 and code == -9:
                return found
            need(code == -9, 'it ended before it was killed', said)
            shutil.rmtree(self.out)
            need(self.clean()[0] == 0, 'clean')
        raise Fault('no moment between two trials')

    def resumed(self, before, *words, code=0, **kw):
        got, said = self.resume(**kw)
        need(got == code, 'resume: exit status %d instead of %d' % (got, code), said)
        for word in words:
            need(word in said, '%r is not said' % word, said)
        if code == 0:
            kept(before, self)
            complete(self, self.trials, said)
        return said

    def journal(self):
        with open(self.out + '/journal.ndjson', 'rb') as f:
            return f.read()

    def put(self, name, data):
        with open(os.path.join(self.out, name), 'wb') as f:
            f.write(data)

    def lines(self):
        return self.journal().splitlines(keepends=True)


def state_ok(c):
    before = c.finished()
    said = c.resumed(before, '0 trials executed, 2 kept', '2 sealed trials: 2 still count')
    need('not any more' not in said, said)
    for name in ('report.html', 'report.md', 'summary.csv', 'sweep.json', 'plan.json', 'matrix.yaml'):
        os.remove(os.path.join(c.out, name))
    os.remove(c.out + '.tar.zst')
    c.resumed(before, '2 kept')


def journal_empty(c):
    before = c.finished()
    c.put('journal.ndjson', b'')
    c.resumed(before, '0 trials executed, 2 kept')


def journal_gone(c):
    before = c.interrupted()
    os.remove(c.out + '/journal.ndjson')
    c.resumed(before, '1 trial executed, 1 kept')


def journal_zeroed(c):
    before = c.interrupted()
    c.put('journal.ndjson', bytes(len(c.journal())))
    c.resumed(before, 'damaged', '1 trial executed, 1 kept')
    need(os.path.exists(c.out + '/journal.damaged-1'), 'what was damaged is not kept')


def journal_cut(c):
    """In the middle of the line that seals the second trial: its record is on the disk and proves itself."""
    before = c.finished()
    lines = c.lines()
    at = max(i for i, line in enumerate(lines) if b'"trial sealed"' in line)
    c.put('journal.ndjson', b''.join(lines[:at]) + lines[at][:len(lines[at]) // 2])
    c.resumed(before, 'damaged', '0 trials executed, 2 kept')


def journal_tail_zeroed(c):
    before = c.interrupted()
    c.put('journal.ndjson', c.journal() + bytes(4096))
    c.resumed(before, 'damaged', '1 trial executed, 1 kept')


def journal_damaged_early(c):
    """Not even how it was called can be read there."""
    before = c.finished()
    lines = c.lines()
    lines[1] = lines[1].replace(b'"matrix"', b'"matrox"')
    c.put('journal.ndjson', b''.join(lines))
    c.resumed(before, 'damaged', '0 trials executed, 2 kept')


def call_lost(c):
    """As after a crash of an older benchctl: only the matrix and the plan are left to say what was asked for."""
    before = c.finished()
    c.put('journal.ndjson', b'')
    os.remove(c.out + '/invocation.json')
    c.resumed(before, 'how the sweep', '0 trials executed, 2 kept')
    c.put('journal.ndjson', b'')
    os.remove(c.out + '/invocation.json')
    c.put('plan.json', b'{"scenarios": []}')
    c.resumed(before, 'another plan', 'hint:', code=2)
    need(tree(c.out + '/trials') and sealed_files(c) == before_files(before), 'trials were touched')


def before_files(before):
    return {k: v[1] for k, v in before.items()}


def sealed_files(c):
    return {(s, n): tree('%s/trials/%s/%d' % (c.out, s, n)) for s, n in c.trials}


def journal_of_the_future(c):
    """Refused, with a hint, and left alone."""
    before = c.interrupted()
    line = b'{"seq":1,"at":"2026-11-30T22:00:28.891Z","event":"journal","schema":99,"version":"9"'
    c.put('journal.ndjson', line + b',"sum":"%016x"}\n' % fnv1a(line))
    files = tree(c.out)
    c.resumed(before, 'newer benchctl', 'hint:', code=2)
    need(tree(c.out) == files, 'the directory was touched')


def sealed_twice(c):
    """Two different results of one trial: neither is believed."""
    before = c.finished()
    key, n = next(iter(before))
    record = [r for r in records(c.out)[0] if r['event'] == 'trial sealed' and r['scenario'] == key][0]
    add_record(c, dict(record, sha256='0' * 64))
    said = c.resumed({k: v for k, v in before.items() if k != (key, n)}, 'sealed twice', '1 trial executed, 1 kept')
    need('conflict' not in said, said)


def add_record(c, record):
    fields = {k: v for k, v in record.items() if k not in ('seq', 'sum')}
    line = json.dumps(dict({'seq': len(records(c.out)[0]) + 1}, **fields), separators=(',', ':'))[:-1].encode()
    c.put('journal.ndjson', c.journal() + line + b',"sum":"%016x"}\n' % fnv1a(line))


def trial_changed(c):
    before = c.finished()
    path = c.out + '/trials/a/64m/1/trial.json'
    with open(path, 'ab') as f:
        f.write(b' ')
    code, said = c.benchctl('status', c.out)
    need(code == 1 and 'damaged    1' in said and 'complete' not in said and 'benchctl resume' in said, said)
    code, said = c.benchctl('report', c.out)
    need('damaged: 1 sealed trial is gone, or not what was sealed, and left out' in said, said)
    del before['a/64m', 1]
    c.resumed(before, 'is not what was sealed', '1 trial executed, 1 kept')


def views_damaged(c):
    """Files that nothing is measured in: written anew."""
    before = c.interrupted()
    for name in ('sweep.json', 'plan.json', 'status.json', 'matrix.yaml', 'invocation.json'):
        c.put(name, b'\0' * 100)
    code, said = c.benchctl('report', c.out)
    need(code == 2 and 'hint: `benchctl resume' in said, 'report of a damaged directory', code, said)
    c.resumed(before, '1 trial executed, 1 kept')
    for name in ('sweep.json', 'plan.json', 'status.json', 'invocation.json'):
        json.load(open(os.path.join(c.out, name)))


def matrix_gone(c):
    before = c.interrupted()
    os.remove(c.matrix)
    c.resumed(before, 'is gone', '1 trial executed, 1 kept')


def matrix_changed(c):
    """Only what changed runs again: old results are kept, outside the new report."""
    c.edit('64m, 32m')
    c.trials = [('a/64m', 1), ('b/64m', 1), ('a/32m', 1), ('b/32m', 1)]
    before = c.finished()
    c.edit('64m, 128m')
    code, said = c.resume()
    need(code == 0 and '2 trials executed, 2 kept' in said, 'resume', said)
    need('4 sealed trials: 2 still count, 2 not any more: the matrix has no such trial now' in said, said)
    kept(before, c)
    code, text = c.benchctl('report', c.out, '--format', 'csv')
    need(code == 0 and '128m' in text and '64m' in text and '32m' not in text, 'the report', text)
    nothing_left(c)


def moved(c):
    """The directory lies elsewhere now, together with its matrix; what the dead run left carries its old name."""
    before = c.interrupted()
    need(c.engine.ask('left') != '', 'the killed benchctl left nothing')
    os.mkdir(c.dir + '/b')
    for name in ('m.yaml', 'out'):
        os.rename(c.dir + '/' + name, c.dir + '/b/' + name)
    c.out, c.matrix = c.dir + '/b/out', c.dir + '/b/m.yaml'
    c.resumed(before, 'removed', '1 trial executed, 1 kept')


def leftovers(c):
    """By label and owner: a dead process of this host's; never a living one's or another host's, whatever its labels say."""
    before = c.interrupted()
    run_id = [r for r in records(c.out)[0] if r['event'] == 'begin'][0]['run_id']
    host = os.uname().nodename
    dead = '%s:%d:1' % (host, 4194303)
    with open('/proc/self/stat') as f:
        alive = '%s:%d:%s' % (host, os.getpid(), f.read().rsplit(')', 1)[1].split()[19])
    for owner in (alive, 'elsewhere:1:1', host, host + ':1', '%s:1:1:1' % host):
        c.engine.ask('guest %s %s %s' % (c.out, run_id, owner))
    c.engine.ask('orphan %s %s %s' % (c.out, 'feedfeedfeed', dead))
    c.resumed(before, 'removed', '1 trial executed, 1 kept')
    c.engine.ask('orphan %s %s %s' % ('/elsewhere', 'feedfeedfeed', dead))
    code, said = c.resume()
    need(code == 0, 'resume', said)
    need('orphan' in c.engine.ask('left'), 'resume removed what belongs to another directory')
    code, said = c.clean('--dry-run')
    need(code == 0 and 'would remove' in said and c.engine.ask('left'), 'clean --dry-run', said)
    code, said = c.clean()
    need(code == 0, 'clean', said)
    nothing_left(c)


def in_use(c):
    """Two resumes at once: one goes on, the other says so and touches nothing."""
    before = c.interrupted()
    first = subprocess.Popen([BENCHCTL, 'resume', c.out, '--engine', c.engine.url], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, start_new_session=True)
    end = time.monotonic() + 60
    while sum(r['event'] == 'begin' for r in records(c.out)[0]) < 2:
        need(time.monotonic() < end and first.poll() is None, 'the first resume does not begin')
        time.sleep(0.001)
    first.send_signal(signal.SIGSTOP)
    need(first.poll() is None, 'the first resume has ended already')
    c.resumed(before, 'in use by another benchctl', 'hint:', code=3)
    code, said = c.benchctl('run', c.matrix, '--out', c.out, '--engine', c.engine.url)
    need(code in (2, 3) and 'hint:' in said, 'run into a directory that is in use', code, said)
    first.send_signal(signal.SIGKILL)
    first.wait()
    c.resumed(before, '1 trial executed, 1 kept')


def run_says_resume(c):
    before = c.finished()
    files = tree(c.out)
    code, said = c.run()
    need(code == 2 and 'benchctl resume' in said, 'run into a directory with a sweep', code, said)
    need(tree(c.out) == files and sealed(c.out) == before, 'the directory was touched')


def never_begun(c):
    """Killed before anything was begun: resume says so, run takes the directory over; nobody else's files."""
    os.mkdir(c.out)
    shutil.copy(c.matrix, c.out + '/matrix.yaml')
    code, said = c.run()
    need(code == 2 and 'not empty' in said and os.path.exists(c.out + '/matrix.yaml'), 'a directory of others', said)
    c.put('journal.ndjson', b'')
    code, said = c.resume()
    need(code == 2 and 'has not begun' in said and 'hint:' in said, 'resume', code, said)
    c.finished()


SECRETS = """benchctl: 1
name: torture
network: bridge
trials: 1
retry: 0
axes: {stack: [webflux-jdbc, webflux], memory: [64m]}
app:
  image: 'app:1'
  port: %d
  ready: {http: /health}
  startup: {log: started}
  memory: '${memory}'
  env: {DB_PASSWORD: webflux, OLD_PASSWORD: '%s', API_TOKEN: crashed-secret}
load: {adapter: idle, duration: 20ms}
"""


def begin_fails(c):
    """A directory of the user's own, empty, is his still when the sweep cannot begin; one that was made goes."""
    c.write('m.yaml', IDLE % ('64m', c.engine.port) + 'notify: {webhook: "${secret:NOT_THERE}"}\n')
    for own in (True, False):
        if own:
            os.mkdir(c.out)
        code, said = c.run()
        need(code == 3 and 'NOT_THERE' in said, 'it began', code, said)
        need(os.path.exists(c.out) == own and not (own and os.listdir(c.out)), 'the directory', own)
        if own:
            os.rmdir(c.out)


def too_many_attempts(c):
    """What earlier attempts left is not thrown away, whatever their number."""
    before = c.interrupted()
    (left,) = [t for t in c.trials if t not in before]
    path = '%s/trials/%s/%d' % (c.out, *left)
    os.makedirs(path, exist_ok=True)
    with open(path + '/evidence', 'w') as f:
        f.write('x')
    for k in range(1, 1000):
        os.makedirs('%s.attempt-%d' % (path, k), exist_ok=True)
    c.resumed(before, 'has 999 earlier attempts beside it already', 'hint:', code=2)
    need(os.path.exists(path + '/evidence'), 'the evidence is gone')


def stopped_while_it_reports(c):
    """A signal while report and bundle are written ends it, with the directory held until then; resume writes them."""
    with open(c.dir + '/large', 'wb') as f:  # takes long to hash and to compress
        for _ in range(192):
            f.write(os.urandom(1 << 20))
    for signo in (signal.SIGINT, signal.SIGTERM):
        shutil.rmtree(c.out, ignore_errors=True)
        p = subprocess.Popen([BENCHCTL, 'run', c.matrix, '--out', c.out, '--engine', c.engine.url], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True, start_new_session=True)
        end = time.monotonic() + 60
        while not (records(c.out)[0] and records(c.out)[0][-1]['event'] == 'trial sealed') and p.poll() is None:
            need(time.monotonic() < end, 'no trial is sealed')
            time.sleep(0.001)
        os.link(c.dir + '/large', c.out + '/large')
        while not os.path.exists(c.out + '/summary.csv') and p.poll() is None:
            need(time.monotonic() < end, 'no report')
            time.sleep(0.001)
        code, said = c.resume()
        need(code == 3 and 'in use by another' in said, 'the directory is not held', code, said)
        p.send_signal(signo)
        said = p.communicate(timeout=60)[1]
        need(p.returncode == 130 and 'interrupted while report and bundle are written' in said, 'the end', p.returncode, said)
        need(not os.path.exists(c.out + '.tar.zst'), 'there is a bundle')
        os.remove(c.out + '/large')
        c.resumed(sealed(c.out), '0 trials executed, 2 kept')
        os.remove(c.out + '.tar.zst')


def killed_before_begin(c):
    """Killed with all written but the journal's `begin`: run takes the directory over, resume goes on or says why not."""
    c.finished()
    c.put('journal.ndjson', c.lines()[0])
    for name in os.listdir(c.out):
        if name not in ('journal.ndjson', 'matrix.yaml', 'plan.json', 'inputs', 'inputs.json', 'invocation.json', 'status.json'):
            path = os.path.join(c.out, name)
            (shutil.rmtree if os.path.isdir(path) else os.remove)(path)
    c.put('status.html', b'x')
    need(os.path.exists(c.out + '/inputs.json'), 'no inputs.json')
    shutil.copytree(c.out, c.dir + '/again', symlinks=True)
    c.finished()
    shutil.rmtree(c.out)
    shutil.move(c.dir + '/again', c.out)
    os.remove(c.out + '.tar.zst')
    c.resumed({}, '2 trials executed')
    c.put('journal.ndjson', c.lines()[0])
    shutil.rmtree(c.out + '/trials')
    for name in ('invocation.json', 'sweep.json', 'report.html', 'report.md', 'summary.csv'):
        os.remove(os.path.join(c.out, name))
    code, said = c.resume()
    need(code == 2 and 'has not begun' in said, 'resume without a call', code, said)
    c.finished()


def call_of_another_type(c):
    """`sets` and `filters` are lists of texts: whatever else they are is told, with its place."""
    c.finished()
    c.put('journal.ndjson', c.lines()[0])
    call = json.load(open(c.out + '/invocation.json'))
    for name, value, text in (('filters', [1], "'filters' number 1 is no text"), ('sets', ['a=b', None], "'sets' number 2 is no text"),
                              ('sets', 'a=b', "'sets' is no list"), ('filters', {'a': 'b'}, "'filters' is no list")):
        c.put('invocation.json', json.dumps(dict(call, **{name: value})).encode())
        for more in ([], ['--set', 'a=b']):
            code, said = c.resume(*more)
            need(code == 2 and 'invocation.json: ' + text in said, 'resume', name, value, code, said)


def secrets_in_names(c):
    """A password that is also part of what names things: it stands, is told once, and the rest is hidden."""
    part = os.path.basename(c.dir)[-10:]  # of the path
    c.write('m.yaml', SECRETS % (c.engine.port, part))
    c.trials = [('webflux-jdbc/64m', 1), ('webflux/64m', 1)]
    code, said = c.run()
    need(code == 0, 'the sweep', said)
    for name, place in (('DB_PASSWORD', "a scenario's name"), ('OLD_PASSWORD', 'a path')):
        text = "the value of 'app.env.%s' is also part of %s: it is not masked" % (name, place)
        need(said.count(text) == 1, 'not said once: ' + text, said)
    need('API_TOKEN' not in said, 'API_TOKEN', said)
    complete(c, c.trials, said)
    before = sealed(c.out)
    c.resumed(before, '0 trials executed, 2 kept')
    for name in ('journal.ndjson', 'plan.json', 'trials/webflux-jdbc/64m/1/trial.json'):
        with open(os.path.join(c.out, name)) as f:
            text = f.read()
        need('webflux-jdbc' in text and 'crashed-secret' not in text, name, text)
    plan = json.load(open(c.out + '/plan.json'))
    need([s['id'] for s in plan['scenarios']] == ['webflux-jdbc/64m', 'webflux/64m'], 'plan.json', plan)
    code, said = c.benchctl('report', c.out, '--format', 'json')
    need(code == 0 and 'webflux-jdbc' in said, 'report', said)


def read_only(c):
    if os.geteuid() == 0:
        return # nothing is read-only for root
    before = c.interrupted()
    os.chmod(c.out, 0o555)
    try:
        c.resumed(before, 'ermission denied', code=3)
    finally:
        os.chmod(c.out, 0o755)
    c.resumed(before, '1 kept')


def report_killed(c):
    """Killed while the report or the bundle is written."""
    c.run(log=True)
    with open(c.log) as f:
        calls = [line.split() for line in f]
    places = [int(n) for kind, n, name, *rest in calls if kind == 'fs' and rest and
              ('report.html' in rest[0] or '.tar.zst' in rest[0])]
    need(len(places) > 5, 'no calls for the report')
    for n in places[::3]:
        shutil.rmtree(c.out)
        os.remove(c.out + '.tar.zst') if os.path.exists(c.out + '.tar.zst') else None
        code, said = c.run(fault='fs:%d:torn' % n)
        before = sealed(c.out)
        need(code == -9, 'not killed', code, said)
        c.resumed(before, 'kept')


CASES = [state_ok, journal_empty, journal_gone, journal_zeroed, journal_cut, journal_tail_zeroed, journal_damaged_early,
         call_lost, journal_of_the_future, sealed_twice, trial_changed, views_damaged, matrix_gone, matrix_changed, moved,
         leftovers, in_use, run_says_resume, never_begun, begin_fails, too_many_attempts, stopped_while_it_reports, killed_before_begin, call_of_another_type, secrets_in_names, read_only, report_killed]


def one(case):
    """What is wrong, or None."""
    c = Case()
    try:
        case(c)
        untouched(c)
    except Exception as e:  # pylint: disable=broad-except
        return str(e) if isinstance(e, Fault) else traceback.format_exc()
    finally:
        c.close()
    return None


def main():
    wanted = sys.argv[4:]
    cases = [c for c in CASES if not wanted or c.__name__ in wanted]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(3) as pool:  # they mostly wait
        for case, wrong in zip(cases, pool.map(one, cases)):
            failed += wrong is not None
            print('FAILED  %s: %s' % (case.__name__, wrong) if wrong else 'ok      ' + case.__name__, flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
