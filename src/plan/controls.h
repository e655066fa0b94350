/* SPDX-License-Identifier: MIT */
/* Twins of one scenario (the matrix' `controls`): scenarios like others, behind all of them. */
#ifndef BENCHCTL_PLAN_CONTROLS_H
#define BENCHCTL_PLAN_CONTROLS_H

#include "plan_internal.h"

/* Once the others are known. ERROR_INVALID for a base that is not there, and with a search. */
int plan_add_controls(struct plan *p, struct error *err) MUST_CHECK;
const char *plan_control_id(enum plan_control c);
int plan_find_control(const struct plan *p, const char *id, size_t *ret_index); /* -1 when there is none */
/* What the handicapped one's settings are overridden with. `base`: those of the scenario that it repeats. */
int plan_handicap_set(const struct plan *p, const struct settings *base, struct arena *a,
                      const struct node **ret, struct error *err) MUST_CHECK;

#endif
