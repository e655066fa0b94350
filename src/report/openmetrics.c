/* SPDX-License-Identifier: MIT */
#include "openmetrics.h"

#include <string.h>

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* --- labels --- */

/* Beside the axes; those behind `trial` belong to certain figures, or to the database that collects. */
static const char *const own_labels[] = {"matrix", "scenario", "trial",   "service",  "metric",
                                         "check",  "step",     "count",   "phase",    "request",
                                         "le",     "quantile", "outcome", "instance", "job"};

static bool label_taken(char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(own_labels); i++)
        if (strcmp(own_labels[i], name) == 0)
            return true;
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

char *openmetrics_axis_label(char *const *names, size_t count, const char *axis)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf plain = STRBUF_INIT;

    for (const char *at = axis; *at; at++)
        strbuf_addc(&plain, is_plain(*at) ? *at : '_');
    const char *text = strbuf_text(&plain);
    bool begins_well = is_plain(*text) && !(*text >= '0' && *text <= '9');
    char *name = begins_well ? xstrdup(text) : xasprintf("axis_%s", text);
    for (size_t n = 1; label_taken(names, count, name); n++) {
        free(name);
        name = n == 1 ? xasprintf("axis_%s", text) : xasprintf("axis_%s_%zu", text, n);
    }
    return name;
}

/* --- families --- */

static const struct kind {
    const char *label, *prefix;
} kinds[] = {
    [SOURCE_SERVICE] = {"service", "services"}, [SOURCE_METRIC] = {"metric", "metrics"},
    [SOURCE_CHECK] = {"check", "checks"},       [SOURCE_BUILD] = {"step", "build"},
    [SOURCE_PHASE] = {"phase", "phases"},       [SOURCE_REQUEST] = {"request", "requests"},
};

static const struct kind *kind_of(const struct figure *f)
{
    return (size_t)f->source < ARRAY_LEN(kinds) && kinds[f->source].label ? &kinds[f->source] : NULL;
}

const char *openmetrics_label(const struct figure *f)
{
    const struct kind *kind = kind_of(f);

    return kind ? kind->label : NULL;
}

/* What of the recorded name is the same for all of the family. */
static const char *path_of(const struct figure *f)
{
    const struct kind *kind = kind_of(f);

    if (!kind)
        return f->key;
    if (f->source == SOURCE_CHECK)
        return "value";
    if (f->source == SOURCE_BUILD)
        return f->path ? "counted" : "duration_ms";
    return f->key + strlen(kind->prefix) + 1 + strlen(f->of) + 1;
}

bool openmetrics_same_family(const struct figure *a, const struct figure *b)
{
    return a->source == b->source && strcmp(path_of(a), path_of(b)) == 0;
}

/* A metric's unit is in the name that an application chose, and each of them has another. */
static void find_unit(const struct figure *f, struct openmetrics_family *ret)
{
    const char *measure = "";
    enum unit unit = f->source == SOURCE_METRIC || f->source == SOURCE_CHECK
                         ? UNIT_COUNT
                         : unit_of_name(path_of(f), &measure);

    if (!kind_of(f) && f->unit == UNIT_NUMBER && !measure[0])
        measure = f->measure; /* of one whose name does not end with it */
    if (unit == UNIT_MIB) {
        ret->unit = "bytes";
    } else if (unit == UNIT_RATE || unit == UNIT_PERCENT) {
        ret->unit = "ratio";
        ret->divisor = unit == UNIT_PERCENT ? 100 : 1;
    } else if (strcmp(measure, "ms") == 0) {
        ret->unit = "seconds";
        ret->divisor = 1e3;
    } else if (strcmp(measure, "s") == 0) {
        ret->unit = "seconds";
    } else if (strcmp(measure, "cores") == 0) {
        ret->unit = "cores";
    }
}

/* The length of a unit that ends a part of the name at `at`, or stands before "_per_". */
static size_t unit_len(const char *at)
{
    static const char *const units[] = {"_bytes", "_ms", "_seconds", "_pct", "_cores"};

    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        size_t len = strlen(units[i]);
        if (strncmp(at, units[i], len) == 0 &&
            (!at[len] || at[len] == '.' || strncmp(at + len, "_per_", 5) == 0))
            return len;
    }
    return 0;
}

/* "load.latency_ms.p50" is load_latency_p50: the unit stands at the end. */
static char *name_of(const struct figure *f, bool unit)
{
    const struct kind *kind = kind_of(f);
    struct strbuf out = STRBUF_INIT;

    strbuf_addf(&out, "benchctl_%s%s", kind ? kind->prefix : "", kind ? "_" : "");
    for (const char *at = path_of(f); *at;) {
        size_t skip = unit ? unit_len(at) : 0;
        if (!skip)
            strbuf_addc(&out, is_plain(*at) ? *at : '_');
        at += skip ? skip : 1;
    }
    return strbuf_detach(&out);
}

static char *help_of(const struct figure *f)
{
    const struct kind *kind = kind_of(f);

    if (!kind)
        return xasprintf("%s (%s of trial.json)", f->heading, f->key);
    if (f->source == SOURCE_CHECK)
        return xstrdup("What a check of the matrix gave");
    if (f->source == SOURCE_BUILD)
        return xstrdup(f->path ? "What a step of the build counted" : "Time of a step of the build");
    return xasprintf("%s.NAME.%s of trial.json", kind->prefix, path_of(f));
}

void openmetrics_family_of(const struct figure *f, struct openmetrics_family *ret)
{
    *ret = (struct openmetrics_family){.unit = "", .divisor = 1};
    find_unit(f, ret);
    ret->name = name_of(f, ret->unit[0] != '\0');
    ret->help = help_of(f);
}

void openmetrics_family_release(struct openmetrics_family *f)
{
    free(f->name);
    free(f->help);
}
