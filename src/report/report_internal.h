/* SPDX-License-Identifier: MIT */
/*
 * What the files of the report share, in the order in which they are made: figures (which numbers there are),
 * cells (each scenario's trials and their numbers), sections (words and tables), renderers.
 */
#ifndef BENCHCTL_REPORT_INTERNAL_H
#define BENCHCTL_REPORT_INTERNAL_H

#include "benchctl/base/name_index.h"
#include "benchctl/base/units.h"
#include "benchctl/compare.h"
#include "benchctl/report.h"
#include "benchctl/stats.h"
#include "benchctl/validity.h"

#define NOT_MEASURED "–"
#define NOT_RUN "not run"
#define NO_SCENARIO "not measured" /* in a table by an axis: the sweep has no such combination */
#define PAGE_TRIALS_MAX 300 /* have a record of their own in a page; of more only those that went wrong */

/* --- figures: what is reported, how it is called, how it is written --- */

enum unit {
    UNIT_NUMBER, /* three digits that mean something */
    UNIT_COUNT,
    UNIT_RATE,    /* 0..1, written in percent */
    UNIT_PERCENT, /* 0..100 */
    UNIT_MIB,     /* bytes, written in MiB */
    UNIT_SECONDS, /* ms, written in s */
};

/* Tables that a figure is a column of. */
enum {
    TABLE_MAIN = 1 << 0,
    TABLE_LATENCY = 1 << 1,
    TABLE_APP = 1 << 2,
    TABLE_SERVICES = 1 << 3,
    TABLE_DATABASE = 1 << 4,
    TABLE_METRICS = 1 << 5,
    TABLE_CHECKS = 1 << 6,
    TABLE_FAILURES = 1 << 7,
    TABLE_BUILD = 1 << 8
};

/* Only where it says something: nothing is hidden but columns of zeros. */
enum show { SHOW_MEASURED, SHOW_NONZERO, SHOW_BELOW_100 };

enum source {
    SOURCE_TRIAL,   /* the double at `offset` in struct trial */
    SOURCE_DERIVED, /* derive(trial) */
    SOURCE_SERVICE, /* `offset` in the container with the role `of` */
    SOURCE_METRIC,  /* `offset` in the metric `of` */
    SOURCE_CHECK,   /* the value of the check `of`, where it is a number */
    SOURCE_BUILD,   /* the step `of` of the build: its time, or the count `path` */
    SOURCE_NAMED,   /* by its name in trial.json */
    SOURCE_PHASE,   /* `path` in the phase `of` of the load */
    SOURCE_REQUEST, /* `path` in the kind of request `of` */
    SOURCE_OFFERED, /* of all planned phases, where they are open */
};

struct figure {
    const char *key;     /* as trial.json names it: the CSV and JSON name */
    const char *name;    /* of the column */
    const char *measure; /* what the unit is called, beside the name; "" for none */
    const char *heading; /* of a table of its own */
    enum unit unit;
    unsigned tables;
    enum show show;
    bool finding;    /* what must not vanish in a median: lowest to highest, crashed trials included */
    bool low_is_bad; /* of a finding: the lowest is the worst */
    enum source source;
    size_t offset;
    double (*derive)(const struct trial *t);
    const char *of;
    const char *path; /* dotted */
};

/* Places in builtin_figures, which come first, of those that are spoken of. */
enum {
    FIGURE_GOODPUT = 0,
    FIGURE_OFFERED = 1,
    FIGURE_ERRORS = 2,
    FIGURE_P50 = 7,
    FIGURE_P99 = 11,
    FIGURE_MEMORY = 14,
    FIGURE_CPU = 20,
    FIGURE_RESTARTS = 25,
    FIGURE_OOM = 26,
    FIGURE_UPTIME = 27,
    FIGURE_TO_FAILURE = 28,
    FIGURE_SILENT = 29,
    FIGURE_DOWN = 30, /* the last of those from restarts on: how it failed */
};

/* --- parts of the load: phases and kinds of request --- */

enum part_kind { PART_PHASE, PART_REQUEST, PART_KINDS };

