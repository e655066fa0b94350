/* SPDX-License-Identifier: MIT */
/* Published tables: good, bad and hostile ones, and each rule at its boundary. */
#include "benchctl/validity.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "benchctl/base/strbuf.h"

static const struct audit_options nothing = {NAN, NAN, NAN};

static int setup(void **state)
{
    *state = arena_new();
    return 0;
}

static int teardown(void **state)
{
    arena_free(*state);
    return 0;
}

static struct audit audited(void **state, const char *text, const struct audit_options *o)
{
    struct audit r;
    struct error err = ERROR_INIT;

    if (validity_audit(text, strlen(text), "t.csv", o, *state, &r, &err) < 0)
        fail_msg("%s", err.message);
    return r;
}

/* "FAIL WARN" of one rule. */
static const char *verdicts(void **state, const struct audit *r, const char *id)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    for (size_t i = 0; i < r->len; i++)
        if (text_equal(r->results[i].id, id))
            strbuf_addf(&text, "%s%s", text.len ? " " : "", r->results[i].verdict);
    return arena_strdup(*state, strbuf_text(&text));
}

static void assert_verdicts(void **state, const char *text, const char *id, const char *wanted)
{
    struct audit r = audited(state, text, &nothing);
    const char *found = verdicts(state, &r, id);

    if (strcmp(found, wanted) != 0)
        fail_msg("%s is '%s' instead of '%s' for:\n%s", id, found, wanted, text);
}

static const struct audit_result *result(const struct audit *r, const char *id)
{
    for (size_t i = 0; i < r->len; i++)
        if (text_equal(r->results[i].id, id))
            return &r->results[i];
    fail_msg("no verdict of '%s'", id);
    return NULL;
}

static void assert_says(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("'%s' is not in: %s", part, text ? text : "(nothing)");
}

/* --- columns --- */

static void names_of_columns(void **state)
{
    static const struct {
        const char *name, *meaning;
    } known[] = {
        {"req/s", "rps"},
        {"Requests / s", "rps"},
        {"ok/s", "rps"},
        {"Throughput", "rps"},
        {"VUs", "users"},
        {"Total calls", "requests"},
        {"p50 (ms)", "p50, kept in ms"},
        {"p50_us", "p50, kept in ms"},
        {"Median ms", "p50, kept in ms"},
        {"p99.9 ms", "p99.9, kept in ms"},
        {"think_ms", "think, kept in ms"},
        {"duration_s", "duration, kept in s"},
        {"CPU %", "cpu in %"},
        {"cpu_cores", "cpu"},
        {"failed %", "failed in %"},
        {"Success rate", "ok"},
        {"RSS MB", "memory"},
        {"n", "n"},
        {"req ms", "metric"},
        {"rps ms", "metric"},
        {"p98 ms", "metric"},
        {"istio p50", "metric"},
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        struct audit r =
            audited(state, arena_printf(*state, "%s\n1\n", known[i].name), &(struct audit_options){1, 1, 1});
        if (strcmp(r.columns[0].meaning, known[i].meaning) != 0)
            fail_msg("'%s' is '%s' instead of '%s'", known[i].name, r.columns[0].meaning, known[i].meaning);
    }
}

