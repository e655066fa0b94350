#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does a trial's record agree with itself? What must hold of every trial.json and its events.ndjson, however it ended:
lives follow each other, ends are ends of lives, shares add up to wholes, and nothing unmeasured is a number.

usage: consistent.py TRIAL-OR-RUN-DIRECTORY...
"""
import json
import os
import re
import sys

ROUND_MS = 0.01   # times are written with fewer digits than they are compared with
STAMP_MS = 1000   # an event's stamp is late against the time of the end that inspect tells, more so on a busy machine
TOLD_LATE_MS = 250  # the line "load end" is written when its programs have been put away
DURATIONS = re.compile(r'(duration|setup|overhead|startup|ready|window|down|down_before|unresponsive|time_to_failure|throttled'
                       r'|total|cpu|reset|think|lag_p99|p50|p75|p90|p95|p99|p999|min|mean|max|stdev)_ms$')
WHERE_NEGATIVE = re.compile(r'\.lives\[\d+\]\.ready_ms$')  # moments, not durations


def strict(text):
    def refuse(word):
        raise ValueError('%s is no JSON' % word)
    return json.loads(text, parse_constant=refuse)


def walk(value, path=''):
    if isinstance(value, dict):
        for k, v in value.items():
            yield from walk(v, '%s.%s' % (path, k) if path else k)
    elif isinstance(value, list):
        for i, v in enumerate(value):
            yield from walk(v, '%s[%d]' % (path, i))
    else:
        yield path, value


class Record:
    def __init__(self, directory):
        self.wrong = []
        with open(os.path.join(directory, 'trial.json')) as f:
            self.t = strict(f.read())
        try:
            with open(os.path.join(directory, 'events.ndjson')) as f:
                self.events = [strict(line) for line in f]
        except FileNotFoundError:
            self.events = None

    def must(self, holds, what, *args):
        if not holds:
            self.wrong.append(what % args)

    # --- all numbers ---

    def numbers(self):
        for path, v in walk(self.t):
            if isinstance(v, str):
                self.must(not re.search(r'(?<![\w.-])-?(nan|inf)(?![\w-])', v, re.I), '%s says %r', path, v)
            elif isinstance(v, (int, float)) and not isinstance(v, bool):
                name = path.rsplit('.', 1)[-1]
                if (DURATIONS.search(path) or name in ('min', 'mean', 'max')) and not WHERE_NEGATIVE.search(path):
                    self.must(v >= -ROUND_MS, '%s is %s', path, v)
        self.must(bool(self.t['reason']), 'no reason')

    def nothing_measured(self):
        """What a figure rests on is missing: then so is the figure."""
        load = self.t['load']
        if load:
            self.must((load['ok'] or 0) > 0 or load['latency_ms']['p50'] in (None,) or load['requests'],
                      'a latency of no request: %s', load['latency_ms']['p50'])
            if load['ok'] is not None and load['failed'] is not None and load['ok'] + load['failed'] == 0:
                self.must(load['error_rate'] is None, 'an error rate of no request: %s', load['error_rate'])
        else:
            for c in self.containers():
                self.must(c['uptime_pct'] is None or self.had_load(), '%s.uptime_pct without a load: %s', c['name'], c['uptime_pct'])
        for c in self.containers():
            if not c['samples']:
                for name in 'used_avg', 'used_peak', 'anon_avg', 'anon_peak', 'file_avg':
                    self.must(c['memory_bytes'][name] is None, '%s.%s without a sample', c['name'], name)
                self.must(c['cpu_cores']['avg'] is None, '%s.cpu_cores.avg without a sample', c['name'])
            if not c['lives']:
                self.must(c['uptime_pct'] in (None, 0), '%s.uptime_pct of none: %s', c['name'], c['uptime_pct'])
                self.must(c['time_to_failure_ms'] is None, '%s.time_to_failure_ms of none', c['name'])

    def had_load(self):
        return bool(self.events) and any(e['event'] == 'load begin' for e in self.events)

    def containers(self):
        yield dict(self.t['app'], name='app')
        for role, c in (self.t['services'] or {}).items():
            yield dict(c, name=role)

    # --- lives and ends ---

    def lives(self, c):
        lives, before = c['lives'], None
        for i, life in enumerate(lives):
            what = '%s.lives[%d]' % (c['name'], i)
            moments = [m for m in (life['start_ms'], life['ready_ms'], life['end_ms']) if m is not None]
            self.must(moments == sorted(moments), '%s is out of order: %s', what, moments)
            self.must(life['end_ms'] is not None or i == len(lives) - 1, '%s has no end, and another follows', what)
            if before is not None and moments:
                self.must(moments[0] >= before - ROUND_MS, '%s begins at %s, before the end at %s', what, moments[0], before)
            if i == 0:
                self.must(life['down_before_ms'] is None, '%s: down before the first life', what)
            elif life['down_before_ms'] is not None:
                gap = life['start_ms'] - lives[i - 1]['end_ms']
                self.must(abs(life['down_before_ms'] - gap) < ROUND_MS, '%s: down %s, but %s lie between', what,
                          life['down_before_ms'], gap)
            before = life['end_ms']
        if lives and c['restarts'] is not None and c['name'] == 'app':
            self.must(c['restarts'] == len(lives) - 1, '%s restarts in %d lives', c['restarts'], len(lives))

    def exits(self, c):
        ends = [life['end_ms'] for life in c['lives'] if life['end_ms'] is not None]
        told = [e['at_ms'] for e in c['exits']]
        self.must(told == ends or not c['lives'] and len(told) <= 1, '%s: ends of lives %s, exits %s', c['name'], ends, told)
        for e in c['exits']:
            self.must(e['cause'] and e['evidence'], '%s: an exit without cause or evidence', c['name'])
            self.must(not e['oom'] or e['code'] == 137, '%s: killed by the kernel with code %s', c['name'], e['code'])
            self.must(e['oom'] == (e['cause'] == 'oom'), '%s: flag %s and cause %r', c['name'], e['oom'], e['cause'])
        kills = sum(e['oom'] for e in c['exits'])
        self.must(c['oom_kills'] is None or c['oom_kills'] >= kills, '%s: %s OOM kills, %s ends by one', c['name'], c['oom_kills'],
                  kills)
        w = c['witnesses']
        for name, known in ('start_events', len(c['lives'])), ('distinct_starts', len(c['lives'])), ('die_events', len(told)):
            if c['name'] == 'app' and w and w[name] is not None:
                self.must(w[name] <= known, '%s: %s %s, but %d are told of', c['name'], w[name], name, known)
        first = next((e['at_ms'] for e in c['exits'] if ' benchctl' not in e['cause']), None)
        silent = c['unresponsive'][0]['from_ms'] if c['unresponsive'] else None
        bad = [m for m in (first, silent) if m is not None]
        if bad and c['lives'] and c['lives'][0]['start_ms'] is not None and c['time_to_failure_ms'] is not None:
            wanted = min(bad) - c['lives'][0]['start_ms']
            self.must(abs(c['time_to_failure_ms'] - wanted) < ROUND_MS, '%s: time to failure %s instead of %s', c['name'],
                      c['time_to_failure_ms'], wanted)

    # --- shares of the window ---

    def window(self):
        """In ms, and how far it may be off."""
        if self.t['load'] and self.t['load']['window_ms']:
            return self.t['load']['window_ms'], 5
        begin = [e['at_ms'] for e in self.events or [] if e['event'] == 'load begin']
        end = [e['at_ms'] for e in self.events or [] if e['event'] == 'load end']
        return (end[0] - begin[0], TOLD_LATE_MS) if begin and end else (None, 0)

    def shares(self, c):
        window, off = self.window()
        up = c['uptime_pct']
        if up is None or not window:
            return
        self.must(0 <= up <= 100, '%s.uptime_pct is %s', c['name'], up)
        ran = 0
        for life in c['lives']:
            if life['start_ms'] is not None:
                end = window if life['end_ms'] is None else min(life['end_ms'], window)
                ran += max(0, end - max(0, life['start_ms']))
        self.must(abs(up - 100 * ran / window) <= 100 * off / window, '%s: up %s %%, its lives make it %s %%', c['name'], up, 100 * ran / window)
        down = c['down_ms']
        if down is not None:
            self.must(down <= window + off, '%s: down %s ms of %s', c['name'], down, window)
            self.must(down >= (100 - up) / 100 * window - off, '%s: down %s ms, but not running for %s', c['name'], down,
                      (100 - up) / 100 * window)
        silent = c['unresponsive_ms']
        if silent is not None:
            self.must(silent <= window + off, '%s: silent for %s ms of %s', c['name'], silent, window)
            self.must(down is None or silent + down <= window + 2 * off, '%s: silent for %s and down for %s of %s', c['name'], silent,
                      down, window)

    def served(self):
        load, app = self.t['load'], self.t['app']
        shares = [life['requests'] for life in app['lives'] if life['requests'] is not None]
        if load and load['ok'] is not None and shares:
            self.must(sum(shares) <= load['ok'] + len(shares), 'lives answered %s requests, the load %s', sum(shares), load['ok'])

    def silences(self, c):
        before = None
        for s in c['unresponsive']:
            self.must(s['to_ms'] is None or s['from_ms'] < s['to_ms'], '%s: a silence from %s to %s', c['name'], s['from_ms'],
                      s['to_ms'])
            self.must(before is None or s['from_ms'] >= before, '%s: silences overlap at %s', c['name'], s['from_ms'])
            before = s['to_ms']
            alive = [life for life in c['lives'] if life['start_ms'] is not None and life['start_ms'] <= s['from_ms'] + ROUND_MS and
                     (life['end_ms'] is None or life['end_ms'] >= (s['to_ms'] or s['from_ms']) - STAMP_MS)]
            self.must(alive, '%s: silent at %s ms, when it did not live', c['name'], s['from_ms'])

    # --- events.ndjson ---

    def timeline(self):
        if self.events is None:
            return
        at = [e['at_ms'] for e in self.events]
        self.must(at == sorted(at), 'events are not in order')
        load = next((e['at_ms'] for e in self.events if e['event'] == 'load begin'), 0)
        for c in self.containers():
            mine = [e for e in self.events if e['role'] == c['name']]
            if c['name'] != 'app':
                continue
            for event, moments in (('start', [x['start_ms'] for x in c['lives']]),
                                   ('die', [x['end_ms'] for x in c['lives'] if x['end_ms'] is not None])):
                told = [e for e in mine if e['event'] == event]
                self.must(len(told) == len(moments), '%s: %d %s events, the record has %d', c['name'], len(told), event, len(moments))
                for e, moment in zip(told, moments):
                    stamp = e.get('engine_at_ms')
                    if stamp is not None and moment is not None:
                        self.must(abs(stamp - load - moment) < STAMP_MS, '%s: %s at %s ms, its event at %s', c['name'], event,
                                  moment, stamp - load)
            codes = [e.get('code', -1) for e in mine if e['event'] == 'die']
            if c['lives']:
                self.must(codes == [e['code'] for e in c['exits']], '%s: exit codes %s, events have %s', c['name'],
                          [e['code'] for e in c['exits']], codes)
            self.must(sum(e['event'] == 'restart' for e in mine) == max(0, len(c['lives']) - 1), '%s: restart events', c['name'])

    # --- the verdict ---

    def outcome(self):
        t, app = self.t, self.t['app']
        bad = (app['restarts'] or 0) > 0 or (app['oom_kills'] or 0) > 0 or bool(app['exits'])
        if t['outcome'] == 'ok':
            self.must(not bad, 'ok, with restarts %s, OOM kills %s, exits %s', app['restarts'], app['oom_kills'], len(app['exits']))
            self.must(not [v for v in t['validity'] if v['verdict'] == 'FAIL'], 'ok, and a rule fails')
        if t['outcome'] == 'not-ready':
            self.must(t['ready_ms'] is None, 'not-ready, and ready after %s', t['ready_ms'])
        for f in t['findings']:
            self.must(f['count'] is None or f['count'] > 0, 'a finding %s of none', f['id'])

    def problems(self):
        self.numbers()
        self.nothing_measured()
        for c in self.containers():
            self.lives(c)
            self.exits(c)
            self.shares(c)
            self.silences(c)
        self.served()
        self.timeline()
        self.outcome()
        return self.wrong


def problems(directory):
    """What does not agree in the trial of this directory; empty: all does."""
    return Record(directory).problems()


def trials_under(directory):
    for base, _, names in os.walk(directory):
        if 'trial.json' in names:
            yield base


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    found = wrong = 0
    for top in sys.argv[1:]:
        for directory in sorted(trials_under(top)):
            found += 1
            told = problems(directory)
            wrong += bool(told)
            for what in told:
                print('%s: %s' % (directory, what))
    print('%d trials, %d do not agree with themselves' % (found, wrong))
    return 1 if wrong or not found else 0


if __name__ == '__main__':
    sys.exit(main())
