/* SPDX-License-Identifier: MIT */
/* Ids: safe as file names, one to one with values. */
#include "fixture.h"

static char *part_of(const char *text)
{
    struct strbuf out = STRBUF_INIT;

    scenario_id_part(text, &out);
    return strbuf_detach(&out);
}

static void assert_part(const char *text, const char *expected)
{
    CLEANUP_FREE char *part = part_of(text);

    assert_string_equal(part, expected);
}

static void ordinary_values_stay(void **state)
{
    (void)state;
    assert_part("256m", "256m");
    assert_part("3.10", "3.10");
    assert_part("loom-carrier_2+x", "loom-carrier_2+x");
    assert_part(".hidden", ".hidden");
    assert_part("...", "...");
}

static void others_are_escaped(void **state)
{
    (void)state;
    assert_part("a b", "a%20b");
    assert_part("a/b", "a%2Fb");
    assert_part("../../etc", "..%2F..%2Fetc");
    assert_part("100%", "100%25");
    assert_part("a%20b", "a%2520b");
    assert_part("~", "%7E");
    assert_part("é", "%C3%A9");
    assert_part("\x01\xff\n", "%01%FF%0A");
    assert_part(".", "%2E");
    assert_part("..", "%2E%2E");
    assert_part("a=b", "a%3Db");
}

static void appends(void **state)
{
    (void)state;
    struct strbuf out = STRBUF_INIT;
    strbuf_adds(&out, "x/");
    scenario_id_part("a b", &out);
    assert_string_equal(out.data, "x/a%20b");
    strbuf_release(&out);
}

static void long_values_are_cut_and_differ(void **state)
{
    (void)state;
    char text[400], twin[400];
    memset(text, 'a', sizeof(text));
    text[120] = '\0';
    assert_part(text, text);
    memset(text, 'a', sizeof(text) - 1);
    text[399] = '\0';
    memcpy(twin, text, sizeof(text));
    twin[398] = 'b';
    CLEANUP_FREE char *part = part_of(text);
    CLEANUP_FREE char *other = part_of(twin);
    assert_int_equal(strlen(part), 117);
    assert_string_not_equal(part, other);
    assert_int_equal(strncmp(part, other, 100), 0);
    assert_int_equal(part[100], '~');
    /* a text that spells another one's cut form is itself escaped */
    CLEANUP_FREE char *fake = part_of(part);
    assert_string_not_equal(fake, part);
}

static void an_escape_is_not_cut_in_two(void **state)
{
    (void)state;
    char text[200];
    memset(text, ' ', sizeof(text) - 1);
    text[199] = '\0';
    CLEANUP_FREE char *part = part_of(text);
    assert_int_equal(part[99], '~');
    assert_int_equal(strncmp(part + 96, "%20", 3), 0);
}

static void every_byte_gives_its_own_part(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    fixture_axis_of(f, "a", 255);
    for (int c = 1; c < 256; c++) {
        char text[2] = {(char)c, '\0'};
        f->axes[0].values[c - 1].text = arena_strdup(f->m.arena, text);
    }
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    CLEANUP(arena_free) struct arena *a = arena_new();
    for (size_t i = 0; i < 255; i++) {
        struct scenario s;
        size_t found = 999;
        plan_scenario(p, i, a, &s);
        assert_null(strchr(s.id, '/'));
        assert_int_equal(plan_find(p, s.id, &found), 0);
        assert_int_equal(found, i);
    }
}

static void case_twins_differ(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    fixture_axis(f, "a", "jvm,JVM");
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    assert_ids(p, "jvm JVM ");
}

static void ids_fit_into_paths(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    char text[120];
    memset(text, 'a', sizeof(text) - 1);
    text[119] = '\0';
    for (int i = 0; i < 16; i++)
        fixture_axis(f, arena_printf(f->m.arena, "a%d", i), text);
    plan_free(fixture_plan(f));
    fixture_axis(f, "last", text);
    assert_plan_fails(f, 0, NULL, ERROR_INVALID, "scenario ids would be up to 2040 bytes long");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_values_stay),
        cmocka_unit_test(others_are_escaped),
        cmocka_unit_test(appends),
        cmocka_unit_test(long_values_are_cut_and_differ),
        cmocka_unit_test(an_escape_is_not_cut_in_two),
        cmocka_unit_test(every_byte_gives_its_own_part),
        cmocka_unit_test(case_twins_differ),
        cmocka_unit_test(ids_fit_into_paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
