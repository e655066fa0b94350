/* SPDX-License-Identifier: MIT */
/*
 * The outer shape of a zstd file (RFC 8878, section 3.1.1), without unpacking it: libarchive passes silently
 * over skippable frames and takes several frames for one, so that bytes could be added to a file unnoticed.
 */
#include "internal.h"

#define FRAME_MAGIC UINT32_C(0xfd2fb528)
#define WINDOW_MAX (UINT64_C(8) << 20) /* what unpacking keeps in memory */
#define BLOCK_MAX ((int64_t)128 << 10)

struct frame {
    frame_read *read;
    void *source;
    const char *name;
    int64_t at, size;
};

static int not_one_frame(const struct frame *f, const char *why, struct error *err)
{
    return error_set(err, ERROR_INVALID, "'%s' %s", f->name, why);
}

/* A little-endian number of `len` bytes at the current place. */
static int take(struct frame *f, size_t len, uint64_t *ret, struct error *err)
{
    unsigned char bytes[8];
    uint64_t value = 0;

    if (f->read(f->source, f->at, bytes, len) != (ptrdiff_t)len)
        return not_one_frame(f, "is cut short", err);
    for (size_t i = len; i-- > 0;)
        value = value << 8 | bytes[i];
    f->at += (int64_t)len;
    *ret = value;
    return 0;
}

static int take_header(struct frame *f, bool *ret_checksum, struct error *err)
{
    static const size_t dictionary_size[] = {0, 1, 2, 4}, content_size[] = {0, 2, 4, 8};
    uint64_t magic = 0, descriptor = 0, window = 0, dictionary = 0, content = 0;

    if (take(f, 4, &magic, err) < 0)
        return -1;
    if (magic != FRAME_MAGIC)
        return not_one_frame(f, "is not a zstd file", err);
    if (take(f, 1, &descriptor, err) < 0)
        return -1;
    bool single = descriptor >> 5 & 1;
    size_t content_len = content_size[descriptor >> 6];
    if (single && !content_len)
        content_len = 1;
    if (descriptor & 8)
        return not_one_frame(f, "is not a zstd file that this version can read", err);
    if (!single) {
        if (take(f, 1, &window, err) < 0)
            return -1;
        uint64_t base = window >> 3 <= 30 ? UINT64_C(1) << (10 + (window >> 3)) : UINT64_MAX / 16;
        window = base + base / 8 * (window & 7);
    }
    if (take(f, dictionary_size[descriptor & 3], &dictionary, err) < 0 ||
        take(f, content_len, &content, err) < 0)
        return -1;
    if (dictionary)
        return not_one_frame(f, "needs a zstd dictionary", err);
    if ((single ? content : window) > WINDOW_MAX)
        return not_one_frame(f, "needs more than 8 MiB of memory to unpack", err);
    *ret_checksum = descriptor >> 2 & 1;
    return 0;
}

int zstd_frame_check(frame_read *read, void *source, int64_t size, const char *name, struct error *err)
{
    struct frame f = {read, source, name, 0, size};
    uint64_t block = 0, checksum = 0;
    bool has_checksum = false;

    if (take_header(&f, &has_checksum, err) < 0)
        return -1;
    do {
        if (take(&f, 3, &block, err) < 0)
            return -1;
        int64_t len = (int64_t)(block >> 3);
        if ((block >> 1 & 3) == 3 || len > BLOCK_MAX)
            return not_one_frame(&f, "is damaged", err);
        f.at += (block >> 1 & 3) == 1 ? 1 : len; /* a run stores its byte once */
        if (f.at > f.size)
            return not_one_frame(&f, "is cut short", err);
    } while (!(block & 1));
    if (has_checksum && take(&f, 4, &checksum, err) < 0)
        return -1;
    if (f.at != f.size)
        return not_one_frame(&f, "has something after its end", err);
    return 0;
}
