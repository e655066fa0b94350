/* SPDX-License-Identifier: MIT */
/* The page says what the tables say, its example works, and editors get the same language. */
#include "fixture.h"

#include "benchctl/base/fs.h"

static const char page[] = SOURCE_DIR "/docs/load.md";

static void read_page(struct strbuf *out)
{
    struct error err = ERROR_INIT;

    if (fs_read(page, 1 << 20, out, &err) < 0)
        fail_msg("%s", err.message);
}

/* With UPDATE_DOCS set the reference is written anew. */
static void reference(void **state)
{
    static const char begin[] = "<!-- reference: begin -->\n", end[] = "<!-- reference: end -->\n";
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf made = STRBUF_INIT;
    struct error err = ERROR_INIT;

    (void)state;
    read_page(&text);
    const char *from = strstr(strbuf_text(&text), begin), *to = strstr(strbuf_text(&text), end);
    assert_true(from && to && from < to);
    strbuf_add(&made, text.data, (size_t)(from - text.data) + strlen(begin));
    schema_to_markdown(&workload_schema, &made);
    strbuf_adds(&made, to);
    if (getenv("UPDATE_DOCS"))
        assert_int_equal(fs_write(page, made.data, made.len, &err), 0);
    else if (strcmp(made.data, text.data) != 0)
        fail_msg("docs/load.md is not current: run this test with UPDATE_DOCS=1");
}

static void the_example_works(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP(arena_free) struct arena *a = arena_new();

    (void)state;
    read_page(&text);
    char *start = strstr(text.data, "```yaml\n") + strlen("```yaml\n"), *end = strstr(start, "```\n");
    *end = '\0';
    struct workload w = read_workload(start, a);
    assert_int_equal(w.requests.len, 2);
    assert_int_equal(w.phases.len, 3);
    assert_int_equal(workload_duration_ns(&w), 660 * NS_PER_S);
    assert_int_equal(workload_max_vus(&w), 1000);
    assert_int_equal(phase_vus_at(phase_at(&w, 1), 255 * NS_PER_S), 105);
    assert_int_equal(phase_planned_arrivals(phase_at(&w, 2)), 60000);
}

static void executors_of_the_page(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    (void)state;
    read_page(&text);
    for (size_t i = 0; executor_names[i]; i++) {
        CLEANUP_FREE char *row = xasprintf("\n| `%s` | ", executor_names[i]);
        assert_has(strbuf_text(&text), row);
    }
}

static void check_table(const struct schema *s)
{
    assert_non_null(s->help);
    for (; s; s = s->also) {
        for (size_t i = 0; i < s->field_count; i++) {
            const struct schema_field *f = &s->fields[i];
            if (!f->help || f->help[strlen(f->help) - 1] != '.')
                fail_msg("'%s' of %s is not explained by a sentence", f->key, s->name);
            if (f->of)
                check_table(f->of);
        }
    }
}

static void every_key_is_explained(void **state)
{
    (void)state;
    check_table(&workload_schema);
}

static void json_schema(void **state)
{
    CLEANUP(json_free) struct json *j = schema_to_json_schema(&workload_schema, "urn:x");
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    (void)state;
    json_write(j, JSON_STYLE_COMPACT, &text);
    static const char *const present[] = {
        "\"requests\":{",
        "\"$ref\":\"#/$defs/request\"",
        "\"$ref\":\"#/$defs/phase\"",
        "\"preAllocatedVUs\":",
        "\"pre_allocated_vus\":",
        "\"graceful_ramp_down\":",
        "\"gracefulRampDown\"",
        "\"ramping-arrival-rate\"",
        "\"required\":[\"executor\"]",
        "\"required\":[\"target\"]",
        "[\"1.1\",1.1,\"2\",2,\"2-prior-knowledge\"]",
    };
    for (size_t i = 0; i < ARRAY_LEN(present); i++)
        assert_has(strbuf_text(&text), present[i]);
}

/* What is read comes out again, for records and digests. */
static void to_json(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct workload w = read_workload(TARGET "headers: {X-Token: geheim}\nrate: 5\n", a);
    CLEANUP(json_free) struct json *j = schema_to_json(&workload_schema, &w, true);

    (void)state;
    json_write(j, JSON_STYLE_COMPACT, &text);
    assert_has(strbuf_text(&text), "\"executor\":\"constant-arrival-rate\"");
    assert_has(strbuf_text(&text), "\"X-Token\":\"***\"");
    assert_null(strstr(strbuf_text(&text), "geheim"));
    assert_null(strstr(strbuf_text(&text), "preAllocatedVUs")); /* one spelling, whatever was written */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference),
        cmocka_unit_test(the_example_works),
        cmocka_unit_test(executors_of_the_page),
        cmocka_unit_test(every_key_is_explained),
        cmocka_unit_test(json_schema),
        cmocka_unit_test(to_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
