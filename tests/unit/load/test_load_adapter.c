/* SPDX-License-Identifier: MIT */
/* Adapter files: the ones that ship, and what is wrong with others. */
#include "load_test.h"

#define HEAD "benchctl-adapter: 1\nprogram: x\n"
#define OUTPUT "outputs: {o: {file: stdout.txt}}\n"
#define REPORT "reports: [{name: r, output: o, accept: [a], values: {requests: {text: '([0-9]+)'}}}]\n"

static void bad(const char *text, const char *message, const char *hint)
{
    struct load_adapter *a = NULL;
    struct error err = ERROR_INIT;

    if (adapter_from(text, &a, &err) == 0)
        fail_msg("was read: %s", text);
    assert_has(err.message, message);
    if (hint)
        assert_has(err.hint, hint);
    assert_int_equal(err.kind, ERROR_INVALID);
}

static void good(const char *text)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = NULL;
    struct error err = ERROR_INIT;

    if (adapter_from(text, &a, &err) < 0)
        fail_msg("%s", err.message);
}

static void language(void **state)
{
    (void)state;
    good(HEAD OUTPUT REPORT);
    good("benchctl-adapter: 1\n");
    bad("", "test.yaml", NULL);
    bad("program: x\n", "'benchctl-adapter' is missing", NULL);
    bad("benchctl-adapter: 2\n", "test.yaml:1:19: 'benchctl-adapter' must be", NULL);
    bad(HEAD, "needs reports", NULL);
    bad("benchctl-adapter: 1\nargs: [a]\n", "runs nothing", NULL);
    bad(HEAD OUTPUT REPORT "programm: y\n", "test.yaml:5:1: unknown key 'programm'",
        "did you mean 'program'?");
    bad(HEAD OUTPUT REPORT "args: ['${optoins}']\n", "test.yaml:5:8: unknown '${optoins}' in a template",
        NULL);
    bad(HEAD OUTPUT REPORT "args: ['${output.p}']\n", "unknown '${output.p}'", NULL);
    bad(HEAD OUTPUT REPORT "args: [{when: fast, args: [a]}]\n", "condition 'fast' names no option", NULL);
    bad(HEAD OUTPUT REPORT "args: [{each: fast, args: [a]}]\n", "'fast' is not an option", NULL);
    bad(HEAD OUTPUT REPORT "options: {timeout: {}}\n", "an option cannot have the name 'timeout'", NULL);
    bad(HEAD OUTPUT REPORT "options: {n: {type: int, default: many}}\n", "option 'n'", NULL);
    bad(HEAD OUTPUT REPORT "options: {n: {type: numbre}}\n", "'type' must be", "did you mean");
    bad(HEAD OUTPUT REPORT "version: {match: '(a)\\1'}\n", "test.yaml:5:10: regular expression '(a)\\1' has",
        "no back references");
    bad(HEAD OUTPUT REPORT "version: {match: 'a++++++++++++++++++'}\n", "repeats", NULL);
    bad(HEAD OUTPUT REPORT "version: {match: '((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)'}\n",
        "repeats", NULL);
    bad(HEAD OUTPUT REPORT "version: {match: '(a{1000}){1000}'}\n", "repeats", NULL);
    bad(HEAD OUTPUT REPORT "version: {match: '('}\n", "bad regular expression '('", NULL);
    bad(HEAD "outputs: {o: {file: ../x}}\n" REPORT, "not a plain file name: '../x'", NULL);
    bad(HEAD "outputs: {o: {file: x, format: csv, header: false}}\n" REPORT, "needs columns", NULL);
    bad(HEAD "outputs: {o: {file: x, redact: [/a]}}\n" REPORT, "skip and redact are for json: output 'o'",
        NULL);
    bad(HEAD OUTPUT REPORT "closed_when: [fast]\n", "condition 'fast' names no option", NULL);
    bad(HEAD OUTPUT REPORT "args: [{when: version>=x, args: [a]}]\n", "'version>=x' is no condition",
        "version>=1.5");
    bad(HEAD OUTPUT REPORT "args: [{when: version==1, args: [a]}]\n", "'version==1' is no condition", NULL);
    bad(HEAD OUTPUT REPORT "args: [{when: version=>1, args: [a]}]\n", "'version=>1' is no condition", NULL);
    bad(HEAD OUTPUT REPORT "args: [{when: versions>=1, args: [a]}]\n", "names no option", NULL);
    bad(HEAD OUTPUT REPORT "finish: {args: [a], into: q}\n", "unknown output 'q'", NULL);
}

