/* SPDX-License-Identifier: MIT */
/* Finding an engine, agreeing on a version, and what is said when there is none. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "scripted_engine.h"

static int open_url(const char *url, struct error *err)
{
    struct lab lab;
    int result;

    lab_start(&lab);
    result = engine_open(lab.loop, lab.http, url, &lab.engine, err);
    lab_end(&lab);
    return result;
}

/* Opens an engine that answers /version with the given reply; *calls is how often it was asked anything. */
static int open_against(const struct reply *version, struct error *err, size_t *calls)
{
    struct rule rules[] = {{"GET /version", .reply = *version}, {"GET /info", .reply = {.body = INFO_REPLY}}};
    struct server *s = server_start(&(struct server_options){.rules = rules, .rules_len = 2});
    int result = open_url(server_url(s), err);

    *calls = server_calls(s);
    if (*calls)
        assert_string_equal(server_seen(s, 0)->version, ""); /* asked without a prefix */
    server_finish(s);
    return result;
}

static void the_highest_common_version_is_spoken(void **state)
{
    (void)state;
    static const struct {
        const char *file, *prefix, *name;
    } cases[] = {{"A01/version_29.json", "1.51", "Docker Engine"},
                 {"A01/version_20.json", "1.41", "Docker Engine"},
                 {"A01/version_podman.json", "1.41", "Podman"}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLEANUP_FREE char *version = case_bytes(cases[i].file, NULL);
        struct expect script[] = {{"GET /version", .reply = {.body = version}},
                                  {"GET /info", .reply = {.body = INFO_REPLY}},
                                  {"GET /info", .reply = {.body = INFO_REPLY}}};
        struct json *info;
        struct play p;

        play_script(&p, script);
        assert_string_equal(engine_facts(p.lab.engine)->api_version, cases[i].prefix);
        assert_string_equal(engine_facts(p.lab.engine)->name, cases[i].name);
        assert_string_equal(engine_facts(p.lab.engine)->id, "ABCD");
        assert_int_equal(engine_facts(p.lab.engine)->cgroup_version, 2);
        assert_int_equal(engine_facts(p.lab.engine)->cpus, 2);
        assert_true(engine_facts(p.lab.engine)->local);
        must(engine_info(p.lab.engine, &info, &why));
        json_free(info);
        assert_string_equal(server_seen(p.server, 1)->version, cases[i].prefix);
        assert_string_equal(server_seen(p.server, 2)->version, cases[i].prefix);
        assert_int_equal(server_seen(p.server, 2)->connection, 1); /* one connection for all */
        play_end(&p);
    }
}

