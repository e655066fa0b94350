/* SPDX-License-Identifier: MIT */
/* Run-time references: what a container or the generator must use on this network, secrets, and the trial's
 * own numbers. */
#include "run_internal.h"

#include "unit/check.h"

struct fixture {
    struct sweep_run sweep;
    struct settings settings;
    struct container_settings services[1], server;
    struct database_settings database;
    struct trial_run trial;
    struct unit app, mock, db;
};

static char app_role[] = "app", mock_role[] = "mock", database_role[] = "database";
static char app_address[] = "172.18.0.4", mock_address[] = "172.18.0.3", database_address[] = "172.18.0.2";

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    struct settings *st = &f->settings;

    st->network = NETWORK_BRIDGE;
    st->app = (struct container_settings){.name = "app", .port = 8080};
    f->services[0] = (struct container_settings){.name = "mock", .port = SCHEMA_ABSENT};
    st->services = (struct schema_list){.items = f->services, .len = 1};
    f->server = (struct container_settings){.name = "database", .port = SCHEMA_ABSENT};
    f->database = (struct database_settings){.service = &f->server, .name = "bench"};
    st->database = &f->database;
    f->app = (struct unit){.role = app_role, .port = 8080, .settings = &st->app};
    f->mock = (struct unit){.role = mock_role, .settings = &f->services[0]};
    f->db = (struct unit){.role = database_role, .port = 5432, .settings = &f->server};
    f->trial.sweep = &f->sweep;
    f->trial.settings = st;
    f->trial.arena = arena_new();
    trial_init(&f->trial.record);
    container_result_init(&f->trial.record.app, "app");
    load_result_init(&f->trial.record.load);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    vec_release(&f->sweep.units);
    arena_free(f->trial.arena);
    free(f);
    return 0;
}

/* All three run, with addresses on the bridge. */
static void started(struct fixture *f)
{
    f->app.address = app_address;
    f->mock.address = mock_address;
    f->db.address = database_address;
    vec_push(&f->sweep.units, &f->app);
    vec_push(&f->sweep.units, &f->mock);
    vec_push(&f->sweep.units, &f->db);
}

static void assert_is(struct fixture *f, const char *text, const char *expected)
{
    struct error err = ERROR_INIT;
    const char *value = NULL;

    if (run_expand(&f->trial, text, &value, &err) < 0)
        fail_msg("'%s': %s", text, err.message);
    assert_string_equal(value, expected);
}

static void assert_fails(struct fixture *f, const char *text, enum error_kind kind, const char *message)
{
    struct error err = ERROR_INIT;
    const char *value = NULL;

    assert_int_equal(run_expand(&f->trial, text, &value, &err), -1);
    assert_int_equal(err.kind, kind);
    assert_has(err.message, message);
}

/* --- containers --- */

static void on_a_bridge_by_address(void **state)
{
    struct fixture *f = *state;

    started(f);
    assert_is(f, "${app.url}", "http://172.18.0.4:8080");
    assert_is(f, "${app.host} ${app.port} ${app.name}", "172.18.0.4 8080 app");
    assert_is(f, "${mock.host}", "172.18.0.3");
    assert_is(f, "${database.host}:${database.port}/${database.name}", "172.18.0.2:5432/bench");
    assert_is(f, "${database.url}", "postgresql://postgres@172.18.0.2:5432/bench");
}

/* A container's own environment is filled in before it exists: it is reached by its name on the network. */
static void before_it_has_an_address_by_name(void **state)
{
    struct fixture *f = *state;

    assert_is(f, "${app.host}:${app.port}", "app:8080");
    assert_is(f, "${database.host}:${database.port}", "database:5432");
    assert_is(f, "${mock.host}", "mock");
}

/* On the host's network the ports are those that were given out, whatever is written. */
static void on_the_host_by_loopback(void **state)
{
    struct fixture *f = *state;

    f->settings.network = NETWORK_HOST;
    started(f);
    f->app.address = f->db.address = NULL;
    f->app.port = 40001;
    f->db.port = 40002;
    assert_is(f, "${app.url}", "http://127.0.0.1:40001");
    assert_is(f, "${database.host}:${database.port}", "127.0.0.1:40002");
    f->app.address = app_address; /* even then */
    assert_is(f, "${app.host}", "127.0.0.1");
}

static void what_has_no_port_has_no_url(void **state)
{
    struct fixture *f = *state;

    assert_fails(f, "${mock.port}", ERROR_INVALID, "unresolved '${mock.port}'");
    assert_fails(f, "${mock.url}", ERROR_INVALID, "unresolved '${mock.url}'");
}

static void unknown_names(void **state)
{
    struct fixture *f = *state;

    assert_fails(f, "${app}", ERROR_INVALID, "unresolved '${app}'");
    assert_fails(f, "${app.colour}", ERROR_INVALID, "unresolved '${app.colour}'");
    assert_fails(f, "${database.colour}", ERROR_INVALID, "unresolved");
    assert_fails(f, "${nobody.host}", ERROR_INVALID, "unresolved '${nobody.host}'");
    assert_fails(f, "a ${app.host", ERROR_INVALID, "closing brace");
    f->settings.database = NULL;
    assert_fails(f, "${database.host}", ERROR_INVALID, "unresolved");
}

static void texts_without_references(void **state)
{
    struct fixture *f = *state;
    struct error err = ERROR_INIT;
    const char *value = "old";

    assert_is(f, "", "");
    assert_is(f, "plain $HOME $(x) {y}", "plain $HOME $(x) {y}");
    assert_is(f, "$${app.host}", "${app.host}"); /* escaped: nothing of ours */
    assert_is(f, "$${a}${app.port}", "${a}8080");
    assert_int_equal(run_expand(&f->trial, NULL, &value, &err), 0);
    assert_null(value);
}

