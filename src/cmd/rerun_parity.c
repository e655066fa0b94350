/* SPDX-License-Identifier: MIT */
/* The source parity of then, looked at again at the commits, or in the folders, that were compared then. */
#include "rerun_open.h"

#include "benchctl/parity.h"

/* What the bundle says, and that nobody looked again. */
static struct json *as_it_was(struct rerun *r, const struct json *then, const char *why)
{
    struct json *j = json_clone(then);

    rerun_warn(r, "parity was not checked again: %s; the result is the bundle's", why);
    json_set_bool(j, "checked_again", false);
    return j;
}

static const struct json *check_then(const struct json *then, const char *name)
{
    const struct json *checks = json_get(then, "checks");

    for (size_t i = 0; i < json_len(checks); i++)
        if (text_equal(json_get_text(json_at(checks, i), "name"), name))
            return json_at(checks, i);
    return NULL;
}

/* The matrix' checks with commit ids in the place of names, which may have moved; the repositories where they
 * were. NULL when the bundle does not have them all. */
static const struct parity_settings *at_commits(const struct rerun *r, const struct json *then,
                                                const char **ret_lost)
{
    struct parity_settings *s = arena_copy(r->arena, r->matrix->parity, sizeof(*s));
    struct parity_check *checks = arena_copy(r->arena, s->checks.items, s->checks.len * sizeof(*checks));

    s->checks.items = checks;
    for (size_t i = 0; i < s->checks.len; i++) {
        const struct json *members = json_get(check_then(then, checks[i].name), "members");
        struct parity_member *m =
            arena_copy(r->arena, checks[i].members.items, checks[i].members.len * sizeof(*m));
        checks[i].members.items = m;
        for (size_t k = 0; k < checks[i].members.len; k++) {
            const char *commit = json_get_text(json_at(members, k), "commit");
            const char *repo = json_get_text(json_at(members, k), "repo");
            const bool folders = s->sources == PARITY_FOLDERS;
            if ((!commit && !folders) || !repo || !fs_is_dir(repo)) {
                *ret_lost = repo && (commit || folders) ? repo : checks[i].name;
                return NULL;
            }
            if (!folders)
                m[k].ref = arena_strdup(r->arena, commit);
            m[k].repo = arena_strdup(r->arena, repo);
        }
    }
    return s;
}

/* The folder whose files are not those of then any more, by the ids of their trees; NULL: all are. A folder
 * that could not be read has no id. */
static const char *changed_folder(const struct parity_settings *s, const struct json *then,
                                  const struct parity_result *now)
{
    if (s->sources != PARITY_FOLDERS)
        return NULL;
    for (size_t i = 0; i < now->check_count; i++) {
        const struct json *members = json_get(check_then(then, now->checks[i].name), "members");
        for (size_t k = 0; k < now->checks[i].member_count; k++) {
            const struct parity_member_result *m = &now->checks[i].members[k];
            const char *object = json_get_text(json_at(members, k), "object");
            if (!object || !text_equal(object, m->object))
                return m->ref;
        }
    }
    return NULL;
}

int rerun_check_parity(struct rerun *r, struct json **ret, struct error *err)
{
    const struct json *then = json_get(r->then->info, "parity");
    const struct parity_options o = {0};
    struct parity_result result = {0};
    const char *lost = "";

    if (!r->matrix->parity || json_type_of(then) != JSON_TYPE_OBJECT)
        return 0;
    if (json_get_bool(then, "skipped")) {
        *ret = json_clone(then);
        return 0;
    }
    if (!r->options->trust) {
        *ret =
            as_it_was(r, then, "a bundle names repositories of its choice, which are read with --trust only");
        return 0;
    }
    const struct parity_settings *s = at_commits(r, then, &lost);
    if (!s) {
        CLEANUP_FREE char *why = xasprintf("'%s' is not here", lost);
        *ret = as_it_was(r, then, why);
        return 0;
    }
    if (parity_run(s, &o, r->arena, &result, err) < 0)
        return error_wrap(err, "parity");
    const char *folder = changed_folder(s, then, &result);
    if (folder) {
        CLEANUP_FREE char *why = xasprintf("the files of folder '%s' are not those of then any more", folder);
        *ret = as_it_was(r, then, why);
        return 0;
    }
    if (result.unavailable && !result.broken) {
        *ret = as_it_was(r, then, "the repository does not have the commits of then any more");
        return 0;
    }
    if (result.broken && s->on_mismatch == ON_PROBLEM_FAIL)
        return error_set(err, ERROR_PARITY, "parity is broken at the commits that the bundle names");
    *ret = parity_to_json(&result);
    json_set_bool(*ret, "checked_again", true);
    return 0;
}
