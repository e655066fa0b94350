/* SPDX-License-Identifier: MIT */
/*
 * What a generator writes while it runs, a line for each thing that it measured: read through a FIFO as it
 * comes, so that nothing of it has to be kept and a slow disk cannot slow the generator.
 */
#include <inttypes.h>
#include "benchctl/archive.h"
#include "benchctl/base/secrets.h"
#include "generation.h"

struct raw_stream {
    struct load_stream *stream;
    struct load_fifo *fifo;
    struct archive_file *copy;     /* NULL: not asked for */
    struct secrets_stream *masked; /* to the copy, which is compressed */
    const char *name, *series_path, *log_path;
};

void raw_stream_free(struct raw_stream *s)
{
    struct error ignored = ERROR_INIT;

    if (!s)
        return;
    load_fifo_free(s->fifo); /* before what it feeds */
    load_stream_free(s->stream);
    secrets_stream_free(s->masked);
    (void)!archive_file_close(s->copy, &ignored);
    free(s);
}

static int keep_piece(const char *bytes, size_t len, void *data, struct error *err)
{
    struct raw_stream *s = data;

    return secrets_stream_write(s->masked, bytes, len, err);
}

static int write_copy(const char *bytes, size_t len, void *data, struct error *err)
{
    return archive_file_write(data, bytes, len, err);
}

int raw_stream_begin(struct generation *g, struct error *err)
{
    struct trial_run *t = g->trial;
    const struct load_adapter *a = t->adapter->adapter;
    const char *name = load_adapter_stream_file(a);

    if (!name)
        return 0;
    struct raw_stream *s = g->stream = xcalloc(1, sizeof(*s));
    const char *path = arena_printf(t->arena, "%s/%s", g->dir, name);
    s->name = name;
    if (g->measured) {
        s->series_path = arena_printf(t->arena, "%s/series.csv", g->dir);
        s->log_path = arena_printf(t->arena, "%s/histogram.hlog", g->dir);
    }
    const struct load_stream_options o = {.series_path = s->series_path, .log_path = s->log_path};
    const struct load_fifo_options copying = {.raw = keep_piece, .data = s};
    bool keep = g->measured && t->settings->load.raw;
    if (keep && archive_file_create(arena_printf(t->arena, "%s.zst", path), &s->copy, err) < 0)
        return -1;
    if (keep)
        s->masked = secrets_stream_new(write_copy, s->copy);
    if (load_stream_new(a, &o, &s->stream, err) < 0)
        return -1;
    return load_fifo_open(t->sweep->loop, path, s->stream, keep ? &copying : NULL, &s->fifo, err);
}

/* What of it could not be used. */
static void tell(struct generation *g, const struct load_stream_counts *c)
{
    struct trial_run *t = g->trial;

    if (c->invalid)
        trial_note(t, "%s: %" PRIu64 " of %" PRIu64 " lines are no JSON, the first is line %" PRIu64 ": %s",
                   g->stream->name, c->invalid, c->lines, c->first_invalid, c->invalid_reason);
    if (c->late || c->ahead || c->timeless)
        trial_note(t, "%s: %" PRIu64 " points are in no second: their times are missing or far off",
                   g->stream->name, c->late + c->ahead + c->timeless);
    if (c->unnamed)
        trial_note(t, "%s: %" PRIu64 " points of metrics beyond the first 256 were passed over",
                   g->stream->name, c->unnamed);
    if (c->cut)
        trial_note(t, "%s: its last line was cut short", g->stream->name);
}

/* Files with nothing in them say nothing. */
static void drop_empty(const struct raw_stream *s)
{
    if (s->series_path)
        (void)unlink(s->series_path);
    if (s->log_path)
        (void)unlink(s->log_path);
}

double raw_stream_answered(const struct generation *g)
{
    return g->stream && g->stream->stream ? load_stream_answered(g->stream->stream) : NAN;
}

void raw_stream_end(struct generation *g)
{
    struct raw_stream *s = g->stream;
    struct load_stream_counts counts;
    struct error err = ERROR_INIT;

    if (!s || !s->fifo)
        return;
    if (load_fifo_end(s->fifo, &err) < 0)
        trial_note(g->trial, "%s could not be read to its end: %s", s->name, err.message);
    err = (struct error)ERROR_INIT;
    int rest = s->copy ? secrets_stream_end(s->masked, &err) : 0;
    if (archive_file_close(s->copy, &err) < 0 || rest < 0)
        trial_note(g->trial, "%s could not be kept: %s", s->name, err.message);
    s->copy = NULL;
    load_stream_get_counts(s->stream, &counts);
    load_fifo_free(s->fifo);
    s->fifo = NULL;
    load_stream_free(s->stream); /* closes what it writes */
    s->stream = NULL;
    if (g->measured)
        tell(g, &counts);
    if (!counts.points)
        drop_empty(s);
}
