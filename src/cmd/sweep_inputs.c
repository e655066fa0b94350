/* SPDX-License-Identifier: MIT */
/* What a run directory keeps so that the sweep can go on, or be run again: matrix, plan, inputs, and how it
 * was called. */
#include "invocation.h"
#include "sweep_command.h"

#include <errno.h>
#include <fcntl.h>

#include "benchctl/base/secrets.h"
#include "record_inputs.h"
#include "rerun_record.h"

int sweep_plan(const struct sweep_options *o, struct matrix **ret_matrix, struct plan **ret_plan,
               struct error *err)
{
    const struct matrix_options mo = {.sets = o->sets.items,
                                      .set_count = o->sets.len,
                                      .trials = o->trials,
                                      .seed = o->seed,
                                      .env = o->rerun ? rerun_record_env(o->rerun) : NULL};
    const struct plan_options po = {.filters = o->filters.items, .filter_count = o->filters.len};
    CLEANUP(matrix_free) struct matrix *m = NULL;

    if (matrix_read(o->matrix_path, &mo, &m, err) < 0 || plan_make(m, &po, ret_plan, err) < 0)
        return -1;
    *ret_matrix = TAKE(m);
    return 0;
}

/* --- what may not be told --- */

/* What by its name is looked for in the directory, and found again. */
static void spare_names(const struct rundir *dir, const struct sweep_options *o, const struct plan *p)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct matrix *m = plan_matrix(p);
    struct scenario s;

    secrets_spare(SECRET_IN_PATH, rundir_path(dir));
    secrets_spare(SECRET_IN_PATH, "/trials/metrics/load/logs/artifacts/inputs/images");
    secrets_spare(SECRET_IN_PATH, m->dir);
    secrets_spare(SECRET_IN_PATH, o->matrix_path);
    secrets_spare(SECRET_IN_SCENARIO, PLAN_CANARY_ID);
    for (size_t x = 0; x < m->axis_count; x++) {
        secrets_spare(SECRET_IN_AXIS, m->axes[x].name);
        for (size_t v = 0; v < m->axes[x].len; v++)
            secrets_spare(SECRET_IN_AXIS, m->axes[x].values[v].text);
    }
    for (size_t i = 0; i < plan_counts(p)->scenarios; i++) {
        plan_scenario(p, i, a, &s);
        secrets_spare(SECRET_IN_SCENARIO, s.id);
        arena_reset(a);
    }
}

/* Of all that will be run, before anything of it is written. */
static int learn_secrets(const struct rundir *dir, const struct sweep_options *o, const struct plan *p,
                         struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct resolved r;

    spare_names(dir, o, p);
    secrets_learn_tree(plan_matrix(p)->root);
    for (size_t i = 0; i < plan_counts(p)->scenarios; i++) {
        if (plan_resolve(p, i, a, &r, err) < 0)
            return -1;
        secrets_learn_tree(r.tree);
        arena_reset(a);
    }
    record_learn_secrets(plan_matrix(p));
    return 0;
}

/* What a secret variable of the environment holds may stand under a key that looks like no secret. */
static int mask_plan(const char *path, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP(json_free) struct json *j = NULL;

    if (!secrets_known())
        return 0;
    if (json_read_file(path, STRBUF_MAX_DEFAULT, &j, err) < 0)
        return -1;
    if (!secrets_mask_json(j))
        return 0;
    json_write(j, JSON_STYLE_INDENTED, &text);
    strbuf_addc(&text, '\n');
    return text.overflow ? error_set(err, ERROR_INVALID, "the plan is too large to hide secrets in it")
                         : fs_write(path, text.data, text.len, err);
}

static int write_plan(struct rundir *dir, const struct plan *p, struct error *err)
{
    CLEANUP_FREE char *path = path_join(rundir_path(dir), BUNDLE_PLAN_FILE),
                      *temporary = xasprintf("%s.tmp", path);
    CLEANUP_CLOSE int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (fd < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot create '%s'", temporary);
    if (plan_write_json(p, fd, true, err) < 0 || mask_plan(temporary, err) < 0) {
        (void)unlink(temporary);
        return error_wrap(err, "'%s'", path);
    }
    if (fsync(fd) < 0 || rename(temporary, path) < 0) {
        (void)error_errno(err, ERROR_ENVIRONMENT, errno, "cannot write '%s'", path);
        (void)unlink(temporary);
        return -1;
    }
    return fs_sync_dir(rundir_path(dir), err);
}

static struct json *text_array(const struct option_list *l)
{
    struct json *j = json_new_array();

    for (size_t i = 0; i < l->len; i++)
        json_append(j, json_new_text(l->items[i]));
    return j;
}

/* A webhook's URL is as good as a password. */
static bool is_secret_path(const char *path)
{
    const char *dot = strrchr(path, '.');

    return text_is_secret_key(dot ? dot + 1 : path) || text_equal(path, "notify") ||
           text_equal(path, "notify.webhook");
}

static bool is_secret_set(const char *path, const char *value)
{
    size_t len;

    return is_secret_path(path) || text_next_password(value, &len) || secrets_in(value);
}

/* `--set` values that are secret, or hold one, are not kept: resume asks for them again. */
static struct json *set_array(const struct option_list *l)
{
    struct json *j = json_new_array();

    for (size_t i = 0; i < l->len; i++) {
        CLEANUP_FREE char *path = xstrndup(l->items[i], strcspn(l->items[i], "="));
        CLEANUP_FREE char *masked = xasprintf("%s=" SECRET_MASK, path);
        const char *value = l->items[i] + strlen(path);
        bool away = text_equal(value, "=~"); /* takes the key away: tells nothing */
        json_append(j, json_new_text(is_secret_set(path, value) && !away ? masked : l->items[i]));
    }
    return j;
}

/* How it was called, for resume: the same matrix, sets, filters, trials and seed. */
int sweep_write_invocation(struct rundir *dir, const struct sweep_options *o, const char *run_id,
                           struct error *err)
{
    CLEANUP_FREE char *absolute = realpath(o->matrix_path, NULL);
    CLEANUP_FREE char *near = absolute ? invocation_near(rundir_path(dir), absolute) : NULL;
    struct json *j = json_new_object();

    json_set_text(j, "matrix", absolute ? absolute : o->matrix_path);
    json_set_text(j, "run_id", run_id);
    json_set(j, "sets", set_array(&o->sets));
    json_set(j, "filters", text_array(&o->filters));
    json_set_int(j, "trials", o->trials);
    json_set(j, "seed", o->seed == SCHEMA_ABSENT ? json_new_null() : json_new_int(o->seed));
    json_set_bool(j, "no_parity", o->no_parity);
    json_set_bool(j, "with_images", o->with_images);
    if (near)
        json_set_text(j, "matrix_from_dir", near);
    if (rundir_write_json(dir, INVOCATION_FILE, j, err) < 0) {
        json_free(j);
        return -1;
    }
    return rundir_journal(dir, "begin", j, true, err);
}

int sweep_record_inputs(struct rundir *dir, const struct sweep_options *o, const struct plan *p,
                        struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf kept = STRBUF_INIT;

    if (learn_secrets(dir, o, p, err) < 0 || fs_read(o->matrix_path, TREE_MAX_BYTES, &text, err) < 0 ||
        tree_mask_secrets(strbuf_text(&text), text.len, o->matrix_path, &kept, err) < 0 ||
        rundir_write(dir, BUNDLE_MATRIX_FILE, strbuf_text(&kept), kept.len, err) < 0 ||
        write_plan(dir, p, err) < 0 || record_inputs(dir, p, err) < 0)
        return -1;
    return 0;
}
