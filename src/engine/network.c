/* SPDX-License-Identifier: MIT */
/* Networks, and everything of ours that the engine holds. */
#include "engine_internal.h"

#define ENDPOINTS_NS (5 * NS_PER_S) /* a removed container's endpoint may linger */
#define UNUSED_SHOWN 8              /* names in a hint */

/* --- what is ours --- */

static char *copy_label(const struct json *labels, const char *key)
{
    const char *text = json_get_text(labels, key);

    return xstrdup(text ? text : "");
}

static char *copy_text(const struct json *o, const char *key)
{
    const char *text = json_get_text(o, key);

    return xstrdup(text ? text : "");
}

static void add_object(struct engine_objects *list, const struct json *j, bool is_network)
{
    const struct json *labels = json_get(j, "Labels");
    const char *name = is_network ? json_get_text(j, "Name") : json_text(json_at(json_get(j, "Names"), 0));
    const char *created = json_get_text(j, "Created");
    struct engine_object o = {.is_network = is_network};

    o.id = copy_text(j, "Id");
    o.name = xstrdup(!name ? "" : *name == '/' ? name + 1 : name);
    o.image = copy_text(j, "Image");
    o.state = copy_text(j, "State");
    o.run = copy_label(labels, LABEL_RUN);
    o.owner = copy_label(labels, LABEL_OWNER);
    o.role = copy_label(labels, LABEL_ROLE);
    o.dir = copy_label(labels, LABEL_DIR);
    o.created_wall_s = created ? clock_parse_rfc3339(created) / NS_PER_S : json_get_int(j, "Created");
    list->items = xrealloc(list->items, (list->len + 1) * sizeof(*list->items));
    list->items[list->len++] = o;
}

static int list_kind(struct engine *e, const char *run, bool networks, struct engine_objects *list,
                     struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf path = STRBUF_INIT;
    CLEANUP(json_free) struct json *reply = NULL;
    const char *what = networks ? "cannot list networks" : "cannot list containers";

    strbuf_adds(&path, networks ? "/networks" : "/containers/json?all=1");
    query_add_filters(&path, LABEL_RUN, run, NULL);
    if (engine_request(e, &(struct engine_request){.path = path.data, .what = what}, &reply, err))
        return -1;
    if (json_type_of(reply) != JSON_TYPE_ARRAY)
        return error_set(err, ERROR_ENVIRONMENT, "%s: the reply is not a list", what);
    for (size_t i = 0; i < json_len(reply); i++) {
        const struct json *j = json_at(reply, i);
        const char *of = json_get_text(json_get(j, "Labels"), LABEL_RUN);
        /* an engine that ignores filters must not make us remove what is not ours */
        if (of && (!run || strcmp(of, run) == 0))
            add_object(list, j, networks);
    }
    return 0;
}

int engine_list_ours(struct engine *e, const char *run, struct engine_objects *ret, struct error *err)
{
    struct engine_objects list = {0};

    if (list_kind(e, run, false, &list, err) || list_kind(e, run, true, &list, err)) {
        engine_objects_release(&list);
        return -1;
    }
    *ret = list;
    return 0;
}

int engine_list_running(struct engine *e, struct engine_objects *ret, struct error *err)
{
    static const char what[] = "cannot list containers";
    CLEANUP(json_free) struct json *reply = NULL;
    struct engine_objects list = {0};

    if (engine_request(e, &(struct engine_request){.path = "/containers/json", .what = what}, &reply, err))
        return -1;
    if (json_type_of(reply) != JSON_TYPE_ARRAY)
        return error_set(err, ERROR_ENVIRONMENT, "%s: the reply is not a list", what);
    for (size_t i = 0; i < json_len(reply); i++)
        add_object(&list, json_at(reply, i), false);
    *ret = list;
    return 0;
}

void engine_objects_release(struct engine_objects *o)
{
    for (size_t i = 0; i < o->len; i++) {
        struct engine_object *one = &o->items[i];
        free(one->id);
        free(one->name);
        free(one->image);
        free(one->state);
        free(one->run);
        free(one->owner);
        free(one->role);
        free(one->dir);
    }
    free(o->items);
    *o = (struct engine_objects){0};
}

/* --- create and remove --- */

static bool pools_used_up(const char *message)
{
    return strcasestr(message, "pool") &&
           (strcasestr(message, "overlap") || strcasestr(message, "subnetted") ||
            strcasestr(message, "exhausted"));
}

