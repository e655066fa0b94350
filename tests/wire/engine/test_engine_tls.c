/* SPDX-License-Identifier: MIT */
/* TLS to an engine, and what is said when it does not come about. Needs python3 and openssl; skipped without.
 */
#include <sys/wait.h>
#include "scripted_engine.h"

struct tls {
    char directory[40];
    pid_t pid;
    int input, port;
};

static int shell(const char *command)
{
    int status = system(command);

    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int start_server(struct tls *t)
{
    CLEANUP_FREE char *certificate = path_join(t->directory, "good/server.pem");
    CLEANUP_FREE char *key = path_join(t->directory, "good/server-key.pem");
    CLEANUP_FREE char *ca = path_join(t->directory, "good/ca.pem");
    int in[2], out[2];
    char text[16] = "";

    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    t->pid = fork();
    if (t->pid == 0) {
        (void)dup2(in[0], 0);
        (void)dup2(out[1], 1);
        (void)close(in[1]);
        (void)close(out[0]);
        execlp("python3", "python3", TESTS_DIR "/wire/engine/fixtures/tls_server.py", certificate, key, ca,
               (char *)NULL);
        _exit(127);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    t->input = in[1];
    for (size_t len = 0; len < sizeof(text) - 1 && !strchr(text, '\n'); len++)
        if (read(out[0], text + len, 1) != 1)
            break;
    (void)close(out[0]);
    t->port = atoi(text);
    return t->port > 0 ? 0 : -1;
}

static int tls_setup(void **state)
{
    struct tls *t = xcalloc(1, sizeof(*t));
    CLEANUP_FREE char *command = NULL;

    *state = NULL;
    unsetenv("DOCKER_HOST");
    unsetenv("DOCKER_TLS");
    unsetenv("DOCKER_TLS_VERIFY");
    unsetenv("DOCKER_CERT_PATH");
    if (shell("command -v python3 >/dev/null && command -v openssl >/dev/null") != 0) {
        free(t);
        return 0;
    }
    strcpy(t->directory, "/tmp/benchctl-tls-XXXXXX");
    assert_non_null(mkdtemp(t->directory));
    command = xasprintf("%s/wire/engine/fixtures/make-certificates %s", TESTS_DIR, t->directory);
    assert_int_equal(shell(command), 0);
    assert_int_equal(start_server(t), 0);
    *state = t;
    return 0;
}

static int tls_teardown(void **state)
{
    struct tls *t = *state;

    if (!t)
        return 0;
    (void)close(t->input);
    (void)waitpid(t->pid, NULL, 0);
    must(fs_remove_tree(t->directory, &why));
    free(t);
    return 0;
}

static struct tls *tls_or_skip(void **state)
{
    if (!*state) {
        print_message("skipped: python3 or openssl is missing\n");
        skip();
    }
    return *state;
}

/* Opens HOST:port with the certificates of a folder (NULL: none) as `variable` asks (NULL: no variable is
 * set). */
static int open_with(struct tls *t, const char *scheme, const char *host, const char *folder,
                     const char *variable, struct error *err)
{
    CLEANUP_FREE char *path = folder ? path_join(t->directory, folder) : NULL;
    CLEANUP_FREE char *url = xasprintf("%s://%s:%d", scheme, host, t->port);
    struct lab lab;
    int result;

    if (path)
        setenv("DOCKER_CERT_PATH", path, 1);
    if (variable)
        setenv(variable, "1", 1);
    lab_start(&lab);
    result = engine_open(lab.loop, lab.http, url, &lab.engine, err);
    if (result == 0)
        assert_string_equal(engine_facts(lab.engine)->id, "TLS");
    lab_end(&lab);
    unsetenv("DOCKER_CERT_PATH");
    if (variable)
        unsetenv(variable);
    return result;
}

static void a_trusted_engine(void **state)
{
    struct tls *t = tls_or_skip(state);

    must(open_with(t, "tcp", "localhost", "good", "DOCKER_TLS_VERIFY", &why));
    must(open_with(t, "https", "localhost", "good", NULL, &why));       /* the address alone asks for TLS */
    must(open_with(t, "tcp", "127.0.0.1", "good", "DOCKER_TLS", &why)); /* TLS without looking at the name */
}

static void names_and_authorities_are_checked(void **state)
{
    struct tls *t = tls_or_skip(state);
    struct error err = ERROR_INIT;

    assert_int_equal(open_with(t, "tcp", "127.0.0.1", "good", "DOCKER_TLS_VERIFY", &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_has(err.message, "the certificate of the Docker Engine at 'tcp://127.0.0.1:");
    assert_has(err.message, "is not trusted: ");
    assert_has(err.message, "127.0.0.1'"); /* the name that it is not for */
    assert_int_equal(open_with(t, "tcp", "localhost", "other", "DOCKER_TLS_VERIFY", &err), -1);
    assert_has(err.message, "is not trusted: ");
}

static void a_client_needs_its_certificate(void **state)
{
    struct tls *t = tls_or_skip(state);
    struct error err = ERROR_INIT;

    assert_int_equal(open_with(t, "tcp", "localhost", "mixed", "DOCKER_TLS_VERIFY", &err), -1);
    assert_has(err.message, "'tcp://localhost:");
    assert_has(err.hint, "certificate");
    /* the files are not there */
    assert_int_equal(open_with(t, "tcp", "localhost", "bare", "DOCKER_TLS_VERIFY", &err), -1);
    assert_has(err.message, "cannot read the TLS file '");
    assert_has(err.message, "cert.pem': No such file or directory");
    assert_has(err.hint, "DOCKER_CERT_PATH");
}

/* A certificate is asked for and none is given: with TLS 1.3 that shows only after the handshake. */
static void no_client_certificate_at_all(void **state)
{
    struct tls *t = tls_or_skip(state);
    CLEANUP_FREE char *ca = path_join(t->directory, "good/ca.pem"),
                      *url = xasprintf("https://localhost:%d/version", t->port);
    struct http_endpoint endpoint = {.ca_file = ca, .verify = true, .name = "the engine"};
    struct error err = ERROR_INIT;
    struct lab lab;
    int status;

    lab_start(&lab);
    assert_int_equal(
        http_fetch(lab.http, &(struct http_options){.endpoint = &endpoint, .url = url}, &status, NULL, &err),
        -1);
    assert_has(err.message, "the engine ");
    assert_has(err.hint, "certificate"); /* whether its alert arrived or got lost */
    lab_end(&lab);
}

static void plain_where_tls_is_spoken(void **state)
{
    struct tls *t = tls_or_skip(state);
    struct error err = ERROR_INIT;

    assert_int_equal(open_with(t, "tcp", "localhost", NULL, NULL, &err), -1);
    assert_has(err.message, "the Docker Engine at 'tcp://localhost:");
    assert_has(err.hint, "TLS");
}

static void tls_where_plain_is_spoken(void **state)
{
    (void)state;
    struct rule rules[] = {{"*", .reply = {0}}};
    struct server *s = server_start(&(struct server_options){.rules = rules, .rules_len = 1, .tcp = true});
    struct error err = ERROR_INIT;
    struct lab lab;
    char url[64];

    snprintf(url, sizeof(url), "https://127.0.0.1:%d", server_port(s));
    lab_start(&lab);
    assert_int_equal(engine_open(lab.loop, lab.http, url, &lab.engine, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_has(err.message, "the Docker Engine at 'https://127.0.0.1:");
    assert_has(err.message, "does not speak TLS");
    lab_end(&lab);
    free(server_stop(s)); /* it complains of what it got, rightly */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trusted_engine),
        cmocka_unit_test(names_and_authorities_are_checked),
        cmocka_unit_test(a_client_needs_its_certificate),
        cmocka_unit_test(no_client_certificate_at_all),
        cmocka_unit_test(plain_where_tls_is_spoken),
        cmocka_unit_test(tls_where_plain_is_spoken),
    };
    return cmocka_run_group_tests(tests, tls_setup, tls_teardown);
}
