/* SPDX-License-Identifier: MIT */
/* The table of the whole. */
#include "workload_internal.h"

static const char *const http_names[] = {"1.1", "2", "2-prior-knowledge", NULL};
static const char *const transport_names[] = {"auto", "plain", "curl", NULL};

static int complete_workload(const struct node *n, struct arena *a, void *value, struct error *err)
{
    struct workload *w = value;

    w->data_at = workload_at(n, "data")->at;
    return workload_fill(n, a, w, err);
}

static int check_workload(const struct node *n, const void *value, struct error *err)
{
    return workload_check(n, value, err);
}

static const struct schema_field workload_fields[] = {
    FIELD("target", TEXT, workload, target, .required = true,
          .help = "Where to: http or https, host, port, and what stands before every path."),
    FIELD("requests", LIST, workload, requests, .of = &workload_request_schema,
          .help = "What is requested. Without it one request, from `method`, `path` and `body`."),
    FIELD("phases", LIST, workload, phases, .of = &workload_phase_schema,
          .help = "How the load changes in time. Without it one phase, from `vus`, `rate`, `iterations` and "
                  "`duration`."),
    FIELD("path", TEXT, workload, path, .fallback = "/", .help = "Of the one request."),
    FIELD("method", TEXT, workload, method, .help = "Of the one request: GET, with a body POST."),
    FIELD("body", TEXT, workload, body, .help = "Of the one request."),
    FIELD("body_file", TEXT, workload, body_file, .path = true, .help = "Of the one request."),
    FIELD("headers", TEXT_MAP, workload, headers, .help = "Of every request; `{{...}}` is filled in."),
    FIELD("data", TEXT, workload, data, .path = true,
          .help = "CSV file whose rows `{{row.COLUMN}}` takes in turn, and then again from the first."),
    FIELD("id_header", TEXT, workload, id_header,
          .help = "Header that gets a unique id per request, for instance X-Request-Id."),
    FIELD("think", STRUCT, workload, think, .of = &workload_think_schema,
          .help = "Wait of a virtual user after each answer."),
    FIELD("timeout", DURATION, workload, timeout_ns, .min = NS_PER_MS, .max = DAY_NS, .fallback = "10s",
          .help = "Of a whole exchange: connect, send, wait and receive together."),
    FIELD("connect_timeout", DURATION, workload, connect_timeout_ns, .min = NS_PER_MS, .max = DAY_NS,
          .fallback = "5s", .help = "Of connecting alone."),
    FIELD("vus", INT, workload, vus, .min = 1, .max = VUS_MAX,
          .help = "Virtual users of the one phase: 1; with `rate` a second's worth of arrivals, from 10 to "
                  "10000."),
    FIELD("rate", NUMBER, workload, rate,
          .help = "Requests per second, however long answers take: the one phase is constant-arrival-rate."),
    FIELD("max_vus", INT, workload, max_vus, .min = 1, .max = VUS_MAX,
          .help = "With `rate`: how many virtual users there may be; without it `vus`."),
    FIELD("arrivals", CHOICE, workload, arrivals, .choices = arrivals_names, .fallback = "constant",
          .help = "With `rate`: evenly spaced, or at random with the same mean."),
    FIELD("iterations", INT, workload, iterations, .min = 1, .max = ITERATIONS_MAX,
          .help = "So many requests in all: the one phase is shared-iterations."),
    FIELD("duration", DURATION, workload, duration_ns, .min = NS_PER_MS, .max = LONGEST_NS,
          .help = "Of the one phase: 10s; with `iterations` at most 10m."),
    FIELD("keepalive", BOOL, workload, keepalive, .fallback = "true",
          .help = "Whether connections are used again; false makes one for each request."),
    FIELD("http", CHOICE, workload, http, .choices = http_names, .fallback = "1.1",
          .help =
              "Version of HTTP. `2` is agreed on during TLS, or by an upgrade; `2-prior-knowledge` speaks "
              "it at once."),
    FIELD("transport", CHOICE, workload, transport, .choices = transport_names, .fallback = "auto",
          .help = "`plain` is lean and only for HTTP/1.1 without TLS; `auto` takes it where it can."),
    FIELD("insecure", BOOL, workload, insecure, .fallback = "false", .help = "TLS: any certificate will do."),
    FIELD("ca_file", TEXT, workload, ca_file, .path = true,
          .help = "TLS: certificates of the authorities that are trusted, in PEM form."),
    FIELD("processes", INT, workload, processes, .min = 1, .max = 256, .fallback = "1",
          .help = "Processes that share the load, for more than one CPU can make."),
    FIELD("seed", INT, workload, seed, .max = INT64_MAX, .fallback = "1",
          .help = "Of everything random: weights, think times, values, Poisson arrivals."),
};
const struct schema workload_schema = {
    .name = "the workload",
    .help = "What load is made.",
    .size = sizeof(struct workload),
    LIST_OF(workload_fields),
    .free_keys = true,
    .complete = complete_workload,
    .check = check_workload,
    .position_offset = offsetof(struct workload, at),
};

int workload_read(const struct node *n, const char *dir, struct arena *a, struct workload *ret,
                  struct error *err)
{
    const struct schema_options o = {.dir = dir};
    struct workload read;

    if (workload_check_foreign(n, err) < 0 || schema_read_with(&workload_schema, n, &o, a, &read, err) < 0)
        return -1;
    *ret = read;
    return 0;
}
