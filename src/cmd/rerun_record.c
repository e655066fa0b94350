/* SPDX-License-Identifier: MIT */
#include "rerun_record.h"

#include "benchctl/compare.h"

#define RECORD_MAX ((size_t)256 << 20)

/* Secrets are never kept: those that the bundle may read come from the environment each time. */
static void fill_env(struct rerun_record *r, const struct rerun_inputs *in)
{
    bool trusted = json_get_bool(r->json, "trusted");
    struct text_pair *pairs = arena_array(r->arena, struct text_pair, in->env.len + in->secrets.len + 1);

    for (size_t i = 0; i < in->env.len; i++)
        pairs[r->env.len++] = (struct text_pair){.key = arena_strdup(r->arena, in->env.items[i].key),
                                                 .value = arena_strdup(r->arena, in->env.items[i].value)};
    for (size_t i = 0; trusted && i < in->secrets.len; i++) {
        const char *value = getenv(in->secrets.items[i]);
        if (value)
            pairs[r->env.len++] = (struct text_pair){.key = arena_strdup(r->arena, in->secrets.items[i]),
                                                     .value = arena_strdup(r->arena, value)};
    }
    r->env.items = pairs;
}

struct rerun_record *rerun_record_new(struct json *json, const struct rerun_inputs *in)
{
    struct rerun_record *r = xcalloc(1, sizeof(*r));

    r->json = json;
    r->arena = arena_new();
    fill_env(r, in);
    return r;
}

void rerun_record_free(struct rerun_record *r)
{
    if (!r)
        return;
    json_free(r->json);
    arena_free(r->arena);
    free(r);
}

int rerun_record_open(const char *dir, struct rerun_record **ret, struct error *err)
{
    CLEANUP_FREE char *path = path_join(dir, RERUN_FILE), *inputs_path = path_join(dir, RERUN_INPUTS_FILE);
    CLEANUP(json_free) struct json *json = NULL, *inputs = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct rerun_inputs in = {0};

    if (!fs_exists(path))
        return 0;
    if (json_read_file(path, RECORD_MAX, &json, err) < 0 ||
        json_read_file(inputs_path, RECORD_MAX, &inputs, err) < 0 ||
        rerun_inputs_read(inputs, a, &in, err) < 0)
        return error_wrap(err, "what '%s' runs again", dir);
    if (json_get_int(json, "schema") != RERUN_SCHEMA)
        return error_set(err, ERROR_INVALID, "'%s' is of another version of benchctl", path);
    *ret = rerun_record_new(TAKE(json), &in);
    return 0;
}

const struct text_map *rerun_record_env(const struct rerun_record *r)
{
    return &r->env;
}

const struct json *rerun_record_images(const struct rerun_record *r)
{
    return json_get(r->json, "images");
}

struct json *rerun_record_info(const struct rerun_record *r, const struct json *info)
{
    struct json *j = json_clone(info);

    json_set(j, "rerun_of", json_clone(json_get(r->json, "bundle")));
    if (json_get(r->json, "parity"))
        json_set(j, "parity", json_clone(json_get(r->json, "parity")));
    return j;
}

struct json *rerun_record_trials(const struct sweep *s)
{
    struct json *list = json_new_array();

    for (size_t i = 0; i < s->trial_count; i++) {
        struct compare_trial t;
        compare_take(&s->trials[i], &t);
        json_append(list, compare_trial_json(&t));
    }
    return list;
}

/* --- the comparison --- */

/* The trials of then whose scenarios are run now. */
static int trials_then(const struct json *list, const struct sweep *now, struct arena *a,
                       struct compare_set *ret, struct error *err)
{
    const struct json *planned = json_get(now->plan, "scenarios");
    struct compare_trial *trials = arena_array(a, struct compare_trial, json_len(list) + 1);

    for (size_t i = 0; i < json_len(list); i++) {
        struct compare_trial t;
        bool wanted = json_len(planned) == 0;
        if (compare_trial_read(json_at(list, i), a, &t, err) < 0)
            return -1;
        for (size_t k = 0; k < json_len(planned) && !wanted; k++)
            wanted = text_equal(json_get_text(json_at(planned, k), "id"), t.scenario);
        if (wanted)
            trials[ret->len++] = t;
    }
    ret->trials = trials;
    return 0;
}

static void trials_now(const struct sweep *now, struct arena *a, struct compare_set *ret)
{
    struct compare_trial *trials = arena_array(a, struct compare_trial, now->trial_count + 1);

    for (size_t i = 0; i < now->trial_count; i++)
        compare_take(&now->trials[i], &trials[ret->len++]);
    ret->trials = trials;
}

static int write_files(const char *dir, const struct comparison *c, const struct json *record,
                       struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf md = STRBUF_INIT, text = STRBUF_INIT;
    CLEANUP_FREE char *md_path = path_join(dir, "compare.md"), *json_path = path_join(dir, "compare.json");
    CLEANUP(json_free) struct json *j = compare_json(c);
    const struct json *of = json_get(record, "bundle");
    CLEANUP_FREE char *title =
        xasprintf("%s, run again", json_get_text(of, "name") ? json_get_text(of, "name") : "a sweep");

    compare_markdown(c, title, &md);
    json_set(j, "rerun_of", json_clone(of));
    json_set(j, "environment", json_clone(json_get(record, "environment")));
    json_write(j, JSON_STYLE_INDENTED, &text);
    strbuf_adds(&text, "\n");
    return fs_write_atomic(md_path, strbuf_text(&md), md.len, err) < 0
               ? -1
               : fs_write_atomic(json_path, strbuf_text(&text), text.len, err);
}

int rerun_compare(const char *dir, const struct sweep *now, struct strbuf *out, struct error *err)
{
    CLEANUP_FREE char *path = path_join(dir, RERUN_FILE);
    CLEANUP(json_free) struct json *record = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP(comparison_free) struct comparison *c = NULL;
    struct compare_set before = {.name = "then"}, after = {.name = "now"};

    if (!fs_exists(path))
        return 0;
    if (json_read_file(path, RECORD_MAX, &record, err) < 0 ||
        trials_then(json_get(record, "trials"), now, a, &before, err) < 0)
        return error_wrap(err, "comparing with the bundle");
    trials_now(now, a, &after);
    const struct compare_options o = {.margin = json_get_number(record, "margin")};
    compare_sets(&before, &after, &o, &c);
    if (out->len)
        strbuf_adds(out, "\n");
    compare_table(c, out);
    return write_files(dir, c, record, err);
}
