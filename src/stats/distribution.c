/* SPDX-License-Identifier: MIT */
/*
 * Fisher's F distribution: the regularised incomplete beta function by its continued fraction, the
 * incomplete gamma function for infinite degrees of freedom, and quantiles by bisection on the logarithm.
 */
#include "benchctl/stats.h"

#include <float.h>
#include <math.h>

#define TERMS_MAX 10000 /* of a series; those of use here end within a few hundred */
#define EPSILON 1e-15
#define TINY 1e-300 /* in the place of a zero divisor (Lentz) */
#define HALVINGS 200

/* I_x(a, b) by Lentz's method; converges quickly for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
    double c = 1, d = 1 - (a + b) * x / (a + 1);

    d = 1 / (fabs(d) < TINY ? TINY : d);
    double h = d;
    for (int m = 1; m < TERMS_MAX; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step = 1;
        for (int k = 0; k < 2; k++) {
            double term = k ? odd : even;
            d = 1 + term * d;
            d = 1 / (fabs(d) < TINY ? TINY : d);
            c = 1 + term / c;
            c = fabs(c) < TINY ? TINY : c;
            step = c * d;
            h *= step;
        }
        if (fabs(step - 1) < EPSILON)
            break;
    }
    return h;
}

/* The regularised incomplete beta function; y = 1 - x is given because it may be too small to be had from x.
 */
static double beta_share(double x, double y, double a, double b)
{
    if (x <= 0)
        return 0;
    if (y <= 0)
        return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(y, b, a) / b;
}

/* The regularised lower incomplete gamma function, by its series below a + 1 and by its fraction above. */
static double gamma_share(double x, double a)
{
    if (x <= 0)
        return 0;
    double front = exp(a * log(x) - x - lgamma(a));
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int n = 1; n < TERMS_MAX && term > sum * EPSILON; n++)
            sum += term *= x / (a + n);
        return front * sum;
    }
    double b = x + 1 - a, c = 1 / TINY, d = 1 / b, h = d;
    for (int n = 1; n < TERMS_MAX; n++) {
        double an = -n * (n - a);
        b += 2;
        d = an * d + b;
        d = 1 / (fabs(d) < TINY ? TINY : d);
        c = b + an / c;
        c = fabs(c) < TINY ? TINY : c;
        h *= c * d;
        if (fabs(c * d - 1) < EPSILON)
            break;
    }
    return 1 - front * h;
}

double stats_f_cdf(double x, double d1, double d2)
{
    if (isnan(x) || !(d1 > 0) || !(d2 > 0) || isinf(d1))
        return NAN;
    if (x <= 0)
        return 0;
    if (isinf(x))
        return 1;
    if (isinf(d2))
        return gamma_share(d1 * x / 2, d1 / 2);
    double all = d1 * x + d2;
    return beta_share(d1 * x / all, d2 / all, d1 / 2, d2 / 2);
}

double stats_f_quantile(double p, double d1, double d2)
{
    if (!(p >= 0) || p > 1 || !(d1 > 0) || !(d2 > 0) || isinf(d1))
        return NAN;
    if (p == 0 || p == 1)
        return p == 0 ? 0 : INFINITY;
    double low = log(DBL_MIN), high = log(DBL_MAX);
    for (int i = 0; i < HALVINGS && high - low > 4 * DBL_EPSILON * fmax(1, fabs(low)); i++) {
        double middle = (low + high) / 2;
        if (stats_f_cdf(exp(middle), d1, d2) < p)
            low = middle;
        else
            high = middle;
    }
    return exp((low + high) / 2);
}
