/* SPDX-License-Identifier: MIT */
/* The journal: one JSON object a line, numbered from 1, each with a checksum over its own bytes. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/version.h"
#include "internal.h"

#define LINE_MAX_BYTES ((size_t)4 << 20)
#define SUM_SEED UINT64_C(0x62656e6368637469)
#define SUM_START ",\"sum\":\""
#define SUM_END "\"}"
#define SUM_SIZE (sizeof(SUM_START) - 1 + 16 + sizeof(SUM_END) - 1)

void journal_format(uint64_t seq, int64_t wall_ns, const char *event, const struct json *fields,
                    struct strbuf *out)
{
    CLEANUP(json_free) struct json *j = json_new_object();
    char stamp[CLOCK_STAMP_SIZE];
    size_t start = out->len;

    json_set_int(j, "seq", (int64_t)seq);
    json_set_text(j, "at", clock_rfc3339(wall_ns, stamp));
    json_set_text(j, "event", event);
    for (void *it = json_iter(fields); it; it = json_iter_next(fields, it)) {
        const char *key = json_iter_key(it);

        if (!text_equal(key, "seq") && !text_equal(key, "at") && !text_equal(key, "event") &&
            !text_equal(key, "sum"))
            json_set(j, key, json_clone(json_iter_value(it)));
    }
    json_write(j, JSON_STYLE_COMPACT, out);
    strbuf_trim_end(out);
    out->data[--out->len] = '\0'; /* the closing brace */
    uint64_t sum = hash64(out->data + start, out->len - start, SUM_SEED);
    strbuf_addf(out, SUM_START "%016" PRIx64 SUM_END "\n", sum);
}

/* One line without its newline: the record, or NULL when it is not intact or not the next one. */
static struct json *read_line(const char *line, size_t len, uint64_t seq)
{
    CLEANUP(json_free) struct json *j = NULL;
    struct error ignored = ERROR_INIT;
    char tail[SUM_SIZE + 1];

    if (len && line[len - 1] == '\r')
        len--;
    if (len <= SUM_SIZE || len > LINE_MAX_BYTES)
        return NULL;
    (void)snprintf(tail, sizeof(tail), SUM_START "%016" PRIx64 SUM_END,
                   hash64(line, len - SUM_SIZE, SUM_SEED));
    if (memcmp(line + len - SUM_SIZE, tail, SUM_SIZE) != 0 ||
        json_parse(line, len, "journal", &j, &ignored) < 0)
        return NULL;
    if (!json_is_int(json_get(j, "seq")) || json_get_int(j, "seq") != (int64_t)seq ||
        !json_get_text(j, "event"))
        return NULL;
    return TAKE(j);
}

int journal_scan(const char *bytes, size_t len, void (*line)(const struct json *record, void *data),
                 void *data, size_t *ret_good, struct error *err)
{
    size_t good = 0;

    for (uint64_t seq = 1; good < len; seq++) {
        const char *newline = memchr(bytes + good, '\n', len - good);

        if (!newline)
            break;
        CLEANUP(json_free)
        struct json *record = read_line(bytes + good, (size_t)(newline - bytes) - good, seq);
        if (!record || (seq == 1 && !text_equal(json_get_text(record, "event"), JOURNAL_OPENED)))
            break;
        if (seq == 1 && json_get_int(record, "schema") > BUNDLE_SCHEMA) {
            (void)error_set(err, ERROR_INVALID,
                            "the journal was written by a newer benchctl (schema %" PRId64 ")",
                            json_get_int(record, "schema"));
            return error_hint(err, "use that version; this one knows schema %d", BUNDLE_SCHEMA);
        }
        line(record, data);
        good = (size_t)(newline - bytes) + 1;
    }
    *ret_good = good;
    return 0;
}

void journal_release(struct journal *j)
{
    if (j->fd >= 0)
        (void)close(j->fd);
    free(j->path);
    *j = (struct journal){.fd = -1};
}

static int cannot(const struct journal *j, const char *what, struct error *err)
{
    return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot %s '%s'", what, j->path);
}

