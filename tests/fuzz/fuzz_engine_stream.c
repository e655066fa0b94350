/* SPDX-License-Identifier: MIT */
/*
 * What an engine streams: log frames, JSON values of events, builds and inspect replies, refusals. The first
 * byte picks which, the second how many bytes arrive at a time: what is made of them must not depend on that.
 */
#include <assert.h>
#include <stdint.h>
#include "log_sink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- logs --- */

struct heard {
    struct strbuf text[3];
};

static void on_piece(int channel, const char *bytes, size_t len, void *data)
{
    struct heard *h = data;

    assert((channel == 1 || channel == 2) && len > 0);
    strbuf_add(&h->text[channel], bytes, len);
}

static void on_line(const char *line, size_t len, bool is_stderr, void *data)
{
    struct heard *h = data;

    assert(len <= 64 << 10 && strlen(line) <= len);
    strbuf_add(&h->text[is_stderr ? 2 : 1], line, len);
    strbuf_addc(&h->text[is_stderr ? 2 : 1], '\n');
}

static void release(struct heard *h)
{
    for (size_t i = 0; i < ARRAY_LEN(h->text); i++)
        strbuf_release(&h->text[i]);
}

static void assert_same(const struct heard *a, const struct heard *b)
{
    for (size_t i = 1; i < ARRAY_LEN(a->text); i++) {
        assert(a->text[i].len == b->text[i].len);
        assert(!a->text[i].len || memcmp(a->text[i].data, b->text[i].data, a->text[i].len) == 0);
    }
}

static bool demux(const char *bytes, size_t len, size_t step, bool tty, struct heard *h)
{
    struct log_demux d = {.tty = tty};

    for (size_t at = 0; at < len; at += step)
        if (log_demux_feed(&d, bytes + at, len - at < step ? len - at : step, on_piece, h))
            return false;
    assert(!tty || log_demux_complete(&d));
    return log_demux_complete(&d);
}

static void sink(const char *bytes, size_t len, size_t step, struct heard *h)
{
    struct log_sink s;

    sink_init(&s, &(struct engine_log_options){
                      .stdout_fd = -1, .stderr_fd = -1, .max_bytes = 100, .on_line = on_line, .data = h});
    s.stamped = true;
    for (int life = 0; life < 2; life++) {
        for (size_t at = 0; at < len; at += step)
            if (sink_feed(&s, bytes + at, len - at < step ? len - at : step))
                break;
        sink_end(&s);
        sink_reopen(&s);
    }
    assert(s.channels[0].bytes <= 100 && s.channels[1].bytes <= 100);
    sink_release(&s);
}

static void try_log(const char *bytes, size_t len, size_t step, int which)
{
    struct heard whole = {0}, pieces = {0};

    if (which == 2) {
        sink(bytes, len, len ? len : 1, &whole);
        sink(bytes, len, step, &pieces);
    } else {
        bool complete = demux(bytes, len, len ? len : 1, which == 1, &whole);
        assert(complete == demux(bytes, len, step, which == 1, &pieces));
    }
    assert_same(&whole, &pieces);
    release(&whole);
    release(&pieces);
}

/* --- JSON --- */

static void on_value(const struct json *j, const char *bytes, size_t len, void *data)
{
    struct engine_state state = {0};
    struct error err = ERROR_INIT;
    CLEANUP_FREE char *progress = NULL;
    size_t *count = data;

    (void)bytes;
    assert(len > 0);
    ++*count;
    if (engine_stream_message(j, &progress, &err) == 0)
        assert(!progress || (*progress && !strchr(progress, '\n') && !strchr(progress, '\x1b')));
    else
        assert(err.kind == ERROR_ENVIRONMENT);
    err = (struct error)ERROR_INIT;
    if (engine_state_parse(j, &state, &err) == 0)
        assert(state.status && state.image_id && state.inspect && err.kind == ERROR_NONE);
    engine_state_release(&state);
    assert(engine_images_compare(j, j) >= IMAGES_UNLIKE);
}

static size_t drain(const char *bytes, size_t len, size_t step)
{
    struct strbuf buffer = {.max = 1 << 20};
    struct error err = ERROR_INIT;
    size_t count = 0;

    for (size_t at = 0; at < len; at += step) {
        strbuf_add(&buffer, bytes + at, len - at < step ? len - at : step);
        if (json_drain(&buffer, on_value, &count, &err))
            break;
    }
    strbuf_release(&buffer);
    return count;
}

static void try_refusal(const char *bytes, size_t len)
{
    static const int statuses[] = {400, 404, 409, 500};

    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        struct error err = ERROR_INIT;
        assert(engine_refusal(statuses[i], bytes, len, &err) == -1);
        assert(err.message[0] && !strchr(err.message, '\n') && !strchr(err.message, '\x1b'));
    }
    CLEANUP_FREE char *owner = xstrndup(bytes, len);
    (void)engine_owner_alive(owner);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const char *bytes = (const char *)data + 2;
    size_t len = size - 2, step = data[1] ? data[1] : 1;
    int which = data[0] % 5;

    if (which <= 2)
        try_log(bytes, len, step, which);
    else if (which == 3)
        assert(drain(bytes, len, len ? len : 1) == drain(bytes, len, step));
    else
        try_refusal(bytes, len);
    return 0;
}
