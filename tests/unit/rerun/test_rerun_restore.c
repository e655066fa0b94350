/* SPDX-License-Identifier: MIT */
/* Inputs laid out: paths and links that lead elsewhere, two things at one place. */
#include <sys/stat.h>

#include "benchctl/rerun.h"
#include "support/scratch.h"
#include "unit/check.h"

/* DIR/bundle has matrix.yaml and inputs/; DIR/ctx is what a build context was. */
static void make_bundle(const char *dir)
{
    put(dir, "bundle/matrix.yaml", "benchctl: 1\n");
    put(dir, "bundle/inputs/1-a.sql", "select 1\n");
    put(dir, "bundle/inputs/2-a.sql", "select 2\n");
    put(dir, "bundle/inputs/3-mine.yaml", "program: evil\n");
    put(dir, "ctx/Dockerfile", "FROM scratch\n");
    put(dir, "ctx/sub/start.sh", "#!/bin/sh\n");
    assert_int_equal(shell("cd '%s' && chmod 755 ctx/sub/start.sh && ln -s sub/start.sh ctx/run && "
                           "ln -s ../Dockerfile ctx/sub/up && cd ctx && tar -cf ../bundle/inputs/4-ctx.tar *",
                           dir),
                     0);
}

static int restore(const char *dir, const struct rerun_inputs *in, struct rerun_tree *ret, struct error *err)
{
    CLEANUP_FREE char *bundle = path_join(dir, "bundle"), *root = path_join(dir, "out/restored");
    const struct rerun_restore r = {.inputs = in, .bundle = bundle, .root = root};

    return rerun_restore(&r, ret, err);
}

static void everything_where_it_was(void **state)
{
    struct rerun_input inputs[] = {{"../app", "4-ctx.tar", true},
                                   {"../app/Dockerfile", "5-Dockerfile", false},
                                   {"db/../db/a.sql", "1-a.sql", false},
                                   {"gone/../b.sql", "2-a.sql", false},
                                   {"../../far/a.sql", "1-a.sql", false}};
    struct rerun_adapter adapters[] = {{"load", "mine", "3-mine.yaml", false},
                                       {"load", "k6", "9-not-there.yaml", true}};
    const struct rerun_inputs in = {.matrix = "lab/bench/m.yaml",
                                    .inputs = inputs,
                                    .input_count = 5,
                                    .adapters = adapters,
                                    .adapter_count = 2};
    CLEANUP_VALUE(rerun_tree_release) struct rerun_tree tree = {0};
    struct error err = ERROR_INIT;
    struct stat st;

    make_bundle(*state);
    put(*state, "bundle/inputs/5-Dockerfile", "FROM scratch\n"); /* is there already, and the same */
    if (restore(*state, &in, &tree, &err) < 0)
        fail_msg("%s", err.message);
    assert_has(tree.matrix, "/out/restored/lab/bench/m.yaml");
    assert_int_equal(tree.leaving.len, 0);
    CLEANUP_FREE char *matrix = get(tree.root, "lab/bench/m.yaml"),
                      *sql = get(tree.root, "lab/bench/db/a.sql"),
                      *b = get(tree.root, "lab/bench/gone/../b.sql"), *far = get(tree.root, "far/a.sql"),
                      *adapter = get(tree.root, "lab/bench/adapters/load/mine.yaml"),
                      *link = get(tree.root, "lab/app/run"), *up = get(tree.root, "lab/app/sub/up");
    assert_string_equal(matrix, "benchctl: 1\n");
    assert_string_equal(sql, "select 1\n");
    assert_string_equal(b, "select 2\n");
    assert_string_equal(far, "select 1\n");
    assert_string_equal(adapter, "program: evil\n");
    assert_string_equal(link, "#!/bin/sh\n");
    assert_string_equal(up, "FROM scratch\n");
    CLEANUP_FREE char *script = path_join(tree.root, "lab/app/sub/start.sh"),
                      *file = path_join(tree.root, "lab/app/Dockerfile");
    assert_true(stat(script, &st) == 0 && (st.st_mode & 0111));
    assert_true(stat(file, &st) == 0 && !(st.st_mode & 0111));
}

/* The top of a project as build context: what is below the matrix comes with it. The matrix itself is the
 * bundle's. */
static void the_matrix_within_its_context(void **state)
{
    struct rerun_input inputs[] = {{"..", "6-all.tar", true}};
    const struct rerun_inputs in = {.matrix = "bench/m.yaml", .inputs = inputs, .input_count = 1};
    CLEANUP_VALUE(rerun_tree_release) struct rerun_tree tree = {0};
    struct error err = ERROR_INIT;

    make_bundle(*state);
    put(*state, "all/bench/m.yaml", "benchctl: 1\npassword: secret\n");
    put(*state, "all/src/main.c", "int main;\n");
    assert_int_equal(
        shell("cd '%s/all' && tar -cf '%s/bundle/inputs/6-all.tar' *", (char *)*state, (char *)*state), 0);
    if (restore(*state, &in, &tree, &err) < 0)
        fail_msg("%s", err.message);
    CLEANUP_FREE char *matrix = get(tree.root, "bench/m.yaml"), *source = get(tree.root, "src/main.c");
    assert_string_equal(matrix, "benchctl: 1\n");
    assert_string_equal(source, "int main;\n");
}

