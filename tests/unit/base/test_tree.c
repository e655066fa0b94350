/* SPDX-License-Identifier: MIT */
#include "unit/check.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/base/tree.h"

struct parsed {
    struct arena *arena;
    const struct node *root;
    struct error err;
    bool ok;
};

static struct parsed parse_n(const char *bytes, size_t len)
{
    struct parsed p = {.arena = arena_new(), .err = ERROR_INIT};

    p.ok = tree_parse(bytes, len, "m.yaml", p.arena, &p.root, &p.err) == 0;
    return p;
}

static struct parsed parse(const char *text)
{
    return parse_n(text, strlen(text));
}

static struct parsed parse_case(const char *name)
{
    struct strbuf text = STRBUF_INIT;
    struct error err = ERROR_INIT;
    char path[512];

    (void)snprintf(path, sizeof(path), "%s/cases/%s", TESTS_DIR, name);
    if (fs_read(path, TREE_MAX_BYTES, &text, &err) < 0)
        fail_msg("%s", err.message);
    struct parsed p = parse_n(strbuf_text(&text), text.len);
    strbuf_release(&text);
    return p;
}

static void refused(struct parsed p, const char *message)
{
    if (p.ok)
        fail_msg("accepted, wanted: %s", message);
    assert_int_equal(p.err.kind, ERROR_INVALID);
    assert_has(p.err.message, message);
    arena_free(p.arena);
}

static void accepted(const struct parsed *p)
{
    if (!p->ok)
        fail_msg("refused: %s", p->err.message);
}

static void write_node(const struct node *n, struct strbuf *out)
{
    if (n->kind == NODE_NULL)
        strbuf_adds(out, "null");
    if (n->kind == NODE_SCALAR)
        strbuf_addf(out, n->quoted ? "\"%s\"" : "%s", n->text);
    if (n->kind != NODE_LIST && n->kind != NODE_MAP)
        return;
    strbuf_adds(out, n->kind == NODE_LIST ? "[" : "{");
    for (size_t i = 0; i < n->len; i++) {
        strbuf_adds(out, i ? ", " : "");
        if (n->kind == NODE_MAP)
            strbuf_addf(out, "%s: ", n->keys[i]->text);
        write_node(n->items[i], out);
    }
    strbuf_adds(out, n->kind == NODE_LIST ? "]" : "}");
}

static void is_tree(const struct node *n, const char *wanted)
{
    struct strbuf out = STRBUF_INIT;

    write_node(n, &out);
    assert_string_equal(strbuf_text(&out), wanted);
    strbuf_release(&out);
}

static void reads_as(const char *text, const char *wanted)
{
    struct parsed p = parse(text);

    accepted(&p);
    is_tree(p.root, wanted);
    arena_free(p.arena);
}

static void case_reads_as(const char *name, const char *wanted)
{
    struct parsed p = parse_case(name);

    accepted(&p);
    is_tree(p.root, wanted);
    arena_free(p.arena);
}

static void scalars_stay_as_written(void **state)
{
    (void)state;
    reads_as("a: [no, on, 3.10, 0128, 1_000, 12:30, 1e3, 0x10, .5, NULL, True]",
             "{a: [no, on, 3.10, 0128, 1_000, 12:30, 1e3, 0x10, .5, NULL, True]}");
    reads_as("a: ~\nb: null\nc:\nd: \"\"\ne: '~'\nf: \"null\"",
             "{a: null, b: null, c: null, d: \"\", e: \"~\", f: \"null\"}");
    reads_as("no: 1\non: 2\nnull: 3\n~: 4", "{no: 1, on: 2, null: 3, ~: 4}");
    reads_as("t: |\n  a\n  \tb\nu: >-\n  x\n  y\n", "{t: \"a\n\tb\n\", u: \"x y\"}");
    case_reads_as("B01/matrix.yml",
                  "{axes: {framework: [spring, no, on, off, y, yes, \"no\"], stack: [jpa, NO]}, "
                  "on: {note: a key called on}}");
    case_reads_as("B02/matrix.yml", "{axes: {framework: [a], runtime: [3.1, 3.10, 1.0, 1, 21, 08, 1e3]}}");
    case_reads_as("B03/numbers.yml", "{ports: [8080:80, 22:22, 1:30], repeat: 010}");
}

