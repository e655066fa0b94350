/* SPDX-License-Identifier: MIT */
/* Images out of an engine: any form of archive, and whatever else may come. */
#include "images_fixture.h"

#include <zlib.h>

static const char *const ONE[] = {"the base of both", "of the first", NULL};
static const char *const TWO[] = {"the base of both", "of the second", NULL};

static struct made_image first, second;

static int make_both(void **state)
{
    (void)state;
    make_image(&first, "first", ONE);
    make_image(&second, "second", TWO);
    return 0;
}

static int forget_both(void **state)
{
    (void)state;
    made_image_release(&first);
    made_image_release(&second);
    return 0;
}

static char *images_dir(struct image_engine *e)
{
    return path_join(e->dir, "images");
}

static void expect_blob(const char *dir, const char *hex, const char *bytes)
{
    CLEANUP_FREE char *name = xasprintf("blobs/sha256-%s", hex);
    CLEANUP_FREE char *text = get(dir, name);

    assert_string_equal(text, bytes);
}

static int blobs_in(const char *dir)
{
    CLEANUP_FREE char *text = shell_output(dir, "ls -A blobs | wc -l");

    return atoi(text);
}

/* What is refused leaves nothing behind, and says where it is wrong. */
static void expect_refusal(struct image_engine *e, const struct made_image *m, const char *what)
{
    CLEANUP_FREE char *dir = images_dir(e);
    const char *id = m->id;
    struct error err = ERROR_INIT;

    tar_end(&e->exported);
    image_engine_has(e, m, NULL);
    assert_int_equal(images_save(e->lab.engine, &id, 1, dir, &err), -1);
    if (!strstr(err.message, what))
        fail_msg("'%s' does not say '%s'", err.message, what);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_false(fs_exists(dir));
    strbuf_clear(&e->exported);
    e->has_count = 0;
}

static char *manifest_of(const char *config, const char *layers)
{
    return xasprintf("[{\"Config\":\"%s\",\"Layers\":[%s]}]", config, layers);
}

static void a_layer_is_there_once(void **state)
{
    struct image_engine *e = *state;
    const struct made_image *both[] = {&first, &second};
    const struct images_wanted wanted[] = {
        {first.id, "a:1"}, {second.id, "b:1"}, {first.id, "a:2"}, {first.id, "a:1"}, {second.id, "/a/path"}};
    CLEANUP_FREE char *dir = images_dir(e), *again = path_join(e->dir, "again");

    export_old(&e->exported, both, 2);
    image_engine_has(e, &first, NULL);
    image_engine_has(e, &second, NULL);
    must(images_save_named(e->lab.engine, wanted, ARRAY_LEN(wanted), dir, &why));
    assert_int_equal(blobs_in(dir), 5); /* two configurations, three layers */
    expect_blob(dir, first.layer_hex[0], ONE[0]);
    expect_blob(dir, first.layer_hex[1], ONE[1]);
    expect_blob(dir, second.layer_hex[1], TWO[1]);
    expect_blob(dir, first.config_hex, first.config);
    assert_true(images_has(dir, first.id) && images_has(dir, second.id));
    assert_false(images_has(dir, "sha256:0"));
    CLEANUP_FREE char *index = get(dir, "index.json");
    assert_non_null(strstr(index, "\"a:1\",\n        \"a:2\""));
    assert_null(strstr(index, "/a/path"));

    /* what is there costs nothing, needs no engine, and stays as it is */
    must(images_save_named(NULL, wanted, ARRAY_LEN(wanted), dir, &why));
    must(images_save_named(e->lab.engine, wanted, ARRAY_LEN(wanted), again, &why));
    assert_int_equal(server_count(e->server, "GET /images/get?*"), 2);
    assert_int_equal(shell("diff -r '%s' '%s'", dir, again), 0);
}

