/* SPDX-License-Identifier: MIT */
/* Events, logs, stats and failures against a real engine. Skipped where none answers. */
#include <fcntl.h>
#include "real_fixture.h"

/* --- what was heard --- */

struct heard {
    int creates, starts, dies, ooms, kills, gaps, last_code, last_signal;
    bool roles_right;
    char ids[64][72];
    int64_t last_ns;
    bool ordered;
};

static void on_event(const struct engine_event *ev, void *data)
{
    struct heard *h = data;

    assert_string_equal(ev->type, "container");
    h->creates += text_equal(ev->action, "create");
    h->starts += text_equal(ev->action, "start");
    h->ooms += text_equal(ev->action, "oom");
    if (text_equal(ev->action, "die")) {
        h->dies++;
        h->last_code = ev->exit_code;
    }
    if (text_equal(ev->action, "kill")) {
        h->kills++;
        h->last_signal = ev->signal;
    }
    h->roles_right = text_equal(ev->role, "app");
    h->last_ns = ev->wall_ns;
}

static void on_gap(const char *why, void *data)
{
    struct heard *h = data;

    (void)why;
    h->gaps++;
}

static struct engine_stream *listen_to(struct real *r, struct heard *h)
{
    struct engine_stream *s;
    struct engine_event_handler handler = {.event = on_event, .gap = on_gap, .data = h};

    must(engine_events_open(r->lab.engine, r->run, &handler, &s, &why));
    return s;
}

static void events_of_a_life(void **state)
{
    struct real *r = real_or_skip(state);
    struct heard h = {0};
    CLEANUP(engine_stream_close) __attribute__((unused)) struct engine_stream *events = listen_to(r, &h);
    CLEANUP_FREE char *id = create(r, "deaf", NULL);

    must(engine_container_start(r->lab.engine, id, &why));
    must(engine_container_kill(r->lab.engine, id, "KILL", &why));
    serve_until(&r->lab, h.dies == 1);
    assert_int_equal(h.creates, 1);
    assert_int_equal(h.starts, 1);
    assert_int_equal(h.kills, 1);
    assert_int_equal(h.last_signal, 9);
    assert_int_equal(h.last_code, 137);
    assert_int_equal(h.gaps, 0);
    assert_true(h.roles_right);
}

/* Two retries make three runs; wait returns after the first; the count starts anew with a start by hand. */
static void a_restart_policy_that_runs_out(void **state)
{
    struct real *r = real_or_skip(state);
    struct engine *e = r->lab.engine;
    struct heard h = {0};
    struct engine_state s;
    int code;
    CLEANUP(engine_stream_close) __attribute__((unused)) struct engine_stream *events = listen_to(r, &h);
    CLEANUP_FREE char *id = create_with(
        r, &(struct engine_container){.restart = RESTART_ON_FAILURE, .restart_max = 2}, "exit", "3");

    must(engine_container_start(e, id, &why));
    must(engine_container_wait(e, id, &code, &why));
    assert_int_equal(code, 3);
    serve_until(&r->lab, text_equal(status_of(r, id), "exited"));
    must(engine_container_inspect(e, id, &s, &why));
    assert_int_equal(s.restart_count, 2);
    assert_int_equal(s.exit_code, 3);
    engine_state_release(&s);
    serve_until(&r->lab, h.dies == 3);
    assert_int_equal(h.starts, 3);
    must(engine_container_start(e, id, &why));
    must(engine_container_inspect(e, id, &s, &why));
    assert_true(s.restart_count < 2);
    engine_state_release(&s);
}

/* The event can get lost when the process dies very early: the flag always, the event once in a few tries. */
static void out_of_memory(void **state)
{
    struct real *r = real_or_skip(state);
    struct engine *e = r->lab.engine;
    struct heard h = {0};
    CLEANUP(engine_stream_close) __attribute__((unused)) struct engine_stream *events = listen_to(r, &h);

    if (!engine_facts(e)->memory_limit)
        skip();
    for (int i = 1; i <= 5 && (i == 1 || h.ooms == 0); i++) {
        CLEANUP_FREE char *id =
            create_with(r, &(struct engine_container){.memory_bytes = 8 << 20}, "grow", NULL);
        CLEANUP_VALUE(engine_state_release) struct engine_state s = {0};
        int code;

        must(engine_container_start(e, id, &why));
        must(engine_container_wait(e, id, &code, &why));
        assert_int_equal(code, 137);
        serve_until(&r->lab, h.dies == i);
        must(engine_container_inspect(e, id, &s, &why));
        assert_true(s.oom_killed);
        assert_int_equal(s.exit_code, 137);
    }
    assert_true(h.ooms > 0);
}

static void count_line(const char *line, size_t len, bool is_stderr, void *data)
{
    (void)is_stderr;
    *(int *)data += len == 10 && memcmp(line, "child gone", 10) == 0;
}

