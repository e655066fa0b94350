/* SPDX-License-Identifier: MIT */
/*
 * Does a scenario work, or does it wait? And can its group be told apart at all? Decided from what each used
 * of its own processors and from CPU time per request against latency, so that a machine that others use as
 * well decides nothing.
 */
#include "sweep_internal.h"

#include <math.h>

/* Others on it, or the hypervisor, may have kept the application from its processors. */
static bool machine_was_full(const struct sweep_judge *j, const struct arm *a)
{
    return a->host_cores >= FULL_SHARE * j->facts->host_cores || a->steal_pct >= STEAL_PCT;
}

/* There is a queue: is it for processors? `short_queue`: a request waits no longer for others than it takes
 * alone; then CPU time must be a good part of that. */
static bool queue_is_own(const struct sweep_judge *j, const struct arm *a, bool short_queue)
{
    double cores = a->cores + (a->database_cores > 0 ? a->database_cores : 0);

    if (cores < (machine_was_full(j, a) ? FULL_MACHINE_MIN : THREAD_BUSY))
        return false;
    return !short_queue || own_share(a) >= QUEUE_OWN_SHARE;
}

static enum arm_state state_of(const struct sweep_judge *j, const struct arm *a)
{
    double lone_share = a->lone_ms / a->p50;

    if (isnan(a->cores) || isnan(a->p50))
        return ARM_UNKNOWN;
    if (busy_share(a) >= BUSY_SHARE || a->throttled >= THROTTLED_BUSY || a->database_share >= BUSY_SHARE)
        return ARM_WORKING;
    if (own_share(a) >= OWN_SHARE)
        return ARM_WORKING;
    if (lone_share >= FLOOR_SHARE) /* no queue: a lone request takes as long, and does not work */
        return ARM_WAITING;
    return queue_is_own(j, a, lone_share >= QUEUE_SHORT) ? ARM_WORKING : ARM_WAITING;
}

/* --- what is compared --- */

static bool think_decides(const struct arm *a)
{
    return a->think_ms / (a->think_ms + a->p50) >= MOST;
}

static void what_is_compared(struct group *g)
{
    size_t delivered = 0, thinking = 0;

    g->open = text_equal(g->arms[0]->model, "open");
    for (size_t i = 0; i < g->len; i++) {
        delivered += g->arms[i]->delivered >= DELIVERED;
        thinking += think_decides(g->arms[i]);
    }
    g->input = g->open ? delivered == g->len : thinking == g->len;
}

static double compared(const struct group *g, const struct trial *t)
{
    return g->input ? t->load.latency_ms.p50 : t->load.goodput_rps;
}

/* --- are the results one? --- */

