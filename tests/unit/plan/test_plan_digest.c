/* SPDX-License-Identifier: MIT */
/* Digests: the same for the same measurement, whatever things are called and wherever they lie. */
#include "written.h"

#define HEAD "benchctl: 1\nname: first\n"
#define LOAD "load: {adapter: idle, duration: 2s}\n"
#define TAIL "app: {image: \"lab/app:1\", memory: \"${memory}\", port: 8080, ready: {tcp: true}}\n" LOAD

static void digest_of(const char *yaml, const char *file, size_t i, char *digest)
{
    CLEANUP_VALUE(written_release) struct written w = written_plan(yaml, file);
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct resolved r;

    written_resolve(&w, i, a, &r);
    memcpy(digest, r.digest, SHA256_HEX_SIZE);
}

static void assert_digests(const char *one, const char *other, bool equal)
{
    char a[SHA256_HEX_SIZE], b[SHA256_HEX_SIZE];

    digest_of(one, "/lab/m.yaml", 0, a);
    digest_of(other, "/lab/m.yaml", 0, b);
    assert_int_equal(strlen(a), 64);
    if ((strcmp(a, b) == 0) != equal)
        fail_msg("digests should %s:\n%s\n%s", equal ? "agree" : "differ", one, other);
}

static void names_do_not_count(void **state)
{
    (void)state;
    const char *base = HEAD "axes: {memory: [128m, 256m]}\n" TAIL;
    assert_digests(
        base,
        "benchctl: 1\nname: second\ntitle: another\nx-note: y\naxes: {memory: [128m]}\ntrials: 9\n" TAIL,
        true);
    assert_digests(base,
                   HEAD
                   "axes: {limit: [128m]}\n"
                   "app: {image: \"lab/app:1\", memory: \"${limit}\", port: 8080, ready: {tcp: true}}\n" LOAD,
                   true);
    assert_digests(base, HEAD "vars: {memory: 128m}\naxes: {anything: [else]}\n" TAIL, true);
    assert_digests(base, HEAD "axes: {memory: [128m]}\norder: {mode: random, seed: 99}\n" TAIL, true);
}

static void spelling_does_not_count(void **state)
{
    (void)state;
    assert_digests(HEAD "axes: {memory: [128m]}\n" TAIL, HEAD "axes: {memory: [0.125g]}\n" TAIL, true);
    assert_digests(HEAD "axes: {memory: [128m]}\n" TAIL, HEAD "axes: {memory: [128MiB]}\n" TAIL, true);
    assert_digests(HEAD "axes: {memory: [128m]}\n" TAIL,
                   HEAD "axes: {memory: [128m]}\n"
                        "load: {duration: 2000ms, adapter: idle}\n"
                        "app: {ready: {tcp: true}, port: 8080, memory: 128m, image: lab/app:1}\n",
                   true);
}

static void settings_count(void **state)
{
    (void)state;
    const char *base = HEAD "axes: {memory: [128m, 256m]}\n" TAIL;
    assert_digests(base, HEAD "axes: {memory: [129m]}\n" TAIL, false);
    assert_digests(base, HEAD "axes: {memory: [unlimited]}\n" TAIL, false);
    assert_digests(base, HEAD "axes: {memory: [128m]}\n" TAIL "cooldown: 7s\n", false);
    assert_digests(base,
                   HEAD "axes: {memory: [128m]}\n" TAIL
                        "overrides: [{when: {memory: 128m}, set: {app: {env: {A: b}}}}]\n",
                   false);
    assert_digests(base, HEAD "axes: {memory: [128m]}\n" TAIL "network: host\n", false);
}

static void scenarios_of_one_plan_differ(void **state)
{
    (void)state;
    char a[SHA256_HEX_SIZE], b[SHA256_HEX_SIZE];
    const char *yaml = HEAD "axes: {memory: [128m, 256m]}\n" TAIL;
    digest_of(yaml, "/lab/m.yaml", 0, a);
    digest_of(yaml, "/lab/m.yaml", 1, b);
    assert_string_not_equal(a, b);
}

