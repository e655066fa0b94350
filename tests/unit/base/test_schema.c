/* SPDX-License-Identifier: MIT */
#include "unit/check.h"

#include <math.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/json.h"
#include "benchctl/base/schema.h"
#include "benchctl/base/units.h"

struct part {
    const char *name;
    int64_t size_bytes;
    const char *path;
    struct position at;
};
struct pair {
    const char *text;
    int64_t twice; /* follows from count */
};
struct thing {
    const char *text, *note, *password, *url;
    int64_t count, memory_bytes, wait_ns, least;
    double ratio;
    bool on;
    int mode;
    struct part one;
    const struct part *maybe;
    struct schema_list list, named;
    struct text_list texts, files, once_text;
    struct text_map env;
    const struct node *node, *rest;
    int64_t doubled;
    struct position at;
};

static int part_from_text(const struct node *n, struct arena *a, void *ret, struct error *err)
{
    struct part *p = ret;

    (void)a;
    if (strcmp(n->text, "bad") == 0)
        return node_error(err, n, "'bad' is not a part");
    p->path = n->text;
    return 0;
}

static const struct schema_field part_fields[] = {
    {.key = "size", .type = SCHEMA_SIZE, .offset = offsetof(struct part, size_bytes), .fallback = "1k"},
    {.key = "path", .type = SCHEMA_TEXT, .offset = offsetof(struct part, path), .path = true},
};
static const struct schema part_schema = {
    .name = "a part",
    .help = "A part.",
    .size = sizeof(struct part),
    .fields = part_fields,
    .field_count = ARRAY_LEN(part_fields),
    .from_scalar = part_from_text,
    .free_keys = true,
    .position_offset = offsetof(struct part, at),
};

static int complete_thing(const struct node *n, struct arena *a, void *value, struct error *err)
{
    struct thing *t = value;

    (void)n;
    (void)a;
    (void)err;
    t->doubled = 2 * t->count;
    return 0;
}

static int check_thing(const struct node *n, const void *value, struct error *err)
{
    const struct thing *t = value;

    return t->count == 13 ? node_error(err, n, "13 is unlucky") : 0;
}

static const char *const modes[] = {"fast", "slow", "off", NULL};

static const struct schema_field thing_fields[] = {
    FIELD("text", TEXT, thing, text, .required = true, .help = "Any | text."),
    FIELD("note", TEXT, thing, note, .descriptive = true),
    FIELD("password", TEXT, thing, password, ),
    FIELD("url", TEXT, thing, url, ),
    FIELD("count", INT, thing, count, .min = 1, .max = 100, .fallback = "5"),
    FIELD("memory", SIZE, thing, memory_bytes, .min = -1),
    FIELD("wait", DURATION, thing, wait_ns, .min = 1000000, .max = 60000000000),
    FIELD("least", INT, thing, least, .min = 1),
    FIELD("ratio", NUMBER, thing, ratio, ),
    FIELD("on", BOOL, thing, on, ),
    FIELD("mode", CHOICE, thing, mode, .choices = modes, .fallback = "slow"),
    FIELD("one", STRUCT, thing, one, .of = &part_schema),
    FIELD("maybe", OPTIONAL, thing, maybe, .of = &part_schema),
    FIELD("list", LIST, thing, list, .of = &part_schema),
    FIELD("named", NAMED, thing, named, .of = &part_schema),
    FIELD("texts", TEXTS, thing, texts, ),
    FIELD("files", TEXTS, thing, files, .path = true),
    FIELD("once text", TEXTS, thing, once_text, .one_is_text = true),
    FIELD("env", TEXT_MAP, thing, env, ),
    FIELD("node", NODE, thing, node, .shape = "{\"type\": \"object\"}"),
};
static const struct schema thing_schema = {
    .name = "the thing",
    .help = "A thing.",
    .size = sizeof(struct thing),
    .fields = thing_fields,
    .field_count = ARRAY_LEN(thing_fields),
    .free_keys = true,
    .complete = complete_thing,
    .check = check_thing,
    .position_offset = offsetof(struct thing, at),
};

static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static const struct node *tree(const char *text)
{
    const struct node *n = NULL;
    struct error err = ERROR_INIT;

    if (tree_parse(text, strlen(text), "t", arena, &n, &err) < 0)
        fail_msg("%s", err.message);
    return n;
}