static void what_is_not_wanted_any_more_goes(void **state)
{
    struct image_engine *e = *state;
    const struct made_image *both[] = {&first, &second};
    const char *ids[] = {second.id, first.id};
    CLEANUP_FREE char *dir = images_dir(e);
    struct error err = ERROR_INIT;

    export_old(&e->exported, both, 2);
    image_engine_has(e, &first, NULL);
    image_engine_has(e, &second, NULL);
    must(images_save(e->lab.engine, ids, 2, dir, &why));
    put(dir, "blobs/unfinished-1.tmp", "left by a crash");
    put(dir, "blobs/somebody's", "not ours");
    must(images_save(NULL, ids, 1, dir, &why));
    assert_int_equal(blobs_in(dir), 4); /* three of the image, and what is not ours */
    assert_false(images_has(dir, first.id));
    assert_int_equal(images_save(NULL, ids, 2, dir, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    assert_true(images_has(dir, second.id)); /* a failure takes nothing away */
    assert_int_equal(blobs_in(dir), 4);
}

static void a_damaged_file_is_fetched_again(void **state)
{
    struct image_engine *e = *state;
    const struct made_image *one = &first;
    const char *id = first.id;
    CLEANUP_FREE char *dir = images_dir(e), *layer = xasprintf("blobs/sha256-%s", first.layer_hex[0]);

    export_old(&e->exported, &one, 1);
    image_engine_has(e, &first, NULL);
    must(images_save(e->lab.engine, &id, 1, dir, &why));
    put(dir, layer, "short");
    must(images_save(e->lab.engine, &id, 1, dir, &why));
    assert_int_equal(server_count(e->server, "GET /images/get?*"), 2);
    expect_blob(dir, first.layer_hex[0], ONE[0]);
}

static void add_blob(struct strbuf *tar, const char *bytes, size_t len, char ret_hex[SHA256_HEX_SIZE])
{
    sha256_hex(bytes, len, ret_hex);
    CLEANUP_FREE char *name = xasprintf("blobs/sha256/%s", ret_hex);
    tar_entry(tar, '0', name, bytes, len);
}

static size_t pack(const char *text, char *ret, size_t size)
{
    z_stream z = {0};

    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)strlen(text);
    z.next_out = (Bytef *)ret;
    z.avail_out = (uInt)size;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    (void)deflateEnd(&z);
    return z.total_out;
}

/* Everything a blob, layers packed, the image called by an index of manifests. */
static void another_kind_of_image_store(void **state)
{
    struct image_engine *e = *state;
    char packed[2][200], hex[2][SHA256_HEX_SIZE], config[SHA256_HEX_SIZE], manifest[SHA256_HEX_SIZE],
        other[SHA256_HEX_SIZE], top[SHA256_HEX_SIZE], id[DIGEST_SIZE];
    const char *ids[] = {id};
    CLEANUP_FREE char *dir = images_dir(e);

    tar_entry(&e->exported, '5', "blobs/", "", 0);
    tar_entry(&e->exported, '5', "blobs/sha256/", "", 0);
    for (int k = 0; k < 2; k++)
        add_blob(&e->exported, packed[k], pack(ONE[k], packed[k], sizeof(packed[k])), hex[k]);
    add_blob(&e->exported, first.config, strlen(first.config), config);
    CLEANUP_FREE char *m =
        xasprintf("{\"schemaVersion\":2,\"config\":{\"digest\":\"sha256:%s\"},\"layers\":[]}", config);
    add_blob(&e->exported, m, strlen(m), manifest);
    sha256_hex("of another platform", 19, other);
    CLEANUP_FREE char *x = xasprintf("{\"schemaVersion\":2,\"manifests\":[{\"digest\":\"sha256:%s\"},"
                                     "{\"digest\":\"sha256:%s\"}]}",
                                     other, manifest);
    add_blob(&e->exported, x, strlen(x), top);
    CLEANUP_FREE char *c = xasprintf("blobs/sha256/%s", config);
    CLEANUP_FREE char *l = xasprintf("\"blobs/sha256/%s\",\"blobs/sha256/%s\"", hex[0], hex[1]);
    CLEANUP_FREE char *list = manifest_of(c, l);
    tar_file(&e->exported, "index.json", "{}");
    tar_file(&e->exported, "manifest.json", list);
    tar_file(&e->exported, "oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}");
    tar_end(&e->exported);
    (void)snprintf(id, sizeof(id), "sha256:%s", top);
    image_engine_has(e, &first, NULL);
    e->called[0] = id;

    must(images_save(e->lab.engine, ids, 1, dir, &why));
    assert_true(images_has(dir, id));
    assert_int_equal(blobs_in(dir), 5); /* index, manifest, configuration, two layers */
    expect_blob(dir, first.layer_hex[0], ONE[0]);
    expect_blob(dir, first.layer_hex[1], ONE[1]);
    CLEANUP_FREE char *index = get(dir, "index.json");
    assert_non_null(strstr(index, "\"parents\""));
    assert_non_null(strstr(index, manifest));
}

static void bad_layers_are_refused(void **state)
{
    struct image_engine *e = *state;
    CLEANUP_FREE char *config = xasprintf("%s.json", first.config_hex);
    CLEANUP_FREE char *list = manifest_of(config, "\"x/layer.tar\",\"y/layer.tar\"");
    CLEANUP_FREE char *short_list = manifest_of(config, "\"x/layer.tar\"");

    tar_file(&e->exported, config, first.config);
    tar_file(&e->exported, "x/layer.tar", ONE[0]);
    tar_file(&e->exported, "y/layer.tar", "something else");
    tar_file(&e->exported, "manifest.json", list);
    expect_refusal(e, &first, "layer 2 is not the one that its configuration names");

    tar_file(&e->exported, "manifest.json", short_list);
    tar_file(&e->exported, config, first.config);
    tar_file(&e->exported, "x/layer.tar", ONE[0]);
    expect_refusal(e, &first, "names 2 layers, 1 are there");

    tar_file(&e->exported, config, first.config);
    tar_file(&e->exported, "x/layer.tar", ONE[0]);
    tar_file(&e->exported, "manifest.json", list);
    expect_refusal(e, &first, "names a file that is not there: 'y/layer.tar'");

    /* asked for one, given another */
    CLEANUP_FREE char *theirs = xasprintf("%s.json", second.config_hex);
    CLEANUP_FREE char *their_list = manifest_of(theirs, "\"x/layer.tar\"");
    tar_file(&e->exported, theirs, second.config);
    tar_file(&e->exported, "x/layer.tar", ONE[0]);
    tar_file(&e->exported, "manifest.json", their_list);
    expect_refusal(e, &first, "has no image");

    /* a configuration that is called like the right one */
    tar_file(&e->exported, config, second.config);
    tar_file(&e->exported, "x/layer.tar", ONE[0]);
    tar_file(&e->exported, "manifest.json", list);
    expect_refusal(e, &first, "has no image");
}

static void bad_members_are_refused(void **state)
{
    static const struct {
        char type;
        const char *name, *bytes, *what;
    } BAD[] = {
        {'0', "../escape", "x", "../escape"},
        {'0', "/tmp/benchctl-escape", "x", "/tmp/benchctl-escape"},
        {'1', "hard", "/etc/passwd", "hard link"},
        {'3', "device", "", "neither a file nor a directory"},
        {'6', "pipe", "", "neither a file nor a directory"},
        {'0', "manifest.json", "[", "manifest.json"},
        {'0', "manifest.json", "", "has no manifest.json"},
        {'0', "repositories", "{}", "has no manifest.json"},
    };
    struct image_engine *e = *state;

    for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
        tar_entry(&e->exported, BAD[i].type, BAD[i].name, BAD[i].bytes, strlen(BAD[i].bytes));
        expect_refusal(e, &first, BAD[i].what);
    }
    assert_false(fs_exists("/tmp/benchctl-escape"));
    tar_file(&e->exported, "a/layer.tar", "x");
    tar_file(&e->exported, "a/layer.tar", "y");
    expect_refusal(e, &first, "a/layer.tar");
    for (int i = 0; i < 5000; i++) {
        CLEANUP_FREE char *name = xasprintf("d%d/", i);
        tar_entry(&e->exported, '5', name, "", 0);
    }
    expect_refusal(e, &first, "more than 1600 members");
}

