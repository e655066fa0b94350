/* SPDX-License-Identifier: MIT */
/* A container from its settings: the request's JSON, and what to do when the name is taken. */
#include <ctype.h>
#include <math.h>
#include "benchctl/base/units.h"
#include "engine_internal.h"

/* --- the request --- */

static struct json *text_array(const struct text_list *list)
{
    struct json *a = json_new_array();

    for (size_t i = 0; i < list->len; i++)
        json_append(a, json_new_text(list->items[i]));
    return a;
}

static void set_texts(struct json *o, const char *key, const struct text_list *list)
{
    if (list && list->len)
        json_set(o, key, text_array(list));
}

static void set_some_text(struct json *o, const char *key, const char *text)
{
    if (text && *text)
        json_set_text(o, key, text);
}

static struct json *text_object(const struct text_map *map)
{
    struct json *o = json_new_object();

    for (size_t i = 0; map && i < map->len; i++)
        json_set_text(o, map->items[i].key, map->items[i].value);
    return o;
}

static struct json *environment_array(const struct text_map *map)
{
    struct json *a = json_new_array();

    for (size_t i = 0; map && i < map->len; i++) {
        CLEANUP_FREE char *pair = xasprintf("%s=%s", map->items[i].key, map->items[i].value);
        json_append(a, json_new_text(pair));
    }
    return a;
}

static struct json *restart_object(const struct engine_container *c)
{
    static const char *const names[] = {"no", "on-failure", "always", "unless-stopped"};
    struct json *o = json_new_object();

    json_set_text(o, "Name", names[c->restart]);
    if (c->restart == RESTART_ON_FAILURE && c->restart_max > 0)
        json_set_int(o, "MaximumRetryCount", c->restart_max);
    return o;
}

/* `local` costs the writer a third less than json-file; Podman has no such driver and takes json-file for its
 * own. */
static struct json *log_object(const struct engine *e, const struct engine_container *c)
{
    struct json *o = json_new_object(), *config = json_new_object();

    json_set_text(o, "Type", c->quiet_logs ? "none" : e->podman ? "json-file" : "local");
    if (!c->quiet_logs && !e->podman) {
        json_set_text(config, "max-size", "64m");
        json_set_text(config, "max-file", "2");
        json_set_text(config, "compress", "false");
    }
    json_set(o, "Config", config);
    return o;
}

/* MemorySwap is memory and swap together: left unset, an engine would add as much swap as there is memory. */
static void set_limits(struct json *host, const struct engine_container *c)
{
    if (c->memory_bytes > 0) {
        json_set_int(host, "Memory", c->memory_bytes);
        json_set_int(
            host, "MemorySwap",
            c->swap_bytes == SIZE_UNLIMITED ? -1 : c->memory_bytes + (c->swap_bytes > 0 ? c->swap_bytes : 0));
    }
    if (!isnan(c->cpus) && c->cpus > 0)
        json_set_int(host, "NanoCpus", llround(c->cpus * 1e9));
    set_some_text(host, "CpusetCpus", c->cpuset);
    if (c->pids > 0)
        json_set_int(host, "PidsLimit", c->pids);
    if (c->shm_bytes > 0)
        json_set_int(host, "ShmSize", c->shm_bytes);
}

/* "PATH" or "PATH:OPTIONS" of each. */
static void set_tmpfs(struct json *host, const struct text_list *list)
{
    struct json *o;

    if (!list || !list->len)
        return;
    o = json_new_object();
    for (size_t i = 0; i < list->len; i++) {
        const char *text = list->items[i], *colon = strchr(text, ':');
        CLEANUP_FREE char *path = xstrndup(text, colon ? (size_t)(colon - text) : strlen(text));
        json_set_text(o, path, colon ? colon + 1 : "");
    }
    json_set(host, "Tmpfs", o);
}

static struct json *host_object(const struct engine *e, const struct engine_container *c)
{
    struct json *host = json_new_object();

    set_limits(host, c);
    json_set(host, "RestartPolicy", restart_object(c));
    json_set(host, "LogConfig", log_object(e, c));
    json_set_bool(host, "Init", c->init);
    set_some_text(host, "NetworkMode", c->network);
    set_texts(host, "Binds", c->binds);
    set_tmpfs(host, c->tmpfs);
    return host;
}

static void set_alias(struct json *o, const struct engine_container *c)
{
    struct json *aliases, *endpoint, *endpoints, *networking;

    if (!c->alias || !c->network || text_equal(c->network, "host") || text_equal(c->network, "none"))
        return;
    aliases = json_new_array();
    endpoint = json_new_object();
    endpoints = json_new_object();
    networking = json_new_object();
    json_append(aliases, json_new_text(c->alias));
    json_set(endpoint, "Aliases", aliases);
    json_set(endpoints, c->network, endpoint);
    json_set(networking, "EndpointsConfig", endpoints);
    json_set(o, "NetworkingConfig", networking);
}

