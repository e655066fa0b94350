/* SPDX-License-Identifier: MIT */
/* libpq wrapped at link time: each of its calls fails once or from then on, or does only a part of its work.
 */
#include "seeded.h"

static long calls, fail_at;   /* 0: never */
static bool fail_on;          /* all that come after it as well */
static const char *fail_text; /* or the statement that begins like this, */
static long fail_times;       /* so often */
static bool dribble;          /* COPY takes a piece only at the second attempt, flushing takes two */

/* Every second time. */
static bool partly(bool *turn)
{
    return dribble && (*turn = !*turn);
}

static bool failing(void)
{
    calls++;
    return calls == fail_at || (fail_on && fail_at && calls > fail_at);
}

PGconn *__real_PQconnectStartParams(const char *const *keys, const char *const *values, int expand);
PGconn *__wrap_PQconnectStartParams(const char *const *keys, const char *const *values, int expand);
PostgresPollingStatusType __real_PQconnectPoll(PGconn *c);
PostgresPollingStatusType __wrap_PQconnectPoll(PGconn *c);
int __real_PQsendQuery(PGconn *c, const char *text);
int __wrap_PQsendQuery(PGconn *c, const char *text);
int __real_PQsendQueryParams(PGconn *c, const char *text, int n, const Oid *types, const char *const *values,
                             const int *lengths, const int *formats, int format);
int __wrap_PQsendQueryParams(PGconn *c, const char *text, int n, const Oid *types, const char *const *values,
                             const int *lengths, const int *formats, int format);
int __real_PQconsumeInput(PGconn *c);
int __wrap_PQconsumeInput(PGconn *c);
int __real_PQflush(PGconn *c);
int __wrap_PQflush(PGconn *c);
int __real_PQputCopyData(PGconn *c, const char *bytes, int len);
int __wrap_PQputCopyData(PGconn *c, const char *bytes, int len);
int __real_PQputCopyEnd(PGconn *c, const char *failure);
int __wrap_PQputCopyEnd(PGconn *c, const char *failure);
int __real_PQgetCopyData(PGconn *c, char **row, int async);
int __wrap_PQgetCopyData(PGconn *c, char **row, int async);

PGconn *__wrap_PQconnectStartParams(const char *const *keys, const char *const *values, int expand)
{
    return failing() ? NULL : __real_PQconnectStartParams(keys, values, expand);
}

PostgresPollingStatusType __wrap_PQconnectPoll(PGconn *c)
{
    return failing() ? PGRES_POLLING_FAILED : __real_PQconnectPoll(c);
}

int __wrap_PQsendQuery(PGconn *c, const char *text)
{
    if (fail_times > 0 && strncmp(text, fail_text, strlen(fail_text)) == 0) {
        fail_times--;
        return 0;
    }
    return failing() ? 0 : __real_PQsendQuery(c, text);
}

int __wrap_PQsendQueryParams(PGconn *c, const char *text, int n, const Oid *types, const char *const *values,
                             const int *lengths, const int *formats, int format)
{
    return failing() ? 0 : __real_PQsendQueryParams(c, text, n, types, values, lengths, formats, format);
}

int __wrap_PQconsumeInput(PGconn *c)
{
    return failing() ? 0 : __real_PQconsumeInput(c);
}

int __wrap_PQflush(PGconn *c)
{
    static bool turn;

    if (partly(&turn))
        return 1;
    return failing() ? -1 : __real_PQflush(c);
}

int __wrap_PQputCopyData(PGconn *c, const char *bytes, int len)
{
    static bool turn;

    if (partly(&turn))
        return 0;
    return failing() ? -1 : __real_PQputCopyData(c, bytes, len);
}

int __wrap_PQputCopyEnd(PGconn *c, const char *failure)
{
    static bool turn;

    if (partly(&turn))
        return 0;
    return failing() ? -1 : __real_PQputCopyEnd(c, failure);
}

int __wrap_PQgetCopyData(PGconn *c, char **row, int async)
{
    return failing() ? -2 : __real_PQgetCopyData(c, row, async);
}

/* --- a whole sweep in small */

static const char small[] =
    "CREATE TABLE t(a serial, b text);\nCOPY t FROM stdin;\n1\ta\n2\tb\n\\.\n"
    "CREATE TABLE u(a int); INSERT INTO u SELECT generate_series(1, 100);\nCOPY u TO stdout;\n";

static int with_database(struct postgres *p, struct error *err)
{
    const struct postgres_script s = script("small.sql", small);
    struct postgres_reset_result r;
    struct postgres_counters c;
    CLEANUP_FREE char *value = NULL;

    if (postgres_seed(p, &s, 1, "50a11", err) < 0 || postgres_reset(p, RESET_TEMPLATE, &r, err) < 0 ||
        postgres_reset(p, RESET_TRUNCATE, &r, err) < 0 || postgres_reset(p, RESET_RECREATE, &r, err) < 0 ||
        postgres_counters(p, &c, err) < 0 || postgres_counters(p, &c, err) < 0 ||
        postgres_query(p, "SELECT string_agg(b, ',') FROM t", &value, err) < 0)
        return -1;
    assert_string_equal(value, "a,b");
    return postgres_drop(p, err);
}

