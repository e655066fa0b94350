/* SPDX-License-Identifier: MIT */
/* The plan made again, and proven to be the one that was run. */
#include "rerun_open.h"

#include <errno.h>
#include <fcntl.h>

#include "benchctl/base/units.h"
#include "benchctl/base/version.h"
#include "benchctl/compare.h"

#define PLAN_MAX ((size_t)256 << 20)
#define SHOWN_VALUES_MAX 8

/* --- how it was called --- */

static const char *given_set(const struct option_list *given, const char *set, size_t path_len)
{
    for (size_t i = 0; i < given->len; i++)
        if (strncmp(given->items[i], set, path_len) == 0)
            return given->items[i];
    return NULL;
}

static bool is_notice(const char *set)
{
    return text_starts(set, "notify=") || text_starts(set, "notify.");
}

/* As it was called, what was secret by a new --set, and without notices to whoever wants them. */
static int take_sets(struct rerun *r, struct error *err)
{
    const struct json *sets = json_get(r->invocation.record, "sets");
    const struct option_list *given = &r->options->sets;

    for (size_t i = 0; i < json_len(sets); i++) {
        const char *set = json_text(json_at(sets, i));
        if (!set)
            return error_set(err, ERROR_INVALID, "the bundle's --set number %zu is no text", i + 1);
        size_t path_len = strcspn(set, "=") + 1;
        if (is_notice(set) && text_ends(set, "=" SECRET_MASK))
            continue; /* whoever was told then is not told again */
        const char *again = text_ends(set, "=" SECRET_MASK) ? given_set(given, set, path_len) : NULL;
        if (text_ends(set, "=" SECRET_MASK) && !again) {
            (void)error_set(err, ERROR_USAGE, "the secret value of '--set %.*s' is not in the bundle",
                            (int)path_len - 1, set);
            return error_hint(err, "give it: benchctl rerun BUNDLE --set %.*s=VALUE", (int)path_len - 1, set);
        }
        if (!again)
            vec_push(&r->sweep.sets, arena_strdup(r->arena, set));
    }
    for (size_t i = 0; i < given->len; i++)
        vec_push(&r->sweep.sets, given->items[i]);
    if (!r->options->trust)
        vec_push(&r->sweep.sets, "notify=~");
    return 0;
}

static int take_invocation(struct rerun *r, struct error *err)
{
    const struct json *record = r->invocation.record, *filters = json_get(record, "filters");

    r->sweep.engine_url = r->options->engine_url;
    r->sweep.trials = json_get_int(record, "trials");
    r->sweep.seed = json_is_int(json_get(record, "seed")) ? json_get_int(record, "seed") : SCHEMA_ABSENT;
    r->sweep.budget_ns = r->options->budget_ns;
    r->sweep.keep = r->options->keep;
    r->sweep.strict = r->options->strict;
    r->sweep.with_images = r->options->with_images;
    r->sweep.no_parity = true; /* looked at here, at the recorded commits */
    r->sweep.fresh = true;
    r->sweep.matrix_path = r->tree.matrix;
    for (size_t i = 0; i < json_len(filters); i++) {
        if (!json_text(json_at(filters, i)))
            return error_set(err, ERROR_INVALID, "the bundle's --filter number %zu is no text", i + 1);
        vec_push(&r->sweep.filters, arena_strdup(r->arena, json_text(json_at(filters, i))));
    }
    return take_sets(r, err);
}

/* --- rerun.json --- */

static struct json *bundle_json(const struct rerun *r)
{
    struct json *j = json_new_object();

    json_set_text(j, "file", path_basename(r->options->bundle));
    json_set_text(j, "sha256", r->sha256);
    json_set_text(j, "name", json_get_text(r->then->info, "name"));
    json_set_text(j, "run_id", json_get_text(r->then->info, "run_id"));
    json_set_text(j, "started_at", json_get_text(r->then->info, "started_at"));
    return j;
}

static int margin_of(const char *text, double *ret, struct error *err)
{
    CLEANUP_FREE char *number = text ? xstrndup(text, strcspn(text, "% ")) : NULL;
    double percent = 100 * COMPARE_MARGIN;

    if (text && (number_parse(number, &percent, err) < 0 || !(percent > 0) || percent > 1000)) {
        (void)error_set(err, ERROR_USAGE, "'--margin %s' is no percentage", text);
        return error_hint(err, "as in: --margin 5%%");
    }
    *ret = percent / 100;
    return 0;
}

static int make_record(struct rerun *r, struct error *err)
{
    struct json *j = json_new_object();
    double margin = COMPARE_MARGIN;

    if (margin_of(r->options->margin, &margin, err) < 0) {
        json_free(j);
        return -1;
    }
    json_set_int(j, "schema", RERUN_SCHEMA);
    json_set(j, "bundle", bundle_json(r));
    json_set_bool(j, "trusted", r->options->trust);
    json_set_number(j, "margin", margin);
    json_set(j, "trials", rerun_record_trials(r->then));
    r->record = rerun_record_new(j, &r->inputs);
    r->sweep.rerun = r->record;
    return 0;
}

/* Without the word of its user a bundle reads no secret of this machine, not even to look at the plan: what
 * asks for one is told later, and the run refused. */
