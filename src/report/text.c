/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <stdbool.h>
#include <stdint.h>

struct range {
    uint32_t first, last;
};

static bool within(uint32_t c, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

/* Moves the cursor, changes the order of what follows, or cannot be seen. */
static bool is_hostile(uint32_t c)
{
    static const struct range ranges[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},       {0x61c, 0x61c},         {0x200b, 0x200b},
        {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},   {0xd800, 0xdfff},       {0xfeff, 0xfeff},
        {0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe0fff}, {0x110000, UINT32_MAX},
    };
    return within(c, ranges, sizeof(ranges) / sizeof(ranges[0]));
}

/* The blocks of combining marks and joiners that occur in practice. */
static bool is_combining(uint32_t c)
{
    static const struct range ranges[] = {
        {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
        {0x64b, 0x65f},   {0x93c, 0x93c},   {0x94d, 0x94d},   {0xe31, 0xe31},
        {0xe34, 0xe3a},   {0xe47, 0xe4e},   {0x200c, 0x200d}, {0x1ab0, 0x1aff},
        {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
    };
    return within(c, ranges, sizeof(ranges) / sizeof(ranges[0]));
}

/* East Asian wide and full-width letters, and emoji. */
static bool is_wide(uint32_t c)
{
    static const struct range ranges[] = {
        {0x1100, 0x115f}, {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},
        {0xa000, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe4f},   {0xff00, 0xff60},
        {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
    };
    return within(c, ranges, sizeof(ranges) / sizeof(ranges[0]));
}

/* The code point at `text` and its length; a byte that begins none gives UINT32_MAX and 1. */
static uint32_t decode(const char *text, size_t *ret_len)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t len = p[0] < 0x80 ? 1 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc2 ? 2 : 0;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t c = len == 1 ? p[0] : len ? p[0] & (0x7fu >> len) : 0;

    *ret_len = 1;
    if (!len || p[0] >= 0xf5)
        return UINT32_MAX;
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80) /* the end of the text, too */
            return UINT32_MAX;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < least[len])
        return UINT32_MAX;
    *ret_len = len;
    return c;
}

struct letter text_next(const char **text)
{
    struct letter l = {.bytes = *text, .columns = 1};

    if (!**text)
        return l;
    uint32_t c = decode(*text, &l.len);
    *text += l.len;
    if (c >= 0x20 && c < 0x7f)
        return l;
    if (is_hostile(c))
        return (struct letter){c == '\n' || c == '\t' || c == '\r' ? " " : "?", 1, 1};
    if (is_combining(c))
        l.columns = 0;
    else if (is_wide(c))
        l.columns = 2;
    return l;
}

size_t text_columns(const char *text)
{
    size_t columns = 0;

    for (struct letter l = text_next(&text); l.len; l = text_next(&text))
        columns += l.columns;
    return columns;
}
