/* SPDX-License-Identifier: MIT */
/* The end of a removal: an engine may refuse it for a moment, be at it already, or want a paused container to
 * run first. All of it is bounded; what does not go is somebody else's to remember. */
#include "engine_internal.h"

#define PAUSE_FIRST_NS (10 * NS_PER_MS)
#define PAUSE_LAST_NS (200 * NS_PER_MS)
/* "device or resource busy" and its like are over in a moment, or never. */
#define REFUSED_TIMES 3
#define REFUSED_PAUSE_NS (250 * NS_PER_MS) /* doubled each time */

/* The name is free and its cgroup gone only when the engine no longer knows it. */
static int wait_until_gone(struct engine *e, const char *id, int64_t deadline_ns, struct error *err)
{
    CLEANUP_FREE char *path = engine_path("/containers/", id, "/json");
    int64_t begin_ns = clock_now_ns(), end_ns = begin_ns + GONE_NS, pause_ns = PAUSE_FIRST_NS;

    end_ns = deadline_ns < end_ns ? deadline_ns : end_ns;
    for (;;) {
        struct error missing = ERROR_INIT;

        if (engine_request(e, &(struct engine_request){.path = path}, NULL, &missing)) {
            if (missing.kind == ERROR_NOT_FOUND)
                return 0;
            *err = missing;
            return -1;
        }
        if (clock_now_ns() > end_ns)
            return error_set(err, ERROR_TIMEOUT, "it is still there after %.0f s",
                             clock_ms_since(begin_ns) / 1e3);
        if (loop_sleep_until(e->loop, clock_now_ns() + pause_ns, err))
            return -1;
        pause_ns = pause_ns < PAUSE_LAST_NS ? pause_ns * 2 : pause_ns;
    }
}

static int ask_again(struct engine *e, const char *id, int64_t deadline_ns, struct error *err)
{
    CLEANUP_FREE char *path = engine_path("/containers/", id, "?force=1&v=1");
    int64_t left_ns = deadline_ns == LOOP_FOREVER ? SLOW_NS : deadline_ns - clock_now_ns();

    if (left_ns <= 0)
        return -1; /* what is told already stays */
    struct error trouble = ERROR_INIT;
    struct engine_request r = {
        .method = "DELETE", .path = path, .timeout_ns = left_ns < SLOW_NS ? left_ns : SLOW_NS};
    if (engine_request(e, &r, NULL, &trouble) == 0)
        return 0;
    *err = trouble;
    return -1;
}

static void unpause(struct engine *e, const char *id)
{
    CLEANUP_FREE char *path = engine_path("/containers/", id, "/unpause");
    struct error ignored = ERROR_INIT;

    (void)!engine_request(e, &(struct engine_request){.method = "POST", .path = path}, NULL, &ignored);
}

static bool is_under_way(const struct error *err)
{
    return err->kind == ERROR_CONFLICT && strcasestr(err->message, "in progress");
}

int engine_finish_remove(struct engine *e, const char *id, int status, const char *reply, int64_t deadline_ns,
                         struct error *err)
{
    struct error refused = ERROR_INIT;
    int64_t pause_ns = REFUSED_PAUSE_NS;
    int rc = engine_status_ok(status) ? 0 : engine_refusal(status, reply, strlen(reply), &refused);

    for (int times = 1; rc < 0; times++) {
        if (refused.kind == ERROR_NOT_FOUND)
            return 0;
        if (is_under_way(&refused))
            break;
        bool paused = strcasestr(refused.message, "paused");
        if (paused)
            unpause(e, id);
        bool passing = paused || refused.code >= LEAST_FAULT || refused.kind == ERROR_TIMEOUT;
        if (!passing || times >= REFUSED_TIMES || clock_now_ns() + pause_ns >= deadline_ns) {
            *err = refused;
            return -1;
        }
        if (loop_sleep_until(e->loop, clock_now_ns() + pause_ns, err))
            return -1;
        pause_ns *= 2;
        rc = ask_again(e, id, deadline_ns, &refused);
    }
    return wait_until_gone(e, id, deadline_ns, err);
}
