# SPDX-License-Identifier: MIT
"""Writes run directories as a run would have left them: the same input gives the same bytes."""
import hashlib
import json
import os
import shutil


def fnv(data):
    h = 0xcbf29ce484222325 ^ 0x62656e6368637469
    for byte in data:
        h = ((h ^ byte) * 0x100000001b3) & 0xffffffffffffffff
    return h


class Journal:
    def __init__(self, path):
        self.path, self.seq, self.lines = path, 0, []

    def add(self, event, **fields):
        self.seq += 1
        record = {"seq": self.seq, "at": "2026-01-31T08:00:00.000Z", "event": event, **fields}
        text = json.dumps(record, separators=(",", ":"))[:-1].encode()
        self.lines.append(text + b',"sum":"%016x"}\n' % fnv(text))

    def write(self):
        with open(self.path, "wb") as f:
            f.writelines(self.lines)


def seal(directory, record, files):
    """The trial's files (name: bytes), then its record, which proves them; the record's hash."""
    record["files"] = {}
    for name, data in files.items():
        path = os.path.join(directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)
        record["files"][name] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    os.makedirs(directory, exist_ok=True)
    data = (json.dumps(record, indent=1) + "\n").encode()
    with open(os.path.join(directory, "trial.json"), "wb") as f:
        f.write(data)
    return hashlib.sha256(data).hexdigest()


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as f:
        f.write(json.dumps(value, indent=1) + "\n")


def write_run(root, info, plan, trials):
    """`trials` gives (record, files) in the order of execution."""
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    write_json(os.path.join(root, "sweep.json"), info)
    write_json(os.path.join(root, "plan.json"), plan)
    journal = Journal(os.path.join(root, "journal.ndjson"))
    journal.add("journal", schema=1, version="1.2.3")
    journal.add("begin")
    for record, files in trials:
        which = {"scenario": record["scenario"], "trial": record["trial"]}
        journal.add("trial begun", **which)
        sha256 = seal(os.path.join(root, "trials", *record["scenario"].split("/"), str(record["trial"])), record, files)
        journal.add("trial sealed", **which, digest=record["digest"], outcome=record["outcome"], sha256=sha256)
    journal.add("end")
    journal.write()
