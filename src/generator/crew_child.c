/* SPDX-License-Identifier: MIT */
#include "crew.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include "benchctl/base/fs.h"
#include "worker.h"

struct child {
    struct loop *loop;
    struct worker *worker;
    struct strbuf out, in;
    int fd;
    bool orphan; /* nobody listens any more */
};

/* Small and rare: the socket's buffer takes it, the parent does nothing but read. */
static void tell(struct child *c, enum crew_news news, const void *bytes, size_t len)
{
    struct crew_head head = {(uint32_t)len, news};
    struct error ignored = ERROR_INIT;

    if (c->orphan)
        return;
    if (fs_write_all(c->fd, &head, sizeof(head), "socket", &ignored) < 0 ||
        (len && fs_write_all(c->fd, bytes, len, "socket", &ignored) < 0))
        c->orphan = true;
}

static void on_second(struct second *s, void *data)
{
    struct child *c = data;

    strbuf_clear(&c->out);
    second_encode(s, &c->out);
    tell(c, NEWS_SECOND, c->out.data, c->out.len);
}

static void on_phase_over(size_t phase, void *data)
{
    uint64_t number = phase;

    tell(data, NEWS_PHASE_OVER, &number, sizeof(number));
}

static void obey(struct child *c, const struct crew_message *m)
{
    switch (m->order) {
    case ORDER_BEGIN:
        worker_begin(c->worker, m->at_ns);
        break;
    case ORDER_RELEASE:
        worker_release(c->worker, (size_t)m->phase, m->at_ns);
        break;
    case ORDER_STOP:
        worker_stop(c->worker);
        break;
    }
}

static void on_order(int fd, unsigned events, void *data)
{
    struct child *c = data;
    struct crew_message m;
    char bytes[512];

    (void)events;
    ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        c->orphan = true;
        return;
    }
    if (n > 0)
        strbuf_add(&c->in, bytes, (size_t)n);
    while (c->in.len >= sizeof(m)) {
        memcpy(&m, c->in.data, sizeof(m));
        strbuf_consume(&c->in, sizeof(m));
        obey(c, &m);
    }
}

static int work(struct child *c, const struct crew_place *p, struct error *err)
{
    const struct worker_options o = {.workload = p->workload,
                                     .process = p->process,
                                     .processes = p->processes,
                                     .run_id = p->run_id,
                                     .on_second = on_second,
                                     .on_phase_over = on_phase_over,
                                     .data = c};
    if (loop_new(&c->loop, err) < 0 || worker_new(c->loop, &o, &c->worker, err) < 0)
        return -1;
    const char *transport = worker_transport(c->worker);
    tell(c, NEWS_READY, transport, strlen(transport));
    struct loop_fd *orders = loop_add_fd(c->loop, c->fd, LOOP_READ, on_order, c);
    int rc = loop_wait_either(c->loop, worker_over(c->worker), &c->orphan, LOOP_FOREVER, err);
    loop_remove_fd(orders);
    if (rc == 0)
        tell(c, NEWS_DONE, NULL, 0);
    return rc;
}

int crew_child(const struct crew_place *p)
{
    struct child c = {.fd = p->fd};
    struct error err = ERROR_INIT;

    (void)signal(SIGINT, SIG_IGN); /* the parent is told, and tells us */
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    int rc = work(&c, p, &err);
    if (rc < 0)
        tell(&c, NEWS_FAILED, &err, sizeof(err));
    worker_free(c.worker);
    loop_free(c.loop);
    strbuf_release(&c.out);
    strbuf_release(&c.in);
    return rc < 0 ? 1 : 0;
}
