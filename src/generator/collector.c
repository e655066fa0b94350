/* SPDX-License-Identifier: MIT */
#include "collector.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "series.h"

struct collector {
    const struct workload *w;
    struct generator_options o;
    size_t processes;
    uint64_t *next;             /* of each process: its next second; UINT64_MAX: it has left */
    VEC(struct second *) slots; /* of seconds that are not complete, from `emitted` on */
    uint64_t emitted;
    struct second *total, *spare;
    struct tally *scratch;
    struct arena *arena;
    const char *const *tags; /* of the requests, in the log */
    int series, log;
    bool failed;
    struct error error;
};

static int open_file(const char *dir, const char *name, int *ret, struct error *err)
{
    CLEANUP_FREE char *path = path_join(dir, name);

    *ret = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    return *ret < 0 ? error_errno(err, ERROR_ENVIRONMENT, errno, "cannot write '%s'", path) : 0;
}

/* A report of an earlier load must not be taken for this one's when this one is killed. */
static int open_files(struct collector *c, struct error *err)
{
    const char *dir = c->o.out_dir;
    CLEANUP_FREE char *old = path_join(dir, "report.json");

    if (fs_mkdirs(dir, err) < 0)
        return -1;
    if (unlink(old) < 0 && errno != ENOENT)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot remove '%s'", old);
    return open_file(dir, "series.csv", &c->series, err) < 0 ||
                   open_file(dir, "histogram.hlog", &c->log, err) < 0
               ? -1
               : 0;
}

int collector_new(const struct workload *w, const struct generator_options *o, size_t processes,
                  struct collector **ret, struct error *err)
{
    CLEANUP(collector_free) struct collector *c = xcalloc(1, sizeof(*c));

    *c = (struct collector){.w = w, .o = *o, .processes = processes, .series = -1, .log = -1};
    c->next = xcalloc(processes, sizeof(*c->next));
    c->total = second_new(w->phases.len, w->requests.len);
    c->scratch = tally_new();
    c->arena = arena_new();
    c->tags = series_tags(w, c->arena);
    if (o->out_dir && open_files(c, err) < 0)
        return -1;
    *ret = TAKE(c);
    return 0;
}

void collector_free(struct collector *c)
{
    if (!c)
        return;
    vec_each (s, &c->slots)
        second_free(*s);
    vec_release(&c->slots);
    second_free(c->total);
    second_free(c->spare);
    tally_free(c->scratch);
    arena_free(c->arena);
    if (c->series >= 0)
        (void)close(c->series);
    if (c->log >= 0)
        (void)close(c->log);
    free(c->next);
    free(c);
}

int collector_begin(struct collector *c, int64_t begin_wall_ns, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf head = STRBUF_INIT;

    if (!c->o.out_dir)
        return 0;
    series_head(&head);
    if (fs_write_all(c->series, head.data, head.len, "series.csv", err) < 0)
        return -1;
    strbuf_clear(&head);
    histogram_log_begin(&head, begin_wall_ns);
    return fs_write_all(c->log, head.data, head.len, "histogram.hlog", err);
}

struct second *collector_slot(struct collector *c, uint64_t index)
{
    while (c->emitted + c->slots.len <= index) {
        struct second *s = TAKE(c->spare);
        if (!s)
            s = second_new(c->w->phases.len, c->w->requests.len);
        second_reset(s);
        s->index = c->emitted + c->slots.len;
        vec_push(&c->slots, s);
    }
    return c->slots.items[index - c->emitted];
}

static void tell(const struct collector *c, const struct tally *all, const struct second *s)
{
    struct generator_second told = {.at_s = (double)s->end_ns / 1e9,
                                    .planned_s = (double)workload_duration_ns(c->w) / 1e9,
                                    .requests = (double)tally_requests(all),
                                    .ok = (double)all->count[REQUEST_OK],
                                    .failed = (double)tally_failed(all),
                                    .p50_ms = histogram_quantile_ms(all->response, 0.5),
                                    .p99_ms = histogram_quantile_ms(all->response, 0.99)};
    for (size_t i = 0; i < s->phases; i++) {
        told.vus += s->parts[i].vus;
        told.dropped += (double)s->parts[i].dropped;
    }
    c->o.on_second(&told, c->o.data);
}

