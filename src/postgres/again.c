/* SPDX-License-Identifier: MIT */
#include "again.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/units.h"

#define RETURN_NS (60 * NS_PER_S) /* recovery replays what was written since the last checkpoint: seconds */
#define PAUSE_NS (50 * NS_PER_MS) /* between two looks whether it is back */
#define AGAIN_MAX 2               /* a server that falls over what it is asked would do so for ever */

static bool has_ended(const struct postgres *p)
{
    return p->give_up && *p->give_up;
}

static int64_t earlier(int64_t a_ns, int64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/* Until when a server is waited for that was there at `since_ns`. */
static int64_t patient_until(const struct postgres *p, int64_t since_ns)
{
    return earlier(since_ns + RETURN_NS, earlier(p->patience_ns, p->limit_ns));
}

static int pause_for(struct postgres *p, int64_t until_ns, struct error *err)
{
    static const bool never;
    struct error waited = ERROR_INIT;

    if (loop_wait_either(p->loop, p->give_up ? p->give_up : &never, &never, until_ns, &waited) == 0 ||
        waited.kind == ERROR_TIMEOUT)
        return 0;
    *err = waited;
    return -1;
}

/* What was tried last is what it says, and that it has been waited for. */
static void in_vain(struct postgres *p, int64_t since_ns, const struct error *failed, struct error *err)
{
    char text[32];
    int64_t waited_ns = clock_now_ns() - since_ns;

    *err = *failed;
    if (!p->away && waited_ns > PAUSE_NS)
        (void)error_wrap(err, "the database has not come back within %s", duration_human(waited_ns, text));
    p->away = true;
}

bool postgres_await_return(struct postgres *p, int64_t since_ns, const struct connect_failure *failure,
                           struct error *failed, struct error *err)
{
    int64_t next_ns = clock_now_ns() + PAUSE_NS;

    /* Silence is not a word of its own: a server on its way says so, or its port is closed. */
    if (!failure->not_yet || failed->kind == ERROR_INTERRUPTED || failed->kind == ERROR_TIMEOUT) {
        *err = *failed;
        return false;
    }
    if (p->away || has_ended(p) || next_ns > patient_until(p, since_ns)) {
        in_vain(p, since_ns, failed, err);
        return false;
    }
    return pause_for(p, next_ns, err) == 0;
}

int postgres_persist(struct postgres *p, postgres_act act, void *data, struct error *err)
{
    for (int times = 0;; times++) {
        struct error failed = ERROR_INIT;
        p->lost = false;
        if (act(p, data, &failed) == 0)
            return 0;
        bool hopeless = !p->lost || p->away || has_ended(p) || failed.kind == ERROR_INTERRUPTED ||
                        failed.kind == ERROR_TIMEOUT;
        if (hopeless || times == AGAIN_MAX || clock_now_ns() >= patient_until(p, clock_now_ns())) {
            *err = failed;
            return -1;
        }
    }
}

void postgres_patience(struct postgres *p, int64_t deadline_ns)
{
    p->patience_ns = deadline_ns;
}
