/* SPDX-License-Identifier: MIT */
/* SQL files cut into statements as psql cuts them. */
#include "unit/check.h"

#include <stdio.h>
#include "benchctl/base/mem.h"
#include "benchctl/base/strbuf.h"
#include "script.h"

/* The statements joined by '|', or the error. */
static char *cut(const char *text)
{
    struct strbuf out = STRBUF_INIT;
    struct error err = ERROR_INIT;
    struct script s;
    struct statement st;
    bool end = false;

    if (script_open(&s, "f.sql", text, strlen(text), &err) < 0)
        return xstrdup(err.message);
    for (;;) {
        if (script_next(&s, &st, &end, &err) < 0) {
            strbuf_release(&out);
            return xstrdup(err.message);
        }
        if (end)
            return strbuf_detach(&out);
        strbuf_adds(&out, out.len ? "|" : "");
        strbuf_add(&out, st.text, st.len);
    }
}

static void gives(const char *text, const char *wanted)
{
    CLEANUP_FREE char *got = cut(text);

    if (strcmp(got, wanted) != 0)
        fail_msg("%s\ngives  %s\nwanted %s", text, got, wanted);
}

static void statements_end_at_semicolons(void **state)
{
    (void)state;
    gives("", "");
    gives("  \n\t", "");
    gives(";;;", "");
    gives("select 1", "select 1");
    gives("select 1;select 2;\nselect 3", "select 1|select 2|select 3");
    gives("\xef\xbb\xbfselect 1;", "select 1");
    gives("select 1;\r\nselect 2;\r\n", "select 1|select 2");
}

static void quotes_keep_semicolons(void **state)
{
    (void)state;
    gives("select ';', 'it''s; ok';x", "select ';', 'it''s; ok'|x");
    gives("select 'back\\';x", "select 'back\\'|x"); /* standard strings: a backslash is a letter */
    gives("select E'it\\'s; ok';x", "select E'it\\'s; ok'|x");
    gives("select e'a''\\';b';x", "select e'a''\\';b'|x");
    gives("select type'a\\';x", "select type'a\\'|x"); /* not an E string: the word only ends in e */
    gives("select \"a;b\", \"a\"\"; b\";x", "select \"a;b\", \"a\"\"; b\"|x");
    gives("select 1e'a\\';x", "select 1e'a\\'|x");
}

static void old_strings_have_escapes(void **state)
{
    static const char text[] = "select 'it\\'s; ok', \"a\\\";x";
    struct error err = ERROR_INIT;
    struct script s;
    struct statement st;
    bool end;

    (void)state;
    assert_int_equal(script_open(&s, "f.sql", text, strlen(text), &err), 0);
    s.escapes = true;
    assert_int_equal(script_next(&s, &st, &end, &err), 0);
    assert_int_equal(st.len, strlen(text) - 2);
}

static void dollar_quotes_keep_everything(void **state)
{
    (void)state;
    gives("do $$ begin; 'x end; $$;x", "do $$ begin; 'x end; $$|x");
    gives("do $a$ $$;$b$ $a$;x", "do $a$ $$;$b$ $a$|x");
    gives("select $1; x", "select $1|x");
    gives("select a$b; x$", "select a$b|x$");
    gives("select $1$; x", "select $1$|x");
    gives("select $\xc3\xa4$;$\xc3\xa4$;x", "select $\xc3\xa4$;$\xc3\xa4$|x");
}

static void comments_are_skipped_or_kept(void **state)
{
    (void)state;
    gives("-- a; b\nselect 1;-- end", "select 1");
    gives("/* a; /* b; */ c; */ select 1; /* d */", "select 1");
    gives("select 1 -- a; 'b\n+ 1;x", "select 1 -- a; 'b\n+ 1|x");
    gives("select 1 /* ; */ + 1;x", "select 1 /* ; */ + 1|x");
    gives("select 2 - -1; select 8 / 2", "select 2 - -1|select 8 / 2");
}

