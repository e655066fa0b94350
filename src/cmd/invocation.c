/* SPDX-License-Identifier: MIT */
#include "invocation.h"

#include <stdlib.h>
#include "benchctl/base/log.h"

#define INVOCATION_MAX ((size_t)4 << 20) /* as large as a line of the journal may be */
#define JOURNAL_TEXT_MAX STRBUF_MAX_DEFAULT
#define MASK "***" /* what a copy of a matrix holds in place of a secret */

void invocation_release(struct invocation *i)
{
    json_free(i->record);
    *i = (struct invocation){0};
}

static void find_begin(const struct json *record, void *data)
{
    struct json **found = data;

    if (!*found && text_equal(json_get_text(record, "event"), JOURNAL_BEGIN))
        *found = json_clone(record);
}

/* NULL when it is not there, or damaged. */
static struct json *read_object(const char *dir, const char *name)
{
    CLEANUP_FREE char *path = path_join(dir, name);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error ignored = ERROR_INIT;
    struct json *j = NULL;

    if (fs_read(path, INVOCATION_MAX, &text, &ignored) < 0 ||
        json_parse(strbuf_text(&text), text.len, path, &j, &ignored) < 0)
        return NULL;
    return j;
}

static int scan_journal(const char *dir, void (*line)(const struct json *record, void *data), void *data,
                        struct error *err)
{
    CLEANUP_FREE char *path = path_join(dir, JOURNAL_FILE);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error trouble = ERROR_INIT;
    size_t good;

    if (fs_read(path, JOURNAL_TEXT_MAX, &text, &trouble) < 0) {
        if (trouble.kind == ERROR_NOT_FOUND) /* it is begun anew */
            return 0;
        *err = trouble;
        return -1;
    }
    return journal_scan(strbuf_text(&text), text.len, line, data, &good, err) < 0
               ? error_wrap(err, "'%s'", path)
               : 0;
}

static int check_texts(const struct json *record, const char *name, const char *where, struct error *err)
{
    const struct json *list = json_get(record, name);
    enum json_type type = json_type_of(list);

    if (type != JSON_TYPE_ARRAY && type != JSON_TYPE_NULL)
        return error_set(err, ERROR_INVALID, "%s: '%s' is no list", where, name);
    for (size_t i = 0; i < json_len(list); i++)
        if (!json_text(json_at(list, i)))
            return error_set(err, ERROR_INVALID, "%s: '%s' number %zu is no text", where, name, i + 1);
    return 0;
}

int invocation_read(const char *dir, struct invocation *ret, struct error *err)
{
    CLEANUP(json_free) struct json *found = NULL;
    CLEANUP_FREE char *where = path_join(dir, JOURNAL_FILE);

    if (!rundir_is(dir)) {
        (void)error_set(err, ERROR_USAGE, "'%s' is not a run directory", dir);
        return error_hint(err, "give the directory that `benchctl run` named");
    }
    if (scan_journal(dir, find_begin, &found, err) < 0)
        return -1;
    if (!found) {
        found = read_object(dir, INVOCATION_FILE);
        free(where);
        where = path_join(dir, INVOCATION_FILE);
    }
    if (!found && rundir_unbegun(dir)) {
        (void)error_set(err, ERROR_USAGE, "'%s' has not begun a sweep: nothing was measured", dir);
        return error_hint(err, "begin it: benchctl run MATRIX --out %s", dir);
    }
    if (check_texts(found, "sets", where, err) < 0 || check_texts(found, "filters", where, err) < 0)
        return -1;
    ret->known = found != NULL;
    ret->record = found ? TAKE(found) : json_new_object();
    return 0;
}

/* --- the matrix --- */

char *invocation_near(const char *dir, const char *matrix)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    size_t shared = 0;

    for (size_t i = 0; dir[i] == matrix[i] || (!dir[i] && matrix[i] == '/'); i++) {
        if (matrix[i] == '/' || !dir[i])
            shared = i;
        if (!dir[i] || !matrix[i])
            break;
    }
    if (shared == 0)
        return NULL;
    for (const char *up = dir + shared; *up; up++)
        if (*up == '/')
            strbuf_adds(&out, "../");
    strbuf_adds(&out, matrix + shared + 1);
    return xstrdup(strbuf_text(&out));
}

