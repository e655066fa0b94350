/* SPDX-License-Identifier: MIT */
#include "benchctl/sample.h"

#include <math.h>
#include "benchctl/base/clock.h"
#include "figures.h"
#include "sampler_state.h"
#include "series.h"

#define PERIOD_DEFAULT_NS (100 * NS_PER_MS)
#define HOST_PERIOD_DEFAULT_NS NS_PER_S
#define FLUSH_EVERY_NS NS_PER_S
/* An OOM kill is told of before it is counted, and the cgroup goes some 25 ms later. */
#define LOOK_AGAIN_NS (4 * NS_PER_MS)

static void watched_release(struct watched *w)
{
    cgroup_close(w->reader);
    series_free(w->series);
    free(w->cpuset);
}

/* Valid until the next one is added. */
static struct watched *add(struct sampler *s, const char *role)
{
    vec_push(&s->watched, (struct watched){
                              .series = series_new(role),
                              .limits = {.memory_bytes = NAN, .swap_bytes = NAN, .cpus = NAN, .pids = NAN},
                          });
    return &s->watched.items[s->watched.len - 1];
}

static void record(struct sampler *s, struct watched *w, const struct resource_sample *sample)
{
    series_add(w->series, sample);
    csv_row(&s->csv, series_role(w->series), sample, series_cores(w->series));
}

static void sample_one(struct sampler *s, struct watched *w)
{
    struct resource_sample sample;
    struct error err = ERROR_INIT;

    if (!w->reader)
        return;
    if (cgroup_read(w->reader, &sample, &err) == 0) {
        record(s, w, &sample);
        return;
    }
    cgroup_close(w->reader); /* until sampler_restarted() says where the next one is */
    w->reader = NULL;
}

static void sample_all(struct sampler *s)
{
    int64_t now_ns = clock_now_ns();

    vec_each (w, &s->watched) {
        sample_one(s, w);
    }
    if (now_ns - s->flushed_ns >= FLUSH_EVERY_NS) {
        csv_flush(&s->csv);
        s->flushed_ns = now_ns;
    }
}

static void on_timer(void *data)
{
    sample_all(data);
}

static void host_rows(struct sampler *s, const struct host_mark *mark)
{
    struct resource_sample host = resource_sample_none(), own = resource_sample_none();

    host.at_ns = own.at_ns = mark->at_ns;
    own.usage_bytes = own.used_bytes = mark->own_rss_bytes;
    csv_row(&s->csv, CSV_ROLE_HOST, &host, host_busy_cores(&s->last, mark));
    csv_row(&s->csv, CSV_ROLE_SELF, &own, host_own_cores(&s->last, mark));
}

/* Host figures that are averages or peaks over the window; the rest is differences between its ends. */
static void add_host_sample(struct sampler *s, const struct host_mark *mark)
{
    if (!isnan(mark->load1)) {
        s->load_sum += mark->load1;
        s->load_count++;
    }
    s->rss_bytes = fmax(s->rss_bytes, mark->own_rss_bytes);
    s->last = *mark;
}

static void on_host_timer(void *data)
{
    struct sampler *s = data;
    struct host_mark mark;

    host_probe_sample(s->probe, &mark);
    host_rows(s, &mark);
    add_host_sample(s, &mark);
}

static void begin_host_window(struct sampler *s)
{
    kernel_log_skip(s->kernel_log);
    s->load_sum = s->load_count = 0;
    s->rss_bytes = NAN;
    host_probe_mark(s->probe, &s->begin);
    add_host_sample(s, &s->begin);
}

int sampler_new(struct loop *l, const struct sampler_options *o, struct sampler **ret, struct error *err)
{
    CLEANUP(sampler_free) struct sampler *s = xcalloc(1, sizeof(*s));
    int64_t period_ns = o->period_ns ? o->period_ns : PERIOD_DEFAULT_NS;
    int64_t host_period_ns = o->host_period_ns ? o->host_period_ns : HOST_PERIOD_DEFAULT_NS;
    int64_t now_ns = clock_now_ns();

    s->loop = l;
    s->roots = o->roots;
    csv_init(&s->csv, o->csv_fd, o->origin_ns);
    s->probe = host_probe_new(&o->roots);
    s->kernel_log = kernel_log_open(o->roots.kmsg);
    s->kernel_messages = NAN;
    begin_host_window(s);
    s->first = s->begin;
    s->timer = loop_add_timer(l, now_ns + period_ns, period_ns, on_timer, s);
    s->host_timer = loop_add_timer(l, now_ns + host_period_ns, host_period_ns, on_host_timer, s);
    if (sampler_flush(s, err) < 0)
        return -1;
    *ret = TAKE(s);
    return 0;
}

