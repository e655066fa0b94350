/* SPDX-License-Identifier: MIT */
/* URLs: what is read from them, and that nothing of a password gets out. */
#include "unit/check.h"

#include <stdlib.h>
#include "endpoint.h"

static int clear_environment(void **state)
{
    static const char *const names[] = {"PGHOST",       "PGHOSTADDR", "PGPORT",    "PGUSER",
                                        "PGDATABASE",   "PGPASSWORD", "PGSSLMODE", "PGSERVICE",
                                        "PGGSSENCMODE", "PGOPTIONS",  "PGPASSFILE"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        (void)unsetenv(names[i]);
    return 0;
}

static struct postgres_target parse(const char *url)
{
    struct postgres_target t = {0};
    struct error err = ERROR_INIT;

    if (postgres_parse_url(url, &t, &err) < 0)
        fail_msg("%s: %s", url, err.message);
    return t;
}

static void is_read(const char *url, const char *host, int port, const char *user, const char *name,
                    const char *password)
{
    struct postgres_target t = parse(url);

    assert_string_equal(t.host, host);
    assert_int_equal(t.port, port);
    if (user)
        assert_string_equal(t.user, user);
    assert_true(text_equal(t.name, name));
    assert_true(text_equal(t.password, password));
    postgres_target_release(&t);
    assert_null(t.host);
}

static void urls_are_read(void **state)
{
    (void)state;
    is_read("postgresql://u:p@h:5433/d", "h", 5433, "u", "d", "p");
    is_read("postgres://u@h/d", "h", 5432, "u", "d", NULL);
    is_read("postgresql://u:a%40b%2Fc%25@h/d?sslmode=require", "h", 5432, "u", "d", "a@b/c%");
    is_read("postgresql://u@[::1]:5433/d", "::1", 5433, "u", "d", NULL);
    is_read("host=h port=6000 user=u dbname=d password='a b'", "h", 6000, "u", "d", "a b");
    is_read("postgresql://u@h1:1,h2:2/d", "h1", 1, "u", "d", NULL);
    is_read("postgresql://u@h1,h2:2/d", "h1", 5432, "u", "d", NULL);
    is_read("postgresql://u@%2Fvar%2Frun/d", "/var/run", 5432, "u", "d", NULL);
    is_read("hostaddr=10.0.0.1 user=u", "10.0.0.1", 5432, "u", NULL, NULL);
    is_read("postgresql://", "localhost", 5432, NULL, NULL, NULL);
}

static void the_environment_fills_in(void **state)
{
    (void)state;
    (void)setenv("PGPORT", "7000", 1);
    (void)setenv("PGUSER", "me", 1);
    (void)setenv("PGPASSWORD", "hidden", 1);
    is_read("postgresql://h/d", "h", 7000, "me", "d", "hidden");
    is_read("postgresql://u:p@h:1/d", "h", 1, "u", "d", "p");
}

/* Whatever is wrong with it, no part of the URL may be told: libpq's own messages quote it. */
static void is_refused(const char *url)
{
    struct postgres_target t = {0};
    struct error err = ERROR_INIT;
    struct endpoint *e = NULL;
    const struct postgres_options o = {.url = url};

    if (postgres_parse_url(url, &t, &err) == 0)
        fail_msg("'%s' is accepted", url);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_null(strstr(err.message, "secret"));
    assert_null(strstr(err.hint, "secret"));
    err = (struct error)ERROR_INIT;
    assert_int_equal(endpoint_new(&o, &e, &err), -1);
    assert_null(strstr(err.message, "secret"));
    assert_null(strstr(err.hint, "secret"));
}

static void wrong_urls_tell_nothing(void **state)
{
    (void)state;
    is_refused("");
    is_refused("secret");
    is_refused("mysql://u:secret@h/d");
    is_refused("postgresql://u:secret%zz@h/d");
    is_refused("postgresql://u:secret%00@h/d");
    is_refused("postgresql://u:secret"); /* a password that is taken for a port */
    is_refused("postgresql://u:secret/more@h/d");
    is_refused("postgresql://u:secret@h:0/d");
    is_refused("postgresql://u:secret@h:65536/d");
    is_refused("postgresql://u:secret@h:1x/d");
    is_refused("postgresql://u@h:1,h:secret/d");
    is_refused("postgresql://u@h:-1/d");
    is_refused("postgresql://u:secret@h/d?nosuch=secret");
    is_refused("postgresql://u:secret@[::1/d");
    is_refused("password='secret");
    is_refused("user=u password secret");
}

static const char *param(const struct endpoint *e, const char *database, const char *key)
{
    static const char *keys[ENDPOINT_PARAMS], *values[ENDPOINT_PARAMS];
    const char *found = NULL;

    endpoint_params(e, database, keys, values);
    for (size_t i = 0; keys[i]; i++)
        if (strcmp(keys[i], key) == 0)
            found = values[i];
    return found;
}

static struct endpoint *make(const struct postgres_options *o)
{
    struct error err = ERROR_INIT;
    struct endpoint *e = NULL;

    if (endpoint_new(o, &e, &err) < 0)
        fail_msg("%s", err.message);
    return e;
}

static void loopback_is_plain(void **state)
{
    static const struct {
        const char *url, *sslmode, *gssencmode;
    } cases[] = {
        {"postgresql://u@127.0.0.1/d", "disable", "disable"},
        {"postgresql://u@localhost/d", "disable", "disable"},
        {"postgresql://u@[::1]/d", "disable", "disable"},
        {"postgresql://u@%2Ftmp/d", "disable", "disable"},
        {"user=u", "disable", "disable"},
        {"postgresql://u@127.0.0.1/d?sslmode=verify-full", "verify-full", "disable"},
        {"postgresql://u@localhost/d?gssencmode=require", "disable", "require"},
        {"postgresql://u@db.example/d", NULL, NULL},
        {"postgresql://u@127.0.0.1,db.example/d", NULL, NULL},
        {"host=localhost hostaddr=10.1.2.3", NULL, NULL},
        {"service=x", NULL, NULL},
        {"postgresql://u@db.example/d?sslmode=disable&channel_binding=require", "disable", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLEANUP(endpoint_free) struct endpoint *e = make(&(struct postgres_options){.url = cases[i].url});
        if (!text_equal(param(e, "x", "sslmode"), cases[i].sslmode) ||
            !text_equal(param(e, "x", "gssencmode"), cases[i].gssencmode))
            fail_msg("%s: sslmode %s, gssencmode %s", cases[i].url, param(e, "x", "sslmode"),
                     param(e, "x", "gssencmode"));
        assert_string_equal(param(e, "x", "dbname"), "x");
        assert_string_equal(param(e, "x", "client_encoding"), "UTF8");
    }
    CLEANUP(endpoint_free) struct endpoint *e = make(&(struct postgres_options){.url = cases[11].url});
    assert_string_equal(param(e, "x", "channel_binding"), "require"); /* as given */
    (void)setenv("PGSSLMODE", "require", 1);
    CLEANUP(endpoint_free) struct endpoint *asked = make(&(struct postgres_options){.url = cases[0].url});
    assert_null(param(asked, "x", "sslmode")); /* libpq reads it itself */
}

static void parts_make_an_endpoint(void **state)
{
    const struct postgres_options o = {.host = "172.18.0.2", .port = 5432, .user = "u", .password = "p w"};
    CLEANUP(endpoint_free) struct endpoint *e = make(&o);

    (void)state;
    assert_string_equal(param(e, "bench", "host"), "172.18.0.2");
    assert_string_equal(param(e, "bench", "hostaddr"), "172.18.0.2"); /* whatever PGHOSTADDR says */
    assert_string_equal(param(e, "bench", "port"), "5432");
    assert_string_equal(param(e, "bench", "password"), "p w");
    assert_string_equal(param(e, "bench", "sslmode"), "disable");
    assert_null(endpoint_database(e));
}

/* What a hostile server could ask for: the environment's password, that of ~/.pgpass, a ticket, a
 * certificate. */
static void parts_take_nothing_from_outside(void **state)
{
    const struct postgres_options o = {.host = "172.18.0.2", .port = 5432, .user = "u"};

    (void)state;
    assert_int_equal(setenv("PGPASSWORD", "hush-of-another", 1), 0);
    assert_int_equal(setenv("PGPASSFILE", "/etc/passwd", 1), 0);
    CLEANUP(endpoint_free) struct endpoint *e = make(&o);
    assert_string_equal(param(e, "bench", "password"), "none"); /* else libpq looks for one */
    assert_string_equal(param(e, "bench", "passfile"), "/dev/null");
    assert_string_equal(param(e, "bench", "krbsrvname"), "none");
    assert_string_equal(param(e, "bench", "sslmode"), "disable");
    assert_string_equal(param(e, "bench", "gssencmode"), "disable");
    CLEANUP(endpoint_free)
    struct endpoint *own = make(&(struct postgres_options){.url = "postgresql://u@h/d"});
    assert_null(param(own, "d", "password")); /* a server that the user names: libpq finds it */
    assert_null(param(own, "d", "passfile"));
    (void)unsetenv("PGPASSWORD");
    (void)unsetenv("PGPASSFILE");
}

static void passwords_become_stars(void **state)
{
    CLEANUP(endpoint_free)
    struct endpoint *e = make(&(struct postgres_options){.url = "postgresql://u:hush@h/d"});
    CLEANUP(endpoint_free)
    struct endpoint *same = make(&(struct postgres_options){.url = "postgresql://u:u@h/d"});
    char text[] = "hush said hush, u at h", other[] = "user u";

    (void)state;
    endpoint_redact(e, text);
    assert_string_equal(text, "**** said ****, u at h");
    endpoint_redact(same, other); /* no secret, and stars would only confuse */
    assert_string_equal(other, "user u");
    assert_string_equal(endpoint_database(e), "d");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(urls_are_read, clear_environment),
        cmocka_unit_test_setup_teardown(the_environment_fills_in, clear_environment, clear_environment),
        cmocka_unit_test_setup(wrong_urls_tell_nothing, clear_environment),
        cmocka_unit_test_setup_teardown(loopback_is_plain, clear_environment, clear_environment),
        cmocka_unit_test_setup(parts_make_an_endpoint, clear_environment),
        cmocka_unit_test_setup(parts_take_nothing_from_outside, clear_environment),
        cmocka_unit_test_setup(passwords_become_stars, clear_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
