/* SPDX-License-Identifier: MIT */
/*
 * V2 from anybody, a byte at a time: what is inflated is never held, so that memory does not depend on the
 * input. Work is bounded by the payload length that the head gives, which its own layout bounds.
 */
#include "layout.h"

#include <math.h>
#include <zlib.h>

#define INPUT_MAX ((size_t)64 << 20)
#define INFLATE_BLOCK 4096
#define DIGITS_MAX 5

/* How another histogram lays out its counters. */
struct foreign {
    uint32_t unit_magnitude, half_magnitude;
    uint32_t counts_len;
    double us_per_value;
    bool same; /* as ours: counters are copied */
};

struct decoder {
    struct histogram *h;
    double values_per_us;
    unsigned char head[HEAD_BYTES];
    size_t head_len;
    struct foreign layout;
    uint64_t payload_left;
    uint64_t index; /* of the next counter */
    uint64_t varint;
    unsigned varint_bytes;
};

static int damaged(struct error *err, const char *what)
{
    return error_set(err, ERROR_INVALID, "not a usable histogram: %s", what);
}

static int set_layout(struct decoder *d, uint32_t digits, uint64_t lowest, uint64_t highest,
                      struct error *err)
{
    static const uint32_t half_magnitudes[DIGITS_MAX + 1] = {0, 4, 7, 10, 14, 17};
    struct foreign *f = &d->layout;

    if (digits > DIGITS_MAX)
        return error_set(err, ERROR_INVALID, "not a usable histogram: %u significant digits", digits);
    if (lowest < 1 || lowest > INT64_MAX / 2 || highest > INT64_MAX || highest < 2 * lowest)
        return damaged(err, "the range of its values is impossible");
    f->half_magnitude = half_magnitudes[digits];
    f->unit_magnitude = 63 - (uint32_t)__builtin_clzll(lowest);
    if (f->unit_magnitude + f->half_magnitude > 61)
        return damaged(err, "the range of its values is impossible");

    uint64_t untrackable = (uint64_t)2 << (f->half_magnitude + f->unit_magnitude);
    uint32_t buckets = 1;
    for (; untrackable <= highest; buckets++) {
        if (untrackable > INT64_MAX / 2) {
            buckets++;
            break;
        }
        untrackable <<= 1;
    }
    f->counts_len = (buckets + 1) << f->half_magnitude;
    f->same = digits == DIGITS && f->unit_magnitude == 0 && f->us_per_value == 1;
    return 0;
}

static int head_done(struct decoder *d, struct error *err)
{
    const unsigned char *p = d->head;
    uint32_t cookie = read_be32(p), payload = read_be32(p + 4);
    uint64_t ratio_bits = read_be64(p + 32);
    double ratio;

    if ((cookie | COOKIE_WORDS) != COOKIE_PLAIN)
        return error_set(err, ERROR_INVALID,
                         "not a usable histogram: its cookie is 0x%08x, not that of encoding V2", cookie);
    memcpy(&ratio, &ratio_bits, sizeof(ratio));
    d->layout.us_per_value = ratio / d->values_per_us;
    if (!isfinite(d->layout.us_per_value) || d->layout.us_per_value <= 0)
        return damaged(err, "its conversion ratio is no positive number");
    if (set_layout(d, read_be32(p + 12), read_be64(p + 16), read_be64(p + 24), err) < 0)
        return -1;
    if (payload > (uint64_t)d->layout.counts_len * COUNT_BYTES_MAX)
        return damaged(err, "it is longer than its range of values allows");
    d->payload_left = payload;
    return 0;
}

/* The middle of a foreign counter, in our microseconds; `ret_highest` is its end. */
static int64_t foreign_us(const struct foreign *f, uint64_t index, int64_t *ret_highest)
{
    uint64_t half = (uint64_t)1 << f->half_magnitude;
    uint64_t shift = index < 2 * half ? 0 : (index >> f->half_magnitude) - 1;
    double unit = ldexp(1, (int)(shift + f->unit_magnitude));
    double low = (double)(index - (shift << f->half_magnitude)) * unit;
    double middle = (low + floor(unit / 2)) * f->us_per_value, high = (low + unit - 1) * f->us_per_value;

    *ret_highest = high < (double)HISTOGRAM_MAX_US ? (int64_t)llrint(high) : HISTOGRAM_MAX_US;
    return middle < (double)HISTOGRAM_MAX_US + 1 ? (int64_t)llrint(middle) : INT64_MAX;
}

