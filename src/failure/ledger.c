/* SPDX-License-Identifier: MIT */
/* The ledger's witnesses: events and inspect replies as facts, kept by the engine's clock. What comes twice
 * is one fact, what comes late finds its place. */
#include "ledger_internal.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include "benchctl/base/strbuf.h"

void ledger_release(struct ledger *l)
{
    vec_release(&l->starts);
    vec_release(&l->exits);
    vec_release(&l->readies);
    vec_release(&l->facts);
    vec_release(&l->looks);
    free(l->state_error);
    *l = (struct ledger){0};
}

/* --- events --- */

/* Where a fact of this time and kind belongs: behind those of the same time and kind. */
static size_t place_of(const struct ledger *l, const struct ledger_fact *f)
{
    size_t i = l->facts.len;

    while (i > 0) {
        const struct ledger_fact *before = &l->facts.items[i - 1];
        if (before->wall_ns < f->wall_ns || (before->wall_ns == f->wall_ns && before->kind <= f->kind))
            break;
        i--;
    }
    return i;
}

static bool is_known(const struct ledger *l, const struct ledger_fact *f, size_t place)
{
    while (place-- > 0 && l->facts.items[place].wall_ns == f->wall_ns) {
        const struct ledger_fact *g = &l->facts.items[place];
        if (g->kind == f->kind && g->value == f->value)
            return true;
    }
    return false;
}

/* Does it go on with the burst before it? */
static bool is_burst(struct ledger *l, const struct ledger_fact *f, size_t place)
{
    struct ledger_fact *before = place > 0 ? &l->facts.items[place - 1] : NULL;

    if (f->kind != FACT_OOM || !before || before->kind != FACT_OOM ||
        f->wall_ns - before->last_ns > OOM_BURST_NS)
        return false;
    if (f->wall_ns > before->last_ns)
        before->last_ns = f->wall_ns;
    return true;
}

/* False: nothing new. */
static bool add_fact(struct ledger *l, const struct ledger_fact *f)
{
    size_t place = place_of(l, f);

    if (is_known(l, f, place) || is_burst(l, f, place))
        return false;
    vec_push(&l->facts, *f);
    memmove(&l->facts.items[place + 1], &l->facts.items[place],
            (l->facts.len - 1 - place) * sizeof(*l->facts.items));
    l->facts.items[place] = *f;
    l->start_events += f->kind == FACT_START;
    l->die_events += f->kind == FACT_DIE;
    l->oom_events += f->kind == FACT_OOM;
    return true;
}

static bool is_fact(const struct engine_event *ev, struct ledger_fact *ret)
{
    static const struct {
        const char *action;
        enum ledger_fact_kind kind;
    } kinds[] = {{"start", FACT_START}, {"oom", FACT_OOM}, {"kill", FACT_KILL}, {"die", FACT_DIE}};

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (strcmp(ev->action, kinds[i].action) == 0) {
            *ret = (struct ledger_fact){.kind = kinds[i].kind,
                                        .wall_ns = ev->wall_ns,
                                        .last_ns = ev->wall_ns,
                                        .value = kinds[i].kind == FACT_DIE    ? ev->exit_code
                                                 : kinds[i].kind == FACT_KILL ? ev->signal
                                                                              : 0};
            return true;
        }
    return false;
}

void ledger_event(struct ledger *l, const struct engine_event *ev)
{
    struct ledger_fact f;

    if (!is_fact(ev, &f)) {
        if (strcmp(ev->action, "pause") == 0 || strcmp(ev->action, "unpause") == 0)
            l->paused = ev->action[0] == 'p';
        else if (!text_starts(ev->action, "health_status"))
            return; /* create, attach, exec_*, destroy: nothing that inspect would tell */
        l->stale = true;
        return;
    }
    f.ours = l->ours_to_end;
    l->stale = true;
    if (!add_fact(l, &f))
        return;
    size_t lives = l->starts.len;
    ledger_rebuild(l);
    l->running = l->exits.len < l->starts.len;
    if (l->starts.len > lives && l->running)
        l->terminal = false; /* somebody has started it again */
}

void ledger_gap(struct ledger *l)
{
    l->gap = true;
    l->stale = true;
}

/* --- inspect --- */

static struct ledger_look *look_of(struct ledger *l, int64_t started_ns)
{
    size_t i = l->looks.len;

    while (i > 0 && l->looks.items[i - 1].started_ns > started_ns)
        i--;
    if (i > 0 && l->looks.items[i - 1].started_ns == started_ns)
        return &l->looks.items[i - 1];
    const struct ledger_look fresh = {
        .started_ns = started_ns, .restarts = -1, .ended_ns = -1, .previous_ended_ns = -1};
    vec_push(&l->looks, fresh);
    memmove(&l->looks.items[i + 1], &l->looks.items[i], (l->looks.len - 1 - i) * sizeof(fresh));
    l->looks.items[i] = fresh;
    return &l->looks.items[i];
}