static void each_name_is_read_as_its_field(void **state)
{
    for (size_t i = 0; i < audit_name_count; i++) {
        CLEANUP_FREE char *names = xstrdup(audit_names[i].aliases);
        char *save = NULL;
        bool time = strcmp(audit_names[i].unit, "time") == 0;
        for (char *name = strtok_r(names, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
            struct audit r =
                audited(state, arena_printf(*state, "%s%s\n1\n", name, time ? " ms" : ""), &nothing);
            size_t len = strlen(audit_names[i].field);
            if (strncmp(r.columns[0].meaning, audit_names[i].field, len) != 0)
                fail_msg("'%s' is '%s'", name, r.columns[0].meaning);
        }
    }
}

static void units_of_values(void **state)
{
    struct audit r = audited(state, "p50,p99\r\n900us,1.5 s\r\n\"2ms\",x\r\n", &nothing);

    assert_int_equal(r.rows, 2);
    assert_string_equal(verdicts(state, &r, "table-percentiles"), "PASS");
    r = audited(state, "p50,p99\n2s,1500ms\n", &nothing);
    assert_says(result(&r, "table-percentiles")->message, "p99 of 1500 ms is below p50 of 2000 ms");
    assert_int_equal(r.failed, 1);
}

/* Numbers as they stand in articles: what they are is what percentiles in order, and not, tell. */
static void numbers_of_articles(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"p50 ms,p90 ms\n\"1,234\",1233\n", "p90 of 1233 ms is below p50 of 1234 ms"},
        {"p50 ms,p90 ms\n\"1,234,567.5\",1\n", "below p50 of 1234568 ms"},
        {"p50 ms,p90 ms\n1 234,1\n", "below p50 of 1234 ms"},
        {"p50 ms,p90 ms\n1\u00a0234,1\n", "below p50 of 1234 ms"},
        {"p50 ms,p90 ms\n1\u202f234.5,1\n", "below p50 of 1234 ms"},
        {"p50 ms,p90 ms\n1'234,1\n", "below p50 of 1234 ms"},
        {"p50 ms,p90 ms\n1.234.567,1\n", "below p50 of 1234567 ms"},
        {"p50 ms;p90 ms\n1.234,5;1\n", "below p50 of 1234 ms"},
        {"p50 ms;p90 ms\n\"7,25\";7,125\n", NULL}, /* the second one may be 7125 */
        {"p50 ms;p90 ms\n7,25;7,12\n", "p90 of 7.12 ms is below p50 of 7.25 ms"},
        {"p50 ms\tp90 ms\n7.25\t7.12\n", "p90 of 7.12 ms is below p50 of 7.25 ms"},
        {"p50 ms,p90 ms\n\"0,725\",\"0,71\"\n", "p90 of 0.71 ms is below p50 of 0.725 ms"},
        {"p50,p90\n1m30s,80s\n", "p90 of 80000 ms is below p50 of 90000 ms"},
        {"requests,duration,rps\n1.2M,1m,10k req/s\n",
         "1200000 requests in 60 s are 20000 requests/s, not 10000"},
    };

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct audit r;
        struct error err = ERROR_INIT;
        int result =
            validity_audit(wrong[i].text, strlen(wrong[i].text), "t.csv", &nothing, *state, &r, &err);
        assert_int_equal(result, wrong[i].says ? 0 : -1);
        if (wrong[i].says) {
            assert_int_equal(r.failed, 1);
            for (size_t k = 0; k < r.len; k++)
                if (text_equal(r.results[k].verdict, "FAIL"))
                    assert_says(r.results[k].message, wrong[i].says);
        }
    }
}

/* 900 MB and 1 GB are near each other. */
static void sizes_have_units(void **state)
{
    assert_verdicts(state, "rps,rss,cpu %\n100,950 MB,5\n101,1 GB,5\n102,\"1,000 MB\",5\n", "table-pile-up",
                    "PASS");
    assert_verdicts(state, "rps,rss,cpu %\n100,500 MB,5\n101,1 GB,5\n102,1 GB,5\n", "table-pile-up", "WARN");
}

static void words_name_the_rows(void **state)
{
    struct audit r = audited(state,
                             "\xef\xbb\xbf"
                             "\"a,b\",what,p50 ms,p90 ms\nx\x1b[31m,\"y\"\"z\",5,4\n",
                             &nothing);

    assert_string_equal(r.columns[0].meaning, "label");
    assert_says(result(&r, "table-percentiles")->message, "/y\"z: p90 of 4 ms is below p50 of 5 ms");
    assert_null(strchr(result(&r, "table-percentiles")->message, '\x1b'));
}

