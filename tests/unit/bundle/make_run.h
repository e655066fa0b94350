/* SPDX-License-Identifier: MIT */
/* A small run directory, as the conductor makes one. */
#ifndef TESTS_MAKE_RUN_H
#define TESTS_MAKE_RUN_H

#include "support/scratch.h"

#include "benchctl/base/log.h"
#include "benchctl/bundle.h"

#define OK(call)                                                                                             \
    do {                                                                                                     \
        struct error e_ = ERROR_INIT, *e = &e_;                                                              \
        if ((call) < 0)                                                                                      \
            fail_msg("%s: %s", #call, e_.message);                                                           \
    } while (0)

static char warned[8192];

static inline void remember(enum log_level level, const char *line, void *data)
{
    (void)level;
    (void)data;
    size_t n = strlen(warned);
    (void)snprintf(warned + n, sizeof(warned) - n, "%s\n", line);
}

static inline void catch_warnings(void)
{
    warned[0] = '\0';
    log_set_sink(remember, NULL);
}

static inline struct trial make_trial(const char *scenario, int number, const char *digest, double rps)
{
    struct trial t;

    trial_init(&t);
    t.scenario = scenario;
    t.trial = number;
    t.attempt = 1;
    t.digest = digest;
    t.reason = "all went well";
    t.started_at = "2026-01-31T08:00:00.000Z";
    t.has_load = true;
    t.load.requests = 100;
    t.load.rps = rps;
    return t;
}

/* A trial's files, then its seal. */
static inline void run_trial(struct rundir *r, const char *scenario, int number, const char *digest,
                             double rps)
{
    struct trial t = make_trial(scenario, number, digest, rps);
    CLEANUP_FREE char *dir = NULL;

    OK(rundir_trial_begin(r, scenario, number, &dir, e));
    put(dir, "events.ndjson", "{\"event\":\"start\"}\n");
    put(dir, "samples.csv", "at_ms,role\n0,app\n");
    put(dir, "load/stdout.txt", "Requests/sec: 100\n");
    put(dir, "logs/app.log", "started\n");
    OK(rundir_trial_seal(r, &t, e));
}

static inline void begin_run(const char *path, struct rundir **ret)
{
    struct json *begin = json_new_object();

    OK(rundir_create(path, ret, e));
    json_set_text(begin, "matrix", "m.yaml");
    OK(rundir_journal(*ret, JOURNAL_BEGIN, begin, true, e));
    OK(rundir_write(*ret, "matrix.yaml", "benchctl: 1\n", 12, e));
    OK(rundir_write(*ret, "sweep.json", "{\"name\":\"small\"}\n", 17, e));
    const char *plan =
        "{\"scenarios\":[{\"id\":\"a/256m\",\"digest\":\"d1\"},{\"id\":\"b/256m\",\"digest\":\"d2\"}]}\n";
    OK(rundir_write(*ret, "plan.json", plan, strlen(plan), e));
}

/* DIR/NAME: two scenarios, two trials each, complete. */
static inline char *make_run(const char *dir, const char *name)
{
    CLEANUP(rundir_close) struct rundir *r = NULL;
    char *path = path_join(dir, name);

    begin_run(path, &r);
    for (int n = 1; n <= 2; n++) {
        run_trial(r, "b/256m", n, "d2", 200 + n);
        run_trial(r, "a/256m", n, "d1", 100 + n);
    }
    OK(rundir_journal(r, JOURNAL_END, NULL, true, e));
    OK(rundir_write(r, "report.md", "# small\n", 8, e));
    return path;
}

#endif
