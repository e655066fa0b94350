/* SPDX-License-Identifier: MIT */
/*
 * What a server answers on the plain path. The first byte says what is expected of it, the second how many
 * bytes arrive at a time: what is made of them must not depend on that.
 */
#include <assert.h>
#include <stdint.h>
#include "benchctl/base/line_regex.h"
#include "plain_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct made {
    enum answer_result result, at_end;
    int status;
    bool headed, keep, header_ok;
    size_t used;
    struct strbuf body;
};

static void note_body(struct made *m, const struct answer *a)
{
    if (a->body)
        strbuf_add(&m->body, a->body, a->body_len);
    assert(m->body.len <= ANSWER_BODY_MAX);
}

static struct made take(const struct request_kind *k, const char *bytes, size_t len, size_t step)
{
    struct made m = {.result = ANSWER_MORE};
    struct answer a = {0};

    answer_begin(&a, k);
    for (size_t at = 0, n; at < len && m.result == ANSWER_MORE; at += n) {
        size_t used;
        n = len - at < step ? len - at : step;
        /* a copy of its own size: reads beyond it are seen, and what is kept of it must have been copied */
        CLEANUP_FREE char *piece = xmalloc(n + 1);
        memcpy(piece, bytes + at, n);
        piece[n] = '\0';
        m.result = answer_feed(&a, piece, n, &used);
        assert(used <= n && (m.result != ANSWER_MORE || used == n));
        m.used += used;
        if (m.result == ANSWER_WHOLE)
            note_body(&m, &a);
    }
    m.headed = a.headed;
    m.status = a.headed ? a.status : 0;
    m.at_end = m.result == ANSWER_MORE ? answer_close(&a) : m.result;
    if (m.result == ANSWER_MORE && m.at_end == ANSWER_WHOLE)
        note_body(&m, &a);
    m.keep = a.keep;
    m.header_ok = a.header_ok;
    assert((m.result == ANSWER_BAD) == (a.problem != NULL));
    assert(m.result != ANSWER_BAD || !m.keep);
    assert(m.at_end != ANSWER_WHOLE || (m.headed && m.status >= 200 && m.status <= 999));
    answer_release(&a);
    return m;
}

static void assert_same(const struct made *a, const struct made *b)
{
    assert(a->result == b->result && a->at_end == b->at_end && a->status == b->status &&
           a->headed == b->headed);
    assert(a->header_ok == b->header_ok && a->keep == b->keep);
    assert(a->result != ANSWER_WHOLE || a->used == b->used);
    assert(a->body.len == b->body.len);
    assert(!a->body.len || memcmp(a->body.data, b->body.data, a->body.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static regex_t any;
    static bool compiled;
    struct error err = ERROR_INIT;

    if (size < 2)
        return 0;
    if (!compiled && regex_compile("^[a-z0-9]+$", &any, &err) < 0)
        abort();
    compiled = true;
    struct request_kind k = {.is_head = data[0] & 1,
                             .body_regex = data[0] & 2 ? &any : NULL,
                             .wants_body = (data[0] & 2) != 0,
                             .header_name = data[0] & 4 ? "X-Node" : NULL,
                             .header_regex = &any};
    const char *bytes = (const char *)data + 2;
    size_t len = size - 2, steps[] = {data[1] ? data[1] : 1, 1};
    struct made whole = take(&k, bytes, len, len ? len : 1);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        struct made pieces = take(&k, bytes, len, steps[i]);
        assert_same(&whole, &pieces);
        strbuf_release(&pieces.body);
    }
    strbuf_release(&whole.body);
    return 0;
}
