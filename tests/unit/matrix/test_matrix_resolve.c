/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#define AXES                                                                                                 \
    "axes:\n  framework: [micronaut, quarkus]\n  runtime: [{name: native, tag: n1, env: {A: 1}, deep: {er: " \
    "x}, none: ~}, {name: jvm, tag: j1}]\n"                                                                  \
    "  memory: [128m, unlimited]\n"

static const struct matrix *matrix_of(const char *text, struct matrix **owner)
{
    struct strbuf all = STRBUF_INIT;

    strbuf_addf(&all, HEAD AXES "%s", text);
    *owner = read_matrix(strbuf_text(&all));
    strbuf_release(&all);
    return *owner;
}

/* The app's image after filling in; the first values of all axes. */
static void image_is(const char *image, const char *wanted)
{
    CLEANUP(matrix_free) struct matrix *owner = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new();
    char text[600];

    (void)snprintf(text, sizeof(text), "vars: {p: space, q: '${p}/x'}\napp: {image: '%s', port: 80}\n" LOAD,
                   image);
    assert_string_equal(resolve_ok(matrix_of(text, &owner), NULL, 0, a).app.image, wanted);
}

static void image_refused(const char *image, const char *message, const char *hint)
{
    CLEANUP(matrix_free) struct matrix *owner = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct error err = ERROR_INIT;
    struct settings s;
    char text[600];

    (void)snprintf(text, sizeof(text),
                   "vars: {prefix: space}\napp: {image: '%s'}\n" LOAD
                   "services: {mock: {image: m, port: 1}, q: {image: m}}\n",
                   image);
    if (resolve(matrix_of(text, &owner), NULL, 0, a, &s, NULL, &err) == 0)
        fail_msg("'%s' was accepted", image);
    assert_has(err.message, "m.yaml:8:14: ");
    assert_has(err.message, message);
    assert_has(err.hint, hint);
}

static void names(void **state)
{
    (void)state;
    assert_int_equal(setenv("BENCHCTL_TEST_TAG", "v${7}", 1), 0);
    assert_int_equal(unsetenv("BENCHCTL_TEST_Y"), 0);
    image_is("${p}/${framework}-${memory}:${runtime.tag}", "space/micronaut-128m:n1");
    image_is("${q}:${runtime}", "space/x:native");
    image_is("i:${runtime.deep.er}", "i:x");
    image_is("i:${env:BENCHCTL_TEST_TAG}", "i:v$${7}");
    image_is("i:${env:BENCHCTL_TEST_Y:-latest}", "i:latest");
    image_is("i:${secret:TAG}-${app.host}", "i:${secret:TAG}-${app.host}");
    image_is("i:$${framework}", "i:$${framework}");
    image_refused("${frmework}", "unresolved '${frmework}'", "did you mean '${framework}'?");
    image_refused("${runtime.tga}", "unresolved '${runtime.tga}'", "did you mean '${runtime.tag}'?");
    image_refused("${prefx}", "unresolved", "did you mean '${prefix}'?");
    image_refused("${app.hots}", "unresolved", "did you mean '${app.host}'?");
    image_refused("${mock.prot}", "unresolved", "did you mean '${mock.port}'?");
    image_refused("${nothing.like.it}", "unresolved '${nothing.like.it}'", "known are axes");
    image_refused("${load.ok}", "unresolved '${load.ok}'", "");
    image_refused("${app.name}", "unresolved '${app.name}'", "");
    image_refused("${env:BENCHCTL_TEST_Y}", "environment variable 'BENCHCTL_TEST_Y' is not set",
                  "${env:BENCHCTL_TEST_Y:-VALUE}");
    image_refused("x${runtime.env}", "'${runtime.env}' is a map and cannot be a part of a text", "");
    image_refused("${runtime.none}", "'${runtime.none}' has no value", "");
    image_refused("${", "has no closing brace", "$${");
    image_refused("${a b}", "is not a reference", "");
    image_refused("${database.host}", "this scenario has no database section", "");
    image_refused("${app.port}", "'app' has no 'port'", "port: 8080");
    image_refused("${q.url}", "'q' has no 'port'", "");
}

