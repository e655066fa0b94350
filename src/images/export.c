/* SPDX-License-Identifier: MIT */
/*
 * The archive that an engine exports, in any of its forms: layers as ID/layer.tar, some of them links to each
 * other (Docker before 25), or everything as blobs/sha256/DIGEST (later ones; layers may be packed). Which
 * file is what manifest.json says, which often comes last: so every file becomes a blob as it comes, and what
 * turns out not to be needed goes again.
 */
#include "internal.h"

#define MANIFEST_FILE "manifest.json"
#define BLOBS_FOLDER "blobs/sha256/"
#define CHUNK ((size_t)65536)
#define ENTRIES_BASE 1000
#define ENTRIES_PER_IMAGE 600 /* folder, version, description and layer for each of at most 128 */
#define LINKS_MAX 8           /* links that point to links */
#define LINK_LENGTH_MAX 1000

struct file {
    char *name;
    char *link; /* where it points, from its own folder; NULL: it is a file */
    struct blob blob;
};

struct export
{
    const struct export_order *order;
    struct archive_reader *reader;
    VEC(struct file) files;
    struct strbuf manifest_text;
    struct json *manifest;
    /* of the file that is being read */
    struct blob_writer *writer;
    char first[CHUNK];
    size_t first_len, first_at;
};

static void export_free(struct export *x)
{
    vec_each (f, &x->files) {
        free(f->name);
        free(f->link);
    }
    vec_release(&x->files);
    archive_reader_free(x->reader);
    strbuf_release(&x->manifest_text);
    json_free(x->manifest);
    blob_writer_free(x->writer);
    free(x);
}
DEFINE_CLEANUP(struct export *, export_free);

static int bad(const char *what, const char *name, struct error *err)
{
    char shown[200];

    return error_set(err, ERROR_INVALID, "the engine's export: %s '%s'", what,
                     archive_printable(name, shown, sizeof(shown)));
}

/* --- file by file --- */

static ptrdiff_t next_bytes(void *buffer, size_t size, void *data, struct error *err)
{
    struct export *x = data;
    size_t n = x->first_len - x->first_at;

    if (!n)
        return archive_reader_read(x->reader, buffer, size, err);
    if (n > size)
        n = size;
    memcpy(buffer, x->first + x->first_at, n);
    x->first_at += n;
    return (ptrdiff_t)n;
}

static int keep_bytes(const void *bytes, size_t len, void *data, struct error *err)
{
    struct export *x = data;

    return blob_writer_add(x->writer, bytes, len, err);
}

/* Fills x->first: enough to know what kind of file it is. */
static int read_first(struct export *x, struct error *err)
{
    ptrdiff_t n = 1;

    x->first_len = x->first_at = 0;
    while (n > 0 && x->first_len < sizeof(x->first)) {
        n = archive_reader_read(x->reader, x->first + x->first_len, sizeof(x->first) - x->first_len, err);
        if (n < 0)
            return -1;
        x->first_len += (size_t)n;
    }
    return 0;
}

static int copy_plain(struct export *x, struct error *err)
{
    CLEANUP_FREE char *chunk = xmalloc(CHUNK);
    ptrdiff_t n;

    while ((n = next_bytes(chunk, CHUNK, x, err)) > 0)
        if (keep_bytes(chunk, (size_t)n, x, err) < 0)
            return -1;
    return n < 0 ? -1 : 0;
}

static int take_file(struct export *x, const struct archive_member *m, struct error *err)
{
    struct file f = {0};

    if (read_first(x, err) < 0 || blob_writer_open(x->order->store, &x->writer, err) < 0)
        return -1;
    const struct archive_pipe pipe = {next_bytes, keep_bytes, x, m->name};
    int r =
        archive_is_packed(x->first, x->first_len) ? archive_unpack_source(&pipe, err) : copy_plain(x, err);
    if (r < 0 || blob_writer_finish(TAKE(x->writer), &f.blob, err) < 0)
        return -1;
    f.name = xstrdup(m->name);
    vec_push(&x->files, f);
    return 0;
}

