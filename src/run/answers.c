/* SPDX-License-Identifier: MIT */
/* What the application answers, before anything is measured: to see later whether scenarios that are compared
 * answer the same. */
#include "ask.h"

#include "benchctl/base/hash.h"

#define ANSWERS_MAX 5

bool answers_wanted(struct trial_run *t)
{
    struct load_get get;

    return load_gets(t, &get, 1) > 0;
}

static void keep(struct trial_run *t, const struct asked *asked)
{
    struct trial *r = &t->record;
    char hex[SHA256_HEX_SIZE];

    sha256_hex(strbuf_text(&asked->body), asked->body.len, hex);
    r->answers[r->answer_count++] = (struct answer_sample){
        .request = asked->request,
        .status = asked->status,
        .bytes = (double)asked->body.len,
        .sha256 = arena_strdup(t->arena, hex),
        .shape = answer_shape(asked->content_type, strbuf_text(&asked->body), asked->body.len, t->arena),
    };
}

/* Whatever status it has: only what could not be asked is left out. */
int step_answers(struct trial_run *t, struct error *err)
{
    struct load_get gets[ANSWERS_MAX];
    size_t kinds = load_gets(t, gets, ANSWERS_MAX);

    t->record.answers = arena_array(t->arena, struct answer_sample, ANSWERS_MAX);
    for (size_t i = 0; i < kinds; i++) {
        CLEANUP_VALUE(asked_release) struct asked asked;
        if (ask(t, &gets[i], 0, &asked, err) < 0)
            return -1;
        if (!asked.status)
            return 0; /* nobody answers: the load will tell */
        keep(t, &asked);
    }
    return 0;
}
