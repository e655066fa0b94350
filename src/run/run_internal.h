/* SPDX-License-Identifier: MIT */
/* What the files of the conductor share. */
#ifndef BENCHCTL_RUN_INTERNAL_H
#define BENCHCTL_RUN_INTERNAL_H

#include "benchctl/base/fs.h"
#include "benchctl/load.h"
#include "benchctl/postgres.h"
#include "benchctl/run.h"
#include "benchctl/sample.h"
#include "ledger.h"

/* --- containers --- */

/* One container and what is known of it. Its settings' texts still hold run-time references. */
struct unit {
    const struct container_settings *settings;
    char *role;
    char *id, *name, *warnings, *address, *image_id;
    int64_t port; /* 0: none */
    int64_t pid;
    int64_t create_ns, started_ns; /* monotonic: create called, start call returned */
    struct ledger ledger;
    struct effective effective; /* texts owned by effective_arena */
    struct arena *effective_arena;
    struct engine_stream *stats, *logs;
    struct log_watch *watch; /* ready.c's */
    bool address_changed;
    double startup_ms; /* from started_ns to the startup line; NAN */
    char asked[320];   /* the last readiness probe and its answer, for messages */
    int probes;
    bool address_lost; /* it runs and has no address on the sweep's network any more */
    bool died;         /* under a policy that does not restart it */
    bool ready_line;   /* the line that `ready.log` waits for has come */
    /* Of a container that outlives trials: what belongs to earlier ones. The cgroup's own counter apart. */
    bool reused;
    double restarts_before, oom_kills_before, cgroup_kills_before;
};

/* A container that outlives a trial: the database, services of scope sweep. Kept while its settings stay the
 * same. */
struct standing {
    struct unit *unit;
    char digest[SHA256_HEX_SIZE];
    struct arena *arena; /* holds the settings */
};

struct image_use {
    char *key; /* reference, or build context, Dockerfile and arguments */
    char *id;
};

struct adapter_use {
    char *name;
    struct load_adapter *adapter;
    char *version;   /* NULL: not known */
    bool looked_for; /* its program, on PATH */
};

/* --- the sweep --- */

struct sweep_run {
    struct loop *loop;
    struct http *http;
    struct engine *engine;
    const struct plan *plan;
    const struct matrix *matrix;
    const struct run_options *options;
    const struct run_callbacks *cb;
    struct engine_stream *events;
    char *network_id;
    VEC(struct standing *) standing;
    VEC(struct unit *) units;           /* everything that events may speak of, borrowed */
    VEC(int64_t) dying;                 /* pids on this machine that a removal under way ends */
    VEC(struct engine_call *) removals; /* under way: waited for before the next app starts */
    VEC(struct image_use) images;
    VEC(struct adapter_use) adapters;
    struct postgres *postgres;
    struct unit *postgres_unit;              /* whose server that is; NULL: an existing one */
    char postgres_digest[SHA256_HEX_SIZE];   /* of its seed */
    char postgres_identity[SHA256_HEX_SIZE]; /* which database of which server, as whom */
    struct json *info;
    struct run_summary summary;
    struct trial_run *trial; /* the current one, or NULL */
    bool wake;               /* an event wants to be looked at */
    struct loop_timer *ticker;
    struct progress progress;
    int64_t started_ns, step_ns;
    int64_t last_done_ns;    /* when the last trial ended */
    int64_t trials_begin_ns; /* 0: not yet */
    uint64_t estimated_all_ns;
    int64_t last_settings_cooldown_ns; /* of the trial just done */
    int retry_allowed;                 /* of the trial just done */
    VEC(char *) kept;                  /* ids of the last failed trial's containers, with --keep */
    char database_version[128];
    int failures_in_a_row;
    bool torn_down;
    bool budget_spent;
    uint64_t container_number;
};

/* --- a trial --- */

