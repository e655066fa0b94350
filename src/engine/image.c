/* SPDX-License-Identifier: MIT */
/* Images that are there, that are fetched, and that come from files. */
#include <errno.h>
#include <fcntl.h>
#include "engine_internal.h"

/* --- inspect --- */

/* References keep their '/', ':' and '@', which a router in the engine wants to see. */
static char *image_path(const char *reference)
{
    struct strbuf path = STRBUF_INIT;
    char one[2] = {0};

    strbuf_adds(&path, "/images/");
    for (; *reference; reference++) {
        one[0] = *reference;
        if (strchr("/:@", *reference))
            strbuf_addc(&path, *reference);
        else
            http_escape(&path, one);
    }
    strbuf_adds(&path, "/json");
    return strbuf_detach(&path);
}

static char *copy_text(const struct json *o, const char *key)
{
    const char *text = json_get_text(o, key);

    return xstrdup(text ? text : "");
}

static char **copy_list(const struct json *list)
{
    size_t n = json_type_of(list) == JSON_TYPE_ARRAY ? json_len(list) : 0, kept = 0;
    char **out = xcalloc(n + 1, sizeof(*out));

    for (size_t i = 0; i < n; i++)
        if (json_text(json_at(list, i)))
            out[kept++] = xstrdup(json_text(json_at(list, i)));
    return out;
}

int engine_image_inspect(struct engine *e, const char *reference, struct engine_image *ret, struct error *err)
{
    CLEANUP_FREE char *path = image_path(reference),
                      *what = xasprintf("cannot inspect image '%s'", reference);
    CLEANUP(json_free) struct json *j = NULL;
    const char *id;

    if (!*reference)
        return error_set(err, ERROR_INVALID, "an image without a name");
    if (engine_request(e, &(struct engine_request){.path = path, .what = what}, &j, err))
        return -1;
    id = json_get_text(j, "Id");
    if (!id || !*id)
        return error_set(err, ERROR_ENVIRONMENT, "%s: the reply has no id", what);
    ret->id = text_starts(id, "sha256:") ? xstrdup(id) : xasprintf("sha256:%s", id);
    ret->repo_digests = copy_list(json_get(j, "RepoDigests"));
    ret->architecture = copy_text(j, "Architecture");
    ret->os = copy_text(j, "Os");
    ret->size_bytes = json_get_int(j, "Size");
    ret->inspect = TAKE(j);
    return 0;
}

void engine_image_release(struct engine_image *i)
{
    free(i->id);
    for (char **d = i->repo_digests; d && *d; d++)
        free(*d);
    free(i->repo_digests);
    free(i->architecture);
    free(i->os);
    json_free(i->inspect);
    *i = (struct engine_image){0};
}

/* --- pull --- */

/* name[:tag] or name@digest. Without a tag it is `latest`: none at all would mean every tag there is. */
void split_reference(const char *reference, char **ret_name, char **ret_tag)
{
    const char *at = strchr(reference, '@'), *slash = strrchr(reference, '/');
    const char *colon = strchr(slash ? slash : reference, ':');
    const char *cut = at ? at : colon;
    const char *name_end = at && colon && colon < at ? colon : cut;

    *ret_name = name_end ? xstrndup(reference, (size_t)(name_end - reference)) : xstrdup(reference);
    *ret_tag = xstrdup(cut ? cut + 1 : "latest");
}

static char *base64url(const char *bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const unsigned char *b = (const unsigned char *)bytes;
    struct strbuf out = STRBUF_INIT;
    size_t len = strlen(bytes);

    for (size_t i = 0; i < len; i += 3) {
        uint32_t v = (uint32_t)b[i] << 16 | (i + 1 < len ? (uint32_t)b[i + 1] << 8 : 0) |
                     (i + 2 < len ? b[i + 2] : 0u);
        strbuf_addc(&out, digits[v >> 18]);
        strbuf_addc(&out, digits[v >> 12 & 63]);
        strbuf_addc(&out, i + 1 < len ? digits[v >> 6 & 63] : '=');
        strbuf_addc(&out, i + 2 < len ? digits[v & 63] : '=');
    }
    return strbuf_detach(&out);
}

