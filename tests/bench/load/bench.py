# SPDX-License-Identifier: MIT
"""What the benchmarks of the load generator share: tools, servers, and what a program cost."""
import argparse
import json
import os
import resource
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))


def arguments(description, **defaults):
    p = argparse.ArgumentParser(description=description)
    p.add_argument('--build', default=os.path.join(TOP, 'build', 'release'), help='a release build: benchctl, upstream')
    p.add_argument('--tool', action='append', default=[], metavar='NAME=PATH', help='where a generator is, if not on PATH')
    p.add_argument('--rounds', type=int, default=defaults.get('rounds', 5))
    p.add_argument('--seconds', type=int, default=defaults.get('seconds', 5), help='of each run')
    p.add_argument('--json', metavar='FILE', help='write every single figure there')
    return p


def tool_paths(a):
    """name -> path of the generators that are there."""
    given = dict(t.split('=', 1) for t in a.tool)
    found = {}
    for name in ('wrk', 'ab', 'h2load', 'hey', 'oha', 'vegeta', 'wrk2'):
        path = given.get(name) or shutil.which(name)
        if path and os.access(path, os.X_OK):
            found[name] = path
    found['benchctl'] = given.get('benchctl') or os.path.join(a.build, 'benchctl')
    return found


def raise_limit():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Cost:
    """What a child cost, by wait4: user and system time of it and of the children that it waited for."""

    def __init__(self, status, usage, wall_s, out):
        self.code = os.waitstatus_to_exitcode(status)
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.max_rss_kib = 0
        self.wall_s = wall_s
        self.out = out


def high_water_kib(pid):
    """Greatest resident memory since exec. (What wait4 gives begins with the memory of the parent.)"""
    try:
        with open('/proc/%d/status' % pid) as f:
            return max([int(line.split()[1]) for line in f if line.startswith('VmHWM')], default=0)
    except OSError:
        return 0


def run(argv, stdin=None, limit_s=120):
    """Runs a program to its end; its output is text."""
    with tempfile.TemporaryFile('w+') as out, tempfile.TemporaryFile('w+') as err:
        began = time.monotonic()
        child = subprocess.Popen(argv, stdin=subprocess.PIPE if stdin else subprocess.DEVNULL, stdout=out, stderr=err, text=True)
        if stdin:
            child.stdin.write(stdin)
            child.stdin.close()
        pidfd = os.pidfd_open(child.pid)
        most = 0
        while not select.select([pidfd], [], [], 0.1)[0]:
            most = max(most, high_water_kib(child.pid))
            if time.monotonic() - began > limit_s:
                child.kill()
        wall_s = time.monotonic() - began
        os.close(pidfd)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = 0 # reaped above
        out.seek(0)
        err.seek(0)
        cost = Cost(status, usage, wall_s, out.read())
        cost.max_rss_kib = most
        if cost.code != 0:
            print('%s: exit status %d: %s' % (argv[0], cost.code, (err.read() or cost.out)[-400:]), file=sys.stderr)
        return cost


class Server:
    """A program that prints its port (behind a colon, or alone) and ends on SIGTERM."""

    def __init__(self, argv, env=None):
        self.child = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=dict(os.environ, **(env or {})))
        line = self.child.stdout.readline()
        if not line:
            sys.exit('%s did not start' % argv[0])
        self.port = int(line.rsplit(':', 1)[-1])
        self.url = 'http://127.0.0.1:%d' % self.port

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.send_signal(signal.SIGTERM)
        self.child.wait(30)


class Upstream(Server):
    """The mock upstream; its own counters say how many requests came."""

    def __init__(self, a, config, *options):
        super().__init__([os.path.join(a.build, 'upstream'), '--host', '127.0.0.1', '--port', '0', *options],
                         {'UPSTREAM_CONFIG': 'upstream: 1\n' + config})

    def call(self, path, method='GET'):
        with urllib.request.urlopen(urllib.request.Request(self.url + path, method=method), timeout=30) as f:
            return f.read()

    def stats(self):
        return json.loads(self.call('/__stats'))

    def reset(self):
        self.call('/__reset', 'POST')


def load(benchctl, spec, limit_s=120):
    """`benchctl load` with this workload: what it cost, and its report."""
    with tempfile.TemporaryDirectory(prefix='bench-load-') as d:
        path = os.path.join(d, 'spec.json')
        with open(path, 'w') as f:
            json.dump(spec, f)
        cost = run([benchctl, 'load', '--spec', path, '--out', os.path.join(d, 'out'), '--quiet'], limit_s=limit_s)
        report = None
        if os.path.exists(os.path.join(d, 'out', 'report.json')):
            with open(os.path.join(d, 'out', 'report.json')) as f:
                report = json.load(f)
        return cost, report


def version(path, *argv):
    r = subprocess.run([path, *(argv or ('--version',))], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = [line for line in r.stdout.split('\n') if line.strip()]
    return lines[0].strip()[:60] if lines else '?'


def spread(values, form='%.1f'):
    """median (least to greatest)"""
    if not values:
        return '-'
    return (form + ' (' + form + '-' + form + ')') % (statistics.median(values), min(values), max(values))


def machine():
    with open('/proc/cpuinfo') as f:
        model = next((line.split(':')[1].strip() for line in f if line.startswith('model name')), '?')
    return '%s, %d CPUs, Linux %s, load average %.1f' % (model, os.cpu_count(), os.uname().release, os.getloadavg()[0])


def write_json(a, value):
    if a.json:
        with open(a.json, 'w') as f:
            json.dump(value, f, indent=1)
