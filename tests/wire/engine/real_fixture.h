/* SPDX-License-Identifier: MIT */
/* The real engine, when there is one: an image of one static program, and objects that carry this test's run
 * id. */
#ifndef WIRE_ENGINE_REAL_FIXTURE_H
#define WIRE_ENGINE_REAL_FIXTURE_H

#include <math.h>
#include <sys/wait.h>
#include "engine_fixture.h"

/* Built once in each program. Images carry no label of a run: containers would inherit it. */
static char *probe_image;

struct real {
    struct lab lab;
    char run[40], owner[ENGINE_OWNER_SIZE];
    char *image, *network;
    struct text_pair pairs[3];
    struct text_map labels;
};

static inline bool engine_is_there(void)
{
    return access("/var/run/docker.sock", R_OK | W_OK) == 0;
}

static inline int shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static inline int shell(const char *fmt, ...)
{
    char command[2048];
    va_list args;

    va_start(args, fmt);
    vsnprintf(command, sizeof(command), fmt, args);
    va_end(args);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* gcc -static, FROM scratch. */
static inline void build_probe_image(struct real *r, const char *marker)
{
    char directory[] = "/tmp/benchctl-probe-XXXXXX";

    assert_non_null(mkdtemp(directory));
    assert_int_equal(
        shell("gcc -O1 -static -o %s/probe %s/wire/engine/fixtures/probe.c", directory, TESTS_DIR), 0);
    assert_int_equal(
        shell("printf 'FROM scratch\\nARG MARKER=none\\nLABEL marker=$MARKER\\nCOPY probe /probe\\n"
              "COPY probe /tmp/probe\\nENTRYPOINT [\"/probe\"]\\n' >%s/Dockerfile",
              directory),
        0);
    struct text_pair arg = {.key = "MARKER", .value = marker};
    struct text_map args = {.items = &arg, .len = 1};
    struct engine_build build = {.context = directory, .args = &args};
    must(engine_image_build(r->lab.engine, &build, &probe_image, &why));
    assert_int_equal(shell("rm -r %s", directory), 0);
}

static inline int real_setup(void **state)
{
    static int counter;
    struct real *r = xcalloc(1, sizeof(*r));

    *state = NULL;
    if (!engine_is_there()) {
        free(r);
        return 0;
    }
    lab_start(&r->lab);
    must(engine_open(r->lab.loop, r->lab.http, "unix:///var/run/docker.sock", &r->lab.engine, &why));
    snprintf(r->run, sizeof(r->run), "wiretest%d-%d", (int)getpid(), counter++);
    engine_owner_label(r->owner);
    r->pairs[0] = (struct text_pair){.key = LABEL_RUN, .value = r->run};
    r->pairs[1] = (struct text_pair){.key = LABEL_OWNER, .value = r->owner};
    r->pairs[2] = (struct text_pair){.key = LABEL_ROLE, .value = "app"};
    r->labels = (struct text_map){.items = r->pairs, .len = 3};
    if (!probe_image)
        build_probe_image(r, "yes");
    r->image = probe_image;
    *state = r;
    return 0;
}

/* Removes what is left, then proves that nothing is. */
static inline int real_teardown(void **state)
{
    struct real *r = *state;
    struct engine_objects left = {0};

    if (!r)
        return 0;
    must(engine_list_ours(r->lab.engine, r->run, &left, &why));
    for (size_t i = 0; i < left.len; i++)
        if (!left.items[i].is_network)
            must(engine_container_remove(r->lab.engine, left.items[i].id, &why));
    for (size_t i = 0; i < left.len; i++)
        if (left.items[i].is_network)
            must(engine_network_remove(r->lab.engine, left.items[i].id, &why));
    engine_objects_release(&left);
    must(engine_list_ours(r->lab.engine, r->run, &left, &why));
    assert_int_equal(left.len, 0);
    engine_objects_release(&left);
    free(r->network);
    lab_end(&r->lab);
    free(r);
    return 0;
}

/* Group teardown: the image goes, too. Another test program may still use the same one, which is fine. */
static inline int real_end(void **state)
{
    (void)state;
    if (probe_image)
        (void)shell("docker rmi %s >/dev/null 2>&1", probe_image);
    free(probe_image);
    probe_image = NULL;
    return 0;
}

static inline struct real *real_or_skip(void **state)
{
    if (!*state) {
        print_message("skipped: no engine at /var/run/docker.sock\n");
        skip();
    }
    return *state;
}

/* A container of the probe: `what` and `number` are its arguments. */
static inline char *create_with(struct real *r, const struct engine_container *wanted, const char *what,
                                const char *number)
{
    static int counter;
    const char *argv[2] = {what, number};
    struct text_list command = {.items = argv, .len = number ? 2 : 1};
    struct engine_container c = *wanted;
    CLEANUP_FREE char *name = xasprintf("%s-c%d", r->run, counter++);
    CLEANUP_FREE char *warnings = NULL;
    char *id;

    c.name = c.name ? c.name : name;
    c.image = r->image;
    c.labels = &r->labels;
    c.command = &command;
    c.cpus = c.cpus > 0 ? c.cpus : NAN;
    c.network = c.network ? c.network : "none";
    c.shm_bytes = c.shm_bytes > 0 ? c.shm_bytes : SCHEMA_ABSENT;
    must(engine_container_create(r->lab.engine, &c, &id, &warnings, &why));
    return id;
}

static inline char *create(struct real *r, const char *what, const char *number)
{
    return create_with(r, &(struct engine_container){0}, what, number);
}

static inline char *status_of(struct real *r, const char *id)
{
    static char status[32];
    struct engine_state s;

    must(engine_container_inspect(r->lab.engine, id, &s, &why));
    snprintf(status, sizeof(status), "%s", s.status);
    engine_state_release(&s);
    return status;
}

#endif