/* A checkout that moves as a whole, its files beside, below and above the matrix. */
static void places_do_not_count(void **state)
{
    (void)state;
    const char *yaml = HEAD
        "axes: {memory: [128m]}\n"
        "app: {image: \"a:1\", build: {context: ../examples/app}, memory: 128m, port: 80, ready: {tcp: "
        "true}}\n"
        "services: {mock: {image: \"b:1\", build: {context: .}, port: 90, ready: {tcp: true}}}\n"
        "database: {service: {image: \"postgres:16\", build: {context: ..}}, name: bench, schema: [db/a.sql, "
        "../db/b.sql]}\n"
        "load: {adapter: wrk, duration: 1s, script: ../load/x.lua}\n";
    char a[SHA256_HEX_SIZE], b[SHA256_HEX_SIZE], c[SHA256_HEX_SIZE];
    digest_of(yaml, "/home/one/lab/matrices/m.yaml", 0, a);
    digest_of(yaml, "/srv/two/matrices/m.yaml", 0, b);
    digest_of(yaml, "/x/m.yaml", 0, c);
    assert_string_equal(a, b);
    assert_string_equal(a, c);
}

static void files_count(void **state)
{
    (void)state;
    assert_digests(HEAD "axes: {memory: [128m]}\n"
                        "app: {image: \"a:1\", memory: 128m, port: 80, ready: {tcp: true}}\n"
                        "load: {adapter: wrk, duration: 1s, script: x.lua}\n",
                   HEAD "axes: {memory: [128m]}\n"
                        "app: {image: \"a:1\", memory: 128m, port: 80, ready: {tcp: true}}\n"
                        "load: {adapter: wrk, duration: 1s, script: y.lua}\n",
                   false);
}

static void overrides_reach_the_settings(void **state)
{
    (void)state;
    CLEANUP_VALUE(written_release)
    struct written w =
        written_plan(HEAD "axes: {framework: [a, b], memory: [128m, 256m]}\n" TAIL
                          "include: [{framework: a, memory: 384m, tuned: \"yes\"}]\n"
                          "overrides:\n"
                          "  - {when: {framework: b}, set: {app: {env: {X: one}}}}\n"
                          "  - {when: {framework: b, memory: [256m]}, set: {app: {env: {X: two, Y: z}}}}\n",
                     "/lab/m.yaml");
    CLEANUP(arena_free) struct arena *a = arena_new();
    static const char *const wanted[] = {NULL, NULL, "one", "two", NULL};
    static const int64_t memory[] = {128, 256, 128, 256, 384};
    assert_int_equal(plan_counts(w.p)->scenarios, 5);
    for (size_t i = 0; i < 5; i++) {
        struct resolved r;
        written_resolve(&w, i, a, &r);
        const char *x = text_map_get(&r.settings.app.env, "X");
        assert_true(wanted[i] ? x && strcmp(x, wanted[i]) == 0 : !x);
        assert_int_equal(r.settings.app.memory_bytes, memory[i] << 20);
    }
}

static void estimates_follow_the_load(void **state)
{
    (void)state;
    CLEANUP_VALUE(written_release)
    struct written w = written_plan(
        HEAD
        "axes: {d: [10s, 34s]}\n"
        "app: {image: \"a:1\", port: 80, ready: {tcp: true}}\n"
        "load: {adapter: idle, duration: \"${d}\", warmup: {duration: 5s}}\ncooldown: 3s\ntimeout: 40s\n",
        "/lab/m.yaml");
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct resolved brief, lengthy;
    written_resolve(&w, 0, a, &brief);
    written_resolve(&w, 1, a, &lengthy);
    assert_true(plan_estimate_ns(&brief.settings) >= INT64_C(18000000000));
    assert_true(plan_estimate_ns(&brief.settings) < INT64_C(28000000000));
    assert_true(plan_estimate_ns(&lengthy.settings) == INT64_C(43000000000));
}

/* Of the built-in generator by its phases, one after the other or side by side. */
static void estimates_follow_the_phases(void **state)
{
    (void)state;
    CLEANUP_VALUE(written_release)
    struct written w = written_plan(
        HEAD
        "axes: {at: [once, together]}\napp: {image: \"a:1\", port: 80}\n"
        "load: {adapter: builtin, phases: [{executor: ramping-vus, stages: [{duration: 100s, target: 9}]},\n"
        "  {executor: constant-arrival-rate, rate: 5, duration: 20s, pre_allocated_vus: 5}]}\n"
        "overrides: [{when: {at: together}, set: {load: {phases: [\n"
        "  {executor: constant-vus, duration: 100s},\n"
        "  {executor: constant-vus, duration: 20s, start_time: 1s}]}}}]\n",
        "/lab/m.yaml");
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct resolved r;
    written_resolve(&w, 0, a, &r);
    assert_true(r.settings.load.duration_ns == INT64_C(120000000000));
    assert_true(plan_estimate_ns(&r.settings) > INT64_C(120000000000));
    assert_true(plan_estimate_ns(&r.settings) < INT64_C(130000000000));
    written_resolve(&w, 1, a, &r);
    assert_true(plan_estimate_ns(&r.settings) < INT64_C(110000000000));
}

