/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <math.h>
#include "benchctl/base/clock.h"

static void top_level(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(
        "benchctl: 1\nname: part-1.9\ntitle: A title\nvars: {x: 1}\ntrials: 5\norder: {mode: random, seed: "
        "19}\nretry: 2\n"
        "host: {max_load: 0.5, require: [governor=performance], on_violation: fail}\n"
        "notify: {webhook: 'https://h/${secret:T}', on: [finished, failed]}\nx-anything: {a: [b]}\n" REST);

    (void)state;
    assert_string_equal(m->name, "part-1.9");
    assert_string_equal(m->title, "A title");
    assert_string_equal(m->dir, "/m");
    assert_true(m->trials == 5 && m->seed == 19 && m->retry == 2 && m->order == ORDER_RANDOM);
    assert_true(m->host.max_load > 0.49 && m->host.on_violation == ON_PROBLEM_FAIL);
    assert_string_equal(m->host.require.items[0], "governor=performance");
    assert_string_equal(m->notify.webhook, "https://h/${secret:T}");
    assert_int_equal(m->notify.on.len, 2);
    assert_null(m->parity);
}

static void defaults(void **state)
{
    CLEANUP(matrix_free) struct matrix *m = read_matrix(HEAD REST);

    (void)state;
    assert_true(m->trials == 3 && m->seed == 1 && m->retry == 1 && m->order == ORDER_INTERLEAVED);
    assert_true(isnan(m->host.max_load) && m->host.on_violation == ON_PROBLEM_WARN);
    assert_true(!m->axis_count && !m->vars && !m->title);
}

static void options_win(void **state)
{
    const struct matrix_options o = {.trials = 9, .seed = 0};
    struct error err = ERROR_INIT;
    CLEANUP(matrix_free) struct matrix *m = try_matrix_with(HEAD REST "order: {seed: 5}\n", &o, &err);

    (void)state;
    assert_non_null(m);
    assert_true(m->trials == 9 && m->seed == 0);
}

static void what_is_missing(void **state)
{
    (void)state;
    matrix_refused("name: m\n" REST, "m.yaml:1:1: 'benchctl' is missing in the matrix",
                   "begin with benchctl: 1");
    matrix_refused("benchctl: 1\n" REST, "'name' is missing in the matrix", "");
    matrix_refused(HEAD LOAD, "'app' is missing in the matrix", "");
    matrix_refused(HEAD APP, "'load' is missing in the matrix", "");
    /* one missing key does not hide what else is wrong */
    matrix_refused("axes: {a: []}", "axis 'a' has no values", "");
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(HEAD APP "overrides: [{set: {"
                                            "load: {adapter: idle, duration: 1s}"
                                            "}}]");
    assert_non_null(m);
}

static void wrong_top_level(void **state)
{
    (void)state;
    matrix_refused("benchctl: 2\nname: m\n" REST, "m.yaml:1:11: 'benchctl' must be from 1 to 1, not 2", "");
    matrix_refused("[a]", "a matrix must be a map, not a list", "");
    matrix_refused("just text", "a matrix must be a map, not a text", "");
    matrix_refused(HEAD REST "memroy: 1", "m.yaml:5:1: unknown key 'memroy' in the matrix",
                   "known here: benchctl, name");
    matrix_refused(HEAD REST "axis: {}", "unknown key 'axis'", "did you mean 'axes'?");
    matrix_refused(HEAD REST "reset: template", "unknown key 'reset'", "'reset' belongs into 'database'");
    matrix_refused(HEAD REST "trials: 0", "'trials' must be from 1 to 100000, not 0", "");
    matrix_refused(HEAD REST "trials: 3.0", "'trials'", "");
    matrix_refused(HEAD REST "order: {mode: shuffled}",
                   "'mode' must be listed, interleaved or random, not 'shuffled'", "");
    matrix_refused(HEAD REST "order: random", "order must be a map, not text", "");
    matrix_refused(HEAD REST "order: {seed: -1}", "'seed' must be from 0", "");
    matrix_refused(HEAD REST "host: {max_load: -1}", "'max_load' cannot be negative", "");
    matrix_refused(HEAD REST "host: {require: [swap=off, governer=performance]}",
                   "m.yaml:5:28: 'governer' is nothing that can be required of a host",
                   "did you mean 'governor'?");
    matrix_refused(HEAD REST "host: {require: turbo=of}", "m.yaml:5:17: 'turbo' cannot be 'of'",
                   "it is one of on, off");
    matrix_refused(HEAD REST "notify: {webhook: x, on: [done]}", "'on' does not know 'done'", "finished");
    matrix_refused(HEAD REST "notify: {on: [failed]}", "'webhook' is missing in notify", "");
    static const char *const names[] = {"../x", "a/b", ".x", "-x", "a b", "\"\"", "\"a\\nb\""};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char text[200];
        (void)snprintf(text, sizeof(text), "benchctl: 1\nname: %s\n" REST, names[i]);
        matrix_refused(text, "cannot be the name of a matrix", "file name");
    }
}

struct seen {
    struct strbuf text;
    int count;
};

