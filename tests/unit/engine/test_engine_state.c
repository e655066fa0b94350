/* SPDX-License-Identifier: MIT */
/* What inspect replies mean: of two Docker hosts and Podman, of the cases, and of replies that are off. */
#include <dirent.h>
#include <math.h>
#include "engine_test.h"
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/base/units.h"
#include "benchctl/engine.h"

static struct engine_state parse(const struct json *j)
{
    struct engine_state s = {0};
    struct error err = ERROR_INIT;

    if (engine_state_parse(j, &s, &err))
        fail_msg("%s", err.message);
    return s;
}

static struct engine_state parse_text(const char *text)
{
    CLEANUP(json_free) struct json *j = json_of(text);

    return parse(j);
}

static void assert_text_or_null(const char *got, const struct json *wanted, const char *key)
{
    const char *text = json_get_text(wanted, key);

    assert_string_equal(got ? got : "", text ? text : "");
}

static int64_t limit(const struct json *wanted, const char *key)
{
    int64_t n = json_get_int(wanted, key);

    return n > 0 ? n : SIZE_UNLIMITED;
}

static void compare(const struct engine_state *s, const struct json *wanted)
{
    int64_t memory = limit(wanted, "memory_limit_bytes"), swap = json_get_int(wanted, "memory_swap_bytes");
    double cpus = json_get_number(wanted, "nano_cpus") / 1e9;

    assert_text_or_null(s->status, wanted, "status");
    assert_int_equal(s->running, json_get_bool(wanted, "running"));
    assert_int_equal(s->paused, json_get_bool(wanted, "paused"));
    assert_int_equal(s->oom_killed, json_get_bool(wanted, "oom_killed"));
    assert_int_equal(s->exit_code, json_get_int(wanted, "exit_code"));
    assert_text_or_null(s->error, wanted, "state_error");
    assert_int_equal(s->pid, json_get_int(wanted, "pid"));
    if (json_get_text(wanted, "started_at"))
        assert_string_equal(s->started_at, json_get_text(wanted, "started_at"));
    assert_int_equal(s->started_wall_ns > 0, json_get_text(wanted, "started_at") != NULL);
    assert_int_equal(s->finished_wall_ns > 0, json_get_text(wanted, "finished_at") != NULL);
    assert_text_or_null(s->health, wanted, "health");
    assert_int_equal(s->restart_count, json_get_int(wanted, "restart_count"));
    assert_text_or_null(s->address, wanted, "ip");
    assert_int_equal(s->memory_bytes, memory);
    assert_int_equal(s->swap_bytes, memory == SIZE_UNLIMITED ? SIZE_UNLIMITED : swap - memory);
    if (cpus > 0)
        assert_true(fabs(s->cpus - cpus) < 1e-9);
    else
        assert_true(isnan(s->cpus));
}

static void replies_of_real_engines(void **state)
{
    (void)state;
    CLEANUP(closedir) DIR *d = opendir(TESTS_DIR "/data/docker-inspect");
    int count = 0;

    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));) {
        if (!text_ends(entry->d_name, ".json") || text_ends(entry->d_name, ".expected.json"))
            continue;
        CLEANUP_FREE char *name = xasprintf("data/docker-inspect/%s", entry->d_name);
        CLEANUP_FREE char *expected = xasprintf("%s.expected.json", name);
        CLEANUP(json_free) struct json *j = read_test_json(name), *wanted = read_test_json(expected);
        CLEANUP_VALUE(engine_state_release) struct engine_state s = parse(j);

        print_message("%s\n", entry->d_name);
        compare(&s, wanted);
        assert_true(json_same(s.inspect, j));
        count++;
    }
    assert_int_equal(count, 9);
}

/* A start that failed leaves a container behind: state, code and text tell. */
static void a_container_left_by_a_failed_start(void **state)
{
    (void)state;
    CLEANUP(json_free) struct json *j = read_test_json("cases/A08/inspect_left_behind.json");
    CLEANUP_VALUE(engine_state_release) struct engine_state s = parse(j);

    assert_string_equal(s.status, "created");
    assert_int_equal(s.exit_code, 128);
    assert_false(s.running);
    assert_has(s.error, "127.0.0.1:28499 is in use");
    assert_int_equal(s.memory_bytes, SCHEMA_ABSENT); /* nothing was said about limits: not "unlimited" */
    assert_int_equal(s.swap_bytes, SCHEMA_ABSENT);
    assert_int_equal(s.pids, SCHEMA_ABSENT);
    assert_true(isnan(s.cpus));
    assert_null(s.address);
}

