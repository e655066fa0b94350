/* SPDX-License-Identifier: MIT */
/*
 * The scanner of streams against the JSON parser: a line that the scanner accepts means exactly what the
 * parser says, whatever came before it. And a whole stream counts every line once, however it is cut into
 * pieces.
 */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include "benchctl/base/fs.h"
#include "stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const pointers[SCAN_SLOTS] = {"/metric", "/data/time", "/data/value", "/data/tags/status",
                                                 "/type"};

static void same(const struct member *a, const struct member *b)
{
    assert(a->kind == b->kind);
    if (a->kind == MEMBER_TEXT)
        assert(a->len == b->len && memcmp(a->text, b->text, a->len) == 0);
    if (a->kind == MEMBER_NUMBER)
        assert(a->number == b->number);
}

/* Every line three times: what the first two taught is used by the third. */
static void scan_lines(const char *bytes, size_t size)
{
    struct scan_paths paths;
    struct error err = ERROR_INIT;
    struct point fast, right;

    if (scan_paths_init(&paths, pointers, &err) < 0)
        abort();
    CLEANUP(scanner_free) struct scanner *s = scanner_new(&paths);
    for (const char *p = bytes, *end = bytes + size, *newline; p < end; p = newline + 1) {
        newline = memchr(p, '\n', (size_t)(end - p));
        if (!newline)
            break;
        size_t len = (size_t)(newline - p);
        for (int i = 0; i < 3; i++) {
            CLEANUP(json_free) struct json *json = NULL;
            if (!scan_line(s, p, len, end, &fast))
                continue;
            if (full_line(&paths, p, len, &json, &right, &err) < 0)
                abort();
            for (int slot = 0; slot < SCAN_SLOTS; slot++)
                same(&fast.m[slot], &right.m[slot]);
        }
    }
}

static struct load_adapter *adapter(void)
{
    static struct load_adapter *a;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    static const char path[] = SOURCE_DIR "/adapters/load/k6.yaml";
    struct error err = ERROR_INIT;

    if (!a && (fs_read(path, 1 << 20, &text, &err) < 0 ||
               load_adapter_parse(strbuf_text(&text), text.len, path, &a, &err) < 0)) {
        fprintf(stderr, "%s\n", err.message);
        abort();
    }
    return a;
}

static void read_in_pieces(const char *bytes, size_t size, size_t piece, struct load_stream_counts *ret)
{
    CLEANUP(load_stream_free) struct load_stream *s = NULL;
    struct error err = ERROR_INIT;

    if (load_stream_new(adapter(), NULL, &s, &err) < 0)
        abort();
    for (size_t at = 0; at < size; at += piece) {
        size_t len = piece < size - at ? piece : size - at;
        CLEANUP_FREE char *exact = xmalloc(len); /* a sanitizer sees every read beyond it */
        memcpy(exact, bytes + at, len);
        if (load_stream_feed(s, exact, len, &err) < 0)
            abort();
    }
    if (load_stream_end(s, &err) < 0)
        abort();
    load_stream_get_counts(s, ret);
    assert(ret->points + ret->other + ret->invalid + ret->cut == ret->lines);
    assert(ret->late + ret->ahead + ret->timeless <= ret->points);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct load_stream_counts whole, pieces;

    if (size < 1)
        return 0;
    const char *bytes = (const char *)data + 1;
    scan_lines(bytes, size - 1);
    read_in_pieces(bytes, size - 1, size, &whole);
    read_in_pieces(bytes, size - 1, 1 + data[0] % 64, &pieces);
    whole.slow = pieces.slow = 0; /* at the end of a piece fewer bytes may be looked at */
    assert(memcmp(&whole, &pieces, sizeof(whole)) == 0);
    return 0;
}
