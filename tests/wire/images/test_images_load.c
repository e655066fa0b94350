/* SPDX-License-Identifier: MIT */
/* Images into an engine, from files that nobody vouches for. */
#include "images_fixture.h"

static const char *const LAYERS[] = {"the lowest", "the middle", "the lowest", NULL};
static const char *const OTHERS[] = {"of another image", NULL};

static struct made_image image, other;

static int make_both(void **state)
{
    (void)state;
    make_image(&image, "one", LAYERS);
    make_image(&other, "other", OTHERS);
    return 0;
}

static int forget_both(void **state)
{
    (void)state;
    made_image_release(&image);
    made_image_release(&other);
    return 0;
}

static void put_blob(const char *dir, const char *hex, const char *text)
{
    CLEANUP_FREE char *name = xasprintf("blobs/sha256-%s", hex);

    put(dir, name, text);
}

static void add_blob(struct strbuf *out, const char *hex, const char *text)
{
    strbuf_addf(out, "{\"digest\":\"sha256:%s\",\"size\":%zu}", hex, strlen(text));
}

/* What images_save() makes of an image, with `names` (JSON) as its names. The caller frees. */
static char *index_of(const struct made_image *m, const char *names)
{
    struct strbuf out = STRBUF_INIT;

    strbuf_addf(&out,
                "{\"schema\":1,\"images\":[{\"id\":\"%s\",\"names\":[%s],\"parents\":[],\"config\":", m->id,
                names);
    add_blob(&out, m->config_hex, m->config);
    strbuf_adds(&out, ",\"layers\":[");
    for (size_t k = 0; k < m->layer_count; k++) {
        if (k)
            strbuf_addc(&out, ',');
        add_blob(&out, m->layer_hex[k], m->layers[k]);
    }
    strbuf_adds(&out, "]}]}");
    return strbuf_detach(&out);
}

static char *saved(struct image_engine *e, const char *names)
{
    char *dir = path_join(e->dir, "images");
    CLEANUP_FREE char *index = index_of(&image, names);

    put(dir, "index.json", index);
    put_blob(dir, image.config_hex, image.config);
    for (size_t k = 0; k < image.layer_count; k++)
        put_blob(dir, image.layer_hex[k], image.layers[k]);
    return dir;
}

struct lines {
    int count;
};

static void count_line(const char *line, void *data)
{
    (void)line;
    ((struct lines *)data)->count++;
}

static void the_archive_is_joined_from_its_parts(void **state)
{
    struct image_engine *e = *state;
    CLEANUP_FREE char *dir = saved(e, "\"name/of/it:2\"");
    CLEANUP(archive_reader_free) struct archive_reader *r = NULL;
    CLEANUP_FREE char *config = xasprintf("%s.json", image.config_hex),
                      *low = xasprintf("%s/layer.tar", image.layer_hex[0]),
                      *middle = xasprintf("%s/layer.tar", image.layer_hex[1]);
    const char *const wanted[] = {config, low, middle,
                                  "manifest.json"}; /* a layer that is there twice once */
    struct archive_member m;
    struct lines lines = {0};
    char bytes[4096];

    e->loads = &image;
    must(images_load(e->lab.engine, dir, image.id, count_line, &lines, &why));
    assert_int_equal(lines.count, 2);
    const struct seen *sent = server_last(e->server, "POST /images/load*");
    must(archive_reader_open_memory(sent->body, sent->body_len, "sent", NULL, &r, &why));
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        struct error err = ERROR_INIT;
        assert_int_equal(archive_reader_next(r, &m, &err), 1);
        assert_string_equal(m.name, wanted[i]);
        ptrdiff_t n = archive_reader_read(r, bytes, sizeof(bytes) - 1, &err);
        assert_true(n > 0);
        bytes[n] = '\0';
    }
    CLEANUP(json_free) struct json *j = NULL;
    must(json_parse(bytes, strlen(bytes), "manifest", &j, &why));
    assert_string_equal(json_text(json_pointer(j, "/0/Config")), config);
    assert_int_equal(json_len(json_pointer(j, "/0/Layers")), 3);
    assert_string_equal(json_text(json_pointer(j, "/0/Layers/2")), low);
    assert_int_equal(json_type_of(json_pointer(j, "/0/RepoTags")), JSON_TYPE_NULL);
    const struct seen *tagged = server_last(e->server, "POST /images/*/tag?*");
    assert_non_null(strstr(tagged->path, "repo=name/of/it&tag=2"));
}

