/* SPDX-License-Identifier: MIT */
#include "stage.h"

#include <stdio.h>

int stage_setup(void **state)
{
    struct stage *g = xcalloc(1, sizeof(*g));
    struct error err = ERROR_INIT;

    g->dir = xstrdup("/tmp/benchctl-run-XXXXXX");
    assert_non_null(mkdtemp(g->dir));
    g->engine = standin_start();
    assert_int_equal(loop_new(&g->loop, &err), 0);
    g->alarm = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    g->options = (struct run_options){
        .run_id = RUN_ID, .run_dir = g->dir, .infrastructure_retries = -1, .back_off_ns = 20 * NS_PER_MS};
    *state = g;
    return 0;
}

int stage_teardown(void **state)
{
    struct stage *g = *state;
    struct error err = ERROR_INIT;

    loop_remove_fd(g->alarm_watch);
    (void)close(g->alarm);
    loop_free(g->loop);
    standin_end(g->engine);
    vec_each (t, &g->trials)
        json_free(*t);
    vec_each (b, &g->begun)
        free(*b);
    vec_each (m, &g->messages)
        free(*m);
    vec_each (s, &g->steps)
        free(*s);
    vec_release(&g->trials);
    vec_release(&g->begun);
    vec_release(&g->messages);
    vec_release(&g->steps);
    json_free(g->info);
    int rc = fs_remove_tree(g->dir, &err);
    free(g->dir);
    free(g);
    return rc;
}

/* --- what shall happen --- */

void stage_at_nth(struct stage *g, const char *step, int nth, int after_ms, void (*what)(struct stage *g))
{
    assert_true(g->happening_count < ARRAY_LEN(g->happenings));
    g->happenings[g->happening_count++] =
        (struct happening){.step = step, .nth = nth, .after_ms = after_ms, .what = what, .stage = g};
}

void stage_at(struct stage *g, const char *step, int after_ms, void (*what)(struct stage *g))
{
    stage_at_nth(g, step, 1, after_ms, what);
}

static void due(void *data)
{
    struct happening *h = data;

    loop_remove_timer(h->timer);
    h->timer = NULL;
    h->what(h->stage);
}

static void look_out(struct stage *g, const char *step)
{
    for (size_t i = 0; i < g->happening_count; i++) {
        struct happening *h = &g->happenings[i];
        if (h->done || strcmp(h->step, step) != 0 || ++h->seen < h->nth)
            continue;
        h->done = true;
        if (h->after_ms)
            h->timer = loop_add_timer(g->loop, clock_now_ns() + h->after_ms * NS_PER_MS, 0, due, h);
        else
            h->what(g);
    }
}

void stage_interrupt(struct stage *g)
{
    loop_interrupt(g->loop);
}

static void alarmed(int fd, unsigned events, void *data)
{
    struct stage *g = data;
    uint64_t count;

    (void)events;
    (void)!read(fd, &count, sizeof(count));
    loop_interrupt(g->loop);
}

/* --- callbacks --- */

static void on_progress(const struct progress *p, void *data)
{
    struct stage *g = data;
    const char *last = g->steps.len ? g->steps.items[g->steps.len - 1] : "";
    CLEANUP_FREE char *scenario = p->scenario ? xstrdup(p->scenario) : NULL;

    (void)scenario; /* copied only to see that it can be read */
    g->trials_rose |= g->trials_last && p->trials > g->trials_last;
    g->trials_first = g->trials_last ? g->trials_first : p->trials;
    g->trials_last = p->trials;
    g->at_most = p->at_most;
    if (p->trial > p->trials)
        fail_msg("trial %llu of %llu", (unsigned long long)p->trial, (unsigned long long)p->trials);
    if (!p->step || strcmp(p->step, last) == 0)
        return;
    vec_push(&g->steps, xstrdup(p->step));
    look_out(g, p->step);
}

