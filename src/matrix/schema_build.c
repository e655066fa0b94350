/* SPDX-License-Identifier: MIT */
/* The table of `build` at the top: building the application as a measurement. How an image is made is
 * schema_parts.c's. */
#include "settings_rules.h"

#include "benchctl/base/clock.h"

static int check_step(const struct node *n, const void *value, struct error *err)
{
    const struct build_step_settings *s = value;
    const struct node *counts = node_get(n, "counts");

    if (rule_name(rule_at(n, "name"), "a step", s->name, err) < 0)
        return -1;
    if (!s->command.len || !s->command.items[0][0])
        return node_error(err, rule_at(n, "command"), "the command of step '%s' is empty", s->name);
    for (size_t i = 0; i < s->counts.len; i++) {
        const struct text_pair *c = &s->counts.items[i];
        const struct node *at = rule_at(counts, c->key);
        if (rule_name(at, "a count", c->key, err) < 0 || rule_regex(at, c->key, c->value, err) < 0)
            return -1;
    }
    return rule_words(n, "command", err);
}

static const struct schema_field step_fields[] = {
    FIELD("name", TEXT, build_step_settings, name, .required = true,
          .help = "What the result is called: letters, digits, `-` and `_`."),
    FIELD("command", TEXTS, build_step_settings, command, .required = true,
          .help = "What is run in the container, a list of words."),
    FIELD("counts", TEXT_MAP, build_step_settings, counts,
          .help = "Numbers that its output tells: a name, and a regular expression (POSIX extended) whose "
                  "first group is the number. The last line that matches counts."),
};
static const struct schema step_schema = {
    .name = "a build step",
    .help = "One command whose time is measured. After one that fails the rest is not run.",
    .size = sizeof(struct build_step_settings),
    LIST_OF(step_fields),
    .free_keys = true,
    .check = check_step,
    .position_offset = offsetof(struct build_step_settings, at),
};

/* What a container has beside what can be said of this one. */
static int complete_build(const struct node *n, struct arena *a, void *value, struct error *err)
{
    struct build_measurement *b = value;
    struct container_settings *c = &b->container;

    (void)n;
    (void)a;
    (void)err;
    c->name = "build";
    c->port = c->pids = c->shm_bytes = c->restart_max = SCHEMA_ABSENT;
    c->init = true;
    return 0;
}

static int check_build(const struct node *n, const void *value, struct error *err)
{
    const struct build_measurement *b = value;
    const struct build_step_settings *steps = b->steps.items;

    if (rule_container(n, &b->container, err) < 0)
        return -1;
    if (b->workdir && b->workdir[0] != '/')
        return node_error(err, rule_at(n, "workdir"), "'workdir' must be an absolute path in the container");
    if (!b->steps.len)
        return node_error(err, n, "'build' has no 'steps': there is nothing to measure");
    for (size_t i = 0; i < b->steps.len; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(steps[i].name, steps[k].name) == 0)
                return position_error(err, steps[i].at, "step '%s' is given twice, first on line %d",
                                      steps[i].name, steps[k].at.line);
    return 0;
}

static const char *const every_names[] = {
    [BUILD_EVERY_SCENARIO] = "scenario", [BUILD_EVERY_TRIAL] = "trial", NULL};

static const struct schema_field build_fields[] = {
    FIELD("image", TEXT, build_measurement, container.image, .required = true,
          .help = "Image with the sources and what builds them; it has `sleep`."),
    FIELD("if_missing", CHOICE, build_measurement, container.if_missing, .choices = if_missing_names,
          .fallback = "fail", .descriptive = true,
          .help = "When the image is not there: nothing is run at all, or `skip`: the build is not measured, "
                  "and the trials are run without it."),
    FIELD("steps", LIST, build_measurement, steps, .of = &step_schema, .required = true,
          .help = "Commands, in order, each measured by itself."),
    FIELD("workdir", TEXT, build_measurement, workdir,
          .help = "Where they are run, instead of the image's directory."),
    FIELD("env", TEXT_MAP, build_measurement, container.env, .help = "Environment variables."),
    FIELD("memory", SIZE, build_measurement, container.memory_bytes, .min = -1, .fallback = "unlimited",
          .help = "Memory limit, at least 6m."),
    FIELD("cpus", NUMBER, build_measurement, container.cpus, .help = "CPU time limit in cores."),
    FIELD("cpuset", TEXT, build_measurement, container.cpuset, .help = "CPUs it may run on."),
    FIELD("binds", TEXTS, build_measurement, container.binds,
          .help = "Bind mounts, `/host:/container[:ro]`; they reach outside the container."),
    FIELD("tmpfs", TEXTS, build_measurement, container.tmpfs, .help = "Paths in memory, `/path[:options]`."),
    FIELD("user", TEXT, build_measurement, container.user,
          .help = "User (and group), instead of the image's."),
    FIELD("timeout", DURATION, build_measurement, timeout_ns, .min = NS_PER_MS, .max = 86400 * NS_PER_S,
          .fallback = "10m", .help = "Hard limit of all steps together; the trial's own does not count it."),
    FIELD("every", CHOICE, build_measurement, every, .choices = every_names, .fallback = "scenario",
          .help = "Once for each scenario, with its first trial, or with each `trial`."),
};
const struct schema build_measurement_schema = {
    .name = "the build measurement",
    .help = "How long building the application takes, as a measurement: in a container of its own, before "
            "anything else of the trial is started. (`build` of a container is another thing: it makes its "
            "image.)",
    .size = sizeof(struct build_measurement),
    LIST_OF(build_fields),
    .free_keys = true,
    .complete = complete_build,
    .check = check_build,
};
