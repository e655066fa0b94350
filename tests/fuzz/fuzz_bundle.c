/* SPDX-License-Identifier: MIT */
/*
 * Bundles, tars and manifests from anybody. The first byte picks what the rest is: a bundle, a bundle's tar
 * (put into a zstd file here, so that mutations reach it), any tar to extract, a manifest. Whatever comes, it
 * is refused or read; nothing is written outside the target, and nothing is left of what was refused.
 */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BLOCK ((size_t)100000)

/* The bytes as one zstd frame of uncompressed blocks. */
static void wrap(const uint8_t *data, size_t size, struct strbuf *out)
{
    static const char head[] = {0x28, (char)0xb5, 0x2f, (char)0xfd, 0, 0x58};

    strbuf_add(out, head, sizeof(head));
    do {
        size_t len = size < BLOCK ? size : BLOCK;
        uint32_t block = (uint32_t)len << 3 | (len == size);
        const char bytes[] = {(char)(block & 0xff), (char)(block >> 8 & 0xff), (char)(block >> 16 & 0xff)};

        strbuf_add(out, bytes, sizeof(bytes));
        strbuf_add(out, data, len);
        data += len;
        size -= len;
    } while (size);
}

static void check_bundle(const void *bytes, size_t len)
{
    struct error err = ERROR_INIT;
    struct bundle_summary s = {0};

    if (bundle_verify_memory(bytes, len, &s, &err) < 0) {
        assert(err.message[0] && err.kind != ERROR_NONE);
        return;
    }
    assert(s.members >= 0 && s.bytes >= 0 && s.schema == BUNDLE_SCHEMA);
}

/* A directory that holds only the target, before and after. */
static char box[] = "/tmp/benchctl-fuzz-XXXXXX";

static void remove_box(void)
{
    (void)rmdir(box);
}

static void make_box(void)
{
    static bool made;

    if (made)
        return;
    if (!mkdtemp(box) || atexit(remove_box) != 0)
        abort();
    made = true;
}

static int count(const char *relative, bool is_dir, int64_t size, void *data, struct error *err)
{
    (void)size;
    (void)err;
    assert(text_equal(relative, "in") || text_starts(relative, "in/"));
    *(size_t *)data += is_dir || size >= 0;
    return 0;
}

static void extract(const uint8_t *data, size_t size, bool as_bundle)
{
    const struct archive_limits limits = {200, 1 << 20, 4 << 20, 1000, 1 << 20, false, false};
    CLEANUP_CLOSE int fd = memfd_create("fuzz", MFD_CLOEXEC);
    CLEANUP_FREE char *target = NULL;
    struct error err = ERROR_INIT, ignored = ERROR_INIT;
    size_t entries = 0;
    char path[64];

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    make_box();
    target = path_join(box, "in");
    int r = as_bundle ? bundle_extract(path, target, &err) : archive_extract(path, target, &limits, &err);
    if (fs_walk(box, count, &entries, &ignored) < 0)
        abort();
    assert(r == 0 || entries == 0);
    if (fs_remove_tree(target, &ignored) < 0 || rmdir(box) < 0 || mkdir(box, 0700) < 0)
        abort(); /* the box was empty */
}

static void read_manifest(const uint8_t *data, size_t size)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error err = ERROR_INIT;
    struct manifest m, again;

    if (manifest_parse((const char *)data, size, &m, &err) < 0) {
        assert(err.message[0]);
        return;
    }
    for (size_t i = 0; i < m.members.len; i++)
        assert(member_name_ok(m.members.items[i].name) && m.members.items[i].size >= 0);
    manifest_format(&m, &text);
    if (manifest_parse(text.data, text.len, &again, &err) < 0)
        abort(); /* what was read can be written */
    assert(again.members.len == m.members.len && again.bytes == m.bytes);
    manifest_release(&again);
    manifest_release(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf wrapped = STRBUF_INIT;

    if (size < 1)
        return 0;
    switch (data[0] % 5) {
    case 0:
        check_bundle(data + 1, size - 1);
        break;
    case 1:
        wrap(data + 1, size - 1, &wrapped);
        check_bundle(wrapped.data, wrapped.len);
        break;
    case 2:
        extract(data + 1, size - 1, false);
        break;
    case 3:
        read_manifest(data + 1, size - 1);
        break;
    default:
        wrap(data + 1, size - 1, &wrapped);
        extract((const uint8_t *)wrapped.data, wrapped.len, true);
    }
    return 0;
}
