/* SPDX-License-Identifier: MIT */
/* Out of a real engine, gone there, and back in. Skipped where no engine answers. */
#include "../engine/real_fixture.h"

#include "benchctl/images.h"

static char directory[64];

static char *own_image(struct real *r, const char *text)
{
    char context[] = "/tmp/benchctl-image-XXXXXX";
    char *id = NULL;

    assert_non_null(mkdtemp(context));
    /* two layers of its own: no other image of this engine shares them, so that removing it removes all */
    assert_int_equal(shell("cd %s && echo '%s' >a && echo '%s again' >b && printf 'FROM scratch\\nCOPY a /\\n"
                           "COPY b /\\nENV WHO=\"%s\"\\nENTRYPOINT [\"/a\"]\\n' >Dockerfile",
                           context, text, text, text),
                     0);
    struct engine_build build = {.context = context};
    must(engine_image_build(r->lab.engine, &build, &id, &why));
    assert_int_equal(shell("rm -r %s", context), 0);
    return id;
}

static bool engine_has(struct real *r, const char *reference, char **ret_id)
{
    struct engine_image image = {0};
    struct error err = ERROR_INIT;

    if (engine_image_inspect(r->lab.engine, reference, &image, &err) < 0) {
        assert_int_equal(err.kind, ERROR_NOT_FOUND);
        return false;
    }
    free(*ret_id);
    *ret_id = xstrdup(image.id);
    engine_image_release(&image);
    return true;
}

static void remove_image(const char *reference)
{
    assert_int_equal(shell("docker rmi -f '%s' >/dev/null 2>&1", reference), 0);
}

static void an_image_comes_back_as_it_was(void **state)
{
    struct real *r = real_or_skip(state);
    CLEANUP_FREE char *text = xasprintf("benchctl %s", r->run), *name = xasprintf("%s/one:1", r->run);
    CLEANUP_FREE char *id = own_image(r, text), *seen = NULL;
    struct images_wanted wanted[] = {{id, name}, {id, NULL}};

    must(images_save_named(r->lab.engine, wanted, 2, directory, &why));
    assert_true(images_has(directory, id));
    remove_image(id);
    assert_false(engine_has(r, id, &seen));

    must(images_load(r->lab.engine, directory, id, NULL, NULL, &why));
    assert_true(engine_has(r, name, &seen));
    assert_string_equal(seen, id);

    /* once more, from the engine that loaded it: the same files */
    CLEANUP_FREE char *again = xasprintf("%s-again", directory);
    must(images_save_named(r->lab.engine, wanted, 2, again, &why));
    assert_int_equal(shell("diff -r '%s' '%s'", directory, again), 0);
    remove_image(name);
    assert_int_equal(shell("rm -r '%s' '%s'", directory, again), 0);
}

static void a_name_that_is_taken_stays(void **state)
{
    struct real *r = real_or_skip(state);
    CLEANUP_FREE char *name = xasprintf("%s/two:1", r->run);
    CLEANUP_FREE char *id = own_image(r, "one of them"), *other = own_image(r, "another"), *seen = NULL;
    struct images_wanted wanted = {id, name};

    must(images_save_named(r->lab.engine, &wanted, 1, directory, &why));
    remove_image(id);
    must(engine_image_tag(r->lab.engine, other, name, &why));
    must(images_load(r->lab.engine, directory, id, NULL, NULL, &why));
    assert_true(engine_has(r, id, &seen));
    assert_true(engine_has(r, name, &seen));
    assert_string_equal(seen, other);
    remove_image(name);
    remove_image(id);
    assert_int_equal(shell("rm -r '%s'", directory), 0);
}

static void an_image_that_is_not_there(void **state)
{
    struct real *r = real_or_skip(state);
    const char *id = "sha256:0000000000000000000000000000000000000000000000000000000000000001";
    struct error err = ERROR_INIT;

    assert_int_equal(images_save(r->lab.engine, &id, 1, directory, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    assert_non_null(strstr(err.message, id));
    assert_false(fs_exists(directory));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_image_comes_back_as_it_was, real_setup, real_teardown),
        cmocka_unit_test_setup_teardown(a_name_that_is_taken_stays, real_setup, real_teardown),
        cmocka_unit_test_setup_teardown(an_image_that_is_not_there, real_setup, real_teardown),
    };

    snprintf(directory, sizeof(directory), "/tmp/benchctl-images-%d", (int)getpid());
    return cmocka_run_group_tests(tests, NULL, real_end);
}
