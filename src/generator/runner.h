/* SPDX-License-Identifier: MIT */
/*
 * Virtual users and the executors that tell them when to begin an iteration. Knows no loop and no clock: it
 * is told what time it is and says when it wants to be called next, so that its arithmetic can be tested to
 * the nanosecond. An iteration is one request, chosen by weight, and the think time behind it.
 *
 * Who is in which state:
 *   phase: WAITING -> RUNNING -> STOPPING (nothing begins; graceful stop) -> OVER
 *   VU:    IDLE (open: free) -> BUSY (a request is under way) -> RESTING (think time, back-off) -> ...
 */
#ifndef BENCHCTL_GENERATOR_RUNNER_H
#define BENCHCTL_GENERATOR_RUNNER_H

#include "benchctl/base/hash.h"
#include "second.h"
#include "transport.h"

#define NEVER INT64_MAX
/* So many requests are begun or given up in one turn of the loop, by each phase and by VUs that waited; the
 * rest in the next turn, so that answers are read in between. */
#define WORK_PER_TURN 16

enum phase_state { PHASE_WAITING, PHASE_RUNNING, PHASE_STOPPING, PHASE_OVER };
enum vu_state { VU_IDLE, VU_BUSY, VU_RESTING };

struct runner;
struct phase;

struct vu {
    struct phase *phase; /* NULL: in the pool */
    struct channel *channel;
    struct exchange x;
    enum vu_state state;
    uint8_t failed_connects; /* in a row, for the back-off */
    size_t at;               /* in the phase's list */
    uint32_t number;         /* {{vu}}, from 1, unique over all processes */
    uint64_t iteration;      /* begun, of this VU */
    uint64_t serial;         /* of the iteration, unique over all processes */
    uint64_t draw;           /* number in its phase: what is random in it follows from that and the seed */
    uint64_t left;           /* per-vu-iterations */
    int64_t planned_ns;      /* open: when it was to begin; closed: 0 */
    int64_t started_ns;
    int64_t until_ns;    /* BUSY: time-out; RESTING: end of rest */
    int64_t leave_by_ns; /* its VU is taken away: may finish until then; NEVER */
    int64_t queued_ns;   /* key in the queue, never behind the moment it waits for; NEVER: not queued */
    size_t slot;         /* in the queue */
};

struct phase {
    struct runner *runner;
    const struct workload_phase *form;
    size_t index;
    struct phase_part *part; /* where it counts */
    enum phase_state state;
    bool released; /* WAITING: start_ns is known */
    int64_t start_ns, end_ns, stop_by_ns;
    VEC(struct vu *) vus; /* [0, active) may begin iterations, the rest is leaving */
    size_t active;
    uint64_t parts, part_index; /* how many processes share it, and which of them this is */
    /* closed */
    uint64_t begun;         /* of this process */
    uint64_t left;          /* shared-iterations: not begun */
    uint64_t unbegun;       /* VUs that were to begin with the phase and whose turn has not come */
    int64_t next_change_ns; /* ramping-vus: next moment at which the number of VUs changes */
    int64_t behind_ns;      /* ramping-vus: since when VUs are missing whose turn has not come; NEVER */
    /* open */
    VEC(struct vu *) idle;
    uint64_t arrival;    /* number of the next one of this process */
    uint64_t drawn;      /* Poisson: exponential variates drawn */
    double sum;          /* of them */
    struct rng arrivals; /* Poisson */
    int64_t next_arrival_ns, last_arrival_ns, last_send_ns;
    /* which requests */
    size_t *kinds;
    double *weights; /* cumulated */
    size_t kind_count;
    bool rests; /* some request has a think time */
};

struct runner_options {
    const struct workload *workload;
    const struct request_kind *kinds;
    size_t kind_count, row_count;
    uint64_t process, processes; /* 0-based, how many */
    uint64_t run_id;             /* makes ids unique between runs */
    struct transport *transport;
    /* A phase is over. A runner's phase that follows another waits for runner_release(). */
    void (*phase_over)(size_t phase, void *data);
    /* runner_next_ns() has become earlier than it was. */
    void (*sooner)(int64_t next_ns, void *data);
    void *data;
};