static void requests_count_and_places_do_not(void **state)
{
    static const char text[] =
        HEAD "app: {image: \"a:1\", port: 80}\nload: {adapter: builtin, duration: 1s, requests: [{path: /%s, "
             "method: POST, body_file: x/b.json}]}\n";
    char one[500], two[500], first[SHA256_HEX_SIZE], moved[SHA256_HEX_SIZE];

    (void)state;
    (void)snprintf(one, sizeof(one), text, "a");
    (void)snprintf(two, sizeof(two), text, "b");
    assert_digests(one, two, false);
    digest_of(one, "/lab/m.yaml", 0, first);
    digest_of(one, "/elsewhere/deep/m.yaml", 0, moved);
    assert_string_equal(first, moved);
}

/* The first axis of the matrix that changes nothing, as "NAME: ONE OTHER". */
static void assert_idle(const char *yaml, const char *expected)
{
    CLEANUP_VALUE(written_release) struct written w = written_plan(yaml, "/lab/m.yaml");
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct plan_idle_axis idle;
    const char *said = "";

    for (size_t x = 0; x < w.m->axis_count && !*said; x++)
        if (plan_axis_is_idle(w.p, x, a, &idle))
            said = arena_printf(a, "%d %s: %s %s", idle.at.line, idle.name, idle.one, idle.other);
    assert_string_equal(said, expected);
}

#define APP(image) "app: {image: \"" image "\", port: 8080}\n" LOAD

static void axes_that_change_nothing(void **state)
{
    (void)state;
    assert_idle(HEAD "axes: {f: [a, b], memory: [32m, 64m]}\n" APP("${f}"), "3 memory: a/32m a/64m");
    assert_idle(HEAD "axes: {memory: [32m, 64m], f: [a, b]}\n" APP("${f}"), "3 memory: 32m/a 64m/a");
    assert_idle(HEAD "axes: {f: [a, b], memory: [1, 2, 3]}\nexclude: [{f: a, memory: [1, 2]}]\n" APP("${f}"),
                "3 memory: b/1 b/2");
    assert_idle(HEAD "axes: {m: {search: {from: 32m, to: 64m}}}\n" APP("i"), "3 m: 32m 40m");
    assert_idle(HEAD "axes: {m: [1, 2]}\n" APP("$${m}"), "3 m: 1 2"); /* a text, and no reference */
    assert_idle(HEAD "axes: {m: [1, 2], mm: [1, 2]}\n" APP("i${mm}"), "3 m: 1/1 2/1");
}

static void axes_that_change_something(void **state)
{
    (void)state;
    assert_idle(HEAD "axes: {f: [a, b]}\n" APP("${f}"), "");
    assert_idle(HEAD "axes: {f: [a]}\n" APP("i"), ""); /* there is nothing to compare it with */
    assert_idle(HEAD "axes: {f: [{name: a, tag: x}, {name: b, tag: y}]}\n" APP("i:${f.tag}"), "");
    assert_idle(HEAD "axes: {f: [a, b]}\noverrides: [{when: {f: a}, set: {app: {image: j}}}]\n" APP("i"), "");
    assert_idle(HEAD "axes: {f: [a, b]}\noverrides: [{set: {app: {image: \"${f}\"}}}]\n" APP("i"), "");
    assert_idle(HEAD "axes: {m: [1, 2], heap: [3, 4]}\nzip: [[m, heap]]\n" APP("i${heap}"), "");
    assert_idle(HEAD "axes: {f: [a]}\ninclude: [{f: b, image: j}]\nvars: {image: i}\n" APP("${image}"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_do_not_count),
        cmocka_unit_test(spelling_does_not_count),
        cmocka_unit_test(settings_count),
        cmocka_unit_test(scenarios_of_one_plan_differ),
        cmocka_unit_test(places_do_not_count),
        cmocka_unit_test(files_count),
        cmocka_unit_test(overrides_reach_the_settings),
        cmocka_unit_test(axes_that_change_nothing),
        cmocka_unit_test(axes_that_change_something),
        cmocka_unit_test(estimates_follow_the_load),
        cmocka_unit_test(estimates_follow_the_phases),
        cmocka_unit_test(requests_count_and_places_do_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
