/* SPDX-License-Identifier: MIT */
/* Hostile, damaged and honest archives: tests/cases/G01 to G08. */
#include "support/scratch.h"

#include <grp.h>
#include <locale.h>
#include <sys/wait.h>
#include "benchctl/archive.h"
#include "benchctl/base/log.h"

#define OUTSIDE "/tmp/benchctl-case-outside"

static char logged[1024];

static void remember(enum log_level level, const char *line, void *data)
{
    (void)level;
    (void)data;
    (void)snprintf(logged, sizeof(logged), "%s", line);
}

static char *case_path(const char *name)
{
    return xasprintf(TESTS_DIR "/cases/%s", name);
}

/* All members, printable, one a line; "" and err filled when it is refused. */
static char *list(const char *path, const struct archive_limits *limits, struct error *err)
{
    CLEANUP(archive_reader_free) struct archive_reader *r = NULL;
    struct strbuf out = STRBUF_INIT;
    struct archive_member m;
    char shown[300];
    int more = archive_reader_open(path, limits, &r, err) < 0 ? -1 : 1;

    while (more > 0 && (more = archive_reader_next(r, &m, err)) > 0)
        strbuf_addf(&out, "%s%s %lld\n", archive_printable(m.name, shown, sizeof(shown)), m.is_dir ? "/" : "",
                    (long long)m.size);
    if (more < 0)
        strbuf_clear(&out);
    return strbuf_detach(&out);
}

static void expect_refused(const char *dir, const char *name, const char *reason)
{
    CLEANUP_FREE char *path = case_path(name), *target = path_join(dir, "deep/target");
    CLEANUP_FREE char *escaped = path_join(dir, "deep/benchctl-case-escape.txt");
    struct error err = ERROR_INIT;

    assert_true(fs_exists(path));
    if (archive_extract(path, target, NULL, &err) == 0)
        fail_msg("%s was accepted", name);
    assert_int_equal(err.kind, ERROR_INVALID);
    if (!strstr(err.message, reason) || strstr(err.message, "(null)"))
        fail_msg("%s is refused with '%s', not '%s'", name, err.message, reason);
    assert_false(fs_exists(target));
    CLEANUP_FREE char *deep = path_join(dir, "deep"); /* its parent was made for it, so that goes as well */
    assert_false(fs_exists(deep));
    assert_false(fs_exists(escaped));
}

static void expect_accepted(const char *dir, const char *name)
{
    CLEANUP_FREE char *path = case_path(name), *target = path_join(dir, path_basename(name));
    struct error err = ERROR_INIT;

    if (archive_extract(path, target, NULL, &err) < 0)
        fail_msg("%s: %s", name, err.message);
}

static void test_g01_nothing_leaves_the_target(void **state)
{
    assert_int_equal(shell("rm -rf " OUTSIDE " && mkdir " OUTSIDE), 0);
    expect_refused(*state, "G01/dotdot.tar", "'..' as a part of its name");
    expect_refused(*state, "G01/absolute.tar", "absolute name");
    expect_refused(*state, "G01/link_then_write.tar", "symbolic link");
    expect_refused(*state, "G01/link_out.tar", "symbolic link");
    expect_refused(*state, "G01/nested_link.tar", "symbolic link");
    expect_refused(*state, "G01/dir_name_with_data.tar", "directory with content");
    expect_refused(*state, "G01/link_inside_ok.tar", "symbolic link"); /* links are refused as a class */
    assert_int_equal(shell("rmdir " OUTSIDE), 0);                      /* still empty */
}

static void test_g02_hard_links(void **state)
{
    assert_int_equal(shell("rm -rf " OUTSIDE " && mkdir " OUTSIDE " && echo text > " OUTSIDE "/victim"), 0);
    expect_refused(*state, "G02/hardlink_out.tar", "hard link");
    expect_refused(*state, "G02/hardlink_dotdot.tar", "hard link");
    expect_refused(*state, "G02/hardlink_data_pax.tar", "hard link");
    expect_refused(*state, "G02/hardlink_data_ustar.tar", "hard link");
    expect_refused(*state, "G02/hardlink_before_target.tar", "hard link");
    assert_int_equal(shell("test \"$(cat " OUTSIDE "/victim)\" = text && test \"$(stat -c %%h " OUTSIDE
                           "/victim)\" = 1 && rm -r " OUTSIDE),
                     0);
}

