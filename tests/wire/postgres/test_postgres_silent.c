/* SPDX-License-Identifier: MIT */
/*
 * A server that falls silent: all connections stay, new ones are accepted, and nothing is said any more. Each
 * call goes through a relay that lets so many pieces pass, and must end soon after its deadline; then the
 * relay speaks again, and so must the call. Most of that is waiting: each call has a process of its own.
 */
#include <poll.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <arpa/inet.h>
#include "seeded.h"
#include "internal.h"

#define PLENTY 1000000
#define PLACES 3 /* of a conversation where silence begins */
#define LATE_NS                                                                                              \
    (25 * NS_PER_S) /* a cancel is tried for up to 4 s, twice; a minute is a statement's own limit */
#define REACH_NS (90 * NS_PER_S) /* a place that is not reached in this time */

/* --- the relay */

#define SESSIONS 16 /* of one relay at a time */
#define LOOK_MS 5   /* whether silence is over */

struct relay {
    pid_t pid;
    int port;
    atomic_long *left; /* so many pieces may still pass, both ways, of all sessions; below 0: silence */
};

struct session {
    int ends[2]; /* of the client and of the server; 0: none */
    bool silent; /* for good: it ends when the silence does */
};

static void hang_up(struct session *s)
{
    (void)close(s->ends[0]);
    (void)close(s->ends[1]);
    *s = (struct session){0};
}

static void take_session(int listener, struct session *sessions)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                   .sin_port = htons((uint16_t)server.port)};
    int client = accept(listener, NULL, NULL), up = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t i = 0;

    while (i < SESSIONS && sessions[i].ends[0])
        i++;
    if (i == SESSIONS || client < 0 || connect(up, (const struct sockaddr *)&to, sizeof(to)) < 0)
        _exit(1);
    sessions[i] = (struct session){.ends = {client, up}};
}

static void pass_on(struct session *s, int from, atomic_long *left)
{
    char buf[16384];
    ssize_t n = read(s->ends[from], buf, sizeof(buf));

    if (n <= 0)
        hang_up(s);
    else if (atomic_fetch_sub(left, 1) <= 0)
        s->silent = true;
    else if (write(s->ends[!from], buf, (size_t)n) != n)
        hang_up(s);
}

/* What is listened to; true when one is silent. */
static bool listen_to(const struct session *sessions, struct pollfd *fds)
{
    bool silent = false;

    for (size_t i = 0; i < 2 * SESSIONS; i++) {
        const struct session *s = &sessions[i / 2];
        fds[i] = (struct pollfd){.fd = s->ends[0] && !s->silent ? s->ends[i % 2] : -1, .events = POLLIN};
        silent |= s->silent;
    }
    return silent;
}

static void relay(int listener, atomic_long *left)
{
    struct session sessions[SESSIONS] = {0};

    for (;;) {
        struct pollfd fds[2 * SESSIONS + 1];
        bool silent = listen_to(sessions, fds);
        fds[2 * SESSIONS] = (struct pollfd){.fd = listener, .events = POLLIN};
        (void)poll(fds, ARRAY_LEN(fds), silent ? LOOK_MS : -1);
        for (size_t i = 0; i < 2 * SESSIONS; i++) {
            struct session *s = &sessions[i / 2];
            if (s->silent && atomic_load(left) > 0)
                hang_up(s);
            else if (fds[i].revents && s->ends[0] && !s->silent)
                pass_on(s, i % 2, left);
        }
        if (fds[2 * SESSIONS].revents)
            take_session(listener, sessions);
    }
}

static bool relay_start(struct relay *r)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    r->left = mmap(NULL, sizeof(*r->left), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r->left == MAP_FAILED || listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof(at)) < 0 ||
        listen(listener, 16) < 0 || getsockname(listener, (struct sockaddr *)&at, &len) < 0)
        return false;
    atomic_store(r->left, PLENTY);
    r->port = ntohs(at.sin_port);
    r->pid = fork();
    if (r->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        relay(listener, r->left);
    }
    (void)close(listener);
    return r->pid > 0;
}

/* --- the calls */

struct talk {
    struct relay relay;
    struct loop *loop;
    struct postgres *p;
    bool guest;
    char name[32];
    int others;
    int seeds; /* so far: each has a digest of its own */
    int64_t deadline_ns;
};

