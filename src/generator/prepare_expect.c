/* SPDX-License-Identifier: MIT */
/* What a request expects of its answer. */
#include "prepare.h"

#include "benchctl/base/line_regex.h"

static int prepare_statuses(struct prepare *p, struct error *err)
{
    const struct text_list *wanted = &p->form->expect.status;
    char shown[SHOWN_SIZE];
    int from, to;

    for (size_t i = 0; i < wanted->len; i++) {
        if (!workload_status_range(wanted->items[i], &from, &to)) {
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

static int compile_regex(struct prepare *p, struct position at, const char *what, const char *text,
                         struct error *err)
{
    struct error inner = ERROR_INIT;
    CLEANUP_FREE regex_t *regex = xcalloc(1, sizeof(*regex));

    if (regex_compile(text, regex, &inner) < 0)
        return prepare_error(at, what, &inner, err);
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
        if (compile_regex(p, p->form->expect_at, "expect.body", e->body, err) < 0)
            return -1;
        k->body_regex = newest_regex(p);
    }
    if (p->form->fallback) {
        if (compile_regex(p, p->form->fallback_at, "fallback", p->form->fallback, err) < 0)
            return -1;
        k->fallback_regex = newest_regex(p);
    }
    k->wants_body = k->body_regex || k->fallback_regex;
    if (!e->header)
        return 0;
    const char *colon = strchr(e->header, ':');
    if (!colon || !is_token(e->header, (size_t)(colon - e->header))) {
        (void)position_error(err, p->form->at, "expect.header has no name");
        return error_hint(err, "it is written as 'Name: REGEX'");
    }
    k->header_name = arena_strndup(p->arena, e->header, (size_t)(colon - e->header));
    if (compile_regex(p, p->form->expect_at, "expect.header", colon + 1 + strspn(colon + 1, " \t"), err) < 0)
        return -1;
    k->header_regex = newest_regex(p);
    return 0;
}
