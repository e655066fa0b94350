/* SPDX-License-Identifier: MIT */
/* The multi handle on the loop, and the interface of a transport. */
#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "curl.h"

#define KEPT_MAX 1000000L /* as many as there are channels: no connection is given up for another */

static struct curl_transport *transport_of(struct channel *c)
{
    return (struct curl_transport *)c->transport;
}

/* --- running --- */

static void remove_easy(struct curl_channel *c)
{
    if (c->added)
        (void)curl_multi_remove_handle(transport_of(&c->base)->multi, c->easy);
    c->added = false;
}

/* What became of it. Its handle is free again. */
static enum request_error conclude(struct curl_channel *c, CURLcode code, const char **ret_detail)
{
    struct exchange *x = c->base.x;

    x->done_ns = clock_now_ns();
    channel_connected(&c->base);
    enum request_error error = curl_judge(c, code, ret_detail);
    if (error == REQUEST_GENERATOR)
        x->sent_ns = 0;
    c->idle_since_ns = x->done_ns;
    x->status = c->status >= 200 ? c->status : 0;
    x->grpc_status = c->grpc_status;
    remove_easy(c);
    return error;
}

static struct curl_channel *next_ended(struct curl_transport *t, CURLcode *ret_code)
{
    struct curl_channel *c;
    CURLMsg *m;
    int left;

    while ((m = curl_multi_info_read(t->multi, &left))) {
        if (m->msg != CURLMSG_DONE)
            continue;
        *ret_code = m->data.result;
        (void)curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &c);
        return c;
    }
    return NULL;
}

static void run(struct curl_transport *t)
{
    int running;

    t->due = false;
    (void)curl_multi_socket_action(t->multi, CURL_SOCKET_TIMEOUT, 0, &running);
}

static void set_timer(struct curl_transport *t, int64_t when_ns)
{
    loop_set_timer(t->timer, when_ns, 0);
}

/* Exchanges that end at once, and whose channels go on at once, must not keep the loop here. */
#define TURNS_MAX 8

static void settle(struct curl_transport *t)
{
    struct curl_channel *c;
    CURLcode code;

    for (int turn = 0;; turn++) {
        t->settling = true;
        while ((c = next_ended(t, &code))) {
            const char *detail = NULL;
            enum request_error error = conclude(c, code, &detail);
            channel_finish(&c->base, error, detail); /* c may be gone */
        }
        t->settling = false;
        if (!t->due)
            return;
        if (turn == TURNS_MAX)
            break;
        run(t);
    }
    t->due = false;
    set_timer(t, clock_now_ns() + 1);
}

void curl_run(struct curl_transport *t, curl_socket_t fd, int action)
{
    int running;

    (void)curl_multi_socket_action(t->multi, fd, action, &running);
    settle(t);
}

static void on_timer(void *data)
{
    curl_run(data, CURL_SOCKET_TIMEOUT, 0);
}

static int want_timer(CURLM *multi, long timeout_ms, void *data)
{
    struct curl_transport *t = data;

    (void)multi;
    t->due = timeout_ms == 0;
    if (timeout_ms != 0)
        set_timer(t, timeout_ms < 0 ? LOOP_FOREVER : clock_now_ns() + timeout_ms * NS_PER_MS);
    return 0;
}

/* --- channels --- */

static struct channel *curl_channel_new(struct transport *base)
{
    struct curl_channel *c = xcalloc(1, sizeof(*c));

    c->base.transport = base;
    c->first_socket = -1;
    c->easy = curl_easy_init();
    if (!c->easy)
        abort(); /* out of memory */
    curl_shard_join(c);
    curl_setup(c);
    return &c->base;
}

static void curl_channel_free(struct channel *base)
{
    struct curl_channel *c = (struct curl_channel *)base;

    curl_disown_sockets(c);
    curl_easy_cleanup(c->easy);
    curl_shard_leave(c);
    strbuf_release(&c->path);
    strbuf_release(&c->body);
    strbuf_release(&c->headers);
    if (c->collected)
        strbuf_release(c->collected);
    free(c->collected);
    free(c->nodes);
    free(c);
}

/* What ends meanwhile is told from the loop. */
static void run_from_start(struct curl_transport *t)
{
    struct curl_channel *c;
    CURLcode code;

    run(t);
    while ((c = next_ended(t, &code))) {
        const char *detail = NULL;
        enum request_error error = conclude(c, code, &detail);
        channel_finish_later(&c->base, error, detail);
    }
    if (t->due)
        set_timer(t, clock_now_ns() + 1);
    t->due = false;
}

