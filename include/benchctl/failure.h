/* SPDX-License-Identifier: MIT */
/*
 * What happened to a container and why, from what its witnesses say. Pure: it is fed and asked, it calls
 * nobody, waits for nothing and knows no engine but by the shape of its events and inspect replies.
 *
 * - the ledger: deaths, starts and kills by three witnesses: engine events, inspect, and the cgroup's own
 *   kill counter (which the sampler brings);
 * - the cause of a death, with its evidence, and "unknown" where it is unknown;
 * - lives: the same as a timeline, with what was served in between;
 * - liveness: when an application that runs answers nothing;
 * - log findings: what the lines of a log say that nobody else does (a full Java heap, no connection left).
 *
 * Rules (measured on Docker 20.10): a death is in events and inspect, and may be missed by one of them;
 * RestartCount starts again after a manual start and misses engine restarts; exit code 137 alone is not an
 * OOM kill; an `oom` event without a death is a child's. Where witnesses disagree both are kept and the
 * ledger says that it is uncertain.
 */
#ifndef BENCHCTL_FAILURE_H
#define BENCHCTL_FAILURE_H

#include <stdbool.h>
#include <stdint.h>
#include "benchctl/base/mem.h"
#include "benchctl/engine.h"
#include "benchctl/trial.h"

/* From what the witnesses said: one for each life, in order. */
struct ledger_start {
    int64_t wall_ns;
    bool inferred; /* nobody has seen it begin: another witness proves that there was a life */
};

/* One for each life that has ended. */
struct ledger_exit {
    int64_t wall_ns;
    int code;                        /* -1: nobody has seen how it ended */
    bool oom;                        /* the kernel killed its main process for want of memory */
    bool by_us;                      /* benchctl had asked for it */
    int foreign_signal;              /* the last kill event that was not ours: its signal; 0: none */
    bool by_inspect;                 /* only inspect has told of it: its event may still come */
    bool inferred;                   /* nobody has told of it, but that it started again */
    bool flag;                       /* inspect's OOMKilled, for this death */
    int ooms;                        /* oom events of this life; bursts count once */
    int64_t last_oom_ns, foreign_ns; /* of the last of these events */
};

/* An event as it came. */
enum ledger_fact_kind { FACT_START, FACT_OOM, FACT_KILL, FACT_DIE };
struct ledger_fact {
    enum ledger_fact_kind kind;
    int64_t wall_ns, last_ns; /* last: of a burst */
    int value;                /* exit code or signal */
    bool ours;
};

/* What inspect has said of the life that began at this StartedAt. */
struct ledger_look {
    int64_t started_ns;
    int64_t restarts;          /* RestartCount without one that is only planned; -1 unknown */
    int64_t ended_ns;          /* FinishedAt of this life; -1: it runs */
    int64_t previous_ended_ns; /* of the one before; -1 unknown */
    int code;
    bool flag, ours;
};

struct ledger {
    VEC(struct ledger_start) starts;
    VEC(struct ledger_exit) exits;
    int start_events, die_events; /* as told by the engine; repeated ones count once */
    int oom_events;               /* bursts count once */
    bool ours_to_end;             /* from here on every end is benchctl's own doing */
    bool gap;                     /* the event stream was interrupted */
    int distinct_starts;          /* StartedAt values that inspect has shown */
    int64_t restart_count;        /* inspect's last, without one that is only planned */
    bool oom_flag;                /* inspect has shown OOMKilled */
    bool running, terminal;       /* terminal: ended and nobody will restart it */
    bool paused;
    int last_code;
    char *state_error;
    bool stale;           /* something happened since the last inspect */
    VEC(int64_t) readies; /* when it was found ready: wall ns */
    /* what starts and exits are made from, in the order of the engine's clock */
    VEC(struct ledger_fact) facts;
    VEC(struct ledger_look) looks;
};

void ledger_release(struct ledger *l);

/* One event of this container. Events may be lost, come twice, or come after an inspect that knew already. */
void ledger_event(struct ledger *l, const struct engine_event *ev);
void ledger_gap(struct ledger *l);
/* An inspect reply. Settles what the events said: terminal or not, OOM flag, deaths that no event told of. */
void ledger_inspect(struct ledger *l, const struct engine_state *s);

/* It answered as `ready` asks for, the first time in this life. */
void ledger_ready(struct ledger *l, int64_t wall_ns);

/* The engine does not know it any more: somebody has removed it. */
void ledger_gone(struct ledger *l);

/* How often it was started again, by whomever: the lives that all witnesses together prove, less one.
 * *ret_uncertain (may be NULL): they disagree, or some of them were not heard. */
int ledger_restarts(const struct ledger *l, bool *ret_uncertain);
/* OOM kills by events and flag; `cgroup_kills` is the kernel's counter (NAN unknown). */
double ledger_oom_kills(const struct ledger *l, double cgroup_kills);
/* Did the engine itself go away and come back in between? Only after a gap: a life ended about then without
 * a reason of its own, or the engine has forgotten how often it restarted it. */
bool ledger_engine_restarted(const struct ledger *l, int64_t gap_wall_ns);
/* Deaths that are not our own doing. */
int ledger_deaths(const struct ledger *l);

/* Percent of [begin, end] (wall ns) in which it ran; NAN for an empty window. */
double ledger_uptime_pct(const struct ledger *l, int64_t begin_wall_ns, int64_t end_wall_ns);

