/* SPDX-License-Identifier: MIT */
/*
 * Building the application, as a measurement: the steps of `build`, one after the other in one container that
 * does nothing else, before anything of the trial is started. A step that fails is a finding; an engine that
 * does not do as asked is the trial's error, as with any container.
 */
#include "run_internal.h"

#include <errno.h>
#include <fcntl.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/line_regex.h"

#define EARLY_NS (5 * NS_PER_MS) /* a time-out of libcurl is in whole milliseconds, rounded down */

#define LOG_MAX (INT64_C(64) << 20) /* per channel and step */
#define NUMBER_MAX 32               /* characters of a count */

/* The container's own process: it waits to be removed. */
static const char *const sleeper[] = {"sleep"}, *const for_ever[] = {"2147483647"};

static const struct build_measurement *measurement(const struct trial_run *t)
{
    return t->settings->build;
}

/* The canary tells of the host, and does that without. */
bool build_wanted(struct trial_run *t)
{
    const struct build_measurement *b = measurement(t);

    return b && !t->record.canary && (b->every == BUILD_EVERY_TRIAL || t->record.trial == 1) &&
           image_for(t->sweep, &b->container);
}

/* --- what the output tells --- */

struct counting {
    struct build_count *counts;
    regex_t *expressions;
    size_t len;
};

static void counting_release(struct counting *c)
{
    for (size_t i = 0; i < c->len; i++)
        regfree(&c->expressions[i]);
}

static int counting_begin(struct counting *c, const struct build_step_settings *s, struct arena *a,
                          struct error *err)
{
    c->counts = arena_array(a, struct build_count, s->counts.len + 1);
    c->expressions = arena_array(a, regex_t, s->counts.len + 1);
    for (size_t i = 0; i < s->counts.len; i++) {
        c->counts[i] = (struct build_count){.name = s->counts.items[i].key, .value = NAN};
        if (regex_compile(s->counts.items[i].value, &c->expressions[i], err) < 0)
            return -1;
        c->len++;
    }
    return 0;
}

/* The last line that matches counts: tools sum up at the end. */
static void count_line(const char *line, size_t len, bool is_stderr, void *data)
{
    struct counting *c = data;

    (void)is_stderr;
    for (size_t i = 0; i < c->len; i++) {
        char text[NUMBER_MAX], *end = NULL;
        size_t from, to;
        if (!regex_find(&c->expressions[i], line, len, &from, &to) || to == from || to - from >= NUMBER_MAX)
            continue;
        memcpy(text, line + from, to - from);
        text[to - from] = '\0';
        double value = strtod(text, &end);
        if (!*end && isfinite(value))
            c->counts[i].value = value;
    }
}

/* --- the steps --- */

static int log_file(const struct trial_run *t, const char *step, const char *channel, struct error *err)
{
    CLEANUP_FREE char *path = xasprintf("%s/logs/build-%s.%s.log", t->dir, step, channel);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    return fd >= 0 ? fd : error_errno(err, ERROR_ENVIRONMENT, errno, "cannot create '%s'", path);
}

static void tell_failure(struct trial_run *t, const struct build_step *s, int64_t begin_ns)
{
    const struct trial_happening h = {.id = "build", .role = "build", .at_ns = begin_ns, .count = 1};

    if (s->message)
        trial_finding(t, &h, "step '%s' of the build: %s", s->name, s->message);
    else
        trial_finding(t, &h, "step '%s' of the build ended with exit code %.0f after %.1f s", s->name,
                      s->exit_code, s->duration_ms / 1e3);
}

/* Its time was up, and there is an engine to say so: not its own fault. */
static bool ran_out(const struct error *e, int64_t deadline_ns)
{
    return e->kind == ERROR_TIMEOUT && clock_now_ns() + EARLY_NS >= deadline_ns;
}

static int run_step(struct trial_run *t, const struct build_step_settings *s, int64_t deadline_ns,
                    struct build_step *ret, struct error *err)
{
    CLEANUP_VALUE(counting_release) struct counting counting = {0};
    struct engine_exec_end end;
    struct error e = ERROR_INIT;
    int64_t begin_ns = clock_now_ns();
    struct text_list words = {.items = arena_array(t->arena, const char *, s->command.len)};
    char limit[32];

