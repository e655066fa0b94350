/* SPDX-License-Identifier: MIT */
#include "support/scratch.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "benchctl/base/log.h"
#include "benchctl/base/secrets.h"

static int forget(void **state)
{
    (void)state;
    secrets_forget();
    return 0;
}

static void masks_to(const char *text, const char *expected)
{
    CLEANUP_FREE char *copy = xstrdup(text);

    secrets_mask_text(copy);
    assert_string_equal(copy, expected);
}

static void values_are_masked_byte_for_byte(void **state)
{
    (void)state;
    secrets_learn("hunter2!");
    masks_to("a hunter2! and hunter2!hunter2!", "a ******** and ****************");
    masks_to("hunter2", "hunter2");
    assert_true(secrets_in("x=hunter2!"));
    assert_false(secrets_in("x=hunter2"));
}

static void all_forms_are_masked(void **state)
{
    (void)state;
    secrets_learn("p\"ss/w\xc3\xb6rd");
    masks_to("{\"k\":\"p\\\"ss/w\xc3\xb6rd\"}", "{\"k\":\"***********\"}");
    masks_to("?p=p%22ss%2Fw%C3%B6rd&x", "?p=******************&x");
    masks_to("?p=p%22ss%2fw%c3%b6rd&x", "?p=******************&x");
}

