/* SPDX-License-Identifier: MIT */
/* A stream through a FIFO while the loop runs: from a process that writes in odd pieces and may die. */
#include "load_test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "benchctl/base/clock.h"

struct copy {
    struct strbuf bytes;
    bool fail;
};

static int keep(const char *bytes, size_t len, void *data, struct error *err)
{
    struct copy *c = data;

    strbuf_add(&c->bytes, bytes, len);
    return c->fail ? error_set(err, ERROR_ENVIRONMENT, "no space left") : 0;
}

/* Writes the text `times` times in pieces of sizes that fit nothing. */
static void write_all(const char *path, const struct strbuf *text, int times)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644); /* as programs open their output */

    for (int i = 0; i < times; i++) {
        for (size_t at = 0, piece = 1; at < text->len; at += piece, piece = piece * 7 % 1009 + 1) {
            size_t n = piece < text->len - at ? piece : text->len - at;
            if (write(fd, text->data + at, n) != (ssize_t)n)
                _exit(1);
        }
    }
    _exit(0);
}

struct child {
    bool ended;
    int status;
};

static void on_end(pid_t pid, int wait_status, void *data)
{
    struct child *c = data;

    (void)pid;
    c->status = wait_status;
    c->ended = true;
}

static void run_writer(struct loop *l, const char *path, const struct strbuf *text, int times)
{
    struct child child = {0};
    struct error err = ERROR_INIT;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        write_all(path, text, times);
    (void)loop_add_child(l, pid, on_end, &child); /* goes once it has been called */
    assert_int_equal(loop_wait_until(l, &child.ended, clock_now_ns() + 60 * NS_PER_S, &err), 0);
    assert_true(WIFEXITED(child.status) && WEXITSTATUS(child.status) == 0);
}

static void read_through(const char *dir, bool fail_copy)
{
    CLEANUP_FREE char *path = path_join(dir, "stream.ndjson");
    CLEANUP(loop_free) struct loop *l = NULL;
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("k6");
    CLEANUP(load_stream_free) struct load_stream *s = NULL;
    CLEANUP(load_fifo_free) struct load_fifo *f = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct copy copy = {.fail = fail_copy};
    const struct load_fifo_options o = {.raw = keep, .data = &copy};
    struct load_stream_counts c;
    struct error err = ERROR_INIT;

    assert_int_equal(fs_read(TESTS_DIR "/data/streams/metric-first.ndjson", 1 << 20, &text, &err), 0);
    assert_int_equal(loop_new(&l, &err), 0);
    assert_int_equal(load_stream_new(a, NULL, &s, &err), 0);
    assert_int_equal(load_fifo_open(l, path, s, &o, &f, &err), 0);
    run_writer(l, path, &text, 50);
    run_writer(l, path, &text, 1); /* opened again: a FIFO has no end in between */
    int rc = load_fifo_end(f, &err);
    load_stream_get_counts(s, &c);
    assert_true(c.lines == 51 * 49 && c.points == 51 * 43 && c.invalid == 0 && !c.cut);
    if (fail_copy) { /* the copy broke, the reading went on */
        assert_int_equal(rc, -1);
        assert_string_equal(err.message, "no space left");
        assert_true(copy.bytes.len < 51 * text.len);
    } else {
        assert_int_equal(rc, 0);
        assert_int_equal(copy.bytes.len, 51 * text.len);
        assert_memory_equal(copy.bytes.data + 50 * text.len, text.data, text.len);
    }
    assert_true(fs_exists(path));
    load_fifo_free(TAKE(f));
    assert_false(fs_exists(path));
    strbuf_release(&copy.bytes);
}

static void in_odd_pieces(void **state)
{
    read_through(*state, false);
}

static void a_copy_that_fails(void **state)
{
    read_through(*state, true);
}

static void nobody_writes(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "quiet");
    CLEANUP_FREE char *nowhere = path_join(*state, "no/such/place");
    CLEANUP(loop_free) struct loop *l = NULL;
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("k6");
    CLEANUP(load_adapter_free) struct load_adapter *wrk = adapter_of("wrk");
    CLEANUP(load_stream_free) struct load_stream *s = NULL;
    CLEANUP(load_fifo_free) struct load_fifo *f = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(loop_new(&l, &err), 0);
    assert_string_equal(load_adapter_stream_file(a), "stream.ndjson");
    assert_null(load_adapter_stream_file(wrk));
    assert_int_equal(load_stream_new(wrk, NULL, &s, &err), -1);
    assert_int_equal(load_stream_new(a, NULL, &s, &err), 0);
    assert_int_equal(load_fifo_open(l, nowhere, s, NULL, &f, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_int_equal(load_fifo_open(l, path, s, NULL, &f, &err), 0);
    assert_int_equal(loop_sleep_until(l, clock_now_ns() + NS_PER_MS, &err), 0);
    assert_int_equal(load_fifo_end(f, &err), 0);
}

static void write_for_ever(const char *path)
{
    static const char line[4096] = "no JSON";
    int fd = open(path, O_WRONLY);

    (void)alarm(60); /* should the test die */
    while (write(fd, line, sizeof(line)) > 0)
        ;
    _exit(0);
}

/* Somebody whom the generator left behind: what is there is read, and then it is over. */
static void one_who_goes_on(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "endless");
    CLEANUP(loop_free) struct loop *l = NULL;
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("k6");
    CLEANUP(load_stream_free) struct load_stream *s = NULL;
    CLEANUP(load_fifo_free) struct load_fifo *f = NULL;
    struct error err = ERROR_INIT;
    pid_t pids[4];

    assert_int_equal(loop_new(&l, &err), 0);
    assert_int_equal(load_stream_new(a, NULL, &s, &err), 0);
    assert_int_equal(load_fifo_open(l, path, s, NULL, &f, &err), 0);
    for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0)
            write_for_ever(path);
    }
    assert_int_equal(loop_sleep_until(l, clock_now_ns() + 50 * NS_PER_MS, &err), 0);
    (void)alarm(50); /* ends this test if it never does */
    assert_int_equal(load_fifo_end(f, &err), 0);
    (void)alarm(0);
    for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
        assert_int_equal(kill(pids[i], SIGKILL), 0);
        assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_odd_pieces), cmocka_unit_test(a_copy_that_fails),
                                       cmocka_unit_test(nobody_writes), cmocka_unit_test(one_who_goes_on)};

    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
