/* SPDX-License-Identifier: MIT */
/*
 * The mock upstream's readers: what a client sends as requests with their bodies, whole and byte by byte, and
 * the same bytes as a configuration.
 */
#include <assert.h>
#include "answer.h"
#include "config.h"
#include "request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool within(struct slice s, const char *bytes, size_t len)
{
    return !s.text || s.len == 0 || (s.text >= bytes && s.text + s.len <= bytes + len) || slice_equal(s, "/");
}

/* Where the body ends when it is given `step` bytes at a time; -1 malformed, 0 no end. */
static int64_t body_end(struct body b, const char *bytes, size_t len, size_t step)
{
    size_t at = 0;

    while (at < len) {
        bool done;
        int64_t used = body_take(&b, bytes + at, len - at < step ? len - at : step, &done);
        if (used < 0)
            return -1;
        assert(used > 0);
        at += (size_t)used;
        if (done)
            return (int64_t)at;
    }
    return 0;
}

static void read_requests(const char *bytes, size_t len)
{
    size_t at = 0;

    while (at < len) {
        struct request r;
        int head = request_parse(bytes + at, len - at, "x-request-id", &r);
        if (head <= 0) {
            assert(head == 0 || (head >= -599 && head <= -400));
            return;
        }
        assert((size_t)head <= len - at);
        assert(within(r.method, bytes, len) && within(r.path, bytes, len) && within(r.id, bytes, len));
        at += (size_t)head;
        if (r.has_body) {
            int64_t whole = body_end(r.body, bytes + at, len - at, len);
            assert(whole == body_end(r.body, bytes + at, len - at, 1));
            if (whole <= 0)
                return;
            at += (size_t)whole;
        }
    }
}

static void read_config(const char *bytes, size_t len)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct config c;
    struct error err = ERROR_INIT;

    if (config_read(bytes, len, "fuzz.yaml", NULL, a, &c, &err) < 0)
        return;
    const struct endpoint *endpoints = c.endpoints.items;
    for (size_t i = 0; i < c.endpoints.len; i++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf out = {.max = 1 << 16};
        const struct endpoint *e = &endpoints[i];
        for (uint64_t k = 0; k < 20; k++) {
            struct fate f = fate_decide(e, (uint64_t)c.seed, fate_key_of_count(k));
            assert(f.delay_ns >= 0);
            const struct answer_values v = {.path = {e->path, e->path_len}, .random = f.random};
            answer_add_body(&out, e, &v);
        }
        assert(config_find(&c, e->path, e->path_len));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_requests((const char *)data, size);
    read_config((const char *)data, size);
    return 0;
}
