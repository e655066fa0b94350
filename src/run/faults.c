/* SPDX-License-Identifier: MIT */
/*
 * When a trial was lost to the environment: is it made again, and does the sweep go on? What may pass by
 * itself (an engine that was restarted or did not do as asked, a port that a stranger took) is tried again a
 * few times with growing pauses, apart from what `retry` allows. Once that was in vain the trials after it
 * get one attempt each, until one of them is not lost: what is broken for good must not cost minutes a trial.
 */
#include "run_internal.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"

#define RETRIES 3
#define BACK_OFF_NS NS_PER_S
#define IN_A_ROW 5 /* trials; by then it is not chance */
#define SHOWN 5    /* of them in a message */

static const int pauses[] = {1, 5, 15}; /* times the first pause; the last one stays */

void faults_release(struct sweep_faults *f)
{
    vec_each (l, &f->left) {
        free(l->id);
        free(l->name);
        free(l->why);
    }
    vec_release(&f->left);
    vec_each (text, &f->in_a_row)
        free(*text);
    vec_release(&f->in_a_row);
    free(f->last);
}

void fault_of_trial(struct trial_run *t)
{
    struct sweep_faults *f = &t->sweep->faults;

    free(f->last);
    f->last = NULL;
    f->passing = false;
    if (t->record.outcome != OUTCOME_ERROR)
        return;
    f->last = xasprintf("trial %d of '%s': %s", t->record.trial, t->scenario.id, t->record.reason);
    f->passing = (t->passing || t->engine_lost) && !t->hopeless;
}

static int pause_for(struct sweep_run *s, int retry, struct error *err)
{
    int64_t first_ns = s->options->back_off_ns > 0 ? s->options->back_off_ns : BACK_OFF_NS;
    size_t last = ARRAY_LEN(pauses) - 1, i = (size_t)retry < last ? (size_t)retry : last;
    int64_t ns = first_ns * pauses[i];
    char text[32];

    note("once more in %s: the environment's fault, not the trial's: %s", duration_human(ns, text),
         s->faults.last);
    progress_step(s, "back-off");
    return loop_sleep_until(s->loop, clock_now_ns() + ns, err);
}

int fault_try_again(struct sweep_run *s, enum outcome o, struct attempts *a, bool *ret_again,
                    struct error *err)
{
    int allowed = s->options->infrastructure_retries;

    *ret_again = false;
    if ((o != OUTCOME_ERROR && o != OUTCOME_INVALID) || s->engine_given_up)
        return 0;
    if (s->faults.passing && s->faults.in_a_row.len == 0 && a->faults < (allowed ? allowed : RETRIES)) {
        *ret_again = true;
        return pause_for(s, a->faults++, err);
    }
    if (a->own >= s->retry_allowed)
        return 0;
    a->own++;
    *ret_again = true;
    note("once more: the trial ended in '%s', attempt %d of %d", outcome_name(o), a->own + 1,
         s->retry_allowed + 1);
    return 0;
}

static int stop_for_many(struct sweep_run *s, struct error *err)
{
    const struct sweep_faults *f = &s->faults;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    for (size_t i = 0; i < f->in_a_row.len && i < SHOWN; i++)
        strbuf_addf(&text, "\n  %s", f->in_a_row.items[i]);
    if (f->in_a_row.len > SHOWN)
        strbuf_addf(&text, "\n  and %zu more", f->in_a_row.len - SHOWN);
    (void)error_set(err, ERROR_ENVIRONMENT,
                    "%zu trials in a row failed for the environment's sake; the sweep stops:%s",
                    f->in_a_row.len, strbuf_text(&text));
    return error_hint(err, "mend it and go on with `benchctl resume`; `benchctl doctor` says more");
}

int fault_stop(struct sweep_run *s, enum outcome o, struct error *err)
{
    struct sweep_faults *f = &s->faults;
    int limit = s->options->max_infrastructure_failures;

    if (o != OUTCOME_ERROR) {
        vec_each (text, &f->in_a_row)
            free(*text);
        f->in_a_row.len = 0;
        return 0;
    }
    vec_push(&f->in_a_row, xstrdup(f->last ? f->last : "a trial"));
    if (s->engine_given_up) {
        (void)error_set(err, ERROR_ENVIRONMENT, "%s; the sweep stops", f->last);
        return error_hint(err, "start the engine and go on with `benchctl resume`");
    }
    return f->in_a_row.len < (size_t)(limit > 0 ? limit : IN_A_ROW) ? 0 : stop_for_many(s, err);
}
