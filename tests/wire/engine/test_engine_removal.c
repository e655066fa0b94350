/* SPDX-License-Identifier: MIT */
/* Removals: asked for again, waited for, bounded. */
#include "scripted_engine.h"

static void removal_waits_until_it_is_gone(void **state)
{
    (void)state;
    CLEANUP_FREE char *missing = case_bytes("A06/delete_404.http", NULL);
    CLEANUP_FREE char *under_way = case_bytes("A06/delete_409_in_progress.http", NULL);
    struct expect script[] = {
        OPENING,
        {"DELETE /containers/" ID_A "?force=1&v=1", .reply = {.raw = missing}},
        {"DELETE /containers/" ID_A "?force=1&v=1", .reply = {.raw = under_way}},
        {"GET /containers/" ID_A "/json", .reply = STATE_REPLY("removing", "")},
        {"GET /containers/" ID_A "/json", .reply = STATE_REPLY("removing", "")},
        {"GET /containers/" ID_A "/json", .reply = GONE},
        {"DELETE /containers/" ID_A "?force=1&v=1",
         .reply = {.status = 409, .body = "{\"message\": \"you cannot\"}"}},
        {"DELETE /containers/" ID_A "?force=1&v=1", .reply = {.status = 204}},
        {"GET /containers/" ID_A "/json", .reply = {.status = 500, .body = "{\"message\": \"layer store\"}"}},
    };
    struct error err = ERROR_INIT;
    struct play p;

    play_script(&p, script);
    must(engine_container_remove(p.lab.engine, ID_A, &why));
    must(engine_container_remove(p.lab.engine, ID_A, &why));
    assert_int_equal(engine_container_remove(p.lab.engine, ID_A, &err), -1);
    assert_string_equal(err.message, "cannot remove container 'aaaaaaaaaaaa': you cannot");
    assert_int_equal(engine_faults(p.lab.engine), 0);
    assert_int_equal(engine_container_remove(p.lab.engine, ID_A, &err), -1);
    assert_has(err.message, "layer store");
    assert_int_equal(engine_faults(p.lab.engine), 1);
    play_end(&p);
}

#define BUSY                                                                                                 \
    {                                                                                                        \
        .status = 500, .body = "{\"message\": \"driver failed to remove root filesystem: busy\"}"            \
    }

/* A fault may be over in a moment; what is paused has to run first. Three times, not for ever. */
static void removal_is_asked_for_again(void **state)
{
    (void)state;
    struct expect script[] = {
        OPENING,
        {"DELETE /containers/" ID_A "?force=1&v=1", .reply = BUSY},
        {"DELETE /containers/" ID_A "?force=1&v=1", .reply = {.status = 204}},
        {"GET /containers/" ID_A "/json", .reply = GONE},
        {"DELETE /containers/" ID_A "?force=1&v=1",
         .reply = {.status = 409, .body = "{\"message\": \"cannot: it is paused\"}"}},
        {"POST /containers/" ID_A "/unpause", .reply = {.status = 204}},
        {"DELETE /containers/" ID_A "?force=1&v=1", .reply = {.status = 204}},
        {"GET /containers/" ID_A "/json", .reply = GONE},
        {"DELETE /containers/" ID_A "?force=1&v=1", .reply = BUSY},
        {"DELETE /containers/" ID_A "?force=1&v=1", .reply = BUSY},
        {"DELETE /containers/" ID_A "?force=1&v=1", .reply = BUSY},
    };
    struct error err = ERROR_INIT;
    struct play p;

    play_script(&p, script);
    must(engine_container_remove(p.lab.engine, ID_A, &why));
    must(engine_container_remove(p.lab.engine, ID_A, &why));
    assert_int_equal(engine_container_remove(p.lab.engine, ID_A, &err), -1);
    assert_has(err.message, "cannot remove container 'aaaaaaaaaaaa': driver failed");
    assert_int_equal(engine_faults(p.lab.engine), 4);
    play_end(&p);
}

/* An engine may be at it for ever, or never answer. */
static void removal_that_has_no_end(void **state)
{
    (void)state;
    CLEANUP_FREE char *under_way = case_bytes("A06/delete_409_in_progress.http", NULL);
    static const struct rule rules[] = {
        {"GET /version", .reply = {.body = VERSION_REPLY}},
        {"GET /info", .reply = {.body = INFO_REPLY}},
        {"DELETE /containers/" ID_B "*", .reply = {.status = 204, .delay_ms = 60000}},
        {"GET /containers/" ID_A "/json", .reply = STATE_REPLY("removing", "")},
    };
    const struct expect script[] = {{"GET /version", .reply = {.body = VERSION_REPLY}},
                                    {"GET /info", .reply = {.body = INFO_REPLY}},
                                    {"DELETE /containers/" ID_A "*", .reply = {.raw = under_way}}};
    struct error err = ERROR_INIT;
    struct play p;

    play_start(&p, &(struct server_options){
                       .script = script, .script_len = 3, .rules = rules, .rules_len = ARRAY_LEN(rules)});
    struct engine_call *call;
    must(engine_remove_async(p.lab.engine, ID_A, &call, &why));
    assert_int_equal(engine_call_wait_until(call, clock_now_ns() + 300 * NS_PER_MS, &err), -1);
    engine_call_free(call);
    assert_int_equal(err.kind, ERROR_TIMEOUT);
    assert_has(err.message, "it is still there after");
    must(engine_remove_async(p.lab.engine, ID_B, &call, &why));
    assert_int_equal(engine_call_wait_until(call, clock_now_ns() + 50 * NS_PER_MS, &err), -1);
    engine_call_free(call);
    assert_int_equal(err.kind, ERROR_TIMEOUT);
    assert_string_equal(err.message, "the engine has not removed container 'bbbbbbbbbbbb' in time");
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(removal_waits_until_it_is_gone),
        cmocka_unit_test(removal_is_asked_for_again),
        cmocka_unit_test(removal_that_has_no_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
