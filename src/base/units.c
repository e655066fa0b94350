/* SPDX-License-Identifier: MIT */
#include "benchctl/base/units.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static locale_t c_locale(void)
{
    static locale_t c;

    if (!c)
        c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c)
        abort();
    return c;
}

size_t number_scan(const char *text, size_t len, double *ret_value)
{
    char copy[128], *end;

    if (len >= sizeof(copy))
        len = sizeof(copy) - 1;
    memcpy(copy, text, len);
    copy[len] = '\0';
    locale_t old = uselocale(c_locale());
    double value = strtod(copy, &end);
    uselocale(old);
    if (end == copy)
        return 0;
    *ret_value = value;
    return (size_t)(end - copy);
}

/* "12", "0.5": digits with an optional decimal part, at most 18 digits in all. Returns where it ends, or
 * NULL. */
static const char *scan_decimal(const char *p, double *ret)
{
    const char *start = p;
    size_t whole = strspn(p, "0123456789");

    p += whole;
    if (!whole || (whole > 1 && *start == '0'))
        return NULL;
    if (*p == '.') {
        size_t part = strspn(p + 1, "0123456789");
        if (!part)
            return NULL;
        p += 1 + part;
    }
    if (p - start > 19 || number_scan(start, (size_t)(p - start), ret) != (size_t)(p - start))
        return NULL;
    return p;
}

static int bad_size(struct error *err, const char *text)
{
    (void)error_set(err, ERROR_INVALID, "'%.64s' is not a size", text);
    return error_hint(
        err, "write a number with a unit, for instance 256m, 0.5g or 256MiB (base 1024), or unlimited");
}

/* As scan_decimal(); ".5" is a half too, as with other tools that take sizes. */
static const char *scan_size_number(const char *text, double *ret)
{
    char whole[24];

    if (text[0] != '.')
        return scan_decimal(text, ret);
    (void)snprintf(whole, sizeof(whole), "0%.21s", text);
    const char *end = scan_decimal(whole, ret);
    return end && *end ? text + (end - whole) - 1 : NULL;
}

int size_parse(const char *text, int64_t *ret_bytes, struct error *err)
{
    static const char units[] = "bkmgt";
    double number;

    if (strcmp(text, "unlimited") == 0) {
        *ret_bytes = SIZE_UNLIMITED;
        return 0;
    }
    const char *p = scan_size_number(text, &number);
    if (!p)
        return bad_size(err, text);
    if (!*p) {
        (void)error_set(err, ERROR_INVALID, "size '%.64s' has no unit", text);
        return error_hint(err,
                          "other tools would take it as %s bytes; write %sb for that, or %sm for mebibytes",
                          text, text, text);
    }
    const char *unit = memchr(units, *p | 0x20, sizeof(units) - 1);
    bool plain = unit && (p[1] == '\0' ||
                          (unit != units && (strcasecmp(p + 1, "b") == 0 || strcasecmp(p + 1, "ib") == 0)));
    if (!plain)
        return bad_size(err, text);
    double bytes = ldexp(number, 10 * (int)(unit - units));
    if (bytes != floor(bytes) || bytes > 9e15) {
        if (bytes > 9e15)
            return error_set(err, ERROR_INVALID, "size '%.64s' is too large", text);
        bytes = floor(bytes); /* a decimal part finer than a byte: 0.3g */
    }
    *ret_bytes = (int64_t)bytes;
    return 0;
}

/* The units, largest first, as they must follow each other. */
static const struct {
    const char *name;
    int64_t ns;
} duration_units[] = {
    {"d", INT64_C(86400000000000)},
    {"h", INT64_C(3600000000000)},
    {"m", INT64_C(60000000000)},
    {"s", INT64_C(1000000000)},
    {"ms", 1000000},
    {"us", 1000},
    {"ns", 1},
};
#define DURATION_UNITS (sizeof(duration_units) / sizeof(duration_units[0]))

static int bad_duration(struct error *err, const char *text)
{
    (void)error_set(err, ERROR_INVALID, "'%.64s' is not a duration", text);
    return error_hint(err, "write a number with a unit, for instance 500ms, 30s, 8m30s or 2h");
}

