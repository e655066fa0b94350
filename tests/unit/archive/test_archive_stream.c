/* SPDX-License-Identifier: MIT */
/* Archives that come and go piece by piece: a tar read from a source, one made as it is taken, packed bytes.
 */
#include "support/scratch.h"

#include "benchctl/archive.h"

struct source {
    const char *bytes;
    size_t len, at, piece; /* piece: at most so many at a time */
    size_t fail_at;        /* reading fails there; 0: never */
    struct strbuf got;
    size_t room; /* what the sink takes; 0: everything */
};

static ptrdiff_t give(void *buffer, size_t size, void *data, struct error *err)
{
    struct source *s = data;
    size_t n = s->len - s->at < size ? s->len - s->at : size;

    if (s->fail_at && s->at >= s->fail_at)
        return error_set(err, ERROR_TIMEOUT, "the source fell silent");
    n = n < s->piece ? n : s->piece;
    memcpy(buffer, s->bytes + s->at, n);
    s->at += n;
    return (ptrdiff_t)n;
}

static int take(const void *bytes, size_t len, void *data, struct error *err)
{
    struct source *s = data;

    strbuf_add(&s->got, bytes, len);
    return s->room && s->got.len > s->room ? error_set(err, ERROR_CONFLICT, "the sink is full") : 0;
}

static void make_tar(struct strbuf *out, size_t size)
{
    CLEANUP(archive_tar_free) struct archive_tar *t = archive_tar_new(out);
    CLEANUP_FREE char *bytes = xcalloc(1, size + 1);
    struct error err = ERROR_INIT;

    memset(bytes, 'x', size);
    assert_int_equal(archive_tar_begin(t, "a/large", (int64_t)size, &err), 0);
    assert_int_equal(archive_tar_data(t, bytes, size, &err), 0);
    assert_int_equal(archive_tar_begin(t, "empty", 0, &err), 0);
    assert_int_equal(archive_tar_end(t, &err), 0);
}

/* 0 when all members were read as make_tar() made them, -1 with the error. */
static int read_tar(struct source *s, size_t size, struct error *err)
{
    CLEANUP(archive_reader_free) struct archive_reader *r = NULL;
    struct archive_member m;
    char chunk[1000];
    size_t total = 0;
    ptrdiff_t n;
    int more;

    if (archive_reader_open_source(give, s, "stream", NULL, &r, err) < 0)
        return -1;
    while ((more = archive_reader_next(r, &m, err)) > 0) {
        assert_null(m.link);
        assert_true(strcmp(m.name, "a/large") == 0 || strcmp(m.name, "empty") == 0);
        while ((n = archive_reader_read(r, chunk, sizeof(chunk), err)) > 0)
            total += (size_t)n;
        if (n < 0)
            return -1;
    }
    if (more == 0)
        assert_int_equal(total, size);
    return more;
}

static void test_there_and_back(void **state)
{
    static const size_t SIZES[] = {0, 1, 511, 512, 513, 65536, 300000}, PIECES[] = {1 << 20, 65537, 512, 7};

    (void)state;
    for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf tar = STRBUF_INIT, again = STRBUF_INIT;
        make_tar(&tar, SIZES[i]);
        make_tar(&again, SIZES[i]);
        assert_int_equal(tar.len, again.len);
        assert_memory_equal(tar.data, again.data, tar.len);
        for (size_t k = 0; k < sizeof(PIECES) / sizeof(PIECES[0]); k++) {
            struct source s = {.bytes = tar.data, .len = tar.len, .piece = PIECES[k]};
            struct error err = ERROR_INIT;
            if (read_tar(&s, SIZES[i], &err) < 0)
                fail_msg("%s", err.message);
            assert_int_equal(s.at, s.len); /* to the last byte */
        }
    }
}

static void test_every_cut_is_noticed(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf tar = STRBUF_INIT;

    (void)state;
    make_tar(&tar, 1000);
    for (size_t cut = 0; cut + 512 < tar.len; cut += 100) {
        struct source s = {.bytes = tar.data, .len = cut, .piece = 4096};
        struct error err = ERROR_INIT;
        assert_int_equal(read_tar(&s, 1000, &err), -1);
        assert_true(err.message[0] && !strstr(err.message, "(null)"));
    }
    strbuf_adds(&tar, "junk");
    struct source s = {.bytes = tar.data, .len = tar.len, .piece = 4096};
    struct error err = ERROR_INIT;
    assert_int_equal(read_tar(&s, 1000, &err), -1);
    assert_non_null(strstr(err.message, "after its end"));
}

