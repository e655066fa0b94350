/* SPDX-License-Identifier: MIT */
/*
 * What others see of a sweep while it runs: status.json and status.html, webhooks, the service manager
 * (systemd's notification protocol). Not the journal, which resume trusts: a status that is lost is no loss.
 *
 * Holds up nothing: files are not waited for, requests run on the loop with a deadline, the service manager
 * is sent datagrams. Nothing that fails here fails the sweep. docs/watch.md has the names and bodies, which
 * stay.
 *
 * Order of calls: watch_open(); watch_progress() and watch_trial() as things happen; watch_end() while the
 * run directory is still held; watch_report() once the exit code is known; watch_close().
 */
#ifndef BENCHCTL_WATCH_H
#define BENCHCTL_WATCH_H

#include "benchctl/base/loop.h"
#include "benchctl/base/mem.h"
#include "benchctl/trial.h"

#define WATCH_SCHEMA 1 /* of status.json and of the webhooks' bodies */

/* --- a snapshot --- */

enum watch_state {
    WATCH_RUNNING,
    WATCH_COOLING_DOWN,
    WATCH_WAITING_FOR_ENGINE,
    WATCH_STOPPING,    /* somebody asked for the end: it cleans up */
    WATCH_COMPLETE,    /* over: every trial was executed */
    WATCH_INTERRUPTED, /* over, resumable: somebody asked for it */
    WATCH_FAILED,      /* over, resumable: it could not go on */
    WATCH_STATES
};
const char *
watch_state_name(enum watch_state s); /* "running", "cooling down", "waiting for the engine", ... */
bool watch_is_over(enum watch_state s);

struct watch_trial {
    const char *scenario; /* NULL: there is none */
    int trial;
    const char *outcome, *reason, *at; /* names as in trial.json; at: RFC 3339, when it was sealed */
};

/* Texts are borrowed; NULL: not known. NAN: not known. Times are RFC 3339. */
struct watch_status {
    enum watch_state state;
    const char *reason; /* why it is over, or why it waits */
    const char *name, *title, *version, *host;
    int64_t pid;
    double trial, trials; /* the current one of so many, from 1; counts as the schedule knows them */
    bool at_most;         /* `trials` may become less: a search decides */
    double sealed, kept;  /* done so far; of these from an earlier run */
    double outcomes[OUTCOMES];
    const char *scenario, *step;
    const char *started_at, *step_since, *eta_at, *heartbeat_at, *ended_at;
    double elapsed_s, step_elapsed_s, eta_s;
    double trial_limit_s; /* until the current trial is over at the latest */
    double free_bytes;    /* of the run directory's disk */
    struct watch_trial last, first_failure;
};

void watch_status_init(struct watch_status *s); /* nothing is known */
struct json *watch_status_to_json(const struct watch_status *s);
/* Texts stay in `j`. Members that are missing or of another type are unknown. ERROR_INVALID when it is no
 * status, or of a newer schema. */
int watch_status_from_json(const struct json *j, struct watch_status *ret, struct error *err) MUST_CHECK;

/* A page that shows it, with links to nothing and without a script; reloads itself while the sweep runs. */
void watch_status_page(const struct watch_status *s, struct strbuf *out);

/*
 * Does a sweep whose directory is still held hang? `age_s`: how old the status is. Says why in `why` (at
 * least 128 bytes).
 */
bool watch_is_stalled(const struct watch_status *s, double age_s, char *why, size_t size);

/* --- while it runs --- */

enum watch_event {
    WATCH_EVENT_STARTED,
    WATCH_EVENT_FAILED,
    WATCH_EVENT_STALLED,
    WATCH_EVENT_FINISHED,
    WATCH_EVENTS
};
const char *watch_event_name(enum watch_event e); /* as in `notify.on` */
int watch_event_parse(const char *text, enum watch_event *ret);

struct watch_options {
    const char *dir; /* the run directory: free disk space, and what to go on with */
    const char *name, *title;
    const char *webhook; /* NULL or "": nobody is told. A secret: shown nowhere but for its host */
    unsigned events;     /* a bit 1 << enum watch_event each; 0: all */
    /* Puts a file ("status.json", "status.html") into the run directory, atomically. Failing is no loss. */
    void (*write)(const char *file, const void *bytes, size_t len, void *data);
    /* Something for the journal; owns `fields`. NULL: nobody. */
    void (*journal)(const char *event, struct json *fields, void *data);
    void *data;
};

/* What the conductor tells, many times. Texts are copied. */
struct watch_progress {
    uint64_t trial, trials;
    bool at_most;
    const char *scenario, *step; /* may be NULL */
    int64_t eta_ns;              /* -1: unknown */
    int64_t trial_limit_ns;      /* until the current trial is over at the latest; -1: unknown, or no trial */
};

struct watch_ending {
    enum watch_state state; /* WATCH_COMPLETE, WATCH_INTERRUPTED, WATCH_FAILED */
    const char *reason;     /* NULL: complete */
};

struct watch;

/* ERROR_INVALID when the webhook is not an http or https URL. The loop must outlive it. */
int watch_open(struct loop *l, const struct watch_options *o, struct watch **ret,
               struct error *err) MUST_CHECK;
void watch_progress(struct watch *w, const struct watch_progress *p);
/* A trial was sealed. `expected`: that it did not go well is what was looked for. The attempts of one trial
 * count as one, by the last. */
void watch_trial(struct watch *w, const struct trial *t, bool expected);
void watch_trial_begun(struct watch *w, const char *scenario, int trial); /* the one before is over */
void watch_kept(struct watch *w, enum outcome o); /* one was found sealed by an earlier run */
void watch_stopping(struct watch *w);             /* somebody asked for the end */
void watch_write(struct watch *w);                /* the files, now */
/* One line: "12/36 a/b #1: load; about 20 min left". Until the next call. */
const char *watch_line(struct watch *w);
/* The last files; `write` and `journal` are not called any more after it. */
void watch_end(struct watch *w, const struct watch_ending *e);
/* Tells how it went in the end and waits, a few seconds at most, for what is still on its way. */
void watch_report(struct watch *w, int exit_code, const char *report_path);
void watch_close(struct watch *w); /* NULL is fine */
DEFINE_CLEANUP(struct watch *, watch_close);

#endif