/* Only a child is killed: the container lives on, and nothing but the event (and its cgroup) tells. */
static void out_of_memory_in_a_child(void **state)
{
    struct real *r = real_or_skip(state);
    struct engine *e = r->lab.engine;
    struct heard h = {0};
    CLEANUP(engine_stream_close) __attribute__((unused)) struct engine_stream *events = listen_to(r, &h);

    if (!engine_facts(e)->memory_limit)
        skip();
    for (int i = 1; i <= 5 && h.ooms == 0; i++) {
        CLEANUP_FREE char *id =
            create_with(r, &(struct engine_container){.memory_bytes = 8 << 20}, "grow-child", NULL);
        CLEANUP_VALUE(engine_state_release) struct engine_state s = {0};
        struct engine_log_options o = {.stdout_fd = -1, .stderr_fd = -1, .on_line = count_line};
        struct engine_stream *log;
        int gone = 0;

        must(engine_container_start(e, id, &why));
        o.data = &gone;
        must(engine_logs_open(e, id, &o, &log, &why));
        serve_until(&r->lab, gone == 1);
        serve_ms(&r->lab, 200);
        must(engine_container_inspect(e, id, &s, &why));
        assert_true(s.running);
        assert_false(s.oom_killed);
        engine_stream_close(log);
    }
    assert_true(h.ooms > 0);
    assert_int_equal(h.dies, 0);
}

/* --- logs --- */

struct pair {
    char path[2][64];
    int fd[2];
    int lines[2];
    char last[64];
};

static void open_pair(struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        snprintf(p->path[i], sizeof(p->path[i]), "/tmp/benchctl-log-XXXXXX");
        p->fd[i] = mkstemp(p->path[i]);
        assert_true(p->fd[i] >= 0);
    }
}

static char *contents(struct pair *p, int i)
{
    struct strbuf text = STRBUF_INIT;

    must(fs_read(p->path[i], 1 << 22, &text, &why));
    return strbuf_detach(&text);
}

static void close_pair(struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        close(p->fd[i]);
        unlink(p->path[i]);
    }
}

static void on_line(const char *line, size_t len, bool is_stderr, void *data)
{
    struct pair *p = data;

    p->lines[is_stderr]++;
    snprintf(p->last, sizeof(p->last), "%.*s", (int)len, line);
}

static struct engine_stream *follow(struct real *r, const char *id, struct pair *p, int64_t max_bytes)
{
    struct engine_log_options o = {
        .stdout_fd = p->fd[0], .stderr_fd = p->fd[1], .on_line = on_line, .data = p, .max_bytes = max_bytes};
    struct engine_stream *s;

    must(engine_logs_open(r->lab.engine, id, &o, &s, &why));
    return s;
}

static void logs_are_followed_and_split(void **state)
{
    struct real *r = real_or_skip(state);
    struct pair p = {0};
    CLEANUP_FREE char *id = create(r, "lines", "2000");

    open_pair(&p);
    must(engine_container_start(r->lab.engine, id, &why));
    CLEANUP(engine_stream_close) struct engine_stream *s = follow(r, id, &p, 0);
    must(engine_logs_finish(s, clock_now_ns() + 20 * NS_PER_S, &why));
    assert_int_equal(p.lines[0], 2000);
    assert_int_equal(p.lines[1], 2000);
    CLEANUP_FREE char *out = contents(&p, 0), *log = contents(&p, 1);
    assert_true(text_starts(out, "out 0\nout 1\n"));
    assert_true(text_ends(out, "out 1998\nout 1999\n"));
    assert_true(text_starts(log, "err 0\nerr 1\n"));
    assert_true(text_ends(log, "err 1999\n"));
    struct engine_log_counts counts;
    engine_logs_counts(s, &counts);
    assert_int_equal(counts.stdout_bytes, strlen(out));
    assert_false(counts.cut);
    assert_true(counts.ended);
    close_pair(&p);
}

static void a_line_longer_than_a_piece_stays_whole(void **state)
{
    struct real *r = real_or_skip(state);
    struct pair p = {0};
    CLEANUP_FREE char *id = create(r, "long", "50000");

    open_pair(&p);
    must(engine_container_start(r->lab.engine, id, &why));
    CLEANUP(engine_stream_close) struct engine_stream *s = follow(r, id, &p, 0);
    must(engine_logs_finish(s, clock_now_ns() + 20 * NS_PER_S, &why));
    CLEANUP_FREE char *out = contents(&p, 0);
    assert_int_equal(strspn(out, "x"), 50000);
    assert_string_equal(out + 50000, "\nafter\n"); /* some log drivers lose that newline */
    assert_int_equal(p.lines[0], 2);
    close_pair(&p);
}

