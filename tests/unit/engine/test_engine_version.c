/* SPDX-License-Identifier: MIT */
/* Which API version is spoken with which engine. */
#include "engine_test.h"
#include "benchctl/engine.h"

static void pick_of(const char *file, const char *wanted)
{
    CLEANUP_FREE char *name = xasprintf("cases/A01/%s", file);
    CLEANUP(json_free) struct json *j = read_test_json(name);
    struct error err = ERROR_INIT;
    char got[16];

    if (engine_pick_version(json_get_text(j, "MinAPIVersion"), json_get_text(j, "ApiVersion"), got, &err))
        fail_msg("%s: %s", file, err.message);
    assert_string_equal(got, wanted);
}

static void refused(const char *low, const char *high, const char *part)
{
    struct error err = ERROR_INIT;
    char got[16];

    assert_int_equal(engine_pick_version(low, high, got, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_has(err.message, part);
}

static void engines_of_the_world(void **state)
{
    (void)state;
    pick_of("version_29.json", "1.51");
    pick_of("version_20.json", "1.41");
    pick_of("version_podman.json", "1.41");
    refused("2.0", "2.3", "2.0 to 2.3");
    refused("2.0", "2.3", "1.40 to 1.51");
    refused("1.9", "1.9", "1.9 to 1.9"); /* 9 is less than 40, though "9" sorts after "40" */
}

static void the_edges_of_the_range(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    char got[16];

    assert_int_equal(engine_pick_version("1.51", "1.60", got, &err), 0);
    assert_string_equal(got, "1.51");
    assert_int_equal(engine_pick_version("1.12", "1.40", got, &err), 0);
    assert_string_equal(got, "1.40");
    assert_int_equal(engine_pick_version(NULL, "1.45", got, &err), 0);
    assert_string_equal(got, "1.45");
    assert_int_equal(err.kind, ERROR_NONE);
    refused("1.52", "1.60", "1.52 to 1.60");
    refused("1.1", "1.39", "1.1 to 1.39");
}

static void what_is_no_version(void **state)
{
    (void)state;
    static const char *const bad[] = {NULL,     "",    "1",     "1.",    ".41",  "v1.41",
                                      "1.41.2", "1.x", "-1.41", "1.-41", "1 .41"};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        refused("1.12", bad[i], "no API version");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_of_the_world),
        cmocka_unit_test(the_edges_of_the_range),
        cmocka_unit_test(what_is_no_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
