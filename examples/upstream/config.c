/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/base/units.h"

#define Z99 2.3263478740408408 /* the 99 % quantile of the standard normal distribution */
#define MAX_LATENCY_NS (24 * 3600 * NS_PER_S)

static const struct schema_field normal_fields[] = {
    FIELD("mean", DURATION, latency_normal, mean_ns, .required = true, .max = MAX_LATENCY_NS,
          .help = "Mean latency."),
    FIELD("sd", DURATION, latency_normal, sd_ns, .required = true, .max = MAX_LATENCY_NS,
          .help = "Standard deviation; what falls below zero is zero."),
};
static const struct schema normal_schema = {
    .name = "normal",
    .size = sizeof(struct latency_normal),
    .fields = normal_fields,
    .field_count = ARRAY_LEN(normal_fields),
};

static const struct schema_field lognormal_fields[] = {
    FIELD("median", DURATION, latency_lognormal, median_ns, .required = true, .min = 1, .max = MAX_LATENCY_NS,
          .help = "Half of the answers are quicker."),
    FIELD("p99", DURATION, latency_lognormal, p99_ns, .min = 1, .max = MAX_LATENCY_NS,
          .help = "99 % of the answers are quicker."),
    FIELD("sigma", NUMBER, latency_lognormal, sigma, .help = "Standard deviation of the logarithm."),
};

static int check_lognormal(const struct node *n, const void *value, struct error *err)
{
    const struct latency_lognormal *l = value;

    if ((l->p99_ns == SCHEMA_ABSENT) == isnan(l->sigma))
        return node_error(err, n, "lognormal needs 'p99' or 'sigma', and not both");
    if (l->p99_ns != SCHEMA_ABSENT && l->p99_ns < l->median_ns)
        return node_error(err, n, "'p99' is below the median");
    if (l->sigma < 0 || l->sigma > 10)
        return node_error(err, n, "'sigma' must be from 0 to 10");
    return 0;
}

static const struct schema lognormal_schema = {
    .name = "lognormal",
    .size = sizeof(struct latency_lognormal),
    .fields = lognormal_fields,
    .field_count = ARRAY_LEN(lognormal_fields),
    .check = check_lognormal,
};

static int latency_duration(const struct node *n, const char *key, const char *text, double *ret_ns,
                            struct error *err)
{
    struct error inner = ERROR_INIT;
    int64_t ns;

    if (duration_parse(text, &ns, &inner) < 0)
        return node_error(err, n, "'%s': %s", key, inner.message);
    if (ns > MAX_LATENCY_NS)
        return node_error(err, n, "'%s' must be at most 24h, not %s", key, text);
    *ret_ns = (double)ns;
    return 0;
}

static int latency_from_scalar(const struct node *n, struct arena *a, void *ret, struct error *err)
{
    struct latency *l = ret;

    (void)a;
    l->kind = LATENCY_CONSTANT;
    return latency_duration(n, "latency", n->text, &l->a, err);
}

static int complete_uniform(const struct node *n, struct latency *l, struct error *err)
{
    l->kind = LATENCY_UNIFORM;
    if (l->uniform.len != 2)
        return node_error(err, n, "'uniform' must be two durations, from and to");
    if (latency_duration(n, "uniform", l->uniform.items[0], &l->a, err) < 0 ||
        latency_duration(n, "uniform", l->uniform.items[1], &l->b, err) < 0)
        return -1;
    return l->a <= l->b ? 0 : node_error(err, n, "'uniform' ends before it begins");
}

