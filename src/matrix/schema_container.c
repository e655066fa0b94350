/* SPDX-License-Identifier: MIT */
/* The table of one container: app, services, and the database's own. */
#include "settings_rules.h"

#include <math.h>
#include "benchctl/base/clock.h"

static const char *const restart_names[] = {
    [RESTART_MODE_NO] = "no",
    [RESTART_MODE_ON_FAILURE] = "on-failure",
    [RESTART_MODE_ALWAYS] = "always",
    [RESTART_MODE_UNLESS_STOPPED] = "unless-stopped",
};

static int parse_restart(const struct node *n, const char *text, struct container_settings *c,
                         struct error *err)
{
    struct error inner = ERROR_INIT;
    char shown[SHOWN_SIZE];
    int64_t max = 0;

    for (size_t i = 0; i < ARRAY_LEN(restart_names); i++) {
        if (strcmp(text, restart_names[i]) == 0) {
            c->restart = (enum restart_mode)i;
            return 0;
        }
    }
    if (strncmp(text, "on-failure:", 11) == 0 && integer_parse(text + 11, &max, &inner) == 0 && max >= 1 &&
        max <= 1000000) {
        c->restart = RESTART_MODE_ON_FAILURE;
        c->restart_max = max;
        return 0;
    }
    node_error(err, n, "'restart' must be no, on-failure, on-failure:N, always or unless-stopped, not '%s'",
               text_shown(text, shown));
    const char *near = nearest_name(text, restart_names, ARRAY_LEN(restart_names));
    return near ? error_hint(err, "did you mean '%s'?", near) : -1;
}

/* Without a way to tell, an open port is readiness. */
static void complete_ready(struct container_settings *c, struct arena *a)
{
    const struct ready_settings *old = c->ready;

    if (c->port == SCHEMA_ABSENT || (old && (old->http || old->tcp || old->log || old->healthcheck)))
        return;
    struct ready_settings *r = arena_new_of(a, struct ready_settings);
    *r = old ? *old : (struct ready_settings){.status = 200, .timeout_ns = 60 * NS_PER_S, .consecutive = 1};
    r->tcp = true;
    c->ready = r;
}

static int complete_container(const struct node *n, struct arena *a, void *value, struct error *err)
{
    struct container_settings *c = value;

    if (!n)
        return 0;
    const struct node *tcp = node_get(node_get(n, "ready"), "tcp");
    if (!tcp || strcmp(tcp->text, "false") != 0)
        complete_ready(c, a);
    return parse_restart(rule_at(n, "restart"), c->restart_text, c, err);
}

/* The database proves its readiness by queries. */
static int complete_database_service(const struct node *n, struct arena *a, void *value, struct error *err)
{
    struct container_settings *c = value;

    (void)a;
    c->name = "database";
    return n ? parse_restart(rule_at(n, "restart"), c->restart_text, c, err) : 0;
}

static int check_ready(const struct node *n, const struct container_settings *c, struct error *err)
{
    const struct ready_settings *r = c->ready;

    if (!r)
        return 0;
    const struct node *at = rule_at(n, "ready");
    int ways = (r->http != NULL) + r->tcp + (r->log != NULL) + r->healthcheck;
    if (ways != 1) {
        node_error(err, at,
                   ways ? "'ready' names %d ways to tell where one is needed"
                        : "'ready' says nothing of how to tell",
                   ways);
        return error_hint(
            err, "exactly one of http, tcp, log and healthcheck; in an override a null takes a key away");
    }
    if (c->port == SCHEMA_ABSENT && (r->http || r->tcp))
        return node_error(err, at, "'ready' by %s needs a 'port'", r->http ? "http" : "tcp");
    if (r->http && rule_http_path(rule_at(at, "http"), "http", r->http, err) < 0)
        return -1;
    if (r->body && !r->http)
        return node_error(err, rule_at(at, "body"), "'body' is of an answer, which only 'http' gets");
    if (r->body && rule_regex(rule_at(at, "body"), "body", r->body, err) < 0)
        return -1;
    return r->log ? rule_regex(rule_at(at, "log"), "log", r->log, err) : 0;
}

static int check_env(const struct node *n, const struct container_settings *c, struct error *err)
{
    char shown[SHOWN_SIZE];

    for (size_t i = 0; i < c->env.len; i++) {
        const char *key = c->env.items[i].key;
        if (!*key || strchr(key, '='))
            return position_error(err, c->env.items[i].at, "'%s' cannot be the name of a variable",
                                  text_shown(key, shown));
    }
    (void)n;
    return 0;
}

/* Whoever may log in reads the command lines of all processes, also of those in containers. */
static int rule_no_secret(const struct node *value, const char *key, struct error *err)
{
    if (value->kind == NODE_SCALAR && strstr(value->text, "${secret:")) {
        node_error(err, value, "a secret in '%s' would stand in the process list", key);
        return error_hint(err, "hand it over in env");
    }
    for (size_t i = 0; i < value->len; i++)
        if (rule_no_secret(value->items[i], key, err) < 0)
            return -1;
    return 0;
}

