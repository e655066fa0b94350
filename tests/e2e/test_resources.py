#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What containers are recorded to have used and been allowed, and what a JVM chose, on a real engine."""
import csv
import os
import re
import shutil
import sys

from e2e import command, docker, has, main, same

MIB = 1 << 20


def near(actual, expected, tolerance, what):
    if actual is None or abs(actual - expected) > tolerance:
        raise AssertionError('%s: %r is not within %r of %r' % (what, actual, tolerance, expected))


def sweep(lab, name, axes, app, duration='1200ms', code=0):
    """One axis `x`: its values with the fields that `app` refers to."""
    lab.write(name + '.yaml', '''benchctl: 1
name: %s
trials: 1
retry: 0
cooldown: 0s
order: {mode: listed}
host: {max_load: 1000}
axes:
  x:
%sapp: {%s, ready: {log: up, timeout: 60s}}
load: {adapter: idle, duration: %s}
''' % (name, ''.join('    - {name: %s}\n' % a for a in axes), app, duration))
    lab.run(name + '.yaml', name, code=code)
    lab.nothing_left()


def eater(lab, more=''):
    return "image: %s, build: {context: eater}, command: '${x.args}'%s" % (lab.image('eater'), more)


def samples(lab, out, scenario):
    with open(os.path.join(lab.path(out), 'trials', scenario, '1', 'samples.csv')) as f:
        return list(csv.DictReader(f))


def memory_is_told_apart(lab):
    sweep(lab, 'memory', ["plain, args: ['anon=5']", "anon, args: ['anon=45']", "shm, args: ['shm=45']",
                          "file, args: ['file=45']", "spike, args: ['spike=100']"],
          eater(lab, ', memory: 128m'))
    m = {n: lab.trial('memory', n)['app']['memory_bytes'] for n in ('plain', 'anon', 'shm', 'file', 'spike')}
    for n, figures in m.items():
        same(figures['limit'], 128 * MIB, n)
        same(figures['peak_source'], 'kernel', n)
        near(figures['headroom'], 128 * MIB - figures['used_peak'], 1, n + ' headroom')
        assert figures['peak'] >= figures['used_peak'], figures
        same(figures['swap_peak'], 0, n)
    near(m['anon']['anon_peak'] - m['plain']['anon_peak'], 40 * MIB, 2 * MIB, 'anon')
    near(m['shm']['shmem_avg'], 45 * MIB, 2 * MIB, 'shm')
    near(m['shm']['shmem_peak'], 45 * MIB, 2 * MIB, 'shm')
    near(m['plain']['shmem_peak'], 0, MIB, 'plain shm')
    assert m['shm']['used_peak'] > 45 * MIB, m['shm']  # it cannot be dropped
    near(m['shm']['anon_peak'], m['plain']['anon_peak'], 6 * MIB, 'shared memory is not anonymous')
    near(m['file']['file_peak'], 45 * MIB, 4 * MIB, 'file')
    assert m['file']['used_peak'] < 30 * MIB, m['file']  # it can
    # the kernel's mark began anew with the window: what was before it is not this trial's peak
    assert m['spike']['peak'] < 30 * MIB, m['spike']


def limits_are_read_back(lab):
    sweep(lab, 'limits', ["off, args: [], swap: '0'", "some, args: [], swap: 64m"],
          eater(lab, ", memory: 64m, swap: '${x.swap}', cpus: 0.5, pids: 77, cpuset: '0'"), '300ms')
    for n, swap in (('off', 0), ('some', 64 * MIB)):
        e = lab.trial('limits', n)['app']['effective']
        k = e['kernel']
        same((e['memory_bytes'], e['swap_bytes'], e['cpus'], e['pids'], e['cpuset']), (64 * MIB, swap, 0.5, 77, '0'), n)
        same((k['memory_bytes'], k['swap_bytes'], k['cpus'], k['pids'], k['cpuset']), (64 * MIB, swap, 0.5, 77, '0'),
             n + ' by the kernel')
    sweep(lab, 'default', ["a, args: []"], eater(lab, ', memory: 64m'), '300ms')
    same(lab.trial('default', 'a')['app']['effective']['kernel']['swap_bytes'], 0, 'swap is off unless it is asked for')
    sweep(lab, 'free', ["a, args: []"], eater(lab), '300ms')
    k = lab.trial('free', 'a')['app']['effective']['kernel']
    same((k['memory_bytes'], k['cpus'], k['pids']), ('unlimited', 'unlimited', 'unlimited'), 'no limits')
    same(lab.trial('free', 'a')['app']['memory_bytes']['headroom'], None, 'headroom without a limit')