static void whole_structures(void **state)
{
    CLEANUP(matrix_free) struct matrix *owner = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct matrix *m = matrix_of("app: {image: i, env: '${runtime.env}'}\n" LOAD, &owner);
    struct settings s = resolve_ok(m, NULL, 0, a);
    const size_t jvm[] = {0, 1, 0};
    struct error err = ERROR_INIT;

    (void)state;
    assert_string_equal(text_map_get(&s.app.env, "A"), "1");
    assert_int_equal(resolve(m, jvm, 0, a, &s, NULL, &err), -1);
    assert_has(err.message, "unresolved '${runtime.env}'");
}

static void typed_after_filling_in(void **state)
{
    CLEANUP(matrix_free) struct matrix *owner = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct matrix *m = matrix_of("vars: {n: 7, yes: 'true', ready: \"/r\"}\n"
                                       "app: {image: i, port: '${n}', memory: '${memory}', ready: {http: "
                                       "'${ready}'}, init: '${yes}'}\n" LOAD,
                                       &owner);
    const size_t unlimited[] = {1, 1, 1};
    struct settings s = resolve_ok(m, NULL, 0, a);

    (void)state;
    assert_true(s.app.port == 7 && s.app.memory_bytes == 128 << 20 && s.app.init);
    assert_string_equal(s.app.ready->http, "/r");
    assert_int_equal(resolve_ok(m, unlimited, 0, a).app.memory_bytes, SIZE_UNLIMITED);
}

static void errors_point_at_what_was_written(void **state)
{
    (void)state;
    settings_refused(HEAD "vars: {m: 256}\naxes: {a: [b]}\n" LOAD "app:\n  image: i\n  memory: ${m}\n",
                     "m.yaml:8:11: 'memory': size '256' has no unit", "256");
    settings_refused(HEAD REST
                     "axes: {a: [b]}\noverrides:\n  - when: {a: b}\n    set:\n      app: {memory: 5}\n",
                     "m.yaml:9:21: 'memory': size '5' has no unit", "");
}

static void overrides_merge_in_order(void **state)
{
    CLEANUP(matrix_free) struct matrix *owner = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct matrix *m = matrix_of(
        "app: {image: 'i:${framework}', port: 80, env: {A: 1, B: 2}, command: [a, b], ready: {http: /h}, "
        "memory: '${memory}'}\n" LOAD "overrides:\n"
        "  - {when: {framework: micronaut}, set: {app: {env: {B: 3, C: '${runtime.tag}'}, command: [c]}}}\n"
        "  - {when: {}, set: {app: {env: {B: 4}, ready: {http: ~, log: up}}, services: {s: {image: j}}, "
        "retry: 0}}\n"
        "  - {when: {}, set: {load: {duration: 1m, threads: 3}, app: {env: ~}}}\n",
        &owner);
    struct settings s = resolve_ok(m, NULL, 0, a);

    (void)state;
    assert_string_equal(text_map_get(&s.app.env, "B"), "2");
    assert_int_equal(s.services.len, 0);
    s = resolve_ok(m, NULL, 1, a);
    assert_string_equal(text_map_get(&s.app.env, "A"), "1");
    assert_string_equal(text_map_get(&s.app.env, "B"), "3");
    assert_string_equal(text_map_get(&s.app.env, "C"), "n1");
    assert_true(s.app.command.len == 1);
    assert_string_equal(s.app.ready->http, "/h");
    s = resolve_ok(m, NULL, 3, a);
    assert_string_equal(text_map_get(&s.app.env, "B"), "4");
    assert_true(s.services.len == 1 && s.retry == 0 && !s.app.ready->http);
    assert_string_equal(s.app.ready->log, "up");
    s = resolve_ok(m, NULL, 4, a);
    assert_int_equal(s.app.env.len, 0);
    assert_string_equal(node_get(s.load.options, "threads")->text, "3");
}