static void refused(void **state, const struct rerun_inputs *in, const char *says)
{
    CLEANUP_VALUE(rerun_tree_release) struct rerun_tree tree = {0};
    CLEANUP_FREE char *root = path_join(*state, "out/restored");
    struct error err = ERROR_INIT;

    if (restore(*state, in, &tree, &err) == 0)
        fail_msg("laid out, though: %s", says);
    assert_has(err.message, says);
    assert_false(fs_exists(root));
}

static void paths_that_lead_out(void **state)
{
    static const char *const paths[] = {"../a.sql", "x/../../a.sql", "../bench/../../a.sql", "..",
                                        "../../../../etc/x"};

    make_bundle(*state);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct rerun_input inputs[] = {{paths[i], "1-a.sql", false}};
        const struct rerun_inputs in = {.matrix = "m.yaml", .inputs = inputs, .input_count = 1};
        refused(state, &in, "leads out of the bundle's own files");
    }
}

static void two_at_one_place(void **state)
{
    struct rerun_input differ[] = {{"a.sql", "1-a.sql", false}, {"a.sql", "2-a.sql", false}};
    struct rerun_input below[] = {{"a", "1-a.sql", false}, {"a/b.sql", "2-a.sql", false}};
    struct rerun_input above[] = {{"a/b.sql", "1-a.sql", false}, {"a", "2-a.sql", false}};
    struct rerun_input gone[] = {{"a", "7-gone.sql", false}}, gone_tar[] = {{"a", "7-gone.tar", true}};
    const struct rerun_inputs one = {.matrix = "m.yaml", .inputs = differ, .input_count = 2},
                              two = {.matrix = "m.yaml", .inputs = below, .input_count = 2},
                              three = {.matrix = "m.yaml", .inputs = above, .input_count = 2},
                              four = {.matrix = "m.yaml", .inputs = gone, .input_count = 1},
                              five = {.matrix = "m.yaml", .inputs = gone_tar, .input_count = 1};

    make_bundle(*state);
    refused(state, &one, "two different inputs");
    refused(state, &two, "cannot lay out 'a/b.sql'");
    refused(state, &three, "two different inputs");
    refused(state, &four, "does not hold its input");
    refused(state, &five, "does not hold its input");
}

/* A link to elsewhere is told of and not made; no file goes through a link, whichever comes first. */
static void links(void **state)
{
    struct rerun_input inputs[] = {{"ctx", "8-bad.tar", true}};
    struct rerun_input through[] = {{"ctx", "8-bad.tar", true}, {"ctx/in/evil", "1-a.sql", false}};
    const struct rerun_inputs in = {.matrix = "m.yaml", .inputs = inputs, .input_count = 1},
                              evil = {.matrix = "m.yaml", .inputs = through, .input_count = 2};
    CLEANUP_VALUE(rerun_tree_release) struct rerun_tree tree = {0};
    CLEANUP_FREE char *root = path_join(*state, "out/restored"),
                      *outside = path_join(*state, "elsewhere/evil");
    struct error err = ERROR_INIT;

    make_bundle(*state);
    put(*state, "elsewhere/keep", "x");
    assert_int_equal(
        shell("cd '%s' && mkdir -p bad/d && ln -s /etc/passwd bad/abs && ln -s ../../x bad/up && "
              "ln -s d bad/in && ln -s d/../../y bad/bent && ln -s ../in bad/d/fine && "
              "cd bad && tar -cf ../bundle/inputs/8-bad.tar *",
              (char *)*state),
        0);
    if (restore(*state, &in, &tree, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(tree.leaving.len, 3);
    CLEANUP_FREE char *names = shell_output(tree.root, "cd ctx && find . -type l | sort | tr '\\n' ' '");
    assert_string_equal(names, "./d/fine ./in ");
    assert_int_equal(shell("rm -rf '%s'", root), 0);
    refused(state, &evil, "two different inputs"); /* a directory is where the link was to be */
    assert_false(fs_exists(outside));
}

static void no_file_through_what_is_there(void **state)
{
    struct rerun_input inputs[] = {{"db/a.sql", "1-a.sql", false}};
    const struct rerun_inputs in = {.matrix = "m.yaml", .inputs = inputs, .input_count = 1};
    CLEANUP_VALUE(rerun_tree_release) struct rerun_tree tree = {0};
    CLEANUP_FREE char *evil = path_join(*state, "elsewhere/a.sql");
    struct error err = ERROR_INIT;

    make_bundle(*state);
    put(*state, "elsewhere/keep", "x");
    assert_int_equal(
        shell("cd '%s' && mkdir -p out/restored && ln -s ../../elsewhere out/restored/db", (char *)*state),
        0);
    assert_int_equal(restore(*state, &in, &tree, &err), -1);
    assert_false(fs_exists(evil));
}

/* 40 times 32 MiB of a bundle that holds them once. */
static void one_file_as_many_inputs(void **state)
{
    struct rerun_input inputs[40];
    char paths[40][8];
    const struct rerun_inputs in = {.matrix = "m.yaml", .inputs = inputs, .input_count = 40};

    make_bundle(*state);
    assert_int_equal(shell("truncate -s 32M '%s/bundle/inputs/9-zeros'", (char *)*state), 0);
    for (size_t i = 0; i < 40; i++) {
        (void)snprintf(paths[i], sizeof(paths[i]), "f%zu", i);
        inputs[i] = (struct rerun_input){paths[i], "9-zeros", false};
    }
    refused(state, &in, "too large to be laid out here");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(everything_where_it_was),
        TEST(the_matrix_within_its_context),
        TEST(paths_that_lead_out),
        TEST(two_at_one_place),
        TEST(links),
        TEST(one_file_as_many_inputs),
        TEST(no_file_through_what_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
