/* SPDX-License-Identifier: MIT */
/* Files that other tools read wrongly (tests/cases), read as matrices: each with what a matrix needs behind
 * it. */
#include "fixture.h"

#include "benchctl/base/clock.h"

static void read_case(const char *name, bool complete, struct strbuf *out)
{
    struct error err = ERROR_INIT;
    char path[512];

    (void)snprintf(path, sizeof(path), "%s/cases/%s", TESTS_DIR, name);
    if (fs_read(path, TREE_MAX_BYTES, out, &err) < 0)
        fail_msg("%s", err.message);
    if (complete)
        strbuf_adds(out, "\n" HEAD REST);
}

static void remember(const struct error *err, void *data)
{
    strbuf_addf(data, "%s\n", err->message);
}

/* All problems of a case; `first` is how the first one ends. */
static void case_refused(const char *name, bool complete, const char *wanted)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf seen = STRBUF_INIT;
    const struct matrix_options o = {.seed = SCHEMA_ABSENT, .report = remember, .report_data = &seen};
    struct error err = ERROR_INIT;
    struct matrix *m = NULL;

    read_case(name, complete, &text);
    if (matrix_parse(strbuf_text(&text), text.len, "m.yaml", &o, &m, &err) == 0)
        fail_msg("%s was accepted", name);
    assert_int_equal(error_exit_code(err.kind), 2);
    if (!strstr(strbuf_text(&seen), wanted))
        fail_msg("%s: no '%s' in: %s", name, wanted, strbuf_text(&seen));
}

static struct matrix *case_accepted(const char *name)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    read_case(name, true, &text);
    return read_matrix(strbuf_text(&text));
}

static void words_are_not_truth_values(void **state)
{
    (void)state;
    case_refused("B01/matrix.yml", true,
                 "m.yaml:3:44: axis 'framework' has the value 'no' twice, first on line 3");
    case_refused("B01/matrix.yml", true, "m.yaml:5:1: unknown key 'on' in the matrix");
    case_refused("B01/bad_null.yml", true, "m.yaml:2:23: axis 'framework' has an empty value");
    CLEANUP(matrix_free)
    struct matrix *m =
        read_matrix(HEAD REST "axes:\n  framework: [spring, no, on, off, y, yes]\n  stack: [jpa, NO]\n");
    assert_int_equal(m->axes[0].len * m->axes[1].len, 12);
    assert_string_equal(m->axes[0].values[1].text, "no");
    assert_string_equal(m->axes[1].values[1].text, "NO");
    settings_refused(HEAD LOAD "app: {image: i, init: yes}", "'init' must be true or false, not 'yes'",
                     "true and false");
}

static void versions_stay_text(void **state)
{
    static const char *const wanted[] = {"3.1", "3.10", "1.0", "1", "21", "08", "1e3"};
    CLEANUP(matrix_free) struct matrix *m = case_accepted("B02/matrix.yml");

    (void)state;
    assert_int_equal(m->axes[1].len, ARRAY_LEN(wanted));
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        assert_string_equal(m->axes[1].values[i].text, wanted[i]);
}

/* The field of the case is `repeat`; ours is `retry` in the settings and `trials` at the top. */
static void whole_numbers(void **state)
{
    (void)state;
    for (int i = 0; i <= 12; i++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
        struct error err = ERROR_INIT;
        char name[64], whole[300];
        (void)snprintf(name, sizeof(name), "B03/repeat_%02d.yml", i);
        read_case(name, false, &text);
        (void)snprintf(whole, sizeof(whole), HEAD REST "trials%s", strbuf_text(&text) + strlen("repeat"));
        CLEANUP(matrix_free) struct matrix *m = try_matrix_with(whole, NULL, &err);
        if ((m != NULL) != (i == 9 || i == 10))
            fail_msg("%s: %s", name, m ? "accepted" : err.message);
        if (!m)
            assert_has(err.message, "m.yaml:5:9: 'trials'");
    }
}

static void duplicate_and_unknown_keys(void **state)
{
    (void)state;
    case_refused("B04/dup.yml", true, "m.yaml:4:3: duplicate key 'memory', first given on line 2");
    case_refused("B04/dup_quoted.yml", true, "m.yaml:3:3: duplicate key 'memory', first given on line 2");
    case_refused("B04/dup_nested.yml", true, "m.yaml:5:7: duplicate key 'c', first given on line 3");
    case_refused("B04/dup_anchor.yml", true, "m.yaml:3:1: a key must be text");
    settings_refused(HEAD LOAD "app:\n  image: i\n  memroy: 256m\n",
                     "m.yaml:6:3: unknown key 'memroy' in app", "did you mean 'memory'?");
}