static void include_variables(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m =
        read_matrix(HEAD "vars: {rate: 1, host: h}\naxes: {a: [x, y], z: [w]}\ninclude: [{a: {name: n, f: "
                         "g}, z: w, rate: 500, only: '${host}-${app.host}'}]\n" APP
                         "load: {adapter: wrk, duration: 1s, rate: '${rate}', a: '${a}'}\noverrides: [{set: "
                         "{load: {only: '${only}', f: '${a.f}'}}}]\n");
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct include_rule *rule = &m->includes[0];
    const struct axis_value value = {.text = rule->values[0], .fields = node_get(rule->item, "a")};
    const struct axis_value *values[] = {&value, &m->axes[1].values[0]};
    const bool applies = true;
    const struct matrix_combination c = {.values = values, .extra = rule->extra, .overrides = &applies};
    struct settings s;
    struct error err = ERROR_INIT;

    (void)state;
    if (matrix_resolve(m, &c, a, &s, NULL, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(node_get(s.load.options, "rate")->text, "500");
    assert_string_equal(node_get(s.load.options, "a")->text, "n");
    assert_string_equal(node_get(s.load.options, "only")->text, "h-${app.host}");
    assert_string_equal(node_get(s.load.options, "f")->text, "g");
    assert_int_equal(resolve(m, NULL, 0, a, &s, NULL, &err), 0);
    assert_string_equal(node_get(s.load.options, "rate")->text, "1");
    assert_int_equal(resolve(m, NULL, 1, a, &s, NULL, &err), -1); /* no include brings it here */
    assert_has(err.message, "unresolved '${only}'");
}

static void numbers_in_checks(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m =
        read_matrix(HEAD REST "services: {mock: {image: i}}\ndatabase: {url: 'postgres://h/'}\nchecks: "
                              "[{name: a, sql: 'select ${load.ok} - ${mock.restarts} "
                              "+ ${startup_ms} - ${database.rollbacks} + ${metrics.x.max}', expect: '== "
                              "0'}, {name: b, value: '${floor.p50_ms} - ${scrapes.count} + ${attempt}'}]\n"
                              "expect: ['load.ok >= ${load.requests}']\n");
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct check_settings *c = resolve_ok(m, NULL, 0, a).checks.items;

    (void)state;
    assert_has(c[0].sql, "${load.ok} - ${mock.restarts} + ${startup_ms}");
    assert_string_equal(c[1].value, "${floor.p50_ms} - ${scrapes.count} + ${attempt}");
    settings_refused(HEAD REST
                     "database: {url: 'postgres://h/'}\nchecks: [{name: a, sql: 'select ${laod.ok}'}]",
                     "unresolved '${laod.ok}'", "");
    settings_refused(HEAD "app: {image: i, env: {A: '${load.ok}'}}\n" LOAD, "unresolved '${load.ok}'", "");
}

static void an_axis_may_be_called_load(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(HEAD "axes: {load: [{name: ramp, vus: 5}, {name: flat}], app: [q]}\n" APP
                                        "load: {adapter: wrk, duration: 1s, name: '${load}', vus: "
                                        "'${load.vus}', url: '${app.url}', a: '${app}'}\n");
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct settings s = resolve_ok(m, NULL, 0, a);

    (void)state;
    assert_string_equal(node_get(s.load.options, "name")->text, "ramp");
    assert_string_equal(node_get(s.load.options, "vus")->text, "5");
    assert_string_equal(node_get(s.load.options, "url")->text, "${app.url}");
    assert_string_equal(node_get(s.load.options, "a")->text, "q");
}

static void unchanged_parts_are_shared(void **state)
{
    CLEANUP(matrix_free) struct matrix *owner = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct matrix *m =
        matrix_of("app: {image: '${framework}', env: {A: 1}}\n" LOAD "x-free: '${nonsense}'\n", &owner);
    struct settings s;
    const struct node *tree = NULL;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(resolve(m, NULL, 0, a, &s, &tree, &err), 0);
    assert_ptr_equal(node_get(tree, "load"), node_get(m->base, "load"));
    assert_ptr_equal(node_get(node_get(tree, "app"), "env"), node_get(node_get(m->base, "app"), "env"));
    assert_string_equal(node_get(node_get(tree, "app"), "image")->text, "micronaut");
}

static void keys_cannot_refer(void **state)
{
    (void)state;
    settings_refused(HEAD "axes: {a: [b]}\napp: {image: i, env: {'${a}': x}}\n" LOAD,
                     "m.yaml:4:23: a key cannot hold a reference", "");
}

static void text_stays_bounded(void **state)
{
    struct strbuf text = STRBUF_INIT;

    (void)state;
    strbuf_adds(&text, HEAD "vars: {v: ");
    for (int i = 0; i < 1000; i++)
        strbuf_adds(&text, "0123456789");
    strbuf_adds(&text, "}\n" LOAD "app:\n  image: i\n  env:\n");
    for (int i = 0; i < 2000; i++)
        strbuf_addf(&text, "    A%d: ${v}\n", i);
    settings_refused(strbuf_text(&text), "more than 16 MiB of text", "");
    strbuf_release(&text);
}

static void fields_may_name_containers(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(
        HEAD "axes: {t: [{name: a, url: '${mock.url}/x', e: {U: '${app.url}'}}, b]}\nservices: {mock: "
             "{image: m, port: 1}}\n"
             "app: {image: i, port: 80, env: '${t.e}'}\nload: {adapter: wrk, duration: 1s, u: '${t.url}'}\n"
             "overrides: [{set: {app: {env: {V: x}}}}]\n");
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct settings s = resolve_ok(m, NULL, 1, a);

    (void)state;
    assert_string_equal(node_get(s.load.options, "u")->text, "${mock.url}/x");
    assert_string_equal(text_map_get(&s.app.env, "U"), "${app.url}");
    assert_string_equal(text_map_get(&s.app.env, "V"), "x");
    s = resolve_ok(m, NULL, 0, a);
    assert_string_equal(text_map_get(&s.app.env, "U"), "${app.url}");
}

static void every_key_at_once(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(fs_read(TESTS_DIR "/fuzz/corpus/matrix/everything.yaml", 100000, &text, &err), 0);
    CLEANUP(matrix_free) struct matrix *m = read_matrix(strbuf_text(&text));
    struct settings s = resolve_ok(m, NULL, 1, a);
    assert_string_equal(s.app.image, "i/a:1");
    assert_string_equal(text_map_get(&s.app.env, "K"), "v");
    assert_string_equal(text_map_get(&s.app.env, "ONE"), "1");
    assert_string_equal(s.app.ready->log, "up [0-9]+");
    assert_int_equal(s.services.len, 2);
    assert_true(s.app.memory_bytes == 64 << 20 && s.network == NETWORK_HOST && s.checks.len == 1 &&
                s.expect.len == 2);
    assert_true(m->include_count == 1 && m->exclude_count == 1 && m->zip.len == 1 && m->parity);
}

static int count_inputs(const char *path, void *data, struct error *err)
{
    struct strbuf *seen = data;

    (void)err;
    strbuf_addf(seen, "%s;", path);
    return 0;
}

static void named_files(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(
        HEAD
        "app: {image: i, build: {context: ctx}}\nservices: {s: {build: {context: /c, dockerfile: ../D}}}\n"
        "database: {service: {image: i}, schema: [a.sql, b.sql]}\nload: {adapter: wrk, "
        "duration: 1s, script: l.lua}\n");
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct settings s = resolve_ok(m, NULL, 0, a);
    struct strbuf seen = STRBUF_INIT;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(matrix_each_input(m, &s, count_inputs, &seen, &err), 0);
    assert_string_equal(strbuf_text(&seen), "/m/ctx;/c;/c/../D;/m/a.sql;/m/b.sql;/m/l.lua;");
    strbuf_release(&seen);
    assert_int_equal(matrix_check_files(m, &s, &err), -1);
    assert_has(err.message, "m.yaml:3:6: 'context': no directory '/m/ctx'");
}

static void files_of_a_workload(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m =
        read_matrix(HEAD "app: {image: i, port: 80}\nload: {adapter: builtin, duration: 1s, data: d.csv, "
                         "ca_file: /c.pem,\n  requests: [{path: /, method: POST, body_file: b.json}]}\n");
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct settings s = resolve_ok(m, NULL, 0, a);
    CLEANUP_VALUE(strbuf_release) struct strbuf seen = STRBUF_INIT;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(matrix_each_input(m, &s, count_inputs, &seen, &err), 0);
    assert_string_equal(strbuf_text(&seen), "/m/d.csv;/c.pem;/m/b.json;");
    assert_int_equal(matrix_check_files(m, &s, &err), -1);
    assert_has(err.message, "'data': no file '/m/d.csv'");
}

/* What the generator is given is the section without the conductor's own keys. */
static void the_tree_of_a_workload(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(
        HEAD
        "app: {image: i, port: 80}\nload: {adapter: builtin, vus: 3, duration: 1s, timeout: 9s, cpuset: "
        "'0', x-note: y,\n  request_timeout: 2s, warmup: {duration: 1s}, target: '${app.url}', raw: true}\n");
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct node *tree;
    struct settings s;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(resolve(m, NULL, 0, a, &s, &tree, &err), 0);
    const struct node *w = matrix_workload_tree(node_get(tree, "load"), a);
    assert_int_equal(w->len, 4);
    assert_string_equal(node_get(w, "vus")->text, "3");
    assert_string_equal(node_get(w, "timeout")->text, "2s");
    assert_string_equal(node_get(w, "target")->text, "${app.url}");
    assert_non_null(node_get(w, "duration"));
    assert_non_null(s.load.workload);
    assert_true(s.load.workload->timeout_ns == INT64_C(2000000000));
    assert_true(s.load.timeout_ns == INT64_C(9000000000));
    assert_int_equal(s.load.workload->phases.len, 1);
}

static void files_that_are_there(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct error err = ERROR_INIT;
    char text[1000];

    (void)state;
    (void)snprintf(text, sizeof(text),
                   HEAD "app: {build: {context: %s/unit, dockerfile: check.h}}\nload: {adapter: wrk, "
                        "duration: 1s, script: %s/%%s}\n",
                   TESTS_DIR, TESTS_DIR);
    static const struct {
        const char *script, *message;
    } cases[] = {{"CMakeLists.txt", NULL},
                 {"unit", "a directory, not a file:"},
                 {"nope.lua", "'script': no file"},
                 {"../../../../../../../../../../../../dev/zero", "'script': not a regular file:"},
                 {"CMakeLists.txt/x", "no file"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char whole[1200];
        char *mark = strstr(text, "%s");
        (void)snprintf(whole, sizeof(whole), "%.*s%s%s", (int)(mark - text), text, cases[i].script, mark + 2);
        CLEANUP(matrix_free) struct matrix *m = read_matrix(whole);
        struct settings s = resolve_ok(m, NULL, 0, a);
        int result = matrix_check_files(m, &s, &err);
        assert_int_equal(result, cases[i].message ? -1 : 0);
        if (cases[i].message)
            assert_has(err.message, cases[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(whole_structures),
        cmocka_unit_test(typed_after_filling_in),
        cmocka_unit_test(errors_point_at_what_was_written),
        cmocka_unit_test(overrides_merge_in_order),
        cmocka_unit_test(include_variables),
        cmocka_unit_test(numbers_in_checks),
        cmocka_unit_test(an_axis_may_be_called_load),
        cmocka_unit_test(unchanged_parts_are_shared),
        cmocka_unit_test(keys_cannot_refer),
        cmocka_unit_test(text_stays_bounded),
        cmocka_unit_test(fields_may_name_containers),
        cmocka_unit_test(every_key_at_once),
        cmocka_unit_test(named_files),
        cmocka_unit_test(files_of_a_workload),
        cmocka_unit_test(the_tree_of_a_workload),
        cmocka_unit_test(files_that_are_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
