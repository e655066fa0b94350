/* SPDX-License-Identifier: MIT */
/*
 * The report as JSON, described: a skeleton as text, and in it what the tables of figures and of the trial's
 * record say. Members that it does not name are allowed wherever the document may grow.
 */
#include "machine.h"
#include "memory_curve.h"
#include "part_figures.h"

#include <string.h>

static const char skeleton[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":\"\","
    "\"title\":\"benchctl report --format json\",\"type\":\"object\","
    "\"required\":[\"title\",\"complete\",\"discrimination\",\"validity_of_sweep\",\"sweep\",\"scenarios\","
    "\"memory_curve\"],"
    "\"properties\":{"
    "\"title\":{\"type\":\"string\"},"
    "\"complete\":{\"type\":\"boolean\",\"description\":\"every trial of the plan was run\"},"
    "\"discrimination\":{\"$ref\":\"#/$defs/discrimination\"},"
    "\"validity_of_sweep\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/verdict\"}},"
    "\"canary\":{\"$ref\":\"#/$defs/canary\"},"
    "\"contrasts\":{\"$ref\":\"#/$defs/contrasts\"},"
    "\"interactions\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/interaction\"}},"
    "\"controls\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/control\"}},"
    "\"sweep\":{\"type\":[\"object\",\"null\"],\"description\":\"sweep.json\"},"
    "\"scenarios\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/scenario\"}},"
    "\"memory_curve\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/curve\"}}},"
    "\"$defs\":{"
    "\"discrimination\":{\"type\":\"object\",\"required\":[\"judged\",\"discriminates\",\"words\"],"
    "\"properties\":{"
    "\"judged\":{\"type\":\"boolean\"},\"discriminates\":{\"type\":[\"boolean\",\"null\"]},"
    "\"words\":{\"type\":[\"string\",\"null\"]}}},"
    "\"verdict\":{\"type\":\"object\",\"required\":[\"check\",\"id\",\"verdict\",\"message\"],\"properties\":"
    "{"
    "\"check\":{\"type\":[\"string\",\"null\"]},\"id\":{\"type\":[\"string\",\"null\"]},"
    "\"verdict\":{\"type\":[\"string\",\"null\"],\"description\":\"PASS, WARN or FAIL\"},"
    "\"message\":{\"type\":[\"string\",\"null\"]}}},"
    "\"canary\":{\"type\":\"object\",\"required\":[\"scenario\",\"metric\",\"measured\",\"failed\","
    "\"median\",\"band\","
    "\"spread\",\"worst\",\"marked\",\"canaries\"],\"properties\":{"
    "\"scenario\":{\"type\":[\"string\",\"null\"]},\"metric\":{\"type\":\"string\"},"
    "\"measured\":{\"type\":\"integer\"},\"failed\":{\"type\":\"integer\"},\"median\":{\"type\":[\"number\","
    "\"null\"]},"
    "\"band\":{\"type\":[\"number\",\"null\"]},\"spread\":{\"type\":[\"number\",\"null\"]},"
    "\"worst\":{\"type\":[\"number\",\"null\"]},\"marked\":{\"type\":\"integer\"},"
    "\"canaries\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
    "\"required\":[\"after\",\"value\",\"good\",\"trial\"],\"properties\":{\"after\":{\"type\":\"integer\"},"
    "\"value\":{\"type\":[\"number\",\"null\"]},\"good\":{\"type\":\"boolean\"},"
    "\"trial\":{\"$ref\":\"#/$defs/trial\"}}}}}},"
    "\"interaction\":{\"type\":\"object\",\"required\":[\"name\",\"ratio\",\"low\",\"high\",\"p\"],"
    "\"properties\":{"
    "\"name\":{\"type\":\"string\"},\"ratio\":{\"type\":[\"number\",\"null\"]},\"low\":{\"type\":[\"number\","
    "\"null\"]},"
    "\"high\":{\"type\":[\"number\",\"null\"]},\"p\":{\"type\":[\"number\",\"null\"]}}},"
    "\"contrasts\":{\"type\":\"object\",\"required\":[\"headline\",\"margin\",\"then\",\"now\",\"outcomes_"
    "differ\","
    "\"scenarios\",\"words\"],\"properties\":{\"headline\":{\"type\":\"string\"},\"margin\":{\"type\":"
    "\"number\"},"
    "\"then\":{\"type\":\"string\"},\"now\":{\"type\":\"string\"},\"outcomes_differ\":{\"type\":\"integer\"},"
    "\"scenarios\":{\"type\":\"array\",\"description\":\"pairs, as in the JSON of compare\"},"
    "\"words\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}},"
    "\"control\":{\"type\":\"object\",\"required\":[\"control\",\"trials\",\"failed\",\"goodput_rps\",\"p50_"
    "ms\"],"
    "\"properties\":{\"control\":{\"type\":\"string\"},\"trials\":{\"type\":\"integer\"},"
    "\"failed\":{\"type\":\"integer\"},\"goodput_rps\":{\"$ref\":\"#/$defs/control_ratio\"},"
    "\"p50_ms\":{\"$ref\":\"#/$defs/control_ratio\"},\"seen\":{\"type\":[\"boolean\",\"null\"]}}},"
    "\"control_ratio\":{\"type\":\"object\",\"required\":[\"ratio\",\"low\",\"high\",\"n\"],\"properties\":{"
    "\"ratio\":{\"type\":[\"number\",\"null\"]},\"low\":{\"type\":[\"number\",\"null\"]},"
    "\"high\":{\"type\":[\"number\",\"null\"]},\"n\":{\"type\":\"integer\"}}},"
    "\"axes\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}},"
    "\"curve\":{\"type\":\"object\",\"required\":[\"axis\",\"axes\",\"minimum_viable\",\"minimum_viable_"
    "bytes\","
    "\"largest_not_ok\",\"monotone\",\"cliff\",\"cause\",\"points\"],\"properties\":{"
    "\"axis\":{\"type\":\"string\"},\"axes\":{\"$ref\":\"#/$defs/axes\"},"
    "\"minimum_viable\":{\"type\":[\"string\",\"null\"]},\"minimum_viable_bytes\":{\"type\":[\"number\","
    "\"null\"]},"
    "\"largest_not_ok\":{\"type\":[\"string\",\"null\"]},\"monotone\":{\"type\":\"boolean\"},"
    "\"cliff\":{\"type\":\"string\"},\"cause\":{\"type\":[\"string\",\"null\"]},"
    "\"points\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/point\"}}}},"
    "\"point\":{\"type\":\"object\",\"required\":[\"limit\",\"limit_bytes\",\"scenario\",\"outcome\","
    "\"trials\",\"ok\","
    "\"cause\"],\"properties\":{\"limit\":{\"type\":\"string\"},"
    "\"limit_bytes\":{\"anyOf\":[{\"type\":\"number\"},{\"const\":\"unlimited\"}]},"
    "\"scenario\":{\"type\":\"string\"},\"outcome\":{\"$ref\":\"#/$defs/"
    "outcome\"},\"trials\":{\"type\":\"integer\"},"
    "\"ok\":{\"type\":\"integer\"},\"cause\":{\"type\":[\"string\",\"null\"]}}},"
    "\"part\":{\"type\":\"object\",\"required\":[\"name\",\"figures\"],\"properties\":{\"name\":{\"type\":"
    "\"string\"},"
    "\"model\":{\"type\":[\"string\",\"null\"]},\"warmup\":{\"type\":\"boolean\"},"
    "\"begin_ms\":{\"type\":[\"number\",\"null\"]},\"figures\":{\"$ref\":\"#/$defs/part_figures\"}}},"
    "\"scenario\":{\"type\":\"object\",\"required\":[\"scenario\",\"axes\",\"trials_counted\",\"outcome\","
    "\"reason\","
    "\"contaminated\",\"merged\",\"limited_by\",\"model\",\"corrected\",\"phases\",\"requests\",\"outcomes\","
    "\"figures\","
    "\"trials\"],"
    "\"properties\":{\"scenario\":{\"type\":\"string\"},\"axes\":{\"$ref\":\"#/$defs/axes\"},"
    "\"trials_counted\":{\"type\":\"integer\",\"minimum\":0},\"outcome\":{\"$ref\":\"#/$defs/outcome\"},"
    "\"reason\":{\"type\":[\"string\",\"null\"]},"
    "\"contaminated\":{\"type\":\"boolean\",\"description\":\"no trial was steady\"},"
    "\"limited_by\":{\"type\":[\"string\",\"null\"],\"description\":\"null: not enough was measured\"},"
    "\"limited_by_evidence\":{\"type\":\"string\"},"
    "\"merged\":{\"type\":\"boolean\",\"description\":\"percentiles are of merged histograms\"},"
    "\"model\":{\"type\":[\"string\",\"null\"]},\"corrected\":{\"type\":[\"string\",\"null\"]},"
    "\"phases\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/part\"}},"
    "\"requests\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/part\"}},"
    "\"outcomes\":{\"$ref\":\"#/$defs/outcomes\"},\"figures\":{\"$ref\":\"#/$defs/figures\"},"
    "\"trials\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/trial\"}}}}}}";

static struct json *reference(const char *name)
{
    CLEANUP_FREE char *text = xasprintf("#/$defs/%s", name);
    struct json *j = json_new_object();

    json_set_text(j, "$ref", text);
    return j;
}

static struct json *typed(const char *type)
{
    struct json *j = json_new_object();

    json_set_text(j, "type", type);
    return j;
}

/* What was run last of it is null while nothing was. */
static struct json *outcome_schema(void)
{
    struct json *j = json_new_object(), *list = json_new_array();

    for (int o = 0; o < OUTCOMES; o++)
        json_append(list, json_new_text(outcome_name((enum outcome)o)));
    json_append(list, json_new_null());
    json_set(j, "enum", list);
    return j;
}

static struct json *outcomes_schema(void)
{
    struct json *j = typed("object"), *properties = json_new_object();

    for (int o = 0; o < OUTCOMES; o++)
        json_set(properties, outcome_name((enum outcome)o), typed("integer"));
    json_set(j, "properties", properties);
    return j;
}

static struct json *number_or_null(const char *help)
{
    struct json *j = json_new_object(), *types = json_new_array();

    json_append(types, json_new_text("number"));
    json_append(types, json_new_text("null"));
    json_set(j, "type", types);
    if (help)
        json_set_text(j, "description", help);
    return j;
}

/* Another member, always there. */
static void add_member(struct json *required, struct json *properties, const char *name, struct json *of)
{
    json_append(required, json_new_text(name));
    json_set(properties, name, of);
}

static struct json *summary_schema(void)
{
    struct json *j = typed("object"), *required = json_new_array(), *properties = json_new_object();
    struct json *n = typed("integer");

    json_set_int(n, "minimum", 1); /* what nobody measured is left out */
    add_member(required, properties, "n", n);
    for (size_t i = 0; i < summary_member_count; i++)
        add_member(required, properties, summary_members[i].name, number_or_null(summary_members[i].help));
    json_set(j, "required", required);
    json_set(j, "properties", properties);
    return j;
}

/* Of a memory curve: what the skeleton says, and the figures of its table. */
static struct json *point_schema(const struct json *skeleton_of_it)
{
    struct json *j = json_clone(skeleton_of_it), *required = json_clone(json_get(j, "required")),
                *properties = json_clone(json_get(j, "properties"));
    const char *name;

    for (size_t i = 0; (name = memory_curve_member(i)); i++)
        add_member(required, properties, name, number_or_null(NULL));
    json_set(j, "required", required);
    json_set(j, "properties", properties);
    return j;
}

/* --- figures --- */

static struct json *figure_schema(const char *heading, const char *unit)
{
    CLEANUP_FREE char *text = xasprintf("%s%s%s", heading, unit[0] ? ", unit: " : "", unit);
    struct json *j = reference("summary");

    json_set_text(j, "description", text);
    return j;
}

/* `path` as a pattern: a dot is a dot. */
static void add_pattern(struct json *patterns, const char *begin, const char *path, struct json *of)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;

    strbuf_addf(&out, "^%s", begin);
    for (; *path; path++)
        strbuf_addf(&out, "%s%c", *path == '.' ? "\\" : "", *path);
    strbuf_addc(&out, '$');
    json_set(patterns, strbuf_text(&out), of);
}

