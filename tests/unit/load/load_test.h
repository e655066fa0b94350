/* SPDX-License-Identifier: MIT */
/* What the tests of adapters share: reading one, parsing files, comparing numbers. */
#ifndef TESTS_LOAD_TEST_H
#define TESTS_LOAD_TEST_H

#include "unit/check.h"
#include "support/scratch.h"

#include <math.h>
#include "benchctl/load.h"

/* The same within a relative 1e-6 or the sixth decimal, or both not measured. */
static inline void check_number(const char *what, double is, double wanted)
{
    if (isnan(wanted) ? !isnan(is) : isnan(is) || fabs(is - wanted) > fmax(6e-7, 1e-6 * fabs(wanted)))
        fail_msg("%s: %.10g instead of %.10g", what, is, wanted);
}

/* An adapter of the project, or one that only the tests have. */
static inline struct load_adapter *adapter_of(const char *name)
{
    struct load_adapter *a = NULL;
    struct error err = ERROR_INIT;
    CLEANUP_FREE char *mine = xasprintf("%s/data/adapters/%s.yaml", TESTS_DIR, name);
    CLEANUP_FREE char *path =
        fs_exists(mine) ? xstrdup(mine) : xasprintf("%s/adapters/load/%s.yaml", SOURCE_DIR, name);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (fs_read(path, 1 << 20, &text, &err) < 0 ||
        load_adapter_parse(strbuf_text(&text), text.len, path, &a, &err) < 0)
        fail_msg("%s", err.message);
    return a;
}

/* An adapter from its text. */
static inline int adapter_from(const char *text, struct load_adapter **ret, struct error *err)
{
    return load_adapter_parse(text, strlen(text), "test.yaml", ret, err);
}

/* Where nothing was measured it is a result of which `problems` says so, if that is asked for. */
static inline int parse_file(const struct load_adapter *a, const char *path, struct arena *arena,
                             struct load_result *ret, struct load_problems *problems, struct error *err)
{
    return load_adapter_parse_files(a, &path, 1, NULL, arena, ret, problems, err);
}

/* Where the recorded outputs of all tools are, if they are here. */
static inline const char *shared_dir(void)
{
    const char *dir = getenv("BENCHCTL_SHARED");

    return dir ? dir : SOURCE_DIR "/../shared";
}

#endif
