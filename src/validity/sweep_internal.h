/* SPDX-License-Identifier: MIT */
/*
 * What the rules over a sweep share. Scenarios ("arms") are put together from their trials' records first,
 * then into groups that were loaded alike: speeds are compared within a group only.
 */
#ifndef BENCHCTL_VALIDITY_SWEEP_INTERNAL_H
#define BENCHCTL_VALIDITY_SWEEP_INTERNAL_H

#include "benchctl/base/strbuf.h"
#include "benchctl/stats.h"
#include "benchctl/validity.h"
#include "thresholds.h"

/* Of the arms: what is true of these is true of the sweep. */
#define MOST 0.70
/* CPU time in a lone request: from here on its latency is the application's own work. The lower one is for
 * requests that queue, on processors that others use as well: these stretch it. */
#define OWN_SHARE 0.30
#define QUEUE_OWN_SHARE 0.15
/* A lone request below it is over as soon as it is asked: client, kernel and network have a part that counts.
 */
#define ASKING_MS 1.0
/* Lone request to p50: below, requests wait longer for each other than for anything else. */
#define QUEUE_SHORT 0.50
/* Of the processors: below, nothing is near a limit; from the second one on, they are what is waited for. */
#define IDLE_SHARE 0.25
#define BUSY_SHARE 0.70
/* Cores: a program of one thread may be at its limit, whatever it is allowed. */
#define THREAD_BUSY 0.70
/* Cores: who wants a processor of a full machine gets as much, unless many others want one. Who uses less has
 * not asked for it. */
#define FULL_MACHINE_MIN 0.10
/* Of the machine's processors, and what the hypervisor takes of them: who wants one waits. */
#define FULL_SHARE 0.90
#define STEAL_PCT 10.0
/* Of the quota's periods: some throttling; the quota decides. */
#define THROTTLED_ANY 0.01
#define THROTTLED_BUSY 0.20
/* Of its processors: a generator that may be what is measured. */
#define GENERATOR_BUSY 0.80
/* One value, as reports round. */
#define PILE_WIDTH 0.02
/* CPU or memory: the scenarios are not the same program. */
#define OTHERS_DIFFER 0.10
/* Without repetition: starts of one program differ by as much, and by as much when others use the machine, be
 * it only the cores that FOREIGN_CORES says. */
#define SINGLE_SPREAD 0.15
#define NOISY_SPREAD 0.30
/* With so much of the latency spent waiting, differences as small lie within the rest of it. */
#define RESIDUE_WAIT 0.90
#define RESIDUE_SPREAD 0.10

enum arm_state { ARM_UNKNOWN, ARM_WORKING, ARM_WAITING };

struct arm {
    const char *scenario;
    const struct validity_arm *of;
    const struct trial **counted; /* whose figures are of an undisturbed run */
    size_t n;
    bool late;       /* none was undisturbed; the generator was late in these, but made its load */
    const char *out; /* why it is out of the comparison of speeds; NULL: it is in */
    size_t group;
    const char *model;
    /* medians over the counted trials; NAN: not measured */
    double goodput, offered, delivered, p50, concurrency, think_ms;
    double cores, allowed, throttled, request_cpu_ms, memory;
    double database_cores, database_share,
        database_cpu_ms;         /* share: of its processors; CPU time: a request */
    double lone_ms, lone_cpu_ms; /* of one request at a time */
    bool lone_measured;          /* else the fastest request under load stands for it */
    double generator_cores, generator_allowed, host_cores, steal_pct, foreign_cores;
    double pool_pending, pool_pending_avg, pool_max;
    const char *service; /* the busiest other container, and what share of its processors it used */
    double service_share;
    const char *upstream; /* a container that is neither database nor generator; NULL: none */
    double error_rate;
    double paused;       /* of the load's time, by the collector; NAN: not measured */
    bool generator_late; /* it said so of itself, in most counted trials */
    enum arm_state state;
};

struct group {
    struct arm **arms; /* those with figures, in the order of the sweep */
    size_t len;
    bool open, input; /* input: the load decides the throughput, so that latency is what is compared */
    bool idle, close; /* nothing is stressed; the results are one */
    const char *how;  /* how they are one, in words */
    size_t piled;     /* arms at one throughput */
    double pile_low, pile_high;
    struct stats_components components; /* on logs, of what is compared */
    bool repeated;                      /* enough trials for these */
};

struct sweep_judge {
    struct arena *arena;
    const struct validity_sweep_facts *facts;
    struct arm *arms;
    size_t len;
    struct group *groups;
    size_t group_count;
    VEC(struct validity_result) results;
};

/* sweep_arms.c */
void sweep_arms(struct sweep_judge *j);
double busy_share(const struct arm *a); /* of the processors that the application may use; NAN unknown */
/* CPU time of application and database in the latency of a lone request; NAN unknown */
double own_share(const struct arm *a);
double median_of(struct sweep_judge *j, const struct group *g, double (*value)(const struct arm *a));
/* sweep_loads.c */
const char *load_name(struct sweep_judge *j, const struct group *g); /* "20 users" */
/* The arms of several groups as one; returns how many there were. */
size_t join_groups(struct sweep_judge *j, const bool *members, struct group *ret);
const char *under_loads(struct sweep_judge *j, size_t groups);        /* "under each of 3 loads: ", or "" */
const char *under_load(struct sweep_judge *j, const struct group *g); /* "at 20 users: " of several, or "" */
/* sweep_state.c */
void sweep_states(struct sweep_judge *j);
/* sweep_speed.c: V1, V3, V4, V5 */
void judge_speed(struct sweep_judge *j);
/* sweep_ceiling.c: V6, and the words about what was probably measured instead */
void judge_ceiling(struct sweep_judge *j);
const char *ceiling_words(struct sweep_judge *j, const struct group *g); /* NULL: nothing is suspected */
/* sweep_same.c: V14, V15, V20, V23 */
void judge_sameness(struct sweep_judge *j);
void judge_metrics(struct sweep_judge *j);
/* sweep_answers.c: V26 */
void judge_answers(struct sweep_judge *j);
/* sweep_jvm.c */
void judge_jvm(struct sweep_judge *j);

/* sweep_limit.c */
void sweep_limits(struct sweep_judge *j, struct validity_sweep *ret);

/* sweep_controls.c: V7, V8; once `ret` has its verdict, which an unseen handicap takes the place of */
void judge_controls(struct sweep_judge *j, struct validity_sweep *ret);

/* sweep_canary.c */
void judge_canary(struct sweep_judge *j, struct validity_canary *ret);

/* sweep_say.c */
void sweep_say(struct sweep_judge *j, const char *id, const char *verdict, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
/* Three digits that mean something, never an exponent; "–" for NAN. In the arena. */
const char *digits(struct arena *a, double value);
const char *percent(struct arena *a, double share);            /* "1.2 %" */
const char *from_to(struct arena *a, double low, double high); /* "112 to 115", "115" */
/* "a, b, c and 4 more" */
struct names_list {
    struct strbuf text;
    size_t len;
};
void names_add(struct names_list *l, const char *name);
const char *names_text(struct names_list *l, struct arena *a); /* releases it */

#endif
