/* SPDX-License-Identifier: MIT */
/* Which call is to fail, and how. */
#include "fault.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const kind_names[KINDS] = {"fs", "engine", "net", "process", "kernel"};
static const struct {
    const char *name;
    enum how how;
} hows[] = {{"fail", HOW_FAIL}, {"fail2", HOW_FAIL2},   {"short", HOW_SHORT},
            {"full", HOW_FULL}, {"before", HOW_BEFORE}, {"after", HOW_AFTER},
            {"torn", HOW_TORN}, {"power", HOW_POWER},   {"zeroed", HOW_ZEROED}};

/* What such a call can fail with, and whether it needs space on the disk. */
static const struct {
    const char *name;
    int first, second;
    bool grows;
} errors[] = {
    {"open", ENOSPC, EMFILE, true},        {"mkstemp", ENOSPC, EMFILE, true},
    {"write", ENOSPC, EIO, true},          {"writev", ENOSPC, EIO, true},
    {"pwrite", ENOSPC, EIO, true},         {"fsync", EIO, ENOSPC, true},
    {"fdatasync", EIO, ENOSPC, true},      {"rename", EIO, EACCES, true},
    {"unlink", EACCES, EIO, false},        {"mkdir", ENOSPC, EACCES, true},
    {"ftruncate", EIO, EPERM, false},      {"flock", ENOLCK, EINTR, false},
    {"close", EIO, EDQUOT, false},         {"link", ENOSPC, EMLINK, true},
    {"socket", EMFILE, ENOBUFS, false},    {"connect", ECONNREFUSED, ENOENT, false},
    {"send", ECONNRESET, EPIPE, false},    {"recv", ECONNRESET, ETIMEDOUT, false},
    {"fork", EAGAIN, ENOMEM, false},       {"execve", ENOENT, ENOMEM, false},
    {"waitpid", EINTR, ECHILD, false},     {"pipe2", EMFILE, ENFILE, false},
    {"kill", EPERM, ESRCH, false},         {"epoll_create1", EMFILE, ENOMEM, false},
    {"epoll_ctl", ENOMEM, ENOSPC, false},  {"timerfd_create", EMFILE, ENOMEM, false},
    {"signalfd", EMFILE, ENOMEM, false},   {"eventfd", EMFILE, ENFILE, false},
    {"socketpair", EMFILE, ENFILE, false},
};

static struct {
    pid_t pid;
    enum kind kind;
    unsigned long number;
    enum how how;
    int log;
    unsigned long counts[KINDS];
} state = {.log = -1};

void *fault_next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (!found)
        abort();
    return found;
}

bool fault_active(void)
{
    return state.pid && (pid_t)syscall(SYS_getpid) == state.pid;
}

static void parse(const char *text)
{
    char kind[16], how[16];

    if (!text || sscanf(text, "%15[^:]:%lu:%15s", kind, &state.number, how) != 3)
        return;
    for (int k = 0; k < KINDS; k++)
        if (strcmp(kind_names[k], kind) == 0)
            state.kind = (enum kind)k;
    for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++)
        if (strcmp(hows[i].name, how) == 0)
            state.how = hows[i].how;
}

__attribute__((constructor)) static void begin(void)
{
    const char *log = getenv("TORTURE_LOG"), *keep = getenv("TORTURE_KEEP");

    parse(getenv("TORTURE_FAULT"));
    if (log)
        state.log = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (keep && (state.how == HOW_POWER || state.how == HOW_ZEROED))
        power_init(keep);
    (void)unsetenv("LD_PRELOAD"); /* not for children */
    (void)unsetenv("TORTURE_FAULT");
    (void)unsetenv("TORTURE_LOG");
    state.pid = (pid_t)syscall(SYS_getpid);
}

static void die(void)
{
    (void)syscall(SYS_kill, state.pid, SIGKILL);
    for (;;)
        (void)pause();
}

static int error_of(const char *name, enum how how, bool *ret_grows)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (strcmp(errors[i].name, name) == 0) {
            *ret_grows = errors[i].grows;
            return how == HOW_FULL ? ENOSPC : how == HOW_FAIL2 ? errors[i].second : errors[i].first;
        }
    *ret_grows = false;
    return EIO;
}

static void tell(enum kind kind, const char *name, const char *subject)
{
    char line[600];
    int n = snprintf(line, sizeof(line), "%s %lu %s %s\n", kind_names[kind], state.counts[kind], name,
                     subject ? subject : "");

    if (state.log >= 0 && n > 0)
        (void)!syscall(SYS_write, state.log, line, n < (int)sizeof(line) ? n : (int)sizeof(line) - 1);
}

enum how fault_strike(enum kind kind, const char *name, const char *subject)
{
    bool grows, full;

    if (!fault_active())
        return HOW_NOTHING;
    int before = errno;
    unsigned long n = ++state.counts[kind];
    tell(kind, name, subject);
    errno = before;
    int e = error_of(name, state.how, &grows);
    full = state.how == HOW_FULL && grows && n > state.number;
    if (kind != state.kind || (n != state.number && !full) || state.how == HOW_NOTHING)
        return HOW_NOTHING;
    if (state.how == HOW_BEFORE)
        die();
    if (state.how == HOW_FULL && !grows)
        return HOW_NOTHING; /* from the next one on */
    if (fault_fails(state.how))
        errno = e;
    return state.how;
}

enum kind fault_socket_kind(int domain)
{
    return domain == AF_UNIX ? KIND_ENGINE : KIND_NET;
}

enum how fault_strike_fd(int fd, const char *name)
{
    struct stat st;
    char link[64], path[512] = "";
    int domain = AF_UNIX;
    socklen_t len = sizeof(domain);

    if (!fault_active() || fd <= STDERR_FILENO || fstat(fd, &st) < 0)
        return HOW_NOTHING;
    if (S_ISSOCK(st.st_mode)) {
        (void)getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len);
        return fault_strike(fault_socket_kind(domain), name, NULL);
    }
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return HOW_NOTHING;
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof(path) - 1);
    return fault_strike(KIND_FS, name, n > 0 ? path : NULL);
}

bool fault_fails(enum how how)
{
    return how == HOW_FAIL || how == HOW_FAIL2 || how == HOW_FULL;
}

void fault_end(enum how how)
{
    if (how == HOW_POWER || how == HOW_ZEROED)
        power_cut(how == HOW_ZEROED);
    if (how >= HOW_AFTER)
        die();
}
