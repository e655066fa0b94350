/* SPDX-License-Identifier: MIT */
/* Looking into a bundle without trusting it. */
#include <inttypes.h>
#include "internal.h"

/* A bundle that is named on the command line and is not there is a matter of the command line. */
static int open_named(const char *path, struct bundle_reader **ret, struct error *err)
{
    if (bundle_reader_open(path, ret, err) == 0)
        return 0;
    if (err->kind == ERROR_NOT_FOUND)
        err->kind = ERROR_USAGE;
    if (fs_is_dir(path))
        (void)error_hint(err, rundir_is(path)
                                  ? "this is a run directory: `benchctl bundle create` makes a bundle of it"
                                  : "name a bundle, a file NAME.tar.zst");
    return -1;
}

/* Every message names the bundle. */
static int named(const char *path, struct error *err)
{
    return strstr(err->message, path) ? -1 : error_wrap(err, "'%s'", path);
}

static int read_all(struct bundle_reader *b, struct error *err)
{
    const struct manifest_member *m;
    int more;

    while ((more = bundle_reader_next(b, &m, err)) > 0)
        ;
    return more;
}

static int summarise(struct bundle_reader *b, struct bundle_summary *ret, struct error *err)
{
    const struct manifest *m = bundle_reader_manifest(b);

    if (read_all(b, err) < 0)
        return -1;
    *ret =
        (struct bundle_summary){.members = (int64_t)m->members.len, .bytes = m->bytes, .schema = m->schema};
    return 0;
}

int bundle_verify(const char *path, struct bundle_summary *ret, struct error *err)
{
    CLEANUP(bundle_reader_free) struct bundle_reader *b = NULL;

    return open_named(path, &b, err) < 0 || summarise(b, ret, err) < 0 ? named(path, err) : 0;
}

int bundle_verify_memory(const void *bytes, size_t len, struct bundle_summary *ret, struct error *err)
{
    CLEANUP(bundle_reader_free) struct bundle_reader *b = NULL;

    return bundle_reader_open_memory(bytes, len, &b, err) < 0 ? -1 : summarise(b, ret, err);
}

int bundle_list(const char *path, bundle_visit *visit, void *data, struct error *err)
{
    CLEANUP(bundle_reader_free) struct bundle_reader *b = NULL;

    if (open_named(path, &b, err) < 0 || read_all(b, err) < 0)
        return named(path, err);
    const struct manifest *m = bundle_reader_manifest(b);
    for (size_t i = 0; i < m->members.len; i++) {
        const struct manifest_member *member = &m->members.items[i];
        if (visit(member->name, member->size, member->sha256, data, err) < 0)
            return -1;
    }
    return 0;
}

int bundle_show(const char *path, const char *member, size_t max, struct strbuf *out, struct error *err)
{
    CLEANUP(bundle_reader_free) struct bundle_reader *b = NULL;
    const struct manifest_member *m;
    char shown[200];
    int more;

    if (open_named(path, &b, err) < 0)
        return named(path, err);
    if (text_equal(member, MANIFEST_FILE)) {
        size_t len;
        const char *text = bundle_reader_manifest_text(b, &len);
        strbuf_add(out, text, len);
        return 0;
    }
    while ((more = bundle_reader_next(b, &m, err)) > 0) {
        if (strcmp(m->name, member) == 0)
            return bundle_reader_take(b, max, out, err) < 0 ? named(path, err) : 0;
    }
    if (more < 0)
        return named(path, err);
    (void)error_set(err, ERROR_USAGE, "'%s' has no member '%s'", path,
                    archive_printable(member, shown, sizeof(shown)));
    return error_hint(err, "`benchctl bundle list %s` shows what is there", path);
}

/* Is there room for what the manifest announces? */
static int check_room(const struct manifest *m, const char *dir, struct error *err)
{
    int64_t room, wanted = m->bytes + (int64_t)m->members.len * 4096;

    if (fs_free_bytes(dir, &room, err) < 0)
        return -1;
    if (room < wanted) {
        (void)error_set(err, ERROR_ENVIRONMENT,
                        "'%s' has room for %" PRId64 " bytes, the bundle needs %" PRId64, dir, room, wanted);
        return error_hint(err, "free some space or extract elsewhere");
    }
    return 0;
}

int bundle_extract(const char *path, const char *dir, struct error *err)
{
    CLEANUP(archive_target_free) struct archive_target *t = NULL;
    CLEANUP(bundle_reader_free) struct bundle_reader *b = NULL;
    const struct manifest_member *m;
    struct bundle_summary s;
    int more;

    /* nothing is written before all of it has been seen to be right */
    if (bundle_verify(path, &s, err) < 0 || open_named(path, &b, err) < 0 ||
        check_room(bundle_reader_manifest(b), dir, err) < 0 || archive_target_open(dir, &t, err) < 0)
        return -1;
    while ((more = bundle_reader_next(b, &m, err)) > 0) {
        if (bundle_reader_extract(b, t, err) < 0)
            return -1;
    }
    if (more == 0)
        archive_target_keep(t);
    return more;
}