static int complete_latency(const struct node *n, struct arena *a, void *value, struct error *err)
{
    struct latency *l = value;
    int given = (l->constant_ns != SCHEMA_ABSENT) + (l->uniform.len > 0) + !!l->normal + !!l->lognormal;

    (void)a;
    if (!n || n->kind != NODE_MAP)
        return 0;
    if (given != 1)
        return node_error(err, n, "a latency is one of 'constant', 'uniform', 'normal' and 'lognormal'");
    if (l->uniform.len)
        return complete_uniform(n, l, err);
    if (l->normal) {
        l->kind = LATENCY_NORMAL;
        l->a = (double)l->normal->mean_ns;
        l->b = (double)l->normal->sd_ns;
    } else if (l->lognormal) {
        double median = (double)l->lognormal->median_ns;
        l->kind = LATENCY_LOGNORMAL;
        l->a = log(median);
        l->b = l->lognormal->p99_ns == SCHEMA_ABSENT ? l->lognormal->sigma
                                                     : log((double)l->lognormal->p99_ns / median) / Z99;
    } else {
        l->a = (double)l->constant_ns;
    }
    return 0;
}

static const struct schema_field latency_fields[] = {
    FIELD("constant", DURATION, latency, constant_ns, .max = MAX_LATENCY_NS, .help = "Always the same."),
    FIELD("uniform", TEXTS, latency, uniform, .help = "[FROM, TO], each value as likely as another."),
    FIELD("normal", OPTIONAL, latency, normal, .of = &normal_schema, .help = "A bell, cut off at zero."),
    FIELD("lognormal", OPTIONAL, latency, lognormal, .of = &lognormal_schema, .help = "A long tail."),
};
static const struct schema latency_schema = {
    .name = "latency",
    .help = "How long an answer takes; a duration alone is constant.",
    .size = sizeof(struct latency),
    .fields = latency_fields,
    .field_count = ARRAY_LEN(latency_fields),
    .from_scalar = latency_from_scalar,
    .complete = complete_latency,
};

static const struct schema_field stall_fields[] = {
    FIELD("every", DURATION, stall, every_ns, .required = true, .min = 1, .help = "From one to the next."),
    FIELD("for", DURATION, stall, for_ns, .required = true, .min = 1, .help = "How long one lasts."),
};

static int check_stall(const struct node *n, const void *value, struct error *err)
{
    const struct stall *s = value;

    return s->for_ns < s->every_ns ? 0 : node_error(err, n, "'for' must be shorter than 'every'");
}

static const struct schema stall_schema = {
    .name = "stall",
    .size = sizeof(struct stall),
    .fields = stall_fields,
    .field_count = ARRAY_LEN(stall_fields),
    .check = check_stall,
};

/* The members of struct behaviour, at PREFIX of struct T. */
#define BEHAVIOUR_FIELDS(T, PREFIX)                                                                          \
    {.key = "latency",                                                                                       \
     .type = SCHEMA_OPTIONAL,                                                                                \
     .offset = offsetof(struct T, PREFIX latency),                                                           \
     .of = &latency_schema,                                                                                  \
     .help = "How long an answer takes; default 0."},                                                        \
        {.key = "failures",                                                                                  \
         .type = SCHEMA_NODE,                                                                                \
         .offset = offsetof(struct T, PREFIX failures),                                                      \
         .help = "Shares in percent: a status, timeout, reset, close, truncate, garbage."},                  \
    {                                                                                                        \
        .key = "timeout_after", .type = SCHEMA_TEXT, .offset = offsetof(struct T, PREFIX timeout_after),     \
        .help = "When the answer of a timeout comes: a duration, or never; default 30s."                     \
    }

static const struct schema_field defaults_fields[] = {BEHAVIOUR_FIELDS(behaviour, )};
static const struct schema defaults_schema = {
    .name = "defaults",
    .help = "For endpoints that do not say.",
    .size = sizeof(struct behaviour),
    .fields = defaults_fields,
    .field_count = ARRAY_LEN(defaults_fields),
};

