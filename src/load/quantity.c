/* SPDX-License-Identifier: MIT */
#include "quantity.h"

#include <math.h>
#include <string.h>
#include <strings.h>
#include "benchctl/base/mem.h"
#include "benchctl/base/units.h"

const char *const unit_names[] = {"count", "si",  "percent",  "ns",    "us",        "ms", "s",
                                  "min",   "h",   "duration", "bytes", "kB",        "MB", "GB",
                                  "KiB",   "MiB", "GiB",      "size",  "size-1000", NULL};

/* What one of each is in the module's own unit (ms, bytes, plain). 0: not a fixed factor. */
static const double factors[] = {
    [UNIT_COUNT] = 1,        [UNIT_SI] = 1,       [UNIT_PERCENT] = 0.01, [UNIT_NS] = 1e-6,
    [UNIT_US] = 1e-3,        [UNIT_MS] = 1,       [UNIT_S] = 1e3,        [UNIT_MIN] = 6e4,
    [UNIT_H] = 36e5,         [UNIT_DURATION] = 1, [UNIT_BYTES] = 1,      [UNIT_KB] = 1e3,
    [UNIT_MB] = 1e6,         [UNIT_GB] = 1e9,     [UNIT_KIB] = 1024,     [UNIT_MIB] = 1048576,
    [UNIT_GIB] = 1073741824, [UNIT_SIZE] = 1,     [UNIT_SIZE_1000] = 1,
};

/* Names of times that tools print. Both code points of the micro sign. */
static const struct {
    const char *name;
    double ms;
} time_names[] = {
    {"ns", 1e-6},  {"us", 1e-3},    {"\xc2\xb5s", 1e-3}, {"\xce\xbcs", 1e-3}, {"usecs", 1e-3},
    {"ms", 1},     {"msec", 1},     {"msecs", 1},        {"s", 1e3},          {"sec", 1e3},
    {"secs", 1e3}, {"second", 1e3}, {"seconds", 1e3},    {"m", 6e4},          {"min", 6e4},
    {"mins", 6e4}, {"h", 36e5},     {"hours", 36e5},     {"hr", 36e5},
};

double quantity_convert(double number, enum unit unit)
{
    return number * factors[unit];
}

/* Tools' ways to say that there is no number. */
static bool says_none(const char *text, size_t len)
{
    static const char *const words[] = {"nan",       "-nan", "+nan", "inf", "-inf", "+inf", "infinity",
                                        "-infinity", "null", "n/a",  "-",   "--",   "none"};

    if (len && text[len - 1] == '%')
        len--;
    if (!len)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strlen(words[i]) == len && strncasecmp(words[i], text, len) == 0)
            return true;
    return false;
}

static size_t blanks(const char *text, size_t len)
{
    size_t n = 0;

    while (n < len && (text[n] == ' ' || text[n] == '\t'))
        n++;
    return n;
}

/* A decimal number with optional sign, fraction and exponent; no words, no hexadecimal. */
static size_t scan_number(const char *text, size_t len, double *ret)
{
    size_t sign = len && (text[0] == '-' || text[0] == '+');

    if (len <= sign || !((text[sign] >= '0' && text[sign] <= '9') || text[sign] == '.'))
        return 0;
    if (len > sign + 1 && text[sign] == '0' && (text[sign + 1] | 0x20) == 'x')
        return 0;
    return number_scan(text, len, ret);
}

static int bad(struct error *err, const char *text, size_t len, const char *why)
{
    char shown[48];
    size_t n = 0;

    for (; n < len && n < sizeof(shown) - 1; n++)
        shown[n] = (unsigned char)text[n] < ' ' || text[n] == 0x7f ? '?' : text[n];
    shown[n] = '\0';
    return error_set(err, ERROR_INVALID, "'%s' %s", shown, why);
}

/* The name of a unit at the front: letters and the bytes of a micro sign. */
static size_t unit_length(const char *text, size_t len)
{
    size_t n = 0;

    while (n < len &&
           (((text[n] | 0x20) >= 'a' && (text[n] | 0x20) <= 'z') || (unsigned char)text[n] >= 0x80))
        n++;
    return n;
}

