/* SPDX-License-Identifier: MIT */
/* Which image is taken: by id, by name with the same digest or layers, pulled by digest, or none. */
#include "scripted_engine.h"

#include <stdio.h>

#include "rerun_open.h"

static char said[4000];

static void say(const char *what, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

static void say(const char *what, const char *fmt, va_list args)
{
    size_t len = strlen(said);

    len += (size_t)snprintf(said + len, sizeof(said) - len, "%s: ", what);
    len += (size_t)vsnprintf(said + len, sizeof(said) - len, fmt, args);
    (void)snprintf(said + len, sizeof(said) - len, "\n");
}

void rerun_warn(struct rerun *r, const char *fmt, ...)
{
    va_list args;

    (void)r;
    va_start(args, fmt);
    say("warning", fmt, args);
    va_end(args);
}

void rerun_miss(struct rerun *r, const char *fmt, ...)
{
    va_list args;

    (void)r;
    va_start(args, fmt);
    say("missing", fmt, args);
    va_end(args);
}

#define MATRIX(keys)                                                                                         \
    "benchctl: 1\nname: wire\naxes: {size: [32m, 64m]}\n"                                                    \
    "app: {image: 'example.test/app:1', memory: '${size}'" keys "}\nload: {adapter: idle, duration: 1s}\n"

static const char *matrix_text = MATRIX("");

#define RECORDED                                                                                             \
    "{\"images\":[{\"key\":\"example.test/app:1\",\"reference\":\"example.test/"                             \
    "app:1\",\"id\":\"sha256:11\","                                                                          \
    "\"repo_digests\":[\"example.test/app@sha256:22\"],\"layers\":[\"sha256:l1\",\"sha256:l2\"]}]}"

#define IMAGE(id, digest, layer)                                                                             \
    "{\"Id\": \"" id "\", \"RepoDigests\": [" digest "], \"RootFS\": {\"Layers\": [\"sha256:l1\", \"" layer  \
    "\"]}}"
#define NO_IMAGE                                                                                             \
    {                                                                                                        \
        .status = 404, .body = "{\"message\": \"No such image\"}"                                            \
    }
#define BY_ID "GET /images/sha256:11/json"
#define BY_NAME "GET /images/example.test/app:1/json"
#define BY_DIGEST "GET /images/example.test/app@sha256:22/json"
#define PULL "POST /images/create?fromImage=example.test/app&tag=sha256:22"
#define PULLED "{\"status\":\"Pulling\"}\n{\"status\":\"Status: Downloaded newer image\"}\n"

/* The id that was chosen and how, "ID HOW"; the caller frees. */
static char *choose(struct play *p, bool dry_run, const char *info)
{
    const struct rerun_options o = {.dry_run = dry_run};
    struct sweep then = {0};
    struct rerun r = {
        .options = &o, .then = &then, .extracted = xstrdup("/nowhere"), .engine = p->lab.engine};
    CLEANUP(json_free) struct json *chosen = NULL;

    said[0] = '\0';
    r.arena = arena_new();
    must(json_parse(info, strlen(info), "info", &then.info, &why));
    must(matrix_parse(matrix_text, strlen(matrix_text), "/m.yaml", NULL, &r.matrix, &why));
    must(plan_make(r.matrix, &(struct plan_options){0}, &r.plan, &why));
    must(rerun_find_images(&r, &chosen, &why));
    assert_true(json_len(chosen) <= 1); /* two scenarios have one image */
    const struct json *one = json_at(chosen, 0);
    char *result = one ? xasprintf("%s %s", json_get_text(one, "id") ? json_get_text(one, "id") : "-",
                                   json_get_text(one, "how"))
                       : xstrdup("none");
    plan_free(r.plan);
    matrix_free(r.matrix);
    json_free(then.info);
    arena_free(r.arena);
    free(r.extracted);
    return result;
}

static void expect_choice(struct expect *script, size_t len, bool dry_run, const char *choice)
{
    struct play p;

    play_start(&p, &(struct server_options){.script = script, .script_len = len});
    CLEANUP_FREE char *chosen = choose(&p, dry_run, RECORDED);
    play_end(&p);
    assert_string_equal(chosen, choice);
}

#define CHOICE(script, dry_run, choice) expect_choice(script, ARRAY_LEN(script), dry_run, choice)

static void by_its_id(void **state)
{
    struct expect script[] = {OPENING, {BY_ID, .reply = {.body = IMAGE("sha256:11", "", "sha256:l2")}}};

    (void)state;
    CHOICE(script, false, "sha256:11 present");
    assert_string_equal(said, "");
}

/* Another image store calls it otherwise. */
static void by_its_name(void **state)
{
    struct expect digest[] = {
        OPENING,
        {BY_ID, .reply = NO_IMAGE},
        {BY_NAME, .reply = {.body = IMAGE("sha256:77", "\"example.test/app@sha256:22\"", "sha256:l2")}}};
    struct expect layers[] = {OPENING,
                              {BY_ID, .reply = NO_IMAGE},
                              {BY_NAME, .reply = {.body = IMAGE("sha256:77", "", "sha256:l2")}}};

    (void)state;
    CHOICE(digest, false, "sha256:77 same digest");
    assert_string_equal(said, "");
    CHOICE(layers, false, "sha256:77 same layers");
    assert_has(said, "warning: image 'example.test/app:1' has the layers that it had");
}

/* What has the name now is another image: by digest comes the right one. */
static void pulled_by_digest(void **state)
{
    struct expect script[] = {
        OPENING,
        {BY_ID, .reply = NO_IMAGE},
        {BY_NAME, .reply = {.body = IMAGE("sha256:99", "", "sha256:other")}},
        {PULL, .reply = {.body = PULLED}},
        {BY_DIGEST, .reply = {.body = IMAGE("sha256:11", "\"example.test/app@sha256:22\"", "sha256:l2")}},
        {BY_DIGEST, .reply = {.body = IMAGE("sha256:11", "\"example.test/app@sha256:22\"", "sha256:l2")}},
    };
    struct expect dry[] = {OPENING, {BY_ID, .reply = NO_IMAGE}, {BY_NAME, .reply = NO_IMAGE}};

    (void)state;
    CHOICE(script, false, "sha256:11 pulled by digest");
    CHOICE(dry, true, "- would be pulled by digest");
}

static void not_to_be_had(void **state)
{
    struct expect script[] = {
        OPENING,
        {BY_ID, .reply = NO_IMAGE},
        {BY_NAME, .reply = NO_IMAGE},
        {PULL, .reply = {.status = 500, .body = "{\"message\": \"no registry\"}"}},
    };
    struct expect nothing[] = {OPENING};
    struct play p;

    (void)state;
    CHOICE(script, false, "none");
    assert_has(said, "missing: image 'example.test/app:1' (sha256:11) is not in the engine");
    play_start(&p, &(struct server_options){.script = nothing, .script_len = ARRAY_LEN(nothing)});
    CLEANUP_FREE char *chosen = choose(&p, false, "{\"images\":[]}");
    play_end(&p);
    assert_string_equal(chosen, "none");
    assert_has(said, "missing: which image 'example.test/app:1' was is not in the bundle");
}

/* Its own sweep went without, or this engine does: the run looks again, and passes over it. */
static void not_to_be_had_and_passed_over(void **state)
{
    struct expect script[] = {
        OPENING,
        {BY_ID, .reply = NO_IMAGE},
        {BY_NAME, .reply = NO_IMAGE},
        {PULL, .reply = {.status = 500, .body = "{\"message\": \"no registry\"}"}},
    };
    struct expect nothing[] = {OPENING};
    struct play p;

    (void)state;
    matrix_text = MATRIX(", if_missing: skip");
    CHOICE(script, false, "none");
    assert_string_equal(said, "");
    play_start(&p, &(struct server_options){.script = nothing, .script_len = ARRAY_LEN(nothing)});
    CLEANUP_FREE char *chosen = choose(&p, false, "{\"images\":[]}");
    play_end(&p);
    matrix_text = MATRIX("");
    assert_string_equal(chosen, "none");
    assert_string_equal(said, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_its_id),
        cmocka_unit_test(by_its_name),
        cmocka_unit_test(pulled_by_digest),
        cmocka_unit_test(not_to_be_had),
        cmocka_unit_test(not_to_be_had_and_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