/* Code, flag and text stay apart: 137 is not yet a kill for memory. */
static void codes_flags_and_texts_stay_apart(void **state)
{
    (void)state;
    CLEANUP(json_free) struct json *list = read_test_json("cases/A13/states.json");
    static const struct {
        int code;
        bool oom;
        const char *error;
    } wanted[] = {{0, false, ""},
                  {1, false, ""},
                  {137, true, ""},
                  {137, false, ""},
                  {137, false, ""},
                  {139, false, ""},
                  {143, false, ""},
                  {143, false, ""},
                  {127, false, "exec: not found"},
                  {128, false, "port in use"}};

    assert_int_equal(json_len(list), ARRAY_LEN(wanted));
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        CLEANUP_VALUE(engine_state_release) struct engine_state s = parse(json_at(list, i));
        assert_string_equal(s.status, "exited");
        assert_int_equal(s.exit_code, wanted[i].code);
        assert_int_equal(s.oom_killed, wanted[i].oom);
        assert_string_equal(s.error, wanted[i].error);
    }
}

static void limits_as_engines_say_them(void **state)
{
    (void)state;
    CLEANUP_VALUE(engine_state_release)
    struct engine_state none = parse_text(
        "{\"State\": {}, \"HostConfig\": {\"Memory\": 0, \"MemorySwap\": 0, \"PidsLimit\": null}}");
    CLEANUP_VALUE(engine_state_release)
    struct engine_state no_swap =
        parse_text("{\"State\": {}, \"HostConfig\": {\"Memory\": 100, \"MemorySwap\": 100, \"PidsLimit\": 7, "
                   "\"CpusetCpus\": \"0-1\"}}");
    CLEANUP_VALUE(engine_state_release)
    struct engine_state free_swap =
        parse_text("{\"State\": {}, \"HostConfig\": {\"Memory\": 100, \"MemorySwap\": -1, \"CpuQuota\": "
                   "50000, \"CpuPeriod\": 100000}}");
    CLEANUP_VALUE(engine_state_release)
    struct engine_state odd =
        parse_text("{\"State\": {}, \"HostConfig\": {\"Memory\": \"64m\", \"MemorySwap\": 50}}");

    assert_int_equal(none.memory_bytes, SIZE_UNLIMITED);
    assert_int_equal(none.swap_bytes, SIZE_UNLIMITED);
    assert_int_equal(none.pids, SIZE_UNLIMITED);
    assert_int_equal(no_swap.swap_bytes, 0);
    assert_int_equal(no_swap.pids, 7);
    assert_string_equal(no_swap.cpuset, "0-1");
    assert_int_equal(free_swap.swap_bytes, SIZE_UNLIMITED);
    assert_true(fabs(free_swap.cpus - 0.5) < 1e-9);
    assert_int_equal(odd.memory_bytes, SCHEMA_ABSENT);
    assert_int_equal(odd.swap_bytes, SCHEMA_ABSENT);
    assert_int_equal(odd.restart_count, SCHEMA_ABSENT);
}

/* An engine that is not told gives a container as much swap again: that is read, not taken for none. */
static void swap_that_nobody_asked_for(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error err = ERROR_INIT;

    assert_int_equal(fs_read(TESTS_DIR "/cases/A11/inspect_swap_default.json", 10000, &text, &err), 0);
    CLEANUP(json_free) struct json *j = json_of(text.data);
    json_set(j, "State", json_new_object()); /* the case has the limits alone */
    CLEANUP_VALUE(engine_state_release) struct engine_state s = parse(j);
    assert_int_equal(s.memory_bytes, 64 << 20);
    assert_int_equal(s.swap_bytes, 64 << 20);
}

