/* SPDX-License-Identifier: MIT */
#include "ask.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/hash.h"

#define ANSWER_MAX ((size_t)4 << 20)
#define ASK_TIMEOUT_NS (2 * NS_PER_S)
#define CONNECT_NS (NS_PER_S) /* it has been ready: that is soon */
#define HEADERS_MAX 64

struct waiting {
    struct asked *asked;
    struct arena *arena;
    bool done;
};

void asked_release(struct asked *a)
{
    strbuf_release(&a->body);
}

/* References of the run, then what the generator fills in. NULL: it needs what only the generator has. */
static const char *fill(struct trial_run *t, const char *text, uint64_t number)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    struct workload_template *template;
    struct error ignored = ERROR_INIT;
    struct rng rng;
    const struct workload_values values = {
        .counter = number, .vu = 1, .iteration = number, .id = "0", .rng = &rng};
    const char *expanded;

    if (run_expand(t, text, &expanded, &ignored) < 0 || strstr(expanded, "{{env."))
        return NULL;
    if (workload_template_compile(expanded, strlen(expanded), NULL, t->arena, &template, &ignored) < 0)
        return NULL;
    rng_seed(&rng, number);
    workload_template_render(template, &values, &out);
    return arena_strdup(t->arena, strbuf_text(&out));
}

static const char *const *fill_headers(struct trial_run *t, const struct load_get *get, uint64_t number)
{
    const char **all = arena_array(t->arena, const char *, HEADERS_MAX + 1);
    size_t n = 0;

    for (size_t k = 0; k < ARRAY_LEN(get->headers); k++)
        for (size_t i = 0; get->headers[k] && i < get->headers[k]->len && n < HEADERS_MAX; i++) {
            const struct text_pair *h = &get->headers[k]->items[i];
            const char *value = fill(t, h->value, number);
            if (value && !strpbrk(value, "\r\n"))
                all[n++] = arena_printf(t->arena, "%s: %s", h->key, value);
        }
    return all;
}

static bool is_expected(const struct load_get *get, int status)
{
    const struct text_list *wanted = get->expect ? &get->expect->status : NULL;
    int first, last;

    for (size_t i = 0; wanted && i < wanted->len; i++)
        if (workload_status_range(wanted->items[i], &first, &last) && status >= first && status <= last)
            return true;
    return (!wanted || !wanted->len) && status >= 200 && status < 400;
}

static void on_done(const struct http_result *r, void *data)
{
    struct waiting *w = data;

    w->done = true;
    w->asked->ok = r->ok;
    w->asked->status = r->status;
    w->asked->took_ns = r->finished_ns - r->started_ns;
    w->asked->content_type = arena_strdup(w->arena, r->content_type);
    strbuf_add(&w->asked->body, r->body ? r->body : "", r->body_len);
}

int ask(struct trial_run *t, const struct load_get *get, uint64_t number, struct asked *ret,
        struct error *err)
{
    const struct load_settings *l = &t->settings->load;
    struct waiting w = {.asked = ret, .arena = t->arena};
    struct http_request *request = NULL;
    struct error e = ERROR_INIT;
    const char *target, *path = fill(t, get->path, number);

    *ret = (struct asked){.body = STRBUF_INIT};
    if (!path || run_expand(t, l->target ? l->target : "${app.url}", &target, &e) < 0)
        return 0;
    ret->request = arena_printf(t->arena, "GET %s", get->path);
    const struct http_options o = {
        .url = arena_printf(t->arena, "%s%s", target, path),
        .headers = fill_headers(t, get, number),
        .max_body = ANSWER_MAX,
        .timeout_ns = ASK_TIMEOUT_NS,
        .connect_timeout_ns = CONNECT_NS,
        .done = on_done,
        .data = &w,
    };
    if (http_start(t->sweep->http, &o, &request, &e) < 0)
        return 0;
    int64_t deadline_ns = clock_now_ns() + 2 * ASK_TIMEOUT_NS;
    while (!w.done && sweep_wait(t->sweep, &w.done, deadline_ns, &e) == 0)
        ;
    if (!w.done) {
        http_cancel(request);
        ret->ok = false;
        if (e.kind != ERROR_TIMEOUT) {
            *err = e;
            return -1;
        }
    }
    ret->ok = ret->ok && is_expected(get, ret->status);
    return 0;
}