static void test_what_the_source_says_is_handed_on(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf tar = STRBUF_INIT;

    (void)state;
    make_tar(&tar, 300000);
    for (size_t at = 1; at < tar.len; at += 50000) {
        struct source s = {.bytes = tar.data, .len = tar.len, .piece = 10000, .fail_at = at};
        struct error err = ERROR_INIT;
        assert_int_equal(read_tar(&s, 300000, &err), -1);
        assert_int_equal(err.kind, ERROR_TIMEOUT);
        assert_non_null(strstr(err.message, "fell silent"));
    }
}

static void test_links_only_where_they_are_wanted(void **state)
{
    CLEANUP(archive_reader_free) struct archive_reader *r = NULL;
    struct archive_limits limits = ARCHIVE_LIMITS_DEFAULT;
    struct archive_member m;
    struct error err = ERROR_INIT;

    assert_int_equal(shell("cd '%s' && ln -s ../../etc/passwd l && tar -cf l.tar l", (char *)*state), 0);
    CLEANUP_FREE char *bytes = get(*state, "l.tar"), *out = path_join(*state, "out");
    struct source s = {.bytes = bytes, .len = 10240, .piece = 4096};
    assert_int_equal(archive_reader_open_source(give, &s, "stream", NULL, &r, &err), 0);
    assert_int_equal(archive_reader_next(r, &m, &err), -1);
    assert_non_null(strstr(err.message, "symbolic link"));
    archive_reader_free(TAKE(r));

    limits.symlinks = true;
    s.at = 0;
    assert_int_equal(archive_reader_open_source(give, &s, "stream", &limits, &r, &err), 0);
    assert_int_equal(archive_reader_next(r, &m, &err), 1);
    assert_string_equal(m.link, "../../etc/passwd");
    CLEANUP(archive_target_free) struct archive_target *t = NULL;
    assert_int_equal(archive_target_open(out, &t, &err), 0);
    assert_int_equal(archive_target_add(t, r, &m, NULL, NULL, &err), -1); /* and never on the disk */
    assert_non_null(strstr(err.message, "is a link"));
}

static void test_packed_bytes(void **state)
{
    static const char *const PROGRAMS[] = {"gzip", "zstd -q"};

    assert_int_equal(shell("cd '%s' && head -c 300000 /dev/zero | tr '\\0' y > plain", (char *)*state), 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(shell("cd '%s' && %s -c plain > packed", (char *)*state, PROGRAMS[i]), 0);
        CLEANUP_FREE char *path = path_join(*state, "packed");
        CLEANUP_VALUE(strbuf_release) struct strbuf packed = STRBUF_INIT;
        struct error err = ERROR_INIT;
        assert_int_equal(fs_read(path, 1 << 20, &packed, &err), 0);
        assert_true(archive_is_packed(packed.data, packed.len));
        struct source s = {.bytes = packed.data, .len = packed.len, .piece = 100};
        const struct archive_pipe pipe = {give, take, &s, "layer"};
        assert_int_equal(archive_unpack_source(&pipe, &err), 0);
        assert_int_equal(s.got.len, 300000);
        strbuf_release(&s.got);

        s = (struct source){.bytes = packed.data, .len = packed.len - 3, .piece = 100};
        assert_int_equal(archive_unpack_source(&pipe, &err), -1);
        strbuf_release(&s.got);
        s = (struct source){.bytes = packed.data, .len = packed.len, .piece = 100, .room = 1000};
        assert_int_equal(archive_unpack_source(&pipe, &err), -1);
        assert_int_equal(err.kind, ERROR_CONFLICT);
        strbuf_release(&s.got);
        s = (struct source){.bytes = packed.data, .len = packed.len, .piece = 1, .fail_at = 10};
        assert_int_equal(archive_unpack_source(&pipe, &err), -1);
        assert_int_equal(err.kind, ERROR_TIMEOUT);
        strbuf_release(&s.got);
    }
    assert_false(archive_is_packed("tar", 3));
    assert_false(archive_is_packed("{\"a\":1}", 7));
}

static void test_members_have_the_announced_size(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    CLEANUP(archive_tar_free) struct archive_tar *t = archive_tar_new(&out);
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(archive_tar_begin(t, "../up", 1, &err), -1);
    assert_int_equal(archive_tar_begin(t, "a", 3, &err), 0);
    assert_int_equal(archive_tar_data(t, "four", 4, &err), -1);
    assert_int_equal(archive_tar_data(t, "tw", 2, &err), 0);
    assert_int_equal(archive_tar_begin(t, "b", 1, &err), -1);
    assert_int_equal(archive_tar_end(t, &err), -1);
    assert_non_null(strstr(err.message, "1 bytes short"));
}

int main(void)
{
#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_every_cut_is_noticed),
        cmocka_unit_test(test_what_the_source_says_is_handed_on),
        IN_SCRATCH(test_links_only_where_they_are_wanted),
        IN_SCRATCH(test_packed_bytes),
        cmocka_unit_test(test_members_have_the_announced_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
