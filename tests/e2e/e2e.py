# SPDX-License-Identifier: MIT
"""What the end-to-end tests share: a benchctl binary, a real engine, an application that fails to order.

A test program is called with the binary's path. It ends with 0, with 1 after the first failure, or with 77
(skipped) where no engine answers. Objects that are not benchctl's own carry the label benchctl-e2e=PID; images are
tagged benchctl-e2e/...:PID. Both are removed at the end.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
SKIPPED = 77


def command(*argv, check=True, **kw):
    r = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kw)
    if check and r.returncode != 0:
        raise AssertionError('%s: exit status %d\n%s' % (' '.join(argv), r.returncode, r.stderr))
    return r


def docker(*argv, check=True):
    return command('docker', *argv, check=check).stdout.strip()


def skip(why):
    print('skipped:', why)
    sys.exit(SKIPPED)


def wait_for(what, condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError('never: ' + what)
        time.sleep(0.02)


def same(actual, expected, what=''):
    if actual != expected:
        raise AssertionError('%s: %r instead of %r' % (what, actual, expected))


def has(text, *parts):
    for part in parts:
        if part not in text:
            raise AssertionError('%r is not in:\n%s' % (part, text))


class Lab:
    def __init__(self, images=('app',)):
        if len(sys.argv) != 2:
            sys.exit('usage: %s BENCHCTL' % sys.argv[0])
        self.binary = os.path.abspath(sys.argv[1])
        self.dir = tempfile.mkdtemp(prefix='benchctl-e2e-')
        self.tag = str(os.getpid())
        self.dirs = []
        if subprocess.run(['docker', 'version'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            shutil.rmtree(self.dir)
            skip('no engine answers')
        for name in images:
            self.compile(name)

    def compile(self, name):
        """A build context in DIR/NAME: one static program, FROM scratch."""
        context = self.path(name)
        os.mkdir(context)
        program = 'bin/' + name
        os.mkdir(os.path.join(context, 'bin'))
        command('cc', '-O1', '-static', '-o', os.path.join(context, program), '%s/fixtures/%s.c' % (HERE, name))
        # no other test's image is the same one: whoever is done first removes his own
        self.write(name + '/Dockerfile', 'FROM scratch\nENV LAB=%s\nCOPY bin/%s /bin/%s\nENTRYPOINT ["/bin/%s"]\n' %
                   (self.tag, name, name, name))

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as f:
            f.write(text)
        return path

    def read(self, name):
        with open(self.path(name)) as f:
            return f.read()

    def image(self, name):
        return 'benchctl-e2e/%s:%s' % (name, self.tag)

    # --- benchctl ---

    def env(self, extra=None):
        e = dict(os.environ, TMPDIR=self.dir, BENCHCTL_ADAPTERS=self.path('adapters'))
        e.update(extra or {})
        return e

    def benchctl(self, *argv, code=0, env=None, timeout=120):
        r = command(self.binary, *argv, check=False, cwd=self.dir, env=self.env(env), timeout=timeout)
        if code is not None and r.returncode != code:
            raise AssertionError('benchctl %s: exit status %d instead of %d\n%s\n%s' %
                                 (' '.join(argv), r.returncode, code, r.stdout[-3000:], r.stderr[-6000:]))
        return r

    def run(self, matrix, out, *argv, code=0, **kw):
        self.dirs.append(self.path(out))
        return self.benchctl('run', matrix, '--out', self.path(out), *argv, code=code, **kw)

    def start(self, *argv):
        """In the background; its output goes to DIR/background.log."""
        self.dirs += [argv[i + 1] for i, a in enumerate(argv) if a == '--out']
        log = open(self.path('background.log'), 'w')
        return subprocess.Popen([self.binary, *argv], cwd=self.dir, env=self.env(), stdout=log, stderr=log,
                                start_new_session=True)

    def trial(self, out, scenario, n=1):
        with open(os.path.join(self.path(out), 'trials', scenario, str(n), 'trial.json')) as f:
            return json.load(f)

    def sealed(self, out):
        """Names and modification times of what is sealed."""
        found = {}
        for base, _, names in os.walk(os.path.join(self.path(out), 'trials')):
            if 'trial.json' in names and '.attempt-' not in base:
                with open(os.path.join(base, 'trial.json'), 'rb') as f:
                    found[base] = f.read()
        return found

    # --- the engine ---

    def ours(self):
        """Everything in the engine that belongs to run directories of this test."""
        found = []
        for d in self.dirs:
            label = 'label=org.benchctl.dir=' + os.path.realpath(d)
            found += docker('ps', '-aq', '--no-trunc', '--filter', label).split()
            found += docker('network', 'ls', '-q', '--no-trunc', '--filter', label).split()
        return found

    def nothing_left(self):
        left = self.ours()
        if left:
            raise AssertionError('left in the engine: %s' % ' '.join(left))

    def container(self, name, *argv):
        """A container of somebody else: running, with our test's label."""
        return docker('run', '-d', '--name', name, '--label', 'benchctl-e2e=' + self.tag, *argv)

    def close(self):
        for d in self.dirs:
            label = 'label=org.benchctl.dir=' + os.path.realpath(d)
            for i in docker('ps', '-aq', '--filter', label).split():
                docker('rm', '-fv', i, check=False)
            for i in docker('network', 'ls', '-q', '--filter', label).split():
                docker('network', 'rm', i, check=False)
        mine = 'label=benchctl-e2e=' + self.tag
        for i in docker('ps', '-aq', '--filter', mine).split():
            docker('rm', '-fv', i, check=False)
        for i in docker('network', 'ls', '-q', '--filter', mine).split():
            docker('network', 'rm', i, check=False)
        for i in docker('images', '--format', '{{.Repository}}:{{.Tag}}', 'benchctl-e2e/*:' + self.tag).split():
            docker('rmi', i, check=False)
        shutil.rmtree(self.dir, ignore_errors=True)


def main(tests, **options):
    """Runs the functions, each with the lab; stops at the first failure."""
    lab = Lab(**options)
    try:
        for test in tests:
            begin = time.monotonic()
            test(lab)
            print('ok  %-50s %5.1f s' % (test.__name__, time.monotonic() - begin), flush=True)
    except AssertionError as e:
        print('FAILED %s: %s' % (test.__name__, e), flush=True)
        return 1
    finally:
        lab.close()
    return 0
