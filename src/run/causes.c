/* SPDX-License-Identifier: MIT */
/* What the logs know about why a trial failed, for its one sentence. Pure. */
#include "run_internal.h"

#include <stdio.h>
#include "benchctl/failure.h"

#define CAUSES_MAX 3 /* more do not explain more */

/* Whose client gave up: that follows from a failure, and is none. The JVM's own are told by
 * add_exhaustion(). */
static bool explains(const struct log_kind *k)
{
    static const char *const others[] = {"statement-cancelled", "java-heap", "java-metaspace",
                                         "java-direct-memory", "java-native-thread"};

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (strcmp(k->id, others[i]) == 0)
            return false;
    return true;
}

static bool is_found(const struct trial_run *t, const char *id)
{
    vec_each (f, &t->findings)
        if (strcmp(f->id, id) == 0)
            return true;
    return false;
}

const char *causes_in_logs(const struct trial_run *t)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    int n = 0;

    for (size_t i = 0; i < log_kind_count && n < CAUSES_MAX; i++) {
        if (!explains(&log_kinds[i]) || !is_found(t, log_kinds[i].id))
            continue;
        strbuf_addf(&text, "; %s", log_kinds[i].title);
        n++;
    }
    return text.len ? arena_strdup(t->arena, text.data) : "";
}
