/* SPDX-License-Identifier: MIT */
/* The tables of a container's sections: build, ready, startup, metrics. */
#include "settings_rules.h"

#include "benchctl/base/clock.h"

static const struct schema_field build_fields[] = {
    FIELD("context", TEXT, build_settings, context, .required = true, .path = true,
          .help =
              "Directory that is sent to the engine, relative to the matrix; its .dockerignore is heeded."),
    FIELD("dockerfile", TEXT, build_settings, dockerfile, .fallback = "Dockerfile",
          .help = "Relative to the context."),
    FIELD("args", TEXT_MAP, build_settings, args, .help = "Build arguments."),
};
const struct schema build_schema = {
    .name = "build",
    .help = "How to make the image. With `image` beside it the result gets that name; otherwise it has none.",
    .size = sizeof(struct build_settings),
    LIST_OF(build_fields),
    .free_keys = true,
};

static const struct schema_field ready_fields[] = {
    FIELD("http", TEXT, ready_settings, http,
          .help = "Ready when a GET of this path is answered with `status`."),
    FIELD("status", INT, ready_settings, status, .min = 100, .max = 599, .fallback = "200",
          .help = "The HTTP status that means ready."),
    FIELD("tcp", BOOL, ready_settings, tcp, .help = "Ready when the port accepts connections."),
    FIELD("log", TEXT, ready_settings, log,
          .help = "Ready when a line of its output matches this regular expression (POSIX extended)."),
    FIELD("healthcheck", BOOL, ready_settings, healthcheck,
          .help = "Ready when the image's own health check says healthy."),
    FIELD("timeout", DURATION, ready_settings, timeout_ns, .min = NS_PER_MS, .max = 86400 * NS_PER_S,
          .fallback = "60s", .help = "Not ready after this long: the trial's outcome is `not-ready`."),
    FIELD("consecutive", INT, ready_settings, consecutive, .min = 1, .max = 1000, .fallback = "1",
          .help = "How many good answers in a row it takes."),
    FIELD("body", TEXT, ready_settings, body,
          .help =
              "With `http`: a line of the answer must match this regular expression (POSIX extended); then "
              "nothing else of it is asked."),
};
const struct schema ready_schema = {
    .name = "ready",
    .help = "When a container is ready for load. One of `http`, `tcp`, `log` and `healthcheck`; without any, "
            "`tcp` where there is a port.",
    .size = sizeof(struct ready_settings),
    LIST_OF(ready_fields),
    .free_keys = true,
};

static int check_liveness(const struct node *n, const void *value, struct error *err)
{
    const struct liveness_settings *l = value;

    if (l->http && rule_http_path(rule_at(n, "http"), "http", l->http, err) < 0)
        return -1;
    if (l->give_up_ns <= 0 || l->give_up_ns >= l->after_ns)
        return 0;
    node_error(err, rule_at(n, "give_up"), "'give_up' is shorter than 'after'");
    return error_hint(err, "it counts from the last sign of life too; 0 never gives up");
}

#define TEXT_OF(number) #number
#define SECONDS(number) TEXT_OF(number) "s"

static const struct schema_field liveness_fields[] = {
    FIELD("after", DURATION, liveness_settings, after_ns, .min = 0, .max = 86400 * NS_PER_S,
          .fallback = SECONDS(LIVENESS_AFTER_S),
          .help = "Unresponsive after so long without a sign of life; 0 turns it off."),
    FIELD("give_up", DURATION, liveness_settings, give_up_ns, .min = 0, .max = 86400 * NS_PER_S,
          .fallback = SECONDS(LIVENESS_GIVE_UP_S),
          .help = "The load is ended after so long without a sign of life; 0 waits for its end."),
    FIELD("http", TEXT, liveness_settings, http,
          .help = "Path to ask for; any answer is a sign of life. By default what `ready` asks."),
};
const struct schema liveness_schema = {
    .name = "liveness",
    .help = "When a running application is called unresponsive while the load runs.",
    .size = sizeof(struct liveness_settings),
    LIST_OF(liveness_fields),
    .free_keys = true,
    .check = check_liveness,
};

static int check_startup(const struct node *n, const void *value, struct error *err)
{
    const struct startup_settings *s = value;

    return rule_regex(rule_at(n, "log"), "log", s->log, err);
}

static const struct schema_field startup_fields[] = {
    FIELD("log", TEXT, startup_settings, log, .required = true,
          .help = "Started when a line of its output matches this regular expression (POSIX extended)."),
};
const struct schema startup_schema = {
    .name = "startup",
    .help = "The moment of startup, apart from readiness.",
    .size = sizeof(struct startup_settings),
    LIST_OF(startup_fields),
    .free_keys = true,
    .check = check_startup,
};

static int check_metrics(const struct node *n, const void *value, struct error *err)
{
    const struct metrics_settings *m = value;

    if (rule_http_path(rule_at(n, "path"), "path", m->path, err) < 0)
        return -1;
    for (size_t i = 0; i < m->adapters.len; i++)
        if (rule_name(rule_at(n, "adapter"), "a metric adapter", m->adapters.items[i], err) < 0)
            return -1;
    return 0;
}

static const struct schema_field metrics_fields[] = {
    FIELD("path", TEXT, metrics_settings, path, .fallback = "/metrics",
          .help = "Where the Prometheus text is."),
    FIELD("port", INT, metrics_settings, port, .min = 1, .max = 65535,
          .help = "By default the container's port."),
    FIELD("every", DURATION, metrics_settings, every_ns, .min = 100 * NS_PER_MS, .max = 3600 * NS_PER_S,
          .fallback = "2s", .help = "Period of the scrapes."),
    FIELD("adapter", TEXTS, metrics_settings, adapters, .one_is_text = true,
          .help = "Metric adapters that give the series common names; without one they are only kept. Of a "
                  "metric that several give, the first one's value is taken."),
};
const struct schema metrics_schema = {
    .name = "metrics",
    .help = "Prometheus metrics scraped from the container through the trial.",
    .size = sizeof(struct metrics_settings),
    LIST_OF(metrics_fields),
    .free_keys = true,
    .check = check_metrics,
};
