/* SPDX-License-Identifier: MIT */
/* What a trial tells of an application that dies and comes back under the load: ends with their evidence,
 * lives, witnesses, and the events as they happened. */
#include "stage.h"

#define LONG "load: {adapter: idle, duration: 700ms}\n"

static void oom(struct stage *g)
{
    assert_true(standin_die(g->engine, "app", 137, true));
}

static void oom_of_a_child(struct stage *g)
{
    assert_true(standin_oom_child(g->engine, "app"));
}

static void segv(struct stage *g)
{
    assert_true(standin_die(g->engine, "app", 139, false));
}

static void host_kill(struct stage *g)
{
    assert_true(standin_die(g->engine, "app", 137, false));
}

static void exit_0(struct stage *g)
{
    assert_true(standin_die(g->engine, "app", 0, false));
}

static void kill_9(struct stage *g)
{
    assert_true(standin_kill(g->engine, "app", 9));
}

static void exit_unheard(struct stage *g)
{
    standin_silent_events(g->engine, true);
    assert_true(standin_die(g->engine, "app", 1, false));
    standin_silent_events(g->engine, false);
    assert_true(standin_oom_child(g->engine, "app")); /* something that makes us look */
}

static void assert_end(struct stage *g, int n, double code, const char *cause, const char *evidence)
{
    CLEANUP_FREE char *at = xasprintf("/app/exits/%d", n);
    const struct json *e = json_pointer(stage_trial(g, 0), at);

    assert_true(json_number(json_get(e, "code")) == code);
    assert_string_equal(json_get_text(e, "cause"), cause);
    assert_has(json_get_text(e, "evidence"), evidence);
}

static void an_oom_kill_under_always(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 100, oom);
    stage_run(g, APP_OF(", restart: always, memory: 64m") LONG);
    assert_outcome(g, 0, "degraded", "OOM-killed 1 time, restarted 1 time in ");
    assert_has(stage_text(g, 0, "/reason"), " at 64.0 MiB");
    assert_end(g, 0, 137, "oom", "1 oom event, ");
    assert_true(stage_number(g, 0, "/app/restarts") == 1 && stage_number(g, 0, "/app/oom_kills") == 1);
    assert_true(stage_number(g, 0, "/app/witnesses/start_events") == 2);
    assert_true(stage_number(g, 0, "/app/witnesses/die_events") == 1);
    assert_true(stage_number(g, 0, "/app/witnesses/oom_events") == 1);
    assert_true(stage_number(g, 0, "/app/witnesses/restart_count") == 1);
    assert_true(stage_number(g, 0, "/app/witnesses/distinct_starts") == 2);
    assert_int_equal(json_len(json_pointer(stage_trial(g, 0), "/app/lives")), 2);
    assert_true(stage_number(g, 0, "/app/lives/0/start_ms") < 0);
    assert_true(stage_number(g, 0, "/app/lives/0/ready_ms") >= stage_number(g, 0, "/app/lives/0/start_ms"));
    assert_true(stage_number(g, 0, "/app/lives/0/end_ms") > 0);
    assert_true(isnan(stage_number(g, 0, "/app/lives/1/end_ms")));
    assert_true(stage_number(g, 0, "/app/lives/1/down_before_ms") >= 0);
    assert_true(stage_number(g, 0, "/app/time_to_failure_ms") > 90);
    assert_int_equal(json_len(json_pointer(stage_trial(g, 0), "/findings")), 0);
}

/* The engine tells of a kill and nothing ends: it was a child. */
static void a_child_was_killed(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 100, oom_of_a_child);
    stage_run(g, APP_OF(", memory: 64m") LONG);
    assert_outcome(g, 0, "degraded", "a child OOM-killed 1 time in ");
    assert_true(stage_number(g, 0, "/app/oom_kills") == 1);
    assert_int_equal(json_len(json_pointer(stage_trial(g, 0), "/app/exits")), 0);
    assert_string_equal(stage_text(g, 0, "/findings/0/id"), "oom-child");
    assert_string_equal(stage_text(g, 0, "/findings/0/role"), "app");
    assert_true(stage_number(g, 0, "/findings/0/at_ms") > 50 && stage_number(g, 0, "/findings/0/count") == 1);
    assert_has(stage_text(g, 0, "/findings/0/message"), "a child process of 'app', not its main process");
    assert_true(isnan(stage_number(g, 0, "/app/time_to_failure_ms")));
}

