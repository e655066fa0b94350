/* SPDX-License-Identifier: MIT */
/* The table of a request. */
#include "workload_internal.h"

#include <ctype.h>

static int complete_request(const struct node *n, struct arena *a, void *value, struct error *err)
{
    struct workload_request *r = value;

    (void)err;
    r->path_at = workload_at(n, "path")->at;
    r->body_at = workload_at(n, r->body_file ? "body_file" : "body")->at;
    r->expect_at = workload_at(n, "expect")->at;
    r->fallback_at = workload_at(n, "fallback")->at;
    if (!r->method)
        r->method = r->body || r->body_file || r->grpc ? "POST" : "GET";
    if (!r->path)
        r->path = r->grpc ? arena_printf(a, "/%s", r->grpc) : "/";
    if (!r->name)
        r->name = r->grpc ? r->grpc : arena_printf(a, "%s %s", r->method, r->path);
    return 0;
}

static bool is_identifier(const char *p, size_t len, const char *more)
{
    bool good = len && !isdigit((unsigned char)*p);

    for (size_t i = 0; i < len; i++)
        good = good && isascii((unsigned char)p[i]) &&
               (isalnum((unsigned char)p[i]) || p[i] == '_' || strchr(more, p[i])) && p[i];
    return good;
}

static int check_grpc(const struct node *n, const struct workload_request *r, struct error *err)
{
    const char *slash = strchr(r->grpc, '/');
    char shown[SHOWN_SIZE];

    if (!slash || !is_identifier(r->grpc, (size_t)(slash - r->grpc), ".") ||
        !is_identifier(slash + 1, strlen(slash + 1), "")) {
        node_error(err, workload_at(n, "grpc"), "'grpc' must be 'package.Service/Method', not '%s'",
                   text_shown(r->grpc, shown));
        return error_hint(err, "without a slash in front, for instance helloworld.Greeter/SayHello");
    }
    if (node_get(n, "path"))
        return node_error(err, workload_key_at(n, "path"), "'path' follows from 'grpc': take it away");
    if (strcmp(r->method, "POST") != 0)
        return node_error(err, workload_at(n, "method"), "a gRPC call is a POST, not '%s'",
                          text_shown(r->method, shown));
    return 0;
}

static int check_body(const struct node *n, const struct workload_request *r, struct error *err)
{
    struct error inner = ERROR_INIT;
    bool rows;

    if (r->body && r->body_file) {
        node_error(err, workload_key_at(n, "body_file"), "a request has 'body' or 'body_file', not both");
        return error_hint(err, "take one of them away");
    }
    if (r->body_file && !*r->body_file)
        return node_error(err, workload_at(n, "body_file"), "'body_file' is empty");
    if (!r->body || r->raw || workload_template_check(r->body, &rows, &inner) == 0)
        return 0;
    node_error(err, workload_at(n, "body"), "'body': %s", inner.message);
    return error_hint(err, "%s", inner.hint);
}

static int check_request(const struct node *n, const void *value, struct error *err)
{
    const struct workload_request *r = value;
    char shown[SHOWN_SIZE];

    if (!*r->name)
        return node_error(err, workload_at(n, "name"), "'name' is empty");
    if (!(r->weight >= 0 && r->weight <= WEIGHT_MAX))
        return node_error(err, workload_at(n, "weight"), "'weight' must be from 0 to 1000000, not %s",
                          text_shown(workload_at(n, "weight")->text, shown));
    if (workload_check_method(workload_at(n, "method"), r->method, err) < 0 ||
        (r->grpc && check_grpc(n, r, err) < 0) ||
        workload_check_path(workload_at(n, "path"), r->path, err) < 0 ||
        workload_check_headers(&r->headers, err) < 0)
        return -1;
    if (r->fallback && workload_check_regex(workload_at(n, "fallback"), "fallback", r->fallback, err) < 0)
        return -1;
    return check_body(n, r, err);
}

static const struct schema_field request_fields[] = {
    FIELD("name", TEXT, workload_request, name,
          .help = "What phases and results call it; without it: method and path."),
    FIELD("method", TEXT, workload_request, method, .help = "Without it GET, with a body POST."),
    FIELD("path", TEXT, workload_request, path,
          .help = "Appended to the target, with its query; `{{...}}` is filled in. Without it `/`."),
    FIELD("weight", NUMBER, workload_request, weight, .fallback = "1",
          .help = "How often it is made, compared with the others."),
    FIELD("headers", TEXT_MAP, workload_request, headers,
          .help = "Besides those of the workload; `{{...}}` is filled in."),
    FIELD("body", TEXT, workload_request, body, .help = "What is sent; `{{...}}` is filled in."),
    FIELD("body_file", TEXT, workload_request, body_file, .path = true,
          .help = "The file whose content is sent; `{{...}}` in it is filled in."),
    FIELD("raw", BOOL, workload_request, raw, .fallback = "false",
          .help = "The body is sent as it is, whatever is in it."),
    FIELD("grpc", TEXT, workload_request, grpc,
          .help = "`package.Service/Method`: a unary call; the body is the encoded message."),
    FIELD("think", OPTIONAL, workload_request, think, .of = &workload_think_schema,
          .help = "Wait after each answer; without it the workload's."),
    FIELD("expect", STRUCT, workload_request, expect, .of = &workload_expect_schema,
          .help = "What counts as ok."),
    FIELD("fallback", TEXT, workload_request, fallback,
          .help = "Regular expression: an ok answer whose body matches came from a fallback, and is counted "
                  "as one."),
    FIELD("timeout", DURATION, workload_request, timeout_ns, .min = NS_PER_MS, .max = DAY_NS,
          .help = "Time for the whole exchange; without it the workload's."),
};
const struct schema workload_request_schema = {
    .name = "a request",
    .help = "One kind of request. Of several, each virtual user picks the next by weight.",
    .size = sizeof(struct workload_request),
    LIST_OF(request_fields),
    .free_keys = true,
    .complete = complete_request,
    .check = check_request,
    .position_offset = offsetof(struct workload_request, at),
};
