/* SPDX-License-Identifier: MIT */
/* What the files of the conductor share. */
#ifndef BENCHCTL_RUN_INTERNAL_H
#define BENCHCTL_RUN_INTERNAL_H

#include "benchctl/base/fs.h"
#include "benchctl/failure.h"
#include "benchctl/host.h"
#include "benchctl/load.h"
#include "benchctl/postgres.h"
#include "benchctl/run.h"
#include "benchctl/sample.h"
#include "faults.h"

/* --- containers --- */

/* How a container was when it died, as far as that could still be seen. */
struct death_note {
    int64_t wall_ns;
    double memory_pct;   /* of the limit, at the last sample in which it ran as usual */
    double kernel_kills; /* its cgroups' counter so far */
};
#define DEATH_NOTE_NEAR_NS NS_PER_S /* so near to an end it is of that one, or of one that is nearer */

struct heap_line {
    int64_t wall_ns;  /* by the engine's clock; 0: unknown */
    const char *text; /* the trial's arena */
};

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
    bool on_bridge;    /* it has an address of its own; else it answers at the loopback */
    bool died;         /* under a policy that does not restart it */
    bool ready_line;   /* the line that `ready.log` waits for has come */
    /* Of a container that outlives trials: what belongs to earlier ones. The cgroup's own counter apart. */
    bool reused;
    double restarts_before, oom_kills_before, cgroup_kills_before;
    VEC(struct heap_line) heap_lines; /* of its log: told of a full Java heap; the first of each life */
    const char *start_line; /* of its log: it could not be executed; the trial's arena, NULL: none does */
    VEC(struct death_note) notes;
    size_t told_starts, told_exits; /* how many events.ndjson has */
};

/* A container that outlives a trial: the database, services of scope sweep. Kept while its settings stay the
 * same. */
struct standing {
    struct unit *unit;
    char digest[SHA256_HEX_SIZE];
    struct arena *arena; /* holds the settings */
};

struct image_use {
    char *key;           /* reference, or build context, Dockerfile and arguments */
    char *id;            /* NULL: it is not to be had */
    char *absent;        /* why not; NULL: it is there */
    struct json *config; /* what it runs by itself, and its environment; NULL: the engine does not say */
};

struct adapter_use {
    char *name;
    struct load_adapter *adapter;
    char *version;   /* NULL: not known */
    bool looked_for; /* its program, on PATH */
};

/* image_key.c: the id that the caller chose for this container's image; NULL: it chose none */
struct sweep_run;
const char *image_given(const struct sweep_run *s, const struct container_settings *c);

/* --- the sweep --- */

/* What the cooldown before the next trial was; cooldown.c. */
struct cooldown_state {
    double begin_c; /* when the sweep began; NAN: not readable */
    int64_t begin_sockets;
    double waited_ms, settled_ms; /* NAN: there was none */
    bool timed_out;
    struct cooldown_told {
        bool temperature, load, sockets;
    } told;          /* that it cannot be read, or that it can */
    char text[160];  /* what it waited for; "": nothing but time */
    char shown[176]; /* the step that progress shows */
};

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
    VEC(struct unit *) units;     /* everything that events may speak of, borrowed */
    VEC(int64_t) dying;           /* pids on this machine that a removal under way ends */
    VEC(struct removal) removals; /* under way: waited for before the next app starts */
    struct sweep_faults faults;
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
    bool retrying; /* a trial was begun, and its last attempt is not over: between two there is no `trial` */
    struct progress progress;
    int64_t started_ns, step_ns;
    int64_t last_done_ns;                   /* when the last trial ended */
    int64_t trials_begin_ns;                /* 0: not yet */
    struct cooldown_settings last_cooldown; /* of the trial just done */
    struct cooldown_state cooldown;
    int retry_allowed; /* of the trial just done */
    int64_t built_ns;  /* of it: what was spent on a build that its scenario's other trials have not */
    VEC(char *) kept;  /* ids of the last failed trial's containers, with --keep */
    char database_version[128];
    bool torn_down;
    bool engine_given_up; /* it was waited for in vain: the next trials do not wait again */
    bool budget_spent;
    bool round_asked; /* whether the first round fits the budget */
    bool some_absent; /* scenarios are passed over for want of an image */
    uint64_t container_number;
    struct host_watch *host_watch;     /* host_watch.c's; NULL: not looked at yet */
    VEC(struct jvm_asked *) jvm_asked; /* jvm.c's: what was asked already, and the answers */
    struct plan_schedule *schedule;
    double left_expected;      /* trials to come, the current one included */
    enum outcome last_outcome; /* of the trial just done or found sealed */
    struct eta *eta;           /* what this sweep's trials have taken */
    int64_t item_ns;           /* when the current trial, or the cooldown before it, began; 0: none */
    size_t item;               /* its scenario */
    uint64_t canaries_left;    /* the current one included */
};