/* One report with this in it. */
static void bad_report(const char *part, const char *message, const char *hint)
{
    CLEANUP_FREE char *text =
        xasprintf(HEAD OUTPUT "reports:\n  - name: r\n    output: o\n    accept: [a]\n    %s\n", part);

    bad(text, message, hint);
}

static void reports(void **state)
{
    (void)state;
    bad_report("values: {request: {text: a}}", "unknown key 'request'", "did you mean 'requests'?");
    bad_report("values: {requests: {text: a, is: b}}", "'is' is for json with a step [*]", NULL);
    bad_report("values: {requests: {text: a, expr: b}}", "exactly one of json, text, column, histogram",
               NULL);
    bad_report("values: {requests: {}}", "exactly one of", NULL);
    bad_report("values: {requests: {json: /a}}", "output 'o' is text: read it by text", NULL);
    bad_report("values: {requests: {text: '[a'}}", "test.yaml:8:24: bad regular expression", NULL);
    bad_report("values: {requests: {text: a, take: median}}", "unknown take 'median'", NULL);
    bad_report("values: {requests: {text: a, take: p101}}", "unknown take 'p101'", NULL);
    bad_report("values: {requests: {text: a, unit: msec}}", "'unit' must be", "did you mean 'ms'?");
    bad_report("values: {requests: {text: a, output: b}}", "unknown output 'b'", NULL);
    bad_report("values: {requests: {expr: 'a +'}}", "test.yaml:8:24: it ends too early", NULL);
    bad_report("values: {requests: {expr: requets}}", "unknown name 'requets'", "did you mean 'requests'?");
    bad_report("let: {'a b': {text: a}}", "'a b' is not a name", NULL);
    bad_report("let: {requests: {text: a}}\n    values: {requests: {text: a}}", "'requests' is there twice",
               NULL);
    bad_report("values: {rps: {text: a}}", "required value 'requests' is not read", NULL);
    bad_report("values: {requests: {text: a}}\n    checks: [{that: 'requsts > 1', say: x}]",
               "unknown name 'requsts'", NULL);
    bad_report("values: {requests: {text: a}}\n    latency_if: nothing > 0", "unknown name 'nothing'", NULL);
}

/* A value that depends on itself is found when it is read. */
static void circle(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = NULL;
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *path = path_join(*state, "out.txt");
    struct error err = ERROR_INIT;
    struct load_result r;

    put(*state, "out.txt", "a 1\n");
    const char *text = HEAD OUTPUT "reports: [{name: r, output: o, accept: [a], let: {x: {expr: y}, y: "
                                   "{expr: x}}, values: {requests: {expr: x}}}]\n";
    assert_int_equal(adapter_from(text, &a, &err), 0);
    assert_int_equal(parse_file(a, path, arena, &r, NULL, &err), -1);
    assert_has(err.message, "depends on itself");
}

/* Adapters are found by name in the directories of BENCHCTL_ADAPTERS, the matrix and the program, in that
 * order. */
static void finding(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = NULL;
    struct error err = ERROR_INIT;
    CLEANUP_FREE char *mine = xasprintf("/nowhere:%s/mine", (char *)*state);

    put(*state, "mine/load/wrk.yaml", "benchctl-adapter: 1\nhelp: mine\n");
    put(*state, "mine/load/zz.yaml", "benchctl-adapter: 1\n");
    put(*state, "matrix/adapters/load/wrk.yaml", "benchctl-adapter: 1\nhelp: the matrix'\n");
    CLEANUP_FREE char *matrix = path_join(*state, "matrix");
    assert_int_equal(load_adapter_read("wrk", NULL, &a, &err), 0);
    assert_string_equal(load_adapter_program(a), "wrk");
    load_adapter_free(TAKE(a));
    assert_int_equal(load_adapter_read("wrk", matrix, &a, &err), 0);
    assert_string_equal(load_adapter_help(a), "the matrix'");
    load_adapter_free(TAKE(a));
    assert_int_equal(setenv("BENCHCTL_ADAPTERS", mine, 1), 0);
    assert_int_equal(load_adapter_read("wrk", matrix, &a, &err), 0);
    assert_string_equal(load_adapter_help(a), "mine");
    assert_string_equal(load_adapter_name(a), "wrk");
    assert_null(load_adapter_program(a));
    CLEANUP(adapter_directories_free) char **dirs = adapter_directories(matrix);
    CLEANUP(adapter_list_free) char **names = load_adapter_list(dirs);
    size_t count = 0, wrk = 0, last = 0;
    for (; names[count]; count++) {
        wrk += strcmp(names[count], "wrk") == 0;
        last = strcmp(names[count], "zz") == 0 ? count : last;
    }
    assert_int_equal(wrk, 1);
    assert_int_equal(last, count - 1);
    assert_int_equal(unsetenv("BENCHCTL_ADAPTERS"), 0);
    load_adapter_free(TAKE(a));
    assert_int_equal(load_adapter_read("wrkk", NULL, &a, &err), -1);
    assert_string_equal(err.message, "unknown load adapter 'wrkk'");
    assert_has(err.hint, "did you mean 'wrk'?");
    assert_int_equal(load_adapter_read("zzzzzzzzzz", NULL, &a, &err), -1);
    assert_has(err.hint, "looked for in ");
    assert_has(err.hint, SOURCE_DIR "/adapters/load");
    assert_int_equal(load_adapter_read("../load/wrk", NULL, &a, &err), -1);
}