static struct thing read_thing(const char *text)
{
    struct thing t;
    struct error err = ERROR_INIT;

    if (schema_read(&thing_schema, tree(text), arena, &t, &err) < 0)
        fail_msg("%s", err.message);
    return t;
}

static void refused(const char *text, const char *message, const char *hint)
{
    struct thing t;
    struct error err = ERROR_INIT;

    if (schema_read(&thing_schema, tree(text), arena, &t, &err) == 0)
        fail_msg("'%s' was accepted", text);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_has(err.message, message);
    assert_has(err.hint, hint);
}

static void what_is_absent(void **state)
{
    struct thing t = read_thing("text: x");

    (void)state;
    assert_string_equal(t.text, "x");
    assert_null(t.note);
    assert_int_equal(t.count, 5);
    assert_int_equal(t.doubled, 10);
    assert_true(t.memory_bytes == SCHEMA_ABSENT && t.wait_ns == SCHEMA_ABSENT && t.least == SCHEMA_ABSENT);
    assert_true(isnan(t.ratio));
    assert_int_equal(t.mode, 1);
    assert_int_equal(t.one.size_bytes, 1024);
    assert_null(t.maybe);
    assert_true(!t.list.len && !t.named.len && !t.texts.len && !t.env.len && !t.node);
    assert_int_equal(t.at.line, 1);
}

static void what_is_given(void **state)
{
    struct thing t = read_thing(
        "{text: 0128, count: \"7\", memory: 0.5g, wait: 1.5s, ratio: 0.25, on: true, mode: off,\n"
        " one: {size: 2k}, maybe: {path: p}, list: [{size: 1m}, q], named: {a: {}, x-b: 1, c: {size: 0}},\n"
        " texts: [a, b], files: f, env: {B: 2, A: on}, node: [1], x-free: {any: thing}}");

    (void)state;
    assert_string_equal(t.text, "0128");
    assert_int_equal(t.count, 7);
    assert_int_equal(t.memory_bytes, 512 << 20);
    assert_int_equal(t.wait_ns, INT64_C(1500000000));
    assert_true(t.ratio > 0.2499 && t.ratio < 0.2501 && t.on);
    assert_int_equal(t.mode, 2);
    assert_int_equal(t.one.size_bytes, 2048);
    assert_string_equal(t.maybe->path, "p");
    const struct part *list = t.list.items, *named = t.named.items;
    assert_int_equal(t.list.len, 2);
    assert_int_equal(list[0].size_bytes, 1 << 20);
    assert_string_equal(list[1].path, "q");
    assert_int_equal(list[1].size_bytes, 1024);
    assert_int_equal(list[1].at.line, 2);
    assert_int_equal(t.named.len, 2);
    assert_string_equal(named[0].name, "a");
    assert_string_equal(named[1].name, "c");
    assert_int_equal(named[1].size_bytes, 0);
    assert_int_equal(t.texts.len, 2);
    assert_int_equal(t.files.len, 1);
    assert_string_equal(t.env.items[0].key, "B");
    assert_string_equal(text_map_get(&t.env, "A"), "on");
    assert_null(text_map_get(&t.env, "C"));
    assert_int_equal(t.node->kind, NODE_LIST);
    assert_int_equal(read_thing("{text: a, memory: unlimited}").memory_bytes, SIZE_UNLIMITED);
}

