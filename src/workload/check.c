/* SPDX-License-Identifier: MIT */
/* What must hold between the parts of a workload. */
#include "workload_internal.h"

#include "benchctl/base/name_index.h"

struct checking {
    const struct workload *w;
    const struct node *n;
    struct name_index names; /* of requests: their numbers */
    size_t *named_by;        /* of each request: the last phase that names it, from 1 */
};

static int check_names(struct checking *c, struct error *err)
{
    CLEANUP_VALUE(name_index_release) struct name_index phases = {0};
    const struct workload_request *r = c->w->requests.items;
    const struct workload_phase *p = c->w->phases.items;
    char shown[SHOWN_SIZE];
    bool is_new;

    for (size_t i = 0; i < c->w->requests.len; i++) {
        name_index_put(&c->names, r[i].name, i, &is_new);
        if (!is_new)
            return position_error(err, r[i].at, "two requests are called '%s'", text_shown(r[i].name, shown));
    }
    for (size_t i = 0; i < c->w->phases.len; i++) {
        name_index_put(&phases, p[i].name, i, &is_new);
        if (!is_new)
            return position_error(err, p[i].at, "two phases are called '%s'", text_shown(p[i].name, shown));
    }
    return 0;
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

static int no_weight(const struct checking *c, const struct workload_phase *p, struct error *err)
{
    const struct node *requests = node_get(c->n, "requests");
    char shown[SHOWN_SIZE];

    if (node_get(c->n, "phases") || !requests)
        position_error(err, p->at, "all requests of phase '%s' have weight 0", text_shown(p->name, shown));
    else
        node_error(err, workload_at(requests->items[0], "weight"), "all requests have weight 0");
    return error_hint(err, "give one of them a weight above 0");
}

static int check_phase_requests(const struct checking *c, size_t phase, struct error *err)
{
    const struct workload_phase *p = (const struct workload_phase *)c->w->phases.items + phase;
    const struct workload_request *r = c->w->requests.items;
    const struct node *phases = node_get(c->n, "phases");
    const struct node *list = phases ? node_get(phases->items[phase], "requests") : NULL;
    char shown[SHOWN_SIZE];
    double weight = 0;

    for (size_t i = 0; i < p->requests.len; i++) {
        const struct node *where = list && list->kind == NODE_LIST ? list->items[i] : list;
        const char *name = p->requests.items[i];
        const size_t *found = name_index_get(&c->names, name);
        if (!found)
            return unknown_request(c->w, where, name, err);
        if (c->named_by[*found] == phase + 1)
            return node_error(err, where, "request '%s' is named twice in a phase", text_shown(name, shown));
        c->named_by[*found] = phase + 1;
        weight += r[*found].weight;
    }
    for (size_t i = 0; !p->requests.len && i < c->w->requests.len; i++)
        weight += r[i].weight;
    return weight > 0 ? 0 : no_weight(c, p, err);
}

static int check_requests(const struct node *n, const struct workload *w, struct error *err)
{
    CLEANUP_FREE size_t *named_by = xcalloc(w->requests.len, sizeof(*named_by));
    struct checking c = {.w = w, .n = n, .named_by = named_by};
    int result = check_names(&c, err);

    for (size_t i = 0; result == 0 && i < w->phases.len; i++)
        result = check_phase_requests(&c, i, err);
    name_index_release(&c.names);
    return result;
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

static int check_measured(const struct node *n, const struct workload *w, struct error *err)
{
    const struct workload_phase *p = w->phases.items;

    for (size_t i = 0; i < w->phases.len; i++)
        if (!p[i].warmup)
            return 0;
    node_error(err, workload_at(n, "phases"), "all phases are warm-up: nothing would be measured");
    return error_hint(err, "add one without 'warmup: true'");
}

int workload_check(const struct node *n, const struct workload *w, struct error *err)
{
    if (workload_check_target(workload_at(n, "target"), w->target, err) < 0 ||
        workload_check_headers(&w->headers, err) < 0 || check_requests(n, w, err) < 0)
        return -1;
    if (w->id_header && !workload_is_token(w->id_header)) {
        node_error(err, workload_at(n, "id_header"), "'id_header' is no header name");
        return error_hint(err, "for instance X-Request-Id");
    }
    if (check_measured(n, w, err) < 0 || check_data(w, err) < 0 || check_versions(n, w, err) < 0)
        return -1;
    if (workload_duration_ns(w) > LONGEST_NS)
        return node_error(err, workload_at(n, "phases"), "the whole load lasts longer than 30d");
    if (workload_max_vus(w) > VUS_MAX)
        return node_error(err, workload_at(n, "phases"), "phases side by side have more than 1000000 VUs");
    return 0;
}
