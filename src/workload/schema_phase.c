/* SPDX-License-Identifier: MIT */
/* The table of a phase. */
#include "workload_internal.h"

#include <math.h>

static int complete_phase(const struct node *n, struct arena *a, void *value, struct error *err)
{
    struct workload_phase *p = value;

    if (workload_phase_take_k6(n, a, p, err) < 0)
        return -1;
    if (p->max_vus == SCHEMA_ABSENT)
        p->max_vus = p->pre_allocated_vus;
    return 0;
}

static int check_rate(const struct node *where, const char *key, double rate, int64_t unit_ns,
                      struct error *err)
{
    if (!(rate >= 0))
        return node_error(err, where, "'%s' must not be negative", key);
    if (rate * (double)NS_PER_S / (double)unit_ns <= RATE_MAX)
        return 0;
    node_error(err, where, "'%s' is more than 10000000 per second", key);
    return error_hint(err, "%g in each 'time_unit' of %g s", rate, (double)unit_ns / (double)NS_PER_S);
}

static int check_vus(const struct node *where, const char *key, double vus, struct error *err)
{
    if (vus >= 0 && vus <= (double)VUS_MAX && vus == floor(vus))
        return 0;
    return node_error(err, where, "'%s' must be a whole number of VUs from 0 to %d, not %g", key,
                      (int)VUS_MAX, vus);
}

static int check_stages(const struct node *n, const struct workload_phase *p, struct error *err)
{
    bool open = executor_is_open(p->executor);
    const struct node *list = workload_at(n, "stages");
    const struct workload_stage *stages = p->stages.items;
    int64_t total_ns = 0;

    if (p->stages.len > ITEMS_MAX)
        return node_error(err, list, "a phase has at most %zu stages, not %zu", ITEMS_MAX, p->stages.len);
    for (size_t i = 0; i < p->stages.len; i++) {
        const struct node *where = workload_at(list->items[i], "target");
        total_ns += stages[i].duration_ns;
        if (total_ns > LONGEST_NS)
            return node_error(err, list->items[i], "the stages last longer than 30d");
        if (open ? check_rate(where, "target", stages[i].target, p->time_unit_ns, err) < 0
                 : check_vus(where, "target", stages[i].target, err) < 0)
            return -1;
    }
    if (!total_ns) {
        node_error(err, list, "the stages last no time at all");
        return error_hint(err, "for instance stages: [{duration: 30s, target: 10}]");
    }
    return 0;
}

static int check_open(const struct node *n, const struct workload_phase *p, struct error *err)
{
    bool ramps = p->executor == EXECUTOR_RAMPING_ARRIVAL_RATE;
    const struct node *where = workload_phase_at(n, ramps ? "start_rate" : "rate");

    if (p->max_vus < p->pre_allocated_vus) {
        node_error(err, workload_phase_at(n, "max_vus"), "'max_vus' is below 'pre_allocated_vus'");
        return error_hint(err, "at least %lld, the VUs that are made at the start",
                          (long long)p->pre_allocated_vus);
    }
    if (ramps)
        return check_rate(where, "start_rate", p->start_rate, p->time_unit_ns, err);
    if (!(p->rate > 0)) {
        node_error(err, where, "'rate' must be above 0, not %g", p->rate);
        return error_hint(err, "arrivals per 'time_unit', which is 1s unless given");
    }
    return check_rate(where, "rate", p->rate, p->time_unit_ns, err);
}

static bool makes_nothing(const struct workload_phase *p)
{
    const struct workload_stage *stages = p->stages.items;
    double from = executor_is_open(p->executor) ? p->start_rate : p->start_vus;

    for (size_t i = 0; i < p->stages.len; i++) {
        if (stages[i].duration_ns && (from > 0 || stages[i].target > 0))
            return false;
        from = stages[i].target;
    }
    return true;
}

static int check_by_executor(const struct node *n, const struct workload_phase *p, struct error *err)
{
    bool ramps = p->executor == EXECUTOR_RAMPING_VUS || p->executor == EXECUTOR_RAMPING_ARRIVAL_RATE;

    if (executor_is_open(p->executor) && check_open(n, p, err) < 0)
        return -1;
    if (p->executor == EXECUTOR_RAMPING_VUS &&
        check_vus(workload_phase_at(n, "start_vus"), "start_vus", p->start_vus, err) < 0)
        return -1;
    if (ramps && check_stages(n, p, err) < 0)
        return -1;
    if (ramps && makes_nothing(p))
        return node_error(err, workload_at(n, "stages"), "the phase would make no requests: all is 0");
    if (p->executor == EXECUTOR_SHARED_ITERATIONS && p->iterations < p->vus) {
        node_error(err, workload_at(n, "iterations"), "fewer 'iterations' than 'vus': some would do nothing");
        return error_hint(err,
                          "iterations are shared by all VUs here; per-vu-iterations counts them for each");
    }
    return 0;
}

