/* SPDX-License-Identifier: MIT */
/* Sweeps that are interrupted in each of their steps, and what dead ones have left. */
#include "stage.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include "benchctl/engine.h"

/* --- interruptions --- */

static void interrupted_in(struct stage *g, const char *step, int after_ms)
{
    stage_at(g, step, after_ms, stage_interrupt);
    standin_behave(g->engine, "app", (struct behaviour){.log = "up"});
    stage_run(g,
              APP_OF(", ready: {log: up}") "load: {adapter: idle, duration: 60ms, warmup: {duration: 30ms}}\n"
                                           "axes: {x: [a, b]}\ncooldown: 30s\n"
                                           "services: {mock: {image: 'mock:1', scope: sweep}}\n");
    if (g->rc != -1 || g->err.kind != ERROR_INTERRUPTED)
        fail_msg("in '%s': %d, %s", step, g->rc, g->err.message);
    assert_true(g->summary.interrupted);
    assert_nothing_left(g);
    if (g->info)
        assert_false(json_get_bool(g->info, "complete"));
}

#define INTERRUPTED(name, step, after_ms, sealed)                                                            \
    static void name(void **state)                                                                           \
    {                                                                                                        \
        struct stage *g = *state;                                                                            \
        interrupted_in(g, step, after_ms);                                                                   \
        assert_int_equal(g->trials.len, sealed);                                                             \
    }

INTERRUPTED(interrupted_while_opening, "engine", 0, 0)
INTERRUPTED(interrupted_while_preparing, "images", 0, 0)
INTERRUPTED(interrupted_at_the_beginning, "begin", 0, 0)
INTERRUPTED(interrupted_in_services, "services", 0, 0)
INTERRUPTED(interrupted_while_starting, "app start", 0, 0)
INTERRUPTED(interrupted_while_waiting, "ready", 0, 0)
INTERRUPTED(interrupted_while_sampling_begins, "sampling", 0, 0)
INTERRUPTED(interrupted_in_the_warm_up, "warm-up", 10, 0)
INTERRUPTED(interrupted_in_the_load, "load", 20, 0)
INTERRUPTED(interrupted_in_checks, "checks", 0, 0)
INTERRUPTED(interrupted_while_collecting, "collect", 0, 0)
INTERRUPTED(interrupted_while_cooling_down, "cooldown", 10, 1) /* what is sealed stays */

/* An engine makes what it was asked for, also when nobody waits any more: the answer is waited for. */
static void interrupted_while_something_is_made(struct stage *g, const char *role, const char *step,
                                                const char *calls)
{
    standin_behave(g->engine, role, (struct behaviour){.create_ms = 200});
    stage_at(g, step, 50, stage_interrupt);
    stage_run(g, SMALL);
    assert_int_equal(g->err.kind, ERROR_INTERRUPTED);
    CLEANUP_FREE char *all = standin_calls(g->engine, "");
    assert_has(all, calls);
    assert_nothing_left(g);
}

static void interrupted_while_the_network_is_made(void **state)
{
    interrupted_while_something_is_made(*state, "network", "begin",
                                        "create network\nremove network\nlist containers\nlist networks\n");
}

static void interrupted_while_the_app_is_made(void **state)
{
    interrupted_while_something_is_made(*state, "app", "app start",
                                        "create app\nremove app\nGET of what has gone\nremove network\n");
}

/* Too late to matter: everything has been measured. */
static void interrupted_while_tearing_down(void **state)
{
    struct stage *g = *state;

    stage_at(g, "tear-down", 0, stage_interrupt);
    stage_run(g, SMALL);
    assert_int_equal(g->rc, 0);
    assert_outcome(g, 0, "ok", "");
    assert_nothing_left(g);
}

