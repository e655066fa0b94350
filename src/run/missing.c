/* SPDX-License-Identifier: MIT */
#include "missing.h"

#include <string.h>
#include "benchctl/base/strbuf.h"

#define NAMES_SHOWN 12 /* of one reason; a message is read by people */

void missing_release(struct missing *m)
{
    vec_each (t, &m->things) {
        free(t->kind);
        free(t->name);
        free(t->reason);
    }
    vec_release(&m->things);
}

static bool same_group(const struct missing_thing *a, const struct missing_thing *b)
{
    return strcmp(a->kind, b->kind) == 0 && strcmp(a->reason, b->reason) == 0;
}

void missing_add(struct missing *m, const char *kind, const char *name, const char *reason)
{
    struct missing_thing t = {.kind = xstrdup(kind), .name = xstrdup(name), .reason = xstrdup(reason)};

    vec_each (known, &m->things)
        if (same_group(known, &t) && strcmp(known->name, name) == 0) {
            free(t.kind);
            free(t.name);
            free(t.reason);
            return;
        }
    vec_push(&m->things, t);
}

static bool is_first_of_group(const struct missing *m, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (same_group(&m->things.items[i], &m->things.items[index]))
            return false;
    return true;
}

static void add_group(const struct missing *m, size_t index, struct strbuf *out)
{
    const struct missing_thing *first = &m->things.items[index];
    size_t count = 0;

    for (size_t i = index; i < m->things.len; i++)
        count += same_group(&m->things.items[i], first);
    strbuf_addf(out, count == 1 ? "\n  %s " : "\n  %ss ", first->kind);
    for (size_t i = index, n = 0; i < m->things.len && n < NAMES_SHOWN; i++)
        if (same_group(&m->things.items[i], first))
            strbuf_addf(out, "%s'%s'", n++ ? ", " : "", m->things.items[i].name);
    if (count > NAMES_SHOWN)
        strbuf_addf(out, " and %zu more", count - NAMES_SHOWN);
    strbuf_addf(out, ": %s", first->reason);
}

int missing_error(const struct missing *m, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    for (size_t i = 0; i < m->things.len; i++)
        if (is_first_of_group(m, i))
            add_group(m, i, &text);
    (void)error_set(err, ERROR_ENVIRONMENT, "%zu thing%s missing, nothing was started:%s", m->things.len,
                    m->things.len == 1 ? " is" : "s are", strbuf_text(&text));
    return error_hint(err, "`benchctl run --filter` runs the part of the matrix that is there");
}
