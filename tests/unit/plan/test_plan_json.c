/* SPDX-License-Identifier: MIT */
/* plan.json, the estimate of a sweep, and what includes with fields of their own become. */
#include "written.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "benchctl/base/clock.h"

#define HEAD "benchctl: 1\nname: lab\ntitle: A title\n"
#define TAIL                                                                                                 \
    "app: {image: \"lab:${runtime.tag}\", memory: \"${memory}\", port: 8080, ready: {tcp: true}, env: "      \
    "{A_TOKEN: "                                                                                             \
    "tulip, NOTE: \"${note}\"}}\nvars: {note: plain}\n"                                                      \
    "load: {adapter: idle, duration: 2s}\norder: {mode: random, seed: 5}\ntrials: 2\n"

static const char *const lab =
    HEAD "axes: {runtime: [{name: jvm, tag: jdk}, {name: native, tag: bare}], memory: [128m, 256m]}\n"
         "exclude: [{runtime: jvm, memory: 128m}]\n"
         "include:\n"
         "  - {runtime: {name: loom, tag: jdk-loom}, memory: 128m}\n"
         "  - {runtime: native, memory: 64m}\n"
         "overrides:\n"
         "  - {when: {runtime: loom}, set: {cooldown: 9s}}\n"
         "  - {when: {memory: 64m}, set: {load: {duration: 8s}}}\n" TAIL;

static struct json *json_of(const struct plan *p, bool with_settings)
{
    CLEANUP_CLOSE int fd = memfd_create("plan", MFD_CLOEXEC);
    CLEANUP_FREE char *path = xasprintf("/proc/self/fd/%d", fd);
    struct json *j = NULL;
    struct error err = ERROR_INIT;

    assert_true(fd >= 0);
    if (plan_write_json(p, fd, with_settings, &err) < 0 || json_read_file(path, 1 << 20, &j, &err) < 0)
        fail_msg("%s", err.message);
    return j;
}

static void the_document_is_whole(void **state)
{
    (void)state;
    CLEANUP_VALUE(written_release) struct written w = written_plan(lab, "/lab/m.yaml");
    CLEANUP(json_free) struct json *j = json_of(w.p, true);
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct json *scenarios = json_get(j, "scenarios"), *order = json_get(j, "order");
    double sum_ms = 0;

    assert_string_equal(json_get_text(j, "name"), "lab");
    assert_string_equal(json_get_text(j, "mode"), "random");
    assert_int_equal(json_get_int(j, "seed"), 5);
    assert_int_equal(json_get_int(json_get(j, "counts"), "excluded"), 1);
    assert_int_equal(json_len(scenarios), 5);
    assert_int_equal(json_len(order), 10);
    for (size_t i = 0; i < json_len(scenarios); i++) {
        struct scenario s;
        struct resolved r;
        const struct json *line = json_at(scenarios, i);
        plan_scenario(w.p, i, a, &s);
        written_resolve(&w, i, a, &r);
        assert_string_equal(json_get_text(line, "id"), s.id);
        assert_string_equal(json_get_text(line, "digest"), r.digest);
        assert_string_equal(json_get_text(json_get(line, "axes"), "memory"), s.values[1]->text);
        assert_int_equal(json_get_int(json_pointer(line, "/settings/app"), "memory"),
                         r.settings.app.memory_bytes);
        assert_string_equal(json_text(json_pointer(line, "/settings/app/env/A_TOKEN")), "***");
        sum_ms += json_get_number(line, "estimate_ms");
    }
    assert_true(json_get_number(j, "estimate_ms") == 2 * sum_ms);
    for (size_t k = 0; k < json_len(order); k++) {
        struct planned_trial t = plan_trial(w.p, k);
        assert_string_equal(json_get_text(json_at(order, k), "scenario"),
                            json_get_text(json_at(scenarios, t.scenario), "id"));
        assert_int_equal(json_get_int(json_at(order, k), "trial"), t.trial);
    }
}

