/* SPDX-License-Identifier: MIT */
/* Member names: what is allowed, how they print, which were seen. */
#include <search.h>
#include <stdint.h>
#include <strings.h>
#include "benchctl/base/log.h"
#include "internal.h"

#define NAME_PART_MAX 255
#define NAME_SET_MAX_BYTES ((size_t)256 << 20)
#define PRINTED 200 /* bytes of a name in a message */

int archive_name_check(const char *name, struct error *err)
{
    char shown[PRINTED];

    (void)archive_printable(name, shown, sizeof(shown));
    if (!*name)
        return error_set(err, ERROR_INVALID, "a member has an empty name");
    if (name[0] == '/')
        return error_set(err, ERROR_INVALID, "member '%s' has an absolute name", shown);
    if (strlen(name) > ARCHIVE_NAME_MAX)
        return error_set(err, ERROR_INVALID, "member '%s' has a name longer than %d bytes", shown,
                         ARCHIVE_NAME_MAX);
    for (const char *part = name; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL) {
        size_t len = strcspn(part, "/");

        if (len == 0 || (len == 1 && part[0] == '.') || (len == 2 && part[0] == '.' && part[1] == '.'))
            return error_set(err, ERROR_INVALID, "member '%s' has '%.*s' as a part of its name", shown,
                             (int)len, part);
        if (len > NAME_PART_MAX)
            return error_set(err, ERROR_INVALID, "member '%s' has a part longer than %d bytes", shown,
                             NAME_PART_MAX);
    }
    return 0;
}

bool name_normalise(char *name)
{
    char *out = name;
    bool as_written = true, absolute = name[0] == '/';

    for (const char *part = name + absolute; *part;) {
        size_t len = strcspn(part, "/");
        bool drop = len == 0 || (len == 1 && part[0] == '.');

        as_written &= !drop;
        if (!drop) {
            if (out > name || absolute)
                *out++ = '/';
            memmove(out, part, len);
            out += len;
        }
        part += len + (part[len] == '/');
    }
    *out = '\0';
    return as_written;
}

/* One UTF-8 character at p that is fit to print: its length; 0 when it is not. */
static size_t plain_length(const unsigned char *p)
{
    uint32_t c;
    size_t len = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

    if (len <= 1)
        return len && p[0] >= 0x20 && p[0] != 0x7f && p[0] != '\\';
    c = p[0] & (0x7fU >> len);
    for (size_t i = 1; i < len; i++) {
        if (p[i] >> 6 != 2)
            return 0;
        c = c << 6 | (p[i] & 0x3fU);
    }
    if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) || c < 0xa0 || c == 0xfeff)
        return 0;
    if ((c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f))
        return 0; /* no width, line breaks, writing direction */
    return len;
}

const char *archive_printable(const char *name, char *buf, size_t size)
{
    const unsigned char *p = (const unsigned char *)name;
    size_t n = 0;

    while (*p) {
        char escaped[5];
        size_t len = plain_length(p), used = len ? len : 1;

        if (!len)
            (void)snprintf(escaped, sizeof(escaped), *p == '\n' ? "\\n" : *p == '\t' ? "\\t" : "\\x%02x", *p);
        const char *from = len ? (const char *)p : escaped;
        len = len ? len : strlen(escaped);
        if (n + len + 4 > size) { /* "..." and the NUL always fit */
            memcpy(buf + n, "...", 3);
            n += 3;
            break;
        }
        memcpy(buf + n, from, len);
        n += len;
        p += used;
    }
    buf[n] = '\0';
    return buf;
}

/* --- names seen --- */

enum name_kind { NAME_FILE, NAME_DIR, NAME_PARENT /* a directory that only other names tell of */ };

struct seen_name {
    enum name_kind kind;
    char name[];
};

/* Balanced trees, so that no choice of names makes them slow. */
struct name_set {
    void *by_name, *by_folded;
    size_t bytes;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct seen_name *)a)->name, ((const struct seen_name *)b)->name);
}

static int compare_folded(const void *a, const void *b)
{
    return strcasecmp(((const struct seen_name *)a)->name, ((const struct seen_name *)b)->name);
}

struct name_set *name_set_new(void)
{
    return xcalloc(1, sizeof(struct name_set));
}

static void keep(void *node)
{
    (void)node;
}

void name_set_free(struct name_set *s)
{
    if (!s)
        return;
    tdestroy(s->by_folded, keep);
    tdestroy(s->by_name, free);
    free(s);
}

/* The name's place in the tree; a new one gets `kind`. */
static struct seen_name *intern(struct name_set *s, const char *name, size_t len, enum name_kind kind,
                                bool *ret_new)
{
    struct seen_name *n = xmalloc(sizeof(*n) + len + 1);

    n->kind = kind;
    memcpy(n->name, name, len);
    n->name[len] = '\0';
    struct seen_name **slot = tsearch(n, &s->by_name, compare_names);
    if (!slot)
        abort(); /* out of memory */
    *ret_new = *slot == n;
    if (*slot != n)
        free(n);
    else
        s->bytes += len + 64;
    return *slot;
}

static void warn_of_twin(struct name_set *s, struct seen_name *n)
{
    char one[PRINTED], two[PRINTED];
    struct seen_name **slot = tsearch(n, &s->by_folded, compare_folded);

    if (!slot)
        abort();
    if (*slot != n)
        warn("members '%s' and '%s' differ only in case: some file systems take them for one",
             archive_printable((*slot)->name, one, sizeof(one)),
             archive_printable(n->name, two, sizeof(two)));
}

int name_set_add(struct name_set *s, const char *name, bool is_dir, struct error *err)
{
    char shown[PRINTED];
    bool is_new;

    (void)archive_printable(name, shown, sizeof(shown));
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        if (intern(s, name, (size_t)(slash - name), NAME_PARENT, &is_new)->kind == NAME_FILE)
            return error_set(err, ERROR_INVALID, "member '%s' lies below a member that is a file", shown);
    }
    struct seen_name *n = intern(s, name, strlen(name), is_dir ? NAME_DIR : NAME_FILE, &is_new);
    if (!is_new && n->kind == NAME_PARENT && is_dir)
        n->kind = NAME_DIR;
    else if (!is_new)
        return error_set(err, ERROR_INVALID, "member '%s' is there twice", shown);
    else
        warn_of_twin(s, n);
    if (s->bytes > NAME_SET_MAX_BYTES)
        return error_set(err, ERROR_INVALID, "the members' names take more than %zu bytes",
                         NAME_SET_MAX_BYTES);
    return 0;
}
