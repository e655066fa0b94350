/* SPDX-License-Identifier: MIT */
/* A sweep told to the module, and what the service manager and the run directory get to see of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>
#include "internal.h"

static char written[2][8192];
static int writes;

static void on_write(const char *file, const void *bytes, size_t len, void *data)
{
    (void)data;
    writes++;
    (void)snprintf(written[strcmp(file, "status.html") == 0], sizeof(written[0]), "%.*s", (int)len,
                   (const char *)bytes);
}

static int manager(const char *name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    size_t len = strlen(name);

    memcpy(a.sun_path, name, len);
    if (name[0] == '@')
        a.sun_path[0] = '\0';
    assert_int_equal(
        bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)), 0);
    return fd;
}

/* Everything said so far, one message a line. */
static const char *heard(int fd)
{
    static char all[16384];
    size_t len = 0;
    ssize_t n;

    while (len + 2048 < sizeof(all) && (n = recv(fd, all + len, 2047, 0)) > 0) {
        len += (size_t)n;
        all[len++] = '\n';
    }
    all[len] = '\0';
    return all;
}

static struct watch *open_watch(struct loop *l)
{
    const struct watch_options o = {.dir = "/tmp", .name = "w", .write = on_write};
    struct watch *w = NULL;
    struct error err = ERROR_INIT;

    writes = 0;
    assert_int_equal(watch_open(l, &o, &w, &err), 0);
    return w;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' does not contain '%s'", text, part);
}

static void a_sweep_as_the_manager_hears_it(const char *name)
{
    CLEANUP(loop_free) struct loop *l = NULL;
    struct error err = ERROR_INIT;
    int fd = manager(name);
    struct trial t;

    assert_int_equal(loop_new(&l, &err), 0);
    assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
    assert_int_equal(setenv("WATCHDOG_USEC", "40000", 1), 0);
    CLEANUP(watch_close) struct watch *w = open_watch(l);
    assert_null(getenv("NOTIFY_SOCKET")); /* a load generator must not speak for the service */
    has(heard(fd), "READY=1");
    watch_progress(
        w, &(struct watch_progress){
               .trial = 1, .trials = 2, .scenario = "a", .step = "load", .eta_ns = -1, .trial_limit_ns = -1});
    has(heard(fd), "STATUS=1/2 a: load");
    assert_int_equal(loop_sleep_until(l, clock_now_ns() + 100 * NS_PER_MS, &err), 0);
    has(heard(fd), "WATCHDOG=1");
    trial_init(&t);
    t.scenario = "a";
    t.trial = t.attempt = 1;
    t.outcome = OUTCOME_INVALID;
    watch_trial(w, &t, false);
    t.attempt = 2;
    t.outcome = OUTCOME_OK;
    watch_trial(w, &t, false); /* tried again with success: no failure */
    watch_kept(w, OUTCOME_DEGRADED);
    watch_stopping(w);
    has(heard(fd), "STOPPING=1\nEXTEND_TIMEOUT_USEC=");
    has(written[0], "\"state\": \"stopping\"");
    watch_end(w, &(struct watch_ending){.state = WATCH_INTERRUPTED, .reason = "why <not>"});
    has(written[0], "\"state\": \"interrupted\"");
    assert_null(strstr(watch_line(w), "nan")); /* it is at no trial any more */
    has(written[0], "\"first_failure\": null");
    has(written[0], "\"sealed\": 2");
    has(written[0], "\"degraded\": 1");
    has(written[1], "why &lt;not&gt;");
    has(heard(fd), "EXTEND_TIMEOUT_USEC=7200000000"); /* report and bundle are written now */
    int before = writes;
    watch_report(w, 130, NULL);
    watch_write(w);
    assert_int_equal(writes, before); /* the directory is another's by now */
    has(heard(fd), "exit code 130");
    (void)close(fd);
}

static void by_a_path(void **state)
{
    (void)state;
    char name[] = "/tmp/benchctl-notify-XXXXXX";

    assert_non_null(mkdtemp(name));
    char *path = xasprintf("%s/s", name);
    a_sweep_as_the_manager_hears_it(path);
    (void)unlink(path);
    (void)rmdir(name);
    free(path);
}

static void by_an_abstract_name(void **state)
{
    (void)state;
    char *name = xasprintf("@benchctl-test-%d", (int)getpid());

    a_sweep_as_the_manager_hears_it(name);
    free(name);
}

static void without_a_manager_nothing_is_an_error(void **state)
{
    (void)state;
    static const char *const names[] = {"", "/nowhere/s", "relative", "@", "/"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        CLEANUP(loop_free) struct loop *l = NULL;
        struct error err = ERROR_INIT;
        assert_int_equal(loop_new(&l, &err), 0);
        assert_int_equal(setenv("NOTIFY_SOCKET", names[i], 1), 0);
        assert_int_equal(setenv("WATCHDOG_USEC", "-5", 1), 0);
        CLEANUP(watch_close) struct watch *w = open_watch(l);
        watch_progress(w, &(struct watch_progress){.step = "engine", .eta_ns = -1, .trial_limit_ns = -1});
        has(written[0], "waiting for the engine");
        watch_end(w, &(struct watch_ending){.state = WATCH_FAILED, .reason = "no"});
        watch_report(w, 3, NULL);
    }
}

static void the_first_failure_is_kept(void **state)
{
    (void)state;
    CLEANUP(loop_free) struct loop *l = NULL;
    struct error err = ERROR_INIT;
    struct trial t;

    assert_int_equal(loop_new(&l, &err), 0);
    CLEANUP(watch_close) struct watch *w = open_watch(l);
    trial_init(&t);
    t.trial = t.attempt = 1;
    static const struct {
        const char *scenario;
        enum outcome outcome;
        bool expected;
    } trials[] = {{"a", OUTCOME_DEGRADED, false},
                  {"b", OUTCOME_CRASHED, true},
                  {"c", OUTCOME_SKIPPED, false},
                  {"d", OUTCOME_NOT_READY, false},
                  {"e", OUTCOME_ERROR, false}};
    for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
        watch_trial_begun(w, trials[i].scenario, 1);
        t.scenario = trials[i].scenario;
        t.outcome = trials[i].outcome;
        watch_trial(w, &t, trials[i].expected);
    }
    watch_end(w, &(struct watch_ending){.state = WATCH_COMPLETE});
    has(strstr(written[0], "\"first_failure\""), "\"scenario\": \"d\"");
    has(strstr(written[0], "\"last\""), "\"scenario\": \"e\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_a_path),
        cmocka_unit_test(by_an_abstract_name),
        cmocka_unit_test(without_a_manager_nothing_is_an_error),
        cmocka_unit_test(the_first_failure_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