struct load_part {
    const char *name, *model; /* model: NULL for kinds of request */
    bool warmup;
    double begin_ms, duration_ms;
    double planned_ms; /* until the last request was due; NAN: unknown */
};

/* Of one trial. */
struct trial_parts {
    struct load_part *items[PART_KINDS];
    size_t count[PART_KINDS];
    double offered_rps;          /* NAN unless all is open */
    double planned_ms, drain_ms; /* the load as planned, and what it took beyond; NAN: unknown */
};

struct part_name {
    const char *name;
    size_t first; /* of its figures; SIZE_MAX: no trial has more than this part */
};

/* All names of one kind in the sweep. */
struct part_names {
    struct name_index index;
    VEC(struct part_name) items;
};

/* --- cells: one scenario each --- */

struct cell {
    const char *scenario;
    size_t *ranks; /* per axis of the report: index into its values */
    const struct trial **trials;
    size_t trial_count; /* 0: planned, not run */
    size_t counted;     /* trials whose numbers are in the figures */
    const char *became; /* "ok", "1 of 3 crashed", "not run" */
    size_t outcomes[OUTCOMES];
    const struct trial *worst; /* NULL when there is none */
    bool merged;               /* percentiles are of its trials' merged histograms */
    bool contaminated;         /* every trial with numbers crashed, restarted or was OOM-killed */
    const char *model;         /* "open, corrected": only cells of one model are drawn together; "" unknown */
    const struct load_result *load; /* of one of its trials; NULL: no model is known */
    bool mixed;                     /* closed and open phases: its figures of the whole load are of neither */
    struct summary *figures;
};

/* --- sections: what a person reads --- */

enum tone { TONE_PLAIN, TONE_GOOD, TONE_WARN, TONE_BAD, TONE_FAINT };

struct field {
    const char *text;
    const char *more; /* lowest and highest, or NULL: HTML only */
    enum tone tone;
};

struct column {
    const char *name, *measure; /* measure: "" for none */
    bool right;
};

struct row {
    struct field *fields; /* one per column */
};

struct table {
    struct column *columns;
    size_t column_count;
    size_t heads; /* columns that name the row: repeated when a table is cut in parts */
    bool wide;    /* the last column is of sentences: wrapped, or below its row */
    VEC(struct row) rows;
};

struct line {
    const char *text;
    const struct cell *about; /* NULL: nothing in particular */
    enum tone tone;
};

struct report;
struct section {
    const char *heading;                                      /* NULL: none */
    bool detail;                                              /* left out on a terminal */
    bool alarm;                                               /* what went wrong: set apart */
    struct table *table;                                      /* NULL: none */
    VEC(struct line) lines;                                   /* after the table */
    void (*draw)(const struct report *r, struct strbuf *out); /* in HTML behind these, or NULL */
};

struct axis {
    const char *name;
    const char **values; /* in order */
    size_t value_count;
    struct name_index index; /* value: its place */
    size_t used;             /* values that a cell has */
};

struct interaction {
    const char *name; /* "imperative : reactive, at unlimited against 256m, micronaut" */
    struct stats_ratio ratio;
    double p; /* adjusted by Holm over all of them; NAN */
};

struct report {
    struct arena *arena;
    const struct sweep *sweep;
    const char *title;
    struct axis *axes;
    size_t axis_count;
    size_t waiting; /* planned scenarios without a trial */
    VEC(struct figure) figures;
    VEC(size_t) asked;            /* figures chosen by name; none: those of TABLE_MAIN */
    size_t dropped;               /* metrics and roles beyond what is tabulated */
    struct series **series;       /* per trial of the sweep; NULL: it left none */
    struct trial_events **events; /* per trial of the sweep; NULL: it left none, or nothing failed */
    size_t series_kept, events_kept;
    double *values; /* of trial t and figure f: values[t * figures.len + f] */
    VEC(struct cell) cells;
    VEC(struct section) sections;
    size_t results, results_end; /* which of them are the layout's */
    enum report_reads reads;
    bool rules;                /* all rules of validity are asked for */
    bool chosen;               /* certain rows, columns or figures are asked for */
    bool models_differ;        /* between cells, or one of them is mixed */
    struct trial_parts *parts; /* per trial of the sweep */
    struct part_names part_names[PART_KINDS];
    struct name_index plan;           /* scenario: its place in the plan */
    struct validity_sweep verdict;    /* of all scenarios together */
    size_t contrasts_left_out;        /* pairs beyond what is compared */
    struct interaction *interactions; /* of contrasts of contrasts */
    size_t interaction_count;
    struct comparison *contrasts; /* of the matrix' contrasts, one family; NULL: there are none */
    int width;
    bool color;
};

