/* SPDX-License-Identifier: MIT */
/* libcurl's descriptors: on the loop, and whose they are. libcurl may not be called from here. */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include "curl.h"

static struct curl_socket *socket_at(struct curl_transport *t, int fd)
{
    while (t->sockets.len <= (size_t)fd)
        vec_push(&t->sockets, (struct curl_socket){.next_of_owner = -1});
    return &t->sockets.items[fd];
}

/*
 * There is no way to make libcurl close an idle connection, but it closes one whose end it sees: the
 * descriptor becomes a socket that has ended. To the server that is a close like any other.
 */
static void end_socket(struct curl_transport *t, int fd)
{
    loop_remove_fd(TAKE(socket_at(t, fd)->watch));
    (void)dup3(t->ended_fd, fd, O_CLOEXEC);
}

/* In HTTP/2 and TLS the server may have something to say at any time; in plain HTTP/1.1 that would be taken
 * for the next answer. */
static bool is_good(const struct curl_transport *t, int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    if (n < 0)
        return errno == EAGAIN;
    return n > 0 && (t->base.target.tls || t->sockets.items[fd].is_h2);
}

static void on_idle_event(struct curl_transport *t, int fd)
{
    if (is_good(t, fd))
        loop_remove_fd(TAKE(socket_at(t, fd)->watch)); /* libcurl reads it with the next request */
    else
        end_socket(t, fd);
}

static void on_event(int fd, unsigned events, void *data)
{
    struct curl_transport *t = data;
    struct curl_socket *s = socket_at(t, fd);
    int action = 0;

    if (!s->events) {
        on_idle_event(t, fd);
        return;
    }
    if (events & LOOP_READ)
        action |= CURL_CSELECT_IN;
    if (events & LOOP_WRITE)
        action |= CURL_CSELECT_OUT;
    if (events & LOOP_HANGUP)
        action |= CURL_CSELECT_ERR;
    curl_run(t, fd, action);
}

int curl_want_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *socket_data)
{
    struct curl_transport *t = data;
    struct curl_socket *s = socket_at(t, fd);

    (void)easy;
    (void)socket_data;
    if (what == CURL_POLL_REMOVE) {
        s->events = 0;
        if (s->watch)
            loop_set_fd(s->watch, LOOP_READ); /* no change for most, which only wait for an answer */
        return 0;
    }
    s->events = (what & CURL_POLL_IN ? LOOP_READ : 0u) | (what & CURL_POLL_OUT ? LOOP_WRITE : 0u);
    if (s->watch)
        loop_set_fd(s->watch, s->events);
    else
        s->watch = loop_try_add_fd(t->base.loop, fd, s->events, on_event, t);
    return s->watch ? 0 : -1;
}

curl_socket_t curl_open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *at)
{
    struct curl_channel *c = data;
    struct curl_transport *t = (struct curl_transport *)c->base.transport;
    const struct curl_kind *k = c->applied->curl;
    int fd;

    (void)purpose;
    if (c->kept_only) {
        c->connect_errnum = ECONNRESET;
        return CURL_SOCKET_BAD;
    }
    fd = socket(at->family, at->socktype | SOCK_CLOEXEC, at->protocol);
    if (fd < 0) {
        c->connect_errnum = errno;
        return CURL_SOCKET_BAD;
    }
    struct curl_socket *s = socket_at(t, fd);
    *s = (struct curl_socket){.owner = c, .is_h2 = k->wanted_version != 0, .next_of_owner = c->first_socket};
    c->first_socket = fd;
    if (c->base.x) {
        c->base.x->new_connection = true;
        if (c->base.queued == QUEUE_NONE)
            channel_connecting(&c->base, c->base.x->sent_ns);
    }
    return fd;
}

/* Called before each request is written. libcurl would write one again when a kept connection ends without an
 * answer; that is for us to count. */
int curl_connected(void *data, char *peer, char *local, int peer_port, int local_port)
{
    struct curl_channel *c = data;

    (void)peer;
    (void)local;
    (void)peer_port;
    (void)local_port;
    channel_connected(&c->base);
    if (c->written)
        return CURL_PREREQFUNC_ABORT;
    c->written = true;
    return CURL_PREREQFUNC_OK;
}

static void forget_owner(struct curl_transport *t, int fd)
{
    struct curl_channel *c = t->sockets.items[fd].owner;
    int *at = c ? &c->first_socket : NULL;

    while (at && *at >= 0 && *at != fd)
        at = &t->sockets.items[*at].next_of_owner;
    if (at && *at == fd)
        *at = t->sockets.items[fd].next_of_owner;
}

int curl_close_socket(void *data, curl_socket_t fd)
{
    struct curl_transport *t = data;
    struct curl_socket *s = socket_at(t, fd);

    if (s->owner && s->owner->added && !is_good(t, fd))
        s->owner->peer_gone = true;
    loop_remove_fd(s->watch);
    forget_owner(t, fd);
    *s = (struct curl_socket){.next_of_owner = -1};
    return close(fd);
}

void curl_end_sockets(struct curl_channel *c)
{
    struct curl_transport *t = (struct curl_transport *)c->base.transport;

    for (int fd = c->first_socket; fd >= 0; fd = t->sockets.items[fd].next_of_owner)
        end_socket(t, fd);
}

void curl_disown_sockets(struct curl_channel *c)
{
    struct curl_transport *t = (struct curl_transport *)c->base.transport;

    curl_end_sockets(c);
    while (c->first_socket >= 0) {
        struct curl_socket *s = &t->sockets.items[c->first_socket];
        c->first_socket = s->next_of_owner;
        s->owner = NULL;
        s->next_of_owner = -1;
    }
}

bool curl_check_sockets(struct curl_channel *c)
{
    struct curl_transport *t = (struct curl_transport *)c->base.transport;
    bool h2 = false;

    for (int fd = c->first_socket; fd >= 0; fd = t->sockets.items[fd].next_of_owner) {
        if (is_good(t, fd))
            h2 |= t->sockets.items[fd].is_h2;
        else
            end_socket(t, fd);
    }
    return h2;
}