/* The moment between the last whole second and the end, in which nothing happened: no row for it. */
static bool nothing(const struct second *s, const struct tally *all)
{
    bool empty = s->end_ns - (int64_t)s->index * NS_PER_S < NS_PER_S / 10 && tally_empty(all);

    for (size_t i = 0; i < s->phases && empty; i++)
        empty = s->parts[i].started == 0 && s->parts[i].dropped == 0;
    return empty;
}

/* A second is complete. */
static void emit(struct collector *c, const struct second *s)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    int64_t rss = fmax((double)c->total->max_rss_bytes, (double)s->max_rss_bytes);
    int64_t busiest_ns = c->total->cpu_most_ns + s->cpu_most_ns;

    if (s->end_ns == 0) /* a process stood still, and told of it with the second before */
        return;
    second_add(c->total, s);
    c->total->max_rss_bytes = rss;
    c->total->cpu_most_ns = busiest_ns;
    c->total->index = s->index + 1;
    tally_clear(c->scratch);
    for (size_t i = 0; i < s->phases; i++)
        total_of_phase(s, i, c->scratch);
    if (nothing(s, c->scratch))
        return;
    if (c->o.out_dir && !c->failed) {
        series_row(s, c->scratch, &text);
        c->failed = fs_write_all(c->series, text.data, text.len, "series.csv", &c->error) < 0;
        strbuf_clear(&text);
        series_log(c->w, c->tags, s, &text);
        if (!c->failed && text.len)
            c->failed = fs_write_all(c->log, text.data, text.len, "histogram.hlog", &c->error) < 0;
    }
    if (c->o.on_second)
        tell(c, c->scratch, s);
}

static void emit_complete(struct collector *c)
{
    uint64_t upto = UINT64_MAX;

    for (size_t i = 0; i < c->processes; i++)
        upto = c->next[i] < upto ? c->next[i] : upto;
    while (c->slots.len && c->emitted < upto) {
        struct second *s = c->slots.items[0];
        c->slots.len--;
        memmove(c->slots.items, c->slots.items + 1, c->slots.len * sizeof(struct second *));
        c->emitted++;
        emit(c, s);
        second_free(c->spare);
        c->spare = s;
    }
}

void collector_done(struct collector *c, size_t process, uint64_t index)
{
    c->next[process] = index + 1;
    emit_complete(c);
}

void collector_leave(struct collector *c, size_t process)
{
    c->next[process] = UINT64_MAX;
    emit_complete(c);
}

const struct second *collector_total(const struct collector *c)
{
    return c->total;
}

int collector_check(const struct collector *c, struct error *err)
{
    if (!c->failed)
        return 0;
    *err = c->error;
    return -1;
}

void total_of_phase(const struct second *s, size_t phase, struct tally *into)
{
    for (size_t k = 0; k < s->kinds; k++)
        if (s->cells[phase * s->kinds + k])
            tally_add(into, s->cells[phase * s->kinds + k]);
}

void total_of_kind(const struct workload *w, const struct second *s, size_t kind, bool warmup,
                   struct tally *into)
{
    const struct workload_phase *phases = w->phases.items;

    for (size_t i = 0; i < s->phases; i++) {
        size_t first = kind == ALL_KINDS ? 0 : kind, end = kind == ALL_KINDS ? s->kinds : kind + 1;
        for (size_t k = first; k < end && phases[i].warmup == warmup; k++)
            if (s->cells[i * s->kinds + k])
                tally_add(into, s->cells[i * s->kinds + k]);
    }
}