static int check_phase(const struct node *n, const void *value, struct error *err)
{
    const struct workload_phase *p = value;

    if (workload_phase_check_keys(n, p, err) < 0)
        return -1;
    if (p->name && !*p->name)
        return node_error(err, workload_at(n, "name"), "'name' is empty");
    if (node_get(n, "requests") && !p->requests.len) {
        node_error(err, workload_at(n, "requests"), "'requests' of a phase is an empty list");
        return error_hint(err, "without the key it makes all of them");
    }
    return check_by_executor(n, p, err);
}

static const struct schema_field phase_fields[] = {
    FIELD("executor", CHOICE, workload_phase, executor, .choices = executor_names, .required = true,
          .help = "What makes virtual users send; decides which of the other keys there are."),
    FIELD("name", TEXT, workload_phase, name, .help = "Of the phase in results; without it the executor's."),
    FIELD("vus", INT, workload_phase, vus, .min = 1, .max = VUS_MAX, .fallback = "1",
          .help = "Virtual users, each with one request at a time."),
    FIELD("duration", DURATION, workload_phase, duration_ns, .min = NS_PER_MS, .max = LONGEST_NS,
          .help = "How long new requests are begun."),
    FIELD("stages", LIST, workload_phase, stages, .of = &workload_stage_schema,
          .help = "The ramp, piece by piece."),
    FIELD("start_vus", NUMBER, workload_phase, start_vus, .fallback = "1",
          .help = "Virtual users at the start of a ramp."),
    FIELD("rate", NUMBER, workload_phase, rate,
          .help = "Arrivals per `time_unit`, however long answers take."),
    FIELD("start_rate", NUMBER, workload_phase, start_rate, .fallback = "0",
          .help = "Arrivals per `time_unit` at the start of a ramp."),
    FIELD("time_unit", DURATION, workload_phase, time_unit_ns, .min = NS_PER_US, .max = LONGEST_NS,
          .fallback = "1s", .help = "What rates and targets of rates count in."),
    FIELD("pre_allocated_vus", INT, workload_phase, pre_allocated_vus, .min = 1, .max = VUS_MAX,
          .help = "Virtual users that are ready at the start; each carries one arrival at a time."),
    FIELD("max_vus", INT, workload_phase, max_vus, .min = 1, .max = VUS_MAX,
          .help = "How many they may become; an arrival that finds none free is dropped and counted. Without "
                  "it: `pre_allocated_vus`."),
    FIELD("arrivals", CHOICE, workload_phase, arrivals, .choices = arrivals_names, .fallback = "constant",
          .help = "`constant`: evenly spaced; `poisson`: at random with the same mean, from the seed."),
    FIELD("iterations", INT, workload_phase, iterations, .min = 1, .max = ITERATIONS_MAX, .fallback = "1",
          .help = "Requests of each virtual user, or of all together."),
    FIELD("max_duration", DURATION, workload_phase, max_duration_ns, .min = NS_PER_MS, .max = LONGEST_NS,
          .fallback = "10m", .help = "When it ends though there are iterations left."),
    FIELD("graceful_stop", DURATION, workload_phase, graceful_stop_ns, .max = DAY_NS, .fallback = "30s",
          .help = "How long requests under way at the end may take before they are interrupted."),
    FIELD("graceful_ramp_down", DURATION, workload_phase, graceful_ramp_down_ns, .max = DAY_NS,
          .fallback = "30s", .help = "The same for a virtual user that a ramp takes away."),
    FIELD("start_time", DURATION, workload_phase, start_time_ns, .max = LONGEST_NS,
          .help = "Since the load began. Without it: when the phase before has ended."),
    FIELD("requests", TEXTS, workload_phase, requests,
          .help = "Names of the requests that it makes; without it all."),
    FIELD("warmup", BOOL, workload_phase, warmup, .fallback = "false",
          .help = "Counted apart: not in the summary's figures."),
};
const struct schema workload_phase_schema = {
    .name = "a phase",
    .help = "A stretch of the load with one executor.",
    .size = sizeof(struct workload_phase),
    LIST_OF(phase_fields),
    .free_keys = true,
    .complete = complete_phase,
    .check = check_phase,
    .position_offset = offsetof(struct workload_phase, at),
    .also = &workload_phase_k6_schema,
};
