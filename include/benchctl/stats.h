/* SPDX-License-Identifier: MIT */
/* Numbers in, numbers out: summaries over trials. NAN inputs are skipped; nothing measured gives NAN. Pure.
 */
#ifndef BENCHCTL_STATS_H
#define BENCHCTL_STATS_H

#include <stdbool.h>
#include <stddef.h>

struct summary {
    size_t n; /* values that were numbers */
    double mean, median, min, max;
    double stdev;     /* sample standard deviation; NAN for n < 2 */
    double cv_pct;    /* stdev / mean in percent */
    double low, high; /* 95 % confidence interval of the mean (Student's t); NAN for n < 2 */
};

/* `values` are not changed. */
void stats_summary(const double *values, size_t count, struct summary *ret);

/* The p-quantile (0..1) of values by linear interpolation of order statistics (type 7). Sorts a copy. */
double stats_quantile(const double *values, size_t count, double p);

/*
 * Where the mean of a series changes: `ret` (room for `count`) gets the begins of its segments, the first of
 * which is 0; how many. Optimal partitioning with a penalty of 3 ln N variances and at least 10 values in a
 * segment, over values of which outliers were pulled in (only for this). The variance is that of neighbours'
 * differences, so that slow drifts are cut into steps. One segment when a value is no number.
 */
size_t stats_changepoints(const double *values, size_t count, size_t *ret);

/* How a throughput went: one value a second. */
#define STEADY_BINS_MIN 28 /* 30 s, but for the seconds at both ends that are no whole ones */
enum steady_class {
    STEADY_FLAT,     /* one level from begin to end */
    STEADY_WARM_UP,  /* it was lower before */
    STEADY_SLOWDOWN, /* it was higher before */
    STEADY_NONE      /* the last level did not last for half of the time */
};
const char *steady_name(enum steady_class c); /* "flat", "warm-up", "slowdown", "no steady state" */
struct steady {
    enum steady_class is;
    size_t from;  /* the value from which on it stayed within 1 %, or twice the noise, of the last level */
    double level; /* mean from there on */
};
/* False: too short to say, or a value is no number. */
bool stats_steady(const double *values, size_t count, struct steady *ret);

/* Student's t quantile, 97.5 %, for df >= 1. */
double stats_t975(size_t df);

/* Fisher's F with d1 and d2 degrees of freedom, d2 also INFINITY (chi-squared / d1): the probability of at
 * most `x`, and the value of which that is `p` (0..1). NAN for what is no distribution. */
double stats_f_cdf(double x, double d1, double d2);
double stats_f_quantile(double p, double d1, double d2);

/* Student's t with df > 0 degrees of freedom, which need not be whole. */
double stats_t_cdf(double t, double df);
double stats_t_quantile(double p, double df);

/*
 * How much larger `other` is than `base`, as a ratio of geometric means, by Welch's t on logarithms. NAN and
 * INFINITY are skipped. Values of 0 or less are counted: they have no logarithm, so that with one of them on
 * either side there is no ratio. With fewer than two on a side there is a ratio and nothing to say how
 * certain it is.
 */
struct stats_ratio {
    size_t base_n, other_n;  /* values that count */
    double ratio, log_ratio; /* other / base; NAN when a side has none */
    double error;            /* standard error of log_ratio; 0: no spread at all; NAN: not known */
    double df;               /* of its t; NAN without a spread */
    double p;                /* two-sided, that such a ratio, or a farther one, comes by chance alone */
    size_t base_zeros, other_zeros; /* of base_n and other_n: values of 0 or less */
};
void stats_ratio(const double *base, size_t base_count, const double *other, size_t other_count,
                 struct stats_ratio *ret);
/* Standard errors of logarithms below it are rounding: values that are equal have no spread. */
#define STATS_NO_SPREAD 1e-12
/*
 * The same of pairs: base[i] and other[i] are of one block (a round in which both ran). Student's t on the
 * differences of logarithms, n - 1 degrees of freedom. Pairs of which one has no number are left out; base_n
 * and other_n are the pairs. A value of 0 or less in any pair: there is no ratio. Where blocks are not
 * complete on both sides stats_ratio() is what is left.
 */
void stats_ratio_paired(const double *base, const double *other, size_t count, struct stats_ratio *ret);
/*
 * How much larger one ratio is than another: of two independent ones, other : base. The errors of their
 * logarithms add in squares, the degrees of freedom are Welch and Satterthwaite's. base_n and other_n are the
 * fewer values of each.
 */
void stats_ratio_of_ratios(const struct stats_ratio *base, const struct stats_ratio *other,
                           struct stats_ratio *ret);
/* Its confidence interval: level 0.95, or 0.90 for two one-sided tests of equivalence at 5 %. NAN when there
 * is none. */
void stats_ratio_interval(const struct stats_ratio *r, double level, double *ret_low, double *ret_high);

/* Two one-sided tests at 5 % (Schuirmann 1987): its 90 % interval lies within [1 / (1 + margin), 1 + margin].
 */
bool stats_equivalent(const struct stats_ratio *r, double margin);
/* The smallest ratio above 1 that so many trials with this scatter find with a probability of 80 %, at 5 %:
 * exp((t(97.5 %) + t(80 %)) * error), which takes the noncentral t for a shifted one. NAN: no error is known.
 */
double stats_detectable_ratio(const struct stats_ratio *r);
#define STATS_TRIALS_MAX 1000
/* How many more trials on each side would tell, with a probability of 80 % and if the estimate and its
 * scatter stay what they are: that the ratio is not 1, or that it is 1 within the margin. STATS_TRIALS_MAX +
 * 1: more than that. */
size_t stats_trials_to_decide(const struct stats_ratio *r, double margin);
/* How many trials there must be for the 95 % interval of their mean to reach no farther than `share` (0.02: 2
 * %), when their logarithms scatter by `log_stdev`: t(97.5 %, n - 1) * log_stdev / sqrt(n) <= log(1 + share).
 * At least 2; STATS_TRIALS_MAX + 1: more than that. */
size_t stats_trials_for_precision(double log_stdev, double share);

/* Holm's correction of a family of p values: `ret` (room for count) gets the adjusted ones. NAN stays NAN and
 * is no member. `ret` may be `p`. */
void stats_holm(const double *p, size_t count, double *ret);

struct stats_group {
    const double *values; /* NAN: skipped */
    size_t count;
};

/* One-way random effects. NAN where the groups do not allow a statement. */
struct stats_components {
    size_t groups, repeated, n; /* groups with a value, those with two or more, values */
    double mean;
    double group_size; /* weighted, as the estimate needs it */
    double df_between, df_within;
    double within, between; /* variances: within groups; that of the groups' own means, not below 0 */
    double low, high; /* 90 % confidence interval of `between`: low is 0 unless an F test at 5 % tells the
                         groups apart */
    double f;
};
void stats_components(const struct stats_group *groups, size_t count, struct stats_components *ret);

#endif