static void wrong_values(void **state)
{
    (void)state;
    refused("{}", "t:1:1: 'text' is missing in the thing", "");
    refused("[a]", "t:1:1: the thing must be a map, not a list", "");
    refused("{text: x, coutn: 1}", "t:1:11: unknown key 'coutn' in the thing", "did you mean 'count'?");
    refused("{text: x, zzzzzz: 1}", "unknown key 'zzzzzz'", "known here: text, note");
    refused("{text: }", "t:1:8: 'text' has no value", "remove it");
    refused("{text: [a]}", "'text' must be text, not a list", "");
    refused("{text: x, count: 0}", "'count' must be from 1 to 100, not 0", "");
    refused("{text: x, count: 101}", "'count' must be from 1 to 100, not 101", "");
    refused("{text: x, count: {}}", "'count' must be a whole number, not a map", "");
    refused("{text: x, least: 0}", "'least' must be at least 1, not 0", "");
    refused("{text: x, wait: 2m}", "'wait' must be from 1ms to 1m, not 2m", "");
    refused("{text: x, wait: 2}", "t:1:17: 'wait': duration '2' has no unit", "2s");
    refused("{text: x, memory: 256}", "t:1:19: 'memory': size '256' has no unit", "256");
    refused("{text: x, memory: -1}", "'memory'", "");
    refused("{text: x, one: {size: unlimited}}", "'size' cannot be unlimited", "");
    refused("{text: x, ratio: 1e3}", "'ratio'", "");
    refused("{text: x, on: yes}", "t:1:15: 'on' must be true or false, not 'yes'", "lower case");
    refused("{text: x, on: True}", "'on' must be true or false", "");
    refused("{text: x, on: \"true\"}", "'on' must be true or false, not the text 'true'", "without quotes");
    refused("{text: x, mode: slwo}", "'mode' must be fast, slow or off, not 'slwo'", "did you mean 'slow'?");
    refused("{text: x, one: [a]}", "t:1:16: a part must be a map, not a list", "");
    refused("{text: x, one: bad}", "t:1:16: 'bad' is not a part", "");
    refused("{text: x, list: {size: 1k}}", "'list' must be a list, not a map", "");
    refused("{text: x, list: [{size: 1}]}", "t:1:25: 'size'", "");
    refused("{text: x, named: [a]}", "'named' must be a map, not a list", "");
    refused("{text: x, texts: [a, ~]}", "t:1:22: 'texts' has no value", "");
    refused("{text: x, env: {A: }}", "'A' has no value", "\"\" is an empty text");
    refused("{text: x, env: [A]}", "'env' must be a map, not a list", "");
    refused("{text: x, maybe: ~}", "'maybe' has no value", "");
    refused("{text: x, count: 13}", "t:1:1: 13 is unlucky", "");
}

static void whole_numbers(void **state)
{
    struct thing t;
    struct error err = ERROR_INIT;

    (void)state;
    for (int i = 0; i <= 12; i++) {
        struct strbuf text = STRBUF_INIT;
        char path[512];
        (void)snprintf(path, sizeof(path), "%s/cases/B03/repeat_%02d.yml", TESTS_DIR, i);
        assert_int_equal(fs_read(path, 1000, &text, &err), 0);
        const struct node *value = node_get(tree(strbuf_text(&text)), "repeat");
        strbuf_clear(&text);
        strbuf_addf(&text, value->quoted ? "{text: x, count: \"%s\"}" : "{text: x, count: %s}", value->text);
        int result = schema_read(&thing_schema, tree(strbuf_text(&text)), arena, &t, &err);
        if ((result == 0) != (i == 9 || i == 10)) /* 5 and "5": quotes make no difference */
            fail_msg("%s: %s", path, result == 0 ? "accepted" : err.message);
        strbuf_release(&text);
    }
}

static void sizes(void **state)
{
    struct strbuf text = STRBUF_INIT;
    struct error err = ERROR_INIT;
    char spelling[64], wanted[64];
    size_t count = 0;

    (void)state;
    assert_int_equal(fs_read(TESTS_DIR "/cases/A11/limits.txt", 100000, &text, &err), 0);
    for (char *save, *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        struct node value = {.kind = NODE_SCALAR, .text = spelling};
        const struct node *keys[] = {tree("size"), tree("path")}, *items[] = {&value, tree("p")};
        const struct node map = {.kind = NODE_MAP, .text = "", .keys = keys, .items = items, .len = 2};
        struct part p;
        spelling[0] = '\0';
        if (sscanf(line, "'%63[^']'\t%63[^\n]", spelling, wanted) != 2 &&
            sscanf(line, "''\t%63[^\n]", wanted) != 1)
            continue;
        int result = schema_read(&part_schema, &map, arena, &p, &err);
        count++;
        /* the minimum is a rule of the matrix, and a zero and terabytes are sizes like others */
        bool rule_of_matrix = strstr(wanted, "below") || strcmp(spelling, "0") == 0 ||
                              strcmp(spelling, "0m") == 0 || strcmp(spelling, "2t") == 0;
        if (strncmp(wanted, "reject", 6) == 0 ? (result == 0) != rule_of_matrix
                                              : result < 0 || p.size_bytes != atoll(wanted))
            fail_msg("'%s': wanted %s, got %s", spelling, wanted, result < 0 ? err.message : "accepted");
    }
    assert_int_equal(count, 41);
    strbuf_release(&text);
}

