/* SPDX-License-Identifier: MIT */
/* A scenario's id: its axis values made safe for file names and joined by '/'. */
#include <string.h>

#include "benchctl/plan.h"

#define PART_MAX 120  /* bytes of one part; file systems allow 255, and suffixes need room */
#define PART_KEPT 100 /* of a longer one, before "~" and the first digits of its SHA-256 */
#define PART_DIGITS 16

static bool is_safe(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("._-+", c) != NULL);
}

/*
 * Different texts give different parts: '%' is itself written as %25, and '~' appears only before the digest
 * of a text that was cut.
 */
void scenario_id_part(const char *text, struct strbuf *out)
{
    size_t start = out->len, kept = 0;
    bool dots = strcmp(text, ".") == 0 || strcmp(text, "..") == 0;

    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (is_safe(*c) && !dots)
            strbuf_addc(out, (char)*c);
        else
            strbuf_addf(out, "%%%02X", *c);
        if (out->len - start <= PART_KEPT)
            kept = out->len;
    }
    if (out->len - start <= PART_MAX)
        return;
    char hex[SHA256_HEX_SIZE], tail[PART_DIGITS + 2];
    sha256_hex(text, strlen(text), hex);
    (void)snprintf(tail, sizeof(tail), "~%.*s", PART_DIGITS, hex);
    out->len = kept;
    strbuf_adds(out, tail);
}
