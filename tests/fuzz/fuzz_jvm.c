/* SPDX-License-Identifier: MIT */
/* What comes out of a container about its JVM: performance data, printed answers, command lines. */
#include <assert.h>
#include <math.h>
#include <string.h>
#include "benchctl/jvm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_LONGEST = 4100, WORDS_MOST = 64 };

/* Texts of the record can be shown: cut, and without control characters. */
static void check_text(const char *text)
{
    assert(!text || strlen(text) < TEXT_LONGEST);
    for (const char *p = text; p && *p; p++)
        assert((unsigned char)*p >= ' ' && *p != 0x7f);
}

static void check(const struct jvm_facts *f)
{
    check_text(f->version);
    check_text(f->collector);
    check_text(f->options);
    assert(isnan(f->heap_max_bytes) || f->heap_max_bytes >= 0);
    assert(isnan(f->cpus) || f->cpus >= 0);
}

static void try_launch(const char *text, size_t size, struct arena *a)
{
    const char *words[WORDS_MOST];
    size_t n = 0;
    char *copy = arena_strndup(a, text, size);
    struct jvm_launch l;
    struct text_list question;

    for (char *rest = NULL, *w = strtok_r(copy, "\n", &rest); w && n < WORDS_MOST;
         w = strtok_r(NULL, "\n", &rest))
        words[n++] = w;
    if (!jvm_launch_find(words, n, a, &l))
        return;
    check_text(l.options_text);
    assert(l.java);
    jvm_question(&l, JVM_DIALECT_9, a, &question);
    assert(strcmp(question.items[question.len - 1], "-version") == 0);
    for (size_t i = 0; i + 1 < question.len; i++) /* nothing that ends the options before our own */
        assert(question.items[i][0] == '-');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct jvm_facts f;
    struct error err = ERROR_INIT;

    if (jvm_read_perf(data, size, a, &f, &err) == 0)
        check(&f);
    else
        assert(err.kind == ERROR_INVALID && err.message[0]);
    if (jvm_read_answer((const char *)data, size, a, &f))
        check(&f);
    try_launch((const char *)data, size, a);
    return 0;
}
