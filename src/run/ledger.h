/* SPDX-License-Identifier: MIT */
/*
 * What happened to one container, by three witnesses: engine events, inspect, and the cgroup's own kill
 * counter (which the sampler brings). Pure: it is fed and asked, it calls nobody.
 *
 * Rules (measured on Docker 20.10): a death is in events and inspect, and may be missed by one of them;
 * RestartCount starts again after a manual start and misses engine restarts; exit code 137 alone is not an
 * OOM kill; an `oom` event without a death is a child's. Where witnesses disagree both are kept and the
 * ledger says that it is uncertain.
 */
#ifndef BENCHCTL_RUN_LEDGER_H
#define BENCHCTL_RUN_LEDGER_H

#include <stdbool.h>
#include <stdint.h>
#include "benchctl/base/mem.h"
#include "benchctl/engine.h"

struct ledger_start {
    int64_t wall_ns;
};

struct ledger_exit {
    int64_t wall_ns;
    int code;
    bool oom;           /* an oom event since the start, or inspect's flag for this death */
    bool by_us;         /* benchctl had asked for it */
    int foreign_signal; /* a kill event that was not ours: its signal; 0: none */
    bool by_inspect;    /* only inspect has told of it: its event may still come */
};

struct ledger {
    VEC(struct ledger_start) starts;
    VEC(struct ledger_exit) exits;
    int oom_events; /* bursts count once */
    int64_t last_oom_ns;
    bool oom_since_start;
    int foreign_signal;     /* of a kill event since the start */
    bool ours_to_end;       /* from here on every end is benchctl's own doing */
    bool gap;               /* the event stream was interrupted */
    char *last_started_at;  /* inspect's */
    int distinct_starts;    /* StartedAt values that inspect has shown */
    int64_t restart_count;  /* inspect's last */
    bool oom_flag;          /* inspect has shown OOMKilled */
    bool running, terminal; /* terminal: ended and nobody will restart it */
    int last_code;
    char *state_error;
    bool stale; /* something happened since the last inspect */
};

void ledger_release(struct ledger *l);

/* One event of this container. */
void ledger_event(struct ledger *l, const struct engine_event *ev);
void ledger_gap(struct ledger *l);
/* An inspect reply. Settles what the events said: terminal or not, OOM flag, deaths that no event told of. */
void ledger_inspect(struct ledger *l, const struct engine_state *s);

/* The engine does not know it any more: somebody has removed it. */
void ledger_gone(struct ledger *l);

/* How often it was restarted: the most that any witness saw. *ret_uncertain (may be NULL): they disagree. */
int ledger_restarts(const struct ledger *l, bool *ret_uncertain);
/* OOM kills by events and flag; `cgroup_kills` is the kernel's counter (NAN unknown). */
double ledger_oom_kills(const struct ledger *l, double cgroup_kills);
/* Deaths that are not our own doing. */
int ledger_deaths(const struct ledger *l);

/* Percent of [begin, end] (wall ns) in which it ran; NAN for an empty window. */
double ledger_uptime_pct(const struct ledger *l, int64_t begin_wall_ns, int64_t end_wall_ns);

/* "oom", "exit 3", "signal 11 (SEGV)", "killed by benchctl", ... `memory_pct`: of the limit at the last
 * sample, NAN unknown. */
char *ledger_cause(const struct ledger_exit *e, double memory_pct); /* the caller frees */

#endif