static void curl_start(struct channel *base, struct exchange *x)
{
    struct curl_channel *c = (struct curl_channel *)base;
    struct curl_transport *t = transport_of(base);
    const char *problem = curl_apply(c, x);

    if (problem) {
        channel_finish_later(base, REQUEST_GENERATOR, problem);
        return;
    }
    curl_answer_begin(c);
    x->sent_ns = clock_now_ns();
    if (curl_multi_add_handle(t->multi, c->easy) != CURLM_OK) {
        x->sent_ns = 0;
        channel_finish_later(base, REQUEST_GENERATOR, "libcurl takes no more requests");
        return;
    }
    c->added = true;
    if (!t->settling && t->due)
        run_from_start(t);
}

/* libcurl reads from a TLS connection before it closes it, which goes on with a handshake that is under way:
 * most of its cost, for nothing. */
static void curl_stop(struct channel *base)
{
    struct curl_channel *c = (struct curl_channel *)base;

    if (!c->written)
        curl_end_sockets(c);
    remove_easy(c);
}

static void curl_disconnect(struct channel *base)
{
    curl_end_sockets((struct curl_channel *)base);
}

/* --- the transport --- */

static int check_ca_file(const struct workload *w, struct error *err)
{
    if (!w->ca_file || fs_exists(w->ca_file))
        return 0;
    (void)position_error(err, w->at, "ca_file '%s' does not exist", w->ca_file);
    return error_hint(err, "it holds the certificates, in PEM, that sign the server's");
}

static int ended_socket(void)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        return -1;
    (void)close(pair[1]);
    return pair[0];
}

static struct transport *curl_make(struct loop *l, const struct workload *w, struct error *err)
{
    struct curl_transport *t;

    if (check_ca_file(w, err) < 0)
        return NULL;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        (void)error_set(err, ERROR_ENVIRONMENT, "cannot initialise libcurl");
        return NULL;
    }
    (void)signal(SIGPIPE, SIG_IGN); /* of the TLS library, which writes as to any file */
    t = xcalloc(1, sizeof(*t));
    unsigned version = curl_version_info(CURLVERSION_NOW)->version_num;
    t->prior_once = version >= 0x075800 && version < 0x080000;
    TAILQ_INIT(&t->roomy);
    t->ended_fd = ended_socket();
    t->multi = curl_multi_init();
    if (!t->multi)
        abort(); /* out of memory */
    t->timer = loop_add_timer(l, LOOP_FOREVER, 0, on_timer, t);
    (void)curl_multi_setopt(t->multi, CURLMOPT_SOCKETFUNCTION, curl_want_socket);
    (void)curl_multi_setopt(t->multi, CURLMOPT_SOCKETDATA, t);
    (void)curl_multi_setopt(t->multi, CURLMOPT_TIMERFUNCTION, want_timer);
    (void)curl_multi_setopt(t->multi, CURLMOPT_TIMERDATA, t);
    (void)curl_multi_setopt(t->multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
    (void)curl_multi_setopt(t->multi, CURLMOPT_MAXCONNECTS, KEPT_MAX);
    return &t->base;
}

static bool any_link_local(const struct addresses *all)
{
    for (size_t i = 0; i < all->len; i++)
        if (address_is_link_local(all, i))
            return true;
    return false;
}

/* HOST:PORT:ADDRESS,... so that libcurl resolves nothing itself. */
static void curl_ready(struct transport *base)
{
    struct curl_transport *t = (struct curl_transport *)base;
    CLEANUP_VALUE(strbuf_release) struct strbuf line = STRBUF_INIT;
    char text[INET6_ADDRSTRLEN];

    t->scoped = !any_link_local(&base->addresses); /* those need the zone for themselves */
    strbuf_addf(&line, "%s:%d:", base->target.host, base->target.port);
    for (size_t i = 0; i < base->addresses.len; i++)
        strbuf_addf(&line, "%s%s", i ? "," : "", address_text(&base->addresses, i, text));
    if (strchr(base->target.host, ':'))
        return; /* an address already */
    t->resolve = curl_slist_append(NULL, line.data);
    if (!t->resolve)
        abort(); /* out of memory */
}

static void curl_free_transport(struct transport *base)
{
    struct curl_transport *t = (struct curl_transport *)base;

    (void)curl_multi_cleanup(t->multi);
    loop_remove_timer(t->timer);
    if (t->ended_fd >= 0)
        (void)close(t->ended_fd);
    curl_slist_free_all(t->resolve);
    vec_release(&t->sockets);
    curl_global_cleanup();
    free(t);
}

const struct transport_ops curl_ops = {.name = "curl",
                                       .make = curl_make,
                                       .ready = curl_ready,
                                       .free = curl_free_transport,
                                       .prepare = curl_prepare,
                                       .release = curl_release,
                                       .channel_new = curl_channel_new,
                                       .channel_free = curl_channel_free,
                                       .start = curl_start,
                                       .stop = curl_stop,
                                       .disconnect = curl_disconnect};