/* figures.c */
extern const struct figure builtin_figures[];
extern const size_t builtin_figure_count;
double figure_value(const struct figure *f, const struct trial *t);
void figure_format(const struct figure *f, double value, char *buf); /* 32 bytes */
enum unit unit_of_name(const char *key, const char **ret_measure);   /* by what a recorded name ends in */
/* "2492 ±0.7%": the median and its spread, how often where a trial lacks it; "–" when not measured. */
const char *figure_text(struct report *r, const struct cell *c, size_t figure);
/* "1480–1530", or NULL when there is no more to say. */
const char *figure_range(struct report *r, const struct cell *c, size_t figure);
enum tone figure_tone(const struct cell *c, size_t figure);

/* figure_set.c: which figures this sweep has, and which are asked for */
int report_figures(struct report *r, const struct report_options *o, struct error *err) MUST_CHECK;

const char *service_figure_path(size_t i,
                                const char **ret_heading); /* behind "services.ROLE."; NULL: no more */

/* parts.c: phases and kinds of request, and how they were planned */
void report_parts(struct report *r);
void parts_release(struct report *r);
const struct json *planned_settings(const struct report *r, const char *scenario); /* NULL: not in the plan */
const struct json *planned_load(const struct report *r, const char *scenario);     /* of these */
/* part_figures.c */
void add_part_figures(struct report *r);
void part_values(const struct report *r, const struct trial *t, double *values);
/* "phases.NAME.FIGURE", "requests.NAME.FIGURE": figures.len when it is neither or there is none. */
size_t find_part_figure(struct report *r, const char *name);
/* Tells which there are, and is then -1; 0 for a name of another form. */
int unknown_part_figure(const struct report *r, const char *name, struct error *err);
/* part_tables.c */
void list_parts(struct report *r);
bool cell_has_part_rows(const struct report *r, const struct cell *c, enum part_kind kind);
void list_drains(struct report *r, struct section *s); /* what the ends of open loads took */
const struct trial_parts *cell_parts(const struct report *r, const struct cell *c, enum part_kind kind);

bool figure_of_part(const struct figure *f); /* of a phase or a kind of request */

/* axes.c */
int report_axes(struct report *r, const struct report_options *o, struct error *err) MUST_CHECK;
const char *axis_value(const struct axis_pair *axes, size_t count, const char *name); /* "" when absent */
size_t report_axis(const struct report *r, const char *name);                         /* axis_count: none */
int report_unknown_axis(const struct report *r, const char *name, struct error *err); /* -1 */

/* cells.c */
void report_cells(struct report *r);
void report_summaries(struct report *r);
const char *cell_value(const struct report *r, const struct cell *c, size_t axis);
enum tone cell_tone(const struct cell *c);
enum tone outcome_tone(enum outcome o);
double cell_trial_value(const struct report *r, const struct cell *c, size_t trial, size_t figure);
bool trial_worse(const struct trial *a, const struct trial *b);
/* Is this trial's number in the cell's figure? NULL: one that is no finding. */
bool trial_counts(const struct cell *c, const struct trial *t, const struct figure *f);

/* merged.c: percentiles from histograms, where each trial that counts has one */
int report_merge(struct report *r, struct error *err) MUST_CHECK;

/* layout.c: the tables with the sweep's axes as rows, columns and tables */
int report_layout(struct report *r, const struct report_options *o, struct error *err) MUST_CHECK;
/* One row a scenario, the figures of `table` as columns; none when nothing of it was measured. */
struct section *figure_section(struct report *r, const char *heading, unsigned table);
/* The name of its column, which no axis has. */
const char *figure_name(const struct report *r, size_t figure);
/* Only those rows. */
struct section *figure_section_where(struct report *r, const char *heading, unsigned table,
                                     bool (*keep)(const struct cell *c));

