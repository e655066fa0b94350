/* SPDX-License-Identifier: MIT */
/* Keys of a phase as k6 spells them. */
#include "workload_internal.h"

#include <assert.h>

#define SAME_AS(key) .help = "k6's spelling of `" key "`."

static const struct schema_field k6_fields[] = {
    FIELD("startTime", DURATION, workload_phase, start_time_ns, .max = LONGEST_NS, SAME_AS("start_time")),
    FIELD("gracefulStop", DURATION, workload_phase, graceful_stop_ns, .max = DAY_NS,
          SAME_AS("graceful_stop")),
    FIELD("gracefulRampDown", DURATION, workload_phase, graceful_ramp_down_ns, .max = DAY_NS,
          SAME_AS("graceful_ramp_down")),
    FIELD("startVUs", NUMBER, workload_phase, start_vus, SAME_AS("start_vus")),
    FIELD("startRate", NUMBER, workload_phase, start_rate, SAME_AS("start_rate")),
    FIELD("timeUnit", DURATION, workload_phase, time_unit_ns, .min = NS_PER_US, .max = LONGEST_NS,
          SAME_AS("time_unit")),
    FIELD("preAllocatedVUs", INT, workload_phase, pre_allocated_vus, .min = 1, .max = VUS_MAX,
          SAME_AS("pre_allocated_vus")),
    FIELD("maxVUs", INT, workload_phase, max_vus, .min = 1, .max = VUS_MAX, SAME_AS("max_vus")),
    FIELD("maxDuration", DURATION, workload_phase, max_duration_ns, .min = NS_PER_MS, .max = LONGEST_NS,
          SAME_AS("max_duration")),
};
static const char *const ours[] = {
    "start_time",        "graceful_stop", "graceful_ramp_down", "start_vus", "start_rate", "time_unit",
    "pre_allocated_vus", "max_vus",       "max_duration",
};
_Static_assert(ARRAY_LEN(ours) == ARRAY_LEN(k6_fields), "both spellings, in the same order");

const struct schema workload_phase_k6_schema = {
    .name = "a phase",
    .help = "Keys of a phase in k6's spelling.",
    .size = sizeof(struct workload_phase),
    LIST_OF(k6_fields),
};

const char *workload_k6_spelling(const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
        if (strcmp(ours[i], key) == 0)
            return k6_fields[i].key;
    }
    return NULL;
}

const struct node *workload_phase_at(const struct node *n, const char *key)
{
    const char *other = workload_k6_spelling(key);

    return other && node_get(n, other) ? node_get(n, other) : workload_at(n, key);
}

bool workload_phase_has(const struct node *n, const char *key)
{
    return workload_phase_at(n, key) != n;
}

static int copy_field(const struct schema_field *f, const struct node *from, struct node *to,
                      const char *our_key, struct error *err)
{
    const struct node *value = node_get(from, f->key);

    if (!value)
        return 0;
    if (node_get(from, our_key)) {
        node_error(err, workload_key_at(from, f->key), "'%s' and '%s' are the same key", f->key, our_key);
        return error_hint(err, "keep one of them");
    }
    to->keys[to->len] = workload_key_at(from, f->key);
    to->items[to->len++] = value;
    return 0;
}

int workload_phase_take_k6(const struct node *n, struct arena *a, struct workload_phase *p, struct error *err)
{
    struct node *found = node_new(a, NODE_MAP, n->at);
    struct workload_phase read;

    found->keys = arena_array(a, const struct node *, ARRAY_LEN(k6_fields));
    found->items = arena_array(a, const struct node *, ARRAY_LEN(k6_fields));
    for (size_t i = 0; i < ARRAY_LEN(k6_fields); i++) {
        if (copy_field(&k6_fields[i], n, found, ours[i], err) < 0)
            return -1;
    }
    if (!found->len)
        return 0;
    if (schema_read(&workload_phase_k6_schema, found, a, &read, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(k6_fields); i++) {
        size_t offset = k6_fields[i].offset;
        _Static_assert(sizeof(int64_t) == sizeof(double), "all of them are of one size");
        if (node_get(found, k6_fields[i].key))
            memcpy((char *)p + offset, (const char *)&read + offset, sizeof(int64_t));
    }
    return 0;
}
