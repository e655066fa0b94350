#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Applications that are alive and answer nothing, are slow, come back, or run out of a Java heap, on a real engine."""
import json
import os
import re
import shutil
import sys

from e2e import TOP, command, docker, has, main, same

HEAP = os.path.join(TOP, 'tests', 'cases', 'R10', 'Heap.java')
GENERATORS = {
    'builtin': 'adapter: builtin, vus: 4, think: 10ms, request_timeout: 1s',
    'wrk': 'adapter: wrk, threads: 1, connections: 4',
}


def fail_image(lab):
    """examples/failures/fail.c, as an image of this test's own."""
    if not docker('images', '-q', lab.image('fail')):
        os.makedirs(lab.path('fail'), exist_ok=True)
        command('cc', '-O1', '-static', '-o', lab.path('fail/fail'), os.path.join(TOP, 'examples', 'failures', 'fail.c'))
        lab.write('fail/Dockerfile', 'FROM scratch\nENV LAB=%s\nCOPY fail /fail\nENTRYPOINT ["/fail"]\n' % lab.tag)
        docker('build', '-q', '-t', lab.image('fail'), lab.path('fail'))
    return lab.image('fail')


def sweep(lab, out, does, load, app=''):
    lab.write(out + '.yaml', '''benchctl: 1
name: %s
axes: {case: [one]}
trials: 1
retry: 0
cooldown: 0
app: {image: "%s", command: [%s], port: 8080, ready: {http: /}, liveness: {after: 1500ms, give_up: 4s}%s}
load: {%s}
''' % (out, fail_image(lab), ', '.join('"%s"' % d for d in does), app, load))
    lab.run(out + '.yaml', out, code=None)  # a busy machine makes a generator late: that is not what is asked here
    lab.nothing_left()
    return lab.trial(out, 'one')


def events(lab, out):
    return [json.loads(line) for line in lab.read(out + '/trials/one/1/events.ndjson').splitlines()]


def findings(t, name):
    return [f for f in t['findings'] if f['id'] == name]


def near(what, actual, expected, tolerance):
    if actual is None or abs(actual - expected) > tolerance:
        raise AssertionError('%s: %r instead of %r +- %r' % (what, actual, expected, tolerance))


def silence_has_its_moment(lab):
    for name, load in GENERATORS.items():
        t = sweep(lab, 'hang-' + name, ['hang@2'], load + ', duration: 60s')
        app = t['app']
        assert t['outcome'] in ('degraded', 'crashed'), t['outcome']
        has(t['reason'], 'unresponsive')
        same(len(app['unresponsive']), 1, name)
        hung = app['lives'][0]['start_ms'] + 2000
        near(name, app['unresponsive'][0]['from_ms'], hung, 700)
        same(app['unresponsive'][0]['to_ms'], None)
        near(name, app['time_to_failure_ms'], 2000, 700)
        assert t['duration_ms'] < 30000, t['duration_ms']  # nobody waits for the minute to pass
        same(len(findings(t, 'unresponsive')), 1)
        same([e['event'] for e in events(lab, 'hang-' + name)
              if e['event'] in ('unresponsive', 'responsive', 'given up')], ['unresponsive', 'given up'])
    assert t['app']['restarts'] == 0 and t['app']['exits'] == [], t['app']
    kept = lab.trial('hang-builtin', 'one')['load']
    assert kept and kept['ok'] > 100 and kept['errors']['timeout'] > 0, kept


def silence_may_end(lab):
    t = sweep(lab, 'while', ['hang@2+3'], GENERATORS['builtin'] + ', duration: 8s')
    silence, = t['app']['unresponsive']
    near('from', silence['from_ms'], t['app']['lives'][0]['start_ms'] + 2000, 700)
    near('to', silence['to_ms'], t['app']['lives'][0]['start_ms'] + 5000, 1500)
    near('all', t['app']['unresponsive_ms'], silence['to_ms'] - silence['from_ms'], 1)
    same([e['event'] for e in events(lab, 'while') if e['event'] in ('unresponsive', 'responsive', 'given up')],
         ['unresponsive', 'responsive'])


def saturated_is_not_silent(lab):
    """Ten requests a second for a hundred connections: answers take longer than any probe waits."""
    lab.write('slow.yaml', '''benchctl: 1
name: slow
axes: {by: [{name: wrk, load: {adapter: wrk, threads: 1, connections: 100, duration: 12s}},
            {name: builtin, load: {adapter: builtin, vus: 100, duration: 12s, request_timeout: 60s}}]}
trials: 1
retry: 0
app: {image: "%s", build: {context: app}, command: [slow=100], port: 8080, ready: {http: /health}, liveness: {after: 5s, http: /}}
load: ${by.load}
''' % lab.image('app'))
    lab.run('slow.yaml', 'slow', code=None)
    for by in ('wrk', 'builtin'):
        t = lab.trial('slow', by)
        same(t['app']['unresponsive'], [], by)
        same(t['app']['unresponsive_ms'], 0, by)
        same(findings(t, 'unresponsive'), [], by)
    lab.nothing_left()