static struct json *patterns_schema(void)
{
    struct json *patterns = json_new_object();
    const char *path, *heading;

    for (size_t i = 0; (path = service_figure_path(i, &heading)); i++)
        add_pattern(patterns, "services\\..+\\.", path, figure_schema(heading, machine_unit(path)));
    for (size_t i = 0; i < PART_FIGURES; i++)
        add_pattern(patterns, "(phases|requests)\\..+\\.", part_figures[i].path,
                    figure_schema(part_figures[i].heading, machine_unit(part_figures[i].path)));
    json_set(patterns, "^metrics\\..+\\.(avg|max|last|increase)$",
             figure_schema("A metric of the application", ""));
    json_set(patterns, "^checks\\..+$", figure_schema("The value of a check", ""));
    json_set(patterns, "^build\\..+\\.duration_ms$", figure_schema("Time of a step of the build", "ms"));
    json_set(patterns, "^build\\..+\\.counts\\..+$", figure_schema("What a step of the build counted", ""));
    return patterns;
}

static struct json *figures_schema(void)
{
    struct json *j = typed("object"), *properties = json_new_object();

    for (size_t i = 0; i < builtin_figure_count; i++)
        json_set(properties, builtin_figures[i].key,
                 figure_schema(builtin_figures[i].heading, machine_unit(builtin_figures[i].key)));
    json_set(j, "properties", properties);
    json_set(j, "patternProperties", patterns_schema());
    json_set(j, "additionalProperties", reference("summary"));
    return j;
}

static struct json *part_figures_schema(void)
{
    struct json *j = typed("object"), *properties = json_new_object();

    for (size_t i = 0; i < PART_FIGURES; i++)
        json_set(properties, part_figures[i].path,
                 figure_schema(part_figures[i].heading, machine_unit(part_figures[i].path)));
    json_set(j, "properties", properties);
    json_set(j, "additionalProperties", reference("summary"));
    return j;
}

struct json *report_json_schema(const char *id)
{
    struct json *j = NULL, *definitions;
    struct error err = ERROR_INIT;

    if (json_parse(skeleton, strlen(skeleton), "the schema", &j, &err) < 0)
        return json_new_object(); /* a test holds it against the parser */
    definitions = json_clone(json_get(j, "$defs"));
    json_set(definitions, "outcome", outcome_schema());
    json_set(definitions, "outcomes", outcomes_schema());
    json_set(definitions, "summary", summary_schema());
    json_set(definitions, "point", point_schema(json_get(definitions, "point")));
    json_set(definitions, "figures", figures_schema());
    json_set(definitions, "part_figures", part_figures_schema());
    json_set(definitions, "trial", trial_json_schema());
    json_set(j, "$defs", definitions);
    json_set_text(j, "$id", id);
    return j;
}
