/* SPDX-License-Identifier: MIT */
/* What logs, probes and witnesses told beside the figures: one line for all trials of which it is true. */
#include "remarks.h"

#include <math.h>

/* Whoever's log they are in, these speak of what surrounds the application (docs/outcomes.md says it of
 * each). */
static const char *const surroundings[] = {
    "stale-session",
    "deadlock",
    "serialization-failure",
    "statement-timeout",
    "lock-timeout",
    "database-gone",
    "database-memory",
    "local-ports",
    "address-in-use",
    "disk-full",
    "shared-memory",
    "name-resolution",
    "host-oom",
    "prepared-transactions",
};

bool finding_of_surroundings(const struct finding *f)
{
    for (size_t i = 0; i < ARRAY_LEN(surroundings); i++)
        if (text_equal(f->id, surroundings[i]))
            return true;
    return false;
}

static void tell(struct remarks *all, const struct trial *t, const struct finding *f)
{
    bool around = finding_of_surroundings(f);
    const char *id = f->id ? f->id : "?", *role = f->role ? f->role : "app";
    const struct said said = {
        .label = arena_printf(all->r->arena, "%s (%s%s): ", id, role,
                              around ? "; not the application's doing" : ""),
        .message = f->message ? f->message : "no message",
        .tone = around ? TONE_PLAIN : TONE_WARN,
        .count = f->count,
        .at_ms = f->at_ms,
    };

    remark_on(all, t, &said);
}

void list_told(struct report *r)
{
    struct remarks all = {.r = r};

    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        for (size_t k = 0; k < c->trial_count; k++)
            for (size_t n = 0; n < c->trials[k]->finding_count; n++)
                tell(&all, c->trials[k], &c->trials[k]->findings[n]);
    }
    struct section *s = write_remarks(&all, "What was found");
    if (s)
        section_line(s, "Times count from the begin of the load.");
}
