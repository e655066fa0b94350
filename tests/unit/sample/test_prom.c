/* SPDX-License-Identifier: MIT */
/* The tokenizer of Prometheus text: hostile and odd input. */
#include <locale.h>
#include "prom_test.h"

static struct parsed parse(const char *text)
{
    return parse_as(text, strlen(text), NULL);
}

static struct parsed parse_case(const char *name, const char *type)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = read_case(name);

    return parse_as(strbuf_text(&text), text.len, type);
}

static const struct prom_sample *named(const struct prom_scrape *s, const char *name)
{
    for (size_t i = 0; i < s->sample_count; i++)
        if (strcmp(s->samples[i].name, name) == 0)
            return &s->samples[i];
    return NULL;
}

static double value(const struct prom_scrape *s, const char *name)
{
    const struct prom_sample *found = named(s, name);

    assert_non_null(found);
    return found->value;
}

static void test_quotes(void **state)
{
    (void)state;
    PARSED p = parse_case("F01/quotes.prom", NULL);
    static const double values[] = {1, 2, 3, 4, 5, 6, 7, 11};

    assert_int_equal(p.s.sample_count, ARRAY_LEN(values));
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        assert_near(p.s.samples[i].value, values[i]);
    assert_string_equal(label(&p.s.samples[0], "list"), "{plpgsql}");
    assert_string_equal(label(&p.s.samples[1], "list"), "a,b=\"c\"");
    assert_string_equal(label(&p.s.samples[2], "list"), "with space # and hash");
    assert_string_equal(label(&p.s.samples[2], "db"), "");
    assert_int_equal(p.s.samples[3].label_count, 1);
    assert_string_equal(label(&p.s.samples[4], "db"), "z");
    assert_string_equal(label(&p.s.samples[5], "list"), "}");
    assert_int_equal(p.s.samples[6].label_count, 0);
    assert_int_equal(p.s.bad_lines, 2);
    assert_int_equal(p.s.first_bad_line, 9);
    assert_int_equal(p.s.duplicate_series, 1); /* `ext{}` and `ext` */
}

static void test_escapes(void **state)
{
    (void)state;
    PARSED p = parse_case("F02/escapes.prom", NULL);

    assert_int_equal(p.s.sample_count, 6);
    assert_string_equal(label(&p.s.samples[0], "p"), "C:\\dir\\");
    assert_string_equal(label(&p.s.samples[1], "p"), "say \"hi\"");
    assert_string_equal(label(&p.s.samples[2], "p"), "two\nlines");
    assert_string_equal(label(&p.s.samples[3], "p"), "odd \\q escape");
    assert_near(p.s.samples[4].value, 7);
    assert_near(p.s.samples[5].value, 8);
    assert_int_equal(p.s.unknown_escapes, 1);
    assert_int_equal(p.s.bad_lines, 3);
    assert_int_equal(p.s.first_bad_line, 5);
    assert_int_equal(p.s.duplicate_series, 1); /* the order of labels does not matter */
}

static void test_formats(void **state)
{
    (void)state;
    PARSED classic = parse_case("F03/classic.prom", "text/plain; version=0.0.4");
    PARSED om = parse_case("F03/openmetrics.prom", "application/openmetrics-text; version=1.0.0");
    PARSED cut = parse_case("F03/openmetrics_cut.prom", "application/openmetrics-text; version=1.0.0");
    PARSED exemplar = parse_case("F03/exemplar_in_classic.prom", "text/plain; version=0.0.4");

    assert_near(value(&classic.s, "http_requests_total"), 15);
    assert_near(value(&om.s, "http_requests_total"), 15);
    assert_near(classic.s.samples[0].timestamp_ms, 1700000000123.0);
    assert_near(om.s.samples[0].timestamp_ms, 1700000000123.0);
    assert_null(named(&om.s, "http_requests_created"));
    assert_int_equal(om.s.bad_lines, 0);
    assert_int_equal(om.s.sample_count, 5);
    assert_near(om.s.samples[1].value, 4);
    assert_true(classic.s.complete && om.s.complete && om.s.openmetrics && !classic.s.openmetrics);
    assert_false(cut.s.complete);
    assert_near(value(&cut.s, "http_requests_total"), 15);
    assert_near(exemplar.s.samples[0].value, 4);
    assert_near(exemplar.s.samples[1].value, 5);
    assert_int_equal(exemplar.s.bad_lines, 0);
}

static void test_sniffed_openmetrics(void **state)
{
    (void)state;
    PARSED p = parse_case("F03/openmetrics.prom", NULL);
    PARSED behind = parse_as("a 1\n# EOF\nb 2\n", 14, "application/openmetrics-text");
    PARSED classic = parse_as("a 1\n# EOF\nb 2\n", 14, "text/plain");

    assert_true(p.s.openmetrics && p.s.complete);
    assert_int_equal(behind.s.sample_count, 1); /* nothing counts behind the end */
    assert_int_equal(classic.s.sample_count, 2);
}

