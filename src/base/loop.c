/* SPDX-License-Identifier: MIT */
#include "benchctl/base/loop.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include "benchctl/base/clock.h"

/* A source that is removed while its loop dispatches stays allocated (dead) until the round is over. */
struct loop_fd {
    struct loop *loop;
    int fd;
    unsigned events;
    loop_fd_fn *fn;
    void *data;
    bool dead;
    struct loop_fd *next_dead;
};

struct loop_timer {
    struct loop *loop;
    int64_t when_ns, every_ns;
    loop_timer_fn *fn;
    void *data;
    size_t slot; /* in the heap, or NOT_QUEUED */
    bool firing, dead;
};
#define NOT_QUEUED ((size_t)-1)

struct loop_child {
    struct loop *loop;
    pid_t pid;
    int pidfd;
    struct loop_fd *watch;
    loop_child_fn *fn;
    void *data;
};

struct loop {
    int epoll, signals, timer;
    VEC(struct loop_timer *) heap; /* binary heap by when_ns */
    struct loop_fd *dead;
    struct loop_fd *signal_watch;
    loop_signal_fn *on_signal;
    void *signal_data;
    sigset_t old_mask, caught;
    int64_t armed_ns;
    int shield, depth;
    bool interrupted, piece_interrupted;
};

int loop_new(struct loop **ret, struct error *err)
{
    struct loop *l = xcalloc(1, sizeof(*l));

    l->signals = -1;
    l->armed_ns = LOOP_FOREVER;
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    struct epoll_event ev = {.events = EPOLLIN, .data.ptr = NULL};
    if (l->epoll < 0 || l->timer < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->timer, &ev) < 0) {
        (void)error_errno(err, ERROR_ENVIRONMENT, errno, "cannot make an event loop");
        loop_free(l);
        return -1;
    }
    *ret = l;
    return 0;
}

static void bury(struct loop *l)
{
    while (l->dead) {
        struct loop_fd *next = l->dead->next_dead;
        free(l->dead);
        l->dead = next;
    }
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    if (l->signal_watch) {
        loop_remove_fd(l->signal_watch);
        (void)sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
    }
    bury(l);
    assert(l->heap.len == 0);
    vec_release(&l->heap);
    if (l->signals >= 0)
        (void)close(l->signals);
    if (l->timer >= 0)
        (void)close(l->timer);
    if (l->epoll >= 0)
        (void)close(l->epoll);
    free(l);
}

/* --- descriptors --- */

static uint32_t epoll_bits(unsigned events)
{
    return (events & LOOP_READ ? EPOLLIN : 0u) | (events & LOOP_WRITE ? EPOLLOUT : 0u) |
           (events & LOOP_PEER_CLOSED ? EPOLLRDHUP : 0u);
}

struct loop_fd *loop_try_add_fd(struct loop *l, int fd, unsigned events, loop_fd_fn *fn, void *data)
{
    struct loop_fd *w = xcalloc(1, sizeof(*w));

    *w = (struct loop_fd){.loop = l, .fd = fd, .events = events, .fn = fn, .data = data};
    struct epoll_event ev = {.events = epoll_bits(events), .data.ptr = w};
    if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &ev) == 0)
        return w;
    int errnum = errno;
    free(w);
    errno = errnum;
    return NULL;
}

struct loop_fd *loop_add_fd(struct loop *l, int fd, unsigned events, loop_fd_fn *fn, void *data)
{
    struct loop_fd *w = loop_try_add_fd(l, fd, events, fn, data);

    if (!w && (errno == ENOMEM || errno == ENOSPC)) /* of the kernel's memory, and what it grants us of it */
        mem_exhausted();
    if (!w)
        assert(!"epoll takes sockets, pipes, pidfds and timerfds only, each once");
    return w;
}

void loop_set_fd(struct loop_fd *w, unsigned events)
{
    struct epoll_event ev = {.events = epoll_bits(events), .data.ptr = w};

    if (w->dead || events == w->events)
        return;
    w->events = events;
    (void)epoll_ctl(w->loop->epoll, EPOLL_CTL_MOD, w->fd, &ev);
}

void loop_hand_over_fd(struct loop_fd *w, loop_fd_fn *fn, void *data)
{
    w->fn = fn;
    w->data = data;
}

void loop_remove_fd(struct loop_fd *w)
{
    if (!w || w->dead)
        return;
    (void)epoll_ctl(w->loop->epoll, EPOLL_CTL_DEL, w->fd, NULL);
    w->dead = true;
    w->next_dead = w->loop->dead;
    w->loop->dead = w;
}

/* --- timers --- */

