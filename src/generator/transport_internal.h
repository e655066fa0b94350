/* SPDX-License-Identifier: MIT */
/* What both transports share: the base of their objects, failures told later, the time to connect, judging.
 */
#ifndef BENCHCTL_GENERATOR_TRANSPORT_INTERNAL_H
#define BENCHCTL_GENERATOR_TRANSPORT_INTERNAL_H

#include <sys/queue.h>
#include "address.h"
#include "transport.h"

struct transport_ops {
    const char *name;
    struct transport *(*make)(struct loop *l, const struct workload *w, struct error *err);
    void (*ready)(struct transport *t); /* the target is known; may be NULL */
    void (*free)(struct transport *t);
    /* May be NULL; a kind's common part is ready when it is called. */
    int (*prepare)(struct transport *t, struct request_kind *k, struct arena *a, struct error *err);
    void (*release)(struct transport *t, struct request_kind *k); /* what prepare made; may be NULL */
    struct channel *(*channel_new)(struct transport *t);
    void (*channel_free)(struct channel *c); /* nothing is under way */
    void (*start)(struct channel *c, struct exchange *x);
    void (*stop)(struct channel *c); /* the exchange under way is given up, with its connection */
    void (*disconnect)(struct channel *c);
};
extern const struct transport_ops plain_ops, curl_ops;

TAILQ_HEAD(channel_list, channel);

struct transport {
    const struct transport_ops *ops;
    struct loop *loop;
    const struct workload *w;
    struct arena *arena;
    struct target target;
    struct addresses addresses;
    VEC(regex_t *) regexes;
    VEC(struct request_kind *) kinds;
    size_t channels;
    struct channel_list failed, connecting;
    struct loop_timer *failed_timer, *connect_timer;
};

enum channel_queue { QUEUE_NONE, QUEUE_FAILED, QUEUE_CONNECTING };

/* First member of each transport's own. */
struct channel {
    struct transport *transport;
    struct exchange *x; /* under way; NULL: idle */
    TAILQ_ENTRY(channel) queue;
    int64_t connect_by_ns;
    enum channel_queue queued;
};

/* Ends the exchange from the loop's next round. The transport is through with it. */
void channel_finish_later(struct channel *c, enum request_error error, const char *detail);
/* Ends it now: the last thing that the caller does, the channel may be gone afterwards. */
void channel_finish(struct channel *c, enum request_error error, const char *detail);

/* Between both the time to connect runs; when it is over, the exchange is stopped and fails. */
void channel_connecting(struct channel *c, int64_t since_ns);
void channel_connected(struct channel *c);

/* A whole answer has come; its head has been looked at. */
struct answer_facts {
    int status, grpc_status; /* grpc_status -1: none came */
    bool header_ok;          /* expect.header matched, or nothing was expected */
    const char *body;        /* what was collected for regular expressions */
    size_t body_len;
};
/* Sets the exchange's `fallback`, too. */
enum request_error answer_judge(struct exchange *x, const struct answer_facts *f, const char **ret_detail);
bool header_matches(const struct request_kind *k, const char *value, size_t len);

/* What connecting that failed so counts as: REQUEST_CONNECT, REQUEST_RESET or REQUEST_GENERATOR. */
enum request_error connect_error(int errnum);
const char *errno_text(int errnum); /* static */

/* render.c: percent-encodes what cannot stand in a path; how many bytes those were. */
size_t path_encode(const char *text, size_t len, struct strbuf *out);
/* `out` gets what the text is this time. NULL, or why it cannot be sent. */
const char *render_path(const struct request_text *t, const struct workload_values *v, struct strbuf *out);
const char *render_header(const struct request_text *t, const struct workload_values *v, struct strbuf *out);
void render_body(const struct request_text *t, const struct workload_values *v, struct strbuf *out);

#endif
