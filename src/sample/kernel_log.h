/* SPDX-License-Identifier: MIT */
/* How often the kernel's log spoke of the machine between two moments. */
#ifndef BENCHCTL_SAMPLE_KERNEL_LOG_H
#define BENCHCTL_SAMPLE_KERNEL_LOG_H

#include "benchctl/sample.h"

/* Lines since the last look that speak of the machine; NAN for NULL and for what cannot be read. */
double kernel_log_count(struct kernel_log *k);

#endif
