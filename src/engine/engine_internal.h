/* SPDX-License-Identifier: MIT */
/* What the files of this module share: the engine itself, one call, and the base of streams. */
#ifndef BENCHCTL_ENGINE_INTERNAL_H
#define BENCHCTL_ENGINE_INTERNAL_H

#include "benchctl/base/arena.h"
#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"
#include "benchctl/engine.h"

/* The API versions that this client knows. */
#define API_MIN "1.40"
#define API_MAX "1.51"

#define QUICK_NS (30 * NS_PER_S)   /* inspect, list, create: milliseconds on an idle machine */
#define SLOW_NS (120 * NS_PER_S)   /* start, remove: they wait for the kernel and for disks */
#define SILENT_NS (300 * NS_PER_S) /* a pull or load without a byte of progress */
#define GONE_NS (30 * NS_PER_S)    /* until a removed object has really gone */

#define LEAST_FAULT 500 /* HTTP statuses from here on: the engine could not, whatever was asked */

struct engine {
    struct loop *loop;
    struct http *http;
    struct arena *arena; /* strings of endpoint and facts */
    struct http_endpoint endpoint;
    const char *origin; /* "http://docker", "https://host:2376" */
    const char *prefix; /* "/v1.41" */
    struct engine_facts facts;
    int64_t deadline_ns; /* LOOP_FOREVER when there is none */
    uint64_t faults;     /* engine_faults() */
    bool podman;
};

/* --- one call --- */

struct engine_request {
    const char *method;       /* NULL: GET */
    const char *path;         /* with the query, after the version's prefix */
    const struct json *json;  /* body; may be NULL */
    const char *content_type; /* of read_body */
    const char *extra_header; /* one more header line; may be NULL */
    http_read_fn *read_body;
    void *data;         /* for read_body */
    int64_t timeout_ns; /* 0: QUICK_NS */
    bool unversioned;
    bool once; /* never sent twice: on a connection that was idle, libcurl tries again when it turns out to be
                  dead */
    const char *what; /* what failed, put before the message: "cannot start container 'x'"; NULL: nothing */
};

/* Sends and waits. *ret (may be NULL) is the reply as JSON, NULL when it is empty. A status that is not 2xx
 * or 304 is an error with the engine's own text: ERROR_NOT_FOUND (404), ERROR_CONFLICT (409), else
 * ERROR_ENVIRONMENT. */
int engine_request(struct engine *e, const struct engine_request *r, struct json **ret,
                   struct error *err) MUST_CHECK;

/* remove.c: the answer to a removal was `status` with this text: until the container has gone, at most until
 * the deadline. */
int engine_finish_remove(struct engine *e, const char *id, int status, const char *reply, int64_t deadline_ns,
                         struct error *err) MUST_CHECK;

/* The options of a request, for the callers that start it themselves. The strings live in `keep`. */
struct http_options engine_http_options(struct engine *e, const struct engine_request *r, struct arena *keep);
/* How long a call may take: its own limit, or what is left until the engine's deadline. -1 when that is over.
 */
int engine_time_left(const struct engine *e, int64_t timeout_ns, int64_t *ret_ns,
                     struct error *err) MUST_CHECK;

/* Counts what a call's end says against the engine itself: no answer (status 0), or one of its own faults. */
void engine_count_fault(struct engine *e, int status, const struct error *err);
/* The error that a reply's status and text make. */
int engine_refusal(int status, const char *body, size_t len, struct error *err);
bool engine_status_ok(int status);

/* Says how to get an engine when `err` is a connection that could not be made. */
void engine_add_hint(const struct engine *e, struct error *err);

/* --- text --- */

/* "/containers/" + escaped id + rest. The caller frees. */
char *engine_path(const char *before, const char *name, const char *after);
/* Adds "?key=value" or "&key=value", escaped. */
void query_add(struct strbuf *path, const char *key, const char *value);
/* filters={"label":["KEY=VALUE"],...}; NULL value: just the key. `type` may be NULL. */
void query_add_filters(struct strbuf *path, const char *label, const char *value, const char *type);
/* Appends a text from outside for a message: control characters become blanks or '?', newlines stay when
 * asked. */
void add_clean(struct strbuf *out, const char *text, size_t len, bool keep_lines);
/* The first 12 characters of an id, for messages. buf >= 72. */
const char *engine_short_id(const char *id, char *buf);

#define SHORT_ID 72

/* name[:tag] or name@digest; without a tag it is `latest` (image.c). The caller frees both. */
void split_reference(const char *reference, char **ret_name, char **ret_tag);

/* --- streams --- */

struct engine_stream {
    struct engine *engine;
    void (*close)(struct engine_stream *s); /* frees it, too */
    bool is_logs;
};

/* Starts a GET that is read piece by piece on a connection of its own. */
int engine_stream_start(struct engine *e, const char *path, const struct http_options *callbacks,
                        struct http_request **ret, struct error *err) MUST_CHECK;

/* A GET whose reply goes to callbacks->on_body (and on_head, both of 2xx replies only), waited for. */
int engine_download(struct engine *e, const char *path, const struct http_options *callbacks,
                    struct error *err) MUST_CHECK;

/* Every whole JSON value of `buffer` goes to `each`; what is left is a part of one. -1 on something that is
 * not JSON. */
int json_drain(struct strbuf *buffer,
               void (*each)(const struct json *j, const char *bytes, size_t len, void *data), void *data,
               struct error *err) MUST_CHECK;

/* --- progress streams: build, pull, load, import --- */

struct progress_run {
    const struct engine_request *request;
    engine_progress_fn *progress;
    void *data;
    int64_t idle_timeout_ns;
};
struct progress_end {
    char *id;             /* from {"aux":{"ID"}} or a status that is an id; NULL */
    char *last_status;    /* NULL: none */
    struct strbuf output; /* the end of what the steps printed */
};
void progress_end_release(struct progress_end *p);
/* 0 when the stream was read to its proper end and carried no error. `ret` is filled in any case. */
int engine_progress(struct engine *e, const struct progress_run *run, struct progress_end *ret,
                    struct error *err) MUST_CHECK;

#endif
