#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the run directory of a large sweep that nobody ran, for measuring reports: the same arguments give the same bytes.

usage: make_report_run.py DIRECTORY [TRIALS [MEGABYTES]]

Five trials each of scenarios with three axes, every tenth of them failing; MEGABYTES of samples.csv in all, and beside them each trial's
series.csv, events.ndjson and histogram.hlog as the generator of our own writes them.
"""
import base64
import os
import random
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from run_directory import write_run  # noqa: E402

EACH, SECONDS, VARIANTS = 5, 60, 16
MIB = 1 << 20


def samples(rng, size):
    head = ("at_ms,role,usage_bytes,used_bytes,anon_bytes,file_bytes,peak_bytes,cpu_cores,throttled_ms,pids,rx_bytes,tx_bytes,shmem_bytes,"
            "swap_bytes,throttled_periods,oom_kills\n")
    rows, length, i = [head], len(head), 0
    roles = ("app", "database")
    step = SECONDS * 1000 / max(1, size / 110 / len(roles))
    while length < size:
        used = 40 * MIB + rng.randrange(20 * MIB)
        row = "%.1f,%s,%d,%d,%d,%d,%d,%.3f,0.0,%d,%d,%d,0,0,0,0\n" % (
            2000 + step * (i // 2), roles[i % 2], used + 4 * MIB, used, used - MIB, 2 * MIB, used + 5 * MIB, rng.random(), 20 + rng.randrange(9), 1000 * i, 700 * i)
        rows.append(row)
        length += len(row)
        i += 1
    return "".join(rows).encode()


def series(rng):
    head = "at_ms,vus,planned,started,requests,ok,failed,dropped,aborted,p50_ms,p99_ms,max_ms,mean_ms,received_bytes,cpu\n"
    return (head + "".join("%d,25,1000,1000,%d,%d,0,0,0,%.3f,%.3f,%.3f,%.3f,400000,0.03\n" % (
        1000 * (s + 1), 1000, 1000, 4 + rng.random(), 20 + 5 * rng.random(), 40 + 9 * rng.random(), 5 + rng.random()) for s in range(SECONDS))).encode()


def zigzag(value):
    value = (value << 1) ^ (value >> 63)
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def histogram(rng):
    """HdrHistogram's V2 encoding, deflated: counters of latencies of about 4 ms."""
    counts = b"".join(zigzag(n if n else -1) for n in [-3000] + [max(0, int(rng.gauss(3, 2))) for _ in range(400)])
    plain = struct.pack(">IIIIQQd", 0x1c849313, len(counts), 0, 3, 1, 3600000000, 1.0) + counts
    packed = zlib.compress(plain, 6)
    return base64.b64encode(struct.pack(">II", 0x1c849314, len(packed)) + packed).decode()


def log(rng):
    lines = ["#[Histogram log format version 1.3]", "#[StartTime: 1769846400.000 (seconds since epoch)]",
             '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"']
    lines += ["Tag=list,%d.000,1.000,9.000,%s" % (s, histogram(rng)) for s in range(SECONDS)]
    return ("\n".join(lines) + "\n").encode()


def variants(megabytes, trials):
    """Files of a trial; more than a few different ones would only take time."""
    rng = random.Random(19)
    size = megabytes * 1000000 // trials
    return [{"samples.csv": samples(rng, size), "load/series.csv": series(rng), "load/histogram.hlog": log(rng)} for _ in range(VARIANTS)]


def container(rng):
    return {"memory_bytes": {"limit": 256 * MIB, "used_avg": 48e6, "used_peak": 50e6 + rng.randrange(10**7), "anon_peak": 4e7},
            "cpu_cores": {"avg": 0.5 + rng.random() / 10, "peak": 0.9}, "cpu_total_ms": 30000, "restarts": 0, "oom_kills": 0, "uptime_pct": 100, "exits": []}


def record(rng, axes, trial):
    load = {"requests": 60000, "ok": 60000, "failed": 0, "error_rate": 0, "rps": 1000, "goodput_rps": 900 + 100 * rng.random(),
            "latency_ms": {"min": 1, "mean": 5, "p50": 4 + rng.random(), "p75": 6, "p90": 9, "p95": 12, "p99": 20 + 5 * rng.random(), "p999": 40, "max": 50},
            "generator": {"name": "own", "version": "1", "exit": 0, "cpu_ms": 2000}, "model": "closed", "corrected": "no",
            "window_ms": SECONDS * 1000, "duration_ms": SECONDS * 1000}
    t = {"scenario": "/".join(axes.values()), "axes": axes, "trial": trial, "attempt": 1, "digest": "-".join(axes.values()), "outcome": "ok",
         "reason": "finished, nothing to object to", "started_at": "2026-01-31T08:00:00.000Z", "duration_ms": 70000, "overhead_ms": 1500,
         "steps": [{"name": n, "start_ms": 500 * i, "duration_ms": 400} for i, n in enumerate(["network", "reset", "create", "ready", "load"])],
         "startup_ms": 600, "ready_ms": 640 + rng.randrange(40), "load": load, "app": container(rng), "services": {"database": container(rng), "mock": container(rng)},
         "metrics": {f"metric_{i}_bytes": {"avg": 1e6, "max": 2e6 + rng.randrange(9999), "last": 1e6, "gaps": 0} for i in range(12)},
         "database": {"reset_ms": 140, "commits": 12000, "rollbacks": 0, "deadlocks": 0, "size_bytes": 9e6},
         "checks": [{"name": "rows", "value": "0", "expect": "== 0", "gated": True, "passed": True}], "findings": [], "notes": [],
         "validity": [{"check": f"V{i}", "id": f"rule-{i}", "verdict": "WARN" if i == trial else "PASS", "message": f"{rng.randrange(90)} % of it"} for i in range(1, 13)]}
    if rng.randrange(10) == 0:
        t["app"]["exits"] = [{"at_ms": 1000 * i, "code": 137, "oom": True, "cause": "oom", "evidence": "oom event"} for i in range(1, 4)]
        t["app"].update(restarts=3, oom_kills=3, uptime_pct=80)
        t.update(outcome="degraded", reason="OOM-killed 3 times, restarted 3 times in 60 s at 256 MiB; 10 % of requests failed")
    return t


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    root = sys.argv[1]
    trials = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    megabytes = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    scenarios = [{"framework": f"framework{i % 10}", "runtime": f"runtime{i // 10 % 4}", "memory": f"{64 * (1 + i // 40)}m"} for i in range((trials + EACH - 1) // EACH)]
    names = list(scenarios[0])
    info = {"name": "large", "title": "A large sweep", "benchctl": "1.2.3", "started_at": "2026-01-31T08:00:00.000Z", "trials_per_scenario": EACH,
            "order": {"mode": "interleaved", "seed": 19}, "axes": [{"name": n, "values": list(dict.fromkeys(s[n] for s in scenarios))} for n in names],
            "host": {"name": "nowhere", "cpus": 4, "cpu": "none"}}
    plan = {"axes": names, "scenarios": [{"id": "/".join(s.values()), "axes": s, "digest": "-".join(s.values())} for s in scenarios]}
    rng, files = random.Random(7), variants(megabytes, trials)
    every = [(s, n) for n in range(1, EACH + 1) for s in scenarios][:trials]
    events = b'{"at_ms":2000,"event":"load begin","role":"load"}\n'
    write_run(root, info, plan, ((record(rng, s, n), {**files[i % VARIANTS], "events.ndjson": events}) for i, (s, n) in enumerate(every)))


if __name__ == "__main__":
    main()
