#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes failures-run: a small sweep in which much goes wrong, as the records of its trials would tell it.

usage: make_failures_run.py [DIRECTORY]

Three frameworks, four memory limits, two trials each: one falls off a cliff between 80m and 96m (a crash loop at 64m, one
kill at 80m), one is a JVM whose collector changes on the way and that falls silent once although it was ok with less, and
one is always ok.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from run_directory import write_run  # noqa: E402

MIB = 1 << 20
LIMITS = {"64m": 64, "80m": 80, "96m": 96, "256m": 256}
WINDOW = 30000.0


def exit_of(at, code, cause, evidence, oom=False):
    return {"at_ms": at, "code": code, "oom": oom, "cause": cause, "evidence": evidence}


def life(start, ready, end, before, requests):
    return {"start_ms": start, "ready_ms": ready, "end_ms": end, "down_before_ms": before, "requests": requests}


def crash_loop(app, trial):
    """Killed every 2.1 s or so, never up for long."""
    at, start, before = 1500.0, -900.0, None
    app["lives"], app["exits"] = [], []
    for i in range(14):
        app["lives"].append(life(start, start + 600, at, before, 310 + i + trial))
        app["exits"].append(exit_of(at, 137, "oom", "oom event, inspect's flag, oom_kill %d to %d" % (i, i + 1), True))
        before = 120.0
        start, at = at + before, at + 2100.0
    app["lives"].append(life(start, start + 600, None, before, 90))
    app.update(restarts=14, oom_kills=14, uptime_pct=71.5, down_ms=8400.0, unresponsive_ms=0, time_to_failure_ms=2400.0)
    app["witnesses"] = {"start_events": 15, "die_events": 14, "oom_events": 14, "restart_count": 14, "distinct_starts": 15,
                        "oom_flag": 0, "kernel_oom_kills": 14}


def one_kill(app):
    app["lives"] = [life(-900.0, -300.0, 11200.0, None, 9104), life(11460.0, 12100.0, None, 260.0, 15120)]
    app["exits"] = [exit_of(11200.0, 137, "oom", "oom event, oom_kill 0 to 1", True)]
    app.update(restarts=1, oom_kills=1, uptime_pct=99.1, down_ms=900.0, unresponsive_ms=0, time_to_failure_ms=12100.0)
    app["witnesses"] = {"start_events": 2, "die_events": 1, "oom_events": 1, "restart_count": 1, "distinct_starts": 2,
                        "oom_flag": 0, "kernel_oom_kills": 1}


def silence(app):
    app["unresponsive"] = [{"from_ms": 14000.0, "to_ms": 19500.0}]
    app.update(unresponsive_ms=5500.0, time_to_failure_ms=15200.0)


def jvm(limit):
    small = limit < 96
    return {"version": "17.0.13", "collector": "Serial" if small else "G1", "heap_max_bytes": limit * MIB // 4,
            "cpus": 1 if small else 2, "options": "-XX:MaxRAMPercentage=25", "source": "flags in its log"}


def container(limit):
    return {"memory_bytes": {"limit": limit * MIB, "used_peak": min(limit * 0.97, 84.0) * MIB, "used_avg": min(limit * 0.8, 78.0) * MIB},
            "cpu_cores": {"avg": 0.8}, "restarts": 0, "oom_kills": 0, "uptime_pct": 100.0, "down_ms": 0, "unresponsive_ms": 0,
            "lives": [life(-900.0, -300.0, None, None, 24000)], "exits": [],
            "effective": {"memory_bytes": limit * MIB, "swap_bytes": 0, "cpus": 2,
                          "kernel": {"memory_bytes": limit * MIB, "swap_bytes": 0, "cpus": 2}}}


def verdicts(trial):
    return [{"id": "nothing-stressed", "verdict": "PASS", "message": "the application used 92 % of its CPUs", "check": "V4"},
            {"id": "latency-floor", "verdict": "WARN" if trial == 2 else "PASS", "check": "V3",
             "message": "one request at a time took 74 % of p50 under load"}]


