/* SPDX-License-Identifier: MIT */
#include "prom_number.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include "benchctl/base/units.h"

/* Up to 15 digits and no exponent: both the digits and the power of ten are exact, so their quotient is the
 * number that strtod() gives. Nearly every sample is of this form. */
static bool plain_number(const char *text, size_t len, double *ret)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    bool minus = len && *text == '-';
    size_t i = minus, digits = 0, places = 0;
    bool point = false;
    uint64_t value = 0;

    for (; i < len; i++) {
        if (text[i] == '.' && !point) {
            point = true;
        } else if (text[i] >= '0' && text[i] <= '9' && digits < 15) {
            value = value * 10 + (uint64_t)(text[i] - '0');
            digits++;
            places += point;
        } else {
            return false;
        }
    }
    if (!digits)
        return false;
    double magnitude = (double)value / powers[places];
    *ret = minus ? -magnitude : magnitude;
    return true;
}

static bool is_word(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && strncasecmp(text, word, len) == 0;
}

static bool special_number(const char *text, size_t len, double *ret)
{
    bool sign = len && (*text == '-' || *text == '+');
    const char *word = text + sign;
    size_t left = len - sign;

    if (is_word(text, len, "nan"))
        *ret = NAN;
    else if (is_word(word, left, "inf") || is_word(word, left, "infinity"))
        *ret = *text == '-' ? -(double)INFINITY : (double)INFINITY;
    else
        return false;
    return true;
}

bool prom_number(const char *text, size_t len, double *ret)
{
    double value;

    if (plain_number(text, len, ret) || special_number(text, len, ret))
        return true;
    for (size_t i = 0; i < len; i++)
        if (!strchr("0123456789+-.eE", text[i]) || !text[i])
            return false; /* strtod() would take hexadecimal and more */
    if (!len || number_scan(text, len, &value) != len)
        return false;
    *ret = value;
    return true;
}