static void ends_of_several_kinds(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 50, segv);
    stage_at(g, "load", 150, host_kill);
    stage_at(g, "load", 250, exit_0);
    stage_at(g, "load", 350, oom);
    stage_run(g, APP_OF(", restart: unless-stopped, memory: 64m") LONG);
    assert_outcome(g, 0, "degraded",
                   "OOM-killed 1 time, ended 3 times (last: clean exit), restarted 4 times in ");
    assert_end(g, 0, 139, "crashed (SIGSEGV)", "exit code 139 (SIGSEGV)");
    assert_end(g, 1, 137, "sigkill, cause unknown", "no oom event; OOMKilled not seen; no kill event");
    assert_end(g, 2, 0, "clean exit", "exit code 0");
    assert_end(g, 3, 137, "oom", "1 oom event");
    assert_true(stage_number(g, 0, "/app/restarts") == 4 && stage_number(g, 0, "/app/oom_kills") == 1);
}

/* Neither policy nor benchctl: somebody has killed it, and the trial says nothing of the application. */
static void killed_by_another(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 100, kill_9);
    stage_run(g, APP_OF(", restart: always") LONG);
    assert_outcome(g, 0, "invalid", "somebody else touched 'app' during the trial: kill");
    assert_end(g, 0, 137, "killed by somebody else (signal 9)", "kill event (signal 9) of somebody else");
    assert_true(stage_number(g, 0, "/app/restarts") == 0);
}

/* Start and end of which no event told: inspect had seen both lives. */
static void a_restart_that_no_event_told_of(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 100, exit_unheard);
    stage_run(g, APP_OF(", restart: always") LONG);
    assert_true(stage_number(g, 0, "/app/restarts") == 1);
    assert_true(stage_number(g, 0, "/app/witnesses/start_events") == 1);
    assert_true(stage_number(g, 0, "/app/witnesses/distinct_starts") == 2);
    assert_int_equal(json_len(json_pointer(stage_trial(g, 0), "/app/exits")), 1);
    assert_has(stage_text(g, 0, "/app/exits/0/cause"), "cause unknown");
}

/* --- events.ndjson --- */

static void begins_to_be_unhealthy(struct stage *g)
{
    assert_true(standin_health(g->engine, "app", "unhealthy"));
}

/* The words of the lines about the application, in order. */
static char *timeline(struct stage *g)
{
    CLEANUP_FREE char *text = stage_file(g, "trials/one/1/events.ndjson");
    struct strbuf out = STRBUF_INIT;

    assert_non_null(text);
    for (char *line = text, *next; *line; line = next) {
        CLEANUP(json_free) struct json *j = NULL;
        struct error err = ERROR_INIT;
        next = line + strcspn(line, "\n");
        next += *next == '\n';
        assert_int_equal(json_parse(line, (size_t)(next - line), "line", &j, &err), 0);
        assert_true(json_number(json_get(j, "at_ms")) >= 0);
        if (!text_equal(json_get_text(j, "role"), "app"))
            continue;
        strbuf_addf(&out, "%s", json_get_text(j, "event"));
        if (json_get(j, "code"))
            strbuf_addf(&out, " %lld", (long long)json_get_int(j, "code"));
        if (json_get(j, "signal"))
            strbuf_addf(&out, " signal %lld", (long long)json_get_int(j, "signal"));
        if (json_get(j, "status"))
            strbuf_addf(&out, " %s", json_get_text(j, "status"));
        if (json_get(j, "number"))
            strbuf_addf(&out, " %lld", (long long)json_get_int(j, "number"));
        if (json_get(j, "witness"))
            strbuf_addf(&out, " by %s", json_get_text(j, "witness"));
        strbuf_addc(&out, '\n');
    }
    return strbuf_detach(&out);
}

#define ONE "axes: {x: [one]}\n"

static void events_as_they_happened(void **state)
{
    struct stage *g = *state;

    standin_behave(g->engine, "app", (struct behaviour){.unhealthy = true});
    stage_at(g, "load", 50, begins_to_be_unhealthy);
    stage_at(g, "load", 100, oom);
    stage_at(g, "load", 400, kill_9);
    stage_run(g, APP_OF(", restart: always") LONG ONE);
    assert_lines(timeline(g), "create\n"
                              "start by events\n"
                              "ready\n"
                              "health unhealthy\n"
                              "oom\n"
                              "die 137 signal 9 by events\n"
                              "start by events\n"
                              "restart 1\n"
                              "ready\n"
                              "kill signal 9\n"
                              "die 137 signal 9 by events\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(an_oom_kill_under_always),        STAGE_TEST(a_child_was_killed),
        STAGE_TEST(ends_of_several_kinds),           STAGE_TEST(killed_by_another),
        STAGE_TEST(a_restart_that_no_event_told_of), STAGE_TEST(events_as_they_happened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
