/* SPDX-License-Identifier: MIT */
/* Runs that have no numbers: none of them is a success, none of them has a zero that could be compared. */
#include "programs.h"

/* k6 on PATH is this script; `$summary` is the file that it was told to write. */
static void run_with_k6(struct stage *g, const char *script, const char *app)
{
    static const struct rule rules[] = {{"*", .reply = {.status = 200}}};
    struct server *server =
        server_start(&(struct server_options){.rules = rules, .rules_len = 1, .tcp = true});
    CLEANUP_FREE char *path = xstrdup(getenv("PATH")), *program = path_join(g->dir, "k6"),
                      *mine = xasprintf("%s:%s", g->dir, path);
    CLEANUP_FREE char *text =
        xasprintf("#!/bin/sh\n[ \"$1\" = version ] && { echo k6 v1.0.0; exit 0; }\n"
                  "for a; do case $a in --summary-export=*) summary=${a#*=};; esac; done\n%s\n",
                  script);
    CLEANUP_FREE char *matrix =
        xasprintf("benchctl: 1\nname: wire\ntrials: 1\nretry: 0\naxes: {x: [one]}\n"
                  "app: {image: 'app:1', port: %d, memory: 64m%s}\n"
                  "load: {adapter: k6, script: %s/script.js, series: \"false\", duration: 1s, vus: 1}\n",
                  server_port(server), app, g->dir);
    struct error err = ERROR_INIT;

    put(g, "script.js", "export default function () {}\n");
    assert_int_equal(fs_write(program, text, strlen(text), &err), 0);
    assert_int_equal(chmod(program, 0755), 0);
    (void)setenv("PATH", mine, 1);
    stage_run(g, matrix);
    (void)setenv("PATH", path, 1);
    server_finish(server);
    assert_int_equal(g->rc, 0);
    assert_nothing_left(g);
}

static void assert_numberless(struct stage *g, const char *outcome, const char *reason)
{
    assert_outcome(g, 0, outcome, reason);
    assert_int_equal(json_type_of(json_pointer(stage_trial(g, 0), "/load")), JSON_TYPE_NULL);
}

/* tests/cases/R03/silent_tool.sh: exit status 0, and not a word. */
static void a_tool_that_says_nothing(void **state)
{
    struct stage *g = *state;

    run_with_k6(g, "exec sh " TESTS_DIR "/cases/R03/silent_tool.sh", "");
    assert_numberless(g, "invalid", "load generator 'k6': ");
}

static void a_summary_of_zero_requests(void **state)
{
    struct stage *g = *state;

    run_with_k6(g, "cp " TESTS_DIR "/cases/R03/zero_requests.json \"$summary\"", "");
    assert_numberless(g, "invalid", "nothing measured: no request was");
}

static void a_summary_that_is_cut(void **state)
{
    struct stage *g = *state;

    run_with_k6(g, "head -c 100 " TESTS_DIR "/cases/R03/zero_requests.json >\"$summary\"", "");
    assert_numberless(g, "invalid", "load generator 'k6': ");
}

static void die(struct stage *g)
{
    assert_true(standin_die(g->engine, "app", 1, false));
}

/* It was well when it was asked; the load finds nobody, and its tool is content. */
static void dead_before_the_load(void **state)
{
    struct stage *g = *state;

    stage_at(g, "ports", 0, die);
    run_with_k6(g, "exit 0", "");
    assert_numberless(g, "crashed", "exit 1");
    assert_false(isnan(stage_number(g, 0, "/ready_ms")));
}

/* The same under a policy that brings it back, and a tool that has numbers of nobody. */
static void dead_before_the_load_and_back(void **state)
{
    struct stage *g = *state;

    stage_at(g, "ports", 0, die);
    run_with_k6(g, "sleep 0.5; cp " TESTS_DIR "/cases/R03/zero_requests.json \"$summary\"",
                ", restart: always");
    assert_numberless(g, "crashed", "restarted 1 time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(a_tool_that_says_nothing),      STAGE_TEST(a_summary_of_zero_requests),
        STAGE_TEST(a_summary_that_is_cut),         STAGE_TEST(dead_before_the_load),
        STAGE_TEST(dead_before_the_load_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
