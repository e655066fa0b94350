/* SPDX-License-Identifier: MIT */
#include "benchctl/base/process.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <cmocka.h>
#include "benchctl/base/clock.h"

static int open_loop(void **state)
{
    struct error err;

    return loop_new((struct loop **)state, &err);
}

static int close_loop(void **state)
{
    loop_free(*state);
    return 0;
}

struct counter {
    int count, limit;
    bool done;
    struct loop_timer *timer;
};

static void count(void *data)
{
    struct counter *c = data;

    if (++c->count >= c->limit)
        c->done = true;
}

static void timers_fire_in_order_and_repeat(void **state)
{
    struct loop *l = *state;
    struct counter late = {.limit = 1}, often = {.limit = 3};
    struct error err = ERROR_INIT;
    int64_t now = clock_now_ns();

    struct loop_timer *a = loop_add_timer(l, now + 40 * NS_PER_MS, 0, count, &late);
    struct loop_timer *b = loop_add_timer(l, now + NS_PER_MS, NS_PER_MS, count, &often);
    assert_int_equal(loop_wait_until(l, &often.done, now + 10 * NS_PER_S, &err), 0);
    assert_int_equal(late.count, 0);
    loop_remove_timer(b);
    assert_int_equal(loop_wait_until(l, &late.done, now + 10 * NS_PER_S, &err), 0);
    assert_int_equal(late.count, 1);
    loop_set_timer(a, clock_now_ns(), 0);
    late.done = false;
    assert_int_equal(loop_wait_until(l, &late.done, clock_now_ns() + 10 * NS_PER_S, &err), 0);
    loop_remove_timer(a);
}

static void remove_itself(void *data)
{
    struct counter *c = data;

    c->count++;
    c->done = true;
    loop_remove_timer(c->timer);
}

static void a_timer_may_remove_itself(void **state)
{
    struct loop *l = *state;
    struct counter c = {0};
    struct error err = ERROR_INIT;

    c.timer = loop_add_timer(l, clock_now_ns(), NS_PER_MS, remove_itself, &c);
    assert_int_equal(loop_wait_until(l, &c.done, clock_now_ns() + 10 * NS_PER_S, &err), 0);
    assert_int_equal(loop_sleep_until(l, clock_now_ns() + 5 * NS_PER_MS, &err), 0);
    assert_int_equal(c.count, 1);
}

