/* SPDX-License-Identifier: MIT */
/* The table of the load section. */
#include "settings_rules.h"

#include "benchctl/base/clock.h"

#define DAY_NS (86400 * NS_PER_S)

static const struct schema_field warmup_fields[] = {
    FIELD("duration", DURATION, warmup_settings, duration_ns, .min = NS_PER_MS, .max = 7 * DAY_NS,
          .required = true, .help = "How long."),
};
static const struct schema warmup_schema = {
    .name = "warmup",
    .help = "The same generator before the measurement, results thrown away.",
    .size = sizeof(struct warmup_settings),
    LIST_OF(warmup_fields),
    .free_keys = true,
};

static int not_builtin(const struct node *n, const struct node *own, const char *key,
                       const struct load_settings *l, struct error *err)
{
    static const char *const name[] = {BUILTIN_ADAPTER};

    if (nearest_name(l->adapter, name, 1)) {
        node_error(err, rule_at(n, "adapter"), "unknown load adapter '%s'", l->adapter);
        return error_hint(err, "did you mean '" BUILTIN_ADAPTER "'?");
    }
    node_error(err, own, "'%s' is for the built-in generator", key);
    return error_hint(
        err,
        "with adapter: builtin, or as adapters: {builtin: {%s: ...}}; `benchctl adapter show NAME` "
        "lists the options of another",
        key);
}

/* What only the built-in generator takes, or does not take. */
static int check_own_keys(const struct node *n, const struct load_settings *l, struct error *err)
{
    static const char *const known[] = {"requests", "phases"};
    bool builtin = strcmp(l->adapter, BUILTIN_ADAPTER) == 0;

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        const struct node *own = node_get(n, known[i]);
        if (own && !builtin)
            return not_builtin(n, own, known[i], l, err);
        if (own && !own->len)
            return node_error(err, own, "'%s' must be a list with at least one item", known[i]);
    }
    if (!builtin || !l->script)
        return 0;
    node_error(err, rule_at(n, "script"), "'script' is not for the built-in generator");
    return error_hint(err, "say what it requests with requests and phases");
}

static int check_load(const struct node *n, const void *value, struct error *err)
{
    const struct load_settings *l = value;

    if (!l->adapter)
        return 0; /* said already */
    if (rule_name(rule_at(n, "adapter"), "a load adapter", l->adapter, err) < 0)
        return -1;
    bool counted = strcmp(l->adapter, BUILTIN_ADAPTER) == 0 && node_get(l->options, "iterations");
    if (l->duration_ns == SCHEMA_ABSENT && !counted && !node_get(n, "phases") && !l->adapters) {
        node_error(err, n, "'duration' is missing in the load section");
        return error_hint(err, "say how long to measure, for instance duration: 30s");
    }
    if (!(l->max_error_rate >= 0 && l->max_error_rate <= 1))
        return node_error(err, rule_at(n, "max_error_rate"),
                          "'max_error_rate' must be from 0 to 1, a share of the requests");
    if (rule_http_path(rule_at(n, "path"), "path", l->path, err) < 0 ||
        rule_memory(n, l->memory_bytes, err) < 0)
        return -1;
    if (l->image && rule_image(rule_at(n, "image"), l->image, err) < 0)
        return -1;
    if (l->cpuset && rule_cpuset(rule_at(n, "cpuset"), l->cpuset, err) < 0)
        return -1;
    return check_own_keys(n, l, err);
}

static const struct schema_field load_fields[] = {
    FIELD("adapter", TEXT, load_settings, adapter, .required = true,
          .help = "The load generator: a file of adapters/load without `.yaml`, or `builtin`."),
    FIELD("adapters", NODE, load_settings, adapters,
          .shape = "{\"type\": \"object\", \"additionalProperties\": {\"type\": [\"object\", \"null\"]}}",
          .help = "Keys of this section for one load generator, by its name: those of the `adapter` that is "
                  "chosen are merged into the section, the others left away."),
    FIELD("image", TEXT, load_settings, image,
          .help = "Run it in a container of this image; without, it is a program on PATH."),
    FIELD("cpuset", TEXT, load_settings, cpuset, .help = "CPUs that the generator may run on."),
    FIELD("memory", SIZE, load_settings, memory_bytes, .min = -1, .fallback = "unlimited",
          .help = "Memory limit of its container."),
    FIELD("script", TEXT, load_settings, script, .path = true,
          .help = "The generator's script, relative to the matrix."),
    FIELD("target", TEXT, load_settings, target, .fallback = "${app.url}", .help = "What is loaded."),
    FIELD("path", TEXT, load_settings, path, .fallback = "/",
          .help = "Path of the URL, for generators that take one."),
    FIELD("warmup", OPTIONAL, load_settings, warmup, .of = &warmup_schema,
          .help = "The same generator before the measurement, results thrown away. `phases` of `builtin` may "
                  "say instead what their warm-up is."),
    FIELD(
        "duration", DURATION, load_settings, duration_ns, .min = NS_PER_MS, .max = 7 * DAY_NS,
        .help =
            "How long the measurement takes; required unless `phases` or `iterations` of `builtin` say it."),
    FIELD("max_error_rate", NUMBER, load_settings, max_error_rate, .fallback = "0.01",
          .help = "Share of failed requests above which a trial is `degraded`."),
    FIELD("timeout", DURATION, load_settings, timeout_ns, .min = NS_PER_MS, .max = DAY_NS, .fallback = "30s",
          .help = "How long past its time the generator may take before it is stopped."),
    FIELD("raw", BOOL, load_settings, raw, .fallback = "false", .descriptive = true,
          .help = "Keep what the generator streams line by line, compressed; otherwise only its seconds and "
                  "histograms are kept."),
    FIELD("env", TEXT_MAP, load_settings, env, .help = "Environment variables of the generator."),
    FIELD("requests", LIST, load_settings, requests, .of = &workload_request_schema,
          .help = "`builtin` only: what is requested; by default GET of `path`."),
    FIELD("phases", LIST, load_settings, phases, .of = &workload_phase_schema,
          .help = "`builtin` only: how the load changes in time."),
    FIELD("other keys", REST, load_settings, options,
          .help = "The adapter's own options: `benchctl adapter show NAME` lists them."),
};
const struct schema load_schema = {
    .name = "the load section",
    .help = "What is asked of the system under test.",
    .size = sizeof(struct load_settings),
    LIST_OF(load_fields),
    .free_keys = true,
    .check = check_load,
    .position_offset = offsetof(struct load_settings, at),
};
