/* SPDX-License-Identifier: MIT */
/* sweep.json: what was run on, with what. Environment by allow-list only. */
#include "run_internal.h"

#include <stdio.h>
#include <sys/utsname.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/base/version.h"

static void add_line(struct json *j, const char *name, const char *path)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error ignored = ERROR_INIT;

    if (fs_read(path, 1 << 16, &text, &ignored) < 0)
        return;
    strbuf_trim_end(&text);
    json_set(j, name, json_new_text_n(strbuf_text(&text), text.len));
}

double host_load1(void)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error ignored = ERROR_INIT;
    double value;

    if (fs_read("/proc/loadavg", 4096, &text, &ignored) < 0 ||
        !number_scan(strbuf_text(&text), text.len, &value))
        return NAN;
    return value;
}

/* The value of the first line that starts with `key`, as /proc/cpuinfo and /proc/meminfo write it. */
static char *proc_value(const char *path, const char *key)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error ignored = ERROR_INIT;

    if (fs_read(path, 1 << 20, &text, &ignored) < 0)
        return NULL;
    const char *line = strstr(strbuf_text(&text), key);
    const char *colon = line ? strchr(line, ':') : NULL;
    if (!colon)
        return NULL;
    colon += 1 + strspn(colon + 1, " \t");
    return xstrndup(colon, strcspn(colon, "\n"));
}

static struct json *host_json(void)
{
    struct json *j = json_new_object();
    struct utsname u;
    CLEANUP_FREE char *cpu = proc_value("/proc/cpuinfo", "model name");
    CLEANUP_FREE char *memory = proc_value("/proc/meminfo", "MemTotal");

    if (uname(&u) == 0) {
        json_set_text(j, "name", u.nodename);
        json_set_text(j, "kernel", u.release);
        json_set_text(j, "architecture", u.machine);
    }
    json_set_text(j, "cpu", cpu);
    json_set_int(j, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
    json_set_text(j, "memory", memory);
    json_set_number(j, "load1", host_load1());
    add_line(j, "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    add_line(j, "no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo");
    add_line(j, "smt", "/sys/devices/system/cpu/smt/control");
    return j;
}

static struct json *engine_json(const struct engine_facts *f)
{
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
    for (size_t i = 0; i < m->axis_count; i++) {
        struct json *axis = json_new_object(), *values = json_new_array();
        json_set_text(axis, "name", m->axes[i].name);
        for (size_t k = 0; k < m->axes[i].len; k++)
            json_append(values, json_new_text(m->axes[i].values[k].text));
        json_set(axis, "values", values);
        json_append(axes, axis);
    }
    json_set(j, "axes", axes);
    json_set(j, "host", host_json());
    json_set(j, "engine", engine_json(engine_facts(s->engine)));
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
    if (s->budget_spent)
        json_set_bool(s->info, "budget_spent", true);
}
