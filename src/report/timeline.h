/* SPDX-License-Identifier: MIT */
/*
 * One container over one trial, from its record: in which state it was when, and what became of each of its
 * deaths. What is drawn and what stands in tables comes from here, so that both say the same.
 */
#ifndef BENCHCTL_REPORT_TIMELINE_H
#define BENCHCTL_REPORT_TIMELINE_H

#include "report_internal.h"

/* A picture's columns; of several states in one the later of these is shown, so that no short failure is lost
 * among long lives. */
enum state { STATE_NONE, STATE_UP, STATE_STARTING, STATE_SILENT, STATE_DOWN, STATES };
extern const char *const state_names[STATES]; /* "up", "starting, not ready", "unresponsive", "down" */

#define TIMELINE_COLUMNS 1200

struct timeline {
    double from_ms, to_ms;   /* what is shown */
    double begin_ms, end_ms; /* the measured window; NAN: there was none */
    double warmup_ms;        /* where warm-up began; NAN: none */
    unsigned char states[TIMELINE_COLUMNS];
    bool told; /* its lives are known: where they are not, only its deaths can be shown */
};

/* False when there is nothing to show it over. */
bool timeline_of(const struct trial *t, const struct container_result *c, struct timeline *ret);
/* 0..1 from left to right; beyond the ends: the ends. */
double timeline_share(const struct timeline *l, double at_ms);

/* How it went on after a death. */
enum after {
    AFTER_UNKNOWN,  /* its lives were not recorded */
    AFTER_READY,    /* ready again */
    AFTER_NOTREADY, /* started again, and died before it was ready, or never was */
    AFTER_NOTHING,  /* not started again */
};
struct death {
    const struct container_exit *exit;
    double requests; /* served in the life that ended; NAN: unknown */
    double down_ms;  /* until it was ready again, or until the next start; NAN: not again */
    enum after after;
};
/* One for each exit, in order, in the arena. */
struct death *deaths_of(const struct container_result *c, struct arena *a);

/* Deaths of this one and of those that follow it that are told together: the same container, cause and exit
 * code, at least FOLD_MIN of them. *ret_every_ms: the mean time from one to the next. */
size_t deaths_alike(const struct death *d, size_t count, double *ret_every_ms);
#define FOLD_MIN 4 /* first, last, and more than one line for what is between */

/* Did it end by itself, fall silent, or restart? Ends that benchctl asked for are none. */
bool container_failed(const struct container_result *c);
bool trial_failed(const struct trial *t); /* any of its containers */
bool exit_is_ours(const struct container_exit *e);
/* The application, then the services: container `i` of a trial; NULL behind the last. */
const struct container_result *trial_container(const struct trial *t, size_t i);
/* What was found about it under this id, or NULL. */
const struct finding *trial_finding_of(const struct trial *t, const char *id,
                                       const struct container_result *c);
const char *container_role(const struct trial *t, const struct container_result *c);

/* "3.20 s", "–" */
const char *seconds_text(double ms, char *buf); /* 32 bytes */
/* "OOM", "SIGSEGV", "exit 3", "signal 9": what a mark has room for. */
const char *death_mark(const struct container_exit *e, char *buf); /* 32 bytes */

/* failures.c: "1.20 s", "0.30 s, not ready", "to the end" */
const char *down_text(const struct report *r, const struct death *d);

/* html_containers.c */
void html_containers(const struct report *r, const struct trial *t, struct strbuf *out);

/* html_timeline.c */
void html_state(enum state s, double x, double width, struct strbuf *out); /* a band of this state */
void html_timeline(const struct report *r, const struct trial *t, const struct container_result *c,
                   struct strbuf *out);
/* html_failures.c */
void html_timeline_defs(struct strbuf *out);                    /* patterns, once in a page */
void html_failures(const struct report *r, struct strbuf *out); /* the strips of all trials that had any */

#endif
