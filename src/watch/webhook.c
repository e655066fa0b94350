/* SPDX-License-Identifier: MIT */
/* Deliveries: one request at a time, in order, each with a deadline and a few tries. */
#include <stdio.h>
#include <string.h>
#include "benchctl/http.h"
#include "internal.h"

#define SENT_MAX 20                 /* per process: whoever is told more often stops to listen */
#define BODY_MAX ((size_t)16 << 10) /* chat services take this much */
#define TRIES 3
#define TIMEOUT_NS (10 * NS_PER_S)
#define RETRY_NS (2 * NS_PER_S) /* then four times as long */
#define ANSWER_MAX ((size_t)64 << 10)

struct delivery {
    enum watch_event event;
    char *body;
    size_t len;
};

struct webhook {
    struct loop *loop;
    struct http *http;
    struct http_request *request;
    struct loop_timer *retry;
    char *url, *peer;
    char host[256];
    struct webhook_options options;
    VEC(struct delivery) queue;
    int sent, tries;
    bool idle, told;
};

int webhook_host(const char *url, char *ret, size_t size)
{
    size_t scheme = strncasecmp(url, "https://", 8) == 0 ? 8 : strncasecmp(url, "http://", 7) == 0 ? 7 : 0;
    const char *host = url + scheme;
    size_t len = strcspn(host, "/?#\\");

    for (const char *at; (at = memchr(host, '@', len));) {
        len -= (size_t)(at + 1 - host);
        host = at + 1;
    }
    if (!scheme || !len || len >= size)
        return -1;
    for (size_t i = 0; i < len; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]", host[i]))
            return -1;
    (void)snprintf(ret, size, "%.*s", (int)len, host);
    return 0;
}

static void start(struct webhook *h);

static void next(struct webhook *h)
{
    if (h->queue.len) {
        free(h->queue.items[0].body);
        h->queue.len--;
        memmove(h->queue.items, h->queue.items + 1, h->queue.len * sizeof(h->queue.items[0]));
    }
    h->tries = 0;
    h->idle = h->queue.len == 0;
    if (!h->idle)
        start(h);
}

/* One that is lost is told of once: the receiver is away, and that is known then. */
static void give_up(struct webhook *h, enum watch_event event, const char *why)
{
    if (!h->told && h->options.lost)
        h->options.lost(watch_event_name(event), h->host, why, h->options.data);
    h->told = true;
}

static void failed(struct webhook *h, const char *why, bool again)
{
    if (again && h->tries < TRIES) {
        int64_t pause_ns = h->options.retry_ns > 0 ? h->options.retry_ns : RETRY_NS;
        for (int i = 1; i < h->tries; i++)
            pause_ns *= 4;
        loop_set_timer(h->retry, clock_now_ns() + pause_ns, 0);
        return;
    }
    give_up(h, h->queue.items[0].event, why);
    next(h);
}

static void on_done(const struct http_result *r, void *data)
{
    struct webhook *h = data;
    char why[64];

    h->request = NULL;
    if (!r->ok && !(r->truncated && r->status >= 200 && r->status < 300)) {
        failed(h, r->error.message, true);
        return;
    }
    if (r->status >= 200 && r->status < 300) {
        next(h);
        return;
    }
    (void)snprintf(why, sizeof(why), "it answered with status %d%s", r->status,
                   r->status >= 300 && r->status < 400 ? ": redirects are not followed" : "");
    failed(h, why, r->status >= 500 || r->status == 429 || r->status == 408);
}

static void start(struct webhook *h)
{
    static const char *const headers[] = {"Content-Type: application/json", "Accept: */*", NULL};
    const struct http_endpoint endpoint = {.verify = true, .use_proxy = true, .name = h->peer};
    const struct delivery *d = &h->queue.items[0];
    const struct http_options o = {
        .endpoint = &endpoint,
        .method = "POST",
        .url = h->url,
        .headers = headers,
        .body = d->body,
        .body_len = d->len,
        .max_body = ANSWER_MAX,
        .timeout_ns = h->options.timeout_ns > 0 ? h->options.timeout_ns : TIMEOUT_NS,
        .fresh_connection = true, /* they are minutes apart */
        .done = on_done,
        .data = h,
    };
    struct error err = ERROR_INIT;

    h->tries++;
    if (http_start(h->http, &o, &h->request, &err) < 0)
        failed(h, err.message, true); /* by the timer, so not from inside here */
}

static void on_retry(void *data)
{
    start(data);
}

int webhook_open(struct loop *l, const struct webhook_options *o, struct webhook **ret, struct error *err)
{
    CLEANUP(webhook_close) struct webhook *h = xcalloc(1, sizeof(*h));

    h->loop = l;
    h->options = *o;
    h->idle = true;
    if (webhook_host(o->url, h->host, sizeof(h->host)) < 0) {
        (void)error_set(err, ERROR_INVALID, "the webhook is not an http or https URL");
        return error_hint(err, "it is not shown, for it is a secret; look at 'notify.webhook'");
    }
    if (http_new(l, &h->http, err) < 0)
        return -1;
    h->url = xstrdup(o->url);
    h->options.url = h->url;
    h->peer = xasprintf("the webhook at '%s'", h->host);
    h->retry = loop_add_timer(l, LOOP_FOREVER, 0, on_retry, h);
    *ret = TAKE(h);
    return 0;
}

void webhook_send(struct webhook *h, enum watch_event event, const char *body, size_t len)
{
    if (!h || h->sent >= SENT_MAX + (event == WATCH_EVENT_FINISHED))
        return;
    if (len > BODY_MAX) {
        give_up(h, event, "what there is to tell is too long");
        return;
    }
    h->sent++;
    vec_push(&h->queue, ((struct delivery){.event = event, .body = xstrndup(body, len), .len = len}));
    if (!h->idle)
        return;
    h->idle = false;
    start(h);
}

void webhook_drain(struct webhook *h, int64_t deadline_ns)
{
    struct error err = ERROR_INIT;

    if (!h || h->idle)
        return;
    loop_shield(h->loop, +1);
    if (loop_wait_until(h->loop, &h->idle, deadline_ns, &err) < 0)
        give_up(h, h->queue.items[0].event, "no time was left for it");
    loop_shield(h->loop, -1);
}

void webhook_close(struct webhook *h)
{
    if (!h)
        return;
    vec_each (d, &h->queue)
        free(d->body);
    vec_release(&h->queue);
    loop_remove_timer(h->retry);
    http_free(h->http);
    free(h->url);
    free(h->peer);
    free(h);
}
