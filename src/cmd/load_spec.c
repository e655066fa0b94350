/* SPDX-License-Identifier: MIT */
#include "load_spec.h"

#include <math.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/units.h"

static const struct position nowhere;

static struct node *map_new(struct arena *a)
{
    return node_new(a, NODE_MAP, nowhere);
}

static void push(struct arena *a, struct node *n, const char *key, const struct node *value)
{
    const struct node **keys = arena_array(a, const struct node *, n->len + 1),
                      **items = arena_array(a, const struct node *, n->len + 1);

    for (size_t i = 0; i < n->len; i++) {
        if (key)
            keys[i] = n->keys[i];
        items[i] = n->items[i];
    }
    if (key)
        keys[n->len] = node_new_text(a, key, nowhere);
    items[n->len++] = value;
    n->keys = key ? keys : NULL;
    n->items = items;
}

static void put(struct arena *a, struct node *map, const char *key, const char *value)
{
    if (value)
        push(a, map, key, node_new_text(a, value, nowhere));
}

static void put_bool(struct arena *a, struct node *map, const char *key, const char *value)
{
    struct node *n = node_new_text(a, value, nowhere);

    n->quoted = false; /* true and false in quotes are text */
    push(a, map, key, n);
}

/* "Name: value". */
static int put_headers(const struct load_spec *s, struct arena *a, struct node *map, struct error *err)
{
    struct node *headers = map_new(a);

    for (size_t i = 0; i < s->headers.len; i++) {
        const char *text = s->headers.items[i], *colon = strchr(text, ':');
        if (!colon || colon == text)
            return error_set(err, ERROR_USAGE, "'%s' is no header: 'Name: value'", text);
        const char *name = arena_strndup(a, text, (size_t)(colon - text));
        if (node_get(headers, name))
            return error_set(err, ERROR_USAGE, "header '%s' is given twice", name);
        put(a, headers, name, colon + 1 + strspn(colon + 1, " "));
    }
    if (headers->len)
        push(a, map, "headers", headers);
    return 0;
}

/* "30s:200". */
static int put_stages(const struct load_spec *s, struct arena *a, struct node *phase, double *ret_most,
                      struct error *err)
{
    struct node *list = node_new(a, NODE_LIST, nowhere);

    for (size_t i = 0; i < s->stages.len; i++) {
        const char *text = s->stages.items[i], *colon = strchr(text, ':');
        struct error inner = ERROR_INIT;
        int64_t ns;
        double target;
        if (!colon || number_parse(colon + 1, &target, err) < 0)
            return error_set(err, ERROR_USAGE, "'%s' is no stage: DURATION:TARGET, for instance 30s:200",
                             text);
        struct node *stage = map_new(a);
        const char *duration = arena_strndup(a, text, (size_t)(colon - text));
        if (duration_parse(duration, &ns, &inner) < 0) {
            (void)error_set(err, ERROR_USAGE, "'--stage %s': %s", text, inner.message);
            return error_hint(err, "%s", inner.hint);
        }
        put(a, stage, "duration", duration);
        put(a, stage, "target", colon + 1);
        push(a, list, NULL, stage);
        *ret_most = fmax(*ret_most, target);
    }
    push(a, phase, "stages", list);
    return 0;
}

/* With stages the one phase is a ramp: of the rate when one is given, else of VUs. */
static int put_ramp(const struct load_spec *s, struct arena *a, struct node *map, struct error *err)
{
    struct node *phase = map_new(a), *phases = node_new(a, NODE_LIST, nowhere);
    double most = 0;

    if (s->duration || s->iterations)
        return error_set(err, ERROR_USAGE, "'--stage' and '--%s' exclude each other",
                         s->duration ? "duration" : "iterations");
    put(a, phase, "executor", s->rate ? "ramping-arrival-rate" : "ramping-vus");
    if (put_stages(s, a, phase, &most, err) < 0)
        return -1;
    if (s->rate) {
        double vus = fmin(fmax(ceil(most), 10), 10000);
        put(a, phase, "start_rate", s->rate);
        put(a, phase, "pre_allocated_vus",
            s->vus       ? s->vus
            : s->max_vus ? s->max_vus
                         : arena_printf(a, "%.0f", vus));
        put(a, phase, "max_vus", s->max_vus);
        put(a, phase, "arrivals", s->arrivals);
    } else {
        put(a, phase, "start_vus", s->vus);
    }
    push(a, phases, NULL, phase);
    push(a, map, "phases", phases);
    return 0;
}

static void put_load(const struct load_spec *s, struct arena *a, struct node *map)
{
    put(a, map, "vus", s->vus);
    put(a, map, "duration", s->duration);
    put(a, map, "iterations", s->iterations);
    put(a, map, "rate", s->rate);
    put(a, map, "max_vus", s->max_vus);
    put(a, map, "arrivals", s->arrivals);
}

static void put_request(const struct load_spec *s, struct arena *a, struct node *map, const char *path)
{
    struct node *expect = map_new(a), *request = map_new(a), *list = node_new(a, NODE_LIST, nowhere);
    struct node *to = s->expect_status || s->expect_body ? request : map;

    put(a, to, "path", path);
    put(a, to, "method", s->method);
    put(a, to, "body", s->body);
    put(a, to, "body_file", s->body_file);
    if (to == map)
        return;
    struct node *statuses = node_new(a, NODE_LIST, nowhere);
    for (const char *at = s->expect_status; at && *at; at += strspn(at, ",")) {
        size_t len = strcspn(at, ",");
        push(a, statuses, NULL, node_new_text(a, arena_strndup(a, at, len), nowhere));
        at += len;
    }
    if (statuses->len)
        push(a, expect, "status", statuses);
    put(a, expect, "body", s->expect_body);
    push(a, request, "expect", expect);
    push(a, list, NULL, request);
    push(a, map, "requests", list);
}