/* --- why it died --- */

/* What is known around one death beside the ledger's own entry; NAN and NULL: unknown. */
struct death_facts {
    double memory_pct;      /* of the limit, at the last sample before it */
    double kernel_kills;    /* what the cgroup's own oom_kill counter grew by in this life; NAN unknown */
    double host_kills;      /* what the host's grew by around it beyond all known cgroups; NAN unknown */
    const char *heap_line;  /* the log line that told of a full Java heap in this life, or NULL */
    const char *start_line; /* the line of an init or a runtime that could not execute the program, or NULL */
    bool in_kernel_log;     /* the kernel's log tells of a kill in its cgroup that explains no other death */
};

/*
 * The cause in a few words that are always the same: "clean exit", "exit 3", "oom", "java heap exhausted",
 * "host out of memory", "crashed (SIGSEGV)", "killed by benchctl", "stopped by benchctl", "killed by somebody
 * else (signal 9)", "sigterm from elsewhere", "signal 1 (HUP)", "command not found", "cannot be executed",
 * "start failed", "exit 1 after the oom kill of a child", "sigkill, cause unknown (...)", "cause unknown";
 * and the evidence: which witness said what ("exit code 137; oom event; inspect's OOMKilled; oom_kill of the
 * cgroup rose by 1"). Sets code, oom, cause and evidence; texts go into `a`.
 */
void death_explain(const struct ledger *l, size_t exit, const struct death_facts *f, struct arena *a,
                   struct container_exit *ret);

/* The signal that an exit code speaks of (137: SIGKILL); 0: none that has a name. A program may end with such
 * a code by itself: nobody could tell. */
int exit_code_signal(int code);

/* The cause alone, by what the ledger knows. The caller frees. */
char *ledger_cause(const struct ledger_exit *e, double memory_pct);

/* Why a container never started, from the engine's words or those of its init: the class in a few words ("no
 * such program", "cannot be executed", "port taken", "start failed"), NULL when it is none of these.
 * *ret_application: the image or the command is at fault, not the environment. */
const char *start_failure_class(int exit_code, const char *state_error, bool *ret_application);
/* The first line of a log in which an init ("[FATAL tini (7)] exec ... failed: ...") or a runtime ("exec ...:
 * exec format error") says that it could not execute the program; NULL: none. Goes into `a`. */
const char *start_failure_line(const char *log, struct arena *a);

/* --- what the kernel's log says of a kill --- */

struct oom_line {
    char process[32]; /* the killed process' name, "" unknown */
    int64_t pid;
    bool host;          /* not a cgroup's limit: the whole machine was out of memory */
    char container[65]; /* the engine's id of the victim's container; "" none */
};
/* A line "oom-kill:constraint=..." of the kernel's log (text only); false: it is another one. */
bool oom_line_parse(const char *line, struct oom_line *ret);
/* A line "... out of memory: Killed process ..." of it. The kernel leaves lines of the kind above out when
 * there are many, these never. */
enum oom_reason { OOM_NONE, OOM_OF_CGROUP, OOM_OF_MACHINE };
enum oom_reason oom_reason_parse(const char *line);

/* --- its lives --- */

/* Each start with the end that followed, times in ms since `origin_wall_ns`; requests are left NAN. */
void ledger_lives(const struct ledger *l, int64_t origin_wall_ns, struct arena *a,
                  struct container_life **ret, size_t *ret_len);

/* --- liveness --- */

/*
 * Alive, and answering nothing: neither a probe was answered nor a request completed for `after_ns`, while
 * the container ran and had been ready. Down and starting are not unresponsive: they have their own names.
 */
struct liveness {
    int64_t after_ns;
    int64_t quiet_since_ns; /* the last sign of life, or the moment of readiness; 0: not watching */
    bool up, unresponsive;
    VEC(struct silence) silences; /* the last one may be open: to_ns 0 */
    int64_t blind_ns;             /* of the quiet time: nobody could look */
};
/* `silence` begins at the last sign of life: that is the moment it began. */
struct silence {
    int64_t from_ns, to_ns;
};
void liveness_release(struct liveness *l);
void liveness_up(struct liveness *l, int64_t now_ns);   /* it is ready, also again */
void liveness_down(struct liveness *l, int64_t now_ns); /* its container ended or was paused */
void liveness_sign(struct liveness *l, int64_t now_ns); /* something was answered */
/* Whoever looks did not run for so long until now: that much of the quiet is not the application's. */
void liveness_blind(struct liveness *l, int64_t ns);
/* Looks at the clock; true when it has just become unresponsive. */
bool liveness_tick(struct liveness *l, int64_t now_ns);

/* --- what a log says --- */

/* A table of kinds: id ("java-heap", "connection-limit", "stale-session", "deadlock", "file-descriptors",
 * ...), the words they are known by, and whom they speak of. docs/outcomes.md lists them; a test holds the
 * two against each other. */
struct log_kind {
    const char *id, *title; /* title: for the finding's sentence, "the Java heap was exhausted" */
    bool application; /* false: the environment's or the database's, not to be blamed on the application */
};
extern const struct log_kind log_kinds[];
extern const size_t log_kind_count;
/* The kind of one line without its newline, or NULL. Quick for the lines that are none. */
const struct log_kind *log_line_kind(const char *line, size_t len);

#endif
