/* SPDX-License-Identifier: MIT */
#include "real_cluster.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "unit/check.h"

#define BIN "/usr/lib/postgresql/15/bin" /* or where the environment says: BENCHCTL_POSTGRES_BIN */
#define ARGS 40

/* "DIR/NAME" of one of the server's programs. */
static const char *program(const char *name)
{
    static char paths[2][256];
    char *path = paths[strcmp(name, "postgres") == 0];
    const char *dir = getenv("BENCHCTL_POSTGRES_BIN");

    (void)snprintf(path, sizeof(paths[0]), "%s/%s", dir && *dir ? dir : BIN, name);
    return path;
}

/* In the child: become postgres, end with the parent, write to `log`. */
static void become_server(const char *log)
{
    const struct passwd *user = getpwnam("postgres");

    if (geteuid() == 0 && user &&
        (initgroups("postgres", user->pw_gid) < 0 || setgid(user->pw_gid) < 0 || setuid(user->pw_uid) < 0))
        _exit(126);
    (void)prctl(PR_SET_PDEATHSIG, SIGINT);
    int fd = open(log, O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0 || chdir("/tmp") < 0)
        _exit(126);
}

static pid_t spawn(const struct cluster *c, const char *const *argv)
{
    char log[80], *args[ARGS] = {0};
    size_t n = 0;

    (void)snprintf(log, sizeof(log), "%s/log", c->dir);
    for (; argv[n]; n++) {
        assert_true(n + 1 < ARGS);
        args[n] = xstrdup(argv[n]);
    }
    pid_t pid = fork();
    if (pid == 0) {
        become_server(log);
        execv(args[0], args);
        _exit(127);
    }
    for (size_t i = 0; i < n; i++)
        free(args[i]);
    assert_true(pid > 0);
    return pid;
}

static bool make_dir(struct cluster *c)
{
    const struct passwd *user = getpwnam("postgres");

    (void)snprintf(c->dir, sizeof(c->dir), "/tmp/benchctl-pg-XXXXXX");
    return mkdtemp(c->dir) && (geteuid() != 0 || (user && chown(c->dir, user->pw_uid, user->pw_gid) == 0));
}

bool cluster_make(struct cluster *c, const char *const *initdb_options)
{
    char data[80];
    const char *argv[ARGS] = {program("initdb"), "-D", data,   "-U",       "postgres", "-A",
                              "trust",           "-E", "UTF8", "--no-sync"};
    size_t n = 10;
    int status = 0;

    *c = (struct cluster){0};
    if (access(program("postgres"), X_OK) < 0 || (geteuid() == 0 && !getpwnam("postgres"))) {
        print_message("skipped: no PostgreSQL server %s\n", program("postgres"));
        return false;
    }
    assert_true(make_dir(c));
    (void)snprintf(data, sizeof(data), "%s/data", c->dir);
    for (; initdb_options && *initdb_options; initdb_options++)
        argv[n++] = *initdb_options;
    if (!initdb_options)
        argv[n++] = "--locale=C";
    assert_true(waitpid(spawn(c, argv), &status, 0) > 0);
    assert_int_equal(status, 0);
    return true;
}

int free_port(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&a, len) == 0 &&
                getsockname(fd, (struct sockaddr *)&a, &len) == 0);
    (void)close(fd);
    return ntohs(a.sin_port);
}

static void start(struct cluster *c, const char *const *settings)
{
    char data[80], port[16], sockets[120];
    const char *argv[ARGS] = {program("postgres"),
                              "-D",
                              data,
                              "-p",
                              port,
                              "-c",
                              "listen_addresses=127.0.0.1",
                              "-c",
                              sockets,
                              "-c",
                              "fsync=off",
                              "-c",
                              "jit=off",
                              "-c",
                              "max_prepared_transactions=5",
                              "-c",
                              "max_connections=30"};
    size_t n = 17;

    if (!c->port)
        c->port = free_port();
    (void)snprintf(data, sizeof(data), "%s/data", c->dir);
    (void)snprintf(port, sizeof(port), "%d", c->port);
    (void)snprintf(sockets, sizeof(sockets), "unix_socket_directories=%s", c->dir);
    for (; settings && *settings; settings++) {
        argv[n++] = "-c";
        argv[n++] = *settings;
    }
    c->pid = spawn(c, argv);
}

