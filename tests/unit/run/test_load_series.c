/* SPDX-License-Identifier: MIT */
/* Rows of both kinds of series, whole and not. */
#include "load_series.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static bool head(struct load_series *s, const char *line)
{
    return load_series_head(s, line, strlen(line));
}

static bool row(struct load_series *s, const char *line, struct load_second *ret)
{
    return load_series_row(s, line, strlen(line), ret);
}

static void of_our_generator(void **state)
{
    struct load_series s;
    struct load_second x;

    (void)state;
    assert_true(head(&s, "at_ms,vus,planned,started,requests,ok,failed,dropped,aborted,p50_ms,p99_ms,max_ms,"
                         "mean_ms,received_bytes,cpu"));
    assert_true(row(&s, "1000,2,0,40,40,38,2,0,0,1,2,3,1,900,0.1", &x));
    assert_true(x.begin_ms == 0 && x.end_ms == 1000 && x.ok == 38 && x.answered && !x.wall);
    assert_true(row(&s, "2000,2,0,2,2,0,2,0,0,,,,,0,0.1", &x));
    assert_true(x.begin_ms == 1000 && x.end_ms == 2000 && x.ok == 0 && !x.answered);
    assert_true(row(&s, "2500,2,0,2,2,0,2,0,0,,,,,150,0.1", &x)); /* refused, but by the application */
    assert_true(x.ok == 0 && x.answered);
    assert_false(row(&s, "2500,2,0,2,2,0,2,0,0,,,,,150,0.1", &x)); /* no time has passed */
    assert_false(row(&s, "3000,2", &x));
    assert_false(row(&s, "", &x));
    assert_false(row(&s, "nonsense,1,2,3,4,5", &x));
}

static void of_a_stream(void **state)
{
    struct load_series s;
    struct load_second x;

    (void)state;
    assert_true(head(&s, "time,at_s,vus,requests,failed,dropped,p50_ms,p99_ms,max_ms,mean_ms"));
    assert_true(row(&s, "2026-11-30T10:00:00.000Z,0,2,50,5,,1,2,3,1", &x));
    assert_true(x.wall && x.end_ms - x.begin_ms == 1000 && x.ok == 45 && x.answered);
    assert_true(x.begin_ms == 1796032800000.0);
    assert_true(row(&s, "2026-11-30T10:00:01.000Z,1,2,5,5,,,,,", &x));
    assert_true(x.ok == 0 && !x.answered);
    assert_true(row(&s, "2026-11-30T10:00:02.000Z,2,2,7,,,,,,", &x)); /* failures are not told */
    assert_true(x.ok == 7);
    assert_false(row(&s, "2026-11-30T10:00:03.000Z,3,2,,,,,,,", &x));
    assert_false(row(&s, "yesterday,3,2,1,,,,,,", &x));
}

static void other_files(void **state)
{
    struct load_series s;

    (void)state;
    assert_false(head(&s, ""));
    assert_false(head(&s, "at_ms,vus"));
    assert_false(head(&s, "a,ok,requests"));
    assert_false(head(&s, "<html>"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_our_generator),
        cmocka_unit_test(of_a_stream),
        cmocka_unit_test(other_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
