/* SPDX-License-Identifier: MIT */
/* The server's thread: connections, requests, and which reply is due. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include "scripted_internal.h"

#define TICK_MS 3

/* --- one request --- */

static void complain(struct server *s, const char *what, const struct seen *request)
{
    if (!s->problem)
        s->problem = xasprintf("%s: %s %s\n%.2000s", what, request->method, request->path, request->body);
}

static const char *unmet(const struct expect *e, const struct seen *request)
{
    for (size_t i = 0; i < ARRAY_LEN(e->has) && e->has[i]; i++)
        if (!memmem(request->body, request->body_len, e->has[i], strlen(e->has[i])))
            return e->has[i];
    for (size_t i = 0; i < ARRAY_LEN(e->lacks) && e->lacks[i]; i++)
        if (memmem(request->body, request->body_len, e->lacks[i], strlen(e->lacks[i])))
            return e->lacks[i];
    return NULL;
}

static struct reply find_reply(struct server *s, const struct seen *request)
{
    const struct server_options *o = &s->options;
    struct reply r = {0};

    if (s->script_at < o->script_len && seen_matches(request, o->script[s->script_at].request)) {
        const struct expect *e = &o->script[s->script_at++];
        const char *part = unmet(e, request);
        if (part)
            complain(s, server_text(s, "the body should (not) have '%s'", part), request);
        return e->reply;
    }
    for (size_t i = 0; i < o->rules_len; i++) {
        if (!seen_matches(request, o->rules[i].request))
            continue;
        if (!o->rules[i].make)
            return o->rules[i].reply;
        o->rules[i].make(s, request, &r, o->rules[i].data);
        return r;
    }
    const char *wanted = s->script_at < o->script_len ? o->script[s->script_at].request : "nothing more";
    complain(s, server_text(s, "unexpected request while waiting for '%s'", wanted), request);
    return (struct reply){.status = 599, .body = "{\"message\": \"the script does not expect this\"}"};
}

static enum failure due_failure(struct server *s, const struct seen *request)
{
    if (!s->fail_in || (s->fail_pattern && !seen_matches(request, s->fail_pattern)) || --s->fail_in)
        return FAIL_NOTHING;
    return s->fail_how;
}

void connection_queue(struct connection *c, const char *bytes, size_t len, int64_t due_ns)
{
    if (len)
        vec_push(&c->out,
                 (struct piece){.bytes = memcpy(xmalloc(len), bytes, len), .len = len, .due_ns = due_ns});
}

static void send_reply(struct connection *c, struct seen *request, const struct reply *r)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;
    int64_t due_ns = clock_now_ns() + r->delay_ms * NS_PER_MS;
    size_t total, step;

    reply_compose(r, &bytes);
    total = r->cut_after && r->cut_after < bytes.len ? r->cut_after : bytes.len;
    step = r->piece ? r->piece : total;
    for (size_t at = 0; at < total; at += step, due_ns += r->piece_delay_ms * NS_PER_MS)
        connection_queue(c, bytes.data + at, total - at < step ? total - at : step, due_ns);
    c->close_after = r->end == END_CLOSE || r->cut_after;
    if (r->end == END_OPEN)
        c->stream = request;
}

static void answer(struct server *s, struct connection *c, struct seen *request)
{
    enum failure how = due_failure(s, request);
    struct reply r = {.status = 500, .body = "{\"message\": \"injected failure\"}"};

    if (how == FAIL_HANG) {
        c->hanging = true;
        return;
    }
    if (how == FAIL_NOTHING || how == FAIL_LOST || how == FAIL_CUT)
        r = find_reply(s, request);
    if (how == FAIL_CUT)
        r.cut_after = 30;
    if (how == FAIL_CLOSE || how == FAIL_LOST)
        c->close_after = true;
    else
        send_reply(c, request, &r);
}