static void bad_links_are_refused(void **state)
{
    static const char *const TARGETS[] = {"/etc/passwd", "../../etc/passwd", "../x/layer.tar",
                                          "layer.tar",   "../y/layer.tar",   ""};
    struct image_engine *e = *state;
    CLEANUP_FREE char *config = xasprintf("%s.json", first.config_hex);
    CLEANUP_FREE char *list = manifest_of(config, "\"x/layer.tar\",\"x/layer.tar\"");

    for (size_t i = 0; i < ARRAY_LEN(TARGETS); i++) {
        tar_file(&e->exported, config, first.config);
        tar_entry(&e->exported, '2', "x/layer.tar", TARGETS[i], 0);
        tar_entry(&e->exported, '2', "y/layer.tar", "../x/layer.tar", 0);
        tar_file(&e->exported, "manifest.json", list);
        expect_refusal(e, &first, "x/layer.tar");
    }
}

static void what_is_cut_short_is_refused(void **state)
{
    struct image_engine *e = *state;
    const struct made_image *one = &first;
    const char *id = first.id;
    CLEANUP_FREE char *dir = images_dir(e);

    image_engine_has(e, &first, NULL);
    export_old(&e->exported, &one, 1);
    size_t whole = e->exported.len;
    for (size_t cut = 0; cut + 512 < whole; cut += 300) {
        struct error err = ERROR_INIT;
        e->exported.len = cut;
        e->export_reply.body = cut ? NULL : "";
        assert_int_equal(images_save(e->lab.engine, &id, 1, dir, &err), -1);
        assert_true(err.kind == ERROR_INVALID || err.kind == ERROR_ENVIRONMENT);
        assert_false(fs_exists(dir));
    }
    /* the connection breaks: the tar may look whole, the answer is not */
    struct error err = ERROR_INIT;
    e->exported.len = whole;
    e->export_reply = (struct reply){.cut_after = whole};
    assert_int_equal(images_save(e->lab.engine, &id, 1, dir, &err), -1);
    assert_false(fs_exists(dir));
    e->export_reply = (struct reply){.piece = 333};
    must(images_save(e->lab.engine, &id, 1, dir, &why));
}