struct seen {
    struct strbuf text;
    int count;
};

static void remember(const struct error *err, void *data)
{
    struct seen *s = data;

    strbuf_addf(&s->text, "%s\n", err->message);
    s->count++;
}

static void all_problems_are_reported(void **state)
{
    struct seen seen = {0};
    const struct schema_options o = {.report = remember, .data = &seen};
    struct thing t;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(schema_read_with(&thing_schema,
                                      tree("{cuont: 1, on: 5, one: {size: 7, nme: 1}, count: 13}"), &o, arena,
                                      &t, &err),
                     -1);
    assert_int_equal(seen.count, 5);
    assert_has(err.message, "unknown key 'cuont'");
    assert_has(strbuf_text(&seen.text), "'on' must be");
    assert_has(strbuf_text(&seen.text), "'size': size '7'");
    assert_has(strbuf_text(&seen.text), "unknown key 'nme'");
    assert_has(strbuf_text(&seen.text), "'text' is missing");
    assert_null(strstr(strbuf_text(&seen.text), "unlucky")); /* rules between fields wait for good fields */
    strbuf_release(&seen.text);
}

static void paths_become_absolute(void **state)
{
    const struct schema_options o = {.dir = "/d/e"};
    struct thing t;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(schema_read_with(&thing_schema,
                                      tree("{text: x, files: [a, /b, ../c, '${app.x}'], one: {path: p}}"), &o,
                                      arena, &t, &err),
                     0);
    assert_string_equal(t.text, "x");
    assert_string_equal(t.files.items[0], "/d/e/a");
    assert_string_equal(t.files.items[1], "/b");
    assert_string_equal(t.files.items[2], "/d/e/../c");
    assert_string_equal(t.files.items[3], "${app.x}");
    assert_string_equal(t.one.path, "/d/e/p");
}

static void json_is(const struct json *j, const char *wanted)
{
    struct strbuf out = STRBUF_INIT;

    json_write(j, JSON_STYLE_COMPACT, &out);
    assert_string_equal(strbuf_text(&out), wanted);
    strbuf_release(&out);
}

static void as_json(void **state)
{
    struct thing t = read_thing(
        "{text: x, note: n, memory: unlimited, wait: 90ms, ratio: 0.5, named: {a: {size: 0}}, list: [q],\n"
        "texts: t, once text: [a], env: {B: 2, A: 1}, node: {l: [~, 1]}}");
    CLEANUP(json_free) struct json *j = schema_to_json(&thing_schema, &t, false);
    CLEANUP(json_free) struct json *digest = schema_to_json(&thing_schema, &t, true);

    (void)state;
    json_is(j, "{\"text\":\"x\",\"note\":\"n\",\"count\":5,\"memory\":\"unlimited\",\"wait\":\"90ms\","
               "\"ratio\":0.5,\"on\":false,"
               "\"mode\":\"slow\",\"one\":{\"size\":1024},\"list\":[{\"size\":1024,\"path\":\"q\"}],"
               "\"named\":{\"a\":{\"size\":0}},"
               "\"texts\":[\"t\"],\"once "
               "text\":\"a\",\"env\":{\"B\":\"2\",\"A\":\"1\"},\"node\":{\"l\":[null,\"1\"]}}");
    assert_null(json_get(digest, "note"));
    assert_non_null(json_get(digest, "text"));
}