static int seed(struct talk *t, struct error *err)
{
    const struct postgres_script s =
        script("small.sql", "CREATE TABLE t(a serial, b text);\nCOPY t FROM stdin;\n1\ta\n2\tb\n\\.\n"
                            "INSERT INTO t SELECT g + 2, 'x' FROM generate_series(1, 1000) g;\n"
                            "COPY t TO stdout;\n");
    char digest[32];

    (void)snprintf(digest, sizeof(digest), "%04d%.20s", t->seeds, t->name);
    if (postgres_seed(t->p, &s, 1, digest, err) < 0)
        return -1;
    t->seeds++;
    return 0;
}

static int reset_by_mode(struct talk *t, enum reset_mode mode, struct error *err)
{
    struct postgres_reset_result r;

    return postgres_reset(t->p, mode, &r, err);
}

static int by_template(struct talk *t, struct error *err)
{
    return reset_by_mode(t, RESET_TEMPLATE, err);
}

static int by_truncate(struct talk *t, struct error *err)
{
    return reset_by_mode(t, RESET_TRUNCATE, err);
}

static int by_recreate(struct talk *t, struct error *err)
{
    return reset_by_mode(t, RESET_RECREATE, err);
}

static int by_none(struct talk *t, struct error *err)
{
    return reset_by_mode(t, RESET_NONE, err);
}

/* The first reading: of later ones, what is asked last may be missing. */
static int counters(struct talk *t, struct error *err)
{
    struct postgres_counters c;

    t->p->counted = false;
    return postgres_counters(t->p, &c, err);
}

static int glance(struct talk *t, struct error *err)
{
    struct postgres_counters c;

    return postgres_glance(t->p, &c, err);
}

static int activity(struct talk *t, struct error *err)
{
    struct postgres_activity a;

    return postgres_activity(t->p, &a, err);
}

static int await_leave(struct talk *t, struct error *err)
{
    int left = 0;

    return postgres_await_leave(t->p, clock_now_ns() + 600 * NS_PER_S, &left, err);
}

static int await_told(struct talk *t, struct error *err)
{
    bool told = false;

    return postgres_await_told(t->p, &told, err);
}

static int calm(struct talk *t, struct error *err)
{
    return postgres_calm(t->p, err);
}

static int checkpoint(struct talk *t, struct error *err)
{
    return postgres_checkpoint(t->p, err);
}

static int query(struct talk *t, struct error *err)
{
    CLEANUP_FREE char *value = NULL;

    return postgres_query(t->p, "SELECT count(*) FROM t", &value, err);
}

/* Of all that was made before. */
static int drop(struct talk *t, struct error *err)
{
    return postgres_drop(t->p, err);
}

static int connect_to(struct talk *t, const char *name, int64_t deadline_ns, struct postgres **ret,
                      struct error *err)
{
    CLEANUP_FREE char *url =
        xasprintf("postgresql://postgres@127.0.0.1:%d/%s?sslmode=disable", t->relay.port, name);
    const struct postgres_options guest = {.url = url, .ready_deadline_ns = deadline_ns},
                                  own = {.host = "127.0.0.1",
                                         .port = t->relay.port,
                                         .user = "postgres",
                                         .name = name,
                                         .ready_deadline_ns = deadline_ns};

    return postgres_connect(t->loop, t->guest ? &guest : &own, ret, err);
}

static int another(struct talk *t, struct error *err)
{
    CLEANUP(postgres_close) struct postgres *p = NULL;
    CLEANUP_FREE char *name = xasprintf("another_%d", ++t->others);

    return connect_to(t, name, t->deadline_ns, &p, err);
}

struct call {
    const char *name;
    int (*go)(struct talk *t, struct error *err);
    bool odd;   /* the places between, and as a guest */
    bool drops; /* there must be something to drop */
};

static const struct call call_list[] = {
    {"connect", another, false, false},
    {"connect", another, true, false},
    {"seed", seed, false, false},
    {"seed", seed, true, false},
    {"template", by_template, false, false},
    {"template", by_template, true, false},
    {"truncate", by_truncate, false, false},
    {"truncate", by_truncate, true, false},
    {"recreate", by_recreate, true, false},
    {"none", by_none, false, false},
    {"counters", counters, false, false},
    {"glance", glance, false, false},
    {"activity", activity, false, false},
    {"leave", await_leave, false, false},
    {"told", await_told, false, false},
    {"calm", calm, false, false},
    {"checkpoint", checkpoint, true, false},
    {"query", query, false, false},
    {"drop", drop, true, true},
};

