/* SPDX-License-Identifier: MIT */
/* Errors, text, arenas, clocks and hashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "benchctl/base/arena.h"
#include "benchctl/base/clock.h"
#include "benchctl/base/error.h"
#include "benchctl/base/hash.h"
#include "benchctl/base/strbuf.h"

static void errors_gain_context(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(error_set(&err, ERROR_PARITY, "file '%s'", "x"), -1);
    (void)error_hint(&err, "look at it");
    assert_int_equal(error_wrap(&err, "check %d", 3), -1);
    assert_string_equal(err.message, "check 3: file 'x'");
    assert_string_equal(err.hint, "look at it");
    assert_int_equal(error_exit_code(err.kind), 4);
    (void)error_set(&err, ERROR_USAGE, "other");
    assert_string_equal(err.hint, "");
}

static void a_long_error_is_cut_not_lost(void **state)
{
    struct error err = ERROR_INIT;
    char text[10000];

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    (void)error_set(&err, ERROR_INVALID, "%s", text);
    for (int i = 0; i < 100; i++)
        (void)error_wrap(&err, "context %d", i);
    assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
    assert_int_equal(strncmp(err.message, "context 99: context 98", 22), 0);
}

static void every_kind_has_its_exit_code(void **state)
{
    (void)state;
    assert_int_equal(error_exit_code(ERROR_USAGE), 2);
    assert_int_equal(error_exit_code(ERROR_INVALID), 2);
    assert_int_equal(error_exit_code(ERROR_ENVIRONMENT), 3);
    assert_int_equal(error_exit_code(ERROR_PARITY), 4);
    assert_int_equal(error_exit_code(ERROR_INTERRUPTED), 130);
    for (int k = 0; k < ERROR_KINDS; k++)
        assert_non_null(error_kind_name((enum error_kind)k));
}

static void text_grows_to_its_maximum(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf b = {.max = 10};

    (void)state;
    assert_string_equal(strbuf_text(&b), "");
    strbuf_addf(&b, "%s-%d", "abc", 12);
    strbuf_adds(&b, "xyz");
    assert_false(b.overflow);
    strbuf_adds(&b, "too much");
    assert_true(b.overflow);
    assert_string_equal(strbuf_text(&b), "abc-12xyz");
    strbuf_consume(&b, 4);
    assert_string_equal(strbuf_text(&b), "12xyz");
    assert_true(text_starts("abc", "ab") && !text_starts("a", "ab") && text_ends("abc", "bc") &&
                text_equal(NULL, NULL));
}

static void arenas_give_zeroed_aligned_memory(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();

    (void)state;
    for (size_t size = 1; size < 20000; size = size * 3 + 1) {
        unsigned char *p = arena_alloc(a, size);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, size);
    }
    arena_reset(a);
    assert_string_equal(arena_printf(a, "%d-%s", 5, "x"), "5-x");
    size_t held = arena_bytes(a);
    for (int round = 0; round < 1000; round++) {
        arena_reset(a);
        (void)arena_alloc(a, 3000);
    }
    assert_true(arena_bytes(a) <= held + 65536);
}

static void wall_clock_stamps(void **state)
{
    char buf[CLOCK_STAMP_SIZE];

    (void)state;
    assert_string_equal(clock_rfc3339(INT64_C(1700000000123456789), buf), "2023-11-14T22:13:20.123Z");
    assert_string_equal(clock_compact(INT64_C(1700000000123456789), buf), "20231114T221320Z");
    assert_true(clock_parse_rfc3339("2023-11-14T22:13:20.123456789Z") == INT64_C(1700000000123456789));
    assert_true(clock_parse_rfc3339("2023-11-15T00:13:20+02:00") == INT64_C(1700000000000000000));
    assert_true(clock_parse_rfc3339("0001-01-01T00:00:00Z") == -1);
    assert_true(clock_parse_rfc3339("yesterday") == -1);
    assert_true(clock_parse_rfc3339("9999-12-31T00:00:00Z") == -1); /* beyond 64 bits of nanoseconds */
    assert_true(clock_parse_rfc3339("1970-01-01T00:00:00+02:00") == -1);
    assert_true(clock_parse_rfc3339("2023-11-14T22:13:20") == -1);
    assert_true(clock_parse_rfc3339(NULL) == -1);
}

/* The test vectors of FIPS 180-4, and the first outputs of xoshiro256** for a state seeded with 0 by
 * splitmix64. */
static void hashes(void **state)
{
    char hex[SHA256_HEX_SIZE];
    struct rng r;

    (void)state;
    sha256_hex("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_hex("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_true(hash64("a", 1, 0) == UINT64_C(0xaf63dc4c8601ec8c));
    rng_seed(&r, 0);
    assert_true(rng_next(&r) == UINT64_C(0x99ec5f36cb75f2b4));
    assert_true(rng_next(&r) == UINT64_C(0xbf6e1f784956452a));
    for (int i = 0; i < 1000; i++)
        assert_true(rng_below(&r, 7) < 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_gain_context),
        cmocka_unit_test(a_long_error_is_cut_not_lost),
        cmocka_unit_test(every_kind_has_its_exit_code),
        cmocka_unit_test(text_grows_to_its_maximum),
        cmocka_unit_test(arenas_give_zeroed_aligned_memory),
        cmocka_unit_test(wall_clock_stamps),
        cmocka_unit_test(hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
