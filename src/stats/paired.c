/* SPDX-License-Identifier: MIT */
/*
 * Ratios of pairs: two scenarios of one block (a round of the sweep) met the same hour of the host, so that
 * what they differ by within the block has less noise in it than what they differ by over the whole sweep.
 * Student's t on the differences of logarithms.
 */
#include "benchctl/stats.h"

#include <math.h>

static bool has_log(double x)
{
    return x > 0 && isfinite(x);
}

static void count_sides(const double *base, const double *other, size_t count, struct stats_ratio *r)
{
    for (size_t i = 0; i < count; i++) {
        bool known = !isnan(base[i]) && !isinf(base[i]) && !isnan(other[i]) && !isinf(other[i]);
        r->base_n += known;
        r->base_zeros += known && base[i] <= 0;
        r->other_zeros += known && other[i] <= 0;
    }
    r->other_n = r->base_n;
}

void stats_ratio_paired(const double *base, const double *other, size_t count, struct stats_ratio *ret)
{
    struct stats_ratio r = {.ratio = NAN, .log_ratio = NAN, .error = NAN, .df = NAN, .p = NAN};
    double sum = 0, squares = 0;
    size_t n = 0;

    count_sides(base, other, count, &r);
    for (size_t i = 0; i < count && !r.base_zeros && !r.other_zeros; i++) {
        if (!has_log(base[i]) || !has_log(other[i]))
            continue;
        sum += log(other[i]) - log(base[i]);
        n++;
    }
    if (n) {
        r.log_ratio = sum / (double)n;
        r.ratio = exp(r.log_ratio);
    }
    for (size_t i = 0; i < count && n >= 2; i++) {
        if (!has_log(base[i]) || !has_log(other[i]))
            continue;
        double off = log(other[i]) - log(base[i]) - r.log_ratio;
        squares += off * off;
    }
    if (n >= 2) {
        r.error = sqrt(squares / (double)(n - 1) / (double)n);
        if (r.error > STATS_NO_SPREAD) {
            r.df = (double)(n - 1);
            r.p = 2 * (1 - stats_t_cdf(fabs(r.log_ratio) / r.error, r.df));
        } else {
            r.error = 0;
            r.p = fabs(r.log_ratio) > STATS_NO_SPREAD ? 0 : 1;
        }
    }
    *ret = r;
}

static size_t fewer(const struct stats_ratio *r)
{
    return r->base_n < r->other_n ? r->base_n : r->other_n;
}

/* One of no spread at all adds nothing. */
static double weight(const struct stats_ratio *r)
{
    return r->error > 0 ? pow(r->error, 4) / r->df : 0;
}

void stats_ratio_of_ratios(const struct stats_ratio *base, const struct stats_ratio *other,
                           struct stats_ratio *ret)
{
    struct stats_ratio r = {
        .base_n = fewer(base), .other_n = fewer(other), .error = NAN, .df = NAN, .p = NAN};

    r.log_ratio = other->log_ratio - base->log_ratio;
    r.ratio = exp(r.log_ratio);
    if (!isnan(r.log_ratio) && base->error >= 0 && other->error >= 0) {
        r.error = hypot(base->error, other->error);
        if (r.error > STATS_NO_SPREAD) {
            r.df = pow(r.error, 4) / (weight(base) + weight(other));
            r.p = 2 * (1 - stats_t_cdf(fabs(r.log_ratio) / r.error, r.df));
        } else {
            r.error = 0;
            r.p = fabs(r.log_ratio) > STATS_NO_SPREAD ? 0 : 1;
        }
    }
    *ret = r;
}