/* --- a trial --- */

struct life_watch;
struct generation;

/* Lines of one kind in the kernel's log. */
struct kernel_lines {
    const char *kind, *first;
    double count;
};

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
    int64_t suspended_at_load_ns, suspended_in_load_ns; /* before the window, and within it */
    double load1_before;                                /* when the trial began; NAN */
    struct unit *app;
    VEC(struct unit *) services; /* of this trial */
    struct unit *generator;      /* when it runs in a container */
    struct adapter_use *adapter;
    struct sampler *sampler;
    struct scraper *scraper;
    struct metric_adapter *metric_adapter;
    struct jvm_look *jvm; /* jvm.c's: NULL: the app's processes were not looked at yet */
    int samples_fd, events_fd;
    int64_t load_begin_ns, load_end_ns; /* the measured window; 0: not begun */
    int64_t database_reset_ns;          /* when the database was as seeded; 0: not yet */
    struct postgres_counters counters_before;
    bool counters_taken;
    bool hopeless;           /* done again it would fail for the same reason */
    bool passing;            /* done again it may go well: the engine, or a stranger, was in the way */
    const char *environment; /* whatever else happened, it is the environment's doing: why; NULL: it is not */
    double warmup_ms, setup_ms, build_ms;
    struct unit *build; /* while it runs */
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
    VEC(struct finding) findings;
    const char *never_started;             /* why; NULL: it was started, or the environment is to blame */
    const char *engine_lost;               /* what became of the engine; NULL: nothing */
    const char *host_oom;                  /* the machine ran out of memory: the sentence; NULL: it did not */
    int64_t gap_wall_ns;                   /* when the event stream was opened again; 0: it did not break */
    struct kernel_log *kernel_log;         /* kernel_log.c's; NULL: not readable */
    double host_kills_before, host_kills;  /* NAN: not readable */
    VEC(struct oom_line) kills;            /* of the kernel's log, of any container; not all when many */
    double kills_told[OOM_OF_MACHINE + 1]; /* of it, by reason: all of them */
    VEC(struct kernel_lines) kernel_lines; /* of it: what else it says about the machine */
    struct life_watch *life;               /* liveness.c's; NULL: nothing to look at */
    bool app_silent;                       /* the load was ended early: the app answered nothing any more */
    /* unserved.c's: requests were made and none succeeded, though the app was alive; NULL: not for long */
    const char *unserved;
    double unserved_ms;
    bool unserved_to_end;
    const char *wrong_statuses; /* "HTTP status 500: 936": of the failures of kind `status`; NULL: unknown */
    bool skipped;               /* it was asked to be, in step failed_step */
    /* How long the process had been stopped: before the trial, before the window, and within it. */
    int64_t still_before_ns, still_at_load_ns, still_in_load_ns;
};

