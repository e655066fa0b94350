/* SPDX-License-Identifier: MIT */
/* Published loads: do users, throughput, latency and duration fit together, and which of them decides? */
#include "audit_internal.h"

#include <math.h>

#define LAW_FAILED_MAX 0.01 /* of the requests: more and their latencies leave out too much */
#define LAW_TOLERANCE 0.05
#define MEAN_OVER_PERCENTILE 10
#define BUSY_USERS 0.30     /* of their time in which users wait for answers: below, their pauses decide */
#define SAME_DURATION 0.02  /* rounding of a published latency, and the ends of a run */
#define SHORT_DURATION 0.50 /* of the others': rows of one table were measured for about as long */

struct extent {
    double low, high;
};

static void widen(struct extent *e, double value)
{
    e->low = fmin(e->low, value);
    e->high = fmax(e->high, value);
}

static bool *marks(struct audit_judge *j)
{
    return arena_array(j->t->arena, bool, j->t->len + 1);
}

/* --- V1 --- */

static void offered_is_delivered(struct audit_judge *j)
{
    struct extent share = {INFINITY, 0};
    bool *known = marks(j);
    size_t count = 0;

    for (size_t i = 0; i < j->t->len; i++) {
        const struct audit_row *r = &j->t->rows[i];
        double value = row_rps(r) / r->value[FIELD_OFFERED];
        if (isnan(value))
            continue;
        known[i] = true;
        count++;
        widen(&share, value);
    }
    if (!count)
        return;
    const char *range = arena_printf(j->t->arena, "%s %% of what was offered was delivered",
                                     from_to(j->t->arena, 100 * share.low, 100 * share.high));
    if (share.low >= DELIVERED)
        audit_say(j, "table-offered", "WARN", known,
                  "%s: the throughput is the input, not a result; compare latency and CPU", range);
    else
        audit_say(j, "table-offered", "PASS", known, "%s", range);
}

/* --- V2 --- */

struct law {
    double users, explained; /* by requests/s x (latency + think) */
    double at_most;          /* the same with the longest mean that the percentiles leave room for */
    bool by_mean;
};

/* p50 is not the mean. But a mean above p99 takes a tail that nobody leaves out, and so does one of ten times
 * a lower percentile. */
static double longest_mean(const struct audit_row *r)
{
    static const enum audit_field lower[] = {FIELD_P95, FIELD_P90, FIELD_P75, FIELD_P50};

    if (!isnan(r->value[FIELD_P99]))
        return r->value[FIELD_P99];
    if (!isnan(r->value[FIELD_MAX]))
        return r->value[FIELD_MAX];
    for (size_t i = 0; i < ARRAY_LEN(lower); i++)
        if (!isnan(r->value[lower[i]]))
            return MEAN_OVER_PERCENTILE * r->value[lower[i]];
    return NAN;
}

static bool law_of(const struct audit_row *r, struct law *ret)
{
    double think = isnan(r->value[FIELD_THINK]) ? 0 : r->value[FIELD_THINK];

    if (row_open(r) || !(r->value[FIELD_USERS] > 0))
        return false;
    ret->users = r->value[FIELD_USERS];
    ret->by_mean = !isnan(r->value[FIELD_MEAN]);
    ret->explained = row_rps(r) * (row_latency(r) + think) / 1e3;
    ret->at_most = row_rps(r) * (longest_mean(r) + think) / 1e3;
    return !isnan(ret->explained);
}

enum law_case { LAW_HIDDEN, LAW_FAILING, LAW_MEAN_UNKNOWN, LAW_TOO_MANY, LAW_HOLDS, LAW_CASES };

/* Requests that were not answered, and pauses of a service that was down, are in no latency. */
static bool is_failing(const struct audit_row *r)
{
    return row_failed(r) > LAW_FAILED_MAX || r->value[FIELD_RESTARTS] > 0 || r->value[FIELD_OOM] > 0;
}

static enum law_case law_case(const struct audit_row *r, const struct law *l)
{
    double low = l->users * (1 - LAW_TOLERANCE), high = l->users * (1 + LAW_TOLERANCE);

    if (l->explained > high)
        return LAW_TOO_MANY;
    if (l->explained >= low)
        return LAW_HOLDS;
    if (!l->by_mean && l->at_most >= low)
        return LAW_MEAN_UNKNOWN;
    return is_failing(r) ? LAW_FAILING : LAW_HIDDEN;
}