/* models.c: how scenarios were loaded */
void report_models(struct report *r);
void describe_load(struct report *r, struct section *s);

/* discrimination.c: can the workload tell the scenarios apart, and what rules over the whole sweep say */
void report_discrimination(struct report *r);
void list_discrimination(struct report *r);
void discrimination_json(const struct report *r, struct json *out);

/* limiting.c */
void list_limiting(struct report *r);
void limiting_json(const struct report *r, const struct cell *c, struct json *out); /* members of it */

/* contrasts.c: what the matrix asked beforehand, answered */
void report_contrasts(struct report *r);
void list_contrasts(struct report *r);
void contrasts_json(const struct report *r, struct json *out); /* a member of it; nothing without them */

/* interactions.c: does what one axis makes of it change along another? */
void report_interactions(struct report *r);
void list_interactions(struct report *r);
struct json *interactions_json(const struct report *r);

/* controls.c: twins of one scenario, and what they say */
const struct validity_controls_facts *controls_facts(struct report *r); /* NULL: there were none */
void list_controls(struct report *r);
void controls_json(const struct report *r, struct json *out); /* a member of it; nothing without them */

/* canary.c */
const struct validity_canary_facts *canary_facts(struct report *r); /* NULL: there was none */
/* Why the trial is marked by the canary's neighbourhood; NULL: it is not. */
const struct validity_result *canary_mark(const struct report *r, const struct trial *t);
size_t cell_marked(const struct report *r, const struct cell *c); /* how many of its trials are */
struct json *marked_trial_json(const struct report *r, const struct trial *t);
void list_canary(struct report *r);
void canary_json(const struct report *r, struct json *out); /* a member of it; nothing without a canary */

/* invalid.c: what trials measured whose figures are in no median */
void list_invalid(struct report *r);

/* checks.c: values of the matrix's checks, and why some have none */
void list_checks(struct report *r);

/* remarks.c: what limits the results' worth, one line for all trials of which it is true */
void list_validity(struct report *r);
void list_notes(struct report *r);

/* failures.c: how often and how long applications failed; ends and silences of containers, one by one */
void list_availability(struct report *r);
void list_failures(struct report *r);

/* told.c: what logs and witnesses told, one line for all trials of which it is true */
void list_told(struct report *r);
bool finding_of_surroundings(const struct finding *f); /* not the application's doing */

/* memory_tables.c: the curve over memory limits, and the smallest that is enough */
void list_memory(struct report *r);

/* limits.c: what was asked for, what was applied, what a JVM made of it; where these differ */
void list_limits(struct report *r);
void list_jvm(struct report *r);

/* rules_table.c: each plausibility rule with its verdicts */
void list_rules(struct report *r);

/* head.c: what was run, on what, how; sections.c: what went wrong, and all in order */
void report_head(struct report *r);
int report_sections(struct report *r, const struct report_options *o, struct error *err) MUST_CHECK;
struct section *section_new(struct report *r, const char *heading); /* valid until the next one */
void section_line(struct section *s, const char *text);
struct table *table_new(struct report *r, size_t columns, size_t heads);
struct field *table_row(struct report *r, struct table *t);
#define LINES_MAX 100 /* of one section; what is beyond is counted */

/* renderers */
void render_terminal(const struct report *r, struct strbuf *out);
void render_markdown(const struct report *r, struct strbuf *out);
void render_html(const struct report *r, struct strbuf *out);
void render_csv(const struct report *r, struct strbuf *out);
void render_json(const struct report *r, struct strbuf *out);
void render_tidy(const struct report *r, struct strbuf *out);
void render_junit(const struct report *r, struct strbuf *out);
void render_openmetrics(const struct report *r, struct strbuf *out);

/* of render_html.c */
void html_text(struct strbuf *out, const char *text);
const char *html_class(enum tone tone); /* "" for plain */
void html_charts(const struct report *r, struct strbuf *out);
void html_trials(const struct report *r, struct strbuf *out);
bool html_has_details(const struct report *r, const struct cell *c);
double html_tick_step(double span_s); /* of an axis of time: about eight of them */

#endif