static void secrets_are_masked(void **state)
{
    struct thing t =
        read_thing("{text: x, password: hunter2, url: 'postgresql://u:hunter2@h:5/d?password=hunter2&x=1',\n"
                   "env: {DB_PASSWORD: hunter2, ApiToken: hunter2, my_secret_x: hunter2, OK: seen,\n"
                   "      U: \"jdbc:x://h/d?user=a&password=hunter2\", V: 'http://u:${secret:PW}@h/', W: "
                   "\"a=b://c@d\",\n"
                   "      X: \"host=h password='hunter2 y' user=u\"},\n"
                   "node: {a: {token: [hunter2, {k: hunter2}]}, b: 'redis://:hunter2@h'}}");
    CLEANUP(json_free) struct json *j = schema_to_json(&thing_schema, &t, false);
    struct strbuf out = STRBUF_INIT;

    (void)state;
    json_write(j, JSON_STYLE_COMPACT, &out);
    assert_null(strstr(strbuf_text(&out), "hunter2"));
    assert_string_equal(json_get_text(j, "password"), "***");
    assert_string_equal(json_get_text(j, "url"), "postgresql://u:***@h:5/d?password=***&x=1");
    const struct json *env = json_get(j, "env");
    assert_string_equal(json_get_text(env, "OK"), "seen");
    assert_string_equal(json_get_text(env, "U"), "jdbc:x://h/d?user=a&password=***");
    assert_string_equal(json_get_text(env, "V"), "http://u:${secret:PW}@h/");
    assert_string_equal(json_get_text(env, "W"), "a=b://c@d");
    assert_string_equal(json_get_text(env, "X"), "host=h password=*** user=u");
    strbuf_release(&out);
}

struct open_thing {
    int64_t count;
    const struct node *rest;
};
static const struct schema_field open_fields[] = {
    {.key = "count", .type = SCHEMA_INT, .offset = offsetof(struct open_thing, count)},
    {.key = "other keys",
     .type = SCHEMA_REST,
     .offset = offsetof(struct open_thing, rest),
     .help = "Whatever."},
};
static const struct schema open_schema = {.name = "an open thing",
                                          .size = sizeof(struct open_thing),
                                          .fields = open_fields,
                                          .field_count = ARRAY_LEN(open_fields),
                                          .free_keys = true,
                                          .position_offset = SCHEMA_NO_POSITION};

static void other_keys_are_kept(void **state)
{
    struct open_thing t;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(
        schema_read(&open_schema, tree("{threads: 4, count: 2, x-y: 1, list: [a]}"), arena, &t, &err), 0);
    assert_int_equal(t.count, 2);
    assert_int_equal(t.rest->len, 2);
    assert_string_equal(node_get(t.rest, "threads")->text, "4");
    CLEANUP(json_free) struct json *j = schema_to_json(&open_schema, &t, false);
    json_is(j, "{\"count\":2,\"threads\":\"4\",\"list\":[\"a\"]}");
    assert_int_equal(schema_read(&open_schema, tree("{count: 2}"), arena, &t, &err), 0);
    assert_null(t.rest);
}

static void describes_itself(void **state)
{
    struct strbuf page = STRBUF_INIT;
    CLEANUP(json_free) struct json *j = schema_to_json_schema(&thing_schema, "urn:thing");
    CLEANUP(json_free) struct json *open = schema_to_json_schema(&open_schema, "urn:open");

    (void)state;
    schema_to_markdown(&thing_schema, &page);
    assert_has(strbuf_text(&page), "## thing\n\nA thing.\n");
    assert_has(strbuf_text(&page), "| `text` | text | required | Any \\| text. |\n");
    assert_has(strbuf_text(&page), "| `count` | whole number, 1 to 100 | `5` |  |\n");
    assert_has(strbuf_text(&page), "| `mode` | `fast`, `slow`, `off` | `slow` |");
    assert_has(strbuf_text(&page), "| `named` | names, each with [part](#part) |");
    assert_has(strbuf_text(&page), "\n## part\n");
    assert_string_equal(json_get_text(j, "$schema"), "https://json-schema.org/draft/2020-12/schema");
    assert_string_equal(json_get_text(j, "$id"), "urn:thing");
    assert_string_equal(json_text(json_pointer(j, "/properties/one/$ref")), "#/$defs/part");
    assert_non_null(json_pointer(j, "/$defs/part"));
    assert_string_equal(json_text(json_pointer(j, "/required/0")), "text");
    assert_false(json_get_bool(j, "additionalProperties"));
    assert_string_equal(json_get_text(json_pointer(j, "/properties/node"), "type"), "object");
    assert_string_equal(json_get_text(json_get(open, "additionalProperties"), "description"), "Whatever.");
    strbuf_release(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_absent),
        cmocka_unit_test(what_is_given),
        cmocka_unit_test(wrong_values),
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(sizes),
        cmocka_unit_test(all_problems_are_reported),
        cmocka_unit_test(paths_become_absolute),
        cmocka_unit_test(as_json),
        cmocka_unit_test(secrets_are_masked),
        cmocka_unit_test(other_keys_are_kept),
        cmocka_unit_test(describes_itself),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
