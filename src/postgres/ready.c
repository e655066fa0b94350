/* SPDX-License-Identifier: MIT */
/*
 * Readiness. An open port proves nothing: images start a temporary server for their init scripts and stop it
 * again. Ready is: several sessions, one after the other over a short span, are told the same start time of
 * the postmaster.
 */
#include <string.h>
#include "benchctl/base/clock.h"
#include "internal.h"

#define ANSWERS 3                    /* in a row, */
#define SPAN_NS (50 * NS_PER_MS)     /* the last at least so long after the first */
#define PAUSE_MIN_NS (5 * NS_PER_MS) /* between attempts while there is no answer, growing to */
#define PAUSE_MAX_NS (100 * NS_PER_MS)
#define ATTEMPT_MIN_NS NS_PER_S /* for one attempt, doubled each time that one got no answer, to */
#define ATTEMPT_MAX_NS (16 * NS_PER_S)

struct readiness {
    struct postgres *p;
    const struct postgres_options *options;
    int64_t pause_ns, attempt_ns;
    int64_t first_ns; /* of the answers that agree */
    char started[64]; /* what they say */
    int answers;
    struct connect_failure last;
};

static int ask_start_time(struct connection *c, char started[64], struct error *err)
{
    CLEANUP(PQclear) PGresult *r = NULL;

    if (connection_exec(c, "SELECT extract(epoch FROM pg_postmaster_start_time())::text", &r, err) < 0)
        return -1;
    (void)snprintf(started, 64, "%s", PQntuples(r) == 1 ? PQgetvalue(r, 0, 0) : "");
    return 0;
}

/* One session and one question. 0: answered (`started`), 1: not yet, -1: never. */
static int attempt(struct readiness *r, char started[64], struct error *err)
{
    struct postgres *p = r->p;
    int64_t deadline = clock_now_ns() + r->attempt_ns;
    const struct connect_failure told = r->last;
    CLEANUP(connection_free) struct connection *c = NULL;

    if (deadline > r->options->ready_deadline_ns)
        deadline = r->options->ready_deadline_ns;
    struct connect_options o = {.loop = p->loop,
                                .endpoint = p->endpoint,
                                .database = p->maintenance,
                                .deadline_ns = deadline,
                                .statement_timeout_ns = p->statement_timeout_ns,
                                .give_up = r->options->give_up,
                                .lost = &p->lost};
    if (connection_open(&o, &c, &r->last, err) < 0) {
        if (err->kind == ERROR_TIMEOUT && r->attempt_ns < ATTEMPT_MAX_NS)
            r->attempt_ns *= 2;
        if (err->kind == ERROR_TIMEOUT && deadline == r->options->ready_deadline_ns && *told.text) {
            r->last = told; /* cut short, which is no silence: what the server said before stands */
            r->last.not_yet = true;
        }
        return r->last.not_yet && err->kind != ERROR_INTERRUPTED ? 1 : -1;
    }
    connection_limit(c, deadline);
    if (ask_start_time(c, started, err) < 0) {
        if (err->kind == ERROR_INTERRUPTED)
            return -1;
        (void)snprintf(r->last.text, sizeof(r->last.text), "%.1000s", err->message);
        return 1;
    }
    connection_limit(c, LOOP_FOREVER);
    connection_free(p->control);
    p->control = TAKE(c);
    return 0;
}

static bool agrees(struct readiness *r, const char *started)
{
    if (r->answers == 0 || strcmp(r->started, started) != 0) {
        (void)snprintf(r->started, sizeof(r->started), "%s", started);
        r->answers = 0;
        r->first_ns = clock_now_ns();
    }
    r->answers++;
    r->pause_ns = PAUSE_MIN_NS;
    return r->answers >= ANSWERS && clock_now_ns() - r->first_ns >= SPAN_NS;
}

static int ended(const struct readiness *r, struct error *err)
{
    return error_set(err, ERROR_ENVIRONMENT, "database ended while it was waited for, last answer: %s",
                     *r->last.text ? r->last.text : "none");
}

static int refused_for_good(struct readiness *r, struct error *err)
{
    if (err->kind == ERROR_INTERRUPTED)
        return -1;
    if (r->options->give_up && *r->options->give_up)
        return ended(r, err);
    if (strcmp(r->last.sqlstate, "53300") == 0) {
        (void)error_wrap(err, "connection slots used up");
        return error_hint(err,
                          "something else holds the server's connections: raise max_connections or end them");
    }
    (void)error_wrap(err, "configuration: cannot use the database");
    if (r->options->ret_configuration)
        *r->options->ret_configuration = true;
    if (strcmp(r->last.sqlstate, "3D000") == 0)
        return error_hint(
            err, "benchctl works from a maintenance database: create '%s', or name another in the url",
            r->p->maintenance);
    return error_hint(err, "waiting does not help: check user, password, pg_hba.conf and sslmode");
}

static int too_late(const struct readiness *r, struct error *err)
{
    const char *last = *r->last.text ? r->last.text
                       : r->answers  ? "it answered, but not for long"
                                     : "no answer";

    (void)error_set(err, ERROR_TIMEOUT, "database is not ready in time, last answer: %s", last);
    return -1;
}

/* Sleeps until the next attempt; -1 when there is no time left or no point. */
static int pause_between(struct readiness *r, struct error *err)
{
    const bool *give_up = r->options->give_up;
    static const bool never;
    struct error waited = ERROR_INIT;
    int64_t now = clock_now_ns(), until = now + r->pause_ns;

    if (r->answers > 0) /* spread the questions over the span */
        until = now + SPAN_NS / (ANSWERS - 1);
    else if (r->pause_ns < PAUSE_MAX_NS)
        r->pause_ns += r->pause_ns / 2;
    if (until > r->options->ready_deadline_ns)
        return too_late(r, err);
    if (loop_wait_either(r->p->loop, give_up ? give_up : &never, &never, until, &waited) < 0) {
        if (waited.kind == ERROR_TIMEOUT)
            return 0;
        *err = waited;
        return -1;
    }
    return ended(r, err);
}

int postgres_wait_ready(struct postgres *p, const struct postgres_options *o, struct error *err)
{
    struct readiness r = {.p = p, .options = o, .pause_ns = PAUSE_MIN_NS, .attempt_ns = ATTEMPT_MIN_NS};

    for (;;) {
        struct error failed = ERROR_INIT;
        char started[64];
        int answer = attempt(&r, started, &failed);
        if (answer < 0) {
            *err = failed;
            return refused_for_good(&r, err);
        }
        if (answer == 0 && agrees(&r, started))
            return 0;
        if (answer > 0)
            r.answers = 0;
        if (pause_between(&r, err) < 0)
            return -1;
    }
}