static double time_factor(const char *name, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(time_names); i++)
        if (strlen(time_names[i].name) == len && memcmp(time_names[i].name, name, len) == 0)
            return time_names[i].ms;
    return NAN;
}

/* "NaN secs", "-inf ms": tools put the unit behind what is no number, too. */
static bool says_none_with_unit(const char *text, size_t len)
{
    size_t n = 0;

    while (n < len && text[n] != ' ' && text[n] != '\t')
        n++;
    if (n == len || !says_none(text, n))
        return false;
    n += blanks(text + n, len - n);
    return !isnan(time_factor(text + n, len - n));
}

/* "12.5ms", "3.1 secs", "10m0s". */
static int parse_duration(const char *text, size_t len, double *ret, struct error *err)
{
    double total = 0, number;
    size_t at = 0;

    while (at < len) {
        size_t n = scan_number(text + at, len - at, &number);
        if (!n)
            return bad(err, text, len, "is not a time");
        at += n;
        at += blanks(text + at, len - at);
        size_t u = unit_length(text + at, len - at);
        if (!u)
            return bad(err, text, len, "has no unit");
        double ms = time_factor(text + at, u);
        if (isnan(ms))
            return bad(err, text, len, "has an unknown unit of time");
        total += number * ms;
        at += u;
        at += blanks(text + at, len - at);
    }
    *ret = total;
    return 1;
}

/* "265.74MB", "13 B", "10.45 KiB", "2500 bytes". */
static int parse_size(const char *text, size_t len, double base, double *ret, struct error *err)
{
    static const char letters[] = "kmgtp";
    double number;
    size_t n = scan_number(text, len, &number);

    if (!n)
        return bad(err, text, len, "is not a size");
    n += blanks(text + n, len - n);
    size_t left = len - n;
    const char *unit = text + n;
    if (!left)
        return bad(err, text, len, "has no unit");
    if ((left == 1 && *unit == 'B') || (left == 5 && strncasecmp(unit, "bytes", 5) == 0)) {
        *ret = number;
        return 1;
    }
    const char *letter = memchr(letters, *unit | 0x20, sizeof(letters) - 1);
    bool binary = left == 3 && unit[1] == 'i' && unit[2] == 'B';
    if (!letter || !(binary || left == 1 || (left == 2 && unit[1] == 'B')))
        return bad(err, text, len, "has an unknown unit of size");
    *ret = number * pow(binary ? 1024 : base, (double)(letter - letters + 1));
    return 1;
}

static int parse_si(const char *text, size_t len, double *ret, struct error *err)
{
    double number;
    size_t n = scan_number(text, len, &number);

    if (!n)
        return bad(err, text, len, "is not a number");
    n += blanks(text + n, len - n);
    double factor = n == len                  ? 1
                    : len - n > 1             ? NAN
                    : (text[n] | 0x20) == 'k' ? 1e3
                    : text[n] == 'M'          ? 1e6
                    : text[n] == 'G'          ? 1e9
                                              : NAN;
    if (isnan(factor))
        return bad(err, text, len, "is not a number");
    *ret = number * factor;
    return 1;
}

static int parse_plain(const char *text, size_t len, enum unit unit, double *ret, struct error *err)
{
    double number;

    if (unit == UNIT_PERCENT && text[len - 1] == '%')
        len--;
    size_t n = scan_number(text, len, &number);
    if (!n || n != len)
        return bad(err, text, len, "is not a number");
    *ret = quantity_convert(number, unit);
    return 1;
}

int quantity_parse(const char *text, size_t len, enum unit unit, double *ret, struct error *err)
{
    size_t lead = blanks(text, len);

    text += lead;
    len -= lead;
    while (len && (text[len - 1] == ' ' || text[len - 1] == '\t' || text[len - 1] == '\r'))
        len--;
    if (says_none(text, len))
        return 0;
    if (unit == UNIT_DURATION && says_none_with_unit(text, len))
        return 0;
    if (unit == UNIT_DURATION)
        return parse_duration(text, len, ret, err);
    if (unit == UNIT_SIZE || unit == UNIT_SIZE_1000)
        return parse_size(text, len, unit == UNIT_SIZE ? 1024 : 1000, ret, err);
    if (unit == UNIT_SI)
        return parse_si(text, len, ret, err);
    return parse_plain(text, len, unit, ret, err);
}
