/* SPDX-License-Identifier: MIT */
/* What inspect says about a container, as numbers. */
#include <math.h>
#include "benchctl/base/units.h"
#include "engine_internal.h"

static char *copy_text(const struct json *o, const char *key)
{
    const char *text = json_get_text(o, key);

    return xstrdup(text ? text : "");
}

static void read_process(const struct json *state, struct engine_state *s)
{
    s->status = copy_text(state, "Status");
    s->running = json_get_bool(state, "Running");
    s->restarting = json_get_bool(state, "Restarting");
    s->oom_killed = json_get_bool(state, "OOMKilled");
    s->paused = json_get_bool(state, "Paused");
    s->dead = json_get_bool(state, "Dead");
    s->exit_code = (int)json_get_int(state, "ExitCode");
    s->pid = json_get_int(state, "Pid");
    s->error = copy_text(state, "Error");
    s->started_at = copy_text(state, "StartedAt");
    s->finished_at = copy_text(state, "FinishedAt");
    s->started_wall_ns = clock_parse_rfc3339(s->started_at);
    s->finished_wall_ns = clock_parse_rfc3339(s->finished_at);
}

static void read_health(const struct json *state, struct engine_state *s)
{
    const char *health = json_get_text(json_get(state, "Health"), "Status");

    if (health && *health && !text_equal(health, "none"))
        s->health = xstrdup(health);
}

/* Absent and unlimited differ: an engine that does not say is not believed to have no limit. */
static int64_t limit_of(const struct json *host, const char *key)
{
    const struct json *j = json_get(host, key);
    int64_t value = json_get_int(host, key);

    if (!host || (j && json_type_of(j) != JSON_TYPE_NULL && !json_is_int(j)))
        return SCHEMA_ABSENT;
    return value > 0 ? value : SIZE_UNLIMITED;
}

static int64_t swap_of(const struct json *host, int64_t memory_bytes)
{
    int64_t both = json_get_int(host, "MemorySwap");

    if (!json_is_int(json_get(host, "MemorySwap")))
        return SCHEMA_ABSENT;
    if (both < 0 || memory_bytes == SIZE_UNLIMITED)
        return SIZE_UNLIMITED;
    return both >= memory_bytes && memory_bytes > 0 ? both - memory_bytes : SCHEMA_ABSENT;
}

static double cpus_of(const struct json *host)
{
    int64_t nano = json_get_int(host, "NanoCpus"), quota = json_get_int(host, "CpuQuota");
    int64_t period = json_get_int(host, "CpuPeriod");

    if (nano > 0)
        return (double)nano / 1e9;
    if (quota > 0)
        return (double)quota / (double)(period > 0 ? period : 100000);
    return NAN;
}

static void read_limits(const struct json *host, struct engine_state *s)
{
    s->memory_bytes = limit_of(host, "Memory");
    s->swap_bytes = swap_of(host, s->memory_bytes);
    s->pids = limit_of(host, "PidsLimit");
    s->cpus = cpus_of(host);
    s->cpuset = copy_text(host, "CpusetCpus");
}

static const char *address_of(const struct json *endpoint)
{
    const char *four = json_get_text(endpoint, "IPAddress"),
               *six = json_get_text(endpoint, "GlobalIPv6Address");

    return four && *four ? four : six && *six ? six : NULL;
}

/* The network that it was created with is named by id or name; containers of ours have one network. */
static void read_address(const struct json *inspect, struct engine_state *s)
{
    const struct json *networks = json_get(json_get(inspect, "NetworkSettings"), "Networks");
    const char *mode = json_get_text(json_get(inspect, "HostConfig"), "NetworkMode");
    const char *found = NULL;

    if (json_type_of(networks) != JSON_TYPE_OBJECT)
        return;
    for (void *it = json_iter(networks); it; it = json_iter_next(networks, it)) {
        const struct json *endpoint = json_iter_value(it);
        const char *address = address_of(endpoint);
        bool wanted =
            text_equal(json_iter_key(it), mode) || text_equal(json_get_text(endpoint, "NetworkID"), mode);

        if (address && (wanted || !found))
            found = address;
        if (address && wanted)
            break;
    }
    if (found)
        s->address = xstrdup(found);
}

int engine_state_parse(const struct json *inspect, struct engine_state *ret, struct error *err)
{
    const struct json *state = json_get(inspect, "State");
    struct engine_state s = {.restart_count = SCHEMA_ABSENT};

    if (json_type_of(state) != JSON_TYPE_OBJECT)
        return error_set(err, ERROR_ENVIRONMENT, "the engine's description of a container has no state");
    read_process(state, &s);
    read_health(state, &s);
    read_limits(json_get(inspect, "HostConfig"), &s);
    read_address(inspect, &s);
    if (json_is_int(json_get(inspect, "RestartCount")))
        s.restart_count = json_get_int(inspect, "RestartCount");
    s.image_id = copy_text(inspect, "Image");
    s.tty = json_get_bool(json_get(inspect, "Config"), "Tty");
    s.inspect = json_clone(inspect);
    *ret = s;
    return 0;
}

void engine_state_release(struct engine_state *s)
{
    free(s->status);
    free(s->error);
    free(s->started_at);
    free(s->finished_at);
    free(s->health);
    free(s->address);
    free(s->image_id);
    free(s->cpuset);
    json_free(s->inspect);
    *s = (struct engine_state){0};
}

int engine_container_inspect(struct engine *e, const char *id, struct engine_state *ret, struct error *err)
{
    CLEANUP_FREE char *path = engine_path("/containers/", id, "/json");
    CLEANUP(json_free) struct json *j = NULL;
    char brief[SHORT_ID];
    CLEANUP_FREE char *what = xasprintf("cannot inspect container '%s'", engine_short_id(id, brief));

    if (engine_request(e, &(struct engine_request){.path = path, .what = what}, &j, err))
        return -1;
    if (engine_state_parse(j, ret, err))
        return error_wrap(err, "%s", what);
    return 0;
}
