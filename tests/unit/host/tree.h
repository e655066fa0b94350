/* SPDX-License-Identifier: MIT */
/* Trees of /proc and /sys that are made up: one text lists files and what is in them. */
#ifndef BENCHCTL_TESTS_HOST_TREE_H
#define BENCHCTL_TESTS_HOST_TREE_H

#include "support/scratch.h"
#include "unit/check.h"

#include <math.h>
#include "benchctl/host.h"

static inline void tree_file(const char *root, const char *path, const char *bytes, size_t len)
{
    CLEANUP_FREE char *full = xasprintf("%s%s", root, path);
    CLEANUP_FREE char *dir = path_dirname(full);
    struct error err = ERROR_INIT;

    if (fs_mkdirs(dir, &err) < 0 || fs_write(full, bytes, len, &err) < 0)
        fail_msg("%s", err.message);
}

static inline void tree_text(const char *root, const char *path, const char *text)
{
    tree_file(root, path, text, strlen(text));
}

struct tree_entry {
    const char *path, *text;
};

static inline void tree_plant(const char *root, const struct tree_entry *entries, size_t len)
{
    for (size_t i = 0; i < len; i++)
        tree_text(root, entries[i].path, entries[i].text);
    host_set_root(root);
}

static inline int tree_teardown(void **state)
{
    host_set_root(NULL);
    return scratch_teardown(state);
}

#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, tree_teardown)

#endif
