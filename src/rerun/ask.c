/* SPDX-License-Identifier: MIT */
/* What a bundle asks of the machine that runs it again. */
#include "benchctl/rerun.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "benchctl/base/fs.h"

#define REASONS_MAX 100             /* nobody reads more, and each is compared with all */
#define BODY_MAX ((size_t)16 << 20) /* of a request's body file that is looked at */

void rerun_reasons_release(struct rerun_reasons *r)
{
    vec_each (i, &r->items)
        free(*i);
    vec_release(&r->items);
}

void rerun_reason(struct rerun_reasons *r, const char *fmt, ...)
{
    char text[1024], shown[1024];
    va_list args;

    if (r->items.len > REASONS_MAX)
        return;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    (void)archive_printable(text, shown, sizeof(shown));
    vec_each (i, &r->items)
        if (strcmp(*i, shown) == 0)
            return;
    char *kept = xstrdup(r->items.len < REASONS_MAX ? shown : "and more that is not listed");
    vec_push(&r->items, kept);
}

/* --- files --- */

/* A "..", which is taken from where a link leads to, and not from where it lies. */
static bool goes_up(const char *rest)
{
    for (const char *p = rest; *p; p += strspn(p, "/")) {
        size_t n = strcspn(p, "/");
        if (n == 2 && p[0] == '.' && p[1] == '.')
            return true;
        p += n;
    }
    return false;
}

/* No link of `path` behind its first `top` bytes leads nowhere or has a ".." behind it. */
static bool links_are_plain(const char *path, size_t top)
{
    CLEANUP_FREE char *part = xstrdup(path);
    struct stat st;

    for (size_t i = top + 1; path[i - 1]; i++) {
        if (path[i] && path[i] != '/')
            continue;
        part[i] = '\0';
        if (lstat(part, &st) == 0 && S_ISLNK(st.st_mode) && (stat(part, &st) < 0 || goes_up(path + i)))
            return false;
        part[i] = path[i];
    }
    return true;
}

/* Where it leads to, or where what is there of it leads to, is the root or below it. */
static bool leads_within(const char *root, const char *path)
{
    CLEANUP_FREE char *top = realpath(root, NULL), *part = xstrdup(path);
    char *real, *slash;

    while (!(real = realpath(part, NULL)) && errno == ENOENT && (slash = strrchr(part, '/')) && slash != part)
        *slash = '\0';
    size_t len = top ? strlen(top) : 0;
    bool within = top && real && strncmp(real, top, len) == 0 && (real[len] == '/' || !real[len]);
    free(real);
    return within;
}

/* Within the restored tree by its text: absolute, below the root, and no ".." that leaves it; and so by what
 * is on the disk. */
static bool is_within(const char *root, const char *path)
{
    size_t len = strlen(root);

    return strncmp(path, root, len) == 0 && path[len] == '/' && rerun_path_height(path + len + 1) == 0 &&
           links_are_plain(path, len) && leads_within(root, path);
}

static void ask_file(const struct rerun_asked *a, const char *what, const char *path, struct rerun_reasons *r)
{
    if (!path)
        return;
    if (strstr(path, "${"))
        rerun_reason(r, "%s is a file whose name is known only while it runs: '%s'", what, path);
    else if (!is_within(a->root, path))
        rerun_reason(r, "%s is a file of this machine: '%s'", what, path);
}

/* --- containers --- */

static void ask_container(const struct rerun_asked *a, const struct container_settings *c,
                          struct rerun_reasons *r)
{
    for (size_t i = 0; i < c->binds.len; i++) {
        const char *bind = c->binds.items[i];
        rerun_reason(r, "'%s' mounts a part of this machine: '%s'%s", c->name, bind,
                     strstr(bind, "docker.sock") ? ", the engine's socket" : "");
    }
    if (!c->build)
        return;
    ask_file(a, "a build context", c->build->context, r);
    if (c->build->context && c->build->dockerfile) {
        CLEANUP_FREE char *path = path_join(c->build->context, c->build->dockerfile);
        ask_file(a, "a Dockerfile", path, r);
    }
}

static void ask_database(const struct rerun_asked *a, const struct database_settings *d,
                         struct rerun_reasons *r)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf shown = STRBUF_INIT;

    if (d->url) {
        text_add_masked(&shown, d->url);
        rerun_reason(r, "it empties and fills a database on a server of its choice: '%s'",
                     strbuf_text(&shown));
    }
    if (d->service)
        ask_container(a, d->service, r);
    for (size_t i = 0; i < d->schema.len; i++)
        ask_file(a, "a schema", d->schema.items[i], r);
}