static void test_g03_names_in_any_locale(void **state)
{
    static const char *const EXPECTED[][2] = {
        {"G03/utf8.tar", "r\xc3\xa9sultats/\xe6\xb8\xac\xe8\xa9\xa6.json 2\n"},
        {"G03/latin1.tar", "r\\xe9sultats.json 2\n"},
        {"G03/newline_name.tar", "two\\nlines.txt 2\ntab\\there 2\n-rf 2\nesc\\x1b[31m.txt 2\n"},
    };
    static const char *const LOCALES[] = {"C", "C.UTF-8"};

    (void)state;
    for (size_t l = 0; l < ARRAY_LEN(LOCALES); l++) {
        assert_non_null(setlocale(LC_ALL, LOCALES[l]));
        for (size_t i = 0; i < ARRAY_LEN(EXPECTED); i++) {
            CLEANUP_FREE char *path = case_path(EXPECTED[i][0]);
            struct error err = ERROR_INIT;
            CLEANUP_FREE char *names = list(path, NULL, &err);
            assert_string_equal(names, EXPECTED[i][1]);
        }
    }
    assert_non_null(setlocale(LC_ALL, "C"));
    expect_accepted(*state, "G03/newline_name.tar");
    CLEANUP_FREE char *content = get(*state, "newline_name.tar/two\nlines.txt");
    assert_int_equal(strlen(content), 2);
}

static void test_g04_cut_and_damaged(void **state)
{
    expect_refused(*state, "G04/cut_mid.tar", "");
    expect_refused(*state, "G04/cut_header.tar", "");
    expect_refused(*state, "G04/cut.tar.gz", "");
    expect_refused(*state, "G04/cut_half.tar.gz", "");
    expect_refused(*state, "G04/zero_byte.tar", "is empty");
    expect_refused(*state, "G04/junk.tar", "");
    expect_refused(*state, "G04/bad_checksum.tar", "");
    expect_accepted(*state, "G04/full.tar");
    CLEANUP_FREE char *names = shell_output(*state, "cd full.tar && ls -1 d");
    assert_string_equal(names, "1\n2\n3\n");
}

/* Wherever full.tar is cut, that is noticed; only zero bytes may be missing behind the end mark. */
static void test_every_cut_is_noticed(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf whole = STRBUF_INIT;
    CLEANUP_FREE char *path = case_path("G04/full.tar");
    struct error err = ERROR_INIT;
    size_t end;

    (void)state;
    assert_int_equal(fs_read(path, 1 << 20, &whole, &err), 0);
    for (end = whole.len; end && !whole.data[end - 1];)
        end--;
    end = (end + 511) / 512 * 512 + 1024;
    for (size_t len = 1; len <= whole.len; len += len > end - 3000 && len < end ? 1 : 97) {
        CLEANUP(archive_reader_free) struct archive_reader *r = NULL;
        struct archive_member m;
        int more = archive_reader_open_memory(whole.data, len, "cut", NULL, &r, &err) < 0 ? -1 : 1;

        while (more > 0)
            more = archive_reader_next(r, &m, &err);
        if ((more == 0) != (len >= end))
            fail_msg("cut at %zu of %zu gives %d", len, end, more);
    }
}

