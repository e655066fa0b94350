/* SPDX-License-Identifier: MIT */
/* String constants of sources, folded as their languages do. */
#include "unit/check.h"

#include "benchctl/base/mem.h"
#include "benchctl/base/strbuf.h"
#include "benchctl/parity.h"

/* What is given a value somewhere where constants do not live, or in a way that is not known. */
#define LOOSE "it is not a constant that can be folded"

/* What a source holds: NAME=VALUE, NAME!PROBLEM, or NAME? for the problem above. Line ends in values are
 * shown as "\n". */
static char *shown(const char *path, const char *text, const char *glob)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct parity_source source = {path, text, strlen(text)};
    struct source_constant *list;
    struct strbuf out = STRBUF_INIT;
    struct error err = ERROR_INIT;
    size_t n;

    if (parity_scan_constants(&source, 1, glob, a, &list, &n, &err) < 0)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < n; i++) {
        if (list[i].problem && strcmp(list[i].problem, LOOSE) == 0) {
            strbuf_addf(&out, "%s%s?", i ? "|" : "", list[i].name);
            continue;
        }
        strbuf_addf(&out, "%s%s%c", i ? "|" : "", list[i].name, list[i].problem ? '!' : '=');
        for (const char *p = list[i].problem ? list[i].problem : list[i].value; *p; p++)
            strbuf_adds(&out, *p == '\n' ? "\\n" : (const char[]){*p, '\0'});
    }
    return strbuf_detach(&out);
}

static void check(const char *path, const char *text, const char *wanted)
{
    CLEANUP_FREE char *is = shown(path, text, NULL);

    if (strcmp(is, wanted) != 0)
        fail_msg("%s\n gives   %s\n instead %s", text, is, wanted);
}

#define JAVA(body)                                                                                           \
    "package x;\nimport y.Z;\n/** String X = \"no\"; */\npublic final class Sql {\n" body "\n}\n"

static void java(void **state)
{
    (void)state;
    check("A.java", JAVA("static final String A = \"a\";"), "A=a");
    check(
        "A.java",
        JAVA("@Deprecated public static final String A = \"a\" + \"b\"\n // \"no\"\n + /* \"no\" */ \"c\";"),
        "A=abc");
    check("A.java",
          JAVA("static final String A = B + \"-\" + Sql.B + x.Sql.B; final static String B = \"b\", C = "
               "\"c\", D = C + 1 + 2 + 'x' + (1 + 2) + true;"),
          "A=b-bb|B=b|C=c|D=c12x3true");
    check("A.java",
          JAVA("private static final int N = 10; static final long L = 0x1FL; static final String A = "
               "\"limit \" + N + 2 * 3 + L;"),
          "A=limit 10631");
    check("A.java",
          JAVA("static final String A = 1 + 2 + \"x\" + 'a' + 1; static final String B = 'a' + 1 + \"\";"),
          "A=3xa1|B=98");
    check("A.java",
          JAVA("static final String A = \"tab\\t quote\\\" slash\\\\ \\101 \\u00e9 \\uD83D\\uDE00\";"),
          "A=tab\t quote\" slash\\ A \xc3\xa9 \xf0\x9f\x98\x80");
    /* what is none: locals, instance fields, comments, other types; those in capitals are named */
    check("A.java",
          JAVA("final String a = \"1\"; static String b = \"2\"; void f() { final String C = \"3\"; { static "
               "final String D = \"4\"; } }\n"
               "// static final String E = \"5\";\n/* static final String F = \"6\"; */ static final Object "
               "G = \"7\";"),
          "C?|D?|G!it is not declared as a string");
    check("A.java",
          JAVA("static final String A = String.format(\"%s\", 1); static final String B = f(); static final "
               "String C = A;"),
          "A!it calls 'format'|B!it calls 'f'|C!it refers to 'A', which is not constant");
    check("A.java", JAVA("static final String A = B; static final String B = A;"),
          "A!it refers to itself|B!it refers to 'A', which is not constant");
    check("A.java",
          JAVA("static final String A = true ? \"a\" : \"b\"; static final String B = MISSING + \"x\"; "
               "static final String C = null;"),
          "A!it is not a constant expression|B!it refers to 'MISSING', which is not a constant here|C!it "
          "refers to 'null', which is not a constant here");
    check("A.java",
          "interface Q { String A = \"a\"; int N = 3; @Query(Q.A) void f(String x); String B = A + N; }",
          "A=a|B=a3");
    check("A.java",
          JAVA("static class Inner { static final String A = \"inner\"; static final String B = A; } static "
               "final String A = \"outer\"; static final String C = A + Inner.A;"),
          "A=inner|B=inner|A=outer|C=outerinner");
    check("A.java",
          JAVA("@X({\"a\", \"b\"}) static final String A = \"a\"; enum E { P(\"x\") { static final String Z "
               "= \"z\"; }; static final String Y = \"y\"; }"),
          "A=a|P?|Z?|Y=y");
    check("A.java",
          JAVA("static final String[] A = {\"a\"}; static final String B = \"b\".trim() + \" c \".strip();"),
          "A!it is not a constant expression|B=bc");
    check("A.java", JAVA("static final String A = \"unfinished;\nstatic final String B = \"b\";"),
          "A!it has no end|B=b");
}

