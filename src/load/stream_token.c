/* SPDX-License-Identifier: MIT */
/* Strings and numbers as RFC 8259 has them. A newline ends every line and is part of none, so that each loop
 * stops there. */
#include "stream_scan.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include "benchctl/base/units.h"

#define WORD ((ptrdiff_t)16)

/* The first quote, backslash, control character or byte above 0x7f. */
static inline const char *plain_end(const char *p, const char *limit)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), blank = _mm_set1_epi8(' ');

    for (; limit - p >= WORD; p += WORD) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        /* bytes above 0x7f are negative, hence below a blank too */
        __m128i odd = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash)),
                                   _mm_cmplt_epi8(v, blank));
        int mask = _mm_movemask_epi8(odd);
        if (mask)
            return p + __builtin_ctz((unsigned)mask);
    }
#else
    (void)limit;
#endif
    while (*p != '"' && *p != '\\' && (unsigned char)*p >= ' ' && (unsigned char)*p < 0x80)
        p++;
    return p;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Behind the escape at p (on its backslash); NULL: none, or half of a pair. */
static const char *escape_end(const char *p)
{
    switch (p[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return p + 2;
    case 'u':
        break;
    default:
        return NULL;
    }
    int value = 0;
    for (int i = 2; i < 6; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0)
            return NULL;
        value = value << 4 | digit;
    }
    return value >= 0xd800 && value <= 0xdfff ? NULL : p + 6;
}

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Behind the UTF-8 sequence at p; NULL: none. */
static const char *utf8_end(const char *p)
{
    unsigned char first = (unsigned char)p[0], second;

    if (first < 0xc2 || first > 0xf4 || !continues(p[1]))
        return NULL;
    if (first < 0xe0)
        return p + 2;
    second = (unsigned char)p[1];
    if (!continues(p[2]) || (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f))
        return NULL;
    if (first < 0xf0)
        return p + 3;
    if (!continues(p[3]) || (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
        return NULL;
    return p + 4;
}

const char *token_string(const char *p, const char *limit, bool *ret_plain)
{
    *ret_plain = true;
    while (p) {
        p = plain_end(p, limit);
        if (*p == '"')
            return p + 1;
        if (*p == '\\') {
            *ret_plain = false;
            p = escape_end(p);
        } else if ((unsigned char)*p < ' ') {
            return NULL;
        } else {
            p = utf8_end(p);
        }
    }
    return NULL;
}

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') <= 9;
}

/* Up to 15 digits and a power of ten that doubles hold exactly: one division is then rounded right. */
#define EXACT_DIGITS 15
#define LONGEST_NUMBER 100

const char *token_number(const char *start, double *ret)
{
    static const double powers[EXACT_DIGITS + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *p = start + (*start == '-'), *digits = p;
    uint64_t whole = 0;
    size_t fraction = 0;

    if (!is_digit(*p) || (*p == '0' && is_digit(p[1])))
        return NULL;
    for (; is_digit(*p); p++)
        whole = whole * 10 + (uint64_t)(*p - '0');
    if (*p == '.') {
        const char *dot = p++;
        for (; is_digit(*p); p++)
            whole = whole * 10 + (uint64_t)(*p - '0');
        fraction = (size_t)(p - dot) - 1;
        if (!fraction)
            return NULL;
    }
    size_t count = (size_t)(p - digits) - (fraction ? 1 : 0);
    if (*p != 'e' && *p != 'E' && count <= EXACT_DIGITS) {
        double value = (double)whole / powers[fraction];
        if (ret)
            *ret = *start == '-' ? -value : value;
        return p;
    }
    if (*p == 'e' || *p == 'E') {
        p += 1 + (p[1] == '+' || p[1] == '-');
        const char *exponent = p;
        while (is_digit(*p))
            p++;
        if (p == exponent || p - exponent > 2)
            return NULL;
    }
    size_t len = (size_t)(p - start);
    double value;
    if (len > LONGEST_NUMBER)
        return NULL;
    if (ret && number_scan(start, len, &value) != len)
        return NULL;
    if (ret)
        *ret = value;
    return p;
}
