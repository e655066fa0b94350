/* SPDX-License-Identifier: MIT */
/* Lines as the run-time systems, drivers, pools and the server print them; and lines that only look alike. */
#include "benchctl/failure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "benchctl/base/fs.h"

static const char *kind_of(const char *line)
{
    const struct log_kind *k = log_line_kind(line, strlen(line));

    return k ? k->id : "";
}

static const struct {
    const char *line, *kind;
} lines[] = {
    {"Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space", "java-heap"},
    {"java.lang.OutOfMemoryError: GC overhead limit exceeded", "java-heap"},
    {"Terminating due to java.lang.OutOfMemoryError: Java heap space", "java-heap"},
    {"Exception: java.lang.OutOfMemoryError thrown from the UncaughtExceptionHandler in thread \"main\"",
     "java-heap"},
    {"Terminating due to java.lang.OutOfMemoryError: Metaspace", "java-metaspace"},
    {"java.lang.OutOfMemoryError: Cannot reserve 1048576 bytes of direct buffer memory (allocated: 1, limit: "
     "2)",
     "java-direct-memory"},
    {"java.lang.OutOfMemoryError: Direct buffer memory", "java-direct-memory"},
    {"java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory",
     "java-native-thread"},
    {"# A fatal error has been detected by the Java Runtime Environment:", "jvm-crash"},
    {"FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", "node-heap"},
    {"panic: runtime error: index out of range [3] with length 2", "go-panic"},
    {"fatal error: runtime: out of memory", "go-memory"},
    {"MemoryError", "python-memory"},
    {"memory allocation of 4096 bytes failed", "allocation-failed"},
    {"org.postgresql.util.PSQLException: FATAL: sorry, too many clients already", "connection-limit"},
    {"2026-11-30 10:00:00.000 UTC [70] FATAL:  remaining connection slots are reserved for non-replication "
     "superuser connections",
     "connection-limit"},
    {"FATAL:  too many connections for database \"bench\"", "connection-limit"},
    {"FATAL: too many connections for role \"app\" (SQLSTATE 53300)", "connection-limit"},
    {"  code: '53300',", "connection-limit"},
    {"io.r2dbc.postgresql.ExceptionFactory$PostgresqlNonTransientResourceException: [53300] sorry, too many "
     "clients "
     "already",
     "connection-limit"},
    {"ERROR: cached plan must not change result type", "stale-session"},
    {"ERROR: prepared statement \"S_1\" does not exist", "stale-session"},
    {"ERROR:  relation \"items\" does not exist at character 15", "stale-session"},
    {"SQLSTATE: 26000", "stale-session"},
    {"ERROR: deadlock detected", "deadlock"},
    {"canceling statement due to statement timeout", "statement-timeout"},
    {"ERROR:  canceling statement due to user request", "statement-cancelled"},
    {"  code: '57014',", "statement-cancelled"},
    {"SQLTransientConnectionException: HikariPool-1 - Connection is not available, request timed out after "
     "30000ms",
     "pool-exhausted"},
    {"reactor.pool.PoolAcquireTimeoutException: Pool#acquire(Duration) has been pending for more than",
     "pool-exhausted"},
    {"java.sql.SQLException: Acquisition timeout while waiting for new connection", "pool-exhausted"},
    {"Error: timeout exceeded when trying to connect", "pool-exhausted"},
    {"java.net.SocketException: Too many open files", "file-descriptors"},
    {"write: No space left on device", "disk-full"},
    {"Error: listen EADDRINUSE: address already in use :::8080", "address-in-use"},
    {"java.net.BindException: Address already in use", "address-in-use"},
    {"Error: getaddrinfo EAI_AGAIN mock", "name-resolution"},
    {"Caused by: java.net.UnknownHostException: database: Temporary failure in name resolution",
     "name-resolution"},
    {"psycopg.OperationalError: could not translate host name \"db\" to address: Name or service not known",
     "name-resolution"},
    {"Get \"http://mock:9090/\": dial tcp: lookup mock on 127.0.0.11:53: server misbehaving",
     "name-resolution"},
    {"ERROR:  could not resize shared memory segment \"/PostgreSQL.1\" to 8388608 bytes", "shared-memory"},
    /* none of these */
    {"", ""},
    {"p", ""},
    {"OutOf", ""},
    {"listening on 53300", ""},
    {"status code 200 in 0.53300 s", ""},
    {"error code 153300", ""},
    {"GET /items/42P01x code 1", ""},
    {"no panic: all is well", ""},
    {"the relation \"items\" exists", ""},
    {"prepared statement S_1 was made", ""},
    {"java.lang.OutOfMemory", ""},
    {"caught MemoryError, going on", ""},
};

static void each_line_is_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        if (strcmp(kind_of(lines[i].line), lines[i].kind) != 0)
            fail_msg("'%s' is '%s' instead of '%s'", lines[i].line, kind_of(lines[i].line), lines[i].kind);
}

/* Wherever in the line it stands, and at its very end. */
static void anywhere_in_the_line(void **state)
{
    char line[200];

    (void)state;
    for (size_t before = 0; before < 100; before++) {
        memset(line, 'a', before);
        memcpy(line + before, "deadlock detected", 17);
        assert_non_null(log_line_kind(line, before + 17));
        assert_null(log_line_kind(line, before + 16));
    }
}

static void any_bytes_will_do(void **state)
{
    unsigned char noise[4096];
    uint32_t x = 12345;

    (void)state;
    for (int round = 0; round < 200; round++) {
        size_t len = (size_t)round * 20;
        for (size_t i = 0; i < len; i++)
            noise[i] = (unsigned char)((x = x * 1664525u + 1013904223u) >> 24);
        char *exact = malloc(len ? len : 1); /* so that a byte too many is seen */
        memcpy(exact, noise, len);
        (void)log_line_kind(exact, len);
        free(exact);
    }
}

/* The page lists each, by its own words; and every kind has a line above. */
static void the_page_lists_them(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf page = STRBUF_INIT;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(fs_read(SOURCE_DIR "/docs/outcomes.md", 1 << 20, &page, &err), 0);
    for (size_t i = 0; i < log_kind_count; i++) {
        const struct log_kind *k = &log_kinds[i];
        char row[300];
        (void)snprintf(row, sizeof(row), "| `%s` | log | %s |", k->id, k->title);
        if (!strstr(page.data, row))
            fail_msg("docs/outcomes.md has no row '%s'", row);
    }
    size_t rows = 0;
    for (const char *p = page.data; (p = strstr(p, "` | log | ")); p++)
        rows++;
    assert_int_equal(rows, log_kind_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_is_known),
        cmocka_unit_test(anywhere_in_the_line),
        cmocka_unit_test(any_bytes_will_do),
        cmocka_unit_test(the_page_lists_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
