/* SPDX-License-Identifier: MIT */
/* Where adapters are. */
#include <dirent.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/strbuf.h"
#include "benchctl/load.h"

/* Beside the program that runs: PREFIX/bin/benchctl has its data in PREFIX/share/benchctl. The caller frees;
 * NULL: unknown. */
static char *beside_program(void)
{
    char program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

    if (n <= 0)
        return NULL;
    program[n] = '\0';
    CLEANUP_FREE char *bin = path_dirname(program);
    CLEANUP_FREE char *prefix = path_dirname(bin);
    return xasprintf("%s/share/benchctl/adapters", prefix);
}

struct list {
    VEC(char *) items;
};

/* Adds a directory that is there and not listed yet; takes `dir` over. */
static void add_directory(struct list *l, char *dir)
{
    bool known = false;

    for (size_t i = 0; dir && i < l->items.len; i++)
        known = known || strcmp(l->items.items[i], dir) == 0;
    if (dir && !known && fs_is_dir(dir))
        vec_push(&l->items, dir);
    else
        free(dir);
}

char **adapter_directories(const char *matrix_dir)
{
    struct list l = {0};
    const char *p = getenv("BENCHCTL_ADAPTERS");

    for (; p && *p; p += strspn(p, ":")) {
        size_t n = strcspn(p, ":");
        add_directory(&l, xstrndup(p, n));
        p += n;
    }
    if (matrix_dir)
        add_directory(&l, path_join(matrix_dir, "adapters"));
    add_directory(&l, beside_program());
    add_directory(&l, xstrdup(BENCHCTL_SOURCE_DATA "/adapters"));
    add_directory(&l, xstrdup(BENCHCTL_INSTALL_DATA "/adapters"));
    vec_push(&l.items, NULL);
    return l.items.items;
}

void adapter_list_free(char **names)
{
    for (size_t i = 0; names && names[i]; i++)
        free(names[i]);
    free(names);
}

void adapter_directories_free(char **dirs)
{
    adapter_list_free(dirs);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_names(struct list *l, const char *dir, const char *kind)
{
    CLEANUP_FREE char *path = path_join(dir, kind);
    CLEANUP(closedir) DIR *d = opendir(path);

    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        if (e->d_name[0] == '.' || !text_ends(e->d_name, ".yaml"))
            continue;
        char *name = xstrndup(e->d_name, strlen(e->d_name) - strlen(".yaml"));
        bool known = false;
        for (size_t i = 0; i < l->items.len; i++)
            known = known || strcmp(l->items.items[i], name) == 0;
        if (known)
            free(name);
        else
            vec_push(&l->items, name);
    }
}

char **adapter_list(char *const *dirs, const char *kind)
{
    struct list l = {0};

    for (size_t i = 0; dirs[i]; i++)
        add_names(&l, dirs[i], kind);
    if (l.items.len)
        qsort(l.items.items, l.items.len, sizeof(char *), by_name);
    vec_push(&l.items, NULL);
    return l.items.items;
}

char **load_adapter_list(char *const *dirs)
{
    return adapter_list(dirs, "load");
}
