/* SPDX-License-Identifier: MIT */
/* Connections of the plain path: made, looked at, ended. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include "plain.h"

static struct plain *plain_of(const struct plain_channel *c)
{
    return (struct plain *)c->base.transport;
}

void plain_close(struct plain_channel *c)
{
    if (c->state == PLAIN_CLOSED)
        return;
    loop_remove_fd(TAKE(c->watch));
    (void)close(c->fd);
    c->fd = -1;
    c->state = PLAIN_CLOSED;
    c->peer_closed = false;
}

/* --- connections that are waited for --- */

#define ENDINGS_MAX 500

struct plain_ending {
    struct plain *transport;
    struct loop_fd *watch;
    int fd;
    TAILQ_ENTRY(plain_ending) link;
};

static void end(struct plain_ending *e)
{
    TAILQ_REMOVE(&e->transport->endings, e, link);
    e->transport->ending_count--;
    loop_remove_fd(e->watch);
    (void)close(e->fd);
    free(e);
}

static void on_ending(int fd, unsigned events, void *data)
{
    (void)fd;
    (void)events;
    end(data);
}

void plain_close_after_peer(struct plain_channel *c)
{
    struct plain *t = plain_of(c);
    struct plain_ending *e = xmalloc(sizeof(*e));

    if (t->ending_count == ENDINGS_MAX)
        end(TAILQ_FIRST(&t->endings));
    *e = (struct plain_ending){.transport = t, .watch = TAKE(c->watch), .fd = c->fd};
    loop_hand_over_fd(e->watch, on_ending, e);
    TAILQ_INSERT_TAIL(&t->endings, e, link);
    t->ending_count++;
    c->fd = -1;
    c->state = PLAIN_CLOSED;
}

void plain_end_all(struct plain *t)
{
    struct plain_ending *e;

    while ((e = TAILQ_FIRST(&t->endings)))
        end(e);
}

/* --- connecting --- */

bool plain_still_good(const struct plain_channel *c)
{
    char byte;

    return recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static int connect_to(struct plain_channel *c, const struct sockaddr *at, socklen_t len)
{
    static const int on = 1;
    int fd = socket(at->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return errno;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(fd, at, len) < 0 && errno != EINPROGRESS) {
        int errnum = errno;
        (void)close(fd);
        return errnum;
    }
    c->watch = loop_try_add_fd(c->base.transport->loop, fd, LOOP_READ | LOOP_PEER_CLOSED, plain_on_event, c);
    if (!c->watch) {
        int errnum = errno;
        (void)close(fd);
        return errnum;
    }
    c->fd = fd;
    c->state = PLAIN_CONNECTING;
    c->peer_closed = false;
    return 0;
}

/* Tries addresses until connecting to one has begun. */
static int connect_from(struct plain_channel *c, int errnum)
{
    const struct addresses *all = &c->base.transport->addresses;

    while (c->tried < all->len) {
        errnum =
            connect_to(c, (const struct sockaddr *)&all->items[c->address].at, all->items[c->address].len);
        if (!errnum || connect_error(errnum) != REQUEST_CONNECT)
            return errnum;
        c->tried++;
        c->address = (uint8_t)((c->address + 1) % all->len);
    }
    return errnum;
}

int plain_connect(struct plain_channel *c)
{
    c->tried = 0;
    c->address = (uint8_t)plain_of(c)->preferred;
    return connect_from(c, 0);
}

int plain_connect_next(struct plain_channel *c, int errnum)
{
    plain_close(c);
    if (connect_error(errnum) != REQUEST_CONNECT)
        return errnum;
    c->tried++;
    c->address = (uint8_t)((c->address + 1) % c->base.transport->addresses.len);
    return connect_from(c, errnum);
}
