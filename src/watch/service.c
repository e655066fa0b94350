/* SPDX-License-Identifier: MIT */
/*
 * The service manager, by its notification protocol (sd_notify): datagrams of NAME=VALUE lines to a socket
 * that the environment names. Signs of life come from the loop's own timer, so that a loop that hangs gives
 * none.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "benchctl/base/units.h"
#include "internal.h"

#define WATCHDOG_MAX_NS (INT64_C(24) * 3600 * NS_PER_S)

struct service {
    int fd; /* -1: there is none */
    struct sockaddr_un address;
    socklen_t address_len;
    struct loop_timer *timer;
};

static void send_text(struct service *s, const char *text, size_t len)
{
    if (s->fd >= 0) /* a manager that does not listen is not waited for */
        (void)!sendto(s->fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT, (const struct sockaddr *)&s->address,
                      s->address_len);
}

void service_tell(struct service *s, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    int len = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (len > 0)
        send_text(s, text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

void service_ping(struct service *s)
{
    if (s->timer)
        send_text(s, "WATCHDOG=1", strlen("WATCHDOG=1"));
}

void service_patience(struct service *s, int64_t ns)
{
    if (s->timer)
        service_tell(s, "WATCHDOG_USEC=%lld\nWATCHDOG=1", (long long)(ns / NS_PER_US));
}

static void on_timer(void *data)
{
    service_ping(data);
}

static int64_t watchdog_ns(void)
{
    const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    struct error ignored = ERROR_INIT;
    int64_t us, whose;

    if (!usec || integer_parse(usec, &us, &ignored) < 0 || us <= 0 || us > WATCHDOG_MAX_NS / NS_PER_US)
        return 0;
    if (pid && (integer_parse(pid, &whose, &ignored) < 0 || whose != getpid()))
        return 0; /* meant for another process of the service */
    return us * NS_PER_US;
}

/* A path, or "@name" of the abstract name space. */
static int open_socket(struct service *s, const char *name)
{
    size_t len = strlen(name);

    if ((name[0] != '/' && name[0] != '@') || len < 2 || len >= sizeof(s->address.sun_path))
        return -1;
    s->address.sun_family = AF_UNIX;
    memcpy(s->address.sun_path, name, len);
    if (name[0] == '@')
        s->address.sun_path[0] = '\0';
    s->address_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

struct service *service_open(struct loop *l)
{
    struct service *s = xcalloc(1, sizeof(*s));
    const char *name = getenv("NOTIFY_SOCKET");
    int64_t every_ns = watchdog_ns() / 2;

    s->fd = name ? open_socket(s, name) : -1;
    if (s->fd >= 0 && every_ns > 0)
        s->timer = loop_add_timer(l, clock_now_ns(), every_ns, on_timer, s);
    /* It is ours: a load generator must not speak for the service. */
    (void)unsetenv("NOTIFY_SOCKET");
    (void)unsetenv("WATCHDOG_USEC");
    (void)unsetenv("WATCHDOG_PID");
    return s;
}

void service_close(struct service *s)
{
    if (!s)
        return;
    loop_remove_timer(s->timer);
    if (s->fd >= 0)
        (void)close(s->fd);
    free(s);
}
