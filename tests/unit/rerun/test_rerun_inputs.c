/* SPDX-License-Identifier: MIT */
/* inputs.json: there and back, and what nobody may write into it. */
#include "benchctl/rerun.h"
#include "unit/check.h"

static int read_text(const char *text, struct arena *a, struct rerun_inputs *ret, struct error *err)
{
    CLEANUP(json_free) struct json *j = NULL;
    struct error parse = ERROR_INIT;

    if (json_parse(text, strlen(text), "inputs.json", &j, &parse) < 0)
        fail_msg("%s", parse.message);
    return rerun_inputs_read(j, a, ret, err);
}

static void there_and_back(void **state)
{
    struct rerun_input inputs[] = {{"../app", "0123-app.tar", true}, {"db/a.sql", "4567-a.sql", false}};
    struct rerun_adapter adapters[] = {{"load", "mine", "89ab-mine.yaml", false}};
    struct text_pair env[] = {{.key = "MODE", .value = "fast"}};
    const char *secrets[] = {"TOKEN"};
    const struct rerun_inputs in = {.matrix = "bench/m.yaml",
                                    .inputs = inputs,
                                    .input_count = 2,
                                    .adapters = adapters,
                                    .adapter_count = 1,
                                    .env = {env, 1},
                                    .secrets = {secrets, 1}};
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP(json_free) struct json *j = rerun_inputs_json(&in);
    struct rerun_inputs back;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(rerun_inputs_read(j, a, &back, &err), 0);
    CLEANUP(json_free) struct json *again = rerun_inputs_json(&back);
    assert_true(json_same(j, again));
    assert_string_equal(back.inputs[0].path, "../app");
    assert_true(back.inputs[0].is_dir && !back.inputs[1].is_dir && !back.adapters[0].shipped);
}

#define WITH(members) "{\"schema\":1,\"matrix\":\"m.yaml\"," members "}"
#define INPUT(path, name) WITH("\"inputs\":[{\"path\":\"" path "\",\"kind\":\"file\",\"name\":\"" name "\"}]")

static void what_is_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{}", "not what benchctl writes"},
        {"[]", "not what benchctl writes"},
        {"{\"schema\":2,\"matrix\":\"m.yaml\"}", "newer version"},
        {"{\"schema\":1,\"matrix\":\"../m.yaml\"}", "not what benchctl writes"},
        {"{\"schema\":1,\"matrix\":\"/etc/m.yaml\"}", "not what benchctl writes"},
        {INPUT("/etc/passwd", "n"), "an absolute path"},
        {INPUT("", "n"), "no relative path"},
        {INPUT("a${app.host}", "n"), "no relative path"},
        {INPUT("a", "../n"), "no name of an input"},
        {INPUT("a", "b/n"), "no name of an input"},
        {INPUT("a", ".."), "no name of an input"},
        {INPUT("a", ""), "no name of an input"},
        {WITH("\"inputs\":[{\"path\":\"a\",\"kind\":\"pipe\",\"name\":\"n\"}]"), "unknown kind of input"},
        {WITH("\"inputs\":[7]"), "unknown kind of input"},
        {WITH("\"adapters\":[{\"kind\":\"evil\",\"adapter\":\"a\",\"name\":\"n\"}]"),
         "unknown kind of adapter"},
        {WITH("\"adapters\":[{\"kind\":\"load\",\"adapter\":\"../a\",\"name\":\"n\"}]"),
         "no name of an input"},
        {WITH("\"env\":{\"A\":7}"), "no text for the environment variable 'A'"},
        {WITH("\"secrets\":[7]"), "no name of a secret"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new();
        struct rerun_inputs in;
        struct error err = ERROR_INIT;
        if (read_text(cases[i].text, a, &in, &err) == 0)
            fail_msg("taken: %s", cases[i].text);
        assert_int_equal(err.kind, ERROR_INVALID);
        assert_has(err.message, cases[i].says);
    }
}

static void how_high_a_path_leads(void **state)
{
    (void)state;
    assert_int_equal(rerun_path_height("a/b"), 0);
    assert_int_equal(rerun_path_height("../a"), 1);
    assert_int_equal(rerun_path_height("../../a"), 2);
    assert_int_equal(rerun_path_height("a/../b"), 0);
    assert_int_equal(rerun_path_height("a/../../b"), 1);
    assert_int_equal(rerun_path_height("./.././a"), 1);
    assert_int_equal(rerun_path_height(".."), 1);
    assert_int_equal(rerun_path_height("..a/...b"), 0);
    assert_int_equal(rerun_path_height("a//..//../b"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(how_high_a_path_leads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
