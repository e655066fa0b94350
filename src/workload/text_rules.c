/* SPDX-License-Identifier: MIT */
/* What texts of a workload must be like before they become parts of a message. */
#include "workload_internal.h"

#include <ctype.h>
#include <strings.h>
#include "benchctl/base/line_regex.h"

bool workload_is_token(const char *text)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";
    const char *p = text;

    while (isascii((unsigned char)*p) && *p && (isalnum((unsigned char)*p) || strchr(marks, *p)))
        p++;
    return *text && !*p;
}

/* Wraps what a part said, with its hint, as an error of `key` at a position. */
static int wrap_at(struct position at, const char *key, struct error *err)
{
    struct error inner = *err;

    position_error(err, at, "'%s': %s", key, inner.message);
    return inner.hint[0] ? error_hint(err, "%s", inner.hint) : -1;
}

int workload_check_method(const struct node *where, const char *method, struct error *err)
{
    static const char *const known[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
    char shown[SHOWN_SIZE];

    if (!workload_is_token(method)) {
        node_error(err, where, "'%s' is no HTTP method", text_shown(method, shown));
        return error_hint(err, "for instance GET, POST, PUT, PATCH or DELETE");
    }
    if (strcmp(method, "CONNECT") == 0)
        return node_error(err, where, "method 'CONNECT' cannot be used: it opens a tunnel");
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (strcasecmp(method, known[i]) != 0 || strcmp(method, known[i]) == 0)
            continue;
        node_error(err, where, "'%s' is no HTTP method: they are case-sensitive", method);
        return error_hint(err, "did you mean '%s'?", known[i]);
    }
    return 0;
}

/* The next character that is not inside {{...}}; NULL at the end. */
static const char *outside(const char *p)
{
    if (strncmp(p, "{{", 2) == 0 && strncmp(p, "{{{{", 4) != 0) {
        const char *end = strstr(p, "}}");
        if (end)
            p = end + 2;
    }
    return *p ? p : NULL;
}

int workload_check_path(const struct node *where, const char *path, struct error *err)
{
    char shown[SHOWN_SIZE];
    bool rows;

    text_shown(path, shown);
    if (path[0] != '/') {
        node_error(err, where, "'path' must begin with '/', not '%s'", shown);
        return error_hint(err, strstr(path, "://")
                                   ? "host and port are those of 'target'; the path is appended to it"
                                   : "for instance /items/{{random 1 1000}}?full=1");
    }
    if (workload_template_check(path, &rows, err) < 0)
        return wrap_at(where->at, "path", err);
    for (const char *p = path; (p = outside(p)); p++) {
        if (*p == '#') {
            node_error(err, where, "'path' has a '#': what follows is never sent to a server");
            return error_hint(err, "write %%23 for the character");
        }
        if ((unsigned char)*p <= ' ' || *p == 0x7f) {
            node_error(err, where, "'path' has a blank or control character in '%s'", shown);
            return error_hint(err, "write %%20 for a blank");
        }
    }
    return 0;
}

static bool has_control(const char *text)
{
    for (; *text; text++) {
        if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f)
            return true;
    }
    return false;
}

/* Headers that belong to the message's frame. */
static int check_framing(const struct text_pair *p, struct error *err)
{
    static const struct {
        const char *name, *hint;
    } own[] = {
        {"Content-Length", "it follows from the body"},
        {"Transfer-Encoding", "bodies are sent with their length"},
        {"Connection", "keepalive: false closes after each answer"},
        {"Upgrade", "HTTP/2 is asked for with http: \"2\""},
    };

    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        if (strcasecmp(p->key, own[i].name) != 0)
            continue;
        position_error(err, p->at, "header '%s' is made by the generator itself", p->key);
        return error_hint(err, "%s", own[i].hint);
    }
    return 0;
}

int workload_check_headers(const struct text_map *headers, struct error *err)
{
    char shown[SHOWN_SIZE];
    bool rows;

    for (size_t i = 0; i < headers->len; i++) {
        const struct text_pair *p = &headers->items[i];
        if (!workload_is_token(p->key)) {
            position_error(err, p->at, "'%s' is no header name", text_shown(p->key, shown));
            return error_hint(err, "letters, digits and - without blanks or colon, for instance Accept");
        }
        if (has_control(p->value)) {
            position_error(err, p->at, "header '%s' has a line break or control character in its value",
                           text_shown(p->key, shown));
            return error_hint(err, "a header is one line; name: >- folds lines, a quoted \\n does not");
        }
        if (check_framing(p, err) < 0)
            return -1;
        if (workload_template_check(p->value, &rows, err) < 0)
            return wrap_at(p->at, text_shown(p->key, shown), err);
    }
    return 0;
}