static void deadlines_and_interruptions(void **state)
{
    struct loop *l = *state;
    struct error err = ERROR_INIT;
    bool never = false;

    assert_int_equal(loop_wait_until(l, &never, clock_now_ns() + NS_PER_MS, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMEOUT);
    loop_interrupt(l);
    assert_int_equal(loop_wait_until(l, &never, LOOP_FOREVER, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    loop_shield(l, +1); /* cleaning up is not interrupted */
    assert_false(loop_interrupted(l));
    assert_int_equal(loop_sleep_until(l, clock_now_ns() + NS_PER_MS, &err), 0);
    loop_shield(l, -1);
    assert_true(loop_interrupted(l));
}

static void on_pipe(int fd, unsigned events, void *data)
{
    struct counter *c = data;
    char byte;

    if (events & LOOP_READ)
        c->count += read(fd, &byte, 1) == 1;
    if (events & LOOP_HANGUP)
        c->done = true;
}

static void descriptors_are_watched(void **state)
{
    struct loop *l = *state;
    struct counter c = {0};
    struct error err = ERROR_INIT;
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    struct loop_fd *w = loop_add_fd(l, fds[0], LOOP_READ, on_pipe, &c);
    assert_int_equal(write(fds[1], "ab", 2), 2);
    (void)close(fds[1]);
    assert_int_equal(loop_wait_until(l, &c.done, clock_now_ns() + 10 * NS_PER_S, &err), 0);
    assert_true(c.count >= 1);
    loop_remove_fd(w);
    (void)close(fds[0]);
}

static void note_events(int fd, unsigned events, void *data)
{
    (void)fd;
    *(unsigned *)data |= events;
}

/* The peer will say nothing more, but may still listen: that is no hang-up. */
static void the_end_of_a_peer_is_told_to_who_asks(void **state)
{
    static const unsigned asked[] = {LOOP_READ, LOOP_READ | LOOP_PEER_CLOSED};
    struct loop *l = *state;
    struct error err = ERROR_INIT;

    for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
        unsigned seen = 0;
        int fds[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
        struct loop_fd *w = loop_add_fd(l, fds[0], asked[i], note_events, &seen);
        assert_int_equal(write(fds[1], "a", 1), 1);
        assert_int_equal(shutdown(fds[1], SHUT_WR), 0);
        assert_int_equal(loop_sleep_until(l, clock_now_ns() + NS_PER_MS, &err), 0);
        assert_int_equal(seen, asked[i]);
        loop_remove_fd(w);
        (void)close(fds[0]);
        (void)close(fds[1]);
    }
}

static void adding_can_fail(void **state)
{
    errno = 0;
    assert_null(loop_try_add_fd(*state, -1, LOOP_READ, note_events, NULL));
    assert_int_equal(errno, EBADF);
}

static void on_signal(int signo, void *data)
{
    *(int *)data = signo;
}

static void signals_come_through_the_loop(void **state)
{
    struct loop *l = *state;
    struct error err = ERROR_INIT;
    int seen = 0;

    assert_int_equal(loop_catch_signals(l, on_signal, &seen, &err), 0);
    assert_int_equal(raise(SIGTERM), 0);
    assert_int_equal(loop_sleep_until(l, clock_now_ns() + 20 * NS_PER_MS, &err), 0);
    assert_int_equal(seen, SIGTERM);
}

/* --- processes --- */

static int capture(struct loop *l, const char *const *argv, struct process_output *out, struct error *err)
{
    const struct process_options o = {.argv = argv, .stdout_fd = -1, .stderr_fd = -1};

    return process_capture(l, &o, clock_now_ns() + 10 * NS_PER_S, out, err);
}

static void output_and_status_come_back(void **state)
{
    const char *const argv[] = {"sh", "-c", "echo out; echo err >&2; exit 3", NULL};
    struct process_output out;
    struct error err = ERROR_INIT;
    char text[64];

    assert_int_equal(capture(*state, argv, &out, &err), 0);
    assert_string_equal(out.out, "out\n");
    assert_string_equal(out.err_text, "err\n");
    assert_string_equal(process_status_text(out.status, text), "exit status 3");
    process_output_release(&out);
}

static void a_missing_program_is_named(void **state)
{
    const char *const argv[] = {"no-such-program-here", NULL};
    struct process_output out;
    struct error err = ERROR_INIT;

    assert_int_equal(capture(*state, argv, &out, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_non_null(strstr(err.message, "no-such-program-here"));
}

static void a_file_that_is_no_program_is_named(void **state)
{
    const char *const argv[] = {"/etc", NULL};
    struct process_output out;
    struct error err = ERROR_INIT;

    assert_int_equal(capture(*state, argv, &out, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
}

/* The parent ignores TERM and has children of its own: stop ends the whole group, and says so only when
 * nobody is left. */
static void stopping_ends_the_whole_group(void **state)
{
    const char *const argv[] = {
        "sh", "-c", "trap '' TERM; sleep 300 & sleep 300 & while :; do wait; sleep 1; done", NULL};
    const struct process_options o = {.argv = argv, .stdout_fd = -1, .stderr_fd = -1};
    struct process *p;
    struct error err = ERROR_INIT;

    assert_int_equal(process_start(*state, &o, &p, &err), 0);
    pid_t group = process_pid(p);
    assert_int_not_equal(group, getpgrp());
    assert_int_equal(loop_sleep_until(*state, clock_now_ns() + 100 * NS_PER_MS, &err), 0);
    assert_int_equal(process_stop(p, 100 * NS_PER_MS, &err), 0);
    assert_true(WIFSIGNALED(process_status(p)));
    assert_int_equal(kill(-group, 0), -1);
    process_free(p);
}

static void the_environment_is_added_to(void **state)
{
    const char *const argv[] = {"sh", "-c", "echo $BENCHCTL_X $HOME", NULL};
    const char *const env[] = {"BENCHCTL_X=1", "HOME=/nowhere", NULL};
    const struct process_options o = {.argv = argv, .env = env, .stdout_fd = -1, .stderr_fd = -1};
    struct process_output out;
    struct error err = ERROR_INIT;

    assert_int_equal(process_capture(*state, &o, clock_now_ns() + 10 * NS_PER_S, &out, &err), 0);
    assert_string_equal(out.out, "1 /nowhere\n");
    process_output_release(&out);
}

static void a_piece_of_the_work_is_interrupted(void **state)
{
    struct loop *l = *state;
    struct error err = ERROR_INIT;
    bool never = false;

    assert_false(loop_piece_over(l)); /* nobody asked */
    loop_interrupt_piece(l);
    loop_shield(l, +1);
    assert_false(loop_interrupted(l));
    loop_shield(l, -1);
    assert_int_equal(loop_wait_until(l, &never, LOOP_FOREVER, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_true(loop_piece_over(l));
    assert_false(loop_interrupted(l));
    assert_int_equal(loop_sleep_until(l, clock_now_ns() + NS_PER_MS, &err), 0); /* the next piece goes on */
    loop_interrupt_piece(l);
    loop_interrupt(l); /* for good: the wish of less is forgotten */
    assert_false(loop_piece_over(l));
    assert_true(loop_interrupted(l));
}

static void more_signals_are_caught(void **state)
{
    struct loop *l = *state;
    struct error err = ERROR_INIT;
    int seen = 0;

    assert_int_equal(loop_catch_signals(l, on_signal, &seen, &err), 0);
    assert_int_equal(loop_catch_also(l, SIGUSR1, &err), 0);
    assert_int_equal(raise(SIGUSR1), 0);
    assert_int_equal(loop_sleep_until(l, clock_now_ns() + 20 * NS_PER_MS, &err), 0);
    assert_int_equal(seen, SIGUSR1);
    assert_int_equal(raise(SIGHUP), 0); /* the first ones still are */
    assert_int_equal(loop_sleep_until(l, clock_now_ns() + 20 * NS_PER_MS, &err), 0);
    assert_int_equal(seen, SIGHUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(timers_fire_in_order_and_repeat, open_loop, close_loop),
        cmocka_unit_test_setup_teardown(a_timer_may_remove_itself, open_loop, close_loop),
        cmocka_unit_test_setup_teardown(deadlines_and_interruptions, open_loop, close_loop),
        cmocka_unit_test_setup_teardown(a_piece_of_the_work_is_interrupted, open_loop, close_loop),
        cmocka_unit_test_setup_teardown(more_signals_are_caught, open_loop, close_loop),
        cmocka_unit_test_setup_teardown(descriptors_are_watched, open_loop, close_loop),
        cmocka_unit_test_setup_teardown(the_end_of_a_peer_is_told_to_who_asks, open_loop, close_loop),
        cmocka_unit_test_setup_teardown(adding_can_fail, open_loop, close_loop),
        cmocka_unit_test_setup_teardown(signals_come_through_the_loop, open_loop, close_loop),
        cmocka_unit_test_setup_teardown(output_and_status_come_back, open_loop, close_loop),
        cmocka_unit_test_setup_teardown(a_missing_program_is_named, open_loop, close_loop),
        cmocka_unit_test_setup_teardown(a_file_that_is_no_program_is_named, open_loop, close_loop),
        cmocka_unit_test_setup_teardown(stopping_ends_the_whole_group, open_loop, close_loop),
        cmocka_unit_test_setup_teardown(the_environment_is_added_to, open_loop, close_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
