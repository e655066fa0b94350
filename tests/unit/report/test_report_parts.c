/* SPDX-License-Identifier: MIT */
/* Phases and kinds of request, models that differ, and loads that took longer than planned. */
#include "make_sweep.h"
#include "report_internal.h"

static const char *const axes[] = {"memory", NULL};

static const char mixed_phases[] =
    "[{\"name\":\"warm\",\"model\":\"closed\",\"warmup\":true,\"begin_ms\":0,\"duration_ms\":2000,"
    "\"planned\":100,\"goodput_rps\":77,\"error_rate\":0,\"latency_ms\":{\"p50\":1,\"p99\":2}},"
    "{\"name\":\"ramp\",\"model\":\"closed\",\"warmup\":false,\"begin_ms\":2000,\"duration_ms\":6000,"
    "\"planned\":2400,\"goodput_rps\":417,\"error_rate\":0.25,\"latency_ms\":{\"p50\":48,\"p99\":60}},"
    "{\"name\":\"steady.rate\",\"model\":\"open\",\"warmup\":false,\"begin_ms\":8000,\"duration_ms\":6300,"
    "\"planned\":300,\"rps\":49.5,\"goodput_rps\":49.25,\"error_rate\":0,\"rates\":{\"offered\":50},"
    "\"latency_ms\":{\"p50\":36,\"p99\":62},\"service_ms\":{\"p99\":61}}]";

static const char two_requests[] =
    "[{\"name\":\"list\",\"goodput_rps\":180,\"error_rate\":0,\"latency_ms\":{\"p50\":48,\"p99\":84}},"
    "{\"name\":\"<create>\",\"goodput_rps\":45,\"error_rate\":0,\"latency_ms\":{\"p50\":44,\"p99\":55}}]";

static struct trial *loaded(struct maker *m, const char *scenario, const char *model, const char *corrected)
{
    struct trial *t = add(m, scenario, OUTCOME_OK, 234);

    t->load.generator = "builtin";
    t->load.model = model;
    t->load.corrected = corrected;
    t->load.latency_ms.p99 = 83;
    t->app.memory_bytes.used_peak = 13e6;
    return t;
}

static struct trial *mixed(struct maker *m, const char *scenario)
{
    struct trial *t = loaded(m, scenario, "mixed", "no");

    t->load.phases = mixed_phases;
    t->load.by_request = two_requests;
    return t;
}

/* One open phase of 500 requests a second in 20 s, whose last answer came `late_ms` after. */
static struct trial *open_load(struct maker *m, const char *scenario, double late_ms)
{
    struct trial *t = loaded(m, scenario, "open", "yes");

    t->load.phases =
        arena_printf(m->sweep.arena,
                     "[{\"name\":\"steady\",\"model\":\"open\",\"begin_ms\":0,\"duration_ms\":%.0f,"
                     "\"planned\":10000,\"rates\":{\"offered\":500},\"latency_ms\":{\"p90\":7}}]",
                     20000 + late_ms);
    return t;
}

static void phases_have_a_table(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    mixed(&m, "64m");
    mixed(&m, "256m");
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text, "\nPhases\n");
    assert_has(text, "64m     warm (warm-up)  closed  77.0          –      0%  1.00  2.00            –\n");
    assert_has(text, "64m     ramp            closed   417          –   25.0%  48.0  60.0            –\n");
    assert_has(text, "64m     steady.rate     open    49.2       50.0      0%  36.0  62.0         61.0\n");
    assert_has(text, "Warm-up phases are in no other table.\n");
    assert_has(text, "\nRequests\n");
    assert_has(text, "256m    <create>  45.0");
    assert_has(text, "mixed: see Phases");
    CLEANUP_FREE char *page = rendered(&m, &(struct report_options){0}, REPORT_MARKDOWN);
    assert_has(page, "\n## Phases\n\n| memory | phase | model | ok/s | offered/s | errors |");
    CLEANUP_FREE char *html = rendered(&m, &(struct report_options){0}, REPORT_HTML);
    assert_has(html, "&lt;create&gt;");
    assert_null(strstr(html, "<create>"));
}

