/* SPDX-License-Identifier: MIT */
/*
 * How much larger is one set of values than another, as a ratio: Welch's t on logarithms. Throughputs,
 * latencies and memory are skewed and compared by factors, and at few values an interval by t on logarithms
 * covers what it says, which a percentile bootstrap does not.
 */
#include "benchctl/stats.h"

#include <math.h>
#include "benchctl/base/mem.h"

double stats_t_cdf(double t, double df)
{
    if (isnan(t) || !(df > 0))
        return NAN;
    if (isinf(t))
        return t > 0;
    double within = stats_f_cdf(t * t, 1, df); /* t squared is F with 1 and df degrees of freedom */
    return t >= 0 ? 0.5 + within / 2 : 0.5 - within / 2;
}

double stats_t_quantile(double p, double df)
{
    if (!(p >= 0) || p > 1 || !(df > 0))
        return NAN;
    if (p == 0.5)
        return 0;
    double root = sqrt(stats_f_quantile(fabs(2 * p - 1), 1, df));
    return p > 0.5 ? root : -root;
}

/* Mean and variance of the logarithms of what has one. */
struct logs {
    size_t n, zeros;       /* zeros: values that have none */
    double mean, variance; /* variance: NAN for n < 2 */
};

static struct logs logs_of(const double *values, size_t count)
{
    struct logs l = {.mean = NAN, .variance = NAN};
    double sum = 0, squares = 0;

    for (size_t i = 0; i < count; i++) {
        if (values[i] > 0 && isfinite(values[i])) {
            sum += log(values[i]);
            l.n++;
        }
        l.zeros += values[i] <= 0;
    }
    if (!l.n)
        return l;
    l.mean = sum / (double)l.n;
    for (size_t i = 0; i < count; i++) {
        if (values[i] > 0 && isfinite(values[i]))
            squares += (log(values[i]) - l.mean) * (log(values[i]) - l.mean);
    }
    if (l.n >= 2)
        l.variance = squares / (double)(l.n - 1);
    return l;
}

void stats_ratio(const double *base, size_t base_count, const double *other, size_t other_count,
                 struct stats_ratio *ret)
{
    struct logs a = logs_of(base, base_count), b = logs_of(other, other_count);
    struct stats_ratio r = {.base_n = a.n + a.zeros,
                            .other_n = b.n + b.zeros,
                            .ratio = NAN,
                            .log_ratio = NAN,
                            .error = NAN,
                            .df = NAN,
                            .p = NAN,
                            .base_zeros = a.zeros,
                            .other_zeros = b.zeros};

    if (a.zeros || b.zeros) { /* of what is left a ratio would tell a better story than happened */
        *ret = r;
        return;
    }
    if (a.n && b.n) {
        r.log_ratio = b.mean - a.mean;
        r.ratio = exp(r.log_ratio);
    }
    if (a.n >= 2 && b.n >= 2) {
        double va = a.variance / (double)a.n, vb = b.variance / (double)b.n;
        r.error = sqrt(va + vb);
        if (r.error > STATS_NO_SPREAD) {
            r.df = (va + vb) * (va + vb) /
                   (va * va / (double)(a.n - 1) + vb * vb / (double)(b.n - 1)); /* Welch-Satterthwaite */
            r.p = 2 * (1 - stats_t_cdf(fabs(r.log_ratio) / r.error, r.df));
        } else {
            r.error = 0;
            r.p = fabs(r.log_ratio) > STATS_NO_SPREAD ? 0 : 1;
        }
    }
    *ret = r;
}

void stats_ratio_interval(const struct stats_ratio *r, double level, double *ret_low, double *ret_high)
{
    double half = r->error == 0 ? 0 : stats_t_quantile(0.5 + level / 2, r->df) * r->error;

    *ret_low = exp(r->log_ratio - half);
    *ret_high = exp(r->log_ratio + half);
}

struct ranked {
    double p;
    size_t index;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->p != y->p)
        return x->p < y->p ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void stats_holm(const double *p, size_t count, double *ret)
{
    CLEANUP_FREE struct ranked *sorted = xcalloc(count + 1, sizeof(*sorted));
    double highest = 0;
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (!isnan(p[i]))
            sorted[n++] = (struct ranked){p[i], i};
        ret[i] = NAN;
    }
    qsort(sorted, n, sizeof(*sorted), compare_ranked);
    for (size_t i = 0; i < n; i++) { /* never less than that of a smaller one */
        highest = fmax(highest, fmin(1, sorted[i].p * (double)(n - i)));
        ret[sorted[i].index] = highest;
    }
}
