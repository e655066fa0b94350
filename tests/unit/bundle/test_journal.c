/* SPDX-License-Identifier: MIT */
/* The journal after a crash at any byte. */
#include "make_run.h"

#include "benchctl/base/clock.h"
#include "internal.h"

struct seen {
    int count;
    char last[64];
};

static void see(const struct json *record, void *data)
{
    struct seen *s = data;

    s->count++;
    (void)snprintf(s->last, sizeof(s->last), "%s", json_get_text(record, "event"));
}

static void sample(struct strbuf *out, int records)
{
    CLEANUP(json_free) struct json *head = json_new_object(), *fields = json_new_object();

    json_set_int(head, "schema", BUNDLE_SCHEMA);
    json_set_text(fields, "scenario", "a/256m \n \x1b \"quoted\" \xff");
    json_set_number(fields, "value", 1.5);
    json_set_text(fields, "sum", "ignored");
    journal_format(1, 0, JOURNAL_OPENED, head, out);
    for (int i = 2; i <= records; i++)
        journal_format((uint64_t)i, i * NS_PER_S, i % 2 ? "odd" : "even", fields, out);
}

static size_t scan(const char *bytes, size_t len, struct seen *ret)
{
    CLEANUP_FREE char *copy =
        xmalloc(len + 1); /* exact size: reading past the end is seen by the sanitizer */
    struct error err = ERROR_INIT;
    size_t good = 12345;

    *ret = (struct seen){0};
    memcpy(copy, bytes, len);
    char *exact = xrealloc(copy, len ? len : 1);
    copy = exact;
    assert_int_equal(journal_scan(copy, len, see, ret, &good, &err), 0);
    return good;
}

static void test_whole(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf j = STRBUF_INIT;
    struct seen s;

    (void)state;
    sample(&j, 6);
    assert_int_equal(scan(j.data, j.len, &s), j.len);
    assert_int_equal(s.count, 6);
    assert_string_equal(s.last, "even");
    assert_int_equal(scan("", 0, &s), 0);
    assert_int_equal(s.count, 0);
}

/* Number of whole lines in the first `len` bytes, and where they end. */
static int whole_lines(const char *bytes, size_t len, size_t *ret_end)
{
    int lines = 0;

    *ret_end = 0;
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] == '\n') {
            lines++;
            *ret_end = i + 1;
        }
    }
    return lines;
}

static void test_cut_at_every_byte(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf j = STRBUF_INIT;
    struct seen s;

    (void)state;
    sample(&j, 6);
    for (size_t cut = 0; cut <= j.len; cut++) {
        size_t end;
        int lines = whole_lines(j.data, cut, &end);

        assert_int_equal(scan(j.data, cut, &s), end);
        assert_int_equal(s.count, lines);
    }
}

static void test_zeroed_from_every_byte(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf j = STRBUF_INIT;
    struct seen s;

    (void)state;
    sample(&j, 5);
    for (size_t cut = 0; cut < j.len; cut++) {
        CLEANUP_FREE char *copy = xcalloc(1, j.len + 4096);
        size_t end;
        int lines = whole_lines(j.data, cut, &end);

        memcpy(copy, j.data, cut);
        assert_int_equal(scan(copy, j.len + 4096, &s), end);
        assert_int_equal(s.count, lines);
    }
}

static void test_every_changed_byte_is_noticed(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf j = STRBUF_INIT;
    struct seen s;

    (void)state;
    sample(&j, 4);
    for (size_t i = 0; i < j.len; i++) {
        size_t before;
        int lines = whole_lines(j.data, i, &before);

        for (int bit = 0; bit < 8; bit += 3) {
            j.data[i] ^= (char)(1 << bit);
            size_t good = scan(j.data, j.len, &s);
            if (good != before || s.count != lines)
                fail_msg("byte %zu bit %d: %zu intact instead of %zu", i, bit, good, before);
            j.data[i] ^= (char)(1 << bit);
        }
    }
}

static void test_lines_out_of_order(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf j = STRBUF_INIT;
    struct seen s;

    (void)state;
    sample(&j, 2);
    size_t two = j.len;
    journal_format(4, 0, "skipped one", NULL, &j);
    assert_int_equal(scan(j.data, j.len, &s), two);
    strbuf_clear(&j);
    sample(&j, 2);
    journal_format(2, 0, "again", NULL, &j);
    assert_int_equal(scan(j.data, j.len, &s), two);
    strbuf_clear(&j);
    journal_format(1, 0, "not a beginning", NULL, &j);
    assert_int_equal(scan(j.data, j.len, &s), 0);
}

