/* SPDX-License-Identifier: MIT */
/* Templates and rows: what they give, and what is refused with which line. */
#include "fixture.h"

#include <ctype.h>
#include <fcntl.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/hash.h"

/* From memory that ends with the text, so that a sanitizer sees every read beyond it. */
static int parse(const char *text, struct workload_rows **ret, struct error *err)
{
    size_t len = strlen(text);
    CLEANUP_FREE char *exact = memcpy(xmalloc(len), text, len);

    return workload_rows_parse(exact, len, "r.csv", ret, err);
}

static struct workload_rows *rows_of(const char *text)
{
    struct workload_rows *r = NULL;
    struct error err = ERROR_INIT;

    if (parse(text, &r, &err) < 0)
        fail_msg("refused: %s", err.message);
    return r;
}

static void cell_is(const struct workload_rows *r, size_t row, size_t column, const char *value)
{
    size_t len;
    const char *cell = workload_rows_cell(r, row, column, &len);
    CLEANUP_FREE char *copy = xstrndup(cell, len);

    assert_string_equal(copy, value);
}

static void rows(void **state)
{
    CLEANUP(workload_rows_free)
    struct workload_rows *r = rows_of(
        "\xef\xbb\xbfid,full name,note\r\n1,\"Ada, L\",\"say \"\"hi\"\"\"\r\n2,\"two\r\nlines\",\n\n3,,\"\"");

    (void)state;
    assert_int_equal(workload_rows_count(r), 3);
    assert_int_equal(workload_rows_column(r, "id", 2), 0);
    assert_int_equal(workload_rows_column(r, "full name", 9), 1);
    assert_true(workload_rows_column(r, "full", 4) == SIZE_MAX);
    cell_is(r, 0, 0, "1");
    cell_is(r, 0, 1, "Ada, L");
    cell_is(r, 0, 2, "say \"hi\"");
    cell_is(r, 1, 1, "two\r\nlines");
    cell_is(r, 1, 2, "");
    cell_is(r, 2, 0, "3");
    cell_is(r, 2, 2, "");
    CLEANUP(workload_rows_free) struct workload_rows *one = rows_of("\"a\"\"b\"\n\"\"\n\nx\n\n");
    assert_int_equal(workload_rows_count(one), 2); /* an empty line is no row, an empty value is */
    assert_int_equal(workload_rows_column(one, "a\"b", 3), 0);
    cell_is(one, 1, 0, "x");
}

static void wrong_rows(void **state)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "r.csv:1: the file is empty"},
        {"\xef\xbb\xbf", "r.csv:1: the file is empty"},
        {"a,b\n", "there are no rows"},
        {"a,b\n\n\r\n", "there are no rows"},
        {"\n1\n", "r.csv:1: a column has no name"},
        {"a,,c\n1,2,3\n", "r.csv:1: a column has no name"},
        {"a,b,a\n1,2,3\n", "r.csv:1: two columns are called 'a'"},
        {"a,b\n1,2\n1\n", "r.csv:3: 1 values instead of 2"},
        {"a,b\n\"x\ny\",2\n1,2,3\n", "r.csv:4: 3 values instead of 2"},
        {"a,b\n1,2,\n", "r.csv:2: 3 values instead of 2"},
        {"a\n\"x\n\n", "r.csv:2: a quoted value does not end"},
        {"a\n\"x\" \n", "r.csv:2: text behind a quoted value"},
        {"a\n\"x\ny\"z\n", "r.csv:3: text behind a quoted value"},
        {"a\nx\"y\"\n", "r.csv:2: a quote inside a value"},
        {"a\rb\r", "r.csv:1: a carriage return without a line feed"},
        {"\xff\xfe"
         "a",
         "UTF-16 is not read"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct workload_rows *r = NULL;
        struct error err = ERROR_INIT;
        assert_int_equal(parse(bad[i].text, &r, &err), -1);
        assert_has(err.message, bad[i].message);
        assert_null(r);
    }
    struct workload_rows *r = NULL;
    struct error err = ERROR_INIT;
    assert_int_equal(workload_rows_parse("a\nx\0y\n", 6, "r.csv", &r, &err), -1);
    assert_has(err.message, "byte 4 is NUL");
}

