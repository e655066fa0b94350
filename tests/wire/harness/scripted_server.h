/* SPDX-License-Identifier: MIT */
/*
 * An HTTP server that does as it is told: the world at the other end of the wire. It runs in a thread of the
 * test, on a Unix socket or on 127.0.0.1, and serves
 *
 * - a script: expected requests in order, each with its reply. Any other request is answered 599 and fails
 * the test, as does a script that was not played to its end; and
 * - rules: a table of path patterns with replies, for as many calls as come, with calls counted and any call
 * made to fail. Rules answer what the script does not expect next.
 *
 * Patterns are "METHOD /glob" or "/glob" (any method) over the percent-decoded path and query without the
 * "/v1.41" in front; `*` also matches '/' and nothing. Replies may be split, delayed, cut, or stay open as
 * streams that the test pushes bytes into. Strings given must live until server_finish(); server_text() makes
 * such strings.
 */
#ifndef WIRE_SCRIPTED_SERVER_H
#define WIRE_SCRIPTED_SERVER_H

#include <stdbool.h>
#include <stddef.h>

struct server;

/* A request as it came. */
struct seen {
    char *method, *version,
        *path;     /* version: "1.41", or "" without a prefix; path: decoded, with the query */
    char *headers; /* as sent, CRLF between */
    char *body;    /* de-chunked, NUL after the end */
    size_t body_len;
    int connection; /* counts from 1: the same number means that the connection was reused */
};

enum reply_end {
    END_KEEP,  /* keep-alive */
    END_CLOSE, /* close after the reply */
    END_OPEN,  /* a stream: the test pushes more, and ends it */
};

struct reply {
    int status;                   /* 0: 200 */
    const char *type;             /* Content-Type; NULL: application/json; "": none */
    const char *headers;          /* further header lines, each ended by CRLF; may be NULL */
    const char *body;             /* NULL: empty */
    size_t body_len;              /* 0: strlen(body) */
    const char *raw;              /* instead of the above: the very bytes */
    size_t raw_len;               /* 0: strlen(raw) */
    bool chunked;                 /* instead of Content-Length; always so with END_OPEN */
    size_t piece;                 /* bytes sent at a time; 0: all at once */
    int delay_ms, piece_delay_ms; /* before the first byte; between pieces */
    size_t cut_after;             /* close after so many bytes; 0: not */
    enum reply_end end;
};

/* Computes a reply, called in the server's thread; may change what the caller's `data` points to under its
 * own lock. */
typedef void reply_fn(struct server *s, const struct seen *request, struct reply *ret, void *data);

struct expect {
    const char *request;  /* pattern */
    const char *has[8];   /* the body must contain each of these */
    const char *lacks[4]; /* and none of these */
    struct reply reply;
};

struct rule {
    const char *request; /* pattern; the first rule that matches answers */
    struct reply reply;
    reply_fn *make; /* instead of reply; may be NULL */
    void *data;
};

struct server_options {
    const struct expect *script;
    size_t script_len;
    const struct rule *rules;
    size_t rules_len;
    bool tcp; /* 127.0.0.1 instead of a Unix socket */
    /* Called in the server's thread, under its lock, every few milliseconds: for servers with a life of their
     * own. */
    void (*tick)(struct server *s, void *data);
    void *data; /* for tick */
};

/* Fails the test when it cannot be started. */
struct server *server_start(const struct server_options *o);
/* Ends the thread, then fails the test when something unexpected came or the script was not finished. */
void server_finish(struct server *s);
/* The thread's lock, for state that replies and ticks share with the test. */
void server_lock(struct server *s);
void server_unlock(struct server *s);
/* Ends the thread and tells what server_finish() would have failed with, or NULL. The caller frees. */
char *server_stop(struct server *s);
/* Fails the test with such a text; NULL does nothing. */
void server_complain(const char *problem);

const char *server_url(const struct server *s);    /* "unix:///tmp/.../sock" or "tcp://127.0.0.1:PORT" */
const char *server_socket(const struct server *s); /* the path alone, NULL on TCP */
int server_port(const struct server *s);           /* 0 on a Unix socket */

/* A string that lives as long as the server. */
const char *server_text(struct server *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* --- what happened --- */

size_t server_calls(struct server *s);                          /* requests so far */
size_t server_count(struct server *s, const char *pattern);     /* of them, those that match */
const struct seen *server_seen(struct server *s, size_t index); /* valid until the end; NULL past the last */
/* The newest request that matches, or NULL. */
const struct seen *server_last(struct server *s, const char *pattern);

/* --- trouble --- */

enum failure {
    FAIL_NOTHING,
    FAIL_STATUS, /* 500 with a message; the call has no effect (make is not called) */
    FAIL_CLOSE,  /* closed without an answer; no effect */
    FAIL_LOST,   /* the call takes effect, its reply never comes: closed */
    FAIL_CUT,    /* the call takes effect, its reply is cut in its head */
    FAIL_HANG    /* no answer at all, the connection stays open */
};
/* The nth request from now on (from 1) of those that match the pattern (NULL: all) fails; once. n = 0: none.
 */
void server_fail_call(struct server *s, size_t n, const char *pattern, enum failure how);

/* --- streams --- */

/* Sends bytes on every open stream whose request matches; how many those are. */
int server_push(struct server *s, const char *pattern, const void *bytes, size_t len);
/* Ends them: properly, or by closing in the middle. */
int server_end_streams(struct server *s, const char *pattern, bool properly);

#endif