/* The last resort, good only when it says all that the matrix said. */
static int take_copy(const char *named, const char *dir, char **ret_path, struct error *err)
{
    CLEANUP_FREE char *copy = path_join(dir, BUNDLE_MATRIX_FILE);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (fs_read(copy, STRBUF_MAX_DEFAULT, &text, err) < 0)
        return -1;
    if (strstr(strbuf_text(&text), MASK)) {
        (void)error_set(err, ERROR_USAGE, "the matrix '%s' is gone, and '%s' does not hold its secrets",
                        named ? named : "of the sweep", copy);
        return error_hint(err, "put the matrix back where it was");
    }
    if (named)
        warn("the matrix '%s' is gone: going on with '%s'; files that it names are looked for beside that",
             named, copy);
    *ret_path = TAKE(copy);
    return 0;
}

int invocation_matrix(const struct invocation *i, const char *dir, char **ret_path, struct error *err)
{
    const char *named = json_get_text(i->record, "matrix"),
               *near = json_get_text(i->record, "matrix_from_dir");

    if (named && fs_exists(named)) {
        *ret_path = xstrdup(named);
        return 0;
    }
    CLEANUP_FREE char *moved = near ? path_join(dir, near) : NULL;
    if (moved && fs_exists(moved)) {
        *ret_path = TAKE(moved);
        return 0;
    }
    return take_copy(named, dir, ret_path, err);
}

/* --- is it the same sweep? --- */

static int plans_differ(const struct json *before, const struct plan *p, bool *ret, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct json *list = json_get(before, "scenarios");
    size_t count = plan_counts(p)->scenarios;

    *ret = json_len(list) != count;
    for (size_t i = 0; i < count && !*ret; i++) {
        struct resolved r = {0};
        arena_reset(a);
        if (plan_resolve(p, i, a, &r, err) < 0)
            return -1;
        *ret = !text_equal(json_get_text(json_at(list, i), "digest"), r.digest);
    }
    return 0;
}

int invocation_check_plan(const struct invocation *i, const char *dir, const struct plan *p,
                          struct error *err)
{
    CLEANUP(json_free) struct json *before = NULL;
    CLEANUP_FREE char *path = path_join(dir, BUNDLE_PLAN_FILE);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error ignored = ERROR_INIT;
    bool differ = true;

    if (i->known)
        return 0;
    if (fs_read(path, STRBUF_MAX_DEFAULT, &text, &ignored) == 0 &&
        json_parse(strbuf_text(&text), text.len, path, &before, &ignored) == 0 &&
        plans_differ(before, p, &differ, err) < 0)
        return -1;
    if (!differ) {
        warn("how the sweep of '%s' was called is lost: its matrix by itself makes the same plan", dir);
        return 0;
    }
    (void)error_set(err, ERROR_INVALID,
                    "how the sweep of '%s' was called is lost, and its matrix by itself makes another plan",
                    dir);
    return error_hint(err,
                      "what was measured can still be seen: benchctl report %s; begin anew with "
                      "`benchctl run`",
                      dir);
}

/* --- whose containers --- */

struct ids {
    VEC(char *) list;
};

static void add_id(const struct json *record, void *data)
{
    struct ids *ids = data;
    const char *id = json_get_text(record, "run_id");

    if (id && text_equal(json_get_text(record, "event"), JOURNAL_BEGIN))
        vec_push(&ids->list, xstrdup(id));
}

char **invocation_run_ids(const char *dir)
{
    CLEANUP(json_free) struct json *last = read_object(dir, INVOCATION_FILE);
    struct error ignored = ERROR_INIT;
    struct ids ids = {0};

    (void)!scan_journal(dir, add_id, &ids, &ignored);
    if (json_get_text(last, "run_id"))
        vec_push(&ids.list, xstrdup(json_get_text(last, "run_id")));
    vec_push(&ids.list, NULL);
    return ids.list.items;
}

void invocation_run_ids_free(char **ids)
{
    for (size_t i = 0; ids && ids[i]; i++)
        free(ids[i]);
    free(ids);
}