static const char *family_type(const struct prom_scrape *s, const char *name)
{
    for (size_t i = 0; i < s->family_count; i++)
        if (strcmp(s->families[i].name, name) == 0)
            return s->families[i].type;
    return NULL;
}

static void test_repeated_declarations(void **state)
{
    (void)state;
    PARSED help = parse_case("F04/dup_help.prom", NULL);
    PARSED late = parse_case("F04/type_late.prom", NULL);
    PARSED series = parse_case("F04/dup_series.prom", NULL);

    assert_near(value(&help.s, "other"), 1);
    assert_int_equal(help.s.repeated_meta, 2);
    assert_int_equal(help.s.sample_count, 3);
    assert_near(value(&late.s, "other"), 1);
    assert_string_equal(family_type(&late.s, "late_total"), "counter");
    assert_int_equal(late.s.repeated_meta, 1);
    assert_near(value(&series.s, "other"), 1);
    assert_near(value(&series.s, "pool_active"), 3);
    assert_int_equal(series.s.duplicate_series, 1);
}

static void check_numbers(void)
{
    PARSED p = parse_case("F05/numbers.prom", NULL);
    static const char *const bad[] = {"n8", "n9", "n10", "n15", "n16"};

    assert_near(value(&p.s, "n1"), 1e7);
    assert_nan(value(&p.s, "n2"));
    assert_true(value(&p.s, "n3") == (double)INFINITY && value(&p.s, "n4") == -(double)INFINITY);
    assert_near(value(&p.s, "n5"), 42);
    assert_near(value(&p.s, "n6"), 43);
    assert_near(value(&p.s, "n7"), 44);
    assert_near(named(&p.s, "n7")->timestamp_ms, 1700000000123.0);
    assert_nan(named(&p.s, "n6")->timestamp_ms);
    assert_near(value(&p.s, "n11"), 0.5);
    assert_near(value(&p.s, "n12"), 5);
    assert_true(value(&p.s, "n13") == 0 && signbit(value(&p.s, "n13")));
    assert_true(isinf(value(&p.s, "n14")));
    assert_true(value(&p.s, "n17") > 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_null(named(&p.s, bad[i]));
    assert_int_equal(p.s.bad_lines, ARRAY_LEN(bad));
    assert_int_equal(p.s.first_bad_line, 8);
}

static void test_numbers(void **state)
{
    (void)state;
    check_numbers();
}

static void test_numbers_in_a_locale_with_commas(void **state)
{
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
        print_message("skipped: no locale with a decimal comma here\n");
        skip();
    }
    check_numbers();
    (void)setlocale(LC_NUMERIC, "C");
}

/* Every number must come out as strtod() reads it, the short way or the long one. */
static void test_numbers_are_exact(void **state)
{
    (void)state;
    static const char *const texts[] = {"0.1",
                                        "123456789012345",
                                        "0.000001",
                                        "1.7976931348623157e308",
                                        "1234.5678",
                                        "-0.3",
                                        "999999999999.999",
                                        "9007199254740993",
                                        "3.3086e-05",
                                        "1.5708e+09",
                                        "0.00000000000001",
                                        "+5"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        char line[64];
        (void)snprintf(line, sizeof(line), "x %s\n", texts[i]);
        PARSED p = parse(line);
        assert_int_equal(p.s.sample_count, 1);
        assert_true(p.s.samples[0].value == strtod(texts[i], NULL));
    }
}

static void test_line_ends(void **state)
{
    (void)state;
    PARSED crlf = parse_case("F05/crlf.prom", NULL);
    PARSED nonl = parse_case("F05/nonl.prom", NULL);
    PARSED cut = parse_case("F05/cut_value.prom", NULL);

    assert_near(value(&crlf.s, "a"), 1);
    assert_near(value(&crlf.s, "b"), 2);
    assert_string_equal(label(named(&crlf.s, "b"), "x"), "y");
    assert_true(crlf.s.complete && crlf.s.bad_lines == 0);
    assert_near(value(&nonl.s, "b"), 2);
    assert_false(nonl.s.complete);
    assert_near(value(&cut.s, "b_total"), 123);
    assert_false(cut.s.complete);
}

