/* SPDX-License-Identifier: MIT */
/*
 * What generators print, in any shape, read by adapters. The first byte picks the adapter; with the last of
 * them the rest is an adapter file itself. Whatever comes, there is a result or an error, and a result holds
 * together.
 */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "benchctl/base/fs.h"
#include "benchctl/load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte of an input says which; new ones come last, so that the corpus keeps its meaning. */
static const char *const files[] = {
    SOURCE_DIR "/adapters/load/wrk.yaml",  SOURCE_DIR "/adapters/load/hey.yaml",
    SOURCE_DIR "/adapters/load/oha.yaml",  SOURCE_DIR "/adapters/load/k6.yaml",
    SOURCE_DIR "/adapters/load/ab.yaml",   SOURCE_DIR "/adapters/load/h2load.yaml",
    SOURCE_DIR "/adapters/load/ghz.yaml",  SOURCE_DIR "/adapters/load/vegeta.yaml",
    SOURCE_DIR "/adapters/load/wrk2.yaml", SOURCE_DIR "/adapters/load/artillery.yaml",
};
#define ADAPTER_TEXT 7 /* this byte: the input is an adapter */

static struct load_adapter *adapters[ARRAY_LEN(files)];

static void read_adapters(void)
{
    for (size_t i = 0; i < ARRAY_LEN(files) && !adapters[i]; i++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
        struct error err = ERROR_INIT;
        if (fs_read(files[i], 1 << 20, &text, &err) < 0 ||
            load_adapter_parse(strbuf_text(&text), text.len, files[i], &adapters[i], &err) < 0) {
            fprintf(stderr, "%s\n", err.message);
            abort();
        }
    }
}

static void check_result(const struct load_result *r)
{
    assert(!(r->ok < 0) && !(r->failed < 0) && !(r->error_rate > 1) && !(r->requests < 0));
    assert(!(r->latency_ms.p50 > r->latency_ms.max * 1.05 + 1));
}

static void try_output(const struct load_adapter *a, const void *bytes, size_t len)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_CLOSE int fd = memfd_create("output", MFD_CLOEXEC);
    CLEANUP_FREE char *path = xasprintf("/proc/self/fd/%d", fd);
    const char *const paths[] = {path};
    struct load_problems problems;
    struct load_result r;
    struct error err = ERROR_INIT;

    if (fs_write_all(fd, bytes, len, "output", &err) < 0)
        abort();
    if (load_adapter_parse_files(a, paths, 1, NULL, arena, &r, &problems, &err) == 0)
        check_result(&r);
    else
        assert(err.kind != ERROR_NONE && err.message[0]);
}

static void try_adapter(const char *bytes, size_t len)
{
    static const char output[] = "requests: 100\n{\"a\": 1}\n";
    struct load_adapter *a = NULL;
    struct error err = ERROR_INIT;

    if (load_adapter_parse(bytes, len, "fuzz.yaml", &a, &err) < 0)
        return;
    if (load_adapter_program(a))
        try_output(a, output, sizeof(output) - 1);
    load_adapter_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    read_adapters();
    size_t pick = data[0] % (ARRAY_LEN(files) + 1);
    if (pick == ADAPTER_TEXT)
        try_adapter((const char *)data + 1, size - 1);
    else
        try_output(adapters[pick > ADAPTER_TEXT ? pick - 1 : pick], data + 1, size - 1);
    return 0;
}