static struct json *container_object(const struct engine *e, const struct engine_container *c)
{
    struct json *o = json_new_object();

    json_set_text(o, "Image", c->image);
    json_set(o, "Env", environment_array(c->env));
    set_texts(o, "Entrypoint", c->entrypoint);
    set_texts(o, "Cmd", c->command);
    json_set(o, "Labels", text_object(c->labels));
    set_some_text(o, "User", c->user);
    set_some_text(o, "WorkingDir", c->working_dir);
    set_some_text(o, "StopSignal", c->stop_signal);
    json_set(o, "HostConfig", host_object(e, c));
    set_alias(o, c);
    return o;
}

/* --- the name is taken --- */

/* The holder's id as the message quotes it, else the name itself. */
static char *find_holder(const char *message, const char *name)
{
    for (const char *at = strchr(message, '"'); at; at = strchr(at + 1, '"')) {
        size_t len = strspn(at + 1, "0123456789abcdef");

        if (len >= 12 && at[1 + len] == '"')
            return xstrndup(at + 1, len);
    }
    return xstrdup(name);
}

static const char *label_of(const struct json *inspect, const char *key)
{
    return json_get_text(json_get(json_get(inspect, "Config"), "Labels"), key);
}

static const char *holder_name(const struct json *inspect)
{
    const char *name = json_get_text(inspect, "Name");

    return !name ? "?" : *name == '/' ? name + 1 : name;
}

/* 0 when the holder was left by a dead benchctl and has been removed: the name is free. */
static int make_room(struct engine *e, const char *name, struct error *err)
{
    CLEANUP_FREE char *holder = find_holder(err->message, name);
    CLEANUP_VALUE(engine_state_release) struct engine_state state = {0};
    struct error trouble = ERROR_INIT;
    char brief[SHORT_ID];

    if (engine_container_inspect(e, holder, &state, &trouble)) {
        if (trouble.kind == ERROR_NOT_FOUND)
            return 0; /* it went away meanwhile */
        return -1;
    }
    const char *owner = label_of(state.inspect, LABEL_OWNER);
    if (owner && !engine_owner_alive(owner)) {
        note("removing container '%s' (%s), left by a benchctl that is gone", holder_name(state.inspect),
             engine_short_id(holder, brief));
        if (engine_container_remove(e, holder, &trouble) == 0)
            return 0;
        *err = trouble;
        return -1;
    }
    (void)error_set(err, ERROR_CONFLICT, "the name is held by container '%s' (%s), which is %s",
                    holder_name(state.inspect), engine_short_id(holder, brief), state.status);
    err->code = 409;
    if (owner)
        return error_hint(
            err,
            "it belongs to a benchctl that may still be running (%s); benchctl clean removes what is dead",
            owner);
    return error_hint(err, "it is not one of ours: rename or remove it");
}

/* --- create --- */

static char *join_warnings(const struct json *reply)
{
    const struct json *list = json_get(reply, "Warnings");
    struct strbuf out = STRBUF_INIT;

    for (size_t i = 0; json_type_of(list) == JSON_TYPE_ARRAY && i < json_len(list); i++) {
        const char *text = json_text(json_at(list, i));
        if (!text || !*text)
            continue;
        if (out.len)
            strbuf_addc(&out, '\n');
        add_clean(&out, text, strlen(text), false);
    }
    return strbuf_detach(&out);
}

int engine_container_create(struct engine *e, const struct engine_container *c, char **ret_id,
                            char **ret_warnings, struct error *err)
{
    CLEANUP(json_free) struct json *body = container_object(e, c), *reply = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf path = STRBUF_INIT;
    struct error trouble = ERROR_INIT;

    strbuf_adds(&path, "/containers/create");
    query_add(&path, "name", c->name);
    struct engine_request r = {.method = "POST", .path = path.data, .json = body, .once = true};
    if (engine_request(e, &r, &reply, &trouble) &&
        (trouble.kind != ERROR_CONFLICT || make_room(e, c->name, &trouble) ||
         engine_request(e, &r, &reply, &trouble))) {
        *err = trouble;
        return error_wrap(err, "cannot create container '%s'", c->name);
    }
    const char *id = json_get_text(reply, "Id");
    if (!id || !*id)
        return error_set(err, ERROR_ENVIRONMENT, "cannot create container '%s': the reply has no id",
                         c->name);
    *ret_id = xstrdup(id);
    *ret_warnings = join_warnings(reply);
    return 0;
}
