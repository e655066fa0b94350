/* SPDX-License-Identifier: MIT */
/* JSON without some of its values, and what comes of it: large reports, secrets; conditions on the version.
 */
#include "load_test.h"

#include "json_filter.h"

/* The text through the filter in pieces of `step` bytes. */
static void filtered(const char *text, size_t step, const char *pointer, const char *wanted)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    const char *list[] = {"/no/such", pointer};
    const struct text_list pointers = {list, 2};
    CLEANUP_VALUE(json_filter_release)
    struct json_filter f = {.pointers = &pointers, .instead = "0", .out = &out};

    for (size_t i = 0; i < strlen(text); i += step)
        json_filter_add(&f, text + i, strlen(text + i) < step ? strlen(text + i) : step);
    assert_string_equal(strbuf_text(&out), wanted);
}

static void values_are_replaced(void **state)
{
    static const struct {
        const char *text, *pointer, *wanted;
    } cases[] = {
        {"{\"a\": 1, \"b\": [1, {\"a\": 2}], \"c\": 3}", "/b", "{\"a\": 1, \"b\": 0, \"c\": 3}"},
        {"{\"a\": {\"b\": \"}],\\\"{\"}, \"b\": 1}", "/a/b", "{\"a\": {\"b\": 0}, \"b\": 1}"},
        {"{\"a\": {\"b\": \"}],\\\"{\"}, \"b\": 1}", "/b", "{\"a\": {\"b\": \"}],\\\"{\"}, \"b\": 0}"},
        {"{\"a\\\\\":{\"x\":[[[]]]},\"a\":{}}", "/a", "{\"a\\\\\":{\"x\":[[[]]]},\"a\": 0}"},
        {"[{\"a\": 1}, {\"a\": 2}]", "/a", "[{\"a\": 1}, {\"a\": 2}]"},
        {"{\"l\": [{\"a\": 1}, {\"a\": 2}], \"a\" : null }", "/a",
         "{\"l\": [{\"a\": 1}, {\"a\": 2}], \"a\" : 0}"},
        {"{\"a\": [1, 2", "/a", "{\"a\": 0"},
        {"{\"a\": tru", "/b", "{\"a\": tru"},
        {"}}]]:,{\"a\":1}", "/a", "}}]]:,{\"a\": 0}"},
        {"", "/a", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (size_t step = 1; step < 40; step++)
            filtered(cases[i].text, step, cases[i].pointer, cases[i].wanted);
}

/* Deeper than anything that is looked for. */
static void depth(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    (void)state;
    strbuf_adds(&text, "{\"a\": 1");
    for (int i = 0; i < 500; i++)
        strbuf_adds(&text, i % 2 ? ", \"a\": {\"b\": 1" : ", \"c\": [{\"b\": 1");
    for (int i = 500; i-- > 0;)
        strbuf_adds(&text, i % 2 ? "}" : "}]");
    strbuf_adds(&text, "}");
    filtered(strbuf_text(&text), 7, "/b", strbuf_text(&text));
}

static const char adapter[] =
    "benchctl-adapter: 1\nprogram: x\nclosed_when: [users, shape=ring]\nopen_when: rate\n"
    "version: {args: [version], match: 'x v?([0-9.]+)'}\n"
    "options: {users: {type: int}, rate: {type: int}, shape: {}}\n"
    "args:\n  - {when: version>=1.5, args: [new]}\n  - {when: version<1.5, args: [old]}\n"
    "  - {unless: version>=2, args: [not-two]}\n  - {when: version=1.10, args: [ten]}\n"
    "outputs: {o: {file: o.json, format: json, limit: 300b, skip: [/calls], redact: [/token, /setup/data]}, "
    "l: {file: l.tsv, format: csv, limit: 10b}}\n"
    "reports:\n  - name: r\n    output: o\n    accept: [/n]\n    values: {requests: {json: /n}}\n"
    "    latency: {max: {json: /calls, take: max, unit: ms}, p50: {column: ms, output: l, unit: ms, take: "
    "p50}}\n";

static struct load_adapter *made(void)
{
    struct load_adapter *a = NULL;
    struct error err = ERROR_INIT;

    if (adapter_from(adapter, &a, &err) < 0)
        fail_msg("%s", err.message);
    return a;
}

static void arguments_of(const char *version, const char *wanted)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = made();
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf line = STRBUF_INIT;
    const struct load_call call = {.target = "http://x", .output_dir = "/o", .version = version};
    struct error err = ERROR_INIT;
    struct load_command c;

    assert_int_equal(load_adapter_command(a, &call, arena, &c, &err), 0);
    for (size_t i = 1; i < c.argv.len; i++)
        strbuf_addf(&line, "%s%s", i > 1 ? " " : "", c.argv.items[i]);
    assert_string_equal(strbuf_text(&line), wanted);
}

static void versions(void **state)
{
    (void)state;
    arguments_of("1.4.9", "old not-two");
    arguments_of("1.5", "new not-two");
    arguments_of("1.5.0", "new not-two");
    arguments_of("1.10.0", "new not-two ten");
    arguments_of("2.0.0-rc1", "new");
    arguments_of("debian/0.9-3+b2", "old not-two");
    arguments_of("dev", "not-two"); /* what is not known fulfils nothing */
    arguments_of(NULL, "not-two");
    arguments_of("", "not-two");
    arguments_of("99999999999999999999999", "new");
}

static int collected(const char *dir, const char *options, struct arena *arena, struct load_result *r,
                     struct load_problems *p)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = made();
    const struct node *n = NULL;
    struct error err = ERROR_INIT;

    if (options)
        assert_int_equal(tree_parse(options, strlen(options), "m", arena, &n, &err), 0);
    const struct load_call call = {.options = n};
    const struct load_outcome o = {.ran = true, .window_ms = 1000, .call = &call};
    if (load_adapter_collect(a, dir, &o, arena, r, p, &err) < 0)
        fail_msg("%s", err.message);
    return 0;
}

