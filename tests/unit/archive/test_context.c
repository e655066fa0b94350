/* SPDX-License-Identifier: MIT */
#include "support/scratch.h"

#include <sys/socket.h>
#include <sys/un.h>
#include "benchctl/archive.h"
#include "benchctl/base/hash.h"
#include "ignore.h"

static void write_fd(int fd, const char *path)
{
    CLEANUP_CLOSE int out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    char chunk[65536];
    ssize_t n;

    assert_true(out >= 0);
    while ((n = read(fd, chunk, sizeof(chunk))) > 0)
        assert_int_equal(write(out, chunk, (size_t)n), n);
    assert_int_equal(n, 0);
}

/* Packs DIR/NAME and gives `tar -tv`'s names, one a line, sorted as they are. */
static char *pack_and_list(const char *dir, const char *name, const char *dockerfile)
{
    CLEANUP_FREE char *context = path_join(dir, name);
    CLEANUP_FREE char *tar = path_join(dir, "out.tar");
    CLEANUP_CLOSE int fd = -1;
    struct error err = ERROR_INIT;
    int64_t bytes;
    struct stat st;

    if (archive_pack_build(context, dockerfile, &fd, &bytes, &err) < 0)
        fail_msg("%s", err.message);
    write_fd(fd, tar);
    assert_int_equal(stat(tar, &st), 0);
    assert_int_equal(st.st_size, bytes);
    return shell_output(dir, "tar -tf out.tar");
}

static void test_keeps_modes_links_and_order(void **state)
{
    const char *dir = *state;

    put(dir, "c/b.sh", "#!/bin/sh\n");
    put(dir, "c/a.txt", "text");
    put(dir, "c/sub/deep/x", "");
    put(dir, "c/empty/.keep", "");
    assert_int_equal(
        shell("cd '%s/c' && rm empty/.keep && chmod 755 b.sh && chmod 600 a.txt && ln -s ../nowhere "
              "link && ln a.txt zz-hard && mkfifo pipe",
              dir),
        0);
    CLEANUP_CLOSE int s = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/c/sock", dir);
    assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof(address)), 0);

    CLEANUP_FREE char *names = pack_and_list(dir, "c", NULL);
    assert_string_equal(names, "a.txt\nb.sh\nempty/\nlink\nsub/\nsub/deep/\nsub/deep/x\nzz-hard\n");
    CLEANUP_FREE char *listing = shell_output(dir, "tar -tvf out.tar | awk '{print $1, $2, $3, $6, $7, $8}'");
    assert_non_null(strstr(listing, "-rw------- 0/0 4 a.txt"));
    assert_non_null(strstr(listing, "-rwxr-xr-x 0/0 10 b.sh"));
    assert_non_null(strstr(listing, "lrwxrwxrwx 0/0 0 link -> ../nowhere"));
    assert_non_null(strstr(listing, "-rw------- 0/0 4 zz-hard")); /* a file of its own, no link */
}

static void test_same_tree_same_bytes(void **state)
{
    const char *dir = *state;

    put(dir, "one/Dockerfile", "FROM scratch\n");
    put(dir, "one/app/main.c", "int main;");
    put(dir, "two/app/main.c", "int main;");
    put(dir, "two/Dockerfile", "FROM scratch\n");
    assert_int_equal(shell("touch -d 2001-01-01 '%s/two/Dockerfile'", dir), 0);
    CLEANUP_FREE char *one = pack_and_list(dir, "one", NULL);
    CLEANUP_FREE char *first = shell_output(dir, "sha256sum < out.tar");
    CLEANUP_FREE char *two = pack_and_list(dir, "two", NULL);
    CLEANUP_FREE char *second = shell_output(dir, "sha256sum < out.tar");
    assert_string_equal(first, second);
    assert_string_equal(one, "Dockerfile\napp/\napp/main.c\n");
    assert_string_equal(two, one);
}

static void test_ignore_file_is_honoured(void **state)
{
    const char *dir = *state;

    put(dir, "c/.dockerignore", "# comment\n*\n!app\n!package.json\napp/secret\n  \nDockerfile\n");
    put(dir, "c/Dockerfile", "FROM scratch\n");
    put(dir, "c/package.json", "{}");
    put(dir, "c/README", "");
    put(dir, "c/app/a", "");
    put(dir, "c/app/secret/key", "");
    put(dir, "c/node_modules/x/y", "");
    CLEANUP_FREE char *names = pack_and_list(dir, "c", NULL);
    assert_string_equal(names, ".dockerignore\nDockerfile\napp/\napp/a\npackage.json\n");
}