/* Names of networks in which nobody is, of whomever; "" when there are none. */
static void unused_networks(struct engine *e, struct strbuf *out)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf path = STRBUF_INIT;
    CLEANUP(json_free) struct json *reply = NULL;
    struct error ignored = ERROR_INIT;
    size_t n = 0;

    strbuf_adds(&path, "/networks");
    query_add(&path, "filters", "{\"dangling\":[\"true\"]}");
    if (engine_request(e, &(struct engine_request){.path = path.data}, &reply, &ignored))
        return;
    for (size_t i = 0; json_type_of(reply) == JSON_TYPE_ARRAY && i < json_len(reply); i++) {
        const char *name = json_get_text(json_at(reply, i), "Name");
        if (name && n++ < UNUSED_SHOWN)
            strbuf_addf(out, "%s%s", out->len ? ", " : "", name);
    }
    if (n > UNUSED_SHOWN)
        strbuf_addf(out, " and %zu more", n - UNUSED_SHOWN);
}

/* Names our own networks that nobody needs any more: they are what can be removed without asking anybody. */
static void hint_stale_networks(struct engine *e, struct error *err)
{
    CLEANUP_VALUE(engine_objects_release) struct engine_objects list = {0};
    CLEANUP_VALUE(strbuf_release) struct strbuf names = STRBUF_INIT;
    struct error ignored = ERROR_INIT;

    if (list_kind(e, NULL, true, &list, &ignored) == 0)
        for (size_t i = 0; i < list.len; i++)
            if (!engine_owner_alive(list.items[i].owner))
                strbuf_addf(&names, "%s%s", names.len ? ", " : "", list.items[i].name);
    if (names.len)
        (void)error_hint(err, "'benchctl clean' removes networks that dead sweeps left: %s", names.data);
    else if (unused_networks(e, &names), names.len)
        (void)error_hint(
            err, "all address pools are taken; networks that nobody uses, of others (docker network rm): %s",
            names.data);
    else
        (void)error_hint(
            err, "all address pools are taken, by networks of others or a VPN: remove unused networks "
                 "(docker network ls), or widen default-address-pools in the engine's daemon.json");
}

int engine_network_create(struct engine *e, const char *name, const struct text_map *labels, char **ret_id,
                          struct error *err)
{
    CLEANUP(json_free) struct json *body = json_new_object(), *reply = NULL;
    CLEANUP_FREE char *what = xasprintf("cannot create network '%s'", name);
    struct json *label_object = json_new_object();

    for (size_t i = 0; labels && i < labels->len; i++)
        json_set_text(label_object, labels->items[i].key, labels->items[i].value);
    json_set_text(body, "Name", name);
    json_set_bool(body, "CheckDuplicate", true);
    json_set_text(body, "Driver", "bridge");
    json_set(body, "Labels", label_object);
    struct engine_request r = {
        .method = "POST", .path = "/networks/create", .json = body, .what = what, .once = true};
    if (engine_request(e, &r, &reply, err)) {
        if (pools_used_up(err->message))
            hint_stale_networks(e, err);
        return -1;
    }
    const char *id = json_get_text(reply, "Id");
    if (!id || !*id)
        return error_set(err, ERROR_ENVIRONMENT, "%s: the reply has no id", what);
    *ret_id = xstrdup(id);
    return 0;
}

int engine_network_remove(struct engine *e, const char *id, struct error *err)
{
    CLEANUP_FREE char *path = engine_path("/networks/", id, "");
    int64_t end_ns = clock_now_ns() + ENDPOINTS_NS;
    char brief[SHORT_ID];

    for (;;) {
        struct error trouble = ERROR_INIT;
        struct engine_request r = {.method = "DELETE", .path = path, .timeout_ns = SLOW_NS};

        if (engine_request(e, &r, NULL, &trouble) == 0 || trouble.kind == ERROR_NOT_FOUND)
            return 0;
        if (!strcasestr(trouble.message, "active endpoints") || clock_now_ns() > end_ns ||
            loop_sleep_until(e->loop, clock_now_ns() + 100 * NS_PER_MS, &trouble)) {
            *err = trouble;
            return error_wrap(err, "cannot remove network '%s'", engine_short_id(id, brief));
        }
    }
}
