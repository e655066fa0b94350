/* SPDX-License-Identifier: MIT */
/* Matrices in which other tools lose, merge or rename scenarios (tests/cases), completed to whole matrices
 * and planned. */
#include "written.h"

#include "benchctl/base/fs.h"

#define HEAD "benchctl: 1\nname: case\n"
#define TAIL "\napp: {image: \"a:1\", port: 80, ready: {tcp: true}}\nload: {adapter: idle, duration: 1s}\n"

/* The file with what every matrix must have around it. The caller frees. */
static char *completed(const char *name)
{
    CLEANUP_FREE char *path = path_join(TESTS_DIR "/cases", name);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error err = ERROR_INIT;

    if (fs_read(path, 1 << 20, &text, &err) < 0)
        fail_msg("%s", err.message);
    return xasprintf("%s%s%s", HEAD, strbuf_text(&text), TAIL);
}

static char *ids_of(const struct plan *p)
{
    struct strbuf out = STRBUF_INIT;
    CLEANUP(arena_free) struct arena *a = arena_new();

    for (size_t i = 0; i < plan_counts(p)->scenarios; i++) {
        struct scenario s;
        plan_scenario(p, i, a, &s);
        strbuf_addf(&out, "%s ", s.id);
    }
    return strbuf_detach(&out);
}

static void assert_case_ids(const char *yaml, const char *expected)
{
    CLEANUP_VALUE(written_release) struct written w = written_plan(yaml, "/lab/m.yaml");
    CLEANUP_FREE char *ids = ids_of(w.p);

    assert_string_equal(ids, expected);
}

/* Refused by the reader or the planner, at this line of the completed file, with these words. */
static void assert_case_fails(const char *name, const char *part)
{
    CLEANUP_VALUE(written_release) struct written w = {0};
    CLEANUP_FREE char *yaml = completed(name);
    struct error err = ERROR_INIT;

    if (written_try(yaml, "m.yaml", &w, &err) == 0)
        fail_msg("%s gave %llu scenarios", name, (unsigned long long)plan_counts(w.p)->scenarios);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_has(err.message, part);
    assert_has(err.message, "m.yaml:");
}

static void cut(char *text, const char *part)
{
    char *at = strstr(text, part);

    assert_non_null(at);
    memmove(at, at + strlen(part), strlen(at + strlen(part)) + 1);
}

static void words_stay_words(void **state)
{
    (void)state;
    CLEANUP_FREE char *yaml = completed("B01/matrix.yml");
    cut(yaml, ", \"no\"");
    cut(yaml, "on: {note: a key called on}\n");
    assert_case_ids(
        yaml, "spring/jpa spring/NO no/jpa no/NO on/jpa on/NO off/jpa off/NO y/jpa y/NO yes/jpa yes/NO ");
    assert_case_fails("B01/matrix.yml", "no");
    assert_case_fails("B01/bad_null.yml", "m.yaml:4:");
}

static void versions_stay_text(void **state)
{
    (void)state;
    CLEANUP_FREE char *yaml = completed("B02/matrix.yml");
    assert_case_ids(yaml, "a/3.1 a/3.10 a/1.0 a/1 a/21 a/08 a/1e3 ");
}

static void rules_that_surprise_are_errors(void **state)
{
    (void)state;
    assert_case_fails("B09/include_collapse.yml", "m.yaml:7:5: include: no value for axis 'framework'");
    assert_case_fails("B09/exclude_unknown.yml", "memory");
    assert_case_fails("B09/exclude_none.yml", "sprnig");
    assert_case_fails("B09/all_excluded.yml", "m.yaml:5:5: this exclude matches every combination");
    assert_case_fails("B09/empty_axis.yml", "stack");
}

static void partial_excludes_match_on_all_keys(void **state)
{
    (void)state;
    CLEANUP_FREE char *yaml = completed("B09/partial_exclude.yml");
    assert_case_ids(
        yaml,
        "spring/jpa/256m spring/jpa/1g spring/jdbc/256m spring/jdbc/1g quarkus/jpa/1g quarkus/jdbc/1g ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_stay_words),
        cmocka_unit_test(versions_stay_text),
        cmocka_unit_test(rules_that_surprise_are_errors),
        cmocka_unit_test(partial_excludes_match_on_all_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