def throttling_and_others(lab):
    sweep(lab, 'cpu', ["burn, args: ['burn=2']"], eater(lab, ', cpus: 0.3'), '2500ms')
    t = lab.trial('cpu', 'burn')
    app, host = t['app'], t['host']
    assert 0.05 < app['cpu_cores']['avg'] < 0.4, app['cpu_cores']
    assert app['cpu_periods'] >= 15, app['cpu_periods']  # of 100 ms each
    assert 0 < app['cpu_throttled_periods'] <= app['cpu_periods'], app
    assert app['cpu_throttled_ms'] > 0, app
    # what the application used is nobody else's
    assert 0 <= host['foreign_cpu_cores'] <= host['cpu_busy'] - 0.7 * app['cpu_cores']['avg'] + 0.05, (host, app['cpu_cores'])
    assert host['swapped_pages'] is not None, host
    assert host['kernel_messages'] is None or host['kernel_messages'] >= 0, host
    own = [r for r in samples(lab, 'cpu', 'burn') if r['role'] == 'app']
    assert len(own) >= 15 and int(own[-1]['throttled_periods']) >= app['cpu_throttled_periods'], own[-1]
    for name in ('shmem_bytes', 'swap_bytes', 'oom_kills'):
        assert own[-1][name].isdigit(), (name, own[-1])


def the_kernels_witness_of_a_kill(lab):
    """The counter goes with the cgroup, some 25 ms after the kill: it is looked at in time."""
    sweep(lab, 'kills', ["k%d, args: ['anon=1','eat=300']" % i for i in range(5)], eater(lab, ', memory: 24m'), '1500ms')
    seen = 0
    for i in range(5):
        t = lab.trial('kills', 'k%d' % i)
        same(t['app']['oom_kills'], 1, 'kills')
        same(t['app']['exits'][0]['code'], 137, 'exit code')
        own = [r for r in samples(lab, 'kills', 'k%d' % i) if r['role'] == 'app']
        counted = own[-1]['oom_kills'] == '1'
        assert t['app']['witnesses']['kernel_oom_kills'] in ([1, None] if counted else [None]), 'missed is unknown, not 0'
        seen += counted
        same(t['app']['memory_bytes']['peak'], 24 * MIB, 'peak of what died by its limit')
    print('    the kernel\'s counter was read in %d of 5' % seen)
    assert seen >= 2, seen  # on a machine with nothing else to do it is 5


# --- a JVM ---

def copy_libraries(lab, root):
    binaries = [os.path.join(d, n) for d, _, names in os.walk(root) for n in names if n.endswith('.so') or n == 'java']
    for library in sorted(set(re.findall(r'(?m)(?:=> |^\s)(/lib\S+) \(0x', command('ldd', *binaries, check=False).stdout))):
        target = root + library
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(os.path.realpath(library), target)


def jvm_image(lab):
    """The host's JDK with a server of ten lines; None where there is no jlink."""
    javas = [os.environ.get('JAVA_HOME', '')] + [os.path.join('/usr/lib/jvm', n) for n in sorted(os.listdir('/usr/lib/jvm'))
                                                ] if os.path.isdir('/usr/lib/jvm') else []
    homes = [h for h in javas if h and os.path.exists(h + '/bin/jlink') and os.path.exists(h + '/bin/javac')]
    if not homes:
        return None
    root, image = lab.path('jdk/root'), 'benchctl-e2e/jvm:' + lab.tag
    os.makedirs(root + '/tmp')
    os.makedirs(root + '/etc')
    os.chmod(root + '/tmp', 0o1777)
    lab.write('jdk/root/app/Up.java', 'public class Up { public static void main(String[] a) throws Exception {'
              ' System.out.println("up"); Thread.sleep(3600000); } }')
    command(homes[-1] + '/bin/javac', root + '/app/Up.java')
    command(homes[-1] + '/bin/jlink', '--add-modules', 'java.base', '--strip-java-debug-attributes', '--no-header-files',
            '--no-man-pages', '--output', root + '/jre')
    copy_libraries(lab, root)
    lab.write('jdk/root/etc/passwd', 'root:x:0:0:root:/:/bin/sh\n')
    lab.write('jdk/Dockerfile', 'FROM scratch\nCOPY root /\nENTRYPOINT ["/jre/bin/java"]\nCMD ["-cp","/app","Up"]\n')
    docker('build', '-q', '-t', image, lab.path('jdk'))
    return image