static void bodies_keep_semicolons(void **state)
{
    (void)state;
    gives("create rule r as on insert to t do (select 1; select 2);x",
          "create rule r as on insert to t do (select 1; select 2)|x");
    gives("create function f() returns int begin atomic select 1; select case when true then 2 end; end;x",
          "create function f() returns int begin atomic select 1; select case when true then 2 end; end|x");
    gives("CREATE OR REPLACE PROCEDURE p() BEGIN ATOMIC SELECT 1; END;x",
          "CREATE OR REPLACE PROCEDURE p() BEGIN ATOMIC SELECT 1; END|x");
    gives("begin; select 1; end;", "begin|select 1|end"); /* a transaction is not a body */
    gives("create table begin_(a int);x", "create table begin_(a int)|x");
    gives("select 1); select 2", "select 1)|select 2"); /* the server says what is wrong with it */
}

static void open_ends_name_their_line(void **state)
{
    (void)state;
    gives("select 1;\nselect 'abc\n;", "f.sql:2: text in quotes is not closed");
    gives("select \"abc", "f.sql:1: quoted name is not closed");
    gives("\n\n/* /* */", "f.sql:3: comment is not closed");
    gives("x;\ndo $a$ $b$", "f.sql:2: dollar-quoted text is not closed");
    gives("select E'a\\", "f.sql:1: text in quotes is not closed");
}

