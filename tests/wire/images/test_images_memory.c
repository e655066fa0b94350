/* SPDX-License-Identifier: MIT */
/*
 * Memory does not grow with the size of an image, on its way out of an engine or into one. The engine is a
 * process of this test that makes its bytes as they are sent, and drops those that it gets; what is measured
 * is the largest memory of a process that did nothing else.
 */
#include "images_fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#define CHUNK ((size_t)65536)
#define SMALL ((size_t)4 << 20)
#define LARGE ((size_t)128 << 20)
#define MORE_AT_MOST ((long)16 << 10) /* KiB: an eighth of what a copy of the large one would take */

static unsigned char pattern[CHUNK];

/* The hash of `size` bytes of the pattern, which is the only layer of the image. */
static void make_large(struct made_image *ret, size_t size)
{
    CLEANUP(sha256_free) struct sha256 *h = sha256_new();
    const char *none[] = {NULL};

    for (size_t i = 0; i < CHUNK; i++)
        pattern[i] = (unsigned char)(i * 31 >> 3);
    for (size_t at = 0; at < size; at += CHUNK)
        sha256_update(h, pattern, CHUNK);
    make_image(ret, "large", none);
    made_image_release(ret);
    ret->layer_count = 1;
    sha256_final(h, ret->layer_hex[0]);
    ret->config = xasprintf("{\"config\":{},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"sha256:%s\"]}}",
                            ret->layer_hex[0]);
    sha256_hex(ret->config, strlen(ret->config), ret->config_hex);
    (void)snprintf(ret->id, sizeof(ret->id), "sha256:%s", ret->config_hex);
}

/* --- the engine --- */

static void send_all(int fd, const void *bytes, size_t len)
{
    struct error err = ERROR_INIT;

    if (fs_write_all(fd, bytes, len, "peer", &err) < 0)
        _exit(0); /* it has heard enough */
}

static void answer(int fd, const char *text)
{
    CLEANUP_FREE char *reply = xasprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: "
                                         "close\r\nContent-Length: %zu\r\n\r\n%s",
                                         strlen(text), text);

    send_all(fd, reply, strlen(reply));
}

static void send_export(int fd, const struct made_image *m, size_t size)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf part = STRBUF_INIT, config = STRBUF_INIT;

    strbuf_addf(&config, "%s.json", m->config_hex);
    CLEANUP_FREE char *manifest =
        xasprintf("[{\"Config\":\"%s\",\"Layers\":[\"x/layer.tar\"]}]", config.data);
    strbuf_adds(&part, "HTTP/1.1 200 OK\r\nContent-Type: application/x-tar\r\nConnection: close\r\n\r\n");
    tar_file(&part, config.data, m->config);
    tar_file(&part, "manifest.json", manifest);
    tar_head(&part, '0', "x/layer.tar", "", size);
    send_all(fd, part.data, part.len);
    for (size_t sent = 0; sent < size; sent += CHUNK)
        send_all(fd, pattern, CHUNK);
    strbuf_clear(&part);
    tar_end(&part);
    send_all(fd, part.data, part.len);
}

/* A request's head, then its body to the last chunk. */
static bool take_request(int fd, struct strbuf *head)
{
    char tail[8] = {0}, *bytes = xmalloc(CHUNK);
    bool body = false, done = false;
    ssize_t n;

    while (!done && (n = read(fd, bytes, CHUNK)) > 0) {
        if (!body) {
            strbuf_add(head, bytes, (size_t)n);
            body = strstr(head->data, "\r\n\r\n") != NULL;
            done = body && !strstr(head->data, "chunked");
        }
        size_t keep = (size_t)n < 5 ? (size_t)n : 5;
        memmove(tail, tail + keep, 5 - keep);
        memcpy(tail + 5 - keep, bytes + n - keep, keep);
        done = done || (body && memcmp(tail, "0\r\n\r\n", 5) == 0);
    }
    free(bytes);
    return done;
}

