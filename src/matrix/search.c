/* SPDX-License-Identifier: MIT */
/* A searched axis: `memory: {search: {from: 64m, to: 1g}}` → the sizes of its grid, smallest first. */
#include "matrix_internal.h"

#include "benchctl/base/units.h"
#include "benchctl/trial.h"
#include "settings_rules.h"

/* The first step when none is given: a quarter of the smallest limit is as fine as a limit of that order is
 * ever written, and a range of 1 to 16 then takes eight probes at most. */
#define STEP_PART 4
#define MIB (INT64_C(1) << 20)

#define UNTIL_KNOWN                                                                                          \
    (1u << OUTCOME_OK | 1u << OUTCOME_DEGRADED | 1u << OUTCOME_CRASHED | 1u << OUTCOME_NOT_READY)

/* As it is written. */
struct search_file {
    int64_t from_bytes, to_bytes, step_bytes;
    struct text_list until;
};

static int64_t default_step(const struct search_file *f)
{
    int64_t step = f->from_bytes / STEP_PART / MIB * MIB, way = f->to_bytes - f->from_bytes;

    step = step > MIB ? step : MIB;
    return step > way && way > 0 ? way : step;
}

/* How many sizes there are: every step of the way, and the end. */
static int64_t grid_len(const struct search_file *f)
{
    int64_t way = f->to_bytes - f->from_bytes;

    return way / f->step_bytes + 1 + (way % f->step_bytes != 0);
}

static int check_grid(const struct node *n, const struct search_file *f, struct error *err)
{
    char from[32], to[32], step[32];
    int64_t way = f->to_bytes - f->from_bytes;

    if (way <= 0) {
        node_error(err, rule_at(n, "to"), "a search goes from less to more, not from %s to %s",
                   size_format(f->from_bytes, from), size_format(f->to_bytes, to));
        return error_hint(err, "'to' must be above 'from'");
    }
    if (f->step_bytes > way) {
        node_error(err, rule_at(n, "step"), "'step' of a search is larger than the way from %s to %s",
                   size_format(f->from_bytes, from), size_format(f->to_bytes, to));
        return error_hint(err, "it is the resolution of the result: at most %s here", size_format(way, step));
    }
    if (grid_len(f) <= MATRIX_MAX_CANDIDATES)
        return 0;
    int64_t least = (way + MATRIX_MAX_CANDIDATES - 2) / (MATRIX_MAX_CANDIDATES - 1);
    node_error(err, rule_at(n, "step"), "from %s to %s by %s are more than %d sizes",
               size_format(f->from_bytes, from), size_format(f->to_bytes, to),
               size_format(f->step_bytes, step), MATRIX_MAX_CANDIDATES);
    int64_t unit = least > MIB ? MIB : 1024;
    least = (least + unit - 1) / unit * unit;
    return error_hint(err, "step: %s or more", size_format(least, step));
}

static int complete_search(const struct node *n, struct arena *a, void *value, struct error *err)
{
    struct search_file *f = value;

    (void)n;
    (void)a;
    (void)err;
    if (f->step_bytes == SCHEMA_ABSENT && f->from_bytes > 0)
        f->step_bytes = default_step(f);
    return 0;
}

static int check_until(const struct node *n, const struct search_file *f, struct error *err)
{
    const char *names[OUTCOMES] = {0};
    enum outcome o;
    char shown[SHOWN_SIZE];

    for (int i = 0; i < OUTCOMES; i++)
        names[i] = UNTIL_KNOWN >> i & 1 ? outcome_name((enum outcome)i) : NULL;
    if (!f->until.len)
        return node_error(err, rule_at(n, "until"), "'until' of a search names no outcome");
    for (size_t i = 0; i < f->until.len; i++) {
        if (outcome_parse(f->until.items[i], &o) == 0 && UNTIL_KNOWN >> o & 1)
            continue;
        bool known = outcome_parse(f->until.items[i], &o) == 0;
        node_error(err, rule_at(n, "until"),
                   known ? "'until' cannot be '%s', which says nothing of a limit"
                         : "'until' does not know the outcome '%s'",
                   text_shown(f->until.items[i], shown));
        const char *near = known ? NULL : nearest_name(f->until.items[i], names, OUTCOMES);
        return near ? error_hint(err, "did you mean '%s'?", near)
                    : error_hint(err, "outcomes of an application are ok, degraded, crashed and not-ready");
    }
    return 0;
}