/* The last thing that a registry client reports when all is well. */
static bool pull_ended_well(const struct engine *e, const struct progress_end *end)
{
    return e->podman || (end->last_status && (text_starts(end->last_status, "Status: ") ||
                                              text_starts(end->last_status, "Digest: ")));
}

int engine_image_pull(struct engine *e, const char *reference, const char *auth_json,
                      engine_progress_fn *progress, void *data, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf path = STRBUF_INIT;
    CLEANUP_VALUE(progress_end_release) struct progress_end end = {0};
    CLEANUP_VALUE(engine_image_release) struct engine_image image = {0};
    CLEANUP_FREE char *name = NULL, *tag = NULL, *header = NULL;
    CLEANUP_FREE char *auth = auth_json ? base64url(auth_json) : NULL;

    split_reference(reference, &name, &tag);
    strbuf_adds(&path, "/images/create");
    query_add(&path, "fromImage", name);
    query_add(&path, "tag", tag);
    if (auth)
        header = xasprintf("X-Registry-Auth: %s", auth);
    struct engine_request r = {.method = "POST", .path = path.data, .extra_header = header};
    struct progress_run run = {
        .request = &r, .progress = progress, .data = data, .idle_timeout_ns = SILENT_NS};
    if (engine_progress(e, &run, &end, err))
        return error_wrap(err, "cannot pull image '%s'", reference);
    if (!pull_ended_well(e, &end))
        return error_set(err, ERROR_ENVIRONMENT, "cannot pull image '%s': the engine's stream ended early",
                         reference);
    if (engine_image_inspect(e, reference, &image, err))
        return error_wrap(err, "image '%s' is not there after it was pulled", reference);
    return 0;
}

/* --- load and import --- */

static ptrdiff_t read_file(char *buffer, size_t size, void *data)
{
    const int *fd = data;

    for (;;) {
        ssize_t n = read(*fd, buffer, size);
        if (n >= 0 || errno != EINTR)
            return n;
    }
}

static int send_file(struct engine *e, const char *file, const struct progress_run *run,
                     struct progress_end *ret, struct error *err)
{
    CLEANUP_CLOSE int fd = open(file, O_RDONLY | O_CLOEXEC);
    struct engine_request r = *run->request;
    struct progress_run mine = *run;

    if (fd < 0)
        return error_errno(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_ENVIRONMENT, errno,
                           "cannot read '%s'", file);
    r.read_body = read_file;
    r.data = &fd;
    r.content_type = "application/x-tar";
    mine.request = &r;
    mine.idle_timeout_ns = SILENT_NS;
    return engine_progress(e, &mine, ret, err);
}

int engine_image_load(struct engine *e, const char *path, engine_progress_fn *progress, void *data,
                      struct error *err)
{
    CLEANUP_VALUE(progress_end_release) struct progress_end end = {0};
    struct engine_request r = {.method = "POST", .path = "/images/load?quiet=0"};
    struct progress_run run = {.request = &r, .progress = progress, .data = data};

    if (send_file(e, path, &run, &end, err))
        return error_wrap(err, "cannot load images from '%s'", path);
    return 0;
}

int engine_image_import(struct engine *e, const char *path, const char *reference,
                        const struct text_list *changes, char **ret_id, struct error *err)
{
    CLEANUP_VALUE(progress_end_release) struct progress_end end = {0};
    CLEANUP_VALUE(strbuf_release) struct strbuf query = STRBUF_INIT;
    CLEANUP_FREE char *name = NULL, *tag = NULL;

    split_reference(reference, &name, &tag);
    strbuf_adds(&query, "/images/create?fromSrc=-");
    query_add(&query, "repo", name);
    query_add(&query, "tag", tag);
    for (size_t i = 0; changes && i < changes->len; i++)
        query_add(&query, "changes", changes->items[i]);
    struct engine_request r = {.method = "POST", .path = query.data};
    if (send_file(e, path, &(struct progress_run){.request = &r}, &end, err))
        return error_wrap(err, "cannot import '%s' as image '%s'", path, reference);
    if (!end.id)
        return error_set(err, ERROR_ENVIRONMENT,
                         "cannot import '%s' as image '%s': the stream ended without an id", path, reference);
    *ret_id = TAKE(end.id);
    return 0;
}