/* --- load --- */

/* "${app.host}": the length, 0 when it is none; *ret_url: its last word is url. */
static size_t own_reference(const char *text, bool *ret_url)
{
    size_t n = strcspn(text, "}");
    const char *dot = NULL;

    if (strncmp(text, "${", 2) != 0 || text[n] != '}')
        return 0;
    for (const char *p = text + 2; p < text + n; p++) {
        bool word = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
                    *p == '_' || *p == '-';
        if (*p == '.' && !dot)
            dot = p;
        else if (!word)
            return 0;
    }
    size_t last = dot ? (size_t)(text + n - dot) : 0;
    *ret_url = last == 4 && strncmp(dot, ".url", 4) == 0;
    return *ret_url || (last == 5 && strncmp(dot, ".host", 5) == 0) ? n + 1 : 0;
}

/* Nothing that would make the host in front of it a part of something else. */
static bool ends_host(const char *text)
{
    if (*text == ':') {
        size_t n = strspn(text + 1, "0123456789");
        if (!n && strncmp(text + 1, "${", 2) == 0) {
            n = strcspn(text + 1, "}") + 1;
            if (n < 8 || strncmp(text + 1 + n - 6, ".port}", 6) != 0 || memchr(text + 1, '@', n))
                return false;
        }
        text += 1 + n;
    }
    return *text == '\0' || *text == '/' || *text == '?';
}

bool rerun_target_is_own(const char *target)
{
    static const char *const schemes[] = {"http://", "https://", "grpc://", ""};
    bool url = false;

    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        size_t scheme = strlen(schemes[i]);
        if (strncmp(target, schemes[i], scheme) != 0)
            continue;
        size_t n = own_reference(target + scheme, &url);
        if (!n || (url && scheme))
            return false;
        const char *rest = target + scheme + n;
        return url ? *rest == '\0' || *rest == '/' || *rest == '?' : ends_host(rest);
    }
    return false;
}

static void see_variable(const char *name, void *data)
{
    rerun_reason(data, "its requests carry the environment variable '%s' of this machine", name);
}

/* A text that the generator fills in may read the environment of this machine. */
static void ask_template(const char *text, size_t len, struct rerun_reasons *r)
{
    const struct workload_text whole = {text, len};
    struct error err = ERROR_INIT;

    if (text && workload_template_each_env(&whole, see_variable, r, &err) < 0)
        rerun_reason(r, "nobody can say what its requests carry: %s", err.message);
}

static void ask_text(const char *text, struct rerun_reasons *r)
{
    ask_template(text, text ? strlen(text) : 0, r);
}

static void ask_headers(const struct text_map *headers, struct rerun_reasons *r)
{
    for (size_t i = 0; i < headers->len; i++)
        ask_text(headers->items[i].value, r);
}

/* What cannot be read here may be read later. */
static void ask_body_file(const struct rerun_asked *a, const char *path, bool raw, struct rerun_reasons *r)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = {.max = BODY_MAX + 1};
    struct error err = ERROR_INIT;

    ask_file(a, "a request's body", path, r);
    if (!path || raw || !is_within(a->root, path))
        return;
    if (fs_read(path, BODY_MAX, &text, &err) < 0)
        rerun_reason(r, "nobody can say what its requests carry: %s", err.message);
    else
        ask_template(strbuf_text(&text), text.len, r);
}

static void ask_workload(const struct rerun_asked *a, const struct workload *w, struct rerun_reasons *r)
{
    const struct workload_request *requests = w->requests.items;

    ask_file(a, "the rows of the load", w->data, r);
    ask_file(a, "a certificate", w->ca_file, r);
    ask_text(w->path, r);
    ask_headers(&w->headers, r);
    if (!w->requests.len) { /* else the first of them has it, raw or not */
        ask_text(w->body, r);
        ask_body_file(a, w->body_file, false, r);
    }
    for (size_t i = 0; i < w->requests.len; i++) {
        ask_text(requests[i].path, r);
        ask_headers(&requests[i].headers, r);
        if (!requests[i].raw)
            ask_text(requests[i].body, r);
        ask_body_file(a, requests[i].body_file, requests[i].raw, r);
    }
}