static void positions_count_characters_from_one(void **state)
{
    struct parsed p = parse("a: 1\nb:\n  - x\n  - \"\xc3\xa4\xc3\xb6\": y\n");

    (void)state;
    accepted(&p);
    const struct node *list = node_get(p.root, "b");
    assert_int_equal(list->at.line, 3);
    assert_int_equal(list->at.column, 3);
    const struct node *value = list->items[1]->items[0];
    assert_int_equal(value->at.line, 4);
    assert_int_equal(value->at.column, 11);
    assert_string_equal(value->at.file, "m.yaml");
    arena_free(p.arena);
}

static void duplicate_keys(void **state)
{
    (void)state;
    refused(parse_case("B04/dup.yml"), "m.yaml:4:3: duplicate key 'memory', first given on line 2");
    refused(parse_case("B04/dup_quoted.yml"), "m.yaml:3:3: duplicate key 'memory', first given on line 2");
    refused(parse_case("B04/dup_nested.yml"), "m.yaml:5:7: duplicate key 'c', first given on line 3");
    refused(parse_case("B04/dup_anchor.yml"), "m.yaml:3:1: a key must be text, not a map");
    refused(parse("{a: 1, \"\\x61\": 2}"), "m.yaml:1:8: duplicate key 'a'");
    struct strbuf many = STRBUF_INIT;
    for (int i = 0; i < 500; i++)
        strbuf_addf(&many, "key%d: x\n", i);
    struct parsed p = parse(strbuf_text(&many));
    accepted(&p);
    arena_free(p.arena);
    strbuf_adds(&many, "key250: y\n");
    refused(parse(strbuf_text(&many)), "m.yaml:501:1: duplicate key 'key250', first given on line 251");
    strbuf_release(&many);
}

static void bombs_are_small_and_fast(void **state)
{
    int64_t start = clock_now_ns();
    struct parsed bomb = parse_case("B05/bomb.yml"), wide = parse_case("B05/wide.yml");

    (void)state;
    assert_true(arena_bytes(bomb.arena) < 100000);
    assert_true(arena_bytes(wide.arena) < 1000000);
    refused(bomb, "more than 200000 nodes after following aliases");
    refused(wide, "more than 200000 nodes after following aliases");
    assert_true(clock_now_ns() - start < 5 * NS_PER_S);
    struct parsed ok = parse_case("B05/ok.yml");
    accepted(&ok);
    const struct node *list = node_get(ok.root, "scenarios");
    assert_string_equal(node_get(node_get(list->items[3], "limits"), "memory")->text, "512m");
    arena_free(ok.arena);
}

static void merge_bombs_count_too(void **state)
{
    struct strbuf text = STRBUF_INIT;

    (void)state;
    strbuf_adds(&text, "m0: &m0 {a0: x}\n");
    for (int i = 1; i < 30; i++) {
        strbuf_addf(&text, "m%d: &m%d {<<: [*m%d, *m%d, *m%d, *m%d], k%d: x}\n", i, i, i - 1, i - 1, i - 1,
                    i - 1, i);
    }
    refused(parse(strbuf_text(&text)), "more than 200000 nodes");
    strbuf_release(&text);
}

static void merges(void **state)
{
    (void)state;
    case_reads_as("B06/merge.yml", "{one: {memory: 256m, cpus: 1}, two: {memory: 512m, swap: 0}, "
                                   "a: {memory: 256m, cpus: 1, swap: 0}, b: {memory: 1g, cpus: 1}, "
                                   "c: {cpus: 1, memory: 1g}, d: {<<: {memory: 256m, cpus: 1}}}");
    refused(parse_case("B06/merge_twice.yml"), "m.yaml:5:3: duplicate key '<<', first given on line 4");
    refused(parse("a: {<<: 5}"), "m.yaml:1:9: '<<' takes a map or a list of maps");
    refused(parse("a: {<<: [{b: 1}, c]}"), "m.yaml:1:18: '<<' takes a map");
    refused(parse("a: {<<: }"), "'<<' takes a map");
    reads_as("a: {<<: []}\nb: [<<]", "{a: {}, b: [<<]}");
    reads_as("x: &x {a: 1}\ny: &y {<<: *x, b: 2}\nz: {<<: *y, a: 3}",
             "{x: {a: 1}, y: {a: 1, b: 2}, z: {b: 2, a: 3}}");
}

