/* SPDX-License-Identifier: MIT */
/* What the files of the doctor share. */
#ifndef BENCHCTL_RUN_DOCTOR_H
#define BENCHCTL_RUN_DOCTOR_H

#include "run_internal.h"

struct doctor {
    struct arena *arena;
    struct loop *loop;
    const struct doctor_options *options;
    struct engine *engine; /* NULL: there is none */
    struct host_view view;
    struct host_processes processes_before, processes;
    double processes_s; /* between the two looks at them */
    VEC(struct doctor_line) lines;
};

/* One line; the hint is left away when all is well. */
void doctor_say(struct doctor *d, enum fitness f, const char *name, const char *hint, const char *fmt, ...)
    PRINTF_LIKE(5, 6);

void doctor_look_at_host(struct doctor *d);   /* doctor_host.c */
void doctor_look_at_matrix(struct doctor *d); /* doctor_matrix.c */

#endif