/* Three lives under a restart policy: every line once, none twice. */
static void logs_go_on_through_restarts(void **state)
{
    struct real *r = real_or_skip(state);
    struct pair p = {0};
    CLEANUP_FREE char *id = create_with(
        r, &(struct engine_container){.restart = RESTART_ON_FAILURE, .restart_max = 2}, "exit", "3");

    open_pair(&p);
    must(engine_container_start(r->lab.engine, id, &why));
    CLEANUP(engine_stream_close) struct engine_stream *s = follow(r, id, &p, 0);
    serve_until(&r->lab, text_equal(status_of(r, id), "exited"));
    must(engine_logs_finish(s, clock_now_ns() + 20 * NS_PER_S, &why));
    CLEANUP_FREE char *out = contents(&p, 0);
    assert_string_equal(out, "run\nrun\nrun\n");
    close_pair(&p);
}

static void logs_have_a_limit(void **state)
{
    struct real *r = real_or_skip(state);
    struct pair p = {0};
    CLEANUP_FREE char *id = create(r, "lines", "100");
    struct engine_log_counts counts;

    open_pair(&p);
    must(engine_container_start(r->lab.engine, id, &why));
    CLEANUP(engine_stream_close) struct engine_stream *s = follow(r, id, &p, 20);
    must(engine_logs_finish(s, clock_now_ns() + 20 * NS_PER_S, &why));
    CLEANUP_FREE char *out = contents(&p, 0);
    assert_int_equal(strlen(out), 20);
    engine_logs_counts(s, &counts);
    assert_int_equal(counts.stdout_bytes, 20);
    assert_true(counts.dropped_bytes > 1000);
    assert_int_equal(p.lines[0], 100); /* lines are heard all the same */
    close_pair(&p);
}

static void a_log_is_saved_and_its_tail_read(void **state)
{
    struct real *r = real_or_skip(state);
    struct pair p = {0};
    int code;
    CLEANUP_FREE char *id = create(r, "lines", "50"), *tail = NULL;

    open_pair(&p);
    must(engine_container_start(r->lab.engine, id, &why));
    must(engine_container_wait(r->lab.engine, id, &code, &why));
    must(engine_logs_save(r->lab.engine, id,
                          &(struct engine_log_options){.stdout_fd = p.fd[0], .stderr_fd = p.fd[1]}, &why));
    CLEANUP_FREE char *out = contents(&p, 0);
    assert_true(text_starts(out, "out 0\n") && text_ends(out, "out 49\n"));
    must(engine_logs_tail(r->lab.engine, id, 2, &tail, &why));
    assert_true(strstr(tail, "out 49") || strstr(tail, "err 49"));
    assert_null(strstr(tail, "out 47"));
    close_pair(&p);
}

static void files_are_copied_out(void **state)
{
    struct real *r = real_or_skip(state);
    struct error err = ERROR_INIT;
    char path[] = "/tmp/benchctl-copy-XXXXXX";
    int fd = mkstemp(path);
    CLEANUP_FREE char *id = create(r, "sleep", NULL);

    must(engine_container_copy(r->lab.engine, id, "/tmp/probe", fd, &why));
    close(fd);
    assert_int_equal(shell("tar tf %s | grep -qx probe", path), 0);
    assert_int_equal(engine_container_copy(r->lab.engine, id, "/nowhere", -1, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    unlink(path);
}

/* --- stats --- */

struct stats {
    int count;
    bool has_memory;
};

static void on_stats(const struct json *j, void *data)
{
    struct stats *s = data;

    s->count++;
    s->has_memory = json_get_int(json_get(j, "memory_stats"), "usage") > 0;
}

static void stats_come_each_second(void **state)
{
    struct real *r = real_or_skip(state);
    struct stats seen = {0};
    struct engine_stream *s = NULL;
    struct error err = ERROR_INIT;
    CLEANUP_FREE char *id = create(r, "sleep", NULL);

    must(engine_container_start(r->lab.engine, id, &why));
    must(engine_stats_open(r->lab.engine, id, on_stats, &seen, &s, &why));
    serve_until(&r->lab, seen.count >= 2);
    engine_stream_close(s);
    int before = seen.count;
    serve_ms(&r->lab, 1200);
    assert_int_equal(seen.count, before); /* closed is closed */
    assert_int_equal(engine_stats_open(r->lab.engine, "0123456789ab", on_stats, &seen, &s, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
}

int main(void)
{
#define real_test(f) cmocka_unit_test_setup_teardown(f, real_setup, real_teardown)
    const struct CMUnitTest tests[] = {
        real_test(events_of_a_life),
        real_test(a_restart_policy_that_runs_out),
        real_test(out_of_memory),
        real_test(out_of_memory_in_a_child),
        real_test(logs_are_followed_and_split),
        real_test(a_line_longer_than_a_piece_stays_whole),
        real_test(logs_go_on_through_restarts),
        real_test(logs_have_a_limit),
        real_test(a_log_is_saved_and_its_tail_read),
        real_test(files_are_copied_out),
        real_test(stats_come_each_second),
    };
    return cmocka_run_group_tests(tests, NULL, real_end);
}
