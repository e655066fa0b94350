/* SPDX-License-Identifier: MIT */
/* Containers and networks: what is sent, and what is made of each answer. */
#include <math.h>
#include "benchctl/base/fs.h"
#include "scripted_engine.h"

static const struct engine_container PLAIN = {.name = "bench-r1-app", .image = "sha256:1", .cpus = NAN};

static int create(struct play *p, const struct engine_container *c, struct error *err)
{
    CLEANUP_FREE char *id = NULL, *warnings = NULL;

    return engine_container_create(p->lab.engine, c, &id, &warnings, err);
}

/* --- create --- */

static void everything_that_was_asked_for_is_sent(void **state)
{
    (void)state;
    struct expect script[] = {
        OPENING,
        {"POST /containers/create?name=bench-r1-app",
         .has = {"\"Image\":\"sha256:1\"", "\"Env\":[\"A=1\",\"B=x=y\"]", "\"Cmd\":[\"serve\",\"--all\"]",
                 "\"Memory\":67108864,\"MemorySwap\":67108864", "\"NanoCpus\":1500000000",
                 "\"PidsLimit\":512", "\"RestartPolicy\":{\"Name\":\"on-failure\",\"MaximumRetryCount\":3}",
                 "\"Init\":true"},
         .lacks = {"PortBindings", "ExposedPorts", "AutoRemove", "Privileged"},
         .reply = {.status = 201,
                   .body = "{\"Id\": \"" ID_A "\", \"Warnings\": [\"no swap\\nlimit\", \"\", \"two\"]}"}},
    };
    struct text_pair env[] = {{.key = "A", .value = "1"}, {.key = "B", .value = "x=y"}};
    struct text_pair label[] = {{.key = LABEL_RUN, .value = "r1"}};
    struct text_map envs = {.items = env, .len = 2}, labels = {.items = label, .len = 1};
    const char *words[] = {"serve", "--all"}, *bind[] = {"/a:/b:ro"}, *tmp[] = {"/tmp:size=1m", "/run"};
    struct text_list command = {.items = words, .len = 2}, binds = {.items = bind, .len = 1};
    struct text_list tmpfs = {.items = tmp, .len = 2};
    CLEANUP_FREE char *id = NULL, *warnings = NULL;
    struct play p;

    play_script(&p, script);
    struct engine_container c = {.name = "bench-r1-app",
                                 .image = "sha256:1",
                                 .alias = "app",
                                 .network = ID_NET,
                                 .env = &envs,
                                 .command = &command,
                                 .labels = &labels,
                                 .cpuset = "0-1",
                                 .user = "1000",
                                 .memory_bytes = 64 << 20,
                                 .swap_bytes = 0,
                                 .cpus = 1.5,
                                 .pids = 512,
                                 .shm_bytes = 1 << 20,
                                 .restart = RESTART_ON_FAILURE,
                                 .restart_max = 3,
                                 .init = true,
                                 .binds = &binds,
                                 .tmpfs = &tmpfs,
                                 .stop_signal = "SIGINT"};
    must(engine_container_create(p.lab.engine, &c, &id, &warnings, &why));
    assert_string_equal(id, ID_A);
    assert_string_equal(warnings, "no swap limit\ntwo");
    const char *body = server_last(p.server, "POST *")->body;
    assert_has(body, "\"Labels\":{\"org.benchctl.run\":\"r1\"}");
    assert_has(body, "\"LogConfig\":{\"Type\":\"local\"");
    assert_has(body, "\"NetworkMode\":\"" ID_NET "\"");
    assert_has(body, "\"NetworkingConfig\":{\"EndpointsConfig\":{\"" ID_NET "\":{\"Aliases\":[\"app\"]}}}");
    assert_has(body, "\"Binds\":[\"/a:/b:ro\"]");
    assert_has(body, "\"Tmpfs\":{\"/tmp\":\"size=1m\",\"/run\":\"\"}");
    assert_has(body, "\"CpusetCpus\":\"0-1\"");
    assert_has(body, "\"ShmSize\":1048576");
    assert_has(body, "\"StopSignal\":\"SIGINT\"");
    assert_has(body, "\"User\":\"1000\"");
    play_end(&p);
}