static void remember(const struct error *err, void *data)
{
    struct seen *s = data;

    strbuf_addf(&s->text, "%s\n", err->message);
    s->count++;
}

static void every_problem_is_reported(void **state)
{
    struct seen seen = {0};
    const struct matrix_options o = {.seed = SCHEMA_ABSENT, .report = remember, .report_data = &seen};
    struct error err = ERROR_INIT;

    (void)state;
    assert_null(try_matrix_with(
        "name: m\nvars: {a: '${b}'}\naxes: {f: [x, x], g: []}\nexclude: [{f: y}]\ntrials: -5\nlaod: 1\n", &o,
        &err));
    const char *all = strbuf_text(&seen.text);
    assert_has(all, "m.yaml:2:11: unresolved '${b}'");
    assert_has(all, "axis 'f' has the value 'x' twice");
    assert_has(all, "axis 'g' has no values");
    assert_has(all, "axis 'f' has no value 'y'");
    assert_has(all, "'trials' must be");
    assert_has(all, "unknown key 'laod'");
    assert_has(all, "'benchctl' is missing");
    assert_has(all, "'app' is missing");
    assert_has(all, "'load' is missing");
    assert_int_equal(seen.count, 9);
    assert_has(err.message, "unresolved '${b}'");
    strbuf_release(&seen.text);
}

static void sets_come_first(void **state)
{
    static const char *const sets[] = {
        "trials=7",   "axes.memory=[64m, 128m]", "app.env.X=a=b", "load.duration=1m",
        "vars.v=two", "app.command=~",           "app.user="};
    const struct matrix_options o = {.sets = sets, .set_count = ARRAY_LEN(sets), .seed = SCHEMA_ABSENT};
    struct error err = ERROR_INIT;
    CLEANUP(matrix_free)
    struct matrix *m = try_matrix_with(HEAD "vars: {v: one}\ntitle: ${v}\naxes: {memory: [1g]}\napp: {image: "
                                            "i, port: 80, command: [a, b]}\n" LOAD,
                                       &o, &err);
    CLEANUP(arena_free) struct arena *a = arena_new();

    (void)state;
    if (!m)
        fail_msg("%s", err.message);
    assert_int_equal(m->trials, 7);
    assert_string_equal(m->title, "two");
    assert_int_equal(m->axes[0].len, 2);
    struct settings s = resolve_ok(m, NULL, 0, a);
    assert_string_equal(text_map_get(&s.app.env, "X"), "a=b");
    assert_int_equal(s.load.duration_ns, 60 * NS_PER_S);
    assert_int_equal(s.app.command.len, 0);
    assert_string_equal(s.app.user, "");
}

