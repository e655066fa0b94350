/* SPDX-License-Identifier: MIT */
/* What libcurl reads of an answer, and what its result codes count as. */
#include <errno.h>
#include <strings.h>
#include "curl.h"

void curl_answer_begin(struct curl_channel *c)
{
    c->connect_errnum = 0;
    c->status = 0;
    c->headed = c->has_length = c->written = c->peer_gone = false;
    c->problem = NULL;
    c->head_bytes = 0;
    c->header_ok = c->base.x->kind->header_name == NULL;
    c->grpc_status = -1;
    c->text[0] = '\0';
    if (c->collected)
        strbuf_clear(c->collected);
}

static bool begins(const char *line, size_t len, const char *name, size_t name_len)
{
    return len > name_len && line[name_len] == ':' && strncasecmp(line, name, name_len) == 0;
}

/* 0 to 16 are defined; any number is kept. */
static int grpc_status(const char *value, size_t len)
{
    int status = 0;

    if (!len || len > 6)
        return -1;
    for (size_t i = 0; i < len; i++) {
        if (value[i] < '0' || value[i] > '9')
            return -1;
        status = status * 10 + (value[i] - '0');
    }
    return status;
}

static void check_length(struct curl_channel *c, const char *value, size_t len)
{
    uint64_t length = 0;
    size_t digits = 0;

    for (; digits < len && value[digits] >= '0' && value[digits] <= '9'; digits++)
        length = length * 10 + (uint64_t)(value[digits] - '0');
    if (digits > 18) /* libcurl would pass it over, and take what comes until the end for all of it */
        c->problem = "a Content-Length that is none";
    else if (c->has_length && length != c->length)
        c->problem = "several Content-Lengths that differ";
    c->has_length = true;
    c->length = length;
}

static void look_at(struct curl_channel *c, const char *line, size_t len)
{
    const struct request_kind *k = c->base.x->kind;
    const char *value = memchr(line, ':', len), *end = line + len;

    if (!value)
        return;
    for (value++; value < end && (*value == ' ' || *value == '\t'); value++)
        ;
    while (end > value && (unsigned char)end[-1] <= ' ')
        end--;
    if (k->header_name && begins(line, len, k->header_name, strlen(k->header_name)))
        c->header_ok |= header_matches(k, value, (size_t)(end - value));
    if (begins(line, len, "Content-Length", sizeof("Content-Length") - 1))
        check_length(c, value, (size_t)(end - value));
    if (k->is_grpc && begins(line, len, "grpc-status", sizeof("grpc-status") - 1))
        c->grpc_status = grpc_status(value, (size_t)(end - value));
}

/* Lines of every head, interim ones too, and of trailers. */
size_t curl_on_header(char *bytes, size_t size, size_t count, void *data)
{
    struct curl_channel *c = data;
    size_t len = size * count;

    c->base.x->received_bytes += len;
    c->head_bytes += len;
    if (c->head_bytes > ANSWER_HEAD_MAX)
        c->problem = "a head that does not end";
    if (len > 9 && !c->headed && memcmp(bytes, "HTTP/", 5) == 0) {
        const char *blank = memchr(bytes, ' ', len);
        c->status = blank ? (int)strtol(blank, NULL, 10) : 0;
        c->header_ok = c->base.x->kind->header_name == NULL;
        c->has_length = false;
        if (c->status == 101 &&
            ((const struct curl_kind *)c->base.x->kind->curl)->version != CURL_HTTP_VERSION_2_0)
            c->problem = "a switch of protocols that was not asked for";
    } else if (len <= 2 && (bytes[0] == '\r' || bytes[0] == '\n')) {
        c->headed |= c->status >= 200;
    } else if (c->status >= 200) {
        look_at(c, bytes, len);
    }
    return c->problem ? 0 : len; /* 0 makes libcurl give up */
}

size_t curl_on_body(char *bytes, size_t size, size_t count, void *data)
{
    struct curl_channel *c = data;
    size_t len = size * count;

    c->base.x->received_bytes += len;
    c->head_bytes = 0; /* trailers count anew */
    if (!c->base.x->kind->wants_body)
        return len;
    if (!c->collected)
        c->collected = xcalloc(1, sizeof(*c->collected));
    size_t room = ANSWER_BODY_MAX - c->collected->len;
    strbuf_add(c->collected, bytes, len < room ? len : room);
    return len;
}

