/* SPDX-License-Identifier: MIT */
#include "benchctl/compare.h"

#include <math.h>
#include <string.h>
#include "benchctl/base/name_index.h"
#include "benchctl/base/units.h"
#include "benchctl/bundle.h"
#include "cmd.h"

#define MARGIN_BETWEEN 0.01 /* what matters to one who asks which is faster; a rerun asks for less */

struct comparing {
    struct arena *a;
    struct sweep *one, *other; /* other: NULL with --by */
    VEC(struct compare_trial) then, now;
    const char *then_name, *now_name;
    size_t digests_differ; /* scenarios of one id and other settings */
};

static void comparing_release(struct comparing *c)
{
    vec_release(&c->then);
    vec_release(&c->now);
    sweep_free(c->one);
    sweep_free(c->other);
    arena_free(c->a);
}

/* What restarted or was killed has no speed: its figures are those of a service that was failing. */
static struct compare_trial take(const struct trial *t, const char *name)
{
    struct compare_trial ret;

    compare_take(t, &ret);
    ret.scenario = name;
    for (int f = 0; f < COMPARE_FIGURES && (t->app.restarts > 0 || t->app.oom_kills > 0); f++)
        ret.figures[f] = NAN;
    return ret;
}

struct ranked {
    const struct trial *trial;
    size_t rank; /* of its scenario in the plan */
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    int order = strcmp(x->trial->scenario, y->trial->scenario);
    return order ? order : x->trial->trial - y->trial->trial;
}

/* In the order of the plan: that of execution is shuffled. */
static struct ranked *ordered(struct arena *a, const struct sweep *s)
{
    const struct json *plan = json_get(s->plan, "scenarios");
    struct name_index index = NAME_INDEX_INIT;
    struct ranked *list = arena_array(a, struct ranked, s->trial_count + 1);
    bool fresh;

    for (size_t i = 0; i < json_len(plan); i++)
        if (json_get_text(json_at(plan, i), "id"))
            (void)name_index_put(&index, json_get_text(json_at(plan, i), "id"), i, &fresh);
    for (size_t i = 0; i < s->trial_count; i++) {
        const size_t *rank = name_index_get(&index, s->trials[i].scenario);
        list[i] = (struct ranked){&s->trials[i], rank ? *rank : SIZE_MAX};
    }
    name_index_release(&index);
    if (s->trial_count)
        qsort(list, s->trial_count, sizeof(*list), by_rank);
    return list;
}

/* --- two sweeps --- */

static void take_sweeps(struct comparing *c)
{
    const struct ranked *one = ordered(c->a, c->one), *other = ordered(c->a, c->other);
    struct name_index digests = NAME_INDEX_INIT, told = NAME_INDEX_INIT;
    bool fresh;

    for (size_t i = 0; i < c->one->trial_count; i++) {
        vec_push(&c->then, take(one[i].trial, one[i].trial->scenario));
        (void)name_index_put(&digests, one[i].trial->scenario, i, &fresh);
    }
    for (size_t i = 0; i < c->other->trial_count; i++) {
        const struct trial *t = other[i].trial;
        const size_t *at = name_index_get(&digests, t->scenario);
        vec_push(&c->now, take(t, t->scenario));
        (void)name_index_put(&told, t->scenario, i, &fresh);
        const char *before = fresh && at ? one[*at].trial->digest : NULL;
        c->digests_differ += before && t->digest && strcmp(before, t->digest) != 0;
    }
    name_index_release(&digests);
    name_index_release(&told);
    c->then_name = "A";
    c->now_name = "B";
}

/* --- values of one axis --- */

static const char *value_of(const struct trial *t, const char *axis)
{
    for (size_t i = 0; i < t->axis_count; i++)
        if (text_equal(t->axes[i].axis, axis))
            return t->axes[i].value ? t->axes[i].value : "";
    return NULL;
}

static int unknown_axis(const struct sweep *s, const char *axis, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf all = {.max = 512};
    const struct trial *t = s->trial_count ? &s->trials[0] : NULL;

    for (size_t i = 0; t && i < t->axis_count; i++)
        strbuf_addf(&all, "%s%s", i ? ", " : "", t->axes[i].axis);
    (void)error_set(err, ERROR_USAGE, "the sweep has no axis '%s'", axis);
    return error_hint(err, "its axes are: %s", strbuf_text(&all));
}

struct values {
    VEC(const char *) items;
};

/* Those asked for, or all that trials have, in the order of the plan. */
static void add_value(struct values *v, const char *value)
{
    for (size_t i = 0; i < v->items.len; i++)
        if (strcmp(v->items.items[i], value) == 0)
            return;
    vec_push(&v->items, value);
}

static void collect_values(const struct sweep *s, const char *axis, struct values *ret)
{
    const struct json *plan = json_get(s->plan, "scenarios");

    for (size_t i = 0; i < json_len(plan); i++) {
        const char *value = json_get_text(json_get(json_at(plan, i), "axes"), axis);
        if (value && !json_get_text(json_at(plan, i), "control"))
            add_value(ret, value);
    }
    for (size_t i = 0; i < s->trial_count; i++) {
        const char *value = value_of(&s->trials[i], axis);
        if (value)
            add_value(ret, value);
    }
}

