/* SPDX-License-Identifier: MIT */
/* The table of one scenario's settings, and its sections but for the containers. */
#include "settings_rules.h"

#include "benchctl/base/clock.h"

#define DAY_NS (86400 * NS_PER_S)

static const struct schema_field sample_fields[] = {
    FIELD("engine", DURATION, sample_settings, engine_ns, .min = 10 * NS_PER_MS, .max = 3600 * NS_PER_S,
          .help = "Period of memory, CPU and network samples of every container; by default 100ms where "
                  "cgroup files can be read, else 1s."),
    FIELD("host", DURATION, sample_settings, host_ns, .min = 100 * NS_PER_MS, .max = 3600 * NS_PER_S,
          .fallback = "1s", .help = "Period of samples of the host."),
    FIELD("floor", DURATION, sample_settings, floor_ns, .max = 60 * NS_PER_S, .fallback = "1s",
          .help = "After the load, the GET requests of it are asked one at a time for so long: the latency "
                  "that was there before any load; 0s: not."),
};
static const struct schema sample_schema = {
    .name = "sample",
    .help = "How often resources are looked at.",
    .size = sizeof(struct sample_settings),
    LIST_OF(sample_fields),
    .free_keys = true,
};

static int check_check(const struct node *n, const void *value, struct error *err)
{
    const struct check_settings *c = value;

    if (!c->sql == !c->value) {
        node_error(err, n,
                   c->sql ? "the check has both 'sql' and 'value'"
                          : "the check has neither 'sql' nor 'value'");
        return error_hint(err, "exactly one: a query, or arithmetic such as \"${load.requests} - "
                               "${database.commits}\"");
    }
    return c->expect ? rule_expectation(rule_at(n, "expect"), c->expect, false, err) : 0;
}

static const struct schema_field check_fields[] = {
    FIELD("name", TEXT, check_settings, name, .required = true, .help = "What the result is called."),
    FIELD("sql", TEXT, check_settings, sql,
          .help = "A query that gives one value; `${load.ok}` and the trial's other numbers are filled in."),
    FIELD("value", TEXT, check_settings, value,
          .help = "Or, without a query, arithmetic over the trial's numbers, for instance "
                  "`${load.requests} - ${database.commits}`: `+ - * /`, parentheses, `min`, `max`, `abs`, "
                  "`round`, `floor`."),
    FIELD("expect", TEXT, check_settings, expect,
          .help = "What the value must be for the trial to count, for instance `== 0`; without, it is only "
                  "recorded."),
};
static const struct schema check_schema = {
    .name = "a check",
    .help = "A query, or arithmetic over the trial's numbers, after the load and before teardown.",
    .size = sizeof(struct check_settings),
    LIST_OF(check_fields),
    .free_keys = true,
    .check = check_check,
    .position_offset = offsetof(struct check_settings, at),
};

static int check_artifact(const struct node *n, const void *value, struct error *err)
{
    const struct artifact_settings *a = value;
    char shown[SHOWN_SIZE];

    if (a->path[0] == '/')
        return 0;
    return node_error(err, rule_at(n, "path"), "'%s' must be an absolute path in the container",
                      text_shown(a->path, shown));
}

static const struct schema_field artifact_fields[] = {
    FIELD("from", TEXT, artifact_settings, from, .required = true,
          .help = "The container: `app`, `database`, `load` or a service."),
    FIELD("path", TEXT, artifact_settings, path, .required = true, .help = "File or directory in it."),
};
static const struct schema artifact_schema = {
    .name = "an artifact",
    .help = "A file of a container that is kept with the trial.",
    .size = sizeof(struct artifact_settings),
    LIST_OF(artifact_fields),
    .free_keys = true,
    .check = check_artifact,
};

static int complete_settings(const struct node *n, struct arena *a, void *value, struct error *err)
{
    struct settings *s = value;

    (void)n;
    (void)a;
    (void)err;
    s->app.name = "app";
    return 0;
}

static int check_services(const struct node *n, const struct settings *s, struct error *err)
{
    const struct container_settings *services = s->services.items;

    for (size_t i = 0; i < s->services.len; i++) {
        const struct node at = {.at = services[i].at};
        if (rule_service_name(&at, services[i].name, err) < 0)
            return -1;
    }
    (void)n;
    return 0;
}

