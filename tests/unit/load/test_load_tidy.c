/* SPDX-License-Identifier: MIT */
/* What a hostile generator leaves behind: nothing of it is followed, waited for or read without end. */
#include "load_test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "benchctl/base/secrets.h"
#include "outcome.h"

struct told {
    size_t count;
    char last[200];
};

static void tell(const char *name, const char *why, void *data)
{
    struct told *t = data;

    t->count++;
    (void)snprintf(t->last, sizeof(t->last), "%s: %s", name, why);
}

static struct told tidy(const char *dir, bool links)
{
    struct told told = {0};
    struct error err = ERROR_INIT;
    const struct load_tidying o = {.dir = dir, .links = links, .removed = tell, .data = &told};

    if (load_output_tidy(&o, &err) < 0)
        fail_msg("%s", err.message);
    return told;
}

static bool there(const char *dir, const char *name)
{
    CLEANUP_FREE char *path = path_join(dir, name);
    struct stat st;

    return lstat(path, &st) == 0;
}

static void make_file(const char *dir, const char *name, off_t size, mode_t mode)
{
    CLEANUP_FREE char *path = path_join(dir, name);
    CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, size), 0);
    assert_int_equal(fchmod(fd, mode), 0);
}

static void only_files_stay(void **state)
{
    const char *dir = *state;
    CLEANUP_FREE char *out = xasprintf("%s/out", dir), *sub = xasprintf("%s/out/sub", dir),
                      *fifo = xasprintf("%s/out/sub/stdout.txt", dir),
                      *link = xasprintf("%s/out/finish-stderr.txt", dir),
                      *link_dir = xasprintf("%s/out/linked", dir), *victims = xasprintf("%s/victims", dir);

    assert_int_equal(mkdir(out, 0755) | mkdir(sub, 0755) | mkdir(victims, 0755), 0);
    make_file(victims, "victim", 5, 0644);
    make_file(out, "result.json", 5, 0644);
    make_file(sub, "page.html", 5, 0644);
    make_file(out, "setuid", 5, 04755);
    assert_int_equal(
        mkfifo(fifo, 0644) | symlink("../victims/victim", link) | symlink("../victims", link_dir), 0);
    assert_int_equal(tidy(out, true).count, 2); /* a process: its links are its user's */
    assert_true(there(out, "linked") && !there(sub, "stdout.txt") && !there(out, "setuid"));
    assert_int_equal(tidy(out, false).count, 2);
    assert_false(there(out, "finish-stderr.txt") || there(out, "linked"));
    assert_true(there(victims, "victim") && there(out, "result.json") && there(sub, "page.html"));
    assert_int_equal(tidy(out, false).count, 0);
}

static void names_tell_no_secret(void **state)
{
    const char *dir = *state;

    make_file(dir, "of-hush-hush-9.txt", 5, 0644);
    secrets_learn("hush-hush-9");
    struct told told = tidy(dir, true);
    secrets_forget();
    assert_int_equal(told.count, 1);
    assert_non_null(strstr(told.last, ": its name holds a secret"));
    assert_false(there(dir, "of-hush-hush-9.txt"));
}

static void too_large_is_cut_out(void **state)
{
    const char *dir = *state;
    struct told told;

    make_file(dir, "junk.bin", (off_t)1 << 42, 0644);
    make_file(dir, "small", 5, 0644);
    told = tidy(dir, false);
    assert_int_equal(told.count, 1);
    assert_string_equal(told.last, "junk.bin: it is larger than 4 GiB");
    assert_true(there(dir, "small") && !there(dir, "junk.bin"));
    for (int i = 0; i < 3; i++) {
        char name[] = {'a', (char)('0' + i), '\0'};
        make_file(dir, name, (off_t)3 << 30, 0644);
    }
    told = tidy(dir, false);
    assert_int_equal(told.count, 1);
    assert_non_null(strstr(told.last, ": all files together are larger than 8 GiB"));
}

static void notes_have_an_end(void **state)
{
    CLEANUP_FREE char *fifo = NULL;

    for (int i = 0; i < 50; i++) {
        free(fifo);
        fifo = xasprintf("%s/fifo-%d", (char *)*state, i);
        assert_int_equal(mkfifo(fifo, 0644), 0);
    }
    assert_int_equal(tidy(*state, false).count, 20);
    assert_int_equal(tidy(*state, false).count, 0);
}

/* Deeper than there are descriptors, and than a path is long. */
static void however_deep_it_is(void **state)
{
    const char *dir = *state;
    int at = open(dir, O_RDONLY | O_DIRECTORY);

    for (int i = 0; i < 3000; i++) {
        assert_int_equal(mkdirat(at, "directory", 0755), 0);
        int next = openat(at, "directory", O_RDONLY | O_DIRECTORY);
        assert_true(next >= 0);
        (void)fchmod(at, i % 100 == 50 ? 0 : 0755);
        (void)close(at);
        at = next;
    }
    (void)close(at);
    assert_int_equal(tidy(dir, false).count, 1);
    assert_int_equal(tidy(dir, false).count, 0);
}

static void last_words_do_not_wait(void **state)
{
    CLEANUP_FREE char *path = xasprintf("%s/" STDERR_NAME, (char *)*state);
    struct error err = ERROR_INIT;

    (void)alarm(60); /* instead of for ever */
    assert_int_equal(mkfifo(path, 0644), 0);
    (void)error_set(&err, ERROR_TRIAL, "it failed");
    assert_int_equal(load_outcome_add_words(*state, &err), -1);
    assert_string_equal(err.message, "it failed");
    assert_int_equal(unlink(path) | symlink("/etc/passwd", path), 0);
    assert_int_equal(load_outcome_add_words(*state, &err), -1);
    assert_string_equal(err.message, "it failed");
    (void)alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_files_stay, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(names_tell_no_secret, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(too_large_is_cut_out, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(notes_have_an_end, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(however_deep_it_is, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(last_words_do_not_wait, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
