#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real reports as JSON against the schema that `benchctl schema --of report` gives, in both directions: every report is valid, has
no member that the schema does not name, and between them they have every member that it names (but figures that nobody measured
and a trial's record, which are in the schema from the tables that write them).

usage: report_schema.py BENCHCTL RUN...
"""
import copy
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from json_schema import Checker, named  # noqa: E402
from run_directory import write_run  # noqa: E402

GENERATED = ("#/$defs/trial/", "#/$defs/figures/", "#/$defs/part_figures/", "#/$defs/outcomes/")


KINDS = {"a": {"kind": "a", "size": "s"}, "b": {"kind": "b", "size": "s"}, "c": {"kind": "a", "size": "l"}, "d": {"kind": "b", "size": "l"}}


def output(*command):
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=60).stdout)


def part(name, x, **more):
    return {"name": name, "requests": 900 * x, "goodput_rps": 90 * x, "error_rate": 0, "latency_ms": {"p50": 3 * x, "p99": 9 * x},
            "service_ms": {"p99": 8 * x}, **more}


def rich_trial(scenario, trial, canary=False, control=None):
    phases = [part("warm", 1, model="closed", warmup=True, begin_ms=0, duration_ms=1000),
              part("steady", 2, model="open", warmup=False, begin_ms=1000, duration_ms=9000, planned=900, rates={"offered": 100})]
    return {"scenario": scenario, "axes": {} if canary else KINDS["a" if control else scenario], "control": control, "trial": trial, "attempt": 1, "digest": "c" if canary else scenario,
            "outcome": "ok", "reason": "finished", "started_at": "2026-01-31T08:00:00.000Z", "duration_ms": 12000, "canary": canary,
            "load": {"requests": 1800, "ok": 1800, "failed": 0, "error_rate": 0, "goodput_rps": 180 + trial, "latency_ms": {"p50": 4, "p99": 12},
                     "model": "mixed", "corrected": "yes", "generator": {"name": "own", "version": "1", "exit": 0}, "window_ms": 10000,
                     "phases": phases, "by_request": [part("list", 1), part("add", 3)]},
            "app": {"memory_bytes": {"limit": "unlimited", "used_peak": 5e7}, "cpu_cores": {"avg": 0.5}, "restarts": 0, "oom_kills": 0},
            "services": {"mock.up": {"cpu_cores": {"avg": 0.1}, "memory_bytes": {"used_peak": 1e7}, "restarts": 0}},
            "metrics": {"heap_used_bytes": {"avg": 1e7, "max": 2e7, "last": 1e7}, "gc_pauses": {"increase": 12}},
            "checks": [{"name": "rows", "value": "7", "expect": "== 7", "gated": True, "passed": True}],
            "build": {"image": "x", "steps": [{"name": "cold", "duration_ms": 9000, "exit_code": 0, "counts": {"classes": 12}}]},
            "validity": [{"check": "V9", "id": "generator-busy", "verdict": "PASS", "message": "it had time"}]}


def make_rich(root):
    info = {"name": "rich", "title": "Everything that a report may have", "started_at": "2026-01-31T08:00:00.000Z",
            "order": {"mode": "interleaved", "seed": 1}, "axes": [{"name": "kind", "values": ["a", "b"]}, {"name": "size", "values": ["s", "l"]}]}
    plan = {"axes": ["kind", "size"], "scenarios": [{"id": k, "axes": KINDS[k], "digest": k} for k in KINDS] +
            [{"id": "later", "axes": {"kind": "later", "size": "s"}, "digest": "later"}] +
            [{"id": "control-" + c, "axes": KINDS["a"], "digest": "control-" + c, "control": c, "of": "a"} for c in ("aa", "handicap")],
            "contrasts": [{"contrast": "kind", "axis": "kind"}, {"contrast": "kind x size", "axis": "kind", "by": "size"}],
            "canary": {"scenario": "a", "every": 2, "band": 0.1, "metric": "load.goodput_rps", "digest": "c"}}
    order = [("canary", 1), ("a", 1), ("b", 1), ("c", 1), ("d", 1), ("canary", 2), ("a", 2), ("b", 2), ("c", 2), ("d", 2), ("canary", 3)]
    order += [("control-" + c, n) for n in (1, 2) for c in ("aa", "handicap")]
    write_run(root, info, plan, ((rich_trial(s, n, s == "canary", s.removeprefix("control-") if s.startswith("control-") else None), {})
                                 for s, n in order))


def wrong_versions(value):
    """Copies of the document that are wrong in one place each: a member away, and of another type; one for each kind of place."""
    done = set()

    def walk(node, path, kind):
        if isinstance(node, list):
            for i, item in enumerate(node[:1]):
                yield from walk(item, path + [i], kind + "[]")
        if not isinstance(node, dict):
            return
        for name, member in node.items():
            here = kind + "/" + name
            if here in done or kind.startswith(("/sweep", "/contrasts/scenarios", "/canary/canaries[]/trial", "/scenarios[]/trials[]/")):
                continue
            done.add(here)
            yield path + [name], here
            yield from walk(member, path + [name], here)

    for path, kind in walk(value, [], ""):
        missing, other = copy.deepcopy(value), copy.deepcopy(value)
        for changed, away in ((missing, True), (other, False)):
            at = changed
            for step in path[:-1]:
                at = at[step]
            if away:
                del at[path[-1]]
            else:
                at[path[-1]] = [[]] if not isinstance(at[path[-1]], list) else "a text"
        yield kind, missing, other


def small_part(document):
    """One of each: of many alike no more is learned."""
    scenario = document["scenarios"][0]
    figures = ("load.goodput_rps", "services.mock.up.restarts", "phases.steady.latency_ms.p99")
    return {**document, "canary": {**document["canary"], "canaries": document["canary"]["canaries"][:1]}, "validity_of_sweep": document["validity_of_sweep"][:1],
            "scenarios": [{**scenario, "figures": {f: scenario["figures"][f] for f in figures}, "trials": scenario["trials"][:1]}]}


def may_be_missing(kind):
    parent, name = kind.split("/")[-2:]
    return (parent in ("services", "metrics", "errors", "axes", "counts", "figures", "outcomes") or kind in ("/canary", "/contrasts", "/controls", "/interactions", "/controls[]/seen") or
            kind.startswith("/scenarios[]/phases[]/") and name in ("model", "warmup", "begin_ms") or name == "limited_by_evidence")


def check_that_it_refuses(schema, document):
    """Of a trial's record its own members are enough: the tables that write it made its schema."""
    refused = 0
    for kind, missing, other in wrong_versions(document):
        assert list(Checker(schema).problems(other)), f"{kind} may be anything"
        assert may_be_missing(kind) != bool(list(Checker(schema).problems(missing))), f"{kind} missing"
        refused += 1
    assert refused > 100, refused


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    benchctl, runs = sys.argv[1], sys.argv[2:]
    schema = output(benchctl, "schema", "--of", "report")
    assert schema["$defs"]["trial"]["properties"] == output(benchctl, "schema", "--of", "trial")["properties"]
    checker = Checker(schema)
    with tempfile.TemporaryDirectory() as work:
        make_rich(os.path.join(work, "rich"))
        for run in runs + [os.path.join(work, "rich")]:
            document = output(benchctl, "report", run, "--format", "json")
            problems = list(checker.problems(document))
            assert not problems, problems
    assert not checker.unnamed, f"not in the schema: {sorted(checker.unnamed)}"
    never = [n for n in named(schema) if n not in checker.seen and not n.startswith(GENERATED)]
    assert not never, f"only in the schema: {never}"
    for figure in ("services\\..+\\.restarts", "(phases|requests)\\..+\\.latency_ms\\.p99"):
        assert f"#/$defs/figures/^{figure}$" in checker.seen, figure
    check_that_it_refuses(schema, small_part(document))


if __name__ == "__main__":
    main()