static void what_the_engine_has_is_not_sent(void **state)
{
    struct image_engine *e = *state;
    CLEANUP_FREE char *dir = saved(e, "\"a:1\",\"b:1\"");

    image_engine_has(e, &image, NULL);
    image_engine_has(e, &other, "a:1");
    must(images_load(e->lab.engine, dir, image.id, NULL, NULL, &why));
    assert_int_equal(server_count(e->server, "POST /images/load*"), 0);
    assert_int_equal(server_count(e->server, "POST /images/*/tag?repo=b&tag=1"), 1);
    assert_int_equal(server_count(e->server, "POST /images/*/tag?repo=a&tag=1"), 0); /* another's: it stays */
}

static void an_engine_that_calls_it_otherwise(void **state)
{
    struct image_engine *e = *state;
    CLEANUP_FREE char *dir = saved(e, "\"a:1\"");
    const char *called = "sha256:1111111111111111111111111111111111111111111111111111111111111111";
    const struct images_loading l = {.dir = dir, .id = image.id};
    CLEANUP_FREE char *id = NULL;

    e->loads = &image;
    e->loads_as = called;
    must(images_load_as(e->lab.engine, &l, &id, &why));
    assert_string_equal(id, called);
    CLEANUP_FREE char *tag = xasprintf("POST /images/%s/tag?*", called);
    assert_int_equal(server_count(e->server, tag), 1);
}

static void names_that_nobody_asked_for(void **state)
{
    struct image_engine *e = *state;
    CLEANUP_FREE char *dir = saved(e, "\"ubuntu:24.04\",\"registry.test/base:latest\"");
    const struct images_loading l = {.dir = dir, .id = image.id, .nameless = true};
    CLEANUP_FREE char *id = NULL;

    e->loads = &image;
    must(images_load_as(e->lab.engine, &l, &id, &why));
    assert_string_equal(id, image.id);
    assert_int_equal(server_count(e->server, "POST /images/*/tag?*"), 0);
}

static void expect_failure(struct image_engine *e, const char *dir, enum error_kind kind, const char *what)
{
    struct error err = ERROR_INIT;

    assert_int_equal(images_load(e->lab.engine, dir, image.id, NULL, NULL, &err), -1);
    if (!strstr(err.message, what))
        fail_msg("'%s' does not say '%s'", err.message, what);
    assert_int_equal(err.kind, kind);
    assert_int_equal(server_count(e->server, "POST /images/*/tag?*"), 0);
}

static void an_engine_that_has_something_else_then(void **state)
{
    struct image_engine *e = *state;
    CLEANUP_FREE char *dir = saved(e, "\"a:1\"");

    e->loads = &other;
    expect_failure(e, dir, ERROR_ENVIRONMENT, "has not the layers and configuration");
    e->has_count = 0;
    e->loads_as = image.id; /* the right id for the wrong thing */
    expect_failure(e, dir, ERROR_ENVIRONMENT, "has not the layers and configuration");
    e->has_count = 0;
    e->loads = NULL;
    expect_failure(e, dir, ERROR_ENVIRONMENT, "does not have it");
}

static void a_damaged_blob_never_becomes_an_image(void **state)
{
    struct image_engine *e = *state;
    CLEANUP_FREE char *dir = saved(e, "");

    put_blob(dir, image.layer_hex[1], "the m1ddle");
    e->loads = &image;
    expect_failure(e, dir, ERROR_INVALID, image.layer_hex[1]);
    put_blob(dir, image.layer_hex[1], "short");
    expect_failure(e, dir, ERROR_INVALID, image.layer_hex[1]);
    put_blob(dir, image.layer_hex[1], LAYERS[1]);
    CLEANUP_FREE char *broken = xstrdup(image.config);
    broken[5] = 'X';
    put_blob(dir, image.config_hex, broken);
    expect_failure(e, dir, ERROR_INVALID, image.config_hex);
    for (size_t i = 0; i < server_calls(e->server); i++) /* no engine ever saw what to make of it */
        assert_null(memmem(server_seen(e->server, i)->body, server_seen(e->server, i)->body_len,
                           "manifest.json", 13));
}

static void files_that_are_no_files(void **state)
{
    struct image_engine *e = *state;
    CLEANUP_FREE char *dir = saved(e, ""), *layer = xasprintf("%s/blobs/sha256-%s", dir, image.layer_hex[1]);

    e->loads = &image;
    assert_int_equal(shell("rm '%s' && ln -s /etc/passwd '%s'", layer, layer), 0);
    expect_failure(e, dir, ERROR_INVALID, image.layer_hex[1]);
    assert_int_equal(shell("rm '%s' && mkfifo '%s'", layer, layer), 0);
    expect_failure(e, dir, ERROR_INVALID, image.layer_hex[1]);
    assert_int_equal(shell("rm '%s'", layer), 0);
    expect_failure(e, dir, ERROR_INVALID, image.layer_hex[1]);
    assert_int_equal(shell("mv '%s/blobs' '%s/b' && ln -s b '%s/blobs'", dir, dir, dir), 0);
    expect_failure(e, dir, ERROR_ENVIRONMENT, "blobs");
}

