/* SPDX-License-Identifier: MIT */
#include "wording.h"

#include <string.h>
#include "benchctl/base/mem.h"
#include "benchctl/base/units.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(char c)
{
    return is_digit(c) || is_letter(c) || c == '_' || c == '.' || c == '-';
}

/* --- what somebody else said --- */

/* 'text', "text": 0 when there is none at `at`. An apostrophe stands behind a letter. */
static size_t quoted_len(const char *text, const char *at)
{
    if ((*at != '\'' && *at != '"') || (at > text && is_word(at[-1])))
        return 0;
    for (size_t n = 1; at[n]; n++)
        if (at[n] == *at && n > 1 && !is_digit(at[n + 1]) && !is_letter(at[n + 1]))
            return n + 1;
    return 0;
}

static bool behind(const char *text, const char *at, const char *word)
{
    size_t len = strlen(word);

    return (size_t)(at - text) >= len && strncmp(at - len, word, len) == 0;
}

/* A line of a log is all that is behind it. */
static bool log_line(const char *text, const char *at)
{
    return *at && (behind(text, at, "the first: ") || behind(text, at, "no such program: "));
}

/* What is no measure: which process it was says nothing between two numbers. */
static size_t name_len(const char *text, const char *at)
{
    return behind(text, at, "pid ") || behind(text, at, "port ") ? strspn(at, "0123456789") : 0;
}

/* Quotations that differ only in their digits are of one form. */
static void add_quoted_form(const char *at, size_t len, struct strbuf *form)
{
    for (size_t i = 0; i < len; i++)
        if (!is_digit(at[i]))
            strbuf_addc(form, at[i]);
        else if (i == 0 || !is_digit(at[i - 1]))
            strbuf_addc(form, '#');
}

/* --- numbers --- */

/* Does one begin here? "p99", "1.2.3" and "20:18" hold none; in "p93.96" there is one, and in "-12". */
static bool may_begin(const char *text, const char *at)
{
    const char *before = at - 1;

    if (at == text)
        return true;
    if (*before == 'p' && (before == text || !is_word(before[-1])))
        return at[strspn(at, "0123456789")] == '.';
    if (*before == '-')
        return false; /* it began there, or is the rest of a name */
    return !is_word(*before) && !(*before == ':' && before > text && is_digit(before[-1]));
}

/* The length of the number that begins at `at`, with its sign; 0: none. */
static size_t number_len(const char *text, const char *at)
{
    size_t sign = *at == '-' && (at == text || !is_word(at[-1])), n = sign;

    if (!is_digit(at[n]) || !may_begin(text, at))
        return 0;
    while (is_digit(at[n]))
        n++;
    if (at[n] == '.' && is_digit(at[n + 1]))
        for (n++; is_digit(at[n]);)
            n++;
    return (at[n] == '.' || at[n] == '-' || at[n] == ':') && is_digit(at[n + 1]) ? 0 : n;
}

/* Of the word behind a number, " restarts": without an s at its end, which must leave something. */
static size_t word_len(const char *at, bool *ret_several)
{
    size_t n = *at == ' ';

    *ret_several = false;
    if (!n)
        return 0;
    while (is_letter(at[n]))
        n++;
    if (n > 4 && at[n - 1] == 's' && at[n - 2] != 's') { /* no unit, no "less" */
        *ret_several = true;
        return n - 1;
    }
    return n;
}

/* --- together --- */

/* How much of the sentence from `at` on is told as the first has it; its form. */
static size_t take_own(const char *message, const char *at, struct strbuf *form)
{
    size_t n = quoted_len(message, at);

    if (n)
        add_quoted_form(at, n, form);
    else if (log_line(message, at))
        n = strlen(at);
    else if ((n = name_len(message, at)))
        strbuf_addc(form, '#');
    return n;
}

struct wording wording_of(const char *message, struct arena *a)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf form = STRBUF_INIT;
    struct wording w = {.message = message};
    size_t count = 0;

    for (const char *at = message; *at;) {
        size_t own = take_own(message, at, &form);
        size_t n = !own && count < NUMBERS_MAX ? number_len(message, at) : 0;
        double value = 0;
        if (own || !n || number_scan(at, n, &value) != n) {
            if (!own)
                strbuf_addc(&form, *at);
            at += own ? own : 1;
            continue;
        }
        struct number *x = &w.numbers[count++];
        const char *text = arena_strndup(a, at, n);
        *x = (struct number){value, value, text, text, false};
        strbuf_addc(&form, '#');
        at += n;
        size_t word = word_len(at, &x->several);
        strbuf_add(&form, at, word);
        at += word + x->several;
    }
    w.form = arena_strdup(a, strbuf_text(&form));
    return w;
}

void wording_widen(struct wording *w, const struct wording *seen)
{
    for (size_t i = 0; i < NUMBERS_MAX; i++) {
        struct number *known = &w->numbers[i];
        const struct number *x = &seen->numbers[i];
        if (x->low_text && x->low < known->low) {
            known->low = x->low;
            known->low_text = x->low_text;
        }
        if (x->high_text && x->high > known->high) {
            known->high = x->high;
            known->high_text = x->high_text;
        }
        known->several |= x->several;
    }
}

static size_t add_number(const struct number *x, const char *at, struct strbuf *out)
{
    bool several;
    size_t word = word_len(at, &several);

    strbuf_adds(out, x->low_text);
    if (x->low < x->high)
        strbuf_addf(out, "%s%s", x->low < 0 ? " to " : "–", x->high_text);
    strbuf_add(out, at, word);
    if (x->several)
        strbuf_addc(out, 's');
    return word + several;
}

void wording_add(const struct wording *w, struct strbuf *out)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf ignored = STRBUF_INIT;
    size_t count = 0;

    for (const char *at = w->message; *at;) {
        size_t own = take_own(w->message, at, &ignored);
        size_t n = !own && count < NUMBERS_MAX && w->numbers[count].low_text ? number_len(w->message, at) : 0;
        if (n) {
            at += n;
            at += add_number(&w->numbers[count++], at, out);
            continue;
        }
        strbuf_add(out, at, own ? own : 1);
        at += own ? own : 1;
    }
}
