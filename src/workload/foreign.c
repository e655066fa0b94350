/* SPDX-License-Identifier: MIT */
/* Words that others write at a place where we have others: an answer that is worth more than a list of keys.
 */
#include "workload_internal.h"

static const struct foreign_key {
    const char *key, *hint;
} of_workload[] =
    {
        {"scenarios",
         "k6's scenarios are a list here, and follow each other: phases: [{executor: constant-vus, "
         "duration: 30s}]; what they request stands in 'requests'"},
        {"stages", "stages belong into a phase: phases: [{executor: ramping-vus, stages: [{duration: 30s, "
                   "target: 10}]}]"},
        {"executor", "an executor belongs into a phase: phases: [{executor: constant-vus, duration: 30s}]"},
        {"url", "'target' is where to, and 'path' or 'requests' what is asked for there"},
        {"connections", "'vus' is the number of requests under way at once"},
        {"warmup", "a phase of its own with 'warmup: true'"},
},
  of_phase[] = {
      {"exec", "requests: [NAME, ...] says which of the workload's requests a phase makes"},
      {"options", "what a phase needs stands in it; what is requested in 'requests' of the workload"},
      {"tags", "results are told apart by the names of phases and requests"},
      {"env", "{{env.NAME}} in a request is an environment variable"},
};

static int check_keys(const struct node *n, const char *what, const struct foreign_key *keys, size_t count,
                      struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!node_get(n, keys[i].key))
            continue;
        node_error(err, workload_key_at(n, keys[i].key), "unknown key '%s' in %s", keys[i].key, what);
        return error_hint(err, "%s", keys[i].hint);
    }
    return 0;
}

/* "constant-rate" is nearer to constant-vus by its letters, and constant-arrival-rate by what it says. */
static int check_executor(const struct node *phase, struct error *err)
{
    static const char *const others[][2] = {
        {"constant-rate", "constant-arrival-rate"},   {"constant-arrivals", "constant-arrival-rate"},
        {"arrival-rate", "constant-arrival-rate"},    {"ramping-rate", "ramping-arrival-rate"},
        {"ramping-arrivals", "ramping-arrival-rate"}, {"iterations", "shared-iterations"},
    };
    const struct node *n = node_get(phase, "executor");
    static const char list[] = "constant-vus, ramping-vus, constant-arrival-rate, ramping-arrival-rate, "
                               "per-vu-iterations or shared-iterations";

    if (!n) {
        node_error(err, phase, "'executor' is missing in a phase");
        return error_hint(err, "%s", list);
    }
    for (size_t i = 0; n->kind == NODE_SCALAR && i < ARRAY_LEN(others); i++) {
        if (strcmp(n->text, others[i][0]) != 0)
            continue;
        node_error(err, n, "'executor' must be %s, not '%s'", list, n->text);
        return error_hint(err, "did you mean '%s'?", others[i][1]);
    }
    return 0;
}

static int check_values(const struct node *phase, struct error *err)
{
    const struct node *warmup = node_get(phase, "warmup"), *stages = node_get(phase, "stages");

    if (warmup && warmup->kind == NODE_SCALAR && strcspn(warmup->text, "0123456789") == 0 && *warmup->text) {
        node_error(err, warmup, "'warmup' must be true or false, not '%s'", warmup->text);
        return error_hint(
            err, "a warm-up is a phase of its own: {executor: constant-vus, duration: %s, warmup: true}",
            warmup->text);
    }
    for (size_t i = 0; stages && stages->kind == NODE_LIST && i < stages->len; i++) {
        if (stages->items[i]->kind == NODE_MAP)
            continue;
        node_error(err, stages->items[i], "a stage must be a map");
        return error_hint(err, "{duration: 10s, target: 5}");
    }
    return 0;
}

int workload_check_foreign(const struct node *n, struct error *err)
{
    const struct node *phases = n->kind == NODE_MAP ? node_get(n, "phases") : NULL;

    if (n->kind != NODE_MAP)
        return 0;
    if (check_keys(n, "the workload", of_workload, ARRAY_LEN(of_workload), err) < 0)
        return -1;
    for (size_t i = 0; phases && phases->kind == NODE_LIST && i < phases->len; i++) {
        const struct node *p = phases->items[i];
        if (p->kind != NODE_MAP)
            continue;
        if (check_keys(p, "a phase", of_phase, ARRAY_LEN(of_phase), err) < 0 || check_executor(p, err) < 0 ||
            check_values(p, err) < 0)
            return -1;
    }
    return 0;
}
