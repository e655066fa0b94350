/* SPDX-License-Identifier: MIT */
/* A run directory as a bundle. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include "benchctl/base/log.h"
#include "internal.h"

#define LINKS_SHOWN 5

/* A file of the directory: what it was when its hash was taken. */
struct source {
    char *path; /* below the directory */
    struct stat st;
};

struct packing {
    const char *dir;
    bool with_images;
    struct manifest manifest;
    VEC(struct source) sources; /* one per member, in the same order once sorted */
    struct strbuf links;        /* the first names of what is a link and so left out */
    size_t link_count;
};

static void packing_release(struct packing *p)
{
    vec_each (s, &p->sources)
        free(s->path);
    vec_release(&p->sources);
    manifest_release(&p->manifest);
    strbuf_release(&p->links);
}

/* What only has a meaning while or where the sweep runs. */
static bool is_left_out(const struct packing *p, const char *relative)
{
    return (!p->with_images && text_starts(relative, BUNDLE_IMAGES_DIR "/")) ||
           text_equal(relative, MANIFEST_FILE) || text_equal(relative, SEAL_FILE) ||
           text_starts(relative, BUNDLE_STATUS_START) || text_starts(relative, BUNDLE_RERUN_TREE "/") ||
           text_starts(relative, "journal.damaged-") ||
           (text_ends(relative, ".tmp") && !strstr(relative, "/artifacts/"));
}

/* Links lead to what is not the bundle's: none goes in, but whoever has moved a trial elsewhere is told. */
static void note_links(struct packing *p, const char *relative)
{
    CLEANUP_FREE char *path = path_join(p->dir, relative);
    CLEANUP(closedir) DIR *d = opendir(path);

    for (struct dirent *e; d && (e = readdir(d));) {
        CLEANUP_FREE char *below = path_join(path, e->d_name);
        struct stat st;
        char shown[200];
        if (lstat(below, &st) < 0 || !S_ISLNK(st.st_mode))
            continue;
        if (p->link_count++ < LINKS_SHOWN)
            strbuf_addf(&p->links, "%s'%s'", p->links.len ? ", " : "",
                        archive_printable(below + strlen(p->dir) + 1, shown, sizeof(shown)));
    }
}

static void warn_of_links(const struct packing *p)
{
    if (p->link_count > LINKS_SHOWN)
        warn("links are left out of the bundle: %s and %zu more", strbuf_text(&p->links),
             p->link_count - LINKS_SHOWN);
    else if (p->link_count)
        warn("links are left out of the bundle: %s", strbuf_text(&p->links));
}

/* Of artifacts links are what the application has made: they are none of ours. */
static bool has_our_links(const char *relative)
{
    return (text_equal(relative, TRIALS_DIR) || text_starts(relative, TRIALS_DIR "/")) &&
           !strstr(relative, "/artifacts");
}

static int collect(const char *relative, bool is_dir, int64_t size, void *data, struct error *err)
{
    struct packing *p = data;
    struct source s = {0};

    (void)size;
    (void)err;
    if (is_dir && has_our_links(relative))
        note_links(p, relative);
    if (is_dir || is_left_out(p, relative))
        return 0;
    s.path = xstrdup(relative);
    vec_push(&p->sources, s);
    return 0;
}

static int compare_sources(const void *a, const void *b)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf one = STRBUF_INIT, two = STRBUF_INIT;

    member_name_from(((const struct source *)a)->path, &one);
    member_name_from(((const struct source *)b)->path, &two);
    return strcmp(strbuf_text(&one), strbuf_text(&two));
}