    for (; words.len < s->command.len; words.len++)
        if (run_expand(t, s->command.items[words.len], &words.items[words.len], err) < 0)
            return -1;
    CLEANUP_CLOSE int out = log_file(t, s->name, "stdout", err);
    CLEANUP_CLOSE int errors = out < 0 ? -1 : log_file(t, s->name, "stderr", err);
    if (errors < 0 || counting_begin(&counting, s, t->arena, err) < 0)
        return -1;
    const struct engine_exec x = {
        .command = &words,
        .working_dir = measurement(t)->workdir,
        .stdout_fd = out,
        .stderr_fd = errors,
        .max_bytes = LOG_MAX,
        .on_line = count_line,
        .data = &counting,
        .timeout_ns = deadline_ns > begin_ns ? deadline_ns - begin_ns : 1,
    };
    int rc = engine_exec(t->sweep->engine, t->build->id, &x, &end, &e);
    *ret = (struct build_step){
        .name = s->name, .exit_code = NAN, .counts = counting.counts, .count_count = counting.len};
    if (rc == 0) {
        ret->duration_ms = (double)end.duration_ns / (double)NS_PER_MS;
        ret->exit_code = end.code;
    } else if (ran_out(&e, deadline_ns)) {
        ret->duration_ms = clock_ms_since(begin_ns);
        ret->message = arena_printf(t->arena, "not done when the %s of 'build.timeout' were over",
                                    duration_human(measurement(t)->timeout_ns, limit));
    } else {
        *err = e;
        return error_wrap(err, "step '%s' of the build", s->name);
    }
    if (ret->exit_code != 0)
        tell_failure(t, ret, begin_ns);
    return 0;
}

static int run_steps(struct trial_run *t, struct error *err)
{
    const struct build_measurement *b = measurement(t);
    const struct build_step_settings *steps = b->steps.items;
    struct build_result *r = &t->record.build;
    int64_t deadline_ns = clock_now_ns() + b->timeout_ns;

    for (size_t i = 0; i < b->steps.len; i++) {
        if (run_step(t, &steps[i], deadline_ns, &r->steps[i], err) < 0)
            return -1;
        r->step_count++;
        if (r->steps[i].exit_code != 0) /* what comes after it would be another build */
            return 0;
    }
    return 0;
}

static int run_build(struct trial_run *t, struct error *err)
{
    const struct build_measurement *b = measurement(t);
    struct container_settings *c = arena_copy(t->arena, &b->container, sizeof(*c));
    const struct unit_options o = {
        .settings = t->settings,
        .scenario = t->scenario.id,
        .trial = t->record.trial,
        .image_id = image_for(t->sweep, &b->container),
    };

    c->entrypoint = (struct text_list){.items = arena_copy(t->arena, sleeper, sizeof(sleeper)), .len = 1};
    c->command = (struct text_list){.items = arena_copy(t->arena, for_ever, sizeof(for_ever)), .len = 1};
    if (removals_wait(t->sweep, err) < 0) /* of the trial before: nothing of it may run beside this one */
        return -1;
    t->build = unit_new(t->sweep, c, "build");
    t->record.has_build = true;
    t->record.build = (struct build_result){.image = b->container.image,
                                            .steps = arena_array(t->arena, struct build_step, b->steps.len)};
    if (unit_create(t->sweep, t->build, &o, err) < 0 || unit_start(t->sweep, t->build, err) < 0)
        return -1;
    return run_steps(t, err);
}

/* The trial's own time limit is not for this. */
int step_build(struct trial_run *t, struct error *err)
{
    int64_t begin_ns = clock_now_ns(), limit_ns = t->deadline_ns;

    t->deadline_ns = LOOP_FOREVER;
    int rc = run_build(t, err);
    undo_build(t);
    t->build_ms = clock_ms_since(begin_ns);
    t->deadline_ns = limit_ns == LOOP_FOREVER ? LOOP_FOREVER : limit_ns + (clock_now_ns() - begin_ns);
    return rc;
}

void undo_build(struct trial_run *t)
{
    if (t->build)
        unit_discard(t->sweep, t->build);
    t->build = NULL;
}
