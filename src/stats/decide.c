/* SPDX-License-Identifier: MIT */
/*
 * What a ratio with its error allows to say: that it is 1 as far as matters, what it could have seen, and how
 * many more trials would tell. Plans by the present estimate: what comes next may scatter otherwise.
 */
#include "benchctl/stats.h"

#include <math.h>

#define ALPHA 0.05
#define POWER 0.80

bool stats_equivalent(const struct stats_ratio *r, double margin)
{
    double low, high;

    stats_ratio_interval(r, 1 - 2 * ALPHA, &low, &high);
    return low >= 1 / (1 + margin) && high <= 1 + margin;
}

/* Of that many trials on a side, from what `n` of them gave. */
static double error_of(const struct stats_ratio *r, size_t n, size_t trials)
{
    return r->error * sqrt((double)n / (double)trials);
}

static double df_of(const struct stats_ratio *r, size_t n, size_t trials)
{
    return r->df * (double)(trials - 1) / (double)(n - 1);
}

static size_t fewer(const struct stats_ratio *r)
{
    return r->base_n < r->other_n ? r->base_n : r->other_n;
}

double stats_detectable_ratio(const struct stats_ratio *r)
{
    if (!(r->error >= 0))
        return NAN;
    if (r->error == 0)
        return 1;
    return exp((stats_t_quantile(1 - ALPHA / 2, r->df) + stats_t_quantile(POWER, r->df)) * r->error);
}

static bool would_tell(const struct stats_ratio *r, double margin, double error, double df)
{
    double power = stats_t_quantile(POWER, df), off = fabs(r->log_ratio);

    return off >= (stats_t_quantile(1 - ALPHA / 2, df) + power) * error ||
           log1p(margin) - off >= (stats_t_quantile(1 - ALPHA, df) + power) * error;
}

size_t stats_trials_to_decide(const struct stats_ratio *r, double margin)
{
    size_t n = fewer(r), low = n + 1, high = n + STATS_TRIALS_MAX;

    if (n < 2 || !(r->error > 0))
        return STATS_TRIALS_MAX + 1;
    if (!would_tell(r, margin, error_of(r, n, high), df_of(r, n, high)))
        return STATS_TRIALS_MAX + 1;
    while (low < high) { /* more trials never tell less */
        size_t middle = low + (high - low) / 2;
        if (would_tell(r, margin, error_of(r, n, middle), df_of(r, n, middle)))
            high = middle;
        else
            low = middle + 1;
    }
    return low - n;
}

size_t stats_trials_for_precision(double log_stdev, double share)
{
    if (!(log_stdev >= 0) || !(share > 0))
        return STATS_TRIALS_MAX + 1;
    for (size_t n = 2; n <= STATS_TRIALS_MAX; n++)
        if (stats_t_quantile(1 - ALPHA / 2, (double)(n - 1)) * log_stdev / sqrt((double)n) <= log1p(share))
            return n;
    return STATS_TRIALS_MAX + 1;
}
