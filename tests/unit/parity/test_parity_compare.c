/* SPDX-License-Identifier: MIT */
/* Files and constants of several refs and repositories: what is the same, and how differences read. */
#include "fixture.h"

/* A repository with a commit for each "branch|path|content" line of its plan; content may hold \n. */
static void make(struct fixture *f, const char *repo, const char *const *lines)
{
    need_git();
    assert_int_equal(shell("mkdir -p '%s/%s' && cd '%s/%s' && git init -q -b main && git config user.name a "
                           "&& git config user.email a@example.invalid && "
                           "git commit -q --allow-empty -m begin",
                           f->dir, repo, f->dir, repo),
                     0);
    for (; *lines; lines++) {
        CLEANUP_FREE char *line = xstrdup(*lines);
        char *branch = line, *path = strchr(line, '|'), *content = path ? strchr(path + 1, '|') : NULL;
        assert_true(path && content);
        *path++ = *content++ = '\0';
        CLEANUP_FREE char *dir = path_join(f->dir, repo);
        assert_int_equal(
            shell("cd '%s' && git checkout -q '%s' 2>/dev/null || git -C '%s' checkout -q -b '%s' main", dir,
                  branch, dir, branch),
            0);
        put(dir, path, content);
        assert_int_equal(shell("cd '%s' && git add -A && git commit -q -m x", dir), 0);
    }
}

static void files(void **state)
{
    struct fixture *f = *state;
    const char *const plan[] = {"a|dao/one.sql|select 1;\nselect 2;\n",
                                "a|dao/sub/two.sql|x\n",
                                "a|dao/README.md|a\n",
                                "b|dao/one.sql|select 1;\nselect 3;\n",
                                "b|dao/sub/two.sql|x\n",
                                "b|dao/extra.sql|y\n",
                                "b|dao/README.md|b\n",
                                "c|dao/one.sql|select 1;\nselect 2;\n",
                                "c|dao/sub/two.sql|x\n",
                                NULL};

    make(f, "r", plan);
    f->ignore[0] = "**/README.md";
    f->ignore_count = 1;
    const struct parity_member members[] = {
        {.ref = "a", .path = "dao"}, {.ref = "b", .path = "dao/"}, {.ref = "c", .path = "./dao"}};
    struct parity_check_result r = compare_as(f, "r", members, 3, COMPARE_BLOBS, false);
    differs(&r, "one.sql", "content differs: ");
    differs(&r, "one.sql", " in a, c; ");
    differs(&r, "one.sql", " in b (line 2: 'select 2;' / 'select 3;')");
    differs(&r, "extra.sql", "missing in a, c");
    assert_int_equal(r.difference_count, 2);
    assert_int_equal(r.compared, 3);
    r = compare(f, "r", "a", "c", "dao"); /* README.md is ignored on the side that has it */
    same(&r);
    f->ignore_count = 0;
    r = compare(f, "r", "a", "c", "dao");
    differs(&r, "README.md", "missing in c");
    r = compare(f, "r", "a", "c", "dao/sub/two.sql");
    same(&r);
    assert_string_equal(r.members[0].object, r.members[1].object);
}

/* Nothing on both sides is not the same thing on both sides. */
static void nothing_is_not_equal(void **state)
{
    struct fixture *f = *state;
    const char *const plan[] = {"a|dao/one.sql|x\n", "b|dao/one.sql|x\n", NULL};

    make(f, "r", plan);
    struct parity_check_result r = compare(f, "r", "a", "b", "doa");
    broken(&r, "'doa' is missing in a (");
    r = compare(f, "r", "a", "main", "dao");
    broken(&r, "'dao' is missing in main (");
    r = compare(f, "r", "main", "main", "");
    broken(&r, "'.' of main is empty");
    f->ignore[0] = "**";
    f->ignore_count = 1;
    r = compare(f, "r", "a", "b", "dao");
    broken(&r, "nothing is left to compare in 'dao' of a: all of 1 files are ignored");
    r = compare(f, "r", "a", "b", "dao/one.sql/x");
    broken(&r, "is missing in a");
}

static void several_repositories(void **state)
{
    struct fixture *f = *state;
    const char *const one[] = {"v|src/q.sql|a\n", NULL}, *const two[] = {"v|other/q.sql|a\n",
                                                                         "w|other/q.sql|b\n", NULL};

    make(f, "one", one);
    make(f, "two", two);
    const struct parity_member members[] = {{.repo = repo_path(f, "one"), .ref = "v", .path = "src"},
                                            {.repo = repo_path(f, "two"), .ref = "v", .path = "other"}};
    struct parity_check_result r = compare_as(f, NULL, members, 2, COMPARE_BLOBS, false);
    same(&r);
    assert_has(r.members[1].repo, "/two");
    const struct parity_member others[] = {{.repo = repo_path(f, "one"), .ref = "v", .path = "src"},
                                           {.repo = repo_path(f, "two"), .ref = "w", .path = "other"}};
    r = compare_as(f, NULL, others, 2, COMPARE_BLOBS, false);
    differs(&r, "q.sql", "content differs: ");
    const struct parity_member single[] = {{.repo = repo_path(f, "one"), .ref = "v", .path = "src/q.sql"},
                                           {.repo = repo_path(f, "two"), .ref = "v", .path = "other/q.sql"}};
    r = compare_as(f, NULL, single, 2, COMPARE_BLOBS, false);
    same(&r);
    r = compare_as(f, NULL,
                   (const struct parity_member[]){{.ref = "v", .path = "x"}, {.ref = "v", .path = "x"}}, 2,
                   COMPARE_BLOBS, false);
    unavailable(&r, "no repository is given");
}

