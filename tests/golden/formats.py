#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports for other programs, read by other programs: what Python's own csv, xml and json make of them.

usage: formats.py BENCHCTL RUN...
"""
import csv
import io
import json
import subprocess
import sys
import xml.etree.ElementTree as ET


def report(benchctl, run, how):
    return subprocess.run([benchctl, "report", run, "--format", how], stdout=subprocess.PIPE, check=True, timeout=60).stdout.decode()


def number_at(record, name):
    value = record
    for part in name.split("."):
        value = value[part]
    return value


def check_tidy(benchctl, run):
    """As a data frame would have it: every row the same columns, one value per trial and metric, the medians those of the report."""
    rows = list(csv.DictReader(io.StringIO(report(benchctl, run, "tidy"), newline=""), strict=True))
    document = json.loads(report(benchctl, run, "json"))
    values, counted = {}, {}
    for row in rows:
        assert None not in row and None not in row.values(), row
        key = (row["scenario"], row["trial"], row["metric"])
        assert key not in values, key
        values[key] = float(row["value"])
        counted[key] = row["counted"] == "true"
    trials = compared = 0
    for scenario in document["scenarios"]:
        for trial in scenario["trials"]:
            trials += 1
            for name in ("duration_ms", "load.goodput_rps", "load.latency_ms.p99", "app.restarts"):
                key = (scenario["scenario"], str(trial["trial"]), name)
                assert abs(values[key] - number_at(trial, name)) <= 1e-14 * abs(values[key]), key  # JSON has 15 digits
        p99 = sorted(v for k, v in values.items() if k[0] == scenario["scenario"] and k[2] == "load.latency_ms.p99" and counted[k])
        compared += bool(p99)
        if p99 and not scenario["merged"]:
            middle = (p99[(len(p99) - 1) // 2] + p99[len(p99) // 2]) / 2
            assert abs(middle - scenario["figures"]["load.latency_ms.p99"]["median"]) < 1e-9 * middle, scenario["scenario"]
    assert trials and compared, run
    assert {(r["scenario"], r["trial"]) for r in rows} == {(s["scenario"], str(t["trial"])) for s in document["scenarios"] for t in s["trials"]}


def check_csv(benchctl, run):
    rows = list(csv.DictReader(io.StringIO(report(benchctl, run, "csv"), newline=""), strict=True))
    document = json.loads(report(benchctl, run, "json"))
    assert [r["scenario"] for r in rows] == [s["scenario"] for s in document["scenarios"]]


def check_junit(benchctl, run):
    suites = ET.fromstring(report(benchctl, run, "junit"))
    document = json.loads(report(benchctl, run, "json"))
    suite, = suites.findall("testsuite")
    cases = suite.findall("testcase")
    assert [c.get("name") for c in cases] == [s["scenario"] for s in document["scenarios"]]
    for attribute, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(suite.get(attribute)) == len(suite.findall(f"testcase/{element}")) == int(suites.get(attribute)), attribute
    for case, scenario in zip(cases, document["scenarios"]):
        seconds = sum(t["duration_ms"] for t in scenario["trials"]) / 1e3
        assert abs(float(case.get("time")) - seconds) < 0.001, scenario["scenario"]
        bad = scenario["outcomes"].keys() & {"degraded", "crashed", "not-ready"}
        assert (case.find("failure") is not None) == bool(bad), scenario["scenario"]
    assert abs(float(suite.get("time")) - sum(float(c.get("time")) for c in cases)) < 0.001 * len(cases) + 0.001


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for run in sys.argv[2:]:
        check_tidy(sys.argv[1], run)
        check_csv(sys.argv[1], run)
        check_junit(sys.argv[1], run)


if __name__ == "__main__":
    main()