static void what_is_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "t.csv:1:1: the file is empty"},
        {"\n\n", "t.csv:1:1: the file is empty"},
        {"rps\n", "t.csv:2:1: there are no rows"},
        {"rps,\n1,2\n", "t.csv:1:5: a column has no name"},
        {"rps,req/s\n1,2\n", "t.csv:1:5: 'rps' and 'req/s' are both 'rps'"},
        {"a,rps\n1\n", "t.csv:2:1: 1 values instead of 2"},
        {"a,rps\n1,2,3\n", "t.csv:2:1: 3 values instead of 2"},
        {"a,rps\nx,12\ny,fast\n", "t.csv:3:3: 'fast' of column 'rps' is no number"},
        {"a,rps\nx,-1\n", "t.csv:2:3: '-1' of column 'rps' is no number"},
        {"a,rps\nx,nan\n", "t.csv:2:3: 'nan' of column 'rps' is no number"},
        {"a,rps\nx,1e999\n", "t.csv:2:3: '1e999' of column 'rps' is no number"},
        {"a,rps\nx,\"1,00,000\"\n", "t.csv:2:3: '1,00,000' of column 'rps' is no number"},
        {"a,rps\nx,1.2.3\n", "t.csv:2:3: '1.2.3' of column 'rps' is no number"},
        {"a,rps\nx,12 34\n", "t.csv:2:3: '12 34' of column 'rps' is no number"},
        {"a,rps\nx,12kk\n", "t.csv:2:3: '12kk' of column 'rps' is no number"},
        {"a,rps\nx,\"1,5\"\ny,\"1,500\"\n",
         "t.csv:3:3: the comma in '1,500' of column 'rps' may be a decimal one"},
        {"a,rps\nx,\"1,500\"\ny,\"1,5\"\n",
         "t.csv:3:3: the comma in '1,5' of column 'rps' may be a decimal one"},
        {"a;rps\nx;1,500\n", "t.csv:2:3: the comma in '1,500' of column 'rps' may be a decimal one"},
        {"| a | rps |\n|---|---|\n| x | 1 |\n", "t.csv:1:1: this is a table of Markdown"},
        {"a,p50 ms\nx,12 MB\n", "t.csv:2:3: '12 MB' of column 'p50 ms' is no time"},
        {"a,p50\nx,12\n", "t.csv:2:3: '12' of column 'p50' has no unit"},
        {"a,failed %\nx,120\n", "t.csv:2:3: '120' of column 'failed %' is more than 100 %"},
        {"a,\"b\n\"\n1,\"2\n", "t.csv:3:3: a quoted value does not end"},
        {"a,b\n1,2\"\n", "t.csv:2:4: a quote inside a value"},
        {"a,b\n1,\"2\"3\n", "t.csv:2:6: text behind a quoted value"},
        {"a,b\r1,2\n", "t.csv:1:4: a carriage return without a line feed"},
        {"a,values\nx,1 2 three\n", "t.csv:2:3: 'three' is no list of numbers"},
        {"\xff\xfe"
         "a",
         "t.csv: UTF-16 is not read"},
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct audit r;
        struct error err = ERROR_INIT;
        assert_int_equal(
            validity_audit(bad[i].text, strlen(bad[i].text), "t.csv", &nothing, *state, &r, &err), -1);
        assert_int_equal(err.kind, ERROR_INVALID);
        assert_says(err.message, bad[i].message);
    }
}

static void bytes_that_are_no_text(void **state)
{
    struct audit r;
    struct error err = ERROR_INIT;

    assert_int_equal(validity_audit("a\n\0", 3, "t.csv", &nothing, *state, &r, &err), -1);
    assert_says(err.message, "byte 3 is NUL");
}

static void holes_are_holes(void **state)
{
    struct audit r = audited(state, "a,vus,rps,p50 ms,failed %\nx,X,-,n/a,\ny,10,,5,\n", &nothing);

    assert_int_equal(r.failed, 0);
    assert_string_equal(verdicts(state, &r, "table-littles-law"), "");
    assert_string_equal(verdicts(state, &r, "table-replication"), "WARN");
}

/* --- rules --- */