/* What trial_finding() is told beside the sentence. */
struct trial_happening {
    const char *id, *role; /* static or of the trial's arena */
    int64_t at_ns;
    double count;
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
/* life.c: it answers as `ready` asks for: first, or again after a restart. Wall ns of our own clock. */
void unit_life_ready(struct unit *u, int64_t wall_ns);
/* It has died: what can still be seen of it is kept. */
void unit_note_death(struct sweep_run *s, struct unit *u);
const struct death_note *unit_death_note(const struct unit *u, size_t exit); /* of the ledger; NULL: none */
/* Events of starts and ends that were not told yet; `witness` has told of them. t: NULL when there is no
 * trial. */
void unit_tell_lives(struct trial_run *t, struct unit *u, const char *witness);
void unit_tell_event(struct trial_run *t, struct unit *u, const struct engine_event *ev); /* any other */
/* kernel_log.c */
void kernel_log_begin(struct trial_run *t);
void kernel_log_read(struct trial_run *t);
void kernel_log_end(struct trial_run *t);
/* The last process of that container that the kernel's log tells of; NULL: none. */
const struct oom_line *kernel_log_kill(const struct trial_run *t, const char *container_id);
/* How many kills by its limit the kernel's log tells of since the trial began. */
double kernel_log_kills(const struct trial_run *t, const char *container_id);
/* Kills since the trial began because the machine was out of memory, not a container; `own` is what is known
 * of the trial's containers. */
double kills_of_host(const struct trial_run *t, double own);
/* engine_away.c: when it does not answer any more, waits until it does, two minutes at most. */
void trial_look_for_engine(struct trial_run *t);
/* When the stream of events is broken at this moment: until it tells of what happened. */
void trial_await_events(struct trial_run *t);
void trial_judge_gap(struct trial_run *t); /* what the engine did while nobody heard it */
/* unit.c: on the host's network somebody else listens at the port that it was given, and it has ended. */
bool unit_port_taken(const struct unit *u, const struct settings *st);
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
/* "image 'x' ...": the last log lines for a message, in one line; "" when there are none. */
const char *unit_log_tail(struct sweep_run *s, struct unit *u, struct arena *a);
/* log_quote.c: lines of a log, of which the last ones become one line. */
const char *log_quote(const char *tail, struct arena *a);
struct unit *unit_find(struct sweep_run *s, const char *role);
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

/* control.c: what somebody who watches asks for. control_look() is for callbacks. */
void control_look(struct sweep_run *s);
void control_serve(struct sweep_run *s);
bool control_skipped(struct trial_run *t); /* a step was interrupted: only because the trial is skipped? */
void control_trial_begin(struct trial_run *t);
void control_trial_over(struct trial_run *t);
int control_stop(const struct sweep_run *s, struct error *err) MUST_CHECK; /* -1: the sweep is to stop */
void control_window(struct trial_run *t, bool begin);
void control_judge(struct trial_run *t); /* what became of the time in which the process was stopped */

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
/* database_window.c */
int database_window_begin(struct trial_run *t, struct error *err) MUST_CHECK;
void database_window_end(struct trial_run *t);
/* Waits, at most some seconds, until the application's transactions have ended; what is left is told. */
bool settle_wanted(struct trial_run *t);
int step_settle(struct trial_run *t, struct error *err) MUST_CHECK;
/* Do checks look at counters of the database? Then nobody but the load may ask the application. */
bool database_counters_wanted(const struct settings *st);
/* Its counters, or what is in its tables: whatever we ask of the application meanwhile may be among them. */
bool database_is_counted(const struct settings *st);
/* database_slots.c: deadlocks and used up connections, by the counters and by what logs have told. */
void database_tell_faults(struct trial_run *t);
/* Ends the sessions of the trial, whose containers have been looked at, and takes the counters for good. */
int database_finish(struct trial_run *t, struct error *err) MUST_CHECK;

/* leave.c: what stands is dropped, and whatever else carries the run's label; with the network at the end. */
void sweep_start_afresh(struct sweep_run *s);
void sweep_tear_down(struct sweep_run *s);

/* budget.c: the next round would not end in time; says so. */
bool budget_spent(struct sweep_run *s, const struct plan_progress *at, struct error *err);
/* trials.c: a question only */
bool trial_is_sealed(struct sweep_run *s, struct planned_trial which, struct error *err);
/* trials.c: every trial that the schedule asks for and that is not sealed yet. */
int sweep_run_trials(struct sweep_run *s, struct error *err) MUST_CHECK;
void sweep_place_in_schedule(struct sweep_run *s, struct plan_progress *ret);

/* prepare.c: everything that must be there before anything is started. */
int sweep_prepare(struct sweep_run *s, struct error *err) MUST_CHECK;
const char *image_for(struct sweep_run *s, const struct container_settings *c);
const struct json *image_config(struct sweep_run *s, const struct container_settings *c); /* may be NULL */
/* images.c: why the scenario is passed over, naming the image that is not there; NULL: it is run. The caller
 * frees. */
char *image_absent(struct sweep_run *s, const struct settings *st);
struct adapter_use *adapter_for(struct sweep_run *s, const char *name);
/* info.c */
void info_begin(struct sweep_run *s);
void info_end(struct sweep_run *s, bool complete);

/* sampling.c */
int step_sampling(struct trial_run *t, struct error *err) MUST_CHECK;
void undo_sampling(struct trial_run *t);
/* For the record: how scraping went (once it is finished), the machine during the window, and a container's
 * limits by its cgroup's files (left alone where these cannot be read). */
void tell_scrapes(struct trial_run *t);
void tell_host(struct trial_run *t);
void copy_kernel_limits(struct trial_run *t, const struct unit *u, struct kernel_limits *ret);

/* jvm.c: whether the app is a JVM, once it is ready; what it chose, for the record, after the window. */
void jvm_look(struct trial_run *t);
void tell_jvm(struct trial_run *t);
void jvm_forget(struct sweep_run *s);

/* build.c: building the application, as a measurement; nothing of the trial runs beside it. */
bool build_wanted(struct trial_run *t);
int step_build(struct trial_run *t, struct error *err) MUST_CHECK;
void undo_build(struct trial_run *t);

/* start.c */
int step_services(struct trial_run *t, struct error *err) MUST_CHECK;
void undo_services(struct trial_run *t);
int step_app(struct trial_run *t, struct error *err) MUST_CHECK;
void undo_app(struct trial_run *t);
int step_ready(struct trial_run *t, struct error *err) MUST_CHECK;
/* Fills err and the trial's marks for an application that is not ready; returns -1. */
int app_not_ready(struct trial_run *t, enum ready_result r, int64_t timeout_ns, struct error *err);

/* liveness.c: looks while a load runs whether the app answers, and whether it is ready again after a restart.
 */
void life_watch_begin(struct trial_run *t, const struct generation *g);
void life_watch_end(struct trial_run *t); /* the generator has ended; a silence may go on */
void life_watch_free(struct life_watch *w);
/* For the record, once the containers' story is told: when it was silent. */
void tell_silences(struct trial_run *t);
/* "unresponsive for 34.2 s from 12.0 s on", or NULL. */
const char *silence_story(struct trial_run *t);

/* unserved.c: once silences are told: requests that nobody answered, while something else was. */
void tell_unserved(struct trial_run *t);

/* lives_served.c: what each life of the app answered, by the load's seconds. */
void tell_served(struct trial_run *t);

/* hide.c: what the scenario's settings and our own environment call secret; and masks it in the trial's
 * files. */
void trial_learn_secrets(const struct trial_run *t);
void trial_hide_secrets(struct trial_run *t);

/* ports.c: waits, at most a minute, until enough local ports are free for a load. */
int ports_wait(struct trial_run *t, struct error *err) MUST_CHECK;

/* load_step.c */
bool warmup_wanted(struct trial_run *t); /* by load.warmup, or by phases */
int step_warmup(struct trial_run *t, struct error *err) MUST_CHECK;
int step_load(struct trial_run *t, struct error *err) MUST_CHECK;
/* checks.c */
int step_checks(struct trial_run *t, struct error *err) MUST_CHECK;
/* evidence.c */
int save_log(struct trial_run *t, struct unit *u, struct error *err) MUST_CHECK;
/* Once its log is saved: the first between two ends (0: from the beginning); NULL: none. */
const char *unit_heap_line(const struct unit *u, int64_t before_wall_ns, int64_t end_wall_ns);
/* Appends what the app's log says of a JVM that lives on without room ("java heap exhausted (2 lines in its
 * log)"), unless `story` has it already. False: nothing. */
bool add_exhaustion(const struct trial_run *t, char *story, size_t size);
/* causes.c: what logs and the database told beside that, as a continuation of a sentence: "; the database's
 * connection slots used up (53300)". "" when they told nothing. */
const char *causes_in_logs(const struct trial_run *t);
void save_artifacts(struct trial_run *t);
/* The tar that the engine gave. Secrets in names are masked as those in files are; of names that are the same
 * then the first stays. */
int artifact_unpack(const char *tar, const char *dir, struct error *err) MUST_CHECK;
/* tell.c: the record of every container */
void tell_everybody(struct trial_run *t);
void tell_first_silence(struct trial_run *t); /* once silences are told: they are failures too */
/* collect.c */
int step_collect(struct trial_run *t, struct error *err) MUST_CHECK;
/* answers.c, floor.c: what benchctl asks the application itself, before and after the load. */
bool answers_wanted(struct trial_run *t);
int step_answers(struct trial_run *t, struct error *err) MUST_CHECK;
bool floor_wanted(struct trial_run *t);
int step_floor(struct trial_run *t, struct error *err) MUST_CHECK;
/* validity_facts.c: what is to be believed of the trial's numbers. */
void clocks_at_window(struct trial_run *t,
                      bool begin); /* when the measured window begins, and when it ends */
void trial_judge(struct trial_run *t);
/* outcome.c: pure; decides outcome and reason from the record and what went wrong. */
void trial_decide(struct trial_run *t);
/* trial_run.c: one trial from begin to its record. -1 only when the sweep cannot go on or was interrupted. */
int trial_execute(struct sweep_run *s, struct planned_trial which, int attempt, enum outcome *ret,
                  struct error *err) MUST_CHECK;
/* It is recorded as `skipped`, for this reason, and nothing is started. */
int trial_skip(struct sweep_run *s, struct planned_trial which, const char *why,
               struct error *err) MUST_CHECK;
void trial_note(struct trial_run *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Something happened that figures alone would not tell; texts are copied. at_ns: monotonic, 0: unknown. */
void trial_finding(struct trial_run *t, const struct trial_happening *h, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
/* What the generator, or a step, has found itself: it takes the place of the rule of that id. */
void trial_validity(struct trial_run *t, const char *id, const char *verdict, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
void progress_step(struct sweep_run *s, const char *step);

#endif
