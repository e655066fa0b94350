/* SPDX-License-Identifier: MIT */
/* Log streams: frames taken apart, time stamps taken off, nothing lost and nothing twice. */
#include <fcntl.h>
#include "engine_test.h"
#include "log_sink.h"

struct split {
    struct strbuf channel[3]; /* 1 and 2 */
};

static void to_split(int channel, const char *bytes, size_t len, void *data)
{
    struct split *s = data;

    assert_in_range(channel, 1, 2);
    strbuf_add(&s->channel[channel], bytes, len);
}

static void split_release(struct split *s)
{
    strbuf_release(&s->channel[1]);
    strbuf_release(&s->channel[2]);
}

/* Feeds a file in pieces of `step` bytes; -1 when the demultiplexer refused. */
static int feed_file(const char *name, size_t step, struct log_demux *d, struct split *s)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;

    read_test_file(name, &bytes);
    for (size_t at = 0; at < bytes.len; at += step)
        if (log_demux_feed(d, bytes.data + at, bytes.len - at < step ? bytes.len - at : step, to_split, s))
            return -1;
    return 0;
}

static void assert_same_file(const struct strbuf *got, const char *name)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf wanted = STRBUF_INIT;

    read_test_file(name, &wanted);
    assert_int_equal(got->len, wanted.len);
    assert_memory_equal(got->data, wanted.data, wanted.len);
}

static void frames_in_any_pieces(void **state)
{
    (void)state;
    for (size_t step = 1; step <= 120; step++) {
        CLEANUP_VALUE(split_release) struct split s = {0};
        struct log_demux d = {0};

        assert_int_equal(feed_file("cases/A04/frames.bin", step, &d, &s), 0);
        assert_same_file(&s.channel[1], "cases/A04/expected_stdout.bin");
        assert_same_file(&s.channel[2], "cases/A04/expected_stderr.bin");
        assert_true(log_demux_complete(&d));
        assert_int_equal(d.frames, 7);
    }
}

static void a_tty_is_left_alone(void **state)
{
    (void)state;
    CLEANUP_VALUE(split_release) struct split s = {0};
    struct log_demux d = {.tty = true};

    assert_int_equal(feed_file("cases/A04/tty.bin", 5, &d, &s), 0);
    assert_same_file(&s.channel[1], "cases/A04/tty.bin");
    assert_true(log_demux_complete(&d));
}

static void cut_streams_keep_what_came(void **state)
{
    (void)state;
    CLEANUP_VALUE(split_release) struct split s = {0}, h = {0};
    struct log_demux d = {0}, e = {0};

    assert_int_equal(feed_file("cases/A04/truncated.bin", 7, &d, &s), 0);
    assert_int_equal(s.channel[1].len, strlen("whole\n") + 10);
    assert_memory_equal(s.channel[1].data, "whole\nonly ten b", 16);
    assert_false(log_demux_complete(&d));
    assert_int_equal(d.left, 90);
    assert_int_equal(feed_file("cases/A04/header_cut.bin", 7, &e, &h), 0);
    assert_string_equal(strbuf_text(&h.channel[1]), "whole\n");
    assert_false(log_demux_complete(&e));
}

static void a_frame_type_that_does_not_exist(void **state)
{
    (void)state;
    CLEANUP_VALUE(split_release) struct split s = {0};
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;
    struct log_demux d = {0};

    assert_int_equal(feed_file("cases/A04/bad_type.bin", 100, &d, &s), -1);
    assert_true(d.bad);
    assert_int_equal(log_demux_feed(&d, "more", 4, to_split, &s), -1); /* and stays bad */
    assert_int_equal(s.channel[1].len + s.channel[2].len, 0);

    struct log_sink sink;
    sink_init(&sink, &(struct engine_log_options){.stdout_fd = -1, .stderr_fd = -1});
    read_test_file("cases/A04/bad_type.bin", &bytes);
    assert_int_equal(sink_feed(&sink, bytes.data, bytes.len), -1);
    assert_string_equal(sink.error.message, "the log has a frame of type 7, which does not exist");
    sink_release(&sink);
}

/* --- the sink --- */

struct log_file {
    char path[40];
    int fd;
    struct strbuf lines; /* "o:text|" and "e:text|" */
    struct log_sink sink;
};

