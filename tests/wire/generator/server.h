/* SPDX-License-Identifier: MIT */
/* Servers that others have written, started for a test on a port of its own, and certificates for them. */
#ifndef TESTS_WIRE_GENERATOR_SERVER_H
#define TESTS_WIRE_GENERATOR_SERVER_H

#include <netinet/in.h>
#include <sys/socket.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/process.h"
#include "caller.h"
#include "support/scratch.h"

static inline int free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    CLEANUP_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&at, len) == 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    return ntohs(at.sin_port);
}

static inline bool is_listening(int port)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
    CLEANUP_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0;
}

/* argv[0] must be there: see have_program(). */
static inline struct process *server_run(struct loop *l, const char *const *argv, int port)
{
    struct process_options o = {.argv = argv, .stdout_fd = -1, .stderr_fd = -1};
    struct error err = ERROR_INIT;
    struct process *p;

    if (process_start(l, &o, &p, &err) < 0)
        fail_msg("%s", err.message);
    for (int i = 0; i < 1000 && !is_listening(port) && !process_done(p); i++)
        assert_int_equal(loop_sleep_until(l, clock_now_ns() + 10 * NS_PER_MS, &err), 0);
    if (process_done(p))
        fail_msg("'%s' ended", argv[0]);
    return p;
}

static inline bool have_program(const char *name)
{
    CLEANUP_FREE char *path = fs_find_program(name);

    if (!path)
        print_message("skipped: no '%s' here\n", name);
    return path != NULL;
}

/* DIR/NAME.pem and DIR/NAME.key: signs itself, for an address or a name as "IP:127.0.0.1" or "DNS:localhost".
 */
static inline void make_certificate(const char *dir, const char *name, const char *who)
{
    assert_int_equal(
        shell("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
              "-subj /CN=test -addext subjectAltName=%s -keyout %s/%s.key -out %s/%s.pem 2>/dev/null",
              who, dir, name, dir, name),
        0);
}

#endif