static void ranges_that_do_not_meet_are_refused(void **state)
{
    (void)state;
    CLEANUP_FREE char *disjoint = case_bytes("A01/version_disjoint.json", NULL);
    CLEANUP_FREE char *old = case_bytes("A01/version_old9.json", NULL);
    struct error err = ERROR_INIT;
    size_t calls;

    assert_int_equal(open_against(&(struct reply){.body = disjoint}, &err, &calls), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_has(err.message, "2.0 to 2.3");
    assert_has(err.message, "1.40 to 1.51");
    assert_has(err.hint, "newer benchctl");
    assert_int_equal(calls, 1);
    assert_int_equal(open_against(&(struct reply){.body = old}, &err, &calls), -1);
    assert_has(err.message, "1.9 to 1.9");
    assert_has(err.hint, "newer engine");
}

static void a_refusal_is_shown_whatever_its_form(void **state)
{
    (void)state;
    CLEANUP_FREE char *plain = case_bytes("A01/reply_too_old.http", NULL);
    CLEANUP_FREE char *json = case_bytes("A01/reply_too_new.http", NULL);
    struct error err = ERROR_INIT;
    size_t calls;

    assert_int_equal(open_against(&(struct reply){.raw = plain}, &err, &calls), -1);
    assert_has(err.message, "this client speaks 1.30, the oldest accepted is 1.44");
    assert_has(err.message, "cannot be used");
    assert_int_equal(open_against(&(struct reply){.raw = json}, &err, &calls), -1);
    assert_has(err.message, "this client speaks 1.99, the newest known here is 1.41");
}

static void peers_that_are_no_engine(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    size_t calls;

    assert_int_equal(
        open_against(&(struct reply){.status = 404, .body = "<html>nothing</html>", .type = "text/html"},
                     &err, &calls),
        -1);
    assert_has(err.message, "cannot be used: <html>nothing</html>");
    assert_int_equal(open_against(&(struct reply){.body = "hello"}, &err, &calls), -1);
    assert_int_equal(open_against(&(struct reply){.body = "{}"}, &err, &calls), -1);
    assert_has(err.message, "names no API version");
    assert_int_equal(open_against(&(struct reply){.body = "[]"}, &err, &calls), -1);
    assert_int_equal(open_against(&(struct reply){.status = 400,
                                                  .body = "Client sent an HTTP request to an HTTPS server.\n",
                                                  .type = "text/plain"},
                                  &err, &calls),
                     -1);
    assert_has(err.hint, "DOCKER_TLS_VERIFY");
}

static void nobody_answers(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;

    assert_int_equal(open_url("unix:///tmp/benchctl-no-such/docker.sock", &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_string_equal(err.message,
                        "cannot connect to the Docker Engine at 'unix:///tmp/benchctl-no-such/docker.sock': "
                        "No such file or directory");
    assert_has(err.hint, "start it");
    assert_has(err.hint, "DOCKER_HOST");
    assert_int_equal(open_url("tcp://127.0.0.1:1", &err), -1);
    assert_has(err.message, "cannot connect to the Docker Engine at 'tcp://127.0.0.1:1': Connection refused");
    assert_has(err.hint, "does it listen on that address");
}

static void a_socket_that_is_not_for_us(void **state)
{
    (void)state;
    char directory[] = "/tmp/benchctl-wire-XXXXXX", url[200];
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct error err = ERROR_INIT;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (geteuid() != 0) {
        close(fd);
        skip();
    }
    assert_non_null(mkdtemp(directory));
    snprintf(a.sun_path, sizeof(a.sun_path), "%s/sock", directory);
    snprintf(url, sizeof(url), "unix://%s", a.sun_path);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(chmod(directory, 0755), 0);
    assert_int_equal(chmod(a.sun_path, 0600), 0);
    assert_int_equal(seteuid(65534), 0);
    assert_int_equal(open_url(url, &err), -1);
    assert_int_equal(seteuid(0), 0);
    assert_has(err.message, "Permission denied");
    assert_has(err.hint, "'docker'");
    close(fd);
    unlink(a.sun_path);
    rmdir(directory);
}

static void addresses(void **state)
{
    (void)state;
    static const struct {
        const char *url, *part;
    } bad[] = {{"ssh://host", "unknown kind of engine address 'ssh://host'"},
               {"tcp://", "names no host"},
               {"", "unknown kind of engine address ''"},
               {"docker.sock", "unknown kind"}};
    char path[300] = "unix:///";
    struct error err = ERROR_INIT;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_int_equal(open_url(bad[i].url, &err), -1);
        assert_int_equal(err.kind, ERROR_INVALID);
        assert_has(err.message, bad[i].part);
    }
    memset(path + 8, 'x', 200);
    assert_int_equal(open_url(path, &err), -1);
    assert_has(err.message, "too long a path");
}

/* tcp:// and http:// are one; DOCKER_HOST is asked when no address is given. */
static void the_environment_names_the_engine(void **state)
{
    (void)state;
    struct expect script[] = {OPENING, OPENING};
    struct server *s = server_start(&(struct server_options){.script = script, .script_len = 4, .tcp = true});
    struct lab lab;
    char url[64];

    setenv("DOCKER_HOST", server_url(s), 1);
    setenv("http_proxy", "http://127.0.0.1:1", 1); /* must not be asked */
    lab_start(&lab);
    must(engine_open(lab.loop, lab.http, NULL, &lab.engine, &why));
    assert_string_equal(engine_facts(lab.engine)->url, server_url(s));
    assert_false(engine_facts(lab.engine)->local);
    engine_close(lab.engine);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/", server_port(s));
    must(engine_open(lab.loop, lab.http, url, &lab.engine, &why));
    unsetenv("DOCKER_HOST");
    unsetenv("http_proxy");
    lab_end(&lab);
    server_finish(s);
}

static void the_engine_has_a_clock_of_its_own(void **state)
{
    (void)state;
    struct expect script[] = {{"GET /version", .reply = {.body = VERSION_REPLY}},
                              {"GET /info", .reply = {.body = "{\"SystemTime\": \"2040-01-01T00:00:00Z\"}"}}};
    struct play p;

    play_script(&p, script);
    int64_t theirs_ns = clock_wall_ns() + engine_facts(p.lab.engine)->clock_offset_ns;
    assert_true(llabs((long long)(theirs_ns - INT64_C(2208988800) * NS_PER_S)) < 60 * NS_PER_S);
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_highest_common_version_is_spoken),
        cmocka_unit_test(ranges_that_do_not_meet_are_refused),
        cmocka_unit_test(a_refusal_is_shown_whatever_its_form),
        cmocka_unit_test(peers_that_are_no_engine),
        cmocka_unit_test(nobody_answers),
        cmocka_unit_test(a_socket_that_is_not_for_us),
        cmocka_unit_test(addresses),
        cmocka_unit_test(the_environment_names_the_engine),
        cmocka_unit_test(the_engine_has_a_clock_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
