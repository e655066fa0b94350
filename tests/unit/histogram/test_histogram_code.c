/* SPDX-License-Identifier: MIT */
/* V2 encoding: the same bytes as another implementation, back again, and everything that is no histogram. */
#include "unit/check.h"

#include <math.h>
#include <zlib.h>
#include "benchctl/base/fs.h"
#include "benchctl/histogram.h"
#include "layout.h"

#define DATA TESTS_DIR "/data/histogram/"

static void load_text(const char *name, struct strbuf *out)
{
    struct error err = ERROR_INIT;
    CLEANUP_FREE char *path = path_join(DATA, name);

    assert_int_equal(fs_read(path, 1 << 20, out, &err), 0);
    strbuf_trim_end(out);
}

static void record_one(struct histogram *h)
{
    static const int64_t values[] = {0,    1,    2,    2047, 2048,    2049,     4095,
                                     4096, 5000, 5000, 5000, 1000000, 59999999, HISTOGRAM_MAX_US};

    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        histogram_record(h, values[i], 1);
    histogram_record(h, 77, UINT64_C(1) << 40);
}

static void same_counts(const struct histogram *a, const struct histogram *b)
{
    assert_int_equal(a->total, b->total);
    assert_int_equal(a->lowest, b->lowest);
    assert_int_equal(a->end, b->end);
    for (uint32_t i = 0; i < COUNTS_LEN; i++)
        assert_int_equal(counted(a, i), counted(b, i));
}

/* Byte for byte what the package hdrhistogram writes. */
static void encodes_as_others_do(void **state)
{
    CLEANUP(histogram_free) struct histogram *h = histogram_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf theirs = STRBUF_INIT;

    (void)state;
    histogram_encode(h, false, &bytes);
    text64_encode(bytes.data, bytes.len, &text);
    assert_string_equal(strbuf_text(&text),
                        "HISTEwAAAAEAAAAAAAAAAwAAAAAAAAABAAAAANaTpAA/8AAAAAAAAAA="); /* one zero */

    record_one(h);
    strbuf_clear(&bytes);
    strbuf_clear(&text);
    histogram_encode(h, false, &bytes);
    text64_encode(bytes.data, bytes.len, &text);
    load_text("one-plain.base64", &theirs);
    assert_string_equal(strbuf_text(&text), strbuf_text(&theirs));
}

static void decodes_what_others_wrote(void **state)
{
    CLEANUP(histogram_free) struct histogram *mine = histogram_new();
    static const char *const names[] = {"one.base64", "one-plain.base64"};

    (void)state;
    record_one(mine);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        CLEANUP(histogram_free) struct histogram *h = histogram_new();
        CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
        CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;
        struct error err = ERROR_INIT;

        load_text(names[i], &text);
        assert_int_equal(histogram_decode(h, text.data, text.len, 1, &err), 0);
        same_counts(h, mine);
        assert_true(histogram_max_ms(h) == 3600000.0);
        assert_true(text64_decode(text.data, text.len, &bytes));
        assert_int_equal(histogram_decode(h, bytes.data, bytes.len, 1, &err), 0); /* adds */
        assert_int_equal(histogram_count(h), 2 * histogram_count(mine));
    }
}

static void round_trips(void **state)
{
    uint64_t x = 88172645463325252u;

    (void)state;
    for (int round = 0; round < 40; round++) {
        CLEANUP(histogram_free) struct histogram *h = histogram_new();
        CLEANUP(histogram_free) struct histogram *again = histogram_new();
        CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;
        struct error err = ERROR_INIT;

        for (int i = 0; i < round * round; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            histogram_record(h, (int64_t)(x >> (30 + x % 34)), 1 + (x >> (1 + x % 62)) / 1600);
        }
        histogram_encode(h, round % 2, &bytes);
        assert_int_equal(histogram_decode(again, bytes.data, bytes.len, 1, &err), 0);
        same_counts(again, h);
        for (double q = 0; q < 1; q += 0.1)
            assert_true(histogram_count(h) == 0 ||
                        fabs(histogram_quantile_ms(again, q) - histogram_quantile_ms(h, q)) <=
                            0.001 * histogram_quantile_ms(h, q));
    }
}

static void text_is_base64(void **state)
{
    static const char *const bad[] = {
        "A", "AB", "ABC", "A===", "====", "AB=C", "AB\nC", "AB C", "ABC=ABC=", "\xff\xff\xff\xff"};
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(text64_decode(bad[i], strlen(bad[i]), &out));
    strbuf_clear(&out);
    assert_true(text64_decode("Zm9vYg==", 8, &out) && text64_decode("Zm8=", 4, &out) &&
                text64_decode("", 0, &out));
    assert_string_equal(strbuf_text(&out), "foobfo");
}