/* What stands under a key that looks secret is hidden wherever it was filled in; the rest stays. */
static void secrets_are_hidden_everywhere(void **state)
{
    static const char *const hidden[] = {"tulip-1", "daisy-2", "poppy-3", "heather-5"};
    static const char text[] = HEAD
        "axes: {runtime: [{name: jvm, api_token: daisy-2}]}\n"
        "include: [{runtime: {name: loom, api_token: daisy-22}, login_password: poppy-3}]\n"
        "vars: {my_secret: tulip-1, short_secret: ivy, no_secret: 'true', plain: rose}\n"
        "app: {image: i, port: 1, ready: {tcp: true}, command: ['${my_secret}', 'x-${runtime.api_token}'],\n"
        "  env: {A: '${plain} ${my_secret}!', B: 'true', DB_PASSWORD: heather-5, C: 'a heather-5'}}\n"
        "overrides: [{when: {runtime: loom}, set: {app: {env: {D: '<${login_password}>'}}}}]\n"
        "load: {adapter: idle, duration: 2s}\n";
    CLEANUP_VALUE(written_release) struct written w = written_plan(text, "/lab/m.yaml");
    CLEANUP(json_free) struct json *j = json_of(w.p, true);
    CLEANUP_VALUE(strbuf_release) struct strbuf all = STRBUF_INIT;

    (void)state;
    json_write(j, JSON_STYLE_COMPACT, &all);
    for (size_t i = 0; i < ARRAY_LEN(hidden); i++) {
        if (strstr(strbuf_text(&all), hidden[i]))
            fail_msg("'%s' is in %s", hidden[i], strbuf_text(&all));
    }
    assert_string_equal(json_text(json_pointer(j, "/scenarios/0/settings/app/command/0")), "***");
    assert_string_equal(json_text(json_pointer(j, "/scenarios/0/settings/app/command/1")), "x-***");
    assert_string_equal(json_text(json_pointer(j, "/scenarios/1/settings/app/command/1")), "x-***");
    assert_string_equal(json_text(json_pointer(j, "/scenarios/0/settings/app/env/A")), "rose ***!");
    assert_string_equal(json_text(json_pointer(j, "/scenarios/0/settings/app/env/B")), "true");
    assert_string_equal(json_text(json_pointer(j, "/scenarios/0/settings/app/env/C")), "a ***");
    assert_string_equal(json_text(json_pointer(j, "/scenarios/1/settings/app/env/D")), "<***>");
    assert_string_equal(json_text(json_pointer(j, "/scenarios/0/axes/runtime")), "jvm");
}

