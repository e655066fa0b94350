/* SPDX-License-Identifier: MIT */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include "benchctl/base/clock.h"
#include "server_internal.h"

#define EVENTS 512
#define ACCEPTS 256 /* in a row, before those who are connected get their turn */

static void prepare_station(const struct config *c, const struct endpoint *e, struct station *st)
{
    struct answer_head head = {
        .old = c->http == 1, .status = (int)e->status, .content_type = e->content_type};

    st->endpoint = e;
    for (int i = 0; i < 3 && !e->is_template; i++) {
        head.ending = (enum ending)i;
        answer_add_head(&st->answers[i], &head, e->body_len);
        st->head_len[i] = st->answers[i].len;
        if (answer_has_body(head.status))
            strbuf_add(&st->answers[i], e->body_text, e->body_len);
    }
}

static int listen_on(struct server *s, struct error *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)s->config->port)};
    socklen_t len = sizeof(address);
    const int yes = 1;

    if (inet_pton(AF_INET, s->config->host, &address.sin_addr) != 1)
        return error_set(err, ERROR_INVALID, "host '%s' is no IPv4 address", s->config->host);
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->listener < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "socket");
    (void)setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    (void)setsockopt(s->listener, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)); /* inherited */
    if (bind(s->listener, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
        listen(s->listener, 65535) < 0 || getsockname(s->listener, (struct sockaddr *)&address, &len) < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "port %d of %s", (int)s->config->port,
                           s->config->host);
    s->port = ntohs(address.sin_port);
    return 0;
}

static int watch(struct server *s, int fd, void *data, struct error *err)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = data};

    if (fd < 0 || epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "epoll");
    return 0;
}

static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int server_new(const struct config *c, struct server **ret, struct error *err)
{
    CLEANUP(server_free) struct server *s = xcalloc(1, sizeof(*s));
    const struct endpoint *endpoints = c->endpoints.items;
    sigset_t signals;

    s->config = c;
    s->epoll = s->listener = s->signals = s->spare = -1;
    s->stations = xcalloc(c->endpoints.len + 1, sizeof(*s->stations));
    for (size_t i = 0; i < c->endpoints.len; i++)
        prepare_station(c, &endpoints[i], &s->stations[i]);
    raise_limit();
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    s->signals = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->spare = open("/", O_RDONLY | O_CLOEXEC);
    if (listen_on(s, err) < 0 || watch(s, s->signals, &s->signals, err) < 0 ||
        watch(s, s->listener, &s->listener, err) < 0)
        return -1;
    s->started_ns = s->now_ns = clock_now_ns();
    *ret = TAKE(s);
    return 0;
}

int server_port(const struct server *s)
{
    return s->port;
}

void server_free(struct server *s)
{
    if (!s)
        return;
    while (s->first)
        connection_close(s, s->first, false);
    for (size_t i = 0; i < s->config->endpoints.len; i++) {
        for (size_t k = 0; k < ARRAY_LEN(s->stations[i].answers); k++)
            strbuf_release(&s->stations[i].answers[k]);
    }
    const int fds[] = {s->epoll, s->listener, s->signals, s->spare};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    timers_release(&s->timers);
    free(s->stations);
    free(s);
}

static void refuse_connection(struct server *s, int fd)
{
    static const char text[] =
        "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

    s->refused++;
    (void)send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
}

/* No descriptor is left: with the spare one, one who waits is sent away, so that the others are told. */
static void shed(struct server *s)
{
    close(s->spare);
    int fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0)
        refuse_connection(s, fd);
    s->spare = open("/", O_RDONLY | O_CLOEXEC);
}

static void accept_some(struct server *s)
{
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE)
                shed(s);
            return;
        }
        s->accepted++;
        if (s->connections >= (uint64_t)s->config->max_connections)
            refuse_connection(s, fd);
        else
            connection_new(s, fd);
    }
}

static void serve_due(struct server *s)
{
    struct timer *t;

    while ((t = timers_first(&s->timers)) && t->due_ns <= s->now_ns)
        connection_due(s, (struct connection *)t);
}

/* Stalls begin `every` after the start and then each `every`. Answers nobody meanwhile; what comes waits in
 * the sockets, and latencies go on. */
static void stand_still(struct server *s)
{
    const struct stall *stall = s->config->stall;
    int64_t age = s->now_ns - s->started_ns, into = stall ? age % stall->every_ns : 0;

    if (!stall || age < stall->every_ns || into >= stall->for_ns)
        return;
    s->stalls++;
    int64_t end = s->now_ns + stall->for_ns - into;
    while (s->now_ns < end) {
        struct pollfd signals = {.fd = s->signals, .events = POLLIN};
        struct timespec left = {.tv_sec = (end - s->now_ns) / NS_PER_S,
                                .tv_nsec = (end - s->now_ns) % NS_PER_S};
        if (ppoll(&signals, 1, &left, NULL) > 0)
            return;
        s->now_ns = clock_now_ns();
    }
}

static int wait_for_events(struct server *s, struct epoll_event *events)
{
    const struct timer *next = timers_first(&s->timers);
    int64_t left = next ? next->due_ns - clock_now_ns() : 0;
    struct timespec timeout;

    left = left < 0 ? 0 : left;
    timeout = (struct timespec){.tv_sec = left / NS_PER_S, .tv_nsec = left % NS_PER_S};
    int count = epoll_pwait2(s->epoll, events, EVENTS, next ? &timeout : NULL, NULL);
    if (count < 0 && (errno == ENOSYS || errno == EPERM)) /* before Linux 5.11, or an older seccomp profile */
        count = epoll_wait(s->epoll, events, EVENTS, next ? (int)((left + NS_PER_MS - 1) / NS_PER_MS) : -1);
    return count;
}

int server_run(struct server *s, struct error *err)
{
    struct epoll_event events[EVENTS];

    while (!s->ended) {
        int count = wait_for_events(s, events);
        if (count < 0 && errno != EINTR)
            return error_errno(err, ERROR_ENVIRONMENT, errno, "epoll_wait");
        s->now_ns = clock_now_ns();
        stand_still(s);
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == &s->signals)
                s->ended = true;
            else if (events[i].data.ptr == &s->listener)
                accept_some(s);
            else
                connection_event(s, events[i].data.ptr, events[i].events);
        }
        serve_due(s);
    }
    return 0;
}
