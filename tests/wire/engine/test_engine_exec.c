/* SPDX-License-Identifier: MIT */
/* A command in a container: what is sent, its output apart by channel, its code, and how it may fail. */
#include "scripted_engine.h"

#include <stdio.h>

struct heard {
    char out[64], err[64];
};

static void hear(const char *line, size_t len, bool is_stderr, void *data)
{
    struct heard *h = data;

    (void)snprintf(is_stderr ? h->err : h->out, sizeof(h->out), "%.*s", (int)len, line);
}

static int run_it(struct play *p, struct heard *h, int64_t timeout_ns, struct engine_exec_end *ret,
                  struct error *err)
{
    const char *words[] = {"mvn", "test"};
    const struct text_list command = {.items = words, .len = 2};
    const struct engine_exec x = {.command = &command,
                                  .working_dir = "/src",
                                  .stdout_fd = -1,
                                  .stderr_fd = -1,
                                  .on_line = hear,
                                  .data = h,
                                  .timeout_ns = timeout_ns};

    return engine_exec(p->lab.engine, ID_A, &x, ret, err);
}

#define CREATE                                                                                               \
    {                                                                                                        \
        "POST /containers/" ID_A "/exec",                                                                    \
            .has = {"\"Cmd\":[\"mvn\",\"test\"]", "\"WorkingDir\":\"/src\"", "\"AttachStdout\":true"},       \
            .reply = {                                                                                       \
                .status = 201,                                                                               \
                .body = "{\"Id\": \"x1\"}"                                                                   \
            }                                                                                                \
    }
static const char output[] = "\1\0\0\0\0\0\0\3ok\n\2\0\0\0\0\0\0\4bad\n";
#define OUTPUT .type = "application/vnd.docker.raw-stream", .body = output, .body_len = sizeof(output) - 1

static void its_output_and_its_code(void **state)
{
    struct expect script[] = {
        OPENING,
        CREATE,
        {"POST /exec/x1/start", .has = {"\"Tty\":false"}, .reply = {OUTPUT, .piece = 5, .end = END_CLOSE}},
        {"GET /exec/x1/json", .reply = {.body = "{\"Running\": true, \"ExitCode\": null}"}},
        {"GET /exec/x1/json", .reply = {.body = "{\"Running\": false, \"ExitCode\": 3}"}},
    };
    struct engine_exec_end end = {0};
    struct heard h = {0};
    struct play p;

    (void)state;
    play_script(&p, script);
    must(run_it(&p, &h, 0, &end, &why));
    assert_int_equal(end.code, 3);
    assert_true(end.duration_ns > 0);
    assert_string_equal(h.out, "ok");
    assert_string_equal(h.err, "bad");
    play_end(&p);
}

static void one_that_does_not_end(void **state)
{
    struct expect script[] = {OPENING, CREATE, {"POST /exec/x1/start", .reply = {OUTPUT, .end = END_OPEN}}};
    struct engine_exec_end end = {.code = -7};
    struct error err = ERROR_INIT;
    struct heard h = {0};
    struct play p;

    (void)state;
    play_script(&p, script);
    assert_int_equal(run_it(&p, &h, 100 * NS_PER_MS, &end, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMEOUT);
    assert_int_equal(end.code, -7);
    play_end(&p);
}

static void a_container_that_has_gone(void **state)
{
    struct expect script[] = {OPENING,
                              {"POST /containers/" ID_A "/exec",
                               .reply = {.status = 404, .body = "{\"message\": \"No such container\"}"}}};
    struct engine_exec_end end;
    struct error err = ERROR_INIT;
    struct heard h = {0};
    struct play p;

    (void)state;
    play_script(&p, script);
    assert_int_equal(run_it(&p, &h, 0, &end, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    assert_has(err.message, "cannot run 'mvn' in container");
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_output_and_its_code),
        cmocka_unit_test(one_that_does_not_end),
        cmocka_unit_test(a_container_that_has_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