static const char *law_words(struct audit_judge *j, const struct audit_row *r, const struct law *l)
{
    struct arena *a = j->t->arena;
    double think = r->value[FIELD_THINK];

    return arena_printf(a, "%s: %s requests/s x (%s ms%s%s%s) = %s of %s users", r->name,
                        digits(a, row_rps(r)), digits(a, row_latency(r)),
                        think > 0 ? " + think time of " : "", think > 0 ? digits(a, think) : "",
                        think > 0 ? " ms" : "", digits(a, l->explained), digits(a, l->users));
}

static const struct {
    const char *verdict, *meaning;
} law_cases[LAW_CASES] = {
    [LAW_HIDDEN] = {"FAIL", "; the others waited for something that is in no figure: a hidden delay, or a "
                            "generator that did not ask"},
    [LAW_FAILING] = {"WARN",
                     "; requests that failed and times without a service are in no latency, or there is "
                     "a hidden delay"},
    [LAW_MEAN_UNKNOWN] = {"WARN", "; the mean is not published, and p50 does not explain the others"},
    [LAW_TOO_MANY] = {"WARN", "; more than there are: one of these figures is not of this run"},
    [LAW_HOLDS] = {"PASS", ""},
};

static void littles_law(struct audit_judge *j)
{
    for (size_t c = 0; c < LAW_CASES; c++) {
        bool *marked = marks(j);
        const char *example = NULL;
        size_t count = 0;
        for (size_t i = 0; i < j->t->len; i++) {
            struct law l;
            if (!law_of(&j->t->rows[i], &l) || law_case(&j->t->rows[i], &l) != c)
                continue;
            marked[i] = true;
            if (!count++)
                example = law_words(j, &j->t->rows[i], &l);
        }
        if (count)
            audit_say(j, "table-littles-law", law_cases[c].verdict, marked, "%s%s%s", example,
                      count > 1 ? arena_printf(j->t->arena, " (and %zu more row%s)", count - 1,
                                               count > 2 ? "s" : "")
                                : "",
                      law_cases[c].meaning);
    }
}

/* --- users that wait --- */

static void busy_users(struct audit_judge *j)
{
    struct extent share = {INFINITY, 0}, idle = {INFINITY, 0};
    bool *known = marks(j), *idling = marks(j);
    size_t count = 0, few = 0;

    for (size_t i = 0; i < j->t->len; i++) {
        const struct audit_row *r = &j->t->rows[i];
        double busy = row_rps(r) * row_latency(r) / 1e3 / r->value[FIELD_USERS];
        if (isnan(busy) && r->value[FIELD_THINK] > 0) /* no throughput: by the pause alone */
            busy = row_latency(r) / (row_latency(r) + r->value[FIELD_THINK]);
        if (isnan(busy) || row_open(r))
            continue;
        known[i] = true;
        count++;
        widen(&share, busy);
        idling[i] = busy < BUSY_USERS;
        few += idling[i];
        if (idling[i])
            widen(&idle, busy);
    }
    if (few)
        audit_say(
            j, "table-busy-users", "WARN", idling,
            "each user waits for an answer in %s %% of its time: the throughput is that of its pauses, and "
            "no latency of this size can change it",
            from_to(j->t->arena, 100 * idle.low, 100 * idle.high));
    else if (count)
        audit_say(j, "table-busy-users", "PASS", known, "users wait for answers in %s %% of their time",
                  from_to(j->t->arena, 100 * share.low, 100 * share.high));
}

/* --- implied duration --- */

static double implied_s(const struct audit_row *r)
{
    double think = isnan(r->value[FIELD_THINK]) ? 0 : r->value[FIELD_THINK];

    return row_open(r) ? NAN
                       : r->value[FIELD_REQUESTS] * (row_latency(r) + think) / 1e3 / r->value[FIELD_USERS];
}

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* Values that are near each other, as "229 s in 5 rows, 262 s in 3"; the middle of most of them. */
static size_t name_clusters(struct audit_judge *j, double *values, size_t count, struct strbuf *out,
                            double *ret_usual)
{
    size_t clustered = 0, most = 0;

    qsort(values, count, sizeof(*values), by_value);
    *ret_usual = stats_quantile(values, count, 0.5);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && values[end] <= values[begin] * (1 + SAME_DURATION);)
            end++;
        if (end - begin < 2)
            continue;
        strbuf_addf(out, "%s%s s in %zu rows", clustered ? ", " : "",
                    from_to(j->t->arena, values[begin], values[end - 1]), end - begin);
        clustered += end - begin;
        if (end - begin > most)
            *ret_usual = stats_quantile(values + begin, end - begin, 0.5);
        most = end - begin > most ? end - begin : most;
    }
    return clustered;
}