/* A command that is one text is one word, which is seldom what was meant. */
int rule_words(const struct node *n, const char *key, struct error *err)
{
    const struct node *value = node_get(n, key);

    if (value && rule_no_secret(value, key, err) < 0)
        return -1;
    if (!value || value->kind != NODE_SCALAR || !strchr(value->text, ' '))
        return 0;
    node_error(err, value, "'%s' is one word with blanks in it", key);
    return error_hint(err, "write a list, one item a word: no shell splits it");
}

static int check_mounts(const struct node *n, const struct container_settings *c, struct error *err)
{
    char shown[SHOWN_SIZE];

    for (size_t i = 0; i < c->binds.len; i++) {
        const char *colon = strstr(c->binds.items[i], ":/");
        if (!colon || colon == c->binds.items[i] || c->binds.items[i][0] == '.') {
            node_error(err, rule_at(n, "binds"), "'%s' is not a bind mount",
                       text_shown(c->binds.items[i], shown));
            return error_hint(
                err, "write /ABSOLUTE/HOST/PATH:/CONTAINER/PATH, with :ro behind it where it is only read");
        }
    }
    for (size_t i = 0; i < c->tmpfs.len; i++) {
        if (c->tmpfs.items[i][0] != '/')
            return node_error(err, rule_at(n, "tmpfs"),
                              "'%s' must be an absolute path, with :OPTIONS behind it if need be",
                              text_shown(c->tmpfs.items[i], shown));
    }
    return 0;
}

static int check_limits(const struct node *n, const struct container_settings *c, struct error *err)
{
    if (rule_memory(n, c->memory_bytes, err) < 0)
        return -1;
    if (!isnan(c->cpus) && !(c->cpus >= 0.01 && c->cpus <= CPU_COUNT_MAX))
        return node_error(err, rule_at(n, "cpus"), "'cpus' must be from 0.01 to %d", CPU_COUNT_MAX);
    return c->cpuset ? rule_cpuset(rule_at(n, "cpuset"), c->cpuset, err) : 0;
}

int rule_container(const struct node *n, const struct container_settings *c, struct error *err)
{
    if (c->image && rule_image(rule_at(n, "image"), c->image, err) < 0)
        return -1;
    if (check_limits(n, c, err) < 0 || check_env(n, c, err) < 0)
        return -1;
    return check_mounts(n, c, err);
}

static int check_container(const struct node *n, const void *value, struct error *err)
{
    const struct container_settings *c = value;

    if (!c->image && !c->build) {
        node_error(err, n, "neither 'image' nor 'build' is given");
        return error_hint(err, "a container is made from an image: name one, or say how to build it");
    }
    if (rule_container(n, c, err) < 0 || check_ready(n, c, err) < 0)
        return -1;
    if (rule_words(n, "command", err) < 0 || rule_words(n, "entrypoint", err) < 0)
        return -1;
    if (c->liveness && c->liveness->http && c->port == SCHEMA_ABSENT)
        return node_error(err, rule_at(n, "liveness"), "'liveness' by http needs a 'port'");
    if (c->metrics && c->metrics->port == SCHEMA_ABSENT && c->port == SCHEMA_ABSENT)
        return node_error(err, rule_at(n, "metrics"), "'metrics' needs a 'port', its own or the container's");
    return 0;
}

const char *const if_missing_names[] = {[IF_MISSING_FAIL] = "fail", [IF_MISSING_SKIP] = "skip", NULL};