static void java_text_blocks(void **state)
{
    (void)state;
    check("A.java",
          JAVA("    static final String A = \"\"\"\n        select *\n          from t\n        \"\"\";"),
          "A=select *\\n  from t\\n");
    check("A.java", JAVA("    static final String A = \"\"\"\n        select *\n        from t\"\"\";"),
          "A=select *\\nfrom t");
    check("A.java", JAVA("    static final String A = \"\"\"\n        a   \n\n      b\n    \"\"\";"),
          "A=    a\\n\\n  b\\n");
    check("A.java",
          JAVA("    static final String A = \"\"\"\n        a \\\n        b\\s\n        \\\"\"\" \"x\"\n     "
               "   \"\"\" + \"end\";"),
          "A=a b \\n\"\"\" \"x\"\\nend");
    check("A.java", JAVA("    static final String A = \"\"\"\r\n        a\r\n        b\"\"\";"), "A=a\\nb");
    check("A.java", JAVA("    static final String A = \"\"\"\n\t\ta\n\t\tb\\n\"\"\";"), "A=a\\nb\\n");
    check("A.java", JAVA("    static final String A = \"\"\" x\"\"\";"),
          "A!its text block does not begin on a line of its own");
}

static void kotlin(void **state)
{
    (void)state;
    check("A.kt",
          "const val A = \"a\"\nval B: String = \"b\" +\n  A\nprivate const val N = 3\nval C = \"$A ${B} "
          "${N} \\$A $\"\n",
          "A=a|B=ba|C=a ba 3 $A $");
    check("A.kt",
          "object Sql {\n  const val A = \"a\"\n  val B = \"\"\"\n    select *\n      from \"t\"\n  "
          "\"\"\".trimIndent()\n  val C = \"\"\"\n    |x\n    |  y \\n\n  \"\"\"\n  .trimMargin()\n}",
          "A=a|B=select *\\n  from \"t\"|C=x\\n  y \\n");
    check("A.kt",
          "class Repo(private val sql: String = \"no\") {\n  val x = \"no\"\n  fun f() { val y = \"no\"; run "
          "{ val z = \"no\" } }\n  companion object {\n    private const val A = \"a\"\n    val B = Repo.A + "
          "\"b\"\n  }\n}",
          "A=a|B=ab");
    check("A.kt",
          "val a = listOf(\"x\")\nval b by lazy { \"x\" }\nval String.c get() = \"x\"\nval D: String = "
          "compute()\nconst val E = \"\"\"a\"b\"\"\"\"\n/* /* */ const val F = \"no\" */",
          "D!it calls 'compute'|E=a\"b\"");
    check("A.kt", "const val A = \"a\"\n  + \"b\"\n", "A=a"); /* a statement of its own */
    check("A.kt",
          "enum class E(val s: String) { X(\"x\") }\ninterface I { companion object { const val A = 'c' + "
          "\"d\" } }",
          "X?|A=cd");
}

