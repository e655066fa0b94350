/* SPDX-License-Identifier: MIT */
/* Verdicts over a sweep in words. */
#include "sweep_internal.h"

#include <math.h>
#include <stdarg.h>

#define NAMED 4 /* then they are counted */

void sweep_say(struct sweep_judge *j, const char *id, const char *verdict, const char *fmt, ...)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct validity_result r = {.id = id, .verdict = verdict};
    va_list args;

    va_start(args, fmt);
    strbuf_vaddf(&text, fmt, args);
    va_end(args);
    r.message = arena_strdup(j->arena, strbuf_text(&text));
    for (size_t i = 0; i < validity_rule_count; i++)
        if (text_equal(validity_rules[i].id, id))
            r.check = validity_rules[i].check;
    vec_push(&j->results, r);
}

const char *digits(struct arena *a, double value)
{
    char text[400]; /* any double */

    if (isnan(value))
        return "–";
    if (isinf(value))
        return value > 0 ? "∞" : "-∞";
    double size = fabs(value);
    int places = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.01 ? 3 : 5;
    (void)snprintf(text, sizeof(text), "%.*f", places, value);
    size_t len = strlen(text);
    if (places) {
        while (text[len - 1] == '0')
            len--;
        len -= text[len - 1] == '.';
    }
    return arena_strndup(a, text, len);
}

const char *percent(struct arena *a, double share)
{
    double value = 100 * share;

    /* two digits are enough of a percentage, but never 100 for what is less */
    if (fabs(value) >= 0.1)
        value = round(value * 10) / 10;
    return arena_printf(a, "%s %%", digits(a, value));
}

const char *from_to(struct arena *a, double low, double high)
{
    const char *first = digits(a, low), *last = digits(a, high);

    return text_equal(first, last) ? first : arena_printf(a, "%s to %s", first, last);
}

void names_add(struct names_list *l, const char *name)
{
    if (l->len < NAMED)
        strbuf_addf(&l->text, "%s%s", l->len ? ", " : "", name);
    l->len++;
}

const char *names_text(struct names_list *l, struct arena *a)
{
    if (l->len > NAMED)
        strbuf_addf(&l->text, " and %zu more", l->len - NAMED);
    const char *text = arena_strdup(a, strbuf_text(&l->text));
    strbuf_release(&l->text);
    l->len = 0;
    return text;
}
