/* SPDX-License-Identifier: MIT */
/* Bundles: the same bytes for the same directory, and nothing believed when read. */
#include "make_run.h"

#include "benchctl/base/hash.h"
#include "internal.h"

static char *make_bundle(const char *dir)
{
    CLEANUP_FREE char *run = make_run(dir, "run");

    OK(bundle_write(run, NULL, e));
    return path_join(dir, "run.tar.zst");
}

static int add_name(const char *name, int64_t size, const char *sha256, void *data, struct error *err)
{
    (void)size;
    (void)err;
    assert_int_equal(strlen(sha256), 64);
    strbuf_addf(data, "%s\n", name);
    return 0;
}

static char *names_of(const char *path)
{
    struct strbuf out = STRBUF_INIT;

    OK(bundle_list(path, add_name, &out, e));
    return strbuf_detach(&out);
}

static void test_what_is_in_it(void **state)
{
    CLEANUP_FREE char *path = make_bundle(*state), *names = names_of(path);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct bundle_summary s;
    struct error err = ERROR_INIT;

    assert_non_null(strstr(names, "journal.ndjson\nmatrix.yaml\nplan.json\nreport.md\nsweep.json\n"
                                  "trials/a/256m/1/events.ndjson\ntrials/a/256m/1/load/stdout.txt\n"));
    OK(bundle_verify(path, &s, e));
    assert_int_equal(s.members, 5 + 4 * 5);
    assert_int_equal(s.schema, BUNDLE_SCHEMA);
    OK(bundle_show(path, "report.md", 100, &text, e));
    assert_string_equal(text.data, "# small\n");
    strbuf_clear(&text);
    OK(bundle_show(path, "manifest.json", 100000, &text, e));
    assert_int_equal(strncmp(text.data, "{\"kind\":\"benchctl bundle\",\"schema\":1,", 36), 0);
    assert_int_equal(bundle_show(path, "report.md", 7, &text, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_int_equal(bundle_show(path, "no/such", 7, &text, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    /* by hand: the first member tells what the others are, the last that nothing is missing */
    CLEANUP_FREE char *ends = shell_output(*state, "zstd -dc run.tar.zst | tar -tf - | sed -n '1p;$p'");
    assert_string_equal(ends, "manifest.json\nseal.json\n");
}

static void test_same_directory_same_bytes(void **state)
{
    CLEANUP_FREE char *path = make_bundle(*state), *run = path_join(*state, "run"),
                      *two = path_join(*state, "two.tar.zst");
    CLEANUP_FREE char *copy = path_join(*state, "copy"), *three = path_join(*state, "three.tar.zst");
    CLEANUP_FREE char *out = path_join(*state, "out"), *four = path_join(*state, "out.tar.zst");

    OK(bundle_write(run, two, e));
    assert_int_equal(shell("cmp '%s' '%s'", path, two), 0);
    /* other inodes, times and modes; what is only there while it runs */
    assert_int_equal(
        shell("cp -r '%s' '%s' && cd '%s' && touch -d 2001-01-01 plan.json && chmod 600 matrix.yaml && "
              "echo '{}' > status.json && echo x > sweep.json.tmp && echo y > journal.damaged-1",
              run, copy, copy),
        0);
    OK(bundle_write(copy, three, e));
    assert_int_equal(shell("cmp '%s' '%s'", path, three), 0);
    /* and back: what was extracted packs to the same again */
    OK(bundle_extract(path, out, e));
    OK(bundle_write(out, NULL, e));
    assert_int_equal(shell("cmp '%s' '%s'", path, four), 0);
    assert_int_equal(
        shell("cd '%s' && rmdir run/trials/*/*/*/* 2>/dev/null; diff -r run out", (char *)*state), 0);
}

static void test_odd_file_names(void **state)
{
    CLEANUP_FREE char *run = make_run(*state, "run"), *path = path_join(*state, "run.tar.zst");
    CLEANUP_FREE char *out = path_join(*state, "out");
    struct bundle_summary s;
    struct error err = ERROR_INIT;

    put(run, "trials/a/256m/1/artifacts/two\nlines \xe9.log", "1");
    put(run, "trials/a/256m/1/artifacts/r\xc3\xa9sum\xc3\xa9", "2");
    put(run, "trials/a/256m/1/artifacts/x.tmp", "3"); /* somebody else's .tmp */
    put(run, "trials/a/256m/1/artifacts/-rf \"q\" 100%", "4");
    assert_int_equal(
        shell("ln -s /etc/passwd '%s/trials/a/256m/1/artifacts/link' && mkfifo '%s/pipe'", run, run), 0);
    OK(bundle_write(run, NULL, e));
    OK(bundle_verify(path, &s, e));
    CLEANUP_FREE char *names = names_of(path);
    assert_non_null(strstr(names, "/artifacts/-rf \"q\" 100%\n"));
    assert_non_null(strstr(names, "/artifacts/r%C3%A9sum%C3%A9\n"));
    assert_non_null(strstr(names, "/artifacts/two%0Alines %E9.log\n"));
    assert_non_null(strstr(names, "/artifacts/x.tmp\n"));
    assert_null(strstr(names, "link"));
    assert_null(strstr(names, "pipe"));
    OK(bundle_extract(path, out, e));
    CLEANUP_FREE char *one = get(out, "trials/a/256m/1/artifacts/two%0Alines %E9.log");
    assert_string_equal(one, "1");

    put(run, "trials/a/256m/1/artifacts/r%C3%A9sum%C3%A9", "the same name");
    assert_int_equal(bundle_write(run, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_non_null(strstr(err.message, "rename it"));
}

static void test_writing_refuses(void **state)
{
    CLEANUP_FREE char *run = make_run(*state, "run"), *inside = path_join(*state, "run/x.tar.zst");
    CLEANUP_FREE char *deep = path_join(*state, "run/trials/x.tar.zst"),
                      *missing = path_join(*state, "no/such/x.tar.zst");
    struct error err = ERROR_INIT;

    assert_int_equal(bundle_write(*state, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_int_equal(bundle_write(run, inside, &err), -1);
    assert_int_equal(bundle_write(run, deep, &err), -1);
    assert_non_null(strstr(err.message, "in the run directory itself"));
    assert_int_equal(bundle_write(run, missing, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
}

static void test_a_full_disk_leaves_no_half_bundle(void **state)
{
    CLEANUP_FREE char *run = make_run(*state, "run"), *path = path_join(*state, "disk/x.tar.zst");
    CLEANUP_FREE char *bundle = path_join(*state, "run.tar.zst"), *out = path_join(*state, "disk/out");
    struct error err = ERROR_INIT;

    if (!small_disk(*state, "disk", "64k"))
        skip();
    assert_int_equal(shell("head -c 200000 /dev/urandom > '%s/trials/a/256m/1/load/raw'", run), 0);
    put(*state, "disk/x.tar.zst", "the old one");
    assert_int_equal(bundle_write(run, path, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_int_equal(err.code, ENOSPC);
    CLEANUP_FREE char *old = get(*state, "disk/x.tar.zst"), *left = shell_output(*state, "ls -A disk");
    assert_string_equal(old, "the old one");
    assert_string_equal(left, "x.tar.zst\n");
    OK(bundle_write(run, NULL, e));
    assert_int_equal(bundle_extract(bundle, out, &err), -1); /* seen before anything is written */
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_non_null(strstr(err.message, "has room for"));
    assert_false(fs_exists(out));
    small_disk_end(*state, "disk");
}

static void test_extracting(void **state)
{
    CLEANUP_FREE char *path = make_bundle(*state), *run = path_join(*state, "run"),
                      *out = path_join(*state, "a/b/out");
    struct error err = ERROR_INIT;

    assert_int_equal(bundle_extract(path, run, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    mode_t mask = umask(022);
    OK(bundle_extract(path, out, e));
    (void)umask(mask);
    CLEANUP_FREE char *modes = shell_output(out, "find . -mindepth 1 -printf '%m %y\\n' | sort -u");
    assert_string_equal(modes, "644 f\n755 d\n");
    CLEANUP_FREE char *missing = path_join(*state, "missing.tar.zst");
    assert_int_equal(bundle_extract(missing, out, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_int_equal(bundle_extract(run, out, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_non_null(strstr(err.hint, "bundle create"));
}

/* --- damage --- */

static void read_file(const char *path, struct strbuf *out)
{
    OK(fs_read(path, 1 << 20, out, e));
}

static int verify(const void *bytes, size_t len, struct error *err)
{
    CLEANUP_FREE char *exact = xmalloc(len ? len : 1);
    struct bundle_summary s;

    memcpy(exact, bytes, len);
    return bundle_verify_memory(exact, len, &s, err);
}

static void test_cut_anywhere(void **state)
{
    CLEANUP_FREE char *path = make_bundle(*state);
    CLEANUP_VALUE(strbuf_release) struct strbuf whole = STRBUF_INIT;

    read_file(path, &whole);
    for (size_t len = 0; len < whole.len; len++) {
        struct error err = ERROR_INIT;

        if (verify(whole.data, len, &err) == 0)
            fail_msg("cut at %zu of %zu is taken", len, whole.len);
        assert_int_equal(err.kind, ERROR_INVALID);
        assert_true(err.message[0] && !strstr(err.message, "(null)"));
    }
}

static void test_appended(void **state)
{
    static const char SKIPPABLE[] = {0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0};
    CLEANUP_FREE char *path = make_bundle(*state);
    CLEANUP_VALUE(strbuf_release) struct strbuf whole = STRBUF_INIT;
    struct error err = ERROR_INIT;

    read_file(path, &whole);
    size_t len = whole.len;
    assert_int_equal(verify(whole.data, len, &err), 0);
    strbuf_addc(&whole, '\0');
    assert_int_equal(verify(whole.data, whole.len, &err), -1);
    whole.len = len;
    strbuf_add(&whole, SKIPPABLE, sizeof(SKIPPABLE));
    assert_int_equal(verify(whole.data, whole.len, &err), -1);
    whole.len = len;
    CLEANUP_FREE char *again = xmalloc(len);
    memcpy(again, whole.data, len);
    strbuf_add(&whole, again, len);
    assert_int_equal(verify(whole.data, whole.len, &err), -1);
}

/* A changed byte is noticed unless it means nothing: then all members are still what they were. */
static void test_changed_anywhere(void **state)
{
    CLEANUP_FREE char *path = make_bundle(*state), *before = names_of(path),
                      *other = path_join(*state, "changed.tar.zst");
    CLEANUP_VALUE(strbuf_release) struct strbuf whole = STRBUF_INIT;
    size_t accepted = 0;

    read_file(path, &whole);
    for (size_t i = 0; i < whole.len; i += 1 + i % 3) {
        struct error err = ERROR_INIT;

        whole.data[i] ^= (char)(1 << i % 8);
        if (verify(whole.data, whole.len, &err) == 0) {
            OK(fs_write(other, whole.data, whole.len, e));
            CLEANUP_FREE char *after = names_of(other);
            assert_string_equal(before, after);
            accepted++;
        }
        whole.data[i] ^= (char)(1 << i % 8);
    }
    assert_true(accepted < 20);
}

/* --- other people's archives --- */

/* Unpacks the bundle, lets `change` (shell, in that directory; `names` holds the order) work, packs it again.
 */
static char *repack(const char *dir, const char *change)
{
    if (shell("cd '%s' && rm -rf x names options h.tar h.tar.zst && touch options && mkdir x && zstd -qdc "
              "run.tar.zst | tar -xf - -C x "
              "&& "
              "zstd -qdc run.tar.zst | tar -tf - > names && cd x && { %s; } && tar -cf ../h.tar $(cat "
              "../options) -T ../names && "
              "zstd -q ../h.tar",
              dir, change) != 0)
        fail_msg("cannot repack: %s", change);
    return path_join(dir, "h.tar.zst");
}

static const struct {
    const char *change, *reason;
} REPACKED[] = {
    {"echo X > report.md; printf '# smalL\\n' > report.md",
     "'report.md' is not what manifest.json says: its SHA-256"},
    {"echo longer than before >> report.md", "'report.md' is not what manifest.json says: its size"},
    {"sed -i /report.md/d ../names", "'report.md' is missing"},
    {"sed -i /seal.json/d ../names", "has no seal.json"},
    {"sed -i '/trials.b/d' ../names", "'trials/b/256m/1/events.ndjson' is missing"},
    {"sed -i 1d ../names", "its first member is not manifest.json"},
    {"echo more > zz; sed -i '$i zz' ../names", "'zz' is not in manifest.json"},
    {"echo more > zz; echo zz >> ../names", "'zz' is not in manifest.json"},
    {"sed -i 's/report.md/report.MD/' ../names; mv report.md report.MD",
     "'report.MD' is not in manifest.json"},
    {"echo plan.json >> ../names; echo --hard-dereference > ../options", "is there twice"},
    {"sed -i 's/plan.json/&\\n&/' ../names; echo --hard-dereference > ../options", "is there twice"},
    {"sed -i '/^plan.json/d; s/^report.md/&\\nplan.json/' ../names",
     "'plan.json' is missing or not in its place"},
    {"sed -i 's/^plan.json/.\\/&/' ../names", "'plan.json' is not a plain file"},
    {"rm plan.json; ln -s /etc/passwd plan.json", "symbolic link"},
    {"rm plan.json; ln matrix.yaml plan.json", "hard link"},
    {"rm plan.json; mkfifo plan.json", "neither a file nor a directory"},
    {"rm plan.json; mkdir plan.json", "'plan.json' is not a plain file"},
    {"sed -i 's/^plan.json/trials\\/\\n&/; ' ../names; sed -i '/^trials.[ab]/d' ../names",
     "'trials' is not in manifest.json"},
    {"printf '{}' > seal.json", "does not fit"},
    {"printf 'x' > seal.json", "seal.json"},
    {"sed -i s/bytes/bytez/ seal.json", "does not fit"},
    {"sed -i 's/}],*$/} ]/; $s/$/ /' manifest.json", "does not fit"},
    {": > manifest.json", "not a bundle's manifest"},
    {"sed -i '1s/\"schema\":1/\"schema\":2/' manifest.json", "newer benchctl"},
    {"sed -i '1s/\"schema\":1/\"schema\":0/' manifest.json", "'schema' is no version"},
    {"sed -i '1s/\"schema\":1,//' manifest.json", "'schema' or 'members' is missing"},
    {"sed -i '1s/\"schema\":1/\"schema\":1,\"schema\":1/' manifest.json", "'schema' is there twice"},
    {"sed -i '1s/benchctl bundle/other/' manifest.json", "'kind' is something else"},
    {"echo '{}' >> manifest.json", "something follows it"},
    {"sed -i '$d' manifest.json", "is missing"},
    {"sed -i 's/\"plan.json\",\"size\":[0-9]*/\"plan.json\",\"size\":1/' manifest.json",
     "'plan.json' is not what manifest.json says"},
    {"sed -i 's/\"plan.json\",\"size\":[0-9]*/\"plan.json\",\"size\":-1/' manifest.json", "impossible size"},
    {"sed -i 's/\"plan.json\",\"size\":[0-9]*/\"plan.json\",\"size\":1.5/' manifest.json", "lacks"},
    {"sed -i 's/\"plan.json\",\"size\":[0-9]*/\"plan.json\",\"size\":9e99/' manifest.json", "lacks"},
    {"sed -i 's/\"plan.json\",\"size\":[0-9]*/\"plan.json\",\"size\":9000000000000000000/' manifest.json",
     "impossible size"},
    {"sed -i 's/\"plan.json\",\"size\":[0-9]*/\"plan.json\",\"size\":99999999999999999999/' "
     "manifest.json",
     ""},
    {"sed -i 's/\"plan.json\",/\"plan.json\",\"name\":\"plan.json\",/' manifest.json", "duplicate"},
    {"sed -i 's/\"plan.json\",/\"matrix.yaml\",/' manifest.json", "'matrix.yaml' twice"},
    {"sed -i 's/\"plan.json\",/\"aaa\",/' manifest.json", "'aaa' out of order"},
    {"sed -i 's/\"plan.json\",/\"..\\/plan.json\",/' manifest.json", "no member can be called"},
    {"sed -i 's/\"plan.json\",/\"\\/etc\\/passwd\",/' manifest.json", "no member can be called"},
    {"sed -i 's/\"plan.json\",/\"plan\\\\n.json\",/' manifest.json", "'plan\\n.json', which no member"},
    {"sed -i 's/\"plan.json\",/\"plan\\\\u001b[2J\",/' manifest.json", "'plan\\x1b[2J', which no member"},
    {"sed -i 's/\"plan.json\",/\"pl\\\\u00e4n\",/' manifest.json", "no member can be called"},
    {"sed -i 's/\"plan.json\",/\"seal.json\",/' manifest.json", "no member can be called"},
    {"sed -i 's/\"plan.json\",/\"\",/' manifest.json", "no member can be called"},
    {"LC_ALL=C sed -i 's/\"plan.json\",/\"pl\\xffn\",/' manifest.json", "manifest.json"},
    {"sed -i 's/\"plan.json\",/7,/' manifest.json", "lacks 'name'"},
    {"sed -i '3s/\"sha256\":\"[0-9a-f]*/\"sha256\":\"abc/' manifest.json", "lacks"},
    {"printf '[' > manifest.json", "'{' is missing"},
    {"printf '{\"schema\":1,\"x\":\"' > manifest.json", "has no end"},
    {"{ printf '{\"schema\":1,\"x\":'; head -c 300000 /dev/zero | tr '\\0' '['; } > manifest.json", ""},
    {"{ printf '{\"schema\":1,\"x\":\"'; head -c 300000 /dev/zero | tr '\\0' 'a'; printf '\"}'; } > "
     "manifest.json",
     "too long"},
    {"printf '{\"schema\":1,\"members\":{}}' > manifest.json", "'[' is missing"},
    {"printf '{\"schema\":1,\"members\":[],\"members\":[]}' > manifest.json", "'members' is there twice"},
    {"printf '{\"schema\":1,\"members\":[7]}' > manifest.json", "lacks"},
    {"printf '{\"schema\":1,\"members\":[]}' > manifest.json", "is not in manifest.json"},
};

static void test_repacked(void **state)
{
    CLEANUP_FREE char *bundle = make_bundle(*state), *plain = repack(*state, "true"),
                      *out = path_join(*state, "out");
    struct bundle_summary s;

    OK(bundle_verify(bundle, &s, e));
    OK(bundle_verify(plain, &s, e)); /* repacking by itself is harmless */
    for (size_t i = 0; i < ARRAY_LEN(REPACKED); i++) {
        CLEANUP_FREE char *path = repack(*state, REPACKED[i].change);
        struct error err = ERROR_INIT;

        if (bundle_verify(path, &s, &err) == 0)
            fail_msg("taken: %s", REPACKED[i].change);
        if (err.kind != ERROR_INVALID || !strstr(err.message, REPACKED[i].reason) ||
            strchr(err.message, '\x1b'))
            fail_msg("%s\n  is refused with '%s'\n  and not '%s'", REPACKED[i].change, err.message,
                     REPACKED[i].reason);
        assert_int_equal(bundle_extract(path, out, &err), -1);
        assert_false(fs_exists(out));
        assert_int_equal(bundle_list(path, add_name, NULL, &err), -1);
    }
}

static void test_other_files(void **state)
{
    static const char *const OTHERS[] = {
        "G01/dotdot.tar",    "G01/absolute.tar",  "G01/link_out.tar",   "G02/hardlink_out.tar",
        "G03/utf8.tar",      "G03/latin1.tar",    "G04/full.tar",       "G04/junk.tar",
        "G04/cut.tar.gz",    "G04/zero_byte.tar", "G05/biguid_pax.tar", "G06/nested.tar.gz",
        "G06/sparse_1t.tar", "G07/device.tar",    "G08/dup.tar",        "G08/tail_junk.tar"};
    CLEANUP_FREE char *out = path_join(*state, "out");

    for (size_t i = 0; i < ARRAY_LEN(OTHERS); i++) {
        CLEANUP_FREE char *path = path_join(TESTS_DIR "/cases", OTHERS[i]);
        struct error err = ERROR_INIT;
        struct bundle_summary s;

        assert_int_equal(bundle_verify(path, &s, &err), -1);
        assert_int_equal(err.kind, ERROR_INVALID);
        assert_int_equal(bundle_extract(path, out, &err), -1);
        assert_false(fs_exists(out));
        /* the same inside a proper zstd file: refused for what it is */
        assert_int_equal(shell("zstd -qf '%s' -o '%s/x.zst'", path, (char *)*state), 0);
        CLEANUP_FREE char *packed = path_join(*state, "x.zst");
        assert_int_equal(bundle_extract(packed, out, &err), -1);
        assert_int_equal(err.kind, ERROR_INVALID);
        assert_false(fs_exists(out));
    }
}

/* A manifest that is itself the bomb, and one that announces more than fits. */
static void test_enormous(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "x.tar.zst"), *zeros = xcalloc(1, 1 << 20);
    CLEANUP_VALUE(strbuf_release) struct strbuf manifest = STRBUF_INIT;
    struct error err = ERROR_INIT;
    struct archive_writer *w = NULL;
    struct bundle_summary s;

    OK(archive_writer_open(path, &w, e));
    OK(archive_writer_begin(w, "manifest.json", (int64_t)200 << 20, e));
    for (int i = 0; i < 200; i++)
        OK(archive_writer_data(w, zeros, 1 << 20, e));
    OK(archive_writer_close(w, e));
    assert_int_equal(bundle_verify(path, &s, &err), -1);
    assert_non_null(strstr(err.message, "larger than"));

    strbuf_adds(&manifest, "{\"schema\":1,\"members\":[");
    for (int i = 0; i < 500001; i++)
        strbuf_addf(&manifest, "%s{\"name\":\"m%06d\",\"size\":0,\"sha256\":\"%064d\"}", i ? "," : "", i, 0);
    strbuf_adds(&manifest, "]}");
    OK(archive_writer_open(path, &w, e));
    OK(archive_writer_add_bytes(w, "manifest.json", manifest.data, manifest.len, e));
    OK(archive_writer_close(w, e));
    assert_int_equal(bundle_verify(path, &s, &err), -1);
    assert_non_null(strstr(err.message, "more than 500000 members"));
}

int main(void)
{
#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_what_is_in_it),
        IN_SCRATCH(test_same_directory_same_bytes),
        IN_SCRATCH(test_odd_file_names),
        IN_SCRATCH(test_writing_refuses),
        IN_SCRATCH(test_a_full_disk_leaves_no_half_bundle),
        IN_SCRATCH(test_extracting),
        IN_SCRATCH(test_cut_anywhere),
        IN_SCRATCH(test_appended),
        IN_SCRATCH(test_changed_anywhere),
        IN_SCRATCH(test_repacked),
        IN_SCRATCH(test_other_files),
        IN_SCRATCH(test_enormous),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