static void ordinary_words_are_not_learnt(void **state)
{
    static const char *const words[] = {"", "short", "postgres", "Password", "123456789", "10.0.0.1"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        secrets_learn(words[i]);
    secrets_learn(NULL);
    assert_false(secrets_known());
    masks_to("postgres 123456789", "postgres 123456789");
}

static const struct node *tree(struct arena *a, const char *yaml)
{
    const struct node *n;
    struct error err = ERROR_INIT;

    if (tree_parse(yaml, strlen(yaml), "t.yaml", a, &n, &err) < 0)
        fail_msg("%s", err.message);
    return n;
}

static void a_tree_tells_its_secrets(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();

    (void)state;
    assert_int_equal(setenv("BENCH_TEST_KEY", "from-environment", 1), 0);
    secrets_learn_tree(tree(a, "app:\n"
                               "  env:\n"
                               "    DB_PASSWORD: by-its-key\n"
                               "    API: '${secret:BENCH_TEST_KEY}'\n"
                               "    URL: postgres://u:in-a-url@db/x\n"
                               "    JDBC: jdbc:postgresql://db/x?user=u&password=in-a-query&ssl=1\n"
                               "    nested_secrets: {deep: [below-its-key]}\n"
                               "    PLAIN: in-the-open\n"
                               "database: {user: all-the-same, password: all-the-same}\n"));
    masks_to("by-its-key from-environment in-a-url in-a-query below-its-key",
             "********** **************** ******** ********** *************");
    masks_to("in-the-open all-the-same ${secret:BENCH_TEST_KEY}",
             "in-the-open all-the-same ${secret:BENCH_TEST_KEY}");
}

static void remember(enum log_level level, const char *line, void *data)
{
    (void)level;
    strbuf_addf(data, "%s\n", line);
}

static void what_names_things_is_spared(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf said = STRBUF_INIT;
    const struct node *n = tree(a, "app:\n"
                                   "  image: registry/micronaut:1\n"
                                   "  env: {A_PASSWORD: webflux, B_TOKEN: micronaut, C_SECRET: not-a-name}\n"
                                   "services: {my-database: {image: x, env: {D_SECRET: my-database}}}\n");

    (void)state;
    log_set_sink(remember, &said);
    secrets_spare(SECRET_IN_SCENARIO, "webflux-jdbc/256m");
    secrets_spare(SECRET_IN_SCENARIO, NULL);
    secrets_learn_tree(n);
    secrets_learn_tree(n);
    log_set_sink(NULL, NULL);
    masks_to("webflux micronaut not-a-name my-database", "webflux micronaut ********** my-database");
    assert_string_equal(
        strbuf_text(&said),
        "the value of 'app.env.A_PASSWORD' is also part of a scenario's name: it is not masked\n"
        "the value of 'app.env.B_TOKEN' is also part of an image's name: it is not masked\n"
        "the value of 'services.my-database.env.D_SECRET' is also part of a service's name: it is not "
        "masked\n");
}

static void identities_are_not_masked(void **state)
{
    CLEANUP(json_free) struct json *j = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    static const char text[] =
        "{\"scenario\":\"hunter2!\",\"axes\":{\"a\":\"hunter2!\"},\"reason\":\"hunter2!\","
        "\"steps\":[{\"name\":\"hunter2!\",\"note\":\"hunter2!\"}]}";
    struct error err = ERROR_INIT;

    (void)state;
    secrets_learn("hunter2!");
    assert_int_equal(json_parse(text, sizeof(text) - 1, "t", &j, &err), 0);
    assert_true(secrets_mask_json(j));
    json_write(j, JSON_STYLE_COMPACT, &out);
    assert_string_equal(strbuf_text(&out),
                        "{\"scenario\":\"hunter2!\",\"axes\":{\"a\":\"hunter2!\"},\"reason\":\"********\","
                        "\"steps\":[{\"name\":\"hunter2!\",\"note\":\"********\"}]}");
    assert_false(secrets_mask_json(j));
}

static void json_keeps_its_names_and_numbers(void **state)
{
    CLEANUP(json_free) struct json *j = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    static const char text[] = "{\"latency_ms\":{\"hunter2!\":1.5},\"a\":[\"so hunter2! it\",null,true]}";
    struct error err = ERROR_INIT;

    (void)state;
    secrets_learn("hunter2!");
    secrets_learn("latency_ms");
    assert_int_equal(json_parse(text, sizeof(text) - 1, "t", &j, &err), 0);
    secrets_mask_json(j);
    json_write(j, JSON_STYLE_COMPACT, &out);
    assert_string_equal(strbuf_text(&out),
                        "{\"latency_ms\":{\"hunter2!\":1.5},\"a\":[\"so ******** it\",null,true]}");
}

/* --- streams and files --- */

static int collect(const char *bytes, size_t len, void *data, struct error *err)
{
    (void)err;
    strbuf_add(data, bytes, len);
    return 0;
}

/* However it is cut into pieces. */
static void streams_are_masked_across_pieces(void **state)
{
    static const char text[] = "xxhunter2!yyhunter2!";
    struct error err = ERROR_INIT;

    (void)state;
    secrets_learn("hunter2!");
    for (size_t piece = 1; piece <= sizeof(text); piece++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
        CLEANUP(secrets_stream_free) struct secrets_stream *s = secrets_stream_new(collect, &out);
        for (size_t at = 0; at < sizeof(text) - 1; at += piece) {
            size_t left = sizeof(text) - 1 - at;
            assert_int_equal(secrets_stream_write(s, text + at, left < piece ? left : piece, &err), 0);
        }
        assert_int_equal(secrets_stream_end(s, &err), 0);
        assert_string_equal(strbuf_text(&out), "xx********yy********");
    }
}

#define BIG ((size_t)(256 << 10) * 2 + 100)

static void files_are_masked_in_place(void **state)
{
    const char *dir = *state;
    CLEANUP_FREE char *sub = path_join(dir, "a/b");
    CLEANUP_FREE char *big = path_join(dir, "a/b/big");
    CLEANUP_FREE char *outside = xasprintf("%s.outside", dir);
    CLEANUP_FREE char *link = path_join(dir, "a/link");
    CLEANUP_FREE char *bytes = xmalloc(BIG);
    CLEANUP_VALUE(strbuf_release) struct strbuf read = STRBUF_INIT;
    struct error err = ERROR_INIT;

    secrets_learn("hunter2!");
    memset(bytes, 'x', BIG);
    for (size_t at = 5; at + 8 < BIG; at += 13) /* also over the ends of whatever pieces */
        memcpy(bytes + at, "hunter2!", 8);
    assert_int_equal(fs_mkdirs(sub, &err), 0);
    assert_int_equal(fs_write(big, bytes, BIG, &err), 0);
    assert_int_equal(fs_write(outside, "hunter2!", 8, &err), 0);
    assert_int_equal(symlink(outside, link), 0);
    assert_int_equal(secrets_mask_files(dir, NULL, NULL, &err), 0);
    assert_int_equal(fs_read(big, BIG + 1, &read, &err), 0);
    assert_int_equal(read.len, BIG);
    (void)secrets_mask(bytes, BIG);
    assert_memory_equal(read.data, bytes, BIG);
    assert_null(memmem(bytes, BIG, "hunter", 6));
    strbuf_clear(&read);
    assert_int_equal(fs_read(outside, 100, &read, &err), 0);
    assert_string_equal(strbuf_text(&read), "hunter2!"); /* links are not followed */
    assert_int_equal(unlink(outside), 0);
}

/* By somebody who may neither write the file nor remove it. */
static void what_cannot_be_masked_is_an_error(void **state)
{
    const char *dir = *state;
    CLEANUP_FREE char *held = path_join(dir, "held"), *stuck = path_join(held, "a"),
                      *free_ = path_join(dir, "b");
    CLEANUP_VALUE(strbuf_release) struct strbuf read = STRBUF_INIT;
    struct error err = ERROR_INIT;
    bool root = geteuid() == 0;

    secrets_learn("hunter2!");
    assert_int_equal(fs_mkdirs(held, &err), 0);
    assert_int_equal(fs_write(stuck, "hunter2!", 8, &err), 0);
    assert_int_equal(fs_write(free_, "hunter2!", 8, &err), 0);
    assert_int_equal(chmod(stuck, 0444) | chmod(free_, 0666) | chmod(held, 0555) | chmod(dir, 0755), 0);
    if (root)
        assert_int_equal(seteuid(65534), 0);
    int rc = secrets_mask_files(dir, NULL, NULL, &err);
    if (root)
        assert_int_equal(seteuid(0), 0);
    (void)chmod(held, 0755);
    assert_int_equal(rc, -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_non_null(strstr(err.message, "held/a"));
    assert_int_equal(fs_read(free_, 100, &read, &err), 0);
    assert_string_equal(strbuf_text(&read), "********"); /* the others are masked nevertheless */
}

static void errors_do_not_tell(void **state)
{
    struct error err = ERROR_INIT;

    (void)state;
    secrets_learn("hunter2!");
    (void)error_set(&err, ERROR_TRIAL, "cannot log in with '%s'", "hunter2!");
    (void)error_hint(&err, "hunter2! is wrong");
    (void)error_wrap(&err, "%s", "hunter2!");
    assert_null(strstr(err.message, "hunter2!"));
    assert_null(strstr(err.hint, "hunter2!"));
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, forget, forget)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_are_masked_byte_for_byte),
        TEST(all_forms_are_masked),
        TEST(ordinary_words_are_not_learnt),
        TEST(a_tree_tells_its_secrets),
        TEST(what_names_things_is_spared),
        TEST(identities_are_not_masked),
        TEST(json_keeps_its_names_and_numbers),
        TEST(streams_are_masked_across_pieces),
        TEST(errors_do_not_tell),
        cmocka_unit_test_setup_teardown(files_are_masked_in_place, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_masked_is_an_error, scratch_setup, scratch_teardown),
    };

    int rc = cmocka_run_group_tests(tests, NULL, forget);
    return rc;
}