static void test_g05_long_names_and_large_ids(void **state)
{
    expect_accepted(*state, "G05/longname_pax.tar");
    expect_accepted(*state, "G05/longname_gnu.tar");
    expect_accepted(*state, "G05/biguid_pax.tar");
    expect_accepted(*state, "G05/biguid_gnu.tar");
    CLEANUP_FREE char *owner =
        shell_output(*state, "stat -c %u biguid_gnu.tar/a && stat -c %u biguid_pax.tar/a");
    CLEANUP_FREE char *ours = xasprintf("%u\n%u\n", geteuid(), geteuid());
    assert_string_equal(owner, ours);
    CLEANUP_FREE char *ends = shell_output(*state, "find longname_* -name end.txt | wc -l");
    assert_string_equal(ends, "2\n");
}

/* A member of `size` zero bytes, and then `count` empty ones. */
static char *write_bomb(const char *dir, const char *name, int64_t size, int count)
{
    CLEANUP(archive_writer_free) struct archive_writer *w = NULL;
    CLEANUP_FREE char *zeros = xcalloc(1, 1 << 20);
    char *path = path_join(dir, name);
    struct error err = ERROR_INIT;

    assert_int_equal(archive_writer_open(path, &w, &err), 0);
    if (size)
        assert_int_equal(archive_writer_begin(w, "zeros.bin", size, &err), 0);
    for (int64_t left = size; left > 0; left -= 1 << 20)
        assert_int_equal(archive_writer_data(w, zeros, 1 << 20, &err), 0);
    for (int i = 0; i < count; i++) {
        char member[32];
        (void)snprintf(member, sizeof(member), "m/%05d", i);
        assert_int_equal(archive_writer_add_bytes(w, member, "", 0, &err), 0);
    }
    assert_int_equal(archive_writer_close(TAKE(w), &err), 0);
    return path;
}

