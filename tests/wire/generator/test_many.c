/* SPDX-License-Identifier: MIT */
/* Thousands of channels at once, against a server in a process of its own: memory and descriptors are
 * counted. */
#include <dirent.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "caller.h"
#include "peer.h"

#define OK2 "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define BATCH 400 /* fewer than a listener's queue holds */

#define IS_PLAIN (UNDER_TEST == TRANSPORT_AUTO)
#define CHANNELS ((size_t)(IS_PLAIN ? 10000 : 2000))
/* plain: the channel, what watches it, and what malloc() adds */
#define BYTES_EACH_MAX ((size_t)(IS_PLAIN ? 700 : 40000))

#ifdef __SANITIZE_ADDRESS__
#define COUNTS_MEMORY false
#else
#define COUNTS_MEMORY true
#endif

struct user {
    struct channel *channel;
    struct exchange x;
    size_t *left;
    bool *over;
};

static size_t open_files(void)
{
    CLEANUP(closedir) DIR *d = opendir("/proc/self/fd");
    size_t count = 0;

    while (d && readdir(d))
        count++;
    return count;
}

/* Tells its port through `to` and serves until it is killed. */
static _Noreturn void serve(int to)
{
    static const struct peer_step steps[] = {{.answer = OK2}};
    struct error err = ERROR_INIT;
    struct peer p = {0};
    struct loop *l;
    bool never = false;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (loop_new(&l, &err) < 0)
        _exit(1);
    peer_start(&p, l, steps, 1);
    if (write(to, &p.port, sizeof(p.port)) == (ssize_t)sizeof(p.port))
        (void)!loop_wait_until(l, &never, LOOP_FOREVER, &err);
    _exit(1);
}

static pid_t start_server(int *ret_port)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0)
        serve(ends[1]);
    assert_int_equal(read(ends[0], ret_port, sizeof(*ret_port)), sizeof(*ret_port));
    (void)close(ends[0]);
    (void)close(ends[1]);
    return pid;
}

static void stop_server(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void on_done(struct exchange *x, void *data)
{
    struct user *u = data;

    assert_error(x, REQUEST_OK);
    if (--*u->left == 0)
        *u->over = true;
}

/* One exchange on each of them. */
static void run(struct caller *c, struct user *users, size_t count)
{
    for (size_t from = 0; from < count; from += BATCH) {
        size_t n = count - from < BATCH ? count - from : BATCH, left = n;
        bool over = false;
        for (size_t i = from; i < from + n; i++) {
            if (!users[i].channel)
                users[i].channel = channel_new(c->transport);
            users[i].left = &left;
            users[i].over = &over;
            users[i].x =
                (struct exchange){.kind = c->kinds, .values = &c->values, .done = on_done, .data = &users[i]};
            channel_start(users[i].channel, &users[i].x);
        }
        struct error err = ERROR_INIT;
        if (loop_wait_until(c->loop, &over, clock_now_ns() + 60 * NS_PER_S, &err) < 0)
            fail_msg("%s", err.message);
    }
}

static bool enough_files(void)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max >= CHANNELS + 100)
        return true;
    print_message("skipped: at most %lu open files here\n", (unsigned long)limit.rlim_max);
    return false;
}

static void thousands_of_channels_in_bounded_memory(void **state)
{
    (void)state;
    struct caller c;
    int port;
    if (!enough_files())
        return;
    pid_t server = start_server(&port);
    caller_init(&c);
    size_t files = open_files();
    caller_open_port(&c, port);
    struct user *users = xcalloc(CHANNELS, sizeof(*users));
    for (int round = 0; round < 2; round++) {
        size_t before = mallinfo2().uordblks;
        run(&c, users, CHANNELS);
        for (size_t i = 0; i < CHANNELS; i++)
            assert_true(users[i].x.new_connection);
        assert_true(open_files() >= files + CHANNELS);
        size_t used = mallinfo2().uordblks - before;
        if (COUNTS_MEMORY && used > CHANNELS * BYTES_EACH_MAX)
            fail_msg("%zu bytes for each channel", used / CHANNELS);
        run(&c, users, CHANNELS);
        for (size_t i = 0; i < CHANNELS; i++) {
            assert_false(users[i].x.new_connection);
            channel_free(TAKE(users[i].channel));
        }
        if (IS_PLAIN)
            assert_true(open_files() < files + 20);
    }
    channel_free(TAKE(c.channel));
    transport_free(TAKE(c.transport));
    assert_true(open_files() <= files);
    free(users);
    caller_close(&c);
    stop_server(server);
}

/* --- storms --- */

static void on_any(struct exchange *x, void *data)
{
    struct user *u = data;

    (void)x;
    if (--*u->left == 0)
        *u->over = true;
    else
        channel_start(u->channel, &u->x);
}

static void storm(struct caller *c, size_t count, size_t exchanges)
{
    struct user *users = xcalloc(count, sizeof(*users));
    struct error err = ERROR_INIT;
    bool over = false;

    for (size_t i = 0; i < count; i++) {
        users[i] = (struct user){.channel = channel_new(c->transport), .left = &exchanges, .over = &over};
        users[i].x =
            (struct exchange){.kind = c->kinds, .values = &c->values, .done = on_any, .data = &users[i]};
        channel_start(users[i].channel, &users[i].x);
    }
    if (loop_wait_until(c->loop, &over, clock_now_ns() + 60 * NS_PER_S, &err) < 0)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < count; i++)
        channel_free(users[i].channel);
    free(users);
}

/* Everybody fails at once, again and again: others on the loop are served none the less. */
static void count_tick(void *data)
{
    ++*(int *)data;
}

static void a_dead_server_does_not_hold_the_loop(void **state)
{
    (void)state;
    struct caller c;
    int port, ticks = 0;
    pid_t server = start_server(&port);
    stop_server(server);
    caller_init(&c);
    caller_open_port(&c, port);
    struct loop_timer *t = loop_add_timer(c.loop, 0, NS_PER_MS, count_tick, &ticks);
    storm(&c, 100, 5000);
    assert_true(ticks > 1);
    loop_remove_timer(t);
    caller_close(&c);
}

static void garbage_for_everybody(void **state)
{
    (void)state;
    static const struct peer_step steps[] = {{.answer = "garbage\r\n\r\n", .end = PEER_RESET},
                                             {.answer = OK2 "more", .end = PEER_CLOSE},
                                             {.end = PEER_RESET},
                                             {.answer = "HTTP/1.1 200 OK\r\n\r\nx", .end = PEER_RESET}};
    struct peer_step many[400];
    struct caller c;
    struct peer p = {0};
    for (size_t i = 0; i < ARRAY_LEN(many); i++)
        many[i] = steps[i * 7 / 3 % ARRAY_LEN(steps)];
    caller_init(&c);
    peer_start(&p, c.loop, many, ARRAY_LEN(many));
    caller_open_port(&c, p.port);
    storm(&c, 50, 2000);
    peer_stop(&p);
    caller_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thousands_of_channels_in_bounded_memory),
        cmocka_unit_test(a_dead_server_does_not_hold_the_loop),
        cmocka_unit_test(garbage_for_everybody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
