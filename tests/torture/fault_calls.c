/* SPDX-License-Identifier: MIT */
/* Sockets, processes and what the event loop asks of the kernel, in place of the C library's. */
#include "fault.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define REAL(type, name, ...)                                                                                \
    static type (*real)(__VA_ARGS__);                                                                        \
    if (!real)                                                                                               \
    real = (type(*)(__VA_ARGS__))fault_next(#name)

/* A call of a kind that does nothing but succeed or fail. */
#define PLAIN(kind, name, call)                                                                              \
    enum how how = fault_strike(kind, name, NULL);                                                           \
    if (fault_fails(how))                                                                                    \
        return -1;                                                                                           \
    int rc = call;                                                                                           \
    fault_end(how);                                                                                          \
    return rc

static bool exec_fails; /* in the child that comes next */
static int exec_errno;

/* --- sockets --- */

int socket(int domain, int type, int protocol)
{
    REAL(int, socket, int, int, int);
    PLAIN(fault_socket_kind(domain), "socket", real(domain, type, protocol));
}

int connect(int fd, const struct sockaddr *address, socklen_t len)
{
    REAL(int, connect, int, const struct sockaddr *, socklen_t);
    PLAIN(fault_socket_kind(address->sa_family), "connect", real(fd, address, len));
}

ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    REAL(ssize_t, send, int, const void *, size_t, int);
    enum how how = fault_strike_fd(fd, "send");
    if (fault_fails(how))
        return -1;
    bool half = (how == HOW_SHORT || how == HOW_TORN) && len > 1;
    ssize_t n = real(fd, bytes, half ? len / 2 : len, flags);
    fault_end(how);
    return n;
}

ssize_t recv(int fd, void *bytes, size_t len, int flags)
{
    REAL(ssize_t, recv, int, void *, size_t, int);
    enum how how = fault_strike_fd(fd, "recv");
    if (fault_fails(how))
        return -1;
    ssize_t n = real(fd, bytes, how == HOW_SHORT && len > 1 ? 1 : len, flags);
    fault_end(how);
    return n;
}

int socketpair(int domain, int type, int protocol, int fds[2])
{
    REAL(int, socketpair, int, int, int, int *);
    PLAIN(KIND_KERNEL, "socketpair", real(domain, type, protocol, fds));
}

/* --- processes --- */

pid_t fork(void)
{
    REAL(pid_t, fork, void);
    enum how start = fault_strike(KIND_PROCESS, "fork", NULL);
    if (fault_fails(start))
        return -1;
    enum how exec = fault_strike(KIND_PROCESS, "execve", NULL);
    exec_fails = fault_fails(exec);
    exec_errno = errno;
    pid_t pid = real();
    if (pid != 0) {
        fault_end(start);
        fault_end(exec);
    }
    return pid;
}

int execve(const char *path, char *const argv[], char *const env[])
{
    REAL(int, execve, const char *, char *const *, char *const *);
    if (exec_fails) {
        errno = exec_errno;
        return -1;
    }
    return real(path, argv, env);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
    REAL(pid_t, waitpid, pid_t, int *, int);
    PLAIN(KIND_PROCESS, "waitpid", real(pid, status, options));
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    REAL(pid_t, wait4, pid_t, int *, int, struct rusage *);
    PLAIN(KIND_PROCESS, "waitpid", real(pid, status, options, usage));
}

int pipe2(int fds[2], int flags)
{
    REAL(int, pipe2, int *, int);
    PLAIN(KIND_PROCESS, "pipe2", real(fds, flags));
}

int kill(pid_t pid, int signo)
{
    REAL(int, kill, pid_t, int);
    PLAIN(KIND_PROCESS, "kill", real(pid, signo));
}

/* --- the event loop --- */

int epoll_create1(int flags)
{
    REAL(int, epoll_create1, int);
    PLAIN(KIND_KERNEL, "epoll_create1", real(flags));
}

int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
    REAL(int, epoll_ctl, int, int, int, struct epoll_event *);
    if (op != EPOLL_CTL_ADD) /* the others cannot fail for what the world does */
        return real(epoll, op, fd, event);
    PLAIN(KIND_KERNEL, "epoll_ctl", real(epoll, op, fd, event));
}

int timerfd_create(int clock, int flags)
{
    REAL(int, timerfd_create, int, int);
    PLAIN(KIND_KERNEL, "timerfd_create", real(clock, flags));
}

int signalfd(int fd, const sigset_t *mask, int flags)
{
    REAL(int, signalfd, int, const sigset_t *, int);
    PLAIN(KIND_KERNEL, "signalfd", real(fd, mask, flags));
}

int eventfd(unsigned count, int flags)
{
    REAL(int, eventfd, unsigned, int);
    PLAIN(KIND_KERNEL, "eventfd", real(count, flags));
}
