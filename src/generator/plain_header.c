/* SPDX-License-Identifier: MIT */
/* The headers of an answer that matter: what frames it, what becomes of the connection, what is expected. */
#include <strings.h>
#include "plain_answer_internal.h"
#include "transport_internal.h"

static bool is(const char *text, size_t len, const char *wanted, size_t wanted_len)
{
    return len == wanted_len && strncasecmp(text, wanted, len) == 0;
}
#define IS(text, len, wanted) is(text, len, wanted, sizeof(wanted) - 1)

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void trim(const char **text, size_t *len)
{
    while (*len && is_blank((*text)[0])) {
        ++*text;
        --*len;
    }
    while (*len && is_blank((*text)[*len - 1]))
        --*len;
}

/* Takes the next of a comma-separated list; false at its end. */
static bool next_token(const char **text, size_t *len, const char **ret, size_t *ret_len)
{
    if (!*len)
        return false;
    const char *comma = memchr(*text, ',', *len);
    size_t used = comma ? (size_t)(comma - *text) + 1 : *len;
    *ret = *text;
    *ret_len = comma ? used - 1 : used;
    *text += used;
    *len -= used;
    trim(ret, ret_len);
    return true;
}

/* "5", and "5, 5", which some proxies make of two equal ones. */
static bool content_length(struct answer *a, const char *text, size_t len)
{
    const char *token;
    size_t token_len;

    while (next_token(&text, &len, &token, &token_len)) {
        uint64_t value = 0;
        if (!token_len) /* a list may have empty members */
            continue;
        if (token_len > 18)
            return answer_refuse(a, "a Content-Length that is none");
        for (size_t i = 0; i < token_len; i++) {
            if (token[i] < '0' || token[i] > '9')
                return answer_refuse(a, "a Content-Length that is none");
            value = value * 10 + (uint64_t)(token[i] - '0');
        }
        if (a->has_length && value != a->left)
            return answer_refuse(a, "several Content-Lengths that differ");
        a->has_length = true;
        a->left = value;
    }
    return a->has_length || answer_refuse(a, "a Content-Length that is none");
}

static bool transfer_encoding(struct answer *a, const char *text, size_t len)
{
    const char *token;
    size_t token_len;

    while (next_token(&text, &len, &token, &token_len)) {
        if (!token_len)
            continue;
        if (a->chunked)
            return answer_refuse(a, "a Transfer-Encoding behind chunked");
        if (IS(token, token_len, "chunked"))
            a->chunked = true;
        else if (!IS(token, token_len, "identity"))
            a->coded = true;
    }
    return true;
}

static void connection(struct answer *a, const char *text, size_t len)
{
    const char *token;
    size_t token_len;

    while (next_token(&text, &len, &token, &token_len)) {
        if (IS(token, token_len, "close"))
            a->said_close = true;
        else if (IS(token, token_len, "keep-alive"))
            a->said_keep = true;
    }
}

bool answer_header(struct answer *a, const char *line, size_t len)
{
    if (is_blank(line[0])) { /* folded: the line before goes on */
        if (a->framing_line)
            return answer_refuse(a, "a folded header that frames the answer");
        return true;
    }
    const char *colon = memchr(line, ':', len);
    if (!colon || colon == line || is_blank(colon[-1]))
        return answer_refuse(a, "a header line that is none");
    size_t name_len = (size_t)(colon - line), value_len = len - name_len - 1;
    const char *value = colon + 1;
    const struct request_kind *k = a->kind;
    a->framing_line = false;
    if (k->header_name && is(line, name_len, k->header_name, strlen(k->header_name))) {
        trim(&value, &value_len);
        a->header_ok |= header_matches(k, value, value_len);
    }
    switch (name_len) {
    case sizeof("Content-Length") - 1:
        if (!IS(line, name_len, "Content-Length"))
            return true;
        trim(&value, &value_len);
        a->framing_line = true;
        return content_length(a, value, value_len);
    case sizeof("Transfer-Encoding") - 1:
        if (!IS(line, name_len, "Transfer-Encoding"))
            return true;
        a->framing_line = true;
        return transfer_encoding(a, value, value_len);
    case sizeof("Connection") - 1:
        if (IS(line, name_len, "Connection"))
            connection(a, value, value_len);
        return true;
    default:
        return true;
    }
}