static void expect_over_limit(const char *dir, const char *path, const struct archive_limits *l,
                              const char *reason)
{
    CLEANUP_FREE char *target = path_join(dir, "over");
    struct error err = ERROR_INIT;

    assert_int_equal(archive_extract(path, target, l, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    if (!strstr(err.message, reason))
        fail_msg("%s: '%s', not '%s'", path, err.message, reason);
    assert_false(fs_exists(target));
}

static void test_g06_small_archives_with_enormous_results(void **state)
{
    struct archive_limits l = ARCHIVE_LIMITS_DEFAULT;
    CLEANUP_FREE char *zeros = write_bomb(*state, "zeros.tar.zst", (int64_t)256 << 20, 0);
    CLEANUP_FREE char *many = write_bomb(*state, "many.tar.zst", 0, 20000);
    CLEANUP_FREE char *sparse = case_path("G06/sparse_1t.tar"), *nested = case_path("G06/nested.tar.gz");
    struct error err = ERROR_INIT;

    l.max_entries = 10000;
    l.max_total_bytes = (int64_t)100 << 20;
    l.max_entry_bytes = (int64_t)500 << 20;
    expect_over_limit(*state, zeros, &l, "unpacks to more than is allowed");
    expect_over_limit(*state, many, &l, "more than 10000 members");
    expect_over_limit(*state, sparse, &l, "");
    l.max_entry_bytes = (int64_t)100 << 20;
    expect_over_limit(*state, zeros, &l, "larger than is allowed");
    l = ARCHIVE_LIMITS_DEFAULT;
    expect_over_limit(*state, sparse, &l, "has holes");
    l.ratio_free_bytes = 1 << 20;
    expect_over_limit(*state, zeros, &l, "times its size");

    l = (struct archive_limits){10000, 100 << 20, 100 << 20, 100, 1 << 20, false, false};
    CLEANUP_FREE char *names = list(nested, &l, &err);
    assert_int_equal(strncmp(names, "layer0.gz ", 10), 0); /* plain files, never unpacked further */
}

static void test_g07_modes_and_owners_are_ours(void **state)
{
    expect_refused(*state, "G07/device.tar", "neither a file nor a directory");
    expect_refused(*state, "G07/fifo.tar", "neither a file nor a directory");
    mode_t mask = umask(022);
    expect_accepted(*state, "G07/setuid.tar");
    expect_accepted(*state, "G07/world.tar");
    expect_accepted(*state, "G07/owner.tar");
    expect_accepted(*state, "G07/readonly_dir.tar");
    (void)umask(mask);
    CLEANUP_FREE char *modes =
        shell_output(*state, "stat -c '%a %n' setuid.tar/tool world.tar/d world.tar/d/f owner.tar/f "
                             "readonly_dir.tar/d readonly_dir.tar/d/f && "
                             "rm -r readonly_dir.tar");
    assert_string_equal(modes, "644 setuid.tar/tool\n755 world.tar/d\n644 world.tar/d/f\n644 owner.tar/f\n"
                               "755 readonly_dir.tar/d\n644 readonly_dir.tar/d/f\n");
}

/* The same for somebody who is not root. */
static void test_g07_as_an_ordinary_user(void **state)
{
    CLEANUP_FREE char *path = case_path("G07/owner.tar"), *target = path_join(*state, "theirs");
    int status;

    if (geteuid() != 0)
        skip(); /* then every test of this file is one */
    assert_int_equal(chmod(*state, 0777), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct error err = ERROR_INIT;
        (void)umask(022);
        if (setgroups(0, NULL) < 0 || setgid(65534) < 0 || setuid(65534) < 0)
            _exit(2);
        _exit(archive_extract(path, target, NULL, &err) < 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    CLEANUP_FREE char *owner = shell_output(*state, "stat -c '%u %a' theirs theirs/f");
    assert_string_equal(owner, "65534 755\n65534 644\n");
}

static void test_g08_twice_the_same_name(void **state)
{
    expect_refused(*state, "G08/dup.tar", "is there twice");
    expect_refused(*state, "G08/dup_dot.tar", "is there twice");
    expect_refused(*state, "G08/file_and_dir.tar", "below a member that is a file");
    expect_refused(*state, "G08/concat.tar", "something after its end");
    expect_refused(*state, "G08/tail_junk.tar", "something after its end");
    expect_accepted(*state, "G08/extra_zero.tar");
    log_set_sink(remember, NULL);
    logged[0] = '\0';
    expect_accepted(*state, "G08/case.tar");
    log_set_sink(NULL, NULL);
    assert_non_null(strstr(logged, "'Log.txt' and 'log.txt' differ only in case"));
}

static void test_the_compressed_file_has_one_end(void **state)
{
    static const unsigned char SKIPPABLE[] = {0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 'j', 'u', 'n', 'k'};
    struct archive_limits strict = ARCHIVE_LIMITS_DEFAULT;
    CLEANUP_FREE char *path = write_bomb(*state, "a.tar.zst", 1 << 20, 3);
    CLEANUP_VALUE(strbuf_release) struct strbuf whole = STRBUF_INIT;
    struct error err = ERROR_INIT;

    strict.one_zstd_frame = true;
    CLEANUP_FREE char *names = list(path, &strict, &err);
    assert_string_equal(names, "zeros.bin 1048576\nm/00000 0\nm/00001 0\nm/00002 0\n");
    assert_int_equal(fs_read(path, 1 << 20, &whole, &err), 0);
    size_t len = whole.len;
    strbuf_add(&whole, SKIPPABLE, sizeof(SKIPPABLE));
    assert_int_equal(fs_write(path, whole.data, whole.len, &err), 0);
    CLEANUP_FREE char *none = list(path, &strict, &err);
    assert_non_null(strstr(err.message, "something after its end"));
    for (size_t cut = 0; cut < len; cut++) {
        CLEANUP(archive_reader_free) struct archive_reader *r = NULL;

        assert_int_equal(archive_reader_open_memory(whole.data, cut, "cut", &strict, &r, &err), -1);
    }
    /* a second whole frame */
    CLEANUP_FREE char *two =
        shell_output(*state, "cp a.tar.zst b.tar.zst; head -c 100000 /dev/zero | zstd -q >> b.tar.zst");
    CLEANUP_FREE char *doubled = path_join(*state, "b.tar.zst");
    CLEANUP_FREE char *neither = list(doubled, &strict, &err);
    assert_string_equal(neither, "");
    assert_string_equal(none, "");
    assert_string_equal(two, "");
}

static void test_gzip_with_junk_behind(void **state)
{
    struct error err = ERROR_INIT;

    assert_int_equal(
        shell("gzip -c '" TESTS_DIR "/cases/G04/full.tar' > '%s/x.tar.gz'", (const char *)*state), 0);
    CLEANUP_FREE char *path = path_join(*state, "x.tar.gz");
    CLEANUP_FREE char *good = list(path, NULL, &err);
    assert_string_equal(good, "d/1 3\nd/2 5000\nd/3 1\n");
    assert_int_equal(shell("echo junk >> '%s'", path), 0);
    CLEANUP_FREE char *junk = list(path, NULL, &err);
    assert_string_equal(junk, "");
}

static void test_targets(void **state)
{
    CLEANUP_FREE char *path = case_path("G04/full.tar"), *dotdot = case_path("G01/dotdot.tar");
    CLEANUP_FREE char *full = path_join(*state, "full"), *empty = path_join(*state, "empty/");
    CLEANUP_FREE char *missing = path_join(*state, "missing.tar");
    struct error err = ERROR_INIT;

    put(*state, "full/something", "mine");
    assert_int_equal(mkdir(empty, 0755), 0);
    assert_int_equal(archive_extract(path, full, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    CLEANUP_FREE char *mine = get(*state, "full/something");
    assert_string_equal(mine, "mine");
    assert_int_equal(archive_extract(dotdot, empty, NULL, &err), -1); /* ok.txt had been written */
    assert_int_equal(rmdir(empty), 0);                                /* it was there: it stays, empty */
    assert_int_equal(archive_extract(missing, empty, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    assert_int_equal(archive_extract(*state, empty, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_non_null(strstr(err.message, "is not a file"));
    assert_false(fs_exists(empty));
}

static void test_printable(void **state)
{
    static const char *const CASES[][2] = {
        {"plain name-1", "plain name-1"},
        {"\x1b[2J", "\\x1b[2J"},
        {"a\\x41", "a\\x5cx41"},
        {"caf\xc3\xa9", "caf\xc3\xa9"},
        {"\xc2\x9b"
         "31m",
         "\\xc2\\x9b31m"},
        {"a\xe2\x80\xae"
         "b",
         "a\\xe2\\x80\\xae"
         "b"},
        {"\xc0\xaf", "\\xc0\\xaf"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
        {"\xe6\xb8", "\\xe6\\xb8"},
        {"\xff", "\\xff"},
        {"\r\n\t\x7f", "\\x0d\\n\\t\\x7f"},
        {"", ""},
    };
    char buf[64], small[16];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        assert_string_equal(archive_printable(CASES[i][0], buf, sizeof(buf)), CASES[i][1]);
    assert_string_equal(archive_printable("0123456789abcdefgh", small, sizeof(small)), "0123456789ab...");
    assert_string_equal(archive_printable("0123456789ab", small, sizeof(small)), "0123456789ab");
}

int main(void)
{
#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_g01_nothing_leaves_the_target),
        IN_SCRATCH(test_g02_hard_links),
        IN_SCRATCH(test_g03_names_in_any_locale),
        IN_SCRATCH(test_g04_cut_and_damaged),
        cmocka_unit_test(test_every_cut_is_noticed),
        IN_SCRATCH(test_g05_long_names_and_large_ids),
        IN_SCRATCH(test_g06_small_archives_with_enormous_results),
        IN_SCRATCH(test_g07_modes_and_owners_are_ours),
        IN_SCRATCH(test_g07_as_an_ordinary_user),
        IN_SCRATCH(test_g08_twice_the_same_name),
        IN_SCRATCH(test_the_compressed_file_has_one_end),
        IN_SCRATCH(test_gzip_with_junk_behind),
        IN_SCRATCH(test_targets),
        cmocka_unit_test(test_printable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
