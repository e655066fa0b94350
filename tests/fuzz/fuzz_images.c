/* SPDX-License-Identifier: MIT */
/*
 * Images from anybody. The first byte picks what the rest is: an engine's export (32 bytes of the id that is
 * asked for, then the tar), a list of images, a packed layer. Whatever comes, it is refused or read; nothing
 * is written outside the directory, and what is accepted is what its names say.
 */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <sys/stat.h>
#include "benchctl/base/fs.h"
#include "internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ID_BYTES 32
#define UNPACKED_MAX ((size_t)8 << 20) /* of one input: a layer of zeros is no finding */

static char box[64];

static void remove_box(void)
{
    (void)rmdir(box);
}

/* In memory where that is possible: there are many inputs. */
static void make_box(void)
{
    if (box[0])
        return;
    (void)snprintf(box, sizeof(box), "%s/benchctl-fuzz-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(box) || atexit(remove_box) != 0)
        abort();
}

struct bytes {
    const uint8_t *at;
    size_t left, taken;
};

static ptrdiff_t give(void *buffer, size_t size, void *data, struct error *err)
{
    struct bytes *b = data;
    size_t n = b->left < size ? b->left : size;

    (void)err;
    if (n) {
        memcpy(buffer, b->at, n);
        b->at += n;
        b->left -= n;
    }
    return (ptrdiff_t)n;
}

static int take(const void *bytes, size_t len, void *data, struct error *err)
{
    struct bytes *b = data;

    (void)bytes;
    b->taken += len;
    return b->taken > UNPACKED_MAX ? error_set(err, ERROR_INVALID, "enough") : 0;
}

static int only_inside(const char *relative, bool is_dir, int64_t size, void *data, struct error *err)
{
    (void)is_dir;
    (void)size;
    (void)data;
    (void)err;
    assert(text_equal(relative, "in") || text_starts(relative, "in/"));
    return 0;
}

static void check_blob(const struct store *s, const struct blob *b)
{
    struct error err = ERROR_INIT;
    int fd = -1;

    assert(is_digest_hex(b->sha256));
    assert(blob_open(s, b, &fd, &err) == 0);
    (void)close(fd);
}

/* What was accepted is what it says, now and when it is read again. */
static void check_taken(const struct store *s, const char *dir, struct image_index *x, const char *id)
{
    CLEANUP_VALUE(index_release) struct image_index again = {0};
    struct error err = ERROR_INIT;
    struct image *i = index_find(x, id);

    assert(i && x->images.len == 1);
    check_blob(s, &i->config);
    vec_each (b, &i->layers)
        check_blob(s, b);
    assert(image_check(s, i, NULL, &err) == 0);
    assert(index_write(dir, x, &err) == 0 && index_read(dir, &again, &err) == 0);
    assert(index_find(&again, id)->layers.len == i->layers.len);
    assert(store_sweep(s, &again, &err) == 0);
    check_blob(s, &i->config);
}

static void check_export(const uint8_t *data, size_t size)
{
    CLEANUP_VALUE(index_release) struct image_index x = {.arena = arena_new()};
    CLEANUP_VALUE(store_close) struct store s = {.fd = -1};
    CLEANUP_FREE char *dir = path_join(box, "in");
    char id[sizeof(DIGEST_PREFIX) + SHA256_HEX_SIZE] = DIGEST_PREFIX;
    const char *ids[] = {id};
    struct error err = ERROR_INIT;

    if (size < ID_BYTES)
        return;
    for (size_t i = 0; i < ID_BYTES; i++)
        (void)snprintf(id + strlen(DIGEST_PREFIX) + 2 * i, 3, "%02x", data[i]);
    struct bytes b = {.at = data + ID_BYTES, .left = size - ID_BYTES};
    assert(store_open(dir, true, &s, &err) == 0);
    const struct export_order o = {.store = &s, .ids = ids, .count = 1, .index = &x};
    if (export_take(give, &b, &o, &err) == 0)
        check_taken(&s, dir, &x, id);
    else
        assert(err.message[0] && err.kind != ERROR_NONE);
    assert(fs_walk(box, only_inside, NULL, &err) == 0);
    assert(fs_remove_tree(dir, &err) == 0);
}

static void check_index(const uint8_t *data, size_t size)
{
    CLEANUP_VALUE(index_release) struct image_index x = {0};
    struct error err = ERROR_INIT;

    if (index_parse((const char *)data, size, &x, &err) < 0) {
        assert(err.message[0] && err.kind != ERROR_NONE);
        return;
    }
    vec_each (i, &x.images) {
        assert(digest_hex(i->id) && is_digest_hex(i->config.sha256) && i->config.size >= 0);
        vec_each (name, &i->names)
            assert(is_image_name(*name));
    }
}

static void check_packed(const uint8_t *data, size_t size)
{
    struct bytes b = {.at = data, .left = size};
    const struct archive_pipe pipe = {give, take, &b, "layer"};
    struct error err = ERROR_INIT;

    assert(archive_unpack_source(&pipe, &err) == 0 || err.message[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    make_box();
    if (size == 0)
        return 0;
    switch (data[0] % 3) {
    case 0:
        check_export(data + 1, size - 1);
        break;
    case 1:
        check_index(data + 1, size - 1);
        break;
    default:
        check_packed(data + 1, size - 1);
        break;
    }
    return 0;
}
