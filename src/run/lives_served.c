/* SPDX-License-Identifier: MIT */
/* What each life of the application answered: the seconds of the generator's series, shared out by overlap.
 */
#include <math.h>
#include "benchctl/base/clock.h"
#include "load_series.h"
#include "run_internal.h"

#define SERIES_MAX ((size_t)64 << 20)

/* A life serves from its readiness on; where that is not known from its start. */
static double overlap_ms(const struct container_life *l, double begin_ms, double end_ms)
{
    double from = isnan(l->ready_ms) ? l->start_ms : l->ready_ms,
           to = isnan(l->end_ms) ? INFINITY : l->end_ms;

    return fmax(0, fmin(end_ms, to) - fmax(begin_ms, from));
}

static void share_out(struct container_result *c, const struct load_second *s)
{
    double all_ms = 0;

    for (size_t i = 0; i < c->life_count; i++)
        all_ms += overlap_ms(&c->lives[i], s->begin_ms, s->end_ms);
    for (size_t i = 0; i < c->life_count && all_ms > 0; i++)
        c->lives[i].requests += s->ok * overlap_ms(&c->lives[i], s->begin_ms, s->end_ms) / all_ms;
}

/* Shares are of whole requests. */
static void round_off(struct container_result *c)
{
    for (size_t i = 0; i < c->life_count; i++)
        c->lives[i].requests = round(c->lives[i].requests);
}

bool load_each_second(const struct trial_run *t, second_fn *visit, void *data)
{
    CLEANUP_FREE char *path = xasprintf("%s/load/series.csv", t->dir);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    double load_wall_ms = (double)(t->load_begin_ns + t->wall_minus_mono_ns) / (double)NS_PER_MS;
    struct load_series series = {0};
    struct load_second second;
    struct error ignored = ERROR_INIT;
    bool begun = false;

    if (!t->load_begin_ns || fs_read(path, SERIES_MAX, &text, &ignored) < 0)
        return false;
    const char *line = strbuf_text(&text), *end = line + text.len;
    for (const char *newline; (newline = memchr(line, '\n', (size_t)(end - line))); line = newline + 1) {
        size_t len = (size_t)(newline - line);
        if (!begun && !load_series_head(&series, line, len))
            return false;
        if (begun && load_series_row(&series, line, len, &second)) {
            second.begin_ms -= second.wall ? load_wall_ms : 0;
            second.end_ms -= second.wall ? load_wall_ms : 0;
            visit(&second, data);
        }
        begun = true;
    }
    return begun;
}

static void serve(const struct load_second *s, void *data)
{
    share_out(data, s);
}

void tell_served(struct trial_run *t)
{
    struct container_result *c = &t->record.app;

    for (size_t i = 0; i < c->life_count; i++)
        c->lives[i].requests = 0;
    if (load_each_second(t, serve, c)) {
        round_off(c);
        return;
    }
    for (size_t i = 0; i < c->life_count; i++)
        c->lives[i].requests = NAN;
}
