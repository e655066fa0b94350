/* SPDX-License-Identifier: MIT */
/* The fake engine behaves as the real one does where our client looks: what the torture of trials is built
 * on. */
#include <math.h>
#include "fake_engine.h"
#include "scripted_engine.h"

struct heard {
    char text[1000];
};

static void on_event(const struct engine_event *ev, void *data)
{
    struct heard *h = data;
    size_t len = strlen(h->text);

    snprintf(h->text + len, sizeof(h->text) - len, "%s|", ev->action);
}

static void on_line(const char *line, size_t len, bool is_stderr, void *data)
{
    struct heard *h = data;
    size_t used = strlen(h->text);

    (void)is_stderr;
    snprintf(h->text + used, sizeof(h->text) - used, "%.*s|", (int)len, line);
}

static char *create(struct lab *lab, const char *name, enum restart_policy restart, int max)
{
    struct text_pair label = {.key = LABEL_RUN, .value = "r1"};
    struct text_map labels = {.items = &label, .len = 1};
    struct engine_container c = {.name = name,
                                 .image = "sha256:1",
                                 .labels = &labels,
                                 .cpus = NAN,
                                 .memory_bytes = 64 << 20,
                                 .restart = restart,
                                 .restart_max = max};
    CLEANUP_FREE char *warnings = NULL;
    char *id;

    must(engine_container_create(lab->engine, &c, &id, &warnings, &why));
    return id;
}

static struct fake_engine *begin(struct lab *lab, const struct fake_program *programs, size_t count)
{
    struct fake_engine *f = fake_engine_start(programs, count);

    lab_start(lab);
    must(engine_open(lab->loop, lab->http, fake_engine_url(f), &lab->engine, &why));
    return f;
}

static void a_life(void **state)
{
    (void)state;
    struct fake_program programs[] = {{"*-app", .run_ms = 20, .exit_code = 3, .log = "hello"}};
    struct heard events = {""}, lines = {""};
    struct engine_event_handler handler = {.event = on_event, .data = &events};
    struct engine_log_options o = {.stdout_fd = -1, .stderr_fd = -1, .on_line = on_line, .data = &lines};
    struct engine_stream *stream, *log;
    struct engine_state s;
    struct lab lab;
    struct fake_engine *f = begin(&lab, programs, 1);

    must(engine_events_open(lab.engine, "r1", &handler, &stream, &why));
    CLEANUP_FREE char *id = create(&lab, "r1-app", RESTART_ON_FAILURE, 2);
    must(engine_container_start(lab.engine, id, &why));
    must(engine_logs_open(lab.engine, id, &o, &log, &why));
    must(engine_logs_finish(log, clock_now_ns() + 10 * NS_PER_S, &why));
    assert_string_equal(lines.text, "hello|hello|hello|");
    assert_string_equal(events.text, "create|start|die|start|die|start|die|");
    must(engine_container_inspect(lab.engine, id, &s, &why));
    assert_string_equal(s.status, "exited");
    assert_int_equal(s.exit_code, 3);
    assert_int_equal(s.restart_count, 2);
    assert_int_equal(s.memory_bytes, 64 << 20);
    assert_int_equal(s.swap_bytes, 0);
    engine_state_release(&s);
    assert_int_equal(fake_engine_starts(f), 3);
    must(engine_container_remove(lab.engine, id, &why));
    serve_until(&lab, text_ends(events.text, "|destroy|"));
    engine_stream_close(log);
    engine_stream_close(stream);
    lab_end(&lab);
    fake_engine_finish(f);
}

static void ends_from_outside(void **state)
{
    (void)state;
    struct heard events = {""};
    struct engine_event_handler handler = {.event = on_event, .data = &events};
    struct engine_stream *stream;
    struct engine_state s;
    struct lab lab;
    struct fake_engine *f = begin(&lab, NULL, 0);

    must(engine_events_open(lab.engine, "r1", &handler, &stream, &why));
    CLEANUP_FREE char *id = create(&lab, "r1-app", RESTART_NO, 0);
    CLEANUP_FREE char *other = create(&lab, "r1-db", RESTART_ALWAYS, 0);
    must(engine_container_start(lab.engine, id, &why));
    must(engine_container_start(lab.engine, other, &why));
    assert_int_equal(fake_engine_end(f, "*-app", 0, true), 1);
    must(engine_container_inspect(lab.engine, id, &s, &why));
    assert_true(s.oom_killed);
    assert_int_equal(s.exit_code, 137);
    engine_state_release(&s);
    must(engine_container_stop(lab.engine, other, 1, &why));
    must(engine_container_inspect(lab.engine, other, &s, &why));
    assert_string_equal(s.status, "exited"); /* its policy does not apply to a stop */
    engine_state_release(&s);
    serve_until(&lab, text_ends(events.text, "|oom|die|kill|die|"));
    engine_stream_close(stream);
    lab_end(&lab);
    fake_engine_finish(f);
}

static void what_is_left_is_known(void **state)
{
    (void)state;
    struct fake_program programs[] = {{"*-bad", .run_ms = -1, .start_error = "port in use"}};
    struct text_pair label = {.key = LABEL_RUN, .value = "r1"};
    struct text_map labels = {.items = &label, .len = 1};
    struct engine_objects ours = {0};
    struct error err = ERROR_INIT;
    struct lab lab;
    struct fake_engine *f = begin(&lab, programs, 1);
    CLEANUP_FREE char *network = NULL, *none = fake_engine_left(f);

    assert_string_equal(none, "");
    must(engine_network_create(lab.engine, "r1-net", &labels, &network, &why));
    CLEANUP_FREE char *id = create(&lab, "r1-bad", RESTART_NO, 0);
    assert_int_equal(engine_container_start(lab.engine, id, &err), -1);
    assert_has(err.hint, "'created' with exit code 128");
    CLEANUP_FREE char *left = fake_engine_left(f);
    assert_string_equal(left, "container r1-bad\nnetwork r1-net\n");
    must(engine_list_ours(lab.engine, "r1", &ours, &why));
    assert_int_equal(ours.len, 2);
    engine_objects_release(&ours);
    must(engine_list_ours(lab.engine, "r2", &ours, &why));
    assert_int_equal(ours.len, 0);
    /* a call whose answer is lost has had its effect; one that is closed before has not */
    server_fail_call(fake_engine_server(f), 1, "POST /networks/create", FAIL_LOST);
    CLEANUP_FREE char *lost = NULL;
    assert_int_equal(engine_network_create(lab.engine, "r1-lost", &labels, &lost, &err), -1);
    server_fail_call(fake_engine_server(f), 1, "POST /networks/create", FAIL_CLOSE);
    assert_int_equal(engine_network_create(lab.engine, "r1-closed", &labels, &lost, &err), -1);
    must(engine_container_remove(lab.engine, id, &why));
    must(engine_network_remove(lab.engine, network, &why));
    CLEANUP_FREE char *rest = fake_engine_left(f);
    assert_string_equal(rest, "network r1-lost\n");
    lab_end(&lab);
    fake_engine_finish(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life),
        cmocka_unit_test(ends_from_outside),
        cmocka_unit_test(what_is_left_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
