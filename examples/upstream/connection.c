/* SPDX-License-Identifier: MIT */
/*
 * A connection from its first byte to its last. Edge-triggered: it is registered once and never again, and
 * bytes that come while an answer is awaited stay in the socket.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "benchctl/base/hash.h"
#include "server_internal.h"

void connection_new(struct server *s, int fd)
{
    struct connection *c = xcalloc(1, sizeof(*c));
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};

    c->fd = fd;
    c->timer.place = TIMER_NONE;
    c->in.max = 4 * READ_BYTES;
    if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
        close(fd);
        free(c);
        return;
    }
    c->next = s->first;
    if (c->next)
        c->next->previous = c;
    s->first = c;
    if (++s->connections > s->connections_peak)
        s->connections_peak = s->connections;
}

static void count_begin(struct server *s, struct connection *c)
{
    struct counters *both[] = {&s->all, &c->station->counters};

    c->counts = true;
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        if (++both[i]->in_flight > both[i]->peak)
            both[i]->peak = both[i]->in_flight;
    }
}

/* The exchange is over: answered, failed, or given up by the client. */
static void count_end(struct server *s, struct connection *c, bool aborted)
{
    const struct failure *f = c->fate.failure;

    if (!c->counts)
        return;
    c->counts = false;
    s->all.in_flight--;
    c->station->counters.in_flight--;
    if (aborted) {
        s->all.aborted++;
        c->station->counters.aborted++;
    } else if (!f) {
        s->all.served++;
        c->station->counters.served++;
    }
    if (f) /* what was meant to happen, also to a client that did not wait for it */
        c->station->counters.failures[f - c->station->endpoint->failures.items]++;
}

void connection_close(struct server *s, struct connection *c, bool reset)
{
    const struct linger linger = {.l_onoff = 1, .l_linger = 0};

    count_end(s, c, true);
    timers_remove(&s->timers, &c->timer);
    if (reset)
        (void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    close(c->fd);
    if (c->previous)
        c->previous->next = c->next;
    else
        s->first = c->next;
    if (c->next)
        c->next->previous = c->previous;
    s->connections--;
    strbuf_release(&c->in);
    strbuf_release(&c->out);
    free(c);
}

/* The last answer is out. Bytes that nobody has read would make the kernel send RST, which may overtake it:
 * they are read and thrown away until the client has closed, for a while. */
static void end_gently(struct server *s, struct connection *c)
{
    c->state = CONNECTION_DRAIN;
    strbuf_release(&c->in);
    (void)shutdown(c->fd, SHUT_WR);
    timers_set(&s->timers, &c->timer, s->now_ns + LINGER_NS);
}

/* Everything is written. */
static void answered(struct server *s, struct connection *c)
{
    count_end(s, c, false);
    strbuf_release(&c->out);
    c->out_at = 0;
    c->station = NULL;
    if (c->ends)
        end_gently(s, c);
    else
        c->state = CONNECTION_HEAD;
}

/* Writes; what the socket does not take is kept. False: the connection is gone. */
static bool write_bytes(struct server *s, struct connection *c, const char *bytes, size_t len)
{
    ssize_t sent = send(c->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        connection_close(s, c, false);
        return false;
    }
    size_t done = sent > 0 ? (size_t)sent : 0;
    if (done == len) {
        answered(s, c);
        return true;
    }
    c->state = CONNECTION_WRITE;
    if (bytes >= c->out.data && c->out.len && bytes <= c->out.data + c->out.len)
        c->out_at += done;
    else
        strbuf_add(&c->out, bytes + done, len - done);
    return true;
}

static enum ending ending_of(const struct connection *c)
{
    return c->ends ? ENDING_CLOSE : c->old ? ENDING_KEEP_ALIVE : ENDING_DEFAULT;
}

static bool answer_with(struct server *s, struct connection *c, int status, const char *type,
                        const struct strbuf *body)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    struct answer_head head = {
        .old = s->config->http == 1, .status = status, .content_type = type, .ending = ending_of(c)};

    answer_add_head(&out, &head, body->len);
    if (!c->only_head && answer_has_body(status))
        strbuf_add(&out, strbuf_text(body), body->len);
    return write_bytes(s, c, out.data, out.len);
}

static bool answer_text(struct server *s, struct connection *c, int status, const char *text)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf body = STRBUF_INIT;

    strbuf_adds(&body, text);
    return answer_with(s, c, status, "text/plain", &body);
}

static bool answer_garbage(struct server *s, struct connection *c)
{
    char bytes[64];
    struct rng random;

    rng_seed(&random, c->fate.random);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)rng_next(&random);
    bytes[0] = '\0'; /* by no chance a status line */
    c->ends = true;
    return write_bytes(s, c, bytes, sizeof(bytes));
}

