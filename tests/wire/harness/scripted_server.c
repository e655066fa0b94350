/* SPDX-License-Identifier: MIT */
/* The test's side: start, end, questions, trouble to come, and bytes for open streams. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <cmocka.h>
#include "scripted_internal.h"

/* --- start and end --- */

static int listen_unix(struct server *s)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    s->directory = xstrdup("/tmp/benchctl-wire-XXXXXX");
    assert_non_null(mkdtemp(s->directory));
    s->socket = xasprintf("%s/sock", s->directory);
    s->url = xasprintf("unix://%s", s->socket);
    strcpy(a.sun_path, s->socket);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    return fd;
}

static int listen_tcp(struct server *s)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    s->port = ntohs(a.sin_port);
    s->url = xasprintf("tcp://127.0.0.1:%d", s->port);
    return fd;
}

struct server *server_start(const struct server_options *o)
{
    struct server *s = xcalloc(1, sizeof(*s));
    pthread_mutexattr_t recursive; /* replies are made under the lock and may ask the server things */

    s->options = *o;
    (void)pthread_mutexattr_init(&recursive);
    (void)pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    (void)pthread_mutex_init(&s->lock, &recursive);
    (void)pthread_mutexattr_destroy(&recursive);
    s->listening = o->tcp ? listen_tcp(s) : listen_unix(s);
    assert_int_equal(listen(s->listening, 64), 0);
    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_int_equal(pthread_create(&s->thread, NULL, serve_thread, s), 0);
    return s;
}

static void wake(struct server *s)
{
    uint64_t one = 1;

    (void)!write(s->wake, &one, sizeof(one));
}

static void server_free(struct server *s)
{
    vec_each (c, &s->connections)
        peer_free(*c);
    vec_release(&s->connections);
    vec_each (request, &s->seen) {
        seen_release(*request);
        free(*request);
    }
    vec_release(&s->seen);
    vec_each (text, &s->texts)
        free(*text);
    vec_release(&s->texts);
    (void)close(s->listening);
    (void)close(s->wake);
    if (s->socket) {
        (void)unlink(s->socket);
        (void)rmdir(s->directory);
    }
    (void)pthread_mutex_destroy(&s->lock);
    free(s->directory);
    free(s->socket);
    free(s->url);
    free(s->problem);
    free(s);
}

char *server_stop(struct server *s)
{
    char *problem;

    (void)pthread_mutex_lock(&s->lock);
    s->stopping = true;
    wake(s);
    (void)pthread_mutex_unlock(&s->lock);
    (void)pthread_join(s->thread, NULL);
    if (!s->problem && s->script_at < s->options.script_len)
        s->problem =
            xasprintf("the script ended early: '%s' never came", s->options.script[s->script_at].request);
    problem = TAKE(s->problem);
    server_free(s);
    return problem;
}

void server_complain(const char *problem)
{
    if (problem)
        fail_msg("scripted server: %s", problem);
}

void server_finish(struct server *s)
{
    static char text[4096]; /* failing jumps over every clean-up */
    char *problem = server_stop(s);

    if (!problem)
        return;
    (void)snprintf(text, sizeof(text), "%s", problem);
    free(problem);
    server_complain(text);
}

void server_lock(struct server *s)
{
    (void)pthread_mutex_lock(&s->lock);
}

void server_unlock(struct server *s)
{
    (void)pthread_mutex_unlock(&s->lock);
}

/* --- small things --- */

const char *server_url(const struct server *s)
{
    return s->url;
}

const char *server_socket(const struct server *s)
{
    return s->socket;
}

int server_port(const struct server *s)
{
    return s->port;
}

const char *server_text(struct server *s, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        abort();
    va_end(args);
    (void)pthread_mutex_lock(&s->lock);
    vec_push(&s->texts, text);
    (void)pthread_mutex_unlock(&s->lock);
    return text;
}

size_t server_calls(struct server *s)
{
    (void)pthread_mutex_lock(&s->lock);
    size_t n = s->seen.len;
    (void)pthread_mutex_unlock(&s->lock);
    return n;
}

size_t server_count(struct server *s, const char *pattern)
{
    size_t n = 0;

    (void)pthread_mutex_lock(&s->lock);
    vec_each (request, &s->seen)
        n += seen_matches(*request, pattern);
    (void)pthread_mutex_unlock(&s->lock);
    return n;
}

const struct seen *server_seen(struct server *s, size_t index)
{
    (void)pthread_mutex_lock(&s->lock);
    const struct seen *one = index < s->seen.len ? s->seen.items[index] : NULL;
    (void)pthread_mutex_unlock(&s->lock);
    return one;
}

const struct seen *server_last(struct server *s, const char *pattern)
{
    const struct seen *last = NULL;

    (void)pthread_mutex_lock(&s->lock);
    vec_each (request, &s->seen)
        last = seen_matches(*request, pattern) ? *request : last;
    (void)pthread_mutex_unlock(&s->lock);
    return last;
}

void server_fail_call(struct server *s, size_t n, const char *pattern, enum failure how)
{
    (void)pthread_mutex_lock(&s->lock);
    s->fail_in = n;
    s->fail_pattern = pattern;
    s->fail_how = how;
    (void)pthread_mutex_unlock(&s->lock);
}

/* Bytes (NULL: the proper end) to the matching streams. */
static int to_streams(struct server *s, const char *pattern, const struct strbuf *bytes, bool end)
{
    int count = 0;

    (void)pthread_mutex_lock(&s->lock);
    vec_each (item, &s->connections) {
        struct connection *c = *item;
        if (!c || !c->stream || !seen_matches(c->stream, pattern))
            continue;
        connection_queue(c, strbuf_text(bytes), bytes->len, clock_now_ns());
        c->close_after = c->close_after || end;
        count++;
    }
    wake(s);
    (void)pthread_mutex_unlock(&s->lock);
    return count;
}

int server_push(struct server *s, const char *pattern, const void *bytes, size_t len)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf chunk = STRBUF_INIT;

    chunk_add(&chunk, bytes, len);
    return to_streams(s, pattern, &chunk, false);
}

int server_end_streams(struct server *s, const char *pattern, bool properly)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf last = STRBUF_INIT;

    if (properly)
        strbuf_adds(&last, "0\r\n\r\n");
    return to_streams(s, pattern, &last, true);
}
