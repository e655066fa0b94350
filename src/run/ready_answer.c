/* SPDX-License-Identifier: MIT */
#include "ready_answer.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "benchctl/base/json.h"
#include "benchctl/base/line_regex.h"

#define SPRING_TYPE "application/vnd.spring-boot.actuator"

/* --- what the path asks for --- */

static bool segment_is(const char *segment, size_t len, const char *const *names)
{
    for (; *names; names++)
        if (strlen(*names) == len && strncasecmp(segment, *names, len) == 0)
            return true;
    return false;
}

static bool path_has(const char *path, const char *const *names)
{
    const char *end = path + strcspn(path, "?#");

    for (const char *p = path; p < end;) {
        size_t len = strcspn(p, "/?#");
        if (segment_is(p, len, names))
            return true;
        p += len + 1;
    }
    return false;
}

static const char *const readiness[] = {"ready", "readyz", "readiness", NULL};
static const char *const liveness[] = {"live", "livez", "liveness", "alive", NULL};
static const char *const health[] = {"health",       "healthz", "healthcheck", "health-check",
                                     "health_check", "_health", "actuator",    NULL};

static bool asks_for_state(const char *path)
{
    return path_has(path, health) || path_has(path, readiness) || path_has(path, liveness);
}

/* --- what the answer says --- */

static bool body_matches(const char *regex, const char *body, size_t len)
{
    const char *end = body + len;
    struct error ignored = ERROR_INIT;
    regex_t re;

    if (regex_compile(regex, &re, &ignored) < 0)
        return false; /* checked with the matrix */
    bool found = len == 0 && regex_match(&re, "", 0);
    for (const char *line = body; line < end && !found;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line)), *stop = newline ? newline : end;
        size_t cut = stop > line && stop[-1] == '\r';
        found = regex_match(&re, line, (size_t)(stop - line) - cut);
        line = stop + 1;
    }
    regfree(&re);
    return found;
}

/* Words of health endpoints for "no"; a word that is not known is not taken for one. */
static bool is_unwell(const char *status)
{
    static const char *const words[] = {"DOWN",      "OUT_OF_SERVICE", "UNKNOWN",  "fail",      "failed",
                                        "failing",   "error",          "starting", "unhealthy", "not_ready",
                                        "not ready", "notready",       NULL};

    return segment_is(status, strlen(status), words);
}

static bool json_is_good(const struct ready_settings *r, const struct http_result *a, const struct json *j,
                         char *why, size_t size)
{
    const char *status = json_get_text(j, "status");

    if (status && is_unwell(status)) {
        (void)snprintf(why, size, "was answered %d, but its status is '%.40s'", a->status, status);
        return false;
    }
    if (!status || strncmp(a->content_type, SPRING_TYPE, strlen(SPRING_TYPE)) != 0 ||
        path_has(r->http, readiness) || path_has(r->http, liveness) || json_get(j, "groups") ||
        json_get(j, "components") || json_get(j, "details"))
        return true;
    (void)snprintf(why, size,
                   "was answered %d, but a bare '%.20s' may be liveness alone: ask its readiness or its "
                   "liveness, or say by 'body' what is enough",
                   a->status, status);
    return false;
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && strchr(" \t\r\n", *p) && *p)
        p++;
    return p;
}

static bool body_is_good(const struct ready_settings *r, const struct http_result *a, char *why, size_t size)
{
    CLEANUP(json_free) struct json *j = NULL;
    const char *body = a->body ? a->body : "", *end = body + a->body_len, *first = skip_blanks(body, end);
    bool says_json = strcasestr(a->content_type, "json") != NULL, state = asks_for_state(r->http);
    struct error err = ERROR_INIT;

    if (state && (strcasestr(a->content_type, "html") || (first < end && *first == '<'))) {
        (void)snprintf(why, size, "was answered %d with a page (%.60s) instead of a state", a->status,
                       *a->content_type ? a->content_type : "no content type");
        return false;
    }
    if (first == end || (!says_json && *first != '{'))
        return true;
    if (json_parse(body, a->body_len, "answer", &j, &err) == 0)
        return json_is_good(r, a, j, why, size);
    if (!says_json || !state)
        return true;
    (void)snprintf(why, size, "was answered %d with JSON that is none", a->status);
    return false;
}

bool ready_answer_good(const struct ready_settings *r, const struct http_result *a, char *why, size_t size)
{
    if (!a->ok) {
        (void)snprintf(why, size, "%.160s", a->error.message);
        return false;
    }
    if (a->status != r->status) {
        (void)snprintf(why, size, "was answered %d, %lld was expected%s", a->status, (long long)r->status,
                       a->status >= 300 && a->status < 400 ? " (redirects are not followed)" : "");
        return false;
    }
    if (!r->body)
        return body_is_good(r, a, why, size);
    if (body_matches(r->body, a->body ? a->body : "", a->body_len))
        return true;
    (void)snprintf(why, size, "was answered %d, but no line of the answer matches '%.60s'", a->status,
                   r->body);
    return false;
}