struct trial_run {
    struct sweep_run *sweep;
    struct arena *arena; /* everything of this trial */
    struct scenario scenario;
    struct resolved resolved;
    const struct settings *settings;
    struct trial record;
    char *dir; /* trials/SCENARIO/N */
    int64_t begin_ns, deadline_ns;
    int64_t wall_minus_mono_ns;  /* at the beginning, to place wall stamps on our axis */
    int64_t suspended_before_ns; /* how long the machine had slept before the trial */
    struct unit *app;
    VEC(struct unit *) services; /* of this trial */
    struct unit *generator;      /* when it runs in a container */
    struct adapter_use *adapter;
    struct sampler *sampler;
    struct scraper *scraper;
    struct metric_adapter *metric_adapter;
    int samples_fd, events_fd;
    int64_t load_begin_ns, load_end_ns; /* the measured window; 0: not begun */
    struct postgres_counters counters_before;
    bool counters_taken;
    double warmup_ms, setup_ms;
    /* what went wrong first, and what it is */
    bool failed;
    const char *failed_step;
    struct error error;
    const char *interference;  /* what somebody else did to the trial's containers; NULL: nothing */
    const char *service_death; /* which other container ended during the trial; NULL: none */
    bool not_ready;            /* alive but not ready in time */
    bool never_up;             /* died before it was ready, for good or again and again */
    bool load_failed;          /* the generator gave no result: error holds why */
    bool keep;                 /* this trial failed and its containers stay */
    bool app_ended;            /* the app ended for good before the load was over */
    VEC(struct step_time) steps;
    VEC(const char *) notes;
    VEC(struct validity_result) validity;
};

/* vars.c: fills in run-time references. `perspective` tells a container's own view (its role) from the
 * generator's (NULL). */
/* What a role is in this scenario; NULL: it has none. */
const struct container_settings *container_settings_of(const struct settings *st, const char *role);
int run_expand(struct trial_run *t, const char *text, const char **ret, struct error *err) MUST_CHECK;
int run_expand_for(struct sweep_run *s, const struct settings *st, struct arena *a, const char *text,
                   const char **ret, struct error *err) MUST_CHECK;

/* unit.c */
struct unit_options {
    const struct settings *settings; /* of the scenario, for references and network mode */
    const char *scenario, *image_id;
    int trial;
    const struct text_list *extra_command; /* appended */
    const struct text_list *binds;         /* beside the settings' own */
    const struct text_map *extra_env;
};
struct unit *unit_new(struct sweep_run *s, const struct container_settings *c, const char *role);
void unit_begin_trial(struct unit *u); /* a standing one: from here on it counts for this trial */
int unit_create(struct sweep_run *s, struct unit *u, const struct unit_options *o,
                struct error *err) MUST_CHECK;
int unit_start(struct sweep_run *s, struct unit *u, struct error *err) MUST_CHECK;
/* That it has gone is no error: the ledger knows it then. */
int unit_inspect(struct sweep_run *s, struct unit *u, struct error *err) MUST_CHECK;
/* Asks the engine to remove it, without waiting, and forgets it. */
void unit_discard(struct sweep_run *s, struct unit *u);
/* Stops it and leaves it for a person to look at; what was kept before goes. */
void unit_keep(struct sweep_run *s, struct unit *u);
void kept_discard(struct sweep_run *s);
/* "image 'x' ...": the last log lines for a message; "" when there are none. Static until the next call. */
const char *unit_log_tail(struct sweep_run *s, struct unit *u, struct arena *a);
struct unit *unit_find(struct sweep_run *s, const char *role);
int removals_wait(struct sweep_run *s, struct error *err) MUST_CHECK;
/* Waits (bounded, a moment) until the processes of what is being removed have ended: they may hold database
 * sessions. */
int dying_wait(struct sweep_run *s, struct error *err) MUST_CHECK;
bool trial_is_current(const struct sweep_run *s, const struct unit *u);
/* Has this scenario anything to do with it? Another's database or service may be standing by. */
bool trial_has(const struct trial_run *t, const struct unit *u);

/* ready.c: waits until the unit is ready by its settings. Ends early when it has died for good or keeps
 * dying. */
enum ready_result { READY_YES, READY_DEAD, READY_TIMEOUT };
int unit_wait_ready(struct sweep_run *s, struct unit *u, int64_t deadline_ns, enum ready_result *ret,
                    struct error *err) MUST_CHECK;