/* What a whole of two models has for p99 is drawn beside nothing: its phases are. */
static void mixed_loads_are_drawn_by_phase(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    mixed(&m, "64m");
    mixed(&m, "256m");
    CLEANUP_FREE char *html = rendered(&m, &(struct report_options){0}, REPORT_HTML);
    assert_null(strstr(html, "<h3>99th percentile"));
    assert_null(strstr(html, "<h3>Successful"));
    assert_has(html, "<h3>ramp: 99th percentile of latency in ms</h3>");
    assert_has(html, "<h3>steady.rate: successful requests per second</h3>");
    assert_null(strstr(html, "<h3>warm:"));
    assert_has(html, "<h3>Peak of used memory");
    assert_has(html, "<p>ramp (closed): ok/s 417 · errors 25.0% · p50 48.0 ms · p99 60.0 ms</p>");
    assert_has(html, "<p>warm (warm-up, closed): ok/s 77.0");
}

static void one_phase_is_the_load_itself(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    open_load(&m, "64m", 100);
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_null(strstr(text, "Phases"));
    assert_null(strstr(text, "model  "));
    assert_has(text, "offered/s");
    assert_null(strstr(text, "until the last answer"));
}

static void a_long_end_is_told(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    open_load(&m, "64m", 390);
    open_load(&m, "80m", 420);
    open_load(&m, "80m", 1960);
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text, "later than the load was planned to end: 80m #2 1.96 s after 20.00 s (10 %).\n");
    assert_null(strstr(text, "64m #1"));
}

/* Phases of VUs do not say how long they were to last: the matrix does. */
static void the_matrix_knows_the_end(void **state)
{
    static const char plan[] =
        "{\"axes\":[\"memory\"],\"scenarios\":["
        "{\"id\":\"a\",\"axes\":{\"memory\":\"a\"},\"settings\":{\"load\":{\"duration\":\"1s\"}}},"
        "{\"id\":\"b\",\"axes\":{\"memory\":\"b\"},\"settings\":{\"load\":{\"phases\":[{\"name\":\"p\","
        "\"stages\":"
        "[{\"duration\":\"1s\"},{\"duration\":\"2s\"}]}]}}},"
        "{\"id\":\"c\",\"axes\":{\"memory\":\"c\"},\"settings\":{\"load\":{\"duration\":\"x\"}}},"
        "{\"id\":\"d\",\"axes\":{\"memory\":\"d\"},\"settings\":{\"load\":{\"duration\":\"1s\","
        "\"iterations\":5}}}]}";
    static const char *const names[] = {"a", "b", "c", "d"};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, plan);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        loaded(&m, names[i], "closed", "no")->load.phases =
            "[{\"name\":\"p\",\"model\":\"closed\",\"begin_ms\":0,\"duration_ms\":3150,\"planned\":2}]";
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text, "end: a #1 2.15 s after 1.00 s (215 %); b #1 0.15 s after 3.00 s (5 %).\n");
}

static void figures_of_parts_can_be_asked_for(void **state)
{
    static const char *const figures[] = {"phases.steady.rate.rps", "phases.ramp.p99", "requests.list.p50",
                                          "phases.ramp.latency_ms.p99"};
    static const char *const bad[] = {"phases.nope.rps", "phases.ramp.nope", "requests.list", "phases."};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    mixed(&m, "64m");
    const struct report_options o = {.figures = figures, .figure_count = ARRAY_LEN(figures)};
    CLEANUP_FREE char *text = rendered(&m, &o, REPORT_TABLE);
    assert_has(text, "memory  n  outcome  model  steady.rate rps  ramp p99  list p50\n");
    assert_has(text, "64m     1  ok       mixed             49.5      60.0      48.0\n");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_refused(&m, &(struct report_options){.figures = &bad[i], .figure_count = 1},
                       "there is no figure");
    maker_release(&m);
    maker_begin(&m, axes, NULL, NULL); /* of a load with one phase, too */
    open_load(&m, "64m", 0);
    static const char *const one[] = {"phases.steady.p90", "p99.9"};
    m.trials.items[0].load.latency_ms.p999 = 99;
    CLEANUP_FREE char *single =
        rendered(&m, &(struct report_options){.figures = one, .figure_count = 2}, REPORT_TABLE);
    assert_has(single, "64m     1  ok             7.00   99.0\n");
}

