/* SPDX-License-Identifier: MIT */
#include "cgroup_place.h"

#include "benchctl/base/fs.h"

#define PROC_CGROUP_MAX ((size_t)64 << 10)

static const char *const controller_names[CONTROLLERS] = {"memory", "cpuacct", "cpu", "pids", "cpuset"};

void cgroup_place_release(struct cgroup_place *p)
{
    for (size_t i = 0; i < CONTROLLERS; i++) {
        free(p->dir[i]);
        p->dir[i] = NULL;
    }
}

/* Is `name` one of the words of the comma-separated `list`? */
static bool list_has(const char *list, const char *name)
{
    size_t len = strlen(name);

    for (const char *p = list; p; p = strchr(p, ',')) {
        p += *p == ',';
        if (strncmp(p, name, len) == 0 && (p[len] == ',' || p[len] == '\0'))
            return true;
    }
    return false;
}

/* ROOT/HIERARCHY/PATH when it is a directory, else NULL. */
static char *existing_dir(const char *root, const char *hierarchy, const char *path)
{
    char *dir = xasprintf("%s%s%s%s", root, *hierarchy ? "/" : "", hierarchy, path);

    if (fs_is_dir(dir))
        return dir;
    free(dir);
    return NULL;
}

/* A version 1 hierarchy: mounted under the controller's own name or under all of its names. */
static void place_v1(const char *root, const char *controllers, const char *path, struct cgroup_place *ret)
{
    for (size_t i = 0; i < CONTROLLERS; i++) {
        if (ret->dir[i] || !list_has(controllers, controller_names[i]))
            continue;
        ret->dir[i] = existing_dir(root, controller_names[i], path);
        if (!ret->dir[i])
            ret->dir[i] = existing_dir(root, controllers, path);
        ret->version[i] = 1;
    }
}

/* The version 2 hierarchy serves what no version 1 hierarchy does. */
static void place_v2(const char *root, const char *path, struct cgroup_place *ret)
{
    CLEANUP_FREE char *marker = path_join(root, "cgroup.controllers");
    CLEANUP_FREE char *dir = existing_dir(root, fs_exists(marker) ? "" : "unified", path);

    for (size_t i = 0; dir && i < CONTROLLERS; i++) {
        if (ret->dir[i])
            continue;
        ret->dir[i] = xstrdup(dir);
        ret->version[i] = 2;
    }
}

/* Lines are "ID:CONTROLLERS:PATH"; version 2 is "0::PATH" and comes last in our order, wherever it stands. */
static void place_all(const char *root, char *text, struct cgroup_place *ret)
{
    const char *v2_path = NULL;
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;

        if (!path)
            continue;
        *path++ = '\0';
        controllers++;
        if (strncmp(line, "0:", 2) == 0 && !*controllers)
            v2_path = path;
        else
            place_v1(root, controllers, path, ret);
    }
    if (v2_path)
        place_v2(root, v2_path, ret);
}

int cgroup_place_find(const struct cgroup_roots *roots, int64_t pid, struct cgroup_place *ret,
                      struct error *err)
{
    const char *root = roots && roots->cgroup ? roots->cgroup : "/sys/fs/cgroup";
    const char *proc = roots && roots->proc ? roots->proc : "/proc";
    CLEANUP_FREE char *file = xasprintf("%s/%lld/cgroup", proc, (long long)pid);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct cgroup_place place = {0};

    if (fs_read(file, PROC_CGROUP_MAX, &text, err) < 0) {
        err->kind = ERROR_NOT_FOUND; /* ESRCH: it ended while we looked */
        return error_wrap(err, "no cgroup of process %lld", (long long)pid);
    }
    if (text.len)
        place_all(root, text.data, &place);
    if (place.dir[CONTROLLER_MEMORY] || place.dir[CONTROLLER_CPUACCT]) {
        *ret = place;
        return 0;
    }
    cgroup_place_release(&place);
    (void)error_set(err, ERROR_NOT_FOUND, "no cgroup directory of process %lld under '%s'", (long long)pid,
                    root);
    return error_hint(
        err, "the engine may run in another namespace or on another host; its stats are read instead");
}
