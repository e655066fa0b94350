/* SPDX-License-Identifier: MIT */
/* Progress messages, owners, refusals, texts for messages. */
#include <sys/wait.h>
#include "engine_test.h"
#include "engine_internal.h"

/* --- one value of a build or pull stream --- */

static void progress_is(const char *json, const char *wanted)
{
    CLEANUP(json_free) struct json *j = json_of(json);
    CLEANUP_FREE char *text = NULL;
    struct error err = ERROR_INIT;

    if (engine_stream_message(j, &text, &err))
        fail_msg("%s: %s", json, err.message);
    assert_int_equal(text == NULL, wanted == NULL);
    if (wanted)
        assert_string_equal(text, wanted);
}

static void failure_is(const char *json, const char *wanted)
{
    CLEANUP(json_free) struct json *j = json_of(json);
    CLEANUP_FREE char *text = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(engine_stream_message(j, &text, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_string_equal(err.message, wanted);
}

static void messages_of_a_stream(void **state)
{
    (void)state;
    progress_is("{\"stream\": \"Step 1/2 : FROM scratch\\n\"}", "Step 1/2 : FROM scratch");
    progress_is("{\"stream\": \"\\n\"}", NULL);
    progress_is("{\"status\": \"Downloading\", \"id\": \"aa\", \"progress\": \"[=> ] 1B/2B\"}",
                "aa: Downloading [=> ] 1B/2B");
    progress_is("{\"status\": \"Pulling from x\"}", "Pulling from x");
    progress_is("{\"aux\": {\"ID\": \"sha256:1\"}}", NULL);
    progress_is("{}", NULL);
    progress_is("{\"stream\": \"a\\u001b[31mred\\r\\n\"}", "a?[31mred"); /* nothing that drives a terminal */
    failure_is("{\"errorDetail\": {\"message\": \"no\"}, \"error\": \"short\"}", "no");
    failure_is("{\"error\": \"only this\\nand that\"}", "only this and that");
    failure_is("{\"errorDetail\": {}}", "the engine gave no reason");
    failure_is("[1]", "the engine's stream holds something that is not an object");
    failure_is("\"text\"", "the engine's stream holds something that is not an object");
}

/* --- owners --- */

static void owners_live_and_die(void **state)
{
    (void)state;
    char mine[ENGINE_OWNER_SIZE], text[ENGINE_OWNER_SIZE];
    unsigned long long start;
    char host[128];
    long pid;

    assert_string_equal(engine_owner_label(mine), mine);
    assert_int_equal(sscanf(mine, "%127[^:]:%ld:%llu", host, &pid, &start), 3);
    assert_int_equal(pid, getpid());
    assert_true(start > 0);
    assert_true(engine_owner_alive(mine));
    /* the same number, another process */
    snprintf(text, sizeof(text), "%s:%ld:%llu", host, pid, start + 1);
    assert_false(engine_owner_alive(text));
    /* another host may have it */
    snprintf(text, sizeof(text), "other-%s:%ld:%llu", host, pid, start + 1);
    assert_true(engine_owner_alive(text));

    pid_t child = fork();
    if (child == 0)
        _exit(0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    snprintf(text, sizeof(text), "%s:%ld:%llu", host, (long)child, start);
    assert_false(engine_owner_alive(text)); /* a zombie */
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(engine_owner_alive(text)); /* gone */
}

static void owners_that_cannot_be_read_are_left_alone(void **state)
{
    (void)state;
    static const char *const bad[] = {
        NULL, "", "x", "host:1", "host:1:", "host:x:1", "host:1:1:1", "host:-1:1", "host:1:1x", "::"};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_true(engine_owner_alive(bad[i]));
}

/* --- refusals --- */

static void refusals_in_any_form(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    const char *json = "{\"message\": \"no such\\ncontainer\"}", *plain = "client version 1.30 is too old\n";

    assert_int_equal(engine_refusal(404, json, strlen(json), &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    assert_int_equal(err.code, 404);
    assert_string_equal(err.message, "no such container");
    assert_int_equal(engine_refusal(409, json, strlen(json), &err), -1);
    assert_int_equal(err.kind, ERROR_CONFLICT);
    assert_int_equal(engine_refusal(400, plain, strlen(plain), &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_string_equal(err.message, "client version 1.30 is too old");
    assert_int_equal(engine_refusal(502, "", 0, &err), -1);
    assert_string_equal(err.message, "the engine answered with HTTP status 502 and no text");
    assert_int_equal(engine_refusal(500, "{\"other\": 1}", 12, &err), -1);
    assert_string_equal(err.message, "{\"other\": 1}");
    assert_int_equal(engine_refusal(500, "{\"mess", 6, &err), -1);
    assert_string_equal(err.message, "{\"mess");
    assert_int_equal(engine_refusal(500, "a\0b\x1b[2J", 7, &err), -1);
    assert_string_equal(err.message, "a?b?[2J");
}

/* --- texts --- */

static void paths_and_queries(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf q = STRBUF_INIT;
    CLEANUP_FREE char *path = engine_path("/containers/", "a/b?c", "/json");
    char brief[SHORT_ID];

    assert_string_equal(path, "/containers/a%2Fb%3Fc/json");
    strbuf_adds(&q, "/x");
    query_add(&q, "a", "1 2");
    query_add(&q, "b", "&");
    assert_string_equal(strbuf_text(&q), "/x?a=1%202&b=%26");
    assert_string_equal(
        engine_short_id("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", brief),
        "0123456789ab");
    assert_string_equal(engine_short_id("bench-r1-app", brief), "bench-r1-app");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_a_stream),
        cmocka_unit_test(owners_live_and_die),
        cmocka_unit_test(owners_that_cannot_be_read_are_left_alone),
        cmocka_unit_test(refusals_in_any_form),
        cmocka_unit_test(paths_and_queries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