static void hide_secrets(struct rerun *r)
{
    const struct text_list *secrets = &r->inputs.secrets;
    struct text_map *env = &r->record->env;
    struct text_pair *pairs = arena_array(r->arena, struct text_pair, env->len + secrets->len + 1);
    size_t n = 0;

    for (size_t i = 0; i < env->len; i++)
        pairs[n++] = env->items[i];
    for (size_t i = 0; i < secrets->len && !r->options->trust; i++)
        pairs[n++] = (struct text_pair){.key = secrets->items[i], .value = SECRET_MASK};
    *env = (struct text_map){pairs, n};
}

/* --- the same plan? --- */

static int plan_as_json(const struct rerun *r, struct json **ret, struct error *err)
{
    CLEANUP_FREE char *path = path_join(r->work, "plan.json");
    CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (fd < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot create '%s'", path);
    return plan_write_json(r->plan, fd, false, err) < 0 ? -1 : json_read_file(path, PLAN_MAX, ret, err);
}

static int differs(const struct rerun *r, struct error *err)
{
    const char *version = json_get_text(r->then->info, "benchctl");

    if (version && strcmp(version, BENCHCTL_VERSION) != 0)
        return error_hint(
            err,
            "the bundle was made by benchctl %s, this is %s: settings may be counted differently; "
            "take the same version",
            version, BENCHCTL_VERSION);
    return r->options->sets.len ? error_hint(err, "does a --set change more than a secret?") : -1;
}

/* The first difference. */
static int compare_plans(const struct rerun *r, const struct json *now, struct error *err)
{
    const struct json *then = r->then->plan, *a = json_get(then, "scenarios"),
                      *b = json_get(now, "scenarios");

    for (size_t i = 0; i < json_len(a) || i < json_len(b); i++) {
        const struct json *x = json_at(a, i), *y = json_at(b, i);
        const char *was = json_get_text(x, "id"), *is = json_get_text(y, "id");
        if (!text_equal(was, is))
            (void)error_set(err, ERROR_INVALID,
                            "the plan of the bundle has scenario '%s' where its matrix makes '%s'",
                            was ? was : "(none)", is ? is : "(none)");
        else if (!text_equal(json_get_text(x, "digest"), json_get_text(y, "digest")))
            (void)error_set(err, ERROR_INVALID,
                            "scenario '%s' is not what was run: its settings come to another digest", was);
        else
            continue;
        return differs(r, err);
    }
    const struct json *was = json_get(then, "order"), *is = json_get(now, "order");
    for (size_t i = 0; i < json_len(was) || i < json_len(is); i++) {
        if (json_same(json_at(was, i), json_at(is, i)))
            continue;
        (void)error_set(
            err, ERROR_INVALID, "the order is not the one that was run: trial %zu is one of '%s'", i + 1,
            json_get_text(json_at(is, i), "scenario") ? json_get_text(json_at(is, i), "scenario") : "(none)");
        return differs(r, err);
    }
    return 0;
}

/* Before any of them is resolved: a matrix may make more scenarios than anybody waits for. */
static int compare_counts(const struct rerun *r, struct error *err)
{
    uint64_t was = json_len(json_get(r->then->plan, "scenarios")), is = plan_counts(r->plan)->scenarios;

    if (was == is)
        return 0;
    (void)error_set(err, ERROR_INVALID, "the plan of the bundle has %llu scenarios, its matrix makes %llu",
                    (unsigned long long)was, (unsigned long long)is);
    return differs(r, err);
}

/* --- values that were not kept --- */

static void find_masked(const struct node *n, const char *path, struct strbuf *out, size_t *count)
{
    if (n->kind == NODE_SCALAR && strstr(n->text, SECRET_MASK) && ++*count <= SHOWN_VALUES_MAX)
        strbuf_addf(out, "%s%s", out->len ? ", " : "", path);
    for (size_t i = 0; i < n->len; i++) {
        CLEANUP_FREE char *below = n->keys ? xasprintf("%s%s%s", path, *path ? "." : "", n->keys[i]->text)
                                           : xasprintf("%s.%zu", path, i);
        find_masked(n->items[i], below, out, count);
    }
}

static void tell_masked(struct rerun *r)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf names = STRBUF_INIT;
    size_t count = 0;

    find_masked(r->matrix->root, "", &names, &count);
    if (count)
        rerun_warn(
            r, "secret values are not in the bundle and are '" SECRET_MASK "' now: %s%s; --set gives them",
            strbuf_text(&names), count > SHOWN_VALUES_MAX ? ", ..." : "");
}

/* --- all of it --- */

int rerun_make_plan(struct rerun *r, struct error *err)
{
    if (take_invocation(r, err) < 0 || make_record(r, err) < 0)
        return -1;
    hide_secrets(r);
    if (!r->then->plan)
        return error_set(err, ERROR_INVALID, "'%s' has no plan.json: nothing says what was run",
                         r->options->bundle);
    if (sweep_plan(&r->sweep, &r->matrix, &r->plan, err) < 0)
        return error_wrap(err, "the bundle's matrix");
    return compare_counts(r, err);
}

int rerun_prove_plan(struct rerun *r, struct error *err)
{
    CLEANUP(json_free) struct json *now = NULL;

    if (plan_as_json(r, &now, err) < 0 || compare_plans(r, now, err) < 0)
        return -1;
    tell_masked(r);
    if (!r->options->filters.len)
        return 0;
    for (size_t i = 0; i < r->options->filters.len; i++)
        vec_push(&r->sweep.filters, r->options->filters.items[i]);
    plan_free(TAKE(r->plan));
    matrix_free(TAKE(r->matrix));
    return sweep_plan(&r->sweep, &r->matrix, &r->plan, err);
}
