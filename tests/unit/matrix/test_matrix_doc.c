/* SPDX-License-Identifier: MIT */
/* The reference page and the JSON Schema say what the tables say. */
#include "fixture.h"

#include "benchctl/base/json.h"

static void read_page(struct strbuf *out)
{
    struct error err = ERROR_INIT;

    if (fs_read(SOURCE_DIR "/docs/matrix.md", 1 << 20, out, &err) < 0)
        fail_msg("%s", err.message);
}

static void the_page_is_what_the_program_prints(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf page = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf reference = STRBUF_INIT;

    (void)state;
    read_page(&page);
    schema_to_markdown(&matrix_schema, &reference);
    const char *found = strstr(strbuf_text(&page), "<!-- The rest of this page");
    assert_non_null(found);
    found = strstr(found, " -->\n\n");
    assert_non_null(found);
    assert_string_equal(found + strlen(" -->\n\n"), strbuf_text(&reference));
}

static void its_example_works(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf page = STRBUF_INIT;
    CLEANUP(arena_free) struct arena *a = arena_new();

    (void)state;
    read_page(&page);
    char *start = strstr(page.data, "```yaml\n") + strlen("```yaml\n"), *end = strstr(start, "```\n");
    *end = '\0';
    CLEANUP(matrix_free) struct matrix *m = read_matrix(start);
    assert_int_equal(m->axis_count, 3);
    struct settings s = resolve_ok(m, NULL, 1, a);
    assert_string_equal(s.app.image, "items/flask:slim-1");
    assert_string_equal(text_map_get(&s.load.env, "RATE"), "200");
}

static int check_table(const struct schema *s, int depth)
{
    int fields = 0;

    assert_true(depth < 8);
    for (size_t i = 0; i < s->field_count; i++) {
        const struct schema_field *f = &s->fields[i];
        struct json *shape = NULL;
        struct error err = ERROR_INIT;
        fields++;
        if (!f->help || f->help[strlen(f->help) - 1] != '.')
            fail_msg("'%s' of %s is not explained by a sentence", f->key, s->name);
        if (f->shape && json_parse(f->shape, strlen(f->shape), f->key, &shape, &err) < 0)
            fail_msg("shape of '%s': %s", f->key, err.message);
        json_free(shape);
        if (f->of)
            fields += check_table(f->of, depth + 1);
    }
    assert_non_null(s->help);
    return fields;
}

static void every_key_is_explained(void **state)
{
    (void)state;
    assert_true(check_table(&matrix_schema, 0) > 30);
    assert_true(check_table(&settings_schema, 0) > 100);
}

static void json_schema(void **state)
{
    CLEANUP(json_free) struct json *j = schema_to_json_schema(&matrix_schema, "urn:x");

    (void)state;
    static const char *const present[] = {"/properties/axes",
                                          "/properties/app",
                                          "/properties/load",
                                          "/$defs/app/properties/memory",
                                          "/$defs/service/properties/scope",
                                          "/$defs/database-service/properties/settings",
                                          "/$defs/load/properties/duration",
                                          "/$defs/parity-member/properties/ref"};
    for (size_t i = 0; i < ARRAY_LEN(present); i++) {
        if (!json_pointer(j, present[i]))
            fail_msg("no '%s'", present[i]);
    }
    assert_int_equal(json_len(json_get(j, "required")), 4);
    assert_null(json_pointer(j, "/$defs/app/properties/scope"));
    /* other keys of load are its adapter's */
    assert_int_equal(json_type_of(json_pointer(j, "/$defs/load/additionalProperties")), JSON_TYPE_OBJECT);
}

static bool has_field(const struct schema *s, const char *key)
{
    for (; s; s = s->also)
        for (size_t i = 0; i < s->field_count; i++)
            if (strcmp(s->fields[i].key, key) == 0)
                return true;
    return false;
}

/* What is offered for a word of other programs is there, and the word itself is not. */
static void assert_aliases(const struct schema *s)
{
    for (const struct schema_alias *a = s->aliases; a && a->word; a++)
        if (!has_field(s, a->key) || has_field(s, a->word))
            fail_msg("%s: %s for %s", s->name, a->key, a->word);
    for (size_t i = 0; i < s->field_count; i++)
        if (s->fields[i].of)
            assert_aliases(s->fields[i].of);
    if (s->also)
        assert_aliases(s->also);
}

static void words_of_other_programs(void **state)
{
    (void)state;
    assert_non_null(matrix_schema.aliases);
    assert_aliases(&matrix_schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_is_what_the_program_prints),
        cmocka_unit_test(its_example_works),
        cmocka_unit_test(every_key_is_explained),
        cmocka_unit_test(json_schema),
        cmocka_unit_test(words_of_other_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