def down_is_not_silent(lab):
    t = sweep(lab, 'loop', ['exit:1@2'], GENERATORS['builtin'] + ', duration: 8s', ', restart: always')
    same(t['app']['unresponsive'], [])
    lives = t['app']['lives']
    assert len(lives) >= 3, lives
    for life in lives:
        if life['end_ms'] is not None:
            assert 0 <= life['ready_ms'] - life['start_ms'] < 700, life
    near('requests', sum(life['requests'] for life in lives), t['load']['ok'], 0.02 * t['load']['ok'] + len(lives))
    ready = [e for e in events(lab, 'loop') if e['event'] == 'ready']
    assert len(ready) >= len(lives) - 1, ready


def logs_tell(lab):
    t = sweep(lab, 'logs', ['say:FATAL: sorry, too many clients already', 'say:ERROR: cached plan must not change result type'],
              GENERATORS['builtin'] + ', duration: 1s')
    has(findings(t, 'connection-limit')[0]['message'], "connection slots used up (53300)",
        "1 line in the log of 'app'", 'sorry, too many clients already')
    has(findings(t, 'stale-session')[0]['message'], 'cached plan')
    same([f['id'] for f in t['findings']], ['connection-limit', 'stale-session'])


# --- a Java heap ---

def java_home():
    java = shutil.which('java')
    home = java and os.path.dirname(os.path.dirname(os.path.realpath(java)))
    tools = home and all(os.access(os.path.join(home, 'bin', t), os.X_OK) for t in ('javac', 'jlink'))
    return home if tools else None


def java_image(lab, home):
    """A run-time image with nothing but java.base and Heap.class, its libraries beside it."""
    root = lab.path('jvm/root')
    os.makedirs(root + '/opt')
    for name in ('lib', 'lib64', 'tmp', 'app'):
        os.makedirs(os.path.join(root, name))
    command(home + '/bin/jlink', '--add-modules', 'java.base', '--strip-java-debug-attributes', '--no-header-files',
            '--no-man-pages', '--output', root + '/opt/jre')
    command(home + '/bin/javac', '-d', root + '/app', HEAP)
    found = command('find', root + '/opt/jre', '-name', '*.so', '-o', '-path', '*/bin/java').stdout.split()
    for binary in found:
        for path in re.findall(r'(?m)(?:=> |^\s)(/(?:usr/)?lib\S+) \(', command('ldd', binary, check=False).stdout):
            if not os.path.exists(root + path):
                os.makedirs(os.path.dirname(root + path), exist_ok=True)
                shutil.copy(os.path.realpath(path), root + path)
    lab.write('jvm/Dockerfile', 'FROM scratch\nENV LAB=%s\nCOPY root /\n' % lab.tag)
    docker('build', '-q', '-t', lab.image('jvm'), lab.path('jvm'))


def three_ways_to_run_out_of_memory(lab):
    home = java_home()
    if not home:
        print('skipped: no JDK with javac and jlink on PATH')
        return
    java_image(lab, home)
    lab.write('heap.yaml', '''benchctl: 1
name: heap
axes:
  how:
    - {name: stays, args: [-Xmx64m, -cp, /app, Heap, heap, "8080"]}
    - {name: exits, args: [-Xmx64m, "-XX:+ExitOnOutOfMemoryError", -cp, /app, Heap, heap, "8080"]}
    - {name: native, args: ["-XX:MaxDirectMemorySize=1g", -cp, /app, Heap, native, "8080"]}
trials: 1
retry: 0
app: {image: "%s", entrypoint: [/opt/jre/bin/java], command: "${how.args}", memory: 256m, port: 8080, ready: {tcp: true},
      liveness: {after: 1500ms, give_up: 3s}}
load: {adapter: builtin, vus: 2, think: 20ms, request_timeout: 1s, duration: 5s, keepalive: false}
''' % lab.image('jvm'))
    lab.run('heap.yaml', 'heap', code=None)
    lab.nothing_left()
    t = lab.trial('heap', 'stays')  # it lives on with its port open, whether or not it still answers
    same(t['app']['exits'], [])
    same(t['app']['oom_kills'], 0)
    has(findings(t, 'java-heap')[0]['message'], 'java heap exhausted', 'OutOfMemoryError: Java heap space')
    same(t['outcome'] in ('degraded', 'crashed'), True, t['outcome'])
    has(t['reason'], 'java heap exhausted')
    t = lab.trial('heap', 'exits')
    same(t['outcome'], 'crashed')
    same([(e['code'], e['oom'], e['cause']) for e in t['app']['exits']], [(3, False, 'java heap exhausted')])
    same(t['app']['oom_kills'], 0)
    has(t['reason'], 'java heap exhausted')
    t = lab.trial('heap', 'native')
    same(t['outcome'], 'crashed')
    same([(e['code'], e['oom'], e['cause']) for e in t['app']['exits']], [(137, True, 'oom')])
    same(t['app']['oom_kills'], 1)
    same(findings(t, 'java-heap'), [])
    has(t['reason'], 'OOM-killed 1 time')


if __name__ == '__main__':
    sys.exit(main([silence_has_its_moment, silence_may_end, saturated_is_not_silent, down_is_not_silent, logs_tell,
                   three_ways_to_run_out_of_memory]))