/* How much of an answer is sent. */
static size_t cut(const struct connection *c, bool truncated, size_t head_len, size_t len)
{
    if (c->only_head)
        return head_len;
    if (!truncated)
        return len;
    return len > head_len ? head_len + (len - head_len) / 2 : head_len / 2;
}

/* The endpoint's answer: prepared, or rendered when the request came. */
static bool answer_endpoint(struct server *s, struct connection *c)
{
    enum ending ending = ending_of(c);
    bool truncated = c->fate.failure && c->fate.failure->kind == FAILURE_TRUNCATE;
    struct station *st = c->station;

    c->ends |= truncated; /* its head does not say so */
    if (!st->endpoint->is_template)
        return write_bytes(s, c, st->answers[ending].data,
                           cut(c, truncated, st->head_len[ending], st->answers[ending].len));
    const char *body = memmem(c->out.data, c->out.len, "\r\n\r\n", 4);
    c->out.len = cut(c, truncated, (size_t)(body + 4 - c->out.data), c->out.len);
    return write_bytes(s, c, c->out.data, c->out.len);
}

/* The answer's time has come. False: the connection is gone. */
static bool answer(struct server *s, struct connection *c)
{
    const struct failure *f = c->fate.failure;

    switch (f ? f->kind : FAILURE_NONE) {
    case FAILURE_RESET:
    case FAILURE_CLOSE:
        count_end(s, c, false);
        connection_close(s, c, f->kind == FAILURE_RESET);
        return false;
    case FAILURE_GARBAGE:
        return answer_garbage(s, c);
    case FAILURE_STATUS:
        return answer_text(s, c, f->status, "failed as configured\n");
    default:
        return answer_endpoint(s, c);
    }
}

/* Templates are rendered when the request comes: its bytes are gone when the answer is due. */
static void render(struct server *s, struct connection *c, const struct request *r, uint64_t counter)
{
    const struct endpoint *e = c->station->endpoint;
    CLEANUP_VALUE(strbuf_release) struct strbuf body = STRBUF_INIT;
    const struct answer_values values = {
        .path = r->path, .id = r->id, .counter = counter, .random = c->fate.random};
    struct answer_head head = {.old = s->config->http == 1,
                               .status = (int)e->status,
                               .content_type = e->content_type,
                               .ending = ending_of(c)};

    body.max = ANSWER_MAX_BYTES;
    answer_add_body(&body, e, &values);
    answer_add_head(&c->out, &head, body.len);
    if (!c->only_head && answer_has_body(head.status))
        strbuf_add(&c->out, strbuf_text(&body), body.len);
}

static struct station *find_station(struct server *s, struct slice path)
{
    const struct endpoint *e = config_find(s->config, path.text, path.len);

    return e ? &s->stations[e - (const struct endpoint *)s->config->endpoints.items] : NULL;
}

/* A request of the server's own, or for nobody: its answer is put into `out`. */
static void begin_own(struct server *s, struct connection *c, const struct request *r)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf body = STRBUF_INIT;
    struct answer_head head = {.old = s->config->http == 1, .status = 200, .ending = ending_of(c)};

    head.content_type = "text/plain";
    if (slice_equal(r->path, "/__health")) {
        strbuf_adds(&body, "ok\n");
    } else if (slice_equal(r->path, "/__stats")) {
        head.content_type = "application/json";
        stats_write(s, &body);
    } else if (slice_equal(r->path, "/__reset") && slice_equal(r->method, "POST")) {
        stats_reset(s);
        strbuf_adds(&body, "ok\n");
    } else {
        bool wrong_method = slice_equal(r->path, "/__reset");
        head.status = wrong_method ? 405 : 404;
        s->not_found += !wrong_method;
        strbuf_adds(&body, wrong_method ? "POST resets\n" : "no such endpoint\n");
    }
    answer_add_head(&c->out, &head, body.len);
    if (!c->only_head)
        strbuf_add(&c->out, body.data, body.len);
}

static void begin_endpoint(struct server *s, struct connection *c, const struct request *r)
{
    struct station *st = c->station;
    uint64_t counter = st->counters.requests++;
    uint64_t key = r->id.len ? fate_key_of_id(r->id.text, r->id.len) : fate_key_of_count(st->counted++);

    s->all.requests++;
    c->fate = fate_decide(st->endpoint, (uint64_t)s->config->seed, key);
    if (st->endpoint->is_template && (!c->fate.failure || c->fate.failure->kind == FAILURE_TIMEOUT ||
                                      c->fate.failure->kind == FAILURE_TRUNCATE))
        render(s, c, r, counter);
}

/* The request is there as a whole. False: the connection is gone. */
static bool dispatch(struct server *s, struct connection *c)
{
    if (!c->station)
        return write_bytes(s, c, c->out.data, c->out.len);
    count_begin(s, c);
    if (c->fate.delay_ns == 0)
        return answer(s, c);
    c->state = CONNECTION_WAIT;
    if (c->fate.delay_ns != UPSTREAM_NEVER)
        timers_set(&s->timers, &c->timer, s->now_ns + c->fate.delay_ns);
    return true;
}