static void littles_law(void **state)
{
    /* 100/s x 95.01 ms = 9.5 of 10 users */
    assert_verdicts(state, "vus,rps,mean ms\n10,100,95.01\n", "table-littles-law", "PASS");
    assert_verdicts(state, "vus,rps,mean ms\n10,100,94.9\n", "table-littles-law", "FAIL");
    assert_verdicts(state, "vus,rps,mean ms\n10,100,104.9\n", "table-littles-law", "PASS");
    assert_verdicts(state, "vus,rps,mean ms\n10,100,105.1\n", "table-littles-law", "WARN");
    assert_verdicts(state, "vus,rps,mean ms,think ms\n10,100,5.01,90\n", "table-littles-law", "PASS");
    assert_verdicts(state, "vus,requests,duration s,mean ms\n10,1000,10,95.1\n", "table-littles-law", "PASS");
    /* by p50 only: what p99 explains is no contradiction */
    /* what failed, and times without a service, are in no latency */
    assert_verdicts(state, "vus,rps,mean ms,failed %\n10,100,50,1.1%\n", "table-littles-law", "WARN");
    assert_verdicts(state, "vus,rps,mean ms,failed %\n10,100,50,0.9%\n", "table-littles-law", "FAIL");
    assert_verdicts(state, "vus,rps,mean ms,restarts\n10,100,50,1\n", "table-littles-law", "WARN");
    assert_verdicts(state, "vus,rps,p50 ms,p99 ms\n10,100,50,95.1\n", "table-littles-law", "WARN");
    assert_verdicts(state, "vus,rps,p50 ms,p99 ms\n10,100,50,94.9\n", "table-littles-law", "FAIL");
    assert_verdicts(state, "vus,rps,p50 ms,p90 ms\n10,100,5,9.51\n", "table-littles-law", "WARN");
    assert_verdicts(state, "vus,rps,p50 ms,p90 ms\n10,100,5,9.49\n", "table-littles-law", "FAIL");
    /* an open load has no such law */
    assert_verdicts(state, "vus,rps,mean ms,offered\n10,100,5,100\n", "table-littles-law", "");
    assert_verdicts(state, "vus,rps,mean ms\n0,100,5\n", "table-littles-law", "");
}

static void options_fill_holes(void **state)
{
    struct audit r =
        audited(state, "requests,p50 ms,vus\n1000,5,\n1000,5,20\n", &(struct audit_options){10, 90, 10});

    /* 100/s x 95 ms: 9.5 of 10, and of 20 */
    assert_string_equal(verdicts(state, &r, "table-littles-law"), "FAIL PASS");
}

static void offered(void **state)
{
    assert_verdicts(state, "offered,rps\n500,495\n500,500\n", "table-offered", "WARN");
    assert_verdicts(state, "offered,rps\n500,494\n500,500\n", "table-offered", "PASS");
}

static void piles(void **state)
{
    assert_verdicts(state, "rps\n100\n101\n102\n", "table-pile-up", "WARN");
    assert_verdicts(state, "rps\n100\n101\n102.1\n", "table-pile-up", "PASS");
    assert_verdicts(state, "rps\n100\n101\n", "table-pile-up", ""); /* two are no pile */
    assert_verdicts(state, "rps,cpu %\n100,10\n101,10.9\n102,10\n", "table-pile-up", "PASS");
    assert_verdicts(state, "rps,cpu %\n100,10\n101,11.1\n102,10\n", "table-pile-up", "WARN");
    assert_verdicts(state, "rps,rss mb\n100,10\n101,12\n102,10\n", "table-pile-up", "WARN");
    /* rows of different loads are no pile */
    assert_verdicts(state, "vus,rps\n1,100\n1,101\n2,100\n2,101\n", "table-pile-up", "");
    struct audit r = audited(state, "offered,rps\n102,101\n102,101.5\n102,102\n", &nothing);
    assert_says(result(&r, "table-pile-up")->message, "suspected: the offered rate of 102 requests/s");
    r = audited(state, "vus,rps,p50 ms\n10,100,99\n10,101,99\n10,102,99\n", &nothing);
    assert_says(result(&r, "table-pile-up")->message,
                "suspected: 10 users / (99 ms + 0 ms) = 101 requests/s");
    assert_null(r.words);
    r = audited(state, "rps,cpu %\n100,<5\n101,<5\n102,<5\n", &nothing);
    assert_says(r.words, "the processors had nothing to do");
}

