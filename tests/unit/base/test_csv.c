/* SPDX-License-Identifier: MIT */
/* Values of RFC 4180 and where they stand. */
#include "benchctl/base/csv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "benchctl/base/mem.h"

/* "1:1 a|1:3 b;" of a text; the error's message when it is none. */
static const char *read_all(const char *text)
{
    static char shown[1024];
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT, value = STRBUF_INIT;
    struct csv_reader r = {.columns = true};
    struct error err = ERROR_INIT;
    bool last = false;

    if (csv_reader_init(&r, text, strlen(text), "x", &err) < 0)
        return strcpy(shown, err.message);
    while (csv_more(&r)) {
        do {
            strbuf_clear(&value);
            if (csv_next(&r, &value, &last, &err) < 0)
                return strcpy(shown, err.message);
            strbuf_addf(&out, "%zu:%zu %s%s", r.value_line, r.value_column, strbuf_text(&value),
                        last ? ";" : "|");
        } while (!last);
    }
    (void)snprintf(shown, sizeof(shown), "%s", strbuf_text(&out));
    return shown;
}

static void values_and_places(void **state)
{
    (void)state;
    assert_string_equal(read_all(""), "");
    assert_string_equal(read_all("a,b\n1,\n"), "1:1 a|1:3 b;2:1 1|2:3 ;");
    assert_string_equal(read_all("a\r\n\r\n\nb"), "1:1 a;4:1 b;");
    assert_string_equal(read_all("\"a,\"\"b\"\n"), "1:1 a,\"b;");
    assert_string_equal(read_all("\"x\ny\",2\n3,4"), "1:1 x\ny|2:4 2;3:1 3|3:3 4;");
    assert_string_equal(read_all("\xef\xbb\xbf"
                                 "a,\"\"\n"),
                        "1:1 a|1:3 ;");
}

static void what_is_wrong_and_where(void **state)
{
    (void)state;
    assert_string_equal(read_all("a\n1,\"2\n3"), "x:2:3: a quoted value does not end");
    assert_string_equal(read_all("a\n1,\"2\"3"), "x:2:6: text behind a quoted value");
    assert_string_equal(read_all("a\n1,2\"3"), "x:2:4: a quote inside a value that has none around it");
    assert_string_equal(read_all("a\rb"), "x:1:2: a carriage return without a line feed");
    assert_string_equal(read_all("\xfe\xff"), "x: UTF-16 is not read: write it as UTF-8");
}

static void lines_alone(void **state)
{
    struct csv_reader r = {0};
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(csv_reader_init(&r, "a", 1, "x", &err), 0);
    (void)csv_error(&r, 7, 3, &err, "no");
    assert_string_equal(err.message, "x:7: no");
    assert_int_equal(csv_reader_init(&r, "a\0b", 3, "x", &err), -1);
    assert_string_equal(err.message, "x: byte 2 is NUL: this is no text");
}

static char separator(const char *text)
{
    return csv_separator(text, strlen(text));
}

static void other_separators(void **state)
{
    (void)state;
    assert_int_equal(separator(""), ',');
    assert_int_equal(separator("one\n1;2\n"), ',');
    assert_int_equal(separator("\na;b;\"c,d,e,f\"\n1,2,3,4,5"), ';');
    assert_int_equal(separator("a,b;c\n"), ','); /* as many: what it mostly is */
    assert_int_equal(separator("\"a\n;;;\"\tb\tc\n"), '\t');
    struct csv_reader r = {.separator = ';'};
    CLEANUP_VALUE(strbuf_release) struct strbuf value = STRBUF_INIT;
    struct error err = ERROR_INIT;
    bool last = true;
    assert_int_equal(csv_reader_init(&r, "1,5;\"2;3\"\n", 10, "x", &err), 0);
    assert_int_equal(csv_next(&r, &value, &last, &err), 0);
    assert_false(last);
    assert_string_equal(strbuf_text(&value), "1,5");
    strbuf_clear(&value);
    assert_int_equal(csv_next(&r, &value, &last, &err), 0);
    assert_true(last);
    assert_string_equal(strbuf_text(&value), "2;3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_places),
        cmocka_unit_test(what_is_wrong_and_where),
        cmocka_unit_test(lines_alone),
        cmocka_unit_test(other_separators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
