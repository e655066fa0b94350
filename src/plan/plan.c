/* SPDX-License-Identifier: MIT */
/* From rules to scenarios. Everything is kept as numbers: a bit per combination and four bytes per scenario.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "benchctl/base/units.h"
#include "canary.h"
#include "controls.h"
#include "plan_internal.h"
#include "search.h"

#define MAX_TRIALS UINT64_C(1000000000)

static const uint32_t *include_digits(const struct plan *p, size_t include)
{
    return p->include_digits + include * p->grid.axis_count;
}

static bool is_excluded(const struct plan *p, uint32_t combo)
{
    return p->excluded[combo / 64] >> combo % 64 & 1;
}

/* Excludes in portions of what a sieve holds. */
static int apply_excludes(struct plan *p, struct error *err)
{
    const struct matrix *m = p->m;

    for (size_t first = 0; first < m->exclude_count; first += SIEVE_RULES) {
        size_t count = m->exclude_count - first < SIEVE_RULES ? m->exclude_count - first : SIEVE_RULES;
        CLEANUP(sieve_free) struct sieve *s = sieve_new(&p->grid, p->excludes + first, count);
        sieve_mark(s, p->excluded);
        for (size_t i = 0; i < m->include_count; i++) {
            size_t rule = sieve_match(s, include_digits(p, i));
            if (rule == SIZE_MAX)
                continue;
            struct position by = m->excludes[first + rule].at;
            position_error(err, m->includes[i].at, "this include is dropped by the exclude at %s:%d:%d",
                           by.file, by.line, by.column);
            return error_hint(err, "a scenario cannot be both included and excluded: change one of the two");
        }
        size_t bad = sieve_unmatched(s);
        if (bad != SIZE_MAX) {
            position_error(err, m->excludes[first + bad].at, "this exclude matches no combination");
            return error_hint(
                err,
                "an item must match at least one combination of the axes; remove it or correct its values");
        }
    }
    for (size_t w = 0; w < (p->grid.combos + 63) / 64; w++)
        p->counts.excluded += (uint64_t)__builtin_popcountll(p->excluded[w]);
    return 0;
}

static void read_includes(struct plan *p)
{
    const struct grid *g = &p->grid;

    p->include_digits = arena_array(p->arena, uint32_t, p->m->include_count * g->axis_count + 1);
    for (size_t i = 0; i < p->m->include_count; i++) {
        for (size_t a = 0; a < g->axis_count; a++) {
            const char *text = p->m->includes[i].values[a];
            p->include_digits[i * g->axis_count + a] = (uint32_t)grid_value(&g->axes[a].by_text, text);
        }
    }
}

static int check_includes(struct plan *p, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf id = STRBUF_INIT;

    for (size_t i = 0; i < p->m->include_count; i++) {
        struct position at = p->m->includes[i].at;
        uint32_t combo;
        bool is_new;
        strbuf_clear(&id);
        grid_id(&p->grid, include_digits(p, i), &id);
        if (grid_combo(&p->grid, include_digits(p, i), &combo)) {
            position_error(err, at, "duplicate scenario: '%s' is already a combination of the axes",
                           strbuf_text(&id));
            return error_hint(
                err, "include adds whole scenarios; to change settings of an existing one, use overrides");
        }
        size_t first = *name_index_put(&p->include_ids, arena_strdup(p->arena, strbuf_text(&id)), i, &is_new);
        if (!is_new)
            return position_error(err, at, "duplicate scenario: '%s' is already included at %s:%d:%d",
                                  strbuf_text(&id), p->m->includes[first].at.file,
                                  p->m->includes[first].at.line, p->m->includes[first].at.column);
    }
    p->counts.included = p->m->include_count;
    return 0;
}

static int check_not_empty(const struct plan *p, struct error *err)
{
    const struct matrix *m = p->m;

    if (p->counts.excluded < p->grid.combos || m->include_count)
        return 0;
    if (m->exclude_count == 1)
        position_error(err, m->excludes[0].at,
                       "this exclude matches every combination, so nothing is left to run");
    else
        position_error(err, m->excludes[m->exclude_count - 1].at,
                       "the excludes up to this one drop every combination, so nothing "
                       "is left to run");
    return error_hint(err, "%u combination%s, %llu excluded", p->grid.combos, plural(p->grid.combos),
                      (unsigned long long)p->counts.excluded);
}

static int check_overrides(struct plan *p, struct error *err)
{
    const struct matrix *m = p->m;

    for (size_t first = 0; first < m->override_count; first += SIEVE_RULES) {
        size_t count = m->override_count - first < SIEVE_RULES ? m->override_count - first : SIEVE_RULES;
        CLEANUP(sieve_free) struct sieve *s = sieve_new(&p->grid, p->overrides + first, count);
        for (size_t i = 0; i < m->include_count; i++)
            (void)sieve_match(s, include_digits(p, i));
        sieve_probe(s, p->excluded);
        size_t bad = sieve_unmatched(s);
        if (bad == SIZE_MAX)
            continue;
        position_error(err, m->overrides[first + bad].when.at, "this override matches no scenario");
        return error_hint(err, "no combination has these values together, or excludes drop all that do");
    }
    return 0;
}

