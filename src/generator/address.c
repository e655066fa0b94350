/* SPDX-License-Identifier: MIT */
#include "address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <strings.h>

static int malformed(const char *url, struct position at, const char *why, struct error *err)
{
    char shown[SHOWN_SIZE];

    (void)position_error(err, at, "target '%s' %s", text_shown(url, shown), why);
    return error_hint(err, "a target is http://HOST[:PORT][/PATH] or https://...");
}

static int parse_port(const char *text, size_t len, int *ret)
{
    int port = 0;

    if (!len || len > 5)
        return -1;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        port = port * 10 + (text[i] - '0');
    }
    if (port < 1 || port > 65535)
        return -1;
    *ret = port;
    return 0;
}

/* "host", "host:1", "[::1]", "[::1]:1" */
static const char *parse_authority(const char *text, size_t len, struct arena *a, struct target *t)
{
    const char *host = text, *end = text + len, *host_end, *colon;

    if (memchr(text, '@', len))
        return "has credentials: give an Authorization header instead";
    if (len && *text == '[') {
        host_end = memchr(text, ']', len);
        if (!host_end)
            return "has no ']' after its address";
        host = text + 1;
        colon = host_end + 1;
        if (colon < end && *colon != ':')
            return "has something between ']' and its port";
    } else {
        colon = memchr(text, ':', len);
        host_end = colon = colon ? colon : end;
    }
    if (host == host_end)
        return "names no host";
    if (colon < end && parse_port(colon + 1, (size_t)(end - colon - 1), &t->port) < 0)
        return "has a port that is none (1 to 65535)";
    for (const char *p = host; p < host_end; p++)
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return "has a blank or control character in its host";
    t->host = arena_strndup(a, host, (size_t)(host_end - host));
    return NULL;
}

static void name_authority(struct target *t, struct arena *a)
{
    bool v6 = strchr(t->host, ':') != NULL;
    const char *open = v6 ? "[" : "", *close = v6 ? "]" : "";

    if (t->port == (t->tls ? 443 : 80))
        t->authority = arena_printf(a, "%s%s%s", open, t->host, close);
    else
        t->authority = arena_printf(a, "%s%s%s:%d", open, t->host, close, t->port);
}

int target_parse(const char *url, struct position at, struct arena *a, struct target *ret, struct error *err)
{
    struct target t = {.port = 80};
    const char *rest, *why;

    if (strncasecmp(url, "http://", 7) == 0) {
        rest = url + 7;
    } else if (strncasecmp(url, "https://", 8) == 0) {
        rest = url + 8;
        t.tls = true;
        t.port = 443;
    } else {
        return malformed(url, at, "is no http:// or https:// URL", err);
    }
    size_t len = strcspn(rest, "/?#"), path_len = strlen(rest + len);
    if ((why = parse_authority(rest, len, a, &t)))
        return malformed(url, at, why, err);
    if (strpbrk(rest + len, "?#"))
        return malformed(url, at, "has a query or fragment, which belongs to a request's path", err);
    while (path_len && rest[len + path_len - 1] == '/')
        path_len--;
    t.prefix = arena_strndup(a, rest + len, path_len);
    name_authority(&t, a);
    *ret = t;
    return 0;
}

int target_resolve(const struct target *t, struct addresses *ret, struct error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *list = NULL;
    char port[8];

    (void)snprintf(port, sizeof(port), "%d", t->port);
    int code = getaddrinfo(t->host, port, &hints, &list);
    if (code == EAI_SYSTEM)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot resolve '%s'", t->host);
    if (code)
        return error_set(err, ERROR_ENVIRONMENT, "cannot resolve '%s': %s", t->host, gai_strerror(code));
    ret->len = 0;
    for (const struct addrinfo *i = list; i && ret->len < ADDRESSES_MAX; i = i->ai_next) {
        if (i->ai_addrlen > sizeof(ret->items[0].at))
            continue;
        memcpy(&ret->items[ret->len].at, i->ai_addr, i->ai_addrlen);
        ret->items[ret->len++].len = i->ai_addrlen;
    }
    freeaddrinfo(list);
    if (!ret->len)
        return error_set(err, ERROR_ENVIRONMENT, "cannot resolve '%s': no usable address", t->host);
    return 0;
}

static const struct in6_addr *v6_of(const struct addresses *all, size_t i)
{
    const void *at = &all->items[i].at;

    return all->items[i].at.ss_family == AF_INET6 ? &((const struct sockaddr_in6 *)at)->sin6_addr : NULL;
}

bool address_is_link_local(const struct addresses *all, size_t i)
{
    const struct in6_addr *v6 = v6_of(all, i);

    return v6 && IN6_IS_ADDR_LINKLOCAL(v6);
}

const char *address_text(const struct addresses *all, size_t i, char *buf)
{
    const struct in6_addr *v6 = v6_of(all, i);
    const void *at = &all->items[i].at;

    if (v6)
        (void)inet_ntop(AF_INET6, v6, buf, INET6_ADDRSTRLEN);
    else
        (void)inet_ntop(AF_INET, &((const struct sockaddr_in *)at)->sin_addr, buf, INET6_ADDRSTRLEN);
    return buf;
}