static void handle_input(struct server *s, struct connection *c)
{
    struct seen one;
    int taken;

    if (c->stream || c->hanging || c->close_after || c->out_at < c->out.len)
        return;
    taken = seen_take(&c->in, &one);
    if (taken < 0 && !s->problem)
        s->problem = xasprintf("not an HTTP request: %.200s", strbuf_text(&c->in));
    if (taken < 0) {
        static const char refusal[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
        connection_queue(c, refusal, sizeof(refusal) - 1, clock_now_ns());
        c->close_after = true;
    }
    if (taken <= 0)
        return;
    struct seen *kept = xmalloc(sizeof(*kept));
    *kept = one;
    kept->connection = c->number;
    vec_push(&s->seen, kept);
    answer(s, c, kept);
}

/* --- connections --- */

void peer_free(struct connection *c)
{
    (void)close(c->fd);
    for (size_t i = c->out_at; i < c->out.len; i++)
        free(c->out.items[i].bytes);
    vec_release(&c->out);
    strbuf_release(&c->in);
    free(c);
}

static void accept_one(struct server *s)
{
    struct connection *c;
    int fd = accept4(s->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return;
    c = xcalloc(1, sizeof(*c));
    c->fd = fd;
    c->number = ++s->connection_count;
    vec_push(&s->connections, c);
}

/* False when the peer has gone. */
static bool receive(struct connection *c)
{
    char buffer[65536];
    ssize_t n = recv(c->fd, buffer, sizeof(buffer), 0);

    if (n > 0)
        strbuf_add(&c->in, buffer, (size_t)n);
    return n > 0 || (n < 0 && errno == EAGAIN);
}

/* Sends what is due; false when the connection is over. */
static bool transmit(struct connection *c, int64_t now_ns)
{
    while (c->out_at < c->out.len && c->out.items[c->out_at].due_ns <= now_ns) {
        struct piece *p = &c->out.items[c->out_at];
        ssize_t n = send(c->fd, p->bytes + p->sent, p->len - p->sent, MSG_NOSIGNAL);

        if (n < 0)
            return errno == EAGAIN;
        p->sent += (size_t)n;
        if (p->sent < p->len)
            return true;
        free(p->bytes);
        c->out_at++;
    }
    return c->out_at < c->out.len || !c->close_after;
}

static int wait_ms(const struct connection *c, int64_t now_ns, int least)
{
    if (c->out_at == c->out.len)
        return least;
    int64_t left = (c->out.items[c->out_at].due_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS;
    int ms = left < 0 ? 0 : (int)left;

    return least < 0 || ms < least ? ms : least;
}

static void serve(struct server *s, const struct pollfd *fds)
{
    int64_t now_ns = clock_now_ns();
    size_t kept = 0;

    for (size_t i = 0; i < s->connections.len; i++) {
        struct connection *c = s->connections.items[i];
        bool alive = !(fds[i + 2].revents & (POLLIN | POLLHUP | POLLERR)) || receive(c);

        if (alive)
            handle_input(s, c);
        if (alive && transmit(c, now_ns))
            continue;
        s->connections.items[i] = NULL; /* replies that are made meanwhile may push to all of them */
        peer_free(c);
    }
    for (size_t i = 0; i < s->connections.len; i++)
        if (s->connections.items[i])
            s->connections.items[kept++] = s->connections.items[i];
    s->connections.len = kept;
    if (fds[0].revents)
        accept_one(s);
}

static struct pollfd *wanted(struct server *s, int *ret_ms)
{
    struct pollfd *fds = xcalloc(s->connections.len + 2, sizeof(*fds));
    int64_t now_ns = clock_now_ns();

    *ret_ms = -1;
    fds[0] = (struct pollfd){.fd = s->listening, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = s->wake, .events = POLLIN};
    for (size_t i = 0; i < s->connections.len; i++) {
        struct connection *c = s->connections.items[i];
        bool due = c->out_at < c->out.len && c->out.items[c->out_at].due_ns <= now_ns;

        fds[i + 2] = (struct pollfd){.fd = c->fd, .events = (short)(POLLIN | (due ? POLLOUT : 0))};
        if (!due)
            *ret_ms = wait_ms(c, now_ns, *ret_ms);
    }
    return fds;
}

void *serve_thread(void *data)
{
    struct server *s = data;
    uint64_t woken;
    int ms;

    (void)pthread_mutex_lock(&s->lock);
    while (!s->stopping) {
        CLEANUP_FREE struct pollfd *fds = wanted(s, &ms);
        if (s->options.tick && (ms < 0 || ms > TICK_MS))
            ms = TICK_MS;
        nfds_t count = s->connections.len + 2;

        (void)pthread_mutex_unlock(&s->lock);
        (void)poll(fds, count, ms);
        (void)pthread_mutex_lock(&s->lock);
        if (fds[1].revents)
            (void)!read(s->wake, &woken, sizeof(woken));
        serve(s, fds);
        if (s->options.tick)
            s->options.tick(s, s->options.data);
    }
    (void)pthread_mutex_unlock(&s->lock);
    return NULL;
}