static void commands_of_psql_are_refused(void **state)
{
    struct error err = ERROR_INIT;
    struct statement st;
    struct script s;
    bool end;
    static const char connect[] = "\\connect other\n";

    (void)state;
    gives("select 1;\n\\i other.sql\n", "f.sql:2: '\\i' is a command of psql, not SQL");
    gives("select 1 \\gset", "f.sql:1: '\\gset' is a command of psql, not SQL");
    gives("\\.\n", "f.sql:1: '\\.' without COPY ... FROM stdin before it");
    gives("\\restrict abc\nselect 1;\n\\unrestrict abc\n", "select 1"); /* what pg_dump writes */
    gives("\\restricted\n", "f.sql:1: '\\restricted' is a command of psql, not SQL");
    assert_int_equal(script_open(&s, "f.sql", connect, strlen(connect), &err), 0);
    assert_int_equal(script_next(&s, &st, &end, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_has(err.hint, "--create");
}

static void other_files_are_refused(void **state)
{
    struct error err = ERROR_INIT;
    struct script s;

    (void)state;
    assert_int_equal(script_open(&s, "d", "PGDMP\1\2", 7, &err), -1);
    assert_has(err.message, "archive of pg_dump");
    assert_has(err.hint, "pg_restore");
    assert_int_equal(script_open(&s, "d", "\x1f\x8b\x08", 3, &err), -1);
    assert_has(err.message, "compressed");
    assert_int_equal(script_open(&s, "d", "\xff\xfes\0", 4, &err), -1);
    assert_has(err.message, "UTF-16");
    assert_int_equal(script_open(&s, "d", "a\nb\0c", 5, &err), -1);
    assert_string_equal(err.message, "d:2: NUL byte in the text");
}

static void copy_data_is_handed_out(void **state)
{
    static const char text[] =
        "copy t from stdin; -- two rows\n1\tone\n2\tt\\\\.o\n\\.\nselect 1;\ncopy t from stdin;\n"
        "3\tthree\r\n\\.\r\ncopy t from stdin;\nlast";
    struct error err = ERROR_INIT;
    struct script s;
    struct statement st;
    bool end;
    const char *data;
    size_t len;
    int line;

    (void)state;
    assert_int_equal(script_open(&s, "f.sql", text, strlen(text), &err), 0);
    assert_int_equal(script_next(&s, &st, &end, &err), 0);
    assert_int_equal(script_data(&s, &data, &len, &line, &err), 0);
    assert_int_equal(len, 14);
    assert_memory_equal(data, "1\tone\n2\tt\\\\.o\n", 14);
    assert_int_equal(line, 2);
    assert_int_equal(script_next(&s, &st, &end, &err), 0);
    assert_memory_equal(st.text, "select 1", 8);
    assert_int_equal(st.line, 5);
    assert_int_equal(script_next(&s, &st, &end, &err), 0);
    assert_int_equal(script_data(&s, &data, &len, &line, &err), 0);
    assert_int_equal(len, 9);
    assert_int_equal(script_next(&s, &st, &end, &err), 0);
    assert_int_equal(st.line, 9);
    assert_int_equal(script_data(&s, &data, &len, &line, &err), 0); /* the end of the file ends it too */
    assert_int_equal(len, 4);
    assert_int_equal(script_next(&s, &st, &end, &err), 0);
    assert_true(end);
}

static void copy_data_starts_on_the_next_line(void **state)
{
    static const char text[] = "copy t from stdin; 1\n\\.\n";
    struct error err = ERROR_INIT;
    struct script s;
    struct statement st;
    const char *data;
    size_t len;
    bool end;
    int line;

    (void)state;
    assert_int_equal(script_open(&s, "f.sql", text, strlen(text), &err), 0);
    assert_int_equal(script_next(&s, &st, &end, &err), 0);
    assert_int_equal(script_data(&s, &data, &len, &line, &err), -1);
    assert_has(err.message, "f.sql:1: text after COPY");
}

static void positions_become_lines(void **state)
{
    static const char text[] = "\n\nselect '\xc3\xa4\xe2\x82\xac',\n  nothing\n from t";
    struct error err = ERROR_INIT;
    struct script s;
    struct statement st;
    bool end;

    (void)state;
    assert_int_equal(script_open(&s, "f.sql", text, strlen(text), &err), 0);
    assert_int_equal(script_next(&s, &st, &end, &err), 0);
    assert_int_equal(statement_line(&st, 0), 3);
    assert_int_equal(statement_line(&st, 1), 3);
    assert_int_equal(statement_line(&st, 13), 3); /* the newline itself: characters, not bytes, are counted */
    assert_int_equal(statement_line(&st, 14), 4);
    assert_int_equal(statement_line(&st, 1000), 5);
}

static void snippets_are_one_line_of_whole_characters(void **state)
{
    char buf[SNIPPET_SIZE], text[400];
    struct statement st = {.text = "select\n\t 1,\r\n 2", .len = 15};

    (void)state;
    statement_snippet(&st, buf);
    assert_string_equal(buf, "select 1, 2");
    st = (struct statement){.text = "create role r Password\n'hush' login", .len = 36};
    statement_snippet(&st, buf);
    assert_string_equal(buf, "create role r Password");
    for (size_t shift = 0; shift < 3; shift++) {
        memset(text, 'a', shift);
        for (size_t i = shift; i + 3 < sizeof(text); i += 3)
            memcpy(text + i, "\xe2\x82\xac", 3);
        st = (struct statement){.text = text, .len = sizeof(text) - 10};
        statement_snippet(&st, buf);
        size_t n = strlen(buf);
        assert_true(n < SNIPPET_SIZE);
        assert_string_equal(buf + n - 3, "...");
        assert_int_equal((n - 3 - shift) % 3, 0);
    }
}

/* Every prefix and every byte dropped: no crash, no endless loop, whatever comes out. */
static void damaged_text_ends(void **state)
{
    static const char text[] =
        "create function f() begin atomic select E'a\\'';' || $x$;$x$; end; /* /* */ */ copy "
        "\"t\"\"\" from stdin;\n1\n\\.\n-- end\nselect (1;2);\\restrict x\n";
    char copy[sizeof(text)];

    (void)state;
    for (size_t n = 0; n < sizeof(text); n++) {
        memcpy(copy, text, n);
        copy[n] = '\0';
        free(cut(copy));
        memcpy(copy, text, sizeof(text));
        if (n + 1 < sizeof(text))
            memmove(copy + n, copy + n + 1, sizeof(text) - n - 1);
        free(cut(copy));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_end_at_semicolons),
        cmocka_unit_test(quotes_keep_semicolons),
        cmocka_unit_test(old_strings_have_escapes),
        cmocka_unit_test(dollar_quotes_keep_everything),
        cmocka_unit_test(comments_are_skipped_or_kept),
        cmocka_unit_test(bodies_keep_semicolons),
        cmocka_unit_test(open_ends_name_their_line),
        cmocka_unit_test(commands_of_psql_are_refused),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(copy_data_is_handed_out),
        cmocka_unit_test(copy_data_starts_on_the_next_line),
        cmocka_unit_test(positions_become_lines),
        cmocka_unit_test(snippets_are_one_line_of_whole_characters),
        cmocka_unit_test(damaged_text_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
