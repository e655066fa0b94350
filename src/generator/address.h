/* SPDX-License-Identifier: MIT */
/* Where the load goes: a target's URL taken apart, and its host's addresses. */
#ifndef BENCHCTL_GENERATOR_ADDRESS_H
#define BENCHCTL_GENERATOR_ADDRESS_H

#include <sys/socket.h>
#include "benchctl/base/arena.h"
#include "benchctl/base/error.h"
#include "benchctl/base/tree.h"

#define ADDRESSES_MAX 8

struct target {
    bool tls;
    const char *host;      /* without brackets */
    const char *authority; /* as the Host header has it: the port only when it is not the scheme's */
    const char *prefix;    /* path before each request's, without a slash at its end; "" */
    int port;
};

struct addresses {
    struct {
        struct sockaddr_storage at;
        socklen_t len;
    } items[ADDRESSES_MAX];
    size_t len;
};

/* http or https, host or [IPv6], port, path. Credentials, a query and a fragment are refused. */
int target_parse(const char *url, struct position at, struct arena *a, struct target *ret,
                 struct error *err) MUST_CHECK;
int target_resolve(const struct target *t, struct addresses *ret, struct error *err) MUST_CHECK;
bool address_is_link_local(const struct addresses *all, size_t i);
/* Without port and zone; returns buf, of INET6_ADDRSTRLEN bytes. */
const char *address_text(const struct addresses *all, size_t i, char *buf);

#endif