static void on_line(const char *line, size_t len, bool is_stderr, void *data)
{
    struct log_file *f = data;

    strbuf_addf(&f->lines, "%c:%.*s|", is_stderr ? 'e' : 'o', (int)len, line);
}

static void open_file(struct log_file *f, bool stamped)
{
    *f = (struct log_file){.path = "/tmp/benchctl-sink-XXXXXX"};
    f->fd = mkstemp(f->path);
    assert_true(f->fd >= 0);
    sink_init(&f->sink, &(struct engine_log_options){
                            .stdout_fd = f->fd, .stderr_fd = -1, .on_line = on_line, .data = f});
    f->sink.stamped = stamped;
}

static void assert_file(struct log_file *f, const char *wanted, const char *lines)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error err = ERROR_INIT;

    assert_int_equal(fs_read(f->path, 1 << 20, &text, &err), 0);
    assert_string_equal(strbuf_text(&text), wanted);
    assert_string_equal(strbuf_text(&f->lines), lines);
}

static void close_file(struct log_file *f)
{
    sink_release(&f->sink);
    strbuf_release(&f->lines);
    close(f->fd);
    unlink(f->path);
}

static void add_frame(struct strbuf *b, int channel, const char *payload)
{
    size_t len = strlen(payload);
    char header[8] = {(char)channel, 0, 0, 0, 0, 0, (char)(len >> 8), (char)(len & 255)};

    strbuf_add(b, header, sizeof(header));
    strbuf_add(b, payload, len);
}

#define T(s) "2026-01-31T08:00:0" s ".000000000Z "

static void stamps_come_off_in_any_pieces(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;

    add_frame(&bytes, 1, T("1") "one\n");
    add_frame(&bytes, 2, T("1") "oops\n");
    add_frame(&bytes, 1, T("2") "\n");
    add_frame(&bytes, 1, T("3") "2026-01-31T09:00:00Z a line's own stamp stays\n");
    add_frame(&bytes, 1, "no stamp here, though one was asked for, and it is long\n");
    add_frame(&bytes, 1, "short\n");
    add_frame(&bytes, 1, T("4") "last, without newline");
    for (size_t step = 1; step < 90; step++) {
        struct log_file f;

        open_file(&f, true);
        for (size_t at = 0; at < bytes.len; at += step)
            assert_int_equal(
                sink_feed(&f.sink, bytes.data + at, bytes.len - at < step ? bytes.len - at : step), 0);
        sink_end(&f.sink);
        assert_false(f.sink.cut);
        assert_file(
            &f,
            "one\n\n2026-01-31T09:00:00Z a line's own stamp stays\n"
            "no stamp here, though one was asked for, and it is long\nshort\nlast, without newline",
            "o:one|e:oops|o:|o:2026-01-31T09:00:00Z a line's own stamp stays|"
            "o:no stamp here, though one was asked for, and it is long|o:short|o:last, without newline|");
        close_file(&f);
    }
}

/* The stream is opened again with `since` the last stamp, which is inclusive: what was written is skipped by
 * count. */
static void a_reopened_log_repeats_nothing(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
    struct log_file f;

    add_frame(&before, 1, T("1") "a\n");
    add_frame(&before, 1, T("2") "b\n");
    add_frame(&before, 2, T("2") "c\n");
    add_frame(&after, 1, T("1") "a\n"); /* an engine that takes `since` as a whole second */
    add_frame(&after, 1, T("2") "b\n");
    add_frame(&after, 2, T("2") "c\n");
    add_frame(&after, 1, T("2") "d\n"); /* the same instant, but not seen before */
    add_frame(&after, 1, T("3") "e\n");
    add_frame(&after, 1, T("2") "f\n"); /* the clock stepped back: still a new line */
    open_file(&f, true);
    assert_int_equal(sink_feed(&f.sink, before.data, before.len), 0);
    sink_end(&f.sink);
    sink_reopen(&f.sink);
    assert_int_equal(sink_feed(&f.sink, after.data, after.len), 0);
    sink_end(&f.sink);
    assert_file(&f, "a\nb\nd\ne\nf\n", "o:a|o:b|e:c|o:d|o:e|o:f|");
    assert_int_equal(f.sink.last_ns % NS_PER_S, 0);
    close_file(&f);
}

