/* SPDX-License-Identifier: MIT */
/*
 * What limits the results' worth. The same remark about several trials is one line, with the lowest and the
 * highest of each number in it where that is all in which they differ, and names the trials.
 */
#include "report_internal.h"

#include <string.h>
#include "benchctl/base/units.h"

enum { NUMBERS_MAX = 16, TRIALS_NAMED = 8 };

struct number {
    double low, high;
    const char *low_text, *high_text;
};

struct remark {
    const char *label;   /* "WARN host-quiet: ", or "" */
    const char *message; /* the first */
    const char *form;    /* the message, its numbers as '#' */
    struct number numbers[NUMBERS_MAX];
    size_t trials, others; /* others: whose message has another form */
    const struct trial *last;
    struct strbuf names;
    const char *last_scenario;
    enum tone tone;
};

struct remarks {
    struct report *r;
    struct name_index index;
    VEC(struct remark) items;
    size_t more;
};

/* --- numbers in a text --- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
           c == '-';
}

/* The length of the number that begins at `at`; 0: none. "p99", "1.2.3" and "2026-11-30" hold none. */
static size_t number_len(const char *text, const char *at)
{
    size_t n = 0;

    if (!is_digit(*at) || (at > text && is_word(at[-1])))
        return 0;
    while (is_digit(at[n]))
        n++;
    if (at[n] == '.' && is_digit(at[n + 1]))
        for (n++; is_digit(at[n]);)
            n++;
    return (at[n] == '.' || at[n] == '-') && is_digit(at[n + 1]) ? 0 : n;
}

/* Its form, and up to NUMBERS_MAX numbers. */
static const char *take_apart(struct report *r, const char *message, struct number *numbers)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf form = STRBUF_INIT;
    size_t count = 0;

    for (const char *at = message; *at;) {
        size_t n = count < NUMBERS_MAX ? number_len(message, at) : 0;
        double value = 0;
        if (!n || number_scan(at, n, &value) != n) {
            strbuf_addc(&form, *at++);
            continue;
        }
        const char *text = arena_strndup(r->arena, at, n);
        numbers[count++] = (struct number){value, value, text, text};
        strbuf_addc(&form, '#');
        at += n;
    }
    return arena_strdup(r->arena, strbuf_text(&form));
}

static void widen(struct number *known, const struct number *seen)
{
    for (size_t i = 0; i < NUMBERS_MAX; i++) {
        if (seen[i].low_text && seen[i].low < known[i].low) {
            known[i].low = seen[i].low;
            known[i].low_text = seen[i].low_text;
        }
        if (seen[i].high_text && seen[i].high > known[i].high) {
            known[i].high = seen[i].high;
            known[i].high_text = seen[i].high_text;
        }
    }
}

/* The first message with its numbers as ranges. */
static void add_message(const struct remark *m, struct strbuf *out)
{
    size_t count = 0;

    for (const char *at = m->message; *at;) {
        size_t n = count < NUMBERS_MAX && m->numbers[count].low_text ? number_len(m->message, at) : 0;
        if (!n) {
            strbuf_addc(out, *at++);
            continue;
        }
        const struct number *x = &m->numbers[count++];
        strbuf_adds(out, x->low_text);
        if (x->low < x->high)
            strbuf_addf(out, "–%s", x->high_text);
        at += n;
    }
}

/* --- collecting --- */

/* "256m #1, #2; 64m #1" */
static void add_name(struct remark *m, const struct trial *t)
{
    if (m->trials > TRIALS_NAMED)
        return;
    if (m->last_scenario && strcmp(m->last_scenario, t->scenario) == 0)
        strbuf_addf(&m->names, ", #%d", t->trial);
    else
        strbuf_addf(&m->names, "%s%s #%d", m->names.len ? "; " : "", t->scenario, t->trial);
    m->last_scenario = t->scenario;
}

struct said {
    const char *label, *message;
    bool by_rule; /* one line for all with this label, whatever they say */
    enum tone tone;
};

static void remark_on(struct remarks *all, const struct trial *t, const struct said *s)
{
    struct number numbers[NUMBERS_MAX] = {0};
    const char *form = take_apart(all->r, s->message, numbers);
    const char *key = s->by_rule ? s->label : form;
    bool new;
    size_t at = *name_index_put(&all->index, key, all->items.len, &new);

    if (new &&at < LINES_MAX) {
        struct remark m = {.label = s->label, .message = s->message, .form = form, .tone = s->tone};
        memcpy(m.numbers, numbers, sizeof(numbers));
        vec_push(&all->items, m);
    }
    all->more += new &&at >= LINES_MAX;
    if (at >= all->items.len)
        return;
    struct remark *m = &all->items.items[at];
    bool same = strcmp(m->form, form) == 0;
    if (same)
        widen(m->numbers, numbers);
    if (m->last == t)
        return;
    m->last = t;
    m->trials++;
    m->others += !same;
    add_name(m, t);
}

static const char *remark_text(struct report *r, const struct remark *m)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    strbuf_adds(&text, m->label);
    add_message(m, &text);
    if (m->others)
        strbuf_addf(&text, ", and %zu more of another wording", m->others);
    strbuf_addf(&text, " (%zu trial%s: %s", m->trials, plural(m->trials), strbuf_text(&m->names));
    if (m->trials > TRIALS_NAMED)
        strbuf_addf(&text, " and %zu more", m->trials - TRIALS_NAMED);
    strbuf_addc(&text, ')');
    return arena_strdup(r->arena, strbuf_text(&text));
}

static void write_remarks(struct remarks *all, const char *heading)
{
    struct report *r = all->r;

    if (all->items.len) {
        struct section *s = section_new(r, heading);
        vec_each (m, &all->items) {
            vec_push(&s->lines, (struct line){remark_text(r, m), NULL, m->tone});
            strbuf_release(&m->names);
        }
        if (all->more)
            section_line(s, arena_printf(r->arena, "and %zu more, in the trials' records", all->more));
    }
    vec_release(&all->items);
    name_index_release(&all->index);
}

/* --- both kinds of remark --- */

static void judge(struct remarks *all, const struct trial *t, const struct validity_result *v)
{
    const char *label =
        arena_printf(all->r->arena, "%s %s: ", v->verdict ? v->verdict : "?", v->id ? v->id : "?");

    if (text_equal(v->verdict, "PASS"))
        return;
    remark_on(all, t,
              &(struct said){label, v->message ? v->message : "no message", true,
                             text_equal(v->verdict, "FAIL") ? TONE_BAD : TONE_WARN});
}

void list_validity(struct report *r)
{
    struct remarks all = {.r = r};

    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        for (size_t k = 0; k < c->trial_count; k++)
            for (size_t v = 0; v < c->trials[k]->validity_count; v++)
                judge(&all, c->trials[k], &c->trials[k]->validity[v]);
    }
    write_remarks(&all, "Validity");
}

void list_notes(struct report *r)
{
    struct remarks all = {.r = r};

    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        for (size_t k = 0; k < c->trial_count; k++)
            for (size_t n = 0; n < c->trials[k]->note_count; n++)
                if (c->trials[k]->notes[n])
                    remark_on(&all, c->trials[k],
                              &(struct said){"", c->trials[k]->notes[n], false, TONE_PLAIN});
    }
    write_remarks(&all, "Notes");
}
