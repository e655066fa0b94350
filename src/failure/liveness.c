/* SPDX-License-Identifier: MIT */
#include "benchctl/failure.h"

void liveness_release(struct liveness *l)
{
    vec_release(&l->silences);
    *l = (struct liveness){.after_ns = l->after_ns};
}

/* The silence is over, by an answer or because there is nobody any more who could be silent. One that was
 * answered before it had lasted is none: that was told late. */
static void end_silence(struct liveness *l, int64_t now_ns)
{
    if (!l->unresponsive)
        return;
    struct silence *last = &l->silences.items[l->silences.len - 1];
    last->to_ns = now_ns;
    if (now_ns - last->from_ns < l->after_ns)
        l->silences.len--;
    l->unresponsive = false;
}

void liveness_up(struct liveness *l, int64_t now_ns)
{
    end_silence(l, now_ns);
    l->up = true;
    l->quiet_since_ns = now_ns;
    l->blind_ns = 0;
}

void liveness_down(struct liveness *l, int64_t now_ns)
{
    end_silence(l, now_ns);
    l->up = false;
    l->quiet_since_ns = 0;
}

/* A sign may be told of late, and after a later one: then the next look at the clock finds the silence that
 * began with it. */
void liveness_sign(struct liveness *l, int64_t now_ns)
{
    if (!l->up || now_ns <= l->quiet_since_ns)
        return;
    end_silence(l, now_ns);
    l->quiet_since_ns = now_ns;
    l->blind_ns = 0;
}

void liveness_blind(struct liveness *l, int64_t ns)
{
    if (l->up && !l->unresponsive)
        l->blind_ns += ns;
}

bool liveness_tick(struct liveness *l, int64_t now_ns)
{
    int64_t watched_ns = now_ns - l->quiet_since_ns - l->blind_ns;

    if (!l->up || l->unresponsive || l->after_ns <= 0 || watched_ns < l->after_ns)
        return false;
    l->unresponsive = true;
    vec_push(&l->silences, (struct silence){.from_ns = l->quiet_since_ns});
    return true;
}
