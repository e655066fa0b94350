/* SPDX-License-Identifier: MIT */
/* What the files of this module share. */
#ifndef BENCHCTL_WATCH_INTERNAL_H
#define BENCHCTL_WATCH_INTERNAL_H

#include "benchctl/base/clock.h"
#include "benchctl/base/json.h"
#include "benchctl/base/strbuf.h"
#include "benchctl/watch.h"

/* After its limit a trial has a minute for its evidence, and its containers are removed. */
#define TRIAL_GRACE_S 180

/* status.c: how many trials ended how; the caller frees. */
struct json *watch_outcomes_json(const struct watch_status *s);

/* payload.c: the body of a webhook, pure. */
struct payload {
    enum watch_event event;
    const struct watch_status *status;
    const char *dir, *report; /* report: NULL: none */
    int exit_code;            /* -1: not over yet */
};
void payload_write(const struct payload *p, struct strbuf *out);
/* What an application said does not leave the machine, and nothing in it calls anybody. */
void payload_add_reason(struct strbuf *out, const char *reason);

/* webhook.c: deliveries, one at a time, in order. */
struct webhook;
struct webhook_options {
    const char *url;
    /* The first that could not be delivered: called once. */
    void (*lost)(const char *event, const char *host, const char *why, void *data);
    void *data;
    int64_t retry_ns, timeout_ns; /* for tests; 0: the usual */
};
int webhook_open(struct loop *l, const struct webhook_options *o, struct webhook **ret,
                 struct error *err) MUST_CHECK;
void webhook_send(struct webhook *h, enum watch_event event, const char *body, size_t len);
void webhook_drain(struct webhook *h, int64_t deadline_ns); /* waits for what is on its way */
void webhook_close(struct webhook *h);                      /* NULL is fine */
DEFINE_CLEANUP(struct webhook *, webhook_close);
/* "host" or "host:port" of an http URL, without user and password, into `ret`. -1: it is none. */
int webhook_host(const char *url, char *ret, size_t size);

/* service.c: the service manager, where there is one. */
struct service;
struct service *service_open(struct loop *l); /* never NULL: without one it does nothing */
void service_tell(struct service *s, const char *fmt, ...) PRINTF_LIKE(2, 3); /* "READY=1", lines */
void service_ping(struct service *s);                                         /* an own sign of life */
void service_patience(struct service *s, int64_t ns); /* no signs of life for so long now: that is meant */
void service_close(struct service *s);

#endif