static void repetitions(void **state)
{
    assert_verdicts(state, "rps\n100\n", "table-replication", "WARN");
    assert_verdicts(state, "rps,n\n100,3\n100,2\n", "table-replication", "WARN");
    assert_verdicts(state, "rps,n\n100,3\n100,3\n", "table-replication", "PASS");
    /* CV 1 %, n = 3: 2.3 % */
    struct audit r = audited(state, "n,cv %\n3,1\n", &nothing);
    assert_says(result(&r, "table-replication")->message, "differences below 2.3 % can be chance");
    r = audited(state, "a,values\nx,99 100 101\n", &nothing);
    assert_says(result(&r, "table-replication")->message,
                "n = 3 or more; differences below 2.3 % can be chance");
}

static void failures(void **state)
{
    assert_verdicts(state, "rps,failed %\n1,0\n1,0.09\n", "table-failures", "PASS");
    assert_verdicts(state, "rps,failed %\n1,0\n1,0.11\n", "table-failures", "WARN");
    assert_verdicts(state, "rps,ok %\n1,100\n1,99\n", "table-failures", "WARN");
    assert_verdicts(state, "rps,ok,failed\n1,100,0\n1,99,1\n", "table-failures", "WARN");
    assert_verdicts(state, "rps,restarts\n1,yes\n1,no\n", "table-restarts", "WARN");
    assert_verdicts(state, "rps,restarts\n,3\n1,0\n", "table-restarts", "PASS");
}

static void rows_against_themselves(void **state)
{
    assert_verdicts(state, "p50 ms,p90 ms,p99 ms,max ms\n1,1,2,2\n", "table-percentiles", "PASS");
    assert_verdicts(state, "p50 ms,p90 ms,p99 ms,max ms\n1,3,2,4\n", "table-percentiles", "FAIL");
    assert_verdicts(state, "p50 ms,p99 ms,max ms\n1,X,0.5\n", "table-percentiles", "FAIL");
    assert_verdicts(state, "ok %,failed %\n99,1.1\n", "table-sums", "PASS");
    assert_verdicts(state, "ok %,failed %\n99,1.2\n", "table-sums", "FAIL");
    assert_verdicts(state, "ok,failed,requests\n99,1,100\n", "table-sums", "PASS");
    assert_verdicts(state, "ok,failed,requests\n99,2,100\n", "table-sums", "FAIL");
    assert_verdicts(state, "requests,duration s,rps\n1000,10,104\n", "table-sums", "PASS");
    assert_verdicts(state, "requests,duration s,rps\n1000,10,90\n", "table-sums", "FAIL");
    assert_verdicts(state, "requests,ok,duration s,rps\n1000,900,10,90\n", "table-sums", "PASS");
}

static void durations(void **state)
{
    assert_verdicts(state,
                    "vus,think s,calls,p50 ms\n200,1,45584,5.09\n200,1,45628,4.27\n500,1,112464,5.14\n",
                    "table-implied-duration", "WARN");
    assert_verdicts(state, "vus,think s,calls,p50 ms\n200,1,45584,5.09\n200,1,60000,4.27\n",
                    "table-implied-duration", "PASS");
    assert_verdicts(state, "vus,think s,calls,p50 ms\n200,1,45584,5.09\n200,1,45628,4.27\n100,0,67672,3.21\n",
                    "table-implied-duration", "WARN FAIL");
}

