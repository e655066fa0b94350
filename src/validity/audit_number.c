/* SPDX-License-Identifier: MIT */
/*
 * Numbers as people publish them: with a unit, with groups of three digits, with a decimal comma. What may
 * mean two things is not guessed.
 */
#include "audit_internal.h"

#include <ctype.h>
#include <math.h>
#include <strings.h>
#include "benchctl/base/units.h"

enum { PARTS_MAX = 12, PLAIN_SIZE = 64 };

static bool is_missing(const char *text)
{
    static const char *const words[] = {"", "x", "-", "–", "—", "n/a", "na", "null", "none", "?"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcasecmp(words[i], text) == 0)
            return true;
    return false;
}

/* --- digits and what stands between them --- */

/* "1 234.5" as 1, 234 and 5, with ' ' and '.' before the latter two. */
struct parts {
    const char *digits[PARTS_MAX];
    size_t len[PARTS_MAX], count;
    char before[PARTS_MAX]; /* ',', '.' or ' ', which stands for all that only ever groups */
    const char *end;
};

/* What groups digits or begins decimals: its length in bytes, 0 for none. */
static size_t separator_of(const char *p, char *ret)
{
    static const char *const grouping[] = {" ", "'", "_", "’", "\u00a0", "\u2009", "\u202f"};

    *ret = *p;
    if (*p == ',' || *p == '.')
        return 1;
    *ret = ' ';
    for (size_t i = 0; i < ARRAY_LEN(grouping); i++)
        if (strncmp(p, grouping[i], strlen(grouping[i])) == 0)
            return strlen(grouping[i]);
    return 0;
}

static void split(const char *text, struct parts *ret)
{
    const char *p = text;
    char before = 0;

    *ret = (struct parts){.end = text};
    for (;;) {
        size_t len = strspn(p, "0123456789");
        if (!len || ret->count == PARTS_MAX)
            return;
        ret->digits[ret->count] = p;
        ret->len[ret->count] = len;
        ret->before[ret->count++] = before;
        p += len;
        ret->end = p;
        size_t separator = separator_of(p, &before);
        if (!separator || !isdigit((unsigned char)p[separator]))
            return;
        p += separator;
    }
}

/* Parts 1 to `end`, all separated alike and of three digits behind one to three that do not begin with 0. */
static bool is_grouped(const struct parts *n, size_t end)
{
    for (size_t i = 1; i < end; i++)
        if (n->len[i] != 3 || n->before[i] != n->before[1])
            return false;
    return n->len[0] <= 3 && n->digits[0][0] != '0';
}

/* Where the decimals begin, `count` when there are none; 0 when this is no such number. */
static size_t decimals_at(const struct parts *n, struct audit_commas *c)
{
    size_t last = n->count - 1;
    bool grouped = is_grouped(n, n->count), single = n->count == 2;

    if (single && n->before[1] == '.')
        return last;
    if (single && n->before[1] == ',') {
        c->unclear = grouped ? c->decimal || (c->semicolons && !c->grouping) : c->grouping;
        c->grouping |= grouped;
        c->decimal |= !grouped;
        return grouped ? n->count : last;
    }
    if (grouped) {
        c->grouping |= n->before[1] == ',';
        return n->count;
    }
    if (n->count < 3 || n->before[last] == ' ' || n->before[last] == n->before[1] || !is_grouped(n, last))
        return 0;
    c->decimal |= n->before[last] == ',';
    c->grouping |= n->before[1] == ',';
    return last;
}

/* How many bytes were read; 0: this is no number. */
static size_t read_number(const char *text, struct audit_commas *c, double *ret)
{
    char plain[PLAIN_SIZE];
    struct parts n;
    size_t len = 0;

    split(text, &n);
    if (n.count < 2 || (n.count == 2 && n.before[1] == '.'))
        return number_scan(text, strlen(text), ret);
    size_t decimals = decimals_at(&n, c);
    if (!decimals)
        return 0;
    for (size_t i = 0; i < n.count; i++) {
        if (len + n.len[i] + 2 > sizeof(plain))
            return 0;
        if (i == decimals)
            plain[len++] = '.';
        memcpy(plain + len, n.digits[i], n.len[i]);
        len += n.len[i];
    }
    return number_scan(plain, len, ret) == len ? (size_t)(n.end - text) : 0;
}

