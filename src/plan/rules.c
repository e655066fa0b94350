/* SPDX-License-Identifier: MIT */
#include "rules.h"

#include <stdlib.h>
#include <string.h>

static int compare_values(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void copy_condition(const struct condition *from, struct arena *a, struct condition *to)
{
    *to = *from;
    to->terms = arena_array(a, struct condition_term, from->len + 1);
    for (size_t t = 0; t < from->len; t++) {
        const struct condition_term *term = &from->terms[t];
        uint32_t *values = arena_array(a, uint32_t, term->len + 1);
        if (term->len)
            memcpy(values, term->values, term->len * sizeof(*values));
        qsort(values, term->len, sizeof(*values), compare_values);
        to->terms[t] = (struct condition_term){.axis = term->axis, .values = values, .len = term->len};
    }
}

struct condition *rules_of_excludes(const struct matrix *m, struct arena *a)
{
    struct condition *rules = arena_array(a, struct condition, m->exclude_count + 1);

    for (size_t i = 0; i < m->exclude_count; i++)
        copy_condition(&m->excludes[i], a, &rules[i]);
    return rules;
}

struct condition *rules_of_overrides(const struct matrix *m, struct arena *a)
{
    struct condition *rules = arena_array(a, struct condition, m->override_count + 1);

    for (size_t i = 0; i < m->override_count; i++)
        copy_condition(&m->overrides[i].when, a, &rules[i]);
    return rules;
}

bool rule_matches(const struct condition *rule, const uint32_t *digits)
{
    for (size_t t = 0; t < rule->len; t++) {
        const struct condition_term *term = &rule->terms[t];
        if (!bsearch(&digits[term->axis], term->values, term->len, sizeof(*term->values), compare_values))
            return false;
    }
    return true;
}