/* Every adapter that ships can be read, and the skeleton that explains the language with them; it is no
 * adapter. */
static void shipped(void **state)
{
    static const char *const names[] = {"wrk", "idle", "skeleton"};
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error err = ERROR_INIT;
    CLEANUP(load_adapter_free) struct load_adapter *skeleton = NULL;

    (void)state;
    for (size_t i = 0; i < 2; i++)
        load_adapter_free(adapter_of(names[i]));
    assert_int_equal(fs_read(SOURCE_DIR "/adapters/load/skeleton.yaml.example", 1 << 20, &text, &err), 0);
    if (load_adapter_parse(strbuf_text(&text), text.len, "skeleton.yaml", &skeleton, &err) < 0)
        fail_msg("%s", err.message);
    CLEANUP(adapter_directories_free) char **dirs = adapter_directories(NULL);
    CLEANUP(adapter_list_free) char **all = load_adapter_list(dirs);
    for (size_t i = 0; all[i]; i++)
        assert_null(strstr(all[i], "skeleton"));
}

/* Each key of the language stands in the skeleton. */
static void collect_keys(const struct schema *s, struct strbuf *missing, const char *text)
{
    for (size_t i = 0; i < s->field_count; i++) {
        const struct schema_field *f = &s->fields[i];
        CLEANUP_FREE char *key = xasprintf("%s:", f->key);
        if (!strstr(text, key))
            strbuf_addf(missing, " %s", f->key);
        if (f->of)
            collect_keys(f->of, missing, text);
    }
}

extern const struct schema value_schema;

static void skeleton_is_whole(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf missing = STRBUF_INIT;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(fs_read(SOURCE_DIR "/adapters/load/skeleton.yaml.example", 1 << 20, &text, &err), 0);
    collect_keys(&load_adapter_schema, &missing, strbuf_text(&text));
    collect_keys(&value_schema, &missing, strbuf_text(&text));
    assert_string_equal(strbuf_text(&missing), "");
}

/* docs/adapters.md holds the reference as the tables give it. With UPDATE_DOCS set it is written anew. */
static void reference(void **state)
{
    static const char begin[] = "<!-- reference: begin -->\n", end[] = "<!-- reference: end -->\n";
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf made = STRBUF_INIT;
    struct error err = ERROR_INIT;
    const char *path = SOURCE_DIR "/docs/adapters.md";

    (void)state;
    assert_int_equal(fs_read(path, 1 << 20, &text, &err), 0);
    const char *from = strstr(strbuf_text(&text), begin), *to = strstr(strbuf_text(&text), end);
    assert_true(from && to && from < to);
    strbuf_add(&made, text.data, (size_t)(from - text.data) + strlen(begin));
    load_adapter_reference(&made);
    strbuf_adds(&made, to);
    if (getenv("UPDATE_DOCS"))
        assert_int_equal(fs_write(path, made.data, made.len, &err), 0);
    else if (strcmp(made.data, text.data) != 0)
        fail_msg("docs/adapters.md is not current: run this test with UPDATE_DOCS=1");
}

/* For others the load section is not made into one, nor its secrets and paths taken for the generator's own.
 */
static void who_takes_the_load_section_whole(void **state)
{
    static const char *const others[] = {"wrk", "ghz", "k6", "vegeta", "idle"};
    CLEANUP(load_adapter_free) struct load_adapter *own = adapter_of("builtin");

    (void)state;
    assert_true(load_adapter_takes_spec(own));
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(others[i]);
        assert_false(load_adapter_takes_spec(a));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(language),
        cmocka_unit_test(reports),
        cmocka_unit_test_setup_teardown(circle, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(finding, scratch_setup, scratch_teardown),
        cmocka_unit_test(shipped),
        cmocka_unit_test(who_takes_the_load_section_whole),
        cmocka_unit_test(skeleton_is_whole),
        cmocka_unit_test(reference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
