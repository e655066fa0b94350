/* SPDX-License-Identifier: MIT */
/* Which requests of the load can be asked by ourselves: GET, which changes nothing. */
#include "ask.h"

static bool is_asked_already(const struct load_get *all, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].path, path) == 0)
            return true;
    return false;
}

/* Rows of a file are the generator's. */
static bool is_plain_get(const struct workload_request *r)
{
    return text_equal(r->method, "GET") && !r->grpc && !r->body && !r->body_file &&
           !strstr(r->path, "{{row.") && r->weight > 0;
}

static size_t of_workload(const struct workload *w, struct load_get *ret, size_t max)
{
    const struct workload_request *requests = w->requests.items;
    size_t n = 0;

    for (size_t i = 0; i < w->requests.len && n < max; i++)
        if (is_plain_get(&requests[i]) && !is_asked_already(ret, n, requests[i].path))
            ret[n++] =
                (struct load_get){requests[i].path, {&w->headers, &requests[i].headers}, &requests[i].expect};
    return n;
}

/* Other generators get one path; what sends a body or asks by another method does not GET it. */
static bool gets_its_path(const struct load_settings *l)
{
    const struct node *method = l->options ? node_get(l->options, "method") : NULL;

    return !l->script && !(l->options && node_get(l->options, "body")) &&
           (!method || (method->kind == NODE_SCALAR && strcmp(method->text, "GET") == 0));
}

static bool changes_something(const struct workload *w)
{
    const struct workload_request *requests = w ? w->requests.items : NULL;

    for (size_t i = 0; w && i < w->requests.len; i++)
        if (requests[i].grpc ||
            (!text_equal(requests[i].method, "GET") && !text_equal(requests[i].method, "HEAD")))
            return true;
    return false;
}

/* SQL that counts what a load of GET requests has written: then these do write, and ours would be counted. */
static bool would_be_counted(const struct settings *st)
{
    const struct check_settings *checks = st->checks.items;
    bool sql = false;

    for (size_t i = 0; i < st->checks.len; i++)
        sql |= checks[i].sql != NULL;
    return sql && !changes_something(st->load.workload);
}

size_t load_gets(struct trial_run *t, struct load_get *ret, size_t max)
{
    const struct load_settings *l = &t->settings->load;

    if (!max || !t->adapter || !load_adapter_program(t->adapter->adapter) || would_be_counted(t->settings))
        return 0;
    if (l->workload)
        return of_workload(l->workload, ret, max);
    if (!gets_its_path(l))
        return 0;
    ret[0] = (struct load_get){.path = l->path ? l->path : "/"};
    return 1;
}