int64_t ready_timeout_ns(const struct container_settings *c); /* as written, else a minute */
int unit_watch_log(struct sweep_run *s, struct unit *u, struct error *err) MUST_CHECK;
void unit_unwatch_log(struct unit *u);

/* serve.c: waits for *done. Returns early, with 0, when a container that an event spoke of has been looked
 * after. */
int sweep_wait(struct sweep_run *s, const bool *done, int64_t deadline_ns, struct error *err) MUST_CHECK;
bool trial_time_is_up(const struct sweep_run *s);                   /* the current trial's hard limit */
int trial_time_error(const struct trial_run *t, struct error *err); /* as an error that says so */
int sweep_attend(struct sweep_run *s, struct error *err) MUST_CHECK;
int sweep_events_open(struct sweep_run *s, struct error *err) MUST_CHECK;
void trial_event(struct trial_run *t, const char *what, const char *role, struct json *fields);

/* standing.c */
/* The running container of that role with the scenario's settings: the one that is there, or a new one. */
int standing_ensure(struct sweep_run *s, const struct resolved *r, size_t scenario, const char *role,
                    struct unit **ret, struct error *err) MUST_CHECK;
void standing_drop(struct sweep_run *s, struct unit *u);
void standing_drop_all(struct sweep_run *s);
int network_ensure(struct sweep_run *s, enum network_mode mode, struct error *err) MUST_CHECK;

/* database.c */
const char *database_user(const struct database_settings *d); /* as written, else the images' own superuser */
int step_database(struct trial_run *t, struct error *err) MUST_CHECK;
void database_leave(struct sweep_run *s);
int database_window_begin(struct trial_run *t, struct error *err) MUST_CHECK;
void database_window_end(struct trial_run *t);

/* leave.c: what stands is dropped, and whatever else carries the run's label; with the network at the end. */
void sweep_start_afresh(struct sweep_run *s);
void sweep_tear_down(struct sweep_run *s);

/* prepare.c: everything that must be there before anything is started. */
int sweep_prepare(struct sweep_run *s, struct error *err) MUST_CHECK;
const char *image_for(struct sweep_run *s, const struct container_settings *c);
struct adapter_use *adapter_for(struct sweep_run *s, const char *name);
/* info.c */
void info_begin(struct sweep_run *s);
void info_end(struct sweep_run *s, bool complete);
double host_load1(void);

/* sampling.c */
int step_sampling(struct trial_run *t, struct error *err) MUST_CHECK;
void undo_sampling(struct trial_run *t);

/* trial_run.c: fills err and the trial's marks for an application that is not ready; returns -1. */
int app_not_ready(struct trial_run *t, enum ready_result r, int64_t timeout_ns, struct error *err);

/* ports.c: waits, at most a minute, until enough local ports are free for a load. */
int ports_wait(struct trial_run *t, struct error *err) MUST_CHECK;

/* load_step.c */
bool warmup_wanted(struct trial_run *t); /* by load.warmup, or by phases */
int step_warmup(struct trial_run *t, struct error *err) MUST_CHECK;
int step_load(struct trial_run *t, struct error *err) MUST_CHECK;
/* collect.c */
int step_checks(struct trial_run *t, struct error *err) MUST_CHECK;
int step_collect(struct trial_run *t, struct error *err) MUST_CHECK;
/* validity.c: what speaks against a trial's numbers; of the load itself: validity_load.c. */
void validity_of_unit(struct trial_run *t, const struct unit *u, const struct container_result *c);
void validity_of_host(struct trial_run *t);
void validity_of_clocks(struct trial_run *t);
/* outcome.c: pure; decides outcome and reason from the record and what went wrong. */
void trial_decide(struct trial_run *t);
/* trial_run.c: one trial from begin to its record. -1 only when the sweep cannot go on or was interrupted. */
int trial_execute(struct sweep_run *s, struct planned_trial which, int attempt, enum outcome *ret,
                  struct error *err) MUST_CHECK;
void trial_note(struct trial_run *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
void trial_validity(struct trial_run *t, const char *id, const char *verdict, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
void progress_step(struct sweep_run *s, const char *step);

#endif
