/* SPDX-License-Identifier: MIT */
#include "plain.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include "benchctl/base/clock.h"
#include "plain_message.h"

#define BUFFER_SIZE ((size_t)64 << 10)
#define SKIP_FROM ((uint64_t)16 << 10) /* bodies of which more is left are discarded in the kernel */
#define SKIP_MOST ((uint64_t)1 << 30)
#define LONG_IDLE_NS (10 * NS_PER_MS) /* from then on a look whether the server has closed is worth it */

static struct plain *plain_of(const struct plain_channel *c)
{
    return (struct plain *)c->base.transport;
}

/* --- ends of an exchange --- */

static void forget_message(struct plain_channel *c)
{
    free(c->copy);
    c->copy = NULL;
    c->unsent_len = 0;
}

static void finish(struct plain_channel *c, enum request_error error, const char *detail)
{
    struct exchange *x = c->base.x;

    forget_message(c);
    if (c->answer.headed)
        x->status = c->answer.status;
    channel_finish(&c->base, error, detail); /* c may be gone */
}

static void finish_broken(struct plain_channel *c, enum request_error error, const char *detail)
{
    plain_close(c);
    finish(c, error, detail);
}

static void finish_whole(struct plain_channel *c, bool more_came)
{
    struct exchange *x = c->base.x;
    struct answer_facts facts = {.status = c->answer.status,
                                 .grpc_status = -1,
                                 .header_ok = c->answer.header_ok,
                                 .body = c->answer.body,
                                 .body_len = c->answer.body_len};
    const char *detail;

    x->done_ns = clock_now_ns();
    enum request_error error = answer_judge(x, &facts, &detail);
    bool clean = !more_came && !c->peer_closed && !c->unsent_len;
    if (clean && answer_promises_close(&c->answer))
        plain_close_after_peer(c);
    else if (!clean || !c->answer.keep || x->kind->close)
        plain_close(c);
    else
        c->idle_since_ns = x->done_ns;
    finish(c, error, detail);
}

/* --- sending --- */

/* What was rendered lies in a buffer that the next one needs. */
static void keep_unsent(struct plain_channel *c)
{
    if (c->copy || c->base.x->kind->message || !c->unsent_len)
        return;
    c->copy = xmalloc(c->unsent_len);
    memcpy(c->copy, c->unsent, c->unsent_len);
    c->unsent = c->copy;
}

/* 0: sent, or the rest is sent when there is room; else errno. */
static int send_message(struct plain_channel *c)
{
    ssize_t n = send(c->fd, c->unsent, c->unsent_len, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n < 0 && errno != EAGAIN && errno != EINTR)
        return errno;
    if (n > 0) {
        c->unsent += n;
        c->unsent_len -= (size_t)n;
    }
    keep_unsent(c);
    return 0;
}

static void watch_for(struct plain_channel *c)
{
    loop_set_fd(c->watch, LOOP_READ | LOOP_PEER_CLOSED | (c->unsent_len ? LOOP_WRITE : 0u));
}

static const char *render(struct plain_channel *c, const struct exchange *x)
{
    const struct request_kind *k = x->kind;
    struct plain *t = plain_of(c);

    if (k->message) {
        c->unsent = k->message;
        c->unsent_len = k->message_len;
        return NULL;
    }
    const char *problem = message_render(k, x->values, &t->message, &t->body);
    c->unsent = t->message.data;
    c->unsent_len = problem ? 0 : t->message.len;
    return problem;
}

static void opened(struct plain_channel *c)
{
    c->state = PLAIN_OPEN;
    plain_of(c)->preferred = c->address;
    channel_connected(&c->base);
}

/* On this machine and on its bridges a connection is mostly there when connect() returns. */
static int send_at_once(struct plain_channel *c)
{
    size_t whole = c->unsent_len;
    int errnum = send_message(c);

    if (errnum)
        errnum = plain_connect_next(c, errnum);
    if (errnum)
        return errnum;
    if (c->unsent_len < whole)
        opened(c);
    if (c->unsent_len)
        watch_for(c);
    keep_unsent(c);
    return 0;
}

static void start_on_new(struct plain_channel *c, struct exchange *x)
{
    x->new_connection = true;
    channel_connecting(&c->base, x->sent_ns);
    int errnum = plain_connect(c);
    if (!errnum)
        errnum = send_at_once(c);
    if (!errnum)
        return;
    forget_message(c);
    if (connect_error(errnum) == REQUEST_GENERATOR)
        x->sent_ns = 0;
    channel_finish_later(&c->base, connect_error(errnum), errno_text(errnum));
}

static void plain_start(struct channel *base, struct exchange *x)
{
    struct plain_channel *c = (struct plain_channel *)base;
    const char *problem = render(c, x);

    if (problem) {
        channel_finish_later(base, REQUEST_GENERATOR, problem);
        return;
    }
    answer_begin(&c->answer, x->kind);
    x->sent_ns = clock_now_ns();
    if (c->state == PLAIN_OPEN) {
        if ((x->sent_ns - c->idle_since_ns < LONG_IDLE_NS || plain_still_good(c)) && send_message(c) == 0) {
            if (c->unsent_len)
                watch_for(c);
            return;
        }
        plain_close(c); /* seen before anything of the request was sent */
    }
    start_on_new(c, x);
}

/* --- events --- */