static void test_bad_lines(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "a",
        "a ",
        "{} 1",
        "a{b} 1",
        "a{b=} 1",
        "a{=\"x\"} 1",
        "a{b=\"x\" 1",
        "a{b=\"x\"",
        "1a 2",
        "a{,} 1",
        "a 1 x",
        "a 1 2 # no",
        "a{b=\"1\",b=\"2\"} 3",
        "a 1 # comment",
        "a-b 1",
        "a 1 2 3",
        "a{b=\"x\"}",
        "a 0x10",
        "a nanx",
        "a --1",
        "a 1_0",
        "a{b=\"x\"c=\"y\"} 1",
        "a{\"n\"} 1",
        "a .",
        "a -",
        "a 1e",
        "{\"a\"",
        "{\"a\",\"b\"} 1",
        "\xff 1",
        "a{b\"x\"} 1",
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text), "good 1\n%s\ngood{x=\"2\"} 2\n", lines[i]);
        PARSED p = parse(text);
        if (p.s.bad_lines != 1 || p.s.first_bad_line != 2 || p.s.sample_count != 2)
            fail_msg("'%s': %zu bad lines, %zu samples", lines[i], p.s.bad_lines, p.s.sample_count);
    }
}

static void test_odd_but_good_lines(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "a 1",
        "  a 1",
        "a\t1\t",
        "a{ } 1",
        "a{b=\"x\"}1",
        "a{b=\"x\" , } 1",
        "a:b_C9 1",
        "a{b-c=\"x\"} 1",
        "a NAN",
        "a -inf",
        "a 1 -5",
        "{\"a.b c\"} 1",
        "{\"a\",b=\"x\"} 1",
        "a{\"b c\"=\"x\"} 1",
        "a 1 # {x=\"y\"} 2 3",
        "a{b=\"\xff\"} 1",
        "a +Infinity",
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text), "%s\n", lines[i]);
        PARSED p = parse(text);
        if (p.s.bad_lines || p.s.sample_count != 1)
            fail_msg("'%s' is not read", lines[i]);
    }
    PARSED quoted = parse("{\"a.b c\",x=\"1\"} 7\n");
    assert_near(value(&quoted.s, "a.b c"), 7);
    assert_string_equal(label(&quoted.s.samples[0], "x"), "1");
}

static void test_nul_bytes_and_comments(void **state)
{
    (void)state;
    static const char nul[] = "a 1\nb\0c 2\nd{x=\"y\0z\"} 3\n\0\ne 4\n";
    PARSED p = parse_as(nul, sizeof(nul) - 1, NULL);
    PARSED comments = parse(
        "#\n# \n#TYPE x counter\n# HELP\n# TYPE\n# TYPE only\n# HELP a  text\n# UNIT a s\n#a 1\n\n   \n");

    assert_int_equal(p.s.sample_count, 2);
    assert_int_equal(p.s.bad_lines, 3);
    assert_int_equal(comments.s.sample_count + comments.s.bad_lines + comments.s.repeated_meta, 0);
    assert_string_equal(family_type(&comments.s, "x"), "counter");
    assert_string_equal(family_type(&comments.s, "only"), "untyped");
}

static void test_nothing(void **state)
{
    (void)state;
    PARSED p = parse("");
    PARSED newline = parse("\n");

    assert_int_equal(p.s.sample_count + p.s.bad_lines, 0);
    assert_false(p.s.complete);
    assert_true(newline.s.complete);
}

static void test_limits(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct prom_scrape s;
    struct error err = ERROR_INIT;

    strbuf_adds(&text, "long{x=\"");
    for (size_t i = 0; i < PROM_MAX_LINE; i++)
        strbuf_addc(&text, 'y');
    strbuf_adds(&text, "\"} 1\nmany{");
    for (int i = 0; i <= PROM_MAX_LABELS; i++)
        strbuf_addf(&text, "l%d=\"\",", i);
    strbuf_adds(&text, "} 2\nok 3\n");
    assert_int_equal(prom_parse(text.data, text.len, NULL, a, &s, &err), 0);
    assert_int_equal(s.bad_lines, 2);
    assert_near(value(&s, "ok"), 3);

    strbuf_clear(&text);
    for (size_t i = 0; i <= PROM_MAX_SAMPLES; i++)
        strbuf_adds(&text, "a 1\n");
    assert_int_equal(prom_parse(text.data, text.len, NULL, a, &s, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_has(err.message, "more than 250000 metric lines");
    text.len = PROM_MAX_BYTES + 1;
    assert_true(text.cap > 0);
    assert_int_equal(prom_parse(text.data, text.len, NULL, a, &s, &err), -1);
    assert_has(err.message, "more than 16 MiB");
    text.len = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_sniffed_openmetrics),
        cmocka_unit_test(test_repeated_declarations),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_numbers_in_a_locale_with_commas),
        cmocka_unit_test(test_numbers_are_exact),
        cmocka_unit_test(test_line_ends),
        cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_odd_but_good_lines),
        cmocka_unit_test(test_nul_bytes_and_comments),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
