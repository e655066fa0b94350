/* SPDX-License-Identifier: MIT */
/* A bundle member by member: exactly what the manifest lists, in its order, then the seal, then nothing. */
#include "internal.h"

#define MANIFEST_MAX ((size_t)128 << 20)
#define SEAL_MAX ((size_t)65536)

struct bundle_reader {
    struct archive_reader *archive;
    struct manifest manifest;
    struct strbuf manifest_text;
    char manifest_sha256[SHA256_HEX_SIZE];
    size_t next;                          /* index of the member to come */
    struct archive_member member;         /* the archive's word on the current one */
    const struct manifest_member *listed; /* the manifest's; NULL: checked to its end */
    struct sha256 *hash;
    int64_t got;
};

void bundle_reader_free(struct bundle_reader *b)
{
    if (!b)
        return;
    archive_reader_free(b->archive);
    manifest_release(&b->manifest);
    strbuf_release(&b->manifest_text);
    sha256_free(b->hash);
    free(b);
}

const struct manifest *bundle_reader_manifest(const struct bundle_reader *b)
{
    return &b->manifest;
}

const char *bundle_reader_manifest_text(const struct bundle_reader *b, size_t *ret_len)
{
    *ret_len = b->manifest_text.len;
    return strbuf_text(&b->manifest_text);
}

static int not_a_bundle(const char *name, struct error *err)
{
    (void)error_set(err, ERROR_INVALID, "'%s' is not a bundle: its first member is not " MANIFEST_FILE, name);
    return error_hint(err, "bundles are written by `benchctl run` and `benchctl bundle create`");
}

/* All bytes of the archive's current member. */
static int slurp(struct bundle_reader *b, size_t max, struct strbuf *out, struct error *err)
{
    char chunk[16384];
    ptrdiff_t n;

    if (b->member.size > (int64_t)max)
        return error_set(err, ERROR_INVALID, "member '%s' is larger than %zu bytes", b->member.name, max);
    while ((n = archive_reader_read(b->archive, chunk, sizeof(chunk), err)) > 0)
        strbuf_add(out, chunk, (size_t)n);
    return n < 0 ? -1 : 0;
}

/* archive is there; reads the manifest. */
static int begin(struct bundle_reader *reader, const char *name, struct bundle_reader **ret,
                 struct error *err)
{
    CLEANUP(bundle_reader_free) struct bundle_reader *b = reader;
    int more = archive_reader_next(b->archive, &b->member, err);

    if (more < 0)
        return -1;
    if (more == 0 || !text_equal(b->member.name, MANIFEST_FILE) || b->member.is_dir)
        return not_a_bundle(name, err);
    if (slurp(b, MANIFEST_MAX, &b->manifest_text, err) < 0)
        return -1;
    sha256_hex(strbuf_text(&b->manifest_text), b->manifest_text.len, b->manifest_sha256);
    if (manifest_parse(strbuf_text(&b->manifest_text), b->manifest_text.len, &b->manifest, err) < 0)
        return error_wrap(err, "'%s'", name);
    b->hash = sha256_new();
    *ret = TAKE(b);
    return 0;
}

static struct archive_limits limits(void)
{
    struct archive_limits l = ARCHIVE_LIMITS_DEFAULT;

    l.one_zstd_frame = true;
    return l;
}

int bundle_reader_open(const char *path, struct bundle_reader **ret, struct error *err)
{
    CLEANUP(bundle_reader_free) struct bundle_reader *b = xcalloc(1, sizeof(*b));
    struct archive_limits l = limits();

    if (archive_reader_open(path, &l, &b->archive, err) < 0)
        return -1;
    return begin(TAKE(b), path, ret, err);
}

int bundle_reader_open_memory(const void *bytes, size_t len, struct bundle_reader **ret, struct error *err)
{
    CLEANUP(bundle_reader_free) struct bundle_reader *b = xcalloc(1, sizeof(*b));
    struct archive_limits l = limits();

    if (archive_reader_open_memory(bytes, len, "bundle", &l, &b->archive, err) < 0)
        return -1;
    return begin(TAKE(b), "bundle", ret, err);
}

static void see(const void *bytes, size_t len, void *data)
{
    struct bundle_reader *b = data;

    sha256_update(b->hash, bytes, len);
    b->got += (int64_t)len;
}