static void find_components(struct sweep_judge *j, struct group *g)
{
    struct stats_group *groups = arena_array(j->arena, struct stats_group, g->len);

    for (size_t i = 0; i < g->len; i++) {
        const struct arm *a = g->arms[i];
        double *values = arena_array(j->arena, double, a->n);
        for (size_t k = 0; k < a->n; k++) {
            double value = compared(g, a->counted[k]);
            values[k] = value > 0 ? log(value) : NAN;
        }
        groups[i] = (struct stats_group){values, a->n};
    }
    stats_components(groups, g->len, &g->components);
    g->repeated = g->components.repeated >= 2 && !isnan(g->components.low);
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* The most arms within PILE_WIDTH of each other, and where. */
static size_t pile(double *values, size_t len, double *ret_low, double *ret_high)
{
    size_t best = 0;

    qsort(values, len, sizeof(*values), by_value);
    for (size_t low = 0, high = 0; low < len; low++) {
        while (high < len && values[high] <= values[low] * (1 + PILE_WIDTH))
            high++;
        if (high - low > best) {
            best = high - low;
            *ret_low = values[low];
            *ret_high = values[high - 1];
        }
    }
    return best;
}

static size_t pile_of(struct sweep_judge *j, const struct group *g, bool latency, double *ret_low,
                      double *ret_high)
{
    double *values = arena_array(j->arena, double, g->len);
    size_t len = 0;

    for (size_t i = 0; i < g->len; i++) {
        double value = latency ? g->arms[i]->p50 : g->arms[i]->goodput;
        if (value > 0)
            values[len++] = value;
    }
    return len ? pile(values, len, ret_low, ret_high) : 0;
}

static double spread_of(const struct group *g, double (*value)(const struct arm *a))
{
    double low = INFINITY, high = 0;

    for (size_t i = 0; i < g->len; i++) {
        low = fmin(low, value(g->arms[i]));
        high = fmax(high, value(g->arms[i]));
    }
    return high / low - 1;
}

static double wait_share(const struct arm *a)
{
    return 1 - own_share(a);
}

static double goodput(const struct arm *a)
{
    return a->goodput;
}

static double p50(const struct arm *a)
{
    return a->p50;
}

/* Somebody else was at work, or the machine was full, in most of them: starts of one program differ by more
 * then. */
static bool was_noisy(const struct sweep_judge *j, const struct group *g)
{
    size_t noisy = 0;

    for (size_t i = 0; i < g->len; i++)
        noisy += machine_was_full(j, g->arms[i]) || g->arms[i]->foreign_cores >= FOREIGN_CORES;
    return 2 * noisy >= g->len;
}

/* "; apart from them: c/350 (22.4)" */
static const char *apart_words(struct sweep_judge *j, const struct group *g, bool latency, double low,
                               double high)
{
    struct names_list names = {0};

    for (size_t i = 0; i < g->len; i++) {
        double value = latency ? g->arms[i]->p50 : g->arms[i]->goodput;
        if (value > 0 && (value < low || value > high))
            names_add(&names,
                      arena_printf(j->arena, "%s (%s)", g->arms[i]->scenario, digits(j->arena, value)));
    }
    return names.len ? arena_printf(j->arena, ", and apart from these only %s", names_text(&names, j->arena))
                     : "";
}

static bool are_piled(struct sweep_judge *j, struct group *g, bool latency)
{
    double low = NAN, high = NAN;
    size_t piled = pile_of(j, g, latency, &low, &high);

    if ((double)piled < MOST * (double)g->len)
        return false;
    g->how = arena_printf(j->arena, "%zu of %zu scenarios lie within 2 %% of each other (%s %s)%s", piled,
                          g->len, from_to(j->arena, low, high), latency ? "ms of p50" : "requests/s",
                          apart_words(j, g, latency, low, high));
    return true;
}

/* With a closed load, what makes one of throughput and p50 is in the other as well, and noise is in either.
 */
static bool are_close(struct sweep_judge *j, struct group *g)
{
    bool noisy = was_noisy(j, g);
    double by_p50 = spread_of(g, p50), by_goodput = g->input ? NAN : spread_of(g, goodput);
    double least = fmin(by_p50, by_goodput);

    if ((!g->input && are_piled(j, g, false)) || are_piled(j, g, true))
        return true;
    if (g->repeated && g->components.low <= 0) {
        g->how = arena_printf(j->arena,
                              "%zu scenarios differ by no more than their own repetitions do (standard "
                              "deviation of one scenario's trials %s)",
                              g->len, percent(j->arena, sqrt(g->components.within)));
        return true;
    }
    g->how = arena_printf(j->arena, "the %s of %zu scenarios lie within %s of each other%s%s",
                          least == by_p50 ? "latencies" : "throughputs", g->len, percent(j->arena, least),
                          g->repeated ? "" : ", with one trial of each", noisy ? " on a busy machine" : "");
    if (!g->repeated)
        return least <= (noisy ? NOISY_SPREAD : SINGLE_SPREAD);
    return least <= (noisy ? SINGLE_SPREAD : RESIDUE_SPREAD) && median_of(j, g, wait_share) >= RESIDUE_WAIT;
}

void sweep_states(struct sweep_judge *j)
{
    for (size_t i = 0; i < j->len; i++)
        j->arms[i].state = state_of(j, &j->arms[i]);
    for (size_t i = 0; i < j->group_count; i++) {
        struct group *g = &j->groups[i];
        size_t waiting = 0;
        for (size_t k = 0; k < g->len; k++)
            waiting += g->arms[k]->state == ARM_WAITING;
        what_is_compared(g);
        find_components(j, g);
        g->piled = pile_of(j, g, false, &g->pile_low, &g->pile_high);
        g->idle = (double)waiting >= MOST * (double)g->len;
        g->close = g->len > 1 && are_close(j, g);
    }
}
