/* SPDX-License-Identifier: MIT */
/* Images: found, pulled, built, loaded; and the failures that come after the status 200. */
#include "scripted_engine.h"

#define IMAGE_REPLY                                                                                          \
    "{\"Id\": \"sha256:11\", \"RepoDigests\": [\"example.test/app@sha256:22\", 5], \"Os\": \"linux\", "      \
    "\"Architecture\": \"amd64\", \"Size\": 1234}"

struct progress {
    char text[2000];
    int lines;
};

static void on_progress(const char *line, void *data)
{
    struct progress *p = data;
    size_t len = strlen(p->text);

    p->lines++;
    snprintf(p->text + len, sizeof(p->text) - len, "%s|", line);
}

/* --- inspect and pull --- */

static void images_are_described(void **state)
{
    (void)state;
    struct expect script[] = {
        OPENING,
        {"GET /images/example.test:5000/a b/app:1/json", .reply = {.body = IMAGE_REPLY}},
        {"GET /images/nothing/json",
         .reply = {.status = 404, .body = "{\"message\": \"No such image: nothing\"}"}},
        {"GET /images/odd/json", .reply = {.body = "{}"}},
        {"GET /images/podman/json", .reply = {.body = "{\"Id\": \"1111\"}"}},
    };
    struct engine_image image = {0};
    struct error err = ERROR_INIT;
    struct play p;

    play_script(&p, script);
    must(engine_image_inspect(p.lab.engine, "example.test:5000/a b/app:1", &image, &why));
    assert_string_equal(image.id, "sha256:11");
    assert_string_equal(image.repo_digests[0], "example.test/app@sha256:22");
    assert_null(image.repo_digests[1]);
    assert_string_equal(image.architecture, "amd64");
    assert_int_equal(image.size_bytes, 1234);
    engine_image_release(&image);
    assert_int_equal(engine_image_inspect(p.lab.engine, "nothing", &image, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    assert_string_equal(err.message, "cannot inspect image 'nothing': No such image: nothing");
    assert_int_equal(engine_image_inspect(p.lab.engine, "odd", &image, &err), -1);
    assert_int_equal(engine_image_inspect(p.lab.engine, "", &image, &err), -1);
    must(engine_image_inspect(p.lab.engine, "podman", &image, &why));
    assert_string_equal(image.id, "sha256:1111"); /* ids have one form */
    assert_null(image.repo_digests[0]);
    engine_image_release(&image);
    play_end(&p);
}

/* One of the case's replies, in pieces of `piece` bytes, closed at the end. */
static int pull_against(const char *file, size_t piece, struct progress *progress, struct error *err)
{
    size_t len;
    CLEANUP_FREE char *raw = case_bytes(file, &len);
    bool good = strstr(file, "ok") || strstr(file, "glued");
    struct expect script[] = {
        OPENING,
        {"POST /images/create?fromImage=example.test/app&tag=1",
         .reply = {.raw = raw, .raw_len = len, .piece = piece, .end = END_CLOSE}},
        {"GET /images/example.test/app:1/json", .reply = {.body = IMAGE_REPLY}},
    };
    struct play p;
    int result;

    play_start(&p, &(struct server_options){.script = script, .script_len = good ? 4 : 3});
    result = engine_image_pull(p.lab.engine, "example.test/app:1", NULL, on_progress, progress, err);
    play_end(&p);
    return result;
}

static void pulls_that_end_well(void **state)
{
    (void)state;
    static const size_t pieces[] = {0, 1, 50};

    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        struct progress one = {0}, glued = {0};
        struct error err = ERROR_INIT;

        if (pull_against("A05/pull_ok.http", pieces[i], &one, &err) ||
            pull_against("A05/pull_glued.http", pieces[i], &glued, &err))
            fail_msg("%s", err.message);
        assert_int_equal(one.lines, 4);
        assert_has(one.text, "aa: Downloading|");
        assert_string_equal(one.text, glued.text);
    }
}

static void pulls_that_fail_after_the_status(void **state)
{
    (void)state;
    struct progress ignored = {0};
    struct error err = ERROR_INIT;

    assert_int_equal(pull_against("A05/pull_error_in_200.http", 7, &ignored, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_string_equal(err.message,
                        "cannot pull image 'example.test/app:1': blob upload unknown: example.test/app:9");
    assert_int_equal(pull_against("A05/pull_cut.http", 0, &ignored, &err), -1);
    assert_has(err.message, "ended early");
}

static void pulls_that_are_refused(void **state)
{
    (void)state;
    struct progress ignored = {0};
    struct error err = ERROR_INIT;

    assert_int_equal(pull_against("A05/pull_404.http", 0, &ignored, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    assert_string_equal(err.message, "cannot pull image 'example.test/app:1': no such image on example.test");
    assert_int_equal(pull_against("A05/pull_500.http", 0, &ignored, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_string_equal(err.message,
                        "cannot pull image 'example.test/app:1': registry refused the connection");
}

/* Streams that end as HTTP says, but not as a pull does. */
static void pulls_that_just_stop(void **state)
{
    (void)state;
    static const char *const bodies[] = {"", "{\"status\": \"Downloading\", \"id\": \"aa\"}",
                                         "{\"status\": \"Status: done\"}{\"status\": \"Dig",
                                         "{\"status\": \"Digest: x\"} nonsense", "[1]"};

    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct expect script[] = {OPENING,
                                  {"POST /images/create*", .reply = {.body = bodies[i], .chunked = true}}};
        struct error err = ERROR_INIT;
        struct play p;

        play_script(&p, script);
        assert_int_equal(engine_image_pull(p.lab.engine, "app", NULL, NULL, NULL, &err), -1);
        assert_int_equal(err.kind, ERROR_ENVIRONMENT);
        assert_has(err.message, "cannot pull image 'app': ");
        play_end(&p);
    }
}

static void an_image_that_is_not_there_after_all(void **state)
{
    (void)state;
    struct expect script[] = {
        OPENING,
        {"POST /images/create*", .reply = {.body = "{\"status\": \"Status: fine\"}"}},
        {"GET /images/app/json", .reply = {.status = 404, .body = "{\"message\": \"No such image\"}"}}};
    struct error err = ERROR_INIT;
    struct play p;

    play_script(&p, script);
    assert_int_equal(engine_image_pull(p.lab.engine, "app", NULL, NULL, NULL, &err), -1);
    assert_has(err.message, "image 'app' is not there after it was pulled");
    play_end(&p);
}

static void references_are_split_and_credentials_sent(void **state)
{
    (void)state;
    static const struct {
        const char *reference, *request;
    } cases[] = {{"app", "POST /images/create?fromImage=app&tag=latest"},
                 {"app:2", "POST /images/create?fromImage=app&tag=2"},
                 {"host:5000/app", "POST /images/create?fromImage=host:5000/app&tag=latest"},
                 {"host:5000/app:2", "POST /images/create?fromImage=host:5000/app&tag=2"},
                 {"host/app@sha256:ab", "POST /images/create?fromImage=host/app&tag=sha256:ab"},
                 {"host/app:2@sha256:ab", "POST /images/create?fromImage=host/app&tag=sha256:ab"}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct expect script[] = {OPENING,
                                  {cases[i].request, .reply = {.body = "{\"status\": \"Status: fine\"}"}},
                                  {"GET /images/*/json", .reply = {.body = IMAGE_REPLY}}};
        struct play p;

        play_script(&p, script);
        must(engine_image_pull(p.lab.engine, cases[i].reference,
                               "{\"username\":\"u\xc3\xbf\",\"password\":\"?\?>\"}", NULL, NULL, &why));
        assert_has(server_seen(p.server, 2)->headers,
                   "X-Registry-Auth: eyJ1c2VybmFtZSI6InXDvyIsInBhc3N3b3JkIjoiPz8-In0=\r\n");
        play_end(&p);
    }
}

/* --- build --- */

struct folder {
    char path[40];
};

static void make_folder(struct folder *f)
{
    CLEANUP_FREE char *file = NULL;

    *f = (struct folder){.path = "/tmp/benchctl-build-XXXXXX"};
    assert_non_null(mkdtemp(f->path));
    file = path_join(f->path, "Dockerfile");
    must(fs_write(file, "FROM scratch\n", 13, &why));
}

static void remove_folder(struct folder *f)
{
    must(fs_remove_tree(f->path, &why));
}

static void a_build_is_sent_as_a_tar(void **state)
{
    (void)state;
    struct expect script[] = {
        OPENING,
        {"POST /build?rm=1&forcerm=1&t=bench/app:1&dockerfile=d/Dockerfile&buildargs={\"A\":\"1 & "
         "2\"}&labels={\"l\":\"x\"}",
         .has = {"Dockerfile", "FROM scratch"},
         .reply =
             {.body = "{\"stream\": \"Step 1/1 : FROM scratch\\n\"}\r\n{\"aux\": {\"ID\": \"sha256:77\"}}\r\n"
                      "{\"stream\": \"Successfully built 777777777777\\n\"}\r\n",
              .chunked = true,
              .piece = 9}},
    };
    struct text_pair arg = {.key = "A", .value = "1 & 2"}, label = {.key = "l", .value = "x"};
    struct text_map args = {.items = &arg, .len = 1}, labels = {.items = &label, .len = 1};
    struct progress progress = {0};
    CLEANUP_FREE char *id = NULL;
    struct folder f;
    struct play p;

    make_folder(&f);
    play_script(&p, script);
    struct engine_build build = {.context = f.path,
                                 .tag = "bench/app:1",
                                 .dockerfile = "d/Dockerfile",
                                 .args = &args,
                                 .labels = &labels,
                                 .progress = on_progress,
                                 .data = &progress};
    must(engine_image_build(p.lab.engine, &build, &id, &why));
    assert_string_equal(id, "sha256:77");
    assert_string_equal(progress.text, "Step 1/1 : FROM scratch|Successfully built 777777777777|");
    assert_has(server_last(p.server, "POST *")->headers, "Content-Type: application/x-tar");
    assert_has(server_last(p.server, "POST *")->headers, "Transfer-Encoding: chunked");
    play_end(&p);
    remove_folder(&f);
}

static void a_build_without_aux_says_its_id_in_words(void **state)
{
    (void)state;
    struct expect script[] = {
        OPENING,
        {"POST /build*", .reply = {.body = "{\"stream\": \"Successfully built 0123456789ab\\n\"}"}},
        {"GET /images/0123456789ab/json", .reply = {.body = IMAGE_REPLY}},
        {"POST /build*", .reply = {.body = "{\"stream\": \"done\\n\"}"}}};
    CLEANUP_FREE char *id = NULL;
    struct error err = ERROR_INIT;
    struct folder f;
    struct play p;

    make_folder(&f);
    play_script(&p, script);
    struct engine_build build = {.context = f.path};
    must(engine_image_build(p.lab.engine, &build, &id, &why));
    assert_string_equal(id, "sha256:11");
    assert_int_equal(engine_image_build(p.lab.engine, &build, &id, &err), -1);
    assert_has(err.message, "ended without an image id");
    play_end(&p);
    remove_folder(&f);
}

static void a_failed_step_shows_the_end_of_its_output(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf body = STRBUF_INIT;
    struct error err = ERROR_INIT;
    struct folder f;
    struct play p;
    char *id;

    for (int i = 0; i < 5000; i++)
        strbuf_addf(&body, "{\"stream\": \"line %d of the compiler\\n\"}\r\n", i);
    strbuf_adds(&body, "{\"errorDetail\": {\"code\": 2, \"message\": \"make returned a non-zero code: 2\"}, "
                       "\"error\": \"x\"}\r\n");
    struct expect script[] = {OPENING, {"POST /build*", .reply = {.body = body.data, .chunked = true}}};
    make_folder(&f);
    play_script(&p, script);
    struct engine_build build = {.context = f.path};
    assert_int_equal(engine_image_build(p.lab.engine, &build, &id, &err), -1);
    assert_has(err.message, "': make returned a non-zero code: 2\nline ");
    assert_null(strstr(err.message, "line 4900 of"));
    assert_has(err.message, "line 4999 of the compiler");
    assert_int_equal(err.message[strlen(err.message) - 1], 'r'); /* no newline at the end */
    play_end(&p);
    remove_folder(&f);
}

/* An engine that refuses early and reads no further: its words count, not the broken pipe. */
static void a_build_that_is_refused(void **state)
{
    (void)state;
    struct expect script[] = {
        OPENING,
        {"POST /build*",
         .reply = {.status = 400, .body = "{\"message\": \"dockerfile parse error line 1\"}"}}};
    struct error err = ERROR_INIT;
    struct folder f;
    struct play p;
    char *id;

    make_folder(&f);
    play_script(&p, script);
    struct engine_build build = {.context = f.path};
    assert_int_equal(engine_image_build(p.lab.engine, &build, &id, &err), -1);
    assert_has(err.message, "dockerfile parse error line 1");
    build.context = "/tmp/benchctl-no-such-context";
    assert_int_equal(engine_image_build(p.lab.engine, &build, &id, &err), -1);
    assert_has(err.message, "cannot build an image from '/tmp/benchctl-no-such-context'");
    play_end(&p);
    remove_folder(&f);
}

/* --- load and import --- */

static void files_become_images(void **state)
{
    (void)state;
    struct expect script[] = {
        OPENING,
        {"POST /images/load?quiet=0", .has = {"tar bytes"},
         .reply = {.body = "{\"stream\": \"Loaded image: app:1\\n\"}"}},
        {"POST /images/create?fromSrc=-&repo=bench/root&tag=2&changes=CMD *&changes=ENV A=1",
         .has = {"tar bytes"}, .reply = {.body = "{\"status\": \"sha256:99\"}\r\n"}},
        {"POST /images/load*", .reply = {.body = "{\"errorDetail\": {\"message\": \"invalid tar header\"}}"}},
        {"POST /images/create*", .reply = {.body = "{\"status\": \"importing\"}"}},
    };
    const char *change[] = {"CMD [\"/x\"]", "ENV A=1"};
    struct text_list changes = {.items = change, .len = 2};
    struct progress progress = {0};
    CLEANUP_FREE char *file = NULL, *id = NULL;
    struct error err = ERROR_INIT;
    struct folder f;
    struct play p;

    make_folder(&f);
    file = path_join(f.path, "it.tar");
    must(fs_write(file, "tar bytes", 9, &why));
    play_script(&p, script);
    must(engine_image_load(p.lab.engine, file, on_progress, &progress, &why));
    assert_string_equal(progress.text, "Loaded image: app:1|");
    must(engine_image_import(p.lab.engine, file, "bench/root:2", &changes, &id, &why));
    assert_string_equal(id, "sha256:99");
    assert_int_equal(engine_image_load(p.lab.engine, file, NULL, NULL, &err), -1);
    assert_has(err.message, "invalid tar header");
    assert_int_equal(engine_image_import(p.lab.engine, file, "x", NULL, &id, &err), -1);
    assert_has(err.message, "without an id");
    assert_int_equal(engine_image_load(p.lab.engine, "/tmp/benchctl-none.tar", NULL, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    play_end(&p);
    remove_folder(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_described),
        cmocka_unit_test(pulls_that_end_well),
        cmocka_unit_test(pulls_that_fail_after_the_status),
        cmocka_unit_test(pulls_that_are_refused),
        cmocka_unit_test(pulls_that_just_stop),
        cmocka_unit_test(an_image_that_is_not_there_after_all),
        cmocka_unit_test(references_are_split_and_credentials_sent),
        cmocka_unit_test(a_build_is_sent_as_a_tar),
        cmocka_unit_test(a_build_without_aux_says_its_id_in_words),
        cmocka_unit_test(a_failed_step_shows_the_end_of_its_output),
        cmocka_unit_test(a_build_that_is_refused),
        cmocka_unit_test(files_become_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
