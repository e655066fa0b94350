/* SPDX-License-Identifier: MIT */
/*
 * Lives out of what the witnesses said. All that is known is put on one line of time, by the engine's clock:
 * `start` and `die` events, StartedAt and FinishedAt. Lives follow each other, each begins and ends once:
 * what does not fit in proves one that nobody saw. RestartCount then tells how many more there were.
 */
#include "ledger_internal.h"

#include <math.h>

/* In the order in which they stand when their times are equal. */
enum mark_kind { MARK_PREVIOUS_END, MARK_LOOK, MARK_START, MARK_END, MARK_DIE };

struct mark {
    int64_t wall_ns;
    enum mark_kind kind;
    int code;
    bool ours;
    const struct ledger_look *look;
};

struct life {
    int64_t begin_ns;
    const struct ledger_look *look; /* NULL: inspect has not shown it */
    bool start_event, die_event, inferred, ended;
    struct ledger_exit exit;
};

struct builder {
    VEC(struct mark) marks;
    VEC(struct life) lives;
};

/* --- the line of time --- */

static int by_time(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;

    if (x->wall_ns != y->wall_ns)
        return x->wall_ns < y->wall_ns ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

static void put_marks(struct builder *b, const struct ledger *l)
{
    vec_each (f, &l->facts)
        if (f->kind == FACT_START || f->kind == FACT_DIE)
            vec_push(&b->marks, (struct mark){.wall_ns = f->wall_ns,
                                              .kind = f->kind == FACT_START ? MARK_START : MARK_DIE,
                                              .code = f->value,
                                              .ours = f->ours});
    vec_each (k, &l->looks) {
        vec_push(&b->marks, (struct mark){.wall_ns = k->started_ns, .kind = MARK_LOOK, .look = k});
        if (k->ended_ns >= 0)
            vec_push(
                &b->marks,
                (struct mark){
                    .wall_ns = k->ended_ns, .kind = MARK_END, .code = k->code, .ours = k->ours, .look = k});
        if (k->previous_ended_ns >= 0)
            vec_push(&b->marks, (struct mark){.wall_ns = k->previous_ended_ns, .kind = MARK_PREVIOUS_END});
    }
    if (b->marks.len)
        qsort(b->marks.items, b->marks.len, sizeof(*b->marks.items), by_time);
}

/* --- lives --- */

static struct life *last_life(struct builder *b)
{
    return b->lives.len ? &b->lives.items[b->lives.len - 1] : NULL;
}

static void end_life(struct life *l, int64_t wall_ns, int code, bool ours)
{
    l->ended = true;
    l->exit.wall_ns = wall_ns;
    l->exit.code = code;
    l->exit.by_us = ours;
}

/* It began again, so the one before had ended, though nobody told. */
static struct life *begin_life(struct builder *b, int64_t wall_ns)
{
    struct life *last = last_life(b);

    if (last && !last->ended) {
        end_life(last, wall_ns, -1, false);
        last->exit.inferred = true;
    }
    vec_push(&b->lives, (struct life){.begin_ns = wall_ns});
    return last_life(b);
}

static void on_look(struct builder *b, const struct mark *m)
{
    struct life *l = last_life(b);

    if (!l || l->ended || l->look || m->wall_ns - l->begin_ns > STAMP_LATE_NS)
        l = begin_life(b, m->wall_ns);
    l->look = m->look;
}

/* The event of the start that inspect knew already, or another start. */
static void on_start(struct builder *b, const struct mark *m)
{
    struct life *l = last_life(b);

    if (!l || !l->look || l->start_event || l->die_event || l->inferred ||
        m->wall_ns - l->begin_ns > EVENT_LATE_NS)
        l = begin_life(b, m->wall_ns);
    l->start_event = true;
}

static void on_end(struct builder *b, const struct mark *m)
{
    struct life *l = last_life(b);

    while (l > b->lives.items && l->look != m->look)
        l--;
    if (l->look != m->look || l->die_event)
        return;
    end_life(l, m->wall_ns, m->code, m->ours);
    l->exit.inferred = false;
    l->exit.by_inspect = true;
}

/* A later life has told when the one before it ended, but not how. */
static void on_previous_end(struct builder *b, const struct mark *m)
{
    struct life *l = last_life(b);

    if (!l || l->ended)
        return;
    end_life(l, m->wall_ns, -1, false);
    l->exit.inferred = true;
}

/* Inspect may have been faster than this event: then it is the same end, and its time is the better one. */
static bool is_same_end(const struct life *l, const struct mark *m)
{
    int64_t late_ns = m->wall_ns - l->exit.wall_ns;

    return !l->die_event && (l->exit.by_inspect || l->exit.inferred) &&
           (late_ns < SAME_END_NS || (l->exit.code == m->code && late_ns < EVENT_LATE_NS));
}

static void on_die(struct builder *b, const struct mark *m)
{
    struct life *l = last_life(b);
    int64_t wall_ns = m->wall_ns;

    if (l && l->ended && is_same_end(l, m)) {
        wall_ns = l->exit.wall_ns;
    } else if (!l || l->ended) {
        l = begin_life(b, m->wall_ns);
        l->inferred = true;
    }
    end_life(l, wall_ns, m->code, m->ours);
    l->exit.by_inspect = l->exit.inferred = false;
    l->die_event = true;
}

static void follow_marks(struct builder *b)
{
    static void (*const on[])(struct builder *, const struct mark *) = {
        [MARK_PREVIOUS_END] = on_previous_end,
        [MARK_LOOK] = on_look,
        [MARK_START] = on_start,
        [MARK_END] = on_end,
        [MARK_DIE] = on_die,
    };

    vec_each (m, &b->marks)
        on[m->kind](b, m);
}

/* Inspect's time of death is the truth, a die event's is late. */
static void set_times_of_death(struct builder *b)
{
    vec_each (l, &b->lives)
        if (l->ended && l->die_event && l->look && l->look->ended_ns >= 0 &&
            llabs(l->exit.wall_ns - l->look->ended_ns) < SAME_END_NS)
            l->exit.wall_ns = l->look->ended_ns;
}

/* --- lives that only RestartCount knows of --- */

static void insert_lives(struct builder *b, size_t before, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        const int64_t at_ns = b->lives.items[before].begin_ns;
        const struct life unseen = {
            .begin_ns = at_ns,
            .inferred = true,
            .ended = true,
            .exit = {.wall_ns = at_ns, .code = -1, .inferred = true},
        };
        vec_push(&b->lives, unseen);
        memmove(&b->lives.items[before + 1], &b->lives.items[before],
                (b->lives.len - 1 - before) * sizeof(unseen));
        b->lives.items[before] = unseen;
    }
}