static void heap_put(struct loop *l, size_t slot, struct loop_timer *t)
{
    l->heap.items[slot] = t;
    t->slot = slot;
}

static void heap_up(struct loop *l, size_t slot)
{
    struct loop_timer *t = l->heap.items[slot];

    while (slot && l->heap.items[(slot - 1) / 2]->when_ns > t->when_ns) {
        heap_put(l, slot, l->heap.items[(slot - 1) / 2]);
        slot = (slot - 1) / 2;
    }
    heap_put(l, slot, t);
}

static void heap_down(struct loop *l, size_t slot)
{
    struct loop_timer *t = l->heap.items[slot];

    for (;;) {
        size_t child = 2 * slot + 1;
        if (child >= l->heap.len)
            break;
        if (child + 1 < l->heap.len && l->heap.items[child + 1]->when_ns < l->heap.items[child]->when_ns)
            child++;
        if (l->heap.items[child]->when_ns >= t->when_ns)
            break;
        heap_put(l, slot, l->heap.items[child]);
        slot = child;
    }
    heap_put(l, slot, t);
}

static void heap_remove(struct loop *l, struct loop_timer *t)
{
    size_t slot = t->slot;

    if (slot == NOT_QUEUED)
        return;
    t->slot = NOT_QUEUED;
    struct loop_timer *last = l->heap.items[--l->heap.len];
    if (last == t)
        return;
    heap_put(l, slot, last);
    heap_up(l, slot);
    heap_down(l, last->slot);
}

static void heap_insert(struct loop *l, struct loop_timer *t)
{
    vec_push(&l->heap, t);
    t->slot = l->heap.len - 1;
    heap_up(l, t->slot);
}

struct loop_timer *loop_add_timer(struct loop *l, int64_t when_ns, int64_t every_ns, loop_timer_fn *fn,
                                  void *data)
{
    struct loop_timer *t = xcalloc(1, sizeof(*t));

    *t = (struct loop_timer){
        .loop = l, .when_ns = when_ns, .every_ns = every_ns, .fn = fn, .data = data, .slot = NOT_QUEUED};
    if (when_ns != LOOP_FOREVER)
        heap_insert(l, t);
    return t;
}

void loop_set_timer(struct loop_timer *t, int64_t when_ns, int64_t every_ns)
{
    heap_remove(t->loop, t);
    t->when_ns = when_ns;
    t->every_ns = every_ns;
    if (when_ns != LOOP_FOREVER)
        heap_insert(t->loop, t);
}

void loop_remove_timer(struct loop_timer *t)
{
    if (!t)
        return;
    heap_remove(t->loop, t);
    if (t->firing)
        t->dead = true; /* fire_timers() frees it */
    else
        free(t);
}

static void fire_timers(struct loop *l)
{
    int64_t now = clock_now_ns();

    while (l->heap.len && l->heap.items[0]->when_ns <= now) {
        struct loop_timer *t = l->heap.items[0];
        heap_remove(l, t);
        if (t->every_ns > 0) {
            t->when_ns += t->every_ns;
            if (t->when_ns <= now) /* ticks missed are skipped, the rhythm is kept */
                t->when_ns += (now - t->when_ns) / t->every_ns * t->every_ns + t->every_ns;
            heap_insert(l, t);
        }
        t->firing = true;
        t->fn(t->data);
        t->firing = false;
        if (t->dead)
            free(t);
    }
}

/* --- children --- */

static void child_ended(int fd, unsigned events, void *data)
{
    struct loop_child *c = data;
    int status = 0;

    (void)fd;
    (void)events;
    if (waitpid(c->pid, &status, WNOHANG) == 0)
        return;
    loop_child_fn *fn = c->fn;
    void *fn_data = c->data;
    pid_t pid = c->pid;
    loop_remove_child(c);
    fn(pid, status, fn_data);
}

struct loop_child *loop_add_child(struct loop *l, pid_t pid, loop_child_fn *fn, void *data)
{
    struct loop_child *c = xcalloc(1, sizeof(*c));

    *c = (struct loop_child){.loop = l, .pid = pid, .fn = fn, .data = data};
    c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    assert(c->pidfd >= 0); /* the child is ours and not reaped; kernels since 5.3 have it */
    c->watch = loop_add_fd(l, c->pidfd, LOOP_READ, child_ended, c);
    return c;
}

void loop_remove_child(struct loop_child *c)
{
    if (!c)
        return;
    loop_remove_fd(c->watch);
    (void)close(c->pidfd);
    free(c);
}

/* --- signals --- */