/* --- results --- */

static const struct {
    CURLcode code;
    enum request_error error;
    const char *detail; /* NULL: libcurl's own words */
} results[] = {
    {CURLE_COULDNT_RESOLVE_HOST, REQUEST_CONNECT, NULL},
    {CURLE_COULDNT_CONNECT, REQUEST_CONNECT, NULL},
    {CURLE_INTERFACE_FAILED, REQUEST_CONNECT, NULL},
    {CURLE_OPERATION_TIMEDOUT, REQUEST_CONNECT, "no connection in time"},
    {CURLE_SSL_CONNECT_ERROR, REQUEST_TLS, "TLS handshake failed"},
    {CURLE_PEER_FAILED_VERIFICATION, REQUEST_TLS, "certificate not trusted"},
    {CURLE_SSL_CIPHER, REQUEST_TLS, NULL},
    {CURLE_SSL_CERTPROBLEM, REQUEST_TLS, NULL},
    {CURLE_SSL_CACERT_BADFILE, REQUEST_TLS, "ca_file cannot be used"},
    {CURLE_SSL_ISSUER_ERROR, REQUEST_TLS, NULL},
    {CURLE_SSL_INVALIDCERTSTATUS, REQUEST_TLS, NULL},
    {CURLE_SSL_ENGINE_INITFAILED, REQUEST_TLS, NULL},
    {CURLE_SEND_ERROR, REQUEST_RESET, "closed while the request was sent"},
    {CURLE_RECV_ERROR, REQUEST_RESET, "closed before the whole answer was there"},
    {CURLE_GOT_NOTHING, REQUEST_RESET, "closed without an answer"},
    {CURLE_ABORTED_BY_CALLBACK, REQUEST_RESET, "closed without an answer"}, /* of curl_connected() */
    {CURLE_PARTIAL_FILE, REQUEST_RESET, "closed before the whole answer was there"},
    {CURLE_HTTP2_STREAM, REQUEST_RESET, "the HTTP/2 stream was reset"},
    {CURLE_UNSUPPORTED_PROTOCOL, REQUEST_PROTOCOL, "no HTTP answer"},
    {CURLE_WEIRD_SERVER_REPLY, REQUEST_PROTOCOL, "no HTTP answer"},
    {CURLE_HTTP2, REQUEST_PROTOCOL, "malformed HTTP/2"},
    {CURLE_OUT_OF_MEMORY, REQUEST_GENERATOR, NULL},
    {CURLE_FAILED_INIT, REQUEST_GENERATOR, NULL},
};

/* What the TLS library says, in words of our own. */
static const char *tls_detail(CURLcode code, const char *text, const char *detail)
{
    static const struct {
        CURLcode code;
        const char *part, *detail;
    } all[] = {
        {CURLE_PEER_FAILED_VERIFICATION, "self-signed certificate in",
         "certificate chain ends with an unknown authority"},
        {CURLE_PEER_FAILED_VERIFICATION, "self signed certificate in",
         "certificate chain ends with an unknown authority"},
        {CURLE_PEER_FAILED_VERIFICATION, "self-signed", "certificate is self-signed"},
        {CURLE_PEER_FAILED_VERIFICATION, "self signed", "certificate is self-signed"},
        {CURLE_PEER_FAILED_VERIFICATION, "local issuer", "certificate of an unknown authority"},
        {CURLE_PEER_FAILED_VERIFICATION, "has expired", "certificate has expired"},
        {CURLE_PEER_FAILED_VERIFICATION, "not yet valid", "certificate is not yet valid"},
        {CURLE_PEER_FAILED_VERIFICATION, "target host name", "certificate is for another host"},
        {CURLE_PEER_FAILED_VERIFICATION, "does not match", "certificate is for another host"},
        {CURLE_SSL_CONNECT_ERROR, "wrong version number", "TLS handshake failed: the server speaks no TLS"},
        {CURLE_SSL_CONNECT_ERROR, "packet length too long", "TLS handshake failed: the server speaks no TLS"},
        {CURLE_SSL_CONNECT_ERROR, "http request", "TLS handshake failed: the server speaks no TLS"},
        {CURLE_SSL_CONNECT_ERROR, "unsupported protocol", "TLS handshake failed: no common version of TLS"},
        {CURLE_SSL_CONNECT_ERROR, "protocol version", "TLS handshake failed: no common version of TLS"},
        {CURLE_SSL_CONNECT_ERROR, "certificate required",
         "TLS handshake failed: the server wants a certificate"},
        {CURLE_SSL_CONNECT_ERROR, "alert", "TLS handshake failed: the server refused it"},
        {CURLE_SSL_CONNECT_ERROR, "SSL_ERROR_SYSCALL", "TLS handshake failed: closed by the server"},
        {CURLE_SSL_CONNECT_ERROR, "unexpected eof", "TLS handshake failed: closed by the server"},
    };

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (all[i].code == code && strstr(text, all[i].part))
            return all[i].detail;
    return detail;
}

