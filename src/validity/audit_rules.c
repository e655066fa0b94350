/* SPDX-License-Identifier: MIT */
/* Published tables: repetitions, failures, and figures of one row that contradict each other. */
#include "audit_internal.h"

#include <math.h>

#define ENOUGH_STARTS 3
#define FAILURES_DIFFER 0.001
#define SUM_TOLERANCE 0.1   /* percentage points: each share is rounded */
#define COUNT_TOLERANCE 0.5 /* requests */
#define RATE_TOLERANCE 0.05 /* of a throughput: warm-up in or out, the ends of a run */
#define GC_SHARE 0.05       /* of the duration */
#define DF_MAX 1e6          /* degrees of freedom: more change no digit */

static bool *marks(struct audit_judge *j)
{
    return arena_array(j->t->arena, bool, j->t->len + 1);
}

/* --- V12 --- */

static double starts(const struct audit_row *r)
{
    return isnan(r->value[FIELD_VALUES]) ? r->value[FIELD_N] : r->value[FIELD_VALUES];
}

static double variation(const struct audit_row *r)
{
    struct summary s;

    if (!isnan(r->value[FIELD_CV]))
        return r->value[FIELD_CV] / 100;
    stats_summary(r->values, r->value_count, &s);
    return s.cv_pct / 100;
}

/* The ratio between two such rows that so many starts can tell from 1: half the width of its 95 % interval.
 */
static double detectable(double n, double cv)
{
    double df = fmin(2 * n - 2, DF_MAX);

    return n >= 2 ? exp(stats_t975((size_t)df) * cv * sqrt(2 / n)) - 1 : NAN;
}

static void replication(struct audit_judge *j)
{
    struct arena *a = j->t->arena;
    bool *few = marks(j);
    size_t silent = 0, count = 0;
    double fewest = INFINITY, worst = NAN;

    for (size_t i = 0; i < j->t->len; i++) {
        const struct audit_row *r = &j->t->rows[i];
        double n = starts(r);
        silent += isnan(n);
        few[i] = n < ENOUGH_STARTS;
        count += few[i];
        fewest = fmin(fewest, n);
        worst = fmax(worst, detectable(n, variation(r)));
    }
    const char *range =
        isnan(worst) ? "" : arena_printf(a, "; differences below %s can be chance", percent(a, worst));
    if (silent == j->t->len)
        audit_say(
            j, "table-replication", "WARN", NULL,
            "the table does not say how often anything was measured: it shows what happened, not what would "
            "happen again");
    else if (count)
        audit_say(
            j, "table-replication", "WARN", few,
            "n = %s: too few to call a difference real; the table shows what happened, not what would happen "
            "again%s",
            digits(a, fewest), range);
    else
        audit_say(j, "table-replication", "PASS", NULL, "n = %s or more%s", digits(a, fewest), range);
}

/* --- V14, V15 --- */

static void failures(struct audit_judge *j)
{
    struct arena *a = j->t->arena;
    double low = INFINITY, high = -INFINITY;
    bool *failing = marks(j);
    size_t count = 0;

    for (size_t i = 0; i < j->t->len; i++) {
        double share = row_failed(&j->t->rows[i]);
        if (isnan(share) || isnan(row_rps(&j->t->rows[i])))
            continue;
        count++;
        low = fmin(low, share);
        high = fmax(high, share);
    }
    if (count < 2)
        return;
    for (size_t i = 0; i < j->t->len; i++)
        failing[i] = row_failed(&j->t->rows[i]) > low + FAILURES_DIFFER;
    if (high - low > FAILURES_DIFFER)
        audit_say(
            j, "table-failures", "WARN", failing,
            "%s to %s of the requests failed: a throughput that counts failures, or leaves them out, is not "
            "that of the others",
            percent(a, low), percent(a, high));
    else
        audit_say(j, "table-failures", "PASS", NULL, "%s %% of the requests failed",
                  from_to(a, 100 * low, 100 * high));
}

static void restarts(struct audit_judge *j)
{
    bool *marked = marks(j);
    size_t count = 0;

    if (!j->t->has[FIELD_RESTARTS] && !j->t->has[FIELD_OOM])
        return;
    for (size_t i = 0; i < j->t->len; i++) {
        const struct audit_row *r = &j->t->rows[i];
        marked[i] = (r->value[FIELD_RESTARTS] > 0 || r->value[FIELD_OOM] > 0) && !isnan(row_rps(r));
        count += marked[i];
    }
    if (count)
        audit_say(j, "table-restarts", "WARN", marked,
                  "%s: the throughput is that of a service that was failing, and of the pauses in between",
                  row_names(j, marked));
    else
        audit_say(j, "table-restarts", "PASS", NULL, "no row with a throughput restarted");
}

/* --- garbage collection --- */

