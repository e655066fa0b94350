/* SPDX-License-Identifier: MIT */
/* Files that others have left: the names of artifacts, and a series that is none. */
#include "unit/check.h"
#include "support/scratch.h"

#include <sys/stat.h>
#include <unistd.h>
#include "benchctl/archive.h"
#include "benchctl/base/secrets.h"
#include "generation.h"

static void names_of_artifacts_are_masked(void **state)
{
    static const char *const names[] = {"f/dump-hush-hush-9.txt", "f/dump-hush-hush-8.txt", "f/plain.txt"};
    const char *dir = *state;
    CLEANUP_FREE char *tar = path_join(dir, "copy.tar"), *out = path_join(dir, "out"),
                      *masked = path_join(dir, "out/f/dump-***********.txt"),
                      *plain = path_join(dir, "out/f/plain.txt"),
                      *open_name = path_join(dir, "out/f/dump-hush-hush-9.txt");
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;
    CLEANUP(archive_tar_free) struct archive_tar *t = archive_tar_new(&bytes);
    struct error err = ERROR_INIT;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (archive_tar_begin(t, names[i], 1, &err) < 0 || archive_tar_data(t, "x", 1, &err) < 0)
            fail_msg("%s", err.message);
    assert_int_equal(archive_tar_end(t, &err), 0);
    assert_int_equal(fs_write(tar, bytes.data, bytes.len, &err), 0);
    assert_int_equal(fs_mkdirs(out, &err), 0);
    secrets_learn("hush-hush-8");
    secrets_learn("hush-hush-9");
    int rc = artifact_unpack(tar, out, &err);
    secrets_forget();
    if (rc < 0)
        fail_msg("%s", err.message);
    assert_true(fs_exists(masked) && fs_exists(plain));
    assert_false(fs_exists(open_name));
}

/* Neither waited for nor read without end. */
static void a_series_is_a_file(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "series.csv");
    struct generation g = {.dir = *state};
    struct load_result r = {.model = "closed", .corrected = "yes", .concurrency = NAN};

    (void)alarm(60); /* instead of for ever */
    assert_int_equal(mkfifo(path, 0644), 0);
    load_figures(&g, &r);
    assert_int_equal(unlink(path) | symlink("/dev/zero", path), 0);
    load_figures(&g, &r);
    assert_true(isnan(r.concurrency) && !r.steady);
    (void)alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_of_artifacts_are_masked, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_series_is_a_file, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
