/* SPDX-License-Identifier: MIT */
#include "support/scratch.h"

#include <sys/wait.h>
#include "benchctl/archive.h"

/* Names of the lengths that tar formats stumble over: tests/cases/G05/names.txt. */
static void write_long_names(const char *path, const char *names)
{
    CLEANUP(archive_writer_free) struct archive_writer *w = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(archive_writer_open(path, &w, &err), 0);
    for (const char *line = names; *line;) {
        size_t len = strcspn(line, "\n");
        CLEANUP_FREE char *name = xstrndup(line, len);

        if (len && archive_writer_add_bytes(w, name, name, len, &err) < 0)
            fail_msg("%s", err.message);
        line += len + (line[len] == '\n');
    }
    if (archive_writer_close(TAKE(w), &err) < 0)
        fail_msg("%s", err.message);
}

static void test_long_names_round_trip_and_bytes_repeat(void **state)
{
    CLEANUP_FREE char *names = get(TESTS_DIR, "cases/G05/names.txt");
    CLEANUP_FREE char *one = path_join(*state, "one.tar.zst"), *two = path_join(*state, "two.tar.zst");
    CLEANUP(archive_reader_free) struct archive_reader *r = NULL;
    struct archive_member m;
    struct error err = ERROR_INIT;
    const char *line = names;
    int count = 0;

    write_long_names(one, names);
    assert_int_equal(shell("sleep 1.1"), 0); /* not the time of writing */
    write_long_names(two, names);
    assert_int_equal(shell("cmp '%s' '%s'", one, two), 0);
    assert_int_equal(archive_reader_open(one, NULL, &r, &err), 0);
    for (; archive_reader_next(r, &m, &err) > 0; count++) {
        char body[512];
        size_t len = strcspn(line, "\n");

        assert_int_equal(m.size, len);
        assert_int_equal(strlen(m.name), len);
        assert_memory_equal(m.name, line, len);
        assert_int_equal(archive_reader_read(r, body, sizeof(body), &err), len);
        assert_memory_equal(body, line, len);
        line += len + 1;
    }
    assert_int_equal(count, 6);
    CLEANUP_FREE char *tar = shell_output(*state, "zstd -dc one.tar.zst | tar -tf - | wc -l");
    assert_string_equal(tar, "6\n"); /* other programs read it, too */
    CLEANUP_FREE char *head =
        shell_output(*state, "zstd -dc one.tar.zst | TZ=UTC tar -tvf - | head -1 | awk '{print $1, $2, $4}'");
    assert_string_equal(head, "-rw-r--r-- 0/0 2000-01-01\n");
}

static void test_names_that_could_not_be_read_back(void **state)
{
    static const char *const BAD[] = {"", "/abs", "a/../b", "a//b", "./a", "a/", "..", "a/./b"};
    CLEANUP_FREE char *path = path_join(*state, "x.tar.zst");
    CLEANUP(archive_writer_free) struct archive_writer *w = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(archive_writer_open(path, &w, &err), 0);
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
        assert_int_equal(archive_writer_add_bytes(w, BAD[i], "", 0, &err), -1);
        assert_int_equal(err.kind, ERROR_INVALID);
    }
}

static void test_members_have_the_announced_size(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "x.tar.zst");
    CLEANUP(archive_writer_free) struct archive_writer *w = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(archive_writer_open(path, &w, &err), 0);
    assert_int_equal(archive_writer_begin(w, "a", 3, &err), 0);
    assert_int_equal(archive_writer_data(w, "abcd", 4, &err), -1);
    assert_int_equal(archive_writer_data(w, "ab", 2, &err), 0);
    assert_int_equal(archive_writer_begin(w, "b", 0, &err), -1);
    assert_int_equal(archive_writer_close(TAKE(w), &err), -1);
    CLEANUP_FREE char *left = shell_output(*state, "ls -A | grep -v shell-output | wc -l");
    assert_string_equal(left, "0\n"); /* neither the file nor its beginning */
}

static void test_an_abandoned_archive_replaces_nothing(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "x.tar.zst");
    struct error err = ERROR_INIT;
    struct archive_writer *w = NULL;

    put(*state, "x.tar.zst", "the old one");
    assert_int_equal(archive_writer_open(path, &w, &err), 0);
    assert_int_equal(archive_writer_add_bytes(w, "a", "b", 1, &err), 0);
    archive_writer_free(w);
    CLEANUP_FREE char *old = get(*state, "x.tar.zst");
    assert_string_equal(old, "the old one");
    CLEANUP_FREE char *left = shell_output(*state, "ls -A | grep -v shell-output");
    assert_string_equal(left, "x.tar.zst\n");
}