/* All bytes of the current member went through see(). */
static int check_member(struct bundle_reader *b, struct error *err)
{
    const struct manifest_member *m = b->listed;
    char hex[SHA256_HEX_SIZE];

    sha256_final(b->hash, hex);
    b->listed = NULL;
    if (b->got != m->size || strcmp(hex, m->sha256) != 0)
        return error_set(err, ERROR_INVALID,
                         "member '%s' is not what " MANIFEST_FILE " says: its SHA-256 differs", m->name);
    return 0;
}

/* What the caller left of the current member. */
static int drain(struct bundle_reader *b, struct error *err)
{
    char chunk[65536];
    ptrdiff_t n;

    if (!b->listed)
        return 0;
    while ((n = archive_reader_read(b->archive, chunk, sizeof(chunk), err)) > 0)
        see(chunk, (size_t)n, b);
    return n < 0 ? -1 : check_member(b, err);
}

static bool is_listed(const struct manifest *m, const char *name)
{
    for (size_t low = 0, high = m->members.len; low < high;) {
        size_t middle = (low + high) / 2;
        int r = strcmp(m->members.items[middle].name, name);

        if (r == 0)
            return true;
        if (r < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* The archive has `name` (NULL: its end) where the manifest has another member. */
static int mismatch(const struct bundle_reader *b, const char *name, struct error *err)
{
    const struct manifest_member *wanted =
        b->next < b->manifest.members.len ? &b->manifest.members.items[b->next] : NULL;
    char shown[200];

    if (name && !text_equal(name, SEAL_FILE) && !is_listed(&b->manifest, name))
        return error_set(err, ERROR_INVALID, "member '%s' is not in " MANIFEST_FILE,
                         archive_printable(name, shown, sizeof(shown)));
    if (wanted)
        return error_set(err, ERROR_INVALID, "member '%s' is missing or not in its place", wanted->name);
    if (name)
        return error_set(err, ERROR_INVALID, "member '%s' is not in its place",
                         archive_printable(name, shown, sizeof(shown)));
    return error_set(err, ERROR_INVALID, "the bundle is cut short: it has no " SEAL_FILE);
}

/* After the last listed member: the seal and the archive's end. */
static int finish(struct bundle_reader *b, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (slurp(b, SEAL_MAX, &text, err) < 0 ||
        seal_check(&b->manifest, b->manifest_sha256, strbuf_text(&text), text.len, err) < 0)
        return -1;
    int more = archive_reader_next(b->archive, &b->member, err);
    return more > 0 ? mismatch(b, b->member.name, err) : more;
}

int bundle_reader_next(struct bundle_reader *b, const struct manifest_member **ret, struct error *err)
{
    const struct manifest_member *wanted =
        b->next < b->manifest.members.len ? &b->manifest.members.items[b->next] : NULL;

    if (drain(b, err) < 0)
        return -1;
    int more = archive_reader_next(b->archive, &b->member, err);
    if (more < 0)
        return -1;
    if (more == 0 || strcmp(b->member.name, wanted ? wanted->name : SEAL_FILE) != 0)
        return mismatch(b, more ? b->member.name : NULL, err);
    if (b->member.is_dir || !b->member.as_written)
        return error_set(err, ERROR_INVALID, "member '%s' is not a plain file", b->member.name);
    if (!wanted)
        return finish(b, err);
    if (b->member.size != wanted->size)
        return error_set(err, ERROR_INVALID,
                         "member '%s' is not what " MANIFEST_FILE " says: its size differs", wanted->name);
    b->listed = wanted;
    b->got = 0;
    b->next++;
    *ret = wanted;
    return 1;
}

int bundle_reader_take(struct bundle_reader *b, size_t max, struct strbuf *out, struct error *err)
{
    size_t before = out->len;

    if (slurp(b, max, out, err) < 0)
        return -1;
    if (out->overflow)
        return error_set(err, ERROR_INVALID, "member '%s' is larger than %zu bytes", b->member.name, max);
    see(strbuf_text(out) + before, out->len - before, b);
    return check_member(b, err);
}

int bundle_reader_extract(struct bundle_reader *b, struct archive_target *t, struct error *err)
{
    if (archive_target_add(t, b->archive, &b->member, see, b, err) < 0)
        return -1;
    return check_member(b, err);
}
