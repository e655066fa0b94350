/* SPDX-License-Identifier: MIT */
/* Repositories that a test makes with git, and checks over them. */
#ifndef TESTS_PARITY_FIXTURE_H
#define TESTS_PARITY_FIXTURE_H

#include "unit/check.h"
#include "support/scratch.h"

#include <unistd.h>
#include "benchctl/parity.h"

struct fixture {
    char *dir;
    struct arena *arena;
    const char *ignore[4]; /* of the checks below */
    size_t ignore_count;
    enum parity_sources sources;
};

static inline int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    void *dir = NULL;
    int rc = scratch_setup(&dir);

    f->dir = dir;
    f->arena = arena_new();
    *state = f;
    return rc;
}

static inline int teardown(void **state)
{
    struct fixture *f = *state;
    void *dir = f->dir;
    int rc = scratch_teardown(&dir);

    arena_free(f->arena);
    free(f);
    return rc;
}

static inline void need_git(void)
{
    CLEANUP_FREE char *git = fs_find_program("git");

    if (!git) {
        print_message("skipped: no git here\n");
        skip();
    }
}

static inline const char *repo_path(struct fixture *f, const char *repo)
{
    return arena_printf(f->arena, "%s/%s", f->dir, repo);
}

/* One check over these members. What must always be true of a result is checked here. */
static inline struct parity_check_result compare_as(struct fixture *f, const char *repo,
                                                    const struct parity_member *members, size_t count,
                                                    enum compare_mode mode, bool any_owner)
{
    struct parity_check check = {.name = "case",
                                 .compare = mode,
                                 .members = {arena_copy(f->arena, members, count * sizeof(*members)), count},
                                 .ignore = {f->ignore, f->ignore_count}};
    struct parity_settings s = {
        .repo = repo ? repo_path(f, repo) : NULL, .sources = f->sources, .checks = {&check, 1}};
    const struct parity_options o = {.any_owner = any_owner};
    struct parity_result r;
    struct error err = ERROR_INIT;

    if (parity_run(&s, &o, f->arena, &r, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(r.check_count, 1);
    assert_int_equal(r.ok, r.checks[0].ok);
    assert_int_equal(r.broken, !r.ok && !r.checks[0].unavailable);
    assert_true(!r.ok || !r.checks[0].error);
    CLEANUP(json_free) struct json *j = parity_to_json(&r);
    assert_int_equal(json_get_bool(j, "ok"), r.ok);
    return r.checks[0];
}

static inline struct parity_check_result compare(struct fixture *f, const char *repo, const char *ref_a,
                                                 const char *ref_b, const char *path)
{
    const struct parity_member members[] = {{.ref = ref_a, .path = path}, {.ref = ref_b, .path = path}};

    return compare_as(f, repo, members, 2, COMPARE_BLOBS, false);
}

static inline void same(const struct parity_check_result *r)
{
    if (!r->ok)
        fail_msg("%s", r->error ? r->error : r->differences[0].what);
}

/* It could not be tried. */
static inline void unavailable(const struct parity_check_result *r, const char *part)
{
    assert_false(r->ok);
    assert_true(r->unavailable);
    assert_non_null(r->error);
    assert_has(r->error, part);
}

/* It was tried, and there is nothing to compare on some side. */
static inline void broken(const struct parity_check_result *r, const char *part)
{
    assert_false(r->ok);
    assert_false(r->unavailable);
    assert_non_null(r->error);
    assert_has(r->error, part);
}

static inline void differs(const struct parity_check_result *r, const char *path, const char *part)
{
    assert_false(r->ok);
    assert_null(r->error);
    for (size_t i = 0; i < r->difference_count; i++) {
        if (strcmp(r->differences[i].path, path) == 0 && strstr(r->differences[i].what, part))
            return;
        if (strcmp(r->differences[i].path, path) == 0)
            print_error("%s: %s\n", path, r->differences[i].what);
    }
    fail_msg("no difference at '%s' like '%s'", path, part);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

#endif