/* libcurl calls it a receive error when a chunk is malformed, and when HTTP/2 ends with its connection. */
static enum request_error tell_apart(const struct curl_channel *c, CURLcode code, enum request_error error,
                                     const char **detail)
{
    if (code == CURLE_COULDNT_CONNECT) {
        long errnum = c->connect_errnum;
        if (!errnum)
            (void)curl_easy_getinfo(c->easy, CURLINFO_OS_ERRNO, &errnum);
        if (errnum) {
            *detail = errno_text((int)errnum);
            return connect_error((int)errnum);
        }
    }
    if (error == REQUEST_TLS)
        *detail = tls_detail(code, c->text, *detail);
    if (code == CURLE_OUT_OF_MEMORY && c->written && !c->headed) { /* its word for a line of 100 KB */
        *detail = "a head that does not end";
        return REQUEST_PROTOCOL;
    }
    if (code == CURLE_HTTP2 && c->peer_gone) {
        *detail = "closed before the whole answer was there";
        return REQUEST_RESET;
    }
    if (code == CURLE_RECV_ERROR && (strstr(c->text, "chunk") || strstr(c->text, "hexadecimal"))) {
        *detail = "a chunk that is none";
        return REQUEST_PROTOCOL;
    }
    return error;
}

static enum request_error failed(const struct curl_channel *c, CURLcode code, const char **ret_detail)
{
    if (c->problem) {
        *ret_detail = c->problem;
        return REQUEST_PROTOCOL;
    }
    *ret_detail = curl_easy_strerror(code);
    for (size_t i = 0; i < ARRAY_LEN(results); i++) {
        if (results[i].code != code)
            continue;
        if (results[i].detail)
            *ret_detail = results[i].detail;
        return tell_apart(c, code, results[i].error, ret_detail);
    }
    return REQUEST_PROTOCOL;
}

static bool right_version(const struct curl_channel *c)
{
    const struct curl_kind *k = c->base.x->kind->curl;
    long version = 0;

    if (!k->wanted_version)
        return true;
    (void)curl_easy_getinfo(c->easy, CURLINFO_HTTP_VERSION, &version);
    return version == k->wanted_version;
}

enum request_error curl_judge(struct curl_channel *c, CURLcode code, const char **ret_detail)
{
    if (code == CURLE_OK && !c->headed)
        code = CURLE_PARTIAL_FILE; /* libcurl is content with a head that ends in the middle */
    if (code != CURLE_OK)
        return failed(c, code, ret_detail);
    if (!right_version(c)) {
        *ret_detail = "the server does not speak HTTP/2";
        return REQUEST_PROTOCOL;
    }
    struct answer_facts facts = {.status = c->status,
                                 .grpc_status = c->grpc_status,
                                 .header_ok = c->header_ok,
                                 .body = c->collected ? c->collected->data : NULL,
                                 .body_len = c->collected ? c->collected->len : 0};
    return answer_judge(c->base.x, &facts, ret_detail);
}