/* A report that is too large only for its records is read without them. */
static void large(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct load_problems p;
    struct load_result r;

    put(*state, "o.json", "{\"n\": 3, \"calls\": [1, 2, 7]}");
    put(*state, "l.tsv", "ms\n1\n2\n");
    (void)collected(*state, NULL, arena, &r, &p);
    check_number("max", r.latency_ms.max, 7);
    check_number("p50", r.latency_ms.p50, 1);
    strbuf_adds(&text, "{\"calls\": [1");
    for (int i = 0; i < 100; i++)
        strbuf_addf(&text, ",\n   %d", i);
    strbuf_adds(&text, "], \"n\": 101}");
    put(*state, "o.json", strbuf_text(&text));
    put(*state, "l.tsv", "ms\n1\n2\n3\n4\n5\n");
    (void)collected(*state, NULL, arena, &r, &p);
    check_number("requests", r.requests, 101);
    check_number("max", r.latency_ms.max, NAN);
    check_number("p50", r.latency_ms.p50, NAN);
    assert_int_equal(p.len, 2);
    assert_string_equal(p.items[0], "not read: 'l.tsv' is larger than 10 bytes");
}

static void models(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_problems p;
    struct load_result r;

    put(*state, "o.json", "{\"n\": 3}");
    (void)collected(*state, NULL, arena, &r, &p);
    assert_null(r.model);
    (void)collected(*state, "{users: 3}", arena, &r, &p);
    assert_string_equal(r.model, "closed");
    (void)collected(*state, "{shape: ring}", arena, &r, &p);
    assert_string_equal(r.model, "closed");
    (void)collected(*state, "{rate: 3, shape: line}", arena, &r, &p);
    assert_string_equal(r.model, "open");
}

static char *content(const char *dir)
{
    CLEANUP_FREE char *path = path_join(dir, "o.json");
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error err = ERROR_INIT;

    if (fs_read(path, 1 << 20, &text, &err) < 0)
        return NULL;
    return strbuf_detach(&text);
}

static void redacted(const char *dir, const char *before, const char *after)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = made();
    struct error err = ERROR_INIT;

    put(dir, "o.json", before);
    assert_int_equal(load_adapter_redact(a, dir, &err), 0);
    CLEANUP_FREE char *is = content(dir);
    assert_string_equal(is, after);
}

static void secrets(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = made();
    CLEANUP_FREE char *path = path_join(*state, "o.json");
    CLEANUP_FREE char *filler = xcalloc(1, 400);
    struct error err = ERROR_INIT;

    redacted(*state,
             "{\"n\": 1.50, \"token\": \"s3cret\", \"setup\": {\"data\": {\"k\": [\"s3cret\"]}, \"x\": 1}}",
             "{\"n\": 1.50, \"token\": \"(redacted)\", \"setup\": {\"data\": \"(redacted)\", \"x\": 1}}");
    redacted(*state, "{\"n\":1}", "{\"n\":1}");
    redacted(*state, "{\"token\": \"s3cr", "{\"token\": \"(redacted)\""); /* cut short */
    memset(filler, ' ', 399);
    put(*state, "o.json", filler); /* above the limit: what cannot be looked through is not kept */
    assert_int_equal(load_adapter_redact(a, *state, &err), -1);
    assert_has(err.message, "removed");
    assert_false(fs_exists(path));
    assert_int_equal(load_adapter_redact(a, *state, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_replaced),
        cmocka_unit_test(depth),
        cmocka_unit_test(versions),
        cmocka_unit_test_setup_teardown(large, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(models, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(secrets, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