static void rows_of_a_file(void **state)
{
    char path[] = "/tmp/benchctl-rows-XXXXXX";
    CLEANUP_CLOSE int fd = mkostemp(path, O_CLOEXEC);
    CLEANUP(workload_rows_free) struct workload_rows *r = NULL;
    struct error err = ERROR_INIT;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(fs_write(path, "a\n1\n2\n", 6, &err), 0);
    assert_int_equal(workload_rows_read(path, &r, &err), 0);
    assert_int_equal(workload_rows_count(r), 2);
    assert_int_equal(truncate(path, (64 << 20) + 1), 0);
    struct workload_rows *other = NULL;
    assert_int_equal(workload_rows_read(path, &other, &err), -1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(workload_rows_read(path, &other, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    assert_int_equal(workload_rows_read("/tmp", &other, &err), -1);
}

struct fixture {
    struct arena *a;
    struct rng rng;
    struct workload_values values;
    struct strbuf out;
};

static const char *render_with(struct fixture *f, const char *text, const struct workload_rows *r)
{
    struct workload_template *t = NULL;
    struct error err = ERROR_INIT;

    if (workload_template_compile(text, strlen(text), r, f->a, &t, &err) < 0)
        fail_msg("refused '%s': %s", text, err.message);
    strbuf_clear(&f->out);
    f->values.rng = &f->rng;
    workload_template_render(t, &f->values, &f->out);
    return strbuf_text(&f->out);
}

static const char *render(struct fixture *f, const char *text)
{
    return render_with(f, text, NULL);
}

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));

    f->a = arena_new();
    rng_seed(&f->rng, 5);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    strbuf_release(&f->out);
    arena_free(f->a);
    free(f);
    return 0;
}

static void values(void **state)
{
    struct fixture *f = *state;

    f->values = (struct workload_values){.counter = UINT64_MAX, .vu = 7, .iteration = 0, .id = "r-1"};
    assert_string_equal(render(f, ""), "");
    assert_string_equal(render(f, "plain"), "plain");
    assert_string_equal(render(f, "{{counter}}/{{ vu }}-{{iteration}}{{\tid\n}}!"),
                        "18446744073709551615/7-0r-1!");
    assert_string_equal(render(f, "{\"a\": {\"n\": {{vu}}}}"), "{\"a\": {\"n\": 7}}");
    assert_string_equal(render(f, "{{{{vu}} { }} {{{{{{{{"), "{{vu}} { }} {{{{");
    f->values.id = NULL;
    assert_string_equal(render(f, "{{id}}"), "");
    assert_int_equal(setenv("BENCHCTL_TEST_VALUE", "from {{vu}} outside", 1), 0);
    assert_string_equal(render(f, "<{{env.BENCHCTL_TEST_VALUE}}>"), "<from {{vu}} outside>");
    assert_string_equal(render(f, "{{random 5 5}} {{random -3 -3}} {{choice only}}"), "5 -3 only");
    assert_string_equal(render(f, "{{random -9223372036854775808 -9223372036854775808}}"),
                        "-9223372036854775808");
}

static void rows_in_turn(void **state)
{
    struct fixture *f = *state;
    CLEANUP(workload_rows_free) struct workload_rows *r = rows_of("id,full name\n1,a\n2,\"b c\"\n");

    static const char *const wanted[] = {"1=a", "2=b c", "1=a"};
    for (uint64_t i = 0; i < 3; i++) {
        f->values.row = i;
        assert_string_equal(render_with(f, "{{row.id}}={{ row.full name }}", r), wanted[i]);
    }
    f->values.row = UINT64_MAX;
    assert_string_equal(render_with(f, "{{row.id}}", r), "2");
}

static void random_values(void **state)
{
    struct fixture *f = *state;
    int seen[3] = {0}, words[3] = {0};

    for (int i = 0; i < 3000; i++) {
        int n = render(f, "{{random -1 1}}")[0] == '-' ? 0 : strbuf_text(&f->out)[0] - '0' + 1;
        assert_in_range(n, 0, 2);
        seen[n]++;
        words[strlen(render(f, "{{choice a bb ccc}}")) - 1]++;
    }
    for (int i = 0; i < 3; i++) { /* 1000 each; 5.8 standard deviations */
        assert_in_range(seen[i], 850, 1150);
        assert_in_range(words[i], 850, 1150);
    }
    for (int i = 0; i < 100; i++) /* all of 64 bits: there is no bound to pass to the generator */
        assert_true(strlen(render(f, "{{random -9223372036854775808 9223372036854775807}}")) > 10);
}

static void uuids(void **state)
{
    struct fixture *f = *state;
    char first[37];
    struct rng same;

    for (int i = 0; i < 200; i++) {
        const char *u = render(f, "{{uuid}}");
        assert_int_equal(strlen(u), 36);
        for (int k = 0; k < 36; k++)
            assert_true(k == 8 || k == 13 || k == 18 || k == 23 ? u[k] == '-'
                                                                : isxdigit((unsigned char)u[k]));
        assert_true(u[14] == '4' && strchr("89ab", u[19]));
    }
    rng_seed(&f->rng, 9);
    (void)snprintf(first, sizeof(first), "%s", render(f, "{{uuid}}"));
    assert_string_not_equal(first, render(f, "{{uuid}}"));
    rng_seed(&same, 9);
    f->rng = same;
    assert_string_equal(first, render(f, "{{uuid}}"));
}

