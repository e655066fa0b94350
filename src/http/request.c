/* SPDX-License-Identifier: MIT */
/* One request: its libcurl handle and what happens to its bytes. */
#include <strings.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/version.h"
#include "http_internal.h"

static size_t on_header(char *bytes, size_t size, size_t count, void *data)
{
    struct http_request *r = data;
    size_t len = size * count;
    long status = 0;

    r->last_byte_ns = clock_now_ns();
    if (r->cancelled)
        return 0;
    if (r->headers_done || len > 2 || (bytes[0] != '\r' && bytes[0] != '\n'))
        return len;
    (void)curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200)
        return len; /* 100 Continue and the like: the real head follows */
    r->headers_done = true;
    r->status = (int)status;
    if (r->on_head)
        r->on_head(r->status, request_content_type(r), r->data);
    return r->cancelled ? 0 : len;
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *data)
{
    struct http_request *r = data;
    size_t len = size * count, room;
    bool good = r->status >= 200 && r->status < 300;

    r->last_byte_ns = clock_now_ns();
    if (r->cancelled)
        return 0;
    if (r->on_body && good) {
        r->stopped = r->on_body(bytes, len, r->data) != 0;
        return r->stopped || r->cancelled ? 0 : len;
    }
    room = r->max_body - r->body.len;
    strbuf_add(&r->body, bytes, len < room ? len : room);
    if (len <= room || r->on_body)
        return len; /* the text of a refused stream is for a message: its head is enough */
    r->truncated = true;
    return 0;
}

static size_t on_upload(char *buffer, size_t size, size_t count, void *data)
{
    struct http_request *r = data;
    ptrdiff_t got;

    r->last_byte_ns = clock_now_ns();
    if (r->cancelled)
        return CURL_READFUNC_ABORT;
    got = r->read_body(buffer, size * count, r->data);
    if (got >= 0)
        return (size_t)got;
    r->stopped = true;
    return CURL_READFUNC_ABORT;
}

static bool has_header(const struct http_options *o, const char *name_colon)
{
    for (const char *const *h = o->headers; h && *h; h++)
        if (strncasecmp(*h, name_colon, strlen(name_colon)) == 0)
            return true;
    return false;
}

static void add_header(struct http_request *r, const char *text)
{
    struct curl_slist *list = curl_slist_append(r->headers, text);

    if (!list)
        abort();
    r->headers = list;
}

static void set_body(struct http_request *r, const struct http_options *o)
{
    const char *method = o->method ? o->method : "GET";
    bool get = strcmp(method, "GET") == 0;

    if (strcmp(method, "HEAD") == 0) {
        (void)curl_easy_setopt(r->easy, CURLOPT_NOBODY, 1L);
    } else if (o->read_body) {
        (void)curl_easy_setopt(r->easy, CURLOPT_POST, 1L);
        (void)curl_easy_setopt(r->easy, CURLOPT_READFUNCTION, on_upload);
        (void)curl_easy_setopt(r->easy, CURLOPT_READDATA, r);
        add_header(r, "Transfer-Encoding: chunked");
    } else if (o->body || !get) {
        (void)curl_easy_setopt(r->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(o->body ? o->body_len : 0));
        (void)curl_easy_setopt(r->easy, CURLOPT_COPYPOSTFIELDS, o->body ? o->body : "");
    }
    if (!get)
        (void)curl_easy_setopt(r->easy, CURLOPT_CUSTOMREQUEST, method);
    for (const char *const *h = o->headers; h && *h; h++)
        add_header(r, *h);
    if (!has_header(o, "content-type:"))
        add_header(r, "Content-Type:"); /* libcurl would call any body a web form */
    add_header(r, "Expect:");
    (void)curl_easy_setopt(r->easy, CURLOPT_HTTPHEADER, r->headers);
}

