/* SPDX-License-Identifier: MIT */
/* upstream: a mock of the APIs that an application under test calls. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/units.h"
#include "config.h"
#include "server.h"

static const char usage[] =
    "usage: upstream [options] [CONFIG]\n"
    "Answers as CONFIG says until it gets SIGTERM. Without CONFIG the text in the variable UPSTREAM_CONFIG "
    "is read.\n"
    "  --host ADDRESS   listen on this IPv4 address\n"
    "  --port PORT      and this port; 0 takes a free one, and standard output names it\n"
    "  --seed N         decide latencies and failures by this number\n"
    "  --stall E/F      stand still for F each E, for instance 10s/2s\n"
    "  --close          end each connection after its answer\n"
    "  --check          only read CONFIG\n"
    "The variables UPSTREAM_HOST, UPSTREAM_PORT, UPSTREAM_SEED and UPSTREAM_STALL say the same as the "
    "options.\n"
    "GET /__stats tells what was asked and answered, POST /__reset forgets it, GET /__health says ok.\n";

struct arguments {
    const char *file, *host, *port, *seed, *stall;
    bool close, check, help;
};

static int parse_arguments(int argc, char **argv, struct arguments *ret, struct error *err)
{
    static const struct option options[] = {
        {"host", required_argument, NULL, 'H'}, {"port", required_argument, NULL, 'p'},
        {"seed", required_argument, NULL, 's'}, {"stall", required_argument, NULL, 'S'},
        {"close", no_argument, NULL, 'c'},      {"check", no_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},       {0}};
    int option;

    *ret = (struct arguments){.host = getenv("UPSTREAM_HOST"),
                              .port = getenv("UPSTREAM_PORT"),
                              .seed = getenv("UPSTREAM_SEED"),
                              .stall = getenv("UPSTREAM_STALL")};
    opterr = 0;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'H':
            ret->host = optarg;
            break;
        case 'p':
            ret->port = optarg;
            break;
        case 's':
            ret->seed = optarg;
            break;
        case 'S':
            ret->stall = optarg;
            break;
        case 'c':
            ret->close = true;
            break;
        case 'n':
            ret->check = true;
            break;
        case 'h':
            ret->help = true;
            break;
        default:
            error_set(err, ERROR_USAGE, "unknown option, or no value, at '%s'", argv[optind - 1]);
            return error_hint(err, "upstream --help");
        }
    }
    if (optind < argc)
        ret->file = argv[optind++];
    if (optind < argc)
        return error_set(err, ERROR_USAGE, "one configuration, not '%s' too", argv[optind]);
    return 0;
}

static int read_config(const struct arguments *args, struct arena *a, struct config *ret, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    const char *inline_text = getenv("UPSTREAM_CONFIG");
    const char *file = args->file ? args->file : inline_text ? NULL : getenv("UPSTREAM_FILE");

    if (file) {
        CLEANUP_FREE char *dir = path_dirname(file);
        if (fs_read(file, UPSTREAM_MAX_CONFIG_BYTES, &text, err) < 0)
            return -1;
        return config_read(strbuf_text(&text), text.len, file, dir, a, ret, err);
    }
    if (!inline_text) {
        error_set(err, ERROR_USAGE, "no configuration");
        return error_hint(err, "upstream CONFIG, or the text in the variable UPSTREAM_CONFIG");
    }
    return config_read(inline_text, strlen(inline_text), "UPSTREAM_CONFIG", NULL, a, ret, err);
}

static int apply_arguments(const struct arguments *args, struct arena *a, struct config *c, struct error *err)
{
    if (args->host)
        c->host = args->host;
    if (args->port && (integer_parse(args->port, &c->port, err) < 0 || c->port < 0 || c->port > 65535))
        return error_set(err, ERROR_USAGE, "'%s' is no port", args->port);
    if (args->seed && integer_parse(args->seed, &c->seed, err) < 0)
        return error_wrap(err, "seed");
    if (args->stall) {
        struct stall *stall = arena_new_of(a, struct stall);
        if (stall_parse(args->stall, stall, err) < 0)
            return -1;
        c->stall = stall;
    }
    c->close |= args->close;
    return 0;
}

static int run(int argc, char **argv, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP(server_free) struct server *s = NULL;
    struct arguments args;
    struct config c;

    if (parse_arguments(argc, argv, &args, err) < 0)
        return -1;
    if (args.help) {
        (void)fputs(usage, stdout);
        return 0;
    }
    if (read_config(&args, a, &c, err) < 0 || apply_arguments(&args, a, &c, err) < 0)
        return -1;
    if (args.check)
        return 0;
    if (server_new(&c, &s, err) < 0)
        return -1;
    printf("upstream: %zu endpoints on %s:%d\n", c.endpoints.len, c.host, server_port(s));
    (void)fflush(stdout);
    return server_run(s, err);
}

int main(int argc, char **argv)
{
    struct error err = ERROR_INIT;

    if (run(argc, argv, &err) == 0)
        return 0;
    fprintf(stderr, "upstream: %s\n", err.message);
    if (err.hint[0])
        fprintf(stderr, "hint: %s\n", err.hint);
    return error_exit_code(err.kind);
}