/* --- the database --- */

static void who_connects(void **state)
{
    struct fixture *f = *state;

    assert_is(f, "${database.user}/${database.password}", "postgres/");
    f->database.user = "bench";
    f->database.password = "p@ss/word";
    assert_is(f, "${database.user}/${database.password}", "bench/p@ss/word");
    assert_is(f, "${database.url}", "postgresql://bench:p%40ss%2Fword@database:5432/bench");
}

static void an_existing_server_by_its_url(void **state)
{
    struct fixture *f = *state;

    f->database.service = NULL;
    f->database.url = "postgresql://ann:hidden@db.example:6543/postgres";
    assert_is(f, "${database.host} ${database.port} ${database.user} ${database.name}",
              "db.example 6543 ann bench");
    assert_is(f, "${database.password}", "hidden");
    assert_is(f, "${database.url}", "postgresql://ann:hidden@db.example:6543/bench");
    f->database.user = "bob";
    assert_is(f, "${database.user}", "bob");
    f->database.url = "mysql://x";
    assert_fails(f, "${database.host}", ERROR_INVALID, "");
}

/* --- secrets --- */

static void secrets_come_from_the_environment(void **state)
{
    struct fixture *f = *state;
    struct error err = ERROR_INIT;
    const char *value;

    (void)unsetenv("BENCHCTL_TEST_SECRET");
    assert_int_equal(run_expand(&f->trial, "${secret:BENCHCTL_TEST_SECRET}", &value, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_has(err.message, "the secret 'BENCHCTL_TEST_SECRET' is not in the environment");
    assert_has(err.hint, "export BENCHCTL_TEST_SECRET=");
    (void)setenv("BENCHCTL_TEST_SECRET", "s3cret ${app.host}", 1);
    assert_is(f, "x${secret:BENCHCTL_TEST_SECRET}y", "xs3cret ${app.host}y"); /* taken as it is */
    (void)unsetenv("BENCHCTL_TEST_SECRET");
}

/* What others refer to may itself be a secret. */
static void secrets_inside_the_database(void **state)
{
    struct fixture *f = *state;

    (void)setenv("BENCHCTL_TEST_SECRET", "s3cret", 1);
    f->database.password = "${secret:BENCHCTL_TEST_SECRET}";
    assert_is(f, "${database.password}", "s3cret");
    f->database.password = NULL;
    f->database.service = NULL;
    f->database.url = "postgresql://ann:${secret:BENCHCTL_TEST_SECRET}@db.example/x";
    assert_is(f, "${database.password}@${database.host}", "s3cret@db.example");
    (void)unsetenv("BENCHCTL_TEST_SECRET");
    assert_fails(f, "${database.host}", ERROR_ENVIRONMENT, "the secret 'BENCHCTL_TEST_SECRET'");
}

static void a_value_cannot_refer_to_itself(void **state)
{
    struct fixture *f = *state;

    f->database.password = "${database.password}";
    assert_fails(f, "${database.password}", ERROR_INVALID, "unresolved '${database.password}'");
}

/* --- the trial's own numbers --- */

static void numbers_of_the_trial(void **state)
{
    struct fixture *f = *state;
    struct trial *r = &f->trial.record;

    r->has_load = true;
    r->load.ok = 1234;
    r->load.error_rate = 0.0125;
    r->has_database = true;
    r->database.rollbacks = 3;
    r->app.restarts = 2;
    assert_is(f, "select count(*) - ${load.ok} from survey", "select count(*) - 1234 from survey");
    assert_is(f, "${load.error_rate} ${database.rollbacks} ${app.restarts}", "0.0125 3 2");
    assert_is(f, "${app.port}", "8080"); /* a name that no record has is still the container's */
}

static void large_counts_are_written_whole(void **state)
{
    struct fixture *f = *state;

    f->trial.record.has_load = true;
    f->trial.record.load.ok = 123456789012;
    assert_is(f, "${load.ok}", "123456789012");
}

static void numbers_that_were_not_measured(void **state)
{
    struct fixture *f = *state;

    assert_fails(f, "${load.ok}", ERROR_TRIAL, "'load.ok' was not measured");
    assert_fails(f, "${metrics.heap.max}", ERROR_TRIAL, "'metrics.heap.max' was not measured");
}

/* A container's environment is filled in before anything is measured: numbers are no part of it. */
static void containers_cannot_refer_to_numbers(void **state)
{
    struct fixture *f = *state;
    struct error err = ERROR_INIT;
    const char *value = NULL;

    f->trial.record.has_load = true;
    f->trial.record.load.ok = 5;
    assert_int_equal(run_expand_for(&f->sweep, &f->settings, f->trial.arena, "${load.ok}", &value, &err), -1);
    assert_has(err.message, "unresolved '${load.ok}'");
    err = (struct error)ERROR_INIT;
    assert_int_equal(run_expand_for(&f->sweep, &f->settings, f->trial.arena, "${app.port}", &value, &err), 0);
    assert_string_equal(value, "8080");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(on_a_bridge_by_address),
        TEST(before_it_has_an_address_by_name),
        TEST(on_the_host_by_loopback),
        TEST(what_has_no_port_has_no_url),
        TEST(unknown_names),
        TEST(texts_without_references),
        TEST(who_connects),
        TEST(an_existing_server_by_its_url),
        TEST(secrets_come_from_the_environment),
        TEST(secrets_inside_the_database),
        TEST(a_value_cannot_refer_to_itself),
        TEST(numbers_of_the_trial),
        TEST(large_counts_are_written_whole),
        TEST(numbers_that_were_not_measured),
        TEST(containers_cannot_refer_to_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