/* The values of all other axes. */
static const char *rest_of(struct arena *a, const struct trial *t, const char *axis)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    for (size_t i = 0; i < t->axis_count; i++)
        if (!text_equal(t->axes[i].axis, axis))
            strbuf_addf(&text, "%s%s", text.len ? "/" : "", t->axes[i].value ? t->axes[i].value : "");
    return arena_strdup(a, text.len ? strbuf_text(&text) : axis);
}

/* Each value with the first one. Of more than two all pairs are one family of tests: their names tell them
 * apart. */
static void take_values(struct comparing *c, const char *axis, const struct values *v)
{
    bool named = v->items.len > 2;
    const char *base = v->items.items[0];
    const struct ranked *trials = ordered(c->a, c->one);

    for (size_t k = 1; k < v->items.len; k++) {
        const char *value = v->items.items[k];
        for (size_t i = 0; i < c->one->trial_count; i++) {
            const struct trial *t = trials[i].trial;
            const char *its = value_of(t, axis), *rest = rest_of(c->a, t, axis);
            const char *name = named ? arena_printf(c->a, "%s: %s", rest, value) : rest;
            if (its && strcmp(its, base) == 0)
                vec_push(&c->then, take(t, name));
            else if (its && strcmp(its, value) == 0)
                vec_push(&c->now, take(t, name));
        }
    }
    c->then_name = base;
    c->now_name = named ? "the other" : v->items.items[1];
}

static int take_axis(struct comparing *c, const char *by, struct error *err)
{
    const char *equals = strchr(by, '=');
    const char *axis = equals ? arena_strndup(c->a, by, (size_t)(equals - by)) : by;
    struct values all = {0}, chosen = {0};
    int result = 0;

    collect_values(c->one, axis, &all);
    char *list = equals ? arena_strdup(c->a, equals + 1) : NULL, *save = NULL;
    for (char *x = list ? strtok_r(list, ",", &save) : NULL; x; x = strtok_r(NULL, ",", &save))
        add_value(&chosen, x);
    for (size_t i = 0; i < chosen.items.len && all.items.len && result == 0; i++) {
        size_t k = 0;
        while (k < all.items.len && strcmp(all.items.items[k], chosen.items.items[i]) != 0)
            k++;
        if (k == all.items.len)
            result = error_set(err, ERROR_USAGE, "axis '%s' has no value '%s'", axis, chosen.items.items[i]);
    }
    struct values *v = equals ? &chosen : &all;
    if (result == 0 && !all.items.len)
        result = unknown_axis(c->one, axis, err);
    else if (result == 0 && v->items.len < 2)
        result = error_set(err, ERROR_USAGE,
                           "axis '%s' has one value only: there is nothing to compare it with", axis);
    if (result == 0)
        take_values(c, axis, v);
    vec_release(&all.items);
    vec_release(&chosen.items);
    return result;
}

/* --- what comes out --- */

static void add_json(const struct comparison *c, struct strbuf *out)
{
    CLEANUP(json_free) struct json *j = compare_json(c);
    struct json *list = json_new_array();

    for (size_t i = 0; i < c->len; i++) {
        struct json *one = json_new_object();
        json_set_text(one, "scenario", c->scenarios[i].name);
        for (int f = 0; f < COMPARE_FIGURES; f++) {
            CLEANUP_VALUE(strbuf_release) struct strbuf words = STRBUF_INIT;
            compare_words(c, (enum compare_figure)f, &c->scenarios[i].figures[f], &words);
            json_set_text(one, compare_figure_name((enum compare_figure)f), strbuf_text(&words));
        }
        json_append(list, one);
    }
    json_set(j, "words", list);
    json_write(j, JSON_STYLE_INDENTED, out);
    strbuf_addc(out, '\n');
}

static int write_out(const char *path, const struct strbuf *text)
{
    struct error err = ERROR_INIT;

    if (!path || strcmp(path, "-") == 0)
        return print_buffer(text);
    return fs_write_output(path, strbuf_text(text), text->len, &err) < 0 ? report_error(&err) : 0;
}

/* Each broken one is told; nothing compared is a failure where there are gates. */
static int check_gates(const struct comparison *c, const struct compare_gate *gates, size_t count)
{
    size_t both = c->len - c->only_then - c->only_now, broken = 0;
    struct error err = ERROR_INIT;

    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < c->len; i++) {
            CLEANUP_VALUE(strbuf_release) struct strbuf words = STRBUF_INIT;
            const struct compared_scenario *s = &c->scenarios[i];
            if (!compare_gate_broken(&gates[g], s))
                continue;
            broken++;
            compare_words(c, gates[g].figure, &s->figures[gates[g].figure], &words);
            CLEANUP_FREE char *line = xasprintf("%s: %s: %s", gates[g].text, s->name, strbuf_text(&words));
            print_plain(stderr, "benchctl: fails: ", line);
        }
    if (!both) {
        (void)error_set(&err, ERROR_TRIAL, "nothing was compared: no scenario has trials on both sides");
        (void)error_hint(&err, "scenarios are paired by their ids");
        (void)report_error(&err);
        return 1;
    }
    return broken ? 1 : 0;
}