/* `from` replaced by `to` in the index of the image. */
static void expect_bad_index(struct image_engine *e, const char *from, const char *to, const char *what)
{
    CLEANUP_FREE char *dir = saved(e, "\"a:1\""), *index = index_of(&image, "\"a:1\"");
    CLEANUP_VALUE(strbuf_release) struct strbuf changed = STRBUF_INIT;
    const char *at = strstr(index, from);

    assert_non_null(at);
    strbuf_add(&changed, index, (size_t)(at - index));
    strbuf_adds(&changed, to);
    strbuf_adds(&changed, at + strlen(from));
    put(dir, "index.json", changed.data);
    expect_failure(e, dir, ERROR_INVALID, what);
}

static void a_list_of_images_that_lies(void **state)
{
    struct image_engine *e = *state;
    CLEANUP_FREE char *config =
        xasprintf("sha256:%s\",\"size\":%zu}", image.config_hex, strlen(image.config));
    CLEANUP_FREE char *theirs =
        xasprintf("sha256:%s\",\"size\":%zu}", other.config_hex, strlen(other.config));
    CLEANUP_FREE char *middle = xasprintf("sha256:%s", image.layer_hex[1]),
                      *lowest = xasprintf("sha256:%s", image.layer_hex[0]),
                      *last = xasprintf(",{\"digest\":\"sha256:%s\",\"size\":%zu}]", image.layer_hex[2],
                                        strlen(image.layers[2]));
    CLEANUP_FREE char *dir = saved(e, "");

    put_blob(dir, other.config_hex, other.config);
    expect_bad_index(e, middle, "sha256:../../../../etc/passwd", "a blob lacks 'digest'");
    expect_bad_index(e, config, theirs, "that of another image");
    expect_bad_index(e, middle, lowest, "layer 2 is not the one");
    expect_bad_index(e, last, "]", "names 3 layers, 2 are there");
    expect_bad_index(e, "\"size\":10", "\"size\":-1", "a blob lacks 'digest' or 'size'");
    expect_bad_index(e, "\"size\":10", "\"size\":1e300", "a blob lacks 'digest' or 'size'");
    expect_bad_index(e, "\"a:1\"", "\"/etc/passwd\"", "a name is none");
    expect_bad_index(e, "\"a:1\"", "\"a:1&x=y\"", "a name is none");
    expect_bad_index(e, "\"schema\":1", "\"schema\":2", "newer");
    expect_bad_index(e, "\"images\":[", "\"images\":[[],", "lacks 'id'");
    expect_bad_index(e, "\"parents\":[]", "\"parents\":[1,2,3,4,5]", "too many parents");
    CLEANUP_VALUE(strbuf_release) struct strbuf many = STRBUF_INIT;
    strbuf_adds(&many, "\"layers\":[");
    for (int i = 0; i < 100000; i++)
        strbuf_addf(&many, "{\"digest\":\"%s\",\"size\":10},", lowest);
    expect_bad_index(e, "\"layers\":[", many.data, "more than 1000");
    assert_int_equal(server_count(e->server, "POST /images/load*"), 0);
}

static void an_image_that_is_not_among_them(void **state)
{
    struct image_engine *e = *state;
    CLEANUP_FREE char *dir = saved(e, ""), *nowhere = path_join(e->dir, "nowhere");
    struct error err = ERROR_INIT;

    assert_int_equal(images_load(e->lab.engine, dir, other.id, NULL, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    assert_int_equal(images_load(e->lab.engine, nowhere, other.id, NULL, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    assert_false(images_has(nowhere, other.id));
}

#define with_engine(f) cmocka_unit_test_setup_teardown(f, image_engine_setup, image_engine_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_engine(the_archive_is_joined_from_its_parts),
        with_engine(what_the_engine_has_is_not_sent),
        with_engine(an_engine_that_calls_it_otherwise),
        with_engine(names_that_nobody_asked_for),
        with_engine(an_engine_that_has_something_else_then),
        with_engine(a_damaged_blob_never_becomes_an_image),
        with_engine(files_that_are_no_files),
        with_engine(a_list_of_images_that_lies),
        with_engine(an_image_that_is_not_among_them),
    };

    return cmocka_run_group_tests(tests, make_both, forget_both);
}
