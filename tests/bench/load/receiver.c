/* SPDX-License-Identifier: MIT */
/*
 * Notes when each request arrives, independently of the generator that is being measured: the kernel's own
 * stamp of the packet (SO_TIMESTAMPNS), which does not depend on when this process is scheduled, or with
 * --user the moment it was read. Answers at once. SIGTERM writes the stamps (int64 ns of CLOCK_REALTIME, in
 * the order read) to FILE and ends.
 *
 * usage: receiver [--user] FILE      prints its port
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_STAMPS ((size_t)20 * 1000 * 1000)
#define EVENTS 256

static int64_t *stamps;
static size_t stamp_count, unstamped;
static bool user_time;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* The kernel's stamp of what was just received; the time now when there is none. */
static int64_t stamp_of(struct msghdr *m, int64_t read_ns)
{
    for (struct cmsghdr *c = user_time ? NULL : CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec t;
            memcpy(&t, CMSG_DATA(c), sizeof(t));
            return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
        }
    }
    unstamped++;
    return read_ns;
}

/* Requests here are heads only, each in one packet or several that end with it. */
static void serve(int fd)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    char bytes[16384];
    union {
        char bytes[256];
        struct cmsghdr align;
    } control;
    struct iovec iov = {.iov_base = bytes, .iov_len = sizeof(bytes)};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    ssize_t got = recvmsg(fd, &m, MSG_DONTWAIT);
    int64_t read_ns = now_ns();

    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0) {
        close(fd);
        return;
    }
    for (const char *at = bytes, *end = bytes + got; (at = memmem(at, (size_t)(end - at), "\r\n\r\n", 4));
         at += 4) {
        if (stamp_count < MAX_STAMPS)
            stamps[stamp_count++] = stamp_of(&m, read_ns);
        if (send(fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
            close(fd);
            return;
        }
    }
}

static void accept_all(int epoll, int listener)
{
    const int yes = 1;
    int fd;

    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
        if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof(yes)) < 0 ||
            epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
            die("connection");
    }
}

static int listen_anywhere(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    const int yes = 1;

    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, len) < 0 || listen(fd, 4096) < 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof(yes)) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) < 0)
        die("listen");
    printf("%d\n", ntohs(address.sin_port));
    (void)fflush(stdout);
    return fd;
}

static void watch(int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
        die("epoll");
}

static void write_stamps(const char *path)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(stamps, sizeof(*stamps), stamp_count, f) != stamp_count || fclose(f) != 0)
        die(path);
    if (unstamped && !user_time)
        fprintf(stderr, "receiver: %zu of %zu requests without a stamp of the kernel\n", unstamped,
                stamp_count);
}

int main(int argc, char **argv)
{
    struct epoll_event events[EVENTS];
    struct rlimit limit;
    sigset_t set;

    user_time = argc > 1 && strcmp(argv[1], "--user") == 0;
    if (argc != 2 + user_time)
        return 2;
    stamps = malloc(MAX_STAMPS * sizeof(*stamps)); /* touched only where written */
    if (!stamps)
        die("malloc");
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int signals = signalfd(-1, &set, SFD_CLOEXEC), listener = listen_anywhere(), epoll = epoll_create1(0);
    watch(epoll, signals);
    watch(epoll, listener);
    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == signals) {
                write_stamps(argv[argc - 1]);
                free(stamps);
                return 0;
            }
            if (events[i].data.fd == listener)
                accept_all(epoll, listener);
            else
                serve(events[i].data.fd);
        }
    }
}