/* The head of a plain histogram, then `counts`. */
struct head {
    uint32_t cookie, payload, digits;
    uint64_t lowest, highest;
    double ratio;
};

static void put(struct strbuf *out, uint64_t v, int bytes)
{
    while (bytes-- > 0)
        strbuf_addc(out, (char)(v >> (8 * bytes)));
}

static void build(struct strbuf *out, const struct head *h, const char *counts, size_t len)
{
    uint64_t ratio;

    memcpy(&ratio, &h->ratio, sizeof(ratio));
    strbuf_clear(out);
    put(out, h->cookie, 4);
    put(out, h->payload, 4);
    put(out, 0, 4);
    put(out, h->digits, 4);
    put(out, h->lowest, 8);
    put(out, h->highest, 8);
    put(out, ratio, 8);
    strbuf_add(out, counts, len);
}

static void refuses(const struct head *h, const char *counts, size_t len, const char *why)
{
    CLEANUP(histogram_free) struct histogram *into = histogram_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;
    struct error err = ERROR_INIT;

    histogram_record(into, 5, 1);
    build(&bytes, h, counts, len);
    assert_int_equal(histogram_decode(into, bytes.data, bytes.len, 1, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_has(err.message, why);
    assert_int_equal(histogram_count(into), 1); /* nothing of it was added */
}

static const struct head usual = {
    .cookie = COOKIE_PLAIN, .digits = 3, .lowest = 1, .highest = 3600000000u, .ratio = 1};

/* The usual head with changes: HEAD(h_->digits = 6). */
#define HEAD(...)                                                                                            \
    ({                                                                                                       \
        static struct head changed_;                                                                         \
        struct head *h_ = &changed_;                                                                         \
        *h_ = usual;                                                                                         \
        __VA_ARGS__;                                                                                         \
        h_;                                                                                                  \
    })

static void the_cookie_without_its_words_is_the_same(void **state)
{
    static const char counts[] = {9, 2}; /* zig-zag: five zeros, then one */
    CLEANUP(histogram_free) struct histogram *into = histogram_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;
    struct error err = ERROR_INIT;

    (void)state;
    build(&bytes, HEAD(h_->cookie = 0x1c849303; h_->payload = 2), counts, sizeof(counts));
    if (histogram_decode(into, bytes.data, bytes.len, 1, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(histogram_count(into), 1);
    assert_true(histogram_max_ms(into) == 0.005);
}

static void refuses_impossible_heads(void **state)
{
    (void)state;
    refuses(HEAD(h_->cookie = 0x1c849301), "", 0, "cookie is 0x1c849301");
    refuses(HEAD(h_->cookie = 0x1c000000), "", 0, "cookie is 0x1c000000");
    refuses(HEAD(h_->digits = 6), "", 0, "6 significant digits");
    refuses(HEAD(h_->digits = UINT32_MAX), "", 0, "significant digits");
    refuses(HEAD(h_->lowest = 0), "", 0, "range of its values");
    refuses(HEAD(h_->lowest = 5, h_->highest = 9), "", 0, "range of its values");
    refuses(HEAD(h_->highest = UINT64_MAX), "", 0, "range of its values");
    refuses(HEAD(h_->lowest = UINT64_C(1) << 61, h_->highest = INT64_MAX), "", 0, "range of its values");
    refuses(HEAD(h_->ratio = 0), "", 0, "conversion ratio");
    refuses(HEAD(h_->ratio = -1), "", 0, "conversion ratio");
    refuses(HEAD(h_->ratio = NAN), "", 0, "conversion ratio");
    refuses(HEAD(h_->ratio = INFINITY), "", 0, "conversion ratio");
    refuses(HEAD(h_->payload = 23552 * 9 + 1), "", 0, "longer than its range");
    refuses(HEAD(h_->payload = UINT32_MAX), "", 0, "longer than its range");
}

static void refuses_impossible_counts(void **state)
{
    static const char most[] = "\xfe\xff\xff\xff\xff\xff\xff\xff\xff";  /* INT64_MAX */
    static const char least[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff"; /* INT64_MIN */
    CLEANUP_VALUE(strbuf_release) struct strbuf two = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf many = STRBUF_INIT;

    (void)state;
    refuses(HEAD(h_->payload = 9), least, 9, "run of zeros");
    refuses(HEAD(h_->payload = 4), "\xff\xff\xff\x03", 4, "run of zeros");
    strbuf_add(&two, most, 9);
    strbuf_addc(&two, 2);
    refuses(HEAD(h_->payload = 10), two.data, two.len, "counts overflow");
    for (int i = 0; i < 23553; i++)
        strbuf_addc(&many, 0);
    refuses(HEAD(h_->payload = 23553), many.data, many.len, "more counts");
    refuses(HEAD(h_->payload = 3), "\2\2", 2, "cut short");
    refuses(HEAD(h_->payload = 1), "\2\2", 2, "bytes follow");
    refuses(HEAD(h_->payload = 2), "\2\x80", 2, "cut short");
}

static void every_cut_is_found(void **state)
{
    static const char *const names[] = {"one.base64", "one-plain.base64"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        CLEANUP(histogram_free) struct histogram *h = histogram_new();
        CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
        CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;
        struct error err = ERROR_INIT;

        load_text(names[i], &text);
        assert_true(text64_decode(text.data, text.len, &bytes));
        for (size_t len = 0; len < text.len; len++)
            assert_int_equal(histogram_decode(h, text.data, len, 1, &err), -1);
        for (size_t len = 0; len < bytes.len; len++)
            assert_int_equal(histogram_decode(h, bytes.data, len, 1, &err), -1);
        strbuf_addc(&bytes, 0);
        assert_int_equal(histogram_decode(h, bytes.data, bytes.len, 1, &err), -1);
        assert_int_equal(histogram_count(h), 0);
    }
}

/* 40 MB of nothing in 40 KB: read no further than the head allows. */
static void bombs_are_cheap(void **state)
{
    CLEANUP(histogram_free) struct histogram *h = histogram_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf plain = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;
    struct error err = ERROR_INIT;
    static const char zeros[1 << 16];

    (void)state;
    build(&plain, HEAD(h_->payload = 20000), "", 0);
    for (int i = 0; i < 640; i++)
        strbuf_add(&plain, zeros, sizeof(zeros));
    uLongf len = compressBound(plain.len);
    CLEANUP_FREE unsigned char *deflated = xmalloc(len);
    assert_int_equal(compress(deflated, &len, (const Bytef *)plain.data, plain.len), Z_OK);
    assert_true(len < 64 << 10);
    put(&bytes, COOKIE_DEFLATED, 4);
    put(&bytes, len, 4);
    strbuf_add(&bytes, deflated, len);
    assert_int_equal(histogram_decode(h, bytes.data, bytes.len, 1, &err), -1);
    assert_has(err.message, "bytes follow its end");
}

/* Values of another unit and beyond an hour. */
static void other_units(void **state)
{
    CLEANUP(histogram_free) struct histogram *h = histogram_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;
    struct error err = ERROR_INIT;

    (void)state;
    build(&bytes, HEAD(h_->payload = 3, h_->highest = INT64_MAX), "\xcf\x0f\x02",
          3); /* 1000 zeros, then one */
    assert_int_equal(histogram_decode(h, bytes.data, bytes.len, 0.001, &err), 0);
    assert_true(histogram_max_ms(h) == 1000.0); /* 1000 ms */
    histogram_clear(h);
    build(&bytes, HEAD(h_->payload = 3, h_->highest = INT64_MAX, h_->ratio = 0.5), "\xcf\x0f\x02", 3);
    assert_int_equal(histogram_decode(h, bytes.data, bytes.len, 1, &err), 0);
    assert_true(histogram_max_ms(h) == 0.5);
    histogram_clear(h);
    build(&bytes, HEAD(h_->payload = 4, h_->highest = INT64_MAX), "\xff\xff\x05\x02", 4);
    assert_int_equal(histogram_decode(h, bytes.data, bytes.len, 1, &err), 0);
    assert_int_equal(histogram_count(h), 1);
    assert_int_equal(histogram_saturated(h), 1);
    assert_int_equal(histogram_decode(h, bytes.data, bytes.len, 0, &err), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodes_as_others_do),
        cmocka_unit_test(decodes_what_others_wrote),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(text_is_base64),
        cmocka_unit_test(refuses_impossible_heads),
        cmocka_unit_test(the_cookie_without_its_words_is_the_same),
        cmocka_unit_test(refuses_impossible_counts),
        cmocka_unit_test(every_cut_is_found),
        cmocka_unit_test(bombs_are_cheap),
        cmocka_unit_test(other_units),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