static void bombs(void **state)
{
    int64_t start = clock_now_ns();

    (void)state;
    case_refused("B05/bomb.yml", true, "more than 200000 nodes after following aliases");
    case_refused("B05/wide.yml", true, "more than 200000 nodes after following aliases");
    assert_true(clock_now_ns() - start < 5 * NS_PER_S);
    case_refused("B05/ok.yml", true, "unknown key 'defaults'"); /* read in full; only its keys are not ours */
    settings_accepted(HEAD LOAD "x-limits: &d {memory: 512m, cpus: 2}\napp: {image: i, <<: *d}\n");
}

static void merges(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP(matrix_free)
    struct matrix *m =
        read_matrix(HEAD LOAD "x-one: &one {memory: 256m, cpus: 1}\nx-two: &two {memory: 512m, swap: 0}\n"
                              "app: {image: i, <<: [*one, *two]}\nservices:\n  b: {image: i, memory: 1g, <<: "
                              "*one}\n  c: {<<: *one, image: i, memory: 1g}\n");
    struct settings s = resolve_ok(m, NULL, 0, a);
    const struct container_settings *services = s.services.items;

    (void)state;
    case_refused("B06/merge_twice.yml", true, "m.yaml:5:3: duplicate key '<<', first given on line 4");
    assert_true(s.app.memory_bytes == 256 << 20 && s.app.cpus < 1.01 && s.app.swap_bytes == 0);
    assert_true(services[0].memory_bytes == 1 << 30 && services[1].memory_bytes == 1 << 30);
    settings_refused(HEAD LOAD "app: {image: i, \"<<\": {memory: 1g}}", "unknown key '<<' in app", "");
}

static void encodings(void **state)
{
    (void)state;
    case_refused("B07/tab_indent.yml", true, "m.yaml:2:1: a tab in the indentation");
    case_refused("B07/nbsp.yml", true, "m.yaml:2:1: a no-break space in the indentation");
    static const char *const read[] = {"B07/bom.yml", "B07/bom_crlf.yml", "B07/utf16.yml"};
    for (size_t i = 0; i < ARRAY_LEN(read); i++)
        case_refused(read[i], false, "unknown key 'limits'"); /* read in full */
    case_refused("B07/tab_after_colon.yml", false, "'benchctl' is missing");
}

static void documents(void **state)
{
    (void)state;
    case_refused("B08/two_docs.yml", false, "m.yaml:2:1: a second document begins here");
    case_refused("B08/trailing.yml", false, "m.yaml:3:1: text after the end of the document");
    case_refused("B08/empty.yml", false, "the file is empty");
    case_refused("B08/comment_only.yml", false, "the file is empty");
    case_refused("B08/marker_only.yml", false, "the file is empty");
    case_refused("B08/list_root.yml", false, "a matrix must be a map, not a list");
    case_refused("B08/one_ok.yml", false, "'benchctl' is missing in the matrix");
}

static void rules(void **state)
{
    (void)state;
    case_refused("B09/empty_axis.yml", true, "m.yaml:1:36: axis 'stack' has no values");
    case_refused("B09/exclude_unknown.yml", true, "m.yaml:3:6: exclude: unknown axis 'memory'");
    case_refused("B09/exclude_none.yml", true,
                 "m.yaml:3:17: exclude: axis 'framework' has no value 'sprnig'");
    case_refused("B09/include_collapse.yml", true, "m.yaml:5:5: include: no value for axis 'framework'");
    /* what these leave of the scenarios is the plan's matter */
    matrix_free(case_accepted("B09/all_excluded.yml"));
    matrix_free(case_accepted("B09/partial_exclude.yml"));
}

static void memory_limits(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    size_t count = 0;
    char *save;

    (void)state;
    read_case("A11/limits.txt", false, &text);
    for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        CLEANUP(arena_free) struct arena *a = arena_new();
        struct error err = ERROR_INIT;
        struct settings s;
        char whole[400], *close = strrchr(line, '\'');
        /* terabytes are offered too */
        const char *wanted = strncmp(line, "'2t'", 4) == 0 ? "2199023255552" : close + 2;
        (void)snprintf(whole, sizeof(whole), HEAD LOAD "app: {image: i, memory: %.*s}\n",
                       (int)(close + 1 - line), line);
        CLEANUP(matrix_free) struct matrix *m = read_matrix(whole);
        int result = resolve(m, NULL, 0, a, &s, NULL, &err);
        if (strncmp(wanted, "reject", 6) == 0 ? result == 0
                                              : result < 0 || s.app.memory_bytes != atoll(wanted))
            fail_msg("%s: %s", line, result < 0 ? err.message : "accepted");
        if (result < 0)
            assert_has(err.message, "m.yaml:4:25: 'memory'");
        count++;
    }
    assert_int_equal(count, 41);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_not_truth_values),
        cmocka_unit_test(versions_stay_text),
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(duplicate_and_unknown_keys),
        cmocka_unit_test(bombs),
        cmocka_unit_test(merges),
        cmocka_unit_test(encodings),
        cmocka_unit_test(documents),
        cmocka_unit_test(rules),
        cmocka_unit_test(memory_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
