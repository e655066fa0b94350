/* SPDX-License-Identifier: MIT */
/* HdrHistogram's V2 encoding: a head, then counts as zig-zag LEB128, runs of zeros as negative counts. */
#include "layout.h"

#include <assert.h>
#include <zlib.h>

static void add_be32(struct strbuf *out, uint32_t v)
{
    const char bytes[4] = {(char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v};

    strbuf_add(out, bytes, sizeof(bytes));
}

static void add_be64(struct strbuf *out, uint64_t v)
{
    add_be32(out, (uint32_t)(v >> 32));
    add_be32(out, (uint32_t)v);
}

/* Seven bits a byte, the lowest first; a ninth byte has eight. */
static void add_zigzag(struct strbuf *out, int64_t value)
{
    uint64_t v = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
    unsigned char bytes[COUNT_BYTES_MAX];
    size_t n = 0;

    while (v >= 0x80 && n < COUNT_BYTES_MAX - 1) {
        bytes[n++] = (unsigned char)(v | 0x80);
        v >>= 7;
    }
    bytes[n++] = (unsigned char)v;
    strbuf_add(out, bytes, n);
}

static void add_counts(const struct histogram *h, struct strbuf *out)
{
    uint32_t end = h->end ? h->end : 1;

    for (uint32_t i = 0; i < end;) {
        uint32_t zeros = 0;
        while (i + zeros < end && !counted(h, i + zeros))
            zeros++;
        if (zeros > 1) {
            add_zigzag(out, -(int64_t)zeros);
            i += zeros;
        } else {
            uint64_t count = counted(h, i++);
            add_zigzag(out, count > INT64_MAX ? INT64_MAX : (int64_t)count);
        }
    }
}

static void encode_plain(const struct histogram *h, struct strbuf *out)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf counts = STRBUF_INIT;
    double ratio = 1;
    uint64_t ratio_bits;

    add_counts(h, &counts);
    memcpy(&ratio_bits, &ratio, sizeof(ratio_bits));
    add_be32(out, COOKIE_PLAIN);
    add_be32(out, (uint32_t)counts.len);
    add_be32(out, 0); /* normalizing index offset */
    add_be32(out, DIGITS);
    add_be64(out, 1);
    add_be64(out, (uint64_t)HISTOGRAM_MAX_US);
    add_be64(out, ratio_bits);
    strbuf_add(out, counts.data, counts.len);
}

void histogram_encode(const struct histogram *h, bool compressed, struct strbuf *out)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf plain = STRBUF_INIT;
    CLEANUP_FREE unsigned char *deflated = NULL;

    if (!compressed) {
        encode_plain(h, out);
        return;
    }
    encode_plain(h, &plain);
    uLongf len = compressBound(plain.len);
    deflated = xmalloc(len);
    int rc = compress(deflated, &len, (const Bytef *)plain.data, plain.len);
    if (rc != Z_OK)
        abort(); /* memory: the room is enough for any input */
    add_be32(out, COOKIE_DEFLATED);
    add_be32(out, (uint32_t)len);
    strbuf_add(out, deflated, len);
}
