#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the logs of this folder with the package hdrhistogram (an implementation that is not ours), and beside each
what it reads from it: count, least, greatest, mean, standard deviation and quantiles of all intervals together.

usage: make.py [DIR]     needs: pip install hdrhistogram
"""
import base64
import io
import os
import random
import sys
import zlib
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogWriter

DIR = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
HOUR_US = 3_600_000_000
LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'


def write(name, text):
    with open(os.path.join(DIR, name), "w", newline="") as f:
        f.write(text)


def expected(name, total, per_ms, **more):
    """Counts are multiples of 1000: a rank is a whole number, and no rule of rounding matters."""
    assert total.get_total_count() % 1000 == 0
    lines = [f"count {total.get_total_count()}", f"min {total.get_min_value() / per_ms!r}", f"max {total.get_max_value() / per_ms!r}",
             f"mean {total.get_mean_value() / per_ms!r}", f"stdev {total.get_stddev() / per_ms!r}"]
    lines += [f"p{p} {total.get_value_at_percentile(p) / per_ms!r}" for p in (50, 75, 90, 95, 99, 99.9, 100)]
    lines += [f"{key} {value}" for key, value in more.items()]
    write(name + ".expected", "\n".join(lines) + "\n")


def values(seed, count, per_us, low=1, tail=0.01):
    r = random.Random(seed)
    for _ in range(count):
        us = r.lognormvariate(6, 1.2) * (1000 if r.random() < tail else 1)
        yield max(low, int(us * per_us))


def log(name, new, per_us, head="", line=lambda k, text: text, intervals=5):
    total, out, tags = new(), io.StringIO(), {}
    writer = HistogramLogWriter(out)
    for k in range(intervals):
        h = new()
        for v in values(f"{name} {k}", 1000, per_us):
            h.record_value(v)
            total.record_value(v)
        start = out.tell()
        writer.output_interval_histogram(h, 0.5 + k, 1.5 + k, max_value_unit_ratio=1000.0 * per_us)
        text = out.getvalue()[start:]
        out.seek(start)
        out.truncate()
        out.write(line(k, text))
    write(name + ".hlog", head + out.getvalue())
    expected(name, total, 1000.0 * per_us, intervals=intervals)


log("microseconds", lambda: HdrHistogram(1, HOUR_US, 3), 1,
    "#[Histogram log format version 1.2]\n#[StartTime: 1700000000.250000 (seconds since epoch), x]\n" + LEGEND + "\n")
log("nanoseconds", lambda: HdrHistogram(1, HOUR_US * 1000, 3), 1000)
log("two-digits", lambda: HdrHistogram(1, HOUR_US, 2), 1)
log("lowest-1000", lambda: HdrHistogram(1000, HOUR_US * 1000, 3), 1000)
log("five-digits", lambda: HdrHistogram(1, HOUR_US, 5), 1, intervals=2)
log("hiccups", lambda: HdrHistogram(1, 30_000_000, 3), 1,
    "#[Logged with a tool, version 2.0]\r\n#[Histogram log format version 1.3]\r\n#[BaseTime: 1700000000.250 (seconds since epoch)]\r\n"
    "#[StartTime: 1700000000.250 (seconds since epoch), Tue Nov 14 22:13:20 UTC 2023]\r\n" + LEGEND + "\r\n",
    lambda k, text: ("Tag=read," if k % 2 else "Tag=write x," if k == 2 else "") + text.replace("\n", "\r\n"))

one = HdrHistogram(1, HOUR_US, 3)
for v in (0, 1, 2, 2047, 2048, 2049, 4095, 4096, 5000, 5000, 5000, 1_000_000, 59_999_999, HOUR_US):
    one.record_value(v)
one.record_value(77, 1 << 40)
encoded = one.encode()
write("one.base64", encoded.decode() + "\n")
write("one-plain.base64", base64.b64encode(zlib.decompress(base64.b64decode(encoded)[8:])).decode() + "\n")
