/* SPDX-License-Identifier: MIT */
#include "peer.h"

#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include "benchctl/base/clock.h"

struct peer_link {
    struct peer *peer;
    struct peer_link *next;
    struct loop_fd *watch;
    struct loop_timer *timer;
    struct strbuf in;
    const struct peer_step *step; /* being answered */
    size_t len, sent;
    int fd;
};

static void link_free(struct peer_link *k, enum peer_end how)
{
    struct peer *p = k->peer;

    for (struct peer_link **at = &p->links; *at; at = &(*at)->next)
        if (*at == k) {
            *at = k->next;
            break;
        }
    p->open--;
    loop_remove_fd(k->watch);
    loop_remove_timer(k->timer);
    if (how == PEER_RESET)
        (void)setsockopt(k->fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1}, sizeof(struct linger));
    (void)close(k->fd);
    strbuf_release(&k->in);
    free(k);
}

static void next_request(struct peer_link *k);

static void step_over(struct peer_link *k)
{
    enum peer_end end = k->step->end;

    k->step = NULL;
    if (end == PEER_CLOSE || end == PEER_RESET)
        link_free(k, end);
    else if (end == PEER_SILENT)
        loop_set_fd(k->watch, 0);
    else
        next_request(k);
}

static void send_piece(void *data)
{
    struct peer_link *k = data;
    size_t left = k->len - k->sent;
    size_t n = k->step->piece && k->step->piece < left ? k->step->piece : left;
    ssize_t sent = send(k->fd, k->step->answer + k->sent, n, MSG_NOSIGNAL | MSG_DONTWAIT);

    k->sent += sent > 0 ? (size_t)sent : 0;
    if (k->sent < k->len)
        loop_set_timer(k->timer, clock_now_ns() + 1, 0);
    else
        step_over(k);
}

static void begin_step(struct peer_link *k)
{
    struct peer *p = k->peer;

    k->step = &p->steps[p->step];
    if (p->step + 1 < p->step_count)
        p->step++;
    k->sent = 0;
    k->len = k->step->len || !k->step->answer ? k->step->len : strlen(k->step->answer);
    if (k->step->answer)
        send_piece(k);
    else
        step_over(k);
}

/* Length of the first whole request in `in`, or 0. */
static size_t whole_request(const struct strbuf *in)
{
    const char *end = in->len ? strstr(in->data, "\r\n\r\n") : NULL, *length;

    if (!end)
        return 0;
    size_t head = (size_t)(end - in->data) + 4, body = 0;
    length = strcasestr(in->data, "\r\nContent-Length:");
    if (length && length < end)
        body = strtoul(length + 17, NULL, 10);
    return in->len >= head + body ? head + body : 0;
}

static void next_request(struct peer_link *k)
{
    size_t len = whole_request(&k->in);

    if (!len)
        return;
    strbuf_add(&k->peer->seen, k->in.data, len);
    strbuf_consume(&k->in, len);
    k->peer->requests++;
    begin_step(k);
}

static void on_bytes(int fd, unsigned events, void *data)
{
    struct peer_link *k = data;
    char buffer[65536];
    ssize_t n = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);

    if (n <= 0) {
        if (n == 0 || (events & LOOP_HANGUP))
            link_free(k, PEER_CLOSE);
        return;
    }
    strbuf_add(&k->in, buffer, (size_t)n);
    if (!k->step)
        next_request(k);
}

static void on_connect(int fd, unsigned events, void *data)
{
    struct peer *p = data;
    struct peer_link *k = xcalloc(1, sizeof(*k));

    (void)events;
    k->fd = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    assert(k->fd >= 0);
    (void)setsockopt(k->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    k->peer = p;
    k->next = p->links;
    p->links = k;
    p->connections++;
    p->open++;
    k->timer = loop_add_timer(p->loop, LOOP_FOREVER, 0, send_piece, k);
    k->watch = loop_add_fd(p->loop, k->fd, LOOP_READ, on_bytes, k);
    if (p->steps[p->step].at_once)
        begin_step(k);
}

void peer_start(struct peer *p, struct loop *l, const struct peer_step *steps, size_t count)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } at = {0};
    socklen_t len = p->v6 ? sizeof(at.v6) : sizeof(at.v4);

    if (p->v6)
        at.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    else
        at.v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    *p = (struct peer){.loop = l, .steps = steps, .step_count = count, .v6 = p->v6};
    p->listener = socket(at.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (p->listener < 0 || bind(p->listener, &at.any, len) < 0 || listen(p->listener, 1000) < 0 ||
        getsockname(p->listener, &at.any, &len) < 0)
        return; /* port 0: no such network here */
    p->port = ntohs(p->v6 ? at.v6.sin6_port : at.v4.sin_port);
    p->watch = loop_add_fd(l, p->listener, LOOP_READ, on_connect, p);
}

void peer_say(struct peer *p, const char *bytes)
{
    for (struct peer_link *k = p->links; k; k = k->next)
        (void)!send(k->fd, bytes, strlen(bytes), MSG_NOSIGNAL);
}

void peer_end_all(struct peer *p, enum peer_end how)
{
    while (p->links)
        link_free(p->links, how);
}

void peer_stop(struct peer *p)
{
    peer_end_all(p, PEER_CLOSE);
    loop_remove_fd(p->watch);
    if (p->listener >= 0)
        (void)close(p->listener);
    strbuf_release(&p->seen);
}
