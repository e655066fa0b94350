/* SPDX-License-Identifier: MIT */
/* What failed, when, and for how long: timelines, tables and strips from records that are whole, old or made
 * up. */
#include "fixed_sweep.h"

#include "timeline.h"

static const char *const axes[] = {"framework", "memory", NULL};

static struct container_life *add_lives(struct maker *m, struct trial *t, size_t count)
{
    t->app.lives = arena_array(m->sweep.arena, struct container_life, count);
    t->app.life_count = count;
    return t->app.lives;
}

static struct container_exit *add_exits(struct maker *m, struct trial *t, size_t count)
{
    t->app.exits = arena_array(m->sweep.arena, struct container_exit, count);
    t->app.exit_count = count;
    return t->app.exits;
}

/* Up, killed at 2 s, down for 1 s, starting for 0.5 s, up; killed at 5 s and never started again; window of 6
 * s. */
static struct trial *add_two_deaths(struct maker *m)
{
    struct trial *t = add_full(m, "flask/80m", OUTCOME_CRASHED, 1);
    struct container_life *lives = add_lives(m, t, 2);
    struct container_exit *exits = add_exits(m, t, 2);

    lives[0] = (struct container_life){-1000, -400, 2000, NAN, 310};
    lives[1] = (struct container_life){3000, 3500, 5000, 1000, 77};
    exits[0] = (struct container_exit){2000, 137, true, "oom", "oom event, oom_kill 0 to 1"};
    exits[1] = (struct container_exit){5000.4, 139, false, "crashed (SIGSEGV)", "exit code 139"};
    t->app.restarts = 1;
    t->app.oom_kills = 1;
    t->app.uptime_pct = 62.5;
    t->app.time_to_failure_ms = 3000;
    t->app.down_ms = 2500;
    t->app.unresponsive_ms = 0;
    return t;
}

static enum state state_at(const struct timeline *l, double ms)
{
    return (enum state)l->states[(size_t)(timeline_share(l, ms) * TIMELINE_COLUMNS)];
}

static void states_over_time(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;
    struct timeline l;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = add_two_deaths(&m);
    t->app.silences = arena_array(m.sweep.arena, struct container_silence, 1);
    t->app.silences[0] = (struct container_silence){4000, 4500};
    t->app.silence_count = 1;
    assert_true(timeline_of(t, &t->app, &l));
    assert_true(l.told);
    assert_float_equal(l.from_ms, -1000, 0);
    assert_float_equal(l.to_ms, 6000, 0);
    assert_float_equal(l.end_ms, 6000, 0);
    assert_int_equal(state_at(&l, -800), STATE_STARTING);
    assert_int_equal(state_at(&l, 100), STATE_UP);
    assert_int_equal(state_at(&l, 2500), STATE_DOWN);
    assert_int_equal(state_at(&l, 3200), STATE_STARTING);
    assert_int_equal(state_at(&l, 3700), STATE_UP);
    assert_int_equal(state_at(&l, 4200), STATE_SILENT);
    assert_int_equal(state_at(&l, 4700), STATE_UP);
    assert_int_equal(state_at(&l, 5900), STATE_DOWN);
}

/* A fall of 2 ms in an hour is seen. */
static void short_failures_are_not_lost(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;
    struct timeline l;
    size_t down = 0;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = add_two_deaths(&m);
    t->load.window_ms = 3600e3;
    t->app.lives[1] = (struct container_life){2002, 2003, NAN, 2, 77};
    assert_true(timeline_of(t, &t->app, &l));
    for (size_t i = 0; i < TIMELINE_COLUMNS; i++)
        down += l.states[i] == STATE_DOWN;
    assert_in_range(down, 1, 2);
}

