/* SPDX-License-Identifier: MIT */
/* Repositories made by git itself, of the kinds that have broken tools before, and what a check says about
 * them. */
#include "fixture.h"

/* Builds the repositories of a case. */
static void build(struct fixture *f, const char *name)
{
    need_git();
    if (shell("cd / && sh '%s/cases/%s/setup.sh' '%s' > '%s/.log' 2>&1", TESTS_DIR, name, f->dir, f->dir) !=
        0) {
        CLEANUP_FREE char *log = get(f->dir, ".log");
        fail_msg("%s: %s", name, log);
    }
}

static void d01_other_owner(void **state)
{
    struct fixture *f = *state;

    if (geteuid() != 0) {
        print_message("skipped: only root can give a repository away\n");
        skip();
    }
    build(f, "D01");
    assert_int_equal(setenv("HOME", f->dir, 1), 0);
    for (int wildcard = 0; wildcard < 2; wildcard++) {
        if (wildcard)
            assert_int_equal(shell("HOME='%s' git config --global --add safe.directory '*'", f->dir), 0);
        struct parity_check_result r = compare(f, "own", "HEAD", "HEAD", "f");
        unavailable(&r, "belongs to");
        assert_has(r.error, "(uid 65534), and this is root (uid 0)");
        assert_has(r.error, "git config --global --add safe.directory '");
        const struct parity_member members[] = {{.ref = "HEAD", .path = "f"}, {.ref = "main", .path = "f"}};
        r = compare_as(f, "own", members, 2, COMPARE_BLOBS, true);
        same(&r);
        assert_has(r.note, "belongs to somebody else");
    }
    assert_int_equal(shell("HOME='%s' git config --global --add safe.directory '%s/own'", f->dir, f->dir), 0);
    struct parity_check_result r = compare(f, "own", "HEAD", "HEAD", "f");
    same(&r);
    assert_int_equal(setenv("HOME", "/root", 1), 0);
}

static void d02_line_ends(void **state)
{
    struct fixture *f = *state;

    build(f, "D02");
    struct parity_check_result r = compare(f, "r", "main", "variant", "");
    differs(&r, "crlf_blob.txt", "content differs: ");
    assert_has(r.differences[0].what, "(line ends only)");
    assert_int_equal(r.difference_count, 1);
    assert_int_equal(r.compared, 3);
    r = compare(f, "r", "main", "variant", "lf.txt");
    same(&r);
}

static void d03_refs(void **state)
{
    struct fixture *f = *state;

    build(f, "D03");
    struct parity_check_result r = compare(f, "work", "main", "variant-b", "f");
    unavailable(
        &r,
        "ref 'variant-b' means several things: refs/remotes/origin/variant-b, refs/remotes/other/variant-b");
    r = compare(f, "work", "main", "origin/main", "f");
    unavailable(&r,
                "ref 'origin/main' means several things: refs/heads/origin/main, refs/remotes/origin/main");
    r = compare(f, "work", "main", "refs/remotes/other/variant-b", "f");
    same(&r);
    assert_string_equal(r.members[0].full_ref, "refs/heads/main");
    assert_string_equal(r.members[1].full_ref, "refs/remotes/other/variant-b");
    assert_int_equal(strlen(r.members[0].commit), 40);
    r = compare(f, "work", "main", r.members[0].commit, "f"); /* by id */
    same(&r);
    r = compare(f, "work", "main", "mian", "f");
    unavailable(&r, "has no branch, tag or remote branch 'mian'; did you mean 'main'?");
    r = compare(f, "work", "main", "main@{0}", "f");
    unavailable(&r, "is an expression");
    assert_int_equal(shell("git -C '%s/work' remote remove other", f->dir), 0);
    r = compare(f, "work", "main", "variant-b", "f"); /* now one remote has it */
    same(&r);
    assert_string_equal(r.members[1].full_ref, "refs/remotes/origin/variant-b");
    r = compare(f, "nowhere", "main", "main", "f");
    unavailable(&r, "there is no repository at");
}

static void d04_submodules(void **state)
{
    struct fixture *f = *state;

    build(f, "D04");
    assert_int_equal(shell("cd '%s/app' && git branch other && (cd vendor && git -c user.name=a -c "
                           "user.email=a@b commit -q --allow-empty -m 2) && git add vendor && "
                           "git -c user.name=a -c user.email=a@b commit -qm moved",
                           f->dir),
                     0);
    struct parity_check_result r = compare(f, "app", "main", "main", "");
    same(&r);
    assert_int_equal(r.compared, 5); /* .gitmodules a.txt link run.sh vendor */
    r = compare(f, "app", "main", "other", ".");
    differs(&r, "vendor", "pinned commit differs: ");
    assert_int_equal(r.difference_count, 1);
    r = compare(f, "app", "main", "other", "vendor");
    differs(&r, "vendor", "pinned commit differs: ");
    const struct parity_member kinds[] = {{.ref = "main", .path = "link"}, {.ref = "main", .path = "a.txt"}};
    r = compare_as(f, "app", kinds, 2, COMPARE_BLOBS, false);
    differs(&r, "link", "a link in main:link, but a file in main:a.txt");
}