struct runner {
    struct runner_options o;
    int64_t begin_ns; /* the load's */
    int64_t now_ns;
    struct phase *phases;
    size_t phase_count, over;
    VEC(struct vu *) all, pool;
    VEC(struct vu *) queue; /* heap by queued_ns */
    uint64_t serials;
    unsigned work;         /* done in this turn */
    struct second *second; /* where everything is counted; its reader clears it */
};

struct runner *runner_new(const struct runner_options *o);
void runner_free(struct runner *r);
DEFINE_CLEANUP(struct runner *, runner_free);

/* The load begins at `begin_ns`: phases with a start time, and the first one, are released. */
void runner_begin(struct runner *r, int64_t begin_ns);
/* Phase `phase`, which follows another, begins at `at_ns`. */
void runner_release(struct runner *r, size_t phase, int64_t at_ns);
/* Does what is due at `now_ns`. */
void runner_advance(struct runner *r, int64_t now_ns);
/* When runner_advance() is to be called next, at the latest; NEVER. May have become earlier after an
 * exchange ended. */
int64_t runner_next_ns(const struct runner *r);
/* Ends all at once: what is under way is aborted. */
void runner_stop(struct runner *r, int64_t now_ns);
bool runner_over(const struct runner *r);
/* Enough for this turn of the loop. */
bool runner_turn_full(const struct runner *r);

/* ---- between the parts of it ---- */

/* vu.c */
struct vu *vu_take(struct phase *p);                             /* from the pool, or a new one */
void vu_release(struct vu *v);                                   /* to the pool; not BUSY */
void vu_start(struct vu *v, int64_t planned_ns, int64_t now_ns); /* a request */
void vu_abort(struct vu *v, int64_t now_ns);                     /* counted as aborted, then IDLE */
void vu_due(struct vu *v, int64_t now_ns);                       /* what it waited for has come */
void vu_requeue(struct vu *v);
void pool_fill(struct runner *r, size_t count);

/* queue.c */
void queue_put(struct runner *r, struct vu *v, int64_t when_ns); /* or moves it */
void queue_remove(struct runner *r, struct vu *v);

/* closed.c, open.c: executors */
void closed_begin(struct phase *p);
void closed_advance(struct phase *p, int64_t now_ns); /* RUNNING */
int64_t closed_next_ns(const struct phase *p);
void closed_iterate(struct vu *v, int64_t now_ns); /* the VU is free: its next iteration, or it goes */
void closed_end(struct phase *p);                  /* no iteration begins any more */
void open_begin(struct phase *p);
void open_advance(struct phase *p, int64_t now_ns);
int64_t open_next_ns(const struct phase *p);
bool open_behind(const struct phase *p); /* arrivals of its time have not had their turn; false when closed */
void open_free(struct vu *v, int64_t now_ns); /* its iteration is over */
void open_end(struct phase *p);

/* phase.c */
void phase_init(struct phase *p, struct runner *r, size_t index);
void phase_free(struct phase *p);
void phase_advance(struct phase *p, int64_t now_ns);
void phase_end(struct phase *p); /* RUNNING: nothing begins any more; VUs that are not BUSY go */
int64_t phase_next_ns(const struct phase *p);
void phase_check_over(struct phase *p, int64_t now_ns); /* perhaps nothing is left of it */
void phase_drop_vu(struct phase *p, struct vu *v);      /* out of the list, into the pool */
void phase_stop(struct phase *p, int64_t now_ns);       /* what is under way is aborted; over */

/* share.c: what of a whole belongs to process `i` of `n`. The shares add up to the whole at any value, and
 * grow by at most one when it grows by one. */
uint64_t share_of(uint64_t whole, uint64_t i, uint64_t n);
/* Over how many processes a phase is spread: never over more than it has VUs. */
uint64_t phase_processes(const struct workload_phase *p, uint64_t processes);
/* Which of a phase's parts that process has; one that there is not: none. Phases that are spread over fewer
 * than all begin where the one before ended, so that several small ones do not meet in the first process. */
uint64_t phase_part_index(const struct workload *w, size_t phase, uint64_t process, uint64_t processes);

#endif