static int take_manifest(struct export *x, const struct archive_member *m, struct error *err)
{
    ptrdiff_t n;

    if (m->size > (int64_t)DOCUMENT_MAX)
        return bad("too large:", m->name, err);
    while ((n = archive_reader_read(x->reader, x->first, sizeof(x->first), err)) > 0)
        strbuf_add(&x->manifest_text, x->first, (size_t)n);
    return n < 0 ? -1 : 0;
}

static int take_link(struct export *x, const struct archive_member *m, struct error *err)
{
    if (strlen(m->link) > LINK_LENGTH_MAX)
        return bad("a link that points nowhere:", m->name, err);
    vec_push(&x->files, (struct file){.name = xstrdup(m->name), .link = xstrdup(m->link)});
    return 0;
}

/* What older engines read, and nobody needs here. */
static bool is_passed_over(const char *name)
{
    return text_equal(name, "repositories") || text_equal(name, "oci-layout") ||
           text_equal(name, "index.json") || text_ends(name, "/VERSION") || text_ends(name, "/json");
}

static int take_members(struct export *x, struct error *err)
{
    struct archive_member m;
    int more;

    while ((more = archive_reader_next(x->reader, &m, err)) > 0) {
        int r = 0;

        if (m.link)
            r = take_link(x, &m, err);
        else if (!m.is_dir && text_equal(m.name, MANIFEST_FILE))
            r = take_manifest(x, &m, err);
        else if (!m.is_dir && !is_passed_over(m.name))
            r = take_file(x, &m, err);
        if (r < 0)
            return -1;
    }
    return more;
}

/* --- by name --- */

static int compare_files(const void *a, const void *b)
{
    return strcmp(((const struct file *)a)->name, ((const struct file *)b)->name);
}

static const struct file *exact(const struct export *x, const char *name)
{
    const struct file key = {.name = (char *)(uintptr_t)name};

    return x->files.len ? bsearch(&key, x->files.items, x->files.len, sizeof(key), compare_files) : NULL;
}

/* Where a link points, below the archive's root; NULL when it leaves it. */
static char *follow(const char *name, const char *link)
{
    const char *slash = strrchr(name, '/');
    CLEANUP_VALUE(strbuf_release) struct strbuf at = STRBUF_INIT;

    if (*link == '/')
        return NULL;
    strbuf_add(&at, name, slash ? (size_t)(slash - name) : 0);
    for (size_t n; *link; link += n + (link[n] == '/')) {
        n = strcspn(link, "/");
        if (n == 0 || (n == 1 && link[0] == '.'))
            continue;
        if (n != 2 || strncmp(link, "..", 2) != 0) {
            if (at.len)
                strbuf_addc(&at, '/');
            strbuf_add(&at, link, n);
            continue;
        }
        if (!at.len)
            return NULL;
        const char *up = strrchr(at.data, '/');
        at.len = up ? (size_t)(up - at.data) : 0;
        at.data[at.len] = '\0';
    }
    return strbuf_detach(&at);
}

static int find_file(const struct export *x, const char *name, struct blob *ret, struct error *err)
{
    CLEANUP_FREE char *at = xstrdup(name);

    for (int links = 0; links <= LINKS_MAX; links++) {
        const struct file *f = exact(x, at);
        if (!f)
            break;
        if (!f->link) {
            *ret = f->blob;
            return 0;
        }
        char *next = follow(at, f->link);
        free(at);
        at = next;
        if (!at)
            break;
    }
    return bad(at && text_equal(at, name) ? MANIFEST_FILE " names a file that is not there:"
                                          : "a link that points nowhere:",
               name, err);
}

/* --- image by image --- */

