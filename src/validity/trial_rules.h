/* SPDX-License-Identifier: MIT */
/* The rules over one trial: one small function each, named in the table of rules.c. */
#ifndef BENCHCTL_VALIDITY_TRIAL_RULES_H
#define BENCHCTL_VALIDITY_TRIAL_RULES_H

#include "benchctl/validity.h"

enum verdict { PASS, WARN, FAIL };

/* What this rule found. May be called several times (of several containers); a rule with nothing to judge
 * says nothing. */
void say(struct judgement *j, enum verdict v, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* load_rules.c: was the load made, and do its figures fit together? */
validity_rule_fn rule_load_delivered, rule_littles_law, rule_generator_kept_up, rule_generator_limit;
validity_rule_fn rule_generator_busy, rule_percentile_support, rule_coordinated_omission;
/* latency_rules.c: what is it that was measured? */
validity_rule_fn rule_latency_floor, rule_nothing_stressed, rule_steady_state, rule_failures_in_latency;
validity_rule_fn rule_phase_purity, rule_degraded_successes;
/* container_rules.c */
validity_rule_fn rule_crash_contamination, rule_limits_real, rule_throttled, rule_restarts_agree;
validity_rule_fn rule_address_kept;
/* host_rules.c */
validity_rule_fn rule_host_quiet, rule_host_saturated, rule_cpu_pressure, rule_steal, rule_swapped;
validity_rule_fn rule_thermal, rule_kernel_messages, rule_clock;
/* observer_rules.c: is what stands beside the load there, cheap, and of the same mind? */
validity_rule_fn rule_metric_exists, rule_observer_cost, rule_counts_agree;

/* Milliseconds, or any number, with three digits and never an exponent: the digits behind the point for
 * "%.*f". */
int ms_decimals(double ms);
/* "", or what makes a plural of it. */
const char *s_of(double count);
/* A number that is there and not below 0. */
bool is_amount(double x);

#endif
