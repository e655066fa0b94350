/* SPDX-License-Identifier: MIT */
/*
 * Two sets of trials of the same scenarios: by how much they differ, with intervals, and what may be said of
 * that. A trial is the unit: its figures are single values here, and what they scatter is what decides. Pure:
 * numbers in, numbers and sentences out. Where the sets come from (a bundle and its rerun, two sweeps, two
 * values of an axis) is the caller's matter; scenarios are paired by the names that the caller gives.
 *
 * Of a figure the ratio now : then is estimated by Welch's t on logarithms (stats.h). It is called
 *   reproduced  when its 90 % interval lies within the margin (two one-sided tests at 5 %);
 *   differs     when it is beyond the margin, and Holm's test over all scenarios says at 5 % that it is not
 * 1; undecided   otherwise: more trials would tell; not judged  with fewer than three trials on a side, or
 * when one side has no figure.
 * Values of 0 have no ratio: with some on one side alone it differs, with some on both it is undecided, with
 * nothing else it is not judged.
 */
#ifndef BENCHCTL_COMPARE_H
#define BENCHCTL_COMPARE_H

#include "benchctl/base/strbuf.h"
#include "benchctl/stats.h"
#include "benchctl/trial.h"

/* --- what is compared --- */

enum compare_figure {
    COMPARE_GOODPUT, /* what the verdict of a scenario is about */
    COMPARE_P50,
    COMPARE_P99,
    COMPARE_MEMORY,
    COMPARE_FIGURES
};
const char *compare_figure_name(enum compare_figure f);  /* as trial_number() has it: "load.goodput_rps" */
const char *compare_figure_label(enum compare_figure f); /* for people: "goodput" */

/* What is kept of a trial. */
struct compare_trial {
    const char *scenario; /* the name by which it is paired */
    int trial;
    enum outcome outcome;
    double figures[COMPARE_FIGURES]; /* NAN: not measured */
};
/* Borrows the scenario's name. Figures count of trials that ended `ok` or `degraded`; others have none. */
void compare_take(const struct trial *t, struct compare_trial *ret);
/* For files: {"scenario", "trial", "outcome", "load.goodput_rps", ...}. */
struct json *compare_trial_json(const struct compare_trial *t);
/* The name goes into the arena. */
int compare_trial_read(const struct json *j, struct arena *a, struct compare_trial *ret,
                       struct error *err) MUST_CHECK;

struct compare_set {
    const char *name; /* "then", "now", ... */
    const struct compare_trial *trials;
    size_t len;
};

/* A difference of 10 % is what people call the same on machines that are not the same one. */
#define COMPARE_MARGIN 0.10
/* Trials on each side below which nothing is called anything: of two, one cannot be told to be odd. */
#define COMPARE_TRIALS_MIN 3

struct compare_options {
    double margin; /* a share; 0: COMPARE_MARGIN */
    bool paired;   /* both sets are of one sweep, and a trial's number is its round: where both sides have the
                      same   rounds, their ratio is that of pairs (stats_ratio_paired()) */
};

/* --- what comes out --- */

enum compare_verdict { COMPARE_REPRODUCED, COMPARE_DIFFERS, COMPARE_UNDECIDED, COMPARE_NOT_JUDGED };
#define COMPARE_VERDICTS 4
const char *compare_verdict_name(enum compare_verdict v); /* "reproduced", "differs", ... */

struct compared_figure {
    struct stats_ratio ratio;
    double low, high; /* 95 % interval of the ratio; NAN: fewer than two trials on a side */
    double then, now; /* medians */
    double p;         /* adjusted by Holm over all scenarios; NAN */
    bool paired;      /* it is of pairs */
    enum compare_verdict verdict;
};

struct compared_scenario {
    const char *name;
    size_t then_n, now_n; /* trials, of any outcome */
    size_t then_outcomes[OUTCOMES], now_outcomes[OUTCOMES];
    bool outcomes_differ; /* some outcome was seen on one side only; false when a side has no trials */
    struct compared_figure figures[COMPARE_FIGURES];
};

struct comparison {
    struct compared_scenario *scenarios; /* those whose outcomes differ first, else in the order of `then` */
    size_t len;
    size_t only_then, only_now; /* scenarios that have trials on one side only: listed, not judged */
    size_t outcomes_differ;
    size_t verdicts[COMPARE_FIGURES][COMPARE_VERDICTS]; /* how many scenarios have which, by figure */
    double margin;
    const char *then_name, *now_name;
    struct arena *arena;
};

/* Borrows the names. Never fails: sets may be empty. */
void compare_sets(const struct compare_set *then, const struct compare_set *now,
                  const struct compare_options *o, struct comparison **ret);
void comparison_free(struct comparison *c);
DEFINE_CLEANUP(struct comparison *, comparison_free);

/* "9 of 12 scenarios reproduced within 10 %, 1 differs, 2 undecided; outcomes are the same in all". */
void compare_headline(const struct comparison *c, struct strbuf *out);
/* "0.97 [0.91, 1.04] reproduced", "1.02 (one trial each: no interval)". */
void compare_figure_text(const struct comparison *c, const struct compared_figure *f, struct strbuf *out);

/* --- in words --- */

/* A difference of so little that it does not matter, within one sweep. */
#define COMPARE_MARGIN_WITHIN 0.01
enum compare_word { COMPARE_MORE, COMPARE_LESS, COMPARE_EQUAL, COMPARE_OPEN, COMPARE_NO_WORD };
/* What the verdict's three words for a rerun are to one who wants to know which is faster: not 1 by Holm's
 * test at 5 %, and not equal within the margin; equal within the margin; open. No word: fewer than three
 * trials on a side, or no ratio. */
enum compare_word compare_word(const struct comparison *c, const struct compared_figure *f);
/* "faster by 3.1 % [1.9, 4.2]", "equal within 1 %", "undecided: 6 more trials would tell", "+3.1 % (n = 2: no
 * verdict)". */
void compare_words(const struct comparison *c, enum compare_figure which, const struct compared_figure *f,
                   struct strbuf *out);
/* "n = 5: 2.3 % would be seen": behind what is equal or open; nothing for others. */
void compare_detectable(const struct comparison *c, const struct compared_figure *f, struct strbuf *out);

/* "throughput<-5%": what must not be. Figures: throughput, goodput, p50, p99, memory; of how much larger
 * `now` is. */
struct compare_gate {
    enum compare_figure figure;
    bool below;   /* else above */
    double bound; /* a share: -0.05 */
    const char *text;
};
/* ERROR_USAGE with a hint. Borrows the text. */
int compare_gate_parse(const char *text, struct compare_gate *ret, struct error *err) MUST_CHECK;
/* Does this scenario break it? The estimate is beyond the bound, and its interval, where there is one, says
 * that there is a difference; or there is no figure any more where there was one. */
bool compare_gate_broken(const struct compare_gate *g, const struct compared_scenario *s);

/* --- documents --- */

/* One line for each scenario and figure, in words. */
void compare_words_table(const struct comparison *c, bool markdown, struct strbuf *out);

void compare_markdown(const struct comparison *c, const char *title, struct strbuf *out);
void compare_table(const struct comparison *c, struct strbuf *out); /* for a terminal */
struct json *compare_json(const struct comparison *c);

#endif
