/* SPDX-License-Identifier: MIT */
/* One sweep on the stand-in: a matrix as text, what shall happen at which step, and what came of it. */
#ifndef WIRE_RUN_STAGE_H
#define WIRE_RUN_STAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <cmocka.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/base/log.h"
#include "benchctl/run.h"
#include "standin.h"

#define RUN_ID "0123456789abcdef01234567"

struct stage;

/* When the sweep comes to this step (for the n-th time, from 1), and so many ms later. */
struct happening {
    const char *step;
    int nth, after_ms;
    void (*what)(struct stage *g);
    int seen;
    bool done;
    struct stage *stage;
    struct loop_timer *timer;
};

struct stage_seal {
    const char *name; /* "SCENARIO/TRIAL" */
    enum outcome outcome;
};

struct stage {
    struct standin *engine;
    struct loop *loop;
    char *dir;
    struct happening happenings[8];
    size_t happening_count;
    struct run_options options; /* nothing is tried again for the environment's sake, unless asked for here */
    const char *sealed;         /* "SCENARIO/TRIAL": is sealed already, and was ok; NULL: none */
    const struct stage_seal *seals; /* more of them; NULL: none, the last one has no name */
    bool bad_disk;                  /* sealing a trial fails */
    int alarm;                      /* eventfd: interrupts the loop when it is written to */
    struct loop_fd *alarm_watch;
    /* what came of it */
    int rc;
    struct error err;
    struct run_summary summary;
    VEC(struct json *) trials; /* as trial_done got them */
    VEC(char *) begun;         /* "SCENARIO/TRIAL" in order */
    int kept;                  /* how often trial_kept was called */
    VEC(char *) messages;      /* notes and warnings */
    VEC(char *) steps;         /* in order, repeated ones once */
    struct json *info;
    uint64_t trials_first, trials_last; /* what progress said of how many there will be */
    bool trials_rose, at_most;
};

/* Of a matrix whose name, load and app are the usual ones; ADD more keys behind. */
#define APP_OF(keys)                                                                                         \
    "benchctl: 1\nname: wire\nnetwork: bridge\ntrials: 1\nretry: 0\napp: {image: 'app:1'" keys "}\n"
#define IDLE "load: {adapter: idle, duration: 60ms}\n"
#define SMALL APP_OF("") IDLE

int stage_setup(void **state);
int stage_teardown(void **state); /* fails when something was left in the engine that should not be */

void stage_at(struct stage *g, const char *step, int after_ms, void (*what)(struct stage *g));
void stage_at_nth(struct stage *g, const char *step, int nth, int after_ms, void (*what)(struct stage *g));
void stage_interrupt(struct stage *g); /* a deed: as a signal would */

/* Runs it; results are in `g`. Fails the test only when the matrix is not one. */
void stage_run(struct stage *g, const char *matrix);

/* The n-th finished trial (from 0), and members of it by pointer ("/app/restarts"). */
const struct json *stage_trial(struct stage *g, size_t n);
const char *stage_text(struct stage *g, size_t n, const char *pointer);
const char *stage_verdict(struct stage *g, size_t n, const char *rule); /* of its validity; NULL: none */
double stage_number(struct stage *g, size_t n, const char *pointer);
bool stage_said(const struct stage *g, const char *part); /* in a note or warning */
char *stage_file(struct stage *g,
                 const char *name); /* below the run directory; NULL: none; the caller frees */

void assert_outcome(struct stage *g, size_t n, const char *outcome, const char *reason_part);
void assert_nothing_left(struct stage *g);
void assert_lines(char *actual, const char *expected); /* frees `actual` */

#define assert_has(text, part)                                                                               \
    do {                                                                                                     \
        const char *text_ = (text), *part_ = (part);                                                         \
        if (!text_ || !strstr(text_, part_))                                                                 \
            fail_msg("'%s' does not contain '%s'", text_ ? text_ : "(null)", part_);                         \
    } while (0)

#define STAGE_TEST(name) cmocka_unit_test_setup_teardown(name, stage_setup, stage_teardown)

#endif