static void conninfo(const struct cluster *c, const char *database, char *buf, size_t size)
{
    (void)snprintf(buf, size,
                   "host=127.0.0.1 port=%d user=postgres dbname=%s connect_timeout=60 sslmode=disable",
                   c->port, database);
}

void cluster_await(const struct cluster *c)
{
    char info[200];
    int64_t deadline = clock_now_ns() + 120 * NS_PER_S;

    conninfo(c, "postgres", info, sizeof(info));
    while (PQping(info) != PQPING_OK) {
        if (clock_now_ns() > deadline)
            fail_msg("the server does not start: see %s/log", c->dir);
        (void)usleep(20000);
    }
}

void cluster_start(struct cluster *c, const char *const *settings)
{
    start(c, settings);
    cluster_await(c);
}

void cluster_start_slowly(struct cluster *c)
{
    start(c, NULL);
}

void cluster_stop(struct cluster *c, int signo)
{
    if (c->pid > 0 && kill(c->pid, signo) == 0)
        assert_int_equal(waitpid(c->pid, NULL, 0), c->pid);
    c->pid = 0;
}

void cluster_remove(struct cluster *c)
{
    struct error err = ERROR_INIT;

    if (!*c->dir)
        return;
    cluster_stop(c, SIGINT);
    if (fs_remove_tree(c->dir, &err) < 0)
        print_error("%s\n", err.message);
    *c = (struct cluster){0};
}

PGconn *cluster_session(const struct cluster *c, const char *database)
{
    char info[200];

    conninfo(c, database, info, sizeof(info));
    PGconn *session = PQconnectdb(info);
    if (PQstatus(session) != CONNECTION_OK)
        fail_msg("%s", PQerrorMessage(session));
    return session;
}

void sql(PGconn *session, const char *text)
{
    PGresult *r = PQexec(session, text);

    if (PQresultStatus(r) != PGRES_COMMAND_OK && PQresultStatus(r) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", text, PQerrorMessage(session));
    PQclear(r);
}

char *cluster_sql(const struct cluster *c, const char *database, const char *text)
{
    PGconn *session = cluster_session(c, database);
    PGresult *r = PQexec(session, text);

    if (PQresultStatus(r) != PGRES_COMMAND_OK && PQresultStatus(r) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", text, PQerrorMessage(session));
    char *value = xstrdup(PQntuples(r) > 0 ? PQgetvalue(r, 0, 0) : "");
    PQclear(r);
    PQfinish(session);
    return value;
}

static struct postgres *connect_with(struct loop *l, struct postgres_options *o)
{
    struct error err = ERROR_INIT;
    struct postgres *p = NULL;

    o->ready_deadline_ns = clock_now_ns() + 60 * NS_PER_S;
    if (postgres_connect(l, o, &p, &err) < 0)
        fail_msg("%s", err.message);
    return p;
}

struct postgres *cluster_connect(const struct cluster *c, struct loop *l, const char *name)
{
    return connect_with(l, &(struct postgres_options){
                               .host = "127.0.0.1", .port = c->port, .user = "postgres", .name = name});
}

struct postgres *cluster_connect_url(const struct cluster *c, struct loop *l, const char *name)
{
    CLEANUP_FREE char *url = xasprintf("postgresql://postgres@127.0.0.1:%d/%s", c->port, name);

    return connect_with(l, &(struct postgres_options){.url = url});
}

char *case_text(const char *path)
{
    CLEANUP_FREE char *full = path_join(TESTS_DIR "/cases", path);
    struct strbuf out = STRBUF_INIT;
    struct error err = ERROR_INIT;

    if (fs_read(full, (size_t)1 << 20, &out, &err) < 0)
        fail_msg("%s", err.message);
    return strbuf_detach(&out);
}