/* An option that may name a file, or be taken for another one. */
static bool may_name_file(const struct node *n)
{
    if (!n)
        return false;
    if (n->kind == NODE_SCALAR && (strpbrk(n->text, "/@") || n->text[0] == '-'))
        return true;
    for (size_t i = 0; i < n->len; i++)
        if (may_name_file(n->items[i]))
            return true;
    return false;
}

/* What a generator on this machine may be told: how much, how fast, how long, and what is sent. Not where to:
 * who follows redirects follows the app to whatever listens on this machine. */
static const char *const harmless_options[] = {
    "arrival_rate",
    "async",
    "body",
    "concurrency",
    "connect_timeout",
    "connection",
    "connections",
    "content_type",
    "cpus",
    "h2c",
    "headers",
    "http2",
    "insecure",
    "iterations",
    "call",
    "keepalive",
    "latency_correction",
    "log",
    "max_body",
    "max_connections",
    "max_dropped",
    "max_vus",
    "max_workers",
    "method",
    "parallel",
    "processes",
    "rate",
    "rate_per_connection",
    "rate_unit",
    "request_count",
    "request_timeout",
    "response_timeout",
    "seed",
    "series",
    "stages",
    "streams",
    "threads",
    "thresholds",
    "tls",
    "users",
    "verify",
    "vus",
    "wait_at_end",
    "worker_rate",
    "workers",
};

static bool is_harmless(const char *key, const struct node *value)
{
    for (size_t i = 0; i < ARRAY_LEN(harmless_options); i++)
        if (strcmp(key, harmless_options[i]) == 0)
            return true;
    const char *text = value && value->kind == NODE_SCALAR ? value->text : "";
    return strcmp(key, "redirects") == 0 &&
           (strcmp(text, "false") == 0 || strcmp(text, "0") == 0 || strcmp(text, "-1") == 0);
}

static void ask_options(const struct load_settings *l, struct rerun_reasons *r)
{
    const struct node *n = l->options;

    if (may_name_file(n))
        rerun_reason(r, "the load generator '%s' runs on this machine with options that may name its files",
                     l->adapter);
    for (size_t i = 0; n && n->kind == NODE_MAP && i < n->len; i++)
        if (!is_harmless(n->keys[i]->text, n->items[i]))
            rerun_reason(r, "the load generator '%s' runs on this machine with the option '%s'", l->adapter,
                         n->keys[i]->text);
}

static void ask_generator(const struct rerun_asked *a, const struct load_settings *l, struct rerun_reasons *r)
{
    if (l->image)
        return;
    if (l->env.len) /* also of our own generator: LD_PRELOAD is one */
        rerun_reason(r, "the load generator runs on this machine with '%s' in its environment",
                     l->env.items[0].key);
    if (!a->generator_here)
        return;
    if (l->script)
        rerun_reason(r, "the load generator '%s' runs a script of the bundle on this machine: '%s'",
                     l->adapter, path_basename(l->script));
    ask_options(l, r);
}

static void ask_load(const struct rerun_asked *a, const struct load_settings *l, struct rerun_reasons *r)
{
    ask_file(a, "a load script", l->script, r);
    if (l->script && is_within(a->root, l->script)) { /* a container sees all of its directory */
        CLEANUP_FREE char *dir = path_dirname(l->script);
        if (!text_equal(dir, a->root))
            ask_file(a, "a load script's directory", dir, r);
    }
    ask_generator(a, l, r);
    if (l->adapter && strchr(l->adapter, '/'))
        rerun_reason(r, "its load adapter is a path: '%s'", l->adapter);
    if (l->target && !rerun_target_is_own(l->target))
        rerun_reason(r, "it makes load against what is no container of its own: '%s'", l->target);
    if (l->workload)
        ask_workload(a, l->workload, r);
}

void rerun_ask(const struct rerun_asked *a, struct rerun_reasons *ret)
{
    const struct settings *s = a->settings;
    const struct container_settings *services = s->services.items;

    if (s->network == NETWORK_HOST)
        rerun_reason(ret, "its containers share the network of this machine");
    ask_container(a, &s->app, ret);
    for (size_t i = 0; i < s->services.len; i++)
        ask_container(a, &services[i], ret);
    if (s->database)
        ask_database(a, s->database, ret);
    if (s->build)
        ask_container(a, &s->build->container, ret);
    ask_load(a, &s->load, ret);
    for (size_t i = 0; s->app.metrics && i < s->app.metrics->adapters.len; i++)
        if (strchr(s->app.metrics->adapters.items[i], '/'))
            rerun_reason(ret, "its metric adapter is a path: '%s'", s->app.metrics->adapters.items[i]);
}
