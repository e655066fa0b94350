/* SPDX-License-Identifier: MIT */
/*
 * What the kernel of this machine says from the trial's begin on: kills for want of memory, by its log and
 * its own counter, and whatever else of its log makes figures doubtful. Only where the containers run under
 * this kernel, and where it may be read.
 */
#include "run_internal.h"

#include <math.h>
#include "benchctl/base/plain_text.h"

#define LINE_SHOWN ((size_t)240) /* of a line in a finding */

void kernel_log_begin(struct trial_run *t)
{
    t->host_kills_before = NAN;
    if (!engine_facts(t->sweep->engine)->local)
        return;
    t->host_kills_before = host_oom_kills();
    t->kernel_log = kernel_log_open(NULL);
    kernel_log_skip(t->kernel_log);
}

void kernel_log_end(struct trial_run *t)
{
    kernel_log_free(TAKE(t->kernel_log));
    vec_release(&t->kills);
    vec_release(&t->kernel_lines);
}

static void keep_line(struct trial_run *t, const char *kind, const char *line)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf plain = STRBUF_INIT;

    vec_each (k, &t->kernel_lines) {
        if (strcmp(k->kind, kind) == 0) {
            k->count++;
            return;
        }
    }
    plain_add(&plain, line, "");
    vec_push(&t->kernel_lines, (struct kernel_lines){
                                   .kind = kind,
                                   .first = arena_strndup(t->arena, strbuf_text(&plain),
                                                          plain.len < LINE_SHOWN ? plain.len : LINE_SHOWN),
                                   .count = 1,
                               });
}

/* Kills have findings of their own. */
static void keep(const char *line, void *data)
{
    struct trial_run *t = data;
    struct oom_line kill;
    bool victim = oom_line_parse(line, &kill);
    enum oom_reason reason = oom_reason_parse(line);
    const char *kind = victim || reason != OOM_NONE ? NULL : kernel_line_kind(line, strlen(line));

    if (victim)
        vec_push(&t->kills, kill);
    t->kills_told[reason]++;
    if (kind)
        keep_line(t, kind, line);
}

static void tell_lines(struct trial_run *t)
{
    vec_each (k, &t->kernel_lines)
        trial_finding(t, &(struct trial_happening){.id = "kernel-log", .role = "host", .count = k->count},
                      "the kernel's log spoke of %s %.0f time%s, first: %s", k->kind, k->count,
                      k->count == 1 ? "" : "s", k->first);
}

void kernel_log_read(struct trial_run *t)
{
    t->host_kills = host_oom_kills() - t->host_kills_before; /* first, so that the log explains all of it */
    if (t->kernel_log)
        (void)kernel_log_each(t->kernel_log, keep, t);
    tell_lines(t);
}

const struct oom_line *kernel_log_kill(const struct trial_run *t, const char *container_id)
{
    const struct oom_line *last = NULL;

    vec_each (k, &t->kills)
        if (container_id && strcmp(k->container, container_id) == 0)
            last = k;
    return last;
}

double kernel_log_kills(const struct trial_run *t, const char *container_id)
{
    double n = 0;

    vec_each (k, &t->kills)
        n += container_id && !k->host && strcmp(k->container, container_id) == 0;
    return n;
}

double kills_of_host(const struct trial_run *t, double own_kills)
{
    double of_host = 0;

    vec_each (k, &t->kills)
        of_host += k->host;
    if (of_host > 0 || t->kills_told[OOM_OF_MACHINE] > 0)
        return fmax(of_host, t->kills_told[OOM_OF_MACHINE]);
    /* the log has an explanation for each, or our own containers are one */
    if (t->kills.len || t->kills_told[OOM_OF_CGROUP] > 0 || own_kills > 0 || isnan(t->host_kills))
        return 0;
    return t->host_kills;
}