static const struct schema_field endpoint_fields[] = {
    FIELD("status", INT, endpoint, status, .min = 200, .max = 599, .fallback = "200", .help = "HTTP status."),
    FIELD("content_type", TEXT, endpoint, content_type, .fallback = "application/json", .help = "Its type."),
    FIELD("body", TEXT, endpoint, body, .help = "The body; {{id}}, {{counter}}, {{path}}, {{random A B}}."),
    FIELD("body_file", TEXT, endpoint, body_file, .path = true, .help = "The body is this file's content."),
    FIELD("body_bytes", SIZE, endpoint, body_bytes, .max = UPSTREAM_MAX_BODY_BYTES,
          .help = "A JSON body of this size."),
    BEHAVIOUR_FIELDS(endpoint, behaviour.),
};

static int check_endpoint(const struct node *n, const void *value, struct error *err)
{
    const struct endpoint *e = value;
    const char *star = strchr(e->path, '*');

    if (e->path[0] != '/' || strpbrk(e->path, " ?#\t\r\n"))
        return node_error(err, n, "'%s' is no path: it begins with '/' and has no query", e->path);
    if (star && (star[1] || star[-1] != '/'))
        return node_error(err, n, "'%s': a star stands only at the end, behind '/'", e->path);
    if (text_starts(e->path, "/__"))
        return node_error(err, n, "'%s': paths that begin with '/__' are the server's own", e->path);
    if (!!e->body + !!e->body_file + (e->body_bytes != SCHEMA_ABSENT) > 1)
        return node_error(err, n, "only one of 'body', 'body_file' and 'body_bytes'");
    if (strpbrk(e->content_type, "\r\n"))
        return node_error(err, n, "'content_type' is one line");
    return 0;
}

static const struct schema endpoint_schema = {
    .name = "an endpoint",
    .help = "What is answered on a path.",
    .size = sizeof(struct endpoint),
    .fields = endpoint_fields,
    .field_count = ARRAY_LEN(endpoint_fields),
    .free_keys = true,
    .position_offset = offsetof(struct endpoint, at),
    .check = check_endpoint,
};

static const char *const http_names[] = {"1.1", "1.0", NULL};
static const struct schema_field config_fields[] = {
    FIELD("upstream", INT, config, version, .required = true, .min = 1, .max = 1, .help = "Always 1."),
    FIELD("host", TEXT, config, host, .fallback = "0.0.0.0", .help = "Address to listen on."),
    FIELD("port", INT, config, port, .max = 65535, .fallback = "9090", .help = "0 takes a free one."),
    FIELD("seed", INT, config, seed, .fallback = "1", .help = "Decides latencies and failures."),
    FIELD("id_header", TEXT, config, id_header, .fallback = "X-Request-Id",
          .help = "A request that has this header gets the fate of its value, whenever it comes."),
    FIELD("max_connections", INT, config, max_connections, .min = 1, .max = 1000000, .fallback = "60000",
          .help = "More are answered 503."),
    FIELD("stall", OPTIONAL, config, stall, .of = &stall_schema, .help = "The whole server stands still."),
    FIELD("close", BOOL, config, close, .fallback = "false", .help = "Every answer ends its connection."),
    FIELD("http", CHOICE, config, http, .choices = http_names, .fallback = "1.1",
          .help = "1.0: as old ones."),
    FIELD("defaults", STRUCT, config, defaults, .of = &defaults_schema, .help = "For all endpoints."),
    FIELD("endpoints", NAMED, config, endpoints, .of = &endpoint_schema, .required = true,
          .help = "By path; one that ends in / and a star is a prefix."),
};
const struct schema config_schema = {
    .name = "the configuration",
    .help = "What the mock answers.",
    .size = sizeof(struct config),
    .fields = config_fields,
    .field_count = ARRAY_LEN(config_fields),
    .free_keys = true,
};