static void gc(void **state)
{
    struct audit r = audited(state, "gc pauses,gc pause ms,duration s\n2281,7.2,600\n", &nothing);

    assert_string_equal(verdicts(state, &r, "table-gc-pauses"), "PASS");
    assert_says(result(&r, "table-gc-pauses")->message, "2281 x 7.2 ms = 16.4 s, of the duration 2.7 %");
    assert_verdicts(state, "gc pauses,gc pause ms,duration s\n6085,22,600\n", "table-gc-pauses", "WARN");
    assert_verdicts(state, "gc pauses,gc pause ms\n6085,22\n", "table-gc-pauses", "WARN");
}

static void floors(void **state)
{
    assert_verdicts(state, "floor ms,p50 ms\n70,100\n", "table-floor", "WARN");
    assert_verdicts(state, "floor ms,p50 ms\n69,100\n", "table-floor", "PASS");
    assert_verdicts(state, "cpu %\n25\n", "table-idle", "WARN");
    assert_verdicts(state, "cpu %\n25\n26\n", "table-idle", "PASS");
    assert_verdicts(state, "vus,rps,mean ms\n10,100,31\n", "table-busy-users", "PASS");
    assert_verdicts(state, "vus,rps,mean ms\n10,100,29\n", "table-busy-users", "WARN");
}

static void lines_are_named(void **state)
{
    struct audit r = audited(state, "p50 ms,p90 ms\n1,2\n2,1\n2,1\n1,2\n2,1\n", &nothing);

    assert_string_equal(result(&r, "table-percentiles")->rows, "lines 3-4, 6");
}

static void many_rows(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct audit r;
    struct error err = ERROR_INIT;

    strbuf_adds(&text, "name,vus,rps,p50 ms,n\n");
    for (int i = 0; i < 20000; i++)
        strbuf_addf(&text, "r%d,10,%d,99,3\n", i, 100 + i % 2);
    r = audited(state, strbuf_text(&text), &nothing);
    assert_int_equal(r.rows, 20000);
    assert_string_equal(verdicts(state, &r, "table-pile-up"), "WARN");
    strbuf_clear(&text); /* each third of them another load: some are told, the others counted */
    strbuf_adds(&text, "name,vus,rps\n");
    for (int i = 0; i < 60000; i++)
        strbuf_addf(&text, "r%d,%d,%d\n", i, i % 20000, 100 + i % 2);
    r = audited(state, strbuf_text(&text), &nothing);
    assert_string_equal(verdicts(state, &r, "table-pile-up"), "WARN WARN WARN WARN WARN WARN");
    assert_says(r.results[5].message, "and so do the rows of 19995 more loads");
    strbuf_clear(&text);
    strbuf_adds(&text, "rps\n");
    for (int i = 0; i < 100001; i++)
        strbuf_adds(&text, "1\n");
    assert_int_equal(validity_audit(strbuf_text(&text), text.len, "t.csv", &nothing, *state, &r, &err), -1);
    assert_says(err.message, "more than 100000 rows");
}

static void rules_are_in_the_table(void **state)
{
    struct audit r = audited(state,
                             "vus,rps,offered,p50 ms,p99 ms,failed %,n,cpu %,gc pauses,gc pause ms,restarts\n"
                             "10,100,,5,9,0,1,3,4,5,no\n10,100,100,5,9,0,1,3,4,5,yes\n",
                             &nothing);

    for (size_t i = 0; i < r.len; i++) {
        const struct validity_rule *rule = validity_rule_find(r.results[i].id);
        assert_true(rule && rule->scope == VALIDITY_OF_TABLE && text_equal(rule->check, r.results[i].check));
    }
    assert_true(r.len > 8);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(names_of_columns),
        T(each_name_is_read_as_its_field),
        T(units_of_values),
        T(numbers_of_articles),
        T(sizes_have_units),
        T(words_name_the_rows),
        T(what_is_refused),
        T(bytes_that_are_no_text),
        T(holes_are_holes),
        T(littles_law),
        T(options_fill_holes),
        T(offered),
        T(piles),
        T(repetitions),
        T(failures),
        T(rows_against_themselves),
        T(durations),
        T(gc),
        T(floors),
        T(lines_are_named),
        T(many_rows),
        T(rules_are_in_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