/*
 * Between two lives that inspect has shown, as many restarts as the count grew by; when it did not grow, it
 * began again with a start by hand or of the engine, which it does not count.
 */
static void count_unseen(struct builder *b)
{
    int64_t shown_at = -1, count = -1;

    for (size_t i = 0; i < b->lives.len; i++) {
        const struct ledger_look *look = b->lives.items[i].look;
        if (!look || look->restarts < 0)
            continue;
        int64_t wanted =
            look->restarts > count ? look->restarts - (count < 0 ? 0 : count) : look->restarts + 1;
        int64_t known = (int64_t)i - (shown_at < 0 ? 0 : shown_at);
        if (wanted > known) {
            insert_lives(b, i, wanted - known);
            i += (size_t)(wanted - known);
            look = b->lives.items[i].look;
        }
        shown_at = (int64_t)i;
        count = look->restarts;
    }
}

/* --- kills --- */

/* The life that an event of this moment speaks of. A kill for want of memory is told of a moment after the
 * death; of a life that nobody saw begin only the end before it is known. */
static struct life *life_at(struct builder *b, int64_t wall_ns)
{
    for (size_t i = b->lives.len; i > 1; i--) {
        const struct life *l = &b->lives.items[i - 1];
        int64_t begin_ns = l->inferred ? l[-1].exit.wall_ns + SAME_END_NS : l->begin_ns;
        if (begin_ns <= wall_ns)
            return &b->lives.items[i - 1];
    }
    return b->lives.len ? &b->lives.items[0] : NULL;
}

