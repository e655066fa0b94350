# SPDX-License-Identifier: MIT
"""Torture: the calls of a sweep to the world outside are counted, then each of them fails in turn, in every way it can, and
separately benchctl is killed at each. After every one the sweep is resumed: it completes, what was sealed is the same byte
for byte, the engine holds nothing of ours and everything that is not ours, and the error named what failed.

usage: test_calls.py BENCHCTL ENGINE FAULT [--all] [--jobs N] [--only KIND:N:HOW | --kind KIND | --how HOW] [--stride N] [--skip N]
A sample of the calls, spread evenly, unless --all or BENCHCTL_TORTURE=all.
"""
import argparse
import collections
import concurrent.futures
import os
import sys
import time
import traceback

from torture import (BENCHCTL, UNBEGUN, Fault, Run, complete, kept, need, nothing_left, sealed,
                     untouched, went_well)

# what can befall a call of each kind
HOWS = {
    'fs': ['fail', 'fail2', 'full', 'before', 'after', 'power', 'zeroed'],
    'engine': ['fail', 'fail2', 'before', 'after'],
    'net': ['fail', 'before'],
    'process': ['fail', 'fail2', 'before', 'after'],
    'kernel': ['fail', 'before'],
}
CUT = {'write': ['short', 'torn'], 'send': ['short', 'torn'], 'recv': ['short']}
SAMPLE = 20  # of them; a sanitized benchctl takes about a second for each where others work, too
KILLS = ('before', 'after', 'torn', 'power', 'zeroed')
WORDS = ("'", 'cannot ', 'step ', 'engine', 'interrupted')


def count():
    """The calls of one undisturbed sweep: [(kind, n, name, subject)]."""
    run = Run()
    try:
        code, text = run.run(log=True)
        need(went_well(code, run), 'the undisturbed sweep', text)
        complete(run)
        with open(run.log) as f:
            return [(kind, int(n), name, rest[0] if rest else '') for kind, n, name, *rest in
                    (line.rstrip('\n').split(' ', 3) for line in f)]
    finally:
        run.close()


def cases_of(calls):
    for kind, n, name, _ in calls:
        for how in HOWS[kind] + CUT.get(name, []):
            yield '%s:%d:%s' % (kind, n, how)


def honest(fault, code, text):
    """A failure says what failed; a kill is one."""
    how = fault.rsplit(':', 1)[1]
    if code == -6:
        return # benchctl() has seen that it says why
    if code == -9:
        need(how in KILLS, 'killed, but not by the test', text)
    elif code != 0:
        lines = [line for line in text.splitlines() if line.startswith('benchctl: ')]
        need(lines or ' executed' in text, 'exit status %d without a word' % code, text)
        need(not lines or any(w in text for w in WORDS), 'the error names nothing', text)


def resume(run, before, text):
    """To the end; begun anew where nothing had been begun."""
    code, said = run.resume()
    if UNBEGUN in said or not os.path.isdir(run.out) or 'is not a run directory' in said:
        need(not before, 'sealed trials, but nothing to resume', said)
        code, said = run.run()
    need(went_well(code, run), 'after the fault: exit status %d' % code, said, 'and before:', text)
    return said


def play(fault, clean_first):
    run = Run()
    try:
        code, text = run.run(fault=fault)
        honest(fault, code, text)
        before = sealed(run.out)
        if code >= 0:
            nothing_left_but_by_failing(run, fault)
        if clean_first:
            cleaned, said = run.clean()
            need(cleaned == 0, 'clean', said)
            nothing_left(run)
        untouched(run)
        said = resume(run, before, text)
        kept(before, run)
        complete(run, text=said)
        run.engine.close()
    finally:
        if run.engine.process.poll() is None:
            run.engine.process.kill()
            run.engine.process.wait()
        run.engine.close = lambda: None
        run.close()
    return code


def nothing_left_but_by_failing(run, fault):
    """A benchctl that ended by itself has removed what it made, unless the call that failed was just that, and cannot be
    made again: then it is found by its label."""
    if fault.startswith('fs:') or fault.startswith('process:'):
        nothing_left(run)


def sample(cases):
    step = max(1, len(cases) // SAMPLE)
    return [cases[i] for i in range(step // 2, len(cases), step)][:SAMPLE]


def one(i, fault):
    begin = time.monotonic()
    try:
        code = play(fault, clean_first=i % 5 == 0)
        return fault, None, code, time.monotonic() - begin
    except Exception as e:  # pylint: disable=broad-except
        told = str(e) if isinstance(e, Fault) else traceback.format_exc()
        return fault, told, None, time.monotonic() - begin


def main():
    p = argparse.ArgumentParser()
    p.add_argument('paths', nargs=3)
    p.add_argument('--all', action='store_true')
    p.add_argument('--jobs', type=int, default=2)
    p.add_argument('--only', action='append', default=[])
    p.add_argument('--kind')
    p.add_argument('--how')
    p.add_argument('--stride', type=int)
    p.add_argument('--skip', type=int, default=0, help='so many cases are not played')
    a = p.parse_args()
    calls = count()
    by_kind = collections.Counter(c[0] for c in calls)
    names = {'%s:%d' % c[:2]: '%s %s' % c[2:] for c in calls}
    print('calls of one sweep: %d (%s)' % (len(calls), ', '.join('%s %d' % k for k in sorted(by_kind.items()))))
    cases = [c for c in cases_of(calls) if (not a.kind or c.startswith(a.kind + ':')) and
             (not a.how or c.endswith(':' + a.how))]
    if a.only:
        cases = a.only
    elif a.stride:
        cases = cases[::a.stride]
    elif not a.all and os.environ.get('BENCHCTL_TORTURE') != 'all':
        cases = sample(cases)
    cases = cases[a.skip:]
    failed, codes = 0, collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for fault, told, code, seconds in pool.map(one, range(len(cases)), cases):
            codes[code] += 1
            if told:
                failed += 1
                print('FAILED %s (%s) after %.1f s\n%s\n' % (fault, names.get(fault.rsplit(':', 1)[0]), seconds, told),
                      flush=True)
    print('%d cases, %d failed; exit statuses %s' % (len(cases), failed, dict(codes)))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
