/* SPDX-License-Identifier: MIT */
/* The load section as the built-in generator reads it. */
#include "matrix_internal.h"
#include "settings_rules.h"

/* The real one is known when the application runs. */
#define MADE_UP_TARGET "http://127.0.0.1:80"
#define MADE_UP_TLS_TARGET "https://127.0.0.1:443"

/* Keys of the load section that the generator has, too. */
static bool is_shared(const char *key)
{
    static const char *const shared[] = {"target", "path", "duration", "requests", "phases"};

    for (size_t i = 0; i < ARRAY_LEN(shared); i++)
        if (strcmp(shared[i], key) == 0)
            return true;
    return false;
}

static bool is_conductors(const char *key)
{
    for (size_t i = 0; i < load_schema.field_count; i++)
        if (load_schema.fields[i].type != SCHEMA_REST && strcmp(load_schema.fields[i].key, key) == 0)
            return !is_shared(key);
    return text_starts(key, "x-");
}

const struct node *matrix_workload_tree(const struct node *load, struct arena *a)
{
    struct node *tree = arena_copy(a, load, sizeof(*load));

    tree->keys = arena_array(a, const struct node *, load->len + 1);
    tree->items = arena_array(a, const struct node *, load->len + 1);
    tree->len = 0;
    for (size_t i = 0; i < load->len; i++) {
        const struct node *key = load->keys[i];
        if (is_conductors(key->text))
            continue;
        if (strcmp(key->text, "request_timeout") == 0)
            key = node_new_text(a, "timeout", key->at);
        tree->keys[tree->len] = key;
        tree->items[tree->len++] = load->items[i];
    }
    return tree;
}

/* Host and port may be; what is no HTTP at all is seen now. */
static bool is_known_later(const char *target)
{
    return has_reference(target) &&
           (text_starts(target, "$") || text_starts(target, "http:") || text_starts(target, "https:"));
}

/* With a target that can be checked. */
static const struct node *with_target(const struct node *tree, struct arena *a)
{
    struct node *copy = arena_copy(a, tree, sizeof(*tree));
    size_t i = 0;

    copy->keys = arena_array(a, const struct node *, tree->len + 1);
    copy->items = arena_array(a, const struct node *, tree->len + 1);
    memcpy(copy->keys, tree->keys, tree->len * sizeof(*tree->keys));
    memcpy(copy->items, tree->items, tree->len * sizeof(*tree->items));
    while (i < tree->len && strcmp(tree->keys[i]->text, "target") != 0)
        i++;
    if (i < tree->len && !is_known_later(tree->items[i]->text))
        return tree;
    bool tls = i < tree->len && text_starts(tree->items[i]->text, "https:");
    copy->keys[i] = node_new_text(a, "target", tree->at);
    copy->items[i] = node_new_text(a, tls ? MADE_UP_TLS_TARGET : MADE_UP_TARGET, tree->at);
    copy->len = i < tree->len ? tree->len : tree->len + 1;
    return copy;
}

/* --- phases that are a warm-up --- */

static int64_t warmup_ns(const struct workload *w)
{
    const struct workload_phase *phases = w->phases.items;
    int64_t end = 0;

    for (size_t i = 0; i < w->phases.len; i++) {
        int64_t its = workload_phase_start_ns(w, i) + workload_phase_duration_ns(&phases[i]);
        end = phases[i].warmup && its > end ? its : end;
    }
    return end;
}

void matrix_workload_part(const struct workload *w, bool warmup, struct arena *a, struct workload *ret)
{
    const struct workload_phase *phases = w->phases.items;
    struct workload_phase *part = arena_array(a, struct workload_phase, w->phases.len + 1);
    int64_t before_ns = warmup ? 0 : warmup_ns(w);
    size_t n = 0;

    for (size_t i = 0; i < w->phases.len; i++) {
        if (phases[i].warmup != warmup)
            continue;
        part[n] = phases[i];
        if (part[n].start_time_ns >= 0)
            part[n].start_time_ns -= before_ns;
        n++;
    }
    *ret = *w;
    ret->phases = (struct schema_list){.items = part, .len = n};
}

static int check_order(const struct node *n, const struct workload_phase *p, size_t phase, struct error *err)
{
    char shown[SHOWN_SIZE];

    if (!p->warmup || phase == 0 || p[-1].warmup)
        return 0;
    node_error(err, rule_at(n, "warmup"), "phase '%s' is a warm-up, but not at the beginning",
               text_shown(p->name, shown));
    return error_hint(err, "warm-up phases are made before the measurement begins: put them first");
}

static int check_begin(const struct node *n, const struct workload *w, size_t phase, struct error *err)
{
    const struct workload_phase *p = (const struct workload_phase *)w->phases.items + phase;
    char shown[SHOWN_SIZE], whole[32];

    if (p->warmup || workload_phase_start_ns(w, phase) >= warmup_ns(w))
        return 0;
    node_error(err, rule_at(n, "start_time"), "phase '%s' begins while a warm-up phase goes on",
               text_shown(p->name, shown));
    return error_hint(err, "the warm-up takes %s; a phase without start_time follows the one before",
                      duration_format(warmup_ns(w), whole));
}

