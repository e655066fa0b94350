/* SPDX-License-Identifier: MIT */
/* The steps of `rerun` before it runs: what the bundle says, its plan made again, what it asks for, what is
 * here. */
#ifndef BENCHCTL_CMD_RERUN_OPEN_H
#define BENCHCTL_CMD_RERUN_OPEN_H

#include "benchctl/engine.h"
#include "benchctl/rerun.h"
#include "invocation.h"
#include "rerun_record.h"
#include "sweep_command.h"

struct rerun_options {
    const char *bundle, *out, *engine_url, *margin;
    struct option_list filters, sets;
    int64_t budget_ns;
    bool dry_run, trust, keep, strict, with_images;
    int format; /* of a dry run: 0 text, 1 JSON */
};

/* A bundle that was looked into. */
struct rerun {
    const struct rerun_options *options;
    char *work;      /* a directory of our own, removed at the end */
    char *extracted; /* in it */
    char sha256[SHA256_HEX_SIZE];
    struct sweep *then;
    struct invocation invocation;
    struct rerun_inputs inputs;
    struct rerun_tree tree;
    struct sweep_options sweep; /* as the first call was, with what this one adds */
    struct rerun_record *record;
    struct matrix *matrix;
    struct plan *plan;
    struct rerun_reasons reasons;
    struct rerun_environment environment;
    struct arena *arena;
    /* what the checks of this machine found */
    struct loop *loop;
    struct http *http;
    struct engine *engine;
    VEC(char *) warnings; /* what is not as it was, one sentence each */
    VEC(char *) missing;  /* what is not here */
};
void rerun_release(struct rerun *r);
/* The unpacked bundle; until then a signal that ends the program removes it too. */
int rerun_remove_work(struct rerun *r, struct error *err) MUST_CHECK;
void rerun_warn(struct rerun *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
void rerun_miss(struct rerun *r, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* rerun_open.c: verified, unpacked, its inputs laid out below `root`. */
int rerun_open(struct rerun *r, struct error *err) MUST_CHECK;
/* rerun_plan.c: the plan of the whole bundle, as it was called. */
int rerun_make_plan(struct rerun *r, struct error *err) MUST_CHECK;
/* Proves that it is the recorded one; then makes that of the part that is asked for. */
int rerun_prove_plan(struct rerun *r, struct error *err) MUST_CHECK;
/* rerun_trust.c: fills in `reasons`. */
int rerun_look_for_reasons(struct rerun *r, struct error *err) MUST_CHECK;
/* rerun_machine.c: the engine is opened; the environments compared; generators looked for. */
int rerun_compare_machines(struct rerun *r, struct error *err) MUST_CHECK;
/* rerun_images.c: images present, loaded, pulled or built; with dry_run only what would be done. *ret: for
 * rerun.json. */
int rerun_find_images(struct rerun *r, struct json **ret, struct error *err) MUST_CHECK;
/* rerun_parity.c: sweep.json's `parity`, looked at again or not; NULL: there was none. */
int rerun_check_parity(struct rerun *r, struct json **ret, struct error *err) MUST_CHECK;

#endif
