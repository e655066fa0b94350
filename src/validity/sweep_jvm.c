/* SPDX-License-Identifier: MIT */
/*
 * What a JVM chooses for itself depends on its container's limits: a sweep over these compares collectors and
 * heaps as well. Scenarios that differ in one axis only are held against each other.
 */
#include "sweep_internal.h"

#include <math.h>
#include "benchctl/base/name_index.h"

#define HEAP_DIFFERS 0.05 /* of the limit */

struct jvm_arm {
    const char *others, *value; /* of all axes but this one, joined; of this axis */
    const struct jvm_facts *jvm;
    double heap_share; /* of the memory limit; NAN: no limit */
    size_t place;
};

static const struct trial *jvm_trial(const struct arm *a)
{
    for (size_t i = 0; i < a->of->count; i++)
        if (a->of->trials[i]->app.has_jvm)
            return a->of->trials[i];
    return NULL;
}

static const char *other_axes(struct sweep_judge *j, const struct trial *t, const char *axis)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf key = STRBUF_INIT;

    for (size_t i = 0; i < t->axis_count; i++)
        if (!text_equal(t->axes[i].axis, axis))
            strbuf_addf(&key, "%s=%s\n", t->axes[i].axis, t->axes[i].value);
    return arena_strdup(j->arena, strbuf_text(&key));
}

static int by_others(const void *left, const void *right)
{
    const struct jvm_arm *a = left, *b = right;
    int order = strcmp(a->others, b->others);

    return order ? order : a->place < b->place ? -1 : a->place > b->place;
}

static struct jvm_arm *collect(struct sweep_judge *j, const char *axis, size_t *ret_len)
{
    struct jvm_arm *found = arena_array(j->arena, struct jvm_arm, j->len + 1);
    size_t len = 0;

    for (size_t i = 0; i < j->len; i++) {
        const struct trial *t = jvm_trial(&j->arms[i]);
        const char *value = NULL;
        for (size_t k = 0; t && k < t->axis_count; k++)
            if (text_equal(t->axes[k].axis, axis))
                value = t->axes[k].value;
        if (!value)
            continue;
        double limit = t->app.effective.memory_bytes;
        found[len++] =
            (struct jvm_arm){other_axes(j, t, axis), value, &t->app.jvm,
                             isfinite(limit) && limit > 0 ? t->app.jvm.heap_max_bytes / limit : NAN, i};
    }
    if (len)
        qsort(found, len, sizeof(*found), by_others);
    *ret_len = len;
    return found;
}

/* --- one property --- */

/* As text; NULL: not known, or chosen by hand. */
typedef const char *property_fn(struct sweep_judge *j, const struct jvm_arm *a);

static const char *collector(struct sweep_judge *j, const struct jvm_arm *a)
{
    const char *options = a->jvm->options;

    (void)j;
    for (const char *use = options ? strstr(options, "-XX:+Use") : NULL; use;
         use = strstr(use + 1, "-XX:+Use")) {
        size_t len = strcspn(use, " \t,");
        if (len > 2 && strncmp(use + len - 2, "GC", 2) == 0)
            return NULL; /* somebody chose it */
    }
    return a->jvm->collector;
}

static const char *processors(struct sweep_judge *j, const struct jvm_arm *a)
{
    return isnan(a->jvm->cpus) ? NULL : arena_printf(j->arena, "%.0f", a->jvm->cpus);
}

static const char *heap(struct sweep_judge *j, const struct jvm_arm *a)
{
    const char *options = a->jvm->options;

    if (isnan(a->heap_share) || (options && (strstr(options, "-Xmx") || strstr(options, "MaxHeapSize"))))
        return NULL;
    return arena_printf(j->arena, "%.0f %%", 100 * round(a->heap_share / HEAP_DIFFERS) * HEAP_DIFFERS);
}

struct choice {
    const char *chosen;
    struct names_list at;
};

/* The different choices of the scenarios from `begin` to `end`; 0 or 1: nothing changes. */
static size_t choices_of(struct sweep_judge *j, const struct jvm_arm *begin, const struct jvm_arm *end,
                         property_fn *property, struct choice *ret, size_t max)
{
    size_t len = 0;

    for (const struct jvm_arm *a = begin; a < end; a++) {
        const char *chosen = property(j, a);
        size_t at = 0;
        if (!chosen)
            continue;
        while (at < len && !text_equal(ret[at].chosen, chosen))
            at++;
        if (at == max)
            continue;
        if (at == len)
            ret[len++] = (struct choice){.chosen = chosen};
        names_add(&ret[at].at, a->value);
    }
    return len;
}

static const char *choices_text(struct sweep_judge *j, struct choice *choices, size_t len)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    for (size_t i = 0; i < len; i++)
        strbuf_addf(&text, "%s%s at %s", i ? "; " : "", choices[i].chosen,
                    names_text(&choices[i].at, j->arena));
    return arena_strdup(j->arena, strbuf_text(&text));
}

enum { CHOICES_MAX = 8 };

/* Says the first combination of the other axes in which it changes, and how many more there are. */
static bool judge_property(struct sweep_judge *j, const char *axis, const char *fmt_of, property_fn *property)
{
    size_t len, changing = 0;
    struct jvm_arm *all = collect(j, axis, &len);
    const char *first = NULL;

    for (size_t begin = 0, end; begin < len; begin = end) {
        struct choice choices[CHOICES_MAX] = {0};
        for (end = begin + 1; end < len && text_equal(all[end].others, all[begin].others);)
            end++;
        size_t n = choices_of(j, all + begin, all + end, property, choices, CHOICES_MAX);
        const char *text = choices_text(j, choices, n);
        if (n < 2)
            continue;
        changing++;
        if (!first)
            first = text;
    }
    if (!changing)
        return false;
    const char *more = changing > 1
                           ? arena_printf(j->arena, " (and so in %zu more combination%s of the other axes)",
                                          changing - 1, changing > 2 ? "s" : "")
                           : "";
    sweep_say(j, "jvm-ergonomics", "WARN", "along %s: %s%s: the sweep compares %s too", axis, first, more,
              fmt_of);
    return true;
}

void judge_jvm(struct sweep_judge *j)
{
    struct name_index axes = NAME_INDEX_INIT;
    size_t jvms = 0;
    bool said = false, new;

    for (size_t i = 0; i < j->len; i++) {
        const struct trial *t = jvm_trial(&j->arms[i]);
        jvms += t != NULL;
        for (size_t k = 0; t && k < t->axis_count; k++) {
            const char *axis = t->axes[k].axis;
            if (!axis)
                continue;
            (void)name_index_put(&axes, axis, 0, &new);
            if (!new)
                continue;
            said |= judge_property(j, axis, "collectors", collector);
            said |= judge_property(j, axis, "shares of the memory for the heap", heap);
            said |= judge_property(j, axis, "numbers of processors that the JVM sees", processors);
        }
    }
    if (jvms > 1 && !said)
        sweep_say(j, "jvm-ergonomics", "PASS",
                  "in %zu scenarios the JVM chose the same collector, share of memory and processors", jvms);
    name_index_release(&axes);
}