static void set_endpoint(struct http_request *r, const struct http_endpoint *e)
{
    bool verify = !e || e->verify;

    if (!e || !e->use_proxy)
        (void)curl_easy_setopt(r->easy, CURLOPT_NOPROXY, "*");
    (void)curl_easy_setopt(r->easy, CURLOPT_SSL_VERIFYPEER, verify ? 1L : 0L);
    (void)curl_easy_setopt(r->easy, CURLOPT_SSL_VERIFYHOST, verify ? 2L : 0L);
    if (!e)
        return;
    if (e->unix_socket)
        (void)curl_easy_setopt(r->easy, CURLOPT_UNIX_SOCKET_PATH, e->unix_socket);
    if (e->ca_file)
        (void)curl_easy_setopt(r->easy, CURLOPT_CAINFO, e->ca_file);
    if (e->cert_file)
        (void)curl_easy_setopt(r->easy, CURLOPT_SSLCERT, e->cert_file);
    if (e->key_file)
        (void)curl_easy_setopt(r->easy, CURLOPT_SSLKEY, e->key_file);
}

static long ms_of(int64_t ns)
{
    return ns <= 0 ? 0 : ns < NS_PER_MS ? 1 : (long)(ns / NS_PER_MS);
}

static void set_transfer(struct http_request *r, const struct http_options *o)
{
    CURL *c = r->easy;

    (void)curl_easy_setopt(c, CURLOPT_URL, o->url);
    (void)curl_easy_setopt(c, CURLOPT_PRIVATE, r);
    (void)curl_easy_setopt(c, CURLOPT_ERRORBUFFER, r->curl_text);
    (void)curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    (void)curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L);
    (void)curl_easy_setopt(c, CURLOPT_USERAGENT, "benchctl/" BENCHCTL_VERSION);
    (void)curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L); /* a silent stream notices a dead peer */
    (void)curl_easy_setopt(c, CURLOPT_TCP_KEEPIDLE, 30L);
    (void)curl_easy_setopt(c, CURLOPT_TCP_KEEPINTVL, 10L);
    (void)curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl_easy_setopt(c, CURLOPT_HEADERDATA, r);
    (void)curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_bytes);
    (void)curl_easy_setopt(c, CURLOPT_WRITEDATA, r);
    (void)curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, ms_of(r->timeout_ns));
    (void)curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, ms_of(r->connect_timeout_ns));
    if (o->fresh_connection) {
        (void)curl_easy_setopt(c, CURLOPT_FRESH_CONNECT, 1L);
        (void)curl_easy_setopt(c, CURLOPT_FORBID_REUSE, 1L);
    }
}

struct http_request *request_new(struct http *h, const struct http_options *o)
{
    struct http_request *r = xcalloc(1, sizeof(*r));
    const struct http_endpoint *e = o->endpoint;
    CLEANUP_FREE char *origin = url_origin(o->url);

    r->easy = curl_easy_init();
    if (!r->easy)
        abort(); /* out of memory */
    r->http = h;
    r->peer = e && e->name ? xstrdup(e->name) : xasprintf("'%s'", origin);
    r->read_body = o->read_body;
    r->on_head = o->on_head;
    r->on_body = o->on_body;
    r->done = o->done;
    r->data = o->data;
    r->max_body = o->on_body ? MAX_ERROR_BODY : o->max_body ? o->max_body : MAX_BODY_DEFAULT;
    r->body.max = r->max_body + 1;
    r->timeout_ns = o->timeout_ns;
    r->connect_timeout_ns = o->connect_timeout_ns > 0 ? o->connect_timeout_ns : CONNECT_TIMEOUT_DEFAULT_NS;
    r->idle_timeout_ns = o->idle_timeout_ns;
    r->started_ns = r->last_byte_ns = clock_now_ns();
    set_transfer(r, o);
    set_endpoint(r, e);
    set_body(r, o);
    return r;
}

void request_free(struct http_request *r)
{
    if (!r)
        return;
    loop_remove_timer(r->idle_timer);
    curl_easy_cleanup(r->easy);
    curl_slist_free_all(r->headers);
    strbuf_release(&r->body);
    free(r->peer);
    free(r);
}

const char *request_content_type(const struct http_request *r)
{
    const char *type = NULL;

    (void)curl_easy_getinfo(r->easy, CURLINFO_CONTENT_TYPE, &type);
    return type ? type : "";
}

const char *request_content_encoding(const struct http_request *r)
{
    struct curl_header *header;

    if (curl_easy_header(r->easy, "Content-Encoding", 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
        return "";
    return header->value;
}