static bool has_ended(const struct engine_state *s)
{
    return s->restarting || !s->running;
}

/*
 * The engine counts a restart when it plans it, and may never come to make it: the least that was shown of
 * one life is the number of restarts before it. While it runs, FinishedAt is that of the life before; once it
 * has ended the first code is the right one, since a restart that fails to start overwrites it.
 */
static void look_at(struct ledger *l, const struct engine_state *s)
{
    struct ledger_look *look = look_of(l, s->started_wall_ns);
    int64_t made = s->restart_count - (s->restarting && s->restart_count > 0);

    if (s->restart_count >= 0 && (look->restarts < 0 || made < look->restarts))
        look->restarts = made;
    if (!has_ended(s)) {
        if (s->finished_wall_ns >= 0 && s->finished_wall_ns < s->started_wall_ns)
            look->previous_ended_ns = s->finished_wall_ns;
        return;
    }
    look->flag |= s->oom_killed;
    if (look->ended_ns >= 0 || s->finished_wall_ns < 0)
        return;
    /* of a process that ends at once the end is stamped before the start */
    look->ended_ns = s->finished_wall_ns > s->started_wall_ns ? s->finished_wall_ns : s->started_wall_ns;
    look->code = s->exit_code;
    look->ours = l->ours_to_end;
}

void ledger_inspect(struct ledger *l, const struct engine_state *s)
{
    l->stale = false;
    if (s->started_at && s->started_wall_ns >= 0)
        look_at(l, s);
    if (s->restart_count >= 0)
        l->restart_count = s->restart_count - (s->restarting && s->restart_count > 0);
    l->distinct_starts = (int)l->looks.len;
    l->oom_flag |= s->oom_killed;
    l->paused = s->paused;
    ledger_rebuild(l);
    l->running = s->running && !s->restarting;
    l->terminal = s->dead || text_equal(s->status, "exited") || text_equal(s->status, "dead") ||
                  text_equal(s->status, "removing");
    if (!s->running && !l->exits.len) /* also of one that never started */
        l->last_code = s->exit_code;
    if (s->error && s->error[0]) {
        free(l->state_error);
        l->state_error = xstrdup(s->error);
    }
}

void ledger_ready(struct ledger *l, int64_t wall_ns)
{
    vec_push(&l->readies, wall_ns);
}

void ledger_gone(struct ledger *l)
{
    l->stale = l->running = false;
    l->terminal = true;
}

/* --- questions --- */

int ledger_restarts(const struct ledger *l, bool *ret_uncertain)
{
    bool unseen = l->gap || (int)l->starts.len != l->start_events;

    if (ret_uncertain) /* RestartCount begins again when somebody else starts it */
        *ret_uncertain = unseen || (l->restart_count && l->restart_count + 1 != l->start_events);
    return l->starts.len ? (int)l->starts.len - 1 : 0;
}

/* In one life: what events told of, and at least the one that ended it. */
static int kills_of(const struct ledger_exit *e)
{
    return e->ooms ? e->ooms : e->oom || e->flag;
}

double ledger_oom_kills(const struct ledger *l, double cgroup_kills)
{
    double seen = 0, told = 0;

    for (size_t i = 0; i < l->exits.len; i++) {
        seen += kills_of(&l->exits.items[i]);
        told += l->exits.items[i].ooms;
    }
    seen += l->oom_events - told; /* of the life that goes on */
    if (l->oom_flag && seen < 1)
        seen = 1;
    return cgroup_kills > seen ? cgroup_kills : seen;
}

int ledger_deaths(const struct ledger *l)
{
    int n = 0;

    for (size_t i = 0; i < l->exits.len; i++)
        n += !l->exits.items[i].by_us;
    return n;
}

/* An engine that shuts down ends its containers as if somebody else had; one that was killed leaves no
 * reason at all, and what ran under it is stopped by the next one. */
static bool has_no_reason_of_its_own(const struct ledger_exit *e)
{
    bool by_signal = e->code <= 0 || e->code == 128 + SIGTERM || e->code == 128 + SIGKILL;

    return !e->by_us && !e->oom && (e->foreign_signal || ((e->inferred || e->by_inspect) && by_signal));
}

bool ledger_engine_restarted(const struct ledger *l, int64_t gap_wall_ns)
{
    for (size_t i = 0; l->gap && i < l->exits.len; i++) {
        const struct ledger_exit *e = &l->exits.items[i];
        bool about_then = llabs(e->wall_ns - gap_wall_ns) < ENGINE_AWAY_NS;
        bool goes_on = i + 1 < l->starts.len;
        if (about_then && has_no_reason_of_its_own(e) && (!goes_on || l->restart_count == 0))
            return true;
    }
    return false;
}
