/* SPDX-License-Identifier: MIT */
/*
 * Encoded histograms from anybody. The first byte picks the unit and whether the rest is compressed by us
 * first, so that mutations reach what is inside. What decodes has figures that make sense, and comes back
 * from our own encoding unchanged.
 */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <zlib.h>
#include "benchctl/histogram.h"
#include "layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_figures(const struct histogram *h)
{
    double last = 0;

    for (double q = 0; q <= 1; q += 1.0 / 16) {
        double v = histogram_quantile_ms(h, q);
        assert(v >= last && v <= histogram_max_ms(h));
        last = v;
    }
    assert(histogram_mean_ms(h) <= histogram_max_ms(h) * 1.001 + 2 &&
           histogram_min_ms(h) <= histogram_max_ms(h));
    assert(histogram_count_above(h, HISTOGRAM_MAX_US) == 0 && histogram_saturated(h) <= histogram_count(h));
}

static void decode(const char *bytes, size_t len, double values_per_us)
{
    CLEANUP(histogram_free) struct histogram *h = histogram_new();
    CLEANUP(histogram_free) struct histogram *again = histogram_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf encoded = STRBUF_INIT;
    struct error err = ERROR_INIT;

    if (histogram_decode(h, bytes, len, values_per_us, &err) < 0) {
        assert(err.kind == ERROR_INVALID && err.message[0] && histogram_count(h) == 0);
        return;
    }
    if (histogram_count(h))
        check_figures(h);
    histogram_encode(h, false, &encoded);
    if (histogram_decode(again, encoded.data, encoded.len, 1, &err) < 0)
        abort();
    assert(h->total == again->total);
    for (uint32_t i = 0; i < COUNTS_LEN; i++)
        assert(counted(h, i) == counted(again, i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double units[] = {1, 1000, 0.001, 0.1};

    if (size < 1 || size > 1 << 16)
        return 0;
    const uint8_t *bytes = data + 1;
    uLongf len = compressBound(size - 1);
    CLEANUP_FREE uint8_t *deflated = xmalloc(len + 8);
    if (data[0] & 4) {
        if (compress(deflated + 8, &len, bytes, size - 1) != Z_OK)
            return 0;
        const uint8_t head[8] = {
            0x1c,        0x84, 0x93, 0x14, (uint8_t)(len >> 24), (uint8_t)(len >> 16), (uint8_t)(len >> 8),
            (uint8_t)len};
        memcpy(deflated, head, sizeof(head));
        decode((const char *)deflated, len + 8, units[data[0] & 3]);
    } else {
        decode((const char *)bytes, size - 1, units[data[0] & 3]);
    }
    return 0;
}
