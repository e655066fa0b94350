/* SPDX-License-Identifier: MIT */
/* Container images in a bundle: only when asked for, and each file what its name says. */
#include "make_run.h"

#include "benchctl/base/hash.h"
#include "internal.h"

/* DIR/run with an image's blob that is called by the hash of `named` and holds `bytes`. The caller frees. */
static char *run_with_blob(const char *dir, const char *named, const char *bytes)
{
    char *run = make_run(dir, "run");
    char hex[SHA256_HEX_SIZE];

    sha256_hex(named, strlen(named), hex);
    CLEANUP_FREE char *name = xasprintf("images/blobs/sha256-%s", hex);
    put(run, name, bytes);
    put(run, "images/index.json", "{}\n");
    put(run, "images/blobs/unfinished-1.tmp", "left by a crash");
    return run;
}

static bool lists(const char *path, const char *name)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf manifest = STRBUF_INIT;

    OK(bundle_show(path, "manifest.json", 100000, &manifest, e));
    return strstr(manifest.data, name) != NULL;
}

static void test_only_when_asked_for(void **state)
{
    CLEANUP_FREE char *run = run_with_blob(*state, "layer", "layer"),
                      *lean = path_join(*state, "lean.tar.zst"), *full = path_join(*state, "full.tar.zst"),
                      *out = path_join(*state, "out"), *again = path_join(*state, "again.tar.zst"),
                      *plain = path_join(*state, "plain.tar.zst");
    struct bundle_summary s;

    OK(bundle_write(run, lean, e));
    OK(bundle_write_with_images(run, full, e));
    assert_false(lists(lean, "images/"));
    assert_true(lists(full, "images/blobs/sha256-") && lists(full, "images/index.json"));
    assert_false(lists(full, ".tmp"));
    OK(bundle_verify(full, &s, e));
    /* there and back */
    OK(bundle_extract(full, out, e));
    OK(bundle_write_with_images(out, again, e));
    assert_int_equal(shell("cmp '%s' '%s'", full, again), 0);
    OK(bundle_write(out, plain, e));
    assert_int_equal(shell("cmp '%s' '%s'", lean, plain), 0);
}

static void test_a_damaged_blob_is_not_packed(void **state)
{
    CLEANUP_FREE char *run = run_with_blob(*state, "layer", "lay3r"), *path = path_join(*state, "x.tar.zst");
    struct error err = ERROR_INIT;

    assert_int_equal(bundle_write_with_images(run, path, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_non_null(strstr(err.message, "images/blobs/sha256-"));
    assert_true(strlen(err.hint) > 0);
    assert_int_equal(shell("ls '%s'/x.tar.zst* 2>/dev/null | grep -q .", (char *)*state), 256); /* nothing */
    OK(bundle_write(run, path, e)); /* which is no matter of those who do without */
}

/* A bundle that is right in everything but that a blob is not what it is called. */
static void test_a_blob_by_another_name_is_refused(void **state)
{
    CLEANUP(archive_writer_free) struct archive_writer *w = NULL;
    CLEANUP_VALUE(manifest_release) struct manifest m;
    CLEANUP_VALUE(strbuf_release) struct strbuf manifest = STRBUF_INIT, seal = STRBUF_INIT;
    CLEANUP_FREE char *path = path_join(*state, "x.tar.zst"), *out = path_join(*state, "out");
    struct manifest_member member = {.size = 4};
    struct bundle_summary s;
    struct error err = ERROR_INIT;
    char other[SHA256_HEX_SIZE], hex[SHA256_HEX_SIZE];

    manifest_init(&m);
    sha256_hex("good", 4, other);
    sha256_hex("evil", 4, member.sha256);
    CLEANUP_FREE char *name = xasprintf("images/blobs/sha256-%s", other);
    member.name = name;
    m.bytes = 4;
    vec_push(&m.members, member);
    manifest_format(&m, &manifest);
    sha256_hex(manifest.data, manifest.len, hex);
    seal_format(&m, hex, &seal);
    OK(archive_writer_open(path, &w, e));
    OK(archive_writer_add_bytes(w, MANIFEST_FILE, manifest.data, manifest.len, e));
    OK(archive_writer_add_bytes(w, name, "evil", 4, e));
    OK(archive_writer_add_bytes(w, SEAL_FILE, seal.data, seal.len, e));
    OK(archive_writer_close(TAKE(w), e));
    assert_int_equal(bundle_verify(path, &s, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_non_null(strstr(err.message, "not what its name says"));
    assert_int_equal(bundle_extract(path, out, &err), -1);
    assert_false(fs_exists(out));
}

int main(void)
{
#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_only_when_asked_for),
        IN_SCRATCH(test_a_damaged_blob_is_not_packed),
        IN_SCRATCH(test_a_blob_by_another_name_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
