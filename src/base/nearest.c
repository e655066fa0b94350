/* SPDX-License-Identifier: MIT */
/* "did you mean": the nearest name by edit distance, a swap of neighbours counting as one edit. */
#include "benchctl/base/tree.h"

#include <ctype.h>

#define NAME_MAX_LEN ((size_t)64)

static bool same_char(char a, char b)
{
    if (a == '-')
        a = '_';
    if (b == '-')
        b = '_';
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance; upper case and `-` for `_` cost nothing. */
static size_t distance(const char *a, size_t alen, const char *b, size_t blen)
{
    size_t rows[3][NAME_MAX_LEN + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];

    for (size_t j = 0; j <= blen; j++)
        last[j] = j;
    for (size_t i = 1; i <= alen; i++) {
        row[0] = i;
        for (size_t j = 1; j <= blen; j++) {
            size_t cost = !same_char(a[i - 1], b[j - 1]);
            row[j] = least(least(last[j] + 1, row[j - 1] + 1), last[j - 1] + cost);
            if (i > 1 && j > 1 && same_char(a[i - 1], b[j - 2]) && same_char(a[i - 2], b[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[blen];
}

const char *nearest_name(const char *text, const char *const *names, size_t count)
{
    size_t len = strlen(text), best = len < 3 ? 1 : (len + 2) / 3;
    const char *found = NULL;

    if (!len || len > NAME_MAX_LEN)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t n = names[i] ? strlen(names[i]) : 0;
        if (!n || n > NAME_MAX_LEN || (n > len ? n - len : len - n) > best)
            continue;
        size_t d = distance(text, len, names[i], n);
        if (d < best || (d == best && !found)) {
            best = d;
            found = names[i];
        }
    }
    /* Two unlike short words are not near each other just because both are short. */
    return found && best < len ? found : NULL;
}