/* "1%", "0.5%" to 0..1. */
static int share_parse(const struct node *n, double *ret, struct error *err)
{
    char number[16];
    size_t len = strlen(n->text);
    struct error ignored = ERROR_INIT;

    if (n->kind != NODE_SCALAR || len < 2 || len > sizeof(number) || n->text[len - 1] != '%')
        return node_error(err, n, "a share is a number with '%%', for instance 0.5%%");
    memcpy(number, n->text, len - 1);
    number[len - 1] = '\0';
    if (number_parse(number, ret, &ignored) < 0 || *ret < 0 || *ret > 100)
        return node_error(err, n, "a share is from 0%% to 100%%, not '%s'", n->text);
    *ret /= 100;
    return 0;
}

static int failure_kind_parse(const struct node *key, struct failure *f, struct error *err)
{
    static const char *const names[] = {[FAILURE_TIMEOUT] = "timeout",
                                        [FAILURE_RESET] = "reset",
                                        [FAILURE_CLOSE] = "close",
                                        [FAILURE_TRUNCATE] = "truncate",
                                        [FAILURE_GARBAGE] = "garbage"};
    int64_t status = 0;
    char shown[SHOWN_SIZE];
    struct error ignored = ERROR_INIT;

    f->name = key->text;
    for (size_t i = FAILURE_TIMEOUT; i < ARRAY_LEN(names); i++) {
        if (strcmp(key->text, names[i]) == 0) {
            f->kind = (enum failure_kind)i;
            return 0;
        }
    }
    if (integer_parse(key->text, &status, &ignored) < 0 || status < 200 || status > 599) {
        node_error(err, key, "unknown failure '%s'", text_shown(key->text, shown));
        return error_hint(err, "a status from 200 to 599, timeout, reset, close, truncate or garbage");
    }
    f->kind = FAILURE_STATUS;
    f->status = (int)status;
    return 0;
}

static int failures_read(const struct node *n, struct failures *ret, struct error *err)
{
    double sum = 0;

    if (!n)
        return 0;
    if (n->kind != NODE_MAP || n->len > UPSTREAM_MAX_FAILURES)
        return node_error(err, n, "'failures' must be a map of at most %d shares", UPSTREAM_MAX_FAILURES);
    for (size_t i = 0; i < n->len; i++) {
        struct failure *f = &ret->items[ret->len++];
        if (failure_kind_parse(n->keys[i], f, err) < 0 || share_parse(n->items[i], &f->share, err) < 0)
            return -1;
        sum += f->share;
    }
    return sum <= 1 + 1e-9 ? 0 : node_error(err, n, "the shares of 'failures' are more than 100%% together");
}

static int timeout_read(const char *text, const struct endpoint *e, int64_t *ret, struct error *err)
{
    struct error inner = ERROR_INIT;

    *ret = 30 * NS_PER_S;
    if (text_equal(text, "never"))
        *ret = UPSTREAM_NEVER;
    else if (text && duration_parse(text, ret, &inner) < 0)
        return position_error(err, e->at, "'timeout_after': %s", inner.message);
    return 0;
}

/* {"data":"abc..."} of that size; below the frame's own size, digits. */
static void make_body(struct arena *a, struct endpoint *e)
{
    static const char head[] = "{\"data\":\"", tail[] = "\"}";
    const size_t head_len = sizeof(head) - 1, tail_len = sizeof(tail) - 1;
    char *body = arena_alloc(a, (size_t)e->body_bytes + 1);

    e->body_len = (size_t)e->body_bytes;
    for (size_t i = 0; i < e->body_len; i++)
        body[i] = (char)('a' + i % 26);
    if (e->body_len >= head_len + tail_len) {
        memcpy(body, head, head_len);
        memcpy(body + e->body_len - tail_len, tail, tail_len);
    } else {
        memset(body, '1', e->body_len);
    }
    e->body_text = body;
}