def record(framework, memory, trial):
    limit = LIMITS[memory]
    app = container(limit)
    t = {"scenario": f"{framework}/{memory}", "axes": {"framework": framework, "memory": memory}, "trial": trial, "attempt": 1,
         "digest": f"{framework}-{memory}", "outcome": "ok", "reason": "finished, nothing to object to",
         "started_at": "2026-01-31T08:00:00.000Z", "duration_ms": 36000.0, "overhead_ms": 1500.0,
         "steps": [{"name": "ready", "start_ms": 800.0, "duration_ms": 600.0}, {"name": "warm-up", "start_ms": 1200.0, "duration_ms": 900.0},
                   {"name": "load", "start_ms": 2100.0, "duration_ms": WINDOW}],
         "ready_ms": 600.0 + trial,
         "load": {"requests": 24000.0, "ok": 24000.0, "failed": 0, "error_rate": 0, "goodput_rps": 800.0 + 5 * trial + limit / 10,
                  "latency_ms": {"p50": 4.5 + trial / 10, "p99": 30.0 - limit / 20 + trial}, "model": "closed", "corrected": "no",
                  "generator": {"name": "wrk", "version": "4.1.0", "exit": 0}, "window_ms": WINDOW, "duration_ms": WINDOW},
         "app": app, "findings": [], "validity": verdicts(trial)}
    if framework == "flask" and limit == 64:
        crash_loop(app, trial)
        t.update(outcome="degraded", reason="OOM-killed 14 times, restarted 14 times in 30 s at 64.0 MiB; 38 % of requests failed")
        t["load"].update(goodput_rps=155.0 + trial, error_rate=0.38, failed=2700.0, errors={"connect": 2700})
    if framework == "flask" and limit == 80:
        one_kill(app)
        t.update(outcome="degraded", reason="OOM-killed once, restarted once in 30 s at 80.0 MiB; 3 % of requests failed")
        t["load"].update(error_rate=0.03, failed=720.0, errors={"connect": 720})
        t["findings"].append({"id": "oom-child", "role": "app", "at_ms": 4200.0, "count": 1 + trial,
                              "message": "the kernel killed %d child processes, the main process went on" % (1 + trial)})
    if framework == "spring":
        app["jvm"] = jvm(limit)
        if limit == 64:
            app["exits"] = [exit_of(1800.0, 3, "java heap exhausted", "exit code 3, 'java.lang.OutOfMemoryError' in its log")]
            app["lives"] = [life(-900.0, -300.0, 1800.0, None, 1210)]
            app.update(uptime_pct=6.0, down_ms=28200.0, time_to_failure_ms=2700.0)
            t.update(outcome="crashed", reason="ended once (last: java heap exhausted); 94 % of requests failed")
            t["load"].update(error_rate=0.94, failed=22000.0, goodput_rps=40.0, errors={"connect": 22000})
            t["findings"].append({"id": "java-heap", "role": "app", "at_ms": 1750.0, "count": 1,
                                  "message": "the Java heap was exhausted: 'java.lang.OutOfMemoryError: Java heap space'"})
        if limit == 96 and trial == 2:
            silence(app)
            t.update(outcome="degraded", reason="unresponsive for 5.5 s from 14.0 s on")
            t["load"].update(error_rate=0.02, failed=480.0, errors={"timeout": 480})
            t["findings"].append({"id": "unresponsive", "role": "app", "at_ms": 14000.0, "count": 1,
                                  "message": "it ran and answered nothing for 5.5 s"})
            t["findings"].append({"id": "connection-limit", "role": "database", "at_ms": 13900.0, "count": 212,
                                  "message": "no connection was left: 'FATAL: sorry, too many clients already'"})
        if limit == 96:
            app["effective"]["swap_bytes"] = app["effective"]["kernel"]["swap_bytes"] = 96 * MIB
    return t


def events(t):
    begin = t["steps"][-1]["start_ms"]
    lines = [{"at_ms": begin, "event": "load begin", "role": "load"}]
    lines += [{"at_ms": begin + e["at_ms"], "event": "die", "role": "app", "code": e["code"]} for e in t["app"]["exits"][:2]]
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines).encode()


def scenario(framework, memory):
    return {"id": f"{framework}/{memory}", "axes": {"framework": framework, "memory": memory}, "digest": f"{framework}-{memory}",
            "settings": {"app": {"memory": LIMITS[memory] * MIB, "swap": 0, "cpus": 2}, "load": {"warmup": {"duration": "900ms"}}}}


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "failures-run")
    frameworks = ["flask", "spring", "express"]
    info = {"name": "failures", "title": "Three services as memory gets less", "started_at": "2026-01-31T08:00:00.000Z",
            "scenarios": 12, "trials": 24, "trials_per_scenario": 2, "order": {"mode": "interleaved", "seed": 7},
            "axes": [{"name": "framework", "values": frameworks}, {"name": "memory", "values": list(LIMITS)}]}
    plan = {"axes": ["framework", "memory"], "scenarios": [scenario(f, m) for f in frameworks for m in LIMITS]}
    records = (record(f, m, trial) for trial in (1, 2) for f in frameworks for m in LIMITS)
    write_run(root, info, plan, ((t, {"events.ndjson": events(t)} if t["app"]["exits"] else {}) for t in records))


if __name__ == "__main__":
    main()
