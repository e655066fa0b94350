/* SPDX-License-Identifier: MIT */
/* Small tables that requests and phases are made of, and names. */
#include "workload_internal.h"

#include "benchctl/base/units.h"

const char *const executor_names[] = {
    "constant-vus",      "ramping-vus", "constant-arrival-rate", "ramping-arrival-rate", "per-vu-iterations",
    "shared-iterations", NULL,
};
const char *const arrivals_names[] = {"constant", "poisson", NULL};

const struct node *workload_at(const struct node *map, const char *key)
{
    const struct node *value = node_get(map, key);

    return value ? value : map;
}

const struct node *workload_key_at(const struct node *map, const char *key)
{
    for (size_t i = 0; map->kind == NODE_MAP && i < map->len; i++) {
        if (strcmp(map->keys[i]->text, key) == 0)
            return map->keys[i];
    }
    return map;
}

static const struct schema_field stage_fields[] = {
    FIELD("duration", DURATION, workload_stage, duration_ns, .max = LONGEST_NS, .required = true,
          .help = "How long the way to the target takes; 0 jumps."),
    FIELD("target", NUMBER, workload_stage, target, .required = true,
          .help = "VUs, or arrivals per `time_unit`, at its end."),
};
const struct schema workload_stage_schema = {
    .name = "a stage",
    .help = "A part of a ramp: linear from the target before to this one.",
    .size = sizeof(struct workload_stage),
    LIST_OF(stage_fields),
    .free_keys = true,
};

static int think_from_scalar(const struct node *n, struct arena *a, void *ret, struct error *err)
{
    struct workload_think *t = ret;
    struct error inner = ERROR_INIT;

    (void)a;
    if (duration_parse(n->text, &t->min_ns, &inner) < 0) {
        node_error(err, n, "'think': %s", inner.message);
        return error_hint(err, "one duration (think: 1s), or {min: 1s, max: 3s}");
    }
    t->max_ns = t->min_ns;
    return 0;
}

static int think_complete(const struct node *n, struct arena *a, void *value, struct error *err)
{
    struct workload_think *t = value;

    (void)n;
    (void)a;
    (void)err;
    if (t->max_ns == SCHEMA_ABSENT)
        t->max_ns = t->min_ns;
    return 0;
}

static int think_check(const struct node *n, const void *value, struct error *err)
{
    const struct workload_think *t = value;
    char min[64], max[64];

    if (t->max_ns > DAY_NS)
        return node_error(err, n, "'think' may last at most 1d");
    if (t->min_ns <= t->max_ns)
        return 0;
    return node_error(err, workload_at(n, "max"), "'max' (%s) is below 'min' (%s)",
                      t->max_ns ? duration_format(t->max_ns, max) : "0", duration_format(t->min_ns, min));
}

static const struct schema_field think_fields[] = {
    FIELD("min", DURATION, workload_think, min_ns, .max = DAY_NS, .fallback = "0", .help = "At least."),
    FIELD("max", DURATION, workload_think, max_ns, .max = DAY_NS, .help = "At most; without it: `min`."),
};
const struct schema workload_think_schema = {
    .name = "think",
    .help = "How long a virtual user waits after each answer: uniform between both.",
    .size = sizeof(struct workload_think),
    LIST_OF(think_fields),
    .from_scalar = think_from_scalar,
    .scalar_help = "A duration alone is always waited.",
    .complete = think_complete,
    .check = think_check,
};

static int expect_from_scalar(const struct node *n, struct arena *a, void *ret, struct error *err)
{
    struct workload_expect *e = ret;

    (void)err;
    e->status.items = arena_array(a, const char *, 1);
    e->status.items[0] = n->text;
    e->status.len = 1;
    return 0;
}

static int expect_check(const struct node *n, const void *value, struct error *err)
{
    return workload_check_expect(n, value, err);
}

static const struct schema_field expect_fields[] = {
    FIELD("status", TEXTS, workload_expect, status, .fallback = "200-399",
          .help = "Statuses that are as they should be: `200`, `2xx`, `200-204`, or a list of such."),
    FIELD("body", TEXT, workload_expect, body,
          .help = "Extended regular expression that must be found in the body."),
    FIELD("header", TEXT, workload_expect, header,
          .help = "`Name: REGEX`: a header that must be there, with a value in which it is found."),
    FIELD("grpc_status", INT, workload_expect, grpc_status, .max = 16, .fallback = "0",
          .help = "With `grpc`: the status of the trailer."),
};
const struct schema workload_expect_schema = {
    .name = "expect",
    .help = "What an answer must be to count as ok.",
    .size = sizeof(struct workload_expect),
    LIST_OF(expect_fields),
    .free_keys = true,
    .from_scalar = expect_from_scalar,
    .scalar_help = "A status alone stands for `{status: ...}`.",
    .check = expect_check,
};