static void deaths_and_what_followed(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = add_two_deaths(&m);
    const struct death *d = deaths_of(&t->app, m.sweep.arena);
    assert_int_equal(d[0].after, AFTER_READY);
    assert_float_equal(d[0].down_ms, 1500, 0);
    assert_float_equal(d[0].requests, 310, 0);
    assert_int_equal(d[1].after, AFTER_NOTHING); /* 0.4 ms apart is the same moment */
    assert_float_equal(d[1].requests, 77, 0);

    t->app.lives[1].ready_ms = NAN;
    d = deaths_of(&t->app, m.sweep.arena);
    assert_int_equal(d[0].after, AFTER_NOTREADY);
    assert_float_equal(d[0].down_ms, 1000, 0);

    t->app.life_count = 0; /* a record from before lives were told */
    d = deaths_of(&t->app, m.sweep.arena);
    assert_int_equal(d[0].after, AFTER_UNKNOWN);
    assert_true(isnan(d[0].down_ms) && isnan(d[1].requests));
}

static void table_of_failures(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    add_two_deaths(&m);
    CLEANUP_FREE char *text = squeezed(rendered(&m, &(struct report_options){.width = 120}, REPORT_TABLE));
    const char *failed = strstr(text, "\nWhat failed\n");
    assert_non_null(failed);
    assert_has(failed, "flask/80m #1 app 2.00 s oom 137 1.50 s 310\n"
                       " oom event, oom_kill 0 to 1\n");
    assert_has(failed, "flask/80m #1 app 5.00 s crashed (SIGSEGV) 139 to the end 77\n");
    assert_has(text, "flask 80m 1 1 62.5% 3.00 2.50\n");
    CLEANUP_FREE char *md = rendered(&m, &(struct report_options){0}, REPORT_MARKDOWN);
    assert_has(
        md,
        "| flask/80m | \\#<!-- -->1 | app | 2.00 s | **oom** | 137 | 1.50 s | 310 | oom event, oom\\_kill "
        "0 to 1 |\n");
}

/* A database that dies is told as the application is, under its own name. */
static void a_service_that_died(void **state)
{
    static struct container_exit end = {1200, 1, false, "exit 1", "exit code 1"};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = add_full(&m, "flask/80m", OUTCOME_ERROR, 1);
    t->services[0].exits = &end;
    t->services[0].exit_count = 1;
    CLEANUP_FREE char *text = squeezed(rendered(&m, &(struct report_options){0}, REPORT_TABLE));
    assert_has(text, "flask/80m #1 database 1.20 s exit 1 1 – –\n exit code 1\n");
    CLEANUP_FREE char *html = rendered(&m, &(struct report_options){0}, REPORT_HTML);
    assert_has(html, "<title>flask/80m #1, database: when it was up</title>");
}

/* Who asks for certain figures gets those, and nothing about failures beside the findings. */
static void not_beside_chosen_figures(void **state)
{
    static const char *const figures[] = {"goodput_rps"};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    add_two_deaths(&m);
    CLEANUP_FREE char *text =
        rendered(&m, &(struct report_options){.figures = figures, .figure_count = 1}, REPORT_TABLE);
    assert_null(strstr(text, "What failed"));
}

static void nothing_failed(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = add_full(&m, "flask/80m", OUTCOME_OK, 1);
    add_exits(&m, t, 1)[0] = (struct container_exit){6100, 143, false, "stopped by benchctl", "asked for"};
    t->app.down_ms = t->app.unresponsive_ms = 0;
    CLEANUP_FREE char *text = squeezed(rendered(&m, &(struct report_options){0}, REPORT_TABLE));
    assert_null(strstr(text, "Failures"));
    assert_null(strstr(text, "What failed"));
    CLEANUP_FREE char *html = rendered(&m, &(struct report_options){0}, REPORT_HTML);
    assert_null(strstr(html, "class=\"strips\""));
    assert_has(html, "class=\"strip\""); /* in the trial's record */
}