static void gc_pauses(struct audit_judge *j)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct arena *a = j->t->arena;
    bool *marked = marks(j), unknown = false, much = false;
    size_t count = 0;

    for (size_t i = 0; i < j->t->len; i++) {
        const struct audit_row *r = &j->t->rows[i];
        double total = r->value[FIELD_GC_COUNT] * r->value[FIELD_GC_PAUSE] / 1e3,
               share = total / r->value[FIELD_DURATION];
        if (isnan(total))
            continue;
        marked[i] = true;
        unknown |= isnan(share);
        much |= share > GC_SHARE;
        if (count++ < 4)
            strbuf_addf(&text, "%s%s: %s x %s ms = %s s%s%s", count > 1 ? "; " : "", r->name,
                        digits(a, r->value[FIELD_GC_COUNT]), digits(a, r->value[FIELD_GC_PAUSE]),
                        digits(a, total), isnan(share) ? "" : ", of the duration ",
                        isnan(share) ? "" : percent(a, share));
    }
    if (count)
        audit_say(j, "table-gc-pauses", much || unknown ? "WARN" : "PASS", marked, "%s%s", strbuf_text(&text),
                  unknown
                      ? "; what share of the time that is cannot be said: the duration is not in the table"
                      : "");
}

/* --- one row against itself --- */

static void percentiles(struct audit_judge *j)
{
    static const enum audit_field order[] = {FIELD_MIN, FIELD_P50, FIELD_P75,  FIELD_P90,
                                             FIELD_P95, FIELD_P99, FIELD_P999, FIELD_MAX};
    const char *example = NULL;
    bool *marked = marks(j);
    size_t known = 0;

    for (size_t i = 0; i < j->t->len; i++) {
        const struct audit_row *r = &j->t->rows[i];
        size_t last = FIELDS, have = 0;
        for (size_t k = 0; k < ARRAY_LEN(order); k++) {
            double value = r->value[order[k]];
            if (isnan(value))
                continue;
            have++;
            if (last < FIELDS && value < r->value[last] && !marked[i]) {
                marked[i] = true;
                if (!example)
                    example = arena_printf(j->t->arena, "%s: %s of %s ms is below %s of %s ms", r->name,
                                           audit_names[order[k]].field, digits(j->t->arena, value),
                                           audit_names[last].field, digits(j->t->arena, r->value[last]));
            }
            last = order[k];
        }
        known += have > 1;
    }
    if (example)
        audit_say(j, "table-percentiles", "FAIL", marked, "%s", example);
    else if (known)
        audit_say(j, "table-percentiles", "PASS", NULL, "percentiles of %zu row%s are in order", known,
                  known == 1 ? "" : "s");
}

/* What does not add up, or NULL. */
static const char *sums_of(struct audit_judge *j, const struct audit_row *r, bool *ret_known)
{
    struct arena *a = j->t->arena;
    double shares = r->ok_pct + r->failed_pct,
           counts = r->value[FIELD_OK] + r->value[FIELD_FAILED] - r->value[FIELD_REQUESTS];
    double rate = r->value[FIELD_REQUESTS] / r->value[FIELD_DURATION] / r->value[FIELD_RPS] - 1;
    double good = r->value[FIELD_OK] / r->value[FIELD_DURATION] / r->value[FIELD_RPS] - 1;

    *ret_known |= !isnan(shares) || !isnan(counts) || !isnan(rate);
    if (fabs(shares - 100) > SUM_TOLERANCE)
        return arena_printf(a, "%s: %s %% good and %s %% failed", r->name, digits(a, r->ok_pct),
                            digits(a, r->failed_pct));
    if (fabs(counts) > COUNT_TOLERANCE)
        return arena_printf(a, "%s: %s good and %s failed of %s requests", r->name,
                            digits(a, r->value[FIELD_OK]), digits(a, r->value[FIELD_FAILED]),
                            digits(a, r->value[FIELD_REQUESTS]));
    if (fabs(rate) > RATE_TOLERANCE && !(fabs(good) <= RATE_TOLERANCE))
        return arena_printf(a, "%s: %s requests in %s s are %s requests/s, not %s", r->name,
                            digits(a, r->value[FIELD_REQUESTS]), digits(a, r->value[FIELD_DURATION]),
                            digits(a, r->value[FIELD_REQUESTS] / r->value[FIELD_DURATION]),
                            digits(a, r->value[FIELD_RPS]));
    return NULL;
}

static void sums(struct audit_judge *j)
{
    const char *example = NULL;
    bool *marked = marks(j), known = false;

    for (size_t i = 0; i < j->t->len; i++) {
        const char *wrong = sums_of(j, &j->t->rows[i], &known);
        marked[i] = wrong != NULL;
        if (wrong && !example)
            example = wrong;
    }
    if (example)
        audit_say(j, "table-sums", "FAIL", marked, "%s", example);
    else if (known)
        audit_say(j, "table-sums", "PASS", NULL, "good, failed and all requests, time and throughput add up");
}

void audit_table_rules(struct audit_judge *j)
{
    replication(j);
    failures(j);
    restarts(j);
    gc_pauses(j);
    percentiles(j);
    sums(j);
}
