/* SPDX-License-Identifier: MIT */
#include "json_filter.h"

#include "document.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "benchctl/base/fs.h"

void json_filter_release(struct json_filter *f)
{
    strbuf_release(&f->path);
    strbuf_release(&f->key);
}

static bool listed(const struct json_filter *f)
{
    for (size_t i = 0; i < f->pointers->len; i++)
        if (strcmp(f->pointers->items[i], strbuf_text(&f->path)) == 0)
            return true;
    return false;
}

/* The path of the open object's member whose key was read. */
static void set_member(struct json_filter *f)
{
    f->path.len = f->lengths[f->depth];
    strbuf_addc(&f->path, '/');
    strbuf_add(&f->path, strbuf_text(&f->key), f->key.len);
    strbuf_clear(&f->key);
}

static void open_level(struct json_filter *f, bool array)
{
    f->depth++;
    if (f->depth >= JSON_FILTER_DEPTH)
        return; /* nothing so deep is looked for */
    if (f->depth > 1 && f->in_array[f->depth - 1])
        strbuf_adds(&f->path, "/[]"); /* members inside of elements have no pointer here */
    f->lengths[f->depth] = f->path.len;
    f->in_array[f->depth] = array;
    f->key_next = !array;
}

static void close_level(struct json_filter *f)
{
    if (f->depth > 0)
        f->depth--;
    if (f->depth < JSON_FILTER_DEPTH)
        f->path.len = f->lengths[f->depth];
    f->key_next = false;
}

/* Inside of a string: its end, and the key that it may be. */
static void text_byte(struct json_filter *f, char c)
{
    if (!f->escaped && c == '"')
        f->in_text = f->in_key = false;
    else if (f->in_key && f->key.len < 256)
        strbuf_addc(&f->key, c);
    f->escaped = !f->escaped && c == '\\';
}

/* Outside of strings. */
static void mark(struct json_filter *f, char c)
{
    bool object = f->depth > 0 && f->depth < JSON_FILTER_DEPTH && !f->in_array[f->depth];

    if (c == '"') {
        f->in_text = true;
        f->in_key = object && f->key_next;
        f->key_next = false;
    } else if (c == '{' || c == '[') {
        open_level(f, c == '[');
    } else if (c == '}' || c == ']') {
        close_level(f);
    } else if (c == ',') {
        f->key_next = object;
    } else if (c == ':' && object) {
        set_member(f);
        if (!f->dropping && listed(f)) {
            strbuf_addf(f->out, ": %s", f->instead);
            f->replaced++;
            f->dropping = true;
            f->value_depth = f->depth;
        }
    }
}

static bool value_ends(const struct json_filter *f, char c)
{
    return f->dropping && !f->in_text && f->depth == f->value_depth && strchr(",}", c) && c;
}

void json_filter_add(struct json_filter *f, const char *bytes, size_t len)
{
    size_t kept = 0; /* what is to be copied begins here */

    for (size_t i = 0; i < len; i++) {
        bool dropped = f->dropping;
        if (value_ends(f, bytes[i])) {
            f->dropping = dropped = false;
            kept = i;
        }
        if (f->in_text) {
            text_byte(f, bytes[i]);
            continue;
        }
        if (bytes[i] == ':' && !dropped) {
            strbuf_add(f->out, bytes + kept, i - kept); /* the mark may write its own */
            kept = i;
        }
        mark(f, bytes[i]);
    }
    if (!f->dropping)
        strbuf_add(f->out, bytes + kept, len - kept);
}

static int filter_file(struct json_filter *f, const char *path, size_t max, struct error *err)
{
    CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char chunk[65536];
    struct stat st;
    ssize_t n;

    if (fd < 0 || fstat(fd, &st) < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot read '%s'", path);
    if (!S_ISREG(st.st_mode))
        return error_set(err, ERROR_ENVIRONMENT, "cannot read '%s': it is not a regular file", path);
    f->out->max = max + 2 * sizeof(chunk);
    while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot read '%s'", path);
        json_filter_add(f, chunk, (size_t)n);
        if (f->out->len > max)
            return error_set(err, ERROR_INVALID, "'%s' is larger than %zu bytes", path, max);
    }
    return 0;
}

bool output_too_large(const struct adapter_output *output, const char *path)
{
    struct stat st;

    return !document_is_streamed(output) && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_size > output->limit_bytes;
}

int json_without(const char *path, const struct text_list *pointers, size_t max, struct strbuf *out,
                 struct error *err)
{
    CLEANUP_VALUE(json_filter_release)
    struct json_filter f = {.pointers = pointers, .instead = "null", .out = out};

    return filter_file(&f, path, max, err);
}

static int redact(const struct adapter_output *output, const char *path, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_VALUE(json_filter_release)
    struct json_filter f = {.pointers = &output->redact, .instead = "\"(redacted)\"", .out = &text};

    if (filter_file(&f, path, (size_t)output->limit_bytes, err) < 0)
        return -1;
    return f.replaced ? fs_write_atomic(path, strbuf_text(&text), text.len, err) : 0;
}

int load_adapter_redact(const struct load_adapter *a, const char *dir, struct error *err)
{
    int rc = 0;

    form_each(struct adapter_output, output, &a->form.outputs)
    {
        CLEANUP_FREE char *path = path_join(dir, output->file);
        if (!output->redact.len || !fs_exists(path) || redact(output, path, err) == 0)
            continue;
        rc = error_wrap(err, "removed, for it may hold what must not be kept");
        (void)unlink(path);
    }
    return rc;
}
