/* SPDX-License-Identifier: MIT */
/* What a database's own figures add to what logs tell of it: one finding for each fault, whoever's log had
 * it. */
#include "database_slots.h"

#include <math.h>
#include "run_internal.h"

/* --- connections --- */

int slots_room(const struct slots *s)
{
    int room = s->max_connections - s->reserved - s->own;

    return room > 0 ? room : 0;
}

/* Who took them? Absolved is the application where its pools are asked to be larger than the server, and
 * where others are there. */
static const char *whose_slots(const struct slots *s, struct arena *a)
{
    int room = slots_room(s);

    if (s->declared > room)
        return arena_printf(a,
                            "the pools that the matrix declares (%lld) are larger than that, which is not "
                            "the framework's doing",
                            (long long)s->declared);
    const char *beyond =
        s->open > room ? arena_printf(a,
                                      " (%.0f more than are left: a superuser's sessions take reserved ones, "
                                      "and benchctl's while they are free)",
                                      s->open - room)
                       : "";
    if (s->declared > 0 && s->open > (double)s->declared)
        return arena_printf(a, "the application opened more than the %lld that it declares%s",
                            (long long)s->declared, beyond);
    if (s->nobody_else || s->open >= room)
        return arena_printf(a,
                            "the application took them%s: its pools, or sessions that it does not give back, "
                            "are more than the server has room for",
                            beyond);
    return "others share this server: who held the rest when a connection was refused is not known";
}

const char *slots_story(const struct slots *s, struct arena *a)
{
    const char *reserved = s->reserved == s->superuser_reserved
                               ? "for superusers"
                               : arena_printf(a, "(%d for superusers)", s->superuser_reserved);
    const char *open = isnan(s->open) ? "how many it had is not known"
                                      : arena_printf(a, "which had %.0f open when the load ended", s->open);
    const char *declared =
        s->declared > 0 ? arena_printf(a, " (declared: %lld)", (long long)s->declared) : "";

    return arena_printf(a,
                        "max_connections is %d: %d reserved %s, %d of benchctl, %d left for the "
                        "application, %s%s; %s",
                        s->max_connections, s->reserved, reserved, s->own, slots_room(s), open, declared,
                        whose_slots(s, a));
}

/* --- findings --- */

static bool is_of(const struct finding *f, const char *id)
{
    return strcmp(f->id, id) == 0 && (strcmp(f->role, "database") == 0 || strcmp(f->role, "app") == 0);
}

/*
 * What logs have told already gets the server's own figures. The application's log and the server's tell the
 * same: they become one finding, the database's, with what both said.
 */
static bool amend(struct trial_run *t, const char *id, const char *text, double count)
{
    struct finding *first = NULL;
    size_t kept = 0;

    for (size_t i = 0; i < t->findings.len; i++) {
        struct finding f = t->findings.items[i];
        if (!is_of(&f, id)) {
            t->findings.items[kept++] = f;
        } else if (!first) {
            first = &t->findings.items[kept++];
            *first = f;
        } else {
            first->message = arena_printf(t->arena, "%s; %s", first->message, f.message);
            first->at_ms = fmin(first->at_ms, f.at_ms); /* NAN only when both are */
            if (strcmp(f.role, "database") == 0)
                first->count = f.count;
        }
    }
    t->findings.len = kept;
    if (!first)
        return false;
    first->role = "database";
    first->message = arena_printf(t->arena, "%s; %s", text, first->message);
    if (!isnan(count))
        first->count = count;
    return true;
}

static void tell_deadlocks(struct trial_run *t)
{
    double n = t->record.database.deadlocks;
    const struct trial_happening h = {.id = "deadlock", .role = "database", .count = n};

    if (!(n > 0))
        return;
    const char *text =
        arena_printf(t->arena,
                     "the database resolved %.0f deadlock%s by rolling back a transaction, by its own "
                     "counter: the order of locks is to blame, not the framework's speed",
                     n, n == 1 ? "" : "s");
    if (!amend(t, h.id, text, n))
        trial_finding(t, &h, "%s", text);
}

/* Refusals are in the log; used up slots are also seen by themselves. */
static void tell_slots(struct trial_run *t)
{
    const struct postgres_facts *f = postgres_facts(t->sweep->postgres);
    const struct database_settings *d = t->settings->database;
    const struct slots s = {
        .max_connections = f->max_connections,
        .reserved = f->reserved,
        .superuser_reserved = f->superuser_reserved,
        .own = DATABASE_OWN_SESSIONS,
        .open = t->record.database.connections,
        .declared = d->connections > 0 ? d->connections : 0,
        .nobody_else = d->service != NULL,
    };
    const struct trial_happening h = {
        .id = "connection-limit", .role = "database", .at_ns = t->load_end_ns, .count = s.open};
    const char *text = slots_story(&s, t->arena);

    if (amend(t, h.id, text, NAN))
        return;
    if (s.open + 1 >= f->max_connections - f->reserved) /* and the one of ours that stays */
        trial_finding(t, &h, "%s", text);
}

void database_tell_faults(struct trial_run *t)
{
    tell_deadlocks(t);
    tell_slots(t);
}