static void signal_arrived(int fd, unsigned events, void *data)
{
    struct loop *l = data;
    struct signalfd_siginfo info;

    (void)events;
    while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
        l->on_signal((int)info.ssi_signo, l->signal_data);
}

int loop_catch_signals(struct loop *l, loop_signal_fn *fn, void *data, struct error *err)
{
    sigset_t set;

    assert(!l->signal_watch);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &set, &l->old_mask) < 0 ||
        (l->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC)) < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot watch for signals");
    l->caught = set;
    l->on_signal = fn;
    l->signal_data = data;
    l->signal_watch = loop_add_fd(l, l->signals, LOOP_READ, signal_arrived, l);
    return 0;
}

int loop_catch_also(struct loop *l, int signo, struct error *err)
{
    sigset_t set = l->caught;

    assert(l->signal_watch);
    (void)sigaddset(&set, signo);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0 || signalfd(l->signals, &set, SFD_NONBLOCK | SFD_CLOEXEC) < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot watch for signal %d", signo);
    l->caught = set;
    return 0;
}

void loop_interrupt(struct loop *l)
{
    l->interrupted = true;
}

bool loop_interrupted(const struct loop *l)
{
    return (l->interrupted || l->piece_interrupted) && l->shield == 0;
}

void loop_interrupt_piece(struct loop *l)
{
    l->piece_interrupted = true;
}

bool loop_piece_over(struct loop *l)
{
    bool wanted = l->piece_interrupted;

    l->piece_interrupted = false;
    return wanted && !l->interrupted;
}

void loop_shield(struct loop *l, int delta)
{
    l->shield += delta;
    assert(l->shield >= 0);
}

/* --- waiting --- */

/* The timerfd tells nanoseconds, where epoll's own timeout would round to milliseconds. */
static void arm(struct loop *l, int64_t when_ns)
{
    struct itimerspec spec = {0};

    if (when_ns == l->armed_ns)
        return;
    if (when_ns != LOOP_FOREVER) {
        if (when_ns < 1)
            when_ns = 1; /* zero would disarm */
        spec.it_value.tv_sec = when_ns / NS_PER_S;
        spec.it_value.tv_nsec = when_ns % NS_PER_S;
    }
    (void)timerfd_settime(l->timer, TFD_TIMER_ABSTIME, &spec, NULL);
    l->armed_ns = when_ns;
}

static void dispatch(struct loop *l, const struct epoll_event *ev)
{
    struct loop_fd *w = ev->data.ptr;
    unsigned bits = 0;

    if (!w) {
        uint64_t ticks;
        (void)!read(l->timer, &ticks, sizeof(ticks));
        l->armed_ns = LOOP_FOREVER;
        return;
    }
    if (w->dead)
        return;
    if (ev->events & EPOLLIN)
        bits |= LOOP_READ;
    if (ev->events & EPOLLOUT)
        bits |= LOOP_WRITE;
    if (ev->events & (EPOLLHUP | EPOLLERR))
        bits |= LOOP_HANGUP;
    if (ev->events & EPOLLRDHUP)
        bits |= LOOP_PEER_CLOSED;
    w->fn(w->fd, bits, w->data);
}

static void run_once(struct loop *l, int64_t deadline_ns)
{
    struct epoll_event events[64];
    int64_t next = l->heap.len ? l->heap.items[0]->when_ns : LOOP_FOREVER;

    arm(l, next < deadline_ns ? next : deadline_ns);
    int n = epoll_wait(l->epoll, events, 64, -1);
    l->depth++;
    for (int i = 0; i < n; i++)
        dispatch(l, &events[i]);
    fire_timers(l);
    l->depth--;
    bury(l);
}

int loop_wait_until(struct loop *l, const bool *done, int64_t deadline_ns, struct error *err)
{
    return loop_wait_either(l, done, done, deadline_ns, err);
}

int loop_wait_either(struct loop *l, const bool *a, const bool *b, int64_t deadline_ns, struct error *err)
{
    assert(l->depth == 0); /* not from a callback */
    while (!*a && !*b) {
        if (loop_interrupted(l))
            return error_set(err, ERROR_INTERRUPTED, "interrupted");
        if (clock_now_ns() >= deadline_ns)
            return error_set(err, ERROR_TIMEOUT, "timed out");
        run_once(l, deadline_ns);
    }
    return 0;
}

int loop_sleep_until(struct loop *l, int64_t deadline_ns, struct error *err)
{
    static const bool never;
    struct error waited = ERROR_INIT;

    if (loop_wait_until(l, &never, deadline_ns, &waited) < 0 && waited.kind != ERROR_TIMEOUT) {
        *err = waited;
        return -1;
    }
    return 0;
}
