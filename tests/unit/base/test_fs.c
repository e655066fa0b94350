/* SPDX-License-Identifier: MIT */
#include "benchctl/base/fs.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>
#include "benchctl/base/mem.h"

static char *scratch(void)
{
    char name[] = "/tmp/benchctl-test-XXXXXX";

    assert_non_null(mkdtemp(name));
    return xstrdup(name);
}

static void globs(void **state)
{
    static const struct {
        const char *pattern, *path;
        bool matches;
    } cases[] = {
        {"*.java", "A.java", true},
        {"*.java", "a/A.java", false},
        {"**/README.md", "README.md", true},
        {"**/README.md", "a/b/README.md", true},
        {"a/**", "a/b/c", true},
        {"a/**/c", "a/c", true},
        {"a/**/c", "a/x/y/c", true},
        {"a/*/c", "a/x/y/c", false},
        {"?.c", "a.c", true},
        {"?.c", "/.c", false},
        {"[a-c]x", "bx", true},
        {"[!a-c]x", "bx", false},
        {"[a", "[a", true},
        {"SQL_*", "SQL_INSERT", true},
        {"", "", true},
        {"*", "", true},
        {"\\*", "*", true},
        {"\\*", "x", false},
        {"**", "any/thing/at.all", true},
        {"a*b*c", "aXbYbZc", true},
        {"a*b*c", "aXbYbZ", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (glob_match(cases[i].pattern, cases[i].path) != cases[i].matches)
            fail_msg("'%s' on '%s'", cases[i].pattern, cases[i].path);
}

/* A pattern made to be slow in a matcher that backtracks without a bound. */
static void a_hostile_glob_ends(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf pattern = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf path = STRBUF_INIT;

    (void)state;
    for (int i = 0; i < 200; i++) {
        strbuf_adds(&pattern, "**/*a*");
        strbuf_adds(&path, "aaaa/");
    }
    assert_false(glob_match(strbuf_text(&pattern), strbuf_text(&path)));
}

static void files_are_replaced_whole(void **state)
{
    CLEANUP_FREE char *dir = scratch();
    CLEANUP_FREE char *path = path_join(dir, "f");
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error err;

    (void)state;
    assert_int_equal(fs_write_atomic(path, "one", 3, &err), 0);
    assert_int_equal(fs_write_atomic(path, "second", 6, &err), 0);
    assert_int_equal(fs_read(path, 100, &text, &err), 0);
    assert_string_equal(strbuf_text(&text), "second");
    assert_int_equal(fs_read(path, 3, &text, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_int_equal(fs_remove_tree(dir, &err), 0);
    assert_int_equal(fs_read(path, 3, &text, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    assert_int_equal(fs_remove_tree(dir, &err), 0);
}

/* What a run directory holds is nobody else's: a link there leads nowhere, and nobody reads from a pipe. */
static void whatever_has_the_name_is_replaced(void **state)
{
    CLEANUP_FREE char *dir = scratch();
    CLEANUP_FREE char *fifo = path_join(dir, "fifo");
    CLEANUP_FREE char *file = path_join(dir, "file");
    CLEANUP_FREE char *link = path_join(dir, "link");
    CLEANUP_FREE char *temporary = path_join(dir, "link.tmp");
    struct stat st;
    struct error err;

    (void)state;
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(fs_write_atomic(fifo, "hello", 5, &err), 0);
    assert_true(lstat(fifo, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 5);
    assert_int_equal(fs_write(file, "old one", 7, &err), 0);
    assert_int_equal(symlink("file", link), 0);
    assert_int_equal(symlink("file", temporary), 0);
    assert_int_equal(fs_write_atomic(link, "new", 3, &err), 0);
    assert_true(lstat(link, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 3);
    assert_true(stat(file, &st) == 0 && st.st_size == 7);
    assert_int_equal(fs_remove_tree(dir, &err), 0);
}

static void special_files_are_written_to_not_replaced(void **state)
{
    CLEANUP_FREE char *dir = scratch();
    CLEANUP_FREE char *fifo = path_join(dir, "fifo");
    CLEANUP_FREE char *file = path_join(dir, "file");
    CLEANUP_FREE char *link = path_join(dir, "link");
    struct stat st;
    struct error err;
    char got[8] = "";

    (void)state;
    assert_int_equal(mkfifo(fifo, 0600), 0);
    int reader = open(fifo, O_RDONLY | O_NONBLOCK);
    assert_int_equal(fs_write_output(fifo, "hello", 5, &err), 0);
    assert_int_equal(read(reader, got, sizeof(got)), 5);
    (void)close(reader);
    assert_true(lstat(fifo, &st) == 0 && S_ISFIFO(st.st_mode));
    assert_int_equal(fs_write(file, "old", 3, &err), 0);
    assert_int_equal(symlink("file", link), 0);
    assert_int_equal(fs_write_output(link, "new", 3, &err), 0);
    assert_true(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
    assert_true(stat(file, &st) == 0 && st.st_size == 3);
    assert_int_equal(fs_write_output("/dev/null", "x", 1, &err), 0);
    assert_true(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
    assert_int_equal(fs_remove_tree(dir, &err), 0);
}

/* Nobody writes to the pipe, and the device never ends: neither may be waited for. */
static void only_regular_files_are_read(void **state)
{
    CLEANUP_FREE char *dir = scratch();
    CLEANUP_FREE char *pipe = path_join(dir, "pipe");
    CLEANUP_FREE char *copy = path_join(dir, "copy");
    CLEANUP_FREE char *link_path = path_join(dir, "link");
    const char *const odd[] = {pipe, link_path, "/dev/zero", "/dev/null"};
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;

    (void)state;
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(symlink(pipe, link_path), 0);
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        struct error err = ERROR_INIT;
        assert_int_equal(fs_read(odd[i], 100, &out, &err), -1);
        assert_non_null(strstr(err.message, "it is not a regular file"));
        assert_int_equal(err.kind, ERROR_ENVIRONMENT);
        err = (struct error)ERROR_INIT;
        assert_int_equal(fs_copy(odd[i], copy, &err), -1);
        assert_non_null(strstr(err.message, "it is not a regular file"));
        assert_false(fs_exists(copy));
    }
    struct error err = ERROR_INIT;
    assert_int_equal(fs_read(dir, 100, &out, &err), -1);
    assert_non_null(strstr(err.message, "Is a directory"));
    err = (struct error)ERROR_INIT;
    assert_int_equal(fs_read("/proc/self/stat", 8192, &out, &err), 0);
    assert_true(out.len > 0);
    assert_int_equal(fs_remove_tree(dir, &err), 0);
}

static void removing_never_follows_links(void **state)
{
    CLEANUP_FREE char *dir = scratch();
    CLEANUP_FREE char *outside = scratch();
    CLEANUP_FREE char *kept = path_join(outside, "kept");
    CLEANUP_FREE char *link = path_join(dir, "link");
    struct error err;

    (void)state;
    assert_int_equal(fs_write(kept, "x", 1, &err), 0);
    assert_int_equal(symlink(outside, link), 0);
    assert_int_equal(fs_remove_tree(dir, &err), 0);
    assert_true(fs_exists(kept));
    assert_int_equal(fs_remove_tree(outside, &err), 0);
}

static int note_path(const char *relative, bool is_dir, int64_t size, void *data, struct error *err)
{
    (void)size;
    (void)err;
    strbuf_addf(data, "%s%s ", relative, is_dir ? "/" : "");
    return 0;
}

static void walks_are_sorted(void **state)
{
    CLEANUP_FREE char *dir = scratch();
    CLEANUP_FREE char *deep = path_join(dir, "b/c");
    CLEANUP_FREE char *f1 = path_join(dir, "b/c/z");
    CLEANUP_FREE char *f2 = path_join(dir, "a");
    CLEANUP_VALUE(strbuf_release) struct strbuf seen = STRBUF_INIT;
    struct error err;

    (void)state;
    assert_int_equal(fs_mkdirs(deep, &err), 0);
    assert_int_equal(fs_mkdirs(deep, &err), 0);
    assert_int_equal(fs_write(f1, "", 0, &err), 0);
    assert_int_equal(fs_write(f2, "", 0, &err), 0);
    assert_int_equal(fs_walk(dir, note_path, &seen, &err), 0);
    assert_string_equal(strbuf_text(&seen), "a b/ b/c/ b/c/z ");
    assert_int_equal(fs_mkdirs(f2, &err), -1);
    assert_int_equal(fs_remove_tree(dir, &err), 0);
}

static void a_full_disk_has_a_hint(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    if (!fs_exists("/dev/full"))
        skip();
    assert_int_equal(fs_write("/dev/full", "x", 1, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_non_null(strstr(err.message, "/dev/full"));
    assert_non_null(strstr(err.hint, "space"));
}

static void paths(void **state)
{
    CLEANUP_FREE char *a = path_join("x", "y");
    CLEANUP_FREE char *b = path_join("x/", "/y");
    CLEANUP_FREE char *c = path_dirname("/a");
    CLEANUP_FREE char *d = path_dirname("a");
    CLEANUP_FREE char *e = fs_find_program("sh");

    (void)state;
    assert_string_equal(a, "x/y");
    assert_string_equal(b, "/y");
    assert_string_equal(c, "/");
    assert_string_equal(d, ".");
    assert_string_equal(path_basename("a/b"), "b");
    assert_non_null(e);
    assert_null(fs_find_program("no-such-program-here"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(globs),
        cmocka_unit_test(a_hostile_glob_ends),
        cmocka_unit_test(files_are_replaced_whole),
        cmocka_unit_test(whatever_has_the_name_is_replaced),
        cmocka_unit_test(special_files_are_written_to_not_replaced),
        cmocka_unit_test(only_regular_files_are_read),
        cmocka_unit_test(removing_never_follows_links),
        cmocka_unit_test(walks_are_sorted),
        cmocka_unit_test(a_full_disk_has_a_hint),
        cmocka_unit_test(paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
