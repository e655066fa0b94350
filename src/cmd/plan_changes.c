/* SPDX-License-Identifier: MIT */
/* `benchctl plan --diff`: what an edit changed. */
#include "plan_print.h"

#include <string.h>

#include "benchctl/base/plain_text.h"
#include "cmd.h"
#include "search_print.h"

#define KINDS 4

struct changes {
    enum plan_style style;
    struct plan_output out;
    size_t counts[KINDS], rows;
};

static const char *const names[KINDS] = {[PLAN_ADDED] = "added",
                                         [PLAN_REMOVED] = "removed",
                                         [PLAN_RENAMED] = "renamed",
                                         [PLAN_CHANGED] = "changed"};
static const char *const orders[] = {
    [ORDER_LISTED] = "listed", [ORDER_INTERLEAVED] = "interleaved", [ORDER_RANDOM] = "random"};

static void table_row(struct changes *c, const struct plan_difference *d)
{
    struct strbuf *out = &c->out.text;

    strbuf_addf(out, "%-7s  %s", names[d->change], d->id);
    if (d->change == PLAN_RENAMED)
        strbuf_addf(out, "  (was %s)", d->old_id);
    strbuf_addc(out, '\n');
    for (size_t i = 0; i < d->setting_count; i++) {
        const struct plan_setting *s = &d->settings[i];
        strbuf_addf(out, "         %s: ", s->path);
        plain_add(out, s->before ? s->before : "(none)", "");
        strbuf_adds(out, " -> ");
        plain_add(out, s->after ? s->after : "(none)", "");
        strbuf_addc(out, '\n');
    }
}

static void json_row(struct changes *c, const struct plan_difference *d)
{
    CLEANUP(json_free) struct json *row = json_new_object();

    json_set_text(row, "id", d->id);
    json_set_text(row, "change", names[d->change]);
    if (d->change == PLAN_RENAMED)
        json_set_text(row, "old_id", d->old_id);
    if (d->change == PLAN_CHANGED) {
        struct json *settings = json_new_array();
        for (size_t i = 0; i < d->setting_count; i++) {
            struct json *s = json_new_object();
            json_set_text(s, "path", d->settings[i].path);
            json_set_text(s, "before", d->settings[i].before);
            json_set_text(s, "after", d->settings[i].after);
            json_append(settings, s);
        }
        json_set(row, "settings", settings);
    }
    strbuf_adds(&c->out.text, c->rows ? ",\n    " : "\n    ");
    json_write(row, JSON_STYLE_COMPACT, &c->out.text);
}

static void csv_line(struct changes *c, const struct plan_difference *d, const struct plan_setting *s)
{
    struct strbuf *out = &c->out.text;

    csv_field(out, d->id, true);
    csv_field(out, names[d->change], false);
    csv_field(out, d->old_id ? d->old_id : "", false);
    csv_field(out, s ? s->path : "", false);
    csv_field(out, s && s->before ? s->before : "", false);
    csv_field(out, s && s->after ? s->after : "", false);
    strbuf_addc(out, '\n');
}

static int print_change(const struct plan_difference *d, void *data, struct error *err)
{
    struct changes *c = data;

    if (c->style == PLAN_STYLE_TABLE)
        table_row(c, d);
    else if (c->style == PLAN_STYLE_JSON)
        json_row(c, d);
    else if (!d->setting_count)
        csv_line(c, d, NULL);
    for (size_t i = 0; i < d->setting_count && c->style == PLAN_STYLE_CSV; i++)
        csv_line(c, d, &d->settings[i]);
    c->counts[d->change]++;
    c->rows++;
    return plan_output_some(&c->out, err);
}

/* What changed in the sweep as a whole: how often and in which order, which no scenario's digest covers. */
static void sweep_changes(struct strbuf *out, const struct matrix *now, const struct matrix *before)
{
    if (now->trials != before->trials)
        strbuf_addf(out, "trials: %lld -> %lld\n", (long long)before->trials, (long long)now->trials);
    if (now->order != before->order)
        strbuf_addf(out, "order: %s -> %s\n", orders[before->order], orders[now->order]);
    if (now->seed != before->seed)
        strbuf_addf(out, "seed: %lld -> %lld\n", (long long)before->seed, (long long)now->seed);
    CLEANUP_VALUE(strbuf_release) struct strbuf was = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf is = STRBUF_INIT;
    search_text(before, &was);
    search_text(now, &is);
    if (strcmp(strbuf_text(&was), strbuf_text(&is)) != 0)
        strbuf_addf(out, "search: %s -> %s\n", was.len ? strbuf_text(&was) : "(none)",
                    is.len ? strbuf_text(&is) : "(none)");
}

static struct json *sweep_json(const struct matrix *m)
{
    struct json *j = json_new_object();
    CLEANUP_VALUE(strbuf_release) struct strbuf search = STRBUF_INIT;

    search_text(m, &search);
    json_set_text(j, "name", m->name);
    json_set_int(j, "trials", m->trials);
    json_set_text(j, "mode", orders[m->order]);
    json_set_int(j, "seed", m->seed);
    if (search.len)
        json_set_text(j, "search", strbuf_text(&search));
    return j;
}

static void json_member(struct strbuf *out, const char *key, struct json *value, const char *after)
{
    strbuf_addf(out, "  \"%s\": ", key);
    json_write(value, JSON_STYLE_COMPACT, out);
    strbuf_adds(out, after);
    json_free(value);
}

static void begin(struct changes *c, const struct plan *now, const struct plan *before)
{
    if (c->style == PLAN_STYLE_CSV)
        strbuf_adds(&c->out.text, "scenario,change,old_id,path,before,after\n");
    if (c->style != PLAN_STYLE_JSON)
        return;
    strbuf_adds(&c->out.text, "{\n");
    json_member(&c->out.text, "before", sweep_json(plan_matrix(before)), ",\n");
    json_member(&c->out.text, "now", sweep_json(plan_matrix(now)), ",\n");
    strbuf_adds(&c->out.text, "  \"scenarios\": [");
}

static void end(struct changes *c, const struct plan *now, const struct plan *before, size_t same)
{
    struct strbuf *out = &c->out.text;

    if (c->style == PLAN_STYLE_TABLE) {
        strbuf_adds(out, c->rows ? "\n" : "");
        sweep_changes(out, plan_matrix(now), plan_matrix(before));
        for (size_t i = 0; i < KINDS; i++)
            strbuf_addf(out, "%zu %s, ", c->counts[i], names[i]);
        strbuf_addf(out, "%zu unchanged\n", same);
    } else if (c->style == PLAN_STYLE_JSON) {
        struct json *counts = json_new_object();
        for (size_t i = 0; i < KINDS; i++)
            json_set_int(counts, names[i], (int64_t)c->counts[i]);
        json_set_int(counts, "unchanged", (int64_t)same);
        strbuf_adds(out, c->rows ? "\n  ],\n" : "],\n");
        json_member(out, "counts", counts, "\n}\n");
    }
}

int plan_print_diff(const struct plan *now, const struct plan *before, enum plan_style style,
                    struct error *err)
{
    struct changes c = {.style = style};
    size_t same = 0;

    begin(&c, now, before);
    int result = plan_diff(now, before, print_change, &c, &same, err);
    if (result == 0) {
        end(&c, now, before, same);
        result = plan_output_end(&c.out, err);
    }
    strbuf_release(&c.out.text);
    return result;
}
