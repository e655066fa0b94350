/* SPDX-License-Identifier: MIT */
#include "life_probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include "benchctl/base/clock.h"
#include "ready_answer.h"

#define BODY_MAX ((size_t)1 << 20)

static const char *host_of(const struct unit *u)
{
    return u->address ? u->address : "127.0.0.1";
}

void life_probe_stop(struct life_probe *p)
{
    if (p->request)
        http_cancel(p->request);
    loop_remove_fd(p->watch);
    if (p->fd >= 0)
        (void)close(p->fd);
    p->request = NULL;
    p->watch = NULL;
    p->fd = -1;
    p->under_way = false;
}

/* --- by HTTP --- */

static void on_head(int status, const char *type, void *data)
{
    struct life_probe *p = data;

    (void)status;
    (void)type;
    p->told(LIFE_ANSWERED, p->data);
}

static void on_done(const struct http_result *r, void *data)
{
    struct life_probe *p = data;
    const struct ready_settings *ready = p->unit->settings->ready;
    char why[160] = "";

    p->request = NULL;
    p->under_way = false;
    if (!r->ok)
        (void)snprintf(p->asked, sizeof(p->asked), "%.190s", r->error.message);
    if (r->ok)
        p->told(LIFE_ANSWERED, p->data);
    if (p->for_readiness && ready_answer_good(ready, r, why, sizeof(why)))
        p->told(LIFE_READY, p->data);
}

static void ask_http(struct life_probe *p, const struct life_question *q)
{
    char url[512];
    struct error ignored = ERROR_INIT;

    (void)snprintf(url, sizeof(url), "http://%s:%lld%s", host_of(p->unit), (long long)p->unit->port, q->path);
    const struct http_options o = {
        .url = url,
        .timeout_ns = q->timeout_ns,
        .connect_timeout_ns = q->timeout_ns,
        .max_body = BODY_MAX,
        .fresh_connection = true,
        .on_head = on_head,
        .done = on_done,
        .data = p,
    };
    p->under_way = http_start(p->sweep->http, &o, &p->request, &ignored) == 0;
}

/* --- whatever it speaks --- */

/* To a server of HTTP a question about itself, not about anything it serves; any other takes offence and
 * hangs up, which is an answer too. */
static void ask_anything(struct life_probe *p)
{
    char text[160];
    int n =
        snprintf(text, sizeof(text),
                 "OPTIONS * HTTP/1.1\r\nHost: %.60s:%lld\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
                 host_of(p->unit), (long long)p->unit->port);

    if (send(p->fd, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) == n)
        loop_set_fd(p->watch, LOOP_READ);
    else
        life_probe_stop(p);
}

static void on_connected(struct life_probe *p)
{
    int code = 0;
    socklen_t size = sizeof(code);

    if (getsockopt(p->fd, SOL_SOCKET, SO_ERROR, &code, &size) < 0 || code) {
        (void)snprintf(p->asked, sizeof(p->asked), "no connection to %.60s:%lld: %s", host_of(p->unit),
                       (long long)p->unit->port, strerror(code));
        life_probe_stop(p);
        return;
    }
    p->connected = true;
    if (p->for_readiness)
        life_probe_stop(p);
    else
        ask_anything(p);
    p->told(LIFE_CONNECTED, p->data);
}

static void on_socket(int fd, unsigned events, void *data)
{
    struct life_probe *p = data;
    char bytes[512];

    (void)events;
    if (!p->connected) {
        on_connected(p);
        return;
    }
    ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    life_probe_stop(p);
    p->told(LIFE_ANSWERED, p->data);
}

static void ask_port(struct life_probe *p)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)p->unit->port)};

    p->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (p->fd < 0 || inet_pton(AF_INET, host_of(p->unit), &a.sin_addr) != 1 ||
        (connect(p->fd, (struct sockaddr *)&a, sizeof(a)) < 0 && errno != EINPROGRESS)) {
        life_probe_stop(p);
        return;
    }
    p->under_way = true;
    p->connected = false;
    p->watch = loop_add_fd(p->sweep->loop, p->fd, LOOP_WRITE, on_socket, p);
}

void life_probe_start(struct life_probe *p, const struct life_question *q)
{
    if (p->under_way || p->unit->port <= 0)
        return;
    p->for_readiness = q->for_readiness;
    p->ends_ns = clock_now_ns() + q->timeout_ns;
    if (q->path)
        ask_http(p, q);
    else
        ask_port(p);
}

void life_probe_tick(struct life_probe *p)
{
    if (p->fd < 0 || clock_now_ns() < p->ends_ns)
        return;
    (void)snprintf(p->asked, sizeof(p->asked), "%s at %.60s:%lld",
                   p->connected ? "no answer" : "no connection", host_of(p->unit), (long long)p->unit->port);
    life_probe_stop(p);
}