static void loops_are_folded(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = add_full(&m, "flask/80m", OUTCOME_DEGRADED, 1);
    struct container_life *lives = add_lives(&m, t, 15);
    struct container_exit *exits = add_exits(&m, t, 14);
    for (int i = 0; i < 15; i++)
        lives[i] = (struct container_life){15000.0 * i, 15000.0 * i + 400, i < 14 ? 15000.0 * i + 14000 : NAN,
                                           i ? 1000 : NAN, 10};
    for (int i = 0; i < 14; i++)
        exits[i] = (struct container_exit){15000.0 * i + 14000, 137, true, "oom", "oom event"};
    t->load.window_ms = 210e3;
    CLEANUP_FREE char *text = squeezed(rendered(&m, &(struct report_options){0}, REPORT_TABLE));
    const char *failed = strstr(text, "\nWhat failed\n");
    assert_non_null(failed);
    assert_has(failed, "every 15.0 s 12 times more, 14 in all 1.40 s 120\n");
    assert_int_equal(occurrences(failed, "\nflask/80m "), 3);
    CLEANUP_FREE char *html = rendered(&m, &(struct report_options){0}, REPORT_HTML);
    assert_has(html, ">14 × OOM, every 15.0 s</text>");
    assert_has(html, ">load begins</text>");
    assert_has(html, ">load ends, 210 s</text>");
    assert_has(html, "<desc>14 ends, the first at 14.0 s; up 100.0 % of the load.");
}

/* Three are told one by one. */
static void few_are_not_folded(void **state)
{
    struct container_exit exits[4] = {{1000, 1, false, "exit 1", NULL},
                                      {2000, 1, false, "exit 1", NULL},
                                      {3000, 1, false, "exit 1", NULL},
                                      {4000, 2, false, "exit 2", NULL}};
    struct death deaths[4];
    double every_ms = NAN;

    (void)state;
    for (int i = 0; i < 4; i++)
        deaths[i] = (struct death){.exit = &exits[i]};
    assert_int_equal(deaths_alike(deaths, 4, &every_ms), 1);
    exits[3] = exits[2];
    exits[3].at_ms = 4000;
    assert_int_equal(deaths_alike(deaths, 4, &every_ms), 4);
    assert_float_equal(every_ms, 1000, 0);
}

static void silence_and_what_was_found(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = add_full(&m, "flask/80m", OUTCOME_DEGRADED, 1);
    t->app.silences = arena_array(m.sweep.arena, struct container_silence, 1);
    t->app.silences[0] = (struct container_silence){3500, NAN};
    t->app.silence_count = 1;
    t->findings = arena_array(m.sweep.arena, struct finding, 2);
    t->findings[0] = (struct finding){"java-heap", "app", 3400, 3, "the Java heap was exhausted, 3 lines"};
    t->findings[1] = (struct finding){"connection-limit", "database", NAN, 40, "no connection was left"};
    t->finding_count = 2;
    struct trial *second = add_full(&m, "flask/80m", OUTCOME_OK, 1);
    second->findings = arena_array(m.sweep.arena, struct finding, 1);
    second->findings[0] =
        (struct finding){"java-heap", "app", 900, 7, "the Java heap was exhausted, 7 lines"};
    second->finding_count = 1;
    CLEANUP_FREE char *text = squeezed(rendered(&m, &(struct report_options){0}, REPORT_TABLE));
    assert_has(text, "unresponsive to the end");
    assert_has(
        text,
        "java-heap (app): 3–7 times, first at 0.90 s: the Java heap was exhausted, 3–7 lines (2 trials: "
        "flask/80m #1, #2)\n");
    assert_has(text, "connection-limit (database): 40 times: no connection was left (1 "
                     "trial: flask/80m #1)\n");
}

/* Who is to blame is said as the page about outcomes has it. */
static void whose_doing(void **state)
{
    static const char words[] = "Not the framework's doing";
    CLEANUP_VALUE(strbuf_release) struct strbuf page = STRBUF_INIT;
    struct error err = ERROR_INIT;
    size_t rows = 0;

    (void)state;
    assert_int_equal(fs_read(SOURCE_DIR "/docs/outcomes.md", 1 << 20, &page, &err), 0);
    for (const char *at = page.data; (at = strstr(at, "` | log | ")); at++, rows++) {
        const char *id = at, *end = at + strcspn(at, "\n"), *said = strstr(at, words);
        while (id[-1] != '`')
            id--;
        CLEANUP_FREE char *name = xstrndup(id, (size_t)(at - id));
        if (finding_of_surroundings(&(struct finding){.id = name}) != (said && said < end))
            fail_msg("'%s' is blamed on somebody else than docs/outcomes.md does", name);
    }
    assert_true(rows > 20);
}