static void others(void **state)
{
    (void)state;
    check("a.scala",
          "object Q {\n  val A = \"a\"\n  final val B: String = s\"$A-${A}\"\n  val C = \"\"\"x\n    "
          "|y\"\"\".stripMargin\n  def f = { val D = \"no\" }\n  val E = 'e'\n  val F = f\"$A\"\n}",
          "A=a|B=a-a|C=x\\ny|D?|F!it is made by an interpolator");
    check("a.groovy",
          "class Q {\n  static final String A = 'a$b'\n  static final B = \"$A ${A}\"\n  static final String "
          "C = '''x\ny'''\n  String d = 'no'\n}",
          "A=a$b|B=a$b a$b|C=x\\ny");
    check("a.cs",
          "namespace X {\n#region r \"\n  static class Q {\n    public const string A = \"a\", B = A + "
          "\"b\";\n    static readonly string C = @\"c\"\"\\\nd\";\n    const string D = $\"{A}{{}}\";\n"
          "    const string E = \"\"\"\n        x\n          y \"q\"\n        \"\"\";\n    const int N = "
          "1;\n    void F() { const string G = \"no\"; }\n  }\n}",
          "A=a|B=ab|C=c\"\\\\nd|D=a{}|E=x\\n  y \"q\"|G?");
    check("a.go",
          "package q\nconst A = \"a\" +\n\t\"b\"\nconst (\n\tB string = `x\ny\\n`\n\tC, D = \"c\", A // "
          "\"no\"\n\tN = 5\n)\nfunc f() { const E = \"no\" }\nvar G = \"no\"\n",
          "A=ab|B=x\\ny\\n|C=c|D=ab|E?|G?");
    check("a.ts",
          "export const A = 'a'\nconst B: string = `${A} b\\\n c`;\nconst C = \"c\"\n  + 'd', D = A as "
          "const;\nconst re = /\"/, f = (x: string) => `no ${x}`;\nfunction g() { const E = 'no'; }\n"
          "export class Q { static readonly SQL = 'q' + A; private static T: string = \"t\"; x = 'no'; "
          "}\nconst S = sql`select 1`;\nconst G = get('x');\nconst H = '\\u{1F600}\\x41';",
          "A=a|B=a b c|C=cd|D=a|E?|SQL=qa|T=t|S=select 1|G!it calls 'get'|H=\xf0\x9f\x98\x80"
          "A");
    check("a.py",
          "import x\nA = 'a' \"b\" # 'no'\nB: str = (\n    'x '\n    'y'\n) + A\nC = \"\"\"\\\none\n  "
          "two\"\"\"\nD = textwrap.dedent('''\n    p\n      q\n''')\nE = r'\\n' f'{A}{{}}'\nlower = 'no'\n"
          "def f():\n    F = 'no'\nclass Q:\n    G = 'g'\n    def m(self):\n        H = 'no'\n    I = G + "
          "'i'\nif True:\n    J = 'no'\nK = b'no'\nL = 'a' \\\n  'b'\nM = ', '.join(['x'])\n",
          "A=ab|B=x yab|C=one\\n  two|D=\\np\\n  q\\n|E=\\n"
          "ab{}|F?|G=g|H?|I=gi|J?|K!it is made of bytes|L=ab|M!it is not a constant expression");
}

/* What is asked for by name and is no constant is told, not left out. */
static void by_name(void **state)
{
    (void)state;
    CLEANUP_FREE char *some =
        shown("a.py", "SQL_A = 'a'\nsql_b = 'b'\nSQL_C = load()\nOTHER = 'o'\n", "SQL_*");
    assert_string_equal(some, "SQL_A=a|SQL_C!it calls 'load'");
    CLEANUP_FREE char *lower = shown("a.py", "sql_b = 'b'\n", "sql_*");
    assert_string_equal(lower, "sql_b=b");
    CLEANUP_FREE char *all = shown("A.kt", "val a = f()\nval b = \"b\"", "*");
    assert_string_equal(all, "a!it calls 'f'|b=b");
}

struct case_of {
    const char *path, *text, *wanted;
};

