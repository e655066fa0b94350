/* SPDX-License-Identifier: MIT */
/* When is a container ready? By HTTP answer, open port, log line, or the image's own health check. */
#include "run_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/line_regex.h"
#include "ready_answer.h"

#define POLL_FAST_NS (5 * NS_PER_MS)  /* while it may come any moment: readiness is a figure we report */
#define POLL_SLOW_NS (50 * NS_PER_MS) /* after FAST_FOR_NS */
#define FAST_FOR_NS (5 * NS_PER_S)
#define HEALTH_NS (250 * NS_PER_MS) /* the engine tells of a change by an event: this is for lost ones */
#define LOG_IDLE_NS (10 * NS_PER_S) /* a log that says nothing may be a stream that is dead */
#define MAX_DEATHS 5 /* a container that died this often before it was ever ready never stays up */

/* --- log lines --- */

struct log_watch {
    struct sweep_run *sweep;
    struct unit *unit;
    regex_t ready, startup;
    bool has_ready, has_startup;
};

static void on_line(const char *line, size_t len, bool is_stderr, void *data)
{
    struct log_watch *w = data;
    struct unit *u = w->unit;

    (void)is_stderr;
    if (w->has_startup && isnan(u->startup_ms) && regex_match(&w->startup, line, len))
        u->startup_ms = u->started_ns ? clock_ms_since(u->started_ns) : 0;
    if (w->has_ready && !u->ready_line && regex_match(&w->ready, line, len)) {
        u->ready_line = true;
        w->sweep->wake = true;
    }
}

static int compile(regex_t *re, const char *text, bool *ret_has, struct error *err)
{
    if (regex_compile(text, re, err) < 0)
        return -1;
    *ret_has = true;
    return 0;
}

/* Follows the log only where a line is waited for: reading logs costs the engine time. */
int unit_watch_log(struct sweep_run *s, struct unit *u, struct error *err)
{
    const struct container_settings *c = u->settings;
    const char *ready = c->ready ? c->ready->log : NULL, *startup = c->startup ? c->startup->log : NULL;

    if (!ready && !startup)
        return 0;
    struct log_watch *w = u->watch = xcalloc(1, sizeof(*w));
    w->sweep = s;
    w->unit = u;
    if (ready && compile(&w->ready, ready, &w->has_ready, err) < 0)
        return -1;
    if (startup && compile(&w->startup, startup, &w->has_startup, err) < 0)
        return -1;
    const struct engine_log_options o = {
        .stdout_fd = -1, .stderr_fd = -1, .on_line = on_line, .data = w, .idle_ns = LOG_IDLE_NS};
    return engine_logs_open(s->engine, u->id, &o, &u->logs, err);
}

void unit_unwatch_log(struct unit *u)
{
    engine_stream_close(u->logs);
    u->logs = NULL;
    if (!u->watch)
        return;
    if (u->watch->has_ready)
        regfree(&u->watch->ready);
    if (u->watch->has_startup)
        regfree(&u->watch->startup);
    free(u->watch);
    u->watch = NULL;
}

/* --- probes --- */

struct probe {
    bool done, good;
    const char *url;
    struct unit *unit;
};

static void http_answered(const struct http_result *r, void *data)
{
    struct probe *p = data;
    struct unit *u = p->unit;
    char why[200] = "";

    p->done = true;
    p->good = ready_answer_good(u->settings->ready, r, why, sizeof(why));
    if (!p->good)
        (void)snprintf(u->asked, sizeof(u->asked), "GET %.110s%s %.199s", p->url, r->ok ? "" : ":", why);
}

/* One GET on a connection of its own, closed again: a server may have few, and all are for the load. */
static int probe_http(struct sweep_run *s, struct unit *u, const char *url, int64_t deadline_ns,
                      bool *ret_good, struct error *err)
{
    struct probe p = {.url = url, .unit = u};
    struct http_request *request = NULL;
    const struct http_options o = {
        .url = url,
        .timeout_ns = deadline_ns - clock_now_ns() > NS_PER_MS ? deadline_ns - clock_now_ns() : NS_PER_MS,
        .connect_timeout_ns = NS_PER_S,
        .max_body = 1 << 20,
        .fresh_connection = true,
        .done = http_answered,
        .data = &p,
    };

    if (http_start(s->http, &o, &request, err) < 0)
        return -1;
    if (sweep_wait(s, &p.done, deadline_ns, err) < 0 || !p.done) {
        bool failed = !p.done && err->kind != ERROR_NONE;
        if (!p.done)
            http_cancel(request);
        *ret_good = false;
        return failed ? -1 : 0;
    }
    *ret_good = p.good;
    return 0;
}

