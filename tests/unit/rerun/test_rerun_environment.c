/* SPDX-License-Identifier: MIT */
/* Two machines, member by member. */
#include "benchctl/rerun.h"
#include "unit/check.h"

static struct json *parse(const char *text)
{
    struct json *j = NULL;
    struct error err = ERROR_INIT;

    if (json_parse(text, strlen(text), "text", &j, &err) < 0)
        fail_msg("%s", err.message);
    return j;
}

static char *text_of(const char *then, const char *now)
{
    CLEANUP(json_free) struct json *a = parse(then), *b = parse(now);
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_VALUE(rerun_environment_release) struct rerun_environment e;
    struct strbuf text = STRBUF_INIT;

    rerun_environment(a, b, arena, &e);
    rerun_environment_text(&e, &text);
    return strbuf_detach(&text);
}

static void same_once_and_a_table(void **state)
{
    CLEANUP_FREE char *text = text_of(
        "{\"benchctl\":\"0.1.0\",\"host\":{\"kernel\":\"6.1\",\"cpus\":4,\"governor\":\"performance\","
        "\"load1\":0.1,"
        "\"temperature_c\":40,\"turbo\":null},\"engine\":{\"id\":\"a\",\"version\":\"24\",\"limits\":{"
        "\"memory\":true}},"
        "\"generators\":[{\"name\":\"k6\",\"version\":\"1.0\"}],\"started_at\":\"x\"}",
        "{\"benchctl\":\"0.1.0\",\"host\":{\"kernel\":\"6.12\",\"cpus\":4,\"load1\":3,\"temperature_c\":70,"
        "\"smt\":\"on\"},\"engine\":{\"id\":\"b\",\"version\":\"20\",\"limits\":{\"memory\":true}},"
        "\"generators\":[{\"name\":\"k6\",\"version\":\"1.1\"}]}");

    (void)state;
    assert_string_equal(text, "same: benchctl 0.1.0, host cpus 4, engine limits memory true\n"
                              "differs:        then         now\n"
                              "host kernel     6.1          6.12\n"
                              "host governor   performance  -\n"
                              "engine version  24           20\n"
                              "generator k6    1.0          1.1\n"
                              "host smt        -            on\n");
}

static void nothing_differs(void **state)
{
    CLEANUP_FREE char *text = text_of("{\"host\":{\"cpus\":1}}", "{\"host\":{\"cpus\":1}}");
    CLEANUP_FREE char *none = text_of("{}", "{\"host\":7,\"engine\":[],\"generators\":{\"a\":1}}");

    (void)state;
    assert_string_equal(text, "same: host cpus 1\ndiffers: nothing\n");
    assert_has(none, "same: nothing that is known of both\n");
}

/* A bundle's texts are anybody's. */
static void hostile_texts(void **state)
{
    CLEANUP_FREE char *text = text_of("{\"host\":{\"a\\u001b[1m\":\"b\\u001b]0;x\\nfake\"}}", "{}");

    (void)state;
    assert_null(strchr(text, '\x1b'));
    assert_null(strstr(text, "\nfake"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_once_and_a_table),
        cmocka_unit_test(nothing_differs),
        cmocka_unit_test(hostile_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