/* Half a line would end the journal for every later reader: it goes before anything else is written. */
static int take_back(struct journal *j)
{
    if (ftruncate(j->fd, j->end) < 0 || lseek(j->fd, j->end, SEEK_SET) < 0)
        return -1;
    j->torn = false;
    return 0;
}

int journal_append(struct journal *j, const char *event, const struct json *fields, bool sync,
                   struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf line = STRBUF_INIT;

    journal_format(j->seq + 1, clock_wall_ns(), event, fields, &line);
    if (line.overflow || line.len > LINE_MAX_BYTES)
        return error_set(err, ERROR_INVALID, "a journal record '%s' is larger than %zu bytes", event,
                         LINE_MAX_BYTES);
    if (j->torn && take_back(j) < 0)
        return cannot(j, "mend", err);
    if (fs_write_all(j->fd, line.data, line.len, j->path, err) < 0) {
        j->torn = take_back(j) < 0;
        return -1;
    }
    j->end += (int64_t)line.len;
    j->seq++;
    if (sync && fdatasync(j->fd) < 0)
        return cannot(j, "sync", err);
    return 0;
}

static int append_header(struct journal *j, struct error *err)
{
    CLEANUP(json_free) struct json *fields = json_new_object();

    json_set_int(fields, "schema", BUNDLE_SCHEMA);
    json_set_text(fields, "version", BENCHCTL_VERSION);
    return journal_append(j, JOURNAL_OPENED, fields, true, err);
}

int journal_create(const char *path, struct journal *ret, struct error *err)
{
    CLEANUP_VALUE(journal_release) struct journal j = {.path = xstrdup(path), .fd = -1};

    j.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (j.fd < 0)
        return cannot(&j, "create", err);
    if (append_header(&j, err) < 0)
        return -1;
    *ret = j;
    j = (struct journal){.fd = -1};
    return 0;
}

/* What is not intact goes into a file of its own, before it is cut off. */
static int move_aside(struct journal *j, const char *bytes, size_t len, struct error *err)
{
    CLEANUP_FREE char *dir = path_dirname(j->path);

    for (int n = 1; n < 10000; n++) {
        CLEANUP_FREE char *name = xasprintf("%s/journal.damaged-%d", dir, n);

        if (fs_exists(name))
            continue;
        if (fs_write_atomic(name, bytes, len, err) < 0)
            return -1;
        if (ftruncate(j->fd, j->end) < 0 || fdatasync(j->fd) < 0)
            return cannot(j, "cut", err);
        return 0;
    }
    return error_set(err, ERROR_ENVIRONMENT, "'%s' holds too many damaged journals", dir);
}

struct scan_state {
    void (*line)(const struct json *record, void *data);
    void *data;
    uint64_t seq;
};

static void count_line(const struct json *record, void *data)
{
    struct scan_state *s = data;

    s->seq++;
    s->line(record, s->data);
}

int journal_open(const char *path, void (*line)(const struct json *record, void *data), void *data,
                 struct journal *ret, int64_t *ret_moved, struct error *err)
{
    CLEANUP_VALUE(journal_release) struct journal j = {.path = xstrdup(path), .fd = -1};
    CLEANUP_VALUE(strbuf_release) struct strbuf text = {.max = JOURNAL_MAX};
    struct scan_state s = {line, data, 0};
    size_t good = 0;

    j.fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (j.fd < 0)
        return cannot(&j, "open", err);
    if (fs_read(path, JOURNAL_MAX, &text, err) < 0)
        return -1;
    if (journal_scan(strbuf_text(&text), text.len, count_line, &s, &good, err) < 0)
        return error_wrap(err, "'%s'", path);
    j.end = (int64_t)good;
    j.seq = s.seq;
    if (good < text.len && move_aside(&j, text.data + good, text.len - good, err) < 0)
        return -1;
    if (lseek(j.fd, j.end, SEEK_SET) < 0)
        return cannot(&j, "open", err);
    if (j.seq == 0 && append_header(&j, err) < 0)
        return -1;
    *ret_moved = (int64_t)(text.len - good);
    *ret = j;
    j = (struct journal){.fd = -1};
    return 0;
}
