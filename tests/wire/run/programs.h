/* SPDX-License-Identifier: MIT */
/* Programs that stand in for load generators, and a sweep that calls them. */
#ifndef WIRE_RUN_PROGRAMS_H
#define WIRE_RUN_PROGRAMS_H

#include <stdio.h>
#include <sys/stat.h>
#include "stage.h"

#define LOADED                                                                                               \
    "benchctl: 1\nname: wire\ntrials: 1\nretry: 0\naxes: {x: [one]}\napp: {image: 'app:1', port: %d, "       \
    "memory: 64m}\n"

static inline void put(const struct stage *g, const char *name, const char *text)
{
    CLEANUP_FREE char *path = path_join(g->dir, name), *dir = path_dirname(path);
    struct error err = ERROR_INIT;

    assert_int_equal(fs_mkdirs(dir, &err), 0);
    assert_int_equal(fs_write(path, text, strlen(text), &err), 0);
}

/* A program: `$here` is its directory, `$out` the output directory. */
static inline void put_program(const struct stage *g, const char *script)
{
    CLEANUP_FREE char *path = path_join(g->dir, "program");
    CLEANUP_FREE char *text = xasprintf("#!/bin/sh\nhere=%s\n"
                                        "[ \"$1\" = --version ] && { echo benchctl 9.8; exit 0; }\n"
                                        "out=$5\n%s\n",
                                        g->dir, script);

    put(g, "program", text);
    assert_int_equal(chmod(path, 0755), 0);
}

/* Adapter NAME as it is in the source, with our program in the place of its own. */
static inline void put_adapter(const struct stage *g, const char *name)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_FREE char *from = xasprintf(SOURCE_DIR "/adapters/load/%s.yaml", name);
    CLEANUP_FREE char *to = xasprintf("adapters/load/%s.yaml", name);
    struct error err = ERROR_INIT;

    assert_int_equal(fs_read(from, 1 << 20, &text, &err), 0);
    char *program = strstr(text.data, "program: ${benchctl}");
    assert_non_null(program);
    CLEANUP_FREE char *made = xasprintf("%.*sprogram: %s/program%s", (int)(program - text.data), text.data,
                                        g->dir, program + strlen("program: ${benchctl}"));
    put(g, to, made);
}

/* `load` is the matrix' section; the application answers anything. */
static inline void run_load(struct stage *g, const char *load)
{
    static const struct rule rules[] = {{"*", .reply = {.status = 200}}};
    struct server *app = server_start(&(struct server_options){.rules = rules, .rules_len = 1, .tcp = true});
    CLEANUP_FREE char *head = xasprintf(LOADED, server_port(app)), *matrix = xasprintf("%s%s", head, load);
    CLEANUP_FREE char *adapters = path_join(g->dir, "adapters");

    (void)setenv("BENCHCTL_ADAPTERS", adapters, 1);
    stage_run(g, matrix);
    (void)unsetenv("BENCHCTL_ADAPTERS");
    server_finish(app);
    assert_nothing_left(g);
}

#endif