static void without_room_nothing_is_begun(void **state)
{
    struct image_engine *e = *state;
    const char *ids[] = {first.id, second.id};
    CLEANUP_FREE char *dir = images_dir(e);
    struct error err = ERROR_INIT;

    image_engine_has(e, &first, NULL);
    image_engine_has(e, &second, NULL);
    e->size = 1e17;
    assert_int_equal(images_save(e->lab.engine, ids, 2, dir, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_non_null(strstr(err.message, "need at least"));
    assert_true(strlen(err.hint) > 0);
    assert_int_equal(server_count(e->server, "GET /images/get?*"), 0);
    assert_false(fs_exists(dir));
}

static void a_full_disk_has_its_room_back(void **state)
{
    struct image_engine *e = *state;
    struct made_image big = first;
    CLEANUP_FREE char *config = xasprintf("%s.json", first.config_hex), *bytes = xcalloc(1, 24 << 20);
    CLEANUP_FREE char *dir = path_join(e->dir, "disk/images");
    const char *id = big.id;
    struct error err = ERROR_INIT;

    if (!small_disk(e->dir, "disk", "20m"))
        skip();
    tar_file(&e->exported, config, first.config);
    tar_entry(&e->exported, '0', "x/layer.tar", bytes, 24 << 20);
    tar_end(&e->exported);
    image_engine_has(e, &big, NULL);
    int r = images_save(e->lab.engine, &id, 1, dir, &err);
    bool left = fs_exists(dir);
    small_disk_end(e->dir, "disk");
    assert_int_equal(r, -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_int_equal(err.code, ENOSPC);
    assert_false(left);
}

#define with_engine(f) cmocka_unit_test_setup_teardown(f, image_engine_setup, image_engine_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_engine(a_layer_is_there_once),           with_engine(what_is_not_wanted_any_more_goes),
        with_engine(a_damaged_file_is_fetched_again), with_engine(another_kind_of_image_store),
        with_engine(bad_layers_are_refused),          with_engine(bad_members_are_refused),
        with_engine(bad_links_are_refused),           with_engine(what_is_cut_short_is_refused),
        with_engine(without_room_nothing_is_begun),   with_engine(a_full_disk_has_its_room_back),
    };

    return cmocka_run_group_tests(tests, make_both, forget_both);
}