static void encodings_and_blanks(void **state)
{
    static const char *const same[] = {"B07/bom.yml", "B07/bom_crlf.yml", "B07/utf16.yml"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        case_reads_as(same[i], "{name: x, limits: {memory: 256m}}");
    case_reads_as("B07/tab_after_colon.yml", "{name: x}");
    refused(parse_case("B07/tab_indent.yml"), "m.yaml:2:1: a tab in the indentation");
    refused(parse_case("B07/nbsp.yml"), "m.yaml:2:1: a no-break space in the indentation");
    refused(parse("a:\n  b: 1\n  \tc: 2\n"), "m.yaml:3:3: a tab in the indentation");
    refused(parse("a: x\n\ty\n"), "m.yaml:2:1: a tab in the indentation");
    refused(parse("a: {b: 1,\n\tc: 2}\n"), "m.yaml:2:1: a tab in the indentation");
    reads_as("a: |\n  x\n \n  \ty\n\nb: \"p\n\tq\"\nc: z", "{a: \"x\n\n\ty\n\", b: \"p q\", c: z}");
    reads_as("a: 1 \t# note\n \nb: 2\n", "{a: 1, b: 2}");
}

static void one_document(void **state)
{
    (void)state;
    case_reads_as("B08/one_ok.yml", "{name: only}");
    refused(parse_case("B08/two_docs.yml"), "m.yaml:2:1: a second document begins here");
    refused(parse_case("B08/trailing.yml"), "m.yaml:3:1: text after the end of the document");
    refused(parse_case("B08/empty.yml"), "m.yaml: the file is empty");
    refused(parse_case("B08/comment_only.yml"), "m.yaml: the file is empty");
    refused(parse_case("B08/marker_only.yml"), "m.yaml: the file is empty");
    case_reads_as("B08/list_root.yml", "[a, b]");
}

static void hostile_structure(void **state)
{
    struct strbuf deep = STRBUF_INIT;

    (void)state;
    refused(parse("a: &a [x, *a]"), "m.yaml:1:11: anchor '&a' contains itself");
    refused(parse("a: &a {b: {<<: *a}}"), "anchor '&a' contains itself");
    refused(parse("a: *b"), "m.yaml:1:4: no anchor '&b' before this alias");
    refused(parse("{[a, b]: c}"), "a key must be text, not a list");
    refused(parse("? {a: b}\n: c"), "a key must be text, not a map");
    refused(parse("? \n: 2"), "a key is empty");
    refused(parse("a: !!int 5"), "m.yaml:1:4: tag '!!int' is not supported here");
    refused(parse("a: !!str [x]"), "tag '!!str' is not supported here");
    refused(parse("a: !mine x"), "tag '!mine' is not supported");
    refused(parse("a: !<tag:x\x1f> y"), "U+001F");
    refused(parse("%TAG ! tag:example.com,2000:\n---\na: !x y"), "is not supported");
    reads_as("a: !!str ~\nb: !!map {}\nc: !!seq []\n", "{a: \"~\", b: {}, c: []}");
    for (int i = 0; i < 5000; i++)
        strbuf_adds(&deep, i % 2 ? "[" : "- ");
    refused(parse(strbuf_text(&deep)), "");
    strbuf_clear(&deep);
    for (int i = 0; i < 100000; i++)
        strbuf_addc(&deep, '[');
    refused(parse(strbuf_text(&deep)), "nested deeper than 100 levels");
    strbuf_clear(&deep);
    strbuf_adds(&deep, "a0: &a0 [x]\n");
    for (int i = 1; i < 200; i++)
        strbuf_addf(&deep, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    refused(parse(strbuf_text(&deep)), "nested deeper than 100 levels");
    strbuf_release(&deep);
}

static void hostile_bytes(void **state)
{
    struct strbuf big = STRBUF_INIT;

    (void)state;
    refused(parse_n("a: x\0y", 6), "m.yaml:1:5: a NUL character");
    refused(parse("a: \"x\\0y\""), "a NUL character cannot be part of a value");
    refused(parse("a: \xff\xfe"), "m.yaml:1:4: byte 0xff is not valid UTF-8");
    refused(parse("a: x\n\nb: \xc3("), "m.yaml:3:4: byte 0xc3 is not valid UTF-8");
    refused(parse("a: \xed\xa0\x80"), "not valid UTF-8");
    refused(parse("a: \xc0\xaf"), "not valid UTF-8");
    refused(parse("a: \xf4\x90\x80\x80"), "not valid UTF-8");
    refused(parse("a: \xc3"), "not valid UTF-8");
    refused(parse("a: \x1b[31m"), "m.yaml:1:4: control character U+001B");
    refused(parse("a: \xc2\x9b"), "control character U+009B");
    refused(parse("a: \"\\ud800\""), "m.yaml:1:");
    refused(parse_n("\xff\xfe"
                    "a\0:\0 \0\0\xd8",
                    10),
            "not valid UTF-16");
    refused(parse_n("\xff\xfe"
                    "a",
                    3),
            "not valid UTF-16");
    refused(parse_n("\xfe\xff\0a\0:\0\0", 8), "NUL character");
    for (size_t i = 0; i < TREE_MAX_SCALAR + 1; i++)
        strbuf_addc(&big, 'x');
    refused(parse(strbuf_text(&big)), "a value of more than 1024 KiB");
    strbuf_clear(&big);
    for (int i = 0; i < TREE_MAX_NODES + 1; i++)
        strbuf_adds(&big, "- x\n");
    refused(parse(strbuf_text(&big)), "more than 200000 nodes");
    while (big.len <= TREE_MAX_BYTES)
        strbuf_adds(&big, "# a comment of some length that fills the file up to its limit\n");
    refused(parse_n(big.data, big.len), "m.yaml: larger than 16 MiB");
    strbuf_release(&big);
}

static void messages_are_printable(void **state)
{
    struct strbuf text = STRBUF_INIT;
    struct parsed p;

    (void)state;
    p = parse("{\"\\e[31m\\n\\u202e\": 1, \"\\e[31m\\n\\u202e\": 2}");
    assert_has(p.err.message, "duplicate key '\\x1b[31m\\n\\xe2\\x80\\xae'");
    refused(p, "m.yaml:1:");
    strbuf_adds(&text, "{");
    for (int k = 0; k < 2; k++) {
        strbuf_adds(&text, k ? ": 1, \"" : "\"");
        for (int i = 0; i < 400; i++)
            strbuf_adds(&text, "\xc3\xa4");
        strbuf_adds(&text, "\"");
    }
    strbuf_adds(&text, ": 2}");
    p = parse(strbuf_text(&text));
    assert_true(strlen(p.err.message) < 250);
    refused(p, "\xc3\xa4...', first given on line 1");
    strbuf_release(&text);
}

static void syntax_errors_have_positions(void **state)
{
    (void)state;
    refused(parse("a: {b: 1\nc: 2"), "m.yaml:2:");
    refused(parse("a: b: c"), "m.yaml:1:5: mapping values are not allowed in this context");
    refused(parse("a: \"x"), "m.yaml:1:6:");
    refused(parse("a:\n  - b\n c: d"), "m.yaml:3:2:");
    refused(parse("a: @x"), "m.yaml:1:4:");
}

static const struct node *tree(struct arena *a, const char *text)
{
    const struct node *n = NULL;
    struct error err = ERROR_INIT;

    if (tree_parse(text, strlen(text), "t", a, &n, &err) < 0)
        fail_msg("%s", err.message);
    return n;
}

static void deep_merge(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct node *base = tree(a, "{a: {x: 1, y: [1, 2], z: {k: v}}, b: 2}");

    (void)state;
    is_tree(node_merge(a, base, tree(a, "{a: {y: [3], n: 4}, c: 5}")),
            "{a: {x: 1, y: [3], z: {k: v}, n: 4}, b: 2, c: 5}");
    is_tree(node_merge(a, base, tree(a, "{a: ~, d: {e: ~, f: 1}}")), "{b: 2, d: {f: 1}}");
    is_tree(node_merge(a, base, tree(a, "{a: 1, b: {c: d}}")), "{a: 1, b: {c: d}}");
    is_tree(base, "{a: {x: 1, y: [1, 2], z: {k: v}}, b: 2}");
    assert_ptr_equal(node_merge(a, base, NULL), base);
    is_tree(node_merge(a, NULL, tree(a, "{a: 1}")), "{a: 1}");
    const struct node *merged = node_merge(a, base, tree(a, "{b: '${x}'}"));
    assert_true(merged->refers);
    assert_ptr_equal(node_get(merged, "a"), node_get(base, "a")); /* shared, not copied */
}

static void large_maps_merge_without_scans(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct strbuf one = STRBUF_INIT, two = STRBUF_INIT;

    (void)state;
    for (int i = 0; i < 50000; i++) {
        strbuf_addf(&one, "k%d: a\n", i);
        strbuf_addf(&two, "k%d: b\n", i + 25000);
    }
    const struct node *x = tree(a, strbuf_text(&one)), *y = tree(a, strbuf_text(&two));
    int64_t start = clock_now_ns();
    const struct node *m = node_merge(a, x, y);
    assert_int_equal(m->len, 75000);
    assert_string_equal(m->items[24999]->text, "a");
    assert_string_equal(m->items[25000]->text, "b");
    assert_true(node_equal(m, node_merge(a, m, y)));
    assert_false(node_equal(m, x));
    assert_true(clock_now_ns() - start < 5 * NS_PER_S);
    strbuf_release(&one);
    strbuf_release(&two);
}

static void set(struct arena *a, const struct node *base, const char *path, const char *value,
                const char *wanted)
{
    const struct node *got = NULL;
    struct error err = ERROR_INIT;

    if (node_set_path(a, base, path,
                      value ? node_new_text(a, value, (struct position){0})
                            : node_new(a, NODE_NULL, (struct position){0}),
                      &got, &err) < 0)
        fail_msg("%s: %s", path, err.message);
    is_tree(got, wanted);
}

static void set_fails(struct arena *a, const struct node *base, const char *path, const char *message)
{
    const struct node *got = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(node_set_path(a, base, path, node_new_text(a, "v", (struct position){0}), &got, &err),
                     -1);
    assert_null(got);
    assert_has(err.message, message);
}

static void set_paths(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct node *base = tree(a, "{a: {b: 1, l: [x, {y: z}]}}");

    (void)state;
    set(a, base, "a.b", "2", "{a: {b: \"2\", l: [x, {y: z}]}}");
    set(a, base, "a.c.d", "2", "{a: {b: 1, l: [x, {y: z}], c: {d: \"2\"}}}");
    set(a, base, "a.l.0", "2", "{a: {b: 1, l: [\"2\", {y: z}]}}");
    set(a, base, "a.l.1.y", "2", "{a: {b: 1, l: [x, {y: \"2\"}]}}");
    set(a, base, "a.l.2", "2", "{a: {b: 1, l: [x, {y: z}, \"2\"]}}");
    set(a, base, "q\\.r", "2", "{a: {b: 1, l: [x, {y: z}]}, q.r: \"2\"}");
    set(a, base, "a.l.0", NULL, "{a: {b: 1, l: [{y: z}]}}");
    set(a, base, "a.b", NULL, "{a: {l: [x, {y: z}]}}");
    is_tree(base, "{a: {b: 1, l: [x, {y: z}]}}");
    set_fails(a, base, "a.l.3", "'3' is not an index of this list of 2");
    set_fails(a, base, "a.l.x", "'x' is not an index");
    set_fails(a, base, "a.b.c", "t:1:9: cannot set 'a.b.c'");
    set_fails(a, base, "", "a part of the path is empty");
    set_fails(a, base, "a..b", "a part of the path is empty");
}

static void references_are_marked(void **state)
{
    struct parsed p = parse("a: {b: [x, '${y}']}\nc: {d: $y}\n'${k}': 1\n");

    (void)state;
    accepted(&p);
    assert_true(p.root->refers);
    assert_true(node_get(p.root, "a")->refers);
    assert_false(node_get(p.root, "c")->refers);
    arena_free(p.arena);
}

static void references_need_no_quotes(void **state)
{
    (void)state;
    reads_as("{a: ${x}, b: ${x.y}/Dockerfile, c: [${env:N}, ${env:N:-d e}, $${z}], ${k}: 1}",
             "{a: ${x}, b: ${x.y}/Dockerfile, c: [${env:N}, ${env:N:-d e}, $${z}], ${k}: 1}");
    reads_as("a: '${x}'\nb: \"${x}\\n${y}\"\nc: |\n  ${x} ${not one} $ {x}\nd: ${x}\ne: ${a b}\n",
             "{a: \"${x}\", b: \"${x}\n${y}\", c: \"${x} ${not one} $ {x}\n\", d: ${x}, e: ${a b}}");
    refused(parse("{a: ${b c}}"), "m.yaml:1:6: did not find expected ',' or '}'");
    refused(parse("{a: ${b, c: d}"), "m.yaml:1:6: did not find");
    /* columns behind them stay */
    refused(parse("{a: [${x}, ${y}], a: 1}"), "m.yaml:1:19: duplicate key 'a'");
    refused(parse("a: ${x}\n\tb: 1\n"), "m.yaml:2:1: a tab in the indentation");
    /* whoever uses the characters that stand in for the braces keeps them */
    reads_as("a: '${x}\xf4\x8f\xbf\xb0'\nb: \"\\U0010FFF0\"",
             "{a: \"${x}\xf4\x8f\xbf\xb0\", b: \"\xf4\x8f\xbf\xb0\"}");
    reads_as("b: \"\\U0010FFF0${x}\"", "{b: \"\xf4\x8f\xbf\xb0${x}\"}");
}

static void suggestions(void **state)
{
    static const char *const names[] = {"memory", NULL, "cpus", "cpuset", "max_error_rate", "on"};
    size_t n = ARRAY_LEN(names);

    (void)state;
    assert_string_equal(nearest_name("memroy", names, n), "memory");
    assert_string_equal(nearest_name("Memory", names, n), "memory");
    assert_string_equal(nearest_name("cpu", names, n), "cpus");
    assert_string_equal(nearest_name("cpusets", names, n), "cpuset");
    assert_string_equal(nearest_name("max-error-rate", names, n), "max_error_rate");
    assert_null(nearest_name("volumes", names, n));
    assert_null(nearest_name("x", names, n));
    assert_null(nearest_name("", names, n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_stay_as_written),
        cmocka_unit_test(positions_count_characters_from_one),
        cmocka_unit_test(duplicate_keys),
        cmocka_unit_test(bombs_are_small_and_fast),
        cmocka_unit_test(merge_bombs_count_too),
        cmocka_unit_test(merges),
        cmocka_unit_test(encodings_and_blanks),
        cmocka_unit_test(one_document),
        cmocka_unit_test(hostile_structure),
        cmocka_unit_test(hostile_bytes),
        cmocka_unit_test(messages_are_printable),
        cmocka_unit_test(syntax_errors_have_positions),
        cmocka_unit_test(deep_merge),
        cmocka_unit_test(large_maps_merge_without_scans),
        cmocka_unit_test(set_paths),
        cmocka_unit_test(references_are_marked),
        cmocka_unit_test(references_need_no_quotes),
        cmocka_unit_test(suggestions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