static void pieces_of_a_long_line_are_one_line(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;
    struct log_file f;

    add_frame(&bytes, 1, T("1") "long ");
    add_frame(&bytes, 2, T("1") "between\n");
    add_frame(&bytes, 1, T("1") "line"); /* whose newline the driver lost */
    add_frame(&bytes, 1, T("2") "next\n");
    open_file(&f, true);
    assert_int_equal(sink_feed(&f.sink, bytes.data, bytes.len), 0);
    assert_file(&f, "long line\nnext\n", "e:between|o:long line|o:next|");
    close_file(&f);
}

static void a_frame_cut_short_is_kept_and_told(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;
    struct log_file f;

    add_frame(&bytes, 1, T("1") "whole\n");
    add_frame(&bytes, 1, T("2") "only a part of it");
    open_file(&f, true);
    assert_int_equal(sink_feed(&f.sink, bytes.data, bytes.len - 5), 0);
    sink_end(&f.sink);
    assert_true(f.sink.cut);
    assert_file(&f, "whole\nonly a part ", "o:whole|o:only a part |");
    /* the next stream starts with a new frame, not in the middle of the old */
    bytes.len = 0;
    add_frame(&bytes, 1, T("3") "next\n");
    assert_int_equal(sink_feed(&f.sink, bytes.data, bytes.len), 0);
    assert_file(&f, "whole\nonly a part \nnext\n", "o:whole|o:only a part |o:|o:next|");
    close_file(&f);
}

static void limits(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT, text = STRBUF_INIT;
    struct log_file f;

    open_file(&f, false);
    f.sink.options.max_bytes = 10;
    for (int i = 0; i < 1000; i++)
        add_frame(&bytes, 1, "0123456");
    assert_int_equal(sink_feed(&f.sink, bytes.data, bytes.len), 0);
    assert_int_equal(f.sink.channels[0].bytes, 10);
    assert_int_equal(f.sink.channels[0].dropped, 6990);
    struct error err = ERROR_INIT;
    assert_int_equal(fs_read(f.path, 1 << 20, &text, &err), 0);
    assert_string_equal(strbuf_text(&text), "0123456012");
    /* a line without end is heard in pieces */
    for (int i = 0; i < 20000; i++)
        assert_int_equal(sink_feed(&f.sink, bytes.data, 15), 0);
    assert_true(f.lines.len > 64 << 10);
    assert_true(f.sink.channels[0].line.len <= 64 << 10);
    close_file(&f);
}

static void a_full_disk_is_told_once_and_reading_goes_on(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;
    struct log_file f;
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

    add_frame(&bytes, 1, "text\n");
    open_file(&f, false);
    f.sink.channels[0].fd = full;
    assert_int_equal(sink_feed(&f.sink, bytes.data, bytes.len), 0);
    assert_int_equal(sink_feed(&f.sink, bytes.data, bytes.len), 0);
    assert_has(f.sink.error.message, "container log");
    assert_string_equal(strbuf_text(&f.lines), "o:text|o:text|");
    close(full);
    close_file(&f);
}

/* --- framed or raw --- */

static void the_content_type_decides_where_it_can_be_trusted(void **state)
{
    (void)state;
    struct engine old = {.prefix = "/v1.41"}, new = {.prefix = "/v1.42"};
    const char *framed = "application/vnd.docker.multiplexed-stream",
               *raw = "application/vnd.docker.raw-stream";

    assert_false(log_is_raw(&new, framed, true));
    assert_true(log_is_raw(&new, raw, false));
    assert_false(log_is_raw(&old, raw, false)); /* said of framed streams, too, before 1.42 */
    assert_true(log_is_raw(&old, raw, true));
    assert_false(log_is_raw(&old, "", false));
    assert_true(log_is_raw(&old, "", true));
    assert_true(log_is_raw(&new, "text/plain", true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_in_any_pieces),
        cmocka_unit_test(a_tty_is_left_alone),
        cmocka_unit_test(cut_streams_keep_what_came),
        cmocka_unit_test(a_frame_type_that_does_not_exist),
        cmocka_unit_test(stamps_come_off_in_any_pieces),
        cmocka_unit_test(a_reopened_log_repeats_nothing),
        cmocka_unit_test(pieces_of_a_long_line_are_one_line),
        cmocka_unit_test(a_frame_cut_short_is_kept_and_told),
        cmocka_unit_test(limits),
        cmocka_unit_test(a_full_disk_is_told_once_and_reading_goes_on),
        cmocka_unit_test(the_content_type_decides_where_it_can_be_trusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
