/* SPDX-License-Identifier: MIT */
#include <math.h>
#include "load_print.h"
#include "load_spec.h"

struct load_command {
    struct load_spec spec;
    const char *out, *format;
    bool quiet;
};

static int print_results(const struct json *report, bool as_json)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (as_json) {
        json_write(report, JSON_STYLE_INDENTED, &text);
        strbuf_addc(&text, '\n');
    } else {
        load_print(report, &text);
    }
    return print_buffer(&text);
}

static void hint_about_tls(const struct json *report, struct error *err)
{
    const struct json *all = json_get(report, "examples");

    for (size_t i = 0; i < json_len(all); i++) {
        const char *detail = json_get_text(json_at(all, i), "detail");
        if (!text_equal(json_get_text(json_at(all, i), "error"), "tls") || !detail)
            continue;
        if (text_starts(detail, "certificate"))
            (void)error_hint(
                err, "--ca-file FILE trusts the certificates in it, -k takes any (ca_file, insecure)");
        else if (strstr(detail, "speaks no TLS"))
            (void)error_hint(err, "http:// instead of https://?");
    }
}

/* Failed requests are what the server did. That none was answered at all, or that the load was not the one
 * asked for, leaves nothing to trust. */
static int judge(const struct json *report)
{
    double answered = json_get_number(json_get(report, "latency_ms"), "count");
    struct error err = ERROR_INIT;

    if (json_get_bool(report, "interrupted"))
        return error_exit_code(ERROR_INTERRUPTED);
    if (!(answered > 0)) {
        (void)error_set(&err, ERROR_TRIAL, "no request was answered");
        hint_about_tls(report, &err);
        return report_error(&err);
    }
    if (json_get_bool(report, "kept_up"))
        return 0;
    (void)error_set(&err, ERROR_TRIAL, "the load was not made as asked: %s",
                    json_get_text(report, "kept_up_reason"));
    return report_error(&err);
}

static int make_load(const struct load_command *c, bool as_json)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP(json_free) struct json *report = NULL;
    struct error err = ERROR_INIT;
    struct load_line line;
    struct workload w;

    if (load_spec_read(&c->spec, a, &w, &err) < 0)
        return report_error(&err);
    load_line_open(&line, c->quiet);
    const struct generator_options o = {.out_dir = c->out, .on_second = load_line_draw, .data = &line};
    int rc = generator_run(&w, &o, &report, &err);
    load_line_close(&line);
    int code = report ? print_results(report, as_json) : 0;
    if (rc < 0 && report)
        (void)error_hint(&err, "the load itself was made: its figures are on standard output");
    if (rc < 0)
        return report_error(&err);
    return code ? code : judge(report);
}

/* The path is part of the URL here; nearest by its letters would be another option. */
static bool asks_for_path(int argc, char **argv)
{
    struct error err = ERROR_INIT;

    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--path") != 0 && !text_starts(argv[i], "--path="))
            continue;
        (void)error_set(&err, ERROR_USAGE, "unknown option '--path'");
        (void)error_hint(&err, "the path is part of the URL: http://HOST:PORT/PATH");
        (void)report_error(&err);
        return true;
    }
    return false;
}

static int cmd_load_main(int argc, char **argv)
{
    static const char *const formats[] = {"table", "json", NULL};
    struct load_command c = {0};
    struct load_spec *s = &c.spec;
    struct operands operands;
    int code;
    const struct option options[] = {
        {"vus", 'c', OPTION_TEXT, &s->vus, "N", "virtual users: requests under way at once (1)"},
        {"duration", 'd', OPTION_TEXT, &s->duration, "TIME", "how long (10s)"},
        {"iterations", 'n', OPTION_TEXT, &s->iterations, "N", "so many requests in all"},
        {"rate", 'r', OPTION_TEXT, &s->rate, "N", "requests per second, however long answers take"},
        {"max-vus", 0, OPTION_TEXT, &s->max_vus, "N", "with --rate: how many may be under way"},
        {"arrivals", 0, OPTION_TEXT, &s->arrivals, "KIND", "with --rate: constant or poisson"},
        {"stage", 's', OPTION_LIST, &s->stages, "TIME:TARGET", "ramp of --vus, or of --rate"},
        {"method", 'm', OPTION_TEXT, &s->method, "NAME", "GET, with a body POST"},
        {"header", 'H', OPTION_LIST, &s->headers, "'NAME: VALUE'", "of every request"},
        {"body", 'b', OPTION_TEXT, &s->body, "TEXT", "may hold {{counter}}, {{uuid}}, ..."},
        {"body-file", 0, OPTION_TEXT, &s->body_file, "FILE", "the same, from a file"},
        {"timeout", 't', OPTION_TEXT, &s->timeout, "TIME", "of one request (10s)"},
        {"think", 0, OPTION_TEXT, &s->think, "TIME", "pause after each answer"},
        {"expect-status", 0, OPTION_TEXT, &s->expect_status, "LIST", "200,2xx,200-204 (200-399)"},
        {"expect-body", 0, OPTION_TEXT, &s->expect_body, "REGEX", "what the body must match"},
        {"http", 0, OPTION_TEXT, &s->http, "VERSION", "1.1, 2 or 2-prior-knowledge"},
        {"transport", 0, OPTION_TEXT, &s->transport, "NAME", "auto, plain or curl"},
        {"no-keepalive", 0, OPTION_FLAG, &s->no_keepalive, NULL, "a new connection for each request"},
        {"insecure", 'k', OPTION_FLAG, &s->insecure, NULL, "do not check the server's certificate"},
        {"ca-file", 0, OPTION_TEXT, &s->ca_file, "FILE", "certificates (PEM) that are trusted"},
        {"processes", 'p', OPTION_TEXT, &s->processes, "N", "share the load among processes"},
        {"seed", 0, OPTION_TEXT, &s->seed, "N", "of everything random (1)"},
        {"spec", 'f', OPTION_TEXT, &s->file, "FILE", "the workload as a file (docs/load.md)"},
        {"out", 'o', OPTION_TEXT, &c.out, "DIR", "write report.json, series.csv, histogram.hlog there"},
        {"format", 0, OPTION_TEXT, &c.format, "FORMAT", "table or json"},
        {"quiet", 'q', OPTION_FLAG, &c.quiet, NULL, "no live line"},
    };

    if (asks_for_path(argc, argv))
        return error_exit_code(ERROR_USAGE);
    if (options_parse(&cmd_load, options, ARRAY_LEN(options), argc, argv, 0, 1, &operands, &code) == 0) {
        int format = format_option(&cmd_load, c.format, formats);
        s->url = operands.len ? operands.items[0] : NULL;
        code = format < 0 ? error_exit_code(ERROR_USAGE) : make_load(&c, format == 1);
    }
    option_list_release(&s->headers);
    option_list_release(&s->stages);
    return code;
}

const struct command cmd_load = {
    "load",
    "load [options] [URL]",
    "make load on a URL, or as a file says, and say what came of it",
    cmd_load_main,
};
