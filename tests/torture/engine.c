/* SPDX-License-Identifier: MIT */
/*
 * The stand-in engine as a program: it keeps containers and networks from one benchctl to the next. Beside
 * its own it holds foreign ones that nobody may touch. First it prints the engine's URL and the port of an
 * application that answers everything; then it answers each line of its input with one of its own:
 *
 *   left      what is there that benchctl made, as "container NAME, network NAME"; or empty
 *   foreign   how many of the foreign ones are gone
 *   created   how many containers were made so far
 *   calls     how many requests there were so far
 *   orphan DIR RUN OWNER   makes a container and a network with such labels, as of a benchctl that has died
 *   guest DIR RUN OWNER    the same, but foreign
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "benchctl/engine.h"
#include "standin_internal.h"

#define GUESTS_MAX 32

static const char *guests[GUESTS_MAX];
static size_t guest_count;

static void add_guest(struct standin *f, bool is_network, const char *const *labels)
{
    CLEANUP_FREE char *name = xasprintf("guest-%zu", guest_count);

    if (guest_count == GUESTS_MAX)
        abort();
    guests[guest_count++] = standin_foreign(f, is_network, name, labels);
}

/* Those of somebody else: without a label, or of a benchctl that is alive (this process is as good as one),
 * or of one of which nobody can tell. */
static void add_guests(struct standin *f)
{
    char owner[ENGINE_OWNER_SIZE];
    CLEANUP_FREE char *alive = xasprintf(LABEL_OWNER "=%s", engine_owner_label(owner));
    const char *const living[] = {LABEL_RUN "=feedfeedfeed", alive, LABEL_DIR "=/elsewhere",
                                  LABEL_ROLE "=app", NULL};
    const char *const other_host[] = {LABEL_RUN "=feedfeedfeed", LABEL_OWNER "=another-host:1:1",
                                      LABEL_ROLE "=app", NULL};
    const char *const nobody[] = {LABEL_RUN "=feedfeedfeed", NULL};
    const char *const others[] = {"com.example=1", NULL};
    const char *const *const all[] = {living, other_host, nobody, others, NULL};

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        add_guest(f, false, all[i]);
        add_guest(f, true, all[i]);
    }
}

static size_t guests_gone(struct standin *f)
{
    size_t gone = 0;

    for (size_t i = 0; i < guest_count; i++)
        gone += !standin_exists(f, guests[i]);
    return gone;
}

/* Two objects with labels as a benchctl writes them. */
static void plant(struct standin *f, const char *line, bool guest)
{
    char dir[1024], run[128], owner[256];

    if (sscanf(line, "%*s %1023s %127s %255s", dir, run, owner) != 3)
        abort();
    CLEANUP_FREE char *of_dir = xasprintf(LABEL_DIR "=%s", dir), *of_run = xasprintf(LABEL_RUN "=%s", run),
                      *of_owner = xasprintf(LABEL_OWNER "=%s", owner);
    const char *const labels[] = {of_dir, of_run, of_owner, LABEL_ROLE "=app", NULL};
    for (int network = 0; network <= 1; network++) {
        if (guest) {
            add_guest(f, network == 1, labels);
            continue;
        }
        const char *id = standin_foreign(f, network == 1, "orphan", labels);
        (void)pthread_mutex_lock(&f->lock);
        standin_find(f, id)->foreign = false;
        (void)pthread_mutex_unlock(&f->lock);
    }
}

static void answer(struct standin *f, const char *line)
{
    if (strcmp(line, "left") == 0) {
        CLEANUP_FREE char *names = standin_left_names(f);
        printf("%s\n", names);
    } else if (strcmp(line, "foreign") == 0) {
        printf("%zu\n", guests_gone(f));
    } else if (strcmp(line, "created") == 0) {
        printf("%zu\n", standin_created(f));
    } else if (strcmp(line, "calls") == 0) {
        printf("%zu\n", server_calls(standin_server(f)));
    } else if (strncmp(line, "orphan ", 7) == 0 || strncmp(line, "guest ", 6) == 0) {
        plant(f, line, line[0] == 'g');
        printf("planted\n");
    } else {
        printf("?\n");
    }
    (void)fflush(stdout);
}

static void serve(void **state)
{
    static const struct rule rules[] = {{"*", .reply = {.body = "{}"}}};
    struct server *app = server_start(&(struct server_options){.rules = rules, .rules_len = 1, .tcp = true});
    struct standin *f = standin_start();
    char line[2048];

    (void)state;
    standin_behave(f, "app", (struct behaviour){.log = "app started"});
    standin_behave(f, "mock", (struct behaviour){.log = "mock is listening"});
    add_guests(f);
    printf("%s %d\n", server_url(standin_server(f)), server_port(app));
    (void)fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        answer(f, line);
    }
    standin_end(f);
    server_finish(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(serve)};

    (void)fclose(stderr); /* cmocka's own words */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
