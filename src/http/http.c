/* SPDX-License-Identifier: MIT */
/* The multi handle on the loop: which sockets and timers libcurl wants watched, and requests that end. */
#include "benchctl/base/clock.h"
#include "http_internal.h"

static void settle(struct http *h);

/* --- libcurl's side: it may not be called back from here --- */

static void on_socket(int fd, unsigned events, void *data)
{
    struct http *h = data;
    int action = 0, running;

    if (events & LOOP_READ)
        action |= CURL_CSELECT_IN;
    if (events & LOOP_WRITE)
        action |= CURL_CSELECT_OUT;
    if (events & LOOP_HANGUP)
        action |= CURL_CSELECT_ERR;
    h->inside = true;
    (void)curl_multi_socket_action(h->multi, fd, action, &running);
    h->inside = false;
    settle(h);
}

static void on_timer(void *data)
{
    struct http *h = data;
    int running;

    h->inside = true;
    (void)curl_multi_socket_action(h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    h->inside = false;
    settle(h);
}

static int want_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *socket_data)
{
    struct http *h = data;
    struct loop_fd *watch = socket_data;
    unsigned events = 0;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        loop_remove_fd(watch);
        (void)curl_multi_assign(h->multi, fd, NULL);
        return 0;
    }
    if (what & CURL_POLL_IN)
        events |= LOOP_READ;
    if (what & CURL_POLL_OUT)
        events |= LOOP_WRITE;
    if (watch) {
        loop_set_fd(watch, events);
    } else {
        watch = loop_add_fd(h->loop, fd, events, on_socket, h);
        (void)curl_multi_assign(h->multi, fd, watch);
    }
    return 0;
}

static int want_timer(CURLM *multi, long timeout_ms, void *data)
{
    struct http *h = data;

    (void)multi;
    loop_set_timer(h->timer, timeout_ms < 0 ? LOOP_FOREVER : clock_now_ns() + timeout_ms * NS_PER_MS, 0);
    return 0;
}

/* --- requests that end --- */

static void unlink_request(struct http_request *r)
{
    struct http *h = r->http;

    if (r->previous)
        r->previous->next = r->next;
    else
        h->requests = r->next;
    if (r->next)
        r->next->previous = r->previous;
    if (r->added)
        (void)curl_multi_remove_handle(h->multi, r->easy);
    r->added = false;
}

static void finish(struct http_request *r, const struct error *failure)
{
    struct http_result result = {.ok = failure == NULL, .status = r->status, .truncated = r->truncated};

    if (failure)
        result.error = *failure;
    result.body = strbuf_text(&r->body);
    result.body_len = r->body.len;
    result.content_type = request_content_type(r);
    result.content_encoding = request_content_encoding(r);
    result.started_ns = r->started_ns;
    result.finished_ns = clock_now_ns();
    unlink_request(r);
    if (!r->cancelled)
        r->done(&result, r->data);
    request_free(r);
}

static int add_to_multi(struct http_request *r, struct error *err)
{
    CURLMcode code = curl_multi_add_handle(r->http->multi, r->easy);

    if (code != CURLM_OK)
        return error_set(err, ERROR_ENVIRONMENT, "cannot send a request to %s: %s", r->peer,
                         curl_multi_strerror(code));
    r->added = true;
    return 0;
}

static bool take_message(struct http *h, struct http_request **ret, CURLcode *ret_code)
{
    CURLMsg *m;
    int left;

    while ((m = curl_multi_info_read(h->multi, &left))) {
        if (m->msg != CURLMSG_DONE)
            continue;
        *ret_code = m->data.result;
        (void)curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, ret);
        return true;
    }
    return false;
}

/* One request that was cancelled or started while libcurl was running. */
static struct http_request *find_deferred(const struct http *h)
{
    for (struct http_request *r = h->requests; r; r = r->next)
        if (r->cancelled || !r->added)
            return r;
    return NULL;
}

/* What waited until libcurl had returned. Callbacks may change the list, so each search starts anew. */
static void settle(struct http *h)
{
    struct http_request *r;
    CURLcode code;

    while (take_message(h, &r, &code)) {
        struct error err = ERROR_INIT;

        if (code == CURLE_OK && !r->headers_done)
            code = CURLE_PARTIAL_FILE; /* libcurl is content with a head that ends in the middle */
        if (code != CURLE_OK)
            describe_failure(r, code, &err);
        finish(r, code == CURLE_OK ? NULL : &err);
    }
    while ((r = find_deferred(h))) {
        struct error err = ERROR_INIT;

        if (r->cancelled) {
            unlink_request(r);
            request_free(r);
        } else if (add_to_multi(r, &err)) {
            finish(r, &err);
        }
    }
}

static void on_idle(void *data)
{
    struct http_request *r = data;
    int64_t due_ns = r->last_byte_ns + r->idle_timeout_ns;
    struct error err = ERROR_INIT;

    if (due_ns > clock_now_ns()) {
        loop_set_timer(r->idle_timer, due_ns, 0);
        return;
    }
    describe_failure(r, CURLE_OPERATION_TIMEDOUT, &err);
    finish(r, &err);
}

/* --- the interface --- */

int http_new(struct loop *l, struct http **ret, struct error *err)
{
    CLEANUP(http_free) struct http *h = xcalloc(1, sizeof(*h));

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return error_set(err, ERROR_ENVIRONMENT, "cannot initialise libcurl");
    h->loop = l;
    h->multi = curl_multi_init();
    if (!h->multi)
        return error_set(err, ERROR_ENVIRONMENT, "cannot initialise libcurl");
    h->timer = loop_add_timer(l, LOOP_FOREVER, 0, on_timer, h);
    (void)curl_multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, want_socket);
    (void)curl_multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
    (void)curl_multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, want_timer);
    (void)curl_multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
    (void)curl_multi_setopt(h->multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
    *ret = TAKE(h);
    return 0;
}

void http_free(struct http *h)
{
    struct http_request *r;

    if (!h)
        return;
    while ((r = h->requests)) {
        unlink_request(r);
        request_free(r);
    }
    if (h->multi)
        (void)curl_multi_cleanup(h->multi);
    loop_remove_timer(h->timer);
    curl_global_cleanup();
    free(h);
}

int http_start(struct http *h, const struct http_options *options, struct http_request **ret,
               struct error *err)
{
    struct http_request *r;

    if (!options->url || !*options->url)
        return error_set(err, ERROR_INVALID, "a request without a URL");
    r = request_new(h, options);
    r->next = h->requests;
    if (h->requests)
        h->requests->previous = r;
    h->requests = r;
    if (!h->inside && add_to_multi(r, err)) {
        unlink_request(r);
        request_free(r);
        return -1;
    }
    if (r->idle_timeout_ns > 0)
        r->idle_timer = loop_add_timer(h->loop, r->started_ns + r->idle_timeout_ns, 0, on_idle, r);
    if (ret)
        *ret = r;
    return 0;
}

void http_cancel(struct http_request *r)
{
    if (!r)
        return;
    r->cancelled = true;
    if (r->http->inside)
        return;
    unlink_request(r);
    request_free(r);
}
