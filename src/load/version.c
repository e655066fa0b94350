/* SPDX-License-Identifier: MIT */
/* Conditions on the version of the program that was found: "version>=1.5". */
#include "command.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The next number of a version; 0 behind its end. Versions count from their first digit: "debian/4.1.0-3"
 * is 4.1.0. */
static unsigned long next_number(const char **p)
{
    char *end;

    if (!isdigit((unsigned char)**p))
        return 0;
    unsigned long n = strtoul(*p, &end, 10);
    *p = *end == '.' ? end + 1 : "";
    return n;
}

static int compare(const char *a, const char *b)
{
    a += strcspn(a, "0123456789");
    b += strcspn(b, "0123456789");
    while (*a || *b) {
        unsigned long x = next_number(&a), y = next_number(&b);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static const char *operator_of(const char *when)
{
    return when + strlen("version");
}

bool load_is_version_condition(const char *when)
{
    return text_starts(when, "version") && *operator_of(when) && strchr("<>=", *operator_of(when));
}

bool load_version_condition_valid(const char *when)
{
    const char *text = operator_of(when) + strspn(operator_of(when), "<>=");
    size_t op = (size_t)(text - operator_of(when)), n = strspn(text, "0123456789.");

    return (op == 1 || (op == 2 && text[-1] == '=' && text[-2] != '=')) && isdigit((unsigned char)*text) &&
           !text[n];
}

bool load_version_condition(const char *when, const char *version)
{
    const char *op = operator_of(when);

    if (!version || !strpbrk(version, "0123456789"))
        return false; /* what is not known fulfils nothing */
    int c = compare(version, op + strspn(op, "<>="));
    return (c == 0 && strchr(op, '=')) || (c < 0 && *op == '<') || (c > 0 && *op == '>');
}
