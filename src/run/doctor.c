/* SPDX-License-Identifier: MIT */
/* Is this host fit to measure? Looks at what changes results most; changes nothing: of the engine only GETs
 * are asked. */
#include "doctor.h"

#include <stdio.h>
#include "benchctl/base/clock.h"

#define SHORT_LOOK_NS (500 * NS_PER_MS) /* for what is counted: stolen time, busy processes */
#define NAMES_SHOWN 3                   /* of containers that run beside a sweep */

void doctor_say(struct doctor *d, enum fitness f, const char *name, const char *hint, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    vec_push(&d->lines, (struct doctor_line){
                            .fitness = f,
                            .name = name,
                            .text = arena_strdup(d->arena, text),
                            .hint = f == FITNESS_OK ? NULL : arena_strdup(d->arena, hint),
                        });
}

/* --- engine and leftovers --- */

static void look_at_leftovers(struct doctor *d)
{
    struct clean_counts n = {0};
    struct error err = ERROR_INIT;
    const struct clean_options o = {.dry_run = true};

    if (run_clean(d->engine, &o, NULL, NULL, &n, &err) < 0)
        doctor_say(d, FITNESS_WARN, "leftovers", NULL, "cannot be listed: %s", err.message);
    else if (n.removed)
        doctor_say(d, FITNESS_WARN, "leftovers", "`benchctl clean` removes them",
                   "%d containers or networks of dead sweeps", n.removed);
    else
        doctor_say(d, FITNESS_OK, "leftovers", NULL, "none%s", n.alive ? " (a sweep is running)" : "");
}

/* Containers beside a sweep take processors, memory and disk whenever they like. */
static void look_at_neighbours(struct doctor *d)
{
    struct engine_objects all = {0};
    CLEANUP_VALUE(strbuf_release) struct strbuf names = STRBUF_INIT;
    struct error err = ERROR_INIT;
    size_t others = 0;

    if (engine_list_running(d->engine, &all, &err) < 0) {
        doctor_say(d, FITNESS_WARN, "neighbours", NULL, "cannot be listed: %s", err.message);
        return;
    }
    for (size_t i = 0; i < all.len; i++) {
        if (all.items[i].run[0] || others++ >= NAMES_SHOWN)
            continue;
        strbuf_addf(&names, "%s%s", names.len ? ", " : "", all.items[i].name ? all.items[i].name : "?");
    }
    if (others)
        doctor_say(d, FITNESS_WARN, "neighbours", "stop them while you measure",
                   "%zu other container%s: %s%s", others, others == 1 ? " runs" : "s run",
                   strbuf_text(&names), others > NAMES_SHOWN ? ", ..." : "");
    else
        doctor_say(d, FITNESS_OK, "neighbours", NULL, "no other container runs");
    engine_objects_release(&all);
}

static void look_at_limits(struct doctor *d, const struct engine_facts *f)
{
    if (!f->memory_limit)
        doctor_say(d, FITNESS_FAIL, "cgroups", "boot with the memory controller enabled",
                   "the engine cannot limit memory");
    else if (!f->swap_limit)
        doctor_say(d, FITNESS_WARN, "cgroups", "boot with swapaccount=1, or turn swap off",
                   "version %d; the engine cannot limit swap", f->cgroup_version);
    else
        doctor_say(d, FITNESS_OK, "cgroups", NULL, "version %d, memory and swap limits work",
                   f->cgroup_version);
    if (!f->local)
        doctor_say(d, FITNESS_WARN, "samples", "run benchctl on the engine's host for 10 samples a second",
                   "the engine is remote: memory and CPU come once a second, and this page is about here");
    else if (!d->view.cgroup_version)
        doctor_say(d, FITNESS_WARN, "samples", "mount /sys/fs/cgroup here",
                   "the cgroups' files cannot be read: memory and CPU come once a second");
}

static void look_at_engine(struct doctor *d)
{
    const struct engine_facts *f = engine_facts(d->engine);

    doctor_say(d, FITNESS_OK, "engine", NULL, "%s %s, API %s, %s", f->name ? f->name : "engine", f->version,
               f->api_version, f->storage_driver);
    look_at_limits(d, f);
    look_at_leftovers(d);
    look_at_neighbours(d);
}

/* --- generators --- */

static void look_at_programs(struct doctor *d)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf found = STRBUF_INIT, missing = STRBUF_INIT;

    for (size_t i = 0; d->options->programs && d->options->programs[i]; i++) {
        if (strchr(d->options->programs[i], '/')) /* our own: it is always there */
            continue;
        CLEANUP_FREE char *path = fs_find_program(d->options->programs[i]);
        struct strbuf *list = path ? &found : &missing;
        strbuf_addf(list, "%s%s", list->len ? ", " : "", d->options->programs[i]);
    }
    doctor_say(d, FITNESS_OK, "generators", NULL, "builtin%s%s%s%s", found.len ? ", " : "",
               strbuf_text(&found), missing.len ? "; not on PATH: " : "", strbuf_text(&missing));
}

/* --- all of it --- */

/* Half a second of looking; an interrupted wait only makes it shorter. */
static void look_twice(struct doctor *d)
{
    CLEANUP_VALUE(host_view_release) struct host_view before = {0};
    struct error ignored = ERROR_INIT;

    host_view_take(NULL, NULL, &before);
    int64_t begin_ns = clock_now_ns();
    host_processes_take(&d->processes_before);
    (void)!loop_sleep_until(d->loop, clock_now_ns() + SHORT_LOOK_NS, &ignored);
    d->processes_s = clock_ms_since(begin_ns) / 1e3;
    host_processes_take(&d->processes);
    host_view_take(&before, d->options->dir ? d->options->dir : ".", &d->view);
}

void run_doctor(struct loop *l, const struct doctor_options *o, struct arena *a, struct doctor_report *ret)
{
    struct doctor d = {.arena = a, .loop = l, .options = o};
    CLEANUP(http_free) struct http *h = NULL;
    CLEANUP(engine_close) struct engine *e = NULL;
    struct error err = ERROR_INIT;

    look_twice(&d);
    if (http_new(l, &h, &err) < 0 || engine_open(l, h, o->engine_url, &e, &err) < 0) {
        doctor_say(&d, FITNESS_FAIL, "engine", err.hint, "%s", err.message);
    } else {
        d.engine = e;
        look_at_engine(&d);
    }
    if (!o->plan)
        look_at_programs(&d);
    doctor_look_at_host(&d);
    if (o->plan)
        doctor_look_at_matrix(&d);
    ret->lines = arena_copy(a, d.lines.items, d.lines.len * sizeof(*d.lines.items));
    ret->len = d.lines.len;
    vec_release(&d.lines);
    host_view_release(&d.view);
    host_processes_release(&d.processes_before);
    host_processes_release(&d.processes);
}