/* A name that is asked for is there, whatever stands around it. */
static void never_silent(void **state)
{
    static const struct case_of cases[] = {
        {"A.java", "class A { private final String SQL_X = \"a\"; }", "SQL_X?"},
        {"A.java", "class A { static String SQL_X = \"a\"; final String SQL_Y = \"b\"; }", "SQL_X?|SQL_Y?"},
        {"A.java", "class A { static final CharSequence SQL_X = \"a\"; static final Object SQL_Y = \"b\"; }",
         "SQL_X!it is not declared as a string|SQL_Y!it is not declared as a string"},
        {"A.java", "class A { static final String[] SQL_X = {\"a\"}; }",
         "SQL_X!it is not a constant expression"},
        {"A.java", "class A { static final List<String> SQL_X = List.of(\"a\", \"b\"); }",
         "SQL_X!it calls 'of'"},
        {"A.java", "class A { static final String SQL_X; static { SQL_X = \"a\"; } }", "SQL_X?"},
        {"A.java", "class A { Object o = new Object() { final String SQL_X = \"a\"; }; }", "SQL_X?"},
        {"A.java", "class A { void f() { final String SQL_X = \"a\"; A.SQL_Y = \"b\"; } }", "SQL_X?|SQL_Y?"},
        {"A.java", "enum A { SQL_X(\"a\"), @B SQL_Y(\"b\"), SQL_Z(\"c\") { }; void f() { SQL_F(\"x\"); } }",
         "SQL_X?|SQL_Y?|SQL_Z?"},
        {"A.java", "class A { boolean f() { return SQL_X == y || SQL_X != z; } String s = f(SQL_X); }", ""},
        {"A.java", "class A { @Q(SQL_X) String y = \"a\"; String[] all = {SQL_X, SQL_Y}; }", ""},
        {"A.kt", "class A { val SQL_X = \"a\"\n var SQL_Y = \"b\" }", "SQL_X?|SQL_Y?"},
        {"A.kt", "val SQL_X by lazy { \"a\" }\nval SQL_Y get() = \"b\"\nval SQL_Z: String\n  get() = \"c\"",
         "SQL_X?|SQL_Y?|SQL_Z?"},
        {"A.kt", "val String.SQL_X\n  get() = \"a\"\nvar SQL_Y = \"b\"", "SQL_X?|SQL_Y?"},
        {"A.kt", "const val SQL_X: kotlin.String = \"a\"", "SQL_X!it is not declared as a string"},
        {"A.kt", "const val `SQL_X` = \"a\"\nval SQL_Y\n  = \"b\"", "SQL_X?|SQL_Y?"},
        {"A.kt", "val (SQL_X, SQL_Y) = Pair(\"a\", \"b\")", "SQL_X?|SQL_Y?"},
        {"A.kt", "enum class E(val s: String) { SQL_X(\"a\"), SQL_Y(\"b\") }", "SQL_X?|SQL_Y?"},
        {"A.kt", "val x = f(SQL_X)\nval y = g(\n  SQL_X,\n  b\n)\nval z = when (s) { SQL_X -> 1 }", ""},
        {"a.scala", "class A { val SQL_X = \"a\"; lazy val SQL_Y = \"b\"; def SQL_Z = \"c\" }",
         "SQL_X?|SQL_Y?|SQL_Z?"},
        {"a.groovy", "class A { def SQL_X = 'a'\n Map m = [SQL_Y: 'b', 'SQL_Z': 'c'] }",
         "SQL_X?|SQL_Y?|SQL_Z?"},
        {"a.cs",
         "class A { string SQL_X = \"a\"; static string SQL_Y => \"b\"; string SQL_Z { get; } = \"c\"; }",
         "SQL_X?|SQL_Y?|SQL_Z?"},
        {"a.py", "A=1; SQL_X = \"a\"", "SQL_X?"},
        {"a.py", "class Q: SQL_X = 'a'\n", "SQL_X?"},
        {"a.py",
         "if A:\n    SQL_X = 'a'\ntry:\n    SQL_Y: str = 'b'\nexcept E:\n    pass\nwith f() as SQL_Z:\n  a",
         "SQL_X?|SQL_Y?|SQL_Z?"},
        {"a.py", "SQL_X, B = 'a', 'b'\n(C, SQL_Y) = 'a', 'b'\n[SQL_Z,\n B] = x\n", "SQL_X?|SQL_Y?|SQL_Z?"},
        {"a.py", "if (SQL_X := 'a'):\n  pass\nA = SQL_Y = 'b'\n", "SQL_X?|SQL_Y?"},
        {"a.py", "globals()['SQL_X'] = 'a'\nQ = {'SQL_Y': 'b'}\nx.SQL_Z = 'c'\n", "SQL_X?|SQL_Y?|SQL_Z?"},
        {"a.py", "d[SQL_X] = 1\nf(SQL_X, 1)\nif SQL_X:\n  y = [SQL_X]\nx = a[SQL_X:]\nSQL_X == y\n", ""},
        {"a.js", "let SQL_X = 'a'; var SQL_Y = 'b'\nexports.SQL_Z = 'c'", "SQL_X?|SQL_Y?|SQL_Z?"},
        {"a.js", "const q = { SQL_X: 'a',\n  'SQL_Y': 'b' }\nmodule.exports['SQL_Z'] = 'c'",
         "SQL_X?|SQL_Y?|SQL_Z?"},
        {"a.ts", "class A { SQL_X = 'a'; readonly SQL_Y: string = 'b'; static get SQL_Z() { return 'c' } }",
         "SQL_X?|SQL_Y?|SQL_Z?"},
        {"a.ts", "enum E { SQL_X = 'a' }\nconst { SQL_Y, b: SQL_Z } = require('x')\nconst [SQL_A] = y",
         "SQL_X?|SQL_Y?|SQL_Z?|SQL_A?"},
        {"a.ts", "function f() { const SQL_X = 'a' }\nlet SQL_Y: string", "SQL_X?|SQL_Y?"},
        {"a.ts",
         "import { SQL_X } from './x'\nexport { SQL_X }\nconst y = c ? SQL_X : f(SQL_X)\n"
         "switch (y) { case SQL_X: break }\nconst g = SQL_X => 1",
         ""},
        {"a.go",
         "package q\nvar SQL_X = \"a\"\nvar (\n\tSQL_Y string = \"b\"\n)\nfunc f() { const SQL_Z = \"c\" }",
         "SQL_X?|SQL_Y?|SQL_Z?"},
        {"a.go",
         "package q\nfunc f() { SQL_X := \"a\"; a, SQL_Y := \"b\", 1 }\nvar SQL_Z, b string = \"a\", \"b\"",
         "SQL_X?|SQL_Y?|SQL_Z?"},
        {"a.go", "package q\nconst (\n\tSQL_X = \"a\"\n\tSQL_Y\n)",
         "SQL_X=a|SQL_Y!it has no value of its own"},
        {"A.java", "class A { static final String SQL_X[] = {\"a\"}; }", "SQL_X?"},
        {"a.py", "SQL_X = 'a'\nx = \"\"\"\nSQL_Y = 'b'\n",
         "SQL_X=a|a.py!a string in it has no end, and may hide code|SQL_Y?"},
        {"a.tsx", "const x = <p>don't</p>; const SQL_X = \"a\"", "SQL_X?"},
        {"a.py", "SQL_X = 3\n", "SQL_X!it is not declared as a string"},
    };

    int failed = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLEANUP_FREE char *is = shown(cases[i].path, cases[i].text, "SQL_*");
        if (strcmp(is, cases[i].wanted) != 0)
            failed++, print_error("%s\n gives   %s\n instead %s\n", cases[i].text, is, cases[i].wanted);
    }
    assert_int_equal(failed, 0);
}