static int check_checks(const struct node *n, const struct settings *s, struct error *err)
{
    const struct check_settings *checks = s->checks.items;
    char shown[SHOWN_SIZE];

    (void)n;
    for (size_t i = 0; i < s->checks.len; i++) {
        if (checks[i].sql && !s->database) {
            position_error(err, checks[i].at, "check '%s' is a query and needs a database",
                           text_shown(checks[i].name, shown));
            return error_hint(err, "arithmetic over the trial's own numbers is written as 'value'");
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(checks[i].name, checks[k].name) == 0)
                return position_error(err, checks[i].at, "check '%s' is given twice, first on line %d",
                                      text_shown(checks[i].name, shown), checks[k].at.line);
        }
    }
    return 0;
}

static bool has_role(const struct settings *s, const char *name)
{
    const struct container_settings *services = s->services.items;

    if (strcmp(name, "app") == 0 || (strcmp(name, "load") == 0 && s->load.image) ||
        (strcmp(name, "database") == 0 && s->database && s->database->service))
        return true;
    for (size_t i = 0; i < s->services.len; i++) {
        if (strcmp(name, services[i].name) == 0)
            return true;
    }
    return false;
}

static int check_gates(const struct node *n, const struct settings *s, struct error *err)
{
    const struct artifact_settings *artifacts = s->artifacts.items;
    const struct node *list = node_get(n, "artifacts"), *gates = node_get(n, "expect");
    char shown[SHOWN_SIZE];

    for (size_t i = 0; i < s->artifacts.len; i++) {
        if (!has_role(s, artifacts[i].from))
            return node_error(err, rule_at(list->items[i], "from"), "there is no container '%s'",
                              text_shown(artifacts[i].from, shown));
    }
    for (size_t i = 0; i < s->expect.len; i++) {
        const struct node *at = gates->kind == NODE_LIST ? gates->items[i] : gates;
        if (rule_expectation(at, s->expect.items[i], true, err) < 0)
            return -1;
    }
    return 0;
}

static int check_settings_rules(const struct node *n, const void *value, struct error *err)
{
    const struct settings *s = value;

    if (check_services(n, s, err) < 0 || check_checks(n, s, err) < 0)
        return -1;
    return check_gates(n, s, err);
}

static const char *const network_names[] = {[NETWORK_BRIDGE] = "bridge", [NETWORK_HOST] = "host", NULL};

static const struct schema_field settings_fields[] = {
    FIELD("network", CHOICE, settings, network, .choices = network_names, .fallback = "bridge",
          .help = "One network per sweep, containers reached at their own addresses; or the host's loopback, "
                  "ports given out by benchctl."),
    FIELD("app", STRUCT, settings, app, .of = &app_schema, .required = true,
          .help = "The system under test."),
    FIELD("services", NAMED, settings, services, .of = &service_schema,
          .help = "Other containers, each by its name."),
    FIELD("database", OPTIONAL, settings, database, .of = &database_schema,
          .help = "A database in a known state."),
    FIELD("build", OPTIONAL, settings, build, .of = &build_measurement_schema,
          .help = "How long building the application takes, as a measurement."),
    FIELD("load", STRUCT, settings, load, .of = &load_schema, .required = true, .help = "The load."),
    FIELD("sample", STRUCT, settings, sample, .of = &sample_schema,
          .help = "How often resources are looked at."),
    FIELD("checks", LIST, settings, checks, .of = &check_schema,
          .help = "Queries and arithmetic after the load."),
    FIELD("artifacts", LIST, settings, artifacts, .of = &artifact_schema, .descriptive = true,
          .help = "Files that are kept."),
    FIELD("expect", TEXTS, settings, expect, .descriptive = true,
          .help = "Gates on the trial's own numbers, for instance `load.error_rate <= 0.01`."),
    FIELD("cooldown", STRUCT, settings, cooldown, .of = &cooldown_schema,
          .help = "Pause after each trial: a duration, or what must have settled before the next one."),
    FIELD("timeout", DURATION, settings, timeout_ns, .min = NS_PER_MS, .max = 7 * DAY_NS, .fallback = "30m",
          .descriptive = true, .help = "Hard limit of one trial; longer than its warm-up and load."),
    FIELD("retry", INT, settings, retry, .max = 100, .fallback = "1", .descriptive = true,
          .help = "How often a trial is done again when it ends in `error` or `invalid`; a finding is never "
                  "retried."),
};
const struct schema settings_schema = {
    .name = "the settings",
    .help = "What one scenario is to do. Overrides may set any of these.",
    .size = sizeof(struct settings),
    LIST_OF(settings_fields),
    .free_keys = true,
    .complete = complete_settings,
    .check = check_settings_rules,
};
