/* SPDX-License-Identifier: MIT */
/* What two machines have in common and what they have not. */
#include "benchctl/rerun.h"

#include <string.h>

#define DEPTH_MAX 8

/* Changes by itself, or says nothing about what is measured. */
static const char *const volatile_names[] = {
    "id",
    "load1",
    "load5",
    "load15",
    "uptime",
    "uptime_s",
    "started_at",
    "finished_at",
    "boot_time",
    "memory_available",
    "memory_available_bytes",
    "clock_offset_ms",
    "clock_offset_ns",
    "time_wait",
    "pid",
};

static bool is_volatile(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(volatile_names); i++)
        if (strcmp(name, volatile_names[i]) == 0)
            return true;
    return strstr(name, "temperature") || strstr(name, "psi") || strstr(name, "free");
}

struct flat {
    VEC(struct text_pair) facts;
    struct arena *a;
};

static void flatten(struct flat *f, const char *label, const struct json *j, int depth);

static void add_text(struct flat *f, const char *label, const struct json *j)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    char shown[400];

    if (json_type_of(j) == JSON_TYPE_NULL)
        return;
    if (json_text(j))
        strbuf_adds(&text, json_text(j));
    else
        json_write(j, JSON_STYLE_COMPACT, &text);
    const char *safe = archive_printable(strbuf_text(&text), shown, sizeof(shown));
    vec_push(&f->facts, (struct text_pair){.key = label, .value = arena_strdup(f->a, safe)});
}

/* Names become words: "cgroup_version" of "engine" is "engine cgroup version". */
static char *label_of(struct arena *a, const char *before, const char *name)
{
    char shown[100];
    char *label =
        arena_printf(a, "%s%s%s", before, *before ? " " : "", archive_printable(name, shown, sizeof(shown)));

    for (char *p = label; *p; p++)
        *p = *p == '_' ? ' ' : *p;
    return label;
}

static void flatten_members(struct flat *f, const char *label, const struct json *j, int depth)
{
    for (void *it = json_iter(j); it; it = json_iter_next(j, it))
        if (!is_volatile(json_iter_key(it)))
            flatten(f, label_of(f->a, label, json_iter_key(it)), json_iter_value(it), depth + 1);
}

static void flatten(struct flat *f, const char *label, const struct json *j, int depth)
{
    if (json_type_of(j) == JSON_TYPE_OBJECT && depth < DEPTH_MAX)
        flatten_members(f, label, j, depth);
    else
        add_text(f, label, j);
}

static void flatten_generators(struct flat *f, const struct json *list)
{
    for (size_t i = 0; i < json_len(list); i++) {
        const struct json *g = json_at(list, i);
        const char *name = json_get_text(g, "name");
        if (name)
            add_text(f, label_of(f->a, "generator", name), json_get(g, "version"));
    }
}

static void flatten_sweep(struct flat *f, const struct json *info)
{
    add_text(f, "benchctl", json_get(info, "benchctl"));
    flatten(f, "host", json_get(info, "host"), 0);
    flatten(f, "engine", json_get(info, "engine"), 0);
    flatten_generators(f, json_get(info, "generators"));
    flatten(f, "adapter", json_get(info, "adapters"), 0);
}

static const char *fact_of(const struct flat *f, const char *label)
{
    vec_each (p, &f->facts)
        if (strcmp(p->key, label) == 0)
            return p->value;
    return NULL;
}

void rerun_environment(const struct json *then, const struct json *now, struct arena *a,
                       struct rerun_environment *ret)
{
    struct flat before = {.a = a}, after = {.a = a};

    *ret = (struct rerun_environment){0};
    flatten_sweep(&before, then);
    flatten_sweep(&after, now);
    vec_each (p, &before.facts) {
        const struct rerun_fact fact = {p->key, p->value, fact_of(&after, p->key)};
        if (text_equal(fact.then, fact.now))
            vec_push(&ret->same, fact);
        else
            vec_push(&ret->differs, fact);
    }
    vec_each (p, &after.facts)
        if (!fact_of(&before, p->key))
            vec_push(&ret->differs, (struct rerun_fact){p->key, NULL, p->value});
    vec_release(&before.facts);
    vec_release(&after.facts);
}

void rerun_environment_release(struct rerun_environment *e)
{
    vec_release(&e->same);
    vec_release(&e->differs);
}

/* --- as text --- */

#define LINE_WIDTH 110

static void add_same(const struct rerun_environment *e, struct strbuf *out)
{
    size_t column = strlen("same:");

    strbuf_adds(out, "same:");
    vec_each (f, &e->same) {
        size_t len = strlen(f->what) + strlen(f->now) + 4;
        if (column > 6 && column + len > LINE_WIDTH) {
            strbuf_adds(out, "\n     ");
            column = 5;
        }
        strbuf_addf(out, " %s %s%s", f->what, f->now, f + 1 < e->same.items + e->same.len ? "," : "");
        column += len;
    }
    strbuf_adds(out, e->same.len ? "\n" : " nothing that is known of both\n");
}

static size_t wider(size_t width, const char *text)
{
    size_t len = strlen(text ? text : "-");

    return len > width ? len : width;
}

void rerun_environment_text(const struct rerun_environment *e, struct strbuf *out)
{
    size_t what = strlen("differs:"), then = strlen("then");

    add_same(e, out);
    vec_each (f, &e->differs) {
        what = wider(what, f->what);
        then = wider(then, f->then);
    }
    if (!e->differs.len) {
        strbuf_adds(out, "differs: nothing\n");
        return;
    }
    strbuf_addf(out, "%-*s  %-*s  %s\n", (int)what, "differs:", (int)then, "then", "now");
    vec_each (f, &e->differs)
        strbuf_addf(out, "%-*s  %-*s  %s\n", (int)what, f->what, (int)then, f->then ? f->then : "-",
                    f->now ? f->now : "-");
}

static struct json *fact_json(const struct rerun_fact *f, bool both)
{
    struct json *j = json_new_object();

    json_set_text(j, "what", f->what);
    if (!both) {
        json_set_text(j, "value", f->now);
        return j;
    }
    json_set_text(j, "then", f->then);
    json_set_text(j, "now", f->now);
    return j;
}

struct json *rerun_environment_json(const struct rerun_environment *e)
{
    struct json *j = json_new_object(), *same = json_new_array(), *differs = json_new_array();

    vec_each (f, &e->same)
        json_append(same, fact_json(f, false));
    vec_each (f, &e->differs)
        json_append(differs, fact_json(f, true));
    json_set(j, "same", same);
    json_set(j, "differs", differs);
    return j;
}
