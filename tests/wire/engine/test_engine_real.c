/* SPDX-License-Identifier: MIT */
/* The engine's verbs against a real engine. Skipped where none answers. */
#include "real_fixture.h"

static void facts_are_known(void **state)
{
    struct real *r = real_or_skip(state);
    const struct engine_facts *f = engine_facts(r->lab.engine);

    assert_true(f->local);
    assert_true(strlen(f->version) > 0);
    assert_true(strlen(f->id) > 0);
    assert_true(f->cpus > 0);
    assert_true(f->memory_bytes > 0);
    assert_true(f->cgroup_version == 1 || f->cgroup_version == 2);
    assert_true(llabs((long long)f->clock_offset_ns) < NS_PER_S);
}

static void images_are_built_and_inspected(void **state)
{
    struct real *r = real_or_skip(state);
    struct engine_image image = {0};
    struct error err = ERROR_INIT;

    assert_true(text_starts(r->image, "sha256:"));
    must(engine_image_inspect(r->lab.engine, r->image, &image, &why));
    assert_string_equal(image.id, r->image);
    assert_string_equal(image.os, "linux");
    assert_true(image.size_bytes > 0);
    assert_string_equal(json_text(json_pointer(image.inspect, "/Config/Labels/marker")), "yes");
    engine_image_release(&image);
    assert_int_equal(engine_image_inspect(r->lab.engine, "benchctl.test/no-such:1", &image, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
}

static void a_failing_build_says_why(void **state)
{
    struct real *r = real_or_skip(state);
    char directory[] = "/tmp/benchctl-build-XXXXXX";
    struct error err = ERROR_INIT;
    char *id = NULL;

    assert_non_null(mkdtemp(directory));
    assert_int_equal(shell("printf 'FROM scratch\\nCOPY absent /\\n' >%s/Dockerfile", directory), 0);
    struct engine_build build = {.context = directory};
    assert_int_equal(engine_image_build(r->lab.engine, &build, &id, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_non_null(strstr(err.message, "cannot build an image from"));
    assert_non_null(strstr(err.message, "absent"));
    assert_non_null(strstr(err.message, "Step 2/2")); /* the tail of the output */
    assert_int_equal(shell("rm -r %s", directory), 0);
}

static void a_container_lives_and_dies(void **state)
{
    struct real *r = real_or_skip(state);
    struct engine *e = r->lab.engine;
    struct engine_state s;
    struct error err = ERROR_INIT;
    int code = -1;
    CLEANUP_FREE char *id = create_with(r,
                                        &(struct engine_container){.memory_bytes = 64 << 20,
                                                                   .cpus = 0.5,
                                                                   .cpuset = "0",
                                                                   .pids = 50,
                                                                   .init = true,
                                                                   .shm_bytes = 8 << 20},
                                        "exit", "3");

    assert_string_equal(status_of(r, id), "created");
    must(engine_container_start(e, id, &why));
    must(engine_container_wait(e, id, &code, &why));
    assert_int_equal(code, 3);
    must(engine_container_inspect(e, id, &s, &why));
    assert_string_equal(s.status, "exited");
    assert_int_equal(s.exit_code, 3);
    assert_int_equal(s.memory_bytes, 64 << 20);
    assert_int_equal(s.pids, 50);
    assert_true(fabs(s.cpus - 0.5) < 1e-9);
    assert_string_equal(s.cpuset, "0");
    if (engine_facts(e)->swap_limit)
        assert_int_equal(s.swap_bytes, 0);
    assert_string_equal(s.image_id, r->image);
    /* the engine notes the start after the fact: for a process that ends at once it may be the later of the
     * two */
    assert_true(s.started_wall_ns > 0 && s.finished_wall_ns > s.started_wall_ns - NS_PER_S);
    assert_int_equal(s.restart_count, 0);
    assert_false(s.oom_killed);
    engine_state_release(&s);
    must(engine_container_remove(e, id, &why));
    must(engine_container_remove(e, id, &why)); /* gone already is fine */
    assert_int_equal(engine_container_inspect(e, id, &s, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
}

static void stop_and_kill(void **state)
{
    struct real *r = real_or_skip(state);
    struct engine *e = r->lab.engine;
    struct engine_state s;
    struct error err = ERROR_INIT;
    CLEANUP_FREE char *polite = create(r, "sleep", NULL), *deaf = create(r, "deaf", NULL);

    must(engine_container_start(e, polite, &why));
    must(engine_container_start(e, polite, &why)); /* running already is fine */
    must(engine_container_start(e, deaf, &why));
    must(engine_container_stop(e, polite, 10, &why));
    must(engine_container_inspect(e, polite, &s, &why));
    assert_int_equal(s.exit_code, 0);
    engine_state_release(&s);
    must(engine_container_stop(e, polite, 10, &why)); /* stopped already is fine */
    must(engine_container_kill(e, deaf, "KILL", &why));
    int code;
    must(engine_container_wait(e, deaf, &code, &why));
    assert_int_equal(code, 137);
    assert_int_equal(engine_container_kill(e, deaf, "KILL", &err), -1);
    assert_int_equal(err.kind, ERROR_CONFLICT);
}

static void environment_and_aliases(void **state)
{
    struct real *r = real_or_skip(state);
    struct engine *e = r->lab.engine;
    struct text_pair env[] = {{.key = "A", .value = "1"}, {.key = "B", .value = "two = 2 \"x\""}};
    struct text_map map = {.items = env, .len = 2};
    CLEANUP_FREE char *name = xasprintf("%s-net", r->run), *text = NULL;
    struct engine_state s;
    int code;

    must(engine_network_create(e, name, &r->labels, &r->network, &why));
    CLEANUP_FREE char *id = create_with(
        r, &(struct engine_container){.env = &map, .network = r->network, .alias = "app"}, "env", NULL);
    CLEANUP_FREE char *other =
        create_with(r, &(struct engine_container){.network = r->network}, "sleep", NULL);
    must(engine_container_start(e, id, &why));
    must(engine_container_wait(e, id, &code, &why));
    must(engine_logs_tail(e, id, 100, &text, &why));
    assert_non_null(strstr(text, "A=1\n"));
    assert_non_null(strstr(text, "B=two = 2 \"x\""));
    must(engine_container_inspect(e, id, &s, &why));
    const struct json *networks = json_pointer(s.inspect, "/NetworkSettings/Networks");
    const struct json *aliases = json_get(json_iter_value(json_iter(networks)), "Aliases");
    assert_string_equal(json_text(json_at(aliases, 0)), "app");
    engine_state_release(&s);

    must(engine_container_start(e, other, &why));
    must(engine_container_inspect(e, other, &s, &why));
    assert_non_null(s.address);
    assert_true(s.pid > 0);
    engine_state_release(&s);
    /* a network in use is not removed, one that was used is */
    must(engine_container_remove(e, other, &why));
    must(engine_container_remove(e, id, &why));
    must(engine_network_remove(e, r->network, &why));
    must(engine_network_remove(e, r->network, &why));
}

static void ours_are_listed_by_label_only(void **state)
{
    struct real *r = real_or_skip(state);
    struct engine *e = r->lab.engine;
    struct engine_objects list = {0};
    CLEANUP_FREE char *name = xasprintf("%s-net", r->run);
    CLEANUP_FREE char *id = create(r, "sleep", NULL);

    must(engine_network_create(e, name, &r->labels, &r->network, &why));
    must(engine_list_ours(e, r->run, &list, &why));
    assert_int_equal(list.len, 2);
    assert_false(list.items[0].is_network);
    assert_string_equal(list.items[0].id, id);
    assert_string_equal(list.items[0].state, "created");
    assert_string_equal(list.items[0].role, "app");
    assert_string_equal(list.items[0].owner, r->owner);
    assert_true(engine_owner_alive(list.items[0].owner));
    assert_true(list.items[1].is_network);
    assert_string_equal(list.items[1].name, name);
    assert_true(list.items[0].created_wall_s > 1600000000 && list.items[1].created_wall_s > 1600000000);
    engine_objects_release(&list);
    must(engine_list_ours(e, "another-run", &list, &why));
    assert_int_equal(list.len, 0);
    engine_objects_release(&list);
}

static void a_start_that_fails(void **state)
{
    struct real *r = real_or_skip(state);
    struct engine *e = r->lab.engine;
    const char *argv[] = {"/no-such-program"};
    struct text_list entrypoint = {.items = argv, .len = 1};
    struct error err = ERROR_INIT;
    struct engine_state s;
    CLEANUP_FREE char *id = create_with(r, &(struct engine_container){.entrypoint = &entrypoint}, "x", NULL);

    assert_int_equal(engine_container_start(e, id, &err), -1);
    assert_non_null(strstr(err.message, "no-such-program"));
    assert_non_null(strstr(err.hint, "'created' with exit code 127"));
    must(engine_container_inspect(e, id, &s, &why));
    assert_string_equal(s.status, "created");
    assert_int_equal(s.exit_code, 127);
    engine_state_release(&s);
    must(engine_container_remove(e, id, &why));
    assert_int_equal(engine_container_start(e, id, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
}

static void a_missing_image_is_not_found(void **state)
{
    struct real *r = real_or_skip(state);
    struct engine_container c = {
        .name = "benchctl-wiretest-none", .image = "benchctl.test/none:1", .cpus = NAN};
    struct error err = ERROR_INIT;
    char *id, *warnings;

    assert_int_equal(engine_container_create(r->lab.engine, &c, &id, &warnings, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    assert_non_null(strstr(err.message, "cannot create container 'benchctl-wiretest-none'"));
}

/* A name that is held: by one of ours that lives, by a stranger, by one of ours that is dead. */
static void names_that_are_taken(void **state)
{
    struct real *r = real_or_skip(state);
    struct engine *e = r->lab.engine;
    CLEANUP_FREE char *name = xasprintf("%s-held", r->run), *warnings = NULL, *second = NULL;
    CLEANUP_FREE char *first = create_with(r, &(struct engine_container){.name = name}, "sleep", NULL);
    struct engine_container c = {.name = name, .image = r->image, .cpus = NAN, .labels = &r->labels};
    struct error err = ERROR_INIT;

    assert_int_equal(engine_container_create(e, &c, &second, &warnings, &err), -1);
    assert_int_equal(err.kind, ERROR_CONFLICT);
    assert_non_null(strstr(err.message, name));
    assert_non_null(strstr(err.hint, "may still be running"));
    must(engine_container_remove(e, first, &why));

    assert_int_equal(shell("docker create --name %s %s >/dev/null", name, r->image), 0);
    assert_int_equal(engine_container_create(e, &c, &second, &warnings, &err), -1);
    assert_non_null(strstr(err.hint, "not one of ours"));
    assert_int_equal(shell("docker rm %s >/dev/null", name), 0);

    /* the holder's owner: a process of this host that has ended */
    char dead[ENGINE_OWNER_SIZE];
    snprintf(dead, sizeof(dead), "%.*s:1:7", (int)strcspn(r->owner, ":"), r->owner);
    r->pairs[1].value = dead;
    CLEANUP_FREE char *orphan = create_with(r, &(struct engine_container){.name = name}, "sleep", NULL);
    r->pairs[1].value = r->owner;
    must(engine_container_create(e, &c, &second, &warnings, &why));
    assert_string_not_equal(orphan, second);
    must(engine_container_remove(e, second, &why));
}

/* The same name again and again: each removal must really free it. */
static void a_name_is_free_after_removal(void **state)
{
    struct real *r = real_or_skip(state);
    CLEANUP_FREE char *name = xasprintf("%s-again", r->run);

    for (int i = 0; i < 30; i++) {
        CLEANUP_FREE char *id = create_with(r, &(struct engine_container){.name = name}, "sleep", NULL);
        must(engine_container_remove(r->lab.engine, id, &why));
    }
}

static void calls_side_by_side(void **state)
{
    struct real *r = real_or_skip(state);
    struct engine *e = r->lab.engine;
    CLEANUP_FREE char *a = create(r, "sleep", NULL), *b = create(r, "sleep", NULL);
    struct engine_call *one, *two;

    must(engine_start_async(e, a, &one, &why));
    must(engine_start_async(e, b, &two, &why));
    must(engine_call_wait(two, &why));
    must(engine_call_wait(one, &why));
    assert_true(engine_call_done(one));
    engine_call_free(one);
    engine_call_free(two);
    assert_string_equal(status_of(r, a), "running");
    must(engine_remove_async(e, a, &one, &why));
    must(engine_remove_async(e, b, &two, &why));
    must(engine_call_wait(one, &why));
    must(engine_call_wait(two, &why));
    engine_call_free(one);
    engine_call_free(two);
}

static void a_deadline_ends_every_call(void **state)
{
    struct real *r = real_or_skip(state);
    struct engine *e = r->lab.engine;
    struct error err = ERROR_INIT;
    CLEANUP_FREE char *id = create(r, "sleep", NULL);
    int code;

    must(engine_container_start(e, id, &why));
    engine_set_deadline(e, clock_now_ns() + 100 * NS_PER_MS);
    assert_int_equal(engine_container_wait(e, id, &code, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMEOUT);
    serve_ms(&r->lab, 20);
    assert_int_equal(engine_container_kill(e, id, "KILL", &err), -1);
    assert_int_equal(err.kind, ERROR_TIMEOUT);
    engine_set_deadline(e, LOOP_FOREVER);
    must(engine_container_kill(e, id, "KILL", &why));
}

int main(void)
{
#define real_test(f) cmocka_unit_test_setup_teardown(f, real_setup, real_teardown)
    const struct CMUnitTest tests[] = {
        real_test(facts_are_known),
        real_test(images_are_built_and_inspected),
        real_test(a_failing_build_says_why),
        real_test(a_container_lives_and_dies),
        real_test(stop_and_kill),
        real_test(environment_and_aliases),
        real_test(ours_are_listed_by_label_only),
        real_test(a_start_that_fails),
        real_test(a_missing_image_is_not_found),
        real_test(names_that_are_taken),
        real_test(a_name_is_free_after_removal),
        real_test(calls_side_by_side),
        real_test(a_deadline_ends_every_call),
    };
    return cmocka_run_group_tests(tests, NULL, real_end);
}
