#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second engine, empty and our own: it may be stopped, killed and started again, which the machine's own may not.

    with SecondEngine() as second:
        second.load('image:tag')            # from the machine's own engine
        second.run(['benchctl', ...])       # inside, DOCKER_HOST set
        second.stop(); second.start()       # SIGTERM, and again with what it had

dockerd and its containerd live in a network namespace of their own, with their own data root, exec root, pid file,
sockets and parent of cgroups, so that any number of them runs side by side and none touches the bridge, the rules or
the containers of the machine's. The namespace is entered by nsenter alone: ip netns exec would mount another /sys,
which has no cgroups in it. Containers are reached from inside the namespace only, so what talks to them is started by
run() or popen(). A start takes about a second.

Whatever happens (an exception, SIGINT, SIGTERM, SIGHUP), leaving the block ends the processes and removes
containers, mounts, cgroups, namespace and files. Where the machine does not allow all this, Unavailable says why.

By itself it is its own test: second_engine.py
"""
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

START_SECONDS = 60  # a machine that is three times slower, and busy
STOP_SECONDS = 60
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG = 1

# containerd loads what this engine needs, and nothing that listens on the network
CONTAINERD = '''version = 2
root = "%(dir)s/containerd"
state = "%(dir)s/state"
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
  address = "%(dir)s/c.sock"
'''


class Unavailable(Exception):
    """This machine cannot have a second engine; the text says why."""


def dies_with_us():
    """In a child before it becomes another program: no engine outlives a test that was killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def in_the_way():
    if os.geteuid() != 0:
        return 'only root makes a network namespace'
    for program in ('ip', 'nsenter', 'dockerd', 'containerd', 'docker'):
        if not shutil.which(program):
            return 'no ' + program
    return None