/* --- what stands behind them --- */

static bool is_count(enum audit_field f)
{
    return f == FIELD_USERS || f == FIELD_RPS || f == FIELD_OFFERED || f == FIELD_REQUESTS || f == FIELD_OK ||
           f == FIELD_FAILED;
}

/* "req/s", "users": says what the column says. */
static bool repeats_column(enum audit_field f, const char *text)
{
    static const char *const rates[] = {"/s",    "rps",  "r/s", "req/s", "reqs/s",       "requests/s",
                                        "ops/s", "op/s", "tps", "qps",   "requests/sec", "req/sec"};
    static const char *const things[] = {"requests", "reqs", "req", "calls", "users", "vus", "connections"};
    bool rate = f == FIELD_RPS || f == FIELD_OFFERED;

    for (size_t i = 0; rate && i < ARRAY_LEN(rates); i++)
        if (strcasecmp(rates[i], text) == 0)
            return true;
    for (size_t i = 0; !rate && is_count(f) && i < ARRAY_LEN(things); i++)
        if (strcasecmp(things[i], text) == 0)
            return true;
    return !*text;
}

/* "1.2k", "1.2k req/s": 1000; 0 for what is neither that nor a mere repetition. */
static double multiple_of(enum audit_field f, const char *text)
{
    double multiple = *text == 'k' || *text == 'K' ? 1e3 : *text == 'M' ? 1e6 : 1;

    if (repeats_column(f, text))
        return 1;
    if (multiple == 1 || !is_count(f))
        return 0;
    return repeats_column(f, text + 1 + strspn(text + 1, " ")) ? multiple : 0;
}

/* "8m30s" */
static int read_duration(const char *text, const struct audit_meaning *m, struct audit_cell *ret)
{
    struct error ignored = ERROR_INIT;
    int64_t ns;

    if (!audit_is_time(m->field) || duration_parse(text, &ns, &ignored) < 0 || ns < 0)
        return -1;
    ret->value = (double)ns / 1e6 * (m->field == FIELD_DURATION ? 1e-3 : 1);
    return 0;
}

int audit_number(const char *text, const struct audit_meaning *m, struct audit_commas *commas,
                 struct audit_cell *ret)
{
    double value;

    *ret = (struct audit_cell){.value = NAN, .share = m->share};
    commas->unclear = false;
    if (is_missing(text))
        return 0;
    if (m->field == FIELD_RESTARTS || m->field == FIELD_OOM)
        if (strcasecmp(text, "yes") == 0 || strcasecmp(text, "no") == 0) {
            ret->value = strcasecmp(text, "yes") == 0;
            return 0;
        }
    ret->below = *text == '<';
    text += *text == '~' || *text == '<';
    text += strspn(text, " ");
    size_t used = read_number(text, commas, &value);
    if (!used || !isfinite(value) || value < 0)
        return -1;
    const char *behind = text + used + strspn(text + used, " ");
    const struct audit_unit *u = *behind ? audit_unit_find(behind) : NULL;
    double multiple = u ? 1 : multiple_of(m->field, behind);
    if (!(multiple > 0) || (u && m->field < FIELDS && !audit_unit_fits(m->field, u)))
        return read_duration(text, m, ret);
    if (u)
        ret->share = u->percent || m->share;
    double scale =
        u && (audit_is_time(m->field) || m->field == FIELD_MEMORY) ? audit_scale(m->field, u) : m->scale;
    ret->no_unit = isnan(scale);
    ret->value = value * multiple * scale;
    return 0;
}
