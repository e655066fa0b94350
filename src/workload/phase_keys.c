/* SPDX-License-Identifier: MIT */
/* Which keys an executor needs and takes. */
#include "workload_internal.h"

#define OF(name) (1U << EXECUTOR_##name)
#define OPEN (OF(CONSTANT_ARRIVAL_RATE) | OF(RAMPING_ARRIVAL_RATE))
#define RAMPS (OF(RAMPING_VUS) | OF(RAMPING_ARRIVAL_RATE))
#define COUNTED (OF(PER_VU_ITERATIONS) | OF(SHARED_ITERATIONS))

static const struct key_rule {
    const char *key;
    unsigned taken, needed; /* sets of executors */
    const char *example;
} rules[] = {
    {"vus", OF(CONSTANT_VUS) | COUNTED, 0, NULL},
    {"duration", OF(CONSTANT_VUS) | OF(CONSTANT_ARRIVAL_RATE), OF(CONSTANT_VUS) | OF(CONSTANT_ARRIVAL_RATE),
     "duration: 30s"},
    {"stages", RAMPS, RAMPS, "stages: [{duration: 30s, target: 10}]"},
    {"start_vus", OF(RAMPING_VUS), 0, NULL},
    {"rate", OF(CONSTANT_ARRIVAL_RATE), OF(CONSTANT_ARRIVAL_RATE), "rate: 100"},
    {"start_rate", OF(RAMPING_ARRIVAL_RATE), 0, NULL},
    {"time_unit", OPEN, 0, NULL},
    {"pre_allocated_vus", OPEN, OPEN, "pre_allocated_vus: 50"},
    {"max_vus", OPEN, 0, NULL},
    {"arrivals", OPEN, 0, NULL},
    {"iterations", COUNTED, 0, NULL},
    {"max_duration", COUNTED, 0, NULL},
    {"graceful_ramp_down", OF(RAMPING_VUS), 0, NULL},
};

static int not_taken(const struct node *n, const struct key_rule *rule, int executor, struct error *err)
{
    const char *key = rule->key;
    unsigned taken = rule->taken;
    CLEANUP_VALUE(strbuf_release) struct strbuf list = STRBUF_INIT;
    const char *other = workload_k6_spelling(key);

    if (other && node_get(n, other))
        key = other;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (rules[i].taken >> executor & 1)
            strbuf_addf(&list, "%s%s", list.len ? ", " : "", rules[i].key);
    }
    node_error(err, workload_key_at(n, key), "executor '%s' has no '%s'", executor_names[executor], key);
    CLEANUP_VALUE(strbuf_release) struct strbuf owners = STRBUF_INIT;
    for (int e = 0; executor_names[e]; e++) {
        if (taken >> e & 1)
            strbuf_addf(&owners, "%s%s", owners.len ? ", " : "", executor_names[e]);
    }
    return error_hint(err, "'%s' belongs to %s; keys of '%s' are %s", key, strbuf_text(&owners),
                      executor_names[executor], strbuf_text(&list));
}

int workload_phase_check_keys(const struct node *n, const struct workload_phase *p, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        const struct key_rule *r = &rules[i];
        bool given = workload_phase_has(n, r->key);
        if (given && !(r->taken >> p->executor & 1))
            return not_taken(n, r, p->executor, err);
        if (given || !(r->needed >> p->executor & 1))
            continue;
        node_error(err, n, "'%s' is missing in a phase of executor '%s'", r->key,
                   executor_names[p->executor]);
        return error_hint(err, "for instance %s", r->example);
    }
    return 0;
}