/* The limit is not what it seems: said with the container's creation, and only then. */
static void a_warning_about_swap_is_kept(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf reply = STRBUF_INIT;
    CLEANUP_FREE char *id = NULL, *warnings = NULL;
    struct play p;

    must(fs_read(TESTS_DIR "/cases/A11/create_reply_swap_warning.json", 10000, &reply, &why));
    struct expect script[] = {OPENING,
                              {"POST /containers/create*",
                               .has = {"\"Memory\":67108864,\"MemorySwap\":67108864"},
                               .reply = {.status = 201, .body = reply.data}}};
    play_script(&p, script);
    struct engine_container c = PLAIN;
    c.memory_bytes = 64 << 20;
    c.swap_bytes = 0;
    must(engine_container_create(p.lab.engine, &c, &id, &warnings, &why));
    assert_string_equal(warnings, "swap accounting is off on this kernel, memory is limited without swap");
    play_end(&p);
}

static void what_was_not_asked_for_is_not_sent(void **state)
{
    (void)state;
    struct expect script[] = {
        OPENING,
        {"POST /containers/create*",
         .has = {"\"Type\":\"none\"", "\"NetworkMode\":\"host\"", "{\"Name\":\"no\"}"},
         .lacks = {"Memory", "NanoCpus", "PidsLimit", "NetworkingConfig"},
         .reply = {.status = 201, .body = "{\"Id\": \"x\"}"}},
        {"POST /containers/create*", .has = {"\"Memory\":100,\"MemorySwap\":-1"},
         .lacks = {"Cmd", "Entrypoint", "Aliases", "ShmSize"},
         .reply = {.status = 201, .body = "{\"Id\": \"x\", \"Warnings\": null}"}},
        {"POST /containers/create*", .has = {"\"Memory\":100,\"MemorySwap\":130"},
         .reply = {.status = 201, .body = "{\"Id\": \"x\"}"}},
        {"POST /containers/create*", .reply = {.status = 201, .body = "{}"}},
    };
    struct error err = ERROR_INIT;
    struct play p;

    play_script(&p, script);
    struct engine_container c = PLAIN;
    c.memory_bytes = SIZE_UNLIMITED;
    c.pids = SIZE_UNLIMITED;
    c.shm_bytes = SCHEMA_ABSENT;
    c.network = "host";
    c.alias = "app"; /* has no meaning there */
    c.quiet_logs = true;
    must(create(&p, &c, &why));
    c.network = NULL;
    c.memory_bytes = 100;
    c.swap_bytes = SIZE_UNLIMITED;
    must(create(&p, &c, &why));
    c.swap_bytes = 30;
    must(create(&p, &c, &why));
    assert_int_equal(create(&p, &c, &err), -1);
    assert_string_equal(err.message, "cannot create container 'bench-r1-app': the reply has no id");
    play_end(&p);
}

static void podman_gets_a_log_driver_that_it_knows(void **state)
{
    (void)state;
    CLEANUP_FREE char *version = case_bytes("A01/version_podman.json", NULL);
    struct expect script[] = {{"GET /version", .reply = {.body = version}},
                              {"GET /info", .reply = {.body = INFO_REPLY}},
                              {"POST /containers/create*", .has = {"\"Type\":\"json-file\""},
                               .lacks = {"max-size"}, .reply = {.status = 201, .body = "{\"Id\": \"x\"}"}}};
    struct play p;

    play_script(&p, script);
    must(create(&p, &PLAIN, &why));
    play_end(&p);
}