int duration_parse(const char *text, int64_t *ret_ns, struct error *err)
{
    const char *p = text;
    double total = 0;
    size_t next = 0;

    if (strcmp(text, "0") == 0) {
        *ret_ns = 0;
        return 0;
    }
    if (!*p)
        return bad_duration(err, text);
    while (*p) {
        double number;
        const char *unit = scan_decimal(p, &number);
        if (!unit)
            return bad_duration(err, text);
        size_t n = strspn(unit, "abcdefghijklmnopqrstuvwxyz"), u = next;
        if (!n && *unit)
            return bad_duration(err, text);
        if (!n) {
            (void)error_set(err, ERROR_INVALID, "duration '%.64s' has no unit", text);
            return error_hint(err, "write %ss for seconds or %sms for milliseconds", text, text);
        }
        while (u < DURATION_UNITS &&
               (strlen(duration_units[u].name) != n || strncmp(duration_units[u].name, unit, n) != 0))
            u++;
        if (u == DURATION_UNITS)
            return bad_duration(err, text);
        total += number * (double)duration_units[u].ns;
        next = u + 1;
        p = unit + n;
    }
    if (total > 9e18)
        return error_set(err, ERROR_INVALID, "duration '%.64s' is too long", text);
    *ret_ns = (int64_t)llround(total);
    return 0;
}

/* What other readers would make of text that looks like a number but is none here. */
static int bad_integer(struct error *err, const char *text)
{
    (void)error_set(err, ERROR_INVALID, "'%.64s' is not a whole number", text);
    const char *digits = text + (*text == '-' || *text == '+');
    if (digits[0] == '0' && digits[1] && strspn(digits, "0123456789") == strlen(digits))
        return error_hint(err, "some readers take a leading zero as octal, others as decimal; write %s",
                          digits + strspn(digits, "0") + (strspn(digits, "0") == strlen(digits) ? -1 : 0));
    if (strchr(text, ':'))
        return error_hint(err, "some readers take this as base 60; write the decimal number");
    if (strchr(text, '_'))
        return error_hint(err, "some readers drop the underscores, others do not; write the digits alone");
    return error_hint(err, "write decimal digits, with a minus in front when it is negative");
}

int integer_parse(const char *text, int64_t *ret_value, struct error *err)
{
    const char *digits = text + (*text == '-');
    size_t n = strspn(digits, "0123456789");

    if (!n || digits[n] || (n > 1 && digits[0] == '0') || strcmp(text, "-0") == 0)
        return bad_integer(err, text);
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    if (errno == ERANGE)
        return error_set(err, ERROR_INVALID, "'%.64s' is too large", text);
    *ret_value = value;
    return 0;
}

int number_parse(const char *text, double *ret_value, struct error *err)
{
    const char *digits = text + (*text == '-');
    double value = 0;
    const char *end = scan_decimal(digits, &value);

    if (!end || *end) {
        (void)error_set(err, ERROR_INVALID, "'%.64s' is not a number", text);
        return error_hint(err, "write decimal digits with an optional part after a point, for instance 0.5");
    }
    *ret_value = *text == '-' ? -value : value;
    return 0;
}

const char *size_format(int64_t bytes, char *buf)
{
    static const char units[] = "bkmgt";
    int u = 0;

    if (bytes == SIZE_UNLIMITED)
        return memcpy(buf, "unlimited", sizeof("unlimited"));
    while (bytes && bytes % 1024 == 0 && u < 4) {
        bytes /= 1024;
        u++;
    }
    (void)snprintf(buf, 32, "%lld%c", (long long)bytes, units[u]);
    return buf;
}

const char *size_human(double bytes, char *buf)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int u = 0;

    if (isinf(bytes))
        return memcpy(buf, "unlimited", sizeof("unlimited"));
    while (fabs(bytes) >= 1024 && u < 4) {
        bytes /= 1024;
        u++;
    }
    (void)snprintf(buf, 32, u == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes, units[u]);
    return buf;
}

const char *duration_format(int64_t ns, char *buf)
{
    char *p = buf;

    if (ns <= 0)
        return memcpy(buf, "0", sizeof("0"));
    for (size_t u = 1; u < DURATION_UNITS; u++) { /* days are read but hours are written */
        int64_t count = ns / duration_units[u].ns;
        if (!count)
            continue;
        p += snprintf(p, 32 - (size_t)(p - buf), "%lld%s", (long long)count, duration_units[u].name);
        ns %= duration_units[u].ns;
    }
    return buf;
}

const char *duration_human(int64_t ns, char *buf)
{
    double s = (double)ns / 1e9;

    if (s < 1)
        (void)snprintf(buf, 32, "%.0f ms", s * 1e3);
    else if (s < 60)
        (void)snprintf(buf, 32, s < 10 ? "%.2f s" : "%.1f s", s);
    else if (s < 3600)
        (void)snprintf(buf, 32, "%d min %d s", (int)s / 60, (int)s % 60);
    else
        (void)snprintf(buf, 32, "%d h %d min", (int)(s / 3600), (int)s % 3600 / 60);
    return buf;
}

const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}