/* A child's end is no end of the container, and its moment is the finding's. */
static void a_childs_kill(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = add_full(&m, "flask/80m", OUTCOME_DEGRADED, 1);
    t->app.oom_kills = 2;
    t->findings = arena_array(m.sweep.arena, struct finding, 1);
    t->findings[0] = (struct finding){"oom-child", "app", 1700, 2, "not its main process"};
    t->finding_count = 1;
    CLEANUP_FREE char *text = squeezed(rendered(&m, &(struct report_options){0}, REPORT_TABLE));
    assert_has(text, "flask/80m #1 app 1.70 s child killed for memory (2)");
    assert_has(text, "\n not its main process\n");
}

/* Numbers of any size, in any order, a hundred thousand of them. */
static void hostile_records(void **state)
{
    enum { MANY = 100000 };
    static const double odd[] = {NAN, -1e300, 1e300, 0, 1e15, -5, 6000, 3};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = add_full(&m, "flask/80m", OUTCOME_CRASHED, 1);
    struct container_exit *exits = add_exits(&m, t, MANY);
    struct container_life *lives = add_lives(&m, t, MANY);
    for (size_t i = 0; i < MANY; i++) {
        exits[i] =
            (struct container_exit){odd[i % 8] + (double)i, (int)i - 50, i % 2, i % 3 ? "oom" : NULL, NULL};
        lives[i] = (struct container_life){odd[i % 8], odd[(i + 3) % 8], odd[(i + 5) % 8], odd[(i + 1) % 8],
                                           odd[(i + 2) % 8]};
    }
    t->app.silences = arena_array(m.sweep.arena, struct container_silence, 8);
    for (size_t i = 0; i < 8; i++)
        t->app.silences[i] = (struct container_silence){odd[i], odd[(i + 1) % 8]};
    t->app.silence_count = 8;
    t->app.restarts = t->app.oom_kills = 1e300;
    for (int f = REPORT_TABLE; f <= REPORT_HTML; f++) {
        CLEANUP_FREE char *text = rendered(&m, &(struct report_options){.width = 80}, (enum report_format)f);
        assert_null(strstr(text, "nan"));
        assert_true(f == REPORT_JSON || strlen(text) < 1 << 20);
    }
}

static void what_a_mark_says(void **state)
{
    static const struct {
        struct container_exit exit;
        const char *mark;
    } cases[] = {
        {{0, 137, true, "oom", NULL}, "OOM"},
        {{0, 139, false, "crashed (SIGSEGV)", NULL}, "SIGSEGV"},
        {{0, 3, false, "java heap exhausted", NULL}, "Java heap"},
        {{0, 137, false, "host out of memory", NULL}, "host OOM"},
        {{0, 137, false, "killed by somebody else (signal 9)", NULL}, "killed"},
        {{0, 143, false, "stopped by benchctl", NULL}, "benchctl"},
        {{0, 137, false, "sigkill, cause unknown (no oom event)", NULL}, "signal 9"},
        {{0, 7, false, "exit 7", NULL}, "exit 7"},
        {{0, 1, false, NULL, NULL}, "exit 1"},
    };
    char text[32];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(death_mark(&cases[i].exit, text), cases[i].mark);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_over_time),
        cmocka_unit_test(short_failures_are_not_lost),
        cmocka_unit_test(deaths_and_what_followed),
        cmocka_unit_test(table_of_failures),
        cmocka_unit_test(a_service_that_died),
        cmocka_unit_test(not_beside_chosen_figures),
        cmocka_unit_test(nothing_failed),
        cmocka_unit_test(loops_are_folded),
        cmocka_unit_test(few_are_not_folded),
        cmocka_unit_test(silence_and_what_was_found),
        cmocka_unit_test(a_childs_kill),
        cmocka_unit_test(whose_doing),
        cmocka_unit_test(hostile_records),
        cmocka_unit_test(what_a_mark_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