/* They are a part of their own in front of everything that is measured. */
static int check_warmup(const struct node *load, const struct workload *w, struct error *err)
{
    const struct workload_phase *phases = w->phases.items;
    const struct node *list = node_get(load, "phases"), *own = node_get(load, "warmup");
    size_t count = 0;

    for (size_t i = 0; i < w->phases.len; i++)
        count += phases[i].warmup;
    if (!count || !list)
        return 0;
    if (own && own->kind != NODE_NULL) {
        node_error(err, own, "'warmup' of the load and phases with 'warmup: true' exclude each other");
        return error_hint(err, "leave one of them away: both are made before the measurement begins");
    }
    if (count == w->phases.len) {
        node_error(err, list, "every phase is a warm-up: nothing would be measured");
        return error_hint(err, "add a phase without warmup: true");
    }
    for (size_t i = 0; i < w->phases.len; i++)
        if (check_order(list->items[i], &phases[i], i, err) < 0)
            return -1;
    for (size_t i = 0; i < w->phases.len; i++)
        if (check_begin(list->items[i], w, i, err) < 0)
            return -1;
    return 0;
}

/* --- keys --- */

static size_t known_keys(const char **ret, size_t max)
{
    size_t n = 0;

    ret[n++] = "request_timeout"; /* `timeout` is the conductor's */
    for (size_t i = 0; i < load_schema.field_count && n < max; i++)
        if (load_schema.fields[i].type != SCHEMA_REST)
            ret[n++] = load_schema.fields[i].key;
    for (size_t i = 0; i < workload_schema.field_count && n + 1 < max; i++) {
        const char *key = workload_schema.fields[i].key;
        if (!is_shared(key) && strcmp(key, "timeout") != 0)
            ret[n++] = key;
    }
    ret[n] = NULL;
    return n;
}

static bool is_phase_key(const char *key)
{
    for (size_t i = 0; i < workload_phase_schema.field_count; i++)
        if (strcmp(workload_phase_schema.fields[i].key, key) == 0)
            return true;
    return false;
}

static int unknown_key(const struct node *key, const char *const *names, size_t count, struct error *err)
{
    static const char *const users[] = {"connections", "concurrency", "clients", "users", "threads"};
    const char *near = nearest_name(key->text, names, count);
    CLEANUP_VALUE(strbuf_release) struct strbuf list = STRBUF_INIT;
    char shown[SHOWN_SIZE];

    node_error(err, key, "unknown key '%s' in the load section", text_shown(key->text, shown));
    if (strcmp(key->text, "scenarios") == 0)
        return error_hint(err, "here they are a list, phases: [{executor: constant-vus, ...}]");
    if (is_phase_key(key->text))
        return error_hint(err, "'%s' belongs into one of the 'phases'", key->text);
    if (near && text_ends(near, "timeout") && strcmp(near, "connect_timeout") != 0)
        return error_hint(err,
                          "did you mean 'request_timeout', of a request, or 'timeout', how long past its "
                          "time the generator may run?");
    if (near)
        return error_hint(err, "did you mean '%s'?", near);
    if (nearest_name(key->text, users, ARRAY_LEN(users)))
        return error_hint(err, "how many requests are under way at once is said by 'vus'");
    for (size_t i = 0; i < count; i++)
        strbuf_addf(&list, "%s%s", i ? ", " : "", names[i]);
    return error_hint(err, "known here: %s", strbuf_text(&list));
}

/* By the names that they have in a matrix. */
static int check_keys(const struct node *load, struct error *err)
{
    const char *names[128];
    size_t count = known_keys(names, ARRAY_LEN(names));

    for (size_t i = 0; i < load->len; i++) {
        const char *key = load->keys[i]->text;
        bool known = text_starts(key, "x-");
        for (size_t k = 0; k < count && !known; k++)
            known = strcmp(names[k], key) == 0;
        if (!known)
            return unknown_key(load->keys[i], names, count, err);
    }
    return 0;
}

int workload_of_load(const struct node *load, const char *dir, struct arena *a, struct load_settings *l,
                     struct error *err)
{
    if (!l->adapter || strcmp(l->adapter, BUILTIN_ADAPTER) != 0)
        return 0;
    struct workload *w = arena_new_of(a, struct workload);
    if (check_keys(load, err) < 0 ||
        workload_read(with_target(matrix_workload_tree(load, a), a), dir, a, w, err) < 0)
        return -1;
    if (check_warmup(load, w, err) < 0)
        return -1;
    l->workload = w;
    struct workload measured;
    matrix_workload_part(w, false, a, &measured);
    if (l->duration_ns == SCHEMA_ABSENT)
        l->duration_ns = workload_duration_ns(&measured);
    return 0;
}
