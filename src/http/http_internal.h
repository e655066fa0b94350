/* SPDX-License-Identifier: MIT */
/* What the files of this module share. curl.h is included here and nowhere else. */
#ifndef BENCHCTL_HTTP_INTERNAL_H
#define BENCHCTL_HTTP_INTERNAL_H

#include <curl/curl.h>
#include "benchctl/http.h"

#define MAX_BODY_DEFAULT ((size_t)16 << 20)
#define MAX_ERROR_BODY ((size_t)64 << 10) /* of a reply that is not 2xx while on_body was given */
#define CONNECT_TIMEOUT_DEFAULT_NS (10 * NS_PER_S)

struct http {
    struct loop *loop;
    CURLM *multi;
    struct loop_timer *timer;
    struct http_request *requests; /* all that have not been finished */
    bool inside;                   /* libcurl is running: its multi functions must not be called */
};

struct http_request {
    struct http *http;
    struct http_request *previous, *next;
    CURL *easy;
    struct curl_slist *headers;
    char *peer; /* for messages: 'https://host:1' or a name */
    bool added, cancelled,
        stopped; /* added: known to the multi handle; stopped: on_body or read_body said so */

    http_read_fn *read_body;
    http_head_fn *on_head;
    http_write_fn *on_body;
    http_done_fn *done;
    void *data;

    bool headers_done, truncated;
    int status;
    struct strbuf body;
    size_t max_body;
    int64_t started_ns, timeout_ns, connect_timeout_ns;
    int64_t idle_timeout_ns, last_byte_ns;
    struct loop_timer *idle_timer;
    char curl_text[CURL_ERROR_SIZE];
};

/* request.c: a request from options, not yet running; its callbacks are set up. */
struct http_request *request_new(struct http *h, const struct http_options *o);
void request_free(struct http_request *r);
const char *request_content_type(const struct http_request *r);
const char *request_content_encoding(const struct http_request *r);

/* describe.c: what went wrong, in our words. */
void describe_failure(const struct http_request *r, CURLcode code, struct error *err);
/* "https://host:1" of a URL: all before the path. The caller frees. */
char *url_origin(const char *url);

#endif
