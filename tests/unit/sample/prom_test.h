/* SPDX-License-Identifier: MIT */
/* A scrape, parsed. */
#ifndef TESTS_PROM_TEST_H
#define TESTS_PROM_TEST_H

#include "sample_test.h"

struct parsed {
    struct arena *a;
    struct prom_scrape s;
};

static inline void parsed_release(struct parsed *p)
{
    arena_free(p->a);
}
#define PARSED CLEANUP_VALUE(parsed_release) struct parsed

static inline struct parsed parse_as(const char *bytes, size_t len, const char *type)
{
    struct parsed p = {.a = arena_new()};
    struct error err = ERROR_INIT;

    if (prom_parse(bytes, len, type, p.a, &p.s, &err) < 0)
        fail_msg("%s", err.message);
    return p;
}

static inline const char *label(const struct prom_sample *s, const char *name)
{
    for (size_t i = 0; i < s->label_count; i++)
        if (strcmp(s->labels[i].name, name) == 0)
            return s->labels[i].value;
    return NULL;
}

#endif