static void times(void **state)
{
    struct fixture *f = *state;
    int64_t before = clock_wall_ns() / NS_PER_MS;

    int64_t shown = clock_parse_rfc3339(render(f, "{{time}}")) / NS_PER_MS;
    long long ms = strtoll(render(f, "{{time_ms}}"), NULL, 10);
    assert_true(shown >= before && ms >= shown && ms <= clock_wall_ns() / NS_PER_MS);
}

static void constants(void **state)
{
    struct fixture *f = *state;
    struct error err = ERROR_INIT;
    static const struct {
        const char *text;
        bool constant;
    } cases[] = {{"", true},        {"x", true},         {"{{{{x}}", true},  {"{{env.PATH}}", true},
                 {"{{vu}}", false}, {"a{{id}}b", false}, {"{{time}}", false}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct workload_template *t = NULL;
        assert_int_equal(
            workload_template_compile(cases[i].text, strlen(cases[i].text), NULL, f->a, &t, &err), 0);
        assert_int_equal(workload_template_is_constant(t), cases[i].constant);
    }
}

/* Bodies are bytes: a NUL is one of them. */
static void binary(void **state)
{
    struct fixture *f = *state;
    struct workload_template *t = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(workload_template_compile("a\0b{{vu}}\0", 10, NULL, f->a, &t, &err), 0);
    f->values.vu = 3;
    workload_template_render(t, &f->values, &f->out);
    assert_int_equal(f->out.len, 5);
    assert_memory_equal(f->out.data, "a\0b3\0", 5);
}

static void wrong_templates(void **state)
{
    struct fixture *f = *state;
    CLEANUP(workload_rows_free) struct workload_rows *r = rows_of("id,name\n1,a\n");
    static const struct {
        const char *text, *message, *hint;
    } bad[] = {
        {"{{", "'{{' without '}}'", "{{{{"},
        {"a {{vu}", "'{{' without '}}'", ""},
        {"{{}}", "'{{}}' is empty", ""},
        {"{{ \t }}", "'{{}}' is empty", ""},
        {"{{conter}}", "unknown '{{conter}}'", "did you mean '{{counter}}'?"},
        {"{{uid}}", "unknown", "did you mean"},
        {"{{zzzzzzzzz}}", "unknown '{{zzzzzzzzz}}'", "known are"},
        {"{{vu 1}}", "unknown '{{vu 1}}'", ""},
        {"{{{vu}}}", "unknown '{{{vu}}'", "{{vu}}"},
        {"{{random}}", "needs two whole numbers", "{{random 1 1000}}"},
        {"{{random 1}}", "needs two whole numbers", ""},
        {"{{random 1 2 3}}", "needs two whole numbers", ""},
        {"{{random 1 x}}", "needs two whole numbers", ""},
        {"{{random 1 99999999999999999999}}", "needs two whole numbers", ""},
        {"{{random 2 1}}", "2 is above 1", ""},
        {"{{choice}}", "nothing to choose from", ""},
        {"{{row.}}", "names no column", ""},
        {"{{row.nam}}", "no column is called 'nam'", "did you mean 'name'?"},
        {"{{row.zzzzzzzz}}", "no column is called", "the first is called 'id'"},
        {"{{env.}}", "names no variable", ""},
        {"{{env.A=B}}", "names no variable", ""},
        {"{{env.BENCHCTL_TEST_ABSENT}}", "the environment has no 'BENCHCTL_TEST_ABSENT'", ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct workload_template *t = NULL;
        struct error err = ERROR_INIT;
        if (workload_template_compile(bad[i].text, strlen(bad[i].text), r, f->a, &t, &err) == 0)
            fail_msg("accepted: %s", bad[i].text);
        assert_has(err.message, bad[i].message);
        assert_has(err.hint, bad[i].hint);
    }
    struct workload_template *t = NULL;
    struct error err = ERROR_INIT;
    assert_int_equal(workload_template_compile("{{row.id}}", 10, NULL, f->a, &t, &err), -1);
    assert_has(err.message, "there are no rows");
}

int main(void)
{
#define WITH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(wrong_rows),
        cmocka_unit_test(rows_of_a_file),
        WITH(values),
        WITH(rows_in_turn),
        WITH(random_values),
        WITH(uuids),
        WITH(times),
        WITH(constants),
        WITH(binary),
        WITH(wrong_templates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