static int check_search(const struct node *n, const void *value, struct error *err)
{
    const struct search_file *f = value;

    return check_grid(n, f, err) < 0 ? -1 : check_until(n, f, err);
}

static const struct schema_field search_fields[] = {
    FIELD("from", SIZE, search_file, from_bytes, .required = true, .min = MEMORY_MIN_BYTES,
          .help = "The smallest size to try."),
    FIELD("to", SIZE, search_file, to_bytes, .required = true, .min = MEMORY_MIN_BYTES,
          .help = "The largest, tried first: when it fails, nothing will do."),
    FIELD("step", SIZE, search_file, step_bytes, .min = 1,
          .help = "Resolution of the result; a quarter of `from` in whole MiB when it is not given."),
    FIELD("until", TEXTS, search_file, until, .fallback = "ok",
          .help = "Outcomes with which a trial passes: `ok`, `degraded`, ..."),
};
static const struct schema search_schema = {
    .name = "search",
    .help = "The smallest size that will do.",
    .size = sizeof(struct search_file),
    LIST_OF(search_fields),
    .free_keys = true,
    .check = check_search,
    .complete = complete_search,
};

/* Only one axis can be searched: two would make a border, not a minimum. */
static int check_alone(const struct builder *b, const struct node *n, struct error *err)
{
    size_t other = matrix_searched(b->m);

    if (other == b->m->axis_count)
        return 0;
    node_error(err, n, "axis '%s' is searched already", b->m->axes[other].name);
    return error_hint(err, "one axis can be searched; give the other one a list of values");
}

/* An axis that is a map is a search and nothing else. */
static int check_keys(const struct node *n, const char *axis, struct error *err)
{
    static const char *const known[] = {"search"};
    bool searched = node_get(n, "search") != NULL;
    char shown[SHOWN_SIZE];

    for (size_t i = 0; i < n->len; i++) {
        const char *key = n->keys[i]->text, *near = nearest_name(key, known, 1);
        if (strcmp(key, known[0]) == 0 || text_starts(key, "x-") || (!searched && !near))
            continue;
        node_error(err, n->keys[i], "unknown key '%s' in axis '%s'", text_shown(key, shown), axis);
        return near && !searched ? error_hint(err, "did you mean '%s'?", near)
                                 : error_hint(err, "beside 'search' an axis has no keys");
    }
    if (searched)
        return 0;
    node_error(err, n, "axis '%s' must be a list of values", axis);
    return error_hint(err,
                      "or {search: {from: 64m, to: 1g}}, which looks for the smallest size that will do");
}

static const struct axis_search *keep(struct arena *a, const struct search_file *f, struct position at)
{
    struct axis_search *s = arena_new_of(a, struct axis_search);

    *s = (struct axis_search){
        .from_bytes = f->from_bytes, .to_bytes = f->to_bytes, .step_bytes = f->step_bytes, .at = at};
    for (size_t i = 0; i < f->until.len; i++) {
        enum outcome o;
        if (outcome_parse(f->until.items[i], &o) == 0)
            s->until |= 1u << o;
    }
    return s;
}

int builder_read_search(struct builder *b, struct axis *x, const struct node *n, struct error *err)
{
    struct arena *a = b->m->arena;
    const struct node *search = node_get(n, "search");
    struct search_file f = {0};
    char text[32];

    if (check_keys(n, x->name, err) < 0 || check_alone(b, search, err) < 0)
        return -1;
    if (schema_read(&search_schema, search, a, &f, err) < 0)
        return -1;
    size_t len = (size_t)grid_len(&f);
    x->values = arena_array(a, struct axis_value, len);
    for (size_t i = 0; i < len; i++) {
        int64_t bytes = i + 1 < len ? f.from_bytes + (int64_t)i * f.step_bytes : f.to_bytes;
        x->values[i] =
            (struct axis_value){.text = arena_strdup(a, size_format(bytes, text)), .at = search->at};
    }
    x->len = len;
    x->search = keep(a, &f, search->at);
    return 0;
}

size_t matrix_searched(const struct matrix *m)
{
    size_t i = 0;

    while (i < m->axis_count && !m->axes[i].search)
        i++;
    return i;
}

const char *axis_value_name(const struct axis *x, const char *text, char buf[AXIS_NAME_SIZE])
{
    struct error ignored = ERROR_INIT;
    int64_t bytes;

    if (!x->search || size_parse(text, &bytes, &ignored) < 0)
        return text;
    return size_format(bytes, buf);
}