/* Rather no value than a wrong one. */
static void never_guessed(void **state)
{
    static const char twice[] = "it is given another value, too", computes[] = "it computes something",
                      number[] = "it holds a number that may print in several ways",
                      type[] = "it refers to 'N', whose type changes its value",
                      none[] = "it is not a constant expression",
                      code[] = "its unicode escapes may stand for code";
    static const struct case_of cases[] = {
        {"a.py", "SQL_X = 'a'\nSQL_X += 'b'\n", twice},
        {"a.py", "SQL_X = 'a'\nSQL_X = 'b'\n", twice},
        {"a.py", "SQL_X = 'a'\nif A:\n    SQL_X = 'b'\n", twice},
        {"a.py", "SQL_X = 'a'\ndef f():\n    global SQL_X\n    SQL_X = 'b'\n", twice},
        {"a.py", "t = 'a'\nt += 'b'\nSQL_X = 'c' + t\n", "it refers to 't', which is not constant"},
        {"a.ts", "class Q { static SQL_X = 'a'; f() { Q.SQL_X = 'b' } }", twice},
        {"a.cs", "class A { static readonly string SQL_X = \"a\"; static A() { SQL_X = \"b\"; } }", twice},
        {"a.py", "SQL_X = \"a\", \"b\"\n", none},
        {"a.py", "SQL_X = \"a\",\n", none},
        {"a.py", "SQL_X = (\"a\", \"b\")\n", none},
        {"a.py", "SQL_X = dedent(\"\"\"\n \ta\n\tb\n\"\"\")\n", "it is indented by blanks and tabs"},
        {"A.java", JAVA("static final String SQL_X = \"a\" + 2000000000 * 2;"), computes},
        {"A.java", JAVA("static final int N = 2147483647 + 1; static final String SQL_X = \"a\" + N;"),
         "it refers to 'N', which is not constant"},
        {"A.kt", "const val SQL_X = \"a\" + (2147483647 + 1)", computes},
        {"A.java", JAVA("static final String SQL_X = \"a\" + 0xFFFFFFFF;"), number},
        {"A.java", JAVA("static final String SQL_X = \"a\" + 1.5;"), number},
        {"A.java", JAVA("static final String SQL_X = \"a\" + 1.5f;"), number},
        {"A.java", JAVA("static final String SQL_X = \"a\" + 1e3;"), number},
        {"A.java", JAVA("static final double N = 10; static final String SQL_X = \"a\" + N;"), type},
        {"A.java", JAVA("static final char N = 65; static final String SQL_X = \"a\" + N;"), type},
        {"A.java", JAVA("static final int N = 'a'; static final String SQL_X = \"a\" + N;"), type},
        {"A.kt", "const val N: Double = 10\nconst val SQL_X = \"$N\"",
         "it holds a value that is not constant"},
        {"a.cs", "class A { static readonly string SQL_X = \"a\" + true; }",
         "it refers to 'true', which is not a constant here"},
        {"a.js", "const SQL_X = +'a'", none},
        {"A.java", JAVA("static final String SQL_X = \"a\\u0022 + \\u0022b\";"), code},
        {"A.java", JAVA("static final String SQL_X = \"a\\u005cn\";"), code},
    };

    int failed = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLEANUP_FREE char *is = shown(cases[i].path, cases[i].text, "SQL_X"),
                          *wanted = xasprintf("SQL_X!%s", cases[i].wanted);
        if (!strstr(is, wanted) || strchr(is, '='))
            failed++, print_error("%s\n gives   %s\n instead %s\n", cases[i].text, is, wanted);
    }
    assert_int_equal(failed, 0);
    CLEANUP_FREE char *escaped = shown("A.java", JAVA("static final String SQL_\\u0058 = \"a\";"), "SQL_X");
    assert_string_equal(escaped, "A.java!its unicode escapes may stand for code");
    CLEANUP_FREE char *harmless =
        shown("A.java", JAVA("static final String SQL_X = \"a\\u00e9 \\\\u0041\";"), "SQL_X");
    assert_string_equal(harmless, "SQL_X=a\xc3\xa9 \\u0041");
}