static void the_address_on_its_own_network(void **state)
{
    (void)state;
    static const char *const text =
        "{\"State\": {}, \"HostConfig\": {\"NetworkMode\": \"id2\"}, \"NetworkSettings\": {\"Networks\": {"
        "\"bridge\": {\"NetworkID\": \"id1\", \"IPAddress\": \"172.17.0.9\"},"
        "\"sweep\": {\"NetworkID\": \"id2\", \"IPAddress\": \"172.20.0.3\"}}}}";
    CLEANUP_VALUE(engine_state_release) struct engine_state s = parse_text(text);
    CLEANUP_VALUE(engine_state_release)
    struct engine_state six = parse_text("{\"State\": {}, \"NetworkSettings\": {\"Networks\": {\"n\": "
                                         "{\"IPAddress\": \"\", \"GlobalIPv6Address\": \"fd00::2\"}}}}");
    CLEANUP_VALUE(engine_state_release)
    struct engine_state host =
        parse_text("{\"State\": {}, \"NetworkSettings\": {\"Networks\": {\"host\": {\"IPAddress\": \"\"}}}}");

    assert_string_equal(s.address, "172.20.0.3");
    assert_string_equal(six.address, "fd00::2");
    assert_null(host.address);
}

static void replies_that_are_off(void **state)
{
    (void)state;
    static const char *const bad[] = {"{}", "[]", "null", "\"x\"", "{\"State\": null}", "{\"State\": []}"};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CLEANUP(json_free) struct json *j = json_of(bad[i]);
        struct engine_state s = {0};
        struct error err = ERROR_INIT;
        assert_int_equal(engine_state_parse(j, &s, &err), -1);
        assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    }
    /* wrong types inside are as good as absent */
    CLEANUP_VALUE(engine_state_release)
    struct engine_state s = parse_text("{\"State\": {\"Status\": 7, \"Running\": \"yes\", \"ExitCode\": "
                                       "\"1\", \"Pid\": 1e99, \"Health\": 3},"
                                       "\"HostConfig\": [], \"NetworkSettings\": {\"Networks\": [1]}, "
                                       "\"Config\": 5, \"RestartCount\": \"2\"}");
    assert_string_equal(s.status, "");
    assert_false(s.running);
    assert_int_equal(s.exit_code, 0);
    assert_null(s.health);
    assert_int_equal(s.started_wall_ns, -1);
}

/* --- images --- */

static void which_image_was_this(void **state)
{
    (void)state;
    CLEANUP(json_free) struct json *local = read_test_json("cases/A12/classic_local.json");
    CLEANUP(json_free) struct json *pulled = read_test_json("cases/A12/classic_pulled.json");
    CLEANUP(json_free) struct json *containerd = read_test_json("cases/A12/containerd_store.json");
    CLEANUP(json_free)
    struct json *other = json_of("{\"Id\": \"sha256:33\", \"RootFS\": {\"Layers\": [\"sha256:44\"]}}");
    CLEANUP(json_free)
    struct json *bare = json_of("{\"Id\": \"sha256:55\"}"), *bare_too = json_of("{\"Id\": \"sha256:66\"}");
    /* an id of the other kind of store that happens to be the same text proves nothing */
    CLEANUP(json_free) struct json *twin = json_of("{\"Id\": \"sha256:33\", \"Descriptor\": {}}");

    assert_int_equal(engine_images_compare(local, pulled), IMAGES_SAME_ID);
    assert_int_equal(engine_images_compare(pulled, containerd), IMAGES_SAME_DIGEST);
    assert_int_equal(engine_images_compare(local, containerd), IMAGES_SAME_LAYERS);
    assert_int_equal(engine_images_compare(containerd, local), IMAGES_SAME_LAYERS);
    assert_int_equal(engine_images_compare(local, other), IMAGES_UNLIKE);
    assert_int_equal(engine_images_compare(bare, bare_too),
                     IMAGES_UNLIKE); /* no layers are not equal layers */
    assert_int_equal(engine_images_compare(other, twin), IMAGES_UNLIKE);
    assert_int_equal(engine_images_compare(NULL, NULL), IMAGES_UNLIKE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_of_real_engines),
        cmocka_unit_test(a_container_left_by_a_failed_start),
        cmocka_unit_test(codes_flags_and_texts_stay_apart),
        cmocka_unit_test(limits_as_engines_say_them),
        cmocka_unit_test(swap_that_nobody_asked_for),
        cmocka_unit_test(the_address_on_its_own_network),
        cmocka_unit_test(replies_that_are_off),
        cmocka_unit_test(which_image_was_this),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
