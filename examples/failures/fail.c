/* SPDX-License-Identifier: MIT */
/*
 * A program that fails to order, to see whether a benchmark tells the truth about it. It is an HTTP server on
 * $PORT (8080 without it) that answers everything with 200, and each argument is one thing that goes wrong;
 * several may be given:
 *
 *   ok                nothing goes wrong
 *   exit:CODE@S       ends with CODE
 *   grow@S            takes memory until somebody stops it
 *   child-grow@S      a child does, the server goes on
 *   child-exit@S      a child that has been there from the beginning ends, the server goes on
 *   segv@S  abort@S   ends by a wild pointer, by abort()
 *   hang@S            accepts connections and answers nothing; hang@S+D: for D seconds
 *   closed@S          lives on with its port closed; closed@S+D: for D seconds
 *   late:S            opens its port only then
 *   stubborn          ignores SIGTERM
 *   say:TEXT          prints a line at once
 *
 * S and D are seconds since its start and may have a fraction; without @S it happens at once. One process,
 * one thread, and linked statically, so that its image can be FROM scratch.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEEDS_MAX 32
#define CONNECTIONS_MAX 512
#define LOOK_MS 5            /* how often the clock is looked at when nobody asks for anything */
#define STEP_BYTES (1 << 20) /* memory is taken in steps, so that samplers can watch it grow */
#define STEP_US 500
#define STILL_S 0.3
#define USAGE 64

struct deed {
    const char *name;
    int code;
    double at_s, for_s; /* for_s 0: for good */
    int done;
};

static struct {
    struct deed deeds[DEEDS_MAX];
    int count, child_pipe;
    double begin_s;
} plan = {.child_pipe = -1};

static double now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- the deeds --- */

static void grow(void)
{
    for (;;) {
        char *p = malloc(STEP_BYTES);
        if (p)
            memset(p, 1, STEP_BYTES);
        (void)usleep(STEP_US);
    }
}

static void in_child(void (*what)(void))
{
    if (fork() == 0) {
        what();
        _exit(0);
    }
}

/* A child that waits for its pipe to be closed. */
static void keep_child(void)
{
    int ends[2];

    if (pipe(ends) < 0)
        return;
    if (fork() == 0) {
        char byte;
        (void)close(ends[1]);
        (void)!read(ends[0], &byte, 1);
        _exit(0);
    }
    (void)close(ends[0]);
    plan.child_pipe = ends[1];
}

static void let_child_end(void)
{
    if (plan.child_pipe >= 0)
        (void)close(plan.child_pipe);
    plan.child_pipe = -1;
}

static void wild_pointer(void)
{
    volatile int *volatile nowhere = NULL;

    *nowhere = 1;
}

static void do_deed(const struct deed *d)
{
    if (strcmp(d->name, "exit") == 0)
        exit(d->code);
    else if (strcmp(d->name, "grow") == 0)
        grow();
    else if (strcmp(d->name, "child-grow") == 0)
        in_child(grow);
    else if (strcmp(d->name, "child-exit") == 0)
        let_child_end();
    else if (strcmp(d->name, "segv") == 0)
        wild_pointer();
    else if (strcmp(d->name, "abort") == 0)
        abort();
}

/* Is a state like "hang" on at this moment? */
static int is_on(const char *name, double t)
{
    for (int i = 0; i < plan.count; i++) {
        const struct deed *d = &plan.deeds[i];
        if (strcmp(d->name, name) == 0 && t >= d->at_s && (d->for_s <= 0 || t < d->at_s + d->for_s))
            return 1;
    }
    return 0;
}

/* On a machine without time for it it answers nothing, and is not the one to blame: it says so. */
static void tell_standstill(double t)
{
    static double last;

    if (t - last > STILL_S)
        printf("stood still from %.0f to %.0f ms\n", last * 1e3, t * 1e3);
    last = t;
}

static void look_at_clock(double t)
{
    tell_standstill(t);
    for (int i = 0; i < plan.count; i++) {
        struct deed *d = &plan.deeds[i];
        if (!d->done && t >= d->at_s) {
            d->done = 1;
            do_deed(d);
        }
    }
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

/* --- the server --- */

static int listen_on(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, CONNECTIONS_MAX) < 0) {
        perror("listen");
        exit(9);
    }
    printf("listening on %d\n", port);
    return fd;
}

