/* SPDX-License-Identifier: MIT */
/* What a request expects of its answer. */
#include "prepare.h"

#include "benchctl/base/line_regex.h"

/* "200", "2xx" or "200-204" */
static bool parse_status(const char *text, int *ret_from, int *ret_to)
{
    int from = 0, to = 0, used = 0;
    size_t len = strlen(text);

    if (len == 3 && text[0] >= '1' && text[0] <= '9' && strcasecmp(text + 1, "xx") == 0) {
        *ret_from = (text[0] - '0') * 100;
        *ret_to = *ret_from + 99;
        return true;
    }
    if (strspn(text, "0123456789-") != len || len > 7 || len < 3)
        return false;
    if (sscanf(text, "%3d-%3d%n", &from, &to, &used) != 2) {
        used = 0;
        if (sscanf(text, "%3d%n", &from, &used) != 1)
            return false;
        to = from;
    }
    *ret_from = from;
    *ret_to = to;
    return (size_t)used == len && from >= 100 && from <= to && to <= 999;
}

static int prepare_statuses(struct prepare *p, struct error *err)
{
    const struct text_list *wanted = &p->form->expect.status;
    char shown[SHOWN_SIZE];
    int from, to;

    for (size_t i = 0; i < wanted->len; i++) {
        if (!parse_status(wanted->items[i], &from, &to)) {
            (void)position_error(err, p->form->at, "expect.status: '%s' is no status",
                                 text_shown(wanted->items[i], shown));
            return error_hint(err, "a status is 200, a class 2xx, a range 200-204");
        }
        for (int status = from; status <= to; status++)
            p->kind->status_ok[status] = true;
    }
    if (wanted->len)
        return 0;
    for (int status = 200; status < (p->kind->is_grpc ? 201 : 400); status++)
        p->kind->status_ok[status] = true;
    return 0;
}

static int compile_regex(struct prepare *p, const char *what, const char *text, struct error *err)
{
    struct error inner = ERROR_INIT;
    CLEANUP_FREE regex_t *regex = xcalloc(1, sizeof(*regex));

    if (regex_compile(text, regex, &inner) < 0)
        return prepare_error(p->form->expect_at, what, &inner, err);
    vec_push(&p->transport->regexes, TAKE(regex));
    return 0;
}

static const regex_t *newest_regex(const struct prepare *p)
{
    return p->transport->regexes.items[p->transport->regexes.len - 1];
}

int prepare_expect(struct prepare *p, struct error *err)
{
    const struct workload_expect *e = &p->form->expect;
    struct request_kind *k = p->kind;

    if (prepare_statuses(p, err) < 0)
        return -1;
    if (e->body) {
        if (compile_regex(p, "expect.body", e->body, err) < 0)
            return -1;
        k->body_regex = newest_regex(p);
    }
    if (!e->header)
        return 0;
    const char *colon = strchr(e->header, ':');
    if (!colon || !is_token(e->header, (size_t)(colon - e->header))) {
        (void)position_error(err, p->form->at, "expect.header has no name");
        return error_hint(err, "it is written as 'Name: REGEX'");
    }
    k->header_name = arena_strndup(p->arena, e->header, (size_t)(colon - e->header));
    if (compile_regex(p, "expect.header", colon + 1 + strspn(colon + 1, " \t"), err) < 0)
        return -1;
    k->header_regex = newest_regex(p);
    return 0;
}
