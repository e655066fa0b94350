/* SPDX-License-Identifier: MIT */
/*
 * rerun.json: what a run directory that runs a bundle again keeps, so that going on, reporting and comparing
 * need the bundle no more: which bundle it was, the images that were chosen, what differed, and the figures
 * of its trials.
 */
#ifndef BENCHCTL_CMD_RERUN_RECORD_H
#define BENCHCTL_CMD_RERUN_RECORD_H

#include "benchctl/bundle.h"
#include "benchctl/rerun.h"

#define RERUN_FILE BUNDLE_RERUN_FILE
#define RERUN_TREE BUNDLE_RERUN_TREE /* the inputs, laid out: not a part of bundles */
#define RERUN_SCHEMA 1

struct rerun_record {
    struct json *json;
    struct arena *arena;
    struct text_map env; /* what `${env:NAME}` finds */
};

/* Of a run directory; *ret stays NULL when it runs no bundle again. */
int rerun_record_open(const char *dir, struct rerun_record **ret, struct error *err) MUST_CHECK;
/* The same before there is a directory; takes `json` over. */
struct rerun_record *rerun_record_new(struct json *json, const struct rerun_inputs *in);
void rerun_record_free(struct rerun_record *r);
DEFINE_CLEANUP(struct rerun_record *, rerun_record_free);

const struct text_map *rerun_record_env(const struct rerun_record *r);
const struct json *rerun_record_images(const struct rerun_record *r); /* for run_options.images */

/* sweep.json as it is written: with `rerun_of`, and with the parity that was looked at before. The caller
 * frees. */
struct json *rerun_record_info(const struct rerun_record *r, const struct json *info);

/* The figures of a sweep's trials, for rerun.json. */
struct json *rerun_record_trials(const struct sweep *s);

/* compare.md and compare.json of a directory that runs a bundle again, and the table for a terminal appended
 * to `out`. Nothing when it does not. */
int rerun_compare(const char *dir, const struct sweep *now, struct strbuf *out, struct error *err) MUST_CHECK;

#endif