static void test_a_dockerfile_elsewhere_is_always_sent(void **state)
{
    const char *dir = *state;

    put(dir, "c/.dockerignore", "docker\n**/Dockerfile\n");
    put(dir, "c/docker/web/Dockerfile", "FROM scratch\n");
    put(dir, "c/docker/other", "");
    put(dir, "c/Dockerfile", "");
    put(dir, "c/main", "");
    CLEANUP_FREE char *names = pack_and_list(dir, "c", "./docker/web/Dockerfile");
    assert_string_equal(names, ".dockerignore\ndocker/web/Dockerfile\nmain\n");
}

static void test_odd_names(void **state)
{
    const char *dir = *state;
    CLEANUP_VALUE(strbuf_release) struct strbuf name = STRBUF_INIT;

    strbuf_adds(&name, "c/");
    for (int i = 0; i < 5; i++)
        strbuf_addf(&name, "%0100d/", i);
    strbuf_adds(&name, "end");
    put(dir, strbuf_text(&name), "x");
    put(dir, "c/r\xe9sultats", "latin1");
    put(dir, "c/r\xc3\xa9sultats", "utf8");
    put(dir, "c/two\nlines", "");
    CLEANUP_FREE char *names = pack_and_list(dir, "c", NULL);
    CLEANUP_FREE char *same =
        shell_output(dir, "mkdir x && tar -xf out.tar -C x 2>tar.err && diff -r c x && echo the same");
    assert_string_equal(same, "the same\n");
    assert_non_null(strstr(names, "/end\n"));
}

static void test_errors(void **state)
{
    const char *dir = *state;
    CLEANUP_FREE char *missing = path_join(dir, "missing");
    CLEANUP_FREE char *file = path_join(dir, "file");
    struct error err = ERROR_INIT;
    int64_t bytes = 7;
    int fd = -7;

    put(dir, "file", "");
    assert_int_equal(archive_pack_context(missing, &fd, &bytes, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    assert_non_null(strstr(err.message, missing));
    assert_int_equal(archive_pack_context(file, &fd, &bytes, &err), -1);
    assert_int_equal(fd, -7);
    assert_int_equal(bytes, 7);
}

static void test_ignore_rules(void **state)
{
    static const struct {
        const char *rules, *path;
        bool out;
    } CASES[] = {
        {"foo", "foo", true},
        {"foo", "foo/bar", true},
        {"foo", "a/foo", false},
        {"/foo", "foo", true},
        {"foo/", "foo/x", true},
        {"./a//b/../c", "a/c", true},
        {"*/temp*", "a/temporary", true},
        {"*/temp*", "a/b/temp", false},
        {"**/temp*", "a/b/temp", true},
        {"**/temp", "temp", true},
        {"temp?", "tempa", true},
        {"temp?", "temp", false},
        {"*.md\n!README.md", "README.md", false},
        {"*.md\n!README.md", "a.md", true},
        {"!README.md\n*.md", "README.md", true},
        {"a\n!a/b\na/b/c", "a/b/x", false},
        {"a\n!a/b\na/b/c", "a/b/c/d", true},
        {"#foo", "#foo", false},
        {" # foo", "# foo", true},
        {"! foo\r\n", "foo", false},
        {"foo\r\nbar\r\n", "foo", true},
        {"\xef\xbb\xbf"
         "foo",
         "foo", true},
        {"[a-c]x", "bx", true},
        {"", "foo", false},
        {".", "foo", false},
        {"\n\n!\n", "foo", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(ignore_free) struct ignore *g = ignore_parse(CASES[i].rules, strlen(CASES[i].rules));
        if (ignore_matches(g, CASES[i].path) != CASES[i].out)
            fail_msg("'%s' on '%s' should be %d", CASES[i].rules, CASES[i].path, CASES[i].out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_keeps_modes_links_and_order, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_same_tree_same_bytes, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_ignore_file_is_honoured, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_a_dockerfile_elsewhere_is_always_sent, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_odd_names, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_errors, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_ignore_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
