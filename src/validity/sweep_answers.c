/* SPDX-License-Identifier: MIT */
/* V26: did all scenarios answer the same, and write the same? */
#include "sweep_internal.h"

#include <math.h>
#include "benchctl/base/name_index.h"

/* Of the requests: then one that is asked once may fail by chance. Most of them: then it is no chance. */
#define FAILURES_ANY 0.001
#define FAILURES_MOST 0.5
#define SIZE_DIFFERS 0.01 /* dates and ids make answers differ by less */
#define ROWS_DIFFER 0.01
/* Which of its requests a load makes is random: so many standard deviations lie between the ends of some ten
 * scenarios. And what sessions tell of the last second before the window may be counted in it. */
#define ROWS_DEVIATIONS 5
#define ROWS_TOLD_MS 1000.0

/* Of one request, in all scenarios: the first that answered it, and who answered something else. */
struct answer_seen {
    const struct answer_sample *first;
    const char *scenario;
    double error_rate; /* of any that answered otherwise, or of the first */
    struct names_list status, shape, size;
    const char *example[3]; /* "500 instead of 200" */
    size_t arms;
    bool bytes_differ; /* what dates and ids may do */
};

static void compare_answers(struct sweep_judge *j, struct answer_seen *s, const struct answer_sample *x,
                            const struct arm *a)
{
    const char *scenario = a->scenario;
    const struct answer_sample *first = s->first;
    double larger = fmax(x->bytes, first->bytes);

    if (x->status != first->status) {
        if (!s->status.len)
            s->example[0] = arena_printf(j->arena, "%d instead of %d", x->status, first->status);
        names_add(&s->status, scenario);
        s->error_rate = fmax(s->error_rate, a->error_rate); /* leaves out a NAN */
    } else if (x->shape && first->shape && !text_equal(x->shape, first->shape)) {
        names_add(&s->shape, scenario);
    } else if (fabs(x->bytes - first->bytes) > SIZE_DIFFERS * larger) {
        if (!s->size.len)
            s->example[2] = arena_printf(j->arena, "%.0f bytes instead of %.0f", x->bytes, first->bytes);
        names_add(&s->size, scenario);
    }
    s->bytes_differ |= !text_equal(x->sha256, first->sha256);
}

static void say_answers(struct sweep_judge *j, struct answer_seen *s)
{
    static const char id[] = "same-answers";
    const char *request = s->first->request ? s->first->request : "?";
    bool good = !s->status.len && !s->shape.len && !s->size.len;

    if (s->status.len && s->error_rate > FAILURES_ANY && s->error_rate < FAILURES_MOST)
        sweep_say(j, id, "WARN",
                  "'%s' is answered with another status than in %s (%s) by %s; but %s of the requests failed "
                  "there, and it may have been one of these",
                  request, s->scenario, s->example[0], names_text(&s->status, j->arena),
                  percent(j->arena, s->error_rate));
    else if (s->status.len)
        sweep_say(j, id, "FAIL", "'%s' is answered with another status than in %s (%s) by %s", request,
                  s->scenario, s->example[0], names_text(&s->status, j->arena));
    if (s->shape.len)
        sweep_say(j, id, "WARN", "'%s' is answered in another form than in %s by %s", request, s->scenario,
                  names_text(&s->shape, j->arena));
    if (s->size.len)
        sweep_say(j, id, "WARN", "'%s' is answered in another size than in %s (%s) by %s", request,
                  s->scenario, s->example[2], names_text(&s->size, j->arena));
    if (good && s->arms > 1)
        sweep_say(j, id, "PASS", "'%s': %zu scenarios answer %s", request, s->arms,
                  s->bytes_differ ? "with the same status, form and size, if not the same bytes"
                                  : "with the same bytes");
}

static void answers_agree(struct sweep_judge *j)
{
    struct name_index index = NAME_INDEX_INIT;
    VEC(struct answer_seen) seen = {0};

    for (size_t i = 0; i < j->len; i++) {
        const struct arm *a = &j->arms[i];
        const struct trial *t = a->n ? a->counted[0] : NULL;
        for (size_t k = 0; t && k < t->answer_count; k++) {
            const struct answer_sample *x = &t->answers[k];
            bool new;
            size_t at = *name_index_put(&index, x->request ? x->request : "?", seen.len, &new);
            if (new)
                vec_push(&seen, (struct answer_seen){
                                    .first = x, .scenario = a->scenario, .error_rate = a->error_rate});
            else
                compare_answers(j, &seen.items[at], x, a);
            seen.items[at].arms++;
        }
    }
    vec_each (s, &seen)
        say_answers(j, s);
    vec_release(&seen);
    name_index_release(&index);
}

static double rows_per_request(const struct arm *a, double (*rows)(const struct database_result *d))
{
    CLEANUP_FREE double *values = xmalloc((a->n + 1) * sizeof(*values));

    for (size_t i = 0; i < a->n; i++) {
        const struct trial *t = a->counted[i];
        values[i] = t->has_database && t->load.ok > 0 ? rows(&t->database) / t->load.ok : NAN;
    }
    return stats_quantile(values, a->n, 0.5);
}

static double inserted(const struct database_result *d)
{
    return d->rows_inserted;
}

static double updated(const struct database_result *d)
{
    return d->rows_updated;
}

static double deleted(const struct database_result *d)
{
    return d->rows_deleted;
}

/* How far from the true share the rows of this many requests may be, in parts of it. */
static double rows_tolerance(const struct arm *a, double per_request)
{
    double requests = 0, window_ms = 0;

    for (size_t i = 0; i < a->n; i++) {
        requests += a->counted[i]->load.ok;
        window_ms += a->counted[i]->load.window_ms / (double)a->n;
    }
    return ROWS_DIFFER + ROWS_DEVIATIONS / sqrt(requests * per_request) +
           (window_ms > 0 ? ROWS_TOLD_MS / window_ms : 0) + (a->error_rate > 0 ? a->error_rate : 0);
}

struct rows_seen {
    const struct arm *least, *most;
    double low, high;
    size_t known;
};

static struct rows_seen rows_seen(struct sweep_judge *j, double (*rows)(const struct database_result *d))
{
    struct rows_seen s = {.low = INFINITY, .high = -INFINITY};

    for (size_t i = 0; i < j->len; i++) {
        const struct arm *a = &j->arms[i];
        double value = a->out ? NAN : rows_per_request(a, rows); /* who crashed has answered for some only */
        s.known += !isnan(value);
        if (value < s.low) {
            s.low = value;
            s.least = a;
        }
        if (value > s.high) {
            s.high = value;
            s.most = a;
        }
    }
    return s;
}

static void rows_agree(struct sweep_judge *j, const char *what,
                       double (*rows)(const struct database_result *d))
{
    struct rows_seen s = rows_seen(j, rows);

    if (s.known < 2 || !s.least || !s.most || !(s.high > 0))
        return;
    double tolerance = fmax(rows_tolerance(s.least, s.high), rows_tolerance(s.most, s.high));
    if (s.high - s.low > tolerance * s.high)
        sweep_say(j, "same-answers", "WARN", "rows %s per request: %s in %s, %s in %s", what,
                  digits(j->arena, s.low), s.least->scenario, digits(j->arena, s.high), s.most->scenario);
    else
        sweep_say(j, "same-answers", "PASS", "rows %s per request: %s everywhere", what,
                  from_to(j->arena, s.low, s.high));
}

void judge_answers(struct sweep_judge *j)
{
    answers_agree(j);
    rows_agree(j, "inserted", inserted);
    rows_agree(j, "updated", updated);
    rows_agree(j, "deleted", deleted);
}