/* --- silence */

static bool complain(const struct call *c, long place, const char *what, const struct error *err)
{
    print_error("%s, silent after %ld pieces: %s: '%s': %s\n", c->name, place, what,
                error_kind_name(err->kind), err->message);
    return false;
}

/* The call, to its end, with so many pieces. */
static int go(struct talk *t, const struct call *c, long pieces, int64_t limit_ns, struct error *err)
{
    if (c->drops && t->p->seeds.len == 0 && (seed(t, err) < 0 || by_template(t, err) < 0))
        return -1;
    t->deadline_ns = clock_now_ns() + limit_ns;
    atomic_store(t->relay.left, pieces);
    postgres_limit(t->p, t->deadline_ns);
    int rc = c->go(t, err);
    postgres_limit(t->p, LOOP_FOREVER);
    return rc;
}

/* Silence from this place on; where that is behind the last word that the call needs, from one before. */
static bool silence_at(struct talk *t, const struct call *c, long place)
{
    for (int64_t limit_ns = NS_PER_S / 2; limit_ns < REACH_NS;) {
        struct error err = ERROR_INIT, later = ERROR_INIT;
        int rc = go(t, c, place, limit_ns, &err);
        int64_t late_ns = clock_now_ns() - t->deadline_ns;
        bool silent = atomic_exchange(t->relay.left, PLENTY) < 0;
        if (late_ns > LATE_NS)
            return complain(c, place, "ends late", &err);
        if (rc == 0 && place-- > 0)
            continue;
        if (rc == 0)
            return complain(c, 0, "succeeds", &err);
        if (err.kind != ERROR_TIMEOUT)
            return complain(c, place, "is not out of time", &err);
        if (go(t, c, PLENTY, REACH_NS, &later) < 0)
            return complain(c, place, "not well again", &later);
        if (silent)
            return true;
        limit_ns *= 2;
    }
    return complain(c, place, "is not reached", &(struct error){.kind = ERROR_NONE});
}

static bool converse(struct talk *t, const struct call *c)
{
    struct error err = ERROR_INIT;

    if (loop_new(&t->loop, &err) < 0 || connect_to(t, t->name, clock_now_ns() + REACH_NS, &t->p, &err) < 0 ||
        seed(t, &err) < 0 || by_template(t, &err) < 0 || go(t, c, PLENTY, REACH_NS, &err) < 0)
        return complain(c, PLENTY, "fails", &err);
    long pieces = PLENTY - atomic_load(t->relay.left);
    for (long i = 0; i < PLACES; i++)
        if (!silence_at(t, c, pieces * (2 * i + c->odd) / (2 * PLACES)))
            return false;
    if (drop(t, &err) < 0)
        return complain(c, PLENTY, "cannot be cleaned up", &err);
    postgres_close(t->p);
    loop_free(t->loop);
    return true;
}

static pid_t converse_apart(size_t i)
{
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    struct talk t = {.guest = call_list[i].odd};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)snprintf(t.name, sizeof(t.name), "s%zu", i);
    bool good = relay_start(&t.relay) && converse(&t, &call_list[i]);
    if (t.relay.pid > 0)
        (void)kill(t.relay.pid, SIGKILL);
    _exit(good ? 0 : 1);
}

static void silence_ends_each_call(void **state)
{
    pid_t pids[ARRAY_LEN(call_list)];
    int failed = 0;

    (void)state;
    need_server();
    for (size_t i = 0; i < ARRAY_LEN(call_list); i++)
        pids[i] = converse_apart(i);
    for (size_t i = 0; i < ARRAY_LEN(call_list); i++) {
        int status = -1;
        failed += waitpid(pids[i], &status, 0) != pids[i] || status != 0;
    }
    assert_int_equal(failed, 0);
    holds("postgres",
          "SELECT count(*) FROM pg_database WHERE datname NOT IN ('postgres', 'template0', 'template1')",
          "0");
}

static int begin_roomy(void **state)
{
    static const char *const settings[] = {"max_connections=150", NULL};

    if (begin(state) < 0)
        return -1;
    if (*server.dir) {
        cluster_stop(&server, SIGINT);
        cluster_start(&server, settings);
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silence_ends_each_call),
    };
    return cmocka_run_group_tests(tests, begin_roomy, end);
}
