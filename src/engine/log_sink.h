/* SPDX-License-Identifier: MIT */
/* Of logs.c: what happens to the bytes of a log. Knows nothing of connections, so that tests can feed it. */
#ifndef BENCHCTL_ENGINE_LOG_SINK_H
#define BENCHCTL_ENGINE_LOG_SINK_H

#include "engine_internal.h"

#define STAMP_MAX 40 /* bytes of a time stamp in front of a line */

struct log_channel {
    int fd;
    int64_t bytes, dropped;
    struct strbuf line; /* not complete yet */
    int64_t last_ns;    /* stamp of the last frame that was written */
    bool open;          /* its last byte was not a newline */
};

/*
 * Each frame begins with a time stamp that we asked for. It is taken off again; its use is that a log which
 * is read once more from the last time on (`since` is inclusive) can skip what was written already.
 */
struct log_sink {
    struct engine_log_options options;
    struct log_demux demux;
    struct log_channel channels[2];
    bool stamped; /* frames begin with a time stamp */
    uint64_t frame;
    bool in_stamp, skip; /* of the current frame */
    char stamp[STAMP_MAX];
    size_t stamp_len;
    int64_t last_ns;  /* the latest stamp, 0 before the first */
    int64_t same;     /* lines written that carry it */
    bool replaying;   /* after a reopening, until the first new line */
    int64_t replayed; /* lines skipped that carry last_ns */
    bool cut;
    struct error error; /* of writing, or of a frame that is none; kind ERROR_NONE while all is well */
};

void sink_init(struct log_sink *s, const struct engine_log_options *o);
void sink_release(struct log_sink *s);
/* -1 when the stream cannot be read on. */
int sink_feed(struct log_sink *s, const char *bytes, size_t len);
/* The stream ended here: an unfinished line is a line, an unfinished frame was cut. */
void sink_end(struct log_sink *s);
/* Framed or raw? By the reply's content type where it can be trusted, else by Config.Tty. */
bool log_is_raw(const struct engine *e, const char *content_type, bool tty);
/* The next bytes come from a stream that begins at last_ns. */
void sink_reopen(struct log_sink *s);

#endif