static int parse_margin(const char *text, double *ret, struct error *err)
{
    size_t len = text ? number_scan(text, strlen(text), ret) : 0;

    if (!text) {
        *ret = MARGIN_BETWEEN;
        return 0;
    }
    *ret /= 100;
    if (len && strcmp(text + len, "%") == 0 && *ret > 0 && *ret < 1)
        return 0;
    (void)error_set(err, ERROR_USAGE, "--margin '%s' is no percentage", text);
    return error_hint(err, "what is called equal, for instance --margin 1%%");
}

struct request {
    const char *by, *margin, *format, *output;
    struct option_list gates;
};

static int load(struct comparing *c, const struct operands *o, const struct request *q, struct error *err)
{
    c->a = arena_new();
    if (q->by && o->len == 2)
        return error_set(err, ERROR_USAGE, "--by compares values of one sweep, and two were named");
    if (!q->by && o->len == 1) {
        (void)error_set(err, ERROR_USAGE, "one sweep alone: there is nothing to compare it with");
        return error_hint(err, "name another one, or an axis with --by");
    }
    if (sweep_load(o->items[0], &c->one, err) < 0 ||
        (o->len == 2 && sweep_load(o->items[1], &c->other, err) < 0))
        return -1;
    if (q->by)
        return take_axis(c, q->by, err);
    take_sweeps(c);
    return 0;
}

static void render(const struct comparing *c, const struct comparison *r, const struct request *q,
                   struct strbuf *out)
{
    bool markdown = text_equal(q->format, "md");

    if (text_equal(q->format, "json")) {
        add_json(r, out);
        return;
    }
    compare_words_table(r, markdown, out);
    if (c->digests_differ)
        strbuf_addf(out, "The settings of %zu scenario%s differ between A and B: not the same experiment.\n",
                    c->digests_differ, plural(c->digests_differ));
    if (r->only_then)
        strbuf_addf(out, "Only in %s: %zu scenario%s.\n", r->then_name, r->only_then, plural(r->only_then));
    if (r->only_now)
        strbuf_addf(out, "Only in %s: %zu scenario%s.\n", r->now_name, r->only_now, plural(r->only_now));
}

static int compare(const struct operands *operands, const struct request *q)
{
    CLEANUP_VALUE(comparing_release) struct comparing c = {0};
    CLEANUP(comparison_free) struct comparison *r = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_FREE struct compare_gate *gates = xcalloc(q->gates.len + 1, sizeof(*gates));
    struct compare_options o = {.paired = q->by != NULL};
    struct error err = ERROR_INIT;

    for (size_t i = 0; i < q->gates.len; i++)
        if (compare_gate_parse(q->gates.items[i], &gates[i], &err) < 0)
            return report_error(&err);
    if (parse_margin(q->margin, &o.margin, &err) < 0 || load(&c, operands, q, &err) < 0)
        return report_error(&err);
    const struct compare_set then = {c.then_name, c.then.items, c.then.len},
                             now = {c.now_name, c.now.items, c.now.len};
    compare_sets(&then, &now, &o, &r);
    render(&c, r, q, &text);
    int code = write_out(q->output, &text);
    return code ? code : check_gates(r, gates, q->gates.len);
}

static int cmd_compare_main(int argc, char **argv)
{
    static const char *const formats[] = {"table", "md", "json", NULL};
    struct request q = {0};
    struct operands operands;
    int code;
    const struct option options[] = {
        {"by", 0, OPTION_TEXT, &q.by, "AXIS[=VALUE,...]",
         "values of an axis of one sweep, each with the first"},
        {"margin", 0, OPTION_TEXT, &q.margin, "PERCENT", "what is called equal (1%)"},
        {"fail-if", 0, OPTION_LIST, &q.gates, "CONDITION",
         "exit code 1 where it holds, as throughput<-5%; repeatable"},
        {"format", 0, OPTION_TEXT, &q.format, "FORMAT", "table, md or json"},
        {"output", 'o', OPTION_TEXT, &q.output, "FILE", "write to a file instead of standard output"},
    };

    if (options_parse(&cmd_compare, options, ARRAY_LEN(options), argc, argv, 1, 2, &operands, &code) < 0) {
        option_list_release(&q.gates);
        return code;
    }
    code = format_option(&cmd_compare, q.format, formats) < 0 ? error_exit_code(ERROR_USAGE)
                                                              : compare(&operands, &q);
    option_list_release(&q.gates);
    return code;
}

const struct command cmd_compare = {
    "compare",
    "compare A [B] [options]",
    "say what differs between two sweeps, or between values of an axis of one",
    cmd_compare_main,
};
