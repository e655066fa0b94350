/* SPDX-License-Identifier: MIT */
#include "unit/check.h"

#include "benchctl/base/tree.h"

static void masks_as(const char *text, const char *wanted)
{
    struct strbuf out = STRBUF_INIT;
    struct error err = ERROR_INIT;

    if (tree_mask_secrets(text, strlen(text), "m.yaml", &out, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(strbuf_text(&out), wanted);
    /* what comes out is a document too, and nothing is left to hide */
    struct strbuf again = STRBUF_INIT;
    assert_int_equal(tree_mask_secrets(strbuf_text(&out), out.len, "m.yaml", &again, &err), 0);
    assert_string_equal(strbuf_text(&again), strbuf_text(&out));
    strbuf_release(&again);
    strbuf_release(&out);
}

static void nothing_to_hide(void **state)
{
    (void)state;
    masks_as("# note\na: 1 # x\nb: [c, \"d\"]\n...\n", "# note\na: 1 # x\nb: [c, \"d\"]\n...\n");
    masks_as("notify: {webhook: \"${env:HOOK:-}\"}\n", "notify: {webhook: \"${env:HOOK:-}\"}\n");
    masks_as("password: ${secret:P}\ntoken: '${env:T}'\npasswords: ~\nsecret: \"\"\n",
             "password: ${secret:P}\ntoken: '${env:T}'\npasswords: ~\nsecret: \"\"\n");
}

static void values_of_secret_keys(void **state)
{
    (void)state;
    masks_as("db: {password: hunter2, name: n}\n", "db: {password: \"***\", name: n}\n");
    masks_as("DB_PASSWORD: 'hun''ter2' # why\nx: y", "DB_PASSWORD: \"***\" # why\nx: y");
    masks_as("ApiToken: \"a\\n\n  b\"\nx: y\n", "ApiToken: \"***\"\nx: y\n");
    masks_as("my_secret:\n  - a\n  - {b: c, d: [e]}\nx: y\n",
             "my_secret:\n  - \"***\"\n  - {b: \"***\", d: [\"***\"]}\nx: y\n");
    masks_as("token: |\n  line one\n  line two\nx: y\n", "token: \"***\"\nx: y\n");
    masks_as("a:\n  token: >-\n    line\n\n  b: c\n", "a:\n  token: \"***\"\n  b: c\n");
    masks_as("token: plain over\n  two lines\nx: y\n", "token: \"***\"\nx: y\n");
    masks_as("token: ${env:T:-hunter2}\n", "token: \"***\"\n");
    masks_as("token: a${env:T}\n", "token: \"***\"\n");
    masks_as("notify: {webhook: 'https://h/hunter2'}\n", "notify: {webhook: \"***\"}\n");
}

static void passwords_inside_texts(void **state)
{
    (void)state;
    masks_as("url: postgresql://u:hunter2@h/d\n", "url: \"postgresql://u:***@h/d\"\n");
    masks_as("env: {U: 'x://u:${secret:P}@h', V: \"jdbc:x?user=a&password=b&c=d\"}\n",
             "env: {U: 'x://u:${secret:P}@h', V: \"jdbc:x?user=a&password=***&c=d\"}\n");
}

static void where_it_was_written(void **state)
{
    (void)state;
    masks_as("x-p: &p hunter2\ndb: {password: *p}\n", "x-p: &p \"***\"\ndb: {password: *p}\n");
    masks_as("token: !!str &t\n  hunter2\nx: y\n", "token: !!str &t\n  \"***\"\nx: y\n");
    masks_as("a: &a {password: p}\nb: {<<: *a}\nc: {<<: *a, password: q}\n",
             "a: &a {password: \"***\"}\nb: {<<: *a}\nc: {<<: *a, password: \"***\"}\n");
    masks_as("\xc3\xa4: [\xc3\xb6, {token: \xe2\x82\xac}, \xf0\x9f\x98\x80]\r\nb: {token: x}\r\n",
             "\xc3\xa4: [\xc3\xb6, {token: \"***\"}, \xf0\x9f\x98\x80]\r\nb: {token: \"***\"}\r\n");
}

static void bad_documents(void **state)
{
    struct strbuf out = STRBUF_INIT;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(tree_mask_secrets("a: [", 4, "m.yaml", &out, &err), -1);
    assert_has(err.message, "m.yaml:2:");
    assert_int_equal(out.len, 0);
    strbuf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_hide),        cmocka_unit_test(values_of_secret_keys),
        cmocka_unit_test(passwords_inside_texts), cmocka_unit_test(where_it_was_written),
        cmocka_unit_test(bad_documents),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