static void several_sources(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    const char
        one[] = "class A { static final String X = Tables.USERS + \"!\"; static final String Y = COMMON; }",
        two[] =
            "\n\nclass Tables { static final String USERS = \"users\"; static final String COMMON = \"c\"; }",
        three[] = "class Other { static final String USERS = \"others\"; }";
    const struct parity_source sources[] = {{"A.java", one, sizeof(one) - 1},
                                            {"b/Tables.java", two, sizeof(two) - 1},
                                            {"b/Other.java", three, sizeof(three) - 1}};
    struct source_constant *list;
    struct error err = ERROR_INIT;
    size_t n;

    (void)state;
    assert_int_equal(parity_scan_constants(sources, 3, NULL, a, &list, &n, &err), 0);
    assert_int_equal(n, 5);
    assert_string_equal(list[0].value, "users!");
    assert_string_equal(list[1].value, "c");
    assert_string_equal(list[2].file, "b/Tables.java");
    assert_int_equal(list[2].line, 3);
    const struct parity_source text = {"x.txt", "a", 1};
    assert_int_equal(parity_scan_constants(&text, 1, NULL, a, &list, &n, &err), -1);
    assert_has(err.message, "'x.txt' is in no language");
    assert_true(parity_source_known("a/B.java") && parity_source_known("x.tsx") &&
                !parity_source_known("x.jav") && !parity_source_known("Makefile"));
}