static void d05_tags(void **state)
{
    struct fixture *f = *state;

    build(f, "D05");
    for (int loose = 0; loose < 2; loose++) {
        if (loose)
            assert_int_equal(shell("cd '%s/r' && git for-each-ref --format='update %%(refname) "
                                   "%%(objectname)' > ../refs && rm .git/packed-refs && "
                                   "git update-ref --stdin < ../refs",
                                   f->dir),
                             0);
        const struct parity_member members[] = {{.ref = "light", .path = ""},
                                                {.ref = "annotated", .path = ""},
                                                {.ref = "nested", .path = ""},
                                                {.ref = "main", .path = ""}};
        struct parity_check_result r = compare_as(f, "r", members, 4, COMPARE_BLOBS, false);
        same(&r);
        assert_null(r.members[0].tag);
        assert_int_equal(strlen(r.members[1].tag), 40);
        assert_string_not_equal(r.members[1].tag, r.members[2].tag);
        assert_string_equal(r.members[0].commit, r.members[2].commit);
        assert_string_equal(r.members[2].full_ref, "refs/tags/nested");
        r = compare(f, "r", "main", "tree", "");
        unavailable(&r, "ref 'tree' (refs/tags/tree) points to a tree, not to a commit");
        r = compare(f, "r", "main", "blob", "");
        unavailable(&r, "points to a blob, not to a commit");
    }
    assert_int_equal(shell("git -C '%s/r' branch light", f->dir), 0);
    struct parity_check_result r = compare(f, "r", "main", "light", "");
    unavailable(&r, "refs/heads/light, refs/tags/light");
}

static void d06_partial(void **state)
{
    struct fixture *f = *state;

    build(f, "D06");
    assert_int_equal(shell("cd '%s/up' && git checkout -q -b v && echo 2 > f && echo 'A = \"a\"' > q.py && "
                           "git add . && git -c user.name=a -c user.email=a@b commit -qm 2 && "
                           "cd ../partial.git && git fetch -q origin v:v --filter=blob:none",
                           f->dir),
                     0);
    struct parity_check_result r = compare(f, "partial.git", "main", "main", "");
    same(&r);
    assert_string_equal(r.note, "compared without content (partial clone)");
    r = compare(f, "partial.git", "main", "v", "f");
    differs(&r, "f", "content differs: ");
    const struct parity_member constants[] = {{.ref = "v", .path = "q.py"}, {.ref = "v", .path = "q.py"}};
    r = compare_as(f, "partial.git", constants, 2, COMPARE_CONSTANTS, false);
    unavailable(&r, "is missing in a partial clone");
    assert_has(r.error, "fetch it with: git -C '");
}

static void d07_formats(void **state)
{
    struct fixture *f = *state;

    build(f, "D07");
    const struct parity_member members[] = {{.ref = "v", .path = "f"},
                                            {.repo = repo_path(f, "linked"), .ref = "v", .path = "f"}};
    struct parity_check_result r = compare_as(f, "main", members, 2, COMPARE_BLOBS, false);
    same(&r);
    assert_string_equal(r.members[0].commit, r.members[1].commit);
    r = compare(f, "ext", "main", "main", "f");
    if (!r.ok) {
        unavailable(&r, "worktreeconfig");
        assert_has(r.error, "libgit2");
    }
    r = compare(f, "s256", "main", "main", "f");
    if (!r.ok) {
        unavailable(&r, "objectformat");
        assert_has(r.error, "libgit2");
    }
}

static void d08_shallow(void **state)
{
    struct fixture *f = *state;

    build(f, "D08");
    struct parity_check_result r = compare(f, "shallow", "main", "HEAD", "f");
    same(&r);
    assert_true(r.members[0].shallow);
    r = compare(f, "shallow", "main", "HEAD~1", "f");
    unavailable(&r, "is missing in a shallow clone");
    assert_has(r.error, "fetch --unshallow");
    r = compare(f, "shallow", "main", "variant-b", "f");
    unavailable(&r, "has no branch, tag or remote branch 'variant-b' (it is a shallow clone)");
    assert_has(r.error, "git -C '");
    CLEANUP_FREE char *id = shell_output(f->dir, "git -C up rev-parse HEAD~1");
    r = compare(f, "shallow", "main", arena_strndup(f->arena, id, 40), "f");
    unavailable(&r, "is missing in a shallow clone");
    r = compare(f, "up", "main", "HEAD~1", "f");
    unavailable(&r, "is an expression; only names and full commit ids are read");
}

static void d09_modes(void **state)
{
    struct fixture *f = *state;

    build(f, "D09");
    struct parity_check_result r = compare(f, "r", "main", "v", "");
    same(&r);
    assert_int_equal(r.difference_count, 1);
    assert_true(r.differences[0].warning);
    assert_string_equal(r.differences[0].what, "mode only: executable in main, not in v");
    r = compare(f, "r", "v", "oldmode", "");
    same(&r);
    assert_int_equal(r.difference_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(d01_other_owner), CASE(d02_line_ends), CASE(d03_refs),    CASE(d04_submodules), CASE(d05_tags),
        CASE(d06_partial),     CASE(d07_formats),   CASE(d08_shallow), CASE(d09_modes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