/* Past the host at `p`: a name, an IPv4 address or an IPv6 address in brackets; NULL when it is none. */
static const char *skip_host(const char *p)
{
    const char *start = p;

    if (*p == '[') {
        p += 1 + strspn(p + 1, "0123456789abcdefABCDEF:.");
        return *p == ']' && p > start + 2 ? p + 1 : NULL;
    }
    while (isascii((unsigned char)*p) && (isalnum((unsigned char)*p) || *p == '-' || *p == '.' || *p == '_'))
        p++;
    return p > start ? p : NULL;
}

static const char *skip_port(const char *p)
{
    if (*p != ':')
        return p;
    size_t digits = strspn(++p, "0123456789");
    long port = digits && digits <= 5 ? strtol(p, NULL, 10) : 0;
    return port > 0 && port <= 65535 ? p + digits : NULL;
}

int workload_check_target(const struct node *where, const char *target, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf masked = STRBUF_INIT;
    char shown[SHOWN_SIZE];
    size_t scheme = strncasecmp(target, "http://", 7) == 0    ? 7
                    : strncasecmp(target, "https://", 8) == 0 ? 8
                                                              : 0;

    text_add_masked(&masked, target);
    text_shown(strbuf_text(&masked), shown);
    if (!scheme) {
        node_error(err, where, "'target' must be a URL of http or https, not '%s'", shown);
        return strstr(target, "://") ? -1 : error_hint(err, "did you mean 'http://%s'?", shown);
    }
    const char *rest = target + scheme;
    if (memchr(rest, '@', strcspn(rest, "/?#"))) {
        node_error(err, where, "'target' must not hold a user name or password");
        return error_hint(err, "give them as a header: headers: {Authorization: ...}");
    }
    const char *host_end = skip_host(rest), *end = host_end ? skip_port(host_end) : NULL;
    if (!end || (*end && *end != '/'))
        return node_error(err, where, "'target' has no right host or port: '%s'", shown);
    for (; *end; end++) {
        if (strchr("?#", *end) || (unsigned char)*end <= ' ' || *end == 0x7f) {
            node_error(err, where, "'target' must end with the host or a path: '%s'", shown);
            return error_hint(err, "a query belongs into the path of a request");
        }
    }
    return 0;
}

static int digits3(const char *text)
{
    bool good = strspn(text, "0123456789") >= 3;
    int value = good ? (text[0] - '0') * 100 + (text[1] - '0') * 10 + (text[2] - '0') : -1;

    return value >= 100 && value <= 599 ? value : -1;
}

bool workload_status_range(const char *pattern, int *ret_first, int *ret_last)
{
    size_t len = strlen(pattern);
    int first = len >= 3 ? digits3(pattern) : -1, last = first;

    if (len == 3 && pattern[0] >= '1' && pattern[0] <= '5' && strcasecmp(pattern + 1, "xx") == 0) {
        first = (pattern[0] - '0') * 100;
        last = first + 99;
    } else if (len == 7 && pattern[3] == '-') {
        last = digits3(pattern + 4);
    } else if (len != 3) {
        return false;
    }
    if (first < 0 || last < first)
        return false;
    *ret_first = first;
    *ret_last = last;
    return true;
}

int workload_check_regex(const struct node *where, const char *key, const char *text, struct error *err)
{
    regex_t regex;

    if (regex_compile(text, &regex, err) < 0)
        return wrap_at(where->at, key, err);
    regfree(&regex);
    return 0;
}

static int check_expected_header(const struct node *where, const char *header, struct error *err)
{
    const char *colon = strchr(header, ':');
    char shown[SHOWN_SIZE];
    CLEANUP_FREE char *name = xstrndup(header, colon ? (size_t)(colon - header) : 0);

    if (!workload_is_token(name)) {
        node_error(err, where, "'header' must be 'Name: REGEX', not '%s'", text_shown(header, shown));
        return error_hint(err, "for instance header: \"Content-Type: json\"");
    }
    return workload_check_regex(where, "header", colon + 1 + strspn(colon + 1, " \t"), err);
}

int workload_check_expect(const struct node *map, const struct workload_expect *e, struct error *err)
{
    char shown[SHOWN_SIZE];
    int first, last;

    for (size_t i = 0; i < e->status.len; i++) {
        if (workload_status_range(e->status.items[i], &first, &last))
            continue;
        node_error(err, workload_at(map, "status"), "'status': '%s' is no status",
                   text_shown(e->status.items[i], shown));
        return error_hint(err, "three digits from 100 to 599 (200), a class (2xx) or a range (200-204)");
    }
    if (!e->status.len)
        return node_error(err, workload_at(map, "status"), "'status' is an empty list: nothing could be ok");
    if (e->body && workload_check_regex(workload_at(map, "body"), "body", e->body, err) < 0)
        return -1;
    return e->header ? check_expected_header(workload_at(map, "header"), e->header, err) : 0;
}
