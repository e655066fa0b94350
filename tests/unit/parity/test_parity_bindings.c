/* SPDX-License-Identifier: MIT */
/* The values bound to SQL statements: the same ones in the same positions, however they are bound. */
#include "fixture.h"

#define CLASS(SQL, BODY)                                                                                     \
    "class Dao {\n static final String SQL_A = \"" SQL "\";\n void m(C c, S s) {\n" BODY "\n }\n}\n"
#define DOLLARS "insert into t values ($1, $2)"
#define MARKS "insert into t values (?, ?)"
#define R2DBC                                                                                                \
    CLASS(DOLLARS, "c.createStatement(SQL_A)\n .bind(\"$1\", s.name()) /* , */\n .bind(\"$2\", s.score());")

static struct parity_check_result bindings(struct fixture *f, const char *one, const char *two)
{
    const struct parity_member members[] = {{.ref = "one", .path = ".", .match = "SQL_*"},
                                            {.ref = "two", .path = ".", .match = "SQL_*"}};

    put(f->dir, "r/one/Dao.java", one);
    put(f->dir, "r/two/Dao.java", two);
    f->sources = PARITY_FOLDERS;
    return compare_as(f, "r", members, 2, COMPARE_BINDINGS, false);
}

/* Each is the same as R2DBC. */
static void forms(void **state)
{
    static const char *const others[] = {
        CLASS(DOLLARS, "c.createStatement(SQL_A).bind(1, s. score( )).bind(0, s.name());"),
        CLASS(DOLLARS, "return c.preparedQuery(SQL_A).execute(Tuple.of(s.name(), s.score()));"),
        CLASS(DOLLARS, "return c.preparedQuery(SQL_A).execute(Tuple.from(List.of(s.name(), s.score())));"),
        CLASS(DOLLARS, "return q(SQL_A, Tuple.tuple().addString(s.name()).addInteger(s.score()));"),
        CLASS(MARKS,
              "try (var p = c.prepareStatement(SQL_A)) {\n p.setString(1, s.name()); c.setAuto(true);\n"
              "p.setInt(2, s.score()); }"),
        CLASS(MARKS, "select(c, SQL_A, p -> { p.setString(1, s.name()); p.setInt(2, s.score()); });"),
    };

    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        struct parity_check_result r = bindings(*state, R2DBC, others[i]);
        same(&r);
        assert_int_equal(r.compared, 1);
    }
}

static void findings(void **state)
{
    static const struct {
        const char *body, *what;
    } cases[] = {
        {"q(SQL_A, Tuple.of(s.score(), s.name()));",
         "bound in another order: s.name(), s.score() in one (Dao.java:5); s.score(), s.name() in two "
         "(Dao.java:4)"},
        {"q(SQL_A, Tuple.of(s.name()));", "2 placeholders, but bound is s.name() in two (Dao.java:4)"},
        {"q(SQL_A, made);", "2 placeholders, but bound is nothing in two"},
        {"q(SQL_A).bind(\"$2\", s.score());", "2 placeholders, but bound is -, s.score() in two"},
        {"q(SQL_A).bind(\n\"$\" + i, s.name());",
         "a binding whose position cannot be known in two (Dao.java:5)"},
        {"q(SQL_A); for (;;)\n p.setInt(i++, 2);", "a loop around bindings in two (Dao.java:4)"},
        {"q(SQL_A, Tuple.from(list));", "a Tuple whose values cannot be known in two"},
        {"q(SQL_A); other.bind(x);", "a binding whose position cannot be known in two"},
        {"q(SQL_A).bind(\"$1\", s.name()).bind(0, 1).bind(1, 2);", "position 1 is bound twice in two"},
        {"q(\"SQL_A\");", "not used in any method"},
        {"q(SQL_A).bind(\"$1, s.name());", "2 placeholders"},
        {"q(SQL_A,\n Tuple.of(s.name(),\n s.id()));", "s.name(), s.id() in two (Dao.java:6)"},
        {"x = q(SQL_A); y = q(SQL_B); x.bind(0, s.name()).bind(1, s.score()); y.bind(0, z);",
         "2 placeholders, but bound is nothing in two (Dao.java:4)"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture *f = *state;
        const char *text = arena_printf(f->arena,
                                        "class Dao {\n static final String SQL_A = \"" DOLLARS
                                        "\";\n void m() {\n%s\n }\n void n() { q(SQL_B).bind(\"$1\", x); }\n"
                                        " static final String SQL_B = \"$1\"; }\n",
                                        cases[i].body);
        struct parity_check_result r = bindings(f, R2DBC, text);
        bool found = false;
        assert_false(r.ok);
        for (size_t k = 0; k < r.difference_count; k++)
            found = found || strstr(r.differences[k].what, cases[i].what);
        if (!found)
            fail_msg("case %zu: %s", i, r.difference_count ? r.differences[0].what : r.error);
    }
}

/* What looks like more arguments or placeholders and is none; where constants and methods stand. */
static void shapes(void **state)
{
    static const char *const texts[] = {
        CLASS("select a ?? 'x?' from t where b = ?::int -- ?", "p(SQL_A).setObject(1, s.b());"),
        CLASS(MARKS, "q(SQL_A, Tuple.of(new a.B<C, D<E, F>>(s), Map.<K, V>of()));"),
        CLASS(MARKS, "q(SQL_A, Tuple.of(a < b, c > d));"),
        ("class Dao {\n static final String SQL_A = \"insert into t values (?\" +\n \", ?)\";\n static class "
         "In {\n"
         " void m() { q(SQL_A, Tuple.of(a, b)); }\n }\n}\n"),
        ("class Dao {\n static final String SQL_A = \"\"\"\n  insert into t\n  values (?, ?)\n  \"\"\";\n"
         " void m() { new T() { void n() { q(SQL_A, Tuple.of(a, b)); } }; }\n}\n"),
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct parity_check_result r = bindings(*state, texts[i], texts[i]);
        same(&r);
        assert_int_equal(r.compared, 1);
    }
}

static void other_languages(void **state)
{
    struct fixture *f = *state;

    put(f->dir, "r/two/a.kt", "const val SQL_A = \"x\"\n");
    struct parity_check_result r = bindings(f, R2DBC, R2DBC);
    differs(&r, "a.kt", "bindings are not supported for Kotlin, in two");
}

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(forms), CASE(findings), CASE(shapes), CASE(other_languages)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