static int on_trial_begin(const char *scenario, int trial, char **ret_dir, void *data, struct error *err)
{
    static const char *const folders[] = {"metrics", "load", "logs", "artifacts"};
    struct stage *g = data;
    CLEANUP_FREE char *dir = xasprintf("%s/trials/%s/%d", g->dir, scenario, trial);

    if (fs_exists(dir) && fs_remove_tree(dir, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        CLEANUP_FREE char *folder = path_join(dir, folders[i]);
        if (fs_mkdirs(folder, err) < 0)
            return -1;
    }
    vec_push(&g->begun, xasprintf("%s/%d", scenario, trial));
    *ret_dir = TAKE(dir);
    return 0;
}

static int on_trial_done(const struct trial *t, void *data, struct error *err)
{
    struct stage *g = data;

    if (g->bad_disk)
        return error_set(err, ERROR_ENVIRONMENT, "no space left on the device");
    vec_push(&g->trials, trial_to_json(t));
    return 0;
}

static int on_info(const struct json *info, void *data, struct error *err)
{
    struct stage *g = data;

    (void)err;
    json_free(g->info);
    g->info = json_clone(info);
    return 0;
}

static bool on_sealed(const struct sealed_query *q, enum outcome *ret_outcome, void *data)
{
    struct stage *g = data;
    CLEANUP_FREE char *name = xasprintf("%s/%d", q->scenario, q->trial);

    assert_int_equal(strlen(q->digest), 64);
    if (g->sealed && strcmp(name, g->sealed) == 0) {
        *ret_outcome = OUTCOME_OK;
        return true;
    }
    for (const struct stage_seal *s = g->seals; s && s->name; s++) {
        if (strcmp(name, s->name) != 0)
            continue;
        *ret_outcome = s->outcome;
        return true;
    }
    return false;
}

static void on_kept(const char *scenario, enum outcome o, void *data)
{
    struct stage *g = data;

    assert_non_null(scenario);
    assert_true(o < OUTCOMES);
    g->kept++;
}

static void on_log(enum log_level level, const char *line, void *data)
{
    struct stage *g = data;

    (void)level;
    vec_push(&g->messages, xstrdup(line));
}

void stage_run(struct stage *g, const char *text)
{
    CLEANUP(matrix_free) struct matrix *m = NULL;
    CLEANUP(plan_free) struct plan *p = NULL;
    struct error err = ERROR_INIT;
    const struct plan_options po = {0};
    const struct run_callbacks cb = {
        .progress = on_progress,
        .trial_begin = on_trial_begin,
        .trial_done = on_trial_done,
        .info = on_info,
        .trial_sealed = on_sealed,
        .trial_kept = on_kept,
        .data = g,
    };

    if (matrix_parse(text, strlen(text), "/m/wire.yaml", NULL, &m, &err) < 0 ||
        plan_make(m, &po, &p, &err) < 0)
        fail_msg("%s\nhint: %s", err.message, err.hint);
    g->alarm_watch = loop_add_fd(g->loop, g->alarm, LOOP_READ, alarmed, g);
    g->options.engine_url = server_url(standin_server(g->engine));
    CLEANUP_FREE char *url = xstrdup(g->options.engine_url);
    g->options.engine_url = url;
    log_set_sink(on_log, g);
    g->rc = run_sweep(g->loop, p, &g->options, &cb, &g->summary, &g->err);
    log_set_sink(NULL, NULL);
    for (size_t i = 0; i < g->happening_count; i++)
        loop_remove_timer(g->happenings[i].timer);
    loop_remove_fd(g->alarm_watch);
    g->alarm_watch = NULL;
    g->options.engine_url = NULL;
    if (g->rc == 0)
        assert_int_equal(g->err.kind, ERROR_NONE);
    else
        assert_int_not_equal(g->err.kind, ERROR_NONE);
}

/* --- what came of it --- */

const struct json *stage_trial(struct stage *g, size_t n)
{
    if (n >= g->trials.len)
        fail_msg("only %zu trials; %s", g->trials.len, g->err.message);
    return g->trials.items[n];
}

const char *stage_text(struct stage *g, size_t n, const char *pointer)
{
    return json_text(json_pointer(stage_trial(g, n), pointer));
}

double stage_number(struct stage *g, size_t n, const char *pointer)
{
    return json_number(json_pointer(stage_trial(g, n), pointer));
}

bool stage_said(const struct stage *g, const char *part)
{
    for (size_t i = 0; i < g->messages.len; i++)
        if (strstr(g->messages.items[i], part))
            return true;
    return false;
}

char *stage_file(struct stage *g, const char *name)
{
    CLEANUP_FREE char *path = path_join(g->dir, name);
    struct strbuf text = STRBUF_INIT;
    struct error ignored = ERROR_INIT;

    if (fs_read(path, 1 << 20, &text, &ignored) < 0)
        return NULL;
    return strbuf_detach(&text);
}

const char *stage_verdict(struct stage *g, size_t n, const char *rule)
{
    const struct json *all = json_get(stage_trial(g, n), "validity");

    for (size_t i = 0; i < json_len(all); i++)
        if (text_equal(json_get_text(json_at(all, i), "id"), rule))
            return json_get_text(json_at(all, i), "verdict");
    return NULL;
}

void assert_outcome(struct stage *g, size_t n, const char *outcome, const char *reason_part)
{
    const char *is = stage_text(g, n, "/outcome"), *reason = stage_text(g, n, "/reason");

    if (!is || strcmp(is, outcome) != 0 || !strstr(reason, reason_part))
        fail_msg("trial %zu is '%s' (%s) instead of '%s' (%s)", n, is, reason, outcome, reason_part);
}

void assert_nothing_left(struct stage *g)
{
    CLEANUP_FREE char *names = standin_left_names(g->engine);

    if (standin_left(g->engine))
        fail_msg("left in the engine: %s; %s", names, g->err.message);
}

void assert_lines(char *actual, const char *expected)
{
    bool same = strcmp(actual, expected) == 0;

    if (!same)
        print_error("--- is\n%s--- should be\n%s", actual, expected);
    free(actual);
    assert_true(same);
}
