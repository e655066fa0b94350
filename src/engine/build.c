/* SPDX-License-Identifier: MIT */
/* An image from a directory with a Dockerfile. */
#include <errno.h>
#include "benchctl/archive.h"
#include "engine_internal.h"

#define BUILD_NS (3600 * NS_PER_S) /* when the caller names no limit */
#define TAIL_MAX ((size_t)1800)    /* of the failed step's output in a message */

static ptrdiff_t read_context(char *buffer, size_t size, void *data)
{
    const int *fd = data;

    for (;;) {
        ssize_t n = read(*fd, buffer, size);
        if (n >= 0 || errno != EINTR)
            return n;
    }
}

static void query_add_map(struct strbuf *path, const char *key, const struct text_map *map)
{
    CLEANUP(json_free) struct json *o = json_new_object();
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (!map || !map->len)
        return;
    for (size_t i = 0; i < map->len; i++)
        json_set_text(o, map->items[i].key, map->items[i].value);
    json_write(o, JSON_STYLE_COMPACT, &text);
    query_add(path, key, strbuf_text(&text));
}

static void build_path(const struct engine_build *b, struct strbuf *path)
{
    strbuf_adds(path, "/build?rm=1&forcerm=1");
    if (b->tag)
        query_add(path, "t", b->tag);
    if (b->dockerfile)
        query_add(path, "dockerfile", b->dockerfile);
    query_add_map(path, "buildargs", b->args);
    query_add_map(path, "labels", b->labels);
}

/* The message, and below it the last lines that the build printed. */
static int add_tail(const struct strbuf *output, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    const char *from = strbuf_text(output);
    struct error plain = *err;

    if (output->len > TAIL_MAX) {
        from += output->len - TAIL_MAX;
        const char *eol = strchr(from, '\n');
        from = eol ? eol + 1 : from;
    }
    add_clean(&text, from, strlen(from), true);
    strbuf_trim_end(&text);
    if (text.len) {
        (void)error_set(err, plain.kind, "%s\n%s", plain.message, text.data);
        err->code = plain.code;
        if (plain.hint[0])
            (void)error_hint(err, "%s", plain.hint);
    }
    return -1;
}

/* Engines that send no "aux" value say it in the last lines: "Successfully built 0123456789ab". */
static int id_from_output(struct engine *e, const struct strbuf *output, char **ret_id, struct error *err)
{
    CLEANUP_VALUE(engine_image_release) struct engine_image image = {0};
    const char *said = NULL, *text = strbuf_text(output);
    size_t len;

    for (const char *at = text; (at = strstr(at, "Successfully built ")); at++)
        said = at + strlen("Successfully built ");
    len = said ? strspn(said, "0123456789abcdef") : 0;
    if (len < 12)
        return error_set(err, ERROR_ENVIRONMENT, "the build ended without an image id");
    CLEANUP_FREE char *brief = xstrndup(said, len);
    if (engine_image_inspect(e, brief, &image, err))
        return -1;
    *ret_id = TAKE(image.id);
    return 0;
}

int engine_image_build(struct engine *e, const struct engine_build *b, char **ret_id, struct error *err)
{
    CLEANUP_VALUE(progress_end_release) struct progress_end end = {0};
    CLEANUP_VALUE(strbuf_release) struct strbuf path = STRBUF_INIT;
    CLEANUP_CLOSE int fd = -1;
    int64_t bytes;

    if (archive_pack_context(b->context, &fd, &bytes, err))
        return error_wrap(err, "cannot build an image from '%s'", b->context);
    build_path(b, &path);
    struct engine_request r = {.method = "POST",
                               .path = path.data,
                               .read_body = read_context,
                               .data = &fd,
                               .content_type = "application/x-tar",
                               .timeout_ns = b->timeout_ns > 0 ? b->timeout_ns : BUILD_NS};
    struct progress_run run = {.request = &r, .progress = b->progress, .data = b->data};
    if (engine_progress(e, &run, &end, err)) {
        (void)add_tail(&end.output, err);
        return error_wrap(err, "cannot build an image from '%s'", b->context);
    }
    if (!end.id && id_from_output(e, &end.output, &end.id, err))
        return error_wrap(err, "cannot build an image from '%s'", b->context);
    *ret_id = TAKE(end.id);
    return 0;
}