static void count_at(struct decoder *d, uint64_t index, uint64_t count)
{
    struct histogram *h = d->h;
    int64_t us, highest;

    if (!d->layout.same) {
        us = foreign_us(&d->layout, index, &highest);
    } else {
        us = index < COUNTS_LEN ? value_of((uint32_t)index) : INT64_MAX;
        highest = index < COUNTS_LEN ? highest_of((uint32_t)index) : HISTOGRAM_MAX_US;
    }
    histogram_record(h, us, count);
    if (highest > h->max_us)
        h->max_us = highest;
}

/* One count, or a run of zeros. */
static int number_done(struct decoder *d, struct error *err)
{
    int64_t n = (int64_t)(d->varint >> 1) ^ -(int64_t)(d->varint & 1);
    uint64_t room = d->layout.counts_len - d->index;

    d->varint = 0;
    d->varint_bytes = 0;
    if (n < 0) {
        if (n == INT64_MIN || (uint64_t)-n > room)
            return damaged(err, "a run of zeros leaves its range of values");
        d->index += (uint64_t)-n;
        return 0;
    }
    if (!room)
        return damaged(err, "it has more counts than its range of values allows");
    if ((uint64_t)n > INT64_MAX - d->h->total)
        return damaged(err, "its counts overflow");
    if (n)
        count_at(d, d->index, (uint64_t)n);
    d->index++;
    return 0;
}

static int feed(struct decoder *d, const unsigned char *bytes, size_t len, struct error *err)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = bytes[i];
        if (d->head_len < HEAD_BYTES) {
            d->head[d->head_len++] = byte;
            if (d->head_len == HEAD_BYTES && head_done(d, err) < 0)
                return -1;
            continue;
        }
        if (!d->payload_left)
            return damaged(err, "bytes follow its end");
        d->payload_left--;
        bool last = d->varint_bytes == COUNT_BYTES_MAX - 1;
        d->varint |= (uint64_t)(last ? byte : byte & 0x7f) << (7 * d->varint_bytes++);
        if ((last || !(byte & 0x80)) && number_done(d, err) < 0)
            return -1;
    }
    return 0;
}

static int feed_deflated(struct decoder *d, const unsigned char *bytes, size_t len, struct error *err)
{
    unsigned char block[INFLATE_BLOCK];
    z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)len};
    int rc, fed = 0;

    if (inflateInit(&z) != Z_OK)
        abort(); /* memory */
    do {
        z.next_out = block;
        z.avail_out = sizeof(block);
        rc = inflate(&z, Z_NO_FLUSH);
        if (rc == Z_OK || rc == Z_STREAM_END)
            fed = feed(d, block, sizeof(block) - z.avail_out, err);
    } while (rc == Z_OK && fed == 0);
    uInt rest = z.avail_in;
    (void)inflateEnd(&z);
    if (fed < 0)
        return -1;
    if (rc == Z_BUF_ERROR)
        return damaged(err, "it is cut short");
    if (rc != Z_STREAM_END)
        return damaged(err, "its compression is damaged");
    return rest ? damaged(err, "bytes follow its end") : 0;
}

static int decode_bytes(struct decoder *d, const unsigned char *bytes, size_t len, struct error *err)
{
    if (len < 8)
        return damaged(err, "it is cut short");
    uint32_t cookie = read_be32(bytes), deflated = read_be32(bytes + 4);
    if ((cookie | COOKIE_WORDS) != COOKIE_DEFLATED) {
        if (feed(d, bytes, len, err) < 0)
            return -1;
    } else if (deflated != len - 8) {
        return damaged(err, deflated > len - 8 ? "it is cut short" : "bytes follow its end");
    } else if (feed_deflated(d, bytes + 8, len - 8, err) < 0) {
        return -1;
    }
    if (d->head_len < HEAD_BYTES || d->payload_left || d->varint_bytes)
        return damaged(err, "it is cut short");
    return 0;
}

int histogram_decode_into_empty(struct histogram *h, const char *bytes, size_t len, double values_per_us,
                                struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf decoded = {.max = INPUT_MAX};
    struct decoder d = {.h = h, .values_per_us = values_per_us};

    if (len > INPUT_MAX)
        return damaged(err, "it is larger than 64 MiB");
    if (!len)
        return damaged(err, "it is empty");
    if (bytes[0] == (char)(COOKIE_PLAIN >> 24))
        return decode_bytes(&d, (const unsigned char *)bytes, len, err);
    if (!text64_decode(bytes, len, &decoded))
        return damaged(err, "its base64 is damaged or cut short");
    return decode_bytes(&d, (const unsigned char *)decoded.data, decoded.len, err);
}

int histogram_decode(struct histogram *into, const char *bytes, size_t len, double values_per_us,
                     struct error *err)
{
    CLEANUP(histogram_free) struct histogram *h = histogram_new();

    if (histogram_decode_into_empty(h, bytes, len, values_per_us, err) < 0)
        return -1;
    histogram_merge(into, h);
    return 0;
}