static void models_are_kept_apart(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    loaded(&m, "a", "closed", "no");
    loaded(&m, "b", "closed", "no");
    for (int i = 0; i < 6; i++)
        loaded(&m, arena_printf(m.sweep.arena, "o%d", i), "open", "yes");
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_has(text,
               "load: builtin, closed model, latency not corrected for coordinated omission (2 scenarios: "
               "a, b)\n");
    assert_has(text, "(6 scenarios: o0, o1, o2, o3 and 2 more)\n");
    assert_has(text, "memory  n  outcome  model                  ok/s");
    assert_has(text, "a       1  ok       closed, not corrected   234");
    CLEANUP_FREE char *html = rendered(&m, &(struct report_options){0}, REPORT_HTML);
    assert_has(html, "<h3>99th percentile of latency in ms <small>(closed, not corrected)</small></h3>");
    assert_has(html, "<h3>99th percentile of latency in ms <small>(open, corrected)</small></h3>");
    const char *const by[] = {"goodput_rps", "used_peak"};
    CLEANUP_FREE char *columns = rendered(
        &m, &(struct report_options){.cols = "memory", .figures = by, .figure_count = 2}, REPORT_TABLE);
    assert_has(columns, "234 (closed, not corrected)");
    assert_null(strstr(columns, "12.4 (")); /* memory is what it is */
}

static void json_has_the_parts(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    mixed(&m, "64m");
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_JSON);
    CLEANUP(json_free) struct json *j = parsed(text);
    const struct json *steady = json_pointer(j, "/scenarios/0/phases/2");
    assert_string_equal(json_get_text(steady, "name"), "steady.rate");
    assert_string_equal(json_get_text(steady, "model"), "open");
    assert_true(json_number(json_pointer(steady, "/figures/latency_ms.p99/median")) == 62);
    assert_string_equal(json_text(json_pointer(j, "/scenarios/0/requests/1/name")), "<create>");
    CLEANUP_FREE char *csv = rendered(&m, &(struct report_options){0}, REPORT_CSV);
    assert_has(csv, ",phases.steady.rate.goodput_rps,");
}

static void hostile_parts(void **state)
{
    static const char *const bad[] = {
        "",
        "{",
        "null",
        "7",
        "[]",
        "[1,null,[],{}]",
        "{\"name\":\"x\"}",
        "[{\"name\":7,\"model\":[],\"begin_ms\":\"x\"},{\"name\":\"\",\"duration_ms\":1e308,\"begin_ms\":"
        "1e308}]",
        "[{\"name\":\"a\",\"rates\":{\"offered\":1e-300},\"planned\":1e300,\"begin_ms\":-5,\"duration_ms\":1}"
        ","
        "{\"name\":\"a\",\"rates\":7,\"latency_ms\":{\"p99\":{}},\"goodput_rps\":1e999}]",
        "[{\"name\":\"\\u001b[2J\",\"goodput_rps\":1},{\"name\":\"\\u202e.\",\"goodput_rps\":2}]"};
    CLEANUP_VALUE(maker_release) struct maker m;
    CLEANUP_VALUE(strbuf_release) struct strbuf many = STRBUF_INIT;

    (void)state;
    for (int i = 0; i < 500; i++)
        strbuf_addf(&many, "%s{\"name\":\"n%d\",\"goodput_rps\":1}", i ? "," : "[", i);
    strbuf_addc(&many, ']');
    maker_begin(&m, axes, NULL, NULL);
    for (size_t i = 0; i <= ARRAY_LEN(bad); i++) {
        struct trial *t = loaded(&m, i & 1 ? "x" : "y", i & 2 ? "mixed" : "open", "no");
        t->load.phases = t->load.by_request = i < ARRAY_LEN(bad) ? bad[i] : strbuf_text(&many);
        t->load.window_ms = 1000;
    }
    for (int f = REPORT_TABLE; f <= REPORT_HTML; f++) {
        CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, (enum report_format)f);
        assert_true(f == REPORT_JSON || !strstr(text, "\033"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_have_a_table),
        cmocka_unit_test(mixed_loads_are_drawn_by_phase),
        cmocka_unit_test(one_phase_is_the_load_itself),
        cmocka_unit_test(a_long_end_is_told),
        cmocka_unit_test(the_matrix_knows_the_end),
        cmocka_unit_test(figures_of_parts_can_be_asked_for),
        cmocka_unit_test(models_are_kept_apart),
        cmocka_unit_test(json_has_the_parts),
        cmocka_unit_test(hostile_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
