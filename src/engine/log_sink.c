/* SPDX-License-Identifier: MIT */
#include "benchctl/base/fs.h"
#include "log_sink.h"

#define LINE_MAX_BYTES ((size_t)64 << 10)

void sink_init(struct log_sink *s, const struct engine_log_options *o)
{
    *s = (struct log_sink){.options = *o};
    s->channels[0].fd = o->stdout_fd;
    s->channels[1].fd = o->stderr_fd;
}

void sink_release(struct log_sink *s)
{
    strbuf_release(&s->channels[0].line);
    strbuf_release(&s->channels[1].line);
}

/* --- where bytes go --- */

static void give_line(struct log_sink *s, struct log_channel *c)
{
    if (s->options.line_wall_ns)
        *s->options.line_wall_ns = c->last_ns;
    s->options.on_line(strbuf_text(&c->line), c->line.len, c == &s->channels[1], s->options.data);
    strbuf_clear(&c->line);
}

static void to_lines(struct log_sink *s, struct log_channel *c, const char *bytes, size_t len)
{
    while (s->options.on_line && len) {
        const char *eol = memchr(bytes, '\n', len);
        size_t n = eol ? (size_t)(eol - bytes) : len, room = LINE_MAX_BYTES - c->line.len;
        bool whole = eol && n <= room;

        if (n > room)
            n = room;
        strbuf_add(&c->line, bytes, n);
        if (whole || c->line.len == LINE_MAX_BYTES)
            give_line(s, c);
        bytes += n + whole;
        len -= n + whole;
    }
}

static void to_file(struct log_sink *s, struct log_channel *c, const char *bytes, size_t len)
{
    struct error err = ERROR_INIT;
    int64_t room = s->options.max_bytes > 0 ? s->options.max_bytes - c->bytes : (int64_t)len;
    size_t n = (int64_t)len < room ? len : (size_t)room;

    c->bytes += (int64_t)n;
    c->dropped += (int64_t)(len - n);
    if (n == 0 || c->fd < 0 || s->error.kind != ERROR_NONE)
        return;
    if (fs_write_all(c->fd, bytes, n, "container log", &err))
        s->error = err;
}

static void payload(struct log_sink *s, int channel, const char *bytes, size_t len)
{
    struct log_channel *c = &s->channels[channel == 2];

    if (s->skip || !len)
        return;
    c->open = bytes[len - 1] != '\n';
    to_file(s, c, bytes, len);
    to_lines(s, c, bytes, len);
}

/* --- time stamps --- */

/* Was this line written before the stream was opened again? */
static bool is_replay(struct log_sink *s, int64_t ns)
{
    if (!s->replaying || ns > s->last_ns)
        return s->replaying = false;
    if (ns < s->last_ns)
        return true;
    if (s->replayed < s->same) {
        s->replayed++;
        return true;
    }
    return s->replaying = false;
}

/*
 * The pieces of a long line carry one stamp. Docker's `local` driver loses the newline after the last of them
 * (20.10): when the next stamp is another one, the line before has ended.
 */
static void end_long_line(struct log_sink *s, int channel, int64_t ns)
{
    struct log_channel *c = &s->channels[channel == 2];

    if (c->open && c->last_ns != ns)
        payload(s, channel, "\n", 1);
    c->last_ns = ns;
}

static void count_stamp(struct log_sink *s, int channel, int64_t ns)
{
    s->skip = is_replay(s, ns);
    if (s->skip)
        return;
    end_long_line(s, channel, ns);
    if (ns < s->last_ns)
        return; /* the clock may step back: the latest time stays the point to go on from */
    s->same = ns == s->last_ns ? s->same + 1 : 1;
    s->last_ns = ns;
}

/* Takes the stamp off the front of a frame; gives back how many bytes of this piece it was. */
static size_t take_stamp(struct log_sink *s, int channel, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] == ' ' && s->stamp_len) {
            s->stamp[s->stamp_len] = '\0';
            s->in_stamp = false;
            int64_t ns = clock_parse_rfc3339(s->stamp);
            if (ns > 0) {
                count_stamp(s, channel, ns);
                return i + 1;
            }
            payload(s, channel, s->stamp, s->stamp_len);
            return i;
        }
        s->stamp[s->stamp_len++] = bytes[i];
        if (s->stamp_len == STAMP_MAX - 1) {
            s->in_stamp = false;
            payload(s, channel, s->stamp, s->stamp_len);
            return i + 1;
        }
    }
    return len;
}

/* A frame that ended before its stamp did had none. */
static void flush_stamp(struct log_sink *s, int channel)
{
    if (s->in_stamp && s->stamp_len)
        payload(s, channel, s->stamp, s->stamp_len);
    s->in_stamp = false;
    s->stamp_len = 0;
}

static void on_piece(int channel, const char *bytes, size_t len, void *data)
{
    struct log_sink *s = data;
    bool last = s->demux.left == len; /* piece of its frame */

    if (s->stamped && s->demux.frames != s->frame) {
        s->frame = s->demux.frames;
        s->in_stamp = true;
        s->stamp_len = 0;
        s->skip = false;
    }
    if (s->in_stamp) {
        size_t used = take_stamp(s, channel, bytes, len);
        bytes += used;
        len -= used;
    }
    payload(s, channel, bytes, len);
    if (last)
        flush_stamp(s, channel);
}

/* --- the stream --- */

int sink_feed(struct log_sink *s, const char *bytes, size_t len)
{
    if (log_demux_feed(&s->demux, bytes, len, on_piece, s) == 0)
        return 0;
    if (s->error.kind == ERROR_NONE)
        (void)error_set(&s->error, ERROR_ENVIRONMENT, "the log has a frame of type %d, which does not exist",
                        s->demux.channel);
    return -1;
}

void sink_end(struct log_sink *s)
{
    bool tty = s->demux.tty;

    if (!log_demux_complete(&s->demux))
        s->cut = true;
    s->demux = (struct log_demux){.tty = tty};
    s->frame = 0;
    s->in_stamp = s->skip = false;
    for (size_t i = 0; i < ARRAY_LEN(s->channels); i++)
        if (s->channels[i].line.len && s->options.on_line)
            give_line(s, &s->channels[i]);
}

void sink_reopen(struct log_sink *s)
{
    s->replaying = s->last_ns > 0;
    s->replayed = 0;
}

/* From API 1.42 on the content type tells; before that it is absent, or says "raw" of framed streams, too.
 * Never guess from the bytes: a log line may look like a frame. */
bool log_is_raw(const struct engine *e, const char *content_type, bool tty)
{
    int major = 0, minor = 0;

    if (text_starts(content_type, "application/vnd.docker.multiplexed-stream"))
        return false;
    (void)sscanf(e->prefix, "/v%4d.%4d", &major, &minor);
    if (text_starts(content_type, "application/vnd.docker.raw-stream") && (major > 1 || minor >= 42))
        return true;
    return tty;
}