/* Files that the workload names are beside it; those of options are where the caller is. */
static const char *from_here(const char *path, struct arena *a)
{
    CLEANUP_FREE char *whole = path ? realpath(path, NULL) : NULL;

    return whole ? arena_strdup(a, whole) : path;
}

/* What every workload may be given beside its file. */
static int put_common(const struct load_spec *s, struct arena *a, struct node *map, struct error *err)
{
    put(a, map, "timeout", s->timeout);
    put(a, map, "http", s->http);
    put(a, map, "processes", s->processes);
    put(a, map, "think", s->think);
    put(a, map, "seed", s->seed);
    put(a, map, "transport", s->transport);
    put(a, map, "ca_file", from_here(s->ca_file, a));
    if (s->insecure)
        put_bool(a, map, "insecure", "true");
    if (s->no_keepalive)
        put_bool(a, map, "keepalive", "false");
    return put_headers(s, a, map, err);
}

/* A URL is a target and the path of the one request. */
static int put_url(const struct load_spec *s, struct arena *a, struct node *map, const char **ret_path,
                   struct error *err)
{
    const char *scheme = strstr(s->url, "://"), *rest = scheme ? scheme + 3 : NULL;

    if (!rest)
        return error_set(err, ERROR_USAGE, "'%s' is no URL: http://HOST:PORT/PATH", s->url);
    size_t len = strcspn(rest, "/?#");
    put(a, map, "target", arena_strndup(a, s->url, (size_t)(rest - s->url) + len));
    *ret_path = rest[len] == '/' ? rest + len : arena_printf(a, "/%s", rest + len);
    return 0;
}

/* What is wrong with a value of an option is told with the option's name, not that of the key. */
static int name_option(const struct load_spec *s, struct error *err)
{
    const struct {
        const char *key, *option, *given;
    } all[] = {
        {"body", "expect-body", strstr(err->message, "regular expression") ? s->expect_body : NULL},
        {"body", "body", s->body},
        {"body_file", "body-file", s->body_file},
        {"status", "expect-status", s->expect_status},
        {"vus", "vus", s->vus},
        {"duration", "duration", s->duration},
        {"iterations", "iterations", s->iterations},
        {"rate", "rate", s->rate},
        {"max_vus", "max-vus", s->max_vus},
        {"arrivals", "arrivals", s->arrivals},
        {"method", "method", s->method},
        {"timeout", "timeout", s->timeout},
        {"think", "think", s->think},
        {"http", "http", s->http},
        {"transport", "transport", s->transport},
        {"processes", "processes", s->processes},
        {"seed", "seed", s->seed},
    };
    char message[sizeof(err->message)];

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        size_t len = strlen(all[i].key);
        if (!all[i].given || err->message[0] != '\'' || strncmp(err->message + 1, all[i].key, len) != 0 ||
            err->message[1 + len] != '\'')
            continue;
        (void)snprintf(message, sizeof(message), "'--%s%.*s", all[i].option, (int)sizeof(message) - 40,
                       err->message + 1 + len);
        memcpy(err->message, message, sizeof(message));
        break;
    }
    return -1;
}

static int from_options(const struct load_spec *s, struct arena *a, struct workload *ret, struct error *err)
{
    struct node *map = map_new(a);
    const char *path = "/";

    if (!s->url) {
        (void)error_set(err, ERROR_USAGE, "nothing to load: no URL and no '--spec'");
        return error_hint(err, "for instance `benchctl load -c 10 -d 30s http://127.0.0.1:8080/`");
    }
    if (put_url(s, a, map, &path, err) < 0 || put_common(s, a, map, err) < 0)
        return -1;
    put_request(s, a, map, path);
    if (s->stages.len == 0)
        put_load(s, a, map);
    else if (put_ramp(s, a, map, err) < 0)
        return -1;
    return workload_read(map, NULL, a, ret, err) < 0 ? name_option(s, err) : 0;
}

/* The file says what is requested, and a ramp is a phase of it. */
static int only_without_file(const struct load_spec *s, struct error *err)
{
    const struct {
        const char *option;
        bool given;
    } all[] = {
        {"method", s->method},
        {"body", s->body},
        {"body-file", s->body_file},
        {"expect-body", s->expect_body},
        {"expect-status", s->expect_status},
        {"stage", s->stages.len > 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (!all[i].given)
            continue;
        (void)error_set(err, ERROR_USAGE, "'--%s' and '--spec' exclude each other: the file says it",
                        all[i].option);
        return error_hint(
            err, "beside a file go a URL, -H, -t, -k, -p, --ca-file, --http, --no-keepalive, --seed, "
                 "--think, --transport and, when it has no 'phases', -c, -d, -n, -r, --max-vus, --arrivals");
    }
    return 0;
}

static int from_file(const struct load_spec *s, struct arena *a, struct workload *ret, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_FREE char *dir = path_dirname(s->file);
    struct node *over = map_new(a);
    const struct node *root;

    if (only_without_file(s, err) < 0)
        return -1;
    if (fs_read(s->file, TREE_MAX_BYTES, &text, err) < 0 ||
        tree_parse(strbuf_text(&text), text.len, arena_strdup(a, s->file), a, &root, err) < 0)
        return -1;
    put(a, over, "target", s->url);
    put_load(s, a, over);
    if (put_common(s, a, over, err) < 0)
        return -1;
    return workload_read(node_merge(a, root, over), arena_strdup(a, dir), a, ret, err) < 0
               ? name_option(s, err)
               : 0;
}

int load_spec_read(const struct load_spec *s, struct arena *a, struct workload *ret, struct error *err)
{
    return s->file ? from_file(s, a, ret, err) : from_options(s, a, ret, err);
}
