/* SPDX-License-Identifier: MIT */
/* sweep.json: what was run on, with what. Environment by allow-list only. */
#include "run_internal.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/version.h"

struct json *run_engine_facts(const struct engine *e)
{
    const struct engine_facts *f = engine_facts(e);
    struct json *j = json_new_object();

    json_set_text(j, "name", f->name);
    json_set_text(j, "version", f->version);
    json_set_text(j, "api_version", f->api_version);
    json_set_text(j, "id", f->id);
    json_set_text(j, "kernel", f->kernel);
    json_set_text(j, "os", f->os);
    json_set_text(j, "storage_driver", f->storage_driver);
    json_set_text(j, "cgroup_driver", f->cgroup_driver);
    json_set_int(j, "cgroup_version", f->cgroup_version);
    json_set_int(j, "cpus", f->cpus);
    json_set_number(j, "memory_bytes", (double)f->memory_bytes);
    json_set_bool(j, "local", f->local);
    return j;
}

void info_begin(struct sweep_run *s)
{
    static const char *const order_names[] = {
        [ORDER_LISTED] = "listed", [ORDER_INTERLEAVED] = "interleaved", [ORDER_RANDOM] = "random"};
    const struct matrix *m = s->matrix;
    struct json *j = s->info = json_new_object(), *order = json_new_object(), *axes = json_new_array();
    char stamp[CLOCK_STAMP_SIZE];

    json_set_int(j, "schema", 1);
    json_set_text(j, "name", m->name);
    json_set_text(j, "title", m->title);
    json_set_text(j, "benchctl", BENCHCTL_VERSION);
    json_set_text(j, "run_id", s->options->run_id);
    json_set_text(j, "started_at", clock_rfc3339(clock_wall_ns(), stamp));
    json_set(j, "finished_at", json_new_null());
    json_set_bool(j, "complete", false);
    json_set_text(order, "mode", order_names[m->order]);
    json_set_int(order, "seed", m->seed);
    json_set(j, "order", order);
    json_set_int(j, "trials_per_scenario", m->trials);
    json_set_int(j, "scenarios", (int64_t)plan_counts(s->plan)->scenarios);
    json_set_int(j, "trials", (int64_t)plan_counts(s->plan)->trials);
    if (plan_counts(s->plan)->canaries)
        json_set_int(j, "canaries", (int64_t)plan_counts(s->plan)->canaries);
    for (size_t i = 0; i < m->axis_count; i++) {
        struct json *axis = json_new_object(), *values = json_new_array();
        json_set_text(axis, "name", m->axes[i].name);
        for (size_t k = 0; k < m->axes[i].len; k++)
            json_append(values, json_new_text(m->axes[i].values[k].text));
        json_set(axis, "values", values);
        json_append(axes, axis);
    }
    json_set(j, "axes", axes);
    json_set(j, "host", host_facts());
    json_set(j, "engine", run_engine_facts(s->engine));
    json_set(j, "images", json_new_array());
    json_set(j, "generators", json_new_array());
    json_set(j, "parity", json_new_null());
}

void info_end(struct sweep_run *s, bool complete)
{
    struct json *generators = json_new_array();
    char stamp[CLOCK_STAMP_SIZE];

    vec_each (a, &s->adapters) {
        struct json *g = json_new_object();
        json_set_text(g, "name", a->name);
        json_set_text(g, "version", a->version);
        json_set_text(g, "program", a->adapter ? load_adapter_program(a->adapter) : NULL);
        json_append(generators, g);
    }
    json_set(s->info, "generators", generators);
    if (s->database_version[0])
        json_set_text(s->info, "database_version", s->database_version);
    json_set_text(s->info, "finished_at", clock_rfc3339(clock_wall_ns(), stamp));
    json_set_bool(s->info, "complete", complete);
    if (s->progress.at_most) /* how many the searches have asked for, and can still */
        json_set_int(s->info, "trials", (int64_t)s->progress.trials);
    if (s->budget_spent)
        json_set_bool(s->info, "budget_spent", true);
}