static int no_scenario_left(const struct plan *p, const struct plan_options *options, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf list = STRBUF_INIT;

    for (size_t i = 0; i < p->filter_count; i++)
        strbuf_addf(&list, "%s'%s'", i ? ", " : "", options->filters[i]);
    error_set(err, ERROR_USAGE, "%s %.2048s leave%s none of the %llu scenarios",
              p->filter_count == 1 ? "filter" : "filters", strbuf_text(&list),
              p->filter_count == 1 ? "s" : "", (unsigned long long)p->counts.filtered);
    return error_hint(err, "`benchctl plan MATRIX --format ids` lists the ids; in a glob over ids, * stops "
                           "at '/' and ** does not");
}

/* Fills `kept` and `kept_includes` with what passes the filters. */
static int apply_filters(struct plan *p, const struct plan_options *options, struct error *err)
{
    const struct grid *g = &p->grid;
    CLEANUP_VALUE(strbuf_release) struct strbuf scratch = STRBUF_INIT;
    CLEANUP_FREE uint32_t *digits = xmalloc((g->axis_count + 1) * sizeof(*digits));

    p->kept = xmalloc((g->combos - p->counts.excluded + 1) * sizeof(*p->kept));
    for (uint32_t combo = 0; combo < g->combos; combo++) {
        if (is_excluded(p, combo))
            continue;
        if (p->filter_count) {
            grid_digits(g, combo, digits);
            if (filters_stop(p->filters, p->filter_count, g, digits, &scratch))
                continue;
        }
        p->kept[p->kept_len++] = combo;
    }
    p->kept = xrealloc(p->kept, (p->kept_len + 1) * sizeof(*p->kept));
    p->kept_includes = arena_array(p->arena, uint32_t, p->m->include_count + 1);
    for (size_t i = 0; i < p->m->include_count; i++) {
        if (!filters_stop(p->filters, p->filter_count, g, include_digits(p, i), &scratch))
            p->kept_includes[p->kept_includes_len++] = (uint32_t)i;
    }
    p->counts.scenarios = p->kept_len + p->kept_includes_len;
    p->counts.filtered = g->combos - p->counts.excluded + p->counts.included - p->counts.scenarios;
    return p->counts.scenarios ? 0 : no_scenario_left(p, options, err);
}

/* Scenarios of which each has all its trials, and searches, of which each has so many at most. */
static bool add_trials(struct plan *p)
{
    const struct candidates *c = &p->candidates;
    uint64_t fixed = c->len ? p->kept_includes_len : p->counts.scenarios, each = (uint64_t)p->m->trials;

    if (__builtin_mul_overflow(fixed, each, &p->counts.trials))
        return false;
    for (size_t i = 0; i < c->len && p->counts.trials <= MAX_TRIALS; i++) {
        struct search s;
        search_init(&s, (int64_t)candidates_count(c, i), 1, plan_until(p));
        p->counts.trials += (uint64_t)search_probes_left(&s) * each;
    }
    return p->counts.trials <= MAX_TRIALS;
}

static int count_trials(struct plan *p, struct error *err)
{
    assert(p->m->trials > 0);
    candidates_init(&p->candidates, &p->grid, p->kept, p->kept_len);
    if (add_trials(p))
        return 0;
    return error_set(err, ERROR_INVALID, "%s: %llu scenarios of %lld trials each are more than %llu trials",
                     p->m->file, (unsigned long long)p->counts.scenarios, (long long)p->m->trials,
                     (unsigned long long)MAX_TRIALS);
}

static int plan_fill(struct plan *p, const struct plan_options *options, struct error *err)
{
    if (grid_init(&p->grid, p->m, p->arena, err) < 0)
        return -1;
    p->counts.product = p->grid.product;
    p->counts.zipped_away = p->grid.product - p->grid.combos;
    p->excludes = rules_of_excludes(p->m, p->arena);
    p->overrides = rules_of_overrides(p->m, p->arena);
    p->excluded = xcalloc((p->grid.combos + 63) / 64, sizeof(*p->excluded));
    read_includes(p);
    if (apply_excludes(p, err) < 0 || check_includes(p, err) < 0 || check_not_empty(p, err) < 0 ||
        check_overrides(p, err) < 0)
        return -1;
    p->filter_count = options->filter_count;
    if (filters_parse(&p->grid, options, &p->filters, err) < 0 || apply_filters(p, options, err) < 0)
        return -1;
    return plan_add_controls(p, err) < 0 || count_trials(p, err) < 0 ? -1 : plan_find_canary(p, err);
}

int plan_make(const struct matrix *m, const struct plan_options *options, struct plan **ret,
              struct error *err)
{
    static const struct plan_options none = {0};
    CLEANUP(plan_free) struct plan *p = xcalloc(1, sizeof(*p));

    p->m = m;
    p->arena = arena_new();
    if (plan_fill(p, options ? options : &none, err) < 0)
        return -1;
    *ret = TAKE(p);
    return 0;
}

void plan_free(struct plan *p)
{
    if (!p)
        return;
    grid_release(&p->grid);
    name_index_release(&p->include_ids);
    free(p->excluded);
    free(p->kept);
    candidates_release(&p->candidates);
    arena_free(p->arena);
    free(p);
}

const struct plan_counts *plan_counts(const struct plan *p)
{
    return &p->counts;
}

const struct matrix *plan_matrix(const struct plan *p)
{
    return p->m;
}

size_t plan_bytes(const struct plan *p)
{
    return sizeof(*p) + arena_bytes(p->arena) + grid_bytes(&p->grid) + p->include_ids.cap * GRID_INDEX_SLOT +
           (p->grid.combos + 63) / 64 * sizeof(*p->excluded) + (p->kept_len + 1) * sizeof(*p->kept) +
           (p->candidates.len ? p->kept_len + p->candidates.len : 0) * sizeof(*p->candidates.items);
}
