/* SPDX-License-Identifier: MIT */
/*
 * What `java ... -XX:+PrintFlagsFinal -version` prints: one line a flag,
 *     bool UseG1GC                                  = true                    {product} {ergonomic}
 *    uintx MaxHeapSize                             := 134217728               {product}            (8: :=
 * when set) between lines of logs and the version's.
 */
#include "jvm_internal.h"

#include <math.h>
#include "benchctl/base/units.h"

#define ANSWER_LINE_MAX 512

struct answer {
    struct jvm_facts facts;
    double flag_cpus, log_cpus, container_cpus;
    bool flags; /* some flag of a JVM was there */
};

static double number_of(const char *text)
{
    double value;

    return number_scan(text, strspn(text, "0123456789"), &value) ? value : (double)NAN;
}

/* "TYPE NAME = VALUE ..." or ":=". False: not a flag. */
static bool parse_flag(char *line, const char **ret_name, const char **ret_value)
{
    char *rest = NULL;
    const char *type = strtok_r(line, " ", &rest), *name = strtok_r(NULL, " ", &rest),
               *equals = strtok_r(NULL, " ", &rest), *value = strtok_r(NULL, " ", &rest);

    if (!type || !name || !equals || !value || (!text_equal(equals, "=") && !text_equal(equals, ":=")))
        return false;
    *ret_name = name;
    *ret_value = value;
    return true;
}

static void take_flag(struct answer *r, const char *name, const char *value)
{
    static const struct {
        const char *flag, *collector;
    } collectors[] = {
        {"UseSerialGC", "Serial"},
        {"UseParallelGC", "Parallel"},
        {"UseG1GC", "G1"},
        {"UseZGC", "Z"},
        {"UseShenandoahGC", "Shenandoah"},
        {"UseEpsilonGC", "Epsilon"},
        {"UseConcMarkSweepGC", "CMS"},
    };

    if (text_equal(name, "MaxHeapSize")) {
        r->facts.heap_max_bytes = number_of(value);
        r->flags = true;
    }
    if (text_equal(name, "ActiveProcessorCount"))
        r->flag_cpus = number_of(value); /* -1, the default, is no number of these */
    for (size_t i = 0; text_equal(value, "true") && i < ARRAY_LEN(collectors); i++)
        if (text_equal(name, collectors[i].flag))
            r->facts.collector = collectors[i].collector;
}

/* "... CPUs: 4 total, 2 available" and "...active_processor_count: 2" */
static void take_log(struct answer *r, const char *line)
{
    const char *cpus = strstr(line, "CPUs: "), *total = cpus ? strstr(cpus, " total, ") : NULL;
    const char *count = strstr(line, "OSContainer::active_processor_count: ");

    if (total)
        r->log_cpus = number_of(total + strlen(" total, "));
    if (count)
        r->container_cpus = number_of(count + strlen("OSContainer::active_processor_count: "));
}

/* "OpenJDK Runtime Environment Temurin-25.0.1+8 (build 25.0.1+8-LTS)": the version of the whole, which of 8
 * is not the virtual machine's. */
static void take_version(struct answer *r, const char *line, struct arena *a)
{
    const char *build = strstr(line, "Runtime Environment") ? strstr(line, "(build ") : NULL;

    if (build && !r->facts.version)
        r->facts.version = jvm_clean(a, build + strlen("(build "), strcspn(build + strlen("(build "), ",)"));
}

static void take_line(struct answer *r, char *line, struct arena *a)
{
    const char *name, *value;

    if (*line == '[' || strstr(line, "OSContainer::") || strstr(line, "CPUs: ")) {
        take_log(r, line);
        return;
    }
    take_version(r, line, a);
    if (parse_flag(line, &name, &value))
        take_flag(r, name, value);
}

bool jvm_read_answer(const char *text, size_t len, struct arena *a, struct jvm_facts *ret)
{
    struct answer r = {.facts = jvm_facts_none(), .flag_cpus = NAN, .log_cpus = NAN, .container_cpus = NAN};
    char line[ANSWER_LINE_MAX];

    for (size_t at = 0; at < len;) {
        const char *newline = memchr(text + at, '\n', len - at);
        size_t line_len = newline ? (size_t)(newline - text) - at : len - at;
        size_t taken = line_len < sizeof(line) - 1 ? line_len : sizeof(line) - 1;
        memcpy(line, text + at, taken);
        line[taken] = '\0';
        take_line(&r, line, a);
        at += line_len + 1;
    }
    r.facts.cpus = r.flag_cpus > 0 ? r.flag_cpus : !isnan(r.log_cpus) ? r.log_cpus : r.container_cpus;
    if (!r.flags)
        return false;
    *ret = r.facts;
    return true;
}
