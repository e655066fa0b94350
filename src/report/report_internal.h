/* SPDX-License-Identifier: MIT */
/* What the files of the report share: cells (numbers), sections (words and tables), and the renderers of
 * both. */
#ifndef BENCHCTL_REPORT_INTERNAL_H
#define BENCHCTL_REPORT_INTERNAL_H

#include "benchctl/report.h"

/* --- figures: one table says what is reported, how it is called and how it is written
 * ---------------------------------- */

enum figure {
    FIGURE_GOODPUT,
    FIGURE_ERRORS,
    FIGURE_P50,
    FIGURE_P90,
    FIGURE_P95,
    FIGURE_P99,
    FIGURE_MEMORY,
    FIGURE_ANON,
    FIGURE_CPU,
    FIGURE_READY,
    FIGURE_STARTUP,
    FIGURE_RESTARTS,
    FIGURE_OOM,
    FIGURE_UPTIME,
    FIGURE_RPS,
    FIGURES
};

struct figure_kind {
    const char *key;                         /* as trial.json names it: the CSV and JSON name */
    const char *title;                       /* of the column */
    const char *pivot;                       /* heading of its pivot table, or NULL: none */
    bool main;                               /* a column of the main table */
    bool spread;                             /* its spread is shown beside it */
    void (*format)(double value, char *buf); /* buf of 32 bytes */
};
extern const struct figure_kind figure_kinds[FIGURES];

double figure_of(enum figure f, const struct trial *t);

/* --- cells: one scenario each
 * ------------------------------------------------------------------------------------------- */

struct cell {
    const char *scenario;
    const char **values; /* one per axis of the report */
    const struct trial **trials;
    size_t trial_count;
    size_t counted; /* trials whose numbers are in the figures */
    size_t outcomes[OUTCOMES];
    enum outcome outcome; /* the worst */
    const char *reason;   /* of the worst trial */
    bool contaminated;    /* the figures are of trials that crashed, restarted or were OOM-killed */
    struct summary figures[FIGURES];
};

/* --- sections: what a person reads
 * --------------------------------------------------------------------------------------- */

enum tone { TONE_PLAIN, TONE_GOOD, TONE_WARN, TONE_BAD, TONE_FAINT };

struct field {
    const char *text;
    enum tone tone;
};

struct table {
    const char **columns;
    bool *right; /* alignment */
    size_t column_count;
    VEC(struct field *) rows; /* column_count fields each */
};

struct section {
    const char *heading;     /* NULL: none */
    VEC(const char *) lines; /* paragraphs or list items before the table */
    struct table *table;     /* NULL: none */
};

struct report {
    struct arena *arena;
    const struct sweep *sweep;
    const char *title;
    const char **axes;
    size_t axis_count;
    VEC(struct cell) cells;
    VEC(struct section) sections;
    int width;
    bool color;
};

/* cells.c */
int report_cells(struct report *r, const struct report_options *o, struct error *err) MUST_CHECK;
/* sections.c, pivot.c */
struct section *section_new(struct report *r, const char *heading);
struct table *table_new(struct report *r, size_t columns);
void table_column(struct table *t, size_t i, const char *name, bool right);
struct field *table_row(struct report *r, struct table *t);
void report_sections(struct report *r);
int report_pivots(struct report *r, const struct report_options *o, struct error *err) MUST_CHECK;
/* "2492 ±0.7%": the median and its spread; "–" when not measured. */
const char *figure_text(struct report *r, const struct cell *c, enum figure f);
enum tone outcome_tone(enum outcome o);

/* renderers */
void render_terminal(const struct report *r, struct strbuf *out);
void render_markdown(const struct report *r, struct strbuf *out);
void render_html(const struct report *r, struct strbuf *out);
void render_csv(const struct report *r, struct strbuf *out);
void render_json(const struct report *r, struct strbuf *out);

#endif
