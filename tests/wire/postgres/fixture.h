/* SPDX-License-Identifier: MIT */
/* One server and one loop for all tests of a program; each test skips where there is no server. */
#ifndef TESTS_POSTGRES_FIXTURE_H
#define TESTS_POSTGRES_FIXTURE_H

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"
#include "real_cluster.h"
#include "unit/check.h"

static struct cluster server;
static struct loop *loop;
static char notes[8192]; /* what note() and warn() said, one a line */

static inline void keep_notes(enum log_level level, const char *line, void *data)
{
    size_t len = strlen(notes);

    (void)level;
    (void)data;
    (void)snprintf(notes + len, sizeof(notes) - len, "%s\n", line);
}

static inline int begin(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    if (loop_new(&loop, &err) < 0)
        return -1;
    log_set_sink(keep_notes, NULL);
    if (cluster_make(&server, NULL))
        cluster_start(&server, NULL);
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    cluster_remove(&server);
    loop_free(loop);
    return 0;
}

static inline void need_server(void)
{
    notes[0] = '\0';
    if (!*server.dir)
        skip();
}

/* The call must succeed; the message is shown when it does not. */
#define ok(call)                                                                                             \
    do {                                                                                                     \
        struct error err = ERROR_INIT;                                                                       \
        if ((call) < 0)                                                                                      \
            fail_msg("%s: %s (hint: %s)", #call, err.message, err.hint);                                     \
    } while (0)

/* The call must fail with this kind and this text in its message. */
#define fails(call, wanted, part)                                                                            \
    do {                                                                                                     \
        struct error err = ERROR_INIT;                                                                       \
        if ((call) == 0)                                                                                     \
            fail_msg("%s succeeds", #call);                                                                  \
        if (err.kind != (wanted))                                                                            \
            fail_msg("%s: kind '%s': %s", #call, error_kind_name(err.kind), err.message);                    \
        assert_has(err.message, part);                                                                       \
    } while (0)

/* The same, and this in its hint. */
#define fails_with_hint(call, wanted, part, hint_part)                                                       \
    do {                                                                                                     \
        struct error err = ERROR_INIT;                                                                       \
        if ((call) == 0)                                                                                     \
            fail_msg("%s succeeds", #call);                                                                  \
        assert_int_equal(err.kind, wanted);                                                                  \
        assert_has(err.message, part);                                                                       \
        assert_has(err.hint, hint_part);                                                                     \
    } while (0)

/* The value that SQL gives in a database. */
static inline void holds(const char *database, const char *text, const char *wanted)
{
    CLEANUP_FREE char *got = cluster_sql(&server, database, text);

    if (strcmp(got, wanted) != 0)
        fail_msg("%s: '%s' instead of '%s'", text, got, wanted);
}

static inline void run_sql(const char *database, const char *text)
{
    free(cluster_sql(&server, database, text));
}

static inline struct postgres_script script(const char *name, const char *text)
{
    return (struct postgres_script){.name = name, .sql = text, .len = strlen(text)};
}

#endif
