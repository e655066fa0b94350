/* SPDX-License-Identifier: MIT */
#include "crew.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/process.h"

struct member {
    struct crew *crew;
    size_t number;
    pid_t pid; /* 0: reaped */
    int fd;
    struct loop_fd *watch;
    struct strbuf in;
    bool ready, done, gone;
};

struct crew {
    const struct workload *w;
    struct collector *to;
    struct loop *loop;
    struct loop_timer *patience;
    struct member *members;
    size_t count, left, ready_count;
    size_t *phase_over; /* how many members are through with it */
    int64_t begin_ns;
    char transport[16], lost[256];
    struct error error;
    bool ready, over, failed, stopping;
};

#define STOP_PATIENCE_NS (5 * NS_PER_S)

/* ---- forking ---- */

static int fork_one(struct crew *c, size_t i, uint64_t run_id, struct error *err)
{
    struct member *m = &c->members[i];
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot make a socket for a worker");
    pid_t pid = fork();
    if (pid < 0) {
        int problem = errno;
        (void)close(pair[0]);
        (void)close(pair[1]);
        return error_errno(err, ERROR_ENVIRONMENT, problem, "cannot start worker %zu", i + 1);
    }
    if (pid == 0) {
        for (size_t k = 0; k < i; k++) /* else we would hold the sockets of our brothers open */
            (void)close(c->members[k].fd);
        (void)close(pair[0]);
        const struct crew_place place = {c->w, i, c->count, run_id, pair[1]};
        _exit(crew_child(&place));
    }
    (void)close(pair[1]);
    *m = (struct member){.crew = c, .number = i, .pid = pid, .fd = pair[0]};
    c->left++;
    return 0;
}

int crew_fork(const struct workload *w, size_t processes, uint64_t run_id, struct crew **ret,
              struct error *err)
{
    CLEANUP(crew_free) struct crew *c = xcalloc(1, sizeof(*c));

    c->w = w;
    c->count = processes;
    c->members = xcalloc(processes, sizeof(*c->members));
    c->phase_over = xcalloc(w->phases.len, sizeof(*c->phase_over));
    for (size_t i = 0; i < processes; i++)
        c->members[i].fd = -1;
    for (size_t i = 0; i < processes; i++)
        if (fork_one(c, i, run_id, err) < 0)
            return -1;
    *ret = TAKE(c);
    return 0;
}

/* ---- orders ---- */

static void order(struct crew *c, const struct crew_message *m)
{
    for (size_t i = 0; i < c->count; i++)
        if (!c->members[i].gone) /* what fails to get there shows by the socket's end */
            (void)!send(c->members[i].fd, m, sizeof(*m), MSG_NOSIGNAL);
}

static void give_up(void *data)
{
    struct crew *c = data;

    for (size_t i = 0; i < c->count; i++)
        if (!c->members[i].gone)
            (void)kill(c->members[i].pid, SIGKILL);
}

void crew_begin(struct crew *c, int64_t begin_ns, int64_t latest_ns)
{
    struct crew_message m = {.order = ORDER_BEGIN, .at_ns = begin_ns};

    c->begin_ns = begin_ns;
    c->patience = loop_add_timer(c->loop, latest_ns, 0, give_up, c);
    order(c, &m);
}

void crew_stop(struct crew *c)
{
    struct crew_message m = {.order = ORDER_STOP};

    if (c->stopping)
        return;
    order(c, &m);
    c->stopping = true;
    if (c->patience)
        loop_set_timer(c->patience, clock_now_ns() + STOP_PATIENCE_NS, 0);
}

/* ---- news ---- */

static void phase_over(struct crew *c, uint64_t phase)
{
    const struct workload_phase *phases = c->w->phases.items;

    if (phase >= c->w->phases.len || ++c->phase_over[phase] < c->left || c->stopping)
        return;
    if (phase + 1 < c->w->phases.len && phases[phase + 1].start_time_ns < 0) {
        struct crew_message m = {ORDER_RELEASE, phase + 1, clock_now_ns()};
        order(c, &m);
    }
}

static void hear_second(struct member *m, const char *bytes, size_t len)
{
    struct crew *c = m->crew;
    struct error err = ERROR_INIT;

    if (len < sizeof(struct second))
        return;
    uint64_t index = second_index(bytes);
    if (second_decode(bytes, len, collector_slot(c->to, index), &err) < 0 && !c->failed) {
        c->failed = true;
        c->error = err;
    }
    collector_done(c->to, m->number, index);
}

