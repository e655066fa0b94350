/* SPDX-License-Identifier: MIT */
#ifndef BENCHCTL_BASE_VERSION_H
#define BENCHCTL_BASE_VERSION_H

/* From CMake's project(). */
#ifndef BENCHCTL_VERSION
#define BENCHCTL_VERSION "0.1.0"
#endif

#endif