static bool probe_tcp(const char *host, int64_t port)
{
    CLEANUP_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval tv = {.tv_usec = 50000};

    if (fd < 0 || inet_pton(AF_INET, host, &a.sin_addr) != 1)
        return false;
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv,
                     sizeof(tv)); /* a bridge answers at once, or not at all */
    return connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0;
}

static int probe_health(struct sweep_run *s, struct unit *u, bool *ret_good, struct error *err)
{
    struct engine_state st = {0};

    if (engine_container_inspect(s->engine, u->id, &st, err) < 0)
        return -1;
    *ret_good = text_equal(st.health, "healthy");
    bool none = !st.health;
    engine_state_release(&st);
    if (!none)
        return 0;
    (void)error_set(err, ERROR_INVALID,
                    "'ready: {healthcheck: true}' but the image of '%s' has no health check", u->role);
    return error_hint(err, "use http, tcp or log");
}

/* A log that cannot be read will never have the line. */
static int probe_log(struct unit *u, bool *ret_good, struct error *err)
{
    struct engine_log_counts counts = {0};

    *ret_good = u->ready_line;
    if (u->ready_line || !u->logs)
        return 0;
    engine_logs_counts(u->logs, &counts);
    return counts.ended ? engine_logs_finish(u->logs, clock_now_ns(), err) : 0;
}

static int probe_once(struct sweep_run *s, struct unit *u, const char *host, int64_t deadline_ns,
                      bool *ret_good, struct error *err)
{
    const struct ready_settings *r = u->settings->ready;
    char url[512];

    if (r && r->http) {
        (void)snprintf(url, sizeof(url), "http://%s:%lld%s", host, (long long)u->port, r->http);
        return probe_http(s, u, url, deadline_ns, ret_good, err);
    }
    if (r && r->healthcheck)
        return probe_health(s, u, ret_good, err);
    if (r && r->log)
        return probe_log(u, ret_good, err);
    *ret_good = !u->port || probe_tcp(host, u->port);
    (void)snprintf(u->asked, sizeof(u->asked), "nothing accepts connections at %s:%lld", host,
                   (long long)u->port);
    return 0;
}

static bool gave_up(const struct unit *u, int deaths_before)
{
    return u->ledger.terminal || ledger_deaths(&u->ledger) - deaths_before >= MAX_DEATHS;
}

/* Until the next look, or until something happened. */
static int pause_between(struct sweep_run *s, const struct unit *u, int64_t begin_ns, struct error *err)
{
    static const bool never;
    int64_t gap = u->settings->ready && u->settings->ready->healthcheck ? HEALTH_NS
                  : clock_now_ns() - begin_ns < FAST_FOR_NS             ? POLL_FAST_NS
                                                                        : POLL_SLOW_NS;
    struct error e = ERROR_INIT;

    if (sweep_wait(s, &never, clock_now_ns() + gap, &e) < 0 && e.kind != ERROR_TIMEOUT) {
        *err = e;
        return -1;
    }
    return 0;
}

int64_t ready_timeout_ns(const struct container_settings *c)
{
    return c->ready && c->ready->timeout_ns > 0 ? c->ready->timeout_ns : 60 * NS_PER_S;
}

int unit_wait_ready(struct sweep_run *s, struct unit *u, int64_t deadline_ns, enum ready_result *ret,
                    struct error *err)
{
    const struct ready_settings *r = u->settings->ready;
    int64_t begin_ns = clock_now_ns(), good = 0, wanted = r && r->consecutive > 0 ? r->consecutive : 1;
    int deaths_before = u->ledger.readies.len ? ledger_deaths(&u->ledger) : 0;

    if (s->trial && s->trial->deadline_ns < deadline_ns)
        deadline_ns = s->trial->deadline_ns;
    for (;;) {
        bool answer = false;
        struct error e = ERROR_INIT;
        const char *host = u->address ? u->address : "127.0.0.1";
        if (u->address_lost) /* never the machine's own ports in its place */
            return error_set(err, ERROR_ENVIRONMENT, "somebody else took '%s' off the sweep's network",
                             u->role);
        if (gave_up(u, deaths_before)) {
            *ret = READY_DEAD;
            return 0;
        }
        u->probes++;
        bool there = u->ledger.running && (u->address || !u->on_bridge);
        int rc = there ? probe_once(s, u, host, deadline_ns, &answer, &e) : 0;
        if (rc < 0 && e.kind != ERROR_TIMEOUT) {
            *err = e;
            return -1;
        }
        good = answer ? good + 1 : 0;
        if (good >= wanted) {
            *ret = READY_YES;
            return 0;
        }
        if (clock_now_ns() >= deadline_ns) {
            *ret = READY_TIMEOUT;
            return 0;
        }
        if (answer)
            continue;
        if (pause_between(s, u, begin_ns, err) < 0)
            return -1;
    }
}
