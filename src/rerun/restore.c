/* SPDX-License-Identifier: MIT */
/* A bundle's inputs, laid out as they lay when it was made. */
#include "place.h"

#include <string.h>
#include <sys/statvfs.h>

#include "benchctl/base/fs.h"

#define INPUT_MAX ((size_t)1 << 30) /* as much as a run directory takes */
/* Of all that is laid out: one file of a bundle may be named as many inputs as its list has. */
#define TOTAL_MAX ((uint64_t)1 << 30)
#define ROOM_LEFT ((uint64_t)256 << 20) /* free space that a bundle does not get */
#define MATRIX_NAME "matrix.yaml"

struct waiting_link {
    char *base, *path, *target;
};

/* Links are made when all files are there, so that no file is written through one. */
struct restoring {
    const struct rerun_restore *options;
    struct place place;
    char *matrix_dir; /* below the top */
    uint64_t room;    /* bytes that may still be laid out */
    struct rerun_tree *tree;
    VEC(struct waiting_link) links;
};

static void restoring_release(struct restoring *r)
{
    vec_each (l, &r->links) {
        free(l->base);
        free(l->path);
        free(l->target);
    }
    vec_release(&r->links);
    free(r->matrix_dir);
    place_close(&r->place);
}

void rerun_tree_release(struct rerun_tree *t)
{
    free(t->root);
    free(t->matrix);
    vec_each (l, &t->leaving)
        free(*l);
    vec_release(&t->leaving);
}

static void measure_room(struct restoring *r)
{
    struct statvfs fs;

    r->room = TOTAL_MAX;
    if (fstatvfs(r->place.fd, &fs) < 0)
        return;
    uint64_t there = (uint64_t)fs.f_bavail * fs.f_frsize, given = there > ROOM_LEFT ? there - ROOM_LEFT : 0;
    r->room = given < r->room ? given : r->room;
}

static int put_file(struct restoring *r, const struct spot *spot, const struct placed_file *f,
                    struct error *err)
{
    if (f->content->len > r->room) {
        (void)error_set(err, ERROR_INVALID, "the bundle's inputs are too large to be laid out here");
        return error_hint(err, "all of them are %llu MiB at most, and %llu MiB stay free",
                          (unsigned long long)(TOTAL_MAX >> 20), (unsigned long long)(ROOM_LEFT >> 20));
    }
    r->room -= f->content->len;
    return place_file(spot, f, err);
}

static int read_kept(const struct restoring *r, const char *folder, const char *name, struct strbuf *out,
                     struct error *err)
{
    CLEANUP_FREE char *dir = path_join(r->options->bundle, folder);
    CLEANUP_FREE char *path = path_join(dir, name);

    out->max = INPUT_MAX + 1;
    if (fs_read(path, INPUT_MAX, out, err) == 0)
        return 0;
    if (err->kind == ERROR_NOT_FOUND)
        return error_set(err, ERROR_INVALID, "the bundle does not hold its input '%s'", name);
    return -1;
}

/* --- directories --- */

static void note_link(struct restoring *r, const char *base, const struct archive_member *m)
{
    char path[200], target[200];

    if (link_stays(m->name, m->link))
        vec_push(&r->links, (struct waiting_link){xstrdup(base), xstrdup(m->name), xstrdup(m->link)});
    else
        vec_push(&r->tree->leaving, xasprintf("%s -> %s", archive_printable(m->name, path, sizeof(path)),
                                              archive_printable(m->link, target, sizeof(target))));
}

static int add_member(struct restoring *r, const char *base, struct archive_reader *tar,
                      const struct archive_member *m, struct error *err)
{
    const struct spot spot = {&r->place, base};
    CLEANUP_VALUE(strbuf_release) struct strbuf content = {.max = INPUT_MAX + 1};
    char chunk[65536];
    ptrdiff_t n;

    if (m->link) {
        note_link(r, base, m);
        return 0;
    }
    if (m->is_dir)
        return place_dir(&spot, m->name, err);
    while ((n = archive_reader_read(tar, chunk, sizeof(chunk), err)) > 0)
        strbuf_add(&content, chunk, (size_t)n);
    if (n < 0)
        return -1;
    if (content.overflow)
        return error_set(err, ERROR_INVALID, "'%s' is too large for an input", m->name);
    const struct placed_file f = {.path = m->name, .content = &content, .executable = m->executable};
    return put_file(r, &spot, &f, err);
}