static void bad_sets(void **state)
{
    static const struct {
        const char *set, *message;
    } bad[] = {{"trials", "--set 'trials' is not PATH=VALUE"},
               {"=5", "is not PATH=VALUE"},
               {"trials.x=5", "cannot set 'trials.x'"},
               {"trials=[", "--set trials:"},
               {"ap.memory=1g", "unknown key 'ap'"},
               {"trials=many", "--set trials:1:1: 'trials'"},
               {"axes.f.5=x", "is not an index"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const struct matrix_options o = {.sets = &bad[i].set, .set_count = 1, .seed = SCHEMA_ABSENT};
        struct error err = ERROR_INIT;
        if (try_matrix_with(HEAD REST "trials: 1\naxes: {f: [a]}\n", &o, &err))
            fail_msg("'%s' was accepted", bad[i].set);
        assert_has(err.message, bad[i].message);
        assert_int_equal(error_exit_code(err.kind), 2);
    }
}

static void variables(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(setenv("BENCHCTL_TEST_X", "from ${outside}", 1), 0);
    assert_int_equal(unsetenv("BENCHCTL_TEST_Y"), 0);
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(
        HEAD "title: 'x $${y} ${c}'\nvars: {c: '${b}!', b: '${a}${a}', a: z, e: '${env:BENCHCTL_TEST_X}', "
             "f: '${env:BENCHCTL_TEST_Y:-none}', s: '${secret:S}'}\n" REST);
    assert_string_equal(m->title, "x ${y} zz!");
    assert_string_equal(node_get(m->vars, "c")->text, "zz!");
    assert_string_equal(node_get(m->vars, "e")->text,
                        "from $${outside}"); /* text from outside holds no references */
    assert_string_equal(node_get(m->vars, "f")->text, "none");
    assert_string_equal(node_get(m->vars, "s")->text, "${secret:S}");
    matrix_refused(HEAD REST "vars: {a: '${b}', b: '${a}'}", "variable 'a' refers to itself", "");
    matrix_refused(HEAD REST "vars: {a: '${a}'}", "variable 'a' refers to itself", "");
    matrix_refused(HEAD REST "vars: {a: '${app.host}'}", "m.yaml:5:11: unresolved '${app.host}'", "");
    matrix_refused(HEAD REST "vars: {prefix: x, a: '${prefx}'}", "unresolved '${prefx}'",
                   "did you mean '${prefix}'?");
    matrix_refused(HEAD REST "vars: {a: '${env:BENCHCTL_TEST_Y}'}",
                   "environment variable 'BENCHCTL_TEST_Y' is not set", ":-VALUE}");
    matrix_refused(HEAD REST "vars: {a: [x]}", "variable 'a' must be text", "");
    matrix_refused(HEAD REST "vars: {a.b: x}", "'a.b' cannot be the name of a variable", "");
    matrix_refused(HEAD REST "vars: [a]", "'vars' must be a map", "");
    matrix_refused(HEAD REST "title: ${nope}", "m.yaml:5:8: unresolved '${nope}'", "");
    matrix_refused(HEAD REST "axes: {f: [a]}\ntitle: ${f}", "unresolved '${f}'", "axes only in the settings");
    struct strbuf chain = STRBUF_INIT;
    strbuf_adds(&chain, HEAD REST "vars:\n  v0: x\n");
    for (int i = 1; i < 5000; i++)
        strbuf_addf(&chain, "  v%d: ${v%d}\n", i, i - 1);
    m = (matrix_free(m),
         try_matrix_with(strbuf_text(&chain), NULL, &err)); /* in order each is a step of its own */
    assert_non_null(m);
    strbuf_clear(&chain);
    strbuf_adds(&chain, HEAD REST "vars:\n");
    for (int i = 0; i < 5000; i++)
        strbuf_addf(&chain, "  v%d: ${v%d}\n", i, i + 1);
    strbuf_adds(&chain, "  v5000: x\n");
    matrix_refused(strbuf_text(&chain), "variables refer to each other over more than", "");
    strbuf_clear(&chain);
    strbuf_adds(&chain, HEAD REST "vars:\n  v0: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n");
    for (int i = 1; i < 60; i++)
        strbuf_addf(&chain, "  v%d: ${v%d}${v%d}\n", i, i - 1, i - 1);
    matrix_refused(strbuf_text(&chain), "text grows too long", "");
    strbuf_release(&chain);
}

static void parity_section(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m =
        read_matrix(HEAD REST "vars: {r: ../space}\nparity:\n  repo: ${r}\n  on_mismatch: warn\n  checks:\n"
                              "    - name: dao\n      members: [{ref: a, path: p}, {path: q, repo: "
                              "/other}]\n      ignore: ['**/README.md']\n"
                              "    - name: sql\n      compare: constants\n      members: [{ref: a, path: p, "
                              "match: 'SQL_*'}, {ref: b, path: p}]\n");

    (void)state;
    assert_string_equal(m->parity->repo, "/m/../space");
    assert_int_equal(m->parity->on_mismatch, ON_PROBLEM_WARN);
    assert_int_equal(m->parity->checks.len, 2);
    const struct parity_check *c = m->parity->checks.items;
    const struct parity_member *members = c[0].members.items;
    assert_int_equal(c[0].compare, COMPARE_BLOBS);
    assert_string_equal(members[1].repo, "/other");
    assert_string_equal(members[1].ref, "HEAD");
    assert_string_equal(c[0].ignore.items[0], "**/README.md");
    assert_int_equal(c[1].compare, COMPARE_CONSTANTS);
    matrix_refused(HEAD REST "parity: {repo: r, checks: [{name: a, members: [{path: p}]}]}",
                   "needs at least two members", "");
    matrix_refused(HEAD REST "parity: {checks: [{name: a, members: [{path: p}, {path: q}]}]}",
                   "no repository is given", "");
    matrix_refused(HEAD REST
                   "parity: {repo: r, checks: [{name: a, members: [{path: p, match: x}, {path: q}]}]}",
                   "'match' means nothing", "");
    matrix_refused(HEAD REST "parity: {repo: r, checks: [{name: a, members: [{ref: x}, {path: q}]}]}",
                   "'path' is missing", "");
    matrix_refused(HEAD REST "parity: {repo: r, checks: [{name: a, compare: blob, members: []}]}",
                   "'compare' must be blobs, constants or bindings", "did you mean 'blobs'?");
    matrix_refused(HEAD REST "parity: {repo: r}", "'checks' is missing in the parity section", "");
}

static void files(void **state)
{
    struct error err = ERROR_INIT;
    struct matrix *m = NULL;

    (void)state;
    assert_int_equal(matrix_read("/nonexistent/m.yaml", NULL, &m, &err), -1);
    assert_has(err.message, "/nonexistent/m.yaml");
    assert_int_equal(error_exit_code(err.kind), 2);
    assert_int_equal(matrix_read("/", NULL, &m, &err), -1);
    assert_int_equal(error_exit_code(err.kind), 2);
    assert_null(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(top_level),       cmocka_unit_test(defaults),
        cmocka_unit_test(options_win),     cmocka_unit_test(what_is_missing),
        cmocka_unit_test(wrong_top_level), cmocka_unit_test(every_problem_is_reported),
        cmocka_unit_test(sets_come_first), cmocka_unit_test(bad_sets),
        cmocka_unit_test(variables),       cmocka_unit_test(parity_section),
        cmocka_unit_test(files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