static void hear(struct member *m, const struct crew_head *head, const char *bytes)
{
    struct crew *c = m->crew;
    uint64_t phase;

    switch ((enum crew_news)head->news) {
    case NEWS_READY:
        (void)snprintf(c->transport, sizeof(c->transport), "%.*s", (int)head->len, bytes);
        m->ready = true;
        c->ready = ++c->ready_count == c->count;
        break;
    case NEWS_FAILED:
        if (!c->failed && head->len == sizeof(c->error))
            memcpy(&c->error, bytes, sizeof(c->error));
        c->failed = m->done = true;
        break;
    case NEWS_SECOND:
        hear_second(m, bytes, head->len);
        break;
    case NEWS_PHASE_OVER:
        if (head->len == sizeof(phase)) {
            memcpy(&phase, bytes, sizeof(phase));
            phase_over(c, phase);
        }
        break;
    case NEWS_DONE:
        m->done = true;
        break;
    }
}

static void reap(struct member *m)
{
    struct crew *c = m->crew;
    char status_text[64];
    int status = 0;

    (void)waitpid(m->pid, &status, 0);
    m->pid = 0;
    if (m->done)
        return;
    double after = c->begin_ns ? (double)(clock_now_ns() - c->begin_ns) / 1e9 : 0;
    if (!c->lost[0])
        (void)snprintf(c->lost, sizeof(c->lost), "worker %zu of %zu ended after %.1f s: %s", m->number + 1,
                       c->count, after, process_status_text(status, status_text));
}

static void gone(struct member *m)
{
    struct crew *c = m->crew;

    loop_remove_fd(TAKE(m->watch));
    m->gone = true;
    c->left--;
    reap(m);
    collector_leave(c->to, m->number);
    c->over = c->left == 0;
    if (c->lost[0]) {
        c->ready = true; /* nothing to wait for */
        crew_stop(c);
    }
}

static void on_news(int fd, unsigned events, void *data)
{
    struct member *m = data;
    struct crew_head head;
    char bytes[65536];

    (void)events;
    ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        strbuf_add(&m->in, bytes, (size_t)n);
    while (m->in.len >= sizeof(head)) {
        memcpy(&head, m->in.data, sizeof(head));
        if (head.len > NEWS_MAX) {
            n = 0;
            break;
        }
        if (m->in.len < sizeof(head) + head.len)
            break;
        hear(m, &head, m->in.data + sizeof(head));
        strbuf_consume(&m->in, sizeof(head) + head.len);
    }
    if (n <= 0)
        gone(m);
    else if (m->crew->failed)
        m->crew->ready = true;
}

int crew_watch(struct crew *c, struct loop *l, struct collector *to, struct error *err)
{
    c->loop = l;
    c->to = to;
    for (size_t i = 0; i < c->count; i++)
        c->members[i].watch = loop_add_fd(l, c->members[i].fd, LOOP_READ, on_news, &c->members[i]);
    if (loop_wait_until(l, &c->ready, LOOP_FOREVER, err) < 0)
        return -1;
    if (c->failed) {
        *err = c->error;
        return -1;
    }
    if (c->lost[0])
        return error_set(err, ERROR_ENVIRONMENT, "the load could not begin: %s", c->lost);
    return 0;
}

const bool *crew_over(const struct crew *c)
{
    return &c->over;
}

const char *crew_lost(const struct crew *c)
{
    return c->lost[0] ? c->lost : NULL;
}

const char *crew_transport(const struct crew *c)
{
    return c->transport;
}

void crew_free(struct crew *c)
{
    if (!c)
        return;
    loop_remove_timer(c->patience);
    for (size_t i = 0; i < c->count; i++) {
        struct member *m = &c->members[i];
        loop_remove_fd(m->watch);
        if (m->fd >= 0)
            (void)close(m->fd);
        if (m->pid > 0) {
            (void)kill(m->pid, SIGKILL);
            (void)waitpid(m->pid, NULL, 0);
        }
        strbuf_release(&m->in);
    }
    free(c->members);
    free(c->phase_over);
    free(c);
}
