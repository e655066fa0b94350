/* SPDX-License-Identifier: MIT */
/* One-way random effects: how much of the variance lies between groups, and how much within. */
#include "benchctl/stats.h"

#include <math.h>

/* Two-sided: its lower end is above 0 exactly when an F test at 5 % finds the groups different. */
#define CONFIDENCE 0.90

static void count_groups(const struct stats_group *groups, size_t count, struct stats_components *c)
{
    double squares = 0, sum = 0;

    for (size_t i = 0; i < count; i++) {
        double n = 0;
        for (size_t k = 0; k < groups[i].count; k++)
            if (!isnan(groups[i].values[k])) {
                n++;
                sum += groups[i].values[k];
            }
        c->groups += n > 0;
        c->repeated += n > 1;
        c->n += (size_t)n;
        squares += n * n;
    }
    c->mean = c->n ? sum / (double)c->n : NAN;
    if (c->groups > 1) /* the size of a group, weighted: theirs where all are of one size */
        c->group_size = ((double)c->n - squares / (double)c->n) / (double)(c->groups - 1);
}

static void sum_squares(const struct stats_group *groups, size_t count, struct stats_components *c,
                        double *ret_between, double *ret_within)
{
    *ret_between = *ret_within = 0;
    for (size_t i = 0; i < count; i++) {
        double n = 0, mean = 0;
        for (size_t k = 0; k < groups[i].count; k++)
            if (!isnan(groups[i].values[k])) {
                n++;
                mean += groups[i].values[k];
            }
        if (!(n > 0))
            continue;
        mean /= n;
        *ret_between += n * (mean - c->mean) * (mean - c->mean);
        for (size_t k = 0; k < groups[i].count; k++)
            if (!isnan(groups[i].values[k]))
                *ret_within += (groups[i].values[k] - mean) * (groups[i].values[k] - mean);
    }
}

/* Of the component between groups: Tukey's and Williams' limits, exact at 0 for groups of any sizes. */
static void limits(struct stats_components *c, double ms_between, double ms_within)
{
    double tail = (1 - CONFIDENCE) / 2, d1 = c->df_between, d2 = c->df_within;
    double above = stats_f_quantile(1 - tail, d1, d2), below = stats_f_quantile(tail, d1, d2);
    double far_above = stats_f_quantile(1 - tail, d1, INFINITY),
           far_below = stats_f_quantile(tail, d1, INFINITY);

    c->low = fmax(0, (ms_between - ms_within * above) / (c->group_size * far_above));
    c->high = fmax(0, (ms_between - ms_within * below) / (c->group_size * far_below));
}

void stats_components(const struct stats_group *groups, size_t count, struct stats_components *ret)
{
    struct stats_components c = {
        .mean = NAN, .between = NAN, .within = NAN, .low = NAN, .high = NAN, .f = NAN};
    double between, within;

    count_groups(groups, count, &c);
    c.df_between = c.groups ? (double)(c.groups - 1) : 0;
    c.df_within = (double)(c.n - c.groups);
    if (c.df_within > 0) {
        sum_squares(groups, count, &c, &between, &within);
        double ms_within = within / c.df_within;
        c.within = ms_within;
        if (c.df_between > 0) {
            double ms_between = between / c.df_between;
            c.f = ms_within > 0 ? ms_between / ms_within : ms_between > 0 ? INFINITY : 0;
            c.between = fmax(0, (ms_between - ms_within) / c.group_size);
            limits(&c, ms_between, ms_within);
        }
    }
    *ret = c;
}
