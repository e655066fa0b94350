/* SPDX-License-Identifier: MIT */
/* Thousands of channels at once, against a server in a process of its own: memory, descriptors and CPU time
 * are counted. */
#include <dirent.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include "caller.h"
#include "peer.h"

#define OK2 "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define BATCH 400 /* fewer than a listener's queue holds */

#define IS_PLAIN (UNDER_TEST == TRANSPORT_AUTO)
#define CHANNELS ((size_t)9500) /* and as many descriptors; the server has as many as we */
/* plain: the channel, what watches it, and what malloc() adds */
#define BYTES_EACH_MAX ((size_t)(IS_PLAIN ? 700 : 16000))
/* curl: channels that share a pool of connections; the connection of one that went may stay until all did */
#define POOL 32

#ifdef __SANITIZE_ADDRESS__
#define COUNTS_MEMORY false
#else
#define COUNTS_MEMORY true
#endif

#define COST_RATIO_MAX 6 /* caches hold less of what is used less often */

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

/* --- what one costs among many --- */

struct turn {
    struct user *users;
    size_t count, ended;
    bool over;
};

#define EXCHANGES 200

static void take_turn(struct turn *t);

static void on_turn_done(struct exchange *x, void *data)
{
    assert_error(x, REQUEST_OK);
    take_turn(data);
}

/* One after the other, on channels that lie as far apart as can be. */
static void take_turn(struct turn *t)
{
    struct user *u = &t->users[t->ended * t->count / EXCHANGES];

    if (t->ended++ == EXCHANGES) {
        t->over = true;
        return;
    }
    u->x.done = on_turn_done;
    u->x.data = t;
    channel_start(u->channel, &u->x);
}

static int64_t cpu_ns(void)
{
    struct timespec t;

    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* CPU time of some exchanges: of several tries the least, as others on the machine may make them slow. */
static int64_t cost_ns(struct caller *c, struct user *users, size_t count)
{
    int64_t least = INT64_MAX;

    for (int try = 0; try < 5; try++) {
        struct turn t = {.users = users, .count = count};
        struct error err = ERROR_INIT;
        int64_t before = cpu_ns();
        take_turn(&t);
        if (loop_wait_until(c->loop, &t.over, clock_now_ns() + 60 * NS_PER_S, &err) < 0)
            fail_msg("%s", err.message);
        int64_t cost = cpu_ns() - before;
        least = cost < least ? cost : least;
    }
    return least;
}

/* What they cost while there are few. */
static int64_t least_cost_ns(struct caller *c)
{
    struct user users[20] = {0};

    run(c, users, ARRAY_LEN(users));
    int64_t cost = cost_ns(c, users, ARRAY_LEN(users));
    for (size_t i = 0; i < ARRAY_LEN(users); i++)
        channel_free(users[i].channel);
    return cost;
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

static void thousands_of_channels_at_bounded_cost(void **state)
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
    int64_t few_ns = least_cost_ns(&c);
    for (int round = 0; round < 2; round++) {
        size_t before = mallinfo2().uordblks;
        run(&c, users, CHANNELS);
        for (size_t i = 0; i < CHANNELS; i++)
            assert_true(users[i].x.new_connection);
        assert_true(open_files() >= files + CHANNELS);
        size_t used = mallinfo2().uordblks - before;
        if (COUNTS_MEMORY && used > CHANNELS * BYTES_EACH_MAX)
            fail_msg("%zu bytes for each channel", used / CHANNELS);
        int64_t many_ns = cost_ns(&c, users, CHANNELS);
        if (many_ns > COST_RATIO_MAX * few_ns)
            fail_msg("%ld us of CPU, with few channels %ld us", many_ns / NS_PER_US, few_ns / NS_PER_US);
        run(&c, users, CHANNELS);
        for (size_t i = 0; i < CHANNELS; i++) {
            assert_false(users[i].x.new_connection);
            channel_free(TAKE(users[i].channel));
        }
        assert_true(open_files() < files + POOL + 20);
    }
    channel_free(TAKE(c.channel));
    transport_free(TAKE(c.transport));
    assert_true(open_files() <= files);
    free(users);
    caller_close(&c);
    stop_server(server);
}

static void connections_go_with_their_channels(void **state)
{
    (void)state;
    struct caller c;
    struct user users[6 * POOL] = {0};
    int port;
    pid_t server = start_server(&port);
    caller_init(&c);
    caller_open_port(&c, port);
    run(&c, users, ARRAY_LEN(users));
    size_t files = open_files();
    for (size_t i = 0; i < ARRAY_LEN(users); i++) {
        channel_free(TAKE(users[i].channel));
        assert_true(open_files() + i + 1 <= files + (IS_PLAIN ? 0 : 2 * POOL));
    }
    caller_close(&c);
    stop_server(server);
}

static void no_channel_inherits_a_connection(void **state)
{
    (void)state;
    struct caller c;
    struct user users[6 * POOL] = {0};
    int port;
    pid_t server = start_server(&port);
    caller_init(&c);
    caller_open_port(&c, port);
    run(&c, users, ARRAY_LEN(users));
    for (size_t i = 0; i < ARRAY_LEN(users); i += 3)
        channel_free(TAKE(users[i].channel));
    run(&c, users, ARRAY_LEN(users));
    for (size_t i = 0; i < ARRAY_LEN(users); i++) {
        assert_int_equal(users[i].x.new_connection, i % 3 == 0);
        channel_free(TAKE(users[i].channel));
    }
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
        cmocka_unit_test(thousands_of_channels_at_bounded_cost),
        cmocka_unit_test(connections_go_with_their_channels),
        cmocka_unit_test(no_channel_inherits_a_connection),
        cmocka_unit_test(a_dead_server_does_not_hold_the_loop),
        cmocka_unit_test(garbage_for_everybody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