#define JAVA_SQL                                                                                             \
    "package x;\nclass Sql {\n  static final String SQL_FIND = \"\"\"\n    select id, name\n      from "     \
    "item\n     where id = ?\"\"\";\n"                                                                       \
    "  static final String SQL_ADD = \"insert into \" + TABLE + \" values (?, ?)\";\n  static final String " \
    "TABLE = \"item\";\n}\n"
#define KOTLIN_SQL                                                                                           \
    "package x\nobject Sql {\n  const val TABLE = \"item\"\n  const val SQL_FIND = \"select id, name\\n  "   \
    "from item\\n where id = ?\"\n"                                                                          \
    "  val SQL_ADD = \"\"\"insert into $TABLE values (?, ?)\"\"\"\n}\n"

static struct parity_check_result constants(struct fixture *f, const char *ref_a, const char *ref_b)
{
    const struct parity_member members[] = {{.ref = ref_a, .path = "src", .match = "SQL_*"},
                                            {.ref = ref_b, .path = "src", .match = "SQL_*"}};

    return compare_as(f, "r", members, 2, COMPARE_CONSTANTS, false);
}

static void constants_by_value(void **state)
{
    struct fixture *f = *state;
    const char *const plan[] = {
        "java|src/Sql.java|" JAVA_SQL,
        "kotlin|src/dao/Sql.kt|" KOTLIN_SQL,
        "kotlin|src/notes.txt|nothing\n",
        "value|src/q.py|SQL_FIND = 'select id, nome\\n  from item\\n where id = ?'\nSQL_ADD = 'insert  into "
        "item values (?, ?)'\n",
        "order|src/q.py|SQL_ADD = 'insert into item values (?, ?)'\nSQL_FIND = 'select id, name\\n  from "
        "item\\n where id = ?'\n",
        "missing|src/q.py|SQL_FIND = 'select id, name\\n  from item\\n where id = ?'\nSQL_MORE = 'x'\n",
        "unknown|src/q.py|SQL_FIND = 'select id, name\\n  from item\\n where id = ?'\nSQL_ADD = build()\n",
        "none|src/q.py|OTHER = 'x'\n",
        "loose|src/q.py|SQL_FIND = 'select id, name\\n  from item\\n where id = ?'\nSQL_ADD = 'insert into "
        "item "
        "values (?, ?)'\nif True:\n    SQL_MORE = 'x'\n",
        "text|src/q.txt|SQL_FIND = 'x'\n",
        NULL,
    };

    make(f, "r", plan);
    struct parity_check_result r = constants(f, "java", "kotlin");
    same(&r);
    assert_int_equal(r.compared, 2);
    r = constants(f, "java", "value");
    differs(&r, "SQL_FIND",
            "value differs at byte 12: 'select id, name\\n  from item\\n where id = ?' in java (Sql.java:3), "
            "'select id, nome\\n");
    differs(&r, "SQL_FIND", " in value (q.py:1)");
    differs(&r, "SQL_ADD", "value differs at byte 7 (blanks only): 'insert into item");
    r = constants(f, "java", "order");
    differs(&r, "SQL_ADD", "order differs: after SQL_FIND in java (Sql.java:7), before it in order (q.py:1)");
    assert_int_equal(r.difference_count, 1);
    r = constants(f, "java", "missing");
    differs(&r, "SQL_ADD", "missing in missing (java Sql.java:7 has it)");
    differs(&r, "SQL_MORE", "missing in java (missing q.py:2 has it)");
    r = constants(f, "java", "unknown");
    differs(&r, "SQL_ADD", "not constant in unknown (q.py:2): it calls 'build'");
    r = constants(f, "java", "loose");
    differs(&r, "SQL_MORE", "not constant in loose (q.py:4): it is not a constant that can be folded");
    r = constants(f, "loose", "loose"); /* the same on both sides, but not known to be */
    differs(&r, "SQL_MORE", "not constant in loose (q.py:4)");
    const struct parity_member unasked[] = {{.ref = "loose", .path = "src"}, {.ref = "loose", .path = "src"}};
    r = compare_as(f, "r", unasked, 2, COMPARE_CONSTANTS, false);
    same(&r);
    assert_has(r.note, "SQL_MORE (loose q.py:4: it is not a constant that can be folded)");
    r = constants(f, "java", "none");
    broken(&r, "no string constant of 'src' in none matches 'SQL_*'");
    r = constants(f, "java", "text");
    broken(&r, "'src' of text holds no source in a known language");
    const struct parity_member all[] = {{.ref = "java", .path = "src"}, {.ref = "unknown", .path = "src"}};
    r = compare_as(f, "r", all, 2, COMPARE_CONSTANTS, false);
    differs(&r, "TABLE", "missing in unknown");
    f->ignore[0] = "**/*.txt";
    f->ignore_count = 1;
    r = constants(f, "text", "java");
    broken(&r, "all of 1 files are ignored");
}

/* Names of files are bytes; a message stays one line. */
static void strange_names(void **state)
{
    struct fixture *f = *state;
    const char *const plan[] = {"a|d/x y\xff.sql|a\n", "b|d/x y\xff.sql|b\n", "b|d/new\nline|c\n", NULL};

    make(f, "r", plan);
    struct parity_check_result r = compare(f, "r", "a", "b", "d");
    assert_false(r.ok);
    assert_int_equal(r.difference_count, 2);
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    const struct parity_result all = {.checks = &r, .check_count = 1};
    CLEANUP(json_free) struct json *j = parity_to_json(&all);
    json_write(j, JSON_STYLE_COMPACT, &out);
    assert_has(strbuf_text(&out), "x y\xef\xbf\xbd.sql");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(files),         CASE(nothing_is_not_equal), CASE(several_repositories), CASE(constants_by_value),
        CASE(strange_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