static void settings_can_be_left_out(void **state)
{
    (void)state;
    CLEANUP_VALUE(written_release) struct written w = written_plan(lab, "/lab/m.yaml");
    CLEANUP(json_free) struct json *j = json_of(w.p, false);
    assert_null(json_pointer(j, "/scenarios/0/settings"));
    assert_non_null(json_pointer(j, "/scenarios/0/digest"));
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    CLEANUP_VALUE(written_release) struct written w = written_plan(lab, "/lab/m.yaml");
    CLEANUP_CLOSE int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    struct error err = ERROR_INIT;
    if (fd < 0)
        skip();
    assert_int_equal(plan_write_json(w.p, fd, true, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
}

/* Values that only includes bring can be named by rules, and have fields of their own. */
static void included_values_are_values(void **state)
{
    (void)state;
    CLEANUP_VALUE(written_release) struct written w = written_plan(lab, "/lab/m.yaml");
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct resolved r;
    size_t index;
    assert_int_equal(plan_find(w.p, "loom/128m", &index), 0);
    written_resolve(&w, index, a, &r);
    assert_string_equal(r.settings.app.image, "lab:jdk-loom");
    assert_true(r.settings.cooldown.time_ns == 9 * NS_PER_S);
    assert_int_equal(plan_find(w.p, "native/64m", &index), 0);
    written_resolve(&w, index, a, &r);
    assert_string_equal(r.settings.app.image, "lab:bare");
    assert_true(r.settings.load.duration_ns == 8 * NS_PER_S);
    assert_int_equal(plan_find(w.p, "native/128m", &index), 0);
    written_resolve(&w, index, a, &r);
    assert_true(r.settings.load.duration_ns == 2 * NS_PER_S);
}

static void include_variables_fill_in(void **state)
{
    (void)state;
    CLEANUP_VALUE(written_release)
    struct written w =
        written_plan("benchctl: 1\nname: x\naxes: {memory: [128m]}\n"
                     "include: [{memory: 64m, hello: there}]\n"
                     "overrides: [{when: {memory: 64m}, set: {app: {env: {H: \"${hello}\"}}}}]\n"
                     "app: {image: \"a:1\", port: 1, ready: {tcp: true}}\n"
                     "load: {adapter: idle, duration: 1s}\n",
                     "/lab/m.yaml");
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct resolved r;
    written_resolve(&w, 1, a, &r);
    assert_string_equal(text_map_get(&r.settings.app.env, "H"), "there");
}

static void fields_must_agree(void **state)
{
    (void)state;
    CLEANUP_VALUE(written_release) struct written w = {0};
    struct error err = ERROR_INIT;
    const char *yaml = HEAD "axes: {runtime: [{name: jvm, tag: jdk}], memory: [128m]}\n"
                            "include:\n  - {runtime: {name: jvm, tag: other}, memory: 64m}\n"
                            "app: {image: \"lab:${runtime.tag}\", port: 1, ready: {tcp: true}}\nload: "
                            "{adapter: idle, duration: 1s}\n";
    assert_int_equal(written_try(yaml, "m.yaml", &w, &err), -1);
    assert_has(err.message, "m.yaml:6:15: value 'jvm' of axis 'runtime' has other fields here");
}

static void an_exclude_for_an_included_value(void **state)
{
    (void)state;
    CLEANUP_VALUE(written_release) struct written w = {0};
    struct error err = ERROR_INIT;
    const char *yaml =
        HEAD "axes: {memory: [128m]}\nexclude: [{memory: 64m}]\ninclude: [{memory: 64m}]\n"
             "app: {image: \"a:1\", port: 1, ready: {tcp: true}}\nload: {adapter: idle, duration: 1s}\n";
    assert_int_equal(written_try(yaml, "m.yaml", &w, &err), -1);
    assert_has(err.message, "m.yaml:6:11: this include is dropped by the exclude at m.yaml:5:11");
}

/* A problem that only one combination has names it, and the position stays in front. */
static void problems_name_the_scenario(void **state)
{
    (void)state;
    CLEANUP_VALUE(written_release)
    struct written w =
        written_plan(HEAD "axes: {memory: [128m, much]}\n"
                          "app: {image: \"a:1\", memory: \"${memory}\", port: 1, ready: {tcp: true}}\n"
                          "load: {adapter: idle, duration: 1s}\n",
                     "m.yaml");
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct resolved r;
    struct error err = ERROR_INIT;
    assert_int_equal(plan_resolve(w.p, 0, a, &r, &err), 0);
    assert_int_equal(plan_resolve(w.p, 1, a, &r, &err), -1);
    assert_int_equal(strncmp(err.message, "m.yaml:", 7), 0);
    assert_has(err.hint, "in scenario 'much'");
}

static void totals_are_extrapolated(void **state)
{
    (void)state;
    CLEANUP_VALUE(written_release) struct written w = written_plan(lab, "/lab/m.yaml");
    struct error err = ERROR_INIT;
    int64_t whole_ns, part_ns;
    size_t looked_at;
    assert_int_equal(plan_estimate_total_ns(w.p, 100, &whole_ns, &looked_at, &err), 0);
    assert_int_equal(looked_at, 5);
    assert_int_equal(plan_estimate_total_ns(w.p, 2, &part_ns, &looked_at, &err), 0);
    assert_int_equal(looked_at, 2);
    assert_true(part_ns > whole_ns / 4 && part_ns < whole_ns * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_document_is_whole),      cmocka_unit_test(secrets_are_hidden_everywhere),
        cmocka_unit_test(settings_can_be_left_out),   cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(included_values_are_values), cmocka_unit_test(include_variables_fill_in),
        cmocka_unit_test(fields_must_agree),          cmocka_unit_test(an_exclude_for_an_included_value),
        cmocka_unit_test(problems_name_the_scenario), cmocka_unit_test(totals_are_extrapolated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
