/* SPDX-License-Identifier: MIT */
/* Bytes in, lines out of them, points counted. */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>
#include "benchctl/base/fs.h"

#define BLOCK ((size_t)128 << 10) /* what the second-level cache of most processors still holds */

static const struct adapter_output *stream_output(const struct load_adapter *a)
{
    form_each(struct adapter_output, o, &a->form.outputs) if (o->format == FORMAT_NDJSON) return o;
    return NULL;
}

const char *load_adapter_stream_file(const struct load_adapter *a)
{
    const struct adapter_output *o = stream_output(a);

    return o ? o->file : NULL;
}

int stream_paths_of(const struct adapter_stream *spec, struct scan_paths *ret, struct error *err)
{
    const char *pointers[SCAN_SLOTS] = {spec->metric, spec->time, spec->value, spec->group};

    if (spec->where.len > SCAN_WHERE_MAX)
        return error_set(err, ERROR_INVALID, "a stream has at most %d conditions", SCAN_WHERE_MAX);
    for (size_t i = 0; i < spec->where.len; i++)
        pointers[SLOT_WHERE + i] = spec->where.items[i].key;
    return scan_paths_init(ret, pointers, err);
}

int load_stream_of(const struct adapter_output *output, const struct load_stream_options *o,
                   struct load_stream **ret, struct error *err)
{
    CLEANUP(load_stream_free) struct load_stream *s = xcalloc(1, sizeof(*s));

    s->spec = output->stream;
    s->partial.max = STREAM_LINE_MAX + 1;
    if (stream_paths_of(s->spec, &s->paths, err) < 0)
        return -1;
    s->scanner = scanner_new(&s->paths);
    s->options = o ? *o : (struct load_stream_options){0};
    s->all = histogram_new();
    if (stream_seconds_init(&s->seconds, s, err) < 0)
        return -1;
    *ret = TAKE(s);
    return 0;
}

int load_stream_new(const struct load_adapter *a, const struct load_stream_options *o,
                    struct load_stream **ret, struct error *err)
{
    const struct adapter_output *output = stream_output(a);

    if (!output)
        return error_set(err, ERROR_INVALID, "load adapter '%s' has no stream", a->name);
    return load_stream_of(output, o, ret, err);
}

void load_stream_free(struct load_stream *s)
{
    if (!s)
        return;
    stream_seconds_release(&s->seconds);
    scanner_free(s->scanner);
    histogram_free(s->all);
    strbuf_release(&s->partial);
    vec_release(&s->exact);
    free(s);
}

/* Does every condition hold? */
static bool wanted(const struct adapter_stream *spec, const struct point *p)
{
    for (size_t i = 0; i < spec->where.len; i++) {
        const struct member *m = &p->m[SLOT_WHERE + i];
        const char *text = spec->where.items[i].value;
        if (m->kind != MEMBER_TEXT || strlen(text) != m->len || memcmp(m->text, text, m->len) != 0)
            return false;
    }
    return p->m[SLOT_METRIC].kind == MEMBER_TEXT && p->m[SLOT_VALUE].kind == MEMBER_NUMBER;
}

/* The second of a point, or NULL. */
static int place(struct load_stream *s, const struct point *p, struct stream_second **ret, struct error *err)
{
    int64_t ns = stream_time_ns(s, &p->m[SLOT_TIME]);

    *ret = NULL;
    if (ns < 0) {
        s->counts.timeless++;
        return 0;
    }
    if (!s->counts.first_ns || ns < s->counts.first_ns)
        s->counts.first_ns = ns;
    if (ns > s->counts.last_ns)
        s->counts.last_ns = ns;
    return stream_seconds_at(&s->seconds, ns, &s->counts, ret, err);
}

static void count_latency(struct load_stream *s, double value, struct stream_second *second)
{
    double ms = quantity_convert(value, (enum unit)s->spec->latency_unit), us = ms * 1e3;
    int64_t whole_us = us < 0 ? 0 : us > (double)HISTOGRAM_MAX_US ? HISTOGRAM_MAX_US + 1 : llrint(us);

    if (s->exact.len < STREAM_EXACT_MAX)
        vec_push(&s->exact, ms);
    histogram_record(s->all, whole_us, 1);
    if (second)
        histogram_record(second->latency, whole_us, 1);
}

static int count_point(struct load_stream *s, const struct point *p, struct error *err)
{
    double value = p->m[SLOT_VALUE].number;
    struct stream_metric *m = stream_metric_add(s, p->m[SLOT_METRIC].text, p->m[SLOT_METRIC].len);
    struct stream_second *second;

    s->counts.points++;
    if (place(s, p, &second, err) < 0)
        return -1;
    if (!m) {
        s->counts.unnamed++;
        return 0;
    }
    stream_total_add(&m->total, value);
    if (m == s->latency)
        count_latency(s, value, second);
    if (m == s->requests && s->spec->group)
        stream_group_add(s, p->m[SLOT_GROUP].kind == MEMBER_TEXT ? p->m[SLOT_GROUP].text : "",
                         p->m[SLOT_GROUP].kind == MEMBER_TEXT ? p->m[SLOT_GROUP].len : 0, value);
    if (!second)
        return 0;
    if (m == s->requests)
        second->requests += value;
    else if (m == s->failed)
        second->failed += value;
    else if (m == s->dropped)
        second->dropped += value;
    else if (m == s->vus)
        second->vus = value;
    return 0;
}