/* A generator that ignores being asked is killed, with its children, before the sweep ends. */
static void an_interrupted_generator_is_gone(void **state)
{
    struct stage *g = *state;
    CLEANUP_FREE char *path = xstrdup(getenv("PATH")), *program = xasprintf("%s/wrk", g->dir),
                      *mine = xasprintf("%s:%s", g->dir, path), *pids = xasprintf("%s/pids", g->dir);
    CLEANUP_FREE char *text = xasprintf("#!/bin/sh\n[ \"$1\" = -v ] && { echo wrk 4.1.0; exit 1; }\n"
                                        "sleep 100 & echo $! $$ >%s\nwait\n",
                                        pids);
    struct error err = ERROR_INIT;
    int child = 0, parent = 0;

    assert_int_equal(fs_write(program, text, strlen(text), &err), 0);
    assert_int_equal(chmod(program, 0755), 0);
    (void)setenv("PATH", mine, 1);
    static const struct rule rules[] = {{"*", .reply = {.status = 200}}};
    struct server *app = server_start(&(struct server_options){.rules = rules, .rules_len = 1, .tcp = true});
    CLEANUP_FREE char *matrix =
        xasprintf("benchctl: 1\nname: wire\ntrials: 1\napp: {image: 'app:1', port: %d}\n"
                  "load: {adapter: wrk, duration: 20s}\n",
                  server_port(app));
    stage_at(g, "load", 300, stage_interrupt);
    stage_run(g, matrix);
    (void)setenv("PATH", path, 1);
    assert_int_equal(g->err.kind, ERROR_INTERRUPTED);
    CLEANUP_FREE char *seen = stage_file(g, "pids");
    assert_non_null(seen);
    assert_int_equal(sscanf(seen, "%d %d", &child, &parent), 2);
    assert_int_equal(kill(child, 0), -1);
    assert_int_equal(kill(parent, 0), -1);
    assert_nothing_left(g);
    server_finish(app);
}

/* --- leftovers --- */

/* Of a dead run of the same directory everything goes before anything begins; nothing of others does. */
static void a_dead_run_of_this_directory_is_cleaned_up(void **state)
{
    struct stage *g = *state;
    CLEANUP_FREE char *dir = xasprintf(LABEL_DIR "=%s", g->dir);
    char owner[ENGINE_OWNER_SIZE + 32], dead[] = LABEL_OWNER "=", host[128];

    assert_int_equal(gethostname(host, sizeof(host)), 0);
    CLEANUP_FREE char *gone = xasprintf("%s%s:1999999:1", dead, host);
    (void)snprintf(owner, sizeof(owner), "%s", LABEL_OWNER "=");
    (void)engine_owner_label(owner + strlen(owner));
    const char *const ours[] = {LABEL_RUN "=old", gone, dir, NULL};
    const char *const elsewhere[] = {LABEL_RUN "=other", gone, LABEL_DIR "=/elsewhere", NULL};
    const char *const living[] = {LABEL_RUN "=living", owner, dir, NULL};
    const char *const stranger[] = {"com.example=1", NULL};
    const char *old = standin_foreign(g->engine, false, "benchctl-old-1-app", ours);
    const char *net = standin_foreign(g->engine, true, "benchctl-old", ours);
    const char *kept[] = {
        standin_foreign(g->engine, false, "benchctl-other-1-app", elsewhere),
        standin_foreign(g->engine, false, "benchctl-living-1-app", living),
        standin_foreign(g->engine, false, "benchctl-0123456789ab-9-app", stranger),
        standin_foreign(g->engine, true, "benchctl-0123456789ab-x", stranger),
    };

    stage_run(g, SMALL);
    assert_int_equal(g->rc, 0);
    assert_false(standin_exists(g->engine, old));
    assert_false(standin_exists(g->engine, net));
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        assert_true(standin_exists(g->engine, kept[i]));
    assert_true(
        stage_said(g, "removed 2 containers and networks that an earlier run of this directory left"));
    assert_nothing_left(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(interrupted_while_opening),
        STAGE_TEST(interrupted_while_preparing),
        STAGE_TEST(interrupted_at_the_beginning),
        STAGE_TEST(interrupted_in_services),
        STAGE_TEST(interrupted_while_starting),
        STAGE_TEST(interrupted_while_waiting),
        STAGE_TEST(interrupted_while_sampling_begins),
        STAGE_TEST(interrupted_in_the_warm_up),
        STAGE_TEST(interrupted_in_the_load),
        STAGE_TEST(interrupted_in_checks),
        STAGE_TEST(interrupted_while_collecting),
        STAGE_TEST(interrupted_while_cooling_down),
        STAGE_TEST(interrupted_while_the_network_is_made),
        STAGE_TEST(interrupted_while_the_app_is_made),
        STAGE_TEST(interrupted_while_tearing_down),
        STAGE_TEST(an_interrupted_generator_is_gone),
        STAGE_TEST(a_dead_run_of_this_directory_is_cleaned_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
