/* SPDX-License-Identifier: MIT */
/* libcurl's codes and texts as messages that name the peer and say what to look at. */
#include <ctype.h>
#include <strings.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/units.h"
#include "http_internal.h"

char *url_origin(const char *url)
{
    const char *start = strstr(url, "://");
    size_t len = start ? (size_t)(start - url) + 3 : 0;

    return xstrndup(url, len + strcspn(url + len, "/?#"));
}

static bool has(const char *text, const char *part)
{
    return strcasestr(text, part) != NULL;
}

/* The text of libcurl, starting in lower case as ours do, without a full stop. */
static void own_words(const struct http_request *r, CURLcode code, char out[CURL_ERROR_SIZE])
{
    const char *text = r->curl_text[0] ? r->curl_text : curl_easy_strerror(code);
    size_t len = strcspn(text, "\r\n");

    snprintf(out, CURL_ERROR_SIZE, "%.*s", (int)len, text);
    len = strlen(out);
    if (len && out[len - 1] == '.')
        out[len - 1] = '\0';
    if (isupper((unsigned char)out[0]) && islower((unsigned char)out[1]))
        out[0] = (char)tolower((unsigned char)out[0]);
}

static void describe_timeout(const struct http_request *r, struct error *err)
{
    int64_t waited_ns = clock_now_ns() - r->started_ns;
    curl_off_t connected_us = 0;
    char text[64];

    (void)curl_easy_getinfo(r->easy, CURLINFO_PRETRANSFER_TIME_T, &connected_us);
    duration_human(waited_ns, text);
    if (!connected_us && !r->headers_done)
        (void)error_set(err, ERROR_TIMEOUT, "cannot connect to %s: no answer within %s", r->peer, text);
    else if (!r->headers_done)
        (void)error_set(err, ERROR_TIMEOUT, "no answer from %s within %s", r->peer, text);
    else if (r->idle_timeout_ns > 0 && (r->timeout_ns <= 0 || waited_ns < r->timeout_ns))
        (void)error_set(err, ERROR_TIMEOUT, "no more bytes from %s for %s", r->peer,
                        duration_human(r->idle_timeout_ns, text));
    else
        (void)error_set(err, ERROR_TIMEOUT, "the reply of %s is not complete after %s", r->peer, text);
}

static void describe_connect(const struct http_request *r, const char *words, struct error *err)
{
    long os_errno = 0;

    (void)curl_easy_getinfo(r->easy, CURLINFO_OS_ERRNO, &os_errno);
    if (os_errno)
        (void)error_errno(err, ERROR_ENVIRONMENT, (int)os_errno, "cannot connect to %s", r->peer);
    else
        (void)error_set(err, ERROR_ENVIRONMENT, "cannot connect to %s: %s", r->peer, words);
}

/* TLS trouble that shows as an alert, wherever in the conversation it came. */
static bool describe_alert(const struct http_request *r, const char *words, struct error *err)
{
    if (!has(words, "alert"))
        return false;
    if (has(words, "certificate") || has(words, "unknown ca") || has(words, "handshake failure")) {
        (void)error_set(err, ERROR_ENVIRONMENT, "%s wants a client certificate that it trusts: %s", r->peer,
                        words);
        (void)error_hint(err, "give it a certificate and key that its CA has signed");
    } else {
        (void)error_set(err, ERROR_ENVIRONMENT, "%s refused the TLS connection: %s", r->peer, words);
    }
    return true;
}

static void describe_tls(const struct http_request *r, const char *words, struct error *err)
{
    if (describe_alert(r, words, err))
        return;
    if (has(words, "wrong version number") || has(words, "packet length") || has(words, "http request") ||
        has(words, "unknown protocol")) {
        (void)error_set(err, ERROR_ENVIRONMENT, "%s does not speak TLS", r->peer);
        (void)error_hint(err, "use a plain http:// or tcp:// address without TLS, or the port that has TLS");
        return;
    }
    (void)error_set(err, ERROR_ENVIRONMENT, "no TLS connection to %s: %s", r->peer, words);
}

static bool is_https(const struct http_request *r)
{
    const char *scheme = NULL;

    (void)curl_easy_getinfo(r->easy, CURLINFO_SCHEME, &scheme);
    return scheme && strcasecmp(scheme, "https") == 0;
}

static void describe_cut(const struct http_request *r, CURLcode code, const char *words, struct error *err)
{
    if (describe_alert(r, words, err))
        return;
    if (r->headers_done || code == CURLE_PARTIAL_FILE) {
        (void)error_set(err, ERROR_ENVIRONMENT, "the reply of %s ended early", r->peer);
        return;
    }
    (void)error_set(err, ERROR_ENVIRONMENT, "%s closed the connection without an answer", r->peer);
    /* With TLS 1.3 a server looks at the client's certificate after the handshake, and its alert may get
     * lost. */
    if (is_https(r))
        (void)error_hint(err, "does it want a client certificate that it trusts?");
}

static void describe_stopped(const struct http_request *r, struct error *err)
{
    char text[64];

    if (r->truncated)
        (void)error_set(err, ERROR_ENVIRONMENT, "the reply of %s is larger than %s", r->peer,
                        size_human((double)r->max_body, text));
    else
        (void)error_set(err, ERROR_ENVIRONMENT, "the exchange with %s was stopped half way", r->peer);
}

void describe_failure(const struct http_request *r, CURLcode code, struct error *err)
{
    char words[CURL_ERROR_SIZE];

    own_words(r, code, words);
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        describe_timeout(r, err);
        return;
    case CURLE_COULDNT_CONNECT:
        describe_connect(r, words, err);
        return;
    case CURLE_SSL_CONNECT_ERROR:
        describe_tls(r, words, err);
        return;
    case CURLE_PEER_FAILED_VERIFICATION:
        (void)error_set(err, ERROR_ENVIRONMENT, "the certificate of %s is not trusted: %s", r->peer, words);
        return;
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
        (void)error_set(err, ERROR_ENVIRONMENT, "cannot use the TLS files for %s: %s", r->peer, words);
        return;
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_PARTIAL_FILE:
        describe_cut(r, code, words, err);
        return;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
        (void)error_set(err, ERROR_ENVIRONMENT, "the answer of %s is not HTTP: %s", r->peer, words);
        (void)error_hint(err, "does it speak TLS, or another protocol?");
        return;
    case CURLE_WRITE_ERROR:
    case CURLE_READ_ERROR:
    case CURLE_ABORTED_BY_CALLBACK:
        describe_stopped(r, err);
        return;
    default:
        (void)error_set(err, ERROR_ENVIRONMENT, "the request to %s failed: %s", r->peer, words);
    }
}