def said_by_itself(lab, image, memory, cpus, *options):
    """The same question by another way: docker run, and the flags read here."""
    text = docker('run', '--rm', '--label', 'benchctl-e2e=' + lab.tag, '-m', memory, '--memory-swap', memory, '--cpus',
                  cpus, image, *options, '-Xlog:gc+init', '-XX:+PrintFlagsFinal', '-version')
    collector = re.search(r'Use(Serial|Parallel|G1|Z|Shenandoah)GC +:?= true', text).group(1)
    heap = int(re.search(r' MaxHeapSize +:?= (\d+)', text).group(1))
    return collector, heap, int(re.search(r'CPUs: \d+ total, (\d+) available', text).group(1))


def what_a_jvm_chose(lab):
    image = jvm_image(lab)
    if not image:
        print('    skipped: no JDK with jlink')
        return
    limits = [(m, c) for m in ('512m', '1791m', '1792m') for c in ('1', '2')]
    sweep(lab, 'jvm', ['m%s-%s, memory: %s, cpus: %s' % (m, c, m, c) for m, c in limits],
          "image: '%s', memory: '${x.memory}', cpus: '${x.cpus}'" % image, '300ms')
    seen = set()
    for m, c in limits:
        j = lab.trial('jvm', 'm%s-%s' % (m, c))['app']['jvm']
        same((j['collector'], j['heap_max_bytes'], j['cpus']), said_by_itself(lab, image, m, c), '%s, %s CPUs' % (m, c))
        has(j['source'], "the running JVM's performance data", 'another JVM of the same image')
        seen.add(j['collector'])
    if os.cpu_count() >= 2:
        same(seen, {'Serial', 'G1'}, 'a memory axis compares collectors')
    check_table(lab, image)


def check_table(lab, image):
    """What OpenJDK 17 was seen to choose; others may differ, and then differ from the table alone."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, '..', 'cases', 'R09', 'gc_table.txt')) as f:
        rows = [line.split() for line in f if line.strip() and line[0] != '#']
    assert len(rows) >= 8, rows
    is_17 = '17.' in (lab.trial('jvm', 'm512m-1')['app']['jvm']['version'] or '')
    sweep(lab, 'table', ['m%s-%s, memory: %s, cpus: %s' % (m, c.replace('.', ''), m, c) for m, c, _, _ in rows],
          "image: '%s', memory: '${x.memory}', cpus: '${x.cpus}'" % image, '200ms')
    for m, c, collector, heap in rows:
        j = lab.trial('table', 'm%s-%s' % (m, c.replace('.', '')))['app']['jvm']
        if is_17 and os.cpu_count() == 2:
            same((j['collector'], j['heap_max_bytes']), (collector, int(heap)), '%s, %s CPUs' % (m, c))
        same((j['collector'], j['heap_max_bytes']), said_by_itself(lab, image, m, c)[:2], '%s, %s CPUs' % (m, c))
    print('    gc_table.txt: %d of %d as OpenJDK 17' % (sum(
        lab.trial('table', 'm%s-%s' % (m, c.replace('.', '')))['app']['jvm']['collector'] == g for m, c, g, _ in rows), len(rows)))


def a_jvm_without_performance_data(lab):
    if not os.path.exists(lab.path('jdk/Dockerfile')):
        return
    image = 'benchctl-e2e/jvm:' + lab.tag
    sweep(lab, 'silent', ["serial, gc: '-XX:+UseSerialGC'", "parallel, gc: '-XX:+UseParallelGC'", "z, gc: '-XX:+UseZGC'"],
          "image: '%s', memory: 256m, cpus: 2, command: ['-XX:-UsePerfData', '${x.gc}', '-Dsecret=x', '-cp', /app, Up]" %
          image, '200ms')
    for name, gc in (('serial', 'Serial'), ('parallel', 'Parallel'), ('z', 'Z')):
        j = lab.trial('silent', name)['app']['jvm']
        same(j['collector'], gc, name)
        has(j['options'], '-XX:-UsePerfData -XX:+Use')
        assert 'secret' not in j['options'] and 'performance data' not in j['source'], j
    # one that never comes up
    sweep(lab, 'dead', ["a"], "image: '%s', memory: 256m, command: ['-Xmx32m', NoSuchClass]" % image, '200ms')
    t = lab.trial('dead', 'a')
    same(t['outcome'], 'crashed', 'outcome')
    same(t['app']['jvm']['heap_max_bytes'], 32 * MIB, 'heap of one that died')


def a_program_that_is_none(lab):
    same(lab.trial('cpu', 'burn')['app']['jvm'], None, 'no JVM')


if __name__ == '__main__':
    sys.exit(main([memory_is_told_apart, limits_are_read_back, throttling_and_others, a_program_that_is_none,
                   the_kernels_witness_of_a_kill, what_a_jvm_chose, a_jvm_without_performance_data], images=('eater',)))