static int body_read(struct arena *a, struct endpoint *e, const char *dir, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf content = STRBUF_INIT;

    if (e->body_bytes != SCHEMA_ABSENT) {
        make_body(a, e);
        return 0;
    }
    if (!e->body_file) {
        e->body_text = e->body ? e->body : "{}";
        e->body_len = strlen(e->body_text);
        e->is_template = strstr(e->body_text, "{{") != NULL;
        return 0;
    }
    if (!dir)
        return position_error(err, e->at, "'body_file' needs a configuration that is a file");
    if (fs_read(e->body_file, (size_t)UPSTREAM_MAX_BODY_BYTES, &content, err) < 0)
        return error_wrap(err, "body of '%s'", e->path);
    e->body_text = arena_copy(a, strbuf_text(&content), content.len + 1);
    e->body_len = content.len;
    return 0;
}

static int endpoint_complete(struct arena *a, const struct config *c, struct endpoint *e, const char *dir,
                             struct error *err)
{
    const struct behaviour *own = &e->behaviour, *all = &c->defaults;
    const struct latency *latency = own->latency ? own->latency : all->latency;
    const struct node *failures = own->failures ? own->failures : all->failures;

    e->path_len = strlen(e->path);
    e->is_prefix = e->path[e->path_len - 1] == '*';
    e->path_len -= e->is_prefix;
    if (latency)
        e->latency = *latency;
    if (failures_read(failures, &e->failures, err) < 0 ||
        timeout_read(own->timeout_after ? own->timeout_after : all->timeout_after, e, &e->timeout_after_ns,
                     err) < 0)
        return -1;
    return body_read(a, e, dir, err);
}

/* Exact paths first, by bytes; then prefixes, the longest first. */
static int compare_endpoints(const void *a, const void *b)
{
    const struct endpoint *x = a, *y = b;

    if (x->is_prefix != y->is_prefix)
        return x->is_prefix ? 1 : -1;
    if (x->is_prefix && x->path_len != y->path_len)
        return x->path_len < y->path_len ? 1 : -1;
    return strcmp(x->path, y->path);
}

int config_read(const char *bytes, size_t len, const char *file, const char *dir, struct arena *a,
                struct config *ret, struct error *err)
{
    const struct node *n;
    const struct schema_options options = {.dir = dir};

    if (tree_parse(bytes, len, file, a, &n, err) < 0 ||
        schema_read_with(&config_schema, n, &options, a, ret, err) < 0)
        return -1;
    struct endpoint *items = ret->endpoints.items;
    for (size_t i = 0; i < ret->endpoints.len; i++) {
        if (endpoint_complete(a, ret, &items[i], dir, err) < 0)
            return -1;
    }
    if (ret->endpoints.len)
        qsort(items, ret->endpoints.len, sizeof(*items), compare_endpoints);
    return 0;
}

int stall_parse(const char *text, struct stall *ret, struct error *err)
{
    const char *slash = strchr(text, '/');
    char every[32];

    if (!slash || (size_t)(slash - text) >= sizeof(every))
        return error_set(err, ERROR_USAGE, "'%s' is no stall: EVERY/FOR, for instance 10s/2s", text);
    snprintf(every, sizeof(every), "%.*s", (int)(slash - text), text);
    if (duration_parse(every, &ret->every_ns, err) < 0 || duration_parse(slash + 1, &ret->for_ns, err) < 0)
        return error_wrap(err, "stall");
    if (ret->for_ns < 1 || ret->for_ns >= ret->every_ns)
        return error_set(err, ERROR_USAGE, "a stall must be shorter than the time to the next");
    return 0;
}

static bool answers(const struct endpoint *e, const char *path, size_t len)
{
    return (e->is_prefix ? len >= e->path_len : len == e->path_len) &&
           memcmp(e->path, path, e->path_len) == 0;
}

struct endpoint *config_find(const struct config *c, const char *path, size_t len)
{
    struct endpoint *items = c->endpoints.items;

    for (size_t i = 0; i < c->endpoints.len; i++) {
        if (answers(&items[i], path, len))
            return &items[i];
    }
    return NULL;
}
