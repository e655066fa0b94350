/* SPDX-License-Identifier: MIT */
/* When a processor is given to a generator that has something to send. */
#ifndef BENCHCTL_GENERATOR_SHORT_SLICE_H
#define BENCHCTL_GENERATOR_SHORT_SLICE_H

/*
 * From here on this process runs in short slices (Linux 6.12 and later; nothing happens on others). It gets
 * no larger share of a processor that others want too, but gets it sooner: the scheduler takes first who asks
 * for least. For open loads, which run for microseconds at moments that matter. docs/benchmarks.md has what
 * it is worth.
 */
void ask_for_short_slices(void);

#endif