#define CONTAINER_FIELDS                                                                                     \
    FIELD("image", TEXT, container_settings, image,                                                          \
          .help = "Image to run; with `build`, the name its result gets."),                                  \
        FIELD("build", OPTIONAL, container_settings, build, .of = &build_schema,                             \
              .help = "How to make the image."),                                                             \
        FIELD("if_missing", CHOICE, container_settings, if_missing, .choices = if_missing_names,             \
              .fallback = "fail", .descriptive = true,                                                       \
              .help = "When the image is not in the engine and cannot be pulled: nothing is run at all, or " \
                      "`skip`: only the scenarios that need it are not, and recorded as `skipped`."),        \
        FIELD("env", TEXT_MAP, container_settings, env, .help = "Environment variables."),                   \
        FIELD("command", TEXTS, container_settings, command,                                                 \
              .help = "Instead of the image's command, a list of words."),                                   \
        FIELD("entrypoint", TEXTS, container_settings, entrypoint,                                           \
              .help = "Instead of the image's entry point, a list of words."),                               \
        FIELD("memory", SIZE, container_settings, memory_bytes, .min = -1, .fallback = "unlimited",          \
              .help = "Memory limit, at least 6m; a bare number is an error."),                              \
        FIELD("swap", SIZE, container_settings, swap_bytes, .min = -1, .fallback = "0",                      \
              .help = "Swap beyond the memory limit; off by default."),                                      \
        FIELD("cpus", NUMBER, container_settings, cpus,                                                      \
              .help = "CPU time limit in cores, for instance 1.5."),                                         \
        FIELD("cpuset", TEXT, container_settings, cpuset,                                                    \
              .help = "CPUs it may run on, for instance \"0,2-3\"."),                                        \
        FIELD("pids", INT, container_settings, pids, .min = 1, .max = 4194304,                               \
              .help = "Limit of processes and threads."),                                                    \
        FIELD("shm", SIZE, container_settings, shm_bytes, .max = INT64_C(1) << 50,                           \
              .help = "Size of /dev/shm."),                                                                  \
        FIELD("restart", TEXT, container_settings, restart_text, .fallback = "no",                           \
              .help = "Restart policy: `no`, `on-failure`, `on-failure:N`, `always` or `unless-stopped`."),  \
        FIELD("port", INT, container_settings, port, .min = 1, .max = 65535,                                 \
              .help = "Port that it listens on."),                                                           \
        FIELD("ready", OPTIONAL, container_settings, ready, .of = &ready_schema,                             \
              .help = "When it is ready for load; `tcp: true` by default where there is a port."),           \
        FIELD("startup", OPTIONAL, container_settings, startup, .of = &startup_schema,                       \
              .help = "The moment of startup."),                                                             \
        FIELD("metrics", OPTIONAL, container_settings, metrics, .of = &metrics_schema,                       \
              .help = "Prometheus metrics to scrape."),                                                      \
        FIELD("binds", TEXTS, container_settings, binds,                                                     \
              .help = "Bind mounts, `/host:/container[:ro]`; they reach outside the container."),            \
        FIELD("tmpfs", TEXTS, container_settings, tmpfs, .help = "Paths in memory, `/path[:options]`."),     \
        FIELD("user", TEXT, container_settings, user,                                                        \
              .help = "User (and group) it runs as, instead of the image's."),                               \
        FIELD("stop_signal", TEXT, container_settings, stop_signal,                                          \
              .help = "Signal that stops it, instead of the image's."),                                      \
        FIELD("init", BOOL, container_settings, init, .fallback = "true",                                    \
              .help = "A small process 1 that passes signals on and reaps children.")

static const struct schema_field app_fields[] = {
    CONTAINER_FIELDS,
    FIELD("liveness", OPTIONAL, container_settings, liveness, .of = &liveness_schema,
          .help = "When it is called unresponsive."),
};

/* As other programs, and people, call them. */
static const struct schema_alias container_aliases[] = {
    {"mem", "memory"},
    {"ram", "memory"},
    {"mem_limit", "memory"},
    {"memory_limit", "memory"},
    {"environment", "env"},
    {"variables", "env"},
    {"readiness", "ready"},
    {"health", "ready"},
    {"wait", "ready"},
    {"cpu_limit", "cpus"},
    {"cmd", "command"},
    {"args", "command"},
    {"volumes", "binds"},
    {"mounts", "binds"},
    {"shm_size", "shm"},
    {"pids_limit", "pids"},
    {"ports", "port"},
    {"expose", "port"},
    {"restart_policy", "restart"},
    {"prometheus", "metrics"},
    {0},
};

const struct schema app_schema = {
    .name = "app",
    .help = "The system under test: the container that is measured.",
    .size = sizeof(struct container_settings),
    LIST_OF(app_fields),
    .free_keys = true,
    .aliases = container_aliases,
    .complete = complete_container,
    .check = check_container,
    .position_offset = offsetof(struct container_settings, at),
};

static const char *const scopes[] = {[SCOPE_TRIAL] = "trial", [SCOPE_SWEEP] = "sweep", NULL};

static const struct schema_field service_fields[] = {
    CONTAINER_FIELDS,
    FIELD("scope", CHOICE, container_settings, scope, .choices = scopes, .fallback = "trial",
          .help = "Made anew for each trial, or once for the sweep."),
};

const struct schema service_schema = {
    .name = "a service",
    .help = "Any other container: a mock upstream, a cache, a broker.",
    .size = sizeof(struct container_settings),
    LIST_OF(service_fields),
    .free_keys = true,
    .aliases = container_aliases,
    .complete = complete_container,
    .check = check_container,
    .position_offset = offsetof(struct container_settings, at),
};

static const struct schema_field database_service_fields[] = {
    CONTAINER_FIELDS,
    FIELD("settings", TEXT_MAP, container_settings, settings,
          .help = "Server settings, for instance `{fsync: \"off\"}`."),
};

const struct schema database_service_schema = {
    .name = "the database service",
    .help = "The database server as a container of the sweep.",
    .size = sizeof(struct container_settings),
    LIST_OF(database_service_fields),
    .free_keys = true,
    .aliases = container_aliases,
    .complete = complete_database_service,
    .check = check_container,
    .position_offset = offsetof(struct container_settings, at),
};
