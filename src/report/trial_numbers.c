/* SPDX-License-Identifier: MIT */
/* A trial's record as names and numbers: all of them, not only those that tables show. */
#include "machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void machine_number(struct strbuf *out, double value)
{
    char text[40];

    if (isinf(value)) {
        strbuf_adds(out, value < 0 ? "-Inf" : "Inf");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        double back;
        (void)snprintf(text, sizeof(text), "%.*g", digits, value);
        if (number_scan(text, strlen(text), &back) == strlen(text) && back == value)
            break;
    }
    strbuf_adds(out, text);
}

/* --- units --- */

const char *machine_unit(const char *name)
{
    const char *measure = "";
    enum unit unit = unit_of_name(name, &measure);

    if (unit == UNIT_MIB)
        return "bytes";
    if (unit == UNIT_RATE)
        return "ratio";
    if (unit == UNIT_PERCENT)
        return "percent";
    if (measure[0])
        return measure;
    if (text_ends(name, "rps") || strstr(name, "rates."))
        return "1/s";
    for (size_t i = 0; i < builtin_figure_count; i++)
        if (strcmp(builtin_figures[i].key, name) == 0 && builtin_figures[i].unit == UNIT_NUMBER)
            return builtin_figures[i].measure;
    return "";
}

/* --- the walk --- */

struct walk {
    const struct json *record;
    number_fn *each;
    void *data;
    struct strbuf name;
    size_t free_len; /* of the name's begin that somebody chose: it says nothing about a unit */
};

static void put(struct walk *w, double value)
{
    if (!isnan(value))
        w->each(strbuf_text(&w->name), value, machine_unit(strbuf_text(&w->name) + w->free_len), w->data);
}

static void truncate_name(struct walk *w, size_t len)
{
    w->name.len = len;
    w->name.data[len] = '\0';
}

static void walk_value(struct walk *w, const char *key, const struct json *j)
{
    size_t len = w->name.len;
    double value;

    strbuf_addf(&w->name, "%s%s", len ? "." : "", key);
    if (json_type_of(j) == JSON_TYPE_OBJECT)
        for (void *it = json_iter(j); it; it = json_iter_next(j, it))
            walk_value(w, json_iter_key(it), json_iter_value(it));
    else if (json_type_of(j) == JSON_TYPE_NUMBER)
        put(w, json_number(j));
    else if (text_equal(json_text(j), "unlimited") &&
             trial_number(w->record, strbuf_text(&w->name), &value) == 0)
        put(w, value);
    truncate_name(w, len);
}

/* --- lists of things with names --- */

static bool named_before(const struct json *list, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (text_equal(json_get_text(json_at(list, i), "name"), json_get_text(json_at(list, at), "name")))
            return true;
    return false;
}

typedef void item_fn(struct walk *w, const struct json *item);

static void walk_list(struct walk *w, const char *what, const struct json *list, item_fn *each)
{
    enum { ITEMS_MAX = 256 };

    if (json_type_of(list) != JSON_TYPE_ARRAY)
        return;
    for (size_t i = 0; i < json_len(list) && i < ITEMS_MAX; i++) {
        const char *name = json_get_text(json_at(list, i), "name");
        if (!name || named_before(list, i))
            continue;
        strbuf_clear(&w->name);
        strbuf_addf(&w->name, "%s.%s", what, name);
        w->free_len = w->name.len;
        each(w, json_at(list, i));
        w->free_len = 0;
    }
    strbuf_clear(&w->name);
}

static void walk_members(struct walk *w, const struct json *item)
{
    for (void *it = json_iter(item); it; it = json_iter_next(item, it))
        walk_value(w, json_iter_key(it), json_iter_value(it));
}

static void walk_check(struct walk *w, const struct json *item)
{
    const char *text = json_get_text(item, "value");
    double value;

    if (text && *text && number_scan(text, strlen(text), &value) == strlen(text))
        put(w, value);
}

/* A role may be called anything, and is no unit. */
static void walk_services(struct walk *w, const struct json *services)
{
    for (void *it = json_iter(services); it; it = json_iter_next(services, it)) {
        strbuf_clear(&w->name);
        strbuf_addf(&w->name, "services.%s", json_iter_key(it));
        w->free_len = w->name.len;
        walk_members(w, json_iter_value(it));
        w->free_len = 0;
    }
    strbuf_clear(&w->name);
}

static bool is_no_figure(const char *member)
{
    static const char *const others[] = {"trial", "attempt", "axes", "services"};

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (strcmp(others[i], member) == 0)
            return true;
    return false;
}

void trial_numbers(const struct report *r, const struct trial *t, number_fn *each, void *data)
{
    CLEANUP(json_free) struct json *record = trial_to_json(t);
    struct walk w = {.record = record, .each = each, .data = data};

    strbuf_adds(&w.name, "");
    for (void *it = json_iter(record); it; it = json_iter_next(record, it))
        if (!is_no_figure(json_iter_key(it)))
            walk_value(&w, json_iter_key(it), json_iter_value(it));
    walk_services(&w, json_get(record, "services"));
    walk_list(&w, "phases", json_pointer(record, "/load/phases"), walk_members);
    walk_list(&w, "requests", json_pointer(record, "/load/by_request"), walk_members);
    walk_list(&w, "steps", json_get(record, "steps"), walk_members);
    walk_list(&w, "build", json_pointer(record, "/build/steps"), walk_members);
    walk_list(&w, "checks", json_get(record, "checks"), walk_check);
    for (size_t f = 0; f < r->figures.len; f++) {
        const struct figure *figure = &r->figures.items[f];
        if (figure->source != SOURCE_DERIVED && figure->source != SOURCE_OFFERED)
            continue;
        strbuf_clear(&w.name);
        strbuf_adds(&w.name, figure->key);
        put(&w, r->values[(size_t)(t - r->sweep->trials) * r->figures.len + f]);
    }
    strbuf_release(&w.name);
}