static void tell_kills(struct builder *b, const struct ledger *l)
{
    vec_each (f, &l->facts) {
        struct life *life = f->kind == FACT_OOM || f->kind == FACT_KILL ? life_at(b, f->wall_ns) : NULL;
        if (life && f->kind == FACT_OOM) {
            life->exit.ooms++;
            life->exit.last_oom_ns = f->last_ns;
        } else if (life && !f->ours) {
            life->exit.foreign_signal = f->value;
            life->exit.foreign_ns = f->wall_ns;
        }
    }
    vec_each (life, &b->lives) {
        struct ledger_exit *e = &life->exit;
        e->flag = life->look && life->look->flag;
        bool near = e->ooms && e->wall_ns - e->last_oom_ns < OOM_BEFORE_DEATH_NS;
        e->oom = life->ended && !e->by_us && e->code == 137 && (near || (e->flag && !e->ooms));
    }
}

void ledger_rebuild(struct ledger *l)
{
    struct builder b = {0};

    put_marks(&b, l);
    follow_marks(&b);
    set_times_of_death(&b);
    count_unseen(&b);
    tell_kills(&b, l);
    l->starts.len = l->exits.len = 0;
    vec_each (life, &b.lives) {
        vec_push(&l->starts, (struct ledger_start){.wall_ns = life->begin_ns, .inferred = life->inferred});
        if (life->ended)
            vec_push(&l->exits, life->exit);
    }
    if (l->exits.len)
        l->last_code = l->exits.items[l->exits.len - 1].code;
    vec_release(&b.marks);
    vec_release(&b.lives);
}

/* --- as a timeline --- */

double ledger_uptime_pct(const struct ledger *l, int64_t begin, int64_t end)
{
    int64_t up = 0;

    if (end <= begin)
        return NAN;
    for (size_t i = 0; i < l->starts.len; i++) {
        int64_t from = l->starts.items[i].wall_ns;
        int64_t to = i < l->exits.len ? l->exits.items[i].wall_ns : end;
        from = from < begin ? begin : from;
        to = to > end ? end : to;
        if (to > from)
            up += to - from;
    }
    double pct = 100.0 * (double)up / (double)(end - begin);
    return pct > 100 ? 100 : pct;
}

static double ms_between(int64_t from_ns, int64_t to_ns)
{
    return (double)(to_ns - from_ns) / (double)NS_PER_MS;
}

void ledger_lives(const struct ledger *l, int64_t origin, struct arena *a, struct container_life **ret,
                  size_t *ret_len)
{
    struct container_life *lives = arena_array(a, struct container_life, l->starts.len + 1);

    for (size_t i = 0; i < l->starts.len; i++) {
        int64_t begin = l->starts.items[i].wall_ns;
        const struct ledger_exit *end = i < l->exits.len ? &l->exits.items[i] : NULL;
        lives[i] = (struct container_life){
            .start_ms = l->starts.items[i].inferred ? NAN : ms_between(origin, begin),
            .ready_ms = NAN,
            .end_ms = end ? ms_between(origin, end->wall_ns) : NAN,
            .down_before_ms =
                i && !l->starts.items[i].inferred ? ms_between(l->exits.items[i - 1].wall_ns, begin) : NAN,
            .requests = NAN,
        };
        vec_each (ready, &l->readies)
            if (isnan(lives[i].ready_ms) && *ready >= begin && (!end || *ready <= end->wall_ns))
                lives[i].ready_ms = ms_between(origin, *ready);
    }
    *ret = lives;
    *ret_len = l->starts.len;
}
