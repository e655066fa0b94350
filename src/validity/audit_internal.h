/* SPDX-License-Identifier: MIT */
/* A published table as rows of numbers, and what the files of its audit share. */
#ifndef BENCHCTL_VALIDITY_AUDIT_INTERNAL_H
#define BENCHCTL_VALIDITY_AUDIT_INTERNAL_H

#include "sweep_internal.h"

/* In the order of audit_names. Times in ms but FIELD_DURATION, which is in s. */
enum audit_field {
    FIELD_USERS,
    FIELD_THINK,
    FIELD_RPS,
    FIELD_REQUESTS,
    FIELD_DURATION,
    FIELD_OFFERED,
    FIELD_FLOOR,
    FIELD_MEAN,
    FIELD_MIN,
    FIELD_P50,
    FIELD_P75,
    FIELD_P90,
    FIELD_P95,
    FIELD_P99,
    FIELD_P999,
    FIELD_MAX,
    FIELD_OK,
    FIELD_FAILED,
    FIELD_N,
    FIELD_CV,
    FIELD_VALUES,
    FIELD_CPU,
    FIELD_MEMORY,
    FIELD_GC_COUNT,
    FIELD_GC_PAUSE,
    FIELD_RESTARTS,
    FIELD_OOM,
    FIELDS,
    FIELD_LABEL = FIELDS,
    FIELD_METRIC
};

struct audit_row {
    size_t line;
    const char *name;          /* its labels */
    double value[FIELDS];      /* NAN: not in the table */
    double ok_pct, failed_pct; /* where these are shares */
    double cpu_pct;            /* of what it could use */
    const double *values;      /* one number a start */
    size_t value_count;
};

struct audit_table {
    struct arena *arena;
    const char *name;
    struct audit_column *columns;
    size_t column_count;
    struct audit_row *rows;
    size_t len;
    bool has[FIELDS];
};

/* audit_table.c */
int audit_read(const char *bytes, size_t len, const struct audit_options *o, struct audit_table *t,
               struct error *err) MUST_CHECK;

/* audit_columns.c: what a column's name means */
struct audit_meaning {
    enum audit_field field;
    double scale; /* of what stands in it; NAN: the name has no unit */
    bool share;   /* in percent */
};
struct audit_meaning audit_meaning_of(const char *name);
struct audit_cell {
    double value; /* NAN: missing */
    bool share;   /* in percent */
    bool below;   /* "<9": at most */
    bool no_unit; /* a time that does not say its unit */
};
/* Units of columns and of cells. */
struct audit_unit {
    const char *name;
    double ms;    /* of a time; NAN: none */
    double bytes; /* of a size; NAN: none */
    bool percent;
};
const struct audit_unit *audit_unit_find(const char *name); /* NULL: there is none of that name */
bool audit_unit_fits(enum audit_field f, const struct audit_unit *u);
double audit_scale(enum audit_field f, const struct audit_unit *u); /* u NULL: no unit; NAN: it needs one */
bool audit_is_time(enum audit_field f);

/* audit_number.c. What the commas of a table's numbers have been so far: 1,234 and 1,5 do not go together. */
struct audit_commas {
    bool semicolons; /* separate the values: then a comma is rather a decimal one */
    bool decimal, grouping;
    bool unclear; /* the number read last: it may be either */
};
/* "3.1 ms", "12,345", "1.2k req/s", by what its column means: -1 when it is no number, or has a unit that
 * does not fit. */
int audit_number(const char *text, const struct audit_meaning *m, struct audit_commas *commas,
                 struct audit_cell *ret);

/* --- rules --- */

struct audit_judge {
    struct audit_table *t;
    struct sweep_judge out; /* for sweep_say() */
    VEC(const char *) rows; /* of each result */
    bool floor, idle, piled;
};
/* The rows that are marked. */
void audit_say(struct audit_judge *j, const char *id, const char *verdict, const bool *marked,
               const char *fmt, ...) PRINTF_LIKE(5, 6);
double row_rps(const struct audit_row *r);     /* published, or requests / duration */
double row_latency(const struct audit_row *r); /* the mean, or p50 */
double row_failed(const struct audit_row *r);  /* share; NAN */
bool row_open(const struct audit_row *r);
const char *row_names(struct audit_judge *j, const bool *marked);

void audit_load_rules(struct audit_judge *j);  /* audit_load.c */
void audit_pile_rule(struct audit_judge *j);   /* audit_pile.c */
void audit_table_rules(struct audit_judge *j); /* audit_rules.c */

#endif