class SecondEngine:
    made = 0

    def __init__(self, options=(), live_restore=False):
        why = in_the_way()
        if why:
            raise Unavailable(why)
        SecondEngine.made += 1
        self.options = list(options) + (['--live-restore'] if live_restore else [])
        self.name = 'b2e-%d-%d' % (os.getpid(), SecondEngine.made)
        self.dir = None
        self.containerd = self.dockerd = None
        self.children = []
        self.handlers = {}
        self.started_in_s = None  # how long the last start took

    # --- what it is made of ---

    @property
    def socket(self):
        return self.dir + '/d.sock'

    @property
    def url(self):
        return 'unix://' + self.socket

    def inside(self, argv):
        return ['nsenter', '--net=/run/netns/' + self.name, *argv]

    def env(self, extra=None):
        e = dict(os.environ, DOCKER_HOST=self.url)
        e.pop('DOCKER_CONTEXT', None)
        e.update(extra or {})
        return e

    def log(self):
        with open(self.dir + '/log') as f:
            return f.read()

    def cgroups(self):
        """Directories of the hierarchies that are this engine's, the innermost first."""
        found = []
        for line in open('/proc/self/mounts'):
            fields = line.split()
            if fields[2] in ('cgroup', 'cgroup2'):
                for base, _, _ in os.walk(os.path.join(fields[1], self.name), topdown=False):
                    found.append(base)
        return found

    def processes(self):
        """Pids of what runs in its containers, and of the shims above them."""
        found = set()
        for directory in self.cgroups():
            try:
                found.update(int(pid) for pid in open(directory + '/cgroup.procs').read().split())
            except OSError:
                pass
        for pid in os.listdir('/proc'):
            try:
                argv = open('/proc/%s/cmdline' % pid, 'rb').read().split(b'\0') if pid.isdigit() else []
            except OSError:
                continue
            if argv and argv[0].endswith(b'containerd-shim-runc-v2') and (self.dir + '/c.sock').encode() in argv:
                found.add(int(pid))
        return found

    # --- life ---

    def __enter__(self):
        for signo in SIGNALS:
            self.handlers[signo] = signal.signal(signo, lambda n, _: sys.exit(128 + n))
        try:
            # short: an address of a Unix socket has 107 characters
            self.dir = tempfile.mkdtemp(prefix='b2e-', dir='/tmp')
            self.make_namespace()
            self.start()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.remove()

    def make_namespace(self):
        for argv in (['ip', 'netns', 'add', self.name], ['ip', '-n', self.name, 'link', 'set', 'lo', 'up']):
            r = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if r.returncode:
                raise Unavailable('%s: %s' % (' '.join(argv), r.stdout.strip()))

    def spawn(self, argv):
        log = open(self.dir + '/log', 'a')
        with log:
            return subprocess.Popen(self.inside(argv), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                    start_new_session=True, preexec_fn=dies_with_us)

    def start(self):
        """Starts it, with what its data root holds, and waits until it answers."""
        begin = time.monotonic()
        if not self.containerd or self.containerd.poll() is not None:
            with open(self.dir + '/containerd.toml', 'w') as f:
                f.write(CONTAINERD % {'dir': self.dir})
            self.containerd = self.spawn(['containerd', '--config', self.dir + '/containerd.toml'])
            self.wait_for(lambda: os.path.exists(self.dir + '/c.sock'), self.containerd)
        if not self.dockerd or self.dockerd.poll() is not None:
            self.dockerd = self.spawn(
                ['dockerd', '--data-root', self.dir + '/data', '--exec-root', self.dir + '/exec', '--pidfile',
                 self.dir + '/pid', '--containerd', self.dir + '/c.sock', '--host', self.url, '--cgroup-parent',
                 '/' + self.name, '--shutdown-timeout', '5', *self.options])
        self.wait_for(self.answers, self.dockerd)
        self.started_in_s = time.monotonic() - begin

    def answers(self):
        return subprocess.run(['docker', 'version'], env=self.env(), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0

    def wait_for(self, condition, process):
        end = time.monotonic() + START_SECONDS
        while not condition():
            if process.poll() is not None or time.monotonic() > end:
                what = 'ended with %s' % process.poll() if process.poll() is not None else 'does not answer'
                raise Unavailable('%s %s\n%s' % (process.args[2], what, self.log()[-2000:]))
            time.sleep(0.05)

    def stop(self):
        """SIGTERM, as a service manager does it; its containers end too, but with live_restore."""
        self.end(self.dockerd, signal.SIGTERM)

    def kill(self):
        """SIGKILL: the containers go on without an engine."""
        self.end(self.dockerd, signal.SIGKILL)

    def restart(self):
        self.stop()
        self.start()

    @staticmethod
    def end(process, signo):
        if not process or process.poll() is not None:
            return
        process.send_signal(signo)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    # --- use ---

    def run(self, argv, env=None, **options):
        """Runs a command inside; its output is text, in the result."""
        for stream in ('stdout', 'stderr'):
            options.setdefault(stream, subprocess.PIPE)
        return subprocess.run(self.inside(argv), env=self.env(env), text=True, **options)

    def popen(self, argv, env=None, **options):
        """The same in the background; ended with the engine if it still runs then."""
        child = subprocess.Popen(self.inside(argv), env=self.env(env), **options)
        self.children.append(child)
        return child

    def docker(self, *argv, check=True):
        r = subprocess.run(['docker', *argv], env=self.env(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if check and r.returncode:
            raise AssertionError('docker %s: exit status %d\n%s' % (' '.join(argv), r.returncode, r.stderr))
        return r.stdout.strip()

    def load(self, *images):
        """Copies images of the machine's own engine (of DOCKER_HOST)."""
        save = subprocess.Popen(['docker', 'save', *images], stdout=subprocess.PIPE)
        with save.stdout:
            r = subprocess.run(['docker', 'load', '-q'], env=self.env(), stdin=save.stdout, stdout=subprocess.DEVNULL)
        if save.wait() or r.returncode:
            raise AssertionError('images could not be copied: ' + ' '.join(images))

    # --- the end ---

    def remove(self):
        for signo in SIGNALS:
            signal.signal(signo, signal.SIG_IGN)
        try:
            for child in self.children:
                self.end(child, signal.SIGTERM)
            if self.dir:
                self.remove_all()
        finally:
            for signo, handler in self.handlers.items():
                signal.signal(signo, handler)

    def remove_all(self):
        if self.dockerd and self.dockerd.poll() is None:
            everything = self.docker('ps', '-aq', check=False).split()
            if everything:
                self.docker('rm', '-fv', *everything, check=False)
        self.end(self.dockerd, signal.SIGTERM)
        for _ in range(100):  # a shim may just be starting something
            left = self.processes()
            if not left:
                break
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.05)
        self.end(self.containerd, signal.SIGTERM)
        for line in reversed(open('/proc/self/mounts').read().splitlines()):
            where = line.split()[1]
            if where.startswith(self.dir + '/'):
                subprocess.run(['umount', '-l', where], stderr=subprocess.DEVNULL)
        for directory in self.cgroups():
            try:
                os.rmdir(directory)
            except OSError:
                pass
        subprocess.run(['ip', 'netns', 'del', self.name], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.dir, ignore_errors=True)

    def left(self):
        """What is still there of it: nothing, once the block has been left."""
        found = ['process %d' % pid for pid in self.processes()] + self.cgroups()
        found += [line.split()[1] for line in open('/proc/self/mounts') if line.split()[1].startswith(self.dir + '/')]
        return found + [p for p in (self.dir, '/run/netns/' + self.name) if os.path.exists(p)]


# --- its own test ---

APP = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'fixtures', 'app.c')


def build(second, tag):
    context = os.path.join(second.dir, 'context')
    os.mkdir(context)
    subprocess.run(['cc', '-O1', '-static', '-o', context + '/app', APP], check=True)
    with open(context + '/Dockerfile', 'w') as f:
        f.write('FROM scratch\nCOPY app /bin/app\nENTRYPOINT ["/bin/app"]\n')
    second.docker('build', '-q', '-t', tag, context)


def check(what, condition):
    if not condition:
        raise AssertionError(what)


def address(second, container):
    return second.docker('inspect', '-f', '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}', container)


def answered(second, container):
    url = 'http://%s:8080/health' % address(second, container)
    code = 'import urllib.request, sys; print(urllib.request.urlopen(sys.argv[1], timeout=5).status)'
    for _ in range(100):
        r = second.run([sys.executable, '-c', code, url])
        if r.stdout.strip() == '200':
            return True
        time.sleep(0.1)
    return False


def self_test():
    with SecondEngine() as second, SecondEngine() as third:
        print('started in %.1f s' % second.started_in_s, flush=True)
        check('it is empty', second.docker('images', '-q') == '' and second.docker('ps', '-aq') == '')
        build(second, 'app:1')
        second.docker('run', '-d', '--init', '--name', 'one', '--restart', 'always', 'app:1')
        second.docker('run', '-d', '--init', '--name', 'two', 'app:1')
        check('the app answers', answered(second, 'one'))
        check('the third is another one', third.docker('images', '-q') == '')
        second.restart()
        print('started again in %.1f s' % second.started_in_s, flush=True)
        check('its containers are known', len(second.docker('ps', '-aq').split()) == 2)
        check('the app answers again', answered(second, 'one'))
        second.kill()
        check('containers live on', len(second.processes()) > 0)
        second.start()
        print('started after a kill in %.1f s' % second.started_in_s, flush=True)
        third.kill()
    check('something is left: %s' % second.left(), not second.left() and not third.left())
    # a signal in the middle
    child = subprocess.Popen([sys.executable, __file__, '--wait'], stdout=subprocess.PIPE, text=True)
    directory = child.stdout.readline().strip()
    check('a directory', os.path.isdir(directory))
    child.send_signal(signal.SIGTERM)
    check('exit status of a signal', child.wait(STOP_SECONDS) == 128 + signal.SIGTERM)
    check('something is left after a signal', not os.path.exists(directory))
    print('ok')


def wait_for_a_signal():
    with SecondEngine() as second:
        print(second.dir, flush=True)
        time.sleep(600)


if __name__ == '__main__':
    try:
        sys.exit(wait_for_a_signal() if '--wait' in sys.argv[1:] else self_test())
    except Unavailable as e:
        print('skipped:', e)
        sys.exit(77)
