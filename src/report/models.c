/* SPDX-License-Identifier: MIT */
/* How scenarios were loaded: figures of different models are never to be compared in silence. */
#include "report_internal.h"

#include <string.h>

enum { WAYS_MAX = 8, NAMES_MAX = 4 };

/* --- of each cell --- */

static const struct load_result *cell_load(const struct cell *c)
{
    for (size_t i = 0; i < c->trial_count; i++)
        if (c->trials[i]->has_load && c->trials[i]->load.model)
            return &c->trials[i]->load;
    return NULL;
}

void report_models(struct report *r)
{
    const char *last = NULL;

    for (size_t i = 0; i < r->cells.len; i++) {
        struct cell *c = &r->cells.items[i];
        const struct load_result *l = cell_load(c);
        const char *corrected = l ? l->corrected : NULL;
        c->model = !l           ? ""
                   : !corrected ? l->model
                                : arena_printf(r->arena, "%s, %scorrected", l->model,
                                               strcmp(corrected, "yes") == 0 ? "" : "not ");
        c->load = l;
        c->mixed = l && strcmp(l->model, "mixed") == 0;
        r->models_differ |= c->mixed || (l && last && strcmp(last, c->model) != 0);
        if (l)
            last = c->model;
    }
}

/* --- the lines above everything --- */

struct way {
    const char *line;
    VEC(const char *) scenarios;
};

struct ways {
    struct name_index index;
    VEC(struct way) items;
};

static const char *way_text(struct report *r, const struct load_result *l)
{
    const char *corrected = !l->corrected ? ""
                            : strcmp(l->corrected, "yes") == 0
                                ? ", latency corrected for coordinated omission"
                                : ", latency not corrected for coordinated "
                                  "omission";

    return arena_printf(r->arena, "load: %s%s%s%s%s%s%s", l->generator, l->version ? " " : "",
                        l->version ? l->version : "", l->model ? ", " : "", l->model ? l->model : "",
                        l->model ? " model" : "", corrected);
}

static void add_way(struct report *r, struct ways *all, const struct trial *t)
{
    const char *line = way_text(r, &t->load);
    bool new;
    size_t at = *name_index_put(&all->index, line, all->items.len, &new);

    if (new &&at < WAYS_MAX)
        vec_push(&all->items, (struct way){.line = line});
    if (at >= all->items.len)
        return;
    struct way *w = &all->items.items[at];
    if (!w->scenarios.len || strcmp(w->scenarios.items[w->scenarios.len - 1], t->scenario) != 0)
        vec_push(&w->scenarios, t->scenario);
}

/* "(12 scenarios: a, b, c, d and 8 more)" */
static const char *with_names(struct report *r, const struct way *w)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    strbuf_addf(&text, "%s (%zu scenario%s: ", w->line, w->scenarios.len, plural(w->scenarios.len));
    for (size_t i = 0; i < w->scenarios.len && i < NAMES_MAX; i++)
        strbuf_addf(&text, "%s%s", i ? ", " : "", w->scenarios.items[i]);
    if (w->scenarios.len > NAMES_MAX)
        strbuf_addf(&text, " and %zu more", w->scenarios.len - NAMES_MAX);
    strbuf_addc(&text, ')');
    return arena_strdup(r->arena, strbuf_text(&text));
}

void describe_load(struct report *r, struct section *s)
{
    struct ways all = {0};

    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        for (size_t k = 0; k < c->trial_count; k++)
            if (c->trials[k]->has_load && c->trials[k]->load.generator)
                add_way(r, &all, c->trials[k]);
    }
    vec_each (w, &all.items) {
        section_line(s, all.index.len > 1 ? with_names(r, w) : w->line);
        vec_release(&w->scenarios);
    }
    if (all.index.len > all.items.len)
        section_line(s,
                     arena_printf(r->arena, "and %zu more ways of loading", all.index.len - all.items.len));
    if (all.index.len > 1) {
        section_line(s, "scenarios were loaded in different ways: compare only those of the same kind");
        s->lines.items[s->lines.len - 1].tone = TONE_WARN;
    }
    vec_release(&all.items);
    name_index_release(&all.index);
}
