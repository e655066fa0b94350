/* SPDX-License-Identifier: MIT */
#include "internal.h"

/* gzip's last four bytes: the unpacked length, little-endian. */
static uint32_t gzip_length(const unsigned char *bytes, size_t len)
{
    const unsigned char *p = bytes + len - 4;

    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static int open_gzip(struct archive *a, const void *bytes, size_t len, struct error *err)
{
    struct archive_entry *entry;

    if (archive_read_support_filter_gzip(a) != ARCHIVE_OK ||
        archive_read_support_format_raw(a) != ARCHIVE_OK ||
        archive_read_open_memory(a, bytes, len) != ARCHIVE_OK ||
        archive_read_next_header(a, &entry) != ARCHIVE_OK)
        return archive_fail(a, ERROR_INVALID, "cannot unpack", "gzip", err);
    return 0;
}

int archive_unpack_gzip(const void *bytes, size_t len, size_t max, struct strbuf *out, struct error *err)
{
    char buffer[16384];
    size_t before = out->len;
    la_ssize_t n;

    if (len < 18 || memcmp(bytes, "\x1f\x8b", 2) != 0) /* header and trailer alone */
        return error_set(err, ERROR_INVALID, "not gzip, or cut short");
    CLEANUP(archive_free) struct archive *a = archive_read_new();
    if (!a)
        abort();
    if (open_gzip(a, bytes, len, err) < 0)
        return -1;
    while ((n = archive_read_data(a, buffer, sizeof(buffer))) > 0) {
        if (out->len - before + (size_t)n > max)
            return error_set(err, ERROR_INVALID, "gzip unpacks to more than %zu bytes", max);
        strbuf_add(out, buffer, (size_t)n);
    }
    if (n < 0)
        return archive_fail(a, ERROR_INVALID, "cannot unpack", "gzip", err);
    if ((uint32_t)(out->len - before) != gzip_length(bytes, len))
        return error_set(err, ERROR_INVALID, "gzip with something else behind it, or cut short");
    return 0;
}
