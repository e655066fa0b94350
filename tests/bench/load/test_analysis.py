#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""That the benchmarks' own arithmetic is right: schedules with known errors, and recorded words of other programs."""
import random

import arrivals
import coordinated_omission as omission

RATE = 1000
MS = 1_000_000


def near(actual, expected, what, tolerance=0.02):
    if abs(actual - expected) > tolerance * max(abs(expected), 1e-9):
        raise AssertionError('%s: %r instead of %r' % (what, actual, expected))


def schedule(seconds=10, rate=RATE, start=1_700_000_000_000_000_000):
    return [start + round(i * 1e9 / rate) for i in range(seconds * rate)]


got = arrivals.analyse(schedule(), RATE)
near(got['rate'], RATE, 'rate')
assert got['max_us'] < 0.1 and got['bunched'] == 0, got

# the order in which they were read makes no difference
mixed = schedule()
random.Random(1).shuffle(mixed)
assert arrivals.analyse(mixed, RATE)['max_us'] < 0.1

# every error is 200 us, one way or the other
got = arrivals.analyse([t + (200_000 if i % 2 else -200_000) for i, t in enumerate(schedule())], RATE)
near(got['p50_us'], 200, 'p50')
near(got['p99_us'], 200, 'p99')

# one in fifty is 5 ms late: p50 is small, p99 is not; those behind it arrive before it and move up a place
got = arrivals.analyse([t + (5 * MS if i % 50 == 0 else 0) for i, t in enumerate(schedule())], RATE)
assert got['p50_us'] < 1 and got['p99_us'] > 900, got

# in bursts of ten
got = arrivals.analyse([t - t % (10 * MS) for t in schedule()], RATE)
near(got['bunched'], 0.9, 'bunched')
near(got['p50_us'], 2500, 'p50', 0.25)

# a generator that is 1 % slow keeps its schedule, at another rate
got = arrivals.analyse(schedule(rate=990), RATE)
near(got['rate'], 990, 'rate')
assert got['p50_us'] < 1, got

# a pause of 300 ms with everything made up for at once: the schedule is still found
got = arrivals.analyse([max(t, schedule()[3300]) if 3000 <= i < 3300 else t for i, t in enumerate(schedule())], RATE)
assert got['p50_us'] < 1 and got['p99_us'] > 100_000, got

near(omission.arithmetic(0.99), 1900, 'p99')
near(omission.arithmetic(0.999), 1990, 'p99.9')
near(omission.arithmetic(0.9), 1000, 'p90')
assert omission.arithmetic(0.5) == 0

WRK2 = '''  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    1.01ms
  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

       0.070     0.000000            1         1.00
       1.012     0.500000          500         2.00
    1000.447     0.900000          900        10.00
    1900.543     0.990625          991       106.67
    1990.655     0.999023          999      1024.00
    1999.871     1.000000         1000          inf
#[Mean    =        0.100, StdDeviation   =        0.100]
----------------------------------------------------------

  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))
  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

       0.500     1.000000         1000          inf
'''
corrected, uncorrected = omission.from_wrk2(WRK2)
assert corrected == {'p50': 1.012, 'p90': 1000.447, 'p99': 1900.543, 'p999': 1990.655, 'max': 1999.871}, corrected
assert uncorrected['p99'] == 0.5 and uncorrected['max'] == 0.5, uncorrected
assert omission.from_wrk('    Latency     2.20ms    2.81ms   1.99s    87.69%\n     50%  920.00us\n     99%    1.21s \n') == {
    'p50': 0.92, 'p99': 1210.0, 'p999': None, 'max': 1990.0}
HEY = '  Slowest:\t2.0031 secs\nLatency distribution:\n  50% in 0.0010 secs\n  99% in 0.0120 secs\n'
assert omission.from_hey(HEY) == {'p50': 1.0, 'p99': 12.0, 'p999': None, 'max': 2003.1}, omission.from_hey(HEY)
print('ok')
