/* SPDX-License-Identifier: MIT */
#include "benchctl/sample.h"

#include <stdio.h>
#include "benchctl/archive.h"

#define SHOWN_BYTES 16

static bool is_gzip(const char *bytes, size_t len)
{
    return len >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0;
}

/* Behind a brace: "NAME" and no colon, or it is a JSON object. */
static bool is_quoted_name(const char *bytes, size_t len)
{
    const char *end = len && *bytes == '"' ? memchr(bytes + 1, '"', len - 1) : NULL;

    if (!end)
        return false;
    for (end++; end < bytes + len && (*end == ' ' || *end == '\t'); end++)
        ;
    return end < bytes + len && *end != ':';
}

/* Metric text begins with a comment or a name, or with a brace where names are quoted. */
static bool is_metric_text(const char *bytes, size_t len)
{
    size_t i = 0;

    if (memchr(bytes, '\0', len))
        return false;
    if (len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        i = 3;
    while (i < len && strchr(" \t\r\n", bytes[i]))
        i++;
    if (i == len)
        return false;
    if (bytes[i] == '{')
        return is_quoted_name(bytes + i + 1, len - i - 1);
    return bytes[i] == '#' || bytes[i] == '_' || bytes[i] == ':' || (bytes[i] >= 'a' && bytes[i] <= 'z') ||
           (bytes[i] >= 'A' && bytes[i] <= 'Z');
}

static int not_metrics(const char *bytes, size_t len, struct error *err)
{
    char shown[SHOWN_BYTES * 3 + 1] = "";

    if (!len)
        return error_set(err, ERROR_INVALID, "the body is empty");
    for (size_t i = 0; i < len && i < SHOWN_BYTES; i++)
        (void)snprintf(shown + i * 3, 4, " %02x", (unsigned char)bytes[i]);
    return error_set(err, ERROR_INVALID, "the body is not metric text, it begins with%s", shown);
}

int prom_plain_body(const char *bytes, size_t len, struct strbuf *out, const char **ret_warning,
                    struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf unpacked = STRBUF_INIT;
    const char *warning = NULL;

    if (len > PROM_MAX_BYTES)
        return error_set(err, ERROR_INVALID, "the body has more than %zu MiB", PROM_MAX_BYTES >> 20);
    if (is_gzip(bytes, len)) {
        if (archive_unpack_gzip(bytes, len, PROM_MAX_BYTES, &unpacked, err) < 0)
            return error_wrap(err, "the body");
        warning = "sent compressed although that was not asked for";
        bytes = strbuf_text(&unpacked);
        len = unpacked.len;
    }
    if (!is_metric_text(bytes, len))
        return not_metrics(bytes, len, err);
    strbuf_add(out, bytes, len);
    *ret_warning = warning;
    return 0;
}