static int add_directory(struct restoring *r, const struct rerun_input *in, struct error *err)
{
    CLEANUP(archive_reader_free) struct archive_reader *tar = NULL;
    CLEANUP_FREE char *below = xasprintf("inputs/%s", in->name), *path = path_join(r->options->bundle, below);
    CLEANUP_FREE char *base = xasprintf("%s/%s", r->matrix_dir, in->path);
    const struct spot spot = {&r->place, r->matrix_dir};
    struct archive_limits limits = ARCHIVE_LIMITS_DEFAULT;
    struct archive_member m;
    int more;

    limits.symlinks = true;
    limits.max_total_bytes = INPUT_MAX;
    if (place_dir(&spot, in->path, err) < 0)
        return -1;
    if (archive_reader_open(path, &limits, &tar, err) < 0)
        return err->kind == ERROR_NOT_FOUND
                   ? error_set(err, ERROR_INVALID, "the bundle does not hold its input '%s'", in->name)
                   : -1;
    while ((more = archive_reader_next(tar, &m, err)) > 0)
        if (add_member(r, base, tar, &m, err) < 0)
            return -1;
    return more;
}

/* --- files --- */

static int add_file(struct restoring *r, const struct rerun_input *in, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf content = STRBUF_INIT;
    const struct spot spot = {&r->place, r->matrix_dir};
    const struct placed_file f = {.path = in->path, .content = &content};

    return read_kept(r, "inputs", in->name, &content, err) < 0 ? -1 : put_file(r, &spot, &f, err);
}

/* One of benchctl's own is here already, in the version that is here. */
static int add_adapter(struct restoring *r, const struct rerun_adapter *x, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf content = STRBUF_INIT;
    CLEANUP_FREE char *path = xasprintf("adapters/%s/%s.yaml", x->kind, x->name);
    const struct spot spot = {&r->place, r->matrix_dir};
    const struct placed_file f = {.path = path, .content = &content};

    if (x->shipped)
        return 0;
    return read_kept(r, "inputs", x->file, &content, err) < 0 ? -1 : put_file(r, &spot, &f, err);
}

/* The last word: a copy that came with a directory may be another one, with its secrets. */
static int add_matrix(struct restoring *r, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf content = STRBUF_INIT;
    const struct spot top = {&r->place, ""};
    const struct placed_file f = {.path = r->options->inputs->matrix, .content = &content, .replace = true};

    return read_kept(r, "", MATRIX_NAME, &content, err) < 0 ? -1 : place_file(&top, &f, err);
}

static int add_all(struct restoring *r, struct error *err)
{
    const struct rerun_inputs *in = r->options->inputs;

    for (size_t i = 0; i < in->input_count; i++) {
        const struct rerun_input *one = &in->inputs[i];
        if ((one->is_dir ? add_directory : add_file)(r, one, err) < 0)
            return error_wrap(err, "restoring '%s'", one->path);
    }
    for (size_t i = 0; i < in->adapter_count; i++)
        if (add_adapter(r, &in->adapters[i], err) < 0)
            return error_wrap(err, "restoring adapter '%s'", in->adapters[i].name);
    if (add_matrix(r, err) < 0)
        return error_wrap(err, "restoring the matrix");
    vec_each (l, &r->links) {
        const struct spot spot = {&r->place, l->base};
        if (place_link(&spot, l->path, l->target, err) < 0)
            return -1;
    }
    return 0;
}

/* Said twice is better: whatever a link's text says, on the disk it leads to something of its own directory.
 */
static int check_links(const struct restoring *r, struct error *err)
{
    vec_each (l, &r->links) {
        CLEANUP_FREE char *base = path_join(r->options->root, l->base), *path = path_join(base, l->path),
                          *top = realpath(base, NULL), *real = realpath(path, NULL);
        size_t len = top ? strlen(top) : 0;
        char shown[200];
        if (!top || (real && (strncmp(real, top, len) != 0 || (real[len] != '/' && real[len]))))
            return error_set(err, ERROR_INVALID, "the link '%s' leads out of its directory",
                             archive_printable(l->path, shown, sizeof(shown)));
    }
    return 0;
}

int rerun_restore(const struct rerun_restore *options, struct rerun_tree *ret, struct error *err)
{
    CLEANUP_VALUE(rerun_tree_release) struct rerun_tree tree = {0};
    CLEANUP_VALUE(restoring_release) struct restoring r = {.options = options, .tree = &tree};
    struct error ignored = ERROR_INIT;

    r.matrix_dir = path_dirname(options->inputs->matrix);
    if (place_open(options->root, &r.place, err) < 0)
        return -1;
    measure_room(&r);
    if (add_all(&r, err) < 0 || check_links(&r, err) < 0) {
        (void)!fs_remove_tree(options->root, &ignored);
        return -1;
    }
    tree.root = realpath(options->root, NULL);
    if (!tree.root)
        return error_set(err, ERROR_ENVIRONMENT, "cannot find '%s' again", options->root);
    tree.matrix = path_join(tree.root, options->inputs->matrix);
    *ret = tree;
    tree = (struct rerun_tree){0};
    return 0;
}