static void count_invalid(struct load_stream *s, const char *why)
{
    if (s->counts.invalid++)
        return;
    s->counts.first_invalid = s->counts.lines;
    snprintf(s->counts.invalid_reason, sizeof(s->counts.invalid_reason), "%.150s", why);
}

static bool blank(const char *line, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    return true;
}

static int use_point(struct load_stream *s, const struct point *p, struct error *err)
{
    if (wanted(s->spec, p))
        return count_point(s, p, err);
    s->counts.other++;
    return 0;
}

/* By the JSON parser. Not inlined: an error to be filled is large, and rarely needed. */
static __attribute__((noinline)) int slow_line(struct load_stream *s, const char *line, size_t len,
                                               bool ended, struct error *err)
{
    CLEANUP(json_free) struct json *json = NULL;
    struct error problem = ERROR_INIT;
    struct point p;

    s->counts.slow++;
    if (full_line(&s->paths, line, len, &json, &p, &problem) == 0)
        return use_point(s, &p, err);
    s->counts.cut = !ended;
    if (ended)
        count_invalid(s, problem.message);
    return 0;
}

/* One line; `line[len]` is a newline. `ended`: it was one in the stream, too. */
static int one_line(struct load_stream *s, const char *line, size_t len, const char *limit, bool ended,
                    struct error *err)
{
    struct point p;

    if (blank(line, len < 4 ? len : 4) && blank(line, len))
        return 0;
    s->counts.lines++;
    return scan_line(s->scanner, line, len, limit, &p) ? use_point(s, &p, err)
                                                       : slow_line(s, line, len, ended, err);
}

/* Bytes of a line that began in an earlier piece; how many of them were used. */
static int continue_line(struct load_stream *s, const char *bytes, size_t len, size_t *ret_used,
                         struct error *err)
{
    const char *newline = memchr(bytes, '\n', len);
    size_t n = newline ? (size_t)(newline - bytes) + 1 : len;

    *ret_used = n;
    if (!s->skipping)
        strbuf_add(&s->partial, bytes, n);
    if (s->partial.overflow) {
        s->skipping = true;
        s->counts.lines++;
        count_invalid(s, "a line longer than 1 MiB");
        strbuf_release(&s->partial);
    }
    if (!newline)
        return 0;
    bool skip = s->skipping;
    s->skipping = false;
    int rc =
        skip ? 0
             : one_line(s, s->partial.data, s->partial.len - 1, s->partial.data + s->partial.len, true, err);
    strbuf_clear(&s->partial);
    return rc;
}

int load_stream_feed(struct load_stream *s, const char *bytes, size_t len, struct error *err)
{
    const char *p = bytes, *end = bytes + len;
    size_t used;

    if (len && (s->partial.len || s->skipping)) {
        if (continue_line(s, p, len, &used, err) < 0)
            return -1;
        p += used;
    }
    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        if (!newline)
            return continue_line(s, p, (size_t)(end - p), &used, err);
        if ((size_t)(newline - p) > STREAM_LINE_MAX) {
            s->counts.lines++;
            count_invalid(s, "a line longer than 1 MiB");
        } else if (one_line(s, p, (size_t)(newline - p), end, true, err) < 0) {
            return -1;
        }
        p = newline + 1;
    }
    return 0;
}

int load_stream_end(struct load_stream *s, struct error *err)
{
    if (s->partial.len) {
        size_t len = s->partial.len;
        s->partial.max = 0;
        strbuf_addc(&s->partial, '\n');
        if (one_line(s, s->partial.data, len, s->partial.data + len + 1, false, err) < 0)
            return -1;
        strbuf_clear(&s->partial);
    }
    return stream_seconds_end(&s->seconds, err);
}

int load_stream_read_file(struct load_stream *s, const char *path, struct error *err)
{
    CLEANUP_CLOSE int fd = -1;
    CLEANUP_FREE char *block = NULL;
    ssize_t n;

    if (fs_open_regular(path, true, &fd, err) < 0)
        return -1;
    block = xmalloc(BLOCK);
    while ((n = read(fd, block, BLOCK)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot read '%s'", path);
        if (load_stream_feed(s, block, (size_t)n, err) < 0)
            return -1;
    }
    return load_stream_end(s, err);
}

void load_stream_get_counts(const struct load_stream *s, struct load_stream_counts *ret)
{
    *ret = s->counts;
}

bool load_stream_get_total(const struct load_stream *s, const char *metric, struct load_stream_total *ret)
{
    for (size_t i = 0; i < s->metric_count; i++) {
        if (strcmp(s->metrics[i].name, metric) == 0) {
            *ret = s->metrics[i].total;
            return true;
        }
    }
    return false;
}

const char *load_stream_metric_name(const struct load_stream *s, size_t index)
{
    return index < s->metric_count ? s->metrics[index].name : NULL;
}

double load_stream_quantile_ms(const struct load_stream *s, double q)
{
    return stream_quantile_ms(s, q);
}

const struct histogram *load_stream_histogram(const struct load_stream *s)
{
    return s->all;
}
