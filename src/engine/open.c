/* SPDX-License-Identifier: MIT */
/* Where the engine is, whether it can be talked to, and what it says about itself. */
#include <errno.h>
#include "benchctl/base/fs.h"
#include "engine_internal.h"

#define DEFAULT_URL "unix:///var/run/docker.sock"

/* --- the address --- */

static const char *environment(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static int find_tls_file(struct engine *e, const char *directory, const char *name, const char **ret,
                         struct error *err)
{
    CLEANUP_FREE char *path = path_join(directory, name);

    if (access(path, R_OK) != 0) {
        (void)error_errno(err, ERROR_ENVIRONMENT, errno, "cannot read the TLS file '%s'", path);
        return error_hint(err, "DOCKER_CERT_PATH names the directory of ca.pem, cert.pem and key.pem");
    }
    *ret = arena_strdup(e->arena, path);
    return 0;
}

/* As the docker command: DOCKER_TLS_VERIFY or DOCKER_TLS with DOCKER_CERT_PATH (default ~/.docker). An
 * https:// address without them uses the system's certificates. */
static int set_tls(struct engine *e, bool asked, struct error *err)
{
    const char *directory = environment("DOCKER_CERT_PATH"), *home = environment("HOME");
    CLEANUP_FREE char *fallback = path_join(home ? home : "/root", ".docker");
    bool verify = environment("DOCKER_TLS_VERIFY") || !environment("DOCKER_TLS");

    e->endpoint.verify = verify;
    if (!directory && !asked)
        return 0;
    if (!directory)
        directory = fallback;
    if (verify && find_tls_file(e, directory, "ca.pem", &e->endpoint.ca_file, err))
        return -1;
    if (find_tls_file(e, directory, "cert.pem", &e->endpoint.cert_file, err))
        return -1;
    return find_tls_file(e, directory, "key.pem", &e->endpoint.key_file, err);
}

static int set_remote(struct engine *e, const char *host, bool https, struct error *err)
{
    bool asked = environment("DOCKER_TLS_VERIFY") || environment("DOCKER_TLS");
    size_t len = strcspn(host, "/");
    const char *bracket = memchr(host, ']', len);
    bool has_port = memchr(bracket ? bracket : host, ':', (size_t)(host + len - (bracket ? bracket : host)));
    bool tls = https || asked;

    if (len == 0)
        return error_set(err, ERROR_INVALID, "the engine's address '%s' names no host", e->facts.url);
    e->origin = arena_printf(e->arena, "%s://%.*s%s", tls ? "https" : "http", (int)len, host,
                             has_port ? ""
                             : tls    ? ":2376"
                                      : ":2375");
    return tls ? set_tls(e, asked, err) : 0;
}

static int set_address(struct engine *e, const char *url, struct error *err)
{
    static const struct {
        const char *scheme;
        bool https;
    } remote[] = {{"tcp://", false}, {"http://", false}, {"https://", true}};
    const char *path = text_starts(url, "unix://") ? url + strlen("unix://") : url;

    e->facts.url = arena_strdup(e->arena, url);
    e->endpoint.name = arena_printf(e->arena, "the Docker Engine at '%s'", url);
    if (*path == '/') {
        if (strlen(path) > 107)
            return error_set(err, ERROR_INVALID, "the engine's socket '%s' has too long a path", path);
        e->endpoint.unix_socket = arena_strdup(e->arena, path);
        e->origin = "http://docker";
        e->facts.local = true;
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(remote); i++)
        if (text_starts(url, remote[i].scheme))
            return set_remote(e, url + strlen(remote[i].scheme), remote[i].https, err);
    (void)error_set(err, ERROR_INVALID, "unknown kind of engine address '%s'", url);
    return error_hint(
        err, "unix:///path, tcp://host:port, http:// or https://; for ssh, forward the socket (ssh -L)");
}

/* --- what it says --- */

static const char *keep_text(struct engine *e, const struct json *o, const char *key)
{
    const char *text = json_get_text(o, key);

    return arena_strdup(e->arena, text ? text : "");
}

static void read_version(struct engine *e, const struct json *version)
{
    const struct json *components = json_get(version, "Components");
    const char *name = json_get_text(json_at(components, 0), "Name");

    e->podman = name && strstr(name, "Podman");
    e->facts.name = e->podman ? "Podman" : "Docker Engine";
    e->facts.version = keep_text(e, version, "Version");
    e->facts.api_version = e->prefix + strlen("/v");
}

static void read_info(struct engine *e, const struct json *info)
{
    struct engine_facts *f = &e->facts;
    const char *cgroups = json_get_text(info, "CgroupVersion");

    f->id = keep_text(e, info, "ID");
    f->kernel = keep_text(e, info, "KernelVersion");
    f->storage_driver = keep_text(e, info, "Driver");
    f->cgroup_driver = keep_text(e, info, "CgroupDriver");
    f->os = keep_text(e, info, "OperatingSystem");
    f->cgroup_version = text_equal(cgroups, "1") ? 1 : text_equal(cgroups, "2") ? 2 : 0;
    f->memory_limit = json_get_bool(info, "MemoryLimit");
    f->swap_limit = json_get_bool(info, "SwapLimit");
    f->memory_bytes = json_get_int(info, "MemTotal");
    f->cpus = (int)json_get_int(info, "NCPU");
}

static int negotiate(struct engine *e, struct error *err)
{
    CLEANUP_FREE char *what = xasprintf("%s cannot be used", e->endpoint.name);
    CLEANUP(json_free) struct json *version = NULL;
    char pick[16];

    struct engine_request r = {.path = "/version", .unversioned = true};
    if (engine_request(e, &r, &version, err))
        return err->code >= 300 ? error_wrap(err, "%s", what)
                                : -1; /* a status, or a failure that says it all */
    if (engine_pick_version(json_get_text(version, "MinAPIVersion"), json_get_text(version, "ApiVersion"),
                            pick, err))
        return error_wrap(err, "%s", what);
    e->prefix = arena_printf(e->arena, "/v%s", pick);
    read_version(e, version);
    return 0;
}

/* The engine's clock against ours, to a few milliseconds: its events and logs are asked for in its own time.
 */
static void set_clock_offset(struct engine *e, const struct json *info, int64_t before_ns)
{
    const char *text = json_get_text(info, "SystemTime");
    int64_t theirs_ns = text ? clock_parse_rfc3339(text) : -1;
    int64_t ours_ns = before_ns + (clock_wall_ns() - before_ns) / 2;

    if (theirs_ns > 0)
        e->facts.clock_offset_ns = theirs_ns - ours_ns;
}

int engine_info(struct engine *e, struct json **ret, struct error *err)
{
    struct json *info = NULL;
    struct engine_request r = {.path = "/info", .what = "cannot ask the engine about itself"};

    if (engine_request(e, &r, &info, err))
        return -1;
    if (json_type_of(info) != JSON_TYPE_OBJECT) {
        json_free(info);
        return error_set(err, ERROR_ENVIRONMENT,
                         "cannot ask the engine about itself: the reply is not an object");
    }
    *ret = info;
    return 0;
}

int engine_open(struct loop *l, struct http *h, const char *url, struct engine **ret, struct error *err)
{
    CLEANUP(engine_close) struct engine *e = xcalloc(1, sizeof(*e));
    CLEANUP(json_free) struct json *info = NULL;
    int64_t before_ns;

    e->loop = l;
    e->http = h;
    e->arena = arena_new();
    e->prefix = "";
    e->deadline_ns = LOOP_FOREVER;
    if (!url)
        url = environment("DOCKER_HOST") ? environment("DOCKER_HOST") : DEFAULT_URL;
    if (set_address(e, url, err) || negotiate(e, err))
        return -1;
    before_ns = clock_wall_ns();
    if (engine_info(e, &info, err))
        return -1;
    set_clock_offset(e, info, before_ns);
    read_info(e, info);
    *ret = TAKE(e);
    return 0;
}

void engine_close(struct engine *e)
{
    if (!e)
        return;
    arena_free(e->arena);
    free(e);
}

const struct engine_facts *engine_facts(const struct engine *e)
{
    return &e->facts;
}

void engine_set_deadline(struct engine *e, int64_t deadline_ns)
{
    e->deadline_ns = deadline_ns;
}