static void test_a_full_disk_keeps_what_was_there(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "disk/x.tar.zst");
    CLEANUP(archive_writer_free) struct archive_writer *w = NULL;
    CLEANUP_FREE unsigned char *noise = xmalloc(1 << 20);
    struct error err = ERROR_INIT;
    uint32_t n = 1;
    int r = 0;

    if (!small_disk(*state, "disk", "512k"))
        skip();
    put(*state, "disk/x.tar.zst", "the old one");
    for (size_t i = 0; i < 1 << 20; i++)
        noise[i] = (unsigned char)((n = n * 1664525 + 1013904223) >> 24);
    assert_int_equal(archive_writer_open(path, &w, &err), 0);
    for (int i = 0; i < 4 && r == 0; i++) {
        char name[8];
        (void)snprintf(name, sizeof(name), "%d", i);
        r = archive_writer_add_bytes(w, name, noise, 1 << 20, &err);
    }
    if (r == 0)
        r = archive_writer_close(TAKE(w), &err);
    assert_int_equal(r, -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_int_equal(err.code, ENOSPC);
    assert_non_null(strstr(err.message, path));
    assert_true(err.hint[0]);
    archive_writer_free(TAKE(w));
    CLEANUP_FREE char *old = get(*state, "disk/x.tar.zst");
    assert_string_equal(old, "the old one");
    CLEANUP_FREE char *left = shell_output(*state, "ls -A disk");
    assert_string_equal(left, "x.tar.zst\n");
    small_disk_end(*state, "disk");
}

static void test_extracting_onto_a_full_disk_leaves_nothing(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "x.tar.zst"), *target = path_join(*state, "disk/out");
    CLEANUP_FREE char *zeros = xcalloc(1, 1 << 20);
    struct archive_writer *w = NULL;
    struct error err = ERROR_INIT;

    if (!small_disk(*state, "disk", "512k"))
        skip();
    assert_int_equal(archive_writer_open(path, &w, &err), 0);
    assert_int_equal(archive_writer_add_bytes(w, "a/small", "x", 1, &err), 0);
    assert_int_equal(archive_writer_add_bytes(w, "a/zeros", zeros, 1 << 20, &err), 0);
    assert_int_equal(archive_writer_close(w, &err), 0);
    assert_int_equal(archive_extract(path, target, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_int_equal(err.code, ENOSPC);
    assert_false(fs_exists(target));
    small_disk_end(*state, "disk");
}

/* --- one compressed file --- */

static void test_compressed_file(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "raw.zst");
    CLEANUP_VALUE(strbuf_release) struct strbuf back = STRBUF_INIT;
    struct archive_file *f = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(archive_file_create(path, &f, &err), 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(archive_file_write(f, "go_goroutines 7\n", 16, &err), 0);
    assert_int_equal(archive_file_write(f, "", 0, &err), 0);
    assert_int_equal(archive_file_close(f, &err), 0);
    assert_int_equal(archive_file_read(path, 16000, &back, &err), 0);
    assert_int_equal(back.len, 16000);
    CLEANUP_FREE char *lines = shell_output(*state, "zstd -dc raw.zst | uniq -c | awk '{print $1}'");
    assert_string_equal(lines, "1000\n");
    assert_int_equal(archive_file_read(path, 15999, &back, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_int_equal(shell("truncate -s -3 '%s'", path), 0);
    assert_int_equal(archive_file_read(path, 16000, &back, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    put(*state, "raw.zst", "not zstd");
    assert_int_equal(archive_file_read(path, 16000, &back, &err), -1);
    assert_int_equal(archive_file_close(NULL, &err), 0);
}

static void test_compressed_file_errors(void **state)
{
    CLEANUP_FREE char *missing = path_join(*state, "no/such"), *empty = path_join(*state, "empty.zst");
    CLEANUP_VALUE(strbuf_release) struct strbuf back = STRBUF_INIT;
    struct archive_file *f = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(archive_file_create(missing, &f, &err), -1);
    assert_null(f);
    assert_int_equal(archive_file_read(missing, 100, &back, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    assert_int_equal(archive_file_create(empty, &f, &err), 0);
    assert_int_equal(archive_file_close(f, &err), 0);
    assert_int_equal(archive_file_read(empty, 100, &back, &err), 0);
    assert_int_equal(back.len, 0);
}

int main(void)
{
#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_long_names_round_trip_and_bytes_repeat),
        IN_SCRATCH(test_names_that_could_not_be_read_back),
        IN_SCRATCH(test_members_have_the_announced_size),
        IN_SCRATCH(test_an_abandoned_archive_replaces_nothing),
        IN_SCRATCH(test_a_full_disk_keeps_what_was_there),
        IN_SCRATCH(test_extracting_onto_a_full_disk_leaves_nothing),
        IN_SCRATCH(test_compressed_file),
        IN_SCRATCH(test_compressed_file_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