static void refusals_keep_kind_and_words(void **state)
{
    (void)state;
    struct expect script[] = {
        OPENING,
        {"POST /containers/create*",
         .reply = {.status = 404, .body = "{\"message\": \"No such image: sha256:1\"}"}},
        {"POST /containers/create*",
         .reply = {.status = 400, .body = "{\"message\": \"Minimum memory limit allowed is 6MB\"}"}},
        {"POST /containers/create*", .reply = {.status = 500, .type = "text/plain", .body = "disk full\n"}},
    };
    struct error err = ERROR_INIT;
    struct play p;

    play_script(&p, script);
    assert_int_equal(create(&p, &PLAIN, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    assert_string_equal(err.message, "cannot create container 'bench-r1-app': No such image: sha256:1");
    assert_int_equal(create(&p, &PLAIN, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_has(err.message, "Minimum memory limit");
    assert_int_equal(create(&p, &PLAIN, &err), -1);
    assert_has(err.message, "disk full");
    assert_int_equal(err.code, 500);
    play_end(&p);
}

/* --- the name is held --- */

#define HOLDER "c0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffee"

static void a_foreign_holder_is_named_and_left_alone(void **state)
{
    (void)state;
    CLEANUP_FREE char *conflict = case_bytes("A06/create_409.http", NULL);
    struct expect script[] = {OPENING,
                              {"POST /containers/create*", .reply = {.raw = conflict}},
                              {"GET /containers/" HOLDER "/json",
                               .reply = {.body = "{\"Name\": \"/somebodys-db\", \"State\": {\"Status\": "
                                                 "\"exited\"}, \"Config\": {\"Labels\": {}}}"}}};
    struct error err = ERROR_INIT;
    struct play p;

    play_script(&p, script);
    assert_int_equal(create(&p, &PLAIN, &err), -1);
    assert_int_equal(err.kind, ERROR_CONFLICT);
    assert_has(err.message,
               "cannot create container 'bench-r1-app': the name is held by container 'somebodys-db'");
    assert_has(err.message, "which is exited");
    assert_has(err.hint, "not one of ours");
    play_end(&p);
}

static void a_holder_whose_benchctl_lives_is_left_alone(void **state)
{
    (void)state;
    CLEANUP_FREE char *conflict = case_bytes("A06/create_409.http", NULL);
    char owner[ENGINE_OWNER_SIZE], body[600];
    snprintf(body, sizeof(body),
             "{\"Name\": \"/bench-r1-app\", \"State\": {\"Status\": \"running\"}, \"Config\": {\"Labels\": "
             "{\"%s\": \"%s\"}}}",
             LABEL_OWNER, engine_owner_label(owner));
    struct expect script[] = {OPENING,
                              {"POST /containers/create*", .reply = {.raw = conflict}},
                              {"GET /containers/" HOLDER "/json", .reply = {.body = body}}};
    struct error err = ERROR_INIT;
    struct play p;

    play_script(&p, script);
    assert_int_equal(create(&p, &PLAIN, &err), -1);
    assert_int_equal(err.kind, ERROR_CONFLICT);
    assert_has(err.hint, "may still be running");
    assert_has(err.hint, owner);
    play_end(&p);
}

static void a_holder_left_by_the_dead_makes_room(void **state)
{
    (void)state;
    CLEANUP_FREE char *conflict = case_bytes("A06/create_409.http", NULL);
    char owner[ENGINE_OWNER_SIZE], body[600];
    engine_owner_label(owner);
    snprintf(body, sizeof(body),
             "{\"Name\": \"/bench-r1-app\", \"State\": {\"Status\": \"exited\"}, \"Config\": {\"Labels\": "
             "{\"%s\": \"%.*s:1:7\"}}}",
             LABEL_OWNER, (int)strcspn(owner, ":"), owner);
    struct expect script[] = {
        OPENING,
        {"POST /containers/create*", .reply = {.raw = conflict}},
        {"GET /containers/" HOLDER "/json", .reply = {.body = body}},
        {"DELETE /containers/" HOLDER "?force=1&v=1", .reply = {.status = 204}},
        {"GET /containers/" HOLDER "/json", .reply = GONE},
        {"POST /containers/create*", .reply = {.status = 201, .body = "{\"Id\": \"" ID_A "\"}"}}};
    struct play p;

    play_script(&p, script);
    must(create(&p, &PLAIN, &why));
    play_end(&p);
}

static void a_holder_that_went_away_meanwhile(void **state)
{
    (void)state;
    CLEANUP_FREE char *conflict = case_bytes("A06/create_409.http", NULL);
    struct expect script[] = {
        OPENING,
        {"POST /containers/create*", .reply = {.raw = conflict}},
        {"GET /containers/" HOLDER "/json", .reply = GONE},
        {"POST /containers/create*", .reply = {.status = 201, .body = "{\"Id\": \"" ID_A "\"}"}}};
    struct play p;

    play_script(&p, script);
    must(create(&p, &PLAIN, &why));
    play_end(&p);
}

/* --- start, remove --- */

static void a_start_that_fails_says_what_state_knows(void **state)
{
    (void)state;
    CLEANUP_FREE char *inspect = case_bytes("A08/inspect_left_behind.json", NULL);
    struct expect script[] = {
        OPENING,
        {"POST /containers/" ID_B "/start",
         .reply = {.status = 500,
                   .body = "{\"message\": \"driver failed programming external connectivity\"}"}},
        {"GET /containers/" ID_B "/json", .reply = {.body = inspect}}};
    struct error err = ERROR_INIT;
    struct play p;

    play_script(&p, script);
    assert_int_equal(engine_container_start(p.lab.engine, ID_B, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_string_equal(
        err.message,
        "cannot start container 'bbbbbbbbbbbb': driver failed programming external connectivity");
    assert_string_equal(err.hint, "it is left in state 'created' with exit code 128: endpoint set-up failed: "
                                  "127.0.0.1:28499 is in use");
    play_end(&p);
}

static void answers_that_are_fine(void **state)
{
    (void)state;
    struct expect script[] = {
        OPENING,
        {"POST /containers/" ID_A "/start", .reply = {.status = 304}},
        {"POST /containers/" ID_A "/stop?t=7", .reply = {.status = 304}},
        {"POST /containers/" ID_A "/kill?signal=SIGUSR1", .reply = {.status = 204}},
        {"POST /containers/" ID_A "/wait", .reply = {.body = "{\"StatusCode\": 3, \"Error\": null}"}},
        {"POST /containers/" ID_A "/wait", .reply = {.body = "{}"}}};
    struct error err = ERROR_INIT;
    struct play p;
    int code = -1;

    play_script(&p, script);
    must(engine_container_start(p.lab.engine, ID_A, &why));
    must(engine_container_stop(p.lab.engine, ID_A, 7, &why));
    must(engine_container_kill(p.lab.engine, ID_A, "SIGUSR1", &why));
    must(engine_container_wait(p.lab.engine, ID_A, &code, &why));
    assert_int_equal(code, 3);
    assert_int_equal(engine_container_wait(p.lab.engine, ID_A, &code, &err), -1);
    assert_int_equal(code, 3);
    play_end(&p);
}

/* Two calls at once: neither waits for the other's answer. */
static void calls_overlap(void **state)
{
    (void)state;
    struct rule rules[] = {{"GET /version", .reply = {.body = VERSION_REPLY}},
                           {"GET /info", .reply = {.body = INFO_REPLY}},
                           {"POST /containers/slow/start", .reply = {.status = 204, .delay_ms = 150}},
                           {"POST /containers/quick/start", .reply = {.status = 204}},
                           {"POST /containers/never/start", .reply = {.delay_ms = 60000}}};
    struct engine_call *slow, *quick, *never;
    struct play p;

    play_start(&p, &(struct server_options){.rules = rules, .rules_len = ARRAY_LEN(rules)});
    must(engine_start_async(p.lab.engine, "never", &never, &why));
    must(engine_start_async(p.lab.engine, "slow", &slow, &why));
    must(engine_start_async(p.lab.engine, "quick", &quick, &why));
    must(engine_call_wait(quick, &why));
    assert_false(engine_call_done(slow));
    must(engine_call_wait(slow, &why));
    assert_false(engine_call_done(never));
    engine_call_free(slow);
    engine_call_free(quick);
    engine_call_free(never); /* abandoned */
    play_end(&p);
}

/* --- every call that goes wrong on the wire gives an error, promptly --- */

/* A create is never sent twice. What may be repeated is, when the connection had been idle and was found
 * closed. */
static void a_lost_answer_is_an_error(void **state)
{
    (void)state;
    static const struct {
        enum failure how;
        bool repeated;
    } cases[] = {{FAIL_STATUS, false}, {FAIL_CUT, false}, {FAIL_CLOSE, true}, {FAIL_LOST, true}};
    struct rule rules[] = {{"GET /version", .reply = {.body = VERSION_REPLY}},
                           {"GET /info", .reply = {.body = INFO_REPLY}},
                           {"POST /containers/create*", .reply = {.status = 201, .body = "{\"Id\": \"x\"}"}},
                           {"POST /networks/create", .reply = {.status = 201, .body = "{\"Id\": \"x\"}"}},
                           {"POST /containers/*/start", .reply = {.status = 204}},
                           {"GET /containers/*/json", .reply = STATE_REPLY("created", "")},
                           {"GET /containers/json*", .reply = {.body = "[]"}},
                           {"GET /networks*", .reply = {.body = "[]"}}};
    struct play p;

    play_start(&p, &(struct server_options){.rules = rules, .rules_len = ARRAY_LEN(rules)});
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct engine_objects objects = {0};
        struct error err = ERROR_INIT;
        int wanted = cases[i].repeated ? 0 : -1;
        char *id;

        server_fail_call(p.server, 1, "POST /containers/create*", cases[i].how);
        assert_int_equal(create(&p, &PLAIN, &err), -1);
        assert_has(err.message, "cannot create container 'bench-r1-app'");
        server_fail_call(p.server, 1, "POST /networks/create", cases[i].how);
        assert_int_equal(engine_network_create(p.lab.engine, "n", NULL, &id, &err), -1);
        struct json *info;
        must(engine_info(p.lab.engine, &info, &why)); /* leaves a connection open */
        json_free(info);
        server_fail_call(p.server, 1, "POST /containers/*/start", cases[i].how);
        assert_int_equal(engine_container_start(p.lab.engine, ID_A, &err), wanted);
        if (wanted)
            assert_has(err.message, "cannot start container");
        must(engine_info(p.lab.engine, &info, &why));
        json_free(info);
        server_fail_call(p.server, 2, NULL, cases[i].how); /* the second of its two lists */
        assert_int_equal(engine_list_ours(p.lab.engine, "r", &objects, &err), wanted);
        if (wanted)
            assert_has(err.message, "cannot list networks");
        engine_objects_release(&objects);
    }
    assert_int_equal(server_count(p.server, "POST /containers/create*"), ARRAY_LEN(cases));
    assert_int_equal(server_count(p.server, "POST /networks/create"), ARRAY_LEN(cases));
    must(create(&p, &PLAIN, &why)); /* and the engine goes on */
    play_end(&p);
}

static void a_deadline_ends_a_call_that_hangs(void **state)
{
    (void)state;
    struct rule rules[] = {{"GET /version", .reply = {.body = VERSION_REPLY}},
                           {"GET /info", .reply = {.body = INFO_REPLY}},
                           {"*", .reply = {.status = 204}}};
    struct error err = ERROR_INIT;
    struct play p;

    play_start(&p, &(struct server_options){.rules = rules, .rules_len = ARRAY_LEN(rules)});
    engine_set_deadline(p.lab.engine, clock_now_ns() + 60 * NS_PER_MS);
    server_fail_call(p.server, 1, NULL, FAIL_HANG);
    assert_int_equal(engine_container_start(p.lab.engine, ID_A, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMEOUT);
    assert_has(err.message,
               "cannot start container 'aaaaaaaaaaaa': no answer from the Docker Engine at 'unix://");
    serve_ms(&p.lab, 5);
    size_t calls = server_calls(p.server);
    assert_int_equal(engine_container_kill(p.lab.engine, ID_A, "KILL", &err), -1);
    assert_has(err.message, "no time is left");
    assert_int_equal(server_calls(p.server), calls); /* was not even sent */
    engine_set_deadline(p.lab.engine, LOOP_FOREVER);
    must(engine_container_kill(p.lab.engine, ID_A, "KILL", &why));
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_that_was_asked_for_is_sent),
        cmocka_unit_test(a_warning_about_swap_is_kept),
        cmocka_unit_test(what_was_not_asked_for_is_not_sent),
        cmocka_unit_test(podman_gets_a_log_driver_that_it_knows),
        cmocka_unit_test(refusals_keep_kind_and_words),
        cmocka_unit_test(a_foreign_holder_is_named_and_left_alone),
        cmocka_unit_test(a_holder_whose_benchctl_lives_is_left_alone),
        cmocka_unit_test(a_holder_left_by_the_dead_makes_room),
        cmocka_unit_test(a_holder_that_went_away_meanwhile),
        cmocka_unit_test(a_start_that_fails_says_what_state_knows),
        cmocka_unit_test(answers_that_are_fine),
        cmocka_unit_test(calls_overlap),
        cmocka_unit_test(a_lost_answer_is_an_error),
        cmocka_unit_test(a_deadline_ends_a_call_that_hangs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
