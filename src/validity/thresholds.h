/* SPDX-License-Identifier: MIT */
/* Thresholds that rules over one trial and rules over a sweep or a table share: one fact, one number. */
#ifndef BENCHCTL_VALIDITY_THRESHOLDS_H
#define BENCHCTL_VALIDITY_THRESHOLDS_H

#define DELIVERED 0.99     /* of what the schedule asked for: from here on it decides the throughput */
#define FLOOR_SHARE 0.70   /* of p50: then load adds little to what one request alone takes */
#define FOREIGN_CORES 0.25 /* used by nobody of this sweep: more than daemons and the kernel's own work */

#endif