static void stop_timers(struct sampler *s)
{
    loop_remove_timer(s->timer);
    loop_remove_timer(s->host_timer);
    loop_remove_timer(s->look_timer);
    s->timer = s->host_timer = s->look_timer = NULL;
}

void sampler_free(struct sampler *s)
{
    if (!s)
        return;
    stop_timers(s);
    csv_flush(&s->csv);
    vec_each (w, &s->watched) {
        watched_release(w);
    }
    vec_release(&s->watched);
    host_probe_free(s->probe);
    kernel_log_free(s->kernel_log);
    free(s);
}

int sampler_flush(struct sampler *s, struct error *err)
{
    csv_flush(&s->csv);
    if (s->csv.failed)
        return error_errno(err, ERROR_ENVIRONMENT, s->csv.failed, "cannot write 'samples.csv'");
    return 0;
}

static void adopt(struct watched *w, struct cgroup_reader *reader)
{
    cgroup_close(w->reader);
    w->reader = reader;
    w->fed = false;
    w->source = cgroup_version(reader) == 1 ? "cgroup v1" : "cgroup v2";
    cgroup_limits(reader, &w->limits);
    free(w->cpuset);
    w->cpuset = w->limits.cpuset ? xstrdup(w->limits.cpuset) : NULL;
    w->limits.cpuset = w->cpuset;
}

int sampler_add(struct sampler *s, const char *role, int64_t pid, struct error *err)
{
    struct cgroup_reader *reader;

    if (sampler_find(s, role))
        return error_set(err, ERROR_CONFLICT, "'%s' is sampled already", role);
    if (cgroup_open(&s->roots, pid, &reader, err) < 0)
        return -1;
    struct watched *w = add(s, role);
    adopt(w, reader);
    if (!s->ended)
        sample_one(s, w);
    return 0;
}

/* The engine's clock has the right distances between replies, ours the right place: the first reply ties
 * them. */
static int64_t place_in_time(struct watched *w, int64_t wall_ns, int64_t now_ns)
{
    const struct resource_sample *last = series_last(w->series);

    if (wall_ns < 0)
        return now_ns;
    if (!last || wall_ns + w->fed_offset_ns < last->at_ns) /* or it was set back */
        w->fed_offset_ns = now_ns - wall_ns;
    return wall_ns + w->fed_offset_ns;
}

void sampler_feed(struct sampler *s, const char *role, const struct json *stats)
{
    struct watched *w = sampler_find(s, role);
    struct resource_sample sample;
    const char *rule;
    int64_t now_ns = clock_now_ns();

    if (s->ended || (w && !w->fed) || !stats_parse(stats, &sample, &rule))
        return;
    if (!w) {
        w = add(s, role);
        w->fed = true;
        w->source = "stats api";
    }
    sample.at_ns = place_in_time(w, sample.at_ns, now_ns);
    record(s, w, &sample);
}

void sampler_restarted(struct sampler *s, const char *role, int64_t new_pid)
{
    struct watched *w = sampler_find(s, role);
    struct cgroup_reader *reader;
    struct error err = ERROR_INIT;

    if (!w)
        return;
    series_restarted(w->series);
    if (w->fed)
        return;
    cgroup_close(w->reader);
    w->reader = NULL;
    if (new_pid <= 0 || cgroup_open(&s->roots, new_pid, &reader, &err) < 0)
        return;
    adopt(w, reader);
    if (!s->ended)
        sample_one(s, w);
}

static void on_look_timer(void *data)
{
    struct sampler *s = data;

    loop_remove_timer(TAKE(s->look_timer));
    vec_each (w, &s->watched) {
        if (w->look)
            sample_one(s, w);
        w->look = false;
    }
}

void sampler_look(struct sampler *s, const char *role)
{
    struct watched *w = sampler_find(s, role);

    if (!w || s->ended)
        return;
    sample_one(s, w);
    w->look = true;
    if (!s->look_timer)
        s->look_timer = loop_add_timer(s->loop, clock_now_ns() + LOOK_AGAIN_NS, 0, on_look_timer, s);
}

void sampler_window_begin(struct sampler *s)
{
    sample_all(s); /* what the window's first interval and the kernel's peak are measured against */
    int64_t now_ns = clock_now_ns();
    vec_each (w, &s->watched) {
        struct error err = ERROR_INIT;
        series_window(w->series, now_ns);
        if (w->reader && cgroup_reset_peak(w->reader, &err) < 0)
            continue; /* then the series tells whether the mark is this window's */
    }
    sample_all(s);
    begin_host_window(s);
}

void sampler_window_end(struct sampler *s)
{
    if (s->ended)
        return;
    sample_all(s);
    host_probe_mark(s->probe, &s->end);
    s->kernel_messages = kernel_log_count(s->kernel_log);
    host_rows(s, &s->end);
    add_host_sample(s, &s->end);
    s->ended = true;
    stop_timers(s);
    csv_flush(&s->csv);
}