/* Names joined with themselves, over and over; nests without end; nothing grows without a bound. */
static void hostile(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    (void)state;
    strbuf_adds(&text, "class A { static final String S0 = \"0123456789abcdef\";\n");
    for (int i = 1; i < 100; i++)
        strbuf_addf(&text, "static final String S%d = S%d + S%d;\n", i, i - 1, i - 1);
    strbuf_adds(&text, "}");
    CLEANUP_FREE char *is = shown("A.java", strbuf_text(&text), "S9?");
    assert_has(is, "S90!it refers to 'S89', which is not constant");
    strbuf_clear(&text);
    strbuf_adds(&text, "const val A = ");
    for (int i = 0; i < 100000; i++)
        strbuf_addc(&text, '(');
    CLEANUP_FREE char *deep = shown("A.kt", strbuf_text(&text), NULL);
    assert_string_equal(deep, "A!it is nested too deep");
    strbuf_clear(&text);
    strbuf_adds(&text, "const val A = ");
    for (int i = 0; i < 20000; i++)
        strbuf_adds(&text, "\"${");
    CLEANUP_FREE char *holes = shown("A.kt", strbuf_text(&text), "A");
    assert_has(holes, "A!");
    strbuf_clear(&text);
    for (int i = 0; i < 20000; i++)
        strbuf_adds(&text, "class A {");
    CLEANUP_FREE char *levels = shown("A.java", strbuf_text(&text), NULL);
    assert_string_equal(levels, "");
    strbuf_clear(&text);
    strbuf_adds(&text, "class A { static final String X0 = \"x\";");
    for (int i = 1; i < 3000; i++)
        strbuf_addf(&text, "static final String X%d = X%d;", i, i + 1);
    CLEANUP_FREE char *chain = shown("A.java", strbuf_text(&text), "X1");
    assert_has(chain, "X1!");
}

/* Names are C strings: a key that has none is no name, and one with a NUL byte is not cut at it. */
static void keys_that_are_no_names(void **state)
{
    static const char nul[] = "val m = {\"\0A\": \"x\"}";
    const struct parity_source source = {"A.kt", nul, sizeof(nul) - 1};
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct source_constant *list;
    struct error err = ERROR_INIT;
    size_t n;

    (void)state;
    CLEANUP_FREE char *empty = shown("a.ts", "const m = {\"\": \"x\", \"A\": \"y\"};", "A");
    assert_string_equal(empty, "A?");
    assert_int_equal(parity_scan_constants(&source, 1, "A", a, &list, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_string_equal(list[0].name, "A.kt");
    assert_has(list[0].problem, "NUL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(java),         cmocka_unit_test(java_text_blocks),
        cmocka_unit_test(kotlin),       cmocka_unit_test(others),
        cmocka_unit_test(by_name),      cmocka_unit_test(several_sources),
        cmocka_unit_test(hostile),      cmocka_unit_test(keys_that_are_no_names),
        cmocka_unit_test(never_silent), cmocka_unit_test(never_guessed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