/* An editor that wrote the file again with CRLF has not damaged it. */
static void test_crlf(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf j = STRBUF_INIT, crlf = STRBUF_INIT;
    struct seen s;

    (void)state;
    sample(&j, 3);
    for (size_t i = 0; i < j.len; i++) {
        if (j.data[i] == '\n')
            strbuf_addc(&crlf, '\r');
        strbuf_addc(&crlf, j.data[i]);
    }
    assert_int_equal(scan(crlf.data, crlf.len, &s), crlf.len);
    assert_int_equal(s.count, 3);
}

static void test_newer_schema(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf j = STRBUF_INIT;
    CLEANUP(json_free) struct json *head = json_new_object();
    struct error err = ERROR_INIT;
    struct seen s = {0};
    size_t good = 7;

    (void)state;
    json_set_int(head, "schema", 99);
    journal_format(1, 0, JOURNAL_OPENED, head, &j);
    assert_int_equal(journal_scan(j.data, j.len, see, &s, &good, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_non_null(strstr(err.message, "newer"));
    assert_true(err.hint[0]);
    assert_int_equal(good, 7);
    assert_int_equal(s.count, 0);
}

/* --- the file --- */

static void test_damage_is_moved_aside_and_writing_goes_on(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, JOURNAL_FILE);
    struct journal j;
    struct seen s = {0};
    int64_t moved;

    OK(journal_create(path, &j, e));
    OK(journal_append(&j, "one", NULL, true, e));
    OK(journal_append(&j, "two", NULL, false, e));
    journal_release(&j);
    assert_int_equal(shell("truncate -s -5 '%s' && head -c 100 /dev/zero >> '%s'", path, path), 0);
    OK(journal_open(path, see, &s, &j, &moved, e));
    assert_int_equal(s.count, 2);
    assert_string_equal(s.last, "one");
    assert_true(moved > 100);
    OK(journal_append(&j, "three", NULL, true, e));
    journal_release(&j);

    s = (struct seen){0};
    OK(journal_open(path, see, &s, &j, &moved, e));
    assert_int_equal(moved, 0);
    assert_int_equal(s.count, 3);
    assert_string_equal(s.last, "three");
    journal_release(&j);
    CLEANUP_FREE char *aside = path_join(*state, "journal.damaged-1");
    assert_true(fs_exists(aside));
}

static void test_a_full_disk_keeps_the_journal_whole(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "disk/" JOURNAL_FILE), *text = xmalloc(3000);
    CLEANUP(json_free) struct json *fields = json_new_object();
    struct error err = ERROR_INIT;
    struct seen s = {0};
    struct journal j;
    int64_t moved;
    int n = 1;

    if (!small_disk(*state, "disk", "64k"))
        skip();
    memset(text, 'x', 3000);
    text[2999] = '\0';
    json_set_text(fields, "text", text);
    OK(journal_create(path, &j, e));
    while (journal_append(&j, "more", fields, true, &err) == 0)
        assert_true(++n < 100);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_int_equal(err.code, ENOSPC);
    assert_true(err.hint[0]);
    OK(journal_append(&j, "small", NULL, true, e)); /* what is there is whole, and a small line still fits */
    journal_release(&j);
    OK(journal_open(path, see, &s, &j, &moved, e));
    journal_release(&j);
    assert_int_equal(moved, 0);
    assert_int_equal(s.count, n + 1);
    assert_string_equal(s.last, "small");
    small_disk_end(*state, "disk");
}

int main(void)
{
#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_cut_at_every_byte),
        cmocka_unit_test(test_zeroed_from_every_byte),
        cmocka_unit_test(test_every_changed_byte_is_noticed),
        cmocka_unit_test(test_lines_out_of_order),
        cmocka_unit_test(test_crlf),
        cmocka_unit_test(test_newer_schema),
        IN_SCRATCH(test_damage_is_moved_aside_and_writing_goes_on),
        IN_SCRATCH(test_a_full_disk_keeps_the_journal_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