static bool begin(struct server *s, struct connection *c, const struct request *r)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

    c->ends = s->config->close || !r->keep_alive;
    c->old = r->old || s->config->http == 1;
    c->only_head = slice_equal(r->method, "HEAD");
    c->fate = (struct fate){0};
    c->body = r->body;
    c->station = find_station(s, r->path);
    if (c->station)
        begin_endpoint(s, c, r);
    else
        begin_own(s, c, r);
    if (!r->has_body)
        return dispatch(s, c);
    c->state = CONNECTION_BODY;
    if (r->expects_continue)
        (void)send(c->fd, go_on, sizeof(go_on) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    return true;
}

static bool refuse(struct server *s, struct connection *c, int status)
{
    s->malformed++;
    c->ends = true;
    c->only_head = false;
    c->station = NULL;
    strbuf_release(&c->out);
    return answer_text(s, c, status, "malformed request\n");
}

/* Takes bytes as far as the connection is ready for them. Returns how many, or -1 when it is gone. */
static int64_t feed(struct server *s, struct connection *c, const char *bytes, size_t len)
{
    size_t used = 0;
    bool alive = true, done;

    while (alive && used < len && (c->state == CONNECTION_HEAD || c->state == CONNECTION_BODY)) {
        if (c->state == CONNECTION_HEAD) {
            struct request r;
            if (bytes[used] == '\r' || bytes[used] == '\n') { /* empty lines between requests */
                used++;
                continue;
            }
            int head = request_parse(bytes + used, len - used, s->config->id_header, &r);
            if (head == 0)
                break;
            alive = head < 0 ? refuse(s, c, -head) : begin(s, c, &r);
            used += head > 0 ? (size_t)head : len - used;
        } else {
            int64_t taken = body_take(&c->body, bytes + used, len - used, &done);
            used += taken < 0 ? len - used : (size_t)taken;
            alive = taken < 0 ? refuse(s, c, 400) : !done || dispatch(s, c);
        }
    }
    return alive ? (int64_t)used : -1;
}

/* Feeds what is held, then what was just read. False: the connection is gone. */
static bool take_in(struct server *s, struct connection *c, size_t fresh)
{
    bool held = c->in.len > 0;

    if (held)
        strbuf_add(&c->in, s->bytes, fresh);
    int64_t used = held ? feed(s, c, c->in.data, c->in.len) : feed(s, c, s->bytes, fresh);
    if (used < 0)
        return false;
    if (c->state == CONNECTION_DRAIN)
        return true;
    if (!held)
        strbuf_add(&c->in, s->bytes + used, fresh - (size_t)used);
    else
        strbuf_consume(&c->in, (size_t)used);
    if (c->in.len == 0 && c->in.cap)
        strbuf_release(&c->in);
    return true;
}

/* Goes on until it must wait: for bytes, for an answer's time, for the socket to take more, or for good. */
static void advance(struct server *s, struct connection *c)
{
    for (;;) {
        if (c->state == CONNECTION_WAIT || c->state == CONNECTION_WRITE)
            return;
        size_t before = c->in.len;
        if (c->state != CONNECTION_DRAIN && before) {
            if (!take_in(s, c, 0))
                return;
            if (c->in.len != before)
                continue;
        }
        if (!c->readable)
            return;
        ssize_t got = recv(c->fd, s->bytes, sizeof(s->bytes), MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN) {
            c->readable = false;
            return;
        }
        if (got <= 0) {
            connection_close(s, c, false);
            return;
        }
        /* A short read has emptied the socket: what comes later is an event of its own. */
        c->readable = c->half_closed || (size_t)got == sizeof(s->bytes);
        if (c->state != CONNECTION_DRAIN && !take_in(s, c, (size_t)got))
            return;
    }
}

void connection_event(struct server *s, struct connection *c, uint32_t events)
{
    if (events & (EPOLLIN | EPOLLRDHUP))
        c->readable = true;
    if (events & EPOLLRDHUP)
        c->half_closed = true;
    /* Gone, or (nobody who waits for an answer closes half) given up. */
    if (events & (EPOLLERR | EPOLLHUP) || (c->state == CONNECTION_WAIT && events & EPOLLRDHUP)) {
        connection_close(s, c, false);
        return;
    }
    if (c->state == CONNECTION_WRITE && events & EPOLLOUT &&
        !write_bytes(s, c, c->out.data + c->out_at, c->out.len - c->out_at))
        return;
    advance(s, c);
}

void connection_due(struct server *s, struct connection *c)
{
    timers_remove(&s->timers, &c->timer);
    if (c->state == CONNECTION_DRAIN)
        connection_close(s, c, false);
    else if (answer(s, c))
        advance(s, c);
}