static int sweep(struct error *err)
{
    CLEANUP_FREE char *url = xasprintf("postgresql://postgres@127.0.0.1:%d/bench", server.port);
    const struct postgres_options o = {.url = url, .ready_deadline_ns = clock_now_ns() + 60 * NS_PER_S};
    CLEANUP(postgres_close) struct postgres *p = NULL;

    return postgres_connect(loop, &o, &p, err) < 0 ? -1 : with_database(p, err);
}

static void nothing_is_left(void)
{
    holds("postgres",
          "SELECT string_agg(datname, ',') FROM pg_database WHERE datname NOT LIKE 'template_' AND datname "
          "<> 'postgres'",
          "");
}

#define SAMPLES 24

/* How many of so many sweeps fail, each in another of its `total` calls; with an error that says something.
 */
static long count_failures(long samples, long total)
{
    long failed = 0;

    for (long i = 0; i < samples; i++) {
        struct error err = ERROR_INIT;
        fail_at = 1 + i * (total - 1) / (samples - 1);
        calls = 0;
        int r = sweep(&err);
        if (r < 0) {
            failed++;
            if (strlen(err.message) < 5 || err.kind == ERROR_NONE)
                fail_msg("call %ld of %ld: kind '%s', '%s'", fail_at, total, error_kind_name(err.kind),
                         err.message);
        }
    }
    calls = fail_at = 0;
    fail_on = false;
    ok(sweep(&err));
    nothing_is_left();
    return failed;
}

/* A session that is lost is opened again, and what was under way is done again; when that is lost as well the
 * sweep ends with an error. The next one works. */
static void each_call_may_fail(void **state)
{
    (void)state;
    need_server();
    calls = fail_at = 0;
    ok(sweep(&err));
    nothing_is_left();
    long total = calls;
    assert_true(total > SAMPLES);
    assert_true(count_failures(SAMPLES, total) < SAMPLES / 2);
    fail_on = true;
    assert_true(count_failures(SAMPLES / 3, total) >= SAMPLES / 3 - 1);
}

/* A database without our mark would be nobody's, and refused by the next run: it must not stay. */
static void what_cannot_be_marked_does_not_stay(void **state)
{
    const struct postgres_script s = script("small.sql", small);
    struct postgres_reset_result r;

    (void)state;
    need_server();
    struct postgres *p = cluster_connect_url(&server, loop, "bench");
    fail_text = "COMMENT ON DATABASE \"benchctl";
    fail_times = 10;
    fails(postgres_seed(p, &s, 1, "50a11", &err), ERROR_ENVIRONMENT, "cannot mark database");
    nothing_is_left();
    fail_times = 1; /* once is not enough */
    ok(postgres_seed(p, &s, 1, "50a11", &err));
    assert_int_equal(fail_times, 0);
    fail_text = "COMMENT ON DATABASE \"bench\"";
    fail_times = 10;
    fails(postgres_reset(p, RESET_TEMPLATE, &r, &err), ERROR_ENVIRONMENT, "cannot mark database 'bench'");
    holds("postgres", "SELECT count(*) FROM pg_database WHERE datname = 'bench'", "0");
    fail_times = 0;
    ok(postgres_reset(p, RESET_TEMPLATE, &r, &err));
    finish(p);
}

static void little_by_little_is_enough(void **state)
{
    struct strbuf text = STRBUF_INIT;

    (void)state;
    need_server();
    strbuf_adds(&text, "CREATE TABLE t(a int, b text);\nCOPY t FROM stdin;\n");
    for (int i = 0; i < 20000; i++)
        strbuf_addf(&text, "%d\t%0100d\n", i, i);
    strbuf_adds(&text, "\\.\n");
    const struct postgres_script s = script("big.sql", strbuf_text(&text));
    dribble = true;
    struct postgres *p = cluster_connect(&server, loop, "bench");
    ok(postgres_seed(p, &s, 1, "b19", &err));
    (void)reset_by(p, RESET_TEMPLATE);
    run_sql("bench", "DELETE FROM t");
    (void)reset_by(p, RESET_TRUNCATE);
    dribble = false;
    holds("bench", "SELECT count(*) || ' ' || sum(a) FROM t", "20000 199990000");
    finish(p);
    strbuf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_may_fail),
        cmocka_unit_test(what_cannot_be_marked_does_not_stay),
        cmocka_unit_test(little_by_little_is_enough),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
