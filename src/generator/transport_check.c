/* SPDX-License-Identifier: MIT */
/* What an answer, or a failure, counts as. */
#include <errno.h>
#include "transport_internal.h"

static bool matches(const regex_t *regex, const char *text, size_t len)
{
    regmatch_t where[1] = {{.rm_so = 0, .rm_eo = (regoff_t)len}};

    return regexec(regex, text ? text : "", 1, where, REG_STARTEND) == 0;
}

bool header_matches(const struct request_kind *k, const char *value, size_t len)
{
    return matches(k->header_regex, value, len);
}

static enum request_error judge_grpc(const struct request_kind *k, const struct answer_facts *f,
                                     const char **ret_detail)
{
    if (f->grpc_status == k->form->expect.grpc_status)
        return REQUEST_OK;
    if (f->grpc_status >= 0) {
        *ret_detail = "another grpc-status than expected";
        return REQUEST_STATUS;
    }
    *ret_detail = "an answer without grpc-status";
    return REQUEST_PROTOCOL;
}

enum request_error answer_judge(struct exchange *x, const struct answer_facts *f, const char **ret_detail)
{
    const struct request_kind *k = x->kind;

    *ret_detail = NULL;
    if (f->status < 0 || (size_t)f->status >= ARRAY_LEN(k->status_ok) || !k->status_ok[f->status]) {
        *ret_detail = "another status than expected";
        return REQUEST_STATUS;
    }
    if (k->is_grpc) {
        enum request_error error = judge_grpc(k, f, ret_detail);
        if (error != REQUEST_OK)
            return error;
    }
    if (!f->header_ok) {
        *ret_detail = "another header than expected";
        return REQUEST_MISMATCH;
    }
    if (k->body_regex && !matches(k->body_regex, f->body, f->body_len)) {
        *ret_detail = "another body than expected";
        return REQUEST_MISMATCH;
    }
    x->fallback = k->fallback_regex && matches(k->fallback_regex, f->body, f->body_len);
    return REQUEST_OK;
}

enum request_error connect_error(int errnum)
{
    switch (errnum) {
    case EADDRNOTAVAIL: /* every local port is taken */
    case EAGAIN:        /* the same, as connect() says it */
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case ENOSPC: /* of epoll: too many watches */
        return REQUEST_GENERATOR;
    case ECONNRESET: /* it was made, and broke at once */
    case EPIPE:
        return REQUEST_RESET;
    default:
        return REQUEST_CONNECT;
    }
}

const char *errno_text(int errnum)
{
    const char *text = strerrordesc_np(errnum);

    return text ? text : "unknown error";
}
