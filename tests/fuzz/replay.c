/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target over every file of a corpus, and over each cut short: a plain test, with any compiler.
 */
#include <stdint.h>
#include <stdio.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_MAX ((size_t)4 << 20)

struct replay {
    const char *root;
    size_t files;
};

/* A copy of exactly that size, so that a sanitizer sees every read beyond the end. */
static void feed(const char *bytes, size_t len)
{
    uint8_t *exact = xmalloc(len);

    memcpy(exact, bytes, len);
    (void)LLVMFuzzerTestOneInput(exact, len);
    free(exact);
}

static int one_file(const char *relative, bool is_dir, int64_t size, void *data, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct replay *r = data;
    CLEANUP_FREE char *path = path_join(r->root, relative);

    (void)size;
    if (is_dir)
        return 0;
    if (fs_read(path, INPUT_MAX, &text, err) < 0)
        return -1;
    r->files++;
    feed(strbuf_text(&text), text.len);
    size_t step = text.len / 32 + 1;
    for (size_t cut = 0; cut < text.len; cut += step)
        feed(strbuf_text(&text), cut);
    return 0;
}

int main(int argc, char **argv)
{
    struct replay r = {.root = argc > 1 ? argv[1] : "."};
    struct error err = ERROR_INIT;

    if (fs_walk(r.root, one_file, &r, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("%zu inputs\n", r.files);
    return r.files ? 0 : 1;
}
