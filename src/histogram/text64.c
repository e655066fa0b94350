/* SPDX-License-Identifier: MIT */
/* Base64 (RFC 4648, with padding). */
#include "layout.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void text64_encode(const void *bytes, size_t len, struct strbuf *out)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < len; i += 3) {
        size_t left = len - i;
        uint32_t word =
            (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (left > 2 ? p[i + 2] : 0);
        char quad[4] = {alphabet[word >> 18], alphabet[word >> 12 & 63],
                        left > 1 ? alphabet[word >> 6 & 63] : '=', left > 2 ? alphabet[word & 63] : '='};
        strbuf_add(out, quad, sizeof(quad));
    }
}

/* 0..63, or -1. */
static int value_of_char(unsigned char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool text64_decode(const char *text, size_t len, struct strbuf *out)
{
    if (len % 4)
        return false;
    size_t padding = len && text[len - 1] == '=' ? 1 + (text[len - 2] == '=') : 0;

    for (size_t i = 0; i < len; i += 4) {
        size_t chars = i + 4 == len ? 4 - padding : 4;
        uint32_t word = 0;
        for (size_t k = 0; k < 4; k++) {
            int v = k < chars ? value_of_char((unsigned char)text[i + k]) : 0;
            if (v < 0)
                return false;
            word = word << 6 | (uint32_t)v;
        }
        const char triple[3] = {(char)(word >> 16), (char)(word >> 8), (char)word};
        strbuf_add(out, triple, chars - 1);
    }
    return !out->overflow;
}