/* The entry of manifest.json whose configuration has that hash. */
static const struct json *entry_of(const struct export *x, const char *hex, struct blob *ret_config)
{
    struct error ignored = ERROR_INIT;

    for (size_t k = 0; k < json_len(x->manifest); k++) {
        const char *config = json_get_text(json_at(x->manifest, k), "Config");
        if (config && find_file(x, config, ret_config, &ignored) == 0 && strcmp(ret_config->sha256, hex) == 0)
            return json_at(x->manifest, k);
    }
    return NULL;
}

/* From an id down to the configuration, over manifests where the engine names images by those. */
static const struct json *descend(const struct export *x, const char *hex, struct image *i)
{
    CLEANUP_FREE char *name = xasprintf(BLOBS_FOLDER "%s", hex);
    CLEANUP(json_free) struct json *document = NULL;
    struct error ignored = ERROR_INIT;
    const struct json *entry = entry_of(x, hex, &i->config);
    struct blob b;

    if (entry)
        return entry;
    if (i->parents.len >= PARENTS_MAX || find_file(x, name, &b, &ignored) < 0 || strcmp(b.sha256, hex) != 0 ||
        blob_document(x->order->store, &b, &document, &ignored) < 0)
        return NULL;
    vec_push(&i->parents, b);
    const char *config = digest_hex(json_get_text(json_get(document, "config"), "digest"));
    const struct json *manifests = json_get(document, "manifests");
    if (config)
        entry = descend(x, config, i);
    for (size_t k = 0; !entry && k < json_len(manifests) && k < NAMES_MAX; k++) {
        const char *next = digest_hex(json_get_text(json_at(manifests, k), "digest"));
        entry = next ? descend(x, next, i) : NULL;
    }
    if (!entry)
        i->parents.len--;
    return entry;
}

static int take_image(struct export *x, const char *id, struct error *err)
{
    const char *hex = digest_hex(id);
    struct image i = {.id = arena_strdup(x->order->index->arena, id)};
    const struct json *entry = hex ? descend(x, hex, &i) : NULL, *layers = json_get(entry, "Layers");
    int r = entry ? 0 : bad("has no image", id, err);

    if (r == 0 && json_len(layers) > LAYERS_MAX)
        r = bad("too many layers in image", id, err);
    for (size_t k = 0; r == 0 && k < json_len(layers); k++) {
        const char *name = json_text(json_at(layers, k));
        struct blob b = {0};
        r = find_file(x, name ? name : "", &b, err);
        vec_push(&i.layers, b);
    }
    if (r == 0)
        r = image_check(x->order->store, &i, NULL, err) < 0 ? error_wrap(err, "the engine's export") : 0;
    if (r < 0)
        image_release(&i);
    else
        vec_push(&x->order->index->images, i);
    return r;
}

int export_take(archive_source *source, void *data, const struct export_order *o, struct error *err)
{
    CLEANUP(export_free) struct export *x = xcalloc(1, sizeof(*x));
    struct archive_limits limits = ARCHIVE_LIMITS_DEFAULT;

    limits.symlinks = true;
    limits.max_entries = ENTRIES_BASE + (int64_t)o->count * ENTRIES_PER_IMAGE;
    x->order = o;
    x->manifest_text.max = DOCUMENT_MAX + 1;
    if (archive_reader_open_source(source, data, "the engine's export", &limits, &x->reader, err) < 0 ||
        take_members(x, err) < 0)
        return -1;
    if (!x->manifest_text.len)
        return error_set(err, ERROR_INVALID, "the engine's export has no " MANIFEST_FILE);
    if (json_parse(strbuf_text(&x->manifest_text), x->manifest_text.len, MANIFEST_FILE, &x->manifest, err) <
        0)
        return error_wrap(err, "the engine's export");
    if (x->files.len)
        qsort(x->files.items, x->files.len, sizeof(struct file), compare_files);
    for (size_t k = 0; k < o->count; k++)
        if (take_image(x, o->ids[k], err) < 0)
            return -1;
    return 0;
}