static void serve_one(int fd, const struct made_image *m, size_t size, bool *loaded)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf head = STRBUF_INIT;

    if (!take_request(fd, &head))
        return;
    if (strstr(head.data, "/images/get?")) {
        send_export(fd, m, size);
    } else if (strstr(head.data, "/images/load")) {
        *loaded = true;
        answer(fd, "{\"stream\":\"Loaded\"}");
    } else if (strstr(head.data, "/json") && *loaded) {
        CLEANUP_FREE char *text =
            xasprintf("{\"Id\":\"%s\",\"Size\":1,\"Config\":{},\"RootFS\":{\"Layers\":[\"sha256:%s\"]}}",
                      m->id, m->layer_hex[0]);
        answer(fd, text);
    } else if (strstr(head.data, "/json")) {
        static const char none[] =
            "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}";
        send_all(fd, none, strlen(none));
    } else {
        answer(
            fd,
            "{\"Version\":\"20.10.24\",\"ApiVersion\":\"1.41\",\"MinAPIVersion\":\"1.12\",\"ID\":\"one\"}");
    }
}

/* The engine's process; `has`: it has the image from the start. */
static pid_t start_engine(const char *path, const struct made_image *m, size_t size, bool has)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)unlink(path);
    (void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
    assert_int_equal(bind(listening, (const struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(listening, 16), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        for (;;) {
            int fd = accept(listening, NULL, NULL);
            serve_one(fd, m, size, &has);
            (void)close(fd);
        }
    }
    (void)close(listening);
    return pid;
}

/* --- what is measured --- */

static int work(const char *url, const char *dir, const char *id, bool save)
{
    struct lab lab;
    struct error err = ERROR_INIT;

    lab_start(&lab);
    int r = engine_open(lab.loop, lab.http, url, &lab.engine, &err);
    if (r == 0)
        r = save ? images_save(lab.engine, &id, 1, dir, &err)
                 : images_load(lab.engine, dir, id, NULL, NULL, &err);
    if (r < 0)
        fprintf(stderr, "%s\n", err.message);
    return r < 0;
}

/* The largest memory in KiB of a process that saves such an image, or loads it. */
static long memory_of(const char *scratch, const struct made_image *m, size_t size, bool save)
{
    CLEANUP_FREE char *path = path_join(scratch, "sock"), *url = xasprintf("unix://%s", path),
                      *dir = path_join(scratch, "images");
    struct rusage usage;
    int status;

    pid_t engine = start_engine(path, m, size, save), pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(work(url, dir, m->id, save));
    assert_int_equal(wait4(pid, &status, 0, &usage), pid);
    assert_int_equal(kill(engine, SIGKILL), 0);
    assert_int_equal(waitpid(engine, NULL, 0), engine);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return usage.ru_maxrss;
}

static void memory_does_not_grow_with_an_image(void **state)
{
    const size_t sizes[] = {SMALL, LARGE};
    CLEANUP_FREE char *images = path_join(*state, "images");
    long saving[2], loading[2];

    for (int k = 0; k < 2; k++) {
        struct made_image m;
        struct error err = ERROR_INIT;

        make_large(&m, sizes[k]);
        saving[k] = memory_of(*state, &m, sizes[k], true);
        loading[k] = memory_of(*state, &m, sizes[k], false);
        made_image_release(&m);
        assert_int_equal(fs_remove_tree(images, &err), 0);
    }
    if (saving[1] > saving[0] + MORE_AT_MOST)
        fail_msg("saving took %ld KiB for a small image, %ld for a large one", saving[0], saving[1]);
    if (loading[1] > loading[0] + MORE_AT_MOST)
        fail_msg("loading took %ld KiB for a small image, %ld for a large one", loading[0], loading[1]);
    print_message("saving %ld and %ld KiB, loading %ld and %ld KiB\n", saving[0], saving[1], loading[0],
                  loading[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_does_not_grow_with_an_image, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