static void durations_agree(struct audit_judge *j, double *ret_usual)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    double *values = arena_array(j->t->arena, double, j->t->len + 1);
    bool *pausing = marks(j);
    size_t count = 0;

    *ret_usual = NAN;
    for (size_t i = 0; i < j->t->len; i++) {
        double value = implied_s(&j->t->rows[i]);
        if (isnan(value) || !(j->t->rows[i].value[FIELD_THINK] > 0))
            continue;
        pausing[i] = true;
        values[count++] = value;
    }
    if (!count)
        return;
    size_t clustered = name_clusters(j, values, count, &text, ret_usual);
    if (count < 2)
        return;
    if ((double)clustered >= MOST * (double)count)
        audit_say(
            j, "table-implied-duration", "WARN", pausing,
            "requests x (latency + think time) / users is %s, of %zu: the number of requests follows from "
            "users, pause and time, and is no result",
            strbuf_text(&text), count);
    else
        audit_say(j, "table-implied-duration", "PASS", pausing,
                  "requests x (latency + think time) / users is from %s s in %zu rows",
                  from_to(j->t->arena, values[0], values[count - 1]), count);
}

static void implied_duration(struct audit_judge *j)
{
    struct extent found = {INFINITY, 0}, share = {INFINITY, 0};
    bool *short_ones = marks(j);
    double usual;
    size_t count = 0;

    durations_agree(j, &usual);
    for (size_t i = 0; i < j->t->len; i++) {
        const struct audit_row *r = &j->t->rows[i];
        double value = implied_s(r),
               known = isnan(r->value[FIELD_DURATION]) ? usual : r->value[FIELD_DURATION];
        if (r->value[FIELD_THINK] > 0 || !(value < SHORT_DURATION * known))
            continue;
        short_ones[i] = true;
        count++;
        widen(&found, value);
        widen(&share, value / known);
    }
    if (count)
        audit_say(
            j, "table-implied-duration", "FAIL", short_ones,
            "without think time the same sum gives %s s: had these runs been as long, each user would have "
            "been busy for %s %% of the time; something that is in no figure kept it from asking",
            from_to(j->t->arena, found.low, found.high),
            from_to(j->t->arena, 100 * share.low, 100 * share.high));
}

/* --- V3, V4 --- */

static void floor_of_latency(struct audit_judge *j)
{
    struct extent share = {INFINITY, 0};
    bool *known = marks(j);
    size_t count = 0, at = 0;

    for (size_t i = 0; i < j->t->len; i++) {
        const struct audit_row *r = &j->t->rows[i];
        double value =
            r->value[FIELD_FLOOR] / (isnan(r->value[FIELD_P50]) ? r->value[FIELD_MEAN] : r->value[FIELD_P50]);
        if (isnan(value))
            continue;
        known[i] = true;
        count++;
        at += value >= FLOOR_SHARE;
        widen(&share, value);
    }
    if (!count)
        return;
    j->floor = (double)at >= MOST * (double)count;
    audit_say(j, "table-floor", j->floor ? "WARN" : "PASS", known, "the floor is %s %% of the latency%s",
              from_to(j->t->arena, 100 * share.low, 100 * share.high),
              j->floor ? ": it was there before, whatever the rows are" : "");
}

static void nothing_stressed(struct audit_judge *j)
{
    struct extent share = {INFINITY, 0};
    bool *known = marks(j);
    size_t count = 0;

    for (size_t i = 0; i < j->t->len; i++)
        if (!isnan(j->t->rows[i].cpu_pct)) {
            known[i] = true;
            count++;
            widen(&share, j->t->rows[i].cpu_pct / 100);
        }
    if (!count)
        return;
    j->idle = share.high <= IDLE_SHARE;
    audit_say(j, "table-idle", j->idle ? "WARN" : "PASS", known, "CPU is %s %%%s",
              from_to(j->t->arena, 100 * share.low, 100 * share.high),
              j->idle ? ": nothing was stressed" : "");
}

void audit_load_rules(struct audit_judge *j)
{
    offered_is_delivered(j);
    littles_law(j);
    floor_of_latency(j);
    nothing_stressed(j);
    busy_users(j);
    implied_duration(j);
}
