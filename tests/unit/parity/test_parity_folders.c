/* SPDX-License-Identifier: MIT */
/* Working files of folders: read as git would store them, in a repository or not. */
#include "fixture.h"

#include <sys/stat.h>

static struct parity_check_result folders_as(struct fixture *f, const char *path, enum compare_mode mode)
{
    const char *match = mode == COMPARE_CONSTANTS ? "SQL_*" : NULL;
    const struct parity_member members[] = {{.ref = "one/x", .path = path, .match = match},
                                            {.ref = "two/x", .path = path, .match = match}};
    f->sources = PARITY_FOLDERS;

    return compare_as(f, "r", members, 2, mode, false);
}

static struct parity_check_result folders(struct fixture *f, const char *path)
{
    return folders_as(f, path, COMPARE_BLOBS);
}

#define SQL(TEXT)                                                                                            \
    "class Dao {\n  static final String SQL_FIND = \"find\";\n  static final String SQL_ADD = \"" TEXT       \
    "\";\n}\n"

static void make(struct fixture *f)
{
    put(f->dir, "r/one/x/src/a.sql", "select 1;\nselect 2;\n");
    put(f->dir, "r/two/x/src/a.sql", "select 1;\nselect 2;\n");
    put(f->dir, "r/one/x/src/deep/Dao.java", SQL("add"));
    put(f->dir, "r/two/x/src/deep/Dao.java", SQL("add"));
}

static void without_repository(void **state)
{
    struct fixture *f = *state;

    make(f);
    struct parity_check_result r = folders(f, "src");
    same(&r);
    assert_int_equal(r.compared, 2);
    assert_null(r.members[0].commit);
    assert_string_equal(r.members[0].object, r.members[1].object);
    put(f->dir, "r/two/x/src/a.sql", "select 1;\nselect 3;\n");
    r = folders(f, "src");
    differs(&r, "a.sql", "(line 2: 'select 2;' / 'select 3;')");
    r = folders(f, "src/a.sql");
    differs(&r, "a.sql", "content differs");
    r = folders(f, "src/deep/Dao.java");
    same(&r);
    r = folders_as(f, "src", COMPARE_CONSTANTS);
    same(&r);
    put(f->dir, "r/two/x/src/deep/Dao.java", SQL("ad."));
    r = folders_as(f, "src", COMPARE_CONSTANTS);
    differs(&r, "SQL_ADD", "'add' in one/x (deep/Dao.java:3), 'ad.' in two/x (deep/Dao.java:3)");
}

/* The ids are git's own; what HEAD has, and what it would ignore, is said. */
static void in_repository(void **state)
{
    struct fixture *f = *state;

    need_git();
    make(f);
    put(f->dir, "r/.gitignore", "target/\n*.log\n");
    put(f->dir, "r/one/x/src/kept.log", "k");
    put(f->dir, "r/two/x/src/kept.log", "k");
    assert_int_equal(shell("cd '%s/r' && chmod 755 one/x/src/a.sql two/x/src/a.sql && "
                           "ln -s a.sql one/x/src/l && ln -s a.sql two/x/src/l && "
                           "git init -q -b main && git config user.name a && "
                           "git config user.email a@example.invalid && git add -A && "
                           "git add -f */x/src/kept.log && git commit -q -m x && "
                           "git rev-parse HEAD:one/x/src | tr -d '\\n' > '%s/tree'",
                           f->dir, f->dir),
                     0);
    struct parity_check_result r = folders(f, "src");
    same(&r);
    CLEANUP_FREE char *file = path_join(f->dir, "tree");
    CLEANUP_VALUE(strbuf_release) struct strbuf tree = STRBUF_INIT;
    struct error err = ERROR_INIT;
    assert_int_equal(fs_read(file, 100, &tree, &err), 0);
    assert_string_equal(r.members[0].object, strbuf_text(&tree));
    assert_int_equal(r.compared, 4);
    assert_non_null(r.members[0].commit);
    assert_false(r.members[0].changed);
    assert_null(r.note);
    put(f->dir, "r/two/x/src/target/y.class", "y");
    put(f->dir, "r/two/x/src/z.log", "z");
    r = folders(f, "src");
    same(&r);
    assert_has(r.note, "not read in two/x, as git would ignore it: ");
    assert_has(r.note, "target/");
    assert_has(r.note, "z.log");
    assert_false(r.members[1].changed);
    put(f->dir, "r/two/x/src/kept.log", "j");
    r = folders(f, "src");
    differs(&r, "kept.log", "(line 1: 'k' / 'j')");
    assert_true(r.members[1].changed);
    assert_has(r.note, "two/x with changes that are not committed");
}

static void kinds(void **state)
{
    struct fixture *f = *state;

    make(f);
    assert_int_equal(shell("cd '%s/r' && chmod +x one/x/src/a.sql && mkdir one/x/src/empty", f->dir), 0);
    struct parity_check_result r = folders(f, "src");
    same(&r);
    assert_int_equal(r.difference_count, 1);
    assert_has(r.differences[0].what, "mode only: executable in one/x, not in two/x");
    assert_int_equal(shell("cd '%s/r' && ln -s /etc/passwd one/x/src/l && ln -s /etc/group two/x/src/l &&"
                           "ln -s deep/../a.sql one/x/src/m && ln -s deep/../a.sql two/x/src/m",
                           f->dir),
                     0);
    r = folders(f, "src");
    differs(&r, "l", "link differs");
    assert_has(r.note, "links of one/x that lead elsewhere, compared by their target's name: l");
    assert_int_equal(shell("cd '%s/r' && mkfifo one/x/src/pipe", f->dir), 0);
    r = folders(f, "src");
    unavailable(&r, "pipe' is neither a file, a directory nor a link");
    assert_int_equal(shell("cd '%s/r' && rm one/x/src/pipe && truncate -s 65M one/x/src/huge", f->dir), 0);
    r = folders(f, "src");
    unavailable(&r, "a source is at most 67108864 bytes");
}

static void places(void **state)
{
    struct fixture *f = *state;

    make(f);
    struct parity_check_result r = folders(f, "src/none");
    broken(&r, "'src/none' is missing in one/x");
    r = folders(f, "../../two/x/src");
    unavailable(&r, "leads out of");
    r = folders(f, "/etc");
    unavailable(&r, "'/etc' is not a path below");
    assert_int_equal(
        shell("cd '%s/r' && ln -s ../../two/x/src one/x/other && mkdir one/x/none two/x/none", f->dir), 0);
    r = folders(f, "other");
    unavailable(&r, "leads out of");
    r = folders(f, "none");
    broken(&r, "'none' of one/x is empty");
    assert_int_equal(shell("mv '%s/r/two' '%s/r/three'", f->dir, f->dir), 0);
    r = folders(f, "src");
    unavailable(&r, "there is no folder");
    if (geteuid() == 0)
        return; /* root reads everything */
    assert_int_equal(shell("cd '%s/r' && mv three two && chmod 000 two/x/src/a.sql", f->dir), 0);
    r = folders(f, "src");
    unavailable(&r, "a.sql");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(without_repository),
        CASE(in_repository),
        CASE(kinds),
        CASE(places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