/* Every piece that comes is taken for one request: its clients wait for the answer before they go on. */
static int answer(int fd, int hangs)
{
    static const char reply[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nok\n";
    char request[4096];
    ssize_t n = read(fd, request, sizeof(request));

    if (n <= 0)
        return -1;
    return hangs || write(fd, reply, sizeof(reply) - 1) > 0 ? 0 : -1;
}

struct server {
    struct pollfd fds[CONNECTIONS_MAX + 1]; /* the first one listens; -1: closed */
    nfds_t count;
};

static void take_connection(struct server *s)
{
    int fd = accept(s->fds[0].fd, NULL, NULL), one = 1;

    if (fd < 0 || s->count > CONNECTIONS_MAX) {
        if (fd >= 0)
            (void)close(fd);
        return;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    s->fds[s->count++] = (struct pollfd){.fd = fd, .events = POLLIN};
}

static void close_all(struct server *s)
{
    for (nfds_t i = 0; i < s->count; i++)
        if (s->fds[i].fd >= 0)
            (void)close(s->fds[i].fd);
    s->fds[0].fd = -1;
    s->count = 1;
}

static void serve(int port)
{
    static struct server s = {.fds = {{.fd = -1, .events = POLLIN}}, .count = 1};

    for (;;) {
        double t = now_s() - plan.begin_s;
        look_at_clock(t);
        int shut = is_on("closed", t) || is_on("late", t), hangs = is_on("hang", t);
        if (shut)
            close_all(&s);
        else if (s.fds[0].fd < 0)
            s.fds[0].fd = listen_on(port);
        (void)poll(s.fds, s.count, LOOK_MS);
        for (nfds_t i = s.count - 1; i > 0; i--)
            if (s.fds[i].revents && answer(s.fds[i].fd, hangs) < 0) {
                (void)close(s.fds[i].fd);
                s.fds[i] = s.fds[--s.count];
            }
        if (s.fds[0].fd >= 0 && s.fds[0].revents)
            take_connection(&s);
    }
}

/* --- the arguments --- */

static void refuse(const char *word)
{
    (void)fprintf(stderr, "what is '%s'?\n", word);
    exit(USAGE);
}

static double seconds(const char *text, char **ret_end, const char *word)
{
    double s = strtod(text, ret_end);

    if (*ret_end == text || s < 0)
        refuse(word);
    return s;
}

/* NAME, NAME@S, NAME@S+D; exit:CODE and exit:CODE@S. */
static void read_deed(const char *name, char *rest, const char *word)
{
    struct deed d = {.name = name};
    char *end = rest;

    if (*end == ':')
        d.code = (int)strtol(end + 1, &end, 10);
    if (*end == '@')
        d.at_s = seconds(end + 1, &end, word);
    if (*end == '+')
        d.for_s = seconds(end + 1, &end, word);
    if (*end || plan.count == DEEDS_MAX)
        refuse(word);
    plan.deeds[plan.count++] = d;
}

static void obey(char *word)
{
    static const char *const deeds[] = {"exit", "grow",  "child-grow", "child-exit",
                                        "segv", "abort", "hang",       "closed"};
    size_t len = strcspn(word, ":@");
    char *end;

    if (strcmp(word, "ok") == 0)
        return;
    if (strcmp(word, "stubborn") == 0) {
        (void)signal(SIGTERM, SIG_IGN);
        return;
    }
    if (strncmp(word, "say:", 4) == 0) {
        puts(word + 4);
        return;
    }
    if (strncmp(word, "late:", 5) == 0) {
        plan.deeds[plan.count++] = (struct deed){.name = "late", .for_s = seconds(word + 5, &end, word)};
        return;
    }
    for (size_t i = 0; i < sizeof(deeds) / sizeof(*deeds); i++)
        if (strlen(deeds[i]) == len && strncmp(word, deeds[i], len) == 0) {
            read_deed(deeds[i], word + len, word);
            return;
        }
    refuse(word);
}

int main(int argc, char **argv)
{
    const char *port = getenv("PORT");

    plan.begin_s = now_s();
    (void)setvbuf(stdout, NULL, _IONBF, 0);
    (void)signal(SIGPIPE, SIG_IGN);
    for (int i = 1; i < argc && plan.count < DEEDS_MAX; i++)
        obey(argv[i]);
    for (int i = 0; i < plan.count; i++)
        if (strcmp(plan.deeds[i].name, "child-exit") == 0 && plan.child_pipe < 0)
            keep_child();
    serve(port ? atoi(port) : 8080);
    return 0;
}