static int add_to_manifest(struct packing *p, struct source *s, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf name = STRBUF_INIT;
    CLEANUP_FREE char *path = path_join(p->dir, s->path);
    struct manifest_member m = {0};
    char shown[200];

    member_name_from(s->path, &name);
    const struct manifest_member *last =
        p->manifest.members.len ? &p->manifest.members.items[p->manifest.members.len - 1] : NULL;
    if (!member_name_ok(strbuf_text(&name)) || (last && text_equal(last->name, strbuf_text(&name))))
        return error_set(err, ERROR_INVALID, "'%s' cannot be put into a bundle: rename it",
                         archive_printable(path, shown, sizeof(shown)));
    if (lstat(path, &s->st) < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot read '%s'", path);
    if (hash_file(path, &m.size, m.sha256, false, err) < 0)
        return -1;
    m.name = arena_strdup(p->manifest.arena, strbuf_text(&name));
    if (member_check_blob(&m, err) < 0)
        return error_hint(err, "remove '%s/" BUNDLE_IMAGES_DIR "' and let them be exported again", p->dir);
    p->manifest.bytes += m.size;
    vec_push(&p->manifest.members, m);
    return 0;
}

/* The same file with the same content as when it was hashed, as far as the file system can tell. */
static bool unchanged(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static int write_members(struct packing *p, struct archive_writer *w, struct error *err)
{
    for (size_t i = 0; i < p->sources.len; i++) {
        CLEANUP_FREE char *path = path_join(p->dir, p->sources.items[i].path);
        struct stat after;

        if (archive_writer_add_file(w, p->manifest.members.items[i].name, path, err) < 0)
            return -1;
        if (lstat(path, &after) < 0 || !unchanged(&p->sources.items[i].st, &after))
            return error_set(err, ERROR_ENVIRONMENT, "'%s' changed while the bundle was written", path);
    }
    return 0;
}

static int write_archive(struct packing *p, const char *path, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf manifest = STRBUF_INIT, seal = STRBUF_INIT;
    CLEANUP(archive_writer_free) struct archive_writer *w = NULL;
    char sha256[SHA256_HEX_SIZE];

    manifest_format(&p->manifest, &manifest);
    if (manifest.overflow)
        return error_set(err, ERROR_INVALID, "'%s' holds too many files for a bundle", p->dir);
    sha256_hex(manifest.data, manifest.len, sha256);
    seal_format(&p->manifest, sha256, &seal);
    if (archive_writer_open(path, &w, err) < 0 ||
        archive_writer_add_bytes(w, MANIFEST_FILE, manifest.data, manifest.len, err) < 0 ||
        write_members(p, w, err) < 0 || archive_writer_add_bytes(w, SEAL_FILE, seal.data, seal.len, err) < 0)
        return -1;
    return archive_writer_close(TAKE(w), err);
}

/* A bundle inside the directory would hold the one before it. */
static int check_place(const char *dir, const char *path, struct error *err)
{
    CLEANUP_FREE char *parent = path_dirname(path);
    CLEANUP_FREE char *real_parent = realpath(parent, NULL), *real_dir = realpath(dir, NULL);

    if (!real_parent || !real_dir)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot write '%s'", path);
    CLEANUP_FREE char *inside = xasprintf("%s/", real_dir), *slashed = xasprintf("%s/", real_parent);
    if (text_starts(slashed, inside))
        return error_set(err, ERROR_USAGE, "the bundle '%s' would lie in the run directory itself", path);
    return 0;
}

static int write_bundle(const char *run_dir, const char *path, bool with_images, struct error *err)
{
    CLEANUP_VALUE(packing_release) struct packing p = {.with_images = with_images};
    CLEANUP_FREE char *dir = realpath(run_dir, NULL);

    if (!dir || !rundir_is(dir))
        return error_set(err, ERROR_USAGE, "'%s' is not a run directory", run_dir);
    CLEANUP_FREE char *beside = xasprintf("%s.tar.zst", dir);
    if (!path)
        path = beside;
    p.dir = dir;
    manifest_init(&p.manifest);
    if (check_place(dir, path, err) < 0 || fs_walk(dir, collect, &p, err) < 0)
        return -1;
    note_links(&p, "");
    warn_of_links(&p);
    if (p.sources.len)
        qsort(p.sources.items, p.sources.len, sizeof(struct source), compare_sources);
    vec_each (s, &p.sources) {
        if (add_to_manifest(&p, s, err) < 0)
            return -1;
    }
    return write_archive(&p, path, err);
}

int bundle_write(const char *run_dir, const char *path, struct error *err)
{
    return write_bundle(run_dir, path, false, err);
}

int bundle_write_with_images(const char *run_dir, const char *path, struct error *err)
{
    return write_bundle(run_dir, path, true, err);
}
