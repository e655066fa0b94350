/* SPDX-License-Identifier: MIT */
/* What must hold between the parts of a workload. */
#include "workload_internal.h"

static int check_names(const struct workload *w, struct error *err)
{
    const struct workload_request *r = w->requests.items;
    const struct workload_phase *p = w->phases.items;
    char shown[SHOWN_SIZE];

    for (size_t i = 1; i < w->requests.len; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(r[i].name, r[k].name) == 0)
                return position_error(err, r[i].at, "two requests are called '%s'",
                                      text_shown(r[i].name, shown));
        }
    }
    for (size_t i = 1; i < w->phases.len; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(p[i].name, p[k].name) == 0)
                return position_error(err, p[i].at, "two phases are called '%s'",
                                      text_shown(p[i].name, shown));
        }
    }
    return 0;
}

static const struct workload_request *find_request(const struct workload *w, const char *name)
{
    const struct workload_request *r = w->requests.items;

    for (size_t i = 0; i < w->requests.len; i++) {
        if (strcmp(r[i].name, name) == 0)
            return &r[i];
    }
    return NULL;
}

static int unknown_request(const struct workload *w, const struct node *where, const char *name,
                           struct error *err)
{
    const struct workload_request *r = w->requests.items;
    const char *names[ITEMS_MAX];
    char shown[SHOWN_SIZE];

    for (size_t i = 0; i < w->requests.len; i++)
        names[i] = r[i].name;
    node_error(err, where, "no request is called '%s'", text_shown(name, shown));
    const char *near = nearest_name(name, names, w->requests.len);
    return error_hint(err, near ? "did you mean '%s'?" : "the first request is called '%s'",
                      near ? near : names[0]);
}

/* Of all requests when the phase names none. */
static double weight_of(const struct workload *w, const struct workload_phase *p)
{
    const struct workload_request *r = w->requests.items;
    double sum = 0;

    for (size_t i = 0; i < (p->requests.len ? p->requests.len : w->requests.len); i++)
        sum += p->requests.len ? find_request(w, p->requests.items[i])->weight : r[i].weight;
    return sum;
}

static int check_phase_requests(const struct node *n, const struct workload *w, size_t phase,
                                struct error *err)
{
    const struct workload_phase *p = (const struct workload_phase *)w->phases.items + phase;
    const struct node *phases = node_get(n, "phases");
    const struct node *list = phases ? node_get(phases->items[phase], "requests") : NULL;

    for (size_t i = 0; i < p->requests.len; i++) {
        const struct node *where = list && list->kind == NODE_LIST ? list->items[i] : list;
        if (!find_request(w, p->requests.items[i]))
            return unknown_request(w, where, p->requests.items[i], err);
        for (size_t k = 0; k < i; k++) {
            if (strcmp(p->requests.items[k], p->requests.items[i]) == 0)
                return node_error(err, where, "request '%s' is named twice in a phase", p->requests.items[i]);
        }
    }
    if (weight_of(w, p) > 0)
        return 0;
    position_error(err, p->at, "all requests of phase '%s' have weight 0", p->name);
    return error_hint(err, "give one of them a weight above 0");
}

static bool takes_rows(const char *text)
{
    struct error ignored = ERROR_INIT;
    bool rows = false;

    return text && workload_template_check(text, &rows, &ignored) == 0 && rows;
}

static bool request_takes_rows(const struct workload_request *r)
{
    bool found = takes_rows(r->path) || (!r->raw && takes_rows(r->body));

    for (size_t i = 0; i < r->headers.len; i++)
        found = found || takes_rows(r->headers.items[i].value);
    return found;
}

static int check_data(const struct workload *w, struct error *err)
{
    const struct workload_request *r = w->requests.items;
    char shown[SHOWN_SIZE];
    bool common = false;

    for (size_t i = 0; i < w->headers.len; i++)
        common = common || takes_rows(w->headers.items[i].value);
    for (size_t i = 0; i < w->requests.len && !w->data; i++) {
        if (!common && !request_takes_rows(&r[i]))
            continue;
        position_error(err, r[i].at, "request '%s' uses {{row...}}, but the workload has no 'data'",
                       text_shown(r[i].name, shown));
        return error_hint(err, "data: FILE.csv, whose first line names the columns");
    }
    return 0;
}

/* What the chosen version and transport can carry. */
static int check_versions(const struct node *n, const struct workload *w, struct error *err)
{
    const struct workload_request *r = w->requests.items;
    bool grpc = false;

    for (size_t i = 0; i < w->requests.len; i++)
        grpc = grpc || r[i].grpc;
    if (grpc && node_get(n, "http") && w->http == HTTP_VERSION_1_1)
        return node_error(err, workload_at(n, "http"), "gRPC needs HTTP/2");
    bool tls = text_starts(w->target, "https:") || text_starts(w->target, "HTTPS:");
    if (w->transport == TRANSPORT_PLAIN && (grpc || tls || w->http != HTTP_VERSION_1_1)) {
        node_error(err, workload_at(n, "transport"), "transport 'plain' cannot carry %s",
                   grpc  ? "gRPC"
                   : tls ? "TLS"
                         : "HTTP/2");
        return error_hint(err, "transport: auto takes what fits");
    }
    return 0;
}

int workload_check(const struct node *n, const struct workload *w, struct error *err)
{
    if (workload_check_target(workload_at(n, "target"), w->target, err) < 0 ||
        workload_check_headers(&w->headers, err) < 0 || check_names(w, err) < 0)
        return -1;
    if (w->id_header && !workload_is_token(w->id_header)) {
        node_error(err, workload_at(n, "id_header"), "'id_header' is no header name");
        return error_hint(err, "for instance X-Request-Id");
    }
    for (size_t i = 0; i < w->phases.len; i++) {
        if (check_phase_requests(n, w, i, err) < 0)
            return -1;
    }
    if (check_data(w, err) < 0 || check_versions(n, w, err) < 0)
        return -1;
    if (workload_duration_ns(w) > LONGEST_NS)
        return node_error(err, workload_at(n, "phases"), "the whole load lasts longer than 30d");
    if (workload_max_vus(w) > VUS_MAX)
        return node_error(err, workload_at(n, "phases"), "phases side by side have more than 1000000 VUs");
    return 0;
}