/* True when connected. */
static bool finish_connecting(struct plain_channel *c)
{
    int errnum = 0;
    socklen_t len = sizeof(errnum);

    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &errnum, &len) == 0 && errnum == 0) {
        opened(c);
        return true;
    }
    errnum = plain_connect_next(c, errnum);
    if (!errnum) {
        watch_for(c);
        return false;
    }
    channel_connected(&c->base);
    finish(c, connect_error(errnum), errno_text(errnum));
    return false;
}

/*
 * The rest of a body that nobody looks at is not even copied out of the kernel: TCP takes MSG_TRUNC so.
 * Without the C library's recv(), of which sanitizers believe that it fills the buffer.
 */
static ssize_t receive_some(struct plain_channel *c, bool *ret_skipped)
{
    uint64_t skip = answer_skippable(&c->answer);

    *ret_skipped = skip >= SKIP_FROM;
    if (*ret_skipped)
        return syscall(SYS_recvfrom, c->fd, NULL, skip < SKIP_MOST ? skip : SKIP_MOST,
                       MSG_TRUNC | MSG_DONTWAIT, NULL, NULL);
    return recv(c->fd, plain_of(c)->buffer, BUFFER_SIZE, MSG_DONTWAIT);
}

static void on_end(struct plain_channel *c)
{
    if (answer_close(&c->answer) == ANSWER_WHOLE)
        finish_whole(c, false);
    else
        finish_broken(c, REQUEST_RESET,
                      c->base.x->received_bytes ? "closed before the whole answer was there"
                                                : "closed without an answer");
}

static void receive(struct plain_channel *c)
{
    enum answer_result result;
    size_t used;
    bool skipped;
    ssize_t n = receive_some(c, &skipped);

    if (n < 0) {
        if (errno != EAGAIN && errno != EINTR)
            finish_broken(c, REQUEST_RESET, errno_text(errno));
        return;
    }
    if (n == 0) {
        on_end(c);
        return;
    }
    c->base.x->received_bytes += (uint64_t)n;
    if (skipped) {
        used = (size_t)n;
        result = answer_skip(&c->answer, used);
    } else {
        plain_of(c)->buffer[n] = '\0'; /* regexec() may look for an end */
        result = answer_feed(&c->answer, plain_of(c)->buffer, (size_t)n, &used);
    }
    if (result == ANSWER_WHOLE)
        finish_whole(c, used < (size_t)n);
    else if (result == ANSWER_BAD)
        finish_broken(c, REQUEST_PROTOCOL, c->answer.problem);
}

/* False when that ended the exchange. */
static bool send_rest(struct plain_channel *c)
{
    int errnum = send_message(c);

    if (errnum == ENOBUFS || errnum == ENOMEM) {
        finish_broken(c, REQUEST_GENERATOR, errno_text(errnum));
        return false;
    }
    if (errnum) { /* it may have answered before it closed: that is read first */
        c->unsent_len = 0;
        c->peer_closed = true;
    }
    watch_for(c);
    return true;
}

void plain_on_event(int fd, unsigned events, void *data)
{
    struct plain_channel *c = data;

    (void)fd;
    if (!c->base.x) { /* the server closes an idle connection, or says what nobody asked for */
        plain_close(c);
        return;
    }
    if (c->state == PLAIN_CONNECTING) {
        if (!finish_connecting(c))
            return;
        events |= LOOP_WRITE;
    }
    c->peer_closed |= (events & (LOOP_PEER_CLOSED | LOOP_HANGUP)) != 0;
    if ((events & LOOP_WRITE) && c->unsent_len && !send_rest(c))
        return;
    if (events & (LOOP_READ | LOOP_PEER_CLOSED | LOOP_HANGUP))
        receive(c);
}

/* --- the interface --- */

static struct channel *plain_channel_new(struct transport *t)
{
    struct plain_channel *c = xcalloc(1, sizeof(*c));

    (void)t;
    c->fd = -1;
    return &c->base;
}

static void plain_stop(struct channel *base)
{
    struct plain_channel *c = (struct plain_channel *)base;

    plain_close(c);
    forget_message(c);
}

static void plain_disconnect(struct channel *base)
{
    plain_close((struct plain_channel *)base);
}

static void plain_channel_free(struct channel *base)
{
    struct plain_channel *c = (struct plain_channel *)base;

    plain_close(c);
    forget_message(c);
    answer_release(&c->answer);
    free(c);
}

static struct transport *plain_make(struct loop *l, const struct workload *w, struct error *err)
{
    struct plain *t = xcalloc(1, sizeof(*t));

    (void)l;
    (void)w;
    (void)err;
    TAILQ_INIT(&t->endings);
    t->buffer = xmalloc(BUFFER_SIZE + 1);
    return &t->base;
}

static int plain_prepare(struct transport *t, struct request_kind *k, struct arena *a, struct error *err)
{
    (void)t;
    (void)err;
    message_prepare(k, a);
    return 0;
}

static void plain_free(struct transport *base)
{
    struct plain *t = (struct plain *)base;

    plain_end_all(t);
    strbuf_release(&t->message);
    strbuf_release(&t->body);
    free(t->buffer);
    free(t);
}

const struct transport_ops plain_ops = {.name = "plain",
                                        .make = plain_make,
                                        .free = plain_free,
                                        .prepare = plain_prepare,
                                        .channel_new = plain_channel_new,
                                        .channel_free = plain_channel_free,
                                        .start = plain_start,
                                        .stop = plain_stop,
                                        .disconnect = plain_disconnect};
